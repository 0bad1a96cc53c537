// Puts a filter above each long table: a search in all cells, and a choice for each column with few values.
// Without this script the table is shown whole.
"use strict";
(() => {
  const ROWS_MIN = 25;
  const VALUES_MAX = 20; // of a column that becomes a choice
  const VALUE_LENGTH_MAX = 24;

  const textOf = (element) => element.textContent.trim();

  function labelled(text, control) {
    const label = document.createElement("label");
    label.append(text, control);
    return label;
  }

  function choice(values) {
    const select = document.createElement("select");
    select.append(new Option("any", ""), ...[...values].sort().map((value) => new Option(value, value)));
    return select;
  }

  function add(table) {
    const rows = [...table.tBodies[0].rows].map((row) => ({ row, cells: [...row.cells].map(textOf) }));
    if (rows.length < ROWS_MIN) return;
    const search = document.createElement("input");
    search.type = "search";
    const count = document.createElement("output");
    const choices = [...table.tHead.rows[0].cells].flatMap((head, column) => {
      const values = new Set(rows.map(({ cells }) => cells[column]).filter(Boolean));
      const isChoice = values.size > 1 && values.size <= VALUES_MAX && rows.length >= 3 * values.size
        && [...values].every((value) => value.length <= VALUE_LENGTH_MAX);
      return isChoice ? [{ column, name: textOf(head), select: choice(values) }] : [];
    });

    function show() {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const { row, cells } of rows) {
        const text = cells.join(" ").toLowerCase();
        const isShown = words.every((word) => text.includes(word))
          && choices.every(({ column, select }) => !select.value || cells[column] === select.value);
        row.hidden = !isShown;
        shown += isShown;
      }
      count.value = `${shown} of ${rows.length} rows`;
    }

    const form = document.createElement("form");
    form.className = "filter";
    form.append(labelled("Filter", search), ...choices.map(({ name, select }) => labelled(name, select)), count);
    form.addEventListener("input", show);
    form.addEventListener("submit", (event) => event.preventDefault());
    show();
    (table.closest(".md-typeset__scrollwrap") ?? table).before(form);
  }

  const addAll = () => document.querySelectorAll("article table").forEach(add);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", addAll);
  else addAll();
})();
