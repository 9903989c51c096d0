// The plan of faults: what is over, what goes on, what comes, as a list with a time line.
import { byId, count, duration, html, number, say, svg } from "./words.js";

const PUNCTUAL_S = 0.5;
const WORDS = { next: "to come", now: "now", past: "over", missed: "did not happen", failed: "failed" };

export const nameOf = (fault) => `${fault.number + 1} ${fault.kind}`;

// Where the windows lie behind a curve over `axis`.
export function shadesOn(faults, axis) {
  return faults.filter((fault) => fault.on[axis]).map((fault) => {
    const [from, to] = fault.on[axis];
    return { from, to, number: fault.number + 1, words: `fault ${nameOf(fault)}: ${fault.words}` };
  });
}

export function showFaults(run, phase) {
  const faults = run?.faults ?? [];
  byId("faults").hidden = faults.length === 0;
  if (faults.length === 0) return;
  const scale = scaleOf(run, faults);
  const quantities = ["now", "next", "past", "failed", "missed"].map((state) => [state, faults.filter((fault) => fault.state === state).length]);
  const told = quantities.filter(([, quantity]) => quantity).map(([state, quantity]) => `${number(quantity)} ${WORDS[state]}`);
  say("faults-lead", `${count(faults.length, "window")}: ${told.join(", ")}. Their numbers stand above the shades of the curves.`);
  say("faults-end", scale.words(scale.end));
  const list = byId("timeline"), rows = [...list.children];
  while (rows.length > faults.length) rows.pop().remove();
  while (rows.length < faults.length) {
    rows.push(makeRow());
    list.append(rows.at(-1));
  }
  faults.forEach((fault, i) => fill(rows[i], fault, scale, run, phase));
}

// One unit for all: iterations if all faults go by them, else seconds; the others are placed by the pace so far.
function scaleOf(run, faults) {
  const pace = run.median > 0 ? run.seconds / run.median : null;
  const bySeconds = faults.some((fault) => fault.unit === "seconds");
  const moment = (value, unit) => (value === null || unit === (bySeconds ? "seconds" : "iterations") ? value : pace && value * pace);
  const now = bySeconds ? run.seconds : run.median;
  const limit = bySeconds ? (run.limit_seconds ?? (run.iterations && pace && run.iterations * pace)) : run.iterations;
  const ends = faults.flatMap((fault) => [moment(fault.begin, fault.unit), moment(fault.end, fault.unit)]).filter((value) => value !== null);
  const end = Math.max(now, limit || 0, ...(limit && run.iterations ? [] : ends), 1e-9);
  return { moment, now, end, bySeconds, pace, words: (value) => (bySeconds ? duration(value) : `iteration ${number(Math.round(value))}`) };
}

function placeOf(fault, scale) {
  const told = fault.on[scale.bySeconds ? "seconds" : "iteration"];
  const begin = told ? told[0] : scale.moment(fault.begin, fault.unit);
  if (begin === null) return null;
  if (told && fault.state === "past") return told;
  if (fault.lasts !== null) return [begin, scale.bySeconds ? begin + fault.lasts : begin + (scale.pace ? fault.lasts / scale.pace : 0)];
  return [begin, fault.end === null ? scale.end : Math.max(begin, scale.moment(fault.end, fault.unit))];
}

function makeRow() {
  const now = svg("line", { class: "moment", y1: 0, y2: 14 });
  const track = svg("svg", { class: "track", "aria-hidden": "true" }, svg("rect", { class: "rail", y: 5, width: "100%", height: 4, rx: 2 }), svg("rect", { class: "window", y: 1, height: 12, rx: 3 }), svg("rect", { class: "done", y: 1, height: 12, rx: 3 }), now);
  return html("li", {}, html("span", { class: "badge" }), html("span", { class: "what" }), html("span", { class: "when" }), track);
}

const share = (value, end) => `${(100 * Math.min(Math.max(value / end, 0), 1)).toFixed(2)}%`;

function fill(row, fault, scale, run, phase) {
  const [badge, what, when, track] = row.children, place = placeOf(fault, scale);
  set(badge, WORDS[fault.state]);
  if (row.className !== fault.state) row.className = fault.state;
  set(what, `${nameOf(fault)}${fault.words.startsWith(fault.kind) ? fault.words.slice(fault.kind.length) : `: ${fault.words}`}`);
  set(when, wordsOf(fault, run, phase, scale.pace));
  const [, area, done, now] = track.children;
  area.setAttribute("visibility", place ? "visible" : "hidden");
  for (const [part, end] of place ? [[area, place[1]], [done, Math.min(place[1], scale.now)]] : []) {
    part.setAttribute("x", share(place[0], scale.end));
    part.setAttribute("width", share(Math.max(Math.min(end, scale.end) - place[0], scale.end / 250), scale.end));
  }
  now.setAttribute("x1", share(scale.now, scale.end));
  now.setAttribute("x2", share(scale.now, scale.end));
}

function wordsOf(fault, run, phase, pace) {
  if (fault.state === "failed") return fault.why;
  const seconds = fault.unit === "seconds";
  const at = (value) => (value === null ? "the end of the run" : seconds ? duration(value) : `iteration ${number(value)}`);
  const planned = fault.lasts !== null ? `${at(fault.begin)}, for ${duration(fault.lasts)}` : `${at(fault.begin)} to ${at(fault.end)}`;
  if (fault.state === "next") {
    const left = seconds ? fault.begin - run.seconds : (fault.begin - run.median) * (pace ?? Number.NaN);
    return phase === "running" && left > 0 ? `${planned}; in ${seconds ? "" : "about "}${duration(left)}` : planned;
  }
  if (fault.state === "now" && fault.begun !== null) {
    const end = fault.lasts !== null ? fault.begun + fault.lasts : seconds ? fault.end : null;
    const left = end !== null ? end - run.seconds : fault.end !== null && fault.lasts === null && !seconds && pace ? (fault.end - run.median) * pace : null;
    const began = seconds && Math.abs(fault.begun - fault.begin) < PUNCTUAL_S ? "" : `began at ${duration(fault.begun)}`;
    return [planned, [began, left !== null && left > 0 ? `${duration(left)} left` : ""].filter(Boolean).join(", ")].filter(Boolean).join("; ");
  }
  return planned;
}

function set(element, words) {
  if (element.textContent !== words) element.textContent = words;
}
