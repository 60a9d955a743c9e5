# SPDX-License-Identifier: Apache-2.0
"""Sends calls: with the key to the server and to nobody else, within a time, and again where that is safe."""

from __future__ import annotations

import asyncio
import contextlib
import email.utils
import ipaddress
import logging
import random
import secrets
import ssl
import time
import urllib.parse
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx

from ._batches import Batch, Batches
from ._calls import Answer, Call, Page, Receipt
from ._codec import Unreadable, parse
from ._errors import ApiError, ConnectionFailed, ReceiptKitError, UnexpectedAnswer, api_error
from ._events import ChangeEvent, EventReader
from ._models import Problem, Verdict
from ._operations import RETRYABLE, AsyncOperations, Operations
from ._version import VERSION

T = TypeVar("T")

_log = logging.getLogger("receiptkit_client")
# Problem details are short.
_MAXIMUM_PROBLEM = 1 << 16


@dataclass(frozen=True, kw_only=True)
class RetryPolicy:
    """How often a call is attempted, and for how long. The pause between attempts is random, from zero to a limit that doubles;
    if the server asks for a longer one, that is kept.
    """

    attempts: int = 4
    """The greatest number of attempts; 1 for no retries."""
    first_pause: float = 0.2
    """The longest pause before the second attempt, in seconds."""
    longest_pause: float = 5.0
    """The longest pause before any later attempt, in seconds."""
    attempt_timeout: float = 10.0
    """The time for one attempt, in seconds."""
    deadline: float = 30.0
    """The time for the whole call with its pauses, in seconds."""


class _Secret:
    """A text that is not shown when it is printed."""

    __slots__ = ("text",)

    def __init__(self, text: str):
        self.text = text

    def __repr__(self) -> str:
        return "***"


class _Settings:
    """What both clients have: the server, the key, and what a call is made of."""

    def __init__(self, url: str, key: str | None, app: str | None, retries: RetryPolicy, limit: int, allow_plain_http: bool):
        self.url = _server_url(url, allow_plain_http)
        if key is not None and (not key or not all("!" <= each <= "~" for each in key)):
            raise ValueError("The key must be printable ASCII without spaces: rk_… as receipt-server printed it, without a line break.")
        self.key = _Secret(key) if key is not None else None
        self.app, self.retries, self.limit = app, retries, limit

    def request(self, call: Call[Any], trace: str, more: Mapping[str, str]) -> tuple[str, str, dict[str, str], bytes | None]:
        """The method, the address, the headers and the body of a call."""
        path = call.template
        for name, value in call.values.items():
            text = str(value)
            # Dots alone name another path.
            if text in ("", ".", ".."):
                raise ValueError(f"{call.operation}: {name} must not be empty, nor dots alone.")
            path = path.replace("{" + name + "}", urllib.parse.quote(text, safe=""))
        query = call.query | ({"app": self.app} if "app" in call.query and call.query["app"] is None else {})
        stated = {name: value for name, value in query.items() if value is not None}
        address = self.url + path + ("?" + urllib.parse.urlencode(stated, quote_via=urllib.parse.quote) if stated else "")
        headers = {
            "Accept": call.accept, "Accept-Encoding": "identity", "User-Agent": f"receiptkit-client-python/{VERSION}",
            "traceparent": f"00-{trace}-{secrets.token_hex(8)}-01",
        }  # fmt: skip
        if call.is_keyed and self.key is not None:
            headers["Authorization"] = f"Bearer {self.key.text}"
        if call.body is not None:
            headers["Content-Type"] = call.body.media
        if (tag := getattr(call.known, "etag", None)) is not None:
            headers["If-None-Match"] = tag
        return call.method, address, headers | dict(more), call.body.data if call.body is not None else None

    def outcome(self, call: Call[T], answer: Answer, trace: str) -> T | ReceiptKitError:
        """What an answer says: a value, or why there is none."""
        status = answer.status
        if status == 304 and call.known is not None:
            return call.known
        if 200 <= status < 300:
            # The error must not hold what could not be read.
            problem = ""
            try:
                return call.decode(answer)
            except Unreadable as error:
                problem = str(error)
            return UnexpectedAnswer(call.operation, trace, f"the answer is not what the API says: {problem}", status=status)
        return self.failure(call.operation, answer, trace)

    @staticmethod
    def failure(operation: str, answer: Answer, trace: str) -> ReceiptKitError:
        status = answer.status
        is_retryable = status in RETRYABLE
        if 300 <= status < 400:
            return UnexpectedAnswer(operation, trace, "the server redirects, which is not followed; correct the address", status=status)
        problem = _problem(status, answer)
        if problem is None:
            return UnexpectedAnswer(
                operation, trace, "the answer has no problem details; is something else at this address, such as a proxy?",
                status=status, is_retryable=is_retryable,
            )  # fmt: skip
        return api_error(operation, trace, problem, retry_after=_retry_after(answer), is_retryable=is_retryable)


def _server_url(text: str, allow_plain_http: bool) -> str:
    # The address is not quoted: it may hold a password.
    parts = urllib.parse.urlsplit(text)
    if parts.scheme not in ("https", "http") or not parts.hostname:
        raise ValueError("The address of the server must begin with https://.")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("The address of the server must have no user, password, query or fragment.")
    if parts.scheme == "http" and not allow_plain_http and not _is_loopback(parts.hostname):
        raise ValueError("http:// would send the key unencrypted. Use https://, or allow_plain_http=True within a network that you trust.")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _problem(status: int, answer: Answer) -> Problem | None:
    """Problem details, or an error of OpenIAP, which has a form of its own."""
    try:
        value = parse(answer.body[:_MAXIMUM_PROBLEM])
        if isinstance(value, dict) and isinstance(errors := value.get("errors"), list) and errors and isinstance(errors[0], dict):
            first = errors[0]
            value = {"title": "", "status": status, "code": first["code"], "detail": first["message"], "place": first.get("path")}
        problem = Problem.from_json(value)
        return problem if problem.status == status else None
    except (Unreadable, KeyError):
        return None


def _retry_after(answer: Answer) -> float | None:
    text = answer.headers.get("retry-after", "").strip()
    if text.isdecimal() and len(text) < 12:
        return float(text)
    with contextlib.suppress(ValueError, OverflowError):
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    return None


class _Attempts:
    """The attempts of one call."""

    def __init__(self, settings: _Settings, call: Call[Any]):
        self.policy, self.call = settings.retries, call
        self.end = time.monotonic() + self.policy.deadline
        self.count = 0
        self.trace = secrets.token_hex(16)

    @property
    def time_left(self) -> float:
        """The time for this attempt."""
        return max(0.001, min(self.policy.attempt_timeout, self.end - time.monotonic()))

    def pause_after(self, error: ReceiptKitError) -> float | None:
        """The pause before the next attempt; `None` if there is none."""
        self.count += 1
        _log.debug("%s failed (%s), attempt %d, trace %s", self.call.operation, type(error).__name__, self.count, self.trace)
        may_repeat = error.is_retryable and (self.call.is_idempotent or error._had_no_effect)
        if not may_repeat or self.count >= self.policy.attempts:
            return None
        longest = min(self.policy.longest_pause, self.policy.first_pause * 2 ** min(self.count - 1, 30))
        pause = random.random() * longest
        if isinstance(error, ApiError) and error.retry_after is not None:
            pause = max(pause, error.retry_after)
        return pause if time.monotonic() + pause < self.end else None

    def failed(self, error: httpx.TransportError | TimeoutError) -> ConnectionFailed:
        """The error for one of the HTTP client, which may hold the request with its headers."""
        was_sent = not isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol))
        is_tls = _is_certificate_error(error)
        if isinstance(error, (httpx.TimeoutException, TimeoutError)):
            message = "the server did not answer in time"
        elif is_tls:
            message = "the certificate of the server is not trusted"
        elif not was_sent:
            message = "the server cannot be reached"
        else:
            message = "the connection ended before the answer was complete"
        return ConnectionFailed(self.call.operation, self.trace, message, was_sent=was_sent, is_retryable=not is_tls)

    def too_large(self, status: int, limit: int) -> UnexpectedAnswer:
        return UnexpectedAnswer(self.call.operation, self.trace, f"the answer has more than {limit} bytes", status=status)

    def compressed(self, status: int) -> UnexpectedAnswer:
        return UnexpectedAnswer(self.call.operation, self.trace, "the answer is compressed, which was not asked for", status=status)


def _is_certificate_error(error: BaseException) -> bool:
    cause: BaseException | None = error
    for _ in range(8):
        if cause is None:
            return False
        if isinstance(cause, ssl.SSLCertVerificationError):
            return True
        cause = cause.__cause__ or cause.__context__
    return False


def _headers(response: httpx.Response) -> dict[str, str]:
    return {name.lower(): value for name, value in response.headers.items()}


def _is_compressed(response: httpx.Response) -> bool:
    return response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity")


class Client(Operations):
    """A client of receipt-server, which waits for its answers. It may be used by several threads at once.

    A call is sent again, with growing pauses, if the server did not answer or asks for it, and if sending it twice does no harm.
    """

    def __init__(
        self, url: str, key: str | None = None, *, app: str | None = None, retries: RetryPolicy | None = None,
        maximum_answer_bytes: int = 8 << 20, allow_plain_http: bool = False, http: httpx.Client | None = None,
    ):  # fmt: skip
        """Makes a client.

        Args:
            url: The address of the server, such as `https://receipts.example.com`.
            key: The key, `rk_…`. It is sent to this address and to no other.
            app: The app of calls that name none, by its name in the configuration of the server.
            retries: How often a call is attempted, and for how long.
            maximum_answer_bytes: The greatest length of an answer.
            allow_plain_http: `True` to send the key over `http://` to another machine.
            http: An `httpx.Client` of your own, such as one with a proxy or certificates; you close it.
        """
        self._settings = _Settings(url, key, app, retries or RetryPolicy(), maximum_answer_bytes, allow_plain_http)
        self._http, self._is_own = (http, False) if http is not None else (httpx.Client(), True)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({self._settings.url!r})"

    def close(self) -> None:
        """Closes the connections."""
        if self._is_own:
            self._http.close()

    def _call(self, call: Call[T]) -> T:
        attempts = _Attempts(self._settings, call)
        while True:
            answer = self._exchange(call, attempts)
            if isinstance(answer, Answer):
                result = self._settings.outcome(call, answer, attempts.trace)
                if not isinstance(result, ReceiptKitError):
                    return result
                answer = result
            pause = attempts.pause_after(answer)
            if pause is None:
                raise answer
            time.sleep(pause)

    @contextlib.contextmanager
    def _opened(self, call: Call[Any], attempts: _Attempts, time_left: float, more: Mapping[str, str]) -> Iterator[httpx.Response]:
        method, address, headers, content = self._settings.request(call, attempts.trace, more)
        request = self._http.build_request(method, address, headers=headers, content=content, timeout=time_left)
        response = self._http.send(request, stream=True, follow_redirects=False, auth=None)
        try:
            yield response
        finally:
            response.close()

    def _exchange(self, call: Call[Any], attempts: _Attempts) -> Answer | ReceiptKitError:
        """One attempt. The errors of the HTTP client do not leave it, not even as the context of another error."""
        time_left = attempts.time_left
        end = time.monotonic() + time_left
        body = bytearray()
        try:
            with self._opened(call, attempts, time_left, {}) as response:
                if _is_compressed(response):
                    return attempts.compressed(response.status_code)
                for part in response.iter_raw():
                    body += part
                    if len(body) > self._settings.limit:
                        return attempts.too_large(response.status_code, self._settings.limit)
                    if time.monotonic() > end:
                        return attempts.failed(TimeoutError())
                return Answer(response.status_code, _headers(response), bytes(body))
        except httpx.TransportError as error:
            return attempts.failed(error)

    def _pages(self, call: Call[Any], page: Page[T]) -> Iterator[T]:
        place: int | None = None
        while True:
            if place is not None:
                call.query[page.parameter] = place
            answer = self._call(call)
            yield from page.items(answer)
            after = page.next(answer)
            if after is None or after == place:
                return
            place = after

    def verify_batch(self, receipts: Iterable[Receipt], *, policy: str | None = None, app: str | None = None) -> Iterator[Verdict]:
        """Verifies any number of receipts, and yields a verdict for each, in their order, with its number in `index`.

        It reads as many receipts at a time as fit one request. Requests are sent again as those of other calls are.

        Args:
            receipts: The receipts; a text must be one line.
            policy: The policy, by its name in the configuration; "default" without.
            app: The app, by its name, for keys that are not confined to one.
        """
        batches = Batches(policy, app)
        for receipt in receipts:
            if full := batches.add(receipt):
                yield from self._batch(full)
        if last := batches.end():
            yield from self._batch(last)

    def _batch(self, batch: Batch) -> Iterator[Verdict]:
        yield from batch.numbered(self._call(batch.call))

    def stream_changes(self, *, since: int = 0, app: str | None = None) -> Iterator[ChangeEvent]:
        """Yields the changes of entitlements, those of the past first, and then goes on for as long as you take them.

        It connects again when the connection ends. Store `sequence` with your work, and begin with it the next time.

        Args:
            since: The sequence of the last change that you have.
            app: The app, by its name, for keys that are not confined to one.
        """
        reader = EventReader(since, app, self._settings.limit)
        attempts = _Attempts(self._settings, reader.call)
        while True:
            error: ReceiptKitError | None = None
            try:
                with self._opened(reader.call, attempts, self._settings.retries.attempt_timeout, reader.headers) as response:
                    if response.status_code == 200 and not _is_compressed(response):
                        for part in response.iter_raw():
                            for change in reader.read(part, attempts.trace):
                                attempts = _Attempts(self._settings, reader.call)
                                yield change
                    else:
                        body = bytearray()
                        for part in response.iter_raw():
                            if len(body := body + part) > _MAXIMUM_PROBLEM:
                                break
                        error = self._settings.failure("getChanges", Answer(response.status_code, _headers(response), bytes(body)), attempts.trace)
            except httpx.TransportError as failure:
                error = attempts.failed(failure)
            time.sleep(reader.pause(attempts, error))


class AsyncClient(AsyncOperations):
    """A client of receipt-server for `asyncio`: as `Client`, with `await`."""

    def __init__(
        self, url: str, key: str | None = None, *, app: str | None = None, retries: RetryPolicy | None = None,
        maximum_answer_bytes: int = 8 << 20, allow_plain_http: bool = False, http: httpx.AsyncClient | None = None,
    ):  # fmt: skip
        """Makes a client; the arguments are those of `Client`."""
        self._settings = _Settings(url, key, app, retries or RetryPolicy(), maximum_answer_bytes, allow_plain_http)
        self._http, self._is_own = (http, False) if http is not None else (httpx.AsyncClient(), True)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"AsyncClient({self._settings.url!r})"

    async def close(self) -> None:
        """Closes the connections."""
        if self._is_own:
            await self._http.aclose()

    async def _call(self, call: Call[T]) -> T:
        attempts = _Attempts(self._settings, call)
        while True:
            answer = await self._exchange(call, attempts)
            if isinstance(answer, Answer):
                result = self._settings.outcome(call, answer, attempts.trace)
                if not isinstance(result, ReceiptKitError):
                    return result
                answer = result
            pause = attempts.pause_after(answer)
            if pause is None:
                raise answer
            await asyncio.sleep(pause)

    @contextlib.asynccontextmanager
    async def _opened(self, call: Call[Any], attempts: _Attempts, time_left: float, more: Mapping[str, str]) -> AsyncIterator[httpx.Response]:
        method, address, headers, content = self._settings.request(call, attempts.trace, more)
        request = self._http.build_request(method, address, headers=headers, content=content, timeout=time_left)
        response = await self._http.send(request, stream=True, follow_redirects=False, auth=None)
        try:
            yield response
        finally:
            await response.aclose()

    async def _exchange(self, call: Call[Any], attempts: _Attempts) -> Answer | ReceiptKitError:
        time_left = attempts.time_left
        body = bytearray()
        try:
            async with asyncio.timeout(time_left), self._opened(call, attempts, time_left, {}) as response:
                if _is_compressed(response):
                    return attempts.compressed(response.status_code)
                async for part in response.aiter_raw():
                    body += part
                    if len(body) > self._settings.limit:
                        return attempts.too_large(response.status_code, self._settings.limit)
                return Answer(response.status_code, _headers(response), bytes(body))
        except (httpx.TransportError, TimeoutError) as error:
            return attempts.failed(error)

    async def _pages(self, call: Call[Any], page: Page[T]) -> AsyncIterator[T]:
        place: int | None = None
        while True:
            if place is not None:
                call.query[page.parameter] = place
            answer = await self._call(call)
            for item in page.items(answer):
                yield item
            after = page.next(answer)
            if after is None or after == place:
                return
            place = after

    async def verify_batch(
        self, receipts: Iterable[Receipt] | AsyncIterable[Receipt], *, policy: str | None = None, app: str | None = None
    ) -> AsyncIterator[Verdict]:
        """As `Client.verify_batch`."""
        batches = Batches(policy, app)
        async for receipt in _each(receipts):
            if full := batches.add(receipt):
                async for verdict in self._batch(full):
                    yield verdict
        if last := batches.end():
            async for verdict in self._batch(last):
                yield verdict

    async def _batch(self, batch: Batch) -> AsyncIterator[Verdict]:
        for verdict in batch.numbered(await self._call(batch.call)):
            yield verdict

    async def stream_changes(self, *, since: int = 0, app: str | None = None) -> AsyncIterator[ChangeEvent]:
        """As `Client.stream_changes`."""
        reader = EventReader(since, app, self._settings.limit)
        attempts = _Attempts(self._settings, reader.call)
        while True:
            error: ReceiptKitError | None = None
            try:
                async with self._opened(reader.call, attempts, self._settings.retries.attempt_timeout, reader.headers) as response:
                    if response.status_code == 200 and not _is_compressed(response):
                        async for part in response.aiter_raw():
                            for change in reader.read(part, attempts.trace):
                                attempts = _Attempts(self._settings, reader.call)
                                yield change
                    else:
                        body = bytearray()
                        async for part in response.aiter_raw():
                            if len(body := body + part) > _MAXIMUM_PROBLEM:
                                break
                        error = self._settings.failure("getChanges", Answer(response.status_code, _headers(response), bytes(body)), attempts.trace)
            except httpx.TransportError as failure:
                error = attempts.failed(failure)
            await asyncio.sleep(reader.pause(attempts, error))


async def _each(receipts: Iterable[Receipt] | AsyncIterable[Receipt]) -> AsyncIterator[Receipt]:
    if isinstance(receipts, AsyncIterable):
        async for receipt in receipts:
            yield receipt
    else:
        for receipt in receipts:
            yield receipt
