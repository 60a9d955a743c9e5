# SPDX-License-Identifier: Apache-2.0
"""A trace goes through receipt-server: from a request to its log, to the store that it asks, and to webhooks."""

import base64
import http.server
import json
import subprocess
import threading
import time

import pytest

from service import Service

pytestmark = pytest.mark.server

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PARENT, STATE = f"00-{TRACE}-{SPAN}-01", "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"
HEADERS = {"traceparent": PARENT, "tracestate": STATE}


class Listener:
    """Answers every request with one status, and keeps their heads."""

    def __init__(self, status: int):
        self.heads = []
        listener = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self):
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                listener.heads.append(dict(self.headers.items()))
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            do_GET = do_POST = answer

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def named(self, name: str) -> list[str | None]:
        return [{key.lower(): value for key, value in head.items()}.get(name) for head in self.heads]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def backend():
    listener = Listener(204)
    yield listener
    listener.close()


@pytest.fixture
def store():
    listener = Listener(404)
    yield listener
    listener.close()


def test_log_store_and_webhook_belong_to_the_trace(tmp_path, backend, store):
    service = Service(tmp_path / "data")
    key = tmp_path / "key.p8"
    key.write_bytes(
        subprocess.run(
            ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"], check=True, capture_output=True
        ).stdout
    )

    def configure(configuration):
        app = configuration["app"]["demo"]
        app["webhooks"] = ["backend"]
        app["webhook"] = {
            "backend": {
                "url": backend.url, "secrets": ["whsec_" + base64.b64encode(bytes(32)).decode()],
                "allowPrivateNetworks": True,
            }
        }
        app["appStore"] = {"keyFile": str(key), "keyID": "K", "issuerID": "I", "url": store.url}
        app["policies"] = ["default"]

    service.configure(configure)
    with open(tmp_path / "log", "w") as log:
        service.start(log)
        # A customer's receipt entitles, and the backend is told in the same trace.
        service.post("/v1/customers/6b2b7f0e-2f0a-4c0e-9d6a-0a8f3c1d2e4b/receipts", data=service.sample, headers=HEADERS)
        deadline = time.monotonic() + 20
        while not backend.heads:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert backend.named("traceparent") == [PARENT] and backend.named("tracestate") == [STATE]
        # A notification that is refused is logged as of the trace.
        service.post("/v1/notifications/demo", key="", data=b"{}", headers=HEADERS)
        service.post("/v1/notifications/demo", key="", data=b"{}")
        assert service.end() == 0
    lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    delivered = [line for line in lines if line["message"] == "A notification was delivered."]
    assert [(line.get("trace-id"), line.get("span-id")) for line in delivered] == [(TRACE, SPAN), (None, None)]

    service.settings["app.demo.checkers"] = "app-store"
    service.start()
    service.post("/v1/verify", data=service.sample, headers=HEADERS)
    assert store.heads and set(store.named("traceparent")) == {PARENT} and set(store.named("tracestate")) == {STATE}
    store.heads.clear()
    service.post("/v1/verify", data=service.sample)
    assert store.heads and set(store.named("traceparent")) == {None}
    assert service.end() == 0


@pytest.mark.parametrize(
    "parent", ["garbage", PARENT.upper(), f"ff{PARENT[2:]}", f"00-{'0' * 32}-{SPAN}-01", f"{PARENT}, {PARENT}", PARENT * 40]
)
def test_malformed_headers_are_ignored(service, parent):
    answer = service.post("/v1/verify", data=service.sample, headers={"traceparent": parent, "tracestate": "=,="})
    assert answer.json()["verdict"] == "valid"
