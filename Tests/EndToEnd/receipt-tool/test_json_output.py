# SPDX-License-Identifier: Apache-2.0
"""What every command prints with --json, errors among it, is what the schemas in Schemas/receipt-tool say."""

import base64
import json
import os
import pathlib
import re

import pytest
from jsonschema import Draft202012Validator

import samples
from emulator import Emulator
from independent import app_receipt, jws, pki
from notifications import body
from tool import INVALID, SCHEMAS, UNDETERMINED, UNREADABLE, USAGE, VALID, check
from world import COMMANDS, leaf_commands

ROOT = pathlib.Path(__file__).resolve().parents[3]
# The lines of a harness are those of the protocol of the conformance suite; test_conformance.py has their schemas.
PROTOCOL = {"conformance harness"}
LOCAL = {
    name: [a for a in runs if "--json" in a] or [[*runs[0], "--json"]]
    for name, runs in COMMANDS.items()
    if name not in PROTOCOL
}

# Of each command that needs no server one failure beyond its command line, with the exit code.
FAILURES = {
    "verify": (["none"], UNREADABLE),
    "sign": (["--identity", "identity", "--format", "signed-transaction", "none"], UNREADABLE),
    "identity create": (["identity"], 73),
    "identity show": (["none"], UNREADABLE),
    "identity issue": (["none", "new"], UNREADABLE),
    "identity intermediate": (["authority"], USAGE),
    "identity responder": (["authority", "identity"], 73),
    "identity list": (["none"], UNREADABLE),
    "identity revoke": (["authority", "00ff", "--reason", "superseded"], INVALID),
    "identity crl": (["authority", "-o", "new"], USAGE),
    "identity ocsp": (["authority", "none", "--responder", "responder", "-o", "new"], UNREADABLE),
    "inspect": (["none", "purchase.json"], INVALID),
    "token": (["--bundle-id", "a"], USAGE),
    "audit init": (["trail"], 73),
    "audit append": (["trail", "purchase.json"], UNREADABLE),
    "audit find": (["trail", "--product", "unknown"], INVALID),
    "audit show": (["trail", "99"], INVALID),
    "audit history": (["trail", "unknown"], INVALID),
    "audit prove": (["trail", "99", "-o", "new"], INVALID),
    "audit check": (["none", "--key", "trail.pub"], UNREADABLE),
    "audit checkpoint": (["none"], UNREADABLE),
    "audit erase": (["trail", "99"], INVALID),
    "audit stats": (["none"], UNREADABLE),
    "audit export": (["none", "new"], UNREADABLE),
    "audit fsck": (["none"], UNREADABLE),
    "audit import": (["new", "none", "--private-key", "trail.key"], UNREADABLE),
    "audit backup": (["trail", "exported"], 73),
    "audit restore-keys": (["trail", "copy.keys"], 73),
    "audit reindex": (["none"], UNREADABLE),
    "audit rotate-key": (["none"], UNREADABLE),
    "audit keys": (["none"], UNREADABLE),
    "audit policy": (["trail", "00" * 32], INVALID),
    "audit migrate": (["none", "new"], UNREADABLE),
    "audit witness": (["witness", "--create", "w"], 73),
    "store init": (["--store", "shop"], 73),
    "store products": (["--store", "none"], UNREADABLE),
    "store buy": (["--store", "none", "p"], UNREADABLE),
    "store pending": (["--store", "none"], UNREADABLE),
    "store approve": (["--store", "asking", "unknown"], INVALID),
    "store decline": (["--store", "asking", "unknown"], INVALID),
    "store finish": (["--store", "shop", "unknown"], INVALID),
    "store restore": (["--store", "none"], UNREADABLE),
    "store purchases": (["--store", "none"], UNREADABLE),
    "store refund": (["--store", "shop", "unknown"], INVALID),
    "store subscription": (["--store", "shop", "unknown"], INVALID),
    "store renew": (["--store", "shop", "unknown"], INVALID),
    "store advance": (["--store", "shop", "--to", "2001-01-01T00:00:00Z"], USAGE),
    "store notifications": (["--store", "none"], UNREADABLE),
    "store control": (["--emulator", "http://127.0.0.1:9", "buy"], UNDETERMINED),
    "conformance run": (["suite.json"], USAGE),
    "notifications fold": (["none", "--bundle-id", "a"], UNREADABLE),
}
# There is nothing that could fail but the command line.
INFALLIBLE = {"version"}
# There is no emulator of Huawei AppGallery; test_service_lookup.py has its command line.
UNANSWERED = {"lookup huawei"}


def checked(run) -> list[dict]:
    for line in run.lines:
        check(line)
    return run.lines


def error_of(run, code: int) -> dict:
    """The last object of a run that fails."""
    assert run.code == code, run.out + run.err
    error = checked(run)[-1]
    assert error["type"] == "error" and error["exitCode"] == code, error
    # What standard error says, whose names are shown safely.
    assert error["message"].split()[-1] in run.err, (error, run.err)
    return error


def test_every_schema_is_valid_and_closed():
    assert len(SCHEMAS) > 35
    for name, schema in SCHEMAS.items():
        Draft202012Validator.check_schema(schema)
        assert schema["additionalProperties"] is False and schema["properties"]["type"] == {"const": name}


def test_every_command_has_the_option_and_a_case(receipt_tool):
    dump = json.loads(receipt_tool.run("--experimental-dump-help").out)

    def without(command, path):
        below = [sub for sub in command.get("subcommands", []) if sub["commandName"] != "help"]
        names = {name["name"] for argument in command.get("arguments", []) for name in argument.get("names", [])}
        if not below:
            return [] if "json" in names else [" ".join(path)]
        return [each for sub in below for each in without(sub, [*path, sub["commandName"]])]

    assert without(dump["command"], []) == []
    commands = leaf_commands(receipt_tool)
    assert commands == LOCAL.keys() | REMOTE.keys() | UNANSWERED | PROTOCOL
    assert commands == FAILURES.keys() | INFALLIBLE | REMOTE.keys() | UNANSWERED | PROTOCOL


@pytest.mark.parametrize("name", LOCAL)
def test_success(world, name):
    for arguments in LOCAL[name]:
        run = world.copy(world.folder.parent / f"copy{arguments!r}".replace("/", "_")[:60]).run(name, arguments)
        if name == "inspect" and run.code == INVALID:
            error_of(run, INVALID)
            continue
        assert run.code == (INVALID if "no.such.product" in arguments else VALID), run.err
        lines = checked(run)
        assert lines and not any(line["type"] == "error" for line in lines), run.out


@pytest.mark.parametrize("name", FAILURES)
def test_failure(world, name):
    arguments, code = FAILURES[name]
    env = {"PATH": os.environ["PATH"]}
    error = error_of(world.run(name, [*arguments, "--json"], env=env), code)
    assert "none" not in arguments or "none" in error["message"] or error.get("source") == "purchase.json"


@pytest.mark.long
def test_a_wrong_command_line(receipt_tool):
    for name in sorted(leaf_commands(receipt_tool)):
        run = receipt_tool.run(*name.split(), "--json", "--no-such-option")
        assert len(run.lines) == 1, run.out
        error = error_of(run, USAGE)
        assert error["code"] == "usage", error
        # An argument that is missing is said first.
        named = re.search(r"(?:^|')(--[a-z-]+)", error["message"])
        assert error.get("option") == (named and named[1]), error
    error = error_of(receipt_tool.run("version", "--json", "--no-such-option"), USAGE)
    assert error["option"] == "--no-such-option"
    error = error_of(receipt_tool.run("verfy", "--json"), USAGE)
    assert "verify" in error["message"]
    # What follows two hyphens is no option.
    assert receipt_tool.run("verify", "--", "--json").out == ""


def test_one_error_for_each_input_that_cannot_be_read(world):
    run = world.run("verify", ["--json", "--trust", "root.cer", "none", "purchase.jws", "exported"])
    assert run.code == UNREADABLE
    assert [(line["type"], line["source"]) for line in checked(run)] == [
        ("error", "none"), ("verdict", "purchase.jws"), ("error", "exported"),
    ]  # fmt: skip


def test_proofs_that_prove_nothing(world):
    run = world.run("audit check", ["purchase.jws", "proof", "--key", "trail.pub", "--json"])
    assert run.code == INVALID
    assert [line["proven"] for line in checked(run)] == [False, True]


def complete(world):
    """Proves a history, and checks that it is complete."""
    run = world.run("audit history", ["trail", samples.TRANSACTION["originalTransactionId"], "--proofs", "proofs"])
    assert run.code == VALID
    proofs = [f"proofs/{name}" for name in os.listdir(world.folder / "proofs")]
    return world.run("audit check", [*proofs, "--key", "trail.pub", "--complete", "--json"])


def test_a_history_and_that_it_is_complete(world):
    run = complete(world)
    assert run.code == VALID and checked(run)[-1]["type"] == "audit-completeness"


def test_a_trail_that_is_not_intact(world):
    content = (world.folder / "trail").read_bytes()
    word = b"com.example.app.monthly"
    assert word in content
    (world.folder / "trail").write_bytes(content.replace(word, word.upper()))
    run = world.run("audit fsck", ["trail", "--json"])
    assert run.code == INVALID
    (report,) = checked(run)
    assert report["intact"] is False and report["faults"]


def test_what_a_fold_prints(receipt_tool, tmp_path):
    store = pki.Store()
    (tmp_path / "root.cer").write_bytes(store.root.der)
    leaf = store.leaf()
    rescinded = {"notificationType": "RESCIND_CONSENT", "subtype": None, "data": None, "appData": {
        "bundleId": samples.BUNDLE, "environment": "Production", "signedAppTransactionInfo": jws.sign(
            samples.APP_TRANSACTION | {"receiptType": "Production", "appTransactionId": "7"}, leaf),
    }}  # fmt: skip
    content = b"\n".join(
        body(signer, signed=samples.SIGNED, **changes)
        for signer, changes in ((leaf, {}), (leaf, rescinded), (pki.Store("Stranger").leaf(), {}))
    )
    run = receipt_tool.run(
        "notifications", "fold", "-", "--trust", tmp_path / "root.cer", "--bundle-id", samples.BUNDLE, "--json",
        stdin=content,
    )  # fmt: skip
    assert run.code == INVALID
    assert {line["type"] for line in checked(run)} == {"entitlement", "rescinded-consent", "error"}


@pytest.fixture(scope="module")
def remote(receipt_tool, tmp_path_factory):
    """The App Store and Google Play with something sold at each; what `REMOTE` refers to."""
    folder = tmp_path_factory.mktemp("stores")
    account = folder / "account.json"
    emulator = Emulator(
        os.environ["STORE_EMULATOR"], folder / "state", "--sample", "--clock-rate", "0", "--play-service-account",
        str(account),
    )  # fmt: skip
    developer = emulator.developer
    sold = samples.TRANSACTION | {"transactionId": "77", "originalTransactionId": "77", "environment": "Production"}
    emulator.seed(transactions=[{"transaction": sold, "orderId": "W77"}], port="productionPort")
    emulator.seed(refunds=[{"transactionId": SAMPLE, "date": 1760000000000}])
    url = emulator.url().replace("localhost", "127.0.0.1")
    api = [
        "--environment", "sandbox", "--api-key", emulator.ready["developerKey"], "--key-id", developer["keyId"],
        "--issuer-id", developer["issuerId"], "--bundle-id", developer["bundleId"], "--base-url", url,
    ]  # fmt: skip
    play = [
        "--package", samples.BUNDLE, "--service-account", str(account), "--play-base-url", url,
    ]  # fmt: skip
    values = {"sample": SAMPLE, "trust": emulator.ready["root"]}

    def bought(product, account="alice"):
        return emulator.control("POST", "play/buy", {"account": account, "productId": f"{samples.BUNDLE}.{product}"})

    values |= {"plan": bought("monthly")["purchaseToken"], "order": bought("coins")["orderId"]}
    # No test may depend on what another one did to a purchase.
    values |= {"coins": bought("coins")["purchaseToken"], "example": bought("coins")["purchaseToken"]}

    def run(name, arguments):
        options = {
            "api": api, "play": play, "store": ["--emulator", url], "lookup app-store": [*api, "--trust", values["trust"]],
            "lookup google-play": play,
        }[name if name.startswith("lookup") else name.split()[0]]
        arguments = [argument.format(**values) for argument in arguments]
        if name == "api transactions order":
            options = [*api, "--environment", "production", "--base-url", emulator.url("productionPort")]
        if name.startswith("api ") and name != "api notifications test":
            options = [*options, "--trust", values["trust"]]
        return receipt_tool.run(*name.split(), *arguments, *options, "--json")

    assert run("play revoke", [bought("monthly", "bob")["purchaseToken"]]).code == VALID
    values |= {"cancelled": bought("monthly", "carol")["purchaseToken"], "deferred": bought("monthly", "dave")["purchaseToken"]}
    (deferred,) = run("play get", ["{deferred}", "--type", "subscription"]).lines
    values |= {"etag": deferred["response"]["etag"], "disputed": bought("coins")["orderId"], "other": bought("coins")["orderId"]}
    dispute = emulator.control("POST", "play/chargeback", {"orderId": values["disputed"]})
    statement = {"refundPreference": "DECLINE", "sampleContentProvided": False, "pendingRefundToken": dispute["pendingRefundToken"]}
    price = {"currency": "USD", "priceMicros": "9990000"}
    transaction = {
        "originalPreTaxAmount": price, "originalTaxAmount": price, "transactionTime": "2026-03-01T10:00:00Z",
        "userTaxAddress": {"regionCode": "US"}, "oneTimeTransaction": {"externalTransactionToken": "t"},
    }  # fmt: skip
    for name, body in (("statement", statement), ("transaction", transaction)):
        (folder / name).write_text(json.dumps(body))
        values[name] = str(folder / name)
    for name in ("shown", "refunded"):
        assert run("play external create", [name, "{transaction}"]).code == VALID
    yield run, values
    emulator.stop()


# Of each command that asks a server one call that is answered, and one that is refused. {…} is what `remote` found out.
SAMPLE = "2000000001"
REMOTE = {
    "api transactions info": (["{sample}"], ["404404404"]),
    "api transactions history": (["{sample}", "--raw"], ["404404404"]),
    "api transactions refunds": (["{sample}"], ["404404404"]),
    "api transactions order": (["W77"], None),
    "api transactions app": (["{sample}"], ["404404404"]),
    "api subscriptions status": (["{sample}"], ["404404404"]),
    "api notifications history": ([], ["--from", "2001-01-01T00:00:00Z"]),
    "api notifications test": ([], None),
    "api notifications test-status": (["{test}"], ["unknown"]),
    "lookup app-store": (["{sample}"], None),
    "lookup google-play": (["{coins}"], None),
    "play get": (["{coins}", "--type", "product"], ["unknown", "--type", "product"]),
    "play acknowledge": (
        ["{coins}", "--type", "product", "--product", "com.example.app.coins"],
        ["unknown", "--type", "product", "--product", "com.example.app.coins"],
    ),
    "play consume": (["{coins}", "--product", "com.example.app.coins"], ["unknown", "--product", "p"]),
    "play revoke": (["{plan}"], ["unknown"]),
    "play refund": (["{order}"], ["GPA.0000-0000-0000-00000"]),
    "play orders": (["{disputed}", "{other}"], ["GPA.0000-0000-0000-00000"]),
    "play review-refund": (["{disputed}", "{statement}"], ["{other}", "{statement}"]),
    "play cancel": (["{cancelled}"], ["unknown"]),
    "play defer": (["{deferred}", "--days", "7", "--etag", "{etag}"], ["{deferred}", "--days", "7", "--etag", "stale"]),
    "play external create": (["new", "{transaction}"], ["a.b", "{transaction}"]),
    "play external get": (["shown"], ["unknown"]),
    "play external refund": (["refunded"], ["unknown"]),
    "play catalog subscriptions": ([], None),
    "play catalog offers": ([], ["--product", "unknown"]),
    "play catalog products": ([], ["--product", "unknown"]),
    "play voided": (["--subscriptions"], ["--from", "2001-01-01T00:00:00Z"]),
    "store control": (["buy", "account=bob", "productId=com.example.app.coins"], ["buy", "productId=unknown"]),
}


@pytest.mark.server
@pytest.mark.parametrize("name", REMOTE)
def test_what_stores_answer(remote, name):
    run, values = remote
    answered, refused = REMOTE[name]
    if name == "api notifications test-status":
        (sent,) = run("api notifications test", []).lines
        values["test"] = sent["response"]["testNotificationToken"]
    done = run(name, answered)
    assert done.code == VALID, done.err
    lines = checked(done)
    assert all(line["type"] == ("lookup" if name.startswith("lookup") else "api-response") for line in lines), lines
    # No notification was sent before.
    assert lines or name == "api notifications history", done.err
    if refused is not None:
        error_of(run(name, refused), INVALID)


@pytest.mark.server
def test_the_answer_is_the_same_without_the_object_around_it(remote, receipt_tool):
    run, values = remote
    inside = run("api transactions info", ["{sample}"]).lines[0]
    assert inside["endpoint"] == "GET /inApps/v1/transactions/{transactionId}"
    assert inside["response"]["transactionId"] == SAMPLE


EXAMPLES = ROOT / "WireTypes" / "receipt-tool" / "Examples.jsonl"


def shape(value):
    """The names and types in a value."""
    if isinstance(value, dict):
        return {name: shape(member) for name, member in value.items()}
    if isinstance(value, list):
        return [shape(element) for element in value]
    return type(value).__name__


@pytest.mark.server
def test_the_examples_are_what_commands_print(receipt_tool, made, remote, tmp_path):
    """RECEIPTKIT_WRITE_EXAMPLES=1 writes them anew; scripts/wire-types makes the page of the documentation of them."""
    call, values = remote
    found = {}

    def add(name, arguments, run):
        for line in run.lines:
            end = arguments.index("--") if "--" in arguments else len(arguments)
            words = " ".join([name, *(a for a in arguments[:end] if a != "--json"), "--json", *arguments[end:]])
            # Beside the first of each command, one of each type.
            found.setdefault((line["type"], name), {"command": f"receipt-tool {words}", "output": line})

    for number, (name, runs) in enumerate(LOCAL.items()):
        arguments = [argument.format(**made.values) for argument in runs[-1]]
        add(name, arguments, made.copy(tmp_path / str(number)).run(name, arguments))
    for name, arguments in (
        ("api transactions info", [SAMPLE]),
        ("play consume", [values["example"], "--product", "com.example.app.coins"]),
        ("lookup google-play", [values["coins"]]),
    ):
        run = call(name, arguments)
        assert run.code == VALID, run.err
        add(name, arguments, run)
    for name in ("audit stats", "verify"):
        add(name, FAILURES[name][0], made.run(name, [*FAILURES[name][0], "--json"]))
    whole = made.copy(tmp_path / "whole")
    add("audit check", ["proofs/*.tlog-proof", "--key", "trail.pub", "--complete"], complete(whole))
    examples = [found[key] for key in sorted(found)]
    if os.environ.get("RECEIPTKIT_WRITE_EXAMPLES"):
        EXAMPLES.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in examples))
    written = [json.loads(line) for line in EXAMPLES.read_text().splitlines()]
    for line in written:
        check(line["output"])
    assert [shape(each["output"]) for each in written] == [shape(each["output"]) for each in examples]


class TestVerdicts:
    """What verify prints of each kind of receipt; the JSON and the text say the same."""

    RENEWAL = samples.RENEWAL_INFO | {
        "autoRenewStatus": 0, "renewalPrice": 4990, "currency": "CHF", "renewalDate": 1743501600000,
        "gracePeriodExpiresDate": 1743801600000, "isInBillingRetryPeriod": True, "expirationIntent": 2,
    }  # fmt: skip
    OFFERED = samples.TRANSACTION | {
        "offerType": 2, "offerIdentifier": "spring", "offerDiscountType": "FREE_TRIAL", "offerPeriod": "P1W",
        "appAccountToken": "7e3fb204-2b3a-4c8f-9d5e-6a1b2c3d4e5f", "isUpgraded": True,
        "inAppOwnershipType": "FAMILY_SHARED", "revocationDate": 1742000000000, "revocationReason": 1,
    }  # fmt: skip
    BEFORE, AFTER = "2025-03-15T00:00:00Z", "2025-05-01T00:00:00Z"

    def receipts(self, store):
        leaf = store.leaf()
        transaction, renewal = jws.sign(self.OFFERED, leaf), jws.sign(self.RENEWAL, leaf)
        content = app_receipt.payload(
            app_receipt.in_app(),
            app_receipt.in_app(transaction="102", product="com.example.app.monthly", expires="2025-04-01T10:00:00Z"),
        )
        return {
            "transaction": jws.sign(samples.TRANSACTION, leaf),
            "offered": transaction,
            "renewal": renewal,
            "app transaction": jws.sign(samples.APP_TRANSACTION, leaf),
            "notification": jws.sign(
                samples.notification(transaction, renewal)
                | {"notificationType": "DID_FAIL_TO_RENEW", "subtype": "GRACE_PERIOD"},
                leaf,
            ),
            "request": jws.sign(samples.REALTIME_REQUEST, leaf),
            "app receipt": base64.b64encode(app_receipt.sign(content, store.leaf("rsa2048"))).decode(),
            "forged": transaction[:-2] + ("AA" if transaction[-2:] != "AA" else "BB"),
            "nonsense": "hello",
        }

    @pytest.fixture(params=[BEFORE, AFTER])
    def verdicts(self, receipt_tool, store, trust, tmp_path, request):
        """The verdict on each receipt as JSON and as the lines of its text."""
        paths = {}
        for name, receipt in self.receipts(store).items():
            paths[name] = tmp_path / name
            paths[name].write_text(receipt)
        options = ["verify", *trust, "--time", request.param]
        objects = checked(receipt_tool.run(*options, "--json", *paths.values()))
        texts = re.split(r"\n(?! )", receipt_tool.run(*options, *paths.values()).out.rstrip("\n"))
        assert len(objects) == len(texts) == len(paths)
        return request.param, dict(zip(paths, zip(objects, texts, strict=True), strict=True))

    def test_both_say_the_same(self, verdicts):
        now, verdicts = verdicts
        for verdict, text in verdicts.values():
            lines = text.splitlines()
            rows = [re.match(r"  (.{1,12}?) +(.*)", line) for line in lines[1:]]
            said = {}
            for row in filter(None, rows):
                said.setdefault(row[1].strip(), []).append(row[2])
            words = ", ".join(word.upper() for word in (verdict["verdict"], verdict.get("standing")) if word)
            assert lines[0] == f"{words}  {verdict.get('format', 'unknown format')}  {verdict['source']}"
            assert said.get("reason", [None])[0] == verdict.get("reason", {}).get("code")
            assert said.get("app", [None])[0] == verdict.get("bundleId")
            assert said.get("environment", [None])[0] == verdict.get("environment")
            assert said.get("signed", [None])[0] == verdict.get("signedDate")
            assert len(said.get("transaction", [])) == len(verdict.get("transactions", []))
            for row, purchase in zip(said.get("transaction", []), verdict.get("transactions", []), strict=True):
                self.check_purchase(row, purchase, now)
            if announced := verdict.get("notificationType"):
                assert said["announces"][0].startswith(f"{announced}: ")
                assert f"{verdict['subtype']}: " in text and verdict["notificationUUID"] in text
            renewal = verdict.get("renewalInfo")
            assert ("renewal" in said) == (renewal is not None)
            if renewal:
                assert ("does NOT renew" in said["renewal"][0]) == (renewal["autoRenewStatus"] == 0)
                assert f"on {renewal['renewalDate']}" in said["renewal"][0] and "4.99 CHF" in said["renewal"][0]
                assert ("IN BILLING RETRY" in text) == renewal["isInBillingRetryPeriod"]
                assert f"grace period until {renewal['gracePeriodExpiresDate']}" in text

    def check_purchase(self, row, purchase, now):
        assert row.startswith(purchase.get("transactionId", "(no identifier)"))
        assert purchase.get("productId", "") in row
        for name, word in (("purchaseDate", "bought"), ("revocationDate", "REVOKED")):
            assert (f"{word} {purchase.get(name)}" in row) == (name in purchase)
        if "expiresDate" in purchase:
            assert purchase["isExpired"] == (purchase["expiresDate"] <= now)
            word = "EXPIRED" if purchase["isExpired"] else "expires"
            assert f"{word} {purchase['expiresDate']}" in row
        else:
            assert "isExpired" not in purchase and "EXPIRED" not in row
        assert f"{purchase['standing']}" in row and f"({purchase['standingSource']})" in row
        assert ("UPGRADED" in row) == purchase.get("isUpgraded", False)
        assert ("FAMILY_SHARED" in row) == (purchase.get("inAppOwnershipType") == "FAMILY_SHARED")
        assert ("4.99 CHF" in row) == ("price" in purchase)
        assert ("offer promotional FREE_TRIAL spring" in row) == ("offerType" in purchase)
        assert purchase.get("appAccountToken", "") in row

    def test_what_an_invalid_receipt_states_is_left_out(self, verdicts):
        for name in ("forged", "nonsense"):
            verdict, text = verdicts[1][name]
            assert verdict["verdict"] == "invalid" and "transactions" not in verdict and "spring" not in text

    @pytest.mark.parametrize("lines", [[], ["--lines"]], ids=["files", "lines"])
    def test_payloads(self, receipt_tool, store, trust, tmp_path, lines):
        """The payload as it was signed, byte for byte, where that is JSON."""
        receipts = self.receipts(store)
        spaced = jws.sign(json.dumps(samples.TRANSACTION, indent=1).encode(), store.leaf())
        receipts["spaced"] = spaced
        path = tmp_path / "receipts"
        for name, receipt in receipts.items():
            path.write_text(receipt)
            run = receipt_tool.run("verify", "--payload", *trust, *lines, path)
            if name in ("forged", "nonsense"):
                assert run.code == INVALID
                if lines:
                    assert checked(run)[0]["verdict"] == "invalid"
                else:
                    assert run.out == "" and run.err.startswith("INVALID")
                    run = receipt_tool.run("verify", "--payload", "--json", *trust, path)
                    assert checked(run)[0]["type"] == "verdict"
                continue
            assert run.code == VALID, run.err
            if name == "app receipt":
                (payload,) = run.lines
                assert payload["bundleId"] == samples.BUNDLE and payload["receiptCreationDate"]
                assert [p["transactionId"] for p in payload["inApp"]] == ["1000000000000101", "102"]
                continue
            part = receipt.split(".")[1]
            signed = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)).decode()
            expected = signed.replace("\n", " ") if lines else signed
            assert run.out == expected + "\n", name

    def test_what_surrounds_a_receipt(self, receipt_tool, store, trust, tmp_path):
        """Byte order mark, carriage returns, white space and quotation marks, in files and in lines."""
        mark = b"\xef\xbb\xbf"
        receipt = jws.sign(samples.TRANSACTION, store.leaf()).encode()
        wrapped = json.dumps({"signedTransactionInfo": receipt.decode()}).encode()
        path = tmp_path / "receipt"
        for text in (receipt, wrapped):
            forms = [
                mark + text, text + b"\r\n", mark + text + b"\r\n", b'"' + text + b'"', b' "' + text + b'" \r',
                mark + b'"' + text + b'"\r', b'" ' + text + b'\t"',
            ]  # fmt: skip
            for form in forms:
                path.write_bytes(form)
                for command in ("verify", "inspect"):
                    run = receipt_tool.run(command, "--json", *(trust if command == "verify" else []), path)
                    assert run.code == VALID, (form[:8], run.out)
            joined = b"\n".join(form.rstrip(b"\r\n") for form in forms)
            run = receipt_tool.run("verify", "--lines", "--json", *trust, "-", stdin=joined)
            assert [line["verdict"] for line in checked(run)] == ["valid"] * len(forms)
        for form in (b'"' + receipt, receipt + b'"', b'""' + receipt + b'""', mark + mark + receipt):
            assert receipt_tool.run("verify", *trust, "-", stdin=form).code == INVALID, form[:8]
