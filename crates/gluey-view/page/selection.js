// One particle and its contacts, in numbers.

import { centre, eachContact, find, idOf, velocity } from './frame.js';
import { number, vector } from './words.js';

/** The particle seen at a place of the screen, or -1. */
export function pick(frame, camera, [x, y], { scale, plane }) {
  let [best, nearest] = [-1, -Infinity];
  for (let k = 0; k < frame.count; k += 1) {
    const place = centre(frame, k);
    if (plane && plane[0] * place[0] + plane[1] * place[1] + plane[2] * place[2] > plane[3]) continue;
    const [px, py, near] = camera.project(place);
    const radius = Math.max(frame.radius[k] * scale * camera.pixels, 3);
    const square = radius * radius - (px - x) ** 2 - (py - y) ** 2;
    if (square < 0) continue;
    const depth = near + Math.sqrt(square) / camera.pixels;
    if (depth > nearest) [best, nearest] = [k, depth];
  }
  return best;
}

function table(rows, head) {
  const place = document.createElement('table');
  if (head) {
    const line = place.createTHead().insertRow();
    for (const name of head) line.append(Object.assign(document.createElement('th'), { textContent: name, scope: 'col' }));
  }
  const body = place.createTBody();
  for (const row of rows) {
    const line = body.insertRow();
    row.forEach((cell, k) => {
      const box = document.createElement(k === 0 && !head ? 'th' : 'td');
      if (cell instanceof Node) box.append(cell);
      else box.textContent = cell;
      if (head && k > 0) box.className = 'number';
      line.append(box);
    });
  }
  return place;
}

export class Selection {
  constructor({ input, facts, changed }) {
    Object.assign(this, { input, facts, changed, id: null, shown: '' });
    input.addEventListener('change', () => this.choose(input.value === '' ? null : Number(input.value)));
  }

  choose(id) {
    this.id = id;
    this.input.value = id ?? '';
    this.changed();
  }

  /** Where the chosen particle is in a frame, or -1. */
  index(frame) {
    return this.id === null ? -1 : find(frame, this.id);
  }

  show(frame, description) {
    const k = this.index(frame);
    const key = `${this.id} ${frame.step} ${k}`;
    if (key === this.shown) return;
    this.shown = key;
    if (this.id === null) return this.facts.replaceChildren();
    if (k < 0) {
      this.facts.textContent = `There is no particle ${this.id} in this frame.`;
      return;
    }
    const rows = [];
    let glue = 0;
    eachContact(frame, (c, i, j) => {
      if (i !== k && j !== k) return;
      const other = i === k ? j : i;
      const { gamma, impulse, gap } = frame.contacts;
      glue -= gamma[c];
      rows.push([this.link(frame, other, description), number(gamma[c]), number(impulse[c]), number(gap[c], 3)]);
    });
    const speed = velocity(frame, k);
    const d = frame.dimension;
    const facts = table([
      ['group', description.groups[frame.group[k]]?.name ?? '–'],
      ['centre', vector(centre(frame, k).slice(0, d))],
      ['velocity', vector(speed.slice(0, d))],
      ['speed', number(Math.hypot(...speed))],
      ['radius', number(frame.radius[k])],
      ['mass', number(frame.mass[k])],
      ['glue −γ', number(glue)],
      ['contacts', String(rows.length)],
    ]);
    const list = Object.assign(document.createElement('div'), { className: 'scroll', tabIndex: 0 });
    list.setAttribute('aria-label', 'Contacts');
    list.append(table(rows, ['with', 'γ', 'impulse', 'gap']));
    this.facts.replaceChildren(facts, ...(rows.length ? [list] : []));
  }

  /** A button that goes to the other particle, or the name of the obstacle. */
  link(frame, other, description) {
    if (other < 0) return description.obstacles[-1 - other]?.name ?? 'obstacle';
    const id = idOf(frame, other);
    const button = Object.assign(document.createElement('button'), { type: 'button', textContent: String(id) });
    button.addEventListener('click', () => this.choose(id));
    return button;
  }
}
