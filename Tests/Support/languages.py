# SPDX-License-Identifier: Apache-2.0
"""The examples that use receipt-server from several languages, and how each is run."""

import os
import pathlib
import shutil
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "Examples/ReceiptServer"
# The program that each needs.
NEEDED = {"curl": "curl", "python": sys.executable, "node": "node", "go": "go", "php": "php", "ruby": "ruby"}


def absences() -> list[str]:
    """The languages that cannot be run here."""
    return [name for name, program in NEEDED.items() if not shutil.which(program) or name == "curl" and not shutil.which("jq")]


def command(language: str, folder: pathlib.Path) -> list[str]:
    """What runs the example; Go is compiled into a folder first."""
    if language == "go":
        program = folder / "receipts"
        if not program.exists():
            environment = os.environ | {"GO111MODULE": "off", "GOFLAGS": "", "GOTOOLCHAIN": "local"}
            subprocess.run(["go", "vet", FOLDER / "go/receipts.go"], check=True, env=environment, timeout=300)
            subprocess.run(["go", "build", "-o", program, FOLDER / "go/receipts.go"], check=True, env=environment, timeout=300)
        return [str(program)]
    program, file = {
        "curl": ("bash", "curl/receipts.sh"), "python": (sys.executable, "python/receipts.py"), "node": ("node", "node/receipts.mjs"),
        "php": ("php", "php/receipts.php"), "ruby": ("ruby", "ruby/receipts.rb"),
    }[language]  # fmt: skip
    return [program, str(FOLDER / file)]
