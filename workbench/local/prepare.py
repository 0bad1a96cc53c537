"""Prepares an instance's files before its processes start."""

import base64
import json
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from workbench.local.kubeconfigs import write_kubeconfigs
from workbench.local.layout import Layout
from workbench.local.pki import ensure_pki
from workbench.local.ports import settle
from workbench.local.programs import fingerprint, versions
from workbench.local.state import Settings
from workbench.system.files import write_private

_STAGES = Path(__file__).with_name("stages")


def prepare(layout: Layout, programs: dict[str, str]) -> None:
    """Write ports, certificates, kubeconfigs and settings of a stopped instance.

    Parameters
    ----------
    layout
        The instance's files.
    programs
        Path by program.
    """
    kept = Settings.load(layout)
    current = fingerprint(programs)
    known = kept.versions if kept.fingerprint == current else versions(programs)
    settings = replace(kept, ports=settle(kept.ports), programs=programs, fingerprint=current, versions=known)
    ensure_pki(layout.pki)
    write_kubeconfigs(layout, settings.ports["kube-apiserver"])
    _ensure_encryption(layout)
    _reset_unfinished_etcd(layout)
    _write_stages(layout, known["kube-apiserver"], settings.simulator)
    if settings.scheduler:
        _write_scheduler(layout, settings.scheduler)
    if settings.machines:
        write_private(layout.machines, json.dumps(settings.machines))
    settings.save(layout)


def _reset_unfinished_etcd(layout: Layout) -> None:
    """Reset an etcd that was killed during its first start: it would wait for other members forever."""
    if layout.first_start.exists():
        shutil.rmtree(layout.etcd)
        layout.create()
    if not any(layout.etcd.iterdir()):
        layout.first_start.touch()


def _ensure_encryption(layout: Layout) -> None:
    """Create the encryption key for Secrets in etcd once; a new key could not decrypt existing Secrets."""
    if layout.encryption.exists():
        return
    key = {"name": "local", "secret": base64.b64encode(secrets.token_bytes(32)).decode()}
    content = {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "EncryptionConfiguration",
        "resources": [{"resources": ["secrets"], "providers": [{"secretbox": {"keys": [key]}}]}],
    }
    write_private(layout.encryption, yaml.safe_dump(content, sort_keys=False))


def _write_stages(layout: Layout, kubernetes: str, options: Mapping[str, Any]) -> None:
    """Write the stages and the simulator's options; nodes report the API server's version."""
    texts = [path.read_text() for path in sorted(_STAGES.glob("*.yaml"))]
    if options:
        own = {"apiVersion": "config.kwok.x-k8s.io/v1alpha1", "kind": "KwokConfiguration", "options": dict(options)}
        texts.append(yaml.safe_dump(own))
    write_private(layout.stages, "---\n".join(texts).replace("@kubernetes@", kubernetes))


def _write_scheduler(layout: Layout, choices: Mapping[str, Any]) -> None:
    """Write the scheduler's own settings, which replace its command line's."""
    content = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        "enableProfiling": False,
        **choices,
        "clientConnection": {
            **choices.get("clientConnection", {}),
            "kubeconfig": str(layout.kubeconfig("kube-scheduler")),
        },
    }
    write_private(layout.scheduler, yaml.safe_dump(content, sort_keys=False))
