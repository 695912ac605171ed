"use strict";
(() => {
  const table = document.getElementById("students");
  const body = table.tBodies[0];
  const search = document.getElementById("search");
  const choice = document.getElementById("choice");
  const shown = document.getElementById("shown");
  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

  // accents are removed, so that "zoe" finds Zoë; the map has letters that do not decompose
  const plain = { ł: "l", ø: "o", đ: "d", ð: "d", þ: "th", ß: "ss", æ: "ae", œ: "oe", ı: "i" };
  const folded = (text) =>
    text
      .normalize("NFKD")
      .replace(/\p{M}/gu, "")
      .toLowerCase()
      .replace(/[łøđðþßæœı]/g, (letter) => plain[letter]);

  const valueOf = (cell) => {
    const text = cell.dataset.value ?? cell.textContent.trim();
    if (text === "") return null;
    const number = Number(text);
    return Number.isNaN(number) ? text : number;
  };
  const rows = [...body.rows].map((row) => ({
    row,
    values: [...row.cells].map(valueOf),
    text: folded(row.textContent),
    tags: new Set((row.dataset.tags || "").split(" ")),
  }));

  const compare = (left, right) => {
    if (typeof left === "number" && typeof right === "number") return left - right;
    return collator.compare(String(left), String(right));
  };

  // empty values come last in either order
  const sort = (column, sign) => {
    rows.sort((a, b) => {
      const left = a.values[column];
      const right = b.values[column];
      if (left === null || right === null) return (left === null) - (right === null);
      return sign * compare(left, right);
    });
    body.replaceChildren(...rows.map(({ row }) => row));
  };

  const filter = () => {
    const words = folded(search.value).split(/\s+/).filter(Boolean);
    const tag = choice.value;
    let count = 0;
    for (const { row, text, tags } of rows) {
      const hidden = (tag !== "" && !tags.has(tag)) || !words.every((word) => text.includes(word));
      if (row.hidden !== hidden) row.hidden = hidden;
      count += !hidden;
    }
    shown.textContent = `${count} of ${rows.length} students`;
  };

  [...table.tHead.rows[0].cells].forEach((head, column) => {
    head.querySelector("button")?.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      for (const each of table.tHead.rows[0].cells) each.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      sort(column, up ? 1 : -1);
    });
  });
  search.addEventListener("input", filter);
  choice.addEventListener("change", filter);
  for (const button of document.querySelectorAll("button[data-show]")) {
    button.addEventListener("click", () => {
      search.value = "";
      choice.value = button.dataset.show;
      filter();
      document.getElementById("class").scrollIntoView();
      choice.focus({ preventScroll: true });
    });
  }
  filter();
})();
