"use strict";
(() => {
  const number = (cell) => {
    const text = cell.dataset.value ?? cell.textContent.trim();
    // "<0.0001" sorts as its number, "−" is a minus, and "1,234" has a separator.
    const plain = text.replace(/^[<>]\s*/, "").replace(/−/g, "-").replace(/,/g, "");
    const found = plain.match(/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?/i);
    return found ? Number(found[0]) : NaN;
  };
  const text = (cell) => cell.dataset.value ?? cell.textContent.trim();

  const sort = (table, column, heading) => {
    const rows = [...table.tBodies[0].rows];
    const numeric = heading.classList.contains("n");
    const before = heading.getAttribute("aria-sort");
    // Numbers start with the largest, words with the first of the alphabet.
    const first = numeric ? "descending" : "ascending";
    const second = numeric ? "ascending" : "descending";
    const order = before === first ? second : first;
    const sign = order === "ascending" ? 1 : -1;
    const compare = (one, other) => {
      const a = one.cells[column], b = other.cells[column];
      if (!numeric) return sign * text(a).localeCompare(text(b), undefined, { numeric: true });
      const x = number(a), y = number(b);
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
      return sign * (x - y);
    };
    rows.sort(compare);
    for (const row of rows) row.classList.remove("break");
    table.tBodies[0].append(...rows);
    for (const other of heading.parentElement.cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", order);
  };

  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((heading, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      heading.append(button);
      button.addEventListener("click", () => sort(table, column, heading));
    });
  }

  // A link into a closed element opens it, and those around it.
  const open = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", open);
  open();
})();
