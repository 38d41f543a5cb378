"""The learning layer, independent of the radio layer."""

from fl.acpc import Acpc
from fl.adsgd import Adsgd
from fl.algorithm import Algorithm, Outcome, Plan, Round
from fl.api import Broadcast, Downlink, Link, Reception, Uplink
from fl.clipped import ClippedFedAvg
from fl.cotaf import Cotaf
from fl.data import Dataset, load_dataset
from fl.deadline import Deadline
from fl.experiment import DivergenceWarning
from fl.fedavg import FedAvg
from fl.fednova import FedNova
from fl.fedprox import FedProx
from fl.history import History
from fl.local_steps import Epochs, UniformSteps
from fl.loop import train, train_together
from fl.metrics import METRICS, Metric
from fl.models import Classifier, LogisticRegression, Mlp, Model
from fl.participation import (
    BestChannels,
    Everyone,
    Participation,
    ProportionalFair,
    RandomClients,
    RoundRobin,
    Selection,
    SelectionContext,
)
from fl.partition import partition_by_label, partition_dirichlet, partition_unbalanced
from fl.population import Population
from fl.privacy import Privacy, zcdp_epsilon
from fl.problem import Problem
from fl.quadratic import Quadratic, QuadraticProblem, quadratic_problem
from fl.scaffold import Scaffold
from fl.server_optimiser import FedAdam, FedAvgM, FedYogi
from fl.sgd import Diminishing, Sgd
from fl.sign_vote import SignVote
from fl.standardise import standardise

# fmt: off
__all__ = [
    "METRICS",
    "Acpc",
    "Adsgd",
    "Algorithm",
    "BestChannels",
    "Broadcast",
    "Classifier",
    "ClippedFedAvg",
    "Cotaf",
    "Dataset",
    "Deadline",
    "Diminishing",
    "DivergenceWarning",
    "Downlink",
    "Epochs",
    "Everyone",
    "FedAdam",
    "FedAvg",
    "FedAvgM",
    "FedNova",
    "FedProx",
    "FedYogi",
    "History",
    "Link",
    "LogisticRegression",
    "Metric",
    "Mlp",
    "Model",
    "Outcome",
    "Participation",
    "Plan",
    "Population",
    "Privacy",
    "Problem",
    "ProportionalFair",
    "Quadratic",
    "QuadraticProblem",
    "RandomClients",
    "Reception",
    "Round",
    "RoundRobin",
    "Scaffold",
    "Selection",
    "SelectionContext",
    "Sgd",
    "SignVote",
    "UniformSteps",
    "Uplink",
    "load_dataset",
    "partition_by_label",
    "partition_dirichlet",
    "partition_unbalanced",
    "quadratic_problem",
    "standardise",
    "train",
    "train_together",
    "zcdp_epsilon",
]
# fmt: on
