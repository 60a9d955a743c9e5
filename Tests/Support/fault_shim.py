# SPDX-License-Identifier: Apache-2.0
"""Runs a process in which a chosen system call fails or kills it: see faults/fault-shim.c."""

import dataclasses
import errno
import os
import pathlib
import shutil
import subprocess

SOURCE = pathlib.Path(__file__).with_name("faults") / "fault-shim.c"


@dataclasses.dataclass(frozen=True)
class Call:
    """One line of the shim's log."""

    kind: str
    name: str
    bytes: int
    result: int
    path: str

    @property
    def is_acknowledgement(self) -> bool:
        return self.path == "stdout"


class FaultShim:
    def __init__(self, folder: pathlib.Path):
        self.library = folder / "fault-shim.so"
        self.log = folder / "calls"
        compilers = [name for name in (os.environ.get("CC"), "cc", "clang", "gcc") if name and shutil.which(name)]
        subprocess.run(
            [compilers[0], "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", self.library, SOURCE, "-ldl",
             "-lpthread"],
            check=True, timeout=60,
        )  # fmt: skip

    def environment(self, path, kind="write", at=0, action="fail", error=errno.EIO, lasting=False, seed=1) -> dict:
        """The environment of a process in which call number `at` of `kind` on files at `path` fails."""
        self.log.unlink(missing_ok=True)
        return os.environ | {
            "LD_PRELOAD": str(self.library),
            "FAULT_PATH": str(path),
            "FAULT_KIND": kind,
            "FAULT_AT": str(at),
            "FAULT_ACTION": action,
            "FAULT_ERRNO": str(error),
            "FAULT_LASTING": "1" if lasting else "0",
            "FAULT_SEED": str(seed),
            "FAULT_LOG": str(self.log),
        }

    def calls(self) -> list[Call]:
        calls = []
        for line in self.log.read_text().splitlines():
            kind, name, count, result, path = line.split(" ", 4)
            calls.append(Call(kind, name, int(count), int(result), path))
        return calls
