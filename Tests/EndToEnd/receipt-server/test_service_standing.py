# SPDX-License-Identifier: Apache-2.0
"""receipt-server has the same standing for the lives of purchases as receipt-tool: single, in a batch, in the ledger of
notifications, in webhooks' form and in the console."""

import base64
import dataclasses
import html
import http.server
import json
import re
import ssl
import threading
import time

import pytest

import lives
import samples
from independent import jws
from service import Service
from test_console import Session

pytestmark = pytest.mark.server


class Store(http.server.BaseHTTPRequestHandler):
    """An App Store that has one transaction under any identifier."""

    def do_GET(self):
        body = json.dumps({"signedTransactionInfo": self.server.transaction}).encode()
        self.send_response_only(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def app_store():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Store) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture(scope="module")
def shop(tmp_path_factory, store, rsa_store, app_store):
    """A server that accepts the lives' stores, and the lives."""
    folder = tmp_path_factory.mktemp("standing")
    play, huawei = lives.AppKey(), lives.AppKey()
    roots = folder / "roots.pem"
    certificates = [store.root, rsa_store.root, rsa_store.intermediate]
    roots.write_text("".join(ssl.DER_cert_to_PEM_cert(certificate.der) for certificate in certificates))
    (folder / "play").write_bytes(play.public)
    (folder / "huawei").write_bytes(huawei.public)
    service = Service(folder / "data")

    def change(configuration):
        policy = {
            "bundleIds": [samples.BUNDLE], "environments": ["production", "sandbox"], "trust": [str(roots)],
            "playKeys": [f"{samples.BUNDLE}={folder / 'play'}"], "huaweiKeys": [f"{samples.BUNDLE}={folder / 'huawei'}"],
        }  # fmt: skip
        configuration["app"] = {
            "demo": {
                "policies": ["default", "current"], "notifications": True,
                "clientProtocols": ["openiap", "cordova-purchase", "verify-receipt"],
                "entitlements": ["premium"], "entitlement": {"premium": {"products": [samples.TRANSACTION["productId"]]}},
                "signingKeys": ["identity/key.pem"],
                "appStore": {
                    "keyFile": "identity/key.pem", "keyID": "ABC123DEFG", "bundleID": samples.BUNDLE,
                    "issuerID": "57246542-96fe-1a63-e053-0824d011072a",
                    "url": f"http://127.0.0.1:{app_store.server_address[1]}",
                },
                "policy": {"default": policy, "current": policy | {"requireCurrent": True}},
            }
        }
        configuration["apps"] = ["demo"]

    service.configure(change)
    service.start()
    yield service, lives.lives(store.leaf(), rsa_store.leaf("rsa2048"), play, huawei)
    assert service.end() == 0


def now(found: list[lives.Life]) -> list[lives.Life]:
    return [life for life in found if life.at == "now"]


def test_single(shop):
    service, found = shop
    for life in now(found):
        verdict = service.post("/v1/verify", data=life.receipt).json()
        assert verdict["verdict"] == "valid", (life.name, verdict)
        assert verdict.get("standing") == life.standing, life.name
        assert verdict.get("grantsAccess") == (None if life.standing is None else life.grants_access), life.name
        purchases = verdict["transactions"] + verdict.get("unpaidPurchases", [])
        if life.standing:
            (purchase,) = [purchase for purchase in purchases if purchase["standing"] == life.standing][-1:]
            members = (purchase.get("standingSince"), purchase.get("standingUntil"), purchase["standingSource"])
            assert members == (life.since, life.until, life.source), life.name


def test_a_current_purchase_is_required(shop):
    service, found = shop
    for life in now(found):
        verdict = service.post("/v1/verify?policy=current", data=life.receipt).json()
        assert (verdict["verdict"], verdict.get("reason", {}).get("code")) == life.current, life.name


def test_a_batch(shop):
    service, found = shop
    found = [life for life in now(found) if b"\n" not in life.receipt.strip()]
    body = b"\n".join(life.receipt for life in found)
    answered = [json.loads(line) for line in service.post("/v1/verify/batch", data=body).text.splitlines()]
    assert [line.get("standing") for line in answered] == [life.standing for life in found]


def test_the_ledger_of_notifications(shop, store):
    service, found = shop
    leaf = store.leaf()
    for number, kind in enumerate(["DID_RENEW", "REFUND", "REVOKE"]):
        # A purchase of its own, with the events of one life.
        original = f"3{number:015}"
        transaction = samples.TRANSACTION | {"originalTransactionId": original, "transactionId": original}
        payload = samples.notification(jws.sign(transaction, leaf)) | {
            "notificationType": kind, "notificationUUID": f"002e14d5-51f5-4503-b5a8-{number:012}"
        }  # fmt: skip
        signed = jws.sign(payload, leaf)
        verdict = service.post("/v1/verify", data=signed).json()
        answer = service.post("/v1/notifications/demo", json={"signedPayload": signed}, key="")
        assert answer.status_code == 200, answer.text
        (owned,) = service.get(f"/v1/entitlements/{original}").json()["entitlements"]
        (purchase,) = verdict["transactions"]
        for member in ("standing", "standingSince", "standingUntil", "grantsAccess"):
            assert owned["entitlement"].get(member) == purchase.get(member), (kind, member)
        changes = service.get("/v1/changes?after=0&wait=0").json()["changes"]
        told = [c["change"]["data"]["entitlement"] for c in changes]
        (told,) = [entitlement for entitlement in told if entitlement["originalTransactionId"] == original]
        assert told["standing"] == purchase["standing"]


def test_a_lookup(shop, store, app_store):
    """What the App Store answers about a transaction has the standing that it has when it is presented."""
    service, found = shop
    asked = 0
    for number, life in enumerate(now(found)):
        if not life.name.startswith("transaction:"):
            continue
        app_store.transaction = lives.with_purchase(life, 1000 + number, f"1b2b7f0e-2f0a-4c0e-9d6a-{number:012}", store.leaf())
        reference = {"store": "app-store", "transactionId": lives.payload(app_store.transaction)["transactionId"]}
        answer = service.post("/v1/lookup", json=reference).json()
        assert (answer.get("standing"), answer.get("grantsAccess")) == (life.standing, life.grants_access), (life.name, answer)
        asked += 1
    assert asked >= 10


def test_entitlements_and_what_is_signed_of_them(shop, store):
    """A purchase that is presented or notified has the same standing by name, signed, in changes, and in the console."""
    service, found = shop
    leaf, session, asked = store.leaf(), Session(service, service.key), 0
    for number, life in enumerate(now(found)):
        if life.standing is None or not life.name.startswith(("transaction:", "notification:")):
            continue
        customer = f"0b2b7f0e-2f0a-4c0e-9d6a-{number:012}"
        signed = lives.with_purchase(life, number, customer, leaf)
        path = f"/v1/customers/{customer}"
        if life.name.startswith("transaction:"):
            answer = service.post(path + "/receipts", data=signed).json()
            assert answer["access"][0]["standing"] == life.standing, (life.name, answer)
        else:
            answer = service.post("/v1/notifications/demo", json={"signedPayload": signed}, key="")
            assert answer.status_code == 200, (life.name, service.post("/v1/verify", data=signed).json())
        (access,) = service.get(path + "/entitlements").json()["access"]
        (reason,) = access["reasons"]
        token = service.get(path + "/entitlements", headers={"Accept": "application/jwt"}).text
        (signed_access,) = lives.payload(token)["entitlements"]
        told = [line["change"]["data"] for line in service.get("/v1/changes?limit=1000").json()["changes"]]
        (change,) = [data for data in told if data.get("customer") == customer]
        page = session.get(f"/console/customer?id={customer}").text
        for where, answered in {
            "entitlements": access, "reason": reason, "signed": signed_access, "change": change["access"][0],
        }.items():  # fmt: skip
            assert (answered["standing"], answered.get("since"), answered.get("until")) == (
                life.standing, life.since, life.until,
            ), (life.name, where)  # fmt: skip
            assert answered.get("grantsAccess", life.grants_access) == life.grants_access, (life.name, where)
        assert change["entitlement"]["standing"] == life.standing, life.name
        mark = "✓" if life.grants_access else "✗"
        assert f"{mark} {life.standing}" in html.unescape(page), life.name
        asked += 1
    assert asked >= 12


def grants(service: Service, key: str, life: lives.Life) -> dict[str, bool]:
    """What the client protocols that know the receipt of a life grant."""
    kind, text = life.name.partition(":")[0], life.receipt.decode()
    transaction = {
        "transaction": {"type": "apple-sk2", "jwsRepresentation": text},
        "app receipt": {"type": "ios-appstore", "appStoreReceipt": text},
        "Google Play": {"type": "android-playstore"},
    }.get(kind)
    found = {}
    if kind == "Google Play":
        signed = json.loads(text)
        token = json.loads(signed["data"])["purchaseToken"]
        transaction |= {"receipt": signed["data"], "signature": signed["signature"], "purchaseToken": token}
    if kind == "transaction":
        answer = service.post("/v1/purchase/verify", key=key, json={"store": "apple", "jws": text}).json()
        found["openiap"] = answer["isValid"]
    if transaction:
        body = {"id": "com.example", "type": "application", "transaction": transaction}
        answer = service.post(f"/v1/validate?apiKey={key}", key="", json=body).json()
        # What nobody knows must not be acknowledged, as the plugin does with every success.
        assert answer["ok"] or (answer["code"] == 6778002 and life.standing == "unknown"), (life.name, answer)
        found["cordova-purchase"] = not all(purchase["isExpired"] for purchase in answer["data"].get("collection", []))
    if kind in ("app receipt", "transaction receipt"):
        receipt = base64.b64encode(life.receipt).decode() if kind == "transaction receipt" else text
        answer = service.post("/verifyReceipt", key="", json={"receipt-data": receipt, "password": key}).json()
        purchases = answer["receipt"].get("in_app", [answer["receipt"]])
        # The protocol has dates alone: what a receipt without them grants, the caller decides.
        if life.standing != "unknown":
            ended = answer["receipt"].get("expiration_date_ms", lives.FAR)
            found["verify-receipt"] = answer["status"] == 0 and any(
                "cancellation_date" not in purchase and int(purchase.get("expires_date_ms", ended)) > time.time() * 1000
                for purchase in purchases
            )
    return found


def test_the_client_protocols_grant_the_same(shop, store):
    service, found = shop
    key = service.make_key("client", app="demo")
    asked = 0
    for number, life in enumerate(now(found)):
        if life.name.startswith("transaction:"):
            # The ledger keeps what the plugin presents, so that each is a purchase of its own.
            receipt = lives.with_purchase(life, 2000 + number, f"2b2b7f0e-2f0a-4c0e-9d6a-{number:012}", store.leaf())
            life = dataclasses.replace(life, receipt=receipt.encode())
        granted = grants(service, key, life)
        assert set(granted.values()) <= {life.grants_access}, (life.name, granted)
        asked += len(granted)
    assert asked >= 40


def test_the_console_shows_three_findings(shop):
    service, found = shop
    session = Session(service, service.key)
    token = session.token("/console/verify")
    for life in now(found):
        if life.receipt.startswith(b"{"):
            continue
        page = session.post("/console/verify", token=token, receipt=life.receipt.decode()).text
        chips = re.search(r'<ul class="chips findings".*?</ul>', page, re.S)[0]
        findings = dict(re.findall(r'<span class="chip [^"]*">([^:<]+): \S ([^<]*)</span>', html.unescape(chips)))
        assert findings["Genuine"] == "yes", life.name
        stands = re.split(" since | until ", findings.get("Stands", "no purchase"))[0]
        assert stands == (life.standing or "no purchase"), life.name
        assert findings["Grants access"] == ("yes" if life.standing == "active" else "no"), life.name
        verdict = re.search(r'class="verdict (\w+)"', page)[1]
        assert verdict == ("good" if life.standing == "active" else "doubtful"), life.name
