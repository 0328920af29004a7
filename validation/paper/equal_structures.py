"""Equal structures: closed forms for every number of contexts (section 5, finding 3)."""

import symreln as sr


def symbolic(page):
    family = sr.derive("contextual-C").family
    page.derive(
        "For every C, n (a power of 2) and c all modes have closed forms, those of context pathways"
        " by the symmetry of the contexts, and so has the head start of every later mode.",
        family.complete,
    )
    head, known = ("pathway", "$s$", "$d$ in effect", "multiplicity"), family.modes
    letters = family.task.symbols
    rows = [
        (f"`{m.template.name}`", m.law.s, m.law.d, m.found.multiplicity.to_sympy(letters))
        for m in known
    ]
    page.table("Modes for every C and n; u = 1, 2, 4, …, n/2: splits of the hierarchy.", head, rows)
    page.derive(
        "Until the common pathway has learned a split, context pathways learn it C times as fast "
        "as afterwards. Their initial strengths, set by hand in the paper, follow from it here.",
        all(m.faster == letters["C"] for m in family.modes if m.by),
    )


def largest(page, task, found):
    shown = {"networks": found.network.mean_loss, "closed forms": found.curves["closed_forms"]}
    shown["gates by the law"] = found.curves["gates_order_3"]
    lines = {n: (range(0, len(up), 100), up[::100] / up[0]) for n, up in shown.items()}
    page.plot("law", f"Loss of {task}.", lines, x="step", y="loss/L(0)", dots=["networks"])


def beyond(page, name, found):
    page.beside_published(found)
    closed, gdln = (found.intervals[f"closed_vs_{kind}"] for kind in ("relu", "gdln"))
    near, fixed = gdln.max_abs_over_initial, found.distance("gdln_vs_relu")
    text = (
        f"Closed forms of `{name}` are nearer to networks with fixed gates (GDLN) than these are "
    )
    text += f"to ReLU networks: {near.value:.1%} of L(0) against {fixed:.1%}."
    page.beyond(text, page.less(near.value, fixed, near.high - near.value))
    both = closed, found.published[0].distance
    ours, theirs = (each.drop_time_error_steps.value for each in both)
    if None not in (ours, theirs):
        text = f"The first drop of the loss of `{name}` is predicted more nearly than published: "
        text += f"steps off are {abs(ours)}, published {abs(theirs)}."
        page.beyond(text, page.less(abs(ours), abs(theirs), found.floor.mean.drop_time_error_steps))
    for said in (text for text in found.clauses() if text.startswith("against")):
        page.beyond(f"Diagnosis of `{name}`: {said}.")


def reproduce(page):
    page.assume(
        "C contexts share 8 items in one hierarchy. The published ReLN: a common pathway and, for "
        "each context, one that is off in it. Gates are fixed; a later pathway starts from half "
        "of the hidden units, the common one from as many as early training opens everywhere."
    )
    symbolic(page)
    found = {name: page.validate(name) for name in ("contextual-3", "contextual-4", "contextual-5")}
    law = [each.law.distances[-1].max_abs_over_initial for each in found.values()]
    floor = max(each.floor.mean.max_abs_over_initial for each in found.values())
    limit = min(each.tolerance for each in found.values())
    text = (
        f"With gates by the law (third order) the loss stays within {limit:.0%} of L(0) as C grows"
    )
    text += f": it is {', '.join(map('{:.1%}'.format, law))} from ReLU networks for C = 3, 4, 5 "
    text += f"(networks of different seeds: {floor:.1%} or less)."
    page.confirm(text, page.less(max(law), limit, floor), finding=3, figure="law")
    largest(page, *list(found.items())[-1])
    for name, each in found.items():
        beyond(page, name, each)
