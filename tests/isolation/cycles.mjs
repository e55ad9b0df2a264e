// Cycles in a graph whose edges have kinds: strongly connected parts, and a shortest cycle in each.

/** The strongly connected parts with more than one node. Without recursion: histories are long. `next(node)` lists neighbours. */
export function components(count, next) {
  const order = new Int32Array(count).fill(-1);
  const low = new Int32Array(count);
  const onStack = new Uint8Array(count);
  const stack = [];
  const found = [];
  let last = 0;
  for (let root = 0; root < count; ++root) {
    if (order[root] >= 0) continue;
    const work = [{ node: root, neighbours: null, at: 0 }];
    while (work.length > 0) {
      const frame = work.at(-1);
      const { node } = frame;
      if (frame.neighbours === null) {
        order[node] = low[node] = last++;
        stack.push(node);
        onStack[node] = 1;
        frame.neighbours = next(node);
      }
      if (frame.at < frame.neighbours.length) {
        const to = frame.neighbours[frame.at++];
        if (order[to] < 0) work.push({ node: to, neighbours: null, at: 0 });
        else if (onStack[to]) low[node] = Math.min(low[node], order[to]);
        continue;
      }
      work.pop();
      if (work.length > 0) low[work.at(-1).node] = Math.min(low[work.at(-1).node], low[node]);
      if (low[node] !== order[node]) continue;
      const part = stack.splice(stack.indexOf(node));
      for (const member of part) onStack[member] = 0;
      if (part.length > 1) found.push(part);
    }
  }
  return found;
}

/** A shortest path from `start` back to it within `part`: its nodes, `start` first. */
export function shortestCycle(start, part, next) {
  const allowed = new Set(part);
  const before = new Map();
  const queue = [start];
  for (let i = 0; i < queue.length; ++i) {
    for (const to of next(queue[i])) {
      if (to === start) {
        const path = [queue[i]];
        while (path[0] !== start) path.unshift(before.get(path[0]));
        return path;
      }
      if (!allowed.has(to) || before.has(to)) continue;
      before.set(to, queue[i]);
      queue.push(to);
    }
  }
  return null;
}
