# SPDX-License-Identifier: Apache-2.0
"""Signed entitlements of receipt-server: tokens that an app can verify by itself with the published keys, as an implementation
that shares nothing with the server does; how long they are good; how keys are changed; and what is refused."""

import base64
import email.utils
import hashlib
import json
import time
import uuid

import pytest
import requests
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from google.auth import jwt

from independent.jws import base64url, from_base64url
from service import Service
from test_client_verify_receipt import now
from test_named_entitlements import DAY, NAMES, YEARLY, Shop, customer, nameless, path, text, wait, without_reasons
from test_service_settings import checked, configuration
from test_service_stores import free_port
from test_webhooks_revenuecat import NO_SUBSCRIPTION, Purchase

pytestmark = pytest.mark.server

JWT = {"Accept": "application/jwt"}
PUBLIC = "https://receipts.example.com"
# The apps, with the settings by which each differs. `narrow` is another app of the same key.
APPS = {
    "shop": {"signingKeys": ["first.pem"]}, "brief": {"signingKeys": ["second.pem"], "entitlementTokenLifetime": 60},
    "long": {"signingKeys": ["first.pem", "second.pem"], "entitlementTokenLifetime": 31 * 86_400}, "unsigned": {},
    "plain": {"entitlements": None, "entitlement": None},
}  # fmt: skip


def pem(key, form=serialization.PrivateFormat.PKCS8, protection=None) -> bytes:
    return key.private_bytes(serialization.Encoding.PEM, form, protection or serialization.NoEncryption())


def thumbprint(key: dict) -> str:
    """The identifier of a key (RFC 7638 section 3)."""
    required = {name: key[name] for name in ("crv", "kty", "x", "y")}
    return base64url(hashlib.sha256(json.dumps(required, separators=(",", ":"), sort_keys=True).encode()).digest())


def public_key(key: dict) -> ec.EllipticCurvePublicKey:
    x, y = (int.from_bytes(from_base64url(key[name])) for name in "xy")
    return ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()


def keys_of(service: Service, app="shop") -> list[dict]:
    answer = service.get(f"/v1/apps/{app}/jwks.json", key="")
    assert answer.status_code == 200, answer.text
    return answer.json()["keys"]


def read(token: str, keys: list[dict]) -> tuple[dict, dict]:
    """The header and the claims of a token, verified with the key that it names."""
    header, claims, signature = token.split(".")
    fields = json.loads(from_base64url(header))
    (key,) = [key for key in keys if key["kid"] == fields["kid"]]
    raw = from_base64url(signature)
    assert len(raw) == 64
    der = encode_dss_signature(int.from_bytes(raw[:32]), int.from_bytes(raw[32:]))
    public_key(key).verify(der, f"{header}.{claims}".encode(), ec.ECDSA(hashes.SHA256()))
    return fields, json.loads(from_base64url(claims))


@pytest.fixture(scope="module")
def private_keys() -> list[ec.EllipticCurvePrivateKey]:
    return [ec.generate_private_key(ec.SECP256R1()) for _ in range(3)]


@pytest.fixture(scope="module")
def shop(tmp_path_factory, store, private_keys):
    shop = Shop(tmp_path_factory.mktemp("signed"), store, apps=APPS)
    for name, key in zip(("first.pem", "second.pem", "third.pem"), private_keys, strict=True):
        (shop.folder / name).write_bytes(pem(key))
    shop.settings |= {"public.url": PUBLIC}
    shop.start()
    yield shop
    shop.stop()


def signed(shop, who: str, app="shop", **headers) -> requests.Response:
    return shop.ask(who, app, headers=JWT | headers)


class TestTokens:
    def test_a_token_says_what_the_other_answer_says_without_reasons(self, shop):
        purchase = Purchase(shop, productId=YEARLY).subscribe()
        before = int(time.time())
        answer = signed(shop, purchase.customer)
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/jwt")
        (key,) = keys_of(shop)
        header, claims = read(answer.text, [key])
        assert header == {"alg": "ES256", "kid": thumbprint(key), "typ": "entitlements+jwt"}
        assert {"iss", "sub", "aud", "iat", "exp", "entitlements"} == claims.keys()
        assert (claims["iss"], claims["sub"], claims["aud"]) == (PUBLIC, purchase.customer, "shop")
        assert before <= claims["iat"] <= time.time() and isinstance(claims["iat"], int)
        assert claims["exp"] == claims["iat"] + 86_400
        assert claims["entitlements"] == without_reasons(shop.all_access(purchase.customer))
        assert [each["grantsAccess"] for each in claims["entitlements"]] == [True, True, False, False]

    def test_another_library_verifies_it(self, shop):
        purchase = Purchase(shop).subscribe()
        token = signed(shop, purchase.customer).text
        form = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        certificates = {key["kid"]: public_key(key).public_bytes(*form) for key in keys_of(shop)}
        assert jwt.decode(token, certificates, audience="shop")["sub"] == purchase.customer
        head, claims, signature = token.split(".")
        forged = json.loads(from_base64url(claims))
        forged["entitlements"][1]["grantsAccess"] = True
        for altered, audience in [
            (f"{head}.{base64url(json.dumps(forged).encode())}.{signature}", "shop"), (token, "brief"),
        ]:  # fmt: skip
            with pytest.raises(ValueError):
                jwt.decode(altered, certificates, audience=audience)

    def test_a_customer_whom_nobody_knows_has_a_token_too(self, shop):
        who = customer()
        _, claims = read(signed(shop, who).text, keys_of(shop))
        assert claims["entitlements"] == [{"name": name, "standing": "none", "grantsAccess": False} for name in NAMES]

    @pytest.mark.parametrize(("app", "lifetime"), [("shop", 86_400), ("brief", 60), ("long", 2_678_400)])
    def test_a_token_lives_as_long_as_its_app_says(self, shop, app, lifetime):
        _, claims = read(signed(shop, customer(), app).text, keys_of(shop, app))
        assert (claims["exp"] - claims["iat"], claims["aud"]) == (lifetime, app)

    @pytest.mark.parametrize("who", ["a/b", "日本 ü", 'quotes "of" \\', "6B2B7F0E-2F0A-4C0E-9D6A-0A8F3C1D2E4B"])
    def test_the_subject_is_the_customer(self, shop, who):
        shop.present(who, nameless(shop).period())
        _, claims = read(signed(shop, who).text, keys_of(shop))
        owned = shop.ask(who).json()["entitlements"]
        assert claims["entitlements"][0]["grantsAccess"]
        # The letters of a UUID may be capitals.
        assert claims["sub"] == who or claims["sub"] == owned[0]["customer"] == who.lower()

    def test_grants_and_purchases_in_it_are_those_of_the_answer(self, shop):
        purchase = Purchase(shop, productId="com.example.app.pro", type="Non-Consumable", **NO_SUBSCRIPTION)
        purchase.tell("ONE_TIME_CHARGE", purchase.period())
        body = {"entitlement": "early", "reason": "a secret of ours", "expires": text(now() + DAY)}
        assert shop.post(path(purchase.customer, "grants"), params={"app": "shop"}, json=body).status_code == 201
        token = signed(shop, purchase.customer).text
        _, claims = read(token, keys_of(shop))
        found = {each["name"]: each for each in claims["entitlements"]}
        assert found["early"] == {
            "name": "early", "standing": "active", "grantsAccess": True, "since": found["early"]["since"],
            "until": body["expires"], "source": "grant",
        }  # fmt: skip
        assert (found["pro"]["source"], found["pro"]["productId"]) == ("app-store", purchase.changes["productId"])
        assert "until" not in found["pro"]
        # Apps carry it, so that it has nothing that only the backend should know.
        readable = from_base64url(token.split(".")[1]).decode()
        assert body["reason"] not in readable and purchase.original not in readable

    @pytest.mark.parametrize(("scopes", "status"), [(("read",), 200), (("verify", "admin", "grant"), 403), ((), 401)])
    def test_a_key_needs_the_scope_read(self, shop, scopes, status):
        key = shop.key_for(*scopes) if scopes else ""
        answer = shop.ask(customer(), key=key, headers=JWT)
        assert answer.status_code == status
        assert (answer.headers["Content-Type"] == "application/jwt") == (status == 200)

    @pytest.mark.parametrize("accept", ["application/json", "*/*", "text/html, application/json;q=0.9"])
    def test_who_wants_json_is_not_answered_a_token(self, shop, accept):
        answer = shop.ask(customer(), headers={"Accept": accept})
        assert answer.headers["Content-Type"] == "application/json" and answer.json()["type"] == "entitlements"

    @pytest.mark.parametrize("accept", [
        "application/jwt", "Application/JWT", "application/jwt;q=0.9, application/problem+json;q=0.5",
        "application/problem+json, application/jwt",
    ])  # fmt: skip
    def test_who_wants_a_token_is_answered_one(self, shop, accept):
        answer = shop.ask(customer(), headers={"Accept": accept})
        assert answer.headers["Content-Type"] == "application/jwt"

    @pytest.mark.parametrize("accept", ["application/json, application/jwt;q=0", "application/jwtx, application/json"])
    def test_who_wants_no_token_is_answered_none(self, shop, accept):
        answer = shop.ask(customer(), headers={"Accept": accept})
        assert answer.headers["Content-Type"] == "application/json"

    @pytest.mark.parametrize("app", ["unsigned", "plain"])
    def test_an_app_without_keys_signs_nothing(self, shop, app):
        answer = signed(shop, customer(), app)
        assert (answer.status_code, answer.json()["code"]) == (406, "no-signing-key")
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert shop.ask(customer(), app).status_code == 200


class TestConditionalRequests:
    def test_a_token_is_good_while_nothing_changes(self, shop):
        who = Purchase(shop).subscribe().customer
        answer = signed(shop, who)
        tag = answer.headers["ETag"]
        assert tag.startswith('W/"')
        assert (answer.headers["Cache-Control"], answer.headers["Vary"]) == ("private, no-cache", "Accept, Authorization")
        for form in ("{}", '"x", {}', "*"):
            again = signed(shop, who, **{"If-None-Match": form.format(tag)})
            assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", tag)
        assert signed(shop, who, **{"If-None-Match": 'W/"x"'}).status_code == 200

    def test_the_tag_is_not_that_of_the_other_answer_nor_of_another_customer_or_app(self, shop):
        who = customer()
        token, plain = signed(shop, who), shop.ask(who)
        others = [signed(shop, customer()), signed(shop, who, "long"), signed(shop, who, "brief"), plain]
        tags = [answer.headers["ETag"].removeprefix("W/") for answer in (token, *others)]
        assert len(set(tags)) == len(tags)
        assert shop.ask(who, headers={"If-None-Match": token.headers["ETag"]}).status_code == 200
        assert signed(shop, who, **{"If-None-Match": plain.headers["ETag"]}).status_code == 200

    def test_a_change_makes_another_token(self, shop):
        purchase = Purchase(shop)
        tags = [signed(shop, purchase.customer).headers["ETag"]]
        purchase.subscribe()
        for change in (
            lambda: None, lambda: purchase.tell("DID_RENEW", purchase.period(2)),
            lambda: purchase.tell("REFUND", purchase.period(2, revocationDate=now(), revocationReason=0)),
        ):  # fmt: skip
            change()
            answer = signed(shop, purchase.customer, **{"If-None-Match": ", ".join(tags)})
            assert answer.status_code == 200
            tags.append(answer.headers["ETag"])
            _, claims = read(answer.text, keys_of(shop))
            assert claims["entitlements"] == without_reasons(shop.all_access(purchase.customer))
        assert claims["entitlements"][0]["standing"] == "refunded"

    def test_a_token_is_replaced_when_what_it_says_ends(self, shop):
        purchase = Purchase(shop).subscribe(expiresDate=now() + 3000)
        purchase.tell("DID_CHANGE_RENEWAL_STATUS", purchase.bought, {"autoRenewStatus": 0})
        first = signed(shop, purchase.customer)
        until = read(first.text, keys_of(shop))[1]["entitlements"][0]["until"]
        assert until == text(purchase.bought["expiresDate"])
        again = wait(lambda: (answer := signed(
            shop, purchase.customer, **{"If-None-Match": first.headers["ETag"]})).status_code == 200 and answer)  # fmt: skip
        assert read(again.text, keys_of(shop))[1]["entitlements"][0]["standing"] == "expired"

    @pytest.mark.long
    def test_a_token_is_replaced_after_half_of_its_life_at_the_latest(self, shop):
        """Whoever is told that their token is current can use it for the other half."""
        who, lifetime = customer(), 60
        answer = signed(shop, who, "brief")
        issued = read(answer.text, keys_of(shop, "brief"))[1]["iat"]
        while (again := signed(shop, who, "brief", **{"If-None-Match": answer.headers["ETag"]})).status_code == 304:
            # By the server's clock, whose seconds are cut off.
            assert email.utils.parsedate_to_datetime(again.headers["Date"]).timestamp() <= issued + lifetime / 2 + 1
            time.sleep(0.5)
        assert read(again.text, keys_of(shop, "brief"))[1]["iat"] > issued


class TestKeys:
    def test_all_keys_of_an_app_are_published_and_nothing_secret(self, shop, private_keys):
        answer = shop.get("/v1/apps/long/jwks.json", key="")
        assert answer.headers["Content-Type"] == "application/jwk-set+json"
        found = answer.json()["keys"]
        assert list(answer.json()) == ["keys"]
        for key in found:
            assert set(key) == {"kty", "crv", "x", "y", "kid", "alg", "use"}
            assert (key["kty"], key["crv"], key["alg"], key["use"]) == ("EC", "P-256", "ES256", "sig")
            assert key["kid"] == thumbprint(key) and len(from_base64url(key["x"])) == len(from_base64url(key["y"])) == 32
        numbers = [public_key(key).public_numbers() for key in found]
        assert set(numbers) == {key.public_key().public_numbers() for key in private_keys[:2]} and len(numbers) == 2

    def test_the_keys_need_no_key_and_no_scope(self, shop):
        for key in ("", "x", shop.key_for("verify", app="unsigned")):
            assert shop.get("/v1/apps/shop/jwks.json", key=key).status_code == 200

    def test_each_app_has_its_own(self, shop):
        first, second = (keys_of(shop, app) for app in ("shop", "brief"))
        assert sorted(keys_of(shop, "long"), key=str) == sorted(first + second, key=str) and first != second
        _, claims = read(signed(shop, customer(), "long").text, first)
        assert claims["aud"] == "long"

    @pytest.mark.parametrize("app", ["unsigned", "plain", "nobody", "shop%2F", "SHOP", "a" * 300])
    def test_where_there_are_none(self, shop, app):
        answer = shop.get(f"/v1/apps/{app}/jwks.json", key="")
        assert answer.status_code == 404 and "keys" not in answer.json()

    def test_the_set_is_not_sent_again(self, shop):
        answer = shop.get("/v1/apps/shop/jwks.json", key="")
        again = shop.get("/v1/apps/shop/jwks.json", key="", headers={"If-None-Match": answer.headers["ETag"]})
        assert (again.status_code, again.content) == (304, b"")

    def test_a_new_key_signs_and_the_old_one_is_good_until_it_is_removed(self, tmp_path, store, private_keys):
        shop = Shop(tmp_path, store, apps={"shop": {"signingKeys": ["a.pem"]}})
        for name, key in zip(("a.pem", "b.pem"), private_keys, strict=False):
            (shop.folder / name).write_bytes(pem(key))
        shop.settings["listen.port"] = str(free_port())
        who, tokens, tags = customer(), [], []
        for files in (["a.pem"], ["b.pem", "a.pem"], ["b.pem"]):
            shop.apps["shop"]["signingKeys"] = files
            shop.configure(lambda configuration: configuration["app"].update(shop=shop.settings_of("shop")))
            shop.start()
            answer = signed(shop, who, **({"If-None-Match": tags[-1]} if tags else {}))
            # The same key again, and nothing changed.
            assert answer.status_code == (304 if files == ["b.pem"] else 200)
            if answer.status_code == 200:
                tokens.append(answer.text)
            tags.append(answer.headers["ETag"])
            keys = keys_of(shop)
            assert [thumbprint(key) for key in keys] == [key["kid"] for key in keys] and len(keys) == len(files)
            # What is new is signed with the first.
            signer = [key for key in keys if public_key(key) == private_keys["ab".index(files[0][0])].public_key()]
            assert read(signed(shop, who).text, signer)[1]["sub"] == who
            for token in tokens[-len(files):]:
                # Without public.url nobody is named as the issuer.
                assert "iss" not in read(token, keys)[1]
            if files == ["b.pem"]:
                with pytest.raises(ValueError):
                    read(tokens[0], keys)
            assert shop.end() == 0
        shop.stop()

    @pytest.mark.parametrize("form", [
        serialization.PrivateFormat.PKCS8, serialization.PrivateFormat.TraditionalOpenSSL
    ], ids=["PKCS 8", "SEC 1"])  # fmt: skip
    def test_both_forms_of_a_file_are_read(self, development, form):
        key = ec.generate_private_key(ec.SECP256R1())
        ended = check(development, pem(key, form))
        assert ended.returncode == 0, ended


@pytest.fixture(scope="module")
def development(tmp_path_factory):
    """A folder for development, in which nothing is stored yet."""
    folder = tmp_path_factory.mktemp("settings") / "data"
    Service(folder).prepare()
    return folder


def check(folder, key: bytes | None, **settings):
    """Checks the configuration of an app that names an entitlement and signs with the key in a file."""
    changed = configuration(folder)
    app = changed["app"]["demo"]
    app |= {"entitlements": ["premium"], "entitlement": {"premium": {"products": ["p"]}}, "signingKeys": ["key of ours.pem"]}
    file = folder / "key of ours.pem"
    file.unlink(missing_ok=True)
    if key is not None:
        file.write_bytes(key)
    app |= settings
    return checked(folder, {**changed, "app": {"demo": {name: value for name, value in app.items() if value is not None}}})


P256 = ec.generate_private_key(ec.SECP256R1())
PASSWORD = serialization.BestAvailableEncryption(b"password")
PUBLIC_FORM = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
NO_KEYS = {
    "RSA": pem(rsa.generate_private_key(65537, 2048)), "P-384": pem(ec.generate_private_key(ec.SECP384R1())),
    "P-521": pem(ec.generate_private_key(ec.SECP521R1())), "secp256k1": pem(ec.generate_private_key(ec.SECP256K1())),
    "Ed25519": pem(ed25519.Ed25519PrivateKey.generate()), "a public key": P256.public_key().public_bytes(*PUBLIC_FORM),
    "encrypted": pem(P256, protection=PASSWORD), "empty": b"", "no PEM": base64.b64encode(b"no key"), "missing": None,
}  # fmt: skip


@pytest.mark.parametrize("case", NO_KEYS)
def test_a_file_without_a_key_that_signs_is_refused_at_the_start(development, case):
    ended = check(development, NO_KEYS[case])
    assert ended.returncode == 65 and "app.demo.signingKeys" in ended.stderr and "key of ours.pem" in ended.stderr, ended


@pytest.mark.parametrize(("settings", "name"), [
    ({"entitlements": None, "entitlement": None}, "signingKeys"),
    ({"signingKeys": None, "entitlementTokenLifetime": 3600}, "entitlementTokenLifetime"),
    *(({"entitlementTokenLifetime": value}, "entitlementTokenLifetime") for value in (59, 2_678_401, 0, "1h")),
    (dict.fromkeys(["signingKeys", "entitlements", "entitlement"]) | {"entitlementTokenLifetime": 60}, "entitlementToken"),
], ids=["no entitlements", "no keys", "too short", "too long", "zero", "an hour", "nothing"])  # fmt: skip
def test_settings_without_effect_are_refused_at_the_start(development, settings, name):
    ended = check(development, pem(P256), **settings)
    assert ended.returncode == 65 and f"app.demo.{name}" in ended.stderr, ended


@pytest.mark.parametrize("lifetime", [60, 2_678_400])
def test_the_shortest_and_the_longest_life_are_accepted(development, lifetime):
    assert check(development, pem(P256), entitlementTokenLifetime=lifetime).returncode == 0


def test_a_server_for_development_signs(tmp_path):
    """As it is, without a setting."""
    service = Service(tmp_path / "data").start()
    who = str(uuid.uuid4())
    answer = service.get(path(who), headers=JWT)
    _, claims = read(answer.text, keys_of(service, "demo"))
    assert (claims["sub"], claims["aud"], claims["entitlements"][0]["standing"]) == (who, "demo", "none")
    assert service.end() == 0
