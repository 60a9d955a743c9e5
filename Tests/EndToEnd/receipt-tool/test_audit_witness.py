# SPDX-License-Identifier: Apache-2.0
"""Witnesses: the tool collects cosignatures over HTTP, and signs them; both are checked with another Ed25519.

The witnesses are receipt-tool audit witness behind Python's HTTP server; a log that they witness is made here.
"""

import base64
import concurrent.futures
import contextlib
import hashlib
import http.server
import json
import os
import subprocess
import threading
import time

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tool import UNDETERMINED, UNREADABLE, USAGE, VALID

CANNOT_CREATE = 73


class WitnessServer:
    """A web server that runs the tool for each request as CGI, or another handler."""

    def __init__(self, tool, folder, name, log):
        self.folder, self.tool, self.log, self.requests = folder, tool, log, 0
        run = tool.run("audit", "witness", folder, "--create", name)
        assert run.code == VALID, run.err
        self.vkey = run.out.strip()
        self.misbehave = None
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                outer.requests += 1
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status, headers, answer = (outer.misbehave or outer.run)(body, self.path)
                self.send_response(status)
                for header, value in headers.items():
                    self.send_header(header, value)
                self.send_header("Content-Length", str(len(answer)))
                # The client may have disconnected.
                with contextlib.suppress(ConnectionError):
                    self.end_headers()
                    self.wfile.write(answer)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/witness"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def run(self, body, path="/witness/add-checkpoint"):
        assert path == "/witness/add-checkpoint"
        return ask(self.tool, self.folder, self.log, body)

    def stop(self):
        if self.server:
            self.server.shutdown()
            self.server.server_close()
            self.server = None


def ask(tool, folder, log, body, **environment):
    """Runs the tool as a web server does, and reads its answer (RFC 3875)."""
    done = subprocess.run(
        [tool.path, "audit", "witness", folder, "--log", log],
        input=body,
        capture_output=True,
        timeout=60,
        env={**os.environ, "REQUEST_METHOD": "POST", "CONTENT_LENGTH": str(len(body)), **environment},
    )
    head, _, answer = done.stdout.partition(b"\r\n\r\n")
    headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
    return int(headers.pop("Status").split()[0]), headers, answer


def split_note(note):
    text, _, lines = note.rpartition("\n\n")
    return text + "\n", [line.split(" ") for line in lines.splitlines()]


def cosigned_at(vkey, note):
    """The verified time of the witness's cosignature; None without one."""
    name, key_id, key = vkey.split("+", 2)
    key = base64.b64decode(key)
    assert key[0] == 4
    assert hashlib.sha256(name.encode() + b"\n" + key).digest()[:4].hex() == key_id
    text, lines = split_note(note)
    times = []
    for dash, signer, signature in lines:
        assert dash == "—"
        signature = base64.b64decode(signature)
        if signer != name or signature[:4].hex() != key_id:
            continue
        seconds = int.from_bytes(signature[4:12], "big")
        message = f"cosignature/v1\ntime {seconds}\n{text}".encode()
        Ed25519PublicKey.from_public_bytes(key[1:]).verify(signature[12:], message)
        times.append(seconds)
    assert len(times) <= 1
    return times[0] if times else None


@pytest.fixture
def trail(receipt_tool, tmp_path):
    path = tmp_path / "verdicts.audit"
    assert receipt_tool.run("audit", "init", path, "--origin", "example.com/verdicts").code == VALID
    append(receipt_tool, path, 0, 3)
    return path


def append(tool, trail, first, end, *options):
    lines = "".join(
        json.dumps({"kind": "verdict", "verdict": "valid", "transactionId": str(number)}) + "\n"
        for number in range(first, end)
    )
    run = tool.run("audit", "append", trail, "-", *options, stdin=lines.encode())
    return run


@pytest.fixture
def witnesses(receipt_tool, tmp_path, trail):
    servers = [
        WitnessServer(receipt_tool, tmp_path / f"w{n}", f"witness.example/w{n}", f"{trail}.pub") for n in range(3)
    ]
    yield servers
    for server in servers:
        server.stop()


@pytest.fixture
def policy(witnesses, tmp_path, trail):
    """Two of three must cosign."""
    path = tmp_path / "policy.txt"
    lines = [f"log {open(f'{trail}.pub').read().strip()}"]
    lines += [f"witness w{n} {server.vkey} {server.url}" for n, server in enumerate(witnesses)]
    path.write_text("\n".join([*lines, "group all 2 w0 w1 w2", "quorum all", ""]))
    return path


def lie(server):
    """Answers with a signature of the right name and key ID by another key."""
    name, key_id, _ = server.vkey.split("+", 2)

    def answer(body, _):
        text, _ = split_note(body.decode().partition("\n\n")[2])
        seconds = int(time.time())
        signature = Ed25519PrivateKey.generate().sign(f"cosignature/v1\ntime {seconds}\n{text}".encode())
        blob = bytes.fromhex(key_id) + seconds.to_bytes(8, "big") + signature
        return 200, {}, f"— {name} {base64.b64encode(blob).decode()}\n".encode()

    server.misbehave = answer


# The machine may be busy: those who answer are waited for, however long it takes them.
PATIENT = ["--witness-patience", 60, "--witness-timeout", 60]


class TestCollecting:
    def test_all_cosign_and_the_cosigned_checkpoint_is_kept(self, receipt_tool, trail, witnesses, policy):
        before = int(time.time())
        run = receipt_tool.run("audit", "checkpoint", trail, "--witnesses", policy, *PATIENT)
        assert run.code == VALID, run.err
        for server in witnesses:
            assert before <= cosigned_at(server.vkey, run.out) <= time.time()
        assert open(f"{trail}.checkpoint").read() == run.out
        assert receipt_tool.run("audit", "checkpoint", trail, "--last").out == run.out
        assert receipt_tool.run("audit", "fsck", trail).code == VALID
        # A proof made now stands the test of the whole policy.
        proof = trail.with_suffix(".tlog-proof")
        assert receipt_tool.run("audit", "prove", trail, "1", "-o", proof).code == VALID
        assert receipt_tool.run("audit", "check", proof, "--policy", policy).code == VALID

    def test_a_trail_that_grew_is_proven_to_continue(self, receipt_tool, trail, witnesses, policy):
        for size in (3, 4, 300, 520):
            if size > 3:
                assert append(receipt_tool, trail, size, size + 1).code == VALID
            run = receipt_tool.run("audit", "checkpoint", trail, "--witnesses", policy, "--json", *PATIENT)
            assert run.code == VALID, run.err
            (line,) = run.lines
            assert len(line["cosignatures"]) == 3
            assert all(cosigned_at(server.vkey, line["note"]) for server in witnesses)

    def test_two_of_three_where_one_is_down(self, receipt_tool, trail, witnesses, policy):
        witnesses[1].stop()
        run = receipt_tool.run("audit", "checkpoint", trail, "--witnesses", policy, *PATIENT)
        assert run.code == VALID, run.err
        assert "w1 (unreachable" in run.err
        assert [cosigned_at(server.vkey, run.out) is not None for server in witnesses] == [True, False, True]

    def test_two_of_three_where_one_lies(self, receipt_tool, trail, witnesses, policy):
        lie(witnesses[2])
        run = receipt_tool.run("audit", "checkpoint", trail, "--witnesses", policy, *PATIENT)
        assert run.code == VALID, run.err
        assert "w2 (wrong-signature" in run.err
        # The lie is not in the note, where it would spoil it for all who know the witness.
        assert [cosigned_at(server.vkey, run.out) is not None for server in witnesses] == [True, True, False]

    def test_not_witnessed_where_one_is_down_and_one_lies(self, receipt_tool, trail, witnesses, policy):
        witnesses[0].stop()
        lie(witnesses[1])
        run = receipt_tool.run("audit", "checkpoint", trail, "--witnesses", policy, *PATIENT)
        assert run.code == UNDETERMINED
        assert run.out == ""
        assert "not-witnessed" in run.err and "w0 (unreachable" in run.err and "w1 (wrong-signature" in run.err
        # What the honest one gave is kept, and it is not asked again.
        assert cosigned_at(witnesses[2].vkey, open(f"{trail}.checkpoint").read())
        asked = witnesses[2].requests
        witnesses[1].misbehave = None
        assert receipt_tool.run("audit", "checkpoint", trail, "--witnesses", policy, *PATIENT).code == VALID
        assert witnesses[2].requests == asked

    @pytest.mark.long
    def test_one_that_hangs_or_floods_does_not_hold_up(self, receipt_tool, trail, witnesses, policy):
        witnesses[0].misbehave = lambda *_: time.sleep(30) or (200, {}, b"")
        witnesses[1].misbehave = lambda *_: (200, {}, b"A" * 50_000_000)
        start = time.monotonic()
        run = receipt_tool.run_measured("audit", "checkpoint", trail, "--witnesses", policy, "--witness-timeout", 5)
        assert time.monotonic() - start < 25
        assert run.code == UNDETERMINED
        assert "w0 (timed-out" in run.err and "w1 (too-large" in run.err
        assert run.peak_kilobytes < 150_000

    def test_one_that_saw_another_history_is_named(self, receipt_tool, trail, witnesses, policy):
        witnesses[0].misbehave = lambda body, _: (
            409, {"Content-Type": "text/x.tlog.size"}, body.split(b"\n")[0].split(b" ")[1] + b"\n",
        )
        run = receipt_tool.run("audit", "checkpoint", trail, "--witnesses", policy, *PATIENT)
        assert run.code == VALID
        assert "w0 (forked" in run.err

    def test_witnessed_appends(self, receipt_tool, trail, witnesses, policy):
        options = ["--acknowledge", "witnessed", "--witnesses", policy, *PATIENT]
        witnesses[0].stop()
        run = append(receipt_tool, trail, 3, 5, *options)
        assert run.code == VALID, run.err
        assert run.out == "entry 3\nentry 4\n"
        note = open(f"{trail}.checkpoint").read()
        assert note.splitlines()[1] == "5"
        assert cosigned_at(witnesses[1].vkey, note) and cosigned_at(witnesses[2].vkey, note)
        # Entered, but not acknowledged: too few are left.
        witnesses[1].stop()
        run = append(receipt_tool, trail, 5, 6, *options)
        assert run.code == UNDETERMINED
        assert run.out == "" and "not-witnessed" in run.err
        assert receipt_tool.run("audit", "stats", trail, "--json").lines[0]["entries"] == 6

    def test_what_cannot_work_is_said_first(self, receipt_tool, trail, witnesses, policy, tmp_path):
        assert append(receipt_tool, trail, 3, 4, "--acknowledge", "witnessed").code == USAGE
        assert append(receipt_tool, trail, 3, 4, "--acknowledge", "durable", "--witnesses", policy).code == USAGE
        bare = tmp_path / "bare.txt"
        bare.write_text(f"witness w {witnesses[0].vkey}\nquorum w\n")
        run = append(receipt_tool, trail, 3, 4, "--acknowledge", "witnessed", "--witnesses", bare)
        assert run.code == UNREADABLE and "no-witnesses" in run.err
        bare.write_text(f"witness w {witnesses[0].vkey} http://witness.example/w\nquorum w\n")
        run = receipt_tool.run("audit", "checkpoint", trail, "--witnesses", bare)
        assert run.code == UNREADABLE and "not encrypted" in run.err
        bare.write_text("quorum w\n")
        run = receipt_tool.run("audit", "checkpoint", trail, "--witnesses", bare)
        assert run.code == UNREADABLE and "line 1" in run.err
        assert receipt_tool.run("audit", "stats", trail, "--json").lines[0]["entries"] == 3


class Log:
    """An independent log: its tree, proofs and signatures are computed here (RFC 6962, C2SP)."""

    def __init__(self, origin, count=64):
        self.key, self.origin = Ed25519PrivateKey.generate(), origin
        self.leaves = [hashlib.sha256(b"\0" + bytes([n])).digest() for n in range(count)]
        public = b"\1" + self.key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        self.key_id = hashlib.sha256(origin.encode() + b"\n" + public).digest()[:4]
        self.vkey = f"{origin}+{self.key_id.hex()}+{base64.b64encode(public).decode()}"

    def root(self, leaves):
        if not leaves:
            return hashlib.sha256(b"").digest()
        if len(leaves) == 1:
            return leaves[0]
        k = 1 << (len(leaves) - 1).bit_length() - 1
        return hashlib.sha256(b"\1" + self.root(leaves[:k]) + self.root(leaves[k:])).digest()

    def proof(self, old, leaves, is_whole=True):
        if old == len(leaves):
            return [] if is_whole else [self.root(leaves)]
        k = 1 << (len(leaves) - 1).bit_length() - 1
        if old <= k:
            return self.proof(old, leaves[:k], is_whole) + [self.root(leaves[k:])]
        return self.proof(old - k, leaves[k:], False) + [self.root(leaves[:k])]

    def note(self, size, root=None):
        root = root or self.root(self.leaves[:size])
        text = f"{self.origin}\n{size}\n{base64.b64encode(root).decode()}\n"
        signature = base64.b64encode(self.key_id + self.key.sign(text.encode())).decode()
        return f"{text}\n— {self.origin} {signature}\n"

    def request(self, old, size, note=None, proof=None):
        if proof is None:
            proof = self.proof(old, self.leaves[:size]) if 0 < old <= size else []
        lines = [f"old {old}", *(base64.b64encode(node).decode() for node in proof), "", note or self.note(size)]
        return "\n".join(lines).encode()


class TestBeingAWitness:
    @pytest.fixture
    def log(self):
        return Log("other.example/log")

    @pytest.fixture
    def folder(self, receipt_tool, tmp_path):
        path = tmp_path / "witness"
        run = receipt_tool.run("audit", "witness", path, "--create", "witness.example/w", "--json")
        assert run.code == VALID, run.err
        assert run.lines[0]["publicKey"] == open(path / "witness.pub").read().strip()
        assert (path / "witness.key").stat().st_mode & 0o777 == 0o600
        return path

    def test_cosigns_a_log_of_another_make(self, receipt_tool, log, folder):
        vkey = open(folder / "witness.pub").read().strip()
        old = 0
        for size in (1, 2, 7, 7, 8, 33, 64):
            status, headers, answer = ask(receipt_tool, folder, log.vkey, log.request(old, size))
            assert status == 200
            assert abs(cosigned_at(vkey, log.note(size) + answer.decode()) - time.time()) < 60
            old = size

    def test_refuses_as_the_protocol_says(self, receipt_tool, log, folder):
        assert ask(receipt_tool, folder, log.vkey, log.request(0, 10))[0] == 200
        stranger, impostor = Log("stranger.example/log"), Log(log.origin)
        size = (409, "text/x.tlog.size", b"10\n")
        cases = [
            (b"", 400),
            (b"old 010\n\n" + log.note(12).encode(), 400),
            (log.request(11, 10, proof=[]), 400),
            (log.request(10, 12, impostor.note(12)), 403),
            (stranger.request(10, 12), 404),
            (log.request(10, 12, proof=[]), 422),
            (log.request(10, 12, proof=[bytes(32)] * 4), 422),
            (b"A" * 3_000_000, 400),
            (log.request(0, 12), size),
            (log.request(4, 8), size),
            (log.request(10, 10, log.note(10, root=bytes(32))), 422),
            (log.request(0, 0, log.note(0, root=bytes(32)), proof=[]), 422),
        ]
        for body, expected in cases:
            status, headers, answer = ask(receipt_tool, folder, log.vkey, body)
            if isinstance(expected, tuple):
                assert (status, headers["Content-Type"], answer) == expected
            else:
                assert (status, answer) == (expected, b""), body[:80]
        assert ask(receipt_tool, folder, log.vkey, log.request(10, 12))[0] == 200

    @pytest.mark.long
    def test_never_goes_back_while_processes_race(self, receipt_tool, log, folder):
        """Of several requests with the same old size, only one is served."""
        sizes, lock = [], threading.Lock()

        def climb(step):
            known = 0
            while known < 48:
                size = min(48, known + step)
                status, _, answer = ask(receipt_tool, folder, log.vkey, log.request(known, size))
                assert status in (200, 409)
                if status == 200:
                    with lock:
                        sizes.append(size)
                    known = size
                else:
                    assert int(answer) > known
                    known = int(answer)

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for result in [pool.submit(climb, step) for step in (1, 2, 3, 4)]:
                result.result()
        assert len(sizes) == len(set(sizes)) and max(sizes) == 48

    @pytest.mark.long
    def test_one_killed_has_stored_what_it_answered(self, receipt_tool, log, folder):
        """A published cosignature is never contradicted, however the process ended."""
        known = 0
        for size in range(1, 25):
            body = log.request(known, size)
            process = subprocess.Popen(
                [receipt_tool.path, "audit", "witness", folder, "--log", log.vkey],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                env={**os.environ, "CONTENT_LENGTH": str(len(body))},
            )
            process.stdin.write(body)
            process.stdin.flush()
            time.sleep(size % 8 * 0.004)
            process.kill()
            answered = process.communicate()[0].startswith(b"Status: 200")
            status, _, answer = ask(receipt_tool, folder, log.vkey, log.request(0, size))
            seen = int(answer) if status == 409 else size
            assert status in (200, 409) and seen in (known, size)
            assert not answered or status == 409 and seen == size
            known = seen

    def test_answers_500_when_it_is_not_in_order(self, receipt_tool, log, folder, tmp_path):
        assert ask(receipt_tool, folder, log.vkey, log.request(0, 3))[0] == 200
        (stored,) = folder.glob("*.checkpoint")
        stored.write_bytes(stored.read_bytes().replace(b"\n3\n", b"\n2\n"))
        assert ask(receipt_tool, folder, log.vkey, log.request(2, 4))[::2] == (500, b"")
        assert ask(receipt_tool, tmp_path / "absent", log.vkey, log.request(0, 3))[0] == 500
        assert ask(receipt_tool, folder, "no key", log.request(0, 3))[0] == 500
        assert ask(receipt_tool, folder, log.vkey, b"", REQUEST_METHOD="GET")[0] == 405

    def test_the_command_line(self, receipt_tool, folder, log):
        create = ["audit", "witness", folder, "--create", "witness.example/w"]
        assert receipt_tool.run(*create).code == CANNOT_CREATE
        assert receipt_tool.run(*create, "--log", log.vkey).code == USAGE
        assert receipt_tool.run("audit", "witness", folder).code == USAGE
        assert receipt_tool.run("audit", "witness", folder / "x", "--create", "not a name").code == USAGE
