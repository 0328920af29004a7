"""Mini-batches: what changes against full-batch gradient descent."""

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


def shifts(name, rules):
    """Yield what batches of every size do to the mean loss of the network."""
    for each in rules.batches:
        if each.subject == "relu" and each.batch_size < rules.samples:
            unit = rules.learning_rate * (rules.samples / each.batch_size - 1)
            head = name, rules.learning_rate, each.batch_size, each.shift
            yield *head, 2 * each.noise / rules.seeds**0.5, each.shift / unit


def reproduce(page):
    text = "Full batches. Here a batch has $B$ of the $P$ samples, drawn without "
    page.assume(text + "replacement in every epoch; its gradient counts $P/B$ times.")
    asked = [(name, sr.load(*task)) for name, *task in ASKED[: 4 if page.full else 3]]
    done = [(n, sr.validate(s, page.seeds, page.rng, rules=True).rules) for n, s in asked]
    rows = [[*shifts(*each)] for each in done]
    page.confirm(
        "Smaller rates bring mini-batches closer to full batches: at $\\eta$ the loss shifts less "
        "than at $2\\eta$ for every $B$, by more than two standard errors.",
        all(a[3] + a[4] < b[3] - b[4] for a, b in zip(*rows[:2], strict=True)),
    )
    own = [row for each in (rows[0], *rows[2:]) for row in each]
    most, tolerance = max(own, key=lambda row: row[3]), float(asked[0][1].validation.tolerance)
    page.confirm(
        f"At the tasks' own rates batches of every size shift the loss by {tolerance:.0%} of "
        f"$L(0)$ at most. Found: up to {most[3]:.1%}, for {most[0]} and $B$ = {most[2]}.",
        most[3] <= tolerance,
    )
    head = ("task", r"$\eta$", "$B$", r"max $|\Delta L|/L(0)$", "two errors", r"over $\eta(P/B-1)$")
    every = [row for each in rows for row in each]
    page.table("Mini-batches against full batches, from the same weights.", head, every)
    rules = done[0][1]
    losses = {f"B = {x.batch_size}": x.mean_loss for x in rules.batches if x.subject == "relu"}
    shown = range(int((losses["B = 1"] > 0.01 * losses["B = 1"][0]).sum()))
    curves = {name: (shown, loss[: len(shown)]) for name, loss in losses.items()}
    page.plot("batches", f"Mean loss of {ASKED[0][0]}.", curves, x="step $t$", y="loss")
