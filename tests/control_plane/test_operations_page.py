"""docs/operations.md: each failure happens, is seen as the page words it, and is repaired by the commands there."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

import pytest

from emulators.core.faults import (
    ErrorRule,
    FailedRule,
    LostRule,
    Rule,
    StuckRule,
)
from support.aws_emulator import Account, identities
from support.cloud_faults import calls_begun
from support.failure_scenes import (
    BROKEN,
    CREATE,
    NO_SPOT,
    NOT_AUTHORIZED,
    POOL,
    SCENES,
    SLOW,
    SPOT,
    UP,
    failed,
    pool,
)
from support.lives import SMALL
from support.runbooks import NOT_RUN, assert_shown, execute, follow
from support.sampled import sampled
from workbench.system.paths import PROJECT_ROOT

pytestmark = pytest.mark.control_plane

PAGE: Final = PROJECT_ROOT / "docs/operations.md"
TEXT: Final = PAGE.read_text()
INLINE: Final = re.compile(r"`(?:igz-clusters|pulumi|aws|kubectl) [^`]+`")
"""A command outside of the blocks that are run."""
LIKE_KILLS: Final = {"A plug-in crashed", "A minimum above the live size", "An upgrade of more than one minor"}
"""Failures after which test_cloud_recovery.py and test_eks_changes.py run the same commands."""
LAST: Final = "igz-clusters up dev"
"""With what most runbooks end."""


@dataclass(frozen=True)
class Runbook:
    """One section of the page.

    Parameters
    ----------
    seen, repaired
        What is printed before and after the commands; ``…`` stands for any text.
    commands
        Lines for a shell, and changes of the stack file.
    """

    seen: Sequence[str]
    commands: Sequence[str]
    repaired: Sequence[str]


def _read() -> dict[str, Runbook]:
    found = {}
    for section in re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]:
        blocks = re.findall(r"^```(\w+)\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
        if blocks:
            assert [language for language, _ in blocks] == ["text", "sh", "text"], section
            found[section.partition("\n")[0]] = Runbook(*(block.splitlines() for _, block in blocks))
    return found


RUNBOOKS: Final = _read()

GROUPS: Final[Mapping[str, tuple[str, Rule]]] = {
    "A node group is CREATE_FAILED": (
        "broken",
        FailedRule(operation=CREATE, about="*-broken-*", issues=(BROKEN,)),
    ),
    "No spot capacity": ("scarce", FailedRule(operation=CREATE, about="*-scarce-*", issues=(NO_SPOT,))),
    "Throttling": (
        "throttled",
        ErrorRule(
            operation=CREATE, about="*-throttled-*", code="ThrottlingException", status=429, message="Rate exceeded"
        ),
    ),
    "Access denied": (
        "denied",
        ErrorRule(
            operation=CREATE, about="*-denied-*", code="AccessDeniedException", status=403, message=NOT_AUTHORIZED
        ),
    ),
    "An answer was lost": ("lost", LostRule(operation=CREATE, about="*-lost-*")),
    "A creation is stuck": ("stuck", StuckRule(operation=CREATE, about="*-stuck-*")),
}
"""What happens to one group and to no other, by pool: it happens in one `up`, and the last command repairs it all."""


@pytest.fixture(scope="module")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Account]:
    """The smallest stack, one version behind."""
    with Account.opened(tmp_path_factory.mktemp("operations"), "dev", is_quick=True) as made:
        made.edit(
            "dev",
            policyGuard="off",
            cluster__version="1.34",
            cluster__addonVersions={"kube-proxy": "v1.34.0-eksbuild.2"},
            **SMALL,
        )
        made.plain("dev", "up", "--yes", "--skip-preview")
        yield made


@pytest.fixture(autouse=True)
def no_faults_left(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "dev" in request.fixturenames:
        request.getfixturevalue("dev").aws.set_faults()


def of_pool(lines: Sequence[str], name: str) -> list[str]:
    """Return lines of the page that are about this pool's group where they are about some group."""
    return [line.replace("dev-…", f"dev-{name}…") for line in lines]


@pytest.mark.full
def test_what_happens_to_groups_is_mended_by_the_commands_of_each_runbook(dev: Account) -> None:
    rules = [rule for _, rule in GROUPS.values()]
    with ExitStack() as pools:
        for name, _ in GROUPS.values():
            pools.enter_context(pool(dev, name, SPOT if name == "scarce" else POOL))
        dev.aws.set_faults(SLOW, *rules)
        last = dev.last
        run = dev.start(*UP, AWS_MAX_ATTEMPTS="3")  # all of them in vain
        calls_begun(dev, run, CREATE, len(GROUPS), last)  # after the first failure the engine would begin nothing more
        dev.aws.set_faults(*rules)
        printed = failed(dev, run)
        for title, (name, _) in GROUPS.items():
            assert_shown(of_pool(RUNBOOKS[title].seen, name), printed)
        made = dev.aws.api("eks").list_nodegroups(clusterName="mlrun-dev")["nodegroups"]
        told = {}
        for title, (name, _) in GROUPS.items():
            *commands, last = RUNBOOKS[title].commands
            assert last == LAST
            group = next((each for each in made if each.startswith(f"dev-{name}-")), "")
            told[title] = follow(dev, commands, {"POOL": name, "GROUP": group})
        repaired = execute(dev, LAST)
        for title, (name, _) in GROUPS.items():
            assert_shown(of_pool(RUNBOOKS[title].repaired, name), told[title] + repaired)
            assert dev.group(f"dev-{name}-")["status"] == "ACTIVE"
        in_state, in_aws = identities(dev, "dev")
        assert in_state == in_aws


@pytest.mark.full
@pytest.mark.parametrize("title", sampled(SCENES, SCENES.keys() - LIKE_KILLS, others=pytest.mark.kills))
def test_its_commands_mend_what_it_is_about(dev: Account, title: str) -> None:
    runbook = RUNBOOKS[title]
    with SCENES[title](dev) as scene:
        assert_shown(runbook.seen, scene.printed)
        assert_shown(runbook.repaired, follow(dev, runbook.commands, scene.names))
        in_state, in_aws = identities(dev, "dev")
        assert in_state == in_aws


def test_every_runbook_is_about_a_failure_that_is_tried() -> None:
    assert set(RUNBOOKS) == {*GROUPS, *SCENES}


def test_what_is_not_run_is_marked_and_needs_what_is_not_here() -> None:
    marked = [line for runbook in RUNBOOKS.values() for line in runbook.commands if NOT_RUN in line]
    assert [line.partition(" --")[0].partition(" #")[0] for line in marked] == [
        "aws iam simulate-principal-policy",
        "aws sso login",
    ]
    prose = re.sub(r"^```.*?^```$", "", TEXT, flags=re.MULTILINE | re.DOTALL)
    inline = [each for each in prose.split("\n\n") if INLINE.search(each)]
    assert [each for each in inline if "*not run*" not in each] == []
