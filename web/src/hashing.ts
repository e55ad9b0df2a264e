// Hashes of records, and proofs that a record was in the log, computed by the browser itself (include/braid/chains.h,
// chain_tree.h and checkpoint.h say what is hashed).
export interface HashedRecord {
  chain: number;
  sequence: number;
  prevHash: Uint8Array;
  also: number[];
  payload: Uint8Array;
}

export function fromHexBytes(text: string): Uint8Array {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}
export const toHex = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

const u32 = (n: number) => new Uint8Array(new Uint32Array([n]).buffer).reverse();
const i64 = (n: number) => new Uint8Array(new BigInt64Array([BigInt(n)]).buffer).reverse();
function joined(...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
const sha256 = async (bytes: Uint8Array<ArrayBuffer>) => new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));

export function hashRecord(record: HashedRecord): Promise<Uint8Array> {
  const domain = joined(new TextEncoder().encode('braid.chain.v1'), new Uint8Array(2));
  return sha256(joined(domain, i64(record.chain), i64(record.sequence), record.prevHash, u32(record.also.length), u32(record.payload.length), ...record.also.map(i64), record.payload));
}

/** RFC 6962: the root that a leaf at this place leads to. */
async function rootOf(leaf: Uint8Array, index: number, leaves: number, path: Uint8Array[]): Promise<Uint8Array> {
  if (leaves <= 1) {
    if (path.length) throw new Error('the path is too long');
    return leaf;
  }
  let half = 1;
  while (half * 2 < leaves) half *= 2;
  const sibling = path.at(-1);
  if (!sibling) throw new Error('the path is too short');
  const rest = path.slice(0, -1);
  const [left, right] = index < half ? [await rootOf(leaf, index, half, rest), sibling] : [sibling, await rootOf(leaf, index - half, leaves - half, rest)];
  return sha256(joined(Uint8Array.of(1), left, right));
}

export interface Proof {
  checkpoint: { version: number; store: string; sequence: number; created_at: number; chains: number; root: string; key: string; signature: string };
  record: { chain: number; sequence: number; prev_hash: string; also: number[]; payload: string };
  record_index: number;
  record_path: string[];
  head: { sequence: number; hash: string; records: number };
  head_index: number;
  head_path: string[];
}

/** Whether the key has signed the checkpoint; nothing if this browser cannot tell. */
export async function checkSignature({ checkpoint }: Proof, publicKey: string): Promise<boolean | undefined> {
  const store = new TextEncoder().encode(checkpoint.store);
  const signed = joined(new TextEncoder().encode('braid checkpoint'), u32(checkpoint.version), i64(checkpoint.sequence), i64(checkpoint.created_at), i64(checkpoint.chains), fromHexBytes(checkpoint.root), u32(store.length), store);
  try {
    const key = await crypto.subtle.importKey('raw', joined(fromHexBytes(publicKey)), 'Ed25519', false, ['verify']);
    return await crypto.subtle.verify('Ed25519', key, joined(fromHexBytes(checkpoint.signature)), signed);
  } catch {
    return undefined;
  }
}

export interface Checked {
  hash: string;
  root: string;
  ok: boolean;
}

/** Follows the proof from the record to the root that the checkpoint signs. */
export async function checkProof(proof: Proof): Promise<Checked> {
  const { record, head, checkpoint } = proof;
  const hash = await hashRecord({ chain: record.chain, sequence: record.sequence, prevHash: fromHexBytes(record.prev_hash), also: record.also, payload: fromHexBytes(record.payload) });
  const tree = await rootOf(hash, proof.record_index, head.records, proof.record_path.map(fromHexBytes));
  const leaf = await sha256(joined(Uint8Array.of(0), i64(record.chain), i64(head.sequence), fromHexBytes(head.hash), i64(head.records), tree));
  const root = toHex(await rootOf(leaf, proof.head_index, checkpoint.chains, proof.head_path.map(fromHexBytes)));
  return { hash: toHex(hash), root, ok: root === checkpoint.root };
}
