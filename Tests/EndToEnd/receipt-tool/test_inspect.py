# SPDX-License-Identifier: Apache-2.0
"""`receipt-tool inspect`: its text for every kind of receipt, word for word, at a fixed instant."""

import json
import os
import re

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.x509.oid import AuthorityInformationAccessOID, ExtendedKeyUsageOID

import samples
from conftest import PACKAGE_ROOT
from independent import jws, pki
from tool import INVALID, USAGE, VALID

VECTORS = PACKAGE_ROOT / "TestVectors"
NOW = "2025-10-05T00:00:00Z"
NOTICE = "UNVERIFIED: nothing here was checked; see 'receipt-tool verify'"

# The end of each summary of a JWS, and that of receipts with RSA.
JWS = """
signer
  claims to be  CN=ReceiptKit Test Receipt Signing ES256,O=ReceiptKit Test
  algorithm     ES256
  signed        2025-10-01 07:09:12 UTC
certificates
  ReceiptKit Test Receipt Signing ES256  2020-01-01 to 2049-12-31  sha256 …
  ReceiptKit Test Intermediate CA ES256  2020-01-01 to 2054-12-31  sha256 …
  ReceiptKit Test Root CA ES256          2020-01-01 to 2059-12-31  sha256 …
"""
TRANSACTION = """
  product       com.example.app.monthly (Auto-Renewable Subscription)
  price         9.99 USD
  bought        3 days ago, on 2025-10-01 07:09:10 UTC
  state         active, expires or renews in 27 days, on 2025-11-01 07:09:10 UTC
  app           com.example.app, Sandbox, storefront USA
  transaction   2000000001
  account       7e3fb204-2b3a-4c8f-9d5e-6a1b2c3d4e5f
"""
RENEWAL_INFO = """
  product       com.example.app.monthly
  renewal       ON: renews in 27 days, on 2025-11-01 07:09:10 UTC, for 9.99 USD
  subscribed    3 days ago, on 2025-10-01 07:09:10 UTC
  app           Sandbox
  transaction   original 2000000001
"""
APP_TRANSACTION = """
  app           com.example.app version 2.1, Sandbox
  store number  1234567890
  first got     3 days ago, on 2025-10-01 07:09:10 UTC
                version 1.0, on iOS
  download      704289572311513293
"""
GOOGLE = """
signer
  claims to be  Google Play, with its key of the app, which does not come along
  algorithm     SHA1withRSA (not stated)
"""
SUMMARIES = {
    "signed-transaction/valid.jws": TRANSACTION + JWS,
    "signed-renewal-info/valid.jws": RENEWAL_INFO + JWS,
    "signed-app-transaction/valid.jws": APP_TRANSACTION + JWS,
    "signed-notification/valid-signed-parts.jws": """
  announces     A subscription began, or began again: first subscription of the group.
  event         SUBSCRIBED, INITIAL_BUY
  status        active
  app           com.example.app version 2.1, Sandbox
  notification  1f0c6b7a-9a3e-4f43-8d15-3b8e3a2f7c11
transaction"""
    + TRANSACTION
    + "renewal info"
    + RENEWAL_INFO
    + JWS.replace(
        "certificates\n",
        "  transaction   the same, signed 2025-10-01 07:09:12 UTC\n"
        "  renewal info  the same, signed 2025-10-01 07:09:12 UTC\ncertificates\n",
    ),
    "signed-notification/valid-app-data.jws": """
  announces     A guardian withdrew consent to the app.
  event         RESCIND_CONSENT
  app           com.example.app, Sandbox
  notification  1f0c6b7a-9a3e-4f43-8d15-3b8e3a2f7c11
app transaction"""
    + APP_TRANSACTION
    + JWS.replace("certificates\n", "  app transaction  the same, signed 2025-10-01 07:09:12 UTC\ncertificates\n"),
    "signed-notification/unsigned.jws": """
  announces     The test that the app asked for.
  event         TEST
  app           com.example.app version 2.1, Sandbox
  notification  1f0c6b7a-9a3e-4f43-8d15-3b8e3a2f7c11
"""
    + JWS.replace("signer\n", "signer\n  signature     NOT SIGNED: the signature is empty\n"),
    "signed-realtime-request/valid.jws": """
  announces     A customer may leave: the App Store asks for a message to keep them.
  product       com.example.app.monthly
  language      en-US
  app           App Store number 1234567890, Sandbox
  transaction   original 2000000001
  request       5f1f7b43-7d0e-4c2b-8f7e-0d9a6c3e1b22
"""
    + JWS,
    "app-receipt/valid.b64": """
  app           com.example.app version 2.1, ProductionSandbox
  created       3 days ago, on 2025-10-01 07:09:12 UTC
  first got     3 days ago, on 2025-10-01 07:09:10 UTC
                version 1.0
purchase 1 of 2
  product       com.example.app.coins × 3 (Consumable)
  bought        3 days ago, on 2025-10-01 07:09:10 UTC
  transaction   2000000002
purchase 2 of 2
  product       com.example.app.monthly (Auto-Renewable Subscription)
  bought        3 days ago, on 2025-10-01 07:09:10 UTC
  state         active, expires or renews in 27 days, on 2025-11-01 07:09:10 UTC
  transaction   2000000001
"""
    + JWS.replace("algorithm     ES256", "algorithm     rsaEncryption with SHA-256").replace("ES256", "RSA"),
    "transaction-receipt/valid.plist": """
  product       com.example.app.coins
  bought        3 days ago, on 2025-10-01 07:09:10 UTC
  app           com.example.app version 2.1
  environment   Sandbox (claimed, not signed)
  transaction   1000000001
  device        00112233-4455-6677-8899-AABBCCDDEEFF
signer
  claims to be  CN=ReceiptKit Test Receipt Signing RSA,O=ReceiptKit Test
  algorithm     SHA-256 with RSA (version 4)
certificates
  ReceiptKit Test Receipt Signing RSA  2020-01-01 to 2049-12-31  sha256 …
""",
    "google-play-purchase/valid-pending.json": """
  product       com.example.app.coins
  bought        3 days ago, on 2025-10-01 07:09:10 UTC
  state         NOT PAID: not paid for yet
  acknowledged  no, not when it was signed
  app           com.example.app
  order         GPA.1234-5678-9012-34567
  account       account-1
  token         abcdefghijklmnopqrstuvwx.AO-J1OzExampleTokenOfATestPurchase
"""
    + GOOGLE,
    "google-play-purchase/valid-order-list.json": """
  nonce         -5465853498583976126
order 1 of 1
  product       com.example.app.coins
  bought        3 days ago, on 2025-10-01 07:09:10 UTC
  state         PAID
  app           com.example.app
  order         GPA.1234-5678-9012-34567
"""
    + GOOGLE,
    "google-play-license/valid.json": """
  licence       LICENSED: the user has a licence
  answered      3 days ago, on 2025-10-01 07:09:12 UTC
  valid until   2025-11-01 07:09:10 UTC, in 27 days
  app           com.example.app version 21
  user          ANlOHQOexampleUser==
  nonce         -1234567890
"""
    + GOOGLE,
    "huawei-purchase/valid.json": """
  product       com.example.app.monthly (subscription)
                会员
  price         9.99 EUR
  bought        3 days ago, on 2025-10-01 07:09:10 UTC
  state         PAID
  state         active, expires or renews in 27 days, on 2025-11-01 07:09:10 UTC
  renewal       ON
  purchase      made in the sandbox
  app           com.example.app, country DE
  order         20251001150910000example.100000001
  subscription  sub-1
  token         0000019example.1.100000001
signer
  claims to be  Huawei AppGallery, with its key of the app, which does not come along
  algorithm     SHA256withRSA (not stated)
""",
}


def shown(receipt_tool, *arguments, stdin=b""):
    """The lines between the first and the last, which must say that nothing was verified; digests left out."""
    run = receipt_tool.run("inspect", *arguments, stdin=stdin)
    assert run.code == VALID, run.out + run.err
    first, *lines, last = run.out.splitlines()
    assert first.startswith("UNVERIFIED  ") and last == NOTICE, run.out
    return [re.sub("sha256 [0-9a-f]{16}$", "sha256 …", line) for line in lines]


@pytest.mark.parametrize("path", SUMMARIES)
def test_the_summary_of_every_kind(receipt_tool, path):
    expected = [line for line in SUMMARIES[path].splitlines() if line]
    assert shown(receipt_tool, "--time", NOW, VECTORS / path) == expected


def test_the_first_line_names_kind_and_path(receipt_tool):
    path = VECTORS / "signed-transaction" / "valid.jws"
    run = receipt_tool.run("inspect", path)
    assert run.out.splitlines()[0] == f"UNVERIFIED  signed-transaction  {path}"


@pytest.fixture(scope="module")
def identity(receipt_tool, tmp_path_factory):
    folder = tmp_path_factory.mktemp("identity") / "store"
    assert receipt_tool.run("identity", "create", folder, "--valid-from", "2025-01-01T00:00:00Z").code == VALID
    return folder


@pytest.fixture(scope="module")
def signed(receipt_tool, identity):
    def sign(kind, payload):
        run = receipt_tool.run(
            "sign", "--identity", identity, "--format", kind, "-", stdin=json.dumps(payload).encode()
        )
        assert run.code == VALID, run.err
        return run.out.encode()

    return sign


TOLD = {
    "expired": (
        "2025-04-04T10:00:00Z",
        {},
        """
  product       com.example.app.monthly (Auto-Renewable Subscription)
  price         4.99 CHF
  bought        34 days ago, on 2025-03-01 10:00:00 UTC, as a renewal
  first bought  2 months ago, on 2025-02-01 10:00:00 UTC
  state         EXPIRED 3 days ago, on 2025-04-01 10:00:00 UTC
  app           com.example.app, Production, storefront CHE
  transaction   2000000000000001, original 2000000000000000
""",
    ),
    "refunded": (
        "2025-03-03T10:00:00Z",
        {
            "revocationDate": 1740909600000,
            "revocationReason": 1,
            "revocationType": "REFUND_PRORATED",
            "revocationPercentage": 62500,
            "isUpgraded": True,
            "inAppOwnershipType": "FAMILY_SHARED",
            "price": 100000,
            "currency": "JPY",
            "quantity": 3,
        },
        """
  product       com.example.app.monthly × 3 (Auto-Renewable Subscription)
  price         100 JPY
  bought        2 days ago, on 2025-03-01 10:00:00 UTC, as a renewal
  first bought  30 days ago, on 2025-02-01 10:00:00 UTC
  state         REVOKED 24 hours ago, on 2025-03-02 10:00:00 UTC: part of the price was refunded; 62.5 %; an actual or perceived issue within the app
  state         UPGRADED to another subscription
  state         active, expires or renews in 29 days, on 2025-04-01 10:00:00 UTC
  ownership     shared by a family member
  app           com.example.app, Production, storefront CHE
  transaction   2000000000000001, original 2000000000000000
""",
    ),
    "offered": (
        "2025-03-01T10:00:30Z",
        {
            "offerType": 1,
            "offerDiscountType": "FREE_TRIAL",
            "offerPeriod": "P1W",
            "transactionReason": "PURCHASE",
            "originalPurchaseDate": 1740823200000,
            "inAppOwnershipType": "BORROWED",
        },
        """
  product       com.example.app.monthly (Auto-Renewable Subscription)
  price         4.99 CHF
  bought        30 seconds ago, on 2025-03-01 10:00:00 UTC
  state         active, expires or renews in 30 days, on 2025-04-01 10:00:00 UTC
  ownership     BORROWED (unknown)
  offer         introductory offer, free trial, for 1 week
  app           com.example.app, Production, storefront CHE
  transaction   2000000000000001, original 2000000000000000
""",
    ),
}


@pytest.mark.parametrize("name", TOLD)
def test_what_became_of_a_transaction(receipt_tool, signed, name):
    time, changes, expected = TOLD[name]
    receipt = signed("signed-transaction", samples.TRANSACTION | changes)
    lines = shown(receipt_tool, "--time", time, "-", stdin=receipt)
    assert lines[: lines.index("signer")] == expected.strip("\n").splitlines()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "  renewal       ON: renews in 29 days, on 2025-04-01 10:00:00 UTC, as com.example.app.yearly"),
        (
            {"autoRenewStatus": 0, "expirationIntent": 1},
            "  renewal       OFF: ends in 29 days, on 2025-04-01 10:00:00 UTC\n"
            "  state         EXPIRED: the customer cancelled",
        ),
        (
            {"isInBillingRetryPeriod": True, "gracePeriodExpiresDate": 1741687200000, "priceIncreaseStatus": 0},
            "  renewal       ON: renews in 29 days, on 2025-04-01 10:00:00 UTC, as com.example.app.yearly\n"
            "  state         BILLING RETRY: the charge failed, and the App Store tries again\n"
            "  state         GRACE PERIOD, ends in 8 days, on 2025-03-11 10:00:00 UTC\n"
            "  higher price  no answer yet",
        ),
        (
            {"renewalDate": 1740737100000},
            "  renewal       ON: was to renew 2 days ago, on 2025-02-28 10:05:00 UTC, as com.example.app.yearly",
        ),
        (
            {"autoRenewStatus": 0, "renewalDate": 1740737100000},
            "  renewal       OFF: ended 2 days ago, on 2025-02-28 10:05:00 UTC",
        ),
        ({"autoRenewStatus": 7}, "  renewal       7 (unknown)"),
    ],
)
def test_what_becomes_of_a_renewal(receipt_tool, signed, changes, expected):
    receipt = signed("signed-renewal-info", samples.RENEWAL_INFO | changes)
    lines = shown(receipt_tool, "--time", "2025-03-03T10:00:00Z", "-", stdin=receipt)
    assert lines[: lines.index("signer")] == [
        "  product       com.example.app.monthly",
        *expected.splitlines(),
        "  win-back      back1, back2",
        "  subscribed    30 days ago, on 2025-02-01 10:00:00 UTC",
        "  app           Production",
        "  transaction   original 2000000000000000",
    ]


def test_an_app_without_a_date(receipt_tool, signed):
    receipt = signed("signed-app-transaction", samples.APP_TRANSACTION | {"originalPurchaseDate": -62135769600000})
    assert "  first got     (no date)" in shown(receipt_tool, "-", stdin=receipt)


def test_a_notification_about_many_subscriptions(receipt_tool, signed):
    summary = {
        "environment": "Production",
        "bundleId": samples.BUNDLE,
        "productId": "com.example.app.monthly",
        "requestIdentifier": "3db5c98d-8acf-4e29-831e-8e1f82f9f6e9",
        "storefrontCountryCodes": ["CHE", "DEU"],
        "succeededCount": 5,
        "failedCount": 2,
    }
    payload = samples.NOTIFICATION | {"notificationType": "RENEWAL_EXTENSION", "subtype": "SUMMARY"}
    del payload["data"]
    lines = shown(receipt_tool, "-", stdin=signed("signed-notification", payload | {"summary": summary}))
    assert lines[: lines.index("signer")] == [
        "  announces     A mass extension of renewal dates finished, or failed for one: the mass extension finished.",
        "  event         RENEWAL_EXTENSION, SUMMARY",
        "  product       com.example.app.monthly",
        "  extended      5",
        "  not extended  2",
        "  storefronts   CHE, DEU",
        "  request       3db5c98d-8acf-4e29-831e-8e1f82f9f6e9",
        "  app           com.example.app, Production",
        "  notification  002e14d5-51f5-4503-b5a8-c3a1af68eb20",
    ]


def test_a_part_that_cannot_be_read(receipt_tool, signed):
    payload = samples.notification("a.b", status=9)
    lines = shown(receipt_tool, "-", stdin=signed("signed-notification", payload))
    assert "  status        9 (unknown)" in lines
    assert lines[lines.index("transaction") + 1].startswith("  content       MALFORMED: ")


class TestFull:
    def test_names_for_numbers_and_unknown_things_as_they_are(self, receipt_tool, signed):
        payload = samples.TRANSACTION | {
            "offerType": 3,
            "revocationReason": 9,
            "transactionReason": "GIFT",
            "fromTomorrow": {"offerType": 1},
            "commitmentInfo": {"commitmentPrice": 1, "other": True},
        }
        lines = shown(receipt_tool, "--full", "-", stdin=signed("signed-transaction", payload))
        assert lines[0] == "payload:"
        for line in (
            "  expiresDate: 1743501600000 (2025-04-01 10:00:00 UTC)",
            "  type: Auto-Renewable Subscription (renews until cancelled)",
            "  inAppOwnershipType: PURCHASED (bought by the customer)",
            "  price: 4990 (4.99 CHF)",
            "  offerType: 3 (offer code)",
            "  revocationReason: 9 (unknown value)",
            "  transactionReason: GIFT (unknown value)",
            "  fromTomorrow: (unknown field)",
            "    other: true (unknown field)",
            "  alg: ES256",
            "certificates: 3",
            "    signatureAlgorithm: 1.2.840.10045.4.3.2 (ecdsa-with-SHA256)",
        ):
            assert line in lines, (line, lines)
        assert sum("unknown" in line for line in lines) == 4, lines
        assert any(line.endswith("name App Store receipt signing  hex 0500") for line in lines)
        assert any(line.endswith("critical true  value certificate authority, path length 0") for line in lines)

    def test_the_fields_of_signed_parts(self, receipt_tool):
        lines = shown(receipt_tool, "--full", VECTORS / "signed-notification" / "valid-signed-parts.jws")
        assert not [line for line in lines if "unknown" in line]
        assert "  notificationType: SUBSCRIBED (a subscription began, or began again)" in lines
        assert "    status: 1 (active)" in lines
        assert "        autoRenewStatus: 1 (it renews at the end of the period)" in lines

    def test_attributes_of_an_app_receipt(self, receipt_tool):
        lines = shown(receipt_tool, "--full", VECTORS / "app-receipt" / "valid-unknown-attribute.b64")
        assert any(re.fullmatch(r"  \[\d+\] type 0  name environment  value ProductionSandbox", line) for line in lines)
        assert any(re.fullmatch(r" +\[\d+\] type \d+  name unknown  .*", line) for line in lines)
        assert any("digestAlgorithm: 2.16.840.1.101.3.4.2.1 (SHA-256)" in line for line in lines)

    @pytest.mark.parametrize(
        ("path", "line"),
        [
            ("google-play-purchase/valid-pending.json", "  purchaseState: 4 (not paid for yet)"),
            ("huawei-purchase/valid.json", "  kind: 2 (renews until cancelled)"),
            ("transaction-receipt/valid.plist", "  bid: com.example.app"),
            ("google-play-license/valid.json", "  packageName: com.example.app"),
        ],
    )
    def test_other_kinds(self, receipt_tool, path, line):
        assert line in shown(receipt_tool, "--full", VECTORS / path)


URL = x509.UniformResourceIdentifier("https://shop.example/")
SHOP = x509.DirectoryName(pki.distinguished_name("Shop, Ltd."))
SHOP_TEXT = "directory name O=Independent Store,CN=Shop\\, Ltd."
RECEIPTS = x509.ObjectIdentifier("1.2.840.113635.100.5.6.1")
ACCESS = x509.AuthorityInformationAccess(
    [
        x509.AccessDescription(AuthorityInformationAccessOID.OCSP, URL),
        x509.AccessDescription(AuthorityInformationAccessOID.CA_ISSUERS, x509.DNSName("shop.example")),
    ]
)
NOTICE_REFERENCE = x509.UserNotice(x509.NoticeReference("Shop", [1]), "Read it")


def distribution_point(*names, reasons=None, issuer=None):
    return x509.DistributionPoint(list(names) or None, None, reasons, issuer)


EXTENSIONS = {
    "extKeyUsage": (
        x509.ExtendedKeyUsage(
            [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CODE_SIGNING, x509.ObjectIdentifier("1.3.6.1.4.1.9.7")]
        ),
        "serverAuth, codeSigning, 1.3.6.1.4.1.9.7",
    ),
    "subjectAltName": (
        x509.SubjectAlternativeName([x509.DNSName("shop.example"), x509.DNSName("a, DNS b"), URL, SHOP]),
        f'DNS shop.example, DNS "a, DNS b", https://shop.example/, {SHOP_TEXT}',
    ),
    "certificatePolicies": (
        x509.CertificatePolicies(
            [
                x509.PolicyInformation(x509.ObjectIdentifier("2.5.29.32.0"), None),
                x509.PolicyInformation(RECEIPTS, ["https://shop.example/", x509.UserNotice(None, 'Read "it"')]),
            ]
        ),
        'anyPolicy, Mac App Store receipts (CPS https://shop.example/, notice "Read \\"it\\"")',
    ),
    "subjectKeyIdentifier": (x509.SubjectKeyIdentifier(b"\x01\x02"), "0102"),
    "authorityKeyIdentifier": (
        x509.AuthorityKeyIdentifier(b"\x01\x02", [SHOP], 0x42),
        f"0102, issuer {SHOP_TEXT}, serial number 42",
    ),
    "cRLDistributionPoints": (
        x509.CRLDistributionPoints([distribution_point(URL, SHOP), distribution_point(URL)]),
        f"https://shop.example/, {SHOP_TEXT}, https://shop.example/",
    ),
    "authorityInfoAccess": (ACCESS, "OCSP https://shop.example/, caIssuers DNS shop.example"),
}
WITHOUT_TEXT = {
    "a registered identifier": x509.SubjectAlternativeName([x509.RegisteredID(RECEIPTS)]),
    "a DNS name with a control character": x509.SubjectAlternativeName([x509.DNSName("a\tb")]),
    "reasons": x509.CRLDistributionPoints(
        [distribution_point(URL, reasons=frozenset([x509.ReasonFlags.key_compromise]))]
    ),
    "another issuer": x509.CRLDistributionPoints([distribution_point(issuer=[SHOP])]),
    "a notice's number": x509.CertificatePolicies([x509.PolicyInformation(RECEIPTS, [NOTICE_REFERENCE])]),
}


def with_extension(extension, key=pki.make_key("p256")) -> bytes:
    """A receipt whose only certificate has only this extension."""
    name = pki.distinguished_name("Store")
    builder = x509.CertificateBuilder(name, name, key.public_key(), 1, *pki.CENTURY).add_extension(extension, False)
    identity = pki.Identity(key, builder.sign(key, hashes.SHA256()))
    return jws.sign(samples.TRANSACTION, identity).encode()


class TestExtensions:
    @pytest.mark.parametrize("name", EXTENSIONS)
    def test_the_text_of_each(self, receipt_tool, name):
        extension, text = EXTENSIONS[name]
        line = f"      [0] type {extension.oid.dotted_string}  name {name}  value {text}"
        assert line in shown(receipt_tool, "--full", "-", stdin=with_extension(extension))

    @pytest.mark.parametrize(
        ("path", "text"),
        [
            # A name that is no address.
            ("jws/xcode-transaction-2023.jws", 'subjectAltName  value e-mail "StoreKit Testing in Xcode"'),
            (
                "jws/session-did-renew-2025.jws",
                "authorityInfoAccess  value caIssuers http://certs.apple.com/wwdrg6.der, "
                "OCSP http://ocsp.apple.com/ocsp03-wwdrg602",
            ),
            (
                "app-receipt/merlin-mac-production-2020.der",
                'certificatePolicies  value Mac App Store receipts (notice "Reliance on this certificate by any party '
                "assumes acceptance of the then applicable standard terms and conditions of use, certificate policy and "
                'certification practice statements.", CPS http://www.apple.com/certificateauthority/)',
            ),
        ],
    )
    def test_those_of_genuine_certificates(self, receipt_tool, shared, path, text):
        lines = shown(receipt_tool, "--full", shared / "receipts" / path)
        assert any(line.endswith(f"name {text}") for line in lines), lines

    @pytest.mark.parametrize("name", WITHOUT_TEXT)
    def test_hexadecimal_where_a_part_has_no_text(self, receipt_tool, name):
        extension = WITHOUT_TEXT[name]
        lines = shown(receipt_tool, "--full", "-", stdin=with_extension(extension))
        assert any(line.endswith(f"  hex {extension.public_bytes().hex()}") for line in lines), lines

    @pytest.mark.parametrize("name", EXTENSIONS)
    def test_malformed_ones(self, receipt_tool, name, tmp_path):
        """Cut anywhere, and with any byte altered: shown in hexadecimal unless well formed by chance, or the certificate is
        malformed for OpenSSL, too."""
        extension, text = EXTENSIONS[name]
        value = extension.public_bytes()
        cut = [*(value[:count] for count in range(len(value))), value + b"\0"]
        places = [(at, mask) for at in range(len(value)) for mask in (0x01, 0x20, 0x80)]
        values = cut + [value[:at] + bytes([value[at] ^ mask]) + value[at + 1 :] for at, mask in places]
        paths = [tmp_path / f"{index:03}.jws" for index in range(len(values))]
        for path, altered in zip(paths, values):
            path.write_bytes(with_extension(x509.UnrecognizedExtension(extension.oid, altered)))
        run = receipt_tool.run("inspect", "--json", *paths)
        assert run.code == VALID, run.err
        reports = [line["certificates"][0] for line in run.lines]
        assert len(reports) == len(values)
        for index, (report, altered) in enumerate(zip(reports, values)):
            if isinstance(report, str):
                assert report.startswith("malformed: ")
                continue
            [found] = report["extensions"]
            if "hex" in found:
                assert found["hex"] == altered.hex()
            else:
                assert index >= len(cut) and found["value"] != text, (altered.hex(), found)


class TestCertificates:
    def test_a_chain(self, receipt_tool):
        assert shown(receipt_tool, "--certificates", VECTORS / "signed-notification" / "valid-signed-parts.jws") == [
            "ReceiptKit Test Root CA ES256",
            "│  2020-01-01 to 2059-12-31  sha256 …",
            "└─ ReceiptKit Test Intermediate CA ES256",
            "   │  2020-01-01 to 2054-12-31  sha256 …",
            "   └─ ReceiptKit Test Receipt Signing ES256",
            "         2020-01-01 to 2049-12-31  sha256 …",
            "",
            "The path ends in a root that is not built in; --trust of 'receipt-tool verify' takes it from a file.",
            "transaction: the same",
            "renewal info: the same",
        ]

    def test_a_name_that_is_borrowed(self, receipt_tool):
        path = VECTORS / "app-receipt" / "chain-untrusted-forged-under-genuine-root.b64"
        lines = shown(receipt_tool, "--certificates", path)
        assert lines[0] == "? ReceiptKit Test Root CA RSA  (the one of this name that comes along did not sign)"
        assert "Not on the path from the signer:" in lines
        assert lines[-1] == (
            "The path breaks: a certificate has the name CN=ReceiptKit Test Root CA RSA,O=ReceiptKit Test, "
            "but its key did not sign ReceiptKit Test Intermediate CA RSA."
        )

    def test_an_issuer_that_does_not_come_along(self, receipt_tool):
        lines = shown(receipt_tool, "--certificates", VECTORS / "transaction-receipt" / "valid.plist")
        assert lines[0] == "? ReceiptKit Test Intermediate CA RSA  (does not come along, and is not built in)"
        assert lines[-1] == "The path ends at an issuer that does not come along and is not built in."

    def test_no_certificates(self, receipt_tool):
        lines = shown(receipt_tool, "--certificates", VECTORS / "google-play-purchase" / "valid.json")
        assert lines == ["There are no certificates."]

    @pytest.mark.parametrize(
        ("name", "root"),
        [
            ("app-receipt/merlin-mac-production-2020.der", "Apple Root CA"),
            ("jws/session-did-renew-2025.jws", "Apple Root CA - G3"),
            ("transaction-receipt/v3-pianolit-2018.b64", "Apple Root CA  (built in, does not come along)"),
        ],
    )
    def test_a_root_that_is_built_in(self, receipt_tool, shared, name, root):
        lines = shown(receipt_tool, "--certificates", shared / "receipts" / name)
        assert lines[0] == root and "The path ends in a root that is built in, by its SHA-256." in lines


class TestColor:
    PATH = VECTORS / "signed-transaction" / "valid.jws"

    def test_words_that_matter(self, receipt_tool):
        plain = receipt_tool.run("inspect", "--time", NOW, self.PATH)
        colored = receipt_tool.run("inspect", "--time", NOW, "--color", "always", self.PATH)
        assert "\x1b" not in plain.out
        assert colored.out.count("\x1b[1;33mUNVERIFIED\x1b[0m") == 2
        assert "state         \x1b[1;32mactive\x1b[0m, expires" in colored.out
        assert re.sub(r"\x1b\[[0-9;]*m", "", colored.out) == plain.out

    def test_never_in_json(self, receipt_tool):
        assert "\x1b" not in receipt_tool.run("inspect", "--json", "--color", "always", self.PATH).out


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["--full", "--json"], "--full"),
        (["--certificates", "--json"], "--certificates"),
        (["--full", "--certificates"], "--full"),
        (["--time", NOW, "--json"], "--time"),
        (["--time", "tomorrow"], "--time"),
        (["--color", "sometimes"], "--color"),
    ],
)
def test_options_that_make_no_sense(receipt_tool, arguments, option):
    run = receipt_tool.run("inspect", *arguments, VECTORS / "signed-transaction" / "valid.jws")
    assert run.code == USAGE and option in run.err
    assert [line["type"] for line in run.lines] == (["error"] if "--json" in arguments else [])


@pytest.mark.parametrize("options", [[], ["--full"], ["--certificates"]], ids=str)
def test_every_vector_is_shown(receipt_tool, options):
    """Also those that no verifier accepts; what is no receipt is said."""
    paths = sorted(path for path in VECTORS.glob("*/*.*") if path.parent.name != "certificates")
    run = receipt_tool.run("inspect", *options, *paths)
    assert run.code == INVALID
    refused = len(run.err.splitlines())
    assert run.out.count(NOTICE) + refused == len(paths) and refused < len(paths) / 8


class TestColorOfOtherCommands:
    @pytest.mark.parametrize(
        ("line", "painted"),
        [
            ("verify --trust root.cer purchase.jws", "\x1b[1;33mVALID, EXPIRED\x1b[0m  signed-transaction"),
            ("verify --trust root.cer --lines purchase.jws", "\x1b[1;33mVALID, EXPIRED\x1b[0m  signed-transaction"),
            ("verify purchase.jws", "\x1b[1;31mINVALID\x1b[0m  signed-transaction"),
            ("audit check proof --key trail.pub", "\x1b[1;32mPROVEN\x1b[0m  proof"),
            ("audit check purchase.jws --key trail.pub", "\x1b[1;31mNOT PROVEN\x1b[0m  purchase.jws"),
            ("audit fsck trail", "\x1b[1;32mINTACT\x1b[0m  trail"),
            ("store pending --store shop", "\x1b[1;32mpurchased\x1b[0m  com.example."),
        ],
        ids=lambda value: value.replace("\x1b", ""),
    )
    def test_the_word_at_the_margin(self, receipt_tool, made, line, painted):
        colored = receipt_tool.run(*line.split(), "--color", "always", cwd=made.folder)
        # Of the subscription it says that it expired.
        count = 1 + colored.out.count("mEXPIRED")
        assert colored.out.startswith(painted) and colored.out.count("\x1b[0m") == count, colored
        assert "\x1b" not in receipt_tool.run(*line.split(), cwd=made.folder).out

    @pytest.mark.parametrize(
        ("environment", "options", "is_colored"),
        [
            ({"TERM": "xterm"}, [], True),
            ({"TERM": "xterm", "NO_COLOR": ""}, [], True),
            ({"TERM": "xterm", "NO_COLOR": "1"}, [], False),
            ({"TERM": "dumb"}, [], False),
            ({"TERM": "xterm"}, ["--color", "never"], False),
            ({"TERM": "dumb", "NO_COLOR": "1"}, ["--color", "always"], True),
            ({"TERM": "xterm"}, ["--json"], False),
        ],
    )
    def test_at_a_terminal(self, receipt_tool, environment, options, is_colored):
        terminal, output = os.openpty()
        inherited = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        path = VECTORS / "google-play-license" / "valid.json"
        run = receipt_tool.run("inspect", *options, path, stdout=output, env=inherited | environment)
        assert run.code == VALID, run.err
        shown = os.read(terminal, 1 << 16).decode()
        os.close(terminal)
        os.close(output)
        assert "Google Play" in shown or "--json" in options
        assert ("\x1b" in shown) == is_colored, shown
