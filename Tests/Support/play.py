# SPDX-License-Identifier: Apache-2.0
"""A running emulator of Google Play, Google's own client of it (google-api-python-client with its discovery document), and a
push receiver that believes what google-auth accepts."""

import base64
import json
import os
import time

import google.auth.transport.requests
import jsonschema
import pytest
from developer_server import DeveloperServer
from emulator import Emulator
from google.oauth2 import id_token, service_account
from googleapiclient.discovery import build_from_document
from googleapiclient.discovery_cache import get_static_doc
from googleapiclient.errors import HttpError

MONTHLY, YEARLY, COINS, PRO = (f"com.example.app.{name}" for name in ("monthly", "yearly", "coins", "pro"))
PACKAGE = "com.example.app"
DAY = 86_400_000
SCOPES = ["https://www.googleapis.com/auth/androidpublisher"]
PUSH_EMAIL = "push@example.iam.gserviceaccount.com"

RECOVERED, RENEWED, CANCELED, PURCHASED, ON_HOLD, IN_GRACE, RESTARTED = range(1, 8)
DEFERRED, PAUSED, PAUSE_SCHEDULE, REVOKED, EXPIRED, PRICE_CHANGE, PENDING_CANCELED = 9, 10, 11, 12, 13, 19, 20


class Receiver(DeveloperServer):
    """A push receiver that believes what google-auth's own verification accepts."""

    def __init__(self):
        super().__init__("/play", success=204)
        self.certs_url = None
        self.refused: list[str] = []

    def accepts(self, headers) -> bool:
        try:
            self.verify(headers.get("Authorization"))
        except Exception as error:
            self.refused.append(f"{type(error).__name__}: {error}")
            return False
        return True

    def verify(self, authorization: str | None) -> None:
        scheme, _, token = (authorization or "").partition(" ")
        assert scheme == "Bearer", "there is no bearer token"
        claims = id_token.verify_token(token, google.auth.transport.requests.Request(), self.url, self.certs_url)
        assert claims["iss"] in ("https://accounts.google.com", "accounts.google.com"), "another issuer"
        assert claims["email"] == PUSH_EMAIL and claims["email_verified"] is True, "another account"
        assert claims["exp"] > time.time(), "it does not expire"

    def take(self) -> list[dict]:
        """The notifications since the last call."""
        bodies, self.bodies = self.bodies, []
        notifications = []
        for body in bodies:
            message = body["message"]
            assert message["messageId"] == message["message_id"] and message["publishTime"] == message["publish_time"]
            assert body["subscription"].startswith("projects/")
            notification = json.loads(base64.b64decode(message["data"], validate=True))
            assert (notification["version"], notification["packageName"]) == ("1.0", PACKAGE)
            assert notification["eventTimeMillis"].isdigit()
            notifications.append(notification)
        return notifications

    def types(self) -> list:
        """The types of the notifications since the last call; of voided purchases the order."""
        found = []
        for notification in self.take():
            if "voidedPurchaseNotification" in notification:
                found.append(("voided", notification["voidedPurchaseNotification"]["orderId"]))
            elif "testNotification" in notification:
                found.append("test")
            elif "oneTimeProductNotification" in notification:
                found.append(("one-time", notification["oneTimeProductNotification"]["notificationType"]))
            else:
                found.append(notification["subscriptionNotification"]["notificationType"])
        return found


class Play:
    """A running emulator, and Google's client of it."""

    def __init__(self, path, receiver=None, *arguments):
        self.account_file = path / "account.json"
        push = ["--play-push-url", receiver.url, "--play-push-email", PUSH_EMAIL] if receiver else []
        self.emulator = Emulator(
            os.environ["STORE_EMULATOR"], path / "state", "--clock-rate", "0", "--play-service-account",
            str(self.account_file), "--notification-timeout", "20", *push, *arguments,
        )  # fmt: skip
        self.url = self.emulator.url("port").replace("localhost", "127.0.0.1")
        self.document = json.loads(get_static_doc("androidpublisher", "v3"))
        self.credentials = service_account.Credentials.from_service_account_file(str(self.account_file), scopes=SCOPES)
        self.purchases = self.client().purchases()
        self.orders = self.client().orders()
        if receiver:
            receiver.certs_url = f"{self.url}/oauth2/v3/certs"

    def client(self, credentials=None):
        document = self.document | {"rootUrl": f"{self.url}/", "baseUrl": f"{self.url}/"}
        document.pop("mtlsRootUrl", None)
        return build_from_document(document, credentials=credentials or self.credentials)

    def control(self, name, **members):
        return self.emulator.control("POST", f"play/{name}", members)

    def settle(self):
        """What calls of the API brought about is pushed after their answers: waits for it."""
        self.control("advance", by=0)

    def buy(self, product, account="alice", **members):
        return self.control("buy", account=account, productId=product, **members)

    def check(self, schema, answer):
        """The answer has nothing that Google's schema does not have, and nothing of another type."""
        errors = jsonschema.Draft202012Validator(strict(self.document["schemas"], schema)).iter_errors(answer)
        assert [error.message for error in errors] == []
        return answer

    def subscription(self, token):
        return self.check(
            "SubscriptionPurchaseV2", self.purchases.subscriptionsv2().get(packageName=PACKAGE, token=token).execute()
        )

    def state(self, token):
        return self.subscription(token)["subscriptionState"].removeprefix("SUBSCRIPTION_STATE_")

    def product(self, product, token):
        return self.check(
            "ProductPurchase",
            self.purchases.products().get(packageName=PACKAGE, productId=product, token=token).execute(),
        )

    def acknowledge(self, product, token, **body):
        self.purchases.subscriptions().acknowledge(
            packageName=PACKAGE, subscriptionId=product, token=token, body=body
        ).execute()

    def voided(self, **members):
        return self.check(
            "VoidedPurchasesListResponse",
            self.purchases.voidedpurchases().list(packageName=PACKAGE, **members).execute(),
        )

    def now(self):
        return self.emulator.control("GET", "play/clock")["now"]


def strict(schemas, name):
    """A schema of the discovery document as a JSON Schema that admits no other members."""

    def convert(schema):
        if "$ref" in schema:
            return {"$ref": f"#/$defs/{schema['$ref']}"}
        if schema.get("type") == "object":
            members = {key: convert(value) for key, value in schema.get("properties", {}).items()}
            return {"type": "object", "properties": members, "additionalProperties": False}
        if schema.get("type") == "array":
            return {"type": "array", "items": convert(schema["items"])}
        converted = {"type": schema["type"]}
        if "enum" in schema:
            converted["enum"] = schema["enum"]
        if schema.get("format") in ("int64", "uint64"):
            converted["pattern"] = "^-?[0-9]+$"
        if schema.get("format") == "google-datetime":
            converted["pattern"] = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$"
        return converted

    return {"$ref": f"#/$defs/{name}", "$defs": {key: convert(value) for key, value in schemas.items()}}


def refusal(status, reason, call):
    """The call is refused with this status and reason."""
    with pytest.raises(HttpError) as caught:
        call.execute()
    error = json.loads(caught.value.content)["error"]
    assert (caught.value.resp.status, error["code"]) == (status, status), error
    assert error["errors"][0]["reason"] == reason, error
    return error


@pytest.fixture
def receiver():
    receiver = Receiver()
    yield receiver
    receiver.close()


@pytest.fixture
def play(tmp_path, receiver):
    play = Play(tmp_path, receiver, "--grace-period", "7")
    yield play
    assert play.emulator.stop() == 0
