// SPDX-License-Identifier: Apache-2.0

// What is known of the fleet: of the hub as it changes, or of the file that this page is.

export const fleet = { hub: "", reader: null, since: 0, loading: [], notices: [], members: new Map(), autoscalers: new Map() };

const listeners = new Set();
const kept = document.getElementById("data");
const file = kept && JSON.parse(kept.textContent);
let offset = 0; // of the hub reader's clock to ours

export const live = !file;

// now is the time by the clock that all other times are of; in a file it stands.
export const now = () => (file ? file.fleet.now : Date.now() + offset);

// listen has a function called after each change, with ids of what has changed.
export function listen(then) {
  listeners.add(then);
}

function told(change) {
  for (const then of listeners) then(change);
}

function take(message, whole) {
  offset = message.now - Date.now();
  Object.assign(fleet, { loading: message.loading, notices: message.notices });
  if (whole) {
    Object.assign(fleet, { hub: message.hub, reader: message.reader || null, since: message.since });
    fleet.members.clear();
    fleet.autoscalers.clear();
  }
  const before = new Map();
  for (const member of message.members || []) {
    before.set(member.name, fleet.members.get(member.name));
    fleet.members.set(member.name, member);
  }
  for (const row of message.autoscalers || []) {
    before.set(row.id, fleet.autoscalers.get(row.id));
    fleet.autoscalers.set(row.id, row);
  }
  for (const name of message.goneMembers || []) fleet.members.delete(name);
  for (const id of message.goneAutoscalers || []) fleet.autoscalers.delete(id);
  told({ whole, before, members: message.members || [], autoscalers: message.autoscalers || [],
    gone: [...(message.goneMembers || []), ...(message.goneAutoscalers || [])] });
}

// begin reads; connected is told whether the reader answers.
export function begin(connected) {
  if (file) {
    take(file.fleet, true);
    return;
  }
  const stream = new EventSource("stream");
  stream.addEventListener("open", () => connected(true));
  stream.addEventListener("error", () => connected(false)); // the browser tries again by itself
  stream.addEventListener("all", (event) => take(JSON.parse(event.data), true));
  stream.addEventListener("changes", (event) => take(JSON.parse(event.data), false));
}

// detail is all about one autoscaler; null: there is no more than its line.
export async function detail(id, signal) {
  if (file) return file.details[id] || null;
  const answer = await fetch(`autoscaler?id=${encodeURIComponent(id)}`, { signal });
  if (answer.status === 404) return null;
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

// ask returns what the reader answers, or throws what it says instead.
async function ask(path, signal) {
  const answer = await fetch(path, { signal });
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return answer.json();
}

// explained is why the decision was what it was that was the last one at a moment.
export async function explained(id, moment) {
  if (file) throw new Error("This file has no explanation of that moment.");
  return (await ask(`moment?id=${encodeURIComponent(id)}&at=${Math.floor(moment)}`)).explanation;
}

// replayed is what the decisions would have been with fields set, each FIELD=VALUE.
export async function replayed(id, set, signal) {
  return ask(`replay?id=${encodeURIComponent(id)}${set.map((one) => `&set=${encodeURIComponent(one)}`).join("")}`, signal);
}
