"""Foreign scanners on what our stacks plan: a finding is corrected, or listed with its reason in ``scanners.yaml``."""

import json
import os
import re
import subprocess
from collections.abc import Iterable
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
from tools.benchmarks.cases.policy_check import OFFLINE, REQUIREMENTS
from tools.benchmarks.estate import manifests, terraform_plan
from workbench.offline.azure.facts import facts
from workbench.offline.azure.shapes import body
from workbench.stacks import CONFIG_KEY, find
from workbench.system.virtual_environments import interpreter

STACKS = ("dev", "prod", "aks-dev", "aks-prod")
ACCEPTED: dict[str, dict[str, str]] = yaml.safe_load(Path(__file__).with_name("scanners.yaml").read_text())
"""By scanner: the finding as ``id resource``, where ``*`` matches anything, and why it stays."""


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
            kind = "/".join([provider, *path[::2]])
            place = {"type": kind, "apiVersion": known.api_version, "name": resource.name}
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


@pytest.mark.full
@pytest.mark.parametrize("stack", STACKS)
def test_checkov_finds_nothing_but_what_is_listed_with_its_reason(stack: str, tmp_path: Path) -> None:
    write(tmp_path, planned(stack))
    rows = ACCEPTED["checkov"]
    found = checkov(tmp_path)
    assert sorted(each for each in found if not any(fnmatchcase(each, row) for row in rows)) == []


def test_each_row_says_why_the_finding_stays() -> None:
    for rows in ACCEPTED.values():
        assert all(re.fullmatch(r"[A-Z].*\.", why) for why in rows.values())
