// The sales report: best sellers, revenue by month and country, baskets and cancellations.
import { useData } from '../data';
import { count } from '../format';
import { useTitle } from '../router';
import { Heading, Panel, Shown, Table } from '../ui';
import { money } from './storefront';

interface Seller {
  product_id: string;
  name: string;
  currency: string;
  units: number;
  revenue: string;
}
interface SalesReport {
  months: { month: string; country: string; currency: string; orders: number; revenue: string; canceled_orders: number }[];
  best_sellers: { by_units: Seller[]; by_revenue: Seller[] };
  baskets: { currency: string; orders: number; units: number; revenue: string; lines_per_order: { mean: number; median: number }; amount_per_order: { mean: string; median: string; p90: string; p99: string; max: string } }[];
  cancellations: { currency: string; orders: number; canceled: number; rate: number }[];
}

function Sellers({ title, rows }: { title: string; rows: Seller[] }) {
  return (
    <Panel title={title}>
      <Table
        caption={title}
        rows={rows}
        keyOf={(one) => one.product_id + one.currency}
        columns={[
          { name: 'Product', cell: (one) => one.name || one.product_id },
          { name: 'Units', number: true, cell: (one) => count(one.units) },
          { name: 'Revenue', number: true, cell: (one) => money(one.revenue, one.currency) },
        ]}
      />
    </Panel>
  );
}

export function Report() {
  useTitle('Sales report');
  const answer = useData<SalesReport>('/v1/reports/sales?top=10', 10_000);
  return (
    <>
      <p class="crumbs">
        <a href="/storefront">Storefront</a> / Report
      </p>
      <Heading title="Sales report">Everything that was sold, of one moment</Heading>
      <Shown answer={answer} rows={10}>
        {(report) => (
          <>
            <div class="grid two">
              <Sellers title="Best sellers by units" rows={report.best_sellers.by_units} />
              <Sellers title="Best sellers by revenue" rows={report.best_sellers.by_revenue} />
            </div>
            <div class="grid two">
              <Panel title="Revenue by month and country">
                <Table
                  caption="Revenue by month and country"
                  rows={report.months}
                  keyOf={(one) => one.month + one.country + one.currency}
                  columns={[
                    { name: 'Month', cell: (one) => one.month },
                    { name: 'Country', cell: (one) => one.country },
                    { name: 'Orders', number: true, cell: (one) => count(one.orders) },
                    { name: 'Canceled', number: true, wide: true, cell: (one) => count(one.canceled_orders) },
                    { name: 'Revenue', number: true, cell: (one) => money(one.revenue, one.currency) },
                  ]}
                />
              </Panel>
              <Panel title="Baskets">
                {report.baskets.map((one) => (
                  <dl class="pairs plain" key={one.currency}>
                    <dt>Orders</dt>
                    <dd>{count(one.orders)}</dd>
                    <dt>Units</dt>
                    <dd>{count(one.units)}</dd>
                    <dt>Lines of an order, on average</dt>
                    <dd>{one.lines_per_order.mean.toFixed(1)}</dd>
                    <dt>Amount of an order, on average</dt>
                    <dd>{money(one.amount_per_order.mean, one.currency)}</dd>
                    <dt>Half of them below</dt>
                    <dd>{money(one.amount_per_order.median, one.currency)}</dd>
                    <dt>Highest</dt>
                    <dd>{money(one.amount_per_order.max, one.currency)}</dd>
                    <dt>Canceled</dt>
                    <dd>{count(report.cancellations.find(({ currency }) => currency === one.currency)?.canceled ?? 0)}</dd>
                  </dl>
                ))}
              </Panel>
            </div>
          </>
        )}
      </Shown>
    </>
  );
}
