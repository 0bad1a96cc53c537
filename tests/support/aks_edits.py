"""An edit of each input that a stack file has for AKS."""

from typing import Final

from components.contract.certificates import EXAMPLE
from support.aks import ADMINS, DISK_SET_ID, EXISTING, ISOLATED, KEY_ID, ZONE_ID, document
from support.edits import Changes, Edited, edits_of_every_kind
from support.minors import NEWEST, OLDER

RESERVATIONS: Final = (
    "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/gpus"
    "/providers/Microsoft.Compute/capacityReservationGroups/gpus"
)
PROXY: Final = {"http": "http://proxy.corp.example:3128"}
OTHER: Final = "44444444-4444-4444-4444-444444444444"

PRODUCTION: Final[Changes] = {
    "environment": "prod",
    "namespaces": {"mlrun": {"coreServices": True}, "jobs": {}},
    "cluster.authorizedRanges": ["203.0.113.0/24"],
    "cluster.access.entries": {"team": {"objectId": "33333333-3333-3333-3333-333333333333", "level": "view"}},
    "pools.data.size": {"min": 6, "max": 6},  # so that two zones can share them as well as three
}
BASE: Final = document(PRODUCTION)

EDITS: Final[dict[str, Changes]] = {
    "nothing": {},
    "cluster.name": {"cluster.name": "other"},
    "cluster.subscriptionId": {"cluster.subscriptionId": OTHER},
    "cluster.tenantId": {"cluster.tenantId": OTHER},
    "cluster.location": {"cluster.location": "northeurope"},
    "cluster.zones, one less": {"cluster.zones": ["1", "2"]},
    "cluster.zones, another order": {"cluster.zones": ["3", "2", "1"]},
    "cluster.version": {"cluster.version": NEWEST},
    "cluster.network, another range": {"cluster.network.cidr": "10.40.0.0/16"},
    "cluster.network, from created to existing": {"cluster.network": EXISTING},
    "cluster.network.internet, of a created network": {"cluster.network.internet": "none"},
    "cluster.network.internet, a firewall of an existing one": {
        "cluster.network": {**EXISTING, "internet": "firewall"}
    },
    "cluster.network.registryId, with a public API": {"cluster.network": ISOLATED},
    "cluster.podCidr": {"cluster.podCidr": "10.96.0.0/14"},
    "cluster.serviceCidr": {"cluster.serviceCidr": "172.21.0.0/16"},
    "cluster.network.ingressRanges": {"cluster.network.ingressRanges": ["203.0.113.0/24"]},
    "cluster.authorizedRanges, one more": {"cluster.authorizedRanges": ["203.0.113.0/24", "198.51.100.0/24"]},
    "cluster.authorizedRanges, none: private": {"cluster.authorizedRanges": []},
    "cluster.privateDnsZoneId, of a public cluster": {"cluster.privateDnsZoneId": ZONE_ID},
    "cluster.access.deployerObjectId": {"cluster.access.deployerObjectId": OTHER},
    "cluster.access.deployerPrincipal": {"cluster.access.deployerPrincipal": "group"},
    "cluster.access.adminGroupIds, one more": {"cluster.access.adminGroupIds": [ADMINS, OTHER]},
    "cluster.access.entries, one more": {"cluster.access.entries.more": {"objectId": OTHER, "level": "view"}},
    "cluster.access.entries, another level": {"cluster.access.entries.team.level": "edit"},
    "cluster.access.entries, namespaces": {"cluster.access.entries.team.namespaces": ["jobs"]},
    "cluster.secretsKeyId": {"cluster.secretsKeyId": KEY_ID.replace("0123", "4567")},
    "cluster.secretsKeyId, of another vault": {
        "cluster.secretsKeyId": KEY_ID.replace("vaults/research", "vaults/other"),
        "cluster.previousSecretsKeyId": KEY_ID,
    },
    "cluster.previousSecretsKeyId": {"cluster.previousSecretsKeyId": KEY_ID.replace("vaults/research", "vaults/other")},
    "cluster.diskEncryptionSetId": {"cluster.diskEncryptionSetId": f"{DISK_SET_ID}-other"},
    "cluster.proxy, with a data pool": {"cluster.proxy": PROXY},
    "cluster.trustedCertificates, with a data pool": {"cluster.trustedCertificates": [EXAMPLE]},
    "cluster.logRetentionDays": {"cluster.logRetentionDays": 730},
    "cluster.rootVolumeGib": {"cluster.rootVolumeGib": 256},
    "cluster.createdWithPool": {"cluster.createdWithPool": "initial"},
    "cluster.nodeVersion": {"cluster.nodeVersion": OLDER, "cluster.upgradeChannel": "none"},
    "cluster.upgradeChannel, with a data pool": {"cluster.upgradeChannel": "patch"},
    "cluster.nodeImageChannel, with a data pool": {"cluster.nodeImageChannel": "security-patch"},
    "cluster.maintenance": {"cluster.maintenance": {"day": "saturday", "startHour": 22, "hours": 8}},
    "cluster.officeHours, in prod": {
        "cluster.officeHours": {"from": "00:00", "to": "22:00", "timeZone": "UTC"},
        "cluster.maintenance": {"day": "monday", "startHour": 9, "hours": 4},
    },
    "cluster.backup, from none to some": {"cluster.backup": {}},
    "cluster.autoscaler": {"cluster.autoscaler": "interactive"},
    "cluster.tags": {"cluster.tags.owner": "us"},
    "cluster.ingress": {
        "cluster.ingress": {"domain": "ml.example.com", "className": "traefik", "clusterIssuer": "letsencrypt"}
    },
    "cluster.ingress, without a certificate": {"cluster.ingress": {"domain": "ml.example.com", "className": "traefik"}},
    "cluster.ingress, with a zone": {
        "cluster.ingress": {
            "domain": "ml.example.com",
            "className": "traefik",
            "clusterIssuer": "letsencrypt",
            "dnsZoneId": ZONE_ID.replace("privatelink.westeurope.azmk8s.io", "example.com"),
        }
    },
    "cluster.gpu.metrics": {"cluster.gpu": {"metrics": True}},
    "cluster.gpu.devicePlugin": {"cluster.gpu": {"devicePlugin": "v0.18.2"}},
    "cluster.imageRegistries": {"cluster.imageRegistries": {"nvcr.io": "mirror.example.com"}},
    "storage, the first, with a volume": {
        "storage.corpus": {"purpose": "dataset", "type": "files"},
        "namespaces.jobs.volumes": {"shared": {"storage": "corpus", "sizeGib": 200}},
    },
    "namespaces.jobs.identity": {
        "namespaces.jobs.identity": {
            "containers": [{"account": "mldata", "resourceGroup": "data", "container": "vision", "prefix": "raw/"}]
        }
    },
    **edits_of_every_kind(BASE),
    "pools.initial.instanceTypes": {"pools.initial.instanceTypes": ["Standard_D8s_v5"]},
    "pools.workload.instanceTypes, another": {"pools.workload.instanceTypes": ["Standard_D16s_v5"]},
    "pools.workload.instanceTypes, one more": {"pools.workload.instanceTypes": ["Standard_D8s_v5", "Standard_D16s_v5"]},
    "pools.spot.instanceTypes, another order": {"pools.spot.instanceTypes": ["Standard_D8as_v5", "Standard_D8s_v5"]},
    "pools.spot.instanceTypes, without the second": {"pools.spot.instanceTypes": ["Standard_D8s_v5"]},
    "pools.spot.instanceTypes, without the first": {"pools.spot.instanceTypes": ["Standard_D8as_v5"]},
    "pools.gpu.lifecycle, reserved": {
        "pools.gpu.instanceTypes": ["Standard_NC24ads_A100_v4"],
        "pools.gpu.lifecycle": "reserved",
        "pools.gpu.zone": "2",
        "pools.gpu.reservation": {"id": RESERVATIONS},
    },
    "pools.gpu.fabric": {
        "pools.gpu.instanceTypes": ["Standard_ND96isr_H100_v5"],
        "pools.gpu.zone": "2",
        "pools.gpu.fabric": True,
    },
    "pools.workload.closeTogether": {"pools.workload.zone": "2", "pools.workload.closeTogether": True},
    "pools.spot.zone": {"pools.spot.zone": "2"},
    "pools.gpu.sharing, of an elastic pool": {"pools.gpu.sharing": {"mode": "time-slicing", "replicas": 4}},
    "pools.gpu.sharing, turns": {
        "pools.gpu.sharing": {"mode": "time-slicing", "replicas": 4},
        "pools.gpu.size": {"min": 1, "max": 1},
    },
    "pools.gpu.sharing, slices": {
        "pools.gpu.instanceTypes": ["Standard_NC24ads_A100_v4"],
        "pools.gpu.sharing": {"mode": "mig", "profile": "1g.10gb"},
        "pools.gpu.size": {"min": 1, "max": 1},
    },
    "pools.data.instanceTypes": {"pools.data.instanceTypes": ["Standard_L16s_v3"]},
}

WITHOUT_DATA: Final[dict[str, Changes]] = {
    "cluster.proxy": {"cluster.proxy": PROXY},
    "cluster.trustedCertificates": {"cluster.trustedCertificates": [EXAMPLE]},
    "cluster.upgradeChannel": {"cluster.upgradeChannel": "none"},
    "cluster.nodeImageChannel": {"cluster.nodeImageChannel": "security-patch"},
    "cluster.officeHours": {
        "cluster.officeHours": {"from": "08:00", "to": "19:00", "timeZone": "UTC"},
        "cluster.maintenance": {"day": "monday", "startHour": 9, "hours": 4},
    },
}
"""What is refused with a data pool, or in prod."""

_CORPUS: Final = {"purpose": "dataset", "type": "files"}

STORING: Final[Changes] = {
    **PRODUCTION,
    "storage": {"corpus": _CORPUS, "temporary": {"purpose": "scratch", "type": "files"}},
    "namespaces.jobs.volumes": {
        "shared": {"storage": "corpus", "sizeGib": 200},
        "work": {"storage": "temporary", "sizeGib": 100},
    },
}
STORAGE_EDITS: Final[dict[str, Changes]] = {
    "storage, one more": {"storage.more": {"purpose": "home", "type": "files"}},
    "storage, a scratch storage removed": {"storage.temporary": None, "namespaces.jobs.volumes.work": None},
    "storage, a dataset renamed": {
        "storage.corpus": None,
        "storage.data": _CORPUS,
        "namespaces.jobs.volumes.shared.storage": "data",
    },
    "storage.corpus.purpose": {"storage.corpus.purpose": "scratch"},
    "storage.corpus.backups, from on to off": {"storage.corpus.backups": False},
    "storage.corpus.redundancy": {"storage.corpus.redundancy": "local"},
    "namespaces.jobs.volumes, one more": {"namespaces.jobs.volumes.more": {"storage": "corpus", "sizeGib": 100}},
    "namespaces.jobs.volumes, of a dataset removed": {"namespaces.jobs.volumes.shared": None},
    "namespaces.jobs.volumes, of scratch removed": {"namespaces.jobs.volumes.work": None},
    "namespaces.jobs.volumes, another storage": {"namespaces.jobs.volumes.work.storage": "corpus"},
    "namespaces.jobs.volumes, another size": {"namespaces.jobs.volumes.shared.sizeGib": 400},
}

BACKED: Final[Changes] = {**PRODUCTION, "cluster.backup": {}}
BACKUP_EDITS: Final[dict[str, Changes]] = {
    "cluster.backup.every": {"cluster.backup.every": "12h"},
    "cluster.backup.startHour": {"cluster.backup.startHour": 22},
    "cluster.backup.keepDays": {"cluster.backup.keepDays": 90},
    "cluster.backup, from some to none": {"cluster.backup": None},
}

STACKS: Final = (
    Edited(document, PRODUCTION, EDITS),
    Edited(document, {**PRODUCTION, "environment": "dev", "pools.data": None}, WITHOUT_DATA),
    Edited(document, STORING, STORAGE_EDITS),
    Edited(document, BACKED, BACKUP_EDITS),
)
