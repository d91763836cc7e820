// What both browsers share: their data, the chosen cells, and words.
const chunkmarkBase = (() => {
  "use strict";

  const { el, visible, foreign, fileText, firstAbove } = chunkmarkCode;
  const CHUNK = 6; // numbers of a chunk in a row of `cuts`
  const COMMA = new Intl.NumberFormat("en");

  const data = {}; // filled when a browser is opened
  let loading = null;
  const state = { set: 0, a: 0, b: 0, measure: "", budget: 0, query: null, file: null };

  // ---- data ----

  async function unpack() {
    const bytes = Uint8Array.from(
      atob(document.getElementById("browser-data").textContent.trim()),
      (mark) => mark.charCodeAt(0),
    );
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return JSON.parse(await new Response(stream).text());
  }

  function load() {
    if (!loading) {
      loading = unpack().then((content) => {
        Object.assign(data, content);
        data.sets.forEach(prepareSet);
        chooseSet(
          Math.max(
            0,
            data.sets.findIndex((set) => set.queries.length),
          ),
        );
      });
    }
    return loading;
  }

  function prepareSet(set) {
    set.files = set.files.map(([corpus, path, nws, source], number) => ({
      corpus,
      path,
      nws,
      source,
      number,
      text: null,
    }));
    set.corpora = new Set(set.queries.map((query) => query.corpus));
    for (const cut of set.cuts) {
      let total = 0;
      cut.first = cut.of.map((row) => {
        const first = total;
        total += row < 0 ? 0 : cut.rows[row].length / CHUNK;
        return first;
      });
      cut.chunks = new Map();
    }
    set.at = new Map(set.queries.map((query, at) => [query.id, at]));
  }

  function chooseSet(number) {
    const set = data.sets[number];
    state.set = number;
    [state.a, state.b] = set.pair;
    state.measure = set.primary;
    state.budget = defaultBudget(set);
    state.query = state.file = null;
  }

  function defaultBudget(set) {
    const every = budgets(set);
    const cut = Number((/@(\d+)c$/.exec(set.primary) || [])[1]);
    return every.includes(cut) ? cut : every[every.length - 1] || 0;
  }

  function budgets(set) {
    return [...new Set(set.cells.flatMap((cell) => cell.budgets))].sort((a, b) => a - b);
  }

  const theSet = () => data.sets[state.set];
  const theCell = (side) => theSet().cells[state[side]];
  const sides = () => (theSet().cells.length > 1 ? ["a", "b"] : ["a"]);

  // The text of a file; null if the report does not hold it.
  function textOf(file) {
    if (file.source === -1) return null;
    if (!file.text) {
      const [number, ...replaced] = [file.source].flat();
      file.text = fileText(...data.texts[number], replaced.length ? replaced : null);
    }
    return file.text;
  }

  // The chunks of a file in one cell, in order.
  function chunksOf(cell, file) {
    const cut = theSet().cuts[cell.cuts];
    if (!cut.chunks.has(file.number)) {
      cut.chunks.set(file.number, cut.of[file.number] < 0 ? [] : readChunks(cut, file.number));
    }
    return cut.chunks.get(file.number);
  }

  function readChunks(cut, number) {
    const row = cut.rows[cut.of[number]];
    const chunks = [];
    let [end, last, high] = [0, 0, 0];
    for (let at = 0; at < row.length; at += CHUNK) {
      const start = end + row[at];
      const first = last + row[at + 2];
      const low = high + row[at + 4];
      [end, last, high] = [start + row[at + 1], first + row[at + 3], low + row[at + 5]];
      const gaps = cut.gaps[cut.first[number] + chunks.length] || [];
      const size = high - low - gaps.reduce((sum, [begin, stop]) => sum + stop - begin, 0);
      chunks.push({ number: chunks.length + 1, start, end, first, last, low, high, size, gaps });
    }
    return chunks;
  }

  // A ranked unit: its file, and its chunk, or null where whole documents are ranked.
  function unitOf(cell, number) {
    const set = theSet();
    if (set.gold === "document") return { file: set.files[number], chunk: null };
    const cut = set.cuts[cell.cuts];
    const at = firstAbove(cut.first, number) - 1;
    const file = set.files[at];
    return { file, chunk: chunksOf(cell, file)[number - cut.first[at]] };
  }

  function valueOf(side, query, measure) {
    const row = theCell(side).values[query];
    const value = row && row[theSet().measures.indexOf(measure)];
    return value === undefined ? null : value;
  }

  function differenceOf(query, measure) {
    const [a, b] = [valueOf("a", query, measure), valueOf("b", query, measure)];
    return a === null || b === null ? null : a - b;
  }

  // ---- words ----

  const count = (number, one, many = `${one}s`) =>
    `${COMMA.format(number)} ${number === 1 ? one : many}`;
  const decimal = (value) => (value === null ? "–" : value.toFixed(3));
  const signed = (value) =>
    value === null
      ? "–"
      : `${value > 0 ? "+" : value < 0 ? "\u2212" : ""}${Math.abs(value).toFixed(3)}`;
  const clip = (text, length) => (text.length > length ? `${text.slice(0, length)}…` : text);
  const letter = (side) => side.toUpperCase();

  function linesOf(first, last) {
    return first === last ? `line ${first}` : `lines ${first}–${last}`;
  }

  function place(file, first, last) {
    const lines = first ? `:${first}${last === first ? "" : `–${last}`}` : "";
    return el("span", {}, foreign(clip(file.path, 300)), lines);
  }

  function nameOf(side) {
    return el(
      "span",
      { class: `cell-name ${side}` },
      `${letter(side)} `,
      foreign(clip(theCell(side).label, 200)),
    );
  }

  // Masked files have a corpus of their own, named after their query.
  const isMasked = (file) => !theSet().corpora.has(file.corpus);

  function fileName(file) {
    const parts = [foreign(clip(file.path, 300))];
    if (isMasked(file))
      parts.push(
        " as masked for ",
        foreign(clip(file.corpus.slice(file.corpus.indexOf("@") + 1), 100)),
      );
    else if (theSet().corpora.size > 1) parts.push(" in ", foreign(clip(file.corpus, 100)));
    return el("span", {}, ...parts);
  }

  // ---- parts of both browsers ----

  function select(label, options, value, change) {
    const node = el("select", { onchange: () => change(node.value) });
    for (const [key, text] of options) {
      node.append(
        el(
          "option",
          { value: key, selected: String(key) === String(value) },
          visible(clip(text, 80)),
        ),
      );
    }
    return el("label", {}, label, node);
  }

  function linkParts() {
    const set = theSet();
    return { data: set.name, a: theCell("a").label, b: theCell("b").label };
  }

  function missingText(file) {
    const why = theSet().problem
      ? "the source could not be read"
      : "it does not fit in this report; see --sources";
    return el(
      "p",
      { class: "note" },
      "The text of ",
      foreign(clip(file.path, 300)),
      ` is not shown: ${why}.`,
    );
  }

  return {
    data,
    state,
    load,
    chooseSet,
    COMMA,
    budgets,
    textOf,
    chunksOf,
    unitOf,
    valueOf,
    differenceOf,
    linesOf,
    place,
    nameOf,
    fileName,
    select,
    linkParts,
    missingText,
    theSet,
    theCell,
    sides,
    count,
    decimal,
    signed,
    clip,
    letter,
    isMasked,
  };
})();
