"""Cloud identity of a namespace's jobs: clusters create it, objects in the cluster refer to it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pulumi


@dataclass(frozen=True, kw_only=True)
class NamespaceIdentity:
    """What a cloud created for the identity of a namespace's jobs. Default: nothing, as on a local cluster."""

    annotations: Mapping[str, pulumi.Input[str]] = field(default_factory=dict)
    """What service accounts need so that their pods get the identity."""
    pod_label: tuple[str, str] | None = None
    """Label that its pods need too. Default: none."""
    needed: tuple[pulumi.Resource, ...] = ()
    """What must exist before a pod of such an account is admitted."""
    facts: Mapping[str, pulumi.Input[str]] = field(default_factory=dict)
    """Its identifiers, for the stack's outputs."""
