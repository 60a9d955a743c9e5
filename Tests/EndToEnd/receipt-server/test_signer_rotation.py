# SPDX-License-Identifier: Apache-2.0
"""A store's signer is rotated and revoked, and receipt-server needs nothing new for it."""

import http.server
import json
import threading

import pytest

import samples
from service import Service
from test_authority import Authority, Responder
from world import SECRET

pytestmark = pytest.mark.server


@pytest.fixture
def store(receipt_tool, tmp_path) -> Authority:
    """An authority whose certificates name a responder, and the root that the server trusts."""
    folder = tmp_path / "store"
    folder.mkdir()
    authority = Authority(receipt_tool, folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (Responder,), {"authority": authority}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    (folder / "authority.txt").write_text("correct horse battery staple\n")
    (folder / "purchase.json").write_text(json.dumps(samples.TRANSACTION))
    authority.run("identity", "create", "one", "--organization", "Example", "--keep-root", "authority", *SECRET,
                  "--ocsp-url", f"http://127.0.0.1:{server.server_port}")  # fmt: skip
    authority.run("identity", "responder", "authority", "leaves", *SECRET)
    authority.run("identity", "responder", "authority", "intermediates", "--issuer", "root", *SECRET)
    authority.sign("one")
    yield authority
    server.shutdown()


def test_the_second_signer_and_the_revocation_of_the_first(store, tmp_path):
    service = Service(tmp_path / "data")

    def change(configuration):
        (app,) = configuration["app"].values()
        (policy,) = app["policy"].values()
        policy |= {"trust": [str(store.folder / "one/root.cer")], "environments": ["production", "sandbox"]}
        policy["bundleIds"] = [samples.BUNDLE]
        app["checkers"] = ["ocsp"]

    def verdict(name):
        answer = service.post("/v1/verify", data=(store.folder / name).read_bytes())
        assert answer.status_code == 200, answer.text
        return answer.json()

    service.configure(change)
    service.start()
    try:
        assert verdict("one.jws")["verdict"] == "valid"
        # The server runs on.
        store.run("identity", "issue", "authority", "two", *SECRET)
        store.sign("two")
        assert verdict("two.jws")["verdict"] == "valid"
        store.run("identity", "revoke", "authority", "one/chain.pem", "--reason", "keyCompromise")
    finally:
        service.end()
    # Another process has not kept the answer of before, which is valid for an hour.
    service.start()
    try:
        refused = verdict("one.jws")
        assert refused["verdict"] == "invalid" and "keyCompromise" in refused["reason"]["message"], refused
        assert verdict("two.jws")["verdict"] == "valid"
    finally:
        service.end()
