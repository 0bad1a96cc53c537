"""Stack file model of an existing cluster: its identity, and which nodes belong to which pool."""

import re
from itertools import permutations
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field, field_validator

from components.contract.choices import ContractModel, Explained, Findings
from components.contract.ingress import OwnIngressChoice
from components.contract.labels import OWN_DOMAIN, label_key_grammar_problem
from components.contract.pool_names import LabelValue, PoolName
from components.contract.storage import CLASS_NAME_MAX, CLASS_NAME_PATTERN, class_name_of

OLDEST_MINOR: Final = 30
"""Kubernetes 1.30 is the first with ValidatingAdmissionPolicy v1:
https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/."""

NOT_MADE_YET: Final = "00000000-0000-0000-0000-000000000000"
"""Placeholder for ``clusterId`` until the cluster exists; no cluster has this UID."""

_UID: Final = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_ABSOLUTE: Final = r"(/|~/)[^\s].*"
_CONTENT: Final = re.compile(r"[\n{]|: |apiVersion")
"""Text that is part of a kubeconfig's content but never of its path."""


_SHELL: Final = re.compile(r"[$`'\"\\;&|<>(){}*?!#~\[\]]")


def _context(name: str) -> str:
    if not name.strip() or name != name.strip() or not name.isprintable():
        raise ValueError("must be a context's name as `kubectl config get-contexts -o name` prints it")
    if _SHELL.search(name):
        raise ValueError("contains characters that a shell interprets; rename it: `kubectl config rename-context`")
    return name


def _kubeconfig(path: str) -> str:
    findings = Findings()
    if _CONTENT.search(path):
        findings.add(
            "must be a path, but looks like the content of a kubeconfig (not shown); remove it, rotate its keys"
        )
    elif not re.fullmatch(_ABSOLUTE, path):
        findings.add("must begin with / or ~/: commands run in several folders", given=path)
    findings.raise_if_any()
    return path


def _cluster_id(uid: str) -> str:
    if not re.fullmatch(_UID, uid):
        raise ValueError("must be the UID of kube-system; `igz-clusters existing identify CONTEXT` prints it")
    return uid


def _selected(key: str) -> str:
    if problem := label_key_grammar_problem(key):
        raise ValueError(problem)
    if key.startswith(f"{OWN_DOMAIN}/"):
        raise ValueError(
            f"labels {OWN_DOMAIN}/* are set by this package and cannot select nodes; select by a label of your own"
        )
    return key


class NodeChoice(ContractModel):
    """Selects the nodes of a pool."""

    selector: Annotated[
        dict[Annotated[str, AfterValidator(_selected)], LabelValue],
        Explained(decides="The nodes that get the pool's labels; `igz-clusters` finds them in every run."),
    ] = Field(
        min_length=1,
        description="Existing labels that all nodes of the pool have, and no other nodes.",
        examples=[{"node-role.example.com/gpu": "true"}],
    )
    taint: Annotated[
        bool,
        Explained(
            "Taints of existing nodes are changed only on request.",
            "Taints of the pool that nodes lack; others stay as they are.",
        ),
    ] = Field(
        default=False,
        strict=True,
        description="Whether the stack adds the pool's taints to its nodes; GPU and spot pools need them.",
        examples=[True],
    )


class StorageChoice(ContractModel):
    """The default storage class, if the cluster has none or exactly this one."""

    name: Annotated[str, AfterValidator(class_name_of)] = Field(
        max_length=CLASS_NAME_MAX,
        json_schema_extra={"pattern": CLASS_NAME_PATTERN},
        description="Name of the class.",
        examples=["fast"],
    )
    provisioner: str = Field(min_length=1, description="CSI driver.", examples=["csi.example.com"])
    parameters: Annotated[dict[str, str], Explained("Many drivers need none.")] = Field(
        {}, description="Parameters of the driver; see its documentation.", examples=[{"pool": "ssd"}]
    )


class ExistingConfig(ContractModel):
    """An existing cluster."""

    kind: Literal["existing"] = Field(description="Kind of cluster.", examples=["existing"])
    context: Annotated[
        Annotated[str, AfterValidator(_context), Field(json_schema_extra={"pattern": r"^\S(.*\S)?$"})],
        Explained(decides="Which cluster the stack changes; the kubeconfig's current context is never used."),
    ] = Field(max_length=253, description="Name of the context in the kubeconfig.", examples=["on-prem"])
    cluster_id: Annotated[
        Annotated[str, AfterValidator(_cluster_id), Field(json_schema_extra={"pattern": f"^{_UID}$"})],
        Explained(decides="The stack refuses to change any other cluster, regardless of the context."),
    ] = Field(
        description="UID of its namespace kube-system; `igz-clusters existing identify CONTEXT` prints it.",
        examples=["3f1c9a52-7d0e-4b7c-9a35-0c2f8f6d1e77"],
    )
    kubeconfig: Annotated[
        Annotated[str, AfterValidator(_kubeconfig), Field(json_schema_extra={"pattern": f"^{_ABSOLUTE}$"})] | None,
        Explained("KUBECONFIG, else ~/.kube/config, as for kubectl."),
    ] = Field(None, description="Path of the kubeconfig. Its content is never stored.", examples=["~/.kube/on-prem"])
    nodes: dict[PoolName, NodeChoice] = Field(
        min_length=1,
        description="Selectors of each pool's nodes, by pool name.",
        examples=[{"initial": {"selector": {"node-role.example.com/core": "true"}}}],
    )
    autoscaler: Annotated[
        bool,
        Explained("Most clusters on bare metal have none.", "Whether sizes of pools may have different bounds."),
    ] = Field(
        default=False,
        strict=True,
        description="Whether the cluster has an autoscaler that adds and removes nodes.",
        examples=[True],
    )
    mutating_admission: Annotated[
        bool | None,
        Explained(
            "`igz-clusters` queries the API server in each run; `check` and the packs cannot.",
            "Whether pods without node selection get one, or are refused.",
        ),
    ] = Field(
        None,
        strict=True,
        description="Whether the API server offers MutatingAdmissionPolicy, as Kubernetes does from 1.36 on.",
        examples=[True],
    )
    storage_class: Annotated[
        StorageChoice | None,
        Explained("The cluster's own default class is used.", "A default StorageClass, created or adopted."),
    ] = Field(
        None,
        description="Default storage class, if the cluster has none.",
        examples=[{"name": "fast", "provisioner": "csi.example.com"}],
    )
    ingress: OwnIngressChoice = None

    @property
    def is_not_made_yet(self) -> bool:
        """Whether the stack file has a placeholder for the cluster."""
        return self.cluster_id == NOT_MADE_YET

    @field_validator("nodes", mode="after")
    @classmethod
    def _no_node_is_in_two_pools(cls, nodes: dict[str, NodeChoice]) -> dict[str, NodeChoice]:
        findings, reported = Findings(), set[frozenset[str]]()
        for (wide, wider), (narrow, narrower) in permutations(nodes.items(), 2):
            if wider.selector.items() <= narrower.selector.items() and frozenset((wide, narrow)) not in reported:
                reported.add(frozenset((wide, narrow)))
                findings.add(
                    f"every node that it selects also belongs to pool '{wide}'; make the selectors disjoint",
                    narrow,
                    "selector",
                )
        findings.raise_if_any()
        return nodes
