# SPDX-License-Identifier: Apache-2.0
"""Documents that the library reads, made of arguments."""

from __future__ import annotations

import base64
import json
from datetime import datetime, timedelta, timezone
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

from ._errors import PolicyError

Certificate = Union[str, bytes]
"""A certificate in PEM, in base64, or its bytes; or the word `apple`, for Apple's roots."""
Seconds = Union[int, float, timedelta]
AppKeys = Mapping[str, Union[str, Sequence[str]]]
"""The public key of each app, or its keys, by the package name."""


def document(policy: Union[None, str, bytes, Mapping[str, Any]], members: Dict[str, Any]) -> bytes:
    """The policy that was given in either of the two forms, as JSON."""
    if policy is None:
        return encoded(members)
    if members:
        raise TypeError(f"a policy and arguments of it were given: {', '.join(members)}")
    return text_of(policy, "policy")


def text_of(value: Union[str, bytes, Mapping[str, Any]], name: str) -> bytes:
    """A mapping, or JSON text, as JSON text."""
    if isinstance(value, (str, bytes, bytearray, memoryview)):
        return receipt_bytes(value)
    if isinstance(value, Mapping):
        return encoded(value)
    raise TypeError(f"{name} is a mapping or JSON text, not {type(value).__name__}")


def encoded(members: Mapping[str, Any]) -> bytes:
    """A mapping as JSON."""
    try:
        return json.dumps(dict(members), allow_nan=False, default=_plain).encode()
    except ValueError as error:
        # A number that JSON does not have, or a mapping that contains itself.
        raise PolicyError("invalid-value", f"This cannot be written as JSON: {error}") from error


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} is no value of JSON")


def text(name: str, value: Any) -> str:
    if isinstance(value, (bool, int, float, bytes)):
        raise TypeError(f"{name} is a text, not {type(value).__name__}")
    return str(value)


def texts(name: str, values: Iterable[str]) -> List[str]:
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(f"{name} is a list of texts, not {type(values).__name__}")
    found = list(values)
    for each in found:
        if not isinstance(each, str):
            raise TypeError(f"{name} is a list of texts; one is {type(each).__name__}")
    # Members of an enumeration are written as their texts.
    return [str.__str__(each) for each in found]


def flag(name: str, value: bool) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{name} is True or False, not {type(value).__name__}")
    return value


def integer(name: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} is a whole number, not {type(value).__name__}")
    return value


def seconds(name: str, value: Seconds) -> float:
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} is a number of seconds or a timedelta, not {type(value).__name__}")
    return value


def time(name: str, value: Union[str, datetime]) -> str:
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError(f"{name} needs a time zone")
        return value.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return text(name, value)


def certificates(name: str, values: Iterable[Certificate]) -> List[str]:
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(f"{name} is a list of certificates, not {type(values).__name__}")
    found = []
    for each in values:
        if isinstance(each, (bytes, bytearray)):
            found.append(each.decode("ascii", "replace") if b"-----BEGIN" in each else base64.b64encode(each).decode())
        elif isinstance(each, str):
            found.append(each)
        else:
            raise TypeError(f"{name} is a list of certificates; one is {type(each).__name__}")
    return found


def app_keys(name: str, values: AppKeys) -> List[Dict[str, str]]:
    if not isinstance(values, Mapping):
        raise TypeError(f"{name} is a mapping of package names to keys, not {type(values).__name__}")
    found = []
    for package, keys in values.items():
        for key in [keys] if isinstance(keys, str) else texts(name, keys):
            found.append({"package": text(name, package), "key": key})
    return found


def markers(name: str, values: Iterable[Tuple[str, str]]) -> List[Dict[str, str]]:
    found = []
    for each in values:
        if isinstance(each, str) or len(each) != 2:
            raise TypeError(f"{name} is a list of pairs of object identifiers: of the leaf, and of the intermediate")
        leaf, intermediate = each
        found.append({"leaf": text(name, leaf), "intermediate": text(name, intermediate)})
    return found


def receipt_bytes(receipt: Any) -> bytes:
    """A receipt of any type that has bytes."""
    if type(receipt) is bytes:
        return receipt
    if isinstance(receipt, str):
        # What is no Unicode is no receipt: the library says so in its verdict.
        return str.encode(receipt, "utf-8", "surrogatepass")
    if isinstance(receipt, (bytes, bytearray, memoryview)):
        # A copy: it cannot change meanwhile, and has the length that it says, which a subclass need not have.
        return memoryview(receipt).tobytes()
    raise TypeError(f"a receipt is bytes or a text, not {type(receipt).__name__}")


def optional_base64(data: Optional[bytes]) -> Optional[str]:
    return None if data is None else base64.b64encode(data).decode()
