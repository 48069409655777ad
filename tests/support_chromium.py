"""A real Chromium, driven over its own pipe (the DevTools protocol): no driver, no port, no package."""

from __future__ import annotations

import asyncio
import base64
import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

BINARY = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--disable-sync",
    "--no-first-run",
    "--remote-debugging-pipe",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",  # nothing leaves the machine
)


class Tab:
    """One page of the browser."""

    def __init__(self, writer: asyncio.StreamWriter, reader: asyncio.StreamReader) -> None:
        self._writer, self._reader = writer, reader
        self._next = 0
        self._session: str | None = None
        self._replies: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self.complaints: list[str] = []  # script errors, dialogs, what the content policy blocked

    async def listen(self) -> None:
        """Read the pipe until it closes."""
        while True:
            try:
                message = json.loads((await self._reader.readuntil(b"\0"))[:-1])
            except (asyncio.IncompleteReadError, ConnectionError):
                return
            if "id" in message:
                self._replies.pop(message["id"]).set_result(message)
            elif message["method"] in ("Runtime.exceptionThrown", "Page.javascriptDialogOpening", "Log.entryAdded"):
                self.complaints.append(json.dumps(message["params"])[:2_000])

    async def send(self, method: str, **params: Any) -> dict[str, Any]:
        """One command and its result."""
        self._next += 1
        reply = self._replies[self._next] = asyncio.get_running_loop().create_future()
        message = {"id": self._next, "method": method, "params": params} | ({"sessionId": self._session} if self._session else {})
        self._writer.write(json.dumps(message).encode() + b"\0")
        async with asyncio.timeout(30):
            answered = await reply
        assert "error" not in answered, answered
        return answered["result"]

    async def open(self) -> None:
        """Attach to a fresh page."""
        target = await self.send("Target.createTarget", url="about:blank")
        self._session = (await self.send("Target.attachToTarget", targetId=target["targetId"], flatten=True))["sessionId"]
        for room in ("Page", "Runtime", "Log"):
            await self.send(f"{room}.enable")

    async def go(self, url: str) -> None:
        """Open an address and wait until it has loaded."""
        await self.send("Page.navigate", url=url)
        await self.until(f"document.readyState === 'complete' && location.href.startsWith({json.dumps(url)})")

    async def run(self, expression: str) -> Any:
        """The value of an expression in the page."""
        got = await self.send("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True, userGesture=True)
        assert "exceptionDetails" not in got, got
        return got["result"].get("value")

    async def until(self, expression: str) -> Any:
        """Wait until an expression is true in the page."""
        async with asyncio.timeout(30):
            while not (value := await self.run(f"Boolean({expression})")):
                await asyncio.sleep(0.02)
        return value

    async def fill(self, selector: str, value: str) -> None:
        """Put text into a field."""
        await self.run(f"document.querySelector({json.dumps(selector)}).value = {json.dumps(value)}")

    async def press(self, key: str) -> None:
        """One key, down and up."""
        for kind in ("keyDown", "keyUp"):
            text = {"text": "\r"} if key == "Enter" and kind == "keyDown" else {}
            await self.send("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=_CODES.get(key, 0), **text)

    async def key(self, character: str) -> None:
        """A key that types a character."""
        await self.send("Input.dispatchKeyEvent", type="keyDown", key=character, text=character)
        await self.send("Input.dispatchKeyEvent", type="keyUp", key=character)

    async def size(self, width: int, height: int, *, dark: bool = False) -> None:
        """The window's size and colour scheme."""
        await self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        await self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    async def shot(self, path: Path) -> None:
        """A screenshot."""
        path.write_bytes(base64.b64decode((await self.send("Page.captureScreenshot"))["data"]))


_CODES = {"Enter": 13, "Escape": 27, "ArrowRight": 39, "ArrowLeft": 37, "Tab": 9}


@asynccontextmanager
async def tab(profile: Path) -> AsyncIterator[Tab]:
    """A page in a browser of its own, which ends with it."""
    assert BINARY is not None
    scratch = tempfile.mkdtemp(prefix="c")  # its socket's folder stays behind when it is ended; a socket's path must be short
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()

    def as_three_and_four() -> None:  # the pipe's ends have to be these numbers in the browser
        low = fcntl.fcntl(to_read, fcntl.F_DUPFD, 10)
        high = fcntl.fcntl(from_write, fcntl.F_DUPFD, 10)
        os.dup2(low, 3)
        os.dup2(high, 4)

    process = await asyncio.create_subprocess_exec(
        BINARY,
        *FLAGS,
        f"--user-data-dir={profile}",
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        env=os.environ | {"TMPDIR": scratch},
        preexec_fn=as_three_and_four,
        close_fds=False,
    )
    os.close(to_read)
    os.close(from_write)
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=2**26)
    reading, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(from_read, "rb"))
    writing, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, os.fdopen(to_write, "wb"))
    opened = Tab(asyncio.StreamWriter(writing, protocol, None, loop), reader)
    listening = asyncio.create_task(opened.listen())
    try:
        await opened.open()
        yield opened
    finally:
        process.terminate()
        await process.wait()
        listening.cancel()
        reading.close()
        writing.close()
        await asyncio.gather(listening, return_exceptions=True)
        shutil.rmtree(scratch, ignore_errors=True)
