// A parallel camera: a length is the same number of pixels everywhere. 2D scenes are seen straight on.

const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const unit = (a) => {
  const length = Math.hypot(...a) || 1;
  return a.map((x) => x / length);
};
const STEEPEST = 1.55;
/** How far from the middle of the screen what is fitted reaches, relative to the sides. */
const ROOM = 0.46;

export class Camera {
  constructor(dimension, picture) {
    this.dimension = dimension;
    this.target = [0, 0, 0];
    this.pixels = 100; // of the screen, per unit of length
    this.reach = 1; // half the depth of what is drawn
    this.size = [1, 1];
    this.fitted = null; // half width and half height of what was fitted last
    const up = unit(picture.up ?? [0, 0, 1]);
    const aside = Math.abs(up[0]) > 0.9 ? [0, 1, 0] : [1, 0, 0];
    const first = unit(aside.map((x, k) => x - dot(aside, up) * up[k]));
    this.axes = [first, cross(up, first), up];
    const eye = unit(picture.camera ?? this.axes[0].map((x, k) => 0.5 * x - 0.8 * this.axes[1][k] + 0.4 * up[k]));
    this.home = [Math.atan2(dot(eye, this.axes[1]), dot(eye, first)), Math.asin(Math.min(1, Math.max(-1, dot(eye, up))))];
    [this.azimuth, this.elevation] = this.home;
  }

  /** Right, up and towards the eye. */
  frame() {
    if (this.dimension === 2) return [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    const [e1, e2, up] = this.axes;
    const [ca, sa, ce, se] = [Math.cos(this.azimuth), Math.sin(this.azimuth), Math.cos(this.elevation), Math.sin(this.elevation)];
    const back = e1.map((x, k) => ce * (ca * x + sa * e2[k]) + se * up[k]);
    const right = e1.map((x, k) => -sa * x + ca * e2[k]);
    return [right, cross(back, right), back];
  }

  /** From the scene to clip space, by columns. */
  matrix() {
    const [right, up, back] = this.frame();
    const rows = [
      right.map((x) => (2 * this.pixels * x) / this.size[0]),
      up.map((x) => (2 * this.pixels * x) / this.size[1]),
      back.map((x) => -x / this.reach),
    ];
    const column = (k) => [rows[0][k], rows[1][k], rows[2][k], 0];
    return new Float32Array([...column(0), ...column(1), ...column(2), ...rows.map((row) => -dot(row, this.target)), 1]);
  }

  /** Pixels of the screen from its upper left corner, and how near. */
  project(point) {
    const [right, up, back] = this.frame();
    const from = point.map((x, k) => x - this.target[k]);
    return [
      0.5 * this.size[0] + this.pixels * dot(right, from),
      0.5 * this.size[1] - this.pixels * dot(up, from),
      dot(back, from),
    ];
  }

  fit({ lower, upper }, { turn = false } = {}) {
    if (turn) [this.azimuth, this.elevation] = this.home;
    this.target = lower.map((x, k) => 0.5 * (x + upper[k]));
    this.see({ lower, upper });
    const [right, up] = this.frame();
    let [wide, high] = [1e-12, 1e-12];
    for (let corner = 0; corner < 8; corner += 1) {
      const from = this.target.map((x, k) => ((corner >> k) & 1 ? upper[k] : lower[k]) - x);
      wide = Math.max(wide, Math.abs(dot(right, from)));
      high = Math.max(high, Math.abs(dot(up, from)));
    }
    this.fitted = [wide, high];
    this.pixels = ROOM * this.fitting();
  }

  /** Pixels per unit of length at which what was fitted last would fill the screen. */
  fitting() {
    return Math.min(...this.size.map((side, k) => side / this.fitted[k]));
  }

  /** The screen has another size: what filled a part of it fills the same part, also when it is as before again. */
  resize(size) {
    const before = this.fitted && this.fitting();
    this.size = size;
    if (before) this.pixels *= this.fitting() / before;
  }

  /** Keeps all of a box within the depth that is drawn. */
  see({ lower, upper }) {
    const far = lower.map((x, k) => Math.max(Math.abs(x - this.target[k]), Math.abs(upper[k] - this.target[k])));
    this.reach = 4 * Math.hypot(...far) + 1e-9;
  }

  turn(dx, dy) {
    if (this.dimension === 2) return this.move(dx, dy);
    this.azimuth -= 0.008 * dx;
    this.elevation = Math.min(STEEPEST, Math.max(-STEEPEST, this.elevation + 0.008 * dy));
  }

  move(dx, dy) {
    const [right, up] = this.frame();
    this.target = this.target.map((x, k) => x - (dx * right[k] - dy * up[k]) / this.pixels);
  }

  /** Magnifies about a point of the screen. */
  zoom(factor, [x, y] = [0.5 * this.size[0], 0.5 * this.size[1]]) {
    const [dx, dy] = [x - 0.5 * this.size[0], y - 0.5 * this.size[1]];
    this.move(-dx, -dy);
    this.pixels = Math.min(1e12, Math.max(1e-12, this.pixels * factor));
    this.move(dx, dy);
  }
}

/** Mouse, fingers and keys on the picture. */
export function listen(canvas, { camera, changed, clicked }) {
  const fingers = new Map();
  let travelled = 0;
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const middle = () => {
    const all = [...fingers.values()];
    return [0, 1].map((k) => all.reduce((sum, p) => sum + p[k], 0) / all.length);
  };
  const spread = () => {
    const [a, b] = [...fingers.values()];
    return b ? Math.hypot(a[0] - b[0], a[1] - b[1]) : 0;
  };
  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, place(event));
    if (fingers.size === 1) travelled = 0;
    canvas.classList.add('dragged');
  });
  canvas.addEventListener('pointermove', (event) => {
    if (!fingers.has(event.pointerId)) return;
    const [before, width] = [middle(), spread()];
    fingers.set(event.pointerId, place(event));
    const after = middle();
    const [dx, dy] = [after[0] - before[0], after[1] - before[1]];
    travelled += Math.abs(dx) + Math.abs(dy);
    if (fingers.size > 1 && width > 0) {
      camera().move(dx, dy);
      camera().zoom(spread() / width, after);
      travelled += 10;
    } else if (event.shiftKey || event.buttons & 6) camera().move(dx, dy);
    else camera().turn(dx, dy);
    changed();
  });
  const up = (event) => {
    if (!fingers.delete(event.pointerId)) return;
    if (fingers.size === 0) canvas.classList.remove('dragged');
    if (event.type === 'pointerup' && event.button === 0 && travelled < 5) clicked(place(event));
  };
  canvas.addEventListener('pointerup', up);
  canvas.addEventListener('pointercancel', up);
  canvas.addEventListener('contextmenu', (event) => event.preventDefault());
  canvas.addEventListener('wheel', (event) => {
    event.preventDefault();
    camera().zoom(Math.exp(-0.0015 * event.deltaY * (event.deltaMode ? 20 : 1)), place(event));
    changed();
  }, { passive: false });
  canvas.addEventListener('keydown', (event) => {
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const arrow = arrows[event.key];
    if (!arrow || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    const [dx, dy] = arrow.map((x) => 24 * x);
    if (event.shiftKey || camera().dimension === 2) camera().move(-dx, -dy);
    else camera().turn(-dx, -dy);
    changed();
  });
}
