// The page finds the values of fields as pictures do: fields.json has frames and what the table of gluey tells of them.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fieldsOf, values } from '../../page/colours.js';
import { decode } from '../../page/frame.js';

const { fields, cases } = JSON.parse(readFileSync(new URL('fields.json', import.meta.url)));

test('every field has the values that it has in pictures', () => {
  assert.ok(fields.length > 0 && cases.length === 2);
  for (const { frame, values: expected } of cases) {
    const decoded = decode(new Uint8Array(frame).buffer);
    for (const { name, rule } of fields) assert.deepEqual([...values(decoded, rule)], expected[name], name);
  }
});

test('the page offers all fields and clusters, and refuses a rule that it does not know', () => {
  const offered = fieldsOf({ fields });
  assert.deepEqual([...offered.keys()], [...fields.map((field) => field.name), 'cluster']);
  assert.throws(() => values(decode(new Uint8Array(cases[0].frame).buffer), { median: 'glue' }), /median/);
});
