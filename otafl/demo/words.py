"""The texts of the page about a round and a training."""

from __future__ import annotations

import math
from html import escape

from otafl.demo.linkview import LinkView
from otafl.demo.setting import IDEAL_BACKOFF_DB, Setting

CARDS = """
:host { font: 14px/1.4 system-ui, sans-serif; color: #30363d; }
.bk-clearfix { display: block; width: 100%; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(112px, 1fr)); gap: 10px; }
.card { background: #fff; border: 1px solid #e2e6eb; border-radius: 10px; padding: 10px 14px; }
.value { font-size: clamp(16px, 1.4vw, 21px); font-weight: 600; white-space: nowrap; }
.name { font-size: 12px; color: #5b6470; }
"""
STORY = """
:host { font: 15px/1.5 system-ui, sans-serif; color: #30363d; }
p { margin: 0; }
"""


def decibels(ratio: float) -> str:
    """Return a power ratio in decibels, as HTML.

    >>> decibels(0.01)
    '&minus;20.0 dB'
    """
    if math.isnan(ratio):
        return "none known"
    if math.isinf(ratio):
        return "infinite"
    return f"{10 * math.log10(ratio):.1f} dB".replace("-", "&minus;")


def numbers(view: LinkView) -> str:
    """Return the cards with the numbers of a round, as HTML."""
    cards = {
        "NMSE of this round": decibels(view.nmse),
        "closed form, on average": decibels(view.expected_nmse),
        "from noise alone": decibels(view.noise_part),
        "carriers in use": f"{view.active:.0%}",
        "common gain, relative to |h| = 1": decibels(10 ** (view.gain_db / 10)),
        "clipped, worst client": f"{view.clip_rate:.1%}",
        "time on the air": f"{1e3 * view.airtime:.2f} ms",
    }
    inside = "".join(
        f'<div class="card"><div class="value">{value}</div><div class="name">{name}</div></div>'
        for name, value in cards.items()
    )
    return f'<div class="cards">{inside}</div>'


def story(setting: Setting, view: LinkView) -> str:
    """Describe a round and what limits it in a few sentences, as HTML."""
    who = "One client sends" if setting.clients == 1 else f"{setting.clients} clients send"
    what = "votes of +1 and &minus;1" if setting.payload == "votes" else "Gaussian values"
    sentences = [
        f"{who} {what} on the same carriers at the same time; the server hears only their sum."
    ]
    share = min(view.noise_part / view.nmse, 1.0)
    causes = _other_causes(setting, view)
    if view.active == 0:
        sentences.append("<b>Nobody sends</b>: every client estimates its channel to be too weak.")
    elif share > 0.8 or not causes:
        sentences.append("<b>Noise causes nearly all of the error:</b> a higher SNR would help.")
    else:
        sentences.append(
            f"Noise causes only {_percent(share)} of the error; <b>the rest comes from {causes}"
            "</b>, and no SNR, however high, would remove it."
        )
    if view.curve.why_not:
        sentences.append(f"No closed form here: {escape(view.curve.why_not)}.")
    elif setting.faults:
        sentences.append(
            "The closed form includes no hardware faults: their cost is how far the markers lie "
            "above its line at high SNR."
        )
    elif math.isinf(view.expected_nmse):
        sentences.append(
            "Without truncation, inverting a wrong estimate of a weak channel can amplify without "
            "limit: the mean error is infinite, and the markers are averages of a few realisations."
        )
    return f"<p>{' '.join(sentences)}</p>"


def _percent(share: float) -> str:
    return "less than 1 %" if share < 0.01 else f"{share:.0%}"


def _other_causes(setting: Setting, view: LinkView) -> str:
    present = {
        f"the {1 - view.active:.0%} of carriers on which clients stay silent": view.active < 1,
        "errors in the channel estimates": setting.csi_error > 0,
        "oscillators that drift apart": setting.carrier_offset > 0,
        "saturating amplifiers": setting.backoff_db < IDEAL_BACKOFF_DB,
    }
    *causes, last = [cause for cause, is_present in present.items() if is_present] or [""]
    return f"{', '.join(causes)} and {last}" if causes else last


def invitation() -> str:
    """Return the text before the first training, as HTML."""
    return "<p>Press Train: three algorithms learn the MNIST digits over the link above.</p>"


def training(number: int, rounds: int) -> str:
    """Return the progress of a training, as HTML."""
    return f"<p>Round {number} of {rounds} …</p>"


def trained(setting: Setting, accuracies: dict[str, float], problem: str | None) -> str:
    """Return the result of a training, as HTML."""
    if problem is not None:
        return f"<p>Training stopped: {escape(problem)}</p>"
    if not accuracies:
        return invitation()
    found = ", ".join(
        f"{name} {'diverged' if math.isnan(value) else f'{value:.1f} %'}"
        for name, value in accuracies.items()
    )
    snr = f"{setting.entry_snr_db:g}".replace("-", "&minus;")
    return f"<p><b>{found}</b> with {setting.clients} clients at {snr} dB per entry.</p>"
