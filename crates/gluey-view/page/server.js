// Asks the server that this page came from, and nobody else.
//
// Where other machines reach the page its address ends with the token that the server wants, behind a #: browsers send
// that part to nobody. Elsewhere the page has the token in it.

const own = document.querySelector('meta[name="gluey-token"]').content;
const given = new URLSearchParams(location.hash.slice(1)).get('token');
const token = own || given;

/** The address of the page of a run, or of all scenes and runs. */
export function pageOf(run) {
  const query = run ? `?${new URLSearchParams({ run })}` : '';
  return `/${query}${given ? `#${new URLSearchParams({ token: given })}` : ''}`;
}

/** What the server said instead of an answer, or that it is gone. */
export class ServerError extends Error {}

async function send(path, query, { headers, ...options } = {}) {
  const url = query ? `${path}?${new URLSearchParams(query)}` : path;
  let reply;
  try {
    reply = await fetch(url, { headers: token ? { ...headers, 'X-Gluey-Token': token } : headers, ...options });
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

/** A file. */
export async function askFile(path, query) {
  return (await send(path, query)).blob();
}

/** The bytes of a frame and its number, or null if there is none yet. */
export async function askFrame(path, query, signal) {
  const reply = await send(path, query, { signal });
  if (reply.status === 204) return null;
  return { bytes: await reply.arrayBuffer(), number: Number(reply.headers.get('X-Gluey-Number')) };
}

export async function tell(path, query, body) {
  const headers = { 'Content-Type': 'application/json' };
  return (await send(path, query, { method: 'POST', headers, body: JSON.stringify(body) })).json();
}
