"""What a server is asked by HTTP: wrong, large, slow or foreign requests get a clear status, and the server lives."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import velavox.engine.serve
from serving import Caller, served
from velavox.engine.methods import METHODS
from velavox.engine.serve import doors, guards
from velavox.engine.serve.server import Server

JSON = {"Content-Type": "application/json"}
PAGE = Path(velavox.engine.serve.__file__).parent / "page"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two methods of all, and short patience."""
    few = {name: load for name, load in METHODS.items() if name in ("mcadams", "dp")}
    for room in ("choices", "server"):
        monkeypatch.setattr(f"velavox.engine.serve.{room}.METHODS", few)
    monkeypatch.setattr(guards, "PATIENCE", 0.3)
    monkeypatch.setattr(guards, "PENALTY", 0.05)


async def answer(http: aiohttp.ClientSession, **body: Any) -> tuple[int, str]:
    async with http.post("/calls", json=body) as response:
        return response.status, (await response.json())["error"]


@asynccontextmanager
async def alive(**arguments: Any) -> AsyncIterator[tuple[Server, aiohttp.ClientSession]]:
    """A server that is well when a test is over."""
    async with served(**arguments) as (server, http):
        yield server, http
        async with http.get("/healthz") as response:
            assert (response.status, await response.json()) == (200, {"status": "ok"})
        assert server.signalling is not None
        assert server.signalling.rooms.calls == []


def _changed(sdp: str, old: str, new: str) -> str:
    assert re.search(old, sdp)
    return re.sub(old, new, sdp)


def test_what_is_no_offer_of_this_page_is_refused() -> None:
    async def scenario() -> None:
        async with alive() as (_, http):
            caller = Caller(1)
            good = await caller.offer()
            wrong = {
                "nothing": None,
                "a number": 7,
                "empty": "",
                "no SDP": "v=0\r\nhello",
                "binary": "\x00\xff" * 100,
                "cut": good[: len(good) // 2],
                "no media": good[: good.index("m=audio")],
                "a port that is none": _changed(good, r"m=audio \d+", "m=audio x"),
                "video": _changed(good, "m=audio", "m=video"),
                "a microphone at the ear": _changed(good, "a=recvonly", "a=sendrecv"),
                "no Opus": _changed(good, "opus/48000", "other/48000"),
                "no bundle": _changed(good, r"a=group:BUNDLE [^\r]*\r\n", ""),
                "one mid for all": _changed(good, r"a=mid:\d", "a=mid:0"),
                "no fingerprint": _changed(good, r"a=fingerprint:[^\r]*\r\n", ""),
                "a fingerprint that is none": _changed(good, r"a=fingerprint:[^\r]*", "a=fingerprint:sha-256"),
                "no credentials": _changed(good, r"a=ice-ufrag:[^\r]*\r\n", ""),
                "too many candidates": _changed(good, r"(a=candidate:[^\r]*\r\n)", r"\1" * 65),
            }
            for what, sdp in wrong.items():
                status, text = await answer(http, sdp=sdp)
                assert (what, status) == (what, 400)
                assert text.startswith("sdp: ")
            many = Caller(2)
            status, text = await answer(http, sdp=await many.offer())  # of whom a loop has one
            assert (status, text) == (400, "sdp: at most 1 voices can be heard here")
            await caller.peer.close()
            await many.peer.close()

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        ({"room": "no/name"}, "room: give"),
        ({"room": 5}, "room: give"),
        ({"room": "x" * 41}, "room: give"),
        ({"method": "identity"}, "method 'identity': give one of"),
        ({"method": ["mcadams"]}, "method: give"),
        ({"settings": [1]}, "settings: give an object"),
        ({"settings": {"alpha": 1.0}}, "alpha=1.0: give a number from 0.4 to 0.9"),
        ({"settings": {"alpha": "nan"}}, "alpha='nan'"),
        ({"settings": {"alpha": None}}, "alpha=None"),
        ({"settings": {"beta": 1}}, "mcadams has no parameter 'beta'"),
        ({"method": "dp", "settings": {"enroll": "/etc/passwd"}}, "dp has no parameter 'enroll'"),
        ({"method": "dp", "settings": {"ledger": "/tmp/ledger"}}, "dp has no parameter 'ledger'"),
    ],
)
def test_wishes_that_cannot_be_met_are_refused_in_one_line(wanted: dict[str, Any], text: str) -> None:
    async def scenario() -> None:
        async with alive() as (_, http):
            status, told = await answer(http, sdp="", **wanted)
            assert status == 400
            assert told.startswith(text)
            assert "\n" not in told

    asyncio.run(scenario())


def test_bodies_that_are_too_large_too_slow_or_no_json() -> None:
    async def slowly() -> AsyncIterator[bytes]:
        yield b'{"sdp": "'
        await asyncio.sleep(5)
        yield b'"}'

    async def endlessly() -> AsyncIterator[bytes]:
        while True:
            yield b" " * 10_000
            await asyncio.sleep(0.001)

    async def scenario() -> None:
        async with alive() as (_, http):
            large = b'{"sdp": "' + b"x" * guards.MOST_BYTES + b'"}'
            for data, status, headers in [
                (large, 413, JSON),
                (endlessly(), 413, JSON),
                (slowly(), 408, JSON),
                (b"{", 400, JSON),
                (b"[]", 400, JSON),
                (b"[" * 60_000, 400, JSON),
                (b"\xff\xfe", 400, JSON),
                (b"{}", 415, {"Content-Type": "text/plain"}),
                (b"sdp=x", 415, {"Content-Type": "application/x-www-form-urlencoded"}),
            ]:
                async with http.post("/calls", data=data, headers=headers) as response:
                    assert response.status == status
                    assert (await response.json())["error"]

    asyncio.run(scenario())


def test_pages_of_other_sites_get_nothing() -> None:
    async def scenario() -> None:
        async with alive() as (server, http):
            own = server.url.rstrip("/")
            for headers, status in [
                ({"Origin": "https://evil.example"}, 403),
                ({"Origin": own.replace("http", "https") + "0"}, 403),
                ({"Origin": "null"}, 403),
                ({"Sec-Fetch-Site": "cross-site"}, 403),
                ({"Origin": own}, 415),  # further on
                ({"Origin": own, "Sec-Fetch-Site": "same-origin"}, 415),
            ]:
                async with http.post("/calls", data="{}", headers=headers) as response:
                    assert (headers, response.status) == (headers, status)
                    assert "Access-Control-Allow-Origin" not in response.headers
            async with http.delete("/calls/x", headers={"Origin": "https://evil.example"}) as response:
                assert response.status == 403
            for host in ("evil.example", "127.0.0.1.evil.example", "192.0.2.1", "[::"):  # whose name leads here
                async with http.get("/about", headers={"Host": host}) as response:
                    assert (host, response.status) == (host, 421)
            async with http.get("/about", headers={"Host": f"localhost:{server.port}"}) as response:
                assert response.status == 200

    asyncio.run(scenario())


def test_tokens() -> None:
    async def scenario() -> None:
        async with alive(token="right and long enough".replace(" ", "-")) as (_, http):
            for header in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic x"}, {"Authorization": "Bearer "}):
                for path in ("/about", "/metrics"):
                    async with http.get(path, headers=header) as response:
                        assert response.status == 401
                        assert response.headers["WWW-Authenticate"].startswith("Bearer")
                async with http.post("/calls", json={}, headers=header) as response:
                    assert response.status == 401
            right = {"Authorization": "Bearer right-and-long-enough"}
            async with http.get("/about", headers=right) as response:
                assert response.status == 200
            async with http.post("/calls", json={}, headers=right) as response:
                assert response.status == 400
            async with http.get("/") as response:  # the page, which asks for it
                assert response.status == 200

    asyncio.run(scenario())


def test_who_guesses_tokens_is_held_up_and_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guards, "PENALTY", 2.0)

    async def scenario() -> None:
        async with alive(token="right") as (_, http):

            async def guess() -> int:
                async with http.get("/about", headers={"Authorization": "Bearer wrong"}) as response:
                    return response.status

            guesses = [asyncio.ensure_future(guess()) for _ in range(guards.MOST_PENALTIES + 4)]
            await asyncio.sleep(0.5)
            assert [g.result() for g in guesses if g.done()] == [429] * 4
            async with http.get("/about", headers={"Authorization": "Bearer right"}) as response:
                assert response.status == 200
            assert sorted(await asyncio.gather(*guesses)) == [401] * guards.MOST_PENALTIES + [429] * 4

    asyncio.run(scenario())


def test_slow_heads_and_many_connections_are_turned_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doors, "HURRY", 0.5)

    async def scenario() -> None:
        async with alive() as (server, _):
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(b"GET /about HTTP/1.1\r\nHost: loc")
            assert (await asyncio.wait_for(reader.read(), 5)).startswith(b"HTTP/1.1 408 ")
            writer.close()
        async with served(limits=doors_of(8)) as (server, http):
            monkeypatch.setattr(doors, "HURRY", 10.0)
            held = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(8)]
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            assert (await asyncio.wait_for(reader.read(), 5)).startswith(b"HTTP/1.1 503 ")
            for _, held_writer in [*held, (reader, writer)]:
                held_writer.close()
            await asyncio.sleep(0.2)
            async with http.get("/healthz") as response:
                assert response.status == 200

    asyncio.run(scenario())


def doors_of(connections: int) -> Any:
    from velavox.engine.serve.limits import Limits

    return Limits(connections=connections)


def test_no_connection_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doors, "LONGEST", 0.5)
    monkeypatch.setattr(doors, "LAST", 1.0)
    monkeypatch.setattr(guards, "PATIENCE", 10.0)

    async def scenario() -> None:
        async with alive() as (server, http):
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            asked = 0
            while not reader.at_eof():  # one request after the other
                assert asked < 30
                writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                await asyncio.sleep(0.1)
                await reader.read(10_000)
                asked += 1
            writer.close()
            async with http.get("/healthz", headers={"Connection": "close"}):
                pass
            with pytest.raises(aiohttp.ClientError):  # one that never ends
                await http.post("/calls", data=_endless(), headers=JSON)

    asyncio.run(scenario())


async def _endless() -> AsyncIterator[bytes]:
    for _ in range(200):
        yield b" "
        await asyncio.sleep(0.1)
    raise AssertionError("it has lasted for 20 s")


def test_paths_and_methods() -> None:
    async def scenario() -> None:
        async with alive() as (server, http):
            for method, path, status in [
                ("GET", "/nothing", 404),
                ("GET", "/page/../server.py", 404),
                ("GET", "/page/%2e%2e/server.py", 404),
                ("DELETE", "/calls/nobody", 404),
                ("GET", "/calls", 405),
                ("POST", "/", 405),
                ("PUT", "/calls/x", 405),
                ("HEAD", "/", 200),
                ("GET", "/page/main.js", 200),
            ]:
                async with http.request(method, path) as response:
                    assert (method, path, response.status) == (method, path, status)
                    assert "default-src 'none'" in response.headers["Content-Security-Policy"]
                    assert response.headers["Server"] == "velavox"
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(b"\x16\x03\x01 this is no HTTP\r\n\r\n")
            assert (await reader.read(12)) == b"HTTP/1.0 400"
            writer.close()

    asyncio.run(scenario())


def test_a_failure_of_its_own_is_a_status_without_particulars(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []

    def fail(*arguments: object) -> int:
        raise RuntimeError("secret")

    async def scenario() -> None:
        async with alive(say=lines.append) as (_, http):
            monkeypatch.setattr("velavox.engine.serve.offer.ears", fail)
            async with http.post("/calls", json={"sdp": ""}) as response:
                assert response.status == 500
                assert "secret" not in await response.text()

    asyncio.run(scenario())
    assert lines == ["a request failed: RuntimeError"]


def test_metrics_are_as_prometheus_reads_them() -> None:
    async def scenario() -> str:
        async with alive() as (_, http):
            await answer(http, sdp="")
            async with http.get("/metrics") as response:
                assert response.headers["Content-Type"].startswith("text/plain; version=0.0.4")
                return await response.text()

    text = asyncio.run(scenario())
    assert text.endswith("\n")
    seen = set()
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            assert kind in ("gauge", "counter", "histogram")
            seen.add(name)
        elif not line.startswith("# HELP "):
            found = re.fullmatch(r'([a-z_]+?)(?:_bucket|_sum|_count)?(?:\{[a-z]+="[^"]+"\})? [-+0-9.e]+', line)
            assert found, line
            assert found[1] in seen
    assert 'velavox_refused_total{cause="sdp"} 1' in text
    assert "velavox_calls 0" in text


def test_nothing_of_the_page_comes_from_elsewhere() -> None:
    for file in PAGE.iterdir():
        addresses = re.findall(r"""https?://[^"'\s]+""", file.read_text())
        assert addresses == (["http://www.w3.org/2000/svg"] if file.name == "icon.svg" else []), file.name
        assert not re.search(r"localStorage|sessionStorage|indexedDB|document\.cookie", file.read_text()), file.name


def test_the_page_and_what_it_is_told_say_who_hears() -> None:
    async def scenario() -> tuple[str, dict[str, Any]]:
        async with alive() as (_, http):
            async with http.get("/") as response:
                page = await response.text()
            async with http.get("/about") as response:
                return page, await response.json()

    page, about = asyncio.run(scenario())
    assert "This server hears your raw voice" in page
    assert "better to run velavox on your own device" in page
    offered = {p["name"] for method in about["methods"] for p in method["parameters"]}
    assert "alpha" in offered
    assert offered.isdisjoint({"enroll", "ledger", "speaker", "mu", "budget", "calibration"})
    assert json.dumps(about)


def test_any_address_but_this_machines_own_needs_a_token() -> None:
    for host in ("0.0.0.0", "192.0.2.2", "::", "example.org"):
        with pytest.raises(ValueError, match="needs a token"):
            Server(host=host)
    for host in ("127.0.0.1", "127.1.2.3", "::1", "localhost"):
        Server(host=host)
