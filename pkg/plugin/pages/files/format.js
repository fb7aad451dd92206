// SPDX-License-Identifier: Apache-2.0

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const minutes = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const days = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const stamps = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const numbers = new Intl.NumberFormat("en");

export const time = (at) => clock.format(at);
export const minute = (at) => minutes.format(at);
export const day = (at) => days.format(at);
export const stamp = (at) => stamps.format(at);
export const count = (n) => (n === undefined || n === null ? "–" : numbers.format(n));

// short is a number of three digits.
export const short = (n) => (n === undefined || n === null ? "–" : numbers.format(+n.toPrecision(3)));

// span is a duration in its largest one or two units.
export function span(milliseconds) {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 90) return `${seconds} s`;
  const whole = Math.floor(seconds / 60);
  if (whole < 90) return `${whole} min`;
  if (whole < 48 * 60) return `${Math.floor(whole / 60)} h ${whole % 60} min`;
  return `${Math.floor(whole / 1440)} d`;
}

export const many = (n, one) => `${count(n)} ${one}${n === 1 ? "" : "s"}`;

const prefixes = [["Ti", 2 ** 40], ["Gi", 2 ** 30], ["Mi", 2 ** 20], ["Ki", 2 ** 10]];

// prefixOf is the largest prefix of bytes that a size has, as a number.
export const prefixOf = (bytes) => (prefixes.find(([, size]) => bytes >= size) || ["", 1])[1];

// amount is a value of a metric: a ratio in percent, bytes with their prefix, and what else is as short as it can be.
export function amount(value, unit) {
  if (value === undefined || value === null) return "unknown";
  if (unit === "%") return `${Math.round(value * 100)} %`;
  if (unit === "B") {
    for (const [name, size] of prefixes) if (Math.abs(value) >= size) return `${+(value / size).toPrecision(3)} ${name}B`;
  }
  if (value !== 0 && Math.abs(value) < 1) return `${+(value * 1000).toPrecision(3)} m`;
  return numbers.format(+value.toPrecision(4));
}
