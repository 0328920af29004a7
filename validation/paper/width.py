"""Width: how results depend on the number of hidden units."""

import numpy as np
import sympy as sp

import symreln as sr

NARROW, WIDE = {False: (1, 3, 5), True: range(1, 8)}, {False: (25, 400), True: (12, 50, 200, 800)}
TASKS = ("linear-hierarchy", "xor")


def trained(page, name, hidden):
    # Of fewer than six seeds the mean drop is not known well enough.
    return sr.validate(sr.load(name, {"network.hidden": hidden}), max(6, page.seeds), page.rng)


def narrow(page, hidden):
    """Return what networks with fewer hidden units than modes learn, and whether it is right."""
    found = trained(page, TASKS[0], hidden)
    first, held = found.narrow[0].first, found.narrow[0].held
    copies = [found.derivation.modes[label].multiplicity for label in first]  # by decreasing s
    largest = np.cumsum([*first.values()]) == np.cumsum(copies).clip(max=hidden)
    last = (curve[-1] / curve[0] for curve in (found.prediction.loss, found.network.mean_loss))
    row = hidden, ", ".join(map(str, first.values())), sum(each == first for each in held)
    return *row, len(held), *map("{:.2%}".format, last), bool(largest.all())


def drawn(found, random):
    """Return closed losses of as many networks, whose modes start from sums over few units."""
    derivation, early, losses = found.derivation.at_values, found.early, 0
    network, rows = derivation.spec.network, [row for row in derivation.modes if row.s != 0]
    steps, tau = np.arange(network.steps), float(derivation.tau)
    shares = [early[row.label].share if early else 0 for row in rows]
    # Of a ReLU network's units one pathway gets each; all modes of a linear one share them.
    counts = random.multinomial(network.hidden, [*shares, 1 - sum(shares)], found.seeds)
    for place, row in enumerate(rows):
        units, mean, deviation = network.hidden * row.multiplicity, 0.5, 2
        if early:
            one, units = early[row.label], counts[:, [place]]
            mean, deviation = one.kappa / one.share, (one.spread**2 + 1) * one.share - 1
        s, height = float(row.s), float(row.s / row.d_eff)
        start = random.gamma(units / deviation, mean * deviation, (found.seeds, 1))
        start *= float(network.init_std) ** 2 / (1 if early else row.multiplicity)
        grown = np.exp(np.minimum(2 * steps * np.log1p(s / tau), 500))
        left = height / (1 + start / (height - start) * grown)
        losses = losses + row.multiplicity * s / height / 2 * left**2
    return losses


def wide(page, name, hidden):
    """Return half-time, error of the first drop, and how far networks are from each other."""
    found, random = trained(page, name, hidden), np.random.default_rng(page.rng)
    draws = [drawn(found, random) for _ in range(400)]
    spreads = [x.std(axis=0, ddof=1).max() / x[:, 0].mean() for x in (found.network.losses, *draws)]
    chance = 0.025 / len(TASKS) / len(WIDE[page.full])
    reach = map(float, np.quantile(spreads[1:], (chance, 1 - chance)))
    drops = found.metrics["theory_vs_relu"], found.floor.mean
    row = found.derivation.modes[0].half_time, *(each.drop_time_error_steps for each in drops)
    return f"`{name}`", hidden, *row, float(spreads[0]), *reach


def reproduce(page):
    page.assume("Every width has initial weights of the same standard deviation $\\sigma$.")
    less = [narrow(page, hidden) for hidden in NARROW[page.full]]
    more = [wide(page, name, hidden) for name in TASKS for hidden in WIDE[page.full]]
    text = "With fewer hidden units than modes, those of the largest singular values are learned."
    page.derive(text, all(row[-1] for row in less))
    caption = f"`{TASKS[0]}`: copies learned of each mode, by decreasing $s$; networks with them."
    head = ("$H$", "modes learned", "networks", "of", "last loss, predicted", "trained")
    page.table(caption, head, [row[:-1] for row in less])
    page.confirm("All networks of these widths hold just them.", all(x[2] == x[3] for x in less))
    spec, time = sr.load(TASKS[0]), sr.derive(TASKS[0]).formula("pi_1_1").half_time
    values = sp.lambdify(sorted(time.free_symbols, key=str), time)  # over pi_0 and tau
    tau, unit = 1 / float(8 * spec.network.learning_rate), float(spec.network.init_std**2 / 2)
    text = "Modes start from $\\pi_0 = H\\sigma^2/2$, in a ReLU network times $\\kappa$. The first "
    text += f"one of `{TASKS[0]}` has the half-time {page.math(time)}, which falls with $\\ln H$."
    same = [(values(H * unit, tau), half) for name, H, half, *_ in more if TASKS[0] in name]
    page.compute(text, np.allclose(*zip(*same, strict=True)))
    right = all(None not in row[3:5] and abs(row[3]) <= row[4] for row in more)
    page.confirm("At every width the first drop is predicted within what seeds differ by.", right)
    right = all(low <= seen <= high for *_, seen, low, high in more)
    page.beyond("How far networks differ from each other is predicted too, at every width.", right)
    head = (
        "task",
        "$H$",
        "half-time",
        "error of first drop",
        "of seeds",
        "deviation",
        "from",
        "to",
    )
    page.table("Deviation over networks, over $L(0)$, and its predicted interval.", head, more)
