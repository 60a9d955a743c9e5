# SPDX-License-Identifier: Apache-2.0
"""Changes of receipt-server, read as server-sent events and in pages, and receipts that customers present."""

import json
import queue
import signal
import threading
import time

import pytest

import samples
from independent import jws, pki
from service import Service

MONTH = 30 * 86_400_000


@pytest.fixture(scope="module")
def leaf(store):
    """Signs at any time."""
    return store.intermediate.issue("Receipt Signing", "p256", markers=(pki.RECEIPT_LEAF,), validity=pki.CENTURY)


@pytest.fixture
def service(store, tmp_path):
    service = Service(tmp_path / "data")

    def configure(configuration):
        (service.folder / "root.cer").write_bytes(store.root.der)
        app = configuration["app"]["demo"]
        app["policy"]["default"] = {
            "bundleIds": [samples.BUNDLE], "environments": ["production"], "trust": ["root.cer"],
        }  # fmt: skip
        other = json.loads(json.dumps(app))
        configuration["apps"].append("other")
        configuration["app"]["other"] = other
        configuration["allowSharedBundleIds"] = True
        configuration["limits"] = {"maximumEventStreamsPerApp": 3}

    service.configure(configure)
    service.start().app = {"app": "demo"}
    yield service
    service.end(signal.SIGKILL)


def receipt(leaf, number: int, **changed) -> bytes:
    now = int(time.time() * 1000)
    transaction = samples.TRANSACTION | {
        "originalTransactionId": str(number), "transactionId": str(number), "signedDate": now, "purchaseDate": now,
        "expiresDate": now + MONTH,
    }  # fmt: skip
    transaction.pop("appAccountToken", None)
    transaction |= changed
    signed = jws.sign({name: value for name, value in transaction.items() if value is not None}, leaf)
    return signed if isinstance(signed, bytes) else signed.encode()


def present(service, leaf, number: int, app="demo", customer="alice") -> None:
    answer = service.post(f"/v1/customers/{customer}/receipts", params={"app": app}, data=receipt(leaf, number))
    assert answer.json()["entitlements"][0]["customer"] == customer, answer.text


class Stream:
    """Reads a stream of events on a thread of its own: what it has read is in `events`, and comments in `comments`."""

    def __init__(self, service, key, headers=None, **parameters):
        self.answer = service.request(
            "GET", "/v1/changes", key=key, params=parameters, stream=True,
            headers={"Accept": "text/event-stream"} | (headers or {}),
        )  # fmt: skip
        self.events, self.comments = queue.Queue(), 0
        if self.answer.status_code == 200:
            threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        event = {}
        try:
            for line in self.answer.iter_lines(chunk_size=1):
                if line.startswith(b":"):
                    self.comments += 1
                elif line:
                    name, _, value = line.decode().partition(": ")
                    event[name] = value
                elif event:
                    self.events.put(event)
                    event = {}
        finally:
            self.events.put(None)

    def next(self):
        """The next event; None after the last."""
        return self.events.get(timeout=60)

    def take(self, count: int) -> list[int]:
        return [int(self.next()["id"]) for _ in range(count)]


def test_a_stream_is_in_order_goes_on_and_is_taken_up_again(service, leaf):
    for number in range(1, 6):
        present(service, leaf, number)
    present(service, leaf, 6, app="other")
    listed = service.get("/v1/changes", params=service.app).json()["changes"]
    sequences = [change["sequence"] for change in listed]
    key = service.make_key("read", app="demo")
    stream = Stream(service, key)
    assert stream.answer.headers["content-type"] == "text/event-stream"
    first = stream.next()
    assert (int(first["id"]), first["event"]) == (sequences[0], "entitlement.granted")
    assert json.loads(first["data"]) == listed[0]["change"]
    assert stream.take(4) == sequences[1:]
    present(service, leaf, 7)
    (added,) = stream.take(1)
    assert added > sequences[-1]
    # A client that reconnects says what it has: it gets the rest, and that alone.
    assert Stream(service, key, {"Last-Event-ID": str(sequences[2])}).take(3) == [*sequences[3:], added]
    assert Stream(service, key, since=sequences[3]).take(2) == [sequences[4], added]


def test_what_was_never_told_is_no_place_to_go_on(service, leaf):
    present(service, leaf, 1)
    key = service.make_key("read", app="demo")
    end = service.get("/v1/changes", params=service.app).json()["changes"][-1]["sequence"]
    for answer in [
        Stream(service, key, {"Last-Event-ID": str(end + 1)}).answer, Stream(service, key, since=end + 1).answer,
        service.get("/v1/changes", key=key, params={"since": end + 1}),
    ]:
        assert answer.status_code == 409 and answer.json()["code"] == "beyond-end", answer.text
        assert str(end) in answer.json()["detail"]
    assert Stream(service, key, {"Last-Event-ID": "nothing"}).answer.status_code == 400
    # The end itself is one, also when the change is gone.
    assert service.get("/v1/changes", key=key, params={"since": end}).json()["changes"] == []
    assert service.request("DELETE", "/v1/customers/alice", params=service.app).status_code == 200
    assert service.get("/v1/changes", key=key, params={"since": end}).json()["changes"] == []
    stream = Stream(service, key, {"Last-Event-ID": str(end)})
    present(service, leaf, 2)
    assert stream.take(1)[0] > end


def test_the_stream_of_a_revoked_key_ends(service, leaf):
    key = service.make_key("read", app="demo")
    stream = Stream(service, key)
    present(service, leaf, 1)
    assert len(stream.take(1)) == 1
    assert service.request("DELETE", f"/v1/keys/{key.split('_')[1]}").status_code == 204
    error = stream.next()
    assert error["event"] == "error" and "id" not in error
    assert json.loads(error["data"])["code"] == "unauthorized"
    assert stream.next() is None


@pytest.mark.long
def test_streams_of_an_app_are_limited_and_leave_those_of_others_alone(service, leaf):
    key, other = service.make_key("read", app="demo"), service.make_key("read", app="other")
    streams = [Stream(service, key) for _ in range(3)]
    refused = Stream(service, key).answer
    assert refused.status_code == 429 and refused.json()["code"] == "too-many-streams"
    quiet = Stream(service, other)
    assert quiet.answer.status_code == 200
    # What others commit is not seen by when comments come.
    time.sleep(1)
    before = quiet.comments
    for number in range(1, 40):
        present(service, leaf, number)
    for stream in streams:
        assert len(stream.take(39)) == 39
    # One each two seconds.
    assert quiet.comments - before < 30
    # A place is free again when its client has gone.
    streams.pop().answer.close()
    deadline = time.monotonic() + 60
    while Stream(service, key).answer.status_code != 200:
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_a_stream_ends_with_the_server(service):
    stream = Stream(service, service.make_key("read", app="demo"))
    assert service.end() == 0
    assert stream.next() is None


def test_a_receipt_that_names_another_customer_entitles_nobody(service, leaf):
    bob = "6b2b7f0e-2f0a-4c0e-9d6a-0a8f3c1d2e4b"
    signed = receipt(leaf, 1, appAccountToken=bob)
    answer = service.post("/v1/customers/alice/receipts", params=service.app, data=signed)
    assert answer.status_code == 409, answer.text
    assert answer.json()["code"] == "other-customer"
    # The verdict is recorded, and the answer says where.
    entry = service.get(f"/v1/audit/entries/{answer.json()['entry']}", params=service.app).json()
    assert entry["verdict"] == "valid"
    for customer in ["alice", bob]:
        found = service.get(f"/v1/customers/{customer}/entitlements", params=service.app).json()
        assert found["entitlements"] == []
    assert service.get("/v1/changes", params=service.app).json()["changes"] == []
    own = service.post(f"/v1/customers/{bob.upper()}/receipts", params=service.app, data=signed)
    assert own.json()["entitlements"][0]["customer"] == bob
    # What is known of a purchase already names its customer, though an older receipt does not.
    older = receipt(leaf, 1, purchaseDate=int(time.time() * 1000) - MONTH)
    again = service.post("/v1/customers/alice/receipts", params=service.app, data=older)
    assert again.status_code == 409 and again.json()["code"] == "other-customer", again.text
    # The customer is named by the path alone.
    both = service.post("/v1/customers/alice/receipts", params=service.app | {"customer": "x"}, data=signed)
    assert both.status_code == 400


def test_a_receipt_without_an_original_transaction_names_its_entry(service, leaf):
    signed = receipt(leaf, 1, originalTransactionId=None)
    answer = service.post("/v1/customers/alice/receipts", params=service.app, data=signed)
    assert answer.status_code == 422 and answer.json()["code"] == "incomplete-receipt", answer.text
    entry = service.get(f"/v1/audit/entries/{answer.json()['entry']}", params=service.app).json()
    assert entry["verdict"] == "valid"
