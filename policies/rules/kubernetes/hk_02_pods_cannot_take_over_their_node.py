"""HK-02: a compromised pod cannot take over its node."""

from collections.abc import Iterator

from components.contract.admission import containers_where
from policies.cel import culprit
from policies.rule import MANDATORY_EVERYWHERE, Admission, Context, Finding, Rule, Severity
from policies.views.pods import ORDINARY_PODS, PodFacts

HOST = ("hostNetwork", "hostPID", "hostIPC")
CONTAINER = ("privileged", "allowPrivilegeEscalation")


def check(pod: PodFacts, _: Context) -> Iterator[Finding]:
    """Reject sharing of node namespaces and paths, privileged containers and privilege escalation.

    An absent ``allowPrivilegeEscalation`` is accepted, as in Pod Security's baseline: MLRun never sets it.
    """
    asked = [pod.spec.at(field) for field in HOST]
    asked += [container.at("securityContext", field) for container in pod.containers() for field in CONTAINER]
    for value in asked:
        if value.flag():
            yield Finding(f"{pod} sets {value.path} to true; expected false.")
    for volume in pod.spec.at("volumes").elements():
        path = volume.at("hostPath", "path")
        if path.text() is not None:
            yield Finding(f"{pod} mounts a host path ({path.path}); expected another kind of volume.")


RULE = Rule(
    id="HK-02",
    slug="pods-cannot-take-over-their-node",
    title="Pods must not share their node's namespaces or paths, or gain privileges",
    severity=Severity.CRITICAL,
    level=MANDATORY_EVERYWHERE,
    source="CIS EKS benchmark, 4.2.1 to 4.2.5; kube-linter checks docker-sock, sensitive-host-mounts",
    applies_to=ORDINARY_PODS,
    why="An attacker in such a pod controls the node, the credentials of its pods and its registry access.",
    fix="Remove the field. Daemons that need it must be core services (as DaemonSets) or run in a system namespace.",
    check=check,
    admission=Admission(
        culprits=" + ".join(
            [
                *(culprit(f"variables.spec.?{field}.orValue(false)", f"'{field}'") for field in HOST),
                *(
                    containers_where(f"c.?securityContext.?{field}.orValue(false)", f"securityContext.{field}")
                    for field in CONTAINER
                ),
                (
                    "variables.spec.?volumes.orValue([]).filter(v, has(v.hostPath))"
                    ".map(v, 'volume ' + string(v.name) + ' (hostPath)')"
                ),
            ]
        )
    ),
)
