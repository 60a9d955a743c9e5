# SPDX-License-Identifier: Apache-2.0
"""receipt-tool store: a complete session in a terminal, and the state after a kill."""

import http.server
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import threading
import time

import pytest

from emulator import Emulator
from tool import INVALID, UNDETERMINED, UNREADABLE, USAGE, VALID

CANNOT_CREATE, NOT_STORED = 73, 74
TOKEN = "7e3fb204-2b3a-4c8f-9d5e-6a1b2c3d4e5f"


@pytest.fixture
def shop(receipt_tool, tmp_path):
    """A new store whose clock starts a year ago."""
    path = tmp_path / "shop"
    run = receipt_tool.run("store", "init", "--store", path, "--clock", "2025-01-01T00:00:00Z")
    assert run.code == VALID, run.err
    return path


@pytest.fixture
def call(receipt_tool, shop):
    """Runs a command of the store; it must end as expected. Returns the lines of JSON."""

    def call(command, *arguments, code=VALID):
        run = receipt_tool.run("store", command, "--store", shop, "--json", *arguments)
        assert run.code == code, f"{run.code}\n{run.out}{run.err}"
        return run.lines

    return call


@pytest.fixture
def accepts(receipt_tool, shop):
    return lambda receipt: receipt_tool.accepts(receipt, "--trust", shop / "root.cer")


class TestBuying:
    def test_a_sale_is_signed_and_stays_until_it_is_finished(self, call, accepts):
        (sold,) = call("buy", "com.example.coins", "--quantity", 3, "--username", TOKEN)
        assert (sold["state"], sold["quantity"]) == ("purchased", 3)
        transaction = accepts(sold["receipt"])["transactions"][0]
        assert transaction["transactionId"] == sold["transactionId"]
        assert transaction["productId"] == "com.example.coins"
        (pending,) = call("pending")
        assert pending["transactionId"] == sold["transactionId"]
        (finished,) = call("finish", sold["transactionId"])
        assert finished["transactionId"] == sold["transactionId"]
        assert call("pending") == []
        (bought,) = call("purchases")
        assert bought["finished"] and bought["price"] == 2970

    def test_an_unknown_product_fails_with_payment_invalid(self, call):
        (failed,) = call("buy", "no.such.product", code=INVALID)
        assert (failed["state"], failed["errorCode"]) == ("failed", 3)
        assert "receipt" not in failed and "transaction" not in failed

    @pytest.mark.parametrize("quantity", ["0", "-1"])
    def test_a_quantity_below_one_is_refused(self, receipt_tool, shop, call, quantity):
        run = receipt_tool.run("store", "buy", "--store", shop, "com.example.coins", f"--quantity={quantity}")
        assert run.code == INVALID
        assert run.out == ""
        assert call("pending") == []

    def test_a_non_consumable_that_is_owned_is_not_charged_again(self, call, accepts):
        (first,) = call("buy", "com.example.pro")
        call("finish", "--all")
        (second,) = call("buy", "com.example.pro")
        assert second["state"] == "purchased"
        assert second["transactionId"] != first["transactionId"]
        accepts(second["receipt"])
        assert sum(line["price"] for line in call("purchases")) == 9990

    def test_products_that_are_invalid_are_told_apart(self, call):
        lines = call("products", "com.example.pro", "no.such.product", code=INVALID)
        assert [(line["type"], line["productId"]) for line in lines] == [
            ("store-product", "com.example.pro"), ("store-invalid-product", "no.such.product")
        ]
        assert lines[0]["displayPrice"] == "$9.99" and lines[0]["price"] == 9990


class TestRestoring:
    def test_non_consumables_come_again_with_an_identifier_of_their_own(self, call):
        (pro,) = call("buy", "com.example.pro")
        call("buy", "com.example.coins")
        call("finish", "--all")
        (restored,) = call("restore")
        assert restored["state"] == "restored"
        assert restored["originalTransactionId"] == pro["transactionId"] != restored["transactionId"]

    def test_what_is_not_finished_is_not_restored(self, call):
        call("buy", "com.example.pro")
        assert call("restore") == []

    def test_by_username(self, call):
        call("buy", "com.example.pro", "--username", TOKEN)
        call("finish", "--all")
        assert call("restore", "--username", "somebody else") == []
        assert len(call("restore", "--username", TOKEN)) == 1


class TestApproval:
    def test_a_purchase_waits_and_is_approved(self, receipt_tool, tmp_path):
        shop = tmp_path / "shop"
        assert receipt_tool.run("store", "init", "--store", shop, "--ask").code == VALID
        base = ["--store", shop, "--json"]
        assert receipt_tool.run("store", "buy", *base, "com.example.pro").code == UNDETERMINED
        lines = receipt_tool.run("store", "pending", *base).lines
        (waiting,) = [line for line in lines if line["state"] == "waiting"]
        approved = receipt_tool.run("store", "approve", *base, waiting["request"])
        assert approved.code == VALID, approved.err
        assert [line["state"] for line in approved.lines] == ["purchased"]
        assert receipt_tool.run("store", "approve", *base, waiting["request"]).code == INVALID

    def test_a_purchase_is_declined(self, receipt_tool, tmp_path):
        shop = tmp_path / "shop"
        assert receipt_tool.run("store", "init", "--store", shop, "--ask").code == VALID
        base = ["--store", shop, "--json"]
        assert receipt_tool.run("store", "buy", *base, "com.example.pro").code == UNDETERMINED
        (waiting,) = [l for l in receipt_tool.run("store", "pending", *base).lines if l["state"] == "waiting"]
        declined = receipt_tool.run("store", "decline", *base, waiting["request"])
        assert [line["state"] for line in declined.lines] == ["failed"]
        assert receipt_tool.run("store", "purchases", *base).lines == []

    def test_only_the_purchase_that_is_declined_is_shown(self, receipt_tool, tmp_path):
        base = ["--store", tmp_path / "shop", "--json"]
        assert receipt_tool.run("store", "init", *base, "--ask").code == VALID
        for product in ("com.example.pro", "com.example.coins"):
            assert receipt_tool.run("store", "buy", *base, product).code == UNDETERMINED
        waiting = [line for line in receipt_tool.run("store", "pending", *base).lines if line["state"] == "waiting"]
        assert len(waiting) == 2
        for line in waiting:
            declined = receipt_tool.run("store", "decline", *base, line["request"])
            assert [shown["productId"] for shown in declined.lines] == [line["productId"]]


class TestControl:
    @pytest.mark.parametrize(
        ("member", "value"),
        [("transactionId=5", "5"), ("transactionId:=5", 5), ("account:=true", True), ("quantity=5", 5), ("quantity:=5", 5),
         ('transactionId:="5"', "5"), ("account=null", "null"), ("account:=null", None)],
    )  # fmt: skip
    def test_members(self, receipt_tool, member, value):
        received = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                received.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(200)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *arguments):
                pass

        with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
            threading.Thread(target=server.handle_request, daemon=True).start()
            url = f"http://127.0.0.1:{server.server_port}"
            assert receipt_tool.run("store", "control", "--emulator", url, "buy", member).code == VALID
        assert list(received[0].values()) == [value] and type(list(received[0].values())[0]) is type(value)


class TestSubscriptions:
    def test_a_year_of_one(self, call, accepts, shop, receipt_tool):
        (sold,) = call("buy", "com.example.plan.monthly")
        call("finish", "--all")
        notifications = call("advance", "--by", "P3M")
        assert {line["notificationType"] for line in notifications} == {"DID_RENEW"}
        renewals = call("pending")
        assert len(renewals) == len(notifications)
        assert {line["originalTransactionId"] for line in renewals} == {sold["transactionId"]}
        (state,) = call("subscription")
        assert (state["state"], state["autoRenewStatus"]) == ("active", 1)
        (change,) = call("subscription", sold["transactionId"], "--cancel")
        assert (change["notificationType"], change["subtype"]) == ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED")
        (ended,) = call("advance", "--by", "P2M")
        assert (ended["notificationType"], ended["subtype"]) == ("EXPIRED", "VOLUNTARY")
        (state,) = call("subscription")
        assert state["state"] == "expired"
        signed = call("notifications")
        assert [line["number"] for line in signed] == sorted(line["number"] for line in signed)
        for line in signed:
            verdict = accepts(line["signedPayload"])
            assert verdict["format"] == "signed-notification"

    def test_renewing_now_and_refunding(self, call):
        (sold,) = call("buy", "com.example.plan.yearly")
        (renewed,) = call("renew", sold["transactionId"])
        assert renewed["notificationType"] == "DID_RENEW"
        refunded = call("refund", renewed["transactionId"])
        assert [line["notificationType"] for line in refunded] == ["REFUND"]
        assert call("subscription")[0]["state"] == "refunded"
        assert [l["notificationType"] for l in call("refund", renewed["transactionId"], "--reverse")] == ["REFUND_REVERSED"]

    def test_a_billing_issue(self, call):
        call("buy", "com.example.plan.monthly")
        notifications = call("advance", "--by", "P1M", "--billing-issue")
        assert "DID_FAIL_TO_RENEW" in [line["notificationType"] for line in notifications]

    def test_at_once(self, receipt_tool, shop):
        """Each command that ends well has let its day pass."""
        command = [receipt_tool.path, "store", "advance", "--store", shop, "--by", "P1D"]
        running = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(6)]
        ended = [(process.communicate(timeout=120)[1].decode(), process.returncode) for process in running]
        shown = [text for text, code in ended if code == VALID]
        # On a loaded machine one may give up waiting for the others, and say so.
        assert all(code == VALID or code == NOT_STORED and "Another process" in text for text, code in ended), ended
        days = sorted(text.split("the store's clock shows ")[1][:10] for text in shown)
        assert days == [f"2025-01-{2 + day:02}" for day in range(len(shown))]

    def test_a_process_that_ended_before_it_wrote_the_clock(self, receipt_tool, call, shop):
        call("buy", "com.example.plan.monthly")
        before = (shop / "store.json").read_bytes()
        assert call("advance", "--by", "P3M")
        (shop / "store.json").write_bytes(before)
        # The clock goes on from the last event, and does not go back.
        assert call("buy", "com.example.coins")[0]["purchaseDate"] >= "2025-04-01"
        run = receipt_tool.run("store", "advance", "--store", shop, "--by", "P1D")
        assert run.code == VALID and "the store's clock shows 2025-04-02" in run.err, run.err
        run = receipt_tool.run("store", "advance", "--store", shop, "--to", "2025-02-01T00:00:00Z")
        assert run.code == USAGE and "does not go back" in run.err

    @pytest.mark.server
    def test_the_emulator_keeps_the_clock_of_a_store(self, shop, tmp_path):
        before = json.loads((shop / "store.json").read_bytes())["clockOffset"]
        # Which of its stores came first was chance.
        for number in range(5):
            assert Emulator(os.environ["STORE_EMULATOR"], tmp_path / str(number), "--store", str(shop)).stop() == 0
            after = json.loads((shop / "store.json").read_bytes())["clockOffset"]
            # In milliseconds; it went on by the time that the emulator took to start.
            assert abs(after - before) < 600_000

    @pytest.mark.server
    def test_a_process_that_ended_with_a_billing_issue(self, call, shop, tmp_path):
        call("buy", "com.example.plan.monthly")
        emulator = Emulator(os.environ["STORE_EMULATOR"], tmp_path / "state", "--store", str(shop), "--clock-rate", "0")
        emulator.control("POST", "billing", {"account": "customer", "fails": True})
        assert emulator.stop() == 0
        settings = json.loads((shop / "store.json").read_bytes())
        (shop / "store.json").write_text(json.dumps(settings | {"billingIssueOf": "customer"}))
        renewed = call("advance", "--by", "P1M")
        assert [line["notificationType"] for line in renewed] == ["DID_RENEW"]
        assert "billingIssueOf" not in json.loads((shop / "store.json").read_bytes())

    def test_an_advance_that_fails_half_way(self, receipt_tool, call, shop, tmp_path):
        """Whatever could not be written: charges succeed again, and the clock shows what has happened."""
        call("buy", "com.example.plan.monthly")
        failed = 0
        for number, limit in enumerate((6_000, 12_000, 24_000, 48_000, 96_000)):
            copy = tmp_path / f"copy-{number}"
            shutil.copytree(shop, copy)
            base = ["--store", copy, "--json"]
            run = receipt_tool.run(
                "store", "advance", *base, "--by", "P1Y", "--billing-issue",
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
            )  # fmt: skip
            assert run.code in (VALID, CANNOT_CREATE, NOT_STORED), (run.code, run.err)
            failed += run.code != VALID
            (sold,) = receipt_tool.run("store", "buy", *base, "com.example.plan.yearly").lines
            assert "billingIssueOf" not in json.loads((copy / "store.json").read_bytes())
            renewals = receipt_tool.run("store", "advance", *base, "--by", "P13M").lines
            assert "DID_RENEW" in {line["notificationType"] for line in renewals}, (limit, renewals)
            last = max(line["signedDate"] for line in renewals)
            (again,) = receipt_tool.run("store", "buy", *base, "com.example.coins").lines
            assert again["purchaseDate"] >= last >= sold["purchaseDate"]
        assert failed > 1

    def test_time_does_not_run_backwards(self, receipt_tool, shop):
        run = receipt_tool.run("store", "advance", "--store", shop, "--to", "2024-01-01T00:00:00Z")
        assert run.code == USAGE


class TestFiles:
    def test_the_key_is_the_owners(self, shop):
        assert (shop / "key.pem").stat().st_mode & 0o077 == 0
        assert (shop / "store.sqlite").stat().st_mode & 0o077 == 0

    def test_a_store_is_not_made_over_another(self, receipt_tool, shop):
        before = (shop / "key.pem").read_bytes()
        assert receipt_tool.run("store", "init", "--store", shop).code == CANNOT_CREATE
        assert (shop / "key.pem").read_bytes() == before

    def test_no_store_no_catalogue(self, receipt_tool, tmp_path):
        assert receipt_tool.run("store", "products", "--store", tmp_path / "none").code == UNREADABLE
        bad = tmp_path / "bad.json"
        bad.write_text('{"products": 1}')
        run = receipt_tool.run("store", "init", "--store", tmp_path / "x", "--catalog", bad)
        assert run.code == UNREADABLE
        assert "$.products" in run.err
        assert not (tmp_path / "x" / "store.json").exists()

    def test_another_account_has_a_queue_of_its_own(self, call):
        call("buy", "com.example.pro", "--account", "alice")
        assert call("pending") == []
        assert len(call("pending", "--account", "alice")) == 1

    @pytest.mark.parametrize("name", ["", "../x", "a/b", "a" * 65])
    def test_accounts_that_are_no_names(self, receipt_tool, shop, name):
        assert receipt_tool.run("store", "pending", "--store", shop, f"--account={name}").code == USAGE


def test_a_kill_at_any_moment_loses_and_doubles_nothing(receipt_tool, call, shop):
    """Killed purchases: each is in the queue at most once, and each sale is in the queue or finished."""
    generator = random.Random(6)
    rounds = 200 if os.environ.get("RECEIPTKIT_FULL_SWEEPS") else 12
    acknowledged = 0
    for _ in range(rounds):
        process = subprocess.Popen(
            [receipt_tool.path, "store", "buy", "--store", str(shop), "--json", "com.example.coins"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(generator.uniform(0, 0.25))
        process.send_signal(signal.SIGKILL)
        out, _ = process.communicate()
        lines = [json.loads(line) for line in out.splitlines() if line.endswith(b"}")]
        acknowledged += any(line["state"] == "purchased" for line in lines)
    pending = call("pending")
    bought = call("purchases")
    assert {line["state"] for line in pending} <= {"purchased"}
    identifiers = [line["transactionId"] for line in pending]
    assert len(set(identifiers)) == len(identifiers)
    assert sorted(identifiers) == sorted(line["transactionId"] for line in bought if not line["finished"])
    assert acknowledged <= len(pending) <= rounds
    call("finish", "--all")
    assert call("pending") == []
    assert all(line["finished"] for line in call("purchases"))
