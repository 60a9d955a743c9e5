# SPDX-License-Identifier: Apache-2.0
"""A verifier that somebody wrote from the page ReceiptFormats.md and the conformance suite alone, without our code: it passes
the suite, and answers mutated receipts as ours does."""

import base64
import json
import os
import pathlib
import subprocess
import sys

import pytest

from test_conformance import FOLDER, RUNNER

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "Support"
VERIFIER = SUPPORT / "independent_verifier.py"
# In CI a sample; RECEIPTKIT_MUTATED=100000 takes a quarter of an hour.
COUNT = int(os.environ.get("RECEIPTKIT_MUTATED", "3000"))
SEED = int(os.environ.get("RECEIPTKIT_MUTATED_SEED", "46"))

sys.path.insert(0, str(FOLDER / "runner"))
import receipt_conformance  # noqa: E402


def test_it_is_small_enough_to_be_read():
    assert len(VERIFIER.read_text().splitlines()) <= 800
    assert max(map(len, VERIFIER.read_text().splitlines())) <= 128


def test_it_answers_every_case_of_the_kinds_that_it_declares(suite_file, tmp_path):
    report = tmp_path / "report.json"
    done = subprocess.run(
        [sys.executable, RUNNER, suite_file, "--grade", "2", "--json", report, "--", sys.executable, VERIFIER],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(report.read_text())
    assert found["conformant"] is True and found["counts"]["pass"] > 3700


# Subjects that the independent verifier does not have, or takes otherwise: it refuses every policy of an issuer.
OTHER = {"resource-limits", "wrappers", "name-constraints", "certificate-policies"}


def is_explained(receipt: bytes, ours: dict, theirs: dict) -> bool:
    """Whether a difference is one that the page allows."""
    if ours["verdict"] == "valid":
        # A space within base64 is white space, or a plus that a form decoded.
        return theirs["reason"] == "malformed" and b" " in receipt and receipt.count(b".") != 2 and receipt[:1] != b"{"
    # A certificate that no path needs must be well formed all the same.
    return ours.get("reason") == "malformed" and "certificate" in ours.get("context", "")


def answers(command: list[str], cases: list[dict]) -> dict[str, dict]:
    harness = receipt_conformance.Harness(command, 30, None)
    try:
        harness.start()
        return {case["id"]: {**answer, "outcome": outcome} for case, answer, outcome, _ in harness.run(cases)}
    finally:
        if harness.process:
            harness.end()


@pytest.mark.long
def test_mutated_receipts_have_one_verdict(suite_file, receipt_tool):
    import mutated_receipts

    verified = [case for case in json.loads(suite_file.read_text())["cases"] if case["operation"] == "verify"]
    # What takes long is tried by cases of its own, and its mutations would take most of the time. What may be answered in
    # both ways is answered in both.
    originals = [
        case
        for case in verified
        if case["expected"]["verdict"] != "either"
        and len(case["input"]["receipt"]) < 20_000
        and not OTHER & set(case["features"])
    ]
    cases = list(mutated_receipts.cases(COUNT, SEED, originals))
    ours = answers([receipt_tool.path, "conformance", "harness"], cases)
    theirs = answers([sys.executable, str(VERIFIER)], cases)
    different = {}
    for case in cases:
        one, other = ours[case["id"]], theirs[case["id"]]
        assert not one["outcome"] and not other["outcome"], (case, one, other)
        receipt = base64.b64decode(case["input"]["receipt"])
        if (one["verdict"] == "valid") != (other["verdict"] == "valid") and not is_explained(receipt, one, other):
            different[case["id"]] = (one, other, case["input"]["receipt"])
    assert not different, f"{len(different)} of {len(cases)}: {list(different.items())[:3]}"
    # They are no use if none is valid after it was altered.
    assert sum(answer["verdict"] == "valid" for answer in ours.values()) > COUNT / 100
