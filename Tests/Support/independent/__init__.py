# SPDX-License-Identifier: Apache-2.0
"""A second implementation of the App Store's receipt formats, written from their descriptions only.

It shares no code with ReceiptKit: Python's `cryptography` makes keys, certificates and raw signatures, and
the rest (DER, BER, CMS, JWS, property lists) is written here by hand. What it signs must verify with
receipt-tool; what it forges must not.
"""
