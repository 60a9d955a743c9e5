# SPDX-License-Identifier: Apache-2.0
"""An authority that is kept: further signers, revocation lists and OCSP, read by openssl and by receipt-tool; and what
damages it."""

import concurrent.futures
import http.server
import json
import os
import pathlib
import pty
import resource
import select
import shutil
import signal
import subprocess
import threading
import time

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509 import ocsp

import samples
from tool import INVALID, UNDETERMINED, UNREADABLE, USAGE, VALID
from world import SECRET, lower_iterations, mount, ocsp_request, unmount

CANNOT_CREATE, NOT_WRITTEN = 73, 74
SIGN = ["--format", "signed-transaction", "purchase.json"]


class Authority:
    """A folder with an authority of two signers, `one` and `two`, and a receipt of each."""

    def __init__(self, tool, folder: pathlib.Path):
        self.tool, self.folder = tool, folder

    def run(self, *arguments, code=0, **options):
        run = self.tool.run(*arguments, cwd=self.folder, **options)
        assert run.code == code, (arguments, run.code, run.out, run.err)
        return run

    def fails(self, *arguments, code, error, **options):
        run = self.run(*arguments, "--json", code=code, **options)
        assert run.lines[-1]["code"] == error, run.out
        return run

    def openssl(self, *arguments, code=0):
        done = subprocess.run(["openssl", *map(str, arguments)], cwd=self.folder, capture_output=True, timeout=60, text=True)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def sign(self, name, output=None):
        self.run("sign", "--identity", name, *SIGN, "-o", output or f"{name}.jws")

    def lists(self, *issuers):
        """Signs the lists, and returns the options that name them."""
        options = []
        for issuer in issuers or ["root", "intermediate-1"]:
            self.run("identity", "crl", "authority", "--issuer", issuer, *SECRET, "-o", f"{issuer}.crl")
            options += ["--crl", f"{issuer}.crl"]
        return options

    def verdict(self, receipt, *options):
        run = self.tool.run("verify", "--trust", "root.cer", "--json", *options, receipt, cwd=self.folder)
        return run.lines[0]

    def serials(self) -> list[str]:
        return [line["serialNumber"] for line in self.run("identity", "list", "authority", "--json").lines]

    def copy(self, folder: pathlib.Path) -> "Authority":
        shutil.copytree(self.folder, folder)
        return Authority(self.tool, folder)


@pytest.fixture(scope="module")
def built(receipt_tool, tmp_path_factory) -> Authority:
    authority = Authority(receipt_tool, tmp_path_factory.mktemp("authority"))
    (authority.folder / "authority.txt").write_text("correct horse battery staple\n")
    (authority.folder / "purchase.json").write_text(json.dumps(samples.TRANSACTION))
    authority.run("identity", "create", "one", "--organization", "Läden & Söhne", "--country", "DE",
                  "--keep-root", "authority", *SECRET)  # fmt: skip
    lower_iterations(authority.folder / "authority", authority.folder / "authority.txt")
    authority.run("identity", "issue", "authority", "two", *SECRET, "--common-name", "Second Signer")
    shutil.copy(authority.folder / "one/root.cer", authority.folder / "root.cer")
    for name in ("one", "two"):
        authority.sign(name)
    authority.openssl("x509", "-inform", "DER", "-in", "root.cer", "-out", "root.pem")
    return authority


@pytest.fixture
def authority(built, tmp_path) -> Authority:
    return built.copy(tmp_path / "copy")


def chain(folder: pathlib.Path) -> list[x509.Certificate]:
    return x509.load_pem_x509_certificates((folder / "chain.pem").read_bytes())


class TestRotation:
    def test_both_signers_verify_under_the_same_root(self, authority):
        for name in ("one", "two"):
            assert authority.verdict(f"{name}.jws")["verdict"] == "valid"
            authority.openssl("verify", "-x509_strict", "-CAfile", "root.pem", "-untrusted", f"{name}/chain.pem",
                              f"{name}/chain.pem")  # fmt: skip
        first, second = (chain(authority.folder / name) for name in ("one", "two"))
        assert first[1:] == second[1:] and first[0].public_key() != second[0].public_key()
        assert second[0].subject.rfc4514_string() == "CN=Second Signer,O=Läden & Söhne,C=DE"

    def test_a_retired_signer(self, authority):
        """What it signed before stays valid if the verifier accepts that; what it signs later is refused."""
        authority.run("identity", "revoke", "authority", "one/chain.pem", "--reason", "superseded")
        lists = authority.lists()
        verdict = authority.verdict("one.jws", *lists)
        assert verdict["verdict"] == "invalid" and verdict["reason"]["code"] == "checker-refused", verdict
        assert "(superseded)" in verdict["reason"]["message"]
        earlier = ["--accept-signed-before-revocation"]
        assert authority.verdict("one.jws", *lists, *earlier)["verdict"] == "valid"
        assert authority.verdict("two.jws", *lists)["verdict"] == "valid"
        late = samples.TRANSACTION | {"signedDate": int(time.time() * 1000) + 1000}
        (authority.folder / "purchase.json").write_text(json.dumps(late))
        authority.sign("one", "late.jws")
        assert authority.verdict("late.jws", *lists, *earlier)["verdict"] == "invalid"
        # The grave reason that is found out later is not softened.
        authority.run("identity", "revoke", "authority", "one/chain.pem", "--reason", "keyCompromise")
        assert authority.verdict("one.jws", *authority.lists(), *earlier)["verdict"] == "invalid"
        authority.fails("identity", "revoke", "authority", "one/chain.pem", "--reason", "superseded",
                        code=INVALID, error="already-revoked")  # fmt: skip

    def test_a_revoked_intermediate_is_replaced(self, authority):
        intermediate = chain(authority.folder / "one")[1]
        serial = f"{intermediate.serial_number:x}"
        authority.run("identity", "revoke", "authority", serial, "--reason", "cACompromise")
        authority.fails("identity", "issue", "authority", "three", *SECRET, code=USAGE, error="unusable-issuer")
        authority.run("identity", "intermediate", "authority", *SECRET)
        authority.run("identity", "issue", "authority", "three", *SECRET)
        authority.sign("three")
        lists = authority.lists("root", "intermediate-1", "intermediate-2")
        assert authority.verdict("three.jws", *lists)["verdict"] == "valid"
        for name in ("one", "two"):
            assert authority.verdict(f"{name}.jws", *lists)["verdict"] == "invalid"
        check = ["verify", "-CAfile", "root.pem", "-crl_check_all", "-CRLfile", "lists.pem"]
        (authority.folder / "lists.pem").write_text(
            "".join(authority.openssl("crl", "-inform", "DER", "-in", path) for path in lists[1::2]))
        authority.openssl(*check, "-untrusted", "three/chain.pem", "three/chain.pem")
        assert "revoked" in authority.openssl(*check, "-untrusted", "one/chain.pem", "one/chain.pem", code=2)

    def test_an_expired_intermediate(self, receipt_tool, tmp_path):
        """openssl makes one that has expired in place of the authority's."""
        authority = Authority(receipt_tool, tmp_path)
        (tmp_path / "authority.txt").write_text("correct horse battery staple\n")
        authority.run("identity", "create", "one", "--organization", "X", "--keep-root", "authority", *SECRET)
        old = x509.load_pem_x509_certificates((tmp_path / "authority/intermediate-1/chain.pem").read_bytes())
        key = serialization.load_pem_private_key(
            (tmp_path / "authority/root/key.pem").read_bytes(), b"correct horse battery staple"
        )
        builder = x509.CertificateBuilder(
            old[0].issuer, old[0].subject, old[0].public_key(), old[0].serial_number, old[0].not_valid_before_utc,
            old[0].not_valid_before_utc.replace(year=2020), list(old[0].extensions))  # fmt: skip
        expired = builder.sign(key, hashes.SHA256())
        pem = b"".join(c.public_bytes(serialization.Encoding.PEM) for c in (expired, old[1]))
        (tmp_path / "authority/intermediate-1/chain.pem").write_bytes(pem)
        index = tmp_path / "authority/intermediate-1/index.txt"
        index.write_text(index.read_text().replace(
            old[0].fingerprint(hashes.SHA256()).hex(), expired.fingerprint(hashes.SHA256()).hex()))  # fmt: skip
        run = authority.fails("identity", "issue", "authority", "two", *SECRET, code=USAGE, error="unusable-issuer")
        assert "identity intermediate" in run.err and not (tmp_path / "two").exists()
        authority.run("identity", "intermediate", "authority", *SECRET)
        authority.run("identity", "issue", "authority", "two", *SECRET)

    def test_a_leaf_does_not_outlive_its_issuer(self, authority):
        authority.run("identity", "issue", "authority", "long", *SECRET, "--days", "100000")
        leaf, intermediate, _ = chain(authority.folder / "long")
        assert leaf.not_valid_after_utc == intermediate.not_valid_after_utc

    def test_rsa_signers_of_app_receipts(self, authority):
        content = {"bundleId": "a", "applicationVersion": "1", "environment": "Production", "inApp": []}
        (authority.folder / "app.json").write_text(json.dumps(content))
        authority.run("identity", "issue", "authority", "rsa", *SECRET, "--algorithm", "rsa2048")
        authority.run("sign", "--identity", "rsa", "--format", "app-receipt", "app.json", "-o", "app.der")
        assert authority.verdict("app.der", *authority.lists())["verdict"] == "valid"


class TestKeysOfOthers:
    def test_a_request_and_a_public_key(self, authority):
        authority.openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "key.pem")
        authority.openssl("req", "-new", "-key", "key.pem", "-subj", "/CN=whatever", "-out", "request.csr")
        authority.openssl("pkey", "-in", "key.pem", "-pubout", "-out", "public.pem")
        for name, option in (("a", ["--request", "request.csr"]), ("b", ["--public-key", "public.pem"])):
            authority.run("identity", "issue", "authority", name, *SECRET, *option)
            assert sorted(os.listdir(authority.folder / name)) == ["chain.pem", "root.cer"]
            # The names of the request are not used.
            assert "whatever" not in chain(authority.folder / name)[0].subject.rfc4514_string()
            authority.run("sign", "--key", "key.pem", "--chain", f"{name}/chain.pem", *SIGN, "-o", f"{name}.jws")
            assert authority.verdict(f"{name}.jws")["verdict"] == "valid"

    def test_a_request_whose_key_did_not_sign_it(self, authority):
        authority.openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "key.pem")
        authority.openssl("req", "-new", "-key", "key.pem", "-subj", "/CN=x", "-outform", "DER", "-out", "request.der")
        request = bytearray((authority.folder / "request.der").read_bytes())
        before = authority.serials()
        for position in (len(request) - 3, request.index(b"\x03\x42\x00\x04") + 20):
            damaged = bytearray(request)
            damaged[position] ^= 1
            (authority.folder / "damaged.der").write_bytes(damaged)
            authority.fails("identity", "issue", "authority", "new", *SECRET, "--request", "damaged.der",
                            code=UNREADABLE, error="malformed-key")  # fmt: skip
        assert authority.serials() == before

    @pytest.mark.parametrize("arguments", [["-name", "secp384r1"], ["-name", "secp256k1"]])
    def test_a_key_that_signs_no_receipts(self, authority, arguments):
        authority.openssl("ecparam", *arguments, "-genkey", "-noout", "-out", "key.pem")
        authority.openssl("pkey", "-in", "key.pem", "-pubout", "-out", "public.pem")
        authority.fails("identity", "issue", "authority", "new", *SECRET, "--public-key", "public.pem",
                        code=USAGE, error="unsuitable-key")  # fmt: skip


class TestLists:
    def test_the_list_as_openssl_reads_it(self, authority):
        authority.run("identity", "revoke", "authority", "one/chain.pem", "--reason", "keyCompromise",
                      "--date", "2026-01-02T03:04:05Z")  # fmt: skip
        authority.lists()
        first = x509.load_der_x509_crl((authority.folder / "intermediate-1.crl").read_bytes())
        authority.lists()
        second = x509.load_der_x509_crl((authority.folder / "intermediate-1.crl").read_bytes())
        numbers = [c.extensions.get_extension_for_class(x509.CRLNumber).value.crl_number for c in (first, second)]
        assert numbers == [1, 2]
        leaf, intermediate, _ = chain(authority.folder / "one")
        assert second.is_signature_valid(intermediate.public_key())
        entry = second.get_revoked_certificate_by_serial_number(leaf.serial_number)
        assert entry.revocation_date_utc.isoformat() == "2026-01-02T03:04:05+00:00"
        assert entry.extensions.get_extension_for_class(x509.CRLReason).value.reason == x509.ReasonFlags.key_compromise
        assert (second.next_update_utc - second.last_update_utc).days == 30 and len(second) == 1

    def test_every_reason(self, authority):
        reasons = ["unspecified", "keyCompromise", "cACompromise", "affiliationChanged", "superseded",
                   "cessationOfOperation", "privilegeWithdrawn"]  # fmt: skip
        for number, reason in enumerate(reasons):
            authority.run("identity", "issue", "authority", f"s{number}", *SECRET)
            authority.run("identity", "revoke", "authority", f"s{number}/chain.pem", "--reason", reason)
        text = authority.openssl("crl", "-inform", "DER", "-noout", "-text", "-in", (authority.lists(), "intermediate-1.crl")[1])
        for shown in ("Key Compromise", "CA Compromise", "Affiliation Changed", "Superseded", "Cessation Of Operation",
                      "Privilege Withdrawn"):  # fmt: skip
            assert text.count(shown) == 1, text
        # RFC 5280 section 5.3.1: unspecified is absent.
        assert text.count("CRL entry extensions") == len(reasons) - 1
        for reason in ("certificateHold", "removeFromCRL", "keycompromise", "aACompromise"):
            run = authority.tool.run("identity", "revoke", "authority", "two/chain.pem", "--reason", reason, cwd=authority.folder)
            assert run.code == USAGE, run.err
        assert authority.serials() and authority.run("identity", "list", "authority").out.count("revoked") == len(reasons)

    def test_a_date_in_the_future(self, authority):
        authority.fails("identity", "revoke", "authority", "one/chain.pem", "--reason", "superseded",
                        "--date", "2999-01-01T00:00:00Z", code=USAGE, error="invalid-value")  # fmt: skip

    def test_a_missing_list_leaves_it_open(self, authority):
        root, intermediate = authority.lists()[1::2]
        for given in ([root], [intermediate]):
            verdict = authority.verdict("one.jws", *[f"--crl={path}" for path in given])
            assert verdict["verdict"] == "undetermined", verdict
            assert "none is of its issuer" in verdict["reason"]["message"], verdict
        assert authority.verdict("one.jws", "--crl", root, "--crl", intermediate)["verdict"] == "valid"

    def test_a_list_of_another_issuer_of_the_same_name(self, authority, tmp_path):
        other = Authority(authority.tool, tmp_path / "other")
        other.folder.mkdir()
        (other.folder / "authority.txt").write_text("correct horse battery staple\n")
        other.run("identity", "create", "one", "--organization", "Läden & Söhne", "--country", "DE",
                  "--keep-root", "authority", *SECRET)  # fmt: skip
        other.lists()
        assert chain(other.folder / "one")[1].subject == chain(authority.folder / "one")[1].subject
        root, _ = authority.lists()[1::2]
        verdict = authority.verdict("one.jws", "--crl", root, "--crl", str(other.folder / "intermediate-1.crl"))
        assert verdict["verdict"] == "undetermined" and "bad-signature" in verdict["reason"]["message"], verdict
        # Beside the right one it does no harm.
        lists = authority.lists()
        both = [*lists, "--crl", str(other.folder / "intermediate-1.crl")]
        assert authority.verdict("one.jws", *both)["verdict"] == "valid"

    def crafted(self, authority, *, last_update, next_update, extension=None, revoked=()):
        """A list of the intermediate that its own key signs."""
        import datetime

        key = serialization.load_pem_private_key(
            (authority.folder / "authority/intermediate-1/key.pem").read_bytes(), b"correct horse battery staple"
        )
        now = datetime.datetime.now(datetime.UTC)
        builder = (
            x509.CertificateRevocationListBuilder()
            .issuer_name(chain(authority.folder / "one")[1].subject)
            .last_update(now + datetime.timedelta(days=last_update))
            .next_update(now + datetime.timedelta(days=next_update))
        )
        if extension is not None:
            builder = builder.add_extension(extension, critical=True)
        for certificate in revoked:
            builder = builder.add_revoked_certificate(
                x509.RevokedCertificateBuilder().serial_number(certificate.serial_number)
                .revocation_date(now - datetime.timedelta(days=9)).build())  # fmt: skip
        pem = builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
        (authority.folder / "crafted.pem").write_bytes(pem)
        return "crafted.pem"

    @pytest.mark.parametrize(("days", "word"), [((-9, -1), "stale"), ((1, 9), "not-yet-valid")])
    def test_a_list_out_of_date(self, authority, days, word):
        root, _ = authority.lists()[1::2]
        crafted = self.crafted(authority, last_update=days[0], next_update=days[1])
        verdict = authority.verdict("one.jws", "--crl", root, "--crl", crafted)
        assert verdict["verdict"] == "undetermined" and word in verdict["reason"]["message"], verdict

    def test_an_unknown_critical_extension(self, authority):
        unknown = x509.UnrecognizedExtension(x509.ObjectIdentifier("1.2.3.4"), b"\x05\x00")
        crafted = self.crafted(authority, last_update=-1, next_update=9, extension=unknown)
        run = authority.tool.run("verify", "--trust", "root.cer", "--crl", crafted, "--json", "one.jws", cwd=authority.folder)
        assert run.code == UNREADABLE and "1.2.3.4" in run.err, run.err

    def test_the_newest_list_counts(self, authority):
        root, current = authority.lists()[1::2]
        older = self.crafted(authority, last_update=-5, next_update=9, revoked=[chain(authority.folder / "one")[0]])
        for order in ([older, current], [current, older]):
            lists = [f"--crl={path}" for path in (root, *order)]
            assert authority.verdict("one.jws", *lists)["verdict"] == "valid"
        assert authority.verdict("one.jws", f"--crl={root}", f"--crl={older}")["verdict"] == "invalid"

    def test_a_damaged_list(self, authority):
        root, current = authority.lists()[1::2]
        whole = (authority.folder / current).read_bytes()
        step = max(1, len(whole) // 60)
        for position in range(0, len(whole), step):
            damaged = bytearray(whole)
            damaged[position] ^= 0x01
            (authority.folder / "damaged.crl").write_bytes(damaged)
            run = authority.tool.run(
                "verify", "--trust", "root.cer", "--crl", root, "--crl", "damaged.crl", "--json", "one.jws",
                cwd=authority.folder)  # fmt: skip
            assert run.code in (UNDETERMINED, UNREADABLE), (position, run.out)
        for length in (0, 1, len(whole) // 2, len(whole) - 1):
            (authority.folder / "damaged.crl").write_bytes(whole[:length])
            run = authority.tool.run("verify", "--trust", "root.cer", "--crl", "damaged.crl", "one.jws", cwd=authority.folder)
            assert run.code == UNREADABLE, run.out


class Responder(http.server.BaseHTTPRequestHandler):
    authority: Authority

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        answered = subprocess.run(
            [self.authority.tool.path, "identity", "ocsp", "authority", "-", "--responder", "leaves", "--responder",
             "intermediates", "-o", "-"],
            input=body, cwd=self.authority.folder, capture_output=True, timeout=60)  # fmt: skip
        self.send_response(200 if answered.returncode == 0 else 500)
        self.send_header("Content-Type", "application/ocsp-response")
        self.send_header("Content-Length", str(len(answered.stdout)))
        self.end_headers()
        self.wfile.write(answered.stdout)

    def log_message(self, *_):
        pass


class TestOCSP:
    @pytest.fixture
    def responding(self, authority):
        authority.run("identity", "responder", "authority", "leaves", *SECRET)
        authority.run("identity", "responder", "authority", "intermediates", "--issuer", "root", *SECRET)
        certificates = chain(authority.folder / "one")
        for name, certificate in zip(("leaf", "intermediate"), certificates):
            pem = certificate.public_bytes(serialization.Encoding.PEM)
            (authority.folder / f"{name}.pem").write_bytes(pem)
        return authority

    @pytest.fixture
    def url(self, responding):
        handler = type("Handler", (Responder,), {"authority": responding})
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()

    def test_openssl_asks_with_a_nonce(self, responding, url):
        def ask(certificate, issuer, *options):
            return responding.openssl("ocsp", *options, "-issuer", issuer, "-cert", certificate, "-url", url, "-CAfile",
                                      "root.pem")  # fmt: skip

        assert "leaf.pem: good" in (out := ask("leaf.pem", "intermediate.pem")) and "Response verify OK" in out
        assert "WARNING: no nonce" not in out
        assert "intermediate.pem: good" in ask("intermediate.pem", "root.pem", "-sha256")
        responding.run("identity", "revoke", "authority", "one/chain.pem", "--reason", "keyCompromise")
        out = ask("leaf.pem", "intermediate.pem")
        assert "leaf.pem: revoked" in out and "Reason: keyCompromise" in out, out

    def test_receipt_tool_asks(self, responding, url):
        options = ["--check", "ocsp", "--base-url", url, "--allow-plain-http", "--deadline", "60"]
        for name in ("one", "two"):
            verdict = responding.verdict(f"{name}.jws", *options)
            assert verdict["verdict"] == "valid", verdict
        responding.run("identity", "revoke", "authority", "one/chain.pem", "--reason", "superseded")
        assert responding.verdict("one.jws", *options)["verdict"] == "invalid"
        assert responding.verdict("one.jws", *options, "--accept-signed-before-revocation")["verdict"] == "valid"
        assert responding.verdict("two.jws", *options)["verdict"] == "valid"

    def test_openssl_answers_from_our_index(self, responding):
        """The index is that of `openssl ca`; an answer is signed by our responder."""
        responding.run("identity", "revoke", "authority", "one/chain.pem", "--reason", "superseded")
        (responding.folder / "request.der").write_bytes(ocsp_request(responding.folder / "one/chain.pem"))
        responding.openssl("ocsp", "-index", "authority/intermediate-1/index.txt", "-CA", "intermediate.pem", "-rsigner",
                           "leaves/chain.pem", "-rkey", "leaves/key.pem", "-reqin", "request.der", "-respout", "response.der")  # fmt: skip
        response = ocsp.load_der_ocsp_response((responding.folder / "response.der").read_bytes())
        assert response.certificate_status == ocsp.OCSPCertStatus.REVOKED
        assert response.revocation_reason == x509.ReasonFlags.superseded

    def answer(self, authority, request: bytes, *options, responders=("leaves", "intermediates")):
        run = subprocess.run(
            [authority.tool.path, "identity", "ocsp", "authority", "-", "-o", "-",
             *[part for name in responders for part in ("--responder", name)], *options],
            input=request, cwd=authority.folder, capture_output=True, timeout=60)  # fmt: skip
        assert run.returncode == 0, run.stderr
        return ocsp.load_der_ocsp_response(run.stdout)

    def test_the_nonce(self, responding):
        for length in (1, 32, 128):
            nonce = os.urandom(length)
            request = ocsp_request(responding.folder / "one/chain.pem", nonce)
            found = self.answer(responding, request).extensions.get_extension_for_class(x509.OCSPNonce)
            assert found.value.nonce == nonce
        # RFC 9654 section 2.1.
        for length in (0, 129):
            request = ocsp_request(responding.folder / "one/chain.pem", os.urandom(length))
            assert self.answer(responding, request).response_status == ocsp.OCSPResponseStatus.MALFORMED_REQUEST
        assert not list(self.answer(responding, ocsp_request(responding.folder / "one/chain.pem")).extensions)

    def test_what_it_does_not_know(self, responding, tmp_path):
        _, intermediate, root = chain(responding.folder / "one")
        key_hash, name_hash = (
            hashes.Hash(hashes.SHA1()) for _ in range(2)
        )
        name_hash.update(intermediate.subject.public_bytes())
        key_hash.update(intermediate.public_key().public_bytes(
            serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint))  # fmt: skip
        builder = ocsp.OCSPRequestBuilder().add_certificate_by_hash(
            name_hash.finalize(), key_hash.finalize(), 12345, hashes.SHA1()
        )
        response = self.answer(responding, builder.build().public_bytes(serialization.Encoding.DER))
        assert response.certificate_status == ocsp.OCSPCertStatus.UNKNOWN
        # Another issuer's certificate, and an issuer for which nobody signs.
        other = ocsp.OCSPRequestBuilder().add_certificate_by_hash(bytes(20), bytes(20), 1, hashes.SHA1())
        request = other.build().public_bytes(serialization.Encoding.DER)
        assert self.answer(responding, request).response_status == ocsp.OCSPResponseStatus.UNAUTHORIZED
        request = ocsp_request(responding.folder / "one/chain.pem")
        response = self.answer(responding, request, responders=["intermediates"])
        assert response.response_status == ocsp.OCSPResponseStatus.UNAUTHORIZED
        for garbage in (b"", b"\x30", b"\x30\x00", os.urandom(300), b"\x30\x80" + bytes(200)):
            response = self.answer(responding, garbage)
            assert response.response_status == ocsp.OCSPResponseStatus.MALFORMED_REQUEST


class TestAttacks:
    def issue(self, authority, code, error):
        before = sorted(os.listdir(authority.folder))
        run = authority.fails("identity", "issue", "authority", "new", *SECRET, code=code, error=error)
        assert sorted(os.listdir(authority.folder)) == before
        return run

    def test_swapped_keys(self, authority):
        root, intermediate = (authority.folder / f"authority/{name}/key.pem" for name in ("root", "intermediate-1"))
        contents = root.read_bytes(), intermediate.read_bytes()
        root.write_bytes(contents[1]), intermediate.write_bytes(contents[0])
        self.issue(authority, UNREADABLE, "key-mismatch")
        authority.fails("identity", "crl", "authority", *SECRET, "-o", "new", code=UNREADABLE, error="key-mismatch")
        authority.fails("identity", "intermediate", "authority", *SECRET, code=UNREADABLE, error="key-mismatch")

    def test_truncated_keys(self, authority):
        key = authority.folder / "authority/intermediate-1/key.pem"
        whole = key.read_bytes()
        for length in (0, 10, len(whole) // 2, len(whole) - 20):
            key.write_bytes(whole[:length])
            self.issue(authority, UNREADABLE, "malformed-key")
        key.unlink()
        self.issue(authority, UNREADABLE, "unreadable-file")

    def test_a_wrong_passphrase(self, authority):
        (authority.folder / "authority.txt").write_text("correct horse battery stable\n")
        self.issue(authority, UNREADABLE, "wrong-passphrase")
        run = authority.fails("identity", "issue", "authority", "new", code=USAGE, error="passphrase-required")
        assert "correct horse" not in run.out + run.err

    @pytest.mark.parametrize("passphrase", ["", "short"])
    def test_a_weak_passphrase(self, authority, passphrase):
        (authority.folder / "weak.txt").write_text(passphrase)
        authority.fails("identity", "create", "new", "--organization", "X", "--keep-root", "kept",
                        "--authority-passphrase-file", "weak.txt", code=USAGE, error="invalid-value")  # fmt: skip
        assert not (authority.folder / "kept").exists() and not (authority.folder / "new").exists()

    def test_keys_are_encrypted_and_private(self, authority):
        authority.run("identity", "create", "another", "--organization", "X", "--keep-root", "new", *SECRET)
        for name in ("root", "intermediate-1"):
            key = authority.folder / f"new/{name}/key.pem"
            assert key.stat().st_mode & 0o777 == 0o600
            assert key.read_text().startswith("-----BEGIN ENCRYPTED PRIVATE KEY-----")
            text = authority.openssl("asn1parse", "-in", key)
            assert "PBES2" in text and "hmacWithSHA256" in text and "aes-256-cbc" in text and ":0927C0" in text, text
        assert (authority.folder / "new").stat().st_mode & 0o777 == 0o700

    def test_a_key_that_others_may_read(self, authority):
        (authority.folder / "authority/intermediate-1/key.pem").chmod(0o644)
        run = authority.run("identity", "issue", "authority", "new", *SECRET)
        assert "chmod 600" in run.err

    @pytest.mark.parametrize("damage", ["missing", "empty", "cut", "cut at a line", "twice", "other issuer", "garbage"])
    def test_a_damaged_index(self, authority, damage):
        """A list made from it would let revoked certificates stand again."""
        index = authority.folder / "authority/intermediate-1/index.txt"
        lines = index.read_text().splitlines(keepends=True)
        assert len(lines) == 3
        if damage == "missing":
            index.unlink()
        else:
            index.write_text({
                "empty": "", "cut": "".join(lines)[:-5], "cut at a line": "".join(lines[:-1]),
                "twice": "".join([lines[0].replace(", 2", ", 3"), *lines[1:], lines[-1]]),
                "other issuer": (authority.folder / "authority/root/index.txt").read_text(),
                "garbage": "".join([*lines[:-1], "V\tnever\t\t01\tunknown\t/CN=x\n"]),
            }[damage])  # fmt: skip
        error = "unreadable-file" if damage == "missing" else "malformed-authority"
        self.issue(authority, UNREADABLE, error)
        authority.fails("identity", "crl", "authority", *SECRET, "-o", "new", code=UNREADABLE, error=error)
        authority.fails("identity", "list", "authority", code=UNREADABLE, error=error)

    def test_damaged_settings_and_numbers(self, authority):
        settings = authority.folder / "authority/authority.json"
        whole = settings.read_text()
        for text in ("", "{}", whole[:-10], whole.replace('"version":1', '"version":2'), whole.replace("es256", "md5")):
            settings.write_text(text)
            self.issue(authority, UNREADABLE, "malformed-authority")
        settings.write_text(whole)
        number = authority.folder / "authority/intermediate-1/crlnumber"
        for text in ("", "01", "x\n", "0\n", "-1\n", "7FFFFFFFFFFFFFFF\n", "FFFFFFFFFFFFFFFFFF\n"):
            number.write_text(text)
            authority.fails("identity", "crl", "authority", *SECRET, "-o", "new", code=UNREADABLE, error="malformed-authority")

    def test_an_intermediate_of_another_root(self, authority, receipt_tool, tmp_path):
        other = Authority(receipt_tool, tmp_path / "other")
        other.folder.mkdir()
        (other.folder / "authority.txt").write_text("correct horse battery staple\n")
        other.run("identity", "create", "one", "--organization", "X", "--keep-root", "authority", *SECRET)
        shutil.rmtree(authority.folder / "authority/intermediate-1")
        shutil.copytree(other.folder / "authority/intermediate-1", authority.folder / "authority/intermediate-1")
        self.issue(authority, UNREADABLE, "malformed-authority")

    def test_certificates_that_are_not_ours(self, authority, made):
        foreign = made.folder / "identity/chain.pem"
        authority.fails("identity", "revoke", "authority", str(foreign), "--reason", "superseded",
                        code=INVALID, error="unknown-certificate")  # fmt: skip
        authority.fails("identity", "revoke", "authority", "0badc0de", "--reason", "superseded",
                        code=INVALID, error="unknown-certificate")  # fmt: skip

    def test_a_certificate_that_the_index_lost(self, authority):
        """It is genuine, so that it can be revoked."""
        index = authority.folder / "authority/intermediate-1/index.txt"
        lines = index.read_text().splitlines(keepends=True)
        index.write_text(lines[0].replace(", 2", ", 1") + lines[2])
        authority.run("identity", "revoke", "authority", "one/chain.pem", "--reason", "keyCompromise")
        assert authority.verdict("one.jws", *authority.lists())["verdict"] == "invalid"

    def test_nothing_is_replaced(self, authority):
        before = authority.serials()
        authority.fails("identity", "issue", "authority", "one", *SECRET, code=CANNOT_CREATE, error="file-exists")
        authority.fails("identity", "create", "new", "--organization", "X", "--keep-root", "authority", *SECRET,
                        "--overwrite", code=CANNOT_CREATE, error="file-exists")  # fmt: skip
        assert authority.serials() == before and not (authority.folder / "new").exists()

    def test_processes_at_once(self, authority):
        def issue(number):
            return authority.tool.run("identity", "issue", "authority", f"p{number}", *SECRET, cwd=authority.folder)

        def revoke(number):
            return authority.tool.run("identity", "revoke", "authority", "one/chain.pem", "--reason", "superseded", cwd=authority.folder)

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            runs = list(pool.map(issue, range(12)))
            revoked = list(pool.map(revoke, range(4)))
        assert {run.code for run in runs} == {0}, [run.err for run in runs]
        assert sorted(run.code for run in revoked) == [0, INVALID, INVALID, INVALID]
        serials = authority.serials()
        assert len(serials) == len(set(serials)) == 1 + 2 + 12
        for number in range(12):
            assert f"{chain(authority.folder / f'p{number}')[0].serial_number:x}" in serials

    @pytest.mark.long
    def test_a_kill_at_any_time(self, authority):
        """Whatever was handed out is in the index, and the authority goes on."""
        started, killed = time.monotonic(), 0
        authority.run("identity", "issue", "authority", "before", *SECRET)
        duration = time.monotonic() - started
        for number in range(20):
            process = subprocess.Popen(
                [authority.tool.path, "identity", "issue", "authority", f"k{number}", *SECRET], cwd=authority.folder,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
            time.sleep(duration * (0.1 + number * 0.055))
            process.send_signal(signal.SIGKILL)
            killed += process.wait() == -signal.SIGKILL
            serials = set(authority.serials())
            for folder in authority.folder.glob("k*/chain.pem"):
                assert f"{chain(folder.parent)[0].serial_number:x}" in serials
            for file in authority.folder.glob("authority/intermediate-1/certificates/*.pem"):
                assert file.stem.lower() in serials
        assert killed > 3
        authority.run("identity", "issue", "authority", "after", *SECRET)

    @pytest.mark.long
    def test_a_kill_while_it_is_created(self, receipt_tool, tmp_path):
        authority = Authority(receipt_tool, tmp_path)
        (tmp_path / "authority.txt").write_text("correct horse battery staple\n")
        started, whole = time.monotonic(), 0
        authority.run("identity", "create", "i", "--organization", "X", "--keep-root", "a", *SECRET)
        duration = time.monotonic() - started
        for number in range(15):
            process = subprocess.Popen(
                [receipt_tool.path, "identity", "create", f"i{number}", "--organization", "X", "--keep-root", f"a{number}",
                 *SECRET], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
            time.sleep(duration * (0.3 + number * 0.1))
            process.kill()
            process.wait()
            # It is complete, or it is not there.
            if (tmp_path / f"a{number}").exists():
                whole += 1
                authority.run("identity", "issue", f"a{number}", f"after{number}", *SECRET)
        assert whole

    @pytest.mark.long
    @pytest.mark.parametrize("kilobytes", [4, 8, 16, 24])
    def test_a_full_disk(self, authority, tmp_path, kilobytes):
        mount(tmp_path / "small", "128k")
        try:
            shutil.copytree(authority.folder / "authority", tmp_path / "small/authority")
            filler = tmp_path / "small/filler"
            with filler.open("wb", buffering=0) as file:
                try:
                    while file.write(bytes(1024)) == 1024:
                        pass
                except OSError:
                    pass
            os.truncate(filler, max(0, filler.stat().st_size - kilobytes * 1024))
            small = Authority(authority.tool, tmp_path / "small")
            before = set(authority.serials())
            failed = 0
            for number in range(8):
                run = authority.tool.run(
                    "identity", "issue", tmp_path / "small/authority", f"f{number}", "--json", *SECRET, cwd=authority.folder)  # fmt: skip
                assert run.code in (0, CANNOT_CREATE), run.err
                failed += run.code != 0
                assert before <= set(small.serials())
                if run.code == 0:
                    assert run.lines[0]["certificates"][0]["serialNumber"] in small.serials()
            assert failed
            filler.unlink()
            small.run("identity", "issue", "authority", "after", "--authority-passphrase-file", authority.folder / "authority.txt")
        finally:
            unmount(tmp_path / "small")

    def test_another_process_that_keeps_it(self, authority):
        lock = subprocess.Popen(
            ["flock", authority.folder / "authority/lock", "sh", "-c", "echo held; sleep 2"], stdout=subprocess.PIPE
        )
        assert lock.stdout.readline() == b"held\n"
        started = time.monotonic()
        authority.run("identity", "issue", "authority", "new", *SECRET)
        assert time.monotonic() - started > 1
        lock.wait()


class Person:
    """Answers at a terminal."""

    def __init__(self, tool, folder, *arguments):
        self.process, self.terminal = None, None
        pid, self.terminal = pty.fork()
        if pid == 0:
            os.chdir(folder)
            os.execv(tool.path, [tool.path, *arguments])
        self.pid, self.seen = pid, b""

    def answer(self, prompt: str, text: str):
        deadline = time.monotonic() + 30
        while prompt.encode() not in self.seen:
            assert time.monotonic() < deadline, self.seen
            if select.select([self.terminal], [], [], 1)[0]:
                self.seen += os.read(self.terminal, 4096)
        # getpass throws away what was typed before it turned off the echo.
        time.sleep(0.3)
        self.seen = self.seen.split(prompt.encode(), 1)[1]
        os.write(self.terminal, text.encode() + b"\n")

    def end(self) -> tuple[int, str]:
        try:
            while select.select([self.terminal], [], [], 30)[0]:
                self.seen += os.read(self.terminal, 4096)
        except OSError:
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1]), self.seen.decode()


class TestTerminal:
    CREATE = ["identity", "create", "new", "--keep-root", "kept"]

    def test_a_person_is_asked(self, receipt_tool, tmp_path):
        person = Person(receipt_tool, tmp_path, *self.CREATE)
        person.answer("Organization", "Corner Shop")
        person.answer("Passphrase for the authority's keys: ", "a long passphrase")
        person.answer("again: ", "a long passphrase")
        code, shown = person.end()
        assert code == 0 and "O=Corner Shop" in shown, shown
        assert "a long passphrase" not in shown
        (tmp_path / "p").write_text("a long passphrase")
        run = receipt_tool.run("identity", "issue", "kept", "two", "--authority-passphrase-file", "p", cwd=tmp_path)
        assert run.code == 0, run.err
        person = Person(receipt_tool, tmp_path, "identity", "issue", "kept", "three")
        person.answer("Passphrase of the authority: ", "a long passphrase")
        assert person.end()[0] == 0

    def test_answers_that_differ(self, receipt_tool, tmp_path):
        person = Person(receipt_tool, tmp_path, *self.CREATE, "--organization", "X")
        person.answer("Passphrase for the authority's keys: ", "a long passphrase")
        person.answer("again: ", "a long passphrase!")
        code, shown = person.end()
        assert code == USAGE and "differ" in shown and not os.listdir(tmp_path), shown

    def test_nobody_to_ask(self, receipt_tool, tmp_path):
        (tmp_path / "authority.txt").write_text("correct horse battery staple\n")
        run = receipt_tool.run(*self.CREATE, *SECRET, cwd=tmp_path)
        assert run.code == USAGE and "--organization" in run.err
        run = receipt_tool.run(*self.CREATE, "--organization", "X", cwd=tmp_path)
        assert run.code == USAGE and "--authority-passphrase-file" in run.err
        assert os.listdir(tmp_path) == ["authority.txt"]
