# SPDX-License-Identifier: Apache-2.0
"""The walk-through of the README from a .storekit file to a refunded subscription, line by line, as it stands there."""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

ROOT = pathlib.Path(__file__).parents[2]
MARK = "<!-- emulator walk-through: "


def commands() -> list[str]:
    text = (ROOT / "README.md").read_text().split(MARK, 1)[1].split("```console\n", 1)[1].split("```", 1)[0]
    return [line.removeprefix("$ ") for line in text.splitlines()]


def free_port() -> str:
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return str(place.getsockname()[1])


def test_the_walk_through_does_what_it_says(tmp_path):
    lines = commands()
    assert len(lines) == 10
    shutil.copy(ROOT / "Tests/StorefrontTests/Catalog/Fixtures/6.3.storekit", tmp_path / "Products.storekit")
    tools = {os.path.dirname(os.environ[name]) for name in ("RECEIPT_TOOL", "STORE_EMULATOR")}
    environment = os.environ | {"PATH": ":".join([*tools, os.environ["PATH"]])}
    ports = {"8080": free_port(), "8081": free_port()}
    background: list[subprocess.Popen] = []
    outputs: list[str] = []
    try:
        for line in lines:
            for port, free in ports.items():
                line = line.replace(f":{port}", f":{free}").replace(f"--port {port}", f"--port {free}")
            if line.endswith(" &"):
                command = "exec " + line.removesuffix(" &")
                background.append(subprocess.Popen(["bash", "-c", command], cwd=tmp_path, env=environment))
                wait_for(ports["8081" if len(background) == 1 else "8080"])
                continue
            run = subprocess.run(["bash", "-c", line], cwd=tmp_path, env=environment, capture_output=True, text=True)
            assert run.returncode == 0, (line, run.stderr)
            outputs.append(run.stdout)
        kinds = [
            notification["notificationType"]
            for output in outputs[1:]
            if '"notifications"' in output
            for notification in json.loads(output)["notifications"]
        ]
        assert kinds[:2] == ["SUBSCRIBED", "DID_RENEW"] and kinds[-1] == "REFUND" and "DID_FAIL_TO_RENEW" in kinds
        assert json.loads(outputs[5])["data"][0]["lastTransactions"][0]["originalTransactionId"] == "2000000000000001"
        (entitlement,) = [json.loads(line) for line in outputs[-1].splitlines()]
        assert "2000000000000001" in json.dumps(entitlement)
        received = [json.loads(line) for line in (tmp_path / "backend.jsonl").read_text().splitlines()]
        # The probe whether it listens is no notification.
        results = [r["result"] for r in received if "notificationUUID" in r]
        assert results == ["done"] * len(kinds), received
    finally:
        for process in background:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=30)


def wait_for(port: str):
    end = time.monotonic() + 30
    while time.monotonic() < end:
        with socket.socket() as place:
            if place.connect_ex(("127.0.0.1", int(port))) == 0:
                return
        time.sleep(0.05)
    raise AssertionError(f"nothing listens on port {port}")
