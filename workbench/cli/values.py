"""`igz-clusters values`: the Helm values of a platform, for the cluster of a stack."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from components.contract.environments import ClusterKind, PlatformProfile
from components.contract.mlrun_ce_chart import CHART, CURRENT, REPOSITORY, ChartLine
from components.contract.mlrun_ce_values import (
    ChartChoices,
    ChartCluster,
    ObjectStore,
    chart_values,
    initial_group_problem,
)
from components.contract.namespaces import UserNamespace
from components.contract.placement import offers_mutation
from components.contract.policy_choices import PolicyChoices
from infra.config import StackConfig
from workbench import stacks
from workbench.cli.console import PLAIN, errors, out
from workbench.cli.options import AsJson
from workbench.system.errors import UserError
from workbench.toolchain.recipes import KUBERNETES_VERSION


class Platform(StrEnum):
    """What the values are for."""

    MLRUN_CE = "mlrun-ce"


def _option(name: str, help: str, metavar: str = "NAME") -> Any:  # noqa: A002 Typer's own name
    return typer.Option(name, metavar=metavar, help=help)


def values(  # noqa: PLR0913 one parameter for each option
    *,
    stack: Annotated[str, _option("--stack", "Stack of the cluster.", "STACK")],
    platform: Annotated[Platform, typer.Option("--for", help="What the values are for.")] = Platform.MLRUN_CE,
    chart: Annotated[ChartLine, typer.Option("--chart", help="Minor version of the chart.")] = CURRENT,
    kubernetes: Annotated[
        str | None, _option("--kubernetes", "Minor version of the cluster. Default: the stack's.", "VERSION")
    ] = None,
    namespace: Annotated[str | None, _option("--namespace", "Default: the one with core services.")] = None,
    registry: Annotated[str | None, _option("--registry", "Registry for images of functions.", "URL")] = None,
    registry_secret: Annotated[str | None, _option("--registry-secret", "Secret of the registry.")] = None,
    store: Annotated[ObjectStore, typer.Option("--store", help="Where artifacts are kept.")] = ObjectStore.SEAWEEDFS,
    bucket: Annotated[str | None, _option("--bucket", "Bucket or container of the store.")] = None,
    storage_secret: Annotated[str | None, _option("--storage-secret", "Secret of the store.")] = None,
    storage_class: Annotated[str | None, _option("--storage-class", "Default: the cluster's.")] = None,
    ingress_class: Annotated[str | None, _option("--ingress-class", "Class of ingresses.")] = None,
    output: Annotated[Path | None, _option("--output", "Write to FILE instead of standard output.", "FILE")] = None,
    as_json: AsJson = False,
) -> None:
    """Print the Helm values of MLRun CE for the cluster of a stack.

    They follow from the stack file and the options: reads files only, and contacts neither cloud nor cluster. From
    Kubernetes 1.36 on the cluster places core services itself, so the values contain only what it cannot do; for
    older versions they also place each core service. Secrets appear by name. docs/mlrun-ce.md uses the command.

    Write them with `igz-clusters values --stack dev --registry REGISTRY --output values.yaml`, then give the file to
    `helm upgrade --install`. Repeat both after a change of the stack file: MLRun's API restarts if it must.
    """
    found = stacks.find(stack)
    choices = ChartChoices(
        line=chart,
        namespace="",
        registry=registry,
        registry_secret=registry_secret,
        store=store,
        bucket=bucket,
        storage_secret=storage_secret,
        storage_class=storage_class,
        ingress_class=ingress_class,
    )
    _, minor, name, _ = _all_of(
        lambda: _check_profile(found),
        lambda: _minor(found, kubernetes),
        lambda: _namespace(found, namespace),
        lambda: _check(choices),
    )
    choices = replace(choices, namespace=name)
    cluster = _cluster(found.config, minor)
    content = chart_values(cluster, choices)
    notes = [*_registry_notes(found.config.policies, choices), *_notes(cluster, choices)]
    if as_json:
        facts = {"platform": platform, "chart": chart, "kubernetes": _shown(minor), "values": content, "notes": notes}
        text = json.dumps(facts, indent=2)
    else:
        text = _header(found.name, chart, minor, choices) + yaml.safe_dump(content, sort_keys=False, width=120)
    _deliver(text, output)
    for note in () if as_json else notes:
        errors.print(note, **PLAIN)


def _all_of(*steps: Callable[[], Any]) -> list[Any]:
    """Return the results of all steps, or raise the errors of all that fail as one."""
    results, failed = [], []
    for step in steps:
        try:
            results.append(step())
        except UserError as error:
            failed.append(str(error))
    if failed:
        raise UserError("\n".join(failed))
    return results


def _check_profile(stack: stacks.Stack) -> None:
    if stack.config.profile is not PlatformProfile.MLRUN_CE:
        raise UserError(
            f"Stack '{stack.name}' has the profile {stack.config.profile}, whose own installer deploys MLRun.",
            f"Name a stack with profile: {PlatformProfile.MLRUN_CE}.",
        )


def _check(choices: ChartChoices) -> None:
    if problem := choices.problem:
        raise UserError(f"{problem[0].upper()}{problem[1:]}.")


def _cluster(config: StackConfig, minor: tuple[int, int]) -> ChartCluster:
    said = getattr(config.cluster, "mutating_admission", None)
    return ChartCluster(
        groups=config.groups,
        spot_taint=config.spot_taint,
        pod_resources=config.pod_resources,
        places_by_itself=bool(offers_mutation({"mutatingAdmission": said, "version": _shown(minor)})),
        mlrun=config.platform.mlrun,
    )


def _minor(stack: stacks.Stack, given: str | None) -> tuple[int, int]:
    own = KUBERNETES_VERSION if stack.is_local else getattr(stack.config.cluster, "version", None)
    version = given or own
    if version is None:
        kind = ClusterKind(stack.config.cluster.kind)
        raise UserError(
            f"A stack file of kind '{kind}' does not name the version of Kubernetes, and the values depend on it.",
            "Add it, such as `--kubernetes 1.36`; `kubectl version` prints the cluster's.",
        )
    if not (match := re.fullmatch(r"v?(\d+)\.(\d+)(\..+)?", version)):
        raise UserError(f"--kubernetes: {version!r} is not a version.", "Give major and minor, such as 1.36.")
    return int(match[1]), int(match[2])


def _namespace(stack: stacks.Stack, given: str | None) -> str:
    declared: dict[str, UserNamespace] = stack.config.namespaces
    core = [name for name, each in declared.items() if each.core_services]
    if given is None and len(core) == 1:
        return core[0]
    if given in core:
        return given
    known = f"Namespaces with coreServices: true are: {', '.join(core)}." if core else "None has coreServices: true."
    wrong = f"--namespace: '{given}' is not a namespace of stack '{stack.name}' with core services."
    raise UserError(wrong if given else f"Stack '{stack.name}' does not say where MLRun runs; add --namespace.", known)


def _shown(minor: tuple[int, int]) -> str:
    return ".".join(map(str, minor))


def _header(name: str, chart: ChartLine, minor: tuple[int, int], choices: ChartChoices) -> str:
    cluster = f"stack {name}, Kubernetes {_shown(minor)}"
    return (
        f"# Values for chart {CHART} {chart} in namespace {choices.namespace}: {cluster}.\n"
        "# Generated by `igz-clusters values`; put your own values into a second file.\n"
    )


def _registry_notes(policies: PolicyChoices, choices: ChartChoices) -> Iterator[str]:
    """Yield what keeps images that the platform builds from running."""
    if not (folder := f"{choices.registry.rstrip('/')}/" if choices.registry else ""):
        yield "note: without --registry MLRun and Nuclio cannot build images; the chart requires global.registry.url."
    elif not folder.startswith(tuple(f"{prefix.rstrip('/')}/" for prefix in policies.platform_registries)):
        yield (
            "note: MLRun and Nuclio tag images with latest, which HK-08 rejects in production and warns of in "
            f"development; add {folder} to policies.platformRegistries of the stack file, then run up."
        )


def _notes(cluster: ChartCluster, choices: ChartChoices) -> Iterator[str]:
    """Yield what the values cannot do."""
    flags = ""
    if problem := initial_group_problem(cluster):
        yield f"note: {problem}."
    if choices.store is ObjectStore.SEAWEEDFS:
        key = choices.line.local_secret_key
        yield f"note: the chart's keys for SeaweedFS are public; set {key} in a file of your own."
    if not cluster.places_by_itself:
        yield (
            "note: before Kubernetes 1.36 the hook that creates the bucket is refused (VO-02): create it yourself. "
            "Kafka's brokers need kafka.enabled: false, or a user namespace of their own."
        )
        flags = " --no-hooks"
    yield (
        f"next: helm upgrade --install {CHART} {CHART} --repo {REPOSITORY} --version '{choices.line.constraint}' "
        f"-n {choices.namespace} -f FILE --timeout 30m{flags}"
    )


def _deliver(text: str, output: Path | None) -> None:
    if output is None:
        out.print(text.rstrip("\n"), **PLAIN)
        return
    try:
        output.write_text(text.rstrip("\n") + "\n")
    except OSError as error:
        raise UserError(f"--output: cannot write {output}: {error.strerror}.") from None
