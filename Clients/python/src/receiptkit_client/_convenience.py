# SPDX-License-Identifier: Apache-2.0
"""What to make of an answer: so that nobody grants for a receipt that is merely genuine, or could not be checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from ._codec import Model


class _HasVerdict(Protocol):
    @property
    def verdict(self) -> str: ...

    @property
    def retryable(self) -> bool | None: ...

    @property
    def transactions(self) -> Sequence[Any] | None: ...


class _HasAccess(Protocol):
    @property
    def access(self) -> Sequence[Any] | None: ...


class WithVerdict(Model):
    """An answer with a verdict."""

    @property
    def is_valid(self: _HasVerdict) -> bool:
        """`True` if the purchase is genuine and satisfies the policy. It may have expired, or may have been refunded: see
        `active_purchases`.
        """
        return self.verdict == "valid"

    @property
    def should_retry(self: _HasVerdict) -> bool:
        """`True` if it could not be checked now, and asking again later may give an answer. Keep the receipt, and grant
        nothing meanwhile.
        """
        return self.verdict == "undetermined" and self.retryable is True

    @property
    def active_purchases(self: _HasVerdict) -> Sequence[Any]:
        """The purchases to grant: those that stand now, of a receipt that is valid."""
        if self.verdict != "valid":
            return ()
        return tuple(each for each in self.transactions or () if each.grants_access is True)


class WithAccess(Model):
    """An answer with the named entitlements of a customer."""

    def grants(self: _HasAccess, name: str) -> bool:
        """Returns `True` if the customer has the named entitlement now."""
        return any(each.name == name and each.grants_access is True for each in self.access or ())
