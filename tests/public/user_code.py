"""What a user writes: pyright reads it beside the package; nothing here is run."""

import numpy as np

import symreln as sr


def script() -> None:
    X = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    Y = np.array([1, 0, 0, 1])
    network = sr.network(hidden=100, init_std="1/1000", learning_rate=0.05, steps=2000)
    spec = sr.spec(
        X, Y, labels={"kind": [1, 0, 0, 1]}, pathways=[sr.pathway("all")], network=network
    )
    derivation = sr.derive(spec)
    for mode in derivation.modes:
        print(mode.label, mode.s, mode.half_time)
    print(derivation.modes.to_pandas(), sr.pathway("masked", Y == 1))
    loss = derivation.to_numpy("loss")(np.arange(10.0))
    print(derivation.formula("pi_1_1").expr, derivation.loss, derivation.verdict.level, loss.shape)
    ax = derivation.plot()
    ax.set_title("mine")
    print(derivation.evaluate([0, 1]).loss, derivation.enclose([0, 1]), derivation.to_python("jax"))
    derivation.save("folder")
    saved = sr.open("folder")
    named = sr.derive("linear-hierarchy")
    print(named._repr_latex_(), sr.gates("xor", "enumerate").to_toml())
    swept = sr.sweep(spec, {"network.hidden": [50, 100]}, directory="swept", seeds=2)
    print(sr.sweep("xor", {"network.hidden": [50]}, directory="more").rows, swept.to_json())
    report = sr.validate(derivation, seeds=2)
    report.plot(ax)
    report.save("folder")
    print(sr.gates(spec, "enumerate").to_spec(), sr.race(spec, over="c").to_json(), sr.replay(spec))
    print(sr.from_weights(derivation, [[1]], [[1]]), saved.modes[0].s)
