// SPDX-License-Identifier: Apache-2.0

import { h, table } from "./dom.js";
import { time } from "./format.js";
import { chart, indexAt, wording } from "./chart.js";

// timeline is pictures and what moves their cursor: a pointer, or the keys of a slider. o.specs are pictures over o.at; o.said(i, moment) are
// nodes about a point, at a time that it holds, and o.words(i) a text; o.now is what the last point is called; o.below stands below. A click, or a key, keeps a moment: there
// the cursor returns to, and o.looked.kept has it; null is the last point.
export function timeline(o) {
  const { at, specs, looked } = o;
  const said = h("output", { class: "moment" });
  let charts = [];
  const words = (i) => `${time(at[i])}: ${[o.words(i), specs.map((spec) => wording(spec, i)).join(", ")].filter(Boolean).join(". ")}`;
  const slider = h("input", { type: "range", min: 0, max: at.length - 1, value: at.length - 1, step: 1, "data-keep": o.id, "aria-label": "Time",
    disabled: at.length < 2, oninput: () => keep(+slider.value === at.length - 1 ? null : at[slider.value]) });
  function keep(moment) {
    looked.kept = moment;
    point(moment);
  }
  function point(moment) {
    const i = moment === null ? at.length - 1 : Math.max(0, indexAt(at, moment));
    charts.forEach((picture) => picture.point(moment));
    slider.value = i;
    slider.setAttribute("aria-valuetext", words(i));
    said.replaceChildren(...[moment === null ? o.now : time(moment), " ", o.said(i, moment ?? at[i])].flat().filter(Boolean));
  }
  charts = specs.map((spec) => chart({ ...spec, over: (moment) => point(moment === null ? looked.kept ?? null : moment), pick: keep }));
  point(looked.kept ?? null);
  return h("section", { "aria-labelledby": o.id }, h("div", { class: "row" }, h("h2", { id: o.id }, o.title), said),
    at.length > 1 && h("label", { class: "slider" }, h("span", {}, "Time"), slider),
    h("div", { class: "charts" }, charts.map((picture) => picture.root)), o.below);
}

// valuesTable has the last points, for who reads numbers; columns are those before the values.
export function valuesTable(at, specs, columns) {
  const last = at.map((_, i) => i).slice(-50).reverse();
  const known = (value) => value !== null && value !== undefined;
  const parts = specs.flatMap((spec) => [...(spec.lines || []), ...(spec.stack || [])].map((part) => ({ ...part, format: spec.format,
    name: spec.note ? `${spec.title}, ${part.name}` : part.name })));
  const of = specs.map((spec) => spec.title).join(", ");
  return h("details", { "data-keep": `values of ${of}` }, h("summary", {}, "The values of the pictures"),
    table(`The last values, the latest first: ${of}`, [{ name: "Time", head: true, cell: (i) => time(at[i]) }, ...columns,
      ...parts.map((part) => ({ name: part.name, number: true, cell: (i) => (known(part.values[i]) ? part.format(part.values[i]) : "") }))], last));
}
