"""Text desensitised: `python -m velavox.bench.content.text`. How like the text stays, how long it takes, what inference flags.

Niu et al. (2024) need 1.98 s (similar) and .44 s (random) for 150 words, and report a Jaccard index of .30 for similar words
without saying of what: here it is given of the words of the whole text, and of the characters of what is replaced alone.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from statistics import fmean, median
from time import process_time

from ...engine.content.desensitise import Desensitiser
from ...engine.content.infer import Inference
from ...engine.content.lexicon import Lexicon
from ...engine.content.normalize import words_of
from ...engine.content.replace import Replacer

LENGTHS = (25, 50, 75, 100, 125, 150)  # words
MODES = ("similar", "random")
SOURCE_S = {"similar": 1.98, "random": 0.44}  # at 150 words, on the source's machine
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)
_RUNS = 9

LISTED = {"en": ("contract", "doctor", "merger", "insulin"), "zh": ("合同", "医生", "并购", "糖尿病")}
# Of 12 or 13 words, so that two are 25.
TEXTS = {
    "en": (
        "My name is Alice Carter and I work at Stanford University now.",
        "The doctor called me from Boston about the results of the test.",
        "Please send the contract to Robert Johnson at Microsoft before next week ends.",
        "I met Emily in Paris last summer and we talked about insulin.",
        "You can reach me at four one five double five oh one.",
        "We will announce the merger with Siemens in Munich when it rains.",
        "The weather is nice today and the children are playing outside again.",
        "I think that we should go home before it gets too dark.",
        "She bought a new bicycle and painted the kitchen wall green yesterday.",
        "There was nothing left to say so they all sat down quietly.",
        "Could you ask Jennifer Lopez about her appointment at Mercy Hospital for us?",
        "He grew up in a small town near Seattle with his brother.",
    ),
    "zh": (
        "我 叫 王建国 。 现在 在 西安电子科技大学 学习 计算机 。 已经 两年 了",
        "医生 昨天 从 北京 打来 电话 。 说 检查 的 结果 很 好",
        "请 把 合同 寄给 张建军 。 他 在 华为 上班 。 很 忙",
        "去年 夏天 我 在 上海 认识 了 小明 。 我们 谈 了 糖尿病",
        "我 的 电话 是 一三八零零一三八零零零 。 有 事 请 随时 联系 我",
        "我们 下 个 月 宣布 并购 。 现在 还 不能 告诉 别人 这件事",
        "今天 天气 很 好 。 孩子 们 都 在 外面 玩 得 很 高兴",
        "我 觉得 我们 应该 在 天黑 以前 回家 。 不然 会 很 冷",
        "她 买 了 一辆 新 的 自行车 。 还 把 厨房 刷 成 绿色",
        "没有 什么 可以 说 的 了 。 大家 都 安静 地 坐 下来",
        "你 能 不能 问 一下 爱丽丝 。 她 什么 时候 去 协和医院 看病",
        "他 小 时候 住 在 海淀区 。 和 他 的 弟弟 一起 上学",
    ),
}
HARMLESS = slice(6, 10)  # of the English sentences, those that hold nothing sensitive


@dataclass(frozen=True)
class Kept:
    """How much of a text is left, from 0 to 1, means over sessions."""

    language: str
    mode: str
    words: float  # Jaccard index of the sets of words of the whole text, before and after
    replaced: float  # of the sets of characters of what is replaced and of what replaces it


@dataclass(frozen=True)
class Took:
    """Median CPU time of a text, everything loaded, in a new session each time."""

    language: str
    mode: str
    words: int
    ms: float
    ms_of_replacing: float  # alone, without finding


@dataclass(frozen=True)
class Flagged:
    """What inference flags at a threshold: shares of the content words of English sentences."""

    threshold: float
    sensitive: float  # in sentences that hold something sensitive
    harmless: float  # in those that do not


def text_of(language: str, words: int) -> str:
    """The first `words` words of the sentences, or nearly, again from the start where they end."""
    sentences = TEXTS[language]
    taken, n = "", 0
    while True:
        sentence = sentences[n % len(sentences)]
        more = len(taken.split()) + len(sentence.split())
        if taken and more > words + 2:
            return taken.replace(" ", "") if language == "zh" else taken
        taken, n = f"{taken} {sentence}" if taken else sentence, n + 1


def kept(sessions: int = 20) -> list[Kept]:
    rows = []
    for language in TEXTS:
        text = text_of(language, 150)
        for mode in MODES:
            whole, parts = [], []
            for seed in range(sessions):
                desensitiser = _desensitiser(language, mode, seed)
                replacer = Replacer(mode, _list(language), seed=seed)
                whole.append(jaccard(words_of(text), words_of(desensitiser(text).text)))
                for one in desensitiser.stretches(text):
                    before = text[one.start : one.end]
                    parts.append(jaccard(before.lower(), replacer.replace(before, one.kind, one.term).lower()))
            rows.append(Kept(language, mode, fmean(whole), fmean(parts)))
    return rows


def took() -> list[Took]:
    """Languages, lengths and modes in turn, again and again."""
    spent: dict[tuple[str, str, int], list[tuple[float, float]]] = {}
    for turn in range(_RUNS + 1):
        for language in TEXTS:
            for words in LENGTHS:
                text = text_of(language, words)
                for mode in MODES:
                    desensitiser = _desensitiser(language, mode, turn)
                    start = process_time()
                    desensitiser(text)
                    whole = process_time()
                    desensitiser.stretches(text)
                    finding = process_time() - whole
                    if turn:  # the first one fills caches
                        spent.setdefault((language, mode, words), []).append((whole - start, whole - start - finding))
    return [
        Took(language, mode, words, *(1e3 * median(column) for column in zip(*times, strict=True)))
        for (language, mode, words), times in spent.items()
    ]


def flagged() -> list[Flagged]:
    harmless, all_of_them = TEXTS["en"][HARMLESS], TEXTS["en"]
    sensitive = [sentence for sentence in all_of_them if sentence not in harmless]
    content = Inference(-1.0)
    rows = []
    for threshold in THRESHOLDS:
        inference = Inference(threshold)
        shares = [
            sum(len(inference.find(s.split())) for s in sentences) / sum(len(content.find(s.split())) for s in sentences)
            for sentences in (sensitive, harmless)
        ]
        rows.append(Flagged(threshold, *shares))
    return rows


def jaccard(a: Sequence[str], b: Sequence[str]) -> float:
    """What both sets have of what either has; 1 for two empty ones."""
    either = set(a) | set(b)
    return len(set(a) & set(b)) / len(either) if either else 1.0


@cache
def _list(language: str) -> Lexicon:
    return Lexicon.of(LISTED[language])


def _desensitiser(language: str, mode: str, seed: int) -> Desensitiser:
    return Desensitiser(mode, lexicon=_list(language), language=language, seed=seed)


def as_text(took: Sequence[Took], kept: Sequence[Kept], flagged: Sequence[Flagged]) -> str:
    lines = ["CPU time of a text in a new session, ms: finding and replacing, and of that replacing", f"{'words':>12}"]
    lines[-1] += "".join(f"{words:>15}" for words in LENGTHS)
    for language in TEXTS:
        for mode in MODES:
            row = [t for t in took if (t.language, t.mode) == (language, mode)]
            times = "".join(f"{t.ms:8.1f} ({t.ms_of_replacing:4.1f})" for t in row)
            lines.append(f"{language} {mode:9}{times}   {1e3 * SOURCE_S[mode] / row[-1].ms:.0f} x as fast as the source's")
    lines += ["", "Jaccard index            words of the text  characters replaced"]
    lines += [f"{k.language} {k.mode:9}{k.words:>30.2f}{k.replaced:>21.2f}" for k in kept]
    lines += ["", "Inferred, of the content words in English sentences that are    sensitive  harmless"]
    lines += [f"t = {f.threshold:<57.1f}{f.sensitive:>12.2f}{f.harmless:>10.2f}" for f in flagged]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m velavox.bench.content.text", description="How text is desensitised.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    path = parser.parse_args().json
    times, likeness, inferred = took(), kept(), flagged()
    print(as_text(times, likeness, inferred))
    if path is not None:
        rows: dict[str, Sequence[Took | Kept | Flagged]] = {"took": times, "kept": likeness, "flagged": inferred}
        figures = {name: [asdict(row) for row in of] for name, of in rows.items()}
        path.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
