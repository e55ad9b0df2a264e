// A block, a transaction, an account, a miner and an epoch, each at an address of its own.
import type { ComponentChildren } from 'preact';
import { useData } from '../data';
import { bytes, count, ether, fromHex } from '../format';
import { Pages, pagedPath } from '../paging';
import { useTitle } from '../router';
import { Badge, Hash, Heading, Panel, Shown, Table } from '../ui';
import { Search } from './explorer';
import type { Block, Transaction } from './explorer_types';
import { blockColumns, chainTime, transactionColumns } from './explorer_types';

interface ThingProps {
  subject: string;
  query: URLSearchParams;
}

function Frame({ name, subject, children }: { name: string; subject: string; children: ComponentChildren }) {
  useTitle(`${name} ${subject.slice(0, 10)}`);
  return (
    <>
      <Search />
      <p class="crumbs">
        <a href="/explorer">Explorer</a> / {name}
      </p>
      <Heading title={name}>
        <Hash value={subject} whole />
      </Heading>
      <div class="stack">{children}</div>
    </>
  );
}

function Transactions({ path, title, query }: { path: string; title: string; query: URLSearchParams }) {
  const answer = useData<{ transactions: Transaction[]; next: string | null }>(pagedPath(path, query, 25));
  return (
    <Panel title={title}>
      <Shown answer={answer}>
        {({ transactions, next }) => (
          <>
            <Table caption={title} columns={transactions[0]?.type ? accountColumns : transactionColumns} rows={transactions} keyOf={({ hash }) => hash} empty="No transactions." />
            <Pages next={next} />
          </>
        )}
      </Shown>
    </Panel>
  );
}

const accountColumns = [
  transactionColumns[0],
  { name: 'As', cell: (one: Transaction) => <Badge>{one.type}</Badge> },
  { name: 'Time', number: true, wide: true, cell: (one: Transaction) => chainTime(one.timestamp) },
];

function Blocks({ path, title, query }: { path: string; title: string; query: URLSearchParams }) {
  const answer = useData<{ blocks: Block[]; next: string | null }>(pagedPath(path, query, 25));
  return (
    <Panel title={title}>
      <Shown answer={answer}>
        {({ blocks, next }) => (
          <>
            <Table caption={title} columns={blockColumns} rows={blocks} keyOf={({ hash }) => hash} empty="No blocks." />
            <Pages next={next} />
          </>
        )}
      </Shown>
    </Panel>
  );
}

export function BlockPage({ subject, query }: ThingProps) {
  const answer = useData<{ block: Block }>(`/v1/blocks/${subject}`);
  return (
    <Frame name="Block" subject={subject}>
      <Panel title="What it says">
        <Shown answer={answer} rows={8}>
          {({ block }) => (
            <dl class="fields">
              <dt>Epoch</dt>
              <dd>
                <a href={`/explorer/epoch/${fromHex(block.epochNumber)}`}>{count(fromHex(block.epochNumber))}</a> {fromHex(block.isPivot) === 1 && <Badge tone="good">pivot</Badge>}
              </dd>
              <dt>Place in execution order</dt>
              <dd>{count(block.score)}</dd>
              <dt>Time</dt>
              <dd>{chainTime(block.timestamp)} UTC</dd>
              <dt>Miner</dt>
              <dd>
                <Hash value={block.miner} href={`/explorer/miner/${block.miner}`} />
              </dd>
              <dt>Parent</dt>
              <dd>{block.parentHash && <Hash value={block.parentHash} href={`/explorer/block/${block.parentHash}`} />}</dd>
              <dt>Referees</dt>
              <dd>{block.refereeHashes?.length ? block.refereeHashes.map((hash) => <Hash key={hash} value={hash} href={`/explorer/block/${hash}`} />) : 'none'}</dd>
              <dt>Transactions</dt>
              <dd>
                {count(fromHex(block.transactionCount))}, of which {count(fromHex(block.newTransactionCount))} for the first time
              </dd>
              <dt>Difficulty</dt>
              <dd>{BigInt(block.difficulty).toLocaleString('en')}</dd>
              <dt>Size</dt>
              <dd>{bytes(fromHex(block.size))}</dd>
            </dl>
          )}
        </Shown>
      </Panel>
      {answer.data && <Transactions path={`/v1/blocks/${subject}/transactions`} title="Its transactions" query={query} />}
    </Frame>
  );
}

export function TransactionPage({ subject }: ThingProps) {
  const answer = useData<{ transaction: Transaction }>(`/v1/transactions/${subject}`);
  return (
    <Frame name="Transaction" subject={subject}>
      <Panel title="What it says">
        <Shown answer={answer} rows={8}>
          {({ transaction: one }) => (
            <dl class="fields">
              <dt>Outcome</dt>
              <dd>{one.outcomeStatus === undefined ? <Badge>no receipt yet</Badge> : fromHex(one.outcomeStatus) === 0 ? <Badge tone="good">succeeded</Badge> : <Badge tone="bad">failed</Badge>}</dd>
              <dt>From</dt>
              <dd>{one.from && <Hash value={one.from} href={`/explorer/account/${one.from}`} />}</dd>
              <dt>To</dt>
              <dd>{one.to ? <Hash value={one.to} href={`/explorer/account/${one.to}`} /> : 'a new contract'}</dd>
              <dt>Value</dt>
              <dd>{ether(one.value)}</dd>
              <dt>Time</dt>
              <dd>{chainTime(one.timestamp)} UTC</dd>
              <dt>Block</dt>
              <dd>{one.blockHash && <Hash value={one.blockHash} href={`/explorer/block/${one.blockHash}`} />}</dd>
              <dt>Gas</dt>
              <dd>
                {count(fromHex(one.gasUsed))} used of {count(fromHex(one.gas))}
              </dd>
              <dt>Nonce</dt>
              <dd>{count(fromHex(one.nonce))}</dd>
              <dt>Place in execution order</dt>
              <dd>{count(one.score)}</dd>
            </dl>
          )}
        </Shown>
      </Panel>
    </Frame>
  );
}

export const AccountPage = ({ subject, query }: ThingProps) => (
  <Frame name="Account" subject={subject}>
    <Transactions path={`/v1/accounts/${subject}/transactions`} title="Its transactions, newest first" query={query} />
  </Frame>
);

export const MinerPage = ({ subject, query }: ThingProps) => (
  <Frame name="Miner" subject={subject}>
    <Blocks path={`/v1/miners/${subject}/blocks`} title="Its blocks, newest first" query={query} />
  </Frame>
);

export const EpochPage = ({ subject, query }: ThingProps) => (
  <Frame name="Epoch" subject={subject}>
    <Blocks path={`/v1/epochs/${subject}/blocks`} title="Its blocks, in execution order" query={query} />
    <p class="pages">
      {Number(subject) > 0 && (
        <a class="action" href={`/explorer/epoch/${Number(subject) - 1}`}>
          Epoch before
        </a>
      )}
      <a class="action" href={`/explorer/epoch/${Number(subject) + 1}`}>
        Epoch after
      </a>
    </p>
  </Frame>
);
