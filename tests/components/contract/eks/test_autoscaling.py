"""Scale from zero: what the autoscaler learns from the tags is what a node of the group will be."""

from hypothesis import given
from hypothesis import strategies as st

from components.contract.aws import OwnTag
from components.contract.eks.autoscaling import ACCELERATOR_LABEL, autoscaling_tags, node_labels
from components.contract.groups import NodeGroup, resolve_groups
from components.contract.instances import INSTANCE_TYPES, Provider
from components.contract.pools import NodePool
from components.contract.taints import OWN_SPOT_TAINT
from support.autoscaler import is_discovered, node_template

AWS_TYPES = [i for i in INSTANCE_TYPES.values() if i.provider is Provider.AWS and i.gpu_maker in ("", "nvidia")]
LABEL_NAME = st.from_regex(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,8}[A-Za-z0-9])?", fullmatch=True)
LABELS = st.dictionaries(
    st.tuples(st.sampled_from(["", "example.com/", "eks.example.com/", "taint.example.com/"]), LABEL_NAME).map("".join),
    st.one_of(st.just(""), LABEL_NAME),
    max_size=5,
)


@st.composite
def elastic_groups(draw: st.DrawFn) -> NodeGroup:
    first = draw(st.sampled_from(AWS_TYPES))
    fellows = [i.name for i in AWS_TYPES if (i.architecture, bool(i.gpus)) == (first.architecture, bool(first.gpus))]
    role = "gpu" if first.gpus else draw(st.sampled_from(["workload", "jupyter"]))
    low = draw(st.integers(0, 5))
    pool = {
        "role": role,
        "lifecycle": draw(st.sampled_from(["on-demand", "spot"])),
        "size": {"min": low, "max": low + draw(st.integers(1, 20))},
        "instanceTypes": draw(st.lists(st.sampled_from(fellows), min_size=1, max_size=5, unique=True)),
        "labels": draw(LABELS),
    }
    taint = draw(st.sampled_from([OWN_SPOT_TAINT, None]))
    return draw(st.sampled_from(resolve_groups({"pool": NodePool.model_validate(pool)}, taint)))


@given(elastic_groups())
def test_the_tags_describe_exactly_the_nodes_of_the_group(group: NodeGroup) -> None:
    template = node_template(autoscaling_tags(group, "research", 100))
    assert template.labels == node_labels(group)
    assert [(t.key, t.value, t.effect) for t in template.taints] == [
        (t["key"], t["value"], t["effect"]) for t in (taint.to_kubernetes() for taint in group.taints)
    ]
    gpus = {"nvidia.com/gpu": str(group.instances[0].gpus)} if group.instances[0].gpus else {}
    assert template.resources.keys() == {"cpu", "ephemeral-storage", "memory", *gpus}
    assert template.resources.items() >= gpus.items()


@given(elastic_groups())
def test_the_first_type_stands_for_all_in_size(group: NodeGroup) -> None:
    """The autoscaler takes CPU and memory from the first machine type, so every other must offer the same."""
    first = group.instances[0]
    assert {(i.vcpus, i.memory_mib, i.gpus, i.architecture) for i in group.instances} == {
        (first.vcpus, first.memory_mib, first.gpus, first.architecture)
    }


@given(elastic_groups())
def test_an_elastic_group_is_found_by_the_autoscaler_of_its_own_cluster_only(group: NodeGroup) -> None:
    tags = autoscaling_tags(group, "research", 100)
    assert is_discovered(f"--node-group-auto-discovery=asg:tag={OwnTag.AUTOSCALER}=research", tags)
    assert not is_discovered(f"--node-group-auto-discovery=asg:tag={OwnTag.AUTOSCALER}=other", tags)


def test_a_static_group_says_nothing_to_the_autoscaler() -> None:
    pool = {"role": "initial", "size": {"min": 3, "max": 3}, "instanceTypes": ["m6i.xlarge"]}
    (group,) = resolve_groups({"initial": NodePool.model_validate(pool)}, OWN_SPOT_TAINT)
    assert autoscaling_tags(group, "research", 100) == {}


def test_only_gpu_nodes_carry_the_accelerator_label() -> None:
    pools = {
        "gpu": {"role": "gpu", "size": {"min": 0, "max": 1}, "instanceTypes": ["g4dn.xlarge"]},
        "cpu": {"role": "workload", "size": {"min": 0, "max": 1}, "instanceTypes": ["m6i.xlarge"]},
    }
    gpu, cpu = resolve_groups({name: NodePool.model_validate(pool) for name, pool in pools.items()}, OWN_SPOT_TAINT)
    assert node_labels(gpu)[ACCELERATOR_LABEL] == "nvidia-t4"
    assert ACCELERATOR_LABEL not in node_labels(cpu)


def test_an_empty_group_promises_no_more_than_its_nodes_will_offer() -> None:
    """A node of an m6i.2xlarge offers pods less than 31 GiB of memory, and less than 95 GiB of a disk of 100."""
    pool = {"role": "workload", "size": {"min": 0, "max": 1}, "instanceTypes": ["m6i.2xlarge"]}
    (group,) = resolve_groups({"jobs": NodePool.model_validate(pool)})
    found = node_template(autoscaling_tags(group, "research", 100)).resources
    assert found == {"cpu": "7910m", "ephemeral-storage": "90928Mi", "memory": "31203Mi"}
