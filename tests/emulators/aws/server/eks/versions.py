"""Kubernetes versions of EKS, and which step from one to another it accepts."""

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final, NamedTuple

from emulators.aws.server.eks.pages import page
from emulators.aws.server.eks.refusals import invalid_parameter, invalid_request
from emulators.aws.server.eks.store import Cluster, Request, now

READ: Final = date(2026, 11, 21)
"""The day of the facts below. Support is judged on it too, so that the emulator answers the same on every day."""


class Support(NamedTuple):
    """When EKS offers a version; None where what was read does not say."""

    released: date | None
    standard_ends: date | None
    extended_ends: date | None


SUPPORT: Final[Mapping[str, Support]] = {
    "1.30": Support(date(2024, 5, 23), date(2025, 7, 23), date(2026, 7, 23)),
    "1.31": Support(date(2024, 9, 26), date(2025, 11, 26), date(2026, 11, 26)),
    "1.32": Support(date(2025, 1, 25), date(2026, 3, 23), date(2027, 3, 23)),
    "1.33": Support(date(2025, 5, 28), date(2026, 7, 29), date(2027, 7, 29)),
    "1.34": Support(date(2025, 10, 6), date(2026, 12, 2), date(2027, 12, 2)),
    "1.35": Support(date(2026, 1, 28), date(2027, 3, 27), date(2028, 3, 27)),
    "1.36": Support(None, None, None),
}
"""https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html and https://endoflife.date/amazon-eks."""

DEFAULT_VERSION: Final = "1.35"
"""Of a cluster that names none. AWS says that it need not be the newest one; which it is on the day was not read."""

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


def status(version: str) -> str:
    """Return ``STANDARD_SUPPORT``, ``EXTENDED_SUPPORT`` or ``UNSUPPORTED``."""
    known = SUPPORT[version]
    if known.standard_ends is None or known.standard_ends >= READ:
        return "STANDARD_SUPPORT"
    if known.extended_ends is None or known.extended_ends >= READ:
        return "EXTENDED_SUPPORT"
    return "UNSUPPORTED"


def check_offered(version: str) -> None:
    """Refuse a version that EKS does not offer."""
    if version not in SUPPORT or status(version) == "UNSUPPORTED":
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
    if cluster.upgraded and cluster.upgraded[0] == version and now() - cluster.upgraded[1] < _ROLLBACK:
        ahead = sorted(name for name, its in groups.items() if its > minor(version))
        if ahead:
            raise invalid_request(f"Nodegroups {', '.join(ahead)} would be ahead of cluster version {version}")
        return "VersionRollback"
    # https://github.com/terraform-aws-modules/terraform-aws-eks/issues/2607 has the words.
    raise invalid_parameter(f"Unsupported Kubernetes minor version update from {cluster.version} to {version}")


def check_group_version(cluster: Cluster, present: str, version: str, release: str) -> None:
    """Refuse nodes that would go back, or be ahead of the control plane.

    https://docs.aws.amazon.com/eks/latest/APIReference/API_UpdateNodegroupVersion.html

    Parameters
    ----------
    present
        Release of the nodes' image, such as ``1.35.2-20261105``.
    version, release
        What is asked for.
    """
    if version not in SUPPORT:
        raise invalid_parameter("unsupported Kubernetes version")
    check_release(release, version)
    if minor(version) > minor(cluster.version):
        raise invalid_parameter(
            f"Nodegroup Kubernetes version {version} cannot be ahead of cluster Kubernetes version {cluster.version}"
        )
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
        found = [_described(version) for version in sorted(SUPPORT, key=minor, reverse=True)]
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
    known = SUPPORT[version]
    dates = {
        "releaseDate": known.released,
        "endOfStandardSupportDate": known.standard_ends,
        "endOfExtendedSupportDate": known.extended_ends,
    }
    return {
        "clusterVersion": version,
        "clusterType": "eks",
        "defaultPlatformVersion": PLATFORM_VERSION,
        "defaultVersion": version == DEFAULT_VERSION,
        "status": status(version).lower().replace("_", "-"),
        "versionStatus": status(version),
        **{name: datetime.combine(day, time(), UTC) for name, day in dates.items() if day},
    }
