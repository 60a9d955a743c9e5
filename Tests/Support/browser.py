# SPDX-License-Identifier: Apache-2.0
"""A browser: Chromium without a window, driven by Selenium."""

import shutil

from selenium import webdriver
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait

PHONE, DESKTOP = 390, 1280


def absence() -> str | None:
    """Why there is no browser; `None` where there is one."""
    missing = [name for name in ("chromium", "chromedriver") if not shutil.which(name)]
    return f"no {' and no '.join(missing)} on this machine" if missing else None


class Browser:
    def __init__(self, javascript: bool = True):
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        # As root, in containers, there is no sandbox to be had.
        for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        if not javascript:
            options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
        self.driver = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))
        self.driver.set_page_load_timeout(30)
        self.width(DESKTOP)

    def close(self):
        self.driver.quit()

    def log_in(self, server, key: str | None = None):
        """Into the console of a server, with the keyboard: the field has the focus when the page is there."""
        self.command("Network.clearBrowserCookies")
        self.driver.get(server.url + "/console")
        self.press(key or server.key)
        self.press(Keys.ENTER)
        self.wait_for(lambda: self.title == "Home")

    # What it is

    def width(self, pixels: int, height: int = 900):
        self.command("Emulation.setDeviceMetricsOverride", width=pixels, height=height, deviceScaleFactor=1, mobile=False)

    def scheme(self, name: str):
        """`light` or `dark`."""
        # Without the transitions, in which colours are between two.
        features = {"prefers-color-scheme": name, "prefers-reduced-motion": "reduce"}
        self.command("Emulation.setEmulatedMedia", features=[{"name": n, "value": v} for n, v in features.items()])

    def command(self, name: str, **parameters):
        return self.driver.execute_cdp_cmd(name, parameters)

    def script(self, text: str, *arguments):
        return self.driver.execute_script(text, *arguments)

    # What is there

    def all(self, selector: str):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector: str):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def text(self, selector: str = "main") -> str:
        return self.one(selector).text

    def wait_for(self, condition, seconds: float = 10):
        # Pages come and go meanwhile.
        wait = WebDriverWait(self.driver, seconds, 0.05, [NoSuchElementException, StaleElementReferenceException])
        return wait.until(lambda _: condition())

    @property
    def title(self) -> str:
        return self.text("h1")

    @property
    def violations(self) -> list[str]:
        """What the browser complained about since this was last asked for, answers with errors apart."""
        entries = self.driver.get_log("browser")
        return [e["message"] for e in entries if "Failed to load resource" not in e["message"]]

    # What a hand on the keyboard does

    def press(self, *keys: str):
        ActionChains(self.driver).send_keys(*keys).perform()

    def paste(self, text: str):
        """Into the field that has the focus."""
        self.command("Input.insertText", text=text)

    def tab_to(self, selector: str, text: str = "", most: int = 90):
        """Presses Tab until the focus is on an element, and returns it."""
        wanted = [e for e in self.all(selector) if text in e.text]
        assert wanted, f"no {selector} with {text!r} in\\n{self.text('body')}"
        for _ in range(most):
            self.press(Keys.TAB)
            if self.driver.switch_to.active_element in wanted:
                return self.driver.switch_to.active_element
        raise AssertionError(f"Tab does not lead to {selector} {text!r}")

    def follow(self, selector: str, text: str = "", most: int = 90):
        """Opens a link, or presses a button, with the keyboard."""
        self.submit(self.tab_to(selector, text, most))

    def submit(self, element):
        page = self.one("html").id
        element.send_keys(Keys.ENTER)
        self.wait_for(lambda: self.one("html").id != page)
