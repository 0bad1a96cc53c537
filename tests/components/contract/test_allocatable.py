"""What a node offers to pods: figures of real nodes and of the providers' own tables."""

import pytest

from components.contract.aks.nodes import RESERVES as AKS
from components.contract.allocatable import UPSTREAM, Reserves
from components.contract.clusters import DESCRIPTORS, reserves
from components.contract.eks import reserves as eks_reserves
from components.contract.eks.nodes import NODES
from components.contract.eks.reserves import RESERVES as EKS
from components.contract.environments import ClusterKind
from components.contract.instances import INSTANCE_TYPES
from support.eks import config

ALL = [each.nodes.reserves for each in DESCRIPTORS]


@pytest.mark.parametrize(("cores", "millis"), [(4, 140), (8, 180), (16, 260), (32, 420), (64, 740)])
def test_aks_reserves_the_cpu_of_its_own_table(cores: int, millis: int) -> None:
    machine = INSTANCE_TYPES[f"Standard_D{cores}s_v5"]
    assert AKS.cpu_millis(machine) == millis
    assert AKS.allocatable_cpu_millis(machine) == cores * 1000 - millis


def test_aks_reserves_memory_for_each_pod_but_at_most_a_quarter() -> None:
    assert AKS.memory_mib(INSTANCE_TYPES["Standard_D8s_v5"]) == 20 * 110 + 50
    assert AKS.allocatable_memory_mib(INSTANCE_TYPES["Standard_D8s_v5"]) == 32768 - 2250 - 100
    assert AKS.memory_mib(INSTANCE_TYPES["Standard_F4s_v2"]) == 8192 // 4


@pytest.mark.parametrize(
    ("name", "addresses", "pods"),
    [
        ("m6i.xlarge", 58, 58),
        ("i3en.3xlarge", 58, 58),
        ("m6i.4xlarge", 234, 110),
        ("i3en.6xlarge", 234, 110),
        ("c5.9xlarge", 234, 234),
        ("m6i.12xlarge", 234, 234),
        ("m6i.16xlarge", 737, 250),
        ("g4dn.xlarge", 29, 29),
        ("g4dn.16xlarge", 58, 58),
        ("g5.12xlarge", 737, 250),
        ("p5.48xlarge", 100, 100),
        ("t3.large", 35, 35),
        ("c7i-flex.large", 29, 29),
        ("u7i-12tb.224xlarge", 737, 250),
    ],
)
def test_eks_takes_as_many_pods_as_the_machine_has_addresses_and_managed_groups_allow(
    name: str, addresses: int, pods: int
) -> None:
    machine = INSTANCE_TYPES[name]
    assert (eks_reserves.pod_addresses(machine), EKS.pods(machine)) == (addresses, pods)


@pytest.mark.parametrize(
    ("name", "pods"),
    [
        ("t3.small", 110),
        ("m6i.xlarge", 110),
        ("c5.9xlarge", 250),
        ("p5.48xlarge", 250),
        ("i3.2xlarge", 58),  # no Nitro
        ("i3en.3xlarge", 110),
    ],
)
def test_eks_takes_as_many_pods_as_managed_groups_allow_with_prefixes(name: str, pods: int) -> None:
    choices = config({"cluster.prefixDelegation": True}).cluster
    assert NODES.reserves_of(choices).pods(INSTANCE_TYPES[name]) == pods
    assert NODES.reserves_of(config().cluster).pods(INSTANCE_TYPES[name]) == EKS.pods(INSTANCE_TYPES[name])


def test_eks_reserves_memory_for_every_address_even_if_the_node_takes_fewer_pods() -> None:
    assert EKS.memory_mib(INSTANCE_TYPES["m6i.4xlarge"]) == 255 + 11 * 234


@pytest.mark.parametrize(
    ("name", "unseen"),
    [
        ("m6i.16xlarge", 8474),
        ("m6g.16xlarge", 9976),
        ("g5.48xlarge", 20552),
        ("r6i.32xlarge", 32697),
        ("r6a.48xlarge", 57072),
        ("p5.48xlarge", 49192),
    ],
)
def test_large_nodes_of_eks_promise_what_firmware_and_kernel_leave(name: str, unseen: int) -> None:
    """The second figure is measured: aws/karpenter-provider-aws 33450d8f, zz_generated.memory_overhead.go."""
    machine = INSTANCE_TYPES[name]
    offered = machine.memory_mib - unseen - (255 + 11 * eks_reserves.pod_addresses(machine)) - 100
    assert 0.98 * offered < EKS.allocatable_memory_mib(machine) < 1.009 * offered


def test_eks_nodes_with_few_addresses_promise_no_more_than_with_110() -> None:
    assert EKS.allocatable_memory_mib(INSTANCE_TYPES["m6i.2xlarge"]) == 32768 - 255 - 11 * 110 - 100


def test_a_node_of_which_nothing_is_known_keeps_what_eks_keeps_for_110_pods() -> None:
    machine = INSTANCE_TYPES["m6i.2xlarge"]
    assert UPSTREAM.allocatable_cpu_millis(machine) == 7910
    assert UPSTREAM.allocatable_memory_mib(machine) == 32768 - 255 - 11 * 110 - 100
    assert UPSTREAM.pods(machine) == 110


def test_local_and_existing_clusters_know_nothing_of_the_kubelet() -> None:
    assert [reserves(kind) for kind in (ClusterKind.LOCAL, ClusterKind.EXISTING)] == [UPSTREAM, UPSTREAM]
    assert (reserves(ClusterKind.EKS), reserves(ClusterKind.AKS)) == (EKS, AKS)


@pytest.mark.parametrize("kept", ALL)
def test_every_known_machine_has_room_for_pods(kept: Reserves) -> None:
    for machine in INSTANCE_TYPES.values():
        assert 0 < kept.allocatable_cpu_millis(machine) < machine.vcpus * 1000
        assert 0 < kept.allocatable_memory_mib(machine) < machine.memory_mib
        assert kept.pods(machine) > 0


def test_a_full_root_disk_evicts_pods_in_a_cloud() -> None:
    assert UPSTREAM.allocatable_disk_mib(80) == 80 * 1024
    assert EKS.allocatable_disk_mib(100) == 90928
    assert AKS.allocatable_disk_mib(100) == 90928 + 1024
