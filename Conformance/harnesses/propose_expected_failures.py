#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: propose_expected_failures.py REPORT.json

Prints patterns that match every case of a report that failed and none that passed, the fewest that it finds, each with a
question mark in place of the reason, which people write. Expected failures of the run are among them.
"""

import fnmatch
import json
import pathlib
import re
import sys


def candidates(identifier: str) -> set[str]:
    """Patterns that match an identifier: a part of it for all formats, for all signed ones, or for all subjects and names."""
    parts = identifier.split("::")
    found = {identifier}
    for first in {parts[0], "*", f"{parts[0].split('-')[0]}-*"}:
        found.add("::".join([first, *parts[1:]]))
        for count in range(1, len(parts)):
            found.add("::".join([first, *parts[1:count], "*"]))
        words = parts[-1].split("-")
        for count in range(1, len(words)):
            found.add("::".join([first, *parts[1:-1], "-".join(words[:count]) + "-*"]))
            found.add("::".join([first, *parts[1:-1], "*-" + "-".join(words[count:])]))
    return found


def propose(failed: set[str], passed: set[str]) -> list[str]:
    covered: dict[str, set[str]] = {}
    for pattern in {pattern for identifier in failed for pattern in candidates(identifier)}:
        matches = re.compile(fnmatch.translate(pattern)).match
        if not any(matches(identifier) for identifier in passed):
            covered[pattern] = {identifier for identifier in failed if matches(identifier)}
    found, rest = [], set(failed)
    while rest:
        # Of those that cover the same, the one that says most.
        best = max(covered, key=lambda pattern: (len(covered[pattern] & rest), len(pattern.replace("*", "")), pattern))
        found.append(best)
        rest -= covered[best]
    return sorted(found)


def main() -> None:
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    results = json.loads(pathlib.Path(sys.argv[1]).read_text())["results"]
    of = {
        outcome: {result["id"] for result in results if result["outcome"] in outcome}
        for outcome in (("fail", "crash", "hang", "expected-failure"), ("pass", "unexpected-pass"))
    }
    for pattern in propose(*of.values()):
        print(f"{pattern}  # ?")


if __name__ == "__main__":
    main()
