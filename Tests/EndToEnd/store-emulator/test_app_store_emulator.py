# SPDX-License-Identifier: Apache-2.0
"""Apple's own client against store-emulator: each understands the other's messages.

This is what says that the emulator speaks as the App Store does, rather than as our client expects.
"""

import inspect
import os
import pathlib
import socket
import ssl
import time
import uuid

import pytest
import requests
from appstoreserverlibrary.api_client import (
    APIError,
    APIException,
    AppStoreServerAPIClient,
    GetTransactionHistoryVersion,
)
from appstoreserverlibrary.models.ConsumptionRequest import ConsumptionRequest
from appstoreserverlibrary.models.ConsumptionRequestV1 import ConsumptionRequestV1
from appstoreserverlibrary.models.DefaultConfigurationRequest import DefaultConfigurationRequest
from appstoreserverlibrary.models.DeliveryStatus import DeliveryStatus
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.ExtendReasonCode import ExtendReasonCode
from appstoreserverlibrary.models.ExtendRenewalDateRequest import ExtendRenewalDateRequest
from appstoreserverlibrary.models.HeaderPosition import HeaderPosition
from appstoreserverlibrary.models.ImageSize import ImageSize
from appstoreserverlibrary.models.ImageState import ImageState
from appstoreserverlibrary.models.MassExtendRenewalDateRequest import MassExtendRenewalDateRequest
from appstoreserverlibrary.models.NotificationHistoryRequest import NotificationHistoryRequest
from appstoreserverlibrary.models.NotificationTypeV2 import NotificationTypeV2
from appstoreserverlibrary.models.OrderLookupStatus import OrderLookupStatus
from appstoreserverlibrary.models.PerformanceTestRequest import PerformanceTestRequest
from appstoreserverlibrary.models.PerformanceTestStatus import PerformanceTestStatus
from appstoreserverlibrary.models.RealtimeUrlRequest import RealtimeUrlRequest
from appstoreserverlibrary.models.SendAttemptResult import SendAttemptResult
from appstoreserverlibrary.models.Status import Status
from appstoreserverlibrary.models.TransactionHistoryRequest import Order, ProductType, TransactionHistoryRequest
from appstoreserverlibrary.models.UpdateAppAccountTokenRequest import UpdateAppAccountTokenRequest
from appstoreserverlibrary.models.UploadMessageImage import UploadMessageImage
from appstoreserverlibrary.models.UploadMessageRequestBody import UploadMessageRequestBody
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException
from emulator import Emulator

ORIGINAL = "2000000001"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(32)

called: set[str] = set()


class Client(AppStoreServerAPIClient):
    """Apple's client with another base URL, which records the calls."""

    def __init__(self, emulator: Emulator, port: str, environment: Environment, **changes):
        developer = emulator.developer | changes
        super().__init__(
            developer.get("key") or emulator.file("developerKey"),
            developer["keyId"],
            developer["issuerId"],
            developer["bundleId"],
            environment,
        )
        self._base_url = emulator.url(port)
        self.authority = emulator.ready["tlsAuthority"]

    def _execute_request(self, method, url, params, headers, json, data):
        called.add(inspect.stack()[2].function)
        return requests.request(
            method, url, params=params, headers=headers, json=json, data=data, timeout=30, verify=self.authority
        )


@pytest.fixture(scope="module")
def emulator(tmp_path_factory):
    path = os.environ.get("STORE_EMULATOR")
    if not path or not os.access(path, os.X_OK):
        pytest.exit("STORE_EMULATOR does not name store-emulator; run scripts/interoperability", 2)
    emulator = Emulator(path, tmp_path_factory.mktemp("emulator"))
    yield emulator
    assert emulator.stop() == 0


@pytest.fixture
def seeded(emulator):
    for port in ["port", "productionPort"]:
        emulator.seed(port, reset=True)
        emulator.seed(port, sample=True)
        emulator.faults(port=port)
    return emulator


@pytest.fixture
def client(seeded):
    return Client(seeded, "tlsPort", Environment.SANDBOX)


@pytest.fixture
def production(seeded):
    return Client(seeded, "productionTLSPort", Environment.PRODUCTION)


@pytest.fixture
def verifier(emulator):
    return SignedDataVerifier(
        [emulator.file("root")], False, Environment.SANDBOX, emulator.developer["bundleId"],
        emulator.developer["appAppleId"],
    )  # fmt: skip


def refused(code: APIError, call, *arguments):
    with pytest.raises(APIException) as caught:
        call(*arguments)
    assert caught.value.api_error == code, caught.value
    assert caught.value.http_status_code == code.value // 10000


def milliseconds(seconds_from_now: float = 0) -> int:
    return int((time.time() + seconds_from_now) * 1000)


def test_transaction(client, verifier):
    transaction = verifier.verify_and_decode_signed_transaction(
        client.get_transaction_info(ORIGINAL).signedTransactionInfo
    )
    assert transaction.transactionId == ORIGINAL
    refused(APIError.TRANSACTION_ID_NOT_FOUND, client.get_transaction_info, "1")
    refused(APIError.INVALID_TRANSACTION_ID, client.get_transaction_info, "one")


def test_app_transaction(client, verifier, seeded):
    response = client.get_app_transaction_info(ORIGINAL)
    assert verifier.verify_and_decode_app_transaction(response.signedAppTransactionInfo).originalApplicationVersion
    seeded.seed(transactions=[{"transaction": {"transactionId": "77"}}])
    refused(APIError.APP_TRANSACTION_DOES_NOT_EXIST_ERROR, client.get_app_transaction_info, "77")


@pytest.mark.parametrize("order", [Order.ASCENDING, Order.DESCENDING])
def test_history(client, verifier, seeded, order):
    seeded.seed(
        histories=[
            {
                "count": 45,
                "customer": "many",
                "transaction": {
                    "transactionId": "5000", "originalTransactionId": "5000", "productId": "a",
                    "type": "Auto-Renewable Subscription", "purchaseDate": milliseconds(-86400 * 5),
                },
            }
        ]  # fmt: skip
    )
    request = TransactionHistoryRequest(sort=order, productTypes=[ProductType.AUTO_RENEWABLE])
    found, revision, pages = [], None, 0
    while True:
        page = client.get_transaction_history("5000", revision, request, GetTransactionHistoryVersion.V2)
        found += [verifier.verify_and_decode_signed_transaction(jws) for jws in page.signedTransactions]
        revision, pages = page.revision, pages + 1
        if not page.hasMore:
            break
    numbers = [int(transaction.transactionId) for transaction in found]
    assert numbers == sorted(range(5000, 5045), reverse=order == Order.DESCENDING)
    assert pages == 3
    after = client.get_transaction_history("5000", revision, request, GetTransactionHistoryVersion.V2)
    assert after.signedTransactions == []
    other = client.get_transaction_history("5000", None, TransactionHistoryRequest(productIds=["b"]))
    assert other.signedTransactions == []
    refused(APIError.INVALID_REQUEST_REVISION, client.get_transaction_history, "5000", "zzz", request)
    refused(
        APIError.INVALID_SUBSCRIPTION_GROUP_IDENTIFIER, client.get_transaction_history, "5000", None,
        TransactionHistoryRequest(subscriptionGroupIdentifiers=["x"]),
    )  # fmt: skip


def test_statuses(client, verifier):
    [group] = client.get_all_subscription_statuses(ORIGINAL, [Status.ACTIVE]).data
    [last] = group.lastTransactions
    assert last.status == Status.ACTIVE
    assert verifier.verify_and_decode_renewal_info(last.signedRenewalInfo).originalTransactionId == ORIGINAL
    assert client.get_all_subscription_statuses(ORIGINAL, [Status.REVOKED]).data == []


def test_order(client, production):
    found = production.look_up_order_id("W000001")
    assert found.status == OrderLookupStatus.VALID and len(found.signedTransactions) == 1
    assert production.look_up_order_id("W2").status == OrderLookupStatus.INVALID
    with pytest.raises(APIException):
        client.look_up_order_id("W000001")


def test_refunds(client, verifier, seeded):
    assert client.get_refund_history(ORIGINAL, None).signedTransactions == []
    seeded.seed(refunds=[{"transactionId": ORIGINAL, "date": milliseconds()}])
    page = client.get_refund_history(ORIGINAL, None)
    assert not page.hasMore
    assert verifier.verify_and_decode_signed_transaction(page.signedTransactions[0]).revocationDate
    assert client.get_refund_history(ORIGINAL, page.revision).signedTransactions == []


def test_extensions(client):
    request = ExtendRenewalDateRequest(
        extendByDays=30, extendReasonCode=ExtendReasonCode.CUSTOMER_SATISFACTION, requestIdentifier=str(uuid.uuid4())
    )
    first = client.extend_subscription_renewal_date(ORIGINAL, request)
    assert first.success and first.originalTransactionId == ORIGINAL
    second = client.extend_subscription_renewal_date(ORIGINAL, request)
    assert second.effectiveDate - first.effectiveDate == 30 * 86_400_000
    refused(APIError.SUBSCRIPTION_MAX_EXTENSION, client.extend_subscription_renewal_date, ORIGINAL, request)
    request.extendByDays = 91
    refused(APIError.INVALID_EXTEND_BY_DAYS, client.extend_subscription_renewal_date, ORIGINAL, request)


def test_mass_extension(client, seeded):
    seeded.seed(pendingAnswers=1)
    identifier = str(uuid.uuid4())
    request = MassExtendRenewalDateRequest(
        extendByDays=10, extendReasonCode=ExtendReasonCode.OTHER, requestIdentifier=identifier,
        productId="com.example.app.monthly", storefrontCountryCodes=["USA"],
    )  # fmt: skip
    for _ in range(2):
        assert client.extend_renewal_date_for_all_active_subscribers(request).requestIdentifier == identifier
    status = client.get_status_of_subscription_renewal_date_extensions
    assert not status(identifier, request.productId).complete
    done = status(identifier, request.productId)
    assert (done.complete, done.succeededCount, done.failedCount) == (True, 1, 0)
    refused(APIError.STATUS_REQUEST_NOT_FOUND, status, str(uuid.uuid4()), request.productId)
    request.storefrontCountryCodes = []
    refused(
        APIError.INVALID_EMPTY_STOREFRONT_COUNTRY_CODE_LIST,
        client.extend_renewal_date_for_all_active_subscribers, request,
    )  # fmt: skip


def test_consumption(client):
    delivered = DeliveryStatus.DELIVERED
    request = ConsumptionRequest(customerConsented=True, deliveryStatus=delivered, sampleContentProvided=False)
    client.send_consumption_information(ORIGINAL, request)
    request.customerConsented = False
    refused(APIError.INVALID_CUSTOMER_CONSENTED, client.send_consumption_information, ORIGINAL, request)
    client.send_consumption_data(ORIGINAL, ConsumptionRequestV1(customerConsented=True, sampleContentProvided=False))
    refused(
        APIError.INVALID_SAMPLE_CONTENT_PROVIDED, client.send_consumption_data, ORIGINAL,
        ConsumptionRequestV1(customerConsented=True),
    )  # fmt: skip


def test_account_token(client, verifier):
    token = str(uuid.uuid4())
    client.set_app_account_token(ORIGINAL, UpdateAppAccountTokenRequest(appAccountToken=token))
    transaction = verifier.verify_and_decode_signed_transaction(
        client.get_transaction_info(ORIGINAL).signedTransactionInfo
    )
    assert transaction.appAccountToken == token
    refused(
        APIError.INVALID_APP_ACCOUNT_TOKEN_UUID_ERROR, client.set_app_account_token, ORIGINAL,
        UpdateAppAccountTokenRequest(appAccountToken="me"),
    )  # fmt: skip


def test_finish(client):
    client.finish_transaction(ORIGINAL)
    refused(APIError.TRANSACTION_ID_NOT_FOUND, client.finish_transaction, "3")


def test_test_notification(client, verifier, seeded):
    seeded.seed(pendingAnswers=1)
    token = client.request_test_notification().testNotificationToken
    refused(APIError.TEST_NOTIFICATION_NOT_FOUND, client.get_test_notification_status, token)
    status = client.get_test_notification_status(token)
    notification = verifier.verify_and_decode_notification(status.signedPayload)
    assert notification.notificationType == NotificationTypeV2.TEST
    assert status.sendAttempts[0].sendAttemptResult == SendAttemptResult.SUCCESS
    refused(APIError.INVALID_TEST_NOTIFICATION_TOKEN, client.get_test_notification_status, "x")
    seeded.seed(notificationURL=None)
    refused(APIError.SERVER_NOTIFICATION_URL_NOT_FOUND, client.request_test_notification)


def test_notification_history(client, verifier, seeded):
    data = {"environment": "Sandbox", "bundleId": "com.example.app", "appAppleId": 1234567890}
    seeded.seed(
        notifications=[
            {
                "notification": {"notificationType": "DID_RENEW", "data": data, "signedDate": milliseconds(-number)},
                "transactionIds": [ORIGINAL],
                "sendAttempts": [{"sendAttemptResult": "TIMED_OUT" if number % 2 else "SUCCESS"}],
            }
            for number in range(50)
        ]
    )
    request = NotificationHistoryRequest(startDate=milliseconds(-3600), endDate=milliseconds(3600))
    found, token = [], None
    while True:
        page = client.get_notification_history(token, request)
        found += page.notificationHistory
        token = page.paginationToken
        if not page.hasMore:
            break
    assert len(found) == 50
    verifier.verify_and_decode_notification(found[-1].signedPayload)
    request.onlyFailures = True
    assert client.get_notification_history(None, request).hasMore
    request.transactionId, request.notificationType = ORIGINAL, NotificationTypeV2.DID_RENEW
    refused(APIError.MULTIPLE_FILTERS_SUPPLIED, client.get_notification_history, None, request)
    request = NotificationHistoryRequest(startDate=milliseconds(-86400 * 31), endDate=milliseconds())
    refused(APIError.START_DATE_TOO_FAR_IN_PAST, client.get_notification_history, None, request)
    request.startDate = milliseconds(5)
    refused(APIError.START_DATE_AFTER_END_DATE, client.get_notification_history, None, request)


def test_messages(client, seeded):
    image, message = uuid.uuid4(), uuid.uuid4()
    client.upload_image(image, PNG, ImageSize.FULL_SIZE)
    refused(APIError.IMAGE_ALREADY_EXISTS, client.upload_image, image, PNG)
    refused(APIError.INVALID_IMAGE, client.upload_image, uuid.uuid4(), b"GIF89a")
    [listed] = client.get_image_list().imageIdentifiers
    assert (listed.imageIdentifier, listed.imageState) == (image, ImageState.APPROVED)
    body = UploadMessageRequestBody(header="Stay", body="Please.", image=UploadMessageImage(image, "A door"))
    client.upload_message(message, body)
    refused(APIError.MESSAGE_ALREADY_EXISTS, client.upload_message, message, body)
    refused(
        APIError.BAD_REQUEST_ABOVE_IMAGE_REQUIRES_AN_IMAGE, client.upload_message, uuid.uuid4(),
        UploadMessageRequestBody(header="x", body="y", headerPosition=HeaderPosition.ABOVE_IMAGE),
    )  # fmt: skip
    assert [item.messageIdentifier for item in client.get_message_list().messageIdentifiers] == [message]
    refused(APIError.IMAGE_IN_USE, client.delete_image, image)
    client.configure_default_message("p", "en-US", DefaultConfigurationRequest(messageIdentifier=message))
    assert client.get_default_message("p", "en-US").messageIdentifier == message
    client.delete_default_message("p", "en-US")
    refused(APIError.DEFAULT_MESSAGE_NOT_FOUND, client.get_default_message, "p", "en-US")
    client.delete_message(message)
    refused(APIError.MESSAGE_NOT_FOUND, client.delete_message, message)
    client.delete_image(image)
    refused(APIError.IMAGE_NOT_FOUND, client.delete_image, image)
    seeded.seed(stateOfUploads="PENDING")
    client.upload_image(image, PNG)
    refused(APIError.IMAGE_NOT_APPROVED, client.upload_message, message, body)


def test_realtime_url(client, production, seeded):
    url = "https://example.com/realtime"
    client.configure_realtime_url(RealtimeUrlRequest(realtimeURL=url))
    assert client.get_realtime_url().realtimeURL == url
    client.delete_realtime_url()
    refused(APIError.REALTIME_URL_NOT_FOUND, client.get_realtime_url)
    seeded.seed("productionPort", hasPassedPerformanceTest=False)
    with pytest.raises(APIException) as caught:
        production.configure_realtime_url(RealtimeUrlRequest(realtimeURL=url))
    assert caught.value.raw_api_error == 4030026


def test_performance_test(client, seeded):
    seeded.seed(pendingAnswers=1)
    started = client.initiate_performance_test(PerformanceTestRequest(originalTransactionId=ORIGINAL))
    result = client.get_performance_test_results(started.requestId)
    assert result.result == PerformanceTestStatus.PENDING
    result = client.get_performance_test_results(started.requestId)
    assert result.result == PerformanceTestStatus.PASS and result.responseTimes.p99 > 0


def test_tokens_are_checked(seeded):
    for changes in [
        {"keyId": "OTHERKEY01"}, {"issuerId": str(uuid.uuid4())}, {"bundleId": "com.example.other"},
        {"key": _other_key()},
    ]:  # fmt: skip
        with pytest.raises(APIException) as caught:
            Client(seeded, "tlsPort", Environment.SANDBOX, **changes).get_transaction_info(ORIGINAL)
        assert caught.value.http_status_code == 401
    assert requests.get(f"{seeded.url()}/inApps/v1/transactions/{ORIGINAL}", timeout=30).status_code == 401


def _other_key() -> bytes:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


@pytest.mark.parametrize("kind", ["flipped-bit", "untrusted-signer", "other-app", "other-environment"])
def test_forgeries_are_refused(client, verifier, seeded, kind):
    seeded.faults({"faults": [{"kind": kind}], "requests": 1})
    forged = client.get_transaction_info(ORIGINAL).signedTransactionInfo
    with pytest.raises(VerificationException):
        verifier.verify_and_decode_signed_transaction(forged)
    genuine = client.get_transaction_info(ORIGINAL).signedTransactionInfo
    verifier.verify_and_decode_signed_transaction(genuine)


def test_an_endless_body_takes_no_memory_and_no_turn_of_others(seeded):
    """A client that reads as fast as it is sent to, and then stops, leaves the emulator as it was."""
    seeded.faults({"faults": [{"kind": "endless-body"}], "requests": 1})
    context = ssl.create_default_context(cafile=seeded.ready["tlsAuthority"])
    with socket.create_connection(("127.0.0.1", seeded.ready["tlsPort"]), timeout=30) as plain:
        with context.wrap_socket(plain, server_hostname="localhost") as connection:
            connection.sendall(f"GET /inApps/v1/transactions/{ORIGINAL} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            end = time.monotonic() + 2
            while time.monotonic() < end:
                assert connection.recv(1 << 16)
            for port in ["port", "productionPort", "tlsPort", "productionTLSPort"]:
                answer = requests.get(
                    f"{seeded.url(port)}/_emulator/statistics", timeout=30, verify=seeded.ready["tlsAuthority"]
                )
                assert answer.status_code == 200
            assert resident_bytes(seeded.process.pid) < 500 << 20


def resident_bytes(pid: int) -> int:
    pages = pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def test_every_call_of_the_library_was_made():
    """Runs last: pytest keeps the order of the file."""
    calls = {name for name in vars(AppStoreServerAPIClient) if not name.startswith("_")}
    assert called >= calls, calls - called
