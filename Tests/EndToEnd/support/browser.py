"""A real browser: Debian's headless Chromium, driven by Selenium, and checks of its pages."""

import json
import pathlib
import shutil

import axe_core_python
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from support.waiting import wait_for

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")

AXE = (pathlib.Path(axe_core_python.__file__).parent / "axe.min.js").read_text()


class Browser:
    """One window, in which pages are opened, used and checked."""

    def __init__(self):
        options = Options()
        options.binary_location = CHROMIUM
        # Root in a container has no sandbox; the pages are ours.
        switches = "headless=new no-sandbox disable-gpu disable-dev-shm-usage hide-scrollbars"
        # One process draws for all, and none is started for a page of another port.
        switches += " in-process-gpu renderer-process-limit=1 disable-site-isolation-trials"
        switches += " disable-features=SpareRendererForSitePerProcess"
        for switch in (*switches.split(), "window-size=1280,1000"):
            options.add_argument(f"--{switch}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(DRIVER))
        self.driver.set_script_timeout(60)

    def quit(self) -> None:
        self.driver.quit()

    # The screen.

    def show(
        self,
        width: int = 1280,
        height: int = 1000,
        scheme: str = "light",
        reduced_motion: bool = False,
        media: str = "",
        scale: float = 1,
        zone: str = "UTC",
        text: int = 16,
    ) -> None:
        """Shows pages on such a screen, to a reader whose default size of text is `text` px."""
        size = {"width": width, "height": height, "deviceScaleFactor": scale}
        self.command("Emulation.setDeviceMetricsOverride", **size, mobile=width < 600)
        motion = "reduce" if reduced_motion else "no-preference"
        features = {"prefers-color-scheme": scheme, "prefers-reduced-motion": motion}
        features = [{"name": name, "value": value} for name, value in features.items()]
        self.command("Emulation.setEmulatedMedia", media=media, features=features)
        self.command("Page.setFontSizes", fontSizes={"standard": text})
        # Replacing an existing override would be an error.
        self.command("Emulation.setTimezoneOverride", timezoneId="")
        self.command("Emulation.setTimezoneOverride", timezoneId=zone)

    def allow_script(self, is_allowed: bool) -> None:
        self.command("Emulation.setScriptExecutionDisabled", value=not is_allowed)

    def command(self, name: str, **parameters):
        return self.driver.execute_cdp_cmd(name, parameters)

    # The page.

    def open(self, address: str) -> None:
        self.driver.get(address)

    def run(self, script: str, *arguments):
        return self.driver.execute_script(script, *arguments)

    def find(self, selector: str) -> WebElement:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector: str) -> str:
        """The text of all that the selector finds, even if the script moves it meanwhile."""
        return self.run(
            """
            return [...document.querySelectorAll(arguments[0])]
              .map(e => (e.innerText ?? e.textContent).trim()).join("|");
            """,
            selector,
        )

    def names(self) -> list[str]:
        """The cities of the list, in order."""
        return self.run("return [...document.querySelectorAll('li.city')].map(e => e.dataset.city)")

    def wait_for(self, selector: str, text: str | None = None, what: str = "") -> None:
        def is_there():
            found = self.text(selector)
            return self.all(selector) if text is None else text in found

        wait_for(is_there, what or f"{selector} {text or ''}")

    def press(self, *keys: str) -> None:
        """Presses keys in the focused element."""
        for key in keys:
            self.driver.switch_to.active_element.send_keys(key)

    @property
    def focused(self) -> str:
        return self.run(
            "const e = document.activeElement; return e.id || e.innerText.trim() || e.tagName"
        )

    # Complaints.

    def errors(self) -> list[str]:
        """Violations of the security policy, uncaught exceptions and files that did not load, since
        the last call."""
        return [
            entry["message"]
            for entry in self.driver.get_log("browser")
            if entry["level"] in ("SEVERE", "WARNING")
        ]

    def accessibility_violations(self) -> list[str]:
        """The violations of WCAG 2.2 A and AA and of good practice that axe-core finds."""
        self.run(AXE)
        found = self.driver.execute_async_script(
            """
            const done = arguments[arguments.length - 1];
            axe.run(document, {resultTypes: ["violations"]})
              .then(done, error => done({error: String(error)}));
            """
        )
        assert "error" not in found, found["error"]
        return [
            f"{violation['id']}: {json.dumps([node['html'] for node in violation['nodes'][:3]])}"
            for violation in found["violations"]
        ]

    def small_targets(self) -> list[str]:
        """Links and buttons below the 24 px of WCAG 2.2, 2.5.8, except those in a sentence."""
        return self.run(
            """
            return [...document.querySelectorAll("a, button, summary, input:not([type=hidden])")]
              .filter(e => e.checkVisibility() && !e.closest("p, .skip"))
              .filter(e => !e.matches(".name"))
              .filter(e => {
                const box = e.getBoundingClientRect();
                return box.width && (box.height < 23.5 || box.width < 23.5);
              })
              .map(e => e.outerHTML);
            """
        )

    def is_wider_than_the_screen(self) -> bool:
        return self.run("return document.documentElement.scrollWidth > innerWidth")

    def misfits(self) -> list[str]:
        """Parts that extend beyond the line of their city, and a page that is too wide."""
        found = self.run(
            """
            return [...document.querySelectorAll("li.city > *, .current > *")].filter(e => {
              const inner = e.getBoundingClientRect();
              const outer = e.parentElement.getBoundingClientRect();
              return inner.left < outer.left - 1 || inner.right > outer.right + 1;
            }).map(e => e.outerHTML);
            """
        )
        return found + ["the page"] * self.is_wider_than_the_screen()


__all__ = ["Browser", "CHROMIUM", "DRIVER", "Keys"]
