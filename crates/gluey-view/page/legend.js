// What the colours mean.

import { number } from './words.js';

function bar(map, count = 3) {
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [256, 1];
  const context = canvas.getContext('2d');
  const image = context.createImageData(256, 1);
  for (let k = 0; k < 256; k += 1) {
    for (let part = 0; part < 3; part += 1) image.data[4 * k + part] = map(k)[part % count];
    image.data[4 * k + 3] = 255;
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

function scale(title, map, [least, greatest]) {
  const box = document.createElement('div');
  const ends = document.createElement('div');
  ends.className = 'ends';
  for (const end of [least, greatest]) ends.append(Object.assign(document.createElement('span'), { textContent: number(end) }));
  box.append(title, bar(map), ends);
  return box;
}

/** Fills the legend; `state` tells what is shown. */
export function legend(place, { colouring, showsParticles, contacts, black, dark, groups }) {
  const parts = [];
  const { field } = colouring;
  if (showsParticles && field === 'group') {
    const list = document.createElement('ul');
    for (const { name, colour } of groups.length > 1 ? groups : []) {
      const swatch = Object.assign(document.createElement('span'), { className: 'swatch' });
      swatch.style.background = `rgb(${colour.join(',')})`;
      const item = document.createElement('li');
      item.append(name, swatch);
      list.append(item);
    }
    const box = document.createElement('div');
    box.append(list);
    parts.push(box);
  } else if (showsParticles && field === 'cluster') {
    parts.push(Object.assign(document.createElement('div'), { textContent: colouring.summary }));
  } else if (showsParticles && colouring.range) {
    parts.push(scale(colouring.fields.get(field).title, (k) => colouring.share(k / 255), colouring.range));
  }
  if (contacts && black > 0) {
    const grey = (k) => (dark ? 255 - colouring.glue(k / 255) : colouring.glue(k / 255));
    parts.push(scale('contacts, −γ', (k) => [grey(k), grey(k), grey(k)], [0, black]));
  } else if (contacts) parts.push(Object.assign(document.createElement('div'), { textContent: 'contacts: none is glued' }));
  const key = parts.map((part) => part.textContent).join('|') + dark;
  if (place.dataset.key === key) return;
  place.dataset.key = key;
  place.replaceChildren(...parts);
}
