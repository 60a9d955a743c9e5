# SPDX-License-Identifier: Apache-2.0
"""receipt-server among strangers that are slow, that read nothing, that open all connections there are, and with a log that
nobody reads: probes are answered, who has a key is served, and nothing that was acknowledged is lost.
RECEIPTKIT_STRANGER_SECONDS says for how long, and that rates are compared."""

import concurrent.futures
import fcntl
import json
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import threading
import time

import pytest
import requests

import samples
from notifications import body as notification
from service import Service, program
from test_service_stores import free_port
from test_webhooks import leaf  # noqa: F401

SECONDS = float(os.environ.get("RECEIPTKIT_STRANGER_SECONDS", "0"))
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")


@pytest.fixture(scope="module", autouse=True)
def many_descriptors():
    """The tests have more connections than the server may have."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 16384), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def address(service: Service) -> tuple[str, int]:
    host, port = service.url.removeprefix("http://").split(":")
    return host, int(port)


def descriptors(count: int) -> list[str]:
    """What runs a program with so many descriptors."""
    return ["sh", "-c", f'ulimit -n {count}; exec "$@"', "sh"]


def wait(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


# MARK: The log


@pytest.mark.long
@pytest.mark.parametrize("how", ["a full disk", "no reader", "a reader that stalls"])
def test_a_log_that_cannot_be_written_stops_nothing(tmp_path, how):
    service = Service(tmp_path / "data")
    reader = None
    if how == "a full disk":
        log = open("/dev/full", "wb")
    else:
        reader, writer = os.pipe()
        fcntl.fcntl(writer, 1031, 4096)  # F_SETPIPE_SZ
        log = os.fdopen(writer, "wb")
    service.start(log)
    log.close()
    if how == "no reader":
        os.close(reader)
    for _ in range(100):
        assert service.post("/v1/notifications/demo", key="", data=b"x").status_code == 400
    assert service.get("/healthz", key="").status_code == 200
    assert service.post("/v1/verify", data=service.sample).json()["verdict"] == "valid"
    assert service.end() == 0
    if how == "a reader that stalls":
        os.close(reader)


def trusting(tmp_path, store) -> Service:
    """A server that takes the store's notifications."""
    service = Service(tmp_path / "data")

    def configure(configuration):
        (service.folder / "root.cer").write_bytes(store.root.der)
        app = configuration["app"]["demo"]
        app["notifications"] = True
        app["policy"]["default"] |= {"bundleIds": [samples.BUNDLE], "trust": ["root.cer"]}

    service.configure(configure)
    return service


def test_lines_that_found_no_room_are_counted(tmp_path, store, leaf):  # noqa: F811
    service = trusting(tmp_path, store)
    reader, writer = os.pipe()
    with os.fdopen(writer, "wb") as log:
        service.start(log)
    for number in range(30):
        long = notification(leaf, original=str(4_000_000_000 + number), notificationType="T" * 60_000)
        assert service.post("/v1/notifications/demo", key="", data=long).status_code == 200
    assert service.get("/healthz", key="").status_code == 200
    text = []
    thread = threading.Thread(target=lambda: text.extend(os.fdopen(reader, "rb")), daemon=True)
    thread.start()
    wait(lambda: any(b"were dropped" in line for line in text))
    assert service.end() == 0
    thread.join(timeout=30)
    lines = [json.loads(line) for line in text]
    dropped = [int(line["count"]) for line in lines if "were dropped" in line["message"]]
    told = [line for line in lines if line["message"] == "A notification was delivered."]
    assert dropped and sum(dropped) + len(told) >= 30


@pytest.mark.parametrize("options", [[], ["--json"]], ids=["text", "JSON"])
def test_a_stranger_begins_no_line_of_the_log(tmp_path, store, leaf, options):  # noqa: F811
    service = trusting(tmp_path, store)
    path = tmp_path / "log"
    with path.open("wb") as log:
        process = subprocess.Popen([program(), "serve", *options, *service.arguments], stdout=subprocess.PIPE, stderr=log, text=True)
    Service.started.append(process)
    service.url = re.search(r"http://[0-9.:]+", process.stdout.readline())[0]
    forged = "TEST\n2026-01-01T00:00:00Z error FORGED\r\x1b[2J\u2028\u202eX"
    sent = notification(leaf, notificationType=forged)
    assert service.post("/v1/notifications/demo", key="", data=sent).status_code == 200
    wait(lambda: b"FORGED" in path.read_bytes())
    process.terminate()
    assert process.wait(timeout=60) == 0
    process.stdout.close()
    text = path.read_text()
    assert "\x1b" not in text and "\r" not in text, text
    for line in text.removesuffix("\n").split("\n"):
        assert not line.startswith("2026-01-01"), text
        if options:
            assert json.loads(line)["level"] != "error"
        else:
            assert "\u202e" not in line and "\u2028" not in line
            assert re.match(r"\d{4}-\d\d-\d\dT\S+Z (info|notice|warning) [a-z.-]+: ", line), text


def test_noise_is_limited(tmp_path):
    service = Service(tmp_path / "data")
    path = tmp_path / "log"
    with path.open("wb") as log:
        service.start(log)
    for _ in range(300):
        assert service.post("/v1/notifications/demo", key="", data=b"x").status_code == 400
    assert service.end() == 0
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    told = [line for line in lines if line["message"] == "A notification was delivered."]
    assert 20 <= len(told) < 150, len(told)


# MARK: Connections


@pytest.mark.parametrize("limit, count", [(256, 400), (1024, 1100)])
@pytest.mark.long
def test_strangers_do_not_use_up_the_descriptors(tmp_path, limit, count):
    service = Service(tmp_path / "data")
    service.prefix = descriptors(limit)
    service.start()
    target = address(service)
    is_over = threading.Event()
    strangers: list[socket.socket] = []

    def crowd():
        while not is_over.is_set():
            for connection in list(strangers):
                try:
                    if not connection.recv(1, socket.MSG_DONTWAIT):
                        raise OSError
                except BlockingIOError:
                    pass
                except OSError:
                    connection.close()
                    strangers.remove(connection)
            while len(strangers) < count and not is_over.is_set():
                connection = socket.socket()
                connection.setblocking(False)
                try:
                    connection.connect(target)
                except BlockingIOError:
                    pass
                except OSError:
                    connection.close()
                    break
                strangers.append(connection)
            time.sleep(0.05)

    thread = threading.Thread(target=crowd)
    thread.start()
    try:
        wait(lambda: len(strangers) >= count)
        for number in range(4):
            answer = requests.get(f"{service.url}/healthz", timeout=60, headers={"Connection": "close"})
            assert answer.status_code == 200
            # What needs a descriptor has one.
            answer = requests.post(
                f"{service.url}/v1/verify", data=b"%d" % number, timeout=60,
                headers={"Authorization": f"Bearer {service.key}", "Connection": "close"},
            )  # fmt: skip
            assert answer.status_code == 200 and answer.json()["entry"] == number, answer.text
            assert len(os.listdir(f"/proc/{service.process.pid}/fd")) < limit - limit // 16
            time.sleep(0.2)
        assert service.process.poll() is None
    finally:
        is_over.set()
        thread.join()
        for connection in strangers:
            connection.close()
    assert service.end() == 0


# MARK: Slow strangers


def one_processor(tmp_path) -> list[str]:
    """What runs a program as if the machine had one processor; a set of processors does not change their count."""
    (tmp_path / "cpus").write_text("0\n")
    script = (
        "mount --make-rprivate / && for name in online possible present; do"
        ' mount --bind "$0" /sys/devices/system/cpu/$name || exit 1; done; exec "$@"'
    )
    prefix = ["unshare", "-m", "sh", "-c", script, str(tmp_path / "cpus")]
    counted = subprocess.run([*prefix, "getconf", "_NPROCESSORS_ONLN"], capture_output=True, text=True)
    if counted.stdout.strip() != "1":
        pytest.skip(f"there is no namespace of mounts: {counted.stderr}")
    return prefix


class Proxy:
    """nginx before a server."""

    def __init__(self, folder, target: str):
        self.port = free_port()
        folder.mkdir()
        (folder / "nginx.conf").write_text(
            f"""
            daemon off; pid {folder}/pid; error_log {folder}/error.log; worker_processes 1;
            worker_rlimit_nofile 8192;
            events {{ worker_connections 4096; }}
            http {{
              access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
              fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
              upstream server {{ server {target}; keepalive 16; }}
              server {{
                listen 127.0.0.1:{self.port} backlog=2048;
                location / {{ proxy_pass http://server; proxy_http_version 1.1; proxy_set_header Connection ""; }}
              }}
            }}
            """
        )
        self.process = subprocess.Popen([NGINX, "-p", str(folder), "-c", str(folder / "nginx.conf")], stderr=subprocess.DEVNULL)

        def answers() -> bool:
            try:
                return requests.get(f"http://127.0.0.1:{self.port}/healthz", timeout=10).status_code == 200
            except requests.RequestException:
                return False

        wait(answers)

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=30)


def verify(url: str, key: str, count: int, first: int) -> list[int]:
    """The entries of so many recorded verdicts, asked for by four at a time."""

    def run(lane: int) -> list[int]:
        entries = []
        with requests.Session() as session:
            for number in range(first + lane, first + count, 4):
                answer = session.post(
                    f"{url}/v1/verify", data=b"receipt %d" % number, headers={"Authorization": f"Bearer {key}"}, timeout=60
                )
                assert answer.status_code == 200, answer.text
                entries.append(answer.json()["entry"])
        return entries

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return [entry for entries in pool.map(run, range(4)) for entry in entries]


@pytest.mark.parametrize("how", ["all processors", "one processor", "proxy"])
@pytest.mark.long
def test_a_thousand_slow_strangers(tmp_path, how):
    service = Service(tmp_path / "data")
    if how == "one processor":
        service.prefix = one_processor(tmp_path)
    if how == "proxy" and not NGINX:
        pytest.skip("no nginx")
    service.start()
    proxy = Proxy(tmp_path / "nginx", service.url.removeprefix("http://")) if how == "proxy" else None
    url = f"http://127.0.0.1:{proxy.port}" if proxy else service.url
    target = ("127.0.0.1", int(url.rpartition(":")[2]))
    began = time.monotonic()
    entries = verify(url, service.key, 200, 0)
    alone = 200 / (time.monotonic() - began)

    head = "POST {} HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\nContent-Type: {}\r\n\r\n"
    requests_ = [
        head.format("/v1/notifications/demo", "application/json").encode(),
        head.format("/console/login", "multipart/form-data; boundary=b").encode() + b"--b\r\n",
        head.format("/v1/notifications/demo", "application/json").encode() + b"x" * 1000,
        b"GET /heal",
    ]
    strangers = []
    # Three of four have sent the head of a request: more than maximumConcurrentRequests.
    for number in range(1400):
        connection = socket.create_connection(target, timeout=60)
        connection.sendall(requests_[number % len(requests_)])
        strangers.append(connection)
    count, first, rates = 200, 1_000_000, []
    end = time.monotonic() + SECONDS
    while True:
        for path in ["/healthz", "/readyz"]:
            assert requests.get(f"{url}{path}", timeout=30).status_code == 200
        began = time.monotonic()
        entries += verify(url, service.key, count, first)
        rates.append(count / (time.monotonic() - began))
        first += count
        # A notification that comes whole is dealt with.
        assert requests.post(f"{url}/v1/notifications/demo", data=b"x", timeout=30).status_code == 400
        for connection in strangers[::7]:
            try:
                connection.send(b"x", socket.MSG_DONTWAIT)
            except OSError:
                pass
        if time.monotonic() >= end:
            break
    print(how, "alone", alone, "among strangers", rates)
    if SECONDS:
        assert sum(rates) / len(rates) > alone / 2
    assert sorted(entries) == list(range(len(entries)))
    for connection in strangers:
        connection.close()
    if proxy:
        proxy.stop()
    assert service.end() == 0
    # What was acknowledged is there after a restart.
    service.start()
    repeated = service.post("/v1/verify", data=b"receipt %d" % (first - 1)).json()
    assert repeated["repeated"] and repeated["entry"] in entries
    assert service.end() == 0


def test_bodies_without_a_key_have_bounded_memory(tmp_path):
    """Of bodies that lack their last byte, the oldest are given up."""
    service = Service(tmp_path / "data").start()
    part = b"POST /v1/notifications/demo HTTP/1.1\r\nHost: a\r\nContent-Length: 1048576\r\n\r\n" + b"x" * ((1 << 20) - 1)
    strangers = []
    for _ in range(60):
        connection = socket.create_connection(address(service), timeout=60)
        connection.sendall(part)
        connection.setblocking(False)
        strangers.append(connection)

    def remaining() -> int:
        count = 0
        for connection in strangers:
            try:
                count += connection.recv(1, socket.MSG_PEEK) != b""
            except BlockingIOError:
                count += 1
            except OSError:
                pass
        return count

    # At once, and not when their time is over.
    wait(lambda: remaining() <= 32, 8)
    assert service.post("/v1/notifications/demo", key="", data=b"x").status_code == 400
    for connection in strangers:
        connection.close()
    assert service.end() == 0


# MARK: Clients that read nothing


def stalled_batch(service: Service, is_whole: bool = False) -> socket.socket:
    """Sends receipts as long as the server takes them, or so many that it reads them all, and reads no verdict."""
    length = 80_000 if is_whole else 999_999_999
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(2)
    connection.connect(address(service))
    connection.sendall(
        f"POST /v1/verify/batch HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {service.key}\r\nContent-Length: {length}\r\n\r\n".encode()
    )
    try:
        for _ in range(length // 20_000):
            connection.sendall(b"x\n" * 10_000)
    except (TimeoutError, ConnectionError):
        pass
    return connection


@pytest.mark.parametrize("is_whole", [False, True], ids=["in parts", "whole"])
@pytest.mark.long
def test_batches_whose_answers_nobody_reads_keep_nobody_out(tmp_path, is_whole):
    service = Service(tmp_path / "data")
    service.settings |= {"limits.requestDeadline": "2", "limits.maximumConcurrentBatches": "2"}
    service.configure(lambda configuration: configuration["app"]["demo"].update(record=False))
    service.start()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        stalled = list(pool.map(lambda _: stalled_batch(service, is_whole), range(2)))
    wait(lambda: service.post("/v1/verify/batch", data=service.sample).status_code == 200)
    # And a shutdown does not wait for them.
    stalled.append(stalled_batch(service, is_whole))
    assert service.end() == 0
    for connection in stalled:
        connection.close()


# MARK: HTTP/1.0, 100 Continue, signals


def exchange(service: Service, request: bytes, seconds: float = 30) -> bytes:
    """What is answered until the server closes, or until nothing came for so long."""
    with socket.create_connection(address(service), timeout=seconds) as connection:
        connection.sendall(request)
        received = b""
        try:
            while part := connection.recv(1 << 16):
                received += part
        except TimeoutError:
            received += b"(open)"
        return received


def test_http_1_0(service):
    answer = exchange(service, b"GET /healthz HTTP/1.0\r\n\r\n")
    assert answer.startswith(b"HTTP/1.0 200") and answer.endswith(b"\r\n\r\nok\n"), answer
    authorization = f"Authorization: Bearer {service.key}\r\n".encode()
    post = b"POST /v1/verify HTTP/1.0\r\n" + authorization + b"Expect: 100-continue\r\nContent-Length: 1\r\n\r\nx"
    answer = exchange(service, post)
    assert answer.startswith(b"HTTP/1.0 200") and answer.count(b"HTTP/1.") == 1 and answer.endswith(b"}"), answer
    batch = b"POST /v1/verify/batch HTTP/1.0\r\n" + authorization + b"Content-Length: 2\r\n\r\nx\n"
    answer = exchange(service, batch)
    assert b"chunked" not in answer.lower() and answer.partition(b"\r\n\r\n")[2].startswith(b'{"type":"verdict"'), answer


@pytest.mark.long
def test_100_does_not_come_into_an_answer(service):
    """A request behind an event stream, and behind another request."""
    authorization = f"Host: a\r\nAuthorization: Bearer {service.key}\r\n".encode()
    expecting = b"POST /v1/verify HTTP/1.1\r\n" + authorization + b"Expect: 100-continue\r\nContent-Length: 1\r\n\r\n"
    stream = b"GET /v1/changes HTTP/1.1\r\n" + authorization + b"Accept: text/event-stream\r\n\r\n"
    with socket.create_connection(address(service), timeout=30) as connection:
        connection.sendall(stream)
        received = connection.recv(1 << 16)
        connection.sendall(expecting)
        while received.count(b":\n\n") < 3:
            received += connection.recv(1 << 16)
        assert b"100 Continue" not in received and received.count(b"3\r\n:\n\n\r\n") == received.count(b":\n\n"), received
    with socket.create_connection(address(service), timeout=30) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n" + expecting)
        received = b""
        while b"100 Continue\r\n\r\n" not in received:
            received += connection.recv(1 << 16)
        connection.sendall(b"x")
        while not received.endswith(b"}"):
            received += connection.recv(1 << 16)
        assert re.findall(rb"HTTP/1.1 (\d+)", received) == [b"200", b"100", b"200"], received


def test_sighup_ends_nothing(tmp_path):
    service = Service(tmp_path / "data")
    path = tmp_path / "log"
    with path.open("wb") as log:
        service.start(log)
    service.process.send_signal(signal.SIGHUP)
    wait(lambda: "SIGHUP" in path.read_text())
    assert service.get("/healthz", key="").status_code == 200
    assert service.end() == 0


# MARK: Certificates


def certificate(folder, name: str) -> None:
    """A pair of files in a folder, for localhost."""
    folder.mkdir(exist_ok=True)
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", f"/CN={name}", "-keyout", folder / "tls.key", "-out", folder / "tls.crt"],
        check=True, capture_output=True, timeout=60,
    )  # fmt: skip


def served(service: Service) -> str:
    """The common name of the certificate that a new connection gets."""
    host, port = service.url.removeprefix("https://").split(":")
    shown = subprocess.run(
        f"openssl s_client -connect {host}:{port} </dev/null 2>/dev/null | openssl x509 -noout -subject",
        shell=True, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    return shown.stdout.strip().rpartition("=")[2].strip()


@pytest.mark.long
def test_certificates_are_read_again_as_kubernetes_changes_them(tmp_path):
    """A link to a link that is replaced; a certificate without its key stays out."""
    mounted = tmp_path / "tls"
    mounted.mkdir()
    for number in (1, 2, 3):
        certificate(mounted / f"..{number}", f"server-{number}")
    # Also where the new files are as old as those before.
    for path in mounted.glob("..*/tls.*"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    (mounted / "..data").symlink_to("..1")
    for name in ("tls.crt", "tls.key"):
        (mounted / name).symlink_to(f"..data/{name}")
    service = Service(tmp_path / "data")
    service.settings |= {"listen.tls.certificates": str(mounted / "tls.crt"), "listen.tls.privateKey": str(mounted / "tls.key")}
    path = tmp_path / "log"
    with path.open("wb") as log:
        service.start(log)
    assert served(service) == "server-1"

    def change(to: str):
        (mounted / "..new").symlink_to(to)
        (mounted / "..new").rename(mounted / "..data")

    change("..2")
    wait(lambda: served(service) == "server-2")
    shutil.copy(mounted / "..1" / "tls.key", mounted / "..3" / "tls.key")
    change("..3")
    service.process.send_signal(signal.SIGHUP)
    wait(lambda: "cannot be used" in path.read_text())
    assert served(service) == "server-2"
    certificate(mounted / "..3", "server-3")
    service.process.send_signal(signal.SIGHUP)
    wait(lambda: served(service) == "server-3")
    assert service.end() == 0


# MARK: PostgreSQL


@pytest.fixture
def on_postgresql(tmp_path, postgresql_server):
    """A server with its database and its trail in PostgreSQL, and the URL of a role."""

    def make(user: str | None = None) -> Service:
        service = Service(tmp_path / "data")
        url = postgresql_server.url.replace("user=postgres", f"user={user}") if user else postgresql_server.url
        name = f"s{os.urandom(8).hex()}"
        service.settings |= {"database": f"{url}&schema={name}", "audit.trail": f"{url}&schema={name}_trail"}
        service.settings["audit.files"] = str(tmp_path / "trail")
        return service

    return make


@pytest.mark.long
def test_a_role_with_few_connections_is_slower_and_nothing_else(tmp_path, on_postgresql, postgresql_server):
    role = f"few{os.urandom(8).hex()}"
    postgresql_server.query(f"CREATE ROLE {role} LOGIN CONNECTION LIMIT 4")
    postgresql_server.query(f"GRANT CREATE ON DATABASE postgres TO {role}")
    service = on_postgresql(role)
    path = tmp_path / "log"
    with path.open("wb") as log:
        service.start(log)

    def run(lane: int) -> list[int]:
        statuses = []
        with requests.Session() as session:
            session.headers["Authorization"] = f"Bearer {service.key}"
            for number in range(10):
                statuses.append(session.post(f"{service.url}/v1/verify", data=b"%d %d" % (lane, number), timeout=60).status_code)
                statuses.append(session.get(f"{service.url}/v1/changes", timeout=60).status_code)
        return statuses

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        statuses = [status for lane in pool.map(run, range(16)) for status in lane]
    assert statuses == [200] * 320, path.read_text()[-3000:]
    assert service.end() == 0


@pytest.mark.long
def test_a_postgresql_that_hangs(on_postgresql, postgresql_server):
    service = on_postgresql().start()
    assert service.post("/v1/verify", data=service.sample).json()["verdict"] == "valid"
    leader = int((postgresql_server.data / "postmaster.pid").read_text().split()[0])
    children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(leader)], capture_output=True, text=True, check=True)
    processes = [leader, *map(int, children.stdout.split())]
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    try:
        calls = [
            lambda: requests.get(f"{service.url}/readyz", timeout=60),
            lambda: requests.get(f"{service.url}/v1/changes", headers={"Authorization": f"Bearer {service.key}"}, timeout=60),
            lambda: requests.post(f"{service.url}/v1/verify", data=b"y", headers={"Authorization": f"Bearer {service.key}"}, timeout=60),
        ]  # fmt: skip
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            answers = list(pool.map(lambda call: call(), calls))
        assert [answer.status_code for answer in answers] == [503] * 3
        assert requests.get(f"{service.url}/healthz", timeout=30).status_code == 200
        service.process.send_signal(signal.SIGTERM)
        assert service.process.wait(timeout=80) is not None
    finally:
        for process in processes:
            os.kill(process, signal.SIGCONT)
