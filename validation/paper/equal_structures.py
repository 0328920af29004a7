"""Equal structures: closed forms for every number of contexts (section 5, finding 3)."""

import symreln as sr


def symbolic(page):
    family = sr.derive("contextual-C").family
    page.derive(
        "For every C, n (a power of 2) and c all modes close, those of context pathways by the "
        "symmetry of the contexts, and every later mode has a head start in closed form.",
        family.complete and {step.outcome for step in family.steps} == {sr.Truth.PROVEN},
    )
    modes = [(p.template.name, m) for p in family.pathways for m in p.modes if m.law]
    page.table(
        "Modes for every C and n; u = 1, 2, 4, …, n/2 are the splits of the hierarchy.",
        ("pathway", "$s$", "$d$ in effect", "multiplicity"),
        [(f"`{n}`", m.law.s, m.law.d, m.multiplicity.to_sympy()) for n, m in modes],
    )
    page.derive(
        "Until the common pathway has learned a split, context pathways learn it C times as fast "
        "as afterwards. Their initial strengths, set by hand in the paper, follow from it here.",
        all(m.ahead.faster == family.symbols["C"] for _, m in modes if m.ahead),
    )


def reproduce(page):
    page.assume(
        "C contexts share 8 items in one hierarchy. The published ReLN: a common pathway and, for "
        "each context, one that is off in it. Gates are fixed; a later pathway starts from half "
        "of the hidden units, the common one from as many as early training opens everywhere."
    )
    symbolic(page)
    tasks = ["contextual-3", "contextual-4", "contextual-5"]
    found = {name: page.validate(name) for name in tasks}
    law = [each.law.distances[-1].max_abs_over_initial for each in found.values()]
    relu = {n: v.intervals["closed_vs_relu"].max_abs_over_initial for n, v in found.items()}
    page.confirm(
        f"The loss with gates by the law (third order) is {', '.join(map('{:.1%}'.format, law))} "
        f"of L(0) from ReLU networks of {', '.join(tasks)}: within the tolerance as C grows.",
        page.less(max(law), 0.05, max(each.high - each.value for each in relu.values())),
        finding=3,
        figure=f"loss-{tasks[-1]}",
    )
    for name, each in found.items():
        page.beside_published(each)
        gdln = each.intervals["closed_vs_gdln"].max_abs_over_initial
        drop = each.intervals["closed_vs_relu"].drop_time_error_steps.value
        page.beyond(
            f"Closed forms of `{name}` are as far off as a network with fixed gates: a "
            f"trained GDLN is {each.distance('gdln_vs_relu'):.1%} from ReLU networks, closed forms "
            f"are {gdln.value:.1%} from the GDLN. The first drop is {drop} steps off (published: "
            f"{each.published.drop_time_error_steps}).",
            page.less(gdln.value, relu[name].value / 2, gdln.high - gdln.value),
        )
        for said in (text for text in each.clauses() if text.startswith("against")):
            page.beyond(f"Diagnosis of `{name}`: {said}.")
