// Addresses: every view is a path that can be shared, and the browser's buttons work.
import { useEffect, useState } from 'preact/hooks';

export interface Place {
  path: string;
  query: URLSearchParams;
}

const here = (): Place => ({ path: location.pathname, query: new URLSearchParams(location.search) });
const listeners = new Set<() => void>();
const tell = () => listeners.forEach((listener) => listener());

/** Goes to a view. `replace`: without a new entry in the history. */
export function go(address: string, replace = false) {
  if (address === location.pathname + location.search) return;
  history[replace ? 'replaceState' : 'pushState'](null, '', address);
  if (!replace) scrollTo(0, 0);
  tell();
}

addEventListener('popstate', tell);

// Links to views are followed without loading the page again; those to the API and to other places are left alone.
document.addEventListener('click', (event) => {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = (event.target as Element).closest?.('a');
  const href = link?.getAttribute('href');
  if (!link || !href?.startsWith('/') || link.target || link.hasAttribute('download')) return;
  if (/^\/(v1|docs|openapi\.json|metrics|healthz|readyz)\b/.test(href)) return;
  event.preventDefault();
  go(href);
});

export function usePlace(): Place {
  const [place, setPlace] = useState(here);
  useEffect(() => {
    const listener = () => setPlace(here());
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return place;
}

/** The parts of a path behind its first one, decoded: /explorer/block/0x1 gives ["block", "0x1"]. */
export const partsOf = (path: string) => path.split('/').slice(2).filter(Boolean).map(decodeURIComponent);

/** Focus and title follow the view, so that keyboards and screen readers notice the change. */
export function useTitle(title: string) {
  useEffect(() => {
    document.title = `${title} · Braid`;
  }, [title]);
}
