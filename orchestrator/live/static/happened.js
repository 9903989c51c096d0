// Events and the nodes' log in order of time; all of it, one kind, or what belongs to one fault.
import { byId, html, numeric, row, say } from "./words.js";
import { nameOf } from "./faults.js";

const AFTER_S = 1;
let entries = [], faults = [], told = "";

export function heardOf(found, known) {
  [entries, faults] = [found?.entries ?? [], known];
  offer();
  show();
}

export function faultsAre(known) {
  const before = JSON.stringify(faults.map((fault) => [fault.number, fault.on.seconds]));
  faults = known;
  offer();
  if (JSON.stringify(faults.map((fault) => [fault.number, fault.on.seconds])) !== before) show();
}

function offer() {
  const choice = byId("filter"), names = [...new Map(faults.map((fault) => [fault.number, nameOf(fault)]))];
  const key = JSON.stringify(names);
  if (choice.dataset.key === key) return;
  choice.dataset.key = key;
  const before = choice.value;
  const fixed = [["", "Everything"], ["events", "Events"], ["log", "Log of the nodes"]];
  const options = [...fixed, ...names.map(([fault, name]) => [`fault ${fault}`, `Fault ${name}, and what happened meanwhile`])];
  choice.replaceChildren(...options.map(([value, words]) => html("option", { value }, words)));
  choice.value = options.some(([value]) => value === before) ? before : "";
}

function belongs(entry, choice) {
  if (choice === "") return true;
  if (choice === "log" || choice === "events") return (entry.what === "log") === (choice === "log");
  const fault = Number(choice.slice(6));
  if (entry.number !== undefined) return entry.number === fault;
  const windows = faults.filter((one) => one.number === fault && one.on.seconds).map((one) => one.on.seconds);
  return windows.some(([begin, end]) => entry.seconds >= begin && entry.seconds <= end + AFTER_S);
}

function show() {
  const choice = byId("filter").value, shown = entries.filter((entry) => belongs(entry, choice));
  const key = JSON.stringify([choice, entries.length, entries.at(-1), shown.length]);
  if (key === told) return;
  told = key;
  const names = new Map(faults.map((fault) => [fault.number, nameOf(fault)]));
  const rows = shown.map((entry) => row(
    numeric(entry.seconds.toFixed(1)),
    entry.what === "log" ? "node log" : entry.what,
    entry.node ?? "–",
    entry.number === undefined ? "–" : (names.get(entry.number) ?? String(entry.number + 1)),
    html("td", { class: entry.what === "log" ? "line" : "" }, entry.detail),
  ));
  const box = byId("events").closest(".scroll"), atEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 40;
  const nothing = entries.length ? "Nothing of this kind has happened." : "Nothing has happened.";
  byId("events").replaceChildren(...(rows.length ? rows : [html("tr", {}, html("td", { colspan: 5, class: "none" }, nothing))]));
  say("events-count", shown.length === entries.length ? `${shown.length} lines` : `${shown.length} of ${entries.length} lines`);
  if (atEnd) box.scrollTop = box.scrollHeight;
}

byId("filter").addEventListener("change", show);
