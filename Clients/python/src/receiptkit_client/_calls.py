# SPDX-License-Identifier: Apache-2.0
"""A call of the API, apart from how it is sent."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from ._codec import Model, Unreadable, parse
from ._models import WrappedReceipt

T = TypeVar("T")
M = TypeVar("M", bound=Model)

Receipt: TypeAlias = bytes | str | WrappedReceipt | Mapping[str, Any]
"""A receipt: its bytes, its text, or an object with it, as the App Store and Google Play send them."""


@dataclass(frozen=True)
class Answer:
    """A complete answer; the names of its headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Body:
    """The body of a request: bytes, or an object."""

    content: bytes | dict[str, Any]

    @property
    def media(self) -> str:
        return "application/octet-stream" if isinstance(self.content, bytes) else "application/json"

    @property
    def data(self) -> bytes:
        if isinstance(self.content, bytes):
            return self.content
        return json.dumps(self.content, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def form(value: Model | Mapping[str, Any]) -> Body:
    """An object as a body."""
    return Body(value.to_json() if isinstance(value, Model) else dict(value))


def receipt_body(receipt: Receipt) -> Body:
    """A receipt as a body."""
    if isinstance(receipt, str):
        return Body(receipt.encode())
    if isinstance(receipt, (bytes, bytearray, memoryview)):
        return Body(bytes(receipt))
    if isinstance(receipt, (Model, Mapping)):
        return form(receipt)
    raise TypeError("A receipt is bytes, a text, a WrappedReceipt or a mapping.")


class Call(Generic[T]):
    """An operation with its parameters, and what reads its answer."""

    def __init__(
        self, operation: str, method: str, path: str, decode: Callable[[Answer], T], *, accept: str = "application/json",
        query: Mapping[str, str | int | None] | None = None, body: Body | None = None, is_idempotent: bool = True,
        is_keyed: bool = True, known: T | None = None, identifier: tuple[str, str] | None = None,
        values: Mapping[str, str | int] | None = None,
    ):  # fmt: skip
        self.operation, self.method, self.template, self.decode, self.accept = operation, method, path, decode, accept
        self.values = dict(values or {})
        self.query = dict(query or {})
        self.body, self.is_idempotent, self.is_keyed, self.known = body, is_idempotent, is_keyed, known
        if identifier and body and isinstance(body.content, dict):
            # With an identifier of its own, the request can be sent again and is carried out once.
            member, prefix = identifier
            body.content.setdefault(member, prefix + secrets.token_hex(16))
            self.is_idempotent = True

    @staticmethod
    def model(kind: type[M]) -> Callable[[Answer], M]:
        """Reads an object, and keeps the `ETag` of one that has it."""

        def decode(answer: Answer) -> M:
            value = kind.from_json(parse(answer.body))
            if "etag" in kind.__dataclass_fields__ and "etag" in answer.headers:
                object.__setattr__(value, "etag", answer.headers["etag"])
            return value

        return decode

    @staticmethod
    def json(answer: Answer) -> Mapping[str, Any]:
        value = parse(answer.body)
        if not isinstance(value, dict):
            raise Unreadable("$", "an object")
        return value

    @staticmethod
    def text(answer: Answer) -> str:
        try:
            return answer.body.decode()
        except UnicodeDecodeError:
            pass
        raise Unreadable("$", "text in UTF-8")

    @staticmethod
    def content(answer: Answer) -> bytes:
        return answer.body

    @staticmethod
    def nothing(answer: Answer) -> None:
        return None


@dataclass(frozen=True)
class Page(Generic[T]):
    """How a list goes on: the parameter of the next page, the items of a page, and the parameter's next value."""

    parameter: str
    items: Callable[[Any], Any]
    next: Callable[[Any], int | None]
