"""Visitors of the demo page without a browser: its websocket protocol, and nothing drawn."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import websocket_connect

SECONDS = 60  # for what should take one: machines are busy


@contextmanager
def served(*options, stderr=None):
    """The address of a page served by the command."""
    command = [sys.executable, "-m", "otafl", "demo", "--port", "0", "--no-browser", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True) as server:
        try:
            yield re.search(r"http://[\w.-]+:\d+/", server.stdout.readline())[0]
        finally:
            server.send_signal(signal.SIGTERM)


class Visitor:
    """One open page; :meth:`open` makes it."""

    def __init__(self, socket, ids):
        self._socket, self._ids = socket, ids
        self.texts = dict.fromkeys(ids, "")
        self._changed = asyncio.Condition()
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def open(cls, address, query=""):
        html = (await AsyncHTTPClient().fetch(address + query, request_timeout=SECONDS)).body
        token = re.search(r'"token":"([^"]+)"', html.decode())[1]
        url = address.replace("http", "ws", 1) + "ws"
        request = HTTPRequest(url, headers={"Origin": address.rstrip("/")})
        socket = await websocket_connect(request, subprotocols=["bokeh", token])
        await _read(socket)  # ACK
        await _write(socket, "PULL-DOC-REQ", {})
        content = await _read(socket)
        roots = json.loads(content)["doc"]["roots"]
        return cls(socket, {each["attributes"]["name"]: each["id"] for each in roots})

    async def move(self, name, value):
        """Move a control; return the seconds until the numbers of the round arrive."""
        start, before = time.perf_counter(), self.texts["numbers"]
        await self.set(name, value)
        await self.until("numbers", lambda text: text != before)
        return time.perf_counter() - start

    async def set(self, name, value):
        model = {"id": self._ids[name]}
        await self._patch({"kind": "ModelChanged", "model": model, "attr": "value", "new": value})

    async def click(self, name):
        values = {"type": "map", "entries": [["model", {"id": self._ids[name]}]]}
        event = {"type": "event", "name": "button_click", "values": values}
        await self._patch({"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": event})

    async def until(self, name, condition):
        """Wait until the text of a part of the page fulfils a condition, and return it."""
        async with self._changed:
            await asyncio.wait_for(
                self._changed.wait_for(lambda: condition(self.texts[name])), SECONDS
            )
            return self.texts[name]

    async def close(self):
        self._listening.cancel()
        self._socket.close()

    async def _patch(self, event):
        await _write(self._socket, "PATCH-DOC", {"events": [event]})

    async def _listen(self):
        names = {number: name for name, number in self._ids.items()}
        while (content := await _read(self._socket)) is not None:
            for event in json.loads(content).get("events", ()):
                if event.get("attr") == "text":
                    async with self._changed:
                        self.texts[names[event["model"]["id"]]] = event["new"]
                        self._changed.notify_all()


async def _write(socket, kind, content):
    header = {"msgid": f"{time.monotonic_ns()}", "msgtype": kind}
    for fragment in (header, {}, content):
        await socket.write_message(json.dumps(fragment))


async def _read(socket):
    """The content of a message, without its buffers; None at the end."""
    header = await socket.read_message()
    if header is None:
        return None
    await socket.read_message()  # metadata
    content = await socket.read_message()
    for _ in range(2 * json.loads(header).get("num_buffers", 0)):
        await socket.read_message()
    return content
