// Asks the server that this page came from, and nobody else.

const token = document.querySelector('meta[name="gluey-token"]').content;

/** What the server said instead of an answer, or that it is gone. */
export class ServerError extends Error {}

async function send(path, query, options) {
  const url = query ? `${path}?${new URLSearchParams(query)}` : path;
  let reply;
  try {
    reply = await fetch(url, options);
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    const gone = new ServerError('gluey does not answer: the command may have ended');
    gone.gone = true;
    throw gone;
  }
  if (!reply.ok) throw new ServerError(await reply.text());
  return reply;
}

export async function ask(path, query) {
  return (await send(path, query)).json();
}

/** The bytes of a frame and its number, or null if there is none yet. */
export async function askFrame(path, query, signal) {
  const reply = await send(path, query, { signal });
  if (reply.status === 204) return null;
  return { bytes: await reply.arrayBuffer(), number: Number(reply.headers.get('X-Gluey-Number')) };
}

export async function tell(path, query, body) {
  const headers = { 'Content-Type': 'application/json', 'X-Gluey-Token': token };
  return (await send(path, query, { method: 'POST', headers, body: JSON.stringify(body) })).json();
}
