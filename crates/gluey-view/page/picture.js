// What can be taken away: the picture as PNG, the particles of a frame as CSV.

import { centre, idOf, velocity } from './frame.js';

export function save(blob, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** The canvas as it was just drawn, with the time and the legend written on it. */
export function withText(canvas, { clock, legend, ratio }) {
  const out = document.createElement('canvas');
  [out.width, out.height] = [canvas.width, canvas.height];
  const context = out.getContext('2d');
  context.drawImage(canvas, 0, 0);
  const box = canvas.getBoundingClientRect();
  const write = (node) => {
    const style = getComputedStyle(node);
    const place = node.getBoundingClientRect();
    const [x, y] = [(place.left - box.left) * ratio, (place.top - box.top) * ratio];
    if (node.tagName === 'CANVAS') {
      context.drawImage(node, x, y, place.width * ratio, place.height * ratio);
      return;
    }
    if (node.className === 'swatch') {
      context.beginPath();
      context.arc(x + 0.5 * place.width * ratio, y + 0.5 * place.height * ratio, 0.5 * place.width * ratio, 0, 7);
      context.fillStyle = style.backgroundColor;
      context.fill();
      context.strokeStyle = style.borderColor;
      context.stroke();
    }
    for (const child of node.childNodes) {
      if (child.nodeType === Node.ELEMENT_NODE) write(child);
      else if (child.textContent.trim()) {
        const range = document.createRange();
        range.selectNodeContents(child);
        const text = range.getBoundingClientRect();
        context.font = `${parseFloat(style.fontSize) * ratio}px ${style.fontFamily}`;
        context.fillStyle = style.color;
        context.textBaseline = 'middle';
        context.fillText(child.textContent.trim(), (text.left - box.left) * ratio, (text.top - box.top + 0.5 * text.height) * ratio);
      }
    }
  };
  write(clock);
  write(legend);
  return out;
}

export function particlesCsv(frame, groups) {
  const lines = ['id,group,x,y,z,vx,vy,vz,radius,mass'];
  for (let k = 0; k < frame.count; k += 1) {
    const name = groups[frame.group[k]]?.name ?? '';
    const quoted = /[",\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name;
    lines.push([idOf(frame, k), quoted, ...centre(frame, k), ...velocity(frame, k), frame.radius[k], frame.mass[k]].join(','));
  }
  return new Blob([`${lines.join('\n')}\n`], { type: 'text/csv' });
}
