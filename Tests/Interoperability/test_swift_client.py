# SPDX-License-Identifier: Apache-2.0
"""The Swift client, as the snippet CallTheServer uses it over libcurl, with a running server and with hostile ones."""

import json
import os
import pathlib
import subprocess
import time

import pytest

from python_client import Scripted, http
from shops import CUSTOMER, Shops

pytestmark = pytest.mark.server

KEY = "rk_secret-of-this-test"
YEAR = 365 * 86_400_000
ACTIVE = {"type": "verdict", "verdict": "valid", "transactions": [{"productId": "gems", "grantsAccess": True}]}
KNOWN = {"type": "entitlements", "access": [{"name": "premium", "standing": "active", "grantsAccess": True}], "entitlements": []}


@pytest.fixture(scope="module")
def program() -> pathlib.Path:
    path = pathlib.Path(os.environ["KEEP_A_LOG"]).parent / "CallTheServer"
    assert os.access(path, os.X_OK), "the snippet CallTheServer is not built beside KeepALog"
    return path


def run(program, url, key, receipt: str, folder) -> str:
    file = folder / "receipt.jws"
    file.write_text(receipt)
    done = subprocess.run([program, url, key, file, CUSTOMER, "premium"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and key not in done.stdout + done.stderr, done
    return done.stdout


def test_verdicts_and_entitlements_of_a_running_server(program, store, tmp_path_factory, tmp_path):
    server = Shops(tmp_path_factory.mktemp("server"), store)
    now, key = int(time.time() * 1000), server.key_for("verify", "read", app="shop")
    changes = {"transactionId": "2000000000000011", "originalTransactionId": "2000000000000011", "purchaseDate": now - 1000}
    active = server.transaction(**changes, expiresDate=now + YEAR)
    product = "com.example.app.monthly"
    output = run(program, server.url, key, active, tmp_path)
    assert output == f"grant {product}\npremium no\nunchanged\n"
    assert server.post(f"/v1/customers/{CUSTOMER}/receipts?app=shop", data=active).status_code == 200
    assert run(program, server.url, key, active, tmp_path) == f"grant {product}\npremium yes\nunchanged\n"
    expired = server.transaction(**changes, expiresDate=now - 1)
    assert run(program, server.url, key, expired, tmp_path).startswith("premium ")
    assert run(program, server.url, key, active[:-10] + "AAAAAAAAAA", tmp_path).startswith("refuse: signature-mismatch\n")
    assert "failed: refused: 401 unauthorized" in run(program, server.url, "rk_wrong", active, tmp_path)
    assert "missing-scope" in run(program, server.url, server.key_for("read", app="shop"), active, tmp_path)
    assert server.end() == 0


def test_what_is_asked_again_and_what_is_not(program, tmp_path):
    tagged = http(json.dumps(KNOWN), ETag='"a"')
    unavailable = http("<html>", "503 Service Unavailable", "text/html", Retry_After="1")
    with Scripted(unavailable, http(json.dumps(ACTIVE)), b"", tagged, http("", "304 Not Modified")) as server:
        assert run(program, server.url, KEY, "a.b.c", tmp_path) == "grant gems\npremium yes\nunchanged\n"
    assert len(server.requests) == 5 and b'if-none-match: "a"' in server.requests[-1].lower()
    assert server.arrived[1] - server.arrived[0] >= 1
    undetermined = ACTIVE | {"verdict": "undetermined", "retryable": True}
    with Scripted(http(json.dumps(undetermined)), tagged, http("", "304 Not Modified")) as server:
        assert run(program, server.url, KEY, "a.b.c", tmp_path).startswith("keep the receipt, and ask again later\n")


@pytest.mark.parametrize("answer", [
    http(json.dumps(ACTIVE)[:-9]), http("<html>valid</html>"), http(json.dumps(ACTIVE), length=10_000), http('["valid"]'), b"",
    http("<html>", "500 Internal Server Error", "text/html"), http(" " * (9 << 20)),
], ids=["truncated", "HTML", "ends early", "no object", "nothing", "500", "9 MiB"])  # fmt: skip
def test_a_wrong_answer_grants_nothing(program, tmp_path, answer):
    with Scripted(answer) as server:
        output = run(program, server.url, KEY, "a.b.c", tmp_path)
    assert output.startswith("failed: ") and "grant" not in output


def test_a_redirect_gets_no_request_and_no_key(program, tmp_path):
    with Scripted(http(json.dumps(ACTIVE))) as thief:
        for status in ("302 Found", "307 Temporary Redirect"):
            with Scripted(http("", status, Location=thief.url)) as server:
                assert "failed: redirected" in run(program, server.url, KEY, "a.b.c", tmp_path)
        assert thief.requests == []
