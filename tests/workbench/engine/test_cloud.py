import json
import stat
from pathlib import Path
from typing import Any

import pytest

from workbench.engine import cloud
from workbench.engine.cloud import cloud_session, file_backend, require_nothing_pending
from workbench.engine.session import policy_packs
from workbench.stacks import find
from workbench.system.errors import UserError
from workbench.system.paths import PROJECT_ROOT
from workbench.toolchain import Toolchain

CREATING = {
    "type": "creating",
    "resource": {
        "urn": "urn:pulumi:dev::igz-clusters::aws:eks/cluster:Cluster::dev",
        "type": "aws:eks/cluster:Cluster",
    },
}


def engine(folder: Path, *, prints: Any = None, fails: str = "") -> Toolchain:
    """A stand-in for the engine that answers every command with the same words."""
    program = folder / "pulumi"
    answer = f"echo '{fails}' >&2; exit 255" if fails else f"cat <<'END'\n{json.dumps(prints)}\nEND"
    program.write_text(f"#!/bin/sh\n{answer}\n")
    program.chmod(stat.S_IRWXU)
    return Toolchain({"pulumi": program})


def test_login_backend_passphrase_and_credentials_stay_the_users_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = {
        "PULUMI_BACKEND_URL": "s3://states",
        "PULUMI_CONFIG_PASSPHRASE": "mine",
        "PULUMI_HOME": "/home/me/.pulumi",
        "AWS_PROFILE": "deployer",
    }
    for name, value in own.items():
        monkeypatch.setenv(name, value)
    session = cloud_session(find("dev"), engine(tmp_path))
    seen = session.whole_environment()
    assert own.items() <= seen.items()
    assert "IGZ_CLUSTERS_LOCAL_KUBECONFIG" not in seen
    assert seen["PULUMI_STACK"] == "dev"
    assert seen["PULUMI_OPTION_CONFIG_FILE"] == str(find("dev").file)
    assert session.inputs.packs == policy_packs()


@pytest.mark.parametrize("url", ["file://./state", "file://state?metadata=skip", "file://."])
def test_an_installed_package_is_no_place_for_the_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("PULUMI_BACKEND_URL", url)
    cloud_session(find("dev"), engine(tmp_path))  # in a checkout the folder stays
    monkeypatch.setattr(cloud, "is_from_wheel", lambda: True)
    with pytest.raises(UserError, match="in the folder of the installed package") as refused:
        cloud_session(find("dev"), engine(tmp_path))
    assert str(Path.cwd()) in refused.value.hint
    for whole in ("file:///srv/state", "file://~/state", "file://~", "s3://states"):
        monkeypatch.setenv("PULUMI_BACKEND_URL", whole)
        assert cloud_session(find("dev"), engine(tmp_path)).stack.name == "dev"


def test_a_stack_with_operations_under_way_is_refused_for_a_killed_run_and_for_one_elsewhere(tmp_path: Path) -> None:
    toolchain = engine(tmp_path, prints={"deployment": {"pending_operations": [CREATING]}})
    meaning = "The state of 'dev' has pending operations: creating Cluster dev. That run was killed or is still active"
    with pytest.raises(UserError, match=meaning) as caught:
        require_nothing_pending(cloud_session(find("dev"), toolchain))
    look, mend = caught.value.hint.index("`pulumi stack history --stack dev`"), caught.value.hint.index("`igz-clusters")
    assert look < mend


@pytest.mark.parametrize("exported", [{"deployment": None}, {"deployment": {"resources": []}}])
def test_a_stack_in_order_passes(tmp_path: Path, exported: dict[str, Any]) -> None:
    require_nothing_pending(cloud_session(find("dev"), engine(tmp_path, prints=exported)))


def test_a_stack_that_the_backend_does_not_know_is_answered_with_the_steps(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no stack named") as caught:
        require_nothing_pending(cloud_session(find("dev"), engine(tmp_path, fails="error: no stack named dev found")))
    assert "`pulumi stack init dev`" in caught.value.hint


@pytest.mark.parametrize(
    ("address", "folder"),
    [
        ("file:///var/lib/my%20states?no_tmp_dir=true", Path("/var/lib/my states")),
        ("file://~/states", Path.home() / "states"),
        ("file://./states", PROJECT_ROOT / "states"),
        ("s3://states", None),
    ],
)
def test_a_backend_on_this_machine_is_where_the_engine_finds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str, folder: Path | None
) -> None:
    monkeypatch.chdir(tmp_path)
    assert file_backend(cloud_session(find("dev"), engine(tmp_path, prints={"url": address}))) == folder
