# SPDX-License-Identifier: Apache-2.0
"""Several processes that grant purchases on one trail: each purchase is granted once."""

import collections
import json
import os
import random

import pytest

import samples
from audit_racers import race
from independent import jws
from tool import VALID

FULL = bool(os.environ.get("RECEIPTKIT_FULL_SWEEPS"))
PROCESSES = 4
# Rounds of one purchase, and of the processes that are in them; rounds of batches, and the purchases in each.
RACES, RACES_OF_A_PROCESS = (1000, 100) if FULL else (24, 8)
BATCHES, PURCHASES = (40, 25) if FULL else (4, 12)
RULES = ["another-customer", "same-receipt", "consumable-again"]


class Purchases:
    """The receipts of purchases for each process of a race, and their customers."""

    def __init__(self, store, rule: str):
        self.leaf, self.rule = store.leaf(), rule

    def receipts(self, number: int) -> list[str]:
        """Each process's receipts of a purchase: the same, or for the rule of consumables a different one."""
        changes = {"transactionId": str(number), "originalTransactionId": str(number), "type": "Consumable"}
        if self.rule != "consumable-again":
            return [jws.sign(samples.TRANSACTION | changes, self.leaf)] * PROCESSES
        signed = [changes | {"signedDate": samples.SIGNED + process} for process in range(PROCESSES)]
        return [jws.sign(samples.TRANSACTION | changes, self.leaf) for changes in signed]

    def options(self, trust) -> list[list[str]]:
        told = [[*trust, "--refuse-replay", self.rule] for _ in range(PROCESSES)]
        if self.rule == "another-customer":
            return [[*options, "--customer", f"customer {process}"] for process, options in enumerate(told)]
        return told


def granted(verdicts) -> dict[str, int]:
    """The number of grants of each purchase; every other verdict must be a replay."""
    for verdict in verdicts:
        assert verdict["verdict"] == "valid" or verdict["reason"]["code"] == "checker-refused", verdict
    return collections.Counter(v["transactions"][0]["transactionId"] for v in verdicts if v["verdict"] == "valid")


def check_trail(place, purchases: int):
    """Checks that the trail is intact and contains one grant of each purchase."""
    assert place.run("audit", "fsck", place.trail, timeout=300).code == VALID
    assert place.run("audit", "export", place.trail, "--table", "all.jsonl").code == VALID
    entries = [json.loads(line) for line in (place.folder / "all.jsonl").read_text().splitlines()]
    recorded = collections.Counter(entry["transactionId"] for entry in entries if entry.get("verdict") == "valid")
    assert recorded == {str(number): 1 for number in range(purchases)}


@pytest.mark.long
@pytest.mark.parametrize("rule", RULES)
def test_four_processes_race_for_a_purchase(make_place, trust, store, rule):
    place, purchases = make_place(), Purchases(store, rule)
    for first in range(0, RACES, RACES_OF_A_PROCESS):
        numbers = range(first, first + RACES_OF_A_PROCESS)
        rounds = [[[receipt] for receipt in purchases.receipts(number)] for number in numbers]
        for number, verdicts in zip(numbers, race(place, rounds, purchases.options(trust))):
            assert len(verdicts) == PROCESSES and granted(verdicts) == {str(number): 1}, f"race {number}"
    check_trail(place, RACES)


@pytest.mark.long
@pytest.mark.parametrize("rule", RULES)
def test_four_processes_race_for_the_purchases_of_a_batch(make_place, trust, store, rule):
    """Each process has all receipts, in the same or another order; and again, except for customers, who may repeat."""
    place, purchases, rng = make_place(), Purchases(store, rule), random.Random(20261123)
    copies = 1 if rule == "another-customer" else 2
    rounds = []
    for first in range(0, BATCHES * PURCHASES, PURCHASES):
        batch = list(zip(*map(purchases.receipts, range(first, first + PURCHASES))))
        shuffled = [rng.sample(receipts, PURCHASES) if first % 2 else list(receipts) for receipts in batch]
        rounds.append([receipts * copies for receipts in shuffled])
    options = [["--lines", *told] for told in purchases.options(trust)]
    for number, verdicts in enumerate(race(place, rounds, options)):
        assert len(verdicts) == copies * PURCHASES * PROCESSES
        expected = {str(number * PURCHASES + purchase): 1 for purchase in range(PURCHASES)}
        assert granted(verdicts) == expected, f"batch {number}"
    check_trail(place, BATCHES * PURCHASES)


@pytest.mark.parametrize("rule", ["same-receipt", "consumable-again"])
def test_equal_lines_of_one_call_are_granted_once(make_place, trust, store, rule):
    place, leaf = make_place(), store.leaf()
    receipts = [
        jws.sign(samples.TRANSACTION | {"transactionId": str(number % 40), "type": "Consumable"}, leaf)
        for number in range(40)
    ]
    stdin = "\n".join(receipts * 5).encode() + b"\n"
    run = place.run(
        "verify", "--lines", "--json", "--audit", place.trail, *trust, "--refuse-replay", rule, "-", stdin=stdin
    )
    granted = [line["transactions"][0]["transactionId"] for line in run.lines if line["verdict"] == "valid"]
    assert len(run.lines) == 200 and sorted(granted, key=int) == [str(number) for number in range(40)]
