# SPDX-License-Identifier: Apache-2.0
"""The JSON Schemas are valid, and agree with receipt-tool about signed payloads."""

import base64
import json
import pathlib

import pytest
from jsonschema import Draft202012Validator

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMAS = {path.name.split(".")[0]: json.loads(path.read_text()) for path in (ROOT / "Schemas").glob("*.json")}
VECTORS = ROOT / "TestVectors"
TYPES = {
    "signed-transaction": "JWSTransaction",
    "signed-renewal-info": "JWSRenewalInfo",
    "signed-app-transaction": "AppTransaction",
    "signed-notification": "Notification",
    "signed-realtime-request": "RealtimeRequest",
}
JWS = [
    entry
    for entry in json.loads((VECTORS / "manifest.json").read_text())["vectors"]
    if entry["file"].endswith(".jws")
]
VALID = [entry for entry in JWS if entry["verdict"] == "valid"]


def payload(entry):
    encoded = (VECTORS / entry["file"]).read_text().split(".")[1]
    return json.loads(base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)))


def encoded(part) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")


def test_there_is_a_schema_for_every_payload():
    assert {entry["kind"] for entry in JWS} == TYPES.keys()
    assert set(TYPES.values()) <= SCHEMAS.keys()


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_a_schema_is_valid(name):
    Draft202012Validator.check_schema(SCHEMAS[name])
    assert SCHEMAS[name]["$id"].endswith(f"/{name}.schema.json")


@pytest.mark.parametrize("entry", VALID, ids=lambda entry: entry["file"])
def test_a_valid_payload_conforms(entry):
    Draft202012Validator(SCHEMAS[TYPES[entry["kind"]]]).validate(payload(entry))


@pytest.mark.parametrize("kind", sorted(TYPES))
def test_schema_and_decoder_refuse_the_same_types(receipt_tool, tmp_path, kind):
    entry = next(entry for entry in VALID if entry["kind"] == kind)
    schema = SCHEMAS[TYPES[kind]]
    validator = Draft202012Validator(schema)
    genuine = payload(entry)
    header, _, signature = (VECTORS / entry["file"]).read_text().split(".")
    # A notification is about one thing: a rule that the schema does not have.
    subjects = {"data", "summary", "externalPurchaseToken", "appData"}
    changes = [
        (member, value)
        for member in sorted(schema["properties"].keys() - subjects)
        for value in ({"a": 1}, [1], ["text"], True, "text", 7, 1.5, 1e300, None)
    ]
    files = [tmp_path / f"{number}.jws" for number in range(len(changes))]
    for file, (member, value) in zip(files, changes):
        file.write_text(".".join([header, encoded(genuine | {member: value}), signature]))
    reports = receipt_tool.run("inspect", "--json", *files).lines
    for (member, value), report in zip(changes, reports, strict=True):
        is_decoded = report["format"] == kind
        assert validator.is_valid(genuine | {member: value}) == is_decoded, (member, value, report["format"])
