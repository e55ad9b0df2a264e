// Random choices from a seed: BRAID_SEED, or a new one.
export const newSeed = () => Number(process.env.BRAID_SEED ?? Math.floor(Math.random() * 1e9));

/** The same seed gives the same choices. */
export function generator(seed) {
  let state = seed >>> 0;
  const below = (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  return {
    below,
    between: (low, high) => low + below(high - low + 1),
    pick: (items) => items[below(items.length)],
    chance: (n) => below(n) === 0,
    /** One of [[weight, item], …]. */
    weighted(choices) {
      let at = below(choices.reduce((sum, [weight]) => sum + weight, 0));
      return choices.find(([weight]) => (at -= weight) < 0)[1];
    },
    /** A generator of its own for each of several workers. */
    fork: () => generator(below(2 ** 31)),
  };
}
