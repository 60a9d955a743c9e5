# SPDX-License-Identifier: Apache-2.0
"""A running notification receiver, and notifications as the App Store posts them."""

import http.client
import json
import signal
import subprocess
import time
import uuid

import samples
from independent import jws


def body(leaf, identifier=None, original=samples.TRANSACTION["originalTransactionId"], signed=None, **changes) -> bytes:
    """A notification about a transaction as the App Store posts it."""
    signed = signed or int(time.time() * 1000)
    transaction = samples.TRANSACTION | {"signedDate": signed, "originalTransactionId": original}
    transaction["expiresDate"] = signed + 86_400_000
    payload = samples.notification(jws.sign(transaction, leaf))
    payload |= {"signedDate": signed, "notificationUUID": identifier or str(uuid.uuid4())} | changes
    return json.dumps({"signedPayload": jws.sign(payload, leaf)}).encode()


class Receiver:
    """A running receiver."""

    def __init__(self, tool, state, *arguments):
        command = [
            tool.path, "notifications", "serve", "--port", "0", "--state", state, "--bundle-id", samples.BUNDLE,
            *arguments,
        ]  # fmt: skip
        self.process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        ready = self.process.stdout.readline()
        assert ready, self.process.stderr.read().decode()
        self.ready = json.loads(ready)
        self.port = self.ready["port"]

    def post(self, data: bytes, timeout: float = 30, path: str = "/") -> int:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request("POST", path, data, {"Content-Type": "application/json"})
            return connection.getresponse().status
        finally:
            connection.close()

    def line(self) -> dict:
        return json.loads(self.process.stdout.readline())

    def sends(self, data: bytes) -> dict:
        status = self.post(data)
        line = self.line()
        assert line["status"] == status
        return line

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        self.process.wait(timeout=30)
        self.process.stdout.close()
        self.process.stderr.close()
