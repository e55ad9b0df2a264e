// What the explorer's API answers, and the columns that its lists have in common.
import { ago, count, ether, fromHex } from '../format';
import type { Column } from '../ui';
import { Badge, Hash } from '../ui';

export interface At {
  epoch: number | null;
  pivot: string;
}
export interface Block {
  hash: string;
  score: number;
  epochNumber: string;
  miner: string;
  timestamp: string;
  isPivot: string;
  difficulty: string;
  transactionCount: string;
  newTransactionCount: string;
  parentHash?: string;
  height?: string;
  gasLimit?: string;
  nonce?: string;
  size?: string;
  refereeHashes?: string[];
}
export interface Transaction {
  hash: string;
  score?: number;
  from?: string;
  to?: string | null;
  value?: string;
  timestamp?: string;
  type?: string;
  transactionIndex?: string;
  blockHash?: string;
  gas?: string;
  gasPrice?: string;
  gasUsed?: string;
  outcomeStatus?: string;
  nonce?: string;
  epochNumber?: string;
}
export interface Reorganisation {
  time: string;
  depth: number;
  fork: number;
  old: { epoch: number; pivot: string };
  new: { epoch: number; pivot: string };
}

const seconds = (hex?: string) => (fromHex(hex) ?? 0) * 1000;
export const chainTime = (hex?: string) => (hex ? new Date(seconds(hex)).toISOString().replace('T', ' ').slice(0, 19) : '–');
export const chainAge = (hex?: string) => (hex ? ago(seconds(hex)) : '–');

export const blockColumns: Column<Block>[] = [
  { name: 'Epoch', cell: (block) => <a href={`/explorer/epoch/${fromHex(block.epochNumber)}`}>{count(fromHex(block.epochNumber))}</a> },
  {
    name: 'Block',
    cell: (block) => (
      <>
        <Hash value={block.hash} href={`/explorer/block/${block.hash}`} /> {fromHex(block.isPivot) === 1 && <Badge>pivot</Badge>}
      </>
    ),
  },
  { name: 'Miner', cell: (block) => <Hash value={block.miner} href={`/explorer/miner/${block.miner}`} />, wide: true },
  { name: 'Txs', number: true, cell: (block) => count(fromHex(block.transactionCount)) },
];

export const transactionColumns: Column<Transaction>[] = [
  { name: 'Transaction', cell: (one) => <Hash value={one.hash} href={`/explorer/transaction/${one.hash}`} /> },
  { name: 'From', cell: (one) => one.from && <Hash value={one.from} href={`/explorer/account/${one.from}`} />, wide: true },
  { name: 'To', cell: (one) => (one.to ? <Hash value={one.to} href={`/explorer/account/${one.to}`} /> : <span class="muted">new contract</span>), wide: true },
  { name: 'Value', number: true, cell: (one) => ether(one.value) },
];
