# SPDX-License-Identifier: Apache-2.0
"""A client of receipt-server: verdicts on purchase receipts, what customers are entitled to, and the audit trail.

    from receiptkit_client import Client

    with Client("https://receipts.example.com", key, app="shop") as client:
        verdict = client.verify(receipt)
        for purchase in verdict.active_purchases:
            grant(purchase.product_id)
"""

from . import _models as models
from . import webhooks
from ._calls import Receipt
from ._client import AsyncClient, Client, RetryPolicy
from ._codec import Model, UnknownObject, Word
from ._errors import (
    ApiError,
    Conflict,
    ConnectionFailed,
    ContentTooLarge,
    Forbidden,
    InvalidRequest,
    NotAcceptable,
    NotFound,
    ReceiptKitError,
    ServerFailed,
    TooManyRequests,
    Unauthorized,
    UnexpectedAnswer,
    Unprocessable,
    UnsupportedMediaType,
)
from ._events import ChangeEvent
from ._version import VERSION as __version__

__all__ = [
    "ApiError",
    "AsyncClient",
    "ChangeEvent",
    "Client",
    "Conflict",
    "ConnectionFailed",
    "ContentTooLarge",
    "Forbidden",
    "InvalidRequest",
    "Model",
    "NotAcceptable",
    "NotFound",
    "Receipt",
    "ReceiptKitError",
    "RetryPolicy",
    "ServerFailed",
    "TooManyRequests",
    "Unauthorized",
    "UnexpectedAnswer",
    "UnknownObject",
    "Unprocessable",
    "UnsupportedMediaType",
    "Word",
    "__version__",
    "models",
    "webhooks",
]
