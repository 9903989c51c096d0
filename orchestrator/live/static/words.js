// Elements without markup, and numbers as people read them (the same words as in the reports).
const SVG = "http://www.w3.org/2000/svg";
const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

const fill = (element, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
};
export const html = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
export const svg = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
export const byId = (id) => document.getElementById(id);

export function say(id, words) {
  const element = byId(id);
  if (element.textContent !== words) element.textContent = words;
}

export const numeric = (words) => html("td", { class: "number" }, words);
export const row = (...cells) => html("tr", {}, ...cells.map((cell) => (cell instanceof Node ? cell : html("td", {}, String(cell)))));

export function number(value) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e9) return String(value).replace(/\B(?=(\d{3})+$)/g, "\u202f");
  if (size >= 999.95 && size < 1e7) return number(Math.round(value));
  const short = Number(value.toPrecision(4));
  return size < 1e-4 || size >= 1e7 ? short.toExponential().replace("e+", "e") : String(short);
}

export const percent = (share) => `${(100 * share).toFixed(1)} %`;

export function unitOf(bytes) {
  const power = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  return { name: UNITS[power], size: 1024 ** power };
}

export function volume(bytes) {
  if (bytes === null || bytes === undefined) return "–";
  const unit = unitOf(bytes);
  return `${number(bytes / unit.size)} ${unit.name}`;
}

export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 120) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(Math.round(seconds) / 60);
  return minutes < 120 ? `${minutes} min ${Math.round(seconds) % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function tally(nodes) {
  const counts = new Map();
  for (const { state } of nodes) counts.set(state, (counts.get(state) ?? 0) + 1);
  return counts;
}

export const count = (quantity, word) => `${number(quantity)} ${word}${quantity === 1 ? "" : "s"}`;
