from typing import Any

from workbench.rehearsal.amounts import most_at_once, pod_amounts, whole_units


def container(**amounts: str) -> dict[str, Any]:
    return {"resources": {"requests": amounts}}


def test_requests_count_as_the_scheduler_counts_them() -> None:
    spec = {
        "containers": [container(cpu="1", memory="1Gi"), {"resources": {"limits": {"cpu": "500m"}}}],
        "initContainers": [
            container(cpu="4", memory="100Mi"),
            {**container(cpu="250m"), "restartPolicy": "Always"},
        ],
        "overhead": {"memory": "64Mi"},
    }
    assert whole_units(pod_amounts(spec, "requests")) == {"cpu_millis": 4000, "memory_mib": 1088, "gpus": 0}


def test_what_ends_leaves_room_for_what_starts_at_the_same_moment() -> None:
    assert most_at_once([(0, 10, 2), (10, 20, 2), (5, 12, 0.5)]) == 2.5
    assert most_at_once([]) == 0
