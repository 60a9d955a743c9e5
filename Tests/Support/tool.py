# SPDX-License-Identifier: Apache-2.0
"""Runs receipt-tool as a user would, and reads its JSON."""

import functools
import json
import os
import pathlib
import subprocess
import sys
from dataclasses import dataclass

from jsonschema import Draft202012Validator

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMAS = {
    path.name.removesuffix(".schema.json"): json.loads(path.read_text())
    for path in (ROOT / "Schemas" / "receipt-tool").glob("*.json")
}
VALIDATORS = {name: Draft202012Validator(schema) for name, schema in SCHEMAS.items()}

VALID, INVALID, UNDETERMINED, USAGE, UNREADABLE, INTERNAL = 0, 1, 2, 64, 66, 70

MEASURE = str(pathlib.Path(__file__).with_name("measure.py"))

EXIT_CODES = {"valid": VALID, "invalid": INVALID, "undetermined": UNDETERMINED}


def check(line: dict) -> None:
    """Whether an object of the output is as its schema says."""
    assert list(line)[:2] == ["type", "version"], line
    assert line["type"] in VALIDATORS, line
    errors = [f"{e.json_path}: {e.message}" for e in VALIDATORS[line["type"]].iter_errors(line)]
    assert not errors, (errors, line)


@dataclass
class Run:
    """One finished run of the tool."""

    code: int
    out: str
    err: str
    peak_kilobytes: int = 0

    @functools.cached_property
    def lines(self) -> list[dict]:
        """The objects of the output, of which the first are compared with the schemas."""
        lines = [json.loads(line) for line in self.out.splitlines()]
        for line in lines[:20]:
            if isinstance(line, dict) and list(line)[:2] == ["type", "version"]:
                check(line)
        return lines


class ReceiptTool:
    def __init__(self, path: str):
        self.path = os.path.abspath(path)

    def run(self, *arguments, stdin: bytes | None = b"", timeout: float = 60, **options) -> Run:
        """Runs the tool, which must end in time and without a signal. Streams that are not captured read as empty."""
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        done = subprocess.run([self.path, *map(str, arguments)], input=stdin, timeout=timeout, **streams)
        run = Run(done.returncode, (done.stdout or b"").decode(), (done.stderr or b"").decode())
        assert run.code >= 0, f"killed by signal {-run.code}\n{run.err}"
        assert run.code != INTERNAL, run.err
        return run

    def run_measured(self, *arguments, stdin=subprocess.DEVNULL, timeout: int = 120) -> Run:
        """Like `run`, but also measures the peak resident memory."""
        done = subprocess.run(
            [sys.executable, MEASURE, str(timeout), self.path, *map(str, arguments)],
            stdin=stdin,
            capture_output=True,
            timeout=timeout * 2,
        )
        *err, peak = done.stderr.decode().splitlines()
        run = Run(done.returncode, done.stdout.decode(), "\n".join(err), int(peak))
        assert run.code < 128, f"killed by signal {run.code - 128}\n{run.err}"
        assert run.code != INTERNAL, run.err
        return run

    def verify(self, receipt: bytes | str, *arguments) -> dict:
        """Verifies one receipt from standard input and returns its JSON; the exit code must fit the verdict."""
        if isinstance(receipt, str):
            receipt = receipt.encode()
        run = self.run("verify", "--json", *arguments, "-", stdin=receipt)
        assert run.code in EXIT_CODES.values(), f"exit code {run.code}\n{run.out}{run.err}"
        assert len(run.lines) == 1, run.out
        verdict = run.lines[0]
        assert run.code == EXIT_CODES[verdict["verdict"]], verdict
        return verdict

    def accepts(self, receipt: bytes | str, *arguments) -> dict:
        verdict = self.verify(receipt, *arguments)
        assert verdict["verdict"] == "valid", verdict
        assert "reason" not in verdict
        return verdict

    def refuses(self, receipt: bytes | str, code: str | set[str], *arguments) -> dict:
        """Checks that the verdict is invalid with the reason code, or one of them, and without receipt values."""
        verdict = self.verify(receipt, *arguments)
        assert verdict["verdict"] == "invalid", verdict
        codes = {code} if isinstance(code, str) else code
        assert verdict["reason"]["code"] in codes, verdict
        assert verdict["reason"]["message"], verdict
        return verdict

    def leaves_open(self, receipt: bytes | str, code: str, *arguments) -> dict:
        verdict = self.verify(receipt, *arguments)
        assert verdict["verdict"] == "undetermined", verdict
        assert verdict["reason"]["code"] == code, verdict
        return verdict
