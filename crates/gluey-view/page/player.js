// Which frame is shown: stored ones by play, step and slider, or the newest of a live simulation.
//
// A frame is asked for when the last one is there, so that a slow page shows fewer frames and never lags behind.

import { askFrame } from './server.js';
import { decode } from './frame.js';

/** Frames a second at speed 1. */
const RATE = 25;
/** Bytes of decoded frames that are kept. */
const MEMORY = 256 << 20;
/** Frames asked for ahead of time while playing. */
const AHEAD = 3;

export class Player {
  constructor(run, { show, tell, changed }) {
    Object.assign(this, { run, show, tell, changed });
    this.steps = [];
    this.times = [];
    this.index = -1;
    this.cursor = 0;
    this.speed = 1;
    this.playing = false;
    this.following = false;
    this.lost = false; // whether it would be following had the server answered
    this.stride = 1;
    this.cache = new Map();
    this.kept = 0;
    this.wanted = null;
    this.busy = false;
    this.epoch = 0;
  }

  get length() {
    return this.steps.length;
  }

  /** Frames that have been recorded meanwhile. */
  add(steps, times) {
    for (const step of steps) this.steps.push(step); // one by one: the stack has no room for a long run
    for (const time of times) this.times.push(time);
  }

  clear() {
    this.steps = [];
    this.times = [];
    this.index = -1;
    this.cache.clear();
    this.kept = 0;
  }

  play(on = !this.playing) {
    this.playing = on && this.length > 0;
    if (this.playing) {
      this.lost = false;
      this.follow(false);
      if (this.index >= this.length - 1) this.index = -1;
      this.cursor = Math.max(0, this.index);
      this.last = performance.now();
      requestAnimationFrame((now) => this.tick(now));
    }
    this.changed();
  }

  tick(now) {
    if (!this.playing) return;
    // A frame's time may lie before the moment at which play was pressed.
    this.cursor += (Math.max(0, now - this.last) / 1000) * RATE * this.speed;
    this.last = Math.max(now, this.last);
    const end = this.length - 1;
    if (this.cursor >= end && this.index >= end && !this.busy) {
      this.playing = false;
      this.changed();
      return;
    }
    const next = Math.min(end, Math.floor(this.cursor));
    if (next !== this.index && !this.busy) {
      this.stride = Math.max(1, next - this.index);
      this.go(next);
      for (let k = 1; k <= AHEAD; k += 1) {
        const ahead = next + k * this.stride;
        if (ahead <= end) this.fetch(this.steps[ahead]).catch(() => {}); // told when it is due
      }
    }
    requestAnimationFrame((later) => this.tick(later));
  }

  /** A step on or back by the reader's hand. */
  move(by) {
    this.seek((this.index < 0 ? this.length - 1 : this.index) + by);
  }

  seek(index) {
    if (!this.length) return;
    this.playing = false;
    this.lost = false;
    this.follow(false);
    this.go(Math.min(this.length - 1, Math.max(0, index)));
    this.changed();
  }

  seekTime(time) {
    if (!this.length) return;
    let best = 0;
    this.times.forEach((other, k) => {
      if (Math.abs(other - time) < Math.abs(this.times[best] - time)) best = k;
    });
    this.seek(best);
  }

  /** Shows a stored frame; of several asked for meanwhile, the last. */
  async go(index) {
    this.index = index;
    this.wanted = this.steps[index];
    if (this.busy) return;
    this.busy = true;
    const epoch = this.epoch;
    while (this.wanted !== null && !this.following) {
      const step = this.wanted;
      this.wanted = null;
      try {
        const frame = await this.fetch(step);
        if (epoch === this.epoch && !this.following) this.show(frame);
      } catch (error) {
        this.playing = false;
        this.tell(error);
      }
    }
    this.busy = false;
    this.changed();
  }

  fetch(step) {
    if (this.cache.has(step)) return this.cache.get(step);
    const loading = askFrame('/api/frame', { run: this.run, step }).then(({ bytes }) => {
      const frame = decode(bytes);
      this.kept += frame.bytes;
      for (const [old, promise] of this.cache) {
        if (this.kept <= MEMORY || old === step) break;
        this.cache.delete(old);
        promise.then((gone) => { this.kept -= gone.bytes; });
      }
      return frame;
    });
    this.cache.set(step, loading);
    loading.catch(() => this.cache.delete(step));
    return loading;
  }

  /** Shows the newest frame of a live simulation, again and again. */
  follow(on) {
    if (on === this.following) return;
    this.following = on;
    this.lost = false;
    this.epoch += 1;
    if (on) {
      this.playing = false;
      this.watch(this.epoch);
    }
    this.changed();
  }

  async watch(epoch) {
    let number = 0;
    while (this.following && epoch === this.epoch) {
      try {
        const newest = await askFrame('/api/live', { run: this.run, after: number });
        if (epoch !== this.epoch) return;
        if (newest) {
          number = newest.number;
          this.index = -1;
          this.show(decode(newest.bytes));
          await new Promise(requestAnimationFrame); // one frame a picture
        } else if (this.ended) {
          this.follow(false);
          this.go(this.length - 1);
        }
      } catch (error) {
        this.follow(false);
        this.lost = true;
        this.tell(error);
      }
    }
  }
}
