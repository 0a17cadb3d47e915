// Measures, by hand: pictures a second, how long the page is blocked, and what watching costs a simulation.
//
//     node speed.mjs            all of it, in some minutes
//
// On a machine that does other work the figures are lower: the load is printed with them.

import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { Place, launch, scenes, settled, shown, visit } from './harness.mjs';

const wait = (seconds) => new Promise((done) => { setTimeout(done, 1000 * seconds); });
const ends = []; // what is open until the end
const t = { after: (end) => ends.push(end) };
const load = () => `load ${loadavg()[0].toFixed(1)}`;

const ticks = (stat) => stat.slice(stat.lastIndexOf(')') + 2).split(' ');
const seconds = (stat) => ticks(stat).slice(11, 13).reduce((sum, one) => sum + Number(one), 0) / 100;

/** CPU seconds of all processes of the browsers that this process started. */
function spent() {
  const stats = readdirSync('/proc').filter((name) => /^\d+$/.test(name)).flatMap((name) => {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      return [{ pid: Number(name), parent: Number(ticks(stat)[1]), name: stat.match(/\((.*)\)/)[1], stat }];
    } catch {
      return []; // it has ended
    }
  });
  const mine = new Set([process.pid]);
  for (let before = 0; before !== mine.size;) {
    before = mine.size;
    for (const { pid, parent } of stats) if (mine.has(parent)) mine.add(pid);
  }
  return stats.filter(({ pid, name }) => mine.has(pid) && name.startsWith('chrom')).reduce((sum, { stat }) => sum + seconds(stat), 0);
}

/** Chromium composes a page itself where there is no graphics card, and through the renderer of WebGL only where told to. */
const COMPOSED = { 'by the processor': ['--disable-gpu-compositing'], 'through WebGL': [] };

/** Plays a run for some seconds and counts pictures and long tasks. */
async function play(place, run, seconds, composed) {
  const { url, stop } = await place.serve(t, 'view', run, '--listen=127.0.0.1:0');
  const browser = await launch(...COMPOSED[composed]);
  const { page } = await visit(t, browser, url, { width: 960 + 316, height: 640 + 80 });
  await shown(page);
  await page.locator('#speed').selectOption('2');
  await page.locator('#first').click();
  await settled(page); // the finer picture of what stands still is no part of playing
  await page.evaluate(() => {
    window.tasks = [];
    new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map((entry) => entry.duration)))
      .observe({ type: 'longtask' });
  });
  await page.locator('#play').click();
  const drawn = () => page.evaluate(() => Number(document.getElementById('picture').dataset.drawn));
  const [before, busy] = [await drawn(), spent()];
  await wait(seconds);
  const pictures = (await drawn()) - before;
  const each = (1000 * (spent() - busy)) / pictures;
  const tasks = await page.evaluate(() => window.tasks);
  const size = await page.locator('#picture').evaluate(({ width, height, dataset }) => `${dataset.count} particles at ${width}x${height}`);
  console.log(`${run}, composed ${composed}: ${size}, ${(pictures / seconds).toFixed(1)} pictures a second, ${each.toFixed(0)} ms of CPU each, longest task ${Math.max(0, ...tasks).toFixed(0)} ms (${load()})`);
  await browser.close();
  await stop();
}

/** CPU seconds of a run, with or without somebody who asks for every frame and for all news. */
async function cost(place, name, words, watched) {
  const out = `${name}-${watched ? 'watched' : 'alone'}`;
  const { url, stop, child, told } = await place.serve(t, 'run', ...words, '--view', '--listen=127.0.0.1:0', '--threads=1', `--out=${out}`);
  const ended = () => told().includes('The page stays');
  const ask = (path) => fetch(new URL(`${path}&run=${out}`, url));
  let shown = 0;
  const frames = async () => {
    for (let after = 0; !ended();) {
      const reply = await ask(`/api/live?after=${after}`);
      await reply.arrayBuffer();
      if (reply.status !== 200) continue;
      after = Number(reply.headers.get('X-Gluey-Number'));
      shown += 1;
    }
  };
  const news = async () => {
    for (let [bytes, after] = [0, 0]; !ended(); await wait(0.3)) {
      const reply = await (await ask(`/api/progress?bytes=${bytes}&after=${after}`)).json();
      bytes = reply.bytes;
      after = reply.steps.at(-1) ?? after;
    }
  };
  if (watched) await Promise.all([frames(), news()]);
  while (!ended()) await wait(0.1);
  const all = seconds(readFileSync(`/proc/${child.pid}/stat`, 'utf8'));
  await stop();
  return { all, shown };
}

const place = new Place();
const funnel = [`${scenes}/funnel.toml`, '--set=output.formats=["compact"]'];
place.gluey('run', ...funnel, '--out=funnel', '--until=0.4', '--set=output.frame_every=1', '--quiet');
for (const composed of Object.keys(COMPOSED)) await play(place, 'funnel', 3, composed);

const lattice = `name = "many"
time = { dt = 1e-3, until = 0.04 }
environment.gravity = [0, 0, -10]
output = { frame_every = 1, formats = ["compact"] }
[[particles]]
mass = 1
source.lattice = { lower = [0, 0, 0.2], upper = [53, 53, 43], spacing = 1.05, radius = 0.5, count = 100000 }
[[obstacle]]
name = "floor"
shape.half-space = { point = [0, 0, 0], normal = [0, 0, 1] }
`;
writeFileSync(place.path('many.toml'), lattice);
place.gluey('run', 'many.toml', '--out=many', '--quiet');
for (const composed of Object.keys(COMPOSED)) await play(place, 'many', 8, composed);

for (const [name, words] of [['lotto', ['--until=4', '--set=output.formats=["compact"]']], ['funnel', [...funnel, '--until=0.6']]]) {
  const times = [[], []];
  let frames = 0;
  for (let k = 0; k < 2; k += 1) {
    for (const watched of [0, 1]) {
      const { all, shown } = await cost(place, `${name}${k}`, words, watched === 1);
      times[watched].push(all);
      frames = Math.max(frames, shown);
    }
  }
  const [alone, watched] = times.map((list) => Math.min(...list));
  console.log(`${name}: ${alone.toFixed(2)} s of CPU alone, ${watched.toFixed(2)} s watched: ${(100 * (watched / alone - 1)).toFixed(1)} % more, for ${frames} frames (${load()})`);
}
for (const end of ends) await end();
place.close();
