"""Drives a real browser, Chromium as Debian packages it, as a person would use the console."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

import pytest
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

T = TypeVar("T")
BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
STALE = (StaleElementReferenceException,)
NEEDED = bool(os.environ.get("REQUIRE_BROWSER"))  # noqa: TID251 - set by .ci/run
WAIT_SECONDS = 30
ARGUMENTS = [
    "--headless=new",
    "--no-sandbox",  # of Chromium's own, which root in a container cannot have
    "--disable-dev-shm-usage",
    "--disable-component-update",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
LISTEN = """
window.violations = [];
document.addEventListener("securitypolicyviolation", ({violatedDirective, blockedURI}) =>
  window.violations.push(`${violatedDirective} ${blockedURI}`));
"""

with_browser = pytest.mark.skipif(
    not (BROWSER and DRIVER) and not NEEDED,
    reason="needs Chromium and its driver: apt-get install chromium chromium-driver",
)


class Browser:
    """One window."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def open(self, address: str, **session: str) -> None:
        """Go to `address` as somebody who comes for the first time, but for what `session` keeps."""
        parts = urlsplit(address)
        self.driver.get(f"{parts.scheme}://{parts.netloc}/console/icon.svg")
        self.script("localStorage.clear(); sessionStorage.clear()")
        for name, value in session.items():
            self.script("sessionStorage.setItem(`clausegate.${arguments[0]}`, arguments[1])", name, value)
        self.driver.get(address)

    def script(self, script: str, *arguments: object) -> object:
        """What a script answers that runs in the page."""
        return self.driver.execute_script(script, *arguments)  # type: ignore[no-untyped-call]

    def all(self, selector: str) -> list[WebElement]:
        """What stands on the page and is shown."""
        return [
            found for found in self.driver.find_elements(By.CSS_SELECTOR, selector) if found.is_displayed()
        ]

    def see(self, selector: str, text: str = "") -> WebElement:
        """The first element that is shown and holds `text`, once there is one."""
        return self.waited(lambda: self._first(selector, text), f"no {selector} with “{text}”")

    def gone(self, selector: str) -> None:
        """Wait until nothing that is shown fits."""
        self.waited(lambda: not self.all(selector), f"{selector} is still there")

    def click(self, selector: str, text: str = "") -> None:
        """Click on the element that `see` gives; one that is replaced meanwhile is looked for again."""

        def clicked() -> bool:
            found = self._first(selector, text)
            if found:
                found.click()
            return found is not None

        self.waited(clicked, f"no {selector} with “{text}”")

    def _first(self, selector: str, text: str) -> WebElement | None:
        return next((each for each in self.all(selector) if text in each.text), None)

    def press(self, keys: str) -> None:
        """Press keys where the focus is."""
        self.driver.switch_to.active_element.send_keys(keys)

    def waited(self, what: Callable[[], T | None], otherwise: str = "") -> T:
        """What `what` gives, once it gives something."""
        wait = WebDriverWait(self.driver, WAIT_SECONDS, ignored_exceptions=STALE)
        given = wait.until(lambda _: what(), otherwise)
        assert given is not None
        return given

    def violations(self) -> object:
        """What the page's Content-Security-Policy stopped."""
        return self.script("return window.violations")

    def hosts(self) -> set[str]:
        """Whom the browser was made to ask since the last call."""
        messages = (json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance"))  # type: ignore[no-untyped-call]
        sent = [
            each["params"]["request"]["url"]
            for each in messages
            if each["method"] == "Network.requestWillBeSent"
        ]
        return {urlsplit(url).netloc for url in sent if urlsplit(url).scheme not in ("blob", "data")}


@contextmanager
def browsing(downloads: Path) -> Iterator[Browser]:
    """A window that is closed after the block, and saves files in `downloads`."""
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER or "chromium"
    for argument in ARGUMENTS:
        options.add_argument(argument)
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService(DRIVER or "chromedriver"))
    try:
        driver.set_window_size(1280, 900)
        driver.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})
        driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": LISTEN})
        yield Browser(driver)
    finally:
        driver.quit()
