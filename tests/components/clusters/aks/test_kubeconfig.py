from typing import Any

import yaml

from support.aks import CREDENTIALS, KUBERNETES, TENANT, built


def test_the_kubeconfig_asks_entra_for_a_token_and_holds_no_secret() -> None:
    text = built().of_type(KUBERNETES)["test-kubernetes"]["kubeconfig"]
    config: dict[str, Any] = yaml.safe_load(text)
    (user,) = config["users"]
    assert list(user["user"]) == ["exec"]
    assert user["user"]["exec"]["command"] == "kubelogin"
    assert user["user"]["exec"]["interactiveMode"] == "Never"
    assert user["user"]["exec"]["args"] == [
        *("get-token", "--login", "azurecli"),
        *("--server-id", "6dae42f8-4368-4678-94ff-3960e28e3630", "--tenant-id", TENANT),
    ]
    assert built().exports["kubeconfig"] == text


def test_only_address_and_authority_are_taken_from_azures_answer() -> None:
    config = yaml.safe_load(built().of_type(KUBERNETES)["test-kubernetes"]["kubeconfig"])
    assert config["clusters"] == [
        {
            "name": "research",
            "cluster": {"server": "https://research.example:443", "certificate-authority-data": "Y2VydGlmaWNhdGU="},
        }
    ]
    assert built().calls == [
        (CREDENTIALS, {"format": "exec", "resourceGroupName": "research", "resourceName": "research"})
    ]
