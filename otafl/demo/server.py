"""Serve the page, to this machine only unless told otherwise."""

from __future__ import annotations

import logging
import socket
import webbrowser
from collections.abc import Callable

from bokeh.application import Application
from bokeh.application.handlers.function import FunctionHandler
from bokeh.document import Document
from bokeh.server.server import BaseServer
from bokeh.server.tornado import BokehTornado
from bokeh.server.util import bind_sockets
from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop

from otafl.demo.page import Page
from otafl.demo.trainer import Trainer
from scenarios.errors import ScenarioError

ALL_ADDRESSES = "0.0.0.0"
ELSEWHERE = ("192.0.2.1", 9)  # reserved for documentation, RFC 5737
CLOSED_AFTER, CHECKED_EVERY = 5000, 2500  # when a closed tab leaves the queue [ms]


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
        Called once the page is served, with its address and who can reach it.

    Raises
    ------
    ScenarioError
        If it cannot be served there.
    """
    if not host or ":" in host:
        raise ScenarioError(
            f"--host must be an IPv4 address or a host name of this machine, got {host!r}"
        )
    try:
        sockets, port = bind_sockets(host, port)
    except OSError as error:
        raise ScenarioError(
            f"the page cannot be served at --host {host} --port {port}: "
            f"{error.strerror or error}; choose an address of this machine and a free port "
            "(0 takes any)"
        ) from None
    # a tab may be closed while an answer is on its way, which is no news
    logging.getLogger("bokeh.server.views.ws").setLevel(logging.ERROR)
    trainer = Trainer()
    tornado = _tornado(host.lower(), port, trainer)
    http = HTTPServer(tornado)
    http.add_sockets(sockets)
    server = BaseServer(IOLoop.current(), tornado, http)
    server.start()
    on_ready(announcement(host, port))
    if browser:
        name = "localhost" if host == ALL_ADDRESSES else host
        server.io_loop.add_callback(webbrowser.open, f"http://{name}:{port}/")
    try:
        server.io_loop.start()
    except KeyboardInterrupt:  # the way to stop it
        pass
    finally:
        trainer.close()
        server.stop()


def announcement(host: str, port: int) -> str:
    """Return the lines that say where the page is and who can reach it."""
    everyone = host == ALL_ADDRESSES
    lines = [f"the page is at http://{network_name() if everyone else host}:{port}/"]
    if everyone:
        lines.append("everyone who can reach this machine over the network can open it")
    elif _is_loopback(host):
        lines.append("only this machine can open it; for a class, add --host 0.0.0.0")
    else:
        lines.append("everyone who can reach this address can open it")
    return "\n".join([*lines, "Ctrl-C stops it"])


def network_name() -> str:
    """Return the address under which other machines reach this one.

    It is the one from which packets to the rest of the world would leave; connecting a UDP socket
    sends none. Without a route there, the host name.
    """
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect(ELSEWHERE)
            return str(probe.getsockname()[0])
    except OSError:
        return socket.gethostname()


def _is_loopback(host: str) -> bool:
    return socket.gethostbyname(host).startswith("127.")


def _tornado(host: str, port: int, trainer: Trainer) -> BokehTornado:
    # Pages of other sites in the same browser must not connect to this one. A class opens it under
    # any name that the machine has in their network.
    names = ("127.0.0.1", "localhost", host)
    allowed = ["*"] if host == ALL_ADDRESSES else [f"{name}:{port}" for name in names]
    return BokehTornado(
        Application(FunctionHandler(lambda document: _open(document, trainer))),
        extra_websocket_origins=allowed,
        unused_session_lifetime_milliseconds=CLOSED_AFTER,
        check_unused_sessions_milliseconds=CHECKED_EVERY,
    )


def _open(document: Document, trainer: Trainer) -> None:
    Page(document, trainer)
