# SPDX-License-Identifier: Apache-2.0
"""receipt-server's webhooks, taken by a backend that checks them with the library of Standard Webhooks."""

import base64
import collections
import http.server
import json
import os
import random
import secrets
import signal
import subprocess
import threading
import time
import urllib.request
import uuid

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

import samples
from independent import jws, pki

pytestmark = pytest.mark.server

MONTH = 30 * 86_400_000


def secret() -> str:
    return "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()


class Backend:
    """Takes webhooks, and answers some of them with an error or not at all, each at most once."""

    def __init__(self):
        self.requests = []
        self.failures = {}
        self.chance = 0.0
        # What checks each request when it arrives, and what it found.
        self.check = lambda body, headers: None
        self.refused = []
        random_source = random.Random(7)
        backend = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                length = int(self.headers["content-length"])
                body = self.rfile.read(length)
                if len(body) < length:
                    # Its sender was killed.
                    self.close_connection = True
                    return
                try:
                    backend.check(body, dict(self.headers.items()))
                except WebhookVerificationError as error:
                    backend.refused.append((repr(error), body))
                identifier = self.headers["webhook-id"]
                fails = identifier not in backend.failures and random_source.random() < backend.chance
                backend.requests.append((dict(self.headers.items()), body, not fails))
                if fails:
                    backend.failures[identifier] = True
                    if random_source.random() < 0.5:
                        self.close_connection = True
                        return
                self.send_response(500 if fails else 204)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class Server:
    """A receipt-server with one app and one endpoint, which can be killed and started again."""

    def __init__(self, folder, store, backend, keys):
        (folder / "root.cer").write_bytes(store.root.der)
        webhook = {
            "url": f"http://127.0.0.1:{backend.port}/hooks", "secrets": keys, "allowPrivateNetworks": True,
        }  # fmt: skip
        policy = {"bundleIds": [samples.BUNDLE], "environments": ["production"], "trust": ["root.cer"]}
        app = {
            "notifications": True, "policy": {"default": policy}, "webhooks": ["backend"],
            "webhook": {"backend": webhook},
        }  # fmt: skip
        self.file = folder / "receipt-server.json"
        self.file.write_text(
            json.dumps({
                "listen": {"host": "127.0.0.1", "port": 0}, "database": "service.sqlite", "apps": ["shop"],
                "app": {"shop": app},
            })  # fmt: skip
        )
        self.log = (folder / "log").open("ab")
        self.start()

    def start(self):
        command = [os.environ["RECEIPT_SERVER"], "serve", "--json", "--config", str(self.file)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log)
        line = self.process.stdout.readline()
        assert line, (self.file.parent / "log").read_text()
        self.url = json.loads(line)["url"]

    def post(self, body: bytes) -> int:
        request = urllib.request.Request(
            f"{self.url}/v1/notifications/shop", body, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status

    def end(self, number=signal.SIGTERM) -> int:
        self.process.send_signal(number)
        code = self.process.wait(timeout=60)
        self.process.stdout.close()
        return code


@pytest.fixture(scope="module")
def leaf(store):
    """Signs at any time."""
    return store.intermediate.issue("Receipt Signing", "p256", markers=(pki.RECEIPT_LEAF,), validity=pki.CENTURY)


@pytest.fixture
def backend():
    backend = Backend()
    yield backend
    backend.stop()


@pytest.fixture
def start(store, backend, tmp_path):
    if not os.environ.get("RECEIPT_SERVER"):
        pytest.skip("RECEIPT_SERVER does not name the built receipt-server")
    running = []

    def start(keys):
        running.append(Server(tmp_path, store, backend, keys))
        return running[-1]

    yield start
    for server in running:
        if server.process.poll() is None:
            server.end(signal.SIGKILL)
        server.log.close()


def notification(leaf, kind, customer, period) -> bytes:
    """A notification about a period of a customer's subscription; the first one ends in a month from now."""
    now = int(time.time() * 1000)
    transaction = samples.TRANSACTION | {
        "originalTransactionId": str(int(customer[-4:], 16)), "transactionId": f"{int(customer[-4:], 16)}{period:03}",
        "appAccountToken": customer, "signedDate": now, "purchaseDate": now + period, "expiresDate": now + period * MONTH,
    }  # fmt: skip
    payload = samples.notification(jws.sign(transaction, leaf)) | {
        "notificationType": kind, "signedDate": now, "notificationUUID": str(uuid.uuid4()),
    }  # fmt: skip
    payload.pop("subtype", None)
    return json.dumps({"signedPayload": jws.sign(payload, leaf)}).encode()


def customer(number: int) -> str:
    return f"6b2b7f0e-2f0a-4c0e-9d6a-0a8f3c1d{number:04x}"


def wait(condition, seconds=90):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_the_library_of_standard_webhooks_verifies_them_with_either_secret(start, backend, leaf):
    keys = [secret(), secret()]
    server = start(keys)
    assert server.post(notification(leaf, "SUBSCRIBED", customer(1), 1)) == 200
    wait(lambda: backend.requests)
    headers, body, _ = backend.requests[0]
    for key in keys:
        told = Webhook(key).verify(body, headers)
        assert told["type"] == "entitlement.granted"
        assert told["data"]["customer"] == customer(1)
        assert told["data"]["entitlement"]["grantsAccess"] is True
    altered = body.replace(b"granted", b"revoked", 1)
    for key, content in [(secret(), body), (keys[0], altered)]:
        with pytest.raises(WebhookVerificationError):
            Webhook(key).verify(content, headers)
    other = headers | {"webhook-id": "msg_0"}
    with pytest.raises(WebhookVerificationError):
        Webhook(keys[0]).verify(body, other)
    assert server.end() == 0


@pytest.mark.long
def test_killed_again_and_again_it_loses_no_webhook_and_alters_none(start, backend, leaf):
    key = secret()
    server = start([key])
    backend.chance = 0.2
    customers = [customer(number) for number in range(1, 9)]
    events = [(who, period) for period in range(1, 6) for who in customers]
    for number, (who, period) in enumerate(events):
        body = notification(leaf, "SUBSCRIBED" if period == 1 else "DID_RENEW", who, period)
        if number % 10 == 9:
            # While the notification is on its way, or its webhook.
            killer = threading.Timer(random.random() * 0.02, lambda: server.process.kill())
            killer.start()
            try:
                server.post(body)
            except OSError:
                pass
            killer.join()
            server.process.wait()
            server.process.stdout.close()
            server.start()
            # As the App Store delivers what was not acknowledged.
        assert server.post(body) == 200
    wait(lambda: len({headers["webhook-id"] for headers, _, taken in backend.requests if taken}) == len(events))
    bodies = collections.defaultdict(set)
    order = collections.defaultdict(list)
    for headers, body, taken in backend.requests:
        identifier = headers["webhook-id"]
        bodies[identifier].add(body)
        told = Webhook(key).verify(body, headers)
        if taken and identifier not in order[told["data"]["customer"]]:
            order[told["data"]["customer"]].append(identifier)
    assert all(len(contents) == 1 for contents in bodies.values())
    for who in customers:
        told = [json.loads(next(iter(bodies[identifier]))) for identifier in order[who]]
        assert [each["type"] for each in told] == ["entitlement.granted"] + ["entitlement.renewed"] * 4
        transactions = [each["data"]["entitlement"]["transactionId"] for each in told]
        assert transactions == sorted(transactions)
    assert server.end() == 0
