# SPDX-License-Identifier: Apache-2.0
"""Purchases by reference: backends have a token, a transaction or an order, and no receipt. The store is asked, its answer is a
verdict with a standing, merged and recorded, the same from receipt-server and from receipt-tool."""

import os

import pytest

import samples
from emulator import Emulator
from service import Service
from tool import INVALID, UNDETERMINED, USAGE, VALID, check

pytestmark = pytest.mark.server

COINS, MONTHLY = f"{samples.BUNDLE}.coins", f"{samples.BUNDLE}.monthly"
SAMPLE = "2000000001"


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """An App Store and a Google Play with something sold."""
    folder = tmp_path_factory.mktemp("stores")
    emulator = Emulator(
        os.environ["STORE_EMULATOR"], folder / "state", "--sample", "--clock-rate", "0", "--play-service-account",
        str(folder / "account.json"),
    )  # fmt: skip
    emulator.account = folder / "account.json"
    yield emulator
    emulator.stop()


@pytest.fixture(scope="module")
def service(stores, tmp_path_factory):
    """A server with credentials for both, which accepts the sandbox."""
    service = Service(tmp_path_factory.mktemp("service") / "data")
    url = stores.url().replace("localhost", "127.0.0.1")
    developer = stores.developer

    def change(configuration):
        app = configuration["app"]["demo"]
        policy = app["policy"]["default"] | {
            "bundleIds": [samples.BUNDLE], "trust": [stores.ready["root"]], "environments": ["sandbox"],
            "playEnvironments": ["production", "sandbox"], "allowedClockSkew": 400 * 86_400,
        }  # fmt: skip
        app["policies"] = ["default", "current", "production"]
        app["policy"] = {
            "default": policy, "current": policy | {"requireCurrent": True},
            "production": policy | {"environments": ["production"], "playEnvironments": ["xcode"]},
        }  # fmt: skip
        app["appStore"] = {
            "keyFile": stores.ready["developerKey"], "keyID": developer["keyId"], "issuerID": developer["issuerId"],
            "bundleID": samples.BUNDLE, "url": url,
        }  # fmt: skip
        app["googlePlay"] = {"package": samples.BUNDLE, "serviceAccount": str(stores.account), "url": url}
        app["record"] = True

    service.configure(change)
    service.start()
    yield service
    assert service.end() == 0


@pytest.fixture
def look_up(service):
    def look_up(query="", status=200, **reference):
        answer = service.post(f"/v1/lookup{query}", json=reference)
        assert answer.status_code == status, answer.text
        if status == 200:
            check(answer.json())
        return answer.json()

    return look_up


@pytest.fixture
def tool(receipt_tool, stores):
    """The same question by receipt-tool."""
    url = stores.url().replace("localhost", "127.0.0.1")
    developer = stores.developer
    options = {
        "app-store": [
            "--environment", "sandbox", "--api-key", stores.ready["developerKey"], "--key-id", developer["keyId"],
            "--issuer-id", developer["issuerId"], "--bundle-id", samples.BUNDLE, "--base-url", url, "--trust",
            stores.ready["root"],
        ],
        "google-play": ["--package", samples.BUNDLE, "--service-account", str(stores.account), "--play-base-url", url],
    }  # fmt: skip

    def ask(store, reference, *more, code=VALID):
        run = receipt_tool.run("lookup", store, "--json", *options[store], *more, reference)
        assert run.code == code, run.out + run.err
        (answer,) = run.lines
        text = receipt_tool.run("lookup", store, *options[store], *more, reference)
        words = [answer["verdict"], answer.get("standing")]
        assert text.out.startswith(", ".join(word.upper() for word in words if word) + f"  {store}  {reference}\n"), text.out
        assert text.code == code
        return answer

    return ask


def same(answer: dict) -> dict:
    return {name: value for name, value in answer.items() if name not in ("entry", "repeated")}


def test_a_one_time_purchase_of_google_play(service, look_up, stores, tool):
    bought = stores.control("POST", "play/buy", {"account": "alice", "productId": COINS})
    token = bought["purchaseToken"]
    answer = look_up(store="google-play", purchaseToken=token)
    assert (answer["verdict"], answer["standing"], answer["grantsAccess"]) == ("valid", "active", True)
    assert (answer["store"], answer["bundleId"]) == ("google-play", samples.BUNDLE)
    (purchase,) = answer["transactions"]
    assert (purchase["productId"], purchase["transactionId"]) == (COINS, bought["orderId"])
    assert (purchase["standingSource"], purchase["remainingQuantity"]) == ("store", 1)
    assert same(answer) == tool("google-play", token)
    assert same(answer) == same(look_up(store="google-play", purchaseToken=token, productId=COINS))
    other = look_up(store="google-play", purchaseToken=token, productId=MONTHLY)
    assert (other["verdict"], other["reason"]["code"]) == ("invalid", "checker-refused")
    tool("google-play", token, "--product", MONTHLY, code=INVALID)
    # Another app's package is for the policy to refuse, which it does before anything is told.
    other = look_up(store="google-play", purchaseToken=token, packageName="com.example.other")
    assert other["verdict"] != "valid" and other["transactions"] == []
    # It is in the ledger and in the trail.
    (owned,) = service.get(f"/v1/entitlements/{token}").json()["entitlements"]
    assert owned["entitlement"]["standing"] == "active"
    (entry,) = service.get(f"/v1/entitlements/{token}/history").json()["entries"]
    assert (entry["verdict"], entry["index"]) == ("valid", answer["entry"])
    assert entry["checks"] == [{"name": "google-play", "answer": "confirmed"}] and "signerSha256" not in entry
    stores.control("POST", "play/refund", {"orderId": bought["orderId"]})
    answer = look_up(store="google-play", purchaseToken=token)
    assert (answer["verdict"], answer["grantsAccess"]) == ("valid", False)
    assert answer["standing"] == "refunded"
    refused = look_up("?policy=current", store="google-play", purchaseToken=token)
    assert (refused["verdict"], refused["reason"]["code"], refused["transactions"]) == ("invalid", "not-current", [])
    (owned,) = service.get(f"/v1/entitlements/{token}").json()["entitlements"]
    assert owned["entitlement"]["grantsAccess"] is False


def test_a_subscription_of_google_play(service, look_up, stores, tool):
    token = stores.control("POST", "play/buy", {"account": "alice", "productId": MONTHLY})["purchaseToken"]
    answer = look_up(store="google-play", purchaseToken=token)
    (purchase,) = answer["transactions"]
    assert (purchase["standing"], purchase["productId"]) == ("active", MONTHLY)
    assert purchase["expiresDate"] == purchase["standingUntil"]
    assert same(answer) == tool("google-play", token)
    tool("google-play", token, "--require-current")


def test_a_transaction_of_the_app_store(service, look_up, tool):
    answer = look_up(transactionId=SAMPLE)
    assert (answer["verdict"], answer["store"], answer["format"]) == ("valid", "app-store", "signed-transaction")
    (purchase,) = answer["transactions"]
    assert purchase["standingSource"] == "store"
    assert same(answer) == tool("app-store", SAMPLE)
    entry = service.get(f"/v1/audit/entries/{answer['entry']}").json()
    assert entry["signerSha256"] and entry["verdict"] == "valid"
    original = purchase["originalTransactionId"]
    (owned,) = service.get(f"/v1/entitlements/{original}").json()["entitlements"]
    assert owned["entitlement"]["standing"] == purchase["standing"]
    assert look_up(transactionId=SAMPLE)["repeated"] is True


def test_what_a_store_does_not_know(look_up, tool):
    for reference, store, name in [
        ({"store": "google-play", "purchaseToken": "unknown"}, "google-play", "unknown"),
        ({"transactionId": "404404404"}, "app-store", "404404404"),
    ]:
        answer = look_up(**reference)
        assert (answer["verdict"], answer["reason"]["code"]) == ("invalid", "checker-refused"), answer
        assert answer["transactions"] == [] and "standing" not in answer
        assert same(answer) == tool(store, name, code=INVALID)


def test_what_the_policy_does_not_accept_is_not_merged(service, look_up, stores):
    token = stores.control("POST", "play/buy", {"account": "carol", "productId": COINS})["purchaseToken"]
    answer = look_up("?policy=production", store="google-play", purchaseToken=token)
    assert (answer["verdict"], answer["reason"]["code"]) == ("invalid", "wrong-environment")
    assert service.get(f"/v1/entitlements/{token}").status_code == 404
    assert look_up("?policy=production", transactionId=SAMPLE)["reason"]["code"] == "wrong-environment"


def test_a_purchase_of_another_customer_entitles_nobody(service, look_up, stores):
    bought = stores.control(
        "POST", "play/buy", {"account": "dave", "productId": COINS, "obfuscatedAccountId": "account-of-dave"}
    )
    problem = look_up("?customer=mallory", 409, store="google-play", purchaseToken=bought["purchaseToken"])
    assert problem["code"] == "other-customer" and "entry" in problem
    assert service.get(f"/v1/entitlements/{bought['purchaseToken']}").status_code == 404


def test_an_erasure_finds_the_account_in_what_the_store_signed(service, look_up, stores):
    account = "7e3fb204-2b3a-4c8f-9d5e-6a1b2c3d4e99"
    sold = samples.TRANSACTION | {
        "transactionId": "88", "originalTransactionId": "88", "environment": "Sandbox", "appAccountToken": account,
    }  # fmt: skip
    stores.seed(transactions=[{"transaction": sold}])
    # The lookup was for another customer, under whose name the answer is recorded.
    problem = look_up("?customer=mallory", 409, transactionId="88")
    assert service.request("DELETE", f"/v1/customers/{account}").json()["entries"] == 1
    entry = service.get(f"/v1/audit/entries/{problem['entry']}").json()
    assert "receipt" not in entry and account not in str(entry)


def test_a_store_that_does_not_answer(look_up, stores, tool):
    stores.control("POST", "play/faults", [{"faults": [{"kind": "status", "status": 403}], "requests": 2}])
    answer = look_up(store="google-play", purchaseToken="any")
    assert (answer["verdict"], answer["reason"]["code"]) == ("undetermined", "checker-unavailable"), answer
    assert answer["retryable"] is False
    stores.control("POST", "play/faults", [])


@pytest.mark.parametrize(
    "reference, place",
    [
        ({}, "$.store"), ({"store": "amazon", "purchaseToken": "t"}, "$.store"), ({"purchaseToken": "t"}, "$.store"),
        ({"transactionId": "1", "orderId": "2"}, "$.store"), ({"transactionId": ""}, "$.transactionId"),
        ({"transactionId": 7}, "$.transactionId"), ({"transactionId": "a b"}, "$.transactionId"),
        ({"store": "google-play", "purchaseToken": "x" * 3000}, "$.purchaseToken"),
        ({"transactionId": "1", "productId": "p"}, "$.productId"), ({"orderId": "1", "packageName": "a"}, "$.packageName"),
        ({"store": "google-play", "purchaseToken": "t", "subscriptionId": "s"}, "$.subscriptionId"),
        ({"store": "huawei", "purchaseToken": "t"}, "$.productId"),
    ],
)  # fmt: skip
def test_a_reference_that_names_no_purchase(look_up, reference, place):
    problem = look_up("", 400, **reference)
    assert problem["place"] == place, problem


def test_a_store_without_credentials(look_up):
    problem = look_up("", 404, store="huawei", purchaseToken="t", productId="p")
    assert problem["code"] == "no-credentials"


def test_the_command_line(receipt_tool):
    for arguments in (["google-play", "t"], ["huawei", "t", "--bundle-id", "a"], ["app-store"]):
        assert receipt_tool.run("lookup", *arguments).code == USAGE
    run = receipt_tool.run(
        "lookup", "huawei", "t", "--product", "p", "--bundle-id", "a.b", "--huawei-client-id", "1", "--huawei-base-url",
        "http://127.0.0.1:9", "--deadline", "1", "--json",
        env=os.environ | {"RECEIPTKIT_HUAWEI_CLIENT_SECRET": "secret"},
    )  # fmt: skip
    assert run.code == UNDETERMINED, run.out + run.err
    (answer,) = run.lines
    assert (answer["reason"]["code"], answer["retryable"]) == ("checker-unavailable", True)
