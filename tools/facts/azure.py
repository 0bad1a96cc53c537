"""Generates ``workbench/offline/azure/facts.py``: what each Azure input is, where it goes, what a change of it does.

Run ``python -m tools.facts.azure --check`` to compare the checked-in file with its sources, ``--write`` to replace
it. Both work without a network. What comes from where:

- Names, types, enumerations, which inputs are required, outputs and the version of the API, generated: the classes of
  the installed ``pulumi-azure-native``, which Pulumi generates from Microsoft's REST descriptions of that version.
- Where an input goes in a request's body, generated: the models of ``azure-mgmt-containerservice`` and
  ``azure-mgmt-network``, Microsoft's own. They are of a newer version of the API than the classes. Types that they do
  not have keep everything but ``ENVELOPE`` in ``properties``, as ARM asks.
- Paths of ids, what replaces a resource and the forms of names, kept by hand in ``UPSTREAM``: the plug-in's metadata is
  not in a package. Read on ``READ_ON`` in stored copies of ``provider/pkg/gen/replacement.go``, ``properties.go`` and
  ``provider/pkg/provider/diff.go`` of pulumi/pulumi-azure-native (the first one as of its pull request 4771, of July
  2026, which release 3.29.0 is younger than) and of the files of Azure/azure-rest-api-specs that the table names.

What replaces: every part of the id, what ``forceNewMap`` lists, and what the REST description marks as mutable at
creation only. Only inputs of the resource and one level below can; the plug-in looks no deeper.

To move to a newer ``pulumi-azure-native`` raise its pin, read the files again and set ``READ_ON``.
"""

import inspect
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import version
from typing import Any, Final, NamedTuple, get_args, get_type_hints

from tools.facts import sdk_inputs
from tools.facts.sdk_inputs import Declared, inputs, tuple_of, wrapped
from workbench.system.errors import UserError
from workbench.system.paths import PROJECT_ROOT

READ_ON: Final = "2026-11-21"
"""When the files were last read; a constant, so that a run on another day is equal."""

TARGET: Final = PROJECT_ROOT / "workbench" / "offline" / "azure" / "facts.py"

ENVELOPE: Final = frozenset({"identity", "kind", "location", "managedBy", "tags"})
"""What ARM keeps beside ``properties``, whatever the type."""

MODELS: Final = {"containerservice": "azure.mgmt.containerservice.models", "network": "azure.mgmt.network.models"}
"""Microsoft's models by module of ``pulumi_azure_native``."""

READ_ONLY: Final = ["read"]


class Upstream(NamedTuple):
    """What the sources of one resource say.

    Parameters
    ----------
    id
        Path of its ARM id.
    described_in
        File of Azure/azure-rest-api-specs.
    replaces
        Inputs of the body whose change replaces the resource, as Pulumi spells them.
    required
        Inputs that the plug-in requires, though it may fill them in itself.
    kept
        Lists of what is also a resource of its own: an update without one leaves what is there.
    apart
        Inputs that hold whole other resources; what is inside them is not described.
    open
        Inputs whose enumeration lists some of the values that Azure takes; the others, of AKS and of networks, list all
        of their version of the API, though every one could grow.
    keys
        Lists of texts that Azure takes as a map with empty values.
    forms
        Pattern of a name, by input.
    """

    id: str
    described_in: str
    replaces: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    forms: Mapping[str, str] = {}


_GROUP: Final = "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}"
_CLUSTER: Final = f"{_GROUP}/providers/Microsoft.ContainerService/managedClusters/{{resourceName}}"
_NETWORK: Final = f"{_GROUP}/providers/Microsoft.Network"
_AKS: Final = "containerservice/resource-manager/Microsoft.ContainerService/aks/stable/2025-09-01/managedClusters.json"
_NETWORK_FILES: Final = "network/resource-manager/Microsoft.Network/stable/2024-05-01"
_CLUSTER_NAME: Final = r"[a-zA-Z0-9]([-_a-zA-Z0-9]{0,61}[a-zA-Z0-9])?"
_GROUP_NAME: Final = {"resourceGroupName": r"[-\w\._\(\)]{1,90}"}
_IDENTITIES: Final = ("identity.userAssignedIdentities",)
_INSIDE_SUBNETS: Final = (
    "applicationGatewayIPConfigurations",
    "networkSecurityGroup",
    "routeTable",
    "serviceEndpointPolicies",
)

UPSTREAM: Final[Mapping[str, Upstream]] = {
    "authorization.RoleAssignment": Upstream(
        "/{scope}/providers/Microsoft.Authorization/roleAssignments/{roleAssignmentName}",
        "authorization/resource-manager/Microsoft.Authorization/stable/2022-04-01/"
        "authorization-RoleAssignmentsCalls.json",
        ("principalId",),
    ),
    "containerservice.AgentPool": Upstream(
        f"{_CLUSTER}/agentPools/{{agentPoolName}}",
        _AKS,
        ("gpuInstanceProfile", "networkProfile.nodePublicIPTags", "vmSize"),
        forms={**_GROUP_NAME, "resourceName": _CLUSTER_NAME, "agentPoolName": "[a-z][a-z0-9]{0,11}"},
    ),
    "containerservice.MaintenanceConfiguration": Upstream(
        f"{_CLUSTER}/maintenanceConfigurations/{{configName}}",
        _AKS,
        forms={**_GROUP_NAME, "resourceName": _CLUSTER_NAME},
    ),
    "containerservice.ManagedCluster": Upstream(
        _CLUSTER,
        _AKS,
        (
            "diskEncryptionSetID",
            "dnsPrefix",
            "fqdnSubdomain",
            "linuxProfile",
            "location",
            "networkProfile.dnsServiceIP",
            "networkProfile.networkDataplane",
            "networkProfile.networkMode",
            "networkProfile.networkPlugin",
            "networkProfile.networkPluginMode",
            "networkProfile.networkPolicy",
            "networkProfile.outboundType",
            "networkProfile.podCidr",
            "networkProfile.serviceCidr",
            "networkProfile.serviceCidrs",
            "nodeResourceGroup",
            "windowsProfile",
        ),
        ("location",),
        keys=_IDENTITIES,
        forms={**_GROUP_NAME, "resourceName": _CLUSTER_NAME},
    ),
    "managedidentity.UserAssignedIdentity": Upstream(
        f"{_GROUP}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/{{resourceName}}",
        "msi/resource-manager/Microsoft.ManagedIdentity/stable/2023-01-31/ManagedIdentity.json",
        ("location",),
        ("location",),
        forms=_GROUP_NAME,
    ),
    "monitor.DataCollectionRule": Upstream(
        f"{_GROUP}/providers/Microsoft.Insights/dataCollectionRules/{{dataCollectionRuleName}}",
        "monitor/resource-manager/Microsoft.Insights/stable/2022-06-01/dataCollectionRules_API.json",
        ("location",),
        ("location",),
        # Every table of Azure Monitor is a stream.
        open=("dataFlows[].streams", "dataSources.extensions[].streams"),
        keys=_IDENTITIES,
        forms=_GROUP_NAME,
    ),
    "monitor.DataCollectionRuleAssociation": Upstream(
        "/{resourceUri}/providers/Microsoft.Insights/dataCollectionRuleAssociations/{associationName}",
        "monitor/resource-manager/Microsoft.Insights/stable/2022-06-01/dataCollectionRuleAssociations_API.json",
    ),
    "monitor.DiagnosticSetting": Upstream(
        "/{resourceUri}/providers/Microsoft.Insights/diagnosticSettings/{name}",
        "monitor/resource-manager/Microsoft.Insights/preview/2021-05-01-preview/diagnosticsSettings_API.json",
    ),
    "network.NatGateway": Upstream(
        f"{_NETWORK}/natGateways/{{natGatewayName}}", f"{_NETWORK_FILES}/natGateway.json", forms=_GROUP_NAME
    ),
    "network.NetworkSecurityGroup": Upstream(
        f"{_NETWORK}/networkSecurityGroups/{{networkSecurityGroupName}}",
        f"{_NETWORK_FILES}/networkSecurityGroup.json",
        kept=("securityRules",),
        forms=_GROUP_NAME,
    ),
    "network.PublicIPAddress": Upstream(
        f"{_NETWORK}/publicIPAddresses/{{publicIpAddressName}}",
        f"{_NETWORK_FILES}/publicIpAddress.json",
        ("location", "publicIPAddressVersion", "publicIPPrefix", "sku"),
        apart=("linkedPublicIPAddress", "natGateway", "servicePublicIPAddress"),
        forms=_GROUP_NAME,
    ),
    "network.Subnet": Upstream(
        f"{_NETWORK}/virtualNetworks/{{virtualNetworkName}}/subnets/{{subnetName}}",
        f"{_NETWORK_FILES}/virtualNetwork.json",
        apart=_INSIDE_SUBNETS,
        forms=_GROUP_NAME,
    ),
    "network.VirtualNetwork": Upstream(
        f"{_NETWORK}/virtualNetworks/{{virtualNetworkName}}",
        f"{_NETWORK_FILES}/virtualNetwork.json",
        ("location",),
        kept=("subnets", "virtualNetworkPeerings"),
        apart=("subnets", "virtualNetworkPeerings"),
        forms=_GROUP_NAME,
    ),
    "operationalinsights.Workspace": Upstream(
        f"{_GROUP}/providers/Microsoft.OperationalInsights/workspaces/{{workspaceName}}",
        "operationalinsights/resource-manager/Microsoft.OperationalInsights/stable/2023-09-01/Workspaces.json",
        ("location",),
        ("location",),
        keys=_IDENTITIES,
        forms={**_GROUP_NAME, "workspaceName": "[A-Za-z0-9][A-Za-z0-9-]{2,61}[A-Za-z0-9]"},
    ),
    "resources.ResourceGroup": Upstream(
        _GROUP,
        "resources/resource-manager/Microsoft.Resources/stable/2024-03-01/resources.json",
        ("location",),
        ("location",),
        forms=_GROUP_NAME,
    ),
}
"""The resources that the offline provider knows, by module and class in ``pulumi_azure_native``."""


class Row(NamedTuple):
    """One input, in the order of the generated tuples."""

    path: str
    kind: str
    required: bool
    change: str
    place: str
    values: str


def rows(resource: str) -> list[Row]:
    """Return the facts about every input of a resource, outer inputs before inner ones.

    Raises
    ------
    UserError
        The table names an input that the installed ``pulumi-azure-native`` does not have; all of them are listed.
    """
    known = UPSTREAM[resource]
    declared = [each for each in inputs(_arguments(resource)) if not _inside(each.path, known.apart)]
    named = {*known.replaces, *known.required, *known.kept, *known.apart, *known.open, *known.keys, *known.forms}
    if unknown := sorted(named - {each.path for each in declared}):
        raise UserError(f"UPSTREAM names inputs that {resource} does not have: {', '.join(unknown)}")
    places = _places(resource, declared)
    return [_row(known, each, places[each.path]) for each in declared]


def _row(known: Upstream, declared: Declared, place: str) -> Row:
    path = declared.path
    kind = "keys" if path in known.keys else "resource" if path in known.apart else declared.kind
    change = "replace" if place.startswith("{") or path in known.replaces else "update"
    values = declared.enumeration.__name__ if declared.enumeration and path not in known.open else ""
    return Row(path, kind, declared.required or path in known.required, change, place, values)


def _inside(path: str, outer: Sequence[str]) -> bool:
    return path.startswith(tuple(f"{each}{into}" for each in outer for into in (".", "[]")))


def _class(resource: str) -> Any:
    module, _, name = resource.partition(".")
    return getattr(import_module(f"pulumi_azure_native.{module}"), name)


def _arguments(resource: str) -> Any:
    """Return the class of a resource's arguments; it has another name where one of an inner object has this one."""
    name, module = resource.partition(".")[2], sys.modules[_class(resource).__module__]
    return getattr(module, f"{name}InitArgs", None) or getattr(module, f"{name}Args")


def token(resource: str) -> str:
    """Return the type token of a resource, such as ``azure-native:containerservice:AgentPool``."""
    return f"azure-native:{resource.replace('.', ':')}"


def api_version(resource: str) -> str:
    """Return the version of the API that the plug-in uses for a resource, as its class says."""
    # In the docstring of an overload, which only the source has.
    found = re.search(r"Uses Azure REST API version (\S+)\.\s", inspect.getsource(_class(resource)))
    if not found:
        raise UserError(f"The class of {resource} does not say which version of the API it uses.")
    return found[1]


# --- Where an input goes ----------------------------------------------------------------------------------------------


def _places(resource: str, declared: Sequence[Declared]) -> dict[str, str]:
    """Return the place of each input in the object around it; a part of the id in braces."""
    module, _, name = resource.partition(".")
    in_id = set(re.findall(r"{(\w+)}", UPSTREAM[resource].id))
    models: dict[str, Any] = {"": getattr(import_module(MODELS[module]), name) if module in MODELS else None}
    places = {}
    for path in (each.path for each in declared):
        outer, _, own = path.rpartition(".")
        around = models.get(outer.rstrip("[]{}"))
        found = _member(around, own) if around else None
        models[path] = found[1] if found else None
        places[path] = f"{{{own}}}" if path in in_id else found[0] if found else _usual(outer, around, own)
    return places


def _usual(outer: str, around: Any, name: str) -> str:
    """Return where an input goes that no model has, or of whose type there is none."""
    has_properties = "properties" in _members(around) if around else not outer
    beside = name in ENVELOPE or (around and name in {"etag", "id", "name", "type"})
    return name if beside or not has_properties else f"properties.{name}"


def _member(model: Any, name: str) -> tuple[str, Any] | None:
    """Return the place of an input in a model or in the ``properties`` of it, and the model of what is there."""
    members = _members(model)
    for member, inner in members.items():
        if member.replace("-", "").lower() == name.lower():
            return member, inner
    found = _member(members["properties"], name) if members.get("properties") else None
    return (f"properties.{found[0]}", found[1]) if found else None


@cache
def _members(model: Any) -> dict[str, Any]:
    """Return the members of a model that may be written, and the model of what each is or holds."""
    model({})  # a model reads its own fields when the first one is made
    hints = get_type_hints(model, localns={"_models": import_module(model.__module__.rpartition(".")[0])})
    fields = model._attr_to_rest_field.items()  # noqa: SLF001 no public name
    return {
        field._rest_name: _innermost(hints[name])  # noqa: SLF001 no public name
        for name, field in fields
        if field._visibility != READ_ONLY  # noqa: SLF001 no public name
    }


def _innermost(hint: Any) -> Any:
    """Return the model that a type is or holds, None if there is none."""
    if inspect.isclass(hint) and any(base.__module__.endswith("model_base") for base in hint.__mro__):
        return hint
    return next((found for each in get_args(hint) if (found := _innermost(each))), None)


# --- Outputs ----------------------------------------------------------------------------------------------------------


def outputs(resource: str) -> list[str]:
    """Return the paths of what only Azure says, at the top and inside the objects that are inputs."""
    from pulumi._types import resource_types  # noqa: PLC0415 only the generator needs it

    known, apart = {each.path for each in inputs(_arguments(resource))}, UPSTREAM[resource].apart
    found = _outputs(resource_types(_class(resource)), "", known)
    return sorted(path for path in found if not _inside(path, apart))


def _outputs(types: Mapping[str, Any], prefix: str, known: set[str]) -> Iterator[str]:
    from pulumi._types import output_type_types  # noqa: PLC0415 only the generator needs it

    for name, declared in types.items():
        path = f"{prefix}{name}"
        if path not in known:
            yield path
        elif inspect.isclass(declared) and declared.__module__.endswith(".outputs"):
            yield from _outputs(output_type_types(declared), f"{path}.", known)


# --- The text ---------------------------------------------------------------------------------------------------------


def generate() -> str:
    """Return the text of the module, as the formatter would leave it."""
    lines = [
        '"""Inputs of the Azure resources that we use. Generated by ``tools/facts/azure.py``; do not edit by hand.',
        "",
        "That script's docstring tells which facts come from which source and which are kept by hand.",
        '"""',
        "",
        "from typing import Final",
        "",
        f'FACTS_DATE: Final = "{READ_ON}"',
        "",
        f'PROVIDER_VERSION: Final = "{version("pulumi-azure-native")}"',
        '"""Release of ``pulumi-azure-native`` whose classes were read."""',
        "",
        "API_VERSIONS: Final = {",
        *(f'    "{token(name)}": "{api_version(name)}",' for name in UPSTREAM),
        "}",
        '"""Version of the API by type."""',
        "",
        "IDS: Final = {",
        *(_entry(name, known.id) for name, known in UPSTREAM.items()),
        "}",
        '"""Path of the id by type."""',
        "",
        "SOURCES: Final = {",
        *(_entry(name, known.described_in) for name, known in UPSTREAM.items()),
        "}",
        '"""File below ``specification`` of Azure/azure-rest-api-specs by type."""',
        "",
        "KEPT: Final[dict[str, tuple[str, ...]]] = {",
        *(f'    "{token(name)}": {tuple_of(known.kept)},' for name, known in UPSTREAM.items() if known.kept),
        "}",
        '"""Lists of what is also a resource of its own, by type: an update without one leaves what is there."""',
        "",
        "FORMS: Final[dict[str, dict[str, str]]] = {",
        *(line for name, known in UPSTREAM.items() if known.forms for line in _forms(name, known.forms)),
        "}",
        '"""Pattern of a whole name, by type and input."""',
        "",
        "OUTPUTS: Final[dict[str, tuple[str, ...]]] = {",
        *(line for name in UPSTREAM for line in _listed(token(name), outputs(name))),
        "}",
        '"""What only Azure says, by type: at the top, and inside objects that are inputs."""',
        "",
        "VALUES: Final[dict[str, tuple[str | int, ...]]] = {",
        *(line for name, values in _enumerations().items() for line in _listed(name, values)),
        "}",
        '"""Enumerations by name."""',
        "",
        "FACTS: Final[dict[str, tuple[tuple[str, str, bool, str, str, str], ...]]] = {",
        "    # input, kind, required, what a change does, its place in the object around it, its enumeration",
    ]
    for name in UPSTREAM:
        lines += [f'    "{token(name)}": (', *map(_line, rows(name)), "    ),"]
    return "\n".join([*lines, "}", ""])


def _enumerations() -> dict[str, list[str | int]]:
    found: dict[str, list[str | int]] = {}
    for resource in UPSTREAM:
        used = {row.values for row in rows(resource)}
        for declared in inputs(_arguments(resource)):
            enumeration = declared.enumeration
            if enumeration and enumeration.__name__ in used:
                values = [int(each.value) if isinstance(each.value, float) else each.value for each in enumeration]
                if found.setdefault(enumeration.__name__, values) != values:
                    raise UserError(f"Two enumerations are called {enumeration.__name__}.")
    return dict(sorted(found.items()))


def _entry(name: str, text: str) -> str:
    line = f'    "{token(name)}": "{text}",'
    return line if len(line) <= sdk_inputs.LINE_LENGTH else f'    "{token(name)}": (\n        "{text}"\n    ),'


def _forms(name: str, forms: Mapping[str, str]) -> Iterator[str]:
    yield f'    "{token(name)}": {{'
    yield from (f"        {json.dumps(path)}: {json.dumps(form)}," for path, form in forms.items())
    yield "    },"


def _listed(name: str, values: Sequence[str | int]) -> Iterator[str]:
    line = f"    {json.dumps(name)}: ({', '.join(map(json.dumps, values))}{',' if len(values) == 1 else ''}),"
    if len(line) <= sdk_inputs.LINE_LENGTH:
        yield line
    else:
        yield f"    {json.dumps(name)}: ("
        yield from (f"        {json.dumps(value)}," for value in values)
        yield "    ),"


def _line(row: Row) -> str:
    texts = (json.dumps(each) if isinstance(each, str) else str(each) for each in row)
    return wrapped("        (", *texts)


def main(arguments: Sequence[str]) -> int:
    """Run the command line and return the exit code."""
    return sdk_inputs.main("tools.facts.azure", __doc__ or "", TARGET, generate, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
