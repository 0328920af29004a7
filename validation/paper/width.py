"""Width: how results depend on the number of hidden units."""

import numpy as np

import symreln as sr

NARROW, WIDE = {False: (1, 3, 5), True: range(1, 8)}, {False: (25, 400), True: (12, 50, 200, 800)}
TASKS = ("linear-hierarchy", "xor")


def trained(page, name, hidden):
    return sr.validate(sr.load(name, {"network.hidden": hidden}), page.seeds, page.rng)


def narrow(page, hidden):
    """Return what networks with fewer hidden units than modes learn."""
    found = trained(page, TASKS[0], hidden)
    last = (curve[-1] / curve[0] for curve in (found.prediction.loss, found.network.mean_loss))
    learned = ", ".join(map(str, found.narrow[0].first.values()))
    held = sum(each == found.narrow[0].first for each in found.narrow[0].held)
    return hidden, learned, held, *map("{:.2%}".format, last)


def wide(page, name, hidden):
    """Return half-time, error of the first drop, and how far networks are from each other."""
    found, random = trained(page, name, hidden), np.random.default_rng(page.rng)
    drawn = [random.choice(found.predicted.losses, page.seeds, replace=False) for _ in range(400)]
    spreads = [x.std(axis=0, ddof=1).max() / x[:, 0].mean() for x in (found.network.losses, *drawn)]
    chance = 0.025 / len(TASKS) / len(WIDE[page.full])
    reach = map(float, np.quantile(spreads[1:], (chance, 1 - chance)))
    drops = found.metrics["theory_vs_relu"], found.floor.maximum
    row = found.derivation.modes[0].half_time, *(each.drop_time_error_steps for each in drops)
    return f"`{name}`", hidden, *row, float(spreads[0]), *reach


def reproduce(page):
    page.assume("Every width has initial weights of the same standard deviation $\\sigma$.")
    less = [narrow(page, hidden) for hidden in NARROW[page.full]]
    more = [wide(page, name, hidden) for name in TASKS for hidden in WIDE[page.full]]
    known = [sr.derive(sr.load(TASKS[0], {"network.hidden": row[0]})).narrow[0] for row in less]
    page.derive(
        "With fewer hidden units than modes, those of the largest singular values are learned.",
        not any(each.undecided for each in known),
    )
    head = ("$H$", "modes learned", "networks")
    caption = (
        f"`{TASKS[0]}`: copies learned of each mode, by decreasing $s$, networks that hold them."
    )
    page.table(caption, (*head, "last loss, predicted", "trained"), less)
    right = all(row[2] == page.seeds for row in less)
    page.confirm(f"All {page.seeds} networks of each of these widths hold just them.", right)
    page.derive(
        "Modes start from $H\\sigma^2/2$, in a ReLU network times $\\kappa$: times depend on the "
        "logarithm of the width. The first mode of the hierarchy takes "
        f"{page.math(sr.derive(TASKS[0]).formula('pi_1_1').half_time)} steps to its half."
    )
    right = all(abs(row[3]) <= row[4] for row in more)
    page.confirm("At every width the first drop is predicted to what seeds differ by.", right)
    right = all(low <= seen <= high for *_, seen, low, high in more)
    page.beyond("How far networks differ from each other is predicted too, at every width.", right)
    head = ("task", "$H$", "half-time", "error of first drop", "seeds", "deviation", "from", "to")
    page.table("Deviation over networks, over $L(0)$, and its predicted interval.", head, more)
