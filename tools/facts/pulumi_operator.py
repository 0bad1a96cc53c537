"""Generates ``tests/control_plane/pulumi_operator.json``: the fields of the operator's ``Stack`` objects.

``python -m tools.facts.pulumi_operator CHECKOUT --write`` reads them from a checkout of
https://github.com/pulumi/pulumi-kubernetes-operator at ``RELEASE``; ``--check`` compares. The custom resource
definition is in no package registry, so what a test needs of it is kept here: names, types and limits of the fields.
Descriptions are left out, and the fields of a pod template and of the status, which this package does not write.

To move to another release of the operator, raise ``RELEASE`` and ``DIGEST``, and read again what the documents and the
code say about it: docs/operator.md, workbench/pulumi_operator.
"""

import hashlib
import json
import sys
from pathlib import Path
from typing import Any, Final

import yaml

from workbench.system.paths import PROJECT_ROOT

RELEASE: Final = "v2.9.0"
FILE: Final = "deploy/crds/pulumi.com_stacks.yaml"
DIGEST: Final = "d8ce0513bb77d5d57753e521fd42e87a87bdaf7abda1be2584aa23c1c03ea290"
"""SHA-256 of the file in that release."""

VERSION: Final = "v1"
TARGET: Final = PROJECT_ROOT / "tests" / "control_plane" / "pulumi_operator.json"

_SPEC: Final = ("schema", "openAPIV3Schema", "properties", "spec", "properties")
_TEMPLATE: Final = (*_SPEC, "workspaceTemplate", "properties")
_ANY: Final = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_LEFT_OUT: Final = (
    (*_SPEC[:-2], "status"),
    (*_TEMPLATE, "metadata"),
    (*_TEMPLATE, "status"),
    (*_TEMPLATE, "spec", "properties", "podTemplate", "properties", "spec"),
)


def definition(text: bytes) -> dict[str, Any]:
    """Return the custom resource definition in ``text`` without what is left out.

    Raises
    ------
    ValueError
        It is not the file of the release.
    """
    if (digest := hashlib.sha256(text).hexdigest()) != DIGEST:
        raise ValueError(f"{FILE} has the digest {digest}, and {RELEASE} has {DIGEST}")
    document = yaml.load(text, Loader=yaml.CSafeLoader)
    (version,) = (each for each in document["spec"]["versions"] if each["name"] == VERSION)
    for *parents, last in _LEFT_OUT:
        place = version
        for key in parents:
            place = place[key]
        place[last] = _ANY
    kept = {key: version[key] for key in ("name", "schema", "served", "storage", "subresources")}
    spec = {key: document["spec"][key] for key in ("group", "names", "scope")}
    return {
        "apiVersion": document["apiVersion"],
        "kind": document["kind"],
        "metadata": {"name": document["metadata"]["name"], "annotations": {"release": RELEASE, "file": FILE}},
        "spec": {**spec, "versions": [_bare(kept)]},
    }


def _bare(value: Any) -> Any:
    """Return a schema without the descriptions in it."""
    if isinstance(value, dict):
        return {key: _bare(each) for key, each in value.items() if key != "description" or isinstance(each, dict)}
    return [_bare(each) for each in value] if isinstance(value, list) else value


def main(arguments: list[str]) -> None:
    """Write or compare the file."""
    match arguments:
        case [checkout, ("--write" | "--check") as mode]:
            text = json.dumps(definition(Path(checkout, FILE).read_bytes()), separators=(",", ":")) + "\n"
        case _:
            sys.exit("usage: python -m tools.facts.pulumi_operator CHECKOUT --write|--check")
    if mode == "--write":
        TARGET.write_text(text, encoding="utf-8")
    elif TARGET.read_text(encoding="utf-8") != text:
        sys.exit(f"{TARGET.name} differs from {FILE}: run this with --write")


if __name__ == "__main__":
    main(sys.argv[1:])
