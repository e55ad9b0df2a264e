// The server at a glance, and the four services.
import { Chart } from '../chart';
import { useDemo } from '../demo';
import { ago, btc, bytes, count, counted, duration, micros, percent, rate, short } from '../format';
import { rateOf, useLive } from '../live';
import type { Sample } from '../live';
import { useTitle } from '../router';
import { Badge, Bar, Heading, Panel, Skeleton, Stat, Stats } from '../ui';

const operations = ['inserts', 'queries', 'updates', 'deletes', 'getmores', 'commands'];
const total = (sample: Sample) => operations.reduce((sum, name) => sum + sample.per_second[name], 0);

export function Overview() {
  useTitle('Overview');
  const { samples, newest } = useLive();
  if (!newest) {
    return (
      <>
        <Heading title="Overview">Waiting for the first figures …</Heading>
        <Skeleton rows={8} />
      </>
    );
  }
  // The first sample after a pause has nothing to compare with.
  const rated = samples.filter((sample) => sample.milliseconds > 0);
  const line = (get: (sample: Sample) => number) => rated.slice(-120).map(get);
  const { per_second: now, latency_micros: latency } = newest;
  return (
    <>
      <Heading title="Overview">
        Version {newest.version} · up for {duration(newest.uptime_ms)} · {counted(newest.shards, 'shard')} · {count(newest.connections)} MongoDB and {count(newest.http_connections)} HTTP connections
      </Heading>
      <Stats>
        <Stat label="Operations" value={short(total(newest))} unit="/s" line={line(total)} note={`${short(now.failed)} failed`} />
        <Stat label="Write latency, p99" value={micros(latency.writes.p99)} line={line((sample) => sample.latency_micros.writes.p99)} note={`half below ${micros(latency.writes.p50)}`} />
        <Stat label="Durable syncs" value={short(now.syncs)} unit="/s" line={line((sample) => sample.per_second.syncs)} note={now.syncs ? `${rate(now.commits / now.syncs)} commits per sync` : 'nothing to sync'} />
        <Stat label="Conflicts and waits" value={short(now.conflicts)} unit="/s" line={line((sample) => sample.per_second.conflicts)} note={`${short(now.transactions_committed)} transactions/s`} />
        <Stat label="Memory" value={`${count(newest.resident_mb)}`} unit="MB" line={line((sample) => sample.resident_mb)} note={`requests hold ${bytes(newest.memory_used_bytes)}`} />
        <Stat label="CPU" value={count(newest.cpu_percent)} unit="%" line={line((sample) => sample.cpu_percent)} note="of one core" />
      </Stats>
      <Services sample={newest} />
      <Happenings />
      <div class="grid two">
        <Operations samples={rated} />
        <Latency samples={rated} />
        <Log samples={rated} />
        <Memory sample={newest} />
      </div>
    </>
  );
}

/** What the demo says that it does. */
function Happenings() {
  const events = useDemo()?.events ?? [];
  if (!events.length) return null;
  return (
    <div class="grid">
      <Panel title="What happens here" note="this server is a demo, and loads itself">
        <ol class="log">
          {events.slice(0, 6).map((event) => (
            <li key={`${event.at_ms} ${event.text}`}>
              <time dateTime={new Date(event.at_ms).toISOString()}>{ago(event.at_ms)}</time>
              <span>{event.text}</span>
            </li>
          ))}
        </ol>
      </Panel>
    </div>
  );
}

function Operations({ samples }: { samples: Sample[] }) {
  const values = (...names: string[]) => samples.map((sample) => names.reduce((sum, name) => sum + sample.per_second[name], 0));
  return (
    <Panel title="Operations per second">
      <Chart
        label="Operations per second"
        times={samples.map(({ time }) => time)}
        format={rate}
        series={[
          { name: 'writes', values: values('inserts', 'updates', 'deletes'), colour: '--series-1', fill: true },
          { name: 'reads', values: values('queries', 'getmores'), colour: '--series-2' },
          { name: 'other', values: values('commands'), colour: '--series-3' },
        ]}
      />
    </Panel>
  );
}

function Latency({ samples }: { samples: Sample[] }) {
  // Seconds without an operation have no latency.
  const values = (kind: 'reads' | 'writes', which: 'p50' | 'p99') => samples.map((sample) => sample.latency_micros[kind][which] || null);
  return (
    <Panel title="Latency" note="without the wait for the log">
      <Chart
        label="Latency"
        times={samples.map(({ time }) => time)}
        format={micros}
        logarithmic
        series={[
          { name: 'writes p99', values: values('writes', 'p99'), colour: '--series-1' },
          { name: 'writes p50', values: values('writes', 'p50'), colour: '--series-1b' },
          { name: 'reads p99', values: values('reads', 'p99'), colour: '--series-2' },
          { name: 'reads p50', values: values('reads', 'p50'), colour: '--series-2b' },
        ]}
      />
    </Panel>
  );
}

function Log({ samples }: { samples: Sample[] }) {
  return (
    <Panel title="Commits and durable syncs" note="one sync serves every commit that waits">
      <Chart
        label="Commits and syncs per second"
        height={300}
        times={samples.map(({ time }) => time)}
        format={rate}
        series={[
          { name: 'commits', values: samples.map((sample) => sample.per_second.commits), colour: '--series-1', fill: true },
          { name: 'syncs', values: samples.map((sample) => sample.per_second.syncs), colour: '--series-2' },
        ]}
      />
    </Panel>
  );
}

function Memory({ sample }: { sample: Sample }) {
  const holders = Object.entries(sample.memory_holders).sort(([, a], [, b]) => b - a);
  const most = Math.max(1, ...holders.map(([, held]) => held));
  return (
    <Panel title="Memory by holder" note={`${percent(sample.memory_used_bytes, sample.memory_limit_bytes)} of ${bytes(sample.memory_limit_bytes)}`}>
      <table class="bars">
        <caption class="hidden">Memory that requests hold, by what it is for</caption>
        <tbody>
          {holders.map(([name, held]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>
                <Bar part={held} of={most} label={bytes(held)} />
              </td>
              <td class="number">{bytes(held)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <dl class="pairs">
        <dt>Block cache</dt>
        <dd>{bytes(sample.cache_bytes)}</dd>
        <dt>Changes not yet in tables</dt>
        <dd>{bytes(sample.memtable_bytes)}</dd>
        <dt>On disk</dt>
        <dd>{bytes(sample.disk_bytes)}</dd>
        <dt>Refused for memory</dt>
        <dd>{count(sample.memory_refused)}</dd>
      </dl>
    </Panel>
  );
}

function Services({ sample }: { sample: Sample }) {
  const { staking, shop, settlement, explorer } = sample.services;
  return (
    <div class="services">
      <Service name="Staking" href="/staking" value={staking && btc(staking.active_tvl)} unit="BTC staked">
        {staking && `${count(staking.active_delegations)} active delegations of ${count(staking.total_stakers)} stakers`}
      </Service>
      <Service name="Storefront" href="/storefront" value={shop && count(shop.orders)} unit="orders">
        {shop && `${rate(rateOf(({ services }) => services.shop?.orders))} per second · ${count(shop.carts)} carts`}
      </Service>
      <Service name="Settlement" href="/settlement" value={settlement && count(settlement.records)} unit="records">
        {settlement && (
          <>
            {count(settlement.chains)} chains · {settlement.halted ? <Badge tone="bad">{count(settlement.halted)} halted</Badge> : 'none halted'}
          </>
        )}
      </Service>
      <Service name="Explorer" href="/explorer" value={explorer && count(explorer.epoch)} unit="newest epoch">
        {explorer && (explorer.reorganised_ms ? `${counted(explorer.reorganised_depth, 'epoch')} popped ${ago(explorer.reorganised_ms)}` : 'never reorganised')}
      </Service>
    </div>
  );
}

interface ServiceProps {
  name: string;
  href: string;
  value: string | null;
  unit: string;
  children: preact.ComponentChildren;
}
function Service({ name, href, value, unit, children }: ServiceProps) {
  return (
    <a class="service" href={href}>
      <h2>{name}</h2>
      {value === null ? (
        <p class="service-none">No data in this store</p>
      ) : (
        <>
          <p class="service-value">
            {value} <span class="unit">{unit}</span>
          </p>
          <p class="service-note">{children}</p>
        </>
      )}
    </a>
  );
}
