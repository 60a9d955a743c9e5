# SPDX-License-Identifier: Apache-2.0
"""A folder with every kind of file that receipt-tool uses, and a run of each of its commands in it."""

import json
import os
import pathlib
import shutil
import subprocess

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509 import ocsp

import samples
from independent import jws, pki
from notifications import body
from tool import ReceiptTool

ORIGINAL = samples.TRANSACTION["originalTransactionId"]
TOKEN_OPTIONS = ["--api-key", "api.p8", "--key-id", "KEY", "--issuer-id", "00000000-0000-4000-8000-000000000000"]

SECRET = ["--authority-passphrase-file", "authority.txt"]

# Every command that prints, by its name, with arguments that make it print; in a copy of the world. {…} is a value that
# `make` found out. The commands of `api` ask a server: test_remote_commands.py.
HARNESS = ["--", "sh", "harness.sh"]

COMMANDS: dict[str, list[list[str]]] = {
    "verify": [
        ["--trust", "root.cer", "purchase.jws"],
        ["--trust", "root.cer", "--json", "purchase.jws"],
        ["--trust", "root.cer", "--lines", "purchase.jws"],
        ["--trust", "root.cer", "--lines", "--json", "purchase.jws", "purchase.jws"],
        ["--trust", "root.cer", "--audit", "trail", "purchase.jws"],
        ["--trust", "root.cer", "--audit", "trail", "--lines", "--json", "purchase.jws"],
    ],
    "sign": [
        ["--identity", "identity", "--format", "signed-transaction", "purchase.json"],
        ["--identity", "identity", "--format", "signed-transaction", "--json", "purchase.json"],
    ],
    "identity create": [["new"], ["new", "--json"]],
    "identity show": [["identity"], ["identity", "--json"]],
    "identity issue": [["authority", "new", *SECRET], ["authority", "new", *SECRET, "--json"]],
    "identity intermediate": [["authority", *SECRET], ["authority", *SECRET, "--json"]],
    "identity responder": [["authority", "new", *SECRET], ["authority", "new", *SECRET, "--json"]],
    "identity list": [["authority"], ["authority", "--json"]],
    "identity revoke": [
        ["authority", "first/chain.pem", "--reason", "superseded"],
        ["authority", "{signer}", "--reason", "superseded", "--json"],
    ],
    "identity crl": [["authority", *SECRET, "-o", "new"], ["authority", *SECRET, "-o", "new", "--json"]],
    "identity ocsp": [
        ["authority", "request.der", "--responder", "responder", "-o", "new"],
        ["authority", "request.der", "--responder", "responder", "-o", "new", "--json"],
    ],
    "inspect": [["purchase.jws"], ["--json", "purchase.json"], ["--json", "purchase.jws"]],
    "token": [[*TOKEN_OPTIONS, "--bundle-id", "a"], [*TOKEN_OPTIONS, "--bundle-id", "a", "--json"]],
    "version": [[], ["--json"], ["--self-test"], ["--json", "--self-test"]],
    "audit init": [["new"], ["new", "--json"]],
    "audit append": [["trail", "new.jsonl"], ["trail", "new.jsonl", "--json"]],
    "audit find": [["trail", "--product", "p"], ["trail", "--from", "2020-01-01T00:00:00Z", "--json"]],
    "audit show": [["trail", "0"], ["trail", "0", "--raw"], ["trail", "0", "--json"], ["trail", "0", "--receipt"]],
    "audit history": [["trail", ORIGINAL], ["trail", ORIGINAL, "--json"], ["trail", ORIGINAL, "--proofs", "proofs"]],
    "audit prove": [["trail", "0"], ["trail", "0", "-o", "new"], ["trail", "0", "-o", "new", "--json"]],
    "audit check": [
        ["proof", "--key", "trail.pub"],
        ["proof", "--key", "trail.pub", "--json"],
        ["purchase.jws", "--key", "trail.pub"],
    ],
    "audit checkpoint": [["trail"], ["trail", "--json"], ["trail", "--last"]],
    "audit erase": [["trail", "0"], ["trail", "0", "--json"]],
    "audit stats": [["trail"], ["trail", "--json"]],
    "audit export": [["trail", "new"], ["trail", "new", "--json"]],
    "audit fsck": [["trail"], ["trail", "--json"], ["exported", "--key", "trail.pub"]],
    "audit import": [
        ["new", "exported", "--private-key", "trail.key"],
        ["new", "exported", "--private-key", "trail.key", "--json"],
    ],
    "audit backup": [["trail", "new"], ["trail", "new", "--json"], ["trail", "new", "--keys", "new.keys"]],
    "audit restore-keys": [["copy", "copy.keys"], ["copy", "copy.keys", "--json"]],
    "audit reindex": [["trail"], ["trail", "--json"]],
    "audit rotate-key": [["trail"], ["trail", "--json"]],
    "audit keys": [["trail"], ["trail", "--json"], ["trail", "-o", "new"]],
    "audit policy": [["trail", "{policy}"], ["trail", "{policy}", "--json"]],
    "audit migrate": [["trail", "new"], ["trail", "new", "--json"]],
    "audit witness": [["new", "--create", "w"], ["new", "--create", "w", "--json"], ["witness", "--log", "trail.pub"]],
    "store init": [["--store", "new"], ["--store", "new", "--json"]],
    "store products": [["--store", "shop"], ["--store", "shop", "--json", "no.such.product"]],
    "store buy": [
        ["--store", "shop", "com.example.coins"],
        ["--store", "shop", "com.example.coins", "--json"],
        ["--store", "shop", "com.example.coins", "-o", "new"],
    ],
    "store pending": [["--store", "shop"], ["--store", "asking", "--json"]],
    "store approve": [["--store", "asking", "{request}"], ["--store", "asking", "{request}", "--json"]],
    "store decline": [["--store", "asking", "{request}"], ["--store", "asking", "{request}", "--json"]],
    "store finish": [["--store", "shop", "--all"], ["--store", "shop", "--all", "--json"]],
    "store restore": [["--store", "shop"], ["--store", "shop", "--json"]],
    "store purchases": [["--store", "shop"], ["--store", "shop", "--json"], ["--store", "shop", "--receipt", "{pro}"]],
    "store refund": [["--store", "shop", "{pro}"], ["--store", "shop", "{pro}", "--json"]],
    "store subscription": [
        ["--store", "shop"],
        ["--store", "shop", "--json"],
        ["--store", "shop", "{plan}"],
        ["--store", "shop", "{plan}", "--cancel"],
    ],
    "store renew": [["--store", "shop", "{plan}"], ["--store", "shop", "{plan}", "--json"]],
    "store advance": [["--store", "shop", "--by", "P1M"], ["--store", "shop", "--by", "P1M", "--json"]],
    "store notifications": [["--store", "shop"], ["--store", "shop", "--json"]],
    "conformance harness": [[]],
    "conformance run": [
        ["suite.json", *HARNESS],
        ["--json", "suite.json", *HARNESS],
        ["--html", "new", "suite.json", *HARNESS],
    ],
    "notifications fold": [["notification.json", "--trust", "root.cer", "--bundle-id", samples.BUNDLE]],
}

# A suite of one case, and what a harness writes.
SUITE = {
    "format": "receipt-conformance-1", "version": "1.0.0", "flags": {},
    "cases": [{
        "id": "note::basic::empty", "description": "It is empty.", "operation": "note", "features": ["note"],
        "importance": "high", "flags": [], "input": {"note": "", "keys": []}, "policy": {}, "time": "2026-01-01T00:00:00Z",
        "expected": {"verdict": "invalid", "reason": "malformed"},
    }],
}  # fmt: skip

DECLARATION = {
    "harness": "example", "version": "1.0", "features": ["note"], "reports": [], "reasons": True, "places": False,
}  # fmt: skip
ANSWER = {"id": "note::basic::empty", "verdict": "invalid", "reason": "malformed"}

# What is read from standard input.
INPUTS = {"audit witness": b"old 0\n\nnothing\n"}

RUNS = [(name, arguments) for name, all_arguments in COMMANDS.items() for arguments in all_arguments]


class World:
    def __init__(self, tool: ReceiptTool, folder: pathlib.Path, values: dict[str, str]):
        self.tool = tool
        self.folder = folder
        self.values = values

    def copy(self, folder: pathlib.Path) -> "World":
        shutil.copytree(self.folder, folder)
        return World(self.tool, folder, self.values)

    def run(self, name: str, arguments, **options):
        """Runs a command, which may fail but not crash."""
        arguments = [argument.format(**self.values) for argument in arguments]
        options.setdefault("stdin", INPUTS.get(name, b""))
        return self.tool.run(*name.split(), *arguments, cwd=self.folder, **options)

    @classmethod
    def read(cls, tool: ReceiptTool, folder: pathlib.Path) -> "World":
        """What `make` made in a folder."""
        return cls(tool, folder, json.loads((folder / "values.json").read_text()))

    @classmethod
    def make(cls, tool: ReceiptTool, folder: pathlib.Path) -> None:
        """Makes it in a new folder, with what it found out in `values.json`."""
        folder.mkdir()
        world = cls(tool, folder, {})

        def do(line: str, stdin: bytes = b"", code: int = 0):
            run = tool.run(*line.split(), stdin=stdin, cwd=folder)
            assert run.code == code, f"{line}\n{run.out}{run.err}"
            return run

        (folder / "suite.json").write_text(json.dumps(SUITE))
        (folder / "harness.sh").write_text(f"echo '{json.dumps(DECLARATION)}'\nread line\necho '{json.dumps(ANSWER)}'\n")
        store = pki.Store()
        (folder / "root.cer").write_bytes(store.root.der)
        (folder / "purchase.jws").write_text(jws.sign(samples.TRANSACTION, store.leaf()))
        (folder / "purchase.json").write_text(json.dumps(samples.TRANSACTION))
        (folder / "new.jsonl").write_text('{"kind":"verdict","verdict":"valid","productId":"new"}\n')
        key = ec.generate_private_key(ec.SECP256R1()).private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        (folder / "api.p8").write_bytes(key)
        do("identity create identity")
        (folder / "authority.txt").write_text("a passphrase of a test\n")
        secret = " ".join(SECRET)
        first = do(f"identity create first --organization Example --keep-root authority {secret} --json").lines[0]
        world.values["signer"] = first["certificates"][0]["serialNumber"]
        lower_iterations(folder / "authority", folder / "authority.txt")
        do(f"identity responder authority responder {secret}")
        (folder / "request.der").write_bytes(ocsp_request(folder / "first/chain.pem"))
        do("audit init trail --origin example.com/t")
        do("verify --trust root.cer --audit trail purchase.jws")
        do("audit append trail -", b'{"kind":"verdict","verdict":"valid","productId":"p"}\n')
        do("audit prove trail 0 -o proof")
        do("audit export trail exported --with-erasable")
        world.values["policy"] = json.loads(do("audit show trail 0 --json").out)["policySha256"]
        do("audit backup trail copy --keys copy.keys")
        do("audit witness witness --create witness.example.com/w")
        do("store init --store shop --clock 2025-01-01T00:00:00Z")
        world.values["pro"] = do("store buy --store shop com.example.pro --json").lines[0]["transactionId"]
        do("store finish --store shop --all")
        world.values["plan"] = do("store buy --store shop com.example.plan.monthly --json").lines[0]["transactionId"]
        do("store init --store asking --ask")
        do("store buy --store asking com.example.pro", code=2)
        waiting = do("store pending --store asking --json").lines
        world.values["request"] = next(line["request"] for line in waiting if "request" in line)
        (folder / "notification.json").write_bytes(body(store.leaf(), signed=samples.SIGNED))
        (folder / "values.json").write_text(json.dumps(world.values))


def ocsp_request(chain: pathlib.Path, nonce: bytes | None = None) -> bytes:
    """A request about the first certificate of a chain, which the second one issued."""
    certificate, issuer = x509.load_pem_x509_certificates(chain.read_bytes())[:2]
    builder = ocsp.OCSPRequestBuilder().add_certificate(certificate, issuer, hashes.SHA256())
    if nonce is not None:
        builder = builder.add_extension(x509.OCSPNonce(nonce), critical=False)
    return builder.build().public_bytes(serialization.Encoding.DER)


def lower_iterations(authority: pathlib.Path, passphrase: pathlib.Path) -> None:
    """Encrypts an authority's keys anew with a thousand iterations in place of 600,000, which take a fifth of a second of
    each command that reads a key."""
    environment = os.environ | {"SECRET": passphrase.read_text().strip()}
    secret = "env:SECRET"
    for file in authority.glob("*/key.pem"):
        form = ["-v2", "aes-256-cbc", "-v2prf", "hmacWithSHA256", "-iter", "1000"]
        command = ["openssl", "pkcs8", "-topk8", "-in", file, "-passin", secret, "-passout", secret, *form]
        # Written into the file that is there, which nobody else may read.
        file.write_bytes(subprocess.run(command, check=True, capture_output=True, env=environment).stdout)


def leaf_commands(tool: ReceiptTool) -> set[str]:
    """The names of all commands without subcommands."""
    dump = json.loads(tool.run("--experimental-dump-help").out)

    def leaves(command, path):
        below = [sub for sub in command.get("subcommands", []) if sub["commandName"] != "help"]
        if not below:
            return {" ".join(path)}
        return set().union(*(leaves(sub, [*path, sub["commandName"]]) for sub in below))

    return leaves(dump["command"], [])


def mount(folder: pathlib.Path, size: str) -> None:
    """Mounts a small file system, or skips the test where that is not permitted."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder]
    if subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("a file system of its own size cannot be mounted here: that needs root and CAP_SYS_ADMIN")


def unmount(folder: pathlib.Path) -> None:
    subprocess.run(["umount", "-l", folder], capture_output=True)
