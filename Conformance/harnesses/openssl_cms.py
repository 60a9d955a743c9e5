#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The harness of the command openssl, by `openssl cms -verify`: the signature of an app receipt and the path of its signer.

What the receipt says is not looked at, except for the date of its creation, as of which the certificates are checked. So the
cases about app, environment and contents are expected failures, and so are those about Apple's markers in certificates.
"""

import base64
import calendar
import json
import os
import re
import subprocess
import sys
import tempfile
import time

# Attribute 12 of a receipt: type and version in INTEGER, the value in OCTET STRING, which has an IA5String.
CREATED = re.compile(rb"\x02\x01\x0c\x02\x01.\x04.\x16.(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)Z", re.DOTALL)


def run(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(["openssl", *arguments], capture_output=True)


def answer(case: dict, folder: str) -> dict:
    files = {name: os.path.join(folder, name) for name in ("receipt", "roots", "others", "content")}
    policy = case["policy"]
    data = base64.b64decode(case["input"]["receipt"])
    try:
        data = base64.b64decode(b"".join(data.split()), validate=True)
    except ValueError:
        pass
    trusted, others = ("".join(policy.get(name, [])).encode() for name in ("trust", "intermediates"))
    contents = {"receipt": data, "roots": trusted, "others": others}
    for name, content in contents.items():
        with open(files[name], "wb") as file:
            file.write(content)
    arguments = ["-verify", "-inform", "DER", "-in", files["receipt"], "-CAfile", files["roots"], "-no-CApath", "-no-CAstore"]
    arguments += ["-purpose", "any", "-out", files["content"], *(["-certfile", files["others"]] if contents["others"] else [])]
    if policy.get("time") == "evaluation":
        instant = case["time"][:19]
    else:
        # Without the path first, only to read the date.
        first = run("cms", *arguments, "-noverify")
        if first.returncode != 0:
            return {"verdict": "invalid", "context": first.stderr.decode(errors="replace")}
        with open(files["content"], "rb") as file:
            created = CREATED.search(file.read())
        instant = created[1].decode() if created else case["time"][:19]
    try:
        seconds = calendar.timegm(time.strptime(instant, "%Y-%m-%dT%H:%M:%S"))
    except ValueError as error:
        return {"verdict": "invalid", "context": str(error)}
    done = run("cms", *arguments, "-attime", str(seconds))
    return {"verdict": "invalid" if done.returncode else "valid", "context": done.stderr.decode(errors="replace").strip()}


def main() -> None:
    declaration = {
        "harness": "openssl cms",
        "version": run("version").stdout.decode().split()[1],
        "features": ["app-receipt", "policy-time"],
        "reports": [],
        "reasons": False,
        "places": False,
    }
    print(json.dumps(declaration), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for line in sys.stdin:
            case = json.loads(line)
            print(json.dumps({"id": case["id"], **answer(case, folder)}), flush=True)


if __name__ == "__main__":
    main()
