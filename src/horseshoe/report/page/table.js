"use strict";
(() => {
  const section = document.getElementById("coefficients");
  if (!section) return;
  const { step, rows } = JSON.parse(document.getElementById("rows").textContent);
  const body = section.querySelector("tbody");
  const heads = [...section.querySelectorAll("thead th")];
  const words = heads.filter((head) => !head.classList.contains("number")).length;
  const find = section.querySelector("input[type=search]");
  const only = section.querySelector("input[type=checkbox]");
  const count = section.querySelector("output");
  const more = section.querySelector(".more");
  const whole = (number) => number.toLocaleString("en");

  // Names in the order of people: no accents, no capitals, 9 before 10. A collator is slower.
  const sortKey = (name) => name.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase()
    .replace(/\d+/g, (digits) => digits.padStart(15, "0"));

  // A row is [selected, names, values, texts]; its place in the file is the order that ties keep.
  const all = rows.map(([selected, names, values, texts], place) => (
    { selected, names, values, texts, place, sought: names.join("\n").toLowerCase(), keys: null }
  ));
  let column = -1;
  let direction = 0;
  let limit = step;
  let sorted = all;

  function cell(kind, text, className) {
    const made = document.createElement(kind);
    if (className) made.className = className;
    made.textContent = text;
    return made;
  }

  function nameCell(row) {
    const made = document.createElement("th");
    made.scope = "row";
    if (row.selected) {
      const mark = cell("span", "\u25cf", "mark");
      mark.setAttribute("aria-hidden", "true");
      made.append(mark);
    }
    made.append(cell("bdi", row.names[0]));
    if (row.selected) made.append(cell("span", " (selected)", "hidden"));
    return made;
  }

  function line(row) {
    const made = document.createElement("tr");
    made.className = row.selected ? "selected" : "unselected";
    made.append(nameCell(row));
    for (const name of row.names.slice(1)) {
      const text = cell("td", "", "text");
      text.append(cell("bdi", name));
      made.append(text);
    }
    for (const text of row.texts) made.append(cell("td", text, "number"));
    return made;
  }

  function nothing() {
    const made = document.createElement("tr");
    const text = cell("td", "No row has this. Clear the filter to see all of them.", "none");
    text.colSpan = heads.length;
    made.append(text);
    return made;
  }

  function show() {
    const sought = find.value.trim().toLowerCase();
    const kept = sorted.filter(
      (row) => (row.selected || !only.checked) && (sought === "" || row.sought.includes(sought)),
    );
    const lines = document.createDocumentFragment();
    for (const row of kept.slice(0, limit)) lines.append(line(row));
    if (kept.length === 0) lines.append(nothing());
    body.replaceChildren(lines);
    more.hidden = kept.length <= limit;
    const shown = Math.min(limit, kept.length);
    count.textContent = shown < kept.length
      ? `${whole(shown)} of ${whole(kept.length)} rows shown`
      : `${whole(kept.length)} of ${whole(all.length)} rows`;
  }

  // Empty cells stay last, whichever way the others go.
  function compareNumbers(one, other) {
    if (one === null || other === null) return (one === null) - (other === null);
    return direction * (one - other);
  }

  function compareNames(one, other) {
    return one === other ? 0 : direction * (one < other ? -1 : 1);
  }

  function compare(one, other) {
    const found = column < words
      ? compareNames(one.keys[column], other.keys[column])
      : compareNumbers(one.values[column - words], other.values[column - words]);
    return found || one.place - other.place;
  }

  function sortBy(chosen) {
    const first = chosen < words ? 1 : -1; // the largest numbers, the first names
    direction = chosen !== column ? first : direction === first ? -first : 0;
    column = direction === 0 ? -1 : chosen;
    if (column >= 0 && column < words) for (const row of all) row.keys ??= row.names.map(sortKey);
    sorted = direction === 0 ? all : [...all].sort(compare);
    heads.forEach((head, place) => {
      const way = direction > 0 ? "ascending" : "descending";
      head.setAttribute("aria-sort", place === column ? way : "none");
    });
    limit = step;
    show();
  }

  heads.forEach((head, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sortBy(place));
    head.append(button);
    head.setAttribute("aria-sort", "none");
  });
  const again = () => { limit = step; show(); };
  find.addEventListener("input", again);
  only.addEventListener("change", again);
  more.querySelector("button").addEventListener("click", () => { limit += 5 * step; show(); });
  section.querySelector(".controls").hidden = false;
  show();
})();
