# SPDX-License-Identifier: Apache-2.0
"""The contract of the command line: exit codes, standard input, JSON, files, help."""

import itertools
import json
import os
import re
import shlex
import stat
import subprocess

import pytest

import samples
from independent import jws, pki, transaction_receipt
from tool import INTERNAL, INVALID, UNDETERMINED, UNREADABLE, USAGE, VALID

CANNOT_CREATE = 73

# What an example of the help may run.
EXECUTABLES = {"receipt-tool", "curl", "pg_dump", "$(receipt-tool"}


@pytest.fixture(scope="module")
def receipts(store, rsa_store, tmp_path_factory):
    """One receipt of each verdict."""
    folder = tmp_path_factory.mktemp("receipts")
    (folder / "valid").write_text(jws.sign(samples.TRANSACTION, store.leaf()))
    (folder / "invalid").write_text(jws.sign(samples.TRANSACTION, pki.Store().leaf()))
    (folder / "undetermined").write_bytes(transaction_receipt.sign(rsa_store.leaf("rsa2048")))
    return folder


@pytest.fixture(scope="module")
def identity(receipt_tool, tmp_path_factory):
    folder = tmp_path_factory.mktemp("identity") / "store"
    run = receipt_tool.run("identity", "create", folder, "--organization", "Testing & Söhne", "--days", "30")
    assert run.code == VALID, run.err
    return folder


@pytest.fixture(scope="module")
def both(trust, rsa_trust):
    return [*trust, *rsa_trust]


class TestExitCodes:
    @pytest.mark.parametrize(
        ("names", "code"),
        [
            (["valid"], VALID),
            (["valid", "valid"], VALID),
            (["invalid"], INVALID),
            (["undetermined"], UNDETERMINED),
            (["valid", "invalid"], INVALID),
            (["valid", "undetermined"], UNDETERMINED),
            (["undetermined", "invalid", "valid"], INVALID),
        ],
    )
    @pytest.mark.parametrize("options", [[], ["--json"]], ids=["text", "json"])
    def test_of_verify(self, receipt_tool, receipts, both, names, code, options):
        run = receipt_tool.run("verify", *options, *both, *(receipts / name for name in names))
        assert run.code == code, run.out + run.err
        assert run.out

    def test_unreadable_inputs(self, receipt_tool, receipts, both, tmp_path):
        for path in (tmp_path / "absent", tmp_path, "/proc/self/mem"):
            run = receipt_tool.run("verify", *both, path)
            assert run.code == UNREADABLE, (path, run)
            assert str(path) in run.err
        # The others are verified all the same.
        run = receipt_tool.run("verify", "--json", *both, tmp_path / "absent", receipts / "valid")
        assert run.code == UNREADABLE
        assert [line.get("verdict", line["type"]) for line in run.lines] == ["error", "valid"]

    def test_a_file_that_may_not_be_read(self, receipt_tool, both, tmp_path):
        file = tmp_path / "secret"
        file.write_text("x")
        file.chmod(0)
        if os.access(file, os.R_OK):
            pytest.skip("root may read everything")
        assert receipt_tool.run("verify", *both, file).code == UNREADABLE

    @pytest.mark.parametrize(
        "arguments",
        [
            ["verify"],
            ["verify", "--no-such-option", "-"],
            ["verify", "--environment", "mars", "-"],
            ["verify", "--time", "yesterday", "-"],
            ["verify", "--device-id", "xyz", "-"],
            ["verify", "--app-apple-id", "1e3", "-"],
            ["no-such-command"],
            ["identity", "create"],
            ["identity", "create", "x", "--algorithm", "md5"],
            ["identity", "create", "x", "--days", "-1"],
            ["sign", "--format", "signed-transaction", "-"],
            ["sign", "--identity", "x", "--format", "no-such-format", "-"],
        ],
        ids=" ".join,
    )
    def test_wrong_command_lines(self, receipt_tool, arguments, tmp_path):
        run = receipt_tool.run(*arguments, cwd=tmp_path)
        assert run.code == USAGE, run
        assert run.err and not run.out
        assert not list(tmp_path.iterdir())

    def test_trust_that_cannot_be_read(self, receipt_tool, receipts, tmp_path):
        (tmp_path / "garbage.cer").write_bytes(b"\x30\x03abc")
        for option in ("--trust", "--intermediate"):
            for path in (tmp_path / "absent.cer", tmp_path / "garbage.cer"):
                run = receipt_tool.run("verify", option, path, receipts / "valid")
                assert run.code in (USAGE, UNREADABLE)
                assert str(path) in run.err and not run.out


    def test_intermediates_come_from_a_folder(self, receipt_tool, receipts, rsa_store, rsa_trust, tmp_path):
        options = [*rsa_trust, "--intermediate", tmp_path]
        run = receipt_tool.run("verify", *options, receipts / "undetermined")
        assert run.code == UNREADABLE and str(tmp_path) in run.err and ".cer" in run.err
        (tmp_path / "issuer.CER").write_bytes(rsa_store.intermediate.der)
        (tmp_path / "README").write_text("no certificate")
        run = receipt_tool.run("verify", "--json", *options, receipts / "undetermined")
        assert run.code == VALID and run.lines[0]["verdict"] == "valid", run.out + run.err

    @pytest.mark.parametrize(
        ("typed", "meant"), [("verfy x", "verify"), ("audit fidn t", "find"), ("Inspect x", "inspect")]
    )
    def test_a_misspelt_command(self, receipt_tool, typed, meant):
        run = receipt_tool.run(*typed.split())
        assert run.code == USAGE and f"Did you mean '{meant}'?" in run.err and not run.out

    def test_control_characters_of_a_file_name(self, receipt_tool, tmp_path):
        name = tmp_path / "a\x1b[31m\nVALID"
        for command in ("verify", "inspect"):
            run = receipt_tool.run(command, name)
            assert run.code == UNREADABLE and "\x1b" not in run.err and run.err.count("\n") == 1, run.err
        name.write_text("hello")
        run = receipt_tool.run("inspect", name)
        assert run.code == INVALID and "\x1b" not in run.err and run.err.count("\n") == 1, run.err

    @pytest.mark.parametrize("name", ["production", "Production", "PRODUCTION"])
    def test_environments_in_any_case(self, receipt_tool, receipts, trust, name):
        run = receipt_tool.run("verify", *trust, "--environment", name, receipts / "valid")
        assert run.code == VALID, run.out + run.err

    def test_a_command_line_that_cannot_be_read_is_no_success(self, receipt_tool):
        if subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode:
            pytest.skip("this user may not mount over /proc")
        script = 'mount --make-rprivate / && mount -t tmpfs none /proc && exec "$@"'
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-c", script, "sh", receipt_tool.path, "verify", "/dev/null"],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert (done.returncode, done.stdout) == (INTERNAL, ""), done
        assert "/proc" in done.stderr


class TestVerifyOutput:
    def test_the_json_of_a_valid_receipt(self, receipt_tool, receipts, store, trust):
        (line,) = receipt_tool.run("verify", "--json", *trust, receipts / "valid").lines
        stated = {
            "source": str(receipts / "valid"),
            "verdict": "valid",
            "format": "signed-transaction",
            "environment": "Production",
            "bundleId": samples.BUNDLE,
            "signedDate": samples.SIGNED_TEXT,
            "standing": "expired",
            "grantsAccess": False,
            "transactions": [samples.TRANSACTION_REPORTED],
        }
        assert {key: line.get(key) for key in stated} == stated
        signer = line["signer"]
        assert re.fullmatch("[0-9a-f]{64}", signer["sha256"])
        assert re.fullmatch("[0-9a-f]{64}", signer["rootSha256"])
        assert (signer["sha256"], signer["algorithm"]) == (store.leaf().sha256, "ES256")
        assert "reason" not in line and "index" not in line

    def test_the_json_of_an_invalid_receipt(self, receipt_tool, receipts, trust):
        (line,) = receipt_tool.run("verify", "--json", *trust, receipts / "invalid").lines
        assert line["verdict"] == "invalid"
        assert line["reason"]["code"] == "chain-untrusted"
        assert len(line["reason"]["message"]) > 20
        # Nothing that was not verified is reported as if it were.
        for field in ("environment", "bundleId", "signedDate", "signer", "transactions"):
            assert field not in line

    def test_the_text_says_what_is_wrong(self, receipt_tool, receipts, both):
        run = receipt_tool.run("verify", *both, receipts / "invalid")
        assert "invalid" in run.out.lower() and "chain-untrusted" in run.out
        run = receipt_tool.run("verify", *both, receipts / "valid")
        assert "valid" in run.out.lower() and samples.BUNDLE in run.out

    def test_control_characters_do_not_reach_the_terminal(self, receipt_tool, store, trust):
        payload = samples.TRANSACTION | {"productId": "\x1b[2Jred\u202e\x07", "bundleId": "a\nb"}
        receipt = jws.sign(payload, store.leaf()).encode()
        for command in ("verify", "inspect"):
            options = trust if command == "verify" else []
            run = receipt_tool.run(command, *options, "-", stdin=receipt)
            assert not set("\x1b\x07\u202e") & set(run.out + run.err), run.out

    def test_standard_input(self, receipt_tool, receipts, trust):
        run = receipt_tool.run("verify", "--json", *trust, "-", stdin=(receipts / "valid").read_bytes())
        assert run.code == VALID and run.lines[0]["source"] == "-"

    def test_explanations_go_to_standard_error(self, receipt_tool, receipts, trust):
        run = receipt_tool.run("verify", "--json", "--explain", *trust, receipts / "valid")
        assert len(run.lines) == 1 and run.err


class TestLines:
    def test_order_and_index(self, receipt_tool, receipts, both):
        names = ["valid", "invalid", "undetermined"] * 200
        lines = [(receipts / name).read_text() for name in names]
        run = receipt_tool.run("verify", "--lines", "--json", *both, "-", stdin="\n".join(lines).encode())
        assert run.code == INVALID
        assert [line["verdict"] for line in run.lines] == names
        indices = [line["index"] for line in run.lines]
        assert indices == list(range(indices[0], indices[0] + len(names)))

    def test_empty_lines_line_ends_and_the_last_line(self, receipt_tool, receipts, both):
        valid = (receipts / "valid").read_text()
        expected = receipt_tool.run("verify", "--lines", "--json", *both, "-", stdin=f"{valid}\n{valid}\n".encode())
        assert [line["verdict"] for line in expected.lines] == ["valid", "valid"]
        other = receipt_tool.run("verify", "--lines", "--json", *both, "-", stdin=f"{valid}\r\n{valid}".encode())
        assert other.lines == expected.lines
        assert receipt_tool.run("verify", "--lines", "--json", *both, "-", stdin=b"").code == VALID

    @pytest.mark.long
    def test_constant_memory(self, receipt_tool, store, trust, tmp_path):
        """Ten times as many receipts take no more memory."""
        receipt = jws.sign(samples.TRANSACTION, store.leaf()) + "\n"
        some, many = tmp_path / "some", tmp_path / "many"
        some.write_text(receipt * 2_000)
        many.write_text(receipt * 20_000)
        peaks = []
        for path, count in ((some, 2_000), (many, 20_000)):
            run = receipt_tool.run_measured("verify", "--lines", "--json", *trust, path)
            assert run.code == VALID, run.err
            assert run.out.count("\n") == count
            assert run.out.count('"verdict":"valid"') == count
            peaks.append(run.peak_kilobytes)
        assert peaks[1] < peaks[0] + 16_000, peaks
        assert peaks[1] < many.stat().st_size / 1024, peaks

    def test_a_line_without_end(self, receipt_tool, trust):
        """A line longer than the limit is refused, and the lines after it are read."""
        head = subprocess.Popen(["head", "-c", "50000000", "/dev/zero"], stdout=subprocess.PIPE)
        run = receipt_tool.run_measured("verify", "--lines", "--json", *trust, "-", stdin=head.stdout)
        head.wait()
        assert run.code == INVALID
        assert [line["reason"]["code"] for line in run.lines] == ["malformed"]
        assert run.peak_kilobytes < 150_000


class TestIdentity:
    def test_files_and_modes(self, identity):
        assert sorted(path.name for path in identity.iterdir()) == ["chain.pem", "key.pem", "root.cer"]
        assert stat.S_IMODE((identity / "key.pem").stat().st_mode) == 0o600
        assert stat.S_IMODE(identity.stat().st_mode) & 0o077 == 0
        assert (identity / "root.cer").read_bytes()[:1] == b"\x30"
        assert "PRIVATE KEY" in (identity / "key.pem").read_text()

    def test_nothing_is_overwritten_without_being_asked(self, receipt_tool, identity):
        before = {path.name: path.read_bytes() for path in identity.iterdir()}
        run = receipt_tool.run("identity", "create", identity)
        assert run.code == CANNOT_CREATE and run.err
        assert {path.name: path.read_bytes() for path in identity.iterdir()} == before

    def test_not_even_one_of_the_files(self, receipt_tool, tmp_path):
        folder = tmp_path / "store"
        folder.mkdir()
        (folder / "chain.pem").write_text("precious")
        assert receipt_tool.run("identity", "create", folder).code == CANNOT_CREATE
        assert [path.name for path in folder.iterdir()] == ["chain.pem"]
        assert (folder / "chain.pem").read_text() == "precious"

    def test_show_never_shows_the_key(self, receipt_tool, identity):
        secret = (identity / "key.pem").read_text().splitlines()[1]
        for options in ([], ["--json"]):
            run = receipt_tool.run("identity", "show", identity, *options)
            assert run.code == VALID, run.err
            assert secret not in run.out + run.err and "PRIVATE" not in run.out
            assert "Testing & Söhne" in run.out
        json.loads(run.out)

    def test_an_encrypted_key(self, receipt_tool, tmp_path):
        (tmp_path / "passphrase").write_text("correct horse\n")
        secret = ["--passphrase-file", tmp_path / "passphrase"]
        run = receipt_tool.run("identity", "create", tmp_path / "store", *secret)
        assert run.code == VALID, run.err
        assert "ENCRYPTED PRIVATE KEY" in (tmp_path / "store" / "key.pem").read_text()
        sign = ["sign", "--identity", tmp_path / "store", "--format", "signed-transaction", "-"]
        document = json.dumps(samples.TRANSACTION).encode()
        assert receipt_tool.run(*sign, *secret, stdin=document).code == VALID
        run = receipt_tool.run(*sign, stdin=document)
        assert run.code in (USAGE, UNREADABLE) and "passphrase" in run.err

    def test_a_key_of_another_certificate(self, receipt_tool, identity, tmp_path):
        other = tmp_path / "other"
        assert receipt_tool.run("identity", "create", other).code == VALID
        run = receipt_tool.run(
            *("sign", "--key", identity / "key.pem", "--chain", other / "chain.pem"),
            *("--format", "signed-transaction", "-"),
            stdin=json.dumps(samples.TRANSACTION).encode(),
        )
        assert run.code in (USAGE, UNREADABLE) and "does not belong" in run.err
        assert run.out == ""

    def test_a_key_that_others_may_read_is_remarked(self, receipt_tool, tmp_path):
        folder = tmp_path / "store"
        assert receipt_tool.run("identity", "create", folder).code == VALID
        (folder / "key.pem").chmod(0o644)
        run = receipt_tool.run(
            *("sign", "--identity", folder, "--format", "signed-transaction", "-"),
            stdin=json.dumps(samples.TRANSACTION).encode(),
        )
        assert run.code == VALID and "chmod 600" in run.err


class TestSign:
    @pytest.mark.parametrize(
        "document",
        [
            b"",
            b"{}",
            b"[]",
            b"{",
            b'{"transactionId": 1}',
            json.dumps(samples.TRANSACTION | {"productID": "typo"}).encode(),
            json.dumps(samples.TRANSACTION | {"purchaseDate": "yesterday"}).encode(),
            json.dumps({k: v for k, v in samples.TRANSACTION.items() if k != "productId"}).encode(),
        ],
    )
    def test_input_that_says_nothing_clear(self, receipt_tool, identity, document, tmp_path):
        run = receipt_tool.run(
            *("sign", "--identity", identity, "--format", "signed-transaction"),
            *("--output", tmp_path / "out", "-"),
            stdin=document,
        )
        if run.code == VALID:
            # An unknown field is kept: what Apple adds tomorrow can be signed today.
            assert b"productID" in document
            return
        assert run.code in (USAGE, UNREADABLE), run
        assert run.err and not run.out
        assert not (tmp_path / "out").exists()

    def test_to_standard_output(self, receipt_tool, identity):
        run = receipt_tool.run(
            *("sign", "--identity", identity, "--format", "signed-transaction", "-"),
            stdin=json.dumps(samples.TRANSACTION).encode(),
        )
        assert run.code == VALID
        receipt_tool.accepts(run.out, "--trust", identity / "root.cer")

    def test_json(self, receipt_tool, identity):
        run = receipt_tool.run(
            *("sign", "--identity", identity, "--format", "signed-transaction", "--json", "-"),
            stdin=json.dumps(samples.TRANSACTION).encode(),
        )
        assert run.lines[0]["format"] == "signed-transaction"

    def test_an_output_that_cannot_be_written(self, receipt_tool, identity):
        run = receipt_tool.run(
            *("sign", "--identity", identity, "--format", "signed-transaction"),
            *("--output", "/nonexistent/out", "-"),
            stdin=json.dumps(samples.TRANSACTION).encode(),
        )
        assert run.code == CANNOT_CREATE and "/nonexistent/out" in run.err


class TestInspect:
    def test_everything_is_shown_and_marked_unverified(self, receipt_tool, receipts, store):
        run = receipt_tool.run("inspect", receipts / "invalid")
        assert run.code == VALID
        assert "unverified" in run.out.lower()
        assert samples.TRANSACTION["productId"] in run.out and "Receipt Signing" in run.out

    @pytest.mark.parametrize("name", ["valid", "undetermined"])
    def test_the_purchase_stands_before_the_certificates(self, receipt_tool, receipts, name):
        lines = receipt_tool.run("inspect", "--full", receipts / name).out.splitlines()
        assert lines[0].startswith("UNVERIFIED  ") and lines[0].endswith(str(receipts / name))
        assert lines[-1].startswith("UNVERIFIED: ")
        certificates = next(i for i, line in enumerate(lines) if line.startswith("certificates:"))
        purchase = next(i for i, line in enumerate(lines) if line in ("payload:", "purchaseInfo:"))
        assert purchase < certificates

    def test_json(self, receipt_tool, receipts):
        run = receipt_tool.run("inspect", "--json", receipts / "valid", receipts / "undetermined")
        assert run.code == VALID and len(run.lines) == 2

    def test_what_is_no_receipt(self, receipt_tool, tmp_path):
        run = receipt_tool.run("inspect", "-", stdin=b"hello")
        assert run.code == INVALID or run.code == UNREADABLE
        assert receipt_tool.run("inspect", tmp_path / "absent").code == UNREADABLE


def commands(command: dict, path: tuple[str, ...] = ()):
    """The words of each command, from the tool's own description of itself."""
    yield path
    for each in command.get("subcommands", []):
        if each["commandName"] != "help":
            yield from commands(each, (*path, each["commandName"]))


class TestHelp:
    @pytest.mark.parametrize(
        "command", [[], ["verify"], ["sign"], ["identity", "create"], ["identity", "show"], ["inspect"]], ids=str
    )
    def test_examples_and_exit_codes(self, receipt_tool, command):
        run = receipt_tool.run(*command, "--help")
        assert run.code == VALID
        assert "EXAMPLE" in run.out.upper() and "EXIT CODES" in run.out.upper()

    @pytest.mark.long
    def test_every_line_fits_and_examples_can_be_copied(self, receipt_tool):
        """No line is longer than 80 columns, and each example is a command of the tool, over as many lines as it has."""
        examples, named = 0, set()
        for command in commands(json.loads(receipt_tool.run("--experimental-dump-help").out)["command"]):
            run = receipt_tool.run(*command, "--help")
            assert run.code == VALID, run.err
            lines = run.out.splitlines()
            assert not [line for line in lines if len(line) > 80], command
            shown = itertools.dropwhile(lambda line: not re.fullmatch("EXAMPLES?:", line), lines)
            section = "\n".join(itertools.takewhile(str.strip, itertools.islice(shown, 1, None)))
            for line in section.replace("\\\n", "").splitlines():
                words = shlex.split(line, comments=True)
                assert line.startswith("  ") and (not words or line.strip()[0] == "{" or EXECUTABLES & set(words)), line
                examples += 1
                if words[:1] == ["receipt-tool"]:
                    named.update(words[1:2])
        assert examples > 100
        for command in named:
            assert receipt_tool.run(command, "--help").code == VALID, command

    @pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
    def test_completions(self, receipt_tool, shell):
        run = receipt_tool.run("--generate-completion-script", shell)
        assert run.code == VALID and "receipt-tool" in run.out

    def test_version(self, receipt_tool):
        assert re.fullmatch(r"\d+\.\d+\.\d+\S*\n", receipt_tool.run("--version").out)

    def test_a_reader_that_goes_away(self, receipt_tool, receipts, both):
        script = f'"{receipt_tool.path}" verify --json "$@" | head -c 1 >/dev/null; exit "${{PIPESTATUS[0]}}"'
        paths = [str(receipts / "valid")] * 2000
        done = subprocess.run(["bash", "-c", script, "bash", *both, *paths], capture_output=True, timeout=120)
        assert done.returncode == 74, done
        assert b"cannot write to standard output: Broken pipe" in done.stderr
