"""The form of passports: published, complete, and the same after a round trip."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from components.contract.digests import canonical, digest_of
from support.passports import NOW, passport
from workbench.passport import model
from workbench.passport.envelope import signed
from workbench.passport.making import _resource, payload, read, require_current
from workbench.passport.model import Claim, Covers, Fingerprint, Passport, Result
from workbench.system.errors import UserError

KEY = Ed25519PrivateKey.from_private_bytes(b"k" * 32)


@pytest.fixture(scope="module")
def made() -> Passport:
    return passport("existing")


def written(folder: Path, content: bytes) -> Path:
    file = folder / "passport.json"
    file.write_text(signed(content, KEY))
    return file


def changed(made: Passport, **fields: Any) -> bytes:
    """Return a statement that the key's owner signed with other fields of the passport."""
    statement = json.loads(payload(made))
    statement["predicate"] |= fields
    return json.dumps(statement).encode()


def test_the_schema_in_the_documentation_is_that_of_the_model() -> None:
    assert model.SCHEMA.read_text() == model.schema(), "run python -m workbench.passport.model --write"


def test_a_passport_has_exactly_the_keys_of_its_schema(made: Passport) -> None:
    schema = json.loads(model.schema())
    Draft202012Validator.check_schema(schema)
    for each in (schema, *schema["$defs"].values()):
        if "properties" in each:
            assert each["required"] == list(each["properties"])
            each["additionalProperties"] = False
    assert not list(Draft202012Validator(schema).iter_errors(made.as_json()))


def test_a_passport_is_the_same_after_it_was_signed_and_read(made: Passport, tmp_path: Path) -> None:
    assert read(written(tmp_path, payload(made)), KEY.public_key()) == made


def test_the_statement_names_stack_and_cluster_by_their_digests(made: Passport) -> None:
    statement = json.loads(payload(made))
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert [each["name"] for each in statement["subject"]] == ["stack test", f"cluster {made.cluster.uid}"]
    assert statement["subject"][0]["digest"] == {"sha256": made.stack.digest}


def test_digests_do_not_depend_on_the_order_of_keys() -> None:
    assert canonical({"b": [1, "é"], "a": None}) == b'{"a":null,"b":[1,"\\u00e9"]}'
    assert digest_of({"b": 1, "a": {"d": 2, "c": 3}}) == digest_of({"a": {"c": 3, "d": 2}, "b": 1})
    assert digest_of({}) == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


def test_two_passports_of_the_same_findings_are_equal(made: Passport) -> None:
    assert payload(passport("existing")) == payload(made)


def test_a_claim_without_evidence_cannot_pass() -> None:
    for result in (Result.PASSED, Result.FAILED):
        with pytest.raises(ValidationError, match="a claim without evidence must be not-verified"):
            Claim(id="a", subject="b", result=result, covers=Covers.WHOLE, detail="", rests_on=(), evidence=())


def test_an_object_has_the_digest_of_its_fields(made: Passport, tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="the digest of Pool a is not that of its fields"):
        Fingerprint(kind="Pool", namespace="", name="a", digest="0" * 64, fields={})
    objects = made.as_json()["objects"]
    objects[0]["fields"] = {"another": "value"}
    with pytest.raises(UserError, match=r"refused\. It is not a passport of a known form: predicate\.objects\.0"):
        read(written(tmp_path, changed(made, objects=objects)), KEY.public_key())


def test_a_later_form_is_refused_and_named(made: Passport, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"predicate\.schemaVersion: Input should be 1"):
        read(written(tmp_path, changed(made, schemaVersion=2)), KEY.public_key())


def test_a_time_without_a_zone_is_refused(made: Passport, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"predicate\.expires: .*timezone"):
        read(written(tmp_path, changed(made, expires="2027-01-01T00:00:00")), KEY.public_key())


def test_another_statement_of_the_same_key_is_no_passport(made: Passport, tmp_path: Path) -> None:
    statement = json.loads(payload(made)) | {"predicateType": "https://slsa.dev/provenance/v1"}
    with pytest.raises(UserError, match=r"its type is .https://slsa\.dev/provenance/v1"):
        read(written(tmp_path, json.dumps(statement).encode()), KEY.public_key())


def test_a_file_that_is_missing_or_huge_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no\.json cannot be read: No such file"):
        read(tmp_path / "no.json", KEY.public_key())
    with (tmp_path / "huge.json").open("wb") as huge:
        huge.truncate(60_000_000)
    with pytest.raises(UserError, match="is larger than 50 MB"):
        read(tmp_path / "huge.json", KEY.public_key())


@pytest.mark.parametrize(
    ("facts", "resource"),
    [({"clusterArn": "arn:a"}, "arn:a"), ({"clusterId": "/subscriptions/a"}, "/subscriptions/a"), ({}, "")],
)
def test_the_cluster_is_named_as_its_cloud_names_it(facts: dict[str, str], resource: str) -> None:
    stack = {"type": "pulumi:pulumi:Stack", "outputs": {"cluster": facts}}
    assert _resource({"resources": [stack]}) == resource
    assert _resource({}) == ""


def test_a_passport_expires(made: Passport) -> None:
    require_current(made, NOW + timedelta(days=29, hours=23))
    with pytest.raises(UserError, match=r"expired on 2026-12-22 12:01 UTC\.\nMake a new one"):
        require_current(made, NOW + timedelta(days=30))


def test_a_passport_of_the_future_is_refused(made: Passport) -> None:
    with pytest.raises(UserError, match="UTC, which is in the future"):
        require_current(made, datetime(2026, 11, 22, 11, 50, tzinfo=UTC))
