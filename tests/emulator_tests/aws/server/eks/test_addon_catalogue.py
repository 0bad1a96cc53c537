import pytest

from components.contract.eks.values import ADDONS, EFS_ADDON
from components.contract.ingress import EXTERNAL_DNS
from emulators.aws.server.eks import addon_catalogue
from emulators.aws.server.errors import AwsError
from support.aws import refused
from support.eks_account import Account
from support.minors import CHOSEN, EARLIER, NEWEST, OLDER, after


def test_the_emulator_has_every_addon_of_the_contract() -> None:
    assert {*ADDONS, EFS_ADDON, EXTERNAL_DNS} <= addon_catalogue.OFFERS.keys()


@pytest.mark.parametrize("name", addon_catalogue.OFFERS)
@pytest.mark.parametrize("version", [after(EARLIER, -2), CHOSEN])
def test_what_a_cluster_gets_by_itself_goes_with_it(name: str, version: str) -> None:
    addon_catalogue.check_version(name, addon_catalogue.offer(name).newest_for(version), version)


def test_the_proxy_follows_the_cluster_like_a_node() -> None:
    addon_catalogue.check_version("kube-proxy", f"v{after(EARLIER, -1)}.3-eksbuild.2", CHOSEN)
    for strange in (f"v{after(EARLIER, -2)}.3-eksbuild.2", f"v{NEWEST}.0-eksbuild.1"):
        with pytest.raises(AwsError, match="not supported"):
            addon_catalogue.check_version("kube-proxy", strange, CHOSEN)


def test_addons_are_described_by_name_type_and_version(home: Account) -> None:
    found = home.eks.describe_addon_versions()["addons"]
    assert {each["addonName"] for each in found} == addon_catalogue.OFFERS.keys()
    (proxy,) = home.eks.describe_addon_versions(addonName="kube-proxy", kubernetesVersion=OLDER)["addons"]
    (version,) = proxy["addonVersions"]
    assert version["addonVersion"].startswith(f"v{OLDER}.")
    assert version["compatibilities"][0]["clusterVersion"] == OLDER
    stored = home.eks.describe_addon_versions(types=["storage"])["addons"]
    drivers = {f"aws-{name}-csi-driver" for name in ("ebs", "efs", "fsx", "mountpoint-s3")}
    assert {each["addonName"] for each in stored} == drivers
    (names,) = home.eks.describe_addon_versions(addonName="external-dns")["addons"]
    assert (names["owner"], names["defaultNamespace"]) == ("community", "external-dns")
    with refused("InvalidParameterException"):
        home.eks.describe_addon_versions(addonName="flannel")
