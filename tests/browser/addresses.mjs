// Where the pages of a server are that are worth a picture, and when a page is ready for it.
import { ask } from '../lib/http.mjs';

/** By name; a server may lack a service, and then its pages of single things are left out. */
export async function addressesOf(base) {
  const first = async (path, take) => {
    const { status, json } = await ask(base, path);
    return status === 200 ? take(json) : undefined;
  };
  const addresses = {
    overview: '/',
    shards: '/shards',
    staking: '/staking',
    storefront: '/storefront',
    report: '/storefront/report',
    settlement: '/settlement',
    record: await first('/v1/heads', ({ symbols: [chain] }) => `/settlement/symbol/${chain.symbol_id}/record/${chain.output_seq}`),
    explorer: '/explorer',
    block: await first('/v1/blocks?limit=1', ({ blocks: [block] }) => `/explorer/block/${block.hash}`),
  };
  return Object.fromEntries(Object.entries(addresses).filter(([, address]) => address));
}

/** Everything that the page asks for first is there. */
export const settled = (page) => page.waitForFunction(() => document.querySelector('main h1') && !document.querySelector('.skeleton') && document.querySelector('.connection.live'));
