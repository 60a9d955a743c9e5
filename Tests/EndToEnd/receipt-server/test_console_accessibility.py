# SPDX-License-Identifier: Apache-2.0
"""Every page of the console by the rules of axe, wide and narrow, light and dark, without JavaScript, and by the keyboard."""

import pathlib

import axe_playwright_python
import pytest
from browser import DESKTOP, PHONE
from living_shop import PAGES, LivingShop
from selenium.webdriver.common.keys import Keys

AXE = (pathlib.Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
ALL = {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
# What the colours decide; a scheme of colours changes nothing else.
COLOURS = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}
RUN = """
const done = arguments[arguments.length - 1];
axe.run(document, { runOnly: arguments[0], resultTypes: ["violations"] }).then((results) => done(
  results.violations.flatMap((rule) => rule.nodes.map((node) => `${rule.id}: ${node.html.slice(0, 160)} (${node.target})`))
), (error) => done([String(error)]));
"""
# The elements that the Tab key must reach.
CONTROLS = """
return [...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']")]
  .filter((element) => element.checkVisibility({ visibilityProperty: true }) && !element.disabled
    && !(element.type === "radio" && !element.checked && element.form.elements[element.name].value !== ""))
  .map((element, index) => { element.dataset.number = index; return element.outerHTML.slice(0, 120); });
"""
FOCUS = """
const element = document.activeElement;
const style = getComputedStyle(element);
return [Number(element.dataset.number ?? -1), style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2];
"""


@pytest.fixture(scope="module")
def server(store, tmp_path_factory):
    server = LivingShop(tmp_path_factory.mktemp("server"), store).live()
    yield server
    assert server.end() == 0


@pytest.fixture(scope="module")
def reader(browser, server):
    browser.log_in(server)
    return browser


def violations(browser, rules=ALL) -> list[str]:
    # The policy of the page applies to what the page loads, and not to what the debugger evaluates.
    browser.script(f"if (!globalThis.axe) {{ {AXE}; globalThis.axe = axe; }}")
    return browser.driver.execute_async_script(RUN, rules)


def assert_meets_the_rules(reader):
    for width in (DESKTOP, PHONE):
        reader.width(width)
        for scheme, rules in (("light", ALL), ("dark", COLOURS)):
            reader.scheme(scheme)
            assert violations(reader, rules) == [], (width, scheme)
        assert reader.script("return document.documentElement.scrollWidth") <= width, width
    reader.width(DESKTOP)
    reader.scheme("light")


@pytest.mark.parametrize("name", PAGES)
def test_page_by_the_rules(reader, server, name):
    reader.driver.get(server.url + PAGES[name])
    assert_meets_the_rules(reader)


@pytest.mark.parametrize(
    "change", [lambda receipt: receipt, lambda receipt: receipt[:-8] + "AAAAAAAA", lambda receipt: "{}"],
    ids=["valid", "altered", "none"],
)  # fmt: skip
def test_verdict_by_the_rules(reader, server, change):
    """The page of a pasted receipt, as it comes and with everything unfolded."""
    reader.driver.get(server.url + "/console")
    reader.one("#search").click()
    reader.paste(change(server.transaction()))
    reader.submit(reader.one(".search button"))
    assert "Taken for: a receipt" in reader.text()
    assert_meets_the_rules(reader)
    reader.script("for (const fold of document.querySelectorAll('details')) fold.open = true")
    assert_meets_the_rules(reader)


@pytest.mark.parametrize("name", PAGES)
def test_page_without_javascript(reader, server, name):
    """It says the same as with it, and meets the rules."""
    reader.driver.get(server.url + PAGES[name])
    # What only JavaScript can offer is hidden without it: copying, the zone of the browser, checking a proof. What counts
    # requests and seconds changes meanwhile.
    text = """
      return [...document.querySelectorAll("main *:not(script)")].filter((element) => element.children.length === 0
        && !element.closest(".copy, [data-zone-choice], [data-drop-hint], #proof, time, .quiet, .figure, .chart, .fold, textarea"))
        .map((element) => element.textContent.trim()).filter((text) => text);
    """
    expected = reader.script(text)
    reader.command("Emulation.setScriptExecutionDisabled", value=True)
    try:
        reader.driver.get(server.url + PAGES[name])
    finally:
        # The page stays as it is; only the rules need JavaScript.
        reader.command("Emulation.setScriptExecutionDisabled", value=False)
    assert not reader.script("return [...document.querySelectorAll('.copy')].some((button) => button.checkVisibility())")
    assert reader.script(text) == expected
    assert violations(reader) == []


def tab(browser):
    for kind in ("rawKeyDown", "keyUp"):
        browser.command("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)


@pytest.mark.parametrize("name", ["home", "transactions", "webhooks", "keys", "load", "time-zone", "search"])
def test_tab_reaches_every_control_in_order_and_shows_it(reader, server, name):
    reader.driver.get(server.url + PAGES[name])
    controls = reader.script(CONTROLS)
    assert len(controls) > 10
    reached = []
    for _ in range(len(controls) + 2):
        tab(reader)
        number, is_visible = reader.script(FOCUS)
        if number < 0:
            break
        assert is_visible, controls[number]
        reached.append(number)
    missed = [controls[number] for number in range(len(controls)) if number not in reached]
    assert missed == []
    assert reached == sorted(reached)


def test_menu_on_a_phone(reader, server):
    """Its links are reached after it was opened, by the keyboard alone, and it closes with Escape."""
    reader.width(PHONE)
    reader.driver.get(server.url + PAGES["home"])
    menu = reader.one("#menu")
    assert not menu.is_displayed()
    button = reader.tab_to("button.menu")
    assert reader.violations == []
    button.send_keys(Keys.ENTER)
    assert menu.is_displayed() and violations(reader) == []
    reader.press(Keys.ESCAPE)
    assert not menu.is_displayed()
    button.send_keys(Keys.ENTER)
    reader.follow("#menu a", "Traffic")
    assert reader.title == "Traffic" and not reader.one("#menu").is_displayed()
    reader.width(DESKTOP)
