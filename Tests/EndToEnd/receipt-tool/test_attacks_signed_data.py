# SPDX-License-Identifier: Apache-2.0
"""Forged and misused JWS: each must be refused, and for the right reason."""

import base64
import datetime
import hashlib
import hmac
import json

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

import samples
from independent import jws, pki

ES384 = {"size": 48, "digest": hashes.SHA384}


def milliseconds(instant: datetime.datetime) -> int:
    return int(instant.timestamp() * 1000)


def shaped_like_apple(store, **options):
    """The options of an intermediate and a leaf like those of a genuine chain."""
    return {"ca": True, "path_length": 0, "markers": (pki.RECEIPT_INTERMEDIATE,), "validity": pki.CENTURY} | options


class TestChain:
    def refuses(self, receipt_tool, trust, signer, code, **options):
        return receipt_tool.refuses(jws.sign(samples.TRANSACTION, signer, **options), code, *trust)

    def test_another_root(self, receipt_tool, trust):
        self.refuses(receipt_tool, trust, pki.Store().leaf(), "chain-untrusted")

    def test_only_apple_is_trusted_by_default(self, receipt_tool, store):
        self.refuses(receipt_tool, [], store.leaf(), "chain-untrusted")

    def test_the_genuine_root_above_a_forged_intermediate(self, receipt_tool, store, trust):
        forged = pki.Store("Independent Root")
        chain = forged.leaf().full_chain[:2] + [store.root.der]
        self.refuses(receipt_tool, trust, forged.leaf(), "chain-untrusted", chain=chain)

    def test_the_genuine_intermediate_and_root_above_a_forged_leaf(self, receipt_tool, store, trust):
        forged = pki.Store("Independent Root")
        chain = [forged.leaf().der, *store.leaf().full_chain[1:]]
        self.refuses(receipt_tool, trust, forged.leaf(), "chain-untrusted", chain=chain)

    def test_a_root_of_the_same_name_and_serial_number(self, receipt_tool, store, trust):
        twin = pki.self_signed("Independent Root", serial=store.root.certificate.serial_number)
        intermediate = twin.issue("Independent Intermediate", "p384", **shaped_like_apple(store))
        leaf = intermediate.issue("Receipt Signing", markers=(pki.RECEIPT_LEAF,))
        self.refuses(receipt_tool, trust, leaf, "chain-untrusted")
        self.refuses(
            receipt_tool, trust, leaf, "chain-untrusted", chain=[*leaf.full_chain[:2], store.root.der]
        )

    def test_apples_genuine_root_above_a_forged_chain(self, receipt_tool, store, shared):
        genuine = (shared / "receipts/trust/AppleRootCA-G3.cer").read_bytes()
        chain = [*store.leaf().full_chain[:2], genuine]
        self.refuses(receipt_tool, [], store.leaf(), "chain-untrusted", chain=chain)

    def test_apples_genuine_chain_above_a_forged_leaf(self, receipt_tool, store, shared):
        genuine = [
            (shared / f"receipts/trust/{name}.cer").read_bytes() for name in ("AppleWWDRCA-G6-ECC", "AppleRootCA-G3")
        ]
        self.refuses(receipt_tool, [], store.leaf(), "chain-untrusted", chain=[store.leaf().der, *genuine])

    def test_a_developer_certificate_of_the_same_intermediate(self, receipt_tool, store, trust):
        for markers in [(), (pki.DEVELOPER_LEAF,), (pki.RECEIPT_INTERMEDIATE,)]:
            leaf = store.intermediate.issue("Developer", markers=markers)
            self.refuses(receipt_tool, trust, leaf, "certificate-purpose")

    def test_a_leaf_that_may_sign_certificates(self, receipt_tool, store, trust):
        leaf = store.intermediate.issue("Receipt Signing", markers=(pki.RECEIPT_LEAF,), ca=True)
        self.refuses(receipt_tool, trust, leaf, {"certificate-purpose", "chain-untrusted"})

    @pytest.mark.parametrize(
        "options",
        [
            {"markers": ()},
            {"markers": (pki.RECEIPT_LEAF,)},
            {"ca": False, "path_length": None},
            {"ca": False, "path_length": None, "sign_certificates": True},
            {"sign_certificates": False},
        ],
        ids=["no-marker", "leafs-marker", "no-ca", "no-ca-but-key-usage", "no-key-usage"],
    )
    def test_an_intermediate_that_is_none(self, receipt_tool, store, trust, options):
        intermediate = store.root.issue("Not An Intermediate", **shaped_like_apple(store, **options))
        leaf = intermediate.issue("Receipt Signing", markers=(pki.RECEIPT_LEAF,))
        self.refuses(receipt_tool, trust, leaf, {"certificate-purpose", "chain-untrusted"})

    def test_a_receipt_signers_certificate_as_intermediate(self, receipt_tool, store, trust):
        leaf = store.leaf().issue("Receipt Signing", markers=(pki.RECEIPT_LEAF,))
        chain = [leaf.der, store.leaf().der, store.intermediate.der]
        self.refuses(receipt_tool, trust, leaf, {"chain-untrusted", "certificate-purpose"}, chain=chain)
        self.refuses(receipt_tool, trust, leaf, "chain-length")

    def test_a_root_that_forbids_intermediates(self, receipt_tool, store, write_certificate):
        root = pki.self_signed("Root Without Intermediates", path_length=0)
        intermediate = root.issue("Intermediate", "p384", **shaped_like_apple(store))
        leaf = intermediate.issue("Receipt Signing", markers=(pki.RECEIPT_LEAF,))
        trust = ["--trust", write_certificate(root)]
        self.refuses(receipt_tool, trust, leaf, {"certificate-purpose", "chain-untrusted"})

    @pytest.mark.parametrize("count", [0, 1, 2, 4])
    def test_a_chain_of_another_length(self, receipt_tool, store, trust, count):
        chain = [*store.leaf().full_chain, store.root.der][:count]
        self.refuses(receipt_tool, trust, store.leaf(), "chain-length", chain=chain)

    def test_a_leaf_directly_under_the_root(self, receipt_tool, store, trust):
        leaf = store.root.issue("Receipt Signing", markers=(pki.RECEIPT_LEAF,))
        self.refuses(receipt_tool, trust, leaf, "chain-length")
        chain = [leaf.der, store.root.der, store.root.der]
        self.refuses(
            receipt_tool, trust, leaf, {"chain-untrusted", "certificate-purpose", "chain-length"}, chain=chain
        )

    def test_a_chain_in_another_order(self, receipt_tool, store, trust):
        chain = store.leaf().full_chain
        for order in ([0, 2, 1], [1, 0, 2], [2, 1, 0]):
            self.refuses(
                receipt_tool,
                trust,
                store.leaf(),
                {"chain-untrusted", "certificate-purpose", "signature-mismatch", "unsupported-algorithm"},
                chain=[chain[i] for i in order],
            )

    def test_bytes_after_a_certificate(self, receipt_tool, store, trust):
        chain = store.leaf().full_chain
        self.refuses(receipt_tool, trust, store.leaf(), "malformed", chain=[chain[0] + b"\0", *chain[1:]])
        self.refuses(receipt_tool, trust, store.leaf(), "malformed", chain=[b"", *chain[1:]])


class TestAlgorithm:
    def forge(self, store, payload=samples.TRANSACTION, signer=None, **options):
        return jws.sign(payload, signer or store.leaf(), **options)

    @pytest.mark.parametrize("alg", ["none", "None", "NONE", ""])
    def test_none(self, receipt_tool, store, trust, alg):
        receipt_tool.refuses(
            self.forge(store, alg=alg, make_signature=lambda *_: b""),
            {"unsigned", "unsupported-algorithm"},
            *trust,
        )
        receipt_tool.refuses(self.forge(store, alg=alg), {"unsigned", "unsupported-algorithm"}, *trust)

    def test_no_signature(self, receipt_tool, store, trust):
        receipt_tool.refuses(
            self.forge(store, make_signature=lambda *_: b""), {"unsigned", "malformed"}, *trust
        )

    def test_an_hmac_keyed_by_what_is_public(self, receipt_tool, store, trust):
        leaf = store.leaf()
        pem = leaf.certificate.public_bytes(serialization.Encoding.PEM)
        public_key = leaf.certificate.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        for key in (leaf.der, pem, public_key):
            forged = self.forge(
                store, alg="HS256", make_signature=lambda _, m: hmac.new(key, m, hashlib.sha256).digest()
            )
            receipt_tool.refuses(forged, "unsupported-algorithm", *trust)

    @pytest.mark.parametrize("alg", ["ES384", "ES512", "RS256", "PS256", "EdDSA", "es256", "ES256K", "ES256 "])
    def test_another_name(self, receipt_tool, store, trust, alg):
        receipt_tool.refuses(self.forge(store, alg=alg), "unsupported-algorithm", *trust)

    def test_es384_with_a_genuine_chain(self, receipt_tool, store, trust):
        signer = store.leaf("p384")
        forged = self.forge(
            store, signer=signer, alg="ES384", make_signature=lambda s, m: jws.raw_signature(s, m, **ES384)
        )
        receipt_tool.refuses(forged, "unsupported-algorithm", *trust)

    @pytest.mark.parametrize("kind", ["p384", "rsa2048"])
    def test_es256_with_another_kind_of_key(self, receipt_tool, store, trust, kind):
        forged = self.forge(store, signer=store.leaf(kind), make_signature=lambda *_: b"\1" * 64)
        receipt_tool.refuses(forged, {"unsupported-algorithm", "certificate-purpose"}, *trust)

    def test_no_algorithm(self, receipt_tool, store, trust):
        header = jws.header(store.leaf())
        del header["alg"]
        forged = self.forge(store, header_bytes=json.dumps(header).encode())
        receipt_tool.refuses(forged, {"malformed", "unsupported-algorithm"}, *trust)

    def test_a_signature_in_der(self, receipt_tool, store, trust):
        forged = self.forge(store, make_signature=lambda s, m: s.key.sign(m, ec.ECDSA(hashes.SHA256())))
        receipt_tool.refuses(forged, {"malformed", "signature-mismatch"}, *trust)

    @pytest.mark.parametrize("size", [1, 32, 63, 65, 96, 128])
    def test_a_signature_of_another_size(self, receipt_tool, store, trust, size):
        def resized(signer, message):
            return (jws.raw_signature(signer, message) * 2)[:size]

        receipt_tool.refuses(
            self.forge(store, make_signature=resized), {"malformed", "signature-mismatch"}, *trust
        )

    @pytest.mark.parametrize("value", [0, jws.P256_ORDER, jws.P256_ORDER + 1, 2**256 - 1])
    @pytest.mark.parametrize("part", ["r", "s", "both"])
    def test_numbers_out_of_range(self, receipt_tool, store, trust, value, part):
        def altered(signer, message):
            genuine = jws.raw_signature(signer, message)
            number = value.to_bytes(32, "big")
            return (genuine[:32] if part == "s" else number) + (genuine[32:] if part == "r" else number)

        receipt_tool.refuses(self.forge(store, make_signature=altered), "signature-mismatch", *trust)


class TestStructure:
    def test_another_payload(self, receipt_tool, store, trust):
        header, _, signature = jws.sign(samples.TRANSACTION, store.leaf()).split(".")
        payload = jws.base64url(json.dumps(samples.TRANSACTION | {"quantity": 3}).encode())
        receipt_tool.refuses(f"{header}.{payload}.{signature}", "signature-mismatch", *trust)

    def test_another_header(self, receipt_tool, store, trust):
        _, payload, signature = jws.sign(samples.TRANSACTION, store.leaf()).split(".")
        header = jws.base64url(json.dumps(jws.header(store.leaf(), kid="1")).encode())
        receipt_tool.refuses(f"{header}.{payload}.{signature}", "signature-mismatch", *trust)

    def test_a_key_in_the_header(self, receipt_tool, store, trust):
        mallory = pki.Store("Mallory").leaf()
        numbers = mallory.key.public_key().public_numbers()
        jwk = {
            "kty": "EC",
            "crv": "P-256",
            "x": jws.base64url(numbers.x.to_bytes(32, "big")),
            "y": jws.base64url(numbers.y.to_bytes(32, "big")),
        }
        forged = jws.sign(samples.TRANSACTION, mallory, chain=store.leaf().full_chain, jwk=jwk)
        receipt_tool.refuses(forged, {"signature-mismatch", "malformed"}, *trust)

    @pytest.mark.parametrize("critical", [["b64"], ["exp"], []])
    def test_critical_extensions(self, receipt_tool, store, trust, critical):
        forged = jws.sign(samples.TRANSACTION, store.leaf(), crit=critical, b64=True, exp=1)
        receipt_tool.refuses(forged, {"malformed", "unsupported-algorithm"}, *trust)

    @pytest.mark.parametrize("name", ["alg", "x5c", "kid"])
    def test_a_header_that_says_it_twice(self, receipt_tool, store, trust, name):
        fields = jws.header(store.leaf(), kid="1")
        text = json.dumps(fields)[:-1] + f", {json.dumps(name)}: {json.dumps(fields[name])}}}"
        receipt_tool.refuses(
            jws.sign(samples.TRANSACTION, store.leaf(), header_bytes=text.encode()), "malformed", *trust
        )

    @pytest.mark.parametrize("name", ["productId", "product\\u0049d", "environment", "signedDate", "unknown"])
    def test_a_payload_that_says_it_twice(self, receipt_tool, store, trust, name):
        fields = samples.TRANSACTION | {"unknown": 1}
        value = fields[json.loads(f'"{name}"')]
        text = json.dumps(fields)[:-1] + f', "{name}": {json.dumps(value)}}}'
        receipt_tool.refuses(jws.sign(text.encode(), store.leaf()), "malformed", *trust)

    @pytest.mark.parametrize(
        "text",
        [
            b"",
            b"{}",
            b"[]",
            b"null",
            b'"text"',
            b"{",
            b"\xef\xbb\xbf{}",
            b'{"transactionId": "\xff"}',
            b'{"transactionId": "1", "quantity": 99999999999999999999999}',
            b'{"transactionId": "1", "purchaseDate": 1e400}',
            b'{"transactionId": 1}',
            b'{"transactionId": "\\ud800"}',
            b'{"transactionId": "1"} {}',
            b'{"transactionId": "1", "a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        ],
    )
    def test_a_signed_payload_that_is_no_receipt(self, receipt_tool, store, trust, text):
        receipt_tool.refuses(jws.sign(text, store.leaf()), "malformed", *trust)

    def test_members_of_two_kinds(self, receipt_tool, store, trust):
        payload = samples.TRANSACTION | {"notificationType": "DID_RENEW"}
        receipt_tool.refuses(jws.sign(payload, store.leaf()), "malformed", *trust)

    def test_other_spellings_of_the_same_base64(self, receipt_tool, store, trust):
        header, payload, signature = jws.sign(samples.TRANSACTION, store.leaf()).split(".")
        # 64 bytes leave four unused bits in the last character.
        alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        twin = signature[:-1] + alphabet[alphabet.index(signature[-1]) | 1]
        for text in (
            f"{header}.{payload}.{twin}",
            f"{header}.{payload}.{signature}==",
            f"{header}.{payload}.{signature[:40]}\n{signature[40:]}",
            f"{header}..{signature}",
            f"{header}.{payload}",
            f"{header}.{payload}.{signature}.",
            f"{header}.{payload}.{signature}.{signature}",
            f".{payload}.{signature}",
        ):
            receipt_tool.refuses(text, {"malformed", "unsigned"}, *trust)

    def test_the_chain_in_base64url(self, receipt_tool, store, trust):
        chain = [base64.urlsafe_b64encode(c).decode() for c in store.leaf().full_chain]
        assert any("-" in c or "_" in c for c in chain)
        header = json.dumps({"alg": "ES256", "x5c": chain}).encode()
        receipt_tool.refuses(jws.sign(samples.TRANSACTION, store.leaf(), header_bytes=header), "malformed", *trust)

    def test_no_chain(self, receipt_tool, store, trust):
        header = json.dumps({"alg": "ES256", "x5cwrong": jws.header(store.leaf())["x5c"]}).encode()
        receipt_tool.refuses(
            jws.sign(samples.TRANSACTION, store.leaf(), header_bytes=header),
            {"chain-length", "malformed", "unsigned"},
            *trust,
        )

    def test_every_single_bit_of_the_signature_counts(self, receipt_tool, store, trust, tmp_path):
        header, payload, signature = jws.sign(samples.TRANSACTION, store.leaf()).split(".")
        raw = jws.from_base64url(signature)
        receipts = []
        for bit in range(512):
            flipped = bytearray(raw)
            flipped[bit // 8] ^= 1 << bit % 8
            receipts.append(f"{header}.{payload}.{jws.base64url(bytes(flipped))}")
        run = receipt_tool.run("verify", "--json", "--lines", *trust, "-", stdin="\n".join(receipts).encode())
        assert [line["reason"]["code"] for line in run.lines] == ["signature-mismatch"] * 512

    def test_every_single_bit_of_the_payload_counts(self, receipt_tool, store, trust):
        header, payload, signature = jws.sign(samples.TRANSACTION, store.leaf()).split(".")
        raw = jws.from_base64url(payload)
        receipts = []
        for bit in range(len(raw) * 8):
            flipped = bytearray(raw)
            flipped[bit // 8] ^= 1 << bit % 8
            receipts.append(f"{header}.{jws.base64url(bytes(flipped))}.{signature}")
        run = receipt_tool.run("verify", "--json", "--lines", *trust, "-", stdin="\n".join(receipts).encode())
        assert len(run.lines) == len(receipts)
        assert {line["reason"]["code"] for line in run.lines} <= {"signature-mismatch", "malformed"}


class TestTime:
    """Leaves here are valid from 2024-01-01 to 2025-06-01, their issuers for a century."""

    @pytest.mark.parametrize(
        ("instant", "seconds", "reason"),
        [
            (pki.NOT_BEFORE, -1, "chain-expired"),
            (pki.NOT_BEFORE, 0, None),
            (pki.NOT_BEFORE, 1, None),
            (pki.NOT_AFTER, -1, None),
            (pki.NOT_AFTER, 0, None),
            (pki.NOT_AFTER, 1, "chain-expired"),
        ],
    )
    def test_the_signing_time_against_the_certificate(self, receipt_tool, store, trust, instant, seconds, reason):
        signed = milliseconds(instant + datetime.timedelta(seconds=seconds))
        receipt = jws.sign(samples.TRANSACTION | {"signedDate": signed}, store.leaf())
        if reason:
            receipt_tool.refuses(receipt, reason, *trust)
        else:
            receipt_tool.accepts(receipt, *trust)

    def test_an_intermediate_that_had_expired(self, receipt_tool, store, trust):
        until = datetime.datetime(2025, 2, 1, tzinfo=datetime.timezone.utc)
        intermediate = store.root.issue(
            "Expired Intermediate", **shaped_like_apple(store, validity=(pki.NOT_BEFORE, until))
        )
        leaf = intermediate.issue("Receipt Signing", markers=(pki.RECEIPT_LEAF,))
        receipt_tool.refuses(jws.sign(samples.TRANSACTION, leaf), "chain-expired", *trust)

    def test_now_an_expired_chain_is_refused(self, receipt_tool, store, trust):
        receipt = jws.sign(samples.TRANSACTION, store.leaf())
        receipt_tool.refuses(receipt, "chain-expired", *trust, "--time", "now")

    def test_at_a_given_time(self, receipt_tool, store, trust):
        receipt = jws.sign(samples.TRANSACTION, store.leaf())
        receipt_tool.accepts(receipt, *trust, "--time", "2025-05-31T23:59:59Z")
        receipt_tool.refuses(receipt, "chain-expired", *trust, "--time", "2025-06-01T00:00:01Z")
        # Evaluated before it was signed.
        receipt_tool.refuses(receipt, "signed-in-future", *trust, "--time", "2025-02-01T00:00:00Z")

    def test_signed_in_the_future(self, receipt_tool, store, trust):
        leaf = store.intermediate.issue("Receipt Signing", markers=(pki.RECEIPT_LEAF,), validity=pki.CENTURY)
        tomorrow = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1)
        receipt = jws.sign(samples.TRANSACTION | {"signedDate": milliseconds(tomorrow)}, leaf)
        receipt_tool.refuses(receipt, "signed-in-future", *trust)

    def test_no_signing_time(self, receipt_tool, store, trust):
        payload = {k: v for k, v in samples.TRANSACTION.items() if k != "signedDate"}
        receipt = jws.sign(payload, store.leaf())
        verdict = receipt_tool.verify(receipt, *trust)
        assert verdict["verdict"] != "valid"
        receipt_tool.accepts(receipt, *trust, "--time", "2025-03-02T00:00:00Z")
        receipt_tool.refuses(receipt, "chain-expired", *trust, "--time", "now")


class TestPolicy:
    def test_another_app(self, receipt_tool, store, trust):
        for payload in (samples.TRANSACTION, samples.APP_TRANSACTION, samples.NOTIFICATION):
            receipt = jws.sign(payload, store.leaf())
            receipt_tool.refuses(receipt, "wrong-bundle", *trust, "--bundle-id", "com.example.other")
            receipt_tool.refuses(receipt, "wrong-bundle", *trust, "--bundle-id", "com.example.App")
            receipt_tool.refuses(receipt, "wrong-bundle", *trust, "--bundle-id", "com.example.app ")
            receipt_tool.accepts(
                receipt, *trust, "--bundle-id", "com.example.other", "--bundle-id", samples.BUNDLE
            )

    def test_no_app_named(self, receipt_tool, store, trust):
        payload = {k: v for k, v in samples.TRANSACTION.items() if k != "bundleId"}
        receipt = jws.sign(payload, store.leaf())
        receipt_tool.refuses(receipt, "wrong-bundle", *trust, "--bundle-id", samples.BUNDLE)

    def test_another_app_identifier(self, receipt_tool, store, trust):
        for payload in (samples.APP_TRANSACTION, samples.NOTIFICATION, samples.REALTIME_REQUEST):
            receipt = jws.sign(payload, store.leaf())
            receipt_tool.accepts(receipt, *trust, "--app-apple-id", samples.APP_ID)
            receipt_tool.refuses(receipt, "wrong-app", *trust, "--app-apple-id", samples.APP_ID + 1)

    @pytest.mark.parametrize(
        ("stated", "accepted", "verdict"),
        [
            ("Production", ["production"], "valid"),
            ("Sandbox", ["sandbox"], "valid"),
            ("Sandbox", ["production"], "wrong-environment"),
            ("Production", ["sandbox"], "wrong-environment"),
            ("Xcode", ["production", "sandbox"], "wrong-environment"),
            ("LocalTesting", ["production", "sandbox"], "wrong-environment"),
            ("production", ["production", "sandbox"], "wrong-environment"),
            ("Production\u0000", ["production", "sandbox"], "wrong-environment"),
        ],
    )
    def test_the_environment(self, receipt_tool, store, trust, stated, accepted, verdict):
        options = [option for name in accepted for option in ("--environment", name)]
        for payload in (
            samples.TRANSACTION | {"environment": stated},
            samples.RENEWAL_INFO | {"environment": stated},
            samples.APP_TRANSACTION | {"receiptType": stated},
            samples.notification(environment=stated),
        ):
            receipt = jws.sign(payload, store.leaf())
            if verdict == "valid":
                receipt_tool.accepts(receipt, *trust, *options)
            else:
                receipt_tool.refuses(receipt, verdict, *trust, *options)

    def test_an_absent_environment_counts_only_where_both_would_do(self, receipt_tool, store, trust):
        payload = {k: v for k, v in samples.TRANSACTION.items() if k != "environment"}
        receipt = jws.sign(payload, store.leaf())
        both = ["--environment", "production", "--environment", "sandbox"]
        assert "environment" not in receipt_tool.accepts(receipt, *trust, *both)
        for one in ("production", "sandbox"):
            assert receipt_tool.verify(receipt, *trust, "--environment", one)["verdict"] != "valid"


class TestXcode:
    """Any user of Xcode can mint receipts: saying "Xcode" must never open a door."""

    PAYLOAD = samples.TRANSACTION | {"environment": "Xcode"}

    @pytest.fixture
    def xcode(self):
        return pki.self_signed("StoreKit Testing in Xcode", "p256", ca=False, validity=pki.CENTURY)

    def sign(self, xcode, **changes):
        return jws.sign(self.PAYLOAD | changes, xcode, kid="Apple_Xcode_Key", typ="JWT")

    @pytest.mark.parametrize("environment", ["Xcode", "Production", "Sandbox", "LocalTesting"])
    def test_refused_by_default(self, receipt_tool, xcode, trust, environment):
        receipt = self.sign(xcode, environment=environment)
        for options in ([], trust):
            receipt_tool.refuses(
                receipt, {"chain-length", "chain-untrusted", "wrong-environment"}, *options
            )

    @pytest.mark.parametrize("environment", ["Production", "Sandbox"])
    def test_admitting_xcode_admits_no_other_environment(self, receipt_tool, xcode, environment):
        receipt_tool.refuses(
            self.sign(xcode, environment=environment),
            {"chain-length", "chain-untrusted", "wrong-environment"},
            "--admit-xcode",
        )

    def test_unsigned_data_is_refused_even_for_local_testing(self, receipt_tool, store, trust):
        for environment in ("LocalTesting", "Xcode"):
            receipt = jws.sign(
                self.PAYLOAD | {"environment": environment},
                store.leaf(),
                header_bytes=b'{"alg":"none"}',
                make_signature=lambda *_: b"",
            )
            options = ["--environment", "local-testing", "--environment", "xcode", "--admit-xcode"]
            receipt_tool.refuses(
                receipt, {"unsigned", "unsupported-algorithm", "chain-length"}, *trust, *options
            )


class TestNotifications:
    """The signed parts of a notification are also verified, and must agree with it."""

    def refuses(self, receipt_tool, store, trust, code, transaction=None, renewal=None, **changes):
        receipt = jws.sign(samples.notification(transaction, renewal, **changes), store.leaf())
        receipt_tool.refuses(receipt, code, *trust)

    def test_a_part_of_another_signer(self, receipt_tool, store, trust):
        part = jws.sign(samples.TRANSACTION, pki.Store().leaf())
        self.refuses(receipt_tool, store, trust, "chain-untrusted", part)

    def test_an_altered_part(self, receipt_tool, store, trust):
        part = jws.sign(samples.TRANSACTION, store.leaf())
        header, _, signature = part.split(".")
        payload = jws.base64url(json.dumps(samples.TRANSACTION | {"quantity": 2}).encode())
        self.refuses(receipt_tool, store, trust, "signature-mismatch", f"{header}.{payload}.{signature}")

    def test_an_unsigned_part(self, receipt_tool, store, trust):
        part = jws.sign(samples.TRANSACTION, store.leaf(), alg="none", make_signature=lambda *_: b"")
        self.refuses(receipt_tool, store, trust, {"unsigned", "unsupported-algorithm"}, part)

    def test_a_part_that_is_no_jws(self, receipt_tool, store, trust):
        for part in ("x", "a.b.c", "..", "e30.e30.e30"):
            self.refuses(
                receipt_tool,
                store,
                trust,
                {"malformed", "unsigned", "unsupported-algorithm", "chain-length"},
                part,
            )

    @pytest.mark.parametrize(
        "changes", [{"bundleId": "com.example.other"}, {"environment": "Sandbox"}], ids=["bundle", "environment"]
    )
    def test_a_transaction_that_does_not_agree(self, receipt_tool, store, trust, changes):
        part = jws.sign(samples.TRANSACTION | changes, store.leaf())
        self.refuses(receipt_tool, store, trust, "nested-mismatch", part)

    def test_renewal_info_that_does_not_agree(self, receipt_tool, store, trust):
        part = jws.sign(samples.RENEWAL_INFO | {"environment": "Sandbox"}, store.leaf())
        self.refuses(receipt_tool, store, trust, "nested-mismatch", None, part)

    def test_parts_in_each_others_place(self, receipt_tool, store, trust):
        transaction = jws.sign(samples.TRANSACTION, store.leaf())
        renewal = jws.sign(samples.RENEWAL_INFO, store.leaf())
        self.refuses(receipt_tool, store, trust, {"malformed", "nested-mismatch"}, renewal, transaction)

    def test_a_part_of_another_subscription(self, receipt_tool, store, trust):
        transaction = jws.sign(samples.TRANSACTION, store.leaf())
        renewal = jws.sign(samples.RENEWAL_INFO | {"originalTransactionId": "999"}, store.leaf())
        self.refuses(receipt_tool, store, trust, "nested-mismatch", transaction, renewal)

    def test_a_notification_inside_a_notification(self, receipt_tool, store, trust):
        part = jws.sign(samples.NOTIFICATION, store.leaf())
        self.refuses(receipt_tool, store, trust, {"malformed", "nested-mismatch"}, part)
