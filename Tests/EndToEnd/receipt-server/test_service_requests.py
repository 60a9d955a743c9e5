# SPDX-License-Identifier: Apache-2.0
"""Requests that are mutated at random, from the method to the body, as bytes on a connection. None is a fault of the server's,
and without a key none gets what only a key opens. RECEIPTKIT_FUZZ_REQUESTS says how many; RECEIPTKIT_FUZZ_SEED where to begin."""

import collections
import os
import pathlib
import random
import re
import socket

import pytest
import requests

from service import Service

COUNT = int(os.environ.get("RECEIPTKIT_FUZZ_REQUESTS", "4000"))
SEED = int(os.environ.get("RECEIPTKIT_FUZZ_SEED", "22"))
METHODS = ["GET", "POST", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS", "TRACE", "CONNECT", "get", "PROPFIND", "G\x00T", "", "A" * 300]
VERSIONS = ["HTTP/1.0", "HTTP/0.9", "HTTP/2.0", "HTTP/1.", "HTTP/11", "http/1.1", "", "HTTP/1.1 HTTP/1.1"]
SEGMENTS = ["..", ".", "%2e%2e", "%2E", "%2f", "%5c", "\\", "%00", "%ff", "%zz", "%", "*", ";a=b", "é", "\xff", " ", "\t", "a" * 5000,
            "1", "-1", "18446744073709551616", "x001", "{id}", "healthz", "console", "v1", "V1"]  # fmt: skip
NUMBERS = ["0", "5", "-1", "+5", "5, 5", "5,6", "0x5", "05", "99999999999999999999", "", " ", "5 ", "5\x00"]
CODINGS = ["chunked", "Chunked", "chunked, chunked", "identity", "gzip", "gzip, chunked", "chunked;q=1", "xchunked", "", "\x0bchunked", "chunked\t"]
VALUES = ["", "*", "a", "x" * 20_000, "a\x00b", "a\x7fb", "a\x1b[31mb", "\xe9\xff", "a\r\n b", "a\rb", "a\nb: c", '"', "é", "${7*7}", "<script>", "%0d%0a",
          "application/json", "text/event-stream", "multipart/form-data; boundary=b", "application/x-www-form-urlencoded", "100-continue", "close",
          "keep-alive, close", "upgrade", "h2c", "bytes=0-", "00-" + "a" * 32 + "-" + "b" * 16 + "-01", "00-" + "0" * 32, "127.0.0.1"]  # fmt: skip
NAMES = ["Accept", "Content-Type", "Expect", "Connection", "Upgrade", "Range", "traceparent", "tracestate", "Cookie", "Origin", "Referer",
         "X-Forwarded-For", "X-HTTP-Method-Override", "Transfer-Encoding", "Content-Length", "Host", "Authorization", "If-None-Match", "Trailer", "TE",
         "x" * 300, "a b", "a:", "", "é", "\x00", " Host", "Host ", "Sec-Fetch-Site"]  # fmt: skip


class Mutator:
    """Makes requests; `key` is presented by those that may get everything."""

    def __init__(self, seed: int, paths: list[str], key: str, receipt: bytes):
        self.random = random.Random(seed)
        self.paths, self.key, self.receipt = paths, key, receipt

    def request(self, has_key: bool) -> bytes:
        choose = self.random
        # Most are HTTP, so that they get as far as a route.
        method = choose.choice(METHODS[:2] if choose.random() < 0.8 else METHODS)
        version = "HTTP/1.1" if choose.random() < 0.9 else choose.choice(VERSIONS)
        lines = [f"{method} {self.target()} {version}"]
        if choose.random() < 0.95:
            lines.append("Host: a")
        if has_key:
            lines.append(f"Authorization: Bearer {self.key}")
        elif choose.random() < 0.5:
            lines.append("Authorization: " + choose.choice([
                "Bearer", "Bearer ", "Bearer x", "Basic YTpi", f"Bearer {self.key[:-1]}", f"Bearer {self.key}x", f"bearer\t{self.key[:20]}",
                "Bearer rk_" + "A" * 12 + "_" + "B" * 43, "Bearer " + "é" * 30,
            ]))  # fmt: skip
        body = self.body()
        if choose.random() < 0.8:
            lines.append(f"Content-Length: {len(body)}")
        for _ in range(choose.choice([0, 0, 1, 2, 5])):
            name, value = choose.choice(NAMES), choose.choice(VALUES)
            if name == "Content-Length":
                value = choose.choice(NUMBERS)
            elif name == "Transfer-Encoding":
                value = choose.choice(CODINGS)
            lines.append(f"{name}: {value}")
        choose.shuffle(tail := lines[1:])
        end = "\r\n" if choose.random() < 0.98 else choose.choice(["\n", "\r", "\r\r\n"])
        # Letters beyond Latin-1 go as UTF-8.
        head = (end.join([lines[0], *tail]) + end + end).encode("utf-8", "surrogateescape")
        request = head + body
        if choose.random() < 0.1:
            request = self.damaged(request)
        return request

    def target(self) -> str:
        choose = self.random
        path = choose.choice(self.paths)
        for _ in range(choose.choice([0, 0, 0, 1, 2])):
            parts = path.split("/")
            place = choose.randrange(len(parts))
            action = choose.randrange(4)
            if action == 0:
                parts[place] = choose.choice(SEGMENTS)
            elif action == 1:
                parts.insert(place, choose.choice(SEGMENTS))
            elif action == 2 and parts[place]:
                parts[place] = "".join(f"%{ord(letter):02x}" for letter in parts[place])
            else:
                parts.insert(place, "")
            path = "/".join(parts)
        if choose.random() < 0.3:
            name = choose.choice(["app", "policy", "limit", "since", "before", "id", "customer", "original", "", "%00", "é"])
            path += "?" + "&".join([f"{name}={choose.choice(SEGMENTS + NUMBERS)}"] * choose.choice([1, 1, 2]))
        if choose.random() < 0.05:
            path = choose.choice(["http://other.example", "//other.example", "http://", "other.example:443", "*", "", "?", "#"]) + path
        return path

    def body(self) -> bytes:
        choose = self.random
        kind = choose.randrange(6)
        if kind == 0:
            return self.receipt
        if kind == 1:
            return choose.randbytes(choose.randrange(1, 2000))
        if kind == 2:
            return choose.choice([b"{}", b"[]", b"null", b'{"signedPayload":"a.b.c"}', b'{"name":"n","scopes":["read"]}', b"[" * 5000, b'{"a":' * 5000])
        if kind == 3:
            return choose.choice([b"5\r\nhello\r\n0\r\n\r\n", b"5;x=y\r\nhello\r\n0\r\nA: b\r\n\r\n", b"FFFFFFFFFFFFFFFFF\r\n", b"-1\r\n", b"0\r\n" + b"A: b\r\n" * 500 + b"\r\n"])
        if kind == 4:
            return b'--b\r\nContent-Disposition: form-data; name="receipt"\r\n\r\n' + self.receipt[:50] + b"\r\n--b--\r\n"
        return b""

    def damaged(self, request: bytes) -> bytes:
        choose = self.random
        changed = bytearray(request)
        for _ in range(choose.randrange(1, 6)):
            place = choose.randrange(min(len(changed), 400) or 1)
            action = choose.randrange(3)
            if action == 0 and changed:
                changed[place % len(changed)] = choose.randrange(256)
            elif action == 1:
                changed[place:place] = choose.randbytes(choose.randrange(1, 8))
            else:
                del changed[place : place + choose.randrange(1, 8)]
        return bytes(changed)


def exchange(address: tuple[str, int], request: bytes) -> bytes:
    """What is answered until the server closes, which it does when it has answered, since no more comes."""
    with socket.create_connection(address, timeout=30) as connection:
        received = b""
        try:
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
            while part := connection.recv(1 << 16):
                received += part
        except (ConnectionResetError, BrokenPipeError):
            pass
        return received


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    """A server, its log, and the paths of all its routes. It stops reading long before a test ends."""
    service = Service(tmp_path_factory.mktemp("requests") / "data")
    service.settings["limits.requestDeadline"] = "5"
    log = service.folder.parent / "log"
    with log.open("w") as file:
        service.start(file)
    paths = list(service.get("/openapi.json").json()["paths"]) + ["/console", "/console/login", "/console/verify", "/console/keys", "/"]
    yield service, log, [re.sub(r"\{[^}]*\}", "1", path) for path in paths]
    assert service.end() == 0


@pytest.mark.parametrize("has_key", [False, True], ids=["without a key", "with a key"])
@pytest.mark.long
def test_mutated_requests(target, has_key):
    service, log, paths = target
    host, port = service.url.removeprefix("http://").split(":")
    mutator = Mutator(SEED + has_key, paths, service.make_key("verify", "read"), service.sample)
    opened = {requests.get(service.url + path, timeout=30).content for path in ("/healthz", "/readyz", "/openapi.json")}
    counts: collections.Counter = collections.Counter()
    for number in range(COUNT // 2):
        request = mutator.request(has_key)
        received = exchange((host, int(port)), request)
        # What follows the first request in the mutated bytes may be another one, which is answered, too.
        answers = re.split(rb"(?=HTTP/1\.1 \d\d\d [A-Z])", received)[1:]
        statuses = [int(answer[9:12]) for answer in answers]
        counts[statuses[0] if statuses else None] += 1
        where = (SEED, number, request[:600], received[:600])
        # No fault: an entry of a moment ago is in no checkpoint yet.
        assert all(status < 500 or b'"not-yet-published"' in answer for status, answer in zip(statuses, answers)), where
        if not has_key:
            for status, answer in zip(statuses, answers):
                body = answer.partition(b"\r\n\r\n")[2]
                is_open = any(body.startswith(content) for content in opened) or b"<title>Log in" in body
                # To HEAD a head is all.
                assert not 200 <= status < 300 or is_open or not body, where
    print(dict(counts))
    # Many get as far as a route.
    assert counts[None] < COUNT // 8 and sum(counts.values()) - counts[400] - counts[None] > COUNT // 8
    assert service.process.poll() is None
    assert service.post("/v1/verify", data=service.sample).json()["verdict"] == "valid"
    told = log.read_text()
    assert "A request failed." not in told, told[-3000:]
    assert int(re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{service.process.pid}/status").read_text())[1]) < 400 << 10
