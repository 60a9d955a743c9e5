# SPDX-License-Identifier: Apache-2.0
"""What a call fails with. No error holds the key, a header or the body of a request."""

from __future__ import annotations

from ._models import Problem


class ReceiptKitError(Exception):
    """A call failed."""

    operation: str
    """The operation, such as `verify`."""
    trace_id: str
    """The trace (W3C Trace Context) that the request was part of: find it as `trace-id` in the server's log."""
    is_retryable: bool = False
    """`True` if the same call may succeed later. The client has sent it again already, if it may be sent twice."""
    _had_no_effect = False

    def __init__(self, operation: str, trace_id: str, message: str):
        super().__init__(f"{operation}: {message}")
        self.operation, self.trace_id = operation, trace_id


class ConnectionFailed(ReceiptKitError):
    """No answer arrived: the server cannot be reached, the connection ended, or the time was up."""

    def __init__(self, operation: str, trace_id: str, message: str, *, was_sent: bool, is_retryable: bool = True):
        super().__init__(operation, trace_id, message)
        self.was_sent = was_sent
        self.is_retryable = is_retryable
        self._had_no_effect = not was_sent


class UnexpectedAnswer(ReceiptKitError):
    """What answered is no receipt-server, or one whose API this version of the package does not know."""

    def __init__(self, operation: str, trace_id: str, message: str, *, status: int, is_retryable: bool = False):
        super().__init__(operation, trace_id, f"HTTP status {status}: {message}")
        self.status = status
        self.is_retryable = is_retryable


class ApiError(ReceiptKitError):
    """The server refused the request, and says why."""

    def __init__(self, operation: str, trace_id: str, problem: Problem, *, retry_after: float | None, is_retryable: bool):
        place = f" ({problem.place})" if problem.place else ""
        super().__init__(operation, trace_id, f"{problem.status} {problem.code}: {problem.detail}{place}")
        self.problem = problem
        self.status: int = problem.status
        self.code: str = problem.code
        """A stable code, such as `missing-scope`."""
        self.detail: str = problem.detail
        """What is wrong, and what to do."""
        self.place: str | None = problem.place
        """The parameter, header or JSON path that is wrong."""
        self.entry: int | None = problem.entry
        """The entry of the audit trail that records the verdict, where there is one."""
        self.retry_after = retry_after
        """The seconds to wait before the next attempt, if the server named a time."""
        self.is_retryable = is_retryable
        self._had_no_effect = problem.status == 429


class InvalidRequest(ApiError):
    """400: the request is not of the API."""


class Unauthorized(ApiError):
    """401: the key is not one of this server, or was revoked."""


class Forbidden(ApiError):
    """403: the key does not have the scope."""


class NotFound(ApiError):
    """404: there is no such thing, or the key may not see it."""


class NotAcceptable(ApiError):
    """406: the server cannot answer in this form."""


class Conflict(ApiError):
    """409: what is asked for contradicts what is known, such as a purchase of another customer."""


class ContentTooLarge(ApiError):
    """413: the body is too large."""


class UnsupportedMediaType(ApiError):
    """415: the body is compressed, or a form."""


class Unprocessable(ApiError):
    """422: the content cannot be used."""


class TooManyRequests(ApiError):
    """429: too many requests, or too many streams."""


class ServerFailed(ApiError):
    """5xx: the server failed, or cannot be used now."""


_KINDS: dict[int, type[ApiError]] = {
    400: InvalidRequest, 401: Unauthorized, 403: Forbidden, 404: NotFound, 406: NotAcceptable, 409: Conflict, 413: ContentTooLarge,
    415: UnsupportedMediaType, 422: Unprocessable, 429: TooManyRequests,
}  # fmt: skip


def api_error(operation: str, trace_id: str, problem: Problem, *, retry_after: float | None, is_retryable: bool) -> ApiError:
    """The error for a problem, of the type of its status."""
    kind = _KINDS.get(problem.status) or (ServerFailed if problem.status >= 500 else ApiError)
    return kind(operation, trace_id, problem, retry_after=retry_after, is_retryable=is_retryable)
