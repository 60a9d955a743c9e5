# SPDX-License-Identifier: Apache-2.0
"""receipt-tool notifications serve: what it accepts, does once, and keeps when it is killed at any instant."""

import http.client
import http.server
import json
import os
import random
import signal
import socket
import threading
import time
import uuid

import pytest

import one_processor
import samples
from independent import jws, pki
from notifications import Receiver, body
from tool import ReceiptTool

ORIGINAL = samples.TRANSACTION["originalTransactionId"]


@pytest.fixture(scope="module")
def leaf(store):
    """Signs at any time."""
    return store.intermediate.issue("Receipt Signing", "p256", markers=(pki.RECEIPT_LEAF,), validity=pki.CENTURY)


@pytest.fixture
def serve(receipt_tool, trust, tmp_path):
    running = []

    def start(*arguments, state="state.sqlite"):
        running.append(Receiver(receipt_tool, tmp_path / state, *trust, *arguments))
        return running[-1]

    yield start
    for receiver in running:
        if receiver.process.poll() is None:
            receiver.stop()


@pytest.fixture
def entitlements(receipt_tool, tmp_path):
    def read(*arguments) -> list[dict]:
        run = receipt_tool.run("notifications", "entitlements", "--state", tmp_path / "state.sqlite", *arguments)
        assert run.code == 0 or run.code == 1 and not run.out, run.err
        return run.lines

    return read


class Backend:
    """A server that is forwarded notifications, and answers with what `status` says."""

    def __init__(self):
        self.status, self.received = 200, []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.received.append((self.headers["Idempotency-Key"], content))
                self.send_response(outer.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def backend():
    backend = Backend()
    yield backend
    backend.server.shutdown()


def test_a_notification_is_done_once(serve, leaf, backend, entitlements):
    receiver = serve("--forward", backend.url)
    identifier = str(uuid.uuid4())
    data = body(leaf, identifier)
    line = receiver.sends(data)
    assert (line["result"], line["status"], line["notificationUUID"]) == ("done", 200, identifier)
    assert line["notificationType"] == "DID_RENEW" and line["originalTransactionId"] == ORIGINAL
    # Signed anew, as another delivery of the same, and spelled otherwise.
    for again in (data, body(leaf, identifier), body(leaf, identifier.upper())):
        assert receiver.sends(again)["result"] == "repeated"
    [(key, document)] = backend.received
    assert key == identifier
    assert document["notification"]["notificationUUID"] == identifier
    assert document["transaction"]["originalTransactionId"] == ORIGINAL
    assert json.loads(data)["signedPayload"] == document["signedPayload"]
    # While it runs, and after a restart.
    [entitlement] = entitlements()
    assert (entitlement["state"], entitlement["grantsAccess"]) == ("active", True)
    receiver.stop(signal.SIGKILL)
    receiver = serve("--forward", backend.url)
    assert receiver.sends(data)["result"] == "repeated"
    assert len(backend.received) == 1 and entitlements() == [entitlement]
    assert entitlements("--original", "1") == []
    [later] = entitlements("--at", "2039-01-01T00:00:00Z")
    assert later["state"] == "expired"


def test_what_was_not_done_is_delivered_again(serve, leaf, backend, entitlements):
    receiver = serve("--forward", backend.url)
    data = body(leaf)
    backend.status = 500
    line = receiver.sends(data)
    assert (line["result"], line["status"]) == ("failed", 503) and "500" in line["message"]
    assert entitlements() == []
    backend.status = 204
    assert receiver.sends(data)["result"] == "done"
    assert len(backend.received) == 2 and len(entitlements()) == 1


def test_a_program(serve, leaf, tmp_path):
    output = tmp_path / "lines"
    receiver = serve("--forward", f"cat >> '{output}'; test ! -e '{tmp_path}/broken'")
    for number in range(3):
        assert receiver.sends(body(leaf, original=f"1{number}"))["result"] == "done"
    originals = [json.loads(line)["transaction"]["originalTransactionId"] for line in output.read_text().splitlines()]
    assert originals == ["10", "11", "12"]
    (tmp_path / "broken").touch()
    line = receiver.sends(body(leaf))
    assert line["result"] == "failed" and "exit code 1" in line["message"]
    slow = serve("--forward", "sleep 60", "--forward-timeout", "0.3", state="slow.sqlite")
    start = time.monotonic()
    line = slow.sends(body(leaf))
    assert line["result"] == "failed" and "did not end" in line["message"] and time.monotonic() - start < 20


def test_the_same_twice_at_once(serve, leaf, tmp_path):
    """As long as the work is not done, nobody is told that it is."""
    begun, may_end = tmp_path / "begun", tmp_path / "may-end"
    receiver = serve(
        "--forward", f"echo x >> '{begun}'; while [ ! -e '{may_end}' ]; do sleep 0.02; done; echo x >> '{tmp_path}/lines'",
        "--forward-timeout", "300",
    )  # fmt: skip
    data = body(leaf)
    first = []
    thread = threading.Thread(target=lambda: first.append(receiver.post(data, timeout=300)))
    thread.start()
    while not begun.exists():
        time.sleep(0.02)
    for _ in range(7):
        assert receiver.sends(data)["result"] == "busy"
    assert first == [] and not (tmp_path / "lines").exists()
    may_end.touch()
    thread.join()
    assert first == [200] and receiver.line()["result"] == "done"
    assert receiver.sends(data)["result"] == "repeated"
    assert (tmp_path / "lines").read_text() == begun.read_text() == "x\n"


def test_one_processor(receipt_tool, trust, leaf, tmp_path):
    """Neither waiting for a connection, nor reading a slow one, nor a program takes the only thread of Swift's pool."""
    tool = ReceiptTool(one_processor.program(receipt_tool.path, tmp_path))
    begun, may_end = tmp_path / "begun", tmp_path / "may-end"
    command = f"if grep -q 2000000000000099; then touch '{begun}'; while [ ! -e '{may_end}' ]; do sleep 0.02; done; fi"
    receiver = Receiver(
        tool, tmp_path / "state.sqlite", *trust, "--forward", command, "--forward-timeout", "300"
    )
    try:
        assert receiver.sends(body(leaf))["result"] == "done"
        # Connections that send nothing, and a program that does not end.
        silent = [socket.create_connection(("127.0.0.1", receiver.port)) for _ in range(4)]
        for connection in silent:
            connection.sendall(b"POST / HTTP/1.1\r\n")
        waiting = []
        slow = threading.Thread(target=lambda: waiting.append(receiver.post(body(leaf, original="2000000000000099"), timeout=300)))
        slow.start()
        while not begun.exists():
            time.sleep(0.02)
        for _ in range(4):
            assert receiver.sends(body(leaf))["result"] == "done"
        may_end.touch()
        slow.join()
        assert waiting == [200]
        for connection in silent:
            connection.close()
    finally:
        receiver.stop()


def test_a_forged_one_is_never_accepted(serve, leaf, store, backend, entitlements):
    receiver = serve("--forward", backend.url)
    data = body(leaf)
    envelope = json.loads(data)
    head, content, signature = envelope["signedPayload"].split(".")
    other = json.loads(body(leaf))["signedPayload"].split(".")
    stranger = pki.Store("Another Root")
    forged = [
        json.dumps({"signedPayload": f"{head}.{other[1]}.{signature}"}).encode(),
        body(stranger.intermediate.issue("R", "p256", markers=(pki.RECEIPT_LEAF,), validity=pki.CENTURY)),
        body(store.intermediate.issue("Unmarked", "p256", validity=pki.CENTURY)),
        json.dumps({"signedPayload": jws.sign(samples.TRANSACTION, leaf)}).encode(),
        body(leaf, data=samples.NOTIFICATION["data"] | {"bundleId": "com.example.other"}),
        b"", b"{}", b"null", b"[]", b'{"signedPayload":1}', b"\xff" * 100, data[:-40],
    ]  # fmt: skip
    generator = random.Random(7)
    for _ in range(40):
        changed = bytearray(envelope["signedPayload"].encode())
        position = generator.randrange(len(changed))
        changed[position] = generator.choice([c for c in b"Aa0-_." if c != changed[position]])
        forged.append(json.dumps({"signedPayload": changed.decode()}).encode())
    for attempt in forged:
        line = receiver.sends(attempt)
        assert (line["result"], line["status"]) == ("refused", 400), line
    assert backend.received == [] and entitlements() == []
    assert receiver.sends(data)["result"] == "done"


def test_age(serve, leaf):
    receiver = serve("--max-age", "3600")
    old = int(time.time() * 1000) - 3_700_000
    line = receiver.sends(body(leaf, signed=old))
    assert line["status"] == 400 and line["message"].startswith("too-old")
    assert receiver.sends(body(leaf))["result"] == "done"


def test_requests_that_are_none(serve, leaf):
    receiver = serve()

    def raw(text: bytes) -> bytes:
        with socket.create_connection(("127.0.0.1", receiver.port), timeout=30) as connection:
            connection.sendall(text)
            connection.shutdown(socket.SHUT_WR)
            answer = b""
            while piece := connection.recv(4096):
                answer += piece
        receiver.line()
        return answer.split(b"\r\n")[0]

    post = b"POST / HTTP/1.1\r\nHost: a\r\n"
    assert b" 405 " in raw(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    assert b" 411 " in raw(post + b"\r\n")
    assert b" 411 " in raw(post + b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\n{}\r\n0\r\n\r\n")
    assert b" 411 " in raw(post + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}")
    assert b" 400 " in raw(post + b"Content-Length: +2\r\n\r\n{}")
    assert b" 400 " in raw(post + b"Content-Length : 2\r\n\r\n{}")
    assert b" 400 " in raw(post + b"Content-Length: 20\r\n\r\n{}")
    assert b" 400 " in raw(b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}")
    assert b" 413 " in raw(post + b"Content-Length: 99999999999999999999\r\n\r\n{}")
    assert b" 413 " in raw(post + b"Content-Length: 2000000\r\n\r\n" + b"x" * 100_000)
    assert b" 431 " in raw(post + b"a: b\r\n" * 10_000)
    for junk in (b"\0\1\2\r\n\r\n", b"\r\n\r\n", b"", b"POST / HTTP/2\r\n\r\n", b"POST\r\n\r\n", b"\xff\xfe\r\n\r\n"):
        assert b" 400 " in raw(junk)
    data = body(leaf)
    length = b"Content-Length: %d\r\n" % len(data)
    assert b" 100 " in raw(post + length + b"Expect: 100-continue\r\n\r\n")
    assert b" 200 " in raw(post + length + b"\r\n" + data + b"GET / HTTP/1.1\r\n\r\n")


def test_state_that_cannot_be_used(receipt_tool, trust, tmp_path):
    start = [
        "notifications", "serve", "--port", "0", "--bundle-id", "a", *trust, "--state",
    ]  # fmt: skip
    other = tmp_path / "other"
    other.write_text("something else entirely, and long enough to be a header " * 20)
    assert receipt_tool.run(*start, other).code == 66
    assert receipt_tool.run(*start, tmp_path / "no" / "folder").code == 74
    assert receipt_tool.run("notifications", "entitlements", "--state", tmp_path / "none").code == 66
    assert receipt_tool.run("notifications", "serve", "--port", "0", "--state", tmp_path / "s").code == 64
    assert receipt_tool.run(*start, tmp_path / "s", "--host", "no address").code == 64
    assert receipt_tool.run(*start, tmp_path / "s", "--forward", "http://example.com/").code == 64
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        run = receipt_tool.run(*start[:2], "--port", port, *start[4:], tmp_path / "s")
        assert run.code == 73 and "cannot listen" in run.err


def test_a_state_file_that_vanishes(serve, leaf, tmp_path):
    receiver = serve()
    assert receiver.sends(body(leaf))["result"] == "done"
    for path in tmp_path.glob("state.sqlite*"):
        path.unlink()
    with pytest.raises((http.client.HTTPException, OSError)):
        receiver.post(body(leaf))
    assert receiver.process.wait(timeout=30) == 74


@pytest.mark.parametrize("seed", range(int(os.environ.get("NOTIFICATION_KILLS", "6"))))
def test_killed_at_any_instant(serve, leaf, entitlements, tmp_path, seed):
    """What was acknowledged is recorded; what was recorded is never done again; all is done in the end."""
    generator = random.Random(seed)
    output = tmp_path / "lines"
    command = f"cat >> '{output}'"
    waiting = {str(uuid.uuid4()): str(1000 + number) for number in range(40)}
    bodies = {identifier: body(leaf, identifier, original) for identifier, original in waiting.items()}
    acknowledged = set()
    while waiting:
        receiver = serve("--forward", command)
        kill = threading.Timer(generator.uniform(0.02, 0.6), receiver.process.kill)
        kill.start()
        try:
            for identifier in generator.sample(sorted(bodies), len(bodies)):
                done_before = output.read_bytes().count(identifier.encode()) if output.exists() else 0
                if receiver.post(bodies[identifier]) != 200:
                    continue
                if identifier in acknowledged:
                    assert output.read_bytes().count(identifier.encode()) == done_before
                acknowledged.add(identifier)
                waiting.pop(identifier, None)
        except (http.client.HTTPException, OSError):
            pass
        kill.join()
        receiver.process.wait(timeout=30)
    found = {entitlement["originalTransactionId"] for entitlement in entitlements()}
    assert found == {str(1000 + number) for number in range(40)}
    receiver = serve("--forward", command)
    size = output.stat().st_size
    assert all(receiver.sends(data)["result"] == "repeated" for data in bodies.values())
    assert output.stat().st_size == size
