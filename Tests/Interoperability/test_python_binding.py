# SPDX-License-Identifier: Apache-2.0
"""The Python package of libreceiptkit, Bindings/python: with the library that RECEIPTKIT_LIBRARY names."""

import asyncio
import base64
import collections
import concurrent.futures
import copy
import dataclasses
import datetime
import gc
import importlib.util
import inspect
import json
import os
import pathlib
import pickle
import random
import subprocess
import sys
import textwrap
import threading
import uuid
import venv
import warnings
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "Bindings/python"
LIBRARY = os.environ.get("RECEIPTKIT_LIBRARY", "")
if not os.path.isfile(LIBRARY):
    absence = "RECEIPTKIT_LIBRARY does not name libreceiptkit.so: the Python package of the library was NOT tested"
    warnings.warn(absence, stacklevel=1)
    pytest.skip(absence, allow_module_level=True)

sys.path[:0] = [str(PACKAGE / "src"), str(ROOT / "Tests/Support")]
import library_samples  # noqa: E402
import receiptkit  # noqa: E402
from receiptkit import PolicyError, Signer, Standing, Verdict, Verifier  # noqa: E402
from receiptkit._library import library  # noqa: E402

SAMPLES = {sample.name: sample for sample in library_samples.vectors()}
GOOD, ACTIVE = SAMPLES["signed-transaction/valid.jws"], SAMPLES["app-receipt/valid.b64"]
POLICY, RECEIPT = GOOD.policy, GOOD.receipt
FORGED = RECEIPT[:-8] + b"AAAAAAAA"
APP = "com.example.app"


@pytest.fixture
def verifier():
    with Verifier(POLICY) as verifier:
        yield verifier


@pytest.fixture(scope="module")
def app_key():
    """A key of an app at Google Play and Huawei: in PEM, and its public key as the console shows it."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(65537, 2048)
    encoding, private, public = serialization.Encoding, serialization.PrivateFormat, serialization.PublicFormat
    pem = key.private_bytes(encoding.PEM, private.PKCS8, serialization.NoEncryption()).decode()
    return pem, base64.b64encode(key.public_key().public_bytes(encoding.DER, public.SubjectPublicKeyInfo)).decode()


def run(code: str, *arguments, timeout=120, python=sys.executable, environment=None) -> str:
    """Runs a program in a process of its own and returns what it prints."""
    prelude = f"""
        import sys
        sys.path[:0] = [{str(PACKAGE / "src")!r}, {str(ROOT / "Tests/Support")!r}]
        import library_samples
        SAMPLES = {{sample.name: sample for sample in library_samples.vectors()}}
        GOOD = SAMPLES["signed-transaction/valid.jws"]
        RECEIPT, FORGED = GOOD.receipt, GOOD.receipt[:-8] + b"AAAAAAAA"
        """
    program = textwrap.dedent(prelude) + textwrap.dedent(code)
    done = subprocess.run(
        [python, "-c", program, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout,
        env=os.environ | (environment or {}),
    )
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    return done.stdout


# Verdicts


def test_a_valid_receipt(verifier):
    verdict = verifier.verify(RECEIPT)
    assert verdict.is_valid and not verdict.is_invalid and not verdict.is_undetermined
    assert verdict.verdict is receiptkit.VerdictWord.VALID and verdict.verdict == "valid"
    assert verdict.reason is None and verdict.retryable is None and not verdict.should_retry
    assert (verdict.format, verdict.bundle_id, verdict.environment) == ("signed-transaction", APP, "Sandbox")
    assert verdict.signed_date == datetime.datetime(2025, 10, 1, 7, 9, 12, tzinfo=datetime.timezone.utc)
    # It has expired, which does not make it invalid.
    assert verdict.standing is Standing.EXPIRED and verdict.grants_access is False and verdict.active_purchases == ()
    (purchase,) = verdict.transactions
    assert (purchase.transaction_id, purchase.product_id) == ("2000000001", f"{APP}.monthly")
    assert purchase.expires_date.tzinfo is datetime.timezone.utc and purchase.price == 9990
    assert verdict.signer.algorithm == "ES256" and len(verdict.signer.root_sha256) == 64
    assert verdict.to_dict() == json.loads(verdict.json) and verdict.to_dict()["type"] == "verdict"


def test_active_purchases():
    verdict = Verifier(ACTIVE.policy).verify(ACTIVE.receipt)
    assert verdict.grants_access and verdict.standing is Standing.ACTIVE
    assert [each.product_id for each in verdict.active_purchases] == [f"{APP}.coins"]
    assert len(verdict.transactions) == 2


def test_an_invalid_receipt(verifier):
    verdict = verifier.verify(FORGED)
    assert verdict.is_invalid and not verdict.is_valid and verdict.verdict == "invalid"
    assert (verdict.reason.code, verdict.reason.place) == ("signature-mismatch", "JWS signature")
    assert verdict.grants_access is False and verdict.active_purchases == () and verdict.transactions is None
    assert "signature-mismatch" in repr(verdict)


def test_an_undetermined_receipt():
    sample = SAMPLES["google-play-purchase/key-missing.json"]
    verdict = Verifier(sample.policy).verify(sample.receipt)
    assert verdict.is_undetermined and not verdict.is_valid and not verdict.is_invalid
    assert verdict.retryable is False and not verdict.should_retry and verdict.reason.code == "key-missing"


def test_no_verdict_is_true_or_false(verifier):
    for receipt in (RECEIPT, FORGED):
        verdict = verifier.verify(receipt)
        for each in (verdict, verdict.verdict, receiptkit.inspect(RECEIPT)):
            with pytest.raises(TypeError, match="is_valid|use its attributes"):
                bool(each)
        with pytest.raises(TypeError, match="grants_access"):
            assert all([verdict])
        with pytest.raises(TypeError):
            assert not verdict


def test_a_verdict_is_a_value(verifier):
    verdict, same, other = verifier.verify(RECEIPT), verifier.verify(RECEIPT), verifier.verify(FORGED)
    assert verdict == same and hash(verdict) == hash(same) and verdict != other and verdict != verdict.json
    for each in (verdict, other):
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            assert pickle.loads(pickle.dumps(each, protocol)) == each
            assert pickle.loads(pickle.dumps(each.transactions, protocol)) == each.transactions
        assert copy.deepcopy(each) == each and copy.copy(each) == each
    assert len({verdict, same, other}) == 2
    for name in ("is_valid", "verdict", "grants_access", "transactions", "unheard"):
        with pytest.raises(AttributeError):
            setattr(other, name, True)
    with pytest.raises(dataclasses.FrozenInstanceError):
        verdict.transactions[0].grants_access = True
    assert not hasattr(verdict.transactions[0], "__dict__") and not hasattr(verdict, "__dict__")
    verdict.to_dict()["verdict"] = "invalid"
    assert verdict.to_dict()["verdict"] == "valid"


def test_only_a_verdict_of_the_library_is_believed():
    contradiction = Verdict(b'{"verdict":"invalid"}', 0)
    with pytest.raises(receiptkit.ReceiptKitError, match="contradict"):
        assert contradiction.grants_access


def test_a_part_of_json():
    members = {"code": "malformed", "message": "It is.", "unheard": 1}
    reason = receiptkit.Reason.from_json(members)
    members["code"] = "other"
    assert reason == receiptkit.Reason("malformed", "It is.", None) and hash(reason)
    assert dataclasses.asdict(reason) == {"code": "malformed", "message": "It is.", "place": None}
    assert dataclasses.replace(reason, place="here").place == "here" and copy.copy(reason) == reason
    assert repr(reason) == "Reason(code='malformed', message='It is.', place=None)"
    with pytest.raises(AttributeError, match="unheard"):
        assert reason.unheard
    with pytest.raises(receiptkit.ReceiptKitError, match="message"):
        assert receiptkit.Reason.from_json({"code": "x"}).message
    with pytest.raises(dataclasses.FrozenInstanceError):
        receiptkit.Purchase.from_json({}).grants_access = True
    for given, granted in (({}, False), ({"grantsAccess": 1}, False), ({"grantsAccess": True}, True)):
        assert receiptkit.Purchase.from_json(given).grants_access is granted


def test_words_that_are_not_known_are_kept():
    word = Standing("paused")
    assert word == "paused" and f"{word}" == str(word) == "paused" and word in {"paused"}
    assert pickle.loads(pickle.dumps(word)) == word and isinstance(word, Standing)
    assert Standing("active") is Standing.ACTIVE and f"{Standing.ACTIVE}" == "active"
    assert json.dumps({"standing": Standing.ACTIVE}) == '{"standing": "active"}'
    with pytest.raises(ValueError, match="5"):
        Standing(5)


def test_every_attribute_of_every_verdict():
    """Whatever the library answers can be read, and says the same as its JSON."""
    read = collections.Counter()
    for sample in SAMPLES.values():
        with Verifier(sample.policy) as verifier:
            verdict = verifier.verify(sample.receipt)
        members = verdict.to_dict()
        for name, value in inspect.getmembers(type(verdict), lambda each: isinstance(each, property)):
            assert value.__doc__, name
            found = getattr(verdict, name)
            read[name] += found is not None
        assert len(verdict.transactions or ()) == len(members.get("transactions") or ())
        for purchase, raw in zip(verdict.transactions or (), members.get("transactions") or ()):
            assert sum(getattr(purchase, each.name) is not None for each in dataclasses.fields(purchase)) == len(raw)
            if "purchaseDate" in raw:
                text = purchase.purchase_date.isoformat(timespec="milliseconds").replace("+00:00", "Z")
                assert text == raw["purchaseDate"]
    never = {name for name, count in read.items() if not count}
    assert len(never) <= 5, f"no sample has {sorted(never)}"


def test_years_that_datetime_does_not_have(app_key):
    private, public = app_key
    purchase = json.loads(json.loads(SAMPLES["huawei-purchase/valid.json"].receipt)["data"])
    for milliseconds, text in ((327403224000000, "+012344-12-30T04:00:00.000Z"), (253402300799999, None)):
        purchase["expirationDate"] = milliseconds
        signed = Signer({"privateKey": private}).sign("huawei-purchase", purchase)
        verifier = Verifier(bundle_ids=[APP], environments=["production", "sandbox"], huawei_keys={APP: public})
        verdict = verifier.verify(signed.receipt)
        assert verdict.is_valid and verdict.grants_access, verdict.json
        expires = verdict.transactions[0].expires_date
        assert expires > datetime.datetime.now(datetime.timezone.utc) and expires.tzinfo is datetime.timezone.utc
        if text:
            assert str(expires) == expires.isoformat() == expires.text == text and text in repr(expires)
            assert pickle.loads(pickle.dumps(expires)).text == copy.copy(expires).text == text
            assert expires.astimezone(datetime.timezone(datetime.timedelta(hours=5))) == expires
    early = receiptkit.FarInstant.of("-000044-03-15T00:00:00.000Z")
    assert early < datetime.datetime(1, 1, 2, tzinfo=datetime.timezone.utc) and str(early).startswith("-000044")


# Receipts of any kind


def test_types_of_receipts(verifier):
    verdict = verifier.verify(RECEIPT)
    for each in (RECEIPT.decode(), bytearray(RECEIPT), memoryview(RECEIPT), memoryview(bytearray(RECEIPT))):
        assert verifier.verify(each) == verdict and verifier.payload(each) == verifier.payload(RECEIPT)
    # Every second byte: a view that is not contiguous.
    doubled = bytes(byte for pair in zip(RECEIPT, RECEIPT) for byte in pair)
    assert verifier.verify(memoryview(doubled)[::2]) == verdict

    class Text(str):
        __slots__ = ()

        def encode(self, *arguments):
            return FORGED

    class Bytes(bytes):
        def __len__(self):
            return 1 << 40

        def __bytes__(self):
            return FORGED

    # What counts is what they hold, not what their methods say.
    for each in (Text(RECEIPT.decode()), Bytes(RECEIPT)):
        assert verifier.verify(each) == verdict and verifier.verify_many([each]) == [verdict]
    assert Verifier(Bytes(json.dumps(POLICY).encode())).verify(RECEIPT) == verdict


@pytest.mark.parametrize("wrong", [None, 5, [RECEIPT], {"receipt": 1}, object(), 1.5, pathlib.Path("x")])
def test_what_is_no_receipt_at_all(verifier, wrong):
    for call in (verifier.verify, verifier.payload, receiptkit.inspect):
        with pytest.raises(TypeError, match="a receipt is bytes or a text"):
            call(wrong)
    with pytest.raises(TypeError, match="a receipt is bytes or a text"):
        verifier.verify_many([RECEIPT, wrong])


def test_one_receipt_is_not_many(verifier):
    for receipt in (RECEIPT, RECEIPT.decode(), bytearray(RECEIPT)):
        with pytest.raises(TypeError, match="use verify"):
            verifier.verify_many(receipt)


@pytest.mark.parametrize(
    "receipt",
    [b"", b"\0", b"\0" * 100, b"\xff\xfe\xfd", b"{", b"[" * 100_000, "\ud800", "é", b"A" * 5_000_000, b"." * 99],
)
def test_garbage_is_invalid(verifier, receipt):
    verdict = verifier.verify(receipt)
    assert verdict.is_invalid and verdict.reason.code and verdict.reason.message
    assert verifier.verify_many([receipt, RECEIPT, receipt]) == [verdict, verifier.verify(RECEIPT), verdict]


def test_a_receipt_that_is_too_long():
    with Verifier(POLICY | {"maximumByteCount": 100}) as verifier:
        assert not verifier.verify(RECEIPT).is_valid
    with Verifier(POLICY) as verifier:
        verdict = verifier.verify(b" " * (1 << 25))
        assert not verdict.is_valid


def test_receipts_that_were_damaged():
    chance = random.Random(5)
    with Verifier(POLICY) as verifier:
        damaged = []
        for _ in range(300):
            receipt = bytearray(RECEIPT)
            for _ in range(chance.randint(1, 4)):
                receipt[chance.randrange(len(receipt))] = chance.randrange(256)
            damaged.append(bytes(receipt))
        together = verifier.verify_many(damaged)
        for receipt, verdict in zip(damaged, together):
            assert verifier.verify(receipt) == verdict
            assert not verdict.is_valid or receipt == RECEIPT


# Many


def test_many(verifier):
    receipts = [RECEIPT, FORGED, b"", RECEIPT.decode(), bytearray(FORGED)] * 60
    verdicts = verifier.verify_many(receipts)
    assert verdicts == [verifier.verify(receipt) for receipt in receipts]
    assert verifier.verify_many(iter(receipts)) == verdicts == verifier.verify_many(each for each in receipts)
    assert verifier.verify_many([]) == []


def test_many_more_than_one_call_takes(verifier, monkeypatch):
    from receiptkit import _verifier

    monkeypatch.setattr(_verifier, "BATCH_COUNT", 7)
    monkeypatch.setattr(_verifier, "BATCH_BYTES", 5 * len(RECEIPT))
    receipts = [RECEIPT, b"x", FORGED, b"", b""] * 20
    assert [each.verdict for each in verifier.verify_many(receipts)] == ["valid", *["invalid"] * 4] * 20


def test_an_iterator_that_fails(verifier):
    def receipts():
        yield RECEIPT
        raise LookupError("no more")

    with pytest.raises(LookupError, match="no more"):
        verifier.verify_many(receipts())


# Payloads, inspection, signing, proofs, version


def test_payload(verifier):
    payload = verifier.payload(RECEIPT)
    assert isinstance(payload, bytes) and json.loads(payload)["transactionId"] == "2000000001"
    for receipt, word in ((FORGED, "invalid"), (b"", "invalid")):
        with pytest.raises(receiptkit.NotValidError) as failed:
            verifier.payload(receipt)
        assert failed.value.verdict == verifier.verify(receipt) and failed.value.verdict.verdict == word
        assert failed.value.code == failed.value.verdict.reason.code and failed.value.status == 1
        assert pickle.loads(pickle.dumps(failed.value)).verdict == failed.value.verdict


def test_inspection():
    for redact in (False, True):
        inspection = receiptkit.inspect(FORGED, redact)
        assert inspection.verified is False and "UNVERIFIED" in inspection.notice
        assert inspection.format == "signed-transaction" and inspection.header["alg"] == "ES256"
        assert ("7e3fb204-2b3a-4c8f-9d5e-6a1b2c3d4e5f" in inspection.json.decode()) is not redact
        assert not hasattr(inspection, "is_valid") and not hasattr(inspection, "verdict")
    receipt = receiptkit.inspect(ACTIVE.receipt)
    assert isinstance(receipt.digest_algorithms, tuple) and len(receipt.in_app_purchases) == 2
    assert receipt.signer_infos and receipt.certificates
    for wrong in (b"", b"{}", b"\xff", b"." * 1000, "\ud800"):
        with pytest.raises(receiptkit.InvalidInput) as failed:
            receiptkit.inspect(wrong)
        assert failed.value.code and failed.value.status == 1 and isinstance(failed.value, ValueError)


def test_signing(app_key):
    private, public = app_key
    content = {"orderId": "GPA.1", "packageName": APP, "productId": "coins", "purchaseTime": 1759302550000}
    content |= {"purchaseState": 0, "purchaseToken": "token"}
    with Signer({"privateKey": private}) as signer:
        signed = signer.sign("google-play-purchase", content)
        assert (
            signer.sign("google-play-purchase", json.dumps(content)).format == signed.format == "google-play-purchase"
        )
        assert signed.signed_date.year == 2025
        with pytest.raises(receiptkit.InvalidInput) as failed:
            signer.sign("unheard-of", content)
        assert failed.value.place == "$.format"
        with pytest.raises(receiptkit.InvalidInput, match="no JSON"):
            signer.sign("google-play-purchase", "{")
        with pytest.raises(TypeError):
            signer.sign("google-play-purchase", 5)
        with pytest.raises(TypeError, match="private key"):
            pickle.dumps(signer)
    assert private not in repr(signer)
    verifier = Verifier(bundle_ids=[APP], play_keys={APP: public}, unstated_environment="accept")
    verdict = verifier.verify(signed.receipt)
    assert verdict.is_valid and verdict.grants_access and verdict.active_purchases[0].product_id == "coins"
    with pytest.raises(receiptkit.ClosedError):
        signer.sign("google-play-purchase", content)
    for wrong in ({"privateKey": "x"}, {}, "{", b"\xff", {"privateKey": private, "unheard": 1}):
        with pytest.raises(receiptkit.InvalidInput):
            Signer(wrong)


def test_proofs():
    for arguments in ({}, {"key": "x", "policy": "y"}, {"key": "x"}, {"policy": "x"}, {"key": "x", "receipt": b"x"}):
        with pytest.raises(receiptkit.InvalidInput) as failed:
            receiptkit.check_proof(b"proof", **arguments)
        assert failed.value.status in (64, 66) and failed.value.place
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    import hashlib

    public = b"\x01" + Ed25519PrivateKey.generate().public_key().public_bytes_raw()
    name = "example.com/log"
    identifier = hashlib.sha256(name.encode() + b"\n" + public).digest()[:4].hex()
    key = f"{name}+{identifier}+{base64.b64encode(public).decode()}"
    check = receiptkit.check_proof(b"c2sp.org/tlog-proof@v1\n", key=key)
    assert check.proven is False and check.message and check.entry is None
    with pytest.raises(TypeError):
        bool(check)


def test_version():
    version = receiptkit.version()
    current = (ROOT / "Sources/Receipts/ReceiptBytes/ToolkitVersion.swift").read_text()
    assert (
        f'static let current = "{receiptkit.__version__}"' in current and version.tool_version == receiptkit.__version__
    )
    assert version.libcrypto.startswith("3.") and isinstance(version.traits, tuple)


# Policies


def test_a_policy_has_three_forms():
    forms = [POLICY, json.dumps(POLICY), json.dumps(POLICY).encode(), collections.ChainMap(POLICY)]
    verdicts = {Verifier(form).verify(RECEIPT) for form in forms}
    keywords = {"bundle_ids": POLICY["bundleIds"], "environments": POLICY["environments"], "trust": POLICY["trust"]}
    assert verdicts == {Verifier(**keywords).verify(RECEIPT)} == {Verifier(POLICY).verify(RECEIPT)}


def test_every_argument_of_a_policy(app_key):
    root = (ROOT / "TestVectors/certificates/es256-root.pem").read_bytes()
    arguments = {
        "bundle_ids": {APP}, "environments": ("sandbox", "production"), "trust": [root, "apple"],
        "intermediates": [root.decode()], "xcode_certificates": [], "admit_xcode": False, "require_current": False,
        "kinds": ["signed-transaction"], "algorithms": ["ES256"], "app_apple_id": 1234567890,
        "maximum_age": datetime.timedelta(days=36500), "allowed_clock_skew": 5, "markers": [("1.2.3", "1.2.4")],
        "time": datetime.datetime(2025, 10, 2, tzinfo=datetime.timezone(datetime.timedelta(hours=5))),
        "device_id": uuid.UUID(int=5), "accept_claimed_environment": True, "play_keys": {APP: app_key[1]},
        "huawei_keys": {APP: [app_key[1]]}, "admit_short_keys": True, "play_environments": ["sandbox"],
        "huawei_environments": ["sandbox"], "unstated_environment": "refuse", "maximum_byte_count": 1 << 20,
    }  # fmt: skip
    names = set(inspect.signature(Verifier).parameters) - {"policy"}
    assert names == {*arguments, "any_bundle_id"}
    with Verifier(**arguments) as verifier:
        policy = json.loads(verifier.policy)
        assert verifier.verify(RECEIPT).is_invalid
    assert policy["time"] == "2025-10-01T19:00:00.000Z" and policy["playKeys"] == [{"package": APP, "key": app_key[1]}]
    assert policy["maximumAge"] == 36500 * 86400 and policy["deviceId"] == str(uuid.UUID(int=5))
    assert policy["markers"] == [{"leaf": "1.2.3", "intermediate": "1.2.4"}] and policy["admitShortKeys"] is True
    # Its certificates have other extensions, and it names no device. At that time it had not expired.
    del arguments["markers"], arguments["device_id"], arguments["app_apple_id"]
    with Verifier(**arguments) as verifier:
        verdict = verifier.verify(RECEIPT)
    assert verdict.is_valid and verdict.grants_access
    with Verifier(any_bundle_id=True, environments=["sandbox"], trust=[root]) as verifier:
        assert verifier.verify(RECEIPT).is_valid


@pytest.mark.parametrize(
    "arguments",
    [
        {"bundle_id": [APP]}, {"bundleIds": [APP]}, {"bundle_ids": APP}, {"bundle_ids": [5]}, {"bundle_ids": 5},
        {"any_bundle_id": 1}, {"maximum_byte_count": 1.5}, {"maximum_byte_count": True}, {"maximum_age": "5"},
        {"trust": "apple"}, {"trust": [None]}, {"play_keys": [APP]}, {"play_keys": {APP: 5}}, {"time": 5},
        {"policy": {"bundleIds": [APP]}, "environments": ["sandbox"]}, {"policy": 5}, {"policy": [APP]},
        {"policy": {"bundleIds": object()}}, {"markers": ["ab"]}, {"time": b"now"},
    ],
)  # fmt: skip
def test_arguments_of_the_wrong_type(arguments):
    with pytest.raises(TypeError):
        Verifier(**arguments)


@pytest.mark.parametrize(
    ("policy", "place"),
    [
        ({"bundleIds": [APP], "unheard": 1}, "$.unheard"), ({"bundleIds": []}, "$.bundleIds"), ({}, "$.bundleIds"),
        ({"bundleIds": [APP], "environments": ["moon"]}, "$.environments[0]"), ("{", None), ("", None), (b"\xff", None),
        ("\ud800", None), ("[]", None), ("null", None), ({"bundleIds": [APP], "trust": ["x"]}, "$.trust[0]"),
        ({"bundleIds": [APP], "maximumAge": float("nan")}, None), ({"bundleIds": [APP], "time": "yesterday"}, "$.time"),
        ({"bundleIds": "x"}, "$.bundleIds"), ('{"bundleIds":["x"],"bundleIds":["y"]}', "$.bundleIds"),
    ],
)  # fmt: skip
def test_a_policy_that_cannot_be_meant(policy, place):
    with pytest.raises(PolicyError) as failed:
        Verifier(policy)
    error = failed.value
    assert isinstance(error, ValueError) and isinstance(error, receiptkit.ReceiptKitError)
    assert error.code and error.message and error.status in (0, 64, 66)
    assert place is None or error.place == place
    assert pickle.loads(pickle.dumps(error)).args == error.args


def test_a_time_needs_a_zone():
    with pytest.raises(ValueError, match="time zone"):
        Verifier(bundle_ids=[APP], time=datetime.datetime(2025, 1, 1))


# Handles


def test_a_verifier_that_is_closed(verifier):
    with Verifier(POLICY) as other:
        assert not other.closed
    assert other.closed and "closed" in repr(other)
    other.close()
    other.close()
    calls = [
        lambda: other.verify(RECEIPT), lambda: other.verify_many([RECEIPT]), lambda: other.verify_many([]),
        lambda: other.payload(RECEIPT), lambda: pickle.dumps(other), lambda: other.__enter__(),
        lambda: asyncio.run(other.verify_async(RECEIPT)),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(receiptkit.ClosedError) as failed:
            call()
        assert isinstance(failed.value, ValueError)
    assert pickle.loads(pickle.dumps(failed.value)).code == "closed"
    # Those of others are as they were.
    assert verifier.verify(RECEIPT).is_valid


def is_freed(handle: int) -> bool:
    return library().handle_free(handle) == 64


def test_what_nobody_uses_is_freed():
    verifier = Verifier(POLICY)
    handle = verifier._handle
    cycle = [verifier]
    cycle.append(cycle)
    del verifier, cycle
    gc.collect()
    assert is_freed(handle)
    # A policy that is refused leaves nothing behind, and nothing to be collected.
    with pytest.raises(PolicyError):
        Verifier({})
    gc.collect()


def test_a_call_keeps_its_verifier():
    begun, results = threading.Event(), []

    def receipts():
        for _ in range(400):
            begun.set()
            yield RECEIPT

    def verify(verify_many):
        results.extend(verify_many(receipts()))

    verifier = Verifier(POLICY)
    handle = verifier._handle
    thread = threading.Thread(target=verify, args=(verifier.verify_many,))
    thread.start()
    del verifier
    assert begun.wait(30)
    while thread.is_alive():
        gc.collect()
    thread.join()
    assert len(results) == 400 and all(each.is_valid for each in results)
    del thread
    gc.collect()
    assert is_freed(handle)


def test_pickling(verifier):
    for again in (pickle.loads(pickle.dumps(verifier)), copy.copy(verifier), copy.deepcopy(verifier)):
        assert again is not verifier and again._handle != verifier._handle
        assert again.verify(RECEIPT) == verifier.verify(RECEIPT)
        again.close()
    assert verifier.verify(RECEIPT).is_valid


@pytest.mark.long
def test_memory():
    import resource

    verifier = Verifier(POLICY)

    def work(rounds):
        for _ in range(rounds):
            verifier.verify(RECEIPT)
            verifier.verify_many([FORGED, RECEIPT])
            receiptkit.inspect(RECEIPT)
            Verifier(POLICY).close()
            with pytest.raises(receiptkit.NotValidError):
                verifier.payload(b"x")
            with pytest.raises(PolicyError):
                Verifier({})
        gc.collect()

    work(300)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    work(1500)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 12_000, f"{grown} KiB more"


# Threads and processes


def test_a_hundred_threads(verifier):
    expected = {receipt: verifier.verify(receipt) for receipt in (RECEIPT, FORGED, b"", b"{}")}
    start, wrong = threading.Barrier(100), []

    def work(number):
        chance = random.Random(number)
        start.wait()
        for _ in range(30):
            receipts = chance.choices(list(expected), k=3)
            if number % 10 == 0:
                found = verifier.verify_many(receipts)
            else:
                found = [verifier.verify(receipt) for receipt in receipts]
            if found != [expected[receipt] for receipt in receipts]:
                wrong.append((receipts, found))

    with concurrent.futures.ThreadPoolExecutor(100) as threads:
        list(threads.map(work, range(100)))
    assert not wrong


def test_a_verifier_is_closed_while_others_use_it():
    for is_batch in (False, True):
        verifier = Verifier(POLICY)
        ended, wrong = [], []

        def work(verifier=verifier, is_batch=is_batch, ended=ended, wrong=wrong):
            try:
                while True:
                    found = verifier.verify_many([RECEIPT] * 70) if is_batch else [verifier.verify(RECEIPT)]
                    if not all(each.is_valid for each in found):
                        wrong.append(found)
            except receiptkit.ClosedError:
                ended.append(True)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        threading.Event().wait(0.3)
        verifier.close()
        for thread in threads:
            thread.join(60)
        assert len(ended) == 8 and not wrong


def test_fork_while_others_verify():
    out = run(
        """
        import os, threading, time, warnings
        from receiptkit import Verifier
        warnings.simplefilter("ignore")
        verifier, ended = Verifier(GOOD.policy), threading.Event()
        expected = [verifier.verify(RECEIPT), verifier.verify(FORGED)]
        counts = [0] * 5
        def one(number):
            while not ended.is_set():
                assert [verifier.verify(RECEIPT), verifier.verify(FORGED)] == expected
                counts[number] += 1
        def many():
            while not ended.is_set():
                assert verifier.verify_many([RECEIPT, FORGED] * 300) == expected * 300
                counts[4] += 1
        threads = [threading.Thread(target=one, args=(number,)) for number in range(4)]
        threads.append(threading.Thread(target=many))
        for thread in threads:
            thread.start()
        for number in range(40):
            child = os.fork()
            if child == 0:
                import signal
                # A child that hangs is ended.
                signal.alarm(30)
                good = [verifier.verify(RECEIPT), verifier.verify(FORGED)] == expected
                good = good and verifier.verify_many([RECEIPT, FORGED] * 70) == expected * 70
                good = good and Verifier(GOOD.policy).verify(RECEIPT) == expected[0]
                if number % 4 == 0:
                    # And a child of the child.
                    grandchild = os.fork()
                    if grandchild == 0:
                        os._exit(0 if verifier.verify(RECEIPT).is_valid else 1)
                    good = good and os.waitpid(grandchild, 0)[1] == 0
                verifier.close()
                os._exit(0 if good else 1)
            assert os.waitpid(child, 0)[1] == 0, number
        ended.set()
        for thread in threads:
            thread.join()
        assert verifier.verify(RECEIPT).is_valid and all(counts), counts
        print("done", counts)
        """,
        timeout=240,
    )
    assert out.startswith("done")


def test_a_signal_handler_of_python_that_verifies():
    """It runs between a call and the reading of its result, and must not get in the way."""
    out = run(
        """
        import signal
        from receiptkit import Verifier
        verifier, seen = Verifier(GOOD.policy), []
        def handler(*_):
            seen.append(verifier.verify(FORGED).is_invalid)
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        while len(seen) < 300:
            assert verifier.verify(RECEIPT).is_valid
        signal.setitimer(signal.ITIMER_REAL, 0)
        assert all(seen)
        print("done")
        """
    )
    assert out == "done\n"


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(method, tmp_path):
    (tmp_path / "work.py").write_text(
        textwrap.dedent(
            """
            import multiprocessing, sys
            from receiptkit import Verifier

            def verify(pair):
                verifier, receipt = pair
                return verifier.verify(receipt), [each.is_valid for each in verifier.verify_many([receipt])]

            if __name__ == "__main__":
                policy, receipt = (open(path, "rb").read() for path in sys.argv[2:])
                verifier = Verifier(policy)
                with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
                    found = pool.map(verify, [(verifier, receipt), (verifier, b"x")] * 4, chunksize=1)
                assert found == [(verifier.verify(receipt), [True]), (verifier.verify(b"x"), [False])] * 4
                print("done")
            """
        )
    )
    (tmp_path / "policy").write_text(json.dumps(POLICY))
    (tmp_path / "receipt").write_bytes(RECEIPT)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "work.py", method, "policy", "receipt"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(PACKAGE / "src")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout == "done\n", done.stderr


def test_asyncio(verifier):
    async def main():
        beats = 0

        async def beat():
            nonlocal beats
            while True:
                beats += 1
                await asyncio.sleep(0)

        heart = asyncio.ensure_future(beat())
        found = await asyncio.gather(*(verifier.verify_async(each) for each in [RECEIPT, FORGED] * 30))
        many = await verifier.verify_many_async([RECEIPT, FORGED] * 30)
        payload = await verifier.payload_async(RECEIPT)
        heart.cancel()
        assert beats > 1
        return found, many, payload

    found, many, payload = asyncio.run(main())
    assert found == many == [verifier.verify(RECEIPT), verifier.verify(FORGED)] * 30
    assert payload == verifier.payload(RECEIPT)


@pytest.mark.parametrize("first", ["receiptkit", "openssl"])
def test_beside_the_openssl_of_python(first):
    """Whichever comes first, and while both work in other threads."""
    out = run(
        """
        import datetime, threading
        def verify(verifier=[]):
            from receiptkit import Verifier
            if not verifier:
                verifier.append(Verifier(GOOD.policy))
            assert verifier[0].verify(RECEIPT).is_valid and verifier[0].verify(FORGED).is_invalid
        def openssl():
            import hashlib, os, ssl, tempfile
            from cryptography import x509
            from cryptography.hazmat.primitives import hashes, serialization
            from cryptography.hazmat.primitives.asymmetric import ec
            key = ec.generate_private_key(ec.SECP256R1())
            name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
            now = datetime.datetime(2020, 1, 1)
            certificate = (
                x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
                .serial_number(5)
                .not_valid_before(now).not_valid_after(now + datetime.timedelta(days=36500))
                .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), False)
                .sign(key, hashes.SHA256()))
            key.public_key().verify(key.sign(b"data", ec.ECDSA(hashes.SHA256())), b"data", ec.ECDSA(hashes.SHA256()))
            pem = serialization.Encoding.PEM
            file = tempfile.NamedTemporaryFile()
            file.write(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
            file.write(certificate.public_bytes(pem))
            file.flush()
            server, client = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context(cafile=file.name)
            server.load_cert_chain(file.name)
            a, b = ssl.MemoryBIO(), ssl.MemoryBIO()
            ends = [server.wrap_bio(a, b, server_side=True), client.wrap_bio(b, a, server_hostname="localhost")]
            for _ in range(6):
                for end in ends:
                    try:
                        end.do_handshake()
                    except ssl.SSLWantReadError:
                        pass
            ends[1].write(b"hello")
            assert ends[0].read(5) == b"hello" and ends[0].version() == "TLSv1.3"
            assert hashlib.new("sha512_256", b"x").hexdigest()
        parts = [verify, openssl] if sys.argv[1] == "receiptkit" else [openssl, verify]
        for _ in range(3):
            for part in parts:
                part()
        failures = []
        def repeat(part):
            try:
                for _ in range(20):
                    part()
            except BaseException as error:
                failures.append(error)
        threads = [threading.Thread(target=repeat, args=(part,)) for part in parts * 3]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        assert not failures, failures
        print("done")
        """,
        first,
    )
    assert out == "done\n"


def test_a_process_ends_while_threads_verify():
    run(
        """
        import threading
        from receiptkit import Verifier
        verifier = Verifier(GOOD.policy)
        def work():
            while True:
                verifier.verify_many([RECEIPT] * 100)
        for _ in range(4):
            threading.Thread(target=work, daemon=True).start()
        for _ in range(50):
            verifier.verify(RECEIPT)
        """
    )


# The library


def test_the_library_is_not_there(tmp_path):
    code = """
        import receiptkit
        try:
            receiptkit.Verifier(GOOD.policy)
        except receiptkit.LibraryNotFound as error:
            assert isinstance(error, ImportError) and isinstance(error, receiptkit.ReceiptKitError)
            print(error)
        """
    assert "/nowhere" in run(code, environment={"RECEIPTKIT_LIBRARY": "/nowhere"})
    (tmp_path / "libreceiptkit.so.1").write_bytes(b"this is no library")
    assert "cannot be loaded" in run(code, environment={"RECEIPTKIT_LIBRARY": str(tmp_path / "libreceiptkit.so.1")})
    assert "RECEIPTKIT_LIBRARY" in run(code, environment={"RECEIPTKIT_LIBRARY": "", "LD_LIBRARY_PATH": ""})
    # One of another kind.
    libc = subprocess.run(["ldd", LIBRARY], capture_output=True, text=True).stdout.split("libc.so.6 => ")[1].split()[0]
    assert "is not libreceiptkit" in run(code, environment={"RECEIPTKIT_LIBRARY": libc})


def test_another_interface_is_refused(monkeypatch):
    from receiptkit import _library

    monkeypatch.setattr(_library, "ABI_VERSION", 2)
    with pytest.raises(receiptkit.LibraryNotFound, match="version 1 of its interface"):
        _library.Library(LIBRARY)


def test_a_path_is_given():
    run(
        """
        import receiptkit
        assert receiptkit.load_library(sys.argv[1]) == sys.argv[1] == receiptkit.load_library()
        assert receiptkit.Verifier(GOOD.policy).verify(RECEIPT).is_valid
        try:
            receiptkit.load_library("/another")
        except RuntimeError:
            print("done")
        """,
        LIBRARY,
        environment={"RECEIPTKIT_LIBRARY": "/nowhere"},
    )


# Columns


def every_column(pyarrow):
    values = [RECEIPT, None, FORGED, b"", None, RECEIPT]
    texts = [each and each.decode() if each is not None else None for each in values]
    for type in (pyarrow.string(), pyarrow.large_string()):
        yield pyarrow.array(texts, type)
    for type in (pyarrow.binary(), pyarrow.large_binary()):
        yield pyarrow.array(values, type)
    yield pyarrow.array(values, pyarrow.binary()).dictionary_encode()
    if hasattr(pyarrow, "string_view"):
        yield pyarrow.array(texts, pyarrow.string_view())
        yield pyarrow.array(values, pyarrow.binary_view())


def test_arrow(verifier):
    pyarrow = pytest.importorskip("pyarrow")
    from receiptkit.columns import COLUMNS, verify_column

    good, forged, empty = verifier.verify(RECEIPT), verifier.verify(FORGED), verifier.verify(b"")
    for column in every_column(pyarrow):
        result = verify_column(verifier, column)
        result.validate(full=True)
        assert isinstance(result, pyarrow.StructArray) and [each.name for each in result.type] == list(COLUMNS)
        rows = result.to_pylist()
        assert [row and row["verdict"] for row in rows] == ["valid", None, "invalid", "invalid", None, "valid"]
        assert rows[0] == rows[5] and rows[0]["is_valid"] is True and rows[0]["grants_access"] is False
        assert rows[0]["product_id"] == good.transactions[0].product_id and rows[0]["transaction_ids"] == ["2000000001"]
        assert rows[0]["active_product_ids"] == [] and rows[0]["signed_date"] == "2025-10-01T07:09:12.000Z"
        assert (rows[2]["code"], rows[2]["place"], rows[2]["is_valid"]) == (
            forged.reason.code,
            forged.reason.place,
            False,
        )
        assert rows[3]["message"] == empty.reason.message
        # Parts of it, which begin elsewhere in the buffers.
        for start, length in ((0, 0), (1, 3), (2, 2), (5, 1), (3, 9)):
            part = column.slice(start, length)
            assert verify_column(verifier, part).to_pylist() == rows[start : start + length]
        chunked = pyarrow.chunked_array([column, column.slice(2), column.slice(0, 0)])
        result = verify_column(verifier, chunked)
        assert result.to_pylist() == rows + rows[2:] and isinstance(result, pyarrow.ChunkedArray)
        result.validate(full=True)
        with_json = verify_column(verifier, column, json=True).to_pylist()
        assert with_json[0]["json"] == good.json.decode() and with_json[1] is None
    empty_column = pyarrow.chunked_array([], type=pyarrow.string())
    assert verify_column(verifier, empty_column).to_pylist() == []
    assert verify_column(verifier, pyarrow.nulls(3)).to_pylist() == [None] * 3
    assert verify_column(verifier, pyarrow.array([b"abc"], pyarrow.binary(3))).to_pylist()[0]["verdict"] == "invalid"
    for wrong in (pyarrow.array([1]), pyarrow.array([[RECEIPT]]), pyarrow.table({"a": [1]}), pyarrow.scalar(1)):
        with pytest.raises(TypeError):
            verify_column(verifier, wrong)


def test_arrow_of_more_rows_than_one_call_takes(verifier, monkeypatch):
    pyarrow = pytest.importorskip("pyarrow")
    from receiptkit import columns

    column = pyarrow.array([RECEIPT, b"x", None] * 9, pyarrow.binary()).slice(1)
    for count, size in ((5, 1 << 25), (100, 1), (100, 3 * len(RECEIPT)), (1, 0)):
        monkeypatch.setattr(columns, "BATCH_COUNT", count)
        monkeypatch.setattr(columns, "BATCH_BYTES", size)
        found = [row and row["verdict"] for row in columns.verify_column(verifier, column).to_pylist()]
        assert found == (["valid", "invalid", None] * 9)[1:]


def test_arrow_whose_offsets_lead_elsewhere(verifier, monkeypatch):
    """No input may read other memory than its own."""
    pyarrow = pytest.importorskip("pyarrow")
    import struct

    from receiptkit import columns
    from receiptkit.columns import verify_column

    for offsets in ((0, 1 << 30, 4), (0, 8, 4), (-8, 2, 4), (0, 2, 1 << 30), (4, 2, 0), (0, -1, 4)):
        buffers = [None, pyarrow.py_buffer(struct.pack("3i", *offsets)), pyarrow.py_buffer(b"abcd")]
        with pytest.raises((ValueError, receiptkit.ReceiptKitError)):
            verify_column(verifier, pyarrow.Array.from_buffers(pyarrow.binary(), 2, buffers))
    # Memory of another that changes after it was checked.
    offsets = bytearray(struct.pack("3i", 0, 2, 4))
    buffers = [None, pyarrow.py_buffer(offsets), pyarrow.py_buffer(b"abcd")]
    column = pyarrow.Array.from_buffers(pyarrow.binary(), 2, buffers)
    for changed in ((0, 2, 1 << 30), (-8, 2, 4), (0, 1 << 30, 4), (4, 2, 0), (0, 2, 5), (0, -1, -1)):
        offsets[:] = struct.pack("3i", *changed)
        with pytest.raises((ValueError, receiptkit.ReceiptKitError)):
            verify_column(verifier, column)
    with monkeypatch.context() as patch:
        # The last offset of a call, though not that of the column.
        patch.setattr(columns, "BATCH_COUNT", 1)
        for changed in ((0, 1 << 30, 4), (0, 5, 4), (-8, 2, 4)):
            offsets[:] = struct.pack("3i", *changed)
            with pytest.raises((ValueError, receiptkit.ReceiptKitError)):
                columns.verify_column(verifier, column)
    offsets[:] = struct.pack("3i", 0, 2, 4)
    assert [row["verdict"] for row in verify_column(verifier, column).to_pylist()] == ["invalid"] * 2


def test_arrow_without_numpy(verifier, monkeypatch):
    pyarrow = pytest.importorskip("pyarrow")
    from receiptkit.columns import verify_column

    expected = [verify_column(verifier, column).to_pylist() for column in every_column(pyarrow)]
    monkeypatch.delitem(sys.modules, "numpy", raising=False)
    assert [verify_column(verifier, column).to_pylist() for column in every_column(pyarrow)] == expected


def test_pandas(verifier):
    pandas = pytest.importorskip("pandas")
    from receiptkit.columns import COLUMNS, verify_column

    texts = [RECEIPT.decode(), None, FORGED.decode(), ""]
    columns = [
        pandas.Series([RECEIPT, None, FORGED.decode(), float("nan")], index=list("abcd"), dtype=object),
        pandas.Series(texts, index=[5, 5, 6, 7], dtype="string"),
        pandas.Series(texts).astype("category"),
        pandas.Series(texts),
    ]
    for column in columns:
        frame = verify_column(verifier, column)
        assert list(frame.columns) == list(COLUMNS) and frame.index.equals(column.index)
        assert frame["verdict"].isna().tolist() == column.isna().tolist() == frame["is_valid"].isna().tolist()
        assert frame["is_valid"].iloc[0] is True or frame["is_valid"].iloc[0]
        assert frame["verdict"].dropna().tolist()[:2] == ["valid", "invalid"]
        # What is null is not granted.
        assert len(frame[frame["is_valid"]]) == 1 and len(frame[frame["grants_access"]]) == 0
        assert frame["product_ids"].iloc[0] == [f"{APP}.monthly"]
    assert len(verify_column(verifier, pandas.Series([], dtype=object))) == 0
    assert verify_column(verifier, pandas.Series([None, None])).isna().all(axis=None)
    assert verify_column(verifier, columns[0], json=True)["json"].iloc[0] == verifier.verify(RECEIPT).json.decode()
    for wrong in (
        pandas.Series([1, 2]),
        pandas.DataFrame({"a": [RECEIPT]}),
        pandas.Index([RECEIPT]),
        [RECEIPT],
        RECEIPT,
    ):
        with pytest.raises(TypeError):
            verify_column(verifier, wrong)


def test_columns_of_a_verifier_that_was_closed():
    pyarrow, pandas = pytest.importorskip("pyarrow"), pytest.importorskip("pandas")
    from receiptkit.columns import verify_column

    verifier = Verifier(POLICY)
    verifier.close()
    for column in (pyarrow.array([RECEIPT]), pyarrow.array([], pyarrow.binary()), pandas.Series([RECEIPT])):
        with pytest.raises(receiptkit.ClosedError):
            verify_column(verifier, column)


def test_the_function_for_spark(verifier):
    pandas = pytest.importorskip("pandas")
    from receiptkit.columns import COLUMNS
    from receiptkit.spark import output_schema, verifier_udf

    frames = [pandas.DataFrame({"id": [1, 2], "receipt": [RECEIPT, None], "note": ["a", "b"]}, index=[8, 9])]
    frames.append(frames[0].iloc[:0])
    for policy in (POLICY, json.dumps(POLICY), verifier):
        first, second = verifier_udf(policy)(iter(frames))
        assert list(first.columns) == ["id", "note", *COLUMNS] and first["id"].tolist() == [1, 2] and len(second) == 0
        assert first["verdict"].tolist()[0] == "valid" and first["verdict"].isna().tolist() == [False, True]
    (first, *_) = verifier_udf(POLICY, keep=["note"])(iter(frames))
    assert list(first.columns) == ["note", *COLUMNS]

    class Frame:
        dtypes = [("id", "bigint"), ("receipt", "binary"), ("odd`name", "string")]

    assert output_schema(Frame()).startswith("`id` bigint, `odd``name` string, `is_valid` boolean, `verdict` string, ")
    with pytest.raises(PolicyError):
        verifier_udf({"unheard": 1})
    with pytest.raises(ValueError, match="no column"):
        list(verifier_udf(POLICY, "other")(iter(frames)))
    with pytest.raises(ValueError, match="of its own"):
        list(verifier_udf(POLICY)(iter([frames[0].rename(columns={"note": "verdict"})])))


def test_spark(tmp_path):
    specification = importlib.util.find_spec("pyspark")
    if specification is None or not (pathlib.Path(specification.origin).parent / "jars").exists():
        pytest.skip("PySpark is not installed")
    out = run(
        """
        from pyspark.sql import SparkSession
        from receiptkit.spark import verify
        spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
        frame = spark.createDataFrame([(1, RECEIPT), (2, FORGED), (3, None)] * 5, "id int, receipt binary")
        rows = verify(frame.repartition(3), GOOD.policy).orderBy("id").collect()
        assert [row.verdict for row in rows] == ["valid"] * 5 + ["invalid"] * 5 + [None] * 5
        assert rows[0].product_ids == ["com.example.app.monthly"] and rows[0].is_valid is True
        spark.stop()
        print("done")
        """,
        timeout=300,
        environment={"PYTHONPATH": str(PACKAGE / "src"), "PYSPARK_PYTHON": sys.executable},
    )
    assert out.endswith("done\n")


# The package


def test_the_generated_files_are_what_the_tables_say():
    subprocess.run([sys.executable, ROOT / "scripts/library_bindings.py", "--check"], check=True, timeout=60)


def test_types():
    pytest.importorskip("mypy")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", "/dev/null"],
        cwd=PACKAGE,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_types_of_a_program(tmp_path):
    pytest.importorskip("mypy")
    program = """
        from receiptkit import Standing, Verifier
        verifier = Verifier(bundle_ids=["com.example.app"], maximum_age=5)
        verdict = verifier.verify(b"receipt")
        reveal_type(verdict.grants_access)
        reveal_type(verdict.standing)
        reveal_type(verdict.active_purchases[0].expires_date)
        reveal_type(verdict.transactions)
        reveal_type(verifier.verify_many([b"a", "b"]))
        Verifier(bundle_id="com.example.app")
        verdict.active_purchases[0].unheard
        verdict.is_valid = True
        verifier.verify(5)
        """
    (tmp_path / "program.py").write_text(textwrap.dedent(program))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", "/dev/null", "program.py"],
        cwd=tmp_path,
        env=os.environ | {"MYPYPATH": str(PACKAGE / "src")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    revealed = [line.split('type is "')[1].strip('"') for line in done.stdout.splitlines() if "Revealed" in line]
    assert revealed[0] == "bool" and "Standing" in revealed[1] and "datetime" in revealed[2], done.stdout
    assert revealed[2].endswith("None") and "Purchase, ..." in revealed[3] and "list[" in revealed[4], done.stdout
    wrong = [
        int(line.split(":")[1])
        for line in done.stdout.splitlines()
        if line.startswith("program.py") and "error" in line
    ]
    assert wrong == [10, 11, 12, 13], done.stdout


def test_every_public_name_is_documented():
    for name in receiptkit.__all__:
        value = getattr(receiptkit, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert value.__doc__, name
        if inspect.isclass(value):
            for member, part in vars(value).items():
                if not member.startswith("_") and callable(part):
                    assert part.__doc__, f"{name}.{member}"


def test_the_samples_of_the_readme():
    text = (PACKAGE / "README.md").read_text()
    names = {}
    for sample in [each.split("```")[0] for each in text.split("```python\n")[1:]]:
        exec(compile(sample, "README.md", "exec"), names)
    names["verifier"] = Verifier(ACTIVE.policy)
    assert names["purchases"](ACTIVE.receipt) == [(f"{APP}.coins", 3)] and names["purchases"](b"x") == []
    pyarrow = pytest.importorskip("pyarrow")
    assert names["verdicts"](pyarrow.array([ACTIVE.receipt])).to_pylist()[0]["active_product_ids"] == [f"{APP}.coins"]


def test_the_parity_program():
    samples = [GOOD, ACTIVE, *list(SAMPLES.values())[::40]]
    lines = [{"policy": each.policy, "receipts": [base64.b64encode(each.receipt).decode(), "eA=="]} for each in samples]
    done = subprocess.run(
        [sys.executable, PACKAGE / "parity.py"],
        input="".join(json.dumps(line) + "\n" for line in lines),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == 2 * len(samples)
    assert found[0] == {"verdict": "valid", "code": None, "place": None, "transactions": ["2000000001"]}
    manifest = {each["file"]: each for each in json.loads((ROOT / "TestVectors/manifest.json").read_text())["vectors"]}
    for sample, verdict, garbage in zip(samples, found[::2], found[1::2]):
        expected = manifest[sample.name]
        reason = expected.get("reason", {})
        assert (verdict["verdict"], verdict["code"]) == (expected["verdict"], reason.get("code"))
        assert garbage["verdict"] == "invalid"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    pytest.importorskip("hatchling")
    built = []
    for name in ("first", "second"):
        dist = tmp_path_factory.mktemp(name)
        subprocess.run(
            [sys.executable, ROOT / "Packaging/python-binding", dist, LIBRARY],
            check=True,
            timeout=300,
            env=os.environ | {"SOURCE_DATE_EPOCH": "1790000000"},
        )
        built += dist.glob("*.whl")
    first, second = built
    assert first.name == second.name and first.read_bytes() == second.read_bytes()
    return first


@pytest.mark.long
def test_a_wheel_has_the_library_and_needs_nothing(wheel, tmp_path):
    names = zipfile.ZipFile(wheel).namelist()
    for name in ("receiptkit/py.typed", "receiptkit/libreceiptkit.so.1", "receiptkit/_verdict.py"):
        assert name in names
    (metadata,) = [each for each in names if each.endswith("METADATA")]
    text = zipfile.ZipFile(wheel).read(metadata).decode()
    needed = [line for line in text.splitlines() if line.startswith("Requires-Dist")]
    assert not [line for line in needed if "extra ==" not in line] and "Requires-Python: >=3.9" in text
    assert any(each.endswith("licenses/copyright") for each in names)
    assert "-py3-none-manylinux_2_" in wheel.name
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv/bin/python"
    subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "--no-index", "--no-cache-dir", wheel], check=True, timeout=300
    )
    code = """
        import json, sys
        import receiptkit
        from receiptkit._library import library
        policy, receipt = (open(path, "rb").read() for path in sys.argv[1:])
        assert receiptkit.Verifier(policy).verify(receipt).is_valid
        assert library().path.startswith(sys.prefix) and receiptkit.__file__.startswith(sys.prefix)
        print(receiptkit.version().tool_version)
        """
    (tmp_path / "policy").write_text(json.dumps(POLICY))
    (tmp_path / "receipt").write_bytes(RECEIPT)
    environment = {
        name: value for name, value in os.environ.items() if name not in ("RECEIPTKIT_LIBRARY", "PYTHONPATH")
    }
    done = subprocess.run(
        [python, "-I", "-c", textwrap.dedent(code), "policy", "receipt"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == receiptkit.__version__ + "\n", done.stderr
