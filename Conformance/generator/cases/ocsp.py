# SPDX-License-Identifier: Apache-2.0
"""What an issuer's responder says about a certificate (RFC 6960).

`invalid` is what RFC 6960 or RFC 5280 obliges a client to refuse, or what harms whoever accepts it. `either` is what they
bind only the responder to, or leave to the client.
"""

import datetime
import hashlib

import der
import keys
import pki
import revocation
from revocation import DAY, HOUR, MINUTE, NOW, REVOKED, YEAR, authority, certificate_id, delegated, response, single
from suite import Suite, flag

RESPONDER = "https://www.rfc-editor.org/rfc/rfc6960#section-4.2.2.2"
FORGED = flag(
    "OcspForged", "The signature is not that of the response by the key of its signer.",
    "An attacker between the program and the responder hides that a stolen key was revoked.",
    "https://www.rfc-editor.org/rfc/rfc6960#section-3.2",
)  # fmt: skip
WEAK = flag(
    "OcspWeakDigest", "The response, or the responder's certificate, is signed with SHA-1.",
    "A client chooses the nonce that the responder signs, so that a forger can look for two responses with one SHA-1 digest.",
    "https://www.rfc-editor.org/rfc/rfc6194#section-3.1", "https://sha-mbles.github.io",
)  # fmt: skip
DELEGATION = flag(
    "OcspDelegation", "The signer is not the issuer, and the issuer did not authorize it to sign responses.",
    "The owner of any certificate declares certificates good or revoked, among them its own.", RESPONDER,
)  # fmt: skip
VALID_DELEGATION = flag(
    "OcspDelegate", "The signer is a responder that the issuer authorized.",
    "A program that knows the issuer's own signatures alone cannot use the responders of most issuers.", RESPONDER,
)  # fmt: skip
DELEGATE_TIME = flag(
    "OcspDelegateTime", "The responder's certificate is not valid at the time of the case.",
    "An old key of a responder, which nobody guards any more, declares certificates good.",
    "https://www.rfc-editor.org/rfc/rfc6960#section-4.2.2.2.1",
)  # fmt: skip
OTHER = flag(
    "OcspOtherCertificate", "The response is about another certificate, or about one of the same number of another issuer.",
    "The answer about a certificate in order hides that another one was revoked.",
    "https://www.rfc-editor.org/rfc/rfc6960#section-3.2",
)  # fmt: skip
REPLAY = flag(
    "OcspNonce", "The response has the nonce of another request, or none.",
    "A response from before the revocation is sent again.", "https://www.rfc-editor.org/rfc/rfc6960#section-4.4.1",
    "https://www.rfc-editor.org/rfc/rfc9654",
)  # fmt: skip
TIME = flag(
    "OcspTime", "The response is of the future, or there is a newer one, or the time of the case is at the edge of its own.",
    "A response from before the revocation is sent for years.", "https://www.rfc-editor.org/rfc/rfc6960#section-3.2",
)  # fmt: skip
EXTENSION = flag(
    "OcspExtension", "The response has an extension that nobody knows.",
    "If it is critical, the response means something else without it; if not, it must be ignored.",
    "https://www.rfc-editor.org/rfc/rfc6960#section-4.4",
)  # fmt: skip
MALFORMED = flag(
    "OcspMalformed", "The bytes are not an OCSP response, or are one of an unknown type.",
    "The program ends, or takes other bytes for an answer.", "https://www.rfc-editor.org/rfc/rfc6960#section-4.2.1",
)  # fmt: skip
REFUSED = flag(
    "OcspErrorStatus", "The responder answers with an error, which is not signed.",
    "Anyone can send it: a program that takes it for good lets revoked certificates pass.",
    "https://www.rfc-editor.org/rfc/rfc6960#section-2.3",
)  # fmt: skip

NOTHING_ELSE = b"\x04\x20" + bytes(range(32))


def add(suite: Suite) -> None:
    cases = Cases(suite)
    add_statuses(cases)
    add_signers(cases)
    add_forgeries(cases)
    add_certificates(cases)
    add_times(cases)
    add_nonces(cases)
    add_extensions(cases)
    add_forms(cases)


class Cases(revocation.Statements):
    """Adds the cases. They are about the leaf of the JWS authority, or that of another one."""

    def add(self, name: str, text: str, answer, verdict: str, of: pki.Authority | None = None, **options) -> None:
        of = of or authority()
        data = answer if isinstance(answer, bytes) else answer.encoded()
        certificate, issuer = options.pop("certificate", of.leaf), options.pop("issuer", of.intermediate)
        subject = revocation.inputs(certificate, issuer, options.pop("nonce", None), response=data)
        self.suite.add(f"ocsp::{name}", text, subject, verdict, operation="ocsp", **options)


def own(of: pki.Authority | None = None) -> bytes:
    """The CertID of the leaf."""
    of = of or authority()
    return certificate_id(of.leaf, of.intermediate)


def about(status: bytes) -> revocation.Response:
    return response(single(own(), status))


def moment(seconds: int) -> str:
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def add_statuses(cases: Cases) -> None:
    cases.accept("status::good", "The issuer says that the certificate is good.", response(), importance="critical")
    since = {"status": "revoked", "revocationDate": moment(REVOKED)}
    cases.accept("status::revoked", "The issuer says that the certificate is revoked, without a reason.",
                 about(revocation.revoked()), since, importance="critical")  # fmt: skip
    for name in revocation.REASONS:
        if name == "removeFromCRL":
            continue
        cases.accept(
            f"status::revoked-{name.lower()}", f"The certificate is revoked with the reason {name}.",
            about(revocation.revoked(reason=name)), since | {"revocationReason": name}, importance="medium",
        )  # fmt: skip
    cases.accept("status::revoked-today", "The certificate was revoked an hour ago.",
                 about(revocation.revoked(NOW - HOUR, "keyCompromise")),
                 {"status": "revoked", "revocationDate": moment(NOW - HOUR), "revocationReason": "keyCompromise"})  # fmt: skip
    cases.accept("status::unknown", "The responder does not know the certificate.", about(revocation.NOT_KNOWN),
                 {"status": "unknown"})  # fmt: skip


def rsa() -> pki.Authority:
    return authority("RSA")


def add_signers(cases: Cases) -> None:
    """Who may sign: the issuer, and whom the issuer itself authorized."""
    issuer = authority().intermediate
    cases.accept("signer::issuer-by-key", "The issuer signs, and is named by the hash of its key.",
                 response(responder=revocation.by_key(issuer.key)), importance="critical")  # fmt: skip
    cases.accept("signer::issuer-with-certificate", "The issuer signs, and the response has the issuer's certificate.",
                 response(certificates=(issuer.encoded(),)))  # fmt: skip
    cases.accept("signer::issuer-with-chain", "The issuer signs, and the response has its certificate and the root.",
                 response(certificates=(issuer.encoded(), authority().root.encoded())), importance="medium")  # fmt: skip
    cases.accept("signer::issuer-rsa", "The issuer's key is RSA.", response(of=rsa()), of=rsa(), importance="critical")
    cases.accept("signer::issuer-rsa-by-key", "The issuer's key is RSA, and it is named by the hash of its key.",
                 response(of=rsa(), responder=revocation.by_key(rsa().intermediate.key)), of=rsa())  # fmt: skip
    for label, name in [("ecdsa-sha384", "sha384"), ("ecdsa-sha512", "sha512")]:
        cases.accept(f"signer::issuer-{name}", f"The issuer signs with {name.upper().replace('A', 'A-')}.",
                     response(algorithm=label), importance="medium")  # fmt: skip
    cases.accept("signer::issuer-rsa-sha512", "The issuer signs with RSA and SHA-512.",
                 response(of=rsa(), algorithm="rsa-sha512"), of=rsa(), importance="medium")  # fmt: skip
    root = authority().root
    cases.accept("signer::about-intermediate", "The root says that the intermediate is good.",
                 revocation.Response((single(certificate_id(issuer, root)),), revocation.by_name(root.subject), root.key),
                 certificate=issuer, issuer=root)  # fmt: skip
    add_delegates(cases)
    add_impostors(cases)


def add_delegates(cases: Cases) -> None:
    plain = revocation.responder()
    flags = {"flags": [VALID_DELEGATION]}
    usage, purpose = pki.key_usage("1"), revocation.extended_usage(revocation.OCSP_SIGNING)
    basic = pki.basic_constraints(False)
    cases.accept("delegate::by-name", "A responder of the issuer signs, and is named by its name.", delegated(),
                 importance="critical", **flags)  # fmt: skip
    cases.accept("delegate::by-key", "A responder of the issuer signs, and is named by the hash of its key.",
                 delegated(responder=revocation.by_key(plain.key)), importance="critical", **flags)  # fmt: skip
    cases.accept("delegate::revoked", "A responder of the issuer says that the certificate is revoked.",
                 delegated(None, single(own(), revocation.revoked(reason="keyCompromise"))),
                 {"status": "revoked", "revocationDate": moment(REVOKED), "revocationReason": "keyCompromise"},
                 importance="critical", **flags)  # fmt: skip
    for name, text, extensions in [
        ("without-key-usage", "The responder's certificate has no keyUsage.", (basic, purpose)),
        ("without-basic-constraints", "The responder's certificate has no basicConstraints.", (usage, purpose)),
        ("critical-purpose", "The extension extKeyUsage of the responder's certificate is critical.",
         (basic, usage, revocation.extended_usage(revocation.OCSP_SIGNING, critical=True))),
        ("two-purposes", "The responder's certificate is for clients of TLS and for OCSP.",
         (basic, usage, revocation.extended_usage("1.3.6.1.5.5.7.3.2", revocation.OCSP_SIGNING))),
    ]:  # fmt: skip
        cases.accept(f"delegate::{name}", text, delegated(plain.but(extensions=extensions)), **flags)
    cases.either("delegate::without-no-check", "The responder's certificate does not say that its own revocation is not to be "
                 "checked: RFC 6960 section 4.2.2.2.1 leaves it to the client.",
                 delegated(plain.but(extensions=(basic, usage, purpose))), VALID_DELEGATION)  # fmt: skip
    cases.accept("delegate::with-chain", "The response has the certificates of responder, issuer and root.",
                 delegated(certificates=(plain.encoded(), *authority().chain[1:])), **flags)  # fmt: skip
    cases.accept("delegate::after-issuer", "The response has the issuer's certificate before the responder's.",
                 delegated(certificates=(authority().intermediate.encoded(), plain.encoded())), **flags)  # fmt: skip
    cases.accept("delegate::of-rsa-issuer", "The issuer's key is RSA, and the responder's is on P-256.",
                 delegated(revocation.responder(rsa()), single(own(rsa()))), of=rsa(), **flags)  # fmt: skip
    for name, text, dates in [
        ("ends-later", "The responder's certificate is valid for another hour.", (NOW - DAY, NOW + HOUR)),
        ("began-before", "The responder's certificate has been valid for an hour.", (NOW - HOUR, NOW + DAY)),
    ]:
        limited = plain.but(not_before=dates[0], not_after=dates[1])
        cases.accept(f"delegate::{name}", text, delegated(limited), flags=[DELEGATE_TIME])
    for name, text, dates in [
        ("expired", "The responder's certificate expired yesterday.", (NOW - YEAR, NOW - DAY)),
        ("expired-before-response", "The responder's certificate had expired when it signed.", (NOW - YEAR, NOW - 2 * DAY)),
        ("not-yet-valid", "The responder's certificate is not valid before tomorrow.", (NOW + DAY, NOW + YEAR)),
    ]:  # fmt: skip
        limited = plain.but(not_before=dates[0], not_after=dates[1])
        cases.refuse(f"delegate::{name}", text, delegated(limited), "wrong-signer", DELEGATE_TIME, importance="critical")


def add_impostors(cases: Cases) -> None:
    """Signers that the issuer did not authorize."""
    plain, of, foreign = revocation.responder(), authority(), authority(foreign=True)
    usage, purpose = pki.key_usage("1"), revocation.extended_usage(revocation.OCSP_SIGNING)
    basic = pki.basic_constraints(False)
    any_purpose, client = "2.5.29.37.0", "1.3.6.1.5.5.7.3.2"
    table = [
        ("without-purpose", "The signer's certificate is the issuer's, and without extKeyUsage.",
         plain.but(extensions=(basic, usage))),
        ("for-clients", "The signer's certificate is the issuer's, and for clients of TLS.",
         plain.but(extensions=(basic, usage, revocation.extended_usage(client)))),
        ("any-purpose", "The signer's certificate is the issuer's, and for any purpose, but not for OCSP by name.",
         plain.but(extensions=(basic, usage, revocation.extended_usage(any_purpose)))),
        ("no-check-alone", "The signer's certificate is the issuer's, with ocsp-nocheck and without extKeyUsage.",
         plain.but(extensions=(basic, usage, pki.extension(revocation.NO_CHECK, der.null())))),
        ("for-encipherment", "The signer's certificate is for OCSP, and its key for encipherment alone.",
         plain.but(extensions=(basic, pki.key_usage("001"), purpose))),
        ("of-root", "The root, and not the issuer, certified the signer.",
         plain.but(issuer=of.root.subject, issuer_key=of.root.key)),
        ("of-namesake", "A forger of the issuer's name certified the signer.",
         plain.but(issuer_key=foreign.intermediate.key, claimed_issuer_key=of.intermediate.key)),
        ("of-leaf", "Another certificate of the issuer, which is no authority, certified the signer.",
         plain.but(issuer=of.leaf.subject, issuer_key=of.leaf.key)),
        ("self-signed", "The signer certified itself.",
         plain.but(issuer=plain.subject, issuer_key=plain.key)),
    ]  # fmt: skip
    for name, text, template in table:
        cases.refuse(f"impostor::{name}", text, delegated(template), "wrong-signer", DELEGATION,
                     importance="high" if name == "for-encipherment" else "critical")  # fmt: skip
    leaf, numbered = of.leaf, revocation.responder(serial=18, key=keys.elliptic("attacker"))
    cases.refuse("impostor::itself", "The certificate itself says that it is good.",
                 delegated(leaf), "wrong-signer", DELEGATION, importance="critical")  # fmt: skip
    cases.refuse("impostor::root", "The root says that the leaf is good.", delegated(of.root), "wrong-signer", DELEGATION)
    cases.refuse("impostor::foreign-authority", "A forger's authority signs, whose certificate has the issuer's name.",
                 delegated(foreign.intermediate), "wrong-signer", DELEGATION, importance="critical")  # fmt: skip
    cases.refuse("impostor::foreign-responder", "A forger's responder signs, with all certificates of the forger.",
                 delegated(revocation.responder(foreign), certificates=(revocation.responder(foreign).encoded(),
                                                                        *foreign.chain[1:])),
                 "wrong-signer", DELEGATION, importance="critical")  # fmt: skip
    named = numbered.but(extensions=(basic, usage))
    cases.refuse("impostor::name-of-responder", "Another certificate of the issuer has the name of the responder, whose "
                 "certificate is there too.", delegated(named, certificates=(named.encoded(), plain.encoded())),
                 "wrong-signer", DELEGATION, importance="critical")  # fmt: skip
    cases.refuse("impostor::nobody", "An unknown key signs, and the response has no certificate.",
                 delegated(certificates=()), "wrong-signer", DELEGATION, importance="critical")  # fmt: skip
    cases.either("impostor::issuer-misnamed", "The issuer signs, and another responder is named.",
                 response(responder=revocation.by_name(plain.subject)))  # fmt: skip


def flipped(signature: bytes) -> bytes:
    return signature[:-1] + bytes([signature[-1] ^ 1])


def zeros(_: bytes) -> bytes:
    return der.sequence(der.integer(0), der.integer(0))


def add_forgeries(cases: Cases) -> None:
    attacker = keys.elliptic("attacker")
    hidden = response(single(own(), revocation.revoked(reason="keyCompromise")))
    good = response()

    def exchanged(_: bytes) -> bytes:
        data = der.children(der.read(good.encoded())[1])[1]
        basic = der.read(der.children(der.read(der.read(data)[1])[1])[1])[1]
        return der.children(der.read(basic)[1])[0]

    refuse = {"importance": "critical"}
    for name, text, answer in [
        ("by-attacker", "An unknown key signs in the name of the issuer.", response(key=attacker)),
        ("by-attacker-with-key-hash", "An unknown key signs, and the hash of the issuer's key is named.",
         response(key=attacker, responder=revocation.by_key(authority().intermediate.key))),
        ("by-leaf", "The key of the certificate itself signs in the name of the issuer.", response(key=authority().leaf.key)),
        ("flipped-bit", "The last bit of the signature is flipped.", response(change_signature=flipped)),
        ("zero", "r and s of the signature are zero.", response(change_signature=zeros)),
        ("empty", "The signature is empty.", response(change_signature=lambda _: b"")),
        ("revocation-hidden", "The certificate was revoked, and the status was changed to good after signing.",
         hidden.but(change_data=exchanged)),
        ("delegate-flipped-bit", "The last bit of a responder's signature is flipped.", delegated(change_signature=flipped)),
        ("delegate-by-attacker", "An unknown key signs, and the genuine responder's certificate is there.",
         delegated(key=attacker)),
        ("rsa-flipped-bit", "The last bit of the issuer's RSA signature is flipped.",
         response(of=rsa(), change_signature=flipped)),
        ("revoked-by-attacker", "An unknown key says in the name of the issuer that the certificate is revoked.",
         response(single(own(), revocation.revoked()), key=attacker)),
    ]:  # fmt: skip
        of = {"of": rsa()} if name.startswith("rsa") else {}
        cases.refuse(f"signature::{name}", text, answer, "signature-mismatch", FORGED, **of, **refuse)
    for name, text, answer, of, reason in [
        ("rsa-sha1", "The issuer signs with RSA and SHA-1.", response(of=rsa(), algorithm="rsa-sha1"), rsa(),
         "signature-mismatch"),
        ("rsa-md5", "The issuer signs with RSA and MD5.", response(of=rsa(), algorithm="rsa-md5"), rsa(),
         "signature-mismatch"),
        ("delegate-certificate-rsa-md5", "The responder's certificate is signed with RSA and MD5.",
         delegated(revocation.responder(rsa(), algorithm="rsa-md5"), single(own(rsa()))), rsa(), "wrong-signer"),
        ("ecdsa-sha1", "The issuer signs with ECDSA and SHA-1.", response(algorithm="ecdsa-sha1"), authority(),
         "signature-mismatch"),
        ("delegate-ecdsa-sha1", "A responder signs with ECDSA and SHA-1.", delegated(algorithm="ecdsa-sha1"), authority(),
         "signature-mismatch"),
        ("delegate-certificate-sha1", "The responder's certificate is signed with ECDSA and SHA-1.",
         delegated(revocation.responder(algorithm="ecdsa-sha1")), authority(), "wrong-signer"),
        ("delegate-certificate-rsa-sha1", "The responder's certificate is signed with RSA and SHA-1.",
         delegated(revocation.responder(rsa(), algorithm="rsa-sha1"), single(own(rsa()))), rsa(), "wrong-signer"),
    ]:  # fmt: skip
        cases.refuse(f"weak-digest::{name}", text, answer, reason, WEAK, of=of)


def add_certificates(cases: Cases) -> None:
    """Which certificate an answer is about."""
    of, foreign = authority(), authority(foreign=True)
    leaf, issuer = of.leaf, of.intermediate
    others = [single(certificate_id(leaf, issuer, serial=100 + number)) for number in range(3)]
    revoked_others = [single(certificate_id(leaf, issuer, serial=100 + n), revocation.revoked()) for n in range(3)]
    cases.accept("certificate::sha256", "The certificate is identified by SHA-256.",
                 response(single(certificate_id(leaf, issuer, "sha256"))), features=["ocsp-sha256"])  # fmt: skip
    cases.either("certificate::sha384", "The certificate is identified by SHA-384, for which a client need not ask.",
                 response(single(certificate_id(leaf, issuer, "sha384"))))  # fmt: skip
    cases.accept("certificate::first-of-four", "The first of four answers is about the certificate.",
                 response(single(own()), *revoked_others))  # fmt: skip
    cases.accept("certificate::last-of-four", "The last of four answers is about the certificate; the others are revoked.",
                 response(*revoked_others, single(own())), importance="critical")  # fmt: skip
    cases.accept("certificate::revoked-last-of-four", "The last of four answers is about the certificate, and says revoked.",
                 response(*others, single(own(), revocation.revoked())),
                 {"status": "revoked", "revocationDate": moment(REVOKED)}, importance="critical")  # fmt: skip
    large = leaf.but(serial=(1 << 158) + 12345)
    cases.accept("certificate::serial-20-octets", "The certificate's number has 20 octets.",
                 response(single(certificate_id(large, issuer))), certificate=large)  # fmt: skip
    for name, text, identifier in [
        ("other-serial", "The answer is about another certificate of the issuer.", certificate_id(leaf, issuer, serial=4)),
        ("serial-of-more-octets", "The answer is about a certificate whose number ends in the octets of this one.",
         certificate_id(leaf, issuer, serial=(1 << 64) + leaf.serial)),
        ("serial-negated", "The answer is about the number negated.", certificate_id(leaf, issuer, serial=-leaf.serial)),
        ("other-key", "The answer is about an issuer of the same name with another key.",
         certificate_id(leaf, foreign.intermediate)),
        ("other-name", "The answer is about an issuer of another name with the same key.",
         certificate_id(leaf, issuer.but(subject=pki.name("Conformance Intermediate CA 2")))),
        ("hashes-exchanged", "The hashes of name and key stand in each other's place.",
         certificate_id(leaf, issuer, name=key_hash(issuer), key=name_hash(issuer))),
        ("digest-misnamed", "The hashes are of SHA-1, and SHA-256 is named.", certificate_id(leaf, issuer, named="sha256")),
        ("empty-hashes", "The hashes are empty.", certificate_id(leaf, issuer, name=b"", key=b"")),
        ("hashes-cut", "The hashes are the first octets of the right ones.",
         certificate_id(leaf, issuer, name=name_hash(issuer)[:8], key=key_hash(issuer)[:8])),
        ("of-root", "The answer is about the certificate of this number that the root issued.",
         certificate_id(leaf, of.root)),
    ]:  # fmt: skip
        cases.refuse(f"certificate::{name}", text, response(single(identifier)), "not-covered", OTHER, importance="critical")
    cases.refuse("certificate::three-others", "None of three answers is about the certificate.", response(*others),
                 "not-covered", OTHER)  # fmt: skip
    contradictory = [single(own()), single(own(), revocation.revoked())]
    for name, singles in [("good-and-revoked", contradictory), ("revoked-and-good", contradictory[::-1])]:
        cases.either(f"certificate::{name}", "Two answers about the certificate contradict each other.", response(*singles),
                     OTHER)  # fmt: skip


def name_hash(issuer: pki.Template) -> bytes:
    return hashlib.sha1(issuer.subject).digest()


def key_hash(issuer: pki.Template) -> bytes:
    return hashlib.sha1(revocation.key_octets(issuer.key)).digest()


def dated(this: int, following: int | None, **changes) -> revocation.Response:
    return response(single(own(), this=this, following=following), produced=this, **changes)


def add_times(cases: Cases) -> None:
    flags = {"flags": [TIME]}
    for name, text, this, following in [
        ("just-made", "The answer is of this second.", NOW, NOW + DAY),
        ("last-second", "There is a newer answer in a second.", NOW - DAY, NOW + 1),
        ("a-week", "The answer is three days old, and there is a newer one in four.", NOW - 3 * DAY, NOW + 4 * DAY),
        ("beyond-2050", "The next answer is announced for the year 2060.", NOW - HOUR, 2_840_140_800),
    ]:
        cases.accept(f"time::{name}", text, dated(this, following), **flags)
    cases.accept("time::without-next-update", "The answer is a minute old, and newer ones are always available.",
                 dated(NOW - MINUTE, None), importance="medium", **flags)  # fmt: skip
    for name, text, this, following, reason in [
        ("expired", "There has been a newer answer for two days.", NOW - 3 * DAY, NOW - 2 * DAY, "expired"),
        ("expired-years-ago", "There has been a newer answer for years.", NOW - 4 * YEAR, NOW - 4 * YEAR + DAY, "expired"),
        ("old-without-next-update", "The answer is a year old, and newer ones are always available.", NOW - YEAR, None,
         "expired"),
        ("in-two-days", "The answer is made in two days.", NOW + 2 * DAY, NOW + 3 * DAY, "not-yet-valid"),
        ("in-two-days-without-next-update", "The answer is made in two days, and says nothing of newer ones.", NOW + 2 * DAY,
         None, "not-yet-valid"),
    ]:  # fmt: skip
        cases.refuse(f"time::{name}", text, dated(this, following), reason, TIME, importance="critical")
    cases.refuse("time::revoked-expired", "The certificate is revoked by an answer of which there has been a newer one for "
                 "two days: it may have been a hold that was lifted.",
                 response(single(own(), revocation.revoked(reason="certificateHold"), NOW - 3 * DAY, NOW - 2 * DAY)), "expired",
                 TIME, importance="medium")  # fmt: skip
    expired = single(own(), this=NOW - 3 * DAY, following=NOW - 2 * DAY)
    other = single(certificate_id(authority().leaf, authority().intermediate, serial=4))
    cases.refuse("time::other-is-current", "Of two answers the one about another certificate is current.",
                 response(other, expired), "expired", TIME)  # fmt: skip
    # RFC 6960 sections 3.2 and 4.2.2.1 differ about the instant of nextUpdate, and RFC 5019 section 4 allows for clocks that
    # differ.
    for name, text, this, following in [
        ("next-update-now", "There is a newer answer from this second on.", NOW - DAY, NOW),
        ("a-second-late", "There has been a newer answer for a second.", NOW - DAY, NOW - 1),
        ("an-hour-late", "There has been a newer answer for an hour.", NOW - DAY, NOW - HOUR),
        ("a-second-early", "The answer is made in a second.", NOW + 1, NOW + DAY),
        ("an-hour-early", "The answer is made in an hour.", NOW + HOUR, NOW + DAY),
    ]:
        cases.either(f"time::{name}", text, dated(this, following), TIME)
    cases.refuse("time::reversed", "nextUpdate is before thisUpdate, and both are past.", dated(NOW - DAY, NOW - 2 * DAY),
                 "malformed", TIME)  # fmt: skip


def add_nonces(cases: Cases) -> None:
    nonce, other = bytes(range(32)), bytes(range(1, 33))

    def with_nonce(value: bytes, critical: bool = False) -> revocation.Response:
        return response(extensions=(pki.extension(revocation.NONCE, der.octet_string(value), critical),))

    cases.accept("nonce::same", "The response repeats the nonce of the request.", with_nonce(nonce), nonce=nonce)
    cases.accept("nonce::one-octet", "The nonce has one octet.", with_nonce(nonce[:1]), nonce=nonce[:1], importance="medium")
    for name, text, answer in [
        ("other", "The response has the nonce of another request.", with_nonce(other)),
        ("cut", "The response has the first 16 octets of the nonce.", with_nonce(nonce[:16])),
        ("longer", "The response has the nonce with an octet after it.", with_nonce(nonce + b"\0")),
        ("empty", "The response has an empty nonce.", with_nonce(b"")),
        ("last-bit", "The last bit of the nonce is flipped.", with_nonce(nonce[:-1] + bytes([nonce[-1] ^ 1]))),
    ]:  # fmt: skip
        cases.refuse(f"nonce::{name}", text, answer, "nonce-mismatch", REPLAY, nonce=nonce, importance="critical")
    cases.either("nonce::missing", "The response has no nonce, as those that were signed in advance.", response(), REPLAY,
                 nonce=nonce)  # fmt: skip
    cases.either("nonce::not-asked-for", "The response has a nonce, and the request had none.", with_nonce(nonce), REPLAY)


def add_extensions(cases: Cases) -> None:
    known, critical = (pki.extension(revocation.UNKNOWN, der.null(), each) for each in (False, True))
    cases.accept("extension::of-response", "The response has an extension that nobody knows.", response(extensions=(known,)),
                 flags=[EXTENSION])  # fmt: skip
    cases.accept("extension::of-answer", "The answer has an extension that nobody knows.",
                 response(single(own(), extensions=(known,))), flags=[EXTENSION])  # fmt: skip
    cases.refuse("extension::critical-of-response", "The response has a critical extension that nobody knows.",
                 response(extensions=(critical,)), "unsupported-extension", EXTENSION)  # fmt: skip
    cases.refuse("extension::critical-of-answer", "The answer has a critical extension that nobody knows.",
                 response(single(own(), extensions=(critical,))), "unsupported-extension", EXTENSION)  # fmt: skip


def add_forms(cases: Cases) -> None:
    """What is no response with an answer."""
    for status, name in [
        (1, "malformed-request"), (2, "internal-error"), (3, "try-later"), (5, "signature-required"), (6, "unauthorized"),
    ]:  # fmt: skip
        cases.add(
            f"error::{name}", f"The responder answers with the error {name}.",
            der.sequence(revocation.enumerated(status)), "undetermined", reason="responder-error", flags=[REFUSED],
        )  # fmt: skip
    whole = response().encoded()
    for name, text, data in [
        ("empty", "There are no octets.", b""),
        ("text", "The response is a page of HTML.", b"<html><body>502 Bad Gateway</body></html>"),
        ("cut", "The last octet is missing.", whole[:-1]),
        ("without-bytes", "The responder reports success, and there is no answer.", der.sequence(revocation.enumerated(0))),
        ("other-type", "The response is of a type that nobody knows.", response(kind=revocation.UNKNOWN).encoded()),
        ("certificate", "The response is the certificate itself.", authority().leaf.encoded()),
        ("octets-in-answer", "The answer is no structure.",
         der.sequence(revocation.enumerated(0), der.context(0, der.sequence(der.oid(revocation.BASIC), NOTHING_ELSE)))),
        ("date-without-seconds", "thisUpdate is no date of RFC 5280 section 4.1.2.5.2.",
         response(der.sequence(own(), revocation.GOOD, der.tlv(der.GENERALIZED_TIME, b"20251399Z")))),
    ]:  # fmt: skip
        cases.refuse(f"form::{name}", text, data, "malformed", MALFORMED)
    cases.refuse("form::no-answers", "The response is signed, and has no answers.", response(change_signed=without_answers),
                 "not-covered", OTHER)  # fmt: skip


def without_answers(encoded: bytes) -> bytes:
    fields = der.children(der.read(encoded)[1])
    return der.sequence(*fields[:-1], der.sequence())
