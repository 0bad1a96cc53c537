"""Commands on prices: what the pools of a stack cost, and reading current prices."""

import json
from datetime import UTC, date, datetime
from typing import Annotated, Any

import typer
from rich.table import Table

from workbench import stacks
from workbench.cli.console import PLAIN, errors, out
from workbench.cli.options import AsJson, StackName
from workbench.prices.book import MAX_AGE_DAYS, Price, PriceBook
from workbench.prices.price_file import OWN_FILE
from workbench.prices.stack_cost import Amounts, GroupCost, StackCost, stack_cost
from workbench.report.terminal import print_table

app = typer.Typer(help="Show what the pools of a stack cost; read current prices.", no_args_is_help=True)

MaxAge = Annotated[
    int, typer.Option("--max-age", min=1, metavar="DAYS", help="Warn about prices that are older than this.")
]

_LEFT_OUT = "In USD: list prices before discounts; without disks, file systems, traffic, load balancers and logs."


@app.command()
def show(stack: StackName, *, max_age: MaxAge = MAX_AGE_DAYS, as_json: AsJson = False) -> None:
    """Show what the pools of a stack cost.

    At their smallest and at their largest size: nodes and the control plane's fee in USD, at list prices of the stack's
    region. Reads files only: no network, no credentials. Prices come with the package; `igz-clusters prices refresh`
    reads current ones.
    """
    found = stacks.find(stack)
    cost = stack_cost(found.config, PriceBook.load(stacks.folder()))
    old = cost.old(max_age, _today())
    if as_json:
        out.print_json(json.dumps(_as_json(found.name, cost, old)))
    else:
        _print(cost)
    for line in _remarks(found.name, cost, old, max_age):
        errors.print(line, **PLAIN)


@app.command()
def refresh(stack: StackName) -> None:
    """Read the current prices of a region.

    They are written to `prices.json` next to the stack files.

    EKS: the AWS Price List API and EC2's spot price history, with your AWS credentials; the role needs
    `pricing:GetProducts` and `ec2:DescribeSpotPriceHistory`. AKS: Azure's Retail Prices API, without a login. Prices of
    other regions stay in the file; without a change of prices, a second run on a day changes nothing.
    """
    from workbench.prices.refresh import refresh as read_prices  # noqa: PLC0415 - no other command needs its imports

    done = read_prices(stacks.find(stack), stacks.folder(), _today(), lambda text: errors.print(text, **PLAIN))
    state = "written" if done.is_changed else "unchanged"
    counts = f"{done.on_demand} on-demand and {done.spot} spot prices of {done.region}"
    out.print(f"{stacks.shown_path(done.file)}: {state}; {counts}", **PLAIN)


def _today() -> date:
    return datetime.now(UTC).date()


def _print(cost: StackCost) -> None:
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    for heading in ("pool", "machine type", "lifecycle"):
        table.add_column(heading, overflow="fold")
    for heading in ("nodes", "USD/h", "month, smallest", "month, largest", "source"):
        table.add_column(heading, justify="right")
    sources = list[str]()
    for each in cost.groups:
        table.add_row(*_row(each, sources))
    if cost.fee:
        usd = cost.fee.usd_per_hour
        number = _number(f"{cost.fee.date}: {cost.fee.source}", sources)
        table.add_row("(control plane)", "", "", "1", f"{usd:.4f}", *_month(Amounts(usd, usd).a_month), number)
    hour = cost.hourly
    sums = f"{hour.least:,.2f}" + (f" to {hour.most:,.2f}" if hour.least != hour.most else "")
    table.add_row("total", "", "", "", sums, *_month(cost.monthly), "", style="bold")
    print_table(table, out)
    out.print()
    for place, source in enumerate(sources, start=1):
        out.print(f"{place}  {source}", **PLAIN)


def _row(each: GroupCost, sources: list[str]) -> tuple[str, ...]:
    group, price = each.group, each.price
    others = f" (first of {len(group.machine_types)})" if len(group.machine_types) > 1 else ""
    nodes = str(group.least) if group.least == group.most else f"{group.least} to {group.most}"
    known = (group.name, f"{group.machine_types[0]}{others}", group.lifecycle.value, nodes)
    if price is None or (hourly := each.hourly) is None:
        return (*known, *["reserved" if each.is_reserved else "unknown"] * 3, "")
    assumed = ", assumed for this cluster" if price.is_assumed else ""
    number = _number(f"{price.date}, {price.region}{assumed}: {price.source}", sources)
    return (*known, f"{price.usd_per_hour:.4f}", *_month(hourly.a_month), number)


def _number(source: str, sources: list[str]) -> str:
    """Return the number of a source in the list below the table; adds it if it is new."""
    if source not in sources:
        sources.append(source)
    return str(sources.index(source) + 1)


def _month(found: Amounts) -> tuple[str, str]:
    return f"{found.least:,.0f}", f"{found.most:,.0f}"


def _remarks(name: str, cost: StackCost, old: list[Price], max_age: int) -> list[str]:
    found = [_LEFT_OUT]
    if cost.region is None and cost.prices:
        regions = " and ".join(cost.regions)
        found.append(f"note: the cluster has no region; assumed: the prices of {regions}.")
    if cost.unpriced:
        found.append(f"warning: no price is known for {', '.join(cost.unpriced)}; the totals leave them out.")
    if cost.reserved:
        found.append(f"note: the totals leave out {', '.join(cost.reserved)}: reserved capacity costs the same idle.")
    if old:
        oldest = old[0].date.isoformat()
        found.append(f"warning: {len(old)} of {len(cost.prices)} prices are older than {max_age} days, since {oldest}.")
    if (old or cost.unpriced) and cost.region:
        found.append(f"`igz-clusters prices refresh {name}` reads current prices into {OWN_FILE}.")
    return found


def _as_json(name: str, cost: StackCost, old: list[Price]) -> dict[str, Any]:
    return {
        "stack": name,
        "currency": "USD",
        "region": cost.region,
        "groups": [_group_as_json(each, old) for each in cost.groups],
        "controlPlane": cost.fee
        and {
            "name": cost.fee.name,
            "usdPerHour": cost.fee.usd_per_hour,
            "date": cost.fee.date.isoformat(),
            "source": cost.fee.source,
        },
        "hourly": _amounts(cost.hourly),
        "monthly": _amounts(cost.monthly),
        "unpriced": cost.unpriced,
        "reserved": cost.reserved,
    }


def _group_as_json(each: GroupCost, old: list[Price]) -> dict[str, Any]:
    price = each.price
    return {
        "name": each.group.name,
        "machineTypes": list(each.group.machine_types),
        "lifecycle": each.group.lifecycle.value,
        "min": each.group.least,
        "max": each.group.most,
        "price": price
        and {
            "usdPerHour": price.usd_per_hour,
            "region": price.region,
            "date": price.date.isoformat(),
            "source": price.source,
            "isAssumed": price.is_assumed,
            "isOld": price in old,
        },
        "hourly": each.hourly and _amounts(each.hourly),
        "monthly": each.hourly and _amounts(each.hourly.a_month),
    }


def _amounts(found: Amounts) -> dict[str, float]:
    return {"smallest": round(found.least, 4), "largest": round(found.most, 4)}
