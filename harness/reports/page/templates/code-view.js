// Shows source text: syntax, gutters, highlighted parts and the borders of chunks.
// Text of others gets into the page through textContent alone.
const chunkmarkCode = (() => {
  "use strict";

  const LINE_HEIGHT = 20; // pixels, as .code-line in browser.css
  const MARGIN = 40; // lines drawn above and below the visible ones
  const LONGEST = 5000; // UTF-16 units of a line that are drawn
  // What Python's str.isspace() says.
  const SPACE = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;
  // Control characters and those that change the order or the width of others.
  const HIDDEN =
    /[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
  const TOKENS = /([A-Z])(\d+)/g;

  function el(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  }

  function visible(text) {
    return text.replace(HIDDEN, (mark) => {
      const code = mark.codePointAt(0);
      if (code < 0x20) return String.fromCharCode(0x2400 + code);
      if (code === 0x7f) return "\u2421";
      return `\u2039U+${code.toString(16).toUpperCase().padStart(4, "0")}\u203a`;
    });
  }

  // Text of others inside a sentence: it cannot change the order of what is around it.
  function foreign(text, attributes = {}) {
    return el("bdi", { dir: "auto", ...attributes }, visible(String(text)));
  }

  function firstAbove(sorted, value) {
    let low = 0;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle] > value) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  // The lines of a text, as Python counts them: only LF ends a line. `replaced` is
  // [first, last, text] of masked lines.
  function fileText(text, runs, replaced = null) {
    const tokens = tokenEnds(runs);
    const { whole, shifted } = replaced
      ? splice(text, tokens, replaced)
      : { whole: text, shifted: tokens };
    const starts = [0];
    for (let at = whole.indexOf("\n"); at >= 0; at = whole.indexOf("\n", at + 1))
      starts.push(at + 1);
    if (starts[starts.length - 1] === whole.length) starts.pop();
    return {
      text: whole,
      starts,
      count: starts.length,
      tokens: shifted,
      nws: null,
      masked: replaced ? [replaced[0], replaced[1]] : null,
    };
  }

  // A text and its tokens with other lines in place of some.
  function splice(text, tokens, [first, last, lines]) {
    let begin = 0;
    for (let line = 1; line < first; line += 1) begin = text.indexOf("\n", begin) + 1;
    let end = begin;
    for (let line = first; line <= last; line += 1) {
      const at = text.indexOf("\n", end);
      end = at < 0 ? text.length : at + 1;
    }
    const before = firstAbove(tokens.ends, begin);
    const after = firstAbove(tokens.ends, end);
    const moved = tokens.ends.slice(after).map((at) => at - end + begin + lines.length);
    const kinds = tokens.kinds;
    const shifted = {
      ends: [...tokens.ends.slice(0, before), begin, begin + lines.length, ...moved],
      kinds: `${kinds.slice(0, before)}${kinds[before] || "P"}P${kinds.slice(after)}`,
    };
    return { whole: text.slice(0, begin) + lines + text.slice(end), shifted };
  }

  function tokenEnds(runs) {
    const ends = [];
    let kinds = "";
    let end = 0;
    for (const [, kind, length] of runs.matchAll(TOKENS)) {
      end += Number(length);
      ends.push(end);
      kinds += kind;
    }
    return { ends, kinds };
  }

  function lineEnd(file, line) {
    return line < file.count ? file.starts[line] : file.text.length;
  }

  function weighs(file, at) {
    const code = file.text.charCodeAt(at);
    // The second half of a pair is not a character of its own.
    if (code >= 0xdc00 && code <= 0xdfff && at > 0) {
      const before = file.text.charCodeAt(at - 1);
      if (before >= 0xd800 && before <= 0xdbff) return 0;
    }
    return SPACE.test(file.text[at]) ? 0 : 1;
  }

  // Non-white-space characters before every line, then in all.
  function nwsBefore(file) {
    if (file.nws) return file.nws;
    const before = new Array(file.count + 1).fill(0);
    for (let line = 1; line <= file.count; line += 1) {
      let count = 0;
      for (let at = file.starts[line - 1]; at < lineEnd(file, line); at += 1)
        count += weighs(file, at);
      before[line] = before[line - 1] + count;
    }
    file.nws = before;
    return before;
  }

  // Offset of the non-white-space character with a number; `after` gives the offset behind it.
  function offsetOf(file, number, after = false) {
    const before = nwsBefore(file);
    const line = Math.min(firstAbove(before, number), file.count);
    if (line === 0) return 0;
    let left = number - before[line - 1];
    for (let at = file.starts[line - 1]; at < lineEnd(file, line); at += 1) {
      if (!weighs(file, at)) continue;
      if (left === 0) return after ? at + 1 : at;
      left -= 1;
    }
    return lineEnd(file, line);
  }

  // Offsets of the non-white-space characters [low, high).
  function offsetsOf(file, low, high) {
    return high > low ? [offsetOf(file, low), offsetOf(file, high - 1, true)] : [0, 0];
  }

  function lineOf(file, offset) {
    return Math.max(1, firstAbove(file.starts, offset));
  }

  // Where the look of a line changes: its tokens, parts and borders.
  function breaks(file, begin, end, parts, borders) {
    const points = new Set([begin, end]);
    const { ends } = file.tokens;
    for (let at = firstAbove(ends, begin); at < ends.length && ends[at] < end; at += 1) {
      points.add(ends[at]);
    }
    for (const part of parts) {
      if (part.start > begin && part.start < end) points.add(part.start);
      if (part.end > begin && part.end < end) points.add(part.end);
    }
    for (const border of borders) points.add(border.at);
    return [...points].sort((a, b) => a - b);
  }

  function drawSource(file, line, parts, borders) {
    const begin = file.starts[line - 1];
    let end = lineEnd(file, line);
    if (file.text[end - 1] === "\n" && end > begin) end -= 1;
    if (file.text[end - 1] === "\r" && end > begin) end -= 1;
    const cut = Math.min(end, begin + LONGEST);
    const own = parts.filter((part) => part.start < Math.max(cut, begin + 1) && part.end > begin);
    const inside = borders.filter((border) => border.at > begin && border.at < cut);
    const points = breaks(file, begin, cut, own, inside);
    const nodes = [];
    for (let at = 0; at + 1 < points.length; at += 1) {
      for (const border of inside) {
        if (border.at === points[at]) {
          nodes.push(el("span", { class: `border ${border.kind}`, title: border.title }));
        }
      }
      nodes.push(segment(file, points[at], points[at + 1], own));
    }
    if (cut < end) {
      const more = (end - cut).toLocaleString("en");
      nodes.push(el("span", { class: "more-text" }, ` … ${more} more characters`));
    }
    return nodes;
  }

  function segment(file, begin, end, parts) {
    const { ends, kinds } = file.tokens;
    const token = kinds[firstAbove(ends, begin)] || "P";
    const classes = [`tok-${token}`];
    for (const part of parts) {
      if (part.start <= begin && part.end >= end) classes.push(part.kind);
    }
    return el("span", { class: classes.join(" ") }, visible(file.text.slice(begin, end)));
  }

  function drawLine(view, line) {
    const { file } = view;
    const cells = view.gutters.map((gutter) => {
      const mark = gutter.mark(line);
      return el(
        "span",
        { class: `gutter ${gutter.kind} ${mark.kind}`, title: mark.title || null },
        mark.text || "",
      );
    });
    const masked = file && file.masked && line >= file.masked[0] && line <= file.masked[1];
    const source = el("span", {
      class: masked ? "line-source masked-line" : "line-source",
      dir: "ltr",
    });
    if (file && line <= file.count)
      source.append(...drawSource(file, line, view.parts, view.borders));
    if (masked) source.append(el("span", { class: "mask-label" }, "masked for this query"));
    return el(
      "div",
      { class: `code-line ${view.lineKind(line)}` },
      ...cells,
      el("span", { class: "line-number" }, String(line)),
      source,
    );
  }

  // Draws the lines `first` to `last`; of long texts only those in sight.
  function codeView(options) {
    const view = { gutters: [], parts: [], borders: [], lineKind: () => "", ...options };
    const count = Math.max(0, view.last - view.first + 1);
    const rows = el("div", { class: "code-rows" });
    const sheet = el("div", { class: "code-sheet" }, rows);
    const box = el(
      "div",
      { class: "code", tabindex: "0", role: "group", "aria-label": view.label },
      sheet,
    );
    sheet.style.height = `${count * LINE_HEIGHT}px`;
    let drawn = null;
    function draw() {
      const top = Math.floor(box.scrollTop / LINE_HEIGHT);
      const height = Math.ceil((box.clientHeight || 800) / LINE_HEIGHT);
      const from = Math.max(0, top - MARGIN);
      const to = Math.min(count, top + height + MARGIN);
      if (
        drawn &&
        drawn[0] <= Math.max(0, top - 5) &&
        drawn[1] >= Math.min(count, top + height + 5)
      )
        return;
      drawn = [from, to];
      rows.style.transform = `translateY(${from * LINE_HEIGHT}px)`;
      const lines = [];
      for (let at = from; at < to; at += 1) lines.push(drawLine(view, view.first + at));
      rows.replaceChildren(...lines);
    }
    box.addEventListener("scroll", draw, { passive: true });
    draw();
    box.scrollToLine = (line) => {
      box.scrollTop = Math.max(0, (line - view.first - 3) * LINE_HEIGHT);
      draw();
    };
    return box;
  }

  return { el, visible, foreign, fileText, offsetsOf, lineOf, nwsBefore, codeView, firstAbove };
})();
