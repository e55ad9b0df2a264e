// What a picture in SVG may have in it: text and lines, well-formed, and nothing that a browser would run or fetch.
const bytesMax = 120_000;
const elements = ['svg', 'title', 'style', 'defs', 'symbol', 'use', 'clipPath', 'g', 'rect', 'path', 'polyline', 'text'];
// What a picture of a page may never show: where things are on the computer on which it was made.
const machinePath = /(?<![\w.])\/(?!tmp\/braid-demo-)(home|root|work|usr|var|tmp|opt|mnt|srv)\/.{0,30}/;

/** What is wrong with the elements: it reads the part of XML that scripts/screenshots writes, and refuses all else. */
function* markupFaults(text) {
  const open = [];
  let end = 0;
  let roots = 0;
  const between = (part) => /[<>]|&(?!#\d+;)/.test(part) || (open.length === 0 && part.trim() !== '');
  for (const match of text.matchAll(/<(\/?)([A-Za-z]+)((?:\s+[\w:-]+="[^"<>]*")*)\s*(\/?)>/g)) {
    const [whole, closing, name, attributes, alone] = match;
    if (between(text.slice(end, match.index))) yield `not well-formed before position ${match.index}`;
    end = match.index + whole.length;
    if (closing) {
      if (open.pop() !== name || attributes || alone) yield `</${name}> does not close what is open`;
      continue;
    }
    if (open.length === 0 && (name !== 'svg' || ++roots > 1)) yield `<${name}> is not the one <svg>`;
    if (!elements.includes(name)) yield `has a <${name}>`;
    const names = [...attributes.matchAll(/([\w:-]+)="([^"]*)"/g)];
    if (new Set(names.map(([, key]) => key)).size < names.length) yield `<${name}> has an attribute twice`;
    for (const [, key, value] of names) {
      if (/^on/i.test(key) || (/href|src/i.test(key) && !/^#\w+$/.test(value)) || /&(?!#\d+;)/.test(value)) yield `<${name}> has ${key}="${value}"`;
    }
    if (!alone) open.push(name);
  }
  if (open.length > 0 || roots !== 1 || between(text.slice(end))) yield 'does not end as it should';
}

function* referenceFaults(text) {
  const ids = [...text.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id);
  if (new Set(ids).size < ids.length) yield 'has an id twice';
  for (const [, id] of text.matchAll(/(?:href="|url\()#([^")]*)/g)) if (!ids.includes(id)) yield `refers to #${id}, which it does not have`;
  const [foreign] = text.match(/url\((?!#)|@import|@font-face|\bdata:|base64|javascript:/i) ?? [];
  if (foreign) yield `has ${foreign} in it, which is not text or lines, or is elsewhere`;
}

/** What is wrong with a picture; none if it is as it should be. */
export function svgFaults(text) {
  const bytes = Buffer.byteLength(text);
  const [shown] = text.match(machinePath) ?? [];
  return [
    ...(bytes > bytesMax ? [`has ${bytes} bytes, of at most ${bytesMax}`] : []),
    ...(shown ? [`shows a path of the computer that made it: ${shown}`] : []),
    ...markupFaults(text),
    ...referenceFaults(text),
  ];
}
