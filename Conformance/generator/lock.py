# SPDX-License-Identifier: Apache-2.0
"""suite.lock: the version of the suite with the digests of each case, so that no case changes under the same version.

The first line is `version X`. Then there is a line for each case, sorted by identifier: the SHA-256 of the case in canonical
JSON, the SHA-256 of what a harness notices of it, and the identifier; and a line `retired ID` for each that was taken back.
"""

import dataclasses
import hashlib
import json

# What may change of a case without any result changing.
WORDS = ("description", "importance", "flags")
LEVELS = ("patch", "minor", "major")


def canonical(value) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def digests(case: dict) -> tuple[str, str]:
    measured = {name: value for name, value in case.items() if name not in WORDS}
    return hashlib.sha256(canonical(case)).hexdigest(), hashlib.sha256(canonical(measured)).hexdigest()


@dataclasses.dataclass
class Lock:
    version: str
    cases: dict[str, tuple[str, str]]
    retired: set[str]

    @classmethod
    def read(cls, text: str) -> "Lock":
        head, *lines = text.splitlines()
        if not head.startswith("version "):
            raise ValueError("the first line of suite.lock is no version")
        entries = [line.split(" ") for line in lines]
        cases = {entry[2]: (entry[0], entry[1]) for entry in entries if len(entry) == 3}
        return cls(head.removeprefix("version "), cases, {entry[1] for entry in entries if entry[0] == "retired"})

    def text(self) -> str:
        lines = {identifier: f"{' '.join(pair)} {identifier}" for identifier, pair in self.cases.items()}
        lines |= {identifier: f"retired {identifier}" for identifier in self.retired}
        return "\n".join([f"version {self.version}", *(lines[identifier] for identifier in sorted(lines))]) + "\n"

    def following(self, cases: list[dict], version: str) -> "Lock":
        """The lock of a later suite."""
        now = {case["id"]: digests(case) for case in cases}
        return Lock(version, now, self.retired | (self.cases.keys() - now.keys()))

    def changes(self, cases: list[dict]) -> list[tuple[str, str]]:
        """What changed since, each with the level of version that it asks for."""
        found, now = [], {case["id"]: digests(case) for case in cases}
        formats = {identifier.split("::")[0] for identifier in self.cases}
        for identifier in sorted(self.cases.keys() | now.keys()):
            if identifier not in now:
                found.append(("minor", f"{identifier} vanished"))
            elif identifier not in self.cases:
                # Whoever does not have the format is not concerned.
                found.append(("major" if identifier.split("::")[0] in formats else "minor", f"{identifier} came"))
            elif self.cases[identifier][1] != now[identifier][1]:
                found.append(("major", f"{identifier} changed"))
            elif self.cases[identifier] != now[identifier]:
                found.append(("patch", f"the words of {identifier} changed"))
        return found

    def problems(self, cases: list[dict], version: str) -> list[str]:
        """Why a suite of this version may not follow this lock. Nothing if it may."""
        changes = self.changes(cases)
        found = [f"{case['id']} was retired, and is used again" for case in cases if case["id"] in self.retired]
        needed = max((LEVELS.index(level) for level, _ in changes), default=-1)
        if step(self.version, version) < needed:
            found += [f"{text}: {level}" for level, text in changes]
            found.append(f"from version {self.version} to {version} is no {LEVELS[needed]} step, which these changes ask for")
        elif step(self.version, version) < 0 and self.version != version:
            found.append(f"version {version} is before {self.version}")
        return found


def step(old: str, new: str) -> int:
    """The level of a step between versions: 0 for patch, 1 for minor, 2 for major, -1 for none. Below 1.0.0 the second number
    is raised for what is a major step, and the third for all else."""
    before, after = ([int(part) for part in version.split(".")] for version in (old, new))
    if after <= before:
        return -1
    place = next(index for index in range(3) if before[index] != after[index])
    return 2 if place == 0 else (2 if place == 1 else 1) if before[0] == 0 else 2 - place
