// The chunk map: each collection as a strip of its chunks, coloured by shard; and what happened to chunks and shards.
import { ago, counted } from '../format';
import { useLive } from '../live';
import { Badge, Panel } from '../ui';
import type { Chunk, ShardsAnswer } from './shards';
import { colourOf, keyText } from './shards';

const low = -(2 ** 63);
const span = 2 ** 64;

/** How much of the range of a hash a chunk is; nothing if the key is not hashed. */
function shareOf(chunk: Chunk): number | undefined {
  const at = (bound: Record<string, unknown>, open: number) => {
    const [value] = Object.values(bound);
    return typeof value === 'number' ? value : open;
  };
  const [first] = Object.values(chunk.min);
  const [last] = Object.values(chunk.max);
  const isHash = (value: unknown) => typeof value === 'number' || (typeof value === 'object' && value !== null && ('$minKey' in value || '$maxKey' in value));
  if (!isHash(first) || !isHash(last)) return undefined;
  return (at(chunk.max, low + span) - at(chunk.min, low)) / span;
}

const boundText = (bound: Record<string, unknown>) =>
  Object.values(bound)
    .map((value) => (typeof value === 'object' && value !== null ? ('$minKey' in value ? 'the lowest' : '$maxKey' in value ? 'the highest' : JSON.stringify(value)) : String(value)))
    .join(', ');

export function ChunkMap({ data }: { data: ShardsAnswer }) {
  const { shards, collections, chunks, moving } = data;
  return (
    <Panel
      title="Chunk map"
      note={
        <span class="keys">
          {shards.map(({ shard }) => (
            <span key={shard}>
              <i class={`swatch ${colourOf(shards, shard)}`} /> {shard}
            </span>
          ))}
        </span>
      }
    >
      {collections.length === 0 && <p class="empty">No collection is sharded yet.</p>}
      <ul class="strips">
        {collections.map((collection) => {
          const own = chunks.filter((chunk) => chunk.uuid.$binary.base64 === collection.uuid.$binary.base64);
          const moves = moving.filter(({ ns }) => ns === collection.ns);
          const isMoving = (chunk: Chunk) => moves.some((move) => JSON.stringify(move.min) === JSON.stringify(chunk.min));
          const perShard = shards.map(({ shard }) => `${own.filter((chunk) => chunk.shard === shard).length} on ${shard}`).join(', ');
          return (
            <li key={collection.ns}>
              <span class="strip-name">
                {collection.ns} <span class="muted">{keyText(collection.key)}</span> {moves.length > 0 && <Badge tone="warn">moving</Badge>}
              </span>
              <span class="strip" role="img" aria-label={`${own.length} chunks: ${perShard}`}>
                {own.map((chunk) => (
                  <i
                    key={boundText(chunk.min)}
                    class={`${colourOf(shards, chunk.shard)} ${isMoving(chunk) ? 'moving' : ''}`}
                    style={{ flexGrow: Math.max(0.002, shareOf(chunk) ?? 1 / own.length) }}
                    title={`${chunk.shard}: from ${boundText(chunk.min)} to ${boundText(chunk.max)}`}
                  />
                ))}
              </span>
            </li>
          );
        })}
      </ul>
    </Panel>
  );
}

const words: Record<string, string> = {
  'moveChunk.commit': 'moved',
  'shardCollection.end': 'sharded',
  addShard: 'shard added',
  removeShard: 'shard removed',
  'removeShard.start': 'shard being emptied',
  split: 'chunk cut',
  merge: 'chunks merged',
  movePrimary: 'primary moved',
};

function detailText({ what, details = {} }: ShardsAnswer['changes'][number]): string {
  const { from, to, name, shard, numChunks, counts } = details as Record<string, unknown> & { counts?: { cloned?: number } };
  if (what === 'moveChunk.commit') return `${counts?.cloned !== undefined ? `${counted(counts.cloned, 'document')} ` : ''}from ${from} to ${to}`;
  if (what === 'shardCollection.end') return `into ${numChunks} chunks`;
  return String(name ?? shard ?? to ?? '');
}

export function Moves({ data }: { data: ShardsAnswer }) {
  useLive(); // the ages move on
  return (
    <Panel title="Moves and changes">
      {data.moving.map((move) => (
        <div class="outcome warn" key={move.ns + boundText(move.min)} role="status">
          <strong>{move.ns}</strong> is moving a chunk from {move.fromShard} to {move.toShard}
        </div>
      ))}
      {data.changes.length === 0 && <p class="empty">Nothing has changed yet.</p>}
      <ol class="log">
        {data.changes.slice(0, 14).map((change, i) => (
          <li key={`${change.time} ${change.ns} ${i}`}>
            <time dateTime={new Date(change.time).toISOString()}>{ago(change.time)}</time>
            <span>
              {change.ns && <b>{change.ns}</b>} {words[change.what] ?? change.what} {detailText(change)}
            </span>
          </li>
        ))}
      </ol>
    </Panel>
  );
}
