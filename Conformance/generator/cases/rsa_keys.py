# SPDX-License-Identifier: Apache-2.0
"""App receipts under RSA keys that prove nothing: keys that anybody factors, and keys that are none."""

import functools
import hashlib
import itertools

import cms
import der
from cms import Cases, receipt
from suite import Suite, flag

SHORT_KEY = flag(
    "ShortRsaKey",
    "An RSA key of a certificate has less than 1,024 bits.",
    "An attacker who factors its modulus signs receipts; 512 bits take hours.",
    "NIST SP 800-131A Rev. 2 section 3",
    "CVE-2015-0204",
)
BAD_EXPONENT = flag(
    "RsaExponent",
    "The public exponent of an RSA key is 1 or even.",
    "With the exponent 1 a signature is its own message, so that anybody signs; even ones are none of RSA.",
    "RFC 8017 section 3.1",
)
KEY_INFO = 6
DIVISORS = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)


def add(suite: Suite) -> None:
    add_short_keys(Cases(suite, "chain", SHORT_KEY))
    add_exponents(Cases(suite, "algorithm", BAD_EXPONENT))


def is_prime(number: int) -> bool:
    """Whether a number passes Miller and Rabin's test to the bases of DIVISORS."""
    if any(number % divisor == 0 for divisor in DIVISORS):
        return False
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for base in DIVISORS:
        power = pow(base, odd, number)
        if power != 1 and number - 1 not in (pow(power, 2**index, number) for index in range(twos)):
            return False
    return True


@functools.cache
def prime(name: str, bits: int) -> int:
    """A prime that follows from a name, with its two highest bits set, for the public exponent 65537."""
    for count in itertools.count():
        digest = hashlib.shake_256(f"receipt-conformance prime {name} {count}".encode()).digest(bits // 8)
        number = int.from_bytes(digest, "big") | 3 << bits - 2 | 1
        if number % 65_537 != 1 and is_prime(number):
            return number
    raise AssertionError


def public_key(modulus: int, exponent: int) -> bytes:
    """SubjectPublicKeyInfo, for keys that no library writes."""
    numbers = der.sequence(der.integer(modulus), der.integer(exponent))
    return der.sequence(cms.algorithm(cms.RSA_ENCRYPTION), der.bit_string(numbers))


def with_key(info: bytes):
    """A change of a TBSCertificate: another public key."""
    return lambda encoded: cms.edit(encoded, (KEY_INFO,), lambda _: info)


def add_short_keys(cases: Cases) -> None:
    of = cms.authority()
    for bits in (512, 768):
        first, second = prime(f"{bits} first", bits // 2), prime(f"{bits} second", bits // 2)
        modulus, size = first * second, bits // 8
        secret = pow(65_537, -1, (first - 1) * (second - 1))

        def signed_again(certificate: bytes, modulus=modulus, secret=secret, size=size) -> bytes:
            signed, algorithm, _ = der.children(der.read(certificate)[1])
            message = cms.padded(cms.digest_info(signed), size)
            signature = pow(int.from_bytes(message, "big"), secret, modulus).to_bytes(size, "big")
            return der.sequence(signed, algorithm, der.bit_string(signature))

        changed = of.but(
            intermediate={"change_signed": with_key(public_key(modulus, 65_537))}, leaf={"change": signed_again}
        )  # fmt: skip
        cases.invalid(
            f"intermediate-key-{bits}-bits",
            f"The intermediate's key has {bits} bits.",
            receipt(of=changed, certificates=tuple(changed.chain)),
            "chain-untrusted",
            place="certificate 1",
            importance="critical" if bits == 512 else "high",
        )


def square_root(number: int, of: int) -> int | None:
    """A square root modulo an odd prime (Tonelli and Shanks); None if there is none."""
    if pow(number, (of - 1) // 2, of) != 1:
        return None
    odd, twos = of - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    other = next(base for base in itertools.count(2) if pow(base, (of - 1) // 2, of) == of - 1)
    root, rest, step = pow(number, (odd + 1) // 2, of), pow(number, odd, of), pow(other, odd, of)
    while rest != 1:
        order = next(index for index in range(1, twos) if pow(rest, 2**index, of) == 1)
        factor = pow(step, 2 ** (twos - order - 1), of)
        root, step, twos = root * factor % of, factor * factor % of, order
        rest = rest * step % of
    return root


def rabin(key) -> tuple[bytes, bytes]:
    """A payload whose padded digest is a square modulo a key, and the root in place of a signature."""
    numbers = key.private_numbers()
    for count in itertools.count(1):
        content = cms.payload({3: cms.text(f"2.{count}")})
        message = int.from_bytes(cms.padded(cms.digest_info(content)), "big")
        roots = square_root(message % numbers.p, numbers.p), square_root(message % numbers.q, numbers.q)
        if None not in roots:
            root = roots[0] * numbers.q * pow(numbers.q, -1, numbers.p) + roots[1] * numbers.p * pow(numbers.p, -1, numbers.q)
            return content, (root % (numbers.p * numbers.q)).to_bytes(256, "big")
    raise AssertionError


def add_exponents(cases: Cases) -> None:
    of = cms.authority()
    modulus = of.leaf.key.public_key().public_numbers().n
    content, root = rabin(of.leaf.key)
    for exponent, text, payload, signature in (
        (1, "the padded digest in the clear is its signature", cms.payload(), cms.padded(cms.digest_info(cms.payload()))),
        (2, "its signature is a square root", content, root),
    ):
        changed = of.but(leaf={"change_signed": with_key(public_key(modulus, exponent))})
        cases.invalid(
            f"leaf-exponent-{exponent}",
            f"The public exponent of the signer's key is {exponent}, and {text}.",
            receipt(payload, of=changed, certificates=tuple(changed.chain), signature=signature),
            "chain-untrusted",
            place="certificate 0",
            importance="critical" if exponent == 1 else "medium",
        )
