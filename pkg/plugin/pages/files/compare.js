// SPDX-License-Identifier: Apache-2.0

import { h, table } from "./dom.js";
import { stamp } from "./format.js";
import { indexAt, whyAt } from "./chart.js";
import { explained } from "./source.js";
import { worded } from "./state.js";

const letters = ["A", "B"];

// compareSection has two moments of the timeline beside each other: what there was, and why. It keeps its own element, so that an answer that
// comes later finds its place.
export function compareSection(id, all, looked) {
  const { at } = all.series;
  if (!at || at.length < 2) return null;
  const body = h("div");
  const moments = () => [looked.compared.A ?? at[0], looked.compared.B ?? at[at.length - 1]];
  const keep = (letter) => h("button", { type: "button", "data-keep": `compare ${letter}`, onclick: () => {
    looked.compared[letter] = looked.kept ?? at[at.length - 1];
    draw();
    said.textContent = `${letter} is ${stamp(looked.compared[letter])}`;
  } }, `${letter} is the moment of the timeline`);
  const said = h("p", { class: "unseen", role: "status" });

  function draw() {
    const points = moments().map((moment) => Math.max(0, indexAt(at, moment)));
    body.replaceChildren(table("Values of two moments", [{ name: "Value", head: true, cell: (row) => row.name },
      ...letters.map((letter, n) => ({ name: `${letter}: ${stamp(at[points[n]])}`, number: true, cell: (row) => row.cells[n] })),
      { name: "Differs", cell: (row) => (row.cells[0] === row.cells[1] ? "" : "yes") }], rowsOf(all, looked.specs, points)),
    h("div", { class: "pair" }, letters.map((letter, n) => whyOf(id, all, looked, letter, points[n]))));
  }
  draw();
  return h("section", { "aria-labelledby": "compare" }, h("h2", { id: "compare" }, "Two moments"),
    h("p", { class: "note" }, "Choose a moment in the timeline, with a click or by keys, and then which of the two it is."),
    h("p", { class: "chips" }, letters.map(keep)), said, body);
}

function rowsOf(all, specs, points) {
  const { state, limit } = all.series;
  const rows = [{ name: "State", cells: points.map((i) => worded(state[i])) }, { name: "Limited by", cells: points.map((i) => limit[i]) }];
  const unknown = points.map((i) => whyAt(all.series.unknown, all.series.at[i]));
  if (unknown.some(Boolean)) rows.push({ name: "Not known", cells: unknown });
  for (const spec of specs) {
    for (const part of [...(spec.lines || []), ...(spec.stack || [])]) {
      rows.push({ name: spec.note || spec.stack ? `${spec.title}, ${part.name}` : part.name,
        cells: points.map((i) => (part.values[i] === null || part.values[i] === undefined ? "" : spec.format(part.values[i]))) });
    }
  }
  return rows;
}

const slack = 60000; // milliseconds for which the last recorded decision holds

// whyOf is the explanation of a point: the present one, or the recorded one.
function whyOf(id, all, looked, letter, i) {
  const { at } = all.series, moment = at[i];
  const text = h("pre", { tabindex: 0, role: "group", "aria-label": `Explanation of ${letter}`, "data-keep": `why ${letter}` }, "Reading …");
  const show = (words) => { text.textContent = words; };
  const present = !all.recorded || moment > all.recorded.to || all.now - all.recorded.to < slack; // a record that is followed goes on with it
  if (i === at.length - 1 && all.explanation && present) show(all.explanation);
  else if (!all.recorded || moment < all.recorded.from || moment > all.recorded.to + slack) show("Why it was so is not known: no record has it.");
  else {
    if (!looked.texts.has(moment)) looked.texts.set(moment, explained(id, moment));
    looked.texts.get(moment).then(show, (fault) => { looked.texts.delete(moment); show(fault.message); });
  }
  return h("div", {}, h("h3", {}, letter), text);
}
