# SPDX-License-Identifier: Apache-2.0
"""receipt-server import: what a team has, receipts, tokens, transactions and orders with their customers, is in the ledger
afterwards, each line once, through kills; lines that cannot be imported are named and stop nothing."""

import base64
import json
import os
import random
import signal
import subprocess
import threading
import time
import uuid

import pytest

import samples
from emulator import Emulator
from independent import app_receipt, jws, pki
from old_system import OldSystem
from service import Service, program

COINS, MONTHLY = f"{samples.BUNDLE}.coins", f"{samples.BUNDLE}.monthly"


@pytest.fixture(scope="module")
def leaf(store):
    """Signs at any time."""
    return store.intermediate.issue("Receipt Signing", "p256", markers=(pki.RECEIPT_LEAF,), validity=pki.CENTURY)


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request) -> str | None:
    """Where a server keeps its data: by default in a file."""
    if request.param == "sqlite":
        return None
    server = request.getfixturevalue("postgresql_server")
    schema = f"t{uuid.uuid4().hex[:12]}"
    request.addfinalizer(lambda: server.query(f"DROP SCHEMA IF EXISTS {schema} CASCADE"))
    return f"{server.url}&schema={schema}"


@pytest.fixture
def make(tmp_path, store, rsa_store):
    """Makes a server, which does not run yet, that trusts both stores of the tests."""
    made = []

    def make(change=lambda app: None, database=None) -> Service:
        service = Service(tmp_path / f"data-{len(made)}")
        made.append(service)

        def configure(configuration):
            (service.folder / "root.cer").write_bytes(store.root.der)
            (service.folder / "rsa.cer").write_bytes(rsa_store.root.der)
            if database:
                configuration["database"] = database
            app = configuration["app"]["demo"]
            app["policy"]["default"] |= {"bundleIds": [samples.BUNDLE], "trust": ["root.cer", "rsa.cer"]}
            change(app)

        service.configure(configure)
        return service

    yield make
    for service in made:
        service.end(signal.SIGKILL)


@pytest.fixture
def stores(tmp_path):
    """An App Store and a Google Play."""
    emulator = Emulator(
        os.environ["STORE_EMULATOR"], tmp_path / "state", "--sample", "--clock-rate", "0", "--play-service-account",
        str(tmp_path / "account.json"),
    )  # fmt: skip
    yield emulator
    emulator.stop()


def credentials(stores, tmp_path):
    """What gives an app the credentials of the emulated stores."""
    url, developer = stores.url().replace("localhost", "127.0.0.1"), stores.developer

    def change(app):
        policy = app["policy"]["default"]
        policy |= {
            "trust": [*policy["trust"], stores.ready["root"]], "environments": ["sandbox"],
            "playEnvironments": ["production", "sandbox"], "allowedClockSkew": 400 * 86_400,
        }  # fmt: skip
        app["appStore"] = {
            "keyFile": stores.ready["developerKey"], "keyID": developer["keyId"], "issuerID": developer["issuerId"],
            "bundleID": samples.BUNDLE, "url": url,
        }  # fmt: skip
        app["googlePlay"] = {"package": samples.BUNDLE, "serviceAccount": str(tmp_path / "account.json"), "url": url}

    return change


class Run:
    """A finished import."""

    def __init__(self, done: subprocess.CompletedProcess):
        self.code, self.err = done.returncode, done.stderr
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.failures = {line["line"]: line["code"] for line in lines if line["type"] == "error"}
        self.messages = {line["line"]: line["message"] for line in lines if line["type"] == "error"}
        self.summary = {name: value for name, value in lines[-1].items() if name not in ("type", "version", "app")}


def run(service: Service, path, *options, **arguments) -> Run:
    command = [program(), "import", "--app", "demo", "--input", str(path), "--json", *options, *service.arguments]
    return Run(subprocess.run(command, capture_output=True, text=True, timeout=300, **arguments))


def transaction(leaf, number: int, **changes) -> str:
    """A sandbox subscription's transaction that runs; it names no account unless `changes` do."""
    now = int(time.time() * 1000)
    members = samples.TRANSACTION | {
        "transactionId": str(3 * 10**15 + number), "originalTransactionId": str(3 * 10**15 + number), "signedDate": now,
        "environment": "Sandbox", "purchaseDate": now - 1000, "expiresDate": now + 30 * 86_400_000, "appTransactionId": str(7 * 10**17 + number),
    }  # fmt: skip
    return jws.sign(members | changes, leaf)


def line(**members) -> str:
    return json.dumps(members)


def owners(service: Service, *customers: str) -> dict[str, list[str]]:
    """What customers own: original transactions and purchase tokens."""
    found = {}
    for customer in customers:
        entitlements = service.get(f"/v1/customers/{customer}/entitlements").json()["entitlements"]
        each = [owned["entitlement"] for owned in entitlements]
        found[customer] = sorted(e.get("originalTransactionId") or e.get("purchaseToken") for e in each)
    return found


def changes(service: Service) -> list[dict]:
    found, sequence = [], 0
    while page := service.get(f"/v1/changes?since={sequence}&limit=1000").json()["changes"]:
        found += page
        sequence = page[-1]["sequence"]
    return found


def entries(service: Service) -> int:
    found, after = 0, None
    while page := service.get("/v1/audit/entries", params={"limit": 1000} | ({"before": after} if after else {})).json()["entries"]:
        found += len(page)
        after = min(entry["index"] for entry in page)
        if after == 0:
            break
    return found


def test_lines_of_every_kind(make, leaf, stores, rsa_store, tmp_path, database):
    service = make(credentials(stores, tmp_path), database)
    bought = stores.control("POST", "buy", {"account": "a", "productId": MONTHLY})
    coins = stores.control("POST", "buy", {"account": "b", "productId": COINS})
    monthly = stores.control("POST", "play/buy", {"account": "c", "productId": MONTHLY})
    token = stores.control("POST", "play/buy", {"account": "d", "productId": COINS})
    refunded = stores.control("POST", "play/buy", {"account": "e", "productId": COINS})
    stores.control("POST", "play/refund", {"orderId": refunded["orderId"]})
    account = "7e3fb204-2b3a-4c8f-9d5e-6a1b2c3d4e5f"
    old = stores.control("POST", "buy", {"account": "f", "productId": MONTHLY})["transactionId"]
    of_apps = rsa_store.intermediate.issue("Receipts of today", "rsa2048", markers=(pki.RECEIPT_LEAF,), validity=pki.CENTURY)
    packed = app_receipt.payload(app_receipt.in_app(old, old, MONTHLY), environment="ProductionSandbox")
    packed = base64.b64encode(app_receipt.sign(packed, of_apps)).decode()
    lines = [
        transaction(leaf, 1, appAccountToken=account),  # 1: names its account
        line(receipt=transaction(leaf, 2), customer="ann"),
        "",
        line(receipt={"signedTransactionInfo": transaction(leaf, 3)}, customer="ann"),
        line(transactionId=bought["transactionId"], customer="bob"),  # 5
        line(transactionId=int(coins["transactionId"]), customer="bob"),
        line(purchaseToken=monthly["purchaseToken"], subscription=True, customer="carol"),
        line(purchaseToken=token["purchaseToken"], productId=COINS, packageName=samples.BUNDLE, customer="carol"),
        line(purchaseToken=refunded["purchaseToken"], customer="carol"),
        line(receipt=packed, customer="dora"),  # 10: of an app receipt, the store is asked
        transaction(leaf, 4),  # nobody's
    ]
    path = tmp_path / "input.jsonl"
    path.write_text("\r\n".join(lines))
    done = run(service, path)
    assert (done.code, done.failures) == (0, {}), done.messages
    assert done.summary == {"lines": 11, "imported": 10, "failed": 0}
    service.start()
    number = lambda each: str(3 * 10**15 + each)  # noqa: E731
    assert owners(service, account, "ann", "bob", "carol", "dora") == {
        account: [number(1)], "ann": [number(2), number(3)],
        "bob": sorted([bought["transactionId"], coins["transactionId"]]),
        "carol": sorted([monthly["purchaseToken"], token["purchaseToken"], refunded["purchaseToken"]]), "dora": [old],
    }  # fmt: skip
    (unnamed,) = service.get(f"/v1/entitlements/{number(4)}").json()["entitlements"]
    assert unnamed.get("customer") is None
    (taken_back,) = service.get(f"/v1/entitlements/{refunded['purchaseToken']}").json()["entitlements"]
    assert taken_back["entitlement"]["standing"] == "refunded"
    told, recorded = len(changes(service)), entries(service)
    # Each receipt and each answer is recorded; the app receipt is both.
    assert recorded == 11
    service.end()
    # The same input again does nothing.
    again = run(service, path)
    assert (again.code, again.failures) == (0, {})
    assert again.summary == {"lines": 11, "imported": 10, "failed": 0, "resumedAfter": 11}
    assert "imported before" in again.err
    with path.open() as file:
        command = [program(), "import", "--app", "demo", "--json", *service.arguments]
        piped = Run(subprocess.run(command, stdin=file, capture_output=True, text=True, timeout=300))
    assert piped.summary == again.summary
    service.start()
    assert (len(changes(service)), entries(service)) == (told, recorded)
    acts = [act for act in service.get("/v1/administrative-acts").json()["acts"] if act["act"] == "import"]
    assert len(acts) == 1 and "lines=11 imported=10 failed=0" in acts[0]["details"]


def test_lines_that_cannot_be_imported(make, leaf, stores, tmp_path):
    service = make(credentials(stores, tmp_path))
    owner = str(uuid.uuid4())
    forged = transaction(leaf, 5)[:-8] + "AAAAAAAA"
    lines = {
        1: ("no receipt at all", "malformed"),
        2: (forged, "signature-mismatch"),
        3: (transaction(leaf, 6, bundleId="com.example.other"), None),
        4: (line(receipt=transaction(leaf, 7, appAccountToken=owner), customer="ann"), "other-customer"),
        5: (line(transactionId="2000000099999999"), "checker-refused"),
        6: (line(purchaseToken="no-such-token"), "checker-refused"),
        7: (line(transactionId="1", purchaseToken="2"), "invalid-line"),
        8: (line(transactionId="1", custmer="ann"), "invalid-line"),
        9: (line(receipt=transaction(leaf, 8), transactionId="1"), "invalid-line"),
        10: (line(transactionId=["1"]), "invalid-line"),
        11: (line(transactionId="1", customer=""), "invalid-line"),
        12: (line(purchaseToken="x", subscription="yes"), "invalid-line"),
        13: ("x" * (1 << 20) + "y" * 100, "too-large"),
        14: ('{"receipt": ', "malformed"),
        15: (line(purchaseToken="x", store="huawei", productId="p"), "no-credentials"),
        16: (line(orderId="no such order"), "invalid-line"),
    }
    path = tmp_path / "input.jsonl"
    path.write_text("\n".join([text for text, _ in lines.values()] + [transaction(leaf, 9, appAccountToken=owner)]) + "\n")
    done = run(service, path)
    assert done.code == 1 and sorted(done.failures) == sorted(lines), done.failures
    for number, (_, code) in lines.items():
        assert code is None or done.failures[number] == code, (number, done.failures[number], done.messages[number])
    assert "custmer" in done.messages[8] and "transactionId" in done.messages[10] and "customer" in done.messages[11]
    assert done.summary == {"lines": 17, "imported": 1, "failed": 16}
    # The failures stay known, and are not repeated.
    again = run(service, path)
    assert again.code == 1 and again.failures == {} and again.summary["failed"] == 16
    assert sorted(run(service, path, "--restart").failures) == sorted(lines)
    service.start()
    assert owners(service, owner, "ann") == {owner: [str(3 * 10**15 + 9)], "ann": []}


def test_an_archive_of_notifications(make, leaf, tmp_path):
    old = OldSystem()
    forwarding = {"url": old.url, "allowPrivateNetworks": True}
    service = make(lambda app: app.update(notifications=True, forwarding=forwarding))
    members = {"originalTransactionId": "4711", "environment": "Sandbox"}
    bodies = []
    for kind, date in (("SUBSCRIBED", {}), ("REFUND", {"revocationDate": int(time.time() * 1000), "revocationReason": 0})):
        about = transaction(leaf, 1, **members, **date)
        now = {"signedDate": int(time.time() * 1000), "notificationUUID": str(uuid.uuid4()), "notificationType": kind}
        notification = samples.notification(about, environment="Sandbox") | now
        notification["data"]["environment"] = "Sandbox"
        bodies.append({"signedPayload": jws.sign(notification, leaf)})
    path = tmp_path / "input.jsonl"
    path.write_text("\n".join([json.dumps(bodies[1]), line(receipt=bodies[0], customer="ann")]))
    done = run(service, path)
    assert done.summary == {"lines": 2, "imported": 2, "failed": 0}, done.messages
    service.start()
    (owned,) = service.get("/v1/customers/ann/entitlements").json()["entitlements"]
    assert owned["entitlement"]["state"] == "refunded"
    told = len(changes(service))
    # Delivered again, it is a repeat.
    for body in bodies:
        assert service.post("/v1/notifications/demo", json=body, key="").status_code == 200
    assert len(changes(service)) == told and old.attempts == []
    old.stop()


def test_the_last_line_about_a_purchase_decides(make, leaf, tmp_path):
    service = make()
    path = tmp_path / "input.jsonl"
    receipts = [transaction(leaf, number) for number in range(8)]
    path.write_text("\n".join(line(receipt=receipt, customer=f"c{n}") for n in range(7) for receipt in receipts))
    done = run(service, path, "--concurrency", "64")
    assert done.summary == {"lines": 56, "imported": 56, "failed": 0}
    service.start()
    assert len(owners(service, "c6")["c6"]) == 8 and owners(service, "c0", "c5") == {"c0": [], "c5": []}


def test_a_killed_import_goes_on_where_it_was(make, leaf, tmp_path, database):
    service = make(database=database)
    count = int(os.environ.get("RECEIPTKIT_IMPORTED", "4000"))
    path = tmp_path / "input.jsonl"
    path.write_text("\n".join(
        "broken" if number % 100 == 50 else line(receipt=transaction(leaf, number), customer=f"customer-{number}")
        for number in range(count)
    ))  # fmt: skip
    generator = random.Random(12)
    failures, killed = {}, 0
    command = [program(), "import", "--app", "demo", "--input", str(path), "--json", *service.arguments]
    while True:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        # On a busy machine the first ones are killed before they have begun, and the later ones are not.
        timer = threading.Timer(generator.uniform(0.3, 1.5) * 1.3**killed, process.kill)
        if killed < 6:
            timer.start()
        output, _ = process.communicate(timeout=300)
        timer.cancel()
        lines = []
        for text in output.splitlines():
            try:
                lines.append(json.loads(text))
            except json.JSONDecodeError:
                # The last line of a killed process.
                assert process.returncode == -signal.SIGKILL
        failures |= {each["line"]: each["code"] for each in lines if each["type"] == "error"}
        if process.returncode != -signal.SIGKILL:
            summary = lines[-1]
            break
        killed += 1
    assert killed >= 3 and process.returncode == 1
    assert summary["lines"] == count and summary["resumedAfter"] > 0, summary
    assert summary["failed"] == len(failures) == count // 100 and set(failures) == {n + 1 for n in range(50, count, 100)}
    assert summary["imported"] == count - count // 100
    service.start()
    told = changes(service)
    names = {each["change"]["data"]["customer"] for each in told}
    assert names == {f"customer-{number}" for number in range(count) if number % 100 != 50}
    # Nothing was done twice: no purchase was granted again, and no verdict recorded again.
    assert len(told) == count - count // 100
    assert entries(service) == count - count // 100 + 1


@pytest.mark.parametrize("options", [[], ["--no-webhooks"]], ids=str)
def test_webhooks_about_imported_purchases(make, leaf, tmp_path, options):
    endpoint = {"url": "http://127.0.0.1:9/", "secrets": ["whsec_" + "QUFB" * 10], "allowPrivateNetworks": True}
    service = make(lambda app: app.update(webhooks=["backend"], webhook={"backend": endpoint}))
    path = tmp_path / "input.jsonl"
    path.write_text("\n".join(line(receipt=transaction(leaf, number), customer="ann") for number in range(3)))
    assert run(service, path, *options).summary["imported"] == 3
    service.start()
    assert len(changes(service)) == 3
    assert service.get("/v1/webhooks").json()["endpoints"][0]["waiting"] == (0 if options else 3)


def test_an_import_beside_a_running_server(make, leaf, tmp_path, database):
    service = make(database=database)
    service.start()
    path = tmp_path / "input.jsonl"
    path.write_text("\n".join(line(receipt=transaction(leaf, number), customer=f"i{number}") for number in range(300)))
    is_over, posted = threading.Event(), []

    def post():
        number = 10_000
        while not is_over.is_set():
            number += 1
            answer = service.post(f"/v1/customers/p{number}/receipts", data=transaction(leaf, number))
            posted.append((number, answer.status_code))

    thread = threading.Thread(target=post)
    thread.start()
    try:
        done = run(service, path)
    finally:
        is_over.set()
        thread.join()
    assert done.summary == {"lines": 300, "imported": 300, "failed": 0}, done.failures
    assert posted and {status for _, status in posted} == {200}
    names = {each["change"]["data"]["customer"] for each in changes(service)}
    assert names == {f"i{number}" for number in range(300)} | {f"p{number}" for number, _ in posted}
    assert service.end() == 0


def test_rate_limits_of_a_store_are_respected(make, stores, tmp_path):
    service = make(credentials(stores, tmp_path))
    bought = [stores.control("POST", "buy", {"account": f"a{n}", "productId": COINS})["transactionId"] for n in range(12)]
    path = tmp_path / "input.jsonl"
    path.write_text("\n".join(line(transactionId=each, customer="ann") for each in bought))
    # Longer than a client waits by itself: its deadline is 30 seconds.
    limit = {"kind": "status", "status": 429, "retryAfter": "seconds", "seconds": 35}
    stores.faults({"faults": [limit], "requests": 1})
    begin = time.monotonic()
    done = run(service, path, "--concurrency", "1")
    assert (done.code, done.failures) == (0, {}), done.messages
    assert 34 < time.monotonic() - begin < 120
    service.start()
    assert owners(service, "ann") == {"ann": sorted(bought)}


def test_what_cannot_be_begun(make, tmp_path):
    service = make()

    def fails(*options) -> tuple[int, str]:
        done = service.command("import", *options, check=False)
        return done.returncode, done.stderr

    assert fails("--app", "other", "--input", os.devnull)[0] == 64
    assert fails("--input", os.devnull)[0] == 64
    assert fails("--app", "demo", "--input", os.devnull, "--concurrency", "0")[0] == 64
    assert fails("--app", "demo", "--input", os.devnull, "--concurrency", "65")[0] == 64
    code, message = fails("--app", "demo", "--input", str(tmp_path / "missing"))
    assert code == 66 and "missing" in message
    service.settings["database"] = str(tmp_path / "no folder" / "service.sqlite")
    code, message = fails("--app", "demo", "--input", os.devnull)
    assert code in (65, 69) and "no folder" in message


def test_an_empty_input(make, tmp_path):
    done = run(make(), os.devnull)
    assert (done.code, done.summary) == (0, {"lines": 0, "imported": 0, "failed": 0})


@pytest.mark.long
def test_memory_does_not_grow_with_the_input(make, tmp_path):
    service = make()

    def peak(count: int) -> int:
        path = tmp_path / f"{count}.jsonl"
        with path.open("w") as file:
            for number in range(count):
                file.write(line(transactionId=str(number), customer="x" * 400) + "\n")
        code = (
            "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL); "
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
        )
        command = [program(), "import", "--app", "demo", "--input", str(path), *service.arguments]
        return int(subprocess.run(["python3", "-c", code, *command], capture_output=True, text=True, timeout=600).stdout)

    small, large = peak(1_000), peak(100_000)
    # The large input has 45 MB.
    assert large - small < 16 << 10, (small, large)
