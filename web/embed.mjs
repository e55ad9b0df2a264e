// Packs the files of a built dashboard into a C++ source: node embed.mjs DIST OUTPUT.cc
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

const types = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const [dist, output] = process.argv.slice(2);
const paths = readdirSync(dist, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(dist.length).replaceAll('\\', '/'))
  .sort();

let total = 0;
const arrays = [];
const rows = [];
paths.forEach((path, index) => {
  const type = types[extname(path)];
  if (!type) throw new Error(`${path} has no media type in embed.mjs`);
  const plain = readFileSync(join(dist, path));
  const packed = gzipSync(plain, { level: 9 });
  total += packed.length;
  const tag = createHash('sha256').update(plain).digest('hex').slice(0, 32);
  arrays.push(`constexpr unsigned char kFile${index}[] = {${packed.join(',')}};`);
  rows.push(`    {${JSON.stringify(path)}, ${JSON.stringify(type)}, ${JSON.stringify(`"${tag}"`)},\n     {reinterpret_cast<const char*>(kFile${index}), sizeof(kFile${index})}},`);
});
writeFileSync(output, `// Made by web/embed.mjs.
#include "http/web.h"

namespace braid::http {
namespace {

${arrays.join('\n')}

}  // namespace

std::span<const WebFile> WebFiles() {
  static const WebFile files[] = {
${rows.join('\n')}
  };
  return files;
}

}  // namespace braid::http
`);
console.log(`dashboard: ${paths.length} files, ${total} bytes packed`);
