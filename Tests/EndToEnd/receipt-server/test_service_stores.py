# SPDX-License-Identifier: Apache-2.0
"""End to end: store-emulator sells and notifies, receipt-server records, folds and tells, a backend takes the webhooks and
checks them with the package standardwebhooks. Any of the three may be killed at any time."""

import base64
import collections
import json
import os
import pathlib
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import time

import pytest

from emulator import Emulator
from service import Service

MONTHLY = "com.example.app.monthly"
SHOP_MONTHLY = "com.example.plan.monthly"
SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()
OLD_SECRET = "whsec_" + base64.b64encode(bytes(range(24))).decode()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def team(tmp_path, receipt_tool):
    """Makes a team, whose processes end with the test."""
    teams = []

    def make(**options):
        teams.append(Team(tmp_path, receipt_tool, **options))
        return teams[-1]

    yield make
    for made in teams:
        made.end()


class Team:
    """The three processes, each on a port of its own that outlives it."""

    def __init__(self, folder: pathlib.Path, receipt_tool, failures=0.0, stored=True):
        self.folder, self.failures, self.stored = folder, failures, stored
        self.ports = {"service": free_port(), "backend": free_port()}
        self.shop = folder / "shop"
        assert receipt_tool.run("store", "init", "--store", self.shop).code == 0
        self.service = Service(folder / "data")
        self.start_emulator()
        self.bundle = self.emulator.developer["bundleId"]
        self.service.configure(self.configure)
        self.service.settings = {"listen.port": str(self.ports["service"])}
        self.start_service()
        self.start_backend()

    def configure(self, configuration):
        app = configuration["app"]["demo"]
        app["policy"]["default"] |= {
            "bundleIds": [self.bundle], "trust": [self.emulator.ready["root"]], # The clock of the store is put forward.
            "allowedClockSkew": 400 * 86_400,
        }
        app["webhooks"] = ["backend"]
        app["webhook"] = {
            "backend": {
                # While secrets are changed both sign; the backend knows one.
                "url": f"http://127.0.0.1:{self.ports['backend']}/hooks", "secrets": [OLD_SECRET, SECRET],
                "allowPrivateNetworks": True,
            }
        }
        developer = self.emulator.developer
        app["appStore"] = {
            "keyFile": self.emulator.ready["developerKey"], "keyID": developer["keyId"], "issuerID": developer["issuerId"],
            "bundleID": self.bundle, "url": "http://127.0.0.1:1",
        }

    def start_emulator(self):
        self.emulator = Emulator(
            os.environ["STORE_EMULATOR"], self.folder / "state", "--no-token-checks", "--sandbox-retries",
            "--clock-rate", "0", *(["--store", str(self.shop)] if self.stored else []),
            "--notification-url", f"http://127.0.0.1:{self.ports['service']}/v1/notifications/demo",
        )  # fmt: skip

    def start_service(self):
        self.service.start()

    def start_backend(self):
        self.backend = subprocess.Popen(
            [sys.executable, pathlib.Path(__file__).parents[2] / "Support/backend.py", str(self.ports["backend"]),
             str(self.folder / "backend.sqlite"), SECRET, str(self.failures)],
            stdout=subprocess.PIPE,
        )  # fmt: skip
        assert self.backend.stdout.readline()

    def kill(self, part: str):
        """Kills a process and starts it again."""
        process = {"emulator": self.emulator.process, "service": self.service.process, "backend": self.backend}[part]
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=30)
        getattr(self, f"start_{part}")()

    def told(self) -> list[tuple[str, str, dict]]:
        """What the backend was told, each change once, in the order of arrival: customer, original transaction, change."""
        with sqlite3.connect(self.folder / "backend.sqlite") as database:
            assert database.execute("SELECT * FROM refused").fetchall() == []
            rows = database.execute("SELECT customer, original, body FROM told ORDER BY arrived").fetchall()
        return [(customer, original, json.loads(body)) for customer, original, body in rows]

    def wait(self, condition, seconds=60):
        deadline = time.monotonic() + seconds
        while not (found := condition()):
            assert time.monotonic() < deadline, self.told()[-3:]
            time.sleep(0.1)
        return found

    def end(self):
        if self.backend.returncode is not None:
            return
        self.emulator.stop()
        assert self.service.end() == 0
        self.backend.kill()
        self.backend.wait()
        self.backend.stdout.close()


def test_a_subscription_s_life_is_told(team):
    team = team(stored=False)

    def control(name, **members):
        return team.emulator.control("POST", name, members)

    def told(customer):
        return [change["type"].removeprefix("entitlement.") for name, _, change in team.told() if name == customer]

    alice, bob = "7e3fb204-2b3a-4c8f-9d5e-6a1b2c3d4e5f", "8e3fb204-2b3a-4c8f-9d5e-6a1b2c3d4e5f"
    refunded = control("buy", account="bob", productId=MONTHLY, appAccountToken=bob)["transactionId"]
    control("refund", transactionId=refunded, reason="ISSUE")
    team.wait(lambda: told(bob) == ["granted", "refunded"])
    original = control("buy", account="alice", productId=MONTHLY, appAccountToken=alice)["transactionId"]
    control("advance", by="P5W")
    control("billing", account="alice", fails=True)
    control("advance", by="P5W")
    # What the future brings, by this machine's clock, is known and not told yet.
    team.wait(lambda: told(alice) == ["granted", "renewed"])
    history = team.service.get(f"/v1/entitlements/{original}/history").json()
    assert [c["change"]["type"].removeprefix("entitlement.") for c in history["changes"]] == told(alice)
    # Each notification is in the audit trail, and its entry can be proven.
    kinds = {entry.get("notificationType") for entry in history["entries"]}
    assert {"SUBSCRIBED", "DID_RENEW", "DID_FAIL_TO_RENEW"} <= kinds
    team.service.proof(history["entries"][0]["index"])
    assert team.service.get(f"/v1/entitlements/{refunded}").json()["entitlements"][0]["entitlement"]["state"] == "refunded"


@pytest.mark.long
def test_killing_any_of_the_three_loses_and_doubles_nothing(team, tmp_path, receipt_tool):
    generator = random.Random(22)
    team = team(failures=0.2)
    sold: dict[str, str] = {}
    rounds = int(os.environ.get("RECEIPTKIT_KILLS", "12"))
    for number in range(rounds):
        team.kill(generator.choice(["emulator", "service", "backend"]))
        token = f"00000000-0000-4000-8000-{number:012x}"
        request = {"account": f"account-{number}", "productId": SHOP_MONTHLY, "appAccountToken": token, "requestId": f"buy-{number}"}
        killed = generator.random()
        if killed < 0.3:
            # In the midst of the notification.
            timer = subprocess.Popen(["sh", "-c", f"sleep {generator.uniform(0, 0.05)}; kill -9 {team.service.process.pid}"])
        sold[token] = team.emulator.control("POST", "buy", request)["transactionId"]
        if killed < 0.3:
            timer.wait()
            team.service.process.wait(timeout=30)
            team.start_service()
    # The App Store's own retries, after hours, and all of the store's time: nothing is lost.
    waiting = lambda: team.service.get("/v1/webhooks").json()["endpoints"][0]  # noqa: E731
    deadline = time.monotonic() + 45
    granted: dict = {}
    while set(granted) != set(sold) and time.monotonic() < deadline:
        team.emulator.control("POST", "advance", {"by": 3600})
        time.sleep(0.3)
        granted = {customer: name for customer, name, change in team.told() if change["type"] == "entitlement.granted"}
    # A change that met a killed backend twice waits for five minutes: it is known, and queued.
    missing = {customer: sold[customer] for customer in set(sold) - set(granted)}
    assert granted | missing == sold
    assert len(missing) <= min(waiting()["waiting"], rounds // 10), missing
    for original in missing.values():
        assert team.service.get(f"/v1/entitlements/{original}/history").json()["changes"]
    counts = collections.Counter(customer for customer, _, change in team.told() if change["type"] == "entitlement.granted")
    assert set(counts.values()) == {1}
    assert waiting()["dead"] == 0
    team.end()
    checked = receipt_tool.run("audit", "fsck", tmp_path / "data" / "audit.sqlite")
    assert checked.code == 0, checked


def test_another_receipt_server_is_asked(tmp_path, receipt_tool):
    """The checker `receiptkit`, of a server and of the tool: what that server refuses is refused, and without it nothing is
    valid."""
    other, service = Service(tmp_path / "other").start(), Service(tmp_path / "data")
    (tmp_path / "key").write_text(other.make_key("verify"))

    def configure(configuration):
        app = configuration["app"]["demo"]
        app["policy"]["default"]["trust"] = [str(other.folder / "identity" / "root.cer")]
        app["checkers"] = ["receiptkit"]
        app["receiptKit"] = {"url": other.url, "keyFile": str(tmp_path / "key")}

    service.configure(configure)
    service.start()
    verdict = service.post("/v1/verify", data=other.sample).json()
    assert verdict["verdict"] == "valid", verdict
    entries = other.get("/v1/audit/entries").json()["entries"]
    assert [entry["index"] for entry in entries] == [0]

    def asked_by_the_tool(*options, **environment) -> int:
        return receipt_tool.run(
            "verify", "--trust", other.folder / "identity" / "root.cer", "--bundle-id", "com.example.app", *options,
            "--check", f"receiptkit={other.url}", other.folder / "sample-receipt.jws", env=os.environ | environment,
        ).code  # fmt: skip

    key = (tmp_path / "key").read_text()
    assert asked_by_the_tool(RECEIPTKIT_SERVICE_KEY=key) == 0
    assert asked_by_the_tool() == asked_by_the_tool(RECEIPTKIT_SERVICE_KEY=key + "x") == 2
    # The key is for one.
    assert asked_by_the_tool("--check", "receiptkit=http://127.0.0.1:1", RECEIPTKIT_SERVICE_KEY=key) == 64
    # It has the last word.
    other.end()
    other.settings["app.demo.policy.default.bundleIds"] = "com.example.another"
    other.settings["listen.port"] = other.url.rpartition(":")[2]
    other.start()
    verdict = service.post("/v1/verify", data=other.sample).json()
    assert verdict["verdict"] == "invalid" and "bundle" in json.dumps(verdict["reason"]).lower(), verdict
    assert asked_by_the_tool(RECEIPTKIT_SERVICE_KEY=key) == 1
    other.end()
    assert service.post("/v1/verify", data=other.sample).json()["verdict"] == "undetermined"
    assert service.end() == 0


@pytest.mark.long
@pytest.mark.parametrize("rounds", [int(os.environ.get("RECEIPTKIT_KILLS", "6"))])
def test_what_was_acknowledged_survives_kills(tmp_path, receipt_tool, rounds):
    """kill -9 while verdicts are recorded: each acknowledged entry is there afterwards with its receipt."""
    from independent import jws, pki

    import samples

    store = pki.Store()
    leaf = store.leaf()
    root = tmp_path / "root.cer"
    root.write_bytes(store.root.der)
    service = Service(tmp_path / "data")

    def configure(configuration):
        policy = configuration["app"]["demo"]["policy"]["default"]
        policy |= {"bundleIds": [samples.BUNDLE], "trust": [str(root)]}

    service.configure(configure)
    generator = random.Random(7)
    acknowledged: dict[str, int] = {}
    number = 0
    for _ in range(rounds):
        service.start()
        killer = subprocess.Popen(
            ["sh", "-c", f"sleep {generator.uniform(0.05, 0.6)}; kill -9 {service.process.pid}"]
        )
        try:
            while True:
                number += 1
                transaction = samples.TRANSACTION | {"transactionId": str(10**15 + number)}
                answer = service.post("/v1/verify", data=jws.sign(transaction, leaf)).json()
                assert answer["verdict"] == "valid"
                acknowledged[transaction["transactionId"]] = answer["entry"]
        except OSError:
            pass
        killer.wait()
        service.process.wait(timeout=30)
    service.start()
    assert len(set(acknowledged.values())) == len(acknowledged) > 0
    for transaction, entry in acknowledged.items():
        assert service.get(f"/v1/audit/entries/{entry}").json()["transactionId"] == transaction
    assert service.end() == 0
    assert receipt_tool.run("audit", "fsck", tmp_path / "data" / "audit.sqlite").code == 0
