"""The server of the page: where it listens, what it refuses, how it ends."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import time
from http.client import HTTPConnection

import pytest

from otafl.cli import main
from otafl.demo import server as module
from otafl.demo.server import announcement, network_name
from tests.scenarios import small

SECONDS = 60  # for what should take one: machines are busy

UPGRADE = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Protocol": "bokeh, none",
}


@pytest.fixture(scope="module")
def address():
    """Of a page served by the command, to this machine alone."""
    command = [sys.executable, "-m", "otafl", "demo", "--port", "0", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        line = server.stdout.readline()
        yield re.search(r"http://127\.0\.0\.1:\d+/", line)[0]
        server.send_signal(signal.SIGTERM)


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
    headers = {**UPGRADE, "Origin": origin or address.rstrip("/")}
    connection.request("GET", "/ws", headers=headers)
    assert connection.getresponse().status == status
    connection.close()


def test_a_port_in_use_is_said_so():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = subprocess.run(
            [sys.executable, "-m", "otafl", "demo", "--port", port, "--no-browser"],
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
    assert done.returncode == 2
    assert f"port {port}" in done.stderr
    assert "--port" in done.stderr


def test_without_bokeh_it_says_what_to_install(monkeypatch, capsys):
    monkeypatch.delitem(sys.modules, "otafl.demo.server", raising=False)
    monkeypatch.setitem(sys.modules, "bokeh.application", None)
    assert main(["demo"]) == 2
    assert "pip install 'otafl[demo]'" in capsys.readouterr().err


@pytest.mark.parametrize("host", ["", "::1", "not.a.host.invalid"])
def test_a_host_that_is_none_is_said_so(host, capsys):
    assert main(["demo", "--host", host, "--port", "0", "--no-browser"]) == 2
    assert "--host" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("host", "address", "who"),
    [
        ("0.0.0.0", "http://192.168.7.3:8080/", "everyone who can reach this machine"),
        ("127.0.0.1", "http://127.0.0.1:8080/", "only this machine"),
        ("localhost", "http://localhost:8080/", "only this machine"),
        ("10.1.2.3", "http://10.1.2.3:8080/", "everyone who can reach this address"),
    ],
)
def test_it_says_what_to_type_and_who_can(host, address, who, monkeypatch):
    monkeypatch.setattr(module, "network_name", lambda: "192.168.7.3")
    first, second, *_ = announcement(host, 8080).splitlines()
    assert first == f"the page is at {address}"
    assert who in second


def test_the_name_in_the_network(monkeypatch):
    assert network_name() not in ("0.0.0.0", "")

    def unreachable(*address):
        raise OSError("no route")

    monkeypatch.setattr(socket.socket, "connect", unreachable)
    assert network_name() == socket.gethostname()


def test_a_class_can_open_it_under_any_name_without_a_warning():
    command = [sys.executable, "-m", "otafl", "demo", "--port", "0", "--no-browser"]
    with subprocess.Popen(
        [*command, "--host", "0.0.0.0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        port = int(re.search(r":(\d+)/", server.stdout.readline())[1])
        connection = HTTPConnection("127.0.0.1", port, timeout=SECONDS)
        connection.request("GET", "/ws", headers={**UPGRADE, "Origin": "http://lecture.example"})
        assert connection.getresponse().status == 101
        connection.close()
        server.send_signal(signal.SIGTERM)
        assert "wildcard" not in server.stderr.read()


def test_ctrl_c_ends_it():
    command = [sys.executable, "-m", "otafl", "demo", "--port", "0", "--no-browser"]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=small.default_interrupts,  # noqa: PLW1509
    ) as server:
        try:
            server.stdout.readline()
            time.sleep(0.2)
            server.send_signal(signal.SIGINT)
            said = server.communicate(timeout=SECONDS)[1]
        finally:
            server.kill()
    assert "Traceback" not in said
    assert server.returncode == 0
