// Decides whether a history could have come from snapshot isolation: G0, G1 and every cycle without two anti-dependencies in a row are forbidden.
// Why that is all: in snapshot isolation a transaction has a start and a commit. A dependency (ww, wr) or real time (rt) from S to T means that S
// committed before T started, an anti-dependency (rw) that S started before T committed. A cycle in which no two rw are neighbours would
// have to go forward in time all around. With two in a row it need not: that is write skew, which is allowed and only counted.
import { components, shortestCycle } from './cycles.mjs';
import { Dependencies } from './dependencies.mjs';

/** rt edges by way of one node for each end of a transaction, in order, so that there are few of them. */
function addTime(history, edges) {
  const ended = history.map((transaction, index) => ({ index, ...transaction })).filter(({ status, end }) => status === 'committed' && end !== undefined).sort((a, b) => a.end - b.end);
  const barriers = ended.map(() => edges.push(new Map()) - 1);
  ended.forEach(({ index }, i) => {
    edges[index].set(barriers[i], new Map([['rt', 'time']]));
    if (i > 0) edges[barriers[i - 1]].set(barriers[i], new Map([['rt', 'time']]));
  });
  history.forEach(({ status, begin }, index) => {
    if (status !== 'committed' || begin === undefined) return;
    let low = 0; // how many ended before it began
    for (let high = ended.length; low < high; ) {
      const middle = (low + high) >> 1;
      if (ended[middle].end < begin) low = middle + 1;
      else high = middle;
    }
    if (low > 0) edges[barriers[low - 1]].set(index, new Map([['rt', 'time']]));
  });
}

/** Neighbours along edges of these kinds. */
const along = (edges, kinds) => (node) => [...edges[node]].filter(([, has]) => kinds.some((kind) => has.has(kind))).map(([to]) => to);

/** Each node twice: 2n, reached by a dependency, and 2n + 1, reached by an anti-dependency, from which only a dependency goes on. */
function withoutTwoInARow(edges) {
  return (state) => {
    const found = [];
    for (const [to, kinds] of edges[state >> 1]) {
      if (kinds.has('ww') || kinds.has('wr') || kinds.has('rt')) found.push(2 * to);
      if (kinds.has('rw') && state % 2 === 0) found.push(2 * to + 1);
    }
    return found;
  };
}

/** A cycle as text: T3 -wr x-> T5 -rw y-> T3; what came by way of time is one step. */
function describe(cycle, edges, count) {
  const steps = cycle.map((state, i) => {
    const node = state >> 1;
    const next = cycle[(i + 1) % cycle.length];
    const kinds = edges[node].get(next >> 1);
    const kind = next % 2 === 1 ? 'rw' : ['ww', 'wr', 'rt'].find((name) => kinds.has(name));
    return { node, kind, key: kinds.get(kind) };
  });
  const text = steps.filter(({ node }) => node < count).map(({ node, kind, key }) => `T${node} -${kind === 'rt' ? 'rt' : `${kind} ${key}`}->`);
  const first = steps.find(({ node }) => node < count).node;
  return { text: `${text.join(' ')} T${first}`, kinds: steps.map(({ kind }) => kind), transactions: steps.map(({ node }) => node).filter((node) => node < count) };
}

function classify(kinds) {
  const anti = kinds.filter((kind) => kind === 'rw').length;
  const name = anti > 1 ? 'G-nonadjacent' : anti === 1 ? 'G-single' : kinds.includes('wr') ? 'G1c' : kinds.includes('ww') ? 'G0' : 'time';
  return kinds.includes('rt') ? `${name} in real time` : name;
}

/**
 * @param {object[]} history see dependencies.mjs
 * @returns {{ anomalies: { type: string, text: string, transactions: number[] }[], writeSkews: number, edges: number }} nothing in `anomalies`: all is well
 */
export function check(history) {
  const dependencies = new Dependencies(history);
  const { anomalies, edges } = dependencies;
  const count = history.length;
  const known = edges.reduce((sum, { size }) => sum + size, 0);
  const skewed = components(count, along(edges, ['ww', 'wr', 'rw'])).length;
  addTime(history, edges);
  const reported = new Set();
  // The narrower searches first: a cycle of writes only is worth more than a longer one around it.
  for (const kinds of [['ww'], ['ww', 'wr'], null]) {
    const next = kinds ? (state) => along(edges, kinds)(state >> 1).map((node) => 2 * node) : withoutTwoInARow(edges);
    for (const part of components(2 * edges.length, next)) {
      if (part.some((state) => reported.has(state >> 1))) continue;
      const starts = part.filter((state) => state % 2 === 0 && state >> 1 < count);
      const cycles = starts.slice(0, 200).map((start) => shortestCycle(start, part, next)).filter((cycle) => cycle !== null);
      const { text, kinds: steps, transactions } = describe(cycles.reduce((a, b) => (b.length < a.length ? b : a)), edges, count);
      anomalies.push({ type: classify(steps), text, transactions });
      for (const state of part) if (state >> 1 < count) reported.add(state >> 1);
    }
  }
  return { anomalies, writeSkews: anomalies.length === 0 ? skewed : 0, edges: known };
}
