// The network: nodes by state (shape, colour and word), directed links by what flows over them (width and colour) and by
// what faults do to them. One node or link can be selected, by mouse or keys; the document hears of it as `pame:select`.
import { html, number, svg, tally, volume } from "./words.js";

const SIDE = 640, MARGIN = 44;
const LABELLED = 64, WORDED = 40, NAMED = 24, LEVELS = 5, NAME = 14, MANY_LINKS = 240;
const STATES = ["awaited", "joined", "ready", "running", "done", "paused", "silent", "suspect", "restarted", "dead"];
const WORTH_A_WORD = ["paused", "silent", "suspect", "restarted", "dead"];
const CORNERS = { done: [4, Math.PI / 4], silent: [4, 0], suspect: [6, 0], restarted: [3, -Math.PI / 2] };
export const MARKS = { cut: "cut", lossy: "loses messages", slow: "slow" };

function outline(state, r) {
  const [corners, turn] = CORNERS[state] ?? [0, 0];
  if (!corners) return `M${-r},0a${r},${r} 0 1 0 ${2 * r},0a${r},${r} 0 1 0 ${-2 * r},0Z`;
  const reach = r * (corners === 3 ? 1.45 : corners === 4 ? 1.22 : 1.12);
  const points = Array.from({ length: corners }, (_, i) => turn + (2 * Math.PI * i) / corners);
  return `M${points.map((angle) => `${reach * Math.cos(angle)},${reach * Math.sin(angle)}`).join("L")}Z`;
}

function shape(state, r) {
  const marks = [svg("path", { class: "shape", d: outline(state, r) })];
  const x = r * 0.95, bar = r * 0.62;
  if (state === "dead") marks.push(svg("path", { class: "cross", d: `M${-x},${-x}L${x},${x}M${-x},${x}L${x},${-x}` }));
  if (state === "paused") marks.push(svg("path", { class: "bars", d: `M${-bar},${-bar}V${bar}M${bar},${-bar}V${bar}` }));
  return marks;
}

const slowRing = (r) => svg("circle", { class: "slow-ring", r: r + 4 });

export function stateKey(nodes) {
  const counts = tally(nodes), slow = nodes.filter((node) => node.slow).length;
  const mark = (state, ...shapes) => svg("svg", { viewBox: "-14 -14 28 28", class: state, "aria-hidden": "true" }, ...shapes);
  const item = (picture, quantity, words) => html("li", {}, picture, html("b", {}, number(quantity)), words);
  const states = STATES.filter((state) => counts.has(state)).map((state) => item(mark(state, ...shape(state, 8)), counts.get(state), state));
  return slow ? [...states, item(mark("running", ...shape("running", 7), slowRing(7)), slow, "slow")] : states;
}

export function scaleKey(most, words) {
  return [1, 3, 5].map((level) => sample(`heat-${level}`, width(level / LEVELS), words((most * level) / LEVELS)));
}

export function markKey(marked) {
  return Object.entries(MARKS).flatMap(([mark, words]) => {
    const quantity = marked.filter((link) => link[2] === mark).length;
    return quantity ? [sample(mark, 2.5, html("b", {}, number(quantity)), words)] : [];
  });
}

function sample(look, thickness, ...words) {
  const line = svg("g", { class: look }, svg("path", { d: "M4,10H40", class: `flow ${look}`, "stroke-width": thickness }));
  return html("li", {}, svg("svg", { viewBox: "0 0 44 20", class: "wide links", "aria-hidden": "true" }, line), ...words);
}

const width = (share, thin = 1) => (thin * (1 + 5 * share)).toFixed(2);
const nodeKey = (node) => `node ${node}`;
const linkKey = (from, to) => `link ${from} ${to}`;
const shortened = (name) => (name.length <= NAME ? name : `…${name.slice(1 - NAME)}`);

export class Graph {
  #picture; #places = []; #radius = 16; #bent = true; #nodes = new Map(); #links = new Map(); #layers = {}; #key = "";
  #selected = ""; #focused = ""; #thin = 1;

  constructor(picture) {
    this.#picture = picture;
    picture.addEventListener("click", (event) => this.#choose(event.target.closest("[data-key]")));
    picture.addEventListener("keydown", (event) => this.#pressed(event));
    picture.addEventListener("focusin", (event) => this.#rove(event.target.closest("[data-key]")?.dataset.key ?? ""));
  }

  // `graph` has edges and positions of a run; without one, members stand in rows.
  show(graph, nodes, links, marked, value, directed) {
    const key = graph ? `${graph.run} ${directed}` : `rows ${nodes.map((node) => node.member).join(" ")}`;
    if (key !== this.#key) this.#place(graph, nodes, key, directed);
    this.#thin = Math.max(0.35, Math.min(1, Math.sqrt(MANY_LINKS / Math.max(links.length, 1))));
    for (const node of nodes) this.#node(node, nodes.length);
    const most = Math.max(1, ...links.map(value)), marks = new Map(marked.map(([from, to, mark]) => [linkKey(from, to), mark]));
    const told = new Set(links.map((link) => this.#link(link, value(link), most, marks.get(linkKey(link[0], link[1])))));
    for (const [from, to, mark] of marked) if (!told.has(linkKey(from, to))) told.add(this.#link([from, to, null, 0], 0, most, mark));
    for (const [key, entry] of this.#links) if (!told.has(key)) this.#flow(entry, 0, undefined);
    if (!this.#focused && this.#nodes.size) this.#rove(this.#nodes.keys().next().value);
    return most;
  }

  // `{ node }`, `{ link: [from, to] }`, or nothing.
  get selected() { return detailOf(this.#selected); }

  // Nothing in `detail`: nothing is selected any more.
  select(detail) {
    const before = this.#entry(this.#selected);
    before?.group.setAttribute("aria-pressed", "false");
    this.#selected = detail.link ? linkKey(...detail.link) : detail.node === undefined ? "" : nodeKey(detail.node);
    this.#entry(this.#selected)?.group.setAttribute("aria-pressed", "true");
    document.dispatchEvent(new CustomEvent(this.#selected ? "pame:select" : "pame:deselect", { detail }));
  }

  #entry(key) { return this.#nodes.get(key) ?? this.#links.get(key); }

  #choose(group) {
    if (!group) return;
    const { key } = group.dataset;
    group.focus();
    if (!key.startsWith("place")) this.select(detailOf(key));
  }

  #rove(key) {
    const [before, now] = [this.#entry(this.#focused), this.#entry(key)];
    if (!now || before === now) return;
    before?.group.setAttribute("tabindex", "-1");
    now.group.setAttribute("tabindex", "0");
    this.#focused = key;
  }

  #pressed(event) {
    const group = event.target.closest("[data-key]");
    if (!group) return;
    const step = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key];
    if (event.key === "Enter" || event.key === " ") this.#choose(group);
    else if (event.key === "Escape" && this.#selected) this.select({});
    else if (step) this.#entry(this.#beside(group.dataset.key, ...step))?.group.focus();
    else return;
    event.preventDefault();
  }

  // From node to node, or from link to link of one node; from a link back to its node.
  #beside(key, across, along) {
    const [kind, from] = key.split(" "), node = kind === "link" ? nodeKey(from) : key;
    if (along === 0) return kind === "link" ? node : turned([...this.#nodes.keys()], key, across);
    const links = [...this.#links.keys()].filter((link) => link.startsWith(`link ${node.split(" ")[1]} `));
    return kind === "link" ? turned(links, key, along) : links.at(along > 0 ? 0 : -1);
  }

  #place(graph, nodes, key, directed) {
    [this.#key, this.#bent, this.#focused] = [key, directed, ""];
    const total = graph ? graph.positions.length : nodes.length;
    this.#places = (graph ? graph.positions : inRows(total)).map(([x, y]) => [x, y].map((at) => MARGIN + at * (SIDE - 2 * MARGIN)));
    this.#radius = Math.max(3, Math.min(17, (0.16 * SIDE) / Math.sqrt(Math.max(total, 1))));
    const edges = graph ? graph.edges : [];
    this.#nodes.clear();
    this.#links.clear();
    this.#layers = Object.fromEntries(["edges", "links", "nodes", "names"].map((name) => [name, svg("g", { class: name })]));
    for (const [i, j] of edges) {
      const [[x1, y1], [x2, y2]] = [this.#places[i], this.#places[j]];
      this.#layers.edges.append(svg("line", { x1, y1, x2, y2 }));
    }
    const empty = total ? [] : [svg("text", { class: "empty", x: SIDE / 2, y: SIDE / 4 }, "No node has joined yet")];
    const heights = this.#places.map(([, y]) => y);
    const top = total ? Math.min(...heights) - MARGIN : 0, bottom = total ? Math.max(...heights) + MARGIN : SIDE / 2;
    this.#layers.names.setAttribute("aria-hidden", "true");
    this.#picture.setAttribute("viewBox", `0 ${top} ${SIDE} ${Math.max(bottom - top, SIDE / 4)}`);
    this.#picture.replaceChildren(arrowheads(), ...Object.values(this.#layers), ...empty);
    if (this.#selected) this.select({});
  }

  #button(key, layer, ...inside) {
    const [kind, ...numbers] = key.split(" ");
    const attributes = { "data-key": key, [`data-${kind}`]: numbers.join(" "), role: "button", tabindex: "-1", "aria-pressed": String(key === this.#selected) };
    const group = svg("g", attributes, ...inside);
    this.#layers[layer].append(group);
    return group;
  }

  #node(node, total) {
    const place = this.#places[node.place ?? node.node];
    if (!place) return;
    const key = node.node === undefined ? `place ${node.place}` : nodeKey(node.node);
    const entry = this.#nodes.get(key) ?? { group: this.#button(key, "nodes"), names: svg("g", { "data-names": key }) };
    if (!this.#nodes.has(key)) this.#layers.names.append(entry.names);
    this.#nodes.set(key, entry);
    const who = [node.node === undefined ? "" : `node ${node.node}`, node.member].filter(Boolean).join(", ");
    const words = `${who}: ${node.state}, iteration ${node.iteration}${node.slow ? ", slow" : ""}`;
    const look = [node.state, node.slow, node.member].join(" ");
    if (entry.look !== look) {
      entry.look = look;
      entry.title = svg("title");
      for (const part of [entry.group, entry.names]) {
        part.setAttribute("transform", `translate(${place})`);
        part.setAttribute("class", node.state);
      }
      const inside = node.node !== undefined && total <= LABELLED ? String(node.node) : "";
      const label = svg("text", { class: "label", y: node.state === "restarted" ? 2 : 0 }, inside);
      const ring = node.slow ? [slowRing(this.#radius)] : [];
      const halo = svg("circle", { class: "halo", r: this.#radius + 6 });
      entry.group.replaceChildren(entry.title, halo, ...ring, ...shape(node.state, this.#radius));
      entry.names.replaceChildren(label, this.#below(node, total));
    }
    if (entry.words !== words) {
      entry.words = entry.title.textContent = words;
      entry.group.setAttribute("aria-label", words);
    }
  }

  // What is worth a word: a state that is not as usual, and a name that says more than the number.
  #below(node, total) {
    const name = node.member === `node-${node.node}` || (total > NAMED && node.node !== undefined) ? "" : shortened(node.member);
    const states = [WORTH_A_WORD.includes(node.state) ? node.state : "", node.slow ? "slow" : ""];
    const words = total > WORDED ? [] : [...states.filter(Boolean), name].filter(Boolean);
    const lines = words.map((word, i) => svg("tspan", { x: 0, dy: i ? "1.1em" : 0, class: word === name ? "name" : "" }, word));
    return svg("text", { class: "word", y: this.#radius + (node.slow ? 20 : 17) }, ...lines);
  }

  #link([from, to, bytes, rate], value, most, mark) {
    const key = linkKey(from, to);
    if (!this.#places[from] || !this.#places[to]) return key;
    if (!this.#links.has(key)) {
      const title = svg("title"), d = this.#line(from, to), path = svg("path", { d, class: "flow" });
      this.#links.set(key, { path, title, group: this.#button(key, "links", title, svg("path", { d, class: "hit" }), path) });
    }
    const entry = this.#links.get(key);
    this.#flow(entry, value / most, mark);
    const told = bytes === null ? "nothing sent yet" : `${volume(rate)}/s now, ${volume(bytes)} in all`;
    const words = `${from} ${this.#bent ? "→" : "–"} ${to}: ${mark ? `${MARKS[mark]}, ` : ""}${told}`;
    if (entry.words !== words) {
      entry.words = entry.title.textContent = words;
      entry.group.setAttribute("aria-label", `link ${words}`);
    }
    return key;
  }

  #flow(entry, share, mark) {
    const level = Math.ceil(share * LEVELS), look = [level ? `heat-${level}` : "", mark ?? ""].filter(Boolean).join(" ");
    entry.path.setAttribute("stroke-width", width(share, this.#thin));
    if (entry.look === look) return;
    if (mark && mark !== entry.mark && document.activeElement !== entry.group) this.#layers.links.append(entry.group);  // above the others
    [entry.look, entry.mark] = [look, mark];
    entry.path.setAttribute("class", look ? `flow ${look}` : "flow");
    entry.group.setAttribute("class", mark ?? "");
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

function detailOf(key) {
  const [kind, ...numbers] = key.split(" ");
  return kind === "node" ? { node: Number(numbers[0]) } : kind === "link" ? { link: numbers.map(Number) } : {};
}

function turned(keys, key, step) {
  return keys[(keys.indexOf(key) + step + keys.length) % keys.length];
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
