"""The features that a stack file can ask for beyond what the shipped stacks have, and which of them go together.

Changes are as in ``support.edits``. ``HOME`` stands in a path for the stack's first namespace: a second one would need
quotas (RS-10). Features of pools have pools of their own where they can, so that they go together.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from components.contract.aks.config import AksConfig
from components.contract.certificates import EXAMPLE
from components.contract.eks.config import EksConfig
from infra.config import StackConfig, parse
from support import aks, eks
from support.aks_edits import RESERVATIONS
from support.edits import Changes, edited
from support.eks_edits import INGRESS, KEY
from support.minors import CHOSEN
from workbench import stacks
from workbench.stacks import CONFIG_KEY, Stack

STACKS: Final = ("dev", "prod", "aks-dev", "aks-prod", "existing", "local")
"""Development and production of each cloud, and a stack of each other kind."""


@dataclass(frozen=True)
class Feature:
    """Choices of a stack file, and what answers them."""

    changes: Mapping[str, Changes]
    """By kind of cluster."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """Part of the message, by the stacks of those kinds that refuse it."""
    apart: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Features above it with which a stack file refuses it, by kind of cluster."""
    finds: Mapping[str, set[str]] = field(default_factory=dict)
    """Rules that object, as the documentation says, by stack."""


def _gpus(type_: str, **more: Any) -> dict[str, Any]:
    return {"role": "gpu", "size": {"min": 0, "max": 2}, "instanceTypes": [type_], **more}


def _work(type_: str, **more: Any) -> dict[str, Any]:
    return {"role": "workload", "size": {"min": 0, "max": 4}, "instanceTypes": [type_], **more}


def _shared(mode: Mapping[str, Any], pool: str, eks_type: str, aks_type: str) -> dict[str, Changes]:
    """Return a pool with shared GPUs of each kind; its autoscaler would not scale it on AKS."""
    path, one = f"pools.{pool}", {"min": 1, "max": 1}
    return {
        "eks": {path: _gpus(eks_type, sharing=mode)},
        "local": {path: _gpus(eks_type, sharing=mode)},
        "aks": {path: _gpus(aks_type, sharing=mode, size=one)},
        "existing": {
            path: {"role": "gpu", "size": one, "machine": _MACHINE, "sharing": mode},
            f"cluster.nodes.{pool}": {"selector": {"example.com/rack": pool}, "taint": True},
        },
    }


def _alike(changes: Changes, *kinds: str) -> dict[str, Changes]:
    return dict.fromkeys(kinds, changes)


_MACHINE: Final = {"vcpus": 64, "memoryGib": 512, "gpus": 4, "gpuModel": "A100", "gpuMemoryGib": 40}
_FILES: Final = {"purpose": "dataset", "type": "files"}
_HOURS: Final = {"from": "08:00", "to": "19:00", "timeZone": "UTC"}
_SHAPE: Final = {"vcpus": 8, "memoryGib": 32}
_A100: Final = "Standard_NC24ads_A100_v4"
_P5: Final = "p5.48xlarge"
_VOLUME: Final = "namespaces.HOME.volumes.shared"
_SIZED: Final = {_VOLUME: {"storage": "corpus", "sizeGib": 200}}
_WAY_IN: Final = {"domain": "ml.example.com", "className": "traefik", "clusterIssuer": "letsencrypt"}
_DNS_ZONE: Final = aks.ZONE_ID.replace("privateDnsZones/privatelink.westeurope.azmk8s.io", "dnszones/example.com")
_ACCOUNTS: Final = ".blob.core.windows.net"
"""What reaches the storage account of backups past a proxy."""

FEATURES: Final[Mapping[str, Feature]] = {
    "cloud identity": Feature(
        {
            "eks": {"namespaces.HOME.identity": {"buckets": [{"bucket": "ml-data", "prefix": "vision/"}]}},
            "aks": {
                "namespaces.HOME.identity": {
                    "containers": [{"account": "mldata", "resourceGroup": "data", "container": "vision"}]
                }
            },
        }
    ),
    "shared files": Feature(
        {
            **_alike({"storage.corpus": _FILES, _VOLUME: {"storage": "corpus"}}, "eks", "local"),
            "aks": {"storage.corpus": _FILES, **_SIZED},
            "existing": {"storage.corpus": {**_FILES, "storageClass": "nfs"}, **_SIZED},
        }
    ),
    "Lustre": Feature(
        {
            "eks": {
                "storage.fast": {"purpose": "dataset", "type": "lustre", "sizeGib": 1200, "zone": "a"},
                "namespaces.HOME.volumes.fast": {"storage": "fast"},
            }
        }
    ),
    "turns on GPUs": Feature(
        _shared({"mode": "time-slicing", "replicas": 4}, "turns", "g5.12xlarge", "Standard_NC8as_T4_v3")
    ),
    "slices of GPUs": Feature(_shared({"mode": "mig", "profile": "1g.10gb"}, "slices", _P5, _A100)),
    "reserved GPUs": Feature(
        {
            "eks": {
                "pools.reserved": _gpus(_P5, lifecycle="reserved", zone="b", reservation={"id": "cr-0a91582543292e10a"})
            },
            "aks": {"pools.reserved": _gpus(_A100, lifecycle="reserved", zone="2", reservation={"id": RESERVATIONS})},
        }
    ),
    "a capacity block": Feature(
        {
            "eks": {
                "pools.block": _gpus(
                    _P5, lifecycle="reserved", zone="b", reservation={"id": "cr-0b91582543292e10b", "block": True}
                )
            }
        }
    ),
    "fabric": Feature({"eks": {"pools.fabric": _gpus(_P5, zone="b", fabric=True)}}),
    "machines close together": Feature(
        {
            "eks": {"pools.mpi": _work("c7i.24xlarge", zone="b", closeTogether=True)},
            "aks": {"pools.mpi": _work("Standard_HB120rs_v3", zone="2", closeTogether=True)},
        }
    ),
    "health of GPUs": Feature(_alike({"cluster.gpu": {"metrics": True, "devicePlugin": "v0.18.2"}}, "eks", "aks")),
    "shape of machines": Feature(
        {
            **_alike({"pools.shaped": _work("m6i.2xlarge", shape=_SHAPE)}, "eks", "local"),
            "aks": {"pools.shaped": _work("Standard_D8s_v5", shape=_SHAPE)},
        }
    ),
    "headroom": Feature(_alike({"pools.workload.headroom": {"pods": 2, "cpu": "3", "memory": "12Gi"}}, "eks", "local")),
    "images ahead": Feature(
        _alike({"pools.workload.prepullImages": ["nvcr.io/nvidia/pytorch:25.06-py3"]}, "eks", "aks", "local")
    ),
    "warm pool": Feature({"eks": {"pools.workload.warmPool": {"nodes": 2}}}),
    "a pool's office hours": Feature(
        {"eks": {"pools.days": _work("m6i.2xlarge", size={"min": 2, "max": 4}, officeHours={**_HOURS, "nightMin": 0})}}
    ),
    "office hours": Feature(
        {
            "eks": {"cluster.officeHours": _HOURS},
            "aks": {
                "cluster.officeHours": _HOURS,
                "cluster.maintenance": {"day": "monday", "startHour": 9, "hours": 4},
            },
        },
        refused={"prod": "is for development clusters", "aks-prod": "keep the cluster stopped"},
        apart={"eks": ("warm pool", "a pool's office hours")},
    ),
    "backup": Feature(
        {
            "eks": {"cluster.backup": {"every": "12h", "keepDays": 90, "lock": True, "keyArn": KEY}},
            "aks": {"cluster.backup": {"startHour": 12, "keepDays": 90}},  # within office hours
        }
    ),
    "ways in": Feature(
        {
            "eks": {"cluster.ingress": {**INGRESS, "hostedZoneId": "Z0123456789ABC"}},
            "aks": {"cluster.ingress": {**_WAY_IN, "dnsZoneId": _DNS_ZONE}},
            **_alike({"cluster.ingress": _WAY_IN}, "existing", "local"),
        },
        refused={"aks-prod": "Iguazio's installer makes the ways in to a full platform"},
    ),
    "pace of upgrades": Feature(_alike({"pools.workload.upgrade": {"nodes": 1, "order": "old-first"}}, "eks", "aks")),
    "nodes that follow later": Feature(
        {
            "eks": {"cluster.nodeVersion": CHOSEN},
            "aks": {"cluster.nodeVersion": CHOSEN, "cluster.upgradeChannel": "none"},
        },
        finds={"aks-dev": {"HA-05"}},
    ),
    "another initial pool": Feature({"aks": {"cluster.createdWithPool": "initial"}}),
    "prefixes of addresses": Feature({"eks": {"cluster.prefixDelegation": True}}),
    "addresses of pods": Feature({"eks": eks.PODS}),
    "proxy": Feature(
        {
            "eks": {"cluster.proxy": {"http": "http://proxy.corp.example:3128"}},
            "aks": {"cluster.proxy": {"http": "http://proxy.corp.example:3128", "except": [_ACCOUNTS]}},
        }
    ),
    "trusted certificates": Feature(_alike({"cluster.trustedCertificates": [EXAMPLE]}, "eks", "aks")),
    "mirrors and caches": Feature(
        {
            "eks": {
                "cluster.nodeMirrors": {"docker.io": "mirror.corp.example/docker"},
                "cluster.imageCaches": ["k8s", "quay"],
            }
        }
    ),
    "no internet": Feature(
        {
            "eks": {
                "cluster.network.internet": "none",
                "cluster.publicAccessCidrs": [],
                "cluster.apiClientCidrs": ["10.60.0.0/16"],
                "cluster.imageRegistries": {
                    "registry.k8s.io": "mirror.example.com",
                    "nvcr.io": "mirror.example.com/nvidia",
                },
            },
            "aks": {**aks.NO_INTERNET, "cluster.authorizedRanges": []},
        },
        refused={"aks-prod": "Azure documents no backups of such clusters"},
        apart={"aks": ("backup",)},
    ),
    "a firewall": Feature({"aks": {"cluster.network": {**aks.EXISTING, "internet": "firewall"}}}),
    "a private DNS zone": Feature({"aks": {"cluster.authorizedRanges": [], "cluster.privateDnsZoneId": aks.ZONE_ID}}),
}
"""By what a person would call them."""


def features_of(stack: str) -> list[str]:
    """Return the features that a stack of this kind can ask for, those that this stack refuses among them."""
    kind = stacks.find(stack).config.cluster.kind
    return [name for name, feature in FEATURES.items() if kind in feature.changes]


def apart(stack: str, name: str) -> tuple[str, ...]:
    """Return the features with which a stack refuses another one."""
    return FEATURES[name].apart.get(stacks.find(stack).config.cluster.kind, ())


def compatible(stack: str) -> list[str]:
    """Return as many features of a stack as go together: of two that do not, the first."""
    chosen: list[str] = []
    for name in features_of(stack):
        if stack not in FEATURES[name].refused and not set(apart(stack, name)) & set(chosen):
            chosen.append(name)
    return chosen


def changes(stack: str, names: Iterable[str]) -> Changes:
    """Return what a stack file says more if it asks for features, in the account of the stack."""
    config = stacks.find(stack).config
    said = {path: value for name in names for path, value in FEATURES[name].changes[config.cluster.kind].items()}
    text = json.dumps(said).replace("HOME", next(iter(config.namespaces)))
    if isinstance(config.cluster, EksConfig):
        text = text.replace(eks.ACCOUNT, config.cluster.account_id)
    if isinstance(config.cluster, AksConfig):
        text = text.replace(aks.SUBSCRIPTION, config.cluster.subscription_id)
    found: Changes = json.loads(text)
    return found


def with_features(stack: str, names: Iterable[str]) -> Stack:
    """Return a shipped stack whose file asks for features.

    Raises
    ------
    ConfigurationError
        The stack refuses one of them.
    """
    shipped = stacks.find(stack)
    choices = edited(shipped.document["config"][CONFIG_KEY], changes(stack, names))
    config: StackConfig = parse(choices)
    return replace(shipped, document={"config": {CONFIG_KEY: choices}}, config=config)
