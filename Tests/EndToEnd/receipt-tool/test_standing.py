# SPDX-License-Identifier: Apache-2.0
"""A genuine receipt is not a reason to grant: each purchase also has a standing, the same in every output."""

import json
import re

import pytest

import lives
import samples
from independent import jws
from tool import VALID


@pytest.fixture(scope="module")
def signed(store, rsa_store, tmp_path_factory) -> tuple[list[lives.Life], list[str]]:
    """The lives, and the options that accept their stores."""
    folder = tmp_path_factory.mktemp("keys")
    play, huawei = lives.AppKey(), lives.AppKey()
    (folder / "play").write_bytes(play.public)
    (folder / "huawei").write_bytes(huawei.public)
    options = [f"--play-key={samples.BUNDLE}={folder / 'play'}", f"--huawei-key={samples.BUNDLE}={folder / 'huawei'}"]
    return lives.lives(store.leaf(), rsa_store.leaf("rsa2048"), play, huawei), options


@pytest.fixture(scope="module")
def options(signed, trust, rsa_trust, rsa_store, write_certificate):
    return [*trust, *rsa_trust, "--intermediate", write_certificate(rsa_store.intermediate), *signed[1]]


@pytest.fixture(params=range(lives.COUNT))
def life(request, signed) -> lives.Life:
    return signed[0][request.param]


def purchases(verdict: dict) -> list[dict]:
    return verdict["transactions"] + verdict.get("unpaidPurchases", [])


def test_json(life, receipt_tool, options):
    verdict = receipt_tool.accepts(life.receipt, *options, *life.options)
    assert verdict.get("standing") == life.standing, life.name
    assert verdict.get("grantsAccess") == (None if life.standing is None else life.grants_access), life.name
    if life.standing is None:
        assert not purchases(verdict), life.name
        return
    (purchase,) = [found for found in purchases(verdict) if found["standing"] == life.standing][-1:]
    members = (purchase.get("standingSince"), purchase.get("standingUntil"), purchase["standingSource"])
    assert members == (life.since, life.until, life.source), life.name
    assert all(found["grantsAccess"] == (found["standing"] == "active") for found in purchases(verdict)), life.name
    if life.quantity is not None:
        assert purchase["remainingQuantity"] == life.quantity, life.name


def test_text(life, receipt_tool, options):
    run = receipt_tool.run("verify", *options, *life.options, "-", stdin=life.receipt)
    assert run.code == VALID, run.err
    first = re.split(r" {2,}", run.out.splitlines()[0])[0]
    assert first == ("VALID" if life.standing is None else f"VALID, {life.standing.upper()}"), life.name
    coloured = receipt_tool.run("verify", "--color", "always", *options, *life.options, "-", stdin=life.receipt).out
    green = "\x1b[1;32m" in coloured.splitlines()[0]
    assert green == (life.standing in (None, "active")), life.name


def test_a_current_purchase_is_required(life, receipt_tool, options):
    verdict = receipt_tool.verify(life.receipt, "--require-current", *options, *life.options)
    assert (verdict["verdict"], verdict.get("reason", {}).get("code")) == life.current, life.name


def test_lines_are_like_single_receipts(signed, receipt_tool, options):
    now = [life for life in signed[0] if life.at == "now" and b"\n" not in life.receipt.strip()]
    run = receipt_tool.run("verify", "--lines", "--json", *options, "-", stdin=b"\n".join(life.receipt for life in now))
    assert run.code == VALID
    assert [line.get("standing") for line in run.lines] == [life.standing for life in now]


def test_what_does_not_depend_on_the_clock_states_no_standing(receipt_tool, trust, store):
    receipt = jws.sign(samples.TRANSACTION, store.leaf())
    run = receipt_tool.run("verify", "--lines", "--keyed", "--json", *trust, "-", stdin=f"1\t{receipt}\n".encode())
    assert run.code == VALID, run.err
    (verdict,) = run.lines
    assert "standing" not in json.dumps(verdict) and "grantsAccess" not in json.dumps(verdict)


@pytest.mark.parametrize("life", lives.NOTIFIED, indirect=True)
def test_a_ledger_has_the_same_standing(life, receipt_tool, options, tmp_path):
    """`notifications fold` answers about a notification as `verify` does about the notification."""
    path = tmp_path / "notification.jws"
    path.write_bytes(life.receipt)
    at = [] if life.at == "now" else ["--at", life.at]
    trusted = [option for option in options if "-key=" not in option]
    run = receipt_tool.run("notifications", "fold", "--json", "--bundle-id", samples.BUNDLE, *trusted, *at, path)
    assert run.code == VALID, run.err
    (entitlement,) = [line for line in run.lines if line["type"] == "entitlement"]
    members = ("standing", "standingSince", "standingUntil", "grantsAccess")
    assert [entitlement.get(name) for name in members] == [
        life.standing, life.since, life.until, life.grants_access
    ], life.name
    assert entitlement["standingSource"] == "ledger"


def test_every_standing_occurs(signed):
    assert {life.standing for life in signed[0]} == {
        "active", "expired", "refunded", "revoked", "upgraded", "pending", "consumed", "unknown", None
    }
    assert len(signed[0]) == lives.COUNT
    assert [i for i, life in enumerate(signed[0]) if life.source == "notification"] == list(lives.NOTIFIED)
