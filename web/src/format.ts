// Numbers, sizes, times and hashes as people read them.
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const oneDigit = new Intl.NumberFormat('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 });

export const none = '–';

export const count = (n?: number) => (n === undefined ? none : whole.format(n));
/** "1 epoch", "2 epochs". */
export const counted = (n: number | undefined, what: string) => `${count(n)} ${what}${n === 1 ? '' : 's'}`;
export const short = (n?: number) => (n === undefined ? none : Math.abs(n) < 10000 ? whole.format(n) : compact.format(n));
/** A rate: small ones with a digit behind the point. */
export const rate = (n?: number) => (n === undefined ? none : n > 0 && n < 10 ? oneDigit.format(n) : short(n));
export const percent = (part: number, all: number) => (all > 0 ? `${oneDigit.format((100 * part) / all)} %` : none);

export function bytes(n?: number): string {
  if (n === undefined) return none;
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let unit = 0;
  let value = n;
  for (; Math.abs(value) >= 1000 && unit < units.length - 1; ++unit) value /= 1000;
  return `${unit === 0 || value >= 100 ? whole.format(value) : oneDigit.format(value)} ${units[unit]}`;
}

export function micros(n?: number): string {
  if (!n) return none;
  if (n < 1000) return `${n} µs`;
  if (n < 1_000_000) return `${n < 10_000 ? oneDigit.format(n / 1000) : whole.format(n / 1000)} ms`;
  return `${oneDigit.format(n / 1_000_000)} s`;
}

/** Satoshi as bitcoin. */
const bitcoin = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
export const btc = (satoshi?: number) => (satoshi === undefined ? none : bitcoin.format(satoshi / 1e8));

/** Wei, in hexadecimal, as ether. */
export function ether(hex?: string): string {
  if (!hex) return none;
  const wei = BigInt(hex);
  const thousandths = Number(wei / 10n ** 12n) / 1e6;
  return thousandths === 0 && wei > 0n ? '< 0.000001' : new Intl.NumberFormat('en', { maximumFractionDigits: 6 }).format(thousandths);
}

export const fromHex = (hex?: string) => (hex === undefined ? undefined : Number(hex));

export function duration(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const [d, h, m] = [Math.floor(seconds / 86400), Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60];
  if (d) return `${d} d ${h} h`;
  if (h) return `${h} h ${m} min`;
  if (m) return `${m} min ${seconds % 60} s`;
  return `${seconds} s`;
}

export function ago(ms: number, now = Date.now()): string {
  const passed = now - ms;
  if (passed < 1500) return 'now';
  if (passed < 90_000) return `${Math.round(passed / 1000)} s ago`;
  if (passed < 90 * 60_000) return `${Math.round(passed / 60_000)} min ago`;
  if (passed < 36 * 3_600_000) return `${Math.round(passed / 3_600_000)} h ago`;
  return new Date(ms).toISOString().slice(0, 10);
}

export const clockTime = (ms: number) => new Date(ms).toLocaleTimeString('en-GB');
export const dateTime = (ms: number) => new Date(ms).toISOString().replace('T', ' ').slice(0, 19) + ' UTC';

export const shortHash = (hash: string) => (hash.length <= 12 ? hash : `${hash.slice(0, hash.startsWith('0x') ? 8 : 6)}…${hash.slice(-4)}`);
