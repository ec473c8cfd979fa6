"""The page's files, from the package, and what browsers are told to allow it: nothing from elsewhere."""

from __future__ import annotations

from importlib.resources import files

from aiohttp import web

_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Permissions-Policy": "microphone=(self), camera=(), geolocation=()",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Page:
    """All files, read once."""

    def __init__(self) -> None:
        folder = files(__package__) / "page"
        self._files = {f"/page/{file.name}": file.read_bytes() for file in folder.iterdir() if file.is_file()}
        self._files["/"] = self._files["/page/index.html"]

    def file(self, path: str) -> web.Response | None:
        """At a path of the URL, if there is one."""
        content = self._files.get(path)
        if content is None:
            return None
        ending = "." + (path if path != "/" else "index.html").rpartition(".")[2]
        return web.Response(body=content, content_type=_TYPES[ending], charset="utf-8")
