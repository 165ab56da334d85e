"""
From a table to a model
=======================

A CSV file with gaps, as measurements come; a classifier that needs no tuning; an honest estimate of
how good it is; and a model file that the command ``lkdl`` uses without Python.
"""

# %%
# The data
# --------
# We make the file first, so that this page needs nothing else: handwritten digits of 8×8 pixels, one
# per row, with their label in the last column. The sensor was noisy, and one value in twenty is not
# there.

import tempfile
from pathlib import Path

import lkdl
import numpy as np
import pandas as pd
from lkdl import LKDLClassifier, datasets, plot

folder = Path(tempfile.mkdtemp())
digits = datasets.load_digits()
rng = np.random.default_rng(0)
noisy = digits.data + rng.normal(0, 2.0, digits.data.shape)
noisy[rng.random(noisy.shape) < 0.05] = np.nan

columns = [f"pixel {row}.{column}" for row in range(8) for column in range(8)]
table = pd.DataFrame(noisy.round(2), columns=columns).assign(digit=digits.target)
table.to_csv(folder / "digits.csv", index=False)
table.iloc[:4, 27:33]

# %%
# Read it
# -------
# Any reader will do that gives an array; pandas marks the gaps as NaN.

table = pd.read_csv(folder / "digits.csv")
X, y = table.drop(columns="digit").to_numpy(), table["digit"].to_numpy()
f"{X.shape[0]} samples of {X.shape[1]} features, {np.isnan(X).mean():.1%} of the values missing"

# %%
# Missing values
# --------------
# No estimator of lkdl guesses what is not there. A gap is an error that says so, not a silent zero:

try:
    LKDLClassifier().fit(X, y)
except ValueError as error:
    print(error)

# %%
# You know what a gap means in your data. Here a lost pixel is like its neighbours in other samples, so
# the mean of the five most similar digits fills it. The imputer and the classifier are one pipeline:
# held-out samples are then filled from training samples only.

from sklearn.impute import KNNImputer
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline

X_train, X_test, y_train, y_test = train_test_split(
    X, y, random_state=0, stratify=y
)
model = make_pipeline(KNNImputer(), LKDLClassifier(random_state=0))
model.fit(X_train, y_train)
print(f"accuracy on {len(y_test)} new samples: {model.score(X_test, y_test):.1%}")

# %%
# Is that good? A kernel earns its price where samples are spoiled. The same classifier without a
# kernel, and both of them on five folds:

contestants = {
    "kernel": LKDLClassifier(random_state=0),
    "linear": LKDLClassifier(map="none", random_state=0),
}
for name, classifier in contestants.items():
    accuracies = cross_val_score(
        make_pipeline(KNNImputer(), classifier), X_train, y_train, cv=5
    )
    print(f"{name}: {accuracies.mean():.1%} ± {accuracies.std(ddof=1):.1%}")

# %%
# What it learnt
# --------------
# Nothing was tuned by hand; what the fit chose can be read, and given as an argument next time.

classifier = model[-1]
for choice in ["map_", "kernel_", "n_landmarks_", "rank_", "sparsity_", "choice_"]:
    print(f"{choice:13} {getattr(classifier, choice)}")

# %%
# Each class has its own dictionary, and a sample belongs to the class whose dictionary leaves the
# least of it. A digit that it got wrong was a close call:

import matplotlib.pyplot as plt

filled = model[0].transform(X_test)
predicted = classifier.predict(filled)
wrong = np.flatnonzero(predicted != y_test)[0]

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
plot.atoms(filled[[wrong]], ax=left)
left.set_title(f"a {y_test[wrong]}, taken for a {predicted[wrong]}")
residuals = classifier.residuals(filled[[wrong]])[0]
plot.residual_bars(
    residuals, classes=classifier.classes_, truth=y_test[wrong], ax=right
)
plt.show()

# %%
# Save it, and use it elsewhere
# -----------------------------
# A model is one file, checked and versioned, without pickled code. The imputer is not part of it, so
# new samples are filled before they are written.

lkdl.save(classifier, folder / "digits.safetensors")
pd.DataFrame(filled[:5], columns=columns).to_csv(folder / "new.csv", index=False)

again = lkdl.load(folder / "digits.safetensors")
print("the same predictions:", np.array_equal(again.predict(filled), predicted))

# %%
# The command reads the same file:
#
# .. code-block:: console
#
#    $ lkdl predict digits.safetensors new.csv --unlabelled

import shutil
import subprocess

if command := shutil.which("lkdl"):
    arguments = ["predict", "digits.safetensors", "new.csv", "--unlabelled"]
    run = subprocess.run(
        [command, *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    for line in run.stdout.splitlines():
        print(line[:90])

# %%
# The other way round, ``lkdl fit digits.csv -o model.safetensors`` and ``lkdl.load``, works as well.
