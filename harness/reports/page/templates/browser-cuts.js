// Where chunks begin and end in a file.
const chunkmarkCuts = (() => {
  "use strict";

  const { lineOf, nwsBefore, firstAbove } = chunkmarkCode;
  const { data, COMMA, chunksOf, linesOf, theCell, sides, count, letter } = chunkmarkBase;

  // ---- boundaries ----

  // Borders inside a line; those at the start of a line are drawn in the gutter.
  function midLine(side, chunks, text) {
    const borders = [];
    for (const chunk of chunks) {
      for (const [offset, words] of [
        [chunk.start, "begins"],
        [chunk.end, "ends"],
      ]) {
        const line = lineOf(text, Math.min(offset, Math.max(0, text.text.length - 1)));
        if (
          offset > text.starts[line - 1] &&
          text.text.slice(text.starts[line - 1], offset).trim() &&
          text.text.slice(offset, text.starts[line] ?? text.text.length).trim()
        ) {
          borders.push({
            at: offset,
            kind: side,
            title: `${letter(side)}: chunk ${chunk.number} ${words}`,
          });
        }
      }
    }
    return borders;
  }

  // Bands of chunks beside their lines. A line without text of the file has no loss.
  function chunkGutter(side, chunks, text) {
    const before = text ? nwsBefore(text) : null;
    const order = [...chunks].sort((x, y) => x.first - y.first || x.number - y.number);
    const firsts = order.map((chunk) => chunk.first);
    const reach = []; // the last line of all chunks up to each
    order.forEach((chunk, at) => reach.push(Math.max(chunk.last, at ? reach[at - 1] : 0)));
    function on(line) {
      const found = [];
      for (let at = firstAbove(firsts, line) - 1; at >= 0 && reach[at] >= line; at -= 1) {
        if (order[at].last >= line) found.unshift(order[at]);
      }
      return found;
    }
    return { kind: side, mark: (line) => gutterMark(side, line, on(line), before) };
  }

  function gutterMark(side, line, chunks, before) {
    const loss = before ? lossIn(chunks, before[line - 1], before[line]) : { lost: 0, twice: 0 };
    const kinds = [];
    const words = chunks.map(
      (chunk) =>
        `chunk ${chunk.number}, ${linesOf(chunk.first, chunk.last)}, ${COMMA.format(chunk.size)} c`,
    );
    if (chunks.length) kinds.push(chunks[chunks.length - 1].number % 2 ? "odd" : "even");
    if (chunks.some((chunk) => chunk.first === line)) kinds.push("begins");
    if (chunks.some((chunk) => chunk.last === line)) kinds.push("ends");
    if (loss.lost) {
      kinds.push("lost");
      words.push(`${COMMA.format(loss.lost)} c in no chunk`);
    }
    if (loss.twice) {
      kinds.push("overlap");
      words.push(`${COMMA.format(loss.twice)} c in several chunks`);
    }
    const starts = chunks.filter((chunk) => chunk.first === line).map((chunk) => chunk.number);
    const text = starts.length ? starts.join("+") : loss.lost ? "lost" : "";
    return {
      kind: kinds.join(" "),
      text,
      title: words.length ? `${letter(side)}: ${words.join("; ")}` : null,
    };
  }

  // How many of the characters [low, high) of a file no chunk holds, and how many several do.
  function lossIn(chunks, low, high) {
    const points = [
      [low, 0],
      [high, 0],
    ];
    for (const chunk of chunks) {
      let at = chunk.low;
      for (const [begin, end] of [...chunk.gaps, [chunk.high, chunk.high]]) {
        const [from, to] = [Math.max(at, low), Math.min(begin, high)];
        if (from < to) points.push([from, 1], [to, -1]);
        at = end;
      }
    }
    points.sort((x, y) => x[0] - y[0]);
    let [depth, lost, twice] = [0, 0, 0];
    for (let at = 0; at + 1 < points.length; at += 1) {
      depth += points[at][1];
      const width = points[at + 1][0] - points[at][0];
      if (depth === 0) lost += width;
      if (depth > 1) twice += width;
    }
    return { lost, twice };
  }

  // Boundaries of both cells in a file, in `c`, and how many only one of them has.
  function cutDifference(file) {
    const [a, b] = sides().map((side) => {
      const edges = new Set();
      for (const chunk of chunksOf(theCell(side), file)) edges.add(chunk.low).add(chunk.high);
      return edges;
    });
    if (!b) return { own: 0, every: a.size, score: 0 };
    const every = new Set([...a, ...b]).size;
    const shared = a.size + b.size - every;
    return { own: every - shared, every, score: (every - shared) / (every + data.few) };
  }

  function cutWords(chunks, file) {
    const { lost, twice } = lossIn(chunks, 0, file.nws);
    const words = [count(chunks.length, "chunk")];
    if (lost) words.push(`${COMMA.format(lost)} c in no chunk`);
    if (twice) words.push(`${COMMA.format(twice)} c in several chunks`);
    return words.join(", ");
  }

  return { midLine, chunkGutter, cutDifference, cutWords };
})();
