// What an answer over HTTP costs beside the same query through the driver: requests per second, latency and the server's CPU time, one
// after the other on one server. Not a part of ./check.
// usage: node tests/soak/http_beside_driver.mjs [SECONDS] [CLIENTS]
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { MongoClient } from 'mongodb';
import { binary, startServer } from '../lib/server.mjs';

const seconds = Number(process.argv[2] ?? 5);
const clients = Number(process.argv[3] ?? 8);

const server = await startServer(['--http-port', '0']);
const braid = (args, input) => execFileSync(binary, args, { input, stdio: ['pipe', 'pipe', 'ignore'], maxBuffer: 1 << 28 });
braid(['staking', 'ingest', '--store', server.uri, '-'], braid(['staking', 'generate', '--events', '20000', '--seed', '1']));
braid(['explorer', 'import', '--store', server.uri, '-'], braid(['explorer', 'generate', '--epochs', '500', '--seed', '1']));

const client = await MongoClient.connect(server.uri, { maxPoolSize: clients });
const staking = client.db('staking');
const explorer = client.db('explorer');
const hash = (await explorer.collection('blocks').findOne())._id;

/** The server's CPU time so far, in microseconds. */
function cpuMicros() {
  const fields = readFileSync(`/proc/${server.pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

const agent = new Agent({ keepAlive: true, maxSockets: clients });
const http = (path) => () =>
  new Promise((resolve, reject) => {
    get(server.httpUri.replace(/\/$/, '') + path, { agent }, (response) => {
      response.resume().once('end', () => (response.statusCode === 200 ? resolve() : reject(new Error(`${path}: ${response.statusCode}`))));
    }).once('error', reject);
  });
const shards = Array.from({ length: 10 }, (_, shard) => String(shard));
const cases = [
  ['GET /v1/stats', http('/v1/stats')],
  [
    'the same through the driver: the logical shards, and three counts',
    async () => {
      await Promise.all([
        staking.collection('overall_stats').find({ _id: { $in: shards } }).toArray(),
        ...['pending_events', 'unprocessable_messages', 'conflicting_events'].map((name) => staking.collection(name).estimatedDocumentCount()),
      ]);
    },
  ],
  ['GET /v1/blocks/{hash}', http(`/v1/blocks/${hash}`)],
  [
    'the same through the driver: the tip, and the block',
    async () => {
      await explorer.collection('timeline_head').findOne();
      await explorer.collection('blocks').findOne({ _id: hash });
    },
  ],
];
console.log(`${clients} clients, ${seconds} s each`);
for (const [name, ask] of cases) {
  for (let i = 0; i < 200; ++i) await ask();
  const latencies = [];
  const cpu = cpuMicros();
  const end = performance.now() + seconds * 1000;
  const one = async () => {
    for (let now = performance.now(); now < end; ) {
      await ask();
      const after = performance.now();
      latencies.push(after - now);
      now = after;
    }
  };
  await Promise.all(Array.from({ length: clients }, one));
  latencies.sort((a, b) => a - b);
  const at = (share) => latencies[Math.floor(latencies.length * share)].toFixed(2);
  const each = ((cpuMicros() - cpu) / latencies.length).toFixed(0);
  console.log(`${name}: ${Math.round(latencies.length / seconds)}/s, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, ${each} us of the server's CPU`);
}
await client.close();
agent.destroy();
await server.stop();
