"""Requirements of the role and the size of a pool on its other keys."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from components.contract.choices import Findings
from components.contract.instances import INSTANCE_TYPES, InstanceType, Variant
from components.contract.own_machines import Machine
from components.contract.pool_size import PoolSize
from components.contract.roles import PoolRole
from components.contract.shapes import MachineShape


class StaticRoleRules(NamedTuple):
    """Ids of the rules that a pool of a static role follows."""

    static: str
    not_empty: str
    on_demand: str


STATIC_ROLE_RULES: Final = {
    PoolRole.INITIAL: StaticRoleRules(static="NG-07", not_empty="NG-05", on_demand="NG-08"),
    PoolRole.DATA: StaticRoleRules(static="NG-21", not_empty="NG-21", on_demand="NG-21"),
}


def require_growth(choices: Mapping[str, Any], why: str) -> None:
    """Refuse a setting that only a pool that grows can use.

    Parameters
    ----------
    choices
        The pool's valid fields so far.
    why
        Why the setting has no use if the pool's role never grows.

    Raises
    ------
    ValueError
        The pool never grows.
    """
    role, size = choices.get("role"), choices.get("size")
    if role in STATIC_ROLE_RULES:
        raise ValueError(f"{STATIC_ROLE_RULES[role].static}: a pool of role '{role}' never grows, so {why}; remove it")
    if size and not size.is_elastic:
        raise ValueError(f"has no effect in a pool of fixed size ({size}); make size.min differ from size.max")


INITIAL_MAX: Final = 50
"""Maximum number of initial nodes, far beyond what core services need: a larger number is a mistake."""


def require_fitting_size(size: PoolSize, role: PoolRole | None) -> None:
    """Refuse a size that the pool's role does not allow.

    Parameters
    ----------
    size
        The size.
    role
        Its role; None if it is missing or invalid.

    Raises
    ------
    ValidationError
        With every problem.
    """
    findings = Findings()
    if role in STATIC_ROLE_RULES:
        rules = STATIC_ROLE_RULES[role]
        if size.min != size.max:
            message = f"{rules.static}: a pool of role '{role}' must have a fixed size, set size.min = size.max"
            findings.add(message, given=str(size))
        if size.min < 1:
            findings.add(f"{rules.not_empty}: a pool of role '{role}' must have at least 1 node", "min", given=size.min)
    if role is PoolRole.INITIAL and size.max > INITIAL_MAX:
        message = f"a pool of role 'initial' must have at most {INITIAL_MAX} nodes: it runs core services only"
        findings.add(message, "max", given=size.max)
    findings.raise_if_any()


def require_shape(names: tuple[str, ...], shape: MachineShape | None) -> None:
    """Refuse machine types that do not have the pool's shape.

    Parameters
    ----------
    names
        The types.
    shape
        The shape; None if the pool has none.

    Raises
    ------
    ValidationError
        With every problem.
    """
    findings = Findings()
    for index, name in enumerate(names if shape else ()):
        if shape and (problem := shape.problem(INSTANCE_TYPES[name])):
            findings.add(f"does not have the pool's shape: it {problem}", index, given=name)
    findings.raise_if_any()


def require_fitting_machine(machine: Machine | None, role: PoolRole | None) -> None:
    """Refuse a machine whose GPUs, or lack of them, do not fit the pool's role.

    Parameters
    ----------
    machine
        The machine; None if the pool has machine types.
    role
        Its role; None if it is missing or invalid.

    Raises
    ------
    ValidationError
        With the problem.
    """
    findings = Findings()
    if machine and role is PoolRole.GPU and not machine.gpus:
        findings.add("NG-16: must be at least 1 in a pool of role 'gpu'", "gpus", given=machine.gpus)
    elif machine and role not in (PoolRole.GPU, None) and machine.gpus:
        findings.add("NG-16: GPUs need a pool of role 'gpu'", "gpus", given=machine.gpus)
    findings.raise_if_any()


def require_fitting_types(names: tuple[str, ...], choices: Mapping[str, Any]) -> None:
    """Refuse machine types that do not fit each other, the pool's role or its size.

    Parameters
    ----------
    names
        The types.
    choices
        The pool's valid fields so far.

    Raises
    ------
    ValidationError
        With every problem.
    """
    if "machine" not in choices or choices["machine"]:
        if names:
            raise ValueError("cannot be combined with machine; set one of the two")
        return
    findings, role, one_shape = Findings(), choices.get("role"), _one_shape_rule(choices)
    if not names:
        way = "; `igz-clusters machines STACK --write` writes those that have the shape" if choices.get("shape") else ""
        findings.add(f"is required: a list of text{way}")
        findings.raise_if_any()
    first, *_ = instances = [INSTANCE_TYPES[name] for name in names]
    for index, instance in enumerate(instances):
        if instance in instances[:index]:
            findings.add("lists a machine type twice; remove one", index, given=instance.name)
        if role is PoolRole.GPU and not instance.gpus:
            findings.add("NG-16: has no GPU, but the pool's role is 'gpu'", index, given=instance.name)
        elif role not in (PoolRole.GPU, None) and instance.gpus:
            findings.add("NG-16: has GPUs, which need a pool of role 'gpu'", index, given=instance.name)
        elif (instance.provider, instance.architecture) != (first.provider, first.architecture):
            rule = "NG-16: the machine types of a pool must share one architecture and one cloud"
            message = f"{rule}; this is {_make(instance)}, the first is {_make(first)}"
            findings.add(message, index, given=instance.name)
        elif one_shape and instance.shape != first.shape:
            message = f"NG-16: {one_shape}; this is {_shape(instance)}, the first is {_shape(first)}"
            findings.add(message, index, given=instance.name)
    findings.raise_if_any()


def require_fitting_shape(shape: MachineShape, choices: Mapping[str, Any]) -> None:
    """Refuse a shape that does not fit the pool's role.

    Parameters
    ----------
    shape
        The shape.
    choices
        The pool's valid fields so far.

    Raises
    ------
    ValidationError
        With every problem.
    """
    if choices.get("machine"):
        raise ValueError("cannot be combined with machine; set one of the two")
    findings, role = Findings(), choices.get("role")
    if role is PoolRole.GPU and not shape.gpu:
        findings.add("NG-16: is required in a pool of role 'gpu', such as {model: A10G}", "gpu")
    elif role not in (PoolRole.GPU, None) and shape.gpu:
        findings.add("NG-16: GPUs need a pool of role 'gpu'", "gpu", given=shape.gpu.model)
    if role is PoolRole.DATA and not shape.local_nvme:
        findings.add("NG-22: must be true in a pool of role 'data', which needs local disks", "localNvme")
    if role in STATIC_ROLE_RULES and Variant.BURSTABLE in shape.variants:
        findings.add(f"a pool of role '{role}' works all the time, beyond CPU credits; remove burstable", "variants")
    findings.raise_if_any()


def _one_shape_rule(choices: Mapping[str, Any]) -> str | None:
    """Return why all types of a pool must have one shape; None if they need not, or if this is unknown."""
    role, size = choices.get("role"), choices.get("size")
    if role in STATIC_ROLE_RULES:
        return f"the machine types of a pool of role '{role}' must have one shape"
    if size and not size.is_elastic:
        return f"a pool of fixed size ({size}) must have one shape; use one, or make size.min differ from size.max"
    return None


def _make(instance: InstanceType) -> str:
    return f"{instance.architecture}, {instance.provider}"


def _shape(instance: InstanceType) -> str:
    return f"{instance.vcpus} vCPU, {instance.memory_mib} MiB, {instance.gpus} GPU"
