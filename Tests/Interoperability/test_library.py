# SPDX-License-Identifier: Apache-2.0
"""libreceiptkit.so: what it is in a process of others, and that it says what receipt-tool says."""

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap

import pytest

import library_samples
from library import HEADER, ROOT, Library, path

MAP = ROOT / "Packaging/libreceiptkit.map"
RELEASED = ROOT / "Packaging/receiptkit-released.h"
CREATE = """
    import json, os, sys
    sys.path.insert(0, {support!r})
    from library import Library
    import pathlib
    {before}
    library = Library(pathlib.Path({library!r}))
    verifier = library.verifier(json.loads({policy!r}))
    receipt = pathlib.Path({receipt!r}).read_bytes()
    def check():
        assert library.verify(verifier, receipt)["verdict"] == "valid"
    check()
    {after}
"""


@pytest.fixture(scope="module")
def library():
    return Library(path())


@pytest.fixture(scope="module")
def sample():
    [sample] = [each for each in library_samples.vectors() if each.name == "signed-transaction/valid.jws"]
    return sample


def python(sample, before="", after="", environment=None, interpreter=sys.executable, wrapper=()):
    """Runs a program in which the library verifies a receipt, with statements before it is loaded and after."""
    program = textwrap.dedent(CREATE).format(
        support=str(ROOT / "Tests/Support"),
        library=str(path()),
        policy=json.dumps(sample.policy),
        receipt=str(sample.folder / sample.name),
        before=before,
        after=textwrap.dedent(after),
    )
    done = subprocess.run(
        [*wrapper, interpreter, "-c", program], capture_output=True, text=True, timeout=120, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def prototypes(header) -> dict[str, str]:
    """The functions of a header: their declarations without comments, by name."""
    text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
    found = re.findall(r"^((?:uint32_t|int32_t|void) (receiptkit_\w+)\([^;]*\));", text, flags=re.M)
    return {name: " ".join(declaration.split()) for declaration, name in found}


def test_vectors_have_the_verdict_reason_and_place_of_the_manifest(library):
    manifest = json.loads((library_samples.VECTORS / "manifest.json").read_text())["vectors"]
    for sample, vector in zip(library_samples.vectors(), manifest, strict=True):
        policy = sample.policy
        # The vectors are evaluated after they were made.
        verifier = library.verifier(policy)
        verdict = library.verify(verifier, sample.receipt)
        assert library.free(verifier) == 0
        assert verdict["verdict"] == vector["verdict"], sample.name
        reason = verdict.get("reason", {})
        assert reason.get("code") == vector.get("reason", {}).get("code"), sample.name
        if "place" in vector.get("reason", {}):
            assert reason.get("place") == vector["reason"]["place"], sample.name
        if vector["verdict"] == "valid":
            assert verdict.get("bundleId") == vector.get("bundleId"), sample.name
            bought = {each.get("transactionId") for each in verdict["transactions"] + verdict.get("unpaidPurchases", [])}
            assert bought >= {each.get("transactionId") for each in vector["transactions"]} - {None}, sample.name


@pytest.mark.long
def test_every_receipt_has_the_verdict_of_the_command(library, receipt_tool, tmp_path_factory):
    from conftest import SHARED

    samples = library_samples.vectors()
    if (SHARED / "receipts/manifest.json").is_file():
        samples += library_samples.genuine(SHARED) + library_samples.other_stores(SHARED, tmp_path_factory.mktemp("keys"))
    assert len(samples) >= 334
    groups = library_samples.grouped(samples)
    verdicts = library_samples.verdicts(receipt_tool, groups, tmp_path_factory.mktemp("receipts"))
    for sample, expected in zip(itertools.chain.from_iterable(groups), verdicts, strict=True):
        # One for each, which remembers nothing.
        verifier = library.verifier(sample.policy)
        verdict = library.verify(verifier, sample.receipt)
        assert library.free(verifier) == 0
        assert verdict == expected, sample.name


def test_the_library_exports_what_the_header_declares_and_nothing_else(library):
    lines = subprocess.run(["nm", "-D", "--defined-only", path()], check=True, capture_output=True, text=True).stdout.splitlines()
    exported = {line.split()[-1].split("@")[0] for line in lines} - {"RECEIPTKIT_1"}
    assert exported == set(prototypes(HEADER)) == set(re.findall(r"receiptkit_\w+(?=;)", MAP.read_text()))


def test_the_library_needs_nothing_but_the_c_library(library):
    lines = subprocess.run(["objdump", "-p", path()], check=True, capture_output=True, text=True).stdout
    needed = set(re.findall(r"NEEDED +(\S+)", lines))
    assert {re.sub(r"[-.].*", "", name) for name in needed} <= {"libc", "libm", "ld", "libdl", "libpthread"}, needed
    assert re.search(r"SONAME +libreceiptkit\.so\.1\b", lines)
    assert path().stat().st_size <= 25 << 20


def test_the_interface_is_that_of_the_last_release_or_more(tmp_path):
    """What a program was compiled against stays: functions, the types of their parameters, values."""
    assert shutil.which("abidiff"), "abigail-tools is missing; run scripts/install-dependencies test"

    def stub(header, name):
        """A library with the functions of a header, of whose code no more than the types is looked at."""
        source = tmp_path / f"{name}.c"
        bodies = "\n".join(
            declaration + (" {}" if declaration.startswith("void") else " { return 0; }")
            for declaration in prototypes(header).values()
        )
        source.write_text(f'#include "{header}"\n{bodies}\n')
        output = tmp_path / f"{name}.so"
        subprocess.run(["cc", "-g", "-shared", "-fPIC", "-w", "-o", output, source], check=True)
        return output

    released, current = stub(RELEASED, "released"), stub(HEADER, "current")
    compared = subprocess.run(
        ["abidiff", "--no-added-syms", "--no-default-suppression", released, current], capture_output=True, text=True
    )
    assert compared.returncode == 0, compared.stdout
    values = re.compile(r"^ *#define (RECEIPTKIT_\w+) (\w+)|^ *(RECEIPTKIT_\w+) = (\d+)", re.M)
    old, new = (
        {first or second: a or b for first, a, second, b in values.findall(header.read_text())} for header in (RELEASED, HEADER)
    )
    assert len(old) >= 8 and old.items() <= new.items()
    # The test finds what would break a program.
    changed = tmp_path / "changed.h"
    changed.write_text(HEADER.read_text().replace("uint32_t options", "uint64_t options"))
    broken = subprocess.run(["abidiff", "--no-added-syms", released, stub(changed, "changed")], capture_output=True, text=True)
    assert broken.returncode & 4, broken.stdout


def test_the_process_is_left_as_it_was(library, sample, tmp_path):
    """No handler of signals, no output, no threads that stay, and no configuration from files or the environment."""
    configuration = tmp_path / "openssl.cnf"
    configuration.write_text("openssl_conf = wrong\n[wrong]\nproviders = p\n[p]\nother = o\n[o]\nactivate = 1\n")
    trace = tmp_path / "trace"
    done = python(
        sample,
        before="from process_state import state; before = state()",
        after="""
            import ctypes
            # More than what makes a verifier compute a signer's table.
            for _ in range(700): check()
            count = 2000
            offsets = (ctypes.c_uint64 * (count + 1))(*(index * len(receipt) for index in range(count + 1)))
            status, text = library.call(
                "receiptkit_verify_batch", verifier, ctypes.c_char_p(receipt * count), offsets, ctypes.c_size_t(count), None)
            assert status == 0 and text.count(chr(10)) == count
            assert state() == before, (before, state())
        """,
        environment=os.environ | {"OPENSSL_CONF": str(configuration), "SSL_CERT_FILE": "/nowhere"},
        wrapper=["strace", "-f", "-o", str(trace), "-e", "trace=openat,open,connect,socket"],
    )
    assert not done.stdout and not done.stderr
    after = trace.read_text().split("libreceiptkit.so", 1)[1]
    opened = set(re.findall(r'open(?:at)?\((?:AT_FDCWD, )?"([^"]+)"', after))
    # What the C library asks about threads and processors, and before it gives memory of a thread back.
    allowed = {str(sample.folder / sample.name), "/proc/sys/vm/overcommit_memory"}
    asked = ("/proc/self/", "/sys/devices/system/cpu/", sys.prefix)
    assert {each for each in opened - allowed if not each.startswith(asked) and ".so" not in each} == set()
    assert "connect(" not in after and str(configuration) not in opened


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import ssl, hashlib", "hashlib.sha256(b'').hexdigest(); ssl.create_default_context(); check()"),
        ("", "import ssl, hashlib; ssl.create_default_context(); check()"),
        (
            "from cryptography.hazmat.primitives.asymmetric import ec",
            "ec.generate_private_key(ec.SECP256R1()); check(); import ssl; ssl.create_default_context(); check()",
        ),
        ("", "from cryptography.hazmat.primitives.asymmetric import ec; ec.generate_private_key(ec.SECP256R1()); check()"),
    ],
    ids=["after ssl", "before ssl", "after cryptography", "before cryptography"],
)
def test_other_copies_of_openssl_are_in_the_process(library, sample, before, after):
    python(sample, before, after)


def test_a_child_can_use_what_its_parent_created_whatever_other_threads_did_at_the_fork(library, sample):
    python(
        sample,
        before="import threading, time",
        after="""
            import ctypes
            count = 200
            offsets = (ctypes.c_uint64 * (count + 1))(*(index * len(receipt) for index in range(count + 1)))
            joined = ctypes.c_char_p(receipt * count)
            ends = time.monotonic() + 8
            stop = threading.Event()
            def singles():
                while not stop.is_set(): check()
            def batches():
                while not stop.is_set():
                    status, text = library.call("receiptkit_verify_batch", verifier, joined, offsets, ctypes.c_size_t(count), None)
                    assert status == 0 and text.count('"valid"') == count
            threads = [threading.Thread(target=work) for work in (singles, singles, batches, batches)]
            for thread in threads: thread.start()
            for number in range(60):
                child = os.fork()
                if child == 0:
                    import faulthandler
                    faulthandler.dump_traceback_later(60, exit=True)
                    try:
                        for _ in range(1 if number else 700): check()
                        own = library.verifier({"anyBundleId": True})
                        assert library.free(own) == 0
                        status, text = library.call(
                            "receiptkit_verify_batch", verifier, joined, offsets, ctypes.c_size_t(count), None)
                        os._exit(0 if status == 0 and text.count('"valid"') == count else 3)
                    except BaseException:
                        os._exit(4)
                _, code = os.waitpid(child, 0)
                assert code == 0, code
                if time.monotonic() > ends: break
            assert number >= 3
            stop.set()
            for thread in threads: thread.join()
        """,
    )


@pytest.mark.parametrize("how", ["check()", "batch()"])
def test_the_threads_of_a_child_use_what_its_parent_created(library, sample, how):
    """The thread that forked has another number in the child, which a lock that remembers numbers does not know."""
    python(
        sample,
        before="import ctypes, threading, time",
        after=f"""
            count = 640
            offsets = (ctypes.c_uint64 * (count + 1))(*(index * len(receipt) for index in range(count + 1)))
            joined = ctypes.c_char_p(receipt * count)
            def batch():
                status, text = library.call("receiptkit_verify_batch", verifier, joined, offsets, ctypes.c_size_t(count), None)
                assert status == 0 and text.count('"valid"') == count
            for _ in range(700): check()
            child = os.fork()
            if child == 0:
                import faulthandler
                faulthandler.dump_traceback_later(60, exit=True)
                failures, ends = [], time.monotonic() + 3
                def work():
                    try:
                        while time.monotonic() < ends: {how}
                    except BaseException as error: failures.append(error)
                threads = [threading.Thread(target=work) for _ in range(3)]
                for thread in threads: thread.start()
                work()
                for thread in threads: thread.join()
                os._exit(len(failures))
            assert os.waitpid(child, 0)[1] == 0
        """,
    )


def test_a_thousand_threads(library, sample):
    python(
        sample,
        before="import threading; threading.stack_size(128 * 1024)",
        after="""
            failures = []
            def work():
                try: check()
                except BaseException as error: failures.append(error)
            threads = [threading.Thread(target=work) for _ in range(1000)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            assert not failures, failures[0]
        """,
    )


def test_the_program_in_c_verifies_and_loses_no_memory(library, sample, tmp_path):
    program = tmp_path / "verify"
    folder = path().parent
    subprocess.run(
        ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I", HEADER.parent, ROOT / "Bindings/c/example/verify.c", "-o", program,
         "-L", folder, "-lreceiptkit", f"-Wl,-rpath,{folder}"], check=True)
    policy = tmp_path / "policy.json"
    policy.write_text(json.dumps(sample.policy | {"time": "2025-10-02T00:00:00Z"}))
    forged = tmp_path / "forged"
    forged.write_bytes(sample.receipt[:-10] + b"AAAAAAAAAA")
    for receipts, code in (([sample.folder / sample.name], 0), ([sample.folder / sample.name, forged], 1), ([tmp_path / "none"], 66)):
        done = subprocess.run([program, policy, *receipts], capture_output=True, text=True, timeout=60)
        assert done.returncode == code, done.stdout + done.stderr
    policy.write_text('{"bundleIds": ["a"], "bundleID": 1}')
    done = subprocess.run([program, policy, forged], capture_output=True, text=True, timeout=60)
    assert done.returncode == 64 and json.loads(done.stderr)["place"] == "$.bundleID"


@pytest.mark.long
def test_valgrind_finds_nothing_in_the_program_in_c(library, sample, tmp_path):
    assert shutil.which("valgrind"), "valgrind is missing; run scripts/install-dependencies test"
    program = tmp_path / "verify"
    folder = path().parent
    subprocess.run(
        ["cc", "-g", "-I", HEADER.parent, ROOT / "Bindings/c/example/verify.c", "-o", program, "-L", folder, "-lreceiptkit",
         f"-Wl,-rpath,{folder}"], check=True)
    policy = tmp_path / "policy.json"
    policy.write_text(json.dumps(sample.policy))
    receipts = [each.folder / each.name for each in library_samples.vectors() if each.name.split("/")[0] != "huawei-purchase"][::8]
    done = subprocess.run(
        # The Swift runtime keeps pointers to its tables with a mark in their low bits: "possibly lost", and no error.
        ["valgrind", "--error-exitcode=99", "--expensive-definedness-checks=yes", "--leak-check=full",
         "--errors-for-leak-kinds=definite,indirect", "--show-leak-kinds=definite,indirect", program, policy, *receipts],
        capture_output=True, text=True, timeout=1200,
    )
    assert done.returncode in (0, 1, 2), done.stderr[-4000:]
    assert "ERROR SUMMARY: 0 errors" in done.stderr, done.stderr[-4000:]
