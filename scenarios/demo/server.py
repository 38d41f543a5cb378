"""Serves the page, to this machine alone unless told otherwise."""

from __future__ import annotations

import socket
import webbrowser
from collections.abc import Callable

from bokeh.application import Application
from bokeh.application.handlers.function import FunctionHandler
from bokeh.server.server import Server

from scenarios.demo.page import Page
from scenarios.library import ScenarioError

EVERYWHERE = "0.0.0.0"


def serve(
    host: str = "127.0.0.1",
    port: int = 5006,
    browser: bool = True,
    on_ready: Callable[[str], None] = print,
) -> None:
    """Until interrupted. ``port`` 0 takes a free one; ``on_ready`` is told the page's address."""
    if not host or ":" in host:  # Bokeh takes what follows a colon for a port
        raise ScenarioError(
            f"--host {host!r} is not allowed: give an IPv4 address or a name of this machine"
        )
    try:
        server = _server(host.lower(), port or _free_port(host))
    except OSError as error:
        raise ScenarioError(
            f"the page cannot be served at --host {host} --port {port}: "
            f"{error.strerror or error}; give an address of this machine, and a port that is free "
            "(0 takes any)"
        ) from None
    address = f"http://{'localhost' if host == EVERYWHERE else host}:{server.port}/"
    server.start()
    on_ready(address)
    if browser:
        server.io_loop.add_callback(webbrowser.open, address)
    try:
        server.io_loop.start()
    except KeyboardInterrupt:  # the way to end it
        pass
    finally:
        server.stop()


def _server(host: str, port: int) -> Server:
    # Pages of other sites in the same browser may not talk to this one.
    names = ("127.0.0.1", "localhost", host)
    allowed = ["*"] if host == EVERYWHERE else [f"{name}:{port}" for name in names]
    return Server(
        Application(FunctionHandler(Page)),
        address=host,
        port=port,
        allow_websocket_origin=allowed,
    )


def _free_port(host: str) -> int:
    with socket.socket() as trial:
        trial.bind((host, 0))
        return int(trial.getsockname()[1])
