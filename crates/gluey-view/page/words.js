// Numbers for people.

export function number(value, digits = 4) {
  if (value === Infinity) return '∞';
  if (value === -Infinity) return '−∞';
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) {
    return value.toExponential(digits - 2).replace(/\.?0+e/, 'e').replace('e+', 'e').replace('-', '−');
  }
  return String(Number(value.toPrecision(digits))).replace('-', '−');
}

export const vector = (parts) => parts.map((part) => number(part)).join('  ');
