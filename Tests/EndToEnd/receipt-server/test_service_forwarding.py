# SPDX-License-Identifier: Apache-2.0
"""Store notifications are forwarded to an old system: as received, each, in the order in which they were recorded, through
failures and kills; and to nobody else."""

import http.server
import json
import os
import random
import signal
import threading
import time
import uuid

import pytest
import requests

import notifications
import samples
from independent import jws, pki
from old_system import OldSystem, free_port
from service import Service
from test_console import Session
from test_google_play import ACTIVE, AUDIENCE, EMAIL, PACKAGE, account, google, push, subscribed  # noqa: F401
from test_webhooks import customer, notification, wait

ALICE, BOB = customer(1), customer(2)


@pytest.fixture(scope="module")
def leaf(store):
    """Signs at any time."""
    return store.intermediate.issue("Receipt Signing", "p256", markers=(pki.RECEIPT_LEAF,), validity=pki.CENTURY)


@pytest.fixture
def old():
    old = OldSystem()
    yield old
    old.stop()


class Forwarder(Service):
    """A server that forwards the notifications of its app `demo`."""

    def __init__(self, folder, store, old: OldSystem | None, database: str | None = None, port: int | None = None):
        super().__init__(folder)

        def change(configuration):
            (folder / "root.cer").write_bytes(store.root.der)
            configuration["limits"] = {"webhookTimeout": 1}
            if database:
                configuration["database"] = database
            app = configuration["app"]["demo"]
            app["notifications"] = True
            app["policy"]["default"] |= {"bundleIds": [samples.BUNDLE], "trust": ["root.cer"]}
            if old:
                app["forwarding"] = {"url": old.url, "allowPrivateNetworks": True}

        self.configure(change)
        self.settings["listen.port"] = str(port or free_port())
        self.log = (folder / "log").open("ab")

    def start(self, log=None, options=()):
        return super().start(log or self.log, options)

    def logged(self) -> str:
        return (self.folder / "log").read_text()

    def deliver(self, body: bytes, **headers) -> int:
        headers = {"Content-Type": "application/json"} | {name.replace("_", "-"): value for name, value in headers.items()}
        return requests.post(f"{self.url}/v1/notifications/demo", data=body, headers=headers, timeout=30).status_code

    def waiting(self) -> list[dict]:
        return [json.loads(line) for line in self.command("forwarding", "list", "--json").stdout.splitlines()]

    def forwards(self) -> None:
        """Waits until none waits."""
        wait(lambda: not self.waiting())


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request) -> str | None:
    """Where a server keeps its data: by default in a file."""
    if request.param == "sqlite":
        return None
    server = request.getfixturevalue("postgresql_server")
    schema = f"t{uuid.uuid4().hex[:12]}"
    request.addfinalizer(lambda: server.query(f"DROP SCHEMA IF EXISTS {schema} CASCADE"))
    return f"{server.url}&schema={schema}"


@pytest.fixture
def start(tmp_path, store):
    started = []

    def start(old, **options) -> Forwarder:
        started.append(Forwarder(tmp_path / f"data-{len(started)}", store, old, **options))
        return started[-1].start()

    yield start
    for server in started:
        server.end(signal.SIGKILL)
        server.log.close()


class Store:
    """Delivers notifications one after another, each until it is acknowledged, to the servers in turn; notes when each was
    first sent and when it was acknowledged."""

    def __init__(self, servers: list[Forwarder], bodies: list[bytes]):
        self.servers, self.bodies = servers, bodies
        self.sent: dict[bytes, float] = {}
        self.acknowledged: dict[bytes, float] = {}
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        for number, body in enumerate(self.bodies):
            self.sent[body] = time.monotonic()
            attempt = number
            while True:
                try:
                    if self.servers[attempt % len(self.servers)].deliver(body) == 200:
                        break
                except requests.RequestException:
                    pass
                attempt += 1
                time.sleep(0.02)
            self.acknowledged[body] = time.monotonic()


def assert_order(taken: list[bytes], stores: list[Store]) -> None:
    """Whether what was acknowledged before something else was sent also came before it."""
    sent = {body: time for store in stores for body, time in store.sent.items()}
    acknowledged = {body: time for store in stores for body, time in store.acknowledged.items()}
    assert sorted(taken) == sorted(sent)
    latest_sent = 0.0
    for body in taken:
        # Nothing that came earlier may have been sent after this one was acknowledged.
        assert latest_sent <= acknowledged[body]
        latest_sent = max(latest_sent, sent[body])


def test_bytes_are_forwarded_as_received(start, old, leaf, database):
    server = start(old, database=database)
    plain = notifications.body(leaf)
    assert server.deliver(plain) == 200
    # The same notification in other bytes is a repeat, too.
    assert [server.deliver(body) for body in (plain, plain + b"\n")] == [200, 200]
    other = notifications.body(leaf)
    # A proxy may have added an authorization; the App Store sends none.
    answer = requests.post(
        f"{server.url}/v1/notifications/demo", data=other, headers={"Authorization": "Basic YTpi"}, timeout=30
    )
    assert answer.status_code == 200
    server.forwards()
    assert [body for body, _, _ in old.attempts] == [plain, other]
    first, second = (headers for _, headers, _ in old.attempts)
    assert first["content-type"] == "application/json" and "content-type" not in second
    for headers in (first, second):
        assert "authorization" not in headers and not [name for name in headers if name.startswith("webhook-")]


def test_odd_bytes_of_a_new_notification(start, old, leaf):
    server = start(old)
    plain = notifications.body(leaf)
    odd = b' {"extra" : "\xc3\xa4\\u00e4", "signedPayload"  :' + plain.split(b":", 1)[1].rstrip(b"}") + b" }\r\n\r\n"
    assert server.deliver(odd, Content_Type='application/json; charset="utf-8"') == 200
    server.forwards()
    ((body, headers, _),) = old.attempts
    assert body == odd and headers["content-type"] == 'application/json; charset="utf-8"'


def test_what_is_refused_is_not_forwarded(start, old, leaf):
    server = start(old)
    genuine = notifications.body(leaf)
    forged = genuine[:-20] + b"AAAA" + genuine[-16:]
    other = notifications.body(pki.Store().leaf())
    assert [server.deliver(body) for body in (forged, other, b"{}", b"")] == [400] * 4
    assert server.deliver(genuine) == 200
    server.forwards()
    assert [body for body, _, _ in old.attempts] == [genuine]


def test_a_push_of_google_play_is_forwarded_with_its_token(start, old, google, account, tmp_path, store):  # noqa: F811
    server = Forwarder(tmp_path / "data", store, old)
    _, key_file, _, url = account
    server.configure(lambda configuration: configuration["app"]["demo"].update(googlePlay={
        "serviceAccount": str(key_file), "package": PACKAGE, "url": url, "tokenURL": f"{url}/token",
        "pushAudience": AUDIENCE, "pushEmail": EMAIL, "pushKeysURL": f"{google.url}/certs",
    }))  # fmt: skip
    server.start()
    body, token = push(subscribed("t1"), "m1"), f"Bearer {google.token()}"
    google.answers["GET", "/purchases/subscriptionsv2/tokens/t1"] = 403, {"error": {"code": 403}}
    # Neither what is not genuine, nor what could not be recorded yet.
    assert server.deliver(body, Authorization="Bearer x.y.z") == 401
    assert server.deliver(body, Authorization=token) == 503
    google.answers["GET", "/purchases/subscriptionsv2/tokens/t1"] = 200, ACTIVE
    assert [server.deliver(body, Authorization=token) for _ in range(2)] == [200, 200]
    server.forwards()
    ((forwarded, headers, _),) = old.attempts
    assert forwarded == body and headers["authorization"] == token
    assert server.end() == 0
    # The token is deleted with the body.
    assert token.encode() not in b"".join(path.read_bytes() for path in server.folder.glob("service.sqlite*"))


def flaky(generator: random.Random, chance: float):
    """A behaviour: some attempts fail in each way, but none of a notification more than twice, so that the pauses stay short."""
    failures: dict[bytes, int] = {}

    def behave(number, body):
        if failures.get(body, 0) < 2 and generator.random() < chance:
            failures[body] = failures.get(body, 0) + 1
            return generator.choice([500, 503, 400, 302, 410, "close", "refuse"])
        return 200

    return behave


def test_order_and_completeness_through_failures(start, old, leaf, database):
    server = start(old, database=database)
    old.behaviour = flaky(random.Random(5), 0.1)
    stores = [
        Store([server], [notification(leaf, "DID_RENEW", customer(number), period) for period in range(1, 16)])
        for number in range(6)
    ]
    for store in stores:
        store.thread.join(timeout=120)
    server.forwards()
    assert any(not is_taken for _, _, is_taken in old.attempts)
    old.assert_in_order()
    assert_order(old.taken, stores)
    assert old.most_at_once == 1


def test_an_old_system_that_is_down_for_a_while(start, leaf, database):
    port = free_port()
    old = OldSystem(port)
    old.stop()
    metrics = free_port()
    server = start(old, database=database)
    server.end()
    server.settings["metrics.port"] = str(metrics)
    server.start()
    bodies = [notifications.body(leaf) for _ in range(5)]
    assert [server.deliver(body) for body in bodies] == [200] * 5
    wait(lambda: server.waiting()[0]["attempts"] >= 2)
    (state,) = server.waiting()
    assert (state["app"], state["waiting"]) == ("demo", 5)
    assert "refused" in state["error"].lower() or "connect" in state["error"].lower(), state
    assert "s3cr3t" not in json.dumps(state) + server.logged()
    exported = lambda: requests.get(f"http://127.0.0.1:{metrics}/metrics", timeout=30).text  # noqa: E731
    wait(lambda: 'receipt_forwarding_waiting{app="demo"} 5' in exported())
    assert 'receipt_forwarding_failures_total{app="demo"}' in exported()
    page = server.command("forwarding", "list").stdout
    assert page.startswith("demo  5 waiting  first 1 of 20"), page
    old.start()
    try:
        server.forwards()
        assert [body for body, _, _ in old.attempts] == bodies
        assert 'receipt_forwarded_notifications_total{app="demo"} 5' in exported()
        assert server.waiting() == []
    finally:
        old.stop()


def test_retry_after_is_respected(leaf, store, tmp_path):
    times = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            times.append(time.monotonic())
            self.send_response(503 if len(times) == 1 else 200)
            self.send_header("retry-after", "4")
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    forwarder = Forwarder(tmp_path / "data", store, None)
    forwarder.settings["app.demo.forwarding.url"] = f"http://127.0.0.1:{server.server_address[1]}/"
    forwarder.settings["app.demo.forwarding.allowPrivateNetworks"] = "true"
    forwarder.start()
    try:
        assert forwarder.deliver(notifications.body(leaf)) == 200
        forwarder.forwards()
        assert len(times) == 2 and 3.5 < times[1] - times[0] < 10
    finally:
        forwarder.end()
        server.shutdown()


def test_kills_lose_and_disorder_nothing(start, old, leaf):
    """kill -9 of the server, while it records and while the old system has a notification in hand."""
    server = start(old)
    old.behaviour = flaky(random.Random(9), 0.05)
    old.delay = 0.02
    generator = random.Random(4)
    stores = [
        Store([server], [notification(leaf, "DID_RENEW", customer(number), period) for period in range(1, 13)])
        for number in range(3)
    ]
    for _ in range(int(os.environ.get("RECEIPTKIT_KILLS", "4"))):
        time.sleep(generator.uniform(0.1, 0.6))
        server.end(signal.SIGKILL)
        server.start()
    for store in stores:
        store.thread.join(timeout=120)
    server.forwards()
    old.assert_in_order()
    assert_order(old.taken, stores)


def test_two_servers_share_the_work_without_disorder(start, old, leaf, postgresql_server, tmp_path, store):
    schema = f"t{uuid.uuid4().hex[:12]}"
    url = f"{postgresql_server.url}&schema={schema}"
    servers = [start(old, database=url), start(old, database=url)]
    old.behaviour = flaky(random.Random(6), 0.08)
    old.delay = 0.005
    generator = random.Random(3)
    stores = [
        Store(servers, [notification(leaf, "DID_RENEW", customer(number), period) for period in range(1, 26)])
        for number in range(6)
    ]
    # Each of them is killed in turn, and the other one goes on.
    for number in range(4):
        time.sleep(generator.uniform(0.3, 0.8))
        servers[number % 2].end(signal.SIGKILL)
        time.sleep(0.3)
        servers[number % 2].start()
    for each in stores:
        each.thread.join(timeout=120)
    servers[0].forwards()
    old.assert_in_order()
    assert_order(old.taken, stores)
    assert old.most_at_once == 1
    for server in servers:
        assert server.end() == 0
    postgresql_server.query(f"DROP SCHEMA {schema} CASCADE")


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"url": "http://127.0.0.1:9/"}, "forwarding.url"),
        ({"url": "http://old.example.com/"}, "forwarding.url"),
        ({"url": "https://10.1.2.3/"}, "forwarding.url"),
        ({"url": "https://localhost/"}, "forwarding.url"),
        ({"url": "https://[::ffff:192.168.0.1]/"}, "forwarding.url"),
        ({"url": "nonsense", "allowPrivateNetworks": True}, "forwarding.url"),
        ({"allowPrivateNetworks": True}, "forwarding.allowPrivateNetworks"),
        ({"url": "https://example.com/", "secrets": []}, "forwarding.secrets"),
    ],
    ids=str,
)
def test_what_cannot_take_effect(tmp_path, store, settings, named):
    server = Forwarder(tmp_path / "data", store, None)
    server.configure(lambda configuration: configuration["app"]["demo"].update(forwarding=settings))
    checked = server.command("serve", "--check-config", check=False)
    assert checked.returncode == 65 and f"app.demo.{named}" in checked.stderr, checked.stderr
    server.log.close()


def test_forwarding_needs_notifications(tmp_path, store, old):
    server = Forwarder(tmp_path / "data", store, old)
    server.configure(lambda configuration: configuration["app"]["demo"].update(notifications=False))
    checked = server.command("serve", "--check-config", check=False)
    assert checked.returncode == 65 and "app.demo.forwarding.url: It has no effect" in checked.stderr
    server.log.close()


def test_a_name_that_leads_to_a_private_network_is_refused_at_each_attempt(start, old, leaf, tmp_path, store):
    """`localhost.localdomain`-like names pass the check of the configuration; the addresses are checked when posting."""
    server = Forwarder(tmp_path / "data", store, None)
    name = os.uname().nodename
    server.settings["app.demo.forwarding.url"] = f"https://{name}:{old.port}/"
    server.start()
    try:
        assert server.deliver(notifications.body(leaf)) == 200
        wait(lambda: server.waiting() and server.waiting()[0]["attempts"] >= 1)
        (state,) = server.waiting()
        assert "not in the Internet" in state["error"] or "unknown" in state["error"], state
        assert old.attempts == []
    finally:
        server.end(signal.SIGKILL)
        server.log.close()


def test_an_erasure_leaves_no_body(start, leaf, database, postgresql_server, tmp_path):
    old = OldSystem()
    old.behaviour = lambda number, body: 500
    server = start(old, database=database)
    bodies = {who: notification(leaf, "SUBSCRIBED", who, 1) for who in (ALICE, BOB)}
    # A purchase that names nobody, and that alice presents.
    unnamed = notifications.body(leaf, original="2000000000004711")
    presented = jws.sign(
        samples.TRANSACTION | {"originalTransactionId": "2000000000004711", "signedDate": int(time.time() * 1000)}, leaf
    )
    for body in (*bodies.values(), unnamed):
        assert server.deliver(body) == 200
    answer = server.post(f"/v1/customers/{ALICE}/receipts", data=presented)
    assert answer.status_code == 200, answer.text
    assert server.waiting()[0]["waiting"] == 3

    def stored() -> bytes:
        if database is None:
            return b"".join(path.read_bytes() for path in server.folder.glob("service.sqlite*"))
        schema = database.rpartition("schema=")[2]
        rows = postgresql_server.query(f"SELECT encode(body, 'escape') FROM {schema}.forwards")
        subjects = postgresql_server.query(f"SELECT subject FROM {schema}.forward_subjects")
        return (rows + subjects).encode()

    part = lambda body: json.loads(body)["signedPayload"].encode()[-80:]  # noqa: E731
    assert all(part(body) in stored() for body in (*bodies.values(), unnamed))
    erased = server.request("DELETE", f"/v1/customers/{ALICE}")
    assert erased.status_code == 200, erased.text
    assert part(bodies[BOB]) in stored()
    assert part(bodies[ALICE]) not in stored() and part(unnamed) not in stored()
    assert ALICE.encode() not in stored()
    assert server.waiting()[0]["waiting"] == 1
    # The rest is forwarded, and nothing of hers.
    old.attempts.clear()
    old.behaviour = lambda number, body: 200
    server.forwards()
    assert old.taken == [bodies[BOB]]
    old.stop()


def test_a_delivered_body_is_deleted(start, old, leaf):
    server = start(old)
    body = notification(leaf, "SUBSCRIBED", ALICE, 1)
    assert server.deliver(body) == 200
    server.forwards()
    assert server.end() == 0
    stored = b"".join(path.read_bytes() for path in server.folder.glob("service.sqlite*"))
    assert json.loads(body)["signedPayload"].encode()[-80:] not in stored


def test_switching_off_and_on_again(start, old, leaf):
    old.behaviour = lambda number, body: 500
    server = start(old)
    bodies = [notifications.body(leaf) for _ in range(5)]
    for body in bodies[:2]:
        assert server.deliver(body) == 200
    server.end()
    forwarding = {}

    def remove(configuration):
        forwarding.update(configuration["app"]["demo"].pop("forwarding"))

    server.configure(remove)
    server.start()
    wait(lambda: "has no forwarding.url" in server.logged())
    line = next(json.loads(line) for line in server.logged().splitlines() if "has no forwarding.url" in line)
    assert "2" in json.dumps(line) and "demo" in json.dumps(line)
    # This one is recorded, and not forwarded.
    assert server.deliver(bodies[2]) == 200
    assert server.waiting()[0]["waiting"] == 2
    server.end()
    server.configure(lambda configuration: configuration["app"]["demo"].update(forwarding=forwarding))
    old.attempts.clear()
    old.behaviour = lambda number, body: 200
    server.start()
    assert server.deliver(bodies[3]) == 200
    server.forwards()
    assert old.taken == [bodies[0], bodies[1], bodies[3]]


def test_drop(start, old, leaf):
    old.behaviour = lambda number, body: 500
    server = start(old)
    bodies = [notifications.body(leaf) for _ in range(4)]
    for body in bodies:
        assert server.deliver(body) == 200
    first = server.waiting()[0]["first"]

    def drop(*options) -> tuple[int, str, str]:
        done = server.command("forwarding", "drop", *options, check=False)
        return done.returncode, done.stdout, done.stderr

    assert drop("--app", "demo")[0] == 64 and drop("--app", "demo", "--all", "--first", "1")[0] == 64
    # Only the first one, by its number.
    assert drop("--app", "demo", "--first", str(first + 1))[0] == 1
    assert drop("--app", "other", "--all")[0] == 1
    assert drop("--app", "demo", "--first", str(first)) == (0, "1 dropped\n", "")
    assert drop("--app", "demo", "--first", str(first))[0] == 1
    # The next one is tried at once, whatever the first one waited for.
    wait(lambda: old.attempts[-1][0] == bodies[1], 5)
    code, output, _ = drop("--app", "demo", "--all", "--json")
    assert code == 0 and json.loads(output) == {"type": "forwarding-drop", "version": 1, "count": 3}
    assert server.waiting() == []
    old.behaviour = lambda number, body: 200
    assert server.deliver(last := notifications.body(leaf)) == 200
    server.forwards()
    assert old.taken == [last]
    acts = server.get("/v1/administrative-acts").json()
    assert [act["act"] for act in acts["acts"] if act["act"].startswith("forwarding")] == ["forwarding.drop"] * 2


def test_the_console_shows_what_waits(start, old, leaf):
    old.behaviour = lambda number, body: 507
    server = start(old)
    assert server.deliver(notifications.body(leaf)) == 200
    wait(lambda: server.waiting()[0]["attempts"] >= 1)
    page = Session(server, server.key).get("/console/webhooks?app=demo").text
    assert "Notifications that are forwarded" in page and "HTTP 507" in page
    assert "s3cr3t" not in page
