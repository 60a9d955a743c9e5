# SPDX-License-Identifier: Apache-2.0
"""Load on a receipt-server by wrk, which notes what was acknowledged."""

import collections
import json
import multiprocessing
import pathlib
import re
import shutil
import signal
import subprocess

import samples
from independent import jws, pki

# Each acknowledgement is written at once, so that none is forgotten when wrk is killed. Receipts are read as they are sent:
# Lua could not hold many.
SCRIPT = """
local path = %(receipts)s
local following = io.lines(path)
local noted = io.open(%(noted)s, "a")
noted:setvbuf("line")
wrk.method = "POST"
wrk.headers["Authorization"] = "Bearer %(key)s"
request = function()
  local receipt = following()
  if not receipt then
    following = io.lines(path)
    receipt = following()
  end
  return wrk.format(nil, nil, nil, receipt)
end
response = function(status, headers, body)
  local entry = status == 200 and body:match('"entry":(%%d+),"repeated"')
  if entry then
    noted:write(body:match('"transactionId":"(%%d+)"'), " ", entry, "\\n")
  elseif status ~= 200 or not body:find('"verdict":"valid"', 1, true) then
    noted:write("- ", status, "\\n")
  end
end
"""


def absence() -> str | None:
    """Why there can be no load; `None` where there can."""
    return None if shutil.which("wrk") else "no wrk (Debian: apt-get install wrk)"


def sign(numbers: range, leaf: pki.Identity) -> list[str]:
    """Signed transactions with these numbers as their identifiers."""
    return [jws.sign(samples.TRANSACTION | {"transactionId": str(number)}, leaf) for number in numbers]


def write_receipts(path: pathlib.Path, numbers: range, leaf: pki.Identity) -> pathlib.Path:
    """Writes signed transactions, a line each; many are signed on all cores."""
    size = 2000
    parts = [(numbers[start : start + size], leaf) for start in range(0, len(numbers), size)]
    if len(parts) == 1:
        signed = [sign(*parts[0])]
    else:
        # The keys cannot be sent to another process, but inherited.
        global _parts
        _parts = parts
        with multiprocessing.get_context("fork").Pool() as pool:
            signed = pool.map(_sign_part, range(len(parts)))
    with path.open("w") as file:
        for receipts in signed:
            file.writelines(receipt + "\n" for receipt in receipts)
    return path


_parts: list[tuple[range, pki.Identity]] = []


def _sign_part(index: int) -> list[str]:
    return sign(*_parts[index])


class Wrk:
    """Requests for verdicts from so many connections, until it is stopped."""

    def __init__(self, folder: pathlib.Path, name: str, url: str, key: str, receipts: pathlib.Path, connections: int, pause: int = 0):
        """`pause`: the mean pause of a connection after an answer, in milliseconds."""
        self.notes = folder / f"{name}.notes"
        script = folder / f"{name}.lua"
        values = {"receipts": json.dumps(str(receipts)), "noted": json.dumps(str(self.notes)), "key": key}
        delay = f"delay = function() return math.random(0, {2 * pause}) end\n" if pause else ""
        script.write_text(SCRIPT % values + delay)
        # Another thread than the first has a Lua state of its own, and would write into the midst of a line.
        self.process = subprocess.Popen(
            ["wrk", "-t1", f"-c{connections}", "-d7200s", "--timeout", "30s", "-s", script, url],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def stop(self) -> int:
        """Ends it; how many requests were answered."""
        self.process.send_signal(signal.SIGINT)
        said = self.process.communicate(timeout=60)[0]
        return int(re.search(r"(\d+) requests in", said)[1])

    def noted(self) -> tuple[dict[str, int], collections.Counter]:
        """The entries by the transactions that were acknowledged, and how often another status than 200 was answered, or
        200 with another verdict than "valid"."""
        entries: dict[str, int] = {}
        others: collections.Counter = collections.Counter()
        # The last line may have been cut off.
        for transaction, number in re.findall(r"^(\S+) (\d+)\n", self.notes.read_text(), re.MULTILINE):
            if transaction == "-":
                others[int(number)] += 1
            else:
                assert entries.setdefault(transaction, int(number)) == int(number)
        return entries, others


def recorded(receipt_tool, trail, folder: pathlib.Path, *options) -> dict[int, str]:
    """The transactions of a trail by their entries."""
    table = folder / "entries.jsonl"
    run = receipt_tool.run("audit", "export", trail, "--table", table, "--overwrite", *options, timeout=900)
    assert run.code == 0, run
    with table.open() as lines:
        rows = map(json.loads, lines)
        return {row["index"]: row["transactionId"] for row in rows if "transactionId" in row}
