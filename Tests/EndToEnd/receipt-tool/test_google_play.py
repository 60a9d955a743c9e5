# SPDX-License-Identifier: Apache-2.0
"""receipt-tool play, and Google Play's notifications beside the App Store's, against a Google Play of a few lines."""

import base64
import http.client
import http.server
import json
import threading
import time

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

import samples
from independent import pki
from notifications import Receiver, body
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
        (("consume", "t1", "--product", "coins"), "consumed"),
        (("revoke", "t1", "--prorated"), "revoked"),
        (("refund", "GPA.1", "--revoke"), "refunded"),
    ]:
        run = play(*arguments)
        assert run.code == VALID, run.err
        assert run.lines[0]["result"] == result
    assert [line[2] for line in google.received if line[1] != "/token"] == [
        '{"developerPayload":"p"}', "{}", "", '{"revocationContext":{"proratedRefund":{}}}', "",
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


def deliver(receiver, data: bytes, token: str | None, path: str = "/play") -> dict:
    connection = http.client.HTTPConnection("127.0.0.1", receiver.port, timeout=30)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    connection.request("POST", path, data, headers)
    status = connection.getresponse().status
    connection.close()
    line = receiver.line()
    assert line["status"] == status
    return line


@pytest.fixture
def serve(receipt_tool, trust, google, account, tmp_path):
    running = []

    def start(*arguments):
        running.append(
            Receiver(
                receipt_tool, tmp_path / "state.sqlite", *trust, *account, "--play-package", PACKAGE,
                "--push-audience", AUDIENCE, "--push-email", EMAIL, "--push-keys-url", google.url + "/certs",
                *arguments,
            )  # fmt: skip
        )
        return running[-1]

    yield start
    for receiver in running:
        if receiver.process.poll() is None:
            receiver.stop()


def test_both_stores_are_received_into_one_file(serve, google, store, receipt_tool, tmp_path):
    leaf = store.intermediate.issue("Receipt Signing", "p256", markers=(pki.RECEIPT_LEAF,), validity=pki.CENTURY)
    receiver = serve()
    google.answers["GET", "/purchases/subscriptionsv2/tokens/t1"] = 200, ACTIVE
    line = deliver(receiver, push(subscribed("t1"), "m1"), google.token())
    assert line["result"] == "done" and line["state"] == "active" and line["notificationType"] == 4
    assert receiver.sends(body(leaf))["result"] == "done"
    assert deliver(receiver, push(subscribed("t1"), "m1"), google.token())["result"] == "repeated"
    # Another purchase replaces it.
    google.answers["GET", "/purchases/subscriptionsv2/tokens/t2"] = 200, ACTIVE | {"linkedPurchaseToken": "t1"}
    assert deliver(receiver, push(subscribed("t2"), "m2"), google.token())["result"] == "done"
    assert deliver(receiver, push({"testNotification": {"version": "1.0"}}, "m3"), google.token())["result"] == "done"
    assert deliver(receiver, push({"futureNotification": {"x": 1}}, "m4"), google.token())["event"] == "futureNotification"

    def entitlements(*arguments):
        return receipt_tool.run("notifications", "entitlements", "--state", tmp_path / "state.sqlite", *arguments).lines

    found = entitlements()
    assert {line.get("purchaseToken"): line["state"] for line in found if "purchaseToken" in line} == {
        "t1": "replaced", "t2": "active",
    }  # fmt: skip
    assert [line["originalTransactionId"] for line in found if "originalTransactionId" in line] == [
        samples.TRANSACTION["originalTransactionId"]
    ]
    assert [line["purchaseToken"] for line in entitlements("--purchase-token", "t2")] == ["t2"]
    receiver.stop()
    # A restart has forgotten nothing.
    again = serve()
    assert deliver(again, push(subscribed("t1"), "m1"), google.token())["result"] == "repeated"


def test_pushes_that_are_not_googles_are_refused(serve, google):
    receiver = serve()
    data = push(subscribed("t1"), "m1")
    for token, reason in [
        (None, "missing"), ("x.y.z", "malformed"), (google.token(aud="https://example.com"), "wrong-audience"),
        (google.token(email="evil@example.com"), "wrong-email"), (google.token(exp=1, iat=0), "expired"),
        (google.token()[:-8] + "AAAAAAAA", "bad-signature"),
    ]:  # fmt: skip
        line = deliver(receiver, data, token)
        assert (line["result"], line["status"]) == ("refused", 401) and line["message"].startswith(reason), line
    # A push to the App Store's side is none of its notifications.
    assert deliver(receiver, data, google.token(), path="/")["status"] == 400
    assert not [line for line in google.received if line[1].startswith("/purchases")]


def test_a_message_comes_again_until_google_play_answers_and_the_work_is_done(serve, google, tmp_path):
    google.answers["GET", "/purchases/subscriptionsv2/tokens/t1"] = 403, {"error": {"code": 403}}
    receiver = serve("--forward", f"cat >> {tmp_path}/forwarded; test -e {tmp_path}/works")
    data = push(subscribed("t1"), "m1")
    line = deliver(receiver, data, google.token())
    assert (line["result"], line["status"]) == ("undetermined", 503)
    google.answers["GET", "/purchases/subscriptionsv2/tokens/t1"] = 200, ACTIVE
    assert deliver(receiver, data, google.token())["result"] == "failed"
    (tmp_path / "works").touch()
    assert deliver(receiver, data, google.token())["result"] == "done"
    assert deliver(receiver, data, google.token())["result"] == "repeated"
    forwarded = [json.loads(line) for line in (tmp_path / "forwarded").read_text().splitlines()]
    assert len(forwarded) == 2 and forwarded[1]["messageId"] == "m1"
    assert forwarded[1]["developerNotification"]["subscriptionNotification"]["purchaseToken"] == "t1"
    assert forwarded[1]["purchase"]["state"] == "active" and forwarded[1]["purchase"]["productIds"] == ["pro"]


def test_a_server_for_google_play_alone_takes_nothing_else(receipt_tool, google, account, tmp_path):
    class PlayOnly(Receiver):
        def __init__(self, *arguments):
            import subprocess

            command = [receipt_tool.path, "notifications", "serve", "--port", "0", *arguments]
            self.process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.port = json.loads(self.process.stdout.readline())["port"]

    receiver = PlayOnly(
        "--state", tmp_path / "state.sqlite", *account, "--play-package", PACKAGE, "--push-audience", AUDIENCE,
        "--push-email", EMAIL, "--push-keys-url", google.url + "/certs",
    )  # fmt: skip
    try:
        assert receiver.post(b"{}") == 404 and receiver.line()["result"] == "refused"
        assert deliver(receiver, push({"testNotification": {}}, "m1"), google.token())["result"] == "done"
    finally:
        receiver.stop()
