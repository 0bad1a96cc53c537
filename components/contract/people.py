"""Stack file model of people and pipelines: who has which role in the cluster, and the bindings that follow."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from components.contract.admission import CLOUD_IDENTITIES
from components.contract.choices import ContractModel, Explained
from components.contract.constraint_violation import Mismatch
from components.contract.namespaces import NamespaceName
from components.contract.people_rights import PeopleRole

RESERVED: Final = ("system:", CLOUD_IDENTITIES)
"""Prefixes of the names of Kubernetes' own and EKS's own users and groups."""

_SHAPE: Final = f"^(?!{'|'.join(RESERVED)})\\S(.*\\S)?$"


def _subject(name: str) -> str:
    if not name or name != name.strip() or not name.isprintable():
        raise ValueError("must be a name without spaces at its ends")
    if name.startswith(RESERVED):
        raise ValueError(
            f"starts with '{next(prefix for prefix in RESERVED if name.startswith(prefix))}', which is reserved for "
            "identities of the cluster itself; name a group or user of your identity provider"
        )
    return name


def _once(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(names)) < len(names):
        raise ValueError("lists a name twice; remove one")
    return names


_Names = Annotated[
    tuple[Annotated[str, AfterValidator(_subject), Field(json_schema_extra={"pattern": _SHAPE})], ...],
    AfterValidator(_once),
]


class Subjects(ContractModel):
    """Groups and users who have a role, by the names that the API server's authentication assigns to them."""

    groups: Annotated[_Names, Explained("A role may have users only.")] = Field(
        (),
        description="Groups: on EKS `groups` of an access entry, on AKS object ids of groups in Entra ID, elsewhere as "
        "the API server's authentication names them.",
        examples=[["ml-team"]],
    )
    users: Annotated[_Names, Explained("Groups stay valid when people join or leave.")] = Field(
        (), description="Users, if no group fits.", examples=[["jane@example.com"]]
    )

    @field_validator("users", mode="after")
    @classmethod
    def _are_some(cls, users: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if not users and info.data.get("groups") == ():
            raise ValueError("and `groups` are both empty; name a group or a user, or remove the entry")
        return users

    @property
    def references(self) -> frozenset["Subject"]:
        """All groups and users as subjects of bindings."""
        return frozenset([("Group", name) for name in self.groups] + [("User", name) for name in self.users])


Subject = tuple[str, str]
"""Kind and name of one subject of a binding."""

_ByNamespace = dict[NamespaceName, Subjects]


class Pipelines(ContractModel):
    """Identities of CI."""

    reads: Annotated[
        Subjects | None,
        Explained("A pipeline reads the cluster only if it compares it with the stack."),
    ] = Field(
        None,
        description="Pipelines that read what `igz-clusters verify` and `drift` compare.",
        examples=[{"groups": ["verify-pipeline"]}],
    )
    applies: Annotated[
        _ByNamespace,
        Explained("Access must be granted explicitly.", "Role bindings in these namespaces."),
    ] = Field(
        {},
        description="Pipelines that apply workloads, by user namespace. Not in namespaces with core services.",
        examples=[{"jobs": {"groups": ["jobs-pipeline"]}}],
    )


class People(ContractModel):
    """Who has which role in the cluster, under ``people``."""

    it_admins: Annotated[
        Subjects | None,
        Explained("Access must be granted explicitly.", "Cluster roles, and an admission policy for nodes."),
    ] = Field(
        None,
        description="IT administrators: read everything but Secrets; label, cordon, taint and drain application "
        "nodes; operate core services.",
        examples=[{"groups": ["it-admins"]}],
    )
    data_scientists: Annotated[
        _ByNamespace,
        Explained("Access must be granted explicitly.", "Role bindings in these namespaces."),
    ] = Field(
        {},
        description="Data scientists, by user namespace: read work and logs; run jobs and functions, unless core "
        "services run there.",
        examples=[{"jobs": {"groups": ["ml-team"]}}],
    )
    ci: Annotated[Pipelines, Explained("The defaults of its keys.")] = Field(
        default_factory=Pipelines,
        description="Pipelines.",
        examples=[{"reads": {"groups": ["verify-pipeline"]}}],
    )

    @property
    def groups(self) -> dict[tuple[str | int, ...], str]:
        """Every group that has a role, by its path below ``people``."""
        return {
            (*path, "groups", index): group
            for path, subjects in self._entries()
            for index, group in enumerate(subjects.groups)
        }

    def _entries(self) -> Iterator[tuple[tuple[str, ...], Subjects]]:
        single = {("itAdmins",): self.it_admins, ("ci", "reads"): self.ci.reads}
        yield from ((path, subjects) for path, subjects in single.items() if subjects)
        for where, by_namespace in ((("dataScientists",), self.data_scientists), (("ci", "applies"), self.ci.applies)):
            yield from (((*where, name), subjects) for name, subjects in by_namespace.items())


@dataclass(frozen=True, slots=True)
class Binding:
    """A role and who has it."""

    role: PeopleRole
    subjects: tuple[Subject, ...]
    """Sorted, so that the stack file's order changes nothing."""
    namespace: str = ""
    """Namespace of the binding; empty means the whole cluster."""


def bindings(people: People, core_namespaces: Collection[str]) -> Iterator[Binding]:
    """Yield the bindings of roles to people, in namespaces and in the whole cluster.

    The author of a pod can mount every Secret of its namespace and act as each of its service accounts. In a namespace
    with core services these belong to MLRun and the operators, so only IT administrators create workloads there. Data
    scientists read there, and run their work through MLRun, Nuclio and Jupyter.

    Parameters
    ----------
    core_namespaces
        Namespaces of the stack in which core services run.
    """
    wide: dict[PeopleRole, list[Subjects | None]] = {
        PeopleRole.CLUSTER_READER: [people.it_admins],
        PeopleRole.IT_ADMIN: [people.it_admins],
        PeopleRole.NODE_READER: [*people.data_scientists.values()],
        PeopleRole.VERIFIER: [people.ci.reads],
    }
    for role, several in wide.items():
        if found := {subject for each in several if each for subject in each.references}:
            yield Binding(role, tuple(sorted(found)))
    held: dict[tuple[PeopleRole, str], frozenset[Subject]] = {}
    for role, where, subjects in _in_namespaces(people, core_namespaces):
        held[role, where] = held.get((role, where), frozenset()) | subjects.references
    for (role, where), references in held.items():
        yield Binding(role, tuple(sorted(references)), where)


def _in_namespaces(people: People, core_namespaces: Collection[str]) -> Iterator[tuple[PeopleRole, str, Subjects]]:
    if admins := people.it_admins:
        for where in sorted(core_namespaces):
            yield PeopleRole.DELIVERY, where, admins
            yield PeopleRole.CORE_SERVICES, where, admins
    for where, subjects in people.data_scientists.items():
        yield PeopleRole.NAMESPACE_READER, where, subjects
        if where not in core_namespaces:
            yield PeopleRole.JOBS, where, subjects
    for where, subjects in people.ci.applies.items():
        yield PeopleRole.NAMESPACE_READER, where, subjects
        yield PeopleRole.DELIVERY, where, subjects


def authors_of_pods(people: People, namespaces: Mapping[str, bool]) -> tuple[str, ...]:
    """Return the keys of the stack file that let users create pods in a namespace without core services.

    ``namespaces`` has the stack's namespaces, and whether core services run in each.
    """
    chosen = (("dataScientists", people.data_scientists), ("ci.applies", people.ci.applies))
    return tuple(f"people.{where}.{name}" for where, names in chosen for name in names if not namespaces.get(name))


_ACTS_AS: Final = (
    "core services run there, and the author of a pod can act as their service accounts; use another namespace, or let "
    "an IT administrator apply workloads"
)


def mismatches(
    people: People, namespaces: Mapping[str, bool], group_problem: Callable[[str], str | None]
) -> Iterator[Mismatch]:
    """Find what does not fit the rest of the stack file; paths begin at ``people``.

    Parameters
    ----------
    namespaces
        User namespaces of the stack, and whether core services run there.
    group_problem
        Returns why a group's name is impossible on this kind of cluster; None if it is possible.
    """
    for where, chosen in ((("dataScientists",), people.data_scientists), (("ci", "applies"), people.ci.applies)):
        for name in chosen:
            if name not in namespaces:
                known = ", ".join(namespaces)
                yield Mismatch(
                    (*where, name), f"is not a namespace of this stack; add it to `namespaces` or use: {known}"
                )
            elif namespaces[name] and where[0] == "ci":
                yield Mismatch((*where, name), _ACTS_AS)
    for path, group in people.groups.items():
        if problem := group_problem(group):
            yield Mismatch(path, problem)
