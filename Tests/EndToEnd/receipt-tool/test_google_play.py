# SPDX-License-Identifier: Apache-2.0
"""receipt-tool play, and Google Play's notifications beside the App Store's, against a Google Play of a few lines."""

import base64
import http.server
import json
import threading
import time

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from tool import INVALID, UNDETERMINED, UNREADABLE, USAGE, VALID

PACKAGE, AUDIENCE, EMAIL = "com.example.app", "https://example.com/play", "push@example.iam.gserviceaccount.com"
ACTIVE = {
    "subscriptionState": "SUBSCRIPTION_STATE_ACTIVE",
    "latestOrderId": "GPA.1",
    "lineItems": [{"productId": "pro", "expiryTime": "2099-01-01T00:00:00Z", "latestSuccessfulOrderId": "GPA.1"}],
}


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


class Google:
    """Issues access tokens, publishes keys, and answers what `answers` has for a method and path."""

    def __init__(self):
        self.key = rsa.generate_private_key(65537, 2048)
        self.answers, self.received = {}, []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                content = self.rfile.read(int(self.headers["Content-Length"] or 0)).decode()
                path = self.path.replace(f"/androidpublisher/v3/applications/{PACKAGE}", "")
                outer.received.append((self.command, path, content, self.headers["Authorization"]))
                status, value = outer.respond(self.command, path)
                data = b"" if value is None else json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Cache-Control", "max-age=3600")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = answer

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def respond(self, method, path):
        if path == "/token":
            return 200, {"access_token": "secret-token", "token_type": "Bearer", "expires_in": 3599}
        if path == "/certs":
            numbers = self.key.public_key().public_numbers()
            return 200, {"keys": [{"kty": "RSA", "kid": "k1", "alg": "RS256", "use": "sig", "e": "AQAB",
                                   "n": base64url(numbers.n.to_bytes(256, "big"))}]}  # fmt: skip
        missing = {"error": {"code": 404, "message": "No.", "status": "NOT_FOUND", "errors": [{"reason": "notFound"}]}}
        return self.answers.get((method, path), (404, missing))

    def token(self, **changes) -> str:
        now = int(time.time())
        claims = {"iss": "https://accounts.google.com", "aud": AUDIENCE, "email": EMAIL, "email_verified": True,
                  "iat": now, "exp": now + 3600} | changes  # fmt: skip
        header = {"alg": "RS256", "kid": "k1", "typ": "JWT"}
        signed = ".".join(base64url(json.dumps(part).encode()) for part in (header, claims))
        return f"{signed}.{base64url(self.key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256()))}"


@pytest.fixture(scope="module")
def google():
    return Google()


@pytest.fixture
def account(google, tmp_path):
    pem = google.key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = tmp_path / "key.json"
    content = {"type": "service_account", "private_key_id": "1", "private_key": pem.decode(),
               "client_email": "play@example.iam.gserviceaccount.com", "token_uri": google.url + "/token"}  # fmt: skip
    path.write_text(json.dumps(content))
    google.answers.clear()
    google.received.clear()
    return ["--service-account", path, "--play-base-url", google.url]


def assert_lost_output_is_an_error(play, *arguments):
    """Whether a command whose output cannot be written says so."""
    with open("/dev/full", "wb") as full:
        run = play(*arguments, stdout=full)
    assert run.code == 74 and "cannot write to standard output: No space left on device" in run.err, run.err


@pytest.fixture
def play(receipt_tool, account):
    def run(*arguments, **options):
        return receipt_tool.run("play", *arguments, "--package", PACKAGE, *account, **options)

    return run


def test_purchases_are_shown_as_google_answers_them(play, google):
    google.answers["GET", "/purchases/subscriptionsv2/tokens/t1"] = 200, ACTIVE | {"future": {"a": [1.50]}}
    run = play("get", "t1", "--type", "subscription")
    assert run.code == VALID, run.err
    shown = run.lines[0]
    assert shown["future"] == {"a": [1.5]} and shown["lineItems"][0]["expiryTime"] == "2099-01-01T00:00:00.000Z"
    assert [line[1] for line in google.received] == ["/token", "/purchases/subscriptionsv2/tokens/t1"]
    assert google.received[1][3] == "Bearer secret-token"
    assert_lost_output_is_an_error(play, "get", "t1", "--type", "subscription")


def test_calls_without_an_answer_say_what_was_done(play, google):
    base = "/purchases/products/coins/tokens/t1"
    for path in (f"{base}:acknowledge", f"{base}:consume", "/orders/GPA.1:refund?revoke=true",
                 "/purchases/subscriptions/pro/tokens/t1:acknowledge"):  # fmt: skip
        google.answers["POST", path] = 204, None
    google.answers["POST", "/purchases/subscriptionsv2/tokens/t1:revoke"] = 200, {}
    for arguments, result in [
        (("acknowledge", "t1", "--type", "product", "--product", "coins", "--payload", "p"), "acknowledged"),
        (("acknowledge", "t1", "--type", "subscription", "--product", "pro"), "acknowledged"),
        (("acknowledge", "t1", "--type", "subscription", "--product", "pro", "--account", "a", "--profile", "b"), "acknowledged"),
        (("consume", "t1", "--product", "coins"), "consumed"),
        (("revoke", "t1", "--prorated"), "revoked"),
        (("refund", "GPA.1", "--revoke"), "refunded"),
    ]:
        run = play(*arguments)
        assert run.code == VALID, run.err
        assert run.lines[0]["result"] == result
    assert [line[2] for line in google.received if line[1] != "/token"] == [
        '{"developerPayload":"p"}', "{}", '{"externalAccountIds":{"obfuscatedAccountId":"a","obfuscatedProfileId":"b"}}', "",
        '{"revocationContext":{"proratedRefund":{}}}', "",
    ]  # fmt: skip
    for arguments in [
        ("acknowledge", "t1", "--type", "subscription", "--product", "pro"), ("consume", "t1", "--product", "coins"),
        ("revoke", "t1", "--prorated"), ("refund", "GPA.1", "--revoke"),
    ]:  # fmt: skip
        assert_lost_output_is_an_error(play, *arguments)


def test_voided_purchases_come_page_after_page(play, google):
    first = "/purchases/voidedpurchases?startTime=1759276800000&type=1"
    google.answers["GET", first] = 200, {"voidedPurchases": [{"purchaseToken": "a", "voidedTimeMillis": "1"}],
                                         "tokenPagination": {"nextPageToken": "2"}}  # fmt: skip
    second = "/purchases/voidedpurchases?startTime=1759276800000&token=2&type=1"
    google.answers["GET", second] = 200, {"voidedPurchases": [{"purchaseToken": "b", "voidedReason": 7}]}
    run = play("voided", "--from", "2025-10-01T00:00:00Z", "--subscriptions")
    assert run.code == VALID, run.err
    assert [line["purchaseToken"] for line in run.lines] == ["a", "b"]
    assert_lost_output_is_an_error(play, "voided", "--from", "2025-10-01T00:00:00Z", "--subscriptions")


STATEMENT = {"pendingRefundToken": "t", "refundPreference": "DECLINE", "sampleContentProvided": False}
TRANSACTION = {
    "originalPreTaxAmount": {"currency": "USD", "priceMicros": "9990000"},
    "originalTaxAmount": {"currency": "USD", "priceMicros": "0"}, "transactionTime": "2026-03-01T10:00:00.000Z",
    "userTaxAddress": {"regionCode": "US"}, "oneTimeTransaction": {"externalTransactionToken": "token"},
}  # fmt: skip


def test_orders_deferrals_external_transactions_and_the_catalogue(play, google, tmp_path):
    """Each command sends the call that Google documents, and prints the answer, or what was done."""
    statement, transaction = tmp_path / "statement.json", tmp_path / "transaction.json"
    statement.write_text(json.dumps(STATEMENT))
    transaction.write_text(json.dumps(TRANSACTION))
    partial = {"refundId": "r", "refundPreTaxAmount": {"currency": "USD", "priceMicros": "5"}}
    time = "2026-03-02T10:00:00.000Z"
    renewals, payments = "USER_REQUESTED_STOP_RENEWALS", "DEVELOPER_REQUESTED_STOP_PAYMENTS"
    for arguments, (method, path, body), answer, shown in [
        ("orders GPA.1", ("GET", "/orders/GPA.1", None), {"orderId": "GPA.1"}, [{"orderId": "GPA.1"}]),
        (
            "orders GPA.1 GPA.2", ("GET", "/orders:batchGet?orderIds=GPA.1&orderIds=GPA.2", None),
            {"orders": [{"orderId": "GPA.1"}, {"orderId": "GPA.2"}]}, [{"orderId": "GPA.1"}, {"orderId": "GPA.2"}],
        ),
        (
            f"review-refund GPA.1 {statement}", ("POST", "/orders/GPA.1:reviewrefund", STATEMENT), None,
            [{"orderId": "GPA.1", "result": "stated"}],
        ),
        (
            "cancel t", ("POST", "/purchases/subscriptionsv2/tokens/t:cancel", {"cancellationContext": {"cancellationType": renewals}}),
            {}, [{"purchaseToken": "t", "result": "cancelled"}],
        ),
        (
            "cancel t --stop-payments",
            ("POST", "/purchases/subscriptionsv2/tokens/t:cancel", {"cancellationContext": {"cancellationType": payments}}),
            {}, [{"purchaseToken": "t", "result": "cancelled"}],
        ),
        (
            "cancel t --v1 pro", ("POST", "/purchases/subscriptions/pro/tokens/t:cancel", None), None,
            [{"purchaseToken": "t", "result": "cancelled"}],
        ),
        (
            "defer t --days 7 --etag e --dry-run",
            (
                "POST", "/purchases/subscriptionsv2/tokens/t:defer",
                {"deferralContext": {"deferDuration": "604800s", "etag": "e", "validateOnly": True}},
            ),
            {"itemExpiryTimeDetails": [{"productId": "pro", "expiryTime": time}]},
            [{"itemExpiryTimeDetails": [{"productId": "pro", "expiryTime": time}]}],
        ),
        (
            "defer t --v1 pro --from 2026-03-01T10:00:00Z --to 2026-03-02T10:00:00Z",
            (
                "POST", "/purchases/subscriptions/pro/tokens/t:defer",
                {"deferralInfo": {"expectedExpiryTimeMillis": "1772359200000", "desiredExpiryTimeMillis": "1772445600000"}},
            ),
            {"newExpiryTimeMillis": "1772445600000"}, [{"newExpiryTimeMillis": "1772445600000"}],
        ),
        (
            f"external create x {transaction}", ("POST", "/externalTransactions?externalTransactionId=x", TRANSACTION),
            TRANSACTION, [{name: TRANSACTION[name] for name in sorted(TRANSACTION)}],
        ),
        ("external get x", ("GET", "/externalTransactions/x", None), {"packageName": "a"}, [{"packageName": "a"}]),
        (
            "external refund x --at 2026-03-02T10:00:00Z",
            ("POST", "/externalTransactions/x:refund", {"refundTime": time, "fullRefund": {}}), {}, [{}],
        ),
        (
            "external refund x --at 2026-03-02T10:00:00Z --refund-id r --amount 5 --currency USD",
            ("POST", "/externalTransactions/x:refund", {"refundTime": time, "partialRefund": partial}), {}, [{}],
        ),
        (
            "catalog subscriptions", ("GET", "/subscriptions?pageSize=1000", None),
            {"subscriptions": [{"productId": "pro"}]}, [{"productId": "pro"}],
        ),
        (
            "catalog offers --product pro", ("GET", "/subscriptions/pro/basePlans/-/offers?pageSize=1000", None),
            {"subscriptionOffers": [{"offerId": "o"}]}, [{"offerId": "o"}],
        ),
        (
            "catalog products", ("GET", "/oneTimeProducts?pageSize=1000", None),
            {"oneTimeProducts": [{"productId": "a"}, {"productId": "b"}]}, [{"productId": "a"}, {"productId": "b"}],
        ),
        ("catalog products --product a", ("GET", "/oneTimeProducts/a", None), {"productId": "a"}, [{"productId": "a"}]),
    ]:  # fmt: skip
        google.received.clear()
        google.answers[method, path] = 204 if answer is None else 200, answer
        run = play(*arguments.split())
        assert run.code == VALID, (arguments, run.err)
        assert run.lines == shown, arguments
        (sent,) = [line for line in google.received if line[1] != "/token"]
        assert sent[:2] == (method, path), arguments
        assert (json.loads(sent[2]) if sent[2] else None) == body, arguments
        assert_lost_output_is_an_error(play, *arguments.split())


def test_what_google_would_refuse_is_not_sent(play, google, tmp_path):
    body = tmp_path / "body.json"
    for content, arguments, code, words in [
        (STATEMENT | {"consumptionPercentageMilliunits": 100_001}, "review-refund GPA.1", INVALID, "$.consumptionPercentageMilliunits"),
        ({"refundPreference": "DECLINE"}, "review-refund GPA.1", UNREADABLE, "body.json"),
        (TRANSACTION, "external create a.b", INVALID, "externalTransactionId"),
        (TRANSACTION | {"oneTimeTransaction": None}, "external create x", INVALID, "$.recurringTransaction"),
        ("{", "external create x", UNREADABLE, "body.json"),
    ]:
        body.write_text(content if isinstance(content, str) else json.dumps(content))
        run = play(*arguments.split(), body)
        assert run.code == code and words in run.err, (arguments, run.err)
    for arguments, words in [("orders GPA.1 GPA.1", "orderIds"), ("external get a.b", "externalTransactionId")]:
        run = play(*arguments.split())
        assert run.code == INVALID and words in run.err, run.err
    assert [line for line in google.received if line[1] != "/token"] == []
    assert play("external", "create", "x", tmp_path / "none").code == UNREADABLE


def test_refusals_have_their_exit_codes_and_no_secret_is_shown(play, google, receipt_tool, account, tmp_path):
    run = play("get", "t1", "--type", "product")
    assert run.code == INVALID and "not-found" in run.err and "secret-token" not in run.err
    google.answers["GET", "/purchases/productsv2/tokens/t1"] = 503, {}
    run = receipt_tool.run(
        "play", "get", "t1", "--type", "product", "--package", PACKAGE, *account, "--deadline", "0.2")  # fmt: skip
    assert run.code == UNDETERMINED
    run = receipt_tool.run("play", "get", "t1", "--type", "product", "--package", PACKAGE)
    assert run.code == USAGE and "--service-account" in run.err
    broken = tmp_path / "broken.json"
    broken.write_text('{"type":"authorized_user"}')
    run = receipt_tool.run("play", "get", "t", "--type", "product", "--package", PACKAGE, "--service-account", broken)
    assert run.code == UNREADABLE and "$.type" in run.err


def push(notification: dict, message_id: str) -> bytes:
    content = {"version": "1.0", "packageName": PACKAGE, "eventTimeMillis": "1760000000000"} | notification
    data = base64.b64encode(json.dumps(content).encode()).decode()
    return json.dumps({"message": {"data": data, "messageId": message_id}, "subscription": "s"}).encode()


def subscribed(token: str) -> dict:
    return {"subscriptionNotification": {"version": "1.0", "notificationType": 4, "purchaseToken": token}}
