"""Figures that others have published, to be set beside measured ones. Other speech, attackers and machines: they do not compare
to the digit, and are printed apart."""

from __future__ import annotations

from dataclasses import dataclass

NIU = "Niu et al.: LibriSpeech test-clean, pretrained ECAPA, their machine"
VPC = "VoicePrivacy 2024 baselines: LibriSpeech test; EER of female / male speakers"


@dataclass(frozen=True)
class Published:
    """One system; percentages as printed there, empty where nothing is."""

    system: str
    delay: str = ""
    rtc: str = ""  # on a CPU
    wer: str = ""
    ignorant: str = ""  # EER: originals enrol, a pretrained encoder compares
    lazy: str = ""
    semi: str = ""
    source: str = ""


PUBLISHED = (
    Published("original", wer="1.84", semi="8.8 / 0.4", source=VPC),
    Published("McAdams (B2)", wer="9.95", semi="7.5 / 1.6", source=VPC),
    Published("McAdams", rtc=".030", ignorant="40.19", source=NIU),
    Published("Voice-Mask", rtc=".041", ignorant="23.40", source=NIU),
    Published("NSF", rtc=".110", ignorant="38.09", source=NIU),
    Published("HF-GAN", rtc=".104", ignorant="42.21", source=NIU),
    Published("their pipeline", rtc=".028", ignorant="44.19", source=NIU),
    Published("B3, phones and TTS", wer="4.35", semi="27.9 / 26.7", source=VPC),
    Published("B4, audio codec", wer="5.90", semi="29.4 / 31.2", source=VPC),
    Published("B5, quantised phones", wer="4.37", semi="33.9 / 34.7", source=VPC),
    Published("streaming, base / lite", delay="87 / 44 ms", wer="5.7", lazy="31.4", semi="10.1", source="arXiv 2406.09277"),
    Published("DarkStream", delay="203 ms (GPU)", rtc=".258", wer="9.5", lazy="46.8", semi="22.7", source="arXiv 2509.04667"),
    Published("TVTSyn", delay="78.5 ms (GPU)", rtc=".308", wer="5.35", lazy="47.6", semi="14.6", source="ICLR 2026"),
    Published("Stream-Voice-Anon", delay="180 ms (GPU)", wer="5.77", lazy="49.0", source="arXiv 2601.13948"),
)
