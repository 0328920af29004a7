"""Why theory and networks differ: what every assumption costs."""

import symreln as sr

SMALL = {"hidden": 200, "init_std": "1/40000", "learning_rate": "1/500", "steps": 3001}
ITEMS = {"dataset.items": 4, **{f"network.{key}": value for key, value in SMALL.items()}}


def confronted(page, name):
    """Say what the distance between theory and ReLU networks is made of."""
    spec = sr.load(name, {} if page.full else ITEMS)
    found = page.keep(name, sr.validate(spec, page.seeds, page.rng))
    own, near = (found.intervals[f"theory_vs_{x}"].max_abs_over_initial for x in ("gdln", "relu"))
    page.confirm(
        f"`{name}`: the theory is within {found.tolerance:.0%} of $L(0)$ of gated networks: "
        f"{own.value:.1%}.",
        own.high <= found.tolerance,
    )
    page.confirm(
        f"`{name}`: it is {near.value:.1%} [{near.low:.1%}, {near.high:.1%}] from the mean of ReLU "
        "networks. The interval over seeds does not have 0 in it: that is more than what different "
        f"initial weights do (seeds differ by {found.floor.mean.max_abs_over_initial:.1%}).",
        near.low > 0,
    )
    curves = {
        "– (closed forms)": found.curves["closed_forms"],
        "head starts to leading order, and steps taken as small": found.curves["reduced"],
        "fixed gates, and pathways that share no units": found.curves["effective"],
        "that few units stand for all that were followed": found.curves["mean_field"],
    }
    loss = found.network.mean_loss
    far = {key: abs(curve - loss) / loss[0] for key, curve in curves.items()}
    *_, few, followed = (curve.max() for curve in far.values())
    page.confirm(
        f"`{name}`: units leave their gates, and that is the rest. The effective network, which "
        f"has its gates from the data alone, leaves {few:.1%} with {found.effective.count} units; "
        f"all units that were followed for it leave {followed:.1%}.",
        bool(max(few, followed) < near.low),
    )
    rows = [(key, f"{curve.max():.2%}") for key, curve in far.items()]
    page.table("One assumption after the other is given up.", ("no longer assumed", "left"), rows)
    first, *_, second, third = ((range(len(curve)), curve) for curve in far.values())
    shown = {"closed forms": first, "effective network": second, "all units followed": third}
    page.plot(name, f"`{name}`", shown, x="step $t$", y="$|\\Delta L|/L(0)$")
    for said in found.failing.values():
        text = f"`{name}`: experiments that replace one assumption at a time name what costs most"
        named = [row for row in said if row.explains]
        text += "".join(f"; {row.assumption}: {row.after.value:.1%} are left" for row in named)
        page.beyond(f"{text}.", bool(named))


def reproduce(page):
    page.assume(
        "Gates stay as they are. Pathways share no units; later ones have half of all units, the "
        "one number that is assumed. Head starts are taken to leading order, and steps as small."
    )
    for name in ("contextual-3", "contextual-5"):
        confronted(page, name)
