"""HK-02: a pod that is broken into stays a pod."""

from collections.abc import Iterator

from policies.rule import MANDATORY_EVERYWHERE, Admission, Context, Finding, Rule, Severity
from policies.views.pods import ORDINARY_PODS, PodFacts

HOST = ("hostNetwork", "hostPID", "hostIPC")
CONTAINER = ("privileged", "allowPrivilegeEscalation")


def check(pod: PodFacts, _: Context) -> Iterator[Finding]:
    """Demand that nothing of the node is shared with the pod, and that no container asks for more rights.

    Silence about escalation is accepted, as Pod Security's baseline does: no pod that MLRun makes speaks of it.
    """
    asked = [pod.spec.at(field) for field in HOST]
    asked += [container.at("securityContext", field) for container in pod.containers() for field in CONTAINER]
    for value in asked:
        if value.flag():
            yield Finding(f"{pod} sets {value.path} to true, wanted false.")
    for volume in pod.spec.at("volumes").elements():
        path = volume.at("hostPath", "path")
        if path.text() is not None:
            yield Finding(f"{pod} mounts a folder or socket of its node ({path.path}), wanted another kind of volume.")


RULE = Rule(
    id="HK-02",
    slug="pods-cannot-take-over-their-node",
    title="Pods share nothing with their node and gain no rights",
    severity=Severity.CRITICAL,
    level=MANDATORY_EVERYWHERE,
    source="CIS EKS benchmark, 4.2.1 to 4.2.5; kube-linter checks docker-sock, sensitive-host-mounts",
    applies_to=ORDINARY_PODS,
    why="Whoever breaks into such a pod has the node, the credentials of all its pods and the images' registry.",
    fix="Drop the field; what truly needs the node is a core service, or runs in a system namespace.",
    check=check,
    admission=Admission(
        expression=(
            "!variables.spec.?hostNetwork.orValue(false)"
            " && !variables.spec.?hostPID.orValue(false)"
            " && !variables.spec.?hostIPC.orValue(false)"
            " && variables.containers.all(c, !c.?securityContext.?privileged.orValue(false)"
            " && !c.?securityContext.?allowPrivilegeEscalation.orValue(false))"
            " && variables.spec.?volumes.orValue([]).all(v, !has(v.hostPath))"
        )
    ),
)
