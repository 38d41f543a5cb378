"""Take a picture of the demo page after a training, in headless Chromium: part of make images."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

SETTING = "?clients=10&entry_snr_db=-29&truncation=0.05"  # the paper's 10 dB
SIZE = {"width": 1366, "height": 768, "deviceScaleFactor": 1.5, "mobile": False}
SWITCHES = "--headless=new --no-sandbox --disable-gpu --disable-background-networking"
TEXT = """
    const model = window.Bokeh?.documents[0]?.get_model_by_name(arguments[0]);
    const root = document.querySelector(`[data-root-id="${model?.id}"]`)?.firstElementChild;
    return root?.shadowRoot.textContent ?? "";
"""
SET = "window.Bokeh.documents[0].get_model_by_name(arguments[0]).value = arguments[1]"
CLICK = """
    const model = window.Bokeh.documents[0].get_model_by_name("train");
    const root = document.querySelector(`[data-root-id="${model.id}"]`).firstElementChild;
    root.shadowRoot.querySelector("button").click();
"""


def picture(path: Path, chromium: str, driver: str) -> None:
    """Train with one setting, move the sliders to another, and save what the page shows."""
    command = [sys.executable, "-m", "otafl", "demo", "--port", "0", "--no-browser"]
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for switch in SWITCHES.split():
        options.add_argument(switch)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        found = re.search(r"http://[\w.-]+:\d+/", server.stdout.readline())
        assert found is not None
        browser = webdriver.Chrome(options=options, service=Service(driver))
        try:
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", SIZE)
            browser.get(found[0] + SETTING)
            wait = WebDriverWait(browser, 120).until
            wait(lambda each: "dB" in each.execute_script(TEXT, "numbers"))
            browser.execute_script(CLICK)
            wait(lambda each: "FedAvg" in each.execute_script(TEXT, "progress"))
            before = browser.execute_script(TEXT, "numbers")
            for name, value in (("clients", 5), ("entry_snr_db", 22), ("truncation", 0.1)):
                browser.execute_script(SET, name, value)
            wait(lambda each: each.execute_script(TEXT, "numbers") != before)
            wait(lambda each: "22 |" in each.execute_script(TEXT, "numbers"))
            browser.execute_script("return new Promise(done => setTimeout(done, 1500))")
            browser.save_screenshot(str(path))
        finally:
            browser.quit()
            server.send_signal(signal.SIGTERM)
