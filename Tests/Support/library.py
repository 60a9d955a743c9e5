# SPDX-License-Identifier: Apache-2.0
"""libreceiptkit.so by its C functions, without any binding: $RECEIPTKIT_LIBRARY."""

import ctypes
import json
import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = ROOT / "Sources/Library/CReceiptKit/include/receiptkit.h"


def path() -> pathlib.Path:
    """The library; without it the tests that need it are skipped."""
    library = os.environ.get("RECEIPTKIT_LIBRARY")
    if not library or not os.path.isfile(library):
        pytest.skip("RECEIPTKIT_LIBRARY does not name libreceiptkit.so; run scripts/interoperability")
    return pathlib.Path(library)


class Text(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_void_p), ("length", ctypes.c_size_t)]


class Library:
    def __init__(self, file: pathlib.Path):
        self.functions = ctypes.CDLL(str(file))

    def call(self, name: str, *arguments) -> tuple[int, str]:
        """The status of a function and its text. `bytes` stand for two arguments, with their length."""
        passed = []
        for argument in arguments:
            passed += [argument, ctypes.c_size_t(len(argument))] if isinstance(argument, bytes) else [argument]
        text = Text()
        status = getattr(self.functions, name)(*passed, ctypes.byref(text))
        result = ctypes.string_at(text.bytes, text.length).decode() if text.bytes else ""
        self.functions.receiptkit_text_free(ctypes.byref(text))
        return status, result

    def verifier(self, policy: dict) -> ctypes.c_uint64:
        handle = ctypes.c_uint64()
        status, text = self.call("receiptkit_verifier_create", json.dumps(policy).encode(), ctypes.byref(handle))
        assert status == 0, text
        return handle

    def free(self, handle) -> int:
        return self.functions.receiptkit_handle_free(handle)

    def verify(self, verifier, receipt: bytes) -> dict:
        status, text = self.call("receiptkit_verify", verifier, receipt)
        verdict = json.loads(text)
        assert verdict["type"] == "verdict" and status == {"valid": 0, "invalid": 1, "undetermined": 2}[verdict["verdict"]]
        return verdict
