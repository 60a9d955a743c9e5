# SPDX-License-Identifier: Apache-2.0
"""If output cannot be written to a stream or file, every command ends with exit code 74 and an error."""

import json
import os
import resource
import subprocess

import pytest

import samples
from independent import jws
from tool import INVALID, VALID
from world import RUNS, SECRET, leaf_commands, mount, unmount

CANNOT_CREATE, NOT_WRITTEN = 73, 74
IDS = [f"{name} {' '.join(arguments)}".strip() for name, arguments in RUNS]


@pytest.fixture
def full():
    with open("/dev/full", "wb") as file:
        yield file


@pytest.fixture
def closed_pipe():
    """The writing end of a pipe without a reader."""
    reader, writer = os.pipe()
    os.close(reader)
    yield writer
    os.close(writer)


def test_every_command_is_tried(receipt_tool):
    tried = {name for name, _ in RUNS}
    # Those that ask a server have tests of their own, with an emulator.
    others = {name for name in leaf_commands(receipt_tool) if not name.startswith(("api ", "play ", "lookup ")) and name != "store control"}
    assert others == tried, "world.py has a table of all commands"


class TestStandardOutput:
    @pytest.mark.sweep
    @pytest.mark.parametrize(("name", "arguments"), RUNS, ids=IDS)
    def test_a_full_disk(self, world, full, name, arguments):
        run = world.run(name, arguments, stdout=full)
        assert run.code == NOT_WRITTEN, run.err
        assert "cannot write to standard output: No space left on device" in run.err

    @pytest.mark.sweep
    @pytest.mark.parametrize(("name", "arguments"), RUNS, ids=IDS)
    def test_a_closed_pipe(self, world, closed_pipe, name, arguments):
        run = world.run(name, arguments, stdout=closed_pipe)
        assert run.code == NOT_WRITTEN, run.err
        assert "cannot write to standard output: Broken pipe" in run.err

    @pytest.mark.parametrize(
        "arguments", [["--help"], ["--version"], ["audit", "--help"], ["audit"], ["--generate-completion-script", "zsh"]],
        ids=str,
    )
    def test_help(self, receipt_tool, full, arguments):
        assert receipt_tool.run(*arguments).code == VALID
        run = receipt_tool.run(*arguments, stdout=full)
        assert run.code == NOT_WRITTEN and "No space left" in run.err

    def test_a_stream_that_is_closed(self, receipt_tool, made, tmp_path):
        """The next opened file does not get its descriptor, so that no output goes into it."""
        script = '"$0" audit init "$1/t" --origin example.com/t >&- 2>&- <&-'
        done = subprocess.run(["bash", "-c", script, receipt_tool.path, tmp_path], timeout=60)
        assert done.returncode == NOT_WRITTEN
        assert receipt_tool.run("audit", "fsck", tmp_path / "t").code == VALID

    def test_an_endless_stream_ends_with_its_reader(self, receipt_tool, made):
        script = 'yes "$(cat purchase.jws)" | "$0" verify --trust root.cer --lines --json - | head -n 3'
        command = ["bash", "-c", script + '; exit "${PIPESTATUS[1]}"', receipt_tool.path]
        done = subprocess.run(command, cwd=made.folder, capture_output=True, timeout=60)
        assert done.returncode == NOT_WRITTEN
        assert b"Broken pipe" in done.stderr
        assert len(done.stdout.splitlines()) == 3

    def test_a_limit_in_the_middle(self, world, tmp_path):
        """Verdicts on a disk with space for some: the file has the first ones, and the exit code reports the loss."""
        receipt = (world.folder / "purchase.jws").read_text()
        (world.folder / "many").write_text((receipt + "\n") * 2000)
        path = tmp_path / "verdicts.jsonl"
        with open(path, "wb") as file:
            run = world.run(
                "verify", ["--trust", "root.cer", "--lines", "--json", "many"], stdout=file,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000)),
            )  # fmt: skip
        assert run.code == NOT_WRITTEN and "File too large" in run.err
        lines = path.read_bytes().split(b"\n")[:-1]
        assert [json.loads(line)["index"] for line in lines] == list(range(len(lines)))


class TestStandardError:
    @pytest.mark.sweep
    @pytest.mark.parametrize(("name", "arguments"), RUNS, ids=IDS)
    def test_a_full_disk(self, made, tmp_path, full, name, arguments):
        usual = made.copy(tmp_path / "usual").run(name, arguments)
        run = made.copy(tmp_path / "lost").run(name, arguments, stderr=full)
        # What was to be noted is lost, so that nothing else than the exit code can say that something was.
        assert run.code == (usual.code or (NOT_WRITTEN if usual.err else VALID))
        assert bool(run.out) == bool(usual.out)

    def test_explanations(self, made, full):
        run = made.run("verify", ["--trust", "root.cer", "--explain", "purchase.jws"], stderr=full)
        assert run.code == NOT_WRITTEN and run.out.startswith("VALID")

    def test_a_closed_one_is_meant(self, made):
        command = '"$0" verify --trust root.cer --explain purchase.jws 2>&-'
        assert subprocess.run(["bash", "-c", command, made.tool.path], cwd=made.folder, timeout=60).returncode == VALID


FILES = {
    "sign": (["--identity", "identity", "--format", "signed-transaction", "purchase.json", "--output", "{path}"], True),
    "audit prove": (["trail", "0", "-o", "{path}", "--overwrite"], True),
    "audit history": (["trail", samples.TRANSACTION["originalTransactionId"], "--proofs", "new"], False),
    "audit init": (["new"], False),
    "audit export": (["trail", "new"], False),
    "audit checkpoint": (["trail"], False),
    "audit migrate": (["trail", "new"], False),
    "audit witness": (["new", "--create", "w"], False),
    "identity create": (["new"], False),
    "identity issue": (["authority", "new", *SECRET], False),
    "identity intermediate": (["authority", *SECRET], False),
    "identity responder": (["authority", "new", *SECRET], False),
    "identity revoke": (["authority", "first/chain.pem", "--reason", "superseded"], False),
    "identity crl": (["authority", *SECRET, "-o", "{path}"], True),
    "identity ocsp": (["authority", "request.der", "--responder", "responder", "-o", "{path}"], True),
    "store init": (["--store", "new"], False),
    "store buy": (["--store", "shop", "com.example.coins", "-o", "{path}"], True),
    "store advance": (["--store", "shop", "--by", "P1M"], False),
}


class TestFiles:
    @pytest.mark.parametrize("name", FILES)
    def test_no_file_can_grow(self, world, name):
        """Every write to a file fails; an existing file is unchanged."""
        arguments, has_path = FILES[name]
        kept = world.folder / "kept"
        kept.write_text("mine")
        world.values = world.values | {"path": str(kept)}
        settings = (world.folder / "shop/store.json").read_bytes()
        before = {path.name for path in world.folder.iterdir()}
        run = world.run(name, arguments, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
        # The checkpoint of a trail of which nothing is new is there already.
        unchanged = name == "audit checkpoint" and run.code == VALID
        assert run.code in (2, CANNOT_CREATE, NOT_WRITTEN) or unchanged, run.out + run.err
        assert unchanged or run.err.startswith("receipt-tool: "), run.err
        assert kept.read_text() == "mine" and (world.folder / "shop/store.json").read_bytes() == settings
        added = {path.name for path in world.folder.iterdir()} - before
        assert not {path for path in added if path.startswith("kept")}, added

    @pytest.mark.parametrize("name", [name for name, (_, has_path) in FILES.items() if has_path])
    def test_a_full_device(self, world, name):
        world.values = world.values | {"path": "/dev/full"}
        run = world.run(name, FILES[name][0])
        assert run.code == NOT_WRITTEN and "/dev/full: No space left on device" in run.err

    @pytest.mark.parametrize("name", [name for name, (_, has_path) in FILES.items() if has_path])
    def test_what_is_replaced(self, world, name):
        """A link is followed, and the file keeps its permissions."""
        target, link = world.folder / "target", world.folder / "link"
        target.write_text("old")
        target.chmod(0o600)
        link.symlink_to(target)
        world.values = world.values | {"path": str(link)}
        run = world.run(name, FILES[name][0])
        assert run.code == VALID, run.err
        assert link.is_symlink() and target.read_bytes() != b"old"
        assert target.stat().st_mode & 0o777 == 0o600

    @pytest.mark.parametrize("name", [name for name, (_, has_path) in FILES.items() if has_path])
    def test_where_no_file_can_be(self, world, name):
        world.values = world.values | {"path": "no/such/folder/file"}
        run = world.run(name, FILES[name][0])
        assert run.code == CANNOT_CREATE and "No such file or directory" in run.err

    @pytest.mark.long
    def test_a_disk_that_fills(self, world, tmp_path):
        disk = tmp_path / "disk"
        mount(disk, "4k")
        try:
            (disk / "receipt").write_text("old")
            world.values = world.values | {"path": str(disk / "receipt")}
            run = world.run("sign", FILES["sign"][0])
            assert run.code == NOT_WRITTEN and "No space left on device" in run.err
            assert [path.name for path in disk.iterdir()] == ["receipt"]
            assert (disk / "receipt").read_text() == "old"
        finally:
            unmount(disk)


class TestRecording:
    """verify --audit prints only recorded verdicts."""

    def test_a_checkpoint_that_cannot_be_stored(self, world):
        (world.folder / "trail.checkpoint.new").mkdir()
        for command in (
            ["verify", "--trust", "root.cer", "--audit", "trail", "--customer", "c", "--json", "purchase.json"],
            ["audit", "append", "trail", "new.jsonl", "--json"],
        ):
            run = world.tool.run(*command, cwd=world.folder)
            assert run.code == NOT_WRITTEN, run.err
            assert "no signed checkpoint covers them" in run.err
            entry = run.lines[0].get("entry", run.lines[0].get("index"))
            assert world.run("audit show", ["trail", str(entry)]).code == VALID
        (world.folder / "trail.checkpoint.new").rmdir()
        assert world.run("audit checkpoint", ["trail"]).code == VALID
        assert world.run("audit fsck", ["trail"]).code == VALID

    @pytest.mark.long
    def test_a_disk_that_fills(self, world, store, tmp_path):
        disk = tmp_path / "disk"
        mount(disk, "1m")
        try:
            root = tmp_path / "root.cer"
            root.write_bytes(store.root.der)
            trail = str(disk / "trail")
            assert world.run("audit init", [trail]).code == VALID
            leaf, number, printed, codes = store.leaf(), 0, [], []
            while not codes:
                assert number < 5000, "the disk does not get full"
                receipts = [jws.sign(samples.TRANSACTION | {"webOrderLineItemId": f"{n}"}, leaf)
                            for n in range(number, number + 50)]  # fmt: skip
                number += 50
                run = world.run(
                    "verify", ["--trust", str(root), "--audit", trail, "--lines", "--json", "-"],
                    stdin="\n".join(receipts).encode(),
                )  # fmt: skip
                printed += [line for line in run.lines if line["type"] == "verdict"]
                if run.code != VALID:
                    codes.append(run.code)
            assert codes == [NOT_WRITTEN], run.err
            assert ("could not be recorded" in run.err) != ("no signed checkpoint covers them" in run.err), run.err
            subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True, capture_output=True)
            assert world.run("audit fsck", [trail]).code == VALID
            for line in printed:
                assert line["verdict"] == "valid"
            shown = world.run("audit show", [trail, *(str(line["entry"]) for line in printed), "--json"])
            assert shown.code == VALID, shown.err
            assert [line["index"] for line in shown.lines] == [line["entry"] for line in printed]
        finally:
            unmount(disk)

    def test_nothing_is_printed_of_what_cannot_be_recorded(self, world):
        """Without any space."""
        run = world.run(
            "verify", ["--trust", "root.cer", "--audit", "trail", "--lines", "--json", "purchase.json"],
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
        )  # fmt: skip
        assert run.code == NOT_WRITTEN and run.err.startswith("receipt-tool: trail: ")
        assert [line["type"] for line in run.lines] == ["error"]


class TestCreation:
    """The same command finishes an interrupted audit init."""

    @pytest.mark.long
    def test_a_disk_that_fills(self, receipt_tool, tmp_path):
        stopped = 0
        for size in range(4, 1500, 12):
            disk = tmp_path / f"disk-{size}"
            mount(disk, f"{size}k")
            try:
                trail = disk / "trail"
                run = receipt_tool.run("audit", "init", trail, "--origin", "example.com/t")
                if run.code != VALID:
                    stopped += 1
                    assert run.code in (2, CANNOT_CREATE, NOT_WRITTEN), run.err
                    subprocess.run(["mount", "-o", "remount,size=8m", disk], check=True, capture_output=True)
                    again = receipt_tool.run("audit", "init", trail, "--origin", "example.com/t")
                    assert again.code == VALID, f"{size}k: {run.err}{again.err}"
                names = {path.name for path in disk.iterdir()}
                assert {"trail", "trail.key", "trail.pub", "trail.checkpoint"} <= names
                assert not {name for name in names if name.endswith(".new")}
                assert receipt_tool.run("audit", "append", trail, "-", stdin=b'{"kind":"x"}').code == VALID
                if run.code == VALID:
                    break
            finally:
                unmount(disk)
        assert stopped > 3 and run.code == VALID

    def test_all_but_the_public_key(self, receipt_tool, tmp_path):
        trail = tmp_path / "trail"
        first = receipt_tool.run("audit", "init", trail, "--origin", "example.com/t", "--json")
        (tmp_path / "trail.pub").unlink()
        again = receipt_tool.run("audit", "init", trail, "--origin", "example.com/t", "--json")
        assert again.code == VALID and again.out == first.out

    def test_the_key_alone(self, receipt_tool, tmp_path):
        trail = tmp_path / "trail"
        first = receipt_tool.run("audit", "init", trail, "--origin", "example.com/t", "--json")
        for path in tmp_path.iterdir():
            if path.name != "trail.key":
                path.unlink()
        again = receipt_tool.run("audit", "init", trail, "--origin", "example.com/t", "--json")
        assert again.code == VALID and again.out == first.out

    @pytest.mark.parametrize(
        "spoil",
        [
            lambda run, trail: run("audit", "append", trail, "-", stdin=b'{"kind":"x"}'),
            lambda run, trail: os.unlink(f"{trail}.key"),
            lambda run, trail: os.unlink(trail),
        ],
        ids=["entries", "another key", "a checkpoint without trail"],
    )
    def test_what_is_no_creation_stays(self, receipt_tool, tmp_path, spoil):
        trail = tmp_path / "trail"
        receipt_tool.run("audit", "init", trail, "--origin", "example.com/t")
        spoil(receipt_tool.run, trail)
        (tmp_path / "trail.pub").unlink()
        before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if not path.name.endswith(("-shm", "-wal"))}
        run = receipt_tool.run("audit", "init", trail, "--origin", "example.com/t")
        assert run.code == CANNOT_CREATE, run.err
        after = {path.name: path.read_bytes() for path in tmp_path.iterdir() if not path.name.endswith(("-shm", "-wal"))}
        assert after.keys() == before.keys()
        assert after.get("trail.key") == before.get("trail.key")


def test_an_invalid_receipt_whose_verdict_is_lost(receipt_tool, made, full):
    """Exit code 1 would mean that the verdict was printed."""
    assert made.run("verify", ["purchase.jws"]).code == INVALID
    assert made.run("verify", ["purchase.jws"], stdout=full).code == NOT_WRITTEN
