# SPDX-License-Identifier: Apache-2.0
"""Keys in a PKCS#11 token, of which SoftHSM is one in files: by OpenSSL's engine, and by its provider where there is one."""

import concurrent.futures
import glob
import json
import os
import pathlib
import shutil
import subprocess

import pytest
from cryptography import x509

import samples
from tool import UNREADABLE, USAGE, VALID
from world import SECRET


def first(*patterns: str) -> str | None:
    return next((path for pattern in patterns for path in sorted(glob.glob(pattern))), None)


MODULE = first("/usr/lib/softhsm/libsofthsm2.so", "/usr/lib/*/softhsm/libsofthsm2.so", "/usr/lib64/pkcs11/libsofthsm2.so")
ENGINE = first("/usr/lib/*/engines-3/pkcs11.so")
# A file of one's own, where the system has no package for it.
PROVIDER = os.environ.get("RECEIPTKIT_PKCS11_PROVIDER") or first(
    "/usr/lib/*/ossl-modules/pkcs11.so", "/usr/lib64/ossl-modules/pkcs11.so"
)
WAYS = [way for way, there in (("engine", ENGINE), ("provider", PROVIDER)) if there]

pytestmark = pytest.mark.skipif(
    not (MODULE and WAYS and shutil.which("pkcs11-tool")),
    reason="SKIPPED LOUDLY: softhsm2, opensc and a PKCS#11 engine or provider are not installed; keys in a token are not tested",
)

PIN = "483-secret-1"


class Token:
    def __init__(self, tool, folder: pathlib.Path, way: str):
        self.tool, self.folder = tool, folder
        (folder / "tokens").mkdir()
        (folder / "softhsm2.conf").write_text(f"directories.tokendir = {folder}/tokens\nobjectstore.backend = file\nlog.level = ERROR\n")
        self.environment = os.environ | {"SOFTHSM2_CONF": str(folder / "softhsm2.conf"), "PKCS11_MODULE_PATH": MODULE,
                                         "PKCS11_PROVIDER_MODULE": MODULE}  # fmt: skip
        modules = folder / "modules"
        modules.mkdir()
        # Nothing is found in an empty folder, so that the engine is taken.
        self.environment["OPENSSL_MODULES"] = str(modules)
        if way == "provider":
            (modules / "pkcs11.so").symlink_to(PROVIDER)
        self.do("softhsm2-util", "--init-token", "--free", "--label", "shop", "--pin", PIN, "--so-pin", "87654321")
        self.generate("EC:prime256v1", "signer", "01")
        (folder / "pin").write_text(PIN + "\n")
        (folder / "authority.txt").write_text("correct horse battery staple\n")
        (folder / "purchase.json").write_text(json.dumps(samples.TRANSACTION))

    def do(self, *command):
        done = subprocess.run(command, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def generate(self, kind, label, number):
        self.do("pkcs11-tool", "--module", MODULE, "--token-label", "shop", "--login", "--pin", PIN, "--keypairgen",
                "--key-type", kind, "--label", label, "--id", number)  # fmt: skip

    @staticmethod
    def uri(name="signer"):
        return f"pkcs11:token=shop;object={name};type=private"

    def run(self, *arguments, code=VALID, pin="pin"):
        options = ["--passphrase-file", pin] if pin else []
        run = self.tool.run(*arguments, *options, cwd=self.folder, env=self.environment)
        assert run.code == code, run.out + run.err
        assert PIN not in run.out + run.err
        return run

    def sign(self, name, **options):
        return self.run("sign", "--identity", name, "--format", "signed-transaction", "purchase.json", "-o", f"{name}.jws",
                        **options)  # fmt: skip

    def verify(self, receipt, root):
        # Without the token, as on another machine.
        run = self.tool.run("verify", "--trust", f"{root}/root.cer", receipt, cwd=self.folder)
        assert run.code == VALID, run.out
        return run


@pytest.fixture(params=WAYS or ["none"])
def token(request, receipt_tool, tmp_path) -> Token:
    return Token(receipt_tool, tmp_path, request.param)


def test_an_identity_of_a_token(token):
    token.run("identity", "create", "store", "--organization", "X", "--key", token.uri())
    assert sorted(os.listdir(token.folder / "store")) == ["chain.pem", "key.uri", "root.cer"]
    assert (token.folder / "store/key.uri").stat().st_mode & 0o777 == 0o600
    token.sign("store")
    token.verify("store.jws", "store")
    leaf = x509.load_pem_x509_certificates((token.folder / "store/chain.pem").read_bytes())[0]
    # Verifiers take curves by their names alone.
    assert leaf.public_key().curve.name == "secp256r1"


def test_rsa(token):
    token.generate("rsa:2048", "till", "02")
    token.run("identity", "create", "store", "--organization", "X", "--algorithm", "rsa2048", "--key", token.uri("till"))
    content = {"bundleId": "a", "applicationVersion": "1", "environment": "Production", "inApp": []}
    (token.folder / "app.json").write_text(json.dumps(content))
    token.run("sign", "--identity", "store", "--format", "app-receipt", "app.json", "-o", "app.der")
    token.verify("app.der", "store")
    # The key of an app: Huawei's signatures, RSASSA-PSS among them.
    (token.folder / "purchase.txt").write_text(json.dumps({"packageName": "com.example", "productId": "p", "orderId": "1", "purchaseTime": 1}))
    token.run("identity", "create", "app", "--algorithm", "rsa2048-sha1", "--key", token.uri("till"))
    assert sorted(os.listdir(token.folder / "app")) == ["key.uri", "public-key.txt"]


def test_an_authority_in_a_token(token):
    """Root, intermediate and signer; nothing of them is in a file."""
    for number, name in enumerate(("root", "intermediate"), 10):
        token.generate("EC:prime256v1", name, str(number))
    (token.folder / "authority.txt").write_text(PIN)
    token.run("identity", "create", "one", "--organization", "X", "--keep-root", "authority", *SECRET, "--root-key",
              token.uri("root"), "--intermediate-key", token.uri("intermediate"), "--key", token.uri())  # fmt: skip
    assert not [path for path in token.folder.rglob("*") if path.name == "key.pem"]
    token.run("identity", "issue", "authority", "two", *SECRET)
    token.sign("two")
    token.verify("two.jws", "one")
    for issuer in ("root", "intermediate-1"):
        token.run("identity", "crl", "authority", "--issuer", issuer, *SECRET, "-o", f"{issuer}.crl", pin=None)
    token.tool.run("verify", "--trust", "one/root.cer", "--crl", "root.crl", "--crl", "intermediate-1.crl", "two.jws", cwd=token.folder)
    subprocess.run(["openssl", "crl", "-inform", "DER", "-in", "root.crl", "-noout"], cwd=token.folder, check=True)


class TestRefusals:
    @pytest.fixture
    def store(self, token):
        token.run("identity", "create", "store", "--organization", "X", "--key", token.uri())
        return token

    def test_a_wrong_pin(self, store):
        (store.folder / "wrong").write_text("000000")
        run = store.sign("store", code=UNREADABLE, pin="wrong")
        assert "PIN" in run.err and not (store.folder / "store.jws").exists()
        # One attempt each: the token still takes the right one.
        store.sign("store")

    def test_no_pin(self, store):
        assert "PIN" in store.sign("store", code=UNREADABLE, pin=None).err

    def test_a_missing_object(self, store):
        (store.folder / "store/key.uri").write_text(store.uri("nobody") + "\n")
        run = store.sign("store", code=UNREADABLE)
        assert "object=nobody" in run.err

    def test_another_object(self, store):
        store.generate("EC:prime256v1", "other", "03")
        (store.folder / "store/key.uri").write_text(store.uri("other") + "\n")
        run = store.run("sign", "--identity", "store", "--format", "signed-transaction", "purchase.json", "--json", code=UNREADABLE)
        assert run.lines[-1]["code"] == "key-mismatch"

    def test_a_token_that_was_removed(self, store):
        shutil.move(store.folder / "tokens", store.folder / "away")
        (store.folder / "tokens").mkdir()
        run = store.sign("store", code=UNREADABLE)
        assert "token=shop" in run.err
        (store.folder / "tokens").rmdir()
        shutil.move(store.folder / "away", store.folder / "tokens")
        store.sign("store")

    def test_a_pin_in_the_uri(self, store):
        run = store.tool.run(
            "sign", "--key", store.uri() + f"?pin-value={PIN}", "--chain", "store/chain.pem", "--format", "signed-transaction",
            "purchase.json", cwd=store.folder, env=store.environment)  # fmt: skip
        assert run.code == UNREADABLE and "pin-source" in run.err

    def test_a_file_of_a_pin_that_is_not_there(self, store):
        for source in ("relative", "file:/nowhere"):
            (store.folder / "store/key.uri").write_text(f"{store.uri()}?pin-source={source}\n")
            assert "pin-source" in store.sign("store", code=UNREADABLE, pin=None).err

    def test_a_pin_in_a_file_that_the_uri_names(self, store):
        uri = store.uri() + f"?pin-source=file:{store.folder}/pin&module-path={MODULE}"
        store.environment = {k: v for k, v in store.environment.items() if k not in ("PKCS11_MODULE_PATH", "PKCS11_PROVIDER_MODULE")}
        run = ["sign", "--key", uri, "--chain", "store/chain.pem", "--format", "signed-transaction", "purchase.json", "-o", "a.jws"]
        store.run(*run, pin=None)
        store.verify("a.jws", "store")

    @pytest.mark.parametrize("uri", ["pkcs11:", "pkcs11:token=shop;object=signer ;type=private", "pkcs11:nonsense", "pkcs11:?",
                                     "pkcs11:token=shop", "pkcs11:token=shop;type=private?object=signer",
                                     "pkcs11:object=" + "a" * 5000])  # fmt: skip
    def test_a_malformed_uri(self, store, uri):
        run = store.tool.run("sign", "--key", uri, "--chain", "store/chain.pem", "--format", "signed-transaction", "purchase.json",
                             "--passphrase-file", "pin", cwd=store.folder, env=store.environment)  # fmt: skip
        assert run.code in (UNREADABLE, USAGE), run.err

    def test_a_module_that_is_none(self, store):
        store.environment |= {"PKCS11_MODULE_PATH": "/etc/hostname", "PKCS11_PROVIDER_MODULE": "/etc/hostname"}
        store.sign("store", code=UNREADABLE)


def test_two_sessions_at_once(token):
    token.run("identity", "create", "store", "--organization", "X", "--key", token.uri())

    def sign(number):
        # At each login SoftHSM writes its file of the token anew, and meanwhile another process, pkcs11-tool among them, finds
        # no token.
        for _ in range(50):
            run = token.tool.run(
                "sign", "--identity", "store", "--format", "signed-transaction", "purchase.json", "-o", f"{number}.jws",
                "--passphrase-file", "pin", cwd=token.folder, env=token.environment)  # fmt: skip
            if "There is no private key at" not in run.err:
                return run
        return run

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(sign, range(8)))
    assert {run.code for run in runs} == {VALID}, [run.err for run in runs]
    for number in range(8):
        token.verify(f"{number}.jws", "store")
