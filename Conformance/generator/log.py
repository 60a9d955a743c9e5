# SPDX-License-Identifier: Apache-2.0
"""Trees of RFC 6962, their proofs, and what a log signs: notes, checkpoints, cosignatures, proof files (C2SP)."""

import base64
import dataclasses
import hashlib

import keys

ED25519 = 1
COSIGNATURE = 4
EM_DASH = "\u2014"
EMPTY_ROOT = hashlib.sha256(b"").digest()
# JSON numbers up to here are the same in every implementation of JSON; greater ones are texts in the suite.
GREATEST_NUMBER = 2**53 - 1


# Trees: RFC 6962 section 2.1.


def leaf(record: bytes) -> bytes:
    return hashlib.sha256(b"\0" + record).digest()


def node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\1" + left + right).digest()


def record(index: int) -> bytes:
    """The record of an index in every tree of the suite."""
    return b"record %d" % index


def left_of(size: int) -> int:
    """The largest power of two below the size: the number of leaves on the left of a tree's root."""
    return 1 << (size - 1).bit_length() - 1


@dataclasses.dataclass(frozen=True)
class Tree:
    """A tree of a size. With cuts, only the subtrees that a cut divides are made of their leaves, and every other one has
    a hash made of its bounds: so trees of any size have a root and proofs, at the places of the cuts."""

    size: int
    cuts: tuple[int, ...] | None = None

    def hash(self, low: int, high: int) -> bytes:
        if low == high:
            return EMPTY_ROOT
        if high - low == 1:
            return leaf(record(low))
        if self.cuts is not None and not any(low < cut < high for cut in self.cuts):
            return hashlib.sha256(b"subtree %d %d" % (low, high)).digest()
        middle = low + left_of(high - low)
        return node(self.hash(low, middle), self.hash(middle, high))

    @property
    def root(self) -> bytes:
        return self.hash(0, self.size)

    def root_before(self, size: int, low: int = 0, high: int | None = None) -> bytes:
        """The root of the tree of the first entries up to a size, which must be a cut."""
        high = self.size if high is None else high
        if size == high:
            return self.hash(low, high)
        middle = low + left_of(high - low)
        if size <= middle:
            return self.root_before(size, low, middle)
        return node(self.hash(low, middle), self.root_before(size, middle, high))

    def inclusion(self, index: int, low: int = 0, high: int | None = None) -> list[bytes]:
        """PATH of RFC 6962 section 2.1.1, the leaf's sibling first."""
        high = self.size if high is None else high
        if high - low == 1:
            return []
        middle = low + left_of(high - low)
        if index < middle:
            return [*self.inclusion(index, low, middle), self.hash(middle, high)]
        return [*self.inclusion(index, middle, high), self.hash(low, middle)]

    def consistency(self, size: int, low: int = 0, high: int | None = None) -> list[bytes]:
        """PROOF of RFC 6962 section 2.1.2."""
        high = self.size if high is None else high
        if size == high:
            return [] if low == 0 else [self.hash(low, high)]
        middle = low + left_of(high - low)
        if size <= middle:
            return [*self.consistency(size, low, middle), self.hash(middle, high)]
        return [*self.consistency(size, middle, high), self.hash(low, middle)]


def around(size: int, *indexes: int) -> Tree:
    """A tree of any size, with the leaves of the indexes."""
    return Tree(size, tuple(cut for index in indexes for cut in (index, index + 1)))


# The checks, by the algorithms of RFC 9162 2.1.3.2 and 2.1.4.2 (and not the recursion that makes the proofs), so that each
# expectation is compared with a second opinion when the suite is made.


def inclusion_fault(leaf_hash: bytes, index: int, size: int, root: bytes, proof: list[bytes]) -> str | None:
    """The reason for which a proof of inclusion does not hold."""
    if index >= size:
        return "wrong-index"
    number, last, found = index, size - 1, leaf_hash
    for sibling in proof:
        if last == 0:
            return "proof-length"
        if number & 1 or number == last:
            found = node(sibling, found)
            while number and not number & 1:
                number, last = number >> 1, last >> 1
        else:
            found = node(found, sibling)
        number, last = number >> 1, last >> 1
    if last:
        return "proof-length"
    return None if found == root else "wrong-root"


def consistency_fault(
    first_size: int, first_root: bytes, second_size: int, second_root: bytes, proof: list[bytes]
) -> str | None:
    """The reason for which a proof of consistency does not hold."""
    if first_size > second_size:
        return "wrong-size"
    if first_size in (0, second_size):
        if proof:
            return "proof-length"
        return None if first_root == (second_root if first_size else EMPTY_ROOT) else "wrong-root"
    path = [first_root, *proof] if first_size & (first_size - 1) == 0 else list(proof)
    if not path:
        return "proof-length"
    number, last = first_size - 1, second_size - 1
    while number & 1:
        number, last = number >> 1, last >> 1
    first = second = path[0]
    for sibling in path[1:]:
        if last == 0:
            return "proof-length"
        if number & 1 or number == last:
            first, second = node(sibling, first), node(sibling, second)
            while number and not number & 1:
                number, last = number >> 1, last >> 1
        else:
            second = node(second, sibling)
        number, last = number >> 1, last >> 1
    if last:
        return "proof-length"
    return None if (first, second) == (first_root, second_root) else "wrong-root"


# Notes and keys: C2SP signed-note.


def base64_of(data: bytes) -> str:
    return base64.b64encode(data).decode()


@dataclasses.dataclass(frozen=True)
class Key:
    """A key of Ed25519 that signs under a name."""

    name: str
    kind: int = ED25519
    # The name of the key of the suite; without one, the name under which it signs.
    secret: str | None = None
    # A public key to state in place of that of the secret one.
    stated: bytes | None = None

    @property
    def public(self) -> bytes:
        return self.stated if self.stated is not None else self.private.public_key().public_bytes_raw()

    @property
    def private(self):
        return keys.ed25519_key(self.secret or self.name)

    @property
    def identity(self) -> bytes:
        return hashlib.sha256(self.name.encode() + b"\n" + bytes([self.kind]) + self.public).digest()[:4]

    @property
    def text(self) -> str:
        """The key to verify with: NAME+ID+BASE64."""
        return self.text_with(bytes([self.kind]) + self.public)

    def text_with(self, data: bytes) -> str:
        """The same with other data behind its identity, which is the one of that data."""
        identity = hashlib.sha256(self.name.encode() + b"\n" + data).digest()[:4]
        return f"{self.name}+{identity.hex()}+{base64_of(data)}"

    def sign(self, message: bytes | str) -> bytes:
        return self.private.sign(message.encode() if isinstance(message, str) else message)

    def line(self, text: bytes | str) -> str:
        """The signature line of a note's text."""
        return self.line_with(self.sign(text))

    def line_with(self, signature: bytes) -> str:
        return f"{EM_DASH} {self.name} {base64_of(self.identity + signature)}\n"

    def cosign(self, text: str, timestamp: int) -> str:
        """The line of a cosignature of a checkpoint (C2SP tlog-cosignature, version 1)."""
        return self.line_with(timestamp.to_bytes(8, "big") + self.sign(f"cosignature/v1\ntime {timestamp}\n{text}"))


def note(text: str, *lines: str) -> str:
    return text + "\n" + "".join(lines)


def signed(text: str, *signers: Key) -> str:
    return note(text, *[key.line(text) for key in signers])


def checkpoint(origin: str, size: int | str, root: bytes | str, *extensions: str) -> str:
    """The text of a checkpoint (C2SP tlog-checkpoint)."""
    root = root if isinstance(root, str) else base64_of(root)
    return "".join(f"{line}\n" for line in (origin, size, root, *extensions))


def number(value: int) -> int | str:
    """A size or an index of the suite."""
    return value if value <= GREATEST_NUMBER else str(value)


# Points of Ed25519 (RFC 8032 section 5.1), for signatures that no signer makes.

PRIME = 2**255 - 19
GROUP_ORDER = 2**252 + 27742317777372353535851937790883648493
CURVE = -121665 * pow(121666, -1, PRIME) % PRIME
Point = tuple[int, int]
IDENTITY: Point = (0, 1)


def add(one: Point, two: Point) -> Point:
    product = CURVE * one[0] * two[0] * one[1] * two[1] % PRIME
    x = (one[0] * two[1] + one[1] * two[0]) * pow(1 + product, -1, PRIME)
    y = (one[1] * two[1] + one[0] * two[0]) * pow(1 - product, -1, PRIME)
    return x % PRIME, y % PRIME


def multiply(factor: int, point: Point) -> Point:
    result = IDENTITY
    for bit in f"{factor:b}":
        result = add(result, result)
        if bit == "1":
            result = add(result, point)
    return result


def encode_point(point: Point) -> bytes:
    return (point[1] | (point[0] & 1) << 255).to_bytes(32, "little")


def decode_point(data: bytes) -> Point:
    value = int.from_bytes(data, "little")
    y, odd = value & ~(1 << 255), value >> 255
    square = (y * y - 1) * pow(CURVE * y * y + 1, -1, PRIME) % PRIME
    x = pow(square, (PRIME + 3) // 8, PRIME)
    if x * x % PRIME != square:
        x = x * pow(2, (PRIME - 1) // 4, PRIME) % PRIME
    if x * x % PRIME != square:
        raise ValueError("no point of the curve")
    return (x if x & 1 == odd else PRIME - x), y


BASE = decode_point((4 * pow(5, -1, PRIME) % PRIME).to_bytes(32, "little"))


def small_point() -> Point:
    """A point of order 8."""
    y = 2
    while True:
        try:
            point = multiply(GROUP_ORDER, decode_point(y.to_bytes(32, "little")))
        except ValueError:
            point = IDENTITY
        if multiply(4, point) != IDENTITY:
            return point
        y += 1


def scalar(*parts: bytes) -> int:
    return int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little") % GROUP_ORDER


def mixed_signature(key: Key, message: bytes) -> bytes:
    """A signature whose R has a part of small order: the equation of RFC 8032 with the cofactor holds, the one without
    it does not."""
    secret = int.from_bytes(hashlib.sha512(keys.seed(key.secret or key.name)).digest()[:32], "little")
    secret = secret & ~7 & ~(1 << 255) | 1 << 254
    once = scalar(b"nonce", message)
    first = encode_point(add(multiply(once, BASE), small_point()))
    return first + ((once + scalar(first, key.public, message) * secret) % GROUP_ORDER).to_bytes(32, "little")


def malleated(signature: bytes) -> bytes:
    """The same signature with the order of the group added to S, which RFC 8032 5.1.7 refuses."""
    return signature[:32] + (int.from_bytes(signature[32:], "little") + GROUP_ORDER).to_bytes(32, "little")
