"""The texts of the page about a round and a training, as HTML."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from figures.link_view import LENGTH
from otafl._base.decibels import to_db
from otafl.demo.presets import PRESETS, preset_of
from otafl.demo.scenario import MODEL_SIZE, ROUNDS
from otafl.demo.setting import IDEAL_BACKOFF_DB, Setting
from otafl.demo.snapshot import Snapshot

NEARLY_ALL = 0.95
COUNTS = ("Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten")


def level(value_db: float) -> str:
    """Return decibels with one digit.

    >>> level(-20.04), level(-0.01)
    ('&minus;20.0 dB', '0.0 dB')
    """
    return f"{_without_minus_zero(f'{value_db:.1f}')} dB".replace("-", "&minus;")


def decibels(ratio: float) -> str:
    """Return a power ratio in decibels.

    >>> decibels(0.01)
    '&minus;20.0 dB'
    """
    if math.isnan(ratio):
        return "none known"
    if math.isinf(ratio):
        return "infinite"
    return level(float(to_db(ratio)))


def percent(share: float) -> str:
    """Return a share in percent; all and nothing only where they are exact.

    >>> percent(0.25), percent(0.998), percent(0.0002), percent(0.99999)
    ('25%', '99.8%', 'less than 0.1%', 'more than 99.9%')
    """
    if 0 < share < 0.001:
        return "less than 0.1%"
    if 0.999 < share < 1:
        return "more than 99.9%"
    return f"{100 * share:.1f}".removesuffix(".0") + "%"


def block_snr_db(entry_snr_db: float, length: int) -> float:
    """Return the SNR of a block of ``length`` entries [dB].

    >>> round(block_snr_db(-29.0, 7850), 1)
    9.9
    """
    return entry_snr_db + float(to_db(length))


def numbers(shown: Snapshot) -> str:
    """Return the cards with the numbers of a round."""
    entry_snr_db = shown.setting.entry_snr_db
    snrs = f"{entry_snr_db:g} | {block_snr_db(entry_snr_db, LENGTH):.1f}"
    cards = {
        "NMSE of this round": decibels(shown.nmse),
        "mean NMSE in theory": decibels(shown.expected_nmse),
        "NMSE from noise alone": decibels(shown.noise_part),
        f"SNR [dB] per entry | block, d&nbsp;=&nbsp;{LENGTH}": snrs.replace("-", "&minus;"),
        "carriers in use": percent(shown.active),
        "gain vs. |h|&nbsp;=&nbsp;1": level(shown.gain_db),
        "samples clipped, worst client": percent(shown.clip_rate),
        "time on the air": f"{1e3 * shown.airtime:.2f} ms",
    }
    inside = "".join(
        f'<div class="card"><div class="value">{value}</div><div class="name">{name}</div></div>'
        for name, value in cards.items()
    )
    return f'<div class="cards">{inside}</div>'


def story(shown: Snapshot) -> str:
    """Describe a round and what limits it in a few sentences."""
    setting, curve = shown.setting, shown.curve
    name = preset_of(setting)
    sentences = [f"<b>{name}.</b> {PRESETS[name].sentence}"] if name else [_who(setting)]
    sentences.append(_limit(shown))
    if curve.why_not:
        sentences.append(f"There is no closed form here: {escape(curve.why_not)}.")
    elif setting.faults:
        sentences.append(
            "The closed form is for ideal hardware: the cost of real hardware is how far the "
            "markers lie above its line at high SNR."
        )
    elif math.isinf(shown.expected_nmse):
        sentences.append(
            "Without truncation, inverting a wrong estimate of a weak channel can amplify without "
            "limit: the mean error is infinite, and the markers are averages of a few realisations."
        )
    return f"<p>{' '.join(sentences)}</p>"


def _who(setting: Setting) -> str:
    what = "votes of +1 and &minus;1" if setting.payload == "votes" else "Gaussian values"
    if setting.clients == 1:
        return f"A single client sends {what}, so the sum is its own signal."
    count = dict(enumerate(COUNTS, start=2)).get(setting.clients, str(setting.clients))
    return (
        f"{count} clients send {what} on the same carriers at the same time; the server "
        "hears only their sum."
    )


def _limit(shown: Snapshot) -> str:
    """Say what causes the error of a round."""
    single, causes = shown.setting.clients == 1, _other_causes(shown)
    if shown.active == 0:
        who = "the client" if single else "every client"
        return f"<b>Nobody sends</b>: {who} estimates its channel to be too weak."
    if not causes:
        return "<b>Noise causes all of the error:</b> a higher SNR helps."
    share = shown.noise_part / shown.nmse
    if share > NEARLY_ALL:
        return "<b>Noise causes nearly all of the error:</b> a higher SNR helps."
    return (
        f"Noise causes {percent(share)} of the error; <b>the rest comes from {_listed(causes)}</b>,"
        " and no SNR, however high, removes it."
    )


def _other_causes(shown: Snapshot) -> list[str]:
    """Return what else than noise distorts the sum."""
    setting, single = shown.setting, shown.setting.clients == 1
    whose = "the client stays" if single else "clients stay"
    present = {
        f"the {percent(1 - shown.active)} of carriers on which {whose} silent": shown.active < 1,
        f"errors in the channel estimate{'' if single else 's'}": setting.csi_error > 0,
        "an oscillator that drifts"
        if single
        else "oscillators that drift apart": setting.carrier_offset > 0,
        "a saturating amplifier" if single else "saturating amplifiers": setting.backoff_db
        < IDEAL_BACKOFF_DB,
    }
    return [cause for cause, is_present in present.items() if is_present]


def _listed(causes: Sequence[str]) -> str:
    *first, last = causes
    return f"{', '.join(first)} and {last}" if first else last


def notice(messages: Sequence[str]) -> str:
    """Return what was wrong with the address of the page."""
    return "".join(f'<p class="notice">In the address, {escape(each)}.</p>' for each in messages)


def invitation() -> str:
    """Return the text before the first training."""
    return "<p>Three algorithms learn the MNIST digits over this link.</p>"


def waiting(ahead: int) -> str:
    """Return the place in the queue; nothing is ahead of a training that begins."""
    if ahead == 0:
        return "<p>Starting &hellip;</p>"
    return f"<p>{ahead} {'training' if ahead == 1 else 'trainings'} ahead of yours.</p>"


def refused(most: int) -> str:
    """Return the text for a training that finds the queue full."""
    return f"<p>{most} trainings are waiting already. Please try again in a minute.</p>"


def training(number: int) -> str:
    """Return the progress of a training."""
    return f"<p>Round {number} of {ROUNDS} &hellip;</p>"


def trained(
    setting: Setting, number: int, accuracies: dict[str, float], problem: str | None
) -> str:
    """Return the result of a training that ended after a round."""
    if problem is not None:
        return f"<p>The training failed: {escape(problem)}.</p>"
    if not accuracies:
        return invitation()
    found = ", ".join(
        f"{name} {'diverged' if math.isnan(value) else f'{value:.1f}%'}"
        for name, value in accuracies.items()
    )
    stopped = f"Stopped after round {number}: " if number < ROUNDS else ""
    clients = "1 client" if setting.clients == 1 else f"{setting.clients} clients"
    block = level(block_snr_db(setting.entry_snr_db, MODEL_SIZE))
    entry = f"{setting.entry_snr_db:g}".replace("-", "&minus;")
    return (
        f"<p>{stopped}<b>{found}</b>; {clients}, SNR {entry} dB per entry, {block} per block of "
        f"d = {MODEL_SIZE}.</p>"
    )


def _without_minus_zero(text: str) -> str:
    return text.removeprefix("-") if float(text) == 0 else text
