# SPDX-License-Identifier: Apache-2.0
"""Pairs of operations on one trail of which one is killed, or both: the trail is intact, with everything that was
acknowledged and nothing that was erased."""

import collections
import os
import random
import subprocess

import pytest

from audit_pairs import SECRET, PairedTrail
from audit_places import files_below, holding
from tool import UNDETERMINED, VALID

FULL = bool(os.environ.get("RECEIPTKIT_FULL_SWEEPS"))
ROUNDS = 500 if FULL else 14
# A trail does not grow without end, since all of it is checked after every round.
ROUNDS_OF_A_TRAIL = 50


def pairs(rng: random.Random, count: int) -> list[tuple[str, str]]:
    """Pairs of operations; the first few contain every operation, and every second pair an erasure."""
    names = rng.sample(PairedTrail.NAMES, len(PairedTrail.NAMES))
    return [
        (names[number % len(names)], "erase" if number % 2 else rng.choice(PairedTrail.NAMES))
        for number in range(count)
    ]


@pytest.mark.long
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


@pytest.mark.long
def test_two_exports_into_one_folder_at_once(make_place, trust, store):
    """The folder has the results of the operations that succeeded; a conflicting one reports the conflict."""
    trail = PairedTrail(make_place(), trust, store, random.Random(1))
    trail.append_all(1500)
    trail.enter_secret()
    for number in range(20 if FULL else 4):
        name = f"both-{number}"
        command = [trail.place.tool.path, "audit", "export", trail.place.trail, name]
        processes = [
            subprocess.Popen(command + last, cwd=trail.place.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            for last in ([], ["--with-erasable"])
        ]
        errors = [process.communicate(timeout=120)[1].decode() for process in processes]
        codes = [process.returncode for process in processes]
        assert VALID in codes and set(codes) <= {VALID, UNDETERMINED}, errors
        refused = [error for code, error in zip(codes, errors) if code != VALID]
        assert all("Another export is writing into this folder" in error for error in refused)
        trail.check_intact(name, "--key", f"{trail.place.name}.pub")
        exposed = holding(files_below(trail.place.folder / name), [SECRET.encode()])
        # Of two that succeed, either may have been the last.
        assert codes == [VALID, VALID] or bool(exposed) == (codes[1] == VALID)


def play(trail: PairedTrail, pair: tuple[str, str]):
    """One round: a customer's record is appended, two operations run, one is killed, and the customer is erased."""
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
