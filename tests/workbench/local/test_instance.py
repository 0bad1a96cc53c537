from pathlib import Path

import pytest

from workbench.local import Instance, instances
from workbench.local.layout import Layout
from workbench.system.errors import UserError


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("name", ["a", "dev", "team-1", "0", "x" * 63])
def test_a_dns_label_names_an_instance(name: str) -> None:
    assert Instance(name).name == name


@pytest.mark.parametrize("name", ["", "-a", "a-", "A", "a.b", "a/b", "..", "a_b", "a\n", "x" * 64])
def test_no_other_text_names_an_instance(name: str) -> None:
    with pytest.raises(UserError, match="is not a valid name of a local control plane"):
        Instance(name)


def test_looking_at_an_instance_that_never_was_leaves_no_trace(data: Path) -> None:
    instance = Instance("never")
    status = instance.status()
    assert (status.running, status.ready, status.pids, status.age) == (False, False, {}, None)
    assert not instance.stop()
    instance.delete()
    assert instances() == []
    assert list(data.iterdir()) == []


def test_the_lock_has_one_holder_at_a_time() -> None:
    layout = Layout.of("one")
    first = layout.acquire()
    assert first is not None
    assert layout.acquire() is None


def test_the_log_of_an_unknown_component_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UserError, match="etcd, kube-apiserver"):
        Instance("one").logs("../../etc/passwd")


def test_the_log_of_a_component_that_never_started_is_said_to_be_missing() -> None:
    with pytest.raises(UserError, match="has no log: it has never started"):
        Instance("one").logs("etcd")
