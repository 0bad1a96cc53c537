"""What stacks on EKS need of an emulator of AWS."""

import json
import sys
from pathlib import Path
from typing import Any, Final

from components.contract.eks.config import EksConfig
from emulators.aws.client import Emulator
from emulators.core.client import IMPORTABLE
from workbench.engine.render import install
from workbench.offline.aws.facts import facts
from workbench.system.errors import UserError

_TRUST: Final = json.dumps({"Version": "2012-10-17", "Statement": []})
"""Empty, since the roles are never assumed here."""


def install_plug_in(home: Path) -> None:
    """Install the emulator's plug-in in place of AWS's own in a ``PULUMI_HOME``."""
    # Without `-P` the folder that the engine starts it in would come first, and may be another checkout.
    importable = (f"{name}={value}" for name, value in IMPORTABLE.items())
    install(home, "aws", facts().release, "env", *importable, sys.executable, "-P", "-m", "emulators.aws", "plugin")


def make_owners_roles(emulator: Emulator, choices: Any) -> EksConfig:
    """Make the roles that the account's owner makes, and return the choices about the cluster.

    Raises
    ------
    UserError
        The choices are about another kind of cluster.
    """
    if not isinstance(choices, EksConfig):
        raise UserError("The case is about stacks on EKS, and its stack is not on EKS.")
    access = choices.access
    arns = [access.deployer_role_arn, access.break_glass_role_arn, *(e.role_arn for e in access.entries.values())]
    for name in dict.fromkeys(arn.rpartition("/")[2] for arn in arns):
        emulator.api("iam").create_role(RoleName=name, AssumeRolePolicyDocument=_TRUST)
    return choices
