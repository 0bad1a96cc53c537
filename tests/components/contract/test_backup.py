import pytest

from components.contract.aks import backup as aks
from components.contract.aks.http_proxy import is_excepted
from components.contract.azure import LOCATIONS
from components.contract.backup import Backup, Interval
from components.contract.eks.backup import COMPLETION_WINDOW, START_WINDOW, EksBackup, schedule
from components.contract.proxy import Proxy
from support.aks import GROUP_ID, config

PROXY = "http://proxy.corp.example:3128"


@pytest.mark.parametrize(
    ("every", "start", "hours", "cron"),
    [
        ("day", 2, (2,), "cron(0 2 ? * * *)"),
        ("12h", 22, (10, 22), "cron(0 10,22 ? * * *)"),
        ("8h", 0, (0, 8, 16), "cron(0 0,8,16 ? * * *)"),
        ("4h", 23, (3, 7, 11, 15, 19, 23), "cron(0 3,7,11,15,19,23 ? * * *)"),
    ],
)
def test_backups_begin_at_the_same_hours_of_every_day(
    every: str, start: int, hours: tuple[int, ...], cron: str
) -> None:
    backup = Backup(every=Interval(every), startHour=start)
    assert backup.hours == hours
    assert schedule(backup) == cron


@pytest.mark.parametrize("every", Interval)
def test_the_hours_are_an_interval_apart_also_over_midnight(every: Interval) -> None:
    hours = Backup(every=every, startHour=5).hours
    assert {(later - earlier) % 24 for earlier, later in zip(hours, (*hours[1:], hours[0]), strict=True)} == {
        every.hours % 24
    }


def test_what_says_nothing_is_backed_up_every_night_for_five_weeks() -> None:
    backup = EksBackup()
    assert (backup.every, backup.start_hour, backup.keep_days) == (Interval.DAY, 2, 35)
    assert (backup.lock, backup.key_arn) == (False, None)


def test_a_backup_has_more_time_to_end_than_to_begin() -> None:
    # AWS wants an hour more: https://docs.aws.amazon.com/aws-backup/latest/devguide/creating-a-backup-plan.html.
    assert COMPLETION_WINDOW >= START_WINDOW + 60


@pytest.mark.parametrize(("every", "interval"), [("4h", "PT4H"), ("8h", "PT8H"), ("12h", "PT12H"), ("day", "P1D")])
def test_azure_repeats_backups_from_the_same_day_on(every: str, interval: str) -> None:
    backup = Backup(every=Interval(every), startHour=7)
    assert aks.schedule(backup) == f"R/2026-01-01T07:00:00+00:00/{interval}"
    assert aks.policy_name(backup) == f"every-{every}-at-07-kept-35d"


def test_regions_without_backups_are_known_regions() -> None:
    assert set(aks.WITHOUT_BACKUPS) < set(LOCATIONS)


def test_a_proxy_that_excepts_the_account_of_the_backups_is_accepted() -> None:
    host = aks.account_host(aks.group_name(GROUP_ID))
    for exception in (host, ".blob.core.windows.net", "core.windows.net"):
        config({"cluster.backup": {}, "cluster.proxy": {"http": PROXY, "except": [exception]}})


@pytest.mark.parametrize("exception", ["10.0.0.0/8", "lob.core.windows.net", "a.x.blob.core.windows.net"])
def test_a_proxy_excepts_whole_names_and_what_is_below_them(exception: str) -> None:
    assert not is_excepted(Proxy.model_validate({"http": PROXY, "except": [exception]}), "x.blob.core.windows.net")
