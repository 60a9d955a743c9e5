# SPDX-License-Identifier: Apache-2.0
"""The client that openapi-python-client makes of the API's description calls every route."""

import importlib
import io
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

from shops import CUSTOMER, Shops

pytestmark = pytest.mark.server

ORIGINAL = "2000000000000000"


@pytest.fixture(scope="module")
def server(store, tmp_path_factory):
    server = Shops(tmp_path_factory.mktemp("server"), store)
    server.notify("shop", "SUBSCRIBED", "INITIAL_BUY", originalTransactionId=ORIGINAL, transactionId="2000000000000001")
    server.app = {"app": "shop"}
    server.proof(0)
    yield server
    assert server.end() == 0


@pytest.fixture(scope="module")
def generated(server, tmp_path_factory):
    """The package of the client; nothing of the description may be left out of it."""
    folder = tmp_path_factory.mktemp("client")
    description = folder / "openapi.json"
    description.write_bytes(server.get("/openapi.json", key="").content)
    config = folder / "config.yml"
    config.write_text("post_hooks: []\npackage_name_override: generated_client\n")
    run = subprocess.run(
        [pathlib.Path(sys.executable).parent / "openapi-python-client", "generate", "--path", description, "--meta", "none",
         "--config", config, "--output-path", folder / "generated_client"],
        capture_output=True, text=True, timeout=120, env=os.environ | {"COLUMNS": "200"},
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    # Lines of receipts are taken as bytes, too.
    told = re.findall(r"^(WARNING.*|ERROR.*|Unable.*|Cannot.*|Incorrect.*|Unsupported.*|Attempted.*)$", run.stdout, re.MULTILINE)
    assert [line for line in told if "verify/batch" not in line and line != "Unsupported content type text/plain"] == [], told
    sys.path.insert(0, str(folder))
    yield importlib.import_module("generated_client")
    sys.path.remove(str(folder))


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])([A-Z])", lambda found: "_" + found[1].lower(), name)


def test_every_route_is_called(server, generated):
    models, types = (importlib.import_module(f"generated_client.{name}") for name in ("models", "types"))
    client = generated.AuthenticatedClient(base_url=server.url, token=server.key)
    app = "shop"
    called = set()

    def call(operation: str, *arguments, status=200, **options):
        """What an operation answers, parsed."""
        called.add(operation)
        module = importlib.import_module(f"generated_client.api.default.{snake(operation)}")
        answer = module.sync_detailed(*arguments, client=client, **options)
        assert answer.status_code == status, (operation, answer.status_code, answer.content)
        return answer.parsed

    def file(text: str):
        return types.File(payload=io.BytesIO(text.encode()))

    receipt = server.transaction(transactionId="2000000000000002", originalTransactionId=ORIGINAL)
    client = generated.AuthenticatedClient(base_url=server.url, token=server.key_for("client", app="shop"))
    for operation in ("verifyClientPurchase", "verifyClientPurchaseWithPrefix", "verifyClientPurchaseAlias"):
        state = call(operation, body=models.OpenIAPPurchase(store="apple", jws=receipt))
        assert (state.store, state.is_valid) == ("apple", state.state == "ENTITLED")
    purchase = {"id": "com.example.app", "type": "application", "transaction": {"type": "apple-sk2", "jwsRepresentation": receipt}}
    assert call("validateCordovaPurchase", body=models.CordovaValidation.from_dict(purchase)).ok
    answer = call("verifyReceipt", body=models.VerifyReceiptRequest(receipt_data=receipt))
    # A signed transaction is no app receipt.
    assert answer.status == 21002
    client = generated.AuthenticatedClient(base_url=server.url, token=server.key)
    for body in (lambda: file(receipt), lambda: models.WrappedReceipt(signed_transaction_info=receipt)):
        verdict = call("verify", body=body(), app=app)
        assert verdict.verdict.value == "valid" and verdict.transactions[0].original_transaction_id == ORIGINAL
        presented = call("presentReceipt", CUSTOMER, body=body(), app=app)
        assert presented.verdict.verdict.value == "valid" and presented.entitlements
    assert call("inspect", body=file(receipt)).to_dict()["type"] == "inspection"
    # This app has no credentials for a store.
    refused = call("lookUp", body=models.Reference(transaction_id=ORIGINAL), app=app, status=404)
    assert refused.code == "no-credentials"
    lines = call("verifyBatch", body=file(receipt + "\nno receipt\n"), app=app)
    assert [word in line for word, line in zip(('"valid"', '"invalid"'), lines.splitlines(), strict=True)] == [True, True]
    payload = {"signedPayload": "e30.e30.e30"}
    refused = call("receiveNotification", app, body=models.Notification.from_dict(payload), status=400)
    assert refused.code == "refused" and models.Notification.from_dict(payload).signed_payload == payload["signedPayload"]

    assert call("getEntitlement", ORIGINAL, app=app).entitlements
    assert call("getEntitlementHistory", ORIGINAL, app=app).changes
    assert call("getCustomerEntitlements", CUSTOMER, app=app).entitlements
    assert call("getCustomerEntitlements", CUSTOMER, app=app).access[0].name == "premium"
    (key,) = call("getKeySet", app).keys
    assert (key.kty, key.crv, key.alg) == ("EC", "P-256", "ES256")
    wanted = models.NewGrant(entitlement="premium", reason="generated")
    granted = call("grantEntitlement", "bob", body=wanted, app=app, status=201)
    assert granted.grant.state == "active" and granted.access[0].grants_access
    withdrawn = call("withdrawGrant", "bob", granted.grant.grant_id, reason="generated", app=app)
    assert withdrawn.grant.state == "withdrawn" and not withdrawn.access[0].grants_access

    server.notify(app, "CONSUMPTION_REQUEST", originalTransactionId=ORIGINAL, transactionId="2000000000000001")
    assert call("listRefundReviews", app=app, state="open").reviews[0].review.refund_review_id == "2000000000000001"
    assert call("getRefundReview", "2000000000000001", app=app).reviews[0].customer == CUSTOMER
    known = models.NewRefundAnswer(customer_consented=True, delivery_status="DELIVERED", sample_content_provided=False)
    (stated,) = call("stateRefundEvidence", "2000000000000001", body=known, app=app).reviews
    assert stated.review.evidence.is_delivered
    answer = models.NewRefundAnswer(preference=models.RefundPreference.DECLINE)
    shown = call("previewRefundAnswer", "2000000000000001", body=answer, app=app).body
    assert json.loads(shown)["refundPreference"] == "DECLINE"
    refused = call("answerRefundReview", "2000000000000001", body=answer, app=app, status=409)
    assert refused.code == "no-credentials"

    changes = call("getChanges", app=app, since=0, limit=10).changes
    assert changes[0].change.type_.startswith("entitlement.")

    assert call("findEntries", app=app, original=ORIGINAL).entries
    assert call("getEntry", 0, app=app).index == 0
    assert call("getProof", 0, app=app).proof.startswith("c2sp.org/tlog-proof")
    checkpoint = call("getLogFile", "checkpoint").payload.read().decode()
    size = int(checkpoint.splitlines()[1])
    assert len(call("getLogFile", f"tile/0/000.p/{size}").payload.read()) == 32 * size
    assert call("getLogFile", "../audit.sqlite.key", status=404).code == "not-found"

    assert [endpoint.name for endpoint in call("listWebhooks", app=app).endpoints] == ["backend"]
    assert call("listDeadLetters", "backend", app=app).letters == []
    assert call("replayWebhooks", "backend", app=app).count == 0

    made = call("createKey", body=models.NewKey(name="generated", scopes=[models.Scope.READ], app=app), status=201)
    listed = {key.id: key for key in call("listKeys").keys}
    assert made.key.startswith(f"rk_{made.id}_") and listed[made.id].name == "generated"
    assert call("revokeKey", made.id, status=204) is None
    assert call("listAdministrativeActs", limit=1).acts[0].act == "key.revoke"
    assert call("eraseCustomer", CUSTOMER, app=app).purchases == 1

    assert (call("getHealth"), call("getReadiness")) == ("ok\n", "ready\n")
    description = call("getDescription").to_dict()
    every = {operation["operationId"] for methods in description["paths"].values() for operation in methods.values()}
    assert called == every


def test_names_of_the_description_do_not_differ_by_case_or_punctuation_alone(server):
    """Classes are named after them."""
    description = server.get("/openapi.json", key="").json()
    names = [re.sub("[^a-z0-9]", "", name.lower()) for name in description["components"]["schemas"]]
    assert len(set(names)) == len(names)
    for path, methods in description["paths"].items():
        templates = re.findall(r"\{([^}]*)\}", path)
        assert all(re.fullmatch("[a-z]+", name) for name in templates), path
        for operation in methods.values():
            assert templates == [one["name"] for one in operation["parameters"] if one["in"] == "path"], path
            for content in operation.get("requestBody", {}).get("content", {}).values():
                name = content["schema"]["$ref"].rpartition("/")[2]
                schema = description["components"]["schemas"][name]
                assert schema["type"] == "string" or schema["properties"], name
