// Figures over time beside the picture. They fill as the run goes on; a click goes to that time.

import { number } from './words.js';

const PLOTS = [
  { title: 'energy', columns: [['kinetic_energy', 'kinetic'], ['potential_energy', 'potential']] },
  { title: 'contacts', columns: [['contacts', 'all'], ['glued', 'glued']], zero: true },
  { title: 'least gap', columns: [['least_gap', 'gap']], overlap: true },
  { title: 'iterations', columns: [['sweeps', 'sweeps']], zero: true },
];

/** The series, column by column, as it arrives. */
export class Series {
  constructor() {
    this.clear();
  }

  clear() {
    this.names = null;
    this.columns = new Map();
    this.length = 0;
  }

  /** Adds rows of CSV; the first is the header. */
  add(text) {
    for (const line of text.split('\n')) {
      if (!line) continue;
      const cells = line.split(',');
      if (!this.names) {
        this.names = cells;
        const wanted = ['step', 'time', ...PLOTS.flatMap((plot) => plot.columns.map(([name]) => name))];
        for (const name of wanted) this.columns.set(name, { at: cells.indexOf(name), values: [] });
        continue;
      }
      for (const { at, values } of this.columns.values()) values.push(at < 0 ? NaN : parseFloat(cells[at].replace('inf', 'Infinity')));
      this.length += 1;
    }
  }

  column(name) {
    return this.columns.get(name)?.values ?? [];
  }
}

export class Plots {
  constructor(place, series, seek) {
    this.series = series;
    this.now = 0;
    this.hover = null;
    this.plots = PLOTS.map((plot) => {
      const figure = document.createElement('figure');
      const caption = document.createElement('figcaption');
      const canvas = document.createElement('canvas');
      canvas.setAttribute('role', 'img');
      canvas.setAttribute('aria-label', `${plot.title} over time`);
      figure.append(caption, canvas);
      place.append(figure);
      const time = (event) => {
        const box = canvas.getBoundingClientRect();
        return this.first() + ((event.clientX - box.left) / box.width) * (this.last() - this.first());
      };
      canvas.addEventListener('pointermove', (event) => {
        this.hover = time(event);
        this.draw();
      });
      canvas.addEventListener('pointerleave', () => {
        this.hover = null;
        this.draw();
      });
      canvas.addEventListener('click', (event) => seek(time(event)));
      return { ...plot, caption, canvas };
    });
    new ResizeObserver(() => this.draw()).observe(place);
  }

  first() {
    return this.series.column('time')[0] ?? 0;
  }

  last() {
    const times = this.series.column('time');
    return times[times.length - 1] ?? 1;
  }

  /** The row nearest to a time. */
  row(time) {
    const times = this.series.column('time');
    let [low, high] = [0, times.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (times[middle] < time) low = middle + 1;
      else high = middle;
    }
    return low > 0 && time - times[low - 1] < times[low] - time ? low - 1 : low;
  }

  draw() {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const inks = [colour('--curve-1'), colour('--curve-2')];
    for (const plot of this.plots) {
      const { canvas, caption } = plot;
      const ratio = window.devicePixelRatio || 1;
      const [width, height] = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
      if (!width || !height) continue;
      if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
      const context = canvas.getContext('2d');
      context.clearRect(0, 0, width, height);
      const row = this.row(this.hover ?? this.now);
      caption.replaceChildren(Object.assign(document.createElement('strong'), { textContent: plot.title }));
      plot.columns.forEach(([name, title], k) => {
        const value = this.series.column(name)[row];
        const text = Object.assign(document.createElement('span'), { textContent: `${title} ${number(value)}` });
        text.style.color = inks[k];
        caption.append(text);
      });
      if (this.hover !== null) caption.append(`t = ${number(this.series.column('time')[row])}`);
      this.curves(plot, context, { width, height, ratio, inks, line: colour('--line'), soft: colour('--soft') });
    }
  }

  curves(plot, context, { width, height, ratio, inks, line, soft }) {
    const [first, last] = [this.first(), this.last()];
    let [least, greatest] = plot.zero ? [0, 0] : [Infinity, -Infinity];
    // Least and greatest of the rows that share a pixel.
    const times = this.series.column('time');
    const x = (time) => ((time - first) / (last - first || 1)) * (width - 1);
    const curves = plot.columns.map(([name]) => {
      const values = this.series.column(name);
      const low = new Float64Array(width).fill(Infinity);
      const high = new Float64Array(width).fill(-Infinity);
      for (let k = 0; k < values.length; k += 1) {
        if (!Number.isFinite(values[k])) continue;
        const at = Math.round(x(times[k]));
        if (values[k] < low[at]) low[at] = values[k];
        if (values[k] > high[at]) high[at] = values[k];
        if (values[k] < least) least = values[k];
        if (values[k] > greatest) greatest = values[k];
      }
      return { low, high };
    });
    // Overlaps matter; gaps that are wider than the worst of them stand at the upper edge.
    if (plot.overlap && least < 0) greatest = Math.min(greatest, -least);
    if (!(greatest > least)) [least, greatest] = !Number.isFinite(least) || plot.zero ? [0, 1] : [least - 1, least + 1];
    const margin = 17 * ratio; // room for the numbers
    const y = (value) => height - margin - ((Math.min(value, greatest) - least) / (greatest - least)) * (height - 2 * margin);
    context.lineWidth = ratio;
    context.strokeStyle = line;
    context.strokeRect(0.5, 0.5, width - 1, height - 1);
    if (least < 0 && greatest > 0) this.stroke(context, line, [[0, y(0)], [width, y(0)]]);
    curves.forEach(({ low, high }, k) => {
      const points = [];
      for (let at = 0; at < width; at += 1) {
        if (low[at] <= high[at]) points.push([at, y(low[at])], [at, y(high[at])]);
      }
      this.stroke(context, inks[k], points);
    });
    const cursor = (time, ink) => this.stroke(context, ink, [[x(time), 0], [x(time), height]]);
    if (this.now >= first && this.now <= last) cursor(this.now, soft);
    if (this.hover !== null) cursor(this.hover, inks[0]);
    context.fillStyle = soft;
    context.font = `${11 * ratio}px system-ui, "DejaVu Sans", sans-serif`;
    context.fillText(number(greatest, 3), 4 * ratio, 13 * ratio);
    context.fillText(number(least, 3), 4 * ratio, height - 5 * ratio);
  }

  stroke(context, ink, points) {
    context.strokeStyle = ink;
    context.beginPath();
    points.forEach(([px, py], k) => (k ? context.lineTo(px, py) : context.moveTo(px, py)));
    context.stroke();
  }
}
