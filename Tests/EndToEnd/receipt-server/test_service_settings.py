# SPDX-License-Identifier: Apache-2.0
"""The settings of receipt-server: those that it asks for are those that its page describes; each has one spelling; and what cannot
work is refused before it serves."""

import http.server
import json
import os
import pathlib
import re
import shutil
import sqlite3
import stat
import subprocess
import threading

import jsonschema
import pytest

import lives
from service import Service, program

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE = ROOT / "Documentation/ReceiptKit.docc/ServerSettings.md"
SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "Schemas/receipt-server.schema.json").read_text()))
SECRET = "whsec_" + "QUFB" * 10

# What Kubernetes puts into each pod for a service `receipt-server` with two ports, and for one `receipt-server-metrics`.
KUBERNETES = {
    "RECEIPT_SERVER_SERVICE_HOST": "10.96.12.7", "RECEIPT_SERVER_SERVICE_PORT": "8080",
    "RECEIPT_SERVER_SERVICE_PORT_HTTP": "8080", "RECEIPT_SERVER_PORT": "tcp://10.96.12.7:8080",
    "RECEIPT_SERVER_PORT_8080_TCP": "tcp://10.96.12.7:8080", "RECEIPT_SERVER_PORT_8080_TCP_PROTO": "tcp",
    "RECEIPT_SERVER_PORT_8080_TCP_PORT": "8080", "RECEIPT_SERVER_PORT_8080_TCP_ADDR": "10.96.12.7",
    "RECEIPT_SERVER_METRICS_SERVICE_HOST": "fd00::7", "RECEIPT_SERVER_METRICS_SERVICE_PORT": "9464",
    "RECEIPT_SERVER_METRICS_PORT": "tcp://[fd00::7]:9464", "RECEIPT_SERVER_METRICS_PORT_9464_TCP_ADDR": "fd00::7",
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> pathlib.Path:
    """A folder for development, in which nothing is stored yet."""
    folder = tmp_path_factory.mktemp("settings") / "data"
    Service(folder).prepare()
    return folder


def configuration(folder: pathlib.Path) -> dict:
    return json.loads((folder / "receipt-server.json").read_text()) | {"listen": {"host": "127.0.0.1", "port": 0}}


def run(*arguments, environment=None, **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        [program(), *map(str, arguments)], capture_output=True, text=True, timeout=60, env=os.environ | (environment or {}),
        **options,
    )  # fmt: skip


def checked(folder: pathlib.Path, settings: dict, *options, environment=None) -> subprocess.CompletedProcess:
    """The configuration in a file beside the folder's own, checked."""
    path = folder / "changed.json"
    path.write_text(json.dumps(settings))
    return run("serve", "--config", path, "--check-config", *options, environment=environment)


def assert_refused(ended: subprocess.CompletedProcess, *complaints: str) -> None:
    assert ended.returncode == 65, ended
    for complaint in complaints:
        assert complaint in ended.stderr, ended.stderr


def test_every_setting_is_in_the_table_and_every_row_is_a_setting(tmp_path):
    service = Service(tmp_path / "data")
    service.prepare()
    # What is asked for only where something else is there.
    service.settings |= {
        "metrics.port": "0", "app.demo.webhooks": "w", "app.demo.webhook.w.url": "https://example.com/",
        "app.demo.webhook.w.secrets": "whsec_" + "A" * 32,
    }
    asked = json.loads(service.command("serve", "--check-config", "--json").stdout)["settings"]
    pattern = re.compile(
        r"^app\.demo(\.(?:policy|webhook|entitlement))?(?:(?<=policy)\.default|(?<=webhook)\.w|(?<=entitlement)\.premium)?\."
    )
    names = {pattern.sub(lambda found: f"app.NAME{found[1] + '.NAME' if found[1] else ''}.", name) for name in asked}
    rows = re.findall(r"^\| `([^`]+)` \|", PAGE.read_text(), flags=re.MULTILINE)
    listed = [setting["name"] for setting in listed_settings()]
    assert sorted(rows) == sorted(names) == sorted(listed) == sorted(SCHEMA.schema["$defs"])


def listed_settings(*arguments) -> list[dict]:
    ended = run("settings", "--json", *arguments)
    assert ended.returncode == 0, ended
    return [json.loads(line) for line in ended.stdout.splitlines()]


def test_the_settings_are_listed():
    [retention] = listed_settings("retention")
    assert retention["variable"] == "RECEIPT_SERVER_RETENTION_DAYS" and retention["default"] == "0"
    assert [setting["name"] for setting in listed_settings("SIGTERM")] == ["shutdown.delay"]
    assert {setting["name"].rsplit(".", 1)[-1] for setting in listed_settings() if setting["secret"]} == {
        "database", "trail", "checkpoint", "url", "secrets", "authorization",
    }  # fmt: skip
    ended = run("settings", "no such thing")
    assert (ended.returncode, ended.stdout) == (1, "") and "no such thing" in ended.stderr


# The schema says the same as the server


SCHEMA_CASES = json.loads((ROOT / "Schemas/receipt-server.schema.json").read_text())["$defs"]
# What else a setting needs to have an effect: settings by their names, for the app `demo`.
CONTEXTS = {
    "listen.tls": {"listen.tls.certificates": "chain.pem", "listen.tls.privateKey": "chain.key"},
    "listen.allowPlainHTTP": {"listen.host": "0.0.0.0"},
    "metrics.tls": {"metrics.port": 0, "metrics.tls.certificates": "chain.pem", "metrics.tls.privateKey": "chain.key"},
    "metrics.allowPlainHTTP": {"metrics.host": "0.0.0.0"},
    "listen.host": {"listen.host": "127.0.0.2", "listen.allowPlainHTTP": True},
    "metrics.host": {"metrics.allowPlainHTTP": True},
    "app.demo.consumables": {"app.demo.clientProtocols": ["openiap"]},
    "app.demo.policies": {"app.demo.policy.trial.bundleIds": ["com.example.app"]},
    "app.demo.webhooks": {"app.demo.webhook.backend.url": "https://example.com/", "app.demo.webhook.backend.secrets": [SECRET]},
    "app.demo.webhook": {
        "app.demo.webhooks": ["w"], "app.demo.webhook.w.url": "https://example.com/", "app.demo.webhook.w.secrets": [SECRET]},
    "app.demo.forwarding": {"app.demo.forwarding.url": "https://example.com/"},
    "app.demo.policy.default.xcodeCertificates": {"app.demo.policy.default.environments": ["xcode"]},
    "app.demo.appStore": {
        "app.demo.appStore.keyFile": "p256.key", "app.demo.appStore.keyID": "K", "app.demo.appStore.issuerID": "I"},
    "app.demo.googlePlay": {
        "app.demo.googlePlay.serviceAccount": "account.json", "app.demo.googlePlay.package": "com.example.app",
        "app.demo.googlePlay.pushAudience": "https://example.com", "app.demo.googlePlay.pushEmail": "a@example.com"},
    "app.demo.huawei": {
        "app.demo.checkers": ["huawei"], "app.demo.huawei.clientID": "1", "app.demo.huawei.clientSecretFile": "secret.txt",
        "app.demo.huawei.site": "germany"},
    "app.demo.receiptKit": {"app.demo.checkers": ["receiptkit"], "app.demo.receiptKit.url": "https://example.com"},
}  # fmt: skip
# Values in place of an example that names files of a machine that is installed.
VALUES = {
    "database": "service.sqlite", "audit.trail": "audit.sqlite", "audit.files": "keys", "audit.checkpoint": "point",
    "listen.host": "0.0.0.0", "listen.tls.certificates": "chain.pem", "listen.tls.privateKey": "chain.key",
    "metrics.tls.certificates": "chain.pem", "metrics.tls.privateKey": "chain.key", "apps": ["demo"],
    "app.demo.policy.default.trust": ["apple", "identity/root.cer"], "app.demo.policy.default.playKeys": ["com.example.app=p256.pub"],
    "app.demo.policy.default.huaweiKeys": ["com.example.app=p256.pub"], "app.demo.policy.default.xcodeCertificates": ["identity/root.cer"],
    "app.demo.appStore.keyFile": "p256.key", "app.demo.googlePlay.serviceAccount": "account.json",
    "app.demo.huawei.clientSecretFile": "secret.txt", "app.demo.receiptKit.keyFile": "secret.txt",
}  # fmt: skip


@pytest.fixture(scope="module")
def furnished(folder) -> pathlib.Path:
    """The folder, with files for the settings that name some."""
    for command in [
        "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out p256.key", "openssl pkey -in p256.key -pubout -out p256.pub",
        "openssl req -x509 -newkey rsa:2048 -nodes -keyout chain.key -out chain.pem -days 2 -subj /CN=localhost",
    ]:  # fmt: skip
        subprocess.run(command.split(), cwd=folder, check=True, capture_output=True)
    rsa = (folder / "chain.key").read_text()
    (folder / "account.json").write_text(
        json.dumps({"type": "service_account", "client_email": "a@example.com", "private_key": rsa, "private_key_id": "1",
                    "token_uri": "https://oauth2.googleapis.com/token"}))  # fmt: skip
    (folder / "secret.txt").write_text("secret")
    return folder


def settings_for(folder: pathlib.Path, name: str) -> tuple[dict, str, object]:
    """A configuration in which a setting of the table has an effect; the setting's own name; a right value."""
    own = {"app": "demo", "policy": "default", "webhook": "w", "entitlement": "premium"}
    parts = name.split(".")
    path = ".".join(own[parts[place - 1]] if part == "NAME" else part for place, part in enumerate(parts))
    settings = configuration(folder)
    if path.startswith("app.demo.forwarding"):
        settings["app"]["demo"]["notifications"] = True
    for prefix, context in CONTEXTS.items():
        if f"{path}.".startswith(f"{prefix}."):
            for other, value in context.items():
                put(settings, other, value)
    if path == "app.demo.huawei.url":
        del settings["app"]["demo"]["huawei"]["site"]
    return settings, path, VALUES.get(path, SCHEMA_CASES[name]["examples"][0])


def agrees(folder: pathlib.Path, settings: dict, what: str) -> bool:
    """Whether the server takes a configuration; the schema must say the same."""
    ended = checked(folder, settings)
    assert ended.returncode in (0, 65), ended
    errors = [error.message for error in SCHEMA.iter_errors(settings)]
    assert (ended.returncode == 0) == (not errors), f"{what}: {ended.stderr}{errors}"
    return not errors


@pytest.mark.sweep
@pytest.mark.parametrize("name", SCHEMA_CASES)
def test_the_schema_and_the_server_agree(furnished, name):
    """Each setting right, of wrong types, out of bounds, with another name, and with dots in its name."""
    settings, path, right = settings_for(furnished, name)
    put(settings, path, right)
    assert agrees(furnished, settings, path)
    wrong = [5 if isinstance(right, (str, bool, list)) else "text", [right], {"a": right}]
    definition = SCHEMA_CASES[name]
    bounds = [definition, *definition.get("anyOf", [])]
    wrong += [bound["minimum"] - 1 for bound in bounds if "minimum" in bound]
    wrong += [bound["maximum"] + 1 for bound in bounds if "maximum" in bound]
    element = definition.get("items", definition)
    if "enum" in element:
        wrong += [["no-such-value"] if "items" in definition else "no-such-value"]
    if isinstance(right, list):
        wrong += [right[0], [5]]
    if isinstance(right, bool):
        wrong += ["true", 1]
    for value in wrong:
        changed = json.loads(json.dumps(settings))
        put(changed, path, value)
        assert not agrees(furnished, changed, f"{path} = {value}"), f"{path} = {value}"
    *parents, last = path.split(".")
    for other in (last.swapcase(), f"{last}s", f"{last}.{last}"):
        changed = json.loads(json.dumps(settings))
        put(changed, ".".join([*parents, "x"]), right)
        group = changed
        for parent in parents:
            group = group[parent]
        group[other] = group.pop("x")
        assert not agrees(furnished, changed, f"{other} in {parents}")
    if parents:
        # A name with dots is the same setting.
        changed = json.loads(json.dumps(settings))
        group = changed
        for parent in parents[:-1]:
            group = group[parent]
        del group[parents[-1]][last]
        group[f"{parents[-1]}.{last}"] = right
        assert agrees(furnished, changed, f"{parents[-1]}.{last}")


def test_the_configurations_that_we_ship_fit_the_schema(folder):
    for text in [(ROOT / "Packaging/receipt-server.json").read_text(), (folder / "receipt-server.json").read_text()]:
        SCHEMA.validate(json.loads(text))
    settings = configuration(folder)
    assert agrees(folder, {"$schema": "receipt-server.schema.json"} | settings, "$schema")
    assert not agrees(folder, {"$schema": 5} | settings, "$schema")
    settings["app"]["demo"]["$schema"] = "a"
    assert not agrees(folder, settings, "$schema of an app")
    SCHEMA.check_schema(SCHEMA.schema)


# The environment


def test_variables_of_kubernetes_are_ignored(folder):
    """A service of the server's name puts them into each pod."""
    ended = checked(folder, configuration(folder), environment=KUBERNETES)
    assert (ended.returncode, ended.stderr) == (0, ""), ended
    # They do not become settings either.
    assert '"metrics' not in ended.stdout
    path = folder / "receipt-server.json"
    assert run("health", "--config", path, "--set", "listen.port=9", environment=KUBERNETES).returncode == 1


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("RECEIPT_SERVER_LISTEN_PROT", "1", "Did you mean RECEIPT_SERVER_LISTEN_PORT?"),
        ("RECEIPT_SERVER_LISTENPORT", "1", "It is spelled RECEIPT_SERVER_LISTEN_PORT."),
        ("RECEIPT_SERVER_LISTEN_HOSTNAME", "a", "no such setting"), ("RECEIPT_SERVER_APP_SHOP_RECORD", "1", "no such setting"),
        ("receipt_server_console", "false", "It is spelled RECEIPT_SERVER_CONSOLE."),
        ("RECEIPT_SERVER_CONSOL", "false", "Did you mean RECEIPT_SERVER_CONSOLE?"),
        ("RECEIPT_SERVER_APP_DEMO_POLICY_DEFAULT_MAXIMUMAGE", "60", "RECEIPT_SERVER_APP_DEMO_POLICY_DEFAULT_MAXIMUM_AGE."),
        ("RECEIPT_SERVER_METRICS_PORT", "9464x", "wrong type"),
    ],
)  # fmt: skip
def test_variables_that_resemble_settings_are_refused(folder, name, value, complaint):
    assert_refused(checked(folder, configuration(folder), environment={name: value}), complaint)


def test_other_variables_are_told_and_ignored(folder):
    ended = checked(folder, configuration(folder), environment={"RECEIPT_SERVER_IMAGE_TAG": "1.2", "RECEIPT_SERVERS": "x"})
    assert ended.returncode == 0
    assert ended.stderr.count("\n") == 1 and "RECEIPT_SERVER_IMAGE_TAG: It is no setting" in ended.stderr


def test_a_variable_of_two_settings_is_refused(folder):
    settings = configuration(folder)
    for name in ("a-b", "a_b"):
        settings["apps"].append(name)
        settings["app"][name] = {"policy": {"default": {"bundleIds": [f"com.example.{name}"]}}}
    ended = checked(folder, settings, environment={"RECEIPT_SERVER_APP_A_B_RECORD": "true"})
    assert_refused(ended, "app.a-b.record", "app.a_b.record")


# The file


def put(settings: dict, path: str, value, instead_of: str | None = None) -> None:
    *parents, name = path.split(".")
    for parent in parents:
        settings = settings.setdefault(parent, {})
    if instead_of:
        del settings[instead_of]
    settings[name] = value


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("path", "value", "instead_of", "complaint"),
    [
        ("app.demo.Record", True, "record", "It is spelled app.demo.record."),
        ("app.demo.Checkers", ["ocsp"], None, "It is spelled app.demo.checkers."),
        ("app.demo.policy.default.Kinds", ["app-receipt"], None, "app.demo.policy.default.kinds"),
        ("app.demo.policy.default.maximum_age", 60, None, "app.demo.policy.default.maximumAge"),
        ("app.demo.policy.default.app_apple_id", 1, None, "app.demo.policy.default.appAppleId"),
        ("app.demo.policy.default.bundle-ids", ["a"], "bundleIds", "app.demo.policy.default.bundleIds"),
        ("Console", False, None, "It is spelled console."), ("console", None, None, "null"),
        ("app.demo.record", None, "record", "null"), ("consoel", False, None, "Did you mean console?"),
        ("Limits", {}, None, "no such setting"), ("app.demo.record", 1, "record", "true or false"),
        ("listen.port", True, None, "number"), ("app.demo.record", {"a": True}, "record", "app.demo.record.a"),
        ("app.demo.policy.default.maximumAge", True, None, "number"), ("app.demo.record", "true", "record", "wrong type"),
    ],
)  # fmt: skip
def test_a_setting_in_another_spelling_is_refused(folder, path, value, instead_of, complaint):
    """By the file. A setting that was ignored in silence would not protect."""
    settings = configuration(folder)
    put(settings, path, value, instead_of)
    assert_refused(checked(folder, settings), complaint)
    # So does what serves.
    assert_refused(run("serve", "--config", folder / "changed.json"), complaint)


def test_the_command_line_has_the_same_names(folder):
    path = folder / "receipt-server.json"
    for name in ("app.demo.Record", "app.demo.RECORD", "app-demo-record", "APP_DEMO_RECORD"):
        assert_refused(run("serve", "--config", path, "--check-config", "--set", f"{name}=true"), "app.demo.record")
    assert run("serve", "--config", path, "--check-config", "--set", "app.demo.record=true").returncode == 0


def test_empty_objects_and_dots_in_names_are_as_they_were(folder):
    settings = configuration(folder) | {"limits": {}, "shutdown.delay": 3}
    assert checked(folder, settings).returncode == 0
    assert_refused(checked(folder, settings | {"shutdown": {"delay": 4}}), "twice")


# What cannot work


def other_app(settings, bundle="com.example.app"):
    settings["apps"].append("other")
    settings["app"]["other"] = {"policy": {"default": {"bundleIds": [bundle]}}}


def webhook(url, **members):
    def change(settings):
        settings["app"]["demo"] |= {"webhooks": ["h"], "webhook": {"h": {"url": url, "secrets": [SECRET]} | members}}

    return change


def put_into(path, value):
    return lambda settings: put(settings, path, value)


def foreign_database(settings):
    settings["database"] = "foreign.sqlite"


IMPOSSIBLE = {
    "record without a trail": (lambda settings: settings.pop("audit"), "app.demo.record: It needs audit.trail"),
    "an app twice": (put_into("apps", ["demo", "demo"]), "more than once"),
    "a policy twice": (put_into("app.demo.policies", ["default", "default"]), "more than once"),
    "a webhook twice": (lambda s: (webhook("https://example.com/")(s), put(s, "app.demo.webhooks", ["h", "h"])), "more than once"),
    "the name of a webhook": (put_into("app.demo.webhooks", ["a b"]), "app.demo.webhook"),
    "no certificate": (
        put_into("listen.tls", {"certificates": "nowhere.pem", "privateKey": "nowhere.key"}), "listen.tls"),
    "no certificate of the metrics": (
        put_into("metrics", {"port": 0, "tls": {"certificates": "nowhere.pem", "privateKey": "nowhere.key"}}), "metrics.tls"),
    "no folder of the database": (put_into("database", "nowhere/service.sqlite"), "nowhere"),
    "no folder of the trail": (put_into("audit.trail", "nowhere/audit.sqlite"), "nowhere"),
    "no folder of its keys": (put_into("audit.files", "nowhere/audit"), "nowhere"),
    "no folder of the checkpoint": (put_into("audit.checkpoint", "nowhere/checkpoint"), "nowhere"),
    "another application's database": (foreign_database, "another application"),
    "no database": (put_into("database", "root.txt"), "not an SQLite database"),
    "ftp": (webhook("ftp://example.com/"), "app.demo.webhook.h.url"),
    "no URL": (webhook(""), "app.demo.webhook.h.url"),
    "plain HTTP": (webhook("http://example.com/"), "allowPrivateNetworks"),
    "plain HTTP to this machine": (webhook("http://127.0.0.1:9/"), "allowPrivateNetworks"),
    "a private address": (webhook("https://10.0.0.1/"), "10.0.0.1 is not in the Internet"),
    "an address of this machine": (webhook("https://[::1]:9/"), "not in the Internet"),
    "this machine by name": (webhook("https://localhost/"), "not in the Internet"),
    "a user": (webhook("https://user:secret@example.com/"), "user name or password"),
    "two apps of one bundle": (other_app, "com.example.app, and so does the app demo"),
    "the server's own address": (put_into("public.url", "receipts.example.com"), "public.url"),
}  # fmt: skip


@pytest.mark.sweep
@pytest.mark.parametrize("case", IMPOSSIBLE)
def test_what_cannot_work_is_refused_by_the_check_and_by_serving(folder, case):
    change, complaint = IMPOSSIBLE[case]
    (folder / "root.txt").write_text("no database" * 100)
    if not (folder / "foreign.sqlite").exists():
        with sqlite3.connect(folder / "foreign.sqlite") as database:
            database.execute("CREATE TABLE t(a)")
        database.close()
    settings = configuration(folder)
    change(settings)
    before = {path.name for path in folder.iterdir()} | {"changed.json"}
    ended = checked(folder, settings)
    assert_refused(ended, complaint)
    assert "secret" not in ended.stderr
    assert_refused(run("serve", "--config", folder / "changed.json"), complaint)
    assert {path.name for path in folder.iterdir()} == before


def test_what_is_allowed_by_name_passes(folder):
    settings = configuration(folder) | {"allowSharedBundleIds": True}
    other_app(settings)
    webhook("http://127.0.0.1:9/?token=secret", allowPrivateNetworks=True)(settings)
    assert checked(folder, settings).returncode == 0
    settings["allowSharedBundleIds"] = False
    assert_refused(checked(folder, settings), "allowSharedBundleIds")


# What commands create


def test_commands_that_only_read_create_nothing(tmp_path):
    data = tmp_path / "data"
    for arguments in [
        ("health",), ("keys", "list"), ("keys", "revoke", "1"), ("serve", "--check-config"),
        ("webhooks", "dead", "--app", "demo", "--endpoint", "h"), ("webhooks", "replay", "--app", "demo", "--endpoint", "h"),
    ]:  # fmt: skip
        ended = run(*arguments, "--data", data)
        assert_refused(ended, "receipt-server.json")
        assert not data.exists(), arguments
    Service(data).prepare()
    before = sorted(data.rglob("*"))
    assert run("serve", "--check-config", "--data", data).returncode == 0
    for arguments in [("keys", "list"), ("keys", "revoke", "1")]:
        ended = run(*arguments, "--data", data)
        assert ended.returncode == 69 and "no database" in ended.stderr, ended
    assert sorted(data.rglob("*")) == before


def test_one_check_of_names_and_scopes_of_keys(folder, tmp_path):
    path = tmp_path / "data"
    shutil.copytree(folder, path)
    config = ["--config", path / "receipt-server.json"]
    for name, complaint in [("", "1 to 100"), ("a" * 101, "1 to 100"), ("a\nb", "control")]:
        ended = run("keys", "create", *config, "--name", name, "--scope", "read")
        assert ended.returncode == 64 and complaint in ended.stderr, ended
    ended = run("keys", "create", *config, "--name", "a", "--app", "nobody", "--scope", "read")
    assert ended.returncode == 64 and "nobody" in ended.stderr
    assert run("keys", "list", *config).stdout == ""


# The trail


def test_a_trail_that_is_gone_is_not_created_anew(tmp_path):
    service = Service(tmp_path / "data").start()
    service.post("/v1/verify", data=service.sample)
    assert service.end() == 0
    trail = service.folder / "audit.sqlite"
    kept = service.folder / "kept"
    kept.mkdir()
    for path in service.folder.glob("audit.sqlite*"):
        shutil.copy(path, kept)
    for path in service.folder.glob("audit.sqlite*"):
        if path.name not in ("audit.sqlite.key", "audit.sqlite.pub", "audit.sqlite.checkpoint"):
            path.unlink()
    for removed in ([], ["pub"], ["pub", "key"]):
        for name in removed:
            (service.folder / f"audit.sqlite.{name}").unlink(missing_ok=True)
        for options in ((), ("--check-config",)):
            ended = service.command("serve", *options, check=False)
            assert_refused(ended, "audit.trail", "audit.sqlite is missing")
            assert not trail.exists()
    # A trail without its key is not taken over with another.
    shutil.copy(kept / "audit.sqlite", trail)
    ended = service.command("serve", check=False)
    assert_refused(ended, "audit.sqlite.key")
    assert not (service.folder / "audit.sqlite.key").exists()
    for path in kept.iterdir():
        shutil.copy(path, service.folder)
    service.start()
    assert service.post("/v1/verify", data=service.sample).json()["entry"] == 0
    assert service.end() == 0


def test_a_creation_that_was_cut_off_is_ended(tmp_path):
    """The key comes first: alone it is no sign of a trail that was lost."""
    service = Service(tmp_path / "data").start()
    assert service.end() == 0
    for path in service.folder.glob("audit.sqlite*"):
        if path.name != "audit.sqlite.key":
            path.unlink()
    key = (service.folder / "audit.sqlite.key").read_bytes()
    service.start()
    assert service.post("/v1/verify", data=service.sample).json()["entry"] == 0
    assert service.end() == 0
    assert (service.folder / "audit.sqlite.key").read_bytes() == key


def test_others_cannot_read_the_key_of_the_trail(tmp_path):
    before = os.umask(0)
    try:
        service = Service(tmp_path / "data").start()
    finally:
        os.umask(before)
    for name in ("audit.sqlite.key", "api-key.txt", "audit.sqlite", "service.sqlite"):
        assert stat.S_IMODE((service.folder / name).stat().st_mode) == 0o600, name
    assert service.end() == 0


# Defaults that protect, and health


def test_without_environments_the_sandbox_is_refused(tmp_path):
    service = Service(tmp_path / "data")
    service.configure(lambda settings: settings["app"]["demo"]["policy"]["default"].pop("environments"))
    service.start()
    verdict = service.post("/v1/verify", data=service.sample).json()
    assert (verdict["verdict"], verdict["reason"]["code"]) == ("invalid", "wrong-environment"), verdict
    assert service.end() == 0


def test_health_tells_what_is_answered(folder):
    class Handler(http.server.BaseHTTPRequestHandler):
        status = 503

        def do_GET(self):
            assert self.path == "/readyz"
            if self.status < 100:
                self.wfile.write(b"HTTP/1.1 %03d X\r\nContent-Length: 0\r\n\r\n" % self.status)
                return
            self.send_response(self.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *arguments):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        arguments = ["health", "--config", folder / "receipt-server.json", "--set", f"listen.port={server.server_port}"]
        ended = run(*arguments)
        assert ended.returncode == 1 and "503" in ended.stderr, ended
        # The HTTP client would end the process at this head (async-http-client 1.37).
        Handler.status = 99
        ended = run(*arguments)
        assert ended.returncode == 1 and "no answer" in ended.stderr, ended
        Handler.status = 200
        ended = run(*arguments)
        assert (ended.returncode, ended.stdout) == (0, "ready\n"), ended
        server.shutdown()
    assert run(*arguments).returncode == 1


# What a policy accepts, and what a refusal says to change


def policy(**members):
    """Changes the policy of the only app."""
    return lambda settings: settings["app"]["demo"]["policy"]["default"].update(members)


def test_xcodes_receipts_are_admitted_by_name_alone(tmp_path):
    receipt = (ROOT / "TestVectors/signed-transaction/valid-xcode.jws").read_bytes()
    service = Service(tmp_path / "data")
    service.configure(policy(bundleIds=["com.example.app"], environments=["xcode"]))
    service.start()
    refused = service.post("/v1/verify", data=receipt).json()
    assert refused["reason"]["code"] == "chain-length" and "xcodeCertificates" in refused["reason"]["message"]
    assert service.end() == 0
    certificate = str(ROOT / "TestVectors/certificates/xcode.pem")
    service.configure(policy(xcodeCertificates=[certificate]))
    service.start()
    verdict = service.post("/v1/verify", data=receipt).json()
    assert (verdict["verdict"], verdict["assurance"]) == ("valid", "pinned-test-certificate")
    assert service.end() == 0
    service.configure(policy(environments=["production"]))
    assert_refused(service.command("serve", "--check-config", check=False), "xcodeCertificates", "environments")


def test_a_purchase_that_states_no_environment(tmp_path, folder):
    key = lives.AppKey()
    (tmp_path / "key").write_bytes(key.public)
    receipt = key.sign(lives.PLAY)
    service = Service(tmp_path / "data")
    keys = [f"{lives.PLAY['packageName']}={tmp_path / 'key'}"]
    service.configure(policy(bundleIds=[lives.PLAY["packageName"]], environments=["production"], playKeys=keys))
    service.start()
    # Nobody asks Google Play: with the key alone, the server works.
    verdict = service.post("/v1/verify", data=receipt).json()
    assert (verdict["verdict"], verdict["standing"]) == ("valid", "active") and "environment" not in verdict
    assert service.end() == 0
    service.configure(policy(unstatedEnvironment="refuse"))
    service.start()
    refused = service.post("/v1/verify", data=receipt).json()
    assert refused["reason"]["code"] == "wrong-environment" and "unstatedEnvironment" in refused["reason"]["message"]
    assert service.end() == 0
    for rule, complaint in [("ask", "undetermined"), ("maybe", "ask, accept, refuse")]:
        service.configure(policy(unstatedEnvironment=rule))
        assert_refused(service.command("serve", "--check-config", check=False), "unstatedEnvironment", complaint)
    service.configure(policy(unstatedEnvironment="ask", playEnvironments=["production", "sandbox"]))
    assert service.command("serve", "--check-config").returncode == 0
