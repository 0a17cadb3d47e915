// Scenes to start and runs to watch.

import { ask, pageOf, tell } from './server.js';

const make = (name, properties, ...children) => {
  const node = Object.assign(document.createElement(name), properties);
  node.append(...children);
  return node;
};

function sceneCard(scene, { open, trouble }) {
  const button = make('button', { type: 'button', className: 'main', textContent: 'Run', disabled: Boolean(scene.trouble) });
  button.setAttribute('aria-label', `Run ${scene.name}`);
  button.addEventListener('click', async () => {
    button.disabled = true;
    try {
      open((await tell('/api/start', null, { scene: scene.scene })).run);
    } catch (error) {
      trouble(error);
    }
    button.disabled = false;
  });
  const kind = make('span', { className: 'hint kind', textContent: scene.dimension ? `${scene.dimension}D` : '' });
  return make('li', {}, make('h3', { textContent: scene.name }),
    make('p', { textContent: scene.trouble ?? scene.description ?? '', className: scene.trouble ? 'trouble' : '' }),
    make('div', { className: 'row' }, make('span', { className: 'hint', textContent: scene.scene }), kind, button));
}

function runCard(run) {
  const phase = run.phase ? `${run.phase} now` : run.changed ? new Date(1000 * run.changed).toLocaleString() : '';
  const link = make('a', { className: 'button', href: pageOf(run.run), textContent: 'Watch' });
  link.setAttribute('aria-label', `Watch ${run.run}`);
  return make('li', {}, make('h3', { textContent: run.run }),
    make('p', { textContent: run.trouble ?? run.name ?? '', className: run.trouble ? 'trouble' : '' }),
    make('div', { className: 'row' }, make('span', { className: 'hint', textContent: phase }), link));
}

export async function showGallery({ open, trouble }) {
  const [scenes, runs] = ['scenes', 'runs'].map((id) => document.getElementById(id));
  const refresh = async () => {
    const gallery = await ask('/api/gallery');
    scenes.replaceChildren(...gallery.scenes.map((scene) => sceneCard(scene, { open, trouble })));
    const newest = gallery.runs.sort((a, b) => (b.changed ?? 0) - (a.changed ?? 0));
    runs.replaceChildren(...newest.map(runCard));
    if (!newest.length) runs.append(make('li', {}, make('p', { textContent: 'No run yet: start a scene.' })));
  };
  await refresh();
}
