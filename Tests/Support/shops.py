# SPDX-License-Identifier: Apache-2.0
"""A receipt-server for two apps, whose receipts the tests' own store signs."""

import json
import pathlib
import time
import uuid

import samples
from independent import jws, pki
from service import Service

CUSTOMER = "7f3a0c52-1e6c-4d0c-9d38-0a5f3f0c2b11"


class Shops(Service):
    """Its apps are `shop` (com.example.app), which has a webhook that nobody answers, and `other` (com.example.other)."""

    def __init__(self, folder: pathlib.Path, store: pki.Store):
        super().__init__(folder)
        # What it signs is of today.
        self.leaf = store.intermediate.issue("Signing of today", markers=(pki.RECEIPT_LEAF,), validity=pki.CENTURY)

        def change(configuration: dict):
            (folder / "root.cer").write_bytes(store.root.der)
            app = configuration["app"].pop("demo")
            app["policy"]["default"]["trust"] = ["root.cer"]
            for name, bundle in (("shop", "com.example.app"), ("other", "com.example.other")):
                copy = json.loads(json.dumps(app))
                copy["policy"]["default"]["bundleIds"] = [bundle]
                copy["clientProtocols"] = ["openiap", "cordova-purchase", "verify-receipt"]
                configuration["app"][name] = copy
            configuration["app"]["shop"] |= {
                "webhooks": ["backend"],
                "webhook": {
                    "backend": {
                        # The discard port: nothing listens there.
                        "url": "http://127.0.0.1:9/changes?token=s3cr3t",
                        "secrets": ["whsec_" + "QUFB" * 10],
                        "allowPrivateNetworks": True,
                    }
                },
            }
            configuration["apps"] = ["shop", "other"]

        self.configure(change)
        self.start()
        self.keys: dict[tuple, str] = {}

    def key_for(self, *scopes: str, app: str | None = None) -> str:
        """A key with these scopes, which the server knows at once."""
        if (scopes, app) not in self.keys:
            body = {"name": f"test {' '.join(scopes)}", "scopes": scopes, "app": app}
            answer = self.post("/v1/keys", json=body)
            assert answer.status_code == 201, answer.text
            self.keys[scopes, app] = answer.json()["key"]
        return self.keys[scopes, app]

    def transaction(self, **changes) -> str:
        """A signed transaction of now. A member that is `None` is left out."""
        now = int(time.time() * 1000)
        members = samples.TRANSACTION | {"signedDate": now, "appAccountToken": CUSTOMER} | changes
        return jws.sign({name: value for name, value in members.items() if value is not None}, self.leaf)

    def verify(self, receipt: str, app: str) -> dict:
        answer = self.post(f"/v1/verify?app={app}", data=receipt)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def notify(self, app: str, kind: str, subtype: str | None = None, **changes):
        """Delivers a notification about a transaction."""
        payload = samples.notification(self.transaction(**changes))
        payload |= {"signedDate": int(time.time() * 1000), "notificationUUID": str(uuid.uuid4())}
        payload |= {"notificationType": kind} | ({"subtype": subtype} if subtype else {})
        answer = self.post(f"/v1/notifications/{app}", data=json.dumps({"signedPayload": jws.sign(payload, self.leaf)}))
        assert answer.status_code == 200, answer.text
