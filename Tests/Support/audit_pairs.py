# SPDX-License-Identifier: Apache-2.0
"""Pairs of concurrent operations on a trail, one or both of which are killed."""

import collections
import json
import random
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass

import samples
from audit_load import lines
from audit_places import FilePlace, files_below, holding
from independent import jws
from tool import INVALID, UNDETERMINED, UNREADABLE, VALID

SECRET = "the customer that is searched for in every file"
NOT_STORED, CANNOT_CREATE = 74, 73


@dataclass
class Operation:
    """A command and its arguments."""

    name: str
    command: list[str]
    # The records that it enters, or what it makes.
    subject: object = None


class PairedTrail:
    """The trail, its acknowledged entries, and the erased customers."""

    def __init__(self, place: FilePlace, trust: list[str], store, rng: random.Random):
        self.place, self.trust, self.leaf, self.rng = place, trust, store.leaf(), rng
        self.entered: dict[int, int] = {}
        self.erased: list[int] = []
        self.next = 0
        self.made = 0
        # How long each operation took that was not killed: when to kill is chosen by it.
        self.seconds: dict[str, float] = {}
        self.outcomes: dict[str, collections.Counter] = collections.defaultdict(collections.Counter)

    # The operations.

    def operation(self, name: str, secret: int) -> Operation:
        """An operation by its name; erasing erases the entry `secret`."""
        self.made += 1
        return getattr(self, name.replace(" ", "_"))(secret)

    def _audit(self, name: str, *arguments, subject=None) -> Operation:
        verb = name.partition(" ")[0]
        command = [self.place.tool.path, "audit", verb, self.place.trail, *map(str, arguments)]
        return Operation(name, command, subject)

    def append(self, _) -> Operation:
        numbers = range(self.next, self.next + self.rng.choice([1, 30, 700]))
        self.next = numbers.stop
        file = self.place.folder / f"records-{self.made}.jsonl"
        file.write_bytes(lines(numbers))
        return self._audit("append", file.name, "--json", subject=numbers)

    def erase(self, secret) -> Operation:
        return self._audit("erase", secret)

    def checkpoint(self, _) -> Operation:
        return self._audit("checkpoint")

    def fsck(self, _) -> Operation:
        return self._audit("fsck")

    def reindex(self, _) -> Operation:
        return self._audit("reindex")

    def export(self, _) -> Operation:
        return self._audit("export", f"public-{self.made % 3}", subject=f"public-{self.made % 3}")

    def export_with_erasable(self, _) -> Operation:
        folder = f"private-{self.made % 3}"
        return self._audit("export with erasable", folder, "--with-erasable", subject=folder)

    def export_table(self, _) -> Operation:
        file = f"table-{self.made}.{self.rng.choice(['csv', 'jsonl', 'sqlite'])}"
        return self._audit("export table", "--table", file, subject=file)

    def migrate(self, _) -> Operation:
        target = self.place.sibling(f"copy-{self.made}")
        return self._audit("migrate", target, subject=target)

    def backup(self, _) -> Operation:
        copy = f"backup-{self.made}"
        # One that is published meanwhile may cover more than the copy has.
        shutil.copy(f"{self.place.folder / self.place.name}.checkpoint", f"{self.place.folder / copy}.checkpoint")
        return Operation("backup", self.place.backup(copy), copy)

    def rotate_key(self, _) -> Operation:
        return Operation("rotate key", [self.place.tool.path, "audit", "rotate-key", self.place.trail])

    def grant(self, _) -> Operation:
        number = str(9_000_000_000 + self.made)
        changes = {"transactionId": number, "originalTransactionId": number}
        file = self.place.folder / f"purchase-{self.made}.jws"
        file.write_text(jws.sign(samples.TRANSACTION | changes, self.leaf))
        rule = ["--refuse-replay", "same-receipt", "--customer", SECRET]
        command = ["verify", "--json", "--audit", self.place.trail, *self.trust, *rule, file.name]
        return Operation("grant", [self.place.tool.path, *command], file)

    NAMES = [
        "append", "erase", "checkpoint", "fsck", "reindex", "backup", "export", "export with erasable", "export table",
        "migrate", "grant", "rotate key",
    ]  # fmt: skip

    # One round.

    def append_all(self, count: int):
        """Appends records without a concurrent operation."""
        numbers = range(self.next, self.next + count)
        self.next = numbers.stop
        run = self.place.run("audit", "append", self.place.trail, "-", "--json", stdin=lines(numbers))
        assert run.code == VALID, run.err
        self.acknowledge(numbers, run.out.encode())

    def enter_secret(self) -> int:
        """Appends a record of a customer who will be erased."""
        receipt = "%064x" % (1 << 200 | self.made << 8 | 1)
        record = {"kind": "verdict", "verdict": "valid", "receiptSha256": receipt, "customer": SECRET}
        run = self.place.run("audit", "append", self.place.trail, "-", "--json", stdin=json.dumps(record).encode())
        assert run.code == VALID, run.err
        return run.lines[0]["index"]

    def run_pair(self, operations: list[Operation]) -> list[subprocess.Popen]:
        """Runs two operations at once, and kills one of them or both at a random moment."""
        start = time.monotonic()
        processes = [
            subprocess.Popen(
                operation.command, cwd=self.place.folder,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )
            for operation in operations
        ]  # fmt: skip
        victims = self.rng.sample(range(2), self.rng.choice([1, 1, 2]))
        usual = max(self.seconds.get(operations[victim].name, 0.1) for victim in victims)
        time.sleep(self.rng.random() * usual)
        for victim in victims:
            processes[victim].kill()
        for operation, process in zip(operations, processes):
            self.take(operation, process, start)
        # A rotation that was cut off is finished by the same command.
        if (self.place.folder / f"{self.place.name}.key.new").exists():
            run = self.place.run("audit", "rotate-key", self.place.trail)
            assert run.code == VALID, run.err
        return processes

    def take(self, operation: Operation, process: subprocess.Popen, start: float):
        """Records the acknowledgements that a process printed before it ended."""
        out, err = process.communicate(timeout=300)
        what = f"{operation.command}: {process.returncode}\n{out.decode()}{err.decode()}"
        if operation.name == "append":
            self.acknowledge(operation.subject, out)
        self.outcomes[operation.name][process.returncode] += 1
        if process.returncode == -signal.SIGKILL:
            return
        if process.returncode == VALID:
            self.seconds[operation.name] = time.monotonic() - start
            self.check_result(operation, out)
        else:
            # A process that was not killed succeeded, or reported a conflict with the other one; no data is damaged.
            if process.returncode == UNREADABLE and b"was replaced by entry" in err:
                return
            assert process.returncode in (UNDETERMINED, NOT_STORED, CANNOT_CREATE) and err, what

    def acknowledge(self, numbers, output: bytes):
        for number, text in zip(numbers, output.split(b"\n")[:-1]):
            index = json.loads(text)["index"]
            assert self.entered.setdefault(number, index) == index, f"record {number} was entered twice"

    def check_result(self, operation: Operation, output: bytes):
        if operation.name == "grant":
            assert json.loads(output)["verdict"] == "valid", output
        elif operation.name == "backup":
            self.place.check_backup(operation.subject)
        elif operation.name == "migrate":
            self.check_intact(operation.subject)
        elif operation.name in ("export", "export with erasable"):
            self.check_intact(operation.subject, "--key", f"{self.place.name}.pub")

    # What must hold after it.

    def check_files(self, operations: list[Operation], before: set[bytes]):
        """Checks that only exports of erasable parts contain the secret, and that no copy has keys."""
        folder = self.place.folder
        searched = [f for f in files_below(folder) if not f.relative_to(folder).parts[0].startswith("private-")]
        assert not holding(searched, [SECRET.encode()])
        keys = before | self.place.wrapping_keys()
        copies = [path for path in folder.glob("backup-*") if path.is_file()]
        spellings = [spelling for key in keys for spelling in self.place.spellings(key)]
        assert not holding(copies, spellings), [operation.name for operation in operations]

    def check_grant(self, operation: Operation, process: subprocess.Popen):
        """Checks that a purchase with an acknowledged grant is not granted again, and any other at most once."""
        again = self.place.run(*operation.command[1:])
        assert again.code in ((INVALID,) if process.returncode == VALID else (VALID, INVALID)), again.out + again.err
        assert self.place.run(*operation.command[1:]).code == INVALID

    def erase_secret(self, secret: int, before: set[bytes]):
        """Erases all data of the customer, and checks that neither data nor keys are left."""
        run = self.place.run("audit", "erase", self.place.trail, str(secret))
        assert run.code == VALID, run.err
        run = self.place.run("audit", "erase", self.place.trail, "--customer", SECRET)
        assert run.code in (VALID, INVALID), run.err
        assert self.place.run("audit", "find", self.place.trail, "--customer", SECRET).code == INVALID
        self.erased.append(secret)
        forgotten = before - self.place.wrapping_keys()
        assert forgotten and not holding(self.place.storage_files(), forgotten), "a forgotten key is left"

    def check(self):
        """Checks that every acknowledged entry is there once, and that no erased data is left."""
        for start in range(0, len(self.entered), 4000):
            numbers = sorted(self.entered)[start : start + 4000]
            run = self.place.run("audit", "append", self.place.trail, "-", "--json", stdin=lines(numbers))
            assert [line["index"] for line in run.lines] == [self.entered[number] for number in numbers]
            assert all(line["repeated"] for line in run.lines)
        run = self.place.run("audit", "erase", self.place.trail, "--json", *map(str, self.erased))
        assert run.code == VALID and all(line["repeated"] for line in run.lines), run.err

    def check_intact(self, path: str, *arguments):
        run = self.place.run("audit", "fsck", path, *arguments, timeout=300)
        assert run.code == VALID, run.out + run.err

    def remove_copies(self, operations: list[Operation]):
        for operation in operations:
            if operation.name == "migrate":
                self.place.remove(operation.subject)
        for pattern in ("backup-*", "table-*", "records-*", "purchase-*"):
            for path in self.place.folder.glob(pattern):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
