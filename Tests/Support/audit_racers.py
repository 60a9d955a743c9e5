# SPDX-License-Identifier: Apache-2.0
"""Processes that verify receipts concurrently and begin each round at the same time."""

import fcntl
import json
import os
import subprocess
import time

from audit_places import FilePlace
from tool import INVALID


class Racer:
    """A process that records the verdicts on receipts from pipes, one pipe per round."""

    def __init__(self, place: FilePlace, name: str, rounds: int, *options):
        self.pipes = [place.folder / f"{name}-{round}" for round in range(rounds)]
        for pipe in self.pipes:
            os.mkfifo(pipe)
        self.errors = open(place.folder / f"{name}.errors", "w+")
        command = [place.tool.path, "verify", "--json", "--audit", place.trail, *options]
        self.process = subprocess.Popen(
            command + [pipe.name for pipe in self.pipes],
            cwd=place.folder, stdout=subprocess.PIPE, stderr=self.errors,
        )  # fmt: skip

    def open(self, round: int) -> int:
        """Waits until the process reads from the pipe of a round."""
        deadline = time.monotonic() + 60
        while True:
            try:
                pipe = os.open(self.pipes[round], os.O_WRONLY | os.O_NONBLOCK)
                break
            except OSError:
                assert self.process.poll() is None and time.monotonic() < deadline, self.error()
                time.sleep(0.0005)
        # All of a batch fits, so that nobody waits for what others read.
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 1 << 20)
        return pipe

    def verdicts(self, count: int) -> list[dict]:
        lines = [self.process.stdout.readline() for _ in range(count)]
        assert all(lines), self.error()
        return [json.loads(line) for line in lines]

    def error(self) -> str:
        self.errors.seek(0)
        return self.errors.read()

    def end(self, exit_codes):
        assert self.process.wait(60) in exit_codes, self.error()
        assert self.process.stdout.read() == b""
        self.errors.close()
        for pipe in self.pipes:
            pipe.unlink()


def race(place: FilePlace, batches: list[list[list[str]]], options: list[list[str]]) -> list[list[dict]]:
    """Has processes verify batches of receipts.

    `batches` has for each round the receipts of each process, `options` what each process is told. Gives the verdicts
    of each round, those of all processes together.
    """
    racers = [Racer(place, f"racer-{number}", len(batches), *told) for number, told in enumerate(options)]
    rounds = []
    for number, batch in enumerate(batches):
        pipes = [racer.open(number) for racer in racers]
        for pipe, receipts in zip(pipes, batch):
            os.write(pipe, "\n".join(receipts).encode())
        for pipe in pipes:
            os.close(pipe)
        rounds.append([v for racer, receipts in zip(racers, batch) for v in racer.verdicts(len(receipts))])
    for racer in racers:
        racer.end({0, INVALID})
    return rounds
