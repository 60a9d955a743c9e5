#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The harness of apple-purchase-receipt-verifier (PyPI), by its Verifier.

The library verifies who signed, and leaves it to the caller to compare app and environment with what it returns: the harness
is such a caller. It verifies the signed parts of a notification in the same way.
"""

import base64
import datetime
import functools
import importlib.metadata
import json
import os
import re
import sys

# The harness is named as the package that it imports, which must be found first.
sys.path = [entry for entry in sys.path if os.path.abspath(entry or ".") != os.path.dirname(os.path.abspath(__file__))]

from apple_purchase_receipt_verifier import Config, Reason, Verifier  # noqa: E402

SIGNED_DATA = (
    "signed-transaction", "signed-renewal-info", "signed-app-transaction", "signed-notification", "signed-realtime-request",
)  # fmt: skip
TRANSACTION = "signed-transaction"
PARTS = {
    "signedTransactionInfo": TRANSACTION,
    "signedRenewalInfo": "signed-renewal-info",
    "signedAppTransactionInfo": "signed-app-transaction",
}
SUBJECTS = ("data", "summary", "externalPurchaseToken", "appData")
TEXTS = ("transactionId", "originalTransactionId", "productId", "quantity")
DATES = ("purchaseDate", "originalPurchaseDate", "expiresDate", "revocationDate")
ENVIRONMENTS = {"Production": "production", "Sandbox": "sandbox", "Xcode": "xcode", "LocalTesting": "local-testing"}


class Refused(Exception):
    """The verdict of the library, or of the caller that it demands."""

    def __init__(self, verdict: str, text: str):
        super().__init__(text)
        self.verdict = verdict


@functools.lru_cache(maxsize=16)
def verifier(roots: tuple, time: str) -> Verifier:
    clock = int(datetime.datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp() * 1000)
    # A text may have several PEM blocks, and other lines around them (RFC 7468).
    blocks = r"-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----"
    certificates = [
        base64.b64decode("".join(block.split()))
        for root in roots
        for block in (re.findall(blocks, root) if "-----" in root else [root])
    ]
    return Verifier(Config(roots=certificates, clock=lambda: clock))


def payload(result):
    if not result.verified:
        failed = result.failure.reason == Reason.INTERNAL_ERROR
        raise Refused("undetermined" if failed else "invalid", f"{result.failure.reason.name}: {result.failure.message}")
    return result.payload


def instant(milliseconds) -> str:
    date = datetime.datetime.fromtimestamp(int(milliseconds) // 1000, datetime.timezone.utc)
    return f"{date:%Y-%m-%dT%H:%M:%S}.{int(milliseconds) % 1000:03}Z"


def stated(found: dict) -> dict:
    return {name: value for name, value in found.items() if value is not None}


def compare(policy: dict, bundle, environment, app: tuple = (), names_bundle: bool = True) -> None:
    """What a caller compares of a receipt, or of a signed part, whose signature is right."""
    environment = ENVIRONMENTS.get(environment, environment)
    if bundle not in policy["bundleIds"] and (bundle is not None or names_bundle):
        raise Refused("invalid", f"it is of the app {bundle}")
    if app and policy.get("appAppleId", app[0]) != app[0]:
        raise Refused("invalid", f"it is of the app {app[0]}")
    if environment is None and not {"production", "sandbox"} <= set(policy["environments"]):
        raise Refused("undetermined", "it states no environment")
    if environment is not None and environment not in policy["environments"]:
        raise Refused("invalid", f"it is of the environment {environment}")


def values(bundle, environment, signed, purchases: list) -> dict:
    environment = ENVIRONMENTS.get(environment, environment)
    found = {"environment": environment, "bundleId": bundle, "signedAt": signed and instant(signed)}
    return stated({**found, "transactions": purchases})


def app_receipt(chosen: Verifier, data: bytes, policy: dict) -> dict:
    """The library takes base64."""
    text = data.decode() if data.isascii() else base64.b64encode(data).decode()
    verified = payload(chosen.verify_receipt(text))
    environment = verified.environment.value if verified.environment else verified.receipt_type
    compare(policy, verified.bundle_id, environment, (verified.app_item_id,) if verified.app_item_id else ())
    purchases = [
        {
            "transactionId": each.transaction_id, "originalTransactionId": each.original_transaction_id,
            "productId": each.product_id, "quantity": each.quantity,
            "purchaseDate": each.purchase_date_ms, "originalPurchaseDate": each.original_purchase_date_ms,
            "expiresDate": each.expires_date_ms, "revocationDate": each.cancellation_date_ms,
        }
        for each in verified.in_app
    ]  # fmt: skip
    purchases = [transaction(each) for each in purchases]
    return values(verified.bundle_id, environment, verified.receipt_creation_date_ms, purchases)


def transaction(document: dict) -> dict:
    dates = {name: instant(document[name]) for name in DATES if document.get(name) is not None}
    return stated({name: document.get(name) for name in TEXTS}) | dates


def signed_data(chosen: Verifier, text: str, policy: dict, kind: str) -> dict:
    """The library answers the JSON of signed data."""
    document = json.loads(payload(chosen.verify_signed_data(text)).json)
    about, purchases = document, []
    if kind == "signed-notification":
        about = next((document[name] for name in SUBJECTS if name in document), {})
        for part, part_kind in PARTS.items():
            if part in about:
                inside = signed_data(chosen, about[part], policy, part_kind)
                purchases += inside["transactions"] if part_kind == TRANSACTION else []
    elif kind != "signed-app-transaction":
        purchase = transaction(document)
        purchases = [purchase if kind == TRANSACTION else {n: purchase[n] for n in TEXTS[1:3] if n in purchase}]
    environment = about.get("receiptType" if kind == "signed-app-transaction" else "environment")
    app = () if kind in (TRANSACTION, "signed-renewal-info") else (about.get("appAppleId"),)
    compare(policy, about.get("bundleId"), environment, app, kind == TRANSACTION)
    signed = document.get("signedDate", document.get("receiptCreationDate"))
    return values(about.get("bundleId"), environment, signed, purchases)


def answer(case: dict) -> dict:
    kind, policy, data = case["features"][0], case["policy"], base64.b64decode(case["input"]["receipt"])
    try:
        chosen = verifier(tuple(policy["trust"]), case["time"])
        if kind == "app-receipt":
            return {"verdict": "valid", "values": app_receipt(chosen, data, policy)}
        return {"verdict": "valid", "values": signed_data(chosen, data.decode("utf-8", "replace"), policy, kind)}
    except Refused as error:
        return {"verdict": error.verdict, "context": str(error)}
    except Exception as error:
        # What the library verified, a caller cannot read.
        return {"verdict": "invalid", "context": f"{type(error).__name__}: {error}"}


def main() -> None:
    declaration = {
        "harness": "apple-purchase-receipt-verifier (Python)",
        "version": importlib.metadata.version("apple-purchase-receipt-verifier"),
        "features": ["app-receipt", *SIGNED_DATA, "clock"],
        "reports": ["environment", "bundleId", "signedAt", "transactions"],
        "reasons": False,
        "places": False,
    }
    print(json.dumps(declaration), flush=True)
    for line in sys.stdin:
        case = json.loads(line)
        print(json.dumps({"id": case["id"], **answer(case)}), flush=True)


if __name__ == "__main__":
    main()
