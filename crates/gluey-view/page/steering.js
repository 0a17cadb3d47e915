// The simulation itself: pause and go on, one step, change a value, start anew.

import { tell } from './server.js';

/** What a key of the scene is called here. */
const NAMES = {
  'environment.gravity': 'gravity',
  'contact.law.gluey.gamma_min': 'γ_min, the most glue (−inf is smooth)',
};

export class Steering {
  constructor(run, { changed, trouble, restarted }) {
    Object.assign(this, { run, changed, trouble, restarted });
    this.element = (id) => document.getElementById(id);
    this.forms = new Map();
    this.element('pause').addEventListener('click', () => this.toggle());
    this.element('step').addEventListener('click', () => this.order({ order: 'step' }));
    this.element('restart').addEventListener('click', () => this.restart());
  }

  async order(order) {
    try {
      await tell('/api/order', { run: this.run }, order);
      this.changed();
    } catch (error) {
      this.trouble(error);
    }
  }

  toggle() {
    if (this.status) this.order({ order: this.status.phase === 'paused' ? 'resume' : 'pause' });
  }

  async restart() {
    try {
      this.restarted((await tell('/api/order', { run: this.run }, { order: 'restart' })).run);
    } catch (error) {
      this.trouble(error);
    }
  }

  show(status) {
    this.status = status;
    const open = status.phase === 'running' || status.phase === 'paused';
    this.element('pause').textContent = status.phase === 'paused' ? 'Go on' : 'Pause';
    this.element('pause').disabled = !open;
    this.element('step').disabled = !open;
    const bar = this.element('progress');
    [bar.max, bar.value] = [Math.max(1, status.last), status.step];
    bar.title = `step ${status.step} of ${status.last}`;
    for (const [key, setting] of Object.entries(status.values)) this.form(key, setting, open);
    // What was refused does not stand there as if it held.
    if (status.message && status.message !== this.refused) this.reset();
    this.refused = status.message;
  }

  /** Gives the fields whose content was sent the values that hold. */
  reset() {
    for (const { input, last, sent } of this.forms.values()) if (sent) input.value = last ?? '';
  }

  /** A field for a value; what is being typed is left alone. */
  form(key, { value, varies }, open) {
    if (!this.forms.has(key)) {
      const form = document.createElement('form');
      const input = Object.assign(document.createElement('input'), { type: 'text', id: `value-${key}`, spellcheck: false });
      const label = Object.assign(document.createElement('label'), { htmlFor: input.id, textContent: NAMES[key] ?? key });
      const button = Object.assign(document.createElement('button'), { textContent: 'Set' });
      form.append(label, input, button);
      form.addEventListener('submit', (event) => {
        event.preventDefault();
        this.forms.get(key).sent = true;
        this.order({ order: 'change', key, value: input.value });
      });
      input.addEventListener('input', () => { this.forms.get(key).sent = false; });
      this.element('values').append(form);
      this.forms.set(key, { input, button, last: undefined, sent: true });
    }
    const entry = this.forms.get(key);
    entry.input.placeholder = value ?? (varies ? 'changes in time or space' : 'not set');
    if (value !== entry.last) {
      entry.last = value;
      if (entry.sent || document.activeElement !== entry.input) entry.input.value = value ?? '';
    }
    entry.input.disabled = !open;
    entry.button.disabled = !open;
  }
}
