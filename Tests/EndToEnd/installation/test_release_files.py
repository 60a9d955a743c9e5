# SPDX-License-Identifier: Apache-2.0
"""What stands beside the programs of a release: the bill of materials, and the log that has the checksums of all."""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tarfile

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

ROOT = pathlib.Path(__file__).parents[3]
VERSION = "0.1.0"


def run(*command, **options) -> subprocess.CompletedProcess:
    return subprocess.run([str(each) for each in command], capture_output=True, text=True, timeout=240, **options)


@pytest.fixture(scope="module")
def scratch(receipt_tool, tmp_path_factory) -> pathlib.Path:
    """What SwiftPM resolved for the build of the tool, in a folder that no build locks."""
    built = pathlib.Path(receipt_tool.path).resolve().parents[2]
    if not (built / "workspace-state.json").is_file():
        pytest.skip(f"{receipt_tool.path} is not in a folder that SwiftPM built it in")
    folder = tmp_path_factory.mktemp("scratch")
    for name in ("checkouts", "repositories"):
        (folder / name).symlink_to(built / name)
    shutil.copy(built / "workspace-state.json", folder)
    return folder


def make_bill(output: pathlib.Path, program: str, scratch: pathlib.Path, *libraries: str) -> subprocess.CompletedProcess:
    # The traits of the tests, so that what SwiftPM resolved stays.
    return run(
        ROOT / "Packaging/sbom.py", "--version", VERSION, "--commit", "abc", "--output", output,
        program, scratch, "PostgreSQL,Server,SwiftNIO", ",".join(libraries),
        env=os.environ | {"SOURCE_DATE_EPOCH": "1700000000"},
    )  # fmt: skip


@pytest.fixture(scope="module")
def bill(receipt_tool, scratch, tmp_path_factory) -> str:
    output = tmp_path_factory.mktemp("bill") / "bill.cdx.json"
    done = make_bill(output, receipt_tool.path, scratch, "libcurl.so.4", "libpq.so.5")
    assert done.returncode == 0, done.stderr
    return output.read_text()


@pytest.mark.long
class TestBillOfMaterials:
    """Of the programs that were built for the tests."""

    def test_it_is_valid(self, bill):
        validator = JsonStrictValidator(SchemaVersion.V1_6)
        assert validator.validate_str(bill) is None
        assert validator.validate_str(bill.replace('"type": "library"', '"type": "libary"', 1)) is not None

    def test_it_names_what_the_program_is_made_of(self, bill, receipt_tool, scratch):
        document = json.loads(bill)
        components = {each["bom-ref"]: each for each in document["components"]}
        [program] = [each for each in components.values() if each["type"] == "application"]
        contents = pathlib.Path(receipt_tool.path).read_bytes()
        assert program["hashes"] == [{"alg": "SHA-256", "content": hashlib.sha256(contents).hexdigest()}]
        assert document["metadata"]["timestamp"] == "2023-11-14T22:13:20+00:00"

        state = json.loads((scratch / "workspace-state.json").read_text())
        resolved = {
            each["packageRef"]["identity"]: each["state"]["checkoutState"] for each in state["object"]["dependencies"]
        }
        packages = {each["name"]: each for each in components.values() if "pkg:swift/" in each["bom-ref"]}
        assert {"swift-argument-parser", "swift-nio", "hummingbird"} <= set(packages) <= set(resolved)
        for name, package in packages.items():
            assert package["version"] == resolved[name]["version"], name
            assert resolved[name]["revision"] in package["externalReferences"][0]["comment"], name
            assert package["licenses"] == [{"license": {"id": "Apache-2.0"}}], name

        # libcrypto is linked; libcurl and libpq are loaded.
        linked = {each["name"]: each["version"] for each in components.values() if "pkg:deb/" in each["bom-ref"]}
        for library in ("libssl3", "libsqlite3-0", "libc6", "libcurl4", "libpq5"):
            found = run("dpkg-query", "--show", "--showformat=${Version}", library).stdout
            assert linked[library] == found, library
        swift = next(each for each in components.values() if each["name"] == "swift")
        assert swift["version"] in run("swift", "--version").stdout

    def test_what_depends_on_what_is_in_it(self, bill):
        document = json.loads(bill)
        references = {each["bom-ref"] for each in document["components"]} | {"receipt-kit"}
        assert {each["ref"] for each in document["dependencies"]} == references
        reached, waiting = set(), ["receipt-kit"]
        edges = {each["ref"]: each["dependsOn"] for each in document["dependencies"]}
        while waiting:
            reference = waiting.pop()
            if reference not in reached:
                reached.add(reference)
                waiting += edges[reference]
        assert reached == references

    def test_a_library_of_no_package_is_refused(self, scratch, tmp_path):
        (tmp_path / "own.c").write_text("int own(void) { return 0; }\n")
        (tmp_path / "main.c").write_text("int own(void);\nint main(void) { return own(); }\n")
        library, program = tmp_path / "libown.so", tmp_path / "program"
        run("cc", "-shared", "-fPIC", tmp_path / "own.c", "-o", library, check=True)
        run("cc", tmp_path / "main.c", library, "-o", program, check=True)
        done = make_bill(tmp_path / "bill", str(program), scratch)
        assert done.returncode == 1 and "libown.so" in done.stderr and "belongs to no package" in done.stderr
        assert not (tmp_path / "bill").exists()


class TestRelease:
    """The last job of the workflow: two architectures, the log with its key in the environment, one folder of files."""

    @pytest.fixture
    def release(self, receipt_tool, tmp_path):
        made = receipt_tool.run("audit", "init", str(tmp_path / "releases.audit"), "--origin", "receiptkit.dev/releases")
        assert made.code == 0, made.err
        key = tmp_path / "releases.audit.key"
        self.key = key.read_text()
        key.unlink()
        # The tool of the archive is that of the tests.
        stand_in = tmp_path / "bin/receipt-tool"
        stand_in.parent.mkdir()
        stand_in.write_text(f'#!/bin/sh\nexec "{receipt_tool.path}" "$@"\n')
        stand_in.chmod(0o755)
        for architecture, machine in (("amd64", "x86_64"), ("arm64", "aarch64")):
            dist = tmp_path / "dist" / architecture
            dist.mkdir(parents=True)
            with tarfile.open(dist / f"receipt-tool-{VERSION}-linux-{machine}.tar.gz", "w:gz") as archive:
                archive.add(stand_in, f"receipt-tool-{VERSION}-linux-{machine}/bin/receipt-tool")
            (dist / f"receipt-tool_{VERSION}_{architecture}.deb").write_text(architecture)
            (dist / "Containerfile").write_text("FROM scratch\n")
            self.sign(dist)
        return tmp_path

    @staticmethod
    def sign(dist: pathlib.Path) -> None:
        names = [each.name for each in dist.iterdir() if each.is_file() and not re.match("SHA256SUMS|releases", each.name)]
        sums = run("sha256sum", "--", *names, cwd=dist, check=True).stdout
        (dist / "SHA256SUMS").write_text(sums)

    def collect(self, folder: pathlib.Path, assets="assets", **environment) -> subprocess.CompletedProcess:
        return run(
            ROOT / "Packaging/collect-release", VERSION, folder / "releases.audit", folder / "dist", folder / assets,
            env=os.environ | {"RELEASE_LOG_KEY": self.key} | environment,
        )  # fmt: skip

    def test_it_can_be_verified_as_the_page_says(self, release, receipt_tool):
        done = self.collect(release)
        assert done.returncode == 0, done.stderr
        assert not (release / "releases.audit.key").exists()
        assets = release / "assets"
        assert all(each.is_file() for each in assets.iterdir())
        page = (ROOT / "Documentation/ReceiptKit.docc/Install.md").read_text()
        [block] = re.findall(r"<!-- not run: needs a release -->\n```console\n(.*?)```", page, re.DOTALL)
        commands = re.sub(r"^\$ ", "", block, flags=re.MULTILINE).replace("receipt-tool", receipt_tool.path)
        for architecture in ("amd64", "arm64"):
            checked = run("sh", "-e", "-c", commands.replace("amd64", architecture), cwd=assets)
            assert checked.returncode == 0, checked.stderr
            assert f"receipt-tool_{VERSION}_{architecture}.deb: OK" in checked.stdout
        # A file that was changed, and checksums that were changed with it.
        package = assets / f"receipt-tool_{VERSION}_amd64.deb"
        before = hashlib.sha256(package.read_bytes()).hexdigest()
        package.write_text("forged")
        assert run("sh", "-e", "-c", commands, cwd=assets).returncode != 0
        sums = assets / "SHA256SUMS-amd64"
        sums.write_text(sums.read_text().replace(before, hashlib.sha256(b"forged").hexdigest()))
        assert run("sh", "-e", "-c", commands, cwd=assets).returncode != 0
        assert run("sha256sum", "--check", "--ignore-missing", sums.name, cwd=assets).returncode == 0

    def test_a_version_is_released_once(self, release):
        assert self.collect(release).returncode == 0
        again = self.collect(release, "again")
        assert again.returncode == 0, again.stderr
        dist = release / "dist/arm64"
        (dist / f"receipt-tool_{VERSION}_arm64.deb").write_text("another")
        self.sign(dist)
        other = self.collect(release, "other")
        assert other.returncode == 1 and "a version is released once" in other.stderr

    def test_what_was_changed_since_it_was_built_is_refused(self, release):
        (release / f"dist/amd64/receipt-tool_{VERSION}_amd64.deb").write_text("forged")
        done = self.collect(release)
        assert done.returncode == 1 and "was changed since it was built" in done.stderr

    def test_there_is_no_release_without_the_log_or_its_key(self, release):
        done = self.collect(release, RELEASE_LOG_KEY="")
        assert done.returncode == 1 and "RELEASE_LOG_KEY" in done.stderr
        (release / "assets").rmdir()
        (release / "releases.audit.pub").unlink()
        done = self.collect(release)
        assert done.returncode == 1 and "releases.audit.pub is missing" in done.stderr
