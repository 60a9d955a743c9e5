# SPDX-License-Identifier: Apache-2.0
"""Starts store-emulator, and controls its state and its faults."""

import json
import pathlib
import subprocess
import urllib.request


class Emulator:
    """A running emulator; it ends when its standard input is closed."""

    def __init__(self, path: str, state: pathlib.Path, *arguments: str, stderr=None, environment: dict | None = None):
        self.process = subprocess.Popen(
            [path, "--state", str(state), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr,
            env=environment,
        )  # fmt: skip
        line = self.process.stdout.readline()
        assert line, "the emulator ended before it was ready"
        self.ready = json.loads(line)
        self.developer = json.loads(pathlib.Path(self.ready["developer"]).read_bytes())

    def url(self, port: str = "port") -> str:
        scheme = "https" if "TLS" in port or port == "tlsPort" else "http"
        return f"{scheme}://localhost:{self.ready[port]}"

    def file(self, name: str) -> bytes:
        return pathlib.Path(self.ready[name]).read_bytes()

    def control(self, method: str, path: str, body=None, port: str = "port") -> dict:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url(port)}/_emulator/{path}", data=data, method=method)
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.load(response)

    def seed(self, port: str = "port", **members) -> None:
        self.control("POST", "seed", members, port)

    def faults(self, *rules: dict, port: str = "port") -> None:
        self.control("POST", "faults", list(rules), port)

    def stop(self) -> int:
        self.process.stdin.close()
        return self.process.wait(timeout=30)
