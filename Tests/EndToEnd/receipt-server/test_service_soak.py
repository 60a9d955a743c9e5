# SPDX-License-Identifier: Apache-2.0
"""receipt-server under load and faults: slow clients, cut connections, oversized and malformed bodies, restarts of its
database. No acknowledged verdict is lost, memory and descriptors stay flat. RECEIPTKIT_SOAK_SECONDS makes it long: 1800 is half
an hour, with wrk at about half of what a release build serves on two cores."""

import json
import os
import pathlib
import random
import re
import socket
import subprocess
import threading
import time

import pytest
import requests

import load
import samples
from independent import pki
from service import Service

SECONDS = float(os.environ.get("RECEIPTKIT_SOAK_SECONDS", "8"))
IS_LONG = SECONDS >= 600
# Of the long run: verdicts a second that wrk asks for without and with recording.
PLAIN_CONNECTIONS, PLAIN_PAUSE = (64, 8) if IS_LONG else (4, 20)
RECORDING_CONNECTIONS, RECORDING_PAUSE = (8, 40) if IS_LONG else (2, 40)
# Entries that the trail has before: with them its index has filled the 24 MiB of memory that it takes.
EARLIER_ENTRIES = 600_000 if IS_LONG else 0


def memory(process) -> int:
    """Resident kilobytes."""
    return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{process.pid}/status").read_text())[1])


def descriptors(process) -> int:
    return len(os.listdir(f"/proc/{process.pid}/fd"))


def fill(service: Service, folder: pathlib.Path, leaf) -> None:
    """Has a trail of many entries, by batches."""
    size = 50_000
    for first in range(3 * 10**15, 3 * 10**15 + EARLIER_ENTRIES, size):
        file = load.write_receipts(folder / "earlier", range(first, first + size), leaf)
        subprocess.run(
            ["curl", "--silent", "--fail", "--upload-file", file, "--request", "POST", "--header", "Expect:", "--header",
             f"Authorization: Bearer {service.key}", "--output", "/dev/null", f"{service.url}/v1/verify/batch?app=demo"],
            check=True,
        )  # fmt: skip


class Faults:
    """Threads that send until they are told to stop, each with a fault of its own."""

    def __init__(self, service: Service, receipts: list[bytes], statuses: set[int]):
        """`statuses`: what may be answered to good requests."""
        self.service, self.receipts, self.statuses = service, receipts, statuses
        self.acknowledged: dict[str, int] = {}
        self.wrong: list = []
        self.is_over = threading.Event()
        host, port = service.url.removeprefix("http://").split(":")
        self.address = (host, int(port))
        parts = [self.verify, self.batches, self.cut, self.trickle, self.malformed, self.oversized, self.read]
        self.threads = [threading.Thread(target=self.repeat, args=[part]) for part in parts]
        for thread in self.threads:
            thread.start()

    def repeat(self, part):
        generator = random.Random(part.__name__)
        while not self.is_over.is_set():
            try:
                part(generator)
            except Exception as error:
                self.wrong.append((part.__name__, repr(error)))
                return

    def end(self):
        self.is_over.set()
        for thread in self.threads:
            thread.join(timeout=60)
        assert self.wrong == []

    def note(self, verdict: dict):
        assert verdict["verdict"] == "valid", verdict
        transaction = verdict["transactions"][0]["transactionId"]
        assert self.acknowledged.setdefault(transaction, verdict["entry"]) == verdict["entry"]

    def verify(self, generator):
        answer = self.post("/v1/verify", generator.choice(self.receipts))
        assert answer.status_code in self.statuses, answer.text
        if answer.status_code == 200:
            self.note(answer.json())
        time.sleep(0.02)

    def batches(self, generator):
        chosen = generator.sample(self.receipts, 100)
        try:
            lines = self.post("/v1/verify/batch", b"\n".join(chosen)).text.splitlines()
        except requests.exceptions.ChunkedEncodingError:
            # What cannot be recorded is not answered, and the head has been sent.
            assert 503 in self.statuses
            lines = []
        for line in lines:
            answer = json.loads(line)
            if answer["type"] == "verdict":
                self.note(answer)
        time.sleep(0.2)

    def read(self, generator):
        if self.acknowledged:
            transaction, entry = generator.choice(list(self.acknowledged.items()))
            answer = self.request("GET", f"/v1/audit/entries/{entry}")
            assert answer.status_code in self.statuses, answer.text
            if answer.status_code == 200:
                assert answer.json()["transactionId"] == transaction
        time.sleep(0.05)

    def post(self, path, data):
        return self.request("POST", path, data=data)

    def request(self, method, path, **arguments):
        # A session of each thread's own.
        session = self.sessions.session = getattr(self.sessions, "session", None) or requests.Session()
        return session.request(
            method, self.service.url + path, headers={"Authorization": f"Bearer {self.service.key}"}, timeout=60,
            params={"app": "demo"}, **arguments,
        )  # fmt: skip

    sessions = threading.local()

    def head(self, length: int) -> bytes:
        return (
            f"POST /v1/verify?app=demo HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {self.service.key}\r\n"
            f"Content-Length: {length}\r\n\r\n"
        ).encode()

    def cut(self, generator):
        """A connection that ends in the midst of a request, or before its answer is read."""
        receipt = generator.choice(self.receipts)
        request = self.head(len(receipt)) + receipt
        with socket.create_connection(self.address, timeout=30) as connection:
            connection.sendall(request[: generator.randrange(1, len(request) + 1)])
            if generator.random() < 0.5:
                # A reset instead of an orderly end.
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        time.sleep(0.01)

    def trickle(self, generator):
        with socket.create_connection(self.address, timeout=30) as connection:
            for byte in self.head(100)[: generator.randrange(10, 40)]:
                connection.sendall(bytes([byte]))
                time.sleep(0.005)

    def malformed(self, generator):
        receipt = bytearray(generator.choice(self.receipts))
        for _ in range(generator.randrange(1, 20)):
            receipt[generator.randrange(len(receipt))] = generator.randrange(256)
        answer = self.post("/v1/verify", bytes(receipt))
        assert answer.status_code in self.statuses, answer.text
        if answer.status_code == 200:
            assert answer.json()["verdict"] in ("invalid", "undetermined", "valid")
        noise = generator.randbytes(generator.randrange(1, 400))
        with socket.create_connection(self.address, timeout=30) as connection:
            connection.sendall(noise)
        time.sleep(0.01)

    def oversized(self, generator):
        size = generator.randrange((1 << 20) + 1, 4 << 20)
        with socket.create_connection(self.address, timeout=30) as connection:
            try:
                connection.sendall(self.head(size) + bytes(size))
            except OSError:
                pass
        time.sleep(0.1)


@pytest.mark.skipif(load.absence() is not None, reason=str(load.absence()))
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
@pytest.mark.long
def test_soak(tmp_path, store, leaf_of_any_time, receipt_tool, request, kind):
    database = request.getfixturevalue("postgresql_server") if kind == "postgresql" else None
    service = Service(tmp_path / "data")

    def configure(configuration):
        (service.folder / "root.cer").write_bytes(store.root.der)
        app = configuration["app"]["demo"]
        app["policy"]["default"] |= {"bundleIds": [samples.BUNDLE], "trust": ["root.cer"]}
        configuration["apps"].append("plain")
        configuration["app"]["plain"] = {"policy": app["policy"]}
        configuration["allowSharedBundleIds"] = True
        if database:
            configuration["database"] = database.trail("soak_service")
            configuration["audit"] = {
                "trail": database.trail("soak_trail"), "files": "audit", "checkpoint": database.trail("soak_checkpoints"),
            }  # fmt: skip

    service.configure(configure)
    log = (tmp_path / "log").open("w")
    service.start(log)
    service.key = service.key or service.make_key("verify", "read", "admin")
    # While its database restarts it answers that it cannot record now.
    statuses = {200, 503} if database else {200}
    receipts = load.sign(range(10**15, 10**15 + 300), leaf_of_any_time)
    numbers = range(2 * 10**15, 2 * 10**15 + int(SECONDS * (150 if IS_LONG else 20)))
    file = load.write_receipts(tmp_path / "receipts", numbers, leaf_of_any_time)
    fill(service, tmp_path, leaf_of_any_time)
    url = f"{service.url}/v1/verify?app="
    plain = load.Wrk(tmp_path, "plain", f"{url}plain", service.key, file, PLAIN_CONNECTIONS, PLAIN_PAUSE)
    recording = load.Wrk(
        tmp_path, "recording", f"{url}demo", service.key, file, RECORDING_CONNECTIONS, RECORDING_PAUSE
    )
    faults = Faults(service, [receipt.encode() for receipt in receipts], statuses)
    measured = []
    restarts = 0
    began = time.monotonic()
    while (passed := time.monotonic() - began) < SECONDS and not faults.wrong and service.process.poll() is None:
        time.sleep(min(1, SECONDS / 20))
        measured.append((memory(service.process), descriptors(service.process)))
        if database and passed > (restarts + 1) * max(4, SECONDS / 12):
            database.restart()
            restarts += 1
    assert service.process.poll() is None
    answered = [plain.stop(), recording.stop()]
    faults.end()
    # Connections that were cut are gone.
    deadline = time.monotonic() + 45
    while descriptors(service.process) > measured[0][1] + 20:
        assert time.monotonic() < deadline, (descriptors(service.process), measured[0])
        time.sleep(0.5)
    for answer in ("/healthz", "/readyz"):
        assert service.get(answer).status_code == 200
    # New entries are in memory until they are 65,536: each half of a long run has such a wave.
    warm = measured[len(measured) // 10 : len(measured) // 2]
    late = measured[len(measured) // 2 :]
    growth = max(m for m, _ in late) / max(m for m, _ in warm)
    # Neither faults of clients nor an absent database are faults of the server.
    assert "A request failed." not in (tmp_path / "log").read_text()
    acknowledged, others = recording.noted()
    print(
        f"{kind}: {answered[0] / SECONDS:.0f} verdicts and {answered[1] / SECONDS:.0f} recorded ones a second; {len(acknowledged)} "
        f"entries acknowledged, {others[503]} refused, {restarts} restarts; memory × {growth:.3f}, "
        f"{max(m for m, _ in late) / 1024:.0f} MB; descriptors {measured[0][1]} to {max(d for _, d in late)}"
    )
    assert plain.noted() == ({}, {})
    assert acknowledged and set(others) <= statuses - {200}
    assert (restarts > 0) == (database is not None)
    assert service.end() == 0
    trail = database.trail("soak_trail") if database else service.folder / "audit.sqlite"
    options: list = []
    if database:
        options = ["--key", service.folder / "audit.pub", "--checkpoint", database.trail("soak_checkpoints")]
    checked = receipt_tool.run("audit", "fsck", trail, *options, timeout=900)
    assert checked.code == 0, checked
    recorded = load.recorded(receipt_tool, trail, tmp_path, *options)
    for transaction, entry in (acknowledged | faults.acknowledged).items():
        assert recorded[entry] == transaction
    # A short run has hardly warmed up.
    assert growth < (1.05 if IS_LONG else 1.5)


@pytest.fixture
def leaf_of_any_time(store):
    return store.intermediate.issue("Signing of any time", "p256", markers=(pki.RECEIPT_LEAF,), validity=pki.CENTURY)
