# SPDX-License-Identifier: Apache-2.0
"""Verification in Apache Spark: each worker has a verifier of its own, which it keeps.

```python
from receiptkit.spark import verify

verdicts = verify(receipts, {"bundleIds": ["com.example.app"]}, column="receipt")
```
"""

from __future__ import annotations

import functools
from typing import Any, Callable, Iterable, Iterator, List, Mapping, Optional, Union

from . import _forms as forms
from ._verifier import Verifier
from .columns import COLUMNS, verify_column

__all__ = ["output_schema", "verifier_udf", "verify"]

Policy = Union[str, bytes, Mapping[str, Any], Verifier]


@functools.lru_cache(maxsize=32)
def _kept(policy: bytes) -> Verifier:
    return Verifier(policy)


def verifier_udf(
    policy: Policy, column: str = "receipt", *, keep: Optional[Iterable[str]] = None
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Returns a function for `mapInPandas`, whose frames have `receiptkit.columns.COLUMNS` in place of the receipts.

    Args:
        policy: The policy, or a verifier that has it.
        column: The column of the receipts.
        keep: The columns of the input to keep; all but that of the receipts if it is left out.

    Raises:
        PolicyError: The policy cannot be meant.
    """
    # A policy that cannot be meant is found here, and not by every task.
    text = policy.policy.encode() if isinstance(policy, Verifier) else forms.text_of(policy, "policy")
    _kept(text)
    kept = None if keep is None else list(keep)

    def verify_frames(frames: Iterator[Any]) -> Iterator[Any]:
        import pandas

        for frame in frames:
            names = _kept_columns(list(frame.columns), column, kept)
            yield pandas.concat([frame[names], verify_column(_kept(text), frame[column])], axis=1)

    return verify_frames


def output_schema(frame: Any, column: str = "receipt", *, keep: Optional[Iterable[str]] = None) -> str:
    """Returns the schema of what `verifier_udf` makes of a DataFrame of Spark."""
    types = dict(frame.dtypes)
    names = _kept_columns(list(types), column, None if keep is None else list(keep))
    # A backquote within a name is written twice.
    quoted = [(each.replace("`", "``"), types[each]) for each in names]
    return ", ".join(f"`{name}` {type}" for name, type in [*quoted, *COLUMNS.items()])


def verify(frame: Any, policy: Policy, column: str = "receipt", *, keep: Optional[Iterable[str]] = None) -> Any:
    """Returns a DataFrame of Spark with the verdicts on the receipts of another: see `verifier_udf`."""
    kept = None if keep is None else list(keep)
    return frame.mapInPandas(verifier_udf(policy, column, keep=kept), output_schema(frame, column, keep=kept))


def _kept_columns(names: List[str], column: str, keep: Optional[List[str]]) -> List[str]:
    if column not in names:
        raise ValueError(f"there is no column {column!r} of receipts")
    kept = [name for name in names if name != column] if keep is None else keep
    for name in kept:
        if name not in names:
            raise ValueError(f"there is no column {name!r} to keep")
        if name in COLUMNS:
            raise ValueError(
                f"the result has a column {name!r} of its own: rename that of the input, or do not keep it"
            )
    return kept
