# SPDX-License-Identifier: Apache-2.0
"""Pictures of the console: see scripts/console-pictures."""

import base64
import pathlib
import shutil
import subprocess
import sys
import tempfile

from browser import DESKTOP, PHONE, Browser
from independent import pki
from living_shop import PAGES, LivingShop

# A page whose content comes by a form.
VERDICT = "verdict"


def verify(browser: Browser, server: LivingShop, receipt: str) -> None:
    browser.driver.get(server.url + "/console/verify")
    browser.one("#receipt").click()
    browser.paste(receipt)
    browser.submit(browser.one("main form button:not([type=button])"))


def take(browser: Browser, path: pathlib.Path, width: int, most: int) -> None:
    """A picture of the whole page, up to a height."""
    browser.width(width, 100)
    height = browser.script("return Math.max(document.body.scrollHeight, document.documentElement.scrollHeight)")
    browser.width(width, max(800, min(height, most)))
    path.write_bytes(base64.b64decode(browser.command("Page.captureScreenshot", format="png")["data"]))
    if shutil.which("pngquant"):
        subprocess.run(["pngquant", "--force", "--ext", ".png", "--speed", "1", str(path)], check=False)


def main() -> None:
    arguments = sys.argv[1:]
    if not arguments or arguments[0] == "--list":
        print(*PAGES, VERDICT, sep="\n")
        sys.exit(0 if arguments else 64)
    folder, names = pathlib.Path(arguments[0]), arguments[1:] or [*PAGES, VERDICT]
    if unknown := {*names} - {*PAGES, VERDICT}:
        sys.exit(f"console-pictures: no page {', '.join(sorted(unknown))}; --list prints their names")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as data:
        server = LivingShop(pathlib.Path(data), pki.Store(), takes_a_day=True).live()
        browser = Browser()
        try:
            browser.log_in(server)
            for name in names:
                if name == VERDICT:
                    verify(browser, server, server.receipt)
                else:
                    browser.driver.get(server.url + PAGES[name])
                for width, form in ((DESKTOP, ""), (PHONE, "-phone")):
                    for scheme in ("light", "dark"):
                        browser.scheme(scheme)
                        take(browser, folder / f"{name}{form}{'~dark' if scheme == 'dark' else ''}.png", width, 4000)
                print(name, file=sys.stderr)
        finally:
            browser.close()
            server.end()


if __name__ == "__main__":
    main()
