// What the retail files mean, computed by maps and loops from their text: an oracle for `braid shop import` and `report`.
import { parseCsv, units } from './shop_model.mjs';

const add = (map, key, make) => {
  if (!map.has(key)) map.set(key, make());
  return map.get(key);
};
const cents = (value) => Number(value); // exact in these files: far below 2 ** 53

/** Orders and products of CSV texts, in the order in which they are given. Rows must be readable: oddities are for other tests. */
export class Retail {
  rows = 0;
  refused = 0;
  orders = new Map(); // by order_id
  products = new Map(); // by stock code: the newest name and price

  add(csv) {
    const [, ...rows] = parseCsv(csv);
    for (const [invoice, code, description, quantity, date, price, customer, country] of rows) {
      ++this.rows;
      const canceled = invoice.startsWith('C');
      const qty = Number(quantity);
      const amount = units(price);
      const created = Date.parse(`${date.replace(' ', 'T')}Z`);
      this.#note(code, description.trim(), { sale: !canceled && qty > 0 && amount > 0n, created }, price);
      if (qty === 0 || qty > 0 === canceled) {
        ++this.refused;
        continue;
      }
      const order = add(this.orders, `RET-${invoice}`, () => ({ user_id: customer ? customer.replace(/\.0$/, '') : `guest:RET-${invoice}`, created, country, canceled, guest: !customer, items: [], total: 0n }));
      order.items.push({ product_id: code, price, qty: Math.abs(qty) });
      order.total += amount * BigInt(Math.abs(qty));
    }
  }

  #note(code, name, rank, price) {
    const newer = (old) => !old || (rank.sale === old.sale ? rank.created >= old.created : rank.sale);
    const product = add(this.products, code, () => ({ name: '', price: '0' }));
    if (newer(product.priced)) Object.assign(product, { price: rank.sale ? price : '0', priced: rank });
    if (name && newer(product.named)) Object.assign(product, { name, named: rank });
  }

  get counts() {
    const orders = [...this.orders.values()];
    return {
      rows: this.rows, orders: orders.length, canceled: orders.filter((order) => order.canceled).length, guests: orders.filter((order) => order.guest).length,
      products: this.products.size, refused: this.refused,
    };
  }

  /** As `report --json` has it, amounts as units. From and to are days, both included. */
  report({ from = '0000-01-01', to = '9999-12-31', top = 10 } = {}) {
    const day = (order) => new Date(order.created).toISOString().slice(0, 10);
    const orders = [...this.orders.values()].filter((order) => day(order) >= from && day(order) <= to);
    const sold = orders.filter((order) => !order.canceled);
    const canceled = orders.filter((order) => order.canceled);
    return { months: this.#months(orders), best_sellers: this.#sellers(sold, top), baskets: sold.length ? [baskets(sold)] : [], cancellations: orders.length ? [{ currency: 'GBP', orders: orders.length, canceled: canceled.length, canceled_amount: sum(canceled), rate: canceled.length / orders.length }] : [] };
  }

  #months(orders) {
    const months = new Map();
    for (const order of orders) {
      const month = new Date(order.created).toISOString().slice(0, 7);
      const row = add(months, `${month} ${order.country}`, () => ({ month, country: order.country, currency: 'GBP', orders: 0, revenue: 0n, canceled_orders: 0, canceled_amount: 0n }));
      row[order.canceled ? 'canceled_orders' : 'orders'] += 1;
      row[order.canceled ? 'canceled_amount' : 'revenue'] += order.total;
    }
    return [...months.values()].sort((a, b) => compare(a.month, b.month) || cents(b.revenue - a.revenue) || compare(a.country, b.country));
  }

  #sellers(orders, top) {
    const sellers = new Map();
    for (const { items } of orders) {
      for (const { product_id: code, price, qty } of items) {
        const row = add(sellers, code, () => ({ product_id: code, name: this.products.get(code).name || code, currency: 'GBP', units: 0, revenue: 0n }));
        row.units += qty;
        row.revenue += units(price) * BigInt(qty);
      }
    }
    const highest = (value) => [...sellers.values()].sort((a, b) => cents(value(b)) - cents(value(a)) || compare(a.product_id, b.product_id)).slice(0, top);
    return { by_units: highest((row) => row.units), by_revenue: highest((row) => row.revenue) };
  }
}

const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
const sum = (orders) => orders.reduce((total, order) => total + order.total, 0n);

function baskets(orders) {
  const lines = orders.map(({ items }) => items.length).sort((a, b) => a - b);
  const amounts = orders.map(({ total }) => total).sort(compare);
  const spread = (sorted) => {
    const rank = (percent) => sorted[Math.ceil((sorted.length * percent) / 100) - 1];
    return { median: rank(50), p90: rank(90), p99: rank(99), max: sorted.at(-1) };
  };
  const count = lines.reduce((a, b) => a + b, 0);
  return {
    currency: 'GBP', orders: orders.length, lines: count, units: orders.flatMap(({ items }) => items).reduce((n, { qty }) => n + qty, 0), revenue: sum(orders),
    lines_per_order: { mean: count / orders.length, ...spread(lines) }, amount_per_order: { ...spread(amounts) },
  };
}

/** The program's report with its amounts as units; means of amounts, which are rounded, are taken out and given beside it. */
export function comparable(report) {
  const convert = (value, key = '') => {
    if (Array.isArray(value)) return value.map((element) => convert(element));
    if (value !== null && typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, convert(inner, name)]));
    return typeof value === 'string' && /^(revenue|canceled_amount|mean|median|p90|p99|max)$/.test(key) ? units(value) : value;
  };
  const converted = convert(report);
  const means = converted.baskets.map((row) => {
    const { mean } = row.amount_per_order;
    delete row.amount_per_order.mean;
    return mean;
  });
  return { report: converted, means };
}
