"use strict";
// The law of gates: the share of a pathway's hidden units that has its gate, from θ of its modes.
{
  const EDGE = 1e-9; // cosine below which a direction does not decide a sample's gate
  const TINY = 1e-11; // length, of 1, that rounding may leave
  const SHIFTS = 8, RULE = 64; // of the quasi-Monte-Carlo rule, and points of each
  const MOST = 256; // variables of an orthant

  // Φ(x) of the normal distribution, to float64 (West 2005, after Hart).
  const below = (x) => {
    const y = Math.abs(x);
    if (y > 37) return x > 0 ? 1 : 0;
    const bell = Math.exp((-y * y) / 2);
    let tail;
    if (y < 7.07106781186547) {
      const top = (((((3.52624965998911e-2 * y + 0.700383064443688) * y + 6.37396220353165) * y + 33.912866078383) * y + 112.079291497871) * y + 221.213596169931) * y + 220.206867912376;
      const bottom = ((((((8.83883476483184e-2 * y + 1.75566716318264) * y + 16.064177579207) * y + 86.7807322029461) * y + 296.564248779674) * y + 637.333633378831) * y + 793.826512519948) * y + 440.413735824752;
      tail = (bell * top) / bottom;
    } else {
      tail = bell / (y + 1 / (y + 2 / (y + 3 / (y + 4 / (y + 0.65))))) / 2.506628274631;
    }
    return x > 0 ? 1 - tail : tail;
  };

  // The x with Φ(x) = p (Acklam; relative error below 1.2e-9).
  const quantile = (p) => {
    if (p > 0.5) return -quantile(1 - p);
    if (p < 0.02425) {
      const q = Math.sqrt(-2 * Math.log(Math.max(p, 1e-300)));
      return (((((-0.007784894002430293 * q - 0.3223964580411365) * q - 2.400758277161838) * q - 2.549732539343734) * q + 4.374664141464968) * q + 2.938163982698783)
        / ((((0.007784695709041462 * q + 0.3224671290700398) * q + 2.445134137142996) * q + 3.754408661907416) * q + 1);
    }
    const q = p - 0.5, r = q * q;
    return ((((((-39.69683028665376 * r + 220.9460984245205) * r - 275.9285104469687) * r + 138.357751867269) * r - 30.66479806614716) * r + 2.506628277459239) * q)
      / (((((-54.47609879822406 * r + 161.5858368580409) * r - 155.6989798598866) * r + 66.80131188771972) * r - 13.28068155288572) * r + 1);
  };

  const norm = (row) => {
    let sum = 0;
    for (let k = 0; k < row.length; k += 1) sum += row[k] * row[k];
    return Math.sqrt(sum);
  };

  // L with L Lᵀ the matrix, as its columns: pivots by size, down to rounding.
  const factor = (matrix, size, least) => {
    const left = Float64Array.from(matrix), columns = [];
    for (;;) {
      let pivot = 0;
      for (let n = 1; n < size; n += 1) if (left[n * size + n] > left[pivot * size + pivot]) pivot = n;
      const largest = left[pivot * size + pivot];
      if (columns.length === size || !(largest > least)) return columns;
      const column = Float64Array.from({ length: size }, (_, n) => left[n * size + pivot] / Math.sqrt(largest));
      for (let n = 0; n < size; n += 1) for (let k = 0; k < size; k += 1) left[n * size + k] -= column[n] * column[k];
      columns.push(column);
    }
  };

  // What does not depend on time: samples that tell gates apart, scalar products, and their factors.
  const prepare = (curve, P) => {
    const model = curve.build(P), all = Math.sqrt(curve.cells.length), modes = curve.counts.length;
    const product = (i, j, k) => model.products[curve.cells[i * all + j]][k];
    const own = [];
    for (let i = 0; i < all; i += 1) {
      let seen = 0;
      for (let k = 1; k <= modes; k += 1) seen += product(i, i, k);
      if (seen > EDGE * EDGE * product(i, i, 0)) own.push(i);
    }
    const size = own.length;
    const matrix = (k) => Float64Array.from({ length: size * size }, (_, n) => product(own[Math.floor(n / size)], own[n % size], k));
    const still = matrix(0), seen = curve.counts.map((_, k) => matrix(k + 1));
    const rest = still.map((value, n) => seen.reduce((left, each) => left - each[n], value));
    const largest = Math.max(...own.map((_, i) => still[i * size + i])), least = 1e-12 * largest;
    const lead = model.speeds.reduce((best, s, k) => (s > model.speeds[best] ? k : best), 0);
    const flat = curve.counts[lead] === 1 && factor(still, size, least).length <= 2;
    return {
      ...model, size, still, seen, rest, lead, flat, angle: new Float64Array(modes),
      holds: size > 0 && model.holds.every((each) => each > 0),
      factors: [...seen, rest].map((each) => factor(each, size, least)),
    };
  };

  // K_ij at the angles that were written last.
  const covariance = ({ variances: [first, last], still, seen, angle }, n) => {
    let sum = first * still[n];
    for (let k = 0; k < seen.length; k += 1) sum += (first + last) * Math.sinh(angle[k]) ** 2 * seen[k][n];
    return sum;
  };

  // Exact, of samples in a plane: two of them bound the gate, those whose orthant is the smallest.
  // Angles are taken from both cosine and sine, the latter sums of positive terms: nothing cancels
  // where a correlation is near 1. Of z of the leading mode and w·x_i they are C and √(K z² − C²);
  // of two samples K_ij and the minors of their rows.
  const planar = (model) => {
    const { size, variances: [first, last], seen, rest, lead, angle, factors } = model, whole = first + last;
    const [cosh, sinh] = [Math.cosh(angle[lead]), Math.sinh(angle[lead])];
    const early = [], grown = seen.map((_, k) => first + whole * Math.sinh(angle[k]) ** 2);
    for (let i = 0; i < size; i += 1) {
      const n = i * size + i, along = seen[lead][n];
      let across = whole * first * Math.max(0, rest[n]) + along * first * last * Math.exp(-2 * angle[lead]);
      for (let k = 0; k < seen.length; k += 1) if (k !== lead) across += whole * grown[k] * seen[k][n];
      early.push(Math.atan2(Math.sqrt(along) * (first * cosh + last * sinh), Math.sqrt(across)));
    }
    const columns = factors.flatMap((each, k) => each.map((column) => column.map((value) => value * Math.sqrt(grown[k] ?? first))));
    const between = (i, j) => {
      let cosine = 0, square = 0;
      columns.forEach((a, m) => {
        cosine += a[i] * a[j];
        for (const b of columns.slice(0, m)) square += (a[i] * b[j] - a[j] * b[i]) ** 2;
      });
      return Math.atan2(cosine, Math.sqrt(square));
    };
    let share = 1;
    for (let i = 0; i < size; i += 1) {
      for (let j = 0; j <= i; j += 1) {
        if (seen[lead][i * size + j] < -EDGE * Math.sqrt(seen[lead][i * size + i] * seen[lead][j * size + j])) return 0;
        share = Math.min(share, 0.25 + (early[i] + early[j] + between(i, j)) / (2 * Math.PI));
      }
    }
    return Math.max(0, share);
  };

  // Rows over independent normal variables: z of every sample, then w·x of every sample.
  const rows = ({ size, variances: [first, last], factors, lead, angle }) => {
    const whole = first + last, leading = factors[lead];
    const early = (first * Math.cosh(angle[lead]) + last * Math.sinh(angle[lead])) / Math.sqrt(whole);
    const other = Math.sqrt((first * last) / whole) * Math.exp(-angle[lead]);
    const parts = factors.flatMap((columns, k) => {
      if (k === lead) return [];
      const scale = Math.sqrt(k < factors.length - 1 ? first + whole * Math.sinh(angle[k]) ** 2 : first);
      return columns.map((column) => column.map((value) => scale * value));
    });
    const z = (i) => [...leading.map((column) => column[i]), ...leading.map(() => 0), ...parts.map(() => 0)];
    const seen = (i) => [...leading.map((column) => early * column[i]), ...leading.map((column) => other * column[i]), ...parts.map((column) => column[i])];
    const unit = (row) => { const length = norm(row); return length > 0 ? row.map((value) => value / length) : null; };
    const every = (make) => Array.from({ length: size }, (_, i) => unit(make(i))).filter(Boolean);
    return [every(z), every(seen)];
  };

  // The rows over variables one after the other, and by variable which rows it decides. Next is the
  // row that is least likely to be positive, given what those before are on average: the integrand
  // then varies least (Gibson, Glasbey and Elston 1994).
  const triangle = (groups) => {
    const left = groups.flat().map((row) => Float64Array.from(row)), lower = left.map(() => []);
    const means = left.map(() => 0);
    let begin = 0, early = 0, variables = 0;
    for (const [place, group] of groups.entries()) {
      const end = begin + group.length;
      for (;;) {
        let pivot = -1, longest = 0, lowest = Infinity;
        for (let n = begin; n < end; n += 1) {
          const length = norm(left[n]);
          if (length > TINY && means[n] / length < lowest) [pivot, longest, lowest] = [n, length, means[n] / length];
        }
        if (pivot < 0) break;
        const direction = left[pivot].map((value) => value / longest);
        const mean = Math.exp((-lowest * lowest) / 2) / Math.sqrt(2 * Math.PI) / Math.max(below(lowest), 1e-300);
        left.forEach((row, n) => {
          let part = 0;
          for (let k = 0; k < row.length; k += 1) part += row[k] * direction[k];
          for (let k = 0; k < row.length; k += 1) row[k] -= part * direction[k];
          lower[n].push(part);
          means[n] += part * mean;
        });
        left[pivot].fill(0);
        variables += 1;
      }
      if (place === 0) early = variables;
      begin = end;
    }
    const decides = Array.from({ length: variables }, () => []);
    for (const row of lower) {
      const last = row.findLastIndex((value) => Math.abs(value) > TINY);
      if (last >= 0) decides[last].push(Float64Array.from(row.slice(0, last + 1)));
    }
    return { decides, early };
  };

  // Richtmyer's points, shifted, folded so that the rule sees an even function; per variable.
  const primes = [];
  for (let n = 2; primes.length < 3 * MOST; n += 1) if (primes.every((prime) => n % prime)) primes.push(n);
  const points = [];
  const pointsOf = (variables) => {
    for (let k = points.length; k < variables; k += 1) {
      const turn = Math.sqrt(primes[k]) % 1, begin = Math.sqrt(primes[k + MOST]) % 1;
      points.push(Float64Array.from({ length: SHIFTS * RULE }, (_, n) => {
        const shift = Math.floor(n / RULE) + 1, number = (n % RULE) + 1;
        return Math.abs(2 * ((number * turn + shift * begin) % 1) - 1);
      }));
    }
    return points;
  };

  // By separation of variables (Genz 1992): [share, standard error over shifts].
  const orthant = (model) => {
    const { decides, early } = triangle(rows(model)), variables = decides.length;
    const y = new Float64Array(variables), u = pointsOf(variables), shares = [];
    for (let shift = 0; shift < SHIFTS; shift += 1) {
      let both = 0, opened = 0;
      for (let number = shift * RULE; number < (shift + 1) * RULE; number += 1) {
        let chance = 1;
        for (let k = 0; k < variables && chance > 0; k += 1) {
          let low = -Infinity, high = Infinity;
          for (const row of decides[k]) {
            let sum = 0;
            for (let n = 0; n < k; n += 1) sum -= row[n] * y[n];
            const bound = sum / row[k];
            if (row[k] < 0) high = Math.min(high, bound); else if (bound > low) low = bound;
          }
          const turned = low > 0; // where Φ is near 1 it is taken from the other side
          const from = below(turned ? -high : low), to = below(turned ? -low : high);
          const inside = Math.max(0, to - from), x = quantile(from + u[k][number] * inside);
          y[k] = turned ? -x : x;
          chance *= inside;
          if (k === early - 1) opened += chance;
        }
        both += chance;
      }
      shares.push(opened > 0 ? both / opened : 0);
    }
    const mean = shares.reduce((sum, each) => sum + each, 0) / SHIFTS;
    const spread = shares.reduce((sum, each) => sum + (each - mean) ** 2, 0);
    return [mean, Math.sqrt(spread / (SHIFTS * (SHIFTS - 1)))];
  };

  const share = (model, t) => {
    model.angles(t, model.angle);
    return model.flat ? [planar(model), 0] : orthant(model);
  };

  globalThis.symrelnGates = { prepare, share, covariance, below, quantile };
}
