// A gluey command and a browser for tests.

import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const repository = resolve(dirname(fileURLToPath(import.meta.url)), '../../../..');
export const gluey = process.env.GLUEY ?? join(repository, 'target/release/gluey');
export const scenes = join(repository, 'scenes');

/** Software rendering, as on a machine without a graphics card; nothing is asked of the internet. */
const FLAGS = ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--no-first-run'];

/** How long anything may take, on a machine that has much else to do (milliseconds). */
const PATIENCE = 60000;

export const launch = (...more) => chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: [...FLAGS, ...more], timeout: PATIENCE,
});

export const pause = (milliseconds) => new Promise((done) => { setTimeout(done, milliseconds); });

export class Place {
  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'gluey-view-'));
  }

  path(name) {
    return join(this.folder, name);
  }

  /** Runs a command to its end. */
  gluey(...words) {
    const done = spawnSync(gluey, words, { cwd: this.folder, encoding: 'utf8' });
    if (done.status !== 0) throw new Error(done.stderr);
    return done.stdout;
  }

  /** Starts a command that serves until the test `t` ends, and gives the address it prints and how to end it before. */
  async serve(t, ...words) {
    const child = spawn(gluey, words, { cwd: this.folder, stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = new Promise((done) => child.once('exit', done));
    t.after(async () => {
      child.kill('SIGKILL');
      await ended;
    });
    let told = '';
    const url = await new Promise((found, failed) => {
      const fail = (what) => failed(new Error(`gluey ${words.join(' ')} ${what}:\n${told}`));
      const late = setTimeout(() => fail(`printed no address in ${PATIENCE / 1000} s`), PATIENCE);
      const hear = (text) => {
        told += text;
        const match = told.match(/Watch at (\S+)\n/);
        if (!match) return;
        clearTimeout(late);
        found(match[1]);
      };
      child.stdout.on('data', hear);
      child.stderr.on('data', hear);
      ended.then((code) => {
        clearTimeout(late);
        fail(`ended with ${code}`);
      });
    });
    const stop = async () => {
      child.kill('SIGINT');
      return ended;
    };
    return { url, stop, told: () => told, child };
  }

  close() {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A page, open until the test `t` ends, and the errors it has told of. */
export async function visit(t, browser, url, { width = 960, height = 640, ...more } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, acceptDownloads: true, ...more });
  t.after(() => context.close());
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  const errors = [];
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  page.on('pageerror', (error) => errors.push(String(error)));
  await page.goto(url);
  return { page, errors, close: () => context.close() };
}

export const step = async (page) => Number(await page.locator('#picture').getAttribute('data-step') ?? -1);

/** Waits until a function of the page is true. */
export const until = (page, condition, argument) => page.waitForFunction(condition, argument, { timeout: PATIENCE, polling: 50 });

export const shown = (page) => until(page, () => document.getElementById('picture').dataset.step !== undefined);

export const atStep = (page, wanted) => until(page, (text) => document.getElementById('picture').dataset.step === text, String(wanted));

/** Waits until the picture is as it will stay while nothing is done, and is on the screen. */
export async function settled(page) {
  await until(page, () => document.getElementById('picture').dataset.settled === 'true');
  await page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));
}

/** Waits until `condition` of what `find` gives holds; fails with the last of it. */
export async function eventually(find, condition, what) {
  const end = Date.now() + PATIENCE;
  for (;;) {
    const found = await find();
    if (condition(found)) return found;
    if (Date.now() > end) throw new Error(`${what}: ${JSON.stringify(found)}`);
    await pause(50);
  }
}

/**
 * The settled picture in numbers: a fingerprint, the share of pixels that are not like the first one, which is the ground,
 * and the share with a colour, not black, white or grey. Without its border, which shows the focus.
 */
export async function look(page) {
  await settled(page);
  const border = 6 * await page.evaluate(() => devicePixelRatio);
  return measure(page, await page.locator('#stage').screenshot(), border);
}

/** The same of the bytes of a PNG file. */
export function measure(page, png, border = 0) {
  return page.evaluate(async ([text, cut]) => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const [width, height] = [image.width - 2 * cut, image.height - 2 * cut];
    const flat = new OffscreenCanvas(width, height).getContext('2d');
    flat.drawImage(image, -cut, -cut);
    const { data } = flat.getImageData(0, 0, width, height);
    let [fingerprint, inked, coloured] = [0, 0, 0];
    for (let k = 0; k < data.length; k += 4) {
      const [red, green, blue] = [data[k], data[k + 1], data[k + 2]];
      fingerprint = (31 * fingerprint + (red << 16) + (green << 8) + blue) >>> 0;
      inked += Math.abs(red - data[0]) + Math.abs(green - data[1]) + Math.abs(blue - data[2]) > 60;
      coloured += Math.max(red, green, blue) - Math.min(red, green, blue) > 60;
    }
    const all = width * height;
    return { fingerprint, inked: inked / all, coloured: coloured / all, width: image.width, height: image.height };
  }, [png.toString('base64'), border]);
}
