// One small curve with its axes; the vertical one is logarithmic when all values are positive and it is asked for.
import { number, svg, unitOf, volume } from "./words.js";

const LEFT = 62, RIGHT = 14, TOP = 10, BOTTOM = 44;

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

function ticksOf(kind, log, low, high) {
  if (kind !== "bytes") return log ? logTicks(low, high) : niceTicks(low, high, 4);
  const { size } = unitOf(high);
  return niceTicks(0, high / size, 4).map((tick) => tick * size);
}

// points: [[x, y], ...] with y null where there is no value; kind: "log" or "bytes"; beside: more such, drawn thinly.
export function drawCurve(picture, points, { xTitle, kind, label, beside = [] }) {
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
  const right = Math.max(...xs, 1e-9);
  const scaled = log ? Math.log : (value) => value;
  const x = (value) => LEFT + (value / right) * (width - LEFT - RIGHT);
  const y = (value) => height - BOTTOM - ((scaled(value) - scaled(low)) / (scaled(high) - scaled(low))) * (height - TOP - BOTTOM);
  const path = (line) => `M${line.map(([a, b]) => `${x(a).toFixed(1)},${y(b).toFixed(1)}`).join("L")}`;
  const words = kind === "bytes" ? volume : tickWords;
  const marks = ticksOf(kind, log, low, high).flatMap((tick) => [
    svg("line", { class: "tick", x1: LEFT, x2: width - RIGHT, y1: y(tick), y2: y(tick) }),
    svg("text", { x: LEFT - 8, y: y(tick) + 4, "text-anchor": "end" }, words(tick)),
  ]);
  for (const tick of niceTicks(0, right, Math.max(2, Math.floor(width / 110)))) {
    marks.push(svg("text", { x: x(tick), y: height - BOTTOM + 18, "text-anchor": "middle" }, number(tick)));
  }
  const [lastX, lastY] = shown.at(-1);
  marks.push(
    svg("line", { class: "axis", x1: LEFT, x2: width - RIGHT, y1: height - BOTTOM, y2: height - BOTTOM }),
    svg("text", { x: (LEFT + width - RIGHT) / 2, y: height - 6, "text-anchor": "middle" }, xTitle),
    svg("text", { x: width - RIGHT, y: TOP, "text-anchor": "end" }, log ? "log scale" : ""),
    ...others.map((line) => svg("path", { class: "line beside", d: path(line) })),
    svg("path", { class: "line", d: path(shown) }),
    svg("circle", { class: "tip", cx: x(lastX), cy: y(lastY), r: 4.5 }),
  );
  picture.setAttribute("aria-label", `${label}: now ${words(lastY)} at ${number(lastX)}, from ${words(ys[0])}; ${shown.length} points`);
  picture.replaceChildren(...marks);
}
