import pytest

from emulators.aws.client import Emulator
from support.eks_account import Account, account


@pytest.fixture(scope="session")
def shared_account(shared_aws: Emulator) -> Account:
    return account(shared_aws)


@pytest.fixture
def home(aws: Emulator, shared_account: Account) -> Account:
    """An account in which other tests work too: they leave clusters there, but no faults."""
    return shared_account
