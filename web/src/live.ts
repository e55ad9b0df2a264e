// The stream of samples: one connection for the whole page, which comes back by itself.
import { useEffect, useState } from 'preact/hooks';

export interface Percentiles {
  p50: number;
  p95: number;
  p99: number;
}

/** How many operations looked at a shard of a collection, and how many documents were written there. */
export interface ShardOperations {
  shard: string;
  asked: number;
  written: number;
}

export interface Sample {
  time: number;
  milliseconds: number;
  per_second: Record<string, number>;
  latency_micros: Record<'reads' | 'writes' | 'commands', Percentiles>;
  cpu_percent: number;
  uptime_ms: number;
  shards: number;
  connections: number;
  http_connections: number;
  cursors: number;
  transactions_open: number;
  memory_limit_bytes: number;
  memory_used_bytes: number;
  memory_refused: number;
  memory_holders: Record<string, number>;
  cache_bytes: number;
  memtable_bytes: number;
  disk_bytes: number;
  resident_mb: number;
  read_only: boolean;
  version: string;
  sharded: { ns: string; targeted: number; scattered: number; shards: ShardOperations[] }[];
  services: {
    staking: Record<string, number> | null;
    shop: { orders: number; products: number; carts: number } | null;
    settlement: { chains: number; records: number; halted: number } | null;
    explorer: { epoch: number; pivot: string; transactions: number; tps: number; reorganised_ms?: number; reorganised_depth?: number } | null;
  };
  error?: string;
}

/** connecting: nothing has come yet; live; stale: the connection is there, but nothing comes; offline: it is lost. */
export type Health = 'connecting' | 'live' | 'stale' | 'offline';

const kept = 300;
const staleAfter = 4000;

let samples: Sample[] = [];
let health: Health = 'connecting';
let problem = '';
let heard = 0;
let source: EventSource | undefined;
const listeners = new Set<() => void>();
const tell = () => listeners.forEach((listener) => listener());

function setHealth(next: Health) {
  if (health === next) return;
  health = next;
  tell();
}

function take(event: MessageEvent<string>) {
  const sample = JSON.parse(event.data) as Sample;
  heard = performance.now();
  if (sample.error) {
    problem = sample.error;
    setHealth('stale');
    return;
  }
  problem = '';
  const last = samples.at(-1);
  // After a restart of the server the old samples are another life's, but their times still are in order.
  if (last && sample.time <= last.time) return;
  samples = [...samples.slice(1 - kept), sample];
  health = 'live';
  tell();
}

function connect() {
  source?.close();
  source = new EventSource(samples.length ? '/v1/live' : `/v1/live?history=${kept}`);
  source.onmessage = take;
  source.onerror = () => {
    setHealth(samples.length ? 'offline' : 'connecting');
    // A browser connects again after a lost connection, but not after an answer that is no stream.
    if (source?.readyState === EventSource.CLOSED) setTimeout(connect, 1000);
  };
}

/** Called once. */
export function startLive() {
  connect();
  setInterval(() => {
    if (health === 'live' && performance.now() - heard > staleAfter) setHealth('stale');
  }, 1000);
}

/** Renders again with each sample. */
export function useLive() {
  const [, render] = useState(0);
  useEffect(() => {
    const listener = () => render((n) => n + 1);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return { samples, newest: samples.at(-1), health, problem };
}

/** How fast a number of the samples grows, per second, over the last few of them. */
export function rateOf(get: (sample: Sample) => number | undefined, over = 10): number | undefined {
  const recent = samples.slice(-over - 1);
  const [first, last] = [recent[0], recent.at(-1)];
  if (!first || !last || last.time === first.time) return undefined;
  const [from, to] = [get(first), get(last)];
  if (from === undefined || to === undefined) return undefined;
  return Math.max(0, ((to - from) * 1000) / (last.time - first.time));
}

/** True if the store has data of a service, undefined if it has none, false while that is not known yet. */
export function useHas(service: keyof Sample['services']): boolean | undefined {
  const { newest } = useLive();
  return newest ? newest.services[service] !== null || undefined : false;
}
