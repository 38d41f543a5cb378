# ruff: noqa: E501  (a table of messages)
"""The parts that a scenario can name: ours, and those of installed packages."""

from __future__ import annotations

import sys

import pytest

from fl import Acpc, Algorithm, Cotaf
from otafl._base.validation import OptionError
from phy import Csi, Fading, Rayleigh
from phy.impairments import Impairment
from scenarios import ScenarioError
from scenarios.config.catalogue import Catalogue
from scenarios.config.code import Code
from scenarios.config.parts import Part
from scenarios.config.reading import read
from scenarios.config.tables import Choice, field_type
from scenarios.report import parts as report

VOTE = """
from dataclasses import dataclass
import otafl

@dataclass(frozen=True)
class Vote(otafl.Algorithm):
    step: float = 0.5
    rounds: int = 3

    def aggregate(self, current, plan, updates, steps):
        raise NotImplementedError
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Return a function that installs a package of one module, as pip leaves it."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.setattr(sys, "path", [*sys.path])

    def put(name, text, **offers):
        (site / f"{name}.py").write_text(text)
        info = site / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = [f"{short} = {name}:{target}" for short, target in offers.items()]
        (info / "entry_points.txt").write_text("\n".join(["[otafl.algorithm]", *lines, ""]))
        monkeypatch.syspath_prepend(site)

    yield put
    for path in site.glob("*.py"):
        sys.modules.pop(path.stem, None)


@pytest.fixture
def catalogue():
    """Not the one of the package, which remembers what is installed."""
    fresh = Catalogue("algorithm", "name", must=Algorithm)
    fresh.add("acpc", Acpc)
    fresh.add("cotaf", Cotaf)
    return fresh


def config_of(catalogue, **table):
    class Table(Part):
        algorithm: field_type(Choice(catalogue))

    return read(Table, {"algorithm": table}).algorithm


def test_a_name_of_ours_means_our_class(catalogue, tmp_path):
    assert catalogue.names == ["acpc", "cotaf"]
    assert catalogue.find("cotaf", Code(tmp_path)).target is Cotaf
    assert config_of(catalogue, name="cotaf", server_step=2.0).build() == Cotaf(server_step=2.0)


@pytest.mark.parametrize("name", ["cotaff", "Cotaf", 3, ["cotaf"], {"a": 1}, None, True])
def test_any_other_name_is_refused_with_those_there_are(name, catalogue, tmp_path):
    with pytest.raises(OptionError) as error:
        catalogue.find(name, Code(tmp_path))
    said = f"name must be one of 'acpc', 'cotaf', got {name!r}"
    assert f"{error.value.name} {error.value.explanation}".startswith(said)


def test_an_installed_package_offers_a_part_by_its_name(install, catalogue):
    install("otafl_test_vote", VOTE, vote="Vote")
    assert catalogue.names == ["acpc", "cotaf", "vote"]
    config = config_of(catalogue, name="vote", step=0.25)
    assert config.settings() == {"name": "vote", "step": 0.25, "rounds": 3}
    assert list(config.all_code()) == ["otafl_test_vote.py"]
    built = config.build()
    assert (type(built).__module__, built.step) == ("otafl_test_vote", 0.25)


def test_its_options_are_validated_like_those_of_a_file(install, catalogue):
    install("otafl_test_vote", VOTE, vote="Vote")
    with pytest.raises(ScenarioError) as error:
        config_of(catalogue, name="vote", step="big", round=3)
    assert str(error.value).splitlines() == [
        "algorithm.step must be a finite number, or inf, got 'big'",
        "algorithm.round is not a key of vote; did you mean 'rounds'?",
    ]


def test_what_is_offered_in_another_group_is_another_kind_of_part(install):
    install("otafl_test_vote", VOTE, vote="Vote")
    fadings = Catalogue("fading", "kind", must=Fading)
    fadings.add("rayleigh", Rayleigh)
    assert fadings.names == ["rayleigh"]


def test_a_name_of_ours_cannot_be_replaced(install, catalogue, tmp_path):
    install("otafl_test_vote", VOTE, cotaf="Vote", vote="Vote")
    assert catalogue.names == ["acpc", "cotaf", "vote"]
    assert catalogue.find("cotaf", Code(tmp_path)).target is Cotaf


def test_two_packages_that_offer_one_name_are_refused_with_both_references(install, catalogue):
    install("otafl_test_vote", VOTE, vote="Vote")
    install("otafl_test_poll", VOTE, vote="Vote")
    assert catalogue.names == ["acpc", "cotaf", "vote"]
    with pytest.raises(ScenarioError) as error:
        config_of(catalogue, name="vote")
    said = str(error.value)
    assert said.startswith("algorithm.name must be 'otafl_test_")
    assert said.endswith(": more than one installed package offers this name, got 'vote'")
    assert "'otafl_test_vote:Vote'" in said
    assert "'otafl_test_poll:Vote'" in said
    chosen = config_of(catalogue, name="otafl_test_poll:Vote").build()
    assert type(chosen).__module__ == "otafl_test_poll"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import nothing_such", r"algorithm.name must be a class that can be imported, got 'otafl_test_vote:Vote': ModuleNotFoundError: No module named 'nothing_such' \(otafl_test_vote.py, line 1\)"),
        ("Voter = 3", "algorithm.name must be the name of a class in otafl_test_vote, got 'otafl_test_vote:Vote'"),
        ("Vote = 3", "algorithm.name must be the name of a class, got 'vote', which is 3"),
        ("class Vote: pass", "algorithm.name must be a subclass of otafl.Algorithm, got 'vote'"),
        ("raise SystemExit('no')", r"SystemExit: no \(otafl_test_vote.py, line 1\)"),
    ],
)  # fmt: skip
def test_a_broken_package_gives_one_line(text, message, install, catalogue):
    install("otafl_test_vote", text, vote="Vote")
    with pytest.raises(ScenarioError, match=message) as error:
        config_of(catalogue, name="vote")
    assert len(str(error.value).splitlines()) == 1
    assert config_of(catalogue, name="cotaf").build() == Cotaf()  # and no harm to others


def test_the_list_of_parts_has_it_with_its_options_and_origin(install, catalogue, monkeypatch):
    install("otafl_test_vote", VOTE, vote="Vote")
    install("otafl_test_broken", "import nothing_such", broken="Vote")
    monkeypatch.setattr(report, "CATALOGUES", (catalogue,))
    lines = list(report.listed())
    assert lines[0] == "algorithm.name"
    cotaf = 'server_step = 1.0, precoding = "realised", margin = 1.0, window = 10.0'
    assert f"  cotaf: {cotaf}" in lines
    assert "  vote (from otafl_test_vote): step = 0.5, rounds = 3" in lines
    (broken,) = [line for line in lines if "broken" in line]
    assert broken.startswith("  broken (from otafl_test_broken): cannot be used: it must be ")


class Half(Algorithm):
    """Lacks what an algorithm must have."""


class Plain(Csi):
    """Has no options, so it need not be a dataclass."""

    additive = False

    def estimate(self, observed, rng):
        return observed.response

    def error_variance(self, grid, path_gain):
        return 0 * path_gain


class Opening:
    """Any class with the methods of a link."""

    def open(self, num_clients, length, rng):
        raise NotImplementedError


def test_a_class_must_be_what_its_kind_of_part_is(catalogue):
    links = Catalogue("link", "kind", methods=["open", "close"])
    cases = [
        (catalogue, Cotaf, None),
        (catalogue, Half, "a class that has aggregate, got 'it'"),
        (catalogue, Opening, "a subclass of otafl.Algorithm, got 'it'"),
        (catalogue, len, "the name of a class, got 'it', which is <built-in function len>"),
        (Catalogue("csi", "kind", must=Csi), Plain, None),
        (Catalogue("impairment", "kind", must=Impairment), Plain, "a subclass of otafl.Impairment"),
        (Catalogue("link", "kind", methods=["open"]), Opening, None),
        (links, Opening, "a class that has close, got 'it'"),
    ]
    for each, target, message in cases:
        if message is None:
            each.check(target, "it")
            continue
        with pytest.raises(OptionError) as error:
            each.check(target, "it")
        assert error.value.explanation.startswith(f"must be {message}")


def test_a_class_with_options_must_be_a_dataclass():
    class Tuned(Opening):
        def __init__(self, power=1.0):
            self.power = power

    links = Catalogue("link", "kind", methods=["open"])
    with pytest.raises(OptionError, match="a dataclass, whose fields are its options, got 'it'"):
        links.check(Tuned, "it")
