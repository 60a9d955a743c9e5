# SPDX-License-Identifier: Apache-2.0
"""A team's backend: takes webhooks, checks them with the package standardwebhooks, and grants each purchase once.

usage: backend.py PORT DATABASE SECRET [SHARE-OF-FAILURES]
"""

import http.server
import json
import random
import sqlite3
import sys

from standardwebhooks import Webhook

port, path, secret = int(sys.argv[1]), sys.argv[2], sys.argv[3]
failures = float(sys.argv[4]) if len(sys.argv) > 4 else 0.0
webhook = Webhook(secret)
failed: set[str] = set()
database = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
database.execute("PRAGMA journal_mode=WAL")
database.execute("PRAGMA synchronous=FULL")
database.execute("CREATE TABLE IF NOT EXISTS told(id TEXT PRIMARY KEY, arrived INTEGER, customer TEXT, original TEXT, body TEXT)")
database.execute("CREATE TABLE IF NOT EXISTS refused(reason TEXT)")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        length = int(self.headers["Content-Length"])
        body = self.rfile.read(length)
        if len(body) < length:
            # The sender was killed in the midst of the request.
            self.close_connection = True
            return
        # No change twice: after the second failure the sender waits for five minutes.
        fails = self.headers["webhook-id"] not in failed and random.random() < failures
        if fails:
            failed.add(self.headers["webhook-id"])
        is_taken = random.random() < 0.5
        if fails and not is_taken:
            return self.answer(random.choice([500, 503, 429]))
        try:
            change = webhook.verify(body, dict(self.headers))
        except Exception as error:
            database.execute("INSERT INTO refused VALUES (?)", [repr(error)])
            return self.answer(400)
        data = change["data"]
        before = database.execute("SELECT body FROM told WHERE id = ?", [self.headers["webhook-id"]]).fetchone()
        if before and before[0] != body.decode():
            database.execute("INSERT INTO refused VALUES ('another content for the same id')")
        database.execute(
            "INSERT OR IGNORE INTO told SELECT ?, (SELECT count(*) FROM told), ?, ?, ?",
            [self.headers["webhook-id"], data.get("customer"), data["entitlement"].get("originalTransactionId"), body.decode()],
        )
        if fails:
            # It was taken, and the answer is lost.
            self.close_connection = True
            return
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
print(json.dumps({"port": server.server_port}), flush=True)
server.serve_forever()
