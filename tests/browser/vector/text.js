// Runs in the page after canvas.js: the texts of elements as SVG, one <text> per line. Each is as wide as it was in the page, whatever
// font the viewer has.
(() => {
  const { escaped, paint, tag } = window.svgParts;
  const pen = document.createElement('canvas').getContext('2d');
  const measured = ({ fontWeight, fontSize, fontFamily }, text) => {
    pen.font = `${fontWeight} ${fontSize} ${fontFamily}`;
    return pen.measureText(text);
  };

  /** Texts have classes: few styles serve many of them. */
  class Styles {
    #names = new Map();
    nameOf(declarations) {
      const key = Object.entries(declarations).filter(([, value]) => value !== undefined).map((pair) => pair.join(':')).join(';');
      if (!this.#names.has(key)) this.#names.set(key, `t${this.#names.size}`);
      return this.#names.get(key);
    }
    sheet = () => tag('style', {}, [...this.#names].map(([declarations, name]) => `.${name}{${declarations}}`).join(''));
  }

  const line = (styles, element, { style, color = style.color, text, left, right, baseline }) => {
    const isUnderlined = getComputedStyle(element.closest('a') ?? element).textDecorationLine.includes('underline');
    const name = styles.nameOf({
      'font-size': style.fontSize,
      'font-weight': style.fontWeight === '400' ? undefined : style.fontWeight,
      'font-family': style.fontFamily.includes('mono') ? 'ui-monospace,Menlo,Consolas,monospace' : undefined,
      'text-decoration': isUnderlined ? 'underline' : undefined,
      ...paint('fill', color),
    });
    return tag('text', { class: name, x: left, y: baseline, textLength: right - left, lengthAdjust: 'spacingAndGlyphs' }, escaped(text));
  };

  /** The visible characters of a text node by line; where an ellipsis is wanted, what does not fit is left out. */
  function* linesOf(node, style) {
    const element = node.parentElement;
    const isCut = style.textOverflow === 'ellipsis' && element.scrollWidth > element.clientWidth;
    const ellipsis = measured(style, '…').width;
    const limit = isCut ? element.getBoundingClientRect().right - ellipsis : Infinity;
    const range = document.createRange();
    let open;
    for (let i = 0; i < node.data.length; ++i) {
      range.setStart(node, i);
      range.setEnd(node, i + 1);
      const place = range.getClientRects()[0];
      if (!place?.width) continue;
      if (place.right > limit) {
        yield { ...open, text: `${open.text}…`, right: open.right + ellipsis };
        return;
      }
      const isSpace = node.data[i].trim() === '';
      const isSame = open && Math.abs(open.top - place.top) < place.height / 2;
      if (isSpace && isSame) open.gap = ' ';
      if (isSpace) continue;
      if (open && !isSame) yield open;
      if (!isSame) open = { text: '', gap: '', top: place.top, left: place.left };
      Object.assign(open, { text: open.text + open.gap + node.data[i], gap: '', right: place.right });
    }
    if (open) yield open;
  }

  const texts = (styles, node) => {
    const style = getComputedStyle(node.parentElement);
    const { fontBoundingBoxAscent } = measured(style, 'x');
    return [...linesOf(node, style)].map((one) => line(styles, node.parentElement, { ...one, style, baseline: one.top + fontBoundingBoxAscent }));
  };

  /** What a field has in it, or what it asks for. */
  const field = (styles, element, { left, top, height }) => {
    const style = getComputedStyle(element);
    const value = element.selectedOptions?.[0]?.text ?? element.value;
    const text = value || element.placeholder;
    if (!text) return [];
    const start = left + parseFloat(style.borderLeftWidth) + parseFloat(style.paddingLeft);
    const { width, fontBoundingBoxAscent: above, fontBoundingBoxDescent: below } = measured(style, text);
    const color = value ? style.color : getComputedStyle(element, '::placeholder').color;
    return [line(styles, element, { style, color, text, left: start, right: start + width, baseline: top + (height + above - below) / 2 })];
  };

  Object.assign(window.svgParts, { Styles, field, texts });
})();
