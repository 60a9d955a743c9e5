# SPDX-License-Identifier: Apache-2.0
"""Audit trails with failing writes and syncs, crashes and power losses at any of them, and full disks."""

import base64
import errno
import json
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess

import pytest

from audit_load import NOT_NOW, NOT_STORED, Trail, lines
from audit_places import FilePlace, holding
from fault_shim import FaultShim
from tool import INTERNAL, VALID

CANNOT_CREATE = 73

FULL = bool(os.environ.get("RECEIPTKIT_FULL_SWEEPS"))

# 250 entries are there: the session fills a bundle.
BEFORE, SESSION = range(250), range(250, 270)
BURSTS = [range(250, 251), range(251, 252), range(252, 262), range(262, 263), range(263, 270)]

# What happens at a call, and at how many of the calls of a session it is tried where not at all of them.
WRITE_FAULTS = {
    "input-output error": (dict(action="fail", error=errno.EIO), 10),
    "input-output error ever after": (dict(action="fail", error=errno.EIO, lasting=True), 6),
    "disk full": (dict(action="fail", error=errno.ENOSPC), 8),
    "disk full ever after": (dict(action="fail", error=errno.ENOSPC, lasting=True), 6),
    "torn": (dict(action="torn", error=errno.EIO), 8),
    "torn by a full disk": (dict(action="torn", error=errno.ENOSPC, lasting=True), 6),
    "killed": (dict(action="kill"), 12),
    "power failure": (dict(action="power", seed=3), 12),
}
SYNC_FAULTS = {
    "not synced": (dict(action="fail", error=errno.EIO), 8),
    "not synced ever after": (dict(action="fail", error=errno.EIO, lasting=True), 4),
    "synced, but said not to be": (dict(action="done", error=errno.EIO), 4),
    "no space at the sync": (dict(action="fail", error=errno.ENOSPC), 4),
    "killed": (dict(action="kill"), 4),
    "power failure": (dict(action="power", seed=1), 8),
    "power failure, other parts lost": (dict(action="power", seed=2), 8),
}


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    return FaultShim(tmp_path_factory.mktemp("shim"))


@pytest.fixture(scope="module")
def base(receipt_tool, tmp_path_factory):
    """The trail at the beginning of every session."""
    trail = Trail.create(receipt_tool, tmp_path_factory.mktemp("base") / "trail")
    trail.append(BEFORE)
    trail.check(proofs=[0])
    return trail


def append(trail, shim, *options, **plan):
    """Runs the session with a fault plan; returns the exit code and the error."""
    return trail.append_bursts(BURSTS, *options, environment=shim.environment(trail.folder, **plan))


@pytest.fixture(scope="module")
def call_counts(base, shim, tmp_path_factory):
    """The number of calls of each kind in a session."""
    trail = base.copy(tmp_path_factory.mktemp("count") / "trail")
    code, error = append(trail, shim, "--acknowledge", "checkpointed")
    assert code == VALID, error
    calls = [call for call in shim.calls() if call.path.startswith(str(trail.folder))]
    return {kind: sum(call.kind == kind for call in calls) for kind in ("write", "sync")}


def places(count, tried):
    """The numbers of the calls that get a fault: the first, the last, and some or all between."""
    if FULL or count <= tried:
        return range(1, count + 1)
    return sorted({1 + round(step * (count - 1) / (tried - 1)) for step in range(tried)})


def sweep(base, shim, tmp_path, kind, count, plan, tried):
    for number in places(count, tried):
        trail = base.copy(tmp_path / f"{kind}-{number}")
        code, error = append(trail, shim, "--acknowledge", "checkpointed", kind=kind, at=number, **plan)
        where = f"{kind} {number} of {count}: exit code {code}\n{error}"
        if plan["action"] in ("kill", "power"):
            assert code == -signal.SIGKILL, where
        else:
            # Some writes may fail without anything being lost: the log is copied into the file another time.
            assert code in (VALID, NOT_NOW, NOT_STORED), where
            assert code == VALID or error.startswith("receipt-tool: ") or "\nreceipt-tool: " in error, where
        try:
            trail.check(fsck=False)
            # Nothing is in the way of going on, and what was acknowledged is not entered again.
            trail.append(SESSION, "--acknowledge", "checkpointed")
            trail.check(proofs=[SESSION[0]] if number == 1 else [], fsck=FULL or number % 4 == 1)
        except AssertionError as failure:
            raise AssertionError(f"{where}\n{failure}") from failure


@pytest.mark.parametrize("fault", WRITE_FAULTS)
@pytest.mark.long
def test_whichever_write_fails(base, shim, call_counts, tmp_path, fault):
    plan, tried = WRITE_FAULTS[fault]
    sweep(base, shim, tmp_path, "write", call_counts["write"], plan, tried)


@pytest.mark.long
@pytest.mark.parametrize("fault", SYNC_FAULTS)
def test_whichever_sync_fails(base, shim, call_counts, tmp_path, fault):
    plan, tried = SYNC_FAULTS[fault]
    sweep(base, shim, tmp_path, "sync", call_counts["sync"], plan, tried)


def test_a_failed_sync_stops_the_trail_and_is_not_tried_again(base, shim, tmp_path):
    trail = base.copy(tmp_path / "trail")
    code, error = append(trail, shim, kind="sync", at=1)
    assert code == NOT_STORED, error
    assert "stopped" in error
    assert trail.indexes == base.indexes, "something was acknowledged"
    calls = [call for call in shim.calls() if call.path.endswith("-wal") and call.kind == "sync"]
    assert [call.result for call in calls if call.name == "fdatasync"][0] == -1


def test_a_disk_that_was_full_is_used_again_when_there_is_space(base, shim, tmp_path):
    trail = base.copy(tmp_path / "trail")
    code, error = append(trail, shim, at=2, error=errno.ENOSPC, lasting=True)
    assert code == NOT_STORED and "full" in error, error
    assert trail.indexes == base.indexes
    trail.append(SESSION)
    trail.check(proofs=[SESSION[-1]])


@pytest.mark.long
def test_a_creation_that_ends_anywhere_leaves_no_half_trail(receipt_tool, shim, tmp_path):
    folder = tmp_path / "count"
    folder.mkdir()
    command = [receipt_tool.path, "audit", "init", "--origin", "example.com/verdicts"]
    subprocess.run([*command, folder / "t"], env=shim.environment(folder), check=True, capture_output=True, timeout=60)
    count = sum(call.kind == "write" and call.path.startswith(str(folder)) for call in shim.calls())
    for action in ("kill", "power", "fail"):
        for number in places(count, 8):
            folder = tmp_path / f"{action}-{number}"
            folder.mkdir()
            plan = shim.environment(folder, at=number, action=action, error=errno.ENOSPC)
            done = subprocess.run([*command, folder / "t"], env=plan, capture_output=True, timeout=60)
            assert done.returncode != INTERNAL, done.stderr
            stats = receipt_tool.run("audit", "stats", folder / "t", "--json")
            if stats.code == VALID:
                # It was complete.
                assert receipt_tool.run("audit", "fsck", folder / "t").code == VALID
            else:
                assert done.returncode != VALID and stats.err.startswith("receipt-tool: "), stats.err
                again = receipt_tool.run(*command[1:], folder / "t")
                if "already-exists" in again.err:
                    # The trail is stored and its first checkpoint is not.
                    assert again.code == CANNOT_CREATE and not (folder / "t.checkpoint").exists()
                else:
                    assert again.code == VALID, again.err
                    assert receipt_tool.run("audit", "fsck", folder / "t").code == VALID


@pytest.mark.long
def test_a_backup_that_is_killed_anywhere_leaves_no_keys(base, shim, tmp_path):
    trail = base.copy(tmp_path / "trail")
    run = trail.tool.run("audit", "erase", trail.path, "7")
    assert run.code == VALID, run.err
    keys = FilePlace.wrapping_keys_of(trail.path)
    environment = shim.environment("/copy.new-")
    command = [trail.tool.path, "audit", "backup", trail.path]
    subprocess.run([*command, tmp_path / "copy"], env=environment, check=True, capture_output=True, timeout=60)
    count = sum(call.kind == "write" and "/copy.new-" in call.path for call in shim.calls())
    left = []
    for number in places(count, 30):
        folder = tmp_path / f"kill-{number}"
        folder.mkdir()
        plan = shim.environment("/copy.new-", at=number, action="kill")
        done = subprocess.run([*command, folder / "copy"], env=plan, capture_output=True, timeout=60)
        assert done.returncode == -signal.SIGKILL and not (folder / "copy").exists()
        left += folder.iterdir()
    assert len(left) >= count // 2 and sum(path.stat().st_size for path in left) > 0
    assert not holding([tmp_path / "copy", *left], keys)
    trail.check()


def large_records(count: int) -> bytes:
    """Records with receipts of 300 kB: a migration copies some of them in each transaction."""
    generator = random.Random(20261127)
    return b"".join(
        json.dumps(
            {"kind": "verdict", "id": f"record {number}", "customer": f"customer {number}",
             "receiptData": base64.b64encode(generator.randbytes(300_000)).decode()}
        ).encode() + b"\n"
        for number in range(count)
    )  # fmt: skip


@pytest.mark.long
def test_a_migration_that_is_killed_anywhere_brings_nothing_erased_back(receipt_tool, shim, tmp_path):
    original = Trail.create(receipt_tool, tmp_path / "original")
    run = receipt_tool.run("audit", "append", original.path, "-", stdin=large_records(40))
    assert run.code == VALID, run.err

    def keys_of(target):
        try:
            return FilePlace.wrapping_keys_of(target)
        except sqlite3.OperationalError:
            # There is no file yet, or no table in it.
            return set()

    def migrate(folder, **plan):
        return subprocess.run(
            [receipt_tool.path, "audit", "migrate", folder / "verdicts.audit", folder / "moved.audit"],
            env=shim.environment(folder / "moved.audit", **plan), capture_output=True, timeout=120,
        )  # fmt: skip

    counted = original.copy(tmp_path / "counted")
    assert migrate(counted.folder).returncode == VALID
    count = sum("moved.audit" in call.path and call.kind == "write" for call in shim.calls())
    copied = 0
    # The same is tried at more places, and on each storage, without a process.
    for number in places(count, 8):
        trail = original.copy(tmp_path / f"kill-{number}")
        done = migrate(trail.folder, at=number, action="kill")
        assert done.returncode == -signal.SIGKILL, done.stderr
        run = receipt_tool.run("audit", "erase", trail.path, "3", "17")
        assert run.code == VALID, run.err
        target = trail.folder / "moved.audit"
        before = keys_of(target)
        again = migrate(trail.folder)
        assert again.returncode == VALID, f"killed at {number} of {count}: {again.stderr}"
        run = receipt_tool.run("audit", "fsck", target)
        assert run.code == VALID, f"killed at {number} of {count}: {run.out}{run.err}"
        for index, state in ((2, "kept"), (3, "erased"), (17, "erased")):
            (shown,) = receipt_tool.run("audit", "show", target, str(index), "--json").lines
            assert shown["erasable"] == state, f"killed at {number} of {count}: {shown}"
        erased = before - keys_of(target)
        assert not holding(trail.folder.glob("moved.audit*"), erased)
        copied += bool(erased)
        shutil.rmtree(trail.folder)
    assert copied > 1, "no migration was killed after it had copied what is erased"


@pytest.mark.long
def test_a_real_disk_that_is_full(receipt_tool, tmp_path):
    mount = tmp_path / "disk"
    mount.mkdir()
    size = "size=3m"
    if subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", mount], capture_output=True).returncode != 0:
        pytest.skip("a file system of a few megabytes cannot be mounted here: that needs root and CAP_SYS_ADMIN")
    try:
        trail = Trail.create(receipt_tool, mount / "trail")
        number = 0
        while True:
            numbers = range(number, number + 1000)
            run = receipt_tool.run("audit", "append", trail.path, "-", "--json", stdin=lines(numbers))
            number += trail.acknowledge(numbers, run.out.encode())
            if run.code != VALID:
                break
            assert number < 50_000, "the disk does not get full"
        assert run.code == NOT_STORED and "full" in run.err, run.err
        subprocess.run(["mount", "-o", "remount,size=64m", mount], check=True, capture_output=True)
        trail.check(proofs=[0])
        trail.append(range(number, number + 1000))
        trail.check(proofs=[0, number])
    finally:
        subprocess.run(["umount", "-l", mount], capture_output=True)
