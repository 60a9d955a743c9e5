#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The harness of inapppy (PyPI), by its GooglePlayValidator, which checks the signature of a purchase of Google Play.

It takes data and signature of the purchase, one app, one key, and the purchase state that is accepted: the policies of the
suite accept every state, so it is given the state that the data has.
"""

import base64
import datetime
import importlib.metadata
import json
import sys

from inapppy import GooglePlayValidator, InAppPyValidationError

TEXTS = {"orderId": "transactionId", "productId": "productId", "quantity": "quantity", "purchaseToken": "purchaseToken"}


def instant(milliseconds: int) -> str:
    date = datetime.datetime.fromtimestamp(milliseconds // 1000, datetime.timezone.utc)
    return f"{date:%Y-%m-%dT%H:%M:%S}.{milliseconds % 1000:03}Z"


def stated_state(data: str) -> int:
    try:
        return json.loads(data)["purchaseState"]
    except (ValueError, KeyError, TypeError):
        return 0


def values(purchase: dict) -> dict:
    found = {name: purchase[member] for member, name in TEXTS.items() if member in purchase}
    found.setdefault("quantity", 1)
    signed = instant(purchase["purchaseTime"])
    # What is not paid for is no purchase yet.
    purchases = [{**found, "purchaseDate": signed}] if purchase["purchaseState"] == 0 else []
    return {"bundleId": purchase["packageName"], "signedAt": signed, "transactions": purchases}


def answer(case: dict) -> dict:
    try:
        receipt = json.loads(base64.b64decode(case["input"]["receipt"]))
        data, signature = receipt["data"], receipt["signature"]
    except (ValueError, KeyError, TypeError) as error:
        return {"verdict": "invalid", "context": f"no data with a signature: {type(error).__name__}: {error}"}
    bundles = case["policy"].get("bundleIds", [])
    keys = [key for key in case["policy"].get("playKeys", []) if key["package"] in bundles]
    if not keys:
        return {"verdict": "undetermined", "context": "the library demands a key"}
    refusals = []
    for entry in keys:
        key = "".join(line for line in entry["key"].splitlines() if "-----" not in line)
        try:
            return {
                "verdict": "valid",
                "values": values(GooglePlayValidator(entry["package"], key, stated_state(data)).validate(data, signature)),
            }
        except InAppPyValidationError as error:
            refusals.append(f"{entry['package']}: {error}")
        except Exception as error:
            # An exception that the library does not document refuses as well.
            refusals.append(f"{entry['package']}: {type(error).__name__}: {error}")
    return {"verdict": "invalid", "context": "; ".join(refusals)}


def main() -> None:
    declaration = {
        "harness": "inapppy",
        "version": importlib.metadata.version("inapppy"),
        "features": ["google-play-purchase"],
        "reports": ["bundleId", "signedAt", "transactions"],
        "reasons": False,
        "places": False,
    }
    print(json.dumps(declaration), flush=True)
    for line in sys.stdin:
        case = json.loads(line)
        print(json.dumps({"id": case["id"], **answer(case)}), flush=True)


if __name__ == "__main__":
    main()
