"""The processes of a control plane: command lines, order and health."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from signal import SIGKILL, SIGTERM, Signals
from typing import Final

from components.contract import autoscaler
from components.contract.headroom import BYPASSED_FLAG, HEADROOM
from components.contract.labels import AnnotationKey
from workbench.local.layout import Layout
from workbench.local.pki import CLUSTER_CA, ETCD_CA, SERVICE_NETWORK
from workbench.local.ports import LOOPBACK
from workbench.local.programs import AUTOSCALER, KARPENTER
from workbench.local.state import Tuning

POLICY_TYPES: Final = "validatingadmissionpolicy-status-controller"
"""The controller that checks the types of admission policies' expressions."""

_USUAL = Tuning()


@dataclass(frozen=True)
class Health:
    """Health endpoint of a component."""

    port: int
    path: str
    ca: str = CLUSTER_CA
    client: str = "admin"


@dataclass(frozen=True)
class Component:
    """One process."""

    name: str
    flags: Mapping[str, object]
    """Command line without the leading hyphens."""
    needs: tuple[str, ...] = ()
    """Components that must be ready first."""
    health: Health | None = None
    """None: no endpoint; counts as healthy after running for a second."""
    stop: Signals = SIGTERM
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def arguments(self) -> list[str]:
        """The command line after the program's name."""
        pairs = [(name, each) for name, value in self.flags.items() for each in _several(value)]
        return [f"--{name}={_text(value)}" for name, value in pairs]


def components(layout: Layout, ports: Mapping[str, int], tuning: Tuning = _USUAL) -> tuple[Component, ...]:
    """Return the components in start order; they stop in reverse order.

    ``tuning`` says what differs from the usual instance.
    """
    usual = (
        _etcd(layout, ports),
        _api_server(layout, ports, tuning.emulated),
        _controller_manager(layout, ports["kube-controller-manager"]),
        _scheduler(layout, ports["kube-scheduler"], has_file=bool(tuning.scheduler)),
        _kwok(layout),
        _karpenter(layout) if tuning.machines else _autoscaler(layout),
    )
    return tuple(replace(each, flags={**each.flags, **tuning.flags.get(each.name, {})}) for each in usual)


def _etcd(layout: Layout, ports: Mapping[str, int]) -> Component:
    client, peer = (f"https://{LOOPBACK}:{ports[name]}" for name in ("etcd", "etcd-peer"))
    certificate, key, ca = (layout.pki / name for name in ("etcd.crt", "etcd.key", f"{ETCD_CA}.crt"))
    flags = {
        "name": layout.name,
        "data-dir": layout.etcd,
        "listen-client-urls": client,
        "advertise-client-urls": client,
        "listen-peer-urls": peer,
        "initial-advertise-peer-urls": peer,
        "initial-cluster": f"{layout.name}={peer}",
        "cert-file": certificate,
        "key-file": key,
        "trusted-ca-file": ca,
        "client-cert-auth": True,
        "peer-cert-file": certificate,
        "peer-key-file": key,
        "peer-trusted-ca-file": ca,
        "peer-client-cert-auth": True,
        "enable-grpc-gateway": False,
        "log-level": "warn",
    }
    return Component("etcd", flags, health=Health(ports["etcd"], "/health", ETCD_CA, "etcd-client"))


def _api_server(layout: Layout, ports: Mapping[str, int], emulated: str) -> Component:
    pki = layout.pki
    flags = {
        **_serving(layout, ports["kube-apiserver"], "kube-apiserver"),
        # Without it the server needs the host's default route, which an offline machine may lack.
        "advertise-address": LOOPBACK,
        # The `kubernetes` service cannot have a loopback endpoint, and no simulated pod would call it.
        "endpoint-reconciler-type": "none",
        "etcd-servers": f"https://{LOOPBACK}:{ports['etcd']}",
        "etcd-cafile": pki / f"{ETCD_CA}.crt",
        "etcd-certfile": pki / "etcd-client.crt",
        "etcd-keyfile": pki / "etcd-client.key",
        "client-ca-file": pki / f"{CLUSTER_CA}.crt",
        "proxy-client-cert-file": pki / "front-proxy-client.crt",
        "proxy-client-key-file": pki / "front-proxy-client.key",
        "anonymous-auth": False,
        "authorization-mode": "Node,RBAC",
        # GPU pods get their toleration, as on EKS and AKS; the plug-ins that are on by default stay on.
        "enable-admission-plugins": "ExtendedResourceToleration",
        "encryption-provider-config": layout.encryption,
        "service-account-issuer": "https://kubernetes.default.svc",
        "service-account-key-file": pki / "sa.pub",
        "service-account-signing-key-file": pki / "sa.key",
        "service-cluster-ip-range": SERVICE_NETWORK,
        "allow-privileged": True,
        **({"emulated-version": emulated} if emulated else {}),
    }
    return Component("kube-apiserver", flags, ("etcd",), Health(ports["kube-apiserver"], "/readyz"))


def _controller_manager(layout: Layout, port: int) -> Component:
    pki = layout.pki
    name = "kube-controller-manager"
    flags = {
        **_serving(layout, port, "health"),
        "kubeconfig": layout.kubeconfig(name),
        "leader-elect": False,
        "use-service-account-credentials": True,
        "service-account-private-key-file": pki / "sa.key",
        "root-ca-file": pki / f"{CLUSTER_CA}.crt",
        "cluster-signing-cert-file": pki / f"{CLUSTER_CA}.crt",
        "cluster-signing-key-file": pki / f"{CLUSTER_CA}.key",
        # At the default rate (20) the first service accounts of a namespace take 5 s.
        "kube-api-qps": 200,
        "kube-api-burst": 400,
        # Checking each policy once takes a quarter of the processor time of a first `up`.
        "controllers": f"*,-{POLICY_TYPES}",
    }
    return Component(name, flags, ("kube-apiserver",), Health(port, "/healthz"))


def _scheduler(layout: Layout, port: int, *, has_file: bool) -> Component:
    name = "kube-scheduler"
    own = {"config": layout.scheduler} if has_file else {"kubeconfig": layout.kubeconfig(name), "leader-elect": False}
    flags = {**_serving(layout, port, "health"), **own}
    return Component(name, flags, ("kube-apiserver",), Health(port, "/healthz"))


def _kwok(layout: Layout) -> Component:
    flags = {
        "kubeconfig": layout.kubeconfig("kwok"),
        "config": layout.stages,
        "manage-nodes-with-annotation-selector": f"{AnnotationKey.SIMULATED}=fake",
        # Renewed leases keep a node alive; without them the controller manager finds it lost after 50 s.
        "node-lease-duration-seconds": 40,
        "cidr": "10.244.0.0/16",
    }
    return Component("kwok", flags, ("kube-apiserver",))


def _autoscaler(layout: Layout) -> Component:
    kubeconfig = layout.kubeconfig(AUTOSCALER)
    flags = {
        "cloud-provider": "kwok",
        "kubeconfig": kubeconfig,
        "namespace": autoscaler.NAMESPACE,
        "address": f"{LOOPBACK}:0",
        "leader-elect": False,
        "enforce-node-group-min-size": True,
        "expander": "least-waste",
        "balance-similar-node-groups": True,
        "balancing-label": autoscaler.BALANCING_LABELS,
        # Always set: flags are chosen before the stack is declared, and it may get headroom at any time.
        BYPASSED_FLAG: HEADROOM,
        "skip-nodes-with-system-pods": False,
        # At the default rate (5) its first listing of the cluster takes seconds.
        "kube-client-qps": 100,
        "kube-client-burst": 200,
        # The defaults suit a cloud's slow nodes.
        "scan-interval": "2s",
        "scale-down-delay-after-add": "10s",
        "scale-down-unneeded-time": "10s",
        "scale-down-unready-time": "30s",
        "unremovable-node-recheck-timeout": "10s",
    }
    return Component(
        AUTOSCALER,
        flags,
        ("kube-controller-manager", "kube-scheduler", "kwok"),
        # On SIGTERM it deletes all nodes that it created.
        stop=SIGKILL,
        environment={
            "POD_NAMESPACE": autoscaler.NAMESPACE,
            "KWOK_PROVIDER_MODE": "local",
            "KUBECONFIG": str(kubeconfig),
        },
    )


def _karpenter(layout: Layout) -> Component:
    flags = {
        "instance-types-file-path": layout.machines,
        "disable-cluster-state-observability": True,
    }
    needs = ("kube-controller-manager", "kube-scheduler", "kwok")
    environment = {"KUBECONFIG": str(layout.kubeconfig(KARPENTER))}
    # It needs no orderly stop: its nodes end with the instance.
    return Component(KARPENTER, flags, needs, stop=SIGKILL, environment=environment)


def _serving(layout: Layout, port: int, certificate: str) -> dict[str, object]:
    return {
        "bind-address": LOOPBACK,
        "secure-port": port,
        "tls-cert-file": layout.pki / f"{certificate}.crt",
        "tls-private-key-file": layout.pki / f"{certificate}.key",
        "profiling": False,
    }


def _several(value: object) -> tuple[object, ...]:
    return tuple(value) if isinstance(value, tuple | list) else (value,)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
