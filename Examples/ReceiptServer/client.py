# SPDX-License-Identifier: Apache-2.0
"""usage: client.py URL KEY RECEIPT…

Verifies receipts with receipt-server: the first by itself, then all of them in a batch.
"""

import json
import sys

import requests

url, key, *files = sys.argv[1:]
receipts = [open(file, "rb").read().strip() for file in files]

server = requests.Session()
server.headers["Authorization"] = f"Bearer {key}"


def verify(receipt: bytes) -> dict:
    answer = server.post(f"{url}/v1/verify", data=receipt, timeout=10)
    answer.raise_for_status()
    return answer.json()


def verify_batch(receipts):
    # A receipt a line is sent, a verdict a line comes back, in the same order.
    lines = (receipt + b"\n" for receipt in receipts)
    with server.post(f"{url}/v1/verify/batch", data=lines, stream=True, timeout=60) as answer:
        answer.raise_for_status()
        for line in answer.iter_lines():
            yield json.loads(line)


verdict = verify(receipts[0])
if verdict["verdict"] == "valid":
    # Genuine is not enough: a purchase may have expired, or may have been refunded.
    for purchase in verdict["transactions"]:
        if purchase["grantsAccess"]:
            print("grant", purchase["productId"], "×", purchase["remainingQuantity"])
elif verdict["verdict"] == "invalid":
    sys.exit(f"refused: {verdict['reason']['code']}")
elif verdict["retryable"]:
    # Neither granted nor refused: keep the receipt, and send it again later.
    sys.exit(f"could not be checked now, try again later: {verdict['reason']['code']}")
else:
    sys.exit(f"cannot be checked until this is corrected: {verdict['reason']['code']}")

for verdict in verify_batch(receipts):
    print(verdict["index"], verdict["verdict"], verdict.get("standing"))
