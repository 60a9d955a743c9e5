# SPDX-License-Identifier: Apache-2.0
"""Receipts with their policies, once as options of receipt-tool and once as the document that libreceiptkit reads."""

import base64
import concurrent.futures
import dataclasses
import itertools
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
VECTORS = ROOT / "TestVectors"
LISTS = {
    "--bundle-id": "bundleIds",
    "--environment": "environments",
    "--kind": "kinds",
    "--algorithm": "algorithms",
    "--play-environment": "playEnvironments",
    "--huawei-environment": "huaweiEnvironments",
}
KEYS = {"--play-key": "playKeys", "--huawei-key": "huaweiKeys"}
FLAGS = {
    "--accept-claimed-environment": "acceptClaimedEnvironment",
    "--require-current": "requireCurrent",
    "--admit-short-keys": "admitShortKeys",
}
TEXTS = {"--time": "time", "--device-id": "deviceId", "--unstated-environment": "unstatedEnvironment"}
NUMBERS = {"--app-apple-id": "appAppleId", "--max-age": "maximumAge", "--clock-skew": "allowedClockSkew"}


def certificate(path: pathlib.Path) -> str:
    """The contents of a certificate file, as a policy has them."""
    contents = path.read_bytes()
    return contents.decode() if b"-----BEGIN" in contents else base64.b64encode(contents).decode()


def policy_document(options: list[str], folder: pathlib.Path) -> dict:
    """The policy of options of `receipt-tool verify`, whose files are in a folder."""
    policy, trusted, admits_xcode = {}, [], False
    rest = list(options)
    while rest:
        option = rest.pop(0)
        if option == "--admit-xcode":
            admits_xcode = True
            continue
        if option in FLAGS:
            policy[FLAGS[option]] = True
            continue
        value = str(rest.pop(0))
        if option == "--trust":
            trusted.append("apple" if value == "apple" else certificate(folder / value))
        elif option == "--intermediate":
            policy.setdefault("intermediates", []).append(certificate(folder / value))
        elif option in LISTS:
            policy.setdefault(LISTS[option], []).append(value)
        elif option in KEYS:
            package, file = value.split("=", 1)
            policy.setdefault(KEYS[option], []).append({"package": package, "key": (folder / file).read_text()})
        elif option in TEXTS:
            policy[TEXTS[option]] = value
        elif option in NUMBERS:
            policy[NUMBERS[option]] = float(value) if option != "--app-apple-id" else int(value)
        elif option == "--marker":
            leaf, intermediate = value.split(",")
            policy.setdefault("markers", []).append({"leaf": leaf, "intermediate": intermediate})
        else:
            raise ValueError(option)
    # What the command decides by the options that it was not given.
    if "bundleIds" not in policy:
        policy["anyBundleId"] = True
    policy.setdefault(
        "environments", ["production", "sandbox"] + (["xcode", "local-testing"] if admits_xcode else [])
    )
    if trusted and not admits_xcode:
        policy["trust"] = trusted
    elif admits_xcode:
        # With --admit-xcode a certificate that is no authority is pinned, and others are roots as well.
        policy["admitXcode"] = True
        policy["xcodeCertificates"] = [text for text in trusted if text != "apple"]
        authorities = [text for text in trusted if text == "apple" or is_authority(text)]
        policy["trust"] = authorities or ([] if trusted else ["apple"])
    return policy


def is_authority(text: str) -> bool:
    from cryptography import x509

    data = text.encode() if "-----BEGIN" in text else base64.b64decode(text)
    loaded = x509.load_pem_x509_certificate(data) if text.startswith("-----") else x509.load_der_x509_certificate(data)
    try:
        return loaded.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    except x509.ExtensionNotFound:
        return False


@dataclasses.dataclass(frozen=True)
class Sample:
    name: str
    # Options of `receipt-tool verify`, to be run in `folder`.
    options: list[str]
    folder: pathlib.Path
    receipt: bytes

    @property
    def policy(self) -> dict:
        return policy_document(self.options, self.folder)


def grouped(samples: list[Sample]) -> list[list[Sample]]:
    """Samples of the same options, so that one run verifies many."""
    samples = sorted(samples, key=lambda sample: (str(sample.folder), sample.options))
    return [list(group) for _, group in itertools.groupby(samples, key=lambda sample: (sample.folder, sample.options))]


def verdicts(receipt_tool, groups: list[list[Sample]], folder: pathlib.Path) -> list[dict]:
    """What receipt-tool says of the samples, one after the other. The receipts are written into an empty folder."""
    files = iter(range(sum(map(len, groups))))

    def verify(group: list[Sample]) -> list[dict]:
        paths = [folder / f"{next(files)}.receipt" for _ in group]
        for sample, path in zip(group, paths, strict=True):
            path.write_bytes(sample.receipt)
        done = receipt_tool.run("verify", "--json", *group[0].options, *paths, cwd=group[0].folder, timeout=300)
        found = [json.loads(line) for line in done.out.splitlines()]
        assert [verdict.pop("source", None) for verdict in found] == [str(path) for path in paths], done.err
        return found

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(itertools.chain.from_iterable(pool.map(verify, groups)))


def vectors() -> list[Sample]:
    """Every vector of TestVectors."""
    manifest = json.loads((VECTORS / "manifest.json").read_text())
    return [
        Sample(vector["file"], vector["policy"], VECTORS, (VECTORS / vector["file"]).read_bytes())
        for vector in manifest["vectors"]
    ]


def genuine(shared: pathlib.Path) -> list[Sample]:
    """Every genuine receipt of a folder `shared`, and what stands there beside them: of Apple's with and without its
    intermediates and Xcode's certificates, of the other stores with their keys."""
    folder = shared / "receipts"
    samples = []
    trust = sorted(folder.glob("trust/*.cer"))
    intermediates = [o for file in trust if "Apple" in file.name for o in ("--intermediate", str(file.relative_to(folder)))]
    xcode = [
        o
        for file in trust
        if not is_authority(certificate(file)) or "Xcode" in file.name
        for o in ("--trust", str(file.relative_to(folder)))
    ]
    for entry in json.loads((folder / "manifest.json").read_text()):
        receipt = (folder / entry["file"]).read_bytes()
        for name, options in {
            "plain": [],
            "intermediates": intermediates,
            "xcode": ["--trust", "apple", "--admit-xcode", *xcode, *intermediates],
            "production": ["--environment", "production", "--bundle-id", "com.example.app"],
        }.items():
            samples.append(Sample(f"{entry['file']} {name}", options, folder, receipt))
    return samples


def other_stores(shared: pathlib.Path, keys: pathlib.Path) -> list[Sample]:
    """Every purchase of Google Play and Huawei of a folder `shared`. Their public keys are written into `keys`."""
    samples = []
    for store, option in (("google-play", "--play-key"), ("huawei", "--huawei-key")):
        for path in sorted((shared / "receipts" / store).glob("*.json")):
            sample = json.loads(path.read_text())
            try:
                value = json.loads(sample["data"].removeprefix("\ufeff"))
                package = value.get("packageName") or value["orders"][0]["packageName"]
            except (json.JSONDecodeError, KeyError, AttributeError):
                package = "com.example.app"
            key = keys / f"{store}-{path.stem}.txt"
            key.write_text(sample["publicKey"])
            for more in ([], ["--admit-short-keys"]):
                samples.append(
                    Sample(f"{store}/{path.name} {more}", [option, f"{package}={key.name}", *more], keys, path.read_bytes())
                )
    return samples
