// A frame as it is stored and sent: columns in the place where they arrived. The layout is in docs/formats.md.

const TAG = 0x4d524647; // "GFRM"
const VERSION = 1;
const PREFIX = 16;
const HEAD = 72;

export function decode(buffer) {
  const head = new DataView(buffer);
  if (buffer.byteLength < PREFIX + HEAD || head.getUint32(0, true) !== TAG) throw new Error('this is no frame');
  if (head.getUint32(4, true) > VERSION) throw new Error('this frame is of a newer version of gluey than the page');
  if (head.getUint32(8, true) !== buffer.byteLength - PREFIX) throw new Error('the frame is cut off');
  const number = (at) => head.getUint32(PREFIX + at, true);
  const wide = (at) => number(at) + number(at + 4) * 2 ** 32;
  const [dimension, count, touching, walls, obstacles] = [40, 44, 48, 52, 56].map(number);
  let at = PREFIX + HEAD;
  const take = (Column, length) => {
    const column = new Column(buffer, at, length);
    at += 4 * length;
    return column;
  };
  const frame = {
    bytes: buffer.byteLength,
    step: wide(0),
    time: head.getFloat64(PREFIX + 8, true),
    origin: [16, 24, 32].map((place) => head.getFloat64(PREFIX + place, true)),
    dimension,
    count,
    position: take(Float32Array, dimension * count),
    velocity: take(Float32Array, dimension * count),
    contacts: {
      count: touching,
      first: take(Uint32Array, touching),
      second: take(Int32Array, touching),
      gamma: take(Float32Array, touching),
      impulse: take(Float32Array, touching),
      gap: take(Float32Array, touching),
      normal: take(Float32Array, dimension * walls),
    },
    ids: take(Uint32Array, 2 * count),
    radius: take(Float32Array, count),
    mass: take(Float32Array, count),
    group: take(Uint32Array, count),
    obstacles: [],
  };
  for (let k = 0; k < obstacles; k += 1) {
    const [points, triangles, lines, moving] = take(Uint32Array, 4);
    frame.obstacles.push({
      points: take(Float32Array, 3 * points),
      triangles: take(Uint32Array, 3 * triangles),
      lines: take(Uint32Array, 2 * lines),
      moving: moving !== 0,
    });
  }
  return frame;
}

/** The number of a particle that stays with it. */
export const idOf = (frame, k) => frame.ids[2 * k] + frame.ids[2 * k + 1] * 2 ** 32;

/** Where a particle with a number is in the frame, or -1. */
export function find(frame, id) {
  for (let k = 0; k < frame.count; k += 1) if (idOf(frame, k) === id) return k;
  return -1;
}

/** Centre of a particle, in the scene's coordinates. */
export function centre(frame, k) {
  const d = frame.dimension;
  return [0, 1, 2].map((axis) => frame.origin[axis] + (axis < d ? frame.position[d * k + axis] : 0));
}

export function velocity(frame, k) {
  const d = frame.dimension;
  return [0, 1, 2].map((axis) => (axis < d ? frame.velocity[d * k + axis] : 0));
}

/** Calls with (contact, particle, partner, index among contacts with walls or -1). */
export function eachContact(frame, call) {
  const { count, first, second } = frame.contacts;
  let wall = 0;
  for (let k = 0; k < count; k += 1) {
    call(k, first[k], second[k], second[k] < 0 ? wall++ : -1);
  }
}

/** The point of the plane through a half-space's drawing that is nearest to a place; none if the drawing is empty. */
function nearest(points, place, dimension) {
  const corner = (k) => [points[3 * k], points[3 * k + 1], points[3 * k + 2]];
  const along = (k) => corner(k).map((x, axis) => x - points[axis]);
  if (points.length < 3 * dimension) return null;
  const [[a, b, c], [d, e, f]] = [along(1), dimension === 2 ? [0, 0, 1] : along(2)];
  const normal = [b * f - c * e, c * d - a * f, a * e - b * d];
  const square = normal.reduce((sum, x) => sum + x * x, 0);
  if (!(square > 0)) return null;
  const height = normal.reduce((sum, x, axis) => sum + x * (place[axis] - points[axis]), 0) / square;
  return place.map((x, axis) => x - height * normal[axis]);
}

/**
 * The box that holds the particles, but for a few that fly away, and the obstacles that `counts`; of the others, which are
 * endless, it holds the nearest point.
 */
export function bounds(frame, counts) {
  const lower = [Infinity, Infinity, Infinity];
  const upper = [-Infinity, -Infinity, -Infinity];
  const d = frame.dimension;
  const stride = Math.max(1, Math.floor(frame.count / 4000));
  for (let axis = 0; axis < d; axis += 1) {
    // Typed arrays: this is done for every picture, and they sort numbers ten times as fast.
    let [low, high] = [new Float64Array(frame.count), new Float64Array(frame.count)];
    let count = 0;
    for (let k = 0; k < frame.count; k += stride) {
      const x = frame.origin[axis] + frame.position[d * k + axis];
      if (!Number.isFinite(x)) continue;
      [low[count], high[count]] = [x - frame.radius[k], x + frame.radius[k]];
      count += 1;
    }
    if (count === 0) continue;
    [low, high] = [low, high].map((ends) => ends.subarray(0, count).sort());
    const [inner, outer] = [low[Math.floor(0.05 * low.length)], high[Math.floor(0.95 * (high.length - 1))]];
    const width = outer - inner;
    lower[axis] = Math.max(low[0], inner - width);
    upper[axis] = Math.min(high[high.length - 1], outer + width);
  }
  const middle = [0, 1, 2].map((axis) => (axis < d && frame.count ? 0.5 * (lower[axis] + upper[axis]) : 0));
  frame.obstacles.forEach((obstacle, index) => {
    const points = counts(index) ? obstacle.points : nearest(obstacle.points, middle, d) ?? [];
    points.forEach((x, k) => {
      lower[k % 3] = Math.min(lower[k % 3], x);
      upper[k % 3] = Math.max(upper[k % 3], x);
    });
  });
  for (let axis = 0; axis < 3; axis += 1) {
    if (!(lower[axis] <= upper[axis])) [lower[axis], upper[axis]] = axis < d ? [-1, 1] : [0, 0];
  }
  return { lower, upper };
}
