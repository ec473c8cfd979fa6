"""The command `velavox serve`: what it wants, what it says, how it ends."""

from __future__ import annotations

import re
import signal
import socket
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result
from velavox.engine.cli import app

pytestmark = pytest.mark.usefixtures("compiled")

COMMAND = [sys.executable, "-c", "from velavox.engine.cli import main; main()", "serve", "--port", "0"]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["serve", *arguments])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--host", "0.0.0.0"], ["--token", "HTTPS"]),
        (["--host", "192.0.2.7"], ["--token", "HTTPS"]),
        (["--host", "0.0.0.0", "--token", "two words"], ["--token", "without spaces"]),
        (["--key", "key.pem"], ["--key needs --cert"]),
        (["--cert", "/nowhere.pem"], ["--cert /nowhere.pem", "No such file"]),
        (["--cert", "."], ["--cert .", "Is a directory"]),
        (["--port", "70000"], ["--port 70000: give 0 to 65535"]),
        (["--rooms", "0"], ["--rooms 0: give 1 to 1000"]),
        (["--participants", "17"], ["--participants 17: give 2 to 16"]),
        (["--method", "identity"], ["method 'identity'"]),
    ],
)
def test_wrong_use_is_one_line(arguments: list[str], words: list[str]) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert len(result.stderr.splitlines()) == 1
    for word in words:
        assert word in result.stderr


def test_certificates_and_keys_that_do_not_fit(tmp_path: Path) -> None:
    _certificate(tmp_path)
    (tmp_path / "other").mkdir()
    _certificate(tmp_path / "other")
    cert, key, other = (str(tmp_path / name) for name in ("cert.pem", "key.pem", "other/key.pem"))
    for arguments, told in [
        (["--cert", cert], f"--cert {cert}: give its --key, too"),
        (["--cert", cert, "--key", "/nowhere.pem"], "--key /nowhere.pem: No such file or directory; give a file in PEM form"),
        (["--cert", cert, "--key", cert], f"--key {cert}: holds no private key; give a file in PEM form"),
        (["--cert", key, "--key", key], f"--cert {key}: holds no certificate; give a file in PEM form"),
        (["--cert", cert, "--key", other], f"--key {other}: is not the key of --cert {cert}; give the one that belongs to it"),
    ]:
        result = run(*arguments)
        assert (result.exit_code, result.stderr) == (2, f"velavox: {told}\n")


def test_the_help_says_who_hears() -> None:
    text = " ".join(run("--help").stdout.split())
    assert "THE SERVER HEARS THE RAW VOICES" in text
    assert "better to run velavox at the speaker's side" in text
    assert "by HTTPS" in text


def test_without_aiortc_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['aiortc'] = None; from velavox.engine.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "serve"], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (
        1,
        "failed: serve needs aiortc and aiohttp: pip install 'velavox[serve]'\n",
    )


def test_a_port_that_is_taken() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        result = run("--port", str(taken.getsockname()[1]))
    assert result.exit_code == 1
    assert re.search(r"^failed: --host 127.0.0.1 --port \d+: address already in use; give others$", result.stderr, re.MULTILINE)


@contextmanager
def serving(*options: str, end: signal.Signals = signal.SIGTERM) -> Iterator[tuple[str, list[str]]]:
    """Where it serves, and its lines, all of them after its end."""
    server = subprocess.Popen([*COMMAND, *options], stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    lines: list[str] = []
    try:
        for line in server.stderr:
            lines.append(line.rstrip())
            if found := re.match(r"open (\S+/)", line):
                break
        assert found
        yield found[1], lines
        server.send_signal(end)
        lines.extend(server.stderr.read().splitlines())
        assert server.wait(30) == 0
    finally:
        server.kill()
        server.wait()
        server.stderr.close()


def test_it_serves_until_it_is_ended_and_its_lines_hold_no_addresses() -> None:
    with serving(end=signal.SIGINT) as (url, lines):
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", url)
        assert urllib.request.urlopen(f"{url}healthz", timeout=30).status == 200
        asked = urllib.request.Request(f"{url}calls", b'{"sdp": "v=0"}', {"Content-Type": "application/json"})
        with pytest.raises(urllib.error.HTTPError, match="400"):
            urllib.request.urlopen(asked, timeout=30)
        port = int(url.rstrip("/").rpartition(":")[2])
        for garbage in (b"\x16\x03\x01\x00\xff", b"GET / HTTP/1.1\r\n\x00: x\r\n\r\n", b""):
            with socket.create_connection(("127.0.0.1", port)) as wire:
                wire.sendall(garbage)
                wire.shutdown(socket.SHUT_WR)
                wire.settimeout(20)
                wire.recv(100)
    assert "this server hears the raw voices of those who call it" in lines[0]
    assert lines[-1] == "ended"
    assert len(lines) == 3
    assert "127.0.0.1" not in "".join(lines).replace(url, "")


def test_by_https_at_all_addresses(tmp_path: Path) -> None:
    _certificate(tmp_path)
    options = ["--host", "0.0.0.0", "--token", "short", "--cert", f"{tmp_path}/cert.pem", "--key", f"{tmp_path}/key.pem"]
    with serving(*options) as (url, lines):
        assert url.startswith("https://localhost:")
        context = ssl.create_default_context(cafile=f"{tmp_path}/cert.pem")
        asked = urllib.request.Request(f"{url}about", headers={"Authorization": "Bearer short"})
        assert urllib.request.urlopen(asked, context=context, timeout=30).status == 200
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(f"{url}about", context=context, timeout=30)
        with socket.create_connection(("127.0.0.1", int(url.rstrip("/").rpartition(":")[2]))) as wire:
            wire.sendall(b"GET / HTTP/1.1\r\n\r\n")  # which is no TLS
            wire.settimeout(20)
            wire.recv(100)
    assert lines[0] == "warning: a token of 5 characters can be guessed: openssl rand -hex 16 makes a good one"
    assert "short" not in "".join(lines[1:])
    assert "0.0.0.0" not in "".join(lines)  # where no browser can go
    assert any(line.startswith("on other machines: ") for line in lines)
    assert "127.0.0.1" not in "".join(lines)


def test_without_https_it_says_that_browsers_want_it() -> None:
    with serving("--host", "0.0.0.0", "--token", "long-enough-to-be-a-token") as (_, lines):
        pass
    assert any("browsers want HTTPS" in line for line in lines)


def _certificate(folder: Path) -> None:
    import datetime

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), 1, now - datetime.timedelta(1), now + datetime.timedelta(1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    (folder / "cert.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    pem, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    (folder / "key.pem").write_bytes(key.private_bytes(pem, form, serialization.NoEncryption()))
