# SPDX-License-Identifier: Apache-2.0
"""Notifications as the App Store posts them."""

import json
import time
import uuid

import samples
from independent import jws


def body(leaf, identifier=None, original=samples.TRANSACTION["originalTransactionId"], signed=None, **changes) -> bytes:
    """A notification about a transaction as the App Store posts it."""
    signed = signed or int(time.time() * 1000)
    transaction = samples.TRANSACTION | {"signedDate": signed, "originalTransactionId": original}
    transaction["expiresDate"] = signed + 86_400_000
    payload = samples.notification(jws.sign(transaction, leaf))
    payload |= {"signedDate": signed, "notificationUUID": identifier or str(uuid.uuid4())} | changes
    return json.dumps({"signedPayload": jws.sign(payload, leaf)}).encode()
