"""The pipe to an MCP client, from outside: a real process that is sent bytes, signals and silence, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import signal
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from cormorant.surfaces.mcp_stdio import LINE_MAX_BYTES
from support_pipe import WAIT_S, Pipe, pipe


def call(request_id: int, tool: str, **arguments: Any) -> dict[str, Any]:
    return {"id": request_id, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


@pytest.mark.parametrize(
    "leaves",
    [
        pytest.param(lambda pipe: pipe.process.stdin.close(), id="closes its side"),
        pytest.param(lambda pipe: (pipe.process.stdout.close(), pipe.send({"id": 9, "method": "ping"})), id="reads no more"),
        pytest.param(lambda pipe: pipe.process.send_signal(signal.SIGTERM), id="SIGTERM"),
        pytest.param(lambda pipe: pipe.process.send_signal(signal.SIGINT), id="SIGINT"),
        pytest.param(lambda pipe: pipe.process.send_signal(signal.SIGHUP), id="SIGHUP"),
    ],
)
def test_a_client_that_goes_takes_the_server_along(tmp_path, leaves) -> None:
    """In the middle of a call: the request's connection closes, the process ends well and quietly, and nothing is half-written."""
    with socket.create_server(("127.0.0.1", 0)) as site, pipe(tmp_path) as client:
        site.settimeout(WAIT_S)
        client.hello()
        client.send(call(1, "web_fetch", url=f"http://127.0.0.1:{site.getsockname()[1]}/"))
        connection, _ = site.accept()
        with connection:
            connection.settimeout(WAIT_S)
            assert connection.recv(65536).startswith(b"GET / ")
            leaves(client)
            assert connection.recv(1) == b""
        assert client.process.wait(timeout=WAIT_S) == 0
        assert client.process.stderr.read() == b""
        with pytest.raises(ProcessLookupError):
            os.killpg(client.process.pid, 0)
    assert [file for file in (tmp_path / "xdg_data_home").rglob("*") if file.suffix == ".tmp" or file.name.startswith(".tmp")] == []


@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        pytest.param(b"hello", -32700, "not JSON", id="words"),
        pytest.param(b"\xff\xfe\x00", -32700, "not JSON", id="bytes that are no text"),
        pytest.param(b'{"jsonrpc": "2.0", "id": 1', -32700, "not JSON", id="half a message"),
        pytest.param(b"[" * 100_000, -32700, "not JSON", id="nested without end"),
        pytest.param(b"[]", -32600, "batches", id="an empty batch"),
        pytest.param(b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', -32600, "batches", id="a batch"),
        pytest.param(b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600, "JSON-RPC 2.0", id="another version of JSON-RPC"),
        pytest.param(b"7", -32600, "JSON-RPC 2.0", id="a number"),
        pytest.param(
            b'{"jsonrpc": "2.0", "id": 1, "method": "' + b"x" * LINE_MAX_BYTES + b'"}', -32600, str(LINE_MAX_BYTES), id="a huge line"
        ),
    ],
)
def test_a_line_that_is_no_message_is_answered_and_the_session_goes_on(shared: Pipe, line, code, says) -> None:
    shared.send(line)
    error = shared.reply(None)["error"]
    assert (error["code"], says in error["message"]) == (code, True)
    shared.send({"id": "after", "method": "ping"})
    assert shared.reply("after")["result"] == {}


@pytest.fixture(scope="module")
def shared(tmp_path_factory) -> Iterator[Pipe]:
    with pipe(tmp_path_factory.mktemp("home")) as client:
        client.hello()
        yield client


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        pytest.param({"id": 1, "method": "no/such"}, -32601, id="an unknown method"),
        pytest.param({"id": 1, "method": "tools/call", "params": {"name": 5}}, -32602, id="a tool's name that is a number"),
        pytest.param({"id": 1, "method": "tools/call"}, -32602, id="no parameters"),
        pytest.param({"id": 1, "method": "resources/read", "params": {"uri": "x:y"}}, -32602, id="an unknown resource"),
    ],
)
def test_a_request_that_can_not_be_served_is_an_error_of_its_own(shared: Pipe, request_, code) -> None:
    shared.send(b"", b"   ", {"method": "notifications/no_such"}, request_)
    assert shared.reply(1)["error"]["code"] == code


def test_no_reader_of_lines_can_take_a_message_apart(shared: Pipe) -> None:
    """U+2028, U+2029 and U+0085 end lines for Node's readline and Python's splitlines, and stand in pages."""
    name = "a\u2028b\u2029c\u0085d"
    shared.send(json.dumps({"jsonrpc": "2.0", "id": name, "method": "ping"}, ensure_ascii=False).encode())
    line = shared.line().decode()
    assert len(line.splitlines()) == 1
    assert json.loads(line) == {"jsonrpc": "2.0", "id": name, "result": {}}


def test_cancelling_a_request_stops_its_work_and_nothing_else(shared: Pipe) -> None:
    with socket.create_server(("127.0.0.1", 0)) as site:
        site.settimeout(WAIT_S)
        shared.send(call(21, "web_fetch", url=f"http://127.0.0.1:{site.getsockname()[1]}/"))
        connection, _ = site.accept()
        with connection:
            connection.settimeout(WAIT_S)
            connection.recv(65536)
            shared.send({"method": "notifications/cancelled", "params": {"requestId": 21, "reason": "the user stopped"}})
            assert connection.recv(1) == b""
    shared.send({"id": 22, "method": "ping"})
    assert shared.reply(22)["result"] == {}
