# SPDX-License-Identifier: Apache-2.0
"""Verification of columns of pandas and of Apache Arrow.

```python
import pyarrow.parquet
from receiptkit import Verifier
from receiptkit.columns import verify_column

receipts = pyarrow.parquet.read_table("receipts.parquet")["receipt"]
verdicts = verify_column(Verifier(bundle_ids=["com.example.app"]), receipts)
```
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_right
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Sequence, Tuple

from ._errors import ClosedError
from ._verifier import BATCH_BYTES, BATCH_COUNT, Verifier

if TYPE_CHECKING:
    from ._verdict import Verdict

__all__ = ["COLUMNS", "verify_column"]

COLUMNS: Dict[str, str] = {
    # `true` if the receipt is genuine and satisfies the policy.
    "is_valid": "boolean",
    # `valid`, `invalid` or `undetermined`.
    "verdict": "string",
    # Why it is not valid.
    "code": "string",
    "message": "string",
    "place": "string",
    # `true` if it is undetermined, and trying again later may give an answer.
    "should_retry": "boolean",
    "format": "string",
    "environment": "string",
    "bundle_id": "string",
    # ISO 8601 in UTC.
    "signed_date": "string",
    "standing": "string",
    # `true` if a purchase is active: the row may be granted.
    "grants_access": "boolean",
    # Of a receipt with one purchase.
    "transaction_id": "string",
    "original_transaction_id": "string",
    "product_id": "string",
    "expires_date": "string",
    # Of all purchases, and of those that are active.
    "transaction_ids": "array<string>",
    "product_ids": "array<string>",
    "active_product_ids": "array<string>",
}
"""The columns of the result, with their types in SQL. `json`, the whole verdict, follows if it is asked for."""


def verify_column(verifier: Verifier, column: Any, *, json: bool = False) -> Any:
    """Verifies a column of receipts on all processors.

    Args:
        verifier: The verifier.
        column: A Series of pandas, of texts or bytes; or an Array or a ChunkedArray of pyarrow, of strings or binary
            values. What it has for null stays null.
        json: Whether the result has the column `json`.

    Returns:
        A DataFrame with the index of the Series, a StructArray, or a ChunkedArray of structs: see `COLUMNS`.
    """
    module = type(column).__module__.partition(".")[0]
    if module == "pyarrow":
        return _verify_arrow(verifier, column, json)
    if module == "pandas" and hasattr(column, "isna") and hasattr(column, "index") and not hasattr(column, "columns"):
        return _verify_series(verifier, column, json)
    raise TypeError(
        f"a column is a Series of pandas, or an Array or a ChunkedArray of pyarrow, not {type(column).__name__}"
    )


def _row(verdict: Verdict) -> List[Any]:
    """The values of `COLUMNS`."""
    members = verdict._members()
    get, reason = members.get, members.get("reason") or {}
    purchases: List[Mapping[str, Any]] = members.get("transactions") or []
    only: Mapping[str, Any] = purchases[0] if len(purchases) == 1 else {}
    valid = verdict.is_valid
    return [
        valid,
        members["verdict"],
        reason.get("code"),
        reason.get("message"),
        reason.get("place"),
        verdict.should_retry,
        get("format"),
        get("environment"),
        get("bundleId"),
        get("signedDate"),
        get("standing"),
        verdict.grants_access,
        only.get("transactionId"),
        only.get("originalTransactionId"),
        only.get("productId"),
        only.get("expiresDate"),
        [each["transactionId"] for each in purchases if "transactionId" in each],
        [each["productId"] for each in purchases if "productId" in each],
        [each["productId"] for each in purchases if valid and each.get("grantsAccess") is True and "productId" in each],
    ]


def _names(json: bool) -> List[str]:
    return [*COLUMNS, "json"] if json else list(COLUMNS)


def _table(verdicts: Sequence[Verdict], places: Sequence[bool], json: bool) -> List[List[Any]]:
    """The columns of the verdicts, with a null wherever `places` has none.

    `places` is empty if there is one everywhere.
    """
    names = _names(json)
    width = len(names)
    rows: List[Sequence[Any]]
    rows = [[*_row(each), each.json.decode()] for each in verdicts] if json else [_row(each) for each in verdicts]
    if places:
        iterator, null = iter(rows), (None,) * width
        rows = [next(iterator) if place else null for place in places]
    return [list(values) for values in zip(*rows)] if rows else [[] for _ in names]


# pandas


def _verify_series(verifier: Verifier, series: Any, json: bool) -> Any:
    import pandas

    places = [not is_null for is_null in series.isna().tolist()]
    receipts = [receipt for receipt, place in zip(series.tolist(), places) if place]
    values = _table(verifier.verify_many(receipts), [] if all(places) else places, json)
    frame = {}
    for name, column in zip(_names(json), values):
        type = COLUMNS.get(name, "string")
        frame[name] = pandas.Series(column, index=series.index, dtype=object if type.startswith("array") else type)
    return pandas.DataFrame(frame, index=series.index)


# Arrow


def _verify_arrow(verifier: Verifier, column: Any, json: bool) -> Any:
    import pyarrow

    if isinstance(column, pyarrow.ChunkedArray):
        chunks = [_verify_array(verifier, chunk, json) for chunk in column.chunks]
        return pyarrow.chunked_array(chunks, type=_struct(json))
    if isinstance(column, pyarrow.Array):
        return _verify_array(verifier, column, json)
    raise TypeError(f"a column of pyarrow is an Array or a ChunkedArray, not {type(column).__name__}")


def _struct(json: bool) -> Any:
    import pyarrow

    types = {"boolean": pyarrow.bool_(), "string": pyarrow.string(), "array<string>": pyarrow.list_(pyarrow.string())}
    return pyarrow.struct([(name, types[COLUMNS.get(name, "string")]) for name in _names(json)])


def _verify_array(verifier: Verifier, column: Any, json: bool) -> Any:
    import pyarrow

    if isinstance(column, pyarrow.ExtensionArray):
        column = column.storage
    kind = column.type
    if pyarrow.types.is_dictionary(kind):
        # Each value is verified once, however often it occurs.
        return _verify_array(verifier, column.dictionary, json).take(column.indices)
    if pyarrow.types.is_null(kind):
        return pyarrow.nulls(len(column), _struct(json))
    if kind in (pyarrow.string(), pyarrow.binary()):
        is_large = False
    elif kind in (pyarrow.large_string(), pyarrow.large_binary()):
        is_large = True
    elif str(kind) in ("string_view", "binary_view") or pyarrow.types.is_fixed_size_binary(kind):
        # These do not stand one after another.
        column = column.cast(pyarrow.large_string() if str(kind) == "string_view" else pyarrow.large_binary())
        is_large = True
    else:
        raise TypeError(f"a column of receipts has strings or binary values, not {kind}")
    verdicts = _verdicts(verifier, column, is_large)
    places: List[bool] = []
    mask = None
    if column.null_count:
        is_null = column.is_null()
        places = [not each for each in is_null.to_pylist()]
        verdicts = [verdict for verdict, place in zip(verdicts, places) if place]
        mask = is_null
    struct = _struct(json)
    fields = [struct.field(index) for index in range(struct.num_fields)]
    values = _table(verdicts, places, json)
    arrays = [pyarrow.array(column, field.type) for column, field in zip(values, fields)]
    return pyarrow.StructArray.from_arrays(arrays, fields=fields, mask=mask)


def _verdicts(verifier: Verifier, column: Any, is_large: bool) -> List[Verdict]:
    """The verdict on each value, which the library reads where Arrow has it."""
    count = len(column)
    if count == 0:
        if verifier.closed:
            raise ClosedError
        return []
    _, offsets_buffer, data = column.buffers()
    if not offsets_buffer.is_cpu or data is not None and not data.is_cpu:
        raise TypeError("the receipts are in the memory of another device than the processor")
    width = 8 if is_large else 4
    raw = memoryview(offsets_buffer)[column.offset * width : (column.offset + count + 1) * width]
    # From here on they are a copy, which nobody changes.
    offsets, address = _widened(raw, is_large)
    if len(offsets) != count + 1:
        raise ValueError("the column has fewer offsets than values")
    size = data.size if data is not None else 0
    start_of_data = data.address if size else 0
    verdicts: List[Verdict] = []
    start = 0
    while start < count:
        end = bisect_right(offsets, int(offsets[start]) + BATCH_BYTES, start + 1, min(count, start + BATCH_COUNT))
        # The library refuses offsets of a call that do not ascend, so that all are within the data if the last is.
        if int(offsets[end]) > size:
            raise ValueError("the offsets of the column lead out of its data")
        verdicts += verifier._verify_joined(start_of_data, address + 8 * start, end - start)
        start = end
    # They are read until here.
    del offsets
    return verdicts


def _widened(raw: memoryview, is_large: bool) -> Tuple[Any, int]:
    """Offsets of 64 bits, and their address."""
    if "numpy" in sys.modules:
        import numpy

        widened = numpy.frombuffer(raw, numpy.int64 if is_large else numpy.int32).astype(numpy.uint64)
        return widened, widened.ctypes.data
    narrow = array("q" if is_large else "i", raw.tobytes())
    # Negative ones become such as the library refuses.
    plain = array("Q", (each & 0xFFFF_FFFF_FFFF_FFFF for each in narrow))
    return plain, plain.buffer_info()[0]
