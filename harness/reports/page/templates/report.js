// The page's own script: theme, the table of cells, and newer pages while a run goes on.
(() => {
  "use strict";
  const root = document.documentElement;

  function theme() {
    const button = document.getElementById("theme");
    const system = matchMedia("(prefers-color-scheme: dark)");
    const isDark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
    const show = () => { button.textContent = isDark() ? "Light colours" : "Dark colours"; };
    button.hidden = false;
    button.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; show(); });
    system.addEventListener("change", show);
    show();
  }

  // Values that are missing come last, whichever way the rows are sorted.
  function compare(a, b, sign) {
    if (a === b) return 0;
    if (a === "") return 1;
    if (b === "") return -1;
    const numbers = typeof a === "number" && typeof b === "number";
    return sign * (numbers ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));
  }

  function valueOf(cell, kind) {
    if (kind === "name") return cell.textContent.trim();
    return cell.dataset.value === "" || cell.dataset.value === undefined ? "" : Number(cell.dataset.value);
  }

  function sortable(table) {
    const body = table.tBodies[0];
    const order = new Map([...body.rows].map((row, at) => [row, at]));
    [...table.tHead.rows[0].cells].forEach((head, at) => {
      const title = head.querySelector(".title");
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.textContent = title.textContent;
      title.replaceWith(button);
      button.addEventListener("click", () => {
        const kind = head.dataset.kind;
        const first = kind === "measure" ? "descending" : "ascending";
        const other = first === "ascending" ? "descending" : "ascending";
        const way = head.getAttribute("aria-sort") === first ? other : first;
        table.querySelectorAll("[aria-sort]").forEach((one) => one.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", way);
        const sign = way === "ascending" ? 1 : -1;
        const rows = [...body.rows].sort((a, b) =>
          compare(valueOf(a.cells[at], kind), valueOf(b.cells[at], kind), sign) || order.get(a) - order.get(b));
        body.append(...rows);
      });
    });
  }

  function filtered(table) {
    const form = document.getElementById("tools");
    const text = document.getElementById("filter");
    const count = document.getElementById("count");
    const selects = [...form.querySelectorAll(".filter-by")];
    const rows = [...table.tBodies[0].rows];
    const names = [...table.tHead.rows[0].cells].flatMap((head, at) => (head.dataset.kind === "name" ? [at] : []));
    const nameOf = (row, at) => row.cells[at].textContent.trim();
    for (const select of selects) {
      const values = new Set(rows.map((row) => nameOf(row, Number(select.dataset.column))));
      for (const value of values) select.append(new Option(value.slice(0, 80), value));
    }
    const apply = () => {
      const wanted = text.value.trim().toLowerCase();
      let shown = 0;
      for (const row of rows) {
        const holds = names.some((at) => nameOf(row, at).toLowerCase().includes(wanted));
        const fits = selects.every((one) => !one.value || nameOf(row, Number(one.dataset.column)) === one.value);
        row.hidden = !(holds && fits);
        shown += row.hidden ? 0 : 1;
      }
      count.textContent = `${shown} of ${rows.length} rows`;
    };
    form.hidden = false;
    form.addEventListener("submit", (event) => event.preventDefault());
    text.addEventListener("input", apply);
    for (const select of selects) select.addEventListener("change", apply);
    for (const box of form.querySelectorAll(".column")) {
      box.addEventListener("change", () => {
        for (const row of table.rows) row.cells[Number(box.value)].classList.toggle("off", !box.checked);
      });
    }
    apply();
  }

  // A run folder may change while its page is made, so the page holds the tag that it was made of.
  function live() {
    const ask = async () => {
      try {
        const answer = await fetch(location.pathname, { method: "HEAD", cache: "no-store" });
        if (answer.ok && answer.headers.get("ETag") !== root.dataset.live) location.reload();
      } catch { /* the server has ended: the page stays */ }
      setTimeout(ask, 2000);
    };
    ask();
  }

  // A link to a part of the answer opens it.
  function open() {
    const part = document.querySelector("details.part:target");
    if (part) part.open = true;
  }

  theme();
  addEventListener("hashchange", open);
  open();
  const table = document.getElementById("cells");
  if (table) sortable(table);
  if (document.getElementById("tools")) filtered(table);
  if (root.hasAttribute("data-live")) live();
})();
