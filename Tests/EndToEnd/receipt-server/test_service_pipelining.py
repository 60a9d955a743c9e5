# SPDX-License-Identifier: Apache-2.0
"""Requests that share a connection. Those that are answered before the router and those that the router answers come in any
mixture, cut anywhere: each gets its own answer, in the order of the requests, and the two ways give the same answers."""

import random
import socket
import threading
import time

import pytest

from service import Service

TRACE = "00-" + "1" * 32 + "-" + "2" * 16 + "-01"


@pytest.fixture(scope="module", params=[False, True], ids=["unrecorded", "recorded"])
def service(request, tmp_path_factory):
    service = Service(tmp_path_factory.mktemp("pipelining") / "data")
    service.configure(lambda configuration: configuration["app"]["demo"].update(record=request.param))
    yield service.start()
    assert service.end() == 0


def receipts(service: Service) -> list[bytes]:
    """Receipts with verdicts that differ."""
    sample = service.sample.strip()
    head, payload, signature = sample.split(b".")
    return [sample, b"", b"x", b".".join([head, payload, signature[:-4] + b"AAAA"]), b".".join([head, payload[:-8], signature]),
            b'{"receipt-data": "AAAA"}', bytes(range(256)), sample + b"\r\n"]  # fmt: skip


def get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode()


def post(path: str, key: str, body: bytes, *fields: str, pieces: int = 0) -> bytes:
    """A request; where there are `pieces`, its body comes in so many chunks."""
    lines = [f"POST {path} HTTP/1.1", "Host: a", f"Authorization: Bearer {key}", *fields]
    if pieces and body:
        size = len(body) // pieces + 1
        chunks = [body[start : start + size] for start in range(0, len(body), size)]
        lines.append("Transfer-Encoding: chunked")
        body = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"
    else:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body


class Connection:
    """Reads one answer after the other."""

    def __init__(self, service: Service, window: int | None = None):
        host, port = service.url.removeprefix("http://").split(":")
        self.socket = socket.socket()
        self.socket.settimeout(60)
        if window:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        self.socket.connect((host, int(port)))
        self.file = self.socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()
        self.socket.close()

    def answer(self) -> tuple[int, dict[str, str], bytes]:
        status = int(self.file.readline().split()[1])
        fields = {}
        while (line := self.file.readline().strip()):
            name, _, value = line.decode().partition(":")
            fields[name.lower()] = value.strip()
        return status, fields, self.file.read(int(fields["content-length"]))


def alone(service: Service, request: bytes) -> tuple[int, bytes]:
    with Connection(service) as connection:
        connection.socket.sendall(request)
        status, _, body = connection.answer()
        return status, body


def mixture(service: Service, choose: random.Random) -> list[bytes]:
    samples, reader = receipts(service), service.make_key("read")

    def one() -> bytes:
        receipt = choose.choice(samples)
        match choose.randrange(12):
            case 0: return get("/healthz")
            case 1: return post("/v1/verify", service.key, receipt, f"traceparent: {TRACE}")
            case 2: return post("/v1/verify", reader, receipt)
            case 3: return post("/v1/verify", service.key + "x", receipt)
            case 4: return post("/v1/inspect", service.key, receipt)
            case 5: return post("/v1/verify?policy=none", service.key, receipt)
            case 6: return post("/v1/verify", service.key, b"a" * 100_000, pieces=choose.choice([0, 3]))
            case 7: return post("/v1/verify", service.key, receipt, pieces=3)
            case 8: return post("/v1/verify?policy=default", service.key, receipt, "Connection: keep-alive")
            case _: return post("/v1/verify", service.key, receipt)  # fmt: skip

    return [one() for _ in range(60)]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_answers_come_in_the_order_of_the_requests(service, seed):
    choose = random.Random(seed)
    requests = mixture(service, choose)
    for request in requests:  # What is recorded is new only once.
        alone(service, request)
    expected = [alone(service, request) for request in requests]
    assert len(set(expected)) > 8
    stream = b"".join(requests)
    with Connection(service) as connection:
        def send():
            place = 0
            while place < len(stream):
                size = choose.choice([1, 17, 1000, 5000, 200_000])
                connection.socket.sendall(stream[place : place + size])
                place += size
                if choose.random() < 0.1:
                    time.sleep(0.005)
            # Nothing more comes; all that came is answered nevertheless.
            connection.socket.shutdown(socket.SHUT_WR)

        sender = threading.Thread(target=send)
        sender.start()
        answers = [connection.answer() for _ in requests]
        sender.join()
        assert [(status, body) for status, _, body in answers] == expected
        assert connection.file.read() == b""


def test_both_ways_give_the_same_answer(service):
    for receipt in receipts(service):
        request = post("/v1/verify", service.key, receipt)
        alone(service, request)
        with Connection(service) as connection:
            answers = []
            for fields in [[], [f"traceparent: {TRACE}"]]:
                connection.socket.sendall(post("/v1/verify", service.key, receipt, *fields))
                answers.append(connection.answer())
        for _, fields, _ in answers:
            assert fields.pop("date").endswith(" GMT")
        assert answers[0] == answers[1]


@pytest.mark.long
def test_a_client_that_takes_no_answers_is_not_answered_for_ever(service):
    """The server neither reads on nor keeps what it would answer, once the client's window is full."""
    request = post("/v1/verify", service.key, receipts(service)[0])
    with Connection(service, window=4096) as connection:
        connection.socket.settimeout(1)
        sent = 0
        with pytest.raises(TimeoutError):
            while sent < 400 << 20:
                connection.socket.sendall(request)
                sent += len(request)
        connection.socket.settimeout(60)
        # What was read is answered whole, one after the other.
        for _ in range(50):
            assert connection.answer()[0] == 200
    assert service.post("/v1/verify", data=service.sample).json()["verdict"] == "valid"


def test_a_shutdown_answers_the_request_that_is_arriving(tmp_path):
    service = Service(tmp_path / "data").start()
    request = post("/v1/verify", service.key, service.sample)
    with Connection(service) as busy, Connection(service) as idle:
        busy.socket.sendall(request)
        assert busy.answer()[0] == 200
        busy.socket.sendall(request[:-100])
        time.sleep(0.3)
        ending = threading.Thread(target=service.end)
        ending.start()
        assert idle.file.read() == b""
        busy.socket.sendall(request[-100:])
        status, fields, _ = busy.answer()
        assert status == 200 and fields["connection"] == "close"
        assert busy.file.read() == b""
        ending.join()
    assert service.process.returncode == 0
