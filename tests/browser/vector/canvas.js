// Runs in the page before its own scripts: what they draw on canvases is drawn as usual and also noted as SVG, so that a picture of the
// page needs no bitmap. `canvas.asSvg` has what was drawn since the canvas was last cleared, in pixels of the canvas.
(() => {
  const escaped = (text) => String(text).replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  const short = (number) => String(Math.round(number * 10) / 10);
  const tag = (name, attributes, inside) => {
    const list = Object.entries(attributes).filter(([, value]) => value !== undefined && value !== '');
    const start = `<${name}${list.map(([key, value]) => ` ${key}="${typeof value === 'number' ? short(value) : escaped(value)}"`).join('')}`;
    return inside === undefined ? `${start}/>` : `${start}>${inside}</${name}>`;
  };
  /** A colour of CSS as attributes; its opacity apart, as not every program knows colours with one. Undefined if nothing is to be seen. */
  const paint = (kind, colour) => {
    if (colour === 'none' || colour === 'transparent') return undefined;
    const [red, green, blue, alpha = 1] = colour.startsWith('#') ? colour.match(/\w\w/g).map((digits) => parseInt(digits, 16)) : colour.match(/[\d.]+/g).map(Number);
    if (alpha === 0) return undefined;
    const hex = [red, green, blue].map((part) => Math.round(part).toString(16).padStart(2, '0')).join('');
    return { [kind]: `#${hex}`, [`${kind}-opacity`]: alpha < 1 ? String(Math.round(alpha * 100) / 100) : undefined };
  };
  window.svgParts = { escaped, paint, short, tag };

  // Paths: of a context and of Path2D.
  const points = (...numbers) => numbers.map(short).join(' ');
  const around = (x, y, radius, angle) => points(x + radius * Math.cos(angle), y + radius * Math.sin(angle));
  const steps = {
    moveTo: (x, y) => `M${points(x, y)}`,
    lineTo: (x, y) => `L${points(x, y)}`,
    closePath: () => 'Z',
    rect: (x, y, width, height) => `M${points(x, y)}h${short(width)}v${short(height)}h${short(-width)}Z`,
    bezierCurveTo: (...numbers) => `C${points(...numbers)}`,
    quadraticCurveTo: (...numbers) => `Q${points(...numbers)}`,
    // In two halves, since SVG has no arc that ends where it begins.
    arc: (x, y, radius, from, to) =>
      `M${around(x, y, radius, from)}` + [(from + to) / 2, to].map((angle) => `A${points(radius, radius)} 0 0 1 ${around(x, y, radius, angle)}`).join(''),
    addPath: (other) => pathOf(other),
  };
  const paths = new WeakMap();
  // A path that begins with a line begins where that line ends.
  const pathOf = (owner) => (paths.get(owner) ?? []).join('').replace(/^L/, 'M');
  const wrap = (prototype, name, note) => {
    const original = prototype[name];
    if (!original) return;
    prototype[name] = function (...values) {
      note.apply(this, values);
      return original.apply(this, values);
    };
  };
  const Context = CanvasRenderingContext2D.prototype;
  for (const prototype of [Path2D.prototype, Context]) {
    for (const [name, step] of Object.entries(steps)) {
      wrap(prototype, name, function (...values) {
        if (!paths.has(this)) paths.set(this, []);
        paths.get(this).push(step(...values));
      });
    }
  }
  window.Path2D = class extends Path2D {
    constructor(other) {
      super(other);
      if (other) paths.set(this, [typeof other === 'string' ? other : pathOf(other)]);
    }
  };
  wrap(Context, 'beginPath', function () {
    paths.set(this, []);
  });

  const drawnPath = (context, path) => pathOf(path instanceof Path2D ? path : context);

  // What limits the drawing goes with save() and restore(), as in the canvas.
  const clips = new WeakMap();
  const stateOf = (context) => clips.get(context) ?? clips.set(context, [[]]).get(context);
  wrap(Context, 'save', function () {
    stateOf(this).push(stateOf(this).at(-1));
  });
  wrap(Context, 'restore', function () {
    if (stateOf(this).length > 1) stateOf(this).pop();
  });
  const matrixOf = ({ a, b, c, d, e, f }) => (a === 1 && d === 1 && b === 0 && c === 0 ? (e || f ? `translate(${points(e, f)})` : undefined) : `matrix(${[a, b, c, d].join(' ')} ${points(e, f)})`);
  wrap(Context, 'clip', function (path) {
    const state = stateOf(this);
    state.push([...state.pop(), { d: drawnPath(this, path), transform: matrixOf(this.getTransform()) }]);
  });

  let clipCount = 0;
  const note = (context, name, attributes, inside) => {
    const { canvas } = context;
    const opacity = context.globalAlpha < 1 ? String(context.globalAlpha) : undefined;
    const drawn = tag(name, { ...attributes, transform: matrixOf(context.getTransform()), opacity }, inside);
    canvas.asSvg = (canvas.asSvg ?? '') + stateOf(context).at(-1).reduce((within, { d, transform }) => {
      const id = `clip${++clipCount}`;
      return tag('clipPath', { id }, tag('path', { d, transform })) + tag('g', { 'clip-path': `url(#${id})` }, within);
    }, drawn);
  };
  const shape = (context, path, attributes) => {
    const d = drawnPath(context, path);
    if (attributes && d) note(context, 'path', { d, ...attributes });
  };
  wrap(Context, 'stroke', function (path) {
    const stroke = paint('stroke', this.strokeStyle);
    const dashes = this.getLineDash().join(' ');
    const join = this.lineJoin === 'miter' ? undefined : this.lineJoin;
    const cap = this.lineCap === 'butt' ? undefined : this.lineCap;
    shape(this, path, stroke && this.lineWidth > 0 && { fill: 'none', ...stroke, 'stroke-width': this.lineWidth, 'stroke-dasharray': dashes, 'stroke-linejoin': join, 'stroke-linecap': cap });
  });
  wrap(Context, 'fill', function (path) {
    shape(this, path, paint('fill', this.fillStyle));
  });
  wrap(Context, 'fillRect', function (x, y, width, height) {
    note(this, 'rect', { x, y, width, height, ...paint('fill', this.fillStyle) });
  });
  wrap(Context, 'fillText', function (text, x, y) {
    if (text === '') return;
    const above = () => this.measureText(text).fontBoundingBoxAscent;
    const { textBaseline: baseline, textAlign } = this;
    const here = above();
    this.textBaseline = 'alphabetic';
    const down = above() - here;
    this.textBaseline = baseline;
    const anchor = { center: 'middle', right: 'end', end: 'end' }[textAlign];
    note(this, 'text', { x, y: y + down, 'text-anchor': anchor, 'font-size': parseFloat(this.font.match(/[\d.]+px/)[0]), ...paint('fill', this.fillStyle) }, escaped(text));
  });
  wrap(Context, 'clearRect', function (x, y, width, height) {
    if (x <= 0 && y <= 0 && width >= this.canvas.width && height >= this.canvas.height) this.canvas.asSvg = '';
  });
})();
