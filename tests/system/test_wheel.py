"""The wheel is complete: installed outside the checkout, every command works from an empty folder.

Dependencies come from the environment that runs the tests, through a .pth file; the package itself
must come from the wheel alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

pytestmark = [pytest.mark.system, pytest.mark.timeout(1200)]

ROOT = Path(__file__).parents[2]
PACKAGES = ("otafl", "figures", "scenarios", "links", "phy", "fl")


def run(*command, cwd, check=True):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    done = subprocess.run(
        [str(each) for each in command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not check or done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built from what is committed or not, in a copy: a build leaves files behind."""
    folder = tmp_path_factory.mktemp("wheel")
    listed = run("git", "ls-files", "-co", "--exclude-standard", cwd=ROOT).stdout.splitlines()
    source = folder / "source"
    for name in listed:
        if (ROOT / name).is_file() and not name.startswith(("tests/", "docs/")):
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes((ROOT / name).read_bytes())
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    run(*pip, "wheel", "-q", "--no-deps", "--wheel-dir", folder, source, cwd=folder)
    (built,) = folder.glob("otafl-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The ``bin`` directory of a fresh environment with the wheel."""
    folder = tmp_path_factory.mktemp("fresh")
    run(sys.executable, "-m", "venv", folder / "venv", cwd=folder)
    python = folder / "venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "-q", "--no-deps", "--no-index", wheel, cwd=folder)
    site = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder)
    # a .pth file adds the paths of dependencies, but runs no .pth files there: the editable
    # install of the checkout stays out of sight
    places = {
        sysconfig.get_path("purelib"),
        *(each for each in sys.path if "site-packages" in each),
    }
    (Path(site.stdout.strip()) / "dependencies.pth").write_text("\n".join(sorted(places)) + "\n")
    return folder / "venv" / "bin"


def test_the_wheel_has_what_is_not_python(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    shipped = sorted(path.name for path in (ROOT / "scenarios" / "library").glob("*.toml"))
    assert len(shipped) > 10
    assert (
        sorted(
            Path(name).name
            for name in names
            if name.startswith("scenarios/library/") and ".toml" in name
        )
        == shipped
    )
    assert "otafl/demo/page.html" in names
    assert any(name.startswith("fl/datasets/") and not name.endswith(".py") for name in names)
    assert {f"{package}/py.typed" for package in PACKAGES} <= set(names)
    assert not [name for name in names if name.startswith(("tests/", "docs/"))]


def test_the_wheel_has_every_module(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    left_out = ("scenarios/notebooks/", "scenarios/examples/")
    modules = {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
    }
    expected = {name for name in modules if not name.startswith(left_out)}
    assert len(expected) > 100
    assert expected <= names


def test_modules_come_from_the_wheel(installed, tmp_path):
    names = ", ".join(PACKAGES)
    code = f"import json, {names}; print(json.dumps([each.__file__ for each in ({names})]))"
    files = json.loads(run(installed / "python", "-c", code, cwd=tmp_path).stdout)
    for file in files:
        assert file.startswith(str(installed.parent)), file


def test_the_commands_work_from_an_empty_folder(installed, tmp_path):
    otafl = installed / "otafl"
    assert run(otafl, "--version", cwd=tmp_path).stdout.strip() == version("otafl")
    assert run(
        installed / "python", "-m", "otafl", "--version", cwd=tmp_path
    ).stdout.strip() == version("otafl")
    assert "quickstart" in run(otafl, "list", cwd=tmp_path).stdout
    done = run(otafl, "run", "quickstart", "--rounds", 3, cwd=tmp_path)
    assert "9 of 9 cells done" in done.stderr
    rows = json.loads(run(otafl, "show", "out/quickstart", "--json", cwd=tmp_path).stdout)
    assert [row["n"] for row in rows] == [3, 3, 3]
    assert "accuracy [%]" in run(otafl, "show", "out/quickstart", cwd=tmp_path).stdout
    figures = run(otafl, "plot", "out/quickstart", cwd=tmp_path).stdout.split()
    assert "out/quickstart/figures/accuracy_rounds.svg" in figures
    sizes = {figure: (tmp_path / figure).stat().st_size for figure in figures}
    assert all(size > (100 if name.endswith(".md") else 1000) for name, size in sizes.items())


def test_the_installation_validates(installed, tmp_path):
    done = run(installed / "otafl", "validate", "--markdown", "report.md", cwd=tmp_path)
    assert "claims hold" in done.stdout
    assert "**fails**" not in (tmp_path / "report.md").read_text()


def test_the_page_starts(installed, tmp_path):
    command = [str(installed / "otafl"), "demo", "--port", "0", "--no-browser"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert "the page is at http://127.0.0.1:" in server.stdout.readline()
        finally:
            server.terminate()
