# SPDX-License-Identifier: Apache-2.0
"""What the tests of `receiptkit.appstore` need: an authority with an OCSP responder, and Apple's source package."""

import base64
import datetime
import functools
import http.server
import importlib.metadata
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.x509 import ocsp
from cryptography.x509.oid import AuthorityInformationAccessOID, ExtendedKeyUsageOID, NameOID

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = "app-store-server-library"
SOURCE, CHECKOUT = "RECEIPTKIT_APPLE_SDIST", "RECEIPTKIT_APPLE_CHECKOUT"
LEAF_MARKER, INTERMEDIATE_MARKER = "1.2.840.113635.100.6.11.1", "1.2.840.113635.100.6.2.1"
DAY = datetime.timedelta(days=1)


def now():
    return datetime.datetime.now(datetime.timezone.utc)


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def der(certificate):
    return certificate.public_bytes(serialization.Encoding.DER)


class Signer:
    """A private key with its chain of certificates, the signer's first."""

    def __init__(self, key, chain):
        self.key, self.chain = key, chain

    def jws(self, payload, **header):
        header = {"alg": "ES256", "x5c": [base64.b64encode(der(each)).decode() for each in self.chain], **header}
        content = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        signed = f"{base64url(json.dumps(header).encode())}.{base64url(content)}"
        r, s = decode_dss_signature(self.key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
        return f"{signed}.{base64url(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"


def certificate(
    name, key, issuer, issuer_key, *, begin, end, authority=None, marker=None, purpose=None, responder=None
):
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(end)
        .add_extension(x509.BasicConstraints(authority is not None, authority), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False)
        .add_extension(usage(authority is not None), critical=True)
    )
    if marker:
        extension = x509.UnrecognizedExtension(x509.ObjectIdentifier(marker), b"\x05\x00")
        builder = builder.add_extension(extension, critical=False)
    if purpose:
        builder = builder.add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
    if responder:
        addresses = [responder] if isinstance(responder, str) else responder
        access = [
            x509.AccessDescription(AuthorityInformationAccessOID.OCSP, x509.UniformResourceIdentifier(address))
            for address in addresses
        ]
        builder = builder.add_extension(x509.AuthorityInformationAccess(access), critical=False)
    return builder.sign(issuer_key, hashes.SHA256())


def usage(is_authority):
    uses = dict.fromkeys(
        "digital_signature content_commitment key_encipherment data_encipherment key_agreement key_cert_sign crl_sign "
        "encipher_only decipher_only".split(),
        False,
    )
    uses["key_cert_sign" if is_authority else "digital_signature"] = True
    return x509.KeyUsage(**uses)


class Authority:
    """A root, an intermediate and a signer that are marked as Apple's are, with keys made for the test."""

    def __init__(self, responder=None, begin=None, end=None):
        begin, end = begin or now() - 400 * DAY, end or now() + 400 * DAY
        keys = self.keys = [ec.generate_private_key(ec.SECP256R1()) for _ in range(3)]
        make = functools.partial(certificate, begin=begin, end=end)
        self.root = make("Test Root", keys[2], None, keys[2], authority=1)
        self.intermediate = make(
            "Test Intermediate",
            keys[1],
            self.root,
            keys[2],
            authority=0,
            marker=INTERMEDIATE_MARKER,
            responder=responder,
        )
        self.leaf = make("Test Signer", keys[0], self.intermediate, keys[1], marker=LEAF_MARKER, responder=responder)
        self.signer = Signer(keys[0], [self.leaf, self.intermediate, self.root])

    def issued(self, subject):
        """The issuer of one of the certificates, and its key."""
        return (self.root, self.keys[2]) if subject == self.intermediate else (self.intermediate, self.keys[1])

    def delegate(self, issuer, issuer_key, purpose=ExtendedKeyUsageOID.OCSP_SIGNING, end=DAY):
        """A certificate that may sign OCSP responses, and its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        made = certificate(
            "Test Responder", key, issuer, issuer_key, begin=now() - 9 * DAY, end=now() + end, purpose=purpose
        )
        return made, key


def xcode_signer():
    """A self-signed certificate like the one of an Xcode."""
    key = ec.generate_private_key(ec.SECP256R1())
    made = certificate("Test Xcode", key, None, key, begin=now() - 1200 * DAY, end=now() + 400 * DAY, authority=0)
    return Signer(key, [made])


class Responder:
    """An OCSP responder on loopback. `answer` changes what it says about the certificate with a serial number."""

    def __init__(self):
        self.requests, self.answers = [], {}
        responder = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                request = ocsp.load_der_ocsp_request(body)
                responder.requests.append(request.serial_number)
                status, content = responder.respond(request)
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, subject, **answer):
        self.answers[subject.serial_number] = answer

    def respond(self, request):
        for subject in (self.authority.intermediate, self.authority.leaf):
            if subject.serial_number == request.serial_number:
                answer = self.answers.get(subject.serial_number, {})
                if "content" in answer:
                    return answer.get("http", 200), answer["content"]
                return answer.get("http", 200), der(self.response(subject, **answer))
        return 200, der(ocsp.OCSPResponseBuilder.build_unsuccessful(ocsp.OCSPResponseStatus.UNAUTHORIZED))

    def response(
        self,
        subject,
        state=ocsp.OCSPCertStatus.GOOD,
        age=DAY,
        validity=2 * DAY,
        signer=None,
        about=None,
        issued_by=None,
        failure=None,
        by_name=False,
        http=None,
    ):
        if failure:
            return ocsp.OCSPResponseBuilder.build_unsuccessful(failure)
        issuer, key = self.authority.issued(subject)
        certificate_of_signer, key = signer or (issuer, key)
        revoked = state == ocsp.OCSPCertStatus.REVOKED
        update = now() - age
        encoding = ocsp.OCSPResponderEncoding.NAME if by_name else ocsp.OCSPResponderEncoding.HASH
        builder = (
            ocsp.OCSPResponseBuilder()
            .add_response(
                cert=about or subject,
                issuer=issued_by or issuer,
                algorithm=hashes.SHA1(),
                cert_status=state,
                this_update=update,
                next_update=update + validity if validity else None,
                revocation_time=update if revoked else None,
                revocation_reason=None,
            )
            .responder_id(encoding, certificate_of_signer)
        )
        if signer:
            builder = builder.certificates([certificate_of_signer])
        return builder.sign(key, hashes.SHA256())

    def close(self):
        self.server.shutdown()
        self.server.server_close()


# Apple's source package


def sdist():
    """The unpacked source package of Apple's library, in the version that is installed, or why it is not to be had."""
    version = importlib.metadata.version(PACKAGE)
    folder = ROOT / ".build/apple-sdist" / version
    if not folder.exists():
        with tempfile.TemporaryDirectory() as temporary:
            archive = os.environ.get(SOURCE)
            if not archive:
                command = [
                    sys.executable,
                    "-m",
                    "pip",
                    "download",
                    "--quiet",
                    "--disable-pip-version-check",
                    "--no-deps",
                ]
                command += ["--no-binary", ":all:", "--dest", temporary, f"{PACKAGE}=={version}"]
                result = subprocess.run(command, capture_output=True, text=True, timeout=300)
                archive = next(iter(pathlib.Path(temporary).glob("*.tar.gz")), None)
                if archive is None:
                    return None, f"pip cannot get the source of {PACKAGE} {version}: {result.stderr.strip()[-300:]}"
            unpacked = pathlib.Path(temporary) / "unpacked"
            with tarfile.open(archive) as opened:
                opened.extractall(unpacked, filter="data")
            folder.parent.mkdir(parents=True, exist_ok=True)
            # Complete or not at all, whenever this ends.
            partial = folder.with_suffix(f".{os.getpid()}")
            shutil.move(unpacked, partial)
            partial.rename(folder)
    tests = next(iter(folder.glob("*/tests")), None)
    return (tests.parent, None) if tests else (None, f"the source of {PACKAGE} {version} has no tests")


class Expected:
    """Stands for an object that Apple's tests look at, and learns from their assertions what they expect of it.

    The source package has the tests, and not the documents that they sign. So those are made from what is asserted.
    """

    def __init__(self):
        self._members, self._value = {}, None

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name.startswith("raw") and name[3:4].isupper():
            name = name[3].lower() + name[4:]
        return self._members.setdefault(name, Expected())

    def __getitem__(self, index):
        return self._members.setdefault(index, Expected())

    def __len__(self):
        # What is asserted about it does not matter: the elements that are looked at make the list.
        return 0

    def learn(self, value):
        self._value = getattr(value, "value", value)

    def document(self):
        if not self._members:
            return (
                None
                if self._value is None
                else self._value if isinstance(self._value, (int, str, list)) else str(self._value)
            )
        if all(isinstance(key, int) for key in self._members):
            return [self._members[index].document() for index in sorted(self._members)]
        members = {name: member.document() for name, member in self._members.items()}
        return {name: value for name, value in members.items() if value is not None}


def learning(case):
    """A class of tests whose assertions teach the `Expected` that they are about."""

    class Learning(case):
        def assertEqual(self, first, second, msg=None):
            for expected, other in ((first, second), (second, first)):
                if isinstance(expected, Expected):
                    expected.learn(other)
                    return
            if isinstance(first, int) and isinstance(second, int):
                return
            super().assertEqual(first, second, msg)

        def assertTrue(self, value, msg=None):
            if isinstance(value, Expected):
                value.learn(True)

        def assertFalse(self, value, msg=None):
            if isinstance(value, Expected):
                value.learn(False)

        def assertIsNone(self, value, msg=None):
            pass

        def assertIsNotNone(self, value, msg=None):
            pass

    return Learning


def milliseconds(instant):
    return int(instant.timestamp() * 1000)
