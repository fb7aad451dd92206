// SPDX-License-Identifier: Apache-2.0

import { h, s } from "./dom.js";
import { day, minute, prefixOf, time } from "./format.js";

// Charts of one page share their axis of time, and a cursor on it. Values are steps: each holds until the next.

const left = 62, right = 12, top = 18, bottom = 22;
let serial = 0;

// indexAt is the last point that is not after a time; -1: none is.
export function indexAt(at, moment) {
  let low = 0, high = at.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at[middle] <= moment) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

// whyAt is why something is not known at a time, of spans {from, to, why}; empty: all is.
export function whyAt(spans, moment) {
  return (spans || []).filter((span) => span.from <= moment && moment < Math.max(span.to, span.from + 1)).map((span) => span.why).join("; ");
}

function ticksOf(most) {
  const rough = most / 4 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((n) => n * power).find((n) => n >= rough);
  const all = [];
  for (let value = 0; value <= most + step * 0.999; value += step) all.push(value);
  return all;
}

const steps = [1, 5, 10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400].map((n) => n * 1000);

function timesOf(from, to, most) {
  const step = steps.find((n) => (to - from) / n <= most) || 86400000;
  const all = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) all.push(at);
  return { all, name: step >= 86400000 ? day : step >= 60000 ? minute : time };
}

// area is the path between two rows of values, whose steps are joined; null ends a part of it.
function area(at, upper, lower, x, y, end) {
  let path = "", over = "", under = "";
  const close = () => {
    if (over) path += `M${over.slice(1)}${under}Z`;
    over = under = "";
  };
  for (let i = 0; i < at.length; i++) {
    if (upper[i] === null || upper[i] === undefined) {
      close();
      continue;
    }
    const from = x(at[i]), to = x(i + 1 < at.length ? at[i + 1] : end), low = y(lower ? lower[i] : 0);
    over += `L${from} ${y(upper[i])}H${to}`;
    under = `L${to} ${low}H${from}${under}`;
  }
  close();
  return path;
}

function steplines(at, values, x, y, end) {
  let path = "", open = false;
  for (let i = 0; i < at.length; i++) {
    if (values[i] === null || values[i] === undefined) {
      open = false;
      continue;
    }
    path += `${open ? "V" : `M${x(at[i])} `}${y(values[i])}H${x(i + 1 < at.length ? at[i + 1] : end)}`;
    open = true;
  }
  return path;
}

// chart draws o.lines ({name, values, class}), o.bands ({upper, lower, class}) and o.stack ({name, values}) over o.at, from o.from to o.to;
// o.now ends what is known. o.marks are {at, text, class}, o.spans {from, to, why} are hatched; o.format words a value, and o.unit is
// B where values are bytes.
export function chart(o) {
  const id = `chart${++serial}`;
  const plot = h("div", { class: "plot" });
  const legend = h("ul", { class: "legend" });
  const root = h("figure", { class: "chart", "aria-labelledby": id }, h("figcaption", { id }, h("strong", {}, o.title), o.note && h("small", {}, o.note)), legend, plot);
  let drawn = null;

  function draw() {
    const width = Math.max(240, plot.clientWidth || 640), height = o.height || 190;
    const x = (at) => +(left + ((at - o.from) / (o.to - o.from)) * (width - left - right)).toFixed(1);
    const sums = o.at.map((_, i) => (o.stack || []).reduce((sum, part) => sum + part.values[i], 0));
    const values = [...(o.lines || []).flatMap((line) => line.values), ...(o.bands || []).flatMap((band) => band.upper), ...sums]
      .filter((value) => value !== null && value !== undefined);
    const highest = Math.max(...values, o.least || 0), scale = o.unit === "B" ? prefixOf(highest) : 1;
    const ticks = ticksOf(highest / scale).map((tick) => tick * scale);
    const most = ticks[ticks.length - 1] || 1;
    const y = (value) => +(height - bottom - (value / most) * (height - top - bottom)).toFixed(1);
    const end = Math.min(o.now, o.to);
    const times = timesOf(o.from, o.to, Math.max(2, Math.floor(width / 110)));
    const picture = s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `${o.title}. ${wording(o, o.at.length - 1)}` });
    for (const tick of ticks) {
      picture.append(s("line", { class: "grid", x1: left, x2: width - right, y1: y(tick), y2: y(tick) }),
        s("text", { class: "tick", x: left - 6, y: y(tick) + 4, "text-anchor": "end" }, o.format(tick)));
    }
    for (const at of times.all) {
      picture.append(s("text", { class: "tick", x: x(at), y: height - 6, "text-anchor": "middle" }, times.name(at)));
    }
    if (o.to > o.now) {
      picture.append(s("rect", { class: "future", x: x(o.now), y: top, width: x(o.to) - x(o.now), height: height - top - bottom }),
        s("text", { class: "tick", x: x(o.now) + 4, y: top + 10 }, "to come"));
    }
    if ((o.spans || []).length > 0) {
      picture.append(s("defs", {}, s("pattern", { id: `${id}hatch`, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
        s("line", { class: "hatch", y2: 6 }))));
    }
    for (const span of o.spans || []) {
      const begin = Math.max(o.from, span.from), width = Math.max(1, x(Math.min(o.to, span.to)) - x(begin));
      picture.append(s("rect", { x: x(begin), y: top, width, height: height - top - bottom, fill: `url(#${id}hatch)` }, s("title", {}, span.why)));
    }
    for (const band of o.bands || []) picture.append(s("path", { class: `band ${band.class}`, d: area(o.at, band.upper, band.lower, x, y, end) }));
    let below = null;
    const names = [];
    (o.stack || []).forEach((part, n) => {
      const upper = part.values.map((value, i) => value + (below ? below[i] : 0));
      picture.append(s("path", { class: `stack s${n % 8}`, d: area(o.at, upper, below, x, y, end) }));
      const last = upper.length - 1;
      const low = below ? below[last] : 0;
      if (last >= 0 && y(low) - y(upper[last]) > 13) {
        names.push(s("text", { class: "within", x: x(end) - 6, y: (y(low) + y(upper[last])) / 2 + 4, "text-anchor": "end" }, part.name));
      }
      below = upper;
    });
    picture.append(...names);
    for (const line of o.lines || []) picture.append(s("path", { class: `line ${line.class}`, d: steplines(o.at, line.values, x, y, end) }));
    for (const mark of o.marks || []) {
      if (mark.at < o.from || mark.at > o.to) continue;
      picture.append(s("g", { class: `mark ${mark.class}` }, s("title", {}, mark.text),
        s("line", { x1: x(mark.at), x2: x(mark.at), y1: top - 6, y2: height - bottom }),
        mark.class === "cron" ? s("path", { d: `M${x(mark.at)} ${top - 12}h11l-3 4 3 4h-11z` }) : s("circle", { cx: x(mark.at), cy: top - 8, r: 4 })));
    }
    const cursor = s("line", { class: "cursor", y1: top - 6, y2: height - bottom, visibility: "hidden" });
    picture.append(cursor);
    plot.replaceChildren(picture);
    drawn = { x, cursor, width };
  }

  function point(moment) {
    looked = moment;
    const i = moment === null ? o.at.length - 1 : indexAt(o.at, moment);
    legend.replaceChildren(...legendOf(o, i));
    if (!drawn) return;
    drawn.cursor.setAttribute("visibility", moment === null ? "hidden" : "visible");
    if (moment !== null) {
      drawn.cursor.setAttribute("x1", drawn.x(moment));
      drawn.cursor.setAttribute("x2", drawn.x(moment));
    }
  }
  function under(event) {
    const place = event.clientX - plot.getBoundingClientRect().left;
    const moment = o.from + ((place - left) / (drawn.width - left - right)) * (o.to - o.from);
    return Math.min(o.now, Math.max(o.at[0] || o.from, moment));
  }
  plot.addEventListener("pointermove", (event) => o.over && o.over(under(event)));
  plot.addEventListener("click", (event) => o.pick && o.pick(under(event)));
  plot.addEventListener("pointerleave", () => o.over && o.over(null));
  let looked = null;
  const sized = new ResizeObserver(() => { draw(); point(looked); });
  sized.observe(plot);
  point(null);
  return { root, point };
}

function parts(o) {
  return [...(o.lines || []), ...(o.stack || []).map((part, n) => ({ ...part, class: `s${n % 8}`, block: true })).reverse()];
}

function legendOf(o, i) {
  return parts(o).map((part) => h("li", {}, h("span", { class: `key ${part.block ? "block" : ""} ${part.class}`, "aria-hidden": "true" }), part.name, " ",
    h("b", {}, i < 0 || part.values[i] === null || part.values[i] === undefined ? "–" : o.format(part.values[i]))));
}

// wording is what stands at a point, for who does not see it.
export function wording(o, i) {
  return parts(o).map((part) => `${part.name} ${i < 0 || part.values[i] === null || part.values[i] === undefined ? "unknown" : o.format(part.values[i])}`).join(", ");
}
