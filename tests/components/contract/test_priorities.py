from components.contract.priorities import (
    DEFAULT_USER_PRIORITY,
    USER_PRIORITY_LIMIT,
    PreemptionPolicy,
    SystemPriority,
    UserPriority,
)


def test_values_rise_from_low_to_critical_and_stay_in_their_ranges() -> None:
    users = [tier.priority for tier in UserPriority]
    system = [tier.priority for tier in SystemPriority]
    assert users == sorted(set(users))
    assert system == sorted(set(system))
    assert users[0] >= 0
    assert users[-1] < USER_PRIORITY_LIMIT < system[0]
    assert system[-1] <= 1_000_000_000  # the highest value that Kubernetes leaves to us


def test_users_never_preempt_and_core_services_may() -> None:
    assert {tier.preemption_policy for tier in UserPriority} == {PreemptionPolicy.NEVER}
    assert {tier.preemption_policy for tier in SystemPriority} == {PreemptionPolicy.PREEMPT_LOWER_PRIORITY}


def test_jobs_are_medium_by_default() -> None:
    assert DEFAULT_USER_PRIORITY is UserPriority.MEDIUM
