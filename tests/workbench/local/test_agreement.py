"""Pulumi's program and the control plane meet in words that YAML files cannot import."""

from pathlib import Path

import pytest
import yaml

from components.contract import autoscaler
from components.contract.labels import AnnotationKey
from workbench import local

FOLDER = Path(local.__file__).parent


@pytest.mark.parametrize("key", [AnnotationKey.CAPACITY, AnnotationKey.ALLOCATABLE])
def test_simulated_nodes_take_their_resources_from_the_contracts_annotations(key: AnnotationKey) -> None:
    stages = yaml.safe_load_all((FOLDER / "stages" / "node.yaml").read_text())
    templates = {each["metadata"]["name"]: each["spec"]["next"].get("statusTemplate", "") for each in stages}
    assert all(f'"{key}"' in templates[name] for name in ("node-ready", "node-resize"))


def test_the_autoscaler_may_read_exactly_these_config_maps() -> None:
    documents = yaml.safe_load_all((FOLDER / "manifests" / "cluster-autoscaler.yaml").read_text())
    role = next(each for each in documents if each["kind"] == "Role")
    readable = [rule["resourceNames"] for rule in role["rules"] if rule["verbs"] == ["get"]]
    assert role["metadata"]["namespace"] == autoscaler.NAMESPACE
    assert readable == [[autoscaler.CONFIG, autoscaler.TEMPLATES]]
