# SPDX-License-Identifier: Apache-2.0
"""store-emulator --with-server: one process with a living store and the server's routes over it."""

import json
import os
import re
import subprocess
import tempfile
import time

import pytest
import requests

from emulator import Emulator

CUSTOMER = "7e3fb204-2b3a-4c8f-9d5e-6a1b2c3d4e5f"
MONTHLY = "com.example.app.monthly"
STORE_EMULATOR = os.environ.get("STORE_EMULATOR", "")


class Shop:
    """An emulator with a server, and requests to both."""

    def __init__(self, state, *arguments: str):
        self.errors = tempfile.TemporaryFile("w+")
        self.emulator = Emulator(STORE_EMULATOR, state, "--with-server", *arguments, stderr=self.errors)
        self.url, self.key = self.emulator.ready["server"], self.emulator.ready["key"]

    def control(self, name: str, **body) -> dict:
        return self.emulator.control("POST", name, body)

    def get(self, path: str) -> dict:
        answer = requests.get(self.url + path, headers={"Authorization": f"Bearer {self.key}"}, timeout=30)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def entitlement(self) -> dict:
        [found] = self.get(f"/v1/customers/{CUSTOMER}/entitlements")["entitlements"]
        return found["entitlement"]

    def changes(self) -> list[str]:
        return [each["change"]["type"] for each in self.get("/v1/changes")["changes"]]

    def notes(self, until: str) -> str:
        """The notes on standard error, which the process writes after it has said on standard output that it is ready."""
        deadline = time.monotonic() + 30
        while True:
            # At a place of its own: the process writes at the place that the file descriptors share.
            text = os.pread(self.errors.fileno(), 1 << 20, 0).decode()
            if until in text:
                return text
            assert time.monotonic() < deadline, f"no “{until}” in: {text}"
            time.sleep(0.05)

    def stop(self) -> str:
        assert self.emulator.stop() == 0
        return os.pread(self.errors.fileno(), 1 << 20, 0).decode()


@pytest.fixture
def shop(tmp_path):
    shop = Shop(tmp_path / "state", "--clock-rate", "0", "--no-token-checks")
    yield shop
    if shop.emulator.process.poll() is None:
        shop.emulator.process.kill()


def test_a_refund_in_three_lines(shop):
    buy, see, refund = re.findall(r"^  (curl .*)$", shop.notes(until="log in with the key"), re.MULTILINE)

    def run(line: str) -> dict:
        return json.loads(subprocess.run(["bash", "-c", line], capture_output=True, check=True).stdout)

    bought = run(buy)
    [found] = run(see)["entitlements"]
    assert found["customer"] == CUSTOMER and found["entitlement"]["grantsAccess"] is True
    assert found["entitlement"]["originalTransactionId"] == bought["originalTransactionId"]
    run(refund)
    [found] = run(see)["entitlements"]
    assert found["entitlement"]["state"] == "refunded" and found["entitlement"]["grantsAccess"] is False
    assert shop.changes() == ["entitlement.granted", "entitlement.refunded"]


def test_the_server_has_the_clock_of_the_store(shop):
    bought = shop.control("buy", account="alice", productId=MONTHLY, appAccountToken=CUSTOMER)
    first = shop.entitlement()
    shop.control("advance", by="P1M")
    # The renewal was signed a month from now.
    renewed = shop.entitlement()
    assert renewed["expiresDate"] > first["expiresDate"] and renewed["grantsAccess"] is True
    signed = requests.get(f"{shop.emulator.url()}/inApps/v1/transactions/{bought['transactionId']}", timeout=30).json()
    verdict = requests.post(
        f"{shop.url}/v1/verify", data=signed["signedTransactionInfo"], headers={"Authorization": f"Bearer {shop.key}"},
        timeout=30,
    ).json()  # fmt: skip
    assert (verdict["verdict"], verdict["environment"]) == ("valid", "Sandbox")


def test_google_play_notifies_the_same_server(shop):
    bought = shop.control("play/buy", account="bob", productId=MONTHLY)
    [found] = shop.get(f"/v1/entitlements/{bought['purchaseToken']}")["entitlements"]
    assert found["entitlement"]["type"] == "play-entitlement" and found["entitlement"]["state"] == "active"
    shop.control("play/refund", orderId=bought["orderId"])
    [found] = shop.get(f"/v1/entitlements/{bought['purchaseToken']}")["entitlements"]
    assert found["entitlement"]["grantsAccess"] is False
    assert "rejected" not in shop.stop()


def test_a_key_is_needed_and_production_is_not_served(shop):
    assert requests.get(f"{shop.url}/v1/changes", timeout=30).status_code == 401
    shop.emulator.control("POST", "buy", {"account": "alice", "productId": MONTHLY}, port="productionPort")
    assert shop.changes() == []


def test_without_a_store_it_begins_empty_and_with_one_it_goes_on(tmp_path, receipt_tool):
    state = tmp_path / "state"
    for _ in range(2):
        shop = Shop(state, "--clock-rate", "0")
        assert shop.changes() == []
        shop.control("buy", account="alice", productId=MONTHLY, appAccountToken=CUSTOMER)
        assert shop.changes() == ["entitlement.granted"]
        shop.stop()
    made = receipt_tool.run("store", "init", "--store", tmp_path / "newsstand", "--bundle", "com.example.news")
    assert made.code == 0, made.err
    shop = Shop(tmp_path / "kept", "--store", str(tmp_path / "newsstand"))
    shop.control("buy", account="alice", productId="com.example.pro", appAccountToken=CUSTOMER)
    assert shop.entitlement()["bundleId"] == "com.example.news"
    key = shop.key
    shop.stop()
    shop = Shop(tmp_path / "kept", "--store", str(tmp_path / "newsstand"), "--remove-state")
    assert shop.key == key and shop.entitlement()["productId"] == "com.example.pro"
    shop.stop()
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--server-port", "0"], "needs --with-server"),
        (["--with-server", "--notification-url", "http://127.0.0.1:1/"], "leave out --notification-url"),
        (["--with-server", "--play-push-url", "http://127.0.0.1:1/"], "leave out --notification-url"),
    ],
    ids=str,
)
def test_what_cannot_take_effect(tmp_path, options, complaint):
    ended = subprocess.run([STORE_EMULATOR, "--state", tmp_path / "s", *options], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 64 and complaint in ended.stderr
    assert not (tmp_path / "s").exists()


def test_a_port_that_is_taken(tmp_path, shop):
    port = shop.url.rsplit(":", 1)[1]
    ended = subprocess.run(
        [STORE_EMULATOR, "--state", tmp_path / "s", "--with-server", "--server-port", port], stdin=subprocess.PIPE,
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert ended.returncode == 69 and "cannot listen" in ended.stderr


def test_the_server_links_no_published_key():
    for program, isThere in ((os.environ["RECEIPT_SERVER"], False), (STORE_EMULATOR, True)):
        with open(program, "rb") as file:
            assert (b"-----BEGIN PRIVATE KEY-----\nM" in file.read()) is isThere, program
