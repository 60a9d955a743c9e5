# SPDX-License-Identifier: Apache-2.0
"""Logs that TransparencyLog writes (Snippets/KeepALog.swift) are what Go's packages for signed notes and
transparency logs, pymerkle and a bare Ed25519 take them for."""

import base64
import hashlib
import os
import pathlib
import shutil
import subprocess

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from pymerkle import InmemoryTree

SOURCES = pathlib.Path(__file__).with_name("sumdb")
# Where Debian's packages of Go libraries are.
GOPATH = "/usr/share/gocode"
# One full tile of level 1, and partial tiles at the levels 0, 1 and 2.
COUNT = 65_536 + 256 + 100


@pytest.fixture(scope="module")
def log(tmp_path_factory) -> pathlib.Path:
    writer = os.environ.get("KEEP_A_LOG")
    if not writer or not os.access(writer, os.X_OK):
        pytest.exit("KEEP_A_LOG does not name the built snippet KeepALog; run scripts/interoperability", 2)
    folder = tmp_path_factory.mktemp("log")
    subprocess.run([writer, folder, str(COUNT)], check=True, stdout=subprocess.DEVNULL, timeout=120)
    return folder


@pytest.fixture(scope="module")
def go(tmp_path_factory):
    """Runs the Go program on a folder; gives what it prints, or raises CalledProcessError."""
    folder = tmp_path_factory.mktemp("go")
    environment = os.environ | {"GO111MODULE": "off", "GOPATH": GOPATH, "GOFLAGS": "-buildvcs=false"}
    program = folder / "check"
    subprocess.run(["go", "build", "-o", program, "check.go"], cwd=SOURCES, env=environment, check=True, timeout=300)

    def run(log: pathlib.Path) -> str:
        return subprocess.run(
            [program, log], check=True, capture_output=True, text=True, timeout=120
        ).stdout

    return run


def test_go_opens_checkpoints_and_checks_proofs(go, log):
    assert go(log) == f"entries {COUNT} checkpoints 9 proofs 7 requests 9\n"


@pytest.mark.parametrize(
    ("name", "old", "new", "complaint"),
    [
        ("checkpoint", b"\n%d\n" % COUNT, b"\n%d\n" % (COUNT - 1), "checkpoint: invalid signature"),
        ("checkpoints/1000", b"\n1000\n", b"\n1001\n", "checkpoints/1000: invalid signature"),
        ("log.vkey", b"+", b"x+", "log.vkey: invalid verifier hash"),
        ("tile/0/000", None, None, "leaf hash in its tile: does not hold"),
        ("tile/1/000", None, None, "root from tiles: does not hold"),
        ("tile/2/000.p/1", None, None, "downloaded inconsistent tile"),
        ("tile/entries/100", b"entry 25600", b"entry 25609", "root of the entries: does not hold"),
        ("proofs/255.tlog-proof", b"index 255\n", b"index 254\n", "invalid transparency proof"),
        ("requests/257-1000", b"old 257\n", b"old 256\n", "invalid transparency proof"),
    ],
)
def test_go_refuses_what_was_altered(go, log, tmp_path, name, old, new, complaint):
    """Checks that the test above detects changes."""
    damaged = tmp_path / "log"
    shutil.copytree(log, damaged)
    content = (damaged / name).read_bytes()
    if old is None:
        altered = bytes([content[0] ^ 1]) + content[1:]
    else:
        assert old in content
        altered = content.replace(old, new, 1)
    (damaged / name).write_bytes(altered)
    with pytest.raises(subprocess.CalledProcessError) as failure:
        go(damaged)
    assert complaint in failure.value.stderr


def checkpoint_lines(path: pathlib.Path) -> list[str]:
    return path.read_text().split("\n")


def test_pymerkle_computes_the_same_roots(log):
    tree = InmemoryTree(algorithm="sha256")
    sizes = sorted(int(path.name) for path in (log / "checkpoints").iterdir())
    for size in sizes:
        if size > 1000:
            continue
        while tree.get_size() < size:
            tree.append_entry(b"entry %d" % tree.get_size())
        _, stated, root = checkpoint_lines(log / "checkpoints" / str(size))[:3]
        assert int(stated) == size
        assert base64.b64decode(root) == tree.get_root()


def verifier_key(text: str) -> tuple[str, bytes, int, bytes]:
    name, key_id, encoded = text.strip().split("+", 2)
    decoded = base64.b64decode(encoded, validate=True)
    identity = hashlib.sha256(name.encode() + b"\n" + decoded).digest()[:4]
    assert identity.hex() == key_id
    return name, identity, decoded[0], decoded[1:]


def test_a_cosignature_is_ed25519_over_time_and_checkpoint(log):
    text, signatures = (log / "checkpoint").read_text().split("\n\n")
    policy = [line.split() for line in (log / "policy").read_text().splitlines()]
    name, identity, kind, key = verifier_key(next(line[2] for line in policy if line[0] == "witness"))
    assert kind == 4
    (line,) = (line for line in signatures.splitlines() if line.startswith(f"\u2014 {name} "))
    signature = base64.b64decode(line.split(" ")[2], validate=True)
    assert signature[:4] == identity
    seconds = int.from_bytes(signature[4:12], "big")
    message = f"cosignature/v1\ntime {seconds}\n{text}\n".encode()
    public_key = Ed25519PublicKey.from_public_bytes(key)
    public_key.verify(signature[12:], message)
    with pytest.raises(InvalidSignature):
        public_key.verify(signature[12:], message + b"\n")
