# SPDX-License-Identifier: Apache-2.0
"""What commands say, and with which exit code they end, when something other than the receipt or trail is wrong."""

import json
import os
import pathlib
import resource
import signal
import subprocess
import time

import pytest

from tool import UNREADABLE, USAGE, VALID

MALFORMED, NOT_STORED = 65, 74


class TestWords:
    def test_a_line_without_a_key(self, receipt_tool):
        run = receipt_tool.run("verify", "--lines", "--keyed", "--json", "-", stdin=b"no key\n")
        error = run.lines[-1]
        assert (run.code, error["code"], error["exitCode"]) == (MALFORMED, "malformed-input", MALFORMED)

    @pytest.mark.parametrize("flags", [["--json"], ["--lines"], ["--lines", "--json"], ["--explain"]], ids=str)
    def test_a_flag_is_no_option_of_the_file_after_it(self, receipt_tool, flags):
        run = receipt_tool.run("verify", *flags, "no-such.jws")
        assert run.code == UNREADABLE
        assert "receipt-tool: cannot read no-such.jws: " in run.err, run.err

    def test_an_option_is(self, receipt_tool):
        run = receipt_tool.run("verify", "--json", "--trust", "no-such.cer", "-")
        assert run.code == UNREADABLE and "cannot read --trust no-such.cer: " in run.err, run.err
        # It takes a value here, and is a flag of no other command.
        run = receipt_tool.run("store", "init", "--store", "shop", "--catalog", "no-such.json")
        assert run.code == UNREADABLE and "cannot read --catalog no-such.json: " in run.err, run.err


class TestInputThatCannotBeRead:
    """It is there, and can be opened, but reading it fails."""

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("name", "arguments"),
        [("audit append", ["trail", "{path}"]), ("audit append", ["trail", "{path}", "--resume"]),
         ("verify", ["{path}"]), ("verify", ["--lines", "{path}"]), ("verify", ["--trust", "{path}", "purchase.jws"]),
         ("verify", ["--audit", "trail", "--lines", "{path}"]),
         ("inspect", ["{path}"]), ("sign", ["--identity", "identity", "--format", "signed-transaction", "{path}"]),
         ("audit restore-keys", ["copy", "{path}"]), ("audit check", ["{path}", "--key", "trail.pub"]),
         ("audit fsck", ["exported", "--key", "trail.pub", "--since", "{path}"]),
         ("audit find", ["trail", "--receipt-file", "{path}"]),
         ("store init", ["--store", "new", "--catalog", "{path}"])],
    )  # fmt: skip
    def test_of_each_command(self, world, name, arguments):
        run = world.run(name, [argument.replace("{path}", "/proc/self/mem") for argument in arguments])
        assert run.code == UNREADABLE, (run.code, run.err)
        assert "Input/output error" in run.err

    def test_standard_input(self, world):
        with open("/proc/self/mem", "rb") as memory:
            done = subprocess.run([world.tool.path, "audit", "append", "trail", "-", "--json"], stdin=memory,
                                  capture_output=True, cwd=world.folder, timeout=60)  # fmt: skip
        assert done.returncode == UNREADABLE, done.stderr
        assert json.loads(done.stdout.splitlines()[-1])["code"] == "unreadable-input"


class TestNamesThatAreNotUTF8:
    @pytest.mark.parametrize(
        ("name", "arguments"),
        [("audit prove", ["trail", "0", "-o", b"\xff.proof"]), ("audit init", [b"new\xff"]),
         ("identity create", [b"\xc3"]), ("verify", [b"purchase\xff.jws"]), ("verify", [b"--trust=\xfe.cer", "-"])],
    )  # fmt: skip
    def test_no_other_name_is_used(self, world, name, arguments):
        before = sorted(os.listdir(os.fsencode(world.folder)))
        done = subprocess.run(
            [world.tool.path, *name.split(), *arguments, "--json"], capture_output=True, cwd=world.folder, timeout=60
        )
        assert done.returncode == USAGE and b"is not UTF-8" in done.stderr, done.stderr
        assert json.loads(done.stdout)["code"] == "usage"
        assert sorted(os.listdir(os.fsencode(world.folder))) == before

    @pytest.mark.server
    @pytest.mark.parametrize(("program", "option"), [("STORE_EMULATOR", "--state"), ("RECEIPT_SERVER", "--data")])
    def test_of_the_servers(self, tmp_path, program, option):
        done = subprocess.run(
            [os.environ[program], option, os.fsencode(tmp_path) + b"/\xff"], stdin=subprocess.DEVNULL,
            capture_output=True, timeout=60,
        )  # fmt: skip
        assert done.returncode == USAGE and b"is not UTF-8" in done.stderr
        assert os.listdir(tmp_path) == []

    def test_in_a_folder_of_such_a_name(self, world, tmp_path):
        """A relative name is used as it is."""
        folder = os.fsencode(tmp_path) + b"/\xff"
        os.mkdir(folder)
        os.symlink("target", folder + b"/link")
        pathlib.Path(os.fsdecode(folder + b"/target")).write_text("old")
        for name in ("kept", "kept", "link"):
            done = subprocess.run(
                [world.tool.path, "sign", "--identity", world.folder / "identity", "--format", "signed-transaction",
                 world.folder / "purchase.json", "-o", name],
                capture_output=True, cwd=folder, timeout=60,
            )  # fmt: skip
            # A link cannot be followed by a path that is not UTF-8.
            assert done.returncode == (73 if name == "link" else VALID), done.stderr
        assert sorted(os.listdir(folder)) == [b"kept", b"link", b"target"]

    def test_a_passphrase_of_the_environment(self, world):
        environment = {**os.environb, b"SECRET": b"\xff\xfe"}
        options = ["--passphrase-env", "SECRET"]
        made = subprocess.run([world.tool.path, "identity", "create", "encrypted", *options], env=environment,
                              capture_output=True, cwd=world.folder, timeout=60)  # fmt: skip
        assert made.returncode == VALID, made.stderr
        sign = [world.tool.path, "sign", "--identity", "encrypted", "--format", "signed-transaction", "purchase.json"]
        signed = subprocess.run([*sign, *options], env=environment, capture_output=True, cwd=world.folder, timeout=60)
        assert signed.returncode == VALID, signed.stderr
        other = {**os.environb, b"SECRET": "\ufffd\ufffd".encode()}
        refused = subprocess.run([*sign, *options], env=other, capture_output=True, cwd=world.folder, timeout=60)
        assert refused.returncode == UNREADABLE, refused.stderr


class TestKilledCommands:
    """A table of this trail is written while the entries arrive in a pipe that does not end."""

    def unfinished(self, folder):
        return [path.name for path in folder.iterdir() if ".new" in path.name]

    def kill(self, world, number):
        """Ends an export while its table is being written."""
        command = [world.tool.path, "audit", "export", "trail", "--table", "table.csv", "--overwrite"]
        for _ in range(200):
            process = subprocess.Popen(command, cwd=world.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while process.poll() is None and not self.unfinished(world.folder):
                pass
            process.send_signal(signal.SIGSTOP)
            found = self.unfinished(world.folder)
            process.send_signal(number)
            process.send_signal(signal.SIGCONT)
            code = process.wait(timeout=60)
            if found:
                assert code in (-number, VALID)
                if code == -number:
                    return
            (world.folder / "table.csv").unlink(missing_ok=True)
        pytest.fail("the command could not be stopped while it wrote")

    @pytest.fixture
    def large(self, world):
        lines = b"".join(b'{"kind":"verdict","verdict":"valid","id":"%d"}\n' % number for number in range(4000))
        assert world.run("audit append", ["trail", "-"], stdin=lines).code == VALID
        return world

    @pytest.mark.long
    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
    def test_by_a_signal(self, large, number):
        self.kill(large, number)
        assert self.unfinished(large.folder) == []

    def test_by_one_that_cannot_be_caught(self, large):
        self.kill(large, signal.SIGKILL)
        (left,) = self.unfinished(large.folder)
        # Other files are not touched.
        others = ["table.csv.new", "table.csv.x.new", "other.csv.1.new"]
        for name in others:
            (large.folder / name).write_text("mine")
        for _ in range(2):
            run = large.run("audit export", ["trail", "--table", "table.csv", "--overwrite"])
            assert run.code == VALID, run.err
        assert sorted(self.unfinished(large.folder)) == sorted(others) and left not in others

    def test_of_a_process_that_lives(self, large):
        """What another process is writing is not taken for a leftover."""
        path = large.folder / "table.csv.123.new"
        holder = subprocess.Popen(["flock", str(path), "cat"], stdin=subprocess.PIPE)
        while not path.exists() or subprocess.run(["flock", "--nonblock", str(path), "true"]).returncode == 0:
            time.sleep(0.02)
        assert large.run("audit export", ["trail", "--table", "table.csv", "--overwrite"]).code == VALID
        assert path.exists()
        holder.communicate(timeout=60)
        assert large.run("audit export", ["trail", "--table", "table.csv", "--overwrite"]).code == VALID
        assert not path.exists()

    def test_an_ignored_signal_stays_ignored(self, world):
        """As under nohup."""
        process = subprocess.Popen(
            [world.tool.path, "audit", "append", "trail", "-"], cwd=world.folder, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
        )  # fmt: skip
        process.stdin.write(b'{"kind":"verdict","verdict":"valid"}\n')
        process.stdin.flush()
        assert process.stdout.readline().startswith(b"entry ")
        process.send_signal(signal.SIGHUP)
        process.communicate(timeout=60)
        assert process.returncode == VALID


class TestTooFewDescriptors:
    COMMANDS = [
        ("audit fsck", ["trail"]), ("audit rotate-key", ["trail"]), ("audit show", ["trail", "0"]),
        ("audit append", ["trail", "new.jsonl"]), ("audit export", ["trail", "new"]), ("audit prove", ["trail", "0"]),
        ("audit erase", ["trail", "0"]), ("audit reindex", ["trail"]), ("audit checkpoint", ["trail"]),
        ("audit backup", ["trail", "new"]), ("audit migrate", ["trail", "new"]),
        ("audit import", ["new", "exported", "--private-key", "trail.key"]), ("audit fsck", ["exported", "--key", "trail.pub"]),
        ("verify", ["--trust", "root.cer", "--audit", "trail", "purchase.jws"]), ("store advance", ["--store", "shop", "--by", "P1D"]),
        ("store buy", ["--store", "shop", "com.example.coins"]),
    ]  # fmt: skip

    @pytest.mark.sweep
    @pytest.mark.parametrize(("name", "arguments"), COMMANDS, ids=[f"{n} {' '.join(a)}" for n, a in COMMANDS])
    def test_nothing_is_said_to_be_wrong_with_the_trail(self, made, tmp_path, name, arguments):
        usual = made.copy(tmp_path / "usual").run(name, arguments).code
        for limit in (8, 12, 13, 14, 15, 16, 24, 34, 35, 36, 40):
            world = made.copy(tmp_path / f"with-{limit}")
            run = world.run(
                name, arguments, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
            )
            assert run.code in (usual, 2, UNREADABLE, 73, NOT_STORED), (limit, run.code, run.out, run.err)
            assert "NOT INTACT" not in run.out and "SQLiteError(" not in run.err, (limit, run.out, run.err)
