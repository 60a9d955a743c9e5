# SPDX-License-Identifier: Apache-2.0
"""Shared fixtures: the tool under test, an independent store, the real receipts.

Run by scripts/interoperability, which sets RECEIPT_TOOL and prepares the Python environment.
"""

import collections
import fcntl
import gc
import os
import pathlib
import subprocess
import sys
import uuid

import pytest

# jsonschema would import it, in more than a second, for formats that no schema of ours has.
sys.modules["rfc3987_syntax"] = None

FOLDER = pathlib.Path(__file__).resolve().parent
# What tests share, and tests that others take their fixtures from.
sys.path[:0] = [
    str(FOLDER / folder)
    for folder in [
        "Support", "EndToEnd/receipt-tool", "EndToEnd/receipt-server", "EndToEnd/store-emulator", "Interoperability"
    ]
]

import bindings  # noqa: E402
import browser as browsers  # noqa: E402
import languages  # noqa: E402
import postgresql  # noqa: E402
from audit_places import FilePlace, ServerPlace  # noqa: E402
from independent import pki  # noqa: E402
from service import Service  # noqa: E402
from tool import ReceiptTool  # noqa: E402
from world import World  # noqa: E402

PACKAGE_ROOT = FOLDER.parent
SHARED = pathlib.Path(os.environ.get("RECEIPTKIT_SHARED") or PACKAGE_ROOT.parent / "shared")


@pytest.fixture(scope="session")
def receipt_tool() -> ReceiptTool:
    path = os.environ.get("RECEIPT_TOOL")
    if not path or not os.access(path, os.X_OK):
        pytest.exit("RECEIPT_TOOL does not name the built receipt-tool; run scripts/interoperability", 2)
    return ReceiptTool(path)


def shared_by_workers(tmp_path_factory, name: str, make) -> pathlib.Path:
    """A file or folder, made by the first worker that needs it, and only read by the others."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    place = folder / name
    with open(folder / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.exists():
            make(folder / f"new-{name}")
            (folder / f"new-{name}").rename(place)
    return place


@pytest.fixture(scope="module")
def made(receipt_tool, tmp_path_factory) -> World:
    """What commands need to run, for a file of tests, which leave it as it is; a copy of what one worker made."""
    place = shared_by_workers(tmp_path_factory, "made", lambda place: World.make(receipt_tool, place))
    return World.read(receipt_tool, place).copy(tmp_path_factory.mktemp("made") / "world")


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """A receipt-server for development, for a file of tests."""
    service = Service(tmp_path_factory.mktemp("service") / "data")
    yield service.start()
    assert service.end() == 0


@pytest.fixture
def world(made, tmp_path) -> World:
    """A copy of it that a test may change."""
    return made.copy(tmp_path / "world")


@pytest.fixture(scope="session")
def store() -> pki.Store:
    """A store whose certificates have P-384 keys over P-256 and RSA leaves, as Apple's newer ones."""
    return pki.Store()


@pytest.fixture(scope="session")
def rsa_store() -> pki.Store:
    """A store with RSA keys throughout, as Apple's older ones."""
    return pki.Store("Independent RSA Root", "rsa2048")


@pytest.fixture(scope="session")
def trust(store, tmp_path_factory) -> list[str]:
    """The options that make the tool trust `store`."""
    path = tmp_path_factory.mktemp("trust") / "root.cer"
    path.write_bytes(store.root.der)
    return ["--trust", str(path)]


@pytest.fixture(scope="session")
def rsa_trust(rsa_store, tmp_path_factory) -> list[str]:
    path = tmp_path_factory.mktemp("trust") / "rsa-root.cer"
    path.write_bytes(rsa_store.root.der)
    return ["--trust", str(path)]


@pytest.fixture(scope="session")
def write_certificate(tmp_path_factory):
    """Writes an identity's certificate in DER and returns the file's path."""
    folder = tmp_path_factory.mktemp("certificates")

    def write(identity: pki.Identity) -> str:
        path = folder / f"{identity.sha256}.cer"
        path.write_bytes(identity.der)
        return str(path)

    return write


@pytest.fixture(scope="session")
def shared() -> pathlib.Path:
    """The folder of real receipts; without it the tests that need it are skipped."""
    if not (SHARED / "receipts" / "manifest.json").is_file():
        pytest.skip(f"no real receipts at {SHARED}: set RECEIPTKIT_SHARED")
    return SHARED


def generate_suite(file: pathlib.Path, *options: str) -> subprocess.CompletedProcess:
    command = [sys.executable, PACKAGE_ROOT / "Conformance/generator", *options, file]
    return subprocess.run(command, capture_output=True, text=True, timeout=900)


@pytest.fixture(scope="session")
def suite_file(tmp_path_factory) -> pathlib.Path:
    """The conformance suite, generated once for all workers."""

    def make(place: pathlib.Path) -> None:
        done = generate_suite(place)
        assert done.returncode == 0, done.stderr

    return shared_by_workers(tmp_path_factory, "conformance-suite.json", make)


@pytest.fixture(scope="module")
def browser():
    """A browser; without one the tests that need it are skipped."""
    if browsers.absence():
        pytest.skip(browsers.absence())
    browser = browsers.Browser()
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def plain_browser():
    """A browser without JavaScript."""
    if browsers.absence():
        pytest.skip(browsers.absence())
    browser = browsers.Browser(javascript=False)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def postgresql_server():
    """A PostgreSQL server for the tests; if none can be started, the tests that need it are skipped."""
    if postgresql.absence():
        pytest.skip(postgresql.absence())
    server = postgresql.PostgreSQLServer()
    yield server
    server.stop()


@pytest.fixture(params=["sqlite", "postgresql"])
def make_place(request, receipt_tool, tmp_path):
    """Creates empty trail locations, each with its own folder, on SQLite and on PostgreSQL."""
    server = request.getfixturevalue("postgresql_server") if request.param == "postgresql" else None
    schemas = []

    def make() -> FilePlace:
        schemas.append(f"t{uuid.uuid4().hex[:12]}")
        folder = tmp_path / schemas[-1]
        folder.mkdir()
        if server is None:
            return FilePlace(receipt_tool, folder)
        return ServerPlace(receipt_tool, folder, server, schemas[-1])

    yield make
    for schema in schemas if server else []:
        server.query(f"DROP SCHEMA IF EXISTS {schema} CASCADE")


# The tests of a file run one after the other: these files, begun last, would keep one core busy and leave the others idle.
SLOWEST_FIRST = [
    "test_first_ten_minutes.py", "test_refund_reviews.py", "test_audit_check.py", "test_service_strangers.py", "test_conformance.py",
    "test_authority.py", "test_console_accessibility.py", "test_service_settings.py", "test_console.py", "test_service_forwarding.py",
    "test_service_import.py", "test_console_details.py", "test_lost_output.py", "test_languages.py", "test_service_moving.py",
    "test_options.py", "test_emulator_http.py", "test_bindings.py", "test_bad_input.py", "test_audit_faults.py",
]  # fmt: skip


def pytest_collection(session):
    gc.disable()


def pytest_collection_finish(session):
    """What was collected lives until the end; the garbage collector need not look through it again and again."""
    gc.freeze()
    gc.enable()


def pytest_configure(config):
    config.addinivalue_line("markers", "long: a test that is long by nature; scripts/test leaves it to scripts/test --all")
    config.addinivalue_line("markers", "server: a test of receipt-server or store-emulator; scripts/test leaves it to scripts/test --server")
    config.addinivalue_line("markers", "sweep: the same for each command, option or receipt; scripts/test runs every eighth")


def pytest_addoption(parser):
    parser.addoption("--short", action="store_true", help="no test marked long, and every eighth of each marked sweep")
    parser.addoption("--no-server", action="store_true", help="no test marked server, nor of a folder of a server")


def pytest_collection_modifyitems(config, items):
    without_servers, short = config.getoption("--no-server"), config.getoption("--short")
    counts, left = collections.Counter(), set()
    for item in items:
        function = item.nodeid.partition("[")[0]
        is_eighth = counts[function] % 8 == 0
        counts[function] += 1
        is_of_a_server = item.get_closest_marker("server") or item.path.parent.name in ("receipt-server", "store-emulator")
        is_long = item.get_closest_marker("long") or item.get_closest_marker("sweep") and not is_eighth
        if without_servers and is_of_a_server or short and is_long:
            left.add(item)
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in left]
    places = {name: place for place, name in enumerate(SLOWEST_FIRST)}
    items.sort(key=lambda item: places.get(item.path.name, len(places)))


def pytest_terminal_summary(terminalreporter):
    if postgresql.absence():
        terminalreporter.write_line(
            f"WARNING: {postgresql.absence()}; the tests of trails on one were SKIPPED", red=True
        )
    if browsers.absence():
        terminalreporter.write_line(f"WARNING: {browsers.absence()}; the tests in a browser were SKIPPED", red=True)
    if languages.absences():
        absent = ", ".join(languages.absences())
        terminalreporter.write_line(f"WARNING: not installed: {absent}; the examples in these languages were SKIPPED", red=True)
    if not terminalreporter.config.getoption("--short"):
        if bindings.absence():
            terminalreporter.write_line(f"WARNING: {bindings.absence()}; the bindings of libreceiptkit were SKIPPED", red=True)
        for name, why in bindings.absences().items():
            terminalreporter.write_line(f"WARNING: the binding to {name} was SKIPPED, {why}", red=True)
    if not (SHARED / "receipts" / "manifest.json").is_file():
        terminalreporter.write_line(
            f"WARNING: no real receipts at {SHARED}; the tests that need them were SKIPPED", red=True
        )
