"""The learning layer, independent of the radio layer."""

from fl.acpc import Acpc
from fl.algorithm import Algorithm, Outcome, Plan, Round
from fl.api import Downlink, Link, Reception, Uplink
from fl.cotaf import Cotaf
from fl.data import Dataset, load_dataset
from fl.experiment import DivergenceWarning
from fl.fedavg import FedAvg
from fl.fednova import FedNova
from fl.history import History
from fl.local_steps import UniformSteps
from fl.loop import train, train_together
from fl.metrics import METRICS, Metric
from fl.models import Classifier, LogisticRegression, Mlp, Model
from fl.partition import partition_by_label, partition_dirichlet, partition_unbalanced
from fl.problem import Problem
from fl.quadratic import Quadratic, QuadraticProblem, quadratic_problem
from fl.sgd import Diminishing, Sgd

# fmt: off
__all__ = [
    "METRICS", "Acpc", "Algorithm", "Classifier", "Cotaf", "Dataset", "Diminishing",
    "DivergenceWarning", "Downlink", "FedAvg", "FedNova", "History", "Link", "LogisticRegression",
    "Metric", "Mlp", "Model", "Outcome", "Plan", "Problem", "Quadratic", "QuadraticProblem",
    "Reception", "Round", "Sgd", "UniformSteps", "Uplink", "load_dataset", "partition_by_label",
    "partition_dirichlet", "partition_unbalanced", "quadratic_problem", "train", "train_together",
]
# fmt: on
