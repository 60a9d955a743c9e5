# SPDX-License-Identifier: Apache-2.0
"""The certificates of a JWS: the path to the trusted root (RFC 5280 section 6) and the marks of receipt signing."""

import hashlib

import der
import jws
import keys
import pki
import suite as suites
from cryptography.hazmat.primitives.asymmetric import utils
from jws import Cases, for_kinds
from pki import INTERMEDIATE_MARKER, LEAF_MARKER, SIGNED, basic_constraints, extension, key_usage, marker

from cases.jws_signatures import FIELD, N, explicit_parameters, field_replaced, info_of, point_bytes

LENGTH = suites.flag(
    "ChainLength", "The certificates are not leaf, intermediate and root.",
    "A path of another length passes by the rules that hold for each of the three.",
    "https://developer.apple.com/documentation/appstoreserverapi/jwsdecodedheader",
)  # fmt: skip
UNTRUSTED = suites.flag(
    "UntrustedChain", "No path of signatures leads to the trusted root.", "Anybody makes such certificates.",
    "https://www.rfc-editor.org/rfc/rfc5280#section-6.1", "https://www.rfc-editor.org/rfc/rfc7515#section-4.1.6",
)  # fmt: skip
MARKERS = suites.flag(
    "MissingMarker", "A certificate lacks the extension that Apple gives to signers of receipts.",
    "Every developer has a certificate under the same intermediate, and signs receipts with it.",
    "https://images.apple.com/certificateauthority/pdf/Apple_WWDR_CPS_v1.31.pdf",
)  # fmt: skip
NOT_AUTHORITY = suites.flag(
    "NotAnAuthority", "A certificate may not issue others, and did.", "The owner of any certificate issues more.",
    "CVE-2002-0862", "https://www.rfc-editor.org/rfc/rfc5280#section-4.2.1.9",
)  # fmt: skip
USAGE = suites.flag(
    "KeyUsage", "The leaf's key is for something else than signatures.",
    "A key that was given out for something else signs receipts.",
    "https://www.rfc-editor.org/rfc/rfc5280#section-4.2.1.3",
)  # fmt: skip
VALIDITY = suites.flag(
    "Validity", "A certificate is not valid at the instant of the time rule, or only just is.",
    "A key that leaked years ago signs receipts.", "https://www.rfc-editor.org/rfc/rfc5280#section-4.1.2.5",
)  # fmt: skip
NOT_DER = suites.flag(
    "NotDER", "A certificate is not in DER, or breaks a rule of RFC 5280 that binds its issuer.",
    "Two programs see two different certificates.", "https://www.rfc-editor.org/rfc/rfc5280#section-4.1",
)  # fmt: skip
CRITICAL_EXTENSION = suites.flag(
    "CriticalExtension", "A certificate has a critical extension that nobody knows.",
    "A program that ignores it trusts a certificate beyond what it was issued for.",
    "https://www.rfc-editor.org/rfc/rfc5280#section-4.2",
)  # fmt: skip
CURVEBALL = suites.flag(
    "ExplicitCurve", "A certificate has the public key of the trusted root on a curve with another generator.",
    "A program that compares the points alone takes a forged root for the trusted one.", "CVE-2020-0601",
)  # fmt: skip

LEAF = (basic_constraints(False), key_usage("1"), marker(LEAF_MARKER))
INTERMEDIATE = (basic_constraints(True, 0), key_usage("0000011"), marker(INTERMEDIATE_MARKER))
UNKNOWN = "1.3.6.1.4.1.99999.1"


def add(suite: suites.Suite) -> None:
    for cases in for_kinds(suite):
        add_of_every_kind(cases)
    (transactions,) = for_kinds(suite, "signed-transaction")
    add_lengths(transactions)
    add_trust(transactions)
    add_markers(transactions)
    add_authorities(transactions)
    add_leaves(transactions)
    add_validity(transactions)
    add_algorithms(transactions)
    add_extensions(transactions)
    add_encodings(transactions)


def with_leaf(*extensions: bytes, **changes) -> pki.Authority:
    return jws.authority().but(leaf={**({"extensions": extensions} if extensions else {}), **changes})


def with_intermediate(*extensions: bytes, **changes) -> pki.Authority:
    return jws.authority().but(intermediate={**({"extensions": extensions} if extensions else {}), **changes})


def upper_intermediate(authority: pki.Authority) -> pki.Template:
    """An authority between the root and another intermediate."""
    return authority.intermediate.but(
        subject=pki.name("Conformance Upper Intermediate CA"), serial=7, key=keys.elliptic("upper"),
        extensions=(basic_constraints(True, 1), key_usage("0000011"), marker(INTERMEDIATE_MARKER)),
    )  # fmt: skip


def chain_of_four() -> list[bytes]:
    base = jws.authority()
    upper = upper_intermediate(base)
    below = base.intermediate.but(issuer=upper.subject, issuer_key=upper.key)
    return [base.leaf.encoded(), below.encoded(), upper.encoded(), base.root.encoded()]


def chain_of_two() -> list[bytes]:
    base = jws.authority()
    return [base.leaf.but(issuer=base.root.subject, issuer_key=base.root.key).encoded(), base.root.encoded()]


def add_of_every_kind(cases: Cases) -> None:
    base, foreign = jws.authority(), jws.authority(foreign=True)
    sample = cases.kind.sample
    under_root = foreign.but(intermediate={"claimed_issuer_key": base.root.key}).chain[:2]
    header = "$.x5c of the JWS header"
    for name, text, chain, key, reason, place, flag in [
        ("of-one", "The leaf stands alone.", base.chain[:1], base.leaf.key, "chain-length", header, LENGTH),
        ("of-two", "The root itself issued the leaf.", chain_of_two(), base.leaf.key, "chain-length", header, LENGTH),
        ("of-four", "There are two intermediates.", chain_of_four(), base.leaf.key, "chain-length", header, LENGTH),
        ("foreign", "All three certificates have the right names and are a forger's.", foreign.chain, foreign.leaf.key,
         "chain-untrusted", "certificate 2", UNTRUSTED),
        ("genuine-root-appended", "The trusted root follows the leaf and the intermediate of a forger.",
         [*under_root, base.root.encoded()], foreign.leaf.key, "chain-untrusted", "certificate 1", UNTRUSTED),
        ("leaf-without-marker", "The leaf lacks the marker of receipt signing.", with_leaf(*LEAF[:2]).chain, base.leaf.key,
         "certificate-purpose", "certificate 0", MARKERS),
        ("intermediate-without-marker", "The intermediate lacks its marker.", with_intermediate(*INTERMEDIATE[:2]).chain,
         base.leaf.key, "certificate-purpose", "certificate 1", MARKERS),
        ("intermediate-not-authority", "The intermediate may not issue certificates.",
         with_intermediate(basic_constraints(False), *INTERMEDIATE[1:]).chain, base.leaf.key, "certificate-purpose",
         "certificate 1", NOT_AUTHORITY),
        ("leaf-for-encryption", "The leaf's key usage allows encryption of keys and no signatures.",
         with_leaf(LEAF[0], key_usage("001"), LEAF[2]).chain, base.leaf.key, "certificate-purpose", "certificate 0", USAGE),
        ("leaf-expired", "The leaf expired a second before the receipt was signed.", with_leaf(not_after=SIGNED - 1).chain,
         base.leaf.key, "chain-expired", "certificate 0", VALIDITY),
        ("leaf-not-yet-valid", "The leaf became valid a second after the receipt was signed.",
         with_leaf(not_before=SIGNED + 1).chain, base.leaf.key, "chain-expired", "certificate 0", VALIDITY),
    ]:  # fmt: skip
        cases.refuse(f"chain::{name}", text, jws.compact(sample, chain=chain, key=key), reason, place,
                     importance="critical", flags=[flag])  # fmt: skip
    for name, text, changes in [
        ("leaf-first-second", "The leaf's first second of validity is the signing time.", {"not_before": SIGNED}),
        ("leaf-last-second", "The leaf's last second of validity is the signing time.", {"not_after": SIGNED}),
    ]:
        cases.accept(f"chain::{name}", text, receipt=jws.of(with_leaf(**changes), sample), flags=[VALIDITY])


def add_lengths(cases: Cases) -> None:
    sample = cases.kind.sample
    leaf, intermediate, root = jws.genuine_chain()
    foreign_root = jws.authority(foreign=True).root.encoded()
    for name, text, chain, importance in [
        ("without-root", "The root is not in the header; the store always writes all three.", [leaf, intermediate], "medium"),
        ("without-intermediate", "The intermediate is not in the header.", [leaf, root], "high"),
        ("root-twice", "The root stands there twice.", [leaf, intermediate, root, root], "medium"),
        ("intermediate-twice", "The intermediate stands there twice.", [leaf, intermediate, intermediate, root], "medium"),
        ("leaf-twice", "The leaf stands there twice.", [leaf, leaf, intermediate, root], "medium"),
        ("foreign-root-appended", "A root that is not trusted follows the three.", [leaf, intermediate, root, foreign_root],
         "medium"),
        ("root-alone", "The root stands alone.", [root], "critical"),
    ]:  # fmt: skip
        cases.refuse(f"chain::{name}", text, jws.compact(sample, chain=chain), "chain-length", "$.x5c of the JWS header",
                     importance=importance, flags=[LENGTH])  # fmt: skip
    for name, text, chain in [
        ("reversed", "The root comes first and the leaf last.", [root, intermediate, leaf]),
        ("leaf-thrice", "All three certificates are the leaf.", [leaf] * 3),
    ]:
        cases.refuse(f"chain::{name}", text, jws.compact(sample, chain=chain), "chain-untrusted", "certificate 2",
                     flags=[UNTRUSTED])  # fmt: skip
    for name, text, chain in [
        (
            "intermediate-first",
            "The intermediate comes before the leaf, so that the root issued the first.",
            [intermediate, leaf, root],
        ),
        ("root-thrice", "All three certificates are the root, whose key did not sign.", [root] * 3),
    ]:
        cases.refuse(f"chain::{name}", text, jws.compact(sample, chain=chain), "chain-length", "certificate 0",
                     flags=[LENGTH])  # fmt: skip
    cases.refuse("chain::of-seventeen", "The root stands there fifteen times.",
                 jws.compact(sample, chain=[leaf, intermediate, *[root] * 15]), "chain-length", importance="medium",
                 flags=[LENGTH])  # fmt: skip
    cases.either("chain::root-before-intermediate", "Root and intermediate are in the other order: a verifier that orders "
                 "them finds the path, and RFC 7515 wants each to certify the one before.",
                 jws.compact(sample, chain=[leaf, root, intermediate]), flags=[UNTRUSTED])  # fmt: skip
    cases.either("chain::intermediate-in-place-of-root", "The intermediate stands in the place of the root too: a verifier "
                 "that takes its own root finds the path.", jws.compact(sample, chain=[leaf, intermediate, intermediate]),
                 flags=[UNTRUSTED])  # fmt: skip


def add_trust(cases: Cases) -> None:
    base, foreign = jws.authority(), jws.authority(foreign=True)
    attacker = keys.elliptic("attacker")
    sample = cases.kind.sample
    leaf, intermediate, root = base.chain
    leaf_authority = base.leaf.but(subject=pki.name("Forger"), issuer=base.leaf.subject, issuer_key=base.leaf.key,
                                   serial=9, key=attacker)  # fmt: skip
    same_name = base.root.but(key=attacker, issuer_key=attacker)
    forged_intermediate = base.intermediate.but(key=attacker, issuer_key=attacker, claimed_issuer_key=base.root.key)
    under_forged = base.leaf.but(key=attacker, issuer_key=attacker)
    forged_leaf = under_forged.but(claimed_issuer_key=base.intermediate.key)
    table = [
        ("forged-leaf", "The leaf has a forger's key and signature, under the genuine intermediate and root.",
         [forged_leaf.encoded(), intermediate, root], attacker, "certificate 0"),
        ("forged-intermediate", "Leaf and intermediate are a forger's, and the intermediate names the genuine root.",
         [under_forged.encoded(), forged_intermediate.encoded(), root], attacker, "certificate 1"),
        ("forged-root", "The root has the name and serial number of the trusted one and another key.",
         [under_forged.encoded(), forged_intermediate.but(claimed_issuer_key=None).encoded(), same_name.encoded()], attacker,
          "certificate 2"),
        ("leaf-key-replaced", "The leaf's key was replaced by a forger's after the intermediate signed it.",
         [re_keyed(leaf, attacker), intermediate, root], attacker, "certificate 0"),
        ("leaf-of-leaf", "The leaf was issued by another leaf, which stands in the place of the intermediate.",
         [leaf_authority.encoded(), leaf, intermediate], attacker, "certificate 2"),
        ("self-signed-leaf", "The leaf is self-signed, under the genuine intermediate and root.",
         [base.leaf.but(issuer=base.leaf.subject, key=attacker, issuer_key=attacker).encoded(), intermediate, root],
         attacker, "certificate 0"),
        ("self-signed-intermediate", "The intermediate is self-signed, and the trusted root follows.",
         [under_forged.encoded(), forged_intermediate.but(issuer=base.intermediate.subject, claimed_issuer_key=None).encoded(),
          root], attacker,
         "certificate 1"),
        ("bit-of-leaf", "A bit of the leaf's signature is flipped.", [last_bit_flipped(leaf), intermediate, root], None,
         "certificate 0"),
        ("bit-of-intermediate", "A bit of the intermediate's signature is flipped.",
         [leaf, last_bit_flipped(intermediate), root], None, "certificate 1"),
        ("issuer-of-leaf", "The leaf names another issuer than the intermediate that signed it.",
         [base.leaf.but(issuer=pki.name("Another Intermediate CA")).encoded(), intermediate, root], None, "certificate 0"),
        ("issuer-of-intermediate", "The intermediate names another issuer than the root that signed it.",
         [leaf, base.intermediate.but(issuer=pki.name("Another Root CA")).encoded(), root], None, "certificate 1"),
        ("organization-of-issuer", "The organization in the leaf's issuer is not that of the intermediate.",
         [base.leaf.but(issuer=pki.name("Conformance Intermediate CA ES256", "Another")).encoded(), intermediate, root], None,
         "certificate 0"),
    ]  # fmt: skip
    for name, text, chain, key, place in table:
        cases.refuse(f"chain::{name}", text, jws.compact(sample, chain=chain, key=key), "chain-untrusted", place,
                     importance="critical" if key else "high", flags=[UNTRUSTED])  # fmt: skip
    cases.refuse("chain::trust-in-another-root", "The chain is right, and the policy trusts another root of the same name.",
                 jws.compact(sample), "chain-untrusted", "certificate 2", importance="critical", flags=[UNTRUSTED],
                 policy={"trust": [pki.pem(foreign.root.encoded())]})  # fmt: skip
    cases.refuse("chain::trust-in-another-name", "The chain is right, and the policy trusts a root of another name.",
                 jws.compact(sample), "chain-untrusted", "certificate 2", importance="critical", flags=[UNTRUSTED],
                 policy={"trust": [pki.pem(pki.authority("RSA").root.encoded())]})  # fmt: skip
    cases.refuse("chain::curveball", "The root in the header has the key of the trusted root on a curve whose generator is "
                 "that key, so that anybody can sign for it.", curveball(sample), "chain-untrusted",
                 importance="critical", flags=[CURVEBALL, UNTRUSTED])  # fmt: skip
    roots = [pki.pem(authority.root.encoded()) for authority in (foreign, base)]
    for name, word, trust in [("second", "second", roots), ("first", "first", roots[::-1])]:
        cases.accept(f"chain::{name}-of-two-roots", f"The policy trusts two roots of one name, and the {word} is that of the "
                     "chain.", policy={"trust": trust})  # fmt: skip
    own_root = pki.pem(root)
    for name, text, trust in [
        ("crlf", "lines that end with CR LF", own_root.replace("\n", "\r\n")),
        ("space-after-begin", "a space and a tab after the line BEGIN",
         own_root.replace("CERTIFICATE-----\n", "CERTIFICATE----- \t\n", 1)),
        ("tab-after-end", "a tab after the line END", own_root.rstrip("\n") + "\t\n"),
        ("text-before", "a line of text before the block", f"subject=Conformance Root CA\n{own_root}"),
        ("text-like-begin", "a line before the block that begins like it and is none",
         f"-----BEGIN of the trusted roots\n{own_root}"),
        ("text-like-end", "a line after the block that begins like its end and is none",
         f"{own_root}-----END of the trusted roots\n"),
        ("text-between", "another root and a line of text before the block", f"{roots[0]}\nThe root of the suite:\n{own_root}"),
        ("without-last-line-feed", "no line end after the block", own_root.rstrip("\n")),
    ]:  # fmt: skip
        cases.accept(f"chain::trust-{name}", f"The root of the policy is in PEM, with {text} (RFC 7468 sections 2 and 3).",
                     policy={"trust": [trust]}, importance="low")  # fmt: skip
    reissued = base.root.but(serial=77, not_before=pki.NOT_BEFORE + 86_400, not_after=pki.NOT_AFTER)
    cases.accept("chain::reissued-root", "The root in the header has the name and key of the trusted one, and another serial "
                 "number and validity.", receipt=jws.compact(sample, chain=[leaf, intermediate, reissued.encoded()]),
                 importance="low")  # fmt: skip
    cases.accept("chain::trusted-root-reissued", "The trusted root has the name and key of that in the header, and another "
                 "serial number and validity.", policy={"trust": [pki.pem(reissued.encoded())]}, importance="low")  # fmt: skip
    cases.accept("chain::reissued-intermediate", "The intermediate was issued again, with another serial number and validity.",
                 receipt=jws.of(with_intermediate(serial=78, not_after=pki.NOT_AFTER), sample),
                 importance="medium")  # fmt: skip
    older = keys.elliptic("older-root")
    renewed = base.root.but(serial=80, issuer_key=older, claimed_issuer_key=older)
    cases.accept("chain::trusted-root-signed-with-older-key", "The root has a new key, and its certificate is signed with the "
                 "older one (RFC 4210 section 4.4). The policy trusts it, and a trust anchor is a name and a key.",
                 receipt=jws.compact(sample, chain=[leaf, intermediate, renewed.encoded()]),
                 policy={"trust": [pki.pem(renewed.encoded())]}, importance="low")  # fmt: skip
    own = "a verifier may take its own root without looking at this one"
    for name, text, last in [
        ("foreign-root-in-header", f"The root in the header is another of the same name; {own}.", foreign.root.encoded()),
        ("bit-of-root", f"A bit of the signature of the root in the header is flipped; {own}.", last_bit_flipped(root)),
        ("expired-reissued-root", f"The root in the header has the trusted key and had expired; {own}.",
         base.root.but(serial=79, not_after=SIGNED - 1).encoded()),
        ("unrelated-root-in-header", f"The root in the header has another name and key; {own}.",
         pki.authority("RSA").root.encoded()),
    ]:  # fmt: skip
        cases.either(f"chain::{name}", text, jws.compact(sample, chain=[leaf, intermediate, last]), flags=[UNTRUSTED])
    printable = der.sequence(
        der.set_of(der.sequence(der.oid("2.5.4.3"), der.printable("Conformance Intermediate CA ES256"))),
        der.set_of(der.sequence(der.oid("2.5.4.10"), der.printable("Receipt Conformance Test"))),
    )
    for name, text, issuer in [
        ("issuer-in-another-type", "The leaf writes its issuer's name in PrintableString and the intermediate in UTF8String; "
         "RFC 5280 section 7.1 compares their characters, and wants them encoded alike.", printable),
        ("issuer-in-another-case", "The leaf writes its issuer's name in capitals; RFC 5280 section 7.1 ignores that, and many "
         "programs compare bytes.", pki.name("CONFORMANCE INTERMEDIATE CA ES256")),
    ]:  # fmt: skip
        cases.either(f"chain::{name}", text, jws.of(with_leaf(issuer=issuer), sample))
    self_issued = base.intermediate.but(subject=base.root.subject)
    cases.either("chain::self-issued-intermediate", "The intermediate has the root's name and another key; the path holds "
                 "(RFC 5280 section 6.1), and looks like one of two.",
                 jws.compact(sample, chain=[base.leaf.but(issuer=base.root.subject).encoded(), self_issued.encoded(), root]),
                 flags=[LENGTH])  # fmt: skip


def re_keyed(certificate: bytes, key) -> bytes:
    """A certificate with another key under the old signature."""
    signed, algorithm, signature = der.children(der.read(certificate)[1])
    return der.sequence(field_replaced(6, keys.public(key))(signed), algorithm, signature)


def last_bit_flipped(certificate: bytes) -> bytes:
    return certificate[:-1] + bytes([certificate[-1] ^ 1])


def curveball(sample: dict) -> str:
    """A receipt whose root has the trusted root's point, as the generator of its curve: the private key is then 1."""
    base, attacker = jws.authority(), keys.elliptic("attacker")
    numbers = base.root.key.public_key().public_numbers()
    point = (numbers.x, numbers.y)
    algorithm = der.sequence(der.oid("1.2.840.10045.2.1"), explicit_parameters(point))
    info = info_of(algorithm, point_bytes(point))

    def signed_by_one(certificate: bytes) -> bytes:
        signed, algorithm, _ = der.children(der.read(certificate)[1])
        nonce = int.from_bytes(hashlib.sha256(b"nonce" + signed).digest(), "big") % N
        digest = int.from_bytes(hashlib.sha256(signed).digest(), "big")
        r = multiplied(nonce, point)[0] % N
        s = pow(nonce, -1, N) * (digest + r) % N
        return der.sequence(signed, algorithm, der.bit_string(utils.encode_dss_signature(r, s)))

    root = base.root.but(change_signed=field_replaced(6, info), change=signed_by_one)
    intermediate = base.intermediate.but(key=attacker, change=signed_by_one)
    leaf = base.leaf.but(key=attacker, issuer_key=attacker)
    return jws.compact(sample, chain=[leaf.encoded(), intermediate.encoded(), root.encoded()], key=attacker)


def multiplied(factor: int, point: tuple[int, int]) -> tuple[int, int]:
    """A multiple of a point on P-256; no step of the cases meets the point at infinity."""

    def added(first, second):
        if first == second:
            slope = (3 * first[0] ** 2 - 3) * pow(2 * first[1], -1, FIELD)
        else:
            slope = (second[1] - first[1]) * pow(second[0] - first[0], -1, FIELD)
        x = (slope * slope - first[0] - second[0]) % FIELD
        return x, (slope * (first[0] - x) - first[1]) % FIELD

    result = None
    while factor:
        if factor & 1:
            result = added(result, point) if result else point
        point, factor = added(point, point), factor >> 1
    return result


def extended_usage(*purposes: str, critical: bool = False) -> bytes:
    return extension("2.5.29.37", der.sequence(*(der.oid(purpose) for purpose in purposes)), critical)


def policies(*identifiers: str, critical: bool = False) -> bytes:
    return extension("2.5.29.32", der.sequence(*(der.sequence(der.oid(one)) for one in identifiers)), critical)


def add_markers(cases: Cases) -> None:
    sample = cases.kind.sample
    plain, plain_authority = LEAF[:2], INTERMEDIATE[:2]
    code_signing = "1.3.6.1.5.5.7.3.3"
    for name, text, authority, place in [
        ("swapped-markers", "Leaf and intermediate have each other's markers.",
         jws.authority().but(leaf={"extensions": (*plain, marker(INTERMEDIATE_MARKER))},
                             intermediate={"extensions": (*plain_authority, marker(LEAF_MARKER))}), 0),
        ("leaf-with-marker-of-intermediate", "The leaf has the marker of the intermediate in place of its own.",
         with_leaf(*plain, marker(INTERMEDIATE_MARKER)), 0),
        ("intermediate-with-marker-of-leaf", "The intermediate has the marker of the leaf in place of its own.",
         with_intermediate(*plain_authority, marker(LEAF_MARKER)), 1),
        ("developer-certificate", "The leaf is shaped like the certificate of a developer, for code signing.",
         with_leaf(*plain, extended_usage(code_signing, critical=True), marker("1.2.840.113635.100.6.1.13")), 0),
        ("marker-with-suffix", "The leaf's marker has an arc more.", with_leaf(*plain, marker(f"{LEAF_MARKER}.1")), 0),
        ("marker-without-last-arc", "The leaf's marker lacks its last arc.",
         with_leaf(*plain, marker(LEAF_MARKER.rpartition(".")[0])), 0),
        ("marker-with-other-arc", "The last arc of the leaf's marker is 2.",
         with_leaf(*plain, marker(f"{LEAF_MARKER.rpartition('.')[0]}.2")), 0),
        ("marker-of-other-intermediate", "The intermediate has the marker of another kind of Apple's authorities.",
         with_intermediate(*plain_authority, marker("1.2.840.113635.100.6.2.2")), 1),
        ("marker-as-extended-usage", "The leaf's marker is an extended key usage and no extension.",
         with_leaf(*plain, extended_usage(LEAF_MARKER)), 0),
        ("marker-as-policy", "The leaf's marker is a certificate policy and no extension.",
         with_leaf(*plain, policies(LEAF_MARKER)), 0),
        ("marker-in-value", "The leaf's marker is the value of another extension.",
         with_leaf(*plain, extension(UNKNOWN, der.oid(LEAF_MARKER))), 0),
        ("marker-in-subject", "The leaf's marker is the name of its subject.", with_leaf(*plain, subject=pki.name(LEAF_MARKER)),
         0),
    ]:  # fmt: skip
        cases.refuse(f"chain::{name}", text, jws.of(authority, sample), "certificate-purpose", f"certificate {place}",
                     importance="critical", flags=[MARKERS])  # fmt: skip
    cases.accept("chain::marker-with-value", "The leaf's marker has a value; its presence is what counts.",
                 receipt=jws.of(with_leaf(*plain, extension(LEAF_MARKER, der.utf8("any"))), sample),
                 importance="low")  # fmt: skip
    cases.accept("chain::marker-first", "The markers precede the other extensions.",
                 receipt=jws.of(jws.authority().but(leaf={"extensions": LEAF[::-1]},
                                                    intermediate={"extensions": INTERMEDIATE[::-1]}), sample),
                 importance="medium")  # fmt: skip
    cases.either("chain::critical-marker", "The leaf's marker is critical, and whoever knows it may accept that.",
                 jws.of(with_leaf(*plain, extension(LEAF_MARKER, der.null(), True)), sample),
                 flags=[CRITICAL_EXTENSION])  # fmt: skip


def add_authorities(cases: Cases) -> None:
    sample, base = cases.kind.sample, jws.authority()
    own = marker(INTERMEDIATE_MARKER)
    sign = INTERMEDIATE[1]
    for name, text, extensions in [
        ("intermediate-without-constraints", "The intermediate has no basicConstraints.", (sign, own)),
        (
            "intermediate-without-cert-sign",
            "The intermediate's key usage is digitalSignature, without keyCertSign.",
            (INTERMEDIATE[0], key_usage("1"), own),
        ),
        (
            "intermediate-for-crl-alone",
            "The intermediate's key usage is cRLSign, without keyCertSign.",
            (INTERMEDIATE[0], key_usage("0000001"), own),
        ),
        ("intermediate-like-leaf", "The intermediate has the extensions of a leaf, and its own marker.", (*LEAF[:2], own)),
    ]:
        cases.refuse(f"chain::{name}", text, jws.of(with_intermediate(*extensions), sample), "certificate-purpose",
                     "certificate 1", importance="critical", flags=[NOT_AUTHORITY])  # fmt: skip
    version_1 = with_intermediate(*INTERMEDIATE, version=0)
    cases.refuse("chain::intermediate-of-version-1", "The intermediate is of version 1, with extensions of version 3.",
                 jws.of(version_1, sample), "malformed", "certificate 1", importance="high", flags=[NOT_AUTHORITY])  # fmt: skip
    cases.accept("chain::intermediate-without-path-length", "The intermediate has no limit on the length of paths.",
                 receipt=jws.of(with_intermediate(basic_constraints(True), sign, own), sample),
                 importance="medium")  # fmt: skip
    cases.accept("chain::intermediate-path-length-1", "The intermediate's limit on the length of paths is 1.",
                 receipt=jws.of(with_intermediate(basic_constraints(True, 1), sign, own), sample),
                 importance="medium")  # fmt: skip
    for name, text, extensions in [
        ("intermediate-constraints-not-critical",
         "The intermediate's basicConstraints are not critical, which binds the issuer "
         "alone.", (basic_constraints(True, 0, critical=False), sign, own)),
        ("intermediate-without-key-usage", "The intermediate has no key usage; RFC 5280 section 6.1.4 looks at it where it is "
         "present.", (INTERMEDIATE[0], own)),
        ("intermediate-path-length-huge", "The intermediate's limit on the length of paths has 41 bits.",
         (basic_constraints(True, 1 << 40), sign, own)),
        ("intermediate-path-length-negative", "The intermediate's limit on the length of paths is negative.",
         (basic_constraints(True, -1), sign, own)),
        ("intermediate-extended-usage", "The intermediate has the extended key usage of servers, of which RFC 5280 does not "
                                        "say "
         "that it binds what it issues.", (INTERMEDIATE[0], sign, own, extended_usage("1.3.6.1.5.5.7.3.1"))),
    ]:  # fmt: skip
        cases.either(f"chain::{name}", text, jws.of(with_intermediate(*extensions), sample), flags=[NOT_AUTHORITY])
    own_rules = "what a trusted root says of itself may be ignored (RFC 5280 section 6.1.1)"
    for name, text, extensions in [
        ("root-path-length-0", f"The root's limit on the length of paths is 0; {own_rules}.",
         (basic_constraints(True, 0), key_usage("0000011"))),
        ("root-critical-extension", f"The root has a critical extension that nobody knows; {own_rules}.",
         (*base.root.extensions, extension(UNKNOWN, der.null(), True))),
    ]:  # fmt: skip
        changed = base.but(root={"extensions": extensions})
        cases.either(f"chain::{name}", text, jws.of(changed, sample), flags=[NOT_AUTHORITY],
                     policy={"trust": [pki.pem(changed.root.encoded())]})  # fmt: skip
    cases.accept("chain::root-path-length-1", "The root's limit on the length of paths is 1.", **rooted(
        base.but(root={"extensions": (basic_constraints(True, 1), key_usage("0000011"))}), sample),
        importance="medium")  # fmt: skip


def rooted(authority: pki.Authority, sample: dict) -> dict:
    """A receipt under an authority whose root the policy trusts."""
    return {"receipt": jws.of(authority, sample), "policy": {"trust": [pki.pem(authority.root.encoded())]}}


def add_leaves(cases: Cases) -> None:
    sample = cases.kind.sample
    own = marker(LEAF_MARKER)
    for name, text, usage in [
        ("leaf-for-certificates", "The leaf's key usage is keyCertSign alone.", key_usage("000001")),
        ("leaf-for-key-agreement", "The leaf's key usage is keyAgreement alone.", key_usage("00001")),
        ("leaf-for-data-encryption", "The leaf's key usage is dataEncipherment alone.", key_usage("0001")),
    ]:
        cases.refuse(f"chain::{name}", text, jws.of(with_leaf(LEAF[0], usage, own), sample), "certificate-purpose",
                     "certificate 0", flags=[USAGE])  # fmt: skip
    cases.refuse("chain::leaf-without-usages", "The leaf's key usage has no bit set, which RFC 5280 forbids.",
                 jws.of(with_leaf(LEAF[0], key_usage("0"), own), sample), "malformed", "certificate 0",
                 flags=[USAGE])  # fmt: skip
    for name, text, extensions in [
        ("leaf-without-constraints", "The leaf has no basicConstraints, and so is no authority.", (LEAF[1], own)),
        ("leaf-without-key-usage", "The leaf has no key usage, and so is not limited.", (LEAF[0], own)),
        ("leaf-with-two-usages", "The leaf's key usage is digitalSignature and nonRepudiation.",
         (LEAF[0], key_usage("11"), own)),
        ("leaf-key-usage-not-critical", "The leaf's key usage is not critical.",
         (LEAF[0], key_usage("1", critical=False), own)),
        ("leaf-constraints-not-critical", "The leaf's basicConstraints are not critical.",
         (basic_constraints(False, critical=False), LEAF[1], own)),
        ("leaf-with-unknown-extension", "The leaf has an extension that nobody knows and that is not critical.",
         (*LEAF, extension(UNKNOWN, der.utf8("any")))),
        ("leaf-with-any-purpose", "The leaf's extended key usage is any.", (*LEAF, extended_usage("2.5.29.37.0"))),
        ("leaf-with-policies", "The leaf has a certificate policy, as Apple's have.",
         (*LEAF, policies("1.2.840.113635.100.5.6.1"))),
    ]:  # fmt: skip
        cases.accept(f"chain::{name}", text, receipt=jws.of(with_leaf(*extensions), sample), importance="medium")
    for name, text, extensions in [
        ("leaf-is-authority", "The leaf is an authority too; RFC 5280 does not forbid it to sign.",
         (basic_constraints(True), LEAF[1], own)),
        ("leaf-for-non-repudiation", "The leaf's key usage is nonRepudiation alone, which is for signatures too.",
         (LEAF[0], key_usage("01"), own)),
        ("leaf-for-servers", "The leaf's extended key usage is that of servers; receipts have none of their own.",
         (*LEAF, extended_usage("1.3.6.1.5.5.7.3.1"))),
        ("leaf-for-ocsp", "The leaf's extended key usage is critical and that of OCSP; receipts have none of their own.",
         (*LEAF, extended_usage("1.3.6.1.5.5.7.3.9", critical=True))),
        ("leaf-path-length", "The leaf is no authority and has a limit on the length of paths, which binds the issuer alone.",
         (basic_constraints(False, 0), LEAF[1], own)),
    ]:  # fmt: skip
        cases.either(f"chain::{name}", text, jws.of(with_leaf(*extensions), sample), flags=[USAGE])
    usual = "RFC 5280 demands key identifiers of issuers, and uses them to find certificates and not to judge them"
    for name, text, authority in [
        ("leaf-key-identifier-of-other-issuer", f"The leaf's authorityKeyIdentifier is of another key; {usual}.",
         with_leaf(claimed_issuer_key=keys.elliptic("attacker"))),
        ("leaf-without-key-identifiers", f"The leaf has no key identifiers; {usual}.", with_leaf(has_identifiers=False)),
        ("intermediate-without-key-identifiers", f"The intermediate has no key identifiers; {usual}.",
         with_intermediate(has_identifiers=False)),
    ]:  # fmt: skip
        cases.either(f"chain::{name}", text, jws.of(authority, sample))


def add_validity(cases: Cases) -> None:
    sample, base = cases.kind.sample, jws.authority()
    for name, text, authority in [
        (
            "intermediate-expired",
            "The intermediate expired a second before the receipt was signed.",
            with_intermediate(not_after=SIGNED - 1),
        ),
        (
            "intermediate-not-yet-valid",
            "The intermediate became valid a second after the receipt was signed.",
            with_intermediate(not_before=SIGNED + 1),
        ),
    ]:
        cases.refuse(f"chain::{name}", text, jws.of(authority, sample), "chain-expired", "certificate 1",
                     importance="critical", flags=[VALIDITY])  # fmt: skip
    for name, text, changes in [
        (
            "intermediate-first-second",
            "The intermediate's first second of validity is the signing time.",
            {"not_before": SIGNED},
        ),
        ("intermediate-last-second", "The intermediate's last second of validity is the signing time.", {"not_after": SIGNED}),
    ]:
        cases.accept(f"chain::{name}", text, receipt=jws.of(with_intermediate(**changes), sample), flags=[VALIDITY])
    for name, text, changes in [
        ("root-first-second", "The root's first second of validity is the signing time.", {"not_before": SIGNED}),
        ("root-last-second", "The root's last second of validity is the signing time.", {"not_after": SIGNED}),
    ]:
        cases.accept(f"chain::{name}", text, **rooted(base.but(root=changes), sample), flags=[VALIDITY], importance="medium")
    for name, text, changes in [
        ("root-expired", "The trusted root expired a second before the receipt was signed; RFC 5280 does not judge the dates "
         "of what is trusted.", {"not_after": SIGNED - 1}),
        ("root-not-yet-valid", "The trusted root became valid a second after the receipt was signed; RFC 5280 does not judge "
         "the dates of what is trusted.", {"not_before": SIGNED + 1}),
    ]:  # fmt: skip
        cases.either(f"chain::{name}", text, flags=[VALIDITY], **rooted(base.but(root=changes), sample))
    cases.refuse("chain::leaf-validity-reversed", "The leaf's validity ends before it begins.",
                 jws.of(with_leaf(not_before=SIGNED + 3600, not_after=SIGNED - 3600), sample), "chain-expired",
                 "certificate 0", flags=[VALIDITY])  # fmt: skip
    milliseconds = cases.kind.with_date(jws.SIGNED - 1)
    cases.refuse("chain::leaf-millisecond-before", "The receipt was signed a millisecond before the leaf became valid.",
                 jws.of(with_leaf(not_before=SIGNED), milliseconds), "chain-expired", "certificate 0",
                 importance="medium", flags=[VALIDITY])  # fmt: skip
    cases.either("chain::leaf-within-last-second", "The receipt was signed 999 milliseconds into the leaf's last second.",
                 jws.of(with_leaf(not_after=SIGNED), cases.kind.with_date(jws.SIGNED + 999)), flags=[VALIDITY])  # fmt: skip
    late = der.sequence(der.time(pki.NOT_BEFORE), der.tlv(der.GENERALIZED_TIME, b"99991231235959Z"))
    cases.accept("chain::leaf-without-end", "The leaf is valid until 99991231235959Z, which means without end.",
                 receipt=jws.of(with_leaf(change_signed=field_replaced(4, late)), sample), importance="medium",
                 flags=[VALIDITY])  # fmt: skip
    early = der.sequence(der.tlv(der.UTC_TIME, b"500101000000Z"), der.time(pki.NOT_AFTER))
    cases.accept("chain::leaf-since-1950", "The leaf is valid from 500101000000Z, which is 1950 and not 2050.",
                 receipt=jws.of(with_leaf(change_signed=field_replaced(4, early)), sample), importance="medium",
                 flags=[VALIDITY])  # fmt: skip
    for name, text, tag, value in [
        ("generalized-time-before-2050", "in GeneralizedTime, and RFC 5280 wants UTCTime until 2049", der.GENERALIZED_TIME,
         b"20491231235959Z"),
        ("time-without-seconds", "without seconds", der.UTC_TIME, b"4912312359Z"),
        ("time-with-offset", "with an offset in place of Z", der.UTC_TIME, b"491231235959+0000"),
        ("time-with-fraction", "with a fraction of a second", der.GENERALIZED_TIME, b"20501231235959.5Z"),
        ("time-without-zone", "without a zone", der.GENERALIZED_TIME, b"20501231235959"),
        ("time-of-no-day", "on 31 February", der.GENERALIZED_TIME, b"20500231235959Z"),
        ("time-leap-second", "at second 60", der.GENERALIZED_TIME, b"20501231235960Z"),
    ]:  # fmt: skip
        validity = der.sequence(der.time(pki.NOT_BEFORE), der.tlv(tag, value))
        cases.either(f"chain::{name}", f"The leaf's validity ends {text}.",
                     jws.of(with_leaf(change_signed=field_replaced(4, validity)), sample),
                     flags=[VALIDITY, NOT_DER])  # fmt: skip


def add_algorithms(cases: Cases) -> None:
    sample, base = cases.kind.sample, jws.authority()
    weak = suites.flag(
        "WeakDigest", "A certificate is signed with SHA-1.", "Certificates with one digest and different keys can be made.",
        "https://shattered.io", "https://www.rfc-editor.org/rfc/rfc8603#section-3",
    )  # fmt: skip
    for name, text, authority, place in [
        ("leaf-with-sha1", "The leaf is signed with ECDSA and SHA-1.", with_leaf(algorithm="ecdsa-sha1"), 0),
        (
            "intermediate-with-sha1",
            "The intermediate is signed with ECDSA and SHA-1.",
            with_intermediate(algorithm="ecdsa-sha1"),
            1,
        ),
    ]:
        cases.refuse(f"chain::{name}", text, jws.of(authority, sample), "unsupported-algorithm", f"certificate {place}",
                     flags=[weak])  # fmt: skip
    large = {name: keys.elliptic(name, "secp384r1") for name in ("root", "intermediate")}
    as_apple = base.but(
        root={"key": large["root"], "issuer_key": large["root"], "algorithm": "ecdsa-sha384"},
        intermediate={"key": large["intermediate"], "issuer_key": large["root"], "algorithm": "ecdsa-sha384"},
        leaf={"issuer_key": large["intermediate"], "algorithm": "ecdsa-sha384"},
    )
    cases.accept("chain::p384-authorities", "Root and intermediate have keys on P-384 and sign with SHA-384, as Apple's do.",
                 **rooted(as_apple, sample), importance="critical")  # fmt: skip
    cases.accept("chain::sha384-on-p256", "The leaf is signed by a key on P-256 with SHA-384.",
                 receipt=jws.of(with_leaf(algorithm="ecdsa-sha384"), sample), importance="medium")  # fmt: skip
    cases.accept("chain::sha512-on-p256", "The leaf is signed by a key on P-256 with SHA-512.",
                 receipt=jws.of(with_leaf(algorithm="ecdsa-sha512"), sample), importance="low")  # fmt: skip
    cases.accept("chain::root-with-sha1", "The trusted root's own signature, which nobody needs, is with SHA-1.",
                 **rooted(base.but(root={"algorithm": "ecdsa-sha1"}), sample), importance="medium")  # fmt: skip
    rsa = {name: keys.rsa_key(name) for name in ("root", "intermediate")}
    cases.either("chain::rsa-authorities", "Root and intermediate have RSA keys of 2,048 bits, unlike Apple's.",
                 **rooted(base.but(
        root={"key": rsa["root"], "issuer_key": rsa["root"], "algorithm": "rsa-sha256"},
        intermediate={"key": rsa["intermediate"], "issuer_key": rsa["root"], "algorithm": "rsa-sha256"},
        leaf={"issuer_key": rsa["intermediate"], "algorithm": "rsa-sha256"}), sample))  # fmt: skip
    without_null = der.sequence(der.oid(pki.ALGORITHMS["rsa-sha256"][0]))

    def null_removed(certificate: bytes) -> bytes:
        signed, _, signature = der.children(der.read(certificate)[1])
        return der.sequence(signed, without_null, signature)

    cases.either("chain::rsa-without-null", "The leaf's signature algorithm is RSA and lacks its parameter NULL, without which "
                 "programs must take it (RFC 4055 section 5).",
                 jws.of(base.but(intermediate={"key": rsa["intermediate"]},
                                 leaf={"issuer_key": rsa["intermediate"], "algorithm": "rsa-sha256",
                                       "change_signed": field_replaced(2, without_null), "change": null_removed}), sample),
                 flags=[NOT_DER])  # fmt: skip
    short = keys.rsa_key("short")
    cases.either("chain::rsa-1024-intermediate", "The intermediate has an RSA key of 1,024 bits.",
                 jws.of(base.but(intermediate={"key": short}, leaf={"issuer_key": short, "algorithm": "rsa-sha256"}), sample),
                 flags=[weak])  # fmt: skip
    mismatch = suites.flag(
        "AlgorithmMismatch", "The signed and the unsigned algorithm of a certificate differ (RFC 5280 section 4.1.1.2).",
        "A program that believes the unsigned one can be told a weaker algorithm.", "CVE-2014-8275",
    )  # fmt: skip
    for name, text, changes in [
        ("unsigned-algorithm", "says SHA-384 outside and SHA-256 inside, with which it is signed",
         {"outer_algorithm": "ecdsa-sha384"}),
        ("signed-algorithm", "says SHA-256 outside, with which it is signed, and SHA-384 inside",
         {"change_signed": field_replaced(2, pki.algorithm("ecdsa-sha384"))}),
        ("unsigned-algorithm-rsa", "says RSA outside and ECDSA inside, with which it is signed",
         {"outer_algorithm": "rsa-sha256"}),
    ]:  # fmt: skip
        for place, word, with_changes in [(0, "leaf", with_leaf), (1, "intermediate", with_intermediate)]:
            cases.refuse(f"chain::{word}-{name}", f"The {word} {text}.", jws.of(with_changes(**changes), sample),
                         "chain-untrusted", f"certificate {place}", importance="medium", flags=[mismatch])  # fmt: skip
    with_null = der.sequence(der.oid(pki.ALGORITHMS["ecdsa-sha256"][0]), der.null())

    def null_outside(certificate: bytes) -> bytes:
        signed, _, signature = der.children(der.read(certificate)[1])
        return der.sequence(signed, with_null, signature)

    cases.either("chain::ecdsa-with-null", "The leaf's signature algorithm has the parameter NULL, which ECDSA must not have "
                 "(RFC 5758).", jws.of(with_leaf(change_signed=field_replaced(2, with_null), change=null_outside), sample),
                 flags=[NOT_DER])  # fmt: skip


def directory_constraints(permitted: bytes | None = None, excluded: bytes | None = None, critical: bool = True) -> bytes:
    subtrees = b""
    for number, name in [(0, permitted), (1, excluded)]:
        if name is not None:
            subtrees += der.context(number, der.sequence(der.context(4, name)))
    return extension("2.5.29.30", der.sequence(subtrees), critical)


def add_extensions(cases: Cases) -> None:
    sample = cases.kind.sample
    unknown = extension(UNKNOWN, der.null(), True)
    for place, word, authority in [
        (0, "leaf", with_leaf(*LEAF, unknown)),
        (1, "intermediate", with_intermediate(*INTERMEDIATE, unknown)),
    ]:
        cases.refuse(f"chain::{word}-critical-extension", f"The {word} has a critical extension that nobody knows.",
                     jws.of(authority, sample), "chain-untrusted", f"certificate {place}",
                     flags=[CRITICAL_EXTENSION])  # fmt: skip
    organization = der.sequence(der.set_of(der.sequence(der.oid("2.5.4.10"), der.utf8("Another Organization"))))
    own = der.sequence(der.set_of(der.sequence(der.oid("2.5.4.3"), der.utf8("Conformance Receipt Signing ES256"))))
    names = suites.flag(
        "NameConstraints", "The intermediate may issue to some names alone.", "An authority issues to whom it must not.",
        "https://www.rfc-editor.org/rfc/rfc5280#section-4.2.1.10",
    )  # fmt: skip
    for name, text, constraint in [
        (
            "name-not-permitted",
            "The intermediate may issue to another organization alone.",
            directory_constraints(organization),
        ),
        ("name-excluded", "The intermediate may not issue to the leaf's name.", directory_constraints(excluded=own)),
    ]:
        cases.refuse(f"chain::{name}", text, jws.of(with_intermediate(*INTERMEDIATE, constraint), sample), "chain-untrusted",
                     importance="medium", flags=[names])  # fmt: skip
    for name, text, constraint in [
        ("name-permitted", "The intermediate may issue to the leaf's name alone.", directory_constraints(own)),
        ("name-not-excluded", "The intermediate may not issue to another organization.",
         directory_constraints(excluded=organization)),
        ("name-constraints-of-hosts", "The intermediate may issue to example.com alone, and the leaf is no host.",
         extension("2.5.29.30", der.sequence(der.context(0, der.sequence(der.context(2, b"example.com", False)))), True)),
    ]:  # fmt: skip
        cases.accept(f"chain::{name}", text, receipt=jws.of(with_intermediate(*INTERMEDIATE, constraint), sample),
                     importance="low", flags=[names], features=["name-constraints"])  # fmt: skip
    cases.either("chain::name-constraints-not-critical", "The intermediate may issue to another organization alone, in an "
                 "extension that is not critical.",
                 jws.of(with_intermediate(*INTERMEDIATE, directory_constraints(organization, critical=False)), sample),
                 flags=[names])  # fmt: skip
    explicit = extension("2.5.29.36", der.sequence(der.context(0, b"\0", False)), True)
    wanted = suites.flag(
        "CertificatePolicies", "The certificates have policies, which matter where one of them demands it.",
        "A certificate is trusted beyond what it was issued for.", "https://www.rfc-editor.org/rfc/rfc5280#section-6.1.5",
    )  # fmt: skip

    def with_policies(extensions: tuple[bytes, ...], leaf: tuple[bytes, ...]) -> str:
        changed = jws.authority().but(intermediate={"extensions": INTERMEDIATE + extensions}, leaf={"extensions": LEAF + leaf})
        return jws.of(changed, sample)

    cases.accept("chain::policies-differ", "Leaf and intermediate have different certificate policies, and nobody demands one.",
                 receipt=with_policies((policies("1.2.3.4"),), (policies("1.2.3.5"),)), importance="medium",
                 flags=[wanted])  # fmt: skip
    for name, text, extensions, leaf in [
        ("policies-critical", "The certificate policies of leaf and intermediate are critical and alike.",
         (policies("1.2.3.4", critical=True),), (policies("1.2.3.4", critical=True),)),
        ("explicit-policy-met", "The intermediate demands a policy of the leaf, which has it.",
         (policies("1.2.3.4"), explicit), (policies("1.2.3.4"),)),
        ("inhibit-any-policy", "The intermediate forbids the policy any, which the leaf has, and nobody demands one.",
         (policies("1.2.3.4"), extension("2.5.29.54", der.integer(0), True)), (policies("2.5.29.32.0"),)),
    ]:  # fmt: skip
        cases.accept(f"chain::{name}", text, receipt=with_policies(extensions, leaf), importance="low", flags=[wanted],
                     features=["certificate-policies"])  # fmt: skip
    cases.refuse("chain::explicit-policy", "The intermediate demands a policy of the leaf, which has none.",
                 with_policies((policies("1.2.3.4"), explicit), ()), "chain-untrusted", importance="low",
                 flags=[wanted])  # fmt: skip


def add_encodings(cases: Cases) -> None:
    """Certificates that break rules of their encoding. Their issuer signed them so: who takes them is not deceived."""
    sample = cases.kind.sample

    def lengthened(certificate: bytes) -> bytes:
        content = der.read(certificate)[1]
        return bytes([der.SEQUENCE]) + der.long_length(len(content), 4) + content

    def with_fourth_field(certificate: bytes) -> bytes:
        return der.sequence(der.read(certificate)[1], der.null())

    def with_unused_bits(certificate: bytes) -> bytes:
        signed, algorithm, signature = der.children(der.read(certificate)[1])
        return der.sequence(signed, algorithm, der.bit_string(der.read(signature)[1][1:] + b"\x80", 7))

    def with_long_signature(certificate: bytes) -> bytes:
        signed, algorithm, signature = der.children(der.read(certificate)[1])
        return der.sequence(signed, algorithm, der.bit_string(der.read(signature)[1][1:] + b"\0"))

    unique = der.tlv(0x81, b"\0\1\2\3")
    fields = (basic_constraints(False), key_usage("1"), marker(LEAF_MARKER))
    loose_usage = extension("2.5.29.15", der.tlv(der.BIT_STRING, b"\7\xff"), True)
    ber_critical = der.sequence(der.oid("2.5.29.15"), der.tlv(der.BOOLEAN, b"\1"), der.octet_string(b"\3\2\7\x80"))
    explicit_false = extension("2.5.29.19", der.sequence(der.boolean(False)), True)
    critical_false = der.sequence(der.oid(LEAF_MARKER), der.boolean(False), der.octet_string(der.null()))
    for name, text, changes in [
        ("serial-zero", "The leaf's serial number is zero.", {"serial": 0}),
        ("serial-negative", "The leaf's serial number is negative.", {"serial": -3}),
        ("serial-of-21-bytes", "The leaf's serial number has 21 bytes.", {"serial": 1 << 160}),
        ("serial-not-shortest", "The leaf's serial number has a needless zero in front.",
         {"change_signed": field_replaced(1, der.tlv(der.INTEGER, b"\0\3"))}),
        ("serial-empty", "The leaf's serial number has no byte.",
         {"change_signed": field_replaced(1, der.tlv(der.INTEGER, b""))}),
        ("version-1-leaf", "The leaf is of version 1, with extensions of version 3.", {"version": 0}),
        ("version-1-explicit", "The leaf says version 1, which DER leaves out, and has extensions of version 3.",
         {"change_signed": field_replaced(0, der.context(0, der.integer(0)))}),
        ("version-2-leaf", "The leaf is of version 2, with extensions of version 3.", {"version": 1}),
        ("version-4-leaf", "The leaf is of version 4, which does not exist.", {"version": 3}),
        ("marker-twice", "The leaf has its marker twice.", {"extensions": (*fields, marker(LEAF_MARKER))}),
        ("critical-in-ber", "A BOOLEAN of the leaf is 01, which is true in BER and not in DER.",
         {"extensions": (fields[0], ber_critical, fields[2])}),
        ("default-encoded", "The leaf's basicConstraints say FALSE, which DER leaves out.",
         {"extensions": (explicit_false, *fields[1:])}),
        ("critical-false-encoded", "The leaf's marker says that it is not critical, which DER leaves out.",
         {"extensions": (*fields[:2], critical_false)}),
        ("unused-bits-in-usage", "The unused bits of the leaf's key usage are set.",
         {"extensions": (fields[0], loose_usage, fields[2])}),
        ("trailing-byte-in-extension", "A byte follows the value of the leaf's basicConstraints.",
         {"extensions": (extension("2.5.29.19", der.sequence() + b"\0", True), *fields[1:])}),
        ("unique-identifier", "The leaf has an issuerUniqueID, which authorities must not write and programs should read.",
         {"change_signed": lambda encoded: der.sequence(*der.children(der.read(encoded)[1])[:7], unique,
                                                        *der.children(der.read(encoded)[1])[7:])}),
        ("long-length", "The leaf's outermost length has four bytes in place of two.", {"change": lengthened}),
        ("indefinite-length", "The leaf's outermost length is indefinite.",
         {"change": lambda certificate: der.indefinite(der.SEQUENCE, der.read(certificate)[1])}),
        ("fourth-field", "A NULL follows the leaf's signature within the certificate.", {"change": with_fourth_field}),
        ("unused-bits-in-signature", "The leaf's signature has a byte of which 7 bits are unused.",
         {"change": with_unused_bits}),
        ("trailing-byte-in-signature", "A byte follows the leaf's signature in DER.", {"change": with_long_signature}),
        ("empty-subject", "The leaf's subject is empty.", {"subject": der.sequence()}),
        ("unsorted-name", "A set in the leaf's subject has two elements, the greater first.",
         {"subject": der.sequence(der.unsorted_set(der.sequence(der.oid("2.5.4.10"), der.utf8("b")),
                                                   der.sequence(der.oid("2.5.4.3"), der.utf8("a"))))}),
        ("nul-in-name", "The leaf's common name has a NUL.", {"subject": pki.name("Conformance\0Receipt Signing")}),
        ("name-not-utf-8", "The leaf's common name is UTF8String and not UTF-8.",
         {"subject": der.sequence(der.set_of(der.sequence(der.oid("2.5.4.3"), der.tlv(der.UTF8_STRING, b"\xff\xfe"))))}),
        ("long-name", "The leaf's common name has 5,000 characters, and RFC 5280 allows 64.",
         {"subject": pki.name("a" * 5_000)}),
    ]:  # fmt: skip
        cases.either(f"chain::{name}", text, jws.of(with_leaf(**changes), sample), flags=[NOT_DER])
    conflict = (basic_constraints(True, 0), basic_constraints(False), *INTERMEDIATE[1:])
    for name, text, authority, place in [
        ("constraints-twice", "The intermediate has basicConstraints twice, once as an authority and once not.",
         with_intermediate(*conflict), 1),
        ("constraints-twice-reversed", "The intermediate has basicConstraints twice, first not as an authority and then as "
                                       "one.",
         with_intermediate(conflict[1], conflict[0], *conflict[2:]), 1),
        ("usage-twice", "The leaf has key usages twice, once for signatures and once for encryption.",
         with_leaf(LEAF[0], key_usage("1"), key_usage("001"), LEAF[2]), 0),
    ]:  # fmt: skip
        cases.refuse(f"chain::{name}", text, jws.of(authority, sample), "malformed", f"certificate {place}",
                     importance="medium", flags=[NOT_DER])  # fmt: skip
