# SPDX-License-Identifier: Apache-2.0
"""The conformance suite: its schemas, its runner with harnesses that misbehave, its lock, its archive, and the programs that
it measures."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import textwrap
import xml.etree.ElementTree

import pytest
from jsonschema import Draft202012Validator

from conftest import generate_suite

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "Conformance"
RUNNER = FOLDER / "runner/receipt_conformance.py"
SCHEMAS = {path.name.split(".")[0]: json.loads(path.read_text()) for path in (FOLDER / "schema").glob("*.json")}
GOOD, FAILED, USAGE, FAULT = range(4)
sys.path.insert(0, str(FOLDER / "generator"))

import lock  # noqa: E402
import suite  # noqa: E402


def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(SCHEMAS[name])


def case(identifier: str, verdict: str, **members) -> dict:
    expected = {"verdict": verdict} | ({"values": {}} if verdict == "valid" else {"reason": "malformed", "place": "byte 1"})
    if verdict == "either":
        expected = {"verdict": verdict}
    return {
        "id": identifier, "description": f"This is {verdict}.", "operation": "verify", "features": [identifier.split("::")[0]],
        "importance": "high", "flags": [], "input": {"receipt": "AA=="}, "policy": {}, "time": "2026-01-01T00:00:00Z",
        "expected": expected, **members,
    }  # fmt: skip


CASES = [
    case("coin::basic::good", "valid"), case("coin::basic::bad", "invalid"), case("coin::basic::open", "undetermined"),
    case("coin::basic::odd", "either"), case("note::basic::good", "valid"), case("note::basic::bad", "invalid"),
    case("coin::device::good", "valid", features=["coin", "policy-device-id"]),
]  # fmt: skip


class Fake:
    """A harness of a few lines, run against a small suite by one of the two runners."""

    # What the exit codes of receipt-tool are for the runner in Python.
    CODES = {0: GOOD, 1: FAILED, 2: FAULT, 64: USAGE, 66: USAGE}

    def __init__(self, folder: pathlib.Path, tool: str | None):
        self.folder, self.cases, self.tool = folder, CASES, tool

    def run(self, lines: str, *options: str, declaration: dict | None = None, features=("coin",), before: str = ""):
        """Runs a harness whose lines set `answer` for each `case`; a right one is there already."""
        declared = {"harness": "fake", "version": "1", "features": list(features), "reports": []}
        declared |= {"reasons": False, "places": False}
        program = self.folder / "harness.py"
        right = {each["id"]: each["expected"] for each in self.cases}
        program.write_text(
            "import json, os, sys, time\n"
            f"right = json.loads({json.dumps(right)!r})\n"
            f"{textwrap.dedent(before)}\n"
            f"print({json.dumps(declared | (declaration or {}))!r}, flush=True)\n"
            "for number, line in enumerate(sys.stdin):\n"
            "    case = json.loads(line)\n"
            "    assert not {'expected', 'description', 'importance', 'flags'} & case.keys()\n"
            "    expected = right[case['id']]\n"
            "    verdict = 'invalid' if expected['verdict'] == 'either' else expected['verdict']\n"
            "    answer = {'id': case['id'], 'verdict': verdict}\n"
            f"{textwrap.indent(textwrap.dedent(lines), '    ')}\n"
            "    if answer is not None:\n"
            "        print(json.dumps(answer), flush=True)\n"
        )
        return self.command([sys.executable, str(program)], *options)

    def command(self, command: list[str], *options: str, of: pathlib.Path | None = None):
        if of is None:
            of = self.folder / "suite.json"
            document = {"format": "receipt-conformance-1", "version": "1.2.3", "flags": {}, "cases": self.cases}
            of.write_text(json.dumps(document))
        file = self.folder / "report.json"
        file.unlink(missing_ok=True)
        runner = [self.tool, "conformance", "run", of, "--report"] if self.tool else [sys.executable, RUNNER, of, "--json"]
        done = subprocess.run([*runner, file, *options, "--", *command], capture_output=True, text=True, timeout=300)
        assert "Traceback" not in done.stderr, done.stderr
        if self.tool:
            done.returncode = self.CODES[done.returncode]
        report = json.loads(file.read_text()) if file.exists() else None
        if report:
            validator("report").validate(report)
        return done, report


@pytest.fixture(params=["Python", "receipt-tool"])
def fake(request, tmp_path, receipt_tool) -> Fake:
    return Fake(tmp_path, str(receipt_tool.path) if request.param == "receipt-tool" else None)


def outcomes(report: dict) -> dict[str, str]:
    return {result["id"]: result["outcome"] for result in report["results"]}


class TestSuite:
    @pytest.mark.parametrize("name", sorted(SCHEMAS))
    def test_a_schema_is_valid(self, name):
        Draft202012Validator.check_schema(SCHEMAS[name])
        assert SCHEMAS[name]["$id"].endswith(f"/conformance/{name}.schema.json")
        assert SCHEMAS[name]["additionalProperties"] is False

    def test_the_suite_conforms(self, suite_file):
        document = json.loads(suite_file.read_text())
        problems = [f"{list(error.path)[:3]}: {error.message[:200]}" for error in validator("suite").iter_errors(document)]
        assert not problems, "\n".join(problems[:20])
        hidden = ("expected", "description", "importance", "flags")
        for each in document["cases"]:
            validator("case-request").validate({name: value for name, value in each.items() if name not in hidden})
        used = {flag for each in document["cases"] for flag in each["flags"]}
        assert used <= document["flags"].keys()

    @pytest.mark.long
    def test_the_generator_repeats_itself(self, suite_file, tmp_path):
        """And the lock is that of the suite."""
        done = generate_suite(tmp_path / "again.json", "--check-lock")
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "again.json").read_bytes() == suite_file.read_bytes()

    def test_the_policy_is_that_of_the_library(self):
        """What a policy of a case may have, every binding takes."""
        ours = json.loads((ROOT / "Schemas/receiptkit/policy.schema.json").read_text())["properties"]
        assert SCHEMAS["suite"]["$defs"]["policy"]["properties"].keys() == ours.keys()


@pytest.mark.long
class TestRunner:
    def test_it_is_small_and_needs_nothing(self):
        text = RUNNER.read_text()
        assert len(text.splitlines()) < 300
        imported = set(re.findall(r"^(?:import|from) (\w+)", text + (FOLDER / "runner/reports.py").read_text(), re.MULTILINE))
        assert imported - {"reports"} <= sys.stdlib_module_names

    def test_a_right_harness_is_conformant(self, fake):
        done, report = fake.run("", features=("coin", "note", "policy-device-id"))
        assert done.returncode == GOOD, done.stdout
        assert report["conformant"] and report["counts"]["pass"] == len(CASES)
        assert "conformant to receipt-conformance 1.2.3, grade 1, for coin, note, policy-device-id" == report["statement"]

    def test_what_is_not_declared_is_skipped(self, fake):
        done, report = fake.run("")
        assert done.returncode == GOOD and report["conformant"]
        skipped = {name for name, outcome in outcomes(report).items() if outcome == "skip"}
        assert skipped == {"coin::device::good", "note::basic::good", "note::basic::bad"}
        assert "note" not in report["statement"]

    def test_a_part_makes_no_statement(self, fake):
        for option in ("--include=coin::*", "--exclude=*::bad"):
            done, report = fake.run("", option)
            assert done.returncode == GOOD
            assert not report["complete"] and not report["conformant"] and report["statement"].startswith("partial")

    @pytest.mark.parametrize("verdict", ["valid", "invalid", "undetermined"])
    def test_the_same_answer_to_all_fails(self, fake, verdict):
        done, report = fake.run(f"answer['verdict'] = {verdict!r}")
        assert done.returncode == FAILED and not report["conformant"]
        assert outcomes(report)["coin::basic::odd"] == "pass"
        assert bool(report["problems"]) == (verdict != "valid")

    def test_who_refuses_everything_gains_nothing_by_expecting_it(self, fake, tmp_path):
        (tmp_path / "expected.txt").write_text("coin::basic::good  # it refuses everything\n")
        done, report = fake.run("answer['verdict'] = 'invalid'", "--expected-failures", str(tmp_path / "expected.txt"))
        assert done.returncode == FAILED
        assert report["problems"] == ["no valid case of coin passes, so that its other cases prove nothing"]

    @pytest.mark.parametrize("ending", ["os._exit(0)", "os._exit(9)", "os.abort()", "os.close(1); time.sleep(60)"])
    def test_a_crash_is_no_refusal(self, fake, ending):
        for name in ("bad", "odd"):
            lines = f"if case['id'] == 'coin::basic::{name}':\n    sys.stderr.write('alas'); sys.stderr.flush(); {ending}"
            done, report = fake.run(lines)
            assert done.returncode == FAILED
            found = outcomes(report)
            assert found.pop(f"coin::basic::{name}") == "crash"
            assert set(found.values()) == {"pass", "skip"}, found
            assert "alas" in next(result for result in report["results"] if result["outcome"] == "crash")["context"]

    def test_a_hang_is_ended(self, fake):
        done, report = fake.run("if case['id'] == 'coin::basic::bad':\n    time.sleep(600)", "--time-limit", "1")
        assert done.returncode == FAILED
        assert outcomes(report)["coin::basic::bad"] == "hang" and outcomes(report)["coin::basic::open"] == "pass"

    def test_a_harness_that_reads_nothing_hangs(self, fake):
        fake.cases = [*CASES, case("coin::basic::large", "invalid", input={"receipt": "AAAA" * (1 << 20)})]
        lines = "if case['id'] == 'coin::basic::bad':\n    time.sleep(600)"
        done, report = fake.run(lines, "--time-limit", "1")
        assert done.returncode == FAILED and outcomes(report)["coin::basic::large"] == "pass"

    def test_memory_is_limited(self, fake):
        lines = "if case['id'] == 'coin::basic::bad':\n    'x' * (1 << 30)"
        done, report = fake.run(lines, "--memory-limit", "512")
        assert done.returncode == FAILED and outcomes(report)["coin::basic::bad"] == "crash"
        assert fake.run(lines)[0].returncode == GOOD

    @pytest.mark.parametrize(
        ("lines", "said"),
        [
            ("answer['id'] = 'coin::basic::other'", "asked for"),
            ("answer['verdict'] = 'maybe'", "maybe"),
            ("answer['verdict'] = True", "other members"),
            ("answer['more'] = 1", "other members"),
            ("answer['values'] = []", "other members"),
            ("answer = ['x']", "other members"),
            ("print('garbage', flush=True)", "no JSON"),
            ("sys.stdout.buffer.write(b'\\xff\\n'); sys.stdout.flush()", "no JSON"),
            ("print(json.dumps(answer))", "asked for"),
            ("print('[' * 100000, flush=True)", "no JSON"),
            ("sys.stdout.write('x' * (17 << 20)); sys.stdout.flush(); time.sleep(60)", "16 MiB"),
            ("if case['id'] == 'coin::basic::odd':\n    print(json.dumps(answer), flush=True); os._exit(5)", "exit code 5"),
            ("if case['id'] == 'coin::basic::odd':\n    print(json.dumps(answer), flush=True); time.sleep(60)", "did not end"),
        ],
    )
    def test_a_fault_of_the_harness_is_no_result(self, fake, lines, said):
        done, report = fake.run(lines, "--time-limit", "2")
        assert done.returncode == FAULT and report is None, done.stdout
        assert "the harness is at fault" in done.stderr and said in done.stderr

    @pytest.mark.parametrize(
        ("before", "declaration"),
        [
            ("sys.exit(3)", None), ("print('hello', flush=True)", None), ("", {"features": "coin"}), ("", {"features": [1]}),
            ("", {"more": 1}), ("", {"reasons": "yes"}),
        ],
    )  # fmt: skip
    def test_a_wrong_declaration_is_a_fault(self, fake, before, declaration):
        done, report = fake.run("", before=before, declaration=declaration)
        assert done.returncode == FAULT and report is None

    def test_a_harness_that_never_answers_is_at_fault(self, fake):
        fake.cases = [case(f"coin::basic::n{number}", "invalid") for number in range(60)]
        done, report = fake.run("os._exit(1)")
        assert done.returncode == FAULT and "none of 20 cases" in done.stderr and report is None

    def test_the_values_are_compared(self, fake):
        expires = {"expiresDate": "2025-10-02T07:09:10.000Z"}
        purchases = [
            {"productId": "a", "quantity": 1, "purchaseDate": "2025-10-01T07:09:10.000Z", **expires},
            {"productId": "b", "quantity": 2, "purchaseDate": "2025-10-01T07:09:10.500Z"},
        ]
        values = {"environment": "sandbox", "transactions": purchases}
        fake.cases = [case("coin::basic::good", "valid", expected={"verdict": "valid", "values": values})]
        reports = {"reports": ["environment", "transactions"]}
        right = [
            values,
            {"environment": "sandbox", "transactions": purchases[::-1]},
            {"environment": "sandbox", "transactions": [{"productId": "b"}, {"productId": "a"}], "more": 1},
            {"environment": "sandbox", "transactions": [
                {"productId": "a", "purchaseDate": "2025-10-01T07:09:10Z"},
                {"productId": "b", "purchaseDate": "2025-10-01T07:09:10.5+00:00", "expiresDate": None},
            ]},
        ]  # fmt: skip
        wrong = [
            {}, {"environment": "production", "transactions": purchases},
            {"environment": "sandbox", "transactions": purchases[:1]},
            {"environment": "sandbox", "transactions": [purchases[0], purchases[0]]},
            {"environment": "sandbox", "transactions": [{**purchases[0], "quantity": True}, purchases[1]]},
            {"environment": "sandbox", "transactions": [purchases[0], {**purchases[1], "expiresDate": "2025-10-01T07:09:10Z"}]},
            {"environment": "sandbox", "transactions": {}}, {"environment": ["sandbox"], "transactions": purchases},
        ]  # fmt: skip
        for code, answered in [*((GOOD, each) for each in right), *((FAILED, each) for each in wrong)]:
            done, _ = fake.run(f"answer['values'] = json.loads({json.dumps(answered)!r})", declaration=reports)
            assert done.returncode == code, (answered, done.stdout)
        # What is not reported is not compared.
        assert fake.run("")[0].returncode == GOOD

    def test_the_second_grade(self, fake):
        lines = "if verdict != 'valid':\n    answer.update(verdict='invalid', reason='malformed', place='byte 2')"
        done, report = fake.run(lines, declaration={"reasons": True})
        assert done.returncode == GOOD and report["secondGradeDifferences"] == {"verdict": 1, "reason": 0}
        done, report = fake.run(lines, "--grade", "2", declaration={"reasons": True, "places": True})
        assert done.returncode == FAILED and report["secondGradeDifferences"] == {"verdict": 1, "reason": 0, "place": 2}
        done, report = fake.run("answer.update(reason=expected.get('reason'))", "--grade", "2", declaration={"reasons": True})
        assert done.returncode == GOOD and report["conformant"]
        # Without reasons there is no second grade.
        assert not fake.run("", "--grade", "2")[1]["conformant"]

    def test_expected_failures_are_strict(self, fake, tmp_path):
        expected = tmp_path / "expected.txt"
        option = f"--expected-failures={expected}"
        lines = "if case['id'] == 'coin::basic::bad':\n    answer['verdict'] = 'valid'"
        expected.write_text("# Why.\n\ncoin::*::bad  # known\n")
        done, report = fake.run(lines, option)
        assert done.returncode == GOOD and not report["conformant"] and report["asExpected"]
        assert outcomes(report)["coin::basic::bad"] == "expected-failure"
        # A pattern that covers a case that passes, and one that covers nothing.
        texts = {"coin::basic::*  # all\n": "unexpected-pass", "coin::basic::bad # a\nx::*  # b\n": "matches no case"}
        for text, found in texts.items():
            expected.write_text(text)
            done, report = fake.run(lines, option)
            assert done.returncode == FAILED and found in done.stdout
        # A case that crashes may be expected, too; of a part, nobody can tell.
        expected.write_text("coin::basic::bad  # dies\n")
        assert fake.run("if case['id'] == 'coin::basic::bad':\n    os._exit(1)", option)[0].returncode == GOOD
        assert fake.run("", option, "--include=coin::basic::good")[0].returncode == GOOD

    def test_usage(self, fake, tmp_path):
        (tmp_path / "no-reason.txt").write_text("coin::basic::bad\n")
        (tmp_path / "no-suite.json").write_text("{}")
        (tmp_path / "no-cases.json").write_text('{"format": "receipt-conformance-1", "version": "1.0.0"}')
        wrong = ["--grade=3", f"--expected-failures={tmp_path / 'no-reason.txt'}", "--include", "--time-limit=x", "--more"]
        for options in ([option] for option in wrong):
            done, report = fake.run("", *options)
            assert done.returncode == USAGE and report is None and done.stderr, options
        for name in ("no-suite.json", "no-cases.json", "absent.json", "absent.tar.gz", "absent.zip"):
            assert fake.command(["true"], of=tmp_path / name)[0].returncode == USAGE
        assert fake.command([])[0].returncode == USAGE
        assert fake.command([str(tmp_path / "absent")])[0].returncode == USAGE

    def test_the_suite_may_be_in_an_archive(self, fake, tmp_path):
        fake.run("")
        inside = tmp_path / "receipt-conformance-1.2.3"
        inside.mkdir()
        shutil.copy(tmp_path / "suite.json", inside)
        for form in ("gztar",) if fake.tool else ("gztar", "zip"):
            file = shutil.make_archive(str(tmp_path / "archive"), form, tmp_path, inside.name)
            done, report = fake.command([sys.executable, str(tmp_path / "harness.py")], of=pathlib.Path(file))
            assert done.returncode == GOOD and report["conformant"]

    def test_both_runners_find_the_same(self, tmp_path, receipt_tool, suite_file):
        """On the whole suite, with a harness that gives wrong answers, other reasons and other values."""
        reports = []
        lines = """
            import json, sys
            print(json.dumps({"harness": "x", "version": "1", "features": FEATURES, "reports": ["environment", "standing"],
                              "reasons": True, "places": True}), flush=True)
            for number, line in enumerate(sys.stdin):
                verdict = ("valid", "invalid", "undetermined")[number % 3]
                answer = {"reason": "malformed", "place": "certificate 0"} if number % 2 else {}
                values = {"environment": "sandbox", "standing": [{"standing": "active", "transactionId": None}]}
                answer |= {"values": values} if verdict == "valid" else {}
                print(json.dumps(answer | {"id": json.loads(line)["id"], "verdict": verdict, "context": "é " * (number % 7)}))
                sys.stdout.flush()
        """
        features = sorted({name for each in json.loads(suite_file.read_text())["cases"] for name in each["features"]})
        (tmp_path / "harness.py").write_text(textwrap.dedent(lines).replace("FEATURES", json.dumps(features[1:])))
        for tool in (None, str(receipt_tool.path)):
            for grade in ("1", "2"):
                harness = [sys.executable, str(tmp_path / "harness.py")]
                done, report = Fake(tmp_path, tool).command(harness, "--grade", grade, of=suite_file)
                assert done.returncode == FAILED, done.stderr
                for result in report["results"]:
                    result.pop("seconds", None)
                reports.append((report, done.stdout))
        assert reports[:2] == reports[2:]
        assert reports[0][0]["counts"]["fail"] > 1000 and reports[0][0]["counts"]["pass"] > 1000

    def test_the_oldest_python(self, fake):
        if fake.tool:
            pytest.skip("it concerns the runner in Python")
        fake.run("")
        installed = sorted(pathlib.Path.home().glob(".pyenv/versions/3.9.*/bin/python"))
        old = installed[0] if installed else shutil.which("python3.9")
        if old is None or subprocess.run([old, "-c", ""]).returncode != 0:
            pytest.skip("no Python 3.9 to run the runner with")
        command = [old, RUNNER, fake.folder / "suite.json", "--", sys.executable, fake.folder / "harness.py"]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == GOOD, done.stderr


class TestReports:
    HOSTILE = "<script>alert(1)</script>'\"|`]]>-->\n@everyone [x](http://evil.example) \x1b[31m\u202e\ud800 &amp;"

    @pytest.fixture
    def written(self, fake, tmp_path):
        """The reports on a harness all of whose texts are hostile."""
        # Half of a pair is no text by RFC 8259, so that receipt-tool calls a line with it no JSON.
        text = self.HOSTILE.replace("\ud800", "") if fake.tool else self.HOSTILE
        hostile = repr(text)
        values = {"verdict": "valid", "values": {"bundleId": "com.example.app"}}
        fake.cases = [*CASES, case("coin::basic::values", "valid", expected=values)]
        done, report = fake.run(
            f"answer.update(context={hostile}, reason={hostile}, place={hostile}, values={{'bundleId': {hostile}}})",
            *(f"--{form}={tmp_path / form}" for form in ("junit", "markdown", "html")), "--grade=2",
            declaration={
                "harness": text, "version": text, "reasons": True, "places": True, "reports": ["bundleId"],
                "features": ["coin", text],
            },
        )  # fmt: skip
        assert done.returncode == FAILED, done.stderr
        assert "\x1b" not in done.stdout and "\u202e" not in done.stdout
        return report, {form: (tmp_path / form).read_text() for form in ("junit", "markdown", "html")}

    def test_the_page_has_nothing_from_elsewhere(self, written):
        page = written[1]["html"]
        assert "<script" not in page and "javascript:" not in page and "\x1b" not in page and "\u202e" not in page
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
        assert not re.search(r"<[^>]*\s(src|href|on\w+)\s*=", page) and "<link" not in page and "url(" not in page
        assert "default-src 'none'" in page and "color-scheme: light dark" in page
        assert page.count("<details") == page.count("</details>") == len({r["outcome"] for r in written[0]["results"]})

    def test_markdown_says_what_it_means(self, written):
        text = written[1]["markdown"]
        assert "<script" not in text and "](http" not in text and "\x1b" not in text
        rows = [line for line in text.splitlines() if line.startswith("| coin::")]
        assert rows and all(line.count("|") == 5 for line in rows)
        # Mentions and links count only outside of code.
        assert "everyone" not in re.sub(r"<code>.*?</code>", "", text)

    def test_junit_can_be_read(self, written):
        report, texts = written
        tree = xml.etree.ElementTree.fromstring(texts["junit"])
        cases = tree.findall(".//testcase")
        assert len(cases) == len(report["results"])
        totals = tree.find("testsuite")
        failures = [each for each in cases if each.find("failure") is not None]
        assert int(totals.get("failures")) == len(failures) == report["counts"]["fail"]
        assert int(totals.get("skipped")) == report["counts"]["skip"]

    def test_no_more_than_fifty_failures_are_listed(self, fake, tmp_path):
        fake.cases = [case("coin::basic::good", "valid"), *(case(f"coin::basic::n{n}", "invalid") for n in range(70))]
        done, report = fake.run("answer['verdict'] = 'valid'", f"--markdown={tmp_path / 'report.md'}")
        assert done.returncode == FAILED and report["counts"]["fail"] == 70
        text = (tmp_path / "report.md").read_text()
        assert text.count("\n| coin::") == 50 and "And 20 more." in text

    def test_answers_conform(self, suite_file):
        validator("answer").validate({"id": "a", "verdict": "valid", "reason": None, "values": {"x": 1}})
        assert not validator("answer").is_valid({"id": "a", "verdict": "either"})


class TestLock:
    CASES = [case("coin::basic::good", "valid"), case("coin::basic::bad", "invalid")]

    def problems(self, cases: list[dict], version: str, locked: str = "1.2.3") -> str:
        before = lock.Lock(locked, {}, {"coin::basic::retired"}).following(self.CASES, locked)
        # What is written is what is read.
        assert lock.Lock.read(before.text()) == before
        return "\n".join(before.problems(cases, version))

    def test_nothing_changed(self):
        assert self.problems(self.CASES, "1.2.3") == ""
        assert self.problems(self.CASES[::-1], "1.2.4") == ""
        assert "is before" in self.problems(self.CASES, "1.2.2")

    @pytest.mark.parametrize(
        ("cases", "level", "said"),
        [
            ([*CASES, case("coin::basic::new", "invalid")], "major", "coin::basic::new came"),
            ([*CASES, case("note::basic::new", "invalid")], "minor", "note::basic::new came"),
            (CASES[:1], "minor", "coin::basic::bad vanished"),
            ([CASES[0], case("coin::basic::bad", "valid")], "major", "coin::basic::bad changed"),
            ([CASES[0], {**CASES[1], "time": "2026-01-02T00:00:00Z"}], "major", "coin::basic::bad changed"),
            ([CASES[0], {**CASES[1], "policy": {"appAppleId": 1}}], "major", "coin::basic::bad changed"),
            ([CASES[0], {**CASES[1], "description": "Other words."}], "patch", "the words of coin::basic::bad changed"),
            ([CASES[0], {**CASES[1], "flags": ["X"]}], "patch", "the words of coin::basic::bad changed"),
        ],
    )
    def test_each_change_is_found(self, cases, level, said):
        versions = {"patch": "1.2.4", "minor": "1.3.0", "major": "2.0.0"}
        order = list(versions)
        assert said in self.problems(cases, "1.2.3") and f"no {level} step" in self.problems(cases, "1.2.3")
        for each, version in versions.items():
            enough = order.index(each) >= order.index(level)
            assert (self.problems(cases, version) == "") == enough, (version, level)

    def test_before_1_0(self):
        added = [*self.CASES, case("coin::basic::new", "invalid")]
        assert self.problems(added, "0.1.1", "0.1.0") and not self.problems(added, "0.2.0", "0.1.0")

    def test_a_retired_identifier_is_not_used_again(self):
        again = [*self.CASES, case("coin::basic::retired", "invalid")]
        assert "was retired" in self.problems(again, "2.0.0")
        # And what vanishes is retired.
        before = lock.Lock("1.0.0", {}, set()).following(self.CASES, "1.0.0")
        assert before.following(self.CASES[:1], "2.0.0").retired == {"coin::basic::bad"}

    def test_the_command(self, tmp_path):
        """A lock is written once; then no other case comes under its version."""
        copy = tmp_path / "Conformance"
        shutil.copytree(FOLDER / "generator", copy / "generator", ignore=shutil.ignore_patterns("cases", "__pycache__"))
        (copy / "generator/cases").mkdir()
        (copy / "generator/cases/__init__.py").touch()
        (copy / "generator/left_open.py").write_text("EITHER = REASON = {}\n")
        (copy / "VERSION").write_text("1.0.0\n")

        def run(option: str, *names: str) -> str:
            line = "    suite.add('coin::basic::{}', 'A.', {{}}, 'invalid', reason='malformed')\n"
            added = "".join(line.format(name) for name in names)
            (copy / "generator/cases/coins.py").write_text(f"def add(suite):\n{added}")
            done = subprocess.run([sys.executable, "-B", copy / "generator", option], capture_output=True, text=True)
            assert "Traceback" not in done.stderr and bool(done.returncode) == bool(done.stderr), done.stderr
            return done.stderr

        assert "--write-lock" in run("--check-lock", "a")
        assert run("--write-lock", "a") == "" and run("--check-lock", "a") == ""
        head, entry = (copy / "suite.lock").read_text().splitlines()
        assert head == "version 1.0.0" and re.fullmatch("[0-9a-f]{64} [0-9a-f]{64} coin::basic::a", entry)
        for option in ("--check-lock", "--write-lock"):
            assert "coin::basic::b came: major" in run(option, "a", "b")
        (copy / "VERSION").write_text("2.0.0\n")
        assert "write it with --write-lock" in run("--check-lock", "a", "b")
        assert run("--write-lock", "a", "b") == "" and run("--check-lock", "a", "b") == ""


class TestArchive:
    def test_it_is_the_same_each_time(self, tmp_path, suite_file):
        files = []
        for name in ("one", "two"):
            environment = os.environ | {"TZ": "Asia/Tokyo" if name == "one" else "UTC"}
            command = [sys.executable, FOLDER / "archive", tmp_path / name, suite_file]
            done = subprocess.run(command, capture_output=True, text=True, env=environment)
            assert done.returncode == 0, done.stderr
            files.append(pathlib.Path(done.stdout.strip()))
        assert files[0].read_bytes() == files[1].read_bytes()
        # gzip -n: neither a time nor a name.
        assert files[0].read_bytes()[3:8] == b"\0" * 5
        with tarfile.open(files[0]) as archive:
            members = archive.getmembers()
            assert [member.name for member in members] == sorted(member.name for member in members)
            assert {(member.mtime, member.uid, member.uname) for member in members} == {(0, 0, "")}
            archive.extractall(tmp_path, filter="data")
        folder = tmp_path / files[0].name.removesuffix(".tar.gz")
        assert (folder / "suite.json").read_bytes() == suite_file.read_bytes()
        assert not list(folder.rglob("*.pem")), "the keys are in the repository alone"
        for name in ("README.md", "LICENSE", "runner/receipt_conformance.py", "runner/reports.py", "schema/suite.schema.json"):
            assert (folder / name).is_file()


class TestAction:
    def test_it_is_one(self):
        done = subprocess.run(
            [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-actions", FOLDER / "action.yml"],
            capture_output=True, text=True,
        )  # fmt: skip
        if "No module named" in done.stderr:
            pytest.skip("no check-jsonschema")
        assert done.returncode == 0, done.stdout

    def test_inputs_come_by_the_environment(self):
        """An expression in a script would let an input write commands."""
        text = (FOLDER / "action.yml").read_text()
        scripts = re.findall(r"^      run: \|\n((?:        .*\n|\n)+)", text, re.MULTILINE)
        assert len(scripts) == 2 and not any("${{" in script for script in scripts)


class TestFeatures:
    @pytest.mark.parametrize(
        ("members", "features"),
        [
            ({}, ["coin"]),
            ({"policy": {"bundleIds": [], "deviceId": "x"}}, ["coin", "policy-device-id"]),
            ({"policy": {"appAppleId": 1}, "features": ["wrappers"]}, ["coin", "wrappers"]),
            ({"policy": {"environments": ["xcode"]}}, ["coin", "xcode"]),
            ({"time": "2026-01-02T00:00:00Z"}, ["coin", "clock"]),
            ({"policy": {"maximumAge": 1}}, ["coin", "policy-maximum-age", "clock"]),
            ({"policy": {"time": "evaluation"}, "time": "2026-01-02T00:00:00Z"}, ["coin", "policy-time"]),
            ({"features": ["standing"], "time": "2026-01-02T00:00:00Z"}, ["coin", "standing"]),
        ],
    )
    def test_they_follow_from_what_is_asked(self, members, features):
        """And not from what is expected, which a harness must not learn."""
        for verdict, stated in (("valid", {"values": {}}), ("invalid", {"reason": "malformed"})):
            made = suite.Suite()
            made.add("coin::basic::a", "A.", {}, verdict, **stated, **members)
            assert made.cases["coin::basic::a"].features == features


class TestExpectedFailures:
    def test_those_that_are_proposed_are_right(self, fake, tmp_path):
        names = ["basic::a", "basic::b", "basic::c-one", "basic::c-two", "other::a", "other::b"]
        fake.cases = [case("coin::basic::good", "valid"), *(case(f"coin::{name}", "invalid") for name in names)]
        lines = "if '::c-' in case['id'] or '::other::' in case['id']:\n    answer['verdict'] = 'valid'"
        fake.run(lines)
        command = [sys.executable, FOLDER / "harnesses/propose_expected_failures.py", fake.folder / "report.json"]
        proposed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert len(proposed.splitlines()) == 2, proposed
        (tmp_path / "expected.txt").write_text(proposed)
        assert fake.run(lines, f"--expected-failures={tmp_path / 'expected.txt'}")[0].returncode == GOOD


class TestPrograms:
    """Each program answers what the published results say."""

    def measure(self, suite_file, name: str, environment: dict | None = None) -> None:
        done = subprocess.run(
            [sys.executable, FOLDER / "measure", "--check", "--installed", "--only", name, suite_file],
            capture_output=True, text=True, timeout=900, env=os.environ | (environment or {}),
        )  # fmt: skip
        assert done.returncode == GOOD, done.stdout + done.stderr
        assert name in done.stderr
        if "NOT COMPARED" in done.stderr:
            pytest.skip(f"SKIPPED LOUDLY: {done.stderr.strip()}")

    def test_receipt_tool_answers_every_case(self, suite_file, receipt_tool, tmp_path):
        report = tmp_path / "report.json"
        command = [receipt_tool.path, "conformance", "harness"]
        done = subprocess.run(
            [sys.executable, RUNNER, suite_file, "--grade", "2", "--json", report, "--", *command],
            capture_output=True, text=True, timeout=600,
        )  # fmt: skip
        assert done.returncode == GOOD, done.stdout + done.stderr
        counts = json.loads(report.read_text())["counts"]
        # No case is beyond it.
        assert counts["pass"] == len(json.loads(suite_file.read_text())["cases"])

    @pytest.mark.long
    def test_the_binding_to_python(self, suite_file):
        library = os.environ.get("RECEIPTKIT_LIBRARY")
        if not library or not os.path.isfile(library):
            pytest.skip("RECEIPTKIT_LIBRARY does not name libreceiptkit.so; run scripts/interoperability")
        self.measure(suite_file, "receiptkit")

    @pytest.mark.long
    @pytest.mark.parametrize("name", ["app-store-server-library", "apple-purchase-receipt-verifier", "pymerkle"])
    def test_a_package_of_python(self, suite_file, name):
        self.measure(suite_file, name)

    @pytest.mark.long
    def test_gos_packages(self, suite_file):
        if not shutil.which("go") or not os.path.isdir("/usr/share/gocode/src/golang.org/x/mod"):
            pytest.skip("SKIPPED LOUDLY: Go and its package golang-golang-x-mod-dev are not installed")
        self.measure(suite_file, "golang.org/x/mod/sumdb")

    @pytest.mark.long
    def test_openssl(self, suite_file):
        if not shutil.which("openssl"):
            pytest.skip("SKIPPED LOUDLY: no openssl")
        self.measure(suite_file, "openssl cms")
