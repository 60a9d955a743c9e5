# SPDX-License-Identifier: Apache-2.0
"""What a call fails with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

if TYPE_CHECKING:
    from ._verdict import Verdict


class ReceiptKitError(Exception):
    """A call failed. That a receipt is invalid is no failure of `verify`, but a verdict."""

    code: str
    """A stable code, such as `unexpected`."""
    message: str
    """What is wrong, in a sentence."""
    status: int
    """The exit code of `receipt-tool` for the same: 64 for a wrong call, 66 for unreadable input, 70 for a fault."""
    place: Optional[str]
    """The place in the input, such as `$.bundleIds`."""

    def __init__(self, code: str, message: str, status: int = 64, place: Optional[str] = None) -> None:
        super().__init__(code, message, status, place)
        self.code, self.message, self.status, self.place = code, message, status, place

    def __str__(self) -> str:
        return f"{self.message} ({self.place})" if self.place else self.message


class InvalidInput(ReceiptKitError, ValueError):
    """An argument is no receipt, no identity, no proof, or one that cannot be read."""


class PolicyError(InvalidInput):
    """A policy cannot be meant: a member is unknown, missing or impossible. `place` names it."""


class ClosedError(ReceiptKitError, ValueError):
    """A verifier or a signer is used after it was closed."""

    def __init__(self, message: str = "The verifier or signer was closed.") -> None:
        super().__init__("closed", message, 64)

    def __reduce__(self) -> Any:
        return type(self), (self.message,)


class NotValidError(ReceiptKitError):
    """A payload is asked for of a receipt that is not valid. What it says was not verified."""

    verdict: Verdict
    """The verdict, which has the reason."""

    def __init__(self, verdict: Verdict) -> None:
        reason = verdict.reason
        code = reason.code if reason else verdict.verdict.value
        message = reason.message if reason else "It is not valid."
        super().__init__(
            code, f"The receipt is {verdict.verdict}: {message}", verdict._status, reason.place if reason else None
        )
        self.verdict = verdict

    def __reduce__(self) -> Any:
        return type(self), (self.verdict,)


class LibraryNotFound(ReceiptKitError, ImportError):
    """libreceiptkit.so is not there, cannot be loaded, or has another interface than this package needs."""

    def __init__(self, message: str) -> None:
        super().__init__("library-not-found", message, 70)

    def __reduce__(self) -> Any:
        return type(self), (self.message,)
