"""From labelled samples to labels of new ones: time to fit, time to predict, and how many are right.

Nobody is tuned for the data. Ours runs without an argument; SVC with C = 10, which suits samples of
unit norm; dictlearn's kernel classifier holds N×N values and codes one sample at a time, so it learns
from the first samples only.
"""

from collections.abc import Iterator

import lkdl
import numpy as np
from data import Split, splits
from dictlearn.classification import KernelDDLClassifier
from race import OURS, Case, Contestant
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC
from threads import N_THREADS

#: What dictlearn's kernel classifier gets to learn from, so that it ends within a minute.
DICTLEARN_SAMPLES = 1000
DICTLEARN_ATOMS = 100
DICTLEARN_SPARSITY = 5
N_COMPONENTS = 1000


def cases() -> Iterator[Case]:
    for split in splits():
        yield case(split)


def case(split: Split) -> Case:
    few = split.head(DICTLEARN_SAMPLES)

    def estimator(name: str, make, data: Split = split, **options) -> Contestant:
        stages = {
            "fit": lambda seed: make(seed).fit(data.X_train, data.y_train),
            "predict": lambda model: model.predict(data.X_test),
        }
        return Contestant(name, stages, **options)

    # what SVC's gamma="scale" is; Nystroem's own default knows nothing of the data
    gamma = 1 / (split.X_train.shape[1] * split.X_train.var())
    n_components = min(N_COMPONENTS, len(split.y_train))

    def nystroem_svm(seed):
        mapper = Nystroem(gamma=gamma, n_components=n_components, random_state=seed)
        return make_pipeline(mapper, LinearSVC(random_state=seed))

    def dictlearn_kernel(seed):
        return KernelDDLClassifier(
            DICTLEARN_ATOMS, gamma=gamma, n_nonzero_coefs=DICTLEARN_SPARSITY, random_state=seed
        )

    return Case(
        race="classify",
        name=f"{split.name} N={len(split.y_train)}, {len(split.y_test)} to predict",
        precision="float64",
        contestants=[
            estimator(OURS, lambda seed: lkdl.LKDLClassifier(random_state=seed, n_jobs=N_THREADS)),
            estimator("SVC RBF", lambda seed: SVC(C=10), repeats=1, note="C = 10"),
            estimator(
                "Nystroem + LinearSVC", nystroem_svm, repeats=2, note=f"{N_COMPONENTS} landmarks"
            ),
            estimator(
                "dictlearn kernel D-KSVD",
                dictlearn_kernel,
                few,
                repeats=1,
                note=f"learns from the first {DICTLEARN_SAMPLES} samples only",
            ),
        ],
        judge=lambda labels: {"accuracy": float(np.mean(labels == split.y_test))},
        repeats=3,
    )
