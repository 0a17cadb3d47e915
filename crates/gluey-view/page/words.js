// Numbers for people.

export function number(value, digits = 4) {
  if (value === Infinity) return '∞';
  if (value === -Infinity) return '−∞';
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  const text = size !== 0 && (size < 1e-3 || size >= 1e6)
    ? value.toExponential(digits - 2).replace(/\.?0+e/, 'e').replace('e+', 'e')
    : String(Number(value.toPrecision(digits)));
  return text.replaceAll('-', '−');
}

/** So many of something, in words. */
export const counted = (count, thing) => `${count} ${thing}${count === 1 ? '' : 's'}`;

export const vector = (parts) => parts.map((part) => number(part)).join('  ');
