# SPDX-License-Identifier: Apache-2.0
"""Receipts by the line. Requests are short enough for the operating system to hold: a client that writes before it reads
would otherwise wait for a server that waits for it.
"""

from __future__ import annotations

import base64
import dataclasses
import json
from collections.abc import Iterator, Sequence

from ._calls import Answer, Body, Call, Receipt, receipt_body
from ._codec import Unreadable, parse
from ._models import Verdict

MAXIMUM_BYTES = 1 << 16


def line(receipt: Receipt, number: int) -> bytes:
    """A receipt as a line. One in DER is written in base64."""
    content = receipt_body(receipt).content
    if isinstance(content, dict):
        return json.dumps(content, separators=(",", ":")).encode()
    if content[:1] == b"\x30" and content[1:2] > b"\x7f":
        return base64.b64encode(content)
    content = content.strip()
    if b"\n" in content or b"\r" in content:
        raise ValueError(f"The receipt {number} has several lines. Write base64 and JSON without line breaks.")
    if not content:
        # It would be no line, and the verdicts would be those of other receipts.
        raise ValueError(f"The receipt {number} is empty.")
    return content


class Batch:
    """The receipts of one request."""

    def __init__(self, lines: Sequence[bytes], first: int, policy: str | None, app: str | None):
        self.lines, self.first, self.policy, self.app = list(lines), first, policy, app

    @property
    def call(self) -> Call[Sequence[Verdict]]:
        """The call that verifies them."""
        return Call(
            "verifyBatch", "POST", "/v1/verify/batch", self.decode, query={"policy": self.policy, "app": self.app},
            accept="application/jsonl", body=Body(b"\n".join(self.lines) + b"\n"),
        )  # fmt: skip

    def decode(self, answer: Answer) -> Sequence[Verdict]:
        verdicts = []
        for number, text in enumerate(answer.body.splitlines()):
            value = parse(text)
            verdict = Verdict.from_json(value)
            if verdict.index != number:
                raise Unreadable(f"line {number}", "the verdict on the receipt of this number")
            verdicts.append(verdict)
        if len(verdicts) != len(self.lines):
            raise Unreadable("$", "a verdict for each receipt")
        return verdicts

    def numbered(self, verdicts: Sequence[Verdict]) -> Iterator[Verdict]:
        """The verdicts with the numbers of all receipts."""
        for number, verdict in enumerate(verdicts, self.first):
            yield dataclasses.replace(verdict, index=number)


class Batches:
    """Gathers receipts until a request is full."""

    def __init__(self, policy: str | None, app: str | None):
        self.policy, self.app = policy, app
        self.lines: list[bytes] = []
        self.length = self.count = 0

    def add(self, receipt: Receipt) -> Batch | None:
        """Takes a receipt; returns the receipts before it if it does not fit beside them."""
        content = line(receipt, self.count)
        full = self.end() if self.lines and self.length + len(content) + 1 > MAXIMUM_BYTES else None
        self.lines.append(content)
        self.length += len(content) + 1
        self.count += 1
        return full

    def end(self) -> Batch | None:
        if not self.lines:
            return None
        batch = Batch(self.lines, self.count - len(self.lines), self.policy, self.app)
        self.lines, self.length = [], 0
        return batch
