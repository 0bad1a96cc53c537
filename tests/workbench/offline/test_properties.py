from google.protobuf.struct_pb2 import Struct
from pulumi.runtime import rpc

from workbench.offline.properties import UNKNOWN, Secret, defaults, marked, masked, plain, renewed

SECRET = {rpc._special_sig_key: rpc._special_secret_sig}


def bag(**values: object) -> Struct:
    struct = Struct()
    struct.update(values)
    return struct


def test_marks_are_read_at_any_depth() -> None:
    given = bag(a={"b": [{"c": rpc.UNKNOWN}, "known"]}, d={**SECRET, "value": {"e": "hidden"}}, f=None)
    assert plain(given) == {"a": {"b": [{"c": UNKNOWN}, "known"]}, "d": {"e": "hidden"}}


def test_a_secret_that_is_not_known_yet_is_unknown() -> None:
    assert plain(bag(a={**SECRET, "value": rpc.UNKNOWN})) == {"a": UNKNOWN}


def test_what_the_provider_filled_in_is_no_input_but_can_be_asked_for() -> None:
    given = bag(name="x-1234567", __defaults=["name"])
    assert plain(given) == {"name": "x-1234567"}
    assert defaults(given) == {"name"}


def test_a_secret_is_compared_like_any_text_and_never_shown() -> None:
    read = plain(bag(a={**SECRET, "value": {"b": ["hidden"]}}))["a"]["b"][0]
    assert read == "hidden"
    assert f"{read!r}" == "[secret]"


def hidden(value: object) -> dict[str, object]:
    return {**SECRET, "value": value}


def test_marks_are_written_at_any_depth() -> None:
    assert marked({"a": [UNKNOWN, {"b": Secret("x")}], "c": 1}) == {"a": [rpc.UNKNOWN, {"b": hidden("x")}], "c": 1}


def test_what_is_still_the_same_keeps_its_marks_and_notes() -> None:
    given = bag(a=hidden("x"), b={"c": hidden("y")}, n=hidden(5), none=None, __defaults=["a"])
    assert renewed(given, {"a": "x", "b": {"c": "y"}, "n": 5}) == given


def test_what_is_gone_goes_and_what_is_new_comes() -> None:
    assert renewed(bag(a="x", b="y"), {"b": "z", "c": [1]}) == bag(b="z", c=[1])


def test_another_value_in_the_place_of_a_secret_is_one_too() -> None:
    assert renewed(bag(a=hidden("x"), n=hidden(5)), {"a": "y", "n": 6}) == bag(a=hidden("y"), n=hidden(6))


def test_what_is_made_from_a_secret_is_secret_and_the_rest_is_readable() -> None:
    given = bag(name=hidden("x1"), tags={"a": hidden("y1"), "b": "z"})
    found = {"name": "x1", "tags": {"a": "y1", "b": "z"}, "tagsAll": {"a": "y1", "b": "z"}, "arn": "arn:x1", "id": "i"}
    assert renewed(given, found) == bag(
        name=hidden("x1"),
        tags={"a": hidden("y1"), "b": "z"},
        tagsAll={"a": hidden("y1"), "b": "z"},
        arn=hidden("arn:x1"),
        id="i",
    )


def test_secrets_of_other_bags_stay_secret_too() -> None:
    assert renewed(bag(), {"a": "x1"}, bag(b=hidden("x1"))) == bag(a=hidden("x1"))


def test_a_text_for_people_holds_no_secret() -> None:
    assert masked("tag xx is not x", bag(a=hidden(["x", "xx"]))) == "tag [secret] is not [secret]"
