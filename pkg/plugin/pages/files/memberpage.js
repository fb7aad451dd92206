// SPDX-License-Identifier: Apache-2.0

import { h } from "./dom.js";
import { count, day, span } from "./format.js";
import { ageOf } from "./fleetpage.js";
import { fleet, now } from "./source.js";
import { badge, classOf } from "./state.js";

export function memberPage(name) {
  const body = h("div");
  const root = h("div", {}, h("p", { class: "back" }, h("a", { href: "#/" }, "Fleet")), h("h1", { tabindex: -1 }, name), body);
  function draw() {
    const member = fleet.members.get(name);
    if (!member) {
      body.replaceChildren(h("p", {}, "There is no such member, or it is not known yet."));
      return;
    }
    const since = member.since ? `, for ${span(now() - member.since)}` : "";
    const facts = [
      ["Reason", member.state !== "Ready" && [member.reason, since].join("")],
      ["Last answer", ageOf(member)],
      ["Pods measured", count(member.pods)],
      ["Metrics APIs", (member.apis || []).join(", ")],
      ["Kubernetes", member.version],
      ["Address", member.address],
      ["Registered by", member.source],
      ["Clock", member.offset !== undefined && `${(member.offset / 1000).toFixed(1)} s from the adapter’s`],
      ["State since", member.since && day(member.since)],
    ].filter(([, value]) => value);
    body.replaceChildren(
      h("p", { class: "states" }, badge(member.state), member.standing && badge(member.standing), member.hub && h("em", {}, "the hub itself")),
      h("div", {}, [member.message, ...(member.troubles || [])].filter(Boolean).map((text) => h("p", { class: `callout ${classOf(member.state)}` }, text))),
      h("dl", { class: "facts" }, facts.map(([term, value]) => h("div", {}, h("dt", {}, term), h("dd", {}, value)))));
  }
  draw();
  return { root, title: name, draw, tick: draw };
}
