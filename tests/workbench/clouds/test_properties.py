from google.protobuf.struct_pb2 import Struct
from pulumi.runtime import rpc

from workbench.clouds.properties import UNKNOWN, defaults, plain

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
