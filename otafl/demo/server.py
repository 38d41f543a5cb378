"""Serve the page, to this machine only unless told otherwise."""

from __future__ import annotations

import socket
import webbrowser
from collections.abc import Callable

from bokeh.application import Application
from bokeh.application.handlers.function import FunctionHandler
from bokeh.server.server import Server

from otafl.demo.page import Page
from scenarios.errors import ScenarioError

ALL_ADDRESSES = "0.0.0.0"


def serve(
    host: str = "127.0.0.1",
    port: int = 5006,
    browser: bool = True,
    on_ready: Callable[[str], None] = print,
) -> None:
    """Serve the page until interrupted.

    Parameters
    ----------
    host : str
        IPv4 address or host name to listen on.
    port : int
        Port to listen on; 0 takes a free one.
    browser : bool
        Whether to open the page in the browser.
    on_ready : callable
        Called with the address of the page once it is served.

    Raises
    ------
    ScenarioError
        If it cannot be served there.
    """
    if not host or ":" in host:  # Bokeh would take what follows a colon as the port
        raise ScenarioError(
            f"--host must be an IPv4 address or a host name of this machine, got {host!r}"
        )
    try:
        server = _server(host.lower(), port or _free_port(host))
    except OSError as error:
        raise ScenarioError(
            f"the page cannot be served at --host {host} --port {port}: "
            f"{error.strerror or error}; choose an address of this machine and a free port "
            "(0 takes any)"
        ) from None
    address = f"http://{'localhost' if host == ALL_ADDRESSES else host}:{server.port}/"
    server.start()
    on_ready(address)
    if browser:
        server.io_loop.add_callback(webbrowser.open, address)
    try:
        server.io_loop.start()
    except KeyboardInterrupt:  # the way to stop it
        pass
    finally:
        server.stop()


def _server(host: str, port: int) -> Server:
    # Pages of other sites in the same browser must not connect to this one.
    names = ("127.0.0.1", "localhost", host)
    allowed = ["*"] if host == ALL_ADDRESSES else [f"{name}:{port}" for name in names]
    page = Application(FunctionHandler(Page))
    return Server(page, address=host, port=port, allow_websocket_origin=allowed)


def _free_port(host: str) -> int:
    with socket.socket() as free:
        free.bind((host, 0))
        return int(free.getsockname()[1])
