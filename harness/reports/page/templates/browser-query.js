// One query: its values, its gold, and what each cell retrieves for it.
const chunkmarkQuery = (() => {
  "use strict";

  const { el, visible, foreign, offsetsOf, nwsBefore, codeView } = chunkmarkCode;
  const {
    state,
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
  } = chunkmarkBase;
  const { midLine, chunkGutter } = chunkmarkCuts;
  const CONTEXT = 5; // lines shown around a target or chunk
  const MORE = 20; // lines that a button adds

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
      foreign(query.text),
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
    const items = missed.map(([unit, rank]) => missedItem(cell, unit, rank));
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
    const { file, chunk } = unitOf(cell, unitNumber);
    const where = chunk ? place(file, chunk.first, chunk.last) : place(file);
    return el(
      "li",
      {},
      where,
      rank === null ? ": not retrieved" : `: rank ${COMMA.format(rank + 1)}`,
    );
  }

  function budgetEnd(end, { chunk }, cell) {
    const of = !cell.embed && !cell.merge ? ` of ${COMMA.format(chunk.size)}` : "";
    return el(
      "li",
      { class: "budget-end" },
      `The budget of ${COMMA.format(state.budget)} c ends here, after ${COMMA.format(end[1])}${of} c of rank ${end[0] + 1}`,
    );
  }

  function rankItem(side, at, rank, unitNumber, score, reason, end) {
    const cell = theCell(side);
    const unit = unitOf(cell, unitNumber);
    const { file, chunk } = unit;
    const beyond = Boolean(end && rank > end[0]);
    const [, kind, grade] = reason ?? [];
    const counts = grade > 0 || kind === "copy";
    const badge = counts
      ? el("span", { class: "badge gold-badge" }, kind === "copy" ? "copy of gold" : "relevant")
      : kind === "below"
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
    if (kind === "copy") {
      const { file, chunk } = unitOf(cell, stands[0]);
      return [
        "Counts as a copy of ",
        place(file, chunk.first, chunk.last),
        ": it holds the same text, ",
        ...held,
        ". It counts once, whichever comes first.",
      ];
    }
    if (kind === "blank-lines")
      return [
        `Relevant by the profile ${cell.profile}: it shares a line with a target, but no text.`,
      ];
    const word =
      kind === "relevant" ? `Relevant, grade ${Number(grade.toFixed(3))}` : "Not relevant";
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

  return { queryDetail };
})();
