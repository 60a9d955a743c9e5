# SPDX-License-Identifier: Apache-2.0
"""The vectors of the folder TestVectors as cases: an independent signer made them, for ReceiptKit's own tests."""

import base64
import json
import pathlib

from cryptography import x509
from suite import TIME, Suite, receipt

VECTORS = pathlib.Path(__file__).resolve().parents[3] / "TestVectors"
LISTS = {"--bundle-id": "bundleIds", "--environment": "environments", "--kind": "kinds", "--algorithm": "algorithms"}
KEYS = {"--play-key": "playKeys", "--huawei-key": "huaweiKeys"}
FLAGS = {"--admit-xcode": "admitXcode", "--accept-claimed-environment": "acceptClaimedEnvironment"}
NUMBERS = {"--app-apple-id": "appAppleId", "--max-age": "maximumAge"}
# Envelopes of other programs, out of which the receipt is to be taken.
WRAPPED = {"valid-unity", "valid-cordova"}
# Who accepts these accepts what the store has not signed, or not for this purpose.
EXPLOITABLE = {
    "signature-mismatch", "chain-untrusted", "unsigned", "unsupported-algorithm", "certificate-purpose", "nested-mismatch",
}  # fmt: skip


def add(suite: Suite) -> None:
    for vector in json.loads((VECTORS / "manifest.json").read_text())["vectors"]:
        file = pathlib.PurePath(vector["file"])
        policy, time = policy_of(vector["policy"])
        reason = vector.get("reason", {})
        stated = ("environment", "bundleId", "signedAt", "algorithm", "transactions")
        suite.add(
            f"{vector['kind']}::vector::{file.stem}",
            vector["summary"],
            receipt((VECTORS / file).read_bytes()),
            vector["verdict"],
            reason=reason.get("code"),
            place=reason.get("place"),
            values={name: vector[name] for name in stated if name in vector} if vector["verdict"] == "valid" else None,
            policy=policy,
            time=time,
            features=["wrappers"] if file.stem in WRAPPED else [],
            importance="critical" if reason.get("code") in EXPLOITABLE else "high",
        )


def policy_of(options: list[str]) -> tuple[dict, str]:
    """The policy that options of receipt-tool mean, and the time at which the case is evaluated."""
    policy: dict = {}
    trusted: list[str] = []
    time, rest = TIME, iter(options)
    for option in rest:
        if option in FLAGS:
            policy[FLAGS[option]] = True
            continue
        value = next(rest)
        if option == "--trust":
            trusted.append(text(value))
        elif option == "--intermediate":
            policy.setdefault("intermediates", []).append(text(value))
        elif option in LISTS:
            policy.setdefault(LISTS[option], []).append(value)
        elif option in KEYS:
            package, file = value.split("=", 1)
            policy.setdefault(KEYS[option], []).append({"package": package, "key": text(file).strip()})
        elif option in NUMBERS:
            policy[NUMBERS[option]] = int(value)
        elif option == "--device-id":
            policy["deviceId"] = value
        elif option == "--time":
            policy["time"], time = "evaluation", value
        else:
            raise ValueError(f"no policy has {option}")
    if "admitXcode" in policy:
        # With this option a certificate that is no authority is pinned.
        policy["xcodeCertificates"] = trusted
        trusted = [certificate for certificate in trusted if is_authority(certificate)]
    if "bundleIds" not in policy:
        policy["anyBundleId"] = True
    return {"trust": trusted, "environments": ["production", "sandbox"], **policy}, time


def text(file: str) -> str:
    data = (VECTORS / file).read_bytes()
    return data.decode() if data.isascii() else base64.b64encode(data).decode()


def is_authority(certificate: str) -> bool:
    extensions = x509.load_pem_x509_certificate(certificate.encode()).extensions
    try:
        return extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    except x509.ExtensionNotFound:
        return False
