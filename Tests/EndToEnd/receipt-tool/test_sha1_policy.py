# SPDX-License-Identifier: Apache-2.0
"""Where the system's policy forbids signatures with SHA-1, a receipt that has one is neither valid nor invalid."""

import os
import pathlib
import shutil
import subprocess

import pytest
from tool import INVALID, UNDETERMINED, VALID

SOURCE = pathlib.Path(__file__).resolve().parents[2] / "Support/faults/sha1-forbidden.c"


@pytest.fixture(scope="module")
def library(tmp_path_factory) -> pathlib.Path:
    library = tmp_path_factory.mktemp("sha1") / "sha1-forbidden.so"
    compiler = next(name for name in (os.environ.get("CC"), "cc", "clang", "gcc") if name and shutil.which(name))
    subprocess.run(
        [compiler, "-O1", "-Wno-deprecated-declarations", "-shared", "-fPIC", "-o", library, SOURCE, "-ldl", "-lcrypto"],
        check=True, timeout=60,
    )  # fmt: skip
    return library


@pytest.fixture(scope="module")
def shop(tmp_path_factory) -> pathlib.Path:
    """A store of ours whose certificates are signed with SHA-1, made by openssl, and one app receipt of it."""
    folder = tmp_path_factory.mktemp("shop")

    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True, timeout=60)

    (folder / "ca.cnf").write_text(
        "[intermediate]\nbasicConstraints = critical, CA:TRUE\nkeyUsage = critical, keyCertSign\n"
        "1.2.840.113635.100.6.2.1 = ASN1:NULL\n"
        "[leaf]\nbasicConstraints = critical, CA:FALSE\nkeyUsage = critical, digitalSignature\n"
        "1.2.840.113635.100.6.11.1 = ASN1:NULL\n"
        "[req]\ndistinguished_name = dn\n[dn]\n"
    )
    for name in ("root", "intermediate", "leaf"):
        openssl("genrsa", "-out", f"{name}.key", "2048")
    openssl("req", "-config", "ca.cnf", "-x509", "-new", "-key", "root.key", "-sha256", "-days", "7300", "-subj",
            "/O=Shop/CN=Root", "-addext", "basicConstraints=critical,CA:TRUE", "-out", "root.pem")  # fmt: skip
    for name, issuer in (("intermediate", "root"), ("leaf", "intermediate")):
        openssl("req", "-config", "ca.cnf", "-new", "-key", f"{name}.key", "-subj", f"/O=Shop/CN={name}", "-out", f"{name}.csr")
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{issuer}.pem", "-CAkey", f"{issuer}.key", "-sha1",
                "-CAcreateserial", "-days", "7000", "-extfile", "ca.cnf", "-extensions", name, "-out", f"{name}.pem")  # fmt: skip
    chain = "".join((folder / f"{name}.pem").read_text() for name in ("intermediate", "root"))
    (folder / "chain.pem").write_text(chain)
    return folder


@pytest.fixture(scope="module")
def receipt(receipt_tool, shop) -> pathlib.Path:
    vectors = pathlib.Path(__file__).resolve().parents[3] / "TestVectors"
    content = shop / "content.der"
    # The signed attributes of any app receipt: its eContent, under our own certificates.
    subprocess.run(
        ["openssl", "cms", "-verify", "-noverify", "-inform", "DER", "-in", vectors / "app-receipt/valid-binary.der",
         "-binary", "-out", content],
        check=True, capture_output=True, timeout=60,
    )  # fmt: skip
    signed = shop / "receipt.der"
    subprocess.run(
        ["openssl", "cms", "-sign", "-binary", "-nodetach", "-noattr", "-md", "sha256", "-signer", shop / "leaf.pem", "-inkey",
         shop / "leaf.key", "-certfile", shop / "chain.pem", "-in", content, "-outform", "DER", "-out", signed],
        check=True, capture_output=True, timeout=60,
    )  # fmt: skip
    return signed


def verify(receipt_tool, shop, receipt, library=None, where=""):
    environment = {**os.environ, "LD_PRELOAD": str(library), "SHA1_FORBIDDEN": where} if library else os.environ
    run = receipt_tool.run("verify", "--json", "--trust", shop / "root.pem", "--time", "now", receipt, env=environment)
    return run, run.lines[0]


def test_a_chain_with_sha1_is_undetermined_where_it_is_forbidden(receipt_tool, shop, receipt, library):
    run, verdict = verify(receipt_tool, shop, receipt)
    assert run.code == VALID and verdict["signer"]["involvesSha1"], run
    for where in ("chain", "level"):
        run, verdict = verify(receipt_tool, shop, receipt, library, where)
        assert run.code == UNDETERMINED and verdict["reason"]["code"] == "internal-fault", run
        assert "could not check a signature with sha1" in verdict["reason"]["message"], run
        assert "policy may forbid" in verdict["reason"]["message"], run
    # The library itself does no harm, and what is forged is invalid all the same.
    assert verify(receipt_tool, shop, receipt, library)[0].code == VALID


def test_a_forged_chain_is_invalid_all_the_same(receipt_tool, shop, receipt, library):
    altered = shop / "altered.der"
    content = bytearray(receipt.read_bytes())
    leaf = subprocess.run(
        ["openssl", "x509", "-in", shop / "leaf.pem", "-outform", "DER"], check=True, capture_output=True, timeout=60
    ).stdout
    content[content.index(leaf) + len(leaf) - 10] ^= 1
    altered.write_bytes(content)
    run, verdict = verify(receipt_tool, shop, altered, library)
    assert run.code == INVALID and verdict["reason"]["code"] == "chain-untrusted", run
    # Where no signature with SHA-1 can be checked at all, nobody knows that it is forged.
    run, verdict = verify(receipt_tool, shop, altered, library, "signature")
    assert run.code == UNDETERMINED and verdict["reason"]["code"] == "internal-fault", run


def test_a_signature_with_sha1_is_undetermined_where_it_is_forbidden(receipt_tool, library):
    vectors = pathlib.Path(__file__).resolve().parents[3] / "TestVectors"
    question = ["verify", "--json", "--trust", vectors / "certificates/rsa-root.pem", vectors / "app-receipt/valid-sha1.b64"]
    run = receipt_tool.run(*question)
    assert run.code == VALID, run
    run = receipt_tool.run(*question, env={**os.environ, "LD_PRELOAD": str(library), "SHA1_FORBIDDEN": "signature"})
    assert run.code == UNDETERMINED, run
    assert "could not check a signature with sha1" in run.lines[0]["reason"]["message"], run
