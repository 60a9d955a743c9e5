# SPDX-License-Identifier: Apache-2.0
"""usage: take_webhooks.py PORT SECRET

Takes the webhooks of receipt-server, and prints each change once.
"""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

port, secret = int(sys.argv[1]), sys.argv[2]
webhook = Webhook(secret)
taken = set()  # in a database, in the commit that does the work


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            change = webhook.verify(body, dict(self.headers))
        except WebhookVerificationError:
            return self.answer(400)
        # The same change may come again: its identifier stays.
        if self.headers["webhook-id"] not in taken:
            print(change["type"], change["data"]["entitlement"]["productId"], flush=True)
            taken.add(self.headers["webhook-id"])
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.end_headers()


print(f"ready at port {port}", flush=True)
ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
