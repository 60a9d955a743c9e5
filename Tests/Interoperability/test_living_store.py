# SPDX-License-Identifier: Apache-2.0
"""Purchases live in the emulator's store, and Apple's library for Python sees it: in statuses, histories and notifications."""

import base64
import http.server
import json
import os
import random
import signal
import threading

import pytest
from appstoreserverlibrary.api_client import AppStoreServerAPIClient, GetTransactionHistoryVersion
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.NotificationHistoryRequest import NotificationHistoryRequest
from appstoreserverlibrary.models.Status import Status
from appstoreserverlibrary.models.TransactionHistoryRequest import TransactionHistoryRequest
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier
from developer_server import DeveloperServer
from emulator import Emulator

pytestmark = pytest.mark.server

MONTHLY, YEARLY, COINS = (f"com.example.app.{name}" for name in ("monthly", "yearly", "coins"))
HOUR = 3_600_000
RETRIES = [1, 12, 24, 48, 72]


class Receiver(DeveloperServer):
    """The developer's server for notifications of the App Store."""

    def __init__(self):
        super().__init__("/notifications")

    def payloads(self) -> list[dict]:
        return [payload(body["signedPayload"]) for body in self.bodies]


def payload(jws: str) -> dict:
    text = jws.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))


@pytest.fixture
def receiver():
    receiver = Receiver()
    yield receiver
    receiver.close()


@pytest.fixture
def emulator(tmp_path, receiver):
    emulator = Emulator(
        os.environ["STORE_EMULATOR"], tmp_path / "state", "--no-token-checks", "--clock-rate", "0",
        "--grace-period", "16", "--notification-url", receiver.url, "--notification-timeout", "1",
    )  # fmt: skip
    yield emulator
    assert emulator.stop() == 0


class Client(AppStoreServerAPIClient):
    def __init__(self, emulator: Emulator):
        developer = emulator.developer
        super().__init__(
            emulator.file("developerKey"), developer["keyId"], developer["issuerId"], developer["bundleId"],
            Environment.SANDBOX,
        )  # fmt: skip
        self._base_url = emulator.url("port")


def test_a_purchase_lives_through_everything(emulator, receiver):
    client = Client(emulator)
    developer = emulator.developer
    verifier = SignedDataVerifier(
        [emulator.file("root")], False, Environment.SANDBOX, developer["bundleId"], developer["appAppleId"]
    )
    history: list[str] = []

    def control(name, **members):
        return emulator.control("POST", name, members)

    def subscription():
        items = client.get_all_subscription_statuses(original).data[0].lastTransactions
        assert len(items) == 1
        return (
            items[0].status,
            verifier.verify_and_decode_signed_transaction(items[0].signedTransactionInfo),
            verifier.verify_and_decode_renewal_info(items[0].signedRenewalInfo),
        )

    def transactions():
        response = client.get_transaction_history(original, None, TransactionHistoryRequest(), GetTransactionHistoryVersion.V2)
        return [verifier.verify_and_decode_signed_transaction(signed) for signed in response.signedTransactions]

    def step(status, product, *notifications):
        """What happened is seen in the status, in the history and at the developer's server."""
        found, transaction, renewal = subscription()
        assert (found, transaction.productId) == (status, product)
        if transaction.transactionId not in history:
            history.append(transaction.transactionId)
        assert {t.transactionId for t in transactions()} == set(history)
        received = [verifier.verify_and_decode_notification(body["signedPayload"]) for body in receiver.bodies]
        receiver.bodies.clear()
        assert [(n.rawNotificationType, n.rawSubtype) for n in received] == list(notifications)
        for notification in received:
            about = verifier.verify_and_decode_signed_transaction(notification.data.signedTransactionInfo)
            assert about.originalTransactionId == original
        return transaction, renewal

    token = "7e3fb204-2b3a-4c8f-9d5e-6a1b2c3d4e5f"
    original = control("buy", account="alice", productId=MONTHLY, appAccountToken=token)["transactionId"]
    first, renewal = step(Status.ACTIVE, MONTHLY, ("SUBSCRIBED", "INITIAL_BUY"))
    assert first.appAccountToken == token and renewal.autoRenewStatus == 1
    app = client.get_app_transaction_info(original)
    assert verifier.verify_and_decode_app_transaction(app.signedAppTransactionInfo).appTransactionId == first.appTransactionId
    for _ in range(2):
        control("advance", by="P1M")
        step(Status.ACTIVE, MONTHLY, ("DID_RENEW", None))
    control("change", originalTransactionId=original, productId=YEARLY)
    upgraded, _ = step(Status.ACTIVE, YEARLY, ("DID_CHANGE_RENEWAL_PREF", "UPGRADE"))
    assert [t.isUpgraded for t in transactions()].count(True) == 1
    control("billing", account="alice", fails=True)
    control("advance", to=upgraded.expiresDate)
    _, renewal = step(Status.BILLING_GRACE_PERIOD, YEARLY, ("DID_FAIL_TO_RENEW", "GRACE_PERIOD"))
    assert renewal.isInBillingRetryPeriod and renewal.gracePeriodExpiresDate == upgraded.expiresDate + 16 * 24 * HOUR
    control("advance", by="P3W")
    step(Status.BILLING_RETRY, YEARLY, ("GRACE_PERIOD_EXPIRED", None))
    control("billing", account="alice", fails=False)
    control("advance", by="P1D")
    recovered, _ = step(Status.ACTIVE, YEARLY, ("DID_RENEW", "BILLING_RECOVERY"))
    control("refund", transactionId=recovered.transactionId, reason="ISSUE")
    refunded, _ = step(Status.REVOKED, YEARLY, ("REFUND", None))
    assert refunded.revocationReason == 1
    refunds = client.get_refund_history(original, None).signedTransactions
    assert [verifier.verify_and_decode_signed_transaction(r).transactionId for r in refunds] == [recovered.transactionId]
    control("buy", account="alice", productId=MONTHLY, winBackOffer="come-back")
    won, _ = step(Status.ACTIVE, MONTHLY, ("SUBSCRIBED", "RESUBSCRIBE"))
    assert (won.rawOfferType, won.offerIdentifier) == (4, "come-back")
    # Everything is in the history of notifications too, as it was delivered.
    now = emulator.control("GET", "clock")["now"]
    request = NotificationHistoryRequest(startDate=now - 29 * 24 * HOUR, endDate=now + 1000)
    items = client.get_notification_history(None, request).notificationHistory
    kinds = [verifier.verify_and_decode_notification(item.signedPayload).rawNotificationType for item in items]
    assert kinds == ["DID_FAIL_TO_RENEW", "GRACE_PERIOD_EXPIRED", "DID_RENEW", "REFUND", "SUBSCRIBED"]
    assert all([attempt.sendAttemptResult.value for attempt in item.sendAttempts] == ["SUCCESS"] for item in items)


FAILURES = {
    500: "UNSUCCESSFUL_HTTP_RESPONSE_CODE", 404: "UNSUCCESSFUL_HTTP_RESPONSE_CODE",
    503: "UNSUCCESSFUL_HTTP_RESPONSE_CODE", 207: "UNSUCCESSFUL_HTTP_RESPONSE_CODE",
    304: "UNSUCCESSFUL_HTTP_RESPONSE_CODE", "close": "PREMATURE_CLOSE", "silence": "TIMED_OUT",
    "garbage": "INVALID_RESPONSE", "loop": "CIRCULAR_REDIRECT", "charset": "UNSUPPORTED_CHARSET",
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("failure", FAILURES, ids=str)
def test_a_failed_notification_is_sent_again_at_the_app_store_s_times(emulator, receiver, failure):
    receiver.behaviour = lambda number: failure
    sale = emulator.control("POST", "buy", {"account": "bob", "productId": COINS})
    signed = emulator.control("GET", "clock")["now"]
    attempts = lambda: emulator.control("GET", "notifications")["notifications"][0]["sendAttempts"]  # noqa: E731
    assert [a["sendAttemptResult"] for a in attempts()] == [FAILURES[failure]]
    expected, due = [signed], signed
    for hours in RETRIES[:3]:
        due += hours * HOUR
        expected.append(due)
    # Not a millisecond early.
    emulator.control("POST", "advance", {"to": signed + HOUR - 1})
    assert len(attempts()) == 1
    emulator.control("POST", "advance", {"to": due})
    assert [a["attemptDate"] for a in attempts()] == expected
    # Accepted at last, and then no more.
    receiver.behaviour = lambda number: 206
    emulator.control("POST", "advance", {"by": "P2W"})
    expected.append(due + RETRIES[3] * HOUR)
    assert [a["attemptDate"] for a in attempts()] == expected
    assert [a["sendAttemptResult"] for a in attempts()] == [FAILURES[failure]] * 4 + ["SUCCESS"]
    assert [p["data"]["signedTransactionInfo"] is not None for p in receiver.payloads()] == [True]
    assert payload(receiver.payloads()[0]["data"]["signedTransactionInfo"])["transactionId"] == sale["transactionId"]


def test_no_notification_is_tried_more_than_six_times(emulator, receiver):
    receiver.behaviour = lambda number: 500
    emulator.control("POST", "buy", {"account": "bob", "productId": COINS})
    emulator.control("POST", "advance", {"by": "P1M"})
    attempts = emulator.control("GET", "notifications")["notifications"][0]["sendAttempts"]
    steps = [(b["attemptDate"] - a["attemptDate"]) / HOUR for a, b in zip(attempts, attempts[1:])]
    assert steps == RETRIES


def test_what_cannot_be_sent_anywhere_does_not_stop_the_clock(emulator, receiver):
    receiver.behaviour = lambda number: 500
    sale = emulator.control("POST", "buy", {"account": "bob", "productId": MONTHLY})
    emulator.seed(notificationURL=None)
    emulator.control("POST", "advance", {"by": "P1Y"})
    posted = emulator.control("GET", "notifications")["notifications"]
    assert len(posted) == 13 and [len(n["sendAttempts"]) for n in posted] == [1] + [0] * 12
    # What was planned is sent once there is a place again; what came meanwhile never was.
    receiver.behaviour = lambda number: 200
    emulator.seed(notificationURL=receiver.url)
    emulator.control("POST", "advance", {"by": 1})
    assert [p["data"]["status"] for p in receiver.payloads()] == [1]
    assert statuses(emulator, sale["transactionId"]) == [1]


def test_notifications_come_in_the_order_of_signing(emulator, receiver):
    for number in range(30):
        emulator.control("POST", "buy", {"account": f"c{number % 7}", "productId": COINS})
    dates = [(p["signedDate"]) for p in receiver.payloads()]
    assert len(dates) == 30 and dates == sorted(dates)


@pytest.mark.parametrize(
    "name, body, named",
    [
        ("buy", {"account": "a", "productId": "nothing"}, "nothing"),
        ("buy", {"account": "a", "productID": COINS}, "productID"),
        ("buy", {"account": "a", "productId": COINS, "quantity": "two"}, "quantity"),
        ("refund", {"transactionId": "4711"}, "4711"),
        ("refund", {}, "transactionId"),
        ("cancel", {"originalTransactionId": "4711"}, "4711"),
        ("advance", {"by": "soon"}, "by"),
        ("advance", {"to": 1}, "does not go back"),
        ("advance", {"by": "P100Y"}, "10 years"),
        ("family", {"account": "a"}, "a"),
        ("seed", {"refunds": [{"transactionId": "4711"}]}, "4711"),
        ("seed", {"transaction": []}, "transaction"),
        ("seed", {"transactions": [{"transaction": {"transactionId": 1}}]}, "transactionId"),
        (
            "seed",
            {"subscriptions": [{"transaction": {"transactionId": "1", "expiresDate": 1}, "renewalInfo": {"autoRenewStatus": 0}, "status": 1}]},
            "status 1",
        ),
        ("nothing", {}, "nothing"),
    ],
)
def test_a_wrong_control_is_an_error_that_names_it(emulator, name, body, named):
    import urllib.error

    with pytest.raises(urllib.error.HTTPError) as caught:
        emulator.control("POST", name, body)
    assert caught.value.code == 400 and named in json.load(caught.value)["error"]


def test_a_seed_with_false_resets_nothing(emulator):
    sale = emulator.control("POST", "buy", {"account": "a", "productId": COINS})
    emulator.seed(reset=False)
    assert emulator.control("POST", "finish", {"transactionId": sale["transactionId"]}) == {"notifications": []}


def all_notifications(emulator, limit=10_000) -> list[dict]:
    """Page after page."""
    found, more = [], True
    while more:
        after = found[-1]["number"] if found else 0
        page = emulator.control("GET", f"notifications?after={after}&limit={limit}")
        found, more = found + page["notifications"], page.get("hasMore", False)
    return found


def test_notifications_are_listed_in_pages(emulator):
    for number in range(7):
        emulator.control("POST", "buy", {"account": "a", "productId": COINS, "requestId": str(number)})
    assert [n["number"] for n in all_notifications(emulator, limit=3)] == list(range(1, 8))
    assert "hasMore" not in emulator.control("GET", "notifications?limit=7")
    import urllib.error

    for query in ("limit=0", "limit=10001", "after=-1", "after=x", "before=3"):
        with pytest.raises(urllib.error.HTTPError) as caught:
            emulator.control("GET", f"notifications?{query}")
        assert caught.value.code == 400 and query in json.load(caught.value)["error"]


@pytest.mark.long
def test_a_killed_emulator_loses_and_invents_nothing(tmp_path, receiver, receipt_tool):
    """kill -9 at random moments: what was acknowledged is there, once, and every notification arrives."""
    rounds = int(os.environ.get("RECEIPTKIT_KILLS", "12"))
    shop = tmp_path / "shop"
    assert receipt_tool.run("store", "init", "--store", shop).code == 0
    generator = random.Random(19)
    sold: dict[str, str] = {}
    for number in range(rounds):
        emulator = Emulator(
            os.environ["STORE_EMULATOR"], tmp_path / "state", "--no-token-checks", "--store", str(shop),
            "--notification-url", receiver.url,
        )  # fmt: skip
        killer = threading.Timer(generator.uniform(0.02, 0.5), emulator.process.send_signal, [signal.SIGKILL])
        killer.start()
        asked = None
        try:
            while True:
                asked = f"{number}-{len(sold)}"
                answer = emulator.control("POST", "buy", {"account": "a", "productId": "com.example.coins", "requestId": asked})
                assert answer["transactionId"] not in sold.values()
                sold[asked] = answer["transactionId"]
                asked = None
        except OSError:
            pass
        killer.join()
        assert emulator.process.wait(timeout=30) == -signal.SIGKILL
        if asked is None:
            continue
        # The same request again is answered with the same sale, whether it was made or not.
        emulator = Emulator(
            os.environ["STORE_EMULATOR"], tmp_path / "state", "--no-token-checks", "--store", str(shop),
            "--notification-url", receiver.url,
        )  # fmt: skip
        sold[asked] = emulator.control("POST", "buy", {"account": "a", "productId": "com.example.coins", "requestId": asked})["transactionId"]
        posted = all_notifications(emulator)
        assert emulator.stop() == 0
        assert [n["transactionId"] for n in posted] == list(sold.values())
    arrived = [payload(p["data"]["signedTransactionInfo"])["transactionId"] for p in receiver.payloads()]
    # At least once each, in order where the first arrival counts.
    assert list(dict.fromkeys(arrived)) == list(sold.values())


def statuses(emulator, original) -> list[int]:
    import urllib.request

    with urllib.request.urlopen(f"{emulator.url()}/inApps/v1/subscriptions/{original}", timeout=30) as response:
        return [item["status"] for group in json.load(response)["data"] for item in group["lastTransactions"]]


def test_a_store_is_dumped_and_loaded(emulator, receiver):
    sale = emulator.control("POST", "buy", {"account": "a", "productId": MONTHLY})
    dump = emulator.control("GET", "state")
    emulator.control("POST", "refund", {"transactionId": sale["transactionId"]})
    assert statuses(emulator, sale["transactionId"]) == [5]
    emulator.control("POST", "state", dump)
    assert statuses(emulator, sale["transactionId"]) == [1]
    assert emulator.control("GET", "state") == dump
    # It goes on from there: nothing is sent twice, and the renewal comes when it is due.
    receiver.bodies.clear()
    emulator.control("POST", "advance", {"by": "P1M"})
    assert [p["notificationType"] for p in receiver.payloads()] == ["DID_RENEW"]


def test_a_broken_dump_changes_nothing(emulator):
    import urllib.error

    sale = emulator.control("POST", "buy", {"account": "a", "productId": MONTHLY})
    dump = emulator.control("GET", "state")
    for record in ({"collection": "store-header", "key": "store", "value": "{"}, {"collection": "x", "key": "", "value": ""}):
        with pytest.raises(urllib.error.HTTPError):
            emulator.control("POST", "state", {"records": [record]})
    assert statuses(emulator, sale["transactionId"]) == [1] and emulator.control("GET", "state") == dump


MESSAGE = "1f0c6b7a-9a3e-4f43-8d15-3b8e3a2f7c11"


@pytest.mark.parametrize(
    "answer, problem",
    [
        ({"message": {"messageIdentifier": MESSAGE}}, None),
        ({"message": {"messageIdentifier": "2f0c6b7a-9a3e-4f43-8d15-3b8e3a2f7c11"}}, "no message"),
        ({"message": {"messageIdentifier": MESSAGE}, "alternateProduct": {"messageIdentifier": MESSAGE, "productId": YEARLY}}, "one of"),
        ({}, "one of"),
        ("no JSON", "cannot be read"),
        (None, "status"),
    ],
)
def test_the_answer_to_a_realtime_request_is_checked(emulator, answer, problem):
    import urllib.request

    asked: list[dict] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            asked.append(payload(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["signedPayload"]))
            text = b"" if answer is None else answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
            self.send_response(500 if answer is None else 200)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    upload = urllib.request.Request(
        f"{emulator.url()}/inApps/v1/messaging/message/{MESSAGE}", data=b'{"header": "Stay", "body": "Please."}', method="PUT"
    )
    urllib.request.urlopen(upload, timeout=30).close()
    sale = emulator.control("POST", "buy", {"account": "a", "productId": MONTHLY})
    url = f"http://127.0.0.1:{server.server_address[1]}/realtime"
    result = emulator.control("POST", "realtime", {"originalTransactionId": sale["transactionId"], "url": url})
    server.shutdown()
    assert asked[0]["originalTransactionId"] == sale["transactionId"] and asked[0]["productId"] == MONTHLY
    if problem is None:
        assert result["problems"] == [] and result["response"] == answer
    else:
        assert problem in result["problems"][0]


def test_a_customer_s_app_buys_over_the_store_s_protocol(emulator, receiver):
    import urllib.request

    def call(name, body):
        request = urllib.request.Request(
            f"{emulator.url()}/store/v1/{name}", data=json.dumps(body).encode(), method="POST",
            headers={"Authorization": "Bearer carol", "Content-Type": "application/json"},
        )  # fmt: skip
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.load(response)

    products = call("products", {"productIdentifiers": [MONTHLY, "nothing"]})
    assert products["invalidProductIdentifiers"] == ["nothing"]
    sold = call("purchase", {"requestIdentifier": "1", "payment": {"productIdentifier": MONTHLY, "quantity": 1}})
    text = json.dumps(sold)
    assert "2000000000000001" in text
    assert statuses(emulator, "2000000000000001") == [1]


def test_several_apps_are_served_by_one_process(tmp_path, receipt_tool):
    import urllib.request

    shops = []
    for name in ("one", "two"):
        shops += ["--store", str(tmp_path / name)]
        run = receipt_tool.run("store", "init", "--store", tmp_path / name, "--bundle", f"com.example.{name}")
        assert run.code == 0, run.err
    emulator = Emulator(os.environ["STORE_EMULATOR"], tmp_path / "state", "--no-token-checks", *shops)
    assert emulator.developer["bundleId"] == "com.example.one"

    def buy(app):
        body = {"account": "a", "productId": "com.example.coins"}
        request = urllib.request.Request(
            f"{emulator.url()}/apps/{app}/_emulator/buy", data=json.dumps(body).encode(), method="POST"
        )
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.load(response)["transactionId"]

    def transaction(prefix, identifier, token=None):
        request = urllib.request.Request(f"{emulator.url()}{prefix}/inApps/v1/transactions/{identifier}")
        if token:
            claims = base64.urlsafe_b64encode(json.dumps({"bid": token}).encode()).decode().rstrip("=")
            request.add_header("Authorization", f"Bearer eyJhbGciOiJFUzI1NiJ9.{claims}.AAAA")
        with urllib.request.urlopen(request, timeout=30) as response:
            return payload(json.load(response)["signedTransactionInfo"])["bundleId"]

    sold = buy("com.example.two")
    assert transaction("/apps/com.example.two", sold) == "com.example.two"
    assert transaction("", sold, token="com.example.two") == "com.example.two"
    with pytest.raises(OSError):
        transaction("", sold)
    assert buy("com.example.one") == sold
    assert transaction("", sold) == "com.example.one"
    assert emulator.stop() == 0


def test_the_tool_controls_the_store(emulator, receipt_tool):
    def control(*arguments, **options):
        return receipt_tool.run("store", "control", "--emulator", emulator.url(), *arguments, **options)

    bought = control("buy", "account=dave", f"productId={MONTHLY}")
    assert bought.code == 0, bought.err
    identifier = json.loads(bought.out)["transactionId"]
    assert control("refund", f"transactionId={identifier}", "percentage=50").code == 0
    assert statuses(emulator, identifier) == [5]
    refused = control("refund", f"transactionId={identifier}")
    assert refused.code == 1 and "refunded" in refused.err and refused.out == ""
    assert control("refund", "transactionId").code == 64
    assert control("refund", "transactionId:=nothing").code == 64
    with open("/dev/full", "wb") as full:
        assert control("advance", "by=P1M", stdout=full).code == 74
    gone = receipt_tool.run("store", "control", "--emulator", "http://127.0.0.1:1", "advance", "by=1")
    assert gone.code == 2 and gone.out == ""
