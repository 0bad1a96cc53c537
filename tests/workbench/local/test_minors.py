"""Which minor version of Kubernetes the API server offers: its own, or for tests an older one."""

from collections.abc import Callable
from pathlib import Path

import pytest

from support.cluster import emulate
from workbench.local import Binaries, Instance
from workbench.local.components import components
from workbench.local.layout import Layout
from workbench.local.programs import PROGRAMS
from workbench.local.state import Tuning

V1 = "/apis/admissionregistration.k8s.io/v1"
NEW = '"mutatingadmissionpolicies"'
"""Version v1 exists since Kubernetes 1.36."""


def test_only_a_test_that_asks_for_it_gets_an_older_minor(tmp_path: Path) -> None:
    ports = dict.fromkeys((*PROGRAMS, "etcd-peer"), 1)
    _, plain, *_ = components(Layout(tmp_path), ports)
    _, older, *_ = components(Layout(tmp_path), ports, Tuning(emulated="1.35"))
    assert [*older.arguments] == [*plain.arguments, "--emulated-version=1.35"]


@pytest.mark.control_plane
@pytest.mark.xdist_group("shared")
def test_mutating_admission_policies_are_served_without_any_flag(shared: Instance, kubectl: Callable[..., str]) -> None:
    assert NEW in kubectl(shared, "get", "--raw", V1)


@pytest.mark.full
@pytest.mark.control_plane
def test_an_emulated_minor_serves_none_and_is_kept_by_a_restart(
    own_data: Path, toolchain_bin: Binaries, kubectl: Callable[..., str]
) -> None:
    older = Instance("older")
    emulate(own_data / "local" / older.name, "1.35")
    try:
        for _ in range(2):
            older.start(toolchain_bin)
            assert NEW not in kubectl(older, "get", "--raw", V1)
            assert older.stop()
    finally:
        older.stop()
