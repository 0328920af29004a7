"""Real data: which parts of the theory survive on iris and on handwritten digits."""

from tempfile import TemporaryDirectory

import symreln as sr


def linear(page, name):
    """Confront the linear network with the theory, and return what survives."""
    found = page.validate(sr.load(name), name)
    apart = found.numbers.pathways[0].spectrum.commutator.relative_norm_squared
    far = (found.distance(f"{curve}_vs_gdln") for curve in ("theory", "modes"))
    return f"`{name}`", *map("{:.2%}".format, (float(apart.to_fraction()) ** 0.5, *far))


def rectified(page, name, steps):
    """Compare ReLU networks, up to some steps, with the single linear pathway."""
    over = {"network.activation": ["relu"], "network.steps": steps}
    more = {"seeds": page.seeds, "rng": page.rng, "workers": 1}
    with TemporaryDirectory() as folder:
        *_, last = rows = sr.sweep(name, over, directory=folder, **more).rows
    pairs, floor = ("theory_vs_relu", "mean_field_vs_relu"), last.floor
    far = [[f"{row.metrics[x].max_abs_over_initial.value:.1%}" for x in pairs] for row in rows]
    drop = last.metrics[pairs[0]].drop_time_error_steps.value
    page.confirm(
        f"ReLU networks on `{name}` begin as linear ones: the error of their first drop, in steps, "
        f"is {drop} (seeds differ by up to {floor.maximum.drop_time_error_steps:.2g}).",
        abs(drop) <= floor.maximum.drop_time_error_steps,
    )
    page.confirm(
        f"They keep to the linear pathway: it is {far[0][0]} of $L(0)$ off up to step {steps[0]}, "
        f"but {far[-1][0]} up to step {steps[-1]}. The mean-field simulation, whose gates move, is "
        f"{far[-1][1]} off, other seeds {floor.mean.max_abs_over_initial:.1%}: gates do not stay.",
        last.verdict.outcome == "agrees",
    )


def reproduce(page):
    page.assume(
        "Data as they are, in exact numbers; one-hot classes as targets. Nothing is fitted."
    )
    rows = [linear(page, name) for name in ("iris", "digits")]
    page.derive("Assumption 2.1.1 fails on both. The matrix reduction does not need it.")
    head = ("data", "size of the commutator", "reduction", "Assumption 2.1.1 made")
    page.table("Distances are from the gated network.", head, rows)
    classes = sr.derive("iris-classes")
    page.derive(
        "One pathway a class is no gate pattern of a ReLU network on iris: the direction in which "
        "a unit of a class grows opens it on other classes.",
        set(classes.unsupported) == {pathway.name for pathway in classes.pathways},
    )
    for name, steps in (("iris", [601, 2001]), ("digits", [301, 1501]))[: 1 + page.full]:
        rectified(page, name, steps)
    found = sr.gates("iris-classes", "kmeans", seeds=page.seeds, rng=page.rng).to_json()
    replay, floor = found["replay"]["errors"]["algorithm 1"]["mean"], found["replay"]["seed_floor"]
    text = f"Algorithm 1 finds {found['clusters']} clusters on iris. A replay with their gates is "
    text += f"{replay:.1%} from the network, other seeds {floor:.1%}: fixed gates do not suffice."
    page.confirm(text, replay <= floor)
