"""A physical-layer-faithful baseband toolkit for over-the-air federated learning.

``import otafl`` offers the public names of every layer: ``otafl.OfdmLink``, ``otafl.train``,
``otafl.open_study``. A layer is imported when one of its names is first used, so the import itself
costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from otafl._base.public import getter

if TYPE_CHECKING:  # editors and type checkers follow these; at run time __getattr__ does
    from figures.general import plot  # noqa: F401
    from figures.link_pictures import *  # noqa: F403
    from figures.link_view import LinkView, RadioView, look_at  # noqa: F401
    from fl import *  # noqa: F403
    from fl.autodiff import Cnn, KerasModel, TensorFlowModel  # noqa: F401
    from links import *  # noqa: F403
    from links.radio import noise_of  # noqa: F401
    from links.theory import expected_mse  # noqa: F401
    from phy import *  # noqa: F403
    from phy.impairments import *  # noqa: F403
    from scenarios import *  # noqa: F403

_PUBLIC = {
    "phy": """
        AgedCsi CirFading Csi Fading NoFading NoisyCsi OfdmGrid Packing PerfectCsi PilotCsi Rayleigh
        Rician SionnaCdl SionnaFading SionnaRma SionnaTdl SionnaUma SionnaUmi Taps Tdl
    """,
    "phy.impairments": """
        Adc CarrierOffset CarrierSync ClipAndFilter ClockOffset Devices Impairment
        IqImbalance PhaseNoise Rapp SlotContext SoftLimiter TimingAdvance TimingOffset
    """,
    "links": """
        FadingLink GaussianDownlink GaussianLink IdealLink OfdmDownlink OfdmLink OrthogonalLink
        QuantisedDownlink WaveformLink realise
    """,
    "links.radio": "noise_of",
    "links.theory": "expected_mse",
    "fl": """
        Acpc Adsgd Algorithm BestChannels Broadcast Classifier ClippedFedAvg Cotaf Dataset
        Deadline Diminishing DivergenceWarning Downlink Epochs Everyone FedAdam FedAvg FedAvgM
        FedNova FedProx FedYogi History Link LogisticRegression Metric METRICS Mlp Model Outcome
        Participation Plan Population Privacy Problem ProportionalFair Quadratic
        QuadraticProblem RandomClients Reception Round RoundRobin Scaffold Selection
        SelectionContext Sgd SignVote UniformSteps Uplink load_dataset partition_by_label
        partition_dirichlet partition_unbalanced quadratic_problem standardise train
        train_together zcdp_epsilon
    """,
    "fl.autodiff": "Cnn KerasModel TensorFlowModel",
    "figures.general": "plot",
    "figures.link_view": "LinkView RadioView look_at",
    "figures.link_pictures": """
        plot_carrier_error plot_channels plot_constellation plot_link plot_papr plot_spectrum
        plot_symbol_energy
    """,
    "scenarios": """
        Scenario ScenarioError load_scenario merge_studies open_study run_study upgrade_study
    """,
}
_HOMES = {name: layer for layer, names in _PUBLIC.items() for name in names.split()}
_HOMES["__version__"] = "otafl._base.version"

__all__ = sorted(_HOMES)  # noqa: PLE0605
__getattr__ = getter(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
