"""A browser without a window, and what it saw."""

import importlib.util
import json
import shutil

import pytest

FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
]
HOW = "to test the report in a browser, apt install chromium chromium-driver and pip install selenium"


class Browser:
    """The driver, with the few things that the tests ask of it."""

    def __init__(self, driver, folder):
        self.driver, self.folder = driver, folder
        self.script = driver.execute_script

    def open(self, text, width=1000, height=800):
        """Show a page from a file of its own, in a window of that size."""
        path = self.folder / f"page{len(list(self.folder.iterdir()))}.html"
        path.write_bytes(text.encode())
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.do("Emulation.setDeviceMetricsOverride", **size)
        self.errors(), self.requests()  # of the page before
        self.driver.get(path.as_uri())
        return path.as_uri()

    def do(self, command, **options):
        """Send a command of the protocol of the browser's own tools."""
        return self.driver.execute_cdp_cmd(command, options)

    def errors(self):
        """Return what the console has said since it was asked last."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """Return the addresses asked for since then, less those that the policy of the page stopped."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        sent, stopped = (
            [event["params"] for event in events if event["method"] == f"Network.{name}"]
            for name in ("requestWillBeSent", "loadingFailed")
        )
        held = {params["requestId"] for params in stopped if params.get("blockedReason") == "csp"}
        return [params["request"]["url"] for params in sent if params["requestId"] not in held]

    def names(self):
        """Return the names of the rows, from the top."""
        return self.script(
            "return [...document.querySelectorAll('tbody th bdi')].map((one) => one.textContent)"
        )

    def column(self, number):
        """Return the texts of a column of the table, from the top."""
        cells = (
            "[...document.querySelectorAll('tbody tr')].map((row) => row.children[arguments[0]].innerText)"
        )
        return self.script(f"return {cells}", number)

    def head(self, number):
        """Return the button of a column."""
        return self.driver.find_elements("css selector", "thead th button")[number]

    def count(self):
        """Return what is said of the number of rows."""
        return self.script("return document.querySelector('output').textContent")


def found(*names):
    """Return the first of these programs that is there."""
    return next((path for name in names if (path := shutil.which(name))), None)


def programs():
    """Return the browser and what drives it."""
    return found("chromium", "chromium-browser", "google-chrome"), found("chromedriver")


def pytest_collection_modifyitems(items):
    """Skip what needs a browser where there is none: marked beforehand, so that one line says so of all."""
    parts = dict(zip(("chromium", "chromedriver"), programs(), strict=True))
    missing = [name for name, path in parts.items() if path is None]
    if importlib.util.find_spec("selenium") is None:
        missing.append("selenium")
    for item in items:
        if missing and "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.skip(f"no {' and no '.join(missing)} here: {HOW}"))


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """One browser for all tests."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    program, helper = programs()
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(helper))
    yield Browser(driver, tmp_path_factory.mktemp("pages"))
    driver.quit()
