// The parts that every page is made of.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Answer, ApiError } from './data';
import { shortHash } from './format';

export function Heading({ title, children }: { title: ComponentChildren; children?: ComponentChildren }) {
  return (
    <header class="heading">
      <h1 tabIndex={-1}>{title}</h1>
      {children && <div class="heading-note">{children}</div>}
    </header>
  );
}

interface PanelProps {
  title: string;
  note?: ComponentChildren;
  action?: ComponentChildren;
  class?: string;
  children: ComponentChildren;
}
export function Panel({ title, note, action, children, class: extra = '' }: PanelProps) {
  return (
    <section class={`panel ${extra}`} aria-label={title}>
      <div class="panel-head">
        <h2>{title}</h2>
        {note && <span class="panel-note">{note}</span>}
        {action && <span class="panel-action">{action}</span>}
      </div>
      {children}
    </section>
  );
}

interface StatProps {
  label: string;
  value: ComponentChildren;
  unit?: string;
  note?: ComponentChildren;
  tone?: 'good' | 'warn' | 'bad';
  line?: number[];
}
/** A number with its name, and how it was in the last minutes. */
export function Stat({ label, value, unit, note, tone, line }: StatProps) {
  return (
    <div class={`stat ${tone ?? ''}`}>
      <dt>{label}</dt>
      <dd>
        <span class="stat-value">
          {value}
          {unit && <span class="unit"> {unit}</span>}
        </span>
        {note && <span class="stat-note">{note}</span>}
      </dd>
      {line && line.length > 1 && <Sparkline values={line} />}
    </div>
  );
}

export function Sparkline({ values }: { values: number[] }) {
  const highest = Math.max(...values, 1e-9);
  const points = values.map((value, i) => `${((i / (values.length - 1)) * 100).toFixed(1)},${(22 - (value / highest) * 20).toFixed(1)}`).join(' ');
  return (
    <svg class="sparkline" viewBox="0 0 100 24" preserveAspectRatio="none" aria-hidden="true">
      <polyline points={points} />
    </svg>
  );
}

export const Stats = ({ children }: { children: ComponentChildren }) => <dl class="stats">{children}</dl>;

/** A hash or key, shortened, with a button that copies all of it. */
export function Hash({ value, href, whole = false }: { value: string; href?: string; whole?: boolean }) {
  const shown = whole ? value : shortHash(value);
  return (
    <span class={`hash ${whole ? 'whole' : ''}`}>
      {href ? (
        <a href={href} title={value}>
          {shown}
        </a>
      ) : (
        <span title={value}>{shown}</span>
      )}
      <CopyButton value={value} />
    </span>
  );
}

function CopyButton({ value }: { value: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async () => {
    await navigator.clipboard?.writeText(value);
    setCopied(true);
  };
  return (
    <button type="button" class="copy" aria-label={copied ? 'Copied' : `Copy ${shortHash(value)}`} onClick={copy}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        {copied ? <path d="M3 8.500 6.500 12 13 4.500" /> : <path d="M5.500 5.500v-3h8v8h-3m0-5h-8v8h8z" />}
      </svg>
    </button>
  );
}

export type Tone = 'good' | 'warn' | 'bad' | 'plain';
export const Badge = ({ tone = 'plain', children }: { tone?: Tone; children: ComponentChildren }) => <span class={`badge ${tone}`}>{children}</span>;

export interface Column<Row> {
  name: string;
  cell: (row: Row) => ComponentChildren;
  /** Aligned to the right. */
  number?: boolean;
  /** Left out on narrow screens. */
  wide?: boolean;
}
interface TableProps<Row> {
  caption: string;
  columns: Column<Row>[];
  rows: Row[];
  keyOf: (row: Row) => string | number;
  empty?: ComponentChildren;
}
export function Table<Row>({ caption, columns, rows, keyOf, empty = 'Nothing yet.' }: TableProps<Row>) {
  if (!rows.length) return <p class="empty">{empty}</p>;
  const classOf = (column: Column<Row>) => `${column.number ? 'number' : ''} ${column.wide ? 'wide' : ''}`;
  return (
    <table>
      <caption class="hidden">{caption}</caption>
      <thead>
        <tr>
          {columns.map((column) => (
            <th scope="col" class={classOf(column)} key={column.name}>
              {column.name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map((column) => (
              <td class={classOf(column)} key={column.name}>
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function Problem({ error, retry }: { error: ApiError; retry?: () => void }) {
  return (
    <div class="problem" role="alert">
      <strong>{error.status === 404 ? 'Not found.' : 'That did not work.'}</strong> <span>{error.message}</span>
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

export function Skeleton({ rows = 4 }: { rows?: number }) {
  return (
    <div class="skeleton" role="status">
      <span class="hidden">Loading …</span>
      {Array.from({ length: rows }, (_, i) => (
        <span key={i} aria-hidden="true" />
      ))}
    </div>
  );
}

/** A page before the first sample has said whether there is anything to show. */
export const Waiting = ({ title }: { title: string }) => (
  <>
    <Heading title={title} />
    <Skeleton rows={8} />
  </>
);

/** What an answer has to show: its data, or that it is still awaited, or why there is none. */
export function Shown<T>({ answer, rows, children }: { answer: Answer<T>; rows?: number; children: (data: T) => ComponentChildren }) {
  if (answer.data !== undefined) {
    return (
      <>
        {answer.error && <p class="stale-note">Not up to date: {answer.error.message}</p>}
        {children(answer.data)}
      </>
    );
  }
  if (answer.error) return <Problem error={answer.error} retry={answer.reload} />;
  return <Skeleton rows={rows} />;
}

/** The page of a service that the store has no data of. */
export function NoData({ service, commands }: { service: string; commands: string[] }) {
  return (
    <div class="no-data">
      <h2>This store has no {service} data yet.</h2>
      <p>Make some; this page notices by itself:</p>
      <pre tabIndex={0}>{commands.join('\n')}</pre>
    </div>
  );
}

/** A part of a whole, as a bar. */
export function Bar({ part, of, tone, label }: { part: number; of: number; tone?: string; label?: string }) {
  const width = of > 0 ? Math.max(0, Math.min(100, (100 * part) / of)) : 0;
  return (
    <span class="bar" role="img" aria-label={label ?? `${Math.round(width)} percent`}>
      <span class={tone ?? ''} style={{ width: `${width}%` }} />
    </span>
  );
}

/** Focus goes to the heading when the view changes, but not when the page is opened. */
export function useFocusOnChange(view: string) {
  const first = useRef(true);
  useEffect(() => {
    if (first.current) {
      first.current = false;
      return;
    }
    document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
  }, [view]);
}
