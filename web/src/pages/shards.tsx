// How the collections are spread over the shards: documents, routing, chunks and their moves, and what could be better.
import { useData } from '../data';
import { bytes, count, percent, rate } from '../format';
import { rateOf, useLive, type Sample, type ShardOperations } from '../live';
import { useTitle } from '../router';
import { Badge, Bar, Heading, Panel, Shown, Stat, Stats, Table } from '../ui';
import { Adviser } from './shards_advice';
import { ChunkMap, Moves } from './shards_chunks';

export interface ShardedCollection {
  ns: string;
  key: Record<string, unknown>;
  uuid: { $binary: { base64: string } };
  targeted: number;
  scattered: number;
  shards?: { shardName: string; numOwnedDocuments: number; ownedSizeBytes: number }[];
  operations?: ShardOperations[];
}
export interface Chunk {
  uuid: { $binary: { base64: string } };
  min: Record<string, unknown>;
  max: Record<string, unknown>;
  shard: string;
}
export interface ShardsAnswer {
  shards: { shard: string; draining: boolean }[];
  collections: ShardedCollection[];
  chunks: Chunk[];
  moving: { ns: string; fromShard: string; toShard: string; min: Record<string, unknown> }[];
  changes: { time: number; what: string; ns: string; details?: Record<string, unknown> }[];
}

const palette = 6;
/** Shards have the colours of the series, in their order. */
export const colourOf = (shards: { shard: string }[], name: string) => `shard-${(Math.max(0, shards.findIndex(({ shard }) => shard === name)) % palette) + 1}`;
export const keyText = (key: Record<string, unknown>) => Object.entries(key).map(([field, how]) => (how === 'hashed' ? `${field} (hashed)` : field)).join(', ');
export const documentsOf = (collection: ShardedCollection) => collection.shards?.reduce((sum, shard) => sum + shard.numOwnedDocuments, 0) ?? 0;

export function Shards({ query }: { path: string; query: URLSearchParams }) {
  useTitle('Shards');
  const answer = useData<ShardsAnswer>('/v1/shards', 1000);
  return (
    <>
      <Heading title="Shards">Collections are spread by the keys that they would have on a cluster; chunks move while everything goes on</Heading>
      <Shown answer={answer} rows={12}>
        {(data) => <Spread data={data} chosen={query.get('advise') ?? ''} />}
      </Shown>
    </>
  );
}

/** What a shard did for all collections. */
const doneBy = (shard: string, field: 'asked' | 'written') => (sample: Sample) =>
  sample.sharded.reduce((sum, one) => sum + (one.shards.find((part) => part.shard === shard)?.[field] ?? 0), 0);

function Spread({ data, chosen }: { data: ShardsAnswer; chosen: string }) {
  const { shards, collections, moving } = data;
  useLive();
  const on = (name: string) => collections.map((collection) => collection.shards?.find(({ shardName }) => shardName === name));
  const rows = shards.map(({ shard, draining }) => ({
    shard,
    draining,
    documents: on(shard).reduce((sum, one) => sum + (one?.numOwnedDocuments ?? 0), 0),
    bytes: on(shard).reduce((sum, one) => sum + (one?.ownedSizeBytes ?? 0), 0),
    chunks: data.chunks.filter((chunk) => chunk.shard === shard).length,
    operations: collections.flatMap((one) => one.operations ?? []).reduce((sum, part) => sum + (part.shard === shard ? part.asked + part.written : 0), 0),
    asked: rateOf(doneBy(shard, 'asked')),
    written: rateOf(doneBy(shard, 'written')),
  }));
  const documents = rows.reduce((sum, row) => sum + row.documents, 0);
  const most = Math.max(1, ...rows.map((row) => row.documents));
  const targeted = collections.reduce((sum, one) => sum + one.targeted, 0);
  const scattered = collections.reduce((sum, one) => sum + one.scattered, 0);
  return (
    <>
      <Stats>
        <Stat label="Shards" value={count(shards.length)} note={shards.some(({ draining }) => draining) ? 'one is being emptied' : 'all in use'} />
        <Stat label="Documents" value={count(documents)} note={`in ${count(collections.length)} sharded collections`} />
        <Stat label="Targeted operations" value={percent(targeted, targeted + scattered)} note={`${count(scattered)} had to ask several shards`} />
        <Stat label="Chunks" value={count(data.chunks.length)} note={moving.length ? `${count(moving.length)} on the move` : 'none on the move'} tone={moving.length ? 'warn' : undefined} />
      </Stats>
      <div class="grid side">
        <div class="stack">
          <Panel title="Documents and operations per shard" note="reads that looked at the shard, documents written there">
            <Table
              caption="Documents and operations per shard"
              rows={rows}
              keyOf={({ shard }) => shard}
              columns={[
                {
                  name: 'Shard',
                  cell: (row) => (
                    <>
                      <span class="whole-line">
                        <i class={`swatch ${colourOf(shards, row.shard)}`} /> {row.shard}
                      </span>{' '}
                      {row.draining && <Badge tone="warn">being emptied</Badge>}
                    </>
                  ),
                },
                { name: 'Share', wide: true, cell: (row) => <Bar part={row.documents} of={most} tone={colourOf(shards, row.shard)} label={`${row.documents} documents`} /> },
                { name: 'Documents', number: true, cell: (row) => count(row.documents) },
                { name: 'Size', number: true, wide: true, cell: (row) => bytes(row.bytes) },
                { name: 'Chunks', number: true, wide: true, cell: (row) => count(row.chunks) },
                { name: 'Reads/s', number: true, cell: (row) => rate(row.asked) },
                { name: 'Writes/s', number: true, cell: (row) => rate(row.written) },
                { name: 'Operations', number: true, wide: true, cell: (row) => count(row.operations) },
              ]}
            />
          </Panel>
          <Routing collections={collections} />
        </div>
        <div class="stack">
          <Warnings data={data} />
          <Moves data={data} />
        </div>
      </div>
      <div class="grid">
        <ChunkMap data={data} />
        <Adviser collections={collections} shards={shards.length} chosen={chosen} />
      </div>
    </>
  );
}

/** Targeted against scattered, of all time and of the last seconds. */
function Routing({ collections }: { collections: ShardedCollection[] }) {
  useLive();
  const routed = (ns: string) => (sample: Sample) => {
    const figures = sample.sharded.find((one) => one.ns === ns);
    return figures && figures.targeted + figures.scattered;
  };
  return (
    <Panel title="Targeted against scattered" note="one shard could answer, or several were asked">
      <Table
        caption="Operations by collection"
        rows={[...collections].sort((a, b) => b.targeted + b.scattered - a.targeted - a.scattered)}
        keyOf={({ ns }) => ns}
        empty="No collection is sharded yet: sh.shardCollection() in mongosh."
        columns={[
          {
            name: 'Collection and shard key',
            cell: (one) => (
              <>
                <span class="clipped" title={one.ns}>{one.ns}</span>
                <code class="below">{keyText(one.key)}</code>
              </>
            ),
          },
          { name: 'Ops/s', number: true, cell: (one) => rate(rateOf(routed(one.ns))) },
          { name: 'Documents', number: true, wide: true, cell: (one) => count(documentsOf(one)) },
          {
            name: 'Targeted',
            number: true,
            cell: (one) => (
              <span class="with-bar">
                <Bar part={one.targeted} of={one.targeted + one.scattered} tone={one.scattered > one.targeted ? 'warn' : 'good'} label={percent(one.targeted, one.targeted + one.scattered)} />
                {percent(one.targeted, one.targeted + one.scattered)}
              </span>
            ),
          },
        ]}
      />
    </Panel>
  );
}

const enoughOperations = 1000;
const enoughDocuments = 1000;

/** The same signs that the server's own watch warns of in its log. */
function warningsOf({ shards, collections }: ShardsAnswer): { ns: string; text: string }[] {
  const warnings = [];
  for (const one of collections) {
    const all = one.targeted + one.scattered;
    if (all >= enoughOperations && one.scattered > one.targeted) {
      warnings.push({ ns: one.ns, text: `${percent(one.scattered, all)} of the operations had to ask several shards: their filters do not fix ${keyText(one.key)}.` });
    }
    const documents = documentsOf(one);
    const fullest = [...(one.shards ?? [])].sort((a, b) => b.numOwnedDocuments - a.numOwnedDocuments)[0];
    if (fullest && documents >= enoughDocuments && shards.length > 1 && fullest.numOwnedDocuments * 2 > documents && fullest.numOwnedDocuments * shards.length > documents * 1.5) {
      warnings.push({ ns: one.ns, text: `${percent(fullest.numOwnedDocuments, documents)} of the documents are on ${fullest.shardName}: one value of ${keyText(one.key)}, often null, is shared by too many.` });
    }
  }
  return warnings;
}

function Warnings({ data }: { data: ShardsAnswer }) {
  const warnings = warningsOf(data);
  return (
    <Panel title="Warnings" note="hot and null keys, scattered operations">
      {warnings.length === 0 && <p class="empty">Every collection is spread and asked for well.</p>}
      {warnings.map(({ ns, text }) => (
        <div class="outcome warn" key={ns + text}>
          <strong>{ns}</strong> {text} <a href={`/shards?advise=${encodeURIComponent(ns)}`}>Rate other keys</a>
        </div>
      ))}
    </Panel>
  );
}
