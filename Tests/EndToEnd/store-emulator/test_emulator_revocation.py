# SPDX-License-Identifier: Apache-2.0
"""What outside clients learn from store-emulator about its certificates: over OCSP, and from revocation lists."""

import base64
import json
import os
import subprocess
import time
import urllib.parse

import pytest
import requests
from appstoreserverlibrary.api_client import APIError, APIException
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.x509 import ocsp
from emulator import Emulator
from test_app_store_emulator import Client

ORIGINAL = "2000000001"


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    emulator = Emulator(
        os.environ["STORE_EMULATOR"], tmp_path_factory.mktemp("emulator"), "--sample", "--no-token-checks"
    )
    yield emulator
    assert emulator.stop() == 0


@pytest.fixture
def emulator(started):
    started.control("POST", "ocsp", {"reset": True})
    return started


@pytest.fixture
def transaction(emulator) -> str:
    response = requests.get(f"{emulator.url()}/inApps/v1/transactions/{ORIGINAL}", timeout=30)
    return response.json()["signedTransactionInfo"]


@pytest.fixture
def folder(transaction, tmp_path):
    """leaf.pem, intermediate.pem and root.pem, as the header of a signed transaction has them."""
    header = transaction.split(".")[0]
    chain = json.loads(base64.urlsafe_b64decode(header + "=" * (-len(header) % 4)))["x5c"]
    for name, encoded in zip(["leaf", "intermediate", "root"], chain, strict=True):
        (tmp_path / f"{name}.pem").write_bytes(read(encoded).public_bytes(serialization.Encoding.PEM))
    return tmp_path


def read(encoded: str) -> x509.Certificate:
    return x509.load_der_x509_certificate(base64.b64decode(encoded))


def openssl(folder, *arguments: str) -> str:
    run = subprocess.run(["openssl", *arguments], cwd=folder, capture_output=True, text=True, timeout=30)
    return run.stdout + run.stderr


def asked(folder, emulator, *arguments: str, port="port") -> str:
    url = f"http://127.0.0.1:{emulator.ready[port]}/ocsp"
    return openssl(folder, "ocsp", "-url", url, "-CAfile", "root.pem", *arguments)


LEAF = ["-issuer", "intermediate.pem", "-cert", "leaf.pem"]
INTERMEDIATE = ["-issuer", "root.pem", "-cert", "intermediate.pem"]


@pytest.mark.parametrize("port", ["port", "productionPort"])
@pytest.mark.parametrize("hashed", [[], ["-sha256"], ["-sha384"], ["-sha1"]], ids=str)
def test_openssl_about_one_certificate(folder, emulator, hashed, port):
    for certificate, name in [(LEAF, "leaf"), (INTERMEDIATE, "intermediate")]:
        answer = asked(folder, emulator, *hashed, *certificate, port=port)
        assert "Response verify OK" in answer and f"{name}.pem: good" in answer, answer
        emulator.control("POST", "ocsp", {"revoke": name})
        answer = asked(folder, emulator, *hashed, *certificate, port=port)
        assert "Response verify OK" in answer and f"{name}.pem: revoked" in answer, answer


@pytest.mark.parametrize("hashed", [[], ["-sha256"]], ids=str)
@pytest.mark.parametrize("certificates", [LEAF + INTERMEDIATE, INTERMEDIATE + LEAF], ids=lambda item: item[3])
def test_openssl_about_two_certificates(folder, emulator, hashed, certificates):
    answer = asked(folder, emulator, *hashed, *certificates)
    assert "Response verify OK" in answer, answer
    assert "leaf.pem: good" in answer and "intermediate.pem: good" in answer, answer
    emulator.control("POST", "ocsp", {"revoke": "intermediate"})
    answer = asked(folder, emulator, *hashed, *certificates)
    assert "leaf.pem: good" in answer and "intermediate.pem: revoked" in answer, answer


def test_certificates_of_others(folder, emulator):
    """A certificate of nobody's is unknown beside one of the chain; alone, nobody answers for it."""
    answer = asked(folder, emulator, *LEAF, "-serial", "0x4711")
    assert "Response verify OK" in answer and "leaf.pem: good" in answer and "0x4711: unknown" in answer, answer
    answer = asked(folder, emulator, "-issuer", "intermediate.pem", "-serial", "0x4711")
    assert "unauthorized" in answer, answer


@pytest.mark.parametrize("escaped", [True, False])
def test_the_request_in_the_path(folder, emulator, escaped):
    """RFC 6960 appendix A.1, with every character of base64 that means something else in a path."""
    certificates = [x509.load_pem_x509_certificate((folder / f"{name}.pem").read_bytes()) for name in ["leaf", "intermediate"]]
    found = ""
    for nonce in [b"\xff" * 16, b"\xfb\xef\xbe" * 5, b"\xff" * 17, b"\xfb\xef\xbe" * 6]:
        builder = ocsp.OCSPRequestBuilder().add_certificate(*certificates, hashes.SHA256())
        request = builder.add_extension(x509.OCSPNonce(nonce), False).build().public_bytes(serialization.Encoding.DER)
        (folder / "request.der").write_bytes(request)
        response = got(folder, emulator, escaped)
        assert response.extensions.get_extension_for_class(x509.OCSPNonce).value.nonce == nonce
        answer = openssl(
            folder, "ocsp", "-reqin", "request.der", "-respin", "response.der", "-CAfile", "root.pem",
            "-verify_other", "intermediate.pem",
        )  # fmt: skip
        assert answer.startswith("Response verify OK"), answer
        found += base64.b64encode(request).decode()
    assert "//" in found and "+" in found and "=" in found
    openssl(folder, "ocsp", "-sha256", *LEAF, *INTERMEDIATE, "-reqout", "request.der")
    assert len(list(got(folder, emulator, escaped).responses)) == 2


def got(folder, emulator, escaped: bool) -> ocsp.OCSPResponse:
    request = base64.b64encode((folder / "request.der").read_bytes()).decode()
    url = f"{emulator.url()}/ocsp/{urllib.parse.quote(request, safe='') if escaped else request}"
    curl = ["curl", "--silent", "--show-error", "--fail", "--path-as-is", "--output", "response.der", url]
    subprocess.run(curl, cwd=folder, check=True, timeout=30)
    return ocsp.load_der_ocsp_response((folder / "response.der").read_bytes())


def test_a_path_that_is_no_request(emulator):
    response = requests.get(f"{emulator.url()}/ocsp/%20%20", timeout=30)
    assert ocsp.load_der_ocsp_response(response.content).response_status == ocsp.OCSPResponseStatus.MALFORMED_REQUEST


def verified_with_lists(folder) -> str:
    """What openssl says of the leaf with the lists that the certificates name."""
    lists = b""
    for name in ["leaf", "intermediate"]:
        certificate = x509.load_pem_x509_certificate((folder / f"{name}.pem").read_bytes())
        [point] = certificate.extensions.get_extension_for_class(x509.CRLDistributionPoints).value
        response = requests.get(point.full_name[0].value, timeout=30)
        assert response.headers["Content-Type"] == "application/pkix-crl"
        issued = x509.load_der_x509_crl(response.content)
        assert issued.issuer == certificate.issuer
        lists += issued.public_bytes(serialization.Encoding.PEM)
    (folder / "lists.pem").write_bytes(lists)
    return openssl(
        folder, "verify", "-x509_strict", "-crl_check_all", "-CRLfile", "lists.pem", "-CAfile", "root.pem",
        "-untrusted", "intermediate.pem", "leaf.pem",
    )  # fmt: skip


@pytest.mark.parametrize("certificate", ["leaf", "intermediate"])
def test_openssl_reads_the_lists(folder, emulator, certificate):
    assert verified_with_lists(folder) == "leaf.pem: OK\n"
    emulator.control("POST", "ocsp", {"revoke": certificate})
    answer = verified_with_lists(folder)
    assert "certificate revoked" in answer and "leaf.pem: verification failed" in answer, answer
    emulator.control("POST", "ocsp", {"reset": True})
    assert verified_with_lists(folder) == "leaf.pem: OK\n"


@pytest.mark.parametrize("signer", ["issuer", "delegate"])
@pytest.mark.parametrize("certificate", ["leaf", "intermediate"])
def test_apples_verifier_asks(emulator, transaction, certificate, signer):
    emulator.control("POST", "ocsp", {"signer": signer})

    def verify():
        SignedDataVerifier(
            [emulator.file("root")], True, Environment.SANDBOX, emulator.developer["bundleId"],
            emulator.developer["appAppleId"],
        ).verify_and_decode_signed_transaction(transaction)  # fmt: skip

    verify()
    counted = emulator.control("GET", "statistics")["ocspRequests"]
    assert set(counted) >= {"07", "08"}
    emulator.control("POST", "ocsp", {"revoke": certificate})
    with pytest.raises(VerificationException):
        verify()
    emulator.control("POST", "ocsp", {"reset": True})
    verify()


@pytest.mark.long
def test_clients_keep_their_own_time(tmp_path):
    """However far the store's clock was advanced: tokens and certificates are valid by the clients'."""
    emulator = Emulator(os.environ["STORE_EMULATOR"], tmp_path / "state", "--sample", "--clock-rate", "0")
    client = Client(emulator, "tlsPort", Environment.SANDBOX)
    verifier = SignedDataVerifier(
        [emulator.file("root")], True, Environment.SANDBOX, emulator.developer["bundleId"],
        emulator.developer["appAppleId"],
    )  # fmt: skip
    emulator.control("POST", "advance", {"by": "P2Y"})
    verifier.verify_and_decode_signed_transaction(client.get_transaction_info(ORIGINAL).signedTransactionInfo)
    # The limit ends, although the store's clock stands still.
    emulator.faults({"faults": [{"kind": "rate-limit", "requests": 1, "seconds": 2}]})
    client.get_transaction_info(ORIGINAL)
    with pytest.raises(APIException) as caught:
        client.get_transaction_info(ORIGINAL)
    assert caught.value.api_error == APIError.RATE_LIMIT_EXCEEDED
    limited = requests.get(f"{emulator.url()}/inApps/v1/transactions/1", timeout=30)
    assert limited.status_code == 429 and 0 < int(limited.headers["Retry-After"]) / 1000 - time.time() <= 3
    time.sleep(2.1)
    client.get_transaction_info(ORIGINAL)
    assert emulator.stop() == 0


def test_an_authority_of_ones_own(receipt_tool, tmp_path):
    """Its directory does not contain the issuers' keys; the emulator says so, at the start and when it is asked."""
    made = receipt_tool.run("identity", "create", tmp_path / "own")
    assert made.code == 0, made.err
    errors = tmp_path / "errors"
    with open(errors, "w") as file:
        own = Emulator(
            os.environ["STORE_EMULATOR"], tmp_path / "state", "--authority", str(tmp_path / "own"), stderr=file
        )
    for path in ["ocsp/MA==", "crl/root.crl"]:
        response = requests.get(f"{own.url()}/{path}", timeout=30)
        assert response.status_code == 404 and "does not contain the issuers' keys" in response.text
    assert own.stop() == 0
    assert "does not contain the issuers' keys" in errors.read_text()
