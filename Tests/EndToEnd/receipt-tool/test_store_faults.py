# SPDX-License-Identifier: Apache-2.0
"""Stores in folders: the order of their system calls, full disks, and several processes at once."""

import errno
import json
import os
import re
import subprocess
import time
import urllib.error

import pytest

from emulator import Emulator
from fault_shim import FaultShim
from test_audit_order import Event, check_order
from tool import VALID

COINS = "com.example.coins"
BUSY = 74


@pytest.fixture
def shop(receipt_tool, tmp_path):
    path = tmp_path / "shop"
    run = receipt_tool.run("store", "init", "--store", path)
    assert run.code == VALID, run.err
    return path


@pytest.fixture
def shim(tmp_path):
    return FaultShim(tmp_path)


class TestOrder:
    """What a process must not forget is synced before another one may rely on it."""

    @staticmethod
    def events(receipt_tool, shim, shop, *arguments) -> list[Event]:
        run = receipt_tool.run("store", *arguments, "--store", shop, "--json", env=shim.environment(shop))
        assert run.code == VALID, run.err
        return [
            event for call in shim.calls() for event in (Event(call.name, call.path), Event(call.name, call.path, True))
        ]

    @staticmethod
    def queue(events) -> str:
        """The log of the queue, which is made under another name."""
        (path,) = {event.path for event in events if re.search(r"/queue-\w+\.sqlite-wal$", event.path)}
        return path

    def test_a_payment_is_in_the_queue_before_the_store_is_told_and_a_sale_before_it_is_reported(
        self, receipt_tool, shim, shop
    ):
        for _ in range(3):
            events = self.events(receipt_tool, shim, shop, "buy", COINS)
            queue = self.queue(events)
            ledger = str(shop / "store.sqlite-wal")
            count, after_writes = check_order(events, queue, told=ledger)
            assert count > 0 and after_writes >= 1
            # The store's sale is on disk before the queue has it, and both before it is printed.
            assert check_order(events, ledger, told=queue)[1] >= 1
            for path in (queue, ledger):
                assert check_order(events, path)[1] >= 1

    def test_a_finish_is_in_the_queue_before_the_store_is_told(self, receipt_tool, shim, shop):
        (sold,) = receipt_tool.run("store", "buy", COINS, "--store", shop, "--json").lines
        events = self.events(receipt_tool, shim, shop, "finish", sold["transactionId"])
        queue = self.queue(events)
        ledger = str(shop / "store.sqlite-wal")
        told = [e for e in events if e.path == ledger and "write" in e.name]
        assert told and check_order(events, queue, told=ledger)[1] >= 1
        assert check_order(events, ledger)[1] >= 1

    @pytest.mark.server
    def test_an_emulator_answers_after_the_sync(self, shim, shop, tmp_path):
        emulator = Emulator(
            os.environ["APP_STORE_EMULATOR"], tmp_path / "state", "--no-token-checks", "--store", str(shop),
            environment=shim.environment("store.sqlite-wal"),
        )  # fmt: skip
        syncs = []
        for number in range(5):
            emulator.control("POST", "buy", {"account": "a", "productId": COINS, "requestId": str(number)})
            calls = shim.calls()
            written = max(place for place, call in enumerate(calls) if call.kind == "write" and call.path.endswith("-wal"))
            synced = max(place for place, call in enumerate(calls) if call.kind == "sync" and call.path.endswith("-wal"))
            assert synced > written, f"sale {number} was answered before its sync"
            syncs.append(sum(call.kind == "sync" for call in calls))
        assert all(before < after for before, after in zip(syncs, syncs[1:]))
        assert emulator.stop() == 0


def failure(emulator, *arguments) -> str:
    with pytest.raises(urllib.error.HTTPError) as caught:
        emulator.control(*arguments)
    return json.load(caught.value)["error"]


@pytest.mark.server
class TestFullDisk:
    def test_a_sale_without_space_is_not_acknowledged_and_is_made_later(self, shim, shop, tmp_path):
        """The shim has each write of the log fail while its switch is on."""
        error = (tmp_path / "stderr").open("w+b")
        environment = shim.environment("store.sqlite-wal", at=40, error=errno.ENOSPC, lasting=True)
        emulator = Emulator(
            os.environ["APP_STORE_EMULATOR"], tmp_path / "state", "--no-token-checks", "--store", str(shop),
            environment=environment, stderr=error,
        )  # fmt: skip
        sold, refused = {}, []
        for number in range(40):
            body = {"account": "a", "productId": COINS, "requestId": str(number)}
            try:
                sold[str(number)] = emulator.control("POST", "buy", body)["transactionId"]
            except urllib.error.HTTPError as answer:
                refused.append(str(number))
                assert "full" in json.load(answer)["error"]
        assert sold and refused and max(map(int, sold)) < min(map(int, refused))
        # It answers about what it sold meanwhile.
        posted = emulator.control("GET", "notifications")["notifications"]
        assert [n["transactionId"] for n in posted] == list(sold.values())
        emulator.stop()
        # There is space again: each request is answered with its one sale.
        emulator = Emulator(
            os.environ["APP_STORE_EMULATOR"], tmp_path / "state", "--no-token-checks", "--store", str(shop)
        )
        for number in refused:
            body = {"account": "a", "productId": COINS, "requestId": number}
            sold[number] = emulator.control("POST", "buy", body)["transactionId"]
        posted = emulator.control("GET", "notifications")["notifications"]
        assert [n["transactionId"] for n in posted] == list(sold.values())
        assert len(set(sold.values())) == 40
        assert emulator.stop() == 0

    @pytest.mark.long
    def test_one_write_that_fails_refuses_one_sale(self, shim, shop, tmp_path):
        for at in range(12, 60, 8):
            folder = tmp_path / f"state-{at}"
            emulator = Emulator(
                os.environ["APP_STORE_EMULATOR"], folder, "--no-token-checks", "--store", str(shop),
                environment=shim.environment("store.sqlite-wal", at=at, error=errno.ENOSPC),
            )  # fmt: skip
            sold = []
            refusals = 0
            for number in range(12):
                body = {"account": str(at), "productId": COINS, "requestId": str(number)}
                for _ in range(2):
                    try:
                        sold.append(emulator.control("POST", "buy", body)["transactionId"])
                        break
                    except urllib.error.HTTPError as answer:
                        refusals += 1
                        assert "full" in json.load(answer)["error"]
            assert len(set(sold)) == 12 and refusals <= 1
            assert emulator.stop() == 0

    def test_a_failed_sync_ends_the_sales(self, shim, shop, tmp_path):
        error = (tmp_path / "stderr").open("w+b")
        emulator = Emulator(
            os.environ["APP_STORE_EMULATOR"], tmp_path / "state", "--no-token-checks", "--store", str(shop),
            environment=shim.environment("store.sqlite-wal", kind="sync", at=4), stderr=error,
        )  # fmt: skip
        sold = []
        while True:
            body = {"account": "a", "productId": COINS, "requestId": str(len(sold))}
            try:
                sold.append(emulator.control("POST", "buy", body)["transactionId"])
            except urllib.error.HTTPError as answer:
                assert "sync" in json.load(answer)["error"]
                break
        assert len(sold) < 10
        for _ in range(3):
            assert "sync" in failure(emulator, "POST", "buy", {"account": "b", "productId": COINS})
        assert "sync" in failure(emulator, "GET", "notifications")
        # What runs in the background says so.
        end, said = time.monotonic() + 30, b""
        while b"sync" not in said and time.monotonic() < end:
            time.sleep(0.05)
            said = (tmp_path / "stderr").read_bytes()
        assert said.count(b"sync-failed") == 1, said
        emulator.stop()
        emulator = Emulator(
            os.environ["APP_STORE_EMULATOR"], tmp_path / "state", "--no-token-checks", "--store", str(shop)
        )
        sold.append(
            emulator.control("POST", "buy", {"account": "a", "productId": COINS, "requestId": str(len(sold))})["transactionId"]
        )
        posted = emulator.control("GET", "notifications")["notifications"]
        assert [n["transactionId"] for n in posted] == sold
        assert emulator.stop() == 0


class TestTogether:
    def test_four_processes_sell_from_one_folder(self, receipt_tool, shop):
        """Each waits for the others, or says that the folder is in use; every sale that was acknowledged is there."""
        script = "\n".join(
            f'"$1" store buy {COINS} --store "$2" --account "$3" --json || [ $? = {BUSY} ] || exit 1' for _ in range(6)
        )
        processes = [
            subprocess.Popen(
                ["sh", "-c", script, "sh", receipt_tool.path, str(shop), f"customer-{number}"],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )
            for number in range(4)
        ]  # fmt: skip
        sold: dict[int, list[str]] = {}
        for number, process in enumerate(processes):
            out, err = process.communicate(timeout=120)
            assert process.returncode == 0, err
            sold[number] = [json.loads(line)["transactionId"] for line in out.splitlines()]
        for number in range(4):
            run = receipt_tool.run("store", "purchases", "--store", shop, "--account", f"customer-{number}", "--json")
            assert [line["transactionId"] for line in run.lines] == sold[number]
        everything = [transaction for sales in sold.values() for transaction in sales]
        assert len(everything) == len(set(everything)) > 4

    @pytest.mark.long
    @pytest.mark.server
    def test_a_second_emulator_on_a_folder_says_that_it_is_in_use(self, receipt_tool, shop, tmp_path):
        first = Emulator(
            os.environ["APP_STORE_EMULATOR"], tmp_path / "state", "--no-token-checks", "--store", str(shop)
        )
        first.control("POST", "buy", {"account": "a", "productId": COINS})
        second = subprocess.run(
            [os.environ["APP_STORE_EMULATOR"], "--state", tmp_path / "second", "--store", shop],
            stdin=subprocess.DEVNULL, capture_output=True, timeout=60,
        )  # fmt: skip
        assert second.returncode not in (0, 70) and b"only one may" in second.stderr, second
        run = receipt_tool.run("store", "buy", COINS, "--store", shop)
        assert run.code == BUSY and "only one may" in run.err, run
        first.control("POST", "buy", {"account": "a", "productId": COINS})
        assert len(first.control("GET", "notifications")["notifications"]) == 2
        assert first.stop() == 0
