# SPDX-License-Identifier: Apache-2.0
"""Forged and misused transaction receipts: each must be refused, and for the right reason."""

import base64
import datetime

import pytest

from independent import pki, transaction_receipt

GENUINE = transaction_receipt.property_list(transaction_receipt.PURCHASE_INFO)


@pytest.fixture
def leaf(rsa_store):
    return rsa_store.leaf("rsa2048")


@pytest.fixture
def options(rsa_store, rsa_trust, write_certificate):
    return [*rsa_trust, "--intermediate", write_certificate(rsa_store.intermediate)]


def with_info(leaf, changed: bytes, version: int = 4, **others) -> bytes:
    """A genuine signature around another purchase-info, as the in-app proxies of 2012 made it."""
    blob = transaction_receipt.signature_blob(version, GENUINE, leaf)
    return transaction_receipt.sign(leaf, version, purchase_info=changed, blob=blob, **others)


@pytest.mark.parametrize("version", [3, 4])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("com.example.app.gems", "com.example.app.sword"),
        ("1000000000000201", "1000000000000999"),
        ('"quantity" = "2"', '"quantity" = "200"'),
        ("1740823200000", "1740823200001"),
        ('"com.example.app"', '"com.example.other"'),
        ("{\n", "{ \n"),
    ],
)
def test_altered_fields(receipt_tool, leaf, options, version, old, new):
    changed = GENUINE.replace(old.encode(), new.encode())
    assert changed != GENUINE
    receipt_tool.refuses(
        with_info(leaf, changed, version), {"signature-mismatch", "malformed"}, *options
    )


def test_added_fields(receipt_tool, leaf, options):
    changed = GENUINE.replace(b"}", b'\t"expires-date" = "4102444800000";\n}')
    receipt_tool.refuses(with_info(leaf, changed), "signature-mismatch", *options)


@pytest.mark.parametrize("claimed", [b"\x00", b"\x01", b"\x02", b"\x03", b"\x05", b"\xff"])
def test_another_version_byte(receipt_tool, leaf, options, claimed):
    blob = claimed + transaction_receipt.signature_blob(4, GENUINE, leaf)[1:]
    receipt = transaction_receipt.sign(leaf, purchase_info=GENUINE, blob=blob)
    receipt_tool.refuses(receipt, {"signature-mismatch", "malformed", "unsupported-algorithm"}, *options)


def test_the_layout_of_the_signature(receipt_tool, leaf, options):
    blob = transaction_receipt.signature_blob(4, GENUINE, leaf)
    for wrong in (b"", b"\4", blob[:-1], blob + b"\0", blob[:200], blob[:257] + b"\xff\xff\xff\xff" + blob[261:]):
        receipt = transaction_receipt.sign(leaf, purchase_info=GENUINE, blob=wrong)
        receipt_tool.refuses(receipt, {"malformed", "unsupported-algorithm"}, *options)


@pytest.mark.parametrize("key", ["signature", "purchase-info"])
def test_an_outer_key_that_repeats(receipt_tool, leaf, options, key):
    plist = transaction_receipt.sign(leaf, encode=False).decode()
    line = next(line for line in plist.splitlines() if f'"{key}"' in line)
    doubled = plist.replace(line, f"{line}\n{line}")
    receipt_tool.refuses(doubled, "malformed", *options)


def test_an_inner_key_that_repeats(receipt_tool, leaf, options):
    info = GENUINE.replace(b"}", b'\t"product-id" = "com.example.app.gems";\n}')
    receipt_tool.refuses(transaction_receipt.sign(leaf, purchase_info=info), "malformed", *options)


def test_text_after_the_lists(receipt_tool, leaf, options):
    receipt_tool.refuses(transaction_receipt.sign(leaf, purchase_info=GENUINE + b"{}"), "malformed", *options)
    receipt_tool.refuses(transaction_receipt.sign(leaf, encode=False) + b"{}", "malformed", *options)


def test_another_root(receipt_tool, options):
    forged = pki.Store("Independent RSA Root", "rsa2048").leaf("rsa2048")
    verdict = receipt_tool.verify(transaction_receipt.sign(forged), *options)
    assert verdict["verdict"] != "valid"
    assert verdict["reason"]["code"] in {"chain-untrusted", "issuer-missing"}


def test_another_root_whose_intermediate_is_at_hand(receipt_tool, options, write_certificate):
    forged = pki.Store("Mallory", "rsa2048")
    verdict = receipt_tool.verify(
        transaction_receipt.sign(forged.leaf("rsa2048")),
        *options,
        "--intermediate",
        write_certificate(forged.intermediate),
    )
    assert verdict["verdict"] != "valid"
    assert verdict["reason"]["code"] in {"chain-untrusted", "issuer-missing"}


def test_a_self_signed_leaf(receipt_tool, options):
    signer = pki.self_signed("Receipt Signing", "rsa2048", ca=False, markers=(pki.RECEIPT_LEAF,))
    verdict = receipt_tool.verify(transaction_receipt.sign(signer), *options)
    assert verdict["verdict"] != "valid"
    assert verdict["reason"]["code"] in {"chain-untrusted", "issuer-missing", "chain-length"}


def test_a_developer_certificate(receipt_tool, rsa_store, options):
    for markers in [(), (pki.DEVELOPER_LEAF,)]:
        signer = rsa_store.intermediate.issue("Developer", "rsa2048", markers=markers)
        receipt_tool.refuses(transaction_receipt.sign(signer), "certificate-purpose", *options)


class TestEnvironment:
    """The environment is not signed: the claim must not count as proof."""

    @pytest.mark.parametrize("environment", ["Sandbox", "Production", None])
    def test_a_claim_is_no_proof_of_production(self, receipt_tool, leaf, options, environment):
        receipt = transaction_receipt.sign(leaf, environment=environment)
        receipt_tool.leaves_open(receipt, "environment-unproven", *options, "--environment", "production")

    @pytest.mark.parametrize("environment", ["Sandbox", None])
    def test_either_is_enough_where_both_are_accepted(self, receipt_tool, leaf, options, environment):
        receipt = transaction_receipt.sign(leaf, environment=environment)
        both = ["--environment", "production", "--environment", "sandbox"]
        receipt_tool.accepts(receipt, *options, *both)


class TestPolicy:
    def test_another_app(self, receipt_tool, leaf, options):
        receipt = transaction_receipt.sign(leaf)
        receipt_tool.refuses(receipt, "wrong-bundle", *options, "--bundle-id", "com.example.other")

    def test_another_device(self, receipt_tool, leaf, options):
        receipt = transaction_receipt.sign(leaf)
        receipt_tool.accepts(receipt, *options, "--device-id", "00112233-4455-6677-8899-aabbccddeeff")
        other = "ffffffff-4455-6677-8899-aabbccddeeff"
        receipt_tool.refuses(receipt, "wrong-device", *options, "--device-id", other)

    @pytest.mark.parametrize(
        ("second", "reason"),
        [
            ("2023-12-31 23:59:59", "chain-expired"),
            ("2024-01-01 00:00:00", None),
            ("2025-06-01 00:00:00", None),
            ("2025-06-01 00:00:01", "chain-expired"),
            ("2098-01-01 00:00:00", "signed-in-future"),
        ],
    )
    def test_the_purchase_date_against_the_certificate(self, receipt_tool, leaf, options, second, reason):
        instant = datetime.datetime.fromisoformat(second).replace(tzinfo=datetime.timezone.utc)
        fields = {
            "purchase_date": f"{second} Etc/GMT",
            "purchase_date_ms": str(int(instant.timestamp() * 1000)),
        }
        receipt = transaction_receipt.sign(leaf, **fields)
        if reason:
            receipt_tool.refuses(receipt, reason, *options)
        else:
            receipt_tool.accepts(receipt, *options)


def test_every_seventh_bit(receipt_tool, leaf, options):
    receipt = transaction_receipt.sign(leaf, encode=False)
    genuine = receipt_tool.accepts(receipt, *options)
    lines = []
    for bit in range(0, len(receipt) * 8, 7):
        flipped = bytearray(receipt)
        flipped[bit // 8] ^= 1 << bit % 8
        lines.append(base64.b64encode(flipped))
    run = receipt_tool.run("verify", "--json", "--lines", *options, "-", stdin=b"\n".join(lines))
    assert len(run.lines) == len(lines)
    for index, line in enumerate(run.lines):
        if line["verdict"] == "valid":
            # The outer list is not signed: its white space, pod, signing-status and environment may differ.
            for field in ("bundleId", "signedDate", "signer", "transactions"):
                assert line[field] == genuine[field], (index * 7, line)
