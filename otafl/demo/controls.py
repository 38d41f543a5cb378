"""The controls of the page: one per option of a setting."""

from __future__ import annotations

from typing import Any

from bokeh.models import InputWidget, Select, Slider, Spinner

from otafl.demo.setting import CHOICES, RANGES, Setting

TITLES = {
    "clients": "Clients",
    "payload": "What they send",
    "entry_snr_db": "Entry SNR [dB]",
    "fading": "Fading",
    "csi_error": "CSI error",
    "truncation": "Truncation",
    "carrier_offset": "Carrier offset [spacings]",
    "backoff_db": "Amplifier backoff [dB]",
    "seed": "Seed",
}
FORMATS = {"csi_error": "0.000", "truncation": "0.00", "carrier_offset": "0.000"}
STRETCH: dict[str, Any] = {"sizing_mode": "stretch_width", "margin": (2, 5)}


class Controls:
    """The controls of one page; ``widgets`` holds them by the name of their option."""

    def __init__(self, setting: Setting) -> None:
        self.widgets = {name: _widget(name, getattr(setting, name)) for name in TITLES}

    @property
    def setting(self) -> Setting:
        """What the controls are set to.

        A number that is typed in, or left out, is taken as the nearest one allowed.
        """
        values = {name: widget.value for name, widget in self.widgets.items()}
        start, end, _ = RANGES["seed"]
        values["seed"] = int(min(max(values["seed"] or 0, start), end))
        return Setting(**values)

    def set(self, setting: Setting) -> None:
        """Move all controls."""
        for name, widget in self.widgets.items():
            widget.value = getattr(setting, name)


def _widget(name: str, value: Any) -> InputWidget:
    shared: dict[str, Any] = {"name": name, "title": TITLES[name], "value": value, **STRETCH}
    if name in CHOICES:
        return Select(options=list(CHOICES[name]), **shared)
    start, end, step = RANGES[name]
    if name == "seed":  # a slider could not reach each of a million
        return Spinner(low=start, high=end, step=step, mode="int", **shared)
    form = FORMATS.get(name, "0")
    return Slider(start=start, end=end, step=step, format=form, show_value=True, **shared)
