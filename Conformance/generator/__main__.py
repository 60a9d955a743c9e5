# SPDX-License-Identifier: Apache-2.0
"""usage: python3 Conformance/generator [--only PREFIX] [--check-lock] FILE
       python3 Conformance/generator --check-lock | --write-lock

Writes the suite, one JSON document, to a file. It is the same at each run. With --check-lock, it fails unless suite.lock is
that of the suite. With --write-lock, suite.lock is written, if the version tells what changed.
"""

import argparse
import importlib
import json
import pathlib
import pkgutil
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

import left_open  # noqa: E402
import lock  # noqa: E402
import suite  # noqa: E402


def load() -> suite.Suite:
    """The cases of every module of the folder cases, each of which has a function `add(suite)`."""
    cases = suite.Suite()
    for module in sorted(pkgutil.iter_modules([str(FOLDER / "cases")]), key=lambda module: module.name):
        importlib.import_module(f"cases.{module.name}").add(cases)
    cases.leave_open(left_open.EITHER, left_open.REASON)
    return cases


def version() -> str:
    return (FOLDER.parent / "VERSION").read_text().strip()


def keep_lock(cases: list[dict], write: bool, file: pathlib.Path = FOLDER.parent / "suite.lock") -> list[str]:
    """What is wrong with the lock of the cases, or with replacing it."""
    locked = lock.Lock.read(file.read_text()) if file.exists() else lock.Lock("0.0.0", {}, set())
    problems = locked.problems(cases, version())
    following = locked.following(cases, version())
    if write and not problems:
        file.write_text(following.text())
    elif not problems and following != locked:
        problems.append("suite.lock is that of another suite, which this one may follow: write it with --write-lock")
    return problems


def main() -> None:
    parser = argparse.ArgumentParser(usage=__doc__.partition(" ")[2])
    parser.add_argument("--only", default="", metavar="PREFIX", help="only the cases whose ids begin so")
    parser.add_argument("--check-lock", action="store_true", help="fail unless suite.lock is that of the suite")
    parser.add_argument("--write-lock", action="store_true", help="write suite.lock")
    parser.add_argument("file", type=pathlib.Path, nargs="?")
    options = parser.parse_args()
    locks = options.check_lock or options.write_lock
    if not (locks or options.file) or options.write_lock and (options.check_lock or options.file) or options.only and locks:
        parser.error("one of FILE, --check-lock and --write-lock is needed")
    chosen = [case.document() for case in load().cases.values() if case.id.startswith(options.only)]
    if locks and (problems := keep_lock(chosen, options.write_lock)):
        sys.exit("\n".join(problems))
    if options.file is None:
        return
    document = {"format": "receipt-conformance-1", "version": version(), "flags": suite.FLAGS, "cases": chosen}
    options.file.write_text(json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n")
    print(f"{options.file}: {len(chosen)} cases", file=sys.stderr)


if __name__ == "__main__":
    main()
