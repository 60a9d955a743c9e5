#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: Packaging/sbom.py --version VERSION [--commit COMMIT] --output FILE (PROGRAM SCRATCH TRAITS LIBRARIES)…

Writes the bill of materials of programs that were built here, in the JSON of CycloneDX 1.6: each program with its
SHA-256, the Swift packages that were resolved for it, Swift's runtime with ICU, and the Debian packages of the libraries
that it links dynamically, with the versions that it was built against. Vulnerability scanners read it.

PROGRAM is a file; SCRATCH the folder that SwiftPM built it in; TRAITS and LIBRARIES are lists with commas, or empty. A
library is one that the program loads by itself, such as libcurl.so.4, or one of the same version as a static one in it. The time in it is SOURCE_DATE_EPOCH.

It fails if a library belongs to no Debian package and not to Swift, or if a package has another licence than those in
LICENCES: Packaging/copyright has to name it.
"""

import argparse
import datetime
import functools
import hashlib
import json
import os
import re
import subprocess
import sys
import urllib.parse
import uuid
from pathlib import Path

# The first line of a licence's text, and its SPDX identifier.
LICENCES = {"Apache License": "Apache-2.0", "MIT License": "MIT"}
ROOT = Path(__file__).resolve().parent.parent


def output(*command: str | Path) -> str:
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    if run.returncode != 0:
        sys.exit(f"sbom: {' '.join(map(str, command))}: exit code {run.returncode}\n{run.stderr}")
    return run.stdout


class Bill:
    """Components by reference, and what each depends on."""

    def __init__(self) -> None:
        self.components: dict[str, dict] = {}
        self.dependencies: dict[str, set[str]] = {}

    def add(self, reference: str, **members) -> str:
        self.components[reference] = {"bom-ref": reference, **members}
        self.dependencies.setdefault(reference, set())
        return reference


def licence(folder: Path) -> str:
    for file in sorted(folder.glob("LICEN[CS]E*")):
        first = file.read_text().strip().splitlines()[0].strip()
        if first in LICENCES:
            return LICENCES[first]
        sys.exit(f"sbom: {file} begins with {first!r}, which is not in LICENCES")
    sys.exit(f"sbom: {folder} has no licence")


@functools.cache
def swift_library_folder() -> Path:
    info = json.loads(output("swift", "-print-target-info"))
    return Path(info["paths"]["runtimeResourcePath"]).resolve()


def add_runtime(bill: Bill) -> list[str]:
    """Swift's standard library, Foundation and libdispatch, and the ICU in Foundation, linked statically or not."""
    version = re.search(r"\((swift-(\S+)-RELEASE)\)", output("swift", "--version"))
    if not version:
        sys.exit("sbom: this compiler is no release of Swift, so that its version is unknown")
    header = swift_library_folder() / "_foundation_unicode/uvernum.h"
    icu = re.search(r'define U_ICU_VERSION "(.*)"', header.read_text())[1]
    apache = [{"license": {"id": "Apache-2.0"}}]
    runtime = bill.add(
        f"pkg:github/swiftlang/swift@{version[1]}", type="framework", name="swift", version=version[2],
        description="Swift's standard library, Foundation and libdispatch", licenses=apache,
        purl=f"pkg:github/swiftlang/swift@{version[1]}",
    )  # fmt: skip
    unicode = bill.add(
        f"pkg:github/unicode-org/icu@release-{icu.replace('.', '-')}", type="library", name="icu", version=icu,
        description="International Components for Unicode, in Foundation", licenses=[{"license": {"id": "Unicode-3.0"}}],
        purl=f"pkg:github/unicode-org/icu@release-{icu.replace('.', '-')}",
    )  # fmt: skip
    bill.dependencies[runtime].add(unicode)
    return [runtime]


def add_packages(bill: Bill, scratch: Path, traits: str) -> list[str]:
    """The Swift packages that were resolved with the traits; those that ours names are returned."""
    options = ["--scratch-path", scratch, *(["--traits", traits] if traits else [])]
    tree = json.loads(output("swift", "package", *options, "show-dependencies", "--format", "json"))
    resolved = json.loads((scratch / "workspace-state.json").read_text())["object"]["dependencies"]
    states = {each["packageRef"]["identity"]: each for each in resolved}

    def add(package: dict) -> str:
        state = states[package["identity"]]
        revision = state["state"]["checkoutState"]["revision"]
        url = package["url"].removesuffix(".git")
        name = re.fullmatch(r"https://github\.com/([^/]+/[^/]+)", url)
        if not name:
            sys.exit(f"sbom: {url} is not on github.com, so that its package URL is unknown")
        purl = f"pkg:swift/github.com/{name[1]}@{package['version']}"
        reference = bill.add(
            purl, type="library", name=package["identity"], version=package["version"], purl=purl,
            licenses=[{"license": {"id": licence(scratch / "checkouts" / state["subpath"])}}],
            externalReferences=[{"type": "vcs", "url": package["url"], "comment": f"commit {revision}"}],
        )  # fmt: skip
        bill.dependencies[reference].update(map(add, package["dependencies"]))
        return reference

    return [add(each) for each in tree["dependencies"]]


def loaded_path(library: str) -> str:
    """Where the dynamic linker finds a library by its name."""
    found = re.search(rf"^\s*{re.escape(library)} .*=> (/\S+)$", output("/sbin/ldconfig", "-p"), re.MULTILINE)
    if not found:
        sys.exit(f"sbom: {library} is not installed, so that its version is unknown")
    return found[1]


@functools.cache
def debian_package(path: str) -> tuple[str, str, str] | None:
    """The package of a file, with its architecture and version."""
    # The database has the paths of before /lib became a link to /usr/lib.
    for candidate in {path: 0, os.path.realpath(path): 0, os.path.realpath(path).removeprefix("/usr"): 0}:
        run = subprocess.run(["dpkg-query", "--search", candidate], capture_output=True, text=True)
        if run.returncode == 0:
            name = run.stdout.split(": ")[0]
            fields = "${Package}\t${Architecture}\t${Version}"
            return tuple(output("dpkg-query", "--show", f"--showformat={fields}", name).split("\t"))
    return None


def add_libraries(bill: Bill, files: list[str]) -> list[str]:
    """The Debian packages of all libraries that the files are linked with."""
    release = dict(re.findall(r'^(\w+)="?(.*?)"?$', Path("/etc/os-release").read_text(), re.MULTILINE))
    paths = {path for file in files for path in re.findall(r"(?:=> |^\s+)(/\S+) \(0x", output("ldd", file), re.MULTILINE)}
    references = set()
    for path in sorted(paths | set(files[1:])):
        package = debian_package(path)
        if not package:
            # Part of Swift's runtime, in a build that is not static.
            if Path(path).resolve().is_relative_to(swift_library_folder()):
                continue
            sys.exit(f"sbom: {path}, with which {files[0]} is linked, belongs to no package")
        name, architecture, version = package
        system = release["ID"]
        purl = f"pkg:deb/{system}/{name}@{urllib.parse.quote(version)}?arch={architecture}&distro={system}-{release['VERSION_ID']}"
        references.add(bill.add(purl, type="library", name=name, version=version, purl=purl))
    return sorted(references)


def main() -> None:
    parser = argparse.ArgumentParser(usage=__doc__.splitlines()[0].removeprefix("usage: "))
    parser.add_argument("--version", required=True)
    parser.add_argument("--commit", default="")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("programs", nargs="+")
    options = parser.parse_args()
    if len(options.programs) % 4:
        parser.error("a program is followed by its scratch folder, its traits and its libraries")

    bill = Bill()
    runtime = add_runtime(bill)
    programs = []
    for program, scratch, traits, libraries in zip(*[iter(options.programs)] * 4, strict=True):
        contents = Path(program).read_bytes()
        loaded = [loaded_path(each) for each in filter(None, libraries.split(","))]
        reference = bill.add(
            Path(program).name, type="application", name=Path(program).name, version=options.version,
            hashes=[{"alg": "SHA-256", "content": hashlib.sha256(contents).hexdigest()}],
            licenses=[{"license": {"id": "Apache-2.0"}}],
        )  # fmt: skip
        linked = add_libraries(bill, [os.path.realpath(program), *loaded])
        bill.dependencies[reference].update(runtime, add_packages(bill, Path(scratch).resolve(), traits), linked)
        programs.append(reference)

    time = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.UTC)
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": time.isoformat(),
            "lifecycles": [{"phase": "build"}],
            "tools": {"components": [{"type": "application", "name": "Packaging/sbom.py", "version": options.version}]},
            "component": {
                "bom-ref": "receipt-kit",
                "type": "application",
                "name": "receipt-kit",
                "version": options.version,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
                "externalReferences": [{"type": "vcs", "url": "https://github.com/receiptkit/receipt-kit"}],
                "properties": [{"name": "commit", "value": options.commit}] if options.commit else [],
            },
        },
        "components": [bill.components[each] for each in sorted(bill.components)],
        "dependencies": [
            {"ref": reference, "dependsOn": sorted(others)}
            for reference, others in sorted({"receipt-kit": set(programs), **bill.dependencies}.items())
        ],
    }
    # The same programs have the same number.
    hashes = "".join(each["hashes"][0]["content"] for each in document["components"] if "hashes" in each)
    document["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, hashes)}"
    options.output.write_text(json.dumps(document, indent=2, sort_keys=True) + "\n")
    print(f"sbom: {len(document['components'])} components in {options.output}", file=sys.stderr)


main()
