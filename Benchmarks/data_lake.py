# SPDX-License-Identifier: Apache-2.0
"""usage: data_lake.py TOOL RECEIPTS ROOT FOLDER [--rounds N] [--program NAME]…

Verifies a dataset with Apache Spark, by the programs of the article VerifyingADataset, and with receipt-tool alone: compares
every verdict, also after a worker was killed, and prints what Spark costs. Run by scripts/data-lake.

RECEIPTS has one receipt a line, of signers under ROOT; it is removed when the dataset is written. FOLDER gets the dataset and
the verdicts: twice as much as RECEIPTS. NAME is one of own-files, transform, pipe and lines; without it all four run.
"""

import argparse
import collections
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time

ARTICLE = pathlib.Path(__file__).parents[1] / "Documentation/ReceiptKit.docc/VerifyingADataset.md"
KEY = re.compile(rb'"key":"(purchase-\d{8})"')
PARTITIONS = 32
MASTER = ".master('local[2,4]').getOrCreate"


def write_dataset(receipts: pathlib.Path, folder: pathlib.Path) -> int:
    """Gives each receipt a key, and forges some: of every ten one signature, of every hundred one receipt."""
    files = []
    for part in range(PARTITIONS):
        path = folder / f"day={part:02}" / "part.tsv"
        path.parent.mkdir(parents=True)
        files.append(open(path, "wb"))
    number = 0
    with open(receipts, "rb") as lines:
        for number, line in enumerate(lines, 1):
            receipt = line.rstrip(b"\n")
            if number % 10 == 0:
                receipt = receipt[:-40] + (b"A" if receipt[-40:-39] != b"A" else b"B") + receipt[-39:]
            elif number % 100 == 1:
                receipt = receipt[: number % len(receipt)]
            files[number % PARTITIONS].write(b"purchase-%08d\t%s\n" % (number, receipt))
    for file in files:
        file.close()
    return number


def verdicts(paths: list[pathlib.Path]) -> dict[bytes, int]:
    """A hash of each line by its key; a key has one line."""
    found = {}
    for path in paths:
        with open(path, "rb") as lines:
            for line in lines:
                key = KEY.search(line)[1]
                assert line.endswith(b"}\n"), line
                assert key not in found, f"two verdicts: {line}"
                found[key] = hash(line)
    return found


class Measurement:
    def __init__(self, tool: str, root: str, folder: pathlib.Path):
        self.folder = folder
        self.command = [tool, "verify", "--lines", "--keyed", "--exit-zero", "--json", "--trust", root]
        self.files = sorted((folder / "receipts").glob("*/*"))
        # The article's programs, with this dataset and this tool, two workers, and four attempts at a task.
        blocks = re.findall(r"^```python\n(.*?)^```", ARTICLE.read_text(), re.DOTALL | re.MULTILINE)
        own, names, pipe, lines = blocks
        pipe = names.split("spark.createDataFrame")[0] + pipe
        self.programs = {"own-files": own, "transform": names, "pipe": pipe, "lines": lines}
        replaced = {"/usr/bin/receipt-tool": tool, "/data/root.cer": root, '"/data': f'"{folder}', ".getOrCreate": MASTER}
        for name in self.programs:
            for old, new in replaced.items():
                assert old in self.programs[name], (old, self.programs[name])
                self.programs[name] = self.programs[name].replace(old, new)

    def bare(self, processes: int) -> float:
        """Seconds that so many processes take, each with its share of the files."""
        for file in self.folder.glob("bare-*"):
            file.unlink()
        started = time.monotonic()
        running = []
        for index in range(processes):
            with open(self.folder / f"bare-{index}.jsonl", "wb") as output:
                command = [*self.command, *self.files[index::processes]]
                running.append(subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL))
        codes = [process.wait() for process in running]
        assert codes == [0] * processes, codes
        return time.monotonic() - started

    def kill_a_worker(self, after: float, ended: threading.Event, killed: list[int]):
        """Kills one of the tool's processes that are descendants of this one, once it has printed something."""
        time.sleep(after)
        while not ended.is_set():
            for process in descendants(os.getpid()):
                try:
                    if os.readlink(f"/proc/{process}/exe") == os.path.realpath(self.command[0]):
                        written = re.search(r"wchar: (\d+)", pathlib.Path(f"/proc/{process}/io").read_text())
                        if int(written[1]) > 0:
                            os.kill(process, signal.SIGKILL)
                            killed.append(process)
                            return
                except OSError:
                    continue
            time.sleep(0.01)


class Session:
    """A process with a Spark session, which runs the rest of a program each time it is told to."""

    def __init__(self, measurement: Measurement, name: str):
        self.verdicts, self.log = measurement.folder / "verdicts", measurement.folder / f"spark-{name}.log"
        opening, line, rest = measurement.programs[name].partition(f"{MASTER}()\n")
        loop = f"print('ready', flush=True)\nfor line in sys.stdin:\n    exec({rest!r})\n    print('done', flush=True)\n"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", f"import sys\n{opening}{line}{loop}"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
            )  # fmt: skip
        self.expect("ready")

    def expect(self, word: str):
        line = self.process.stdout.readline()
        assert line == f"{word}\n", line + self.log.read_text()

    def run(self) -> float:
        """The seconds that the program takes."""
        shutil.rmtree(self.verdicts, ignore_errors=True)
        started = time.monotonic()
        print("run", file=self.process.stdin, flush=True)
        self.expect("done")
        return time.monotonic() - started

    def output(self) -> dict[bytes, int]:
        """The verdicts in the files that a worker, or Spark, has completed."""
        return verdicts(sorted(self.verdicts.glob("part-*")))

    def end(self):
        self.process.stdin.close()
        assert self.process.wait() == 0


def overhead(rounds: list[tuple[float, float]]) -> str:
    return f"{100 * (statistics.median(seconds / bare for seconds, bare in rounds) - 1):+.1f} %"


def descendants(process: int) -> list[int]:
    children = collections.defaultdict(list)
    for status in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            children[int(status.read_text().rpartition(")")[2].split()[1])].append(int(status.parent.name))
        except OSError:
            continue
    found = children[process]
    for child in found:
        found.extend(children[child])
    return found


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    for name in ("tool", "receipts", "root", "folder"):
        parser.add_argument(name, type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--program", action="append")
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    count = write_dataset(arguments.receipts, folder / "receipts")
    arguments.receipts.unlink()
    measurement = Measurement(str(arguments.tool.resolve()), str(arguments.root.resolve()), folder)

    single = measurement.bare(1)
    expected = verdicts([folder / "bare-0.jsonl"])
    assert len(expected) == count
    words = collections.Counter()
    with open(folder / "bare-0.jsonl", "rb") as lines:
        words.update(re.search(rb'"verdict":"(\w+)"', line)[1].decode() for line in lines)
    size = sum(file.stat().st_size for file in measurement.files) / 1e9
    print(f"{count} receipts in {PARTITIONS} files, {size:.2f} GB: {dict(words)}")
    print(f"one process: {single:.1f} s, {count / single:.0f} a second", flush=True)

    started = time.monotonic()
    sessions = {name: Session(measurement, name) for name in arguments.program or measurement.programs}
    print(f"start of Spark: {(time.monotonic() - started) / len(sessions):.1f} s")
    # The tool alone before each program, so that both have the same share of a machine that does other things as well.
    times = collections.defaultdict(list)
    for _ in range(arguments.rounds):
        for name, session in sessions.items():
            bare = measurement.bare(2)
            times[name].append((session.run(), bare))
            assert session.output() == expected, f"{name}: other verdicts"
    for name, rounds in times.items():
        alone = statistics.median(bare for _, bare in rounds)
        print(f"two processes beside {name}: {count / alone:.0f} a second")
        each = ", ".join(f"{seconds:.1f} s after {bare:.1f} s ({overhead([(seconds, bare)])})" for seconds, bare in rounds)
        print(f"{name}: {each}")
        print(f"{name}: {count / statistics.median(seconds for seconds, _ in rounds):.0f} a second, ", end="")
        # The first run in a session includes what the Java virtual machine compiles.
        print(f"median overhead {overhead(rounds)}, without the first round {overhead(rounds[1:] or rounds)}", flush=True)

    for name, session in sessions.items():
        killed, ended = [], threading.Event()
        killer = threading.Thread(target=measurement.kill_a_worker, args=(times[name][-1][0] / 4, ended, killed))
        killer.start()
        session.run()
        ended.set()
        killer.join()
        assert len(killed) == 1 and "Lost task" in session.log.read_text(), "Spark did not notice that a worker was killed"
        assert session.output() == expected, f"{name}: other verdicts after a worker was killed"
        print(f"{name}: a worker was killed, and all {count} verdicts are those of one process", flush=True)
        session.end()


if __name__ == "__main__":
    main()
