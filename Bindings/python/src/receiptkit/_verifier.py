# SPDX-License-Identifier: Apache-2.0
"""Verification, inspection, signing, and the check of proofs."""

from __future__ import annotations

import asyncio
import json
import weakref
from array import array
from itertools import accumulate
from typing import Any, Iterable, Iterator, List, Mapping, Optional, Type, TypeVar, Union

from . import _forms as forms
from ._errors import ClosedError, InvalidInput, NotValidError, PolicyError, ReceiptKitError
from ._library import Library, failure, library
from ._policy import WithPolicy
from ._verdict import ProofCheck, SignedReceipt, UnverifiedInspection, Verdict, Version

Receipt = Union[bytes, bytearray, memoryview, str]
"""A receipt, as an app sent it."""
H = TypeVar("H", bound="_Handle")

# What one call gets of a batch, so that memory is bounded and Ctrl-C is heeded.
BATCH_BYTES, BATCH_COUNT = 1 << 25, 1 << 14


class _Handle:
    """Something that the library keeps.

    It is freed when nothing refers to this any more: no running call either, as each refers to it.
    """

    __slots__ = ("__weakref__", "_finalizer", "_handle", "_library")
    _handle: int
    _library: Library
    _finalizer: Any

    def _keep(self, loaded: Library, handle: int) -> None:
        self._library, self._handle = loaded, handle
        self._finalizer = weakref.finalize(self, loaded.handle_free, handle)
        # The system frees all of it when the process ends.
        self._finalizer.atexit = False

    @property
    def closed(self) -> bool:
        """`True` if it was closed."""
        return self._handle == 0

    def close(self) -> None:
        """Frees it. Running calls finish; later ones raise `ClosedError`. To close it again does nothing."""
        # No handle is 0, so that the library refuses it.
        self._handle = 0
        self._finalizer()

    def __enter__(self: H) -> H:
        if self._handle == 0:
            raise ClosedError
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _failure(self, status: int, text: bytes, type: Type[ReceiptKitError] = InvalidInput) -> ReceiptKitError:
        return ClosedError() if self._handle == 0 else failure(status, text, type)


class Verifier(_Handle, WithPolicy):
    """Verifies receipts under a policy.

    ```python
    verifier = Verifier(bundle_ids=["com.example.app"])
    verdict = verifier.verify(receipt)
    for purchase in verdict.active_purchases:
        grant(purchase.product_id)
    ```

    Keep one for as long as the policy is the same: it remembers the signers of receipts that it accepted. All threads
    may use it at once, and a child of a fork, too. It is pickled as its policy, so that another process creates its
    own.

    Raises:
        PolicyError: The policy cannot be meant.
        LibraryNotFound: There is no libreceiptkit.so.
    """

    __slots__ = ("_policy",)
    _policy: bytes

    def _open(self, policy: bytes) -> None:
        loaded = library()
        self._policy = policy
        self._keep(loaded, loaded.create(loaded.verifier_create, policy, PolicyError))

    def verify(self, receipt: Receipt) -> Verdict:
        """Verifies a receipt of any kind.

        It is a JWS, an app receipt in base64 or not, the JSON of Google Play or Huawei, or what a store's server sends.
        Whatever the bytes are, the answer is a verdict.
        """
        if type(receipt) is not bytes:
            receipt = forms.receipt_bytes(receipt)
        loaded = self._library
        status, text = loaded.call(loaded.verify, self._handle, receipt, len(receipt))
        if not 0 <= status <= 2:
            raise self._failure(status, text)
        return Verdict(text, status)

    def verify_many(self, receipts: Iterable[Receipt]) -> List[Verdict]:
        """Verifies receipts on all processors, and returns the verdicts in order."""
        if isinstance(receipts, (str, bytes, bytearray, memoryview)):
            raise TypeError("this is one receipt: use verify")
        verdicts: List[Verdict] = []
        for chunk in _chunks(receipts):
            joined = b"".join(chunk)
            offsets = array("Q", accumulate(map(len, chunk), initial=0))
            verdicts += self._verify_joined(joined, offsets.buffer_info()[0], len(chunk))
        if not verdicts and self._handle == 0:
            raise ClosedError
        return verdicts

    def _verify_joined(self, receipts: Union[bytes, int], offsets: int, count: int) -> List[Verdict]:
        """The verdicts on receipts that stand one after another, as the library takes them."""
        status, statuses, text = self._library.batch(self._handle, receipts, offsets, count)
        if status != 0:
            raise self._failure(status, text)
        lines = text.split(b"\n")
        if len(lines) != count + 1 or max(statuses) > 2:
            raise ReceiptKitError(
                "internal-fault", f"The library answered {len(lines) - 1} verdicts on {count} receipts.", 70
            )
        return list(map(Verdict, lines, statuses))

    def payload(self, receipt: Receipt) -> bytes:
        """Verifies a receipt and returns its payload as the store signed it: JSON, signed parts of it decoded.

        Raises:
            NotValidError: It is not valid. The error has the verdict.
        """
        data = forms.receipt_bytes(receipt)
        status, text = self._library.call(self._library.payload, self._handle, data, len(data))
        if status == 0:
            return text
        if status in (1, 2):
            raise NotValidError(Verdict(text, status))
        raise self._failure(status, text)

    async def verify_async(self, receipt: Receipt) -> Verdict:
        """Verifies a receipt in another thread, without blocking the event loop."""
        return await asyncio.to_thread(self.verify, receipt)

    async def verify_many_async(self, receipts: Iterable[Receipt]) -> List[Verdict]:
        """Verifies receipts in other threads, without blocking the event loop."""
        return await asyncio.to_thread(self.verify_many, receipts)

    async def payload_async(self, receipt: Receipt) -> bytes:
        """Returns the payload of a receipt that is valid, without blocking the event loop."""
        return await asyncio.to_thread(self.payload, receipt)

    @property
    def policy(self) -> str:
        """The policy, as JSON."""
        return self._policy.decode("utf-8", "replace")

    def __reduce__(self) -> Any:
        if self._handle == 0:
            raise ClosedError("A verifier that was closed cannot be pickled.")
        return type(self), (self._policy,)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {getattr(self, '_handle', 0) or 'closed'}>"


def _chunks(receipts: Iterable[Receipt]) -> Iterator[List[bytes]]:
    chunk: List[bytes] = []
    size = 0
    for receipt in receipts:
        data = receipt if type(receipt) is bytes else forms.receipt_bytes(receipt)
        chunk.append(data)
        size += len(data)
        if size >= BATCH_BYTES or len(chunk) == BATCH_COUNT:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


class Signer(_Handle):
    """Signs receipts with a private key of your own, for stores of your own and for tests.

    Args:
        identity: The private key with its certificates: a mapping or JSON text
            (`Schemas/receiptkit/identity.schema.json`).

    Raises:
        InvalidInput: The identity cannot be used.
        LibraryNotFound: There is no libreceiptkit.so.
    """

    __slots__ = ()

    def __init__(self, identity: Union[str, bytes, Mapping[str, Any]]) -> None:
        loaded = library()
        self._keep(loaded, loaded.create(loaded.signer_create, forms.text_of(identity, "identity"), InvalidInput))

    def sign(
        self, format: str, receipt: Union[str, bytes, Mapping[str, Any]], *, base64: bool = False, pss: bool = False
    ) -> SignedReceipt:
        """Signs a receipt.

        Args:
            format: The kind of receipt, such as `signed-transaction`.
            receipt: The receipt, as `receipt-tool sign` reads it: a mapping or JSON text.
            base64: Whether a transaction receipt is returned in base64.
            pss: Whether a purchase of Huawei is signed with RSASSA-PSS.
        """
        content = forms.text_of(receipt, "receipt")
        try:
            members = json.loads(content)
        except ValueError as error:
            raise InvalidInput("malformed", f"The receipt to be signed is no JSON: {error}", 66, "$.receipt") from error
        request = {"format": forms.text("format", format), "receipt": members}
        request.update({name: True for name, is_set in (("base64", base64), ("pss", pss)) if is_set})
        text = forms.encoded(request)
        status, answer = self._library.call(self._library.sign, self._handle, text, len(text))
        if status != 0:
            raise self._failure(status, answer)
        return SignedReceipt(answer)

    def __reduce__(self) -> Any:
        raise TypeError("a Signer has a private key, so it cannot be pickled")

    def __repr__(self) -> str:
        return f"<Signer {getattr(self, '_handle', 0) or 'closed'}>"


def inspect(receipt: Receipt, redact: bool = False) -> UnverifiedInspection:
    """Returns the contents of a receipt, of which nothing is checked. Grant nothing for it.

    Args:
        receipt: The receipt.
        redact: Whether a customer's values are replaced.

    Raises:
        InvalidInput: It is no receipt.
    """
    data, loaded = forms.receipt_bytes(receipt), library()
    status, text = loaded.call(loaded.inspect, data, len(data), int(bool(redact)))
    if status != 0:
        raise failure(status, text)
    return UnverifiedInspection(text)


def check_proof(
    proof: Union[str, bytes],
    *,
    key: Optional[str] = None,
    replaced_keys: Optional[str] = None,
    policy: Optional[str] = None,
    receipt: Optional[Receipt] = None,
) -> ProofCheck:
    """Checks that a proof (C2SP tlog-proof) proves its entry of an audit trail. See `proven` of the answer.

    Args:
        proof: The proof.
        key: The trail's public key, as C2SP signed notes have it.
        replaced_keys: The proofs by which later keys replaced it: the contents of the file `keys` of an export.
        policy: The text of a witness policy, in place of the key.
        receipt: The receipt that the entry must be about.

    Raises:
        InvalidInput: The key, the policy or the receipt cannot be read.
    """
    request = {"key": key, "replacedKeys": replaced_keys, "policy": policy}
    request["receipt"] = None if receipt is None else forms.optional_base64(forms.receipt_bytes(receipt))
    text = forms.encoded({name: forms.text(name, value) for name, value in request.items() if value is not None})
    data, loaded = forms.receipt_bytes(proof), library()
    status, answer = loaded.call(loaded.check_proof, data, len(data), text, len(text))
    if status not in (0, 1):
        raise failure(status, answer)
    check = ProofCheck(answer)
    if check.proven is not (status == 0):
        raise ReceiptKitError("internal-fault", "The status and the text of a check contradict each other.", 70)
    return check


def version() -> Version:
    """Returns the version of the library, and what it runs with."""
    loaded = library()
    status, text = loaded.call(loaded.version)
    if status != 0:
        raise failure(status, text)
    return Version(text)
