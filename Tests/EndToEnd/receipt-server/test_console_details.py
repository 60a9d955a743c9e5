# SPDX-License-Identifier: Apache-2.0
"""The pages of a verdict, a customer, an entitlement, an entry and a refund review: what they say of a life, how long they are,
where their links lead, and what strangers can do to them."""

import html
import json
import random
import re
import time
import urllib.parse

import pytest
import requests
import samples
from browser import DESKTOP, PHONE
from customers import DAY, FIRST_GEMS, GEMS, MONTHLY, SUBSCRIPTION, YEARLY, CustomerShops
from independent import app_receipt, jws
from shops import CUSTOMER
from selenium.webdriver.common.keys import Keys
from test_console import Session, assert_is_accessible

# Three screens of each width.
SCREENS = {DESKTOP: 3 * 800, PHONE: 3 * 844}
CROWD, STRANGER = "0b2b7f0e-2f0a-4c0e-9d6a-0a8f3c1d2e4b", "<b>\u202e\"' a stranger"
HOSTILE = "<script>document.title='forged'</script>" + "مشتريات" + "\u202e" + "x" * 10_000


def customer(id: str, app: str = "shop") -> str:
    return f"/console/customer?app={app}&id={urllib.parse.quote(id)}"


def entitlement(id) -> str:
    return f"/console/entitlements/{urllib.parse.quote(str(id), safe='')}?app=shop"


@pytest.fixture(scope="module")
def server(store, tmp_path_factory):
    server = CustomerShops(tmp_path_factory.mktemp("server"), store)
    server.live()
    stranger = {"appAccountToken": None, "productId": HOSTILE, "transactionId": "7\"'<i>", "originalTransactionId": "7\"'<i>"}
    present(server, STRANGER, server.transaction(**stranger))
    server.app = {"app": "shop"}
    yield server
    assert server.end() == 0


def present(server, customer: str, receipt: str) -> requests.Response:
    path = f"/v1/customers/{urllib.parse.quote(customer, safe='')}/receipts?app=shop"
    answer = server.post(path, data=receipt)
    assert answer.status_code == 200, answer.text
    return answer


def log_in(browser, server) -> None:
    browser.command("Network.clearBrowserCookies")
    browser.driver.get(server.url + "/console/login")
    browser.press(server.key)
    browser.press(Keys.ENTER)
    browser.wait_for(lambda: browser.title != "Log in")


@pytest.fixture(scope="module")
def reader(browser, server):
    log_in(browser, server)
    return browser


@pytest.fixture(scope="module")
def plain_reader(plain_browser, server):
    log_in(plain_browser, server)
    return plain_browser


@pytest.fixture(scope="module")
def session(server):
    return Session(server, server.key)


def transaction(server, **changes) -> str:
    """A transaction of the customer's subscription, as it is now unless changes say otherwise."""
    bought = server.now - 40 * DAY
    payload = samples.TRANSACTION | {
        "originalTransactionId": str(SUBSCRIPTION), "transactionId": str(SUBSCRIPTION + 20), "productId": YEARLY,
        "purchaseDate": bought, "originalPurchaseDate": server.now - 400 * DAY, "expiresDate": bought + 365 * DAY,
        "signedDate": bought + 1000, "appAccountToken": CUSTOMER,
    } | changes  # fmt: skip
    return jws.sign({name: value for name, value in payload.items() if value is not None}, server.leaf)


def receipts(server, store) -> dict:
    """Receipts with each verdict, by what they are."""
    valid = transaction(server)
    gems = server.gems(1, 120) | {"signedDate": server.now - 119 * DAY}
    in_apps = [app_receipt.in_app(str(1000000000000101 + number)) for number in range(40)]
    return {
        "active": valid,
        "expired": transaction(server, transactionId=str(SUBSCRIPTION + 3), productId=MONTHLY, expiresDate=server.now - 280 * DAY),
        "refunded later": transaction(server, **gems),
        "unknown to the server": transaction(server, transactionId="5", originalTransactionId="5"),
        "sandbox": transaction(server, transactionId="6", originalTransactionId="6", environment="Sandbox"),
        "altered": valid[:-6] + "AAAAAA",
        "of another app": transaction(server, bundleId="com.example.other"),
        "no receipt": "hello",
        "app receipt": app_receipt.sign(app_receipt.payload(*in_apps), store.leaf("rsa2048")),
        "hostile": transaction(server, productId=HOSTILE, appAccountToken=None, transactionId=HOSTILE, originalTransactionId="8"),
        "hostile and altered": transaction(server, productId=HOSTILE, transactionId=HOSTILE)[:-6] + "AAAAAA",
    }  # fmt: skip


def verify(session, receipt, **fields) -> str:
    name = "file" if isinstance(receipt, bytes) else "receipt"
    answer = session.post("/console/verify", token=session.token("/console/verify"), app="shop", **{name: receipt}, **fields)
    assert answer.status_code == 200, answer.text
    return answer.text


def show(reader, server, path: str, page: str) -> None:
    """Shows a page that was posted for."""
    reader.driver.get(server.url + path)
    reader.script("document.open(); document.write(arguments[0]); document.close();", page)
    reader.wait_for(lambda: reader.script("return document.readyState") == "complete" and reader.all(".verdict"))


def visible(page: str) -> str:
    """The text of a page, in one line."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())


# A verdict


def test_a_verdict_says_three_things_and_the_next_step(server, store, session):
    expected = {
        "active": ("✓ yes", "✓ active", "✓ yes", "Grant what is active."),
        "expired": ("✓ yes", "✗ expired", "✗ no", "Restore purchases"),
        # The receipt was signed before the refund; the notification of it came later.
        "refunded later": ("✓ yes", "✗ refunded", "✗ no", "withdraw what was granted"),
        "unknown to the server": ("✓ yes", "✓ active", "✓ yes", "Grant what is active."),
        "altered": ("✗ no", "? not known", "✗ no", "something in it was changed"),
        "of another app": ("✓ yes, but not accepted", "? not known", "✗ no", "a receipt of another app"),
        "no receipt": ("✗ no", "? not known", "✗ no", "Ask for the receipt again"),
        "app receipt": ("✓ yes", "✓ active", "✓ yes", "Grant what is active."),
    }
    samples_of = receipts(server, store)
    for name, (genuine, stands, grants, step) in expected.items():
        text = visible(verify(session, samples_of[name]))
        assert f"Genuine: {genuine}" in text, name
        assert f"Stands: {stands}" in text, name
        assert f"Grants access: {grants}" in text, name
        assert step in text.partition("Next:")[2], name
    assert "The store said so after the receipt was signed." in visible(verify(session, samples_of["refunded later"]))


def test_what_was_not_verified_is_marked(server, store, session):
    samples_of = receipts(server, store)
    for name in ("altered", "of another app"):
        page = verify(session, samples_of[name])
        assert "What it says" not in page and "not verified" in page, name
        # Claims stand in the marked box and in what is folded, and lead nowhere.
        head, _, rest = page.partition('<section class="unverified">')
        assert YEARLY not in visible(head), name
        assert "/console/customer?" not in page and f"/entitlements/{SUBSCRIPTION}" not in page, name
        assert YEARLY in visible(rest.partition("</section>")[0]), name
    page = verify(session, samples_of["active"])
    assert "What it says" in page and "not verified" not in page


def test_a_verdict_has_three_screens_before_anything_folded(reader, server, store, session):
    for name, receipt in receipts(server, store).items():
        show(reader, server, "/console/verify", verify(session, receipt))
        for width, height in SCREENS.items():
            reader.width(width)
            assert reader.script("return document.documentElement.scrollHeight") <= height, (name, width)
            assert reader.script("return document.documentElement.scrollWidth") <= width, (name, width)
        assert reader.script("return document.querySelectorAll('main details[open]').length") == 0
        assert not reader.all("main script"), name
    reader.width(DESKTOP)


def state_of(server, session) -> dict:
    """All that a verdict could leave behind, as far as a client can see."""
    query = {"app": "shop"}
    metrics = server.get("/metrics").text if server.get("/metrics").status_code == 200 else ""
    return {
        "entries": server.get("/v1/audit/entries", params=query | {"limit": 1000}).json(),
        "entitlements": server.get(f"/v1/customers/{CUSTOMER}/entitlements", params=query).json(),
        "history": server.get(f"/v1/entitlements/{SUBSCRIPTION}/history", params=query).json(),
        "nobody": server.get("/v1/customers/nobody/entitlements", params=query).json(),
        "changes": server.get("/v1/changes", params=query | {"limit": 1000}).json(),
        "acts": visible(session.get("/console/acts").text),
        "webhooks": server.get("/v1/webhooks", params=query).json(),
        "verdicts": sorted(line for line in metrics.splitlines() if "verdict" in line),
        "tables": tables(server),
    }


def tables(server) -> dict:
    """The number of rows of each table, but for the login and the key's last use."""
    import sqlite3

    counts = {}
    for name in ("service.sqlite", "audit.sqlite"):
        with sqlite3.connect(server.folder / name) as database:
            names = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            for table in names:
                if table not in ("sessions", "lanes", "deliveries", "delivered"):
                    counts[f"{name} {table}"] = database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        database.close()
    return counts


def test_nothing_is_recorded_by_a_paste(server, store):
    session = Session(server, server.key)
    server.proof(0)
    common = {"appAccountToken": "0b2b7f0e-0000-4c0e-9d6a-0a8f3c1d2e4b"}
    fresh = {
        name: transaction(server, transactionId=f"77{number}", originalTransactionId=f"77{number}", **common)
        for number, name in enumerate(("valid", "another"))
    }
    pastes = receipts(server, store) | fresh | {"altered again": fresh["valid"][:-6] + "AAAAAA"}
    # What earlier requests caused is published before the comparison.
    time.sleep(2)
    before = state_of(server, session)
    for receipt in pastes.values():
        assert "Nothing was recorded." in verify(session, receipt)
    time.sleep(2)
    assert state_of(server, session) == before
    # Asked for, it is, once, and says so.
    page = verify(session, fresh["valid"], record="true")
    entry = re.search(r'href="/console/audit/entries/(\d+)">Entry \1<', page)[1]
    after = server.get("/v1/audit/entries", params={"app": "shop", "limit": 1}).json()["entries"][0]
    assert after["index"] == int(entry) and after["transactionId"] == "770"
    assert "The same verdict was recorded before." in verify(session, fresh["valid"], record="true")
    # A later look at the same receipt, which records nothing, finds the entry.
    assert f"entry {entry}, on" in visible(verify(session, fresh["valid"]))


def test_the_box_that_records_is_not_checked(session):
    page = session.get("/console/verify").text
    (box,) = re.findall(r"<input[^>]*name=\"record\"[^>]*>", page)
    assert "checked" not in box
    assert "stays for good" in visible(page)


def test_a_verdict_leads_to_the_customer_the_entitlement_the_entry_and_the_transaction(server, session):
    page = verify(session, transaction(server))
    links = [html.unescape(link) for link in re.findall(r'<a[^>]* href="([^"]+)"', page)]
    assert f"/console/customer?id={CUSTOMER}&app=shop" in links
    assert f"/console/entitlements/{SUBSCRIPTION}?app=shop" in links
    assert f"/console/transactions?transaction={SUBSCRIPTION + 20}" in links
    assert any(re.fullmatch(r"/console/audit/entries/\d+", link) for link in links)


def test_a_key_that_may_not_read_gets_the_verdict_and_no_history(server):
    session = Session(server, server.key_for("verify", app="shop"))
    page = verify(session, transaction(server))
    assert "Grants access: ✓ yes" in visible(page)
    assert "/console/customer?" not in page and "/console/entitlements/" not in page and "Renewed" not in page


# A customer


def events(session, path: str) -> list[tuple[str, str, str]]:
    """The events of a page and of those after it: when it happened, what, and when this server heard of it."""
    found = []
    while path:
        page = session.get(path).text.partition('id="history"')[2].partition("</section>")[0]
        table = page.partition("<tbody")[2].partition("</tbody>")[0]
        for row in table.split("<tr ")[1:]:
            times = re.findall(r'<time datetime="([^"]+)"', row)
            found.append((times[0], visible(re.search(r'class="chip[^>]*>(.*?)</span>', row)[1]), times[-1]))
        further = re.search(r'href="([^"]*events-from=[^"]*)" rel="next"', page)
        path = further and html.unescape(further[1])
    return found


def test_the_timeline_has_the_order_of_the_store(server, session):
    """The notifications came in another order than the store signed them."""
    found = events(session, customer(CUSTOMER))
    times = [time for time, _, _ in found]
    assert times == sorted(times, reverse=True), found
    arrivals = [arrival for _, _, arrival in found]
    assert arrivals != sorted(arrivals, reverse=True)
    kinds = [what for _, what, _ in reversed(found)]
    assert kinds == [
        "Subscribed", *["Renewed"] * 3, "Bought", *["Renewed"] * 5, "Renewal switched off", "Expired", "Bought", "Refunded",
        "Subscribed again", "Bought", "Refund asked for", "Granted by hand",
    ]  # fmt: skip
    # By the day: each event happened when the store says so.
    days = {what: time[:10] for time, what, _ in found}

    def day(days_ago: float) -> str:
        return time.strftime("%Y-%m-%d", time.gmtime(server.now / 1000 - days_ago * 86_400))

    assert days["Subscribed"] == day(400) and days["Refunded"] == day(100) and days["Subscribed again"] == day(40)
    # The end of the last paid month, of which a notification came.
    assert days["Expired"] == day(400 - 9 * 30)


def test_the_timeline_is_the_same_in_any_order_of_arrival(server, session, store, tmp_path):
    other = CustomerShops(tmp_path / "data", store)
    other.now = server.now
    told = other.subscription()
    random.Random(99).shuffle(told)
    for signed in told:
        other.deliver(signed)
    try:
        found = [(when, what) for when, what, _ in events(Session(other, other.key), entitlement(SUBSCRIPTION))]
        assert found == [(when, what) for when, what, _ in events(session, entitlement(SUBSCRIPTION))]
    finally:
        assert other.end() == 0


def test_a_customer_has_everything_on_one_page(server, session):
    server.backend.refuses = False
    deadline = time.monotonic() + 30
    while server.get("/v1/webhooks", params=server.app).json()["endpoints"][0]["waiting"]:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    page = session.get(customer(CUSTOMER)).text
    text = visible(page)
    assert "Has premium and gems." in text
    assert "premium: active" in text and "by hand" in text and "App Store" in text
    assert "The store asks about a refund." in text and f"/console/refund-reviews/{FIRST_GEMS + 2}?app=shop" in page
    assert "Two weeks for the outage of May" in text and "✓ delivered" in text
    # When the backend was told.
    assert re.search(r"✓ delivered</span> ?<span class=\"quiet\">\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", page)
    nothing = visible(session.get(customer("nobody")).text)
    assert "This server knows nothing of this customer." in nothing and "Check the spelling" in nothing
    assert "No grants by hand" in nothing and "Grant by hand…" in nothing


def test_what_the_backend_refused_is_shown_with_the_next_attempt(server, session):
    server.backend.refuses = True
    try:
        name = "somebody whose backend is away"
        present(server, name, transaction(server, appAccountToken=None, transactionId="31", originalTransactionId="31"))
        deadline = time.monotonic() + 30
        while "waiting, 1 try" not in (text := visible(session.get(customer(name)).text)):
            assert time.monotonic() < deadline, text
            time.sleep(0.1)
        assert re.search(r"waiting, 1 try next try \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC; .*500", text), text
    finally:
        server.backend.refuses = False


def test_links_lead_in_both_directions_and_to_pages(server, session):
    """Each link of the pages of details leads to a page."""
    seen, todo = set(), [customer(CUSTOMER), entitlement(SUBSCRIPTION), entitlement(FIRST_GEMS + 2)]
    first = set(todo)
    while todo:
        path = todo.pop()
        if path in seen:
            continue
        seen.add(path)
        answer = session.get(path)
        assert answer.status_code in (200, 303), path
        # The pages of others are not searched for further links.
        if not path.startswith(("/console/customer?", "/console/entitlements/", "/console/audit/entries/", "/console/refund-reviews/")):
            continue
        main = answer.text.partition("<main")[2]
        links = {html.unescape(link) for link in re.findall(r'<a[^>]* href="([^"#]+)[^"]*"', main)}
        todo += [link for link in links if link not in seen and (path in first or "start=" not in link)]
    assert len(seen) > 30
    for path in (entitlement(SUBSCRIPTION), f"/console/refund-reviews/{FIRST_GEMS + 2}?app=shop"):
        assert path in seen
        assert f"/console/customer?id={CUSTOMER}" in session.get(path).text.replace("&amp;", "&"), path


def boxes(reader, selector: str) -> list[dict]:
    return reader.script(
        """
        return [...document.querySelectorAll(arguments[0])].filter((e) => e.checkVisibility()).map((e) => {
          const box = e.getBoundingClientRect();
          return { text: e.textContent, left: box.left, right: box.right, top: box.top, bottom: box.bottom };
        });
        """,
        selector,
    )


def assert_apart(found: list[dict], width: int, where) -> None:
    for index, one in enumerate(found):
        assert 0 <= one["left"] and one["right"] <= width, (where, one)
        for other in found[index + 1 :]:
            is_apart = (
                one["right"] <= other["left"] or other["right"] <= one["left"]
                or one["bottom"] <= other["top"] or other["bottom"] <= one["top"]
            )  # fmt: skip
            assert is_apart, (where, one, other)


@pytest.mark.parametrize("path", [customer(CUSTOMER), entitlement(SUBSCRIPTION), customer(CROWD, "other"), customer(STRANGER)],
                         ids=["customer", "entitlement", "crowd", "stranger"])  # fmt: skip
def test_labels_do_not_overlap(reader, server, crowd, path):
    for window in ("", "&start=2000-01-01T00:00:00Z&end=2000-01-02T00:00:00Z", f"&start={instant(server, 41)}&end={instant(server, 39)}"):
        reader.driver.get(server.url + path + window)
        for width in (320, PHONE, 761, DESKTOP, 1920):
            reader.width(width)
            assert reader.script("return document.documentElement.scrollWidth") <= width, width
            labels = boxes(reader, ".timeline .number, .timeline .date, .timeline .lane")
            if labels or not window:
                # Both ends are labelled.
                assert len([label for label in labels if re.match(r"\d{4}-", label["text"])]) >= 2
            assert_apart(labels, width, (width, window))
    reader.width(DESKTOP)


def instant(server, days_ago: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(server.now / 1000 - days_ago * 86_400))


def test_the_timeline_is_zoomed_by_links_that_keep_the_address(plain_reader, server):
    """Without JavaScript: the state is in the address."""
    plain_reader.driver.get(server.url + customer(CUSTOMER) + "&told-from=0")
    count = len(plain_reader.all("#history tbody tr"))
    links = {e.text: e.get_attribute("href") for e in plain_reader.all(".zooms a")}
    assert {"All", "Year", "90 days", "30 days", "7 days", "+"} == set(links)
    plain_reader.driver.get(links["30 days"])
    address = urllib.parse.parse_qs(urllib.parse.urlsplit(plain_reader.driver.current_url).query)
    assert {"id", "app", "start", "end", "told-from"} == set(address) and address["id"] == [CUSTOMER]
    events = [row.text for row in plain_reader.all("#history tbody tr td:nth-child(3)")]
    assert events == ["Granted by hand", "Refund asked for", "Bought"] and count > 3
    # The numbers are those of the whole history.
    assert plain_reader.all("#history tbody th")[0].text == "18"
    current = [e.text for e in plain_reader.all(".zooms [aria-current]")]
    assert current == ["30 days"]
    links = {e.text: e.get_attribute("href") for e in plain_reader.all(".zooms a")}
    assert {"‹", "›", "−"} <= set(links)
    plain_reader.driver.get(links["‹"])
    assert "Subscribed again" in plain_reader.text("#history tbody")
    # Nothing happened then, and the page says how to go on.
    for path in ("&start=2001-01-01T00:00:00Z&end=2001-02-01T00:00:00Z", f"&start={instant(server, 70)}&end={instant(server, 60)}"):
        plain_reader.driver.get(server.url + customer(CUSTOMER) + path)
    assert "Nothing happened in this time" in plain_reader.text("#history")


@pytest.mark.parametrize("query", ["start=yesterday", "end=2026-13-01T00:00:00Z", "start=%00", "events-from=x"])
def test_an_address_that_was_altered(session, query):
    assert session.get(customer(CUSTOMER) + "&" + query).status_code == 400


@pytest.mark.parametrize("query", ["", "?id=", "?app=shop"])
def test_a_customer_needs_a_name(session, query):
    assert session.get("/console/customer" + query).status_code == 400


# Strangers, and many


@pytest.fixture(scope="module")
def crowd(server):
    """A customer of the other app who bought gems a thousand times."""
    key = server.key_for("read", app="other")
    with requests.Session() as http:
        for number in range(1000):
            at = server.now - (number + 1) * 3_600_000
            gems = server.gems(number, 0) | {"purchaseDate": at, "originalPurchaseDate": at, "bundleId": "com.example.other"}
            gems |= {"transactionId": f"3{number:09}", "originalTransactionId": f"3{number:09}", "appAccountToken": CROWD}
            signed = server.notification("ONE_TIME_CHARGE", None, at, data={"bundleId": "com.example.other"}, **gems)
            answer = http.post(f"{server.url}/v1/notifications/other", json={"signedPayload": signed}, timeout=60)
            assert answer.status_code == 200, answer.text
    return key


def test_a_customer_with_a_thousand_purchases_has_pages(server, crowd):
    session, path = Session(server, crowd), customer(CROWD, "other")
    start = time.monotonic()
    page = session.get(path).text
    assert time.monotonic() - start < 10
    assert len(page) < 200_000 and "1 to 25 of 1000" in page and "1 to 10 of 1" in page
    seen = []
    for first in (0, 25, 500, 975):
        page = session.get(f"{path}&purchases-from={first}").text
        assert len(page) < 200_000
        table = page.partition("Purchases</caption>")[2].partition("</table>")[0]
        seen += re.findall(r"/console/entitlements/(\d+)\?", table)
        # The drawing has a bound, too.
        assert page.count("<circle") < 500 and page.count('class="number"') < 40
    assert len(seen) == 100 == len(set(seen))
    assert "Back" in page and 'rel="next">Further</a></nav>' not in table


def test_hostile_texts_do_nothing(reader, server, session, store):
    paths = [customer(STRANGER), entitlement("7\"'<i>"), customer(HOSTILE[:500])]
    for path in paths:
        for width in (PHONE, DESKTOP):
            reader.width(width)
            reader.driver.get(server.url + path)
            assert reader.script("return document.documentElement.scrollWidth") <= width, (path, width)
            assert not reader.all("main script, main b, main i"), path
            assert "forged" not in reader.driver.title, path
        assert_is_accessible(reader)
    for name in ("hostile", "hostile and altered"):
        page = verify(session, receipts(server, store)[name])
        show(reader, server, "/console/verify", page)
        assert "forged" != reader.driver.title and not reader.all("main script")
        # The direction of the text around it is not changed, and it is cut off.
        assert "\u202e" not in page and "x" * 3000 not in page.replace("\n", "").partition("<textarea")[0], name
    reader.width(DESKTOP)


def test_pages_of_details_are_accessible(reader, server):
    for scheme in ("light", "dark"):
        reader.scheme(scheme)
        for path in (customer(CUSTOMER), entitlement(SUBSCRIPTION), f"/console/refund-reviews/{FIRST_GEMS + 2}?app=shop",
                     "/console/audit/entries/0", "/console/audit/entries/0/proof"):  # fmt: skip
            reader.driver.get(server.url + path)
            assert_is_accessible(reader)
            # What is a column in a wide window is named by each cell in a narrow one.
            assert all(e.get_attribute("data-label") for e in reader.all("main tbody td, main tbody th")), path
            assert all(e.get_attribute("aria-label") for e in reader.all(".zooms a")), path
            drawing = reader.all("svg.timeline")
            assert all("The table below says the same" in e.get_attribute("aria-label") for e in drawing)
    reader.scheme("light")


def test_the_folds_are_opened_with_the_keyboard(reader, server):
    for path, fold, hidden in (
        (entitlement(SUBSCRIPTION), "Every field", "originalPurchaseDate"),
        ("/console/audit/entries/0", "Every recorded field", "policySha256"),
        ("/console/audit/entries/0", "The entry as it is recorded", "receipt "),
    ):
        reader.driver.get(server.url + path)
        assert hidden not in reader.text(), (path, hidden)
        reader.tab_to("summary", fold).send_keys(Keys.ENTER)
        assert hidden in reader.text(), (path, hidden)


def test_reading_the_pages_needs_no_javascript(plain_reader, server):
    plain_reader.driver.get(server.url + customer(CUSTOMER))
    assert "Renewal switched off" in plain_reader.text() or plain_reader.all("a[rel=next]")
    plain_reader.driver.get(server.url + entitlement(SUBSCRIPTION))
    plain_reader.all("details summary")[-1].click()
    assert "SUBSCRIBED" in plain_reader.text()


def test_a_grant_and_its_withdrawal_are_on_the_timeline(server):
    session = Session(server, server.key_for("read", "grant", app="shop"))
    name = "somebody new"
    fields = {"token": session.token(customer(name)), "app": "shop", "customer": name, "entitlement": "premium", "reason": "test"}
    assert session.post("/console/grants", **fields).status_code == 303
    page = session.get(customer(name)).text
    assert "Has premium." in visible(page)
    (grant,) = set(re.findall(r"gr_[0-9a-f]{32}", page))
    withdrawal = {"token": fields["token"], "app": "shop", "customer": name, "id": grant}
    assert session.post("/console/grants/withdraw", **withdrawal).status_code == 303
    assert [what for _, what, _ in events(session, customer(name))] == ["Grant withdrawn", "Granted by hand"]
    assert "Has none of the entitlements" in visible(session.get(customer(name)).text)
    text = visible(session.get(entitlement(grant)).text)
    assert "test" in text and "premium" in text


def test_a_refund_review_says_what_to_do(server, session):
    path = f"/console/refund-reviews/{FIRST_GEMS + 2}?app=shop"
    page = session.get(path).text
    text = visible(page)
    assert "The store asks whether to refund com.example.app.gems. It takes an answer for another 11 h" in text
    assert "Next: Suggested: undecided, because nothing is known of its use." in text
    assert f"/console/entitlements/{FIRST_GEMS + 2}?app=shop" in page
    reader = Session(server, server.key_for("read", app="shop"))
    assert "This key may not answer" in visible(reader.get(path).text)


def test_an_erased_customer_leaves_the_pages(server, session):
    name = "somebody to erase"
    original = "4000000000000001"
    present(server, name, transaction(server, appAccountToken=None, transactionId=original, originalTransactionId=original))
    assert original in session.get(customer(name)).text
    answer = server.request("DELETE", f"/v1/customers/{urllib.parse.quote(name)}?app=shop")
    assert answer.status_code in (200, 202), answer.text
    deadline = time.monotonic() + 60
    while original in session.get(customer(name)).text:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert session.get(entitlement(original)).status_code == 404
    entries = json.loads(server.get("/v1/audit/entries", params=server.app | {"limit": 50}).text)["entries"]
    erased = next(entry for entry in entries if entry.get("originalTransactionId") == original)
    text = visible(session.get(f"/console/audit/entries/{erased['index']}").text)
    assert "were erased" in text and name not in text
