# SPDX-License-Identifier: Apache-2.0
"""An audit trail whose writer is killed at random moments has every acknowledged entry once, with a proof."""

import os
import random
import signal
import subprocess
import threading
import time

import pytest

from audit_load import Trail, lines

ROUNDS = 500 if os.environ.get("RECEIPTKIT_FULL_SWEEPS") else 40


class Writer:
    """A process that appends records until it is killed: a burst, its acknowledgements, the next burst."""

    def __init__(self, trail: Trail, start: int, burst: int, *options):
        self.trail, self.burst = trail, burst
        self.numbers = start
        self.first = start
        self.output = b""
        self.process = subprocess.Popen(
            [trail.tool.path, "audit", "append", str(trail.path), "-", "--json", *options],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
        )  # fmt: skip
        self.thread = threading.Thread(target=self._work, daemon=True)
        self.thread.start()

    def _work(self):
        acknowledged = 0
        try:
            while True:
                self.process.stdin.write(lines(range(self.numbers, self.numbers + self.burst)))
                self.numbers += self.burst
                while acknowledged < self.numbers - self.first:
                    piece = self.process.stdout.read(1 << 16)
                    if not piece:
                        return
                    self.output += piece
                    acknowledged += piece.count(b"\n")
        except (BrokenPipeError, ValueError):
            self.output += self.process.stdout.read() or b""

    def kill(self) -> int:
        """Kills the process and records its acknowledgements; returns their number."""
        self.process.send_signal(signal.SIGKILL)
        self.thread.join(20)
        assert not self.thread.is_alive()
        self.process.wait(20)
        error = self.process.stderr.read().decode()
        assert self.process.returncode == -signal.SIGKILL, error
        return self.trail.acknowledge(range(self.first, self.numbers), self.output)


@pytest.mark.long
def test_a_writer_that_is_killed_at_random_loses_nothing(receipt_tool, tmp_path):
    trail = Trail.create(receipt_tool, tmp_path / "trail")
    rng = random.Random(20261121)
    next_number, acknowledged = 0, 0
    for round_number in range(ROUNDS):
        options = ["--acknowledge", "checkpointed"] if rng.random() < 0.3 else []
        writer = Writer(trail, next_number, rng.choice([1, 1, 3, 20, 300]), *options)
        # From the opening of the trail to the midst of the work.
        time.sleep(rng.uniform(0, 0.6))
        count = writer.kill()
        acknowledged += count
        # The client appends unacknowledged records again; sometimes all of them, to check that nothing is repeated.
        next_number += count if rng.random() < 0.8 else 0
        newest = [max(trail.indexes)] if trail.indexes and round_number % 5 == 0 else []
        trail.check(proofs=newest, fsck=round_number % 10 == 9)
    trail.append(range(next_number, next_number + 10))
    trail.check(proofs=rng.sample(sorted(trail.indexes), 5))
    assert acknowledged > ROUNDS, "hardly anything was acknowledged: the rounds are too short to say anything"
    print(f"{ROUNDS} rounds, {acknowledged} acknowledgements, {trail.stored.size} entries")


@pytest.mark.long
def test_a_second_writer_goes_on_when_the_first_is_killed(receipt_tool, tmp_path):
    trail = Trail.create(receipt_tool, tmp_path / "trail")
    rng = random.Random(5)
    for round_number in range(max(3, ROUNDS // 10)):
        writers = [
            Writer(trail, (2 * round_number + half) * 1_000_000, rng.choice([1, 5, 50])) for half in range(2)
        ]
        time.sleep(rng.uniform(0.2, 0.8))
        writers[0].kill()
        seen = len(writers[1].output)
        deadline = time.monotonic() + 30
        while len(writers[1].output) == seen and time.monotonic() < deadline:
            time.sleep(0.02)
        assert len(writers[1].output) > seen, "the second writer stands still"
        writers[1].kill()
        trail.check(fsck=False)
    trail.check(proofs=rng.sample(sorted(trail.indexes), 3))
