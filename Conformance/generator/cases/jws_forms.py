# SPDX-License-Identifier: Apache-2.0
"""The form of a JWS: the compact serialization, its header and the JSON of its payload (RFC 7515, RFC 8259)."""

import base64
import hashlib
import hmac

import der
import jws
import keys
import pki
import suite as suites
from jws import ABSENT, BUNDLE, OTHER_BUNDLE, Cases, encode, for_kinds, header, with_text

UNVERIFIED = suites.flag(
    "AlgorithmConfusion", "The header chooses an algorithm that receipts do not use.",
    "A program that lets the header choose takes a receipt that anybody can make.",
    "https://www.rfc-editor.org/rfc/rfc8725#section-3.1", "https://www.rfc-editor.org/rfc/rfc7518#section-3",
)  # fmt: skip
EMBEDDED_KEY = suites.flag(
    "KeyInHeader", "The header names a key in another way than by its certificates.",
    "A program that takes that key accepts what anybody signed.",
    "https://www.rfc-editor.org/rfc/rfc7515#section-4.1.3", "CVE-2018-0114",
)  # fmt: skip
DUPLICATE = suites.flag(
    "DuplicateMember", "A member occurs twice in a JSON object.", "Two programs see two different receipts.",
    "https://www.rfc-editor.org/rfc/rfc8259#section-4", "https://www.rfc-editor.org/rfc/rfc7515#section-4",
)  # fmt: skip
CRITICAL = suites.flag(
    "CriticalHeader", "The header names members that must be understood.",
    "A program that ignores them takes the receipt for something else than its signer meant.",
    "https://www.rfc-editor.org/rfc/rfc7515#section-4.1.11",
)  # fmt: skip
BASE64 = suites.flag(
    "Base64Form", "base64 that is not in the one form that its standard has.",
    "A receipt has several texts, so that lists of receipts that were seen do not find it.",
    "https://www.rfc-editor.org/rfc/rfc7515#section-2", "https://www.rfc-editor.org/rfc/rfc4648#section-3.5",
)  # fmt: skip
NOT_JSON = suites.flag(
    "MalformedJSON", "Text that is not JSON.", "Two programs see two different receipts, or one ends.",
    "https://www.rfc-editor.org/rfc/rfc8259",
)  # fmt: skip
WRONG_TYPE = suites.flag(
    "WrongType", "A member has another type than the store documents.",
    "A comparison passes, or a program ends, because a value is not of the type that it expects.",
)  # fmt: skip

CERTIFICATE = suites.flag(
    "MalformedCertificate", "What stands in the place of a certificate is none, or more than one.",
    "Two programs see two different certificates, or one ends.",
    "https://www.rfc-editor.org/rfc/rfc7515#section-4.1.6",
)  # fmt: skip

ALG, CRIT, X5C = (f"$.{name} of the JWS header" for name in ("alg", "crit", "x5c"))


def add(suite: suites.Suite) -> None:
    for cases in for_kinds(suite):
        add_of_every_kind(cases)
    (transactions,) = for_kinds(suite, "signed-transaction")
    add_serialization(transactions)
    add_header_text(transactions)
    add_algorithms(transactions)
    add_keys_in_header(transactions)
    add_critical(transactions)
    add_certificates(transactions)
    add_json(transactions)
    for cases in for_kinds(suite):
        add_types(cases)


def add_of_every_kind(cases: Cases) -> None:
    sample, date = cases.kind.sample, cases.kind.date
    token = jws.compact(sample)
    signed = token.rpartition(".")[0]
    cases.refuse("form::two-parts", "The signature and its dot are missing.", signed, "malformed")
    cases.refuse("form::four-parts", "A fourth part follows the signature.", f"{token}.e30", "malformed")
    cases.refuse("form::padding", "The signature has the padding of base64.", f"{token}==", "malformed", flags=[BASE64])
    cases.refuse("form::empty-payload", "The payload is empty; the signature is right.", jws.compact(b""), "malformed")
    cases.refuse(
        "form::unsigned", "The signature is empty.", f"{signed}.", "unsigned", importance="critical",
        flags=[UNVERIFIED],
    )  # fmt: skip
    for name, text, signature in [
        ("none", "The algorithm is none, and the signature is empty.", b""),
        ("hs256", "The algorithm is HS256, keyed by the leaf's certificate.", mac(jws.genuine_chain()[0])),
        ("es384", "The algorithm is ES384; the signature is ES256 all the same.", None),
    ]:
        token = jws.compact(sample, header(alg=name if name == "none" else name.upper()), signature=signature)
        cases.refuse(f"algorithm::{name}", text, token, "unsupported-algorithm", ALG, importance="critical", flags=[UNVERIFIED])
    cases.refuse(
        "header::crit", "The header demands an extension that nobody knows.", jws.compact(sample, header(crit=["exp"])),
        "malformed", CRIT, flags=[CRITICAL],
    )  # fmt: skip
    cases.refuse(
        "payload::duplicate-date", "The signing date occurs twice, with two values; the signature is right.",
        jws.compact(with_text(sample, f'"{date}":1')), "malformed", f"$.{date}", flags=[DUPLICATE],
        importance="medium",
    )  # fmt: skip
    for name, text, payload in [
        ("array", "The payload is an array of the object.", f"[{jws.member(sample)}]"),
        ("truncated", "The payload ends before its last brace.", jws.member(sample)[:-1]),
        ("empty-object", "The payload is an object without members.", "{}"),
    ]:
        is_json = name != "truncated"
        cases.refuse(f"payload::{name}", f"{text[:-1]}; the signature is right.", jws.compact(payload), "malformed",
                     "$" if is_json else None, flags=[WRONG_TYPE if is_json else NOT_JSON])  # fmt: skip


def mac(key: bytes, digest: str = "sha256"):
    return lambda signed: hmac.digest(key, signed, digest)


def add_serialization(cases: Cases) -> None:
    token = jws.compact(cases.kind.sample)
    head, payload, signature = token.split(".")
    for name, text, receipt, importance in [
        ("empty", "There is nothing.", "", "medium"),
        ("one-part", "There is the header alone.", head, "medium"),
        ("two-dots", "All three parts are empty.", "..", "medium"),
        ("empty-header", "The header is empty.", f".{payload}.{signature}", "medium"),
        ("five-parts", "There are five parts, as in encrypted JSON (RFC 7516).", f"{token}.e30.e30", "medium"),
        ("trailing-dot", "A dot follows the signature.", f"{token}.", "medium"),
        ("comma", "Commas stand between the parts in place of dots.", token.replace(".", ","), "low"),
        ("space-in-signature", "A space stands within the signature.", f"{token[:-40]} {token[-40:]}", "medium"),
        ("line-break-in-payload", "A line break stands within the payload.",
         f"{head}.{payload[:64]}\n{payload[64:]}.{signature}", "medium"),
        ("tab-before-dot", "A tab stands before the second dot.", f"{head}.{payload}\t.{signature}", "medium"),
        ("nul-in-signature", "A NUL stands within the signature.", f"{token[:-40]}\0{token[-40:]}", "medium"),
        ("nul-at-end", "A NUL and other text follow the signature.", f"{token}\0.e30", "medium"),
        ("not-ascii", "A letter outside ASCII stands within the signature.", f"{token[:-40]}\u00e9{token[-40:]}", "medium"),
        ("star", "A star, which no alphabet of base64 has, stands within the signature.",
         f"{token[:-40]}*{token[-39:]}", "medium"),
        ("length-of-1", "The signature has a symbol too many, so that it is no base64.", f"{token}AAA", "medium"),
    ]:  # fmt: skip
        cases.refuse(f"form::{name}", text, receipt, "malformed", importance=importance, flags=[BASE64])
    cases.refuse(
        "form::other-receipt-appended", "A second receipt follows after a line break.",
        f"{token}\n{token}", "malformed", importance="medium",
    )  # fmt: skip
    for name, text, receipt in [
        ("header-padding", "The header has the padding of base64, and was signed with it.", signed_text(pad(head), payload)),
        ("payload-padding", "The payload has the padding of base64, and was signed with it.",
         signed_text(head, pad(encode(jws.data(cases.kind.sample) + b" " * (1 - len(jws.data(cases.kind.sample)) % 3))))),
        ("payload-base64", "The payload has the alphabet of base64 in place of that of base64url, and was signed so.",
         signed_text(head, standard_payload(cases))),
        ("payload-line-breaks", "The payload has line breaks after 76 symbols, and was signed with them.",
         signed_text(head, "\r\n".join(payload[i : i + 76] for i in range(0, len(payload), 76)))),
    ]:  # fmt: skip
        cases.refuse(f"form::{name}", text, receipt, "malformed", importance="medium", flags=[BASE64])
    cases.refuse(
        "form::signature-base64", "The signature has the alphabet of base64 in place of that of base64url.",
        standard_signature(cases), "malformed", importance="medium", flags=[BASE64],
    )  # fmt: skip
    last = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    text = "The unused bits at the end of the {} are not zero; a decoder may refuse that."
    cases.either(
        "form::signature-trailing-bits", text.format("signature"), token[:-1] + last[last.index(token[-1]) + 1],
        flags=[BASE64],
    )  # fmt: skip
    short = jws.data(cases.kind.sample)
    short += b" " * (-len(short) % 3 + 1)
    encoded = encode(short)
    loose = encoded[:-1] + last[last.index(encoded[-1]) + 1]
    cases.either(
        "form::payload-trailing-bits", f"{text.format('payload')[:-1]}, and was signed so.", signed_text(head, loose),
        flags=[BASE64],
    )  # fmt: skip
    cases.refuse(
        "form::json-serialization", "The JWS is in the flattened JSON serialization (RFC 7515 section 7.2.2), which the "
        "store does not use.",
        jws.member({"protected": head, "payload": payload, "signature": signature}), "malformed", importance="low",
    )  # fmt: skip


def pad(text: str) -> str:
    return text + "=" * (-len(text) % 4)


def signed_text(head: str, payload: str) -> str:
    """A JWS whose encoded parts are given as they are, signed by the leaf."""
    return f"{head}.{payload}.{encode(jws.es256(jws.authority().leaf.key, f'{head}.{payload}'.encode()))}"


def standard_payload(cases: Cases) -> str:
    """The payload in base64 without padding, with a member that makes the two alphabets differ."""
    data = jws.data(with_text(cases.kind.sample, '"storefrontName":"\u00fb\u00ff\u00fe???>>>~~~"'))
    return base64.b64encode(data).decode().rstrip("=")


def standard_signature(cases: Cases) -> str:
    """A receipt whose signature is another text in base64 than in base64url: the first of several that is."""
    for number in range(100):
        token = jws.compact(cases.kind.payload({"webOrderLineItemId": str(3_000_000_001 + number)}))
        signed, _, signature = token.rpartition(".")
        if "-" in signature or "_" in signature:
            return f"{signed}.{signature.replace('-', '+').replace('_', '/')}"
    raise ValueError("no signature differs")


def add_header_text(cases: Cases) -> None:
    sample, text = cases.kind.sample, jws.member(header())
    for name, description, head in [
        ("not-json", "The header is not JSON.", "hello"),
        ("array", "The header is an array of the object.", f"[{text}]"),
        ("string", "The header is a JSON string.", jws.member(text)),
        ("null", "The header is null.", "null"),
        ("truncated", "The header ends before its last brace.", text[:-1]),
        ("trailing-data", "A second object follows that of the header.", text + "{}"),
        ("trailing-comma", "A comma follows the last member of the header.", text[:-1] + ",}"),
        ("comment", "The header has a comment.", "/**/" + text),
        ("single-quotes", "The header has apostrophes in place of quotation marks.", text.replace('"', "'")),
        ("invalid-utf-8", "A text in the header is not UTF-8.", jws.data(text[:-1] + ',"kid":"') + b'\xff"}'),
        ("control-character", "A text in the header has a NUL that is not escaped.", text[:-1] + ',"kid":"a\0b"}'),
        ("utf-16", "The header is in UTF-16.", text.encode("utf-16-le")),
    ]:
        cases.refuse(f"header::{name}", f"{description[:-1]}; the signature is right.", jws.compact(sample, head),
                     "malformed", importance="medium", flags=[NOT_JSON])  # fmt: skip
    cases.either("header::byte-order-mark", "A byte order mark precedes the header; a parser may ignore it.",
                 jws.compact(sample, b"\xef\xbb\xbf" + jws.data(text)), flags=[NOT_JSON])  # fmt: skip
    foreign = jws.authority(foreign=True)
    forged, foreign_key = jws.member(header(foreign.chain)["x5c"]), foreign.leaf.key
    genuine = jws.member(header()["x5c"])
    rule = "either refuse that, or take the last"
    for name, description, head, key, reason in [
        ("duplicate-alg-last-wrong", "The header has alg twice, ES256 and then none.",
         f'{{"alg":"ES256","x5c":{genuine},"alg":"none"}}', None, "malformed"),
        ("duplicate-x5c-last-wrong", "The header has x5c twice, the genuine chain and then a forged one, whose key signed.",
         f'{{"alg":"ES256","x5c":{genuine},"x5c":{forged}}}', foreign_key, "malformed"),
        ("duplicate-x5c-first-wrong", "The header has x5c twice, a forged chain, whose key signed, and then the genuine one.",
         f'{{"alg":"ES256","x5c":{forged},"x5c":{genuine}}}', foreign_key, "malformed"),
    ]:  # fmt: skip
        cases.refuse(f"header::{name}", description, jws.compact(sample, head, key), reason, importance="critical",
                     flags=[DUPLICATE])  # fmt: skip
    for name, description, head in [
        ("duplicate-alg-first-wrong", f"The header has alg twice, none and then ES256; a parser must {rule}.",
         f'{{"alg":"none","x5c":{genuine},"alg":"ES256"}}'),
        ("duplicate-x5c-last-right", f"The header has x5c twice, a forged chain and then the genuine one, whose key signed; "
         f"a parser must {rule}.", f'{{"alg":"ES256","x5c":{forged},"x5c":{genuine}}}'),
        ("duplicate-alg-equal", f"The header has alg twice, both times ES256; a parser must {rule}.",
         f'{{"alg":"ES256","x5c":{genuine},"alg":"ES256"}}'),
        ("duplicate-alg-escaped", f"The header has alg twice, once with an escaped letter; a parser must {rule}.",
         f'{{"\\u0061lg":"none","x5c":{genuine},"alg":"ES256"}}'),
        ("duplicate-kid", f"The header has kid twice; a parser must {rule}.",
         f'{{"alg":"ES256","kid":"1","kid":"2","x5c":{genuine}}}'),
    ]:  # fmt: skip
        cases.either(f"header::{name}", description, jws.compact(sample, head), flags=[DUPLICATE])


def add_algorithms(cases: Cases) -> None:
    sample, leaf = cases.kind.sample, jws.authority().leaf
    certificate, info = jws.genuine_chain()[0], keys.public(leaf.key)
    for name, text, key in [
        ("hs256-pem", "the leaf's certificate in PEM", pki.pem(certificate).encode()),
        ("hs256-x5c", "the text of the leaf's certificate in x5c", suites.b64(certificate).encode()),
        ("hs256-key", "the leaf's public key in DER", info),
        ("hs256-key-pem", "the leaf's public key in PEM", public_pem(info)),
        ("hs256-point", "the point of the leaf's public key", info[-65:]),
        ("hs256-empty", "nothing", b""),
    ]:
        cases.refuse(f"algorithm::{name}", f"The algorithm is HS256, keyed by {text}.",
                     jws.compact(sample, header(alg="HS256"), signature=mac(key)), "unsupported-algorithm", ALG,
                     importance="critical", flags=[UNVERIFIED])  # fmt: skip
    for name, value in [
        ("none-signed", "none"), ("none-capital", "None"), ("none-upper-case", "NONE"), ("none-mixed", "nOnE"),
         ("rs256", "RS256"),
        ("ps256", "PS256"), ("es512", "ES512"), ("es256k", "ES256K"), ("eddsa", "EdDSA"), ("lower-case", "es256"),
        ("trailing-space", "ES256 "), ("leading-space", " ES256"), ("prefix", "ES25"), ("empty", ""), ("nul", "ES256\0"),
        ("full-width", "\uff25\uff33256"), ("object-identifier", "1.2.840.10045.4.3.2"), ("fully-specified", "ESP256"),
    ]:  # fmt: skip
        shown = value.encode("unicode_escape").decode()
        cases.refuse(f"algorithm::{name}", f'The algorithm is "{shown}"; the signature is ES256 all the same.',
                     jws.compact(sample, header(alg=value)), "unsupported-algorithm", ALG, flags=[UNVERIFIED])  # fmt: skip
    for name, value in [("missing", ABSENT), ("null", None), ("number", 256), ("array", ["ES256"]), ("object", {"ES256": 1}),
                        ("true", True)]:  # fmt: skip
        text = "The header has no algorithm" if value is ABSENT else f"The algorithm is {jws.member(value)}, not a text"
        cases.refuse(f"algorithm::{name}", f"{text}; the signature is ES256 all the same.",
                     jws.compact(sample, header(alg=value)), "malformed", "$.alg",
                     flags=[UNVERIFIED])  # fmt: skip
    for name, value in [("none-empty-capital", "None"), ("none-empty-upper-case", "NONE"), ("none-empty-mixed", "nOnE")]:
        cases.refuse(f"algorithm::{name}", f'The algorithm is "{value}", and the signature is empty.',
                     jws.compact(sample, header(alg=value), signature=b""), "unsupported-algorithm", ALG,
                     importance="critical", flags=[UNVERIFIED])  # fmt: skip
    cases.refuse("algorithm::none-without-certificates", "The algorithm is none, without certificates and signature.",
                 jws.compact(sample, {"alg": "none"}, signature=b""), "unsupported-algorithm", ALG, importance="critical",
                 flags=[UNVERIFIED])  # fmt: skip


def public_pem(info: bytes) -> bytes:
    return pki.pem(info).replace("CERTIFICATE", "PUBLIC KEY").encode()


def jwk(key) -> dict:
    numbers = key.public_key().public_numbers()
    x, y = (encode(number.to_bytes(32, "big")) for number in (numbers.x, numbers.y))
    return {"kty": "EC", "crv": "P-256", "x": x, "y": y}


def thumbprint(certificate: bytes, digest: str) -> str:
    return encode(hashlib.new(digest, certificate).digest())


def add_keys_in_header(cases: Cases) -> None:
    sample, leaf = cases.kind.sample, jws.genuine_chain()[0]
    attacker, genuine = keys.elliptic("attacker"), jws.authority().leaf.key
    url = "https://attacker.example/"
    for name, text, changes in [
        ("jwk", "jwk is the key of a forger, who signed; x5c is genuine.", {"jwk": jwk(attacker)}),
        ("jku", "jku leads to keys of a forger, who signed; x5c is genuine.", {"jku": url, "kid": "1"}),
        ("x5u", "x5u leads to certificates of a forger, who signed; x5c is genuine.", {"x5u": url}),
    ]:
        cases.refuse(f"header::{name}-signed", text, jws.compact(sample, header(**changes), attacker), "signature-mismatch",
                     "JWS signature", importance="critical", flags=[EMBEDDED_KEY])  # fmt: skip
        cases.refuse(f"header::{name}-alone", f"{text.split(';')[0]}; there is no x5c.",
                     jws.compact(sample, header(x5c=ABSENT, **changes), attacker), "chain-length", X5C,
                     importance="critical", flags=[EMBEDDED_KEY])  # fmt: skip
    for name, text, changes in [
        ("jwk-right", "jwk is the leaf's key, and need not be looked at.", {"jwk": jwk(genuine)}),
        ("jku-ignored", "jku names an address, which need not be looked at; the leaf signed.", {"jku": url}),
        ("x5u-ignored", "x5u names an address, which need not be looked at; the leaf signed.", {"x5u": url}),
        ("x5t-right", "x5t is the leaf's SHA-1 fingerprint.", {"x5t": thumbprint(leaf, "sha1")}),
        ("x5t-sha-256-right", "x5t#S256 is the leaf's SHA-256 fingerprint.", {"x5t#S256": thumbprint(leaf, "sha256")}),
        ("kid-path", "kid is a path of a file, and means nothing here.", {"kid": "../../../../dev/null"}),
        ("kid-sql", "kid is a piece of SQL, and means nothing here.", {"kid": "' OR 1=1 --"}),
    ]:  # fmt: skip
        cases.accept(f"header::{name}", text, receipt=jws.compact(sample, header(**changes)), flags=[EMBEDDED_KEY])
    for name, text, changes in [
        ("jwk-other", "jwk is another key than the leaf's, which signed; a verifier may ignore it.", {"jwk": jwk(attacker)}),
        ("x5t-other", "x5t is the fingerprint of another certificate; a verifier may ignore it.",
         {"x5t": thumbprint(jws.genuine_chain()[1], "sha1")}),
    ]:  # fmt: skip
        cases.either(f"header::{name}", text, jws.compact(sample, header(**changes)), flags=[EMBEDDED_KEY])


def add_critical(cases: Cases) -> None:
    sample = cases.kind.sample
    for name, text, changes in [
        ("crit-empty", "crit is empty, which RFC 7515 forbids.", {"crit": []}),
        ("crit-alg", "crit names alg, which RFC 7515 forbids.", {"crit": ["alg"]}),
        ("crit-unknown", "crit names a member that nobody knows.", {"crit": ["novelty"], "novelty": 1}),
        ("crit-two", "crit names b64 and a member that nobody knows.", {"crit": ["b64", "novelty"], "b64": True, "novelty": 1}),
        ("crit-text", "crit is a text in place of an array.", {"crit": "novelty", "novelty": 1}),
        ("crit-null", "crit is null.", {"crit": None}),
        ("crit-number", "crit is an array of numbers.", {"crit": [1]}),
    ]:
        place = {"crit-text": "$.crit", "crit-null": "$.crit", "crit-number": "$.crit[0]"}.get(name, CRIT)
        cases.refuse(f"header::{name}", text, jws.compact(sample, header(**changes)), "malformed", place,
                     importance="medium", flags=[CRITICAL])  # fmt: skip
    reference = suites.flag(
        "UnencodedPayload", "The header has b64, with which payloads are not encoded (RFC 7797).",
        "Two programs see two different payloads under one signature.", "https://www.rfc-editor.org/rfc/rfc7797#section-6",
    )  # fmt: skip
    head = header(b64=False, crit=["b64"])
    plain = jws.member(sample).replace(".", "\\u002e")
    cases.refuse("header::b64-false", "b64 is false and crit, and the payload is plain JSON; the store encodes it.",
                 signed_text(encode(jws.data(head)), plain), "malformed", flags=[CRITICAL, reference],
                 importance="medium")  # fmt: skip
    cases.refuse("header::b64-false-encoded", "b64 is false and crit, so that the encoded payload is not JSON.",
                 jws.compact(sample, head), "malformed", CRIT, flags=[CRITICAL, reference], importance="medium")  # fmt: skip
    cases.either("header::b64-true", "b64 is true and crit, which changes nothing, for a verifier that knows it.",
                 jws.compact(sample, header(b64=True, crit=["b64"])), flags=[CRITICAL, reference])  # fmt: skip
    cases.either("header::b64-not-critical", "b64 is false and not crit: without RFC 7797 it is an unknown member, "
                 "which is ignored.", jws.compact(sample, header(b64=False)), flags=[reference])  # fmt: skip


X5C_FAULTS = {
    **{name: (WRONG_TYPE, "$.x5c") for name in ("null", "text", "object")},
    **{name: (WRONG_TYPE, "$.x5c[0]") for name in ("number-in-place-of-leaf", "null-in-place-of-leaf", "nested")},
    **{name: (BASE64, "$.x5c[0]")
       for name in ("base64url", "not-base64", "pem", "line-breaks", "space-in-leaf", "data-after-padding")},
}  # fmt: skip


def add_certificates(cases: Cases) -> None:
    sample, chain = cases.kind.sample, list(jws.genuine_chain())
    texts = [suites.b64(certificate) for certificate in chain]
    for name, text, value in [
        ("missing", "The header has no certificates.", ABSENT),
        ("empty", "x5c is empty.", []),
    ]:
        cases.refuse(f"certificates::{name}", text, jws.compact(sample, header(x5c=value)), "chain-length", X5C,
                     importance="critical")  # fmt: skip
    for name, text, value in [
        ("null", "x5c is null.", None),
        ("text", "x5c is the leaf alone, as a text.", texts[0]),
        ("object", "x5c is an object.", dict(zip("012", texts))),
        ("number-in-place-of-leaf", "The first element of x5c is a number.", [1, *texts[1:]]),
        ("null-in-place-of-leaf", "The first element of x5c is null.", [None, *texts[1:]]),
        ("nested", "x5c is an array within an array.", [texts]),
        ("empty-leaf", "The first element of x5c is an empty text.", ["", *texts[1:]]),
        ("base64url", "The certificates are in base64url, and x5c is in base64.",
         [base64.urlsafe_b64encode(certificate).decode() for certificate in chain]),
        ("not-base64", "The first element of x5c is not base64.", ["{leaf}", *texts[1:]]),
        ("pem", "The certificates are in PEM, and x5c is base64 of DER.", [pki.pem(certificate) for certificate in chain]),
        ("pem-in-base64", "The certificates are base64 of PEM, and x5c is base64 of DER.",
         [suites.b64(pki.pem(certificate).encode()) for certificate in chain]),
        ("line-breaks", "The certificates have line breaks, which base64 in x5c has not.",
         [base64.encodebytes(certificate).decode() for certificate in chain]),
        ("space-in-leaf", "A space stands within the leaf's base64.", [f"{texts[0][:80]} {texts[0][80:]}", *texts[1:]]),
        ("data-after-padding", "Symbols follow the padding of the leaf's base64.", [f"{padded(chain)}AAAA", *texts[1:]]),
        ("garbage-leaf", "The leaf is no certificate but the bytes 0 to 31.", [suites.b64(bytes(range(32))), *texts[1:]]),
        ("garbage-intermediate", "The intermediate is no certificate.", [texts[0], suites.b64(bytes(range(32))), texts[2]]),
        ("truncated-leaf", "The leaf's last byte is missing.", [suites.b64(chain[0][:-1]), *texts[1:]]),
        ("trailing-byte-leaf", "A byte follows the leaf.", [suites.b64(chain[0] + b"\0"), *texts[1:]]),
        ("trailing-byte-intermediate", "A byte follows the intermediate.",
         [texts[0], suites.b64(chain[1] + b"\0"), texts[2]]),
        ("certificate-after-leaf", "The first element of x5c holds two certificates.",
         [suites.b64(chain[0] + chain[1]), *texts[1:]]),
        ("key-in-place-of-leaf", "The first element of x5c is a public key.",
         [suites.b64(keys.public(jws.authority().leaf.key)), *texts[1:]]),
        ("pkcs7", "The certificates are in one PKCS #7 container.", [suites.b64(pkcs7(chain))]),
        ("empty-sequence", "The leaf is an empty SEQUENCE.", [suites.b64(der.sequence()), *texts[1:]]),
    ]:  # fmt: skip
        flag, place = X5C_FAULTS.get(name, (CERTIFICATE, f"certificate {int('intermediate' in name)}"))
        cases.refuse(f"certificates::{name}", text, jws.compact(sample, header(x5c=value)), "malformed", place,
                     importance="medium", flags=[flag])  # fmt: skip
    unpadded = [text.rstrip("=") for text in texts]
    if unpadded == texts:
        raise ValueError("no certificate has padding")
    for name, text, value in [
        ("without-padding", "The certificates' base64 lacks its padding, which some decoders do not need.", unpadded),
        (
            "garbage-root",
            "The root in x5c is no certificate; a verifier may take its own root without looking at this one.",
            [*texts[:2], suites.b64(bytes(range(32)))],
        ),
        (
            "trailing-byte-root",
            "A byte follows the root in x5c; a verifier may take its own root without looking at this one.",
            [*texts[:2], suites.b64(chain[2] + b"\0")],
        ),
    ]:
        cases.either(f"certificates::{name}", text, jws.compact(sample, header(x5c=value)), flags=[BASE64])


def padded(chain: list[bytes]) -> str:
    """The leaf's base64 with padding after it, whatever its length."""
    text = suites.b64(chain[0])
    return text if text.endswith("=") else text + "===="


def pkcs7(chain: list[bytes]) -> bytes:
    signed_data = der.sequence(
        der.integer(1), der.set_of(), der.sequence(der.oid("1.2.840.113549.1.7.1")),
        der.context(0, b"".join(chain)), der.set_of(),
    )  # fmt: skip
    return der.sequence(der.oid("1.2.840.113549.1.7.2"), der.context(0, signed_data))


def add_json(cases: Cases) -> None:
    sample = cases.kind.sample
    text = jws.member(sample)
    for name, description, payload in [
        ("not-json", "The payload is not JSON.", "hello"),
        ("string", "The payload is a JSON string that holds the object.", jws.member(text)),
        ("number", "The payload is a number.", "1"),
        ("null", "The payload is null.", "null"),
        ("white-space-only", "The payload is white space alone.", " \n"),
        ("trailing-data", "A second object, of another app, follows the first.",
         text + jws.member(cases.kind.payload({"bundleId": OTHER_BUNDLE}))),
        ("trailing-text", "A letter follows the object.", text + "x"),
        ("trailing-comma", "A comma follows the last member.", text[:-1] + ",}"),
        ("comment", "The payload has a comment.", text[:-1] + "/**/}"),
        ("single-quotes", "The payload has apostrophes in place of quotation marks.", text.replace('"', "'")),
        ("unquoted-name", "A name has no quotation marks.", with_text(sample, "novelty:1")),
        ("not-a-number", "A value is NaN, which JSON does not have.", with_text(sample, '"novelty":NaN')),
        ("infinity", "A value is Infinity, which JSON does not have.", with_text(sample, '"novelty":Infinity')),
        ("leading-zero", "A number begins with a zero.", with_text(sample, '"novelty":01')),
        ("plus-sign", "A number begins with a plus sign.", with_text(sample, '"novelty":+1')),
        ("hexadecimal", "A number is hexadecimal.", with_text(sample, '"novelty":0x1')),
        ("number-without-digits", "A number ends with its decimal point.", with_text(sample, '"novelty":1.')),
        ("true-upper-case", "A value is True.", with_text(sample, '"novelty":True')),
        ("missing-colon", "A colon is missing.", with_text(sample, '"novelty" 1')),
        ("invalid-utf-8", "A text is not UTF-8.", jws.data(text[:-1] + ',"novelty":"') + b'\xff"}'),
        ("overlong-utf-8", "A text has an overlong encoding of a slash, which is not UTF-8.",
         jws.data(text[:-1] + ',"novelty":"') + b'\xc0\xaf"}'),
        ("surrogate-in-utf-8", "A text has half of a surrogate pair, which is not UTF-8.",
         jws.data(text[:-1] + ',"novelty":"') + b'\xed\xa0\x80"}'),
        ("control-character", "A text has a line break that is not escaped.", with_text(sample, '"novelty":"a\nb"')),
        ("nul", "A text has a NUL that is not escaped.", with_text(sample, '"novelty":"a\0b"')),
        ("unknown-escape", "A text has an escape that JSON does not have.", with_text(sample, '"novelty":"\\x41"')),
        ("short-escape", "A text has an escape of three digits.", with_text(sample, '"novelty":"\\u041"')),
        ("utf-16", "The payload is in UTF-16.", text.encode("utf-16-le")),
        ("cut-in-text", "The payload ends within a text.", text[: text.index("com.example") + 4]),
        ("nul-after-object", "A NUL follows the object.", text + "\0"),
    ]:  # fmt: skip
        cases.refuse(f"payload::{name}", f"{description[:-1]}; the signature is right.", jws.compact(payload), "malformed",
                     importance="medium", flags=[NOT_JSON])  # fmt: skip
    leave = "JSON leaves open what that means"
    for name, description, payload in [
        ("byte-order-mark", "A byte order mark precedes the payload; a parser may ignore it.",
         b"\xef\xbb\xbf" + jws.data(text)),
        ("lone-surrogate", f"A text that nobody knows has an escaped half of a surrogate pair; {leave}.",
         with_text(sample, '"novelty":"\\ud800"')),
        ("lone-surrogate-in-name", f"A name that nobody knows has an escaped half of a surrogate pair; {leave}.",
         with_text(sample, '"\\udc00":1')),
        ("number-out-of-range", "A number that nobody knows exceeds floating point.", with_text(sample, '"novelty":1e999')),
        ("duplicate-equal", "The bundle identifier occurs twice with one value; a parser may take the last.",
         with_text(sample, f'"bundleId":"{BUNDLE}"')),
        ("duplicate-unknown", "A member that nobody knows occurs twice; a parser may take the last.",
         with_text(sample, '"novelty":1,"novelty":2')),
        ("duplicate-nested", "A member of an object that nobody knows occurs twice; a parser may take the last.",
         with_text(sample, '"novelty":{"a":1,"a":2}')),
        ("nested-100", "A value that nobody knows is nested 100 deep; a parser may set a limit.",
         with_text(sample, f'"novelty":{"[" * 100}{"]" * 100}')),
        ("name-in-other-case", "A member that nobody knows has the name of the bundle identifier in capitals.",
         with_text(sample, f'"BUNDLEID":"{OTHER_BUNDLE}"', at_end=True)),
    ]:  # fmt: skip
        cases.either(f"payload::{name}", description, jws.compact(payload), flags=[DUPLICATE if "dup" in name else NOT_JSON])
    for name, member, first, last in [
        ("bundle-first-wrong", "bundleId", f'"{OTHER_BUNDLE}"', None),
        ("bundle-last-wrong", "bundleId", None, f'"{OTHER_BUNDLE}"'),
        ("bundle-escaped", "bundle\\u0049d", f'"{OTHER_BUNDLE}"', None),
        ("environment-first-wrong", "environment", '"Xcode"', None),
        ("environment-last-wrong", "environment", None, '"Xcode"'),
        ("product", "productId", '"com.example.app.lifetime"', None),
        ("expiry", "expiresDate", None, "4102444800000"),
        ("revocation", "revocationDate", "1759302551000,\"revocationDate\":null", None),
        ("transaction", "transactionId", '"2000000002"', None),
    ]:  # fmt: skip
        payload = with_text(sample, f'"{member}":{first or last}', at_end=first is None)
        which = "first" if first else "last"
        plain = member.encode().decode("unicode_escape")
        which += " (with an escaped letter in its name)" * (plain != member)
        cases.refuse(f"payload::duplicate-{name}", f"{plain} occurs twice, with two values, the {which} of them wrong; the "
                     "signature is right.", jws.compact(payload), "malformed", f"$.{plain}", importance="medium",
                     flags=[DUPLICATE])  # fmt: skip


NUMBER, WORD, FLAG = 1_234_567_890, "1234567890", True


def add_types(cases: Cases) -> None:
    """Members that a policy asks for, and those that a receipt reports, with values of other types."""
    kind = cases.kind
    wrong: list[tuple[str, str, object]] = [
        ("date-text", kind.date, str(jws.SIGNED)), ("date-iso-8601", kind.date, "2025-10-01T07:09:12Z"),
        ("date-true", kind.date, FLAG), ("date-array", kind.date, [jws.SIGNED]),
        ("environment-number", kind.environment, 1), ("environment-array", kind.environment, ["Sandbox"]),
        ("environment-object", kind.environment, {"Sandbox": 1}),
    ]  # fmt: skip
    if kind.bundle:
        wrong += [("bundle-number", kind.bundle, NUMBER), ("bundle-array", kind.bundle, [BUNDLE, OTHER_BUNDLE]),
                  ("bundle-object", kind.bundle, {BUNDLE: 1}), ("bundle-true", kind.bundle, FLAG)]  # fmt: skip
    if kind.app:
        wrong += [("app-text", kind.app, WORD), ("app-fraction", kind.app, 1234567890.5), ("app-array", kind.app, [NUMBER]),
                  ("app-true", kind.app, FLAG)]  # fmt: skip
    wrong += {
        "signed-transaction": [
            ("transaction-number", "transactionId", 2_000_000_001), ("original-number", "originalTransactionId", 2_000_000_001),
            ("product-number", "productId", 1), ("product-array", "productId", [jws.PRODUCT]),
            ("purchase-date-text", "purchaseDate", str(jws.PURCHASED)), ("expires-date-text", "expiresDate", str(jws.EXPIRES)),
            ("revocation-date-text", "revocationDate", str(jws.SIGNED)), ("quantity-text", "quantity", "1"),
            ("quantity-fraction", "quantity", 1.5), ("revocation-date-false", "revocationDate", False),
        ],
        "signed-renewal-info": [
            ("original-number", "originalTransactionId", 2_000_000_001), ("product-number", "productId", 1),
            ("auto-renew-status-text", "autoRenewStatus", "1"),
        ],
        "signed-app-transaction": [("nonce-number", "deviceVerificationNonce", 1)],
        "signed-notification": [
            ("type-number", "notificationType", 1), ("data-text", "data", jws.member(jws.NOTIFICATION["data"])),
            ("data-array", "data", [jws.NOTIFICATION["data"]]), ("transaction-object", "data.signedTransactionInfo", {}),
            ("transaction-number", "data.signedTransactionInfo", 1),
        ],
        "signed-realtime-request": [
            ("original-number", "originalTransactionId", 2_000_000_001), ("product-number", "productId", 1),
            ("locale-number", "userLocale", 1), ("identifier-number", "requestIdentifier", 1),
        ],
    }[kind.name]  # fmt: skip
    for name, path, value in wrong:
        cases.refuse(f"type::{name}", f"{path} is {shortened(value)}, which is not of its type; the signature is right.",
                     jws.compact(kind.payload({path: value})), "malformed", f"$.{path}",
                     importance="low" if isinstance(value, (str, int, float)) else "medium",
                     flags=[WRONG_TYPE])  # fmt: skip
    cases.either("type::unknown-null", "A member that nobody knows is null.", jws.compact(kind.payload({"novelty": None})))
    if kind.is_complete:
        for name in kind.sample:
            for word, value in [("missing", ABSENT), ("null", None)]:
                cases.refuse(f"type::{suites.kebab(name)}-{word}", f"{name}, which this kind always has, is {word}; the "
                             "signature is right.", jws.compact(kind.payload({name: value})), "malformed",
                             None if name in ("userLocale", "requestIdentifier") and value is ABSENT else f"$.{name}",
                             importance="medium")  # fmt: skip
    if kind.app:
        cases.either("type::app-decimal", f"{kind.app} is an integer with a decimal point, which JSON does not tell apart.",
                     jws.compact(jws.member(kind.payload({kind.app: 0.5})).replace(":0.5", ":1234567890.0")))  # fmt: skip


def shortened(value) -> str:
    return jws.member(value) if len(jws.member(value)) < 40 else {str: "a text", list: "an array"}[type(value)]
