"""Prepares an instance's files before its processes start."""

import base64
import secrets
import shutil
from pathlib import Path

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
    settings = Settings(settle(kept.ports), programs, current, known, kept.emulated)
    ensure_pki(layout.pki)
    write_kubeconfigs(layout, settings.ports["kube-apiserver"])
    _ensure_encryption(layout)
    _reset_unfinished_etcd(layout)
    _write_stages(layout, known["kube-apiserver"])
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


def _write_stages(layout: Layout, kubernetes: str) -> None:
    """Write the stages; nodes report the API server's version."""
    texts = [path.read_text() for path in sorted(_STAGES.glob("*.yaml"))]
    write_private(layout.stages, "---\n".join(texts).replace("@kubernetes@", kubernetes))
