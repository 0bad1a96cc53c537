"""The baseline of the Pod Security Standards in CEL, for namespaces where Pod Security would refuse core services.

The standard: https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline, in the latest version that
k8s.io/pod-security-admission v0.36.3 implements.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from components.contract.admission import MAY_USE_CORE_SERVICES, RULE_VARIABLES, WAIVER_PREFIX, containers_where
from components.contract.default_resources import IS_BUILD

STANDARD: Final = "https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline"

POLICY_NAME: Final = "igz-pod-security"
"""Name of the admission policy that enforces the baseline, and of its binding."""

DAEMON_SET_CONTROLLER: Final = "system:serviceaccount:kube-system:daemon-set-controller"
"""User that creates the pods of DaemonSets."""

MPI_ROLE_LABELS: Final = ("mpi-job-role", "training.kubeflow.org/job-role")
"""Labels of the pods of MPI operators: kubeflow/mpi-operator v0.3.0 ``pkg/controllers/v1/mpi_job_controller.go`` and
v0.7.0 ``pkg/apis/kubeflow/v2beta1/constants.go``."""

_MPI_ROLES: Final = ("launcher", "worker")

_CAPABILITIES: Final = (
    *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP"),
    *("SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
)
_SYSCTLS: Final = (
    *("kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.ip_local_reserved_ports"),
    *("net.ipv4.ip_unprivileged_port_start", "net.ipv4.ping_group_range", "net.ipv4.tcp_fin_timeout"),
    *("net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes", "net.ipv4.tcp_keepalive_time"),
    *("net.ipv4.tcp_rmem", "net.ipv4.tcp_syncookies", "net.ipv4.tcp_wmem"),
)
_SELINUX_TYPES: Final = ("", "container_t", "container_init_t", "container_kvm_t", "container_engine_t")
_APPARMOR_PREFIX: Final = "container.apparmor.security.beta.kubernetes.io/"
_HANDLERS: Final = ("livenessProbe", "readinessProbe", "startupProbe", "lifecycle.?postStart", "lifecycle.?preStop")


@dataclass(frozen=True, slots=True)
class Restriction:
    """One control of the standard."""

    name: str
    """Name of the variable with its violations."""
    offenders: str
    """Expression for the texts that name its violations."""
    demand: str
    """What it requires; a message has it after the violations."""
    is_host_access: bool = False
    """Whether daemons of core services are exempt."""


def _listed(words: tuple[str, ...]) -> str:
    return "[" + ", ".join(f"'{word}'" for word in words) + "]"


def _contexts(bad: Callable[[str], str]) -> str:
    """Return the expression for the pod and the containers whose security context is ``bad``."""
    of_pod, of_container = (bad(f"{owner}.?securityContext") for owner in ("variables.spec", "c"))
    return f"({of_pod} ? ['pod'] : []) + {containers_where(of_container)}"


def _flags(*fields: str) -> str:
    return " + ".join(f"(variables.spec.?{field}.orValue(false) ? ['{field}'] : [])" for field in fields)


def _bad_profile(field: str) -> Callable[[str], str]:
    return lambda context: f"!({context}.?{field}.?type.orValue('RuntimeDefault') in ['RuntimeDefault', 'Localhost'])"


def _bad_se_linux(context: str) -> str:
    options = f"{context}.?seLinuxOptions"
    return (
        f"(!({options}.?type.orValue('') in {_listed(_SELINUX_TYPES)})"
        f" || {options}.?user.orValue('') != '' || {options}.?role.orValue('') != '')"
    )


_NO_HOST: Final = " || ".join(
    f"c.?{handler}.?{probe}.?host.orValue('') != ''" for handler in _HANDLERS for probe in ("httpGet", "tcpSocket")
)

BASELINE: Final = (
    Restriction("hostNamespaces", _flags("hostNetwork", "hostPID"), "must not be true", is_host_access=True),
    Restriction("hostIPC", _flags("hostIPC"), "must not be true"),
    Restriction(
        "hostPaths",
        "variables.spec.?volumes.orValue([]).filter(v, has(v.hostPath)).map(v, 'volume ' + string(v.name))",
        "must not have a hostPath",
        is_host_access=True,
    ),
    Restriction(
        "hostPorts",
        containers_where("c.?ports.orValue([]).exists(p, p.?hostPort.orValue(0) != 0)"),
        "must not set ports.hostPort",
        is_host_access=True,
    ),
    Restriction(
        "privileged",
        containers_where("c.?securityContext.?privileged.orValue(false)"),
        "must not set securityContext.privileged",
        is_host_access=True,
    ),
    Restriction(
        "capabilities",
        containers_where(
            "c.?securityContext.?capabilities.?add.orValue([])"
            f".exists(added, !(added in {_listed(_CAPABILITIES)}) && !(added == 'IPC_LOCK' && variables.mpi))"
        ),
        "must not add capabilities beyond the default set (securityContext.capabilities.add)",
    ),
    Restriction(
        "procMounts",
        # A pod with its own user namespace may mount /proc in any way.
        "!variables.spec.?hostUsers.orValue(true) ? [] : "
        + containers_where("c.?securityContext.?procMount.orValue('Default') != 'Default'"),
        "must not set securityContext.procMount",
    ),
    Restriction(
        "appArmor",
        f"{_contexts(_bad_profile('appArmorProfile'))}"
        f" + variables.metadata.?annotations.orValue({{}}).filter(key, key.startsWith('{_APPARMOR_PREFIX}')"
        " && !(variables.metadata.annotations[key] in ['', 'runtime/default'])"
        " && !variables.metadata.annotations[key].startsWith('localhost/')).map(key, 'annotation ' + string(key))",
        "must not turn AppArmor off (appArmorProfile.type: RuntimeDefault or Localhost)",
    ),
    Restriction(
        "seccomp",
        _contexts(_bad_profile("seccompProfile")),
        "must not turn seccomp off (seccompProfile.type: RuntimeDefault or Localhost)",
    ),
    Restriction(
        "seLinux",
        _contexts(_bad_se_linux),
        "must not set securityContext.seLinuxOptions.user or role, nor a type beyond container_*_t",
    ),
    Restriction(
        "windows",
        _contexts(lambda context: f"{context}.?windowsOptions.?hostProcess.orValue(false)"),
        "must not set securityContext.windowsOptions.hostProcess",
    ),
    Restriction(
        "sysctls",
        "variables.spec.?securityContext.?sysctls.orValue([])"
        f".filter(s, !(s.name in {_listed(_SYSCTLS)})).map(s, 'sysctl ' + string(s.name))",
        "is not one of the safe sysctls (securityContext.sysctls)",
    ),
    Restriction("handlers", containers_where(_NO_HOST), "must not set host in probes or lifecycle handlers"),
)
"""All controls of the standard."""

_OWNED: Final = (
    "dyn(object).metadata.?ownerReferences.orValue([])"
    ".exists(owner, owner.kind == 'DaemonSet' && owner.?controller.orValue(false))"
)

_DAEMON: Final = (
    # The mark was checked at the DaemonSet, whose pods only its controller creates.
    f"variables.core && (request.resource.resource == 'daemonsets' || (request.operation == 'CREATE'"
    f" ? request.userInfo.username == '{DAEMON_SET_CONTROLLER}' && {_OWNED}"
    # Fields with access to the host cannot change later, but a debug container can use them.
    f" : request.?subResource.orValue('') != 'ephemeralcontainers' || {MAY_USE_CORE_SERVICES}))"
)

_RESTRICTED: Final = {
    each.name: f"variables.daemon ? [] : {each.offenders}" if each.is_host_access else each.offenders
    for each in BASELINE
}

BASELINE_VARIABLES: Final = {
    **RULE_VARIABLES,
    "daemon": _DAEMON,
    # The capability lets a process keep memory from being swapped, as far as the pod's memory limit allows. Builds
    # never have a limit, so they do not get it.
    "mpi": f"!{IS_BUILD} && {_listed(MPI_ROLE_LABELS)}"
    f".exists(key, variables.metadata.?labels[key].orValue('') in {_listed(_MPI_ROLES)})",
    **_RESTRICTED,
    "violations": f"'{WAIVER_PREFIX}hk-01' in variables.waivers ? [] : "
    + " + ".join(
        f"(variables.{each.name}.size() == 0 ? [] : [variables.{each.name}.join(', ') + ' {each.demand}'])"
        for each in BASELINE
    ),
}
"""Variables of the baseline; each may use those before it. ``violations`` is a text for each violated control."""

_FIX: Final = (
    "Remove these fields; only DaemonSets with the label igz-clusters.io/core-service may use hostPath, hostPorts, "
    "hostNetwork, hostPID and privileged containers, and only MPI jobs IPC_LOCK."
)

MESSAGE: Final = f"the baseline of the Pod Security Standards is violated. {_FIX} See {STANDARD} [HK-01]"
"""Message of a rejection if the list is too long."""

MESSAGE_EXPRESSION: Final = (
    f"'the baseline of the Pod Security Standards is violated: ' + variables.violations.join('; ') + '. {_FIX}"
    f" See {STANDARD} [HK-01]'"
)
"""Expression for the message of a rejection."""
