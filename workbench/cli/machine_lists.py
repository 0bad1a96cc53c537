"""The machine types of pools with a shape: those of the stack file, and those that the facts select now."""

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from pydantic import ValidationError

from components.contract.environments import ClusterKind, Provider
from components.contract.instances import INSTANCE_TYPES, InstanceType
from components.contract.lifecycle import Lifecycle
from components.contract.pools import TYPES_MAX, PoolRole
from components.contract.shapes import MachineShape, Price, obstacles, select
from components.stack_files.inheritance import BaseFileError
from components.stack_files.yaml_source import SourceError
from infra.config import ConfigurationError, StackConfig, parse
from infra.config.problems import shown
from workbench import stacks
from workbench.prices.book import PriceBook, region_of
from workbench.rehearsal.advice.edits import Edit, applied
from workbench.rehearsal.advice.patch import PatchError, edited, read_text
from workbench.stacks import CHOICES_PATH
from workbench.system.errors import UserError

AKS_TYPES_MAX: Final = 3
"""Types that are selected for a pool on AKS, where each becomes an agent pool of its own."""

_PROVIDERS: Final = {ClusterKind.EKS: Provider.AWS, ClusterKind.AKS: Provider.AZURE}
_CLOUDS: Final = {Provider.AWS: "AWS", Provider.AZURE: "Azure"}


@dataclass(frozen=True)
class MachineList:
    """The machine types of one pool with a shape.

    Parameters
    ----------
    pool
        Its name.
    listed
        Types in the stack file.
    selected
        Types that have the shape, preferred first, as many as the pool may have.
    prices
        USD per hour in the stack's region, by type; a type without a known price is missing.
    """

    pool: str
    listed: tuple[str, ...]
    selected: tuple[InstanceType, ...]
    prices: Mapping[str, float]

    @property
    def is_current(self) -> bool:
        """Whether the stack file lists exactly the selected types, in their order."""
        return self.listed == tuple(each.name for each in self.selected)

    @property
    def others(self) -> tuple[InstanceType, ...]:
        """Known types that the stack file lists and that are not selected."""
        return tuple(INSTANCE_TYPES[name] for name in self.listed if name in INSTANCE_TYPES and not self._selects(name))

    def _selects(self, name: str) -> bool:
        return any(each.name == name for each in self.selected)


def machine_lists(name: str, only: str = "") -> list[MachineList]:
    """Return the lists of a stack's pools that have a shape.

    The stack file may lack ``instanceTypes`` of such pools; everything else in it must be valid.

    Parameters
    ----------
    name
        Name of the stack.
    only
        Name of a pool. Default: all.

    Raises
    ------
    UserError
        The stack or pool does not exist, the pool has no shape, or no type has it.
    StackFileError
        The stack file is invalid, also with the selected types.
    """
    stacks.require(name)
    document = _document(name)
    pools, kind = _pools(document), _kind(document)
    shapes = _shapes(name, pools, only)
    found = {pool: _selected(pools, pool, shape, kind) for pool, shape in shapes.items()}
    if none := [_none(pool, shapes[pool], _provider(pools, pool, kind)) for pool, types in found.items() if not types]:
        raise UserError("\n".join(none), "`igz-clusters config explain pools.shape` explains the keys.")
    config = _parsed(name, document, found)
    book, region = PriceBook.load(stacks.folder()), region_of(config)

    def price(machine: InstanceType, lifecycle: Lifecycle) -> float | None:
        listed = book.of(machine.provider, region, machine.name, lifecycle)
        return listed.usd_per_hour if listed else None

    lists = list[MachineList]()
    for pool, shape in shapes.items():
        known = partial(price, lifecycle=config.pools[pool].lifecycle)
        selected = _selected(pools, pool, shape, kind, known)
        listed = tuple(map(str, pools[pool].get("instanceTypes") or ()))
        everything = {*selected, *(INSTANCE_TYPES[each] for each in listed if each in INSTANCE_TYPES)}
        prices = {each.name: usd for each in everything if (usd := known(each)) is not None}
        if only in ("", pool):
            lists.append(MachineList(pool, listed, tuple(selected), prices))
    return lists


def freeze(name: str, lists: Iterable[MachineList]) -> None:
    """Write the selected types into the stack file; everything else in it stays as it is.

    Raises
    ------
    UserError
        The file cannot be changed at that place, such as inside an alias, or cannot be written.
    """
    edits = [_edit(each.pool, each.selected) for each in lists if not each.is_current]
    file = stacks.stack_files()[name]
    try:
        text = edited(before := read_text(file), edits, CHOICES_PATH)
        if text != before:
            new = file.with_name(f".{file.name}.new")
            new.write_text(text, encoding="utf-8", newline="")
            shutil.copymode(file, new)
            new.replace(file.resolve())
    except PatchError as error:
        raise UserError(f"{stacks.shown_path(file)}: {error}.") from None
    except OSError as error:
        raise UserError(f"{stacks.shown_path(file)} cannot be written: {error.strerror}.") from None


def _edit(pool: str, types: Iterable[InstanceType]) -> Edit:
    return Edit(("pools", pool, "instanceTypes"), [each.name for each in types])


def _document(name: str) -> Any:
    """Return the stack file's document; an invalid file that only lacks lists is read too."""
    file = stacks.stack_files()[name]
    try:
        return stacks.read(file).document
    except stacks.StackFileError:
        try:
            return stacks.unvalidated(file)
        except (OSError, BaseFileError, SourceError):
            pass
        raise


def _choices(document: Any) -> Mapping[str, Any]:
    for key in CHOICES_PATH:
        document = document.get(key) if isinstance(document, dict) else None
    return document if isinstance(document, dict) else {}


def _pools(document: Any) -> dict[str, dict[str, Any]]:
    pools = _choices(document).get("pools")
    named = pools.items() if isinstance(pools, dict) else ()
    return {str(name): pool for name, pool in named if isinstance(pool, dict)}


def _kind(document: Any) -> str:
    cluster = _choices(document).get("cluster")
    return str(cluster.get("kind")) if isinstance(cluster, dict) else ""


def _shapes(name: str, pools: Mapping[str, dict[str, Any]], only: str) -> dict[str, MachineShape]:
    """Return the shapes by pool; refuses a stack file with an invalid one."""
    shaped = [pool for pool, choices in pools.items() if choices.get("shape") is not None]
    if only and only not in pools:
        raise UserError(f"{name} has no pool {shown(only)}.", f"Its pools: {', '.join(pools)}.")
    if not shaped or (only and only not in shaped):
        which = f"Pool {only} of {name}" if only else f"No pool of {name}"
        raise UserError(
            f"{which} has {'no' if only else 'a'} shape.",
            "Add one, such as `shape: { vcpus: 8, memoryGib: 32 }`; `igz-clusters config explain pools.shape` helps.",
        )
    try:
        return {pool: MachineShape.model_validate(pools[pool]["shape"]) for pool in shaped}
    except ValidationError:
        stacks.find(name)  # raises, and names every mistake at its place
        raise


def _provider(pools: Mapping[str, dict[str, Any]], pool: str, kind: str) -> Provider:
    """Return the provider of a pool's types: the cloud; elsewhere that of its listed types, else of any pool's."""
    if kind in _PROVIDERS:
        return _PROVIDERS[ClusterKind(kind)]
    own, *others = (_types(pools[each]) for each in (pool, *pools))
    known = (INSTANCE_TYPES[each].provider for names in (own, *others) for each in names if each in INSTANCE_TYPES)
    return next(known, Provider.AWS)


def _types(pool: Mapping[str, Any]) -> list[str]:
    types = pool.get("instanceTypes")
    return [str(each) for each in types] if isinstance(types, list) else []


def _selected(
    pools: Mapping[str, dict[str, Any]],
    pool: str,
    shape: MachineShape,
    kind: str,
    price: Price = lambda _: None,
) -> list[InstanceType]:
    choices = pools[pool]
    is_spot = choices.get("lifecycle") == Lifecycle.SPOT
    found = select(shape, _provider(pools, pool, kind), is_spot=is_spot, price=price)
    size = choices.get("size")
    is_fixed = isinstance(size, dict) and size.get("min") == size.get("max")
    if choices.get("lifecycle") == Lifecycle.RESERVED or choices.get("fabric") or choices.get("closeTogether"):
        # These take one type: the listed one, even if another is preferred, since a reservation is for that type.
        return [each for each in found if each.name in _types(choices)][:1] or found[:1]
    if choices.get("role") == PoolRole.DATA or (kind == ClusterKind.AKS and is_fixed):
        return found[:1]
    return found[: AKS_TYPES_MAX if kind == ClusterKind.AKS else TYPES_MAX]


def _none(pool: str, shape: MachineShape, provider: Provider) -> str:
    keys = obstacles(shape, provider)
    advice = f"; change {' or '.join(keys)}" if keys else "; several of its keys exclude every type"
    return f"pools.{pool}.shape: no machine type of {_CLOUDS[provider]} has this shape{advice}"


def _parsed(name: str, document: Any, found: Mapping[str, list[InstanceType]]) -> StackConfig:
    """Return the choices with the selected types; refuses what would be invalid."""
    try:
        return parse(_choices(applied(document, [_edit(*each) for each in found.items()], CHOICES_PATH)))
    except ConfigurationError as error:
        problems = "\n".join(map(str, error.problems))
        raise UserError(f"With the selected types, stack {name} would be invalid:\n{problems}") from None
