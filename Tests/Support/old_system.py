# SPDX-License-Identifier: Apache-2.0
"""The old system beside a receipt-server: takes forwarded notifications, and fails as a test says."""

import http.server
import socket
import threading
import time


class OldSystem:
    """Keeps each attempt with its time, and answers attempt number N with what `behaviour(N, body)` says: a status, `close`
    to take the notification and lose the answer, `refuse` to close without taking it, or `silence`."""

    def __init__(self, port: int = 0):
        self.behaviour = lambda number, body: 200
        self.attempts: list[tuple[bytes, dict, bool]] = []
        self.lock = threading.Lock()
        # Where an accepted notification goes on to; its answer is the answer.
        self.accept = lambda body, headers: 200
        self.delay = 0.0
        # The most requests at once.
        self.at_once = self.most_at_once = 0
        self.port = port
        self.server = None
        self.start()

    def start(self):
        old = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                length = int(self.headers["content-length"])
                body = self.rfile.read(length)
                if len(body) < length:
                    # Its sender was killed.
                    self.close_connection = True
                    return
                with old.lock:
                    old.at_once += 1
                    old.most_at_once = max(old.most_at_once, old.at_once)
                    number = len(old.attempts) + 1
                    answer = old.behaviour(number, body)
                    headers = {name.lower(): value for name, value in self.headers.items()}
                    if answer == 200:
                        answer = old.accept(body, headers)
                    is_taken = answer == "close" or answer in range(200, 300)
                    old.attempts.append((body, headers, is_taken))
                time.sleep(old.delay)
                if answer == "silence":
                    time.sleep(2.5)
                with old.lock:
                    old.at_once -= 1
                if isinstance(answer, str):
                    self.close_connection = True
                    return
                try:
                    self.send_response(answer)
                    self.send_header("content-length", "0")
                    self.end_headers()
                except OSError:
                    self.close_connection = True

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            allow_reuse_address = True

        self.server = Server(("127.0.0.1", self.port), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        """Closes the port."""
        self.server.shutdown()
        self.server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/notifications?key=s3cr3t"

    @property
    def taken(self) -> list[bytes]:
        """The bodies that were taken, each once, in the order of their first arrival."""
        return list(dict.fromkeys(body for body, _, is_taken in list(self.attempts) if is_taken))

    def assert_in_order(self) -> None:
        """Whether no notification came before the one before it had been taken, and none came back later."""
        bodies = [body for body, _, _ in self.attempts]
        runs = [body for index, body in enumerate(bodies) if index == 0 or bodies[index - 1] != body]
        assert len(runs) == len(set(runs)), "a notification came again after a later one"
        assert runs[: len(self.taken)] == self.taken


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
