"""The learning; it knows nothing of radio."""

from fl.acpc import Acpc
from fl.algorithm import Algorithm, Outcome, Plan, Round
from fl.api import Link, Reception, Slot
from fl.capability import UniformSteps
from fl.cotaf import Cotaf
from fl.data import Dataset, load_dataset
from fl.experiment import DivergenceWarning
from fl.fedavg import FedAvg
from fl.fednova import FedNova
from fl.history import History
from fl.local import Diminishing, Sgd
from fl.models import Classifier, LogisticRegression, Mlp, Model
from fl.partition import partition_by_label, partition_dirichlet, partition_unbalanced
from fl.quadratic import Quadratic, QuadraticProblem, quadratic_problem
from fl.rounds import train, train_together

__all__ = [
    "Acpc",
    "Algorithm",
    "Classifier",
    "Cotaf",
    "Dataset",
    "Diminishing",
    "DivergenceWarning",
    "FedAvg",
    "FedNova",
    "History",
    "Link",
    "LogisticRegression",
    "Mlp",
    "Model",
    "Outcome",
    "Plan",
    "Quadratic",
    "QuadraticProblem",
    "Reception",
    "Round",
    "Sgd",
    "Slot",
    "UniformSteps",
    "load_dataset",
    "partition_by_label",
    "partition_dirichlet",
    "partition_unbalanced",
    "quadratic_problem",
    "train",
    "train_together",
]
