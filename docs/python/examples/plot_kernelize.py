"""
Any linear method as a kernel method
====================================

Virtual samples are ordinary samples. A linear classifier of scikit-learn behind the map draws curved
borders, at a linear price.
"""

import matplotlib.pyplot as plt
from lkdl import Nystroem
from sklearn.datasets import make_moons
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

X, y = make_moons(400, noise=0.25, random_state=0)
mapper = Nystroem(kernel="rbf", gamma=1.0, n_components=40, random_state=0)
models = {
    "logistic regression": LogisticRegression(),
    "the same on 40 virtual features": make_pipeline(mapper, LogisticRegression()),
}

figure, axes = plt.subplots(
    1, 2, figsize=(8, 3.4), sharey=True, layout="constrained"
)
for ax, (title, model) in zip(axes, models.items()):
    model.fit(X, y)
    DecisionBoundaryDisplay.from_estimator(
        model, X, response_method="predict_proba", cmap="RdBu", alpha=0.6, ax=ax
    )
    ax.scatter(*X.T, c=y, cmap="RdBu", edgecolors="k", linewidths=0.4, s=18)
    ax.set_title(f"{title}: {model.score(X, y):.1%}")
    ax.set_axis_off()
plt.show()

# %%
# Landmarks and kernel parameters are parameters like others, so that a grid search finds them.

from sklearn.model_selection import GridSearchCV

grid = {"nystroem__gamma": [0.3, 1.0, 3.0], "nystroem__n_components": [10, 40, 160]}
search = GridSearchCV(models["the same on 40 virtual features"], grid, cv=5).fit(
    X, y
)
print(search.best_params_, f"{search.best_score_:.1%}")
