# SPDX-License-Identifier: Apache-2.0
"""receipt-server --with-emulator: a newcomer buys with the line that is printed, and sees entitlement and change."""

import json
import re
import subprocess
import time

import pytest
import requests

from service import Service, program

CUSTOMER = "7e3fb204-2b3a-4c8f-9d5e-6a1b2c3d4e5f"
MONTHLY = "com.example.app.monthly"


class ServiceWithStore(Service):
    def start(self) -> "ServiceWithStore":
        super().start(options=["--with-emulator"])
        self.store = self.listening["emulator"]
        return self

    def control(self, name: str, key: str | None = None, **body):
        headers = {"Authorization": f"Bearer {self.key if key is None else key}"} if key != "" else {}
        return requests.post(f"{self.store}/_emulator/{name}", json=body, headers=headers, timeout=30)

    def entitlements(self) -> list[dict]:
        answer = self.get(f"/v1/customers/{CUSTOMER}/entitlements").json()
        return [each["entitlement"] for each in answer["entitlements"]]

    def changes(self) -> list[str]:
        return [each["change"]["type"] for each in self.get("/v1/changes").json()["changes"]]


def start(folder) -> ServiceWithStore:
    service = ServiceWithStore(folder)
    service.settings["emulator.port"] = "0"
    return service.start()


def wait_until(condition):
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_lines_that_are_printed(tmp_path):
    process = subprocess.Popen(
        [program(), "--data", str(tmp_path / "data"), "--set", "listen.port=0", "--set", "emulator.port=0",
         "--with-emulator"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    printed = ""
    while "/v1/changes" not in printed:
        printed += process.stdout.readline()
    buy, entitlements, changes = re.findall(r"^  (curl (?:.*\\\n)?.*)$", printed.split("Buy something")[1], re.MULTILINE)
    run = lambda line: json.loads(subprocess.run(["bash", "-c", line], capture_output=True, check=True).stdout)  # noqa: E731
    bought = run(buy)
    wait_until(lambda: run(changes)["changes"])
    (found,) = run(entitlements)["entitlements"]
    assert found["customer"] == CUSTOMER
    assert found["entitlement"]["grantsAccess"] is True
    assert found["entitlement"]["originalTransactionId"] == bought["originalTransactionId"]
    assert [each["change"]["type"] for each in run(changes)["changes"]] == ["entitlement.granted"]
    process.terminate()
    assert process.wait(timeout=30) == 0


def test_purchase_refund_and_restart(tmp_path):
    service = start(tmp_path / "data")
    assert service.store != service.url
    bought = service.control("buy", account="alice", productId=MONTHLY, appAccountToken=CUSTOMER).json()
    wait_until(service.entitlements)
    # The signed transaction, from the App Store Server API, is genuine.
    signed = requests.get(f"{service.store}/inApps/v1/transactions/{bought['transactionId']}", timeout=30).json()
    verdict = service.post("/v1/verify", data=signed["signedTransactionInfo"]).json()
    assert (verdict["verdict"], verdict["environment"]) == ("valid", "Sandbox")
    assert service.end() == 0
    # What was sold is there after a restart, and no identifier is given twice.
    service = start(tmp_path / "data")
    again = service.control("buy", account="bob", productId="com.example.app.pro").json()
    assert again["transactionId"] != bought["transactionId"]
    assert service.control("refund", transactionId=bought["transactionId"]).status_code == 200
    wait_until(lambda: service.entitlements()[0]["state"] == "refunded")
    assert service.changes()[0] == "entitlement.granted" and "entitlement.refunded" in service.changes()
    assert service.end() == 0


def test_controls_need_the_scope(tmp_path):
    service = start(tmp_path / "data")
    purchase = {"account": "alice", "productId": MONTHLY}
    others = [service.make_key(*scopes) for scopes in [["verify"], ["read"], ["admin"], ["verify", "read", "admin"]]]
    key = service.make_key("emulator", app="demo")
    for other in others:
        assert service.control("buy", other, **purchase).status_code == 403
    for wrong in ["", "rk_000000000000_" + "A" * 43]:
        assert service.control("buy", wrong, **purchase).status_code == 401
    for path in ["/_emulator/buy", "/%5Femulator/buy", "//_emulator/buy", "/_emulator/buy?a=b", "/_emulator//buy"]:
        assert requests.post(service.store + path, json=purchase, timeout=30).status_code == 401, path
    assert service.changes() == []
    assert service.control("buy", key, **purchase).status_code == 200
    # The process and its connections are not the emulator's.
    for name in ["shutdown", "faults", "bytes"]:
        assert service.control(name, key).status_code == 404
    # Verification is on its own port, and the store on its own.
    assert requests.post(f"{service.store}/v1/verify", data=service.sample, timeout=30).status_code == 404
    assert service.post("/_emulator/buy", json=purchase).status_code == 404
    assert service.end() == 0


def test_one_port_for_both_is_named(tmp_path):
    service = ServiceWithStore(tmp_path / "data")
    service.prepare()
    service.settings["emulator.shareListener"] = "true"
    ended = service.command("serve", "--check-config")
    assert ended.returncode == 0
    service.settings["emulator.port"] = "0"
    assert "no effect" in service.command("serve", "--check-config", check=False).stderr
    del service.settings["emulator.port"]
    service.start()
    assert service.store == service.url
    assert service.control("buy", "", account="a", productId=MONTHLY).status_code == 401
    assert service.control("buy", account="a", productId=MONTHLY).status_code == 200
    assert service.post("/v1/verify", data=service.sample).json()["verdict"] == "valid"
    assert service.get("/console/login", key="").status_code == 200
    assert service.end() == 0


def test_off_by_default(service):
    assert service.post("/_emulator/buy", json={"account": "a", "productId": MONTHLY}).status_code == 404
    assert service.get("/inApps/v1/transactions/1").status_code == 404


@pytest.mark.parametrize(
    ("setting", "value", "complaint"),
    [
        ("app.demo.notifications", "false", "app.demo.notifications"), ("emulator.identity", "nowhere", "identity"),
        ("emulator.catalog", "nowhere.json", "emulator.catalog"), ("emulator.app", "other", "emulator.app"),
        ("emulator.host", "0.0.0.0", "no TLS"),
    ],
)  # fmt: skip
def test_what_cannot_take_effect(tmp_path, setting, value, complaint):
    service = ServiceWithStore(tmp_path / "data")
    service.settings |= {"emulator.port": "0", setting: value}
    if setting == "emulator.host":
        del service.settings["emulator.port"]
    ended = service.command("serve", "--with-emulator", check=False)
    assert ended.returncode == 65 and complaint in ended.stderr, ended.stderr
