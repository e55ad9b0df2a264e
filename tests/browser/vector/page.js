// Runs in the page after canvas.js and text.js: drawPage() gives what the window shows as one SVG of boxes, lines and texts.
(() => {
  const { Styles, escaped, field, paint, short, tag, texts } = window.svgParts;

  const sides = ['Top', 'Right', 'Bottom', 'Left'];
  const bordersOf = (style) =>
    sides
      .map((side) => ({ side, width: parseFloat(style[`border${side}Width`]), stroke: paint('stroke', style[`border${side}Color`]) }))
      .filter(({ width, stroke }) => width > 0 && stroke);

  // The properties of shapes that a style sheet may have set, with the values that need not be written.
  const shapeProperties = { fill: 'rgb(0, 0, 0)', stroke: 'none', 'stroke-width': '1px', 'stroke-linecap': 'butt', 'stroke-linejoin': 'miter', 'vector-effect': 'none', opacity: '1' };
  const dress = (shape, style) => {
    for (const [name, usual] of Object.entries(shapeProperties)) {
      const value = style.getPropertyValue(name);
      shape.removeAttribute(name);
      if (value === usual) continue;
      const attributes = (['fill', 'stroke'].includes(name) && paint(name, value)) || { [name]: value };
      for (const [key, one] of Object.entries(attributes)) if (one) shape.setAttribute(key, one);
    }
  };

  class Picture {
    items = [];
    rules = new Map();
    styles = new Styles();
    symbols = new Map();
    above = [];

    constructor(images, seen) {
      this.images = images;
      this.seen = seen;
    }

    isSeen = ({ left, top, right, bottom, width }) => width > 0 && right > this.seen.left && left < this.seen.right && bottom >= this.seen.top && top < this.seen.bottom;

    box(style, { left, top, right, bottom, width, height }) {
      const fill = paint('fill', style.backgroundColor);
      const borders = bordersOf(style);
      const isFrame = borders.length === 4;
      const inset = isFrame ? borders[0].width / 2 : 0;
      const radius = style.borderTopLeftRadius;
      const rx = Math.min(parseFloat(radius) * (radius.endsWith('%') ? width / 100 : 1), width / 2, height / 2) - inset;
      if (fill || isFrame) {
        const stroke = isFrame ? { ...borders[0].stroke, 'stroke-width': borders[0].width } : {};
        const place = { x: left + inset, y: top + inset, width: width - 2 * inset, height: height - 2 * inset };
        this.items.push(tag('rect', { ...place, rx: rx > 0 ? rx : undefined, ...(fill ?? { fill: 'none' }), ...stroke }));
      }
      for (const { side, width: thick, stroke } of isFrame ? [] : borders) {
        const isFirst = side === 'Top' || side === 'Left';
        const middle = (isFirst ? 1 : -1) * (thick / 2);
        if (side === 'Left' || side === 'Right') {
          const x = (isFirst ? left : right) + middle;
          this.items.push(tag('path', { d: `M${short(x)} ${short(top)}V${short(bottom)}`, ...stroke, 'stroke-width': thick }));
        } else {
          this.rule({ left, right, y: (isFirst ? top : bottom) + middle, attributes: { ...stroke, 'stroke-width': thick } });
        }
      }
    }

    /** A horizontal line; those of neighbouring cells are one. */
    rule(line) {
      const key = JSON.stringify([Math.round(line.y), line.attributes]);
      const before = this.rules.get(key);
      if (before && Math.abs(before.right - line.left) < 1) {
        before.right = line.right;
        return;
      }
      line.toString = () => tag('path', { d: `M${short(line.left)} ${short(line.y)}H${short(line.right)}`, ...line.attributes });
      this.rules.set(key, line);
      this.items.push(line);
    }

    /** An SVG of the page; equal ones are written once. */
    graphic(svg, { left: x, top: y, width, height }) {
      const copy = svg.cloneNode(true);
      if (svg.ownerDocument === document) {
        const shapes = svg.querySelectorAll('*');
        copy.querySelectorAll('*').forEach((shape, i) => dress(shape, getComputedStyle(shapes[i])));
      }
      const inside = [...copy.children].map((child) => new XMLSerializer().serializeToString(child).replaceAll(' xmlns="http://www.w3.org/2000/svg"', '')).join('');
      const frame = { viewBox: svg.getAttribute('viewBox'), preserveAspectRatio: svg.getAttribute('preserveAspectRatio') ?? undefined, overflow: 'visible' };
      const key = JSON.stringify([frame, inside]);
      if (!this.symbols.has(key)) {
        const id = `s${this.symbols.size}`;
        this.symbols.set(key, { id, markup: tag('symbol', { id, ...frame }, inside) });
      }
      this.items.push(tag('use', { href: `#${this.symbols.get(key).id}`, x, y, width, height }));
    }

    canvas(canvas, { left, top, width }) {
      if (canvas.asSvg) this.items.push(tag('g', { transform: `translate(${short(left)} ${short(top)}) scale(${width / canvas.width})` }, canvas.asSvg));
    }

    /** An element with everything in it; those that stay in place over the page come last. */
    element(element, isAbove = false) {
      const style = getComputedStyle(element);
      const place = element.getBoundingClientRect();
      const isBox = style.display !== 'contents';
      if (style.display === 'none' || style.visibility === 'hidden' || style.clipPath !== 'none') return;
      if (isBox && !this.isSeen(place)) return;
      if (style.position === 'fixed' && !isAbove) {
        this.above.push(element);
        return;
      }
      const isFaint = style.opacity !== '1';
      if (isFaint) this.items.push(`<g opacity="${style.opacity}">`);
      if (isBox) this.box(style, place);
      if (element instanceof SVGElement) this.graphic(element, place);
      else if (element instanceof HTMLImageElement) this.graphic(this.images.get(element.src), place);
      else if (element instanceof HTMLCanvasElement) this.canvas(element, place);
      else if (element.matches('input, select')) this.items.push(...field(this.styles, element, place));
      else this.inside(element);
      if (isFaint) this.items.push('</g>');
    }

    inside(parent) {
      for (const node of parent.childNodes) {
        if (node.nodeType === Node.TEXT_NODE) this.items.push(...texts(this.styles, node));
        else if (node.nodeType === Node.ELEMENT_NODE) this.element(node);
      }
    }

    markup(title) {
      this.element(document.body);
      this.above.forEach((element) => this.element(element, true));
      const { left: x, top: y, width, height } = this.seen;
      const frame = { xmlns: 'http://www.w3.org/2000/svg', viewBox: [x, y, width, height].join(' '), width, height, 'font-family': 'system-ui,Helvetica,Arial,sans-serif' };
      const definitions = tag('defs', {}, [...this.symbols.values()].map(({ markup }) => markup).join(''));
      const ground = tag('rect', { x, y, width, height, ...paint('fill', getComputedStyle(document.body).backgroundColor) });
      const parts = [tag('title', {}, escaped(title)), this.styles.sheet(), definitions, ground, ...this.items];
      return `${tag('svg', frame, `\n${parts.join('\n')}\n`)}\n`;
    }
  }

  const margin = 12;
  /** What the window shows now, or a part of the page that is named; images are read before, so that nothing changes while it is drawn. It is the last that a page is used for. */
  window.drawPage = async (title, part) => {
    const sources = new Set([...document.images].map(({ src }) => src));
    const read = async (source) => [source, new DOMParser().parseFromString(await (await fetch(source)).text(), 'image/svg+xml').documentElement];
    const images = new Map(await Promise.all([...sources].map(read)));
    // Texts side by side, such as a word and a number, become one.
    document.body.normalize();
    if (!part) return new Picture(images, new DOMRect(0, 0, innerWidth, innerHeight)).markup(title);
    const { left, top, width, height } = document.querySelector(`[aria-label="${part}"]`).getBoundingClientRect();
    const [x, y] = [left, top].map((place) => Math.floor(place - margin));
    return new Picture(images, new DOMRect(x, y, Math.ceil(width + 2 * margin), Math.ceil(height + 2 * margin))).markup(title);
  };
})();
