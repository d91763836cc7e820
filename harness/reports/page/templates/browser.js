// The query browser and the file browser. Their data is unpacked when one of them is opened.
(() => {
  "use strict";

  const packed = document.getElementById("browser-data");
  if (!packed) return;
  const { el, visible, foreign, fileText, offsetsOf, lineOf, nwsBefore, codeView, firstAbove } =
    chunkmarkCode;
  const KINDS = ["relevant", "copy", "below", "blank-lines", "judged"];
  const CHUNK = 6; // numbers of a chunk in a row of `cuts`
  const PAGE = 50; // items that a list shows at first, and more each time
  const CONTEXT = 5; // lines shown around a target or chunk
  const MORE = 20; // lines that a button adds
  const COMMA = new Intl.NumberFormat("en");

  let data = null;
  let loading = null;
  const state = { set: 0, a: 0, b: 0, measure: "", budget: 0, query: null, file: null };
  const panels = [];

  // ---- data ----

  async function unpack() {
    const bytes = Uint8Array.from(atob(packed.textContent.trim()), (mark) => mark.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return JSON.parse(await new Response(stream).text());
  }

  function load() {
    if (!loading) {
      loading = unpack().then((content) => {
        data = content;
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
    if (number < 0) return null;
    if (set.gold === "document") return { file: set.files[number], chunk: null };
    const cut = set.cuts[cell.cuts];
    let at = firstAbove(cut.first, number) - 1;
    while (cut.of[at] < 0) at -= 1;
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

  // ---- controls ----

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

  function search(label, change) {
    const node = el("input", { type: "search", oninput: () => change(node.value) });
    return el("label", {}, label, node);
  }

  function cellControls(changed) {
    const set = theSet();
    const options = set.cells.map((cell, at) => [at, cell.label]);
    const controls = [];
    if (data.sets.length > 1) {
      const names = data.sets.map((part, at) => [at, part.name]);
      controls.push(
        select("Data set", names, state.set, (value) => {
          chooseSet(Number(value));
          changed(true);
        }),
      );
    }
    for (const side of sides()) {
      const label = sides().length > 1 ? `Cell ${letter(side)}` : "Cell";
      controls.push(
        select(label, options, state[side], (value) => {
          state[side] = Number(value);
          changed(false);
        }),
      );
    }
    return controls;
  }

  // A list of buttons, of which the arrow keys choose too.
  function itemList(label, draw) {
    const list = el("ol", { onkeydown: moveFocus });
    const summary = el("p", { role: "status" });
    const more = el("button", { type: "button", class: "browser-more" });
    const box = el(
      "div",
      { class: "browser-list", role: "group", "aria-label": label },
      summary,
      list,
      more,
    );
    let items = [];
    let shown = 0;
    function grow() {
      const next = items.slice(shown, shown + PAGE);
      list.append(...next.map((item) => el("li", {}, draw(item))));
      shown += next.length;
      more.hidden = shown >= items.length;
      more.textContent = `Show ${Math.min(PAGE, items.length - shown)} more of ${COMMA.format(items.length - shown)}`;
      return next.length;
    }
    more.addEventListener("click", () => {
      const first = shown;
      grow();
      list.children[first].firstChild.focus();
    });
    box.fill = (all, words) => {
      [items, shown] = [all, 0];
      list.replaceChildren();
      summary.textContent = words;
      grow();
    };
    box.mark = (id) => {
      for (const button of list.querySelectorAll("button")) {
        if (button.dataset.id === id) button.setAttribute("aria-current", "true");
        else button.removeAttribute("aria-current");
      }
    };
    return box;
  }

  function moveFocus(event) {
    const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    const item = event.target.closest("li");
    const next = step && item && item[step];
    if (!next) return;
    event.preventDefault();
    next.firstChild.focus();
  }

  function setHash(key, values) {
    const parts = new URLSearchParams({ [key]: values.id, ...values.more });
    history.replaceState(null, "", `#${parts}`);
  }

  function linkParts() {
    const set = theSet();
    return { data: set.name, a: theCell("a").label, b: theCell("b").label };
  }

  // ---- query browser ----

  const ORDERS = [
    ["most", "Largest difference first"],
    ["a", "A better first"],
    ["b", "B better first"],
    ["low", "Lowest value of both first"],
    ["id", "By id"],
  ];

  function queryPanel(body) {
    const filter = { text: "", tag: "", corpus: "", order: sides().length > 1 ? "most" : "low" };
    const detail = el("div", { class: "browser-detail" });
    const list = itemList("Queries", queryItem);
    const controls = el("div", { class: "browser-controls" });

    function queryItem(at) {
      const query = theSet().queries[at];
      const two = sides().length > 1;
      const amount = two
        ? signed(differenceOf(at, state.measure))
        : decimal(valueOf("a", at, state.measure));
      return el(
        "button",
        {
          type: "button",
          class: "browser-item",
          "data-id": query.id,
          "aria-current": state.query === at ? "true" : null,
          onclick: () => open(at, true),
        },
        el("span", { class: "amount" }, amount),
        foreign(clip(query.text || query.id, 160)),
        el("span", { class: "minor" }, foreign(clip(query.id, 120))),
      );
    }

    function fill() {
      const chosen = matching(filter);
      const order = ORDERS.find(([key]) => key === filter.order)[1].toLowerCase();
      const what = sides().length > 1 ? `A − B by ${state.measure}` : state.measure;
      list.fill(chosen, `${count(chosen.length, "query", "queries")}, ${order}; ${what}`);
    }

    function open(at, move) {
      state.query = at;
      const query = theSet().queries[at];
      list.mark(query.id);
      setHash("query", { id: query.id, more: linkParts() });
      detail.replaceChildren(...queryDetail(at, () => open(at, false)));
      if (move) detail.firstChild.focus();
    }

    function drawControls() {
      const set = theSet();
      const tags = [
        ...new Set(
          set.queries.flatMap((query) =>
            Object.entries(query.tags).map(([name, value]) => `${name}: ${value}`),
          ),
        ),
      ].sort();
      const corpora = [...set.corpora].sort();
      const orders = sides().length > 1 ? ORDERS : ORDERS.slice(3);
      const text = search("Filter by text, id or path", (value) => {
        filter.text = value;
        fill();
      });
      text.lastChild.value = filter.text;
      controls.replaceChildren(
        ...cellControls((all) => changed(all)),
        select("Order", orders, filter.order, (value) => {
          filter.order = value;
          fill();
        }),
        select(
          "Measure",
          set.measures.map((name) => [name, name]),
          state.measure,
          (value) => {
            state.measure = value;
            fill();
          },
        ),
        ...(tags.length
          ? [
              select(
                "Tag",
                [["", "any"], ...tags.map((tag) => [tag, tag])],
                filter.tag,
                (value) => {
                  filter.tag = value;
                  fill();
                },
              ),
            ]
          : []),
        ...(corpora.length > 1
          ? [
              select(
                "Corpus",
                [["", "any"], ...corpora.map((name) => [name, name])],
                filter.corpus,
                (value) => {
                  filter.corpus = value;
                  fill();
                },
              ),
            ]
          : []),
        text,
      );
    }

    function refresh() {
      drawControls();
      fill();
      if (state.query !== null) open(state.query, false);
      else detail.replaceChildren(hint());
    }

    function hint() {
      const parts = [el("p", {}, "Choose a query from the list.")];
      if (theSet().problem)
        parts.push(
          el("p", { class: "note" }, "Source text is missing: ", foreign(theSet().problem)),
        );
      return el("div", {}, ...parts);
    }

    function changed(all) {
      if (all) [filter.tag, filter.corpus] = ["", ""];
      keepFocus(controls, () => panels.forEach((panel) => panel.refresh()));
    }

    body.replaceChildren(controls, el("div", { class: "browser-panes" }, list, detail));
    const panel = { refresh, open, body };
    panels.push(panel);
    refresh();
    return panel;
  }

  // Controls are drawn anew when a cell changes; the focus stays on the control that was used.
  function keepFocus(controls, redraw) {
    const at = [...controls.children].findIndex((label) => label.contains(document.activeElement));
    redraw();
    if (at >= 0 && controls.children[at]) controls.children[at].lastChild.focus();
  }

  function matching(filter) {
    const set = theSet();
    const wanted = filter.text.toLowerCase();
    const chosen = set.queries
      .map((_, at) => at)
      .filter((at) => {
        const query = set.queries[at];
        if (filter.corpus && query.corpus !== filter.corpus) return false;
        if (
          filter.tag &&
          !Object.entries(query.tags).some(([name, value]) => `${name}: ${value}` === filter.tag)
        )
          return false;
        return !wanted || haystack(query).includes(wanted);
      });
    const keys = new Map(chosen.map((at) => [at, orderKey(filter.order, at)]));
    return chosen.sort((x, y) => keys.get(x) - keys.get(y) || x - y);
  }

  function haystack(query) {
    if (!query.words) {
      const paths = query.targets.map(([file]) => (file < 0 ? "" : theSet().files[file].path));
      query.words = [query.text, query.id, ...paths].join("\n").toLowerCase();
    }
    return query.words;
  }

  function orderKey(order, at) {
    if (order === "id") return at;
    if (order === "low") {
      const values = sides().map((side) => valueOf(side, at, state.measure) ?? 2);
      return Math.min(...values);
    }
    const gap = differenceOf(at, state.measure);
    if (gap === null) return Infinity;
    return { most: -Math.abs(gap), a: -gap, b: gap }[order];
  }

  function queryDetail(at, redraw) {
    const set = theSet();
    const query = set.queries[at];
    const facts = [el("span", {}, "Query ", foreign(clip(query.id, 300)))];
    if (set.corpora.size > 1)
      facts.push(el("span", {}, ", corpus ", foreign(clip(query.corpus, 200))));
    for (const [name, value] of Object.entries(query.tags)) {
      facts.push(", ", foreign(clip(`${name}: ${value}`, 120)));
    }
    const heading = el("h3", { tabindex: "-1" }, ...facts);
    const text = el(
      "div",
      { class: "query-text", tabindex: "0", role: "group", "aria-label": "Text of the query" },
      query.text ? foreign(query.text) : "The cell was stored without the text of its queries.",
    );
    const parts = [heading, text];
    if (query.mask) parts.push(maskNote(query.mask));
    parts.push(valueTable(at));
    parts.push(set.gold === "document" ? judgedDocuments(query) : goldSection(at, query));
    if (budgets(set).length > 1) {
      parts.push(
        el(
          "div",
          { class: "browser-controls" },
          select(
            "Budget",
            budgets(set).map((budget) => [budget, `${COMMA.format(budget)} c`]),
            state.budget,
            (value) => {
              state.budget = Number(value);
              redraw();
              const box = document.querySelector(
                "#query-browser .browser-detail .browser-controls select",
              );
              if (box) box.focus();
            },
          ),
        ),
      );
    }
    parts.push(el("div", { class: "browser-cells" }, ...sides().map((side) => ranking(side, at))));
    return parts;
  }

  function maskNote([path, first, last]) {
    return el(
      "p",
      {},
      "For this query, ",
      linesOf(first, last),
      " of ",
      foreign(clip(path, 300)),
      " are masked: the query was made from them, so they are blank in what it is ranked against.",
    );
  }

  function valueTable(at) {
    const set = theSet();
    const two = sides().length > 1;
    const head = el(
      "tr",
      {},
      el("th", { scope: "col" }, "Measure"),
      ...sides().map((side) => el("th", { scope: "col" }, nameOf(side))),
      two ? el("th", { scope: "col" }, "A − B") : null,
    );
    const rows = set.measures.map((name) =>
      el(
        "tr",
        {},
        el("th", { scope: "row" }, name),
        ...sides().map((side) => number(valueOf(side, at, name), decimal)),
        two ? number(differenceOf(at, name), signed) : null,
      ),
    );
    const table = el(
      "table",
      {},
      el("caption", {}, "This query alone"),
      el("thead", {}, head),
      el("tbody", {}, ...rows),
    );
    return el(
      "details",
      { open: true },
      el("summary", {}, "Values of the measures"),
      el(
        "div",
        {
          class: "browser-scroll",
          tabindex: "0",
          role: "group",
          "aria-label": "Values of the measures",
        },
        table,
      ),
    );
  }

  function number(value, format) {
    return el(
      "td",
      { title: value === null ? null : String(value), "data-value": value },
      format(value),
    );
  }

  // ---- the gold of a query ----

  function judgedDocuments(query) {
    const rows = query.targets.map(([, id, grade]) =>
      el("li", {}, foreign(clip(id, 300)), `, grade ${grade}`),
    );
    return el(
      "details",
      { open: true },
      el("summary", {}, count(rows.length, "judged document")),
      el("ul", {}, ...rows),
    );
  }

  function targetsOf(query) {
    return query.targets.map(([file, first, last, grade, low, high, begin, twins], at) => ({
      at,
      file: theSet().files[file],
      first,
      last,
      grade,
      low,
      high,
      begin,
      twins,
    }));
  }

  function deliveredOf(side, at) {
    const cell = theCell(side);
    const shown = cell.shown[at];
    const budget = cell.budgets.indexOf(state.budget);
    return shown && budget >= 0 ? shown[3][budget] : null;
  }

  // The delivered parts of a target in `c` of its file.
  function deliveredParts(side, at, target) {
    const end = deliveredOf(side, at);
    if (!end) return null;
    const shift = target.low - target.begin;
    return end[3]
      .map(([low, high]) => [
        Math.max(low + shift, target.low),
        Math.min(high + shift, target.high),
      ])
      .filter(([low, high]) => low < high);
  }

  function goldSection(at, query) {
    const targets = targetsOf(query);
    const parts = targets.map((target) => goldTarget(at, query, target));
    return el(
      "section",
      {},
      el("h4", {}, targets.length === 1 ? "Gold" : `Gold: ${count(targets.length, "target")}`),
      ...parts,
    );
  }

  function goldTarget(at, query, target) {
    const { file } = target;
    const title = el(
      "h5",
      {},
      place(file, target.first, target.last),
      ` · ${COMMA.format(target.high - target.low)} c`,
      target.grade === 1 ? "" : ` · grade ${target.grade}`,
      target.first ? "" : " · the whole file",
    );
    const delivered = sides().map((side) =>
      el("p", {}, nameOf(side), `: ${deliveredWords(side, at, target)}`),
    );
    const copies = target.twins.length
      ? el(
          "p",
          {},
          `The same text also stands in ${count(target.twins.length, "place")}: `,
          ...target.twins
            .slice(0, 5)
            .map(([copy]) => el("span", {}, foreign(theSet().files[copy].path), " ")),
        )
      : null;
    return el("div", {}, title, ...delivered, copies, goldCode(at, query, target));
  }

  function deliveredWords(side, at, target) {
    if (!theCell(side).shown[at]) return "does not have this query";
    const parts = deliveredParts(side, at, target);
    if (!parts) return `has no measure with the budget of ${COMMA.format(state.budget)} c`;
    const sum = parts.reduce((total, [low, high]) => total + high - low, 0);
    const whole = target.high - target.low;
    const share =
      sum === whole ? "all" : sum ? `${COMMA.format(sum)} of ${COMMA.format(whole)} c` : "nothing";
    return `${share} of it delivered within ${COMMA.format(state.budget)} c`;
  }

  const COVER = [
    ["none", "○", "not delivered"],
    ["part", "◐", "delivered in part"],
    ["full", "●", "delivered"],
  ];

  function goldCode(at, query, target) {
    const { file } = target;
    const text = textOf(file);
    const [first, last] = [target.first || 1, target.last || (text ? text.count : 1)];
    if (!text) return missingText(file);
    const range = [Math.max(1, first - CONTEXT), Math.min(text.count, last + CONTEXT)];
    const gutters = budgets(theSet()).length
      ? sides().map((side) => goldGutter(side, at, target, text))
      : [];
    const [start, end] = offsetsOf(text, target.low, target.high);
    const host = el("div");
    function draw() {
      const view = codeView({
        file: text,
        first: range[0],
        last: range[1],
        gutters,
        parts: [{ start, end, kind: "gold" }],
        lineKind: (line) => (line < first || line > last ? "outside" : ""),
        label: `Source of ${visible(clip(file.path, 200))}, ${linesOf(...range)}; gold is ${linesOf(first, last)}`,
      });
      host.replaceChildren(view, moreLines(range, text.count, draw), fileLink(file, first));
      return view;
    }
    draw();
    return host;
  }

  function goldGutter(side, at, target, text) {
    const parts = deliveredParts(side, at, target) || [];
    const before = nwsBefore(text);
    return {
      kind: `narrow ${side}`,
      mark(line) {
        const [low, high] = [
          Math.max(before[line - 1], target.low),
          Math.min(before[line], target.high),
        ];
        if (low >= high) return { kind: "" };
        const sum = parts.reduce(
          (total, [begin, end]) => total + Math.max(0, Math.min(end, high) - Math.max(begin, low)),
          0,
        );
        const [kind, mark, words] = COVER[sum === 0 ? 0 : sum < high - low ? 1 : 2];
        return { kind, text: mark, title: `${letter(side)}: ${words}` };
      },
    };
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

  // Buttons that widen a range of lines; the focus stays on them.
  function moreLines(range, total, draw) {
    const box = el("p", {});
    function button(words, change) {
      box.append(
        el(
          "button",
          {
            type: "button",
            onclick: () => {
              const host = box.parentElement;
              change();
              draw();
              const again = [...host.querySelectorAll("button")];
              (
                again.find((other) => other.textContent === words) || host.querySelector(".code")
              ).focus();
            },
          },
          words,
        ),
        " ",
      );
    }
    if (range[0] > 1)
      button(`${MORE} more lines above`, () => {
        range[0] = Math.max(1, range[0] - MORE);
      });
    if (range[1] < total)
      button(`${MORE} more lines below`, () => {
        range[1] = Math.min(total, range[1] + MORE);
      });
    return box;
  }

  function fileLink(file, line) {
    const parts = new URLSearchParams({
      file: file.path,
      corpus: file.corpus,
      line,
      ...linkParts(),
    });
    return el("p", {}, el("a", { href: `#${parts}` }, "Show how the file is cut"));
  }

  // ---- rankings ----

  function ranking(side, at) {
    const cell = theCell(side);
    const shown = cell.shown[at];
    const heading = el("h4", {}, nameOf(side));
    if (!shown)
      return el(
        "div",
        { class: `browser-cell ${side}` },
        heading,
        el("p", {}, "This cell does not have the query."),
      );
    const [units, scores, reasons, , missed, [relevant, ranked]] = shown;
    const end = deliveredOf(side, at);
    const why = new Map(reasons.map((reason) => [reason[0], reason]));
    const items = [];
    units.forEach((unit, rank) => {
      items.push(rankItem(side, at, rank, unit, scores[rank], why.get(rank), end));
      if (end && end[0] === rank) items.push(budgetEnd(end, unitOf(cell, unit), cell));
    });
    const notes = [
      el(
        "p",
        {},
        `${count(relevant, theSet().gold === "document" ? "relevant document" : "relevant chunk")}; ` +
          (ranked
            ? `first ${COMMA.format(units.length)} of ${COMMA.format(ranked)} ranks`
            : "nothing was retrieved"),
      ),
    ];
    if (end && end[0] >= ranked)
      notes.push(
        el("p", {}, `The whole ranking, ${COMMA.format(end[2])} c, is within the budget.`),
      );
    const missing = missedList(
      cell,
      missed,
      relevant - reasons.filter(([, , grade]) => grade > 0).length,
    );
    return el(
      "div",
      { class: `browser-cell ${side}` },
      heading,
      ...notes,
      el("ol", {}, ...items),
      missing,
    );
  }

  function missedList(cell, missed, total) {
    const items = missed.map(([unit, rank]) => missedItem(cell, unit, rank)).filter(Boolean);
    if (!items.length) return null;
    if (total > items.length)
      items.push(el("li", {}, `and ${COMMA.format(total - items.length)} more`));
    return el(
      "details",
      {},
      el("summary", {}, `Relevant, but not in these ranks: ${COMMA.format(total)}`),
      el("ul", {}, ...items),
    );
  }

  function missedItem(cell, unitNumber, rank) {
    const unit = unitOf(cell, unitNumber);
    if (!unit) return null;
    const where = unit.chunk
      ? place(unit.file, unit.chunk.first, unit.chunk.last)
      : place(unit.file);
    return el(
      "li",
      {},
      where,
      rank === null ? ": not retrieved" : `: rank ${COMMA.format(rank + 1)}`,
    );
  }

  function budgetEnd(end, unit, cell) {
    const of =
      unit && unit.chunk && !cell.embed && !cell.merge
        ? ` of ${COMMA.format(unit.chunk.size)}`
        : "";
    return el(
      "li",
      { class: "budget-end" },
      `The budget of ${COMMA.format(state.budget)} c ends here, after ${COMMA.format(end[1])}${of} c of rank ${end[0] + 1}`,
    );
  }

  function rankItem(side, at, rank, unitNumber, score, reason, end) {
    const cell = theCell(side);
    const unit = unitOf(cell, unitNumber);
    if (!unit)
      return el("li", { class: "rank" }, `${rank + 1}. a unit that the cell does not list`);
    const { file, chunk } = unit;
    const beyond = Boolean(end && rank > end[0]);
    const counts = (reason && reason[2] > 0) || (reason && reason[1] === 1);
    const badge = counts
      ? el("span", { class: "badge gold-badge" }, reason[1] === 1 ? "copy of gold" : "relevant")
      : reason && reason[1] === 2
        ? el("span", { class: "badge" }, "holds gold, below the rule")
        : null;
    const facts = [
      `${rank + 1}. `,
      chunk ? place(file, chunk.first, chunk.last) : place(file),
      " · ",
      el(
        "span",
        { class: "minor" },
        [
          chunk ? `${COMMA.format(chunk.size)} c` : "",
          score === null || score === undefined ? "no score" : `score ${score}`,
        ]
          .filter(Boolean)
          .join(", "),
      ),
      " ",
      badge,
      beyond ? el("span", { class: "badge" }, "beyond the budget") : null,
    ];
    const content = el("div");
    const details = el(
      "details",
      {
        ontoggle: () => {
          if (details.open && !content.firstChild)
            content.append(...rankContent(side, at, rank, unit, reason, end));
        },
      },
      el("summary", {}, ...facts),
      content,
    );
    return el("li", { class: `rank${beyond ? " beyond" : ""}${counts ? " counts" : ""}` }, details);
  }

  function rankContent(side, at, rank, unit, reason, end) {
    const words = el("p", {}, ...reasonWords(theCell(side), theSet().queries[at], reason));
    const text = textOf(unit.file);
    if (!text) return [words, missingText(unit.file)];
    const code = unit.chunk
      ? chunkCode(side, at, rank, unit, text, end)
      : documentCode(side, unit.file, text);
    return [words, code];
  }

  function reasonWords(cell, query, reason) {
    if (theSet().gold === "document") {
      if (!reason) return ["Not judged, so it counts as not relevant."];
      return [reason[2] > 0 ? `Relevant: judged with grade ${reason[2]}.` : "Judged not relevant."];
    }
    if (!reason) return ["Not relevant: it holds no line of a target."];
    const [, kind, grade, iou, shares, stands] = reason;
    const targets = targetsOf(query);
    const held = shares.flatMap(([target, size], at) => {
      const { file, first, last, low, high } = targets[target];
      return [
        at ? ", " : "",
        `${COMMA.format(size)} of ${COMMA.format(high - low)} c of `,
        place(file, first, last),
      ];
    });
    const rule = {
      iou: `line IoU ${decimal(iou)}, threshold ${cell.threshold}`,
      share: `share of the target, threshold ${cell.threshold}`,
      graded: `the grade is the share of the target`,
      overlap: "one shared non-blank line is enough",
    }[cell.rule];
    const name = KINDS[kind];
    if (name === "copy") {
      const unit = unitOf(cell, stands[0]);
      const of =
        unit && unit.chunk ? [" of ", place(unit.file, unit.chunk.first, unit.chunk.last)] : [];
      return [
        "Counts as a copy",
        ...of,
        ": it holds the same text, ",
        ...held,
        ". It counts once, whichever comes first.",
      ];
    }
    if (name === "blank-lines")
      return [
        `Relevant by the profile ${cell.profile}: it shares a line with a target, but no text.`,
      ];
    const word =
      name === "relevant" ? `Relevant, grade ${Number(grade.toFixed(3))}` : "Not relevant";
    return [`${word}: it holds `, ...held, ` (${rule}).`];
  }

  // The parts of a file that are gold: targets, and copies of them.
  function goldParts(cell, query, file, text) {
    const parts = [];
    for (const target of targetsOf(query)) {
      if (target.file === file) parts.push([target.low, target.high]);
      if (!cell.twins) continue;
      for (const [copy, low, high] of target.twins)
        if (theSet().files[copy] === file) parts.push([low, high]);
    }
    return parts.map(([low, high]) => {
      const [start, end] = offsetsOf(text, low, high);
      return { start, end, kind: "gold" };
    });
  }

  function chunkCode(side, at, rank, { file, chunk }, text, end) {
    const range = [Math.max(1, chunk.first - 2), Math.min(text.count, chunk.last + 2)];
    const cell = theCell(side);
    const parts = goldParts(cell, theSet().queries[at], file, text)
      .map((part) => ({
        ...part,
        start: Math.max(part.start, chunk.start),
        end: Math.min(part.end, chunk.end),
      }))
      .filter((part) => part.start < part.end);
    parts.push(
      { start: 0, end: chunk.start, kind: "outside" },
      { start: chunk.end, end: text.text.length, kind: "outside" },
    );
    for (const [low, high] of chunk.gaps) {
      const [start, stop] = offsetsOf(text, low, high);
      parts.push({ start, end: stop, kind: `lost-${side}` });
    }
    if (
      end &&
      end[0] === rank &&
      end[1] < chunk.size &&
      !cell.merge &&
      !cell.embed &&
      !chunk.gaps.length
    ) {
      parts.push({
        start: offsetsOf(text, chunk.low, chunk.low + end[1])[1],
        end: chunk.end,
        kind: "rest",
      });
    }
    const host = el("div");
    function draw() {
      const view = codeView({
        file: text,
        first: range[0],
        last: range[1],
        parts,
        gutters: [chunkGutter(side, [chunk], null)],
        borders: midLine(side, [chunk], text),
        lineKind: (line) => (line < chunk.first || line > chunk.last ? "outside" : ""),
        label: `Source of ${visible(clip(file.path, 200))}, ${linesOf(...range)}; the chunk is ${linesOf(chunk.first, chunk.last)}`,
      });
      host.replaceChildren(view, moreLines(range, text.count, draw), fileLink(file, chunk.first));
    }
    draw();
    return host;
  }

  function documentCode(side, file, text) {
    const chunks = chunksOf(theCell(side), file);
    return codeView({
      file: text,
      first: 1,
      last: text.count,
      gutters: [chunkGutter(side, chunks, text)],
      borders: midLine(side, chunks, text),
      label: `Text of ${visible(clip(file.path, 200))}`,
    });
  }

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
    const loss = before ? lossOn(line, chunks, before) : { lost: 0, twice: 0 };
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

  // How many characters of a line no chunk holds, and how many several do.
  function lossOn(line, chunks, before) {
    const [low, high] = [before[line - 1], before[line]];
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

  // ---- file browser ----

  function filePanel(body) {
    const filter = { text: "", order: "most", version: "whole" };
    const detail = el("div", { class: "browser-detail" });
    const controls = el("div", { class: "browser-controls" });
    const list = itemList("Files", fileItem);
    let differences = null;

    function fileItem(file) {
      const { own, every } = differences[file.number];
      return el(
        "button",
        {
          type: "button",
          class: "browser-item",
          "data-id": String(file.number),
          "aria-current": state.file === file.number ? "true" : null,
          onclick: () => open(file.number, null, true),
        },
        el(
          "span",
          { class: "amount" },
          sides().length > 1 ? `${own} of ${every}` : count(Math.max(0, every - 1), "chunk"),
        ),
        fileName(file),
        el("span", { class: "minor" }, sizeOf(file)),
      );
    }

    function sizeOf(file) {
      return [
        file.nws === null ? "" : `${COMMA.format(file.nws)} c`,
        file.source === -1 ? "without text" : "",
      ]
        .filter(Boolean)
        .join(", ");
    }

    function fill() {
      const wanted = filter.text.toLowerCase();
      const chosen = theSet().files.filter(
        (file) =>
          (filter.version === "masked") === isMasked(file) &&
          (file.path.toLowerCase().includes(wanted) || file.corpus.toLowerCase().includes(wanted)),
      );
      if (filter.order === "most") {
        chosen.sort(
          (x, y) =>
            differences[y.number].score - differences[x.number].score || x.number - y.number,
        );
      }
      const words =
        sides().length > 1
          ? `${count(chosen.length, "file")}. "3 of 8": 3 of 8 chunk boundaries are in only one of the two cells. The order ` +
            `is by this share, with ${data.few} added to all boundaries, so that files with few do not come first.`
          : count(chosen.length, "file");
      list.fill(chosen, words);
    }

    function open(fileNumber, line, move) {
      state.file = fileNumber;
      const file = theSet().files[fileNumber];
      list.mark(String(fileNumber));
      setHash("file", { id: file.path, more: { corpus: file.corpus, ...linkParts() } });
      detail.replaceChildren(...fileDetail(file, differences[fileNumber]));
      const code = detail.querySelector(".code");
      if (line && code) code.scrollToLine(line);
      if (move) detail.firstChild.focus();
    }

    function refresh() {
      differences = theSet().files.map(cutDifference);
      const text = search("Filter by path", (value) => {
        filter.text = value;
        fill();
      });
      text.lastChild.value = filter.text;
      controls.replaceChildren(
        ...cellControls(() =>
          keepFocus(controls, () => panels.forEach((panel) => panel.refresh())),
        ),
        ...(theSet().files.some(isMasked)
          ? [
              select(
                "Version",
                [
                  ["whole", "As it is"],
                  ["masked", "Masked for a query"],
                ],
                filter.version,
                (value) => {
                  filter.version = value;
                  fill();
                },
              ),
            ]
          : []),
        select(
          "Order",
          [
            ["most", "Most different first"],
            ["path", "By path"],
          ],
          filter.order,
          (value) => {
            filter.order = value;
            fill();
          },
        ),
        text,
      );
      fill();
      if (state.file !== null) open(state.file, null, false);
      else detail.replaceChildren(el("p", {}, "Choose a file from the list."));
    }

    body.replaceChildren(controls, el("div", { class: "browser-panes" }, list, detail));
    const panel = { refresh, open, body };
    panels.push(panel);
    refresh();
    return panel;
  }

  function fileDetail(file, difference) {
    const text = textOf(file);
    const chunks = Object.fromEntries(sides().map((side) => [side, chunksOf(theCell(side), file)]));
    const heading = el("h3", { tabindex: "-1" }, fileName(file));
    const facts = sides().map((side) =>
      el("p", {}, nameOf(side), `: ${cutWords(chunks[side], file)}`),
    );
    if (sides().length > 1)
      facts.push(
        el(
          "p",
          {},
          `${difference.own} of ${count(difference.every, "boundary", "boundaries")} are in only one of the two cells.`,
        ),
      );
    const lastLine = text
      ? text.count
      : Math.max(
          0,
          ...Object.values(chunks)
            .flat()
            .map((chunk) => chunk.last),
        );
    const view = codeView({
      file: text,
      first: 1,
      last: lastLine,
      gutters: sides().map((side) => chunkGutter(side, chunks[side], text)),
      borders: text ? sides().flatMap((side) => midLine(side, chunks[side], text)) : [],
      lineKind: cutLines(chunks),
      label: `${text ? "Source" : "Lines"} of ${visible(clip(file.path, 200))}, with the chunks of ${sides().map(letter).join(" and ")}`,
    });
    const keys = el(
      "p",
      { class: "browser-keys" },
      "The columns on the left show the chunks of ",
      ...sides().flatMap((side, at) => [at ? " and " : "", nameOf(side)]),
      ", each with its number on its first line; pink marks text in no chunk, violet text in several. A bar inside a line is a cut there.",
    );
    return [
      heading,
      el("div", {}, ...facts),
      text ? null : missingText(file),
      keys,
      view,
      ...sides().map((side) => chunkTable(side, chunks[side])),
    ].filter(Boolean);
  }

  function cutLines(chunks) {
    const begins = Object.entries(chunks).map(([side, row]) => [
      side,
      new Set(row.map((chunk) => chunk.first)),
    ]);
    return (line) =>
      begins
        .filter(([, lines]) => lines.has(line))
        .map(([side]) => `cut-${side}`)
        .join(" ");
  }

  function cutWords(chunks, file) {
    const points = chunks.flatMap((chunk) => [
      [chunk.low, 1],
      [chunk.high, -1],
      ...chunk.gaps.flatMap(([low, high]) => [
        [low, -1],
        [high, 1],
      ]),
    ]);
    points.sort((x, y) => x[0] - y[0]);
    let [depth, at, covered, twice] = [0, 0, 0, 0];
    for (const [point, step] of points) {
      if (depth > 0) covered += point - at;
      if (depth > 1) twice += point - at;
      [depth, at] = [depth + step, point];
    }
    const words = [count(chunks.length, "chunk")];
    if (file.nws !== null && covered < file.nws)
      words.push(`${COMMA.format(file.nws - covered)} c in no chunk`);
    if (twice) words.push(`${COMMA.format(twice)} c in several chunks`);
    return words.join(", ");
  }

  function chunkTable(side, chunks) {
    const body = el("tbody");
    const head = el(
      "tr",
      {},
      ...["Chunk", "Lines", "c"].map((name) => el("th", { scope: "col" }, name)),
    );
    const table = el("table", {}, el("thead", {}, head), body);
    const details = el(
      "details",
      {
        ontoggle: () => {
          if (!details.open || body.firstChild) return;
          body.append(
            ...chunks.map((chunk) =>
              el(
                "tr",
                {},
                el("th", { scope: "row" }, String(chunk.number)),
                el("td", {}, `${chunk.first}–${chunk.last}`),
                el("td", {}, COMMA.format(chunk.size)),
              ),
            ),
          );
        },
      },
      el("summary", {}, "Chunks of ", nameOf(side), " as a list"),
      table,
    );
    return details;
  }

  // ---- opening ----

  function opener(id, build) {
    const details = document.getElementById(id);
    const body = details.querySelector(".browser-body");
    let panel = null;
    async function open() {
      if (panel) return panel;
      body.replaceChildren(el("p", { role: "status" }, "Unpacking…"));
      try {
        await load();
      } catch (error) {
        body.replaceChildren(
          el(
            "p",
            { class: "note", role: "alert" },
            typeof DecompressionStream === "undefined"
              ? "This browser cannot unpack the data; it needs one of 2023 or later."
              : `The data of this page cannot be unpacked: ${error.message}`,
          ),
        );
        return null;
      }
      panel = panel || build(body);
      return panel;
    }
    details.addEventListener("toggle", () => {
      if (details.open) open();
    });
    return async () => {
      const opened = await open();
      details.open = true;
      return opened;
    };
  }

  const openQueries = opener("query-browser", queryPanel);
  const openFiles = opener("file-browser", filePanel);

  // The data set and the cells that a link names.
  function applyLink(parts) {
    const named = data.sets.findIndex((set) => set.name === parts.get("data"));
    if (named >= 0 && named !== state.set) chooseSet(named);
    for (const side of ["a", "b"]) {
      const at = theSet().cells.findIndex((cell) => cell.label === parts.get(side));
      if (at >= 0) state[side] = at;
    }
  }

  async function follow() {
    const parts = new URLSearchParams(location.hash.slice(1));
    const [query, file] = [parts.get("query"), parts.get("file")];
    if (query === null && file === null) return;
    await load().catch(() => null);
    if (!data) return;
    applyLink(parts);
    const panel = await (query === null ? openFiles() : openQueries());
    panels.forEach((each) => each.refresh());
    const set = theSet();
    const at =
      query === null
        ? set.files.findIndex(
            (each) =>
              each.path === file && (!parts.has("corpus") || each.corpus === parts.get("corpus")),
          )
        : (set.at.get(query) ?? -1);
    if (at < 0) return;
    if (query === null) panel.open(at, Number(parts.get("line")) || null, true);
    else panel.open(at, true);
    panel.body.querySelector(".browser-detail").scrollIntoView({ block: "start" });
  }

  window.addEventListener("hashchange", follow);
  follow();
})();
