import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from pydantic import BaseModel
from referencing import Registry, Resource

from components.contract.choices import Explained
from components.stack_files.base import BaseFile
from infra.config import StackConfig, reference
from infra.config.stack_file import StackFile
from infra.config.tree import tree
from support import stack_cases
from workbench.stacks import stack_files
from workbench.system.paths import PROJECT_ROOT

_BASE = Resource.from_contents(reference.base_schema())
VALIDATOR = jsonschema.Draft202012Validator(
    reference.schema(), registry=Registry().with_resource(reference.BASE_SCHEMA.name, _BASE)
)
BASES = jsonschema.Draft202012Validator(reference.base_schema())

BEYOND_A_SCHEMA = {
    "pool-hours-in-an-unknown-zone",
    "fabric-without-a-zone",
    "fabric-over-zones",
    "fabric-of-machines-without-one",
    "fabric-of-two-types",
    "fabric-of-jobs-without-gpus",
    "fabric-and-slices",
    "everything-wrong-with-a-fabric",
    "close-together-without-a-zone",
    "burstable-machines-close-together",
    "flexible-machines-close-together",
    "two-types-close-together",
    "notebooks-close-together",
    "reservation-close-together",
    "fabric-on-aks",
    "fabric-and-close-together-on-a-local-cluster",
    "close-together-in-a-zone-that-the-cluster-lacks",
    "close-together-without-a-zone-on-aks",
    "two-types-close-together-on-aks",
    "reservation-close-together-on-aks",
    "slices-of-another-gpu",
    "slices-of-a-smaller-a100",
    "slices-of-a-gpu-that-cannot-be-divided",
    "sharing-in-a-pool-without-gpus",
    "sharing-of-part-of-a-gpu",
    "sharing-of-devices-of-aws",
    "sharing-of-two-kinds-of-gpus",
    "slices-of-two-sizes-of-a100",
    "sharing-beside-a-name-of-its-own",
    "slices-of-an-own-machine-of-which-nothing-is-known",
    "slices-of-an-own-machine-without-its-memory",
    "slices-of-an-own-machine-that-has-none",
    "shared-gpus-without-their-taint",
    "elastic-sharing-on-aks",
    "slices-of-double-memory-on-aks",
    "more-shared-gpus-than-the-autoscaler-of-aks-bears",
    "quota-of-slices-that-no-pool-offers",
    "reserved-without-a-reservation",
    "reservation-of-a-pool-on-demand",
    "reservation-without-a-zone",
    "reservation-of-two-types",
    "reservation-of-no-such-form",
    "reservation-group-of-another-region",
    "reservation-group-of-a-block",
    "reserved-notebooks",
    "reserved-initial-pool",
    "block-with-a-minimum",
    "block-of-jobs",
    "block-of-a-type-without-blocks",
    "zone-of-no-cluster",
    "zone-of-the-initial-pool",
    "zone-beside-zones",
    "zone-on-a-local-cluster",
    "reserved-on-a-local-cluster",
    "reserved-on-an-existing-cluster",
    "block-on-aks",
    "reservation-of-aws-on-aks",
    "reservation-group-of-another-subscription",
    "reservation-of-a-size-that-azure-does-not-reserve",
    "zone-of-no-cluster-on-aks",
    "no-internet-and-a-mirror-of-one-of-two",
    "no-internet-and-a-public-api",
    "no-internet-and-a-public-load-balancer",
    "no-internet-and-all-that-aks-cannot-do-there",
    "no-internet-and-an-autoscaler",
    "no-internet-on-aks-and-images-from-elsewhere",
    "internet-of-a-network-that-the-stack-creates-for-aks",
    "internet-of-aks-without-a-registry",
    "registry-of-aks-behind-a-firewall",
    "registry-of-aks-beside-a-gateway",
    "no-internet-and-gpus",
    "no-internet-and-mirrors-of-other-registries",
    "aks-created-network-with-a-name-of-one-letter",
    "cache-for-everything",
    "cache-given-twice",
    "cache-in-capitals",
    "cache-is-an-address",
    "cache-of-a-long-prefix",
    "cache-of-one-letter",
    "cache-with-a-slash-at-the-end",
    "cache-with-a-star",
    "mirror-in-ecr",
    "mirror-in-ecr-by-its-other-names",
    "mirror-of-a-path",
    "mirror-of-a-registry-in-capitals",
    "mirror-of-a-word",
    "mirror-of-an-address-with-a-scheme",
    "mirror-of-docker-hub-s-server",
    "mirror-of-ecr",
    "mirror-of-everything",
    "mirror-of-itself",
    "mirror-with-a-login",
    "mirror-with-a-scheme",
    "pods-in-a-private-range",
    "pods-in-a-public-range",
    "pods-in-a-range-beside-an-existing-vpc",
    "pods-in-a-range-on-machines-with-one-interface",
    "pods-in-a-range-on-small-machines",
    "pods-in-a-range-with-any-cni",
    "pods-in-a-range-with-host-bits",
    "pods-in-a-range-without-prefixes",
    "pods-in-an-address",
    "pods-in-half-of-the-shared-range",
    "pods-in-ipv6",
    "pods-in-the-range-of-the-vpc",
    "pods-in-too-few-prefixes",
    "pods-in-too-small-a-range",
    "eks-cni-that-mixes-up-namespaces",
    "certificate-given-twice",
    "certificate-of-a-server",
    "certificate-of-a-server-on-aks",
    "certificate-that-lost-a-line",
    "certificate-with-its-private-key",
    "certificate-without-its-last-line",
    "certificates-in-one-entry",
    "proxy-and-an-image-that-cannot-use-it",
    "proxy-at-an-address-of-ipv6",
    "proxy-at-port-zero",
    "proxy-beyond-the-ports",
    "proxy-exception-is-no-address",
    "proxy-exception-twice",
    "proxy-exception-with-host-bits",
    "proxy-in-capitals",
    "account-default",
    "account-given-twice",
    "account-in-capitals",
    "account-of-jobs",
    "bucket-for-one-zone",
    "bucket-given-twice",
    "bucket-is-an-address",
    "bucket-is-an-alias",
    "bucket-of-a-lambda",
    "bucket-of-another-alphabet",
    "bucket-of-two-dots",
    "container-and-a-bucket",
    "container-for-eks",
    "container-given-twice",
    "container-in-a-long-namespace",
    "container-prefix-with-a-quote",
    "identity-and-a-key-of-the-namespace",
    "identity-and-a-key-of-the-platform",
    "identity-for-nothing",
    "identity-in-a-long-namespace",
    "identity-on-an-existing-cluster",
    "identity-with-a-long-policy",
    "container-with-a-long-condition",
    "key-of-another-account",
    "key-of-another-region",
    "key-without-a-bucket",
    "prefix-with-a-variable",
    "prefix-with-a-wildcard",
    "repositories-all",
    "repository-by-address",
    "repository-given-twice",
    "aks-burstable-initial-pool",
    "aks-initial-pool-of-two-vcpus",
    "amd-gpus-on-aks",
    "data-shape-without-disks",
    "initial-shape-with-burstable-machines",
    "neuron-devices-in-a-cpu-pool",
    "neuron-devices-on-eks",
    "shape-beside-a-machine",
    "shape-is-empty",
    "shape-of-an-architecture-only",
    "shape-of-an-unknown-gpu",
    "shape-of-another-gpu",
    "shape-of-more-gpus",
    "shape-with-a-gpu-in-a-cpu-pool",
    "shape-with-a-variant-twice",
    "shape-without-a-gpu-in-a-gpu-pool",
    "spot-of-types-without-spot-on-aks",
    "spot-of-types-without-spot-on-eks",
    "types-of-a-variant-that-the-shape-does-not-name",
    "types-of-another-architecture-than-the-shape",
    "types-older-than-the-shape",
    "types-with-other-memory-than-the-shape",
    "types-with-other-vcpus-than-the-shape",
    "types-without-the-disks-of-the-shape",
    "aks-backup-around-the-clock-with-office-hours",
    "aks-backup-at-night-with-office-hours",
    "aks-backup-beside-arm64-machines",
    "aks-backup-every-four-hours-for-too-long",
    "aks-backup-every-half-day-for-too-long",
    "aks-backup-in-a-region-without",
    "aks-backup-in-the-last-office-hour",
    "aks-backup-through-a-proxy",
    "aks-backup-with-a-long-tag",
    "aks-backup-with-too-many-tags",
    "backup-key-of-another-account",
    "backup-key-of-another-region",
    "backup-key-of-another-region-and-account",
    "certificate-of-another-account",
    "certificate-of-another-region-and-account",
    "clients-by-address",
    "clients-from-everywhere-inside",
    "clients-from-half-of-the-internet",
    "clients-inside-others",
    "clients-of-ipv6",
    "clients-of-private-networks-on-the-internet",
    "clients-on-the-machine-itself",
    "clients-twice",
    "clients-with-host-bits",
    "ingress-of-a-long-domain",
    "ingress-of-names-inside",
    "ingress-with-a-long-namespace",
    "ingress-on-a-full-platform",
    "internet-without-a-certificate",
    "names-in-a-zone-below-the-domain",
    "names-in-a-zone-that-ends-the-same",
    "names-in-the-zone-of-another-domain",
    "own-ingress-without-tls-in-prod",
    "own-ingress-without-tls-in-prod-on-aks",
    "own-ingress-without-tls-in-prod-on-an-existing-cluster",
    "prod-without-a-certificate",
    "aks-zone-in-two-parts",
    "aks-zone-of-a-public-cluster",
    "aks-zone-of-another-region",
    "aks-zone-of-ones-own-domain",
    "aks-zone-that-ends-like-one",
    "claim-named-by-a-number",
    "storage-and-cluster-names-too-long-together",
    "volume-in-an-unknown-storage",
    "volume-without-any-storage",
    "headroom-beside-office-hours",
    "headroom-for-a-pod-larger-than-a-node",
    "headroom-for-more-gpus-than-a-node-has",
    "headroom-of-a-data-pool",
    "headroom-of-a-fixed-size",
    "headroom-of-every-node",
    "headroom-of-gpus-in-a-cpu-pool",
    "headroom-of-memory-without-a-unit",
    "headroom-of-no-cpu",
    "headroom-of-the-initial-pool",
    "headroom-of-several-turns",
    "headroom-on-aks",
    "headroom-on-an-existing-cluster",
    "headroom-without-gpus-in-a-gpu-pool",
    "prepull-before-images-are-volumes",
    "prepull-on-nodes-that-stay-behind",
    "prepull-of-the-latest",
    "prepull-on-an-existing-cluster",
    "prepull-on-initial-nodes",
    "prepull-twice",
    "warm-pool-beside-cluster-hours",
    "warm-pool-of-a-fixed-size",
    "warm-pool-of-data-nodes",
    "warm-pool-of-more-than-the-pool",
    "warm-pool-of-reserved-machines",
    "warm-pool-of-spot-machines",
    "warm-pool-on-a-local-cluster",
    "warm-pool-on-aks",
    "warm-pool-on-an-existing-cluster",
    "cluster-hours-beside-pool-hours",
    "cluster-hours-in-prod",
    "cluster-hours-with-data-nodes",
    "hours-in-a-zone-by-its-letters",
    "hours-in-a-zone-in-small-letters",
    "hours-in-a-zone-of-windows",
    "hours-in-a-zone-outside-the-database",
    "hours-in-an-unknown-zone",
    "hours-of-no-length",
    "hours-on-a-day-twice",
    "hours-on-aks-beside-the-default-window",
    "hours-on-aks-in-a-zone-that-windows-does-not-know",
    "hours-on-aks-in-prod",
    "hours-on-aks-with-a-short-night",
    "hours-on-aks-with-a-window-that-ends-later",
    "hours-on-aks-with-data-nodes",
    "hours-on-aks-with-one-channel",
    "hours-over-midnight",
    "hours-with-a-short-night",
    "pool-hours-of-a-data-pool",
    "pool-hours-of-a-fixed-size",
    "pool-hours-of-a-pool-from-zero",
    "pool-hours-of-the-initial-pool",
    "pool-hours-of-the-last-warm-pool-in-prod",
    "pool-hours-on-aks",
    "pool-hours-on-an-existing-cluster",
    "pool-hours-with-a-short-night",
    "pool-hours-with-the-same-minimum",
    "aks-prod-without-upgrades-beside-nodes-of-the-same-version",
    "node-version-beside-a-release-of-the-control-planes",
    "node-version-newer-than-the-control-plane",
    "node-version-newer-than-the-control-plane-of-aks",
    "upgrade-of-data-nodes-on-aks",
    "upgrade-of-data-nodes-on-eks",
    "upgrade-of-many-nodes-beyond-the-subnet",
    "upgrade-of-simulated-nodes",
    "upgrade-of-spot-nodes-on-aks",
    "upgrade-of-the-owners-nodes",
    "upgrade-of-the-system-pool-with-the-old-nodes-first",
    "upgrade-of-too-many-nodes-on-eks",
    "upgrade-of-a-capacity-block",
    "upgrade-beyond-the-largest-pool-of-aks",
    "node-version-beside-automatic-upgrades-of-aks",
    "upgrade-with-minutes-on-eks",
    "platform-mount-with-a-key",
    "platform-mount-without-claim",
    "platform-settings-where-no-mlrun-runs",
    "aks-administrators-twice",
    "aks-cluster-admin-of-a-namespace",
    "aks-data-not-a-multiple-of-the-zones",
    "aks-data-of-two-types",
    "aks-data-that-is-upgraded",
    "aks-data-without-nvme",
    "aks-deployer-administers",
    "aks-entry-in-an-impossible-namespace",
    "aks-entry-of-the-administrators-again",
    "aks-entry-of-the-deployer-again",
    "aks-entry-twice",
    "aks-entry-with-a-reserved-name",
    "aks-existing-subnet-outside-of-its-network",
    "aks-existing-subnet-too-small",
    "aks-existing-subnet-with-a-name-too-long-for-labels",
    "aks-fixed-pool-of-two-types",
    "aks-gpus-under-another-name",
    "aks-ingress-range-inside-another",
    "aks-ingress-range-is-private",
    "aks-initial-pool-of-two-types",
    "aks-initial-pool-with-a-name-too-long",
    "aks-many-mistakes-of-pools-at-once",
    "aks-mirror-is-a-url",
    "aks-more-than-100-pools",
    "aks-more-than-100-pools-of-zones",
    "aks-name-begins-with-login",
    "aks-name-holds-a-word-of-microsofts",
    "aks-network-range-is-ipv6",
    "aks-network-range-is-public",
    "aks-network-range-that-aks-keeps",
    "aks-network-range-too-large",
    "aks-network-range-too-small",
    "aks-network-range-with-host-bits",
    "aks-no-zones",
    "aks-nodes-beyond-the-created-subnet",
    "aks-nodes-beyond-the-pod-range",
    "aks-nodes-beyond-the-subnet",
    "aks-nodes-beyond-the-tier-of-dev",
    "aks-one-initial-node-in-prod",
    "aks-one-zone",
    "aks-pod-range-is-public",
    "aks-pod-range-that-aks-keeps",
    "aks-pod-range-too-small",
    "aks-pods-in-the-network",
    "aks-pool-name-too-long",
    "aks-pool-of-aws-types",
    "aks-prod-without-a-key-for-disks",
    "aks-prod-without-keys",
    "aks-prod-without-upgrades",
    "aks-public-range-is-an-address",
    "aks-public-range-is-private",
    "aks-public-range-of-ipv6",
    "aks-public-range-twice",
    "aks-public-world",
    "aks-public-world-in-two-halves",
    "aks-servers-of-the-installer",
    "aks-service-range-overlaps-the-network",
    "aks-service-range-overlaps-the-pods",
    "aks-service-range-too-large",
    "aks-service-range-too-small",
    "aks-several-types-may-all-be-full",
    "aks-spot-initial-pool",
    "aks-tag-environment-in-another-case",
    "aks-tag-key-too-long",
    "aks-tag-of-azure",
    "aks-tag-of-our-own",
    "aks-tag-twice-but-for-case",
    "aks-tag-value-too-long",
    "aks-tag-value-with-a-line-break",
    "aks-tag-with-a-slash",
    "aks-tags-beyond-the-limit",
    "aks-tags-of-a-private-cluster-beyond-the-limit",
    "aks-zone-twice",
    "api-server-among-the-machines-credentials",
    "autoscaled-data-pool",
    "autoscaled-initial-pool",
    "bad-egress-range",
    "burstable-default-in-prod",
    "cpu-type-in-a-gpu-pool",
    "default-cpu-is-zero",
    "described-machine-on-eks",
    "described-machine-on-local",
    "dev-defaults-beyond-the-ratio",
    "destination-by-name",
    "destination-with-an-empty-reason",
    "egress-address-instead-of-range",
    "egress-in-long-ipv6",
    "egress-to-a-host-name",
    "egress-to-azures-wire-server",
    "egress-to-ipv4-in-ipv6-form",
    "egress-to-more-ports-than-eks-keeps",
    "egress-to-the-agent-of-pod-identity",
    "egress-to-the-machines-credentials",
    "egress-with-host-bits",
    "eks-addon-version-is-latest",
    "eks-boundary-of-another-account",
    "eks-client-range-inside-another",
    "eks-client-range-of-no-clients",
    "eks-client-range-is-the-world",
    "eks-client-range-twice",
    "eks-cluster-admin-of-a-namespace",
    "eks-data-not-a-multiple-of-the-zones",
    "eks-data-of-several-types",
    "eks-data-that-scales",
    "eks-data-without-nvme",
    "eks-deployer-of-another-account",
    "eks-entry-in-a-group-of-kubernetes",
    "eks-entry-with-namespaces-of-no-level",
    "eks-entry-without-rights",
    "eks-entry-in-an-impossible-namespace",
    "eks-entry-of-the-deployer-again",
    "eks-entry-with-a-namespace-twice",
    "eks-entry-with-a-reserved-name",
    "eks-four-zones",
    "eks-gpus-under-another-name",
    "eks-image-release-is-latest",
    "eks-image-release-of-another-version",
    "eks-key-of-another-region",
    "eks-mirror-is-a-url",
    "eks-more-than-30-groups",
    "eks-more-than-50-tags-of-a-group",
    "eks-more-than-50-tags-of-every-shape",
    "eks-nodes-beyond-a-group",
    "eks-one-role-for-deployer-and-break-glass",
    "eks-one-zone",
    "eks-one-zone-in-prod",
    "eks-pool-of-azure-types",
    "eks-public-range-inside-another",
    "eks-public-range-is-an-address",
    "eks-public-range-is-private",
    "eks-public-range-twice",
    "eks-public-world",
    "eks-public-world-in-two-halves",
    "eks-public-world-of-ipv6",
    "eks-servers-of-the-installer",
    "eks-service-range-is-public",
    "eks-service-range-overlaps-the-vpc",
    "eks-service-range-too-small",
    "eks-shapes-beyond-30-groups",
    "eks-spot-of-one-type",
    "eks-spot-of-two-types-in-prod",
    "eks-spot-shape-of-one-type",
    "eks-subnet-in-two-zones",
    "eks-subnet-of-a-zone-is-missing",
    "eks-tag-key-too-long",
    "eks-tag-that-gives-a-subnet-away",
    "eks-tag-twice-but-for-case",
    "eks-tag-value-too-long",
    "eks-tag-value-with-a-forbidden-character",
    "eks-tag-with-a-reserved-prefix",
    "eks-tags-beyond-the-limit",
    "eks-vpc-range-is-an-address",
    "eks-vpc-range-is-ipv6",
    "eks-vpc-range-is-no-range",
    "eks-vpc-range-is-public",
    "eks-vpc-range-too-large",
    "eks-vpc-range-too-small",
    "eks-vpc-range-with-host-bits",
    "eks-zone-twice",
    "empty-data-pool",
    "empty-initial-pool",
    "everything-wrong-with-the-initial-pool",
    "existing-context-for-a-shell",
    "existing-data-machine-without-nvme",
    "existing-elastic-without-an-autoscaler",
    "existing-machine-and-types",
    "existing-machine-with-gpus-outside-a-gpu-pool",
    "existing-machine-without-gpus-in-a-gpu-pool",
    "existing-nodes-of-no-pool",
    "existing-pool-without-nodes",
    "existing-selector-by-our-own-label",
    "existing-selector-inside-another",
    "existing-selector-key-is-no-label",
    "existing-selectors-are-equal",
    "existing-servers-are-ours",
    "existing-taint-missing-on-gpu-nodes",
    "existing-taint-missing-on-spot-nodes",
    "existing-taint-of-a-pool-that-has-none",
    "existing-taint-of-spot-nodes-of-iguazio",
    "existing-two-shapes-in-a-pool",
    "gpu-and-cpu-types-in-one-pool",
    "gpu-resource-is-null-in-a-gpu-pool",
    "gpu-resource-is-the-default-on-a-cpu-pool",
    "gpu-resource-of-kubernetes",
    "gpu-resource-on-a-cpu-pool",
    "gpu-resource-with-a-blank",
    "gpu-resource-without-a-domain",
    "gpu-type-in-a-cpu-pool",
    "iguazio-servers-of-the-installer-on-a-local-cluster",
    "iguazio-without-servers",
    "initial-pool-of-a-thousand-nodes",
    "instance-type-named-twice",
    "instance-types-of-two-architectures",
    "instance-types-of-two-clouds",
    "memory-beyond-the-ratio-in-dev",
    "min-above-max",
    "no-initial-pool",
    "no-initial-pool-and-a-bad-pool",
    "people-aks-group-by-name",
    "people-in-unknown-namespaces",
    "people-who-create-pods-under-warn",
    "people-named-twice",
    "people-without-a-name",
    "quota-of-nano-and-exa",
    "request-above-limit",
    "requests-above-limits-twice",
    "requests-beyond-any-node-for-user-work",
    "schema-version-is-a-fraction",
    "servers-without-iguazio",
    "several-bad-egress-ranges",
    "shapes-at-a-fixed-size",
    "shapes-in-a-data-pool",
    "shapes-in-the-initial-pool",
    "shapes-of-other-machines",
    "single-initial-node-in-prod",
    "spot-data-pool",
    "spot-initial-pool",
    "three-initial-pools",
    "two-initial-pools",
    "eks-storage-with-a-redundancy",
    "eks-storage-with-a-class",
    "eks-volume-with-a-size",
    "aks-storage-with-a-class",
    "aks-storage-with-a-forbidden-word",
    "aks-storage-that-begins-with-login",
    "aks-storage-beside-many-tags",
    "aks-storage-beside-a-long-tag",
    "aks-volume-without-a-size",
    "aks-volume-too-small",
    "aks-volume-in-an-unknown-storage-without-a-size",
    "existing-storage-without-a-class",
    "existing-storage-with-backups-and-redundancy",
    "existing-volume-without-a-size",
    "eks-lustre-without-size-and-zone",
    "eks-lustre-of-the-step-between",
    "eks-lustre-in-another-zone",
    "eks-lustre-for-homes",
    "eks-lustre-with-copies-in-zones",
    "eks-lustre-with-a-class",
    "eks-lustre-of-two-namespaces",
    "eks-lustre-of-two-volumes",
    "eks-lustre-volume-with-a-size",
    "eks-files-with-size-and-zone",
    "aks-has-no-lustre",
    "aks-files-with-a-zone",
    "existing-cluster-has-no-lustre",
    "local-lustre-of-two-namespaces",
    "local-storage-with-a-class",
}
"""Bad cases of several keys, of arithmetic, or of addresses: a schema cannot refuse them, the models do."""


def models(model: type[BaseModel] = StackConfig) -> set[type[BaseModel]]:
    """Return a model and all that its fields lead to."""

    def inside(annotation: Any) -> set[type[BaseModel]]:
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            return models(annotation)
        return {each for argument in getattr(annotation, "__args__", ()) for each in inside(argument)}

    return {model}.union(*(inside(field.annotation) for field in model.model_fields.values()))


def full_name(model: type[BaseModel]) -> str:
    """Return a model's name with its module's: each kind of cluster has an ``Access``."""
    return f"{model.__module__}.{model.__name__}"


FIELDS = [
    pytest.param(model, name, id=f"{full_name(model)}-{name}")
    for model in sorted(models(StackFile) | models(BaseFile), key=full_name)
    for name in model.model_fields
]


def test_all_models_are_looked_at() -> None:
    assert {model.__name__ for model in models()} >= {
        "StackConfig",
        "NodePool",
        "PoolSize",
        "Quota",
        "ResourceAmounts",
    }


def test_schema_and_page_in_the_repository_are_current() -> None:
    assert reference.SCHEMA.read_text(encoding="utf-8") == reference.schema_text(), (
        "python -m infra.config.reference --write"
    )
    assert reference.BASE_SCHEMA.read_text(encoding="utf-8") == reference.text_of(reference.base_schema()), (
        "python -m infra.config.reference --write"
    )
    assert reference.PAGE.read_text(encoding="utf-8") == reference.page(), "python -m infra.config.reference --write"


def test_the_schemas_are_valid() -> None:
    for schema in (reference.schema(), reference.base_schema()):
        jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("name", sorted(stack_files()))
def test_every_stack_file_names_the_schema_in_its_first_line_and_fits_it(name: str) -> None:
    file = stack_files()[name]
    text = file.read_text(encoding="utf-8")
    comment, _, schema = text.splitlines()[0].partition("$schema=")
    assert comment == "# yaml-language-server: "
    assert (file.parent / schema).resolve() == reference.SCHEMA
    assert [error.message for error in VALIDATOR.iter_errors(yaml.safe_load(text))] == []


ORGANISATION = PROJECT_ROOT / "examples" / "organisation"


@pytest.mark.parametrize("file", sorted(ORGANISATION.iterdir()), ids=lambda file: file.name)
def test_a_base_and_the_stack_files_that_refine_it_fit_their_schemas(file: Path) -> None:
    is_base = file.name.startswith("Base.")
    text = file.read_text(encoding="utf-8")
    schema = text.splitlines()[0].partition("$schema=")[2]
    assert (file.parent / schema).resolve() == (reference.BASE_SCHEMA if is_base else reference.SCHEMA)
    assert [each.message for each in (BASES if is_base else VALIDATOR).iter_errors(yaml.safe_load(text))] == []


def test_a_stack_file_needs_all_keys_unless_it_refines_a_base() -> None:
    settings = {"schemaVersion": 1, "environment": "dev", "cluster": {"kind": "eks", "tags": {"team": None}}}
    refining = {**settings, "base": "acme"}
    assert not VALIDATOR.is_valid({"config": {"igz-clusters:stack": settings}})
    assert VALIDATOR.is_valid({"config": {"igz-clusters:stack": refining}})
    assert not VALIDATOR.is_valid({"config": {"igz-clusters:stack": {**refining, "profil": "x"}}})
    assert not VALIDATOR.is_valid({"config": {"igz-clusters:stack": {**refining, "base": "../acme"}}})


@pytest.mark.parametrize(
    "layer",
    [{}, {"settings": {}, "kind": "eks"}, {"settings": {}, "kinds": []}, {"settings": {"environment": "dev"}}],
)
def test_the_schema_of_a_base_is_closed(layer: dict[str, Any]) -> None:
    assert not BASES.is_valid({"schemaVersion": 1, "layers": [layer]})


@pytest.mark.parametrize(("model", "name"), FIELDS)
def test_every_field_has_a_meaning_and_an_example(model: type[BaseModel], name: str) -> None:
    field = model.model_fields[name]
    assert (field.description or "").endswith(".")
    assert field.examples


@pytest.mark.parametrize(("model", "name"), FIELDS)
def test_every_default_has_a_reason(model: type[BaseModel], name: str) -> None:
    field = model.model_fields[name]
    reasons = [note.why_default for note in field.metadata if isinstance(note, Explained) and note.why_default]
    assert bool(reasons) is not field.is_required()


@pytest.mark.parametrize("key", reference.all_keys(), ids=lambda key: key.name)
def test_every_example_is_legal(key: Any) -> None:
    # Without `jsonschema.validate`, which judges the definitions themselves anew for each example.
    validator = jsonschema.Draft202012Validator({**key.node.said, "$defs": VALIDATOR.schema["$defs"]})
    for example in key.node.said.get("examples", []):
        validator.validate(example)


def test_the_schema_refuses_every_bad_case_that_a_schema_can_refuse() -> None:
    def fits(case: stack_cases.Case) -> bool:
        given = json.loads(json.dumps(case.document))  # keys as JSON knows them
        return VALIDATOR.is_valid({"config": {"igz-clusters:stack": given}})

    assert {case.name for case in stack_cases.load() if fits(case)} == BEYOND_A_SCHEMA


def test_the_schema_is_closed_around_our_own_key() -> None:
    document = yaml.safe_load((PROJECT_ROOT / "Pulumi.local.yaml").read_text())
    config = document["config"]
    assert VALIDATOR.is_valid(document)
    for wrong in ({}, {"igz-clusters:stack": 1}, {**config, "igz-clusters:x": 1}, {"igz-clusters:stak": {}}):
        assert not VALIDATOR.is_valid({**document, "config": wrong})
    assert not VALIDATOR.is_valid({**document, "pools": {}})


def test_a_key_is_named_with_or_without_its_free_names() -> None:
    (key,) = [key for key in reference.all_keys() if key.name == "pools.*.size.min"]
    for text in ("pools.*.size.min", "pools.gpu.size.min", "pools.size.min"):
        assert [k.name for k in reference.all_keys() if k.matches(tuple(text.split(".")))] == [key.name]
    assert not key.matches(("pools", "gpu", "size"))
    assert not key.matches(())


def test_the_engines_own_keys_and_other_namespaces_are_free() -> None:
    document = yaml.safe_load((PROJECT_ROOT / "Pulumi.local.yaml").read_text())
    document |= {"encryptionsalt": "v1:x", "environment": ["base"]}
    document["config"] |= {"aws:region": "eu-central-1", "kubernetes:context": {"secure": "x"}}
    assert VALIDATOR.is_valid(document)


def test_the_schema_lists_what_an_editor_may_complete() -> None:
    text = reference.schema_text()
    assert [word for word in ("m6i.2xlarge", "on-demand", "initial", "prod", "local") if f'"{word}"' not in text] == []


@pytest.mark.parametrize("kind", ["local", "eks", "aks", "existing"])
def test_the_page_has_a_section_for_each_kind_with_its_keys_and_a_whole_example(kind: str) -> None:
    _, _, section = reference.page().partition(f"## Kind {kind}\n")
    section = section.partition("\n## ")[0]
    table, _, example = section.partition("```yaml\n")
    keys = tree(StackConfig).keys["cluster"].members[kind].walk("cluster")
    assert [key.name for key in keys if f"| `{key.name}` |" not in table] == []
    assert f"kind: {kind}" in example
    assert yaml.safe_load(example.partition("```")[0]) in [
        yaml.safe_load(file.read_text()) for file in stack_files().values()
    ]


def test_the_page_names_the_limits_of_names_and_what_production_needs() -> None:
    page = reference.page()
    assert "| pool on AKS | at most 8 characters" in page
    assert all(f"({rule})" in page for rule in ("NG-06", "RS-03", "HT-01", "HE-01", "HA-05", "HA-08"))
