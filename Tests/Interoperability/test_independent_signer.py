# SPDX-License-Identifier: Apache-2.0
"""Receipts that an independent implementation signed verify here, with the signed values."""

import base64
import json

import pytest

import samples
from independent import app_receipt, jws, transaction_receipt


def check_signer(verdict, leaf, root, algorithm):
    signer = verdict["signer"]
    assert signer["sha256"] == leaf.sha256
    assert signer["rootSha256"] == root.sha256
    assert signer["algorithm"] == algorithm
    assert "Independent Store" in signer["subject"]


class TestSignedData:
    @pytest.mark.parametrize(
        ("kind", "payload", "bundle", "transactions"),
        [
            ("signed-transaction", samples.TRANSACTION, samples.BUNDLE, [samples.TRANSACTION_REPORTED]),
            ("signed-renewal-info", samples.RENEWAL_INFO, None, None),
            ("signed-app-transaction", samples.APP_TRANSACTION, samples.BUNDLE, None),
            ("signed-notification", samples.NOTIFICATION, samples.BUNDLE, None),
            ("signed-realtime-request", samples.REALTIME_REQUEST, None, None),
        ],
    )
    def test_each_kind_is_valid(self, receipt_tool, store, trust, kind, payload, bundle, transactions):
        verdict = receipt_tool.accepts(jws.sign(payload, store.leaf()), *trust, "--bundle-id", samples.BUNDLE)
        assert verdict["format"] == kind
        assert verdict["environment"] == "Production"
        assert verdict.get("bundleId") == bundle
        assert verdict["signedDate"] == samples.SIGNED_TEXT
        check_signer(verdict, store.leaf(), store.root, "ES256")
        if transactions is not None:
            assert verdict["transactions"] == transactions

    def test_a_notification_with_its_parts_yields_their_transaction(self, receipt_tool, store, trust):
        parts = [jws.sign(p, store.leaf()) for p in (samples.TRANSACTION, samples.RENEWAL_INFO)]
        verdict = receipt_tool.accepts(jws.sign(samples.notification(*parts), store.leaf()), *trust)
        assert samples.stated(verdict["transactions"]) == samples.stated([samples.TRANSACTION_REPORTED])

    def test_without_its_own_date_a_notification_counts_from_its_parts(self, receipt_tool, store, trust):
        part = jws.sign(samples.TRANSACTION, store.leaf())
        payload = samples.notification(part)
        del payload["signedDate"]
        verdict = receipt_tool.accepts(jws.sign(payload, store.leaf()), *trust)
        assert verdict["signedDate"] == samples.SIGNED_TEXT

    def test_fractional_milliseconds_and_unknown_fields_are_tolerated(self, receipt_tool, store, trust):
        payload = samples.TRANSACTION | {
            "purchaseDate": 1740823200000.7297,
            "environment": "Sandbox",
            "type": "Something New",
            "futureField": {"a": [1, 2.5, None, True, "ü"]},
        }
        verdict = receipt_tool.accepts(jws.sign(payload, store.leaf()), *trust)
        assert verdict["environment"] == "Sandbox"
        assert verdict["transactions"][0]["purchaseDate"].startswith("2025-03-01T10:00:00.")

    def test_a_revoked_transaction_says_so(self, receipt_tool, store, trust):
        payload = samples.TRANSACTION | {"revocationDate": 1740823204000, "revocationReason": 0}
        verdict = receipt_tool.accepts(jws.sign(payload, store.leaf()), *trust)
        assert verdict["transactions"][0]["revocationDate"] == "2025-03-01T10:00:04.000Z"

    @pytest.mark.parametrize(
        ("name", "payload"),
        [
            ("signedTransactionInfo", samples.TRANSACTION),
            ("signedRenewalInfo", samples.RENEWAL_INFO),
            ("signedAppTransactionInfo", samples.APP_TRANSACTION),
            ("signedPayload", samples.NOTIFICATION),
        ],
    )
    def test_the_json_of_an_api_around_it_is_unwrapped(self, receipt_tool, store, trust, name, payload):
        wrapped = json.dumps({name: jws.sign(payload, store.leaf())}, indent=2)
        receipt_tool.accepts(wrapped, *trust)

    def test_white_space_around_it_does_not_matter(self, receipt_tool, store, trust):
        receipt_tool.accepts("\n  " + jws.sign(samples.TRANSACTION, store.leaf()) + "\r\n", *trust)

    def test_a_notification_of_one_megabyte(self, receipt_tool, store, trust):
        payload = samples.notification() | {"subtype": "x" * 1_000_000}
        receipt_tool.accepts(jws.sign(payload, store.leaf()), *trust)


class TestAppReceipts:
    CONTENT = app_receipt.payload(
        app_receipt.in_app(),
        app_receipt.in_app(
            transaction="1000000000000102",
            product="com.example.app.monthly",
            expires="2025-04-01T10:00:00Z",
            cancelled="2025-03-02T00:00:00Z",
        ),
        extra=(app_receipt.attribute(4711, b"\x0c\x02hi"),),
    )

    @pytest.mark.parametrize("digest", ["sha1", "sha256"])
    @pytest.mark.parametrize("attributes", [False, True], ids=["plain", "signed-attributes"])
    @pytest.mark.parametrize("ber", [False, True], ids=["der", "ber"])
    def test_every_encoding_is_valid(self, receipt_tool, rsa_store, rsa_trust, digest, attributes, ber):
        leaf = rsa_store.leaf("rsa2048")
        receipt = app_receipt.sign(self.CONTENT, leaf, digest=digest, attributes=attributes, ber=ber)
        verdict = receipt_tool.accepts(receipt, *rsa_trust, "--bundle-id", samples.BUNDLE)
        assert verdict["format"] == "app-receipt"
        assert verdict["environment"] == "Production"
        assert verdict["bundleId"] == samples.BUNDLE
        assert verdict["signedDate"] == "2025-03-01T10:00:05.000Z"
        check_signer(verdict, leaf, rsa_store.root, "RSA-SHA1" if digest == "sha1" else "RSA-SHA256")
        by_id = {t["transactionId"]: t for t in samples.stated(verdict["transactions"])}
        assert by_id == {
            "1000000000000101": {
                "transactionId": "1000000000000101",
                "originalTransactionId": "1000000000000100",
                "productId": "com.example.app.gems",
                "quantity": 1,
                "purchaseDate": "2025-03-01T10:00:00.000Z",
                "originalPurchaseDate": "2025-02-01T10:00:00.000Z",
            },
            "1000000000000102": {
                "transactionId": "1000000000000102",
                "originalTransactionId": "1000000000000100",
                "productId": "com.example.app.monthly",
                "quantity": 1,
                "purchaseDate": "2025-03-01T10:00:00.000Z",
                "originalPurchaseDate": "2025-02-01T10:00:00.000Z",
                "expiresDate": "2025-04-01T10:00:00.000Z",
                "isExpired": True,
                "revocationDate": "2025-03-02T00:00:00.000Z",
            },
        }

    def test_an_rsa_leaf_under_elliptic_curve_certificates(self, receipt_tool, store, trust):
        receipt_tool.accepts(app_receipt.sign(self.CONTENT, store.leaf("rsa2048")), *trust)

    def test_base64_with_and_without_line_breaks(self, receipt_tool, rsa_store, rsa_trust):
        receipt = app_receipt.sign(self.CONTENT, rsa_store.leaf("rsa2048"))
        receipt_tool.accepts(base64.b64encode(receipt), *rsa_trust)
        receipt_tool.accepts(base64.encodebytes(receipt), *rsa_trust)
        receipt_tool.accepts(base64.encodebytes(receipt).replace(b"\n", b"\r\n"), *rsa_trust)

    def test_json_around_it_is_unwrapped(self, receipt_tool, rsa_store, rsa_trust):
        text = base64.b64encode(app_receipt.sign(self.CONTENT, rsa_store.leaf("rsa2048"))).decode()
        receipt_tool.accepts(json.dumps({"receipt-data": text, "password": "secret"}), *rsa_trust)
        receipt_tool.accepts(json.dumps({"status": 0, "latest_receipt": text}), *rsa_trust)

    def test_without_purchases_and_unsorted(self, receipt_tool, rsa_store, rsa_trust):
        receipt = app_receipt.sign(app_receipt.payload(sort=False), rsa_store.leaf("rsa2048"))
        assert receipt_tool.accepts(receipt, *rsa_trust).get("transactions", []) == []

    def test_the_order_of_certificates_does_not_matter(self, receipt_tool, rsa_store, rsa_trust):
        leaf = rsa_store.leaf("rsa2048")
        info = app_receipt.signer_info(leaf, self.CONTENT)
        receipt = app_receipt.container(self.CONTENT, leaf.full_chain[::-1], [info])
        receipt_tool.accepts(receipt, *rsa_trust)

    def test_the_device_it_was_made_for(self, receipt_tool, rsa_store, rsa_trust):
        receipt = app_receipt.sign(self.CONTENT, rsa_store.leaf("rsa2048"))
        receipt_tool.accepts(receipt, *rsa_trust, "--device-id", app_receipt.DEVICE.hex())
        receipt_tool.accepts(receipt, *rsa_trust, "--device-id", "00112233-4455-6677-8899-AABBCCDDEEFF")


class TestTransactionReceipts:
    @pytest.fixture
    def options(self, rsa_store, rsa_trust, write_certificate):
        """These receipts embed only their leaf: the intermediates come from the caller."""
        intermediates = [rsa_store.intermediate.certificate, rsa_store.old_leaf.chain[0]]
        options = list(rsa_trust)
        for certificate in intermediates:
            identity = type(rsa_store.root)(None, certificate)
            options += ["--intermediate", write_certificate(identity)]
        return options

    @pytest.mark.parametrize("version", [2, 3, 4])
    @pytest.mark.parametrize("encode", [True, False], ids=["base64", "plain"])
    def test_each_version_is_valid(self, receipt_tool, rsa_store, rsa_trust, options, version, encode):
        leaf = rsa_store.old_leaf if version == 2 else rsa_store.leaf("rsa2048")
        verdict = receipt_tool.accepts(
            transaction_receipt.sign(leaf, version, encode=encode), *options, "--bundle-id", samples.BUNDLE
        )
        assert verdict["format"] == "transaction-receipt"
        assert verdict["environment"] == "Sandbox"
        assert verdict["bundleId"] == samples.BUNDLE
        check_signer(verdict, leaf, rsa_store.root, "RSA-SHA256" if version == 4 else "RSA-SHA1")
        assert samples.stated(verdict["transactions"]) == [
            {
                "transactionId": "1000000000000201",
                "originalTransactionId": "1000000000000200",
                "productId": "com.example.app.gems",
                "quantity": 2,
                "purchaseDate": "2025-03-01T10:00:00.000Z",
                "originalPurchaseDate": "2025-02-01T10:00:00.000Z",
            }
        ]

    def test_base64_in_lines(self, receipt_tool, rsa_store, options):
        receipt = transaction_receipt.sign(rsa_store.leaf("rsa2048"), encode=False)
        receipt_tool.accepts(base64.encodebytes(receipt), *options)

    def test_without_its_intermediate_it_is_not_decided(self, receipt_tool, rsa_store, rsa_trust):
        receipt = transaction_receipt.sign(rsa_store.leaf("rsa2048"))
        receipt_tool.leaves_open(receipt, "issuer-missing", *rsa_trust)
