// The pictures that the documentation shows: each is there, described, named by some page, and an SVG of nothing but text and lines.
// scripts/screenshots makes them.
// usage: node tests/docs/pictures.mjs
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

import { svgFaults } from '../lib/svg.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const folder = join(root, 'docs', 'images');

/** The pictures that a page names, with their descriptions. */
function* namedBy(page) {
  const text = readFileSync(page, 'utf8');
  const found = [
    ...[...text.matchAll(/!\[([^\]]*)\]\(([^)\s]+)\)/g)].map(([, alt, path]) => ({ alt, path })),
    ...[...text.matchAll(/<img\s[^>]*>/g)].map(([tag]) => ({ alt: tag.match(/\balt="([^"]*)"/)?.[1], path: tag.match(/\bsrc="([^"]*)"/)?.[1] })),
    // The description of another source is that of its <img>.
    ...[...text.matchAll(/<source\s[^>]*srcset="([^"]*)"/g)].map(([, path]) => ({ alt: 'as its image', path })),
  ];
  for (const { alt, path } of found) yield { page: relative(root, page), alt: alt?.trim(), path: join(dirname(page), path ?? '') };
}

const faultsOf = (path) => {
  if (!existsSync(path)) return ['is not there'];
  return path.endsWith('.svg') ? svgFaults(readFileSync(path, 'utf8')) : ['is not an SVG'];
};

const pages = ['README.md', 'CONTRIBUTING.md', ...readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md')).map((name) => join('docs', name))];
const named = pages.flatMap((page) => [...namedBy(join(root, page))]);
const wrong = named.filter(({ alt }) => !alt).map(({ page, path }) => `${page}: ${relative(root, path)} has no description`);
for (const path of new Set(named.map(({ path }) => path))) {
  const by = named.find((one) => one.path === path).page;
  for (const fault of faultsOf(path)) wrong.push(`${relative(root, path)}, which ${by} shows, ${fault}`);
}
for (const name of readdirSync(folder).filter((file) => file.endsWith('.svg'))) {
  if (!named.some(({ path }) => path === join(folder, name))) wrong.push(`docs/images/${name} is shown by no page`);
}
for (const line of wrong) console.error(line);
if (wrong.length > 0 || named.length === 0) process.exit(1);
console.log(`${new Set(named.map(({ path }) => path)).size} pictures of ${pages.length} pages are text, and whole`);
