# SPDX-License-Identifier: Apache-2.0
"""Verification of App Store data with the interface of Apple's Python library.

A program that uses Apple's ``SignedDataVerifier`` changes one import::

    from receiptkit.appstore import SignedDataVerifier

Constructor, methods, the objects that they return and the exception that they raise are those of Apple's package
``app-store-server-library``, which stays installed: ``pip install 'receiptkit[apple]'``. The cause of an exception
(``exception.__cause__``) is a :class:`receiptkit.NotValidError` with the verdict and its reason, or the
:class:`RevocationError` of an online check.

What is as with Apple's class
-----------------------------
* ``root_certificates`` are trusted, in DER, and no others. Certificates must be marked for receipts as Apple's are.
* A receipt is evaluated at its ``signedDate`` (an app transaction: ``receiptCreationDate``); with online checks, or if
  it states none, now. Only a notification that states none is evaluated at the date of its signed parts.
* In production ``app_apple_id`` is required, and must be that of notifications, app transactions and realtime requests.
* The status is that which Apple's class has for the same data. Of a chain that leads to no root, has expired or is not
  meant for receipts that is ``VERIFICATION_FAILURE``: Apple's class never uses ``INVALID_CHAIN``. In production sandbox
  data is refused with ``INVALID_APP_IDENTIFIER`` where it should state the app's identifier and does not.
* Signed parts of a notification are returned as text. They were verified with it, see below.

What is stricter
----------------
* **Unsigned data is refused in every environment.** Apple's class skips the signature for ``XCODE`` and
  ``LOCAL_TESTING``. Here test data must be signed, too: pass the certificate with which Xcode signs (in Xcode: Editor,
  Save Public Certificate) among ``root_certificates``. It is pinned as the policy's ``xcodeCertificates``, and signs
  for these two environments alone. Data that the authority of one of the roots signed is accepted there as well.
* **The signed parts of a notification are verified with it**, and must belong to it: the same app, the same
  environment. Apple's class does not look at them.
* Data must be of the kind that the method names. Apple's class reads a renewal info as a transaction without members.
* Data must not be signed more than a minute in the future; JSON must be well-formed, without duplicate members; the
  signature and the certificates must be encoded as their standards demand, and the signer's certificate must be for
  signatures and no authority's.
* A root certificate that cannot be read, or is no root, is an error when the verifier is created, not later.
* The certificate chain and the signature are verified with every call. Apple's class skips the chain for fifteen
  minutes where online checks are enabled.
* Every failure is a ``VerificationException``, also where Apple's class would raise one of its JSON converter.

Online checks
-------------
The library itself makes no connection. With ``enable_online_checks`` the intermediate and the signer of a chain that it
has found valid are looked up here, by OCSP (RFC 6960), at the addresses that the certificates name. Only an answer that
is current, signed by the issuer or by a responder that the issuer appointed, and says "good" is success. If a responder
cannot be reached, or asks to try later, the status is ``RETRYABLE_VERIFICATION_FAILURE``; after every other answer, and
if a certificate names no responder, ``VERIFICATION_FAILURE``. That both are good is remembered for fifteen minutes, at
most until the answers expire, for at most 32 chains; failures are not remembered. A pinned certificate of Xcode has no
issuer who could revoke it, so nobody is asked about it.

Where the verdict is undetermined an exception is raised, as if it were invalid. Its status is
``RETRYABLE_VERIFICATION_FAILURE`` only if the verdict says that trying again may help.

Threads may share a verifier. Keep one for each set of parameters: it remembers the signers of receipts.
"""

import base64
import binascii
import datetime
import json
import time
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Type, TypeVar, Union, get_args, get_origin

import receiptkit

try:
    import attr
    import requests
    from appstoreserverlibrary.models.AppTransaction import AppTransaction
    from appstoreserverlibrary.models.DecodedRealtimeRequestBody import DecodedRealtimeRequestBody
    from appstoreserverlibrary.models.Environment import Environment
    from appstoreserverlibrary.models.JWSRenewalInfoDecodedPayload import JWSRenewalInfoDecodedPayload
    from appstoreserverlibrary.models.JWSTransactionDecodedPayload import JWSTransactionDecodedPayload
    from appstoreserverlibrary.models.LibraryUtility import (
        AttrsRawValueAware,
        _get_cattrs_converter,
        metadata_key,
        metadata_required_key,
        metadata_type_key,
    )
    from appstoreserverlibrary.models.ResponseBodyV2DecodedPayload import ResponseBodyV2DecodedPayload
    from appstoreserverlibrary.signed_data_verifier import VerificationException, VerificationStatus
    from cryptography import x509
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
    from cryptography.x509 import ocsp
    from cryptography.x509.oid import AuthorityInformationAccessOID, ExtendedKeyUsageOID
except ImportError as error:
    raise ImportError(
        "receiptkit.appstore returns the objects of Apple's package app-store-server-library, which is not installed "
        f"or of another version: pip install 'receiptkit[apple]' ({error})"
    ) from error

M = TypeVar("M")

__all__ = ["RevocationError", "SignedDataVerifier", "VerificationException", "VerificationStatus"]

_PUBLIC_ENVIRONMENTS = {Environment.PRODUCTION: "production", Environment.SANDBOX: "sandbox"}
_TEST_ENVIRONMENTS = {Environment.XCODE: "xcode", Environment.LOCAL_TESTING: "local-testing"}

_STATUSES = {
    "wrong-bundle": VerificationStatus.INVALID_APP_IDENTIFIER,
    "wrong-app": VerificationStatus.INVALID_APP_IDENTIFIER,
    "wrong-environment": VerificationStatus.INVALID_ENVIRONMENT,
    "environment-unproven": VerificationStatus.INVALID_ENVIRONMENT,
}
_FAILURE, _RETRYABLE = VerificationStatus.VERIFICATION_FAILURE, VerificationStatus.RETRYABLE_VERIFICATION_FAILURE

_STATE_APP = {"signed-notification", "signed-app-transaction", "signed-realtime-request"}


class SignedDataVerifier:
    """Verifies and decodes data that the App Store signed, as Apple's class of this name does: see the module.

    :param root_certificates: The trusted roots, each in DER; for test data of Xcode its certificate.
    :param enable_online_checks: Whether the responders of the certificates' issuers are asked for revocation.
    :param environment: The environment that the data must be of.
    :param bundle_id: The app that the data must be of.
    :param app_apple_id: The app's identifier in the App Store, required in production.
    :raises ValueError: A parameter is wrong.
    :raises VerificationException: A root certificate cannot be used (``INVALID_CERTIFICATE``).
    """

    def __init__(
        self,
        root_certificates: List[bytes],
        enable_online_checks: bool,
        environment: Environment,
        bundle_id: str,
        app_apple_id: Optional[int] = None,
    ):
        if isinstance(root_certificates, (bytes, bytearray, str)):
            raise TypeError("root_certificates is a list of certificates, each as bytes in DER.")
        if not isinstance(bundle_id, str) or not bundle_id:
            raise ValueError("bundle_id is required: the bundle identifier of the app.")
        if app_apple_id is not None and (isinstance(app_apple_id, bool) or not isinstance(app_apple_id, int)):
            raise TypeError("app_apple_id is a number.")
        self._environment = Environment(environment)
        self._is_production = self._environment == Environment.PRODUCTION
        if self._is_production and app_apple_id is None:
            raise ValueError("app_apple_id is required in production.")
        self._bundle_id = bundle_id
        self._app_apple_id = app_apple_id
        self._root_certificates = [bytes(certificate) for certificate in root_certificates]
        self._revocation = RevocationChecker(self._root_certificates) if enable_online_checks else None
        self._policy = self._policy_document("now" if enable_online_checks else "signing")
        self._verifiers: Dict[Tuple[str, str], Any] = {}
        try:
            self._verifier("signed-transaction", self._policy["time"])
        except receiptkit.PolicyError as error:
            raise VerificationException(VerificationStatus.INVALID_CERTIFICATE) from error

    def verify_and_decode_renewal_info(self, signed_renewal_info: str) -> JWSRenewalInfoDecodedPayload:
        """Verifies and decodes a ``signedRenewalInfo``.

        :raises VerificationException: It is not valid, or could not be checked.
        """
        renewal_info = self._decoded("signed-renewal-info", signed_renewal_info, JWSRenewalInfoDecodedPayload)
        self._require_environment(renewal_info.environment)
        return renewal_info

    def verify_and_decode_signed_transaction(self, signed_transaction: str) -> JWSTransactionDecodedPayload:
        """Verifies and decodes a ``signedTransactionInfo``, or a transaction that an app sent.

        :raises VerificationException: It is not valid, or could not be checked.
        """
        transaction = self._decoded("signed-transaction", signed_transaction, JWSTransactionDecodedPayload)
        self._require_bundle(transaction.bundleId)
        self._require_environment(transaction.environment)
        return transaction

    def verify_and_decode_notification(self, signed_payload: str) -> ResponseBodyV2DecodedPayload:
        """Verifies and decodes the ``signedPayload`` of a notification, with the signed parts in it.

        :raises VerificationException: It is not valid, or could not be checked.
        """
        notification = self._decoded("signed-notification", signed_payload, ResponseBodyV2DecodedPayload)
        token = notification.externalPurchaseToken
        content: Any = notification.data or notification.summary or token or getattr(notification, "appData", None)
        if content is None:
            raise VerificationException(VerificationStatus.INVALID_APP_IDENTIFIER)
        self._require_bundle(content.bundleId)
        self._require_app(content.appAppleId)
        if content is token:
            # Such a token states no environment: Apple documents the beginning of those of the sandbox.
            is_sandbox = (token.externalPurchaseId or "").startswith("SANDBOX")
            self._require_environment(Environment.SANDBOX if is_sandbox else Environment.PRODUCTION)
        else:
            self._require_environment(content.environment)
        return notification

    def verify_and_decode_app_transaction(self, signed_app_transaction: str) -> AppTransaction:
        """Verifies and decodes a signed app transaction.

        :raises VerificationException: It is not valid, or could not be checked.
        """
        app_transaction = self._decoded("signed-app-transaction", signed_app_transaction, AppTransaction)
        self._require_bundle(app_transaction.bundleId)
        self._require_app(app_transaction.appAppleId)
        self._require_environment(app_transaction.receiptType)
        return app_transaction

    def verify_and_decode_realtime_request(self, signed_payload: str) -> DecodedRealtimeRequestBody:
        """Verifies and decodes the ``signedPayload`` of a request of the Retention Messaging API.

        :raises VerificationException: It is not valid, or could not be checked.
        """
        request = self._decoded("signed-realtime-request", signed_payload, DecodedRealtimeRequestBody)
        self._require_app(request.appAppleId)
        self._require_environment(request.environment)
        return request

    # The policy has these rules, too. They are repeated on what is returned, so that nothing depends on two JSON
    # decoders reading the same text in the same way.

    def _require_bundle(self, bundle_id: Optional[str]) -> None:
        if bundle_id != self._bundle_id:
            raise VerificationException(VerificationStatus.INVALID_APP_IDENTIFIER)

    def _require_app(self, app_apple_id: Optional[int]) -> None:
        if self._is_production and app_apple_id != self._app_apple_id:
            raise VerificationException(VerificationStatus.INVALID_APP_IDENTIFIER)

    def _require_environment(self, environment: Optional[Environment]) -> None:
        if environment is not self._environment:
            raise VerificationException(VerificationStatus.INVALID_ENVIRONMENT)

    def _decoded(self, kind: str, signed: Union[str, bytes], model: Type[M]) -> M:
        try:
            text = signed.encode() if isinstance(signed, str) else bytes(memoryview(signed))
            self._require_valid(kind, text)
            _, payload, _ = _parts(text)
            if self._revocation is not None:
                self._revocation.require_good(text)
            return _object(model, json.loads(_base64url(payload)))
        except receiptkit.NotValidError as error:
            raise VerificationException(self._status(error.verdict, kind, text)) from error
        except RevocationError as error:
            raise VerificationException(_RETRYABLE if error.retryable else _FAILURE) from error
        except Exception as error:
            raise VerificationException(_FAILURE) from error

    def _require_valid(self, kind: str, text: bytes) -> None:
        # The payload that the library returns has the signed parts of a notification decoded, while Apple's class
        # returns their text. It is asked for all the same, because without a valid receipt there is only an exception.
        rule = self._policy["time"]
        try:
            self._verifier(kind, rule).payload(text)
            return
        except receiptkit.NotValidError as error:
            reason = error.verdict.reason
            if rule == "now" or reason is None or reason.code != "signing-time-missing":
                raise
        self._verifier(kind, "now").payload(text)

    def _verifier(self, kind: str, rule: str) -> Any:
        verifier = self._verifiers.get((kind, rule))
        if verifier is None:
            # A verifier for each kind, so that what is valid is of the kind without another look.
            verifier = receiptkit.Verifier({**self._policy, "kinds": [kind], "time": rule})
            verifier = self._verifiers.setdefault((kind, rule), verifier)
        return verifier

    def _policy_document(self, rule: str) -> Dict[str, Any]:
        policy: Dict[str, Any] = {"bundleIds": [self._bundle_id], "time": rule}
        encoded = [base64.b64encode(certificate).decode() for certificate in self._root_certificates]
        if self._environment in _PUBLIC_ENVIRONMENTS:
            policy.update(environments=[_PUBLIC_ENVIRONMENTS[self._environment]], trust=encoded)
            if self._is_production:
                policy["appAppleId"] = self._app_apple_id
        else:
            authorities = [
                text
                for text, certificate in zip(encoded, self._root_certificates)
                if _is_root_authority(_certificate(certificate))
            ]
            policy.update(
                environments=[_TEST_ENVIRONMENTS[self._environment]], trust=authorities, xcodeCertificates=encoded
            )
        return policy

    def _status(self, verdict: Any, kind: str, text: bytes) -> VerificationStatus:
        reason = verdict.reason
        code = reason.code if reason is not None else ""
        if not self._root_certificates:
            return VerificationStatus.INVALID_CERTIFICATE
        count = _certificate_count(text)
        if code == "chain-length":
            return _FAILURE if count in (0, 3) else VerificationStatus.INVALID_CHAIN_LENGTH
        status = _STATUSES.get(code)
        if status == VerificationStatus.INVALID_ENVIRONMENT and self._is_production and kind in _STATE_APP:
            # Apple's class looks at the app first, and programs that try the sandbox next may rely on its status: there
            # data does not state the app's identifier.
            if _stated_app(text) != self._app_apple_id:
                return VerificationStatus.INVALID_APP_IDENTIFIER
        if status is not None:
            return status
        if verdict.verdict == "undetermined" and verdict.retryable:
            return _RETRYABLE
        place = (reason.place if reason is not None else None) or ""
        if code == "malformed" and count and ("certificate" in place or "x5c" in place):
            return VerificationStatus.INVALID_CERTIFICATE
        return _FAILURE


def _certificate(der: bytes) -> x509.Certificate:
    try:
        return x509.load_der_x509_certificate(der)
    except Exception as error:
        raise VerificationException(VerificationStatus.INVALID_CERTIFICATE) from error


def _is_root_authority(certificate: x509.Certificate) -> bool:
    try:
        constraints = certificate.extensions.get_extension_for_class(x509.BasicConstraints).value
    except x509.ExtensionNotFound:
        return False
    return constraints.ca and certificate.issuer == certificate.subject


# The parts of a JWS

_BASE64URL = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def _parts(text: bytes) -> List[bytes]:
    """The three parts of a JWS, without anything around it that the library may have passed over."""
    if text.translate(None, _BASE64URL) != b"..":
        raise ValueError("A JWS is three parts in base64url.")
    return text.split(b".")


def _base64url(part: bytes) -> bytes:
    """Decodes a part that `_parts` returned, which has no other characters."""
    return binascii.a2b_base64(part.translate(_TO_BASE64) + b"=" * (-len(part) % 4))


_TO_BASE64 = bytes.maketrans(b"-_", b"+/")


def _distinct(members: Sequence[Tuple[str, Any]]) -> Dict[str, Any]:
    found = dict(members)
    if len(found) != len(members):
        raise ValueError("A member is there twice.")
    return found


def _header_certificates(text: bytes) -> List[str]:
    """The certificates in the header of a JWS, in base64."""
    header = json.loads(_base64url(_parts(text)[0]), object_pairs_hook=_distinct)
    encoded = header.get("x5c") if isinstance(header, dict) else None
    if not isinstance(encoded, list):
        raise ValueError("The header has no list of certificates.")
    return encoded


def _certificate_count(text: bytes) -> int:
    """How many certificates the header of data has that is not valid, to tell why."""
    try:
        return len(_header_certificates(text))
    except ValueError:
        return 0


def _stated_app(text: bytes) -> Any:
    """The App Store identifier that data states which is not valid, to tell why."""
    try:
        payload = json.loads(_base64url(_parts(text)[1]))
        for name in ("data", "summary", "externalPurchaseToken", "appData"):
            if payload.get(name):
                return payload[name].get("appAppleId")
        return payload.get("appAppleId")
    except (ValueError, AttributeError):
        return None


# Revocation


class RevocationError(Exception):
    """A certificate is revoked, or it is not known whether it is.

    :ivar retryable: Whether trying again later may help.
    """

    def __init__(self, message: str, retryable: bool = False):
        super().__init__(message)
        self.retryable = retryable


class RevocationChecker:
    """Asks the issuers of the certificates of valid receipts whether they are revoked.

    The chain must have been verified. What is remembered is that the certificates of a header are good.
    """

    LIFETIME = 15 * 60
    CAPACITY = 32
    TIMEOUT = 30
    LONGEST_RESPONSE = 1 << 16
    SKEW = datetime.timedelta(seconds=60)

    def __init__(self, root_certificates: Sequence[bytes], clock: Callable[[], float] = time.monotonic):
        self._roots = [_certificate(certificate) for certificate in root_certificates]
        self._clock = clock
        self._good: Dict[bytes, float] = {}

    def require_good(self, text: bytes) -> None:
        """Requires that the signer of a JWS, which was verified, and its issuer are not revoked."""
        header = text.partition(b".")[0]
        until = self._good.get(header)
        if until is not None and self._clock() < until:
            return
        try:
            encoded = _header_certificates(text)
            chain = [x509.load_der_x509_certificate(base64.b64decode(each, validate=True)) for each in encoded]
        except (TypeError, ValueError) as error:
            raise RevocationError("The certificates of the receipt cannot be read.") from error
        begin = self._clock()
        self._remember(header, begin + min(self.LIFETIME, self._seconds_good(chain)))

    def _remember(self, header: bytes, until: float) -> None:
        # A new dictionary, so that no lock is needed, which a fork could leave locked. What another thread remembers at
        # the same time may be lost, and is asked again.
        now = self._clock()
        kept = [(known, end) for known, end in dict(self._good).items() if end > now and known != header]
        self._good = dict(kept[-(self.CAPACITY - 1) :] + [(header, until)])

    def _seconds_good(self, chain: List[x509.Certificate]) -> float:
        """Requires that a chain is good, and returns for how long the answers say so, in seconds."""
        if len(chain) == 1 and chain[0] in self._roots:
            return self.LIFETIME
        if len(chain) != 3:
            raise RevocationError("The receipt has no chain of three certificates.")
        leaf, intermediate, stated = chain
        # A path ends at a trusted name and key: the certificate that the sender put last may be another of the same.
        roots = [root for root in self._roots if root.subject == stated.subject and _key(root) == _key(stated)]
        if not roots:
            raise RevocationError("The chain does not end at a trusted root.")
        try:
            intermediate.verify_directly_issued_by(roots[0])
            leaf.verify_directly_issued_by(intermediate)
        except (InvalidSignature, TypeError, ValueError) as error:
            raise RevocationError("The certificates are not a chain.") from error
        updates = [self._next_update(intermediate, roots[0]), self._next_update(leaf, intermediate)]
        return (min(updates) + self.SKEW - _now()).total_seconds()

    def _next_update(self, certificate: x509.Certificate, issuer: x509.Certificate) -> datetime.datetime:
        addresses = _responders(certificate)
        if not addresses:
            raise RevocationError(f"{_name(certificate)} names no OCSP responder.")
        request = ocsp.OCSPRequestBuilder().add_certificate(certificate, issuer, hashes.SHA256()).build()
        body = request.public_bytes(serialization.Encoding.DER)
        failure = None
        for address in addresses:
            try:
                return self._evaluated(self._response(address, body), certificate, issuer)
            except RevocationError as error:
                # Another responder is asked only if this one has no answer.
                if not error.retryable:
                    raise
                failure = error
        assert failure is not None
        raise failure

    def _response(self, address: str, body: bytes) -> ocsp.OCSPResponse:
        deadline = time.monotonic() + self.TIMEOUT
        content = b""
        try:
            with requests.post(
                address,
                data=body,
                headers={"Content-Type": "application/ocsp-request", "Accept": "application/ocsp-response"},
                timeout=self.TIMEOUT,
                stream=True,
            ) as response:
                if response.status_code != 200:
                    raise RevocationError(f"{address} answered with status {response.status_code}.", retryable=True)
                for part in response.iter_content(4096):
                    content += part
                    if len(content) > self.LONGEST_RESPONSE:
                        raise RevocationError(f"The answer of {address} is too long.")
                    if time.monotonic() > deadline:
                        raise RevocationError(f"{address} took too long.", retryable=True)
        except (requests.exceptions.RequestException, OSError) as error:
            raise RevocationError(f"{address} cannot be reached.", retryable=True) from error
        try:
            return ocsp.load_der_ocsp_response(content)
        except ValueError as error:
            raise RevocationError(f"{address} gave no OCSP response.") from error

    def _evaluated(
        self, response: ocsp.OCSPResponse, certificate: x509.Certificate, issuer: x509.Certificate
    ) -> datetime.datetime:
        """Requires that a response says that a certificate is good, and returns until when."""
        status = response.response_status
        if status != ocsp.OCSPResponseStatus.SUCCESSFUL:
            later = status in (ocsp.OCSPResponseStatus.TRY_LATER, ocsp.OCSPResponseStatus.INTERNAL_ERROR)
            raise RevocationError(f"The responder answered {status.name}.", retryable=later)
        try:
            _require_signature(response, _responder(response, issuer, self.SKEW))
            answers = [answer for answer in response.responses if _is_about(answer, certificate, issuer)]
        except RevocationError:
            raise
        except Exception as error:
            raise RevocationError("The OCSP response cannot be checked.") from error
        states = {answer.certificate_status for answer in answers}
        if ocsp.OCSPCertStatus.REVOKED in states:
            raise RevocationError(f"{_name(certificate)} is revoked.")
        if states != {ocsp.OCSPCertStatus.GOOD}:
            raise RevocationError(f"The responder does not know {_name(certificate)}.")
        now = _now()
        for answer in answers:
            update = answer.next_update_utc
            if update is not None and answer.this_update_utc - self.SKEW <= now <= update + self.SKEW:
                return update
        raise RevocationError(f"The answer about {_name(certificate)} is not current.")


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.timezone.utc)


def _name(certificate: x509.Certificate) -> str:
    return f'The certificate "{certificate.subject.rfc4514_string()}"'


def _key(certificate: x509.Certificate) -> bytes:
    return certificate.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def _responders(certificate: x509.Certificate) -> List[str]:
    try:
        access = certificate.extensions.get_extension_for_class(x509.AuthorityInformationAccess).value
    except (x509.ExtensionNotFound, ValueError):
        return []
    return [
        description.access_location.value
        for description in access
        if description.access_method == AuthorityInformationAccessOID.OCSP
        and isinstance(description.access_location, x509.UniformResourceIdentifier)
    ]


def _is_about(answer: Any, certificate: x509.Certificate, issuer: x509.Certificate) -> bool:
    if answer.serial_number != certificate.serial_number:
        return False
    named = ocsp.OCSPRequestBuilder().add_certificate(certificate, issuer, answer.hash_algorithm).build()
    stated = (answer.issuer_name_hash, answer.issuer_key_hash)
    return stated == (named.issuer_name_hash, named.issuer_key_hash)


def _responder(response: ocsp.OCSPResponse, issuer: x509.Certificate, skew: datetime.timedelta) -> x509.Certificate:
    """The certificate that signed a response: the issuer's, or one that it issued for this purpose."""

    def is_named(certificate: x509.Certificate) -> bool:
        if response.responder_key_hash is not None:
            digest = x509.SubjectKeyIdentifier.from_public_key(certificate.public_key()).digest
            return digest == response.responder_key_hash
        return certificate.subject == response.responder_name

    if is_named(issuer):
        return issuer
    for certificate in response.certificates:
        if is_named(certificate) and _is_appointed(certificate, issuer, skew):
            return certificate
    raise RevocationError("The OCSP response is not from the issuer, nor from whom it appointed.")


def _is_appointed(certificate: x509.Certificate, issuer: x509.Certificate, skew: datetime.timedelta) -> bool:
    now = _now()
    if not certificate.not_valid_before_utc - skew <= now <= certificate.not_valid_after_utc + skew:
        return False
    try:
        certificate.verify_directly_issued_by(issuer)
        purposes = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except (InvalidSignature, TypeError, ValueError, x509.ExtensionNotFound):
        return False
    return ExtendedKeyUsageOID.OCSP_SIGNING in purposes


def _require_signature(response: ocsp.OCSPResponse, signer: x509.Certificate) -> None:
    algorithm, key = response.signature_hash_algorithm, signer.public_key()
    if not isinstance(algorithm, (hashes.SHA256, hashes.SHA384, hashes.SHA512)):
        raise RevocationError("The OCSP response is signed with a hash that is not accepted.")
    try:
        if isinstance(key, ec.EllipticCurvePublicKey):
            key.verify(response.signature, response.tbs_response_bytes, ec.ECDSA(algorithm))
        elif isinstance(key, rsa.RSAPublicKey):
            key.verify(response.signature, response.tbs_response_bytes, padding.PKCS1v15(), algorithm)
        else:
            raise RevocationError("The OCSP response is signed with a key that is not accepted.")
    except InvalidSignature as error:
        raise RevocationError("The signature of the OCSP response does not match.") from error


# Apple's objects. Its converter spends some 100 µs on a transaction, most of it in setters that keep `environment` and
# `rawEnvironment` in step. The functions made here set the attributes of a new object directly. They exist only for
# classes, and are used only for values, about which nothing is unusual: all others are left to Apple's converter.


class _Unusual(Exception):
    pass


def _object(model: Type[M], members: Any) -> M:
    build = _BUILDERS.get(model)
    if build is None:
        build = _BUILDERS.setdefault(model, _builder(model) or _never)
    try:
        made: M = build(members)
    except _Unusual:
        made = _structured(model, members)
    return made


def _structured(kind: Any, value: Any) -> Any:
    return _get_cattrs_converter(kind).structure(value, kind)


def _never(members: Any) -> Any:
    raise _Unusual


_BUILDERS: Dict[Type[Any], Callable[[Any], Any]] = {}
_SCALARS = (str, int, bool)


def _builder(model: Type[Any]) -> Optional[Callable[[Any], Any]]:
    """A function that makes an object of a class from decoded JSON, or ``None`` if the class is unusual."""
    initialize = getattr(model, "__attrs_post_init__", None)
    if initialize is not None and initialize is not AttrsRawValueAware.__attrs_post_init__:
        return None
    if hasattr(model, "__attrs_pre_init__"):
        return None
    attributes = {attribute.name: attribute for attribute in attr.fields(model)}
    names: Dict[str, Any] = {
        "_new": object.__new__,
        "_set": object.__setattr__,
        "_model": model,
        "_unusual": _Unusual,
        "_dict": dict,
    }
    validations: List[str] = []
    lines = [
        "def build(members):",
        "    if type(members) is not _dict: raise _unusual",
        "    get = members.get",
        "    made = _new(_model)",
    ]
    for number, attribute in enumerate(attributes.values()):
        role = attribute.metadata.get(metadata_type_key)
        if role == "main":
            # Set together with its raw value.
            raw = _raw_name(attribute.name)
            if raw not in attributes or initialize is None:
                return None
            continue
        if attribute.type is None or isinstance(attribute.type, str):
            return None
        required = attribute.default is attr.NOTHING or bool(attribute.metadata.get(metadata_required_key))
        if not attribute.init or attribute.converter is not None:
            return None
        if attribute.validator is not None and role != "raw":
            names.update({f"_validator{number}": attribute.validator, f"_attribute{number}": attribute})
            validations.append(f"        _validator{number}(made, _attribute{number}, made.{attribute.name})")
        if not required and attribute.default is not None:
            return None
        kind, is_optional = _without_none(attribute.type)
        key = attribute.metadata.get(metadata_key) if role == "raw" else attribute.name
        lines.append(f"    value = get({key!r})")
        if required or not is_optional:
            lines.append("    if value is None: raise _unusual")
        lines.append("    if value is not None:")
        if kind in _SCALARS:
            lines.append(f"        if type(value) is not {kind.__name__}: raise _unusual")
        elif role == "raw":
            return None
        else:
            names[f"_convert{number}"] = _conversion(kind)
            lines.append(f"        value = _convert{number}(value)")
        lines.append(f"    _set(made, {attribute.name!r}, value)")
        if role == "raw":
            enumeration = _without_none(attributes[key].type)[0] if key in attributes else None
            if attribute.name != _raw_name(key) or not _is_plain_enumeration(enumeration) or kind is bool:
                return None
            names[f"_member{number}"] = getattr(enumeration, "_value2member_map_").get
            lines.append(f"    _set(made, {key!r}, None if value is None else _member{number}(value))")
    if validations:
        # Apple's converter tells in its own way what is wrong.
        lines += ["    try:", *validations, "    except Exception:", "        raise _unusual from None"]
    lines.append("    return made")
    # The names in the text are those of the attributes of a class, which are identifiers, in quotes.
    exec("\n".join(lines), names)
    build: Callable[[Any], Any] = names["build"]
    return build


def _conversion(kind: Any) -> Callable[[Any], Any]:
    """A function that makes an attribute's value, neither ``None`` nor a scalar, from decoded JSON."""
    if isinstance(kind, type) and attr.has(kind):
        return lambda value: _object(kind, value)
    if get_origin(kind) is list:
        (element,) = get_args(kind)
        if element in _SCALARS:
            return lambda values: _scalars(element, values)
        if isinstance(element, type) and attr.has(element):
            return lambda values: [_object(element, value) for value in _list(values)]
    return lambda value: _structured(kind, value)


def _scalars(element: Type[Any], values: Any) -> List[Any]:
    if any(type(value) is not element for value in _list(values)):
        raise _Unusual
    return list(values)


def _list(values: Any) -> List[Any]:
    if type(values) is not list:
        raise _Unusual
    return values


def _without_none(kind: Any) -> Tuple[Any, bool]:
    if get_origin(kind) is Union:
        others = [part for part in get_args(kind) if part is not type(None)]
        if len(others) == 1:
            return others[0], True
    return kind, False


def _raw_name(name: str) -> str:
    return "raw" + name[0].upper() + name[1:]


def _is_plain_enumeration(kind: Any) -> bool:
    members = getattr(kind, "_value2member_map_", None)
    if not members or not all(isinstance(value, (str, int)) for value in members):
        return False
    return not any("_missing_" in base.__dict__ for base in kind.__mro__ if base.__module__ != "enum")
