"""What must lie ready before the processes start."""

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
    """Settle ports, certificates, kubeconfigs and settings of an instance that does not run.

    Parameters
    ----------
    layout
        The instance's files.
    programs
        Path by program.
    """
    kept = Settings.load(layout)
    mark = fingerprint(programs)
    known = kept.versions if kept.fingerprint == mark else versions(programs)
    settings = Settings(settle(kept.ports), programs, mark, known)
    ensure_pki(layout.pki)
    write_kubeconfigs(layout, settings.ports["kube-apiserver"])
    _ensure_encryption(layout)
    _clear_half_founded(layout)
    _write_stages(layout, known["kube-apiserver"])
    settings.save(layout)


def _clear_half_founded(layout: Layout) -> None:
    """Begin anew with an etcd that was killed in its first start: it would wait for other members for ever."""
    if layout.founding.exists():
        shutil.rmtree(layout.etcd)
        layout.create()
    if not any(layout.etcd.iterdir()):
        layout.founding.touch()


def _ensure_encryption(layout: Layout) -> None:
    """Make the key of the Secrets in etcd: once, since a new key could not read the old Secrets."""
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
    """Write the stages; nodes claim to run the API server's version."""
    texts = [path.read_text() for path in sorted(_STAGES.glob("*.yaml"))]
    write_private(layout.stages, "---\n".join(texts).replace("@kubernetes@", kubernetes))
