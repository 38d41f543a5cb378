"""The page in a real browser, as a visitor meets it."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import sys
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest
from matplotlib.image import imread
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from otafl.demo.address import setting_of
from otafl.demo.presets import PRESETS
from otafl.demo.scenario import scenario_of
from otafl.demo.setting import Setting
from tests.system.visitors import SECONDS, served

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

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
)

pytestmark = pytest.mark.system
needs_browser = pytest.mark.skipif(
    not (CHROMIUM and DRIVER) and "CI" not in os.environ, reason="needs chromium and chromedriver"
)


@pytest.fixture(scope="module")
def address():
    """Of a page served by the command, to this machine alone."""
    with served() as found:
        yield found


def chromium():
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for switch in SWITCHES:
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=Service(DRIVER))


@pytest.fixture(scope="module")
def browser():
    driver = chromium()
    yield driver
    driver.quit()


@pytest.fixture
def page(browser, address):
    """Freshly loaded, with its first round drawn."""
    resize(browser, 1480, 1000)
    return load(browser, address)


def load(browser, address):
    browser.get(address)
    wait(browser, lambda: "dB" in text(browser, "numbers"))
    wait(browser, lambda: root(browser, "error").size["height"] > 0)
    return browser


def resize(browser, width, height):
    """Set the size of the viewport; a window would add its frame."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


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
    assert "Five clients vote" in text(page, "story")
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
    wait(page, lambda: "Noise causes all" in text(page, "story"))
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
    assert "Stopped after round" in text(page, "progress")
    inside(page, "train", "button").click()
    wait(page, lambda: "of 60" in text(page, "progress"))
    wait(page, lambda: re.search(r"ACPC-OTA-FL \d+\.\d%, COTAF", text(page, "progress")))
    assert "7850" in text(page, "progress")
    assert not errors(page)


SIZES = {
    "laptop": (1366, 768),
    "projector": (1280, 720),
    "narrow window": (900, 1200),
    "tablet upright": (768, 1024),
    "tablet": (1024, 768),
}

GEOMETRY = """
    const box = (element) => {
      const {left, top, right, bottom} = element.getBoundingClientRect();
      return [left, top, right, bottom];
    };
    const root = (name) => {
      const model = window.Bokeh.documents[0].get_model_by_name(name);
      return document.querySelector(`[data-root-id="${model.id}"]`).firstElementChild;
    };
    const [name, pictures] = arguments;
    root(name).scrollIntoView({block: "nearest"});
    return {
      control: box(root(name)),
      pictures: pictures.map((each) => box(root(each))),
      numbers: box(root("numbers")),
      page: [document.documentElement.scrollWidth, document.documentElement.scrollHeight],
      wide: [...document.querySelectorAll("header, aside, main")].map(
        (each) => each.scrollWidth - each.clientWidth),
    };
"""
CONTROLS = (
    "clients", "payload", "entry_snr_db", "fading", "csi_error", "truncation", "carrier_offset",
    "backoff_db", "seed", "again", "preset", "reset", "copy_python", "copy_toml",
)  # fmt: skip


@needs_browser
@pytest.mark.parametrize("size", SIZES)
def test_everything_fits(size, browser, address):
    """Whichever control is in use, the numbers and the main pictures are in view beside it."""
    width, height = SIZES[size]
    resize(browser, width, height)
    load(browser, address)
    for name in CONTROLS:
        found = browser.execute_script(GEOMETRY, name, ["channels", "sent", "arrived", "sum"])
        assert found["page"] == [width, height], name
        assert max(found["wide"]) <= 0, name
        for left, top, right, bottom in (found["control"], found["numbers"], *found["pictures"]):
            assert left >= 0, name
            assert top >= 0, name
            assert right <= width, name
            assert bottom <= height, name
        for left, top, right, bottom in found["pictures"]:
            assert right - left > 150
            assert bottom - top > 140
    # the rest can be scrolled to
    rest = browser.execute_script(GEOMETRY, "train", ["accuracy"])
    assert rest["control"][3] <= height
    assert not errors(browser)


@needs_browser
def test_every_preset_has_its_sentence_and_reset_returns(page):
    for name, preset in PRESETS.items():
        inside(page, "preset", f"option[value='{name}']").click()
        wait(page, lambda sentence=preset.sentence: sentence in text(page, "story"))
        assert setting_in_address(page) == preset.setting or name == next(iter(PRESETS))
    inside(page, "reset", "button").click()
    wait(page, lambda: setting_in_address(page) == Setting())
    assert not errors(page)


def setting_in_address(browser):
    query = parse_qsl(urlsplit(browser.current_url).query)
    setting, messages = setting_of({name: [value.encode()] for name, value in query})
    assert not messages
    return setting


@needs_browser
def test_an_address_opens_what_its_sender_saw(page, address):
    inside(page, "clients", ".noUi-handle").send_keys(Keys.ARROW_RIGHT * 3)
    inside(page, "again", "button").click()
    wait(page, lambda: setting_in_address(page) == Setting(clients=8, seed=1))
    sent, numbers = page.current_url, text(page, "numbers")
    page.get("about:blank")
    load(page, sent)
    assert text(page, "numbers") == numbers
    assert not errors(page)


@needs_browser
def test_a_bad_address_is_told_on_the_page(browser, address):
    load(browser, f"{address}?clients=400&fading=<script>&entry_snr_db=&what=1")
    said = text(browser, "notice")
    assert "clients must be a number from 1 to 20 in steps of 1, got '400'" in said
    assert "got '<script>'" in said
    assert "what is not a setting" in said
    assert "clients send" in text(browser, "story")
    assert not errors(browser)


@needs_browser
def test_what_is_copied_repeats_what_is_shown(browser, address):
    load(browser, f"{address}?clients=4&backoff_db=6&csi_error=0.05&seed=5")
    permissions = {"permissions": ["clipboardReadWrite"]}
    browser.execute_cdp_cmd("Browser.grantPermissions", permissions)
    program = copied(browser, "copy_python")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(program, {})
    nmse = printed.getvalue().removeprefix("NMSE ").strip().replace("-", "\N{MINUS SIGN}")
    assert f"{nmse}NMSE of this round" in text(browser, "numbers")
    expected = scenario_of(Setting(clients=4, backoff_db=6.0, csi_error=0.05, seed=5))
    assert tomllib.loads(copied(browser, "copy_toml")) == expected
    assert not errors(browser)


def copied(browser, name):
    label = inside(browser, name, "button").text
    inside(browser, name, "button").click()
    wait(browser, lambda: inside(browser, name, "button").text == "Copied")
    wait(browser, lambda: inside(browser, name, "button").text == label)
    script = "const done = arguments[0]; navigator.clipboard.readText().then(done)"
    return browser.execute_async_script(script)


@needs_browser
def test_every_picture_can_be_downloaded_and_enlarged(page, tmp_path):
    where = {"behavior": "allow", "downloadPath": str(tmp_path)}
    page.execute_cdp_cmd("Browser.setDownloadBehavior", where)
    for name in PICTURES:
        card = page.find_element(By.CSS_SELECTOR, f"[data-picture={name}]")
        card.find_element(By.CSS_SELECTOR, "button.png").click()
        file = tmp_path / f"otafl-{name}.png"
        wait(page, lambda file=file: file.exists() and file.stat().st_size > 0)
        image = imread(file)
        assert (image[..., 3] == 1).all()  # it has a background
        assert len(np.unique(image.reshape(-1, 4), axis=0)) > 5
        width = root(page, name).size["width"]
        card.find_element(By.CSS_SELECTOR, "button.enlarge").click()
        wait(page, lambda name=name, width=width: root(page, name).size["width"] > 1.5 * width)
        assert card.find_element(By.CSS_SELECTOR, ".caption").is_displayed()
        page.find_element(By.TAG_NAME, "body").send_keys(Keys.ESCAPE)
        wait(page, lambda name=name, width=width: root(page, name).size["width"] == width)
    assert not errors(page)
