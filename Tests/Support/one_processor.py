# SPDX-License-Identifier: Apache-2.0
"""A program that finds one processor on the machine: `taskset` does not change the number that is found."""

import pathlib
import shlex
import subprocess
import warnings

import pytest

COUNTS = ("online", "possible", "present")
HIDE = (
    'set -e; mount --make-rprivate /; for name in {names}; do mount --bind "$0" /sys/devices/system/cpu/$name; done; '
    '[ "$(getconf _NPROCESSORS_ONLN)" = 1 ]; exec "$@"'
).format(names=" ".join(COUNTS))


def program(path: str, folder: pathlib.Path) -> str:
    """A program that runs another one, which finds one processor. Skips the test if that cannot be done."""
    count = folder / "one-processor"
    count.write_text("0\n")
    wrapper = folder / "with-one-processor"
    hide = f"exec unshare --mount bash -c {shlex.quote(HIDE)} {shlex.quote(str(count))}"
    wrapper.write_text(f'#!/bin/bash\n{hide} "${{PROGRAM:-{path}}}" "$@"\n')
    wrapper.chmod(0o755)
    tried = subprocess.run([wrapper, "1"], env={"PROGRAM": "/bin/echo", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
                           capture_output=True, timeout=60)  # fmt: skip
    if tried.returncode != 0 or tried.stdout != b"1\n":
        reason = f"NOT TESTED with one processor, which needs mount namespaces: {tried.stderr.decode()}"
        warnings.warn(reason, stacklevel=2)
        pytest.skip(reason)
    return str(wrapper)
