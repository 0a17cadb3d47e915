// The page in a real browser, as a reader meets it.
//
// Nothing here depends on how fast the machine is: what takes time is waited for, and what must not happen is looked for
// only once all that was under way is over.

import assert from 'node:assert/strict';
import { appendFileSync, existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { Place, atStep, eventually, launch, look, measure, pause, scenes, settled, shown, step, until, visit } from './harness.mjs';

const SHORT = ['--set=time.dt=5e-3', '--until=1', '--set=output.frame_every=10', '--quiet'];
const ENDLESS = '--set=time.until=40000';
const HERE = '--listen=127.0.0.1:0';
let browser;
let place;
before(async () => {
  browser = await launch();
  place = new Place();
  place.gluey('run', '--out=stored', ...SHORT);
});
after(async () => {
  await browser?.close();
  place?.close();
});

const text = (page, id) => page.locator(id).innerText();

/** Waits until the picture is another one than before, or the same again; gives what it is then. */
const differs = (page, { fingerprint }, what) => eventually(() => look(page), (now) => now.fingerprint !== fingerprint, what);
const returns = (page, { fingerprint }, what) => eventually(() => look(page), (now) => now.fingerprint === fingerprint, what);

/** Waits until a message is shown that has these words. */
const told = (page, words) => until(page, (wanted) => {
  const notice = document.getElementById('notice');
  return !notice.hidden && notice.innerText.includes(wanted);
}, words);

/** What the frame shown looks like after a fit: where its particles are on the screen, and how large. */
function seen(page) {
  return page.evaluate(async () => {
    const [{ bounds, centre, decode, idOf }, { Camera }] = await Promise.all([import('/frame.js'), import('/camera.js')]);
    const run = new URLSearchParams(location.search).get('run');
    const description = await (await fetch(`/api/run?${new URLSearchParams({ run })}`)).json();
    const { step } = document.getElementById('picture').dataset;
    const frame = decode(await (await fetch(`/api/frame?${new URLSearchParams({ run, step })}`)).arrayBuffer());
    const camera = new Camera(description.dimension, description.picture);
    const { clientWidth, clientHeight } = document.getElementById('stage');
    camera.resize([clientWidth, clientHeight]);
    camera.fit(bounds(frame, (k) => description.obstacles[k].body !== 'half-space'), { turn: true });
    const particle = (_, k) => {
      const [x, y, depth] = camera.project(centre(frame, k));
      return { id: idOf(frame, k), x, y, near: depth + frame.radius[k], radius: frame.radius[k] * camera.pixels };
    };
    return {
      particles: Array.from({ length: frame.count }, particle),
      corners: frame.obstacles.map((obstacle) => obstacle.points.length / 3),
      area: clientWidth * clientHeight,
    };
  });
}

test('a stored run: picture, slider, step, plots, downloads', async (t) => {
  const { url, stop } = await place.serve(t, 'view', 'stored', HERE);
  const { page, errors, close } = await visit(t, browser, url);
  await shown(page);
  assert.equal(await step(page), 200, 'the last frame is shown first');
  assert.equal(await page.locator('#title').textContent(), 'lotto-small');
  assert.ok((await look(page)).inked > 0.03, 'the picture is blank');
  assert.equal(await text(page, '#state'), 'stored · 60 particles');

  await page.locator('#slider').focus();
  await page.keyboard.press('Home');
  await atStep(page, 0);
  await page.keyboard.press('ArrowRight');
  await atStep(page, 10);
  await page.locator('#picture').focus();
  await page.keyboard.press('.');
  await atStep(page, 20);
  await page.keyboard.press('Home');
  await atStep(page, 0);
  await page.keyboard.press('End');
  await atStep(page, 200);

  // The slider's knob, from its end to its beginning and on to the middle.
  const bar = await page.locator('#slider').boundingBox();
  const middle = bar.y + bar.height / 2;
  await page.mouse.move(bar.x + bar.width - 8, middle);
  await page.mouse.down();
  await page.mouse.move(bar.x + 1, middle, { steps: 5 });
  await atStep(page, 0);
  await page.mouse.move(bar.x + bar.width / 2, middle, { steps: 5 });
  await page.mouse.up();
  await atStep(page, 100);

  await page.locator('#latest').click();
  await atStep(page, 200);
  assert.equal(await page.locator('#plots figcaption').count(), 4);
  const series = readFileSync(place.path('stored/series.csv'), 'utf8').trim().split('\n');
  const column = series[0].split(',').indexOf('glued');
  const glued = `glued ${series.at(-1).split(',')[column]}`; // plots are drawn a little after the picture
  await until(page, (words) => document.querySelectorAll('#plots figcaption')[1].textContent.includes(words), glued);
  await page.locator('#plots canvas').first().hover({ position: { x: 5, y: 30 } });
  await until(page, () => document.querySelector('#plots figcaption').textContent.includes('t = 0'));

  const download = async (id) => {
    const [file] = await Promise.all([page.waitForEvent('download'), page.locator(id).click()]);
    return readFileSync(await file.path());
  };
  const stage = await page.locator('#stage').evaluate(({ clientWidth, clientHeight }) => [clientWidth, clientHeight]);
  const picture = await measure(page, await download('#png'));
  assert.deepEqual([picture.width, picture.height], stage.map((side) => 2 * side), 'as fine as what stands still');
  assert.ok(picture.inked > 0.03, `the picture saved is blank: ${picture.inked}`);
  assert.equal((await download('#series')).toString().trim().split('\n').length, 202);
  const particles = (await download('#csv')).toString().trim().split('\n');
  assert.equal(particles.length, 61);
  assert.ok(particles[1].startsWith('0,black,'));
  assert.deepEqual(errors, []);
  await close();
  assert.equal(await stop(), 0);
});

test('play and pause', async (t) => {
  // Played at a tenth of the speed, so many frames last longer than anything here is waited for.
  place.gluey('run', '--out=long', '--set=time.dt=1e-3', '--until=1', '--set=output.frame_every=1', '--quiet');
  const { url } = await place.serve(t, 'view', 'long', HERE);
  const { page, errors } = await visit(t, browser, url);
  await atStep(page, 1000);
  const label = (wanted) => until(page, (name) => document.getElementById('play').textContent === name, wanted);
  await page.locator('#speed').selectOption('0.1');
  await page.locator('#picture').focus();
  await page.keyboard.press('Home');
  await atStep(page, 0);
  await page.keyboard.press(' ');
  await label('Pause');
  await until(page, () => Number(document.getElementById('picture').dataset.step) > 0);
  await page.keyboard.press(' ');
  await label('Play');
  // Every step is a frame: what was asked for before the pause is there when the slider and the picture agree.
  await until(page, () => document.getElementById('picture').dataset.step === document.getElementById('slider').value);
  const stopped = await step(page);
  assert.ok(stopped < 1000, 'it was still playing');
  await pause(600);
  assert.equal(await step(page), stopped, 'it goes on while paused');

  await page.locator('#speed').selectOption('10');
  await page.locator('#play').click();
  await atStep(page, 1000);
  await label('Play');
  assert.deepEqual(errors, []);
});

test('a particle can be picked by mouse and by keyboard, and colours and contacts chosen', async (t) => {
  const { url } = await place.serve(t, 'view', 'stored', HERE);
  const { page, errors } = await visit(t, browser, url);
  await shown(page);
  await page.locator('#number').fill('3');
  await page.keyboard.press('Enter');
  await until(page, () => document.querySelectorAll('#facts tr').length > 6);
  assert.match(await text(page, '#facts'), /group\s+black/);
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
  const scale = (0.46 * Math.min(box.width, box.height)) / half;
  await page.mouse.click(box.x + box.width / 2 + scale * target.centre[0], box.y + box.height / 2 - scale * target.centre[1]);
  await until(page, () => document.getElementById('number').value === '40');

  await page.keyboard.press('Escape');
  assert.ok((await look(page)).coloured < 0.001, 'black and white balls');
  const fields = { speed: 'speed', gamma: 'Σ −γ', contacts: 'contacts', impulse: 'impulse', radius: 'radius', vy: 'vy' };
  for (const [field, title] of Object.entries(fields)) {
    await page.locator('#colour').selectOption(field);
    await until(page, (name) => {
      const legend = document.getElementById('legend');
      return legend.textContent.startsWith(name) && legend.querySelector('canvas') && legend.querySelectorAll('.ends span').length === 2;
    }, title);
    if (field === 'speed') assert.ok((await look(page)).coloured > 0.03, 'the colours of speeds');
  }
  await page.locator('#colour').selectOption('cluster');
  await until(page, () => /cluster/.test(document.getElementById('legend').textContent));
  await page.locator('#show-contacts').check();
  await until(page, () => /γ/.test(document.getElementById('legend').textContent));
  await page.locator('#show-particles').uncheck();
  await page.locator('#show-contacts').uncheck();
  await page.locator('#show-obstacles').uncheck();
  await page.keyboard.press('Escape');
  await page.locator('#picture').focus();
  assert.ok((await look(page)).inked < 0.02, 'all that was hidden is gone');
  assert.deepEqual(errors, []);
});

test('the picture moves, zooms and fits, by mouse and by keyboard', async (t) => {
  const { url } = await place.serve(t, 'view', 'stored', HERE);
  const { page, errors } = await visit(t, browser, url);
  await shown(page);
  const home = await look(page);
  assert.equal((await look(page)).fingerprint, home.fingerprint, 'what nobody touches stays');
  const box = await page.locator('#picture').boundingBox();
  const [x, y] = [box.x + box.width / 3, box.y + box.height / 3];
  const drag = (button) => async () => {
    await page.mouse.move(x, y);
    await page.mouse.down({ button });
    await page.mouse.move(x + 90, y + 40, { steps: 4 });
    await page.mouse.up({ button });
  };
  const press = (key) => async () => {
    await page.locator('#picture').focus();
    await page.keyboard.press(key);
  };
  const wheel = async () => {
    await page.mouse.move(x, y);
    await page.mouse.wheel(0, -300);
  };
  const deeds = { drag: drag('left'), 'drag with the right button': drag('right'), wheel, plus: press('+'), minus: press('-'), arrow: press('ArrowLeft') };
  const pictures = new Set([home.fingerprint]);
  for (const [name, deed] of Object.entries(deeds)) {
    await deed();
    pictures.add((await differs(page, home, `${name} changes nothing`)).fingerprint);
    if (name === 'wheel') await page.locator('#fit').click();
    else await press('f')();
    await returns(page, home, `not all fits again after ${name}`);
  }
  assert.ok(pictures.size >= 5, 'they do different things');
  assert.deepEqual(errors, []);
});

test('a window that shrinks and grows again shows the same picture', async (t) => {
  const { url } = await place.serve(t, 'view', 'stored', HERE);
  const { page } = await visit(t, browser, url, { width: 960, height: 800 });
  await shown(page);
  const sized = async (width, height) => {
    await page.setViewportSize({ width, height });
    await until(page, ([wide, high]) => {
      const [stage, canvas] = [document.getElementById('stage'), document.getElementById('picture')];
      const drawn = canvas.width === 2 * stage.clientWidth && canvas.height === 2 * stage.clientHeight;
      return innerWidth === wide && innerHeight === high && drawn && canvas.dataset.settled === 'true';
    }, [width, height]);
    return look(page);
  };
  for (const zoomed of [false, true]) {
    if (zoomed) await page.keyboard.press('+');
    const was = await sized(960, 800);
    const low = await sized(960, 400);
    assert.ok(low.inked > 0.01, 'there is a picture in a low window');
    await sized(800, 500);
    await sized(960, 800);
    await returns(page, was, 'the picture is another one');
  }
});

test('a live run: follow, pause, go on, change gravity and glue, look back, restart', async (t) => {
  const often = ['--set=output.frame_every=20', '--set=output.series_every=5'];
  const { url, stop } = await place.serve(t, 'run', '--view', HERE, '--out=live', '--threads=1', ENDLESS, ...often);
  const { page, errors, close } = await visit(t, browser, url);
  await shown(page);
  const start = await step(page);
  await until(page, (was) => Number(document.getElementById('picture').dataset.step) > was + 20, start);

  await page.locator('#pause').click();
  const state = await eventually(() => text(page, '#state'), (words) => /^paused, step \d+ of/.test(words), 'it does not pause');
  const paused = Number(state.match(/\d+/)[0]);
  await atStep(page, paused); // the picture comes by another way than the words
  await pause(600);
  assert.equal(await step(page), paused, 'it goes on while paused');
  await page.locator('#step').click();
  await atStep(page, paused + 1);

  // Gravity upwards: it is told, kept with the run, and seen in the data.
  const rows = () => readFileSync(place.path('live/interventions.csv'), 'utf8').trim().split('\n');
  const now = (key, value) => until(page, ([id, wanted]) => document.getElementById(id).placeholder === wanted, [`value-${key}`, value]);
  const field = page.getByLabel('gravity');
  assert.equal(await field.inputValue(), '[0, -10]');
  await field.fill('[0, 50]');
  await page.keyboard.press('Enter');
  await now('environment.gravity', '[0, 50]');
  assert.equal(rows().length, 2);
  assert.ok(rows()[1].startsWith(`${paused + 1},`) && rows()[1].endsWith('environment.gravity,"[0, 50]"'), rows()[1]);
  const newest = () => page.evaluate(async () => {
    const { decode } = await import('/frame.js');
    const run = new URLSearchParams(location.search).get('run');
    const frame = decode(await (await fetch(`/api/live?${new URLSearchParams({ run })}`)).arrayBuffer());
    let sum = 0;
    for (let k = 0; k < frame.count; k += 1) sum += frame.position[2 * k + 1] + frame.origin[1];
    return { step: frame.step, height: sum / frame.count, most: Math.max(0, ...frame.contacts.gamma.map((gamma) => -gamma)) };
  });
  const low = (await newest()).height;

  // The most glue that there can be: also told and kept.
  const glue = page.getByLabel('γ_min');
  await glue.fill('-1e-3');
  await page.keyboard.press('Enter');
  await now('contact.law.gluey.gamma_min', '-1e-3');
  assert.equal(rows().length, 3);
  assert.ok(rows()[2].startsWith(`${paused + 1},`) && rows()[2].endsWith('contact.law.gluey.gamma_min,-1e-3'), rows()[2]);

  await page.locator('#picture').focus();
  await page.keyboard.press('p');
  await until(page, () => document.getElementById('state').textContent.startsWith('running'));
  await until(page, (was) => Number(document.getElementById('picture').dataset.step) > was + 300, paused);
  const later = await eventually(newest, ({ height }) => height > low + 0.05, `they fall upwards from ${low}`);
  assert.ok(later.most <= 1e-3 * (1 + 1e-6), `no more glue than was asked for: ${later.most}`);

  // A value that no scene may have changes nothing, is told, and does not stay in its field.
  await field.fill('[0, "x"');
  await page.keyboard.press('Enter');
  await until(page, () => document.querySelector('#notice p').textContent.length > 10);
  await until(page, () => document.getElementById('value-environment.gravity').value === '[0, 50]');
  assert.equal(rows().length, 3);

  await page.locator('#first').click();
  await atStep(page, 0);
  await page.locator('#follow').click();
  await until(page, () => Number(document.getElementById('picture').dataset.step) > 300);

  const before = page.url();
  await page.locator('#restart').click();
  await page.waitForURL((url) => url.href !== before);
  await shown(page);
  assert.match(decodeURIComponent(page.url()), /run=runs\/lotto-small$/);
  // From the beginning, with the scene's gravity, in a folder of its own.
  const series = () => readFileSync(place.path('runs/lotto-small/series.csv'), 'utf8').split('\n');
  const written = await eventually(series, (lines) => lines.length > 2, 'nothing is written');
  assert.ok(written[1].startsWith('0,'), written[1]);
  assert.ok(!existsSync(place.path('runs/lotto-small/interventions.csv')));
  assert.deepEqual(errors, []);
  await close();
  await stop();
  assert.match(place.gluey('info', 'live'), /changed by hand\s+environment.gravity = \[0, 50\]/);
});

test('a browser that goes away and a second one leave the run alone', async (t) => {
  const { url, stop } = await place.serve(t, 'run', '--view', HERE, '--out=two', ENDLESS);
  const one = await visit(t, browser, url);
  const two = await visit(t, browser, url);
  await shown(one.page);
  await shown(two.page);
  await one.close();
  const was = await step(two.page);
  await until(two.page, (then) => Number(document.getElementById('picture').dataset.step) > then + 20, was);
  assert.deepEqual(two.errors, []);
  await two.close();
  const length = () => statSync(place.path('two/series.csv')).size;
  const then = length();
  await eventually(length, (size) => size > then, 'nobody watches, and it stands still');
  assert.equal(await stop(), 130);
});

test('a server that does not answer is asked again, and the live picture goes on', async (t) => {
  const { url } = await place.serve(t, 'run', '--view', HERE, '--out=back', ENDLESS);
  const { page } = await visit(t, browser, url);
  await shown(page);
  await until(page, () => document.getElementById('state').textContent.startsWith('running'));
  await page.route('**/api/**', (route) => route.abort());
  await until(page, () => document.getElementById('state').textContent.startsWith('not connected'));
  await told(page, 'does not answer');
  await page.unroute('**/api/**');
  await until(page, () => document.getElementById('state').textContent.startsWith('running'));
  await until(page, () => document.getElementById('notice').hidden);
  const was = await step(page);
  await until(page, (then) => Number(document.getElementById('picture').dataset.step) > then, was);
});

test('the gallery lists scenes and runs, and one click starts a scene', async (t) => {
  writeFileSync(place.path('mine.toml'), readFileSync(`${scenes}/three-discs.toml`));
  writeFileSync(place.path('broken.toml'), '[time]\ndt = -1\nuntil = 1\n');
  const { url, stop } = await place.serve(t, 'view', HERE);
  const { page, errors, close } = await visit(t, browser, url, { width: 1280, height: 800 });
  await page.getByRole('button', { name: 'Run three-discs' }).waitFor();
  assert.match(await text(page, '#scenes'), /broken.toml:2:6/);
  assert.ok(await page.getByRole('button', { name: 'Run broken' }).isDisabled());
  const cut = await page.locator('#scenes .kind').evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).length);
  assert.equal(cut, 0, 'the dimension can be read');
  await page.getByRole('button', { name: 'Run three-discs' }).click();
  await shown(page);
  assert.equal(await page.locator('#title').textContent(), 'three-discs');
  // A scene without gravity can be given some.
  assert.equal(await page.getByLabel('gravity').getAttribute('placeholder'), 'not set');
  await page.locator('#home').click();
  await page.getByRole('link', { name: 'Watch runs/three-discs' }).click();
  await shown(page);
  assert.deepEqual(errors, []);
  await close();
  assert.equal(await stop(), 0);
});

test('a page that others reach needs the token of its address, and tells it to nobody else', async (t) => {
  const { url } = await place.serve(t, 'run', '--view', '--listen=0.0.0.0:0', '--out=runs/open', '--threads=1', ENDLESS);
  const [plain, token] = url.split('#token=');
  assert.match(token, /^[0-9a-f]{32}$/);
  const { page } = await visit(t, browser, plain);
  await told(page, 'this address is not whole: open the one that gluey printed where it was started');
  assert.ok(await page.locator('#watch').isHidden(), 'nothing of the run is shown');

  // From now on by the whole address: the browser sees no other page in it.
  const requests = [];
  page.on('request', (request) => requests.push(request));
  await page.evaluate((hash) => { location.hash = hash; }, `token=${token}`);
  await shown(page);
  await page.locator('#pause').click();
  await eventually(() => text(page, '#state'), (words) => /^paused, step \d+ of/.test(words), 'it does not pause');
  const [file] = await Promise.all([page.waitForEvent('download'), page.locator('#series').click()]);
  assert.equal(file.suggestedFilename(), 'series.csv');
  assert.match(readFileSync(await file.path(), 'utf8'), /^step,time,/);
  await page.reload();
  await shown(page);
  await page.locator('#home').click();
  await page.getByRole('link', { name: 'Watch runs/open' }).click();
  await shown(page);
  assert.equal(new URL(page.url()).hash, `#token=${token}`);

  const seen = await Promise.all(requests.map(async (request) => [new URL(request.url()), await request.allHeaders()]));
  const asked = seen.filter(([{ pathname }]) => pathname.startsWith('/api/'));
  for (const kind of ['run', 'progress', 'live', 'series.csv', 'order', 'gallery']) {
    assert.ok(asked.some(([{ pathname }]) => pathname === `/api/${kind}`), `${kind} was not asked for`);
  }
  assert.ok(asked.every(([, headers]) => headers['x-gluey-token'] === token));
  for (const [{ pathname, search }, headers] of seen) {
    assert.ok(!`${pathname}${search}${headers.referer ?? ''}`.includes(token), `${pathname}${search} tells the token`);
  }
});

test('runs that are cut off, damaged or of a newer version are told, and what there is is shown', async (t) => {
  const { url } = await place.serve(t, 'view', HERE);
  for (const name of ['cut', 'damaged', 'newer', 'strange']) place.gluey('run', `--out=runs/${name}`, ...SHORT);
  const frames = (name) => place.path(`runs/${name}/frames.bin`);
  const whole = readFileSync(frames('cut'));
  truncateSync(frames('cut'), whole.length - 100);
  const damaged = readFileSync(frames('damaged'));
  damaged[damaged.lastIndexOf('GFRM')] = 0;
  writeFileSync(frames('damaged'), damaged);
  const bytes = readFileSync(frames('newer'));
  bytes[4] = 9;
  writeFileSync(frames('newer'), bytes);
  const manifest = readFileSync(place.path('runs/strange/manifest.toml'), 'utf8');
  writeFileSync(place.path('runs/strange/manifest.toml'), manifest.replace('format = 1', 'format = 77'));
  const at = (name) => `${url}?run=runs%2F${name}`;

  const cut = await visit(t, browser, at('cut'));
  await shown(cut.page);
  assert.equal(await step(cut.page), 190, 'the frames before');
  await told(cut.page, 'is cut off');
  assert.match(await text(cut.page, '#state'), /^stored/, 'nobody writes it');
  appendFileSync(frames('cut'), whole.subarray(whole.length - 100)); // as if it had been written on
  await until(cut.page, () => document.getElementById('slider').max === '20');
  await until(cut.page, () => document.getElementById('notice').hidden);
  await cut.close();

  const broken = await visit(t, browser, at('damaged'));
  await atStep(broken.page, 190);
  await told(broken.page, 'after that of step 190');
  await broken.close();
  for (const name of ['newer', 'strange']) {
    const { page, close } = await visit(t, browser, at(name));
    await told(page, 'newer version of gluey');
    assert.doesNotMatch(await text(page, '#state'), /being written/);
    await close();
  }
  const none = await visit(t, browser, at('nowhere'));
  await told(none.page, 'no run `runs/nowhere`');
});

test('a run that another process writes is said to be written, and new frames come', async (t) => {
  await place.serve(t, 'run', '--view', HERE, '--out=other', ENDLESS, '--set=output.frame_every=20');
  const { url } = await place.serve(t, 'view', 'other', HERE);
  const { page } = await visit(t, browser, url);
  await shown(page);
  await until(page, () => document.getElementById('state').textContent.startsWith('being written'));
  const there = Number(await page.locator('#slider').getAttribute('max'));
  await until(page, (was) => Number(document.getElementById('slider').max) > was, there);
  assert.ok(await page.locator('#notice').isHidden());
});

test('frames for ParaView are shown where there are no others', async (t) => {
  place.gluey('run', '--out=vtk', ...SHORT, '--set=output.formats=["vtk"]');
  const { url } = await place.serve(t, 'view', 'vtk', HERE);
  const { page, errors } = await visit(t, browser, url);
  await shown(page);
  await page.locator('#first').click();
  await atStep(page, 0);
  assert.deepEqual(errors, []);
});

test('a browser without WebGL2 is told so for good, and time and figures work', async (t) => {
  const plain = await launch('--disable-3d-apis');
  t.after(() => plain.close());
  const { url } = await place.serve(t, 'view', 'stored', HERE);
  const { page } = await visit(t, plain, url);
  await told(page, 'no WebGL2');
  for (let k = 0; k < 2; k += 1) await page.waitForResponse((reply) => reply.url().includes('/api/progress'));
  await page.locator('#first').click();
  await atStep(page, 0);
  assert.match(await text(page, '#notice'), /no WebGL2/);
  await page.locator('#number').fill('3');
  await page.keyboard.press('Enter');
  await until(page, () => document.querySelectorAll('#facts tr').length > 6);
});

test('a scene in space: orbit, pick, section, contacts; on a phone in the dark', async (t) => {
  place.gluey('run', `${scenes}/hopper.toml`, '--out=space', '--until=0.2', '--quiet');
  const { url } = await place.serve(t, 'view', 'space', HERE);
  const { page, errors } = await visit(t, browser, url, { width: 390, height: 844, colorScheme: 'dark', hasTouch: true });
  await shown(page);
  // The particle nearest to the eye hides others, and nothing hides it.
  const front = (await seen(page)).particles.reduce((best, one) => (one.near > best.near ? one : best));
  const box = await page.locator('#picture').boundingBox();
  await page.mouse.click(box.x + front.x, box.y + front.y);
  await until(page, (id) => document.getElementById('number').value === id, String(front.id));
  const marked = await look(page);
  await page.keyboard.press('Escape');
  await differs(page, marked, 'the chosen one is not marked');

  await page.locator('#picture').focus();
  const before = await look(page);
  assert.equal((await look(page)).fingerprint, before.fingerprint, 'it stands still');
  for (let k = 0; k < 5; k += 1) await page.keyboard.press('ArrowLeft');
  const whole = await differs(page, before, 'it does not turn');
  await page.locator('#axis').selectOption('0');
  await eventually(() => look(page), ({ inked }) => inked < 0.8 * whole.inked, 'the section cuts nothing away');
  // The ends of the section's slider are not those of time.
  const now = await step(page);
  await page.locator('#cut').focus();
  await page.keyboard.press('Home');
  await until(page, () => document.getElementById('cut').value === '0');
  await settled(page);
  assert.equal(await step(page), now);
  await page.locator('#axis').selectOption('');
  await page.locator('#show-contacts').check();
  await until(page, () => /contacts/.test(document.getElementById('legend').textContent));
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(width <= 390, `nothing sticks out: ${width}`);
  const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(ground, 'rgb(18, 20, 24)');
  assert.deepEqual(errors, []);
});

test('a sphere larger than a point may be is drawn in its size, and its plane with it', async (t) => {
  place.gluey('run', `${scenes}/ball-and-plane.toml`, '--out=ball', '--until=1.5', '--quiet'); // it lies on the plane then
  const { url } = await place.serve(t, 'view', 'ball', HERE);
  const { page, errors } = await visit(t, browser, url, { deviceScaleFactor: 2 });
  await shown(page);
  assert.match(await text(page, '#state'), /1 particle$/);
  const { corners, particles: [{ radius }], area } = await seen(page);
  assert.ok(corners[0] >= 3, `the plane has corners: ${corners}`);
  const both = await look(page);
  await page.locator('#show-obstacles').uncheck();
  const ball = await differs(page, both, 'the plane is not seen');
  const disc = (Math.PI * radius * radius) / area;
  // Twice for the device, twice for what stands still, twice from a radius to a diameter.
  assert.ok(8 * radius > 1023, `too small to tell: ${radius}`);
  assert.ok(Math.abs(ball.inked / disc - 1) < 0.1, `the ball fills ${ball.inked} of the picture, not ${disc}`);
  // The plane is seen as well while the ball is above it.
  await page.locator('#first').click();
  await atStep(page, 0);
  await page.locator('#fit').click();
  const above = await look(page);
  await page.locator('#show-obstacles').check();
  await differs(page, above, 'the plane is not seen below the ball');
  await page.locator('#show-obstacles').uncheck();
  // The edge of a ball is seen also where its middle is not.
  await page.locator('#latest').click();
  await atStep(page, 150);
  await page.locator('#fit').click();
  await page.locator('#picture').focus();
  const far = Math.ceil((await page.locator('#stage').evaluate(({ clientWidth }) => clientWidth / 2 + 30)) / 24);
  for (let k = 0; k < far; k += 1) await page.keyboard.press('Shift+ArrowRight');
  const part = ({ inked }) => inked / ball.inked;
  await eventually(() => look(page), (edge) => part(edge) > 0.1 && part(edge) < 0.9, 'its edge is not seen');
  assert.deepEqual(errors, []);
});
