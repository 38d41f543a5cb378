"""How the documentation is built: ``make docs``."""

from __future__ import annotations

import shutil
import sys
from importlib.metadata import version as version_of
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # for the two extensions beside this file

project = "otafl"
author = "the otafl authors"
copyright = "the otafl authors, Apache-2.0"
version = release = version_of("otafl")

extensions = ["sphinx.ext.autodoc", "myst_nb", "docstrings", "mathml"]
exclude_patterns = ["generated/*"]
html_theme = "furo"
html_title = "otafl"
html_static_path = ["static"]
html_css_files = ["look.css"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False

myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # notebooks are shown as they were run, by make notebooks
nb_ipywidgets_js = {}

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings give shapes and units
autoclass_content = "class"
python_maximum_signature_line_length = 80

# Sphinx reads what lies below this folder; the notebooks live with the scenarios.
shutil.rmtree(HERE / "notebooks", ignore_errors=True)  # one may have another name now
shutil.copytree(
    HERE.parent / "scenarios" / "notebooks",
    HERE / "notebooks",
    ignore=shutil.ignore_patterns("*.py", "__pycache__", ".*"),
)
