// SPDX-License-Identifier: Apache-2.0

// Elements are made here and nowhere else: what is put into one is text, whoever wrote it.

const vector = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(2).filter((child) => child !== undefined && child !== null && child !== false));
  return element;
}

export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes || {}, children);
}

export function s(tag, attributes, ...children) {
  return fill(document.createElementNS(vector, tag), attributes || {}, children);
}

// table has headers for those who hear it. Columns are {name, cell, number, head}; a cell is what h takes as a child.
export function table(caption, columns, rows) {
  const body = rows.map((row) => h("tr", {}, columns.map((column) => {
    const cell = column.cell(row);
    return h(column.head ? "th" : "td", { scope: column.head && "row", class: column.number && "number" },
      cell === undefined || cell === null || cell === "" ? h("span", { class: "none" }, "–") : cell);
  })));
  return h("div", { class: "scroll", role: "group", "aria-label": caption, tabindex: 0, "data-keep": caption },
    h("table", {}, h("caption", { class: "unseen" }, caption),
      h("thead", {}, h("tr", {}, columns.map((column) => h("th", { scope: "col", class: column.number && "number" }, column.name)))),
      h("tbody", {}, body)));
}
