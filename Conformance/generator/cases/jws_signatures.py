# SPDX-License-Identifier: Apache-2.0
"""The signature of a JWS and the key that makes it (RFC 7518 section 3.4)."""

import hashlib

import der
import jws
import keys
import suite as suites
from cryptography.hazmat.primitives.asymmetric import utils
from jws import Cases, encode, for_kinds, replaced, signature_of

N = keys.ORDER["secp256r1"]
ENCODING = suites.flag(
    "SignatureEncoding", "The signature is right in another form than r and s of the curve's size.",
    "Two programs disagree on which receipts are genuine.", "https://www.rfc-editor.org/rfc/rfc7518#section-3.4",
)  # fmt: skip
RANGE = suites.flag(
    "SignatureRange", "r or s is zero or not below the order of the curve.",
    "A program that does not check that accepts one signature for every text.", "CVE-2022-21449",
    "https://doi.org/10.6028/NIST.FIPS.186-5",
)  # fmt: skip
MALLEABLE = suites.flag(
    "SignatureMalleability", "From a signature (r, s) anybody computes (r, n - s), which is right too.",
    "A program that tells receipts apart by their signatures takes one for two. Refusing one refuses genuine receipts.",
    "https://www.rfc-editor.org/rfc/rfc7518#section-3.4",
)  # fmt: skip
FORGED = suites.flag(
    "Forged", "The signature is not that of these bytes by the signer's key.", "Anybody makes such receipts.",
    "https://www.rfc-editor.org/rfc/rfc7515#section-5.2",
)  # fmt: skip
WRONG_KEY = suites.flag(
    "KeyOfAnotherKind", "The signer's key is not on P-256, as ES256 demands.",
    "Two programs disagree on what ES256 is.", "https://www.rfc-editor.org/rfc/rfc7518#section-3.4",
)  # fmt: skip


def add(suite: suites.Suite) -> None:
    for cases in for_kinds(suite):
        add_of_every_kind(cases)
    (transactions,) = for_kinds(suite, "signed-transaction")
    add_encodings(transactions)
    add_forgeries(transactions)
    add_keys(transactions)


def split(signature: bytes) -> tuple[int, int]:
    return int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")


def joined(r: int, s: int) -> bytes:
    return r.to_bytes(32, "big") + s.to_bytes(32, "big")


def flipped(signature: bytes, bit: int) -> bytes:
    """The signature with one bit of 512 flipped, the first of which is the highest of r."""
    return (int.from_bytes(signature, "big") ^ 1 << 511 - bit).to_bytes(64, "big")


def add_of_every_kind(cases: Cases) -> None:
    kind = cases.kind
    token = jws.compact(kind.sample)
    signed, _, _ = token.rpartition(".")
    signature = signature_of(token)
    r, s = split(signature)
    other = jws.compact(kind.payload({kind.detail: "another"}))
    production = encode(jws.data(kind.within("Production")))
    table = [
        ("der", "The signature is right and in DER; ES256 is r and s of 32 bytes each.",
         utils.encode_dss_signature(r, s), "high", ENCODING),
        ("bit-of-r", "The last bit of r is flipped.", flipped(signature, 255), "critical", FORGED),
        ("bit-of-s", "The last bit of s is flipped.", flipped(signature, 511), "critical", FORGED),
        ("zero", "r and s are zero.", bytes(64), "critical", RANGE),
        ("other-key", "Another key signed than the leaf's.",
         jws.es256(keys.elliptic("attacker"), signed.encode()), "critical", FORGED),
        ("of-other-receipt", "The signature is that of another receipt of the same signer.", signature_of(other), "critical",
         FORGED),
    ]  # fmt: skip
    for name, text, value, importance, flag in table:
        refuse(cases, name, text, replaced(token, signature=encode(value)), importance=importance, flags=[flag])
    refuse(cases, "changed-payload", "The environment was changed to production after signing.",
           replaced(token, payload=production), importance="critical", flags=[FORGED])  # fmt: skip
    refuse(cases, "changed-header", "A member was added to the header after signing.",
           replaced(token, head=encode(jws.data(jws.header(kid="1")))), importance="critical", flags=[FORGED])  # fmt: skip
    later = kind.with_date(jws.SIGNED + 1000)
    token = jws.compact(later)
    r, s = split(signature_of(token))
    for name, word, value in [("low-s", "at most", min(s, N - s)), ("high-s", "more than", max(s, N - s))]:
        cases.accept(
            f"signature::{name}", f"s is {word} half of the order; ES256 accepts both halves.", later,
            receipt=replaced(token, signature=encode(joined(r, value))), flags=[MALLEABLE], importance="medium",
        )  # fmt: skip


def refuse(cases: Cases, name: str, text: str, receipt: str, **options) -> None:
    options.setdefault("place", "JWS signature")
    cases.refuse(f"signature::{name}", text, receipt, "signature-mismatch", **options)


def add_encodings(cases: Cases) -> None:
    token = jws.compact(cases.kind.sample)
    signature = signature_of(token)
    r, s = split(signature)
    encoded = utils.encode_dss_signature(r, s)
    for name, text, value in [
        ("63-bytes", "The last byte of the signature is missing.", signature[:-1]),
        ("65-bytes", "A zero follows the signature.", signature + b"\0"),
        ("65-bytes-in-front", "A zero precedes the signature.", b"\0" + signature),
        ("recovery-byte", "A recovery byte follows the signature, as some chains of blocks write it.", signature + b"\x1b"),
        ("32-bytes", "The signature is r alone.", signature[:32]),
        ("66-bytes", "r and s have 33 bytes each, with a zero in front.", b"\0" + signature[:32] + b"\0" + signature[32:]),
        ("96-bytes", "r and s have 48 bytes each, as in ES384, with zeros in front.",
         bytes(16) + signature[:32] + bytes(16) + signature[32:]),
        ("128-bytes", "The signature stands there twice.", signature * 2),
        ("one-byte", "The signature is one byte.", b"\0"),
        ("swapped", "s precedes r.", signature[32:] + signature[:32]),
        ("little-endian", "r and s are little-endian.", signature[:32][::-1] + signature[32:][::-1]),
        ("hexadecimal", "The signature is in hexadecimal, and then in base64url.", signature.hex().encode()),
        ("base64-twice", "The signature is in base64url twice.", encode(signature).encode()),
        ("der-long-length", "The signature is in DER with a length in the long form.",
         bytes([0x30, 0x81]) + encoded[1:]),
        ("der-trailing-byte", "The signature is in DER, and a byte follows.", encoded + b"\0"),
    ]:  # fmt: skip
        refuse(cases, name, text, replaced(token, signature=encode(value)), flags=[ENCODING])
    greatest = (1 << 256) - 1
    for name, text, pair in [
        ("r-zero", "r is zero.", (0, s)), ("s-zero", "s is zero.", (r, 0)), ("r-zero-s-one", "r is zero and s is one.", (0, 1)),
        ("r-order", "r is the order of the curve.", (N, s)), ("s-order", "s is the order of the curve.", (r, N)),
        ("both-order", "r and s are the order of the curve.", (N, N)),
        ("r-order-s-zero", "r is the order of the curve and s is zero.", (N, 0)),
        ("r-above-order", "r is the order of the curve plus one, and s is one.", (N + 1, 1)),
        ("r-greatest", "r has 256 bits set.", (greatest, s)), ("s-greatest", "s has 256 bits set.", (r, greatest)),
        ("both-greatest", "r and s have 256 bits set.", (greatest, greatest)),
        ("both-one", "r and s are one.", (1, 1)), ("r-one", "r is one.", (1, s)), ("s-one", "s is one.", (r, 1)),
        ("both-order-minus-one", "r and s are the order of the curve minus one.", (N - 1, N - 1)),
        ("r-generator", "r is the x of the curve's generator, and s is one.",
         (0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296, 1)),
        ("r-public-key", "r is the x of the signer's public key, and s is the same.",
         (jws.authority().leaf.key.public_key().public_numbers().x % N,) * 2),
        ("r-negated", "r is replaced by the order minus r.", (N - r, s)),
    ]:  # fmt: skip
        refuse(cases, name, text, replaced(token, signature=encode(joined(*pair))), importance="critical", flags=[RANGE])
    for bit in (0, 8, 128, 248, 256, 264, 384):
        which = f"bit {bit} of r" if bit < 256 else f"bit {bit - 256} of s"
        refuse(cases, f"bit-{bit}", f"The {which}, the highest being 0, is flipped.",
               replaced(token, signature=encode(flipped(signature, bit))), importance="critical", flags=[FORGED])  # fmt: skip


def add_forgeries(cases: Cases) -> None:
    sample, authority = cases.kind.sample, jws.authority()
    leaf = authority.leaf.key
    token = jws.compact(sample)
    head, payload, signature = token.split(".")
    signed = f"{head}.{payload}".encode()
    text = jws.data(sample)
    short = jws.es256(leaf, signed)
    for name, description, value in [
        ("by-intermediate", "The key of the intermediate signed.", jws.es256(authority.intermediate.key, signed)),
        ("by-root", "The key of the root signed.", jws.es256(authority.root.key, signed)),
        ("of-payload", "The signature covers the payload's JSON alone.", jws.es256(leaf, text)),
        ("of-encoded-payload", "The signature covers the encoded payload alone.", jws.es256(leaf, payload.encode())),
        ("of-header", "The signature covers the encoded header alone.", jws.es256(leaf, head.encode())),
        ("without-dot", "The signature covers header and payload without the dot between them.",
         jws.es256(leaf, (head + payload).encode())),
        ("of-decoded-parts", "The signature covers header and payload as JSON, with a dot between them.",
         jws.es256(leaf, jws.data(jws.header()) + b"." + text)),
        ("of-digest", "The signature covers the digest of the signed bytes, hashed again.",
         jws.es256(leaf, hashlib.sha256(signed).digest())),
        ("of-nothing", "The signature covers no bytes.", jws.es256(leaf, b"")),
        ("sha1", "The digest is SHA-1 in place of SHA-256.", jws.raw(keys.sign(leaf, signed, "sha1"))),
        ("sha384", "The digest is SHA-384 in place of SHA-256.", jws.raw(keys.sign(leaf, signed, "sha384"))),
        ("sha512", "The digest is SHA-512 in place of SHA-256.", jws.raw(keys.sign(leaf, signed, "sha512"))),
        ("of-certificate", "The signature is that of the leaf's certificate by the intermediate.",
         jws.raw(der.read(der.children(der.read(jws.genuine_chain()[0])[1])[2])[1][1:])),
    ]:  # fmt: skip
        refuse(cases, name, description, replaced(token, signature=encode(value)), importance="critical", flags=[FORGED])
    del signature, short
    for name, changes in [
        ("changed-bundle", {"bundleId": "com.example.app2"}), ("changed-product", {"productId": "com.example.app.lifetime"}),
        ("changed-expiry", {"expiresDate": 4_102_444_800_000}), ("changed-quantity", {"quantity": 100}),
        ("changed-account", {"appAccountToken": "00000000-0000-0000-0000-000000000000"}),
        ("changed-identifier", {"transactionId": "2000000002"}), ("changed-date", {"signedDate": jws.SIGNED + 86_400_000}),
    ]:  # fmt: skip
        member = next(iter(changes))
        policy = {"bundleIds": ["com.example.app2"]} if member == "bundleId" else {}
        changed = encode(jws.data(cases.kind.payload(changes)))
        refuse(cases, name, f"{member} was changed after signing.", replaced(token, payload=changed), importance="critical",
               flags=[FORGED], policy=policy)  # fmt: skip
    purged = encode(jws.data(sample))
    revoked = jws.compact(cases.kind.payload({"revocationDate": jws.SIGNED, "revocationReason": 0}))
    refuse(cases, "removed-revocation", "The revocation was removed after signing.", replaced(revoked, payload=purged),
           importance="critical", flags=[FORGED])  # fmt: skip
    respaced = encode(jws.data(jws.member(sample)[:-1] + " }"))
    refuse(cases, "changed-white-space", "White space was added to the payload after signing.",
           replaced(token, payload=respaced), flags=[FORGED])  # fmt: skip
    foreign = jws.authority(foreign=True)
    forged_head = encode(jws.data(jws.header(foreign.chain)))
    cases.refuse("signature::changed-certificates", "The certificates were replaced by a forger's after signing.",
                 replaced(token, head=forged_head), "chain-untrusted", "certificate 2", importance="critical",
                 flags=[FORGED])  # fmt: skip
    whole = jws.compact(sample, jws.header(foreign.chain), foreign.leaf.key)
    refuse(cases, "moved-under-genuine-certificates", "A forger's receipt, with the genuine certificates put in place of the "
           "forger's.", replaced(whole, head=token.split(".")[0]), importance="critical", flags=[FORGED])  # fmt: skip


def info_of(algorithm: bytes, point: bytes) -> bytes:
    """SubjectPublicKeyInfo."""
    return der.sequence(algorithm, der.bit_string(point))


EC_KEY, P256 = "1.2.840.10045.2.1", "1.2.840.10045.3.1.7"
FIELD = 0xFFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF
B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
GENERATOR = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)


def point_bytes(point: tuple[int, int]) -> bytes:
    return b"\4" + point[0].to_bytes(32, "big") + point[1].to_bytes(32, "big")


def explicit_parameters(generator: tuple[int, int] = GENERATOR) -> bytes:
    """The parameters of P-256 written out (RFC 3279 section 2.3.5), with any generator."""
    return der.sequence(
        der.integer(1), der.sequence(der.oid("1.2.840.10045.1.1"), der.integer(FIELD)),
        der.sequence(der.octet_string((FIELD - 3).to_bytes(32, "big")), der.octet_string(B.to_bytes(32, "big"))),
        der.octet_string(point_bytes(generator)), der.integer(N), der.integer(1),
    )  # fmt: skip


def field_replaced(index: int, value: bytes):
    """A change of a TBSCertificate of version 3: another field in place of one."""

    def change(encoded: bytes) -> bytes:
        fields = der.children(der.read(encoded)[1])
        return der.sequence(*fields[:index], value, *fields[index + 1 :])

    return change


KEY_INFO = 6


def add_keys(cases: Cases) -> None:
    sample, authority = cases.kind.sample, jws.authority()
    for name, text, key, sign in [
        ("p384", "The leaf's key is on P-384, and signed with SHA-256.", keys.elliptic("leaf", "secp384r1"), None),
        ("secp256k1", "The leaf's key is on secp256k1.", keys.elliptic("leaf", "secp256k1"), None),
        ("rsa", "The leaf's key is RSA, and signed with PKCS #1 v1.5.", keys.rsa_key("leaf"),
         lambda signed: keys.sign(keys.rsa_key("leaf"), signed)),
        ("ed25519", "The leaf's key is Ed25519.", keys.ed25519_key("leaf"), keys.ed25519_key("leaf").sign),
    ]:  # fmt: skip
        changed = authority.but(leaf={"key": key})
        receipt = jws.compact(sample, chain=changed.chain, key=key, signature=sign)
        cases.refuse(f"key::{name}", text, receipt, "unsupported-algorithm", "certificate 0", flags=[WRONG_KEY])
    for name, text, algorithm, key, sign in [
        ("es384-with-p384", "Everything is right for ES384, which receipts do not use.", "ES384",
         keys.elliptic("leaf", "secp384r1"), lambda signed: jws.raw(keys.sign(keys.elliptic("leaf", "secp384r1"), signed,
                                                                              "sha384"), 48)),
        ("es256k-with-secp256k1", "Everything is right for ES256K, which receipts do not use.", "ES256K",
         keys.elliptic("leaf", "secp256k1"), None),
        ("rs256-with-rsa", "Everything is right for RS256, which receipts do not use.", "RS256", keys.rsa_key("leaf"),
         lambda signed: keys.sign(keys.rsa_key("leaf"), signed)),
        ("eddsa-with-ed25519", "Everything is right for EdDSA, which receipts do not use.", "EdDSA",
         keys.ed25519_key("leaf"), keys.ed25519_key("leaf").sign),
    ]:  # fmt: skip
        changed = authority.but(leaf={"key": key})
        receipt = jws.compact(sample, jws.header(changed.chain, alg=algorithm), key=key, signature=sign)
        cases.refuse(f"key::{name}", text, receipt, "unsupported-algorithm", "$.alg of the JWS header", flags=[WRONG_KEY])
    numbers = authority.leaf.key.public_key().public_numbers()
    point = (numbers.x, numbers.y)
    named = der.sequence(der.oid(EC_KEY), der.oid(P256))
    parity = bytes([2 + (point[1] & 1)])
    x, y = (number.to_bytes(32, "big") for number in point)
    for name, text, info in [
        ("off-curve", "The leaf's point is not on the curve.", info_of(named, b"\4" + x + (point[1] ^ 1).to_bytes(32, "big"))),
        ("infinity", "The leaf's point is the point at infinity.", info_of(named, b"\0")),
        ("zero-point", "The leaf's point is zero.", info_of(named, b"\4" + bytes(64))),
        ("above-field", "The leaf's point has an x above the field.", info_of(named, b"\4" + b"\xff" * 32 + y)),
        ("empty-point", "The leaf's point is empty.", info_of(named, b"")),
        ("without-curve", "The leaf's key names no curve.", info_of(der.sequence(der.oid(EC_KEY)), point_bytes(point))),
        ("null-curve", "The leaf's key has NULL in place of a curve.",
         info_of(der.sequence(der.oid(EC_KEY), der.null()), point_bytes(point))),
        ("other-curve", "The leaf's key names secp256k1, and its point is on P-256.",
         info_of(der.sequence(der.oid(EC_KEY), der.oid("1.3.132.0.10")), point_bytes(point))),
        ("explicit", "The leaf's key has the parameters of P-256 written out, which certificates must not have (RFC 5480).",
         info_of(der.sequence(der.oid(EC_KEY), explicit_parameters()), point_bytes(point))),
        ("key-agreement", "The leaf's key is for ECDH alone (RFC 5480 section 2.1.2).",
         info_of(der.sequence(der.oid("1.3.132.1.12"), der.oid(P256)), point_bytes(point))),
    ]:  # fmt: skip
        changed = authority.but(leaf={"change_signed": field_replaced(KEY_INFO, info)})
        cases.refuse(f"key::{name}", text, jws.of(changed, sample), "unsupported-algorithm", "certificate 0",
                     importance="medium", flags=[WRONG_KEY])  # fmt: skip
    for name, text, info in [
        ("compressed", "The leaf's point is compressed, which a verifier may support (RFC 5480 section 2.2).",
         info_of(named, parity + x)),
        ("hybrid", "The leaf's point is in the hybrid form, which certificates must not have (RFC 5480 section 2.2).",
         info_of(named, bytes([6 + (point[1] & 1)]) + x + y)),
    ]:  # fmt: skip
        changed = authority.but(leaf={"change_signed": field_replaced(KEY_INFO, info)})
        cases.either(f"key::{name}", text, jws.of(changed, sample), flags=[WRONG_KEY])
