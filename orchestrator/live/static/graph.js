// The network: nodes by state (shape, colour and word), directed links by what flows over them (width and colour).
import { html, number, svg, tally, volume } from "./words.js";

const SIDE = 640, MARGIN = 44;
const LABELLED = 64, WORDED = 40, LEVELS = 5;
const STATES = ["awaited", "joined", "ready", "running", "done", "silent", "suspect", "restarted", "dead"];
const WORTH_A_WORD = ["silent", "suspect", "restarted", "dead"];
const CORNERS = { done: [4, Math.PI / 4], silent: [4, 0], suspect: [6, 0], restarted: [3, -Math.PI / 2] };

function outline(state, r) {
  const [corners, turn] = CORNERS[state] ?? [0, 0];
  if (!corners) return `M${-r},0a${r},${r} 0 1 0 ${2 * r},0a${r},${r} 0 1 0 ${-2 * r},0Z`;
  const reach = r * (corners === 3 ? 1.45 : corners === 4 ? 1.22 : 1.12);
  const points = Array.from({ length: corners }, (_, i) => turn + (2 * Math.PI * i) / corners);
  return `M${points.map((angle) => `${reach * Math.cos(angle)},${reach * Math.sin(angle)}`).join("L")}Z`;
}

function shape(state, r) {
  const marks = [svg("path", { class: "shape", d: outline(state, r) })];
  const x = r * 0.95;
  if (state === "dead") marks.push(svg("path", { class: "cross", d: `M${-x},${-x}L${x},${x}M${-x},${x}L${x},${-x}` }));
  return marks;
}

export function stateKey(nodes) {
  const counts = tally(nodes);
  return STATES.filter((state) => counts.has(state)).map((state) => {
    const mark = svg("svg", { viewBox: "-12 -12 24 24", class: state, "aria-hidden": "true" }, ...shape(state, 8));
    return html("li", {}, mark, html("b", {}, number(counts.get(state))), state);
  });
}

export function scaleKey(most, words) {
  return [1, 3, 5].map((level) => {
    const line = svg("path", { d: "M4,10H40", class: `heat-${level}`, "stroke-width": width(level / LEVELS) });
    const mark = svg("svg", { viewBox: "0 0 44 20", class: "wide", "aria-hidden": "true" }, line);
    return html("li", {}, mark, words((most * level) / LEVELS));
  });
}

const width = (share) => (1 + 5 * share).toFixed(2);

export class Graph {
  #picture; #places = []; #radius = 16; #bent = true; #nodes = new Map(); #links = new Map(); #layers = {}; #key = "";

  constructor(picture) {
    this.#picture = picture;
    picture.addEventListener("click", select);
    picture.addEventListener("keydown", (event) => { if (event.key === "Enter") select(event); });
  }

  // `graph` has edges and positions of a run; without one, members stand in rows.
  show(graph, nodes, links, value, directed) {
    const key = graph ? `${graph.run} ${directed}` : `rows ${nodes.map((node) => node.member).join(" ")}`;
    if (key !== this.#key) this.#place(graph, nodes, key, directed);
    for (const node of nodes) this.#node(node, nodes.length);
    const most = Math.max(1, ...links.map(value));
    const told = new Set(links.map((link) => this.#link(link, value(link), most)));
    for (const [key, entry] of this.#links) if (!told.has(key)) this.#flow(entry, 0);
    return most;
  }

  #place(graph, nodes, key, directed) {
    [this.#key, this.#bent] = [key, directed];
    const total = graph ? graph.positions.length : nodes.length;
    this.#places = (graph ? graph.positions : inRows(total)).map(([x, y]) => [x, y].map((at) => MARGIN + at * (SIDE - 2 * MARGIN)));
    this.#radius = Math.max(3, Math.min(17, (0.16 * SIDE) / Math.sqrt(Math.max(total, 1))));
    const edges = graph ? graph.edges : [];
    this.#nodes.clear();
    this.#links.clear();
    this.#layers = Object.fromEntries(["edges", "links", "nodes"].map((name) => [name, svg("g", { class: name })]));
    for (const [i, j] of edges) {
      const [[x1, y1], [x2, y2]] = [this.#places[i], this.#places[j]];
      this.#layers.edges.append(svg("line", { x1, y1, x2, y2 }));
    }
    const empty = total ? [] : [svg("text", { class: "empty", x: SIDE / 2, y: SIDE / 4 }, "No node has joined yet")];
    const heights = this.#places.map(([, y]) => y);
    const top = total ? Math.min(...heights) - MARGIN : 0, bottom = total ? Math.max(...heights) + MARGIN : SIDE / 2;
    this.#picture.setAttribute("viewBox", `0 ${top} ${SIDE} ${Math.max(bottom - top, SIDE / 4)}`);
    this.#picture.replaceChildren(arrowheads(), ...Object.values(this.#layers), ...empty);
  }

  #node(node, total) {
    const number = node.place ?? node.node, place = this.#places[number];
    if (!place) return;
    const entry = this.#nodes.get(number) ?? { group: svg("g", { transform: `translate(${place})`, ...(node.node === undefined ? {} : { "data-node": node.node, tabindex: 0 }) }) };
    if (!entry.state) this.#layers.nodes.append(entry.group);
    const who = [node.node === undefined ? "" : `node ${node.node}`, node.member].filter(Boolean).join(", ");
    const words = `${who}: ${node.state}, iteration ${node.iteration}${node.slow ? ", straggler" : ""}`;
    if (entry.state !== node.state) {
      const inside = node.node !== undefined && total <= LABELLED ? String(node.node) : "";
      const label = svg("text", { class: "label", y: node.state === "restarted" ? 2 : 0 }, inside);
      const worth = WORTH_A_WORD.includes(node.state) ? node.state : node.node === undefined ? node.member.slice(0, 12) : "";
      const below = svg("text", { class: "word", y: this.#radius + 17 }, total <= WORDED ? worth : "");
      entry.title = svg("title");
      entry.group.setAttribute("class", node.state);
      entry.group.replaceChildren(entry.title, ...shape(node.state, this.#radius), label, below);
      entry.state = node.state;
    }
    if (entry.title.textContent !== words) entry.title.textContent = words;
    this.#nodes.set(number, entry);
  }

  #link([from, to, bytes, rate], value, most) {
    const key = `${from} ${to}`;
    if (!this.#places[from] || !this.#places[to]) return key;
    if (!this.#links.has(key)) {
      const title = svg("title");
      const path = svg("path", { d: this.#line(from, to), "data-link": key }, title);
      this.#layers.links.append(path);
      this.#links.set(key, { path, title });
    }
    const entry = this.#links.get(key);
    this.#flow(entry, value / most);
    entry.title.textContent = `${from} ${this.#bent ? "→" : "–"} ${to}: ${volume(rate)}/s now, ${volume(bytes)} in all`;
    return key;
  }

  #flow(entry, share) {
    const level = Math.ceil(share * LEVELS);
    entry.path.setAttribute("stroke-width", width(share));
    if (entry.level === level) return;
    entry.level = level;
    entry.path.setAttribute("class", level ? `heat-${level}` : "");
    if (this.#bent && level) entry.path.setAttribute("marker-end", `url(#arrow-${level})`);
    else entry.path.removeAttribute("marker-end");
  }

  // Bent to the left of its direction, so that the two halves of an edge stand apart; it ends at the rims of the nodes.
  #line(from, to) {
    const [[x1, y1], [x2, y2]] = [this.#places[from], this.#places[to]];
    if (!this.#bent) return `M${x1},${y1}L${x2},${y2}`;
    const [dx, dy] = [x2 - x1, y2 - y1], bend = 0.09;
    const [cx, cy] = [(x1 + x2) / 2 + bend * dy, (y1 + y2) / 2 - bend * dx];
    const rim = (x, y, gap) => {
      const length = Math.hypot(cx - x, cy - y) || 1, step = Math.min(this.#radius + gap, length * 0.8) / length;
      return `${(x + (cx - x) * step).toFixed(1)},${(y + (cy - y) * step).toFixed(1)}`;
    };
    return `M${rim(x1, y1, 2)}Q${cx.toFixed(1)},${cy.toFixed(1)} ${rim(x2, y2, 8)}`;
  }
}

// Whoever wants to act on a node or a link hears of it: { node: 3 } or { link: [3, 4] }.
function select({ target }) {
  const { node, link } = target.closest("[data-node], [data-link]")?.dataset ?? {};
  if (node === undefined && link === undefined) return;
  const detail = node === undefined ? { link: link.split(" ").map(Number) } : { node: Number(node) };
  document.dispatchEvent(new CustomEvent("pame:select", { detail }));
}

function inRows(total) {
  const across = Math.max(4, Math.ceil(Math.sqrt(total) * 1.2));
  return Array.from({ length: total }, (_, i) => [(i % across) / (across - 1), (Math.floor(i / across) * 0.8) / (across - 1)]);
}

function arrowheads() {
  return svg("defs", {}, ...Array.from({ length: LEVELS }, (_, i) => svg("marker", {
    id: `arrow-${i + 1}`, viewBox: "0 0 8 8", refX: 3, refY: 4, markerWidth: 9, markerHeight: 9, orient: "auto", markerUnits: "userSpaceOnUse",
  }, svg("path", { class: `heat-${i + 1}`, d: "M0,0.6L8,4L0,7.4Z" }))));
}
