# SPDX-License-Identifier: Apache-2.0
"""receipt-server: its API from outside. Every route with every scope, bad requests of all shapes, batches, erasure."""

import gzip
import http.client
import itertools
import json
import re
import signal
import socket
import sqlite3
import subprocess
import threading
import time

import jsonschema
import pytest
import requests

from service import Service, program

SCOPES = ["verify", "read", "admin"]
# Whom the sample receipt names.
SAMPLE_CUSTOMER = "6b2b7f0e-2f0a-4c0e-9d6a-0a8f3c1d2e4b"


@pytest.fixture(scope="module")
def description(service) -> dict:
    return service.get("/openapi.json", key="").json()


def operations(description):
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            # An empty requirement: the key may also stand in the address or in the body.
            schemes = [each for each in operation["security"] if each]
            scope = schemes[0]["key"][0] if schemes else None
            yield method.upper(), re.sub(r"\{[^}]*\}", "1", path), scope, operation


def check(description: dict, name: str, value) -> None:
    """Validates an answer by a schema of the description."""
    jsonschema.Draft202012Validator(
        {"$ref": f"#/components/schemas/{name}", "components": description["components"]}
    ).validate(value)


def test_first_line_of_quick_start(tmp_path):
    """The curl line that the server prints works as it is."""
    process = subprocess.Popen(
        [program(), "--data", str(tmp_path / "data"), "--set", "listen.port=0"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )
    printed = ""
    while "/openapi.json" not in printed:
        printed += process.stdout.readline()
    command = re.search(r"curl .*?/v1/verify", printed, re.DOTALL)[0]
    answer = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True).stdout
    process.terminate()
    assert process.wait(timeout=30) == 0
    assert json.loads(answer)["verdict"] == "valid"
    assert json.loads(answer)["entry"] == 0


# Those of client protocols, which no app of the server opens.
CLOSED = {"/v1/purchase/verify", "/api/v1/purchase/verify", "/v1/verify-purchase", "/v1/validate", "/verifyReceipt"}


def test_client_protocols_are_closed_until_an_app_opens_them(service, description):
    assert CLOSED <= set(description["paths"])
    key = service.make_key("client", app="demo")
    for path in CLOSED:
        for method in ("GET", "POST", "OPTIONS"):
            assert service.request(method, path, key=key, json={}).status_code == 404, (method, path)


def test_every_route_with_every_scope(service, description):
    """A key opens the routes of its scopes and no other; without a key only the open ones answer."""
    keys = {scope: service.make_key(scope) for scope in SCOPES}
    revoked = service.make_key(*SCOPES)
    service.command("keys", "revoke", revoked.split("_")[1])
    seen = 0
    for method, path, scope, _ in operations(description):
        if path in CLOSED:
            continue
        seen += 1
        answer = service.request(method, path, key="")
        assert (answer.status_code == 401) == (scope is not None), (method, path, answer.text)
        for key in ["rk_000000000000_" + "A" * 43, "x", revoked, f"{keys['verify'][:-1]}!"]:
            assert (service.request(method, path, key=key).status_code == 401) == (scope is not None), (method, path)
        for owned, key in keys.items():
            answer = service.request(method, path, key=key)
            allowed = scope in (None, owned)
            assert (answer.status_code not in (401, 403)) == allowed, (method, path, owned, answer.text)
            if not allowed:
                assert answer.json()["code"] == "missing-scope"
    assert seen >= 20


def test_other_methods_are_refused(service, description):
    for path, methods in description["paths"].items():
        if path in CLOSED:
            continue
        known = {method.upper() for method in methods}
        for method in {"GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"} - known:
            answer = service.request(method, re.sub(r"\{[^}]*\}", "1", path))
            assert answer.status_code == 405, (method, path)
            assert known <= set(answer.headers["Allow"].split(", "))


def test_an_app_sees_nothing_of_another(tmp_path):
    service = Service(tmp_path / "data")

    def second(configuration):
        other = json.loads(json.dumps(configuration["app"]["demo"]))
        other["policy"]["default"]["bundleIds"] = ["com.example.other"]
        configuration["apps"].append("other")
        configuration["app"]["other"] = other

    service.configure(second)
    service.start().app = {"app": "demo"}
    own = service.make_key(*SCOPES, app="demo")
    other = service.make_key(*SCOPES, app="other")
    customer = "6b2b7f0e-2f0a-4c0e-9d6a-0a8f3c1d2e4b"
    presented = service.post(f"/v1/customers/{customer}/receipts", key=own, data=service.sample).json()
    assert presented["entitlements"][0]["customer"] == customer
    original = presented["verdict"]["transactions"][0]["originalTransactionId"]
    service.proof(0)
    assert service.post("/v1/verify", key=other, data=service.sample).json()["verdict"] == "invalid"
    for path in [
        f"/v1/entitlements/{original}", f"/v1/entitlements/{original}/history", "/v1/audit/entries/0",
        "/v1/audit/entries/0/proof",
    ]:
        assert service.get(path, key=own).status_code == 200, path
        assert service.get(path, key=other).status_code == 404, path
        assert service.get(path, key=other, params={"app": "demo"}).status_code == 404, path
    assert service.get(f"/v1/customers/{customer}/entitlements", key=other).json()["entitlements"] == []
    assert service.get("/v1/changes", key=other).json()["changes"] == []
    # It sees that itself refused a receipt, and nothing more.
    entries = service.get("/v1/audit/entries", key=other).json()["entries"]
    assert [(entry["index"], entry["verdict"]) for entry in entries] == [(1, "invalid")]
    for name in ["original", "customer"]:
        value = {"original": original, "customer": customer}[name]
        entries = service.get("/v1/audit/entries", key=own, params={name: value}).json()["entries"]
        assert 0 in [entry["index"] for entry in entries]
        entries = service.get("/v1/audit/entries", key=other, params={name: value}).json()["entries"]
        assert {entry["index"] for entry in entries} <= {1}
    # The log has the entries of all apps.
    assert service.get("/v1/audit/log/checkpoint", key=own).status_code == 404
    assert service.get("/v1/audit/log/checkpoint").status_code == 200
    # Keys see and make those of their app.
    assert {key["app"] for key in service.get("/v1/keys", key=other).json()["keys"]} == {"other"}
    wanted = {"name": "n", "scopes": ["read"], "app": "demo"}
    assert service.post("/v1/keys", key=other, json=wanted).status_code == 403
    assert service.request("DELETE", f"/v1/keys/{own.split('_')[1]}", key=other).status_code == 404
    assert service.request("DELETE", f"/v1/customers/{customer}", key=other).json()["purchases"] == 0
    assert service.get(f"/v1/entitlements/{original}", key=own).status_code == 200
    assert service.get("/v1/administrative-acts", key=own).status_code == 404
    # A key for all apps names the app, but for the entries of the trail, which it sees all.
    assert service.post("/v1/verify", data=service.sample).status_code == 400
    assert service.get("/v1/audit/entries", params={"original": original}).json()["entries"]
    assert service.post("/v1/verify", params={"app": "demo"}, data=service.sample).json()["verdict"] == "valid"
    assert service.end() == 0


def test_entries_of_other_apps_hide_none_of_ones_own(tmp_path):
    """Pages have the app's own entries, however many newer ones other apps have of the same product or customer."""
    service = Service(tmp_path / "data")

    def second(configuration):
        other = json.loads(json.dumps(configuration["app"]["demo"]))
        other["policy"]["default"]["bundleIds"] = ["com.example.other"]
        configuration["apps"].append("other")
        configuration["app"]["other"] = other

    service.configure(second)
    service.start()
    own, other = service.make_key(*SCOPES, app="demo"), service.make_key(*SCOPES, app="other")
    first = service.post("/v1/verify", key=own, data=service.sample, params={"customer": "carol"}).json()["entry"]
    # Refused ones have no bundle identifier; each is another receipt.
    refused = [
        service.post("/v1/verify", key=other, data=f"no receipt {number}", params={"customer": "carol"}).json()["entry"]
        for number in range(30)
    ]
    for parameters in [{"limit": 5}, {"limit": 5, "customer": "carol"}, {"limit": 1}]:
        answer = service.get("/v1/audit/entries", key=own, params=parameters).json()
        assert [entry["index"] for entry in answer["entries"]] == [first], parameters
    # By pages, newest first, each entry once.
    seen, parameters = [], {"limit": 7}
    while True:
        answer = service.get("/v1/audit/entries", key=other, params=parameters).json()
        seen += [entry["index"] for entry in answer["entries"]]
        if "before" not in answer:
            break
        parameters["before"] = answer["before"]
    assert seen == refused[::-1]
    # An entry of a refused receipt is for the app that had it verified, and for keys of all apps.
    service.proof(refused[0])
    for path in [f"/v1/audit/entries/{refused[0]}", f"/v1/audit/entries/{refused[0]}/proof"]:
        assert service.get(path, key=other).status_code == 200
        assert service.get(path, key=own).status_code == 404
        assert service.get(path).status_code == 200
        assert service.get(path, params={"app": "demo"}).status_code == 404
    assert service.end() == 0


def test_answers_are_as_described(service, description):
    verdict = service.post("/v1/verify", data=service.sample).json()
    check(description, "verdict", verdict)
    presented = service.post(f"/v1/customers/{SAMPLE_CUSTOMER}/receipts", data=service.sample).json()
    check(description, "presented-receipt", presented)
    original = verdict["transactions"][0]["originalTransactionId"]
    service.proof(verdict["entry"])
    for path, name in [
        (f"/v1/entitlements/{original}", "entitlements"), (f"/v1/entitlements/{original}/history", "history"),
        ("/v1/changes", "changes"), ("/v1/audit/entries", "entries"),
        (f"/v1/audit/entries/{verdict['entry']}", "audit-entry"),
        (f"/v1/audit/entries/{verdict['entry']}/proof", "proof"), ("/v1/keys", "keys"),
        ("/v1/administrative-acts", "administrative-acts"),
    ]:
        answer = service.get(path).json()
        check(description, name, answer)
        assert all(answer.values()), path
    check(description, "inspection", service.post("/v1/inspect", data=service.sample).json())
    check(description, "Problem", service.post("/v1/inspect", data=b"nothing").json())


def test_batch(service):
    altered = bytearray(service.sample)
    altered[-5] ^= 1
    lines = [service.sample, bytes(altered), b"", b"nonsense", service.sample + b"\r"] * 200
    answer = service.post("/v1/verify/batch", data=b"\n".join(lines))
    verdicts = [json.loads(line) for line in answer.text.splitlines()]
    assert [verdict["index"] for verdict in verdicts] == list(range(len(lines)))
    assert [verdict["verdict"] for verdict in verdicts] == ["valid", "invalid", "invalid", "invalid", "valid"] * 200
    assert all("entry" in verdict for verdict in verdicts)


def test_batch_is_answered_while_it_is_sent(service):
    """The verdict on the first receipt comes though nothing more is sent, and so on."""
    host, port = service.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(
            f"POST /v1/verify/batch HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {service.key}\r\n"
            "Transfer-Encoding: chunked\r\n\r\n".encode()
        )
        received = b""
        for index in range(5):
            line = service.sample + b"\n"
            connection.sendall(b"%x\r\n%s\r\n" % (len(line), line))
            while f'"index":{index},"verdict":"valid"'.encode() not in received:
                received += connection.recv(65536)
        connection.sendall(b"0\r\n\r\n")
        while not received.endswith(b"0\r\n\r\n"):
            received += connection.recv(65536)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_erasure(tmp_path, request, kind):
    """After one call nothing names the person: not the files of the database, nor those of the trail, nor the log; the
    proof that was had before stays good, and so is one had afterwards."""
    database = request.getfixturevalue("postgresql_server") if kind == "postgresql" else None
    service = Service(tmp_path / "data")

    def configure(configuration):
        # Nobody listens there: what is told waits.
        webhook = {"url": "http://127.0.0.1:9/", "secrets": ["whsec_" + "QUFB" * 10], "allowPrivateNetworks": True}
        configuration["app"]["demo"] |= {"webhooks": ["backend"], "webhook": {"backend": webhook}}
        if database:
            configuration["database"] = database.trail("erasure_service")
            configuration["audit"] = {"trail": database.trail("erasure_trail"), "files": "audit"}

    service.configure(configure)
    customer = "6b2b7f0e-2f0a-4c0e-9d6a-0a8f3c1d2e4b"

    def files_with_the_customer() -> list:
        if database:
            database.query("CHECKPOINT")
        folders = [service.folder] + ([database.data / "base"] if database else [])
        found = [path for folder in folders for path in folder.rglob("*") if path.is_file()] + [tmp_path / "log"]
        names = [customer.encode(), customer.replace("-", "").encode(), bytes.fromhex(customer.replace("-", ""))]
        return [
            path for path in found
            if path.name != "sample-receipt.jws" and any(name in path.read_bytes() for name in names)
        ]  # fmt: skip

    with open(tmp_path / "log", "w") as log:
        service.start(log)
        for customer_named in [customer, "alice-the-customer"]:
            service.post(f"/v1/customers/{customer_named}/receipts", data=service.sample)
        service.post("/v1/verify", data=service.sample)
        assert service.get("/v1/changes").json()["changes"]
        assert service.get("/v1/webhooks").json()["endpoints"][0]["waiting"] == 1
        # An erasure before this one, after which the database may have looked through the rows that stay.
        for name in [customer, "bystander"]:
            answer = service.post(f"/v1/customers/{name}/grants", json={"entitlement": "premium", "reason": "test"})
            assert answer.status_code == 201
        assert service.request("DELETE", "/v1/customers/bystander").status_code == 200
        before = service.proof(0)
        assert files_with_the_customer()
        erased = service.request("DELETE", f"/v1/customers/{customer}")
        assert erased.json()["purchases"] == 1 and erased.json()["entries"] >= 1
        # While it still runs.
        assert files_with_the_customer() == []
        assert service.get("/v1/webhooks").json()["endpoints"][0]["waiting"] == 0
        assert service.get(f"/v1/customers/{customer}/entitlements").json()["entitlements"] == []
        assert service.get("/v1/changes").json()["changes"] == []
        assert service.get("/v1/audit/entries", params={"customer": customer}).json()["entries"] == []
        after = service.proof(0)
        assert (after["entry"], after["index"]) == (before["entry"], before["index"])
        act = service.get("/v1/administrative-acts", params={"limit": 1}).json()["acts"][0]
        assert act["act"] == "customer.erase" and customer not in json.dumps(act)
        # Again: nothing is left, and that is no error.
        assert service.request("DELETE", f"/v1/customers/{customer}").json()["purchases"] == 0
        assert service.end() == 0
    assert files_with_the_customer() == []


def test_proof_is_checked_by_the_tool(service, receipt_tool, tmp_path):
    verdict = service.post("/v1/verify", data=service.sample).json()
    proof = service.proof(verdict["entry"])
    (tmp_path / "proof").write_text(proof["proof"])
    (tmp_path / "key").write_text(proof["publicKey"] + "\n")
    checked = receipt_tool.run("audit", "check", str(tmp_path / "proof"), "--key", str(tmp_path / "key"))
    assert checked.code == 0, checked
    (tmp_path / "proof").write_text(proof["proof"].replace("index ", "index 1"))
    altered = receipt_tool.run("audit", "check", str(tmp_path / "proof"), "--key", str(tmp_path / "key"))
    assert altered.code != 0


def test_a_client_that_waits_may_go_on(service):
    """Expect: 100-continue is answered before the body, once, and does not disturb what follows."""
    host, port = service.url.removeprefix("http://").split(":")
    head = f"Host: a\r\nAuthorization: Bearer {service.key}\r\n"
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        for _ in range(2):
            connection.sendall(
                f"POST /v1/verify HTTP/1.1\r\n{head}Expect: 100-continue\r\nContent-Length: {len(service.sample)}\r\n\r\n".encode()
            )
            received = b""
            while not received.endswith(b"\r\n\r\n"):
                received += connection.recv(1000)
            assert received == b"HTTP/1.1 100 Continue\r\n\r\n"
            connection.sendall(service.sample)
            received = b""
            while b'"verdict":"valid"' not in received or not received.endswith(b"}"):
                received += connection.recv(65536)
            assert received.startswith(b"HTTP/1.1 200 ")


# Requests that no client library sends.


def exchange(service, request: bytes, timeout=10.0) -> bytes:
    """What the server answers to bytes, until it closes or is silent."""
    host, port = service.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=timeout) as connection:
        connection.sendall(request)
        # A server that is busy takes its time for the first byte; what follows comes at once.
        connection.settimeout(3)
        received = b""
        try:
            while part := connection.recv(65536):
                received += part
                connection.settimeout(0.3)
        except (TimeoutError, ConnectionResetError):
            pass
        return received


def statuses(received: bytes) -> list[int]:
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d\d\d)", received)]


SMUGGLED = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
SHAPES = {
    "two lengths": b"POST /v1/verify HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nContent-Length: 40\r\n\r\nabcd",
    "length and chunks": b"POST /v1/verify HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "length with plus": b"POST /v1/verify HTTP/1.1\r\nHost: a\r\nContent-Length: +4\r\n\r\nabcd",
    "negative length": b"POST /v1/verify HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
    "length too great": b"POST /v1/verify HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n",
    "unknown coding": b"POST /v1/verify HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "coding with space": b"POST /v1/verify HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "bad chunk": b"POST /v1/verify HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n\r\n",
    "field without colon": b"GET /healthz HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n",
    "space before the colon": b"GET /healthz HTTP/1.1\r\nHost : a\r\n\r\n",
    "zero in a field": b"GET /healthz HTTP/1.1\r\nHost: a\r\nX: \x00\r\n\r\n",
    "great head": b"GET /healthz HTTP/1.1\r\nHost: a\r\nX: " + b"x" * (1 << 17) + b"\r\n\r\n",
    "many fields": b"GET /healthz HTTP/1.1\r\nHost: a\r\n" + b"X: y\r\n" * 5000 + b"\r\n",
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(64) + b"\r\n\r\n",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_of_smuggling(service, shape):
    """The server refuses the request or closes; what follows on the connection is never taken for a request of its own."""
    received = exchange(service, SHAPES[shape] + SMUGGLED)
    # One answer to the request as far as it went, and one that the rest is no HTTP.
    assert len(statuses(received)) <= 2, received
    assert all(400 <= status < 500 for status in statuses(received)), received
    assert service.get("/healthz").status_code == 200


@pytest.mark.parametrize("path", ["/%00", "/v1/entitlements/%ff", "/v1/entitlements/%zz", "/" + "a" * 8000,
                                  "/v1/keys/../keys", "/v1/audit/log/../../etc/passwd", "/v1/audit/log/tile/0/%2e%2e",
                                  "/v1/audit/log/tile/0/x999/x999/999", "/v1/audit/entries/18446744073709551616"])
def test_odd_paths(service, path):
    received = exchange(service, f"GET {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {service.key}\r\n\r\n".encode())
    assert statuses(received) and statuses(received)[0] in (400, 404), received


@pytest.mark.long
def test_slow_clients_are_cut_off(tmp_path):
    """A client that sends a byte now and then holds its connection no longer than the deadline, and keeps nobody out."""
    service = Service(tmp_path / "data")
    service.settings["limits.requestDeadline"] = "2"
    service.start()
    host, port = service.url.removeprefix("http://").split(":")
    head = f"POST /v1/verify HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {service.key}\r\nContent-Length: 3000\r\n".encode()
    slow = []
    for request in itertools.islice(itertools.cycle([b"GET / HT", head[:40], head + b"\r\nabc"]), 60):
        connection = socket.create_connection((host, int(port)))
        connection.sendall(request)
        slow.append(connection)
    began = time.monotonic()
    remaining = set(slow)
    while remaining and time.monotonic() - began < 12:
        for connection in list(remaining):
            try:
                connection.sendall(b"x")
                connection.setblocking(False)
                if not connection.recv(1000):
                    remaining.discard(connection)
            except BlockingIOError:
                pass
            except OSError:
                remaining.discard(connection)
            connection.setblocking(True)
        assert service.post("/v1/verify", data=service.sample).json()["verdict"] == "valid"
        time.sleep(0.2)
    assert not remaining, len(remaining)
    for connection in slow:
        connection.close()
    assert service.end() == 0


def test_bodies_are_bounded(service):
    large = b"x" * ((1 << 20) + 1)
    assert service.post("/v1/verify", data=large).status_code == 413
    assert service.post("/v1/verify", data=iter([large])).status_code == 413
    batch = service.post("/v1/verify/batch", data=large + b"\n" + service.sample)
    verdicts = [json.loads(line) for line in batch.text.splitlines()]
    assert [verdict["verdict"] for verdict in verdicts] == ["invalid", "valid"]
    assert verdicts[0]["reason"]["code"] == "malformed"


def test_shutdown_finishes_what_was_accepted(tmp_path):
    service = Service(tmp_path / "data").start()
    connection = http.client.HTTPConnection(service.url.removeprefix("http://"), timeout=60)
    connection.putrequest("POST", "/v1/verify/batch")
    connection.putheader("Authorization", f"Bearer {service.key}")
    connection.putheader("Transfer-Encoding", "chunked")
    connection.endheaders()
    lines = (service.sample + b"\n") * 64
    part = f"{len(lines):x}\r\n".encode() + lines + b"\r\n"
    sock = connection.sock
    sock.sendall(part)
    # The head of the answer: the batch was accepted.
    answer = connection.getresponse()
    service.process.send_signal(signal.SIGTERM)
    verdicts = []
    reader = threading.Thread(target=lambda: verdicts.extend(answer.read().splitlines()))
    reader.start()
    for _ in range(19):
        sock.sendall(part)
        time.sleep(0.05)
    sock.sendall(b"0\r\n\r\n")
    reader.join(timeout=60)
    assert service.process.wait(timeout=60) == 0
    assert len(verdicts) == 20 * 64


def test_settings_that_cannot_take_effect(tmp_path):
    service = Service(tmp_path / "data")
    service.prepare()
    for name, value, complaint in [
        ("listen.prot", "1", "no such setting"), ("listen.port", "x", "wrong type"), ("listen.port", "70000", "65535"),
        ("listen.host", "0.0.0.0", "no TLS"), ("listen.allowPlainHTTP", "true", "no effect"),
        ("listen.tls.certificates", "/nowhere", "needs both"), ("apps", "a", "app.a"),
        ("limits.maximumBodyByteCount", "1", "takes"),
        ("app.demo.policy.default.environments", "moon", "is unknown"),
        ("app.demo.policy.default.trust", "nowhere.cer", "nowhere.cer"), ("app.demo.policies", "x", "bundleIds"),
        ("app.demo.webhooks", "w", "url"), ("app.demo.checkers", "moon", "is unknown"),
        ("app.demo.checkers", "huawei", "huawei.clientID"), ("app.demo.checkers", "receiptkit", "receiptKit.url"),
        ("app.demo.receiptKit.keyFile", str(__file__), "receiptKit.url"), ("app.demo.huawei.site", "germany", "clientID"),
        ("app.demo.receiptKit.url", "https://example.com", "no effect"), ("app.demo.checkers", "ocsp,ocsp", "more than once"),
    ]:
        service.settings = {name: value}
        ended = service.command("serve", "--check-config", check=False)
        assert ended.returncode == 65 and complaint in ended.stderr, (name, value, ended.stderr)
    secret = tmp_path / "secret"
    secret.write_text("secret\n")
    huawei = {"app.demo.checkers": "huawei", "app.demo.huawei.clientID": "1"}
    for name, value, complaint in [
        ("clientSecretFile", str(tmp_path / "nowhere"), "nowhere"), ("site", "germany", "clientSecretFile"),
        ("site", "moon", "is unknown"), ("url", "https://example.com", "not both"),
    ]:
        service.settings = huawei | {f"app.demo.huawei.{name}": value}
        if name != "clientSecretFile" and value != "germany":
            service.settings["app.demo.huawei.clientSecretFile"] = str(secret)
        if name == "url":
            service.settings["app.demo.huawei.site"] = "germany"
        ended = service.command("serve", "--check-config", check=False)
        assert ended.returncode == 65 and complaint in ended.stderr, (name, value, ended.stderr)
    service.settings = huawei | {"app.demo.huawei.site": "germany", "app.demo.huawei.clientSecretFile": str(secret)}
    assert service.command("serve", "--check-config").returncode == 0
    del service.settings["app.demo.checkers"]
    ended = service.command("serve", "--check-config", check=False)
    assert ended.returncode == 65 and "no effect" in ended.stderr
    service.settings = {}
    assert service.command("serve", "--check-config").returncode == 0


def test_metrics_over_tls(tmp_path):
    """The certificate of the metrics is used, and nothing is served without."""
    service = Service(tmp_path / "data")
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        port = place.getsockname()[1]
    service.settings |= {
        "metrics.port": str(port), "metrics.tls.certificates": str(certificate), "metrics.tls.privateKey": str(key),
    }
    service.start()
    service.post("/v1/verify", data=service.sample)
    answer = requests.get(f"https://127.0.0.1:{port}/metrics", verify=str(certificate), timeout=30)
    assert "http_requests_total" in answer.text
    with pytest.raises(requests.exceptions.RequestException):
        requests.get(f"http://127.0.0.1:{port}/metrics", timeout=5).raise_for_status()
    assert service.end() == 0


def test_metrics_count_the_verdicts_that_were_given(tmp_path):
    """Each once; one that cannot be recorded is not given."""
    service = Service(tmp_path / "data")
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        port = place.getsockname()[1]
    service.settings["metrics.port"] = str(port)
    service.start()

    def counted() -> dict[str, int]:
        text = requests.get(f"http://127.0.0.1:{port}/metrics", timeout=30).text
        found = re.findall(r'^receipt_verdicts_total{.*verdict="(\w+)".*} (\d+)$', text, re.MULTILINE)
        return {verdict: int(count) for verdict, count in found}

    assert counted() == {}
    lines = b"\n".join([service.sample] * 3 + [b"no receipt"] * 2 + [service.sample])
    answers = service.post("/v1/verify/batch", data=lines).text.splitlines()
    assert len(answers) == 6
    assert counted() == {"valid": 4, "invalid": 2}
    service.post("/v1/verify", data=service.sample)
    service.post("/v1/verify", data=service.sample, headers={"traceparent": f"00-{'a' * 32}-{'b' * 16}-01"})
    assert service.post(f"/v1/customers/{SAMPLE_CUSTOMER}/receipts", data=service.sample).status_code == 200
    given = counted()
    assert given == {"valid": 7, "invalid": 2}
    for path in service.folder.glob("audit.sqlite*"):
        path.rename(path.with_name(f"gone-{path.name}"))
    refused = service.post("/v1/verify", data=service.sample + b"\n")
    assert refused.status_code == 503, refused.text
    assert service.post("/v1/verify", data=service.sample, headers={"traceparent": f"00-{'a' * 32}-{'b' * 16}-01"}).status_code == 503
    assert service.post(f"/v1/customers/{SAMPLE_CUSTOMER}/receipts", data=service.sample).status_code == 503
    with pytest.raises(requests.exceptions.RequestException):
        service.post("/v1/verify/batch", data=lines)
    assert counted() == given
    service.end(signal.SIGKILL)


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ({"Content-Encoding": "gzip"}, None), ({"Content-Encoding": "x-own"}, None),
        ({"Content-Type": "multipart/form-data; boundary=b"}, b'--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--b--'),
        ({"Content-Type": "application/x-www-form-urlencoded"}, b"receipt=abc&customer=alice"),
    ],
    ids=["gzip", "another coding", "multipart", "form"],
)  # fmt: skip
def test_what_is_not_sent_as_it_is_is_refused_and_not_recorded(service, headers, body):
    """By the handler before the router and by the router."""
    body = gzip.compress(service.sample) if body is None else body
    before = service.get("/v1/audit/entries").json()["entries"]
    for path in ["/v1/verify", "/v1/inspect", "/v1/customers/alice/receipts", "/v1/notifications/demo"]:
        for trace in ({}, {"traceparent": f"00-{'a' * 32}-{'b' * 16}-01"}):
            answer = service.post(path, data=body, headers=headers | trace)
            assert answer.status_code == 415, (path, answer.text)
            assert answer.json()["code"] == "unsupported-media-type" and "Send" in answer.json()["detail"]
            assert answer.headers["Accept-Encoding"] == "identity"
    # The answer to a batch begins before its lines are read: to a form it breaks off.
    answer = service.post("/v1/verify/batch", data=body, headers=headers, stream=True)
    assert (answer.status_code == 415) == ("urlencoded" not in headers.get("Content-Type", ""))
    assert json.loads(next(answer.iter_lines()))["code"] == "unsupported-media-type"
    answer.close()
    assert service.get("/v1/audit/entries").json()["entries"] == before


@pytest.mark.parametrize(
    "type", [None, "application/octet-stream", "text/plain", "application/json", "application/jose", "application/x-www-form-urlencoded"]
)
def test_receipts_of_any_type_are_verified(service, type):
    """Also of that which curl names by itself."""
    headers = {"Content-Type": type} if type else {}
    for extra in ({}, {"Content-Encoding": "identity"}, {"traceparent": f"00-{'a' * 32}-{'b' * 16}-01"}):
        answer = service.post("/v1/verify", data=service.sample, headers=headers | extra)
        assert answer.json()["verdict"] == "valid", answer.text
    assert '"valid"' in service.post("/v1/verify/batch", data=service.sample, headers=headers).text


def test_database_of_the_first_version_is_brought_up_to_date(tmp_path):
    service = Service(tmp_path / "data").start()
    service.post(f"/v1/customers/{SAMPLE_CUSTOMER}/receipts", data=service.sample)
    changes = service.get("/v1/changes").json()["changes"]
    assert changes and service.end() == 0
    database = sqlite3.connect(service.folder / "service.sqlite")
    (latest,) = database.execute("PRAGMA user_version").fetchone()
    assert latest > 1
    for statement in [
        "DROP TABLE delivered", "DROP TABLE shares", "DROP TABLE forwards", "DROP TABLE forward_subjects", "DROP TABLE forward_queues",
        "DROP TABLE imports", "DROP INDEX ledgers_kind", "DROP INDEX ledgers_purchase",
        "ALTER TABLE ledgers DROP COLUMN purchase", "ALTER TABLE ledgers DROP COLUMN kind",
        "DROP INDEX ledgers_holder", "ALTER TABLE ledgers DROP COLUMN holder",
        "DROP INDEX deliveries_previous_lane", "ALTER TABLE deliveries DROP COLUMN previous_lane",
        "ALTER TABLE lanes DROP COLUMN noted", "ALTER TABLE ledgers DROP COLUMN questions",
        "DROP INDEX ledgers_evaluated", "DROP INDEX ledgers_app_reconcile",
        "CREATE INDEX ledgers_reconcile ON ledgers(reconcile)", "DROP TABLE secrets", "DROP TABLE withdrawals",
        "DROP TABLE removed_changes", "DROP TABLE customer_aliases",
        "DROP TABLE erasures",
        "CREATE TABLE leases(name TEXT PRIMARY KEY, holder TEXT NOT NULL, until BIGINT NOT NULL)",
        # As that version wrote it: another text is another layout, which is refused.
        "CREATE TABLE jobs(\n  id TEXT PRIMARY KEY, kind TEXT NOT NULL, app TEXT NOT NULL, created BIGINT NOT NULL, "
        "due BIGINT NOT NULL,\n  state BIGINT NOT NULL, attempts BIGINT NOT NULL, body BLOB NOT NULL, result BLOB)",
        "CREATE INDEX jobs_due ON jobs(state, due)",
        "DROP INDEX changes_time", "DROP INDEX notifications_received", "ALTER TABLE changes DROP COLUMN trace",
        "PRAGMA user_version = 1",
    ]:
        database.execute(statement)
    database.commit()
    database.close()
    service.start()
    assert service.get("/v1/changes").json()["changes"] == changes
    assert service.end() == 0
    database = sqlite3.connect(service.folder / "service.sqlite")
    assert database.execute("PRAGMA user_version").fetchone() == (latest,)
    database.close()
