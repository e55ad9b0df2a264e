#!/usr/bin/env node
// One document that 1 to 512 connections update as fast as they are answered, durably. All connections belong to this one process, which
// waits for all of them at once: so the client's work for an operation is the same however many there are, and what changes with their
// number is the server's. The sum in the document is compared with the answers.
//   BRAID_BINARY=… node tests/soak/hot.mjs [--writers 1,8,64,256,512] [--seconds 4] [--serve "OPTIONS OF braid serve"]
import { once } from 'node:events';
import { connect } from 'node:net';
import { parseArgs } from 'node:util';
import { MongoClient } from 'mongodb';
import { startServer } from '../lib/server.mjs';
import { command } from '../lib/wire.mjs';

const { values } = parseArgs({ options: { writers: { type: 'string', default: '1,8,64,256,512' }, seconds: { type: 'string', default: '4' }, serve: { type: 'string', default: '' } } });
const increment = command({ update: 'hot', updates: [{ q: { _id: 1 }, u: { $inc: { n: 1 } } }] });

class Writer {
  answers = 0;
  #left = 0; // bytes of the reply that has begun
  #resolve;

  static async open(uri) {
    const writer = new Writer();
    const { hostname, port } = new URL(uri);
    writer.socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await once(writer.socket, 'connect');
    writer.socket.on('data', (data) => writer.#take(data));
    return writer;
  }

  /** Until `goes()` is false and the last answer has come; an error if the connection ends before. */
  run(goes) {
    this.goes = goes;
    this.socket.write(increment);
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.socket.once('error', reject);
      this.socket.once('close', () => reject(new Error('the server closed the connection')));
    });
  }

  #take(data) {
    if (this.#left === 0) this.#left = data.readInt32LE(0);
    this.#left -= data.length;
    if (this.#left > 0) return;
    ++this.answers;
    if (this.goes()) this.socket.write(increment);
    else this.#resolve();
  }
}

console.log('| writers | ops/s | syncs/s | CPU µs/op of the server | answers of a writer, least and most |');
console.log('| --- | --- | --- | --- | --- |');
const server = await startServer(values.serve.split(' ').filter(Boolean));
const client = await MongoClient.connect(server.uri);
const hot = client.db('test').collection('hot');
for (const count of values.writers.split(',').map(Number)) {
  await hot.deleteMany({});
  await hot.insertOne({ _id: 1, n: 0 });
  const writers = await Promise.all(Array.from({ length: count }, () => Writer.open(server.uri)));
  const figures = async () => {
    const status = await client.db('admin').command({ serverStatus: 1 });
    return { at: performance.now(), cpu: Number(status.extra_info.user_time_us) + Number(status.extra_info.system_time_us), syncs: Number(status.rocksdb.syncs) };
  };
  const before = await figures();
  const until = performance.now() + Number(values.seconds) * 1000;
  await Promise.all(writers.map((writer) => writer.run(() => performance.now() < until)));
  const after = await figures();
  const answers = writers.map((writer) => writer.answers);
  const sum = answers.reduce((total, each) => total + each, 0);
  const { n } = await hot.findOne({ _id: 1 });
  if (n !== sum) throw new Error(`the document has ${n}, acknowledged were ${sum}`);
  const seconds = (after.at - before.at) / 1000;
  console.log(`| ${count} | ${Math.round(sum / seconds)} | ${Math.round((after.syncs - before.syncs) / seconds)} | ${((after.cpu - before.cpu) / sum).toFixed(1)} | ${Math.min(...answers)}, ${Math.max(...answers)} |`);
  for (const { socket } of writers) socket.destroy();
}
await client.close();
await server.stop();
