import base64
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
import yaml

from emulators.azure.client import ADDRESS_VARIABLE, running
from emulators.core.client import EmulatorError
from support.aks_account import account
from support.aws import eventually

MODULE = "emulators.azure"


def test_a_cluster_has_a_local_address_and_the_certificate_of_the_kubeconfig(tmp_path: Path) -> None:
    place = {"server": "https://127.0.0.1:6443", "certificate-authority-data": "Y2E="}
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(yaml.safe_dump({"clusters": [{"name": "local", "cluster": place}]}))
    with running(kubeconfig=kubeconfig) as az:
        home = account(az)
        told = home.ask("POST", f"{home.cluster()}/listClusterUserCredential", format="exec")
        document = yaml.safe_load(base64.b64decode(told.body["kubeconfigs"][0]["value"]))
        assert az.environment[ADDRESS_VARIABLE] == az.address
    found = document["clusters"][0]["cluster"]
    assert found["server"].startswith("https://127.0.0.1:")
    assert found["certificate-authority-data"] == "Y2E="


def test_it_ends_with_the_process_that_started_it() -> None:
    code = f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-m', '{MODULE}']); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=os.environ) as parent:
        assert parent.stdout
        assert parent.stdout.readline().startswith("http://127.0.0.1:")
        (server,) = psutil.Process(parent.pid).children()
        parent.kill()
    assert eventually(lambda: not server.is_running() or server.status() == psutil.STATUS_ZOMBIE)


@pytest.mark.parametrize(
    ("given", "why"),
    [(["--scale", "-1"], "--scale: must be 0 or more"), (["--kubeconfig", "gone.yaml"], "must be a kubeconfig")],
)
def test_a_mistake_on_the_command_line_is_told_and_nothing_starts(given: list[str], why: str) -> None:
    command = [sys.executable, "-m", MODULE, *given]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert (ended.returncode, why in ended.stderr, "Traceback" in ended.stderr) == (2, True, False)


def test_a_server_that_does_not_start_is_told() -> None:
    with pytest.raises(EmulatorError, match="the Azure emulator did not start"), running(scale=-1):
        pass
