// One small curve with its axes; the vertical one is logarithmic when all values are positive and it is asked for.
import { number, svg, unitOf, volume } from "./words.js";

const LEFT = 62, RIGHT = 14, TOP = 26, BOTTOM = 44;

function niceTicks(low, high, most) {
  const raw = (high - low) / most || 1, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= raw * 0.999);
  const first = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

function logTicks(low, high) {
  const decades = Math.log10(high / low), every = Math.max(1, Math.ceil(decades / 6));
  const factors = decades > 2.5 ? [1] : [1, 2, 5];
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += every) {
    for (const factor of factors) ticks.push(Number((factor * 10 ** power).toPrecision(3)));
  }
  const inside = ticks.filter((tick) => tick >= low * 0.999 && tick <= high * 1.001);
  return inside.length >= 2 ? inside : niceTicks(low, high, 4);
}

const tickWords = (value) => (Math.abs(value) >= 1e5 ? Number(value.toPrecision(3)).toExponential().replace("e+", "e") : number(value));

function inBytes(high, most) {
  const { size } = unitOf(high);
  return niceTicks(0, high / size, most).map((tick) => tick * size);
}

const ticksOf = (kind, log, low, high) => (kind === "bytes" ? inBytes(high, 4) : log ? logTicks(low, high) : niceTicks(low, high, 4));

// points: [[x, y], ...] with y null where there is no value; kind: "log" or "bytes"; beside: more such, drawn thinly;
// shades: { from, to, number, words } behind the curve.
export function drawCurve(picture, points, { xTitle, kind, label, beside = [], shades = [], xBytes = false }) {
  const shown = points.filter(([, y]) => y !== null);
  const { clientWidth: width, clientHeight: height } = picture;
  picture.setAttribute("viewBox", `0 0 ${width || 1} ${height || 1}`);
  if (shown.length === 0) {
    picture.setAttribute("aria-label", `${label}: no value yet`);
    picture.replaceChildren(svg("text", { x: width / 2, y: height / 2, "text-anchor": "middle" }, "No value yet"));
    return;
  }
  const others = beside.map((line) => line.filter(([, y]) => y !== null)).filter((line) => line.length);
  const xs = shown.map(([x]) => x), ys = [...shown, ...others.flat()].map(([, y]) => y);
  const log = kind === "log" && Math.min(...ys) > 0;
  let [low, high] = kind === "bytes" ? [0, Math.max(...ys, 1)] : [Math.min(...ys), Math.max(...ys)];
  if (low === high) [low, high] = low === 0 ? [-1, 1] : [low - Math.abs(low) / 10, low + Math.abs(low) / 10];
  const right = Math.max(...xs, ...shades.map(({ to }) => to), 1e-9);
  const scaled = log ? Math.log : (value) => value;
  const x = (value) => LEFT + (value / right) * (width - LEFT - RIGHT);
  const y = (value) => height - BOTTOM - ((scaled(value) - scaled(low)) / (scaled(high) - scaled(low))) * (height - TOP - BOTTOM);
  const path = (line) => `M${line.map(([a, b]) => `${x(a).toFixed(1)},${y(b).toFixed(1)}`).join("L")}`;
  const words = kind === "bytes" ? volume : tickWords;
  const behind = [svg("g", { class: "shades" }, ...shades.map((shade) => shaded(shade, x, height))), ...edgesOf(shades, x, height), ...numbersOf(shades, x)];
  const marks = ticksOf(kind, log, low, high).flatMap((tick) => [
    svg("line", { class: "tick", x1: LEFT, x2: width - RIGHT, y1: y(tick), y2: y(tick) }),
    svg("text", { x: LEFT - 8, y: y(tick) + 4, "text-anchor": "end" }, words(tick)),
  ]);
  const most = Math.max(2, Math.floor(width / 110)), below = xBytes ? volume : number;
  for (const tick of xBytes ? inBytes(right, most) : niceTicks(0, right, most)) {
    const anchor = x(tick) > width - RIGHT - 24 ? "end" : "middle";
    marks.push(svg("text", { x: Math.min(x(tick), width), y: height - BOTTOM + 18, "text-anchor": anchor }, below(tick)));
  }
  const [lastX, lastY] = shown.at(-1);
  marks.push(
    svg("line", { class: "axis", x1: LEFT, x2: width - RIGHT, y1: height - BOTTOM, y2: height - BOTTOM }),
    svg("text", { x: (LEFT + width - RIGHT) / 2, y: height - 6, "text-anchor": "middle" }, xTitle),
    svg("text", { x: LEFT - 8, y: 10, "text-anchor": "end" }, log ? "log" : ""),
    ...others.map((line) => svg("path", { class: "line beside", d: path(line) })),
    svg("path", { class: "line", d: path(shown) }),
    svg("circle", { class: "tip", cx: x(lastX), cy: y(lastY), r: 4.5 }),
  );
  const faults = shades.length ? `; shaded: ${[...new Set(shades.map((shade) => `fault ${shade.number}`))].join(", ")}` : "";
  picture.setAttribute("aria-label", `${label}: now ${words(lastY)} at ${below(lastX)}, from ${words(ys[0])}; ${shown.length} points${faults}`);
  picture.replaceChildren(...behind, ...marks);
}

function shaded({ from, to, words }, x, height) {
  const begin = x(from), width = Math.max(x(to) - begin, 1.5);
  return svg("rect", { class: "shade", x: begin, y: TOP, width, height: height - TOP - BOTTOM }, svg("title", {}, words));
}

function edgesOf(shades, x, height) {
  const moments = new Set(shades.flatMap(({ from, to }) => [x(from).toFixed(1), x(to).toFixed(1)]));
  return [...moments].map((at) => svg("line", { class: "shade-edge", x1: at, x2: at, y1: TOP, y2: height - BOTTOM }));
}

// Above the beginnings of the shades, as far as there is room; the list of faults has them all.
function numbersOf(shades, x) {
  let free = 0;
  return [...shades].sort((a, b) => a.from - b.from).flatMap((shade) => {
    const at = x(shade.from), words = String(shade.number);
    if (at < free) return [];
    free = at + 8 * words.length + 6;
    return [svg("text", { class: "shade-number", x: at, y: TOP - 6 }, words)];
  });
}
