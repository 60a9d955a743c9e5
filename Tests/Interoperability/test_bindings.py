# SPDX-License-Identifier: Apache-2.0
"""The bindings of libreceiptkit: each must say of every receipt what receipt-tool says, pass its own tests, and have an
example that answers requests rightly."""

import base64
import concurrent.futures
import http.client
import json
import os
import socket
import subprocess
import time

import pytest

import bindings
import library_samples

pytestmark = pytest.mark.long

# At an instant at which the vectors' subscription is active.
POLICY = {
    "bundleIds": ["com.example.app"],
    "environments": ["production", "sandbox"],
    "trust": [(library_samples.VECTORS / "certificates/es256-root.pem").read_text()],
    "time": "2025-10-15T00:00:00Z",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    if bindings.absence():
        pytest.skip(bindings.absence())
    return bindings.install(tmp_path_factory.mktemp("library"))


@pytest.fixture(scope="module", params=bindings.BINDINGS)
def built(request, library, tmp_path_factory):
    binding = bindings.BINDINGS[request.param]
    if binding.absence():
        pytest.skip(f"{request.param}: {binding.absence()}")
    return binding.build(tmp_path_factory.mktemp(request.param), library)


def summary(verdict: dict) -> dict:
    reason = verdict.get("reason", {})
    return {
        "verdict": verdict["verdict"],
        "code": reason.get("code"),
        "place": reason.get("place"),
        "transactions": [purchase.get("transactionId") for purchase in verdict.get("transactions", [])],
    }


def line(policy: dict, *receipts: bytes) -> str:
    """A line of the input of the programs `parity`."""
    encoded = [base64.b64encode(receipt).decode() for receipt in receipts]
    return json.dumps({"policy": policy, "receipts": encoded}) + "\n"


def run(built, text: str, environment: dict | None = None) -> subprocess.CompletedProcess:
    """A run of the program `parity`."""
    environment = environment or built.variables
    return subprocess.run(built.parity, input=text, env=environment, capture_output=True, text=True, timeout=600)


class Expected:
    """Samples, and what receipt-tool says of them."""

    def __init__(self, receipt_tool, samples, folder):
        groups = library_samples.grouped(samples)
        self.names = [sample.name for group in groups for sample in group]
        self.input = "".join(line(group[0].policy, *(sample.receipt for sample in group)) for group in groups)
        self.verdicts = list(map(summary, library_samples.verdicts(receipt_tool, groups, folder)))

    def compare(self, built):
        done = run(built, self.input)
        assert done.returncode == 0 and done.stderr == "", done.stderr[-5000:]
        found = [json.loads(line) for line in done.stdout.splitlines()]
        assert len(found) == len(self.verdicts)
        pairs = zip(self.names, found, self.verdicts, strict=True)
        assert [(name, each, expected) for name, each, expected in pairs if each != expected] == []


@pytest.fixture(scope="module")
def vectors(receipt_tool, library, tmp_path_factory):
    return Expected(receipt_tool, library_samples.vectors(), tmp_path_factory.mktemp("vectors"))


@pytest.fixture(scope="module")
def genuine(receipt_tool, library, shared, tmp_path_factory):
    samples = library_samples.genuine(shared) + library_samples.other_stores(shared, tmp_path_factory.mktemp("keys"))
    return Expected(receipt_tool, samples, tmp_path_factory.mktemp("genuine"))


def test_every_vector_has_the_verdict_of_the_tool(built, vectors):
    assert {each["verdict"] for each in vectors.verdicts} == {"valid", "invalid", "undetermined"}
    vectors.compare(built)


def test_every_genuine_receipt_has_the_verdict_of_the_tool(built, genuine):
    genuine.compare(built)


def test_the_own_tests_pass(built, made):
    if built.tests is None:
        pytest.skip("it has no tests of its own that this file knows")
    environment = built.variables | {
        "RECEIPTKIT_TEST_PROOF": str(made.folder / "proof"),
        "RECEIPTKIT_TEST_PROOF_KEY": str(made.folder / "trail.pub"),
    }
    done = subprocess.run(
        built.tests, cwd=built.folder, env=environment, capture_output=True, text=True, timeout=600
    )
    output = done.stdout + done.stderr
    # Of a crash the first lines say what it was.
    assert done.returncode == 0, output if len(output) < 20_000 else f"{output[:10_000]}\n…\n{output[-10_000:]}"
    # What the tests need is there, so that they leave nothing out. Those that leave something out name it.
    assert "RECEIPTKIT_TEST_PROOF" not in output and "SKIPPED" not in output, output[-10_000:]


def free_port() -> int:
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return place.getsockname()[1]


class Server:
    """A process of an example."""

    def __init__(self, built, folder, **changes):
        policy = folder / "policy.json"
        policy.write_text(json.dumps(POLICY | changes))
        self.port = free_port()
        self.log = folder / "log.txt"
        environment = built.variables | {"POLICY": str(policy), "PORT": str(self.port)}
        with self.log.open("wb") as file:
            command = [str(word) for word in built.server(self.port)]
            self.process = subprocess.Popen(command, env=environment, stdout=file, stderr=subprocess.STDOUT)
        end = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                break
            except OSError:
                assert time.monotonic() < end and self.process.poll() is None, self.log.read_text()
                time.sleep(0.05)

    def ask(self, body: bytes, method: str = "POST") -> tuple[int, dict, dict]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request(method, "/", body, {"Content-Type": "application/octet-stream"})
        answer = connection.getresponse()
        content = json.loads(answer.read())
        connection.close()
        return answer.status, content, {name.lower(): value for name, value in answer.getheaders()}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def test_the_example_grants_only_what_is_valid_and_stands(built, tmp_path):
    if built.server is None:
        pytest.skip("it has no example of a server that this file knows")
    valid, undetermined, without_purchase = (
        (library_samples.VECTORS / path).read_bytes()
        for path in (
            "signed-transaction/valid.jws",
            "google-play-purchase/key-missing.json",
            "signed-app-transaction/valid.jws",
        )
    )
    with Server(built, tmp_path) as server:
        assert server.ask(valid)[:2] == (200, {"grantsAccess": True}), server.log.read_text()
        status, content, _ = server.ask(valid[:-8] + b"AAAAAAAA")
        assert status == 200 and content == {"grantsAccess": False, "reason": "signature-mismatch"}
        status, content, headers = server.ask(undetermined)
        assert status == 503 and content["grantsAccess"] is False and int(headers["retry-after"]) > 0
        assert server.ask(without_purchase)[:2] == (200, {"grantsAccess": False})
        for body in (b"", b"\0", b"\xff" * 100, b"{}", b"valid"):
            status, content, _ = server.ask(body)
            assert status == 200 and content["grantsAccess"] is False and content["reason"], body
        assert server.ask(b"", "GET")[0] == 405
        try:
            status, content, _ = server.ask(b" " * (5 << 20))
            assert status == 413 and content["grantsAccess"] is False
        except OSError:
            # It refused by ending the connection.
            pass
        # Many at once, after somebody who went away.
        with socket.create_connection(("127.0.0.1", server.port)) as gone:
            gone.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nx")
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda index: server.ask(valid if index % 2 else undetermined)[:2], range(64)))
        assert all(answer == (200, {"grantsAccess": True}) for answer in answers[1::2])
        assert all(status == 503 and content["grantsAccess"] is False for status, content in answers[::2])
        assert server.process.poll() is None
    with Server(built, tmp_path, time="2026-01-01T00:00:00Z") as server:
        # Genuine, and expired.
        assert server.ask(valid)[:2] == (200, {"grantsAccess": False})


def test_a_library_that_is_not_there_is_an_error(built, library):
    """Of those that load it at run time."""
    if built.parity[0] not in ("php", "ruby", "node", "java"):
        pytest.skip("it is bound to the library when it is linked, or another test is there for it")
    text = line(POLICY, b"")
    for path in ("/nowhere/libreceiptkit.so", str(library / "receiptkit.h"), "libm.so.6"):
        done = run(built, text, built.variables | {"RECEIPTKIT_LIBRARY": path})
        assert done.returncode > 0 and "verdict" not in done.stdout, done
    # By the loader, where the variable is not set.
    environment = {name: value for name, value in built.variables.items() if name != "RECEIPTKIT_LIBRARY"}
    done = run(built, text, environment | {"LD_LIBRARY_PATH": os.fspath(library)})
    assert done.returncode == 0 and json.loads(done.stdout)["verdict"] == "invalid", done
