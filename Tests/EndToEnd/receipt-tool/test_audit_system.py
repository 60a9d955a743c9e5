# SPDX-License-Identifier: Apache-2.0
"""What audit commands do on a full disk, with too few file descriptors, and without Ed25519."""

import pathlib
import resource
import shutil
import subprocess

import pytest

from audit_load import NOT_NOW, NOT_STORED, Trail, lines
from tool import UNREADABLE, VALID

# OpenSSL as it is where the providers have no Ed25519 (EVP_PKEY_ED25519 is 1087).
WITHOUT_ED25519 = """
#include <stddef.h>
void *EVP_PKEY_new_raw_public_key(int type, void *engine, const unsigned char *key, size_t count) {
  (void)type, (void)engine, (void)key, (void)count;
  return NULL;
}
"""


@pytest.fixture(scope="module")
def base(receipt_tool, tmp_path_factory):
    trail = Trail.create(receipt_tool, tmp_path_factory.mktemp("base") / "trail")
    trail.append(range(300))
    return trail


def test_a_trail_is_read_and_copied_on_a_full_disk(receipt_tool, base, tmp_path):
    mount = tmp_path / "disk"
    mount.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", mount], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("a file system of a few megabytes cannot be mounted here: that needs root and CAP_SYS_ADMIN")
    try:
        trail = base.copy(mount / "trail")
        fill(mount / "rest")
        for arguments in (
            ("show", trail.path, "1"),
            ("history", trail.path, "1000000001"),
            ("stats", trail.path),
            ("fsck", trail.path),
            ("export", trail.path, tmp_path / "export"),
            ("backup", trail.path, tmp_path / "copy", "--keys", tmp_path / "keys"),
        ):
            run = receipt_tool.run("audit", *arguments)
            assert run.code == VALID, (arguments, run.out, run.err)
        run = receipt_tool.run("audit", "append", trail.path, "-", stdin=lines([1000]))
        assert run.code in (NOT_NOW, NOT_STORED), run.err
        copy = Trail(receipt_tool, tmp_path)
        copy.path = tmp_path / "copy"
        arguments = ("--key", f"{trail.path}.pub", "--checkpoint", f"{trail.path}.checkpoint")
        run = receipt_tool.run("audit", "fsck", copy.path, "--without-keys", *arguments)
        assert run.code == VALID, run.err
    finally:
        subprocess.run(["umount", "-l", mount], capture_output=True)


def fill(path: pathlib.Path):
    """Takes all the space that is left."""
    with open(path, "wb", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            try:
                while file.write(bytes(size)) == size:
                    pass
            except OSError:
                pass


@pytest.mark.long
@pytest.mark.parametrize("command", ["fsck", "stats", "show", "append", "erase", "rotate-key", "backup", "export"])
def test_with_too_few_descriptors_nothing_is_said_of_the_trail(receipt_tool, base, tmp_path, command):
    """Each call fails as one of the system's, or does what it should; it is never a verdict on the trail, nor a trap."""
    succeeded = 0
    for limit in (8, 11, 12, 13, 14, 15, 16, 20, 28, 44, 64):
        trail = base.copy(tmp_path / str(limit))
        arguments = {
            "show": ["1"],
            "append": ["-"],
            "erase": ["1"],
            "rotate-key": [],
            "backup": [tmp_path / f"{limit}.copy"],
            "export": [tmp_path / f"{limit}.export"],
        }.get(command, [])
        run = subprocess.run(
            [receipt_tool.path, "audit", command, trail.path, *arguments],
            input=lines([1000]),
            preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)),
            capture_output=True,
            timeout=60,
        )
        assert run.returncode in (VALID, NOT_NOW, UNREADABLE, 73, NOT_STORED, 127), (limit, run.returncode, run.stderr)
        succeeded += run.returncode == VALID
    assert succeeded > 0, "none had enough"


def test_without_ed25519_the_key_is_not_blamed(receipt_tool, base, tmp_path):
    compilers = [name for name in ("cc", "clang", "gcc") if shutil.which(name)]
    source, library = tmp_path / "without.c", tmp_path / "without.so"
    source.write_text(WITHOUT_ED25519)
    subprocess.run([compilers[0], "-shared", "-fPIC", "-o", library, source], check=True, timeout=60)
    for command in (["show", base.path, "1"], ["fsck", base.path], ["append", base.path, "-"]):
        run = subprocess.run(
            [receipt_tool.path, "audit", *command],
            env={"LD_PRELOAD": str(library)},
            input=b"",
            capture_output=True,
            timeout=60,
        )
        assert run.returncode == UNREADABLE, run.stderr
        assert b"libcrypto offers no Ed25519" in run.stderr, run.stderr
        assert b"32 bytes" not in run.stderr
