# SPDX-License-Identifier: Apache-2.0
"""Three receipt-servers on one PostgreSQL behind nginx: restarted in turn, killed, and their database restarted."""

import collections
import http.server
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
import uuid

import pytest
import requests

import postgresql
import samples
from independent import jws, pki
from service import Service
from test_webhooks import customer, notification, secret, wait
from tool import VALID

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
PAGE = pathlib.Path(__file__).resolve().parents[3] / "Documentation/ReceiptKit.docc/RunSeveralServers.md"
COUNT = 3


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Backend:
    """Takes webhooks."""

    def __init__(self):
        self.requests: list[tuple[str, dict]] = []
        # Where it is set, the next request is not answered until then.
        self.hold: threading.Event | None = None
        backend = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                told = json.loads(self.rfile.read(int(self.headers["content-length"])))
                hold, backend.hold = backend.hold, None
                backend.requests.append((self.headers["webhook-id"], told))
                if hold:
                    hold.wait(30)
                try:
                    self.send_response(204)
                    self.end_headers()
                except OSError:
                    self.close_connection = True

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def told(self, since: int) -> dict[str, list[dict]]:
        """The webhooks after the first `since`, by customer, each once, in the order in which they arrived first."""
        order, seen = collections.defaultdict(list), set()
        for identifier, told in self.requests[since:]:
            if identifier not in seen:
                order[told["data"]["customer"]].append(told)
            seen.add(identifier)
        return order


class ScaledServer(Service):
    """One of several with the same configuration."""

    def __init__(self, folder: pathlib.Path, port: int):
        super().__init__(folder)
        self.port = port
        self.log = (folder / f"log-{port}").open("ab")

    @property
    def arguments(self) -> list[str]:
        return ["--config", str(self.folder / "receipt-server.json"), f"--set=listen.port={self.port}"]

    def begin(self):
        """Starts it without waiting; `started` waits."""
        self.process = subprocess.Popen(
            [os.environ["RECEIPT_SERVER"], "serve", "--json", *self.arguments], stdout=subprocess.PIPE,
            stderr=self.log, text=True,
        )  # fmt: skip

    def started(self):
        line = self.process.stdout.readline()
        assert line, (self.folder / f"log-{self.port}").read_text()
        self.url = json.loads(line)["url"]

    def start(self, log=None):
        self.begin()
        self.started()
        return self


class World:
    """The servers, what they share, and nginx before them."""

    def __init__(self, folder: pathlib.Path, database: postgresql.PostgreSQLServer, store: pki.Store):
        self.folder, self.database = folder, database
        self.leaf = store.intermediate.issue("Signing", "p256", markers=(pki.RECEIPT_LEAF,), validity=pki.CENTURY)
        self.backend, self.secret = Backend(), secret()
        (folder / "root.cer").write_bytes(store.root.der)
        policy = {"default": {"bundleIds": [samples.BUNDLE], "environments": ["production"], "trust": ["root.cer"]}}
        webhook = {
            "url": f"http://127.0.0.1:{self.backend.port}/", "secrets": [self.secret], "allowPrivateNetworks": True,
        }  # fmt: skip
        self.trail = database.trail("trail")
        self.checkpoints = database.trail("checkpoints")
        configuration = {
            "database": database.trail("service"),
            "audit": {"trail": self.trail, "files": "audit", "checkpoint": self.checkpoints},
            "shutdown": {"delay": 2},
            "limits": {"webhookTimeout": 1},
            "apps": ["shop", "plain"],
            "allowSharedBundleIds": True,
            "app": {
                "shop": {
                    "record": True, "notifications": True, "policy": policy, "webhooks": ["backend"],
                    "webhook": {"backend": webhook},
                },
                "plain": {"policy": policy},
            },
        }  # fmt: skip
        (folder / "receipt-server.json").write_text(json.dumps(configuration))
        *ports, self.port = free_ports(COUNT + 1)
        self.servers = [ScaledServer(folder, port) for port in ports]
        # At once, on an empty database.
        for server in self.servers:
            server.begin()
        for server in self.servers:
            server.started()
        self.key = self.servers[0].make_key("verify", "read")
        self.start_nginx()

    def start_nginx(self):
        """As the page describes it, but for addresses and TLS."""
        (sites,) = re.findall(r"```nginx\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
        for number, server in enumerate(self.servers, 11):
            assert f"10.0.0.{number}:8080" in sites
            sites = sites.replace(f"10.0.0.{number}:8080", f"127.0.0.1:{server.port}")
        sites = sites.replace("listen 443 ssl", f"listen 127.0.0.1:{self.port}")
        folders = "".join(f"{kind}_temp_path {kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        (self.folder / "nginx.conf").write_text(
            f"{'user root;' if os.getuid() == 0 else ''} daemon off; pid nginx.pid; error_log nginx.log;"
            f"events {{ }} http {{ access_log off; {folders} {sites} }}"
        )
        self.nginx = subprocess.Popen([NGINX, "-p", str(self.folder), "-c", str(self.folder / "nginx.conf")])
        wait(lambda: socket.socket().connect_ex(("127.0.0.1", self.port)) == 0, 10)

    def stop(self):
        self.nginx.terminate()
        self.nginx.wait(timeout=30)
        for server in self.servers:
            if server.process.poll() is None:
                server.end(signal.SIGKILL)
            server.log.close()
        self.backend.stop()

    def receipt(self) -> str:
        """A signed transaction that nobody has seen."""
        identifier = str(uuid.uuid4().int % 10**16)
        return jws.sign(samples.TRANSACTION | {"transactionId": identifier}, self.leaf)

    def post(self, session: requests.Session, path: str, body: str | bytes, url: str | None = None) -> requests.Response:
        headers = {"Authorization": f"Bearer {self.key}"}
        return session.post((url or f"http://127.0.0.1:{self.port}") + path, data=body, headers=headers, timeout=30)

    def notify(self, server: ScaledServer, body: bytes) -> int:
        """Delivers a notification; 0 where there is no answer."""
        try:
            return requests.post(f"{server.url}/v1/notifications/shop", data=body, timeout=30).status_code
        except requests.RequestException:
            return 0

    def is_recording(self, server: ScaledServer) -> bool:
        answer = self.post(requests.Session(), "/v1/verify?app=shop", self.receipt(), server.url)
        return answer.status_code == 200 and requests.get(f"{server.url}/readyz", timeout=5).status_code == 200

    def fsck(self, receipt_tool):
        run = receipt_tool.run(
            "audit", "fsck", self.trail, "--key", self.folder / "audit.pub", "--checkpoint", self.checkpoints
        )
        assert run.code == VALID, run.err


@pytest.fixture(scope="module")
def world(store, tmp_path_factory):
    if postgresql.absence():
        pytest.skip(postgresql.absence())
    if not NGINX:
        pytest.skip("no nginx (Debian: apt-get install nginx-light)")
    if not os.environ.get("RECEIPT_SERVER"):
        pytest.skip("RECEIPT_SERVER does not name the built receipt-server")
    database = postgresql.PostgreSQLServer()
    world = None
    try:
        world = World(tmp_path_factory.mktemp("scale-out"), database, store)
        yield world
    finally:
        if world:
            world.stop()
        database.stop()


class Load:
    """Verifications through nginx, as fast as they are answered, by clients that keep their connections."""

    def __init__(self, world: World, apps: list[str], clients=2):
        self.answers: list[tuple[str, int, dict]] = []
        self.faults: list[Exception] = []
        self.is_over = False
        # Signing takes longer than verification.
        receipts = [world.receipt() for _ in range(150)]

        def send(app: str, number: int):
            session = requests.Session()
            index = number
            while not self.is_over:
                try:
                    answer = world.post(session, f"/v1/verify?app={app}", receipts[index % len(receipts)])
                    self.answers.append((app, answer.status_code, answer.json()))
                except (requests.RequestException, ValueError) as fault:
                    self.faults.append(fault)
                index += clients
                time.sleep(0.002)

        self.threads = [
            threading.Thread(target=send, args=(app, number)) for app in apps for number in range(clients)
        ]
        for thread in self.threads:
            thread.start()

    def end(self):
        self.is_over = True
        for thread in self.threads:
            thread.join(timeout=60)

    def statuses(self, app: str) -> collections.Counter:
        return collections.Counter(status for name, status, _ in self.answers if name == app)

    def acknowledged(self) -> dict[int, str]:
        """The transactions that were recorded, by their entries."""
        return {
            answer["entry"]: answer["transactions"][0]["transactionId"]
            for app, status, answer in self.answers
            if app == "shop" and status == 200
        }


def check_entries(world: World, acknowledged: dict[int, str]):
    session = requests.Session()
    for entry, transaction in acknowledged.items():
        answer = session.get(
            f"{world.servers[0].url}/v1/audit/entries/{entry}", params={"app": "shop"},
            headers={"Authorization": f"Bearer {world.key}"}, timeout=30,
        )  # fmt: skip
        assert answer.status_code == 200, (entry, answer.text)
        assert transaction in answer.text


@pytest.mark.long
def test_servers_that_start_at_once_share_one_trail_and_their_keys(world, receipt_tool):
    entries = [
        world.post(requests.Session(), "/v1/verify?app=shop", world.receipt(), server.url).json()["entry"]
        for server in world.servers
    ]
    assert entries == list(range(entries[0], entries[0] + COUNT))
    assert not list(world.folder.glob("audit.checkpoint*"))
    wait(lambda: world.database.query("SELECT count(*) FROM checkpoints.checkpoints") == "1")
    world.fsck(receipt_tool)
    # With another key than theirs.
    other = subprocess.run(
        [os.environ["RECEIPT_SERVER"], *world.servers[0].arguments, f"--set=audit.files={world.folder}/other"],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert other.returncode == 69 and "key" in other.stderr, other.stderr


@pytest.mark.long
def test_rolling_restart_fails_no_request(world, receipt_tool):
    load = Load(world, ["plain", "shop"])
    session = requests.Session()
    try:
        for server in world.servers:
            time.sleep(0.3)
            server.process.send_signal(signal.SIGTERM)
            wait(lambda server=server: session.get(f"{server.url}/readyz", timeout=5).status_code == 503, 2)
            # It still serves, and asks that its connections be not used again.
            answer = world.post(session, "/v1/verify?app=plain", world.receipt(), server.url)
            assert (answer.status_code, answer.headers["Connection"]) == (200, "close")
            assert server.process.wait(timeout=30) == 0
            with pytest.raises(requests.ConnectionError):
                session.get(f"{server.url}/readyz", timeout=5)
            server.start()
            assert session.get(f"{server.url}/readyz", timeout=5).status_code == 200
    finally:
        load.end()
    assert load.faults == []
    assert set(load.statuses("plain")) == set(load.statuses("shop")) == {200}
    assert min(load.statuses("plain").total(), load.statuses("shop").total()) > 100
    check_entries(world, load.acknowledged())
    world.fsck(receipt_tool)


def test_notifications_posted_to_all_at_once_are_folded_and_told_once(world):
    since = len(world.backend.requests)
    customers = [customer(number) for number in range(100, 108)]
    for period in (1, 2, 3):
        kind = "SUBSCRIBED" if period == 1 else "DID_RENEW"
        bodies = [notification(world.leaf, kind, who, period) for who in customers]
        statuses = []
        threads = [
            threading.Thread(target=lambda server=server, body=body: statuses.append(world.notify(server, body)))
            for body in bodies
            for server in world.servers
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert statuses == [200] * len(threads)
    wait(lambda: len(world.backend.requests) - since >= 3 * len(customers))
    # Each looks for more once a second.
    time.sleep(1.5)
    assert len(world.backend.requests) - since == 3 * len(customers)
    check_order(world, since, customers, 3)


def check_order(world: World, since: int, customers: list[str], periods: int):
    order = world.backend.told(since)
    for who in customers:
        told = order[who]
        assert [each["type"] for each in told] == ["entitlement.granted"] + ["entitlement.renewed"] * (periods - 1)
        transactions = [each["data"]["entitlement"]["transactionId"] for each in told]
        assert transactions == sorted(transactions)


@pytest.mark.long
def test_killed_servers_lose_no_webhook_and_others_take_over(world, receipt_tool):
    since = len(world.backend.requests)
    customers = [customer(number) for number in range(200, 208)]
    source = random.Random(3)
    try:
        for period in (1, 2, 3):
            victim = world.servers[period % COUNT]
            killer = threading.Timer(source.random() * 0.1, victim.process.kill)
            killer.start()
            for number, who in enumerate(customers):
                body = notification(world.leaf, "SUBSCRIBED" if period == 1 else "DID_RENEW", who, period)
                # As the store does: again, until it is acknowledged.
                wait(lambda number=number, body=body: world.notify(world.servers[number % COUNT], body) == 200
                     or world.notify(world.servers[(number + 1) % COUNT], body) == 200)  # fmt: skip
            killer.join()
            victim.process.wait()
            victim.process.stdout.close()
            if period < 3:
                victim.start()
        # The last one is not started again before all is delivered: what it had leased others deliver.
        wait(lambda: sum(map(len, world.backend.told(since).values())) == 3 * len(customers), 30)
        # Also what it had delivered, and not noted.
        wait(lambda: world.database.query("SELECT count(*) FROM service.deliveries") == "0", 30)
    finally:
        for server in world.servers:
            if server.process.poll() is not None:
                server.start()
    check_order(world, since, customers, 3)
    world.fsck(receipt_tool)


@pytest.mark.long
def test_lease_of_a_killed_server_is_taken_over(world):
    """A server is killed while the endpoint has not answered yet: another one delivers the same."""
    since = len(world.backend.requests)
    victim, *others = world.servers
    world.backend.hold = answer = threading.Event()
    try:
        # So that none of them delivers it in the first place.
        for server in others:
            server.process.send_signal(signal.SIGSTOP)
        assert world.notify(victim, notification(world.leaf, "SUBSCRIBED", customer(300), 1)) == 200
        wait(lambda: len(world.backend.requests) > since, 5)
        victim.end(signal.SIGKILL)
        for server in others:
            server.process.send_signal(signal.SIGCONT)
        # Longer than one that lives waits for an answer: nobody counts a failure of the one that does not.
        time.sleep(2)
        leases = "SELECT attempts, leased > extract(epoch FROM now()) * 1000 FROM {0}.deliveries JOIN {0}.lanes USING (lane)"
        assert world.database.query(leases.format("service")) == "0|t"
        assert len(world.backend.requests) == since + 1
        wait(lambda: world.database.query(leases.format("service")) == "", 10)
    finally:
        answer.set()
        for server in others:
            server.process.send_signal(signal.SIGCONT)
        if victim.process.poll() is not None:
            victim.start()
    (first, told), (second, again) = world.backend.requests[since:]
    assert (first, told) == (second, again)


@pytest.mark.long
def test_database_that_restarts_is_waited_for(world, receipt_tool):
    since = len(world.backend.requests)
    load = Load(world, ["plain", "shop"])
    customers = [customer(number) for number in range(400, 420)]
    statuses = collections.Counter()

    def notify():
        for who in customers:
            body = notification(world.leaf, "SUBSCRIBED", who, 1)
            while (status := world.notify(world.servers[0], body)) != 200:
                statuses[status] += 1
                time.sleep(0.05)
            statuses[status] += 1
            time.sleep(0.1)

    notifier = threading.Thread(target=notify)
    try:
        notifier.start()
        time.sleep(0.7)
        world.database.restart()
        restarted = time.monotonic()
        recovered = []
        for server in world.servers:
            wait(lambda server=server: world.is_recording(server), 10)
            recovered.append(time.monotonic() - restarted)
        notifier.join(timeout=30)
        time.sleep(0.3)
    finally:
        load.end()
    assert max(recovered) < 8, recovered
    assert load.faults == []
    assert set(load.statuses("plain")) == {200}
    assert set(load.statuses("shop")) <= {200, 503}
    assert set(statuses) <= {200, 503}
    assert statuses[200] == len(customers)
    check_entries(world, load.acknowledged())
    wait(lambda: sum(map(len, world.backend.told(since).values())) == len(customers), 20)
    check_order(world, since, customers, 1)
    for server in world.servers:
        server.process.send_signal(signal.SIGTERM)
    for server in world.servers:
        assert server.process.wait(timeout=30) == 0
    world.fsck(receipt_tool)
