# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL server for the tests, which is removed with its data when they end in any way."""

import glob
import os
import pathlib
import pwd
import shutil
import subprocess

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "temporary-postgresql"


def absence() -> str | None:
    """Why no server can be started; `None` where one can."""
    if not glob.glob("/usr/lib/postgresql/*/bin/initdb") and not shutil.which("initdb"):
        return "no PostgreSQL server to start (Debian: apt-get install postgresql)"
    if os.getuid() == 0 and "postgres" not in {user.pw_name for user in pwd.getpwall()}:
        return "no user postgres for the PostgreSQL server, which refuses to be root"
    return None


class PostgreSQLServer:
    def __init__(self):
        self.is_restarted = False
        # The end of its standard input, which comes with the end of this process, is the end of the server.
        self.process = subprocess.Popen(
            [SCRIPT, "sh", "-c", 'echo "$POSTGRESQL_URL"; exec cat'],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
        )  # fmt: skip
        self.url = self.process.stdout.readline().strip()
        assert self.url, f"it did not start: {self.process.stderr.read()}"
        self.data = pathlib.Path(self.query("SHOW data_directory"))

    def stop(self):
        if self.is_restarted:
            # The script knows the first one alone.
            self._control("stop")
        self.process.communicate(timeout=60)

    def restart(self):
        """Ends all sessions (mode "fast"), and starts it again on the same data."""
        self._control("restart", "-l", self.data / "restart.log")
        self.is_restarted = True

    def _control(self, command: str, *options):
        path = sorted(glob.glob("/usr/lib/postgresql/*/bin/pg_ctl"), key=lambda path: int(path.split("/")[4]))
        arguments = [path[-1] if path else "pg_ctl", "-D", self.data, "-m", "fast", "-w", *options, command]
        if os.getuid() == 0:
            arguments = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--init-groups", "--", *arguments]
        subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL, cwd=self.data.parent, timeout=60)

    def trail(self, schema: str) -> str:
        """The URL of the trail in a schema."""
        return f"{self.url}&schema={schema}"

    def query(self, statement: str) -> str:
        """The answer to a statement, unaligned, without a header."""
        command = ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", self.url, "-c", statement]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout.strip()
