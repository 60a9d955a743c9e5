# SPDX-License-Identifier: Apache-2.0
"""Load for audit trails: generated records, and the acknowledgements of receipt-tool audit append."""

import hashlib
import json
import pathlib
import shutil
import subprocess
import threading

from independent.trail import StoredTrail
from tool import VALID, ReceiptTool

NOT_NOW, NOT_STORED = 2, 74


def line(number: int) -> bytes:
    """Record `number`: a verdict on a distinct receipt, about one of many original transactions."""
    record = {
        "kind": "verdict",
        "verdict": "valid",
        "receiptSha256": hashlib.sha256(b"%d" % number).hexdigest(),
        "transactionId": str(2_000_000_000 + number),
        "originalTransactionId": str(1_000_000_000 + number % 97),
        "productId": f"com.example.product{number % 5}",
        "bundleId": "com.example",
        "environment": "Production",
        "customer": f"customer {number % 53}",
    }
    return json.dumps(record).encode() + b"\n"


def lines(numbers) -> bytes:
    return b"".join(map(line, numbers))


class Trail:
    """A trail, its acknowledged entries, and every checkpoint that was seen."""

    def __init__(self, tool: ReceiptTool, folder: pathlib.Path):
        self.tool = tool
        self.folder = folder
        self.path = folder / "verdicts.audit"
        self.indexes: dict[int, int] = {}
        self.checkpoints: list[str] = []
        self.stored: StoredTrail | None = None

    @classmethod
    def create(cls, tool: ReceiptTool, folder: pathlib.Path) -> "Trail":
        folder.mkdir(parents=True, exist_ok=True)
        trail = cls(tool, folder)
        run = tool.run("audit", "init", trail.path, "--origin", "example.com/verdicts")
        assert run.code == VALID, run.err
        trail.see_checkpoint()
        return trail

    def copy(self, folder: pathlib.Path) -> "Trail":
        """A copy of the trail in its current state."""
        shutil.copytree(self.folder, folder)
        trail = Trail(self.tool, folder)
        trail.indexes = dict(self.indexes)
        trail.checkpoints = list(self.checkpoints)
        return trail

    def acknowledge(self, numbers, output: bytes) -> int:
        """Records the complete lines that a run of `append --json` has printed; returns their number."""
        acknowledged = [json.loads(line) for line in output.split(b"\n")[:-1]]
        # What a failed run says last.
        if acknowledged and acknowledged[-1]["type"] == "error":
            acknowledged.pop()
        for number, line in zip(numbers, acknowledged):
            assert line["type"] == "audit-acknowledgement", line
            index = line["index"]
            assert self.indexes.setdefault(number, index) == index, f"record {number} was entered twice"
        return len(acknowledged)

    def append(self, numbers, *options):
        """Appends records; all must be acknowledged."""
        numbers = list(numbers)
        run = self.tool.run("audit", "append", self.path, "-", "--json", *options, stdin=lines(numbers))
        assert run.code == VALID, run.err
        assert self.acknowledge(numbers, run.out.encode()) == len(numbers)

    def append_bursts(self, bursts, *options, environment=None, prefix=()) -> tuple[int, str]:
        """Enters records, each burst after the acknowledgement of the one before; the process may end in any way.
        Gives the exit code and the error."""
        process = subprocess.Popen(
            [*prefix, self.tool.path, "audit", "append", str(self.path), "-", "--json", *options],
            env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        watchdog = threading.Timer(60, process.kill)
        watchdog.start()
        output = b""
        try:
            for burst in bursts:
                process.stdin.write(lines(burst))
                process.stdin.flush()
                output += b"".join(process.stdout.readline() for _ in burst)
            process.stdin.close()
        except BrokenPipeError:
            pass
        output += process.stdout.read()
        error = process.stderr.read().decode()
        assert watchdog.is_alive(), "it took too long"
        watchdog.cancel()
        code = process.wait(20)
        self.acknowledge([number for burst in bursts for number in burst], output)
        return code, error

    def see_checkpoint(self):
        path = pathlib.Path(f"{self.path}.checkpoint")
        if path.exists():
            note = path.read_text()
            if note not in self.checkpoints:
                self.checkpoints.append(note)

    def check(self, proofs=(), fsck=True):
        """Opens the trail again. Every acknowledged entry is there exactly once, and all checkpoints are consistent."""
        run = self.tool.run("audit", "stats", self.path, "--json")
        assert run.code == VALID, run.err
        assert run.lines[0]["entries"] >= len(self.indexes)
        self.see_checkpoint()
        self.stored = StoredTrail(self.path, self.stored)
        transactions = self.stored.transactions
        assert len(set(transactions)) == len(transactions), "a record was entered twice"
        for number, index in self.indexes.items():
            assert transactions[index] == str(2_000_000_000 + number), f"record {number} is not at {index}"
        for note in self.checkpoints:
            self.stored.check_checkpoint(note)
        for number in proofs:
            self.check_proof(number)
        if fsck:
            run = self.tool.run("audit", "fsck", self.path, timeout=300)
            assert run.code == VALID, run.out + run.err

    def check_proof(self, number: int):
        """Checks the proof of a record's entry offline."""
        self.tool.run("audit", "checkpoint", self.path)
        self.see_checkpoint()
        proof = self.folder / "proof"
        proof.unlink(missing_ok=True)
        run = self.tool.run("audit", "prove", self.path, str(self.indexes[number]), "-o", proof)
        assert run.code == VALID, run.err
        run = self.tool.run("audit", "check", proof, "--key", f"{self.path}.pub", "--json")
        assert run.code == VALID, run.out + run.err
        assert run.lines[0]["entry"]["index"] == self.indexes[number], run.out
