// The wire protocol by hand: messages made byte by byte, and a socket that gives back what the server answers.
import { once } from 'node:events';
import { connect } from 'node:net';
import { BSON } from 'mongodb';

const { serialize, deserialize } = BSON;
export const opcodes = { reply: 1, query: 2004, compressed: 2012, msg: 2013 };

const int32 = (value) => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value | 0);
  return bytes;
};

/** A whole message; `length` overrides the true one. */
export function message(opcode, body, { id = 1, length = body.length + 16 } = {}) {
  return Buffer.concat([int32(length), int32(id), int32(0), int32(opcode), body]);
}

export const bodySection = (document) => Buffer.concat([Buffer.from([0]), serialize(document)]);

/** A document sequence; `size` overrides the true one. */
export function sequence(name, documents, size = undefined) {
  const content = Buffer.concat([Buffer.from(`${name}\0`), ...documents.map((d) => serialize(d))]);
  return Buffer.concat([Buffer.from([1]), int32(size ?? content.length + 4), content]);
}

/** OP_MSG of sections that are made already. */
export function opMsg(sections, { flags = 0, checksum, ...options } = {}) {
  const body = Buffer.concat([int32(flags), ...sections]);
  if (!(flags & 1)) return message(opcodes.msg, body, options);
  const head = message(opcodes.msg, body, { ...options, length: body.length + 20 });
  return Buffer.concat([head, int32(checksum ?? crc32c(head))]);
}

/** A command as a driver sends it. */
export const command = (document, options = {}) => opMsg([bodySection({ ...document, $db: 'test' })], options);

/** OP_QUERY on a `$cmd` collection, as drivers begin. */
export function opQuery(document, { collection = 'admin.$cmd', toReturn = -1, ...options } = {}) {
  return message(opcodes.query, Buffer.concat([int32(4), Buffer.from(`${collection}\0`), int32(0), int32(toReturn), serialize(document)]), options);
}

/** OP_COMPRESSED around a message; compressors: 0 none, 1 snappy, 2 zlib, 3 zstd. */
export function compressed(inner, compressor, compress, size = inner.length - 16) {
  const body = Buffer.concat([inner.subarray(12, 16), int32(size), Buffer.from([compressor]), compress(inner.subarray(16))]);
  return message(opcodes.compressed, body, { id: inner.readInt32LE(4) });
}

/** OP_MSG whose string `pad` of `bytes` times x is packed by zstd into runs: a few hundred bytes for megabytes. */
export function bomb(document, bytes) {
  const inner = opMsg([bodySection({ ...document, $db: 'test', pad: '' })]).subarray(16);
  const padAt = inner.length - 2; // before the string's end and the document's
  const prefix = Buffer.from(inner.subarray(0, padAt));
  prefix.writeInt32LE(prefix.readInt32LE(5) + bytes, 5);
  prefix.writeInt32LE(1 + bytes, padAt - 4);
  const block = (type, size, content, last = 0) => Buffer.concat([int32(last | (type << 1) | (size << 3)).subarray(0, 3), content]);
  const runs = [];
  for (let left = bytes; left > 0; left -= 1 << 17) runs.push(block(1, Math.min(left, 1 << 17), Buffer.from('x')));
  const size = inner.length + bytes;
  const frame = Buffer.concat([int32(0xfd2fb528), Buffer.from([0xa0]), int32(size), block(0, padAt, prefix), ...runs, block(0, 2, Buffer.alloc(2), 1)]);
  return message(opcodes.compressed, Buffer.concat([int32(opcodes.msg), int32(size), Buffer.from([3]), frame]));
}

export function crc32c(bytes) {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; ++bit) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return ~crc;
}

/** One reply, taken apart. */
export function parse(bytes, decompress = undefined) {
  const header = { length: bytes.readInt32LE(0), id: bytes.readInt32LE(4), responseTo: bytes.readInt32LE(8), opcode: bytes.readInt32LE(12) };
  if (header.opcode === opcodes.reply) return { ...header, flags: bytes.readInt32LE(16), document: deserialize(bytes.subarray(36)) };
  if (header.opcode === opcodes.compressed) {
    const body = decompress(bytes.subarray(25));
    return { ...header, compressor: bytes[24], ...parseMsg(Buffer.concat([bytes.subarray(0, 16), body])) };
  }
  return { ...header, ...parseMsg(bytes) };
}

function parseMsg(bytes) {
  const flags = bytes.readUInt32LE(16);
  const end = bytes.length - (flags & 1 ? 4 : 0);
  return { flags, checksumOk: flags & 1 ? bytes.readInt32LE(end) === crc32c(bytes.subarray(0, end)) : undefined, document: deserialize(bytes.subarray(21, end)) };
}

/** A connection without a driver. */
export class RawConnection {
  #received = Buffer.alloc(0);
  #waiting = [];
  closed = false;

  static async open(uri, options = {}) {
    const { hostname, port } = new URL(uri);
    const connection = new RawConnection();
    connection.socket = connect({ host: hostname, port: Number(port), ...options });
    connection.socket.on('data', (data) => connection.#take(data));
    connection.socket.on('error', () => {});
    connection.socket.on('close', () => {
      connection.closed = true;
      for (const resolve of connection.#waiting.splice(0)) resolve(null);
    });
    await once(connection.socket, 'connect');
    return connection;
  }

  /** A connection that has said hello: from then on messages may be larger than 1 MB. */
  static async greet(uri, options = {}) {
    const connection = await RawConnection.open(uri, options);
    await connection.ask(command({ hello: 1 }));
    return connection;
  }

  #take(data) {
    this.#received = Buffer.concat([this.#received, data]);
    while (this.#waiting.length > 0) {
      const reply = this.#shift();
      if (!reply) return;
      this.#waiting.shift()(reply);
    }
  }

  #shift() {
    if (this.#received.length < 4 || this.#received.length < this.#received.readInt32LE(0)) return null;
    const length = this.#received.readInt32LE(0);
    const reply = this.#received.subarray(0, length);
    this.#received = this.#received.subarray(length);
    return reply;
  }

  send(bytes) {
    this.socket.write(bytes);
  }

  /** The bytes of the next reply; null if the server closed the connection, or said nothing for 30 s. */
  async next() {
    const reply = this.#shift();
    if (reply || this.closed) return reply;
    const patience = setTimeout(() => this.close(), 30000);
    try {
      return await new Promise((resolve) => this.#waiting.push(resolve));
    } finally {
      clearTimeout(patience);
    }
  }

  async ask(bytes) {
    this.send(bytes);
    const reply = await this.next();
    return reply && parse(reply);
  }

  close() {
    this.socket.destroy();
  }
}
