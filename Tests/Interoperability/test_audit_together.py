# SPDX-License-Identifier: Apache-2.0
"""Several processes on one trail: a purchase is granted once, and pairs of operations of which one is killed leave a
trail that is intact, with everything acknowledged and nothing erased."""

import json
import os
import random
import subprocess
import time

import pytest
import samples
from audit_load import lines
from independent import jws
from tool import INVALID, VALID

FULL = bool(os.environ.get("RECEIPTKIT_FULL_SWEEPS"))
RACES = 1000 if FULL else 6
PAIRS = 500 if FULL else 24


@pytest.fixture
def trail(receipt_tool, tmp_path):
    path = tmp_path / "verdicts.audit"
    assert receipt_tool.run("audit", "init", path, "--origin", "example.com/verdicts").code == VALID
    return path


@pytest.mark.parametrize("rule", ["another-customer", "same-receipt", "consumable-again"])
def test_four_processes_race_for_a_purchase(receipt_tool, trail, trust, store, tmp_path, rule):
    leaf = store.leaf()
    for number in range(RACES):
        commands = []
        for process in range(4):
            changes = {"transactionId": str(number), "originalTransactionId": str(number), "type": "Consumable"}
            # Under this rule each process has a receipt of its own for the same consumable.
            if rule == "consumable-again":
                changes["signedDate"] = samples.SIGNED + process
            receipt = tmp_path / f"receipt-{process}.jws"
            receipt.write_text(jws.sign(samples.TRANSACTION | changes, leaf))
            customer = ["--customer", f"customer {process}"] if rule == "another-customer" else []
            commands.append(
                [receipt_tool.path, "verify", "--json", "--audit", str(trail), *trust, "--refuse-replay", rule, *customer]
                + [str(receipt)]
            )
        processes = [subprocess.Popen(c, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for c in commands]
        verdicts = []
        for process in processes:
            out, err = process.communicate(timeout=60)
            assert process.returncode in (VALID, INVALID), err.decode()
            verdicts.append(json.loads(out)["verdict"])
        assert sorted(verdicts) == ["invalid"] * 3 + ["valid"], f"round {number}"


@pytest.mark.parametrize("rule", ["same-receipt", "consumable-again"])
def test_equal_lines_of_one_call_are_granted_once(receipt_tool, trail, trust, store, rule):
    leaf = store.leaf()
    receipts = [
        jws.sign(samples.TRANSACTION | {"transactionId": str(number % 40), "type": "Consumable"}, leaf)
        for number in range(40)
    ]
    stdin = "\n".join(receipts * 5).encode() + b"\n"
    run = receipt_tool.run(
        "verify", "--lines", "--json", "--audit", trail, *trust, "--refuse-replay", rule, "-", stdin=stdin
    )
    granted = [line["transactions"][0]["transactionId"] for line in run.lines if line["verdict"] == "valid"]
    assert len(run.lines) == 200 and sorted(granted, key=int) == [str(number) for number in range(40)]


SECRET = "the customer that is searched for in every file"


def test_pairs_of_operations_of_which_one_is_killed(receipt_tool, trail, tmp_path):
    """Every pair of operations at random moments, one of them or both killed: the trail is intact, nothing that was
    acknowledged is missing, and nothing that was erased is back or left in a file."""
    rng = random.Random(20261123)
    number = 0
    acknowledged: dict[int, int] = {}

    def entered(output: bytes, numbers) -> None:
        for record, text in zip(numbers, output.split(b"\n")[:-1]):
            acknowledged[record] = json.loads(text)["index"]

    def append(numbers):
        run = receipt_tool.run("audit", "append", trail, "-", "--json", stdin=lines(numbers))
        assert run.code == VALID, run.err
        entered(run.out.encode(), numbers)

    append(range(600))
    number = 600
    operations = ["append", "erase", "checkpoint", "fsck", "export", "migrate"]
    for round in range(PAIRS):
        # Somebody who will be erased in this round, or later when that was cut off.
        secret = {"kind": "verdict", "verdict": "valid", "receipt": "%064x" % (1 << 200 | round), "customer": SECRET}
        run = receipt_tool.run("audit", "append", trail, "-", "--json", stdin=json.dumps(secret).encode() + b"\n")
        assert run.code == VALID, run.err
        (line,) = run.lines
        pair = [rng.choice(operations), "erase" if round % 2 else rng.choice(operations)]
        processes = []
        for place, operation in enumerate(pair):
            numbers = range(number, number + rng.choice([1, 30, 700]))
            arguments = {
                "append": ["append", trail, "-", "--json"],
                "erase": ["erase", trail, line["index"]],
                "checkpoint": ["checkpoint", trail],
                "fsck": ["fsck", trail],
                "export": ["export", trail, tmp_path / f"export-{round}-{place}"],
                "migrate": ["migrate", trail, tmp_path / f"copy-{round}-{place}"],
            }[operation]
            if operation == "append":
                number += len(numbers)
            process = subprocess.Popen(
                [receipt_tool.path, "audit", *map(str, arguments)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )  # fmt: skip
            processes.append((operation, numbers, process))
        for operation, numbers, process in processes:
            if operation == "append":
                try:
                    process.stdin.write(lines(numbers))
                except BrokenPipeError:
                    pass
            process.stdin.close()
            process.stdin = None
        time.sleep(rng.random() * 0.06)
        for victim in rng.sample(range(2), rng.choice([1, 1, 2])):
            processes[victim][2].kill()
        for operation, numbers, process in processes:
            out, err = process.communicate(timeout=120)
            if operation == "append":
                entered(out, numbers)
            # Who was not killed did it, or was kept from it for a reason that it gave.
            assert process.returncode in (0, -9) or err, operation
        run = receipt_tool.run("audit", "erase", trail, "--customer", SECRET)
        assert run.code in (VALID, INVALID), run.err
        run = receipt_tool.run("audit", "fsck", trail)
        assert run.code == VALID, f"round {round}, {pair}: {run.out}{run.err}"
        for suffix in ["", "-wal"]:
            path = f"{trail}{suffix}"
            assert not os.path.exists(path) or SECRET.encode() not in open(path, "rb").read(), (round, pair, suffix)
        if round % 8 == 7 or round == PAIRS - 1:
            again = sorted(acknowledged)
            run = receipt_tool.run("audit", "append", trail, "-", "--json", stdin=lines(again))
            assert [line["index"] for line in run.lines] == [acknowledged[record] for record in again]
            assert all(line["repeated"] for line in run.lines)
