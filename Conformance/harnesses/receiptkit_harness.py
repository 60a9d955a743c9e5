#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The harness of ReceiptKit, by its binding to Python (Bindings/python), which needs libreceiptkit.so."""

import base64
import functools
import json
import sys

from receiptkit import PolicyError, Verifier, version

KINDS = [
    "signed-transaction", "signed-renewal-info", "signed-app-transaction", "signed-notification", "signed-realtime-request",
    "app-receipt", "transaction-receipt", "google-play-purchase", "google-play-license", "huawei-purchase",
]  # fmt: skip
POLICY = [
    "any-bundle-id", "xcode-certificates", "admit-xcode", "require-current", "kinds", "algorithms", "maximum-age",
    "allowed-clock-skew", "time", "markers", "device-id", "accept-claimed-environment", "admit-short-keys",
    "play-environments", "huawei-environments", "unstated-environment", "maximum-byte-count",
]  # fmt: skip
SUBJECTS = ["xcode", "nested-parts", "resource-limits", "name-constraints", "certificate-policies", "verify-all"]
TRANSACTION = (
    "transactionId", "originalTransactionId", "productId", "quantity", "purchaseDate", "originalPurchaseDate", "expiresDate",
    "revocationDate", "purchaseToken",
)  # fmt: skip
ENVIRONMENTS = {"Production": "production", "Sandbox": "sandbox", "Xcode": "xcode", "LocalTesting": "local-testing"}


@functools.lru_cache(maxsize=8)
def verifier(policy: str) -> Verifier:
    return Verifier(policy)


def standing(purchase: dict) -> dict:
    found = {"transactionId": purchase.get("transactionId", purchase.get("orderId")), "standing": purchase["standing"]}
    return {name: value for name, value in found.items() if value is not None}


def values(verdict: dict) -> dict:
    found = {
        "environment": ENVIRONMENTS.get(verdict.get("environment"), verdict.get("environment")),
        "bundleId": verdict.get("bundleId"),
        "signedAt": verdict.get("signedDate"),
        "algorithm": verdict.get("signer", {}).get("algorithm"),
        "transactions": [
            {name: purchase[name] for name in TRANSACTION if name in purchase} for purchase in verdict.get("transactions", [])
        ],
        "license": verdict.get("license"),
        "standing": [standing(part) for part in verdict.get("transactions", []) + verdict.get("unpaidPurchases", [])],
    }
    return {name: value for name, value in found.items() if value is not None}


def verify(case: dict, policy: dict) -> dict:
    return verifier(json.dumps(policy)).verify(base64.b64decode(case["input"]["receipt"])).to_dict()


def verify_all(case: dict) -> dict:
    """The verdicts of the first round that differs from the one before it, or of the last."""
    judge, receipts = Verifier(json.dumps(case["policy"])), [base64.b64decode(text) for text in case["input"]["receipts"]]
    before = found = None
    for _ in range(case["input"]["rounds"]):
        found = [verdict.to_dict() for verdict in judge.verify_many(receipts)]
        found = [(verdict["verdict"], verdict.get("reason", {}).get("code")) for verdict in found]
        if before is not None and found != before:
            break
        before = found
    verdicts = [{"index": index, "verdict": each, "reason": reason} for index, (each, reason) in enumerate(found)]
    return {"verdict": "valid", "values": {"verdicts": verdicts}}


def verdict_of(case: dict) -> dict:
    """The library has the system's clock, or one instant at which the certificates must be valid and which is the clock of
    all else. A clock for certificates that must be valid when they signed takes both."""
    policy, as_of_then = dict(case["policy"]), {**case["policy"], "time": case["time"]}
    if policy.get("time") == "evaluation" or "standing" in case["features"]:
        return verify(case, as_of_then)
    if "clock" in case["features"]:
        verdict = verify(case, as_of_then)
        if verdict.get("reason", {}).get("code") in ("too-old", "signed-in-future", "signing-time-missing"):
            return verdict
        policy.pop("maximumAge", None)
    return verify(case, policy)


def answer(case: dict) -> dict:
    if case["operation"] == "verify-all":
        return verify_all(case)
    try:
        verdict = verdict_of(case)
    except PolicyError as error:
        # A program that cannot be made answers nothing, so that the receipt cannot be checked.
        return {"verdict": "undetermined", "context": f"{error.place}: {error}"}
    if verdict["verdict"] == "valid":
        return {"verdict": "valid", "values": values(verdict)}
    reason = verdict["reason"]
    return {
        "verdict": verdict["verdict"], "reason": reason["code"], "place": reason.get("place", ""), "context": reason["message"],
    }  # fmt: skip


def main() -> None:
    declaration = {
        "harness": "receiptkit",
        "version": version().tool_version,
        "features": [*KINDS, *(f"policy-{name}" for name in POLICY), "clock", "standing", "wrappers", *SUBJECTS],
        "reports": ["environment", "bundleId", "signedAt", "algorithm", "transactions", "license", "standing", "verdicts"],
        "reasons": True,
        "places": True,
    }
    print(json.dumps(declaration), flush=True)
    for line in sys.stdin:
        case = json.loads(line)
        print(json.dumps({"id": case["id"], **answer(case)}), flush=True)


if __name__ == "__main__":
    main()
