"""Mini-batches and learning rates: what changes against full-batch gradient descent."""

import symreln as sr

ASKED = (
    ("linear-hierarchy", {}),
    ("linear-hierarchy", {"network.learning_rate": "1/50", "network.steps": 1001}),
    ("xor", {}),
    ("contextual-3", {"dataset.items": 4, "network.hidden": 200, "network.init_std": "1/40000"}),
)


def shifts(name, rules):
    """Yield what batches of every size do to the mean loss of the network."""
    for each in rules.batches:
        if each.subject == "relu" and each.batch_size < rules.samples:
            unit = rules.learning_rate * (rules.samples / each.batch_size - 1)
            head = f"`{name}`", rules.learning_rate, each.batch_size, each.shift
            yield *head, 2 * each.noise / rules.seeds**0.5, each.shift / unit


def reproduce(page):
    page.assume(
        "Full batches, no biases. Here a batch has $B$ of the $P$ samples, drawn without "
        "replacement in every epoch; its gradient counts $P/B$ times."
    )
    asked = [(name, sr.load(name, more)) for name, more in ASKED[: 4 if page.full else 3]]
    done = [(n, sr.validate(s, page.seeds, page.rng, rules=True).rules) for n, s in asked]
    rows = [[*shifts(*each)] for each in done]
    ratios = [rules.rates[0].ratio for _, rules in done]
    page.derive(
        "The error of finite steps is proportional to the learning rate $\\eta$: a quarter of it "
        f"changes {min(ratios):.2f} to {max(ratios):.2f} times less than half of it."
    )
    page.confirm(
        "With smaller rates mini-batches learn as full batches do: at half of $\\eta$ the loss "
        "shifts less for every $B$, by more than what the draw of batches does.",
        all(a[3] + a[4] < b[3] - b[4] for a, b in zip(*rows[:2], strict=True)),
    )
    most = max(row[3] for each in (rows[0], *rows[2:]) for row in each)
    tolerance = float(asked[0][1].validation.tolerance)
    text = f"At the rates of the ready-made tasks they do so, to {most:.1%} of $L(0)$ at the most."
    page.confirm(text, most <= tolerance)
    head = ("task", r"$\eta$", "$B$", r"max $|\Delta L|/L(0)$", "two errors", r"over $\eta(P/B-1)$")
    every = [row for each in rows for row in each]
    page.table("Mini-batches against full batches, from the same weights.", head, every)
    rules = done[0][1]
    losses = {f"B = {x.batch_size}": x.mean_loss for x in rules.batches if x.subject == "relu"}
    shown = range(int((losses["B = 1"] > 0.01 * losses["B = 1"][0]).sum()))
    curves = {name: (shown, loss[: len(shown)]) for name, loss in losses.items()}
    page.plot("batches", f"Mean loss of `{ASKED[0][0]}`.", curves, x="step $t$", y="loss")
    decay, bias = rules.decays[-1], [f"{x.biased[0].shift:.1%} (`{name}`)" for name, x in done[1:]]
    page.beyond(
        f"With weight decay a mode is learned if and only if $s > \\lambda$. At $\\lambda$ = "
        f"{decay.weight_decay:.3g} that is {len(decay.modes) - len(decay.dying)} of "
        f"{len(decay.modes)} singular values of `{ASKED[0][0]}`, and networks learn just these.",
        all(abs(x.trained - x.predicted) <= tolerance * x.plateau for x in decay.modes),
    )
    page.beyond(f"Biases, which the theory does not have, shift the loss by {', '.join(bias)}.")
