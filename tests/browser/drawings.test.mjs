// Pages drawn as SVG: words, boxes and what a canvas shows are in it, where they were, and nothing that has to be fetched.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { launch, openPage } from '../lib/browser.mjs';
import { svgFaults } from '../lib/svg.mjs';
import { prepare } from './vector/draw.mjs';

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

/** The body as it is drawn in a window of 400 × 300 pixels, after a script of the page has run. */
async function drawn(body, script = () => {}, part = undefined) {
  const page = await openPage(browser, undefined, { viewport: { width: 400, height: 300 } });
  await prepare(page);
  await page.goto('about:blank');
  await page.setContent(`<style>body { margin: 0; background: #fff; color: #000; font: 16px/20px sans-serif }</style>${body}`);
  await page.evaluate(script);
  const svg = await page.evaluate((part) => window.drawPage('A title & more', part), part);
  assert.deepEqual(page.problems, []);
  assert.deepEqual(svgFaults(svg), []);
  await page.context().close();
  return svg;
}

test('boxes and lines of text are where the browser has put them', async () => {
  const svg = await drawn(`
    <div style="background: #3346d3; border-radius: 8px; width: 100px; height: 40px"></div>
    <p style="margin: 0; white-space: pre-line">Tea &amp;\ncups <b style="color: #f00">here</b></p>
    <p style="position: absolute; top: 400px">below the window</p>
    <p style="display: none">not shown</p>
    <input placeholder="Search" style="opacity: 0.5">`);
  assert.match(svg, /viewBox="0 0 400 300"/);
  assert.match(svg, /<title>A title &#38; more<\/title>/);
  assert.match(svg, /<rect x="0" y="0" width="100" height="40" rx="8" fill="#3346d3"\/>/);
  const texts = [...svg.matchAll(/<text class="(\w+)" x="([\d.]+)" y="([\d.]+)" textLength="[\d.]+"[^>]*>([^<]*)<\/text>/g)].map(([, style, x, y, text]) => ({ style, x: Number(x), y: Number(y), text }));
  assert.deepEqual(texts.map(({ text }) => text), ['Tea &#38;', 'cups', 'here', 'Search']);
  const [tea, cups, here] = texts;
  assert.equal(tea.x, 0);
  assert.equal(cups.y - tea.y, 20);
  assert.equal(here.y, cups.y);
  assert.ok(here.x > cups.x);
  assert.match(svg, new RegExp(`\\.${here.style}\\{font-size:16px;font-weight:700;fill:#ff0000\\}`));
  assert.match(svg, /<g opacity="0.5">/);
});

test('what a canvas shows is drawn as paths, without what was cleared', async () => {
  const svg = await drawn('<canvas width="200" height="100" style="width: 100px; height: 50px; display: block"></canvas>', () => {
    const context = document.querySelector('canvas').getContext('2d');
    context.fillRect(1, 2, 3, 4);
    context.clearRect(0, 0, 200, 100);
    context.save();
    context.beginPath();
    context.rect(0, 0, 50, 50);
    context.clip();
    context.strokeStyle = '#0c8a78';
    context.translate(0.5, 0.5);
    const line = new Path2D();
    line.lineTo(10, 20);
    line.lineTo(30, 40);
    context.stroke(line);
    const area = new Path2D(line);
    area.closePath();
    context.fillStyle = 'rgba(51, 70, 211, 0.25)';
    context.fill(area);
    context.restore();
    context.textAlign = 'right';
    context.fillText('12 ms', 80, 90);
  });
  assert.match(svg, /<g transform="translate\(0 0\) scale\(0.5\)">/);
  assert.match(svg, /<clipPath id="(\w+)"><path d="M0 0h50v50h-50Z"\/><\/clipPath><g clip-path="url\(#\1\)"><path d="M10 20L30 40" fill="none" stroke="#0c8a78" stroke-width="1" transform="translate\(0.5 0.5\)"\/><\/g>/);
  assert.match(svg, /<path d="M10 20L30 40Z" fill="#3346d3" fill-opacity="0.25"/);
  assert.match(svg, /<text x="80" y="90" text-anchor="end" font-size="10" fill="#000000">12 ms<\/text>/);
  assert.doesNotMatch(svg, /<rect x="1" y="2"/);
});

test('equal icons are written once, and a part of a page is drawn alone', async () => {
  const icon = '<svg viewBox="0 0 10 10" width="20" height="20"><path d="M0 0L10 10" style="stroke: #f00"/></svg>';
  const svg = await drawn(`<p>outside</p><section aria-label="Panel" style="margin: 50px; width: 100px; height: 100px">${icon}${icon}inside</section>`, undefined, 'Panel');
  assert.equal(svg.match(/<symbol /g).length, 1);
  assert.equal(svg.match(/<use /g).length, 2);
  assert.match(svg, /stroke="#ff0000"/);
  assert.match(svg, />inside</);
  assert.doesNotMatch(svg, /outside/);
  assert.match(svg, /width="124" height="124"/);
});

test('a picture with anything else in it is refused', () => {
  const around = (inside) => `<svg xmlns="http://www.w3.org/2000/svg">${inside}</svg>\n`;
  assert.deepEqual(svgFaults(around('<text>a &#38; b</text>')), []);
  const refused = [
    '<image href="#a"/>',
    '<script>alert(1)</script>',
    '<rect onclick="go()"/>',
    '<use href="https://example.org/a.svg#b"/>',
    '<use href="#nowhere"/>',
    '<rect fill="url(data:image/png;base64,AAAA)"/>',
    '<style>@import "a.css";</style>',
    '<text>a & b</text>',
    '<text>a',
    '<g><text></g></text>',
    '<rect x="1" x="2"/>',
    '<rect x=1/>',
    '<g id="a"/><g id="a"/>',
    '<text>store in /home/ada/data</text>',
    `<text>${'a'.repeat(120_000)}</text>`,
  ];
  for (const inside of refused) assert.notDeepEqual(svgFaults(around(inside)), [], inside.slice(0, 60));
  assert.deepEqual(svgFaults(around('<text>store in /tmp/braid-demo-H4UusR/data</text>')), []);
});
