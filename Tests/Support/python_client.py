# SPDX-License-Identifier: Apache-2.0
"""The Python client, installed as users install it, and servers that answer what no receipt-server would."""

import asyncio
import os
import pathlib
import socket
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "Clients/python"


def install(folder: pathlib.Path, source: pathlib.Path = FOLDER) -> pathlib.Path:
    """Builds and installs the package into a folder, without a network."""
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", "--no-build-isolation",
         "--target", folder, source],
        check=True, timeout=300, env=os.environ | {"PIP_NO_CACHE_DIR": "1"},
    )  # fmt: skip
    return folder


class Both:
    """Either of the clients, used in the same way."""

    def __init__(self, package, is_async: bool):
        self.package, self.is_async = package, is_async

    def run(self, url: str, use, key="rk_secret-of-this-test", **options):
        """What `use` returns of a client, or a coroutine's result."""
        if not self.is_async:
            with self.package.Client(url, key, **options) as client:
                return use(client)

        async def main():
            async with self.package.AsyncClient(url, key, **options) as client:
                return await use(client)

        return asyncio.run(main())

    def every(self, url: str, use, limit=None, **options) -> list:
        """The first elements of what `use` iterates."""
        found = []

        def gather(client):
            for each in use(client):
                found.append(each)
                if len(found) == limit:
                    break

        async def gather_async(client):
            iterator = use(client)
            async for each in iterator:
                found.append(each)
                if len(found) == limit:
                    break
            await iterator.aclose()

        self.run(url, gather_async if self.is_async else gather, **options)
        return found


class Scripted:
    """A server that answers each connection with bytes, and keeps what it was sent. An answer is bytes, or a function of the
    connection; the last one is repeated."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.requests: list[bytes] = []
        self.arrived: list[float] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.serve, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()

    def serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.answer, args=[connection], daemon=True).start()

    def answer(self, connection):
        with connection:
            connection.settimeout(20)
            try:
                request = b""
                while b"\r\n\r\n" not in request:
                    if not (part := connection.recv(65536)):
                        return
                    request += part
                head, _, body = request.partition(b"\r\n\r\n")
                fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
                while len(body) < int(fields.get(b"content-length", 0)):
                    body += connection.recv(65536)
                self.arrived.append(time.monotonic())
                self.requests.append(head + b"\r\n\r\n" + body)
                answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
                answer(connection) if callable(answer) else connection.sendall(answer)
            except OSError:
                pass


def http(body: bytes | str = b"", status="200 OK", media="application/json", length=None, **headers) -> bytes:
    """An answer as bytes; `length` states another length than it has."""
    body = body.encode() if isinstance(body, str) else body
    fields = {"Content-Type": media, "Content-Length": len(body) if length is None else length, "Connection": "close"}
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    return f"HTTP/1.1 {status}\r\n".encode() + "".join(f"{name}: {value}\r\n" for name, value in fields.items()).encode() + b"\r\n" + body
