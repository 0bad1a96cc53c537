import json
from pathlib import Path

import pytest

from workbench.engine.render import JournalSummary, OfflineSession, ValueCounts, install
from workbench.stacks import find


@pytest.fixture
def session(tmp_path: Path) -> OfflineSession:
    variables = {"HOME": str(tmp_path), "PULUMI_STACK": "local"}
    return OfflineSession(find("local"), Path("/nowhere/pulumi"), variables, journal=tmp_path / "journal")


def test_a_render_sees_nothing_of_the_callers_clouds(session: OfflineSession, monkeypatch: pytest.MonkeyPatch) -> None:
    callers = {
        "AWS_PROFILE": "prod",
        "AWS_SECRET_ACCESS_KEY": "hidden",
        "KUBECONFIG": "/home/me/.kube/config",
        "HOME": "/home/me",
        "PULUMI_ACCESS_TOKEN": "hidden",
        "PYTHONPATH": "/home/me/lib",
        "HTTPS_PROXY": "http://proxy",
        "CI": "true",
        "LANG": "C.UTF-8",
        "IGZ_CLUSTERS_POLICY_UNKNOWN": "note",
    }
    for name, value in callers.items():
        monkeypatch.setenv(name, value)
    seen = session.whole_environment()
    assert seen["HOME"] == session.environment["HOME"]
    passed = {name for name in callers if seen.get(name) == callers[name]}
    assert passed == {"CI", "LANG", "IGZ_CLUSTERS_POLICY_UNKNOWN"}


def test_the_tally_adds_up_what_all_plug_ins_noted(session: OfflineSession) -> None:
    events = [
        {"provider": "aws", "event": "check", "subject": "aws:ec2/vpc:Vpc", "judged": 3, "unknown": 1},
        {"provider": "aws", "event": "check", "subject": "aws:ec2/eip:Eip", "judged": 1, "unmodelled": 2},
        {"provider": "aws", "event": "refused", "subject": "invoke", "what": "aws:ec2/getAmi:getAmi"},
        {"provider": "azure-native", "event": "check", "subject": "azure-native:network:Subnet", "judged": 5},
        {"provider": "kubernetes", "event": "check", "subject": "kubernetes:core/v1:Pod", "judged": 7},
    ]
    session.journal.write_text("".join(f"{json.dumps(event)}\n" for event in events))
    values = {"aws": ValueCounts(4, 1, 2), "azure-native": ValueCounts(5)}
    assert session.summary == JournalSummary(values, ("invoke aws:ec2/getAmi:getAmi",))
    assert session.summary.lines == [
        (
            "Values of AWS inputs: 4 validated by AWS's API models, 1 not known yet, 2 covered by no model "
            "(docs/aws-inputs.md)."
        ),
        (
            "Values of Azure inputs: 5 validated by Microsoft's API description, 0 not known yet, "
            "0 covered by no model (docs/azure-inputs.md)."
        ),
        "Calls that need a cloud: 1.",
        "  refused: invoke aws:ec2/getAmi:getAmi",
    ]


def test_where_no_cloud_plug_in_ran_the_tally_is_silent_about_its_values(session: OfflineSession) -> None:
    assert session.summary.lines == ["Calls that need a cloud: 0."]


def test_a_plug_in_is_installed_as_a_script_that_passes_the_engines_words_on(tmp_path: Path) -> None:
    install(tmp_path, "aws", "7.0.0", "/a folder/python", "-m", "module")
    script = tmp_path / "plugins" / "resource-aws-v7.0.0" / "pulumi-resource-aws"
    assert script.read_text() == "#!/bin/sh\nexec '/a folder/python' -m module \"$@\"\n"
    assert script.stat().st_mode & 0o777 == 0o700
