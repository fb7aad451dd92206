// SPDX-License-Identifier: Apache-2.0

import { h } from "./dom.js";
import { replayView } from "./replayview.js";
import { live, replayed } from "./source.js";

// replaySection asks what the recorded decisions would have been by another spec. Its element stays while others are drawn again: somebody may
// be writing in it.
export function replaySection(id, all, looked) {
  if (!live || !all.recorded) return null;
  if (!looked.replay) looked.replay = replayForm(id, all.recorded.settable);
  return looked.replay;
}

function replayForm(id, settable) {
  const inputs = settable.map((setting) => h("input", { type: "text", value: setting.value, size: 8, autocomplete: "off", spellcheck: "false",
    maxlength: 40, "data-keep": `set ${setting.field}` }));
  const out = h("div", { "aria-live": "polite" });
  let asked = null;

  async function run(event) {
    event.preventDefault();
    if (asked) asked.abort();
    const mine = (asked = new AbortController());
    const set = settable.flatMap((setting, i) => (inputs[i].value.trim() === setting.value ? [] : [`${setting.field}=${inputs[i].value.trim()}`]));
    out.replaceChildren(h("p", { class: "loading" }, "Deciding again …"));
    try {
      const view = await replayed(id, set, mine.signal);
      if (mine === asked) out.replaceChildren(replayView(view, "replayed"));
    } catch (fault) {
      if (fault.name !== "AbortError") out.replaceChildren(h("p", { class: "callout bad" }, fault.message));
    }
  }
  return h("section", { "aria-labelledby": "replay" }, h("h2", { id: "replay" }, "Replay"),
    h("p", { class: "note" }, "What the recorded decisions would have been by another spec. Nothing is written."),
    h("form", { class: "filters", onsubmit: run }, settable.map((setting, i) => h("label", {}, setting.name, " ", inputs[i])),
      h("button", { type: "submit", "data-keep": "replay it" }, "Replay")), out);
}
