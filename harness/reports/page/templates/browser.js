// The query browser and the file browser. Their data is unpacked when one of them is opened.
(() => {
  "use strict";

  if (!document.getElementById("browser-data")) return;
  const { el, visible, foreign, codeView } = chunkmarkCode;
  const {
    data,
    state,
    load,
    chooseSet,
    COMMA,
    textOf,
    chunksOf,
    valueOf,
    differenceOf,
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
  } = chunkmarkBase;
  const { midLine, chunkGutter, cutDifference, cutWords } = chunkmarkCuts;
  const { queryDetail } = chunkmarkQuery;
  const PAGE = 50; // items that a list shows at first, and more each time
  const panels = [];

  // ---- controls ----

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
        parts.push(el("p", { class: "note" }, foreign(`${theSet().name}: ${theSet().problem}`)));
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
      return `${COMMA.format(file.nws)} c${file.source === -1 ? ", without text" : ""}`;
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
    if (!data.sets) return;
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
