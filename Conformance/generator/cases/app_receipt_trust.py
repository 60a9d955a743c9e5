# SPDX-License-Identifier: Apache-2.0
"""App receipts whose signature, signer or chain is wrong, or right at the edge of what is."""

import hashlib

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding

import cms
import der
import keys
import pki
from cms import (
    ALGORITHMS,
    ATTRIBUTES,
    CHAIN_TIME,
    FORGERY,
    PADDING,
    PURPOSE,
    SIGNER,
    Cases,
    attribute,
    date,
    payload,
    receipt,
    text,
    values,
)
from suite import Suite

SIGNED = pki.SIGNED
EVERYTHING = payload(purchases=[cms.purchase(changes={1702: text("com.example.app.everything")})])


def add(suite: Suite) -> None:
    add_signatures(suite)
    add_algorithms(suite)
    add_paddings(suite)
    add_signed_attributes(suite)
    add_signers(suite)
    add_chains(suite)
    add_purposes(suite)
    add_validity(suite)
    add_certificates(suite)


def flipped(data: bytes, at: int, bit: int = 1) -> bytes:
    return data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :]


def by(of: pki.Authority, *certificates: bytes, **members) -> cms.Receipt:
    """A receipt of another authority, with its chain or the certificates that are named."""
    return receipt(of=of, certificates=certificates or tuple(cms.chain(of)), **members)


def add_signatures(suite: Suite) -> None:
    cases = Cases(suite, "signature")
    mismatch = {"place": "signerInfo", "importance": "critical"}
    sample = receipt()
    good = keys.sign(sample.signer.key, sample.content)
    for at in (0, 1, 127, 255):
        cases.invalid(
            f"bit-of-octet-{at}",
            f"A bit of octet {at} of the signature is flipped.",
            receipt(signature=flipped(good, at)),
            "signature-mismatch",
            **mismatch,
        )
    for name, what, signature in (
        ("zeros", "all zeros", bytes(256)),
        ("one", "the number one", bytes(255) + b"\1"),
        ("ones", "larger than the modulus", b"\xff" * 256),
        ("modulus", "the modulus", sample.signer.key.public_key().public_numbers().n.to_bytes(256, "big")),
        (
            "modulus-less-one",
            "the modulus less one",
            (sample.signer.key.public_key().public_numbers().n - 1).to_bytes(256, "big"),
        ),
        ("empty", "empty", b""),
        ("one-octet", "a single octet", b"\1"),
        ("reversed", "written backwards", good[::-1]),
        ("leading-zero", "right, after a zero octet: 257 in all", b"\0" + good),
        ("trailing-zero", "right, before a zero octet: 257 in all", good + b"\0"),
        ("cut", "right, without its last octet", good[:-1]),
        ("twice", "right, and stands twice", good + good),
        ("digest", "the digest itself", hashlib.sha256(sample.content).digest()),
    ):
        cases.invalid(name, f"The signature is {what}.", receipt(signature=signature), "signature-mismatch", **mismatch)
    modulus = sample.signer.key.public_key().public_numbers().n
    value = int.from_bytes(good, "big") + modulus
    if value < 1 << 2048:
        cases.invalid(
            "plus-modulus",
            "The modulus is added to a right signature, which is then not less than it.",
            receipt(signature=value.to_bytes(256, "big")),
            "signature-mismatch",
            **mismatch,
        )
    content, signature = short_signature()
    short = receipt(content)
    assert short.signature is None and keys.sign(short.signer.key, content) == signature
    cases.valid("first-octet-zero", "The first octet of the signature happens to be zero.", short)
    cases.invalid(
        "first-octet-left-out",
        "The first octet of the signature, which is zero, is left out.",
        receipt(content, signature=signature[1:]),
        "signature-mismatch",
        place="signerInfo",
        importance="medium",
    )
    for name, what, changes in (
        ("environment", "The environment was changed to Production", {0: text("Production")}),
        ("bundle", "The bundle identifier was changed to the accepted one", {2: text("com.example.app")}),
        ("creation-date", "The creation date was changed", {12: date("2025-10-01T07:09:13Z")}),
    ):
        signed = payload({2: text("com.example.other")}) if name == "bundle" else payload()
        cases.invalid(
            f"content-{name}",
            f"{what} after signing.",
            receipt(payload(changes), signed=signed),
            "signature-mismatch",
            **mismatch,
        )
    cases.invalid(
        "content-product",
        "The product was changed after signing.",
        receipt(EVERYTHING, signed=payload()),
        "signature-mismatch",
        **mismatch,
    )
    cases.invalid(
        "content-purchase-added",
        "A purchase was added after signing.",
        receipt(payload(purchases=[cms.purchase(), cms.purchase(cms.COINS)]), signed=payload(purchases=[cms.purchase()])),
        "signature-mismatch",
        **mismatch,
    )
    cases.invalid(
        "content-unknown-added",
        "An attribute that nobody knows was added after signing.",
        receipt(payload(more=[attribute(9999, b"")]), signed=payload()),
        "signature-mismatch",
        **mismatch,
    )
    cases.invalid(
        "content-sorted-otherwise",
        "The attributes were sorted after signing; the signature covers the octets and not their meaning.",
        receipt(payload(), signed=payload(make=in_reverse)),
        "signature-mismatch",
        **mismatch,
    )
    cases.invalid(
        "content-with-header",
        "The signature covers the OCTET STRING with its tag and length.",
        receipt(signed=der.octet_string(payload())),
        "signature-mismatch",
        place="signerInfo",
    )
    cases.invalid(
        "of-other-receipt",
        "The signature is that of another receipt of the same store.",
        receipt(signed=payload({3: text("2.0")})),
        "signature-mismatch",
        **mismatch,
    )
    for name in ("other-leaf", "foreign", "intermediate", "root"):
        cases.invalid(
            f"key-{name}",
            f"It is signed with the key {name} and not with the one of the signer's certificate.",
            receipt(key=keys.rsa_key(name)),
            "signature-mismatch",
            **mismatch,
        )
    over_digest = keys.sign(sample.signer.key, hashlib.sha256(payload()).digest())
    cases.invalid(
        "over-digest",
        "The signature is over the digest of the content: it was hashed twice.",
        receipt(signature=over_digest),
        "signature-mismatch",
        place="signerInfo",
    )
    # Without a salt the signature is the same at each run.
    scheme = padding.PSS(padding.MGF1(hashes.SHA256()), 0)
    cases.invalid(
        "pss",
        "The signature is RSASSA-PSS, and the signature algorithm rsaEncryption, which is PKCS #1 v1.5.",
        receipt(signature=sample.signer.key.sign(payload(), scheme, hashes.SHA256())),
        "signature-mismatch",
        place="signerInfo",
        importance="medium",
    )
    cases.invalid("over-nothing", "The signature is over no octets.", receipt(signed=b""), "signature-mismatch", **mismatch)


def in_reverse(*parts: bytes) -> bytes:
    return der.unsorted_set(*sorted(parts, reverse=True))


def short_signature() -> tuple[bytes, bytes]:
    """A content whose signature begins with a zero octet: one of 256 does."""
    index = 0
    while True:
        content = payload(more=[attribute(9999, index.to_bytes(2, "big"))])
        signature = keys.sign(cms.authority().leaf.key, content)
        if signature[0] == 0:
            return content, signature
        index += 1


def add_algorithms(suite: Suite) -> None:
    cases = Cases(suite, "algorithm", ALGORITHMS)
    unsupported = "unsupported-algorithm"
    for digest in ("md5", "sha384", "sha512"):
        importance = "critical" if digest == "md5" else "medium"
        cases.invalid(
            f"{digest}",
            f"It is signed with {digest.upper()}, which receipts do not use.",
            receipt(digest=digest),
            unsupported,
            place="signerInfo",
            importance=importance,
        )
        cases.invalid(
            f"{digest}-with-rsa",
            f"The signature algorithm names {digest.upper()} as well.",
            receipt(digest=digest, signature_algorithm=cms.algorithm(cms.WITH_RSA[digest])),
            unsupported,
            place="signerInfo",
            importance=importance,
        )
    cases.invalid(
        "digest-unknown",
        "The digest algorithm is one that nobody knows.",
        receipt(digest_algorithm=cms.algorithm("1.2.3.4")),
        unsupported,
        place="signerInfo",
    )
    with_sha1, with_sha256 = (cms.algorithm(cms.WITH_RSA[name]) for name in ("sha1", "sha256"))
    cases.invalid(
        "sha256-and-sha1-with-rsa",
        "The digest algorithm is SHA-256, the signature algorithm sha1WithRSAEncryption.",
        receipt(signature_algorithm=with_sha1),
        unsupported,
        place="signerInfo",
    )
    cases.invalid(
        "sha1-and-sha256-with-rsa",
        "The digest algorithm is SHA-1, the signature algorithm sha256WithRSAEncryption.",
        receipt(digest="sha1", signature_algorithm=with_sha256),
        unsupported,
        place="signerInfo",
    )
    sha1, sha256 = (cms.algorithm(cms.DIGESTS[name]) for name in ("sha1", "sha256"))
    cases.invalid(
        "signed-with-sha1",
        "The signer names SHA-256, and the signature is with SHA-1.",
        receipt(digest="sha1", digest_algorithm=sha256),
        "signature-mismatch",
        place="signerInfo",
    )
    cases.invalid(
        "signed-with-sha256",
        "The signer names SHA-1, and the signature is with SHA-256.",
        receipt(digest_algorithm=sha1),
        "signature-mismatch",
        place="signerInfo",
    )
    pss = der.sequence(
        der.context(0, sha256),
        der.context(1, der.sequence(der.oid("1.2.840.113549.1.1.8"), sha256)),
        der.context(2, der.integer(32)),
    )
    cases.invalid(
        "pss",
        "The signature algorithm is RSASSA-PSS.",
        receipt(signature_algorithm=cms.algorithm("1.2.840.113549.1.1.10", pss)),
        unsupported,
        importance="medium",
    )
    cases.invalid(
        "pss-without-parameters",
        "The signature algorithm is RSASSA-PSS without parameters.",
        receipt(signature_algorithm=cms.algorithm("1.2.840.113549.1.1.10", None)),
        unsupported,
        place="signerInfo",
        importance="medium",
    )
    cases.invalid(
        "ecdsa-named",
        "The signature algorithm is ECDSA with SHA-256, the key RSA.",
        receipt(signature_algorithm=cms.algorithm("1.2.840.10045.4.3.2", None)),
        unsupported,
        place="signerInfo",
        importance="medium",
    )
    cases.invalid(
        "unknown",
        "The signature algorithm is one that nobody knows.",
        receipt(signature_algorithm=cms.algorithm("1.2.3.4")),
        unsupported,
        place="signerInfo",
        importance="medium",
    )
    cases.invalid(
        "parameters-text",
        "The digest algorithm has a text as its parameters.",
        receipt(digest_algorithm=cms.algorithm(cms.DIGESTS["sha256"], text("x"))).encoded(),
        "malformed",
        importance="medium",
    )
    for name, curve in (("p256", "secp256r1"), ("p384", "secp384r1")):
        key = keys.elliptic("leaf", curve)
        of = cms.authority().but(leaf={"key": key})
        named = by(of, signature_algorithm=cms.algorithm("1.2.840.10045.4.3.2", None))
        cases.invalid(
            f"leaf-{name}",
            f"The signer's key is on {name.upper()}, and the signature is ECDSA.",
            named,
            unsupported,
            place="signerInfo",
            importance="medium",
        )
        cases.invalid(
            f"leaf-{name}-rsa-named",
            f"The signer's key is on {name.upper()}, and the signature algorithm is rsaEncryption.",
            by(of),
            unsupported,
            place="certificate 0",
            importance="medium",
        )
    edwards = cms.authority().but(leaf={"key": keys.ed25519_key("leaf")})
    cases.invalid(
        "leaf-ed25519",
        "The signer's key is of Ed25519.",
        by(edwards, signature=keys.ed25519_key("leaf").sign(payload()), signature_algorithm=cms.algorithm("1.3.101.112", None)),
        unsupported,
        place="signerInfo",
        importance="medium",
    )
    cases.either(
        "leaf-1024-bits",
        "The signer's key has 1,024 bits, as no app receipt's has had.",
        by(cms.authority().but(leaf={"key": keys.rsa_key("short")})),
        importance="medium",
    )
    only = {"algorithms": ["RSA-SHA256"]}
    cases.invalid(
        "policy-refuses-sha1",
        "It is signed with SHA-1, under a policy that accepts SHA-256 alone.",
        receipt(digest="sha1"),
        unsupported,
        only,
    )
    cases.valid("policy-accepts-sha256", "The policy accepts SHA-256 alone.", receipt(), None, only)
    cases.valid(
        "policy-accepts-sha1",
        "The policy accepts SHA-1 alone.",
        receipt(digest="sha1"),
        values(algorithm="RSA-SHA1"),
        {"algorithms": ["RSA-SHA1"]},
        importance="medium",
    )
    cases.invalid(
        "policy-refuses-sha256",
        "It is signed with SHA-256, under a policy that accepts ES256 alone.",
        receipt(),
        unsupported,
        {"algorithms": ["ES256"]},
        importance="medium",
    )


def add_paddings(suite: Suite) -> None:
    cases = Cases(suite, "padding", PADDING)
    wrong = {"place": "signerInfo", "importance": "critical"}
    small = cms.authority().but(leaf={"key": keys.rsa_key("exponent-3"), "serial": 33})
    cases.valid(
        "exponent-3", "The public exponent of the signer's key is 3, and the signature is right.", by(small), importance="low"
    )
    for digest in ("sha1", "sha256"):
        info = cms.digest_info(payload(), digest)
        cases.invalid(
            f"cube-root-{digest}",
            "A cube root of short padding, digest and anything after it: a forgery without the key, whose exponent is 3.",
            by(small, digest=digest, signature=cms.cube_root_forgery(info)),
            "signature-mismatch",
            **wrong,
        )
    content = payload()
    info = cms.digest_info(content)
    bare = hashlib.sha256(content).digest()
    middle = bytearray(cms.padded(info))
    middle[100] = 0xFE
    zero = bytearray(cms.padded(info))
    zero[100] = 0
    long_form = der.tlv(0x30, der.children(der.read(info)[1])[0] + b"\x04\x81\x20" + bare)
    for name, what, message in (
        (
            "short",
            "The padding has eight octets, and zeros follow the digest",
            b"\0\1" + b"\xff" * 8 + b"\0" + info + bytes(256 - 11 - len(info)),
        ),
        ("garbage-after-digest", "Octets follow the digest", cms.padded(info + b"\x01\x02\x03\x04")),
        ("no-padding", "There is no padding: the digest is at the end of zeros", bytes(256 - len(info)) + info),
        ("type-2", "The padding is of type 2, that of encryption", cms.padded(info, start=b"\0\2")),
        ("type-0", "The padding is of type 0", cms.padded(info, start=b"\0\0")),
        ("octet-changed", "An octet of the padding is not FF", bytes(middle)),
        ("zero-within", "A zero stands within the padding", bytes(zero)),
        ("separator-missing", "The zero after the padding is missing", cms.padded(info, end=b"")),
        ("bare-digest", "The digest stands without the name of its algorithm", cms.padded(bare)),
        (
            "other-digest-named",
            "The algorithm that is named within is SHA-512/256, which has digests of the same length",
            cms.padded(info.replace(der.oid(cms.DIGESTS["sha256"]), der.oid("2.16.840.1.101.3.4.2.6"))),
        ),
        ("long-form", "A length within is in the long form", cms.padded(long_form)),
        (
            "garbage-in-parameters",
            "The parameters of the digest algorithm are a text",
            cms.padded(cms.digest_info(content, parameters=der.octet_string(b"garbage"))),
        ),
        (
            "digest-cut",
            "The last octet of the digest is missing",
            cms.padded(der.sequence(der.children(der.read(info)[1])[0], der.octet_string(bare[:-1]))),
        ),
        (
            "digest-empty",
            "The digest is empty",
            cms.padded(der.sequence(der.children(der.read(info)[1])[0], der.octet_string(b""))),
        ),
    ):
        signature = cms.raw_signature(cms.authority().leaf.key, message)
        cases.invalid(name, f"{what}.", receipt(content, signature=signature), "signature-mismatch", **wrong)
    without = cms.raw_signature(cms.authority().leaf.key, cms.padded(cms.digest_info(content, parameters=b"")))
    cases.either(
        "parameters-absent",
        "The digest algorithm within has no parameters, in place of NULL (RFC 8017 section 9.2, note 1).",
        receipt(content, signature=without),
    )


def one_octet(count: int) -> bytes:
    """A length in the long form of one octet."""
    return der.long_length(count, 1)


def add_signed_attributes(suite: Suite) -> None:
    cases = Cases(suite, "signed-attributes", ATTRIBUTES)
    content = payload()
    kind, digest = cms.signed_attributes(content)
    replay = cms.with_attributes(content)
    replayed = replay.signed_bytes()
    cases.invalid(
        "replayed-as-content",
        "The encoding of the signed attributes, which was signed, is taken as the content.",
        receipt(replayed),
        "malformed",
        importance="critical",
    )
    as_attributes = receipt(EVERYTHING, attributes=(der.read(content)[1],), signed=content)
    cases.invalid(
        "content-as-attributes",
        "A payload that was signed is taken as the signed attributes of another content.",
        as_attributes,
        "malformed",
        importance="critical",
    )
    for name, what, chosen, place in (
        ("without-digest", "The attribute message-digest is missing", [kind], "signedAttrs"),
        ("without-content-type", "The attribute content-type is missing", [digest], "signedAttrs"),
        (
            "without-both",
            "Neither content-type nor message-digest is among the signed attributes",
            [cms.signed_attribute(cms.SIGNING_TIME, der.time(SIGNED))],
            "signedAttrs",
        ),
        (
            "content-type-other",
            "The attribute content-type is signedData, not data",
            [cms.signed_attribute(cms.CONTENT_TYPE, der.oid(cms.SIGNED_DATA)), digest],
            "signedAttrs",
        ),
        (
            "digest-two-values",
            "The attribute message-digest has two values",
            [
                kind,
                cms.signed_attribute(
                    cms.MESSAGE_DIGEST, *(der.octet_string(hashlib.sha256(data).digest()) for data in (content, EVERYTHING))
                ),
            ],
            None,
        ),
        (
            "digest-no-value",
            "The attribute message-digest has no value",
            [kind, cms.signed_attribute(cms.MESSAGE_DIGEST)],
            None,
        ),
        (
            "digest-bit-string",
            "The message digest is a BIT STRING",
            [kind, cms.signed_attribute(cms.MESSAGE_DIGEST, der.bit_string(hashlib.sha256(content).digest()))],
            None,
        ),
        (
            "digest-twice",
            "The attribute message-digest occurs twice, with the right and another value",
            [kind, digest, cms.signed_attributes(EVERYTHING)[1]],
            None,
        ),
        (
            "content-type-twice",
            "The attribute content-type occurs twice",
            [kind, cms.signed_attribute(cms.CONTENT_TYPE, der.oid(cms.SIGNED_DATA)), digest],
            None,
        ),
        ("empty", "There are signed attributes, but none among them", [], None),
    ):
        cases.invalid(
            name,
            f"{what}; the signature is right.",
            cms.with_attributes(content, chosen),
            "malformed",
            place=place,
            importance="critical"
            if name in ("without-digest", "without-both", "digest-two-values", "digest-twice")
            else "high",
        )
    for name, what, wrong in (
        ("digest-of-other-content", "The message digest is that of another content", cms.signed_attributes(EVERYTHING)),
        (
            "digest-empty",
            "The message digest is empty",
            [kind, cms.signed_attribute(cms.MESSAGE_DIGEST, der.octet_string(b""))],
        ),
        (
            "digest-cut",
            "The message digest is right and one octet too short",
            [kind, cms.signed_attribute(cms.MESSAGE_DIGEST, der.octet_string(hashlib.sha256(content).digest()[:-1]))],
        ),
        (
            "digest-longer",
            "An octet follows the right message digest",
            [kind, cms.signed_attribute(cms.MESSAGE_DIGEST, der.octet_string(hashlib.sha256(content).digest() + b"\0"))],
        ),
        (
            "digest-of-sha1",
            "The message digest is of SHA-1, and the signer names SHA-256",
            cms.signed_attributes(content, "sha1"),
        ),
    ):
        cases.invalid(
            name,
            f"{what}; the signature is right.",
            cms.with_attributes(content, wrong),
            "signature-mismatch",
            place="signedAttrs",
            importance="critical",
        )
    cases.invalid(
        "over-content",
        "There are signed attributes, and the signature is over the content.",
        cms.with_attributes(content, signed=content),
        "signature-mismatch",
        place="signerInfo",
    )
    implicit = der.context(0, b"".join(sorted([kind, digest])))
    cases.invalid(
        "over-implicit-tag",
        "The signature is over the attributes with the tag that they have in the receipt, not that of a SET.",
        cms.with_attributes(content, signed=implicit),
        "signature-mismatch",
        place="signerInfo",
    )
    cases.invalid(
        "removed",
        "The signed attributes were removed after signing.",
        receipt(content, signed=replayed),
        "signature-mismatch",
        place="signerInfo",
        importance="critical",
    )
    cases.invalid(
        "added",
        "Signed attributes were added after the content was signed.",
        cms.with_attributes(EVERYTHING, signed=content),
        "signature-mismatch",
        place="signerInfo",
        importance="critical",
    )
    cases.invalid(
        "changed",
        "A signed attribute was changed after signing.",
        cms.with_attributes(content, [kind, digest, cms.signed_attribute("1.2.3.4", der.null())], signed=replayed),
        "signature-mismatch",
        place="signerInfo",
    )
    swapped = tuple(sorted([kind, digest], reverse=True))
    cases.invalid(
        "unsorted",
        "The signed attributes are not in the order of DER; the signature is over them as they stand.",
        receipt(content, attributes=swapped),
        "malformed",
        importance="medium",
    )
    cases.invalid(
        "unsorted-after-signing",
        "The signed attributes are not in the order of DER; the signature is over the right order.",
        receipt(content, attributes=swapped, signed=replayed),
        "malformed",
        importance="medium",
    )
    stretched = cms.with_length(lambda count: der.long_length(count, 2))(digest)
    cases.invalid(
        "not-der",
        "A signed attribute has a length that is not the shortest; signed attributes are in DER.",
        cms.with_attributes(content, [kind, stretched]).encoded(),
        "malformed",
        importance="medium",
    )
    long_value = der.octet_string(bytes(130))
    for name, what, attribute in (
        ("length-in-long-form", "has a length below 128 in the long form", cms.with_length(one_octet)(digest)),
        (
            "length-with-leading-zero",
            "has a length in two octets, the first of which is zero",
            cms.with_length(lambda count: der.long_length(count, 2))(cms.signed_attribute("1.2.3.4", long_value)),
        ),
        (
            "tag-number-with-leading-zero",
            "has a value whose tag number, 31, begins with an octet of zero bits",
            cms.signed_attribute("1.2.3.4", b"\x9f\x80\x1f\x00"),
        ),
    ):
        required = [kind] if name == "length-in-long-form" else [kind, digest]
        cases.invalid(
            name,
            f"A signed attribute {what}; signed attributes are in DER.",
            cms.with_attributes(content, [*required, attribute]).encoded(),
            "malformed",
            importance="medium",
        )
    unsigned = der.context(1, kind + digest)
    cases.invalid(
        "unsigned-only",
        "The digest of the content is among the unsigned attributes, and the signature is over another content.",
        receipt(EVERYTHING, unsigned=unsigned, signed=content),
        "signature-mismatch",
        place="signerInfo",
        importance="critical",
    )


def add_signers(suite: Suite) -> None:
    cases = Cases(suite, "signer", SIGNER)
    of = cms.authority()
    leaf, intermediate, root = cms.chain(of)
    identifier = hashlib.sha1(of.leaf.key.public_key().public_numbers().n.to_bytes(256, "big")).digest()
    marked = of.but(leaf={"extensions": (*of.leaf.extensions, pki.extension("2.5.29.14", der.octet_string(identifier)))})
    named = by(marked, signer_version=der.integer(3), signer_identifier=der.context(0, identifier, constructed=False))
    cases.either(
        "key-identifier", "The signer is named by its subject key identifier, which CMS allows and no receipt uses.", named
    )
    unknown = by(marked, signer_version=der.integer(3), signer_identifier=der.context(0, bytes(20), constructed=False))
    cases.add(
        "key-identifier-unknown",
        "The signer is named by a subject key identifier that no certificate has.",
        unknown,
        "invalid",
        reason="malformed",
        place="signerInfo",
        importance="medium",
    )
    cases.either(
        "version-3-with-issuer",
        "The version of the signerInfo is 3, and the signer is named by issuer and serial number.",
        receipt(signer_version=der.integer(3)),
    )
    other = of.leaf.but(serial=4, key=keys.rsa_key("other-leaf"))
    both = (leaf, cms.encoded(other), intermediate, root)
    cases.invalid(
        "other-certificate",
        "The signerInfo names another certificate of the store that is embedded too; the signature is of the first.",
        receipt(signer=other, key=of.leaf.key, certificates=both),
        "signature-mismatch",
        place="signerInfo",
        importance="critical",
    )
    cases.valid(
        "second-of-two",
        "Two signers' certificates are embedded; the signerInfo names the second.",
        receipt(signer=other, certificates=both),
    )
    cases.valid(
        "first-of-two", "Two signers' certificates are embedded; the signerInfo names the first.", receipt(certificates=both)
    )
    untrusted = {"place": "signerInfo"}
    cases.invalid(
        "serial-unknown",
        "The signerInfo names a serial number that no certificate has.",
        receipt(signer_identifier=der.sequence(of.leaf.issuer, der.integer(77))),
        "chain-untrusted",
        **untrusted,
    )
    cases.invalid(
        "issuer-unknown",
        "The signerInfo names an issuer that no certificate has.",
        receipt(signer_identifier=der.sequence(pki.name("Nobody"), der.integer(3))),
        "chain-untrusted",
        **untrusted,
    )
    cases.invalid(
        "issuer-is-subject",
        "The signerInfo names the subject of the signer's certificate in place of its issuer.",
        receipt(signer_identifier=der.sequence(of.leaf.subject, der.integer(3))),
        "chain-untrusted",
        **untrusted,
    )
    cases.invalid(
        "serial-negative",
        "The serial number in the signerInfo is that of the certificate with the sign changed.",
        receipt(signer_identifier=der.sequence(of.leaf.issuer, der.integer(-3))),
        "chain-untrusted",
        **untrusted,
    )
    cases.invalid(
        "certificate-missing",
        "The signer's certificate is not embedded; its issuers are.",
        receipt(certificates=(intermediate, root)),
        "chain-untrusted",
        **untrusted,
    )
    cases.invalid("certificates-none", "No certificate is embedded.", receipt(certificates=()), "chain-untrusted", **untrusted)
    cases.invalid(
        "certificates-empty",
        "The field certificates is present and empty.",
        receipt(certificates=(), certificates_field=der.context(0, b"")),
        "chain-untrusted",
        **untrusted,
    )
    twin = of.leaf.but(key=keys.rsa_key("foreign"), issuer_key=keys.rsa_key("foreign"))
    cases.either(
        "ambiguous-first",
        "A forged certificate with the issuer and serial number of the right one stands before it.",
        receipt(certificates=(cms.encoded(twin), leaf, intermediate, root)),
    )
    cases.invalid(
        "ambiguous-forged",
        "A forged certificate has issuer and serial number of the right one, which is embedded too, and the forger signed.",
        receipt(certificates=(leaf, cms.encoded(twin), intermediate, root), key=keys.rsa_key("foreign")),
        "chain-untrusted",
        importance="critical",
        **untrusted,
    )
    cases.invalid(
        "intermediate",
        "The intermediate signed.",
        receipt(signer=of.intermediate),
        "chain-length",
        place="certificate 0",
        importance="critical",
    )
    cases.invalid(
        "root", "The root signed.", receipt(signer=of.root), "chain-length", place="certificate 0", importance="critical"
    )


def add_chains(suite: Suite) -> None:
    cases = Cases(suite, "chain", FORGERY)
    of, foreign = cms.authority(), cms.authority(True)
    leaf, intermediate, root = cms.chain(of)
    forged = cms.chain(foreign)
    cases.undetermined(
        "intermediate-missing",
        "Only the leaf is embedded, and the policy has no intermediate.",
        receipt(certificates=(leaf,)),
        "issuer-missing",
        place="certificate 0",
        flags=[],
    )
    cases.undetermined(
        "intermediate-missing-with-root",
        "The leaf and the root are embedded.",
        receipt(certificates=(leaf, root)),
        "issuer-missing",
        place="certificate 0",
        flags=[],
    )
    supplied = {"intermediates": [pki.pem(intermediate)]}
    cases.valid(
        "intermediate-supplied",
        "Only the leaf is embedded; the policy has the intermediate.",
        receipt(certificates=(leaf,)),
        None,
        supplied,
        flags=[],
    )
    cases.valid(
        "intermediate-supplied-and-embedded",
        "The receipt and the policy have the intermediate.",
        receipt(),
        None,
        supplied,
        flags=[],
        importance="low",
    )
    cases.invalid(
        "intermediate-supplied-wrong",
        "Only the leaf is embedded; the policy's intermediate has the right name and another key.",
        receipt(certificates=(leaf,)),
        "chain-untrusted",
        {"intermediates": [pki.pem(forged[1])]},
        place="certificate 1",
    )
    cases.invalid(
        "foreign",
        "All names are right, and all keys those of a stranger.",
        by(foreign),
        "chain-untrusted",
        place="certificate 1",
        importance="critical",
    )
    cases.invalid(
        "foreign-with-genuine-root",
        "The trusted root is appended to the chain of a stranger.",
        by(foreign, *forged[:2], root),
        "chain-untrusted",
        place="certificate 1",
        importance="critical",
    )
    cases.invalid(
        "foreign-with-genuine-chain",
        "The store's whole chain is embedded beside the certificates of a stranger, who signed.",
        by(
            foreign.but(leaf={"serial": 99}),
            leaf,
            intermediate,
            root,
            forged[1],
            forged[2],
            cms.encoded(foreign.leaf.but(serial=99)),
        ),
        "chain-untrusted",
        importance="critical",
        place="certificate 0",
    )
    cases.invalid(
        "foreign-leaf",
        "A stranger issued the leaf under the name of the intermediate, which is embedded.",
        by(of.but(leaf={"issuer_key": keys.rsa_key("foreign")})),
        "chain-untrusted",
        place="certificate 0",
        importance="critical",
    )
    cases.invalid(
        "foreign-intermediate",
        "A stranger issued the intermediate under the name of the root.",
        by(of.but(intermediate={"issuer_key": keys.rsa_key("foreign")})),
        "chain-untrusted",
        place="certificate 1",
        importance="critical",
    )
    other = pki.Authority(
        foreign.root.but(subject=pki.name("Other Root CA"), issuer=pki.name("Other Root CA")),
        foreign.intermediate.but(issuer=pki.name("Other Root CA")),
        foreign.leaf,
    )
    cases.invalid(
        "other-root",
        "The chain is consistent and leads to another root.",
        by(other),
        "chain-untrusted",
        place="certificate 1",
        importance="critical",
    )
    cases.invalid(
        "policy-trusts-other-root",
        "The receipt is right, and the policy trusts another root.",
        receipt(),
        "chain-untrusted",
        {"trust": [pki.pem(cms.encoded(other.root))]},
        place="certificate 1",
    )
    cases.invalid(
        "policy-trusts-same-name",
        "The receipt is right, and the policy trusts another root of the same name.",
        receipt(),
        "chain-untrusted",
        {"trust": [pki.pem(forged[2])]},
        place="certificate 1",
    )
    cases.valid(
        "policy-trusts-two",
        "The policy trusts another root besides.",
        receipt(),
        None,
        {"trust": [pki.pem(forged[2]), pki.pem(root)]},
        flags=[],
    )
    for count in (7, 6):
        namesakes = [cms.encoded(foreign.intermediate.but(serial=2000 + index)) for index in range(count)]
        roots = [pki.pem(cms.encoded(foreign.root.but(serial=3000 + index))) for index in range(count)]
        cases.valid(
            f"after-{count}-intermediates",
            f"{count} intermediates with the right name and other keys stand before the right one; 8 are tried.",
            receipt(certificates=(leaf, *namesakes, intermediate, root)),
            flags=[],
            importance="medium",
        )
        cases.valid(
            f"after-{count}-roots",
            f"The policy trusts {count} roots with the right name and other keys before the right one; 8 are tried.",
            receipt(),
            None,
            {"trust": [*roots, pki.pem(root)]},
            flags=[],
            importance="medium",
        )
    unrelated = [
        cms.encoded(foreign.intermediate.but(serial=4000 + index, subject=pki.name(f"Unrelated CA {index}")))
        for index in range(13)
    ]
    cases.valid(
        "sixteen-certificates",
        "Sixteen certificates are embedded, of which thirteen are on no path.",
        receipt(certificates=(*unrelated, leaf, intermediate, root)),
        flags=[],
        importance="medium",
    )
    reissued = of.root.but(serial=1000, not_before=pki.NOT_BEFORE + 86_400)
    cases.valid(
        "root-issued-again",
        "The embedded root is another certificate of the trusted name and key.",
        receipt(certificates=(leaf, intermediate, cms.encoded(reissued))),
        flags=[],
        importance="medium",
    )
    two = of.but(leaf={"issuer": of.root.subject, "issuer_key": of.root.key})
    cases.invalid(
        "of-two",
        "The root itself issued the leaf.",
        by(two, cms.encoded(two.leaf), root),
        "chain-length",
        place="certificate 0",
        importance="critical",
    )
    self_signed = of.leaf.but(issuer=of.leaf.subject, issuer_key=of.leaf.key)
    cases.invalid(
        "of-one",
        "The leaf issued itself.",
        receipt(signer=self_signed, certificates=(cms.encoded(self_signed),)),
        "chain-untrusted",
        place="certificate 0",
        importance="critical",
    )
    four, second = of.with_second_intermediate()
    cases.invalid(
        "of-four",
        "There are two intermediates, one below the other.",
        by(four, cms.encoded(four.leaf), cms.encoded(second), cms.encoded(four.intermediate), root),
        "chain-length",
        place="certificate 1",
        importance="critical",
    )
    swapped = of.but(leaf={"issuer_key": of.root.key})
    cases.invalid(
        "signed-by-root",
        "The leaf names the intermediate as its issuer, and the root's key signed it.",
        by(swapped),
        "chain-untrusted",
        place="certificate 0",
    )
    renamed = of.but(leaf={"issuer": pki.name("Conformance Other CA")})
    cases.undetermined(
        "name-mismatch-leaf",
        "The leaf names an issuer of another name than the intermediate that signed it.",
        by(renamed),
        "issuer-missing",
        place="certificate 0",
    )
    above = of.but(intermediate={"issuer": pki.name("Conformance Other Root CA")})
    cases.invalid(
        "name-mismatch-intermediate",
        "The intermediate names an issuer of another name than the root that signed it.",
        by(above),
        "chain-untrusted",
        place="certificate 1",
    )
    other_case = of.but(leaf={"issuer": pki.name("Conformance Intermediate CA rsa")})
    cases.either(
        "name-in-other-case",
        "The leaf names its issuer with letters of the other case; RFC 5280 section 7.1 compares names without it.",
        by(other_case),
    )
    for name, place, part in (("leaf", "certificate 0", 0), ("intermediate", "certificate 1", 1)):
        certificates = [leaf, intermediate, root]
        certificates[part] = flipped(certificates[part], len(certificates[part]) - 1)
        cases.invalid(
            f"signature-of-{name}",
            f"A bit of the signature of the {name}'s certificate is flipped.",
            receipt(certificates=tuple(certificates)),
            "chain-untrusted",
            place=place,
            importance="critical",
        )
    key_at = leaf.index(keys.public(of.leaf.key)) + 100
    cases.invalid(
        "leaf-key-exchanged",
        "The key in the leaf was exchanged after it was issued, and the new one signed.",
        receipt(
            certificates=(leaf.replace(keys.public(of.leaf.key), keys.public(keys.rsa_key("foreign"))), intermediate, root),
            key=keys.rsa_key("foreign"),
        ),
        "chain-untrusted",
        place="certificate 0",
        importance="critical",
    )
    cases.invalid(
        "leaf-key-bit",
        "A bit of the key in the leaf is flipped.",
        receipt(certificates=(flipped(leaf, key_at), intermediate, root)),
        "chain-untrusted",
        place="certificate 0",
        importance="critical",
    )
    for name, label in (("sha1", "rsa-sha1"), ("sha512", "rsa-sha512")):
        cases.valid(
            f"signed-with-{name}",
            f"The leaf and the intermediate are signed with RSA and {name.upper()}.",
            by(of.but(leaf={"algorithm": label}, intermediate={"algorithm": label})),
            flags=[],
        )
    for number, which in enumerate(("leaf", "intermediate")):
        cases.invalid(
            f"{which}-with-sha1-refused",
            f"The {which} is signed with SHA-1, under a policy that accepts SHA-256 alone.",
            by(of.but(**{which: {"algorithm": "rsa-sha1"}})),
            "unsupported-algorithm",
            {"algorithms": ["RSA-SHA256"]},
            place=f"certificate {number}",
            importance="medium",
            flags=[ALGORITHMS],
        )
    cases.invalid(
        "signed-with-md5",
        "The leaf is signed with RSA and MD5.",
        by(of.but(leaf={"algorithm": "rsa-md5"})),
        "unsupported-algorithm",
        place="certificate 0",
        importance="critical",
    )
    excluding = pki.extension(
        "2.5.29.30",
        der.sequence(der.context(1, der.sequence(der.context(4, pki.name("Conformance Receipt Signing RSA"))))),
        True,
    )
    cases.invalid(
        "name-constraints",
        "The intermediate may not issue certificates of the leaf's name.",
        by(of.but(intermediate={"extensions": (*of.intermediate.extensions, excluding)})),
        "chain-untrusted",
        place="certificate 0",
        flags=[PURPOSE],
    )


def add_purposes(suite: Suite) -> None:
    cases = Cases(suite, "purpose", PURPOSE)
    of = cms.authority()
    basic, usage, marker = of.leaf.extensions
    upper_basic, upper_usage, upper_marker = of.intermediate.extensions

    def with_leaf(*extensions: bytes) -> cms.Receipt:
        return by(of.but(leaf={"extensions": extensions}))

    def with_intermediate(*extensions: bytes) -> cms.Receipt:
        return by(of.but(intermediate={"extensions": extensions}))

    leaf_place = {"place": "certificate 0", "importance": "critical"}
    upper_place = {"place": "certificate 1", "importance": "critical"}
    purpose = "certificate-purpose"
    cases.invalid(
        "leaf-without-marker", "The leaf lacks the marker of receipt signing.", with_leaf(basic, usage), purpose, **leaf_place
    )
    cases.invalid(
        "leaf-with-intermediate-marker",
        "The leaf has the marker of intermediates.",
        with_leaf(basic, usage, pki.marker(pki.INTERMEDIATE_MARKER)),
        purpose,
        **leaf_place,
    )
    cases.invalid(
        "leaf-marker-longer",
        "The leaf's marker has one arc more.",
        with_leaf(basic, usage, pki.marker(pki.LEAF_MARKER + ".1")),
        purpose,
        **leaf_place,
    )
    cases.invalid(
        "leaf-marker-shorter",
        "The leaf's marker lacks the last arc.",
        with_leaf(basic, usage, pki.marker(pki.LEAF_MARKER[:-2])),
        purpose,
        **leaf_place,
    )
    cases.invalid(
        "leaf-marker-of-music-store",
        "The leaf has the marker of the certificates of version 2 transaction receipts.",
        with_leaf(basic, usage, pki.marker("1.2.840.113635.100.6.5.1")),
        purpose,
        **leaf_place,
    )
    hidden = pki.extension("1.2.3.4", pki.marker(pki.LEAF_MARKER))
    cases.invalid(
        "leaf-marker-within",
        "The marker is in the value of another extension of the leaf.",
        with_leaf(basic, usage, hidden),
        purpose,
        **leaf_place,
    )
    cases.invalid(
        "intermediate-without-marker",
        "The intermediate lacks its marker.",
        with_intermediate(upper_basic, upper_usage),
        purpose,
        **upper_place,
    )
    cases.invalid(
        "intermediate-with-leaf-marker",
        "The intermediate has the marker of receipt signing in place of its own.",
        with_intermediate(upper_basic, upper_usage, pki.marker(pki.LEAF_MARKER)),
        purpose,
        **upper_place,
    )
    cases.invalid(
        "leaf-is-authority",
        "The leaf is an authority.",
        with_leaf(pki.basic_constraints(True), pki.key_usage("1000011"), marker),
        purpose,
        **leaf_place,
    )
    cases.invalid(
        "leaf-for-certificates",
        "The leaf's key may sign certificates and lists alone.",
        with_leaf(basic, pki.key_usage("0000011"), marker),
        purpose,
        **leaf_place,
    )
    cases.invalid(
        "leaf-for-encryption",
        "The leaf's key may encipher keys alone.",
        with_leaf(basic, pki.key_usage("001"), marker),
        purpose,
        **leaf_place,
    )
    cases.invalid(
        "intermediate-not-authority",
        "The intermediate is no authority.",
        with_intermediate(pki.basic_constraints(False), upper_usage, upper_marker),
        purpose,
        **upper_place,
    )
    cases.invalid(
        "intermediate-without-constraints",
        "The intermediate has no basic constraints.",
        with_intermediate(upper_usage, upper_marker),
        purpose,
        **upper_place,
    )
    cases.invalid(
        "intermediate-for-signatures",
        "The intermediate's key may not sign certificates.",
        with_intermediate(upper_basic, pki.key_usage("1"), upper_marker),
        purpose,
        **upper_place,
    )
    cases.valid(
        "leaf-without-key-usage",
        "The leaf does not restrict the usage of its key.",
        with_leaf(basic, marker),
        flags=[],
        importance="medium",
    )
    cases.valid(
        "leaf-without-constraints",
        "The leaf has no basic constraints, so that it is no authority.",
        with_leaf(usage, marker),
        flags=[],
        importance="medium",
    )
    cases.valid(
        "leaf-with-more",
        "The leaf has more extensions, none of them critical.",
        with_leaf(basic, usage, marker, pki.extension("1.2.3.4", der.null())),
        flags=[],
    )
    cases.valid(
        "leaf-two-usages",
        "The leaf's key may sign and encipher keys.",
        with_leaf(basic, pki.key_usage("101"), marker),
        flags=[],
        importance="medium",
    )
    cases.valid(
        "intermediate-without-key-usage",
        "The intermediate does not restrict the usage of its key.",
        with_intermediate(upper_basic, upper_marker),
        flags=[],
        importance="medium",
    )
    cases.valid(
        "intermediate-without-path-length",
        "The intermediate does not restrict the length of paths.",
        with_intermediate(pki.basic_constraints(True), upper_usage, upper_marker),
        flags=[],
        importance="medium",
    )
    unknown = pki.extension("1.2.3.4", der.null(), True)
    cases.invalid(
        "leaf-critical-extension",
        "The leaf has a critical extension that nobody knows.",
        with_leaf(basic, usage, marker, unknown),
        "chain-untrusted",
        place="certificate 0",
    )
    cases.invalid(
        "intermediate-critical-extension",
        "The intermediate has a critical extension that nobody knows.",
        with_intermediate(*of.intermediate.extensions, unknown),
        "chain-untrusted",
        place="certificate 1",
    )
    cases.either(
        "leaf-marker-critical",
        "The leaf's marker is critical, and the verifier knows it.",
        with_leaf(basic, usage, pki.extension(pki.LEAF_MARKER, der.null(), True)),
    )
    cases.either(
        "leaf-for-non-repudiation",
        "The leaf's key may sign for non-repudiation alone.",
        with_leaf(basic, pki.key_usage("01"), marker),
    )
    strict = of.but(root={"extensions": (pki.basic_constraints(True, 0), pki.key_usage("0000011"))})
    policy = {"trust": [pki.pem(cms.encoded(strict.root))]}
    cases.either(
        "root-path-length",
        "The root allows no authority below it; RFC 5280 leaves the constraints of a trust anchor to the verifier.",
        by(strict),
        policy,
    )


def add_validity(suite: Suite) -> None:
    cases = Cases(suite, "validity", CHAIN_TIME)
    of = cms.authority()

    def changed(part: str, **members) -> cms.Receipt:
        return by(of.but(**{part: members}))

    for depth, part in enumerate(("leaf", "intermediate")):
        place = f"certificate {depth}"
        cases.valid(
            f"{part}-last-second",
            f"The creation date is the last second of the {part}'s validity, which includes it.",
            changed(part, not_after=SIGNED),
        )
        cases.valid(
            f"{part}-first-second",
            f"The creation date is the first second of the {part}'s validity.",
            changed(part, not_before=SIGNED),
        )
        cases.invalid(
            f"{part}-expired",
            f"The {part} expired a second before the creation date.",
            changed(part, not_after=SIGNED - 1),
            "chain-expired",
            place=place,
            importance="critical",
        )
        cases.invalid(
            f"{part}-not-yet-valid",
            f"The {part} becomes valid a second after the creation date.",
            changed(part, not_before=SIGNED + 1),
            "chain-expired",
            place=place,
            importance="critical",
        )
        cases.valid(
            f"{part}-expired-since",
            f"The {part} has expired since; it was valid at the creation date.",
            changed(part, not_after=SIGNED + 86_400),
        )
        cases.invalid(
            f"{part}-expired-long-ago",
            f"The {part} expired years before the creation date.",
            changed(part, not_after=pki.NOT_BEFORE + 86_400),
            "chain-expired",
            place=place,
            importance="critical",
        )
    cases.invalid(
        "leaf-empty",
        "The leaf's validity ends before it begins.",
        changed("leaf", not_before=SIGNED + 10, not_after=SIGNED - 10),
        "chain-expired",
        place="certificate 0",
    )
    expired = of.but(root={"not_after": SIGNED - 1})
    cases.either(
        "root-expired",
        "The trusted root had expired at the creation date; RFC 5280 leaves a trust anchor's validity to the verifier.",
        by(expired),
        {"trust": [pki.pem(cms.encoded(expired.root))]},
    )
    leaf, intermediate, root = cms.chain(of)
    old = cms.encoded(of.intermediate.but(serial=20, not_after=SIGNED - 1000))
    new = cms.encoded(of.intermediate.but(serial=21, not_before=SIGNED - 1000))
    late = cms.encoded(of.intermediate.but(serial=22, not_before=SIGNED + 1000))
    for name, certificates in (
        ("old-first", (old, new)),
        ("new-first", (new, old)),
        ("late-first", (late, new)),
        ("three", (old, late, new)),
    ):
        cases.valid(
            f"two-intermediates-{name}",
            "There are several intermediates of one name and key; one of them was valid at the creation date.",
            receipt(certificates=(leaf, *certificates, root)),
        )
    cases.valid(
        "two-intermediates-policy",
        "The embedded intermediate had expired; the policy has a renewed one of the same name and key.",
        receipt(certificates=(leaf, old, root)),
        None,
        {"intermediates": [pki.pem(new)]},
    )
    cases.invalid(
        "two-intermediates-none-valid",
        "There are two intermediates of one name and key; neither was valid at the creation date.",
        receipt(certificates=(leaf, old, late, root)),
        "chain-expired",
        place="certificate 1",
    )
    cases.invalid(
        "two-leaves",
        "A renewed leaf of the same name and key is embedded; the signerInfo names the one that had expired.",
        receipt(
            signer=of.leaf.but(serial=30, not_after=SIGNED - 1),
            certificates=(leaf, cms.encoded(of.leaf.but(serial=30, not_after=SIGNED - 1)), intermediate, root),
        ),
        "chain-expired",
        place="certificate 0",
    )


def add_certificates(suite: Suite) -> None:
    cases = Cases(suite, "certificate")
    of = cms.authority()
    leaf, intermediate, root = cms.chain(of)

    def signed(change) -> cms.Receipt:
        return by(of.but(leaf={"change_signed": change}))

    for name, what, bad in (
        ("empty", "an empty SEQUENCE", der.sequence()),
        ("text", "a SEQUENCE of a text", der.sequence(text("certificate"))),
        ("cut", "cut short, within a right length", der.tlv(0x30, der.read(leaf)[1][:300])),
    ):
        cases.either(
            f"besides-{name}",
            f"A certificate that is not the signer's is {what}.",
            receipt(certificates=(leaf, intermediate, root, bad)),
        )
        cases.invalid(
            f"intermediate-{name}",
            f"The intermediate is {what}.",
            receipt(certificates=(leaf, bad, root)),
            "malformed",
            place="certificate 1",
            importance="medium",
        )
    for name, what, change in (
        (
            "duplicate-extension",
            "has an extension twice",
            lambda value: cms.edit(value, (7, 0), cms.inside(of.leaf.extensions[2])),
        ),
        (
            "extensions-empty",
            "has an empty list of extensions",
            lambda value: cms.edit(value, (7, 0), lambda _: der.sequence()),
        ),
        (
            "utc-time-without-seconds",
            "has a date without seconds",
            lambda value: cms.edit(value, (4, 0), lambda _: der.tlv(der.UTC_TIME, b"2001010000Z")),
        ),
        (
            "utc-time-offset",
            "has a date with an offset",
            lambda value: cms.edit(value, (4, 0), lambda _: der.tlv(der.UTC_TIME, b"200101000000+0000")),
        ),
        (
            "date-month-13",
            "has a date in month 13",
            lambda value: cms.edit(value, (4, 1), lambda _: der.tlv(der.UTC_TIME, b"491301000000Z")),
        ),
        ("date-text", "has a date that is a text", lambda value: cms.edit(value, (4, 1), lambda _: der.utf8("2049-12-31"))),
        ("validity-one-date", "has one date of validity", lambda value: cms.edit(value, (4,), without_last)),
        ("version-4", "has the version 4", lambda value: cms.edit(value, (0, 0), lambda _: der.integer(3))),
        (
            "version-1-with-extensions",
            "has the version 1 and extensions",
            lambda value: der.tlv(0x30, b"".join(der.children(der.read(value)[1])[1:])),
        ),
        (
            "trailing-in-extension",
            "has bytes after the value of an extension",
            lambda value: cms.edit(value, (7, 0, 0, 2), cms.inside(b"\0")),
        ),
        (
            "null-after-key-usage",
            "has a NULL after the key usage, within the value of the extension, which is one (RFC 5280 section 4.1)",
            lambda value: cms.edit(value, (7, 0, 1, 2), cms.inside(der.null())),
        ),
        ("key-missing", "has no key", lambda value: cms.edit(value, (6,), lambda _: b"")),
        (
            "key-cut",
            "has a key that ends early",
            lambda value: cms.edit(value, (6, 1), lambda bits: der.tlv(3, der.read(bits)[1][:100])),
        ),
        ("serial-empty", "has an empty serial number", lambda value: cms.edit(value, (1,), lambda _: b"\x02\x00")),
    ):
        cases.invalid(
            f"leaf-{name}",
            f"The leaf {what}; its issuer signed it so.",
            signed(change),
            "malformed",
            importance="medium",
            place="certificate 0",
        )
    mixed = signed(lambda value: cms.edit(value, (2,), lambda _: pki.algorithm("rsa-sha1")))
    cases.invalid(
        "algorithms-differ",
        "The algorithm within the leaf is not the one outside (RFC 5280 section 4.1.1.2).",
        mixed,
        "malformed",
        place="certificate 0",
    )
    cases.invalid(
        "signature-unused-bits",
        "The signature of the leaf says that it has unused bits.",
        by(
            of.but(
                leaf={"change": lambda value: cms.edit(value, (2,), lambda bits: der.tlv(3, b"\x01" + der.read(bits)[1][1:]))}
            )
        ),
        "malformed",
        place="certificate 0",
        importance="medium",
    )


def without_last(value: bytes) -> bytes:
    tag, content, _ = der.read(value)
    return der.tlv(tag, b"".join(der.children(content)[:-1]))
