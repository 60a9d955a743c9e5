# SPDX-License-Identifier: Apache-2.0
"""The files that forges and container engines read: their schemas, and what no schema says.

No engine and no forge is asked. The environment of the server in compose.yaml is used by a real server on a real
PostgreSQL; the scripts of the workflows go through shellcheck."""

import fnmatch
import json
import os
import pathlib
import re
import subprocess
import time

import pytest
import requests
from check_jsonschema.cli import main as check_jsonschema
from click.testing import CliRunner
from ruamel.yaml import YAML

from service import program

ROOT = pathlib.Path(__file__).parents[3]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
FORMS = sorted(path for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")
CONTAINERFILE = (ROOT / "Containerfile").read_text()


def read(path: pathlib.Path | str):
    return YAML(typ="safe").load(ROOT / path)


def validation(schema: str, path: pathlib.Path | str):
    # Its schemas came with the package: nothing is fetched. In this process, since it takes two seconds to begin.
    return CliRunner().invoke(check_jsonschema, ["--builtin-schema", schema, str(ROOT / path)])


class TestSchemas:
    CASES = [
        *[("vendor.github-workflows", path.relative_to(ROOT)) for path in WORKFLOWS],
        *[("custom.github-workflows-require-timeout", path.relative_to(ROOT)) for path in WORKFLOWS],
        *[("vendor.github-issue-forms", path.relative_to(ROOT)) for path in FORMS],
        ("vendor.github-issue-config", ".github/ISSUE_TEMPLATE/config.yml"),
        ("vendor.compose-spec", "compose.yaml"),
    ]

    @pytest.mark.parametrize(("schema", "path"), CASES, ids=lambda value: str(value))
    def test_a_file_is_valid(self, schema, path):
        done = validation(schema, path)
        assert done.exit_code == 0, done.output

    @pytest.mark.parametrize(
        ("schema", "path", "right", "wrong"),
        [
            ("vendor.github-workflows", ".github/workflows/ci.yml", "runs-on:", "run-on:"),
            ("vendor.github-issue-forms", ".github/ISSUE_TEMPLATE/verdict.yml", "type: dropdown", "type: list"),
            ("vendor.compose-spec", "compose.yaml", "depends_on:", "depend_on:"),
        ],
    )
    def test_a_wrong_one_is_not(self, tmp_path, schema, path, right, wrong):
        text = (ROOT / path).read_text()
        assert right in text
        copy = tmp_path / pathlib.Path(path).name
        copy.write_text(text.replace(right, wrong, 1))
        assert validation(schema, copy).exit_code == 1


class TestWorkflows:
    @pytest.fixture(params=WORKFLOWS, ids=lambda path: path.name)
    def workflow(self, request):
        return request.param

    def steps(self, workflow):
        for job in read(workflow)["jobs"].values():
            yield from job["steps"]

    def test_actions_are_pinned_to_a_commit_with_its_version(self, workflow):
        uses = re.findall(r"uses: (.*)", workflow.read_text())
        assert len(uses) == sum("uses" in step for step in self.steps(workflow)) > 0
        for use in uses:
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", use), use

    def test_rights_are_those_that_are_needed(self, workflow):
        document = read(workflow)
        assert document["permissions"] == {"contents": "read"}
        for name, job in document["jobs"].items():
            writes = {right for right, access in job.get("permissions", {}).items() if access != "read"}
            assert writes == ({"contents"} if name == "publish" else set()), name
            # What reads a secret has to be approved.
            assert ("secrets." in json.dumps(job)) == (job.get("environment") == "release"), name

    def test_jobs_and_values_of_the_matrix_exist(self, workflow):
        jobs = read(workflow)["jobs"]
        for job in jobs.values():
            needs = job.get("needs", [])
            assert set([needs] if isinstance(needs, str) else needs) <= set(jobs)
            named = set(re.findall(r"\$\{\{ *matrix\.(\w+)", json.dumps(job)))
            for row in job.get("strategy", {}).get("matrix", {}).get("include", [{}]):
                assert named <= set(row)

    def test_scripts_pass_shellcheck_and_name_what_exists(self, workflow, tmp_path):
        for number, step in enumerate(self.steps(workflow)):
            if "run" not in step:
                continue
            # An expression within a script may be replaced by text of a stranger.
            assert "${{" not in step["run"], step
            script = tmp_path / f"{number}.sh"
            script.write_text("#!/bin/bash -e\n" + step["run"])
            done = subprocess.run(["shellcheck", script], capture_output=True, text=True, timeout=60)
            assert done.returncode == 0, done.stdout
            for name in re.findall(r"(?<![\w/])((?:scripts|Packaging|\.ci)/[\w-]+)", step["run"]):
                assert os.access(ROOT / name, os.X_OK), name

    def test_the_versions_of_swift_agree(self):
        version = (ROOT / ".swift-version").read_text().strip()
        short = version.rpartition(".")[0]
        named = [CONTAINERFILE, (ROOT / ".spi.yml").read_text(), *[path.read_text() for path in WORKFLOWS]]
        found = {each for text in named for each in re.findall(r"swift:(\S+?)-bookworm|swift_version: \"(.*)\"", text)}
        assert {one or other for one, other in found} == {short}


class TestPackageIndex:
    def test_its_targets_have_a_page(self):
        [configuration] = read(".spi.yml")["builder"]["configs"]
        assert configuration["platform"] == "linux"
        for target in configuration["documentation_targets"]:
            assert list(ROOT.glob(f"Sources/*/{target}/{target}.docc/{target}.md")), target


class TestIssueForms:
    def test_the_redacted_receipt_is_asked_for_as_the_tool_prints_it(self, receipt_tool):
        text = (ROOT / ".github/ISSUE_TEMPLATE/verdict.yml").read_text()
        [command] = re.findall(r"^ +(receipt-tool inspect --json --redact .*)$", text, re.MULTILINE)
        sample = ROOT / "TestVectors/app-receipt/valid.b64"
        run = receipt_tool.run(*command.split()[1:-1], str(sample))
        assert run.code == 0, run.err
        redacted = json.loads(run.out)
        assert redacted["format"] == "app-receipt" and redacted["source"] == "redacted"
        whole = json.loads(receipt_tool.run("inspect", "--json", str(sample)).out)
        values = [each["value"] for each in whole["attributes"] if re.search("[A-Za-z2-9]{2}", str(each.get("value")))]
        assert "com.example.app" in values
        assert not [value for value in values if str(value) in run.out]

    def test_redacting_needs_json(self, receipt_tool):
        run = receipt_tool.run("inspect", "--redact", str(ROOT / "TestVectors/app-receipt/valid.b64"))
        assert run.code == 64 and "--redact needs --json" in run.err


class TestContainerfile:
    """What the engine would do with the context: without Tests, since they are no part of it."""

    IGNORED = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")]

    def in_context(self, path: str) -> bool:
        assert self.IGNORED[0] == "*"
        return any(fnmatch.fnmatch(path.split("/")[0], pattern.removeprefix("!")) for pattern in self.IGNORED[1:])

    def test_everything_that_is_copied_is_in_the_context(self):
        copied = [
            source
            for line in re.findall(r"^COPY (?!--from)(.*)$", CONTAINERFILE, re.MULTILINE)
            for source in line.split()[:-1]
        ]
        assert {"Packaging/container.json", "LICENSE"} <= set(copied)
        for source in copied:
            assert source == "." or (ROOT / source).exists() and self.in_context(source), source
        for script in re.findall(r"(?<![\w/])((?:scripts|Packaging)/[\w.-]+)", CONTAINERFILE):
            assert self.in_context(script) and (ROOT / script).exists(), script

    def test_the_targets_of_the_programs_are_in_the_context(self):
        assert "RECEIPTKIT_PROGRAMS=1" in CONTAINERFILE
        done = subprocess.run(
            ["swift", "package", "dump-package"], cwd=ROOT, check=True, capture_output=True, text=True, timeout=120,
            env=os.environ | {"RECEIPTKIT_PROGRAMS": "1"},
        )  # fmt: skip
        targets = json.loads(done.stdout)["targets"]
        assert {"receipt-server", "receipt-tool", "store-emulator"} <= {target["name"] for target in targets}
        for target in targets:
            assert self.in_context(target["path"]) and target["type"] != "test", target["name"]

    def test_it_runs_as_a_user_without_privileges_and_has_no_secret(self):
        stage = CONTAINERFILE[CONTAINERFILE.rindex("\nFROM") :]
        for instruction in ("USER receipt-server", "VOLUME /var/lib/receipt-server", "EXPOSE 8080", "HEALTHCHECK", "LABEL"):
            assert f"\n{instruction}" in stage, instruction
        assert stage.index("\nUSER") > stage.index("useradd")
        # The commands are the server's own, with the configuration that was copied.
        [configuration] = re.findall(r"COPY Packaging/container.json (\S+)", stage)
        commands = [json.loads(each) for each in re.findall(r"CMD (\[.*\])", stage)]
        assert [command[:2] for command in commands] == [["receipt-server", "health"], ["receipt-server", "serve"]]
        assert all(command[3] == configuration for command in commands)


class TestCompose:
    COMPOSE = read("compose.yaml")
    SERVICES = COMPOSE["services"]

    def test_no_password_has_a_default(self):
        text = (ROOT / "compose.yaml").read_text()
        for line in text.splitlines():
            if not line.strip().startswith("#") and "PASSWORD" in line:
                assert "${POSTGRES_PASSWORD:?" in line, line
        assert self.SERVICES["receipt-server"]["environment"]["PGPASSWORD"] == self.SERVICES["postgresql"]["environment"]["POSTGRES_PASSWORD"]

    def test_services_are_checked_and_published_to_this_machine_alone(self):
        for name, service in self.SERVICES.items():
            assert service["healthcheck"]["test"][0] == "CMD", name
            # An engine without a default registry finds it, and a later version does not come by itself.
            assert name == "receipt-server" or re.fullmatch(r"docker\.io/[a-z/]+:v?\d+(\.\d+)*(-\w+)?", service["image"]), name
            for port in service.get("ports", []):
                assert port.startswith("127.0.0.1:"), port
            for other, how in service.get("depends_on", {}).items():
                assert other in self.SERVICES and how == {"condition": "service_healthy"}
            for volume in service["volumes"]:
                source = volume.split(":")[0]
                assert (ROOT / source).is_file() if source.startswith("./") else source in self.COMPOSE["volumes"], volume

    def test_prometheus_reads_the_port_that_the_server_serves(self):
        [job] = read("Packaging/prometheus.yml")["scrape_configs"]
        port = self.SERVICES["receipt-server"]["environment"]["RECEIPT_SERVER_METRICS_PORT"]
        assert job["static_configs"] == [{"targets": [f"receipt-server:{port}"]}]

    @pytest.mark.server
    def test_its_environment_gives_a_server_with_a_console_to_log_in_to(self, tmp_path, postgresql_server, unused_tcp_ports):
        """The server as the engine starts it, but for the places: this machine's PostgreSQL, folders and ports."""
        port, metrics = unused_tcp_ports
        places = {
            "postgresql://receipts@postgresql/receipts?": postgresql_server.url + "&",
            "/var/lib/receipt-server": str(tmp_path),
        }
        environment = {name: value for name, value in os.environ.items() if not name.startswith("RECEIPT_SERVER_")}
        for name, value in self.SERVICES["receipt-server"]["environment"].items():
            for there, here in places.items():
                value = value.replace(there, here)
            # As compose replaces them, from a file .env with a password alone.
            value = re.sub(r"\$\{POSTGRES_PASSWORD:\?[^}]*\}", "a-password-of-compose", value)
            environment[name] = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", value)
        assert not [value for value in environment.values() if "${" in value]
        environment |= {"RECEIPT_SERVER_LISTEN_PORT": str(port), "RECEIPT_SERVER_METRICS_PORT": str(metrics)}
        configuration = ["--config", str(ROOT / "Packaging/container.json")]

        def command(*arguments: str) -> subprocess.CompletedProcess:
            return subprocess.run(
                [program(), *arguments, *configuration], capture_output=True, text=True, timeout=60, env=environment
            )

        checked = command("serve", "--check-config")
        assert checked.returncode == 0, checked.stderr
        with open(tmp_path / "log", "w+") as log:
            server = subprocess.Popen(
                [program(), "serve", *configuration, "--json"], stdout=log, stderr=log, env=environment
            )
            try:
                # The health checks of compose.yaml and of the image.
                deadline = time.monotonic() + 60
                while command("health").returncode != 0:
                    assert server.poll() is None and time.monotonic() < deadline, (tmp_path / "log").read_text()
                    time.sleep(0.2)
                # The command in compose.yaml.
                text = re.sub(r"\n# *", " ", (ROOT / "compose.yaml").read_text())
                [options] = re.findall(r"receipt-server keys create --config \S+ \\ (.*?) and log in", text)
                made = command("keys", "create", *options.split())
                assert made.returncode == 0, made.stderr
                key, url = made.stdout.strip(), f"http://127.0.0.1:{port}"
                session = requests.Session()
                page = session.get(f"{url}/console/login", timeout=30)
                token = re.search(r'name="token" value="([^"]+)"', page.text)[1]
                fields = {"token": (None, token), "key": (None, key)}
                assert session.post(f"{url}/console/login", files=fields, timeout=30, allow_redirects=False).status_code == 303
                assert session.get(f"{url}/console", timeout=30, allow_redirects=False).status_code == 200
                scraped = requests.get(f"http://127.0.0.1:{metrics}/metrics", timeout=30)
                assert "http_requests_total" in scraped.text
                assert postgresql_server.query("SELECT count(*) > 0 FROM pg_namespace WHERE nspname IN ('service', 'trail')") == "t"
                log.seek(0)
                assert "a-password-of-compose" not in log.read()
            finally:
                server.terminate()
                assert server.wait(timeout=60) == 0


@pytest.fixture
def unused_tcp_ports():
    import socket

    with socket.socket() as one, socket.socket() as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]
