# SPDX-License-Identifier: Apache-2.0
"""What a library could change in its process."""

# The C library handles these itself once there are threads (SIGCANCEL, SIGSETXID).
THREAD_SIGNALS = 1 << 31 | 1 << 32


def state() -> dict[str, int]:
    """The signals that are handled, ignored and blocked, and the number of threads."""
    with open("/proc/self/status") as status:
        lines = dict(line.split(":", 1) for line in status)
    signals = {name: int(lines[name], 16) & ~THREAD_SIGNALS for name in ("SigCgt", "SigIgn", "SigBlk")}
    return signals | {"Threads": int(lines["Threads"])}
