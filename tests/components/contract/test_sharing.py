"""Shared GPUs: one choice decides name, number, label, taint, quota and the autoscaler's hints."""

import pytest
from pydantic import TypeAdapter

from components.contract.eks.autoscaling import ACCELERATOR_LABEL, autoscaling_tags, node_labels
from components.contract.gangs import gpu_room
from components.contract.groups import NodeGroup, resolve_groups
from components.contract.instances import INSTANCE_TYPES
from components.contract.labels import LabelKey
from components.contract.local.nodes import SimulatedGroup, autoscaler_config, node_metadata
from components.contract.pools import NodePool
from components.contract.sharing import PROFILES, Shares, Sharing, profiles_of, shares_of
from support.autoscaler import node_template

TURNS = {"mode": "time-slicing", "replicas": 4}
SLICES = {"mode": "mig", "profile": "1g.10gb"}


def group(sharing: dict[str, object] | None, machine: str = "g5.12xlarge") -> NodeGroup:
    pool = {"role": "gpu", "size": {"min": 0, "max": 3}, "instanceTypes": [machine]}
    (made,) = resolve_groups({"gpu": NodePool.model_validate(pool | ({"sharing": sharing} if sharing else {}))})
    return made


@pytest.mark.parametrize(
    ("sharing", "machine", "devices", "label"),
    [
        (None, "g5.12xlarge", {"nvidia.com/gpu": 4}, None),
        (TURNS, "g5.12xlarge", {"nvidia.com/gpu.shared": 16}, "time-slicing-4"),
        (SLICES, "p5.48xlarge", {"nvidia.com/mig-1g.10gb": 56}, "mig-1g.10gb-7"),
        (SLICES, "p4d.24xlarge", {"nvidia.com/mig-1g.10gb": 32}, "mig-1g.10gb-4"),  # of 40 GB, with double memory
        ({"mode": "mig", "profile": "1g.24gb"}, "g7e.2xlarge", {"nvidia.com/mig-1g.24gb": 4}, "mig-1g.24gb-4"),
    ],
)
def test_the_choice_decides_what_a_node_offers(
    sharing: dict[str, object] | None, machine: str, devices: dict[str, int], label: str | None
) -> None:
    made = group(sharing, machine)
    assert made.devices == devices
    assert made.labels.get(LabelKey.GPU_SHARING) == label
    assert [str(taint) for taint in made.taints] == [f"{name}=present:NoSchedule" for name in devices]


@pytest.mark.parametrize(("sharing", "machine"), [(TURNS, "g5.12xlarge"), (SLICES, "p5.48xlarge")])
def test_the_autoscaler_of_eks_neither_waits_for_whole_gpus_nor_promises_them(
    sharing: dict[str, object], machine: str
) -> None:
    made = group(sharing, machine)
    template = node_template(autoscaling_tags(made, "research", 100))
    assert ACCELERATOR_LABEL not in node_labels(made)
    assert template.labels[LabelKey.GPU_SHARING] == made.labels[LabelKey.GPU_SHARING]
    offered = {name: str(count) for name, count in made.devices.items()}
    # Without the zero the autoscaler takes the machine's GPUs for whole ones.
    found = {name: text for name, text in template.resources.items() if "/" in name}
    assert found == {"nvidia.com/gpu": "0", **offered}


def test_simulated_nodes_have_the_shares_and_no_label_of_whole_gpus() -> None:
    shared, whole = SimulatedGroup(group=group(TURNS)), SimulatedGroup(group=group(None))
    assert shared.capacity["nvidia.com/gpu.shared"] == shared.allocatable["nvidia.com/gpu.shared"] == "16"
    assert "nvidia.com/gpu" not in shared.capacity
    assert LabelKey.GPU_MODEL not in node_metadata(shared, "gpu-0")["labels"]
    assert node_metadata(whole, "gpu-0")["labels"][LabelKey.GPU_MODEL] == "A10G"
    assert "gpuConfig" not in autoscaler_config([shared.group])
    assert "gpuConfig" in autoscaler_config([shared.group, whole.group])


def test_a_model_with_spaces_is_a_valid_label() -> None:
    made = group(None, "g7e.2xlarge")
    assert node_labels(made)[ACCELERATOR_LABEL] == "nvidia-rtx-pro-server-6000"
    assert node_metadata(SimulatedGroup(group=made), "gpu-0")["labels"][LabelKey.GPU_MODEL] == "RTX-PRO-Server-6000"


def test_gangs_count_shares_as_far_as_their_number_is_known() -> None:
    room = gpu_room([group(TURNS)])
    assert room.nodes == {"nvidia.com/gpu.shared": [(16, 3)]}


@pytest.mark.parametrize(
    "shares",
    [Shares("nvidia.com/gpu.shared", 2), Shares("nvidia.com/mig-1g.10gb", 7), Shares("nvidia.com/mig-7g.141gb", 1)],
)
def test_the_label_says_all_that_rules_need(shares: Shares) -> None:
    assert shares_of(shares.label) == shares


@pytest.mark.parametrize("label", [None, "", "time-slicing", "time-slicing-0", "mig-1g.10gb", "mig-7", "mps-4", "x-4"])
def test_any_other_label_says_nothing(label: str | None) -> None:
    assert shares_of(label) is None


@pytest.mark.parametrize("name", [name for name, each in INSTANCE_TYPES.items() if profiles_of(each)])
def test_slices_of_one_profile_do_not_need_more_memory_than_the_gpu_has(name: str) -> None:
    found = INSTANCE_TYPES[name]
    for profile, count in profiles_of(found).items():
        units, gigabytes = profile.removesuffix("gb").split("g.")
        assert int(units) * count <= 7
        assert int(gigabytes) * count <= found.gpu_memory_mib / 1024 * 1.03 + 1  # NVIDIA rounds up


def test_every_profile_can_be_chosen() -> None:
    sharing: TypeAdapter[Sharing] = TypeAdapter(Sharing)
    for profiles in PROFILES.values():
        for profile in profiles:
            assert sharing.validate_python({"mode": "mig", "profile": profile}).resource == f"nvidia.com/mig-{profile}"
