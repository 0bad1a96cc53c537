"""Reports made by hand, for tests of how they are shown."""

from collections.abc import Iterable
from typing import Any

from workbench.report.model import (
    Change,
    Danger,
    Finding,
    FindingStatus,
    Hours,
    Judge,
    JudgeChange,
    Operation,
    Outcome,
    PoolChange,
    PropertyChange,
    Report,
    ResourceHours,
    Source,
    StackReport,
)
from workbench.report.money import Cost

GROUP = "aws:eks/nodeGroup:NodeGroup"
ROW = "until 2026-12-01 by ml-platform (OPS-7: not used any more)"
TAG = "aws:autoscaling/tag:Tag"


def urn(token: str, name: str, stack: str = "prod") -> str:
    return f"urn:pulumi:{stack}::igz-clusters::igz-clusters:clusters:EksCluster${token}::{name}"


def change(operation: Operation, name: str, token: str = GROUP, **more: Any) -> Change:
    return Change(operation=operation, urn=urn(token, name), type=token, name=name, **more)


def finding(rule: str, standing: FindingStatus, name: str, message: str = "is wrong.", **more: Any) -> Finding:
    more = {"judge": Judge.BOTH, "fix": "Mend it.", "reference": f"docs/policies.md#{rule.lower()}", **more}
    return Finding(rule=rule, standing=standing, urn=urn(GROUP, name) if name else "", message=message, **more)


def stack(**more: Any) -> StackReport:
    known: dict[str, Any] = {
        "stack": "prod",
        "environment": "prod",
        "kind": "eks",
        "source": Source.COMPARED,
        "outcome": Outcome.PASSED,
        "rules": 61,
    }
    return StackReport(**{**known, **more})


def report(*stacks: StackReport, **more: Any) -> Report:
    return Report(**{"outcome": stacks[0].outcome if stacks else Outcome.PASSED, "stacks": stacks, **more})


def forced(path: str = "instanceTypes", before: str = "[m6i.xlarge]", after: str = "[m6i.2xlarge]") -> PropertyChange:
    return PropertyChange(path, before, after, forces_replacement=True)


def replacements(number: int, *, forcing: Iterable[PropertyChange] = (forced(),)) -> tuple[Change, ...]:
    return tuple(
        change(Operation.REPLACE, f"prod-pool-{index:05d}", properties=tuple(forcing)) for index in range(number)
    )


def blocked() -> Report:
    """Return a report with one of everything."""
    cluster = change(
        Operation.REPLACE,
        "prod-cluster",
        "aws:eks/cluster:Cluster",
        properties=(forced("accessConfig.bootstrapClusterCreatorAdminPermissions", "true", "false"),),
        carries_state="the cluster with all that runs on it",
        protected=True,
    )
    key = change(Operation.DELETE, "prod-cluster-secrets", "aws:kms/key:Key", carries_state="what it encrypted")
    group = change(Operation.REPLACE, "prod-gpu", properties=(forced(), forced("diskSize", "100", "200")))
    tags = [
        change(Operation.REPLACE, f"prod-gpu/{label}", TAG, properties=(forced("autoscalingGroupName", "a", "b"),))
        for label in ("igz-clusters.io/pool", "igz-clusters.io/role")
    ]
    update = change(
        Operation.UPDATE, "prod-workload", properties=(PropertyChange("scalingConfig.maxSize", "30", "40"),)
    )
    new = change(Operation.CREATE, "mlrun-default-deny", "kubernetes:networking.k8s.io/v1:NetworkPolicy")
    return report(
        stack(
            outcome=Outcome.BLOCKED,
            reasons=("a cluster would be replaced, and no row approves it", "NG-07 is violated"),
            dangers=(Danger(cluster, "cluster"), Danger(key, "encryption key", ROW, is_new=True)),
            changes=(cluster, group, *tags, key, new, update),
            findings=(
                finding("NG-07", FindingStatus.VIOLATED, "prod-spot", "group 'spot' has no taint.", judge=Judge.BASE),
                finding("HN-01", FindingStatus.UNJUDGED, "prod-gpu", "metadataOptions is known after the update only."),
                finding("NG-12", FindingStatus.EXCUSED, "prod-workload", "has one zone.", waiver=ROW),
                finding("NG-20", FindingStatus.WAIVED, "prod-data", "may be repaired.", waiver=ROW),
                finding("PL-02", FindingStatus.ADVISED, "", "no pool is named in pod templates."),
            ),
            pools=(
                PoolChange("gpu", "types", "g5.2xlarge", "g5.4xlarge"),
                PoolChange("workload", "size", "2 to 30", "2 to 40"),
            ),
            node_hours=Hours(3650, 59_130, 3650, 66_430),
            resource_hours=(ResourceHours("vCPU", Hours(None, None, 29_200, 531_440)),),
            cost=Cost(
                1240,
                9900,
                1610,
                12_300,
                ("2025-05", "2026-07"),
                ("on-demand", "spot"),
                ("eu-west-1",),
                unpriced=("big",),
            ),
            unchanged=171,
        ),
        judge=(JudgeChange("policies/overrides.yaml", "adds the waiver OPS-1 of ml-platform for NG-12 in prod"),),
        skipped=("dev", "local"),
        base="09ea6cc",
        head="0ab0612",
    )


def filled(text: str) -> Report:
    """Return a report with ``text`` in place of every text that comes from outside."""
    properties = (PropertyChange(text, text, text, forces_replacement=True), PropertyChange(text, text, None))
    changes = tuple(
        Change(operation, f"urn:{operation}:{text}", text, text, properties, text, protected=True)
        for operation in Operation
    )
    danger = Change(Operation.DELETE, f"urn:{text}", text, text, properties, text)
    whole = stack(
        stack=text,
        environment=text,
        kind=text,
        source=Source.RENDERED,
        outcome=Outcome.BLOCKED,
        reasons=(text,),
        dangers=(Danger(danger, text), Danger(danger, text, text), Danger(danger, text, text, is_new=True)),
        changes=(danger, *changes),
        findings=tuple(Finding(text, standing, Judge.BASE, text, text, text, text, text) for standing in FindingStatus),
        pools=(PoolChange(text, text, text, text),),
        node_hours=Hours(None, None, 1, 1),
        resource_hours=(ResourceHours(text, Hours(None, None, 1, 1)),),
        cost=Cost(None, None, 1, 2, (text,), (text,), (text,), assumed=True, unpriced=(text,) * 7),
        problems=(f"{text} too",),
    )
    return report(whole, judge=(JudgeChange(text, text),), skipped=(text,), base=text, head=text, problems=(text,))
