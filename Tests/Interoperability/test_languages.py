# SPDX-License-Identifier: Apache-2.0
"""The examples in curl, Python, Node, Go, PHP and Ruby: verify, ask what a customer may use, and take webhooks, with the standard
library of each; with a running server, and with one that answers wrongly."""

import base64
import concurrent.futures
import datetime
import http.client
import json
import os
import re
import secrets
import socket
import subprocess
import time

import pytest
from standardwebhooks import Webhook

import languages
from python_client import Scripted, http as answered
from shops import CUSTOMER, Shops
from test_webhooks import Server, customer, leaf, notification  # noqa: F401

KEY = "rk_secret-of-this-test"
YEAR = 365 * 86_400_000
VALID = {"type": "verdict", "version": 1, "verdict": "valid"}
ACTIVE = VALID | {"standing": "active", "transactions": [{"productId": "gems", "grantsAccess": True, "remainingQuantity": 2}]}
UNDETERMINED = ACTIVE | {"verdict": "undetermined", "retryable": True, "reason": {"code": "store-unreachable", "message": "x"}}


@pytest.fixture(scope="module", params=languages.NEEDED)
def language(request):
    if request.param in languages.absences():
        pytest.skip(f"{request.param} is not installed")
    return request.param


@pytest.fixture(scope="module")
def program(language, tmp_path_factory):
    return languages.command(language, tmp_path_factory.mktemp(language))


@pytest.fixture(scope="module")
def server(store, tmp_path_factory):
    server = Shops(tmp_path_factory.mktemp("server"), store)
    yield server
    assert server.end() == 0


def run(program, *arguments, key=KEY) -> tuple[int, str]:
    """The exit code and the output; the key is in neither."""
    environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    done = subprocess.run([*program, *map(str, arguments)], env=environment | {"KEY": key}, capture_output=True, text=True, timeout=60)
    assert key not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr and "Fatal" not in done.stdout + done.stderr, done.stderr
    return done.returncode, done.stdout


@pytest.fixture
def receipt(tmp_path):
    file = tmp_path / "receipt.jws"
    file.write_text("a.b.c")
    return file


@pytest.mark.server
def test_a_receipt_is_verified_and_a_customer_asked_about(server, program, tmp_path):
    now = int(time.time() * 1000)
    key = server.key_for("verify", "read", app="shop")
    active = server.transaction(
        transactionId="2000000000000007", originalTransactionId="2000000000000007", purchaseDate=now - 1000, expiresDate=now + YEAR
    )
    expired = server.transaction(
        transactionId="2000000000000008", originalTransactionId="2000000000000008", purchaseDate=now - YEAR, expiresDate=now - 1000
    )
    answers = []
    for content in (active, expired, active[:-10] + "AAAAAAAAAA"):
        file = tmp_path / "receipt.jws"
        file.write_text(content)
        answers.append(run(program, "verify", server.url, file, key=key))
    product = json.loads(base64.urlsafe_b64decode(active.split(".")[1] + "=="))["productId"]
    assert answers == [(0, f"grant {product} × 1\n"), (0, ""), (1, "refuse: signature-mismatch\n")]
    presented = server.post(f"/v1/customers/{CUSTOMER}/receipts?app=shop", data=active)
    assert presented.json()["access"][0]["grantsAccess"], presented.text
    assert run(program, "entitlements", server.url, CUSTOMER, key=key) == (0, "premium yes\n")
    # Some other path must not be asked.
    for name in ("nobody", "a/b ?#é", "..x"):
        assert run(program, "entitlements", server.url, name, key=key) == (0, "premium no\n")
    code, output = run(program, "entitlements", server.url, CUSTOMER, key=server.key_for("admin"))
    assert code in (1, 75) and "missing-scope" in output


def verify(program, receipt, *answers) -> tuple[int, str, int]:
    """The exit code, the output and the number of requests, where a server answers with objects, one after the other."""
    texts = [each if isinstance(each, bytes) else answered(json.dumps(each)) for each in answers]
    with Scripted(*texts) as server:
        return *run(program, "verify", server.url, receipt), len(server.requests)


def test_what_could_not_be_checked_is_asked_again_and_never_granted(program, receipt):
    granted = (0, "grant gems × 2\n")
    assert verify(program, receipt, UNDETERMINED, ACTIVE) == (*granted, 2)
    assert verify(program, receipt, UNDETERMINED) == (75, "undecided: keep the receipt\n", 3)
    # To ask again would not help.
    assert verify(program, receipt, UNDETERMINED | {"retryable": False}) == (75, "undecided: keep the receipt\n", 1)
    assert verify(program, receipt, ACTIVE | {"verdict": "something new"}) == (75, "undecided: keep the receipt\n", 1)


def test_what_does_not_stand_is_not_granted(program, receipt):
    for purchase in ({"grantsAccess": False}, {}, {"grantsAccess": None}):
        taken = ACTIVE | {"transactions": [{"productId": "gems", "remainingQuantity": 1} | purchase]}
        assert verify(program, receipt, taken) == (0, "", 1)
    assert verify(program, receipt, VALID) == (0, "", 1)


def test_a_server_that_cannot_answer_now_is_asked_again(program, receipt):
    statuses = ["503 Service Unavailable", "429 Too Many Requests", "500 Internal Server Error", "502 Bad Gateway"]
    failures = [answered("<html>", status, "text/html", Retry_After="1") for status in statuses]
    # They wait much: at the same time.
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        never = pool.submit(verify, program, receipt, answered("<html>", "503 Service Unavailable", "text/html"))
        results = list(pool.map(lambda failure: verify(program, receipt, failure, ACTIVE), failures))
        assert results == [(0, "grant gems × 2\n", 2)] * 4
        code, output, count = never.result()
    assert code == 75 and "grant" not in output and count >= 3
    problem = answered(json.dumps({"code": "unauthorized", "detail": "No."}), "401 Unauthorized", "application/problem+json")
    code, output, count = verify(program, receipt, problem)
    assert code in (1, 75) and "unauthorized" in output and count == 1


WRONG = {
    "truncated": answered(json.dumps(ACTIVE)[:-9]), "HTML": answered("<html>valid</html>"), "empty": answered(""), "no object": answered('["valid"]'),
    "ends early": answered(json.dumps(ACTIVE), length=10_000), "nothing": b"", "a part of the head": b"HTTP/1.1 200 OK\r\n",
}  # fmt: skip


def test_a_wrong_answer_grants_nothing(program, receipt):
    def ask(answer):
        with Scripted(answer) as server:
            return run(program, "verify", server.url, receipt)

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        results = dict(zip(WRONG, pool.map(ask, WRONG.values()), strict=True))
    assert all(code in (1, 75) and "grant" not in output for code, output in results.values()), results


def test_a_redirect_gets_no_request_and_no_key(program, receipt):
    with Scripted(answered(json.dumps(ACTIVE))) as thief:
        for status in ("302 Found", "307 Temporary Redirect"):
            with Scripted(answered("", status, Location=thief.url)) as server:
                for arguments in (["verify", server.url, receipt], ["entitlements", server.url, "ann"]):
                    environment = os.environ | {"KEY": KEY}
                    done = subprocess.run([*program, *arguments], env=environment, capture_output=True, text=True, timeout=60)
                    assert "grant" not in done.stdout and "yes" not in done.stdout
        assert thief.requests == []


# Webhooks

CHANGE = json.dumps({"type": "entitlement.granted", "timestamp": "2026-01-02T03:04:05.678Z", "data": {"app": "shop", "customer": "ann", "entitlement": {"type": "x"}}})


def free_port() -> int:
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return place.getsockname()[1]


class Receiver:
    """A process of an example that takes webhooks."""

    def __init__(self, language, program, secret, folder):
        self.port = free_port()
        self.output = folder / f"output-{self.port}.txt"
        (folder / "taken").mkdir(exist_ok=True)
        arguments = ["php", "-S", f"127.0.0.1:{self.port}", program[1]] if language == "php" else [*program, "webhook", str(self.port)]
        environment = os.environ | {"WEBHOOK_SECRET": secret, "TAKEN": str(folder / "taken"), "NO_PROXY": "*"}
        with self.output.open("wb") as file:
            self.process = subprocess.Popen(arguments, env=environment, stdout=file, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                break
            except OSError:
                assert time.monotonic() < end and self.process.poll() is None
                time.sleep(0.05)

    @property
    def lines(self) -> list[str]:
        return [line for line in self.output.read_text().splitlines() if not line.startswith("ready")]

    def post(self, body: bytes, headers: dict) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request("POST", "/hooks", body, headers)
        status = connection.getresponse().status
        connection.close()
        return status

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def signed(secret, body=CHANGE, identifier="msg_1", when=None) -> dict:
    when = when or datetime.datetime.now(datetime.UTC)
    headers = {"webhook-id": identifier, "webhook-timestamp": str(int(when.timestamp())), "content-type": "application/json"}
    return headers | {"webhook-signature": Webhook(secret).sign(identifier, when, body)}


def new_secret() -> str:
    return "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()


def test_a_webhook_is_taken_once_and_only_if_its_signature_is_right(language, program, tmp_path):
    secret, other = new_secret(), new_secret()
    long_ago = datetime.datetime.now(datetime.UTC) - datetime.timedelta(minutes=6)
    good = signed(secret)
    two = good | {"webhook-signature": "v1,AAAA " + good["webhook-signature"]}
    wrong = [
        (CHANGE, signed(other)), (CHANGE.replace("ann", "bob"), good), (CHANGE, good | {"webhook-id": "msg_2"}), (CHANGE, {}),
        (CHANGE, signed(secret, when=long_ago)), (CHANGE, good | {"webhook-timestamp": "x"}), (CHANGE, good | {"webhook-timestamp": "9" * 30}),
        (CHANGE, good | {"webhook-signature": good["webhook-signature"][:-2]}), (CHANGE, good | {"webhook-signature": ""}), ("", good),
    ]  # fmt: skip
    if language == "curl":

        def check(body, headers):
            arguments = [headers.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature")]
            done = subprocess.run(
                [*program, "webhook", *arguments], input=body, env=os.environ | {"WEBHOOK_SECRET": secret}, capture_output=True, text=True, timeout=20,
            )  # fmt: skip
            return done.returncode, done.stdout

        assert check(CHANGE, good) == check(CHANGE, two) == (0, "entitlement.granted ann\n")
        for body, headers in wrong:
            code, output = check(body, headers)
            assert code != 0 and output == "", headers
        return
    with Receiver(language, program, secret, tmp_path) as receiver:
        for body, headers in wrong:
            assert receiver.post(body.encode(), headers) == 400, headers
        assert receiver.lines == []
        # The same change, delivered three times.
        assert [receiver.post(CHANGE.encode(), headers) for headers in (good, good, two)] == [204] * 3
        body = CHANGE.replace("ann", "Zoë")
        assert receiver.post(body.encode(), signed(secret, body, "msg_3")) == 204
        # One that is too long, or whose sender goes away, does not end it.
        try:
            assert receiver.post(b" " * (2 << 20), good) in (400, 413)
        except OSError:
            pass
        with socket.create_connection(("127.0.0.1", receiver.port)) as gone:
            gone.sendall(b"POST / HTTP/1.1\r\nContent-Length: 100\r\n\r\nx")
        body = CHANGE.replace("ann", "eve")
        assert receiver.post(body.encode(), signed(secret, body, "msg_4")) == 204
        assert receiver.lines == [f"entitlement.granted {name}" for name in ("ann", "Zoë", "eve")]


@pytest.mark.server
def test_a_webhook_of_the_server_is_taken(language, program, store, leaf, tmp_path):  # noqa: F811
    if language == "curl":
        pytest.skip("curl sends; it takes nothing")
    secret = new_secret()
    with Receiver(language, program, secret, tmp_path) as receiver:
        server = Server(tmp_path, store, receiver, [secret])
        try:
            assert server.post(notification(leaf, "SUBSCRIBED", customer(1), 1)) == 200
            end = time.monotonic() + 60
            while not receiver.lines:
                assert time.monotonic() < end
                time.sleep(0.05)
            assert receiver.lines == [f"entitlement.granted {customer(1)}"]
        finally:
            assert server.end() == 0
            server.log.close()


def test_each_says_how_it_is_used(language, program):
    done = subprocess.run([*program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 64 and "verify URL RECEIPT-FILE" in re.sub(r"\s+", " ", done.stderr), done
