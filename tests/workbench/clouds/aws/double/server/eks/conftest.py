import pytest

from support.eks_account import Account, account
from workbench.clouds.aws.double.client import Double


@pytest.fixture(scope="session")
def shared_account(shared_aws: Double) -> Account:
    return account(shared_aws)


@pytest.fixture
def home(aws: Double, shared_account: Account) -> Account:
    """An account in which other tests work too: they leave clusters there, but no faults."""
    return shared_account
