# SPDX-License-Identifier: Apache-2.0
"""Many receipts that one verifier verifies together, again and again: what it remembers of signers and computes once for
all changes no verdict.

The rounds are so many that a program which prepares for a signer that it sees often has done so long before the last one.
"""

import dataclasses
import functools
import hashlib

import der
import fold
import jws
import keys
import pki
from jws import encode, replaced, signature_of
from suite import Suite, b64, base_policy, flag, json_bytes

from cases.jws_signatures import N, flipped, joined, split

TOGETHER = flag(
    "VerifiedTogether", "Among the receipts of a signer that are verified together there is a forged one.",
    "A program that shares work between receipts accepts it, or refuses the others with it.",
    "https://www.rfc-editor.org/rfc/rfc7515#section-5.2",
)  # fmt: skip
EDGE = flag(
    "SignatureRangeTogether",
    "Among the receipts of a signer that are verified together there is one whose r or s is zero or not below the order of the"
    " curve, or whose point is at infinity.",
    "A product of several numbers, one of which is zero, is zero: all signatures are taken for wrong, or for right.",
    "CVE-2022-21449", "https://doi.org/10.6028/NIST.FIPS.186-5",
)  # fmt: skip
SIGNERS = flag(
    "SignersTogether", "Receipts of several signers are verified together.",
    "A signature by one of them is accepted as one of another.", "https://www.rfc-editor.org/rfc/rfc7515#section-5.2",
)  # fmt: skip
REMEMBERED = flag(
    "RememberedSigner", "A receipt is refused for its own date, its own certificates or its own content, after others of its"
    " signer were accepted; or it is in order, after others were refused.",
    "A program that remembers more of a signer than holds for the next receipt accepts what it must refuse.",
    "https://www.rfc-editor.org/rfc/rfc5280#section-6.1.3",
)  # fmt: skip

DAY = fold.DAY
# How many genuine signatures of each signer are verified in all, so that a program which prepares for a signer that it sees
# often uses in the last rounds what it prepared.
SIGNATURES = 750


def small_name(common: str) -> bytes:
    return der.sequence(der.set_of(der.sequence(der.oid("2.5.4.3"), der.utf8(common))))


@functools.cache
def authority(foreign: bool = False) -> pki.Authority:
    """The authority of JWS with short names, so that receipts are short."""
    plain = jws.authority(foreign)
    root, intermediate = small_name("Root"), small_name("CA")
    return plain.but(
        {"subject": root, "issuer": root}, {"subject": intermediate, "issuer": root},
        {"subject": small_name("A"), "issuer": intermediate},
    )  # fmt: skip


@functools.cache
def second() -> pki.Authority:
    """Another signer of the same authority."""
    return authority().but(leaf={"subject": small_name("B"), "serial": 4, "key": keys.elliptic("second leaf")})


@functools.lru_cache
def encoded_chain(of: pki.Authority) -> tuple[bytes, ...]:
    return tuple(of.chain)


def payload(number: int = 1, **changes) -> dict:
    """A signed transaction of few members."""
    members = {
        "originalTransactionId": fold.ORIGINAL,
        "transactionId": str(2_000_000_000 + number),
        "bundleId": fold.APP,
        "productId": fold.COINS,
        "purchaseDate": fold.PURCHASED,
        "originalPurchaseDate": fold.PURCHASED,
        "quantity": 1,
        "type": fold.CONSUMABLE,
        "inAppOwnershipType": "PURCHASED",
        "signedDate": fold.SIGNED,
        "environment": "Production",
    }
    return members | changes


def signed(of: pki.Authority, content: dict) -> str:
    return jws.compact(json_bytes(content), chain=encoded_chain(of), key=of.leaf.key)


def transaction(number: int = 1, of: pki.Authority | None = None, **changes) -> str:
    return signed(of or authority(), payload(number, **changes))


def notification(name: str, part: str) -> str:
    data = {"environment": "Production", "appAppleId": 1234567890, "bundleId": fold.APP, "bundleVersion": "2.1",
            "signedTransactionInfo": part}  # fmt: skip
    return signed(
        authority(),
        {"notificationType": "ONE_TIME_CHARGE", "notificationUUID": f"1f0c6b7a-9a3e-4f43-8d15-3b8e3a2f7c{name}",
         "version": "2.0", "signedDate": fold.SIGNED, "data": data},
    )  # fmt: skip


def signature(token: str, value: bytes) -> str:
    return replaced(token, signature=encode(value))


VALID = ("valid", None)
FORGED = ("invalid", "signature-mismatch")


def add(suite: Suite) -> None:
    cases = Cases(suite)
    add_of_one_signer(cases)
    add_edges(cases)
    add_of_several_signers(cases)
    add_notifications(cases)
    add_remembered(cases)
    add_formats(cases)


@dataclasses.dataclass
class Cases:
    suite: Suite

    def add(
        self, name: str, text: str, receipts: list[tuple[str | bytes, tuple[str, str | None]]],
        rounds: int = SIGNATURES // 2, features: tuple[str, ...] = ("signed-transaction",), policy: dict | None = None,
        **options,
    ) -> None:  # fmt: skip
        """Adds a case of receipts, each with its verdict and reason."""
        data = [receipt.encode() if isinstance(receipt, str) else receipt for receipt, _ in receipts]
        verdicts = [
            {"index": index, "verdict": verdict} | ({"reason": reason} if reason else {})
            for index, (_, (verdict, reason)) in enumerate(receipts)
        ]
        self.suite.add(
            f"verify-all::{name}", text, {"receipts": [b64(each) for each in data], "rounds": rounds}, "valid",
            operation="verify-all", values={"verdicts": verdicts}, features=list(features),
            policy=base_policy(authority()) if policy is None else policy, **options,
        )  # fmt: skip


def add_of_one_signer(cases: Cases) -> None:
    first, other, third = (transaction(number) for number in (1, 2, 3))
    renewal = {name: value for name, value in fold.renewal().items() if name != "renewalDate"}
    r, s = split(signature_of(other))
    cases.add(
        "signer::genuine", "All receipts are genuine, and of several kinds. s of one is the order of the curve minus that of "
        "its signer, which is right too.",
        [(first, VALID), (signed(authority(), renewal), VALID), (signature(other, joined(r, N - s)), VALID)],
        SIGNATURES // 3, ("signed-transaction", "signed-renewal-info"), importance="critical",
    )  # fmt: skip
    changed = replaced(first, payload=encode(json_bytes(payload(quantity=100))))
    cases.add(
        "signer::forged-between", "Receipts with a flipped bit, with another one's signature and with a changed payload stand "
        "among genuine ones.",
        [(signature(third, flipped(signature_of(third), 255)), FORGED), (first, VALID),
         (signature(third, signature_of(first)), FORGED), (other, VALID), (changed, FORGED)],
        flags=[TOGETHER], importance="critical",
    )  # fmt: skip


def infinite(of: pki.Authority, token: str) -> bytes:
    """A signature of any s for which the two points that are added are each other's negative."""
    digest = int.from_bytes(hashlib.sha256(token.rpartition(".")[0].encode()).digest(), "big")
    secret = of.leaf.key.private_numbers().private_value
    return joined(-digest * pow(secret, -1, N) % N, 1)


def add_edges(cases: Cases) -> None:
    first, other, third = (transaction(number) for number in (1, 2, 3))
    r, s = split(signature_of(third))
    for name, text, values in [
        ("s-zero-first", "s of the first receipt is zero.", [joined(r, 0), None, None]),
        ("s-order-between", "s of the receipt between two genuine ones is the order of the curve.", [None, joined(r, N), None]),
        ("r-zero-first", "r of the first receipt is zero; another signature leads to the point at infinity, and r and s of the "
         "last one are the order of the curve.",
         [joined(0, s), None, infinite(authority(), third), None, joined(N, N)]),
    ]:  # fmt: skip
        genuine = iter([first, other])
        receipts = [(next(genuine), VALID) if value is None else (signature(third, value), FORGED) for value in values]
        cases.add(f"edge::{name}", text, receipts, flags=[EDGE], importance="critical")


def add_of_several_signers(cases: Cases) -> None:
    ours, theirs = transaction(1), transaction(2, second())
    crossed = [
        signature(token, jws.es256(key, token.rpartition(".")[0].encode()))
        for token, key in [(transaction(3), second().leaf.key), (transaction(4, second()), authority().leaf.key)]
    ]
    cases.add(
        "signers::crossed", "Either of two signers signed one receipt in the name of the other.",
        [(crossed[1], FORGED), (ours, VALID), (theirs, VALID), (crossed[0], FORGED)],
        SIGNATURES, flags=[SIGNERS], importance="critical",
    )  # fmt: skip


def add_notifications(cases: Cases) -> None:
    part = transaction(7)
    forged = signature(part, flipped(signature_of(part), 300))
    cases.add(
        "notification::parts", "The signed transaction within one of two notifications is forged.",
        [(notification("01", part), VALID), (notification("02", forged), FORGED)],
        SIGNATURES // 3, ("signed-notification", "signed-transaction", "nested-parts"), flags=[TOGETHER], importance="critical",
    )  # fmt: skip


def add_remembered(cases: Cases) -> None:
    plain = authority()
    short = plain.but(leaf={"not_before": pki.SIGNED - 86_400, "not_after": pki.SIGNED + 86_400})
    late, early = (transaction(1, short, signedDate=date, purchaseDate=date)
                   for date in (fold.SIGNED + 2 * DAY, fold.SIGNED - 2 * DAY))  # fmt: skip
    cases.add(
        "remembered::dates", "The signer's certificate is valid for two days. Of three receipts one is from after and one "
        "from before that time.",
        [(transaction(1, short), VALID), (late, ("invalid", "chain-expired")), (early, ("invalid", "chain-expired"))],
        rounds=3, flags=[REMEMBERED], importance="critical",
    )  # fmt: skip
    foreign = authority(foreign=True)
    moved = signed(pki.Authority(foreign.root, foreign.intermediate, plain.leaf), payload(2))
    cases.add(
        "remembered::other-chain", "After a receipt in order, the signer's certificate stands under a forger's certificates "
        "of the same names.", [(transaction(1), VALID), (moved, ("invalid", "chain-untrusted"))],
        rounds=3, flags=[REMEMBERED], importance="critical",
    )  # fmt: skip
    other_app = transaction(1, bundleId="com.example.other")
    forged = signature(transaction(2), flipped(signature_of(transaction(2)), 0))
    cases.add(
        "remembered::refused-first", "The first two receipts of a signer are forged and of another app, and the third is in "
        "order.",
        [(forged, FORGED), (other_app, ("invalid", "wrong-bundle")), (transaction(3), VALID)],
        rounds=3, flags=[REMEMBERED], importance="critical",
    )  # fmt: skip


def add_formats(cases: Cases) -> None:
    genuine = fold.app_receipt(fold.in_app())
    contents = der.children(der.read(genuine)[1])
    fields = der.children(der.read(der.read(contents[1])[1])[1])
    certificates = der.read(fields[3])[1] + encoded_chain(second())[0]
    changed = der.sequence(*fields[:3], der.context(0, certificates), *fields[4:])
    added = der.sequence(contents[0], der.context(0, changed))
    forged = added[:-1] + bytes([added[-1] ^ 1])
    policy = base_policy(authority()) | {"intermediates": fold.rsa_policy()["intermediates"]}
    policy["trust"] = [*policy["trust"], *fold.rsa_policy()["trust"]]
    cases.add(
        "remembered::formats", "Receipts of three formats. A stranger's certificate was added to an app receipt, which its "
        "signature does not cover; then the signature was changed.",
        [(fold.transaction_receipt(), VALID), (transaction(1), VALID), (genuine, VALID), (added, VALID), (forged, FORGED)],
        rounds=3, features=("app-receipt", "transaction-receipt", "signed-transaction"), policy=policy, flags=[REMEMBERED],
    )  # fmt: skip
