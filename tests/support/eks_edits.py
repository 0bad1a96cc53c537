"""An edit of each input that a stack file has for EKS."""

from typing import Final

from components.contract.certificates import EXAMPLE
from support.edits import Changes, Edited, edits_of_every_kind
from support.eks import EXISTING, PODS, ROLE, document
from support.minors import CHOSEN, NEWEST, OLDER

TEAM: Final = {"roleArn": f"{ROLE}/team", "level": "view", "groups": ["readers"]}

PRODUCTION: Final[Changes] = {
    "environment": "prod",
    # Fewer nodes than zones: the initial group lies in all zones at once, only jupyter and data have a group a zone.
    "pools.initial.size": {"min": 2, "max": 2},
    "pools.gpu.instanceTypes": ["g5.12xlarge", "g5.2xlarge"],  # two shapes
    "namespaces": {"mlrun": {"coreServices": True}, "jobs": {}},
    "cluster.publicAccessCidrs": ["203.0.113.0/24"],
    "cluster.apiClientCidrs": ["10.60.0.0/16"],
    "pools.data.size": {"min": 6, "max": 6},  # so that two zones can share them as well as three
    "cluster.access.entries": {"team": TEAM},
}
BASE: Final = document(PRODUCTION)

KEY: Final = "arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555"
INGRESS: Final = {
    "domain": "ml.example.com",
    "clientCidrs": ["10.0.0.0/8"],
    "certificateArn": "arn:aws:acm:eu-west-1:111122223333:certificate/11111111-2222-3333-4444-555555555555",
}
BOUNDARY: Final = "arn:aws:iam::111122223333:policy/boundary"

EDITS: Final[dict[str, Changes]] = {
    "nothing": {},
    "cluster.name": {"cluster.name": "other"},
    "cluster.accountId": {"cluster.accountId": "444455556666"},
    "cluster.region": {"cluster.region": "eu-central-1"},
    "cluster.zones, one less": {"cluster.zones": ["a", "b"]},
    "cluster.zones, another order": {"cluster.zones": ["c", "b", "a"]},
    "cluster.version": {"cluster.version": NEWEST},
    "cluster.network, another range": {"cluster.network.cidr": "10.30.0.0/16"},
    "cluster.network, from created to existing": {"cluster.network": EXISTING},
    "cluster.network.internet": {
        "cluster.network.internet": "none",
        "cluster.publicAccessCidrs": [],
        "cluster.imageRegistries": {"registry.k8s.io": "mirror.example.com", "nvcr.io": "mirror.example.com/nvidia"},
    },
    "cluster.serviceCidr": {"cluster.serviceCidr": "172.21.0.0/16"},
    "cluster.publicAccessCidrs, one more": {"cluster.publicAccessCidrs": ["203.0.113.0/24", "198.51.100.0/24"]},
    "cluster.publicAccessCidrs, none: private": {"cluster.publicAccessCidrs": []},
    "cluster.apiClientCidrs, one more": {"cluster.apiClientCidrs": ["10.60.0.0/16", "10.61.0.0/16"]},
    "cluster.apiClientCidrs, another": {"cluster.apiClientCidrs": ["10.61.0.0/16"]},
    "cluster.access.deployerRoleArn": {"cluster.access.deployerRoleArn": f"{ROLE}/other"},
    "cluster.access.breakGlassRoleArn": {"cluster.access.breakGlassRoleArn": f"{ROLE}/other"},
    "cluster.access.entries, one more": {
        "cluster.access.entries.more": {"roleArn": f"{ROLE}/more", "level": "view"},
    },
    "cluster.access.entries, another level": {"cluster.access.entries.team.level": "edit"},
    "cluster.access.entries, no level": {"cluster.access.entries.team.level": None},
    "cluster.access.entries, namespaces": {"cluster.access.entries.team.namespaces": ["mlrun"]},
    "cluster.access.entries, other groups": {"cluster.access.entries.team.groups": ["writers"]},
    "cluster.access.entries, no groups": {"cluster.access.entries.team.groups": []},
    "cluster.access.entries, renamed": {"cluster.access.entries": {"crew": TEAM}},
    "cluster.access.entries, another role": {"cluster.access.entries.team.roleArn": f"{ROLE}/other"},
    "cluster.secretsKeyArn": {"cluster.secretsKeyArn": KEY},
    "cluster.permissionsBoundaryArn": {"cluster.permissionsBoundaryArn": BOUNDARY},
    "cluster.prefixDelegation": {"cluster.prefixDelegation": True},
    "cluster.podCidr": PODS,
    "cluster.proxy": {"cluster.proxy": {"http": "http://proxy.corp.example:3128"}},
    "cluster.trustedCertificates": {"cluster.trustedCertificates": [EXAMPLE]},
    "cluster.nodeMirrors": {"cluster.nodeMirrors": {"docker.io": "mirror.corp.example/docker"}},
    "cluster.imageCaches": {"cluster.imageCaches": ["k8s", "quay"]},
    "cluster.logRetentionDays": {"cluster.logRetentionDays": 731},
    "cluster.rootVolumeGib": {"cluster.rootVolumeGib": 200},
    "cluster.tags": {"cluster.tags.owner": "us"},
    "cluster.nodeVersion": {"cluster.nodeVersion": OLDER},
    "cluster.nodeRelease": {"cluster.nodeRelease": f"{CHOSEN}.2-20261105"},
    "cluster.addonVersions": {"cluster.addonVersions": {"coredns": "v1.12.1-eksbuild.2"}},
    "cluster.backup, from none to some": {"cluster.backup": {}},
    "cluster.officeHours, in prod": {"cluster.officeHours": {"from": "08:00", "to": "19:00", "timeZone": "UTC"}},
    "cluster.nodeMonitoring": {"cluster.nodeMonitoring": False},
    "cluster.ingress": {"cluster.ingress": {**INGRESS, "hostedZoneId": "Z0123456789ABC"}},
    "cluster.ingress, with names of ones own": {"cluster.ingress": INGRESS},
    "cluster.ingress, without a certificate": {"cluster.ingress": {**INGRESS, "certificateArn": None}},
    "cluster.gpu.metrics": {"cluster.gpu": {"metrics": True}},
    "cluster.gpu.devicePlugin": {"cluster.gpu": {"devicePlugin": "v0.18.2"}},
    "cluster.imageRegistries": {"cluster.imageRegistries": {"registry.k8s.io": "mirror.example.com"}},
    "namespaces.jobs.identity": {"namespaces.jobs.identity": {"buckets": [{"bucket": "ml-data", "prefix": "vision/"}]}},
    **edits_of_every_kind(BASE),
    "pools.initial.instanceTypes": {"pools.initial.instanceTypes": ["m6i.2xlarge"]},
    "pools.spot.instanceTypes, another order": {
        "pools.spot.instanceTypes": ["m5.2xlarge", "m6i.2xlarge", "m5a.2xlarge"],
    },
    "pools.workload.instanceTypes, another shape": {"pools.workload.instanceTypes": ["m6i.2xlarge", "m6i.4xlarge"]},
    "pools.gpu.instanceTypes, without the second shape": {"pools.gpu.instanceTypes": ["g5.12xlarge"]},
    "pools.gpu.instanceTypes, without the first shape": {"pools.gpu.instanceTypes": ["g5.2xlarge"]},
    "pools.gpu.instanceTypes, the second shape first": {"pools.gpu.instanceTypes": ["g5.2xlarge", "g5.12xlarge"]},
    "pools.gpu.sharing, turns": {"pools.gpu.sharing": {"mode": "time-slicing", "replicas": 4}},
    "pools.gpu.sharing, slices": {
        "pools.gpu.instanceTypes": ["p5.48xlarge"],
        "pools.gpu.sharing": {"mode": "mig", "profile": "1g.10gb"},
    },
    "pools.gpu.lifecycle, reserved": {
        "pools.gpu.instanceTypes": ["p5.48xlarge"],
        "pools.gpu.lifecycle": "reserved",
        "pools.gpu.zone": "b",
        "pools.gpu.reservation": {"id": "cr-0a91582543292e10a"},
    },
    "pools.gpu.reservation, a block": {
        "pools.gpu.instanceTypes": ["p5.48xlarge"],
        "pools.gpu.lifecycle": "reserved",
        "pools.gpu.zone": "b",
        "pools.gpu.reservation": {"id": "cr-0a91582543292e10a", "block": True},
    },
    "pools.gpu.fabric": {
        "pools.gpu.instanceTypes": ["g5.12xlarge"],
        "pools.gpu.zone": "b",
        "pools.gpu.fabric": True,
    },
    "pools.workload.closeTogether": {"pools.workload.zone": "b", "pools.workload.closeTogether": True},
    "pools.spot.zone": {"pools.spot.zone": "b"},
    "namespaces.jobs.quota.gpuSlices": {
        "pools.gpu.sharing": {"mode": "time-slicing", "replicas": 4},
        "namespaces.jobs.quota": {"cpu": "10", "memory": "40Gi", "gpuSlices": 8},
    },
    "pools.data.instanceTypes": {"pools.data.instanceTypes": ["i4i.4xlarge"]},
}

_CORPUS: Final = {"purpose": "dataset", "type": "files"}

STORING: Final[Changes] = {
    **PRODUCTION,
    "storage": {
        "corpus": _CORPUS,
        "fast": {"purpose": "dataset", "type": "lustre", "sizeGib": 2400, "zone": "a"},
        "temporary": {"purpose": "scratch", "type": "files"},
    },
    "namespaces.jobs.volumes": {"shared": {"storage": "corpus"}, "fast": {"storage": "fast"}},
}
STORAGE_EDITS: Final[dict[str, Changes]] = {
    "storage, one more": {"storage.more": {"purpose": "home", "type": "files"}},
    "storage, a scratch storage removed": {"storage.temporary": None},
    "storage, a dataset renamed": {
        "storage.corpus": None,
        "storage.data": _CORPUS,
        "namespaces.jobs.volumes.shared.storage": "data",
    },
    "storage.corpus.purpose": {"storage.corpus.purpose": "scratch"},
    "storage.corpus.backups, from on to off": {"storage.corpus.backups": False},
    "namespaces.jobs.volumes, one more": {"namespaces.jobs.volumes.more": {"storage": "corpus"}},
    "namespaces.jobs.volumes, one removed": {"namespaces.jobs.volumes.shared": None},
    "storage.fast.sizeGib, larger": {"storage.fast.sizeGib": 4800},
    "storage.fast.sizeGib, smaller": {"storage.fast.sizeGib": 1200},
    "storage.fast.zone": {"storage.fast.zone": "b"},
    "storage.fast.purpose": {"storage.fast.purpose": "scratch"},
    "storage.fast.backups, from on to off": {"storage.fast.backups": False},
    "storage.fast.type": {"storage.fast": _CORPUS},
    "storage, a Lustre dataset removed": {"storage.fast": None, "namespaces.jobs.volumes.fast": None},
    "storage, one more Lustre": {
        "storage.scratch": {"purpose": "scratch", "type": "lustre", "sizeGib": 1200, "zone": "b"}
    },
    "namespaces.jobs.volumes, another storage": {"namespaces.jobs.volumes.shared.storage": "temporary"},
}

BACKED: Final[Changes] = {**PRODUCTION, "cluster.backup": {}}
BACKUP_EDITS: Final[dict[str, Changes]] = {
    "cluster.backup.every": {"cluster.backup.every": "12h"},
    "cluster.backup.startHour": {"cluster.backup.startHour": 22},
    "cluster.backup.keepDays": {"cluster.backup.keepDays": 90},
    "cluster.backup.lock": {"cluster.backup.lock": True},
    "cluster.backup.keyArn": {"cluster.backup.keyArn": KEY},
    "cluster.backup, from some to none": {"cluster.backup": None},
}

STACKS: Final = (
    Edited(document, PRODUCTION, EDITS),
    Edited(document, STORING, STORAGE_EDITS),
    Edited(document, BACKED, BACKUP_EDITS),
)
