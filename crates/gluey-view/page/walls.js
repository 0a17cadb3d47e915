// Obstacles as triangles and edges, contacts as tubes.

import { Ribbons } from './gl.js';
import { centre, eachContact } from './frame.js';

/** Transparency of surfaces in space. */
const GLASS = 0.14;
/** Edges between faces that lean more than this towards each other are drawn: the cosine. */
const CREASE = 0.8;
/** More contacts than this are drawn as thin lines. */
const MANY = 40000;
/** Half the width of a tube, relative to the smaller of its two particles. */
const TUBE = [0.14, 0.16];

const bytes = (colour, alpha) => [...colour.map((x) => Math.round(x)), Math.round(255 * alpha)];
const point = (obstacle, k) => [obstacle.points[3 * k], obstacle.points[3 * k + 1], obstacle.points[3 * k + 2]];

export class Walls {
  constructor(description) {
    this.dimension = description.dimension;
    this.kinds = description.obstacles;
    this.parts = []; // each obstacle as it was made last
    this.whole = null;
  }

  /** Triangles and edges of the obstacles of a frame; those that have not moved are not made again. */
  of(frame, theme) {
    let same = this.whole !== null && frame.obstacles.length === this.parts.length;
    this.parts = frame.obstacles.map((obstacle, k) => {
      const before = this.parts[k];
      if (before && before.theme === theme && sameNumbers(before.points, obstacle.points)) return before;
      same = false;
      return { theme, points: obstacle.points, ...this.make(obstacle, this.kinds[k] ?? { body: 'container' }, theme) };
    });
    if (!same) {
      const lines = this.parts.flatMap((part) => part.lines);
      const edges = new Ribbons(lines.length);
      for (const [from, to, width, colour] of lines) edges.add(from, to, width, colour);
      const join = (key) => joined(this.parts.map((part) => part[key]));
      this.whole = { solid: join('solid'), glass: join('glass'), edges: edges.geometry() };
    }
    return this.whole;
  }

  /** One obstacle: opaque where it is a body, else as glass. */
  make(obstacle, kind, theme) {
    const fill = kind.colour ?? theme.wall;
    const edge = fill.map((x) => (theme.dark ? Math.min(255, 1.25 * x) : 0.6 * x));
    const [corners, lines] = [[], []];
    const opaque = this.dimension === 2 || kind.body === 'solid';
    if (this.dimension === 2) this.outline(obstacle, kind, { fill, edge }, corners, lines);
    else this.surface(obstacle, { fill: bytes(fill, opaque ? 1 : GLASS), edge }, corners, lines);
    const [made, nothing] = [packed(corners), new Uint8Array(0)];
    return { solid: opaque ? made : nothing, glass: opaque ? nothing : made, lines };
  }

  /** In a plane: filled where there is an inside that particles cannot be in. */
  outline(obstacle, kind, { fill, edge }, corners, lines) {
    const up = [0, 0, 1];
    const polygon = (places) => {
      for (let k = 2; k < places.length; k += 1) {
        for (const place of [places[0], places[k - 1], places[k]]) corners.push([place, up, bytes(fill, 1)]);
      }
    };
    let open = [];
    const filled = kind.body === 'solid' || kind.body === 'sheet';
    for (let k = 0; k < obstacle.lines.length; k += 2) {
      const [from, to] = [obstacle.lines[k], obstacle.lines[k + 1]];
      const [a, b] = [point(obstacle, from), point(obstacle, to)];
      lines.push([a, b, filled ? 1 : 2.2, bytes(edge, 1)]);
      if (kind.body === 'half-space') {
        // The line runs along z × n: the normal is to its right, the solid to its left.
        const far = 50;
        const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
        const [c, d] = [[a[0] - far * dx, a[1] - far * dy, 0], [b[0] + far * dx, b[1] + far * dy, 0]];
        const down = (p) => [p[0] - 2 * far * dy, p[1] + 2 * far * dx, 0];
        lines.push([c, d, 1, bytes(edge, 1)]);
        polygon([c, d, down(d), down(c)]);
      }
      if (open.length === 0 || open[open.length - 1] !== from) open = [from];
      if (open[0] === to) {
        const places = open.map((corner) => point(obstacle, corner));
        if (filled && isConvex(places)) polygon(places);
        open = [];
      } else open.push(to);
    }
  }

  /** In space: glass, with its edges and creases. */
  surface(obstacle, { fill, edge }, corners, lines) {
    const seen = new Map();
    const welded = weld(obstacle.points);
    for (let k = 0; k < obstacle.triangles.length; k += 3) {
      const ids = [0, 1, 2].map((m) => obstacle.triangles[k + m]);
      const [a, b, c] = ids.map((id) => point(obstacle, id));
      const [u, v] = [b.map((x, m) => x - a[m]), c.map((x, m) => x - a[m])];
      const normal = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
      const length = Math.hypot(...normal) || 1;
      const face = normal.map((x) => x / length);
      for (const place of [a, b, c]) corners.push([place, face, fill]);
      ids.forEach((id, m) => {
        const [from, to] = [welded[id], welded[ids[(m + 1) % 3]]];
        const key = Math.min(from, to) * obstacle.points.length + Math.max(from, to);
        if (!seen.has(key)) seen.set(key, []);
        seen.get(key).push(face);
      });
    }
    const show = (from, to) => lines.push([point(obstacle, from), point(obstacle, to), 1, bytes(edge, 0.75)]);
    for (const [key, faces] of seen) {
      const sharp = faces.length !== 2 || Math.abs(faces[0].reduce((sum, x, m) => sum + x * faces[1][m], 0)) < CREASE;
      if (sharp) show(Math.floor(key / obstacle.points.length), key % obstacle.points.length);
    }
    for (let k = 0; k < obstacle.lines.length; k += 2) show(obstacle.lines[k], obstacle.lines[k + 1]);
  }
}

/** For each point the first one at the same place. */
function weld(points) {
  const first = new Map();
  return Array.from({ length: points.length / 3 }, (_, k) => {
    const place = `${points[3 * k]} ${points[3 * k + 1]} ${points[3 * k + 2]}`;
    if (!first.has(place)) first.set(place, k);
    return first.get(place);
  });
}

/** Corners as the painter takes them: place, normal, colour. */
function packed(corners) {
  const out = new ArrayBuffer(28 * corners.length);
  const [floats, colours] = [new Float32Array(out), new Uint8Array(out)];
  corners.forEach(([place, normal, colour], k) => {
    floats.set(place, 7 * k);
    floats.set(normal, 7 * k + 3);
    colours.set(colour, 28 * k + 24);
  });
  return new Uint8Array(out);
}

function joined(parts) {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

function sameNumbers(a, b) {
  return a === b || (a.length === b.length && a.every((x, k) => x === b[k]));
}

function isConvex(places) {
  const count = places.length;
  let sign = 0;
  return places.every((a, k) => {
    const [b, c] = [places[(k + 1) % count], places[(k + 2) % count]];
    const turn = (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0]);
    if (Math.abs(turn) < 1e-12) return true;
    if (sign === 0) sign = Math.sign(turn);
    return Math.sign(turn) === sign;
  });
}

/** Contacts as tubes, the darker the more glued; on a dark ground the lighter. */
export function tubes(frame, { black, colouring, dark }) {
  const thin = frame.contacts.count > MANY;
  const out = new Ribbons(frame.contacts.count, thin);
  const d = frame.dimension;
  const { gamma, gap, normal } = frame.contacts;
  const order = [];
  eachContact(frame, (k, i, j, wall) => order.push([k, i, j, wall]));
  // Where tubes cross in a plane the more glued one is seen.
  if (d === 2) order.sort((a, b) => gamma[b[0]] - gamma[a[0]]);
  for (const [k, i, j, wall] of order) {
    const start = centre(frame, i);
    let end;
    let radius = frame.radius[i];
    if (j >= 0) {
      end = centre(frame, j);
      // A pair that meets through a face of a periodic cell is left out: its tube would cross the whole cell.
      const reach = frame.radius[i] + frame.radius[j] + Math.max(gap[k], 0);
      if (Math.hypot(...end.map((x, axis) => x - start[axis])) > 1.5 * reach) continue;
      radius = Math.min(radius, frame.radius[j]);
    } else {
      const length = frame.radius[i] + gap[k];
      end = start.map((x, axis) => x + (axis < d ? normal[d * wall + axis] * length : 0));
    }
    const grey = colouring.glue(-gamma[k] / black);
    const shade = dark ? 255 - grey : grey;
    out.add(start, end, TUBE[d - 2] * radius, [shade, shade, shade, 255]);
  }
  return out.geometry();
}
