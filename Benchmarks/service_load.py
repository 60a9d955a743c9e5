# SPDX-License-Identifier: Apache-2.0
"""The load that a receipt-server takes, with wrk on the same machine, beside raw OpenSSL and receipt-tool in the same run.

usage: service_load.py FOLDER ROOT RECEIPTS BUNDLE-ID [SECONDS]

FOLDER has the release builds of receipt-server, receipt-tool and receipt-bench, RECEIPTS a signed transaction a line. Part of
scripts/bench.
"""

import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

REQUESTS = """
local lines, next = {}, 0
for line in io.lines(%(receipts)r) do lines[#lines + 1] = line end
wrk.method = "POST"
wrk.headers["Authorization"] = "Bearer %(key)s"
wrk.headers["Content-Type"] = "application/json"
request = function() next = next %% #lines + 1; return wrk.format(nil, nil, nil, "%(before)s" .. lines[next] .. "%(after)s") end
"""


class Server:
    def __init__(self, program: pathlib.Path, folder: pathlib.Path, records: bool, root: str, bundle: str):
        self.folder = folder
        self.arguments = [program, "serve", "--json", "--data", str(folder), "--set", "listen.port=0"]
        # The first time it makes itself a configuration for development.
        self.start()
        self.__exit__()
        path = folder / "receipt-server.json"
        configuration = json.loads(path.read_text())
        app = configuration["app"]["demo"]
        app["record"] = records
        app["policy"]["default"] |= {"bundleIds": [bundle], "trust": [root]}
        app["clientProtocols"] = ["openiap"]
        configuration["limits"] = {"clientRate": 0}
        path.write_text(json.dumps(configuration))
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        listening = json.loads(self.process.stdout.readline())
        self.url, self.key = listening["url"], listening["key"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=60)

    def resident_megabytes(self) -> float:
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024

    def published_key(self) -> str:
        """A key that an app may contain."""
        request = urllib.request.Request(
            f"{self.url}/v1/keys", json.dumps({"name": "app", "app": "demo", "scopes": ["client"]}).encode(),
            {"Authorization": f"Bearer {self.key}"},
        )  # fmt: skip
        return json.load(urllib.request.urlopen(request))["key"]

    def wrk(self, receipts: str, connections: int, seconds: int, delay: int = 0, openiap: str = "") -> tuple[float, float]:
        """Requests a second, and the 99th percentile of their milliseconds; with a published key, those of OpenIAP."""
        script = self.folder / "load.lua"
        path, before, after = "/v1/verify", "", ""
        if openiap:
            path, before, after = "/v1/purchase/verify", r'{\"store\":\"apple\",\"jws\":\"', r'\"}'
        script.write_text(
            REQUESTS % {"receipts": receipts, "key": openiap or self.key, "before": before, "after": after}
            + (f"delay = function() return math.random(0, {2 * delay}) end\n" if delay else "")
        )
        printed = subprocess.run(
            ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "-s", script, self.url + path],
            check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
        if re.search(r"Non-2xx|Socket errors", printed):
            sys.exit(printed)
        number, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", printed).groups()
        rate = float(re.search(r"Requests/sec:\s+([\d.]+)", printed)[1])
        return rate, float(number) * {"us": 0.001, "ms": 1, "s": 1000}[unit]

    def batch(self, receipts: str, count: int) -> float:
        """Receipts a second."""
        answer = self.folder / "verdicts"
        start = time.monotonic()
        subprocess.run(
            ["curl", "--silent", "--fail", "--upload-file", receipts, "--request", "POST", "--header", "Expect:",
             "--header", f"Authorization: Bearer {self.key}", "--output", answer, f"{self.url}/v1/verify/batch"],
            check=True,
        )  # fmt: skip
        rate = count / (time.monotonic() - start)
        if sum(b'"verdict":"valid"' in line for line in open(answer, "rb")) != count:
            sys.exit("service_load: not every receipt of the batch is valid")
        return rate


def library_batch(programs: pathlib.Path, root: str, receipts: str) -> float:
    """Receipts a second."""
    command = [programs / "receipt-bench", "--batch", root, receipts]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def tool(programs: pathlib.Path, root: str, receipts: str, bundle: str, count: int) -> float:
    """Receipts a second."""
    start = time.monotonic()
    subprocess.run(
        [programs / "receipt-tool", "verify", "--lines", "--json", "--trust", root, "--bundle-id", bundle, receipts],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    return count / (time.monotonic() - start)


def raw_verifications() -> float:
    printed = subprocess.run(
        ["openssl", "speed", "-seconds", "2", "ecdsap256"], capture_output=True, text=True, check=True
    ).stdout
    return float(printed.split()[-1])


def main(folder: str, root: str, receipts: str, bundle: str, seconds: str = "8") -> None:
    programs, duration = pathlib.Path(folder), int(seconds)
    count = sum(1 for _ in open(receipts, "rb"))
    raw = raw_verifications()
    print(f"raw P-256 verify, one core              {raw:9.0f} 1/s")

    def show(name: str, rate: float, more: str = "") -> None:
        print(f"{name:40}{rate:9.0f} 1/s  {rate / raw:5.2f} × raw P-256 verify{more}", flush=True)

    with tempfile.TemporaryDirectory() as temporary:
        place = pathlib.Path(temporary)
        with Server(programs / "receipt-server", place / "plain", False, root, bundle) as server:
            server.wrk(receipts, 32, max(1, duration // 2))
            most, latency = server.wrk(receipts, 32, duration)
            show("single, 32 connections", most, f", p99 {latency:.1f} ms")
            published = server.published_key()
            server.wrk(receipts, 32, max(1, duration // 2), openiap=published)
            # In turns, as the batches below.
            pairs = [
                (server.wrk(receipts, 32, duration)[0], *server.wrk(receipts, 32, duration, openiap=published)) for _ in range(3)
            ]
            plain, rate = max(pair[0] for pair in pairs), max(pair[1] for pair in pairs)
            latency = min(pair[2] for pair in pairs)
            show("OpenIAP, 32 connections", rate, f", p99 {latency:.1f} ms; {rate / plain:.2f} of /v1/verify in turns with it")
            paced, latency = server.wrk(receipts, 64, duration, delay=max(1, round(64_000 / (0.6 * most)) - 1))
            show(f"single, paced to {100 * paced / most:.0f} %", paced, f", p99 {latency:.1f} ms")
            # In turns, and the best of each: what else the machine does must not fall on one of them alone.
            rounds = [
                (
                    server.batch(receipts, count),
                    library_batch(programs, root, receipts),
                    tool(programs, root, receipts, bundle, count),
                )
                for _ in range(5)
            ]
            batch, library, lines = map(max, zip(*rounds))
            show("batch", batch)
            show("the library's batch", library, f"; batch over HTTP is {batch / library:.2f} of it")
            show("receipt-tool verify --lines --json", lines, f"; batch over HTTP is {batch / lines:.2f} of it")
            print(f"resident memory after that              {server.resident_megabytes():9.0f} MB")
        with Server(programs / "receipt-server", place / "recording", True, root, bundle) as server:
            # No longer than there are receipts that were not recorded before.
            rate, latency = server.wrk(receipts, 256, max(1, int(count / 14_000)))
            show("single, recorded durably", rate, f", p99 {latency:.1f} ms")


main(*sys.argv[1:])
