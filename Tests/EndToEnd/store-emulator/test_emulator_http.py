# SPDX-License-Identifier: Apache-2.0
"""store-emulator as a server of HTTP/1.1: what a client may send, what no client should, and its options."""

import json
import os
import re
import socket
import ssl
import subprocess
import time
from contextlib import closing

import pytest
import requests
from cryptography import x509
from emulator import Emulator
from test_app_store_emulator import resident_bytes

TARGET = "/inApps/v1/transactions/2000000001"
MEBIBYTE = 1 << 20


def start(tmp_path_factory, *arguments: str, **options) -> Emulator:
    state = tmp_path_factory.mktemp("emulator")
    return Emulator(os.environ["STORE_EMULATOR"], state, "--sample", "--no-token-checks", *arguments, **options)


@pytest.fixture(scope="module")
def emulator(tmp_path_factory):
    emulator = start(tmp_path_factory)
    yield emulator
    assert emulator.stop() == 0


@pytest.fixture(scope="module")
def impatient(tmp_path_factory):
    emulator = start(tmp_path_factory, "--idle-timeout", "1")
    yield emulator
    assert emulator.stop() == 0


class Connection:
    """A connection on which anything can be sent."""

    def __init__(self, emulator: Emulator, port: str = "port"):
        self.socket = socket.create_connection(("127.0.0.1", emulator.ready[port]), timeout=30)
        if "TLS" in port or port == "tlsPort":
            context = ssl.create_default_context(cafile=emulator.ready["tlsAuthority"])
            self.socket = context.wrap_socket(self.socket, server_hostname="localhost")
        self.unread = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, text: str | bytes) -> None:
        self.socket.sendall(text.encode() if isinstance(text, str) else text)

    def head(self) -> tuple[int, dict[str, str]]:
        while b"\r\n\r\n" not in self.unread:
            received = self.socket.recv(1 << 16)
            assert received, f"the connection ended after {self.unread!r}"
            self.unread += received
        head, self.unread = self.unread.split(b"\r\n\r\n", 1)
        first, *fields = head.decode().split("\r\n")
        return int(first.split(" ")[1]), dict(field.split(": ", 1) for field in fields)

    def body(self, length: int) -> bytes:
        while len(self.unread) < length:
            received = self.socket.recv(1 << 16)
            assert received
            self.unread += received
        body, self.unread = self.unread[:length], self.unread[length:]
        return body

    def answer(self) -> tuple[int, dict[str, str], bytes]:
        status, fields = self.head()
        return status, fields, self.body(int(fields["Content-Length"]))

    def has_ended(self) -> bool:
        """Waits for the end; nothing else may come before it."""
        try:
            return not self.unread and self.socket.recv(1) == b""
        except ConnectionError:
            return True


def request(method: str = "GET", target: str = TARGET, *fields: str, body: str = "") -> str:
    return "\r\n".join([f"{method} {target} HTTP/1.1", "Host: localhost", *fields, "", body])


@pytest.mark.parametrize("target", [TARGET, "/nowhere", "/_emulator/statistics", "/crl/root.crl"])
@pytest.mark.parametrize("port", ["port", "tlsPort"])
def test_head_has_no_body(emulator, target, port):
    with Connection(emulator, port) as connection:
        connection.send(request("GET", target))
        usual, usual_fields, body = connection.answer()
        assert body
        for _ in range(2):
            connection.send(request("HEAD", target))
            status, fields = connection.head()
            assert status == usual and fields.keys() == usual_fields.keys()
            assert abs(int(fields["Content-Length"]) - len(body)) < 16
        connection.send(request("GET", target))
        assert connection.answer()[0] == usual


def test_head_of_a_fault(emulator):
    emulator.faults({"faults": [{"kind": "status", "status": 503}], "requests": 1})
    with Connection(emulator) as connection:
        connection.send(request("HEAD") + request())
        assert connection.head()[0] == 503
        assert connection.answer()[0] == 200


def test_continue(emulator):
    with Connection(emulator) as connection:
        body = json.dumps({"sample": False})
        fields = ["Expect: 100-continue", f"Content-Length: {len(body)}"]
        for _ in range(2):
            connection.send(request("POST", "/_emulator/seed", *fields))
            assert connection.head() == (100, {})
            connection.send(body)
            assert connection.answer()[0] == 200
        connection.send(request("POST", "/_emulator/seed", "Expect: the-unexpected", "Content-Length: 2"))
        assert connection.answer()[0] == 417
        assert connection.has_ended()


def test_curl_waits_for_continue(emulator, tmp_path):
    (tmp_path / "body").write_bytes(b"[" + b" " * 2 * MEBIBYTE + b"]")
    start = time.monotonic()
    curl = ["curl", "--silent", "--fail", "--verbose", "--expect100-timeout", "20", "--header", "Expect: 100-continue"]
    run = subprocess.run(
        [*curl, "--data-binary", "@body", f"{emulator.url()}/_emulator/faults"], cwd=tmp_path, capture_output=True,
        text=True, timeout=30,
    )  # fmt: skip
    assert run.returncode == 0 and "HTTP/1.1 100 Continue" in run.stderr and time.monotonic() - start < 10


@pytest.mark.parametrize(
    "target", [f"http://localhost{TARGET}", f"HTTP://example.com:80{TARGET}?a=b", f"https://x{TARGET}"]
)
def test_absolute_targets(emulator, target):
    with Connection(emulator) as connection:
        connection.send(request("GET", target))
        status, _, body = connection.answer()
        assert status == 200 and "signedTransactionInfo" in json.loads(body)
        connection.send(request("GET", "http://localhost"))
        assert connection.answer()[0] == 404


def test_curl_through_a_proxy(emulator):
    """With the emulator as its proxy, curl sends the whole URL."""
    url = f"http://api.storekit.example{TARGET}"
    curl = ["curl", "--silent", "--show-error", "--fail", "--proxy", emulator.url(), url]
    assert "signedTransactionInfo" in json.loads(subprocess.run(curl, check=True, capture_output=True, timeout=30).stdout)


@pytest.mark.sweep
@pytest.mark.parametrize(
    "status,sent",
    [
        (400, "EHLO example.com\r\n\r\n"), (505, "GET /\r\n\r\n"), (400, "GET / FTP/1.1\r\n\r\n"),
        (400, "G\0T / HTTP/1.1\r\nHost: a\r\n\r\n"), (400, request("GET", "/a b")), (400, "\x16\x03\x01\x02\0\x01\0\r\n"),
        (400, "GET / HTTP/1.1\r\nHost: a\r\nNo colon\r\n\r\n"), (400, "GET / HTTP/1.1\r\nHost: a\r\n: empty\r\n\r\n"),
        (400, "GET / HTTP/1.1\r\n\r\n"), (400, "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
        (400, request("POST", TARGET, "Content-Length: many")), (400, request("POST", TARGET, "Content-Length: -1")),
        (400, request("POST", TARGET, "Content-Length: 1", "Content-Length: 2", body="ab")),
        (400, request("POST", TARGET, "Transfer-Encoding: chunked", body="zz\r\n")),
        (505, "GET / HTTP/2.0\r\nHost: a\r\n\r\n"),
        (414, request("GET", "/" + "a" * 20_000)), (431, request("GET", "/" + "a" * MEBIBYTE)),
        (431, request("GET", TARGET, f"X: {'x' * 100_000}")), (431, request("GET", TARGET, f"X: {'x' * MEBIBYTE}")),
        (431, request("GET", TARGET, *["X: x"] * 1000)), (431, request("GET", TARGET, *[f"X: {'x' * 2000}"] * 200)),
        (413, request("POST", TARGET, f"Content-Length: {64 * MEBIBYTE + 1}")),
        (413, request("POST", TARGET, f"Content-Length: {64 * MEBIBYTE + 1}", "Expect: 100-continue")),
        (413, request("POST", TARGET, f"Content-Length: {1 << 62}", body="x" * MEBIBYTE)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("port", ["port", "tlsPort"])
def test_what_is_no_request(emulator, status, sent, port):
    with Connection(emulator, port) as connection:
        connection.send(request())
        assert connection.answer()[0] == 200
        connection.send(sent)
        found, fields, body = connection.answer()
        assert (found, fields["Connection"]) == (status, "close") and body.endswith(b".\n")
        assert connection.has_ended()


def test_requests_before_a_malformed_one_are_answered(emulator):
    with Connection(emulator) as connection:
        connection.send(request() + request("HEAD") + "nonsense\r\n\r\n" + request())
        assert connection.answer()[0] == 200
        assert connection.head()[0] == 200
        assert connection.answer()[0] == 400
        assert connection.has_ended()


@pytest.mark.long
def test_what_does_not_end_takes_no_memory(emulator):
    before = resident_bytes(emulator.process.pid)
    chunk = "10000\r\n" + "x" * 65536 + "\r\n"
    for begin, more, status in [
        ("GET / HTTP/1.1\r\nHost: a\r\n", f"X: {'x' * 60000}\r\n", 431),
        ("GET /", "x" * 65536, 431),
        (request("POST", TARGET, "Transfer-Encoding: chunked"), chunk, 413),
        (request("GET", TARGET, "Upgrade: h2c", "Connection: Upgrade"), "x" * 65536, 200),
    ]:  # fmt: skip
        with Connection(emulator) as connection:
            connection.send(begin)
            try:
                for _ in range(3000):
                    connection.send(more)
            except OSError:
                pass
            try:
                assert connection.answer()[0] == status
            except ConnectionError:
                pass  # The rest of what was sent may take the answer back.
    assert resident_bytes(emulator.process.pid) < before + 400 * MEBIBYTE
    assert requests.get(f"{emulator.url()}{TARGET}", timeout=30).status_code == 200


@pytest.mark.parametrize(
    "fields", [["Connection: close"], ["Upgrade: h2c", "Connection: Upgrade, HTTP2-Settings", "HTTP2-Settings: AA"]]
)
def test_the_last_answer_says_so(emulator, fields):
    with Connection(emulator) as connection:
        connection.send(request("GET", TARGET, *fields))
        status, received, _ = connection.answer()
        assert (status, received["Connection"]) == (200, "close")
        assert connection.has_ended()


@pytest.mark.long
@pytest.mark.parametrize("port", ["port", "tlsPort"])
@pytest.mark.parametrize(
    "sent", ["", "GET", request()[:-2], request("POST", TARGET, "Content-Length: 10", body="half"), "answered"]
)
def test_slow_connections_are_dropped(impatient, port, sent):
    with Connection(impatient, port) as connection:
        start = time.monotonic()
        if sent == "answered":
            connection.send(request())
            assert connection.answer()[0] == 200
        else:
            connection.send(sent)
        assert requests.get(f"{impatient.url()}{TARGET}", timeout=30).status_code == 200
        assert connection.has_ended()
        assert 0.5 < time.monotonic() - start < 10


def test_a_head_that_comes_byte_by_byte_is_dropped(impatient):
    with Connection(impatient) as connection:
        start = time.monotonic()
        with pytest.raises(OSError):
            while time.monotonic() - start < 10:
                connection.send("x")
                time.sleep(0.05)
        assert 0.5 < time.monotonic() - start < 10


def test_a_handshake_that_does_not_begin_is_dropped(impatient):
    with closing(socket.create_connection(("127.0.0.1", impatient.ready["tlsPort"]), timeout=30)) as plain:
        assert plain.recv(1) == b""


def test_a_late_answer_is_not_dropped(impatient):
    impatient.faults({"faults": [{"kind": "delay", "milliseconds": 2500}], "requests": 1})
    assert requests.get(f"{impatient.url()}{TARGET}", timeout=30).status_code == 200


@pytest.mark.long
def test_a_client_that_does_not_read_is_dropped(impatient):
    with Connection(impatient) as connection:
        connection.send(request("GET", f"/_emulator/bytes/{48 * MEBIBYTE}"))
        deadline = time.monotonic() + 60
        # Only the one that asks is left.
        while impatient.control("GET", "statistics")["openConnections"] > 1:
            assert time.monotonic() < deadline
            time.sleep(0.5)


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_fixed_ports_and_addresses(tmp_path_factory):
    names = {"port": "port", "productionPort": "production-port", "tlsPort": "tls-port",
             "productionTLSPort": "production-tls-port", "expiredTLSPort": "expired-tls-port",
             "wrongHostTLSPort": "wrong-host-tls-port", "untrustedTLSPort": "untrusted-tls-port"}  # fmt: skip
    ports = {name: free_port() for name in names}
    options = [text for name, option in names.items() for text in (f"--{option}", str(ports[name]))]
    emulator = start(tmp_path_factory, "--bind", "127.0.0.2", *options)
    assert {name: port for name, port in emulator.ready.items() if isinstance(port, int)} == ports
    # A certificate names the address at which its responder can be reached.
    url = f"http://127.0.0.2:{ports['port']}"
    assert requests.get(f"{url}{TARGET}", timeout=30).status_code == 200
    tls = requests.get(f"https://127.0.0.2:{ports['tlsPort']}{TARGET}", verify=emulator.ready["tlsAuthority"], timeout=30)
    assert tls.status_code == 200
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", ports["port"]), timeout=30)
    # Where no other URL is given, the emulator notifies itself.
    token = requests.post(f"{url}/inApps/v1/notifications/test", timeout=30).json()["testNotificationToken"]
    [attempt] = requests.get(f"{url}/inApps/v1/notifications/test/{token}", timeout=30).json()["sendAttempts"]
    assert attempt["sendAttemptResult"] == "SUCCESS"
    other = subprocess.run(
        [os.environ["STORE_EMULATOR"], "--state", str(tmp_path_factory.mktemp("other")), "--bind", "127.0.0.2",
         "--tls-port", str(ports["tlsPort"])], capture_output=True, text=True, timeout=30,
    )  # fmt: skip
    assert other.returncode == 69 and "Address already in use" in other.stderr
    assert f"tlsPort {ports['tlsPort']} at 127.0.0.2" in other.stderr
    assert emulator.stop() == 0


def test_certificates_by_option(tmp_path_factory, tmp_path):
    certificate, key = tmp_path / "server.pem", tmp_path / "server.key"
    openssl = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
               "-subj", "/CN=own", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate]  # fmt: skip
    subprocess.run(openssl, check=True, capture_output=True, timeout=30)
    emulator = start(tmp_path_factory, "--tls-certificate", str(certificate), "--tls-key", str(key))
    for port in ["tlsPort", "productionTLSPort"]:
        answer = requests.get(f"{emulator.url(port)}{TARGET}", verify=str(certificate), timeout=30)
        assert answer.status_code == 200
    served = ssl.get_server_certificate(("localhost", emulator.ready["expiredTLSPort"]))
    assert x509.load_pem_x509_certificate(served.encode()).subject.rfc4514_string() != "CN=own"
    assert emulator.stop() == 0
    for options, code in [(["--tls-key", str(key)], 64), (["--tls-key", "/nowhere", "--tls-certificate", "/nowhere"], 66),
                          (["--idle-timeout", "0"], 64), (["--port", "65536"], 64)]:  # fmt: skip
        run = subprocess.run(
            [os.environ["STORE_EMULATOR"], "--state", str(tmp_path / "state"), *options], capture_output=True,
            text=True, timeout=30,
        )  # fmt: skip
        assert run.returncode == code, run.stderr
        assert options[0] in run.stderr or options[1] in run.stderr


def test_the_log(tmp_path_factory, tmp_path):
    with open(tmp_path / "log", "w") as file:
        emulator = start(tmp_path_factory, "--log", stderr=file)
    emulator.faults({"faults": [{"kind": "cut", "afterBytes": 9}], "requests": 1})
    with pytest.raises(requests.exceptions.ConnectionError):
        requests.get(f"{emulator.url()}{TARGET}?a=b", timeout=30, headers={"Authorization": "Bearer secret"})
    requests.head(f"{emulator.url()}/nowhere", timeout=30)
    with Connection(emulator) as connection:
        connection.send("nonsense\r\n\r\n")
        connection.answer()
    assert emulator.stop() == 0
    lines = (tmp_path / "log").read_text().splitlines()
    assert all(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z ", line) for line in lines)
    assert [re.sub(r"\d+ ms", "N ms", line.split(" ", 1)[1]) for line in lines] == [
        "POST /_emulator/faults 200 N ms", f"GET {TARGET}?a=b 200 N ms fault cut", "HEAD /nowhere 404 N ms", "- - 400 N ms",
    ]  # fmt: skip
