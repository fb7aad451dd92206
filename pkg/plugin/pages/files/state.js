// SPDX-License-Identifier: Apache-2.0

import { h, s } from "./dom.js";

// Each class of states has a shape as well as a colour, and the word stands beside it.
const shapes = {
  good: () => s("circle", { cx: 8, cy: 8, r: 5.5 }),
  held: () => [s("rect", { x: 3, y: 3, width: 3.6, height: 10, rx: 1 }), s("rect", { x: 9.4, y: 3, width: 3.6, height: 10, rx: 1 })],
  limit: () => s("path", { d: "M2.5 4.5h11L8 13.5z" }),
  bad: () => s("path", { d: "M8 1.5 15 14H1z" }),
  wait: () => s("circle", { cx: 8, cy: 8, r: 5, class: "hollow" }),
};

const classes = {
  Ready: "good", Active: "good", Succeeded: "good",
  Silent: "bad", Failing: "bad", Unreadable: "bad", Conflict: "bad", Unreachable: "bad",
  Held: "held", Paused: "held", Drained: "held", Cordoned: "held",
  Limited: "limit", Saturated: "limit",
};

export const classOf = (state) => classes[state] || "wait";

export const worded = (state) => state || "Not reconciled yet";

export function glyph(state) {
  return s("svg", { class: `glyph ${classOf(state)}`, viewBox: "0 0 16 16", "aria-hidden": "true" }, shapes[classOf(state)]());
}

export function badge(state) {
  return h("span", { class: `badge ${classOf(state)}` }, glyph(state), worded(state));
}
