// The frame around the pages: navigation, connection, theme.
import 'uplot/dist/uPlot.min.css';
import './style.css';
import type { ComponentType } from 'preact';
import { render } from 'preact';
import { startLive, useLive } from './live';
import { Explorer } from './pages/explorer';
import { Overview } from './pages/overview';
import { Settlement } from './pages/settlement';
import { Shards } from './pages/shards';
import { Staking } from './pages/staking';
import { Storefront } from './pages/storefront';
import { usePlace } from './router';
import { choose, useTheme } from './theme';
import type { Choice } from './theme';
import { useFocusOnChange } from './ui';

interface PageEntry {
  path: string;
  name: string;
  icon: string;
  view: ComponentType<{ path: string; query: URLSearchParams }>;
}
const pages: PageEntry[] = [
  { path: '/', name: 'Overview', icon: 'M2 13h3V7H2zm5.500 0h3V2h-3zM13 13h3V9h-3z', view: Overview },
  { path: '/shards', name: 'Shards', icon: 'M2 3h6v5H2zm8 0h6v5h-6zM2 10h6v5H2zm8 0h6v5h-6z', view: Shards },
  { path: '/staking', name: 'Staking', icon: 'M9 2 16 5.500 9 9 2 5.500zM2 9l7 3.500L16 9M2 12.500 9 16l7-3.500', view: Staking },
  { path: '/storefront', name: 'Storefront', icon: 'M3 6h12l-1 10H4zM6 6V5a3 3 0 0 1 6 0v1', view: Storefront },
  { path: '/settlement', name: 'Settlement', icon: 'M7.500 10.500 10.500 7.500M8 5l1.500-1.500a3.500 3.500 0 0 1 5 5L13 10m-3 3-1.500 1.500a3.500 3.500 0 0 1-5-5L5 8', view: Settlement },
  { path: '/explorer', name: 'Explorer', icon: 'M9 2 15 5.500v7L9 16l-6-3.500v-7zM3 5.500 9 9l6-3.500M9 9v7', view: Explorer },
];

const healthTexts = { connecting: 'Connecting …', live: 'Live', stale: 'No news', offline: 'Connection lost' };

function Connection() {
  const { health } = useLive();
  return (
    <span class={`connection ${health}`} role="status">
      <i aria-hidden="true" />
      {healthTexts[health]}
    </span>
  );
}

/** Across the page, once something is wrong. */
function Banner() {
  const { health, problem, newest } = useLive();
  if (newest?.read_only) return <p class="banner bad">The store is read-only: it takes no more writes.</p>;
  if (health === 'offline') return <p class="banner warn">The connection to the server is lost. What is shown is the last that was known; it is tried again every second.</p>;
  if (health === 'stale') return <p class="banner warn">The server has sent nothing for some seconds. {problem}</p>;
  return null;
}

function ThemeSwitch() {
  const { choice, shown } = useTheme();
  const next: Record<Choice, Choice> = { system: shown === 'dark' ? 'light' : 'dark', light: 'dark', dark: 'light' };
  return (
    <button type="button" class="theme" onClick={() => choose(next[choice])} aria-label={`Use ${next[choice]} colours`}>
      <svg viewBox="0 0 18 18" aria-hidden="true">
        {shown === 'dark' ? <path d="M9 5.500A3.500 3.500 0 1 1 9 12.500 3.500 3.500 0 0 1 9 5.500M9 1v2m0 12v2M1 9h2m12 0h2M3.300 3.300l1.400 1.400m8.600 8.600 1.400 1.400m0-11.400-1.400 1.400M4.700 13.300l-1.400 1.400" /> : <path d="M14.500 11.500A6.500 6.500 0 0 1 6.500 3.500a6.500 6.500 0 1 0 8 8z" />}
      </svg>
    </button>
  );
}

function App() {
  const { path, query } = usePlace();
  const first = `/${path.split('/')[1]}`;
  const page = pages.find((one) => one.path === first) ?? pages[0];
  useFocusOnChange(path);
  return (
    <>
      <a class="skip" href="#main">
        Skip to the contents
      </a>
      <header class="top">
        <a class="brand" href="/" aria-label="Braid, overview">
          <img src="/braid.svg" alt="" width="28" height="28" />
          <span>Braid</span>
        </a>
        <nav aria-label="Pages">
          <ul>
            {pages.map((one) => (
              <li key={one.path}>
                <a href={one.path} aria-current={one === page ? 'page' : undefined}>
                  <svg viewBox="0 0 18 18" aria-hidden="true">
                    <path d={one.icon} />
                  </svg>
                  {one.name}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div class="tools">
          <Connection />
          <a class="docs" href="/docs">
            API
          </a>
          <ThemeSwitch />
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        <Banner />
        <page.view path={path} query={query} key={page.path} />
      </main>
    </>
  );
}

startLive();
const root = document.getElementById('app')!;
root.textContent = '';
render(<App />, root);
