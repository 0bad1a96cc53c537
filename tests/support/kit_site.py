"""A local cluster of a setting of the kit, with the people and accounts who make its objects."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import yaml

from components.clusters.local.node_groups import node_metadata, node_taints
from components.contract.environments import ClusterKind, Environment, PlatformProfile
from components.contract.groups import NodeGroup
from components.contract.labels import LabelKey
from infra.config import CONFIG_KEY, StackConfig, parse
from infra.program import run
from support.api import Answer, Api
from support.cluster import Cluster, eventually, pod
from support.existing import sighting_of
from support.kit import CONTROLLERS, PLAIN, Manifest, Setting, Shape, made_by, pools_for, shapes
from support.older import CURRENT, OLDER, create_all, objects_of, start_bare
from support.siblings import KINDS, TYPES
from workbench.system.paths import PROJECT_ROOT

NAME: Final = "kit"
RBAC: Final = "rbac.authorization.k8s.io"


@dataclass(frozen=True)
class Life:
    """What became of an object and of all that its controllers make of it."""

    refused: str = ""
    """What the API server says against the object, or against what is made of it; empty if all is admitted."""
    pod: Manifest | None = None
    """The last object that was made, as the API server stores it."""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class KitSite:
    """The cluster."""

    setting: Setting
    cluster: Cluster
    api: Api
    groups: tuple[NodeGroup, ...]

    def live(self, shape: Shape) -> Life:
        """Send a shape as its author, and what its controllers make of it as themselves; nothing is stored."""
        user, groups = shape.author(self.setting)
        made = shape.manifest(self.setting, self.groups)
        made["metadata"] = {**made["metadata"], "name": f"{shape.name}-seen"}  # what is there already may be real
        return self.follow(self.api.create(made, as_user=user, groups=groups, dryRun="All"))

    def follow(self, answer: Answer) -> Life:
        """Send what controllers make of an answer's object."""
        warnings = answer.warnings
        while answer.accepted and answer.body["kind"] in CONTROLLERS:
            made, (user, groups) = made_by(answer.body)
            answer = self.api.create(made, as_user=user, groups=groups, dryRun="All")
            warnings += answer.warnings
        return Life(answer.message, answer.body if answer.accepted else None, warnings)

    def pools_of(self, made: Manifest) -> set[str]:
        """Return the pools that may hold a pod."""
        return pools_for(made["spec"], self.groups)

    def placed(self, made: Manifest) -> set[str]:
        """Return the pools of the nodes that hold the pods of an object that was created."""
        held, nodes = self.nodes_of(made), self.cluster.nodes()
        return {nodes[name]["metadata"]["labels"][LabelKey.POOL] for name in held}

    def nodes_of(self, made: Manifest) -> set[str]:
        """Return the nodes that hold the pods of an object that was created, once all have one."""
        where, name = made["metadata"]["namespace"], made["metadata"]["name"]

        def look() -> list[str]:
            pods = self.api.send("GET", f"/api/v1/namespaces/{where}/pods").body["items"]
            mine = [each for each in pods if each["metadata"]["name"].startswith(name)]
            found = [each["spec"].get("nodeName", "") for each in mine]
            return found if all(found) else []

        return set(eventually(look))


def stack(setting: Setting) -> dict[str, Any]:
    """Return the stack file of a setting: the repository's own local one with a few changes."""
    document: dict[str, Any] = yaml.safe_load((PROJECT_ROOT / "Pulumi.local.yaml").read_text())
    choices = document["config"][CONFIG_KEY]
    choices |= {"environment": setting.environment.value, "profile": setting.profile.value}
    choices["policies"] = {"platformRegistries": ["registry.example.invalid/"]}
    choices["namespaces"] = {setting.namespace: {"coreServices": True}, PLAIN: {}}
    if setting.environment is Environment.PROD:
        del choices["pools"]["jupyter"]
        choices["pools"]["initial"]["size"] = {"min": 3, "max": 3}
        choices["pools"]["workload"]["size"] = {"min": 2, "max": 10}
    if setting.profile is PlatformProfile.IGUAZIO:
        choices["servers"] = "provazio" if setting.kind is ClusterKind.EXISTING else "pulumi"
    if setting.kind is not ClusterKind.LOCAL:
        kind, pools = KINDS[setting.kind], choices["pools"]
        machines = TYPES[kind.cloud]
        choices["pools"] = {name: {**pool, "instanceTypes": machines[name]} for name, pool in pools.items()}
        if setting.kind is ClusterKind.EXISTING:
            nodes = {name: dict(kind.cluster["nodes"][name]) for name in pools}
            if not setting.has_spot_taint:
                del nodes["spot"]["taint"]
            choices["cluster"] = {**kind.cluster, "nodes": nodes, "mutatingAdmission": True}
        else:
            choices["cluster"] = {**kind.cluster, "version": CURRENT}
    return document


@contextmanager
def kit_site(folder: Path, setting: Setting) -> Iterator[KitSite]:
    """Bring a cluster of a setting up, and stop it at the end."""
    data, stacks = folder / "data", folder / "stacks"
    for each in (data, stacks):
        each.mkdir(mode=0o700)
    document = stack(setting)
    (stacks / f"Pulumi.{NAME}.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
    choices = parse(document["config"][CONFIG_KEY])
    cluster = Cluster(data, NAME, is_quick=True)
    try:
        if setting.engine == "authors":
            api = start_bare(data, NAME, OLDER)
            with patch("infra.program.offers_mutation", lambda _: False):
                create_all(api, objects_of(lambda: run(choices, kubeconfig="unused")))
        elif setting.kind is not ClusterKind.LOCAL:
            api = start_bare(data, NAME)
            sighting = sighting_of(choices)
            create_all(
                api, [*_nodes(choices), *objects_of(lambda: run(choices, kubeconfig="unused", sighting=sighting))]
            )
        else:
            cluster.command("up", NAME, "--hermetic", IGZ_CLUSTERS_STACKS=str(stacks))
            api = Api(cluster.kubeconfig())
        found = KitSite(setting, cluster, api, choices.groups)
        _people(found)
        yield found
    finally:
        cluster.command("local", "stop", "--all")


def _nodes(choices: StackConfig) -> list[Manifest]:
    """Return a simulated node for each group, with what a cloud's nodes get from their group."""
    return [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": node_metadata(group, f"{group.name}-0"),
            "spec": {"taints": node_taints(group)},
        }
        for group in choices.groups
    ]


def _people(site: KitSite) -> None:
    """Make accounts and rights: the installer's, a scientist's, and those of accounts that operators use."""
    where = site.setting.namespace
    accounts = {shape.account for shape in shapes().values() if shape.account}
    accounts |= {shape.entry["by"] for shape in shapes().values()}
    made = [{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": each, "namespace": where}}
            for each in sorted(accounts)]  # fmt: skip
    made += [
        binding("installer", "admin", "User", "installer", where),
        binding("installer", "igz-clusters:core-services", "User", "installer"),
        binding("accounts", "edit", "Group", f"system:serviceaccounts:{where}", where),
        *(binding("scientist", "edit", "User", "scientist", each) for each in (where, PLAIN)),
    ]
    if site.setting.profile is PlatformProfile.MLRUN_CE:
        made.append(shapes()["workflow-controller-class"].manifest(site.setting, site.groups))
    for each in made:
        answer = site.api.create(each)
        assert answer.accepted, answer.message
    # Rights and policies reach the API server within a second.
    probe = pod("probe", namespace=where, nodeSelector={"igz-clusters.io/user-workloads": "true"})
    eventually(lambda: "cannot create" not in site.api.create(probe, as_user="scientist", dryRun="All").message)
    eventually(lambda: "paramKind" not in site.api.create(pod("probe", namespace=where), dryRun="All").message)


def binding(name: str, role: str, kind: str, subject: str, where: str | None = None) -> Manifest:
    """Return a binding of a cluster role, in a namespace or everywhere."""
    metadata: Mapping[str, str] = {"name": name, **({"namespace": where} if where else {})}
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "RoleBinding" if where else "ClusterRoleBinding",
        "metadata": metadata,
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": RBAC, "kind": kind, "name": subject}],
    }
