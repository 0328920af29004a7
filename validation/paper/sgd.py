"""Mini-batches: what changes against full-batch gradient descent."""

import numpy as np

import symreln as sr

FAST = {"network.learning_rate": "1/50", "network.steps": 1001}
SMALL = {"dataset.items": 4, "network.hidden": 200, "network.init_std": "1/40000"}
# What the page calls a case, the task, and what is changed of it.
ASKED = (
    ("`linear-hierarchy`", "linear-hierarchy", {}),
    ("`linear-hierarchy` at $2\\eta$", "linear-hierarchy", FAST),
    ("`xor`", "xor", {}),
    ("`contextual-3` of 4 items, 200 units, $\\sigma$ = 1/40000", "contextual-3", SMALL),
)


def losses(page, task, changes, size=None):
    """Return the losses of networks that are trained by batches of a size, or by full batches."""
    batches = {} if size is None else {"network.batch_size": size}
    spec = sr.load(task, {**changes, **batches})
    return sr.validate(spec, page.seeds, page.rng, diagnosis=False).network.losses


def shifts(page, name, task, changes):
    """Return the mean loss of full batches; what batches of every size do to it, and theirs."""
    spec = sr.load(task, changes)
    samples, rate = spec.dataset.samples, float(spec.network.learning_rate)
    full = losses(page, task, changes)
    first, found = full.mean(axis=0)[0], []
    for size in sorted({-(-samples // 2), -(-samples // 4), 1} - {samples}, reverse=True):
        batched = losses(page, task, changes, size)
        shift = np.abs(batched.mean(axis=0) - full.mean(axis=0)).max() / first
        noise = (batched - full).std(axis=0, ddof=1).max() / first
        unit, error = rate * (samples / size - 1), 2 * noise / page.seeds**0.5
        found.append(((name, rate, size, shift, error, shift / unit), batched.mean(axis=0)))
    return full.mean(axis=0), found


def reproduce(page):
    text = "Full batches. Here a batch has $B$ of the $P$ samples, drawn without "
    page.assume(text + "replacement in every epoch; its gradient counts $P/B$ times.")
    asked = ASKED[: 4 if page.full else 3]
    found = [shifts(page, *each) for each in asked]
    rows = [[row for row, _ in batches] for _, batches in found]
    page.confirm(
        "Smaller rates bring mini-batches closer to full batches: at $\\eta$ the loss shifts less "
        "than at $2\\eta$ for every $B$, by more than two standard errors.",
        all(a[3] + a[4] < b[3] - b[4] for a, b in zip(*rows[:2], strict=True)),
    )
    own = [row for each in (rows[0], *rows[2:]) for row in each]
    most = max(own, key=lambda row: row[3])
    tolerance = float(sr.load(asked[0][1]).validation.tolerance)
    page.confirm(
        f"At the tasks' own rates batches of every size shift the loss by {tolerance:.0%} of "
        f"$L(0)$ at most. Found: up to {most[3]:.1%}, for {most[0]} and $B$ = {most[2]}.",
        most[3] <= tolerance,
    )
    head = ("task", r"$\eta$", "$B$", r"max $|\Delta L|/L(0)$", "two errors", r"over $\eta(P/B-1)$")
    every = [row for each in rows for row in each]
    page.table("Mini-batches against full batches, from the same weights.", head, every)
    full, batches = found[0]
    curves = {"full batches": full, **{f"B = {row[2]}": loss for row, loss in batches}}
    shown = range(int((curves["B = 1"] > 0.01 * curves["B = 1"][0]).sum()))
    curves = {name: (shown, loss[: len(shown)]) for name, loss in curves.items()}
    page.plot("batches", f"Mean loss of {ASKED[0][0]}.", curves, x="step $t$", y="loss")
