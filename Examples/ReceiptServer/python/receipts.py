# SPDX-License-Identifier: Apache-2.0
"""usage: KEY=rk_… receipts.py verify URL RECEIPT-FILE
       KEY=rk_… receipts.py entitlements URL CUSTOMER
       WEBHOOK_SECRET=whsec_… receipts.py webhook PORT

Verifies a receipt, asks what a customer may use, and takes webhooks, with the standard library alone; the package
receiptkit-client does more. Exit code: 1 refused, 75 not decided now: keep the receipt, and grant nothing.
"""

import base64
import hashlib
import hmac
import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """The key must go to no other server."""

    def redirect_request(self, *_):
        return None


opener = urllib.request.build_opener(NoRedirects)


def ask(url: str, body: bytes | None = None) -> dict:
    """The answer of the server; asks again where that may help."""
    request = urllib.request.Request(url, body, {"Authorization": f"Bearer {os.environ['KEY']}"})
    if body is not None:
        request.add_header("Content-Type", "application/octet-stream")
    for pause in (1, 2, None):
        try:
            with opener.open(request, timeout=10) as answer:
                found = json.load(answer)
            if isinstance(found, dict):
                return found
        except urllib.error.HTTPError as error:
            if error.code != 429 and error.code < 500:
                print(f"failed: {error.code} {error.read(10_000).decode(errors='replace')}")
                sys.exit(1)
            pause = pause and max(pause, int(error.headers.get("Retry-After") or 0))
        except (OSError, http.client.HTTPException, ValueError):
            pass  # no answer, or one that ended early
        if pause is None:
            print("undecided: no answer")
            sys.exit(75)
        time.sleep(pause)
    raise AssertionError


def verify(url: str, file: str) -> int:
    receipt = open(file, "rb").read()
    for pause in (1, 2, 0):
        verdict = ask(f"{url}/v1/verify", receipt)
        if verdict["verdict"] == "valid":
            # Genuine is not enough: a purchase may have expired, or may have been refunded.
            for purchase in verdict.get("transactions", []):
                if purchase.get("grantsAccess") is True:
                    print(f"grant {purchase['productId']} × {purchase['remainingQuantity']}")
            return 0
        if verdict["verdict"] == "invalid":
            print(f"refuse: {verdict['reason']['code']}")
            return 1
        # It could not be checked. That is neither valid nor invalid.
        if verdict.get("retryable") is not True:
            break
        time.sleep(pause)
    print("undecided: keep the receipt")
    return 75


def entitlements(url: str, customer: str) -> int:
    for access in ask(f"{url}/v1/customers/{urllib.parse.quote(customer, safe='')}/entitlements").get("access", []):
        print(access["name"], "yes" if access["grantsAccess"] else "no")
    return 0


taken = set()  # in a database, in the commit that does the work


def is_signed(body: bytes, headers) -> bool:
    """Whether the signature of a webhook is right (https://www.standardwebhooks.com), and not old."""
    identifier, sent = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not sent.isdecimal() or abs(time.time() - int(sent)) > 300:
        return False
    key = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
    expected = "v1," + base64.b64encode(hmac.digest(key, f"{identifier}.{sent}.".encode() + body, hashlib.sha256)).decode()
    signatures = headers.get("webhook-signature", "").split()
    return any(hmac.compare_digest(each.encode(), expected.encode()) for each in signatures)


class Webhooks(BaseHTTPRequestHandler):
    def do_POST(self):
        length = int(self.headers.get("Content-Length", 0))
        if length > 1 << 20:
            return self.answer(413)
        body = self.rfile.read(length)
        if not is_signed(body, self.headers):
            return self.answer(400)
        # The same change may come again: its identifier stays.
        if self.headers["webhook-id"] not in taken:
            change = json.loads(body)
            print(change["type"], change["data"].get("customer"), flush=True)
            taken.add(self.headers["webhook-id"])
        self.answer(204)

    def answer(self, status: int):
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_):
        pass


def webhook(port: str) -> int:
    print(f"ready at port {port}", flush=True)
    ThreadingHTTPServer(("127.0.0.1", int(port)), Webhooks).serve_forever()
    return 0


if __name__ == "__main__":
    commands = {"verify": verify, "entitlements": entitlements, "webhook": webhook}
    if len(sys.argv) < 3 or sys.argv[1] not in commands:
        print(__doc__, file=sys.stderr)
        sys.exit(64)
    sys.exit(commands[sys.argv[1]](*sys.argv[2:]))
