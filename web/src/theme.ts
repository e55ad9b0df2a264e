// Light or dark: as the system says, until the switch says otherwise.
import { useEffect, useState } from 'preact/hooks';

export type Choice = 'system' | 'light' | 'dark';

const system = matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();
let choice: Choice = read();

function read(): Choice {
  try {
    const kept = localStorage.getItem('theme');
    return kept === 'light' || kept === 'dark' ? kept : 'system';
  } catch {
    return 'system';
  }
}

function apply() {
  document.documentElement.dataset.theme = shown();
  listeners.forEach((listener) => listener());
}
const shown = () => (choice === 'system' ? (system.matches ? 'dark' : 'light') : choice);

export function choose(next: Choice) {
  choice = next;
  try {
    if (next === 'system') localStorage.removeItem('theme');
    else localStorage.setItem('theme', next);
  } catch {
    // It is not kept then.
  }
  apply();
}

system.addEventListener('change', apply);
document.documentElement.dataset.theme = shown();

export function useTheme() {
  const [, render] = useState(0);
  useEffect(() => {
    const listener = () => render((n) => n + 1);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return { choice, shown: shown() };
}
