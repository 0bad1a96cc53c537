from typing import Any

import yaml

from support.eks import built

KUBERNETES = "pulumi:providers:kubernetes"


def test_the_kubeconfig_asks_aws_for_a_token_and_holds_no_secret() -> None:
    text = built().of_type(KUBERNETES)["test-kubernetes"]["kubeconfig"]
    config: dict[str, Any] = yaml.safe_load(text)
    (user,) = config["users"]
    assert user["user"]["exec"]["args"] == ["eks", "get-token", "--cluster-name", "research", "--region", "eu-west-1"]
    assert list(user["user"]) == ["exec"]
    assert config["clusters"][0]["cluster"] == {
        "server": "https://test-cluster.example",
        "certificate-authority-data": "Y2VydGlmaWNhdGU=",
    }
    assert built().exports["kubeconfig"] == text
