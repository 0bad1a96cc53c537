from components.contract.environments import PlatformProfile
from components.contract.existing.cluster_inventory import SharedKind, SharedObject
from components.scheduling.priority_classes import PriorityClasses, PriorityClassesArgs
from support.recorder import record

PATCH = "kubernetes:scheduling.k8s.io/v1:PriorityClassPatch"


def test_an_adopted_user_class_keeps_its_owner_s_value() -> None:
    names = ("igz-workload-low", "igz-system-high")
    adopted = frozenset(SharedObject(SharedKind.PRIORITY_CLASS, name) for name in names)
    arguments = PriorityClassesArgs(profile=PlatformProfile.MLRUN_CE, adopted=adopted)
    patches = record(lambda: PriorityClasses("test", arguments)).of_type(PATCH)
    assert {name: patch.get("value") for name, patch in patches.items()} == {
        "igz-workload-low": None,
        "igz-system-high": 3_000_000,
    }
