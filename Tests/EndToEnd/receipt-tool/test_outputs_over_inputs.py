# SPDX-License-Identifier: Apache-2.0
"""No output of a command replaces one of its inputs: not by its name, not through a link, not with --overwrite."""

import json
import os
import subprocess

import pytest

import samples
from tool import VALID
from world import SECRET

CANNOT_CREATE = 73
ORIGINAL = samples.TRANSACTION["originalTransactionId"]
SIGN = ["--format", "signed-transaction"]
IDENTITY = ["identity/key.pem", "identity/chain.pem", "identity/root.cer"]
TRAIL = ["trail", "trail.key", "trail.pub", "trail.checkpoint"]
SHOP = [
    f"shop/{name}"
    for name in ("key.pem", "chain.pem", "root.cer", "store.json", "store.sqlite", "products.json", "queue-customer.sqlite")
]
AUTHORITY = [
    f"authority/{name}"
    for name in ("authority.json", "root/key.pem", "intermediate-1/key.pem", "intermediate-1/index.txt")
]
KEY_FILES = ["--key", "identity/key.pem", "--chain", "identity/chain.pem", "--passphrase-file", "new.jsonl"]

# Options that name an output; `test_every_output_is_tried` looks for them in the help of every command.
OUTPUT_OPTIONS = {"output", "table", "proofs"}

# The command, its arguments, and the inputs that the output must not replace.
CASES = [
    ("sign", ["--identity", "identity", *SIGN, "purchase.json", "--output", "{path}"], [*IDENTITY, "purchase.json"]),
    ("sign", [*KEY_FILES, *SIGN, "purchase.json", "-o", "{path}"], [*IDENTITY[:2], "new.jsonl", "purchase.json"]),
    ("identity crl", ["authority", *SECRET, "-o", "{path}"], [*AUTHORITY, "authority.txt"]),
    (
        "identity ocsp", ["authority", "request.der", "--responder", "responder", "-o", "{path}"],
        [*AUTHORITY, "request.der", "responder/key.pem"],
    ),
    ("audit prove", ["trail", "0", "-o", "{path}", "--overwrite"], TRAIL),
    ("audit prove", ["trail", "0", "--key", "copied.pub", "-o", "{path}", "--overwrite"], [*TRAIL, "copied.pub"]),
    ("audit keys", ["trail", "-o", "{path}"], TRAIL),
    ("audit export", ["trail", "--table", "{path}.csv", "--overwrite"], TRAIL),
    ("audit export", ["trail", "--table", "{path}.jsonl", "--overwrite"], TRAIL),
    ("audit export", ["trail", "--table", "{path}.sqlite", "--overwrite"], TRAIL),
    ("audit backup", ["trail", "{path}"], TRAIL),
    ("audit backup", ["trail", "new", "--keys", "{path}"], TRAIL),
    ("store buy", ["--store", "shop", "com.example.coins", "-o", "{path}"], SHOP),
]


def contents(folder) -> dict:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture
def place(world):
    (world.folder / "copied.pub").write_bytes((world.folder / "trail.pub").read_bytes())
    # The customer's queue.
    assert world.run("store pending", ["--store", "shop"]).code == VALID
    return world


def refused(run, path):
    assert run.code == CANNOT_CREATE, (run.code, run.out, run.err)
    assert os.path.basename(str(path)) in run.err


@pytest.mark.sweep
@pytest.mark.parametrize(("name", "arguments", "targets"), CASES, ids=[f"{n} {' '.join(a)}" for n, a, _ in CASES])
def test_an_input(place, name, arguments, targets):
    suffix = next((a.removeprefix("{path}") for a in arguments if a.startswith("{path}.")), "")
    before = contents(place.folder)
    for number, target in enumerate(targets):
        paths = [f"symbolic-{number}", f"hard-{number}"]
        (place.folder / f"symbolic-{number}{suffix}").symlink_to(place.folder / target)
        (place.folder / f"hard-{number}{suffix}").hardlink_to(place.folder / target)
        # A table's file has a name of its own: test_a_trail_that_is_named_like_a_table.
        for path in paths if suffix else [*paths, target, f"./{target}"]:
            refused(place.run(name, [argument.replace("{path}", path) for argument in arguments]), path)
            after = contents(place.folder)
            # A copy is made before its keys. SQLite may write into a file that nothing is changed in.
            for file in set(before) - ({"new"} if name == "audit backup" else set()):
                if name != "store buy" or not file.endswith(".sqlite"):
                    assert after[file] == before[file], (path, file)
            (place.folder / "new").unlink(missing_ok=True)
    if name == "store buy":
        assert "com.example.coins" not in place.run("store purchases", ["--store", "shop"]).out


@pytest.mark.parametrize("form", ["csv", "jsonl", "sqlite"])
def test_a_trail_that_is_named_like_a_table(place, form):
    for file in TRAIL:
        (place.folder / file).rename(place.folder / file.replace("trail", f"t.{form}"))
    before = (place.folder / f"t.{form}").read_bytes()
    refused(place.run("audit export", [f"t.{form}", "--table", f"./t.{form}", "--overwrite"]), f"t.{form}")
    assert (place.folder / f"t.{form}").read_bytes() == before
    assert place.run("audit fsck", [f"t.{form}"]).code == VALID


def test_files_that_sqlite_keeps_beside_a_database(place):
    for suffix in ("-wal", "-journal"):
        run = place.run("audit history", ["trail", ORIGINAL, "--proofs", "."])
        assert run.code == VALID, run.err
        run = place.run("sign", ["--identity", "identity", *SIGN, "purchase.json", "-o", f"shop/store.sqlite{suffix}"])
        assert run.code == VALID, "it is an input of no part of this command"
        os.remove(place.folder / f"shop/store.sqlite{suffix}")
        refused(
            place.run("store buy", ["--store", "shop", "com.example.coins", "-o", f"shop/store.sqlite{suffix}"]), suffix
        )
        assert not (place.folder / f"shop/store.sqlite{suffix}").exists()


def test_proofs_over_the_checkpoint(place):
    (place.folder / "proofs").mkdir(exist_ok=True)
    last = place.folder / "proofs/0.tlog-proof"
    (place.folder / "trail.checkpoint").rename(last)
    run = place.run(
        "audit history", ["trail", ORIGINAL, "--checkpoint", "proofs/0.tlog-proof", "--proofs", "proofs"]
    )
    entries = [json.loads(line) for line in place.run("audit find", ["trail", "--json", "--checkpoint",
               "proofs/0.tlog-proof", "--from", "2020-01-01T00:00:00Z"]).out.splitlines()]  # fmt: skip
    assert entries
    # The history has entry 0.
    refused(run, "0.tlog-proof")
    assert last.read_bytes().startswith(b"") and b"tlog-proof" not in last.read_bytes().split(b"\n")[0]


@pytest.mark.parametrize("name", ["keys", "policies", "checkpoint"])
def test_an_export_over_an_input_in_its_folder(place, name):
    (place.folder / "out").mkdir()
    (place.folder / "trail.pub").rename(place.folder / "out" / name)
    before = (place.folder / "out" / name).read_bytes()
    refused(place.run("audit export", ["trail", "out", "--key", f"out/{name}"]), name)
    assert (place.folder / "out" / name).read_bytes() == before


def test_an_identity_over_its_passphrase(place):
    before = (place.folder / "identity/key.pem").read_bytes()
    run = place.run("identity create", ["identity", "--overwrite", "--passphrase-file", "identity/key.pem"])
    refused(run, "key.pem")
    assert (place.folder / "identity/key.pem").read_bytes() == before


def test_standard_input_from_the_file(place):
    path = place.folder / "purchase.json"
    before = path.read_bytes()
    with open(path, "rb") as file:
        done = subprocess.run(
            [place.tool.path, "sign", "--identity", "identity", *SIGN, "-", "-o", "purchase.json"],
            stdin=file, capture_output=True, cwd=place.folder, timeout=60,
        )  # fmt: skip
    assert done.returncode == CANNOT_CREATE and b"standard input" in done.stderr, done.stderr
    assert path.read_bytes() == before


def test_standard_output_that_appends_to_the_input(place):
    """Reading what was just written would never end."""
    path = place.folder / "many.txt"
    path.write_bytes((place.folder / "purchase.jws").read_bytes().strip() + b"\n")
    before = path.read_bytes()
    with open(path, "ab") as file:
        run = place.run("verify", ["--trust", "root.cer", "--lines", "many.txt"], stdout=file)
    assert run.code == 66 and "standard output" in run.err
    assert path.read_bytes() == before


def test_what_is_no_input_is_replaced_again_and_again(place):
    for _ in range(2):
        assert place.run("store buy", ["--store", "shop", "com.example.coins", "-o", "shop/coins.jws"]).code == VALID
        run = place.run("sign", ["--identity", "identity", *SIGN, "purchase.json", "-o", "identity/receipt.jws"])
        assert run.code == VALID, run.err
        assert place.run("audit prove", ["trail", "0", "-o", "proof", "--overwrite"]).code == VALID
        assert place.run("audit export", ["trail", "--table", "t.csv", "--overwrite"]).code == VALID
        assert place.run("audit export", ["trail", "exported"]).code == VALID


def test_every_output_is_tried(receipt_tool):
    """A new command with an output is added to CASES."""
    help_of_all = json.loads(receipt_tool.run("--experimental-dump-help").out)
    found = set()

    def look(command, path):
        name = " ".join(path)
        for argument in command.get("arguments", []):
            names = {entry["name"] for entry in argument.get("names", [])}
            if argument["kind"] == "option" and names & OUTPUT_OPTIONS:
                found.add(name)
        for inner in command.get("subcommands", []):
            look(inner, [*path, inner["commandName"]])

    look(help_of_all["command"], [])
    assert found <= {name for name, _, _ in CASES} | {"audit history"}, found
