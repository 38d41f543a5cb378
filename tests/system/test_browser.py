"""The page in a real browser, as a visitor meets it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest
from matplotlib.image import imread
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")

DRIVER = shutil.which("chromedriver")

SWITCHES = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-device-scale-factor=1",
    "--window-size=1480,1900",
)

SECONDS = 60  # for what should take one: machines are busy


pytestmark = pytest.mark.system
needs_browser = pytest.mark.skipif(
    not (CHROMIUM and DRIVER) and "CI" not in os.environ, reason="needs chromium and chromedriver"
)


@pytest.fixture(scope="module")
def address():
    """Of a page served by the command, to this machine alone."""
    command = [sys.executable, "-m", "otafl", "demo", "--port", "0", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        line = server.stdout.readline()
        yield re.search(r"http://127\.0\.0\.1:\d+/", line)[0]
        server.send_signal(signal.SIGTERM)


@pytest.fixture(scope="module")
def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for switch in SWITCHES:
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture
def page(browser, address):
    """Freshly loaded, with its first round drawn."""
    browser.get(address)
    wait(browser, lambda: "dB" in text(browser, "numbers"))
    wait(browser, lambda: drawn(browser, "error") is not None)
    return browser


def wait(browser, condition):
    """Parts of the page may be replaced while they are looked at."""
    patience = WebDriverWait(browser, SECONDS, ignored_exceptions=[StaleElementReferenceException])
    return patience.until(lambda _: condition())


def root(browser, name):
    """The part of the page that shows a model, which Bokeh puts behind a shadow root."""
    script = """
        const model = window.Bokeh?.documents[0]?.get_model_by_name(arguments[0]);
        return document.querySelector(`[data-root-id="${model?.id}"]`)?.firstElementChild;
    """
    return browser.execute_script(script, name)


def text(browser, name):
    element = root(browser, name)
    return (
        ""
        if element is None
        else browser.execute_script("return arguments[0].shadowRoot.textContent", element)
    )


def drawn(browser, name):
    """The picture as [height, width, 4], or None where nothing is drawn yet."""
    element = root(browser, name)
    if element is None or element.size["height"] == 0:
        return None
    path = browser.test_folder / f"{name}.png"
    element.screenshot(str(path))
    return imread(path)


@pytest.fixture(autouse=True)
def folder_for_pictures(request, tmp_path):
    if "browser" in request.fixturenames or "page" in request.fixturenames:
        request.getfixturevalue("browser").test_folder = tmp_path


def inside(browser, name, selector):
    return root(browser, name).shadow_root.find_element(By.CSS_SELECTOR, selector)


def errors(browser):
    return [
        entry for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")
    ]


PICTURES = ("channels", "sent", "arrived", "sum", "scatter", "energy", "error", "accuracy")


@needs_browser
def test_it_loads_without_errors_and_shows_every_picture(page):
    for name in PICTURES:
        image = drawn(page, name)
        assert len(np.unique(image.reshape(-1, image.shape[-1]), axis=0)) > 5, name
    assert "clients send" in text(page, "story")
    assert not errors(page)
    outside = page.execute_script(
        "return performance.getEntriesByType('resource').map(e => new URL(e.name).hostname)"
    )
    assert set(outside) == {"127.0.0.1"}  # a class room may have no network


@needs_browser
@pytest.mark.parametrize(
    ("name", "picture"),
    [
        ("clients", "energy"),
        ("entry_snr_db", "sum"),
        ("csi_error", "arrived"),
        ("truncation", "channels"),
        ("carrier_offset", "arrived"),
        ("backoff_db", "arrived"),
    ],
)
def test_a_moved_slider_changes_picture_and_numbers(name, picture, page):
    before, numbers = drawn(page, picture), text(page, "numbers")
    key = Keys.ARROW_LEFT if name == "backoff_db" else Keys.ARROW_RIGHT
    inside(page, name, ".noUi-handle").send_keys(key * (15 if name == "backoff_db" else 5))
    wait(page, lambda: text(page, "numbers") != numbers)
    wait(page, lambda: not np.array_equal(drawn(page, picture), before))
    assert not errors(page)


@needs_browser
def test_another_round_and_other_choices(page):
    numbers = text(page, "numbers")
    inside(page, "again", "button").click()
    wait(page, lambda: text(page, "numbers") != numbers)
    inside(page, "fading", "select").send_keys("none")
    wait(page, lambda: "Noise causes nearly all" in text(page, "story"))
    assert not errors(page)


@needs_browser
def test_training_is_shown_live_and_can_be_stopped(page):
    empty = drawn(page, "accuracy")
    inside(page, "train", "button").click()
    wait(page, lambda: re.search(r"Round [1-9]\d* of 60", text(page, "progress")))
    wait(page, lambda: not np.array_equal(drawn(page, "accuracy"), empty))
    wait(page, lambda: inside(page, "train", "button").text == "Stop")
    inside(page, "train", "button").click()
    wait(page, lambda: inside(page, "train", "button").text == "Train again")
    inside(page, "train", "button").click()
    wait(page, lambda: "of 60" in text(page, "progress"))
    wait(page, lambda: re.search(r"ACPC-OTA-FL \d+\.\d %, COTAF", text(page, "progress")))
    assert not errors(page)
