# SPDX-License-Identifier: Apache-2.0
"""Google's discovery document has no field and no value that our types of Google Play lack."""

import json
import pathlib

import pytest
from googleapiclient.discovery_cache import get_static_doc

SCHEMAS = pathlib.Path(__file__).resolve().parents[2] / "Schemas"
GOOGLE = json.loads(get_static_doc("androidpublisher", "v3"))["schemas"]

# Our type, and Google's.
TYPES = {
    "SubscriptionPurchaseV2": "SubscriptionPurchaseV2",
    "ProductPurchaseV2": "ProductPurchaseV2",
    "ProductPurchase": "ProductPurchase",
    "VoidedPurchasesResponse": "VoidedPurchasesListResponse",
    "PlayOrder": "Order",
    "PlayOrdersResponse": "BatchGetOrdersResponse",
    "ReviewRefundRequest": "OrdersReviewRefundRequest",
    "ExternalTransaction": "ExternalTransaction",
    "CreateExternalTransactionRequest": "ExternalTransaction",
    "RefundExternalTransactionRequest": "RefundExternalTransactionRequest",
    "CancelSubscriptionRequest": "CancelSubscriptionPurchaseRequest",
    "DeferSubscriptionRequest": "DeferSubscriptionPurchaseRequest",
    "DeferSubscriptionResponse": "DeferSubscriptionPurchaseResponse",
    "DeferSubscriptionV1Request": "SubscriptionPurchasesDeferRequest",
    "DeferSubscriptionV1Response": "SubscriptionPurchasesDeferResponse",
    "RevokeSubscriptionRequest": "RevokeSubscriptionPurchaseRequest",
    "SubscriptionAcknowledgeRequest": "SubscriptionPurchasesAcknowledgeRequest",
    "ProductAcknowledgeRequest": "ProductPurchasesAcknowledgeRequest",
    "PlayCatalogSubscriptionsResponse": "ListSubscriptionsResponse",
    "PlayCatalogOffersResponse": "ListSubscriptionOffersResponse",
    "PlayCatalogProductsResponse": "ListOneTimeProductsResponse",
}
# What a request does not have because Google fills it in, and what is no part of reading a catalogue.
LEFT_OUT = {
    "CreateExternalTransactionRequest": {
        "packageName", "externalTransactionId", "createTime", "currentPreTaxAmount", "currentTaxAmount", "transactionState",
        "testPurchase",
    },
    "PlayCatalogSubscriptionsResponse": {
        "archived", "restrictedPaymentCountries", "taxAndComplianceSettings", "otherRegionsConfig", "legacyCompatible",
        "legacyCompatibleSubscriptionOfferId", "prorationMode", "resubscribeState", "timeExtension",
    },
    "PlayCatalogOffersResponse": {"otherRegionsConfig", "targeting"},
    "PlayCatalogProductsResponse": {
        "restrictedPaymentCountries", "taxAndComplianceSettings", "newRegionsConfig", "regionsVersion",
    },
}  # fmt: skip


def differences(ours: dict, theirs: dict, definitions: dict, left_out: set, place="$"):
    """The fields and values of Google's schema that ours lacks."""
    while "$ref" in theirs:
        theirs = GOOGLE[theirs["$ref"]]
    if "anyOf" in ours and any("$ref" in each for each in ours["anyOf"]):
        ours = next(each for each in ours["anyOf"] if "$ref" in each)
    while "$ref" in ours:
        ours = definitions[ours["$ref"].rsplit("/", 1)[1]]
    if "items" in theirs:
        yield from differences(ours.get("items", {}), theirs["items"], definitions, left_out, place + "[]")
    known = {each["const"] for each in ours.get("anyOf", []) if "const" in each}
    for value in theirs.get("enum", []):
        # A reader keeps values that it does not know, and that one is never sent.
        if value not in known and not value.endswith("_UNSPECIFIED"):
            yield f"{place} = {value}"
    for name, each in theirs.get("properties", {}).items():
        if name in left_out:
            continue
        if name not in ours.get("properties", {}):
            yield f"{place}.{name}"
        else:
            yield from differences(ours["properties"][name], each, definitions, left_out, f"{place}.{name}")


@pytest.mark.parametrize("name", TYPES)
def test_no_field_is_missing(name):
    ours = json.loads((SCHEMAS / f"{name}.schema.json").read_bytes())
    missing = differences(ours, GOOGLE[TYPES[name]], ours.get("$defs", {}), LEFT_OUT.get(name, set()))
    assert list(missing) == []
