# SPDX-License-Identifier: Apache-2.0
"""What the types of the answers have in common."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from enum import Enum
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Tuple, Type, TypeVar

from ._errors import ReceiptKitError

if TYPE_CHECKING:
    from ._verdict import Purchase, Reason, VerdictWord

T = TypeVar("T")
W = TypeVar("W", bound="Word")
_loads = json.loads
_VERDICTS = ("valid", "invalid", "undetermined")


class Word(str, Enum):
    """A word of a list. One that this version does not know is kept as it came, and equals that text."""

    # A word is its text, also where Python prints members of enumerations by their names.
    def __str__(self) -> str:
        return str.__str__(self)

    def __format__(self, format_spec: str) -> str:
        return str.__format__(self, format_spec)

    @classmethod
    def _missing_(cls: Type[W], value: object) -> Optional[W]:
        if not isinstance(value, str):
            return None
        word = str.__new__(cls, value)
        word._name_ = word._value_ = value
        return word


class FarInstant(datetime):
    """An instant of a year that `datetime` does not have.

    It stands at the last or the first one that `datetime` has, so that comparisons are right, and is printed as the
    receipt has it.
    """

    text: str
    """The instant in ISO 8601, such as `+012345-01-01T00:00:00.000Z`."""

    @classmethod
    def of(cls, text: str) -> FarInstant:
        """Returns the instant of a text."""
        end = datetime.min if text.startswith(("-", "0000")) else datetime.max
        far = cls(*end.timetuple()[:6], end.microsecond, timezone.utc)
        far.text = text
        return far

    def isoformat(self, sep: str = "T", timespec: str = "auto") -> str:
        """Returns the text."""
        return self.text

    def astimezone(self, tz: Any = None) -> FarInstant:
        """Returns itself: no other time zone has it."""
        return self

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"FarInstant.of({self.text!r})"

    def __reduce_ex__(self, protocol: Any) -> Any:
        return FarInstant.of, (self.text,)


def instant(text: str) -> datetime:
    """The instant of a text in ISO 8601, UTC."""
    if len(text) == 24:
        try:
            return datetime.fromisoformat(text[:-1] + "+00:00")
        except ValueError:
            pass
    return FarInstant.of(text)


def count(value: Any) -> int:
    """A count, which is a string where JSON's numbers are not precise enough for it."""
    return int(value)


class Elements:
    """The values of the elements of a list."""

    __slots__ = ("_decode",)

    def __init__(self, decode: Optional[Callable[[Any], Any]]) -> None:
        self._decode = decode

    def __call__(self, values: List[Any]) -> Tuple[Any, ...]:
        return tuple(map(self._decode, values)) if self._decode else tuple(values)


# Whether a member may be absent. One of the last kind is a permission, which is absent unless it is given.
OPTIONAL, REQUIRED, FALSE = range(3)


class Part:
    """A part of an answer.

    Of one that was made of JSON an attribute is decoded when it is first read, as most are never read.
    """

    __slots__: Tuple[str, ...] = ("_members",)
    # The member of each attribute, what decodes it, and whether it may be absent.
    _form: Dict[str, Tuple[str, Optional[Callable[[Any], Any]], int]]

    @classmethod
    def from_json(cls: Type[T], members: Mapping[str, Any]) -> T:
        """Returns the part that is described by the members of a JSON object."""
        part: T = cls._of(dict(members))  # type: ignore[attr-defined]
        return part

    @classmethod
    def _of(cls: Type[T], members: Mapping[str, Any]) -> T:
        """The same of members that nobody changes."""
        part = object.__new__(cls)
        object.__setattr__(part, "_members", members)
        return part

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            form = self._form.get(name)
            if form is None:
                raise AttributeError(f"a {type(self).__name__} has no attribute {name!r}")
            member, decode, need = form
            value = self._members.get(member)
            if need == FALSE:
                value = value is True
            elif value is not None:
                value = decode(value) if decode else value
            elif need == REQUIRED:
                raise ReceiptKitError("internal-fault", f"The library did not answer the member {member}.", 70)
            object.__setattr__(self, name, value)
            return value

    def __reduce__(self) -> Any:
        # Those who may not be changed cannot be filled after they were made, as pickle would.
        return type(self), tuple(getattr(self, name) for name in self.__slots__)


class Document:
    """An answer: JSON of the library, decoded when it is asked."""

    __slots__ = ("__weakref__", "_json", "_content", "_values")

    def __init__(self, json: bytes) -> None:
        self._json = json
        self._content: Optional[Dict[str, Any]] = None
        self._values: Optional[Dict[str, Any]] = None

    @property
    def json(self) -> bytes:
        """The JSON, as the library gave it."""
        return self._json

    def to_dict(self) -> Dict[str, Any]:
        """Returns the JSON as a dictionary of your own."""
        members: Dict[str, Any] = _loads(self._json)
        return members

    def _members(self) -> Dict[str, Any]:
        content = self._content
        if content is None:
            content = self._content = self._parsed()
        return content

    def _parsed(self) -> Dict[str, Any]:
        content: Dict[str, Any] = _loads(self._json.decode())
        return content

    # What is decoded is kept. Two threads that decode the same get equal values.

    def _decoded(self, name: str, decode: Callable[[Any], T]) -> Optional[T]:
        values = self._values
        if values is None:
            values = self._values = {}
        elif name in values:
            known: Optional[T] = values[name]
            return known
        value = self._members().get(name)
        decoded = values[name] = None if value is None else decode(value)
        return decoded

    def _required(self, name: str, decode: Callable[[Any], T]) -> T:
        value = self._decoded(name, decode)
        if value is None:
            raise ReceiptKitError("internal-fault", f"The library did not answer the member {name}.", 70)
        return value

    def __bool__(self) -> bool:
        raise TypeError(f"whether {type(self).__name__} is true depends on what is asked: use its attributes")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, Document) and other._json == self._json

    def __hash__(self) -> int:
        return hash(self._json)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._json.decode()})"

    def __copy__(self: T) -> T:
        return self

    def __deepcopy__(self: T, memo: Any) -> T:
        return self

    def __reduce__(self) -> Any:
        return type(self), (self._json,)


class VerdictDocument(Document):
    """The verdict, which is known before anything is decoded."""

    __slots__ = ("_status",)

    def __init__(self, json: bytes, status: int) -> None:
        self._json = json
        self._status = status
        self._content = None
        self._values = None

    if TYPE_CHECKING:

        @property
        def reason(self) -> Optional[Reason]: ...
        @property
        def retryable(self) -> Optional[bool]: ...
        @property
        def transactions(self) -> Optional[Tuple[Purchase, ...]]: ...
        @property
        def format(self) -> Optional[str]: ...
        @property
        def bundle_id(self) -> Optional[str]: ...

    @property
    def verdict(self) -> VerdictWord:
        """The verdict: whether the receipt is genuine and satisfies the policy."""
        from ._verdict import VerdictWord

        return VerdictWord(_VERDICTS[self._status])

    @property
    def is_valid(self) -> bool:
        """`True` if the receipt is genuine and satisfies the policy.

        What was bought may have expired, or may have been refunded: see `grants_access` and `active_purchases`.
        """
        return self._status == 0

    @property
    def is_invalid(self) -> bool:
        """`True` if the receipt is not genuine, or does not satisfy the policy.

        One that is not invalid need not be valid: it may be undetermined.
        """
        return self._status == 1

    @property
    def is_undetermined(self) -> bool:
        """`True` if the receipt could not be checked: take it neither for valid nor for forged."""
        return self._status == 2

    @property
    def should_retry(self) -> bool:
        """`True` if it could not be checked now, and verifying again later may give an answer.

        Keep the receipt, and grant nothing meanwhile.
        """
        return self._status == 2 and self.retryable is True

    @property
    def grants_access(self) -> bool:
        """`True` if the receipt is valid and a purchase in it is active. Grant nothing without it."""
        return self._status == 0 and self._members().get("grantsAccess") is True

    @property
    def active_purchases(self) -> Tuple[Purchase, ...]:
        """The purchases to grant: those that are active, of a receipt that is valid."""
        if self._status != 0:
            return ()
        return tuple(purchase for purchase in self.transactions or () if purchase.grants_access)

    def _parsed(self) -> Dict[str, Any]:
        content: Dict[str, Any] = _loads(self._json.decode())
        if content.get("verdict") != _VERDICTS[self._status]:
            raise ReceiptKitError("internal-fault", "The status and the text of a verdict contradict each other.", 70)
        return content

    def __bool__(self) -> bool:
        raise TypeError("a Verdict is neither true nor false: use is_valid, or grants_access before you grant anything")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VerdictDocument) and other._json == self._json and other._status == self._status

    __hash__ = Document.__hash__

    def __repr__(self) -> str:
        shown: List[str] = [_VERDICTS[self._status]]
        reason = self.reason
        if self.format:
            shown.append(f"format={self.format!r}")
        if reason:
            shown.append(f"code={reason.code!r}")
            if reason.place:
                shown.append(f"place={reason.place!r}")
        if self.bundle_id:
            shown.append(f"bundle_id={self.bundle_id!r}")
        if self.transactions:
            shown.append(f"grants_access={self.grants_access}, {len(self.transactions)} transactions")
        return f"<Verdict {', '.join(shown)}>"

    def __reduce__(self) -> Any:
        return type(self), (self._json, self._status)


def members_of(text: bytes) -> Mapping[str, Any]:
    """The members of an object that the library answered."""
    members: Mapping[str, Any] = _loads(text)
    return members
