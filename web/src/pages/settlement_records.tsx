// A symbol's records, and one record whose hash the browser computes itself.
import { useEffect, useState } from 'preact/hooks';
import { ask, useData } from '../data';
import { useDemo } from '../demo';
import { count, dateTime } from '../format';
import { checkProof, checkSignature, fromHexBytes, hashRecord, toHex } from '../hashing';
import type { Proof } from '../hashing';
import { Pages, pagedPath } from '../paging';
import { useTitle } from '../router';
import { Badge, Hash, Heading, Panel, Shown, Table } from '../ui';
import type { Heads } from './settlement';

interface RecordRow {
  output_seq: number;
  hash: string;
  created_at: string;
  output_data: { order_update: { status: string } | null; trades: unknown[]; balance_events: unknown[] };
}

export function SymbolPage({ symbol, query }: { symbol: string; query: URLSearchParams }) {
  useTitle(`Symbol ${symbol}`);
  const heads = useData<Heads>('/v1/heads', 2000);
  const chain = heads.data?.symbols.find((one) => String(one.symbol_id) === symbol);
  const answer = useData<{ records: RecordRow[]; next: number | null }>(pagedPath(`/v1/symbols/${symbol}/records`, query, 25, 'from'));
  return (
    <>
      <p class="crumbs">
        <a href="/settlement">Settlement</a> / Symbol {symbol}
      </p>
      <Heading title={`Symbol ${symbol}`}>
        {chain ? (
          <>
            {count(chain.records)} records up to output {count(chain.output_seq)} · head <Hash value={chain.hash} href={`/settlement/symbol/${symbol}/record/${chain.output_seq}`} /> {chain.halted && <Badge tone="bad">halted</Badge>}
          </>
        ) : (
          'Its records, in the order of the chain'
        )}
      </Heading>
      <Panel title="Records">
        <Shown answer={answer} rows={10}>
          {({ records, next }) => (
            <>
              <Table
                caption={`Records of symbol ${symbol}`}
                rows={records}
                keyOf={({ output_seq }) => output_seq}
                empty="This symbol has no records."
                columns={[
                  { name: 'Output', cell: (row) => <a href={`/settlement/symbol/${symbol}/record/${row.output_seq}`}>{count(row.output_seq)}</a> },
                  { name: 'Hash', cell: (row) => <Hash value={row.hash} href={`/settlement/symbol/${symbol}/record/${row.output_seq}`} /> },
                  { name: 'Order', wide: true, cell: (row) => row.output_data.order_update?.status ?? '–' },
                  { name: 'Trades', number: true, cell: (row) => count(row.output_data.trades.length) },
                  { name: 'Balance events', number: true, wide: true, cell: (row) => count(row.output_data.balance_events.length) },
                  { name: 'Committed', number: true, wide: true, cell: (row) => dateTime(Date.parse(row.created_at)) },
                ]}
              />
              <Pages next={next} name="from" />
            </>
          )}
        </Shown>
      </Panel>
    </>
  );
}

interface RecordAnswer {
  symbol_id: number;
  output_seq: number;
  prev_hash: string;
  hash: string;
  also: number[];
  payload: string;
  created_at: string;
  next_seq?: number;
}

export function RecordPage({ symbol, sequence }: { symbol: string; sequence: string }) {
  useTitle(`Output ${sequence} of symbol ${symbol}`);
  const answer = useData<RecordAnswer>(`/v1/symbols/${symbol}/records/${sequence}`);
  return (
    <>
      <p class="crumbs">
        <a href="/settlement">Settlement</a> / <a href={`/settlement/symbol/${symbol}`}>Symbol {symbol}</a> / Output {sequence}
      </p>
      <Heading title={`Output ${count(Number(sequence))}`}>A record of symbol {symbol}</Heading>
      <Shown answer={answer} rows={8}>
        {(record) => (
          <div class="grid side">
            <div class="stack">
              <Recomputed record={record} />
              <Panel title="Payload" note={`${count(new TextEncoder().encode(record.payload).length)} bytes, as they are hashed`}>
                <pre class="payload" tabIndex={0}>
                  {JSON.stringify(JSON.parse(record.payload), null, 2)}
                </pre>
              </Panel>
            </div>
            <div class="stack">
              <Panel title="Its place">
                <dl class="pairs plain">
                  <dt>Committed</dt>
                  <dd>{dateTime(Date.parse(record.created_at))}</dd>
                  <dt>Other chains that carry it</dt>
                  <dd>{record.also.length ? record.also.map((other) => <a key={other} href={`/settlement/symbol/${other}/record/${sequence}`}>Symbol {other} </a>) : 'none'}</dd>
                  <dt>Record after it</dt>
                  <dd>{record.next_seq ? <a href={`/settlement/symbol/${symbol}/record/${record.next_seq}`}>Output {count(record.next_seq)}</a> : 'none yet'}</dd>
                </dl>
              </Panel>
              <ProofPanel symbol={symbol} sequence={sequence} />
            </div>
          </div>
        )}
      </Shown>
    </>
  );
}

/** The hash, computed here from what the server says was hashed. */
function Recomputed({ record }: { record: RecordAnswer }) {
  const [mine, setMine] = useState<string>();
  useEffect(() => {
    let gone = false;
    const fields = { chain: record.symbol_id, sequence: record.output_seq, prevHash: fromHexBytes(record.prev_hash), also: record.also, payload: new TextEncoder().encode(record.payload) };
    void hashRecord(fields).then((hash) => gone || setMine(toHex(hash)));
    return () => void (gone = true);
  }, [record]);
  return (
    <Panel title="Hash" action={mine === undefined ? <Badge>computing …</Badge> : mine === record.hash ? <Badge tone="good">confirmed in your browser</Badge> : <Badge tone="bad">does not match</Badge>}>
      <dl class="fields">
        <dt>Stored</dt>
        <dd>
          <Hash value={record.hash} whole />
        </dd>
        <dt>Computed here</dt>
        <dd>{mine && <Hash value={mine} whole />}</dd>
        <dt>Of the record before</dt>
        <dd>
          <Hash value={record.prev_hash} whole />
        </dd>
      </dl>
    </Panel>
  );
}

function ProofPanel({ symbol, sequence }: { symbol: string; sequence: string }) {
  const [text, setText] = useState('');
  const [tone, setTone] = useState('');
  const [key, setKey] = useState('');
  // Whoever checks has the key from elsewhere; the demo tells its own.
  const publicKey = key.trim().toLowerCase() || String(useDemo()?.status.settlement?.public_key ?? '');
  const address = `/v1/symbols/${symbol}/records/${sequence}/proof`;
  const check = async () => {
    try {
      const proof = await ask<Proof>(address);
      const { ok } = await checkProof(proof);
      const signed = publicKey ? await checkSignature(proof, publicKey) : undefined;
      const hashes = proof.record_path.length + proof.head_path.length;
      setTone(ok && signed !== false ? 'good' : 'bad');
      if (!ok) setText('The hashes do not lead to the root of the checkpoint.');
      else if (signed === false) setText('The hashes lead to the root of the checkpoint, but it was not signed with this key.');
      else setText(`${hashes} hashes lead from this record to the root that key ${proof.checkpoint.key} has signed. ${signed ? 'The signature is right.' : 'To check the signature, give its public key.'}`);
    } catch (error) {
      setTone('');
      setText((error as Error).message);
    }
  };
  return (
    <Panel title="Proof">
      <p class="muted">That this record was in the log when the newest checkpoint was signed.</p>
      <label class="key">
        Public key <input value={key} onInput={(event) => setKey(event.currentTarget.value)} placeholder={publicKey ? 'that of the demo' : '64 hexadecimal digits, if you have it'} autocomplete="off" spellcheck={false} />
      </label>
      <div class="buttons">
        <button type="button" class="action first" onClick={check}>
          Check the proof
        </button>
        <a class="action" href={address} download={`proof-${symbol}-${sequence}.json`}>
          Download
        </a>
      </div>
      <div role="status">{text && <p class={`outcome ${tone}`}>{text}</p>}</div>
    </Panel>
  );
}
