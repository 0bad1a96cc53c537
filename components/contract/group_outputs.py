"""What the outputs of a stack say of a node group, for scripts and for programs that use the stack."""

from typing import Any

from components.contract.groups import NodeGroup


def described(group: NodeGroup) -> dict[str, Any]:
    """Return a description of a group, under keys that scripts and other programs know."""
    machine = group.instances[0]
    return {
        "pool": group.pool,
        "role": group.role.value,
        "lifecycle": group.lifecycle.value,
        "min": group.size.min,
        "max": group.size.max,
        "instanceTypes": [instance.name for instance in group.instances],
        "architecture": machine.architecture,
        # Figures of one node: all types of a group have one shape.
        "vcpus": machine.vcpus,
        "gpus": machine.gpus,
        "gpuModel": machine.gpu_model,
        **({"devices": group.devices} if group.sharing or group.fabric else {}),
        "labels": dict(group.labels),
        "taints": [str(taint) for taint in group.taints],
    }
