# SPDX-License-Identifier: Apache-2.0
"""usage: KEY=rk_… with_client.py URL RECEIPT-FILE CUSTOMER NAME

Presents a receipt for a customer with the package receiptkit-client, and asks whether the customer has an entitlement.
"""

import os
import sys

from receiptkit_client import Client, Conflict, ReceiptKitError

url, file, customer, name = sys.argv[1:]

with Client(url, os.environ["KEY"]) as client:
    try:
        presented = client.present_receipt(customer, open(file, "rb").read())
        verdict = presented.verdict
        if verdict.should_retry:
            sys.exit("keep the receipt, and ask again later")
        if not verdict.is_valid:
            sys.exit(f"refused: {verdict.reason.code}")
        # Genuine is not enough: a purchase may have expired, or may have been refunded.
        for purchase in verdict.active_purchases:
            print("grant", purchase.product_id)
        answer = client.get_customer_entitlements(customer)
        print(name, "yes" if answer.grants(name) else "no")
        # Nothing is sent again that has not changed.
        again = client.get_customer_entitlements(customer, known=answer)
        print("unchanged" if again is answer else "changed")
    except Conflict as conflict:
        sys.exit(f"it belongs to another customer: {conflict.code}")
    except ReceiptKitError as error:
        sys.exit(f"failed: {error}" + (" (try again)" if error.is_retryable else ""))
