# SPDX-License-Identifier: Apache-2.0
"""receipt-server under load and faults: slow clients, cut connections, oversized and malformed bodies. No acknowledged verdict
is lost, memory and descriptors stay flat. RECEIPTKIT_SOAK_SECONDS makes it long: 1800 is half an hour."""

import os
import pathlib
import random
import re
import socket
import threading
import time

import samples
from independent import jws, pki
from service import Service

SECONDS = float(os.environ.get("RECEIPTKIT_SOAK_SECONDS", "12"))


def memory(process) -> int:
    """Resident kilobytes."""
    return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{process.pid}/status").read_text())[1])


def descriptors(process) -> int:
    return len(os.listdir(f"/proc/{process.pid}/fd"))


class Load:
    """Threads that send until they are told to stop, each with a fault of its own."""

    def __init__(self, service: Service, receipts: list[bytes]):
        self.service, self.receipts = service, receipts
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
        self.note(answer.json())
        time.sleep(0.002)

    def batches(self, generator):
        import json

        chosen = generator.sample(self.receipts, 100)
        answer = self.post("/v1/verify/batch", b"\n".join(chosen))
        for line in answer.text.splitlines():
            self.note(json.loads(line))
        time.sleep(0.1)

    def read(self, generator):
        if self.acknowledged:
            transaction, entry = generator.choice(list(self.acknowledged.items()))
            answer = self.request("GET", f"/v1/audit/entries/{entry}")
            assert answer.json()["transactionId"] == transaction
        time.sleep(0.05)

    def post(self, path, data):
        return self.request("POST", path, data=data)

    def request(self, method, path, **arguments):
        import requests

        # A session of each thread's own.
        session = self.sessions.session = getattr(self.sessions, "session", None) or requests.Session()
        return session.request(
            method, self.service.url + path, headers={"Authorization": f"Bearer {self.service.key}"}, timeout=60, **arguments
        )

    sessions = threading.local()

    def head(self, length: int) -> bytes:
        return (
            f"POST /v1/verify HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {self.service.key}\r\n"
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
        assert self.post("/v1/verify", bytes(receipt)).json()["verdict"] in ("invalid", "undetermined", "valid")
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


def test_soak(tmp_path, receipt_tool):
    store = pki.Store()
    leaf = store.leaf()
    root = tmp_path / "root.cer"
    root.write_bytes(store.root.der)
    receipts = [
        jws.sign(samples.TRANSACTION | {"transactionId": str(10**15 + number)}, leaf) for number in range(2000)
    ]
    receipts = [receipt if isinstance(receipt, bytes) else receipt.encode() for receipt in receipts]
    service = Service(tmp_path / "data")

    def configure(configuration):
        configuration["app"]["demo"]["policy"]["default"] |= {"bundleIds": [samples.BUNDLE], "trust": [str(root)]}

    service.configure(configure)
    service.start()
    load = Load(service, receipts)
    measured = []
    began = time.monotonic()
    while time.monotonic() - began < SECONDS and not load.wrong:
        time.sleep(min(1, SECONDS / 20))
        measured.append((memory(service.process), descriptors(service.process)))
    load.end()
    # Connections that were cut are gone.
    deadline = time.monotonic() + 45
    while descriptors(service.process) > measured[0][1] + 20:
        assert time.monotonic() < deadline, (descriptors(service.process), measured[0])
        time.sleep(0.5)
    warm = measured[len(measured) // 4 : len(measured) // 2]
    late = measured[3 * len(measured) // 4 :]
    growth = max(m for m, _ in late) / max(m for m, _ in warm)
    print(f"{len(load.acknowledged)} receipts acknowledged, memory × {growth:.3f}, {max(m for m, _ in late) / 1024:.0f} MB")
    # A short run has hardly warmed up.
    assert growth < (1.05 if SECONDS >= 600 else 1.5)
    assert service.process.poll() is None
    for transaction, entry in load.acknowledged.items():
        assert service.get(f"/v1/audit/entries/{entry}").json()["transactionId"] == transaction
    assert service.end() == 0
    assert receipt_tool.run("audit", "fsck", tmp_path / "data" / "audit.sqlite").code == 0
