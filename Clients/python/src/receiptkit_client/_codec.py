# SPDX-License-Identifier: Apache-2.0
"""Reads and writes the objects of the API."""

from __future__ import annotations

import enum
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, ClassVar, Protocol, Self


class Unreadable(ValueError):
    """JSON is not what the API describes. The message names the place and quotes no value."""

    def __init__(self, place: str, expected: str):
        super().__init__(f"{place}: expected {expected}")


def parse(content: bytes | str) -> Any:
    """The value of a JSON text, as RFC 8259 has it."""

    def refuse(_: str) -> None:
        raise Unreadable("$", "a number")

    try:
        return json.loads(content, parse_constant=refuse)
    except Unreadable:
        raise
    except (ValueError, RecursionError):
        # Neither error may be shown: each holds the text.
        pass
    raise Unreadable("$", "JSON that is complete")


class Word(enum.StrEnum):
    """A word of a list that may grow: a word that is not known is kept as it came, and `is_known` is `False`."""

    @property
    def is_known(self) -> bool:
        """`True` if this version of the package knows the word."""
        return self._name_ in type(self).__members__

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        if not isinstance(value, str):
            return None
        word = str.__new__(cls, value)
        word._name_, word._value_ = "", value
        return word


class Codec(Protocol):
    """Reads and writes one kind of value."""

    def read(self, value: Any, place: str) -> Any: ...

    def write(self, value: Any) -> Any: ...


class Simple:
    """A value that JSON has itself."""

    def __init__(self, kinds: tuple[type, ...], expected: str):
        self.kinds, self.expected = kinds, expected

    def read(self, value: Any, place: str) -> Any:
        # In Python, `True` is a number.
        if not isinstance(value, self.kinds) or isinstance(value, bool) and bool not in self.kinds:
            raise Unreadable(place, self.expected)
        return value

    def write(self, value: Any) -> Any:
        return self.read(value, "a member of the request")


class Count(Simple):
    """A number from 0 to 2^64 - 1, which is a text from 2^53 on."""

    def read(self, value: Any, place: str) -> Any:
        if isinstance(value, str) and re.fullmatch("[0-9]{1,20}", value):
            return int(value)
        return super().read(value, place)


class Instant:
    """An instant, as ISO 8601 with milliseconds in UTC."""

    def read(self, value: Any, place: str) -> datetime:
        if isinstance(value, str):
            # `datetime` has the years 1 to 9999.
            if far := re.fullmatch(r"([+-]?)([0-9]{4,16})-[0-9]{2}-[0-9]{2}T[0-9:.]{8,16}Z", value):
                if far[1] == "-" or int(far[2]) == 0:
                    return datetime.min.replace(tzinfo=UTC)
                if int(far[2]) > 9999:
                    return datetime.max.replace(microsecond=999_000, tzinfo=UTC)
            try:
                instant = datetime.fromisoformat(value)
            except ValueError:
                pass
            else:
                if instant.tzinfo is not None:
                    return instant.astimezone(UTC)
        raise Unreadable(place, "a date with a time zone")

    def write(self, value: Any) -> str:
        if not isinstance(value, datetime) or value.tzinfo is None:
            raise ValueError("An instant must have a time zone, as datetime.now(UTC) has.")
        return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{value.microsecond // 1000:03}Z"


class Anything(Simple):
    """Any value."""

    def read(self, value: Any, place: str) -> Any:
        return value


TEXT = Simple((str,), "a text")
BOOLEAN = Simple((bool,), "true or false")
INTEGER = Simple((int,), "an integer")
COUNT = Count((int,), "a number")
OBJECT = Simple((Mapping,), "an object")
JSON = Anything((), "")
INSTANT = Instant()


@dataclass(frozen=True)
class Words:
    """A word of an enumeration."""

    kind: type[Word]

    def read(self, value: Any, place: str) -> Word:
        if not isinstance(value, str):
            raise Unreadable(place, "a text")
        return self.kind(value)

    def write(self, value: Any) -> str:
        return str(self.kind(value))


@dataclass(frozen=True)
class Part:
    """An object within another one."""

    model: type[Model]

    def read(self, value: Any, place: str) -> Model:
        return self.model._read(value, place)

    def write(self, value: Any) -> Any:
        if not isinstance(value, self.model):
            raise TypeError(f"A {self.model.__name__} is expected.")
        return value.to_json()


@dataclass(frozen=True)
class Elements:
    """An array."""

    element: Codec

    def read(self, value: Any, place: str) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise Unreadable(place, "an array")
        return tuple(self.element.read(each, f"{place}[{number}]") for number, each in enumerate(value))

    def write(self, value: Any) -> list[Any]:
        if isinstance(value, str):
            raise TypeError("A sequence is expected, not a text.")
        return [self.element.write(each) for each in value]


@dataclass(frozen=True)
class Choice:
    """One of several objects, which their member `type` tells apart."""

    models: Mapping[str, type[Model]]

    def read(self, value: Any, place: str) -> Model | UnknownObject:
        if not isinstance(value, dict):
            raise Unreadable(place, "an object")
        kind = value.get("type")
        model = self.models.get(kind) if isinstance(kind, str) else None
        return model._read(value, place) if model else UnknownObject(value)

    def write(self, value: Any) -> Any:
        return value.to_json()


@dataclass(frozen=True)
class UnknownObject:
    """An object of a type that this version of the package does not know."""

    members: Mapping[str, Any] = field(repr=False)

    @property
    def type(self) -> str:
        """What the object says that it is."""
        return str(self.members.get("type", ""))

    def to_json(self) -> dict[str, Any]:
        """The object, as it came."""
        return dict(self.members)


@dataclass(frozen=True)
class Member:
    """A member of an object: the attribute, the name in JSON, what reads it, and whether it is always there."""

    attribute: str
    name: str
    codec: Codec
    is_required: bool


@dataclass(frozen=True, kw_only=True)
class Model:
    """An object of the API."""

    _members: ClassVar[Sequence[Member]] = ()
    _tag: ClassVar[str | None] = None

    unknown_members: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """Members that this version of the package does not know, as they came."""

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """Reads an object that was parsed from JSON, such as one that you stored. Raises `ValueError` with the place."""
        return cls._read(value, "$")

    @classmethod
    def _read(cls, value: Any, place: str) -> Self:
        if not isinstance(value, dict):
            raise Unreadable(place, "an object")
        if cls._tag is not None and value.get("type", cls._tag) != cls._tag:
            raise Unreadable(f"{place}.type", f'"{cls._tag}"')
        unknown = dict(value)
        if cls._tag is not None:
            unknown.pop("type", None)
            unknown.pop("version", None)
        attributes: dict[str, Any] = {}
        for member in cls._members:
            found = unknown.pop(member.name, None)
            if found is not None or member.is_required and member.name in value and member.codec is JSON:
                attributes[member.attribute] = member.codec.read(found, f"{place}.{member.name}")
            elif member.is_required:
                raise Unreadable(f"{place}.{member.name}", "a value")
        return cls(**attributes, unknown_members=unknown)

    def to_json(self) -> dict[str, Any]:
        """The object, as JSON has it; what is absent is left out."""
        written: dict[str, Any] = {"type": self._tag, "version": 1} if self._tag is not None else {}
        for member in self._members:
            value = getattr(self, member.attribute)
            if value is not None:
                written[member.name] = member.codec.write(value)
        return written | {name: value for name, value in self.unknown_members.items() if name not in written}
