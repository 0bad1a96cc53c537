"""An EKS stack on the AWS emulator."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import yaml
from typing_extensions import override

from emulators.aws import credentials
from emulators.aws.client import Emulator, running
from emulators.aws.server import ACCOUNT
from emulators.core.client import Call
from infra.config import CONFIG_KEY
from support.cloud_account import CloudAccount
from support.owners_roles import DEPLOYER, make_owners_roles, owners_roles, session

READS: Final = ("Describe", "List", "Get", "Lookup")
"""How operations begin that change nothing."""


@dataclass(frozen=True)
class Account(CloudAccount):
    """Stacks in one AWS that is a emulator."""

    foreign = ("AWS_",)
    running = staticmethod(running)
    log_in = staticmethod(credentials.install)

    @property
    def aws(self) -> Emulator:
        """The emulator."""
        assert isinstance(self.emulator, Emulator)
        return self.emulator

    @property
    @override
    def cloud_environment(self) -> Mapping[str, str]:
        return {**self.aws.environment, **self._session}

    @cached_property
    def _session(self) -> Mapping[str, str]:
        return session(self.aws.api("sts"), DEPLOYER)

    @override
    def adopt(self, choices: dict[str, Any]) -> None:
        given = choices["cluster"]["accountId"]
        text = yaml.safe_dump(choices).replace(given, ACCOUNT)
        choices.update(yaml.safe_load(text))
        made = self.owners_roles  # of the stacks before, which may share some
        make_owners_roles(self.aws.api("iam"), *(name for name in owners_roles(choices) if name not in made))

    @property
    def owners_roles(self) -> list[str]:
        """Names of the roles that stack files name, and that the account's owner makes."""
        files = sorted(self.stacks.glob("Pulumi.*.yaml"))
        choices = [yaml.safe_load(file.read_text())["config"][CONFIG_KEY] for file in files]
        return list(dict.fromkeys(name for each in choices for name in owners_roles(each)))

    def group(self, prefix: str) -> Mapping[str, Any]:
        """Return the one node group whose name begins so, as EKS describes it."""
        (cluster,) = self.aws.inventory()["aws:eks/cluster:Cluster"]
        eks = self.aws.api("eks")
        names = eks.list_nodegroups(clusterName=cluster)["nodegroups"]
        (name,) = [name for name in names if name.startswith(prefix)]
        found: Mapping[str, Any] = eks.describe_nodegroup(clusterName=cluster, nodegroupName=name)["nodegroup"]
        return found

    def move(self, prefix: str, desired: int) -> None:
        """Give a node group another size, as the autoscaler does it."""
        self.aws.move(self.group(prefix)["resources"]["autoScalingGroups"][0]["name"], desired)


def writes(calls: Sequence[Call]) -> list[Call]:
    """Return the calls that asked AWS to change something."""
    return [call for call in calls if not call.operation.partition(":")[2].startswith(READS)]


def identities(made: Account, stack: str) -> tuple[set[str], set[str]]:
    """Return type and id of what the state of the only stack names in AWS, and of what is there.

    What AWS made by itself, and what belongs to the account's owner, is in neither.
    """
    resources = made.state(stack).get("resources") or []
    named = {f"{each['type']} {each['id']}" for each in resources if each["type"].startswith("aws:")}
    return named, {each for each in there(made) if each.startswith("aws:")}


def there(made: Account) -> set[str]:
    """Return type and id of what is in AWS, also of what AWS made by itself, but not what belongs to the owner."""
    found = {f"{type_} {id_}" for type_, ids in made.aws.inventory().items() for id_ in ids}
    return found - {f"aws:iam/role:Role {role}" for role in made.owners_roles}


def left_by_destroy(made: Account, stack: str) -> set[str]:
    """Destroy the only stack, which has no API server, and return type and id of what is in AWS afterwards."""
    made.destroy(stack)
    return there(made)
