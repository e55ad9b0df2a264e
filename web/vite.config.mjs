// One page, one script, one style sheet; names with a hash, so that browsers may keep them for ever.
import { defineConfig } from 'vite';

export default defineConfig({
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact', legalComments: 'none' },
  build: { target: 'es2022', assetsInlineLimit: 0, modulePreload: false, reportCompressedSize: false },
  // npx vite in the build's copy of this folder: the page from here, the data from a server that runs.
  server: { proxy: { '/v1': process.env.BRAID_HTTP ?? 'http://127.0.0.1:8080' } },
});
