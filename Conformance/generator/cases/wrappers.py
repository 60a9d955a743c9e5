# SPDX-License-Identifier: Apache-2.0
"""The forms in which apps and their frameworks send receipts.

What can be read in one way only is read. What can be read in two, or has lost something, is refused: a program that
guesses verifies other bytes than were sent.
"""

import base64
import json

from detached import huawei, huawei_values, play, play_values, policy, rsa
from fold import (
    APP, COINS, EXPIRES, MONTHLY, ORIGINAL, PURCHASED, SIGNED, app_receipt, in_app, iso, jws, notification, renewal, rsa_policy,
    signer,
    transaction, transaction_receipt,
)  # fmt: skip
from keys import rsa_key
from suite import Suite, b64, base_policy, flag, json_bytes, receipt

DAMAGED = flag(
    "DamagedInTransit", "The text lost or changed characters on its way.",
    "A program that guesses what was there verifies what nobody sent.", "RFC 4648 section 3.3", "RFC 3986 section 2.1",
)  # fmt: skip
SEVERAL = flag(
    "SeveralReceipts", "There are several receipts where one is asked for.",
    "One of them is verified, and another one is granted.",
    "https://developer.apple.com/documentation/appstoreserverapi/get-v2-history-_transactionid_",
)  # fmt: skip
NO_RECEIPT = flag(
    "NoReceipt", "What was sent names a purchase, or is a part of a receipt, and proves nothing.",
    "Anyone writes such a text.",
    "https://developer.apple.com/documentation/appstoreserverapi/get-v1-transactions-_transactionid_",
)  # fmt: skip


class Wrappers:
    """Adds cases of one kind, all of the same receipt."""

    def __init__(self, suite: Suite, kind: str, policy: dict, values: dict):
        self.suite, self.kind, self.policy, self.values = suite, kind, policy, values

    def read(self, name: str, description: str, text: str | bytes, values: dict | None = None) -> None:
        self.suite.add(
            f"{self.kind}::wrapper::{name}", description, receipt(text), "valid", values=values or self.values,
            policy=self.policy, features=["wrappers"], importance="medium",
        )  # fmt: skip

    def refused(
        self, name: str, description: str, text: str | bytes, mark: str, place: str | None = None, reason: str = "malformed"
    ) -> None:
        self.suite.add(
            f"{self.kind}::wrapper::{name}", description, receipt(text), "invalid", reason=reason, place=place,
            policy=self.policy, features=["wrappers"], flags=[mark],
            importance="high" if mark == SEVERAL else "medium",
        )  # fmt: skip


def add(suite: Suite) -> None:
    signed_transactions(suite)
    other_jws(suite)
    app_receipts(suite)
    transaction_receipts(suite)
    purchases(suite)


def lines(text: str, count: int = 64, end: str = "\n") -> str:
    return end.join(text[start : start + count] for start in range(0, len(text), count))


def percent(text: str) -> str:
    """Percent-encoding of everything that is no letter or digit."""
    return "".join(letter if letter.isalnum() else f"%{ord(letter):02X}" for letter in text)


def document(**members) -> str:
    return json.dumps({name.replace("_data", "-data"): value for name, value in members.items()})


def again(text: str, times: int = 1) -> str:
    """Base64 of a text, and of that, and so on."""
    for _ in range(times):
        text = b64(text.encode())
    return text


def signed_transactions(suite: Suite) -> None:
    text, second = jws(transaction()), jws(transaction(transactionId="2"))
    item = {
        "transactionId": ORIGINAL, "originalTransactionId": ORIGINAL, "productId": MONTHLY, "quantity": 1,
        "purchaseDate": iso(PURCHASED), "originalPurchaseDate": iso(PURCHASED), "expiresDate": iso(EXPIRES),
    }  # fmt: skip
    values = {
        "environment": "production", "bundleId": APP, "signedAt": iso(SIGNED), "algorithm": "ES256", "transactions": [item],
    }  # fmt: skip
    cases = Wrappers(suite, "signed-transaction", base_policy(signer()), values)
    cordova = {"type": "apple-sk2", "id": MONTHLY, "jwsRepresentation": text}
    for name, description, wrapped in (
        ("line-end", "A line end after it.", text + "\n"),
        ("line-end-of-windows", "A line end of Windows after it.", text + "\r\n"),
        ("white-space", "White space around it.", f"\n\t  {text}  \n"),
        ("byte-order-mark", "A byte order mark before it, as of an editor.", "\ufeff" + text),
        ("json-string", "A JSON string.", json.dumps(text)),
        ("bearer", "The value of an HTTP header.", f"Bearer {text}"),
        ("bearer-in-capitals", "The value of an HTTP header; the word is the same in capitals.", f"BEARER {text}"),
        ("bearer-percent-encoded", "The value of an HTTP header, whose space is percent-encoded.", f"Bearer%20{text}"),
        ("bearer-in-small-letters", "The value of an HTTP header; the word is the same in small letters.", f"bearer {text}"),
        ("data-uri", "A data URI with base64.", f"data:application/octet-stream;base64,{again(text)}"),
        ("base64", "Base64 of it.", again(text)),
        ("base64url", "Base64url of it.", base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()),
        ("base64-twice", "Base64 of base64 of it.", again(text, 2)),
        ("percent-encoded", "Percent-encoding, as of a form.", percent(text)),
        ("base64-four-times", "Base64 four times, of which the first does not count: three wrappings.", again(text, 4)),
        ("three-wrappings", "The value of an HTTP header that is a data URI with base64 of base64: three wrappings.",
         f"Bearer data:;base64,{again(text, 2)}"),
        ("three-wrappings-in-member", "A member that holds three wrappings; JSON does not count.",
         document(signedTransactionInfo=f"Bearer data:;base64,{again(text, 2)}")),
        ("server-api", "An answer of the App Store Server API.", document(signedTransactionInfo=text)),
        (
            "server-api-with-others",
            "An answer of the App Store Server API, with members that are no receipts.",
            document(status=1, originalTransactionId=ORIGINAL, signedTransactionInfo=text),
        ),
        ("unity", "As Unity wraps it.", document(Store="AppleAppStore", TransactionID=ORIGINAL, Payload=text)),
        ("cordova", "As Cordova's plug-in sends it to a validator.", document(id=APP, type="application", transaction=cordova)),
        ("openiap", "As OpenIAP's clients (React Native, Expo, Flutter) send it.", document(store="apple", jws=text)),
    ):
        cases.read(name, description, wrapped)
    for name, description, wrapped, mark, place in (
        ("history", "An answer of the App Store Server API with a list of two transactions.",
         document(revision="1", hasMore=False, signedTransactions=[text, second]), SEVERAL,
         "$.signedTransactions"),
        ("two-members", "A transaction and renewal information beside each other.",
         document(signedTransactionInfo=text, signedRenewalInfo=jws(renewal())), SEVERAL, "$"),
        ("member-twice", "The same member twice, with two transactions.",
         f"{{\"signedTransactionInfo\":\"{text}\",\"signedTransactionInfo\":\"{second}\"}}",
         SEVERAL, "$.signedTransactionInfo"),
        ("two-members-of-plugins", "Two transactions under the names that two plug-ins have for one.",
         document(jws=text, jwsRepresentation=second), SEVERAL, "$.jws"),
        ("list", "A JSON list of two.", json.dumps([text, second]), SEVERAL, "$"),
        ("two-lines", "Two transactions, one a line.", f"{text}\n{second}", SEVERAL, "byte 5443 of the JWS"),
        ("member-null", "The member is null.", document(signedTransactionInfo=None), NO_RECEIPT, "$.signedTransactionInfo"),
        ("member-object", "The member is the decoded payload, which nobody signed.",
         document(signedTransactionInfo=transaction()), NO_RECEIPT, "$.signedTransactionInfo"),
        ("payload-alone", "The decoded payload alone, which nobody signed.", json.dumps(transaction()), NO_RECEIPT, "$"),
        ("payload-part", "The second part of three alone.", text.split(".")[1], NO_RECEIPT, "byte 0 of the decoded base64"),
        ("transaction-identifier", "The number of the transaction, which proves nothing.", ORIGINAL, NO_RECEIPT, None),
        ("member-json-string", "The member holds a JSON string with the transaction, which is JSON within JSON.",
         document(signedTransactionInfo=json.dumps(text)), NO_RECEIPT, "$"),
        ("member-json-object", "The member holds an answer of the App Store Server API, which is JSON within JSON.",
         document(signedPayload=document(signedTransactionInfo=text)), NO_RECEIPT, "$"),
        ("member-json-of-plugin", "The member of a plug-in holds JSON with the transaction.",
         document(jws=document(jws=text)), NO_RECEIPT, "$"),
        ("member-list-in-text", "The member holds a JSON list with the transaction.",
         document(signedTransactionInfo=json.dumps([text])), NO_RECEIPT, "$"),
        ("json-string-twice", "A JSON string in a JSON string.", json.dumps(json.dumps(text)), NO_RECEIPT, "$"),
        ("bearer-empty", "The value of an HTTP header without a token.", "Bearer ", NO_RECEIPT, None),
        ("cut-off-by-log", "The end is replaced by dots, as of a log.", text[:300] + "...", DAMAGED, "byte 302 of the JWS"),
        ("single-quotation-marks", "Single quotation marks around it.", f"'{text}'", DAMAGED, None),
    ):  # fmt: skip
        cases.refused(name, description, wrapped, mark, place)


def other_jws(suite: Suite) -> None:
    """The members in which the App Store sends JWS of other kinds."""
    app = {
        "receiptType": "Production", "appAppleId": 1234567890, "bundleId": APP, "applicationVersion": "2.1",
        "receiptCreationDate": SIGNED, "originalPurchaseDate": PURCHASED, "originalApplicationVersion": "1.0",
    }  # fmt: skip
    values = {"environment": "production", "signedAt": iso(SIGNED), "algorithm": "ES256"}
    of_app = values | {"bundleId": APP, "transactions": []}
    of_line = values | {"transactions": [{"originalTransactionId": ORIGINAL, "productId": MONTHLY}]}
    for kind, description, text, member, expected in (
        ("signed-renewal-info", "Renewal information in an answer of the App Store Server API.", jws(renewal()),
         "signedRenewalInfo", of_line),
        ("signed-app-transaction", "An app transaction in an answer of the App Store Server API.", jws(app),
         "signedAppTransactionInfo", of_app),
        ("signed-notification", "A notification in the body of the App Store's request.", notification("TEST"), "signedPayload",
         of_app),
    ):  # fmt: skip
        cases = Wrappers(suite, kind, base_policy(signer()), expected)
        cases.read("server-api", description, json.dumps({member: text}))
        cases.read("json-string", f"{description[:-1]}, as a JSON string alone.", json.dumps(text))


def app_receipts(suite: Suite) -> None:
    data = sample_app_receipt()
    text = b64(data)
    values = {
        "environment": "production", "bundleId": APP, "signedAt": iso(SIGNED), "algorithm": "RSA-SHA256",
        "transactions": [
            {"transactionId": "2000000003", "originalTransactionId": "2000000003", "productId": COINS, "quantity": 1,
             "purchaseDate": iso(PURCHASED), "originalPurchaseDate": iso(PURCHASED)}
        ],
    }  # fmt: skip
    cases = Wrappers(suite, "app-receipt", rsa_policy(), values)
    digits = data.hex()
    groups = " ".join(digits[start : start + 8] for start in range(0, len(digits), 8))
    pem = f"-----BEGIN PKCS7-----\n{lines(text)}\n-----END PKCS7-----\n"
    cordova = {"type": "ios-appstore", "id": "2000000003", "appStoreReceipt": text}
    answer = {"status": 0, "environment": "Production", "receipt": {"bundle_id": APP, "in_app": []}, "latest_receipt": text}
    for name, description, wrapped in (
        ("binary", "In binary, as it lies on the device.", data),
        ("base64", "Base64 in one line.", text),
        ("base64-lines", "Base64 in lines of 64, as iOS writes it if it is asked to.", lines(text)),
        ("base64-lines-of-windows", "Base64 in lines of 76 with line ends of Windows, as of MIME.", lines(text, 76, "\r\n")),
        ("base64-without-padding", "Base64 without the equals signs at its end.", text.rstrip("=")),
        ("base64url", "Base64url.", text.replace("+", "-").replace("/", "_").rstrip("=")),
        ("base64-twice", "Base64 of base64.", again(text)),
        ("json-string", "A JSON string.", json.dumps(text)),
        (
            "json-string-escaped",
            "A JSON string whose slashes have backslashes, as PHP writes them.",
            json.dumps(text).replace("/", "\\/"),
        ),
        ("verify-receipt", "A request to verifyReceipt.", document(receipt_data=text)),
        (
            "verify-receipt-with-password",
            "A request to verifyReceipt, with password.",
            json.dumps({"receipt-data": text, "password": "secret", "exclude-old-transactions": True}),
        ),
        ("verify-receipt-answer", "An answer of verifyReceipt, whose decoded parts prove nothing.", json.dumps(answer)),
        ("unity", "As Unity wraps it.", document(Store="AppleAppStore", TransactionID="2000000003", Payload=text)),
        ("cordova", "As Cordova's plug-in sends it to a validator.", document(id=APP, type="application", transaction=cordova)),
        (
            "react-native",
            "As react-native-iap hands it over.",
            document(productId=COINS, transactionId="2000000003", transactionReceipt=text),
        ),
        ("data-uri", "A data URI.", f"data:application/octet-stream;base64,{text}"),
        ("data-uri-short", "A data URI without a type.", f"data:;base64,{text}"),
        ("percent-encoded", "Percent-encoding, as of a form.", percent(text)),
        ("nsdata", "The description of an NSData.", f"<{groups}>"),
        ("nsdata-in-capitals", "The description of an NSData, in capitals and without spaces.", f"<{digits.upper()}>"),
        ("pem", "A PEM block of PKCS #7.", pem),
        ("pem-cms", "A PEM block of CMS.", pem.replace("PKCS7", "CMS")),
        ("pem-lines-of-windows", "A PEM block with line ends of Windows.", pem.replace("\n", "\r\n")),
        ("pem-space-after-begin", "A PEM block with a space and a tab after its first line (RFC 7468 section 3).",
         pem.replace("BEGIN PKCS7-----", "BEGIN PKCS7----- \t")),
        ("pem-space-after-end", "A PEM block with a space and a tab after its last line (RFC 7468 section 3).",
         pem.rstrip("\n") + " \t\n"),
        ("pem-without-last-line-end", "A PEM block whose last line does not end.", pem.rstrip("\n")),
        ("pem-long-lines", "A PEM block with its base64 in one line.",
         f"-----BEGIN PKCS7-----\n{text}\n-----END PKCS7-----\n"),
        ("line-end", "A line end after the base64.", text + "\n"),
        ("first-row", "A member of an Apple service counts, and one of a plug-in is ignored.",
         json.dumps({"receipt-data": text, "transactionReceipt": b64(app_receipt())})),
        ("unity-with-plugin", "Unity's payload counts, and a member of a plug-in is ignored.",
         document(Store="AppleAppStore", Payload=text, transactionReceipt=b64(app_receipt()))),
        ("cordova-with-plugin", "Cordova's transaction counts, and a member of a plug-in beside it is ignored.",
         document(id=APP, transaction=cordova, transactionReceipt=b64(app_receipt()))),
        ("data-ignored", "Data without a signature beside a member that holds the receipt is ignored.",
         json.dumps({"receipt": {"bundle_id": "com.example.other"}, "receipt-data": text})),
        ("data-uri-in-capitals", "A data URI whose scheme is in capitals.", f"DATA:;base64,{text}"),
        ("nsdata-with-lines", "The description of an NSData in lines.", f"<{lines(groups, 72)}>"),
        ("member-base64-twice", "The member holds base64 of base64.", document(receipt_data=again(text))),
        ("member-percent-encoded", "The member holds percent-encoded base64.", document(receipt_data=percent(text))),
        ("member-pem", "The member holds a PEM block.", document(receipt_data=pem)),
    ):
        cases.read(name, description, wrapped)
    for name, description, wrapped, mark, place in (
        ("space-for-plus", "A space stands for each plus, as of a form that was not encoded; which ones nobody can tell.",
         text.replace("+", " "), DAMAGED, "byte 510 of the base64 text"),
        ("plus-missing", "The pluses are missing.", text.replace("+", ""), DAMAGED, None),
        ("mixed-alphabets", "Both alphabets of base64.", text.replace("+", "-"), DAMAGED, "byte 908 of the base64 text"),
        ("cut-off", "The last quarter of the base64 is missing.", text[: len(text) * 3 // 16 * 4], DAMAGED, None),
        ("cut-off-by-log", "The middle is replaced by dots, as of a log.", f"{text[:100]}...{text[-100:]}", DAMAGED,
         "byte 100 of the base64 text"),
        ("nsdata-cut-off", "The description of an NSData of newer systems, which leaves out the middle.",
         f"{{length = {len(data)}, bytes = 0x{digits[:32]} ... {digits[-16:]} }}", DAMAGED, None),
        ("nsdata-half-byte", "The description of an NSData that lacks its last digit.", f"<{groups[:-1]}>", DAMAGED, None),
        ("percent-cut-off", "A percent sign without two digits after it.", percent(text) + "%2", DAMAGED,
         "byte 4472 of the percent-encoded text"),
        ("percent-twice-cut-off", "A percent sign with a letter that is no digit after it.",
         percent(text).replace("%2F", "%2G", 1), DAMAGED, "byte 910 of the percent-encoded text"),
        ("data-uri-without-comma", "A data URI that ends before its comma.", "data:application/octet-stream;base64", DAMAGED,
         "byte 36 of the data URI"),
        ("payload-without-store", "Unity's payload without the name of the store.",
         document(TransactionID="2000000003", Payload=text), NO_RECEIPT, "$"),
        ("store-number", "Unity's name of the store is a number.", document(Store=1, Payload=text), NO_RECEIPT, "$"),
        ("payload-of-member", "Unity's payload is JSON with a member that holds a receipt, and no data and signature.",
         document(Store="AppleAppStore", Payload=document(receipt_data=text)), NO_RECEIPT, None),
        ("transaction-alone", "Cordova's form whose transaction has no receipt.",
         document(id=APP, transaction={"type": "ios-appstore", "id": "1"}), NO_RECEIPT, "$"),
        ("nsdata-empty", "The description of an NSData without octets.", "<>", NO_RECEIPT, None),
        ("nsdata-of-spaces", "The description of an NSData with white space alone.", "< \n >", NO_RECEIPT, None),
        ("pem-begin-misspelt", "A PEM block whose first line has another word than BEGIN.", pem.replace("BEGIN", "BEGAN"),
         DAMAGED, None),
        ("pem-begin-small", "A PEM block whose first line has BEGIN in small letters.", pem.replace("BEGIN", "begin"), DAMAGED,
         None),
        ("pem-begin-indented", "A PEM block whose first hyphen is missing.", pem[1:], DAMAGED, None),
        ("pem-end-misspelt", "A PEM block whose last line has another word than END.", pem.replace("-END", "-AND"), DAMAGED,
         None),
        ("pem-begin-hyphen-missing", "A PEM block whose first line ends with four hyphens.",
         pem.replace("PKCS7-----\n", "PKCS7----\n", 1), DAMAGED, None),
        ("pem-without-end", "A PEM block without its last line.", pem.split("-----END")[0], DAMAGED, "byte 0 of the PEM block"),
        ("pem-other-end", "A PEM block whose last line has another label.", pem.replace("END PKCS7", "END CMS"), DAMAGED,
         "byte 0 of the PEM block"),
        ("pem-joined", "A PEM block whose lines were joined.", pem.replace("\n", ""), DAMAGED, "byte 0 of the PEM block"),
        ("pem-two-blocks", "Two PEM blocks.", pem + pem, SEVERAL, None),
        ("two-members", "Two members with receipts.",
         json.dumps({"receipt-data": text, "latest_receipt": b64(app_receipt())}), SEVERAL, "$"),
        ("member-twice", "The same member twice, with two receipts.",
         f"{{\"receipt-data\":\"{text}\",\"receipt-data\":\"{b64(app_receipt())}\"}}", SEVERAL, "$.receipt-data"),
        ("member-number", "The member is a number.", json.dumps({"receipt-data": 1}), NO_RECEIPT, "$.receipt-data"),
        ("member-list", "The member is a list of two receipts.", json.dumps({"receipt-data": [text, b64(app_receipt())]}),
         SEVERAL,
         "$.receipt-data"),
        ("member-empty", "The member is an empty text.", json.dumps({"receipt-data": ""}), NO_RECEIPT, None),
        ("decoded-answer", "The decoded part of an answer of verifyReceipt, which nobody signed.",
         json.dumps({"status": 0, "receipt": {"bundle_id": APP, "in_app": []}}), NO_RECEIPT, "$"),
        ("base64-of-json", "Base64 of JSON with the receipt in it, of a decoded answer or of anything else.",
         again(json.dumps({"status": 0, "receipt": {}})), NO_RECEIPT, "byte 0 of the decoded base64"),
        ("web-page", "The page of a proxy that refused the request.", "<html><body>403 Forbidden</body></html>", NO_RECEIPT,
         None),
        ("null", "The word null, as of a variable that was not set.", "null", NO_RECEIPT, None),
        ("undefined", "The word undefined, as of a variable that was not set.", "undefined", NO_RECEIPT, None),
        ("empty", "Nothing.", "", NO_RECEIPT, None),
        ("white-space", "White space alone.", " \r\n\t", NO_RECEIPT, None),
    ):  # fmt: skip
        cases.refused(name, description, wrapped, mark, place)


def sample_app_receipt() -> bytes:
    """An app receipt whose base64 has the signs that the cases change, and ends in an equals sign."""
    for number in range(100):
        data = app_receipt(in_app("2000000003", COINS, line_item=number))
        text = b64(data)
        if text.endswith("=") and "+" in text and "/" in text:
            return data
    raise ValueError("no receipt has them all")


def transaction_receipts(suite: Suite) -> None:
    data = transaction_receipt()
    text = b64(data)
    values = {
        "environment": "sandbox", "bundleId": APP, "signedAt": iso(PURCHASED), "algorithm": "RSA-SHA256",
        "transactions": [
            {"transactionId": "1000000001", "originalTransactionId": "1000000001", "productId": COINS, "quantity": 1,
             "purchaseDate": iso(PURCHASED), "originalPurchaseDate": iso(PURCHASED)}
        ],
    }  # fmt: skip
    cases = Wrappers(suite, "transaction-receipt", rsa_policy(), values)
    for name, description, wrapped in (
        ("property-list", "The property list itself.", data),
        ("base64", "Base64 in one line.", text),
        ("base64-lines", "Base64 in lines of 76.", lines(text, 76)),
        ("base64url", "Base64url.", text.replace("+", "-").replace("/", "_").rstrip("=")),
        ("verify-receipt", "A request to verifyReceipt.", json.dumps({"receipt-data": text})),
        ("percent-encoded", "Percent-encoding, as of a form.", percent(text)),
        ("nsdata", "The description of an NSData.", f"<{data.hex()}>"),
    ):
        cases.read(name, description, wrapped)
    cases.refused(
        "purchase-info-alone", "The inner property list alone, which carries no signature.",
        base64.b64decode(data.decode().split("\"purchase-info\" = \"")[1].split("\"")[0]), NO_RECEIPT, "key \"signature\"",
    )  # fmt: skip


def purchases(suite: Suite) -> None:
    data = json_bytes(play())
    text, signature = data.decode(), b64(rsa(rsa_key("app"), data))
    cases = Wrappers(suite, "google-play-purchase", policy("play"), play_values(play()))
    payload = json.dumps({"json": text, "signature": signature})
    details = json.dumps({"json": text, "signature": signature, "skuDetails": [json.dumps({"productId": COINS})]})
    cordova = {
        "type": "android-playstore", "id": "GPA.1", "purchaseToken": "t", "receipt": text, "signature": signature,
    }  # fmt: skip
    other = json_bytes(play(productId=f"{APP}.castle")).decode()
    for name, description, wrapped in (
        ("unity", "As Unity wraps it.", document(Store="GooglePlay", TransactionID="1", Payload=payload)),
        (
            "unity-with-details",
            "As Unity wraps it, with details of the product.",
            document(Store="GooglePlay", TransactionID="1", Payload=details),
        ),
        ("unity-payload", "The payload of Unity's form alone.", payload),
        (
            "cordova",
            "As Cordova's plug-in sends it to a validator.",
            document(id=COINS, type="consumable", transaction=cordova),
        ),
        ("react-native", "As react-native-iap hands it over.", document(dataAndroid=text, signatureAndroid=signature)),
        ("client-library", "With the names of Google's library.", document(originalJson=text, signature=signature)),
        (
            "billing-service",
            "With the names of Google's first billing service.",
            document(INAPP_PURCHASE_DATA=text, INAPP_DATA_SIGNATURE=signature),
        ),
        ("json-string", "The object as a JSON string.", json.dumps(document(data=text, signature=signature))),
        (
            "byte-order-mark",
            "A byte order mark before the object, as of an editor.",
            "\ufeff" + document(data=text, signature=signature),
        ),
        ("line-end", "A line end after the object.", document(data=text, signature=signature) + "\n"),
    ):
        cases.read(name, description, wrapped)
    for name, description, wrapped, mark, place in (
        ("two-names", "Two texts under two names, one of which was edited.",
         document(data=other, originalJson=text, signature=signature), SEVERAL, "$"),
        ("two-signatures", "Two signatures under two names.",
         document(data=text, signature=signature, dataSignature=b64(bytes(256))), SEVERAL, "$"),
        ("unity-parsed", "Unity's payload was parsed, and the signed text became an object.",
         document(Store="GooglePlay", TransactionID="1", Payload=json.dumps({"json": play(), "signature": signature})), DAMAGED,
         "$.Payload.json"),
        ("cordova-without-signature", "Cordova's form without the signature.",
         document(transaction={name: value for name, value in cordova.items() if name != "signature"}), NO_RECEIPT, "$"),
        ("token", "The token, which proves nothing.", play()["purchaseToken"], NO_RECEIPT, None),
        ("data-alone", "The data without its signature.", text, NO_RECEIPT, "$"),
        ("list", "A list of the same purchase twice.", json.dumps([{"data": text, "signature": signature}] * 2), SEVERAL, "$"),
    ):  # fmt: skip
        cases.refused(name, description, wrapped, mark, place)
    data = json_bytes(huawei())
    text, signature = data.decode(), b64(rsa(rsa_key("app"), data, "sha256"))
    cases = Wrappers(suite, "huawei-purchase", policy("huawei"), huawei_values(huawei()))
    for name, description, wrapped in (
        (
            "client-library",
            "With the names of Huawei's library.",
            document(inAppPurchaseData=text, inAppPurchaseDataSignature=signature),
        ),
        (
            "react-native",
            "With the names of Huawei's plug-in for React Native.",
            document(inAppPurchaseData=text, inAppDataSignature=signature, signatureAlgorithm="SHA256WithRSA"),
        ),
        (
            "order-service",
            "An answer of Huawei's order service.",
            document(responseCode="0", purchaseTokenData=text, dataSignature=signature, signatureAlgorithm="SHA256WithRSA"),
        ),
    ):
        cases.read(name, description, wrapped)
