"""The specification for Iguazio's installer with the rules' findings, and its page to sign off."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from components.contract.environments import Environment
from components.contract.existing.config import ExistingConfig
from components.contract.systems.handoff import specification
from infra.config.platform_cluster import platform_cluster
from policies.registry import RULES
from policies.rule import Level, Rule, WholeStack
from policies.views.node_groups.existing import EXISTING_POOL
from workbench.engine.check import Checked
from workbench.report.markup import code, names, table
from workbench.stacks import Stack

_FAMILY: Final = "NG-"
"""Rules about node groups."""

_PASSED: Final = "passed"


def handed_over(stack: Stack, cluster: ExistingConfig, checked: Checked) -> dict[str, Any]:
    """Return the specification as data, with what the rules found (``before``).

    Parameters
    ----------
    stack, cluster
        The stack and the settings of its cluster.
    checked
        What its rules found.
    """
    config = stack.config
    return {
        **specification(stack.name, platform_cluster(config), cluster),
        "signable": not checked.violations,
        "before": list(_before(config.environment, checked)),
    }


def _before(environment: Environment, checked: Checked) -> Iterator[dict[str, Any]]:
    """Yield each rule about node groups that reads pools of existing clusters, then findings of other rules."""
    found = [cause.finding for cause in checked.causes]
    for rule in RULES:
        if rule.id.startswith(_FAMILY) and _reads_pools(rule) and rule.level[environment] is not Level.OFF:
            results = [each for each in found if each.rule == rule.id]
            for each in results:
                yield _row(rule.id, each.message, each.standing.value)
            if not results:
                yield _row(rule.id, rule.title, _PASSED)
    for each in found:
        if not each.rule.startswith(_FAMILY):
            yield _row(each.rule, each.message, each.standing.value)


def _reads_pools(rule: Rule[Any]) -> bool:
    scope = rule.applies_to
    return isinstance(scope, WholeStack) or scope.types.fullmatch(EXISTING_POOL) is not None


def _row(rule: str, text: str, result: str) -> dict[str, Any]:
    return {"rule": rule, "about": text, "result": result}


def page(data: Mapping[str, Any]) -> str:
    """Return the page in Markdown; everything in it is in ``data`` too."""
    return "\n\n".join(_sections(data)) + "\n"


def _sections(data: Mapping[str, Any]) -> Iterator[str]:
    clouds = ", ".join(data["clouds"]) or "machines of your own"
    yield f"# Specification for Iguazio's installer: stack {data['stack']}"
    yield (
        f"Provazio makes the servers of this cluster; the stack `{data['stack']}` labels them afterwards. This page "
        "follows from the stack file: change that, not the page."
    )
    if not data["signable"]:
        yield "**Do not sign it: mandatory rules are violated. Correct the stack file, and print the page again.**"
    yield table(
        ("environment", "profile", "cloud", "Kubernetes"),
        [(data["environment"], data["profile"], clouds, f"{data['kubernetes']['minimum']} or newer")],
    )
    yield from ("## Node groups", _groups(data["groups"]))
    yield from ("## Labels and taints", _LABELS, _labels(data["groups"]))
    if any(group["protections"] for group in data["groups"]):
        yield from ("## Protections", _bullets(_protections(data["groups"])))
    yield from ("## Identities", *map(_identity, data["identities"]))
    yield from ("## Application services", _SERVICES, _services(data["services"]))
    yield from ("## Left open", _bullets(data["gaps"]))
    yield from ("## What must not be done", _bullets(data["never"]))
    yield from ("## Checked before", _BEFORE, _judged(data["before"]))
    yield from ("## To check after the installation", _numbered(data["after"]))
    yield from ("## Signatures", _SIGNATURES)


_LABELS: Final = (
    "The installer, or an IT administrator in the platform's interface, sets the labels of the first column: `up` "
    "selects the nodes by them. `up` adds the others, and missing taints, to nodes that exist. Nodes that an "
    "autoscaler adds need all of them from the template of their group."
)
_SERVICES: Final = (
    "Set these in each service, after `up` has labelled the nodes; the data has them as the API takes them. It has no "
    "tolerations, so services that request no GPU stay off nodes with a taint. The installer places core services, "
    "such as MLRun, Nuclio and Grafana."
)
_BEFORE: Final = (
    "The rules of `igz-clusters check`, on the pools of the stack file. Only `violated` and `unjudged` block."
)
_SIGNATURES: Final = table(
    ("who", "name", "date"), [("platform engineer", " ", " "), ("Iguazio's support", " ", " "), ("owner", " ", " ")]
)


def _groups(groups: Iterable[Mapping[str, Any]]) -> str:
    header = ("pool", "for", "nodes", "lifecycle", "machines of each node", "zones")
    rows = [(code(g["pool"]), g["for"], _nodes(g), g["lifecycle"], _machines(g), g["zones"]) for g in groups]
    return table(header, rows)


def _nodes(group: Mapping[str, Any]) -> str:
    low, high = group["nodes"]["min"], group["nodes"]["max"]
    return f"{low} to {high}, elastic" if group["scaling"] == "elastic" else f"{low}, static"


def _machines(group: Mapping[str, Any]) -> str:
    if "machine" in group:
        return ", ".join(f"{name} {value}" for name, value in group["machine"].items())
    return names(group["instanceTypes"])


def _labels(groups: Iterable[Mapping[str, Any]]) -> str:
    rows = [
        (code(g["pool"]), _pairs(g["labelsBeforeUp"]), _pairs(g["labels"]), names(g["taints"]) or "none")
        for g in groups
    ]
    return table(("pool", "labels before `up`", "labels that `up` adds", "taints"), rows)


def _pairs(labels: Mapping[str, str]) -> str:
    return "<br>".join(code(f"{key}={value}") for key, value in labels.items())


def _protections(groups: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    return (f"{code(group['pool'])}: {each}." for group in groups for each in group["protections"])


_IDENTITY_KEYS: Final = {
    "access": "access",
    "policies": "policies",
    "policyFile": "content of the policy",
    "rights": "rights",
    "metadataHopLimit": "hop limit of the machine's metadata service",
    "keep": "keep it",
    "todo": "to do",
    "source": "source",
}


def _identity(identity: Mapping[str, Any]) -> str:
    name = f" {code(identity['name'])}" if "name" in identity else ""
    facts = (f"{said}: {_said(identity[key])}" for key, said in _IDENTITY_KEYS.items() if key in identity)
    head = f"{identity['choose']}{name}"
    return f"{head[0].upper()}{head[1:]}:\n\n{_bullets(facts)}"


def _said(value: Any) -> str:
    if isinstance(value, list | tuple):
        return names(value)
    return f"<{value}>" if str(value).startswith("https:") else str(value)


def _services(services: Mapping[str, Mapping[str, Any]]) -> str:
    rows = [
        (
            code(name),
            _entries(each["advanced"]["node_selector"]["entries"]),
            code(each["advanced"]["priority_class_name"]),
            "yes" if "scale_to_zero" in each else "as you like",
        )
        for name, each in services.items()
    ]
    return table(("service", "`node_selector`", "`priority_class_name`", "scale to zero"), rows)


def _entries(entries: Iterable[Mapping[str, str]]) -> str:
    return _pairs({entry["key"]: entry["value"] for entry in entries})


def _judged(rows: Iterable[Mapping[str, Any]]) -> str:
    return table(("rule", "what it is about", "result"), [(row["rule"], row["about"], row["result"]) for row in rows])


def _numbered(checks: Iterable[Mapping[str, Any]]) -> str:
    return "\n".join(
        f"{number}. `{check['run']}` must print:\n" + "\n".join(f"   - {each}" for each in check["prints"])
        for number, check in enumerate(checks, 1)
    )


def _bullets(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)
