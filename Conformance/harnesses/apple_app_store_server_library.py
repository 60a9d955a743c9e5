#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The harness of Apple's app-store-server-library (PyPI), by its SignedDataVerifier without online checks.

It verifies for one app and one environment, so there is a verifier for each that the policy accepts. The certificates are
checked as of the signing date, as the library does it; what it cannot be told is no feature of it.
"""

import base64
import datetime
import functools
import importlib.metadata
import json
import re
import sys

from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException, VerificationStatus

METHODS = {
    "signed-transaction": "verify_and_decode_signed_transaction",
    "signed-renewal-info": "verify_and_decode_renewal_info",
    "signed-app-transaction": "verify_and_decode_app_transaction",
    "signed-notification": "verify_and_decode_notification",
    "signed-realtime-request": "verify_and_decode_realtime_request",
}
ENVIRONMENTS = {
    "production": Environment.PRODUCTION,
    "sandbox": Environment.SANDBOX,
    "xcode": Environment.XCODE,
    "local-testing": Environment.LOCAL_TESTING,
}
WORDS = {environment: word for word, environment in ENVIRONMENTS.items()}
TEXTS = ("transactionId", "originalTransactionId", "productId", "quantity")
DATES = ("purchaseDate", "originalPurchaseDate", "expiresDate", "revocationDate")


def ders(text: str) -> list[bytes]:
    """The certificates of a text, which may have other lines around its PEM blocks (RFC 7468)."""
    blocks = re.findall(r"-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----", text)
    return [base64.b64decode("".join(block.split())) for block in blocks]


@functools.lru_cache(maxsize=64)
def verifier(roots: tuple, environment: str, bundle: str, app: int) -> SignedDataVerifier:
    return SignedDataVerifier([root for text in roots for root in ders(text)], False, ENVIRONMENTS[environment], bundle, app)


def stated_app(receipt: str) -> int:
    """The app's number that signed data states. The library demands one for production: given what the data states, it
    compares nothing, as the policy asks for no number."""
    try:
        payload = json.loads(base64.urlsafe_b64decode(receipt.split(".")[1] + "==="))
        parts = [payload, *(payload.get(name) or {} for name in ("data", "summary", "externalPurchaseToken", "appData"))]
        return next((part["appAppleId"] for part in parts if isinstance(part.get("appAppleId"), int)), 0)
    except (ValueError, AttributeError, IndexError):
        return 0


def instant(milliseconds) -> str:
    date = datetime.datetime.fromtimestamp(int(milliseconds) // 1000, datetime.timezone.utc)
    return f"{date:%Y-%m-%dT%H:%M:%S}.{int(milliseconds) % 1000:03}Z"


def transaction(decoded) -> dict:
    found = {name: getattr(decoded, name, None) for name in TEXTS}
    found.update({name: instant(getattr(decoded, name)) for name in DATES if getattr(decoded, name, None) is not None})
    return {name: value for name, value in found.items() if value is not None}


def notification(chosen: SignedDataVerifier, decoded) -> dict:
    """The library leaves it to the caller to verify the signed parts."""
    about = decoded.data or decoded.summary or decoded.externalPurchaseToken or getattr(decoded, "appData", None)
    signed = getattr(about, "signedTransactionInfo", None)
    purchases = [transaction(chosen.verify_and_decode_signed_transaction(signed))] if signed else []
    if getattr(about, "signedRenewalInfo", None):
        chosen.verify_and_decode_renewal_info(about.signedRenewalInfo)
    if getattr(about, "signedAppTransactionInfo", None):
        chosen.verify_and_decode_app_transaction(about.signedAppTransactionInfo)
    return {
        "environment": WORDS.get(getattr(about, "environment", None)), "bundleId": getattr(about, "bundleId", None),
        "signedAt": instant(decoded.signedDate) if decoded.signedDate is not None else None, "transactions": purchases,
    }  # fmt: skip


def values(kind: str, chosen: SignedDataVerifier, decoded) -> dict:
    if kind == "signed-notification":
        found = notification(chosen, decoded)
    elif kind == "signed-app-transaction":
        found = {
            "environment": WORDS.get(decoded.receiptType), "bundleId": decoded.bundleId,
            "signedAt": instant(decoded.receiptCreationDate), "transactions": [],
        }  # fmt: skip
    else:
        purchase = transaction(decoded)
        if kind != "signed-transaction":
            purchase = {name: purchase[name] for name in ("originalTransactionId", "productId") if name in purchase}
        found = {
            "environment": WORDS.get(decoded.environment), "bundleId": getattr(decoded, "bundleId", None),
            "signedAt": instant(decoded.signedDate), "transactions": [purchase],
        }  # fmt: skip
    return {name: value for name, value in found.items() if value is not None}


def answer(case: dict) -> dict:
    kind, policy = case["features"][0], case["policy"]
    try:
        receipt = base64.b64decode(case["input"]["receipt"]).decode()
    except UnicodeDecodeError as error:
        return {"verdict": "invalid", "context": f"the library takes text: {error}"}
    refusals, retry = [], False
    app = policy["appAppleId"] if "appAppleId" in policy else stated_app(receipt)
    for environment in policy["environments"]:
        for bundle in policy["bundleIds"]:
            try:
                chosen = verifier(tuple(policy["trust"]), environment, bundle, app)
                decoded = getattr(chosen, METHODS[kind])(receipt)
                return {"verdict": "valid", "values": values(kind, chosen, decoded)}
            except VerificationException as error:
                cause = f" ({error.__cause__})" if error.__cause__ else ""
                refusals.append(f"{environment}: {error.status.name}{cause}")
                retry |= error.status == getattr(VerificationStatus, "RETRYABLE_VERIFICATION_FAILURE", None)
            except Exception as error:
                # An exception that the library does not document refuses as well.
                refusals.append(f"{environment}: {type(error).__name__}: {error}")
    return {"verdict": "undetermined" if retry else "invalid", "context": "; ".join(refusals)}


def main() -> None:
    declaration = {
        "harness": "app-store-server-library (Python)",
        "version": importlib.metadata.version("app-store-server-library"),
        "features": [kind for kind, method in METHODS.items() if hasattr(SignedDataVerifier, method)],
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
