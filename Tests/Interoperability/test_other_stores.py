# SPDX-License-Identifier: Apache-2.0
"""Purchases of Google Play and Huawei: the tool against openssl, and against real purchases."""

import base64
import json
import subprocess

import pytest

import samples
from tool import INVALID, USAGE, VALID

PACKAGE = "com.example.app"
PLAY = {
    "orderId": "GPA.1234-5678-9012-34567",
    "packageName": PACKAGE,
    "productId": "coins",
    "purchaseTime": 1759302550000,
    "purchaseState": 0,
    "purchaseToken": "token.AO-J1Oz",
    "quantity": 1,
    "obfuscatedAccountId": "account-1",
}
HUAWEI = {
    "orderId": "1.100",
    "packageName": PACKAGE,
    "applicationId": 100,
    "productId": "monthly",
    "purchaseTime": 1759302550000,
    "purchaseState": 0,
    "purchaseToken": "token.100",
    "productName": "会员",
    "expirationDate": 1761980950000,
}
LICENSE = "0|-42|com.example.app|21|user==|1759302550000:VT=1761980950000"
PSS = ("-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:32")


def openssl(*arguments, data: bytes = b"") -> bytes:
    return subprocess.run(["openssl", *map(str, arguments)], input=data, capture_output=True, check=True).stdout


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    """A key of openssl's, and its public part as consoles, PEM and DER have it."""
    folder = tmp_path_factory.mktemp("key")
    openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", folder / "key.pem")
    openssl("pkey", "-in", folder / "key.pem", "-pubout", "-out", folder / "public.pem")
    openssl("pkey", "-in", folder / "key.pem", "-pubout", "-outform", "DER", "-out", folder / "public.der")
    (folder / "public.txt").write_bytes(base64.b64encode((folder / "public.der").read_bytes()))
    return folder


def signed(key, data: str, digest: str = "-sha1", *options, **members) -> bytes:
    signature = openssl("dgst", digest, *options, "-sign", key / "key.pem", data=data.encode())
    return json.dumps({"data": data, "signature": base64.b64encode(signature).decode(), **members}).encode()


def compact(value) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


@pytest.mark.parametrize("form", ["public.pem", "public.der", "public.txt"])
def test_what_openssl_signs_is_valid(receipt_tool, key, form):
    play, huawei = f"--play-key={PACKAGE}={key / form}", f"--huawei-key={PACKAGE}={key / form}"
    verdict = receipt_tool.accepts(signed(key, compact(PLAY)), play)
    assert verdict["format"] == "google-play-purchase"
    assert verdict["assurance"] == "app-key"
    assert verdict["signer"]["involvesSha1"] is True
    assert "rootSha256" not in verdict["signer"] and "environment" not in verdict
    assert verdict["obfuscatedAccountId"] == "account-1"
    assert samples.stated(verdict["transactions"]) == [
        {
            "transactionId": PLAY["orderId"],
            "productId": "coins",
            "quantity": 1,
            "purchaseDate": "2025-10-01T07:09:10.000Z",
            "appAccountToken": "account-1",
            "purchaseToken": PLAY["purchaseToken"],
        }
    ]
    verdict = receipt_tool.accepts(signed(key, compact(HUAWEI), "-sha256"), huawei)
    assert verdict["format"] == "huawei-purchase" and verdict["environment"] == "Production"
    assert verdict["transactions"][0]["expiresDate"] == "2025-11-01T07:09:10.000Z"
    receipt_tool.accepts(
        signed(key, compact(HUAWEI), "-sha256", *PSS, signatureAlgorithm="SHA256WithRSA/PSS"), huawei
    )
    verdict = receipt_tool.accepts(signed(key, LICENSE), play)
    assert verdict["format"] == "google-play-license"
    assert verdict["license"]["isLicensed"] is True and verdict["license"]["nonce"] == -42


def test_what_the_tool_signs_openssl_verifies(receipt_tool, tmp_path):
    cases = [
        ("rsa2048-sha1", "google-play-purchase", PLAY, ("-sha1",), []),
        ("rsa3072-sha256", "huawei-purchase", HUAWEI, ("-sha256",), []),
        ("rsa3072-sha256", "huawei-purchase", HUAWEI, ("-sha256", *PSS), ["--pss"]),
        ("rsa2048-sha1", "google-play-license", {"packageName": PACKAGE, "nonce": 7, "userId": "u"}, ("-sha1",), []),
    ]
    for number, (algorithm, form, content, digest, options) in enumerate(cases):
        identity = tmp_path / str(number)
        run = receipt_tool.run("identity", "create", identity, "--algorithm", algorithm, "--json")
        assert run.code == VALID, run.err
        assert sorted(path.name for path in identity.iterdir()) == ["key.pem", "public-key.txt"]
        public = tmp_path / f"{number}.pem"
        der = base64.b64decode((identity / "public-key.txt").read_text())
        public.write_bytes(openssl("pkey", "-pubin", "-inform", "DER", data=der))
        document = tmp_path / f"{number}.json"
        document.write_text(json.dumps(content))
        run = receipt_tool.run("sign", "--identity", identity, "--format", form, *options, document)
        assert run.code == VALID, run.err
        receipt = json.loads(run.out)
        signature = tmp_path / f"{number}.sig"
        signature.write_bytes(base64.b64decode(receipt["signature"]))
        out = openssl("dgst", *digest, "-verify", public, "-signature", signature, data=receipt["data"].encode())
        assert out == b"Verified OK\n"
        store = "huawei" if form.startswith("huawei") else "play"
        option = f"--{store}-key={PACKAGE}={identity / 'public-key.txt'}"
        assert receipt_tool.accepts(run.out, option)["format"] == form
        shown = receipt_tool.run("identity", "show", identity, "--json").lines[0]
        assert shown["certificates"] == [] and base64.b64decode(shown["publicKey"]) == der


def test_data_and_signature_come_in_two_files(receipt_tool, key, tmp_path):
    data = compact(PLAY)
    receipt = json.loads(signed(key, data))
    (tmp_path / "data").write_text(data)
    (tmp_path / "signature").write_text(receipt["signature"] + "\n")
    apart = ["--data", tmp_path / "data", "--signature", tmp_path / "signature"]
    option = f"--play-key={PACKAGE}={key / 'public.txt'}"
    run = receipt_tool.run("verify", "--json", option, *apart)
    assert run.code == VALID and run.lines[0]["verdict"] == "valid", run.out
    shown = receipt_tool.run("inspect", "--json", *apart).lines[0]
    assert shown["format"] == "google-play-purchase" and shown["data"]["orderId"] == PLAY["orderId"]
    (tmp_path / "data").write_text(data + "\n")
    run = receipt_tool.run("verify", "--json", option, *apart)
    assert run.code == INVALID and "line end" in run.lines[0]["reason"]["message"]


def test_an_account_of_google_play_is_any_text(receipt_tool, key):
    option = f"--play-key={PACKAGE}={key / 'public.txt'}"
    receipt = signed(key, compact(PLAY))
    receipt_tool.accepts(receipt, option, "--account-token", "account-1")
    receipt_tool.refuses(receipt, "checker-refused", option, "--account-token", "account-2")


def test_without_the_key_nothing_is_decided(receipt_tool, key):
    receipt_tool.leaves_open(signed(key, compact(PLAY)), "key-missing")
    receipt_tool.leaves_open(signed(key, compact(PLAY)), "key-missing", f"--play-key=other={key / 'public.txt'}")


def test_a_data_member_that_was_parsed_is_named(receipt_tool, key):
    receipt = json.loads(signed(key, compact(PLAY)))
    receipt["data"] = json.loads(receipt["data"])
    verdict = receipt_tool.refuses(json.dumps(receipt), "malformed", f"--play-key={PACKAGE}={key / 'public.txt'}")
    assert verdict["reason"]["place"] == "$.data"


@pytest.mark.parametrize(
    "arguments",
    [
        ["verify", "--admit-short-keys", "purchase.json"],
        ["verify", "--play-key", "public.txt", "purchase.json"],
        ["verify", "--play-key", "=public.txt", "purchase.json"],
        ["verify", "--play-key", "a=public.txt", "--kind", "huawei-purchase", "purchase.json"],
        ["verify", "--huawei-key", "a=public.txt", "--kind", "google-play-purchase", "purchase.json"],
        ["verify", "--data", "data"],
        ["verify", "--signature", "signature", "purchase.json"],
        ["verify", "--signature-algorithm", "x", "purchase.json"],
        ["verify", "--data", "data", "--signature", "signature", "purchase.json"],
        ["verify", "--data", "data", "--signature", "signature", "--lines"],
        ["verify", "--data", "-", "--signature", "-"],
        ["inspect"],
        ["inspect", "--data", "data", "--signature", "signature", "purchase.json"],
        ["sign", "--pss", "--key", "key.pem", "--format", "google-play-purchase", "purchase.json"],
        ["sign", "--base64", "--key", "key.pem", "--format", "google-play-purchase", "purchase.json"],
        ["sign", "--key", "key.pem", "--format", "signed-transaction", "purchase.json"],
        ["sign", "--key", "key.pem", "--chain", "c.pem", "--format", "google-play-purchase", "purchase.json"],
        ["identity", "create", "new", "--algorithm", "rsa2048-sha1", "--days", "3"],
        ["identity", "create", "new", "--algorithm", "rsa2048-sha1", "--organization", "x"],
        ["identity", "create", "new", "--algorithm", "rsa3072-sha256", "--valid-from", "now"],
        ["identity", "create", "new", "--algorithm", "rsa3072-sha256", "--marker", "1.2,1.3"],
    ],
)
def test_options_that_cannot_take_effect_are_errors(receipt_tool, key, arguments):
    (key / "purchase.json").write_text("{}")
    run = receipt_tool.run(*arguments, cwd=key)
    assert run.code == USAGE, (run.out, run.err)


def package_of(data: str) -> str:
    value = json.loads(data.removeprefix("\ufeff"))
    return value.get("packageName") or value["orders"][0]["packageName"]


def test_real_purchases_have_their_stated_verdict(receipt_tool, shared, tmp_path):
    count = 0
    for store, option in (("google-play", "--play-key"), ("huawei", "--huawei-key")):
        for path in sorted((shared / "receipts" / store).glob("*.json")):
            sample = json.loads(path.read_text())
            try:
                package = package_of(sample["data"])
            except json.JSONDecodeError:
                package = PACKAGE
            public = tmp_path / "public.txt"
            public.write_text(sample["publicKey"])
            options = [option, f"{package}={public}"]
            if len(sample["publicKey"]) < 300:
                if sample["expect"] == "valid":
                    receipt_tool.refuses(path.read_bytes(), "unsupported-algorithm", *options)
                options.append("--admit-short-keys")
            receipt = json.dumps({"data": sample["data"], "signature": sample["signature"]})
            for form in (receipt.encode(), path.read_bytes()):
                assert receipt_tool.verify(form, *options)["verdict"] == sample["expect"], path.name
            count += 1
    assert count >= 40
