// The block explorer: the newest of everything, a search, and the chain's reorganisations.
import { useState } from 'preact/hooks';
import { ask, useData } from '../data';
import { ago, count, counted, rate } from '../format';
import { useHas, useLive } from '../live';
import { go, partsOf, useTitle } from '../router';
import { Badge, Hash, Heading, NoData, Panel, Shown, Stat, Stats, Table, Waiting } from '../ui';
import { AccountPage, BlockPage, EpochPage, MinerPage, TransactionPage } from './explorer_things';
import type { At, Block, Reorganisation, Transaction } from './explorer_types';
import { blockColumns, transactionColumns } from './explorer_types';

const kinds: Record<string, ((props: { subject: string; query: URLSearchParams }) => preact.JSX.Element) | undefined> = {
  block: BlockPage,
  transaction: TransactionPage,
  account: AccountPage,
  miner: MinerPage,
  epoch: EpochPage,
};

export function Explorer({ path, query }: { path: string; query: URLSearchParams }) {
  const [kind, subject] = partsOf(path);
  const View = kinds[kind];
  return View && subject ? <View subject={subject} query={query} key={path} /> : <Newest />;
}

/** By a hash, a number or an address. */
export function Search() {
  const [problem, setProblem] = useState('');
  const find = async (event: Event) => {
    event.preventDefault();
    const wanted = String(new FormData(event.target as HTMLFormElement).get('wanted')).trim().toLowerCase();
    setProblem('');
    try {
      const { kind } = wanted ? await ask<{ kind: string | null }>(`/v1/search?for=${encodeURIComponent(wanted)}`) : { kind: null };
      if (kind) go(`/explorer/${kind}/${kind === 'epoch' ? Number(wanted) : wanted}`);
      else setProblem(wanted ? `Nothing is known by ${wanted}: give the hash of a block or transaction, the number of an epoch, or an address.` : 'Give a hash, a number or an address.');
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return (
    <form role="search" onSubmit={find}>
      <div class="search">
        <input name="wanted" type="search" aria-label="Search the chain" placeholder="Hash, epoch number or address" autocomplete="off" spellcheck={false} />
        <button type="submit" class="action first">
          Search
        </button>
      </div>
      {problem && (
        <p class="outcome bad" role="alert">
          {problem}
        </p>
      )}
    </form>
  );
}

interface Latest {
  transactions: number;
  tps: number;
  blocks: number;
  at: At;
}

function Newest() {
  useTitle('Explorer');
  const has = useHas('explorer');
  const latest = useData<Latest>(has && '/v1/latest', 1000);
  const blocks = useData<{ blocks: Block[] }>(has && '/v1/blocks?limit=12', 1000);
  const transactions = useData<{ transactions: Transaction[] }>(has && '/v1/transactions?limit=12', 1000);
  const reorgs = useData<{ reorgs: Reorganisation[] }>(has && '/v1/reorgs?limit=8', 2000);
  if (has === false) return <Waiting title="Explorer" />;
  if (has === undefined || latest.error?.missing) {
    return (
      <>
        <Heading title="Explorer" />
        <NoData service="explorer" commands={['braid explorer generate --epochs 100 > chain.ndjson', 'braid explorer import --store mongodb://127.0.0.1:27017 chain.ndjson']} />
      </>
    );
  }
  const newest = blocks.data?.blocks[0];
  const last = reorgs.data?.reorgs[0];
  return (
    <>
      <Heading title="Explorer">Blocks, transactions and accounts of a chain whose newest epochs may be replaced at any time</Heading>
      <Search />
      <Stats>
        <Stat label="Newest epoch" value={count(latest.data?.at.epoch ?? undefined)} note={latest.data?.at.pivot ? <Hash value={latest.data.at.pivot} href={`/explorer/block/${latest.data.at.pivot}`} /> : ''} />
        <Stat label="Blocks" value={count(newest && newest.score + 1)} note="in execution order" />
        <Stat label="Transactions" value={count(transactions.data?.transactions[0] && transactions.data.transactions[0].score! + 1)} note={`${rate(latest.data?.tps)} per second of chain time`} />
        <Stat label="Last reorganisation" value={last ? ago(Date.parse(last.time)) : 'never'} note={last ? `${counted(last.depth, 'epoch')} popped` : ''} />
      </Stats>
      <div class="grid two">
        <Panel title="Newest blocks">
          <Shown answer={blocks} rows={8}>
            {({ blocks }) => <Table caption="Newest blocks" columns={blockColumns} rows={blocks} keyOf={({ hash }) => hash} />}
          </Shown>
        </Panel>
        <Panel title="Newest transactions">
          <Shown answer={transactions} rows={8}>
            {({ transactions }) => <Table caption="Newest transactions" columns={transactionColumns.filter(({ name }) => name !== 'To')} rows={transactions} keyOf={({ hash }) => hash} />}
          </Shown>
        </Panel>
      </div>
      <div class="grid">
        <Panel title="Reorganisations" note="what was popped, and what replaced it">
          <Shown answer={reorgs} rows={4}>
            {({ reorgs }) => <Timeline reorgs={reorgs} />}
          </Shown>
        </Panel>
      </div>
    </>
  );
}

/** Each reorganisation as two branches from the fork: the one that was popped and the one that stayed. */
function Timeline({ reorgs }: { reorgs: Reorganisation[] }) {
  useLive(); // the ages move on
  if (!reorgs.length) return <p class="empty">The chain was never reorganised.</p>;
  return (
    <ol class="timeline">
      {reorgs.map((reorg) => (
        <li key={reorg.time}>
          <time dateTime={reorg.time}>{ago(Date.parse(reorg.time))}</time>
          <div class="branches">
            <span class="fork">
              <a href={`/explorer/epoch/${reorg.fork}`}>Epoch {count(reorg.fork)}</a> stays
            </span>
            <div class="branch popped">
              <Popped from={reorg.fork + 1} depth={reorg.depth} />
              <span>
                <Badge tone="bad">{count(reorg.depth)} popped</Badge> old tip <Hash value={reorg.old.pivot} />
              </span>
            </div>
            <div class="branch grown">
              <span class="epochs" aria-hidden="true">
                <i />
              </span>
              <span>
                <Badge tone="good">replaced</Badge> by <Hash value={reorg.new.pivot} href={`/explorer/block/${reorg.new.pivot}`} />
              </span>
            </div>
          </div>
        </li>
      ))}
    </ol>
  );
}

function Popped({ from, depth }: { from: number; depth: number }) {
  return (
    <span class="epochs" role="img" aria-label={`Epochs ${from} to ${from + depth - 1} were popped`}>
      {Array.from({ length: Math.min(depth, 12) }, (_, i) => (
        <i key={i} title={`Epoch ${from + i}`} />
      ))}
    </span>
  );
}

