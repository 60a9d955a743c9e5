# SPDX-License-Identifier: Apache-2.0
"""Every example of the README and of the articles: commands run, line by line, in the folder that the quickstart leaves;
Swift is part of a source file that is compiled. console_sessions.py says how a block is read."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

from console_sessions import Command, Session, blocks, commands, is_like

ROOT = pathlib.Path(__file__).resolve().parents[3]
README = ROOT / "README.md"
PAGES = [
    README,
    ROOT / "TestVectors/README.md",
    *sorted(ROOT.glob("Documentation/*.docc/*.md")),
    *sorted(ROOT.glob("Sources/*/*/*.docc/*.md")),
]

REASONS = {
    "asks a store": "needs an account at Apple or Google",
    "builds": "takes minutes; scripts/test has built it already",
    "changes the system": "installs packages, or starts a container",
    "needs a token": "test_token.py runs it with SoftHSM",
    "needs a server": "a web server or a database of one's own",
    "a manifest": "scripts/first-ten-minutes builds a package with one",
    "another library": "which one moves away from; the build does not have it",
    "needs a release": "files of a release that was downloaded",
    "needs a receipt": "one of a real app, which the repository does not have; scripts/first-ten-minutes runs it",
    "needs the language": "test_languages.py runs it where the language is installed",
}


@pytest.fixture(scope="module")
def clone(tmp_path_factory, receipt_tool) -> pathlib.Path:
    """What a clone has but for .build, with the folder that the quickstart leaves."""
    clone = make_clone(tmp_path_factory.mktemp("documentation"))
    # Without a program's name the quickstart would build it.
    options = [[option] for option, name in (("--emulator", "STORE_EMULATOR"), ("--server", "RECEIPT_SERVER")) if name in os.environ]
    for option in options or [[]]:
        done = subprocess.run(["scripts/quickstart", *option], cwd=clone, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    return clone


def make_clone(folder: pathlib.Path) -> pathlib.Path:
    for name in subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split():
        top = folder / name.split("/")[0]
        if not top.exists():
            top.symlink_to(ROOT / top.name)
    return folder


def page_name(page: pathlib.Path) -> str:
    return page.stem if page.stem != "README" else str(page.relative_to(ROOT))


@pytest.mark.server
@pytest.mark.sweep
@pytest.mark.parametrize(
    "page",
    # test_first_ten_minutes.py runs that page.
    [page for page in PAGES if page.stem != "FirstTenMinutes" and any(each.language == "console" for each in blocks(page))],
    ids=page_name,
)
def test_every_command_does_what_the_page_shows(page, clone, tmp_path):
    lines = [each for block in blocks(page) if block.language == "console" and not block.reason for each in commands(block)]
    state = tmp_path / "state"
    state.mkdir()
    environment = os.environ | {"STORE_EMULATOR": os.path.abspath(os.environ["STORE_EMULATOR"])}
    environment["CHECKOUT"] = str(ROOT)
    environment["RECEIPT_TOOL"] = os.path.abspath(os.environ["RECEIPT_TOOL"])
    environment["RECEIPT_SERVER"] = os.path.abspath(os.environ["RECEIPT_SERVER"])
    # Python with the packages that the examples use.
    environment["PATH"] = f"{pathlib.Path(sys.executable).parent}:{environment['PATH']}"
    environment["PYTHONPATH"] = str(ROOT / "Clients/python/src")
    if page == README:
        # It begins before the quickstart.
        folder = tmp_path / "clone"
        folder.mkdir()
        make_clone(folder)
    else:
        folder = make_clone(tmp_path) / "quickstart"
        subprocess.run(["cp", "-r", clone / "quickstart", folder], check=True)
        environment["PATH"] = f"{folder}/bin:{environment['PATH']}"
    session = Session(folder, state, environment)
    try:
        for command in lines:
            done = session.run(command)
            place = f"{page.relative_to(ROOT)}:{command.line}: {command.text}\n{done.stdout}\n{done.stderr}"
            assert done.returncode == command.exit_code, place
            assert not command.output or is_like(command.output, done.stdout), place
    finally:
        session.end()


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_what_is_not_run_has_a_known_reason(page):
    for block in blocks(page):
        assert block.reason is None or block.reason in REASONS, f"{page}:{block.line}: {block.reason}"
        assert block.language not in ("sh", "bash", "shell"), f"{page}:{block.line}: write it as a console session"


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_every_swift_example_is_part_of_a_file_that_is_compiled(page):
    def squeezed(text: str) -> str:
        code = (line.split("   //")[0] for line in text.splitlines() if not line.strip().startswith("//"))
        return re.sub(r"\s", "", "".join(code))

    folders = ["Snippets", "Examples", "Tests/DocumentationTests"]
    sources = [squeezed(file.read_text()) for folder in folders for file in (ROOT / folder).rglob("*.swift")]
    for block in blocks(page):
        if block.language != "swift" or block.reason:
            continue
        lines = block.text.splitlines()
        imports = [squeezed(line) for line in lines if line.startswith("import ")]
        code = squeezed("\n".join(line for line in lines if not line.startswith("import ")))
        assert any(code in source and all(each in source for each in imports) for source in sources), (
            f"{page.relative_to(ROOT)}:{block.line}: is in no file of {', '.join(folders)}"
        )


def test_the_complete_programs_do_what_their_pages_say(clone, tmp_path):
    """The snippets that are whole programs, each with its own page."""
    programs = pathlib.Path(os.environ["KEEP_A_LOG"]).resolve().parent
    folder = tmp_path / "quickstart"
    subprocess.run(["cp", "-r", clone / "quickstart", folder], check=True)
    unkeyed = str(ROOT / "TestVectors/google-play-purchase/key-missing.json")

    def run(program: str, *arguments: str) -> list[str]:
        if not (programs / program).exists():
            pytest.fail(f"{program} was not built: swift build --product {program}")
        command = [programs / program, *arguments]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done
        return done.stdout.splitlines()

    for name in ("sales.audit", "other.audit"):
        subprocess.run([os.path.abspath(os.environ["RECEIPT_TOOL"]), "audit", "init", name], cwd=folder, check=True)
    trail = ("sales.audit", "my-store/root.cer")
    assert run("RecordVerdicts", *trail, "purchase.jws", "alice") == ["grant com.example.app.gems", "entry 0"]
    refused = run("RecordVerdicts", *trail, "purchase.jws", "bob")
    assert refused[0].startswith("refused: checker-refused") and "granted before, in entry 0" in refused[0]
    assert refused[1] == "entry 1"
    assert "signature-mismatch" in run("RecordVerdicts", *trail, "altered.jws", "alice")[0]
    # Genuine, and nothing to grant.
    assert run("RecordVerdicts", "other.audit", "my-store/root.cer", "refunded.jws", "alice") == ["entry 0"]
    # Nothing was decided, and trying again does not help before a key is named.
    undecided = run("RecordVerdicts", *trail, unkeyed, "alice")[0]
    assert undecided.startswith("could not be checked: key-missing") and "(retry)" not in undecided
    # The roots of Apple did not sign these.
    for program in ("VerifyReceipt", "AnswerRequests"):
        assert "chain-untrusted" in run(program, "purchase.jws")[0]
        assert "key-missing" in run(program, unkeyed)[0]
    # Nobody is asked about a receipt that is not genuine.
    key = ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "store.p8"]
    subprocess.run(key, cwd=folder, check=True, capture_output=True)
    assert "chain-untrusted" in run("AskTheStore", "purchase.jws", "store.p8", "ABC", "57246542-96fe-1a63-e053-0824d011072a")[0]


def test_every_python_example_of_the_readme_is_part_of_a_file_that_is_run():
    sources = {file: file.read_text() for file in (ROOT / "Examples").rglob("*.py")}
    console = "\n".join(block.text for page in PAGES for block in blocks(page) if block.language == "console")
    assert sources and all(str(file.relative_to(ROOT)) in console for file in sources)
    for block in blocks(README):
        if block.language == "python":
            assert any(block.text in source for source in sources.values()), f"README.md:{block.line}"


QUESTIONS = ROOT / "Documentation/ReceiptKit.docc/Questions.md"


@pytest.mark.server
def test_each_of_the_twenty_questions_has_an_answer(clone, tmp_path):
    rows = re.findall(r"^\| (\d+) \| ([^|]+) \| ([^|]+) \|$", QUESTIONS.read_text(), flags=re.MULTILINE)
    assert [int(number) for number, _, _ in rows] == list(range(1, 21))
    folder, state = tmp_path / "quickstart", tmp_path / "state"
    subprocess.run(["cp", "-r", clone / "quickstart", folder], check=True)
    state.mkdir()
    session = Session(folder, state, os.environ | {"PATH": f"{folder}/bin:{os.environ['PATH']}"})
    # What the answers begin from: a notification, and proofs.
    for line in [
        "receipt-tool sign --identity my-store --format signed-notification --output notification.jws notification.json",
        "receipt-tool audit prove verdicts.audit 0 -o verdict.tlog-proof",
        "receipt-tool audit history verdicts.audit 2000000000000001 --proofs proofs",
        "digest=$(receipt-tool audit show verdicts.audit 0 | awk '$1 == \"policy\" {print $3}'); export digest",
    ]:
        done = session.run(Command(line, 0))
        assert done.returncode == 0, done.stderr
    session.end()
    ran = []
    for number, question, answer in rows:
        pages = [link.rsplit("/", 1)[-1] for link in re.findall(r"<doc:([^>]+)>", answer)]
        assert all(any(page.stem == name for page in PAGES) for name in pages), answer
        found = [each for each in re.findall(r"`(receipt-tool [^`]+)`", answer) if "--credentials" not in each]
        for line in found:
            done = session.run(Command(line.replace("DIGEST", '"$digest"'), 0))
            assert done.returncode == 0 and done.stdout, f"{question}\n{line}\n{done.stderr}"
            ran.append(int(number))
        assert pages or found or "--credentials" in answer, question
    assert ran == [1, 3, 5, 6, 8, 9, 10, 11, 12, 13, 14]
