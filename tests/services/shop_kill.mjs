// Kills the processes of merges and checkouts, at random moments, and gives the same operations with the same keys again. The
// answers of both times and what is stored in the end must agree: one order for a key, and every unit either in stock or in an order.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { KillableServer } from '../lib/killable.mjs';
import { results, run, start, stockOf, text } from './shop_model.mjs';

const zone = 'RU-MOW';
const plenty = 1_000_000;

export class Rounds {
  counts = { rounds: 0, orders: 0, refused: 0, kills: 0, answered: 0 };
  #directory = mkdtempSync(join(tmpdir(), 'braid-shop-kill-'));
  #random;
  #server;

  static async open(random) {
    const rounds = new Rounds();
    rounds.#random = random;
    rounds.#server = await KillableServer.open(join(rounds.#directory, 'store'), random);
    await rounds.#server.start();
    return rounds;
  }

  async close() {
    await this.#server.kill();
    rmSync(this.#directory, { recursive: true });
  }

  /** Buyers with a guest's cart and one of their own; some want the scarce product, of which there is not enough for all. */
  async #buyers(where) {
    const tag = `r${this.counts.rounds}`;
    const scarce = { id: `scarce-${tag}`, stock: this.#random.between(3, 12) };
    const common = { id: `common-${tag}`, stock: plenty };
    const put = ({ id, stock }) => ({ op: 'put_product', product: { _id: id, name: id, category: 'c', price: '1.25', currency: 'RUB', stock_by_geo: [{ geo_zone: zone, qty: stock }], attrs: {} } });
    const buyers = Array.from({ length: this.#random.between(10, 30) }, (_, i) => ({
      user: `U-${tag}-${i}`, session: `S-${tag}-${i}`, key: `k-${tag}-${i}`, guest: this.#random.between(1, 5), own: this.#random.between(0, 4), scarce: this.#random.chance(2) ? this.#random.between(1, 2) : 0,
    }));
    await results(where, [put(scarce), put(common), ...buyers.flatMap(({ user, session, guest, own, scarce: few }) => [
      { op: 'add_to_cart', session_id: session, product_id: common.id, qty: guest },
      ...(own ? [{ op: 'add_to_cart', user_id: user, product_id: common.id, qty: own }] : []),
      ...(few ? [{ op: 'add_to_cart', user_id: user, product_id: scarce.id, qty: few }] : []),
    ])], '--parallel', '4');
    const operations = buyers.flatMap(({ user, session, key }) => [
      { op: 'merge_carts', session_id: session, user_id: user },
      { op: 'checkout', user_id: user, geo_zone: zone, idempotency_key: key },
    ]);
    return { scarce, common, buyers, operations };
  }

  /** Results of a process that was killed: those of the lines that it could answer. */
  static #answers(stdout) {
    return stdout.split('\n').slice(0, -1).map((line) => JSON.parse(line));
  }

  /** A moment in the midst of the work: after some of the answers, or before the first. */
  async #moment({ child, ended }, operations) {
    const wanted = this.#random.below(Math.floor(operations.length / 2));
    let lines = 0;
    const answered = new Promise((resolve) => child.stdout.on('data', (data) => (lines += data.split('\n').length - 1) >= wanted && resolve()));
    if (wanted > 0) await Promise.race([answered, ended]);
    await sleep(this.#random.below(wanted > 0 ? 20 : 250));
  }

  /** Over TCP: the client or the server is killed, or both. */
  async server() {
    const where = ['--store', this.#server.uri];
    const round = await this.#buyers(where);
    const process = start(['do', ...where, '--parallel', String(this.#random.between(1, 8)), '-'], text(round.operations));
    const { child, ended } = process;
    await this.#moment(process, round.operations);
    const victims = this.#random.pick([['client'], ['server'], ['client', 'server'], ['server', 'client']]);
    for (const victim of victims) {
      if (victim === 'client') {
        this.counts.kills += child.kill('SIGKILL') ? 1 : 0;
        continue;
      }
      await this.#server.kill();
      ++this.counts.kills;
      if (this.#random.chance(2)) await sleep(this.#random.below(200));
      await this.#server.start();
    }
    const { status, signal, stdout, stderr } = await ended;
    // Transactions are tried again; what met a dead server outside of one says so, and is given again.
    const unreachable = victims.includes('server') && status === 1 && /socket|connect|No suitable servers/i.test(stderr);
    assert.ok(status === 0 || signal === 'SIGKILL' || unreachable, `do ended with ${signal ?? status}: ${stderr}`);
    await this.#retry(where, round, Rounds.#answers(stdout));
  }

  /** The store in the process that is killed. */
  async directory() {
    const where = ['--store', join(this.#directory, `store${this.counts.rounds}`)];
    const round = await this.#buyers(where);
    // Its standard input stays open, so that it is there to be killed.
    const process = start(['do', ...where, '--parallel', '4', '-'], null);
    const { child, ended } = process;
    child.stdin.write(text(round.operations));
    await this.#moment(process, round.operations);
    this.counts.kills += child.kill('SIGKILL') ? 1 : 0;
    const { signal, stdout, stderr } = await ended;
    assert.equal(signal, 'SIGKILL', stderr);
    await this.#retry(where, round, Rounds.#answers(stdout));
  }

  async #retry(where, { scarce, common, buyers, operations }, before) {
    this.counts.answered += before.length;
    const last = await run(where, operations, '--parallel', '8');
    // What was acknowledged is there, and is what the same key gives again.
    before.forEach((answer, i) => {
      if (answer.ok && operations[i].op === 'checkout') assert.deepEqual(last[i], answer);
    });
    const found = await run(where, buyers.flatMap(({ user, session }) => [{ op: 'history', user_id: user, limit: 10 }, { op: 'cart', session_id: session }, { op: 'cart', user_id: user }]), '--parallel', '4');
    const sold = { [scarce.id]: 0, [common.id]: 0 };
    for (const [i, buyer] of buyers.entries()) {
      const [merge, checkout] = last.slice(2 * i, 2 * i + 2);
      const [history, guestCart, userCart] = found.slice(3 * i, 3 * i + 3);
      assert.ok(merge.ok, JSON.stringify(merge));
      assert.equal(guestCart.error?.code, 'unknown_cart'); // merged, so that it is nobody's any more
      const { orders, next } = history.result;
      assert.equal(next, null);
      if (!checkout.ok) {
        // Refused for want of the scarce product, with everything as it was: the cart waits, merged once.
        assert.equal(checkout.error.code, 'out_of_stock', JSON.stringify(checkout));
        assert.deepEqual([orders, buyer.scarce > 0], [[], true]);
        assert.equal(qtyOf(userCart.result, common.id), buyer.guest + buyer.own);
        ++this.counts.refused;
        continue;
      }
      assert.deepEqual(orders, [checkout.result]);
      assert.equal(userCart.error?.code, 'unknown_cart'); // there is nothing left to buy
      assert.deepEqual([qtyOf(checkout.result, common.id), qtyOf(checkout.result, scarce.id)], [buyer.guest + buyer.own, buyer.scarce], JSON.stringify({ buyer, checkout }));
      for (const id of [scarce.id, common.id]) sold[id] += qtyOf(checkout.result, id);
      ++this.counts.orders;
    }
    for (const { id, stock } of [scarce, common]) assert.equal(await stockOf(where, id, zone), stock - sold[id], id);
    ++this.counts.rounds;
  }
}

/** Units of a product in a cart or an order. */
const qtyOf = ({ items }, id) => items.filter((item) => item.product_id === id).reduce((sum, item) => sum + item.qty, 0);
