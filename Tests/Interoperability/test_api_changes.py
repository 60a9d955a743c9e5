# SPDX-License-Identifier: Apache-2.0
"""scripts/api-changes tells each change of the API's description that breaks a client, and no other."""

import copy
import importlib.machinery
import importlib.util
import json
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "Schemas/receipt-server"
CURRENT = json.loads((FOLDER / "openapi.json").read_text())

loader = importlib.machinery.SourceFileLoader("api_changes", str(ROOT / "scripts/api-changes"))
api_changes = importlib.util.module_from_spec(importlib.util.spec_from_loader("api_changes", loader))
loader.exec_module(api_changes)

# A small API with everything that is compared.
SMALL = {
    "openapi": "3.1.0",
    "paths": {
        "/things/{id}": {
            "get": {
                "operationId": "getThing", "security": [{"key": ["read"]}, {"key": ["admin"]}], "x-idempotent": True,
                "x-page": {"parameter": "before", "items": "parts", "next": "before"},
                "parameters": [
                    {"name": "id", "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}},
                    {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 100}},
                ],
                "responses": {
                    "200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}, "headers": {"ETag": {}}},
                    "404": {"content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}},
                    "default": {"content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}},
                },
            },
            "post": {
                "operationId": "makeThing", "security": [], "x-idempotent": False,
                "x-idempotency-identifier": {"member": "id", "prefix": "t_"},
                "requestBody": {"required": False, "content": {
                    "application/json": {"schema": {"$ref": "#/components/schemas/NewThing"}},
                    "text/plain": {"schema": {"type": "string"}},
                }},
                "responses": {"201": {"description": "made"}},
            },
        }
    },
    "components": {
        "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        "schemas": {
            "Thing": {
                "type": "object", "required": ["type", "name"], "additionalProperties": False,
                "properties": {
                    "type": {"const": "thing"}, "name": {"type": "string", "pattern": "^a"}, "color": {"$ref": "#/components/schemas/Color"},
                    "size": {"type": "integer", "minimum": 0, "maximum": 10}, "inner": {"$ref": "#/components/schemas/Thing"},
                    "owner": {"anyOf": [{"$ref": "#/components/schemas/Person"}, {"type": "string"}]},
                    "tags": {"type": "array", "items": {"type": "string"}}, "when": {"type": "string", "format": "date-time"},
                },
            },
            "NewThing": {
                "type": "object", "required": ["name"], "additionalProperties": False,
                "properties": {
                    "name": {"type": "string", "maxLength": 10}, "color": {"$ref": "#/components/schemas/Color"},
                    "count": {"type": "number", "minimum": 0}, "note": {"type": "string"},
                    "owner": {"anyOf": [{"$ref": "#/components/schemas/Person"}, {"type": "string"}]},
                },
            },
            "Person": {"type": "object", "properties": {"type": {"const": "person"}, "age": {"type": "integer"}}},
            "Robot": {"type": "object", "properties": {"type": {"const": "robot"}}},
            "Color": {"enum": ["red", "blue"]},
            "Problem": {"type": "object", "required": ["code"], "properties": {"code": {"type": "string"}}},
        },
    },
}  # fmt: skip

GET, POST = "GET /things/{id}", "POST /things/{id}"


def get(api):
    return api["paths"]["/things/{id}"]["get"]


def post(api):
    return api["paths"]["/things/{id}"]["post"]


def schema(api, name):
    return api["components"]["schemas"][name]


def member(api, name, member):
    return api["components"]["schemas"][name]["properties"][member]


def color(api, *words):
    schema(api, "Color")["enum"] = list(words)


BREAKING = {
    "a path is removed": (lambda api: api["paths"].clear(), {f"{GET}: the operation is removed", f"{POST}: the operation is removed"}),
    "a method is removed": (lambda api: api["paths"]["/things/{id}"].pop("post"), {f"{POST}: the operation is removed"}),
    "an operation is renamed": (lambda api: get(api).update(operationId="thing"), {f"{GET}: the operation getThing has another name"}),
    "another scope is needed": (
        lambda api: get(api).update(security=[{"key": ["admin"]}]), {f"{GET}: a key with read is not enough any more"}),
    "two scopes are needed": (
        lambda api: get(api)["security"][0].update(key=["read", "more"]), {f"{GET}: a key with read is not enough any more"}),
    "a key is needed": (
        lambda api: post(api).update(security=[{"key": ["admin"]}]), {f"{POST}: a key with nothing is not enough any more"}),
    "keys are presented otherwise": (
        lambda api: api["components"]["securitySchemes"]["key"].update(scheme="basic"), {"key key: it is presented in another way"}),
    "it is no longer idempotent": (
        lambda api: get(api).update({"x-idempotent": False}), {f"{GET}: it must not be sent twice any more"}),
    "pages go on otherwise": (
        lambda api: get(api)["x-page"].update(next="last"), {f"{GET}: x-page is another, or none"}),
    "the key of idempotency is gone": (
        lambda api: post(api).pop("x-idempotency-identifier"), {f"{POST}: x-idempotency-identifier is another, or none"}),
    "a parameter is removed": (lambda api: get(api)["parameters"].pop(), {f"{GET} query limit: the parameter is removed"}),
    "a parameter becomes required": (
        lambda api: get(api)["parameters"][1].update(required=True), {f"{GET} query limit: the parameter is required now"}),
    "a required parameter is new": (
        lambda api: get(api)["parameters"].append({"name": "app", "in": "query", "required": True, "schema": {}}),
        {f"{GET} query app: the parameter is new and required"}),
    "a parameter moves": (
        lambda api: get(api)["parameters"][1].update({"in": "header"}), {f"{GET} query limit: the parameter is removed"}),
    "a parameter's range is narrower": (
        lambda api: get(api)["parameters"][1]["schema"].update(minimum=2, maximum=50),
        {f"{GET} query limit: minimum is 1 → 2", f"{GET} query limit: maximum is 100 → 50"}),
    "a parameter has another type": (
        lambda api: get(api)["parameters"][0].update(schema={"type": "integer"}), {f'{GET} path id: type is "string" → "integer"'}),
    "a body is required": (lambda api: post(api)["requestBody"].update(required=True), {f"{POST} body: it is required now"}),
    "a body is removed": (lambda api: post(api).pop("requestBody"), {f"{POST} body: it is removed"}),
    "a body is new": (
        lambda api: get(api).update(requestBody={"required": True, "content": {}}), {f"{GET} body: a body is required now"}),
    "a media type of requests is removed": (
        lambda api: post(api)["requestBody"]["content"].pop("text/plain"), {f"{POST} body: text/plain is removed"}),
    "a media type of answers is removed": (
        lambda api: get(api)["responses"]["200"]["content"].update({"text/csv": get(api)["responses"]["200"]["content"].pop("application/json")}),
        {f"{GET} 200: application/json is removed"}),
    "a status is removed": (lambda api: get(api)["responses"].pop("404"), {f"{GET} 404: the status is removed"}),
    "success has another status": (
        lambda api: post(api)["responses"].update({"200": post(api)["responses"].pop("201")}),
        {f"{POST} 201: the status is removed", f"{POST} 200: the status is new"}),
    "a success is new": (
        lambda api: get(api)["responses"].update({"202": {}}), {f"{GET} 202: the status is new"}),
    "a failure is new where none was foreseen": (
        lambda api: post(api)["responses"].update({"409": {}}), {f"{POST} 409: the status is new"}),
    "an answer has content": (
        lambda api: post(api)["responses"]["201"].update(content={"text/plain": {}}), {f"{POST} 201: there is content now"}),
    "a header is removed": (lambda api: get(api)["responses"]["200"].pop("headers"), {f"{GET} 200: the header ETag is removed"}),
    "a member of an answer is removed": (lambda api: schema(api, "Thing")["properties"].pop("size"), {"Thing.size: the member is removed"}),
    "a member of an answer may be absent": (
        lambda api: schema(api, "Thing")["required"].remove("name"), {"Thing.name: the member may be absent now"}),
    "a member of an answer has another type": (
        lambda api: member(api, "Thing", "size").update(type="string"), {'Thing.size: type is "integer" → "string"'}),
    "a number of an answer may be a fraction": (
        lambda api: member(api, "Thing", "size").update(type="number"), {'Thing.size: type is "integer" → "number"'}),
    "a number of an answer may be greater": (
        lambda api: member(api, "Thing", "size").update(maximum=11), {"Thing.size: maximum is 10 → 11"}),
    "a number of an answer has no bound": (
        lambda api: member(api, "Thing", "size").pop("minimum"), {"Thing.size: minimum is 0 → none"}),
    "the spelling of an answer is free": (
        lambda api: member(api, "Thing", "name").pop("pattern"), {'Thing.name: pattern is "^a" → none'}),
    "a date is written otherwise": (
        lambda api: member(api, "Thing", "when").update(format="date"), {'Thing.when: format is "date-time" → "date"'}),
    "elements have another type": (
        lambda api: member(api, "Thing", "tags").update(items={"type": "integer"}), {'Thing.tags[]: type is "string" → "integer"'}),
    "the type of an object has another name": (
        lambda api: member(api, "Thing", "type").update(const="object"), {'Thing.type: it is "thing" no longer'}),
    "an answer may be of another shape": (
        lambda api: member(api, "Thing", "owner")["anyOf"].append({"type": "integer"}), {'Thing.owner: it may be "integer" now'}),
    "an answer is one of several": (
        lambda api: schema(api, "Thing")["properties"].update(size={"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        {'Thing.size: type is "integer" → none', "Thing.size: minimum is 0 → none", "Thing.size: maximum is 10 → none"}),
    "a word becomes any text in answers": (
        lambda api: api["components"]["schemas"].update(Color={"type": "string"}), {"Color: it is any text now"}),
    "a word is not taken any more": (lambda api: color(api, "red"), {'Color (sent): "blue" is not taken any more'}),
    "only words are taken": (
        lambda api: member(api, "NewThing", "note").update(enum=["a", "b"]), {'NewThing (sent).note: only "a", "b" may be sent'}),
    "a member of a request is required": (
        lambda api: schema(api, "NewThing")["required"].append("note"), {"NewThing (sent).note: the member is required now"}),
    "a new member of a request is required": (
        lambda api: schema(api, "NewThing").update(
            required=["name", "new"], properties=schema(api, "NewThing")["properties"] | {"new": {"type": "string"}}),
        {"NewThing (sent).new: the member is required now"}),
    "a member of a request is removed": (
        lambda api: schema(api, "NewThing")["properties"].pop("note"), {"NewThing (sent).note: the member is removed"}),
    "a text of a request is shorter": (
        lambda api: member(api, "NewThing", "name").update(maxLength=9), {"NewThing (sent).name: maxLength is 10 → 9"}),
    "a number of a request is whole": (
        lambda api: member(api, "NewThing", "count").update(type="integer"), {'NewThing (sent).count: type is "number" → "integer"'}),
    "a request has a pattern": (
        lambda api: member(api, "NewThing", "note").update(pattern="x"), {'NewThing (sent).note: pattern is none → "x"'}),
    "a shape is not taken any more": (
        lambda api: member(api, "NewThing", "owner")["anyOf"].pop(), {'NewThing (sent).owner: "string" is not taken any more'}),
    "an object deep within": (
        lambda api: member(api, "Person", "age").update(type="string"),
        {'Person (sent).age: type is "integer" → "string"', 'Person.age: type is "integer" → "string"'}),
    "other members are refused": (
        lambda api: schema(api, "Person").update(additionalProperties=False), {"Person (sent): other members are not taken any more"}),
}  # fmt: skip

HARMLESS = {
    "nothing": lambda api: None,
    "a path is new": lambda api: api["paths"].update({"/others": {"get": {"responses": {}}}}),
    "a method is new": lambda api: api["paths"]["/things/{id}"].update(delete={"responses": {}}),
    "another scope is enough": lambda api: get(api)["security"].append({"key": ["other"]}),
    "no key is needed": lambda api: get(api).update(security=[]),
    "an optional parameter is new": lambda api: get(api)["parameters"].append({"name": "app", "in": "query", "schema": {}}),
    "a parameter's range is wider": lambda api: get(api)["parameters"][1]["schema"].update(minimum=0, maximum=1000),
    "it may be sent twice now": lambda api: post(api).update({"x-idempotent": True}),
    "a body is optional": lambda api: post(api)["requestBody"].update(required=False),
    "a media type is new": lambda api: post(api)["requestBody"]["content"].update({"text/csv": {}}),
    "an answer has another form if one asks": lambda api: get(api)["responses"]["200"]["content"].update({"text/csv": {}}),
    "a failure is new": lambda api: get(api)["responses"].update({"409": {}}),
    "a member of an answer is new": lambda api: schema(api, "Thing")["properties"].update(new={"type": "string"}),
    "a member of an answer is always there": lambda api: schema(api, "Thing")["required"].append("size"),
    "an answer's number is smaller": lambda api: member(api, "Thing", "size").update(maximum=9, minimum=1),
    "a word of an answer is new": lambda api: color(api, "red", "blue", "green"),
    "an optional member of a request is new": lambda api: schema(api, "NewThing")["properties"].update(new={"type": "string"}),
    "a member of a request is optional": lambda api: schema(api, "NewThing").pop("required"),
    "a text of a request is longer": lambda api: member(api, "NewThing", "name").update(maxLength=11),
    "a request takes any text": lambda api: member(api, "NewThing", "name").pop("maxLength"),
    "an object that says its type is new": lambda api: member(api, "Thing", "owner")["anyOf"].append({"$ref": "#/components/schemas/Robot"}),
    "words of documentation": lambda api: schema(api, "Thing").update(description="other"),
    "a schema has another name": lambda api: (
        api["components"]["schemas"].update(Fault=schema(api, "Problem")),
        get(api)["responses"]["404"]["content"]["application/problem+json"].update(schema={"$ref": "#/components/schemas/Fault"}),
    ),
}  # fmt: skip


def told(tmp_path, old, new) -> set[str]:
    files = [tmp_path / "old.json", tmp_path / "new.json"]
    for file, description in zip(files, (old, new), strict=True):
        file.write_text(json.dumps(description))
    run = subprocess.run([sys.executable, ROOT / "scripts/api-changes", *files], capture_output=True, text=True, timeout=60)
    assert run.stderr == "" and run.returncode == bool(run.stdout), run
    lines = run.stdout.splitlines()
    assert len(set(lines)) == len(lines)
    return set(lines)


def changed(change) -> dict:
    api = copy.deepcopy(SMALL)
    change(api)
    return api


@pytest.mark.parametrize("name", BREAKING)
def test_a_change_that_breaks_is_told(tmp_path, name):
    change, lines = BREAKING[name]
    assert told(tmp_path, SMALL, changed(change)) == lines


@pytest.mark.parametrize("name", HARMLESS)
def test_a_change_that_does_not_break_is_not_told(tmp_path, name):
    assert told(tmp_path, SMALL, changed(HARMLESS[name])) == set()


@pytest.mark.long
def test_each_part_of_the_servers_own_description_is_compared(tmp_path):
    """With all operations gone, all are told, and each member that is gone."""
    new = copy.deepcopy(CURRENT)
    operations = {f"{method.upper()} {path}" for path, methods in new["paths"].items() for method in methods}
    new["paths"].clear()
    assert told(tmp_path, CURRENT, new) == {f"{each}: the operation is removed" for each in operations}
    for name, each in CURRENT["components"]["schemas"].items():
        # Where any other member is taken, one less harms nobody.
        is_open = each.get("additionalProperties") is True
        for member in [] if is_open else each.get("properties", {}):
            new = copy.deepcopy(CURRENT)
            del new["components"]["schemas"][name]["properties"][member]
            lines = api_changes.Comparison(CURRENT, new).run()
            assert lines and all(re.fullmatch(rf"{name}( \(sent\))?\.{member}: the member is removed", line) for line in lines), lines


def test_what_the_release_promised_is_kept():
    """And what is committed is what the tables say, which scripts/wire-types checks."""
    run = subprocess.run([sys.executable, ROOT / "scripts/api-changes"], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stdout) == (0, ""), run.stdout + run.stderr


def test_a_change_that_is_meant_is_accepted_by_its_line_until_the_release(tmp_path):
    folder = tmp_path / "Schemas/receipt-server"
    folder.mkdir(parents=True)
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts/api-changes", tmp_path / "scripts")
    (folder / "openapi-released.json").write_text(json.dumps(SMALL))
    (folder / "openapi.json").write_text(json.dumps(changed(lambda api: get(api)["parameters"].pop())))

    def run(*arguments):
        done = subprocess.run([sys.executable, tmp_path / "scripts/api-changes", *arguments], capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout, done.stderr

    line = f"{GET} query limit: the parameter is removed\n"
    assert run() == (1, line, "")
    (folder / "accepted-changes.txt").write_text(line)
    assert run() == (0, "", "")
    (folder / "accepted-changes.txt").write_text(line + "another\n")
    assert run()[:2] == (0, "") and "another" in run()[2]
    assert run("--release") == (0, "", "") and run() == (0, "", "")
    assert not (folder / "accepted-changes.txt").exists()
    assert (folder / "openapi-released.json").read_bytes() == (folder / "openapi.json").read_bytes()
    assert run("--nonsense")[0] == 64 and run("one")[0] == 64


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"openapi": "2.0", "paths": {}}', '{"openapi": "3.1.0", "paths": []}'])
def test_what_is_no_description_is_refused(tmp_path, content):
    file = tmp_path / "no.json"
    file.write_text(content)
    run = subprocess.run([sys.executable, ROOT / "scripts/api-changes", file, file], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stdout) == (65, "") and str(file) in run.stderr
