// The nodes row by row, and the node or link that is selected in words.
import { MARKS } from "./graph.js";
import { byId, duration, html, number, percent, say, volume } from "./words.js";

const NEIGHBOURS = 12;
let told = "";

export function showTable(members, run, select, selected) {
  const body = byId("nodes"), rows = [...body.rows];
  while (rows.length > members.length) rows.pop().remove();
  while (rows.length < members.length) {
    const button = html("button", { type: "button", class: "choice" });
    const who = html("th", { scope: "row" }, button);
    const cells = Array.from({ length: 9 }, (_, i) => html("td", { class: i > 2 ? "number" : "" }));
    rows.push(html("tr", {}, who, ...cells));
    body.append(rows.at(-1));
    button.addEventListener("click", () => select({ node: Number(button.textContent) }));
  }
  members.forEach((node, i) => {
    const [who, ...cells] = rows[i].cells, button = who.firstChild;
    const share = run?.seconds > 0 && node.waited !== undefined ? percent(node.waited / run.seconds) : "–";
    const words = [
      node.member || "–", node.host || "–", stateOf(node), number(node.iteration), node.waited === undefined ? "–" : duration(node.waited), share,
      volume(node.sent), volume(node.received), number(node.incarnation ?? 0),
    ];
    set(button, String(node.node ?? "–"));
    button.disabled = node.node === undefined;
    const pressed = String(node.node !== undefined && selected().node === node.node);
    if (button.getAttribute("aria-pressed") !== pressed) button.setAttribute("aria-pressed", pressed);
    button.setAttribute("aria-label", node.node === undefined ? node.member : `Select node ${node.node}`);
    words.forEach((word, column) => set(cells[column], word));
    if (cells[2].dataset.state !== node.state) cells[2].dataset.state = node.state;
  });
}

export const stateOf = (node) => (node.slow ? `${node.state}, slow` : node.state);

export function showSelected(members, run, graph, select, { node, link }) {
  const panel = byId("selected"), none = node === undefined && !link;
  panel.hidden = none;
  byId("hint").hidden = !none || !members.some((one) => one.node !== undefined);
  if (none) return;
  const title = link ? `Link ${link[0]} ${run.directed ? "→" : "–"} ${link[1]}` : `Node ${node}`;
  const facts = link ? factsOfLink(run, link) : factsOfNode(members.find((one) => one.node === node), run);
  say("selected-title", title);
  const list = byId("selected-facts");
  if (list.children.length !== facts.length) list.replaceChildren(...facts.map(() => html("div", {}, html("dt"), html("dd"))));
  facts.forEach(([words, value], i) => {
    set(list.children[i].firstChild, words);
    set(list.children[i].lastChild, value);
  });
  const others = link ? [["node", link[0]], ["node", link[1]], ...(run.directed ? [["link", [link[1], link[0]]]] : [])] : linksOf(node, run, graph);
  const key = JSON.stringify([title, others]);
  if (key === told) return;
  told = key;
  const shown = others.slice(0, NEIGHBOURS), left = others.length - shown.length;
  const buttons = shown.map(([kind, which]) => {
    const words = kind === "node" ? `Node ${which}` : `${which[0]} ${run.directed ? "→" : "–"} ${which[1]}`;
    const button = html("button", { type: "button", class: "choice", "aria-label": kind === "node" ? `Select node ${which}` : `Select link ${words}` }, words);
    button.addEventListener("click", () => select(kind === "node" ? { node: which } : { link: which }));
    return button;
  });
  byId("selected-others").replaceChildren(...buttons, ...(left > 0 ? [html("span", {}, `and ${left} more`)] : []));
}

function linksOf(node, run, graph) {
  const edges = graph?.edges ?? [], ends = edges.filter((edge) => edge.includes(node)).map(([i, j]) => (i === node ? j : i));
  return [...ends].sort((a, b) => a - b).map((other) => ["link", run.directed || node < other ? [node, other] : [other, node]]);
}

function factsOfNode(node, run) {
  if (!node) return [["State", "gone"]];
  const share = run.seconds > 0 && node.waited !== undefined ? ` (${percent(node.waited / run.seconds)})` : "";
  return [
    ["Name", node.member || "–"], ["Host", node.host || "–"], ["State", stateOf(node)], ["Iteration", number(node.iteration)],
    ["Waited", node.waited === undefined ? "–" : `${duration(node.waited)}${share}`], ["Sent", volume(node.sent)], ["Received", volume(node.received)],
    ["Restarts", number(node.incarnation ?? 0)],
  ];
}

function factsOfLink(run, [from, to]) {
  const found = run.links.find(([i, j]) => i === from && j === to), mark = (run.marked ?? []).find(([i, j]) => i === from && j === to);
  return [["Now", mark ? MARKS[mark[2]] : "as it should be"], ["Flows", found ? `${volume(found[3])}/s` : "–"], ["Sent in all", found ? volume(found[2]) : "nothing yet"]];
}

function set(element, words) {
  if (element.textContent !== words) element.textContent = words;
}
