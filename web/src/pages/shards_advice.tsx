// The adviser: shard keys of a collection, rated by its documents and by the operations that were recorded.
import { useData } from '../data';
import { count } from '../format';
import { go } from '../router';
import { Badge, Panel, Shown, Table } from '../ui';
import type { Tone } from '../ui';
import type { ShardedCollection } from './shards';
import { keyText } from './shards';

interface Candidate {
  key: Record<string, unknown>;
  score: number;
  verdict: string;
  distinct: { score: number; values: number; top_share: number; top_is_null: boolean } | null;
  evenness: { score: number; max_over_mean: number } | null;
  targeting: { score: number } | null;
  notes: string[];
}
interface Advice {
  namespace: string;
  documents: { sampled: number; total: number };
  operations: { count: number };
  candidates: Candidate[];
  recommendation: { key: Record<string, unknown>; text: string[]; commands: string[] };
}

const tones: Record<string, Tone> = { good: 'good', fair: 'warn', weak: 'warn', poor: 'bad', bad: 'bad' };
const outOfTen = (score?: number) => (score === undefined ? '–' : (score * 10).toFixed(1));

export function Adviser({ collections, shards, chosen }: { collections: ShardedCollection[]; shards: number; chosen: string }) {
  const path = chosen ? `/v1/shards/advice?collection=${encodeURIComponent(chosen)}&shards=${Math.max(2, shards)}` : undefined;
  const answer = useData<Advice>(path);
  const choose = (event: Event) => {
    const ns = (event.target as HTMLSelectElement).value;
    go(ns ? `/shards?advise=${encodeURIComponent(ns)}` : '/shards', true);
  };
  return (
    <Panel
      title="Adviser"
      note="which shard key would be best?"
      action={
        <label>
          <span class="hidden">Collection to rate keys for</span>
          <select value={chosen} onChange={choose}>
            <option value="">Choose a collection …</option>
            {collections.map(({ ns }) => (
              <option key={ns} value={ns}>
                {ns}
              </option>
            ))}
          </select>
        </label>
      }
    >
      {!path && <p class="empty">It looks at documents, and at operations if the server records them, and rates keys by distinct values, evenness and targeting.</p>}
      {path && (
        <Shown answer={answer} rows={5}>
          {(advice) => (
            <>
              <Table
                caption={`Shard keys for ${advice.namespace}`}
                rows={advice.candidates.slice(0, 8)}
                keyOf={(one) => JSON.stringify(one.key)}
                columns={[
                  { name: 'Key', cell: (one) => <code>{keyText(one.key)}</code> },
                  { name: 'Verdict', cell: (one) => <Badge tone={tones[one.verdict]}>{one.verdict}</Badge> },
                  { name: 'Score', number: true, cell: (one) => outOfTen(one.score) },
                  { name: 'Distinct', number: true, wide: true, cell: (one) => outOfTen(one.distinct?.score) },
                  { name: 'Even', number: true, wide: true, cell: (one) => outOfTen(one.evenness?.score) },
                  { name: 'Targeted', number: true, wide: true, cell: (one) => outOfTen(one.targeting?.score) },
                  { name: 'To know', wide: true, cell: (one) => <span class="muted">{one.notes[0] ?? ''}</span> },
                ]}
              />
              <p class="muted footnote">
                From {count(advice.documents.sampled)} of {count(advice.documents.total)} documents and {count(advice.operations.count)} operations. {advice.recommendation.text[0]}
              </p>
            </>
          )}
        </Shown>
      )}
    </Panel>
  );
}
