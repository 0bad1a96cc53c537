"""The bill of materials: what an installed igz-clusters runs, and what its tools are built from.

CycloneDX 1.6 as JSON. The same commit always gives the same text.
"""

from collections.abc import Iterator
from importlib.metadata import distribution
from typing import Final
from uuid import NAMESPACE_URL, uuid5

from cyclonedx.contrib.hash.factories import HashTypeFactory
from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import ExternalReference, ExternalReferenceType, Property, XsUri
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.dependency import Dependency
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from tools.release.checks import Release
from tools.supply_chain import go_modules, requirements
from tools.supply_chain.licences import Table
from tools.supply_chain.requirements import Pin
from tools.supply_chain.runtime import PACKAGE, dependencies

SUM: Final = "igz-clusters:go.sum"
"""Property of a Go module: its hashes as Go's checksum database has them, of content and ``go.mod``."""

USED_BY: Final = "igz-clusters:toolchain"
"""Property of a Go module: a folder of ``toolchain/`` that requires it."""


def document(release: Release) -> str:
    """Return the bill of materials of a release.

    Raises
    ------
    KeyError
        An installed package that the release needs has no pin.
    """
    needed = dependencies()
    pinned, table = requirements.pins(), Table.load()
    packages = {name: _package(pinned[name], table) for name in needed if name != PACKAGE}
    itself = Component(
        name=PACKAGE,
        version=release.version,
        type=ComponentType.APPLICATION,
        purl=PackageURL("pypi", name=PACKAGE, version=release.version),
        bom_ref=PACKAGE,
        properties=[Property(name="igz-clusters:commit", value=release.commit)],
    )
    modules = list(_modules())
    links = {packages.get(name, itself): [packages[each] for each in of_it] for name, of_it in needed.items()}
    links[itself] += modules
    bom = Bom(
        serial_number=uuid5(NAMESPACE_URL, f"{PACKAGE}@{release.commit}"),
        metadata=BomMetaData(component=itself, timestamp=release.time),
        components=[*packages.values(), *modules],
        dependencies=[_link(user, used) for user, used in links.items()] + [_link(module, []) for module in modules],
    )
    return JsonV1Dot6(bom).output_as_string(indent=2) + "\n"


def _link(user: Component, used: list[Component]) -> Dependency:
    return Dependency(user.bom_ref, [Dependency(each.bom_ref) for each in used])


def _package(pin: Pin, table: Table) -> Component:
    """Return a Python package; the hashes are those of all files of its version, of which pip takes one."""
    url = PackageURL("pypi", name=pin.name, version=pin.version)
    licence = table.licence(distribution(pin.name))
    return Component(
        name=pin.name,
        version=pin.version,
        purl=url,
        bom_ref=url.to_string(),
        licenses=[LicenseFactory().make_from_string(licence)] if licence else [],
        external_references=[
            ExternalReference(
                type=ExternalReferenceType.DISTRIBUTION,
                url=XsUri(url.to_string()),
                hashes=[HashTypeFactory().from_composite_str(each) for each in pin.hashes],
            )
        ],
    )


def _modules() -> Iterator[Component]:
    """Yield the Go modules, each once."""
    users = dict[go_modules.Module, list[str]]()
    for folder in go_modules.folders():
        for module in go_modules.modules(folder):
            users.setdefault(module, []).append(folder.name)
    for module, folders in sorted(users.items()):
        namespace, _, name = module.path.rpartition("/")
        url = PackageURL("golang", namespace or None, name, module.version)
        sums = [Property(name=SUM, value=each) for each in module.sums]
        yield Component(
            name=module.path,
            version=module.version,
            purl=url,
            bom_ref=url.to_string(),
            properties=[*sums, *(Property(name=USED_BY, value=folder) for folder in folders)],
        )
