# ruff: noqa: E501  (a table of messages)
"""Classes that users bring: what a reference names, and which files take part."""

from __future__ import annotations

import hashlib
import json
import queue
import sys
from dataclasses import fields

import pytest

from otafl._base.validation import OptionError
from scenarios.config.code import Code, is_reference
from scenarios.config.importing import OURS, refuse_while_importing
from scenarios.errors import explain

STEP = """
from dataclasses import dataclass

@dataclass(frozen=True)
class Step:
    size: float = {size}
"""
ONE = STEP.format(size=1.0)


@pytest.fixture(autouse=True)
def own_imports(tmp_path, monkeypatch):
    """Forget what a test imports from its folder."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


def write(folder, name, text=ONE):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def load(folder, reference="mine.py:Step"):
    """As a new scenario does."""
    return Code(folder).load(reference)


def size_of(folder, reference="mine.py:Step"):
    return load(folder, reference).target().size


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    "name", ["mine.py:Vote", "a folder/mine.py:Vote", "/mine.py:_Vote2", "package.module:Vote"]
)
def test_a_place_and_a_class_are_a_reference(name):
    assert is_reference(name)


@pytest.mark.parametrize(
    "name", ["acpc", "mine.py", "mine.py:", ":Vote", "mine.py:2", "C:/data/mine.npz", 3, None, []]
)
def test_anything_else_is_not(name):
    assert not is_reference(name)


def test_a_bare_reference_has_no_folder_and_its_file_is_remembered(tmp_path):
    write(tmp_path, "sub/mine.py")
    code = Code(tmp_path)
    assert code.bare("sub/mine.py:Step") == "mine.py:Step"
    assert code.files == {"mine.py": tmp_path / "sub" / "mine.py"}
    assert code.load("mine.py:Step").target().size == 1.0


def test_a_module_keeps_its_name(tmp_path):
    code = Code(tmp_path)
    assert code.bare("package.module:Step") == "package.module:Step"
    assert code.files == {}


def test_one_file_may_be_named_in_several_ways(tmp_path):
    code = Code(tmp_path)
    for way in ("mine.py", "./mine.py", "sub/../mine.py", f"{tmp_path}/mine.py"):
        assert code.bare(f"{way}:Step") == "mine.py:Step"
    with pytest.raises(OptionError, match=f"{tmp_path}/mine.py has the same name; rename one"):
        code.bare("sub/mine.py:Step")


def test_a_file_is_looked_for_beside_the_scenario_and_then_in_the_current_directory(
    tmp_path, monkeypatch
):
    here, beside = tmp_path / "here", tmp_path / "beside"
    write(here, "mine.py", ONE)
    write(here, "other.py", STEP.format(size=2.0))
    write(beside, "mine.py", STEP.format(size=3.0))
    monkeypatch.chdir(here)
    assert size_of(beside) == 3.0
    assert size_of(beside, "other.py:Step") == 2.0
    with pytest.raises(OptionError, match=f"there is no {beside}/nowhere.py"):
        load(beside, "nowhere.py:Step")


@pytest.mark.parametrize("name", ["my file.py", "größe.py", "2.py", "my-file.py", "a.b.py"])
def test_a_file_may_have_any_name(name, tmp_path):
    path = write(tmp_path, f"ein Ordner/{name}")
    found = load(tmp_path, f"ein Ordner/{name}:Step")
    assert found.target().size == 1.0
    assert found.sha256 == {name: sha256(path)}


def test_annotations_of_a_dataclass_may_be_strings(tmp_path):
    write(tmp_path, "mine.py", "from __future__ import annotations\n" + STEP.format(size=4.0))
    (size,) = fields(load(tmp_path).target)
    assert (size.name, size.type, size.default) == ("size", "float", 4.0)


def test_a_linked_folder_is_a_folder(tmp_path):
    write(tmp_path, "real/constants.py", "SIZE = 5.0\n")
    write(tmp_path, "real/mine.py", "from constants import SIZE\n" + STEP.format(size="SIZE"))
    (tmp_path / "linked").symlink_to("real")
    found = load(tmp_path, "linked/mine.py:Step")
    assert found.target().size == 5.0
    assert sorted(found.sha256) == ["constants.py", "mine.py"]


@pytest.mark.parametrize(
    "statement",
    [
        "import helper",
        "import os, helper as h",
        "from helper import *",
        "def later():\n    from helper import SIZE",
        "class Later:\n    def later(self):\n        import helper",
        "try:\n    import helper\nexcept ImportError:\n    helper = None",
    ],
)
def test_a_module_of_the_same_folder_takes_part_wherever_it_is_imported(statement, tmp_path):
    helper = write(tmp_path, "helper.py", "SIZE = 1.0\n")
    write(tmp_path, "unused.py", "SIZE = 1.0\n")
    mine = write(tmp_path, "mine.py", statement + ONE)
    assert load(tmp_path).sha256 == {"helper.py": sha256(helper), "mine.py": sha256(mine)}


def test_what_a_module_imports_takes_part_in_turn_and_a_package_as_a_whole(tmp_path):
    write(tmp_path, "first.py", "def later():\n    import second\n")
    write(tmp_path, "second.py", "import first\nfrom tools.sub.deep import SIZE\n")
    write(tmp_path, "tools/__init__.py", "")
    write(tmp_path, "tools/unused.py", "")
    write(tmp_path, "tools/sub/deep.py", "SIZE = 6.0\n")
    write(tmp_path, "mine.py", "import first\n" + ONE)
    assert list(load(tmp_path).sha256) == [
        "first.py",
        "mine.py",
        "second.py",
        "tools/__init__.py",
        "tools/sub/deep.py",
        "tools/unused.py",
    ]


@pytest.mark.parametrize(
    ("changed", "different"),
    [
        ("mine.py", ["mine.py"]),
        ("helper.py", ["helper.py"]),
        ("tools/sub.py", ["tools/sub.py"]),
        ("unused.py", []),
        ("notes.txt", []),
    ],
)
def test_a_hash_changes_when_its_file_does(changed, different, tmp_path):
    write(tmp_path, "helper.py", "from tools import sub\n")
    for name in ("tools/sub.py", "unused.py", "notes.txt"):
        write(tmp_path, name, "")
    write(tmp_path, "mine.py", "import helper\n" + ONE)
    before = load(tmp_path).sha256
    with (tmp_path / changed).open("a") as file:
        file.write("# a remark\n")
    after = load(tmp_path).sha256
    assert after.keys() == before.keys()
    assert [name for name in after if after[name] != before[name]] == different


def test_a_file_is_imported_again_when_it_or_its_module_was_edited_and_not_otherwise(tmp_path):
    # each text has another length, since Python compares bytecode by time and size
    write(tmp_path, "constants.py", "SIZE = 1.0\n")
    write(tmp_path, "mine.py", "from constants import SIZE\n" + STEP.format(size="SIZE"))
    first = load(tmp_path).target
    assert load(tmp_path).target is first
    assert first().size == 1.0
    write(tmp_path, "constants.py", "SIZE = 22.0\n")
    assert size_of(tmp_path) == 22.0
    write(tmp_path, "mine.py", "from constants import SIZE\n" + STEP.format(size="SIZE + 100"))
    assert size_of(tmp_path) == 122.0
    assert first().size == 1.0


def test_a_module_that_is_imported_inside_a_function_is_imported_again_as_well(tmp_path):
    write(tmp_path, "constants.py", "SIZE = 1.0\n")
    later = "\n    def later(self):\n        from constants import SIZE\n        return SIZE\n"
    write(tmp_path, "mine.py", ONE + later)
    assert load(tmp_path).target().later() == 1.0
    write(tmp_path, "constants.py", "SIZE = 22.0\n")
    assert load(tmp_path).target().later() == 22.0


def test_files_named_like_ours_or_like_the_standard_library_do_no_harm(tmp_path):
    for name in (*OURS, "json", "queue"):
        write(tmp_path, f"{name}.py", "raise SystemExit('not this one')\n")
    imports = "import json, queue\nimport otafl, phy\nfrom links import OfdmLink\n"
    write(tmp_path, "mine.py", imports + ONE)
    found = load(tmp_path)
    module = sys.modules[found.target.__module__]
    assert (module.json, module.queue) == (json, queue)
    assert module.OfdmLink.__module__ == "links.ofdm"
    assert not {f"{name}.py" for name in OURS} & found.sha256.keys()
    assert sys.path[-1] == str(tmp_path)  # for imports inside functions, after all others


def test_a_file_may_itself_be_named_like_ours(tmp_path):
    import fl

    write(tmp_path, "fl.py")
    assert list(load(tmp_path, "fl.py:Step").sha256) == ["fl.py"]
    assert sys.modules["fl"] is fl


def test_a_class_of_a_package_comes_with_all_files_of_the_package(tmp_path, monkeypatch):
    site = tmp_path / "site"
    deep = write(site, "otafl_test_package/sub/parts.py", STEP.format(size=7.0))
    first = write(site, "otafl_test_package/__init__.py", "")
    write(site, "otafl_test_other.py", "")
    monkeypatch.syspath_prepend(site)
    reference = "otafl_test_package.sub.parts:Step"
    found = load(tmp_path, reference)
    assert found.target().size == 7.0
    assert found.sha256 == {
        "otafl_test_package/__init__.py": sha256(first),
        "otafl_test_package/sub/parts.py": sha256(deep),
    }
    write(site, "otafl_test_other.py", "changed = True\n")
    assert load(tmp_path, reference).sha256 == found.sha256
    write(site, "otafl_test_package/__init__.py", "changed = True\n")
    assert load(tmp_path, reference).sha256 != found.sha256


def test_a_class_of_a_single_module_comes_with_its_file(tmp_path, monkeypatch):
    path = write(tmp_path / "site", "otafl_test_module.py", STEP.format(size=8.0))
    monkeypatch.syspath_prepend(tmp_path / "site")
    found = load(tmp_path, "otafl_test_module:Step")
    assert found.target().size == 8.0
    assert found.sha256 == {"otafl_test_module.py": sha256(path)}


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("mine.py:Stop", "a class in mine.py, got 'mine.py:Stop'; did you mean 'Step'"),
        ("mine.py:step", "did you mean 'Step'"),
        ("sub:Step", "installed module, and a class in it, got 'sub:Step': there is no module"),
        ("..mine:Step", "there is no module '..mine'"),
        ("json:Step", "must be the name of a class in json, got 'json:Step'"),
        ("folder.py:Step", "existing file, got 'folder.py:Step'"),
        ("dangling.py:Step", "existing file, got 'dangling.py:Step'"),
        ("empty.py:Step", "must be the name of a class in empty.py, got 'empty.py:Step'"),
        (
            "relative.py:Step",
            r"ImportError: attempted relative import .* \(relative.py, line 1\)",
        ),
        ("deep.py:Step", r"KeyError: 'size' \(constants.py, line 2, in value\)"),
    ],
)
def test_what_cannot_be_loaded_is_said_in_a_line(reference, message, tmp_path):
    write(tmp_path, "mine.py")
    write(tmp_path, "empty.py", "")
    write(tmp_path, "relative.py", "from .mine import Step\n")
    write(tmp_path, "constants.py", "def value():\n    return {}['size']\n")
    write(tmp_path, "deep.py", "import constants\nSIZE = constants.value()\n")
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "dangling.py").symlink_to("nowhere.py")
    with pytest.raises(OptionError, match=message) as error:
        load(tmp_path, reference)
    assert len(str(error.value).splitlines()) == 1


def raised(text, name):
    """Return the error that a file raises."""
    try:
        exec(compile(text, f"/somewhere/{name}", "exec"), {"json": json})
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1\nint('a b')", "ValueError: invalid literal for int() with base 10: 'a b' (mine.py, line 2)"),
        ("def f():\n    1 / 0\nf()", "ZeroDivisionError: division by zero (mine.py, line 2, in f)"),
        ("raise StopIteration", "StopIteration (mine.py, line 1)"),
        ("raise RuntimeError('one\\n  two')", "RuntimeError: one two (mine.py, line 1)"),
        ("\njson.loads('x')", "JSONDecodeError: Expecting value: line 1 column 1 (char 0) (mine.py, line 2)"),
    ],
)  # fmt: skip
def test_an_error_is_explained_with_the_line_of_the_user_s_code(text, expected):
    assert explain(raised(text, "mine.py"), ["mine.py", "helper.py"]) == expected


def test_an_error_elsewhere_is_explained_by_its_text_alone():
    error = raised("raise ValueError('too small')", "theirs.py")
    assert explain(error, ["mine.py"]) == "too small"
    assert explain(KeyError(), ["mine.py"]) == "KeyError"


def test_files_are_known_by_their_names_wherever_they_are():
    error = raised("1 / 0", "parts.py")
    assert (
        explain(error, ["sub/parts.py"]) == "ZeroDivisionError: division by zero (parts.py, line 1)"
    )


def test_a_study_cannot_be_started_by_the_import_of_a_class(tmp_path):
    write(tmp_path, "mine.py", "import otafl\notafl.load_scenario('quickstart')\n")
    with pytest.raises(OptionError, match="mine.py calls load_scenario when it is imported"):
        load(tmp_path)
    refuse_while_importing("load_scenario")  # afterwards it may
