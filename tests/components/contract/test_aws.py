from pulumi_aws._enums import Region as ProviderRegion

from components.contract.aws import REGIONS


def test_known_regions_are_the_providers_without_other_partitions() -> None:
    theirs = {r.value for r in ProviderRegion if not r.value.startswith(("cn-", "us-gov-", "us-iso", "eu-isoe"))}
    assert set(REGIONS) == theirs - {"eusc-de-east-1"}
