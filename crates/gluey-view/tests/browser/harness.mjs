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

export const launch = () => chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: FLAGS });

export class Place {
  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'gluey-view-'));
    this.processes = [];
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

  /** Starts a command that serves, and gives the address it prints and how to end it. */
  async serve(...words) {
    const child = spawn(gluey, words, { cwd: this.folder, stdio: ['ignore', 'pipe', 'inherit'] });
    this.processes.push(child);
    const ended = new Promise((done) => child.once('exit', done));
    let told = '';
    const url = await new Promise((found, failed) => {
      child.stdout.on('data', (text) => {
        told += text;
        const match = told.match(/Watch at (\S+)/);
        if (match) found(match[1]);
      });
      ended.then((code) => failed(new Error(`gluey ended with ${code}: ${told}`)));
    });
    const stop = async () => {
      child.kill('SIGINT');
      return ended;
    };
    return { url, stop, told: () => told, child };
  }

  async close() {
    for (const child of this.processes.filter((one) => one.exitCode === null)) {
      const gone = new Promise((done) => child.once('exit', done));
      child.kill('SIGKILL');
      await gone;
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A page whose errors fail the test: call `check` at its end. */
export async function visit(browser, url, { width = 960, height = 640, ...more } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, acceptDownloads: true, ...more });
  const page = await context.newPage();
  const errors = [];
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  page.on('pageerror', (error) => errors.push(String(error)));
  await page.goto(url);
  return { page, errors, close: () => context.close() };
}

export const step = async (page) => Number(await page.locator('#picture').getAttribute('data-step') ?? -1);

/** Waits until a function of the page is true. */
export const until = (page, condition, argument) => page.waitForFunction(condition, argument, { timeout: 40000, polling: 50 });

export const shown = (page) => until(page, () => document.getElementById('picture').dataset.step !== undefined);
