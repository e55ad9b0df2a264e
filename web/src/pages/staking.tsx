// Staking statistics: totals over time, who stakes with whom, and the logical shards that hot totals are spread over.
import { useState } from 'preact/hooks';
import { Chart } from '../chart';
import { ask, useData } from '../data';
import { useDemo } from '../demo';
import { btc, count, rate, short } from '../format';
import { rateOf, useHas, useLive } from '../live';
import { Pages, pagedPath } from '../paging';
import { go, partsOf, useTitle } from '../router';
import { Hash, Heading, NoData, Panel, Shown, Stat, Stats, Table, Waiting } from '../ui';

interface Sums {
  active_tvl: number;
  total_tvl: number;
  active_delegations: number;
  total_delegations: number;
}
interface Overall extends Sums {
  total_stakers: number;
  pending_events: number;
  unprocessable_messages: number;
  conflicting_events: number;
  logical_shard_count: number;
}

export function Staking({ path, query }: { path: string; query: URLSearchParams }) {
  const [kind, key] = partsOf(path);
  if ((kind === 'staker' || kind === 'provider') && key) return <Entity kind={kind} entity={key} key={path} />;
  return <Totals who={kind === 'stakers' ? 'stakers' : 'providers'} query={query} />;
}

function Totals({ who, query }: { who: 'stakers' | 'providers'; query: URLSearchParams }) {
  useTitle('Staking');
  const has = useHas('staking');
  const { samples } = useLive();
  const overall = useData<Overall>(has && '/v1/stats', 1000);
  const demo = useDemo()?.status.staking;
  if (has === false) return <Waiting title="Staking" />;
  if (has === undefined || overall.error?.missing) {
    return (
      <>
        <Heading title="Staking" />
        <NoData service="staking" commands={['braid staking generate --events 10000 --duplicates 10 > events.ndjson', 'braid staking ingest --store mongodb://127.0.0.1:27017 events.ndjson']} />
      </>
    );
  }
  const data = overall.data;
  const known = samples.filter((sample) => sample.services.staking);
  const series = (name: string, scale = 1) => known.map((sample) => sample.services.staking![name] / scale);
  const times = known.map(({ time }) => time);
  return (
    <>
      <Heading title="Staking">Totals that are exact, whatever comes twice, late or in the wrong order</Heading>
      <Stats>
        <Stat label="Active TVL in BTC" value={btc(data?.active_tvl)} note={`${btc(data?.total_tvl)} ever`} />
        <Stat label="Active delegations" value={count(data?.active_delegations)} note={`${count(data?.total_delegations)} ever`} />
        <Stat label="Stakers" value={count(data?.total_stakers)} note={`${rate(rateOf(({ services }) => services.staking?.total_delegations))} delegations/s`} />
        {demo?.duplicates !== undefined && <Stat label="Duplicates caught" value={count(demo.duplicates)} note={`of ${count(demo.events)} events`} />}
        <Stat label="Pending events" value={count(data?.pending_events)} note="unbonded before their active" />
        <Stat label="Refused" value={count(data && data.unprocessable_messages + data.conflicting_events)} tone={data?.conflicting_events ? 'warn' : undefined} note={`${count(data?.conflicting_events)} of them conflicting`} />
      </Stats>
      <div class="grid two">
        <Panel title="TVL over time">
          <Chart
            label="TVL in BTC"
            times={times}
            format={(value) => `${short(value)}`}
            series={[
              { name: 'active BTC', values: series('active_tvl', 1e8), colour: '--series-1', fill: true },
              { name: 'ever', values: series('total_tvl', 1e8), colour: '--series-3' },
            ]}
          />
        </Panel>
        <Panel title="Delegations over time">
          <Chart
            label="Delegations"
            times={times}
            format={short}
            series={[
              { name: 'active', values: series('active_delegations'), colour: '--series-2', fill: true },
              { name: 'ever', values: series('total_delegations'), colour: '--series-3' },
            ]}
          />
        </Panel>
      </div>
      <div class="grid side">
        <Ranking who={who} query={query} />
        <div class="stack">
          <LogicalShards />
          <Audit />
        </div>
      </div>
    </>
  );
}

type Row = Sums & { finality_provider_pk_hex?: string; staker_pk_hex?: string };

function Ranking({ who, query }: { who: 'stakers' | 'providers'; query: URLSearchParams }) {
  const path = who === 'stakers' ? '/v1/stakers' : '/v1/finality-providers';
  const answer = useData<{ rows: Row[]; next: string }>(pagedPath(path, query, 15), query.has('after') ? 0 : 2000);
  const kind = who === 'stakers' ? 'staker' : 'provider';
  const keyOf = (row: Row) => row.finality_provider_pk_hex ?? row.staker_pk_hex!;
  const find = (event: Event) => {
    event.preventDefault();
    const wanted = String(new FormData(event.target as HTMLFormElement).get('key')).trim().toLowerCase();
    if (wanted) go(`/staking/${kind}/${encodeURIComponent(wanted)}`);
  };
  return (
    <Panel
      title={who === 'stakers' ? 'Stakers' : 'Finality providers'}
      note="by active TVL"
      action={
        <span class="tabs">
          <a href="/staking" aria-current={who === 'providers' ? 'true' : undefined}>
            Providers
          </a>
          <a href="/staking/stakers" aria-current={who === 'stakers' ? 'true' : undefined}>
            Stakers
          </a>
        </span>
      }
    >
      <form role="search" class="search" onSubmit={find}>
        <input name="key" type="search" aria-label={`Search a ${kind} by its public key`} placeholder="Public key, 64 or 66 hexadecimal digits" autocomplete="off" spellcheck={false} />
        <button type="submit" class="action">
          Search
        </button>
      </form>
      <Shown answer={answer} rows={10}>
        {({ rows, next }) => (
          <>
            <Table
              caption={who}
              rows={rows}
              keyOf={keyOf}
              columns={[
                { name: 'Public key', cell: (row) => <Hash value={keyOf(row)} href={`/staking/${kind}/${keyOf(row)}`} /> },
                { name: 'Active BTC', number: true, cell: (row) => btc(row.active_tvl) },
                { name: 'BTC ever', number: true, wide: true, cell: (row) => btc(row.total_tvl) },
                { name: 'Delegations', number: true, cell: (row) => count(row.active_delegations) },
                { name: 'Delegations ever', number: true, wide: true, cell: (row) => count(row.total_delegations) },
              ]}
            />
            <Pages next={next} />
          </>
        )}
      </Shown>
    </Panel>
  );
}

interface LogicalShard extends Sums {
  shard: string;
  owner: string;
}

/** Bars, one per logical shard, that a button lays end to end: the total is nothing but their sum. */
function LogicalShards() {
  const [merged, setMerged] = useState(false);
  const answer = useData<{ shards: LogicalShard[] }>('/v1/logical-shards', 1000);
  return (
    <Panel
      title="Logical shards"
      note="active TVL"
      action={
        <button type="button" class="action" aria-pressed={merged} onClick={() => setMerged(!merged)}>
          {merged ? 'Show apart' : 'Merge into the sum'}
        </button>
      }
    >
      <Shown answer={answer} rows={6}>
        {({ shards }) => {
          const sum = shards.reduce((so_far, shard) => so_far + shard.active_tvl, 0);
          const most = Math.max(1, ...shards.map((shard) => Math.abs(shard.active_tvl)));
          const size = (shard: LogicalShard) => `${(100 * Math.abs(shard.active_tvl)) / (merged ? Math.max(1, sum) : most)}%`;
          return (
            <>
              <ul class={`logical ${merged ? 'merged' : ''}`}>
                {shards.map((shard) => (
                  <li key={shard.shard}>
                    <span class="logical-name">{shard.shard}</span>
                    <span class="logical-bar" style={{ width: size(shard) }} />
                    <span class="logical-value number">{btc(shard.active_tvl)}</span>
                  </li>
                ))}
              </ul>
              <p class="logical-sum">
                Sum of {count(shards.length)} documents <b class="number">{btc(sum)} BTC</b>
              </p>
            </>
          );
        }}
      </Shown>
    </Panel>
  );
}

interface AuditReport {
  ok: boolean;
  delegations: number;
  stakers: number;
  finality_providers: number;
  differences_total: number;
  differences: { collection: string; id: string; field: string; expected: number; found: number }[];
}

function Audit() {
  const [running, setRunning] = useState(false);
  const [report, setReport] = useState<AuditReport>();
  const [problem, setProblem] = useState('');
  const run = async () => {
    setRunning(true);
    setReport(undefined);
    setProblem('');
    await ask<AuditReport>('/v1/audit').then(setReport, (error: Error) => setProblem(error.message));
    setRunning(false);
  };
  return (
    <Panel
      title="Audit"
      action={
        <button type="button" class="action first" disabled={running} onClick={run}>
          {running ? 'Auditing …' : 'Audit now'}
        </button>
      }
    >
      <p class="muted">Computes every total again from the delegations, at one moment, while events come.</p>
      <div role="status">
        {report && (
          <p class={`outcome ${report.ok ? 'good' : 'bad'}`}>
            {report.ok
              ? `Every total is what ${count(report.delegations)} delegations of ${count(report.stakers)} stakers say.`
              : `${count(report.differences_total)} differences, first ${report.differences[0]?.collection} ${report.differences[0]?.id}`}
          </p>
        )}
        {problem && <p class="outcome bad">{problem}</p>}
      </div>
    </Panel>
  );
}

function Entity({ kind, entity }: { kind: 'staker' | 'provider'; entity: string }) {
  const name = kind === 'staker' ? 'Staker' : 'Finality provider';
  useTitle(`${name} ${entity.slice(0, 8)}`);
  const path = kind === 'staker' ? `/v1/stats/staker?staker_pk_hex=${encodeURIComponent(entity)}` : `/v1/finality-providers/${encodeURIComponent(entity)}`;
  const answer = useData<Sums>(path, 2000);
  return (
    <>
      <p class="crumbs">
        <a href="/staking">Staking</a> / <a href={kind === 'staker' ? '/staking/stakers' : '/staking'}>{kind === 'staker' ? 'Stakers' : 'Finality providers'}</a>
      </p>
      <Heading title={name}>
        <Hash value={entity} whole />
      </Heading>
      <Shown answer={answer} rows={3}>
        {(sums) =>
          sums.total_delegations === 0 ? (
            <p class="empty">Nothing is known of this key: no delegation has it.</p>
          ) : (
            <Stats>
              <Stat label="Active TVL" value={btc(sums.active_tvl)} unit="BTC" />
              <Stat label="TVL ever" value={btc(sums.total_tvl)} unit="BTC" />
              <Stat label="Active delegations" value={count(sums.active_delegations)} />
              <Stat label="Delegations ever" value={count(sums.total_delegations)} />
            </Stats>
          )
        }
      </Shown>
    </>
  );
}
