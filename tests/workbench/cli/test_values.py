import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from click.testing import Result
from typer.testing import CliRunner

from components.contract.environments import PlatformProfile
from components.contract.systems.registry import SYSTEMS, System
from infra.config import CONFIG_KEY
from support import aks, eks, existing
from support.stack_files import VALID
from workbench import stacks
from workbench.cli.app import app
from workbench.system.paths import PROJECT_ROOT

WORK = """\
      work:
        role: workload
        size: { min: 0, max: 2 }
        instanceTypes: [m6i.2xlarge]
"""

REACHED = (
    "cluster: { kind: local }",
    "cluster: { kind: local, ingress: { domain: ml.example.com, className: traefik } }",
)
"""What stands for the cluster in a stack file, and the same with ways in."""


@pytest.fixture(autouse=True)
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A checkout with a local stack."""
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(tmp_path))
    (tmp_path / "Pulumi.good.yaml").write_text(VALID + WORK)
    return tmp_path


def run(*arguments: str, stack: str = "good") -> Result:
    return CliRunner().invoke(app, ["values", "--stack", stack, "--for", "mlrun-ce", *arguments])


def test_it_prints_yaml_that_names_what_it_is_for(checkout: Path) -> None:
    result = run("--registry", "registry.example.com/mlrun")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[0] == (
        "# Values for chart mlrun-ce 0.12 in namespace mlrun: stack good, Kubernetes 1.36."
    )
    assert yaml.safe_load(result.stdout)["global"] == {"registry": {"url": "registry.example.com/mlrun"}}
    assert (
        "next: helm upgrade --install mlrun-ce mlrun-ce --repo https://mlrun.github.io/ce --version '~0.12.0-0' "
        "-n mlrun -f FILE --timeout 30m" in result.stderr
    )


@pytest.mark.parametrize(
    ("listed", "noted"), [([], True), (["registry.example.com/mlrun-2/"], True), (["registry.example.com"], False)]
)
def test_a_registry_whose_images_admission_would_judge_is_noted(checkout: Path, listed: list[str], noted: bool) -> None:
    file = checkout / "Pulumi.good.yaml"
    file.write_text(f"{file.read_text()}    policies: {{ platformRegistries: {json.dumps(listed)} }}\n")
    notes = run("--registry", "registry.example.com/mlrun").stderr
    assert ("add registry.example.com/mlrun/ to policies.platformRegistries" in notes) is noted


def test_the_registry_of_the_stack_file_is_the_default(checkout: Path) -> None:
    file = checkout / "Pulumi.good.yaml"
    registry = "{ url: registry.example.com/ml, secret: registry-credentials }"
    file.write_text(f"{file.read_text()}    platform: {{ mlrun: {{ registry: {registry} }} }}\n")
    wanted = {"url": "registry.example.com/ml", "secretName": "registry-credentials"}
    assert yaml.safe_load(run().stdout)["global"] == {"registry": wanted}
    other = run("--registry", "other.example.com")
    assert "MLRun pushes to 'registry.example.com/ml', which the stack file says" in str(other.exception)
    assert run("--for", "monitoring").exit_code == 0


def test_a_registry_with_a_scheme_is_refused(checkout: Path) -> None:
    result = run("--registry", "https://registry.example.com")
    assert "--registry: 'https://registry.example.com' must be a host" in str(result.exception)


@pytest.mark.parametrize("version", ["1.4", "2.0"])
def test_a_version_that_no_cluster_has_is_refused(version: str) -> None:
    assert f"--kubernetes: '{version}' is not a version that stacks run on" in str(
        run("--kubernetes", version).exception
    )


def test_services_without_an_on_demand_pool_are_noted(checkout: Path) -> None:
    file = checkout / "Pulumi.good.yaml"
    assert "no pool of role workload is on-demand" not in run().stderr
    file.write_text(file.read_text().replace(WORK, f"{WORK}        lifecycle: spot\n"))
    assert "note: no pool of role workload is on-demand, so services" in run().stderr


@pytest.mark.parametrize("system", [System.NUCLIO, System.PIPELINES, System.MONITORING])
def test_texts_inside_are_blocks_and_all_of_it_is_yaml(system: System) -> None:
    result = run("--for", system)
    assert result.exit_code == 0, result.output
    assert " in namespace mlrun: stack good, Kubernetes 1.36." in result.stdout.splitlines()[0]
    assert yaml.safe_load(result.stdout)
    assert ("workflowDefaults: |\n" in result.stdout) is (system is System.PIPELINES)


def test_options_without_effect_on_a_full_platform_are_noted(checkout: Path) -> None:
    text = (checkout / "Pulumi.good.yaml").read_text()
    full = "environment: dev\n    profile: iguazio\n    servers: pulumi\n    namespaces: { a: { coreServices: true } }"
    (checkout / "Pulumi.full.yaml").write_text(text.replace("environment: dev", full))
    assert "--registry has no effect" in run("--for", "nuclio", "--registry", "r.example.com", stack="full").stderr
    assert "no effect" not in run("--for", "nuclio", stack="full").stderr


def test_an_older_cluster_needs_more_and_is_installed_without_hooks() -> None:
    result = run("--kubernetes", "1.35")
    assert yaml.safe_load(result.stdout)["mlrun"]["ui"]["nodeSelector"] == {"igz-clusters.io/role": "initial"}
    assert "--no-hooks" in result.stderr


def test_json_has_the_values_and_the_notes() -> None:
    result = run("--json", "--chart", "0.11")
    facts = json.loads(result.stdout)
    assert (facts["chart"], facts["kubernetes"]) == ("0.11", "1.36")
    assert facts["values"]["storage"] == {"mode": "s3"}
    assert [note.partition(":")[0] for note in facts["notes"]] == ["note", "note", "next"]


@pytest.mark.parametrize(("line", "key"), [("0.12", "storage.local.secretKey"), ("0.11", "storage.s3.secretKey")])
def test_what_is_printed_fits_the_line_of_the_chart(line: str, key: str) -> None:
    printed = run("--chart", line).stderr
    assert f"set {key} and seaweedfs.admin.secret.adminPassword in" in printed
    assert f"--version '~{line}.0-0'" in printed


def test_all_that_is_wrong_is_reported_at_once(checkout: Path) -> None:
    text = (checkout / "Pulumi.good.yaml").read_text()
    (checkout / "Pulumi.full.yaml").write_text(
        text.replace("environment: dev", "environment: dev\n    profile: iguazio\n    servers: pulumi")
    )
    wrong = str(run("--kubernetes", "newest", "--namespace", "c", "--store", "s3", stack="full").exception)
    expected = ("has the profile iguazio", "'newest' is not a version", "'c' is not a namespace", "needs --bucket")
    assert [each for each in expected if each not in wrong] == []


def test_it_writes_a_file(checkout: Path) -> None:
    file = checkout / "values.yaml"
    result = run("--output", str(file))
    assert result.stdout == ""
    assert yaml.safe_load(file.read_text())["spark-operator"] == {"spark": {"jobNamespaces": ["mlrun"]}}
    answer = run("--output", str(checkout / "no" / "values.yaml"))
    assert str(answer.exception).endswith("No such file or directory.")


def test_what_it_needs_is_asked_for(checkout: Path) -> None:
    text = (checkout / "Pulumi.good.yaml").read_text()
    (checkout / "Pulumi.two.yaml").write_text(
        text + "    namespaces: { a: { coreServices: true }, b: { coreServices: true }, c: {} }\n"
    )
    answers = {
        "namespace": run(stack="two"),
        "other": run("--namespace", "c", stack="two"),
        "version": run("--kubernetes", "newest"),
        "store": run("--store", "s3"),
    }
    assert {name: str(each.exception).splitlines()[0] for name, each in answers.items()} == {
        "namespace": "Stack 'two' does not say where mlrun-ce runs; add --namespace.",
        "other": "--namespace: 'c' is not a namespace of stack 'two' with core services.",
        "version": "--kubernetes: 'newest' is not a version.",
        "store": "--store s3 needs --bucket, the name of the bucket or container.",
    }
    assert run("--namespace", "b", stack="two").exit_code == 0


def test_the_version_of_an_existing_cluster_is_asked_for(checkout: Path) -> None:
    example = PROJECT_ROOT / "examples/existing/Pulumi.existing.yaml"
    (checkout / "Pulumi.existing.yaml").write_text(example.read_text())
    assert "does not name the version of Kubernetes" in str(run(stack="existing").exception)
    assert run("--kubernetes", "1.34", stack="existing").exit_code == 0


def test_options_of_other_systems_and_unknown_charts_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    narrowed = replace(SYSTEMS[System.MLRUN_CE], options=frozenset({"registry"}))
    monkeypatch.setattr("workbench.cli.values.SYSTEMS", {System.MLRUN_CE: narrowed})
    wrong = str(run("--ingress-class", "nginx", "--storage-class", "ssd", "--chart", "0.1").exception)
    assert "--for mlrun-ce does not use --storage-class, --ingress-class" in wrong
    assert "--chart: '0.1' is not a known version of the chart for mlrun-ce.\nKnown: 0.12, 0.11." in wrong


FILES = {"purpose": "scratch", "type": "files"}
LUSTRE = {**FILES, "type": "lustre", "sizeGib": 1200, "zone": "a"}
STORED = {
    "eks": eks.document({"storage": {"corpus": FILES, "fast": LUSTRE}}),
    "aks": aks.document({"storage": {"corpus": FILES}}),
    "existing": existing.document({"storage": {"corpus": {**FILES, "storageClass": "igz-corpus"}}}),
}


@pytest.mark.parametrize(
    ("stack", "given", "waits"),
    [
        ("eks", "igz-corpus", False),
        ("eks", "igz-fast", True),
        ("eks", "gp3", False),
        ("aks", "igz-corpus", True),
        ("existing", "igz-corpus", False),
    ],
)
def test_a_class_without_volumes_for_the_claims_of_a_chart_is_refused(
    checkout: Path, stack: str, given: str, waits: bool
) -> None:
    (checkout / "Pulumi.stored.yaml").write_text(json.dumps({"config": {CONFIG_KEY: STORED[stack]}}))
    options = ("--for", "jupyterhub", "--kubernetes", "1.36", "--storage-class", given)
    result = run(*options, stack="stored")
    refused = f"--storage-class: '{given}' has only the volumes that the stack file declares" in str(result.exception)
    assert (refused, result.exit_code) == (waits, int(waits)), result.output


def test_a_platform_with_its_own_installer_is_refused(checkout: Path) -> None:
    text = (checkout / "Pulumi.good.yaml").read_text()
    (checkout / "Pulumi.full.yaml").write_text(
        text.replace("environment: dev", "environment: dev\n    profile: iguazio\n    servers: pulumi")
    )
    assert "has the profile iguazio" in str(run(stack="full").exception)


def test_the_class_of_the_stack_file_is_the_default_and_another_one_is_refused(checkout: Path) -> None:
    (checkout / "Pulumi.reached.yaml").write_text((checkout / "Pulumi.good.yaml").read_text().replace(*REACHED))
    assert yaml.safe_load(run(stack="reached").stdout)["jupyterNotebook"]["ingress"] == {"ingressClassName": "traefik"}
    routes = yaml.safe_load(run("--for", "ingress", stack="reached").stdout)
    assert (routes["kind"], routes["metadata"]["namespace"]) == ("Ingress", "mlrun")
    other = run("--ingress-class", "nginx", stack="reached")
    assert "--ingress-class: 'nginx', but clients come in through the class 'traefik'" in str(other.exception)
    assert run("--for", "monitoring", "--ingress-class", "traefik", stack="reached").exit_code == 0
    assert "does not use --ingress-class" in str(run("--for", "ingress", "--ingress-class", "a").exception)


def test_what_a_stack_file_lacks_for_a_system_is_said(checkout: Path) -> None:
    (checkout / "Pulumi.reached.yaml").write_text((checkout / "Pulumi.good.yaml").read_text().replace(*REACHED))
    assert "--for ingress needs cluster.ingress in the stack file" in str(run("--for", "ingress").exception)
    for stack in ("good", "reached"):
        wrong = run("--for", "aws-load-balancer-controller", stack=stack)
        assert "--for aws-load-balancer-controller needs cluster.ingress in the stack file of an EKS" in str(
            wrong.exception
        )
        assert "--for external-dns needs cluster.ingress.dnsZoneId" in str(
            run("--for", "external-dns", stack=stack).exception
        )
    elsewhere = run("--for", "aws-load-balancer-controller", "--namespace", "mlrun")
    assert "aws-load-balancer-controller runs in kube-system, not in 'mlrun'." in str(elsewhere.exception)


def test_the_options_on_the_page_are_accepted() -> None:
    stores = re.findall(r"`(--store [^`]+)`", (PROJECT_ROOT / "docs/mlrun-ce.md").read_text())
    assert len(stores) == 3
    assert [options for options in stores if run(*shlex.split(options)).exit_code] == []


SHIPPED = [stacks.read(file) for file in stacks.stack_files().values()]


@pytest.mark.parametrize("name", [stack.name for stack in SHIPPED if stack.config.profile is PlatformProfile.MLRUN_CE])
def test_the_initial_group_of_a_shipped_stack_file_holds_the_core_services(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.delenv(stacks.FOLDER_VARIABLE)
    result = run("--kubernetes", "1.36", stack=name)
    assert result.exit_code == 0, result.output
    assert "core services request" not in result.stderr
