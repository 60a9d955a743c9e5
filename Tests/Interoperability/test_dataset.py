# SPDX-License-Identifier: Apache-2.0
"""`verify --lines --keyed` as the worker of an engine: Apache Spark, GNU parallel, PostgreSQL's COPY.

The programs are those of the article VerifyingADataset. scripts/data-lake runs those for Spark over a million receipts, and
leaves PySpark behind, with which this runs them as well.
"""

import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import pytest

import samples
from conftest import PACKAGE_ROOT
from independent import jws, transaction_receipt
from tool import INVALID, UNDETERMINED, UNREADABLE, USAGE, VALID

MALFORMED_INPUT, INPUT_OUTPUT = 65, 74
KEYED = ["verify", "--lines", "--keyed", "--json"]
ARTICLE = PACKAGE_ROOT / "Documentation" / "ReceiptKit.docc" / "VerifyingADataset.md"


def example(language: str, containing: str) -> str:
    """The article's block of code in this language that contains this text."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```", ARTICLE.read_text(), re.DOTALL | re.MULTILINE)
    (block,) = [block for block in blocks if containing in block]
    return block


@pytest.fixture(scope="module")
def receipts(store) -> dict[str, str]:
    """300 receipts by key: two of three are genuine, the others are forged or nothing at all."""
    signer = store.leaf()
    made = {}
    for number in range(300):
        receipt = jws.sign(samples.TRANSACTION | {"transactionId": str(2_000_000_000_000_000 + number)}, signer)
        if number % 6 == 2:
            receipt = receipt[:-20] + ("A" if receipt[-20] != "A" else "B") + receipt[-19:]
        made[f"purchase-{number:04}"] = "nothing" if number % 6 == 5 else receipt
    return made


@pytest.fixture(scope="module")
def lines(receipts) -> list[str]:
    return [f"{key}\t{receipt}\n" for key, receipt in receipts.items()]


@pytest.fixture(scope="module")
def expected(receipt_tool, lines, trust) -> list[str]:
    """The verdicts of a single process, sorted by key."""
    run = receipt_tool.run(*KEYED, *trust, "-", stdin="".join(lines).encode())
    assert run.code == INVALID
    return run.out.splitlines()


@pytest.fixture
def dataset(lines, trust, receipt_tool):
    """A folder that other users may read: the dataset in four files, the root, and a link to the tool."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        for part in range(4):
            path = folder / "receipts" / f"day={part}" / "part.tsv"
            path.parent.mkdir(parents=True)
            path.write_text("".join(lines[part::4]))
        for root in (folder / "root.cer", folder / "my-store" / "root.cer"):
            root.parent.mkdir(exist_ok=True)
            shutil.copy(trust[1], root)
        (folder / "bin").mkdir()
        (folder / "bin" / "receipt-tool").symlink_to(receipt_tool.path)
        yield folder


def kill_the_first_worker(dataset: pathlib.Path, tool: str) -> pathlib.Path:
    """Puts a tool in place of the dataset's whose first process is killed after it has printed some verdicts.

    Returns a file that is there once that has happened.
    """
    killed = dataset / "killed"
    script = dataset / "bin" / "receipt-tool"
    script.unlink()
    script.write_text(
        "#!/bin/sh\n"
        f'if mkdir {killed} 2>/dev/null; then {tool} "$@" | head -n 20; kill -KILL $$; fi\n'
        f'exec {tool} "$@"\n'
    )
    script.chmod(0o755)
    return killed


class TestKeys:
    def test_a_result_depends_on_its_line_alone(self, receipt_tool, lines, expected, trust, tmp_path):
        assert [json.loads(line)["key"] for line in expected] == [line.split("\t")[0] for line in lines]
        counts = collections.Counter(json.loads(line)["verdict"] for line in expected)
        assert counts == {"valid": 200, "invalid": 100}
        assert not any({"source", "index"} & json.loads(line).keys() for line in expected)
        path = tmp_path / "reversed"
        path.write_text("".join(reversed(lines)))
        run = receipt_tool.run(*KEYED, *trust, path)
        assert run.code == INVALID
        assert run.out.splitlines() == expected[::-1]

    @pytest.mark.parametrize("key", ["1", "a b", 'quote" and \\', "naïve/日本", "\u2028", "k" * 1024, "é" * 512])
    def test_keys_come_back_as_they_were(self, receipt_tool, receipts, trust, key):
        receipt = receipts["purchase-0000"]
        run = receipt_tool.run(*KEYED, *trust, "-", stdin=f"{key}\t{receipt}\r\n".encode())
        assert run.code == VALID, run.out + run.err
        assert json.loads(run.out)["key"] == key

    def test_text_names_the_key(self, receipt_tool, receipts, trust):
        line = f"order 7\u202e\t{receipts['purchase-0000']}"
        run = receipt_tool.run("verify", "--lines", "--keyed", *trust, "-", stdin=line.encode())
        assert run.code == VALID
        assert run.out.startswith("VALID  signed-transaction  order 7") and "\u202e" not in run.out, run.out

    @pytest.mark.parametrize(
        "line",
        [b"", b"no tab", b"\tno key", b"k" * 1025 + b"\tx", b"\0\tx", b"a\rb\tx", b"\x7f\tx", b"\xff\tx", b"\xed\xa0\x80\tx"],
    )
    def test_a_line_without_a_key_ends_the_input(self, receipt_tool, lines, expected, trust, tmp_path, line):
        path = tmp_path / "lines"
        path.write_bytes("".join(lines[:100]).encode() + line + b"\n" + lines[100].encode())
        run = receipt_tool.run(*KEYED, "--exit-zero", *trust, path, path)
        assert run.code == MALFORMED_INPUT
        assert run.out.splitlines()[:100] == expected[:100]
        assert not any(json.loads(line).get("verdict") for line in run.out.splitlines()[100:]), run.out
        assert f"{path}:100: the line does not begin with a key and a tab" in run.err

    def test_the_length_of_a_receipt_is_bounded_without_its_key(self, receipt_tool, receipts, trust):
        receipt = receipts["purchase-0000"]
        for key in ("k", "k" * 1024):
            for limit, verdict in ((len(receipt), "valid"), (len(receipt) - 1, "invalid")):
                run = receipt_tool.run(
                    *KEYED, "--max-bytes", limit, *trust, "-", stdin=f"{key}\t{receipt}\n{key}\t{receipt}".encode()
                )
                assert [line["verdict"] for line in run.lines] == [verdict] * 2

    @pytest.mark.parametrize("option", ["--keyed", "--exit-zero"])
    def test_needs_lines(self, receipt_tool, trust, option):
        run = receipt_tool.run("verify", option, *trust, "-")
        assert run.code == USAGE and f"{option} needs --lines" in run.err


class TestExitZero:
    def test_verdicts_do_not_count(self, receipt_tool, lines, expected, trust, rsa_store, rsa_trust):
        stdin = "".join(lines).encode()
        run = receipt_tool.run(*KEYED, "--exit-zero", *trust, "-", stdin=stdin)
        assert run.code == 0 and run.out.splitlines() == expected
        # Its issuer is missing.
        undetermined = b"1\t" + transaction_receipt.sign(rsa_store.leaf("rsa2048"))
        run = receipt_tool.run(*KEYED, *rsa_trust, "-", stdin=undetermined)
        assert run.code == UNDETERMINED and run.lines[0]["verdict"] == "undetermined"
        assert receipt_tool.run(*KEYED, "--exit-zero", *rsa_trust, "-", stdin=undetermined).code == 0

    def test_failures_do(self, receipt_tool, lines, trust, tmp_path):
        path = tmp_path / "lines"
        path.write_text("".join(lines))
        run = receipt_tool.run(*KEYED, "--exit-zero", *trust, path, tmp_path / "missing")
        assert run.code == UNREADABLE
        with open("/dev/full", "wb") as full:
            run = receipt_tool.run(*KEYED, "--exit-zero", *trust, path, stdout=full)
        assert run.code == INPUT_OUTPUT


SPARK_PYTHON = PACKAGE_ROOT / ".build" / "spark-venv" / "bin" / "python"
STAND_INS = pathlib.Path(__file__).parent / "stand_ins"
NO_SPARK = pytest.mark.skipif(not SPARK_PYTHON.exists(), reason="no PySpark (scripts/data-lake installs it)")


class TestSpark:
    def run(self, dataset: pathlib.Path, program: str, pyspark: str) -> subprocess.CompletedProcess:
        program = program.replace("/usr/bin/receipt-tool", f"{dataset}/bin/receipt-tool")
        program = program.replace('"/data', f'"{dataset}').replace(" /data/root", f" {dataset}/root")
        # In local mode the number of attempts is part of the master.
        program = program.replace(".getOrCreate", ".master('local[2,4]').getOrCreate")
        assert not re.search("[ \"]/(usr|data)/", program), program
        python, modules = (SPARK_PYTHON, "") if pyspark == "PySpark" else (sys.executable, STAND_INS)
        return subprocess.run(
            [python, "-c", program],
            env=os.environ | {"PYTHONPATH": str(modules)}, capture_output=True, text=True, timeout=120,
        )  # fmt: skip

    @pytest.fixture(params=["stand-in", pytest.param("PySpark", marks=NO_SPARK)])
    def pyspark(self, request) -> str:
        return request.param

    def test_workers_write_the_verdicts_of_a_single_process(self, dataset, expected, pyspark):
        run = self.run(dataset, example("python", "foreachPartition"), pyspark)
        assert run.returncode == 0, run.stderr
        assert merged(dataset) == expected
        # Verdicts of another run are never among those of this one.
        again = self.run(dataset, example("python", "foreachPartition"), pyspark)
        assert again.returncode == 1 and "FileExistsError" in again.stderr

    def test_a_killed_worker_is_run_again(self, receipt_tool, dataset, expected, pyspark):
        killed = kill_the_first_worker(dataset, receipt_tool.path)
        run = self.run(dataset, example("python", "foreachPartition"), pyspark)
        assert killed.exists() and run.returncode == 0, run.stderr
        (partial,) = (dataset / "verdicts").glob("_*")
        assert len(partial.read_text().splitlines()) == 20
        assert merged(dataset, "part-*") == expected

    def test_a_line_without_a_key_is_a_failure(self, dataset, pyspark):
        with open(dataset / "receipts" / "day=2" / "part.tsv", "a") as file:
            file.write("no key\n")
        run = self.run(dataset, example("python", "foreachPartition"), pyspark)
        assert run.returncode == 1
        assert "does not begin with a key" in run.stderr
        assert not (dataset / "verdicts" / "part-00002.jsonl").exists()

    @NO_SPARK
    @pytest.mark.parametrize("name", ["names", "RDD.pipe", "lines"])
    def test_verdicts_through_spark(self, receipt_tool, dataset, expected, name):
        killed = kill_the_first_worker(dataset, receipt_tool.path)
        names = example("python", "SELECT TRANSFORM (name)")
        pipe = names.split("spark.createDataFrame")[0] + example("python", ".pipe(")
        lines = example("python", "SELECT TRANSFORM (value)")
        run = self.run(dataset, {"names": names, "RDD.pipe": pipe, "lines": lines}[name], "PySpark")
        assert killed.exists() and run.returncode == 0, run.stderr
        assert "Lost task" in run.stderr
        files = (dataset / "verdicts").glob("part-*")
        assert sorted((line for file in files for line in file.read_text().splitlines()), key=key_of) == expected


def is_gnu_parallel() -> bool:
    """Another program of this name is in moreutils."""
    return bool(shutil.which("parallel")) and "GNU" in subprocess.run(
        ["parallel", "--version"], capture_output=True, text=True
    ).stdout


def merged(dataset: pathlib.Path, files: str = "*") -> list[str]:
    """The verdicts of all files of the dataset, sorted by key."""
    found = sorted((dataset / "verdicts").glob(files))
    assert len(found) == 4, found
    return sorted((line for file in found for line in file.read_text().splitlines()), key=key_of)


def key_of(verdict: str) -> str:
    return json.loads(verdict)["key"]


@pytest.mark.skipif(not is_gnu_parallel(), reason="no GNU parallel (Debian: apt-get install parallel)")
class TestParallel:
    def run(self, dataset: pathlib.Path) -> subprocess.CompletedProcess:
        environment = os.environ | {"PATH": f"{dataset}/bin:{os.environ['PATH']}", "HOME": str(dataset)}
        return subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", re.sub(r"^\$ ", "", example("console", "parallel"), flags=re.MULTILINE)],
            cwd=dataset, env=environment, capture_output=True, text=True, timeout=60,
        )  # fmt: skip

    def test_verdicts_are_those_of_a_single_process(self, dataset, expected):
        for _ in range(2):
            run = self.run(dataset)
            assert run.returncode == 0, run.stderr
            assert merged(dataset) == expected

    def test_a_killed_worker_is_run_again(self, receipt_tool, dataset, expected):
        killed = kill_the_first_worker(dataset, receipt_tool.path)
        run = self.run(dataset)
        assert killed.exists() and run.returncode == 0, run.stderr
        assert merged(dataset) == expected

    def test_a_line_without_a_key_is_a_failure(self, dataset):
        with open(dataset / "receipts" / "day=2" / "part.tsv", "a") as file:
            file.write("no key\n")
        run = self.run(dataset)
        assert run.returncode == 1
        assert "does not begin with a key" in run.stderr
        assert len(list((dataset / "verdicts").glob("*.jsonl"))) == 3


class TestPostgreSQL:
    def run(self, server, dataset: pathlib.Path, statements: str) -> subprocess.CompletedProcess:
        statements = statements.replace("receipt-tool ", f"{dataset}/bin/receipt-tool ").replace("/data/", f"{dataset}/")
        command = ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", server.url, "-f", "-"]
        return subprocess.run(command, input=statements, capture_output=True, text=True, timeout=60)

    @pytest.fixture
    def server(self, postgresql_server, dataset, receipt_tool):
        """A server with the article's table, whose user may run the tool."""
        (dataset / "bin" / "receipt-tool").unlink()
        shutil.copy(receipt_tool.path, dataset / "bin" / "receipt-tool")
        created = self.run(postgresql_server, dataset, example("sql", "CREATE TABLE"))
        assert created.returncode == 0, created.stderr
        yield postgresql_server
        postgresql_server.query("DROP TABLE verdicts")

    def rows(self, server) -> list[tuple[str, str, dict]]:
        """Key, place of the row in the table and verdict of each row."""
        rows = server.query("SELECT json_agg(json_build_array(key, ctid, verdict) ORDER BY key) FROM verdicts")
        return [tuple(row) for row in json.loads(rows or "[]")]

    def test_an_import_that_is_repeated_changes_nothing(self, server, dataset, expected):
        imports = []
        for _ in range(2):
            run = self.run(server, dataset, example("sql", "FROM PROGRAM"))
            assert run.returncode == 0, run.stderr
            imports.append(self.rows(server))
        assert [verdict for _, _, verdict in imports[0]] == [json.loads(line) for line in expected]
        assert all(key == verdict["key"] for key, _, verdict in imports[0])
        # Nor is any row written again, which would have another place then.
        assert imports[1] == imports[0]

    def test_a_killed_worker_leaves_nothing_behind(self, receipt_tool, server, dataset, expected):
        tool = dataset / "bin" / "receipt-tool"
        tool.rename(dataset / "bin" / "tool")
        tool.symlink_to("tool")
        dataset.chmod(0o777)
        killed = kill_the_first_worker(dataset, str(dataset / "bin" / "tool"))
        run = self.run(server, dataset, example("sql", "FROM PROGRAM"))
        assert killed.exists() and run.returncode != 0
        assert "exit code 137" in run.stderr or "signal 9" in run.stderr, run.stderr
        assert self.rows(server) == []
        run = self.run(server, dataset, example("sql", "FROM PROGRAM"))
        assert run.returncode == 0, run.stderr
        assert [verdict for _, _, verdict in self.rows(server)] == [json.loads(line) for line in expected]
