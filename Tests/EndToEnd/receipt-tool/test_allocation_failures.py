# SPDX-License-Identifier: Apache-2.0
"""After a failure of libcrypto a receipt is neither valid nor invalid."""

import os
import pathlib
import subprocess

import pytest
from tool import UNREADABLE, VALID

# Every so-manieth allocation in the short form.
STRIDE = 1 if os.environ.get("RECEIPTKIT_FULL_SWEEPS") else 41


@pytest.fixture(scope="module")
def allocation_sweep() -> pathlib.Path:
    program = pathlib.Path(os.environ["RECEIPT_TOOL"]).with_name("allocation-sweep")
    assert program.exists(), f"{program} is not built: swift build --product allocation-sweep"
    return program


@pytest.mark.long
def test_no_failed_allocation_decides_on_a_receipt(allocation_sweep):
    run = subprocess.run([allocation_sweep, str(STRIDE)], capture_output=True, text=True, timeout=900)
    assert run.returncode == 0, run.stdout + run.stderr


def test_a_libcrypto_without_algorithms_decides_on_no_receipt(receipt_tool, tmp_path):
    """Only the null provider is loaded, so that no digest and no key is available."""
    vectors = pathlib.Path(__file__).resolve().parents[3] / "TestVectors"
    configuration = tmp_path / "openssl.cnf"
    configuration.write_text(
        "openssl_conf = init\n[init]\nproviders = providers\n[providers]\nnull = null\n[null]\nactivate = 1\n"
    )
    question = [
        "verify", "--trust", vectors / "certificates/es256-root.pem", vectors / "signed-transaction/valid.jws",
    ]
    control = receipt_tool.run(*question)
    assert control.code == VALID, control
    # It ends where the first key would be needed, at the root, and says why.
    run = receipt_tool.run(*question, env={**os.environ, "OPENSSL_CONF": str(configuration)})
    assert run.code == UNREADABLE, run
    assert run.out == "", run
    assert "libcrypto decodes no public keys" in run.err, run
