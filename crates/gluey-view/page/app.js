// The page: the gallery, or one run with its picture, time, figures and, if it is live, its controls.

import { ask, askFile, pageOf } from './server.js';
import { Camera, listen } from './camera.js';
import { Colouring, blackOf } from './colours.js';
import { bounds, idOf } from './frame.js';
import { showGallery } from './gallery.js';
import { Painter } from './gl.js';
import { legend } from './legend.js';
import { particlesCsv, save, withText } from './picture.js';
import { Player } from './player.js';
import { Plots, Series } from './plots.js';
import { Selection, pick } from './selection.js';
import { Steering } from './steering.js';
import { Walls, tubes } from './walls.js';
import { counted, number } from './words.js';

/** How often the server is asked what is new, while something may be, and whether it is back (milliseconds). */
const POLL = { live: 300, stored: 2000, gone: 5000 };
/** How often plots are drawn at most (milliseconds): they cost as much as the picture. */
const PLOTS = 500;
/** A picture that stands still is drawn this much finer, unless it has very many particles. */
const FINE = 2;
const MANY = 40000;
/** How much paler discs are where contacts are drawn on them, and how much smaller spheres. */
const PALE = 0.62;
const SMALL = 0.5;

const element = (id) => document.getElementById(id);

/** Assigns only what is new: the browser lays out again what was assigned, even to the same value. */
function put(node, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith('aria-')) {
      if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
    } else if (node[name] !== value) node[name] = value;
  }
}

function notice(error) {
  const text = typeof error === 'string' ? error : error?.message;
  element('notice').hidden = !text;
  element('notice').querySelector('p').textContent = text ?? '';
}
element('notice').querySelector('button').addEventListener('click', () => notice(null));

const open = (run) => location.assign(pageOf(run));

const darkness = window.matchMedia('(prefers-color-scheme: dark)');

/** The colours that the picture takes from the style sheet. */
function theme() {
  const style = getComputedStyle(document.documentElement);
  const rgb = (name) => style.getPropertyValue(name).trim().match(/[0-9a-f]{2}/gi).map((part) => parseInt(part, 16));
  return { ground: rgb('--ground').map((part) => part / 255), wall: rgb('--wall'), dark: darkness.matches };
}

class Watch {
  constructor(description) {
    this.description = description;
    this.run = description.run;
    this.canvas = element('picture');
    this.theme = theme();
    this.camera = new Camera(description.dimension, description.picture);
    this.colouring = new Colouring(description);
    this.walls = new Walls(description);
    this.black = description.picture.glue ?? 0;
    this.frame = null;
    this.drawn = 0;
    this.bytes = 0;
    this.status = null;
    try {
      this.painter = new Painter(this.canvas, description.dimension);
    } catch (error) {
      this.blind = error.message;
    }
    this.series = new Series();
    this.player = new Player(this.run, {
      show: (frame) => this.show(frame),
      tell: notice,
      changed: () => {
        this.controls();
        if (!this.player.playing) this.redraw(); // a picture that stands still is drawn finer
      },
    });
    this.plots = new Plots(element('plots'), this.series, (time) => this.player.seekTime(time));
    this.selection = new Selection({
      input: element('number'),
      facts: element('facts'),
      changed: () => this.redraw(),
    });
    this.steering = new Steering(this.run, {
      changed: () => this.poll(),
      trouble: notice,
      restarted: open,
    });
    this.connect();
  }

  connect() {
    const { player, description } = this;
    const { picture } = description;
    document.title = `${description.name} – gluey`;
    element('title').textContent = description.name;
    element('title').title = description.folder;
    for (const { name, title } of this.colouring.fields.values()) element('colour').append(new Option(title, name));
    if (this.colouring.fields.has(picture.colour)) this.colouring.choose(picture.colour);
    element('colour').value = this.colouring.field;
    element('show-contacts').checked = Boolean(picture.contacts);
    element('section').hidden = description.dimension !== 3;
    element('colour').addEventListener('change', (event) => {
      this.colouring.choose(event.target.value);
      this.coloured = null;
      this.redraw();
    });
    for (const id of ['show-particles', 'show-contacts', 'show-obstacles', 'cut']) {
      element(id).addEventListener('input', () => this.redraw());
    }
    this.side = 1;
    element('axis').addEventListener('change', (event) => {
      // What is nearer to the eye goes.
      this.side = this.camera.frame()[2][Number(event.target.value)] < 0 ? -1 : 1;
      this.redraw();
    });
    element('flip').addEventListener('click', () => {
      this.side = -this.side;
      this.redraw();
    });
    element('fit').addEventListener('click', () => this.fit());
    element('png').addEventListener('click', () => this.savePicture());
    element('series').addEventListener('click', () => this.saveSeries());
    element('csv').addEventListener('click', () => {
      if (this.frame) save(particlesCsv(this.frame, description.groups), `${description.name}-${this.frame.step}.csv`);
    });
    element('play').addEventListener('click', () => player.play());
    element('first').addEventListener('click', () => player.seek(0));
    element('back').addEventListener('click', () => player.move(-1));
    element('forward').addEventListener('click', () => player.move(1));
    element('latest').addEventListener('click', () => player.seek(player.length - 1));
    element('follow').addEventListener('click', () => player.follow(!player.following));
    element('slider').addEventListener('input', (event) => player.seek(Number(event.target.value)));
    element('speed').addEventListener('change', (event) => {
      player.speed = Number(event.target.value);
    });
    document.addEventListener('keydown', (event) => this.key(event));
    listen(this.canvas, {
      camera: () => this.camera,
      changed: () => this.redraw(),
      clicked: (place) => this.click(place),
    });
    new ResizeObserver(() => this.resize()).observe(element('stage'));
    darkness.addEventListener('change', () => {
      this.theme = theme();
      this.redraw();
      this.plots.draw();
    });
    document.addEventListener('visibilitychange', () => this.poll());
  }

  key(event) {
    const typing = event.target.matches('input:not([type=checkbox]):not([type=range]), select, textarea');
    if (typing || event.ctrlKey || event.altKey || event.metaKey) return;
    const presses = event.target.matches('button, summary, a, input[type=checkbox]');
    const slides = event.target.matches('input[type=range]:not(#slider)'); // has ends of its own
    if (slides && ['Home', 'End'].includes(event.key)) return;
    const { player } = this;
    const actions = {
      ',': () => player.move(-1),
      '.': () => player.move(1),
      Home: () => player.seek(0),
      End: () => player.seek(player.length - 1),
      '+': () => this.camera.zoom(1.2),
      '=': () => this.camera.zoom(1.2),
      '-': () => this.camera.zoom(1 / 1.2),
      f: () => this.fit(),
      l: () => this.description.live && player.follow(true),
      p: () => this.steering.toggle(),
      Escape: () => this.selection.choose(null),
    };
    if (!presses) actions[' '] = () => player.play();
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action();
    this.redraw();
  }

  /** A frame has come. */
  show(frame) {
    const first = this.frame === null;
    this.frame = frame;
    this.coloured = null;
    if (first) this.fit();
    this.redraw();
    this.plots.now = frame.time;
    this.drawPlots();
  }

  drawPlots() {
    const now = performance.now();
    if (this.plotsDue) return;
    const pause = Math.max(0, PLOTS - (now - (this.plotted ?? 0)));
    this.plotsDue = true;
    setTimeout(() => {
      this.plotsDue = false;
      this.plotted = performance.now();
      this.plots.draw();
    }, pause);
  }

  box() {
    const counts = (k) => this.description.obstacles[k]?.body !== 'half-space';
    return bounds(this.frame, counts);
  }

  fit() {
    if (!this.frame) return;
    this.resize();
    this.camera.fit(this.box(), { turn: true });
    this.redraw();
  }

  resize() {
    const { clientWidth, clientHeight } = element('stage');
    if (!clientWidth || !clientHeight) return;
    this.camera.resize([clientWidth, clientHeight]);
    this.redraw();
  }

  redraw() {
    if (this.due) return;
    this.due = true;
    this.canvas.dataset.settled = false;
    clearTimeout(this.finer);
    requestAnimationFrame(() => {
      this.due = false;
      this.draw(1);
      const { playing, following, ended } = this.player;
      const still = !playing && !(following && !ended && this.status?.phase === 'running');
      const fine = still && this.frame && this.frame.count <= MANY;
      if (fine) this.finer = setTimeout(() => this.refine(), 250);
      else this.canvas.dataset.settled = still;
    });
  }

  /** Draws the picture as it stays. */
  refine() {
    this.draw(FINE);
    this.canvas.dataset.settled = true;
  }

  /** What is cut away, as a plane. */
  plane() {
    const axis = element('axis').value;
    for (const id of ['cut', 'flip']) put(element(id), { disabled: axis === '' });
    if (axis === '' || this.description.dimension !== 3) return null;
    const { lower, upper } = this.box();
    const k = Number(axis);
    const place = lower[k] + Number(element('cut').value) * (upper[k] - lower[k]);
    const plane = [0, 0, 0, this.side * place];
    plane[k] = this.side;
    return plane;
  }

  particleScale() {
    const contacts = element('show-contacts').checked;
    return this.description.picture.scale ?? (contacts && this.description.dimension === 3 ? SMALL : 1);
  }

  draw(fine) {
    const { frame, canvas, camera } = this;
    if (!this.painter) return this.figures();
    const ratio = (window.devicePixelRatio || 1) * fine;
    const [width, height] = camera.size.map((side) => Math.max(1, Math.round(side * ratio)));
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    if (!frame) return;
    const contacts = element('show-contacts').checked;
    const key = `${frame.step} ${this.colouring.field} ${contacts} ${this.theme.dark}`;
    if (this.coloured !== key) {
      this.coloured = key;
      this.colours = this.colouring.of(frame);
      if (contacts && !this.description.picture.glue) this.black = Math.max(this.black, blackOf(frame));
      const look = { black: this.black || 1, colouring: this.colouring, dark: this.theme.dark };
      this.tubes = contacts ? tubes(frame, look) : null;
    }
    camera.see(this.box());
    this.view = {
      frame,
      camera,
      ratio,
      ground: this.theme.ground,
      colours: this.colours,
      scale: this.particleScale(),
      pale: contacts && this.description.dimension === 2 ? PALE : 0,
      plane: this.plane(),
      tubes: this.tubes,
      walls: element('show-obstacles').checked ? this.walls.of(frame, this.theme) : null,
      chosen: this.selection.index(frame),
      showsParticles: element('show-particles').checked,
    };
    this.painter.draw(this.view);
    this.figures();
  }

  /** What is told of the frame in words. */
  figures() {
    const { frame } = this;
    if (!frame) return;
    this.drawn += 1;
    Object.assign(this.canvas.dataset, { step: frame.step, time: frame.time, drawn: this.drawn, count: frame.count });
    put(element('clock'), { textContent: `t = ${number(frame.time)}` });
    legend(element('legend'), {
      colouring: this.colouring,
      showsParticles: element('show-particles').checked,
      contacts: element('show-contacts').checked,
      black: this.black,
      dark: this.theme.dark,
      groups: this.description.groups,
    });
    this.selection.show(frame, this.description);
    this.controls();
  }

  click(place) {
    if (!this.frame) return;
    const k = pick(this.frame, this.camera, place, { scale: this.particleScale(), plane: this.plane() });
    this.selection.choose(k < 0 ? null : idOf(this.frame, k));
  }

  async savePicture() {
    if (!this.frame) return;
    this.draw(FINE);
    const ratio = this.canvas.width / this.camera.size[0];
    const out = withText(this.canvas, { clock: element('clock'), legend: element('legend'), ratio });
    out.toBlob((blob) => save(blob, `${this.description.name}-${this.frame.step}.png`), 'image/png');
  }

  async saveSeries() {
    try {
      save(await askFile('/api/series.csv', { run: this.run }), 'series.csv');
    } catch (error) {
      notice(error);
    }
  }

  controls() {
    const { player } = this;
    const slider = element('slider');
    put(slider, { max: String(Math.max(0, player.length - 1)), disabled: player.length === 0 });
    put(slider, { value: player.following || player.index < 0 ? slider.max : String(player.index) });
    const time = this.frame ? `t = ${number(this.frame.time)}, frame ${Number(slider.value) + 1} of ${player.length}` : 'no frame';
    if (!player.playing) put(slider, { 'aria-valuetext': time });
    put(element('play'), { textContent: player.playing ? 'Pause' : 'Play', 'aria-pressed': player.playing });
    for (const id of ['play', 'first', 'back', 'forward', 'latest']) put(element(id), { disabled: player.length === 0 });
    put(element('follow'), { hidden: !this.description.live || Boolean(player.ended), 'aria-pressed': player.following });
    const phase = this.status?.phase;
    const step = this.status && phase !== 'finished' ? `, step ${this.status.step} of ${this.status.last}` : '';
    const words = this.gone ? 'not connected' : phase ? `${phase}${step}` : this.growing ? 'being written' : 'stored';
    const count = this.frame ? counted(this.frame.count, 'particle') : counted(player.length, 'frame');
    const state = `${words} · ${count}`;
    put(element('state'), { textContent: state });
  }

  /** Asks what is new, and again after a while. */
  async poll() {
    clearTimeout(this.next);
    if (this.asking) return;
    this.asking = true;
    try {
      await this.ask();
    } catch (error) {
      this.told = undefined; // what else there is to tell is told when this is over
      notice(error);
      this.gone = Boolean(error.gone);
      this.controls();
    }
    this.asking = false;
    const live = this.status && ['running', 'paused'].includes(this.status.phase);
    const pause = this.gone ? POLL.gone : live ? POLL.live : POLL.stored;
    this.next = setTimeout(() => this.poll(), document.hidden ? 5 * POLL.stored : pause);
  }

  async ask() {
    const { player } = this;
    const last = player.steps[player.length - 1];
    const query = { run: this.run, bytes: this.bytes };
    if (last !== undefined) query.after = last;
    const news = await ask('/api/progress', query);
    const back = this.gone;
    this.gone = false;
    if (news.bytes < this.bytes) return this.begin();
    this.growing = news.growing;
    this.bytes = news.bytes;
    this.series.add(news.rows);
    player.add(news.steps, news.times);
    this.trouble(news);
    const before = this.status?.phase;
    this.status = news.status;
    if (this.status?.phase !== before) this.redraw();
    if (news.status) {
      element('steering').hidden = false;
      this.steering.show(news.status);
      player.ended = !['running', 'paused'].includes(news.status.phase);
    }
    this.changes(news.changes);
    if (news.rows !== '') {
      this.drawPlots();
      if (news.rows.length > 500000) await this.ask(); // there is more
    }
    if ((!this.frame || (back && player.lost)) && !player.following) {
      if (news.status && !player.ended) player.follow(true);
      else if (player.length) player.go(player.length - 1);
    }
    this.controls();
  }

  trouble({ trouble, status }) {
    const messages = [this.description.trouble && `The scene can no longer be read; obstacles are drawn as the frames have them.\n${this.description.trouble}`,
      this.blind, trouble, status?.message].filter(Boolean);
    const text = messages.join('\n');
    if (text !== this.told) notice(text || null);
    this.told = text;
  }

  changes(list) {
    const text = list.map(({ key, value, time }) => `${key.split('.').pop()} = ${value} since t = ${number(time)}`).join('\n');
    element('state').title = text && `Changed by hand:\n${text}`;
  }

  begin() {
    this.bytes = 0;
    this.series.clear();
    this.player.clear();
  }
}

async function main() {
  // An address that differs behind the # alone is no other page to the browser, but one with another token is to us.
  window.addEventListener('hashchange', () => location.reload());
  element('home').href = pageOf();
  const run = new URLSearchParams(location.search).get('run');
  if (!run) {
    element('gallery').hidden = false;
    await showGallery({ open, trouble: notice });
    return;
  }
  const description = await ask('/api/run', { run });
  element('watch').hidden = false;
  await new Watch(description).poll();
}

main().catch(notice);
