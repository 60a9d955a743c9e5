#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: receipt_conformance.py [OPTION…] SUITE -- COMMAND…

Runs a harness, a command that speaks the protocol of the suite's README, against a suite: its JSON or a release archive.
Ends with 0 if all is as expected, 1 if a case failed, 2 for wrong usage, 3 if the harness itself is at fault."""

import argparse
import collections
import fnmatch
import hashlib
import json
import os
import pathlib
import re
import resource
import selectors
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile

import reports
from reports import clean, shown

# How many cases the harness may have before it: it need not wait for the runner, and the runner need not for it.
WINDOW = 16
START_LIMIT, LINE_LIMIT, NEVER_ANSWERED = 60, 1 << 24, 20
HIDDEN = ("expected", "description", "importance", "flags")
DECLARED = {"harness": str, "version": str, "features": list, "reports": list, "reasons": bool, "places": bool}
ANSWERED = {"id": str, "verdict": str, "reason": str, "place": str, "values": dict, "context": str}


class Usage(Exception):
    """What the caller has to correct."""


class Fault(Exception):
    """The harness breaks the protocol, so that it says nothing about the implementation."""


def read_suite(path):
    """The document of a suite and the digest of its bytes."""
    try:
        if path.name.endswith(".zip"):
            with zipfile.ZipFile(path) as archive:
                data = archive.read(next(n for n in archive.namelist() if pathlib.PurePath(n).name == "suite.json"))
        elif path.name.endswith(".tar.gz"):
            with tarfile.open(path) as archive:
                data = archive.extractfile(next(m for m in archive if pathlib.PurePath(m.name).name == "suite.json")).read()
        else:
            data = path.read_bytes()
        suite = json.loads(data.decode())
    except (OSError, ValueError, StopIteration, tarfile.TarError, zipfile.BadZipFile) as error:
        raise Usage(f"{path} is no suite: {error or 'no suite.json in it'}")
    if not isinstance(suite, dict) or suite.get("format") != "receipt-conformance-1" or not suite.get("cases"):
        raise Usage(f"{path} is no suite of the format receipt-conformance-1")
    return suite, hashlib.sha256(data).hexdigest()


def read_expected_failures(paths):
    """The patterns of files of expected failures, each with its reason."""
    patterns = {}
    for path in paths:
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            pattern, _, reason = (part.strip() for part in line.partition("#"))
            if pattern:
                patterns[pattern] = reason
            if pattern and not reason:
                raise Usage(f"{path}, line {number}: an expected failure has a reason: GLOB  # reason")
    return patterns


def message(line, members, required):
    """A line of the harness, whose members have their types."""
    try:
        value = json.loads(line.decode())
    except (ValueError, RecursionError):
        raise Fault(f"this line is no JSON: {clean(line[:200].decode(errors='replace'))!r}")
    value = {n: v for n, v in value.items() if v is not None} if isinstance(value, dict) else {"": ""}
    if any(name not in value for name in required) or any(type(v) is not members.get(n) for n, v in value.items()):
        raise Fault(f"this line has other members than the protocol: {clean(line[:200].decode(errors='replace'))!r}")
    return value


class Harness:
    """The process of a harness, which is started again after it crashed or was killed."""

    def __init__(self, command, time_limit, memory_limit):
        self.command, self.time_limit, self.memory_limit = command, time_limit, memory_limit
        self.declaration, self.answers, self.process = None, 0, None

    def start(self):
        def restrict():
            resource.setrlimit(resource.RLIMIT_AS, (self.memory_limit << 20, self.memory_limit << 20))

        self.errors, self.unread, self.unsent = tempfile.TemporaryFile(), bytearray(), bytearray()
        try:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, bufsize=0,
                start_new_session=True, preexec_fn=restrict if self.memory_limit else None,
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError) as error:
            raise Usage(f"{self.command[0]} cannot be started: {error}")
        os.set_blocking(self.process.stdin.fileno(), False)
        line = self.line(time.monotonic() + max(START_LIMIT, self.time_limit))
        if not line:
            raise Fault(f"it made no declaration: {self.end(line is None)}")
        declaration = message(line, DECLARED, DECLARED)
        if any(type(name) is not str for name in declaration["features"] + declaration["reports"]):
            raise Fault("features and reports of its declaration are lists of texts")
        if declaration != (self.declaration or declaration):
            raise Fault("started again, it declares something else")
        self.declaration = declaration
        return self.process

    def line(self, deadline):
        """The next line; empty when there is none any more, None when the deadline passed. Meanwhile cases are sent."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while b"\n" not in self.unread:
                if self.unsent and len(selector.get_map()) == 1:
                    selector.register(self.process.stdin, selectors.EVENT_WRITE)
                events = selector.select(max(0, deadline - time.monotonic()))
                if not events:
                    return None
                for key, _ in events:
                    if key.fileobj is self.process.stdout:
                        self.unread += (data := os.read(key.fd, 1 << 16))
                        if not data:
                            return b""
                        if len(self.unread) > LINE_LIMIT:
                            raise Fault("it wrote a line of more than 16 MiB")
                        continue
                    try:
                        del self.unsent[: os.write(key.fd, self.unsent[: 1 << 16])]
                    except BrokenPipeError:
                        self.unsent.clear()
                    if not self.unsent:
                        selector.unregister(self.process.stdin)
        line, end, self.unread = self.unread.partition(b"\n")
        return bytes(line + end)

    def end(self, at_once=True):
        """Ends the process. Returns how it ended, with the end of what it wrote to standard error."""
        try:
            # One that closed its output may be about to end by itself, and its exit code says why.
            self.process.wait(0 if at_once else 1)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
        code = self.process.wait()
        self.errors.seek(max(0, self.errors.seek(0, os.SEEK_END) - 600))
        return clean(f"{f'exit code {code}' if code >= 0 else f'signal {-code}'} {self.errors.read().decode(errors='replace')}")

    def run(self, cases):
        """Each case with its answer, or with `crash` or `hang` and what is known of it, and the seconds it took."""
        waiting, sent = collections.deque(cases), collections.deque()
        while waiting or sent:
            begun = time.monotonic()
            while waiting and len(sent) < WINDOW and len(self.unsent) < 1 << 20:
                sent.append(waiting.popleft())
                asked = {n: v for n, v in sent[-1].items() if n not in HIDDEN}
                self.unsent += json.dumps(asked, separators=(",", ":")).encode() + b"\n"
            line = self.line(begun + self.time_limit)
            seconds = time.monotonic() - begun
            if line:
                answer = message(line, ANSWERED, ("id", "verdict"))
                if answer["id"] != sent[0]["id"] or answer["verdict"] not in ("valid", "invalid", "undetermined"):
                    raise Fault(f"asked for {sent[0]['id']}, it answered {clean(answer['id'])!r}, {clean(answer['verdict'])!r}")
                self.answers += 1
                yield sent.popleft(), answer, None, seconds
                continue
            known = self.end(line is None) if line == b"" else f"no answer within {self.time_limit:g} s, {self.end()}"
            yield sent.popleft(), {"context": known}, "crash" if line == b"" else "hang", seconds
            if not self.answers and len(cases) - len(waiting) - len(sent) >= NEVER_ANSWERED:
                raise Fault(f"it has answered none of {NEVER_ANSWERED} cases: {known}")
            waiting.extendleft(reversed(sent))
            sent.clear()
            self.process = self.start() if waiting else None
        if self.process:
            self.process.stdin.close()
            line = self.line(time.monotonic() + self.time_limit)
            if line is None or line.strip() or self.unread:
                raise Fault("at the end of its input it did not end" if line is None else "it wrote more than answers")
            if self.process.wait() != 0:
                raise Fault(f"at the end of its input it ended with {self.end()}")


def plain(value):
    """A value in one form: instants without needless digits, numbers without needless fractions, no nulls."""
    if isinstance(value, dict):
        return {name: plain(member) for name, member in value.items() if member is not None}
    if isinstance(value, list):
        return [plain(element) for element in value]
    value = int(value) if isinstance(value, float) and value.is_integer() else value
    instant = isinstance(value, str) and re.fullmatch(r"(\d{4,}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:(\.\d*?)0*)?(Z|\+00:00)", value)
    return instant[1] + (instant[2] or "").rstrip(".") + "Z" if instant else value


def same(expected, found):
    """Whether values are equal. Lists are sets, of whose objects the members are compared that the harness gives; of an
    object alone, those that the case states."""
    expected, found = plain(expected), plain(found)
    if isinstance(expected, dict) and isinstance(found, dict):
        found = {name: found[name] for name in expected if name in found}
    if isinstance(expected, list) and isinstance(found, list):
        names = {name for element in found if isinstance(element, dict) for name in element}
        expected = [{n: e[n] for n in e if n in names} if isinstance(e, dict) else e for e in expected]
        expected, found = (sorted(json.dumps(e, sort_keys=True) for e in side) for side in (expected, found))
    return json.dumps(expected, sort_keys=True) == json.dumps(found, sort_keys=True)


def judge(case, answer, declaration):
    """What is wrong with an answer by the first grade, and what differs by the second."""
    expected, wrong, different = case["expected"], [], []
    if expected["verdict"] == "either":
        return wrong, different
    if (answer["verdict"] == "valid") != (expected["verdict"] == "valid"):
        wrong.append(f"{answer['verdict']} instead of {expected['verdict']}")
    elif expected["verdict"] == "valid":
        for name, value in expected.get("values", {}).items():
            found = answer.get("values", {}).get(name)
            if name in declaration["reports"] and not same(value, found):
                wrong.append(f"{name} is {shown(found)} instead of {shown(value)}")
    else:
        for name in ["verdict"] + [n for n in ("reason", "place") if declaration[n + "s"] and n in expected]:
            if answer.get(name) != expected[name]:
                different.append({"member": name, "expected": expected[name], "found": clean(answer.get(name, ""), 300)})
    return wrong, different


def run(options, suite, patterns):
    """The declaration of the harness, the cases that were chosen, and the result of each that concerns the harness."""
    chosen = [c for c in suite["cases"] if any(fnmatch.fnmatchcase(c["id"], p) for p in options.include or ["*"])]
    chosen = [c for c in chosen if not any(fnmatch.fnmatchcase(c["id"], p) for p in options.exclude)]
    harness, results = Harness(options.command, options.time_limit, options.memory_limit), {}
    try:
        harness.start()
        concerning = [c for c in chosen if set(c["features"]) <= set(harness.declaration["features"])]
        for case, answer, outcome, seconds in harness.run(concerning):
            wrong, different = ([outcome], []) if outcome else judge(case, answer, harness.declaration)
            bad = bool(wrong or options.grade == 2 and different)
            result = {"outcome": outcome or ("fail" if bad else "pass"), "seconds": round(seconds, 3)}
            pattern = next((p for p in patterns if fnmatch.fnmatchcase(case["id"], p)), None)
            if pattern:
                result.update(outcome="expected-failure" if bad else "unexpected-pass", expectedBecause=patterns[pattern])
            wrong += [f"{d['member']} is {d['found']} instead of {d['expected']}" for d in different]
            known = {"verdict": answer.get("verdict"), "detail": ", ".join(wrong), "context": clean(answer.get("context", ""))}
            results[case["id"]] = {**result, **{n: v for n, v in {**known, "differences": different}.items() if v}}
            if sys.stderr.isatty():
                print(f"{len(results)} of {len(concerning)}", end="\r", file=sys.stderr, flush=True)
    finally:
        if harness.process:
            harness.end()
    return harness.declaration, chosen, results


def arguments(words):
    split = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(usage=__doc__.partition(" ")[2])
    file, several = {"type": pathlib.Path, "metavar": "FILE"}, {"action": "append", "default": []}
    parser.add_argument("suite", type=pathlib.Path, help="suite.json, or a release archive (.tar.gz, .zip) with it")
    parser.add_argument("--expected-failures", **file, **several, help="lines `GLOB  # reason` of cases that fail; repeatable")
    parser.add_argument("--include", **several, metavar="GLOB", help="run only cases with such ids; repeatable")
    parser.add_argument("--exclude", **several, metavar="GLOB", help="run no cases with such ids; repeatable")
    parser.add_argument("--time-limit", type=float, default=10, metavar="SECONDS", help="for each case (10)")
    parser.add_argument("--memory-limit", type=int, metavar="MIB", help="address space of the harness")
    parser.add_argument("--grade", type=int, choices=(1, 2), default=1, help="2: other reasons and places fail too")
    for form in reports.FORMS:
        parser.add_argument(f"--{form}", **file, help=f"write the report as {form}")
    options = parser.parse_args(words[:split])
    options.command = words[split + 1 :]
    if not options.command:
        parser.error("the command of the harness is missing: -- COMMAND…")
    return options


def main(words):
    options = arguments(words)
    try:
        suite, digest = read_suite(options.suite)
        patterns = read_expected_failures(options.expected_failures)
        report = reports.summarize(suite, digest, options.grade, patterns, *run(options, suite, patterns))
        for form, write in reports.FORMS.items():
            if getattr(options, form):
                getattr(options, form).write_text(write(report, suite), encoding="utf-8")
    except (Usage, OSError, Fault, RecursionError) as error:
        at_fault = isinstance(error, (Fault, RecursionError))
        print(f"receipt_conformance: {'the harness is at fault: ' * at_fault}{error}", file=sys.stderr)
        return 3 if at_fault else 2
    print(reports.text(report))
    return 0 if report["asExpected"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
