# SPDX-License-Identifier: Apache-2.0
"""The bindings of libreceiptkit to other languages: what each needs, how it is built, and how its programs are run."""

import dataclasses
import os
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Callable

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "Bindings"
JNA = pathlib.Path("/usr/share/java/jna.jar")


def library() -> pathlib.Path | None:
    """The library under test, with receiptkit.h beside it."""
    path = os.environ.get("RECEIPTKIT_LIBRARY")
    return pathlib.Path(path).resolve() if path else None


def absence() -> str | None:
    """Why no binding can be tested."""
    found = library()
    if found is None:
        return "RECEIPTKIT_LIBRARY does not name libreceiptkit.so"
    if not found.is_file() or not (found.parent / "receiptkit.h").is_file():
        return f"no libreceiptkit.so with receiptkit.h beside it at {found}"
    return None


def install(folder: pathlib.Path) -> pathlib.Path:
    """Puts the library into a folder by the names that a compiler and a loader look for."""
    found = library()
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("libreceiptkit.so", "libreceiptkit.so.1"):
        (folder / name).symlink_to(found)
    (folder / "receiptkit.h").symlink_to(found.parent / "receiptkit.h")
    return folder


def run(command: list, **options) -> subprocess.CompletedProcess:
    """Runs a command, which must succeed."""
    options = {"capture_output": True, "text": True, "timeout": 300} | options
    done = subprocess.run([str(word) for word in command], **options)
    assert done.returncode == 0, f"{command} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def succeeds(*command: str) -> bool:
    try:
        return subprocess.run(command, capture_output=True, timeout=60).returncode == 0
    except OSError:
        return False


def node_headers() -> pathlib.Path | None:
    """Where Node's headers are: beside its executable, or where Debian's libnode-dev has them."""
    program = shutil.which("node")
    places = [pathlib.Path(program).resolve().parents[1] / "include/node"] if program else []
    places.append(pathlib.Path("/usr/include/node"))
    return next((place for place in places if (place / "node_api.h").is_file()), None)


@dataclasses.dataclass(frozen=True)
class Built:
    """The programs of a binding, ready to be run; `None` for one that it does not have."""

    parity: list
    tests: list | None
    server: Callable[[int], list] | None
    # Where the tests are run.
    folder: pathlib.Path
    environment: dict[str, str] = dataclasses.field(default_factory=dict)

    @property
    def variables(self) -> dict[str, str]:
        return os.environ | self.environment


@dataclasses.dataclass(frozen=True)
class Binding:
    # Why it cannot be tested here.
    absence: Callable[[], str | None]
    # Builds into a folder, with a library that `install` put into another.
    build: Callable[[pathlib.Path, pathlib.Path], Built]


def needs(*programs: str, **others: Callable[[], bool]) -> Callable[[], str | None]:
    def absence() -> str | None:
        missing = [name for name in programs if not shutil.which(name)]
        if not missing:
            missing = [name.replace("_", " ") for name, is_there in others.items() if not is_there()]
        return f"missing: {', '.join(missing)}" if missing else None

    return absence


def go(folder: pathlib.Path, library: pathlib.Path) -> Built:
    # Nothing is fetched, and no setting of the user counts.
    environment = {
        "CGO_ENABLED": "1",
        "CGO_CFLAGS": f"-I{library}",
        "CGO_LDFLAGS": f"-L{library} -Wl,-rpath,{library}",
        "GO111MODULE": "on",
        "GOFLAGS": "-mod=readonly",
        "GOPROXY": "off",
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
    }
    source = FOLDER / "go"
    assert run(["gofmt", "-l", source]).stdout == ""
    options = {"cwd": source, "env": os.environ | environment, "timeout": 600}
    run(["go", "vet", "./..."], **options)
    run(["go", "build", "-o", f"{folder}/", "./parity", "./example"], **options)
    tests = ["go", "test", "-count=1", "-v", "./..."]
    return Built([folder / "parity"], tests, lambda _: [folder / "example"], source, environment)


def php(folder: pathlib.Path, library: pathlib.Path) -> Built:
    source = FOLDER / "php"

    def server(port: int) -> list:
        return ["php", "-d", "ffi.enable=true", "-S", f"127.0.0.1:{port}", source / "example/server.php"]

    environment = {"RECEIPTKIT_HEADER": str(library / "receiptkit.h")}
    return Built(["php", source / "parity.php"], ["php", "tests/run.php"], server, source, environment)


def ruby(folder: pathlib.Path, library: pathlib.Path) -> Built:
    source = FOLDER / "ruby"
    tests = ["ruby", "-w", "test/test_receiptkit.rb", "--verbose"]
    server = ["ruby", "-w", source / "example/server.rb"]
    return Built(["ruby", "-w", source / "parity.rb"], tests, lambda _: server, source)


def node(folder: pathlib.Path, library: pathlib.Path) -> Built:
    source = folder / "receiptkit"
    shutil.copytree(FOLDER / "node", source, ignore=shutil.ignore_patterns("*.node"))
    run([source / "build"], env=os.environ | {"CFLAGS": f"-I{library}"})
    environment = {"RECEIPTKIT_ROOT": str(ROOT)}
    server = ["node", source / "example/server.js"]
    return Built(["node", source / "parity.js"], ["node", "--test"], lambda _: server, source, environment)


def java(folder: pathlib.Path, library: pathlib.Path) -> Built:
    source = FOLDER / "java"
    run([source / "build", folder], env=os.environ | {"JNA": str(JNA)})
    program = ["java", "-cp", f"{folder / 'receiptkit.jar'}:{folder / 'others'}:{JNA}"]
    # A heap that does not grow, so that what the tests measure is the memory outside of it.
    heap = ["-Xms128m", "-Xmx128m", "-XX:+AlwaysPreTouch"]
    tests = [program[0], *heap, *program[1:], "dev.receiptkit.Tests"]
    return Built([*program, "dev.receiptkit.Parity"], tests, lambda _: [*program, "Server"], source)


def python(folder: pathlib.Path, library: pathlib.Path) -> Built:
    source = FOLDER / "python"
    return Built([sys.executable, source / "parity.py"], None, None, source)


def has_file(path: str) -> Callable[[], bool]:
    return (FOLDER / path).is_file


BINDINGS = {
    # Its own tests have files of their own. What C says, test_library.py compares.
    "python": Binding(needs(**{"Bindings/python/parity.py": has_file("python/parity.py")}), python),
    "go": Binding(needs("go", "gofmt", "cc"), go),
    "php": Binding(needs("php", FFI=lambda: succeeds("php", "-r", "exit((int) !extension_loaded('FFI'));")), php),
    "ruby": Binding(needs("ruby", minitest=lambda: succeeds("ruby", "-rfiddle", "-rminitest", "-e", "")), ruby),
    "node": Binding(needs("node", "cc", "openssl", node_api_h=lambda: node_headers() is not None), node),
    "java": Binding(needs("javac", "java", "jar", JNA=JNA.is_file), java),
}


def absences() -> dict[str, str]:
    """The bindings that cannot be tested here, and why not."""
    found = {name: binding.absence() for name, binding in BINDINGS.items()}
    return {name: why for name, why in found.items() if why}
