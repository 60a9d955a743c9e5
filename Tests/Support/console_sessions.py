# SPDX-License-Identifier: Apache-2.0
"""The console blocks of a page, and a shell that runs their commands.

A console block is a session: a line that begins with "$ " is a command, with further lines where it ends with a backslash
or within quotes; other lines are what it prints, with "…" for what differs. A command ends with exit code 0, unless its
line ends with "# exit code N". The line "<!-- not run: REASON -->" above a block says why the tests of the documentation do
not run it. Nothing but the standard library is imported, so that it runs in an empty Debian."""

import pathlib
import re
import shlex
import signal
import socket
import subprocess
import time
from dataclasses import dataclass, field


@dataclass
class Block:
    language: str
    text: str
    line: int
    reason: str | None


@dataclass
class Command:
    text: str
    line: int
    output: list[str] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        found = re.search(r"# exit code (\d+)$", self.text)
        return int(found[1]) if found else 0


def blocks(page: pathlib.Path) -> list[Block]:
    found, lines = [], page.read_text().splitlines()
    start = None
    for number, line in enumerate(lines):
        if not line.lstrip().startswith("```"):
            continue
        if start is None:
            start = number
            continue
        reason = re.fullmatch(r"<!-- not (?:run|compiled): (.*) -->", lines[start - 1]) if start else None
        text = "\n".join(lines[start + 1 : number])
        found.append(Block(lines[start].strip("` "), text, start + 2, reason[1] if reason else None))
        start = None
    assert start is None, f"{page}: a block does not end"
    return found


def is_complete(command: str) -> bool:
    try:
        shlex.split(command, comments=True)
    except ValueError:
        return False
    return not command.endswith("\\")


def commands(block: Block) -> list[Command]:
    found: list[Command] = []
    for number, line in enumerate(block.text.splitlines(), block.line):
        if found and not is_complete(found[-1].text):
            found[-1].text += "\n" + line
        elif line.startswith("$ "):
            found.append(Command(line.removeprefix("$ "), number))
        else:
            assert found, f"line {number}: output without a command"
            found[-1].output.append(line)
    return found


def is_like(expected: list[str], output: str) -> bool:
    pattern = "\n".join(".*".join(map(re.escape, line.split("…"))) for line in expected)
    # A line of dots alone stands for any number of lines.
    pattern = re.sub(r"^\.\*$", "(?s:.*)", pattern, flags=re.MULTILINE)
    return re.fullmatch(pattern, output.rstrip("\n")) is not None


class Session:
    """A shell that keeps its folder and its variables from line to line, and the ports of this page to itself."""

    def __init__(self, folder: pathlib.Path, state: pathlib.Path, environment: dict[str, str]):
        self.folder, self.state, self.environment = folder, state, environment
        self.ports: dict[str, str] = {}
        self.background: list[subprocess.Popen] = []

    def with_free_ports(self, text: str) -> str:
        def free(found: re.Match) -> str:
            if found[2] not in self.ports:
                with socket.socket() as place:
                    place.bind(("127.0.0.1", 0))
                    self.ports[found[2]] = str(place.getsockname()[1])
            return found[1] + self.ports[found[2]]

        return re.sub(r"(:|: |port[ =]|\.py |webhook )(80\d\d|9000)\b", free, text)

    def run(self, command: Command, timeout: float = 120) -> subprocess.CompletedProcess:
        text = self.with_free_ports(command.text)
        if text.endswith(" &"):
            text = text.removesuffix(" &")
            redirected = re.search(r" > (\S+)$", text)
            output = self.folder / redirected[1] if redirected else self.state / f"output{len(self.background)}"
            with open(output, "wb") as file:
                process = subprocess.Popen(
                    ["bash", "-c", f"exec {text}"], cwd=self.folder, env=self.environment, stdout=file
                )
            self.background.append(process)
            # Servers print a line when they are ready.
            end = time.monotonic() + 120
            while not output.stat().st_size:
                assert time.monotonic() < end and process.poll() is None, f"it did not start: {text}"
                time.sleep(0.02)
            return subprocess.CompletedProcess(text, 0, "", "")
        after = f"status=$?; pwd > {self.state}/folder; env -0 > {self.state}/environment; exit $status"
        done = subprocess.run(
            ["bash", "-c", f"{text}\n{after}"],
            cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL,
        )
        self.folder = pathlib.Path((self.state / "folder").read_text().rstrip("\n"))
        variables = (self.state / "environment").read_text().split("\0")
        self.environment = dict(each.split("=", 1) for each in variables if each)
        return done

    def end(self):
        for process in self.background:
            process.send_signal(signal.SIGTERM)
        for process in self.background:
            process.wait(timeout=30)
