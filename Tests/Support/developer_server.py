# SPDX-License-Identifier: Apache-2.0
"""The server of a developer, to which an emulated store posts."""

import http.server
import json
import threading
import time


class DeveloperServer:
    """Keeps the bodies that it accepts, and answers request number N with what `behaviour(N)` says: a status, or a way to
    fail."""

    def __init__(self, path: str, success: int = 200):
        self.bodies: list[dict] = []
        self.behaviour = lambda number: success
        self.count = 0
        developer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                developer.count += 1
                answer = developer.behaviour(developer.count)
                if answer == "close":
                    self.connection.close()
                    return
                if answer == "silence":
                    time.sleep(3)
                    self.connection.close()
                    return
                if answer == "garbage":
                    self.wfile.write(b"this is not HTTP\r\n\r\n")
                    self.close_connection = True
                    return
                if answer == "loop":
                    self.send_response(307)
                    self.send_header("Location", self.path)
                elif answer == "charset":
                    self.send_response(200)
                    self.send_header("Content-Type", "application/json; charset=klingon")
                else:
                    if answer in range(200, 207):
                        if developer.accepts(self.headers):
                            developer.bodies.append(body)
                        else:
                            answer = 403
                    self.send_response(answer)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}{path}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def accepts(self, headers) -> bool:
        """Whether a request with these headers is accepted."""
        return True

    def close(self):
        self.server.shutdown()
        self.server.server_close()
