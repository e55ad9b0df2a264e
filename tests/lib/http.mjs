// Requests to the HTTP API, and raw bytes to its port.
import assert from 'node:assert/strict';
import { connect } from 'node:net';

/** Asks for a path; the body of the answer as JSON if it is JSON. */
export async function ask(base, path, options = {}) {
  const response = await fetch(base + path, options);
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') && text !== '';
  return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined };
}

/** The JSON of an answer with status 200. */
export async function get(base, path, options = {}) {
  const { status, json, text } = await ask(base, path, options);
  assert.equal(status, 200, `${path}: ${text}`);
  return json;
}

export const post = (base, path, body, type = 'application/json') =>
  ask(base, path, { method: 'POST', headers: { 'content-type': type }, body: typeof body === 'string' ? body : JSON.stringify(body) });

/** Sends bytes and gives everything that comes until the server closes, or until `enough` says so. */
export function raw(base, bytes, enough = () => false) {
  const { hostname, port } = new URL(base);
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.on('data', (data) => {
      answer += data.toString('latin1');
      if (enough(answer)) socket.destroy();
    });
    socket.on('error', (error) => (answer === '' && error.code !== 'ECONNRESET' ? reject(error) : undefined));
    socket.on('close', () => resolve(answer));
  });
}
