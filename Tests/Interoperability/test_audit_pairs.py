# SPDX-License-Identifier: Apache-2.0
"""Pairs of operations on one trail of which one is killed, or both: the trail is intact, with everything that was
acknowledged and nothing that was erased."""

import collections
import os
import random

from audit_pairs import PairedTrail

FULL = bool(os.environ.get("RECEIPTKIT_FULL_SWEEPS"))
ROUNDS = 500 if FULL else 14
# A trail does not grow without end, since all of it is checked after every round.
ROUNDS_OF_A_TRAIL = 50


def pairs(rng: random.Random, count: int) -> list[tuple[str, str]]:
    """Pairs of operations; each operation is in the first few, and every other one is with an erasure."""
    names = rng.sample(PairedTrail.NAMES, len(PairedTrail.NAMES))
    return [
        (names[number % len(names)], "erase" if number % 2 else rng.choice(PairedTrail.NAMES)) for number in range(count)
    ]


def test_pairs_of_operations_of_which_one_is_killed(make_place, trust, store):
    rng = random.Random(int(os.environ.get("RECEIPTKIT_SEED", "20261123")))
    trails = []
    for number, pair in enumerate(pairs(rng, ROUNDS)):
        if number % ROUNDS_OF_A_TRAIL == 0:
            trails.append(PairedTrail(make_place(), trust, store, rng))
            trails[-1].append_all(600)
        try:
            play(trails[-1], pair)
            if number % 8 == 7 or number == ROUNDS - 1:
                trails[-1].check()
        except AssertionError as failure:
            raise AssertionError(f"round {number}, {pair}: {failure}") from failure
    for name in PairedTrail.NAMES:
        print(name, dict(sum((trail.outcomes[name] for trail in trails), collections.Counter())))


def play(trail: PairedTrail, pair: tuple[str, str]):
    """One round: somebody is entered, two operations run, one of them is killed, and that person is erased."""
    secret = trail.enter_secret()
    before = trail.place.wrapping_keys()
    operations = [trail.operation(name, secret) for name in pair]
    processes = trail.run_pair(operations)
    trail.check_files(operations, before)
    for operation, process in zip(operations, processes):
        if operation.name == "grant":
            trail.check_grant(operation, process)
    trail.remove_copies(operations)
    trail.erase_secret(secret, before)
    trail.check_intact(trail.place.trail)
