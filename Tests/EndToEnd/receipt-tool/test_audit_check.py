# SPDX-License-Identifier: Apache-2.0
"""Tools/audit-check/audit_check.py, which auditors run without ReceiptKit, and receipt-tool agree about proofs and exports, as
they are written and with every part altered."""

import base64
import contextlib
import importlib.util
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
from unittest import mock

import pytest

import samples
from independent import jws
from test_audit_witness import PATIENT, WitnessServer
from tool import INVALID, ROOT, UNREADABLE, VALID

CHECKER = ROOT / "Tools/audit-check/audit_check.py"
CUSTOMER = "7e3fb204-2b3a-4c8f-9d5e-6a1b2c3d4e5f"
PURCHASE = "2000000000000001"


specification = importlib.util.spec_from_file_location("audit_check", CHECKER)
audit_check = importlib.util.module_from_spec(specification)
specification.loader.exec_module(audit_check)


def run_checker(*arguments) -> subprocess.CompletedProcess:
    """As `python3 audit_check.py`, but in this process: to start Python takes a hundred times as long as most checks.
    test_what_is_printed starts it."""
    output, errors = io.StringIO(), io.StringIO()
    with mock.patch.object(sys, "argv", [str(CHECKER), *map(str, arguments)]):
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            try:
                code = audit_check.main()
            except SystemExit as exit:
                code = exit.code
    return subprocess.CompletedProcess(sys.argv, code, output.getvalue(), errors.getvalue())


def check(*arguments) -> dict[str, dict]:
    """What the checker says of each path; its exit code must fit."""
    run = run_checker("--json", *arguments)
    results = {line["path"]: line for line in map(json.loads, run.stdout.splitlines())}
    assert run.returncode == (0 if all(each["verified"] for each in results.values()) else 1), run.stderr
    assert results and not run.stderr, run.stderr
    return results


def refused_options(*arguments) -> str:
    run = run_checker(*arguments)
    assert run.returncode == 2 and not run.stdout, run
    return run.stderr


def records(first: int, end: int) -> bytes:
    """Some of a customer with a receipt, one of three purchases in turn, one in ten with a check."""
    lines = []
    for number in range(first, end):
        line = {"kind": "verdict", "verdict": "valid", "transactionId": str(number), "originalTransactionId": f"{PURCHASE}{number % 3}"}
        if number % 10 == 0:
            line |= {"checks": [{"name": "app store", "answer": "confirmed"}, {"name": "play", "answer": "refused"}]}
        if number % 10 == 1:
            line |= {"customer": CUSTOMER if number % 20 == 1 else f"user-{number}", "receiptData": base64.b64encode(b"r%d" % number).decode()}
        lines.append(json.dumps(line) + "\n")
    return "".join(lines).encode()


class Trail:
    def __init__(self, tool, folder: pathlib.Path, size: int):
        self.tool, self.folder, self.path = tool, folder, folder / "verdicts.audit"
        folder.mkdir(exist_ok=True)
        self.run("init", "--origin", "example.com/verdicts")
        self.append(0, size)
        self.key = folder / "verdicts.audit.pub"

    def run(self, command, *arguments, code=VALID, **options):
        run = self.tool.run("audit", command, self.path, *arguments, timeout=300, **options)
        assert run.code == code, run.err
        return run

    def append(self, first: int, end: int):
        if end > first:
            self.run("append", "-", stdin=records(first, end))

    def checkpoint(self) -> pathlib.Path:
        path = self.folder / f"kept-{len(list(self.folder.glob('kept-*')))}"
        path.write_text(self.run("checkpoint").out)
        return path

    def export(self, name="exported", *options) -> pathlib.Path:
        self.run("checkpoint")
        self.run("export", self.folder / name, *options)
        return self.folder / name

    def prove(self, index: int) -> pathlib.Path:
        path = self.folder / f"{index}.tlog-proof"
        self.run("prove", index, "-o", path, "--overwrite")
        return path


@pytest.fixture(scope="module")
def trail(receipt_tool, tmp_path_factory):
    """A factory of trails with a number of entries."""
    return lambda size: Trail(receipt_tool, tmp_path_factory.mktemp("trail"), size)


@pytest.fixture(scope="module")
def lived(trail) -> Trail:
    """A trail with all that one can have: a checkpoint from before, a key that was replaced, twice, an erasure, anchors."""
    trail = trail(255)
    trail.first_key = trail.folder / "first.pub"
    shutil.copy(trail.key, trail.first_key)
    trail.early = trail.checkpoint()
    trail.run("rotate-key")
    trail.append(255, 258)
    trail.middle = trail.checkpoint()
    trail.middle_key = trail.folder / "middle.pub"
    trail.middle_key.write_text(json.loads(trail.run("keys", "--json").out.splitlines()[-1])["publicKey"])
    trail.run("erase", "--customer", CUSTOMER)
    trail.run("rotate-key")
    trail.append(258, 300)
    trail.run("history", f"{PURCHASE}1", "--proofs", trail.folder / "proofs")
    return trail


def agree_on_proofs(tool, paths, *options, ours=()) -> dict[str, bool]:
    """Whether each proof is verified, which both must say; `ours` are options as receipt-tool wants them."""
    results = check(*paths, *options)
    run = tool.run("audit", "check", "--json", *paths, *(ours or options), timeout=300)
    proven = {line["source"]: line["proven"] for line in run.lines if line["type"] == "audit-check"}
    assert {path: line["verified"] for path, line in results.items()} == proven
    return proven


def agree_on_export(tool, folder, *options) -> bool:
    (result,) = check(folder, *options).values()
    run = tool.run("audit", "fsck", folder, *options, timeout=300)
    assert run.code in (VALID, INVALID, UNREADABLE) and result["verified"] == (run.code == VALID), (result, run.out, run.err)
    return result["verified"]


# Sizes


@pytest.mark.parametrize("size", [1, 2, 255, 256, 257, 513])
def test_sizes_around_those_of_tiles(receipt_tool, trail, size):
    trail = trail(size)
    kept = trail.checkpoint()
    assert agree_on_export(receipt_tool, trail.export(), "--key", trail.key)
    proofs = [trail.prove(index) for index in sorted({0, size // 2, size - 1})]
    assert all(agree_on_proofs(receipt_tool, proofs, "--key", trail.key).values())
    (result,) = check(trail.folder / "exported", "--key", trail.key).values()
    assert (result["treeSize"], result["origin"]) == (size, "example.com/verdicts")
    trail.append(size, size + 300)
    for options in [[], ["--with-erasable"]]:
        folder = trail.export("later", *options)
        assert agree_on_export(receipt_tool, folder, "--key", trail.key, "--since", kept)


def test_a_trail_without_entries(receipt_tool, trail):
    trail = trail(0)
    kept = trail.checkpoint()
    folder = trail.export()
    assert agree_on_export(receipt_tool, folder, "--key", trail.key, "--since", kept)


@pytest.mark.long
def test_seventy_thousand_entries_and_three_levels_of_tiles(receipt_tool, trail):
    trail = trail(65_000)
    kept = trail.checkpoint()
    trail.append(65_000, 70_000)
    folder = trail.export()
    assert (folder / "tile/2/000.p/1").is_file() and agree_on_export(receipt_tool, folder, "--key", trail.key, "--since", kept)
    assert all(agree_on_proofs(receipt_tool, [trail.prove(index) for index in (0, 65_535, 65_536, 69_999)], "--key", trail.key).values())
    for tile in ["tile/0/255", "tile/1/000", "tile/1/001.p/17", "tile/2/000.p/1"]:
        original = (folder / tile).read_bytes()
        (folder / tile).write_bytes(original[:-1] + bytes([original[-1] ^ 1]))
        assert not agree_on_export(receipt_tool, folder, "--key", trail.key)
        (folder / tile).write_bytes(original)


# Proofs


def altered(data: bytes, step: int):
    """The proof with one bit of a byte flipped, for every byte in steps, cut short, lengthened, and with lines moved."""
    for place in range(0, len(data), step):
        yield data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
        yield data[:place]
    for end in [b"\n", b" ", b"\0", data.splitlines()[-1] + b"x\n"]:
        yield data + end
    lines = data.splitlines(keepends=True)
    for number, line in enumerate(lines):
        yield b"".join(lines[:number] + lines[number + 1 :])
        yield b"".join(lines[:number] + [line] + lines[number:])
        yield b"".join(lines[:number] + [line.replace(b"\n", b"\r\n")] + lines[number + 1 :])
        yield b"".join([*lines[:number], *lines[number : number + 2][::-1], *lines[number + 2 :]])
    yield data.replace(b"@v1", b"@v2", 1)
    yield data.replace(b"index ", b"index 0", 1)
    yield data.replace(b"\nindex", b"\nother x\nindex", 1)
    yield data.replace("—".encode(), b"-", 1)


def write_all(folder: pathlib.Path, variants) -> list[pathlib.Path]:
    folder.mkdir()
    paths = []
    for number, variant in enumerate(variants):
        paths.append(folder / f"{number}.tlog-proof")
        paths[-1].write_bytes(variant)
    return paths


@pytest.mark.parametrize("size", [1, 257])
def test_every_byte_of_a_proof(receipt_tool, trail, size, tmp_path):
    trail = trail(size)
    original = trail.prove(size - 1).read_bytes()
    variants = [each for each in altered(original, 1) if each != original]
    proven = agree_on_proofs(receipt_tool, write_all(tmp_path / "altered", variants), "--key", trail.key)
    accepted = [variants[int(pathlib.Path(path).stem)] for path, is_proven in proven.items() if is_proven]
    # Nothing but a signature line that is twice there, or a line of a key that nobody knows, which C2SP wants ignored.
    signatures = original.partition(b"\n\n")[2].partition(b"\n\n")[2]
    for each in accepted:
        head, _, lines = each.rpartition(b"\n\n")
        assert original.startswith(head) and signatures in lines + b"\n" * 0, each
    assert len(proven) > 2 * len(original) and 1 <= len(accepted) <= 2


def test_a_proof_of_another_entry_tree_or_trail(receipt_tool, trail, lived, tmp_path):
    trail, other = trail(257), trail(257)
    first, second = (trail.prove(index).read_bytes() for index in (0, 256))
    foreign = other.prove(0).read_bytes()
    split = [each.split(b"\n\n", 1) for each in (first, second, foreign)]
    variants = [split[0][0] + b"\n\n" + split[2][1], split[2][0] + b"\n\n" + split[0][1], foreign]
    variants += [first.replace(b"index 0", b"index 1"), first.replace(b"index 0", b"index 257"), first.replace(b"index 0", b"index 18446744073709551616")]
    variants += [b"", b"\n", b"c2sp.org/tlog-proof@v1\n", os.urandom(1000), first * 2, first + second]
    variants += [b"c2sp.org/tlog-proof@v1\nindex 0\n" + first.split(b"index 0\n")[1]]
    # Sixty-five hashes, a hundred and one signature lines, and more bytes than anybody reads.
    hashes = first.split(b"index 0\n")[1].split(b"\n")[0] + b"\n"
    variants += [first.replace(hashes, hashes * 65), first + first.splitlines(True)[-1] * 100, first + b"x" * 2_100_000]
    assert not any(agree_on_proofs(receipt_tool, write_all(tmp_path / "proofs", variants), "--key", trail.key).values())
    assert not any(agree_on_proofs(receipt_tool, [trail.prove(0)], "--key", other.key).values())
    assert not any(agree_on_proofs(receipt_tool, [trail.prove(0)], "--key", lived.key).values())


def test_the_receipt_that_an_entry_is_about(receipt_tool, trail, trust, store, tmp_path):
    trail = trail(3)
    changes = {"genuine": {}, "signed again": {}, "other": {"transactionId": "7"}}
    receipts = {name: jws.sign(samples.TRANSACTION | change, store.leaf()).encode() for name, change in changes.items()}
    receipts |= {"forged": receipts["genuine"][:-8] + b"AAAAAAAA", "text": b"no receipt at all"}
    for name in ["genuine", "forged", "text"]:
        receipt_tool.run("verify", "--audit", trail.path, *trust, "-", stdin=receipts[name])
    proofs = [trail.prove(index) for index in (3, 4, 5)]
    receipts |= {"spaced": b"  " + receipts["genuine"] + b"\r\n", "quoted": b'"' + receipts["genuine"] + b'"', "empty": b"\n"}
    receipts |= {"signing input": receipts["genuine"].rpartition(b".")[0]}
    found = {}
    for name, receipt in receipts.items():
        path = tmp_path / name
        path.write_bytes(receipt)
        found[name] = list(agree_on_proofs(receipt_tool, proofs, "--key", trail.key, "--receipt", path).values())
    # A forged signature has the signing input of a genuine one.
    assert found["genuine"] == found["spaced"] == found["quoted"] == [True, False, False]
    assert found["forged"] == [True, True, False] and found["text"] == [False, False, True]
    assert found["signed again"] == found["genuine"] and not any(found["other"] + found["signing input"] + found["empty"])


@pytest.mark.long
def test_receipts_of_every_kind(receipt_tool, trail, tmp_path):
    trail, vectors, proofs, receipts = trail(1), ROOT / "TestVectors", [], []
    for name in sorted(line["file"] for line in json.loads((vectors / "manifest.json").read_text())["vectors"])[::7]:
        receipt = (vectors / name).read_bytes()
        run = receipt_tool.run("verify", "--json", "--audit", trail.path, "-", stdin=receipt)
        # Another spelling of a receipt that is in the trail is a repeat.
        if run.code in (0, 1, 2) and run.lines and run.lines[-1].get("repeated") is False:
            proofs.append(trail.prove(run.lines[-1]["entry"]))
            receipts.append(vectors / name)
    assert len(receipts) > 15
    for number, receipt in enumerate(receipts):
        assert all(agree_on_proofs(receipt_tool, [proofs[number]], "--key", trail.key, "--receipt", receipt).values())
        # Whether two spellings hold one receipt, the checker sees of a JWS alone; of others it wants the bytes of the entry.
        (other,) = check(proofs[number - 1], "--key", trail.key, "--receipt", receipt).values()
        run = receipt_tool.run("audit", "check", proofs[number - 1], "--key", trail.key, "--receipt", receipt)
        assert run.code == VALID or not other["verified"], receipt


# Keys that were replaced


def test_proofs_after_the_key_was_replaced(receipt_tool, lived, tmp_path):
    folder = lived.export("rotated")
    proofs = [lived.prove(index) for index in (0, 255, 257, 290)]
    assert not any(agree_on_proofs(receipt_tool, proofs, "--key", lived.first_key).values())
    assert all(agree_on_proofs(receipt_tool, proofs, "--key", lived.first_key, "--keys", folder / "keys").values())
    assert all(agree_on_proofs(receipt_tool, proofs, "--key", lived.middle_key, "--keys", folder / "keys").values())
    # A chain that is broken ends before the key that signed.
    original = (folder / "keys").read_bytes()
    step = len(original) // 60
    for place in range(0, len(original), step):
        keys = tmp_path / "keys"
        keys.write_bytes(original[:place] + bytes([original[place] ^ 1]) + original[place + 1 :])
        run = run_checker(proofs[0], "--key", lived.first_key, "--keys", keys)
        ours = receipt_tool.run("audit", "check", proofs[0], "--key", lived.first_key, "--keys", keys)
        assert run.returncode in (1, 2) and ours.code in (INVALID, UNREADABLE), place


def test_an_export_after_the_key_was_replaced(receipt_tool, lived, trail):
    folder = lived.export("replaced")
    for key in [lived.first_key, lived.middle_key]:
        for kept in [lived.middle, lived.checkpoint()]:
            assert agree_on_export(receipt_tool, lived.export("replaced"), "--key", key, "--since", kept), (key, kept)
    assert agree_on_export(receipt_tool, folder, "--key", lived.first_key, "--since", lived.early)
    # The files do not have the first key.
    assert not agree_on_export(receipt_tool, folder, "--key", lived.middle_key, "--since", lived.early)
    (folder / "keys").rename(lived.folder / "moved")
    assert not agree_on_export(receipt_tool, folder, "--key", lived.first_key)
    last = json.loads(lived.run("keys", "--json").out.splitlines()[-1])["publicKey"]
    assert not agree_on_export(receipt_tool, folder, "--key", last)
    (lived.folder / "moved").rename(folder / "keys")
    assert agree_on_export(receipt_tool, folder, "--key", last)
    foreign = trail(10).export()
    shutil.copy(foreign / "checkpoint", folder / "checkpoint")
    assert not agree_on_export(receipt_tool, folder, "--key", lived.first_key)


# Exports


@pytest.fixture(params=[[], ["--with-erasable"]], ids=["public", "with-erasable"])
def copy(request, lived, tmp_path):
    """Makes a copy of an export."""
    original = lived.export(f"whole{len(request.param)}", *request.param)

    def copy() -> pathlib.Path:
        shutil.rmtree(tmp_path / "copy", ignore_errors=True)
        return shutil.copytree(original, tmp_path / "copy")

    return copy


def files(folder: pathlib.Path) -> list[pathlib.Path]:
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())


@pytest.mark.long
def test_each_file_of_an_export(receipt_tool, lived, copy):
    options = ["--key", lived.first_key, "--since", lived.early]
    assert agree_on_export(receipt_tool, copy(), *options)
    names = files(copy())
    assert {"checkpoint", "keys"} <= set(map(str, names)) and len(names) >= 7
    for name in names:
        original = (copy() / name).read_bytes()
        flips = [0, len(original) // 3, len(original) // 2, len(original) - 1]
        changes = [original[:at] + bytes([original[at] ^ 4]) + original[at + 1 :] for at in flips]
        changes += [b"", original[:-1], original[: len(original) // 2], original + b"\0", original + b"\n", original * 2]
        for number, change in enumerate(changes):
            folder = copy()
            (folder / name).write_bytes(change)
            assert not agree_on_export(receipt_tool, folder, *options), (name, number)
        folder = copy()
        (folder / name).unlink()
        # Without any erasable part it is an export for the public.
        is_whole = str(name).startswith("erasable/") and not any(map(str, (folder / "erasable").rglob("*.p/*")))
        assert agree_on_export(receipt_tool, folder, *options) == (is_whole and not list((folder / "erasable").rglob("[0-9]*"))), name


def test_files_of_an_export_in_each_others_places(receipt_tool, lived, copy):
    options, names = ["--key", lived.first_key], files(copy())
    for first, second in zip(names, names[1:]):
        folder = copy()
        contents = (folder / first).read_bytes(), (folder / second).read_bytes()
        (folder / first).write_bytes(contents[1])
        (folder / second).write_bytes(contents[0])
        assert not agree_on_export(receipt_tool, folder, *options), (first, second)


def test_what_is_not_a_file(receipt_tool, lived, copy):
    for name in ["checkpoint", "keys", "tile/0/000", "tile/entries/000"]:
        folder = copy()
        (folder / name).unlink()
        os.mkfifo(folder / name)
        (result,) = check(folder, "--key", lived.first_key).values()
        assert not result["verified"]
        (folder / name).unlink()
        (folder / name).mkdir()
        (result,) = check(folder, "--key", lived.first_key).values()
        assert not result["verified"]
    folder = copy()
    with open(folder / "tile/0/000", "ab") as file:
        file.truncate(1 << 40)
    assert not check(folder, "--key", lived.first_key)[str(folder)]["verified"]


def test_erasures_and_erasable_parts(receipt_tool, lived, trail):
    """A part that was erased and is there again, and one that is gone and was not erased."""
    whole = trail(40)
    before = whole.export("before", "--with-erasable")
    whole.run("erase", "--customer", CUSTOMER)
    after = whole.export("after", "--with-erasable")
    assert agree_on_export(receipt_tool, before, "--key", whole.key) and agree_on_export(receipt_tool, after, "--key", whole.key)
    (part,) = [path for path in files(after) if str(path).startswith("erasable/")]
    (old,) = [path for path in files(before) if str(path).startswith("erasable/")]
    erased = (after / part).read_bytes()
    (after / part).write_bytes((before / old).read_bytes() + bytes(4) * (int(part.name) - int(old.name)))
    assert not agree_on_export(receipt_tool, after, "--key", whole.key)
    (before / old).write_bytes(bytes(4) * 40)
    assert not agree_on_export(receipt_tool, before, "--key", whole.key)
    (after / part).write_bytes(erased)
    (after / "erasable/001").write_bytes(b"")
    assert not agree_on_export(receipt_tool, after, "--key", whole.key)
    # A proof that was made before stays valid.
    proof = whole.prove(1)
    assert all(agree_on_proofs(receipt_tool, [proof], "--key", whole.key).values())


def test_a_rollback_and_another_history(receipt_tool, trail, tmp_path):
    trail = trail(300)
    old = trail.export("old")
    shutil.copytree(trail.folder, tmp_path / "fork")
    trail.append(300, 310)
    kept = trail.checkpoint()
    assert not agree_on_export(receipt_tool, old, "--key", trail.key, "--since", kept)
    assert agree_on_export(receipt_tool, trail.export("new"), "--key", trail.key, "--since", kept)
    # Another history under the same key.
    fork = object.__new__(Trail)
    fork.tool, fork.folder, fork.path = receipt_tool, tmp_path / "fork", tmp_path / "fork/verdicts.audit"
    fork.append(400, 420)
    folder = fork.export("forked")
    assert agree_on_export(receipt_tool, folder, "--key", trail.key)
    assert not agree_on_export(receipt_tool, folder, "--key", trail.key, "--since", kept)
    for alteration in [lambda text: text.replace("\n310\n", "\n300\n"), lambda text: text + "\n", lambda text: text[:-9] + text[-8:]]:
        changed = tmp_path / "changed"
        changed.write_text(alteration(kept.read_text()))
        arguments = [folder, "--key", trail.key, "--since", changed]
        run = run_checker(*arguments)
        assert run.returncode in (1, 2) and receipt_tool.run("audit", "fsck", *arguments).code in (INVALID, UNREADABLE)


# Witnesses


def test_cosignatures_of_witnesses(receipt_tool, trail, tmp_path):
    trail = trail(20)
    servers = [WitnessServer(receipt_tool, tmp_path / f"w{n}", f"witness.example/w{n}", trail.key) for n in range(3)]
    try:
        policy = tmp_path / "two"
        log = f"log {trail.key.read_text().strip()}"
        policy.write_text("\n".join([log, *(f"witness w{n} {each.vkey} {each.url}" for n, each in enumerate(servers[:2])), "group g all w0 w1", "quorum g", ""]))
        trail.run("checkpoint", "--witnesses", policy, *PATIENT)
    finally:
        for server in servers:
            server.stop()
    proof = trail.prove(7)
    original = proof.read_bytes()

    def agree(paths, *numbers) -> list[bool]:
        chosen = tmp_path / "policy"
        names = " ".join(f"w{n}" for n in numbers)
        chosen.write_text("\n".join([log, *(f"witness w{n} {servers[n].vkey}" for n in numbers), f"group g all {names}", "quorum g", ""]))
        options = [option for n in numbers for option in ("--witness", servers[n].vkey)]
        return list(agree_on_proofs(receipt_tool, paths, "--key", trail.key, *options, ours=["--policy", chosen]).values())

    assert agree([proof], 0) == agree([proof], 1) == agree([proof], 0, 1) == [True]
    assert agree([proof], 2) == agree([proof], 0, 1, 2) == [False]
    # Only the lines of those that are asked for matter. Every third byte, since a cosignature is long.
    variants = [each for each in altered(original, 3) if each != original]
    results = agree(write_all(tmp_path / "altered", variants), 0, 1)
    for variant, is_proven in zip(variants, results):
        assert not is_proven or all(line in variant for line in original.splitlines()), variant
    # The same witness twice is one.
    lines = original.splitlines(keepends=True)
    cosigned = [line for line in lines if b"witness.example/w0" in line]
    doubled = tmp_path / "doubled.tlog-proof"
    doubled.write_bytes(original.replace(next(line for line in lines if b"witness.example/w1" in line), cosigned[0]))
    assert agree([doubled], 0) == [True] and agree([doubled], 0, 1) == [False]
    assert "named twice" in refused_options(proof, "--key", trail.key, "--witness", servers[0].vkey, "--witness", servers[0].vkey)
    # An export's checkpoint too, which fsck does not ask for.
    folder = trail.folder / "cosigned"
    trail.run("export", folder)
    assert check(folder, "--key", trail.key, "--witness", servers[1].vkey)[str(folder)]["verified"]
    assert not check(folder, "--key", trail.key, "--witness", servers[2].vkey)[str(folder)]["verified"]


# Options and output


def test_wrong_options_and_keys(lived, tmp_path):
    proof, folder, key = lived.prove(3), lived.export("options"), lived.first_key
    assert "--key" in refused_options(proof)
    assert "not for a path" in refused_options(proof, "--key", key, "--since", lived.early)
    assert "not for a path" in refused_options(folder, "--key", key, "--receipt", proof)
    assert "No such file" in refused_options(proof, "--key", key, "--receipt", tmp_path / "none")
    text = key.read_text().strip()
    name, key_id, data = text.split("+", 2)
    for wrong in ["", "x", f"{name}+{key_id}", f"{name}+00000000+{data}", f"other+{key_id}+{data}", f"{name}+{key_id}+{data[:-4]}", f" {text}", f"{text}=", text.replace("A", "a", 1)]:
        refused_options(proof, "--key", wrong)
    witness = base64.b64encode(b"\x04" + base64.b64decode(data)[1:]).decode()
    refused_options(proof, "--key", f"{name}+{key_id}+{witness}")
    refused_options(proof, "--key", key, "--witness", key)


def test_what_is_printed(lived, tmp_path):
    folder, key = lived.export("printed"), lived.first_key
    proof = lived.prove(10)
    run = subprocess.run([sys.executable, CHECKER, folder, proof, "--key", key], capture_output=True, text=True, timeout=60)
    assert run.returncode == 1
    lines = run.stdout.splitlines()
    assert lines[0] == f"VERIFIED  {folder}" and f"NOT VERIFIED  {proof}" in lines
    assert '  origin "example.com/verdicts"' in lines
    keys = ["--keys", folder / "keys"]
    (result,) = check(proof, "--key", key, *keys).values()
    assert (result["index"], result["transaction"], result["check"]) == (10, "10", "app%20store confirmed, play refused")
    run = subprocess.run([sys.executable, CHECKER, "--help"], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0 and "C2SP" in run.stdout and "Exit code" in run.stdout


def test_it_is_one_short_file_of_the_standard_library_and_cryptography():
    text = CHECKER.read_text()
    imports = {name.split(".")[0] for line in text.splitlines() if line.startswith(("import ", "from ")) for name in line.split()[1].split(",")}
    imports |= {name.strip() for line in text.splitlines() if line.startswith("import ") for name in line[7:].split(",")}
    assert {name for name in imports if name} - set(sys.stdlib_module_names) == {"cryptography"}
    assert text.count("\n") < 200
