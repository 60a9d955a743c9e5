# SPDX-License-Identifier: Apache-2.0
"""Forged and misused app receipts: each must be refused, and for the right reason."""

import base64

import pytest
from cryptography.hazmat.primitives.asymmetric import padding

import samples
from independent import app_receipt, der, pki

CONTENT = app_receipt.payload(app_receipt.in_app())
OTHER_CONTENT = app_receipt.payload(app_receipt.in_app(transaction="1000000000009999", quantity=100))


@pytest.fixture
def leaf(rsa_store):
    return rsa_store.leaf("rsa2048")


class TestContent:
    def test_other_content(self, receipt_tool, leaf, rsa_trust):
        info = app_receipt.signer_info(leaf, CONTENT)
        for write in (app_receipt.container, app_receipt.indefinite_container):
            receipt = write(OTHER_CONTENT, leaf.full_chain, [info])
            receipt_tool.refuses(receipt, "signature-mismatch", *rsa_trust)

    def test_other_content_under_signed_attributes(self, receipt_tool, leaf, rsa_trust):
        attributes = app_receipt.signed_attributes(CONTENT, "sha256")
        info = app_receipt.signer_info(leaf, CONTENT, attributes=attributes)
        receipt = app_receipt.container(OTHER_CONTENT, leaf.full_chain, [info])
        receipt_tool.refuses(receipt, "signature-mismatch", *rsa_trust)

    def test_signed_attributes_replayed_as_content(self, receipt_tool, leaf, rsa_trust):
        # The signature of a receipt with signed attributes covers their encoding as a SET; the same
        # signature then fits a receipt without any, whose content is that SET.
        attributes = app_receipt.signed_attributes(CONTENT, "sha256")
        replayed = der.set_of(*attributes)
        info = app_receipt.signer_info(leaf, replayed)
        receipt = app_receipt.container(replayed, leaf.full_chain, [info])
        receipt_tool.refuses(receipt, {"malformed", "signature-mismatch"}, *rsa_trust)

    def test_content_replayed_as_signed_attributes(self, receipt_tool, leaf, rsa_trust):
        # The other way round: a genuine content, itself a SET, in the place of the signed attributes.
        signature = app_receipt.signer_info(leaf, CONTENT)
        genuine = leaf.key.sign(CONTENT, padding.PKCS1v15(), app_receipt.DIGESTS["sha256"][1]())
        assert genuine in signature
        members = [app_receipt.attribute(17, app_receipt.in_app())]
        info = app_receipt.signer_info(leaf, b"", attributes=members, signature=genuine)
        start = info.index(der.context(0, *members))
        end = start + len(der.context(0, *members))
        whole_set_as_attributes = b"\xa0" + CONTENT[1:]
        body = info[4:start] + whole_set_as_attributes + info[end:]
        receipt = app_receipt.container(OTHER_CONTENT, leaf.full_chain, [der.sequence(body)])
        receipt_tool.refuses(receipt, {"malformed", "signature-mismatch"}, *rsa_trust)

    @pytest.mark.parametrize("kept", [[], [0], [1], [0, 0, 1], [0, 1, 1]], ids=str)
    def test_signed_attributes_that_lack_or_repeat_one(self, receipt_tool, leaf, rsa_trust, kept):
        complete = app_receipt.signed_attributes(CONTENT, "sha256")
        info = app_receipt.signer_info(leaf, CONTENT, attributes=[complete[i] for i in kept])
        receipt = app_receipt.container(CONTENT, leaf.full_chain, [info])
        receipt_tool.refuses(receipt, {"malformed", "signature-mismatch"}, *rsa_trust)

    def test_signed_attributes_of_another_content_type(self, receipt_tool, leaf, rsa_trust):
        attributes = app_receipt.signed_attributes(CONTENT, "sha256", app_receipt.SIGNED_DATA)
        info = app_receipt.signer_info(leaf, CONTENT, attributes=attributes)
        receipt = app_receipt.container(CONTENT, leaf.full_chain, [info])
        receipt_tool.refuses(receipt, {"malformed", "signature-mismatch"}, *rsa_trust)

    def test_content_in_one_more_octet_string(self, receipt_tool, leaf, rsa_trust):
        for signed in (CONTENT, der.octets(CONTENT)):
            info = app_receipt.signer_info(leaf, signed)
            receipt = app_receipt.container(der.octets(CONTENT), leaf.full_chain, [info])
            receipt_tool.refuses(receipt, {"malformed", "signature-mismatch"}, *rsa_trust)

    @pytest.mark.parametrize("content", [b"", b"\x31\x00\x00", CONTENT + b"\0", CONTENT[:-1], der.sequence()])
    def test_signed_content_that_is_no_receipt(self, receipt_tool, leaf, rsa_trust, content):
        receipt_tool.refuses(app_receipt.sign(content, leaf), "malformed", *rsa_trust)

    @pytest.mark.parametrize("kind", [0, 2, 3, 4, 5, 12, 19, 4711])
    def test_an_attribute_that_repeats(self, receipt_tool, leaf, rsa_trust, kind):
        again = app_receipt.attribute(kind, der.utf8("com.example.other"))
        first = app_receipt.attribute(4711, der.utf8("x")) if kind == 4711 else b""
        content = app_receipt.payload(extra=(again, first) if first else (again,))
        receipt_tool.refuses(app_receipt.sign(content, leaf), "malformed", *rsa_trust)

    @pytest.mark.parametrize("kind", [1701, 1702, 1703, 1704, 1712])
    def test_an_in_app_attribute_that_repeats(self, receipt_tool, leaf, rsa_trust, kind):
        purchase = app_receipt.in_app(extra=(app_receipt.attribute(kind, der.utf8("x")),))
        receipt_tool.refuses(app_receipt.sign(app_receipt.payload(purchase), leaf), "malformed", *rsa_trust)


class TestContainer:
    def test_bytes_after_the_receipt(self, receipt_tool, leaf, rsa_trust):
        for ber in (False, True):
            receipt = app_receipt.sign(CONTENT, leaf, ber=ber)
            for tail in (b"\0", b"\n", b"\0\0", receipt):
                receipt_tool.refuses(receipt + tail, "malformed", *rsa_trust)

    def test_no_signer(self, receipt_tool, leaf, rsa_trust):
        receipt = app_receipt.container(CONTENT, leaf.full_chain, [])
        receipt_tool.refuses(receipt, {"unsigned", "malformed"}, *rsa_trust)

    def test_two_signers(self, receipt_tool, rsa_store, leaf, rsa_trust):
        mallory = pki.Store("Mallory", "rsa2048").leaf("rsa2048")
        genuine = app_receipt.signer_info(leaf, CONTENT)
        for other in (
            app_receipt.signer_info(mallory, CONTENT),
            app_receipt.signer_info(leaf, CONTENT, digest="sha1"),
        ):
            receipt = app_receipt.container(CONTENT, leaf.full_chain + mallory.full_chain, [genuine, other])
            receipt_tool.refuses(receipt, "malformed", *rsa_trust)

    def test_another_signer_behind_a_genuine_chain(self, receipt_tool, leaf, rsa_trust):
        mallory = pki.Store("Mallory", "rsa2048").leaf("rsa2048")
        receipt = app_receipt.container(
            OTHER_CONTENT,
            [*leaf.full_chain, mallory.der],
            [app_receipt.signer_info(mallory, OTHER_CONTENT)],
        )
        receipt_tool.refuses(receipt, "chain-untrusted", *rsa_trust)

    def test_a_signer_that_names_anothers_certificate(self, receipt_tool, leaf, rsa_trust):
        mallory = pki.Store("Mallory", "rsa2048").leaf("rsa2048")
        info = app_receipt.signer_info(mallory, OTHER_CONTENT, named=leaf)
        receipt = app_receipt.container(OTHER_CONTENT, leaf.full_chain, [info])
        receipt_tool.refuses(receipt, "signature-mismatch", *rsa_trust)

    def test_a_signer_that_names_its_issuer(self, receipt_tool, rsa_store, leaf, rsa_trust):
        info = app_receipt.signer_info(leaf, CONTENT, named=rsa_store.intermediate)
        receipt = app_receipt.container(CONTENT, leaf.full_chain, [info])
        receipt_tool.refuses(
            receipt,
            {"signature-mismatch", "certificate-purpose", "chain-length", "chain-untrusted"},
            *rsa_trust,
        )

    def test_a_signer_whose_certificate_is_absent(self, receipt_tool, rsa_store, leaf, rsa_trust):
        info = app_receipt.signer_info(leaf, CONTENT)
        for certificates in ([], leaf.full_chain[1:]):
            verdict = receipt_tool.verify(app_receipt.container(CONTENT, certificates, [info]), *rsa_trust)
            assert verdict["verdict"] != "valid", verdict

    def test_a_twin_of_the_signers_certificate(self, receipt_tool, rsa_store, leaf, rsa_trust):
        """Same issuer name and serial number, Mallory's key."""
        key = pki.make_key("rsa2048")
        twin = pki.Identity(
            key,
            pki.certificate(
                "Receipt Signing rsa2048",
                key.public_key(),
                issuer=rsa_store.intermediate,
                issuer_key=key,
                serial=leaf.certificate.serial_number,
                markers=(pki.RECEIPT_LEAF,),
            ),
        )
        info = app_receipt.signer_info(twin, OTHER_CONTENT)
        for certificates in ([twin.der, *leaf.full_chain], [*leaf.full_chain, twin.der]):
            receipt = app_receipt.container(OTHER_CONTENT, certificates, [info])
            receipt_tool.refuses(
                receipt, {"chain-untrusted", "signature-mismatch", "malformed"}, *rsa_trust
            )

    @pytest.mark.parametrize("ber", [False, True], ids=["der", "ber"])
    def test_every_truncation(self, receipt_tool, leaf, rsa_trust, ber):
        receipt = app_receipt.sign(CONTENT, leaf, ber=ber)
        lines = [base64.b64encode(receipt[:count]) for count in range(1, len(receipt))]
        run = receipt_tool.run("verify", "--json", "--lines", *rsa_trust, "-", stdin=b"\n".join(lines))
        assert len(run.lines) == len(lines)
        assert {line["reason"]["code"] for line in run.lines} == {"malformed"}

    @pytest.mark.long
    def test_every_seventh_bit(self, receipt_tool, leaf, rsa_trust):
        receipt = app_receipt.sign(CONTENT, leaf)
        lines = []
        for bit in range(0, len(receipt) * 8, 7):
            flipped = bytearray(receipt)
            flipped[bit // 8] ^= 1 << bit % 8
            lines.append(base64.b64encode(flipped))
        genuine = receipt_tool.accepts(receipt, *rsa_trust)
        run = receipt_tool.run("verify", "--json", "--lines", *rsa_trust, "-", stdin=b"\n".join(lines))
        assert len(run.lines) == len(lines)
        for index, line in enumerate(run.lines):
            if line["verdict"] == "valid":
                # Some bits mean nothing: a NULL that is not signed, a certificate that is not needed.
                for field in ("environment", "bundleId", "signedDate", "signer", "transactions"):
                    assert line[field] == genuine[field], (index * 7, line)


class TestAlgorithm:
    def with_digest(self, leaf, oid):
        info = app_receipt.signer_info(leaf, CONTENT)
        sha256 = der.oid(app_receipt.DIGESTS["sha256"][0])
        return app_receipt.container(CONTENT, leaf.full_chain, [info]).replace(sha256, oid)

    def test_other_digests(self, receipt_tool, leaf, rsa_trust):
        for last in (2, 3, 4, 8):  # SHA-384, SHA-512, SHA-224, SHA3-256: encoded as long as SHA-256
            receipt = self.with_digest(leaf, der.oid(f"2.16.840.1.101.3.4.2.{last}"))
            receipt_tool.refuses(receipt, {"unsupported-algorithm", "signature-mismatch"}, *rsa_trust)

    def test_another_signature_algorithm(self, receipt_tool, leaf, rsa_trust):
        info = app_receipt.signer_info(leaf, CONTENT)
        rsa = der.sequence(der.oid(app_receipt.RSA), der.null())
        pss = der.sequence(der.oid("1.2.840.113549.1.1.10"), der.null())
        altered = rsa.join(info.split(rsa)[:-1]) + pss + info.split(rsa)[-1]
        assert altered != info
        receipt = app_receipt.container(CONTENT, leaf.full_chain, [altered])
        receipt_tool.refuses(receipt, "unsupported-algorithm", *rsa_trust)

    @pytest.mark.parametrize("signature", [b"", b"\0" * 256, b"\xff" * 256, b"\1" * 255], ids=len)
    def test_signatures_that_are_none(self, receipt_tool, leaf, rsa_trust, signature):
        info = app_receipt.signer_info(leaf, CONTENT, signature=signature)
        receipt = app_receipt.container(CONTENT, leaf.full_chain, [info])
        receipt_tool.refuses(receipt, {"signature-mismatch", "malformed", "unsigned"}, *rsa_trust)


class TestChain:
    def refuses(self, receipt_tool, rsa_trust, signer, code):
        receipt_tool.refuses(app_receipt.sign(CONTENT, signer), code, *rsa_trust)

    def test_another_root(self, receipt_tool, rsa_trust):
        self.refuses(receipt_tool, rsa_trust, pki.Store("Mallory", "rsa2048").leaf("rsa2048"), "chain-untrusted")

    def test_a_root_of_the_same_name(self, receipt_tool, rsa_store, rsa_trust):
        twin = pki.Store("Independent RSA Root", "rsa2048").leaf("rsa2048")
        self.refuses(receipt_tool, rsa_trust, twin, "chain-untrusted")
        receipt = app_receipt.container(
            CONTENT, [*twin.full_chain[:2], rsa_store.root.der], [app_receipt.signer_info(twin, CONTENT)]
        )
        receipt_tool.refuses(receipt, "chain-untrusted", *rsa_trust)

    def test_only_apple_is_trusted_by_default(self, receipt_tool, leaf):
        self.refuses(receipt_tool, [], leaf, "chain-untrusted")

    def test_apples_genuine_root_above_a_forged_chain(self, receipt_tool, leaf, shared):
        genuine = (shared / "receipts/trust/AppleRootCA.cer").read_bytes()
        receipt = app_receipt.container(
            CONTENT, [*leaf.full_chain[:2], genuine], [app_receipt.signer_info(leaf, CONTENT)]
        )
        receipt_tool.refuses(receipt, "chain-untrusted")

    def test_a_developer_certificate(self, receipt_tool, rsa_store, rsa_trust):
        for markers in [(), (pki.DEVELOPER_LEAF,)]:
            signer = rsa_store.intermediate.issue("Developer", "rsa2048", markers=markers)
            self.refuses(receipt_tool, rsa_trust, signer, "certificate-purpose")

    def test_an_intermediate_without_marker_or_authority(self, receipt_tool, rsa_store, rsa_trust):
        for options in ({"markers": (), "ca": True}, {"markers": (pki.RECEIPT_INTERMEDIATE,), "ca": False}):
            intermediate = rsa_store.root.issue("Intermediate", "rsa2048", **options)
            signer = intermediate.issue("Receipt Signing", "rsa2048", markers=(pki.RECEIPT_LEAF,))
            self.refuses(receipt_tool, rsa_trust, signer, {"certificate-purpose", "chain-untrusted"})

    def test_paths_of_two_and_four(self, receipt_tool, rsa_store, rsa_trust):
        direct = rsa_store.root.issue("Receipt Signing", "rsa2048", markers=(pki.RECEIPT_LEAF,))
        self.refuses(receipt_tool, rsa_trust, direct, {"chain-length", "certificate-purpose"})
        upper = rsa_store.root.issue("Upper", "rsa2048", ca=True, markers=(pki.RECEIPT_INTERMEDIATE,))
        lower = upper.issue("Lower", "rsa2048", ca=True, markers=(pki.RECEIPT_INTERMEDIATE,))
        deep = lower.issue("Receipt Signing", "rsa2048", markers=(pki.RECEIPT_LEAF,))
        self.refuses(receipt_tool, rsa_trust, deep, {"chain-length", "chain-untrusted"})

    def test_a_self_signed_receipt_as_xcode_makes_it(self, receipt_tool, rsa_trust):
        xcode = pki.self_signed("StoreKit", "rsa2048", ca=False)
        for environment in ("Xcode", "Production"):
            content = app_receipt.payload(environment=environment)
            receipt = app_receipt.sign(content, xcode, ber=True)
            codes = {"chain-length", "chain-untrusted", "wrong-environment"}
            receipt_tool.refuses(receipt, codes, *rsa_trust)
            # Even admitted, it is Xcode's own certificate that signs, not one of the same name.
            options = ["--admit-xcode", "--environment", "xcode", "--environment", "production"]
            receipt_tool.refuses(receipt, codes, *rsa_trust, *options)


class TestPolicy:
    def test_another_app(self, receipt_tool, leaf, rsa_trust):
        receipt = app_receipt.sign(CONTENT, leaf)
        receipt_tool.refuses(receipt, "wrong-bundle", *rsa_trust, "--bundle-id", "com.example.other")
        receipt_tool.refuses(receipt, "wrong-app", *rsa_trust, "--app-apple-id", samples.APP_ID + 1)
        receipt_tool.accepts(receipt, *rsa_trust, "--app-apple-id", samples.APP_ID)

    def test_another_device(self, receipt_tool, leaf, rsa_trust):
        receipt = app_receipt.sign(CONTENT, leaf)
        other = "ffffffff-4455-6677-8899-aabbccddeeff"
        receipt_tool.refuses(receipt, "wrong-device", *rsa_trust, "--device-id", other)

    def test_no_device(self, receipt_tool, leaf, rsa_trust):
        receipt = app_receipt.sign(app_receipt.payload(device=None), leaf)
        device = app_receipt.DEVICE.hex()
        receipt_tool.refuses(receipt, "wrong-device", *rsa_trust, "--device-id", device)

    @pytest.mark.parametrize("stated", ["ProductionSandbox", "ProductionVPPSandbox", "Sandbox"])
    def test_sandbox_where_only_production_counts(self, receipt_tool, leaf, rsa_trust, stated):
        receipt = app_receipt.sign(app_receipt.payload(environment=stated), leaf)
        receipt_tool.refuses(receipt, "wrong-environment", *rsa_trust, "--environment", "production")
        receipt_tool.accepts(receipt, *rsa_trust, "--environment", "sandbox")

    @pytest.mark.parametrize("stated", ["Production", "ProductionVPP"])
    def test_production_where_only_sandbox_counts(self, receipt_tool, leaf, rsa_trust, stated):
        receipt = app_receipt.sign(app_receipt.payload(environment=stated), leaf)
        receipt_tool.refuses(receipt, "wrong-environment", *rsa_trust, "--environment", "sandbox")
        receipt_tool.accepts(receipt, *rsa_trust, "--environment", "production")

    @pytest.mark.parametrize(
        ("created", "reason"),
        [
            ("2023-12-31T23:59:59Z", "chain-expired"),
            ("2024-01-01T00:00:00Z", None),
            ("2025-06-01T00:00:00Z", None),
            ("2025-06-01T00:00:01Z", "chain-expired"),
            ("2098-01-01T00:00:00Z", "signed-in-future"),
        ],
    )
    def test_the_creation_date_against_the_certificate(self, receipt_tool, leaf, rsa_trust, created, reason):
        receipt = app_receipt.sign(app_receipt.payload(created=created), leaf)
        if reason:
            receipt_tool.refuses(receipt, reason, *rsa_trust)
        else:
            receipt_tool.accepts(receipt, *rsa_trust)

    def test_now_an_expired_chain_is_refused(self, receipt_tool, leaf, rsa_trust):
        receipt = app_receipt.sign(CONTENT, leaf)
        receipt_tool.refuses(receipt, "chain-expired", *rsa_trust, "--time", "now")
