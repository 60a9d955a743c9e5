# SPDX-License-Identifier: Apache-2.0
"""App receipts whose container or payload is not well formed. The payload is always signed rightly."""

import base64
from collections.abc import Callable

import cms
import der
import pki
from cms import (
    BER,
    DUPLICATE,
    EXHAUSTION,
    LENGTHS,
    NUMBERS,
    TEXTS,
    TRAILING,
    TRUNCATED,
    WRONG_TAG,
    Cases,
    attribute,
    date,
    number,
    payload,
    purchase,
    receipt,
    text,
)
from suite import Suite

# The parts of the container, by path; the signature is right whatever is changed here.
PARTS = {
    "content-info": (),
    "content-type": (0,),
    "explicit-content": (1,),
    "signed-data": cms.SIGNED,
    "version": cms.VERSION,
    "digest-algorithms": cms.DIGEST_ALGORITHMS,
    "digest-algorithm": (*cms.DIGEST_ALGORITHMS, 0),
    "encapsulated-content": cms.ENCAPSULATED,
    "inner-content-type": (*cms.ENCAPSULATED, 0),
    "explicit-inner-content": (*cms.ENCAPSULATED, 1),
    "content": cms.CONTENT,
    "certificates": cms.CERTIFICATES,
    "leaf-certificate": (*cms.CERTIFICATES, 0),
    "signer-infos": cms.SIGNER_INFOS,
    "signer-info": cms.SIGNER_INFO,
    "signer-version": (*cms.SIGNER_INFO, 0),
    "issuer-and-serial-number": (*cms.SIGNER_INFO, 1),
    "issuer": (*cms.SIGNER_INFO, 1, 0),
    "serial-number": (*cms.SIGNER_INFO, 1, 1),
    "signer-digest-algorithm": (*cms.SIGNER_INFO, 2),
    "signature-algorithm": (*cms.SIGNER_INFO, 3),
    "signature": (*cms.SIGNER_INFO, 4),
}
APP_TYPES = {
    0: (text("Production"), "environment"),
    1: (number(7), "app's App Store ID"),
    2: (text("com.example.other"), "bundle identifier"),
    3: (text("9.9"), "application version"),
    4: (bytes(16), "opaque value"),
    5: (bytes(20), "hash"),
    8: (date("2025-10-02T00:00:00Z"), "transaction date"),
    9: (number(1), "fulfilment tool version"),
    10: (date("17+"), "age rating"),
    11: (number(1), "developer ID"),
    12: (date("2025-10-02T00:00:00Z"), "creation date"),
    15: (number(1), "download ID"),
    16: (number(1), "installer version"),
    18: (date("2020-10-02T00:00:00Z"), "original purchase date"),
    19: (text("0.1"), "original application version"),
    21: (date("2020-10-02T00:00:00Z"), "expiration date"),
}
PURCHASE_TYPES = {
    1701: (number(99), "quantity"),
    1702: (text("com.example.app.everything"), "product ID"),
    1703: (text("9"), "transaction ID"),
    1704: (date("2020-10-02T00:00:00Z"), "purchase date"),
    1705: (text("9"), "original transaction ID"),
    1706: (date("2020-10-02T00:00:00Z"), "original purchase date"),
    1707: (number(0), "product type"),
    1708: (date("2040-10-02T00:00:00Z"), "expiration date"),
    1711: (number(1), "web order line item ID"),
    1712: (date("2025-10-02T00:00:00Z"), "cancellation date"),
    1713: (number(1), "trial flag"),
    1719: (number(1), "introductory flag"),
    1721: (text("offer"), "promotional offer ID"),
}

# Types that Apple does not document and that no policy needs.
UNDOCUMENTED = {8, 9, 10, 11, 15, 16, 18, 1707, 1713, 1721}


def add(suite: Suite) -> None:
    add_inputs(suite)
    add_truncations(suite)
    add_trailing(suite)
    add_tags(suite)
    add_lengths(suite)
    add_contents(suite)
    add_duplicates(suite)
    add_payloads(suite)
    add_values(suite)
    add_bombs(suite)


def at(name: str) -> str:
    return f"the {name.replace('-', ' ')}"


def purchased(changes: dict) -> cms.Receipt:
    return receipt(payload(purchases=[purchase(changes=changes)]))


def add_inputs(suite: Suite) -> None:
    cases = Cases(suite, "input")
    leaf, intermediate, root = cms.chain(cms.authority())
    sample = receipt().encoded()
    for name, what, data in (
        ("empty", "There are no bytes.", b""),
        ("white-space", "There is white space alone.", b" \r\n\t "),
        ("zeros", "A hundred zero bytes.", bytes(100)),
        ("text", "A sentence.", b"The receipt could not be loaded."),
        ("html", "A page of HTML, as a proxy answers.", b"<!DOCTYPE html><html><body>502 Bad Gateway</body></html>"),
        ("null", "The word null.", b"null"),
        ("certificate", "A certificate.", leaf),
        ("certificate-pem", "A certificate in PEM.", pki.pem(leaf).encode()),
        ("payload-alone", "The payload without its container.", payload()),
        ("signed-data-alone", "The SignedData without the ContentInfo around it.", cms.part(sample, cms.SIGNED)),
        ("one-byte", "The byte of a SEQUENCE.", b"\x30"),
        ("empty-sequence", "An empty SEQUENCE.", b"\x30\x00"),
        ("empty-indefinite", "An empty SEQUENCE of indefinite length.", b"\x30\x80\x00\x00"),
        ("byte-before", "A zero byte stands before the receipt.", b"\x00" + sample),
        ("twice", "The receipt stands twice, one after the other.", sample + sample),
        ("xml-plist", "A property list in XML.", b'<?xml version="1.0"?><plist version="1.0"><dict/></plist>'),
        ("binary-plist", "A binary property list.", b"bplist00\xd0\x08" + bytes(5) + b"\x00\x01\x01" + bytes(15) + b"\x08"),
        ("zip", "The beginning of a ZIP archive.", b"PK\x03\x04" + bytes(60)),
    ):
        cases.invalid(name, what, data, "malformed", importance="medium")
    for name, oid in (
        ("data", "1.2.840.113549.1.7.1"),
        ("enveloped-data", "1.2.840.113549.1.7.3"),
        ("signed-and-enveloped-data", "1.2.840.113549.1.7.4"),
        ("digested-data", "1.2.840.113549.1.7.5"),
        ("encrypted-data", "1.2.840.113549.1.7.6"),
        ("authenticated-data", "1.2.840.113549.1.9.16.1.2"),
    ):
        cases.invalid(
            f"pkcs7-{name}",
            f"The content type is {name}, and the contents are those of a SignedData.",
            receipt(content_type=der.oid(oid)).encoded(),
            "malformed",
            importance="medium",
        )
    cases.invalid(
        "pkcs7-data-alone",
        "A ContentInfo of the type data around the payload.",
        der.sequence(der.oid(cms.DATA), der.context(0, der.octet_string(payload()))),
        "malformed",
        importance="critical",
    )
    cases.invalid(
        "inner-type-tst-info",
        "The inner content type is that of time stamps.",
        receipt(inner_type=der.oid("1.2.840.113549.1.9.16.1.4")).encoded(),
        "malformed",
    )
    cases.invalid(
        "inner-type-signed-data",
        "The inner content type is signedData.",
        receipt(inner_type=der.oid(cms.SIGNED_DATA)).encoded(),
        "malformed",
    )
    cases.invalid(
        "nested-signed-data",
        "The content of the container is a whole receipt.",
        receipt(sample).encoded(),
        "malformed",
    )


def add_truncations(suite: Suite) -> None:
    cases = Cases(suite, "truncated", TRUNCATED)
    sample = receipt().encoded()
    for name, path in PARTS.items():
        if path:
            start = cms.offset(sample, path)
            cases.invalid(
                f"before-{name}", f"The receipt ends before {at(name)}.", sample[:start], "malformed", importance="medium"
            )
    cases.invalid(
        "within-content", "The receipt ends in the midst of its content.", sample[:300], "malformed", importance="medium"
    )
    cases.invalid("last-byte", "The last byte is missing.", sample[:-1], "malformed")
    cases.invalid("last-byte-base64", "The last byte is missing, in base64.", base64.b64encode(sample[:-1]), "malformed")
    for name in ("signed-data", "signer-info"):
        cases.invalid(
            f"{name}-short",
            f"The last value in {at(name)} is missing; the lengths follow.",
            cms.edit(sample, PARTS[name], without_last),
            "malformed",
            importance="medium",
        )


def without_last(value: bytes) -> bytes:
    tag, content, _ = der.read(value)
    return der.tlv(tag, b"".join(der.children(content)[:-1]))


def add_trailing(suite: Suite) -> None:
    cases = Cases(suite, "trailing", TRAILING)
    sample = receipt().encoded()
    for name in (
        "explicit-content",
        "signed-data",
        "encapsulated-content",
        "explicit-inner-content",
        "signer-info",
        "issuer-and-serial-number",
        "digest-algorithm",
        "signer-digest-algorithm",
        "signature-algorithm",
    ):
        cases.invalid(
            f"null-in-{name}",
            f"A NULL follows the last value in {at(name)}.",
            cms.edit(sample, PARTS[name], cms.inside(der.null())),
            "malformed",
            importance="medium",
        )
    cases.invalid(
        "null-in-content-info",
        "A NULL follows within the outermost value.",
        cms.edit(sample, (), cms.inside(der.null())),
        "malformed",
        importance="medium",
    )
    cases.invalid("byte-at-the-end", "A zero byte follows the receipt.", sample + b"\0", "malformed")
    cases.invalid(
        "byte-at-the-end-base64", "A zero byte follows the receipt, in base64.", base64.b64encode(sample + b"\0"), "malformed"
    )
    cases.invalid(
        "line-break-at-the-end", "A line break follows the binary receipt.", sample + b"\n", "malformed", importance="medium"
    )
    cases.invalid(
        "end-of-contents",
        "End-of-contents octets follow a receipt of definite length.",
        sample + b"\0\0",
        "malformed",
        importance="medium",
    )
    cases.invalid(
        "in-payload",
        "A zero byte follows the SET of the payload, within the content.",
        receipt(payload() + b"\0").encoded(),
        "malformed",
    )
    cases.invalid(
        "set-in-payload",
        "A second SET with other attributes follows the SET of the payload.",
        receipt(payload() + payload({2: text("com.example.other")})).encoded(),
        "malformed",
        importance="critical",
    )
    cases.invalid(
        "in-attribute",
        "A NULL follows the value within an attribute.",
        receipt(payload(more=[der.sequence(number(9999), number(1), der.octet_string(b""), der.null())])).encoded(),
        "malformed",
    )
    cases.invalid(
        "in-text",
        "A byte follows the text in the value of the bundle identifier.",
        receipt(payload({2: text("com.example.app") + b"\0"})).encoded(),
        "malformed",
        place="attribute 2",
    )
    cases.invalid(
        "in-number",
        "A byte follows the number in the value of the App Store ID.",
        receipt(payload({1: number(0) + b"\0"})).encoded(),
        "malformed",
        place="attribute 1",
    )
    cases.invalid(
        "in-date",
        "A byte follows the text in the value of the creation date.",
        receipt(payload({12: date(cms.SIGNED_TEXT) + b"\0"})).encoded(),
        "malformed",
        place="attribute 12",
    )
    cases.invalid(
        "in-purchase",
        "A byte follows the SET of a purchase.",
        receipt(payload(purchases=[purchase() + b"\0"])).encoded(),
        "malformed",
    )
    cases.invalid(
        "two-texts",
        "The value of the product ID holds two texts.",
        purchased({1702: text("com.example.app.coins") + text("com.example.app.monthly")}).encoded(),
        "malformed",
        place="attribute 1702 of in-app purchase 0",
    )


def add_tags(suite: Suite) -> None:
    cases = Cases(suite, "tag", WRONG_TAG)
    sample = receipt().encoded()
    tags = {
        "content-info": der.SET,
        "content-type": der.OCTET_STRING,
        "explicit-content": 0xA1,
        "signed-data": der.SET,
        "version": der.ENUMERATED,
        "digest-algorithms": der.SEQUENCE,
        "digest-algorithm": der.SET,
        "encapsulated-content": der.SET,
        "inner-content-type": der.UTF8_STRING,
        "explicit-inner-content": 0x30,
        "content": der.BIT_STRING,
        "leaf-certificate": der.SET,
        "signer-infos": der.SEQUENCE,
        "signer-info": der.SET,
        "signer-version": der.ENUMERATED,
        "issuer-and-serial-number": der.SET,
        "issuer": der.SET,
        "serial-number": der.OCTET_STRING,
        "signer-digest-algorithm": der.SET,
        "signature-algorithm": der.SET,
        "signature": der.BIT_STRING,
    }
    for name, tag in tags.items():
        cases.invalid(
            f"container-{name}",
            f"The tag of {at(name)} is {tag:02X}.",
            cms.edit(sample, PARTS[name], cms.retag(tag)),
            "malformed",
            importance="medium",
        )
    cases.invalid(
        "payload-sequence",
        "The attributes are in a SEQUENCE in place of the SET.",
        receipt(cms.retag(der.SEQUENCE)(payload())).encoded(),
        "malformed",
    )
    cases.invalid(
        "attribute-set",
        "An attribute is a SET in place of a SEQUENCE.",
        receipt(payload(more=[der.tlv(der.SET, der.read(attribute(9999, b""))[1])])).encoded(),
        "malformed",
    )
    for name, parts in (
        ("type-enumerated", (der.tlv(der.ENUMERATED, b"\x7f"), number(1), der.octet_string(b""))),
        ("version-text", (number(9999), text("1"), der.octet_string(b""))),
        ("value-text", (number(9999), number(1), text("value"))),
        ("value-bit-string", (number(9999), number(1), der.bit_string(b"value"))),
        ("value-missing", (number(9999), number(1))),
        ("version-missing", (number(9999), der.octet_string(b""))),
        ("type-missing", (der.octet_string(b""),)),
        ("empty", ()),
    ):
        cases.invalid(
            f"attribute-{name}",
            f"An attribute is not a number, a number and an OCTET STRING: {name.replace('-', ' ')}.",
            receipt(payload(more=[der.sequence(*parts)])).encoded(),
            "malformed",
            importance="medium",
        )
    for kind, (right, what) in APP_TYPES.items():
        if kind not in (4, 5):
            add_wrong_type(
                cases, f"attribute-{kind}", f"The {what}", kind, right, lambda wrong, kind=kind: payload({kind: wrong})
            )
    for kind, (right, what) in PURCHASE_TYPES.items():
        add_wrong_type(
            cases,
            f"purchase-{kind}",
            f"The {what} of a purchase",
            kind,
            right,
            lambda wrong, kind=kind: payload(purchases=[purchase(changes={kind: wrong})]),
        )
    cases.invalid(
        "attribute-17",
        "A purchase is a text.",
        receipt(payload(more=[attribute(17, text("1"))])).encoded(),
        "malformed",
        importance="medium",
    )
    cases.invalid(
        "date-generalized-time",
        "The creation date is a GeneralizedTime.",
        receipt(payload({12: der.tlv(der.GENERALIZED_TIME, b"20251001070912Z")})).encoded(),
        "malformed",
        place="attribute 12",
        importance="medium",
    )
    cases.invalid(
        "purchase-sequence",
        "A purchase is a SEQUENCE in place of a SET.",
        receipt(payload(purchases=[cms.retag(der.SEQUENCE)(purchase())])).encoded(),
        "malformed",
        importance="medium",
    )
    cases.either(
        "bundle-ia5", "The bundle identifier is an IA5String.", receipt(payload({2: der.ia5("com.example.app")})).encoded()
    )
    cases.either(
        "bundle-printable",
        "The bundle identifier is a PrintableString.",
        receipt(payload({2: der.printable("com.example.app")})).encoded(),
    )


def add_wrong_type(cases: Cases, name: str, what: str, kind: int, right: bytes, content: Callable[[bytes], bytes]) -> None:
    """A number in place of a text, or a text in place of a number. A program need not know the types that Apple does not
    document, and need not decode them."""
    is_number = right[0] == der.INTEGER
    description = f"{what} is a {'text' if is_number else 'number'}."
    data = receipt(content(text("1") if is_number else number(1))).encoded()
    if kind in UNDOCUMENTED:
        cases.either(name, description, data)
    else:
        place = f"attribute {kind}" + (" of in-app purchase 0" if kind > 1700 else "")
        cases.invalid(name, description, data, "malformed", place=place, importance="medium")


def add_lengths(suite: Suite) -> None:
    cases = Cases(suite, "length", LENGTHS)
    sample = receipt().encoded()
    for name in (
        "content-info",
        "signed-data",
        "encapsulated-content",
        "content",
        "certificates",
        "signer-infos",
        "signer-info",
        "signature",
    ):
        path = PARTS[name]
        cases.invalid(
            f"{name}-beyond",
            f"The length of {at(name)} reaches past the value around it.",
            cms.edit(sample, path, cms.with_length(lambda count: der.length(count + 1000 if count > 255 else 255))),
            "malformed",
            importance="medium",
        )
    cases.invalid(
        "signature-short",
        "The length of the signature is one less; a byte is left over.",
        cms.edit(sample, PARTS["signature"], cms.with_length(lambda count: der.length(count - 1))),
        "malformed",
        importance="medium",
    )
    for name, octets in (
        ("four-octets-large", b"\x84\x7f\xff\xff\xff"),
        ("four-octets-negative", b"\x84\xff\xff\xff\xff"),
        ("eight-octets", b"\x88\xff\xff\xff\xff\xff\xff\xff\xff"),
        ("eight-octets-positive", b"\x88\x7f\xff\xff\xff\xff\xff\xff\xff"),
        ("sixteen-octets", b"\x90" + b"\xff" * 16),
        ("reserved", b"\xff"),
        ("of-the-rest", b"\x89\x01" + bytes(7) + b"\x10"),
    ):
        for part_name in ("content-info", "content"):
            cases.invalid(
                f"{part_name}-{name}",
                f"The length of {at(part_name)} is {octets.hex()}.",
                cms.edit(sample, PARTS[part_name], lambda value, octets=octets: value[:1] + octets + der.read(value)[1]),
                "malformed",
                importance="medium",
            )
    for name in ("content-info", "signed-data"):
        body = cms.edit(sample, PARTS[name], lambda value: value[:1] + b"\x80" + der.read(value)[1])
        cases.invalid(
            f"{name}-unterminated",
            f"The indefinite length of {at(name)} has no end-of-contents octets.",
            body,
            "malformed",
            flags=[LENGTHS, BER],
        )
    cases.invalid(
        "content-unterminated",
        "The indefinite length of the content has no end-of-contents octets.",
        receipt(octets=b"\x24\x80" + der.octet_string(payload())).encoded(),
        "malformed",
        flags=[LENGTHS, BER],
    )
    cases.invalid(
        "content-half-terminated",
        "The indefinite length of the content ends with one zero byte.",
        receipt(octets=b"\x24\x80" + der.octet_string(payload()) + b"\0").encoded(),
        "malformed",
        flags=[LENGTHS, BER],
    )
    cases.invalid(
        "primitive-indefinite",
        "The content is a primitive OCTET STRING of indefinite length.",
        receipt(octets=b"\x04\x80" + payload() + b"\0\0").encoded(),
        "malformed",
        flags=[LENGTHS, BER],
    )
    cases.invalid(
        "pieces-of-another-type",
        "A piece of the content is a UTF8String.",
        receipt(octets=der.indefinite(0x24, der.octet_string(payload()[:100]) + der.tlv(12, payload()[100:]))).encoded(),
        "malformed",
        flags=[BER],
    )
    null_with_content = b"\x05\x01\x00"
    cases.invalid(
        "null-with-content",
        "The parameters of the signature algorithm are a NULL with an octet in it.",
        receipt(signature_algorithm=cms.algorithm(cms.RSA_ENCRYPTION, null_with_content)).encoded(),
        "malformed",
        importance="medium",
    )
    cases.invalid(
        "null-with-content-in-digest-algorithm",
        "The parameters of the signer's digest algorithm are a NULL with an octet in it.",
        receipt(
            digest_algorithm=cms.algorithm(cms.DIGESTS["sha256"], null_with_content),
            digest_algorithms=(cms.algorithm(cms.DIGESTS["sha256"]),),
        ).encoded(),
        "malformed",
        importance="medium",
    )
    cases.either(
        "payload-long-form",
        "The length of the SET of the payload has an octet that is not needed.",
        receipt(cms.with_length(lambda count: der.long_length(count, 3))(payload())).encoded(),
    )
    cases.either(
        "attribute-long-form",
        "The length of an attribute is in the long form without need.",
        receipt(payload(more=[cms.with_length(lambda count: der.long_length(count, 1))(attribute(9999, b"x"))])).encoded(),
    )
    cases.either(
        "text-long-form",
        "The length of the bundle identifier is in the long form without need.",
        receipt(payload({2: cms.with_length(lambda count: der.long_length(count, 1))(text("com.example.app"))})).encoded(),
    )
    cases.either(
        "payload-indefinite", "The SET of the payload is of indefinite length.", receipt(cms.indefinite(payload())).encoded()
    )
    cases.invalid(
        "attribute-beyond",
        "The length of an attribute reaches past the payload.",
        receipt(der.tlv(der.SET, attribute(2, text("com.example.app")) + b"\x30\x7f\x02\x01\x0c")).encoded(),
        "malformed",
    )
    cases.invalid(
        "text-beyond",
        "The length of the bundle identifier reaches past its attribute.",
        receipt(payload({2: b"\x0c\x20com.example.app"})).encoded(),
        "malformed",
        place="attribute 2",
    )
    cases.invalid(
        "purchase-text-beyond",
        "The length of a product ID reaches into the next attribute.",
        purchased({1702: b"\x0c\x30com.example.app.monthly"}).encoded(),
        "malformed",
        place="attribute 1702 of in-app purchase 0",
    )


def add_contents(suite: Suite) -> None:
    cases = Cases(suite, "content")
    cases.invalid("detached", "There is no content: the signature is detached.", receipt(octets=b"").encoded(), "malformed")
    cases.invalid("empty", "The content has no octets.", receipt(b"").encoded(), "malformed")
    cases.invalid(
        "empty-set",
        "The content is an empty SET: there is no bundle identifier.",
        receipt(der.tlv(der.SET, b"")).encoded(),
        "wrong-bundle",
        {"time": "evaluation"},
    )
    cases.invalid("text", "The content is a text.", receipt(b"com.example.app").encoded(), "malformed")
    cases.invalid(
        "json",
        "The content is JSON, as a signed transaction's.",
        receipt(b'{"bundleId":"com.example.app","environment":"Production"}').encoded(),
        "malformed",
    )
    cases.either(
        "octet-string-twice", "The content is wrapped in one more OCTET STRING.", receipt(der.octet_string(payload())).encoded()
    )
    sample = receipt()
    info = sample.signer_info()
    cases.invalid(
        "unsigned",
        "There is no signerInfo: nobody signed.",
        receipt(signer_infos=()).encoded(),
        "unsigned",
        importance="critical",
    )
    cases.invalid(
        "unsigned-without-certificates",
        "There is neither a signerInfo nor a certificate.",
        receipt(signer_infos=(), certificates=()).encoded(),
        "unsigned",
        importance="critical",
    )
    cases.invalid(
        "two-signers",
        "There are two signerInfos, both right.",
        receipt(
            signer_infos=(info, receipt(signature_algorithm=cms.algorithm(cms.WITH_RSA["sha256"])).signer_info())
        ).encoded(),
        "malformed",
        place="signerInfos",
    )
    broken = receipt(signature=bytes(256)).signer_info()
    cases.invalid(
        "two-signers-one-wrong",
        "There are two signerInfos, of which the second is wrong.",
        receipt(signer_infos=(info, broken)).encoded(),
        "malformed",
        place="signerInfos",
        importance="critical",
    )
    foreign = cms.authority(True)
    forged = receipt(of=foreign.but(leaf={"serial": 99})).signer_info()
    cases.invalid(
        "two-signers-foreign",
        "There is a signerInfo of the store and one of a stranger.",
        receipt(signer_infos=(forged, info)).encoded(),
        "malformed",
        place="signerInfos",
        importance="critical",
    )
    cases.invalid(
        "signer-twice",
        "The same signerInfo stands twice.",
        receipt(signer_infos=(info, info)).encoded(),
        "malformed",
        place="signerInfos",
    )


def add_duplicates(suite: Suite) -> None:
    cases = Cases(suite, "duplicate", DUPLICATE)
    for kind, (other, what) in APP_TYPES.items():
        more = [attribute(kind, other)] if kind in cms.FIELDS else [attribute(kind, other), attribute(kind, other, 2)]
        cases.invalid(
            f"attribute-{kind}",
            f"There are two attributes of type {kind}, the {what}.",
            receipt(payload(more=more)).encoded(),
            "malformed",
            place=f"attribute {kind}",
            importance="critical" if kind in (0, 2, 12) else "high",
        )
    cases.invalid(
        "attribute-2-equal",
        "The bundle identifier stands twice with the same value.",
        receipt(payload(more=[attribute(2, text("com.example.app"))], make=der.unsorted_set)).encoded(),
        "malformed",
        place="attribute 2",
    )
    cases.invalid(
        "attribute-2-other-version",
        "There are bundle identifiers of the versions 1 and 2.",
        receipt(payload(more=[attribute(2, text("com.example.other"), 2)])).encoded(),
        "malformed",
        place="attribute 2",
        importance="critical",
    )
    for kind, (other, what) in PURCHASE_TYPES.items():
        value = attribute(kind, other)
        more = [value] if kind in cms.SUBSCRIPTION else [value, attribute(kind, other, 2)]
        cases.invalid(
            f"purchase-{kind}",
            f"A purchase has two attributes of type {kind}, the {what}.",
            receipt(payload(purchases=[purchase(more=more)])).encoded(),
            "malformed",
            place=f"attribute {kind} of in-app purchase 0",
            importance="critical" if kind in (1702, 1703, 1708) else "high",
        )
    cases.either(
        "attribute-unknown",
        "There are two attributes of a type that nobody knows.",
        receipt(payload(more=[attribute(9999, b"a"), attribute(9999, b"b")])).encoded(),
    )
    cases.valid(
        "purchase-same-transaction",
        "Two purchases are the same, octet for octet; type 17 may repeat.",
        receipt(payload(purchases=[purchase(cms.COINS), purchase(cms.COINS)])).encoded(),
        cms.values(transactions=[cms.COINS_VALUES, cms.COINS_VALUES]),
        importance="low",
    )


def add_payloads(suite: Suite) -> None:
    cases = Cases(suite, "number", NUMBERS)

    def typed(encoded_type: bytes, value: bytes = text("com.example.app")) -> bytes:
        return der.sequence(encoded_type, number(1), der.octet_string(value))

    other = {2: text("com.example.other")}
    for name, what, kind, reason in (
        ("type-2-to-the-32", "2 plus 2 to the power of 32", 2**32 + 2, "wrong-bundle"),
        ("type-2-to-the-16", "2 plus 2 to the power of 16", 2**16 + 2, "wrong-bundle"),
        ("type-2-to-the-8", "2 plus 256", 258, "wrong-bundle"),
        ("type-negative-254", "-254", -254, "wrong-bundle"),
        ("type-2-to-the-64", "2 plus 2 to the power of 64", 2**64 + 2, "malformed"),
    ):
        cases.invalid(
            name,
            f"An attribute of type {what} names the accepted app; the bundle identifier is another.",
            receipt(payload(other, more=[typed(number(kind))])).encoded(),
            reason,
            importance="critical",
        )
    cases.either("type-negative", "An attribute has the type -1.", receipt(payload(more=[typed(number(-1))])).encoded())
    cases.either(
        "version-large",
        "The version of an attribute has nine octets.",
        receipt(payload(more=[der.sequence(number(9999), number(2**64), der.octet_string(b""))])).encoded(),
    )
    for name, encoded in (
        ("empty", b"\x02\x00"),
        ("not-minimal", b"\x02\x02\x00\x02"),
        ("not-minimal-negative", b"\x02\x02\xff\xfe"),
    ):
        cases.invalid(
            f"type-{name}",
            f"The type of an attribute is an INTEGER that is {name.replace('-', ' ')}.",
            receipt(payload(more=[typed(encoded)])).encoded(),
            "malformed",
            importance="medium",
        )
        cases.invalid(
            f"app-{name}",
            f"The App Store ID is an INTEGER that is {name.replace('-', ' ')}.",
            receipt(payload({1: encoded})).encoded(),
            "malformed",
            place="attribute 1",
            importance="medium",
        )
        cases.invalid(
            f"quantity-{name}",
            f"A quantity is an INTEGER that is {name.replace('-', ' ')}.",
            purchased({1701: encoded}).encoded(),
            "malformed",
            place="attribute 1701 of in-app purchase 0",
            importance="medium",
        )
    app = {"appAppleId": 1_234_567_890, "environments": ["production"]}
    cases.invalid(
        "app-nine-octets",
        "The App Store ID is the accepted one plus 2 to the power of 64.",
        receipt(payload({0: text("Production"), 1: number(2**64 + 1_234_567_890)})).encoded(),
        "malformed",
        app,
        place="attribute 1",
        importance="critical",
    )
    cases.invalid(
        "app-five-octets",
        "The App Store ID is the accepted one plus 2 to the power of 32.",
        receipt(payload({0: text("Production"), 1: number(2**32 + 1_234_567_890)})).encoded(),
        "wrong-app",
        app,
        importance="critical",
    )
    cases.invalid(
        "quantity-nine-octets",
        "A quantity is 2 to the power of 64 plus 1.",
        purchased({1701: number(2**64 + 1)}).encoded(),
        "malformed",
        place="attribute 1701 of in-app purchase 0",
    )
    cases.invalid(
        "trial-two",
        "The trial flag is 2.",
        purchased({1713: number(2)}).encoded(),
        "malformed",
        place="attribute 1713 of in-app purchase 0",
        importance="medium",
    )
    cases.either("quantity-negative", "A quantity is -1.", purchased({1701: number(-1)}).encoded())


def add_values(suite: Suite) -> None:
    cases = Cases(suite, "text", TEXTS)
    for name, what, octets in (
        ("continuation", "a continuation byte by itself", b"com.example.\x80app"),
        ("overlong", "an overlong form of the letter p", b"com.example.ap\xc1\xb0"),
        ("surrogate", "a surrogate", b"com.example.app\xed\xa0\x80"),
        ("beyond-unicode", "a number beyond Unicode", b"com.example.app\xf4\x90\x80\x80"),
        ("cut", "the first byte of a symbol of two", b"com.example.app\xc3"),
        ("latin-1", "a letter in Latin-1", b"com.example.m\xfcnzen"),
    ):
        cases.invalid(
            f"bundle-{name}",
            f"The bundle identifier has {what}, which is not UTF-8.",
            receipt(payload({2: der.tlv(12, octets)})).encoded(),
            "malformed",
            place="attribute 2",
            importance="medium",
        )
    cases.invalid(
        "product-invalid",
        "A product ID is not UTF-8.",
        purchased({1702: der.tlv(12, b"\xff\xfe")}).encoded(),
        "malformed",
        place="attribute 1702 of in-app purchase 0",
        importance="medium",
    )
    for name, what, bundle in (
        ("nul", "NUL and more follow the accepted identifier", "com.example.app\0.evil"),
        ("nul-at-the-end", "NUL follows the accepted identifier", "com.example.app\0"),
        ("space-at-the-end", "a space follows the accepted identifier", "com.example.app "),
        ("line-break", "a line break follows the accepted identifier", "com.example.app\n"),
        ("prefix", "it is the beginning of the accepted identifier", "com.example.ap"),
        ("longer", "it begins with the accepted identifier", "com.example.app.evil"),
        ("upper-case", "it has a letter in upper case", "com.example.App"),
        ("homoglyph", "it has a Cyrillic letter that looks like the Latin one", "com.ex\u0430mple.app"),
        ("wildcard", "it has a wildcard", "com.example.*"),
        ("empty", "it is empty", ""),
        ("byte-order-mark", "a byte order mark stands before it", "\ufeffcom.example.app"),
        ("zero-width", "it has a space of no width", "com.example.app\u200b"),
    ):
        cases.invalid(
            f"bundle-{name}",
            f"The bundle identifier is not the accepted one: {what}.",
            receipt(payload({2: text(bundle)})).encoded(),
            "wrong-bundle",
            importance="critical",
        )
    accented = {"bundleIds": ["com.example.caf\u00e9"]}
    cases.invalid(
        "bundle-decomposed",
        "The accent of the bundle identifier is a symbol of its own; identifiers are octets.",
        receipt(payload({2: text("com.example.cafe\u0301")})).encoded(),
        "wrong-bundle",
        accented,
        importance="critical",
    )
    cases.valid(
        "bundle-composed",
        "The bundle identifier has an accent and is the accepted one.",
        receipt(payload({2: text("com.example.caf\u00e9")})).encoded(),
        cms.values(bundle="com.example.caf\u00e9"),
        accented,
        importance="low",
    )
    cases.invalid(
        "bundle-missing",
        "There is no bundle identifier.",
        receipt(payload({2: None})).encoded(),
        "wrong-bundle",
        importance="critical",
    )
    cases.invalid(
        "bundle-empty-value",
        "The value of the bundle identifier has no octets.",
        receipt(payload({2: b""})).encoded(),
        "malformed",
        place="attribute 2",
    )
    cases.invalid(
        "bundle-bare",
        "The value of the bundle identifier is the bare text without tag and length.",
        receipt(payload({2: b"com.example.app"})).encoded(),
        "malformed",
        place="attribute 2",
    )


def add_bombs(suite: Suite) -> None:
    cases = Cases(suite, "resource", EXHAUSTION)
    deep = b""
    for _ in range(10_000):
        deep = der.sequence(deep)
    cases.invalid("nested-sequences", "Ten thousand SEQUENCEs within each other in place of the receipt.", deep, "malformed")
    cases.invalid(
        "nested-indefinite",
        "Fifty thousand SEQUENCEs of indefinite length, opened and not closed.",
        b"\x30\x80" * 50_000,
        "malformed",
    )
    cases.invalid(
        "nested-pieces",
        "The content is in ten thousand constructed OCTET STRINGs within each other.",
        receipt(octets=cms.in_pieces(payload(), 10_000, 10_000)).encoded(),
        "malformed",
    )
    cases.invalid(
        "nested-pieces-open",
        "Fifty thousand constructed OCTET STRINGs are opened and not closed.",
        receipt(octets=b"\x24\x80" * 50_000).encoded(),
        "malformed",
    )
    cases.either(
        "unsigned-attributes-deep",
        "An unsigned attribute holds ten thousand SEQUENCEs within each other.",
        receipt(unsigned=der.context(1, cms.signed_attribute("1.2.3.4", deep))).encoded(),
    )
    leaf, intermediate, root = cms.chain(cms.authority())
    cases.either(
        "certificates-100",
        "The intermediate is embedded a hundred times.",
        receipt(certificates=(leaf, *[intermediate] * 100, root)).encoded(),
    )
    cases.either(
        "digest-algorithms",
        "Ten thousand digest algorithms are announced.",
        receipt(digest_algorithms=(cms.algorithm(cms.DIGESTS["sha256"]),) * 10_000).encoded(),
    )
    infos = (receipt().signer_info(),) * 200
    cases.invalid(
        "signer-infos-200",
        "There are two hundred signerInfos.",
        receipt(signer_infos=infos).encoded(),
        "malformed",
        place="signerInfos",
    )
    small = [attribute(10_000 + index, b"") for index in range(10_000)]
    cases.either(
        "attributes-10000",
        "Ten thousand attributes of different types that nobody knows.",
        receipt(payload(more=small)).encoded(),
    )
    long = payload({3: text("9" * 49_000)})
    cases.either(
        "pieces-50000",
        "The content is one text in fifty thousand pieces.",
        receipt(long, octets=cms.in_pieces(long, 1)).encoded(),
    )
    cases.either(
        "object-identifier-long",
        "An object identifier has an arc of 60,000 octets.",
        receipt(
            digest_algorithms=(
                cms.algorithm(cms.DIGESTS["sha256"]),
                der.sequence(der.tlv(der.OID, b"\x2a" + b"\xff" * 60_000 + b"\x7f")),
            )
        ).encoded(),
    )
    cases.either(
        "serial-number-long",
        "The serial number of the signer has 60,000 octets.",
        receipt(signer_identifier=der.sequence(cms.authority().leaf.issuer, der.tlv(der.INTEGER, b"\x7f" * 60_000))).encoded(),
    )
    cases.either(
        "version-long",
        "The version of the SignedData has 60,000 octets.",
        receipt(version=der.tlv(der.INTEGER, b"\x7f" * 60_000)).encoded(),
    )
    cases.invalid(
        "length-zero-octets",
        "A thousand length octets of zero follow the first.",
        b"\x30\xfe" + bytes(1000),
        "malformed",
        importance="medium",
    )
    cases.invalid(
        "tag-long",
        "The tag number has a thousand octets.",
        b"\x3f" + b"\xff" * 1000 + b"\x7f\x00",
        "malformed",
        importance="medium",
    )
