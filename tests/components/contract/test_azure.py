from uuid import UUID

import pytest

from components.contract.azure import key_address, key_vault_id, role_assignment_name
from support.aks import KEY_ID

VAULT = KEY_ID.partition("/keys/aks")[0]


def test_a_key_tells_its_address_and_its_vault() -> None:
    assert key_address(KEY_ID) == "https://research.vault.azure.net/keys/aks/0123456789abcdef0123456789abcdef"
    assert key_vault_id(KEY_ID) == VAULT
    with pytest.raises(ValueError, match="not a key version's id"):
        key_vault_id(VAULT)


def test_a_role_assignment_has_one_name_for_ever_and_no_other_has_it() -> None:
    names = {
        role_assignment_name(scope, principal, role)
        for scope in (VAULT, KEY_ID)
        for principal in ("cluster", "kubelet")
        for role in ("reader", "writer")
    }
    assert len(names) == 8
    assert role_assignment_name(VAULT.upper(), "cluster", "Reader") == role_assignment_name(VAULT, "cluster", "reader")
    assert all(UUID(name).version == 5 for name in names)
