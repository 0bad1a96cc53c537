"""One cause is shown once, wherever it is found."""

from support.reports import finding
from workbench.report.causes import by_cause
from workbench.report.model import FindingStatus

VIOLATED, WAIVED = FindingStatus.VIOLATED, FindingStatus.WAIVED


def test_the_same_text_about_several_resources_has_one_cause() -> None:
    found = [finding("HT-01", VIOLATED, name, f"'{name}' lacks the tags team.") for name in "abcdefgh"]
    [cause] = by_cause(found)
    assert cause.finding == found[0]
    assert len(cause.urns) == 8
    assert cause.elsewhere == "and at 7 more: b, c, d, e, f, ..."


def test_a_part_of_a_resource_is_not_another_cause() -> None:
    texts = ("'a' lacks x.", "'a' (tagSpecifications for volume) lacks x.")
    [cause] = by_cause([finding("HT-01", VIOLATED, "a", text) for text in texts])
    assert len(cause.urns) == 1
    assert cause.elsewhere == ""


def test_rule_text_status_and_waiver_tell_causes_apart() -> None:
    found = [
        finding("HT-01", VIOLATED, "a", "'a' lacks x."),
        finding("HT-01", VIOLATED, "b", "'b' lacks y."),
        finding("HT-01", WAIVED, "c", "'c' lacks x.", waiver="until then"),
        finding("HT-01", WAIVED, "d", "'d' lacks x.", waiver="until later"),
        finding("HN-07", VIOLATED, "e", "'e' lacks x."),
        finding("RS-10", VIOLATED, "", "Quotas do not fit."),
    ]
    assert [cause.finding for cause in by_cause(found)] == found
    assert [cause.is_failing for cause in by_cause(found)] == [True, True, False, False, True, True]
