"use strict";
// Words and drawings of what a page computes: lines over one axis, on a canvas.
{
  // -- words --------------------------------------------------------------------------------------

  const RAISED = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
  const shown = (x) => {
    if (!Number.isFinite(x)) return "–";
    const size = Math.abs(x);
    if (size !== 0 && (size < 1e-3 || size >= 1e6)) {
      const [digits, power] = x.toExponential(2).split("e");
      return `${Number(digits)} × 10${[...power.replace("+", "")].map((c) => RAISED[c]).join("")}`;
    }
    return String(Number(x.toPrecision(4)));
  };
  const write = (node, text) => { if (node.textContent !== text) node.textContent = text; };
  const make = (tag, attributes = {}, ...inside) => {
    const made = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...inside);
    return made;
  };

  // -- drawing ------------------------------------------------------------------------------------

  const nice = (x) => {
    const power = 10 ** Math.floor(Math.log10(x));
    return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((n) => n * power).find((n) => n >= x * 0.999);
  };
  const ticks = (low, high) => {
    const rough = (high - low) / 4, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough * 0.999);
    const found = [];
    for (let n = Math.ceil(low / step - 1e-9); n * step <= high + 1e-9 * step; n += 1) found.push(n * step);
    return found;
  };

  // A plot on a canvas; series are {y, colour, dash, label} over xs.
  class Plot {
    constructor(title, xTitle, colours) {
      this.canvas = make("canvas", { role: "img", "aria-label": title });
      this.readout = make("output", { class: "readout" });
      this.figure = make("figure", { class: "plot" }, make("figcaption", {}, title), this.canvas, this.readout);
      this.xTitle = xTitle;
      this.colours = colours;
      this.at = null;
      this.canvas.addEventListener("pointermove", (event) => this.point(event.offsetX));
      this.canvas.addEventListener("pointerleave", () => this.point(null));
    }
    // Once a layout: asked at every step, the browser would lay out the page at every step.
    measure() {
      const ratio = globalThis.devicePixelRatio || 1, { clientWidth: width, clientHeight: height } = this.canvas;
      Object.assign(this.canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
      this.size = { ratio, width, height };
    }
    point(at) { this.at = at; this.draw(); }
    set(xs, series, high) { Object.assign(this, { xs, series, high }); this.draw(); }
    draw() {
      if (!this.series) return;
      if (!this.size) this.measure();
      const { ratio, width, height } = this.size;
      const pen = this.canvas.getContext("2d"), { ink, soft, rule, paper } = this.colours();
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      pen.clearRect(0, 0, width, height);
      const left = 46, right = width - 12, top = 8, bottom = height - 34, { xs } = this;
      const x0 = xs[0], x1 = xs[xs.length - 1];
      const px = (x) => left + ((x - x0) / (x1 - x0)) * (right - left);
      const py = (y) => bottom - (y / this.high) * (bottom - top);
      pen.font = "12px system-ui, sans-serif";
      pen.lineWidth = 1;
      pen.strokeStyle = rule;
      pen.fillStyle = soft;
      pen.textAlign = "center";
      for (const x of ticks(x0, x1)) {
        pen.beginPath(); pen.moveTo(px(x), top); pen.lineTo(px(x), bottom); pen.stroke();
        pen.fillText(shown(x), Math.min(px(x), right - 12), bottom + 15);
      }
      pen.fillText(this.xTitle, (left + right) / 2, height - 4);
      pen.textAlign = "right";
      for (const y of ticks(0, this.high)) {
        pen.beginPath(); pen.moveTo(left, py(y)); pen.lineTo(right, py(y)); pen.stroke();
        pen.fillText(shown(y), left - 5, py(y) + 4);
      }
      for (const one of this.series) {
        if (!one.y) continue;
        pen.strokeStyle = pen.fillStyle = one.colour || ink;
        pen.lineWidth = one.wide || 1.8; pen.setLineDash(one.dash || []);
        pen.beginPath();
        for (let k = 0; k < xs.length; k += 1) {
          if (Number.isFinite(one.y[k])) pen.lineTo(px(xs[k]), py(one.y[k]));
        }
        pen.stroke(); pen.setLineDash([]);
      }
      this.labels(pen, px, py, right, paper, ink);
      this.cross(pen, px, py, top, bottom, ink);
    }
    // At the curve, where it has risen to half; one below the other where they would collide.
    labels(pen, px, py, right, paper, ink) {
      const taken = [];
      pen.textAlign = "left";
      for (const one of this.series) {
        if (!one.y || !one.label) continue;
        const last = one.y.findLast(Number.isFinite);
        let k = 0;
        while (k < one.y.length - 1 && (one.falls ? one.y[k] > one.y[0] / 2 : !(one.y[k] >= last * 0.6))) k += 1;
        const size = pen.measureText(one.label).width;
        let x = Math.min(px(this.xs[k]) + 6, right - size), y = py(one.y[k]) + 4;
        while (taken.some((o) => Math.abs(o.y - y) < 13 && x < o.x + o.size + 4 && o.x < x + size + 4)) y += 13;
        taken.push({ x, y, size });
        pen.strokeStyle = paper; pen.lineWidth = 3; pen.lineJoin = "round";
        pen.strokeText(one.label, x, y);
        pen.fillStyle = one.colour || ink;
        pen.fillText(one.label, x, y);
      }
    }
    cross(pen, px, py, top, bottom, ink) {
      if (this.at === null) { write(this.readout, ""); return; }
      const { xs } = this, last = xs.length - 1;
      let k = 0;
      while (k < last && px(xs[k]) < this.at) k += 1;
      pen.strokeStyle = ink; pen.lineWidth = 1;
      pen.beginPath(); pen.moveTo(px(xs[k]), top); pen.lineTo(px(xs[k]), bottom); pen.stroke();
      const own = this.series.filter((one) => one.y);
      for (const one of own) {
        pen.fillStyle = one.colour || ink;
        pen.beginPath(); pen.arc(px(xs[k]), py(one.y[k]), 3, 0, 7); pen.fill();
      }
      const values = own.map((one) => `${one.name}: ${shown(one.y[k])}`);
      this.readout.textContent = [`${this.xTitle} ${shown(xs[k])}`, ...values].join(" · ");
    }
  }

  globalThis.symrelnPlot = { Plot, make, nice, shown, write };
}
