"""Foreign scanners on what our stacks plan: a finding is corrected, or listed with its reason in ``scanners.yaml``."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
import yaml

from infra.config import parse
from infra.program import run
from policies.examples import Given
from support.existing import sighting_of
from support.policies import sent
from support.recorder import record
from support.sampled import sampled
from tools.benchmarks.cases.policy_check import OFFLINE, REQUIREMENTS
from tools.benchmarks.estate import manifests, terraform_plan
from workbench.offline.azure.facts import facts
from workbench.offline.azure.shapes import body
from workbench.stacks import CONFIG_KEY, find
from workbench.system.virtual_environments import interpreter
from workbench.toolchain import ensure

STACKS = ("dev", "prod", "aks-dev", "aks-prod")
NEXT_MINOR = "1.36"
BROKEN = """
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: broken, namespace: mlrun}
spec:
  selector: {matchLabels: {app: broken}}
  template:
    metadata: {labels: {app: broken}}
    spec: {containers: [{name: broken, image: "registry/broken:1", securityContext: {privileged: true}}]}
---
apiVersion: policy/v1beta1
kind: PodDisruptionBudget
metadata: {name: broken, namespace: mlrun}
spec: {selector: {matchLabels: {app: broken}}}
"""
ACCEPTED: dict[str, dict[str, str]] = yaml.safe_load(Path(__file__).with_name("scanners.yaml").read_text())
"""By scanner: the finding as ``id resource``, where ``*`` matches anything, and why it stays."""
PLUTO_CODES = (0, 2, 3, 4)
"""Nothing found, deprecated, removed, and deprecated with no replacement yet; 1 is a failure."""


def planned(stack: str) -> list[Given]:
    config = parse(find(stack).document["config"][CONFIG_KEY])
    made = record(lambda: run(config, kubeconfig="/nowhere/kubeconfig", sighting=sighting_of(config)))
    return [given for given in sent(made) if given.type.startswith(("aws:", "azure-native:", "kubernetes:"))]


def template(resources: Iterable[Given]) -> dict[str, Any]:
    """Return the Azure resources as an ARM template."""
    made = []
    for resource in resources:
        if known := facts().resources.get(resource.type):
            provider, *path = known.id.rpartition("/providers/")[2].split("/")
            kind, named = "/".join([provider, *path[::2]]), resource.props.get(path[-1].strip("{}"), resource.name)
            place = {"type": kind, "apiVersion": known.api_version, "name": named}
            made.append({**place, **body(resource.type, resource.props)})
    schema = "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#"
    return {"$schema": schema, "contentVersion": "1.0.0.0", "resources": made}


def write(folder: Path, resources: list[Given]) -> None:
    objects = [given for given in resources if given.type.startswith("kubernetes:")]
    (folder / "objects.yaml").write_text(yaml.safe_dump_all(_exact(manifests(objects))))
    for name, content, is_there in (
        ("plan", terraform_plan(resources), any(given.type.startswith("aws:") for given in resources)),
        ("arm", template(resources), any(given.type.startswith("azure-native:") for given in resources)),
    ):
        if is_there:
            (folder / f"{name}.json").write_text(json.dumps(_exact(content)))


def _exact(content: Any) -> Any:
    """Return JSON whose whole numbers are integers: the engine sends every number as a float."""

    def number(text: str) -> float:
        return int(float(text)) if float(text).is_integer() else float(text)

    return json.loads(json.dumps(content), parse_float=number)


def checkov(folder: Path) -> set[str]:
    """Return the findings, and check that everything was read."""
    program = interpreter(REQUIREMENTS).with_name("checkov")
    options = ("--framework", "terraform_plan", "kubernetes", "arm", "--skip-download", "--soft-fail", "--compact")
    command = (program, "--directory", ".", *options, "--output", "json")
    ran = subprocess.run(
        command, cwd=folder, env={**os.environ, **OFFLINE}, capture_output=True, text=True, timeout=900, check=True
    )
    found = json.loads(ran.stdout)
    reports = found if isinstance(found, list) else [found]
    assert sum(report["summary"]["parsing_errors"] for report in reports) == 0
    assert len(reports) == 2
    assert all(report["summary"]["passed"] for report in reports)
    failed = [check for report in reports for check in report["results"]["failed_checks"]]
    return {f"{check['check_id']} {check['resource']}" for check in failed}


def polaris(folder: Path) -> set[str]:
    """Return the findings of every severity, and check that every object was read."""
    program = ensure(["polaris"]).path("polaris")
    command = (program, "audit", "--audit-path", "objects.yaml", "--disallow-exemptions", "--format", "json")
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=True)
    results = json.loads(ran.stdout)["Results"]
    assert len(results) == len(list(yaml.safe_load_all((folder / "objects.yaml").read_text())))
    return {f"{check} {_name(result)}" for result in results for check in _failed(result)}


def _failed(result: Mapping[str, Any]) -> Iterator[str]:
    pod = result["PodResult"] or {"Results": {}, "ContainerResults": []}
    for checks in (result["Results"], pod["Results"], *(each["Results"] for each in pod["ContainerResults"])):
        yield from (name for name, check in checks.items() if not check["Success"])


def _name(result: Mapping[str, Any]) -> str:
    return f"{result['Kind']}.{result['Namespace']}.{result['Name']}"


def pluto(folder: Path) -> set[str]:
    """Return versions of APIs that are deprecated or removed in the stack's minor or the next."""
    program = ensure(["pluto"]).path("pluto")
    found = set()
    for minor in ((folder / "minor").read_text(), NEXT_MINOR):
        command = (program, "detect-files", "--directory", ".", "--target-versions", f"k8s=v{minor}.0", "-o", "json")
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
        assert ran.returncode in PLUTO_CODES, ran.stderr
        items = json.loads(ran.stdout).get("items", [])
        found |= {
            f"{each['api']['version']} {each['api']['kind']}.{each['namespace']}.{each['name']}" for each in items
        }
    return found


SCANNERS: dict[str, Callable[[Path], set[str]]] = {"checkov": checkov, "pluto": pluto, "polaris": polaris}


@pytest.fixture(scope="module")
def renders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the folder of each stack with what it plans."""
    folders = {stack: tmp_path_factory.mktemp(stack) for stack in STACKS}
    for stack, folder in folders.items():
        write(folder, planned(stack))
        (folder / "minor").write_text(find(stack).document["config"][CONFIG_KEY]["cluster"]["version"])
    return folders


def without_reason(found: Iterable[str], rows: Iterable[str]) -> list[str]:
    return sorted(each for each in found if not any(fnmatchcase(each, row) for row in rows))


def without_finding(found: Iterable[str], rows: Iterable[str]) -> list[str]:
    return [row for row in rows if not any(fnmatchcase(each, row) for each in found)]


# pluto and polaris take minutes to build; that an API was removed, the API server says too, of all that tests create.
@pytest.mark.full
@pytest.mark.parametrize("scanner", sampled(SCANNERS, ["checkov"], others=pytest.mark.proofs))
def test_a_scanner_finds_nothing_but_what_is_listed_with_its_reason(scanner: str, renders: dict[str, Path]) -> None:
    found = {stack: SCANNERS[scanner](folder) for stack, folder in renders.items()}
    assert {stack: without_reason(each, ACCEPTED[scanner]) for stack, each in found.items()} == {
        stack: [] for stack in STACKS
    }
    assert without_finding(set().union(*found.values()), ACCEPTED[scanner]) == []


@pytest.mark.full
@pytest.mark.parametrize(
    ("scanner", "finding"),
    [
        ("checkov", "CKV_K8S_16 Deployment.mlrun.broken"),
        pytest.param("pluto", "policy/v1beta1 PodDisruptionBudget.mlrun.broken", marks=pytest.mark.proofs),
        pytest.param("polaris", "runAsPrivileged Deployment.mlrun.broken", marks=pytest.mark.proofs),
    ],
)
def test_a_scanner_finds_a_privileged_pod_or_a_removed_version(
    scanner: str, finding: str, renders: dict[str, Path], tmp_path: Path
) -> None:
    folder = shutil.copytree(renders["dev"], tmp_path / "broken")
    with (folder / "objects.yaml").open("a") as objects:
        objects.write(BROKEN)
    assert finding in without_reason(SCANNERS[scanner](folder), ACCEPTED[scanner])


def test_a_row_that_no_finding_matches_is_named() -> None:
    assert without_finding({"A1 Deployment.a.b"}, ["A1 *", "A2 *"]) == ["A2 *"]


def test_each_row_says_why_the_finding_stays() -> None:
    for rows in ACCEPTED.values():
        assert all(re.fullmatch(r"[A-Z].*\.", why) for why in rows.values())
