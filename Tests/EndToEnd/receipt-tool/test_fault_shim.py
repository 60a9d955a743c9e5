# SPDX-License-Identifier: Apache-2.0
"""Tests of the shim that makes system calls fail, on which other tests rely."""

import errno
import signal
import subprocess
import sys

import pytest

from fault_shim import FaultShim

# Writes ten pages with a sync after every other one, says what happened to each call, and acknowledges the syncs.
WRITER = """
import os, sys
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
for number in range(10):
    for name, call in (("write", lambda: os.pwrite(file, bytes([65 + number]) * 100, number * 100)),
                       ("sync", lambda: os.fdatasync(file))):
        if name == "sync" and number % 2 == 0:
            continue
        try:
            call()
            os.write(1, f"{name} {number} ok\\n".encode())
        except OSError as error:
            os.write(1, f"{name} {number} {error.errno}\\n".encode())
"""


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    return FaultShim(tmp_path_factory.mktemp("shim"))


def write(shim, path, **plan):
    done = subprocess.run(
        [sys.executable, "-c", WRITER, path], env=shim.environment(path, **plan), capture_output=True, timeout=30
    )
    return done.returncode, done.stdout.decode().splitlines()


def failed(lines):
    return [line for line in lines if not line.endswith("ok")]


def test_nothing_fails_without_a_plan_and_the_log_is_in_order(shim, tmp_path):
    code, lines = write(shim, tmp_path / "file")
    assert code == 0 and len(lines) == 15 and not failed(lines)
    calls = shim.calls()
    assert [call.name for call in calls[:6]] == ["pwrite", "write", "pwrite", "write", "fdatasync", "write"]
    assert [call.is_acknowledgement for call in calls[:6]] == [False, True, False, True, False, True]
    assert calls[0].bytes == calls[0].result == 100 and calls[0].path == str(tmp_path / "file")


@pytest.mark.parametrize("number", [1, 4, 10])
@pytest.mark.parametrize("action, kept", [("fail", 0), ("torn", 50), ("done", 100)])
def test_one_write_fails(shim, tmp_path, number, action, kept):
    path = tmp_path / "file"
    code, lines = write(shim, path, at=number, action=action, error=errno.ENOSPC)
    assert code == 0
    assert failed(lines) == [f"write {number - 1} {errno.ENOSPC}"]
    page = path.read_bytes()[(number - 1) * 100 : number * 100]
    assert page.count(64 + number) == kept


def test_every_later_call_of_the_kind_fails_too(shim, tmp_path):
    _, lines = write(shim, tmp_path / "file", kind="sync", at=3, lasting=True)
    assert failed(lines) == [f"sync {number} {errno.EIO}" for number in (5, 7, 9)]


def test_calls_on_other_files_do_not_count(shim, tmp_path):
    path = tmp_path / "file"
    done = subprocess.run(
        [sys.executable, "-c", WRITER, path], env=shim.environment(tmp_path / "other", at=1), capture_output=True,
        timeout=30,
    )  # fmt: skip
    assert not failed(done.stdout.decode().splitlines())


def test_the_process_is_killed_at_a_write(shim, tmp_path):
    path = tmp_path / "file"
    code, lines = write(shim, path, at=6, action="kill")
    assert code == -signal.SIGKILL
    assert lines[-1] == "write 4 ok" and len(path.read_bytes()) == 500


def test_power_fails_and_what_was_synced_stays(shim, tmp_path):
    left = set()
    for seed in range(1, 20):
        path = tmp_path / f"file-{seed}"
        code, lines = write(shim, path, kind="sync", at=4, action="power", seed=seed)
        assert code == -signal.SIGKILL and lines[-1] == "write 7 ok"
        contents = path.read_bytes()
        assert contents[:600] == b"".join(bytes([65 + number]) * 100 for number in range(6))
        left.add(contents[600:])
    g, h = b"G" * 100, b"H" * 100
    assert left == {b"", g, g + h, bytes(100) + h}
