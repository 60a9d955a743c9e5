# SPDX-License-Identifier: Apache-2.0
"""The stream of changes: server-sent events (WHATWG HTML, section 9.2)."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ._calls import Call
from ._codec import Unreadable, parse
from ._errors import ReceiptKitError, UnexpectedAnswer, api_error
from ._models import Change, Problem

if TYPE_CHECKING:
    from ._client import _Attempts


@dataclass(frozen=True)
class ChangeEvent:
    """A change of an entitlement, as the stream tells it."""

    sequence: int
    """Counts up; begin with it the next time."""
    change: Change
    """The change, as webhooks carry it."""


class EventReader:
    """Reads the events of a stream, over several connections."""

    def __init__(self, since: int, app: str | None, limit: int):
        self.since, self.limit = since, limit
        self.call: Call[None] = Call(
            "getChanges", "GET", "/v1/changes", Call.nothing, accept="text/event-stream", query={"app": app, "since": since}
        )
        self.failures = 0
        self.buffer = bytearray()

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the next connection."""
        self.buffer.clear()
        return {"Last-Event-ID": str(self.since)} if self.since else {}

    def read(self, part: bytes, trace: str) -> Iterator[ChangeEvent]:
        """The changes that are complete with a part of the stream."""
        self.buffer += part
        while (end := self.buffer.find(b"\n\n")) >= 0:
            event = bytes(self.buffer[:end])
            del self.buffer[: end + 2]
            if change := self.event(event, trace):
                yield change
        if len(self.buffer) > self.limit:
            raise UnexpectedAnswer("getChanges", trace, f"an event has more than {self.limit} bytes", status=200)

    def event(self, text: bytes, trace: str) -> ChangeEvent | None:
        fields: dict[str, str] = {}
        for line in text.decode(errors="replace").split("\n"):
            name, _, value = line.partition(":")
            if name:
                value = value.removeprefix(" ").removesuffix("\r")
                fields[name] = f"{fields[name]}\n{value}" if name in fields else value
        if "data" not in fields:
            return None
        problem = ""
        try:
            if fields.get("event") == "error":
                refusal = Problem.from_json(parse(fields["data"]))
            else:
                sequence = int(fields["id"]) if fields.get("id", "").isdecimal() and len(fields["id"]) < 20 else None
                if sequence is None:
                    raise Unreadable("id", "a number")
                change = Change.from_json(parse(fields["data"]))
                self.since, self.failures = sequence, 0
                return ChangeEvent(sequence, change)
        except Unreadable as error:
            problem = str(error)
        if problem:
            raise UnexpectedAnswer("getChanges", trace, f"an event is not what the API says: {problem}", status=200)
        raise api_error("getChanges", trace, refusal, retry_after=None, is_retryable=False)

    def pause(self, attempts: _Attempts, error: ReceiptKitError | None) -> float:
        """The pause before the next connection; raises the error if there is none. A stream that ended by itself goes on."""
        self.failures = self.failures + 1 if error else 0
        if error is None:
            return random.random()
        if not error.is_retryable or self.failures >= attempts.policy.attempts:
            raise error
        pause = attempts.pause_after(error)
        if pause is None:
            raise error
        return pause
