# SPDX-License-Identifier: Apache-2.0
"""kill -9 of a receipt-server under the load of wrk, again and again: what it acknowledged is there afterwards, and each webhook
arrives, always with the same content. RECEIPTKIT_KILLS says how often; with more than 12, of as many receipts as a release
build takes."""

import collections
import json
import os
import random
import signal
import threading
import time

import pytest
import requests
from standardwebhooks import Webhook

import load
import samples
from service import Service
from test_service_stores import free_port
from test_webhooks import Backend, backend, customer, leaf, notification, secret, wait  # noqa: F401

KILLS = int(os.environ.get("RECEIPTKIT_KILLS", "5"))
RECEIPTS_OF_A_ROUND = 400 if KILLS <= 12 else 8000
CUSTOMERS = 16


class Store:
    """Delivers notifications about the customers' periods, each until it is acknowledged, as the App Store does."""

    def __init__(self, service: Service, leaf):
        self.service, self.leaf = service, leaf
        self.is_over = threading.Event()
        self.acknowledged: list[tuple[str, int]] = []
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        period = 0
        while True:
            period += 1
            for number in range(CUSTOMERS):
                if self.is_over.is_set():
                    return
                who = customer(number)
                body = notification(self.leaf, "SUBSCRIBED" if period == 1 else "DID_RENEW", who, period)
                while not self.deliver(body):
                    time.sleep(0.02)
                self.acknowledged.append((who, period))

    def deliver(self, body: bytes) -> bool:
        try:
            return requests.post(f"{self.service.url}/v1/notifications/demo", data=body, timeout=30).status_code == 200
        except requests.RequestException:
            return False

    def end(self):
        self.is_over.set()
        self.thread.join(timeout=60)
        assert not self.thread.is_alive()


@pytest.mark.skipif(load.absence() is not None, reason=str(load.absence()))
@pytest.mark.long
def test_kills_under_load_lose_and_alter_nothing(tmp_path, store, backend, leaf, receipt_tool):  # noqa: F811
    service = Service(tmp_path / "data")
    key = secret()

    def configure(configuration):
        (service.folder / "root.cer").write_bytes(store.root.der)
        configuration["limits"] = {"webhookTimeout": 1}
        app = configuration["app"]["demo"]
        app["policy"]["default"] |= {"bundleIds": [samples.BUNDLE], "trust": ["root.cer"]}
        app["webhooks"] = ["backend"]
        app["webhook"] = {
            "backend": {"url": f"http://127.0.0.1:{backend.port}/", "secrets": [key], "allowPrivateNetworks": True}
        }

    service.configure(configure)
    service.settings["listen.port"] = str(free_port())
    backend.chance = 0.1
    backend.check = Webhook(key).verify
    generator = random.Random(22)
    rounds: list[load.Wrk] = []
    service.start()
    notifier = Store(service, leaf)
    try:
        for number in range(KILLS):
            first = 10**15 + number * RECEIPTS_OF_A_ROUND
            receipts = load.write_receipts(
                tmp_path / "receipts", range(first, first + RECEIPTS_OF_A_ROUND), leaf
            )
            wrk = load.Wrk(tmp_path, f"round-{number}", f"{service.url}/v1/verify", service.key, receipts, 32)
            rounds.append(wrk)
            wait(lambda wrk=wrk: wrk.notes.exists() and wrk.notes.stat().st_size, 30)
            time.sleep(generator.uniform(0, 0.8))
            service.end(signal.SIGKILL)
            wrk.stop()
            service.start()
    finally:
        notifier.end()
    assert service.process.poll() is None

    # Webhooks: each change once by its identifier, always with one content, in the order of each customer's periods.
    events = notifier.acknowledged
    taken = lambda: {headers["webhook-id"] for headers, _, is_taken in backend.requests if is_taken}  # noqa: E731
    # A tenth of them fails at first and holds up its customer's for seconds, so that a long run is far behind at its end.
    while (before := len(taken())) < len(events):
        wait(lambda before=before: len(taken()) > before, 60)
    assert backend.refused == []
    bodies = collections.defaultdict(set)
    order = collections.defaultdict(list)
    for headers, body, is_taken in backend.requests:
        told = json.loads(body)
        bodies[headers["webhook-id"]].add(body)
        if is_taken and headers["webhook-id"] not in order[told["data"]["customer"]]:
            order[told["data"]["customer"]].append(headers["webhook-id"])
    assert all(len(contents) == 1 for contents in bodies.values())
    for who in {who for who, _ in events}:
        told = [json.loads(next(iter(bodies[identifier]))) for identifier in order[who]]
        transactions = [each["data"]["entitlement"]["transactionId"] for each in told]
        # The last one may have been folded without having been acknowledged.
        periods = max(period for customer, period in events if customer == who)
        assert len(told) - periods in (0, 1), (who, len(told), periods)
        assert [each["type"] for each in told] == ["entitlement.granted"] + ["entitlement.renewed"] * (len(told) - 1)
        assert transactions == sorted(set(transactions))
    assert service.get("/v1/webhooks").json()["endpoints"][0]["dead"] == 0

    # Verdicts.
    assert service.end() == 0
    trail = service.folder / "audit.sqlite"
    checked = receipt_tool.run("audit", "fsck", trail, timeout=900)
    assert checked.code == 0, checked
    recorded = load.recorded(receipt_tool, trail, tmp_path)
    count = 0
    for wrk in rounds:
        acknowledged, others = wrk.noted()
        assert acknowledged and set(others) <= {503}
        count += len(acknowledged)
        for transaction, entry in acknowledged.items():
            assert recorded[entry] == transaction
    print(f"{KILLS} kills, {count} verdicts and {len(events)} notifications acknowledged, {len(backend.requests)} webhooks sent")
