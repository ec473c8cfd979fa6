"""What an offer must be, before anything is made for it: a microphone, ears, a data channel; bundled, Opus."""

from __future__ import annotations

from aiortc import sdp

from .limits import Refused

MOST_CANDIDATES = 64  # of one medium: a machine with many networks has about 20


def ears(text: object, most: int) -> int:
    """How many voices an SDP offer can hear, 1 or more; more than `most` are refused, as is what this server does not speak."""
    if not isinstance(text, str):
        raise Refused(400, "sdp", "sdp: give the text of an SDP offer")
    try:
        offer = sdp.SessionDescription.parse(text)
    except Exception:  # whatever a parser of text from anywhere may raise
        raise Refused(400, "sdp", "sdp: this is no SDP offer") from None
    kinds = [medium.kind for medium in offer.media]
    audio = [medium for medium in offer.media if medium.kind == "audio"]
    if len(audio) < 2 or kinds != ["audio"] * len(audio) + ["application"]:
        raise Refused(400, "sdp", "sdp: offer a microphone, one audio medium for each voice to be heard, and a data channel")
    directions = [medium.direction for medium in audio]
    if directions != ["sendonly"] + ["recvonly"] * (len(audio) - 1):
        raise Refused(400, "sdp", "sdp: the first audio medium is sendonly, the others are recvonly")
    if len(audio) - 1 > most:
        raise Refused(400, "sdp", f"sdp: at most {most} voices can be heard here")
    mids = [medium.rtp.muxId for medium in offer.media]
    if not any(group.semantic == "BUNDLE" and group.items == mids for group in offer.group) or len({*mids}) < len(mids):
        raise Refused(400, "sdp", "sdp: bundle all media")
    if not all(any(c.mimeType.lower() == "audio/opus" for c in medium.rtp.codecs) for medium in audio):
        raise Refused(400, "sdp", "sdp: offer Opus")
    if any(len(medium.ice_candidates) > MOST_CANDIDATES for medium in offer.media):
        raise Refused(400, "sdp", f"sdp: at most {MOST_CANDIDATES} candidates")
    if not all(
        medium.dtls and medium.dtls.fingerprints and medium.ice and medium.ice.usernameFragment for medium in offer.media
    ):
        raise Refused(400, "sdp", "sdp: offer DTLS and ICE")
    return len(audio) - 1
