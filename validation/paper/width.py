"""Width: how results depend on the number of hidden units."""

import numpy as np
import sympy as sp

import symreln as sr

NARROW, WIDE = {False: (1, 3, 5), True: range(1, 8)}, {False: (25, 400), True: (12, 50, 200, 800)}
TASKS = ("linear-hierarchy", "xor")
LEARNED = ("$H$", "modes learned", "networks", "of", "last loss, predicted", "trained")
SPREAD = ("task", "$H$", "half-time", "error of first drop", "of seeds", "deviation", "from", "to")


def trained(page, name, hidden):
    # Of fewer than six seeds the mean drop is not known well enough.
    return sr.validate(sr.load(name, {"network.hidden": hidden}), max(6, page.seeds), page.rng)


def narrow(page, hidden):  # what networks with fewer units than modes learn, and if it is right
    found = trained(page, TASKS[0], hidden)
    first, held = found.narrow[0].first, found.narrow[0].held
    copies = [found.derivation.modes[label].multiplicity for label in first]  # by decreasing s
    largest = np.cumsum([*first.values()]) == np.cumsum(copies).clip(max=hidden)
    last = (curve[-1] / curve[0] for curve in (found.prediction.loss, found.network.mean_loss))
    row = ", ".join(map(str, first.values())), sum(each == first for each in held), len(held)
    return hidden, *row, *map("{:.2%}".format, last), bool(largest.all())


def drawn(found, random):  # closed losses of as many networks, each from sums over few units
    exact, early, losses = found.derivation.at_values, found.early, 0
    network, rows = exact.spec.network, [row for row in exact.modes if row.s != 0]
    shares = [early[row.label].share if early else 0 for row in rows]
    # Of a ReLU network's units one pathway gets each; all modes of a linear one share them.
    counts = random.multinomial(network.hidden, [*shares, 1 - sum(shares)], found.seeds)
    for place, row in enumerate(rows):
        one, n, s, top = early.get(row.label), row.multiplicity, row.s, row.s / row.d_eff
        units = counts[:, [place]] if one else network.hidden * n
        vary = (one.spread**2 + 1) * one.share - 1 if one else 2
        scale = (
            (one.kappa / one.share if one else 0.5 / n) * vary * float(network.init_std**2 / top)
        )
        start = random.gamma(units / vary, scale, (found.seeds, 1))
        faded = float(1 + s / exact.tau) ** (-2.0 * np.arange(network.steps))
        losses = losses + n * float(s * top) / 2 * (faded / (faded + start / (1 - start))) ** 2
    return losses


def wide(page, name, hidden):  # half-time, error of the first drop, how far networks differ
    found, random = trained(page, name, hidden), np.random.default_rng(page.rng)
    losses = [found.network.losses, *(drawn(found, random) for _ in range(400))]
    seen = [x.std(axis=0, ddof=1).max() / x[:, 0].mean() for x in losses]
    chance = 0.025 / len(TASKS) / len(WIDE[page.full])
    reach = map(float, np.quantile(seen[1:], (chance, 1 - chance)))
    drops = [x.drop_time_error_steps for x in (found.metrics["theory_vs_relu"], found.floor.mean)]
    return f"`{name}`", hidden, found.derivation.modes[0].half_time, *drops, float(seen[0]), *reach


def reproduce(page):
    page.assume("Every width has initial weights of the same standard deviation $\\sigma$.")
    less = [narrow(page, hidden) for hidden in NARROW[page.full]]
    more = [wide(page, name, hidden) for name in TASKS for hidden in WIDE[page.full]]
    page.derive("Fewer units than modes learn those of the largest $s$.", all(x[-1] for x in less))
    page.table(f"Copies learned of each mode of `{TASKS[0]}`.", LEARNED, [x[:-1] for x in less])
    page.confirm("All networks of these widths hold just them.", all(x[2] == x[3] for x in less))
    spec, time = sr.load(TASKS[0]), sr.derive(TASKS[0]).formula("pi_1_1").half_time
    at = sp.lambdify(sorted(time.free_symbols, key=str), time)  # over pi_0 and tau
    tau, one = 1 / float(8 * spec.network.learning_rate), float(spec.network.init_std**2 / 2)
    text = "Modes start from $\\pi_0 = H\\sigma^2/2$, in a ReLU network times $\\kappa$. The first "
    text += f"one of `{TASKS[0]}` has the half-time {page.math(time)}, which falls with $\\ln H$."
    page.compute(text, all(np.isclose(at(x[1] * one, tau), x[2]) for x in more[: len(more) // 2]))
    right = all(None not in row[3:5] and abs(row[3]) <= row[4] for row in more)
    page.confirm("At every width the first drop is predicted within what seeds differ by.", right)
    page.beyond("Networks differ as predicted at all $H$.", all(a < x < b for *_, x, a, b in more))
    page.table("Deviation over networks, over $L(0)$, and its predicted interval.", SPREAD, more)
