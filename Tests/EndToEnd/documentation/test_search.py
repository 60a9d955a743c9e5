# SPDX-License-Identifier: Apache-2.0
"""The search of the site that scripts/docs built: words that users type, each with the page that must come first; and the
search page and the field on each page, in a browser."""

import functools
import http.server
import json
import pathlib
import re
import threading

import pytest
from selenium.webdriver.common.keys import Keys

from browser import PHONE, Browser, absence

SITE = pathlib.Path(__file__).resolve().parents[3] / ".build/documentation/site"
GUIDES = "documentation/receiptkit/"
# What is typed, and the page that must come first. With #, the part of it too; with more pages, one of them.
WORDS = {
    "refund": [f"{GUIDES}answerrefundreviews/"],
    "webhook": [f"{GUIDES}runreceiptserver/"],
    "verifyReceipt": [f"{GUIDES}movefromverifyreceipt/", f"{GUIDES}answershippedapps/#verifyReceipt"],
    "21007": [f"{GUIDES}movefromverifyreceipt/", f"{GUIDES}answershippedapps/#verifyReceipt"],
    "shared secret": [f"{GUIDES}movefromverifyreceipt/"],
    "grace period": [f"{GUIDES}runreceiptserver/", "documentation/entitlements/notifications/", "documentation/storefront/subscriptions/"],
    "Pub/Sub": [f"{GUIDES}setuppubsub/"],
    "pubsub": [f"{GUIDES}setuppubsub/"],
    "PostgreSQL": ["documentation/audittrailpostgresql/", f"{GUIDES}runseveralservers/", f"{GUIDES}runreceiptserver/"],
    "docker": [f"{GUIDES}install/", f"{GUIDES}runreceiptserver/#Install-the-server"],
    "install": [f"{GUIDES}install/", f"{GUIDES}runreceiptserver/#Install-the-server"],
    "libreceiptkit": [f"{GUIDES}inprocess/"],
    "GDPR": [f"{GUIDES}runreceiptserver/#Grant-receipts-to-customers-and-erase-customers"],
    "restore purchases": ["documentation/storefront/paying/"],
    "signature-mismatch": ["documentation/receiptverification/reasoncodes/"],
    "wrong-environment": ["documentation/receiptverification/reasoncodes/"],
    "--trust": [f"{GUIDES}receipt-tool-verify/"],
    "appAccountToken": ["documentation/receiptcodec/"],
    "sandbox": [f"{GUIDES}verifyinabackend/"],
    "rate limit": [f"{GUIDES}serversettings/#Limits"],
    "backup": [f"{GUIDES}backupandrestore/"],
    "rotate key": [f"{GUIDES}rotatekeysandroots/"],
    "Vapor": [f"{GUIDES}usewithawebframework/"],
    "Hummingbird": [f"{GUIDES}usewithawebframework/"],
    "Python": [f"{GUIDES}calltheserver/", f"{GUIDES}movefromapplelibraries/"],
    "php": [f"{GUIDES}movefromaporat/", f"{GUIDES}inprocess/"],
    "revenuecat": [f"{GUIDES}movefromrevenuecat/"],
    "in-app-purchase": [f"{GUIDES}movefrominapppurchase/"],
    "api key": [f"{GUIDES}runreceiptserver/"],
    "listen.port": [f"{GUIDES}serversettings/#Addresses"],
    "retention.days": [f"{GUIDES}serversettings/#Storage"],
    "webhook secret": [f"{GUIDES}serversettings/#Webhooks-and-forwarding"],
    "json schema": [f"{GUIDES}serversettings/"],
    "TLS": [f"{GUIDES}runreceiptserver/#TLS"],
    "prometheus": [f"{GUIDES}runreceiptserver/#Metrics-logs-and-traces", f"{GUIDES}install/"],
    "replay": ["documentation/audittrail/recording/"],
    "test without apple": [f"{GUIDES}testwithoutapple/"],
    "spark": [f"{GUIDES}verifyingadataset/"],
    "lookup order": [f"{GUIDES}receipt-tool-lookup/"],
    "receipt-tool verify": [f"{GUIDES}receipt-tool-verify/"],
    "keys create": [f"{GUIDES}receipt-server-keys/#receipt-server-keys-create"],
    "exit code": [f"{GUIDES}runreceiptserver/#Exit-codes"],
    "family sharing": [f"{GUIDES}serversettings/#Entitlements"],
    "customer": [f"{GUIDES}namedentitlements/", f"{GUIDES}supportacustomer/"],
    "support": [f"{GUIDES}supportacustomer/"],
    "auditor": [f"{GUIDES}answeranauditor/"],
    "undetermined": ["documentation/receiptverification/reasoncodes/#Undetermined", f"{GUIDES}verifyinabackend/"],
    "retryable": [f"{GUIDES}verifyinabackend/"],
    "load balancer": [f"{GUIDES}runseveralservers/"],
    "VerificationPolicy": ["documentation/receiptverification/verificationpolicy/"],
    # With a letter missing, and two exchanged.
    "entitelments": ["documentation/entitlements/", f"{GUIDES}namedentitlements/"],
    "recieve notifications": [f"{GUIDES}receivenotifications/"],
}  # fmt: skip


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Of a static host that has the site at its root, and under /some/base."""
    if not (SITE / "search/index.json").exists():
        pytest.skip("NOT RUN: there is no site; scripts/docs builds it")
    root = tmp_path_factory.mktemp("host")
    for path in SITE.iterdir():
        (root / path.name).symlink_to(path)
    (root / "some").mkdir()
    (root / "some/base").symlink_to(SITE)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=root)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="module")
def browser(address):
    if reason := absence():
        pytest.skip(f"NOT RUN: {reason}")
    browser = Browser()
    yield browser
    browser.close()


@pytest.fixture
def page(browser, address) -> Browser:
    browser.driver.get(f"{address}search/")
    browser.wait_for(lambda: browser.script("return Boolean(window.searchIndex)"), 60)
    return browser


def test_the_right_page_comes_first(page):
    assert len(WORDS) >= 40
    wrong = []
    for word, pages in WORDS.items():
        found = page.script("return window.searchIndex.search(arguments[0], 5).map((entry) => [entry.kind, entry.title, entry.url])", word)
        if not found or not any(found[0][2].startswith(page) for page in pages):
            wrong.append(f"{word}: {found}")
    assert not wrong, "\n".join(wrong)
    print(f"loaded in {page.script('return window.searchLoadTime'):.0f} ms")


def test_everything_is_found_by_its_name(page):
    """Settings, reason codes, commands and articles: each is among the first three for its own title."""
    entries = json.loads((SITE / "search/index.json").read_text())
    kinds = {"setting", "reason code", "command", "article"}
    named = [entry for entry in entries if entry[0] in kinds]
    assert {kind: sum(entry[0] == kind for entry in named) > 20 for kind in kinds} == dict.fromkeys(kinds, True)
    settings = json.loads((SITE.parents[2] / "Schemas/receipt-server.schema.json").read_text())["$defs"]
    assert {entry[1] for entry in entries if entry[0] == "setting"} == set(settings)
    titles = page.script(
        "return arguments[0].map((title) => window.searchIndex.search(title, 3).map((entry) => entry.title))",
        [entry[1] for entry in named])  # fmt: skip
    missing = [entry[1] for entry, found in zip(named, titles, strict=True) if entry[1] not in found]
    assert not missing
    # Every result leads to a page, and to a part that is there.
    pages = {str(path.relative_to(SITE).parent): path for path in SITE.glob("documentation/**/index.html")}
    for _, _, url, *_ in entries:
        name, _, anchor = url.partition("#")
        assert name.rstrip("/") in pages, url
        if anchor:
            data = (SITE / f"data/{name.rstrip('/')}.json").read_text()
            assert f'"anchor":{json.dumps(anchor, ensure_ascii=False)}' in data.replace(" ", "").replace("\\/", "/"), url


def test_by_keyboard_from_a_word_to_the_page(page, address):
    page.press("signature-mismatch")
    assert page.wait_for(lambda: page.all("#results li"))
    assert page.text("#status").endswith("results") and "reason code in Reason codes" in page.text("#results li")
    assert page.driver.current_url.endswith("?q=signature-mismatch")
    assert page.all("#results mark")
    page.press(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_UP)
    assert page.driver.switch_to.active_element.text == "signature-mismatch"
    page.press("/")
    assert page.driver.switch_to.active_element.get_attribute("id") == "query"
    page.press(Keys.ENTER)
    page.wait_for(lambda: "Why a receipt is not valid" in page.text("body"))
    # Each page has the field.
    page.one("#search-field input").send_keys("refund", Keys.ENTER)
    page.wait_for(lambda: page.all("#results li"))
    assert page.driver.current_url == f"{address}search/?q=refund"
    assert page.text("#results li").startswith("Answer refund reviews")
    assert page.violations == []


def test_nothing_that_is_typed_is_taken_for_markup(page):
    page.press("<img src=x onerror=alert(1)> zzzzqq")
    page.wait_for(lambda: page.text("#status"))
    page.press(*[Keys.BACKSPACE] * 40)
    page.press("zzzzqqqq")
    page.wait_for(lambda: page.text("#status") == "No results")
    assert not page.all("main img")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_can_be_read(page, scheme):
    page.scheme(scheme)
    page.width(PHONE)
    page.press("webhook")
    page.wait_for(lambda: page.all("#results mark"))
    assert page.script("return document.documentElement.scrollWidth <= innerWidth")
    assert page.one("#query").accessible_name == "Search"
    for selector in ("h2 a", ".kind", "#status", "mark", "#query"):
        colours = page.script(
            "let e = document.querySelector(arguments[0]); const text = getComputedStyle(e).color;"
            "while (getComputedStyle(e).backgroundColor === 'rgba(0, 0, 0, 0)') e = e.parentElement;"
            "return [text, getComputedStyle(e).backgroundColor]", selector)  # fmt: skip
        assert contrast(*colours) >= 4.5, (scheme, selector, colours)
    page.width(1280)
    page.scheme("light")


def contrast(*colours: str) -> float:
    """The contrast ratio of WCAG 2.2."""

    def luminance(colour: str) -> float:
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted(map(luminance, colours))
    return (high + 0.05) / (low + 0.05)


def test_under_a_base_path(page, address):
    page.driver.get(f"{address}some/base/search/?q=backup")
    page.wait_for(lambda: page.all("#results a"), 60)
    assert page.one("#results a").get_attribute("href") == f"{address}some/base/{GUIDES}backupandrestore/"


def test_the_root_leads_to_the_front_page_without_javascript(browser, address):
    plain = Browser(javascript=False)
    try:
        for base in ("", "some/base/"):
            plain.driver.get(f"{address}{base}")
            plain.wait_for(lambda base=base: plain.driver.current_url == f"{address}{base}{GUIDES}")
            assert plain.driver.title == "ReceiptKit"
        plain.driver.get(f"{address}search/")
        assert "front page" in plain.text("noscript")
    finally:
        plain.close()
    assert f'href="{GUIDES}"' in (SITE / "index.html").read_text()
