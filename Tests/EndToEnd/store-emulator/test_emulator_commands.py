# SPDX-License-Identifier: Apache-2.0
"""store-emulator as a command: version, help, exit codes, manual and completions, like those of the other commands."""

import os
import pathlib
import re
import subprocess

import pytest

STORE_EMULATOR = os.environ.get("STORE_EMULATOR", "")
REFERENCE = pathlib.Path(__file__).parents[3] / "scripts/command-reference"


def run(*arguments, **options) -> subprocess.CompletedProcess:
    # Without a terminal's width, lines are broken at 80 columns.
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    return subprocess.run(
        arguments, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, env=environment, **options
    )


def test_the_version_is_that_of_the_tool(receipt_tool):
    done = run(STORE_EMULATOR, "--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*\n", done.stdout)
    assert done.stdout == receipt_tool.run("--version").out


def test_help(tmp_path):
    done = run(STORE_EMULATOR, "--help", cwd=tmp_path)
    assert done.returncode == 0 and not list(tmp_path.iterdir())
    assert not [line for line in done.stdout.splitlines() if len(line) > 80]
    for section in ("EXAMPLES:", "EXIT CODES:", "USAGE:", "SERVING:", "GOOGLE PLAY:", "--version"):
        assert section in done.stdout, section


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        ([], 64, "--state"),
        (["--state", "state", "--clock-rate", "-1"], 64, "--clock-rate"),
        (["--state", "state", "--server-port", "1"], 64, "--with-server"),
        (["--state", "state", "--no-such-option"], 64, "--no-such-option"),
        (["--state", "state", "--store", "no-such-folder"], 66, "no-such-folder"),
        (["--state", "state", "--developer-key", "no-such-file"], 66, "no-such-file"),
        (["--state", "state", "--bind", "192.0.2.1"], 69, "192.0.2.1"),
        (["--state", "file/state"], 73, "file/state"),
    ],
)
def test_exit_codes_of_its_manual(tmp_path, arguments, code, reason):
    (tmp_path / "file").touch()
    done = run(STORE_EMULATOR, *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (code, ""), done
    assert reason in done.stderr
    # Each code stands in the help.
    assert re.search(rf"^ +{code} +\w", run(STORE_EMULATOR, "--help").stdout, re.MULTILINE)


def test_manual(tmp_path):
    done = run(REFERENCE, STORE_EMULATOR, "--man", tmp_path, "--date", "2026-01-01")
    assert done.returncode == 0, done.stderr
    assert [page.name for page in tmp_path.iterdir()] == ["store-emulator.1"]
    page = tmp_path / "store-emulator.1"
    linted = run("mandoc", "-T", "lint", "-W", "warning", page)
    assert (linted.returncode, linted.stdout) == (0, ""), linted
    shown = run("mandoc", "-T", "ascii", page).stdout
    shown = re.sub(".\b", "", shown)
    for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "EXIT STATUS"):
        assert f"\n{section}\n" in shown, section
    assert "store-emulator --state <dir> [OPTIONS]" in shown
    # Every option of the help has its place.
    for option in set(re.findall(r"--[a-z][a-z-]+", run(STORE_EMULATOR, "--help").stdout)):
        assert option in shown, option


class TestCompletions:
    @pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
    def test_script(self, shell):
        done = run(STORE_EMULATOR, "--generate-completion-script", shell)
        assert done.returncode == 0 and "store-emulator" in done.stdout
        assert "with-server" in done.stdout

    def test_in_bash(self, tmp_path):
        script = tmp_path / "completions"
        script.write_text(run(STORE_EMULATOR, "--generate-completion-script", "bash").stdout)
        done = run(
            "bash", "-c",
            f'. {script}; COMP_WORDS=(store-emulator --with) COMP_CWORD=1 COMP_LINE="store-emulator --with" COMP_POINT=21; '
            "_store-emulator store-emulator --with store-emulator; echo \"${COMPREPLY[*]}\"",
        )  # fmt: skip
        assert done.stdout.split() == ["--with-server"], done
