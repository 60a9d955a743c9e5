# SPDX-License-Identifier: Apache-2.0
"""A receipt-server of a test's own: its folder, its process, requests to it."""

import atexit
import json
import os
import pathlib
import signal
import subprocess
import time

import pytest
import requests


def program() -> str:
    path = os.environ.get("RECEIPT_SERVER")
    if not path or not os.access(path, os.X_OK):
        pytest.fail("RECEIPT_SERVER does not name the built receipt-server; run scripts/interoperability")
    return path


class Service:
    """A server for development, in a folder that outlives its process."""

    # The processes of all, so that one whose test failed does not outlive the tests.
    started: list[subprocess.Popen] = []

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.settings: dict[str, str] = {"listen.port": "0"}
        self.process: subprocess.Popen | None = None
        # What runs the server, such as a shell that limits it.
        self.prefix: list[str] = []
        self.url = self.key = ""
        self.session = requests.Session()
        # The app that requests with a key for all apps are about, where there are several.
        self.app: dict[str, str] = {}

    @property
    def arguments(self) -> list[str]:
        return ["--data", str(self.folder), *(f"--set={name}={value}" for name, value in self.settings.items())]

    def command(self, *arguments: str, check=True) -> subprocess.CompletedProcess:
        """Runs a command of the server with its configuration, and waits for it."""
        return subprocess.run(
            [program(), *arguments, *self.arguments], check=check, capture_output=True, text=True, timeout=60
        )

    def prepare(self) -> None:
        """Has a server make the folder, unless it is there. Of what it makes, only the identity, the sample and the configuration
        stay: tests change the configuration before anything is stored."""
        path = self.folder / "receipt-server.json"
        if path.exists():
            return
        server = Service(self.folder).start()
        assert server.end() == 0
        for made in [*self.folder.glob("service.sqlite*"), *self.folder.glob("audit.sqlite*"), self.folder / "api-key.txt"]:
            made.unlink()

    def configure(self, change) -> None:
        """Has `change` change the configuration, which the server makes first where there is none."""
        path = self.folder / "receipt-server.json"
        self.prepare()
        configuration = json.loads(path.read_text())
        change(configuration)
        path.write_text(json.dumps(configuration))

    def start(self, log=None, options=()) -> "Service":
        self.process = subprocess.Popen(
            [*self.prefix, program(), "serve", "--json", *options, *self.arguments], stdout=subprocess.PIPE, stderr=log or subprocess.DEVNULL,
            text=True,
        )
        self.started.append(self.process)
        line = self.process.stdout.readline()
        assert line, f"the server ended with {self.process.wait()}"
        self.listening = json.loads(line)
        self.url, self.key = self.listening["url"], self.listening.get("key", "")
        return self

    def end(self, how=signal.SIGTERM) -> int:
        if self.process is None or self.process.poll() is not None:
            return 0
        self.process.send_signal(how)
        code = self.process.wait(timeout=60)
        self.process.stdout.close()
        self.session.close()
        self.session = requests.Session()
        return code

    def make_key(self, *scopes: str, app: str | None = None) -> str:
        options = [f"--scope={scope}" for scope in scopes] + ([f"--app={app}"] if app else [])
        made = self.command("keys", "create", "--json", "--name", "test", *options)
        return json.loads(made.stdout)["key"]

    def request(self, method: str, path: str, key: str | None = None, **arguments) -> requests.Response:
        headers = {"Authorization": f"Bearer {self.key if key is None else key}"} | arguments.pop("headers", {})
        if key == "":
            del headers["Authorization"]
        return self.session.request(method, self.url + path, headers=headers, timeout=60, **arguments)

    def get(self, path: str, **arguments) -> requests.Response:
        return self.request("GET", path, **arguments)

    def post(self, path: str, **arguments) -> requests.Response:
        return self.request("POST", path, **arguments)

    def proof(self, entry: int) -> dict:
        """The proof of an entry, once a checkpoint covers it."""
        deadline = time.monotonic() + 30
        while (answer := self.get(f"/v1/audit/entries/{entry}/proof", params=self.app)).status_code == 503:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        return answer.json()

    @property
    def sample(self) -> bytes:
        return (self.folder / "sample-receipt.jws").read_bytes()


@atexit.register
def end_what_runs() -> None:
    for process in Service.started:
        if process.poll() is None:
            process.kill()
