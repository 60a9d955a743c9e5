# SPDX-License-Identifier: Apache-2.0
"""The Python client in Clients/python: installed, checked by mypy, and used with a running server and with hostile ones."""

import base64
import copy
import datetime
import importlib
import inspect
import json
import logging
import secrets
import subprocess
import sys
import tarfile
import time
import traceback
import zipfile

import pytest
from standardwebhooks import Webhook

from python_client import FOLDER, ROOT, Both, Scripted, http, install
from service import Service
from shops import CUSTOMER, Shops

ORIGINAL = "2000000000000000"
KEY, RECEIPT = "rk_secret-of-this-test", b"a receipt that is a secret"
DESCRIPTION = json.loads((ROOT / "Schemas/receipt-server/openapi.json").read_text())
OPERATIONS = {operation["operationId"] for methods in DESCRIPTION["paths"].values() for operation in methods.values()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return install(tmp_path_factory.mktemp("installed"))


@pytest.fixture(scope="module")
def package(folder):
    sys.path.insert(0, str(folder))
    yield importlib.import_module("receiptkit_client")
    sys.path.remove(str(folder))


@pytest.fixture(scope="module")
def models(package):
    return package.models


@pytest.fixture(params=["sync", "async"])
def both(request, package):
    return Both(package, request.param == "async")


@pytest.fixture(scope="module")
def server(store, tmp_path_factory):
    server = Shops(tmp_path_factory.mktemp("server"), store)
    server.notify("shop", "SUBSCRIBED", "INITIAL_BUY", originalTransactionId=ORIGINAL, transactionId="2000000000000001")
    server.app = {"app": "shop"}
    yield server
    assert server.end() == 0


def snake(name: str) -> str:
    return "".join("_" + each.lower() if each.isupper() and not name[max(number - 1, 0)].isupper() else each.lower() for number, each in enumerate(name))


# The package


@pytest.mark.long
def test_a_wheel_has_types_and_nothing_else_is_needed(tmp_path):
    subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-index", "--no-deps", "--no-build-isolation", "-w", tmp_path, FOLDER], check=True, timeout=300)
    (wheel,) = tmp_path.glob("receiptkit_client-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "receiptkit_client/py.typed" in names
    metadata = zipfile.ZipFile(wheel).read(next(each for each in names if each.endswith("METADATA"))).decode()
    needed = [line for line in metadata.splitlines() if line.startswith("Requires-Dist")]
    assert [line for line in needed if "extra ==" not in line] == ["Requires-Dist: httpx<1,>=0.27"], needed
    # The version of the server.
    version = (ROOT / "Sources/Receipts/ReceiptBytes/ToolkitVersion.swift").read_text().split('static let current = "')[1].split('"')[0]
    assert f"\nVersion: {version}\n" in metadata


@pytest.mark.long
def test_the_archive_of_a_release_can_be_installed_and_is_always_the_same(tmp_path):
    archives = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        subprocess.run([ROOT / "Packaging/python-client", tmp_path / name], check=True, timeout=60)
        archives += (tmp_path / name).iterdir()
    assert archives[0].read_bytes() == archives[1].read_bytes()
    assert any(name.endswith("/LICENSE") for name in tarfile.open(archives[0]).getnames())
    install(tmp_path / "installed", archives[0])
    code = "import receiptkit_client; print(receiptkit_client.__version__)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env={"PYTHONPATH": str(tmp_path / "installed")})
    assert f"receiptkit_client-{run.stdout.strip()}.tar.gz" == archives[0].name, run.stderr


USER = '''
import asyncio
from receiptkit_client import AsyncClient, Client, Conflict, models, webhooks
from receiptkit_client.entitlements import verify


def main(client: Client, receipt: bytes, customer: str) -> list[str | None]:
    verdict: models.Verdict = client.verify(receipt)
    if verdict.should_retry or verdict.reason is not None and verdict.reason.code == "expired":
        return []
    try:
        presented = client.present_receipt(customer, receipt)
    except Conflict as conflict:
        print(conflict.code, conflict.retry_after, conflict.trace_id)
        return []
    for owned in presented.entitlements:
        match owned.entitlement:
            case models.Entitlement(product_id=product):
                print(product)
            case models.PlayEntitlement() as purchase:
                print(purchase.line_items[0].product_id)
            case _:
                pass
    match verdict.standing:
        case models.Standing.REFUNDED:
            pass
    for entry in client.iter_find_entries(customer=customer):
        print(entry.index + 1)
    return [purchase.product_id for purchase in verdict.transactions or ()]


async def other(client: AsyncClient) -> None:
    verdict = await client.verify("receipt")
    async for each in client.verify_batch([b"one"]):
        print(each.index == verdict.index)
    async for change in client.stream_changes(since=3):
        print(change.change.data.app)
'''


@pytest.mark.long
def test_mypy_finds_nothing_in_strict_mode(folder, tmp_path):
    (tmp_path / "user.py").write_text(USER)
    wrong = USER.replace("return [purchase.product_id", "return [purchase.product").replace("verdict.should_retry", "verdict.retry")
    (tmp_path / "wrong.py").write_text(wrong.replace("since=3", 'since="3"').replace('"receipt"', "7"))
    found = {}
    for file in ("user.py", "wrong.py"):
        run = subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", file],
            cwd=tmp_path, capture_output=True, text=True, timeout=300, env={"MYPYPATH": str(folder), "PATH": "/usr/bin:/bin"},
        )  # fmt: skip
        found[file] = run.stdout
    assert "Success" in found["user.py"], found["user.py"]
    # It is typed: mistakes are found.
    for mistake in ('"Verdict" has no attribute "retry"', 'Argument "since"', 'Argument 1 to "verify"'):
        assert mistake in found["wrong.py"], found["wrong.py"]
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", "-p", "receiptkit_client"],
        cwd=tmp_path, capture_output=True, text=True, timeout=300, env={"MYPYPATH": str(folder), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert "Success" in run.stdout, run.stdout


def test_each_operation_is_a_method_of_both_with_documentation(package):
    for kind in (package.Client, package.AsyncClient):
        for operation in OPERATIONS:
            method = getattr(kind, snake(operation))
            assert method.__doc__, operation
    for operation in OPERATIONS - {"verifyBatch"}:
        sync, other = (inspect.signature(getattr(kind, snake(operation))) for kind in (package.Client, package.AsyncClient))
        assert sync == other, operation


# With a server


@pytest.mark.server
def test_each_operation_is_called(server, package, models):
    called = set()
    count = 0

    class Counting(package.Client):
        def _call(self, call):
            called.add(call.operation)
            return super()._call(call)

    def client(key, app="shop"):
        return Counting(server.url, key, app=app)

    receipt = server.transaction(transactionId="2000000000000002", originalTransactionId=ORIGINAL)
    with client(server.key_for("client", app="shop"), app=None) as phone:
        purchase = models.OpenIAPPurchase(store="apple", jws=receipt)
        for call in (phone.verify_client_purchase, phone.verify_client_purchase_with_prefix, phone.verify_client_purchase_alias):
            state = call(purchase)
            assert (state.store, state.is_valid) == ("apple", state.state == "ENTITLED")
        with pytest.raises(package.InvalidRequest) as caught:
            phone.verify_client_purchase(models.OpenIAPPurchase(store="nowhere"))
        assert caught.value.code and caught.value.status == 400
        validation = models.CordovaValidation(
            id="com.example.app", type="application", transaction={"type": "apple-sk2", "jwsRepresentation": receipt}
        )
        assert phone.validate_cordova_purchase(validation).ok
        # A signed transaction is no app receipt.
        assert phone.verify_receipt(models.VerifyReceiptRequest(receipt_data=receipt)).status == 21002

    with client(server.key) as backend:
        for body in (receipt, receipt.encode(), {"signedTransactionInfo": receipt}, models.WrappedReceipt(signed_transaction_info=receipt)):
            verdict = backend.verify(body)
            assert verdict.is_valid and verdict.transactions[0].original_transaction_id == ORIGINAL
            assert (verdict.verdict, type(verdict.verdict)) == ("valid", models.VerdictWord)
            presented = backend.present_receipt(CUSTOMER, body)
            assert presented.verdict.verdict is models.VerdictWord.VALID and presented.entitlements
        assert backend.inspect(receipt).payload["transactionId"] == "2000000000000002"
        altered = backend.verify(receipt[:-10] + "AAAAAAAAAA")
        assert (altered.verdict, altered.is_valid, altered.active_purchases, altered.should_retry) == ("invalid", False, (), False)
        assert altered.reason.code == "signature-mismatch"
        with pytest.raises(package.NotFound) as caught:
            backend.look_up(models.Reference(transaction_id=ORIGINAL))
        assert caught.value.code == "no-credentials"
        verdicts = list(backend.verify_batch([receipt, "no receipt", {"signedTransactionInfo": receipt}]))
        assert [(each.index, each.verdict) for each in verdicts] == [(0, "valid"), (1, "invalid"), (2, "valid")]
        with pytest.raises(package.InvalidRequest) as caught:
            backend.receive_notification("shop", {"signedPayload": "e30.e30.e30"})
        assert caught.value.code == "refused"

        (owned,) = backend.get_entitlement(ORIGINAL).entitlements
        assert type(owned.entitlement) is models.Entitlement and owned.entitlement.original_transaction_id == ORIGINAL
        history = backend.get_entitlement_history(ORIGINAL)
        assert history.changes and history.entries[0].index >= 0
        answer = backend.get_customer_entitlements(CUSTOMER)
        assert answer.entitlements and answer.access[0].name == "premium" and answer.etag
        assert answer.grants("premium") is answer.access[0].grants_access and not answer.grants("gold")
        assert backend.get_customer_entitlements(CUSTOMER, known=answer) is answer
        assert backend.get_customer_entitlements("nobody", known=answer) is not answer
        (key,) = backend.get_key_set("shop").keys
        assert (key.kty, key.crv, key.alg) == ("EC", "P-256", "ES256")

        expires = datetime.datetime(2090, 1, 31, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=1)))
        granted = backend.grant_entitlement("bob", models.NewGrant(entitlement="premium", reason="a test", expires=expires))
        assert granted.grant.state == "active" and granted.grants("premium") and granted.grant.expires_date == expires
        # The same request, sent again.
        again = models.NewGrant(entitlement="premium", reason="a test", expires=expires, id=granted.grant.grant_id)
        assert backend.grant_entitlement("bob", again).grant == granted.grant
        withdrawn = backend.withdraw_grant("bob", granted.grant.grant_id, reason="over")
        assert withdrawn.grant.state == "withdrawn" and not withdrawn.grants("premium")

        server.notify("shop", "CONSUMPTION_REQUEST", originalTransactionId=ORIGINAL, transactionId="2000000000000001")
        assert backend.list_refund_reviews(state="open").reviews[0].review.refund_review_id == "2000000000000001"
        assert backend.get_refund_review("2000000000000001").reviews[0].customer == CUSTOMER
        known = models.NewRefundAnswer(customer_consented=True, delivery_status="DELIVERED", sample_content_provided=False)
        (stated,) = backend.state_refund_evidence("2000000000000001", known).reviews
        assert stated.review.evidence.is_delivered
        wanted = models.NewRefundAnswer(preference=models.RefundPreference.DECLINE)
        assert json.loads(backend.preview_refund_answer("2000000000000001", wanted).body)["refundPreference"] == "DECLINE"
        with pytest.raises(package.Conflict) as caught:
            backend.answer_refund_review("2000000000000001", wanted)
        assert caught.value.code == "no-credentials"

        page = backend.get_changes(since=0, limit=2)
        assert len(page.changes) == 2
        every = list(backend.iter_get_changes(limit=1))
        assert [each.sequence for each in every] == sorted({each.sequence for each in every}) and len(every) > 2
        assert every[0].change.type.startswith("entitlement.") and every[0].change.data.access[0].name == "premium"
        events = backend.stream_changes(since=every[0].sequence)
        assert [next(events).sequence for _ in every[1:]] == [each.sequence for each in every[1:]]
        events.close()
        with pytest.raises(package.Conflict) as caught:
            next(backend.stream_changes(since=10**9))
        assert caught.value.code == "beyond-end"

        assert backend.find_entries(original=ORIGINAL).entries
        indexes = [entry.index for entry in backend.iter_find_entries(limit=1)]
        assert indexes == sorted(indexes, reverse=True) and len(indexes) > 1
        assert backend.get_entry(0).index == 0
        server.proof(0)
        assert backend.get_proof(0).proof.startswith("c2sp.org/tlog-proof")
        with client(server.key, app=None) as auditor:
            size = int(auditor.get_log_file("checkpoint").splitlines()[1])
            assert len(auditor.get_log_file(f"tile/0/000.p/{size}")) == 32 * size
            for file in ("../audit.sqlite.key", "%2e%2e/x"):
                with pytest.raises(package.NotFound):
                    auditor.get_log_file(file)

        assert [endpoint.name for endpoint in backend.list_webhooks().endpoints] == ["backend"]
        assert backend.list_dead_letters("backend").letters == () and list(backend.iter_list_dead_letters("backend")) == []
        assert backend.replay_webhooks("backend").count == 0

        made = backend.create_key(models.NewKey(name="typed", scopes=[models.Scope.READ], app="shop"))
        assert made.key.startswith(f"rk_{made.id}_") and made.key not in repr(made) and made.key not in repr([made])
        listed = {each.id: each for each in backend.list_keys().keys}
        assert listed[made.id].scopes == (models.Scope.READ,)
        with client(made.key) as reader:
            reader.get_entitlement(ORIGINAL)
            with pytest.raises(package.Forbidden) as caught:
                reader.verify(receipt)
            assert caught.value.code == "missing-scope" and not caught.value.is_retryable
            changes = reader.stream_changes()
            next(changes)
            assert backend.revoke_key(made.id) is None
            # The stream says why it ends.
            with pytest.raises(package.Unauthorized):
                for _ in changes:
                    count += 1
                    assert count < 100
        with client("rk_wrong") as stranger, pytest.raises(package.Unauthorized):
            stranger.list_keys()
        assert backend.list_administrative_acts(limit=1).acts[0].act == "key.revoke"
        assert len(list(backend.iter_list_administrative_acts(limit=1))) > 3
        assert backend.erase_customer(CUSTOMER).purchases == 1
        assert (backend.get_health(), backend.get_readiness()) == ("ok\n", "ready\n")
        assert backend.get_description() == DESCRIPTION
    assert called == OPERATIONS


@pytest.mark.server
def test_a_batch_of_many_receipts_is_read_while_it_is_written(server, both):
    """Much more than the operating system holds on the way, of which some are refused, and in DER."""
    receipt = server.transaction(transactionId="2000000000000003", originalTransactionId="2000000000000003")
    taken = []

    def receipts():
        for number in range(1000):
            taken.append(number)
            yield b"\x30\x82\x01\x00\n" + bytes(60) if number % 10 == 9 else receipt

    verdicts = []

    def gather(client):
        for verdict in client.verify_batch(receipts()):
            verdicts.append((verdict.index, verdict.verdict))
            # It does not read all receipts first.
            assert taken[-1] - verdict.index < 200

    async def gather_async(client):
        async for verdict in client.verify_batch(receipts()):
            verdicts.append((verdict.index, verdict.verdict))
            assert taken[-1] - verdict.index < 200

    both.run(server.url, gather_async if both.is_async else gather, key=server.key, app="shop")
    assert verdicts == [(number, "invalid" if number % 10 == 9 else "valid") for number in range(1000)]


@pytest.mark.server
def test_the_asynchronous_client_does_the_same(server, both, package, models):
    receipt = server.transaction(transactionId="2000000000000004", originalTransactionId="2000000000000004")
    run = lambda use: both.run(server.url, use, key=server.key, app="shop")  # noqa: E731
    assert run(lambda client: client.verify(receipt)).is_valid
    answer = run(lambda client: client.get_customer_entitlements("nobody"))
    assert run(lambda client: client.get_customer_entitlements("nobody", known=answer)) is answer
    every = lambda use, limit=None: both.every(server.url, use, limit, key=server.key, app="shop")  # noqa: E731
    entries = every(lambda client: client.iter_find_entries(limit=2))
    assert len(entries) > 3 and len({entry.index for entry in entries}) == len(entries)
    assert len(every(lambda client: client.stream_changes(), 2)) == 2
    with pytest.raises(package.Forbidden):
        both.run(server.url, lambda client: client.list_keys(), key=server.key_for("read", app="shop"))


@pytest.mark.server
def test_signed_entitlements_are_verified_and_no_other_token(server, package, folder):
    entitlements = importlib.import_module("receiptkit_client.entitlements")
    who = "7F3A0C52-1E6C-4D0C-9D38-0A5F3F0C2B12"
    with package.Client(server.url, server.key, app="shop") as client:
        client.grant_entitlement(who.lower(), package.models.NewGrant(entitlement="premium", reason="a test"))
        token = client.get_customer_entitlements_signed(who.lower())
        keys, others = client.get_key_set("shop"), client.get_key_set("other")
        cached = entitlements.CachedKeys(lambda: client.get_key_set("shop"))
        assert cached.verify(token, app="shop", customer=who).grants("premium")
    signed = entitlements.verify(token, keys, app="shop", customer=who)
    assert signed.grants("premium") and not signed.grants("gold")
    later = signed.expires + datetime.timedelta(seconds=1)
    assert not signed.grants("premium", now=later)

    def refusal(text, key_set=keys, **changed):
        with pytest.raises(entitlements.TokenRefused) as caught:
            entitlements.verify(text, key_set, **{"app": "shop", "customer": who} | changed)
        return caught.value.code

    assert refusal(token, app="other") == "wrong-app"
    assert refusal(token, customer="somebody") == "wrong-customer"
    assert refusal(token, now=later + datetime.timedelta(minutes=2)) == "expired"
    assert refusal(token, now=signed.issued - datetime.timedelta(minutes=2)) == "issued-in-future"
    assert refusal(token, package.models.KeySet(keys=[])) == "unknown-key"
    assert others.keys == keys.keys
    head, claims, signature = token.split(".")
    plain = base64.urlsafe_b64encode(b'{"alg":"none","typ":"entitlements+jwt"}').decode().rstrip("=")
    assert refusal(f"{plain}.{claims}.") == "unsupported"
    assert refusal(f"{plain}.{claims}.{signature}") == "unsupported"
    for text in ("", "a", "a.b", "a.b.c", f"{token}.x", token[: len(head) + 3], "é" * 20, "." * 300000):
        assert refusal(text) in ("malformed", "bad-signature", "unsupported")
    # Each character of it: what is not refused would be another spelling.
    for place in range(len(token)):
        other = "B" if token[place] == "A" else "A"
        altered = token[:place] + other + token[place + 1 :]
        if place in (len(head) - 1, len(head) + len(claims)) or place == len(token) - 1 or altered == token:
            continue
        assert refusal(altered) in ("malformed", "bad-signature", "unsupported", "unknown-key"), place


@pytest.mark.server
def test_an_error_names_the_trace_by_which_the_server_logged_it(package, tmp_path):
    server = Service(tmp_path / "data")
    with (tmp_path / "log").open("wb") as log:
        server.start(log=log)
        with package.Client(server.url, server.key) as client, pytest.raises(package.InvalidRequest) as caught:
            client.receive_notification("demo", {"signedPayload": "e30.e30.e30"})
        assert server.end() == 0
    lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert [line for line in lines if line.get("trace-id") == caught.value.trace_id], lines


# Webhooks


def webhook(package, body=None, secret=None, when=None, identifier="msg_1"):
    secret = secret or "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()
    when = when or datetime.datetime.now(datetime.UTC)
    body = body if body is not None else json.dumps(CHANGE)
    signature = Webhook(secret).sign(identifier, when, body)
    headers = {"Webhook-Id": identifier, "webhook-timestamp": str(int(when.timestamp())), "WEBHOOK-SIGNATURE": signature}
    return secret, body.encode(), headers


CHANGE = {
    "type": "entitlement.granted", "timestamp": "2026-01-02T03:04:05.678Z",
    "data": {"app": "shop", "customer": "ann", "entitlement": {"type": "something-new", "version": 1, "state": "x"}, "names": ["premium"]},
}  # fmt: skip


def test_a_webhook_is_verified_by_the_signature_of_another_implementation(package):
    secret, body, headers = webhook(package)
    taken = package.webhooks.verify(body, headers, secret)
    assert (taken.id, taken.change.data.customer, taken.change.data.names) == ("msg_1", "ann", ("premium",))
    assert taken.change.timestamp == datetime.datetime(2026, 1, 2, 3, 4, 5, 678000, datetime.UTC)
    assert taken.change.data.entitlement.type == "something-new"
    # While a secret is replaced, either end may have two.
    other, _, more = webhook(package)
    assert package.webhooks.verify(body, headers, [other, secret]).id == "msg_1"
    both = headers | {"WEBHOOK-SIGNATURE": f"v1,AAAA v2,x {headers['WEBHOOK-SIGNATURE']}"}
    assert package.webhooks.verify(body, both, secret).id == "msg_1"
    refused = package.webhooks.WebhookRefused
    for wrong_body, wrong_headers, keys in [
        (body, headers, other), (body + b" ", headers, secret), (body, headers | {"Webhook-Id": "msg_2"}, secret), (body, {}, secret),
        (body, headers | {"webhook-timestamp": "0"}, secret), (body, headers | {"webhook-timestamp": "²"}, secret),
        (body, headers | {"webhook-timestamp": "9" * 5000}, secret), (body, headers | {"WEBHOOK-SIGNATURE": "v1," + "A" * 44}, secret),
        (body, headers | {"WEBHOOK-SIGNATURE": headers["WEBHOOK-SIGNATURE"].replace("v1,", "v1a,")}, secret),
        (body, headers | {"WEBHOOK-SIGNATURE": "v1,é"}, secret), (body, headers | {"WEBHOOK-SIGNATURE": "v1"}, secret),
    ]:  # fmt: skip
        with pytest.raises(refused):
            package.webhooks.verify(wrong_body, wrong_headers, keys)
    for number in range(len(body)):
        with pytest.raises(refused):
            package.webhooks.verify(body[:number] + bytes([body[number] ^ 1]) + body[number + 1 :], headers, secret)
    old = webhook(package, secret=secret, when=datetime.datetime.now(datetime.UTC) - datetime.timedelta(minutes=6))
    with pytest.raises(refused):
        package.webhooks.verify(*old[1:], secret)
    assert package.webhooks.verify(*old[1:], secret, tolerance=600).id == "msg_1"
    # Signed, and yet no webhook of this API.
    for text in ("", "[]", '{"type": 1}', json.dumps(CHANGE)[:-1]):
        _, strange, signed = webhook(package, text, secret)
        with pytest.raises(refused):
            package.webhooks.verify(strange, signed, secret)
    for secret in ("", "whsec_", "whsec_AAAA", "whsec_!", []):
        with pytest.raises(ValueError) as caught:
            package.webhooks.verify(body, headers, secret)
        assert not secret or str(secret) == "whsec_" or str(secret) not in str(caught.value)


# Hostile servers

VERDICT = {"type": "verdict", "version": 1, "verdict": "valid", "standing": "active", "grantsAccess": True, "transactions": []}
PROBLEM = {"title": "T", "status": 503, "code": "unavailable", "detail": "Later."}


def problem(status: int, **more) -> str:
    return json.dumps(PROBLEM | {"status": status, "code": "some-code"} | more)


def deep(levels: int) -> str:
    return '{"type":"verdict","verdict":"valid","x":' + "[" * levels + "]" * levels + "}"


HOSTILE = {
    "truncated JSON": http('{"type":"verdict","version":1,"verdict":"val'),
    "nothing": http(""),
    "no JSON": http("<html>valid</html>"),
    "JSON that is no object": http('["valid"]'),
    "another object": http(json.dumps(VERDICT | {"type": "entitlements"})),
    "a member of another type": http(json.dumps(VERDICT | {"verdict": True})),
    "a word that is a list": http(json.dumps(VERDICT | {"verdict": ["valid"]})),
    "an object that is a list": http(json.dumps(VERDICT | {"reason": []})),
    "a list that is an object": http(json.dumps(VERDICT | {"transactions": {}})),
    "truth that is a number": http(json.dumps(VERDICT | {"grantsAccess": 1})),
    "a number that is true": http(json.dumps(VERDICT | {"index": True})),
    "a number that is a fraction": http(json.dumps(VERDICT | {"index": 1.5})),
    "a date that is none": http(json.dumps(VERDICT | {"signedDate": "tomorrow"})),
    "a date without a time zone": http(json.dumps(VERDICT | {"signedDate": "2026-01-01T00:00:00.000"})),
    "a required member that is null": http(json.dumps(VERDICT | {"verdict": None})),
    "a required member that is absent": http('{"type":"verdict","version":1}'),
    "not a number": http('{"type":"verdict","verdict":"valid","index":NaN}'),
    "a number of a million digits": http('{"type":"verdict","verdict":"valid","index":' + "1" * 1_000_000 + "}"),
    "a hundred thousand levels": http(deep(100_000)),
    "bytes that are no text": http(b'{"type":"verdict","verdict":"\xff\xfe"}'),
    "more than is allowed": http('{"type":"verdict","x":"' + "x" * (1 << 21) + '"}'),
    "endless bytes": lambda connection: endless(connection),
    "compressed": http(b"\x1f\x8b\x08", Content_Encoding="gzip"),
    "a redirect to itself": http("", "302 Found", Location="/v1/verify"),
    "not modified, unasked": http("", "304 Not Modified"),
    "a page of a proxy": http("<html>Bad gateway</html>", "400 Bad Request", "text/html"),
    "a problem of another status": http(problem(401), "404 Not Found", "application/problem+json"),
    "a problem without a code": http('{"status": 404}', "404 Not Found", "application/problem+json"),
    "no such status": http("", "600 What"),
}  # fmt: skip


def endless(connection):
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
    while True:
        connection.sendall(b" " * 65536)


def hasty(package, **changes):
    return package.RetryPolicy(**{"attempts": 3, "first_pause": 0.01, "longest_pause": 0.05, "attempt_timeout": 5.0, "deadline": 20.0} | changes)


def caught_of(package, both, server, use=lambda client: client.verify(RECEIPT), **options):
    """The error of a call, which has no secret in anything that is printed of it."""
    options = {"retries": hasty(package), "maximum_answer_bytes": 1 << 20} | options
    with pytest.raises(package.ReceiptKitError) as caught:
        both.run(server.url, use, **options)
    error = caught.value
    shown = "".join(traceback.format_exception(error)) + repr(error) + str(error) + repr(vars(error))
    chain = error
    while chain is not None:
        shown += repr(vars(chain))
        chain = chain.__cause__ or chain.__context__
    assert KEY not in shown and RECEIPT.decode() not in shown
    assert error.__context__ is None and error.__cause__ is None
    assert error.operation and len(error.trace_id) == 32 and len(str(error)) < 1000
    return error


@pytest.mark.parametrize("name", HOSTILE)
def test_an_answer_that_is_not_of_the_api_is_an_error_of_its_own(package, both, name, caplog):
    caplog.set_level(logging.DEBUG)
    with Scripted(HOSTILE[name]) as server:
        error = caught_of(package, both, server)
    assert isinstance(error, package.UnexpectedAnswer) and not error.is_retryable, error
    assert len(server.requests) == 1
    assert KEY not in caplog.text and RECEIPT.decode() not in caplog.text


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504])
def test_a_status_that_may_pass_is_asked_again(package, both, status):
    with Scripted(http("<html>", f"{status} Some", "text/html"), http(json.dumps(VERDICT))) as server:
        assert both.run(server.url, lambda client: client.verify(b"x"), retries=hasty(package)).is_valid
    assert len(server.requests) == 2
    # The same trace, so that both are found.
    traces = {request.split(b"traceparent: 00-")[1][:32] for request in server.requests}
    assert len(traces) == 1
    with Scripted(http("<html>", f"{status} Some", "text/html")) as server:
        error = caught_of(package, both, server)
    assert isinstance(error, package.UnexpectedAnswer) and error.is_retryable and error.status == status
    assert len(server.requests) == 3


@pytest.mark.parametrize("status,kind", [
    (400, "InvalidRequest"), (401, "Unauthorized"), (403, "Forbidden"), (404, "NotFound"), (406, "NotAcceptable"), (409, "Conflict"),
    (413, "ContentTooLarge"), (415, "UnsupportedMediaType"), (422, "Unprocessable"), (418, "ApiError"),
])  # fmt: skip
def test_what_the_server_refuses_has_a_type_and_is_not_asked_again(package, both, status, kind):
    body = problem(status, place="app", entry="18446744073709551615", news=[1])
    with Scripted(http(body, f"{status} Some", "application/problem+json")) as server:
        error = caught_of(package, both, server)
    assert type(error).__name__ == kind
    assert (error.status, error.code, error.detail, error.place, error.entry) == (status, "some-code", "Later.", "app", 2**64 - 1)
    assert not error.is_retryable and len(server.requests) == 1


def test_the_pause_that_a_server_asks_for_is_kept(package, both):
    later = http(problem(503), "503 Service Unavailable", "application/problem+json", Retry_After="1")
    with Scripted(later, http(json.dumps(VERDICT))) as server:
        assert both.run(server.url, lambda client: client.verify(b"x"), retries=hasty(package)).is_valid
    assert server.arrived[1] - server.arrived[0] >= 1
    # One that is longer than the time of the call is told, and not waited for.
    for value in ("86400", "Fri, 31 Dec 2099 23:59:59 GMT"):
        with Scripted(http(problem(429), "429 Too Many Requests", "application/problem+json", Retry_After=value)) as server:
            error = caught_of(package, both, server)
        assert type(error) is package.TooManyRequests and error.retry_after > 86_000 and error.is_retryable and len(server.requests) == 1
    for value in ("-1", "soon", "9" * 400, "1e9", ""):
        with Scripted(http(problem(429), "429 Too Many Requests", "application/problem+json", Retry_After=value)) as server:
            assert caught_of(package, both, server).retry_after is None


def test_what_must_not_be_sent_twice_is_sent_once(package, both, models):
    key = models.NewKey(name="n", scopes=["read"])
    for answer in (http(problem(503), "503 Some", "application/problem+json"), b"", http("{", length=100)):
        with Scripted(answer) as server:
            caught_of(package, both, server, lambda client: client.create_key(key))
        assert len(server.requests) == 1
    # It certainly had no effect.
    with Scripted(http(problem(429), "429 Some", "application/problem+json")) as server:
        caught_of(package, both, server, lambda client: client.create_key(key))
    assert len(server.requests) == 3
    # With an identifier of its own it may be sent again, and is carried out once.
    with Scripted(b"") as server:
        caught_of(package, both, server, lambda client: client.grant_entitlement("ann", models.NewGrant(entitlement="e", reason="r")))
    bodies = {request.partition(b"\r\n\r\n")[2] for request in server.requests}
    assert len(server.requests) == 3 and len(bodies) == 1
    identifier = json.loads(bodies.pop())["id"]
    assert identifier.startswith("gr_") and len(identifier) == 35


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200 OK\r\nContent-Le", b"SSH-2.0-OpenSSH\r\n", http(json.dumps(VERDICT), length=10_000)])
def test_a_connection_that_ends_is_tried_again(package, both, answer):
    with Scripted(answer, answer, http(json.dumps(VERDICT))) as server:
        assert both.run(server.url, lambda client: client.verify(b"x"), retries=hasty(package)).is_valid
    with Scripted(answer) as server:
        error = caught_of(package, both, server)
    assert type(error) is package.ConnectionFailed and error.was_sent and error.is_retryable and len(server.requests) == 3


def test_nobody_listens(package, both):
    with Scripted(b"") as server:
        pass
    error = caught_of(package, both, server)
    assert type(error) is package.ConnectionFailed and not error.was_sent


def silent(connection):
    connection.settimeout(None)
    connection.recv(1)


def dripping(connection):
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    for _ in range(100):
        connection.sendall(b" ")
        time.sleep(0.1)


def dripping_head(connection):
    for _ in range(100):
        connection.sendall(b"H")
        time.sleep(0.1)


@pytest.mark.parametrize("slow", [silent, dripping, dripping_head])
def test_a_slow_server_costs_no_more_than_the_deadline(package, both, slow):
    if slow is dripping_head and not both.is_async:
        # Documented: `httpx` limits the time of each read alone.
        return
    with Scripted(slow) as server:
        start = time.monotonic()
        error = caught_of(package, both, server, retries=hasty(package, attempt_timeout=0.5, deadline=1.2))
    assert type(error) is package.ConnectionFailed and "in time" in str(error)
    assert time.monotonic() - start < 6 and 1 <= len(server.requests) <= 3


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
def test_a_redirect_to_another_host_gets_no_request_and_no_key(package, both, status):
    with Scripted(http(json.dumps(VERDICT))) as thief:
        for use in (lambda client: client.verify(b"x"), lambda client: client.get_customer_entitlements("ann")):
            for location in (f"http://127.0.0.1:{thief.port}/v1/verify", f"//127.0.0.1:{thief.port}/", f"http://localhost:{thief.port}/"):
                with Scripted(http("", status, Location=location)) as server:
                    error = caught_of(package, both, server, use)
                assert type(error) is package.UnexpectedAnswer and len(server.requests) == 1
        assert thief.requests == []


def test_the_key_is_sent_only_where_it_is_needed(package, both):
    with Scripted(http('{"keys": []}')) as server:
        both.run(server.url, lambda client: client.get_key_set("shop"))
    assert b"uthorization" not in server.requests[0]
    with Scripted(http(json.dumps(VERDICT))) as server:
        both.run(server.url, lambda client: client.verify(b"x"), app="my app")
    head = server.requests[0].partition(b"\r\n\r\n")[0]
    assert f"Authorization: Bearer {KEY}".encode() in head and b"POST /v1/verify?app=my%20app HTTP/1.1" in head
    assert b"Accept-Encoding: identity" in head


def test_what_is_new_is_kept(package, both, models):
    news = VERDICT | {
        "verdict": "doubtful", "standing": "paused", "somethingNew": {"a": [1]}, "environment": "Moon", "signedDate": "+012026-01-01T00:00:00.000Z",
        "transactions": [{"productId": "p", "grantsAccess": True, "color": "red"}], "entry": "18446744073709551615", "bundleId": None,
    }  # fmt: skip
    with Scripted(http(json.dumps(news))) as server:
        verdict = both.run(server.url, lambda client: client.verify(b"x"))
    assert verdict.verdict == "doubtful" and not verdict.verdict.is_known and models.VerdictWord.VALID.is_known
    assert verdict.standing not in list(models.Standing) and repr(verdict.standing)
    # Nothing is granted for a verdict that is not `valid`.
    assert not verdict.is_valid and verdict.active_purchases == () and not verdict.should_retry
    assert verdict.unknown_members == {"somethingNew": {"a": [1]}} and verdict.transactions[0].unknown_members == {"color": "red"}
    assert verdict.entry == 2**64 - 1 and verdict.environment == "Moon" and verdict.signed_date.year == 9999 and verdict.bundle_id is None
    written = verdict.to_json()
    assert written["somethingNew"] == {"a": [1]} and written["verdict"] == "doubtful"
    assert models.Verdict.from_json(written) == verdict and copy.copy(verdict) == verdict
    undetermined = VERDICT | {"verdict": "undetermined", "retryable": True, "transactions": [{"productId": "p", "grantsAccess": True}]}
    judged = models.Verdict.from_json(undetermined)
    assert judged.should_retry and judged.active_purchases == ()
    # A new kind of entitlement.
    answer = models.OwnedEntitlement.from_json({"customer": "ann", "entitlement": {"type": "moon-purchase", "state": "x"}})
    assert type(answer.entitlement) is package.UnknownObject and answer.entitlement.to_json()["state"] == "x"


@pytest.mark.parametrize("arguments", [
    {"url": "http://receipts.example.com"}, {"url": "ftp://127.0.0.1"}, {"url": "https://user:p4ss@example.com"}, {"url": "example.com"}, {"url": ""},
    {"url": "https://example.com?x=p4ss"}, {"key": f"{KEY}\n"}, {"key": ""}, {"key": "rk_é"}, {"key": f"{KEY} x"}, {"key": f"{KEY}\r\nX: y"},
])  # fmt: skip
def test_a_server_or_a_key_that_cannot_be_is_refused_and_not_quoted(package, arguments):
    for kind in (package.Client, package.AsyncClient):
        with pytest.raises(ValueError) as caught:
            kind(**{"url": "https://example.com", "key": KEY} | arguments)
        assert KEY not in str(caught.value) and "p4ss" not in str(caught.value)
    assert KEY not in repr(package.Client("https://example.com", KEY)) + repr(vars(package.Client("https://example.com", KEY)))


def test_arguments_that_cannot_be_sent_are_refused_before_they_are(package, both, models):
    with Scripted(http("{}")) as server:
        for use in [
            lambda client: client.get_entitlement(""), lambda client: client.get_entitlement(".."), lambda client: client.verify(7),
            lambda client: client.create_key(models.NewKey(name=7, scopes=[])), lambda client: client.create_key(models.NewKey(name="n", scopes="read")),
            lambda client: client.grant_entitlement("a", models.NewGrant(entitlement="e", reason="r", expires=datetime.datetime(2026, 1, 1))),
        ]:  # fmt: skip
            with pytest.raises((ValueError, TypeError)):
                both.run(server.url, use)
        for receipts in ([""], ["a\nb"], [b" "]):
            with pytest.raises(ValueError):
                both.every(server.url, lambda client: client.verify_batch(receipts))
    assert server.requests == []


BATCHES = {
    "a verdict is missing": json.dumps(VERDICT | {"index": 0}),
    "one is there twice": "\n".join([json.dumps(VERDICT | {"index": 0})] * 2),
    "they are in another order": "\n".join(json.dumps(VERDICT | {"index": number}) for number in (1, 0)),
    "there are too many": "\n".join(json.dumps(VERDICT | {"index": number}) for number in range(3)),
    "one is an error": json.dumps(VERDICT | {"index": 0}) + '\n{"type":"error","code":"unavailable"}',
}


@pytest.mark.parametrize("name", BATCHES)
def test_verdicts_are_never_those_of_other_receipts(package, both, name):
    found = []
    with Scripted(http(BATCHES[name], media="application/jsonl")) as server, pytest.raises(package.UnexpectedAnswer):
        found = both.every(server.url, lambda client: client.verify_batch(["one", "two"]))
    assert found == []


def events(*texts: str):
    def answer(connection):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + "".join(texts).encode())

    return answer


def event(sequence: int) -> str:
    return f":\n\nid: {sequence}\nevent: entitlement.granted\ndata: {json.dumps(CHANGE)}\n\n"


def test_a_stream_connects_again_and_repeats_nothing(package, both):
    with Scripted(events(event(4), event(5), event(6)[:30]), b"", http("<html>", "502 Bad"), events(event(6), ":\n\n"), events(event(7))) as server:
        found = both.every(server.url, lambda client: client.stream_changes(since=3), 4, retries=hasty(package, attempts=4))
    assert [each.sequence for each in found] == [4, 5, 6, 7] and found[0].change.data.customer == "ann"
    last = [request.split(b"Last-Event-ID: ")[1].split(b"\r\n")[0] for request in server.requests]
    assert last == [b"3", b"5", b"5", b"5", b"6"]


@pytest.mark.parametrize("answer,kind", [
    (events(event(4), "id: x\ndata: {}\n\n"), "UnexpectedAnswer"), (events("id: 5\ndata: {\n\n"), "UnexpectedAnswer"),
    (events("data: " + "x" * (2 << 20)), "UnexpectedAnswer"), (http("", "302 Found", Location="/"), "UnexpectedAnswer"), (b"", "ConnectionFailed"),
    (events("event: error\ndata: " + problem(401) + "\n\n"), "Unauthorized"), (http(problem(409), "409 C", "application/problem+json"), "Conflict"),
])  # fmt: skip
def test_a_stream_ends_with_the_error_of_the_server(package, both, answer, kind):
    with Scripted(answer) as server, pytest.raises(package.ReceiptKitError) as caught:
        both.every(server.url, lambda client: client.stream_changes(), 10, retries=hasty(package), maximum_answer_bytes=1 << 20)
    assert type(caught.value).__name__ == kind
