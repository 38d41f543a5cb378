"""How the documentation is built: ``make docs``."""

from __future__ import annotations

import re
import shutil
import sys
from dataclasses import MISSING, fields, is_dataclass
from importlib.metadata import version as version_of
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # for mathml, the extension beside this file

project = "otafl"
author = "the otafl authors"
copyright = "the otafl authors, Apache-2.0"  # noqa: A001
version = release = version_of("otafl")

extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "myst_nb", "mathml"]
exclude_patterns = ["generated/*"]
highlight_language = "text"  # of blocks that name none
html_theme = "furo"
html_title = "otafl"
html_static_path = ["static"]
html_css_files = ["look.css"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = False  # a page opened from a file cannot fetch others to quote them

myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # notebooks are shown as make notebooks ran them
nb_ipywidgets_js = {}

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings give types, shapes and units
autoclass_content = "class"
python_maximum_signature_line_length = 80

napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_param = False
napoleon_use_rtype = False

# Sphinx reads only what is below this folder, and the notebooks live with the scenarios.
shutil.rmtree(HERE / "notebooks", ignore_errors=True)  # a notebook may have been renamed
shutil.copytree(
    HERE.parent / "scenarios" / "notebooks",
    HERE / "notebooks",
    ignore=shutil.ignore_patterns("*.py", "__pycache__", ".*"),
)

FIELDS = {"Parameters", "Attributes", "Returns", "Yields", "Raises", "Warns"}
TABLE = re.compile(r"=+(\s+=+)+$")


def plain_formulas(
    app: Sphinx, kind: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    """Let formulas stand in docstrings as plain text.

    Indented paragraphs become literal blocks, and so do tables of symbols; elsewhere | and *, which
    mean something in reStructuredText, mean themselves.
    """
    done: list[str] = []
    indent, literal = 0, False
    for place, line in enumerate(lines):
        following = lines[place + 1] if place + 1 < len(lines) else ""
        if following and set(following) == {"-"}:  # a heading
            indent = 4 if line in FIELDS else 0
        if line.strip() and not (done and done[-1].strip()):  # a paragraph begins
            own = len(line) - len(line.lstrip())
            table = TABLE.match(line.strip()) is not None
            literal = (own > indent or table) and not line.lstrip().startswith(">>>")
            if literal:
                done += [" " * indent + "::", ""]
        if literal:
            done.append(f"    {line}" if line.strip() and own <= indent else line)
        else:
            done.append(line if line.lstrip().startswith(">>>") else _escaped(line))
    lines[:] = done


def _escaped(line: str) -> str:
    """Escape bars and asterisks outside of ``literals`` and **bold**."""
    pieces = re.split(r"(``.*?``|\*\*\S.*?\S\*\*)", line)
    return "".join(
        piece if place % 2 else re.sub(r"([|*])", r"\\\1", piece)
        for place, piece in enumerate(pieces)
    )


def plain_signatures(
    app: Sphinx, kind: str, name: str, thing: Any, options: Any, signature: str, result: str
) -> tuple[str, str] | None:
    """Show the defaults that a dataclass makes anew for every instance; none for protocols."""
    if isinstance(thing, type) and vars(thing).get("_is_protocol"):
        return "", result
    if not is_dataclass(thing) or signature is None:
        return None
    for field in fields(thing):
        if field.default_factory is not MISSING:
            made = f"{field.name}={field.default_factory.__name__}()"
            signature = signature.replace(f"{field.name}=<factory>", made)
    return signature, result


def setup(app: Sphinx) -> None:
    """Connect what is defined here."""
    app.connect("autodoc-process-docstring", plain_formulas, priority=100)  # before napoleon
    app.connect("autodoc-process-signature", plain_signatures)
