// The page that shows the OpenAPI document.
#include "http/routes.h"

namespace braid::http {

// Only text nodes are created: no part of the document is ever interpreted as HTML.
std::string_view DocumentationPage() {
  return R"PAGE(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Braid API</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color: #222; }
@media (prefers-color-scheme: dark) { body { background: #181818; color: #ddd; } a { color: #8bf; } }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #8884; }
details { border: 1px solid #8884; border-radius: 4px; margin: .5rem 0; padding: .3rem .8rem; }
summary { cursor: pointer; }
code, pre { font: 14px ui-monospace, monospace; }
pre { overflow: auto; background: #8882; padding: .6rem; border-radius: 4px; }
.method { display: inline-block; min-width: 4rem; font-weight: bold; }
table { border-collapse: collapse; } td { padding: .1rem 1rem .1rem 0; vertical-align: top; }
input { font: inherit; width: 24rem; max-width: 100%; }
</style>
</head>
<body>
<h1>Braid API</h1>
<p>Made from <a href="/openapi.json">/openapi.json</a> of this server.</p>
<main>Loading …</main>
<script>
const element = (name, text, ...children) => {
  const made = document.createElement(name);
  if (text) made.textContent = text;
  made.append(...children);
  return made;
};
// The schema with its references in place.
const resolve = (schema, all, depth = 0) => {
  if (Array.isArray(schema)) return schema.map((one) => resolve(one, all, depth));
  if (schema === null || typeof schema !== 'object') return schema;
  if (schema.$ref && depth < 8) return resolve(all[schema.$ref.split('/').pop()], all, depth + 1);
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, resolve(value, all, depth)]));
};
const contents = (content, all) => Object.entries(content).map(([type, { schema }]) =>
  element('div', '', element('code', type), element('pre', JSON.stringify(resolve(schema, all), null, 2))));
// Fields for the parameters, and a button that asks.
const tryIt = (path, parameters) => {
  const fields = parameters.filter((one) => one.in !== 'header').map((one) => {
    const input = element('input');
    input.placeholder = one.schema.default ?? '';
    return { one, input };
  });
  const output = element('pre');
  const button = element('button', 'Ask');
  button.onclick = async () => {
    let target = path;
    const query = new URLSearchParams();
    for (const { one, input } of fields) {
      if (one.in === 'path') target = target.replace(`{${one.name}}`, encodeURIComponent(input.value));
      else if (input.value !== '') query.set(one.name, input.value);
    }
    if (query.size) target += `?${query}`;
    const response = await fetch(target);
    const text = await response.text();
    let shown = text;
    try { shown = JSON.stringify(JSON.parse(text), null, 2); } catch { /* not JSON */ }
    output.textContent = `GET ${target}\n${response.status}\n\n${shown}`;
  };
  const rows = fields.map(({ one, input }) => element('tr', '', element('td', '', element('code', one.name)), element('td', '', input)));
  return element('div', '', element('table', '', ...rows), button, output);
};
const show = (api) => {
  const all = api.components.schemas;
  const groups = new Map();
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const box = element('details', '', element('summary', '', Object.assign(element('span', method.toUpperCase()), { className: 'method' }),
        element('code', path), element('span', ` ${operation.summary}`)));
      if (operation.parameters.length) {
        box.append(element('h4', 'Parameters'), element('table', '', ...operation.parameters.map((one) => element('tr', '',
          element('td', '', element('code', one.name)), element('td', one.in + (one.required ? ', required' : '')), element('td', one.description)))));
      }
      if (operation.requestBody) box.append(element('h4', 'Body'), ...contents(operation.requestBody.content, all));
      for (const [status, { description, content }] of Object.entries(operation.responses)) {
        box.append(element('h4', `${status}: ${description}`), ...(content ? contents(content, all) : []));
      }
      if (method === 'get') box.append(element('h4', 'Try it'), tryIt(path, operation.parameters));
      const [group] = operation.tags;
      if (!groups.has(group)) groups.set(group, []);
      groups.get(group).push(box);
    }
  }
  const main = document.querySelector('main');
  main.textContent = '';
  for (const [group, boxes] of groups) main.append(element('h2', group), ...boxes);
};
fetch('/openapi.json').then((response) => response.json()).then(show)
  .catch((error) => { document.querySelector('main').textContent = `Cannot show it: ${error}`; });
</script>
</body>
</html>
)PAGE";
}

}  // namespace braid::http
