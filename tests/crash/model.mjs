// What a store may hold after a crash, from the record of what was asked of it. Every document belongs to one worker, and a worker asks for one thing at a
// time, so its documents are in the state after some of its operations. Which ones are possible:
//   - what was acknowledged as durable is there, and so is what was acknowledged before a durable operation was sent: the log has one order;
//   - of the rest, some of the oldest: never a later one without an earlier one;
//   - what was refused, aborted, or whose commit was never sent is not;
//   - what was in flight is there or not: as a whole, as the first of its changes, or each change by itself.

const keyOf = (collection, id) => `${collection}:${id}`;
const show = (document) => (document ? JSON.stringify(document) : 'nothing');
const canonical = (document) => (document ? JSON.stringify(Object.entries(document).sort(([a], [b]) => (a < b ? -1 : 1))) : '');
const same = (a, b) => canonical(a) === canonical(b);

/** Documents by collection and _id. */
export class State extends Map {
  get(collection, id) {
    return super.get(keyOf(collection, id));
  }

  put(collection, id, document) {
    if (document) super.set(keyOf(collection, id), document);
    else super.delete(keyOf(collection, id));
  }

  with(changes) {
    const after = new State(this);
    for (const change of changes) after.put(...change);
    return after;
  }

  /** Where the other differs. */
  differences(other) {
    const keys = new Set([...this.keys(), ...other.keys()]);
    return [...keys].filter((key) => !same(super.get(key), Map.prototype.get.call(other, key)));
  }

  text(key) {
    return show(super.get(key));
  }
}

/** How much of an operation the actual state has, if it is `before` and a part of the operation: the number of its changes; −1: it is something else. */
function part(before, { how, changes }, actual) {
  const differing = new Set(before.differences(actual));
  const applied = changes.map(([collection, id, document]) => same(actual.get(collection, id), document) && differing.delete(keyOf(collection, id)));
  const count = applied.filter(Boolean).length;
  if (differing.size > 0) return -1;
  if (how === 'whole' && count > 0 && count < changes.length) return -1;
  if (how === 'prefix' && applied.lastIndexOf(true) >= count) return -1;
  return count;
}

/** The place of the last durable acknowledgement's operation: what was acknowledged before it was sent is durable too. */
export const horizonOf = (operations) => operations.reduce((last, { outcome, durable, sent }) => (outcome === 'done' && durable ? Math.max(last, sent) : last), -1);

/**
 * One worker after a crash.
 * @param {State} base its documents when it began
 * @param {object[]} operations its operations since then, in order, as Record.read gives them
 * @returns {{ problem: string } | { stored: number, lost: number }} `stored`: how many changes of the last operation are there; `lost`: how many operations that
 *   were acknowledged, but not as durable, are not
 */
export function judge(base, operations, horizon, actual) {
  const effective = operations.filter(({ outcome, commits }) => outcome === 'done' || (outcome === 'unknown' && commits));
  const certain = effective.findLastIndex(({ outcome, durable, answered }) => outcome === 'done' && (durable || answered < horizon));
  let state = base.with(effective.slice(0, certain + 1).flatMap(({ changes }) => changes));
  // The state is that after the first `count` effective operations, and `stored` changes of the last of them.
  const found = (count, stored) => ({
    stored: count > 0 && effective[count - 1] === operations.at(-1) ? stored : 0,
    lost: effective.slice(count).filter(({ outcome }) => outcome === 'done').length,
  });
  let nearest = null;
  for (let i = certain; i < effective.length; ++i) {
    if (i > certain) state = state.with(effective[i].changes);
    const differences = state.differences(actual);
    if (differences.length === 0) return found(i + 1, effective[i]?.changes.length);
    const next = effective[i + 1];
    const count = next ? part(state, next, actual) : -1;
    if (count >= 0) return found(i + 2, count);
    if (nearest === null || differences.length < nearest.differences.length) nearest = { state, differences, after: effective[i] };
  }
  const { differences, after } = nearest;
  const lines = differences.slice(0, 10).map((key) => {
    const [collection, id] = [key.slice(0, key.indexOf(':')), key.slice(key.indexOf(':') + 1)];
    const touched = operations.filter(({ changes }) => changes.some(([c, i]) => c === collection && i === id)).slice(-4);
    const history = touched.map((o) => `#${o.id} ${o.kind}${o.durable ? '' : ' j: false'} ${o.outcome}${o.commits ? '' : ' (commit not sent)'}`);
    return `  ${key} is ${actual.text(key)}, expected ${nearest.state.text(key)}; ${history.join(', ') || 'nobody wrote it'}`;
  });
  return { problem: [`${differences.length} documents are in no possible state; nearest is that after #${after?.id ?? 'the beginning'}`, ...lines].join('\n') };
}
