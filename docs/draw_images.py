"""Draw the images of the documentation anew: ``make images``.

Every bundled scenario is run first, where its study is not finished: about an hour on two cores,
which can be interrupted and resumed. The picture of the demo page needs Chromium and ChromeDriver
(Debian: chromium, chromium-driver) and is left as it is where they are missing.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from draw_page import picture
from matplotlib.figure import Figure

import otafl
from figures import gallery, style, system_diagram
from figures.link_view import look_at
from scenarios.config.library import bundled, read_source

DOCS = Path(__file__).parent
IMAGES = DOCS / "images"
FURTHER = {"power-amplifier": ["papr"], "power-budget": ["symbol_energy"]}
"""Figures beside the main one that pages show."""
LINK_CHECK = "truncation"


def main() -> None:
    """Run what is missing and draw everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=Path, default=Path("out"), help="where studies are")
    studies = parser.parse_args().studies
    style.apply()
    IMAGES.mkdir(exist_ok=True)
    draw_diagram()
    draw_link()
    entries = [gallery_entry(name, studies / name) for name in bundled()]
    (DOCS / "generated" / "gallery.md").write_text("\n".join(entries), encoding="utf-8")
    draw_link_check(studies)
    draw_page()


def draw_diagram() -> None:
    """Draw the block diagram of the system."""
    with matplotlib.rc_context({"svg.fonttype": "path"}):  # readers may lack the font
        save(system_diagram.draw(), "system.svg")


def draw_link() -> None:
    """Draw the overview of one round that the page on figures shows."""
    link = otafl.WaveformLink(
        entry_snr_db=25.0,
        csi=otafl.PilotCsi(snr_db=25.0),
        truncation=0.1,
        transmit=[otafl.Rapp(backoff_db=6.0)],
    )
    save(otafl.plot_link(look_at(link, num_clients=5, seed=1)), "link.png")


def gallery_entry(name: str, folder: Path) -> str:
    """Run a scenario if needed, draw its figures, and return its part of the gallery."""
    command("run", name, "--out", folder)
    main_name, figure = next(gallery.draw_study(folder, on_note=lambda note: None))
    save(figure, f"{name}.png")
    for further in FURTHER.get(name, []):
        ((_, extra),) = gallery.draw_study(folder, [further], on_note=lambda note: None)
        save(extra, f"{name}-{further}.png")
    title, caption = read_source(name)["title"], style.caption_of(figure)
    caption = caption.removeprefix(f"{title}: ")
    return (
        f"## {name}\n\n{title}.\n\n"
        f":::{{figure-md}}\n![{title}](../images/{name}.png)\n\n"
        f"{caption[0].upper()}{caption[1:]}\n:::\n\n"
        f"```\notafl run {name}\notafl plot out/{name} --only {main_name}\n```\n"
    )


def draw_link_check(studies: Path) -> None:
    """Measure the links of a scenario and draw their errors."""
    folder = studies / f"link-{LINK_CHECK}"
    if not folder.is_dir():
        command("link", LINK_CHECK, "--out", folder)
    ((_, figure),) = gallery.draw_study(folder)
    save(figure, f"link-{LINK_CHECK}.png")


def draw_page() -> None:
    """Take a picture of the demo page, if there is a browser."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        print("Chromium is missing: images/demo.png is left as it is", file=sys.stderr)
        return
    picture(IMAGES / "demo.png", chromium, driver)
    print(IMAGES / "demo.png")


def save(figure: Figure, name: str) -> None:
    """Save a figure; equal figures give equal files."""
    metadata = {"Date": None} if name.endswith("svg") else None
    figure.savefig(IMAGES / name, metadata=metadata)
    plt.close(figure)
    print(IMAGES / name)


def command(*arguments: object) -> None:
    """Call the command line, with its progress on the terminal."""
    done = subprocess.run([sys.executable, "-m", "otafl", *map(str, arguments)], check=False)
    if done.returncode:
        sys.exit(done.returncode)


if __name__ == "__main__":
    main()
