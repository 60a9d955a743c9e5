# SPDX-License-Identifier: Apache-2.0
"""Grants by hand of receipt-server: who may grant what to whom, what is told of it and how it ends; what the same request does
twice, from two processes, and when the server is killed in its midst."""

import collections
import concurrent.futures
import json
import random
import signal
import threading
import time
import urllib.parse
import uuid

import pytest
import requests

from test_client_verify_receipt import now
from test_named_entitlements import APPS, DAY, MONTH, NOBODY, YEARLY, Shop, customer, path, text, wait, without_reasons
from test_service_stores import free_port
from test_webhooks_revenuecat import Purchase

pytestmark = pytest.mark.server

OTHERS = {name: APPS[name] for name in ("shop", "keep", "plain")}


def identifier() -> str:
    return f"gr_{uuid.uuid4().hex}"


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def shop(request, tmp_path_factory, store):
    database = request.getfixturevalue("postgresql_server") if request.param == "postgresql" else None
    shop = Shop(tmp_path_factory.mktemp("grants"), store, database, f"grants_{uuid.uuid4().hex[:8]}", OTHERS)
    shop.start()
    yield shop
    shop.stop()


def grant(shop, who: str, entitlement="pro", reason="a reason", status=201, app="shop", key=None, **members) -> dict:
    body = {"entitlement": entitlement, "reason": reason} | members
    answer = shop.post(path(who, "grants"), params={"app": app}, json=body, key=key)
    assert answer.status_code == status, answer.text
    return answer.json()


def withdraw(shop, who: str, grant: str, reason: str | None = "no more", status=200, app="shop", key=None) -> dict:
    query = {"app": app} | ({} if reason is None else {"reason": reason})
    query = urllib.parse.urlencode(query, quote_via=urllib.parse.quote)
    answer = shop.request("DELETE", f"{path(who, 'grants')}/{grant}?{query}", key=key)
    assert answer.status_code == status, answer.text
    return answer.json()


def acts(shop) -> list[dict]:
    """The acts, oldest first."""
    found, query = [], {"limit": 1000}
    while page := shop.get("/v1/administrative-acts", params=query).json()["acts"]:
        found += page
        query["before"] = page[-1]["sequence"]
    return found[::-1]


def types(shop, who: str, app="shop") -> list[str]:
    return [change["type"].removeprefix("entitlement.") for change in shop.changes(who, app)]


class TestGranting:
    def test_a_grant_is_answered_and_found_everywhere(self, shop):
        who, until = customer(), text(now() + MONTH)
        answer = grant(shop, who, reason="Sorry for the outage of März", expires=until)
        granted = answer["grant"]
        key = shop.key.split("_")[1]
        assert (answer["type"], answer["customer"]) == ("granted", who)
        assert granted == {
            "type": "grant", "version": 1, "grantId": granted["grantId"], "entitlement": "pro", "state": "active",
            "grantsAccess": True, "reason": "Sorry for the outage of März", "grantedDate": granted["grantedDate"],
            "grantedBy": key, "expiresDate": until, "standing": "active", "standingSince": granted["grantedDate"],
            "standingUntil": until, "standingSource": "ledger",
        }  # fmt: skip
        access = {"name": "pro", "standing": "active", "grantsAccess": True, "since": granted["grantedDate"], "until": until}
        reason = {"source": "grant", "id": granted["grantId"]} | {name: access[name] for name in ("standing", "since", "until")}
        assert shop.access(who, "pro") == access | {"source": "grant", "reasons": [reason]}
        assert answer["access"] == shop.all_access(who)
        owned = {"customer": who, "entitlement": granted}
        assert shop.ask(who).json()["entitlements"] == [owned]
        query = {"app": "shop"}
        assert shop.get(f"/v1/entitlements/{granted['grantId']}", params=query).json()["entitlements"] == [owned]
        history = shop.get(f"/v1/entitlements/{granted['grantId']}/history", params=query).json()
        assert (history["entitlements"], [line["change"] for line in history["changes"]]) == ([owned], shop.changes(who))
        (change,) = shop.changes(who)
        assert (change["type"], change["data"]["entitlement"]) == ("entitlement.granted", granted)
        assert change["data"]["names"] == ["pro"] and change["data"]["access"] == without_reasons([shop.access(who, "pro")])
        assert shop.told(who) == [change]

    def test_a_grant_without_an_end_decides_before_a_purchase_with_one(self, shop):
        purchase = Purchase(shop).subscribe()
        granted = grant(shop, purchase.customer, "premium")["grant"]
        assert not {"expiresDate", "standingUntil"} & granted.keys()
        access = shop.access(purchase.customer)
        assert (access["source"], "until" in access, "productId" in access) == ("grant", False, False)
        assert [reason["source"] for reason in access["reasons"]] == ["grant", "app-store"]
        withdraw(shop, purchase.customer, granted["grantId"])
        access = shop.access(purchase.customer)
        assert (access["standing"], access["source"]) == ("active", "app-store")
        last = shop.changes(purchase.customer)[-1]
        assert (last["type"], last["data"]["access"]) == ("entitlement.revoked", without_reasons([access]))

    def test_an_entitlement_that_no_product_gives_can_be_granted(self, shop):
        who = customer()
        assert grant(shop, who, "nothing")["access"][-1]["grantsAccess"]
        assert [each["grantsAccess"] for each in shop.all_access(who)] == [False, False, False, True]

    @pytest.mark.parametrize("reason", ["x", "x" * 1000, "ü" * 500, 'a "quoted"\n\\ line', "\u0000", "😀" * 250], ids=[
        "shortest", "longest", "longest in bytes", "escapes", "zero", "emoji",
    ])  # fmt: skip
    def test_a_reason_is_kept_as_it_is(self, shop, reason):
        who = customer()
        granted = grant(shop, who, reason=reason)["grant"]
        assert granted["reason"] == reason
        assert shop.ask(who).json()["entitlements"][0]["entitlement"]["reason"] == reason

    @pytest.mark.parametrize(("name", "value"), [
        ("entitlement", None), ("entitlement", 1), ("entitlement", ["pro"]), ("entitlement", ""),
        ("reason", None), ("reason", ""), ("reason", "x" * 1001), ("reason", "ü" * 501), ("reason", 7),
        ("expires", "2020-01-01T00:00:00Z"), ("expires", "tomorrow"), ("expires", ""), ("expires", 4_000_000_000_000),
        ("expires", "2099-02-30T00:00:00Z"), ("expires", "2099-01-01"), ("expires", True),
        ("id", ""), ("id", "gr_"), ("id", "gr_" + "A" * 32), ("id", "gr_" + "0" * 31), ("id", "gr_" + "0" * 33),
        ("id", "gx_" + "0" * 32), ("id", "0" * 32), ("id", 5), ("id", "gr_" + "g" * 32), ("id", "gr_" + "0" * 32 + "\n"),
    ], ids=lambda value: repr(value)[:20])  # fmt: skip
    def test_a_member_that_is_wrong_is_named(self, shop, name, value):
        who, body = customer(), {"entitlement": "pro", "reason": "r"} | {name: value}
        if value is None:
            del body[name]
        answer = shop.post(path(who, "grants"), params={"app": "shop"}, json=body)
        assert (answer.status_code, answer.json()["place"]) == (400, f"$.{name}"), answer.text
        assert shop.all_access(who) == NOBODY and not shop.changes(who)

    @pytest.mark.parametrize("body", [b"", b"x", b"[]", b'"pro"', b"null", b'{"entitlement": "pro", "reason": "r"'], ids=str)
    def test_what_is_no_object_is_refused(self, shop, body):
        headers = {"Content-Type": "application/json"}
        answer = shop.post(path(customer(), "grants"), params={"app": "shop"}, data=body, headers=headers)
        assert answer.status_code == 400, answer.text

    @pytest.mark.parametrize(("name", "app"), [("gold", "shop"), ("PRO", "shop"), ("pro ", "shop"), ("pro", "plain")])
    def test_an_unknown_entitlement_is_not_granted(self, shop, name, app):
        who = customer()
        problem = grant(shop, who, name, status=404, app=app)
        assert (problem["code"], problem["place"]) == ("unknown-entitlement", "$.entitlement")
        assert not shop.ask(who, app).json()["entitlements"] and not shop.changes(who, app)

    @pytest.mark.parametrize("who", ["a/b", "a%2Fb", "100%", "日本 ü", "a+b c?d#e", "a&app=keep", "../x", "x/grants/y"])
    def test_a_customer_may_have_any_name(self, shop, who):
        who = f"{who} {uuid.uuid4().hex}"
        answer = grant(shop, who)
        assert answer["customer"] == who and shop.access(who, "pro")["grantsAccess"]
        assert withdraw(shop, who, answer["grant"]["grantId"])["customer"] == who
        assert types(shop, who) == ["granted", "revoked"]

    def test_a_uuid_is_the_same_in_capitals(self, shop):
        who, id = customer(), identifier()
        assert grant(shop, who.upper(), id=id)["customer"] == who
        assert grant(shop, who, id=id, status=200)["access"][1]["grantsAccess"]
        withdraw(shop, who.upper(), id)
        assert types(shop, who) == ["granted", "revoked"]


class TestTheSameAgain:
    @pytest.mark.parametrize("members", [{}, {"expires": text(now() + DAY)}], ids=["for ever", "until"])
    def test_it_is_granted_once(self, shop, members):
        who, id = customer(), identifier()
        first = grant(shop, who, id=id, **members)
        again = grant(shop, who, id=id, status=200, **members)
        assert again == first and first["grant"]["grantId"] == id
        assert types(shop, who) == ["granted"]
        assert [act["act"] for act in acts(shop) if id in act["details"]] == ["grant.create"]

    def test_an_instant_may_be_written_in_another_way(self, shop):
        who, id, until = customer(), identifier(), text((now() // 1000 + 3600) * 1000)
        grant(shop, who, id=id, expires=until)
        grant(shop, who, id=id, expires=until.replace(".000Z", "Z"), status=200)
        grant(shop, who, id=id, expires=until.replace(".000Z", "+00:00"), status=200)
        assert types(shop, who) == ["granted"]

    @pytest.mark.parametrize("fraction", ["", ".5", ".123", ".123456", ".999999999"])
    def test_an_instant_may_be_written_with_any_precision(self, shop, fraction):
        """As `isoformat` of Python writes it, for example."""
        who, id, until = customer(), identifier(), f"2099-01-01T00:00:00{fraction}Z"
        first = grant(shop, who, id=id, expires=until)
        assert grant(shop, who, id=id, expires=until, status=200) == first
        assert types(shop, who) == ["granted"]

    @pytest.mark.parametrize("changes", [
        {"entitlement": "premium"}, {"reason": "another"}, {"expires": text(now() + 2 * DAY)}, {"expires": None},
        {"who": "another customer"},
    ], ids=["another entitlement", "another reason", "another end", "no end", "another customer"])  # fmt: skip
    def test_another_grant_cannot_have_the_identifier(self, shop, changes):
        who, members = customer(), {"id": identifier(), "expires": text(now() + DAY)}
        grant(shop, who, **members)
        other = changes.get("who", who)
        before = shop.ask(other).content
        problem = grant(shop, other, status=409, **members | {name: changes[name] for name in changes if name != "who"})
        assert (problem["code"], problem["place"]) == ("other-grant", "$.id")
        assert who not in json.dumps(problem) and shop.ask(other).content == before
        assert types(shop, who) == ["granted"] and not shop.changes("another customer")

    def test_without_an_identifier_each_is_a_grant_of_its_own(self, shop):
        who = customer()
        ids = [grant(shop, who)["grant"]["grantId"] for _ in range(2)]
        assert ids[0] != ids[1] and {reason["id"] for reason in shop.access(who, "pro")["reasons"]} == set(ids)
        withdraw(shop, who, ids[0])
        assert shop.access(who, "pro")["grantsAccess"]
        withdraw(shop, who, ids[1])
        assert not shop.access(who, "pro")["grantsAccess"]

    def test_what_was_withdrawn_is_not_granted_by_the_same_request(self, shop):
        who, id = customer(), identifier()
        grant(shop, who, id=id)
        withdraw(shop, who, id)
        assert grant(shop, who, id=id, status=200)["grant"]["state"] == "withdrawn"
        assert types(shop, who) == ["granted", "revoked"] and not shop.access(who, "pro")["grantsAccess"]

    def test_another_app_may_use_the_same_identifier(self, shop):
        id, people = identifier(), [customer(), customer()]
        for who, app in zip(people, ("shop", "keep"), strict=True):
            grant(shop, who, id=id, app=app)
        withdraw(shop, people[0], id)
        assert shop.access(people[1], "pro", "keep")["grantsAccess"] and not shop.access(people[0], "pro")["grantsAccess"]


class TestTheEnd:
    def test_a_grant_is_withdrawn_once(self, shop):
        who = customer()
        id = grant(shop, who)["grant"]["grantId"]
        answer = withdraw(shop, who, id, "A mistake, sorry: ä+b/c")
        withdrawn = answer["grant"]
        assert (withdrawn["state"], withdrawn["standing"], withdrawn["grantsAccess"]) == ("withdrawn", "revoked", False)
        assert (withdrawn["withdrawnBy"], withdrawn["withdrawalReason"]) == (shop.key.split("_")[1], "A mistake, sorry: ä+b/c")
        assert withdrawn["standingSince"] == withdrawn["withdrawnDate"] and withdrawn["reason"] == "a reason"
        assert answer["access"] == shop.all_access(who) and answer["access"][1]["standing"] == "revoked"
        # The first time counts.
        assert withdraw(shop, who, id, "another reason")["grant"] == withdrawn
        assert types(shop, who) == ["granted", "revoked"]
        last = shop.changes(who)[-1]["data"]
        assert last["entitlement"] == withdrawn and last["access"] == without_reasons([shop.access(who, "pro")])
        assert [act["act"] for act in acts(shop) if id in act["details"]] == ["grant.create", "grant.withdraw"]

    def test_a_reason_that_is_too_long_withdraws_nothing(self, shop):
        who = customer()
        id = grant(shop, who)["grant"]["grantId"]
        withdraw(shop, who, id, "x" * 1001, status=400)
        assert shop.access(who, "pro")["grantsAccess"]

    @pytest.mark.parametrize("id", ["gr_" + "0" * 32, "gr_", "x", "2000000000000000", "grant%20gr_" + "0" * 32])
    def test_a_grant_that_nobody_has(self, shop, id):
        assert withdraw(shop, customer(), id, status=404)["code"] == "not-found"

    def test_the_grant_of_another_customer_is_not_withdrawn(self, shop):
        who, other = customer(), customer()
        id = grant(shop, who)["grant"]["grantId"]
        before = [shop.ask(each).content for each in (who, other)]
        unknown = withdraw(shop, other, identifier(), status=404)
        assert withdraw(shop, other, id, status=404) == unknown
        assert [shop.ask(each).content for each in (who, other)] == before

    def test_names_that_look_the_same_are_of_two_customers(self, shop):
        """One letter is one code point in one of them, and two in the other."""
        one, other = (f"Ren{letter} {uuid.uuid4().hex}" for letter in ("\u00e9", "e\u0301"))
        other = other[:-32] + one[-32:]
        id = grant(shop, one)["grant"]["grantId"]
        assert shop.access(one, "pro")["grantsAccess"] and shop.all_access(other) == NOBODY
        withdraw(shop, other, id, status=404)
        assert shop.access(one, "pro")["grantsAccess"] and types(shop, one) == ["granted"] and not types(shop, other)
        assert grant(shop, other, id=id, status=409)["code"] == "other-grant"

    def test_a_purchase_is_not_withdrawn(self, shop):
        purchase = Purchase(shop).subscribe()
        withdraw(shop, purchase.customer, purchase.original, status=404)
        assert shop.access(purchase.customer)["grantsAccess"]

    def test_a_grant_expires_by_itself(self, shop):
        who = customer()
        until = text(now() + 2500)
        granted = grant(shop, who, expires=until)["grant"]
        tag = shop.ask(who).headers["ETag"]
        wait(lambda: types(shop, who) == ["granted", "expired"])
        access = shop.access(who, "pro")
        assert (access["standing"], access["since"], access["source"]) == ("expired", until, "grant")
        (owned,) = shop.ask(who, headers={"If-None-Match": tag}).json()["entitlements"]
        assert (owned["entitlement"]["state"], owned["entitlement"]["grantsAccess"]) == ("expired", False)
        data = shop.changes(who)[-1]["data"]
        assert data["entitlement"] == owned["entitlement"] and data["names"] == ["pro"]
        assert data["access"] == without_reasons([access]) and data["entitlement"]["grantId"] == granted["grantId"]
        assert shop.told(who, count=2) == shop.changes(who)

    def test_what_ended_by_itself_stays_so(self, shop):
        """Its access ends once, and so it is told once."""
        who = customer()
        id = grant(shop, who, expires=text(now() + 1500))["grant"]["grantId"]
        wait(lambda: types(shop, who) == ["granted", "expired"])
        withdraw(shop, who, id)
        shop.wait_for_webhooks()
        events = [each["event"]["type"] for each in shop.told(who, "cat", 2)]
        assert events == ["NON_RENEWING_PURCHASE", "EXPIRATION"]

    def test_a_grant_that_outlives_another_takes_over(self, shop):
        who = customer()
        first = grant(shop, who, expires=text(now() + 1500))["grant"]["grantId"]
        second = grant(shop, who, expires=text(now() + DAY))["grant"]["grantId"]
        assert [reason["id"] for reason in shop.access(who, "pro")["reasons"]] == [second, first]
        wait(lambda: types(shop, who) == ["granted", "granted", "expired"])
        data = shop.changes(who)[-1]["data"]
        assert data["entitlement"]["grantId"] == first and data["access"][0]["grantsAccess"]

    def test_the_format_of_revenuecat(self, shop):
        who, until = customer(), now() + DAY
        granted = grant(shop, who, "premium", expires=text(until))["grant"]
        withdraw(shop, who, granted["grantId"])
        events = [each["event"] for each in shop.told(who, "cat", 2)]
        assert [event["type"] for event in events] == ["NON_RENEWING_PURCHASE", "EXPIRATION"]
        for event in events:
            assert (event["store"], event["period_type"], event["entitlement_ids"]) == ("PROMOTIONAL", "PROMOTIONAL", ["premium"])
            assert (event["app_user_id"], event["environment"]) == (who, "PRODUCTION")
            assert event["expiration_at_ms"] == until and abs(event["purchased_at_ms"] - now()) < 600_000
            assert not event["price"] and isinstance(event["product_id"], str) and event["product_id"]
        assert events[0]["transaction_id"] == events[1]["transaction_id"]

    def test_a_customer_who_is_erased_has_no_grant(self, shop):
        who, id = customer(), identifier()
        grant(shop, who, id=id, reason="before")
        assert shop.request("DELETE", f"/v1/customers/{who}", params={"app": "shop"}).status_code == 200
        assert shop.all_access(who) == NOBODY and types(shop, who) == []
        withdraw(shop, who, id, status=404)
        assert shop.get(f"/v1/entitlements/{id}", params={"app": "shop"}).status_code == 404


class TestPermission:
    @pytest.mark.parametrize("scopes", [
        ("verify",), ("read",), ("admin",), ("verify", "read", "admin"), ("client",)
    ], ids="-".join)  # fmt: skip
    def test_another_scope_grants_and_withdraws_nothing(self, shop, scopes):
        who = customer()
        id = grant(shop, who)["grant"]["grantId"]
        app = "shop" if scopes == ("client",) else None
        key = shop.key_for(*scopes, app=app)
        assert grant(shop, who, "premium", status=403, key=key)["code"] == "missing-scope"
        assert withdraw(shop, who, id, status=403, key=key)["code"] == "missing-scope"
        assert types(shop, who) == ["granted"]

    @pytest.mark.parametrize("key", ["", "x", "rk_000000000000_" + "A" * 43])
    def test_without_a_key_nothing_is_granted(self, shop, key):
        grant(shop, customer(), status=401, key=key)
        withdraw(shop, customer(), identifier(), status=401, key=key)

    def test_the_scope_allows_nothing_else(self, shop):
        who, key = customer(), shop.key_for("grant")
        granted = grant(shop, who, key=key)["grant"]
        assert granted["grantedBy"] == key.split("_")[1]
        assert withdraw(shop, who, granted["grantId"], key=key)["grant"]["withdrawnBy"] == key.split("_")[1]
        query = {"app": "shop"}
        for method, route in [
            ("GET", path(who)), ("GET", f"/v1/entitlements/{granted['grantId']}"), ("GET", "/v1/changes"),
            ("GET", "/v1/administrative-acts"), ("GET", "/v1/keys"), ("DELETE", f"/v1/customers/{who}"),
            ("POST", path(who, "receipts")),
        ]:  # fmt: skip
            assert shop.request(method, route, key=key, params=query).status_code == 403, route

    def test_a_client_s_key_cannot_have_the_scope(self, shop):
        answer = shop.post("/v1/keys", json={"name": "both", "scopes": ["client", "grant"], "app": "shop"})
        assert answer.status_code == 400, answer.text

    def test_a_key_of_another_app_grants_and_sees_nothing(self, shop):
        who, id = customer(), identifier()
        grant(shop, who, id=id)
        key = shop.key_for("grant", "read", app="keep")
        for app in ("shop", "nobody"):
            answer = shop.post(path(who, "grants"), params={"app": app}, key=key, json={"entitlement": "pro", "reason": "r"})
            assert answer.status_code in (403, 404)
        withdraw(shop, who, id, status=404, key=key)
        assert shop.get(f"/v1/entitlements/{id}", key=key).status_code == 404
        assert shop.get(f"/v1/entitlements/{id}/history", key=key).status_code == 404
        # In its own app the identifier is free.
        assert shop.post(path(who, "grants"), key=key, json={"entitlement": "pro", "reason": "r", "id": id}).status_code == 201
        assert shop.request("DELETE", f"{path(who, 'grants')}/{id}", key=key, params={"reason": "r"}).status_code == 200
        assert shop.access(who, "pro")["grantsAccess"] and types(shop, who) == ["granted"]

    def test_acts_name_the_grant_and_not_the_customer(self, shop):
        who, before = f"the customer {uuid.uuid4().hex}", acts(shop)
        key = shop.key_for("grant")
        id = grant(shop, who, reason="a private matter", key=key)["grant"]["grantId"]
        withdraw(shop, who, id, "another private matter", key=key)
        new = [act for act in acts(shop)[len(before):] if act["act"].startswith("grant.")]
        assert [(act["act"], act["actor"], id in act["details"]) for act in new] == [
            ("grant.create", key.split("_")[1], True), ("grant.withdraw", key.split("_")[1], True)
        ]  # fmt: skip
        assert who not in json.dumps(new) and "private" not in json.dumps(new)

    def test_what_fails_is_no_act(self, shop):
        who, id = customer(), identifier()
        grant(shop, who, id=id)
        before = acts(shop)
        grant(shop, who, id=id, status=200)
        grant(shop, who, id=id, reason="another", status=409)
        grant(shop, who, "gold", status=404)
        withdraw(shop, customer(), id, status=404)
        assert acts(shop) == before


# MARK: Failures


@pytest.mark.long
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_kills_while_grants_are_made_lose_and_double_none(tmp_path, request, store, kind):
    """Four clients grant, each with identifiers, and try again until they are answered."""
    database = request.getfixturevalue("postgresql_server") if kind == "postgresql" else None
    shop = Shop(tmp_path, store, database, f"kill_{uuid.uuid4().hex[:8]}", {"shop": APPS["shop"]})
    shop.settings["listen.port"] = str(free_port())
    shop.start()
    statuses: dict[str, list[int]] = collections.defaultdict(list)
    people, over = [f"customer-{number}" for number in range(4)], threading.Event()
    url, key, generator = shop.url, shop.key, random.Random(11)

    def ask(session: requests.Session, who: str, body: dict) -> int:
        """The status of the answer; 0 where there is none."""
        try:
            headers = {"Authorization": f"Bearer {key}"}
            return session.post(f"{url}{path(who, 'grants')}", json=body, headers=headers, timeout=30).status_code
        except requests.RequestException:
            return 0

    def run(who: str):
        session = requests.Session()
        while not over.is_set():
            body = {"entitlement": "pro", "reason": "a reason", "id": identifier()}
            while not {200, 201} & set(statuses[body["id"]]):
                statuses[body["id"]].append(ask(session, who, body))
                if not statuses[body["id"]][-1]:
                    time.sleep(0.01)

    with concurrent.futures.ThreadPoolExecutor(len(people)) as pool:
        clients = [pool.submit(run, who) for who in people]
        try:
            for _ in range(4):
                count = len(statuses)
                wait(lambda count=count: len(statuses) > count + 12)
                time.sleep(generator.uniform(0, 0.05))
                shop.end(signal.SIGKILL)
                shop.start()
        finally:
            over.set()
        for client in clients:
            client.result(timeout=60)
    assert set().union(*statuses.values()) <= {0, 200, 201, 503}
    assert max(found.count(201) for found in statuses.values()) == 1
    # Something was underway each time.
    assert [found for found in statuses.values() if 0 in found]
    told = [change for who in people for change in shop.changes(who)]
    assert collections.Counter(change["data"]["entitlement"]["grantId"] for change in told) == dict.fromkeys(statuses, 1)
    assert {change["type"] for change in told} == {"entitlement.granted"}
    owned = [each["entitlement"]["grantId"] for who in people for each in shop.ask(who).json()["entitlements"]]
    assert collections.Counter(owned) == dict.fromkeys(statuses, 1)
    recorded = [act["details"].split()[0] for act in acts(shop) if act["act"] == "grant.create"]
    assert collections.Counter(recorded) == dict.fromkeys(statuses, 1)
    for who in people:
        for reason in shop.access(who, "pro")["reasons"][:3]:
            assert grant(shop, who, id=reason["id"], status=200)["grant"]["grantId"] == reason["id"]
    shop.stop()


@pytest.fixture(scope="module")
def pair(tmp_path_factory, store, postgresql_server):
    """Two processes on one database."""
    folder, schema = tmp_path_factory.mktemp("pair"), f"pair_{uuid.uuid4().hex[:8]}"
    first = Shop(folder, store, postgresql_server, schema, {"shop": APPS["shop"]})
    first.start()
    second = first.begin_another()
    yield first, second
    assert second.end() == 0
    first.stop()


def at_once(*calls) -> list:
    """Calls all at the same time, each in a thread of its own."""
    barrier = threading.Barrier(len(calls))

    def call(function):
        barrier.wait(30)
        return function()

    with concurrent.futures.ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(call, calls))


def asked(server, method: str, route: str, **arguments) -> requests.Response:
    """A request in a connection of its own."""
    headers = {"Authorization": f"Bearer {server.key}"}
    return requests.request(method, server.url + route, params={"app": "shop"}, headers=headers, timeout=60, **arguments)


class TestTwoServers:
    @pytest.mark.parametrize("others", [False, True], ids=["the same", "others"])
    def test_of_grants_with_one_identifier_one_is_made(self, pair, others):
        for _ in range(5):
            who, id = customer(), identifier()
            bodies = [{"entitlement": "pro", "reason": f"of {number * others}", "id": id} for number in range(6)]
            answers = at_once(*(
                lambda server=pair[number % 2], body=body, who=who: asked(server, "POST", path(who, "grants"), json=body)
                for number, body in enumerate(bodies)
            ))  # fmt: skip
            statuses = sorted(answer.status_code for answer in answers)
            assert statuses == ([201] + [409] * 5 if others else [200] * 5 + [201])
            (made,) = [answer.json()["grant"] for answer in answers if answer.status_code == 201]
            assert types(pair[0], who) == ["granted"]
            (owned,) = pair[1].ask(who).json()["entitlements"]
            assert owned["entitlement"] == made
            assert [act["act"] for act in acts(pair[0]) if id in act["details"]] == ["grant.create"]

    def test_a_grant_is_withdrawn_once(self, pair):
        for _ in range(5):
            who = customer()
            id = grant(pair[0], who)["grant"]["grantId"]
            route = f"{path(who, 'grants')}/{id}"
            answers = at_once(*(
                lambda server=server, number=number, route=route: asked(server, "DELETE", f"{route}?reason=r{number}")
                for number, server in enumerate(pair * 2)
            ))  # fmt: skip
            assert {answer.status_code for answer in answers} == {200}
            assert len({json.dumps(answer.json()["grant"]) for answer in answers}) == 1
            assert types(pair[0], who) == ["granted", "revoked"]
            assert [act["act"] for act in acts(pair[1]) if id in act["details"]] == ["grant.create", "grant.withdraw"]

    def test_the_last_change_says_what_the_customer_has(self, pair):
        """Grants, withdrawals, expiries and purchases of one customer, in both processes at once."""
        first = pair[0]
        for round in range(3):
            who = customer()
            before = [grant(first, who, name)["grant"]["grantId"] for name in ("premium", "pro", "premium", "pro")]
            calls = []
            for number in range(8):
                server, name = pair[number % 2], ("premium", "pro")[number // 2 % 2]
                calls.append(lambda server=server, name=name, number=number, route=path(who, "grants"): asked(
                    server, "POST", route,
                    json={"entitlement": name, "reason": "r", "expires": text(now() + 1500 + 50 * number)},
                ))  # fmt: skip
            for number, id in enumerate(before):
                route = f"{path(who, 'grants')}/{id}?reason=r"
                calls.append(lambda server=pair[number % 2], route=route: asked(server, "DELETE", route))
            if round % 2:
                purchase = Purchase(first, appAccountToken=who, productId=YEARLY)
                calls.append(lambda purchase=purchase: purchase.subscribe(expiresDate=now() + DAY))
            for answer in at_once(*calls):
                assert getattr(answer, "status_code", 200) in (200, 201)
            wait(lambda who=who: types(first, who).count("expired") == 8)
            changes = pair[1].changes(who)
            assert collections.Counter(change["type"] for change in changes) == {
                "entitlement.granted": 12 + round % 2, "entitlement.revoked": 4, "entitlement.expired": 8
            }  # fmt: skip
            last = {access["name"]: access for change in changes for access in change["data"]["access"]}
            access = without_reasons(first.all_access(who))
            assert [last["premium"], last["pro"]] == access[:2]
            assert [each["grantsAccess"] for each in access[:2]] == [bool(round % 2)] * 2
            assert access == without_reasons(pair[1].all_access(who))

    def test_both_processes_have_one_tag(self, pair):
        who = Purchase(pair[0]).subscribe().customer
        tag = pair[0].ask(who).headers["ETag"]
        assert pair[1].ask(who, headers={"If-None-Match": tag}).status_code == 304
        grant(pair[1], who)
        assert pair[0].ask(who, headers={"If-None-Match": tag}).status_code == 200
