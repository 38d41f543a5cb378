"""The page in a real browser, as a visitor meets it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from http.client import HTTPConnection

import numpy as np
import pytest
from bokeh.document import Document
from matplotlib.image import imread
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from scenarios.cli import main
from scenarios.demo.page import Page

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

needs_browser = pytest.mark.skipif(
    not (CHROMIUM and DRIVER) and "CI" not in os.environ, reason="needs chromium and chromedriver"
)


@pytest.fixture(scope="module")
def address():
    """Of a page served by the command, to this machine alone."""
    command = [sys.executable, "-m", "scenarios.cli", "demo", "--port", "0", "--no-browser"]
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
    wait(page, lambda: "Noise makes nearly all" in text(page, "story"))
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


def test_it_listens_on_loopback_only(address):
    port = int(address.rstrip("/").rpartition(":")[2])
    with socket.socket(socket.AF_INET) as probe:
        probe.bind(("127.0.0.2", 0))  # another address of this machine can be had
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.2", port), timeout=5)


@pytest.mark.parametrize(("origin", "status"), [("http://example.com", 403), (None, 101)])
def test_pages_of_other_sites_may_not_talk_to_it(origin, status, address):
    host = address.removeprefix("http://").rstrip("/")
    connection = HTTPConnection(host, timeout=SECONDS)
    headers = {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Protocol": "bokeh, none",
        "Origin": origin or address.rstrip("/"),
    }
    connection.request("GET", "/ws", headers=headers)
    assert connection.getresponse().status == status
    connection.close()


def test_a_port_in_use_is_said_so():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = subprocess.run(
            [sys.executable, "-m", "scenarios.cli", "demo", "--port", port, "--no-browser"],
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
    assert done.returncode == 2
    assert f"port {port}" in done.stderr
    assert "--port" in done.stderr


def test_without_bokeh_it_says_what_to_install(monkeypatch, capsys):
    monkeypatch.delitem(sys.modules, "scenarios.demo.server", raising=False)
    monkeypatch.setitem(sys.modules, "bokeh.application", None)
    assert main(["demo"]) == 2
    assert "pip install 'otafl[demo]'" in capsys.readouterr().err


@pytest.mark.parametrize("host", ["", "::1", "not.a.host.invalid"])
def test_a_host_that_is_none_is_said_so(host, capsys):
    assert main(["demo", "--host", host, "--port", "0", "--no-browser"]) == 2
    assert "--host" in capsys.readouterr().err


def test_a_page_that_is_closed_hears_no_more_of_its_training():
    document = Document()
    page = Page(document)
    page._close()
    page._later(lambda: None)
    assert not document.session_callbacks


def test_ctrl_c_ends_it():
    command = [sys.executable, "-m", "scenarios.cli", "demo", "--port", "0", "--no-browser"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        server.stdout.readline()
        time.sleep(0.2)
        server.send_signal(signal.SIGINT)
        said = server.communicate(timeout=SECONDS)[1]
    assert "Traceback" not in said
    assert server.returncode == 0
