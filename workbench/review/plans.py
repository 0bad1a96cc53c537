"""Plans one stack of a change with its own program, evaluated by its own packs and by those of the base branch.

Without an account, a baseline state of the base branch is built with plug-ins that accept everything, and the change is
planned against it. So even a fork without secrets sees updates and replacements, based on a dated provider snapshot.
"""

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from infra.config import CONFIG_KEY
from policies.unknown_policy import UNKNOWN_VARIABLE
from workbench import stacks
from workbench.engine import cloud, open_session
from workbench.engine.render import choose, offline, passed_on, project_of, with_noop_providers
from workbench.engine.session import policy_packs
from workbench.local import Instance
from workbench.review.own import OwnStack, choices_of
from workbench.review.package import BASE, JUDGE, Package, is_same
from workbench.review.runs import Runs
from workbench.stacks import Stack
from workbench.stacks.policy_overrides import attaching, detached, pack_configuration
from workbench.system import temporary
from workbench.system.errors import UserError
from workbench.toolchain import Toolchain

PLAIN: Final = ("--non-interactive", "--color", "never")
OUTPUT_MAX: Final = 2_000
"""Maximum number of characters that a problem quotes from the end of the engine's output."""

GIVEN: Final = re.compile(
    r"HOME|USER|LOGNAME|KUBECONFIG"
    r"|(AWS|ARM|AZURE|AAD)_\w+"
    r"|(GOOGLE|VAULT)_\w+"
    r"|PULUMI_(HOME|BACKEND_URL|ACCESS_TOKEN|CONFIG_PASSPHRASE(_FILE)?|(DIY|SELF_MANAGED)_\w+)"
    r"|SSL_CERT_(FILE|DIR)|(REQUESTS|CURL)_CA_BUNDLE|(?i:(https?|no|no_grpc|all)_proxy)"
    r"|IGZ_CLUSTERS_\w+"
)
"""The variables that a compared plan sees besides ``passed_on``: how it reaches backend, cloud, cluster and secrets.

Those of Google and Vault are for the backend ``gs://`` and the secrets providers ``gcpkms://`` and ``hashivault://``:
pulumi v3.259.0, pkg/authhelpers/gcpauth.go; go-cloud, secrets/hashivault/vault.go.
"""

_FOR_AZURE: Final = re.compile(r"ACTIONS_ID_TOKEN_REQUEST_(URL|TOKEN)")
"""Variables with which a program requests the workflow's OIDC token. Only Azure's provider and kubelogin need them."""


@dataclass(frozen=True)
class Tools:
    """What every plan of a review needs.

    Parameters
    ----------
    toolchain
        Must hold ``workbench.engine.render.TOOLS``.
    runs
        Terminates all programs when the review ends.
    package
        The package that runs the change's stacks.
    head
        Folder of the change's stack files.
    """

    toolchain: Toolchain
    runs: Runs
    package: Package
    head: Path

    def file(self, name: str) -> Path:
        """Return a stack's file in the change."""
        return stacks.stack_files(self.head)[name]


@dataclass(frozen=True)
class Planned:
    """The plans of one stack.

    Parameters
    ----------
    plan, judged
        Event streams of the change with its own packs and waivers, and with those of the base branch. Empty if the
        engine wrote none.
    """

    plan: bytes = b""
    judged: bytes = b""


Onto: TypeAlias = Callable[[str, Tools], str]
"""Returns the state that a change of a stack is planned against, as ``baseline_state`` does."""


def baseline_state(name: str, tools: Tools) -> str:
    """Return a simulated state of the base branch's stack, as input for ``stack import`` and without protection.

    The engine fails at the first change of a protected resource and would not plan the others.

    Raises
    ------
    UserError
        The base branch's own program fails.
    """
    with temporary.folder("review") as (folder, _):
        environment = _without_account(name, stacks.stack_files()[name], BASE, tools, Path(folder))
        _pulumi(tools, environment, "up", "--yes", "--skip-preview", "--refresh=false", *PLAIN)
        # In plain text, so that it can be imported with another passphrase; it contains no real secret.
        exported = _pulumi(tools, environment, "stack", "export", "--show-secrets", *PLAIN)
    state = json.loads(exported)
    for resource in state["deployment"].get("resources", ()):
        resource.pop("protect", None)
    return json.dumps(state)


def offline_plan(name: str, head: OwnStack, state: str, tools: Tools) -> Planned:
    """Plan a stack of the change against a state, without an account; an empty state means a new stack."""
    with temporary.folder("review") as (folder, _):
        environment = _without_account(name, tools.file(name), tools.package, tools, Path(folder))
        if state:
            _pulumi(tools, environment, "stack", "import", "--force", *PLAIN, stdin=state)
        return _planned(name, head, environment, tools, Path(folder), "--refresh=false")


def compared_plan(name: str, base: Stack | None, head: OwnStack, tools: Tools) -> Planned:
    """Plan a stack of the change against the live stack, with the user's backend and credentials.

    The change's program sees only the caller's variables that it needs (``GIVEN``).

    Parameters
    ----------
    name, head
        The stack.
    base
        The stack in the base branch; None if it is new.
    tools
        What every plan needs.
    """
    file = tools.file(name)
    with temporary.folder("review") as (folder, _):
        # A copy, since the engine may modify it.
        copy = Path(folder) / file.name
        for each in filter(None, (file, stacks.base_of(file))):
            (Path(folder) / each.name).write_bytes(each.read_bytes())
        environment = {**_given(os.environ), **cloud.variables(name, copy, tools.toolchain)}
        if base and base.is_local:
            session = open_session(base, tools.toolchain, Instance(name).kubeconfig)
            copy.write_bytes(Path(session.environment["PULUMI_OPTION_CONFIG_FILE"]).read_bytes())
            choose(copy, {CONFIG_KEY: choices_of(file)})
            own = {**_given(session.whole_environment()), **session.environment}
            environment = {**detached(own), "PULUMI_OPTION_CONFIG_FILE": str(copy)}
        return _planned(name, head, environment, tools, Path(folder))


def _given(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a compared plan may see."""
    with_github = variables.get("ARM_USE_OIDC") == "true" or variables.get("AAD_LOGIN_METHOD") == "workloadidentity"
    chosen = [GIVEN, _FOR_AZURE] if with_github else [GIVEN]
    given = {name: value for name, value in variables.items() if any(each.fullmatch(name) for each in chosen)}
    return {**passed_on(), **given}


def _without_account(name: str, file: Path, package: Package, tools: Tools, folder: Path) -> dict[str, str]:
    """Return the environment of an isolated run, and create its stack."""
    variables = with_noop_providers(offline(name, choices_of(file), tools.toolchain, folder), package.python)
    environment = {**passed_on(), **variables}
    init = ("stack", "init", name, "--no-select", *PLAIN)
    _pulumi(tools, environment, *init, folder=project_of(folder))
    return environment


def _pulumi(
    tools: Tools, environment: Mapping[str, str], *arguments: str, folder: Path = BASE.root, stdin: str = ""
) -> str:
    """Run the engine and return its output; raises ``UserError`` if it fails."""
    ended = tools.runs.run([tools.toolchain.pulumi, *arguments], folder=folder, environment=environment, stdin=stdin)
    if ended.returncode:
        output = f"{ended.stdout}\n{ended.stderr}".strip()[-OUTPUT_MAX:]
        raise UserError(f"`pulumi {' '.join(arguments[:2])}` failed:\n{output}")
    return ended.stdout


def _planned(
    name: str, head: OwnStack, environment: Mapping[str, str], tools: Tools, folder: Path, *options: str
) -> Planned:
    """Plan with both sets of packs; only once if they are the same."""
    theirs, ours = head.packs, pack_configuration(name)
    package, configuration = tools.package, folder / "policies.json"
    attached = attaching(policy_packs(package.root), theirs, configuration)
    plan, output = _stream({**environment, **attached}, tools, folder, *options)
    judged = plan
    if theirs != ours or (package != BASE and not is_same(BASE.root, package.root, JUDGE)):
        attached = attaching(policy_packs(), ours, configuration)
        judged, _ = _stream({**environment, **attached}, tools, folder, *options)
    if not plan:
        raise UserError(f"The engine could not plan {name}:\n{output[-OUTPUT_MAX:]}")
    return Planned(plan, judged)


def _stream(environment: Mapping[str, str], tools: Tools, folder: Path, *options: str) -> tuple[bytes, str]:
    """Return the event stream of a preview and the engine's final output."""
    events = folder / "events.jsonl"
    events.unlink(missing_ok=True)
    ended = tools.runs.run(
        [tools.toolchain.pulumi, "preview", "--event-log", str(events), *options, *PLAIN],
        folder=tools.package.root,
        # A rule that cannot be evaluated must not let a change pass.
        environment={**environment, "TMPDIR": str(folder), "PULUMI_DEBUG_COMMANDS": "true", UNKNOWN_VARIABLE: "fail"},
    )
    return events.read_bytes() if events.exists() else b"", (ended.stderr or ended.stdout).strip()
