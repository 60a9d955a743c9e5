# SPDX-License-Identifier: Apache-2.0
"""Options that cannot take effect are refused by name, and numbers of any size do not crash a command."""

import itertools

import pytest

import samples
from independent import app_receipt, jws
from tool import INTERNAL, INVALID, UNREADABLE, USAGE, VALID
from world import TOKEN_OPTIONS

OWNER = "7e3fb204-2b3a-4c8f-9d5e-6a1b2c3d4e5f"
STRANGER = "00000000-0000-4000-8000-000000000000"

# What is typed, the option that is refused, and what the message says of it.
IDLE = [
    ("verify --soft-ocsp purchase.jws", "--soft-ocsp", "--check ocsp"),
    ("verify --check app-store --soft-ocsp purchase.jws", "--soft-ocsp", "--check ocsp"),
    ("verify --offline-suffices purchase.jws", "--offline-suffices", "--check"),
    ("verify --credentials c.json purchase.jws", "--credentials", "--check"),
    ("verify --check ocsp --credentials c.json purchase.jws", "--credentials", "--check app-store, verify-receipt, huawei or receiptkit=URL"),
    ("verify --check ocsp --service-account key.json purchase.jws", "--service-account", "--check google-play"),
    ("verify --play-base-url http://localhost:1 purchase.jws", "--play-base-url", "--check google-play"),
    ("verify --check huawei --play-token-url http://localhost:1 purchase.jws", "--play-token-url", "--check google-play"),
    ("verify --check google-play --huawei-site germany purchase.jws", "--huawei-site", "--check huawei"),
    ("verify --huawei-client-id 1 purchase.jws", "--huawei-client-id", "--check huawei"),
    (
        "verify --check huawei --huawei-site china --huawei-base-url http://localhost:1 purchase.jws",
        "--huawei-base-url",
        "--huawei-site",
    ),
    ("play get t --type subscription --v1 coins --package a.b", "--v1", "--type product"),
    ("play revoke t --prorated --item pro --package a.b", "--item", "--prorated"),
    ("play acknowledge t --type product --product p --account a --package a.b", "--account", "--type subscription"),
    ("play acknowledge t --type product --product p --profile a --package a.b", "--profile", "--type subscription"),
    ("play cancel t --stop-payments --v1 pro --package a.b", "--stop-payments", "--v1"),
    ("play defer t --v1 pro --days 1 --package a.b", "--days", "--v1"),
    ("play defer t --v1 pro --etag e --package a.b", "--etag", "--v1"),
    ("play defer t --days 1 --etag e --from 2025-10-01T00:00:00Z --package a.b", "--from", "--v1"),
    ("play defer t --v1 pro --from 2025-10-01T00:00:00Z --package a.b", "--v1", "--to"),
    ("play defer t --days 1 --package a.b", "--etag", "--days"),
    ("play defer t --days 367 --etag e --package a.b", "--days", "366"),
    ("play external refund x --refund-id r --package a.b", "--refund-id", "--amount"),
    ("play external refund x --amount 1 --currency EUR --package a.b", "--amount", "--refund-id"),
    ("play catalog offers --base-plan p --package a.b", "--base-plan", "--product"),
    ("play voided --package a.b --base-url http://localhost:1", "--base-url", "--play-base-url"),
    ("verify --api-key api.p8 purchase.jws", "--api-key", "--check app-store"),
    ("verify --check verify-receipt --key-id K purchase.jws", "--key-id", "--check app-store"),
    ("verify --issuer-id I purchase.jws", "--issuer-id", "--check app-store"),
    ("verify --base-url http://localhost:1 purchase.jws", "--base-url", "--check"),
    ("verify --check ocsp --sandbox-base-url http://localhost:1 purchase.jws", "--sandbox-base-url", "app-store"),
    ("verify --deadline 30 purchase.jws", "--deadline", "--check"),
    ("verify --ca-file root.cer purchase.jws", "--ca-file", "--check"),
    ("verify --allow-plain-http purchase.jws", "--allow-plain-http", "--check"),
    ("verify --account-token me purchase.jws", "--account-token", "UUID"),
    ("verify --audit-key trail.pub purchase.jws", "--audit-key", "--audit"),
    ("verify --audit-private-key trail.key purchase.jws", "--audit-private-key", "--audit"),
    ("verify --audit-checkpoint c purchase.jws", "--audit-checkpoint", "--audit"),
    ("verify --customer me purchase.jws", "--customer", "--audit"),
    ("verify --discard-receipts purchase.jws", "--discard-receipts", "--audit"),
    ("verify --refuse-replay same-receipt purchase.jws", "--refuse-replay", "--audit"),
    ("verify --audit trail --consumable p purchase.jws", "--consumable", "consumable-again"),
    ("verify --audit trail --refuse-replay same-receipt --consumable p purchase.jws", "--consumable", "consumable-again"),
    ("verify --accept-claimed-environment purchase.jws", "--accept-claimed-environment", "--environment production"),
    (
        "verify --accept-claimed-environment --environment production --environment sandbox purchase.jws",
        "--accept-claimed-environment",
        "without sandbox",
    ),
    (
        "verify --accept-claimed-environment --environment production --kind app-receipt purchase.jws",
        "--accept-claimed-environment",
        "transaction receipts",
    ),
    ("audit append trail new.jsonl --witness-timeout 3", "--witness-timeout", "--witnesses"),
    ("audit append trail new.jsonl --ca-file root.cer", "--ca-file", "--witnesses"),
    ("audit checkpoint trail --witness-patience 3", "--witness-patience", "--witnesses"),
    ("audit checkpoint trail --allow-plain-http", "--allow-plain-http", "--witnesses"),
    ("audit checkpoint trail --last --private-key trail.key", "--private-key", "nothing is signed"),
    ("audit find trail --product p --after 3", "--after", "--from or --to"),
    ("audit find trail --from 2020-01-01T00:00:00Z --before 3", "--before", "--after"),
    ("audit find trail --product p --private-key trail.key", "--private-key", "nothing is signed"),
    ("audit history trail 1 --private-key trail.key", "--private-key", "nothing is signed"),
    ("audit show trail 0 --private-key trail.key", "--private-key", "nothing is signed"),
    ("audit show trail 0 --raw --customer", "--customer", "--raw"),
    ("audit show trail 0 --receipt --customer", "--customer", "--receipt"),
    ("audit stats trail --private-key trail.key", "--private-key", "nothing is signed"),
    ("audit export trail new --private-key trail.key", "--private-key", "nothing is signed"),
    ("audit fsck trail --private-key trail.key", "--private-key", "nothing is signed"),
    ("audit fsck trail --since trail.checkpoint", "--since", "a folder"),
    ("audit fsck exported --key trail.pub --checkpoint trail.checkpoint", "--checkpoint", "--since"),
    ("audit prove trail 0 --overwrite", "--overwrite", "-o FILE"),
    ("audit prove trail 0 --json", "--json", "-o FILE"),
    ("audit witness witness --log trail.pub --json", "--json", "--create"),
    ("store refund --store shop 1 --issue --reverse", "--issue", "--reverse"),
    ("store refund --store shop 1 --account alice", "--account", "Unknown option"),
    ("store renew --store shop 1 --account alice", "--account", "Unknown option"),
    ("store notifications --store shop --account alice", "--account", "Unknown option"),
    ("store advance --store shop --by P1D --account alice", "--account", "--billing-issue"),
    ("store subscription --store shop 1 --account alice", "--account", "subscription is given"),
    ("store purchases --store shop --receipt 1 --json", "--json", "--receipt"),
    ("store purchases --store shop --receipt 1 --account alice", "--account", "--receipt"),
    ("api transactions info 1 --sandbox-base-url http://localhost:1", "--sandbox-base-url", "--environment sandbox"),
    ("api transactions info 1 --admit-xcode", "--admit-xcode", "no test data"),
    ("api notifications test --raw", "--raw", "no signed part"),
    ("api notifications test --trust root.cer", "--trust", "no signed part"),
]

NUMBERS = [
    "0", "-1", "1", str(2**31), str(2**32), str(2**53), str(2**63 // 1000), str(2**63 // 1000 + 1), str(2**63 - 1),
    str(2**63), str(2**64 - 1), str(2**64), str(-(2**63)), "nan", "inf", "-inf", "1e308", "5e-324", "",
]  # fmt: skip
INSTANTS = [
    "0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59-23:59", "10000-01-01T00:00:00Z",
    "-0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "2025-02-30T00:00:00Z", "",
]  # fmt: skip
PERIODS = ["P0D", "P1D", "P999Y", "P1000Y", "P9223372036854775807D", "P18446744073709551616M", "P-1D", "P"]

# What takes a number; {} is it, and {n} a new name.
NUMERIC = [
    "verify --max-bytes={} purchase.jws",
    "verify --max-bytes={} --lines purchase.jws",
    "verify --trust root.cer --max-age={} purchase.jws",
    "verify --trust root.cer --clock-skew={} purchase.jws",
    "verify --trust root.cer --app-apple-id={} purchase.jws",
    "verify --trust root.cer --check receiptkit=http://127.0.0.1:1 --deadline={} purchase.jws",
    "identity create {n} --days={}",
    "token {token} --lifetime={}",
    "audit init {n} --once={}",
    "audit import {n} exported --private-key trail.key --once={}",
    "audit append trail new.jsonl --witnesses absent --acknowledge witnessed --witness-timeout={}",
    "audit append trail new.jsonl --witnesses absent --acknowledge witnessed --witness-patience={}",
    "audit show trail -- {}",
    "audit prove trail -- {}",
    "audit erase trail -- {}",
    "audit find trail --product p --limit={}",
    "audit find trail --product p --before={}",
    "audit find trail --from 2020-01-01T00:00:00Z --after={}",
    "audit history trail {original} --limit={}",
    "store init --store {n} --grace-period={}",
    "store init --store {n} --seed={}",
    "store buy --store plain com.example.coins --quantity={}",
    "store notifications --store plain --after={}",
    "store subscription --store shop {plan} --extend-by={}",
]
DATED = [
    "verify --trust root.cer --time={} purchase.jws",
    "verify --trust root.cer --time={} --max-age 1 --clock-skew 1e300 --require-current purchase.jws",
    "identity create {n} --valid-from={}",
    "audit find trail --from={}",
    "audit find trail --to={}",
    "store init --store {n} --clock={}",
    "store advance --store plain --to={}",
    "api notifications history --from={} --environment sandbox --sandbox-base-url http://127.0.0.1:1 --deadline 1 {token}",
]


@pytest.fixture(scope="module")
def world(made, tmp_path_factory):
    world = made.copy(tmp_path_factory.mktemp("options") / "world")
    # A store without subscriptions, so that ages may pass in it at once.
    assert world.run("store init", ["--store", "plain", "--clock", "2025-01-01T00:00:00Z"]).code == VALID
    return world


@pytest.mark.sweep
@pytest.mark.parametrize(("line", "option", "needs"), IDLE, ids=[line for line, _, _ in IDLE])
def test_an_option_that_cannot_take_effect(receipt_tool, world, line, option, needs):
    run = receipt_tool.run(*line.split(), cwd=world.folder)
    assert run.code == USAGE, f"{run.code}\n{run.out}{run.err}"
    assert option in run.err and needs in run.err, run.err
    errors = [(error["type"], error.get("option")) for error in run.lines] if "--json" in line else run.out
    assert errors == ([("error", option)] if "--json" in line else "")


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("line", "value"),
    [
        *itertools.product(NUMERIC, NUMBERS),
        *itertools.product(DATED, INSTANTS),
        *itertools.product(["store advance --store plain --by={}"], PERIODS),
    ],
)
def test_extreme_values(receipt_tool, world, tmp_path, line, value):
    arguments = []
    for word in line.split():
        if word == "{token}":
            arguments += [*TOKEN_OPTIONS, "--bundle-id", "a"]
        else:
            word = word.replace("{n}", str(tmp_path / "new")).replace("{plan}", world.values["plan"])
            word = word.replace("{original}", samples.TRANSACTION["originalTransactionId"])
            arguments.append(word.replace("{}", value))
    run = receipt_tool.run(*arguments, cwd=world.folder)
    assert 0 <= run.code < 128 and run.code != INTERNAL, f"{run.code}\n{run.err}"
    assert "Fatal error" not in run.err
    assert run.code == VALID or run.err or run.out


@pytest.mark.parametrize("once", ["9223372036854775807", "9223372036854776", "0", "-1"])
def test_a_window_that_is_too_long(receipt_tool, tmp_path, once):
    run = receipt_tool.run("audit", "init", tmp_path / "t", f"--once={once}")
    assert run.code == USAGE and "--once" in run.err and "9223372036854775" in run.err
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def leaf(store):
    return store.leaf()


@pytest.fixture(scope="module")
def sign(leaf):
    return lambda **changes: jws.sign(samples.TRANSACTION | changes, leaf)


@pytest.fixture(scope="module")
def notify(leaf):
    return lambda transaction=None, renewal=None: jws.sign(samples.notification(transaction, renewal), leaf)


class TestDemandsOfSignedContent:
    """--account-token applies to the receipt's content if the App Store is not asked; --require-current always does."""

    def test_the_account(self, receipt_tool, trust, sign, notify, leaf):
        mine = sign(appAccountToken=OWNER)
        renewal = jws.sign(samples.RENEWAL_INFO | {"appAccountToken": OWNER}, leaf)
        for receipt in (mine, renewal, notify(mine), notify(None, renewal)):
            verdict = receipt_tool.accepts(receipt, *trust, "--account-token", OWNER.upper())
            assert [(check["name"], check["answer"]) for check in verdict["checks"]] == [("signed-content", "confirmed")]
            receipt_tool.refuses(receipt, "checker-refused", *trust, "--account-token", STRANGER)
            receipt_tool.accepts(receipt, *trust)

    def test_a_receipt_that_states_no_account(self, receipt_tool, trust, rsa_trust, rsa_store, sign, notify, leaf):
        signer = rsa_store.leaf("rsa2048")
        with_issuer = [*trust, *rsa_trust]
        for receipt in (
            sign(),
            notify(sign()),
            notify(),
            jws.sign(samples.RENEWAL_INFO, leaf),
            jws.sign(samples.APP_TRANSACTION, leaf),
            jws.sign(samples.REALTIME_REQUEST, leaf),
            app_receipt.sign(app_receipt.payload(), signer),
        ):
            receipt_tool.accepts(receipt, *with_issuer)
            receipt_tool.refuses(receipt, "checker-refused", *with_issuer, "--account-token", OWNER)

    def test_lines(self, receipt_tool, trust, sign):
        receipts = [sign(appAccountToken=OWNER), sign(appAccountToken=STRANGER), sign()]
        run = receipt_tool.run(
            "verify", "--lines", "--json", *trust, "--account-token", OWNER, "-", stdin="\n".join(receipts).encode()
        )
        assert run.code == INVALID
        assert [line["verdict"] for line in run.lines] == ["valid", "invalid", "invalid"]

    def test_a_current_subscription(self, receipt_tool, trust, sign, notify, leaf):
        current = [*trust, "--require-current"]
        receipt_tool.refuses(sign(), "not-current", *current)
        receipt_tool.accepts(sign(expiresDate=4_000_000_000_000), *current)
        # At the instant at which it is evaluated.
        for receipt in (sign(), notify(sign())):
            receipt_tool.accepts(receipt, *current, "--time", "2025-03-31T00:00:00Z")
            receipt_tool.refuses(receipt, "not-current", *current, "--time", "2025-04-02T00:00:00Z")
        bought = {key: value for key, value in samples.TRANSACTION.items() if key != "expiresDate"}
        receipt_tool.accepts(jws.sign(bought | {"type": "Non-Consumable"}, leaf), *current)
        receipt_tool.leaves_open(jws.sign(bought, leaf), "standing-unknown", *current)

    def test_a_purchase_that_states_its_revocation(self, receipt_tool, trust, sign):
        revoked = sign(appAccountToken=OWNER, revocationDate=samples.SIGNED, expiresDate=4_000_000_000_000)
        receipt_tool.accepts(revoked, *trust)
        receipt_tool.refuses(revoked, "not-current", *trust, "--require-current")
        receipt_tool.refuses(revoked, "revoked", *trust, "--account-token", OWNER)

    def test_the_verdict_is_recorded(self, receipt_tool, trust, sign, tmp_path):
        trail = tmp_path / "trail"
        assert receipt_tool.run("audit", "init", trail).code == VALID
        options = [*trust, "--audit", trail, "--account-token", STRANGER]
        verdict = receipt_tool.verify(sign(appAccountToken=OWNER), *options)
        assert verdict["verdict"] == "invalid"
        (entry,) = receipt_tool.run("audit", "show", trail, str(verdict["entry"]), "--json").lines
        assert entry["verdict"] == "invalid" and entry["reason"] == "checker-refused"


# What takes a value of some form, with a value of another form; {n} is a new name. The options are told by the message.
MISTYPED = [
    ("verify --time tomorrow purchase.jws", "--time"),
    ("verify --max-age soon purchase.jws", "--max-age"),
    ("verify --max-age=-1 purchase.jws", "--max-age"),
    ("verify --clock-skew x purchase.jws", "--clock-skew"),
    ("verify --app-apple-id 1e3 purchase.jws", "--app-apple-id"),
    ("verify --environment mars purchase.jws", "--environment"),
    ("verify --kind receipt purchase.jws", "--kind"),
    ("verify --algorithm md5 purchase.jws", "--algorithm"),
    ("verify --device-id xyz purchase.jws", "--device-id"),
    ("verify --marker 1 purchase.jws", "--marker"),
    ("verify --play-key play-key.txt purchase.jws", "--play-key"),
    ("verify --huawei-key play-key.txt purchase.jws", "--huawei-key"),
    ("verify --max-bytes many purchase.jws", "--max-bytes"),
    ("verify --color blue purchase.jws", "--color"),
    ("verify --check elsewhere purchase.jws", "--check"),
    ("verify --check receiptkit=nowhere purchase.jws", "--check"),
    ("verify --check ocsp --deadline soon purchase.jws", "--deadline"),
    ("verify --check ocsp --deadline 0 purchase.jws", "--deadline"),
    ("verify --check ocsp --base-url nowhere purchase.jws", "--base-url"),
    ("verify --check ocsp --base-url http://example.com purchase.jws", "--base-url"),
    ("inspect --time tomorrow purchase.jws", "--time"),
    ("identity create {n} --algorithm md5", "--algorithm"),
    ("identity create {n} --days many", "--days"),
    ("identity create {n} --valid-from yesterday", "--valid-from"),
    ("identity create {n} --marker 1", "--marker"),
    ("sign --identity my-store --format no-such-format purchase.json", "--format"),
    ("audit init {n} --once soon", "--once"),
    ("audit find trail --from yesterday", "--from"),
    ("audit find trail --to yesterday", "--to"),
    ("audit find trail --product p --limit few", "--limit"),
    ("audit find trail --product p --before x", "--before"),
    ("audit find trail --receipt xyz", "--receipt"),
    ("store init --store {n} --clock yesterday", "--clock"),
    ("store init --store {n} --seed x", "--seed"),
    ("store init --store {n} --grace-period 99", "--grace-period"),
    ("store buy --store plain com.example.coins --quantity x", "--quantity"),
    ("store advance --store plain --by month", "--by"),
    ("store advance --store plain --to tomorrow", "--to"),
    ("api notifications history --from yesterday", "--from"),
    ("api transactions info 1 --environment xcode", "--environment"),
    ("api transactions info 1 {token} --environment sandbox --sandbox-base-url nowhere", "--sandbox-base-url"),
    ("audit append trail new.jsonl --acknowledge soon", "--acknowledge"),
    ("audit append trail new.jsonl --witnesses policy --witness-timeout x", "--witness-timeout"),
    ("audit append trail new.jsonl --witnesses policy --witness-patience x", "--witness-patience"),
    ("audit find trail --from 2020-01-01T00:00:00Z --after x", "--after"),
    ("audit export trail --table {n}.txt", "--table"),
    ("notifications fold {n} --bundle-id a --at yesterday", "--at"),
    ("store control --emulator nowhere advance", "--emulator"),
    ("store notifications --store plain --after x", "--after"),
    ("store subscription --store shop 1 --extend-by x", "--extend-by"),
    ("token {token} --lifetime x", "--lifetime"),
    ("verify --audit trail --refuse-replay never purchase.jws", "--refuse-replay"),
    ("verify --check huawei --huawei-site mars purchase.jws", "--huawei-site"),
]

# What takes a file, which is absent.
ABSENT = [
    ("verify --trust {a} purchase.jws", "--trust"),
    ("verify --trust={a} purchase.jws", "--trust"),
    ("verify --intermediate {a} purchase.jws", "--intermediate"),
    ("verify --play-key com.example.app={a} purchase.jws", "--play-key"),
    ("verify --data {a} --signature purchase.jws", "--data"),
    ("verify --data purchase.jws --signature {a}", "--signature"),
    ("verify --check app-store --credentials {a} purchase.jws", "--credentials"),
    ("verify --audit {a} purchase.jws", "--audit"),
    ("sign --key {a} --chain root.cer --format signed-transaction purchase.json", "--key"),
    ("sign --identity {a} --format signed-transaction purchase.json", "--identity"),
    ("audit check {p} --key {a}", "--key"),
    ("audit check {p} --policy {a}", "--policy"),
    ("audit check {p} --key trail.pub --receipt {a}", "--receipt"),
    ("audit fsck exported --key trail.pub --since {a}", "--since"),
    ("store init --store {n} --catalog {a}", "--catalog"),
    ("store products --store {a}", "--store"),
    ("audit append trail new.jsonl --acknowledge witnessed --witnesses {a}", "--witnesses"),
    ("audit check {p} --key trail.pub --keys {a}", "--keys"),
    ("audit find trail --receipt-file {a}", "--receipt-file"),
    ("audit import {n} exported --private-key {a}", "--private-key"),
    ("sign --identity identity --passphrase-file {a} --format signed-transaction purchase.json", "--passphrase-file"),
    ("verify --audit trail --audit-key {a} purchase.jws", "--audit-key"),
    ("verify --audit trail --audit-private-key {a} purchase.jws", "--audit-private-key"),
    ("verify --check app-store --api-key {a} --key-id K --issuer-id I --bundle-id a purchase.jws", "--api-key"),
    ("verify --check google-play --service-account {a} purchase.jws", "--service-account"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "option"), MISTYPED, ids=[line for line, _ in MISTYPED])
def test_the_message_names_the_option_of_a_wrong_value(receipt_tool, world, tmp_path, line, option):
    line = line.replace("{n}", str(tmp_path / "new")).replace("{token}", " ".join([*TOKEN_OPTIONS, "--bundle-id a"]))
    run = receipt_tool.run(*line.split(), cwd=world.folder)
    assert run.code == USAGE and not run.out, run
    assert option in run.err.splitlines()[0], run.err


@pytest.mark.parametrize(("line", "option"), ABSENT, ids=[line for line, _ in ABSENT])
def test_the_message_names_the_option_of_a_file(receipt_tool, world, tmp_path, line, option):
    values = {"{a}": "absent\x1b[31m\x07", "{p}": "proof", "{n}": str(tmp_path / "new")}
    arguments = line.split()
    for name, value in values.items():
        arguments = [argument.replace(name, value) for argument in arguments]
    run = receipt_tool.run(*arguments, cwd=world.folder)
    assert run.code == UNREADABLE and not run.out, run
    assert option in run.err and "absent\ufffd[31m\ufffd" in run.err, run.err


def test_control_characters_of_a_wrong_value(receipt_tool, world):
    for arguments in (["verify", "--environment", "a\x1b[31m\nb", "-"], ["verify", "--environment=a\x1b[31m\nb", "-"]):
        run = receipt_tool.run(*arguments, cwd=world.folder)
        assert run.code == USAGE and "a\ufffd[31m\ufffdb" in run.err and "\x1b" not in run.err, run.err
