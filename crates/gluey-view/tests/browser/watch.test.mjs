// The page in a real browser, as a reader meets it.

import assert from 'node:assert/strict';
import { copyFileSync, existsSync, readFileSync, truncateSync, writeFileSync, statSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { Place, launch, scenes, shown, step, until, visit } from './harness.mjs';

const SHORT = ['--set=time.dt=5e-3', '--until=1', '--set=output.frame_every=10', '--quiet'];
let browser;
let place;
before(async () => {
  browser = await launch();
  place = new Place();
  place.gluey('run', '--out=stored', ...SHORT);
});
after(async () => {
  await browser?.close();
  await place?.close();
});

/** Pixels of a screenshot of the picture, as one number a pixel; without its border, which shows the focus. */
async function pixels(page) {
  const shot = await page.locator('#stage').screenshot();
  return page.evaluate(async (bytes) => {
    const image = await createImageBitmap(new Blob([new Uint8Array(bytes)]));
    const flat = new OffscreenCanvas(image.width, image.height);
    flat.getContext('2d').drawImage(image, 0, 0);
    const { data } = flat.getContext('2d').getImageData(6, 6, image.width - 12, image.height - 12);
    return Array.from({ length: data.length / 4 }, (_, k) => (data[4 * k] << 16) | (data[4 * k + 1] << 8) | data[4 * k + 2]);
  }, [...shot]);
}

/** The share of pixels that are not like the first one, which is the ground. */
async function inked(page) {
  const all = await pixels(page);
  const apart = (a, b) => [16, 8, 0].reduce((sum, shift) => sum + Math.abs(((a >> shift) & 255) - ((b >> shift) & 255)), 0);
  return all.filter((pixel) => apart(pixel, all[0]) > 60).length / all.length;
}

/** The share of pixels with a colour, not black, white or grey. */
async function coloured(page) {
  const all = await pixels(page);
  const parts = (pixel) => [16, 8, 0].map((shift) => (pixel >> shift) & 255);
  return all.map(parts).filter((part) => Math.max(...part) - Math.min(...part) > 60).length / all.length;
}

test('a stored run: picture, slider, play, step, plots, downloads', async () => {
  const { url, stop } = await place.serve('view', 'stored', '--listen=127.0.0.1:0');
  const { page, errors, close } = await visit(browser, url);
  await shown(page);
  assert.equal(await step(page), 200, 'the last frame is shown first');
  assert.equal(await page.locator('#title').textContent(), 'lotto-small');
  assert.ok(await inked(page) > 0.03, 'the picture is blank');

  await page.locator('#slider').focus();
  await page.keyboard.press('Home');
  await until(page, () => document.getElementById('picture').dataset.step === '0');
  await page.keyboard.press('ArrowRight');
  await until(page, () => document.getElementById('picture').dataset.step === '10');
  await page.locator('#picture').focus();
  await page.keyboard.press('.');
  await until(page, () => document.getElementById('picture').dataset.step === '20');
  await page.keyboard.press('Home');
  await until(page, () => document.getElementById('picture').dataset.step === '0');
  await page.locator('#speed').selectOption('0.25'); // slow enough not to end meanwhile on a busy machine
  await page.locator('#picture').focus();
  await page.keyboard.press(' ');
  await until(page, () => Number(document.getElementById('picture').dataset.step) > 50);
  await page.keyboard.press(' ');
  const stopped = await step(page);
  await page.waitForTimeout(300);
  assert.ok(await step(page) <= stopped + 10, 'it goes on while paused');

  await page.keyboard.press('End');
  await until(page, () => document.getElementById('picture').dataset.step === '200');
  assert.equal(await page.locator('#plots figcaption').count(), 4);
  const series = readFileSync(place.path('stored/series.csv'), 'utf8').trim().split('\n');
  const column = series[0].split(',').indexOf('glued');
  const glued = `glued ${series.at(-1).split(',')[column]}`; // plots are drawn a little after the picture
  await until(page, (text) => document.querySelectorAll('#plots figcaption')[1].textContent.includes(text), glued);
  await page.locator('#plots canvas').first().hover({ position: { x: 5, y: 30 } });
  await until(page, () => document.querySelector('#plots figcaption').textContent.includes('t = 0'));

  const download = async (id) => {
    const [file] = await Promise.all([page.waitForEvent('download'), page.locator(id).click()]);
    return readFileSync(await file.path());
  };
  assert.equal((await download('#png')).subarray(1, 4).toString(), 'PNG');
  assert.equal((await download('#series')).toString().trim().split('\n').length, 202);
  const particles = (await download('#csv')).toString().trim().split('\n');
  assert.equal(particles.length, 61);
  assert.ok(particles[1].startsWith('0,black,'));
  assert.deepEqual(errors, []);
  await close();
  assert.equal(await stop(), 0);
});

test('a particle can be picked by mouse and by keyboard, and colours and contacts chosen', async () => {
  const { url } = await place.serve('view', 'stored', '--listen=127.0.0.1:0');
  const { page, errors, close } = await visit(browser, url);
  await shown(page);
  await page.locator('#number').fill('3');
  await page.keyboard.press('Enter');
  await until(page, () => document.querySelectorAll('#facts tr').length > 6);
  const facts = await page.locator('#facts').innerText();
  assert.match(facts, /group\s+black/);
  // Where the frame says the particle is, a click finds it.
  const target = await page.evaluate(async () => {
    const { decode, centre } = await import('/frame.js');
    const run = new URLSearchParams(location.search).get('run');
    const { step } = document.getElementById('picture').dataset;
    const reply = await fetch(`/api/frame?${new URLSearchParams({ run, step })}`);
    const frame = decode(await reply.arrayBuffer());
    return { centre: centre(frame, 40), corners: [...frame.obstacles[0].points] };
  });
  await page.keyboard.press('Escape');
  const box = await page.locator('#picture').boundingBox();
  // The box turns in its own plane, and is fitted: its middle is the middle of the picture.
  const half = Math.max(...target.corners.map(Math.abs));
  const pixels = (0.46 * Math.min(box.width, box.height)) / half;
  await page.mouse.click(box.x + box.width / 2 + pixels * target.centre[0], box.y + box.height / 2 - pixels * target.centre[1]);
  await until(page, () => document.getElementById('number').value === '40');

  await page.keyboard.press('Escape');
  await page.waitForTimeout(500);
  assert.ok(await coloured(page) < 0.001, 'black and white balls');
  await page.locator('#colour').selectOption('speed');
  await until(page, () => document.getElementById('legend').textContent.includes('speed'));
  await page.waitForTimeout(400);
  assert.ok(await coloured(page) > 0.03, 'the colours of speeds');
  await page.locator('#colour').selectOption('cluster');
  await until(page, () => /cluster/.test(document.getElementById('legend').textContent));
  await page.locator('#show-contacts').check();
  await until(page, () => /γ/.test(document.getElementById('legend').textContent));
  await page.locator('#show-particles').uncheck();
  await page.locator('#show-contacts').uncheck();
  await page.locator('#show-obstacles').uncheck();
  await page.keyboard.press('Escape');
  await page.locator('#picture').focus();
  await page.waitForTimeout(400);
  assert.ok(await inked(page) < 0.02, 'all that was hidden is gone');
  assert.deepEqual(errors, []);
  await close();
});

test('a live run: follow, pause, go on, change gravity, look back, restart', async () => {
  const endless = ['--set=time.until=40000', '--set=output.frame_every=20', '--set=output.series_every=5'];
  const { url, stop } = await place.serve('run', '--view', '--listen=127.0.0.1:0', '--out=live', '--threads=1', ...endless);
  const { page, errors, close } = await visit(browser, url);
  await shown(page);
  const start = await step(page);
  await until(page, (was) => Number(document.getElementById('picture').dataset.step) > was + 20, start);

  await page.locator('#pause').click();
  await until(page, () => document.getElementById('state').textContent.startsWith('paused'));
  await page.waitForTimeout(300);
  const paused = await step(page);
  await page.waitForTimeout(300);
  assert.equal(await step(page), paused);
  await page.locator('#step').click();
  await until(page, (was) => Number(document.getElementById('picture').dataset.step) === was + 1, paused);

  // Gravity upwards: it is told, kept with the run, and seen in the data.
  const field = page.getByLabel('gravity');
  assert.equal(await field.inputValue(), '[0, -10]');
  await field.fill('[0, 50]');
  await page.keyboard.press('Enter');
  await until(page, () => document.querySelector('[id="value-environment.gravity"]').placeholder === '[0, 50]');
  const rows = readFileSync(place.path('live/interventions.csv'), 'utf8').trim().split('\n');
  assert.equal(rows.length, 2);
  assert.ok(rows[1].startsWith(`${paused + 1},`) && rows[1].endsWith('environment.gravity,"[0, 50]"'), rows[1]);
  const height = () => page.evaluate(async () => {
    const { decode } = await import('/frame.js');
    const run = new URLSearchParams(location.search).get('run');
    const frame = decode(await (await fetch(`/api/live?${new URLSearchParams({ run })}`)).arrayBuffer());
    let sum = 0;
    for (let k = 0; k < frame.count; k += 1) sum += frame.position[2 * k + 1] + frame.origin[1];
    return sum / frame.count;
  });
  const low = await height();
  await page.locator('#picture').focus();
  await page.keyboard.press('p');
  await until(page, () => document.getElementById('state').textContent.startsWith('running'));
  await until(page, (was) => Number(document.getElementById('picture').dataset.step) > was + 300, paused);
  assert.ok(await height() > low + 0.05, `they fall upwards: from ${low} to ${await height()}`);

  // A value that no scene may have changes nothing, and is told.
  await field.fill('[0, "x"');
  await page.keyboard.press('Enter');
  await until(page, () => !document.getElementById('notice').hidden);
  assert.ok((await page.locator('#notice').innerText()).length > 10);
  assert.equal(readFileSync(place.path('live/interventions.csv'), 'utf8').trim().split('\n').length, 2);

  await page.locator('#first').click();
  await until(page, () => document.getElementById('picture').dataset.step === '0');
  await page.locator('#follow').click();
  await until(page, () => Number(document.getElementById('picture').dataset.step) > 300);

  const before = page.url();
  await page.locator('#restart').click();
  await page.waitForURL((now) => now.href !== before);
  await shown(page);
  assert.match(decodeURIComponent(page.url()), /run=runs\/lotto-small$/);
  // From the beginning, with the scene's gravity, in a folder of its own.
  const series = () => readFileSync(place.path('runs/lotto-small/series.csv'), 'utf8').split('\n');
  for (let k = 0; k < 400 && series().length < 3; k += 1) await page.waitForTimeout(50);
  assert.ok(series()[1].startsWith('0,'), series()[1]);
  assert.ok(!existsSync(place.path('runs/lotto-small/interventions.csv')));
  assert.deepEqual(errors, []);
  await close();
  await stop();
  const info = place.gluey('info', 'live');
  assert.match(info, /changed by hand\s+environment.gravity = \[0, 50\]/);
});

test('a browser that goes away and a second one leave the run alone', async () => {
  const { url, stop } = await place.serve('run', '--view', '--listen=127.0.0.1:0', '--out=two', '--set=time.until=40000');
  const one = await visit(browser, url);
  const two = await visit(browser, url);
  await shown(one.page);
  await shown(two.page);
  await one.close();
  const was = await step(two.page);
  await until(two.page, (then) => Number(document.getElementById('picture').dataset.step) > then + 20, was);
  assert.deepEqual(two.errors, []);
  await two.close();
  const length = () => statSync(place.path('two/series.csv')).size;
  const then = length();
  await new Promise((done) => { setTimeout(done, 400); });
  assert.ok(length() > then, 'nobody watches, and it goes on');
  assert.equal(await stop(), 130);
});

test('the gallery lists scenes and runs, and one click starts a scene', async () => {
  writeFileSync(place.path('mine.toml'), readFileSync(`${scenes}/three-discs.toml`));
  writeFileSync(place.path('broken.toml'), '[time]\ndt = -1\nuntil = 1\n');
  const { url, stop } = await place.serve('view', '--listen=127.0.0.1:0');
  const { page, errors, close } = await visit(browser, url);
  await page.getByRole('button', { name: 'Run three-discs' }).waitFor();
  assert.match(await page.locator('#scenes').innerText(), /broken.toml:2:6/);
  assert.ok(await page.getByRole('button', { name: 'Run broken' }).isDisabled());
  await page.getByRole('button', { name: 'Run three-discs' }).click();
  await shown(page);
  assert.equal(await page.locator('#title').textContent(), 'three-discs');
  await page.locator('#home').click();
  await page.getByRole('link', { name: 'Watch runs/three-discs' }).click();
  await shown(page);
  assert.deepEqual(errors, []);
  await close();
  assert.equal(await stop(), 0);
});

test('runs that are cut off, damaged or of a newer version are told, and what there is is shown', async () => {
  const { url } = await place.serve('view', '--listen=127.0.0.1:0');
  const copies = { cut: null, newer: null, strange: null };
  for (const name of Object.keys(copies)) place.gluey('run', `--out=runs/${name}`, ...SHORT);
  const frames = (name) => place.path(`runs/${name}/frames.bin`);
  truncateSync(frames('cut'), statSync(frames('cut')).size - 100);
  const bytes = readFileSync(frames('newer'));
  bytes[4] = 9;
  writeFileSync(frames('newer'), bytes);
  const manifest = readFileSync(place.path('runs/strange/manifest.toml'), 'utf8');
  writeFileSync(place.path('runs/strange/manifest.toml'), manifest.replace('format = 1', 'format = 77'));
  const at = (name) => `${url}?run=runs%2F${name}`;

  const cut = await visit(browser, at('cut'));
  await shown(cut.page);
  assert.equal(await step(cut.page), 190, 'the frames before');
  copyFileSync(place.path('stored/frames.bin'), frames('cut')); // as if it had been written on
  await until(cut.page, () => document.getElementById('slider').max === '20');
  await cut.close();
  for (const name of ['newer', 'strange']) {
    const { page, close } = await visit(browser, at(name));
    await until(page, () => !document.getElementById('notice').hidden);
    assert.match(await page.locator('#notice').innerText(), /newer version of gluey/);
    await close();
  }
  const none = await visit(browser, at('nowhere'));
  await until(none.page, () => !document.getElementById('notice').hidden);
  assert.match(await none.page.locator('#notice').innerText(), /no run `runs\/nowhere`/);
  await none.close();
});

test('frames for ParaView are shown where there are no others', async () => {
  place.gluey('run', '--out=vtk', ...SHORT, '--set=output.formats=["vtk"]');
  const { url } = await place.serve('view', 'vtk', '--listen=127.0.0.1:0');
  const { page, errors, close } = await visit(browser, url);
  await shown(page);
  await page.locator('#first').click();
  await until(page, () => document.getElementById('picture').dataset.step === '0');
  assert.deepEqual(errors, []);
  await close();
});

test('a scene in space: orbit, section, contacts; on a phone in the dark', async () => {
  const words = ['run', `${scenes}/hopper.toml`, '--out=space', '--until=0.2', '--quiet'];
  place.gluey(...words);
  const { url } = await place.serve('view', 'space', '--listen=127.0.0.1:0');
  const { page, errors, close } = await visit(browser, url, { width: 390, height: 844, colorScheme: 'dark', hasTouch: true });
  await shown(page);
  await page.waitForTimeout(400);
  const before = await page.locator('#stage').screenshot();
  await page.locator('#picture').focus();
  for (let k = 0; k < 5; k += 1) await page.keyboard.press('ArrowLeft');
  await page.waitForTimeout(400);
  const turned = await page.locator('#stage').screenshot();
  assert.ok(!before.equals(turned), 'it turns');
  const whole = await inked(page);
  await page.locator('#axis').selectOption('0');
  await page.waitForTimeout(400);
  assert.ok(await inked(page) < 0.8 * whole, 'the section cuts something away');
  await page.locator('#axis').selectOption('');
  await page.locator('#show-contacts').check();
  await until(page, () => /contacts/.test(document.getElementById('legend').textContent));
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(width <= 390, `nothing sticks out: ${width}`);
  const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(ground, 'rgb(18, 20, 24)');
  assert.deepEqual(errors, []);
  await close();
});
