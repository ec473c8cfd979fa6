"""velavox anonymizes a voice while it is spoken. See README.md; the parts are loaded when they are first used."""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from .engine.batch import anonymize_folder
    from .engine.content.guard import ContentGuard
    from .engine.dpvoice import DpVoice
    from .engine.files import anonymize_file
    from .engine.host import Engine
    from .engine.identity import Identity
    from .engine.live import Live
    from .engine.mcadams import McAdams
    from .engine.soundcard import SoundCard
    from .engine.voicemask import VoiceMask
    from .engine.vtln import Vtln

_HOME = {
    "ContentGuard": "content.guard",
    "DpVoice": "dpvoice",
    "Engine": "host",
    "Identity": "identity",
    "Live": "live",
    "McAdams": "mcadams",
    "SoundCard": "soundcard",
    "Vtln": "vtln",
    "VoiceMask": "voicemask",
    "anonymize_file": "files",
    "anonymize_folder": "batch",
}
__all__ = [
    "ContentGuard",
    "DpVoice",
    "Engine",
    "Identity",
    "Live",
    "McAdams",
    "SoundCard",
    "VoiceMask",
    "Vtln",
    "__version__",
    "anonymize_file",
    "anonymize_folder",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _HOME:
        return getattr(import_module(f".engine.{_HOME[name]}", __name__), name)
    raise AttributeError(f"module 'velavox' has no attribute {name!r}")
