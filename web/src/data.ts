// Answers of the API: asked once or again and again, with what went wrong kept beside what was last known.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
  /** The store has nothing of this kind yet. */
  get missing() {
    return this.status === 404;
  }
}

export async function ask<T>(path: string, signal?: AbortSignal): Promise<T> {
  let response: Response;
  try {
    response = await fetch(path, { signal, headers: { accept: 'application/json' } });
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw error;
    throw new ApiError(0, 'Unreachable', 'The server does not answer.');
  }
  const json = await response.json().catch(() => ({}));
  if (response.ok) return json as T;
  throw new ApiError(response.status, json.error?.code ?? 'Error', json.error?.message ?? `The server answered with ${response.status}.`);
}

export interface Answer<T> {
  data?: T;
  error?: ApiError;
  loading: boolean;
  reload: () => void;
}

/** Asks for `path`, and again every `every` milliseconds while the page is seen. Without a path it asks for nothing. */
export function useData<T>(wanted: string | false | undefined, every = 0): Answer<T> {
  const path = wanted || undefined;
  const [state, setState] = useState<{ path?: string; data?: T; error?: ApiError }>({});
  const [turn, setTurn] = useState(0);
  const reload = useCallback(() => setTurn((n) => n + 1), []);
  const known = useRef<string>();
  useEffect(() => {
    if (!path) return;
    const aborter = new AbortController();
    let timer = 0;
    const next = () => {
      if (every && !aborter.signal.aborted) timer = window.setTimeout(run, every);
    };
    const run = async () => {
      if (document.hidden && known.current === path) return next();
      try {
        const data = await ask<T>(path, aborter.signal);
        known.current = path;
        setState({ path, data });
      } catch (error) {
        if (aborter.signal.aborted) return;
        const problem = error instanceof ApiError ? error : new ApiError(0, 'Error', String(error));
        // What was known stays, unless the server says that there is no such thing.
        setState((before) => ({ path, data: before.path === path && !problem.missing ? before.data : undefined, error: problem }));
      }
      next();
    };
    void run();
    return () => {
      aborter.abort();
      clearTimeout(timer);
    };
  }, [path, every, turn]);
  const current = state.path === path ? state : {};
  return { ...current, loading: !current.data && !current.error, reload };
}
