"use strict";
// The closed forms over sliders: computes what LIVE says, and draws it. Nothing is precomputed.
{
  // -- numbers ------------------------------------------------------------------------------------

  // ln Γ(x) of x > 0: Lanczos, g = 7, nine terms; relative error below 1e-14.
  const LANCZOS = [
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313,
    -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6,
    1.5056327351493116e-7,
  ];
  const lnGamma = (x) => {
    if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - lnGamma(1 - x);
    let sum = LANCZOS[0];
    for (let n = 1; n < 9; n += 1) sum += LANCZOS[n] / (x - 1 + n);
    const t = x + 6.5;
    return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum);
  };

  // Where half of the plateau is reached, of a mode whose formula does not say it.
  const bisected = (strength, half, last) => {
    let low = 0, high = last;
    while (strength(high) < half && high < 1e12) [low, high] = [high, 2 * high];
    for (let n = 0; n < 60; n += 1) {
      const middle = (low + high) / 2;
      if (strength(middle) < half) low = middle; else high = middle;
    }
    return (low + high) / 2;
  };

  // Strengths of all modes and the loss at some times. A mode's curve is null where its formula
  // does not hold.
  const evaluate = (live, P, times) => {
    const model = live.build(P, lnGamma), out = new Float64Array(live.modes.length);
    const loss = new Float64Array(times.length);
    const curves = live.modes.map(() => new Float64Array(times.length));
    times.forEach((time, k) => {
      model.at(time, out);
      loss[k] = model.rest;
      model.modes.forEach(({ goal, weight }, n) => {
        curves[n][k] = out[n];
        loss[k] += weight * (goal - out[n]) ** 2;
      });
    });
    const modes = live.modes.map((about, n) => {
      const found = model.modes[n], holds = found.holds.every((each) => each > 0);
      const strength = (t) => { model.at(t, out); return out[n]; };
      const asked = Number.isNaN(found.half) && found.plateau > 0 && found.start < found.plateau / 2;
      const reached = asked ? bisected(strength, found.plateau / 2, live.steps) : found.half;
      const half = reached > 0 ? reached : NaN; // it starts above half of its plateau
      return { ...about, ...found, half, holds, curve: holds ? curves[n] : null };
    });
    return { modes, loss: modes.every((mode) => mode.holds) ? loss : null };
  };

  globalThis.symrelnLive = { evaluate, lnGamma };

  // -- words ------------------------------------------------------------------------------------

  const { Plot, make, nice, shown, write } = globalThis.symrelnPlot;
  // At a curve long names would hide it: there it has the number of its row.
  const short = (mode, n) => (mode.title.length < 12 ? mode.title : String(n + 1));

  const LIGHT = ["#0072b2", "#d55e00", "#009e73", "#b3589a", "#a07400", "#3a9bd6", "#6e6e6e", "#c0504d"];
  const DARK = ["#4ea6e0", "#f08a3c", "#33c498", "#d98cc4", "#d1a52e", "#8cc8f0", "#b0b0b0", "#e88480"];
  let COLOURS = LIGHT;
  const DASHES = [[], [7, 3], [2, 3], [9, 3, 2, 3]];
  const POINTS = 400;

  // -- the page -----------------------------------------------------------------------------------

  const toValue = ({ low, high, log }, share) =>
    (log ? low * (high / low) ** share : low + (high - low) * share);
  const toPosition = ({ low, high, log }, value) =>
    (log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low));

  const control = (slider, changed) => {
    const id = `live-${slider.name}`;
    const input = make("input", { type: "range", id, min: 0, max: 1, step: 0.005 });
    const value = make("output", { for: id });
    const self = { slider, value: slider.value, node: null };
    const say = () => {
      const words = slider.name === "_hidden" ? String(Math.round(self.value)) : shown(self.value);
      value.textContent = words;
      input.setAttribute("aria-valuetext", words);
    };
    self.set = (given) => { self.value = given; input.value = toPosition(slider, given); say(); };
    input.addEventListener("input", () => {
      self.value = toValue(slider, Number(input.value));
      if (slider.name === "_hidden") self.value = Math.round(self.value);
      say(); changed();
    });
    const words = slider.symbol === slider.says ? slider.says : `${slider.symbol}, ${slider.says}`;
    self.node = make("div", { class: "control" }, make("label", { for: id }, words), value, input);
    self.set(slider.value);
    return self;
  };

  // -- parts --------------------------------------------------------------------------------------

  const start = (live, home) => {
    const probe = make("span", { class: "probe" }), soft = make("span", { class: "probe soft" }), rule = make("span", { class: "probe rule" }), paper = make("span", { class: "probe paper" });
    let palette = null;
    const colours = () => (palette ??= found());
    const found = () => {
      const [ink, grey, line, ground] = [probe, soft, rule, paper].map((each) => getComputedStyle(each).color);
      return { ink, soft: grey, rule: line, paper: ground };
    };
    const modesPlot = new Plot("Strength π(t) of every mode", "step", colours);
    const lossPlot = new Plot("Loss L(t), mean over samples", "step", colours);
    const plots = [modesPlot, lossPlot];
    const status = make("p", { "aria-live": "polite", class: "status unseen" });
    const warning = make("p", { class: "warning", role: "alert" });
    const body = make("tbody");
    const heads = ["", "mode", "pathway", "half-time (steps)", "plateau"].map((each) => make("th", { scope: "col" }, each));
    const table = make("table", {}, make("thead", {}, make("tr", {}, ...heads)), body);
    let waiting = 0;

    const step = () => {
      // Ink is light on dark paper.
      COLOURS = Number(colours().ink.match(/\d+/)[0]) > 128 ? DARK : LIGHT;
      const P = Object.fromEntries(controls.map((each) => [each.slider.name, each.value]));
      const first = evaluate(live, P, [0]);
      const slowest = Math.max(0, ...first.modes.filter((mode) => mode.holds && mode.half > 0).map((mode) => mode.half));
      const wanted = slowest * 1.25;
      const end = wanted <= live.steps && wanted > 0.3 * live.steps ? live.steps : nice(wanted || live.steps);
      const xs = Float64Array.from({ length: POINTS }, (_, k) => (end * k) / (POINTS - 1));
      const found = evaluate(live, P, xs);
      const pathways = [...new Set(found.modes.map((mode) => mode.pathway))];
      const series = found.modes.map((mode, n) => ({
        y: mode.curve, name: mode.title, label: short(mode, n), colour: COLOURS[n % COLOURS.length],
        dash: DASHES[pathways.indexOf(mode.pathway) % DASHES.length],
      }));
      const high = Math.max(...found.modes.filter((mode) => mode.holds).map((mode) => mode.plateau), 1e-9);
      modesPlot.set(xs, series, high * 1.08);
      const theory = { y: found.loss, name: "theory", falls: true, wide: 2.2 };
      lossPlot.set(xs, [theory], ((found.loss && found.loss[0]) || 1) * 1.08);
      list(found, series);
      const broken = found.modes.filter((mode) => !mode.holds).map((mode) => mode.title);
      warning.textContent = broken.length
        ? `No formula here for ${broken.join("; ")}: initial weights or the learning rate are too large, or a mode is learned before what drives it.` : "";
      clearTimeout(waiting);
      waiting = setTimeout(() => {
        const halves = found.modes.filter((mode) => mode.holds).map((mode) => `${mode.title} ${shown(mode.half)}`);
        status.textContent = `Half-times in steps: ${halves.join("; ")}.`;
      }, 400);
    };
    const list = (found, series) => {
      while (body.children.length > found.modes.length) body.lastChild.remove();
      while (body.children.length < found.modes.length) {
        body.append(make("tr", {}, make("td", {}, make("span", { class: "swatch" }), make("span")), make("th", { scope: "row" }), make("td"), make("td"), make("td")));
      }
      found.modes.forEach((mode, n) => {
        const [swatch, name, pathway, half, plateau] = body.children[n].children;
        swatch.firstChild.style.background = series[n].colour;
        write(swatch.lastChild, series[n].label === mode.title ? "" : series[n].label);
        write(name, mode.title); write(pathway, mode.pathway);
        write(half, mode.holds ? shown(mode.half) : "–"); write(plateau, shown(mode.plateau));
      });
    };
    const controls = live.sliders.map((slider) => control(slider, () => step()));
    const reset = make("button", { type: "button" }, "Reset to the declared values");
    reset.addEventListener("click", () => { controls.forEach((each) => each.set(each.slider.value)); step(); });
    home.append(
      probe, soft, rule, paper, make("div", { class: "controls" }, ...controls.map((each) => each.node)),
      make("p", { class: "tools" }, reset), warning,
      make("div", { class: "plots" }, ...plots.map((plot) => plot.figure)),
      make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Modes" }, table), status,
    );
    const recolour = () => { palette = null; step(); };
    const resize = () => {
      for (const plot of plots) { plot.size = null; plot.draw(); }
    };
    new MutationObserver(recolour).observe(document.documentElement, { attributeFilter: ["data-theme"] });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
    addEventListener("resize", resize);
    globalThis.symrelnLive.step = step;
    step();
  };

  if (globalThis.document) {
    document.addEventListener("DOMContentLoaded", () => {
      const home = document.getElementById("live");
      if (home && globalThis.LIVE) { home.hidden = false; start(globalThis.LIVE, home); }
    });
  }
}
