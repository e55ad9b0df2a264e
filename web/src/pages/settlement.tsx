// The settlement log: its chains and their writers, verification, checkpoints and repairs.
import { useEffect, useRef, useState } from 'preact/hooks';
import { ask, useData } from '../data';
import { useDemo } from '../demo';
import { ago, count, dateTime, rate } from '../format';
import { rateOf, useHas, useLive } from '../live';
import { partsOf, useTitle } from '../router';
import { Badge, Bar, Hash, Heading, NoData, Panel, Shown, Stat, Stats, Table, Waiting } from '../ui';
import type { Column } from '../ui';
import { RecordPage, SymbolPage } from './settlement_records';

export interface Chain {
  symbol_id: number;
  records: number;
  output_seq: number;
  hash: string;
  halted: boolean;
  halted_because?: string;
  awaits?: { output_seq: number; why: string; held_by?: number }[];
  lease?: { owner: string; epoch: number; expires_at_ms: number };
}
export interface Heads {
  records: number;
  output_seq: number;
  halted: number;
  refused: number;
  symbols: Chain[];
}

export function Settlement({ path, query }: { path: string; query: URLSearchParams }) {
  const [kind, symbol, , sequence] = partsOf(path);
  if (kind === 'symbol' && symbol && sequence) return <RecordPage symbol={symbol} sequence={sequence} key={path} />;
  if (kind === 'symbol' && symbol) return <SymbolPage symbol={symbol} query={query} key={symbol} />;
  return <Log />;
}

function Log() {
  useTitle('Settlement');
  const has = useHas('settlement');
  const { samples } = useLive();
  const heads = useData<Heads>(has && '/v1/heads', 1000);
  const demo = useDemo();
  if (has === false) return <Waiting title="Settlement" />;
  if (has === undefined || heads.error?.missing) {
    return (
      <>
        <Heading title="Settlement" />
        <NoData service="settlement" commands={['braid settlement generate --outputs 10000 > outputs.ndjson', 'braid settlement ingest --store mongodb://127.0.0.1:27017 outputs.ndjson']} />
      </>
    );
  }
  const data = heads.data;
  const appended = samples.slice(-60).map((sample, i, all) => Math.max(0, (sample.services.settlement?.records ?? 0) - (all[Math.max(0, i - 1)].services.settlement?.records ?? 0)));
  return (
    <>
      <Heading title="Settlement">Every output in a hash chain of its symbol, durable before it is acknowledged</Heading>
      <Stats>
        <Stat label="Records" value={count(data?.records)} note={`up to output ${count(data?.output_seq)}`} />
        <Stat label="Appended" value={rate(rateOf(({ services }) => services.settlement?.records))} unit="/s" line={appended} />
        <Stat label="Chains" value={count(data?.symbols.length)} note={demo?.status.settlement?.hand_overs !== undefined ? `${count(demo.status.settlement.hand_overs)} hand-overs between writers` : 'one per symbol'} />
        <Stat label="Halted" value={count(data?.halted)} tone={data?.halted ? 'bad' : 'good'} note={data?.halted ? 'waits for a repair' : 'every chain goes on'} />
        <Stat label="Refused outputs" value={count(data?.refused)} note="kept, with the reason" />
      </Stats>
      <div class="grid side">
        <Panel title="Chains" note="heads as they advance">
          <Shown answer={heads} rows={8}>
            {({ symbols }) => <Table caption="Chains" columns={chainColumns} rows={symbols} keyOf={({ symbol_id }) => symbol_id} />}
          </Shown>
        </Panel>
        <div class="stack">
          <Verification symbols={data?.symbols.map(({ symbol_id }) => symbol_id) ?? []} total={data?.records ?? 0} />
          <Checkpoints />
          <Repairs halted={data?.symbols.filter(({ halted }) => halted) ?? []} />
        </div>
      </div>
    </>
  );
}

const chainColumns: Column<Chain>[] = [
  { name: 'Symbol', cell: (chain) => <a class="whole-line" href={`/settlement/symbol/${chain.symbol_id}`}>Symbol {chain.symbol_id}</a> },
  { name: 'Records', number: true, cell: (chain) => count(chain.records) },
  { name: 'Newest output', number: true, wide: true, cell: (chain) => count(chain.output_seq) },
  { name: 'Head', cell: (chain) => <Head chain={chain} /> },
  {
    name: 'Writer',
    wide: true,
    cell: ({ lease }) => (lease ? <span title={lease.owner}>{lease.owner.length > 18 ? `${lease.owner.slice(0, 16)}…` : lease.owner} <span class="muted">epoch {count(lease.epoch)}</span></span> : <span class="muted">no lease</span>),
  },
  { name: 'State', cell: (chain) => (chain.halted ? <Badge tone="bad">halted</Badge> : <Badge tone="good">goes on</Badge>) },
];

/** The newest hash; it flashes when it changes. */
function Head({ chain }: { chain: Chain }) {
  const before = useRef(chain.hash);
  const [fresh, setFresh] = useState(false);
  useEffect(() => {
    if (before.current === chain.hash) return;
    before.current = chain.hash;
    setFresh(true);
    const timer = setTimeout(() => setFresh(false), 700);
    return () => clearTimeout(timer);
  }, [chain.hash]);
  return (
    <span class={fresh ? 'fresh' : ''}>
      <Hash value={chain.hash} href={`/settlement/symbol/${chain.symbol_id}/record/${chain.output_seq}`} />
    </span>
  );
}

interface Report {
  ok: boolean;
  records: number;
  damaged: number;
  damage: { symbol_id: number; output_seq: number; what: string }[];
}

/** Reads every chain again, one after another, and says how far it is. */
function Verification({ symbols, total }: { symbols: number[]; total: number }) {
  const [running, setRunning] = useState(false);
  const [done, setDone] = useState({ chains: 0, records: 0 });
  const [report, setReport] = useState<Report>();
  const [problem, setProblem] = useState('');
  const verify = async () => {
    setRunning(true);
    setReport(undefined);
    setProblem('');
    const found: Report = { ok: true, records: 0, damaged: 0, damage: [] };
    try {
      for (const [i, symbol] of symbols.entries()) {
        setDone({ chains: i, records: found.records });
        const one = await ask<Report>(`/v1/verification?symbol_id=${symbol}`);
        found.ok &&= one.ok;
        found.records += one.records;
        found.damaged += one.damaged;
        found.damage.push(...one.damage);
      }
      setReport(found);
    } catch (error) {
      setProblem((error as Error).message);
    }
    setRunning(false);
  };
  return (
    <Panel
      title="Verify"
      action={
        <button type="button" class="action first" disabled={running || !symbols.length} onClick={verify}>
          {running ? 'Verifying …' : 'Verify all chains'}
        </button>
      }
    >
      <p class="muted">Reads every record and computes its hash again.</p>
      {running && (
        <div class="progress">
          <Bar part={done.records} of={Math.max(total, 1)} label={`${done.chains} of ${symbols.length} chains`} />
          <span class="number">
            {count(done.chains)} of {count(symbols.length)} chains · {count(done.records)} records
          </span>
        </div>
      )}
      <div role="status">
        {report && (
          <p class={`outcome ${report.ok ? 'good' : 'bad'}`}>
            {report.ok ? `All ${count(report.records)} records have the hashes that they must have.` : `${count(report.damaged)} damaged: ${report.damage.slice(0, 3).map((one) => `symbol ${one.symbol_id}, output ${one.output_seq}: ${one.what}`).join('; ')}`}
          </p>
        )}
        {problem && <p class="outcome bad">{problem}</p>}
      </div>
    </Panel>
  );
}

function Checkpoints() {
  const answer = useData<{ checkpoints: { created_at_ms: number; output_seq: number; symbols: number; key_id: string }[] }>('/v1/checkpoints', 5000);
  return (
    <Panel
      title="Checkpoints"
      action={
        answer.data?.checkpoints.length ? (
          <a class="action" href="/v1/checkpoints/newest" download="checkpoint.json">
            Download newest
          </a>
        ) : null
      }
    >
      <Shown answer={answer} rows={2}>
        {({ checkpoints }) => (
          <Table
            caption="Checkpoints"
            rows={checkpoints.slice(0, 5)}
            keyOf={({ created_at_ms }) => created_at_ms}
            empty="None yet: `braid settlement checkpoint` signs one."
            columns={[
              { name: 'Made', cell: (one) => <span class="whole-line" title={dateTime(one.created_at_ms)}>{ago(one.created_at_ms)}</span> },
              { name: 'Up to output', number: true, cell: (one) => count(one.output_seq) },
              { name: 'Key', cell: (one) => <Hash value={one.key_id} /> },
            ]}
          />
        )}
      </Shown>
    </Panel>
  );
}

function Repairs({ halted }: { halted: Chain[] }) {
  const answer = useData<{ repairs: { symbol_id: number; at_ms: number; by: string; reason: string; action: string }[] }>('/v1/repairs?limit=8', 3000);
  return (
    <Panel title="Halted and repaired">
      {halted.slice(0, 3).map((chain) => (
        <div class="outcome bad" key={chain.symbol_id}>
          <strong>Symbol {chain.symbol_id}</strong> {chain.halted_because}
          <pre tabIndex={0}>{`braid settlement repair --symbol ${chain.symbol_id} --by NAME --reason TEXT`}</pre>
        </div>
      ))}
      {halted.length > 3 && <p class="footnote bad-text">and {count(halted.length - 3)} more, named in the list of chains</p>}
      <Shown answer={answer} rows={2}>
        {({ repairs }) =>
          repairs.length ? (
            <ol class="log">
              {repairs.map((one) => (
                <li key={`${one.symbol_id} ${one.at_ms}`}>
                  <time dateTime={new Date(one.at_ms).toISOString()}>{ago(one.at_ms)}</time> Symbol {one.symbol_id}: {one.action} by {one.by}, “{one.reason}”
                </li>
              ))}
            </ol>
          ) : (
            <p class="empty">{halted.length ? 'No chain was repaired yet.' : 'No chain is halted, and none ever had to be repaired.'}</p>
          )
        }
      </Shown>
    </Panel>
  );
}
