# SPDX-License-Identifier: Apache-2.0
"""receipt-server speaks verifyReceipt, Apple's old service, to backends that ask nobody else: every status, every member with its
type, every date in three forms, the three ways to present a key, the environments, the limits, and what the ledger knows."""

import base64
import datetime
import itertools
import json
import re
import ssl
import time
import uuid
import zoneinfo
from types import NoneType

import pytest
import requests

import lives
import samples
from independent import app_receipt, der, jws, pki, transaction_receipt
from independent.app_receipt import attribute
from service import Service
from test_real_receipts import ENTRIES, entries

pytestmark = pytest.mark.server

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
PACIFIC = zoneinfo.ZoneInfo("America/Los_Angeles")

MONTHLY, COINS = samples.TRANSACTION["productId"], "com.example.app.coins"
OTHER, CLOSED = "com.example.other", "com.example.closed"
CREATED, FIRST_BOUGHT = 1740823205000, samples.TRANSACTION["originalPurchaseDate"]
MONTH = 30 * 86_400_000
# As large as real ones: a floating-point number has no room for the first.
DOWNLOAD, VERSION = 504427454456956077, 840994456
SANDBOX_FIRST_BOUGHT = 1375340400000

TEMPORARY = {"is_retryable": True, "is-retryable": True}


def milliseconds(text: str) -> int:
    return (datetime.datetime.fromisoformat(text) - EPOCH) // datetime.timedelta(milliseconds=1)


def date(name: str, instant: int) -> dict[str, str]:
    """A date in Apple's three forms; the one in Los Angeles has daylight saving."""
    utc = EPOCH + datetime.timedelta(milliseconds=instant)
    return {
        name: f"{utc:%Y-%m-%d %H:%M:%S} Etc/GMT",
        f"{name}_ms": str(instant),
        f"{name}_pst": f"{utc.astimezone(PACIFIC):%Y-%m-%d %H:%M:%S} America/Los_Angeles",
    }


# MARK: - A strict reader. A name ends in ? if it may be absent; its value is a date, a string that matches, or of a type.

DATE = object()
TEXT, DIGITS, BOOLEAN, FLAG = ".+", r"\d+", "true|false", "0|1"
OFFERS = ["promotional_offer_id", "offer_code_ref_name"]
OFFER = {f"{name}?": TEXT for name in OFFERS}
IN_APP = {
    "quantity": DIGITS, "product_id": TEXT, "transaction_id": TEXT, "original_transaction_id": TEXT,
    "purchase_date": DATE, "original_purchase_date": DATE, "expires_date?": DATE,
    "web_order_line_item_id?": r"[1-9]\d*", "is_trial_period": BOOLEAN, "is_in_intro_offer_period?": BOOLEAN,
    "cancellation_date?": DATE, "cancellation_reason?": FLAG, "in_app_ownership_type?": "PURCHASED|FAMILY_SHARED",
    "app_account_token?": r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
} | OFFER  # fmt: skip
LATEST = IN_APP | {"subscription_group_identifier?": TEXT, "is_upgraded?": "true"}
PENDING = {
    "auto_renew_product_id": TEXT, "product_id": TEXT, "original_transaction_id": TEXT, "auto_renew_status": FLAG,
    "expiration_intent?": "[1-5]", "is_in_billing_retry_period?": FLAG, "grace_period_expires_date?": DATE,
    "price_consent_status?": FLAG, "price_increase_status?": FLAG,
} | OFFER  # fmt: skip
RECEIPT = {
    "receipt_type": "Production(VPP)?(Sandbox)?", "adam_id": {int}, "app_item_id": {int},
    "version_external_identifier": {int}, "download_id": {int, NoneType}, "bundle_id": TEXT,
    "application_version": TEXT, "original_application_version": TEXT, "receipt_creation_date": DATE,
    "request_date": DATE, "original_purchase_date": DATE, "preorder_date?": DATE, "expiration_date?": DATE,
    "in_app": {list},
}  # fmt: skip
ANSWER = {"status": {int}, "environment": "Production|Sandbox", "receipt": {dict}}
RENEWABLE = ANSWER | {"latest_receipt": TEXT, "latest_receipt_info": {list}, "pending_renewal_info": {list}}
# In the style of iOS 6.
FLAT = {
    "bid": TEXT, "bvrs": TEXT, "item_id?": DIGITS, "app_item_id?": DIGITS, "version_external_identifier?": DIGITS,
    "unique_identifier?": TEXT, "unique_vendor_identifier?": TEXT, "quantity": DIGITS, "product_id": TEXT,
    "transaction_id": TEXT, "original_transaction_id": TEXT, "web_order_line_item_id?": DIGITS,
    "purchase_date": DATE, "original_purchase_date": DATE, "expires_date?": DIGITS, "expires_date_formatted?": TEXT,
    "expires_date_formatted_pst?": TEXT, "is_trial_period?": BOOLEAN, "is_in_intro_offer_period?": BOOLEAN,
    "in_app_ownership_type?": "PURCHASED|FAMILY_SHARED",
}  # fmt: skip
FLAT_ANSWER = {
    "status": {int}, "environment?": "Production|Sandbox", "receipt": {dict}, "latest_receipt?": TEXT,
    "latest_receipt_info?": {dict}, "latest_expired_receipt_info?": {dict}, "auto_renew_status?": {int},
}  # fmt: skip


def check(value: dict, shape: dict) -> None:
    """Whether an object has the members of a shape, of their types, and no others."""
    assert type(value) is dict, value
    left = dict(value)
    for marked, kind in shape.items():
        name = marked.removesuffix("?")
        if name not in left:
            assert name != marked, (name, value)
            continue
        found = left.pop(name)
        if kind is DATE:
            forms = {name: found} | {other: left.pop(other, None) for other in (f"{name}_ms", f"{name}_pst")}
            assert forms == date(name, int(forms[f"{name}_ms"])), (forms, value)
        elif isinstance(kind, set):
            assert type(found) in kind, (name, value)
        else:
            assert type(found) is str and re.fullmatch(kind, found), (name, value)
    assert left == {}, value


def check_purchases(purchases: list, shape: dict) -> None:
    for purchase in purchases:
        check(purchase, shape)
        assert "cancellation_reason" not in purchase or "cancellation_date" in purchase, purchase


def check_flat(value: dict) -> None:
    check(value, FLAT)
    if "expires_date" in value:
        forms = date("expires_date_formatted", int(value["expires_date"]))
        del forms["expires_date_formatted_ms"]
        assert forms.items() <= value.items(), value


def is_renewable(purchase: dict) -> bool:
    return "web_order_line_item_id" in purchase or "expires_date" in purchase


def read(answer: dict, encoded: str, asked: int, answered: int) -> None:
    """Checks an answer about an app receipt, which was sent as `encoded` between two instants."""
    receipt = answer["receipt"]
    check(receipt, RECEIPT)
    check_purchases(receipt["in_app"], IN_APP)
    assert answer["status"] == 0 and receipt["adam_id"] == receipt["app_item_id"], answer
    # The server may round.
    assert asked - 1000 <= int(receipt["request_date_ms"]) <= answered + 1000, receipt
    is_sandbox = receipt["receipt_type"].endswith("Sandbox")
    assert answer["environment"] == ("Sandbox" if is_sandbox else "Production"), answer
    if is_sandbox:
        numbers = "adam_id", "app_item_id", "version_external_identifier", "download_id"
        assert [receipt[name] for name in numbers] == [0] * 4, receipt
        assert receipt["original_application_version"] == "1.0", receipt
        assert receipt["original_purchase_date_ms"] == str(SANDBOX_FIRST_BOUGHT), receipt
    if not any(map(is_renewable, receipt["in_app"])):
        check(answer, ANSWER)
        return
    check(answer, RENEWABLE)
    assert answer["latest_receipt"] == encoded
    check_purchases(answer["latest_receipt_info"], LATEST)
    bought = [int(purchase["purchase_date_ms"]) for purchase in answer["latest_receipt_info"]]
    assert bought == sorted(bought, reverse=True), answer
    for pending in answer["pending_renewal_info"]:
        check(pending, PENDING)
    originals = [pending["original_transaction_id"] for pending in answer["pending_renewal_info"]]
    assert len(set(originals)) == len(originals), answer


def read_flat(answer: dict, encoded: str) -> None:
    """Checks an answer about a transaction receipt."""
    check(answer, FLAT_ANSWER)
    for name in ("receipt", "latest_receipt_info", "latest_expired_receipt_info"):
        if name in answer:
            check_flat(answer[name])
    assert answer["status"] in (0, 21006), answer
    assert ("latest_expired_receipt_info" in answer) == (answer["status"] == 21006), answer
    is_subscription = "expires_date" in answer["receipt"]
    assert ("latest_receipt_info" in answer) == (is_subscription and answer["status"] == 0), answer
    assert answer.get("latest_receipt", encoded) == encoded
    assert answer.get("auto_renew_status", 0) in (0, 1), answer


def without_repetition(pairs: list[tuple]) -> dict:
    members = dict(pairs)
    assert len(members) == len(pairs), pairs
    return members


def answered(response: requests.Response) -> dict:
    """The answer, whose HTTP status tells nothing."""
    assert response.status_code == 200, response.text
    assert response.headers["Content-Type"].partition(";")[0] == "application/json"
    return json.loads(response.text, object_pairs_hook=without_repetition)


def now() -> int:
    return time.time_ns() // 1_000_000


class Door:
    """A server, asked as a backend asks Apple: the shared secret is a publishable key of the app `demo`."""

    def __init__(self, service: Service):
        self.service = service
        self.key = service.make_key("client", app="demo")

    def post(self, query="", key="", **options) -> requests.Response:
        return self.service.post(f"/verifyReceipt{query}", key=key, **options)

    def ask(self, receipt: bytes, query="", **members) -> dict:
        """The answer to a receipt, read strictly; the members of the request may be replaced."""
        encoded = base64.b64encode(receipt).decode()
        body = {"receipt-data": encoded, "password": self.key} | members
        asked = now()
        answer = answered(self.post(query, json=body))
        if "receipt" in answer and "in_app" in answer["receipt"]:
            read(answer, encoded, asked, now())
        elif "receipt" in answer:
            read_flat(answer, encoded)
        return answer


# MARK: - Receipts


def coins(transaction="1000000000000101", *, kind=0, line: int | None = 0, trial=0, extra=(), **options) -> bytes:
    """A purchase with the attributes that the App Store writes; without more, of a product for ever."""
    attributes = [attribute(1707, der.integer(kind)), attribute(1713, der.integer(trial)), *extra]
    if line is not None:
        attributes.append(attribute(1711, der.integer(line)))
    options = {"original": transaction, "product": COINS} | options
    return app_receipt.in_app(transaction, extra=tuple(attributes), **options)


def month(transaction="1000000000000101", *, intro=0, extra=(), **options) -> bytes:
    """A period of a subscription."""
    options = {"line": 777, "product": MONTHLY, "expires": "2025-04-01T10:00:00Z"} | options
    return coins(transaction, kind=3, extra=(attribute(1719, der.integer(intro)), *extra), **options)


def reported_coins(transaction="1000000000000101", **changes: str) -> dict[str, str]:
    """What is answered of `coins`."""
    return {
        "quantity": "1", "product_id": COINS, "transaction_id": transaction, "original_transaction_id": transaction,
        "is_trial_period": "false",
    } | date("purchase_date", lives.BOUGHT) | date("original_purchase_date", FIRST_BOUGHT) | changes  # fmt: skip


def reported_month(transaction="1000000000000101", **changes: str) -> dict[str, str]:
    """What is answered of `month`."""
    own = {"product_id": MONTHLY, "web_order_line_item_id": "777", "is_in_intro_offer_period": "false"}
    return reported_coins(transaction) | own | date("expires_date", lives.EXPIRES) | changes


def sign(
    leaf, *purchases: bytes, environment="Production", download: int | None = DOWNLOAD, first_bought="2025-02-01T10:00:00Z",
    extra=(), **options,
) -> bytes:  # fmt: skip
    """An app receipt with the attributes that the App Store writes."""
    is_sandbox = environment.endswith("Sandbox")
    attributes = [
        attribute(16, der.integer(0 if is_sandbox else VERSION)),
        attribute(18, der.ia5("2013-08-01T07:00:00Z" if is_sandbox else first_bought)),
        *([] if download is None else [attribute(15, der.integer(0 if is_sandbox else download))]), *extra,
    ]  # fmt: skip
    content = app_receipt.payload(
        *purchases, environment=environment, app_id=0 if is_sandbox else samples.APP_ID, extra=tuple(attributes), **options
    )
    return app_receipt.sign(content, leaf)


def stated(receipt: dict) -> dict:
    """What is answered of a receipt, but for the time of the request."""
    return {name: value for name, value in receipt.items() if not name.startswith("request_date")}


def transactions(purchases: list[dict]) -> list[str]:
    return [purchase["transaction_id"] for purchase in purchases]


def contains(found: dict, expected: dict) -> None:
    assert {name: found.get(name) for name in expected} == expected, found


@pytest.fixture(scope="module")
def identity(receipt_tool, tmp_path_factory):
    """An identity that signs app receipts."""
    path = tmp_path_factory.mktemp("identity") / "rsa"
    assert receipt_tool.run("identity", "create", path, "--algorithm", "rsa2048").code == 0
    return path


@pytest.fixture(scope="module")
def policy(store, rsa_store, identity, tmp_path_factory) -> dict:
    """A policy that accepts the receipts of these tests in both environments."""
    roots = tmp_path_factory.mktemp("roots") / "roots.pem"
    certificates = [store.root, rsa_store.root, rsa_store.intermediate]
    pem = "".join(ssl.DER_cert_to_PEM_cert(certificate.der) for certificate in certificates)
    roots.write_text(pem + ssl.DER_cert_to_PEM_cert((identity / "root.cer").read_bytes()))
    return {"bundleIds": [samples.BUNDLE], "environments": ["production", "sandbox"], "trust": [str(roots)]}


@pytest.fixture(scope="module")
def make(policy, tmp_path_factory):
    """Makes servers whose app `demo` opens verifyReceipt, and ends them."""
    started = []

    def make(app: dict | None = None, others: dict | None = None, **settings) -> Door:
        demo = {"clientProtocols": ["verify-receipt"], "policy": {"default": policy}} | (app or {})
        apps = {"demo": demo} | (others or {})

        def change(configuration):
            configuration |= {"apps": list(apps), "app": apps} | settings

        service = Service(tmp_path_factory.mktemp("service") / "data")
        service.configure(change)
        started.append(service.start())
        return Door(service)

    yield make
    for service in started:
        assert service.end() == 0


@pytest.fixture(scope="module")
def door(make, policy) -> Door:
    """A server with a policy for each environment, and two more apps, of which one does not open verifyReceipt."""
    environments = {name: policy | {"environments": [name]} for name in ("production", "sandbox")}
    return make(
        {"policies": ["default", *environments], "policy": {"default": policy} | environments},
        {
            "other": {"clientProtocols": ["verify-receipt"], "policy": {"default": policy | {"bundleIds": [OTHER]}}},
            "closed": {"policy": {"default": policy | {"bundleIds": [CLOSED]}}},
        },
    )


@pytest.fixture(scope="module")
def leaf(rsa_store) -> pki.Identity:
    return rsa_store.leaf("rsa2048")


class TestReceipt:
    """The members of `receipt`, which is what the receipt says."""

    def test_a_receipt_of_production(self, door, leaf):
        answer = door.ask(sign(leaf, coins()))
        assert stated(answer["receipt"]) == {
            "receipt_type": "Production", "adam_id": samples.APP_ID, "app_item_id": samples.APP_ID,
            "version_external_identifier": VERSION, "download_id": DOWNLOAD, "bundle_id": samples.BUNDLE,
            "application_version": "2.1", "original_application_version": "1.0", "in_app": [reported_coins()],
        } | date("receipt_creation_date", CREATED) | date("original_purchase_date", FIRST_BOUGHT)  # fmt: skip
        assert (answer["status"], answer["environment"]) == (0, "Production")

    def test_a_receipt_of_the_sandbox(self, door, leaf):
        answer = door.ask(sign(leaf, coins(), environment="ProductionSandbox"))
        assert stated(answer["receipt"]) == {
            "receipt_type": "ProductionSandbox", "adam_id": 0, "app_item_id": 0, "version_external_identifier": 0,
            "download_id": 0, "bundle_id": samples.BUNDLE, "application_version": "2.1",
            "original_application_version": "1.0", "in_app": [reported_coins()],
        } | date("receipt_creation_date", CREATED) | date("original_purchase_date", SANDBOX_FIRST_BOUGHT)  # fmt: skip
        assert (answer["status"], answer["environment"]) == (0, "Sandbox")

    def test_a_receipt_without_a_download(self, door, leaf):
        assert door.ask(sign(leaf, download=None))["receipt"]["download_id"] is None

    def test_a_receipt_without_purchases(self, door, leaf):
        answer = door.ask(sign(leaf))
        assert set(answer) == set(ANSWER)
        assert answer["receipt"]["in_app"] == []

    @pytest.mark.parametrize("environment", ["ProductionVPP", "ProductionVPPSandbox"])
    @pytest.mark.parametrize("expires", ["2025-04-01T10:00:00Z", "2096-10-02T07:06:40Z"])
    def test_a_copy_of_volume_purchase(self, door, leaf, environment, expires):
        """It has an end, which makes no difference to the status."""
        answer = door.ask(sign(leaf, environment=environment, extra=(attribute(21, der.ia5(expires)),)))
        assert (answer["status"], answer["receipt"]["receipt_type"]) == (0, environment)
        contains(answer["receipt"], date("expiration_date", milliseconds(expires)))

    def test_an_app_that_was_ordered_ahead(self, door, leaf):
        answer = door.ask(sign(leaf, extra=(attribute(32, der.ia5("2024-12-24T18:00:00Z")),)))
        contains(answer["receipt"], date("preorder_date", milliseconds("2024-12-24T18:00:00Z")))

    def test_the_date_in_apples_documentation(self, door, leaf):
        answer = door.ask(sign(leaf, first_bought="2024-02-03T10:20:30Z"))
        contains(answer["receipt"], {
            "original_purchase_date": "2024-02-03 10:20:30 Etc/GMT", "original_purchase_date_ms": "1706955630000",
            "original_purchase_date_pst": "2024-02-03 02:20:30 America/Los_Angeles",
        })  # fmt: skip

    @pytest.mark.parametrize(
        "text",
        [
            # The clocks go forward, and back; 07:59:59 and 08:00:00 are another day and year in Los Angeles.
            "2025-03-09T09:59:59Z", "2025-03-09T10:00:00Z", "2024-11-03T08:59:59Z", "2024-11-03T09:00:00Z",
            "2025-01-01T07:59:59Z", "2025-01-01T08:00:00Z", "2024-02-29T23:59:59Z", "2024-07-01T06:59:59Z",
            "2008-07-11T00:00:00Z", "2020-10-08T11:17:49.131Z", "2096-10-02T07:06:40Z",
        ],
    )  # fmt: skip
    def test_dates(self, door, leaf, text):
        answer = door.ask(sign(leaf, month(expires=text), first_bought=text))
        contains(answer["receipt"], date("original_purchase_date", milliseconds(text)))
        contains(answer["receipt"]["in_app"][0], date("expires_date", milliseconds(text)))
        contains(answer["latest_receipt_info"][0], date("expires_date", milliseconds(text)))

    def test_a_receipt_that_receipt_tool_signed(self, door, receipt_tool, identity):
        bought = {"purchaseDate": "2026-10-01T07:09:10Z", "originalPurchaseDate": "2026-10-01T07:09:10Z"}
        payload = {
            "environment": "Production", "bundleId": samples.BUNDLE, "applicationVersion": "7",
            "originalApplicationVersion": "5", "receiptCreationDate": "2026-10-01T07:09:20Z",
            "originalPurchaseDate": "2025-08-01T07:00:00Z", "appAppleId": 428397791,
            "inApp": [
                {"quantity": 2, "productId": MONTHLY, "transactionId": "31", "originalTransactionId": "30",
                 "expiresDate": "2026-11-01T07:09:10Z", "webOrderLineItemId": "9", "isTrialPeriod": True,
                 "isInIntroOfferPeriod": False} | bought,
            ],
        }  # fmt: skip
        run = receipt_tool.run(
            "sign", "--identity", identity, "--format", "app-receipt", "--base64", "-", stdin=json.dumps(payload).encode()
        )
        assert run.code == 0, run.err
        answer = door.ask(base64.b64decode(run.out))
        contains(answer["receipt"], {
            "adam_id": 428397791, "app_item_id": 428397791, "application_version": "7", "original_application_version": "5",
        } | date("receipt_creation_date", milliseconds("2026-10-01T07:09:20Z")))  # fmt: skip
        dates = {"purchase_date": "2026-10-01T07:09:10Z", "original_purchase_date": "2026-10-01T07:09:10Z",
                 "expires_date": "2026-11-01T07:09:10Z"}  # fmt: skip
        expected = reported_month(
            "31", quantity="2", original_transaction_id="30", web_order_line_item_id="9", is_trial_period="true"
        )
        for name, text in dates.items():
            expected |= date(name, milliseconds(text))
        assert answer["receipt"]["in_app"] == answer["latest_receipt_info"] == [expected]


class TestPurchases:
    """The members of `in_app`, and of `latest_receipt_info` where nothing is known but the receipt."""

    def test_a_product_for_ever(self, door, leaf):
        """It has none of a subscription's members, though its receipt has their attributes, empty or 0."""
        answer = door.ask(sign(leaf, coins()))
        assert answer["receipt"]["in_app"] == [reported_coins()]
        assert set(answer) == set(ANSWER)

    def test_a_period_of_a_subscription(self, door, leaf):
        receipt = sign(leaf, month("102", original="101", quantity=3))
        answer = door.ask(receipt)
        expected = [reported_month("102", original_transaction_id="101", quantity="3")]
        assert answer["receipt"]["in_app"] == answer["latest_receipt_info"] == expected
        assert base64.b64decode(answer["latest_receipt"], validate=True) == receipt
        assert answer["pending_renewal_info"] == []

    @pytest.mark.parametrize("flags", [(0, 0), (0, 1), (1, 0), (1, 1)], ids=str)
    def test_free_trials_and_introductory_periods(self, door, leaf, flags):
        trial, intro = flags
        (found,) = door.ask(sign(leaf, month(trial=trial, intro=intro)))["receipt"]["in_app"]
        assert found["is_trial_period"] == ["false", "true"][trial]
        assert found["is_in_intro_offer_period"] == ["false", "true"][intro]

    def test_a_receipt_that_says_nothing_of_trials(self, door, leaf):
        answer = door.ask(sign(leaf, app_receipt.in_app("1000000000000101", "1000000000000101", COINS)))
        assert answer["receipt"]["in_app"] == [reported_coins()]

    def test_a_promotional_offer(self, door, leaf):
        answer = door.ask(sign(leaf, month(extra=(attribute(1721, der.utf8("spring")),))))
        assert answer["receipt"]["in_app"] == [reported_month(promotional_offer_id="spring")]

    @pytest.mark.parametrize("reason", [0, 1])
    def test_a_cancellation_in_the_receipt(self, door, leaf, reason):
        cancelled = month(cancelled="2025-03-08T10:00:00Z", extra=(attribute(1720, der.integer(reason)),))
        answer = door.ask(sign(leaf, cancelled))
        expected = [reported_month(cancellation_reason=str(reason), **date("cancellation_date", lives.TAKEN_BACK))]
        assert answer["receipt"]["in_app"] == answer["latest_receipt_info"] == expected

    def test_an_expired_subscription_is_valid(self, door, leaf):
        assert door.ask(sign(leaf, month(expires="2025-04-01T10:00:00Z")))["status"] == 0

    @pytest.mark.parametrize("options", [{"line": 0}, {"line": None}, {"expires": ""}], ids=str)
    def test_what_makes_a_subscription(self, door, leaf, options):
        """The identifier of a line or an end: either is enough for the three members."""
        answer = door.ask(sign(leaf, month(**options), coins("102")))
        assert set(answer) == set(RENEWABLE)
        (found,) = [purchase for purchase in answer["receipt"]["in_app"] if purchase["product_id"] == MONTHLY]
        assert ("web_order_line_item_id" in found) == ("line" not in options)
        assert ("expires_date" in found) == ("expires" not in options)

    def test_in_app_keeps_the_order_of_the_receipt(self, door, leaf):
        # In the receipt the shortest is first.
        bought = {"a": "2025-02-20T10:00:00Z", "bb": "2025-03-01T10:00:00Z", "ccc": "2025-02-10T10:00:00Z"}
        purchases = [month(f"10{len(name)}", product=name, purchased=text) for name, text in bought.items()]
        answer = door.ask(sign(leaf, *purchases))
        assert [purchase["product_id"] for purchase in answer["receipt"]["in_app"]] == ["a", "bb", "ccc"]
        assert [purchase["product_id"] for purchase in answer["latest_receipt_info"]] == ["bb", "a", "ccc"]

    def test_products_for_ever_are_among_the_latest_purchases(self, door, leaf):
        answer = door.ask(sign(leaf, month("101"), coins("102", purchased="2025-02-02T10:00:00Z")))
        assert transactions(answer["latest_receipt_info"]) == ["101", "102"]

    def test_old_transactions_are_left_out_on_demand(self, door, leaf):
        periods = [
            month(f"{plan}{period}", original=f"{plan}1", purchased=f"2025-02-0{plan + 3 * period}T10:00:00Z")
            for plan in (1, 2) for period in (1, 2)
        ]  # fmt: skip
        receipt = sign(leaf, *periods)
        for members in ({}, {"exclude-old-transactions": False}):
            answer = door.ask(receipt, **members)
            assert transactions(answer["latest_receipt_info"]) == ["22", "12", "21", "11"]
        shortened = door.ask(receipt, **{"exclude-old-transactions": True})
        assert transactions(shortened["latest_receipt_info"]) == ["22", "12"]
        assert shortened["receipt"]["in_app"] == answer["receipt"]["in_app"]
        assert len(shortened["receipt"]["in_app"]) == 4

    def test_a_thousand_purchases(self, door, leaf):
        bought = [f"2025-02-01T{number // 60:02}:{number % 60:02}:00Z" for number in range(1000)]
        receipt = sign(leaf, *(month(f"{number:04}", purchased=text) for number, text in enumerate(bought)))
        answer = door.ask(receipt)
        assert transactions(answer["latest_receipt_info"]) == [f"{number:04}" for number in reversed(range(1000))]
        assert sorted(transactions(answer["receipt"]["in_app"])) == [f"{number:04}" for number in range(1000)]


class TestKeys:
    """The shared secret of the old backend is a key of this server."""

    @pytest.fixture
    def body(self, leaf) -> dict:
        return {"receipt-data": base64.b64encode(sign(leaf, coins())).decode()}

    @pytest.fixture
    def secret(self, door) -> str:
        return door.service.make_key("verify", app="demo")

    @pytest.fixture
    def refused(self, door) -> list[str]:
        """Keys that are none, or are not for this."""
        revoked = door.service.make_key("client", app="demo")
        door.service.command("keys", "revoke", revoked.split("_")[1])
        last = "A" if door.key[-1] != "A" else "B"
        unknown = [f"{kind}_000000000000_" + "A" * 43 for kind in ("pk", "rk")]
        reader = door.service.make_key("read", app="demo")
        return ["x", "c0ffee00c0ffee00c0ffee00c0ffee00", door.key[:-1] + last, *unknown, revoked, reader]

    def test_a_publishable_key_is_presented_in_three_ways(self, door, body):
        assert door.key.startswith("pk_")
        assert answered(door.post(key=door.key, json=body))["status"] == 0
        assert answered(door.post(f"?apiKey={door.key}", json=body))["status"] == 0
        assert answered(door.post(json=body | {"password": door.key}))["status"] == 0

    def test_a_secret_key_is_presented_in_two_ways(self, door, body, secret):
        assert secret.startswith("rk_")
        assert answered(door.post(key=secret, json=body))["status"] == 0
        assert answered(door.post(json=body | {"password": secret}))["status"] == 0
        # Where it is written down on the way it opens nothing.
        assert answered(door.post(f"?apiKey={secret}", json=body)) == {"status": 21004}

    def test_without_a_key(self, door, body):
        for members in ({}, {"password": ""}, {"password": None}, {"password": 7}, {"password": [door.key]}):
            assert answered(door.post(json=body | members)) == {"status": 21004}, members
        assert answered(door.post("?apiKey=", json=body)) == {"status": 21004}

    def test_keys_that_open_nothing(self, door, body, refused):
        for key in refused:
            assert answered(door.post(key=key, json=body)) == {"status": 21004}, key
            assert answered(door.post(f"?apiKey={key}", json=body)) == {"status": 21004}, key
            assert answered(door.post(json=body | {"password": key})) == {"status": 21004}, key

    def test_an_app_that_does_not_open_it(self, door, leaf):
        receipt = sign(leaf, coins(), bundle=CLOSED)
        for scope in ("client", "verify"):
            assert door.ask(receipt, password=door.service.make_key(scope, app="closed")) == {"status": 21004}

    def test_the_key_names_the_app(self, door, leaf):
        key = door.service.make_key("client", app="other")
        assert door.ask(sign(leaf, bundle=OTHER), password=key)["receipt"]["bundle_id"] == OTHER
        assert door.ask(sign(leaf, bundle=OTHER)) == {"status": 21003}
        assert door.ask(sign(leaf), password=key) == {"status": 21003}


class TestRefusals:
    def test_other_methods(self, door):
        for method in ("GET", "PUT", "PATCH", "DELETE", "OPTIONS"):
            for key in ("", door.key):
                assert answered(door.service.request(method, "/verifyReceipt", key=key)) == {"status": 21000}, method

    @pytest.mark.parametrize(
        "body", [b"", b"receipt", b'{"receipt-data":"AAAA"', b'{"receipt-data":"\xff"}', b"[]", b"null", b'"AAAA"', b"{}"]
    )
    def test_bodies_that_are_no_request(self, door, body):
        answer = door.post(key=door.key, data=body, headers={"Content-Type": "application/json"})
        assert answered(answer) == {"status": 21002}

    @pytest.mark.parametrize(
        "data", [None, "", " ", 7, True, [], {}, "%%%%", "AAA*", "bm90aGluZw==", "e30="], ids=repr
    )  # fmt: skip
    def test_what_is_no_receipt(self, door, data):
        body = {"receipt-data": data, "password": door.key}
        assert answered(door.post(json=body)) == {"status": 21002}

    def test_a_receipt_that_was_cut_off(self, door, leaf):
        receipt = sign(leaf, coins())
        for count in (1, 100, len(receipt) // 2, len(receipt) - 1):
            assert door.ask(receipt[:count]) == {"status": 21002}, count
        assert door.ask(receipt + b"\0") == {"status": 21002}

    def test_genuine_data_of_another_kind(self, door, store):
        signed = jws.sign(samples.TRANSACTION, store.leaf())
        assert door.service.post("/v1/verify?app=demo", data=signed.encode()).json()["verdict"] == "valid"
        assert answered(door.post(json={"receipt-data": signed, "password": door.key})) == {"status": 21002}
        assert door.ask(signed.encode()) == {"status": 21002}

    def test_forged_receipts(self, door, leaf, rsa_store):
        mallory = pki.Store("Independent RSA Root", "rsa2048").leaf("rsa2048")
        developer = rsa_store.intermediate.issue("Developer", "rsa2048", markers=(pki.DEVELOPER_LEAF,))
        content = app_receipt.payload(coins(quantity=100))
        other = app_receipt.signer_info(leaf, app_receipt.payload(coins()))
        altered = app_receipt.container(content, leaf.full_chain, [other])
        for environment in ("Production", "ProductionSandbox"):
            forged = [sign(signer, coins(), environment=environment) for signer in (mallory, developer)]
            for receipt in [*forged, altered]:
                for query in ("", "?policy=production", "?policy=sandbox"):
                    assert door.ask(receipt, query) == {"status": 21003}

    def test_a_receipt_of_xcode(self, door):
        xcode = pki.self_signed("StoreKit", "rsa2048", ca=False)
        content = app_receipt.payload(coins(), environment="Xcode")
        assert door.ask(app_receipt.sign(content, xcode, ber=True)) == {"status": 21003}

    @pytest.mark.parametrize("type", [None, "text/plain", "application/json; charset=utf-8", "application/x-www-form-urlencoded"])
    def test_requests_of_any_type_are_read(self, door, leaf, type):
        """Also of that which curl names by itself."""
        body = {"receipt-data": base64.b64encode(sign(leaf, coins())).decode(), "password": door.key}
        headers = {"Content-Type": type} if type else {}
        assert answered(door.post(data=json.dumps(body).encode(), headers=headers))["status"] == 0

    def test_members_that_apple_does_not_know_are_passed_over(self, door, leaf):
        assert door.ask(sign(leaf, coins()), user="alice", transaction_id=None)["status"] == 0

    def test_base64_in_lines(self, door, leaf):
        """The latest receipt is in one line all the same."""
        receipt = sign(leaf, month())
        for end in (b"\n", b"\r\n"):
            lines = base64.encodebytes(receipt).replace(b"\n", end).decode()
            answer = answered(door.post(json={"receipt-data": lines, "password": door.key}))
            assert (answer["status"], answer["latest_receipt"]) == (0, base64.b64encode(receipt).decode())

    def test_bodies_are_bounded(self, door):
        body = json.dumps({"receipt-data": "A" * (1 << 20), "password": door.key})
        assert door.post(data=body.encode()).status_code == 413

    def test_where_no_app_opens_it(self, service):
        """The path is unknown."""
        for method in ("POST", "GET"):
            found, unknown = (service.request(method, path, key="", json={}) for path in ("/verifyReceipt", "/verifyReceipts"))
            assert (found.status_code, found.json()) == (unknown.status_code, unknown.json())
            assert found.status_code == 404


@pytest.mark.parametrize("kind", ["Production", "ProductionVPP", "ProductionSandbox", "ProductionVPPSandbox"])
def test_environments(door, leaf, kind):
    """A policy that accepts one environment sends receipts of the other away, as Apple's two addresses do."""
    receipt = sign(leaf, month(), environment=kind)
    is_sandbox = kind.endswith("Sandbox")
    both = door.ask(receipt)
    production, sandbox = (door.ask(receipt, f"?policy={name}") for name in ("production", "sandbox"))
    accepted, refused = (sandbox, production) if is_sandbox else (production, sandbox)
    assert refused == {"status": 21007 if is_sandbox else 21008}
    for answer in (accepted, both):
        assert (answer["status"], answer["environment"]) == (0, "Sandbox" if is_sandbox else "Production")


def test_the_policy_goes_with_every_way_to_present_a_key(door, leaf):
    body = {"receipt-data": base64.b64encode(sign(leaf, environment="ProductionSandbox")).decode()}
    refused = {"status": 21007}
    assert answered(door.post("?policy=production", json=body | {"password": door.key})) == refused
    assert answered(door.post("?policy=production", key=door.key, json=body)) == refused
    assert answered(door.post(f"?policy=production&apiKey={door.key}", json=body)) == refused
    assert answered(door.post(f"?apiKey={door.key}&policy=production", json=body)) == refused


class TestTransactionReceipts:
    """Receipts in the style of iOS 6, which are flat."""

    @staticmethod
    def subscription(end: int) -> dict[str, str]:
        forms = date("expires_date_formatted", end)
        del forms["expires_date_formatted_ms"]
        return forms | {"expires_date": str(end), "product_id": MONTHLY, "web_order_line_item_id": "1000000000000777"}

    @staticmethod
    def flat(**changes: str) -> dict[str, str]:
        fields = transaction_receipt.PURCHASE_INFO.items()
        return {name.replace("-", "_"): value for name, value in fields} | changes

    @pytest.fixture(params=[3, 4])
    def signed(self, request, leaf):
        return lambda **options: transaction_receipt.sign(leaf, request.param, encode=False, **options)

    def test_a_product_for_ever(self, door, signed):
        answer = door.ask(signed())
        assert answer == {"status": 0, "environment": "Sandbox", "receipt": self.flat()}

    def test_other_members_of_the_receipt(self, door, signed):
        others = {
            "unique_identifier": "0123456789abcdef0123456789abcdef01234567", "app_item_id": "1234567890",
            "version_external_identifier": "840994456", "is_trial_period": "false", "is_in_intro_offer_period": "true",
            "in_app_ownership_type": "FAMILY_SHARED",
        }  # fmt: skip
        assert door.ask(signed(**others))["receipt"] == self.flat(**others)

    def test_a_subscription(self, door, signed):
        running = self.subscription(lives.FAR)
        receipt = signed(**running)
        answer = door.ask(receipt)
        assert answer["status"] == 0
        assert answer["receipt"] == answer["latest_receipt_info"] == self.flat(**running)
        assert answer["latest_receipt"] == base64.b64encode(receipt).decode()

    def test_a_subscription_that_expired(self, door, signed):
        expired = self.subscription(lives.EXPIRES)
        answer = door.ask(signed(**expired))
        assert answer["status"] == 21006
        assert answer["receipt"] == answer["latest_expired_receipt_info"] == self.flat(**expired)

    def test_forged_ones(self, door, leaf, signed):
        blob = transaction_receipt.signature_blob(4, transaction_receipt.property_list(transaction_receipt.PURCHASE_INFO), leaf)
        assert door.ask(signed(blob=blob, quantity="100")) == {"status": 21003}
        expired = self.subscription(lives.EXPIRES)
        assert door.ask(signed(blob=blob, **expired)) == {"status": 21003}
        mallory = pki.Store("Independent RSA Root", "rsa2048").leaf("rsa2048")
        assert door.ask(transaction_receipt.sign(mallory, encode=False)) == {"status": 21003}

    def test_one_of_another_app(self, door, signed):
        assert door.ask(signed(bid=OTHER)) == {"status": 21003}
        assert door.ask(signed(bid=OTHER, **self.subscription(lives.EXPIRES))) == {"status": 21003}

    @pytest.mark.parametrize("environment", ["Sandbox", "Production", None])
    def test_the_environment_is_claimed_and_proves_nothing(self, door, signed, environment):
        for options in ({}, self.subscription(lives.FAR), self.subscription(lives.EXPIRES)):
            answer = door.ask(signed(environment=environment, **options), "?policy=production")
            assert answer["status"] not in (0, 21006) and "receipt" not in answer, answer


# MARK: - What the ledger knows


class Ledger(Door):
    """A server whose ledger is asked, and to which Apple sends notifications."""

    def __init__(self, door: Door, leaf: pki.Identity):
        self.service, self.key, self.leaf = door.service, door.key, leaf

    def notify(self, kind: str, transaction: dict, renewal: dict | None = None, *, signed: int | None = None) -> None:
        signed = signed or transaction["signedDate"]
        transaction = transaction | {"signedDate": signed}
        parts = [jws.sign(transaction, self.leaf)]
        if renewal is not None:
            own = {name: transaction[name] for name in ("originalTransactionId", "environment")} | {"signedDate": signed}
            parts.append(jws.sign(samples.RENEWAL_INFO | own | renewal, self.leaf))
        payload = samples.notification(*parts, environment=transaction["environment"])
        payload |= {"notificationType": kind, "notificationUUID": str(uuid.uuid4()), "signedDate": signed}
        body = {"signedPayload": jws.sign(payload, self.leaf)}
        answer = self.service.post("/v1/notifications/demo", json=body, key="")
        assert answer.status_code == 200, answer.text


@pytest.fixture(scope="module")
def ledger(make, store) -> Ledger:
    return Ledger(make({"checkers": ["ledger"], "notifications": True}), store.leaf())


NUMBERS = itertools.count(1)


@pytest.fixture
def original() -> str:
    """The identifier of a purchase that the ledger does not know yet."""
    return f"41{next(NUMBERS):09}000"


def period(original: str, number: int, **changes) -> dict:
    """A transaction of a subscription as the App Store signs it; number 0 is what `month` has in a receipt."""
    bought = lives.BOUGHT if number == 0 else lives.EXPIRES + (number - 1) * MONTH
    return samples.TRANSACTION | {
        "transactionId": str(int(original) + number), "originalTransactionId": original, "purchaseDate": bought,
        "expiresDate": lives.EXPIRES + number * MONTH, "webOrderLineItemId": str(777 + number), "signedDate": bought + 5000,
    } | changes  # fmt: skip


def one_time(original: str, **changes) -> dict:
    """The transaction of what `coins` has in a receipt."""
    kept = lives.without(period(original, 0), "expiresDate", "subscriptionGroupIdentifier", "webOrderLineItemId")
    return kept | {"productId": COINS, "type": "Non-Consumable", "transactionReason": "PURCHASE"} | changes


def told(transaction: dict, **changes: str) -> dict[str, str]:
    """What is answered of a transaction that only the ledger knows."""
    return {
        "quantity": "1", "product_id": MONTHLY, "transaction_id": transaction["transactionId"],
        "original_transaction_id": transaction["originalTransactionId"], "is_trial_period": "false",
        "web_order_line_item_id": transaction["webOrderLineItemId"], "subscription_group_identifier": "20900001",
        "in_app_ownership_type": "PURCHASED",
    } | date("purchase_date", transaction["purchaseDate"]) | date("expires_date", transaction["expiresDate"]) \
      | date("original_purchase_date", FIRST_BOUGHT) | changes  # fmt: skip


def cancelled(reason: str) -> dict[str, str]:
    return date("cancellation_date", lives.TAKEN_BACK) | {"cancellation_reason": reason}


def is_cancelled(purchase: dict) -> bool:
    return any(name.startswith("cancellation") for name in purchase)


class TestLedger:
    def test_nothing_known(self, ledger, leaf, original):
        answer = ledger.ask(sign(leaf, month(original)))
        assert answer["latest_receipt_info"] == answer["receipt"]["in_app"] == [reported_month(original)]
        assert answer["pending_renewal_info"] == []

    def test_renewals(self, ledger, leaf, original):
        """The latest is told from its notification on, before what the receipt says."""
        receipt = sign(leaf, month(original))
        own = ledger.ask(receipt)["latest_receipt_info"]
        for number in (1, 2):
            renewal = period(original, number)
            ledger.notify("DID_RENEW", renewal, {})
            expected = [told(renewal), *own]
            answer = ledger.ask(receipt)
            assert transactions(answer["latest_receipt_info"]) == transactions(expected)
            for found, wanted in zip(answer["latest_receipt_info"], expected):
                contains(found, wanted)
            assert answer["receipt"]["in_app"] == [reported_month(original)]
            assert len(answer["pending_renewal_info"]) == 1
        assert answer["latest_receipt"] == base64.b64encode(receipt).decode()

    def test_a_renewal_among_old_transactions(self, ledger, leaf, original):
        ledger.notify("DID_RENEW", period(original, 1), {})
        answer = ledger.ask(sign(leaf, month(original)), **{"exclude-old-transactions": True})
        assert transactions(answer["latest_receipt_info"]) == [str(int(original) + 1)]
        assert transactions(answer["receipt"]["in_app"]) == [original]

    def test_what_both_know_is_told_once(self, ledger, leaf, original):
        ledger.notify("SUBSCRIBED", period(original, 0), {})
        answer = ledger.ask(sign(leaf, month(original)))
        (found,) = answer["latest_receipt_info"]
        contains(found, reported_month(original))
        assert answer["receipt"]["in_app"] == [reported_month(original)]

    def test_purchases_that_the_receipt_does_not_have_stay_private(self, ledger, leaf, original):
        stranger = f"9{original}"
        ledger.notify("DID_RENEW", period(stranger, 1, appAccountToken=str(uuid.uuid4())), {})
        answer = ledger.ask(sign(leaf, month(original)))
        assert transactions(answer["latest_receipt_info"]) == [original]
        assert answer["pending_renewal_info"] == []

    @pytest.mark.parametrize(
        ("changes", "expected"),
        [
            ({"offerType": 1, "offerDiscountType": "FREE_TRIAL"}, {"is_trial_period": "true"}),
            ({"offerType": 1, "offerDiscountType": "PAY_AS_YOU_GO"},
             {"is_trial_period": "false", "is_in_intro_offer_period": "true"}),
            ({"offerType": 2, "offerIdentifier": "spring"}, {"promotional_offer_id": "spring"}),
            ({"offerType": 3, "offerIdentifier": "CODE10"}, {"offer_code_ref_name": "CODE10"}),
            ({"inAppOwnershipType": "FAMILY_SHARED"}, {"in_app_ownership_type": "FAMILY_SHARED"}),
            ({"appAccountToken": "7e3fb204-2b3a-4c8f-9d5e-6a1b2c3d4e5f"},
             {"app_account_token": "7e3fb204-2b3a-4c8f-9d5e-6a1b2c3d4e5f"}),
            ({"isUpgraded": True}, {"is_upgraded": "true"}),
            ({"quantity": 4}, {"quantity": "4"}),
        ],
        ids=str,
    )  # fmt: skip
    def test_the_members_of_a_renewal(self, ledger, leaf, original, changes, expected):
        renewal = period(original, 1, **changes)
        ledger.notify("DID_RENEW", renewal, {})
        found = ledger.ask(sign(leaf, month(original)))["latest_receipt_info"][0]
        contains(found, told(renewal, **expected))
        absent = {*OFFERS, "app_account_token", "is_upgraded"} - set(expected)
        assert not absent & set(found) and not is_cancelled(found), found

    @pytest.mark.parametrize(("kind", "reason"), [("REFUND", 0), ("REFUND", 1), ("REVOKE", 0)])
    def test_a_refund(self, ledger, leaf, original, kind, reason):
        """It is told wherever the purchase is, as Apple does."""
        receipt = sign(leaf, month(original))
        before = ledger.ask(receipt)
        taken_back = {"revocationDate": lives.TAKEN_BACK, "revocationReason": reason}
        ledger.notify(kind, period(original, 0, **taken_back), signed=lives.TAKEN_BACK + 5000)
        answer = ledger.ask(receipt)
        assert answer["status"] == 0
        expected = reported_month(original) | cancelled(str(reason))
        contains(answer["latest_receipt_info"][0], expected)
        assert len(answer["latest_receipt_info"]) == 1
        assert answer["receipt"]["in_app"] == [expected]
        assert stated(answer["receipt"]) == stated(before["receipt"] | {"in_app": [expected]})

    def test_a_refund_of_a_renewal(self, ledger, leaf, original):
        """What was paid for before stays paid for."""
        taken_back = {"revocationDate": lives.EXPIRES + 86_400_000, "revocationReason": 1}
        ledger.notify("DID_RENEW", period(original, 1), {})
        ledger.notify("REFUND", period(original, 1, **taken_back), signed=lives.EXPIRES + 90_000_000)
        renewed, first = ledger.ask(sign(leaf, month(original)))["latest_receipt_info"]
        expected = date("cancellation_date", lives.EXPIRES + 86_400_000) | {"cancellation_reason": "1"}
        contains(renewed, told(period(original, 1)) | expected)
        assert first["transaction_id"] == original and not is_cancelled(first)

    def test_a_refund_that_was_reversed(self, ledger, leaf, original):
        taken_back = {"revocationDate": lives.TAKEN_BACK, "revocationReason": 1}
        ledger.notify("REFUND", period(original, 0, **taken_back), signed=lives.TAKEN_BACK + 5000)
        receipt = sign(leaf, month(original))
        assert is_cancelled(ledger.ask(receipt)["latest_receipt_info"][0])
        ledger.notify("REFUND_REVERSED", period(original, 0), signed=lives.TAKEN_BACK + 10_000)
        (found,) = ledger.ask(receipt)["latest_receipt_info"]
        assert not is_cancelled(found)

    def test_a_refund_of_one_product_beside_a_subscription(self, ledger, leaf, original):
        product = f"8{original}"
        taken_back = {"revocationDate": lives.TAKEN_BACK, "revocationReason": 0}
        ledger.notify("REFUND", one_time(product, **taken_back), signed=lives.TAKEN_BACK + 5000)
        answer = ledger.ask(sign(leaf, month(original), coins(product)))
        found = {purchase["transaction_id"]: purchase for purchase in answer["latest_receipt_info"]}
        assert set(found) == {original, product}
        contains(found[product], reported_coins(product) | cancelled("0"))
        assert not is_cancelled(found[original])
        found = {purchase["transaction_id"]: is_cancelled(purchase) for purchase in answer["receipt"]["in_app"]}
        assert found == {original: False, product: True}

    def test_a_refund_without_a_subscription(self, ledger, leaf, original):
        """A receipt without subscriptions has no latest purchases, so that the refund is told in the receipt alone."""
        taken_back = {"revocationDate": lives.TAKEN_BACK, "revocationReason": 1}
        ledger.notify("REFUND", one_time(original, **taken_back), signed=lives.TAKEN_BACK + 5000)
        answer = ledger.ask(sign(leaf, coins(original)))
        assert "latest_receipt_info" not in answer
        assert answer["receipt"]["in_app"] == [reported_coins(original) | cancelled("1")]

    @pytest.mark.parametrize(
        ("kind", "renewal", "expected"),
        [
            ("DID_RENEW", {}, {"auto_renew_status": "1"}),
            ("DID_CHANGE_RENEWAL_STATUS", {"autoRenewStatus": 0}, {"auto_renew_status": "0"}),
            ("EXPIRED", {"autoRenewStatus": 0, "expirationIntent": 1}, {"auto_renew_status": "0", "expiration_intent": "1"}),
            ("DID_FAIL_TO_RENEW", {"isInBillingRetryPeriod": True, "expirationIntent": 2},
             {"is_in_billing_retry_period": "1", "expiration_intent": "2"}),
            ("DID_FAIL_TO_RENEW", {"isInBillingRetryPeriod": False}, {"is_in_billing_retry_period": "0"}),
            ("DID_FAIL_TO_RENEW", {"isInBillingRetryPeriod": True, "gracePeriodExpiresDate": lives.GRACE},
             {"is_in_billing_retry_period": "1"} | date("grace_period_expires_date", lives.GRACE)),
            ("PRICE_INCREASE", {"priceIncreaseStatus": 0}, {"price_increase_status": "0"}),
            ("PRICE_INCREASE", {"priceIncreaseStatus": 1}, {"price_increase_status": "1"}),
            ("OFFER_REDEEMED", {"offerType": 2, "offerIdentifier": "back"}, {"promotional_offer_id": "back"}),
            ("OFFER_REDEEMED", {"offerType": 3, "offerIdentifier": "CODE10"}, {"offer_code_ref_name": "CODE10"}),
        ],
        ids=str,
    )  # fmt: skip
    def test_what_comes_next(self, ledger, leaf, original, kind, renewal, expected):
        ledger.notify(kind, period(original, 0), renewal)
        answer = ledger.ask(sign(leaf, month(original)))
        (found,) = answer["pending_renewal_info"]
        contains(found, {
            "original_transaction_id": original, "product_id": MONTHLY, "auto_renew_status": "1",
            "auto_renew_product_id": "com.example.app.yearly",
        } | expected)  # fmt: skip
        mentioned = {"expiration_intent", "grace_period_expires_date", "price_increase_status", *OFFERS}
        assert not (mentioned - set(expected)) & set(found), found

    @pytest.mark.parametrize("order", [[0, 1], [1, 0]], ids=str)
    def test_the_newest_intent_counts(self, ledger, leaf, original, order):
        """Whatever arrives first."""
        for status in order:
            renewal = {"autoRenewStatus": status}
            ledger.notify("DID_CHANGE_RENEWAL_STATUS", period(original, 0), renewal, signed=CREATED + 60_000 * status)
        (found,) = ledger.ask(sign(leaf, month(original)))["pending_renewal_info"]
        assert found["auto_renew_status"] == "1"

    def test_one_for_each_subscription_that_is_known(self, ledger, leaf, original):
        known, unknown = original, f"7{original}"
        second = f"6{original}"
        ledger.notify("DID_CHANGE_RENEWAL_STATUS", period(known, 0), {"autoRenewStatus": 0})
        ledger.notify("DID_RENEW", period(second, 1), {})
        receipt = sign(leaf, *(month(name) for name in (known, unknown, second)))
        pending = ledger.ask(receipt)["pending_renewal_info"]
        found = {renewal["original_transaction_id"]: renewal["auto_renew_status"] for renewal in pending}
        assert found == {known: "0", second: "1"}

    def test_the_flat_form(self, ledger, leaf, original):
        changes = TestTransactionReceipts.subscription(lives.FAR)
        changes |= {"transaction_id": original, "original_transaction_id": original}
        ledger.notify("SUBSCRIBED", period(original, 0, expiresDate=lives.FAR, environment="Sandbox"), {"autoRenewStatus": 1})
        answer = ledger.ask(transaction_receipt.sign(leaf, encode=False, **changes))
        assert (answer["status"], answer["auto_renew_status"]) == (0, 1)
        assert answer["latest_receipt_info"]["transaction_id"] == original


# MARK: - Limits, and what cannot be asked now


def test_a_checker_that_cannot_be_asked_now(make, leaf):
    door = make({"checkers": ["receiptkit"], "receiptKit": {"url": "http://127.0.0.1:9"}})
    answer = door.ask(sign(leaf, coins()))
    assert answer == {"status": 21005} | TEMPORARY
    # What the receipt itself decides needs nobody else.
    assert door.ask(sign(leaf, bundle=OTHER)) == {"status": 21003}


BURST = 3
LIMITS = {"clientBurst": BURST, "clientRate": 1}
# Even at one a second they would take minutes.
MANY = 200


class TestLimit:
    """Of one address, with a publishable key: a burst, then so many a second."""

    @pytest.fixture
    def body(self, leaf) -> dict:
        return {"receipt-data": base64.b64encode(sign(leaf)).decode()}

    def limited(self, door, body, headers=lambda number: {}) -> requests.Response | None:
        """The first answer of many that tells of the limit."""
        for number in range(MANY):
            response = door.post(json=body | {"password": door.key}, headers=headers(number))
            answer = answered(response)
            if answer["status"]:
                assert number >= BURST
                assert answer == {"status": 21100} | TEMPORARY
                return response
            assert "Retry-After" not in response.headers
        return None

    def test_too_many_requests(self, make, body):
        door = make(limits=LIMITS)
        response = self.limited(door, body)
        assert response is not None and int(response.headers["Retry-After"]) >= 1
        secret = door.service.make_key("verify", app="demo")
        for _ in range(MANY // 2):
            assert answered(door.post(key=secret, json=body))["status"] == 0

    def test_an_address_is_not_what_a_stranger_writes(self, make, body):
        assert self.limited(make(limits=LIMITS), body, lambda number: {"X-Forwarded-For": f"192.0.2.{number}"}) is not None

    def test_an_address_is_what_a_trusted_proxy_writes(self, make, body):
        door = make(limits=LIMITS, trustedProxies=["127.0.0.1"])
        assert self.limited(door, body, lambda number: {"X-Forwarded-For": f"192.0.2.{number}"}) is None
        assert self.limited(door, body, lambda number: {"X-Forwarded-For": "198.51.100.1"}) is not None

    def test_no_limit(self, make, body):
        door = make(limits={"clientBurst": BURST, "clientRate": 0})
        assert self.limited(door, body) is None


# MARK: - Our own checker asks


class TestChecker:
    """receipt-tool has a checker that speaks verifyReceipt."""

    @pytest.fixture
    def options(self, ledger, policy, tmp_path):
        def options(secret: str) -> list:
            path = tmp_path / "credentials.json"
            path.write_text(json.dumps({"sharedSecret": secret}))
            path.chmod(0o600)
            return [
                "--trust", policy["trust"][0], "--bundle-id", samples.BUNDLE, "--base-url", ledger.service.url, "--check",
                "verify-receipt", "--credentials", path,
            ]  # fmt: skip

        return options

    @pytest.mark.parametrize(("kind", "environment"), [("Production", "Production"), ("ProductionSandbox", "Sandbox")])
    def test_it_confirms_and_revokes(self, receipt_tool, ledger, leaf, original, options, kind, environment):
        receipt = sign(leaf, month(original), environment=kind)
        # The checker knows two addresses of the store; here the sandbox's is asked about receipts of the sandbox.
        asked = [*options(ledger.key), "--environment", environment.lower()]
        verdict = receipt_tool.accepts(receipt, *asked)
        assert [(check["name"], check["answer"]) for check in verdict["checks"]] == [("verify-receipt", "confirmed")]
        taken_back = {"revocationDate": lives.TAKEN_BACK, "revocationReason": 1, "environment": environment}
        ledger.notify("REFUND", period(original, 0, **taken_back), signed=lives.TAKEN_BACK + 5000)
        receipt_tool.refuses(receipt, "revoked", *asked)

    @pytest.mark.parametrize("end", [lives.EXPIRES, lives.FAR])
    def test_it_reads_the_flat_form(self, receipt_tool, ledger, leaf, options, end):
        receipt = transaction_receipt.sign(leaf, **TestTransactionReceipts.subscription(end))
        verdict = receipt_tool.accepts(receipt, *options(ledger.key))
        assert [check["answer"] for check in verdict["checks"]] == ["confirmed"]

    def test_another_shared_secret(self, receipt_tool, leaf, options):
        secret = "pk_000000000000_" + "A" * 43
        verdict = receipt_tool.leaves_open(sign(leaf), "checker-unavailable", *options(secret))
        assert verdict["retryable"] is False


# MARK: - Real receipts


def children(data: bytes) -> list[bytes]:
    """The contents of the elements in DER one after the other."""
    found, place = [], 0
    while place < len(data):
        length, place = data[place + 1], place + 2
        if length & 0x80:
            count = length & 0x7F
            length, place = int.from_bytes(data[place : place + count], "big"), place + count
        found.append(data[place : place + length])
        place += length
    return found


def attributes(members: bytes) -> list[tuple[int, bytes]]:
    """The attributes of a SET in their order, each with its value."""
    (inner,) = children(members)
    return [(int.from_bytes(kind, "big"), value) for kind, _, value in map(children, children(inner))]


def signed_content(receipt: bytes) -> bytes:
    (info,) = children(receipt)
    (signed,) = children(children(info)[1])
    (content,) = children(children(children(signed)[2])[1])
    return content


def text_of(value: bytes) -> str:
    (inner,) = children(value)
    return inner.decode()


def number_of(value: bytes) -> int:
    (inner,) = children(value)
    return int.from_bytes(inner, "big", signed=True)


def purchase_in(members: bytes) -> dict[str, str]:
    values = dict(attributes(members))
    found = {
        "quantity": str(number_of(values[1701])), "product_id": text_of(values[1702]), "transaction_id": text_of(values[1703]),
        "original_transaction_id": text_of(values[1705]), "is_trial_period": ["false", "true"][number_of(values[1713])],
    }  # fmt: skip
    dates = {"purchase_date": 1704, "original_purchase_date": 1706, "expires_date": 1708, "cancellation_date": 1712}
    for name, kind in dates.items():
        if stated_date := text_of(values[kind]):
            found |= date(name, milliseconds(stated_date))
    if line := number_of(values[1711]):
        found["web_order_line_item_id"] = str(line)
    if 1719 in values:
        found["is_in_intro_offer_period"] = ["false", "true"][number_of(values[1719])]
    return found


def receipt_in(receipt: bytes) -> dict:
    """What must be answered of a receipt, read from its attributes by a reader of our own."""
    found = attributes(signed_content(receipt))
    values = dict(found)
    return {
        "receipt_type": text_of(values[0]), "adam_id": number_of(values[1]), "app_item_id": number_of(values[1]),
        "version_external_identifier": number_of(values[16]), "download_id": number_of(values[15]),
        "bundle_id": text_of(values[2]), "application_version": text_of(values[3]),
        "original_application_version": text_of(values[19]),
        "in_app": [purchase_in(value) for kind, value in found if kind == 17],
    } | date("receipt_creation_date", milliseconds(text_of(values[12]))) \
      | date("original_purchase_date", milliseconds(text_of(values[18])))  # fmt: skip


@pytest.fixture(scope="module")
def apple(shared, make) -> Door:
    """A server that trusts Apple, for the apps of the real receipts."""
    bundles = {entry["expected"]["bundle_id"] for entry in ENTRIES if "receipt" in entry["kind"] and entry["accept"]}
    policy = {"bundleIds": sorted(bundles), "environments": ["production", "sandbox"], "trust": ["apple"]}
    environments = {name: policy | {"environments": [name]} for name in ("production", "sandbox")}
    return make({"policies": ["default", *environments], "policy": {"default": policy} | environments})


class TestRealReceipts:
    """Receipts that Apple signed, compared member by member; see test_real_receipts.py."""

    @staticmethod
    def contents(shared, entry) -> bytes:
        contents = (shared / "receipts" / entry["file"]).read_bytes()
        return base64.b64decode(contents) if entry["file"].endswith(".b64") else contents

    @entries("app-receipt")
    def test_app_receipts(self, apple, shared, entry):
        receipt, manifest = self.contents(shared, entry), entry["expected"]
        answer, expected = apple.ask(receipt), receipt_in(receipt)
        # The reader of the manifest found the same.
        assert transactions(expected["in_app"]) == manifest["transaction_ids"]
        assert expected["receipt_creation_date_ms"][:-3] == str(milliseconds(manifest["receipt_creation_date"]))[:-3]
        assert answer["status"] == 0
        assert stated(answer["receipt"]) == expected
        if any(map(is_renewable, expected["in_app"])):
            newest = sorted(expected["in_app"], key=lambda purchase: -int(purchase["purchase_date_ms"]))
            assert answer["latest_receipt_info"] == newest
            assert answer["pending_renewal_info"] == []
        is_sandbox = manifest["environment"].endswith("Sandbox")
        refused = ("production", 21007) if is_sandbox else ("sandbox", 21008)
        assert apple.ask(receipt, f"?policy={refused[0]}") == {"status": refused[1]}

    @entries("transaction-receipt", "transaction-receipt-outer-edited")
    def test_transaction_receipts(self, apple, shared, entry):
        answer, fields = apple.ask(self.contents(shared, entry)), entry["expected"]["fields"]
        assert answer["status"] == (21006 if "expires-date" in fields else 0)
        contains(answer["receipt"], {name.replace("-", "_"): value for name, value in fields.items()})
        if entry["expected"]["environment_outer_unsigned"]:
            assert answer["environment"] == entry["expected"]["environment_outer_unsigned"]

    @entries("app-receipt-negative", "app-receipt-xcode")
    def test_false_ones(self, apple, shared, entry):
        is_no_receipt = entry["file"].endswith(("NEG-not-a-receipt.der", "NEG-truncated.der"))
        assert apple.ask(self.contents(shared, entry)) == {"status": 21002 if is_no_receipt else 21003}
