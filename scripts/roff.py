# SPDX-License-Identifier: Apache-2.0
"""Text of man pages, for command-reference and server_settings.py."""

import re


def roff(text: str) -> str:
    """Text of a man page: hyphens stay hyphens, and nothing is taken for a request."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    escaped = escaped.replace("^", "\\(ha").replace("~", "\\(ti")
    return re.sub(r"^\.", r"\\&.", escaped, flags=re.MULTILINE)
