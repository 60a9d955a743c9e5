# SPDX-License-Identifier: Apache-2.0
"""The ten tasks of the page FirstTenMinutes, with the programs that were built: each command does what the page shows, and no
task takes more than ten minutes. Packaging/check-first-ten-minutes runs the same in an empty Debian, from the packages."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
RECEIPTS = ROOT.parent / "shared/receipts"


def run_tasks(tmp_path, *options: str) -> dict[int, dict]:
    programs = tmp_path / "bin"
    programs.mkdir()
    for variable in ("RECEIPT_TOOL", "RECEIPT_SERVER", "STORE_EMULATOR"):
        program = pathlib.Path(os.environ[variable]).absolute()
        (programs / program.name).symlink_to(program)
    # Nobody debugs or edits here: without debug information, each module in one go, and with huge pages, as
    # scripts/swift-for-tests builds. With a number of threads each file has an object of its own, which the index needs.
    flags = "-debug-info-format none -Xswiftc -wmo -Xswiftc -num-threads -Xswiftc 2 -Xswiftc -no-emit-module-separately-wmo"
    swift = programs / "swift"
    swift.write_text(
        f'#!/bin/sh\nreal={shutil.which("swift")}\ncase $1 in\n'
        f'build | run | test) command=$1; shift; exec "$real" "$command" {flags} "$@" ;;\n'
        '*) exec "$real" "$@" ;;\nesac\n'
    )
    swift.chmod(0o755)
    environment = os.environ | {"PATH": f"{programs}:{os.environ['PATH']}", "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/first-ten-minutes", "--json", *options],
        env=environment, capture_output=True, text=True, timeout=1800,
    )
    tasks = {each["task"]: each for each in map(json.loads, done.stdout.splitlines())}
    assert done.returncode == 0, done.stdout + done.stderr
    return tasks


@pytest.mark.server
def test_the_tasks_that_build_nothing(tmp_path):
    tasks = run_tasks(tmp_path)
    built = {8, 9, 10}
    expected = set(range(1, 11)) - built - (set() if RECEIPTS.is_dir() else {1, 2})
    assert {number for number, task in tasks.items() if task["outcome"] == "passed"} == expected
    if not RECEIPTS.is_dir():
        pytest.skip("SKIPPED: the tasks 1 and 2 were not run, for want of genuine receipts")


@pytest.mark.server
@pytest.mark.long
def test_the_tasks_that_build_swift_code(tmp_path):
    # Without the limit of ten minutes: other tests run beside it.
    options = ("--builds", "--one-build", "--limit", "3000", "--keep", str(tmp_path / "kept"))
    tasks = run_tasks(tmp_path, *options, "8", "9", "10")
    assert all(tasks[number]["outcome"] == "passed" for number in (8, 9, 10)), tasks

    # The program of the eighth: what a package costs that uses nothing but ReceiptVerification, and what it refuses.
    folder = tmp_path / "kept/receipt-kit/quickstart"
    resolved = folder / "program/Package.resolved"
    others = [pin["identity"] for pin in json.loads(resolved.read_text())["pins"]] if resolved.exists() else []
    assert len(others) <= 1, f"{others} are resolved for ReceiptVerification alone; at most one may be"
    vectors = ROOT / "TestVectors"
    files = (vectors / "certificates/es256-root.pem", vectors / "signed-transaction/signature-mismatch-bit.jws")
    refused = subprocess.run([folder / "living-store/debug/program", *files], capture_output=True, text=True)
    assert refused.stdout.startswith("refused: signature-mismatch") and refused.returncode == 0, refused
