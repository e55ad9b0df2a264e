// Pages of a list: `next` is where the next one begins, and the way back is the browser's history.
import type { ComponentChildren } from 'preact';
import { go, usePlace } from './router';

/** The path of the API with the position that the address has. */
export function pagedPath(path: string, query: URLSearchParams, limit: number, name = 'after'): string {
  const after = query.get(name);
  const join = path.includes('?') ? '&' : '?';
  return `${path}${join}limit=${limit}${after ? `&${name === 'from' ? 'from' : 'after'}=${encodeURIComponent(after)}` : ''}`;
}

/** Buttons to the next page and back to the first. */
export function Pages({ next, name = 'after', note }: { next?: string | number | null; name?: string; note?: ComponentChildren }) {
  const { path, query } = usePlace();
  const at = (value?: string) => {
    const wanted = new URLSearchParams(query);
    if (value === undefined) wanted.delete(name);
    else wanted.set(name, value);
    return path + (String(wanted) ? `?${wanted}` : '');
  };
  const first = !query.has(name);
  if (first && !next) return null;
  return (
    <div class="pages">
      {note}
      <button type="button" class="action" disabled={first} onClick={() => go(at())}>
        First page
      </button>
      <button type="button" class="action" disabled={!next} onClick={() => go(at(String(next)))}>
        Next page
      </button>
    </div>
  );
}
