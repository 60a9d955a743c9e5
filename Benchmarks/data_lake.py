# SPDX-License-Identifier: Apache-2.0
"""usage: data_lake.py TOOL RECEIPTS ROOT FOLDER [--rounds N]

Verifies a dataset with Apache Spark, by the programs of the article VerifyingADataset, and with receipt-tool alone: compares
every verdict, also after a worker was killed, and prints what Spark costs. Run by scripts/data-lake.

RECEIPTS has one receipt a line, of signers under ROOT. FOLDER gets the dataset and the verdicts: three times as much as
RECEIPTS.
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
PARTITIONS = 32


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
                key = line[: line.index(b'"', 8)]
                assert line.startswith(b'{"key":"') and line.endswith(b"}\n"), line
                assert key not in found, f"two verdicts: {line}"
                found[key] = hash(line)
    return found


class Measurement:
    def __init__(self, tool: str, root: str, folder: pathlib.Path):
        self.folder = folder
        self.command = [tool, "verify", "--lines", "--keyed", "--exit-zero", "--json", "--trust", root]
        self.files = sorted((folder / "receipts").glob("*/*"))
        # The article's programs, with this dataset and this tool.
        blocks = re.findall(r"^```python\n(.*?)^```", ARTICLE.read_text(), re.DOTALL | re.MULTILINE)
        self.programs = {"TRANSFORM": blocks[0], "RDD.pipe": blocks[0].split("spark.read")[0] + blocks[1]}
        for name, program in self.programs.items():
            for old, new in {"/usr/bin/receipt-tool": tool, "/data/root.cer": root, "/data": str(folder)}.items():
                assert old in program, (old, program)
                program = program.replace(old, new)
            self.programs[name] = program

    def bare(self, processes: int) -> float:
        """Seconds that so many processes take, each with its share of the files."""
        started = time.monotonic()
        running = []
        for index in range(processes):
            with open(self.folder / f"bare-{index}.jsonl", "wb") as output:
                command = [*self.command, *self.files[index::processes]]
                running.append(subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL))
        codes = [process.wait() for process in running]
        assert codes == [0] * processes, codes
        return time.monotonic() - started

    def spark(self, name: str, kill_after: float | None = None) -> tuple[float, float, int]:
        """Seconds of the program, those after the start of Spark, and how many workers were killed."""
        shutil.rmtree(self.folder / "verdicts", ignore_errors=True)
        # Two workers, and four attempts at a task.
        before, after = self.programs[name].split("getOrCreate()\n")
        program = before + "master('local[2,4]').getOrCreate()\nprint('started', flush=True)\n" + after
        started = time.monotonic()
        with open(self.folder / "spark.log", "wb") as log:
            process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=log, text=True)
            assert process.stdout.readline() == "started\n", (self.folder / "spark.log").read_text()
            ready = time.monotonic()
            killed = []
            if kill_after is not None:
                killer = threading.Thread(target=self.kill_a_worker, args=(kill_after, killed))
                killer.start()
                killer.join()
            code = process.wait()
        ended = time.monotonic()
        assert code == 0, (self.folder / "spark.log").read_text()
        return ended - started, ended - ready, len(killed)

    def kill_a_worker(self, after: float, killed: list[int]):
        """Kills the oldest of the tool's processes that are descendants of this one, once it has printed something."""
        time.sleep(after)
        while not killed:
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
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    count = write_dataset(arguments.receipts, folder / "receipts")
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

    times = collections.defaultdict(list)
    for _ in range(arguments.rounds):
        times["two processes"].append(measurement.bare(2))
        for name in measurement.programs:
            whole, job, _ = measurement.spark(name)
            times[name].append(job)
            times[f"{name}, with the start of Spark"].append(whole)
            assert verdicts(sorted((folder / "verdicts").glob("part-*"))) == expected, f"{name}: other verdicts"
    bare = statistics.median(times["two processes"])
    for name, seconds in times.items():
        median = statistics.median(seconds)
        each = ", ".join(f"{value:.1f}" for value in seconds)
        print(f"{name}: {median:.1f} s ({each}), {count / median:.0f} a second, {100 * (median / bare - 1):+.1f} %")
    sys.stdout.flush()

    for name in measurement.programs:
        _, _, killed = measurement.spark(name, kill_after=bare / 3)
        assert killed == 1
        log = (folder / "spark.log").read_text()
        assert "Lost task" in log, "Spark did not notice that a worker was killed"
        assert verdicts(sorted((folder / "verdicts").glob("part-*"))) == expected, f"{name}: other verdicts after a kill"
        print(f"{name}: a worker was killed; {count} verdicts are those of one process")


if __name__ == "__main__":
    main()
