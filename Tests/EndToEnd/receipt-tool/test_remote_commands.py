# SPDX-License-Identifier: Apache-2.0
"""receipt-tool with the emulated App Store: checks, api, token, and secrets that it must never print."""

import base64
import json
import os
import pathlib

import pytest

from emulator import Emulator

pytestmark = pytest.mark.server

SHARED_SECRET = "c0ffee00c0ffee00c0ffee00c0ffee00"
SAMPLE = "2000000001"


@pytest.fixture(scope="module")
def receipt_store(receipt_tool, tmp_path_factory):
    """An identity that signs app receipts, for the emulator and for the tool."""
    path = tmp_path_factory.mktemp("identity") / "rsa"
    assert receipt_tool.run("identity", "create", path, "--algorithm", "rsa2048").code == 0
    return path


@pytest.fixture(scope="module")
def emulator(receipt_store, tmp_path_factory):
    path = os.environ.get("STORE_EMULATOR")
    assert path and os.access(path, os.X_OK), "STORE_EMULATOR does not name the built emulator"
    running = Emulator(
        path, tmp_path_factory.mktemp("emulator"), "--sample", "--shared-secret", SHARED_SECRET,
        "--receipt-authority", str(receipt_store),
    )
    yield running
    running.stop()


@pytest.fixture(autouse=True)
def fresh(emulator):
    for port in ("port", "productionPort"):
        emulator.faults(port=port)
    emulator.seed(reset=True, sample=True)


@pytest.fixture
def credentials(emulator, tmp_path):
    path = tmp_path / "credentials.json"
    developer = emulator.developer
    path.write_text(
        json.dumps(
            {
                "apiKeyFile": emulator.ready["developerKey"],
                "keyId": developer["keyId"],
                "issuerId": developer["issuerId"],
                "bundleId": developer["bundleId"],
                "sharedSecret": SHARED_SECRET,
            }
        )
    )
    path.chmod(0o600)
    return path


@pytest.fixture
def servers(emulator):
    return ["--base-url", emulator.url("productionPort"), "--sandbox-base-url", emulator.url()]


@pytest.fixture
def trusted(emulator):
    return ["--trust", emulator.ready["root"], "--trust", emulator.ready["receiptRoot"]]


@pytest.fixture
def api(receipt_tool, emulator, credentials, servers, trusted):
    def call(*arguments, **options):
        # A test notification has no signed part whose signer would have to be trusted.
        roots = [] if arguments[:2] == ("notifications", "test") else trusted
        return receipt_tool.run(
            "api", *arguments, "--environment", "sandbox", "--credentials", credentials, *servers, *roots, **options
        )

    return call


@pytest.fixture
def purchase(api):
    run = api("transactions", "info", SAMPLE, "--raw")
    assert run.code == 0, run.err
    return run.out.strip()


@pytest.fixture
def asked(credentials, servers, trusted):
    return [
        *trusted, *servers, "--check", "app-store", "--credentials", credentials, "--bundle-id", "com.example.app",
    ]


def test_a_purchase_that_stands(receipt_tool, purchase, asked):
    verdict = receipt_tool.accepts(purchase, *asked)
    assert [(check["name"], check["answer"]) for check in verdict["checks"]] == [("app-store", "confirmed")]
    assert verdict["checks"][0]["environment"] == "Sandbox"


def test_a_refund(receipt_tool, emulator, purchase, asked):
    emulator.seed(refunds=[{"transactionId": SAMPLE, "date": 1760000000000}])
    verdict = receipt_tool.refuses(purchase, "revoked", *asked)
    assert verdict["checks"][0]["answer"] == "revoked"


def test_an_unreachable_store_is_undetermined(receipt_tool, purchase, asked):
    nowhere = ["--base-url", "http://127.0.0.1:1", "--sandbox-base-url", "http://127.0.0.1:1", "--deadline", "1"]
    options = [option for option in asked if option not in ("--base-url", "--sandbox-base-url")]
    options = [option for option in options if not str(option).startswith("http://localhost")]
    verdict = receipt_tool.leaves_open(purchase, "checker-unavailable", *options, *nowhere)
    assert verdict["retryable"] is True
    receipt_tool.accepts(purchase, *options, *nowhere, "--offline-suffices")


def test_many_lines(receipt_tool, emulator, purchase, asked, tmp_path):
    path = tmp_path / "lines"
    path.write_text((purchase + "\n") * 150)
    run = receipt_tool.run("verify", "--lines", "--json", *asked, path)
    assert run.code == 0, run.err
    assert [line["index"] for line in run.lines] == list(range(150))
    assert all(line["checks"][0]["answer"] == "confirmed" for line in run.lines)
    assert emulator.control("GET", "statistics")["distinctTokens"] <= 10


def test_demands_hold_while_the_store_cannot_be_reached(receipt_tool, purchase, asked):
    nowhere = ["--base-url", "http://127.0.0.1:1", "--sandbox-base-url", "http://127.0.0.1:1", "--deadline", "1"]
    options = [*asked, *nowhere, "--account-token"]
    owner, stranger = "7e3fb204-2b3a-4c8f-9d5e-6a1b2c3d4e5f", "00000000-0000-4000-8000-000000000000"
    receipt_tool.accepts(purchase, *options, owner, "--offline-suffices")
    receipt_tool.refuses(purchase, "checker-refused", *options, stranger, "--offline-suffices")
    receipt_tool.leaves_open(purchase, "checker-unavailable", *options, stranger)


@pytest.mark.parametrize(
    "command",
    [
        ["transactions", "info", SAMPLE], ["transactions", "history", SAMPLE], ["transactions", "refunds", SAMPLE],
        ["transactions", "app", SAMPLE], ["subscriptions", "status", SAMPLE], ["notifications", "test"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_answers_that_cannot_be_written(api, emulator, command):
    emulator.seed(refunds=[{"transactionId": SAMPLE, "date": 1760000000000}])
    usual = api(*command)
    assert usual.code == 0 and usual.out, usual.err
    with open("/dev/full", "wb") as full:
        run = api(*command, stdout=full)
    assert run.code == 74 and "cannot write to standard output: No space left on device" in run.err


def test_revoked_certificates(receipt_tool, emulator, purchase, trusted, servers):
    ocsp = [*trusted, "--check", "ocsp", "--base-url", emulator.url()]
    verdict = receipt_tool.verify(purchase, *ocsp)
    assert verdict["checks"][0]["name"] == "ocsp"
    assert verdict["verdict"] == "valid", verdict


def test_verify_receipt(receipt_tool, emulator, receipt_store, credentials, servers, trusted, tmp_path):
    payload = {
        "environment": "ProductionSandbox",
        "bundleId": "com.example.app",
        "applicationVersion": "1",
        "receiptCreationDate": "2025-10-01T07:09:20Z",
        "inApp": [
            {
                "quantity": 1,
                "productId": "com.example.app.monthly",
                "transactionId": SAMPLE,
                "originalTransactionId": SAMPLE,
                "purchaseDate": "2025-10-01T07:09:10Z",
                "originalPurchaseDate": "2025-10-01T07:09:10Z",
                "expiresDate": "2025-11-01T07:09:10Z",
            }
        ],
    }
    path = tmp_path / "receipt"
    signed = receipt_tool.run(
        "sign", "--identity", receipt_store, "--format", "app-receipt", "--output", path, "-",
        stdin=json.dumps(payload).encode(),
    )
    assert signed.code == 0, signed.err
    asked = [*trusted, *servers, "--check", "verify-receipt", "--credentials", credentials]
    # Production sends it on to the sandbox (21007).
    verdict = receipt_tool.accepts(path.read_bytes(), *asked)
    assert verdict["checks"][0]["environment"] == "Sandbox"
    emulator.seed(refunds=[{"transactionId": SAMPLE, "date": 1760000000000}])
    receipt_tool.refuses(path.read_bytes(), "revoked", *asked)
    # Where production alone is accepted, nobody else is asked.
    receipt_tool.refuses(path.read_bytes(), "wrong-environment", *asked, "--environment", "production")


def test_reading(api):
    history = api("transactions", "history", SAMPLE)
    assert history.code == 0 and history.lines[0]["transactionId"] == SAMPLE
    status = api("subscriptions", "status", SAMPLE)
    assert status.lines[0]["status"] == 1 and status.lines[0]["transaction"]["transactionId"] == SAMPLE
    assert api("transactions", "refunds", SAMPLE).out == ""
    token = api("notifications", "test").lines[0]["testNotificationToken"]
    sent = api("notifications", "test-status", token)
    assert sent.lines[0]["notification"]["notificationType"] == "TEST", sent.out
    assert api("notifications", "history").code == 0


def test_refusals_have_exit_codes(api, receipt_tool, emulator):
    unknown = api("transactions", "info", "404404404")
    assert unknown.code == 1 and "4040010" in unknown.err and unknown.out == ""
    emulator.faults({"faults": [{"kind": "status", "status": 503}]})
    assert api("transactions", "info", SAMPLE, "--deadline", "2").code == 2
    emulator.faults()
    assert receipt_tool.run("api", "transactions", "info", SAMPLE).code == 64


def test_forged_answers_are_not_printed(api, emulator):
    for kind in ("flipped-bit", "untrusted-signer", "other-app"):
        emulator.faults({"faults": [{"kind": kind}]})
        run = api("transactions", "info", SAMPLE)
        assert run.code != 0 and run.out == "", (kind, run)


def test_credentials_that_others_can_read_are_refused(receipt_tool, credentials):
    credentials.chmod(0o640)
    run = receipt_tool.run("token", "--credentials", credentials)
    assert run.code == 66 and "chmod 600" in run.err


def test_credentials_from_flags_and_the_environment(receipt_tool, emulator):
    developer = emulator.developer
    environment = {
        "PATH": os.environ["PATH"],
        "RECEIPTKIT_API_KEY_FILE": emulator.ready["developerKey"],
        "RECEIPTKIT_KEY_ID": developer["keyId"],
        "RECEIPTKIT_ISSUER_ID": developer["issuerId"],
        "RECEIPTKIT_BUNDLE_ID": developer["bundleId"],
    }
    run = receipt_tool.run("token", "--json", env=environment)
    assert run.code == 0, run.err
    header, claims, _ = run.lines[0]["token"].split(".")
    decode = lambda part: json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))  # noqa: E731
    assert decode(header)["kid"] == developer["keyId"]
    assert decode(claims)["bid"] == developer["bundleId"]
    flagged = receipt_tool.run("token", "--json", "--bundle-id", "com.example.other", env=environment)
    assert decode(flagged.lines[0]["token"].split(".")[1])["bid"] == "com.example.other"


def test_plain_http_is_refused(receipt_tool, credentials, purchase):
    for base in ("http://example.com", "ftp://example.com", "https://user:pw@example.com"):
        run = receipt_tool.run(
            "api", "transactions", "info", "1", "--credentials", credentials, "--base-url", base
        )
        assert run.code == 64, (base, run)


def test_tls_is_checked(receipt_tool, emulator, credentials, trusted):
    def call(port, *options):
        return receipt_tool.run(
            "api", "transactions", "info", SAMPLE, "--environment", "sandbox", "--credentials", credentials,
            "--base-url", emulator.url(port), "--deadline", "5", *trusted, *options,
        )

    authority = ["--ca-file", emulator.ready["tlsAuthority"]]
    assert call("tlsPort", *authority).code == 0
    assert call("tlsPort").code != 0
    for port in ("untrustedTLSPort", "wrongHostTLSPort", "expiredTLSPort"):
        run = call(port, *authority)
        assert run.code != 0 and "insecure" in run.err, (port, run)


@pytest.mark.parametrize(
    "fault",
    [None, {"kind": "status", "status": 401}, {"kind": "wrong-json"}, {"kind": "redirect", "target": "other-host"},
     {"kind": "cut", "afterBytes": 30}, {"kind": "flipped-bit"}],
)
def test_secrets_appear_nowhere(receipt_tool, emulator, credentials, servers, trusted, purchase, fault):
    if fault:
        for port in ("port", "productionPort"):
            emulator.faults({"faults": [fault]}, port=port)
    key = pathlib.Path(emulator.ready["developerKey"]).read_text()
    secrets = [line for line in key.splitlines() if line and "-----" not in line] + [SHARED_SECRET]
    for format in ([], ["--json"]):
        run = receipt_tool.run(
            "verify", "--explain", *format, *trusted, *servers, "--deadline", "2", "--check", "app-store",
            "--check", "verify-receipt", "--credentials", credentials, "--bundle-id", "com.example.app", "-",
            stdin=purchase.encode(),
        )
        text = run.out + run.err
        assert text
        for secret in secrets:
            assert secret not in text
        # Tokens begin with this header; the purchase itself is never printed.
        assert "Bearer" not in text and "eyJhbGciOiJFUzI1NiIsImtpZCI6" not in text
