# SPDX-License-Identifier: Apache-2.0
"""The console of receipt-server in a browser: with the keyboard only, without JavaScript, narrow, dark; and what attackers
try of it."""

import base64
import datetime
import html
import http.client
import re
import sqlite3
import subprocess
import time
import warnings

import pytest
import requests
from browser import DESKTOP, PHONE
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from independent import app_receipt, pki
from selenium.webdriver.common.keys import Keys
from service import Service, program
from shops import CUSTOMER, Shops

DAY = 86_400_000
ORIGINAL = "2000000000000000"
FORGED = "<script>document.title='forged'</script>"
# A quotation mark and an accent are one character of Swift, and still end an attribute in HTML.
ATTRIBUTE = '"\u0301 autofocus onfocus="document.title=\'forged\'" x="'

READING = {
    "transactions": ("/console/transactions", "Transactions"),
    "entitlements": ("/console/entitlements", "Entitlements"),
    "entitlement": (f"/console/entitlements/{ORIGINAL}?app=shop", f"Entitlement {ORIGINAL}"),
    "customer": (f"/console/customer?app=shop&id={CUSTOMER}", f"Customer {CUSTOMER}"),
    "nobody": ("/console/customer?app=shop&id=nobody", "Customer nobody"),
    "refund-reviews": ("/console/refund-reviews?app=shop", "Refund reviews"),
    "refund-review": ("/console/refund-reviews/2000000000000010?app=shop", "Refund review 2000000000000010"),
    "audit": ("/console/audit", "Audit trail"),
    "entry": ("/console/audit/entries/0", "Entry 0"),
    "proof": ("/console/audit/entries/0/proof", "Proof of entry 0"),
    "load": ("/console/load", "Traffic"),
    "webhooks": ("/console/webhooks", "Webhooks"),
    "keys": ("/console/keys", "Keys"),
    "acts": ("/console/acts", "Activity log"),
    "search": ("/console/search?q=nothing", "Search"),
}
PAGES = {"home": ("/console", "Home"), "verify": ("/console/verify", "Verify a receipt")} | READING


@pytest.fixture(scope="module")
def server(store, tmp_path_factory):
    server = Shops(tmp_path_factory.mktemp("server"), store)
    now = int(time.time() * 1000)
    server.verify(server.transaction(), "shop")
    server.verify(server.transaction(productId=FORGED, transactionId=ATTRIBUTE, originalTransactionId=ATTRIBUTE), "shop")
    server.verify(server.transaction(bundleId="com.example.other", originalTransactionId="7"), "other")
    server.verify("no receipt", "shop")
    common = {"originalTransactionId": ORIGINAL, "expiresDate": now + 30 * DAY}
    server.notify("shop", "SUBSCRIBED", "INITIAL_BUY", transactionId="2000000000000010", **common)
    server.notify("shop", "REFUND", transactionId="2000000000000010", revocationDate=now, revocationReason=0, **common)
    server.notify("shop", "REFUND_REVERSED", transactionId="2000000000000010", **common)
    server.notify("shop", "CONSUMPTION_REQUEST", transactionId="2000000000000010", **common)
    server.app = {"app": "shop"}
    server.proof(0)
    yield server
    assert server.end() == 0


@pytest.fixture(scope="module")
def reader(browser, server):
    """A browser that is logged in."""
    browser.log_in(server)
    return browser


@pytest.fixture(scope="module")
def plain_reader(plain_browser, server):
    """One without JavaScript."""
    plain_browser.log_in(server)
    return plain_browser


class Session:
    """Somebody who is logged in and has no browser."""

    def __init__(self, server, key: str | None = None, address: str | None = None):
        self.url = server.url
        self.http = requests.Session()
        if address:
            adapter = requests.adapters.HTTPAdapter()
            adapter.init_poolmanager(2, 2, source_address=(address, 0))
            self.http.mount("http://", adapter)
        if key:
            self.log_in(key)

    def get(self, path: str, **options) -> requests.Response:
        return self.http.get(self.url + path, timeout=30, allow_redirects=False, **options)

    def post(self, path: str, **fields) -> requests.Response:
        """Sends a form."""
        parts = [(name, (None, value)) for name, value in fields.items()]
        return self.http.post(self.url + path, files=parts, timeout=30, allow_redirects=False)

    def token(self, path: str) -> str:
        return re.search(r'name="token" value="([^"]+)"', self.get(path).text)[1]

    def log_in(self, key: str, **fields) -> requests.Response:
        answer = self.post("/console/login", token=self.token("/console/login"), key=key, **fields)
        return answer


# Each page


def assert_is_accessible(browser):
    """What a screen reader and the keyboard need."""
    assert browser.one("html").get_attribute("lang") == "en"
    assert len(browser.all("main")) == 1 and len(browser.all("h1")) == 1
    for table in browser.all("table"):
        assert table.find_elements("css selector", "caption")
        assert table.find_elements("css selector", "th[scope=col]")
    for field in browser.all("input:not([type=hidden]):not([hidden]):not([type=checkbox]), select, textarea"):
        name = field.get_attribute("id")
        assert browser.all(f"label[for='{name}']"), name
    for drawing in browser.all("svg:not([aria-hidden=true])"):
        assert drawing.get_attribute("aria-label") or drawing.get_attribute("aria-labelledby")


@pytest.mark.parametrize("name", PAGES)
def test_page(reader, server, name):
    path, title = PAGES[name]
    reader.driver.get(server.url + path)
    assert reader.title == title
    assert_is_accessible(reader)
    for width in (PHONE, DESKTOP):
        reader.width(width)
        assert reader.script("return document.documentElement.scrollWidth") <= width, width
    assert reader.violations == []


@pytest.mark.parametrize("name", READING)
def test_reading_needs_no_javascript(plain_reader, server, name):
    path, title = READING[name]
    plain_reader.driver.get(server.url + path)
    assert plain_reader.title == title
    if name == "proof":
        assert "receipt-tool audit check" in plain_reader.text()
        assert "Without JavaScript" in plain_reader.text()
        assert not plain_reader.one("#proof-check").is_displayed()


@pytest.mark.long
def test_pages_are_reached_with_the_keyboard(reader, server):
    reader.driver.get(server.url + "/console")
    reader.press(Keys.TAB)
    skip = reader.driver.switch_to.active_element
    assert skip.text == "Skip to the content" and skip.is_displayed()
    for label, title in [
        ("Verify", "Verify a receipt"), ("Transactions", "Transactions"), ("Entitlements", "Entitlements"),
        ("Audit trail", "Audit trail"), ("Traffic", "Traffic"), ("Webhooks", "Webhooks"), ("Keys", "Keys"),
        ("Activity log", "Activity log"),
    ]:  # fmt: skip
        link = reader.tab_to("nav.side a", label)
        assert reader.script("return getComputedStyle(arguments[0]).outlineStyle", link) == "solid"
        reader.submit(link)
        assert reader.title == title
        assert reader.one("[aria-current=page]").text == label


@pytest.mark.long
def test_dark_and_light_have_contrast(reader, server):
    """WCAG AA of what has a colour of its own."""
    luminance = """
      const channels = (text) => text.match(/[0-9.]+/g).slice(0, 3).map(Number);
      const linear = (value) => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
      const luminance = (text) => { const [r, g, b] = channels(text).map(linear); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
      const back = (element) => {
        for (; element; element = element.parentElement) {
          const color = getComputedStyle(element).backgroundColor;
          if (!/, 0\\)$/.test(color)) return color;
        }
        return "rgb(255, 255, 255)";
      };
      const faults = [];
      for (const element of document.querySelectorAll("body *:not(svg *):not(script)")) {
        if (![...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) continue;
        const [one, other] = [luminance(getComputedStyle(element).color), luminance(back(element))].sort((a, b) => b - a);
        if ((one + 0.05) / (other + 0.05) < 4.5) faults.push(element.outerHTML.slice(0, 100));
      }
      return [faults, getComputedStyle(document.body).backgroundColor];
    """
    backgrounds = set()
    for scheme in ("light", "dark"):
        reader.scheme(scheme)
        for path in (READING["entitlement"][0], READING["transactions"][0], "/console/keys", "/console/verify"):
            reader.driver.get(server.url + path)
            # The links' colours change over a tenth of a second.
            time.sleep(0.15)
            faults, background = reader.script(luminance)
            assert faults == [], (scheme, path)
            backgrounds.add(background)
    reader.scheme("light")
    assert len(backgrounds) == 2


# What pages are for


@pytest.mark.long
def test_verify_with_the_keyboard(reader, server):
    receipt = server.transaction(transactionId="2000000000000555")
    reader.driver.get(server.url + "/console/verify")
    reader.tab_to("#receipt")
    reader.paste(receipt)
    reader.tab_to("input[name=record]")
    reader.press(Keys.SPACE)
    reader.follow("main form button", "Verify")
    assert "valid" in reader.text(".verdict h2") and "invalid" not in reader.text(".verdict h2")
    # The chain as a picture, from the root to the signer, and every field with its meaning.
    for fold in ("Who signed it", "Every field"):
        reader.tab_to("summary", fold).send_keys(Keys.ENTER)
    names = [e.text for e in reader.all("svg.chain .strong")]
    assert names == ["Independent Root", "Independent Intermediate", "Signing of today"]
    assert "2000000000000555" in reader.text()
    row = next(r for r in reader.all("tbody tr") if r.text.startswith("inAppOwnershipType"))
    assert "bought by the customer" in row.text
    assert_is_accessible(reader)
    # The entry of the audit trail is about it.
    reader.follow(".verdict a", "Entry")
    assert "2000000000000555" in reader.text()
    assert reader.violations == []


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda receipt: receipt[:-6] + "AAAAAA", "signature-mismatch"),
        (lambda receipt: "this is no receipt", "malformed"),
    ],
    ids=["altered", "no receipt"],
)
def test_verify_without_javascript(plain_reader, server, change, code):
    plain_reader.driver.get(server.url + "/console/verify")
    plain_reader.one("#receipt").click()
    plain_reader.paste(change(server.transaction()))
    plain_reader.submit(plain_reader.one("main form button"))
    assert "✗ invalid" in plain_reader.text(".verdict")
    assert code in plain_reader.text(".verdict")
    assert "Next: " in plain_reader.text(".verdict") and "Grants access: ✗ no" in plain_reader.text(".verdict")


def test_verify_an_app_receipt(plain_reader, server, store):
    receipt = app_receipt.sign(app_receipt.payload(app_receipt.in_app()), store.leaf("rsa2048"))
    plain_reader.driver.get(server.url + "/console/verify")
    plain_reader.one("#receipt").click()
    plain_reader.paste(base64.b64encode(receipt).decode())
    plain_reader.submit(plain_reader.one("main form button"))
    assert "✓ valid" in plain_reader.text(".verdict")
    plain_reader.one("#fields summary").click()
    row = next(row for row in plain_reader.all("#fields tbody tr") if row.text.startswith("productId"))
    assert "com.example.app.gems" in row.text and "type 1702" in row.text


def pasted(page: str) -> str:
    """What the page's field for a receipt has, as the next form sends it: a browser sends line breaks as CRLF (HTML, 4.10.21.4)."""
    text = html.unescape(re.search(r"<textarea[^>]*>\n?(.*?)</textarea>", page, re.S)[1])
    return "\r\n".join(text.replace("\r\n", "\n").split("\n"))


@pytest.mark.parametrize("line_break", ["\r\n", "\n", "\r", "\t"], ids=["CRLF", "LF", "CR", "tab"])
def test_a_receipt_in_lines_is_the_same_at_the_second_look(server, store, line_break):
    receipt = app_receipt.sign(app_receipt.payload(app_receipt.in_app()), store.leaf("rsa2048"))
    text = base64.encodebytes(receipt).decode().strip().replace("\n", line_break)
    session = Session(server, server.key)
    token = session.token("/console/verify")
    for _ in range(3):
        page = session.post("/console/verify", token=token, app="shop", receipt=text).text
        assert "</span> valid</h2>" in page
        assert "\ufffd" not in page
        text = pasted(page)


def test_a_file_of_bytes_can_be_looked_at_again(server, store):
    receipt = app_receipt.sign(app_receipt.payload(app_receipt.in_app()), store.leaf("rsa2048"))
    session = Session(server, server.key)
    token = session.token("/console/verify")
    page = session.post("/console/verify", token=token, app="shop", file=receipt).text
    assert "</span> valid</h2>" in page
    assert base64.b64decode(pasted(page)) == receipt


@pytest.mark.parametrize("last", b"\t\n\r ", ids=["tab", "LF", "CR", "space"])
def test_a_file_of_bytes_keeps_a_last_byte_that_looks_like_white_space(server, store, last):
    leaf = store.leaf("rsa2048")
    numbers = (str(number) for number in range(1000000000000101, 1000000000010000))
    signed = (app_receipt.sign(app_receipt.payload(app_receipt.in_app(number)), leaf) for number in numbers)
    receipt = next(receipt for receipt in signed if receipt[-1] == last)
    session = Session(server, server.key)
    token = session.token("/console/verify")
    assert "</span> valid</h2>" in session.post("/console/verify", token=token, app="shop", file=receipt).text


def test_a_page_has_a_bound_however_much_a_receipt_says(server):
    """Every field can be seen, but a page with two hundred of them at a time."""
    session = Session(server, server.key)
    token = session.token("/console/verify")
    receipt = server.transaction(**{f"field{number}": "x" * 10 for number in range(10_000)})
    page = session.post("/console/verify", token=token, app="shop", receipt=receipt).text
    assert len(page) < len(receipt) + 300_000
    assert "Fields 1 to 200 of 10" in page and "field9999" not in page
    further = re.search(r'<button form="verify" name="fields" value="(\d+)">Show further fields', page)[1]
    assert further == "200"
    page = session.post("/console/verify", token=token, app="shop", receipt=pasted(page), fields="10000").text
    assert "field9999" in page and "Show the fields before" in page and "Show further fields" not in page
    # A value of any length, and an array of any length.
    long = server.transaction(field="y" * 200_000, array=[0] * 50_000)
    page = session.post("/console/verify", token=token, app="shop", receipt=long, fields="200").text
    assert len(page) < len(long) + 300_000
    assert "y" * 3000 not in page


def test_verify_a_file(plain_reader, server, tmp_path):
    file = tmp_path / "receipt.jws"
    file.write_text(server.transaction(transactionId="2000000000000556") + "\n")
    plain_reader.driver.get(server.url + "/console/verify")
    plain_reader.one("#file").send_keys(str(file))
    plain_reader.submit(plain_reader.one("main form button"))
    assert "✓ valid" in plain_reader.text(".verdict")
    assert "2000000000000556" in plain_reader.text()


def test_drop_a_file(reader, server):
    """What is dropped is sent at once."""
    reader.driver.get(server.url + "/console/verify")
    page = reader.one("html").id
    reader.script(
        """
        const transfer = new DataTransfer();
        transfer.items.add(new File([arguments[0]], "receipt.jws"));
        document.querySelector("[data-drop]").dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true }));
        """,
        server.transaction(),
    )
    reader.wait_for(lambda: reader.one("html").id != page and reader.all(".verdict"))
    assert "✓ valid" in reader.text(".verdict")


def test_filter_transactions_with_the_keyboard(reader, server):
    reader.driver.get(server.url + "/console/transactions")
    reader.tab_to("#value")
    reader.press(ORIGINAL, Keys.ENTER)
    reader.wait_for(lambda: "value=" in reader.driver.current_url)
    assert len(reader.all("tbody tr")) >= 4
    reader.driver.get(server.url + f"/console/transactions?by=customer&value={CUSTOMER}&verdict=valid&app=shop")
    assert len(reader.all("tbody tr")) >= 4
    reader.driver.get(server.url + "/console/transactions?by=customer&value=nobody")
    assert "No entries match these filters" in reader.text()
    reader.driver.get(server.url + "/console/transactions?verdict=invalid")
    assert {e.text for e in reader.all("td[data-label=Verdict]")} == {"✗ invalid"}
    reader.driver.get(server.url + "/console/transactions?app=other")
    assert [e.text for e in reader.all("td[data-label='Original transaction']")] == ["7"]


# The search field


def search(session: Session, text: str, **fields) -> requests.Response:
    return session.post("/console/search", token=session.token("/console"), text=text, **fields)


@pytest.mark.parametrize(
    ("text", "taken", "path"),
    [
        ("0", "entry", "/console/audit/entries/0"),
        ("#1", "entry", "/console/audit/entries/1"),
        (ORIGINAL, "transaction", f"/console/entitlements/{ORIGINAL}"),
        # A renewal leads to its subscription.
        ("2000000000000010", "transaction", f"/console/entitlements/{ORIGINAL}"),
        (f" {CUSTOMER}\n", "customer", None),
        ("com.example.app.monthly", "product", "/console/transactions"),
    ],
)  # fmt: skip
def test_search_knows_what_a_text_is(server, text, taken, path):
    session = Session(server, server.key_for("read", app="shop"))
    answer = search(session, text)
    assert answer.status_code == 303
    address, _, query = answer.headers["Location"].partition("?")
    assert path in (None, address)
    parameters = dict(part.split("=") for part in query.split("&"))
    assert (parameters["taken"], requests.utils.unquote(parameters["q"])) == (taken, text.strip())
    page = session.get(answer.headers["Location"])
    assert page.status_code == 200
    assert "Taken for: <strong>" in page.text and "/console/search?q=" in page.text


def test_search_by_the_digest_of_a_receipt(server):
    digest = server.get("/v1/audit/entries?app=shop&limit=1").json()["entries"][0]["receiptSha256"]
    answer = search(Session(server, server.key), digest)
    assert answer.headers["Location"].startswith(f"/console/transactions?receipt={digest}")


@pytest.mark.parametrize("where", ["#search", "#paste"])
def test_a_pasted_receipt_comes_into_no_address(plain_reader, server, where):
    plain_reader.driver.get(server.url + "/console")
    receipt = server.transaction()
    plain_reader.one(where).click()
    plain_reader.paste(receipt)
    form = plain_reader.one(where).find_element("xpath", "ancestor::form")
    plain_reader.submit(form.find_element("css selector", "button"))
    assert "Taken for: a receipt" in plain_reader.text() and "valid" in plain_reader.text(".verdict")
    assert plain_reader.driver.current_url == server.url + "/console/search"


@pytest.mark.parametrize(
    ("text", "meaning", "advice"),
    [
        ("MK1B2C3D4E", "an order of the App Store", "in the customer&#39;s e-mail"),
        ("GPA.1234-5678-9012-34567", "an order of Google Play", "No purchase of this order reached this server"),
        ("GPA.1234-5678-9012-34567..3", "an order of Google Play", "No purchase of this order reached this server"),
        ("a" * 24 + ".AO-J1O" + "b" * 100, "a purchase token", "Ask Google Play"),
        ("3000000000000001", "the identifier of a transaction", "Ask the store"),
        ("999999", "the number of an audit entry", "no entry with this number"),
        ("18446744073709551616", "the identifier of a transaction", "Ask the store"),
        (FORGED, "the identifier of a customer", "No purchase names this customer"),
        (ATTRIBUTE, "the identifier of a customer", "No purchase names this customer"),
        ("gr_0", "the identifier of a grant", "There is no such grant"),
    ],
)  # fmt: skip
def test_search_says_what_to_do_when_nothing_is_found(server, text, meaning, advice):
    session = Session(server, server.key_for("verify", "read", app="other"))
    answer = search(session, text)
    assert answer.status_code == 303 and answer.headers["Location"].startswith("/console/search?q=")
    page = session.get(answer.headers["Location"]).text
    assert f"<strong>{meaning}</strong>" in page and advice in page
    assert "It is a receipt: verify it" in page and "<script>d" not in page and '"\u0301' not in page


def test_search_asks_for_the_scope_of_what_it_finds(server):
    verifier, reader = (Session(server, server.key_for(scope, app="shop")) for scope in ("verify", "read"))
    assert search(verifier, server.transaction()).status_code == 200
    assert search(verifier, ORIGINAL).status_code == 403
    assert search(reader, server.transaction()).status_code == 403
    assert search(reader, ORIGINAL).status_code == 303
    # Nothing of another app is found, and of everything the search asks only who is logged in.
    other = Session(server, server.key_for("read", app="other"))
    for text in (ORIGINAL, "0", CUSTOMER, "2000000000000010"):
        location = search(other, text).headers["Location"]
        assert location.startswith("/console/search?q=") or "app=other" in location, text
    assert ORIGINAL not in other.get(f"/console/search?q={CUSTOMER}").text
    assert Session(server).post("/console/search", token="", text="0").status_code == 401
    for path in ("/console/search", "/console/search?q=", "/console/search?q=" + "a" * 600):
        assert reader.get(path).status_code == 404, path
    # No store is asked without credentials, and none about a customer.
    token = verifier.token("/console")
    for meaning, text, status in [("app-store-order", "MK1B2C3D4E", 404), ("customer", CUSTOMER, 400), ("x", "1", 400), ("transaction", "", 400)]:
        answer = verifier.post("/console/search/ask", token=token, app="shop", meaning=meaning, text=text)
        assert answer.status_code == status, meaning


# The first page, and the zone of times


def test_home_says_what_came_in_and_what_needs_a_person(reader, server):
    reader.driver.get(server.url + "/console")
    tiles = {e.text.split("\n")[0]: e.text for e in reader.all(".tile")}
    entries = server.get("/v1/audit/entries?app=shop&limit=1000").json()["entries"]
    verdicts = next(text for title, text in tiles.items() if title.startswith("Verdicts"))
    assert "in the last hour" in verdicts and "✓" in verdicts and "✗" in verdicts
    assert int(re.search(r"\n(\d+) in 24 hours", verdicts)[1]) >= len(entries) > 3
    assert "\n4 in 24 hours" in tiles["Notifications of the stores"]
    assert "this process only" in " ".join(tiles)
    # The hours as a table: all entries are of the last one.
    reader.tab_to("summary", "as a table").send_keys(Keys.ENTER)
    assert len(reader.all(".fold tbody tr")) == 24


def test_home_lists_the_reviews_that_await_an_answer(reader, server):
    reader.driver.get(server.url + "/console")
    item = next(e for e in reader.all(".todo li") if "2000000000000010" in e.text)
    assert "answer within 11 h" in item.text
    reader.follow(".todo a", "Answer")
    assert reader.title == "Refund review 2000000000000010"


def test_home_shows_no_more_than_the_key_may_see(server):
    home = Session(server, server.key_for("verify", app="shop")).get("/console").text
    assert "tile" not in home and "Paste anything" in home and "Latest entries" not in home
    home = Session(server, server.key_for("read", app="other")).get("/console").text
    assert ORIGINAL not in home and "this process only" not in home and "not ready" not in home


@pytest.mark.parametrize(
    ("zone", "label", "hours"), [("UTC", "UTC", 0), ("Asia/Kolkata", "+05:30", 5.5), ("America/Phoenix", "−07:00", -7)]
)
def test_times_are_shown_in_the_chosen_zone(plain_reader, server, zone, label, hours):
    """Without JavaScript: the server writes them."""
    plain_reader.driver.get(server.url + "/console/transactions?app=shop")
    plain_reader.follow(".zone", most=120)
    option = "utc" if zone == "UTC" else "named"
    plain_reader.one(f"input[value={option}]").click()
    if option == "named":
        plain_reader.one(f"option[value='{zone}']").click()
    plain_reader.submit(plain_reader.one("main form button"))
    assert plain_reader.driver.current_url == server.url + "/console/transactions?app=shop"
    shown = plain_reader.one("td time")
    assert shown.text.endswith(label)
    utc = time.strptime(shown.get_attribute("datetime"), "%Y-%m-%dT%H:%M:%SZ")
    local = time.strptime(shown.text.removesuffix(label).strip(), "%Y-%m-%d %H:%M:%S")
    assert time.mktime(local) - time.mktime(utc) == hours * 3600
    assert f"Times in {zone}" in plain_reader.text(".side")


def test_the_zone_of_the_browser_follows_it(reader, server):
    for zone in ("Europe/Zurich", "Pacific/Auckland"):
        reader.command("Emulation.setTimezoneOverride", timezoneId=zone)
        if zone == "Europe/Zurich":
            reader.driver.get(server.url + "/console/time-zone?next=/console/audit")
            reader.one("input[value=browser]").click()
            reader.submit(reader.one("main form button"))
            assert reader.title == "Audit trail"
        else:
            # The first page tells the server, for those that follow.
            reader.driver.get(server.url + "/console/audit")
        reader.wait_for(lambda: reader.driver.refresh() or f"Times in {zone}" in reader.text(".side"))
    assert reader.violations == []
    reader.command("Emulation.setTimezoneOverride", timezoneId="")
    reader.driver.delete_cookie("receipt-console-zone")


def test_zones_that_are_none(server):
    session = Session(server, server.key)
    token = session.token("/console")
    for zone, fields in [
        ("named", {"named": "Mars/Olympus"}), ("named", {"named": "../../etc/passwd"}), ("browser", {}), ("named", {"named": "x" * 9999}),
    ]:  # fmt: skip
        answer = session.post("/console/time-zone", token=token, zone=zone, **fields)
        assert answer.status_code == 400 and "Set-Cookie" not in answer.headers, fields
    answer = session.post("/console/time-zone", token=token, zone="named", named="Europe/Berlin", next="//example.com")
    assert answer.headers["Location"] == "/console"
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and "Path=/console" in cookie
    # What a cookie says and is no zone counts for nothing.
    session.http.cookies.set("receipt-console-zone", "<script>", domain="127.0.0.1", path="/console")
    assert "Times in UTC" in session.get("/console").text


def test_identifiers_are_whole_and_copied(reader, server):
    reader.driver.get(server.url + "/console/entitlements?app=shop")
    link = next(e for e in reader.all(".identifier") if e.get_attribute("textContent") == CUSTOMER)
    assert link.size["width"] < 180
    reader.command("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    button = link.find_element("xpath", "following-sibling::button")
    button.send_keys(Keys.ENTER)
    reader.wait_for(lambda: "done" in button.get_attribute("class"))
    copied = reader.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
    assert copied == CUSTOMER


def test_transactions_have_pages(server):
    session = Session(server, server.key)
    for number in range(60):
        # Of a purchase of its own, so that those of other tests stay on their first page.
        fields = {"transactionId": f"5{number}", "originalTransactionId": "5", "productId": "com.example.app.pages"}
        server.verify(server.transaction(**fields), "shop")
    path, seen = "/console/transactions?product=com.example.app.pages", []
    while path:
        text = session.get(path).text
        seen += re.findall(r'href="/console/audit/entries/(\d+)"', text)
        found = re.search(r'href="([^"]+)" rel="next"', text)
        path = found and found[1].replace("&amp;", "&")
    assert len(seen) == 60 == len(set(seen))
    assert seen == sorted(seen, key=int, reverse=True)


def test_entitlement_has_a_timeline(reader, server):
    reader.driver.get(server.url + f"/console/entitlements?by=customer&value={CUSTOMER}&app=shop")
    assert reader.title == f"Customer {CUSTOMER}"
    reader.driver.get(server.url + READING["entitlement"][0])
    drawing = reader.one("svg.wide-drawing")
    assert drawing.find_elements("css selector", ".segment.access") and drawing.find_elements("css selector", ".segment.ahead")
    events = [e.text for e in reader.all("#history tbody tr td:nth-child(3)")]
    assert {"Refunded", "Refund taken back", "Refund asked for"} <= set(events)
    # What was told, and the entries that the notifications left.
    reader.tab_to("summary", "Changes that were told").send_keys(Keys.ENTER)
    assert "entitlement.granted" in reader.text() and "entitlement.refunded" in reader.text() and "✗ refunded" in reader.text()
    # An event leads to the entry that the notification left, and the entry back.
    row = next(row for row in reader.all("#history tbody tr") if "Refund taken back" in row.text)
    reader.submit(row.find_elements("css selector", "a")[-1])
    assert "The App Store's notification “Refund taken back”" in reader.text()
    reader.follow("main a", ORIGINAL)
    assert reader.title == READING["entitlement"][1]


def test_proof_is_checked_in_the_browser(reader, server):
    reader.driver.get(server.url + "/console/audit/entries/0/proof")
    reader.wait_for(lambda: reader.all("#proof-result li"))
    assert reader.text("#proof-result h2") == "✓ valid"
    lines = [e.text for e in reader.all("#proof-result li")]
    assert lines[0].startswith("✓ The entry is number 0") and "is signed (Ed25519)" in lines[1]
    assert "Whether this key is the trail's" in reader.text("#proof-result")

    def outcome(field: str, old: str, new: str) -> str:
        """What the check says of an altered page."""
        reader.driver.get(server.url + "/console/audit/entries/0/proof")
        reader.wait_for(lambda: reader.all("#proof-result li"))
        reader.script(
            """
            const field = document.getElementById(arguments[0]);
            if (!field.value.includes(arguments[1])) throw new Error("nothing to alter");
            field.value = field.value.replace(arguments[1], arguments[2]);
            document.getElementById("proof-result").replaceChildren();
            """,
            field, old, new,
        )  # fmt: skip
        reader.tab_to("#proof-check")
        reader.press(Keys.ENTER)
        reader.wait_for(lambda: reader.all("#proof-result li"))
        return reader.text("#proof-result")

    assert "✗ The entry does not lead to the root" in outcome("proof-entry", "Production", "Productiom")
    assert "✗ The checkpoint is not signed" in outcome("proof-text", "\n\n—", "\nextension\n\n—")
    assert "✗ invalid" in outcome("proof-text", "index 0", "index 1")
    assert "✗ invalid" in outcome("proof-text", "tlog-proof@v1", "tlog-proof@v2")
    assert reader.violations == []


def test_proof_of_every_entry(reader, server):
    """Trees of any shape: of each entry what the page computes is what the server says."""
    size = server.get("/v1/audit/entries?app=shop&limit=1").json()["entries"][0]["index"]
    for index in sorted({0, 1, 2, 3, size // 2, size - 1}):
        reader.driver.get(server.url + f"/console/audit/entries/{index}/proof")
        reader.wait_for(lambda: reader.all("#proof-result li"))
        assert reader.text("#proof-result h2") == "✓ valid", index


def test_downloaded_proof(receipt_tool, server, tmp_path):
    """What is offered without JavaScript convinces receipt-tool."""
    session = Session(server, server.key)
    answer = session.get("/console/audit/entries/0/tlog-proof")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="entry-0.tlog-proof"'
    (tmp_path / "entry-0.tlog-proof").write_bytes(answer.content)
    page = session.get("/console/audit/entries/0/proof").text
    key = re.search(r'data-key="([^"]+)"', page)[1]
    run = receipt_tool.run("audit", "check", tmp_path / "entry-0.tlog-proof", "--key", key, "--json")
    assert run.code == 0, run.out
    assert "2000000000000001" in run.out


def test_load_is_drawn_and_told(reader, server):
    reader.driver.get(server.url + "/console/load")
    heights = [float(e.get_attribute("height")) for e in reader.all("rect.bar:not(.faults)")]
    assert len(heights) == 60 and max(heights) > 10
    assert reader.one("path.median").get_attribute("d").startswith("M")
    reader.tab_to("summary", "As a table").send_keys(Keys.ENTER)
    assert "0 to 10" in reader.text("table") or "10 to 20" in reader.text("table")


@pytest.mark.long
def test_keys_with_the_keyboard(reader, server):
    reader.driver.get(server.url + "/console/keys")
    reader.tab_to("#key-name")
    reader.press("a key of the test")
    reader.tab_to("input[value=read]")
    reader.press(Keys.SPACE)
    reader.follow("main form button", "Create")
    key = reader.text("#created-key")
    assert server.request("GET", "/v1/audit/entries?app=shop", key).status_code == 200
    # It is shown this once.
    reader.driver.get(server.url + "/console/keys")
    assert key not in reader.driver.page_source
    summary = reader.tab_to("td summary", "a key of the test")
    summary.send_keys(Keys.ENTER)
    reader.follow("button.danger", "a key of the test")
    assert reader.title == "Keys"
    assert server.request("GET", "/v1/audit/entries?app=shop", key).status_code == 401
    reader.driver.get(server.url + "/console/acts")
    acts = reader.text("table")
    assert "key.create" in acts and "key.revoke" in acts and "console.login" in acts


@pytest.mark.long
def test_webhooks_with_the_keyboard(reader, server):
    """Dead letters are replayed: those that the test makes of the deliveries that wait for a backend that is not there."""
    with sqlite3.connect(server.folder / "service.sqlite") as database:
        database.execute("UPDATE deliveries SET state = 1, attempts = 10, error = '<b>refused</b>'")
    database.close()
    reader.driver.get(server.url + "/console/webhooks")
    assert "✗ 4" in reader.text("table") and "<b>refused</b>" in reader.text()
    first = reader.all("table")[1].find_element("css selector", "tbody th .identifier").text
    reader.tab_to("td summary", first).send_keys(Keys.ENTER)
    reader.follow("button.danger", first)
    assert reader.title == "Webhooks" and "✗ 3" in reader.text("table")
    reader.tab_to("td summary", "Replay all").send_keys(Keys.ENTER)
    reader.follow("button.danger", "Deliver all 3 again")
    assert reader.one("td[data-label=Waiting]").text == "4" and len(reader.all("table")) == 1
    reader.driver.get(server.url + "/console/acts")
    assert "webhooks.replay" in reader.text("table")


@pytest.mark.long
def test_log_out_with_the_keyboard(browser, server):
    browser.log_in(server, server.key_for("verify"))
    cookie = browser.driver.get_cookie("receipt-console")["value"]
    browser.follow(".logout button")
    assert browser.title == "Log in"
    # The session has ended, not only its cookie.
    answer = requests.get(server.url + "/console", cookies={"receipt-console": cookie}, allow_redirects=False)
    assert answer.status_code == 303
    browser.log_in(server)


# What strangers wrote


def test_forged_fields_do_nothing(reader, server):
    receipt = server.transaction(productId=FORGED, transactionId=ATTRIBUTE, originalTransactionId=ATTRIBUTE)
    reader.driver.get(server.url + "/console/verify")
    reader.one("#receipt").click()
    reader.paste(receipt)
    reader.submit(reader.one("main form button"))
    found = f"/console/transactions?by=product&value={requests.utils.quote(FORGED)}"
    for path in (None, found, "/console/audit/entries/1", "/console/audit/entries/1/proof"):
        if path:
            reader.driver.get(server.url + path)
        assert FORGED in reader.text("body") or FORGED in reader.one("#proof-entry").get_attribute("value"), path
        assert not reader.all("[onfocus], main script"), path
        assert "forged" != reader.driver.title, path
    assert reader.violations == []


def test_queries_and_forms_are_escaped(server):
    session = Session(server, server.key)
    for path in ("/console/transactions?value=", "/console/entitlements?value=", "/console/login?next="):
        text = session.get(path + requests.utils.quote(FORGED + ATTRIBUTE)).text
        assert "<script>d" not in text and '"\u0301' not in text, path


# Access


def test_headers(server):
    session = Session(server, server.key)
    paths = [path for path, _ in PAGES.values()]
    paths += ["/console/login", "/console/audit/entries/99999999", "/console/assets/console.css", "/console/assets/details.css"]
    for path in paths:
        headers = session.get(path).headers
        assert headers["Content-Security-Policy"] == (
            "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; form-action 'self'; "
            "frame-ancestors 'none'; base-uri 'none'; connect-src 'self'"
        ), path
        assert headers["Referrer-Policy"] == "no-referrer", path
        assert headers["X-Content-Type-Options"] == "nosniff", path
        if "assets" not in path:
            assert headers["Cache-Control"] == "no-store", path


def test_cookie(server):
    session = Session(server)
    answer = session.log_in(server.key)
    assert answer.status_code == 303 and answer.headers["Location"] == "/console"
    cookie = next(c for c in answer.raw.headers.getlist("Set-Cookie") if c.startswith("receipt-console="))
    value, *attributes = cookie.split("; ")
    assert len(base64.urlsafe_b64decode(value.split("=", 1)[1] + "=")) == 32
    # Without Secure: the server has no TLS, and only this machine can connect.
    assert set(attributes) == {"Path=/console", "HttpOnly", "SameSite=Strict", "Max-Age=43200"}


def test_cookie_over_tls(server, store, tmp_path):
    host = store.intermediate.issue("127.0.0.1", validity=pki.CENTURY)
    chain = [x509.load_der_x509_certificate(der) for der in host.full_chain[:2]]
    (tmp_path / "chain.pem").write_bytes(b"".join(c.public_bytes(Encoding.PEM) for c in chain))
    (tmp_path / "key.pem").write_bytes(host.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    secure = Service(tmp_path / "data")
    secure.settings |= {
        "listen.tls.certificates": tmp_path / "chain.pem", "listen.tls.privateKey": tmp_path / "key.pem",
    }  # fmt: skip
    secure.start()
    try:
        session = Session(secure)
        session.http.verify = session.http.trust_env = False
        with warnings.catch_warnings(action="ignore"):
            answer = session.log_in(secure.key)
        assert answer.status_code == 303
        cookies = answer.raw.headers.getlist("Set-Cookie")
        # A connection that is open would be waited for.
        session.http.close()
        assert len(cookies) == 2 and all("Secure" in cookie.split("; ") for cookie in cookies)
    finally:
        assert secure.end() == 0


def test_home_warns_before_the_certificate_of_the_server_expires(store, tmp_path):
    now = datetime.datetime.now(datetime.UTC)
    days = (now - datetime.timedelta(days=80), now + datetime.timedelta(days=9, hours=5))
    host = store.intermediate.issue("127.0.0.1", validity=days)
    chain = [x509.load_der_x509_certificate(der) for der in host.full_chain[:2]]
    (tmp_path / "chain.pem").write_bytes(b"".join(c.public_bytes(Encoding.PEM) for c in chain))
    (tmp_path / "key.pem").write_bytes(host.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    secure = Service(tmp_path / "data")
    secure.settings |= {
        "listen.tls.certificates": tmp_path / "chain.pem", "listen.tls.privateKey": tmp_path / "key.pem",
    }  # fmt: skip
    secure.start()
    try:
        session = Session(secure)
        session.http.verify = session.http.trust_env = False
        with warnings.catch_warnings(action="ignore"):
            session.log_in(secure.key)
            home = session.get("/console").text
        session.http.close()
        assert f"The certificate in {tmp_path / 'chain.pem'} expires in 9 d " in home
    finally:
        assert secure.end() == 0


def test_login_leads_to_the_page_that_was_asked_for_and_nowhere_else(server):
    session = Session(server)
    assert session.get("/console/audit").headers["Location"] == "/console/login?next=%2Fconsole%2Faudit"
    assert session.log_in(server.key, next="/console/audit").headers["Location"] == "/console/audit"
    for foreign in ("https://example.com/", "//example.com", "/console/\\example.com", "/consolex", "/console/\r\nX: y"):
        assert Session(server).log_in(server.key, next=foreign).headers["Location"] == "/console"


@pytest.mark.parametrize("path", ["/console/search", "/console/search/ask", "/console/time-zone", "/console/login", "/console/logout", "/console/verify", "/console/keys", "/console/keys/revoke", "/console/webhooks/replay"])
def test_form_without_its_token(server, path):
    session = Session(server, server.key)
    foreign = Session(server, server.key).token("/console/keys")
    for fields in ({}, {"token": ""}, {"token": foreign}):
        answer = session.post(path, key=server.key, receipt=server.transaction(), name="x", scope="admin", **fields)
        assert answer.status_code == 403, fields
        assert "foreign-form" in answer.text
    # Nothing happened: the session is there still.
    assert session.get("/console").status_code == 200


def test_form_in_another_encoding(server):
    session = Session(server, server.key)
    token = session.token("/console/keys")
    answer = session.http.post(server.url + "/console/keys", data={"token": token, "name": "x", "scope": "admin"})
    assert answer.status_code == 415
    for body in (b"", b"--x", b"--x\r\n\r\n", b"--x\r\nContent-Disposition: form-data\r\n\r\n1\r\n--x--", b"\xff" * 100):
        headers = {"Content-Type": "multipart/form-data; boundary=x"}
        answer = session.http.post(server.url + "/console/keys", data=body, headers=headers)
        assert answer.status_code in (400, 403), body


def test_wrong_keys_are_limited_and_never_lock_out_the_right_one(server):
    """The address may be that of a proxy, by which all come."""
    session = Session(server, address="127.0.0.2")
    wrong = "rk_000000000000_" + "A" * 43
    for _ in range(5):
        assert session.log_in(wrong).status_code == 401
    answer = session.log_in(wrong)
    assert answer.status_code == 429
    assert 1 <= int(answer.headers["Retry-After"]) <= 60
    assert session.log_in(server.key).status_code == 303


def cookies(server, url: str, **headers) -> dict[str, str]:
    """What a browser is told to keep of the login, by the names of the cookies."""
    http = requests.Session()
    answer = http.get(url + "/console/login", headers=headers, timeout=30)
    token = re.search(r'name="token" value="([^"]+)"', answer.text)[1]
    first = answer.headers["Set-Cookie"]
    headers["Cookie"] = first.split(";")[0]
    parts = [("token", (None, token)), ("key", (None, server.key))]
    answer = requests.post(url + "/console/login", files=parts, headers=headers, timeout=30, allow_redirects=False)
    assert answer.status_code == 303
    session, _, _ = answer.headers["Set-Cookie"].partition(", receipt-console-login=")
    return {"login": first, "session": session}


def test_cookies_are_for_https_alone_behind_a_proxy(server, tmp_path):
    """TLS may end at a proxy: `public.url` says so, or the proxy."""
    assert all("Secure" not in cookie for cookie in cookies(server, server.url).values())
    forwarded = cookies(server, server.url, **{"X-Forwarded-Proto": "https"})
    assert all("; Secure" in cookie for cookie in forwarded.values()), forwarded
    other = Service(tmp_path / "data")
    other.settings["public.url"] = "https://receipts.example.com"
    other.start()
    assert all("; Secure" in cookie for cookie in cookies(other, other.url).values())
    assert other.end() == 0


@pytest.mark.parametrize("scopes", [("verify",), ("read",), ("admin",)], ids="".join)
def test_scopes_decide_which_pages_open(server, scopes):
    needed = {name: "read" for name in READING} | {"verify": "verify", "keys": "admin", "acts": "admin", "webhooks": "admin"}
    session = Session(server, server.key_for(*scopes))
    assert session.get("/console").status_code == 200
    for name, scope in needed.items():
        answer = session.get(PAGES[name][0])
        assert answer.status_code == (200 if scope in scopes else 403), name
    navigation = re.findall(r'<li><a href="([^"?]+)"', session.get("/console").text)
    assert {path for path in navigation} - {"/console"} == {
        PAGES[name][0].partition("?")[0]
        for name, scope in needed.items()
        if scope in scopes and PAGES[name][0].count("/") == 2 and name not in ("search", "customer", "nobody")
    }


def test_entitlements_are_granted_and_withdrawn(server):
    page = f"/console/customer?id={requests.utils.quote(FORGED)}&app=shop"
    session, reader = (Session(server, server.key_for("read", *more, app="shop")) for more in (["grant"], []))
    token = session.token(page)
    fields = {"token": token, "app": "shop", "customer": FORGED, "entitlement": "premium", "reason": FORGED, "days": "30"}
    assert reader.post("/console/grants", **fields | {"token": session.token(page)}).status_code == 403
    assert session.post("/console/grants", **fields | {"token": "forged"}).status_code == 403
    assert session.post("/console/grants", **fields | {"reason": ""}).status_code == 400
    assert session.post("/console/grants", **fields | {"entitlement": "gold"}).status_code == 404
    assert session.post("/console/grants", **fields).status_code == 303
    text = session.get(page).text
    assert "✓ active" in text and FORGED not in text and FORGED in html.unescape(text)
    (grant,) = set(re.findall(r"gr_[0-9a-f]{32}", text))
    assert "/console/grants" not in reader.get(page).text
    withdrawal = {"token": token, "app": "shop", "customer": FORGED, "id": grant}
    assert session.post("/console/grants/withdraw", **withdrawal | {"customer": "bob"}).status_code == 404
    assert session.post("/console/grants/withdraw", **withdrawal).status_code == 303
    assert "withdrawn" in session.get(page).text
    (access,) = server.get(f"/v1/customers/{requests.utils.quote(FORGED, safe='')}/entitlements?app=shop").json()["access"]
    assert access["standing"] == "revoked"


def test_a_refund_review_is_skipped(server):
    page = "/console/refund-reviews/2000000000000010?app=shop"
    session = Session(server, server.key_for("read", "review", app="shop"))
    text = session.get(page).text
    name = html.unescape(re.search(r'name="review" value="([^"]+)"', text)[1])
    fields = {"token": session.token(page), "app": "shop", "review": name, "sample": "false", "delivery": "DELIVERED"}
    # Without the customer's consent nothing is sent; with it there are no credentials here.
    assert session.post("/console/refund-reviews", **fields).status_code == 422
    assert session.post("/console/refund-reviews", **fields, consent="true", share="200").status_code == 400
    assert session.post("/console/refund-reviews", **fields, consent="true").status_code == 409
    assert session.post("/console/refund-reviews", **fields, skip="true").status_code == 303
    assert "skipped" in session.get(page).text and 'name="review"' not in session.get(page).text


def test_key_of_one_app_sees_nothing_of_another(server):
    session = Session(server, server.key_for("verify", "read", "admin", app="other"))
    text = session.get("/console/transactions").text
    assert "2000000000000010" not in text and ">7</a>" in text
    for path in (
        "/console/audit/entries/0", "/console/audit/entries/0/proof", "/console/audit/entries/0/tlog-proof",
        f"/console/entitlements/{ORIGINAL}", f"/console/entitlements/{ORIGINAL}?app=shop",
        "/console/transactions?app=shop", "/console/webhooks?app=shop", f"/console/customer?app=shop&id={CUSTOMER}", "/console/load", "/console/acts", "/console/no-page",
        # Nobody's, as no bundle identifier is known.
        "/console/audit/entries/3",
    ):  # fmt: skip
        assert session.get(path).status_code == 404, path
    text = session.get(f"/console/customer?id={CUSTOMER}").text
    assert CUSTOMER in text and ORIGINAL not in text
    assert "test verify read admin" in session.get("/console/keys").text
    assert "development" not in session.get("/console/keys").text


def test_entries_of_refused_receipts_are_those_of_the_app_that_refused_them(server):
    assert Session(server, server.key_for("read", app="shop")).get("/console/audit/entries/3").status_code == 200
    assert Session(server, server.key_for("read", app="other")).get("/console/audit/entries/3").status_code == 404
    assert Session(server, server.key).get("/console/audit/entries/3").status_code == 200


def test_revoked_key_ends_its_sessions(server):
    answer = server.post("/v1/keys", json={"name": "soon gone", "scopes": ["read"]})
    session = Session(server, answer.json()["key"])
    assert session.get("/console").status_code == 200
    assert server.request("DELETE", f"/v1/keys/{answer.json()['id']}").status_code == 204
    assert session.get("/console").status_code == 303


def test_page_of_webhooks_has_no_secret(server):
    """A token in the query of a URL is one."""
    text = Session(server, server.key).get("/console/webhooks?app=shop").text
    assert "http://127.0.0.1:9/changes" in text and "s3cr3t" not in text


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS"])
def test_other_methods(server, method):
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=30)
    connection.request(method, "/console/keys")
    answer = connection.getresponse()
    assert answer.status == 405 and answer.getheader("Allow") == "GET, HEAD, POST"
    connection.close()


def test_console_can_be_turned_off(server):
    process = subprocess.Popen(
        [program(), "serve", *server.arguments, "--set", "console=false", "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        url = re.search(rb'"url":"([^"]+)"', process.stdout.readline())[1].decode()
        assert requests.get(url + "/console/login", timeout=30).status_code == 404
        assert requests.get(url + "/healthz", timeout=30).status_code == 200
    finally:
        process.terminate()
        process.wait(timeout=30)
        process.stdout.close()
