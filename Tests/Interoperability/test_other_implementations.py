# SPDX-License-Identifier: Apache-2.0
"""What receipt-tool signs is accepted by software of others: Apple's Python library, an independent receipt
verifier, and the openssl command."""

import base64
import json
import os
import stat
import subprocess

import pytest
from apple_purchase_receipt_verifier import Config, Verifier
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

import samples
from tool import USAGE

PURCHASE = {
    "transactionId": "1000000000000301",
    "originalTransactionId": "1000000000000300",
    "productId": "com.example.app.monthly",
    "quantity": 1,
    "purchaseDate": "2026-01-31T12:00:00Z",
    "originalPurchaseDate": 1767268800000,
    "expiresDate": "2026-02-28T12:00:00Z",
}
APP_RECEIPT = {
    "bundleId": samples.BUNDLE,
    "applicationVersion": "2.1",
    "originalApplicationVersion": "1.0",
    "receiptCreationDate": "2026-02-01T08:30:00Z",
    "environment": "Production",
    "deviceId": "00112233-4455-6677-8899-aabbccddeeff",
    "inApp": [PURCHASE, PURCHASE | {"transactionId": "1000000000000302", "productId": "com.example.app.gems"}],
}


@pytest.fixture(scope="module")
def identities(receipt_tool, tmp_path_factory):
    """A P-256 identity and an RSA one, as `receipt-tool identity create` makes them."""
    folder = tmp_path_factory.mktemp("identities")
    for algorithm in ("es256", "rsa2048"):
        run = receipt_tool.run("identity", "create", folder / algorithm, "--algorithm", algorithm)
        assert run.code == 0, run.err
    return folder


@pytest.fixture(scope="module")
def sign(receipt_tool, identities):
    def sign(format: str, document: dict, *options) -> bytes:
        rsa = format in ("app-receipt", "transaction-receipt")
        identity = identities / ("rsa2048" if rsa else "es256")
        output = identities / f"{format}.out"
        run = receipt_tool.run(
            *("sign", "--identity", identity, "--format", format, "--output", output, *options, "-"),
            stdin=json.dumps(document).encode(),
        )
        assert run.code == 0, run.err
        return output.read_bytes()

    return sign


def openssl(*arguments, stdin: bytes = b"") -> bytes:
    done = subprocess.run(["openssl", *map(str, arguments)], input=stdin, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


class TestAppleLibrary:
    """app-store-server-library, with our root instead of Apple's."""

    def verifier(self, identities, environment=Environment.PRODUCTION, **changes):
        options = {
            "root_certificates": [(identities / "es256" / "root.cer").read_bytes()],
            "enable_online_checks": False,
            "environment": environment,
            "bundle_id": samples.BUNDLE,
            "app_apple_id": samples.APP_ID,
        }
        return SignedDataVerifier(**options | changes)

    def test_transaction(self, identities, sign):
        jws = sign("signed-transaction", samples.TRANSACTION).decode()
        decoded = self.verifier(identities).verify_and_decode_signed_transaction(jws)
        assert decoded.transactionId == samples.TRANSACTION["transactionId"]
        assert decoded.expiresDate == samples.TRANSACTION["expiresDate"]
        assert decoded.price == 4990
        assert decoded.rawTransactionReason == "RENEWAL"

    def test_dates_in_iso_8601(self, identities, sign):
        document = samples.TRANSACTION | {"purchaseDate": "2025-03-01T11:00:00.250+01:00"}
        jws = sign("signed-transaction", document).decode()
        decoded = self.verifier(identities).verify_and_decode_signed_transaction(jws)
        assert decoded.purchaseDate == 1740823200250

    def test_renewal_info(self, identities, sign):
        jws = sign("signed-renewal-info", samples.RENEWAL_INFO).decode()
        decoded = self.verifier(identities).verify_and_decode_renewal_info(jws)
        assert decoded.autoRenewProductId == "com.example.app.yearly"
        assert decoded.eligibleWinBackOfferIds == ["back1", "back2"]

    def test_app_transaction(self, identities, sign):
        jws = sign("signed-app-transaction", samples.APP_TRANSACTION).decode()
        decoded = self.verifier(identities).verify_and_decode_app_transaction(jws)
        assert decoded.appAppleId == samples.APP_ID
        assert decoded.originalApplicationVersion == "1.0"

    def test_notification_and_its_parts(self, identities, sign):
        document = samples.notification()
        document["data"]["signedTransactionInfo"] = samples.TRANSACTION
        document["data"]["signedRenewalInfo"] = samples.RENEWAL_INFO
        jws = sign("signed-notification", document).decode()
        verifier = self.verifier(identities)
        decoded = verifier.verify_and_decode_notification(jws)
        assert decoded.notificationUUID == samples.NOTIFICATION["notificationUUID"]
        part = verifier.verify_and_decode_signed_transaction(decoded.data.signedTransactionInfo)
        assert part.transactionId == samples.TRANSACTION["transactionId"]
        renewal = verifier.verify_and_decode_renewal_info(decoded.data.signedRenewalInfo)
        assert renewal.renewalDate == samples.RENEWAL_INFO["renewalDate"]

    def test_unless_something_is_wrong(self, identities, sign):
        jws = sign("signed-transaction", samples.TRANSACTION).decode()
        with pytest.raises(VerificationException):
            self.verifier(identities, bundle_id="com.example.other").verify_and_decode_signed_transaction(jws)
        header, payload, signature = jws.split(".")
        payload = ("A" if payload[40] != "A" else "B").join([payload[:40], payload[41:]])
        with pytest.raises(VerificationException):
            self.verifier(identities).verify_and_decode_signed_transaction(f"{header}.{payload}.{signature}")


class TestReceiptVerifierOfAnother:
    """apple-purchase-receipt-verifier, with our root instead of Apple's."""

    @pytest.fixture(scope="class")
    @staticmethod
    def verifier(identities):
        return Verifier(Config(roots=[(identities / a / "root.cer").read_bytes() for a in ("es256", "rsa2048")]))

    def test_app_receipt(self, verifier, sign):
        receipt = sign("app-receipt", APP_RECEIPT)
        result = verifier.verify_receipt(base64.b64encode(receipt).decode())
        assert result.verified, result.failure
        assert result.payload.bundle_id == samples.BUNDLE
        assert {p.transaction_id for p in result.payload.in_app} == {"1000000000000301", "1000000000000302"}
        assert {p.product_id for p in result.payload.in_app} == {
            "com.example.app.monthly",
            "com.example.app.gems",
        }

    def test_altered_app_receipt(self, verifier, sign):
        receipt = sign("app-receipt", APP_RECEIPT).replace(b"com.example.app.gems", b"com.example.app.gold")
        assert not verifier.verify_receipt(base64.b64encode(receipt).decode()).verified

    @pytest.mark.parametrize(
        ("format", "document"),
        [
            ("signed-transaction", samples.TRANSACTION),
            ("signed-renewal-info", samples.RENEWAL_INFO),
            ("signed-notification", samples.NOTIFICATION),
        ],
    )
    def test_signed_data(self, verifier, sign, format, document):
        result = verifier.verify_signed_data(sign(format, document).decode())
        assert result.verified, result.failure
        assert json.loads(result.payload.json) == document


class TestOpenSSL:
    @pytest.fixture(scope="class")
    @staticmethod
    def roots(identities):
        for algorithm in ("es256", "rsa2048"):
            folder = identities / algorithm
            openssl("x509", "-inform", "DER", "-in", folder / "root.cer", "-out", folder / "root.pem")
        return identities

    def test_cms_verifies_app_receipts(self, roots, sign, tmp_path):
        receipt = tmp_path / "receipt.der"
        receipt.write_bytes(sign("app-receipt", APP_RECEIPT))
        content = openssl(
            *("cms", "-verify", "-inform", "DER", "-in", receipt, "-purpose", "any"),
            *("-CAfile", roots / "rsa2048" / "root.pem"),
        )
        assert content[:1] == b"\x31" and b"com.example.app.monthly" in content
        parsed = openssl("asn1parse", "-inform", "DER", "-in", receipt).decode()
        assert "pkcs7-signedData" in parsed and "sha256" in parsed

    @pytest.mark.parametrize("algorithm", ["es256", "rsa2048"])
    def test_x509_accepts_the_chain(self, roots, algorithm, tmp_path):
        folder = roots / algorithm
        text = openssl("x509", "-in", folder / "chain.pem", "-noout", "-text").decode()
        assert "1.2.840.113635.100.6.11.1" in text
        assert "CA:FALSE" in text and "Digital Signature" in text
        pem = (folder / "chain.pem").read_text()
        assert pem.count("BEGIN CERTIFICATE") == 3
        openssl(
            *("verify", "-x509_strict", "-CAfile", folder / "root.pem"),
            *("-untrusted", folder / "chain.pem", folder / "chain.pem"),
        )

    @pytest.mark.parametrize("algorithm", ["es256", "rsa2048"])
    def test_pkcs8_reads_the_key(self, roots, algorithm):
        key = roots / algorithm / "key.pem"
        assert stat.S_IMODE(os.stat(key).st_mode) == 0o600
        openssl("pkcs8", "-in", key, "-topk8", "-nocrypt")
        # The key belongs to the certificate.
        of_key = openssl("pkey", "-in", key, "-pubout")
        assert of_key == openssl("x509", "-in", roots / algorithm / "chain.pem", "-noout", "-pubkey")

    def test_the_signature_of_a_jws(self, roots, sign, tmp_path):
        header, payload, signature = sign("signed-transaction", samples.TRANSACTION).decode().split(".")
        raw = base64.urlsafe_b64decode(signature + "==")
        assert len(raw) == 64
        der = encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
        (tmp_path / "signature").write_bytes(der)
        (tmp_path / "key").write_bytes(
            openssl("x509", "-in", roots / "es256" / "chain.pem", "-noout", "-pubkey")
        )
        openssl(
            *("dgst", "-sha256", "-verify", tmp_path / "key", "-signature", tmp_path / "signature"),
            stdin=f"{header}.{payload}".encode(),
        )

    @pytest.mark.parametrize(
        "convert",
        [
            ("pkcs8", "-topk8", "-nocrypt"),
            ("pkcs8", "-topk8", "-nocrypt", "-outform", "DER"),
            ("pkey", "-traditional"),
            ("pkey", "-traditional", "-outform", "DER"),
            ("pkcs8", "-topk8", "-v2", "aes-256-cbc", "-passout", "pass:correct horse"),
            ("pkcs8", "-topk8", "-v2", "aes-128-cbc", "-v2prf", "hmacWithSHA512", "-passout", "pass:correct horse"),
        ],
        ids=["pkcs8-pem", "pkcs8-der", "traditional-pem", "traditional-der", "pbes2", "pbes2-sha512"],
    )
    @pytest.mark.parametrize("algorithm", ["es256", "rsa2048"])
    def test_keys_that_openssl_writes_are_read(self, receipt_tool, roots, algorithm, convert, tmp_path):
        folder = roots / algorithm
        key = tmp_path / "key"
        key.write_bytes(openssl(convert[0], "-in", folder / "key.pem", *convert[1:]))
        key.chmod(0o600)
        options = ["--key", key, "--chain", folder / "chain.pem", "--format"]
        options += ["signed-transaction"] if algorithm == "es256" else ["app-receipt"]
        document = json.dumps(samples.TRANSACTION if algorithm == "es256" else APP_RECEIPT).encode()
        trust = ["--trust", folder / "root.cer"]

        if "-passout" not in convert:
            run = receipt_tool.run("sign", *options, "--output", tmp_path / "out", "-", stdin=document)
            assert run.code == 0, run.err
            receipt_tool.accepts((tmp_path / "out").read_bytes(), *trust)
            return

        passphrase = tmp_path / "passphrase"
        passphrase.write_text("correct horse\n")
        environment = os.environ | {"KEY_PASSPHRASE": "correct horse", "WRONG": "wrong horse"}
        for source in (["--passphrase-file", passphrase], ["--passphrase-env", "KEY_PASSPHRASE"]):
            run = receipt_tool.run(
                "sign", *options, *source, "--output", tmp_path / "out", "-", stdin=document, env=environment
            )
            assert run.code == 0, run.err
            receipt_tool.accepts((tmp_path / "out").read_bytes(), *trust)
        for source in ([], ["--passphrase-env", "WRONG"], ["--passphrase-env", "UNSET"]):
            run = receipt_tool.run("sign", *options, *source, "-", stdin=document, env=environment)
            assert run.code in (64, 66), (run.code, run.err)
            assert run.err and "horse" not in run.err
            assert run.out == ""


    def test_scrypt_is_refused_with_the_remedy(self, receipt_tool, roots, tmp_path):
        """The file determines its cost, up to gigabytes."""
        key = tmp_path / "key.pem"
        key.write_bytes(
            openssl(
                *("pkcs8", "-in", roots / "es256" / "key.pem", "-topk8", "-scrypt"),
                *("-passout", "pass:correct horse"),
            )
        )
        run = receipt_tool.run(
            *("sign", "--key", key, "--chain", roots / "es256" / "chain.pem", "--format", "signed-transaction"),
            *("--passphrase-env", "KEY_PASSPHRASE", "-"),
            stdin=json.dumps(samples.TRANSACTION).encode(),
            env=os.environ | {"KEY_PASSPHRASE": "correct horse"},
        )
        assert run.code in (64, 66)
        assert "openssl pkcs8" in run.err


class TestOurselves:
    """Receipts that are signed here verify here, in every format."""

    @pytest.mark.parametrize(
        ("format", "document"),
        [
            ("signed-transaction", samples.TRANSACTION),
            ("signed-renewal-info", samples.RENEWAL_INFO),
            ("signed-app-transaction", samples.APP_TRANSACTION),
            ("signed-notification", samples.NOTIFICATION),
            ("app-receipt", APP_RECEIPT),
            ("transaction-receipt", samples.TRANSACTION),
            ("transaction-receipt", samples.TRANSACTION | {"version": 3}),
        ],
    )
    def test_round_trip(self, receipt_tool, identities, sign, format, document, tmp_path):
        receipt = sign(format, document)
        algorithm = "rsa2048" if format in ("app-receipt", "transaction-receipt") else "es256"
        trust = ["--trust", identities / algorithm / "root.cer"]
        if format == "transaction-receipt":
            chain = (identities / algorithm / "chain.pem").read_text()
            (tmp_path / "intermediate.pem").write_text(
                "-----BEGIN" + chain.split("-----BEGIN")[2]
            )
            trust += ["--intermediate", tmp_path / "intermediate.pem"]
        verdict = receipt_tool.accepts(receipt, *trust)
        assert verdict["format"] == format
        assert verdict["environment"] == "Production"
        # Nobody but who trusts this root accepts it.
        assert receipt_tool.verify(receipt)["verdict"] != "valid"

    def test_the_device_hash(self, receipt_tool, identities, sign):
        receipt = sign("app-receipt", APP_RECEIPT)
        trust = ["--trust", identities / "rsa2048" / "root.cer"]
        receipt_tool.accepts(receipt, *trust, "--device-id", APP_RECEIPT["deviceId"])
        other = "ffffffff-4455-6677-8899-aabbccddeeff"
        receipt_tool.refuses(receipt, "wrong-device", *trust, "--device-id", other)

    def test_an_identity_of_the_wrong_kind(self, receipt_tool, identities):
        for identity, format, document in (
            ("rsa2048", "signed-transaction", samples.TRANSACTION),
            ("es256", "app-receipt", APP_RECEIPT),
        ):
            run = receipt_tool.run(
                *("sign", "--identity", identities / identity, "--format", format, "-"),
                stdin=json.dumps(document).encode(),
            )
            assert run.code == USAGE
            assert "rsa" in run.err.lower() or "p-256" in run.err.lower()
