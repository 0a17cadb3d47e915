// What the colours of particles tell, as numbers and as colours.

import { eachContact, idOf } from './frame.js';

/** The fields one can choose by name: those of pictures, as the server tells them, and clusters, found here. */
export const fieldsOf = (description) => new Map(
  [...description.fields, { name: 'cluster', title: 'cluster' }].map((field) => [field.name, field]),
);

/** What a contact tells, by its index. */
const OF_CONTACT = {
  one: () => 1,
  glue: ({ gamma }, k) => -gamma[k],
  impulse: ({ impulse }, k) => impulse[k],
};

/** What a rule gives for each particle: `rule` has one key, which says how, and what it is applied to. */
export function values(frame, rule) {
  const found = new Float64Array(frame.count);
  const d = frame.dimension;
  const [[how, of]] = Object.entries(rule);
  const overContacts = (add) => eachContact(frame, (k, i, j) => {
    const value = OF_CONTACT[of](frame.contacts, k);
    found[i] = add(found[i], value);
    if (j >= 0) found[j] = add(found[j], value);
  });
  if (how === 'own') found.set(frame[of]);
  else if (how === 'length') {
    for (let k = 0; k < frame.count; k += 1) {
      let square = 0;
      for (let axis = 0; axis < d; axis += 1) square += frame[of][d * k + axis] ** 2;
      found[k] = Math.sqrt(square);
    }
  } else if (how === 'component') {
    const [vector, axis] = of;
    const start = vector === 'position' ? frame.origin[axis] : 0;
    for (let k = 0; k < frame.count; k += 1) found[k] = start + (axis < d ? frame[vector][d * k + axis] : 0);
  } else if (how === 'sum') overContacts((sum, value) => sum + value);
  else if (how === 'greatest') overContacts((most, value) => Math.max(most, value));
  else throw new Error(`this page knows no rule "${how}"`);
  return found;
}

/** Who hangs together by glue: for each particle the first of its cluster. */
export function clusters(frame) {
  const root = new Uint32Array(frame.count).map((_, k) => k);
  const find = (k) => {
    while (root[k] !== k) {
      root[k] = root[root[k]];
      k = root[k];
    }
    return k;
  };
  eachContact(frame, (k, i, j) => {
    if (j < 0 || !(frame.contacts.gamma[k] < 0)) return;
    const [a, b] = [find(i), find(j)];
    root[Math.max(a, b)] = Math.min(a, b);
  });
  const size = new Uint32Array(frame.count);
  for (let k = 0; k < frame.count; k += 1) size[(root[k] = find(k))] += 1;
  return { root, size };
}

/** The value that this share of a sample does not exceed. */
function quantile(all, share) {
  const stride = Math.max(1, Math.floor(all.length / 5000));
  const sample = [];
  for (let k = 0; k < all.length; k += stride) if (Number.isFinite(all[k])) sample.push(all[k]);
  sample.sort((a, b) => a - b);
  return sample.length ? sample[Math.round(share * (sample.length - 1))] : 0;
}

/** A round number that is at least this. */
export function nice(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((k) => k * power).find((round) => round >= value * 0.999) ?? value;
}

/** Colours of frames by a field, with one range for all that were seen since the field was chosen. */
export class Colouring {
  constructor(description) {
    this.groups = description.groups;
    this.fields = fieldsOf(description);
    [this.field_map, this.glue_map] = description.colours;
    this.choose('group');
  }

  choose(field) {
    this.field = field;
    this.range = null;
    this.summary = '';
  }

  /** Red, green, blue, 255 for each particle. */
  of(frame) {
    const out = new Uint8Array(4 * frame.count).fill(255);
    const paint = (k, colour) => {
      [out[4 * k], out[4 * k + 1], out[4 * k + 2]] = colour;
    };
    if (this.field === 'group') {
      for (let k = 0; k < frame.count; k += 1) paint(k, this.groups[frame.group[k]]?.colour ?? [128, 128, 128]);
    } else if (this.field === 'cluster') {
      const { root, size } = clusters(frame);
      let [number, largest] = [0, 1];
      for (let k = 0; k < frame.count; k += 1) {
        if (size[k] > 1) number += 1;
        largest = Math.max(largest, size[k]);
        paint(k, size[root[k]] > 1 ? hashed(idOf(frame, root[k])) : [150, 150, 150]);
      }
      this.summary = number ? `${number} cluster${number > 1 ? 's' : ''}, the largest of ${largest}` : 'none';
    } else {
      const all = values(frame, this.fields.get(this.field).rule);
      this.widen(all);
      const [least, greatest] = this.range;
      for (let k = 0; k < frame.count; k += 1) paint(k, this.share((all[k] - least) / (greatest - least)));
    }
    return out;
  }

  widen(all) {
    const { start, rule } = this.fields.get(this.field);
    const [zero, whole] = [start === 'zero', rule.sum === 'one'];
    let [least, greatest] = zero ? [0, quantile(all, 0.99)] : [quantile(all, 0), quantile(all, 1)];
    if (this.range) [least, greatest] = [Math.min(least, this.range[0]), Math.max(greatest, this.range[1])];
    if (zero) greatest = whole ? Math.max(1, greatest) : nice(greatest);
    if (!(greatest > least)) greatest = least + (least === 0 ? 1 : 0.1 * Math.abs(least));
    this.range = [least, greatest];
  }

  share(share) {
    const k = 3 * Math.round(255 * Math.min(1, Math.max(0, share || 0)));
    return [this.field_map[k], this.field_map[k + 1], this.field_map[k + 2]];
  }

  glue(share) {
    return this.glue_map[3 * Math.round(255 * Math.min(1, Math.max(0, share || 0)))];
  }
}

/** A colour for a number: neighbours differ, and none is too dark or too light. */
function hashed(number) {
  const hue = (number * 0.618033988749895) % 1;
  const light = 0.45 + 0.2 * ((number * 0.7548776662466927) % 1);
  const part = (shift) => {
    const k = (shift + hue * 12) % 12;
    return Math.round(255 * (light - 0.55 * Math.min(light, 1 - light) * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [part(0), part(8), part(4)];
}

/** The glue that few contacts exceed, as a round number. */
export function blackOf(frame) {
  const glued = frame.contacts.gamma.filter((gamma) => gamma < 0 && Number.isFinite(gamma)).map((gamma) => -gamma);
  return glued.length ? nice(quantile(glued, 0.98)) : 0;
}
