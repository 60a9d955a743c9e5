# SPDX-License-Identifier: Apache-2.0
"""Runs receipt-server as its operator would, for apps whose receipts the tests' own store signs."""

import json
import pathlib
import signal
import subprocess
import time
import uuid

import requests
import samples
from independent import jws, pki

CUSTOMER = "7f3a0c52-1e6c-4d0c-9d38-0a5f3f0c2b11"


class ServerProcess:
    """A server on a free port of the loopback interface, with everything in one folder."""

    def __init__(self, path: str, folder: pathlib.Path, store: pki.Store, apps: dict[str, str]):
        self.path = path
        # What it signs is of today.
        self.leaf = store.intermediate.issue("Signing of today", markers=(pki.RECEIPT_LEAF,), validity=pki.CENTURY)
        self.folder = folder
        (folder / "root.cer").write_bytes(store.root.der)
        configuration = {
            "listen": {"port": 0},
            "database": "service.sqlite",
            "audit": {"trail": "audit.sqlite"},
            "apps": list(apps),
            "app": {
                name: {
                    "record": True,
                    "notifications": True,
                    "policy": {
                        "default": {
                            "bundleIds": [bundle],
                            "environments": ["production", "sandbox"],
                            "trust": ["root.cer"],
                        }
                    },
                }
                for name, bundle in apps.items()
            },
        }
        self.configuration = folder / "receipt-server.json"
        self.configuration.write_text(json.dumps(configuration))
        self.keys: dict[tuple, str] = {}
        command = [path, "keys", "create", "--config", self.configuration, "--name", "test", "--json"]
        command += [part for scope in ("verify", "read", "admin", "emulator") for part in ("--scope", scope)]
        done = subprocess.run(command, capture_output=True, check=True, text=True, timeout=30)
        # With all scopes, for all apps.
        self.administrator = json.loads(done.stdout)["key"]
        self.start()

    def start(self):
        self.log = open(self.folder / "server.log", "ab")
        self.process = subprocess.Popen(
            [self.path, "serve", "--config", self.configuration, "--json"], stdout=subprocess.PIPE, stderr=self.log
        )
        ready = self.process.stdout.readline()
        assert ready, (self.folder / "server.log").read_text()
        self.url = json.loads(ready)["url"]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(timeout=30) == 0, (self.folder / "server.log").read_text()
        self.process.stdout.close()
        self.log.close()

    def key(self, *scopes: str, app: str | None = None) -> str:
        """A key with these scopes."""
        if (scopes, app) not in self.keys:
            body = {"name": f"test {' '.join(scopes)}", "scopes": scopes, "app": app}
            answer = self.request("POST", "/v1/keys", self.administrator, json=body)
            assert answer.status_code == 201, answer.text
            self.keys[scopes, app] = answer.json()["key"]
        return self.keys[scopes, app]

    def request(self, method: str, path: str, key: str | None = None, **options) -> requests.Response:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        return requests.request(method, self.url + path, headers=headers, timeout=30, **options)

    def sign(self, payload: dict) -> str:
        return jws.sign(payload, self.leaf)

    def transaction(self, **changes) -> str:
        """A signed transaction of now."""
        now = int(time.time() * 1000)
        return self.sign(samples.TRANSACTION | {"signedDate": now, "appAccountToken": CUSTOMER} | changes)

    def verify(self, receipt: str, app: str) -> dict:
        answer = self.request("POST", f"/v1/verify?app={app}", self.administrator, data=receipt)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def notify(self, app: str, kind: str, subtype: str | None = None, **changes):
        """Delivers a notification about a transaction."""
        now = int(time.time() * 1000)
        payload = samples.notification(self.transaction(**changes))
        payload |= {"signedDate": now, "notificationUUID": str(uuid.uuid4()), "notificationType": kind}
        payload |= {"subtype": subtype} if subtype else {}
        answer = self.request(
            "POST", f"/v1/notifications/{app}", data=json.dumps({"signedPayload": self.sign(payload)})
        )
        assert answer.status_code == 200, answer.text
