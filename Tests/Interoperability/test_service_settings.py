# SPDX-License-Identifier: Apache-2.0
"""The settings of receipt-server: those that it asks for are those that its page describes."""

import json
import pathlib
import re

from service import Service

PAGE = pathlib.Path(__file__).resolve().parents[2] / "Documentation/ReceiptKit.docc/RunReceiptServer.md"


def test_every_setting_is_in_the_table_and_every_row_is_a_setting(tmp_path):
    service = Service(tmp_path / "data")
    # What is asked for only where something else is there.
    service.settings |= {
        "metrics.port": "0", "app.demo.webhooks": "w", "app.demo.webhook.w.url": "https://example.com/",
        "app.demo.webhook.w.secrets": "whsec_" + "A" * 32,
    }
    asked = json.loads(service.command("serve", "--check-config", "--json").stdout)["settings"]
    pattern = re.compile(r"^app\.demo(\.(?:policy|webhook))?(?:(?<=policy)\.default|(?<=webhook)\.w)?\.")
    names = {pattern.sub(lambda found: f"app.NAME{found[1] + '.NAME' if found[1] else ''}.", name) for name in asked}
    section = PAGE.read_text().split("### Settings")[1].split("\n### ")[0]
    rows = re.findall(r"^\| `([^`]+)` \|", section, flags=re.MULTILINE)
    assert sorted(rows) == sorted(names)
