"""Kubernetes versions of EKS, and which step from one to another it accepts."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, time, timedelta
from typing import Any, Final

from components.contract.kubernetes_minors import READ_ON, calendar
from emulators.aws.server.eks.pages import page
from emulators.aws.server.eks.refusals import invalid_parameter, invalid_request
from emulators.aws.server.eks.store import Cluster, Request, now

PLATFORM_VERSION: Final = "eks.1"
RELEASE_DATE: Final = "20261105"
"""Stands for the newest image of every version: AWS publishes one every few weeks."""

SKEW_MAX: Final = 3
"""Minor versions that nodes may be behind: https://docs.aws.amazon.com/eks/latest/userguide/update-cluster.html."""

ROLLBACK_DAYS: Final = 7
"""How long an upgrade can be undone: https://docs.aws.amazon.com/eks/latest/userguide/rollback-cluster.html."""


def minor(version: str) -> int:
    """Return the minor version of ``1.35`` or of a release such as ``1.35.2-20261105``."""
    return int(version.split(".")[1])


def default_version() -> str:
    """Return the version of a cluster that names none: the newest whose release is known.

    AWS says that it need not be the newest one; which it is on the day was not read.
    """
    return max((version for version, known in calendar("eks").items() if known.released), key=minor)


def status(version: str) -> str:
    """Return ``STANDARD_SUPPORT``, ``EXTENDED_SUPPORT`` or ``UNSUPPORTED``, on the day that the calendar was read.

    Not today's: so the emulator answers the same on every day.
    """
    known = calendar("eks")[version]
    if known.ends is None or known.ends >= READ_ON:
        return "STANDARD_SUPPORT"
    if known.extended_ends is None or known.extended_ends >= READ_ON:
        return "EXTENDED_SUPPORT"
    return "UNSUPPORTED"


def check_offered(version: str) -> None:
    """Refuse a version that EKS does not offer."""
    if version not in calendar("eks") or status(version) == "UNSUPPORTED":
        # https://github.com/rancher/rancher/issues/27777 has the words.
        raise invalid_parameter("unsupported Kubernetes version")


def check_policy(policy: Mapping[str, Any], version: str) -> None:
    """Refuse to do without extended support where a version is in it already.

    https://docs.aws.amazon.com/eks/latest/userguide/disable-extended-support.html
    """
    if policy.get("supportType") == "STANDARD" and status(version) != "STANDARD_SUPPORT":
        raise invalid_parameter(
            f"Kubernetes version {version} is in extended support; supportType STANDARD needs one in standard support"
        )


def newest_release(version: str) -> str:
    """Return the release of the nodes' image that EKS takes where none is named."""
    return f"{version}.0-{RELEASE_DATE}"


def check_release(release: str, version: str) -> None:
    """Refuse an image of another Kubernetes version (words: https://github.com/eksctl-io/eksctl/issues/7976)."""
    if not release.startswith(f"{version}."):
        raise invalid_parameter(f"Requested release version {release} is not valid for kubernetes version {version}.")


def check_upgrade(cluster: Cluster, version: str) -> str:
    """Refuse a step that EKS does not go and return the update's type otherwise.

    One minor version up, with no node group more than ``SKEW_MAX`` behind the new one. One down, if that undoes an
    upgrade of the last ``ROLLBACK_DAYS`` and no node group would be ahead.
    """
    check_offered(version)
    groups = {name: minor(group.body["version"]) for name, group in cluster.groups.items()}
    if minor(version) == minor(cluster.version) + 1:
        behind = sorted(name for name, its in groups.items() if minor(version) - its > SKEW_MAX)
        if behind:
            # https://github.com/hashicorp/terraform-provider-aws/issues/19478 has the words.
            raise invalid_request(
                f"Nodegroups {', '.join(behind)} must be updated to match cluster version {cluster.version} before "
                "updating cluster version"
            )
        return "VersionUpdate"
    if can_go_back(cluster) == version:
        ahead = sorted(name for name, its in groups.items() if its > minor(version))
        if ahead:
            raise invalid_request(f"Nodegroups {', '.join(ahead)} would be ahead of cluster version {version}")
        check_policy(cluster.body.get("upgradePolicy") or {}, version)
        return "VersionRollback"
    # https://github.com/terraform-aws-modules/terraform-aws-eks/issues/2607 has the words.
    raise invalid_parameter(f"Unsupported Kubernetes minor version update from {cluster.version} to {version}")


def can_go_back(cluster: Cluster) -> str:
    """Return the version before the last upgrade, if that can be undone; else an empty text."""
    is_recent = cluster.upgraded is not None and now() - cluster.upgraded[1] < _ROLLBACK
    return cluster.upgraded[0] if cluster.upgraded and is_recent else ""


def check_group_version(cluster: Cluster, present: str, version: str, release: str) -> None:
    """Refuse nodes that would go back, or be ahead of the control plane.

    https://docs.aws.amazon.com/eks/latest/APIReference/API_UpdateNodegroupVersion.html says that none go back;
    https://docs.aws.amazon.com/eks/latest/userguide/rollback-cluster.html of 2026 brings them back with it before a
    control plane, so they may go where the control plane may.

    Parameters
    ----------
    present
        Release of the nodes' image, such as ``1.35.2-20261105``.
    version, release
        What is asked for.
    """
    if version not in calendar("eks"):
        raise invalid_parameter("unsupported Kubernetes version")
    check_release(release, version)
    if minor(version) > minor(cluster.version):
        raise invalid_parameter(
            f"Nodegroup Kubernetes version {version} cannot be ahead of cluster Kubernetes version {cluster.version}"
        )
    if minor(version) < minor(present) and version == can_go_back(cluster):
        return
    if (minor(version), _published(release)) < (minor(present), _published(present)):
        raise invalid_parameter(f"Nodegroup release version {present} cannot be rolled back to {release}")


def _published(release: str) -> str:
    return release.rpartition("-")[2]


_ROLLBACK: Final = timedelta(days=ROLLBACK_DAYS)


class Versions:
    """DescribeClusterVersions."""

    def operations(self) -> Mapping[str, Callable[[Request], dict[str, Any]]]:
        """Return what handles each operation."""
        return {"DescribeClusterVersions": self.describe}

    def describe(self, request: Request) -> dict[str, Any]:
        """Return the versions that were asked for, newest first; those without support only with ``includeAll``."""
        found = [_described(version) for version in sorted(calendar("eks"), key=minor, reverse=True)]
        wanted, wanted_status = request.get("clusterVersions"), request.get("versionStatus")
        if request.get("status"):
            wanted_status = request["status"].upper().replace("-", "_")
        if not request.get("includeAll") and not wanted and not wanted_status:
            found = [each for each in found if each["versionStatus"] != "UNSUPPORTED"]
        if wanted:
            found = [each for each in found if each["clusterVersion"] in wanted]
        if wanted_status:
            found = [each for each in found if each["versionStatus"] == wanted_status]
        if request.get("defaultOnly"):
            found = [each for each in found if each["defaultVersion"]]
        return page(request, "clusterVersions", found)


def _described(version: str) -> dict[str, Any]:
    known = calendar("eks")[version]
    dates = {
        "releaseDate": known.released,
        "endOfStandardSupportDate": known.ends,
        "endOfExtendedSupportDate": known.extended_ends,
    }
    return {
        "clusterVersion": version,
        "clusterType": "eks",
        "defaultPlatformVersion": PLATFORM_VERSION,
        "defaultVersion": version == default_version(),
        "status": status(version).lower().replace("_", "-"),
        "versionStatus": status(version),
        **{name: datetime.combine(day, time(), UTC) for name, day in dates.items() if day},
    }
