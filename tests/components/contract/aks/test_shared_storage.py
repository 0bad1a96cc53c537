import re

import pytest

from components.contract.aks.config import AksConfig
from components.contract.aks.shared_storage import account_name, share_name
from support.aks import config

SHARE = re.compile("[a-z0-9](-?[a-z0-9]){2,62}")


def choices(name: str = "research") -> AksConfig:
    found = config({"cluster.name": name}).cluster
    assert isinstance(found, AksConfig)
    return found


def test_an_account_has_another_name_in_each_group_and_for_each_storage() -> None:
    names = {
        account_name(choices(cluster), storage) for cluster in ("dev", "prod") for storage in ("x-y", "xy", "home")
    }
    assert len(names) == 6
    assert account_name(choices(), "models-of-everybody") == account_name(choices(), "models-of-everybody")


@pytest.mark.parametrize("storage", ["a", "corpus", "s" * 20, "a-b-c-d-e-f-g-h-i-j"])
def test_an_account_has_a_name_that_azure_takes(storage: str) -> None:
    assert re.fullmatch("[a-z0-9]{3,24}", account_name(choices(), storage))


@pytest.mark.parametrize(
    ("namespace", "claim"), [("a", "b"), ("a--b", "c"), ("n" * 63, "c" * 32), ("a" * 51 + "-b", "c"), ("0", "9")]
)
def test_a_share_has_a_name_that_azure_takes(namespace: str, claim: str) -> None:
    assert SHARE.fullmatch(share_name(namespace, claim))


def test_what_is_cut_or_joined_alike_stays_apart() -> None:
    pairs = [("a", "b-c"), ("a-b", "c"), ("a--b", "c"), ("n" * 63, "c"), ("n" * 63, "d")]
    assert len({share_name(*pair) for pair in pairs}) == len(pairs)
