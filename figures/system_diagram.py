"""The block diagram of the system: clients, the air and the server, and which package does what.

Lengths are inches of a figure as wide as a page; everything scales with the current style.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Rectangle

from figures import style

HEIGHT = 3.58
CAPTION = (
    "One round of over-the-air federated learning. Each client trains, packs its vector onto "
    "resource elements, inverts its channel and transmits; the air adds up what all clients send; "
    "the server reads the sum, updates the model and broadcasts it."
)
TINTS = {"fl": "#D6EFE6", "links": "#FBEBC8", "phy": "#D9ECF8"}
"""Fill of the boxes of each package: the house colours green, orange and blue, lightened."""
EDGES = {"fl": style.GREEN, "links": style.ORANGE, "phy": style.BLUE}
ROLES = {
    "fl": "training and algorithms",
    "links": "power budgets, gain",
    "phy": "OFDM, fading, hardware",
}
TITLE, TEXT, SMALL = 6.8, 6.0, 5.8  # sizes of text [pt]
GREY = "0.35"


class Block(NamedTuple):
    """A step: its package, its name and what it does."""

    package: str
    name: str
    text: str


CLIENT = (
    Block("fl", "Local\ntraining", "$\\tau_i$ SGD steps\non own data"),
    Block("fl", "Signal\nvector", "algorithm's\nchoice, e.g.\n$\\alpha_i\\Delta_i/\\tau_i$"),
    Block("phy", "Packing", "two entries\non I and Q,\ninterleaved"),
    Block("phy", "Channel\ninversion", "$b_i = 1/\\hat{h}_i$,\nsilent on\nweak carriers"),
    Block("links", "Power\ncontrol", "one gain $\\beta$\nwithin every\nbudget"),
    Block("phy", "OFDM\nmodulation", "inverse FFT,\ncyclic prefix"),
    Block("phy", "Hardware", "oscillator,\nclock, power\namplifier"),
)
SERVER = (  # from right to left
    Block("phy", "OFDM\ndemodulation", "converter, FFT,\nphase correction"),
    Block("phy", "Unpacking", "I and Q back\nto real entries"),
    Block("links", "Division by gain", "$y/\\beta$, corrected for\nsilent clients"),
    Block("fl", "Model update", "$x_{t+1} = x_t$ +\nreceived sum"),
)


def draw() -> Figure:
    """Draw the diagram."""
    scale = style.size(1, 1)[0]
    figure = plt.figure(figsize=style.size(style.PAGE_WIDTH, HEIGHT), layout="none")
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, style.PAGE_WIDTH), ylim=(0, HEIGHT))
    axes.set_axis_off()
    canvas = _Canvas(axes, scale)
    clients = _draw_clients(canvas)
    first, update = _draw_server(canvas)
    fading = _draw_air(canvas, clients[-1], first)
    _draw_csi(canvas, fading, clients[3])
    _draw_broadcast(canvas, update, clients[0])
    _draw_sum(canvas)
    _draw_packages(canvas)
    return style.describe(figure, CAPTION)


class _Box(NamedTuple):
    """A rectangle on the page."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def top(self) -> float:
        return self.y + self.height

    @property
    def centre(self) -> tuple[float, float]:
        return self.x + self.width / 2, self.y + self.height / 2


class _Canvas:
    """Axes in inches of the page, and the scale of the current style."""

    def __init__(self, axes: Axes, scale: float) -> None:
        self.axes, self.scale = axes, scale

    def write(
        self, x: float, y: float, text: str, size: float = TEXT, **options: str | float
    ) -> None:
        """Write text, centred at a point unless ``options`` say otherwise."""
        look = {"ha": "center", "va": "center", "linespacing": 1.15, **options}
        self.axes.text(x, y, text, fontsize=size * self.scale, **look)  # type: ignore[arg-type]

    def panel(self, box: _Box, title: str, copies: int = 0) -> None:
        """Draw the frame of clients, air or server; ``copies`` peek out behind it."""
        for shift in range(copies, -1, -1):
            corner = (box.x + 0.05 * shift, box.y + 0.05 * shift)
            shade = "0.97" if shift == 0 else "0.93"
            self.axes.add_patch(
                Rectangle(
                    corner,
                    box.width,
                    box.height,
                    facecolor=shade,
                    edgecolor="0.6",
                    linewidth=0.6 * self.scale,
                    zorder=0,
                )
            )
        self.write(
            box.x + 0.08, box.top - 0.09, title, TITLE, ha="left", fontweight="bold", color=GREY
        )

    def frame(self, box: _Box, face: str, edge: str, name: str) -> None:
        """Draw a box with rounded corners."""
        self.axes.add_patch(
            FancyBboxPatch(
                (box.x, box.y),
                box.width,
                box.height,
                boxstyle="round,pad=0,rounding_size=0.05",
                facecolor=face,
                edgecolor=edge,
                linewidth=0.8 * self.scale,
                gid=name,
            )
        )

    def block(self, box: _Box, block: Block) -> None:
        """Draw a step, with its package at the bottom."""
        self.frame(box, TINTS[block.package], EDGES[block.package], block.name.replace("\n", " "))
        x, _ = box.centre
        lines = block.name.count("\n") + 1
        self.write(x, box.top - 0.045, block.name, TITLE, va="top", fontweight="bold")
        self.write(x, box.top - 0.075 - 0.115 * lines, block.text, va="top")
        self.write(x, box.y + 0.065, block.package, SMALL, style="italic", color=GREY)

    def arrow(
        self, *points: tuple[float, float], color: str = style.BLACK, dashed: bool = False
    ) -> None:
        """Draw a line through points, with a head at the last."""
        width = 0.9 * self.scale
        line = (0, (3, 2)) if dashed else "-"
        if len(points) > 2:
            xs, ys = zip(*points[:-1], strict=True)
            self.axes.plot(xs, ys, color=color, linewidth=width, linestyle=line, zorder=1)
        head = {
            "arrowstyle": "-|>,head_length=0.32,head_width=0.14", "color": color,
            "linewidth": width, "linestyle": line, "shrinkA": 0, "shrinkB": 0,
            "mutation_scale": 10 * self.scale,
        }  # fmt: skip
        self.axes.annotate("", points[-1], points[-2], arrowprops=head)

    def circle(self, x: float, y: float, text: str, size: float = 9.0) -> None:
        """Draw an operation."""
        self.axes.plot(
            x, y, "o", markersize=14 * self.scale, markerfacecolor="white",
            markeredgecolor=style.BLACK, markeredgewidth=0.9 * self.scale, zorder=2,
        )  # fmt: skip
        self.write(x, y, text, size, zorder=3, va="center_baseline")


def _draw_clients(canvas: _Canvas) -> list[_Box]:
    panel = _Box(0.08, 2.3, 6.9, 1.12)
    canvas.panel(panel, "client $i$ of $m$", copies=2)
    gap, width, height = 0.135, 0.845, 0.83
    left = panel.x + (panel.width - 7 * width - 6 * gap) / 2
    boxes = [_Box(left + n * (width + gap), panel.y + 0.08, width, height) for n in range(7)]
    for box, block in zip(boxes, CLIENT, strict=True):
        canvas.block(box, block)
    for one, other in itertools.pairwise(boxes):
        canvas.arrow((one.right, one.centre[1]), (other.x, one.centre[1]))
    return boxes


def _draw_server(canvas: _Canvas) -> tuple[_Box, _Box]:
    panel = _Box(0.08, 0.06, 5.38, 0.95)
    canvas.panel(panel, "server")
    gap, width, height = 0.16, 1.18, 0.67
    boxes = [
        _Box(panel.right - 0.09 - width - n * (width + gap), panel.y + 0.08, width, height)
        for n in range(4)
    ]
    for box, block in zip(boxes, SERVER, strict=True):
        canvas.block(box, block)
    for one, other in itertools.pairwise(boxes):
        canvas.arrow((one.x, one.centre[1]), (other.right, one.centre[1]))
    return boxes[0], boxes[-1]


def _draw_air(canvas: _Canvas, hardware: _Box, demodulation: _Box) -> _Box:
    """Draw fading, the sum and the noise, and return the leftmost channel."""
    panel = _Box(3.98, 1.19, 3.0, 0.94)
    canvas.panel(panel, "the air")
    places = [hardware.centre[0] + shift for shift in (-1.14, -0.57, 0.0)]
    height = panel.y + 0.2  # of the sum
    total = (places[1], height)
    boxes = [_Box(x - 0.19, height + 0.29, 0.38, 0.22) for x in places]
    for box, name, colour in zip(boxes, ("h_1", "h_2", "h_m"), style.CLIENTS, strict=False):
        x, y = box.centre
        canvas.frame(box, TINTS["phy"], colour, name)
        canvas.write(x, y, f"${name}$", TITLE)
        canvas.arrow((x, hardware.y if name == "h_m" else 2.3), (x, box.top), color=colour)
        canvas.arrow((x, box.y), _towards(total, (x, box.y), 0.1), color=colour)
    canvas.write((places[1] + places[2]) / 2, boxes[0].centre[1], "…", TITLE)
    noise = (demodulation.centre[0], height)
    canvas.circle(*total, r"$\Sigma$")
    canvas.circle(*noise, "+")
    canvas.arrow((total[0] - 0.1, height), (noise[0] + 0.1, height))
    canvas.arrow((noise[0], height - 0.1), (noise[0], demodulation.top))
    canvas.arrow((noise[0] - 0.32, height), (noise[0] - 0.1, height))
    canvas.write(noise[0] - 0.36, height, "noise $w$", ha="right")
    canvas.write(total[0] + 0.16, height - 0.02, "superposition", ha="left")
    canvas.write(boxes[0].x - 0.1, boxes[0].centre[1], "fading", ha="right")
    tag = {"ha": "right", "style": "italic", "color": GREY}
    canvas.write(panel.right - 0.07, panel.top - 0.08, "phy", SMALL, **tag)
    return boxes[0]


def _towards(
    end: tuple[float, float], start: tuple[float, float], short: float
) -> tuple[float, float]:
    """Return the point at a distance ``short`` before the end of a line."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = (dx**2 + dy**2) ** 0.5
    return end[0] - short * dx / length, end[1] - short * dy / length


def _draw_csi(canvas: _Canvas, fading: _Box, inversion: _Box) -> None:
    x, y = inversion.centre[0], fading.centre[1]
    canvas.arrow((3.98, y), (x, y), (x, inversion.y), color=style.PURPLE, dashed=True)
    canvas.write(x - 0.07, 2.07, "CSI $\\hat{h}_i$: pilots,\nerrors, ageing", ha="right")


def _draw_broadcast(canvas: _Canvas, update: _Box, training: _Box) -> None:
    x = training.centre[0]
    canvas.arrow((x, update.top), (x, training.y))
    canvas.write(x + 0.07, 1.66, "broadcast\n$x_{t+1}$", ha="left")


def _draw_sum(canvas: _Canvas) -> None:
    """Write what the server receives."""
    canvas.write(2.24, 1.56, "the server receives", ha="center")
    canvas.write(
        2.24,
        1.34,
        r"$y = \sum_i h_i\, b_i\, \beta s_i + w \approx \beta \sum_i s_i + w$",
        TITLE + 0.7,
    )


def _draw_packages(canvas: _Canvas) -> None:
    for row, (package, role) in enumerate(ROLES.items()):
        x, y = 5.62, 0.86 - 0.32 * row
        canvas.frame(_Box(x, y - 0.07, 0.2, 0.14), TINTS[package], EDGES[package], package)
        canvas.write(x + 0.29, y + 0.06, package, ha="left", style="italic", fontweight="bold")
        canvas.write(x + 0.29, y - 0.06, role, SMALL, ha="left")
