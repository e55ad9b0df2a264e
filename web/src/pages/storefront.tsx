// The storefront: orders as they come, stock, carts, the flash sale, and the report.
import { useData } from '../data';
import { useDemo } from '../demo';
import { ago, count, percent, rate } from '../format';
import { rateOf, useHas, useLive } from '../live';
import { partsOf, useTitle } from '../router';
import { Badge, Heading, NoData, Panel, Shown, Stat, Stats, Table, Waiting } from '../ui';
import type { Tone } from '../ui';
import { Report } from './storefront_report';

export interface Order {
  order_id: string;
  user_id: string;
  created_at: string;
  status: string;
  geo_zone: string;
  items: { product_id: string; price: string; qty: number }[];
  total_amount: string;
  currency: string;
}
interface Glance {
  orders: Order[];
  stock: { geo_zone: string; products: number; qty: number; reserved: number; sold_out: number; oversold: number }[];
  lowest: { product_id: string; name: string; geo_zone: string; qty: number; reserved: number }[];
  carts: { status: string; carts: number }[];
}

export const tones: Record<string, Tone> = { paid: 'good', shipped: 'good', delivered: 'good', canceled: 'bad' };
export const money = (amount: string, currency: string) => `${Number(amount).toLocaleString('en', { minimumFractionDigits: 2 })} ${currency}`;

export function Storefront({ path }: { path: string }) {
  const [kind, subject] = partsOf(path);
  if (kind === 'order' && subject) return <OrderPage order={subject} key={subject} />;
  if (kind === 'report') return <Report />;
  return <Shop />;
}

function Shop() {
  useTitle('Storefront');
  const has = useHas('shop');
  const { newest, samples } = useLive();
  const answer = useData<Glance>(has && '/v1/storefront?limit=14', 1000);
  const demo = useDemo()?.status.sale;
  if (has === false) return <Waiting title="Storefront" />;
  if (has === undefined || answer.error?.missing) {
    return (
      <>
        <Heading title="Storefront" />
        <NoData service="storefront" commands={[`curl -X PUT localhost:8080/v1/products/P1 -H 'Content-Type: application/json' \\`, `  -d '{"name": "Lamp", "category": "light", "price": "9.50", "currency": "EUR", "stock_by_geo": [{"geo_zone": "eu", "qty": 10}]}'`]} />
      </>
    );
  }
  const data = answer.data;
  const oversold = data?.stock.reduce((sum, zone) => sum + zone.oversold, 0);
  const orders = samples.slice(-60).map((sample, i, all) => Math.max(0, (sample.services.shop?.orders ?? 0) - (all[Math.max(0, i - 1)].services.shop?.orders ?? 0)));
  const active = data?.carts.find(({ status }) => status === 'active')?.carts ?? 0;
  return (
    <>
      <Heading title="Storefront">
        Order, stock and cart change together, once per checkout · <a href="/storefront/report">Sales report</a>
      </Heading>
      <Stats>
        <Stat label="Orders" value={count(newest?.services.shop?.orders)} note={`${rate(rateOf(({ services }) => services.shop?.orders))} per second`} line={orders} />
        <Stat label="Products" value={count(newest?.services.shop?.products)} note={data && `in ${count(data.stock.length)} zones`} />
        <Stat label="Active carts" value={count(data && active)} note={data && `${count(data.carts.reduce((sum, one) => sum + one.carts, 0) - active)} ordered or merged`} />
        <Stat label="Oversold" value={count(oversold)} tone={oversold === undefined ? undefined : oversold ? 'bad' : 'good'} note="products of which more was sold than there was" />
      </Stats>
      {demo && <FlashSale figures={demo} />}
      <div class="grid side">
        <Panel title="Orders as they come">
          <Shown answer={answer} rows={10}>
            {({ orders }) => (
              <Table
                caption="Newest orders"
                rows={orders}
                keyOf={({ order_id }) => order_id}
                empty="No order yet."
                columns={[
                  { name: 'Order', cell: (one) => <a class="whole-line order-id" href={`/storefront/order/${one.order_id}`}>{one.order_id}</a> },
                  { name: 'Customer', wide: true, cell: (one) => one.user_id },
                  { name: 'Zone', wide: true, cell: (one) => <span class="whole-line">{one.geo_zone}</span> },
                  { name: 'Units', number: true, wide: true, cell: (one) => count(one.items.reduce((sum, item) => sum + item.qty, 0)) },
                  { name: 'Total', number: true, cell: (one) => money(one.total_amount, one.currency) },
                  { name: 'Status', wide: true, cell: (one) => <Badge tone={tones[one.status]}>{one.status}</Badge> },
                  { name: 'Made', number: true, cell: (one) => ago(Date.parse(one.created_at)) },
                ]}
              />
            )}
          </Shown>
        </Panel>
        <div class="stack">
          <Panel title="Stock by zone">
            <Shown answer={answer} rows={3}>
              {({ stock }) => (
                <Table
                  caption="Stock by zone"
                  rows={stock}
                  keyOf={({ geo_zone }) => geo_zone}
                  columns={[
                    { name: 'Zone', cell: (zone) => <span class="whole-line">{zone.geo_zone}</span> },
                    { name: 'Units', number: true, cell: (zone) => count(zone.qty) },
                    { name: 'Reserved', number: true, cell: (zone) => count(zone.reserved) },
                    { name: 'Sold out', number: true, cell: (zone) => `${count(zone.sold_out)} of ${count(zone.products)}` },
                  ]}
                />
              )}
            </Shown>
          </Panel>
          <Panel title="What runs out first">
            <Shown answer={answer} rows={6}>
              {({ lowest }) => (
                  <Table
                    caption="Products with the smallest stock"
                    rows={lowest}
                    keyOf={(one) => `${one.product_id} ${one.geo_zone}`}
                    columns={[
                      { name: 'Product', cell: (one) => <span class="clipped" title={one.product_id}>{one.name}</span> },
                      { name: 'Zone', cell: (one) => <span class="whole-line">{one.geo_zone}</span> },
                      { name: 'Left', number: true, cell: (one) => (one.qty === 0 ? <Badge tone="warn">sold out</Badge> : count(one.qty)) },
                    ]}
                  />
              )}
            </Shown>
          </Panel>
        </div>
      </div>
    </>
  );
}

/** What the demo says of its sales: many buyers for few units, and nothing sold twice. */
function FlashSale({ figures }: { figures: Record<string, number> }) {
  return (
    <div class="grid">
      <Panel title="Flash sales" note={`${count(figures.sales)} so far, each of a few units for many buyers at once`}>
        <dl class="row">
          <div>
            <dt>Buyers</dt>
            <dd>{count(figures.buyers)}</dd>
          </div>
          <div>
            <dt>Sold</dt>
            <dd>
              {count(figures.sold)} <span class="unit">of {count(figures.units)} units, {percent(figures.sold, figures.units)}</span>
            </dd>
          </div>
          <div>
            <dt>Came too late</dt>
            <dd>{count(figures.refused)}</dd>
          </div>
          <div>
            <dt>Oversold</dt>
            <dd class={figures.oversold ? 'bad-text' : 'good-text'}>{count(figures.oversold ?? 0)}</dd>
          </div>
        </dl>
      </Panel>
    </div>
  );
}

function OrderPage({ order }: { order: string }) {
  useTitle(`Order ${order}`);
  const answer = useData<Order>(`/v1/orders/${encodeURIComponent(order)}`, 3000);
  return (
    <>
      <p class="crumbs">
        <a href="/storefront">Storefront</a> / Order
      </p>
      <Heading title={order} />
      <Shown answer={answer} rows={6}>
        {(one) => (
          <div class="grid side">
            <Panel title="Lines">
              <Table
                caption="Lines of the order"
                rows={one.items}
                keyOf={({ product_id }) => product_id}
                columns={[
                  { name: 'Product', cell: (item) => item.product_id },
                  { name: 'Price', number: true, cell: (item) => money(item.price, one.currency) },
                  { name: 'Units', number: true, cell: (item) => count(item.qty) },
                ]}
              />
            </Panel>
            <Panel title="Order">
              <dl class="pairs plain">
                <dt>Status</dt>
                <dd>
                  <Badge tone={tones[one.status]}>{one.status}</Badge>
                </dd>
                <dt>Total</dt>
                <dd>{money(one.total_amount, one.currency)}</dd>
                <dt>Customer</dt>
                <dd>{one.user_id}</dd>
                <dt>Zone</dt>
                <dd>{one.geo_zone}</dd>
                <dt>Made</dt>
                <dd>{one.created_at.replace('T', ' ').slice(0, 19)} UTC</dd>
              </dl>
            </Panel>
          </div>
        )}
      </Shown>
    </>
  );
}
