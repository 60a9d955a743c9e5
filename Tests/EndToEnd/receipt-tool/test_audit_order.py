# SPDX-License-Identifier: Apache-2.0
"""By the order of system calls, everything is synced before it is acknowledged."""

import re
import shutil
import subprocess
import warnings
from dataclasses import dataclass

import pytest

from audit_load import Trail
from fault_shim import FaultShim
from tool import VALID

BURSTS = [[number] for number in range(5)] + [range(5, 20), range(20, 620), range(620, 625)]


@dataclass(frozen=True)
class Event:
    """The begin or end of a call, or a printed line."""

    name: str
    path: str
    is_end: bool = False


@pytest.fixture
def trace(tmp_path):
    """Appends bursts of records and returns the calls of the process in order."""
    strace = shutil.which("strace")
    probe = [strace, "-o", "/dev/null", "true"]
    if strace and subprocess.run(probe, capture_output=True, timeout=30).returncode == 0:
        return lambda trail, *options: _strace(strace, trail, tmp_path / "trace", *options)
    warnings.warn("strace is missing or may not trace here: THE ORDER IS TAKEN FROM THE LOG OF A SHIM", stacklevel=1)
    shim = FaultShim(tmp_path)
    return lambda trail, *options: _shim(shim, trail, *options)


def _strace(strace, trail, output, *options):
    calls = "trace=write,pwrite64,writev,pwritev,fsync,fdatasync,rename,renameat,renameat2"
    code, error = trail.append_bursts(
        BURSTS, *options, prefix=[strace, "-f", "-y", "-s", "0", "-e", calls, "-e", "signal=none", "-o", output]
    )
    assert code == VALID, error
    events = []
    for line in output.read_text().splitlines():
        call = re.match(r"(\d+) +(\w+)\((.*)", line)
        resumed = re.match(r"(\d+) +<\.\.\. (\w+) resumed>.* = (-?\d+)", line)
        if call:
            thread, name, rest = call.groups()
            quoted = re.findall(r'"([^"]*)"', rest)
            on = re.match(r"(\d+)<([^>]*)>", rest)
            path = quoted[-1] if name.startswith("rename") else "stdout" if on[1] == "1" else on[2]
            events.append(Event(name, path))
            if rest.endswith("<unfinished ...>"):
                events.append(Event(f"{thread} {name}", path))
            elif re.search(r" = \d+$", rest):
                events.append(Event(name, path, True))
        elif resumed:
            thread, name, result = resumed.groups()
            begun = next(event for event in reversed(events) if event.name == f"{thread} {name}")
            if int(result) >= 0:
                events.append(Event(name, begun.path, True))
    return [event for event in events if " " not in event.name]


def _shim(shim, trail, *options):
    code, error = trail.append_bursts(BURSTS, *options, environment=shim.environment(trail.folder))
    assert code == VALID, error
    events = []
    for call in shim.calls():
        events += [Event(call.name, call.path), Event(call.name, call.path, True)]
    return events


def check_order(events, path, told="stdout"):
    """Checks that whenever something is about to be written to `told`, or about to get that name, what was written to
    `path` before has been synced before; gives how often that was, and how often it came after new writes."""
    count, after_writes = 0, 0
    written, is_dirty, is_covered = False, False, True
    for event in events:
        if event.path == told and not event.is_end:
            count += 1
            assert not is_dirty, f"write {count} to {told} comes before the sync of {path}"
            after_writes += written
            written = False
        elif event.path == path and "write" in event.name and not event.is_end:
            written, is_dirty, is_covered = True, True, False
        elif event.path == path and event.name in ("fsync", "fdatasync"):
            if not event.is_end:
                is_covered = True
            elif is_covered:
                is_dirty = False
    return count, after_writes


def test_the_log_is_synced_before_every_acknowledgement(receipt_tool, tmp_path, trace):
    trail = Trail.create(receipt_tool, tmp_path / "trail")
    events = trace(trail)
    count, after_writes = check_order(events, f"{trail.path}-wal")
    assert count >= len(BURSTS) and after_writes >= len(BURSTS)
    trail.check()


def test_one_entry_at_a_time_takes_hardly_more_than_one_sync(receipt_tool, tmp_path, trace):
    trail = Trail.create(receipt_tool, tmp_path / "trail")
    events = trace(trail)
    prints = [place for place, event in enumerate(events) if event.path == "stdout" and event.is_end]
    single = events[prints[0] : prints[4]]
    syncs = sum(event.name in ("fsync", "fdatasync") and event.is_end for event in single)
    assert syncs <= 6, f"{syncs} syncs for four acknowledgements"


def test_a_checkpoint_is_in_its_place_before_it_is_acknowledged(receipt_tool, tmp_path, trace):
    trail = Trail.create(receipt_tool, tmp_path / "trail")
    events = trace(trail, "--acknowledge", "checkpointed")
    checkpoint, folder = f"{trail.path}.checkpoint", str(trail.folder)
    steps, count = [], 0
    for event in events:
        if event.is_end and event.name.startswith("rename") and event.path == checkpoint:
            steps.append("named")
        elif event.is_end and event.name == "fsync" and event.path == folder:
            steps.append("synced")
        elif event.path == "stdout" and not event.is_end:
            assert steps[-2:] == ["named", "synced"], f"acknowledgement {count}: {steps}"
            steps, count = [], count + 1
    assert count >= len(BURSTS)
    # What it signs was synced before: not even a loss of power can make a published checkpoint wrong. Before it is
    # acknowledged, the trail's own copy of it is synced too.
    for told in (checkpoint, "stdout"):
        count, after_writes = check_order(events, f"{trail.path}-wal", told)
        assert count >= len(BURSTS) and after_writes >= len(BURSTS)


def test_a_new_checkpoint_is_synced_before_it_takes_the_place_of_the_old_one(receipt_tool, tmp_path, trace):
    trail = Trail.create(receipt_tool, tmp_path / "trail")
    events = trace(trail, "--acknowledge", "checkpointed")
    checkpoint = f"{trail.path}.checkpoint"
    count, after_writes = check_order(events, f"{checkpoint}.new", checkpoint)
    assert count == after_writes >= len(BURSTS)
