# SPDX-License-Identifier: Apache-2.0
"""What an issuer's list of revoked certificates says about one (RFC 5280 sections 5 and 6.3).

`invalid` is what RFC 5280 obliges a client to refuse, or what harms whoever accepts it. `either` is what it binds only the
issuer to, or what a client need not support.
"""

import datetime

import der
import keys
import pki
import revocation
from revocation import DAY, HOUR, NOW, REVOKED, YEAR, authority, entry, revocation_list, scope
from suite import Suite, flag

FORGED = flag(
    "CrlForged", "The signature is not that of the list by its issuer's key.",
    "An attacker between the program and the issuer hides that a stolen key was revoked.",
    "https://www.rfc-editor.org/rfc/rfc5280#section-6.3.3",
)  # fmt: skip
ISSUER = flag(
    "CrlIssuer", "The list is of another issuer, or its signer may not sign lists.",
    "The list of an issuer that revoked nothing hides the revocations of another one.",
    "https://www.rfc-editor.org/rfc/rfc5280#section-6.3.3",
)  # fmt: skip
SCOPE = flag(
    "CrlScope", "The list covers some of the issuer's certificates, reasons or changes alone.",
    "A list that need not name the certificate hides that it was revoked.",
    "https://www.rfc-editor.org/rfc/rfc5280#section-5.2.5", "https://www.rfc-editor.org/rfc/rfc5280#section-5.2.4",
)  # fmt: skip
OTHER = flag(
    "CrlOtherEntry", "The list has entries about certificates with similar numbers.",
    "The certificate is taken for another one: a good one is refused, or a revoked one passes.",
    "https://www.rfc-editor.org/rfc/rfc5280#section-5.1.2.6",
)  # fmt: skip
TIME = flag(
    "CrlTime", "There is a newer list, or the list is of the future, or the time of the case is at the edge of its own.",
    "A list from before the revocation is sent for years.", "https://www.rfc-editor.org/rfc/rfc5280#section-5.1.2.5",
)  # fmt: skip
EXTENSION = flag(
    "CrlExtension", "The list, or an entry, has an extension that nobody knows.",
    "If it is critical, the list means something else without it; if not, it must be ignored.",
    "https://www.rfc-editor.org/rfc/rfc5280#section-5.2", "https://www.rfc-editor.org/rfc/rfc5280#section-5.3",
)  # fmt: skip
MALFORMED = flag(
    "CrlMalformed", "The bytes are not a certificate revocation list.", "The program ends, or takes it for an empty list.",
    "https://www.rfc-editor.org/rfc/rfc5280#section-5.1",
)  # fmt: skip

FIRST, SECOND = (f"http://crl.example.com/{name}.crl" for name in ("1", "2"))
# The reasons keyCompromise and cACompromise, as ReasonFlags.
COMPROMISE = b"\x05\x60"


def add(suite: Suite) -> None:
    cases = Cases(suite)
    add_statuses(cases)
    add_issuers(cases)
    add_forgeries(cases)
    add_scopes(cases)
    add_times(cases)
    add_extensions(cases)
    add_forms(cases)


class Cases(revocation.Statements):
    """Adds the cases. They are about the leaf of the JWS authority, whose number is 3, or about another certificate."""

    def add(self, name: str, text: str, found, verdict: str, **options) -> None:
        data = found if isinstance(found, bytes) else found.encoded()
        certificate = options.pop("certificate", authority().leaf)
        issuer = options.pop("issuer", authority().intermediate)
        subject = revocation.inputs(certificate, issuer, list=data)
        self.suite.add(f"crl::{name}", text, subject, verdict, operation="crl", **options)


def since(seconds: int = REVOKED, reason: str | None = None) -> dict:
    instant = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"status": "revoked", "revocationDate": instant} | ({"revocationReason": reason} if reason else {})


def add_statuses(cases: Cases) -> None:
    leaf, others = authority().leaf, [entry(100 + number, reason="keyCompromise") for number in range(3)]
    cases.accept("status::empty", "The list is empty.", revocation_list(), importance="critical")
    cases.accept("status::others", "The list has other certificates.", revocation_list(*others), importance="critical")
    cases.accept("status::revoked", "The list has the certificate alone, without a reason.",
                 revocation_list(entry(leaf.serial)), since(), importance="critical")  # fmt: skip
    for name, entries in [("first", [entry(3), *others]), ("last", [*others, entry(3)]),
                          ("between", [*others[:2], entry(3), *others[2:]])]:  # fmt: skip
        cases.accept(f"status::revoked-{name}", f"The certificate is among others: {name}.", revocation_list(*entries),
                     since(), importance="critical")  # fmt: skip
    for name in revocation.REASONS:
        # removeFromCRL is for delta lists alone, and 0 should be left out (RFC 5280 section 5.3.1).
        if name in ("removeFromCRL", "unspecified"):
            continue
        cases.accept(
            f"status::revoked-{name.lower()}", f"The certificate is revoked with the reason {name}.",
            revocation_list(entry(3, reason=name)), since(reason=name), importance="medium",
        )  # fmt: skip
    cases.accept("status::beyond-2050", "Another certificate of the list was revoked in 2050, in a GeneralizedTime.",
                 revocation_list(entry(100, 2_524_608_000)), importance="medium")  # fmt: skip
    invalid = pki.extension("2.5.29.24", revocation.generalized(REVOKED - DAY))
    cases.accept("status::invalidity-date", "The entry also says since when the key is suspected.",
                 revocation_list(entry(3, reason="keyCompromise", extensions=(invalid,))),
                 since(reason="keyCompromise"))  # fmt: skip
    large = leaf.but(serial=(1 << 158) + 12345)
    cases.accept("status::serial-20-octets", "The certificate's number has 20 octets.",
                 revocation_list(entry(large.serial)), since(), certificate=large)  # fmt: skip
    for name, text, serial in [
        ("more-octets", "A number that ends in the octets of this one is in the list.", (1 << 64) + 3),
        ("negated", "The number negated is in the list.", -3),
        ("next", "The numbers before and after are in the list.", 4),
    ]:
        entries = [entry(serial), *([entry(2)] if serial == 4 else [])]
        cases.accept(f"entry::{name}", text, revocation_list(*entries), flags=[OTHER])
    cases.accept("entry::many", "The list has 300 other certificates.",
                 revocation_list(*(entry(1000 + number) for number in range(300))), importance="medium")  # fmt: skip
    cases.accept("entry::last-of-many", "The list has 300 other certificates before this one.",
                 revocation_list(*(entry(1000 + number) for number in range(300)), entry(3)), since())  # fmt: skip


def add_issuers(cases: Cases) -> None:
    of, rsa = authority(), authority("RSA")
    issuer, root, leaf = of.intermediate, of.root, of.leaf
    cases.accept("issuer::rsa", "The issuer's key is RSA.", revocation_list(by=rsa.intermediate),
                 certificate=rsa.leaf, issuer=rsa.intermediate, importance="critical")  # fmt: skip
    cases.accept("issuer::rsa-revoked", "The issuer's key is RSA, and the certificate is revoked.",
                 revocation_list(entry(3, reason="superseded"), by=rsa.intermediate), since(reason="superseded"),
                 certificate=rsa.leaf, issuer=rsa.intermediate)  # fmt: skip
    cases.accept("issuer::root", "The root's list says nothing of the intermediate.", revocation_list(entry(3), by=root),
                 certificate=issuer, issuer=root)  # fmt: skip
    cases.accept("issuer::root-revoked", "The root revoked the intermediate.",
                 revocation_list(entry(2, reason="cACompromise"), by=root), since(reason="cACompromise"),
                 certificate=issuer, issuer=root)  # fmt: skip
    bare = issuer.but(extensions=(pki.basic_constraints(True, 0),))
    cases.accept("issuer::without-key-usage", "The issuer's certificate has no keyUsage.", revocation_list(), issuer=bare)
    for label, name in [("ecdsa-sha384", "SHA-384"), ("ecdsa-sha512", "SHA-512")]:
        cases.accept(f"issuer::{label}", f"The issuer signs with {name}.", revocation_list(algorithm=label),
                     importance="medium")  # fmt: skip
    certificates_alone = issuer.but(extensions=(pki.basic_constraints(True, 0), pki.key_usage("000001")))
    cases.refuse("issuer::certificates-alone", "The issuer's certificate allows it to sign certificates, and no lists.",
                 revocation_list(), "wrong-signer", ISSUER, issuer=certificates_alone)  # fmt: skip
    renamed = issuer.but(subject=pki.name("Conformance Intermediate CA 2"))
    cases.refuse("issuer::other-name", "The list is of another issuer, which has the same key.",
                 revocation_list(by=renamed), "wrong-signer", ISSUER)  # fmt: skip
    cases.refuse("issuer::root-for-leaf", "The list is the root's, and the certificate is of the intermediate.",
                 revocation_list(by=root), "wrong-signer", ISSUER, importance="critical")  # fmt: skip
    cases.refuse("issuer::itself", "The certificate itself signed the list, in its own name.", revocation_list(by=leaf),
                 "wrong-signer", ISSUER, importance="critical")  # fmt: skip
    cases.refuse("issuer::of-rsa-authority", "The list is of an issuer with another key and another name.",
                 revocation_list(by=rsa.intermediate), "wrong-signer", ISSUER, importance="critical")  # fmt: skip
    cases.refuse("issuer::certificate-of-other-issuer", "The list is the root's, and the certificate has another issuer, under "
                 "whose number the root revoked one.",
                 revocation_list(entry(3), by=root), "not-covered", ISSUER, issuer=root)  # fmt: skip


def flipped(signature: bytes) -> bytes:
    return signature[:-1] + bytes([signature[-1] ^ 1])


def without_entries(encoded: bytes) -> bytes:
    fields = der.children(der.read(encoded)[1])
    return der.sequence(*fields[:5], *fields[6:])


def with_later_update(encoded: bytes) -> bytes:
    fields = der.children(der.read(encoded)[1])
    return der.sequence(*fields[:4], der.time(NOW + YEAR), *fields[5:])


def add_forgeries(cases: Cases) -> None:
    of, foreign, attacker = authority(), authority(foreign=True), keys.elliptic("attacker")
    rsa = authority("RSA")
    revoked = revocation_list(entry(3, reason="keyCompromise"))
    for name, text, found in [
        ("by-attacker", "An unknown key signs in the name of the issuer.", revocation_list(key=attacker)),
        ("by-namesake", "A forger's authority of the issuer's name signs.", revocation_list(by=foreign.intermediate)),
        ("by-leaf", "The key of the certificate itself signs in the name of the issuer.", revocation_list(key=of.leaf.key)),
        ("by-root", "The root's key signs in the name of the issuer.", revocation_list(key=of.root.key)),
        ("flipped-bit", "The last bit of the signature is flipped.", revocation_list(change_signature=flipped)),
        ("zero", "r and s of the signature are zero.",
         revocation_list(change_signature=lambda _: der.sequence(der.integer(0), der.integer(0)))),
        ("empty", "The signature is empty.", revocation_list(change_signature=lambda _: b"")),
        ("entries-removed", "The certificate was removed from the list after signing.",
         revoked.but(change_data=without_entries)),
        ("date-changed", "nextUpdate was changed after signing.",
         revocation_list(this=NOW - YEAR, following=NOW - YEAR + DAY, change_data=with_later_update)),
        ("revoked-by-attacker", "An unknown key revokes the certificate in the name of the issuer.",
         revocation_list(entry(3), key=attacker)),
    ]:  # fmt: skip
        cases.refuse(f"signature::{name}", text, found, "signature-mismatch", FORGED, importance="critical")
    cases.refuse("signature::rsa-flipped-bit", "The last bit of the issuer's RSA signature is flipped.",
                 revocation_list(by=rsa.intermediate, change_signature=flipped), "signature-mismatch", FORGED,
                 certificate=rsa.leaf, issuer=rsa.intermediate, importance="critical")  # fmt: skip
    cases.refuse("signature::rsa-md5", "The issuer signs with MD5, of which anybody makes two lists with one digest.",
                 revocation_list(by=rsa.intermediate, algorithm="rsa-md5"), "signature-mismatch", FORGED,
                 certificate=rsa.leaf, issuer=rsa.intermediate, importance="critical")  # fmt: skip
    cases.refuse("signature::rsa-md5-revoked", "The issuer signs with MD5, and the certificate is in the list.",
                 revocation_list(entry(3), by=rsa.intermediate, algorithm="rsa-md5"), "signature-mismatch", FORGED,
                 certificate=rsa.leaf, issuer=rsa.intermediate)  # fmt: skip
    cases.accept("signature::rsa-sha512", "The issuer signs with RSA and SHA-512.",
                 revocation_list(by=rsa.intermediate, algorithm="rsa-sha512"),
                 certificate=rsa.leaf, issuer=rsa.intermediate, importance="medium")  # fmt: skip
    cases.either("signature::rsa-sha1", "The issuer signs with SHA-1: nobody else chooses what is in a list.",
                 revocation_list(by=rsa.intermediate, algorithm="rsa-sha1"),
                 certificate=rsa.leaf, issuer=rsa.intermediate)  # fmt: skip


def add_scopes(cases: Cases) -> None:
    of = authority()
    issuer, root = of.intermediate, of.root
    pointed = of.leaf.but(extensions=(*of.leaf.extensions, revocation.distribution_points(FIRST)))
    both = of.leaf.but(extensions=(*of.leaf.extensions, revocation.distribution_points(FIRST, SECOND)))

    def of_scope(extension: bytes, *entries: bytes, **options) -> revocation.List:
        return revocation_list(*entries, extensions=(extension,), **options)

    users, authorities = scope(users=True), scope(authorities=True)
    for name, text, found, options in [
        ("users", "The list is of certificates that are no authorities, as this one.", of_scope(users), {}),
        ("authorities", "The root's list is of authorities alone, as the intermediate is one.", of_scope(authorities, by=root),
         {"certificate": issuer, "issuer": root}),
        ("address", "The list is published where the certificate says.", of_scope(scope(FIRST)), {"certificate": pointed}),
        ("second-of-two", "The list is published at the second of two addresses of the certificate.",
         of_scope(scope(SECOND)), {"certificate": both}),
        ("two-addresses", "The list is published at two addresses, of which the certificate names one.",
         of_scope(scope(SECOND, FIRST)), {"certificate": pointed}),
        ("address-of-users", "The list is published where the certificate says, and of certificates that are no authorities.",
         of_scope(scope(FIRST, users=True)), {"certificate": pointed}),
        ("everything", "The list states no scope, and the certificate an address.", revocation_list(),
         {"certificate": pointed}),
    ]:  # fmt: skip
        cases.accept(f"scope::{name}", text, found, flags=[SCOPE], **options)
    cases.accept("scope::users-revoked", "The certificate is in a list of certificates that are no authorities.",
                 of_scope(users, entry(3)), since(), flags=[SCOPE])  # fmt: skip
    cases.accept("scope::authorities-revoked", "The intermediate is in a list of authorities alone.",
                 of_scope(authorities, entry(2), by=root), since(), certificate=issuer, issuer=root, flags=[SCOPE])  # fmt: skip
    delta = pki.extension("2.5.29.27", der.integer(5), True)
    for name, text, found, options in [
        ("authorities-for-leaf", "The list is of authorities alone, and the certificate is none.", of_scope(authorities), {}),
        ("users-for-authority", "The root's list is of certificates that are no authorities, and the intermediate is one.",
         of_scope(users, by=root), {"certificate": issuer, "issuer": root}),
        ("attributes", "The list is of attribute certificates alone.", of_scope(scope(attributes=True)), {}),
        ("other-address", "The list is published at another address than the certificate says.", of_scope(scope(SECOND)),
         {"certificate": pointed}),
        ("longer-address", "The address of the list begins with that of the certificate.",
         of_scope(scope(FIRST + "/2")), {"certificate": pointed}),
        ("relative-name", "The list is published under a name relative to its issuer's, and the certificate has an address.",
         of_scope(revocation.relative_scope("List 1")), {"certificate": pointed}),
        ("other-scheme", "The address of the list has another scheme than that of the certificate.",
         of_scope(scope(FIRST.replace("http:", "https:"))), {"certificate": pointed}),
        ("other-case", "The address of the list has a path in capitals, and that of the certificate has not.",
         of_scope(scope(FIRST.rpartition("/")[0] + "/" + FIRST.rpartition("/")[2].upper())), {"certificate": pointed}),
        ("shorter-address", "The address of the certificate begins with that of the list.", of_scope(scope(FIRST[:-1])),
         {"certificate": pointed}),
        ("attributes-not-critical", "The list is of attribute certificates alone, which it says in an extension that is not "
         "critical.", of_scope(scope(attributes=True, critical=False)), {}),
        ("reasons-and-address", "The list is published where the certificate says, and has revocations for compromised keys "
         "alone.", of_scope(scope(FIRST, reasons=COMPROMISE)), {"certificate": pointed}),
        ("other-address-of-users", "The list is published at another address, and of certificates that are no authorities.",
         of_scope(scope(SECOND, users=True)), {"certificate": pointed}),
        ("some-reasons", "The list has revocations for compromised keys alone.", of_scope(scope(reasons=COMPROMISE)), {}),
        ("delta", "The list has the changes since another list alone.", revocation_list(extensions=(delta,)), {}),
        ("authorities-not-critical", "The list is of authorities alone, which it says in an extension that is not critical.",
         of_scope(scope(authorities=True, critical=False)), {}),
    ]:  # fmt: skip
        cases.refuse(f"scope::{name}", text, found, "not-covered", SCOPE, **options)
    cases.either("scope::not-critical", "The list is of certificates that are no authorities, which it says in an extension "
                 "that is not critical.", of_scope(scope(users=True, critical=False)), SCOPE)  # fmt: skip
    cases.either("scope::indirect", "The list may have certificates of several issuers.", of_scope(scope(indirect=True)), SCOPE)


def add_times(cases: Cases) -> None:
    flags = {"flags": [TIME]}
    for name, text, this, following in [
        ("just-made", "The list is of this second.", NOW, NOW + DAY),
        ("last-second", "There is a newer list in a second.", NOW - DAY, NOW + 1),
        ("a-year", "The list is of last year and valid until the next.", NOW - YEAR, NOW + DAY),
        ("beyond-2050", "The next list is announced for the year 2060.", NOW - HOUR, 2_840_140_800),
    ]:
        cases.accept(f"time::{name}", text, revocation_list(this=this, following=following), **flags)
    for name, text, this, following in [
        ("expired", "There has been a newer list for two days.", NOW - 3 * DAY, NOW - 2 * DAY),
        ("expired-years-ago", "There has been a newer list for years.", NOW - 4 * YEAR, NOW - 4 * YEAR + DAY),
    ]:
        cases.refuse(f"time::{name}", text, revocation_list(this=this, following=following), "expired", TIME,
                     importance="critical")  # fmt: skip
    cases.either("time::next-update-now", "There is a newer list from this second on.",
                 revocation_list(this=NOW - DAY, following=NOW), TIME)  # fmt: skip
    cases.either("time::a-second-late", "There has been a newer list for a second; clocks differ.",
                 revocation_list(this=NOW - DAY, following=NOW - 1), TIME)  # fmt: skip
    cases.either("time::an-hour-late", "There has been a newer list for an hour; clocks differ.",
                 revocation_list(this=NOW - DAY, following=NOW - HOUR), TIME)  # fmt: skip
    cases.either("time::tomorrow", "The list is of tomorrow, of which RFC 5280 says nothing.",
                 revocation_list(this=NOW + DAY, following=NOW + 2 * DAY), TIME)  # fmt: skip
    cases.either("time::without-next-update", "The list says nothing of newer ones, as RFC 5280 forbids issuers.",
                 revocation_list(following=None), TIME)  # fmt: skip


def add_extensions(cases: Cases) -> None:
    known, critical = (pki.extension(revocation.UNKNOWN, der.null(), each) for each in (False, True))
    cases.accept("extension::of-list", "The list has an extension that nobody knows.", revocation_list(extensions=(known,)),
                 flags=[EXTENSION])  # fmt: skip
    cases.accept("extension::of-entry", "The certificate's entry has an extension that nobody knows.",
                 revocation_list(entry(3, extensions=(known,))), since(), flags=[EXTENSION])  # fmt: skip
    cases.refuse("extension::critical-of-list", "The list has a critical extension that nobody knows.",
                 revocation_list(extensions=(critical,)), "unsupported-extension", EXTENSION)  # fmt: skip
    cases.refuse("extension::critical-of-entry", "The certificate's entry has a critical extension that nobody knows.",
                 revocation_list(entry(3, extensions=(critical,))), "unsupported-extension", EXTENSION)  # fmt: skip
    cases.refuse("extension::critical-of-other-entry", "Another entry has a critical extension that nobody knows: then the "
                 "list says nothing of any certificate.", revocation_list(entry(100, extensions=(critical,))),
                 "unsupported-extension", EXTENSION)  # fmt: skip


def add_forms(cases: Cases) -> None:
    whole = revocation_list().encoded()
    for name, text, data in [
        ("empty", "There are no octets.", b""),
        ("text", "The list is a page of HTML.", b"<html><body>404 Not Found</body></html>"),
        ("cut", "The last octet is missing.", whole[:-1]),
        ("certificate", "The list is the certificate itself.", authority().leaf.encoded()),
        ("unsigned", "The list has no signature.", der.sequence(der.children(der.read(whole)[1])[0])),
    ]:
        cases.refuse(f"form::{name}", text, data, "malformed", MALFORMED)
    cases.either("form::version-1", "The list is of version 1, which RFC 5280 forbids issuers.",
                 revocation_list(version=0).but(extensions=()), MALFORMED)  # fmt: skip
