# SPDX-License-Identifier: Apache-2.0
"""libreceiptkit.so, and its functions."""

from __future__ import annotations

import ctypes
import os
import pathlib
import sys
import threading
from array import array
from typing import Any, Callable, List, Optional, Tuple, Type, Union

from ._documents import members_of
from ._errors import InvalidInput, LibraryNotFound, ReceiptKitError

ABI_VERSION = 1
VARIABLE = "RECEIPTKIT_LIBRARY"
NAMES = (
    ("libreceiptkit.1.dylib", "libreceiptkit.dylib")
    if sys.platform == "darwin"
    else ("libreceiptkit.so.1", "libreceiptkit.so")
)


class _Text(ctypes.Structure):
    """receiptkit_text."""

    _fields_ = [("bytes", ctypes.c_void_p), ("length", ctypes.c_size_t)]


# string_at has an int for the length.
_LONGEST_STRING = 2**31 - 1
_Slot = Tuple[_Text, Any]


class Library:
    """The functions of the library."""

    def __init__(self, path: str) -> None:
        try:
            # Calls let other threads run.
            functions = ctypes.CDLL(path)
        except OSError as error:
            raise LibraryNotFound(f"{path} cannot be loaded: {error}") from error
        try:
            functions.receiptkit_abi_version.restype = ctypes.c_uint32
            version = functions.receiptkit_abi_version()
        except AttributeError as error:
            raise LibraryNotFound(f"{path} is not libreceiptkit: {error}") from error
        if version != ABI_VERSION:
            raise LibraryNotFound(
                f"{path} has version {version} of its interface; this package is for version {ABI_VERSION}."
            )
        self.path = path
        # Those of calls that ended, to be used again: by whatever calls next, also within a signal handler of Python.
        self._texts: List[_Slot] = []
        pointer, size, handle = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint64
        input = (ctypes.c_char_p, size)

        def function(name: str, *parameters: Any) -> Any:
            found = getattr(functions, f"receiptkit_{name}")
            found.argtypes, found.restype = parameters, ctypes.c_int32
            return found

        self.version = function("version", pointer)
        self.verifier_create = function("verifier_create", *input, pointer, pointer)
        self.verify = function("verify", handle, *input, pointer)
        self.verify_batch = function("verify_batch", handle, pointer, pointer, size, pointer, pointer)
        self.payload = function("payload", handle, *input, pointer)
        self.inspect = function("inspect", *input, ctypes.c_uint32, pointer)
        self.signer_create = function("signer_create", *input, pointer, pointer)
        self.sign = function("sign", handle, *input, pointer)
        self.check_proof = function("check_proof", *input, *input, pointer)
        self.handle_free = function("handle_free", handle)
        # It takes no time, so that other threads need not run meanwhile.
        self._free: Callable[[Any], None] = ctypes.PyDLL(path, handle=functions._handle).receiptkit_text_free
        self._free.argtypes, self._free.restype = (pointer,), None

    def call(self, function: Callable[..., int], *arguments: Any) -> Tuple[int, bytes]:
        """Calls a function that has a text for its result, and returns its status and that text."""
        texts = self._texts
        try:
            slot = texts.pop()
        except IndexError:
            text = _Text()
            slot = (text, ctypes.byref(text))
        text, reference = slot
        try:
            status = function(*arguments, reference)
            length = text.length
            return status, _bytes_at(text.bytes, length) if length else b""
        finally:
            self._free(reference)
            texts.append(slot)

    def create(self, function: Callable[..., int], document: bytes, error: Type[ReceiptKitError]) -> int:
        """Creates a verifier or a signer, and returns its handle."""
        handle = ctypes.c_uint64()
        status, text = self.call(function, document, len(document), ctypes.byref(handle))
        if status != 0:
            raise failure(status, text, error)
        return handle.value

    def batch(
        self, handle: int, receipts: Union[bytes, int], offsets: int, count: int
    ) -> Tuple[int, array[int], bytes]:
        """Verifies receipts that stand one after another.

        Returns the status of the call, that of each receipt, and the lines.
        """
        statuses = array("B", bytes(count))
        status, text = self.call(self.verify_batch, handle, receipts, offsets, count, statuses.buffer_info()[0])
        return status, statuses, text


def _bytes_at(address: int, length: int) -> bytes:
    if length <= _LONGEST_STRING:
        return ctypes.string_at(address, length)
    return bytes((ctypes.c_char * length).from_address(address))


def failure(status: int, text: bytes, type: Type[ReceiptKitError] = InvalidInput) -> ReceiptKitError:
    """The error that a call returned."""
    if not text:
        return ReceiptKitError("internal-fault", "The library has no memory for its answer.", status)
    error = members_of(text)
    # A fault of the library is nobody's invalid input.
    kind = ReceiptKitError if status == 70 else type
    return kind(error["code"], error["message"], status, error.get("place"))


_lock = threading.Lock()
_library: Optional[Library] = None


def load_library(path: Union[None, str, os.PathLike[str]] = None) -> str:
    """Loads libreceiptkit.so, which otherwise happens when it is first needed, and returns its path.

    It is the one of the path; or that of the environment variable `RECEIPTKIT_LIBRARY`; or that in the package; or the
    one that the system's loader finds.

    Raises:
        LibraryNotFound: It is not there, or has another interface than this package is for.
        RuntimeError: Another one was loaded before.
    """
    global _library
    with _lock:
        if _library is None:
            _library = _found(os.fspath(path) if path is not None else None)
        elif path is not None and os.fspath(path) != _library.path:
            raise RuntimeError(f"{_library.path} was loaded before")
        return _library.path


def library() -> Library:
    """The library, loaded if need be."""
    if _library is None:
        load_library()
    assert _library is not None
    return _library


def _found(path: Optional[str]) -> Library:
    named = path or os.environ.get(VARIABLE)
    if named:
        return Library(named)
    folder = pathlib.Path(__file__).resolve().parent
    for name in NAMES:
        if (folder / name).exists():
            return Library(str(folder / name))
    try:
        return Library(NAMES[0])
    except LibraryNotFound as error:
        raise LibraryNotFound(
            f"{NAMES[0]} is neither in {folder} nor where the system's loader looks ({error.message}). Install a wheel "
            f"that has it, or set {VARIABLE} to its path."
        ) from error
