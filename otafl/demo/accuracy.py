"""The plot of a training: test accuracy against round."""

from __future__ import annotations

from bokeh.models import ColumnDataSource, Range1d

from figures import style
from otafl.demo import plots
from otafl.demo.scenario import ALGORITHMS, ROUNDS

LOOKS = {
    "acpc": (style.BLUE, "solid"),
    "cotaf": (style.RED, "dashed"),
    "fedavg": (style.GREEN, "dotdash"),
}


class AccuracyPicture:
    """Test accuracy of each algorithm, round by round; ``figure`` is the plot."""

    def __init__(self) -> None:
        limits = {"x_range": Range1d(0, ROUNDS), "y_range": Range1d(0, 100)}
        self.figure = plots.plot("round", "test accuracy [%]", **limits)
        self._source = ColumnDataSource({"round": [], **{name: [] for name in ALGORITHMS}})
        for name in ALGORITHMS:
            colour, dash = LOOKS[name]
            look = {"color": colour, "line_dash": dash, "legend_label": style.ALGORITHMS[name]}
            self.figure.line("round", name, source=self._source, line_width=2.5, **look)
        plots.legend(self.figure)
        self.figure.legend.visible = False  # it has nothing to show

    def clear(self) -> None:
        """Remove all curves."""
        self._source.data = {name: [] for name in self._source.data}
        self.figure.legend.visible = False

    def add(self, number: int, accuracies: list[float]) -> None:
        """Add the accuracies of a round, one per algorithm."""
        percent = [[100 * accuracy] for accuracy in accuracies]
        self.figure.legend.visible = True
        self._source.stream({"round": [number], **dict(zip(ALGORITHMS, percent, strict=True))})

    @property
    def rounds(self) -> int:
        """The latest round; 0 before the first."""
        return int(self._source.data["round"][-1]) if len(self._source.data["round"]) else 0

    @property
    def last(self) -> dict[str, float]:
        """Latest accuracies in percent by algorithm; empty before the first round."""
        return {
            style.ALGORITHMS[name]: float(self._source.data[name][-1])
            for name in ALGORITHMS
            if len(self._source.data[name])
        }
