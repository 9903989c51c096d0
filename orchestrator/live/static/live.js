// Asks the orchestrator once a second how things are, and shows it. Keeps nothing.
import { showCampaign } from "./campaign.js";
import { drawCurve } from "./curve.js";
import { shadesOn, showFaults } from "./faults.js";
import { Graph, markKey, scaleKey, stateKey } from "./graph.js";
import { faultsAre, heardOf } from "./happened.js";
import { showSelected, showTable } from "./nodes.js";
import { byId, count, duration, html, number, numeric, percent, row, say, tally, volume } from "./words.js";

const ASK_MS = 1000, PATIENCE_MS = 5000, RUNS_MS = 15000, BUSIEST = 6;
const TROUBLES = {
  late: "Late messages", starved: "Starved rounds", expired: "Waits that ran out", refused: "Refused messages",
  dropped: "Dropped at the sender", evicted: "Evicted unread", absurd: "Absurd values", deaths: "Deaths", restarts: "Restarts",
};
const AXES = { iteration: ["Iteration", 0], seconds: ["Seconds", 1], bytes: ["Transmitted", 2] };
const root = document.documentElement;
const picture = new Graph(byId("graph"));
const select = (detail) => picture.select(detail);
let graph = null, live = null, runsKey = "", runsAt = 0, failures = 0, heardAt = Date.now(), happenedKey = "", chosenAxis = "";

async function ask(path) {
  const answer = await fetch(path, { signal: AbortSignal.timeout(PATIENCE_MS), cache: "no-store" });
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.json();
}

function showHead({ run, phase, notice, members }) {
  byId("notice").hidden = !notice;
  say("notice", notice);
  say("name", run ? run.name || run.folder : "No run yet");
  document.title = `${run ? `${run.name} · ` : ""}${phase} · PaME Testbed, live`;
  const chips = [[phase, "phase"]];
  if (run) {
    if (run.status) chips.push([run.status, run.status === "finished" ? "good" : "bad"]);
    if (run.health) chips.push([run.health, run.health === "sound" ? "good" : "bad"]);
    chips.push([count(run.nodes, "node"), ""], [run.folder, ""]);
  }
  const key = JSON.stringify(chips);
  if (byId("chips").dataset.key !== key) {
    byId("chips").dataset.key = key;
    byId("chips").replaceChildren(...chips.map(([words, look]) => html("li", { class: look }, words)));
  }
  say("reason", run?.reason ?? "");
  const ill = run?.health_reason && run.health_reason !== run.reason;
  byId("health").hidden = !ill;
  say("health", ill ? `This run is ${run.health}: ${run.health_reason}.` : "");
  say("members", `${count(members, "member")} here`);
}

function showTiles({ run, nodes, members }) {
  const point = run && pointsOf(run).at(-1);
  say("iteration", run?.median === undefined ? "–" : number(run.median));
  say("spread", run?.median === undefined ? "" : `slowest ${number(run.slowest)}, fastest ${number(run.fastest)}${run.iterations ? ` of ${number(run.iterations)}` : ""}`);
  say("bytes", volume(run?.bytes));
  say("rate", run ? (live.phase === "running" ? `${volume(run.rate)}/s now` : "in all") : "");
  const accuracy = point?.[5] ?? null, gap = gapOf(run, point), first = gap === null && accuracy !== null ? "accuracy" : "f";
  say("learned", first === "accuracy" ? "Test accuracy, mean model" : gap === null ? "f(mean model)" : "f − f*, above the optimum");
  say("objective", first === "accuracy" ? percent(accuracy) : number(gap ?? point?.[3]));
  const ofNodes = point?.[6] == null ? "" : `nodes ${percent(point[6])}, ${percent(point[7])} to ${percent(point[8])}; `;
  const f = gap === null ? "" : `f ${number(point[3])}, `, judged = accuracy === null ? "" : `accuracy ${percent(accuracy)}, `;
  say("consensus", !point ? "" : first === "accuracy" ? `${ofNodes}f ${number(point[3])}` : `${f}${judged}consensus ${number(point[4])}`);
  const gone = nodes.filter((node) => node.state === "dead" || node.state === "awaited").length;
  say("alive", nodes.length ? `${nodes.length - gone} of ${nodes.length}` : number(members));
  say("seconds", duration(run?.seconds));
  say("ending", run ? (live.phase === "idle" ? "the last run" : live.phase === "evaluating" ? `${number(run.judged ?? 0)} of ${count(run.to_judge ?? 0, "point")} evaluated` : run.limit_seconds ? `of ${duration(run.limit_seconds)}` : "since the start") : "");
}

// By iteration, or by time once faults keep complete sets from coming.
function pointsOf(run) {
  const [complete, latest] = [run.by_iteration, run.by_time];
  return (latest.at(-1)?.[0] ?? -1) > (complete.at(-1)?.[0] ?? -1) + 20 || complete.length === 0 ? latest : complete;
}

// How far f is above its least value, where that is known.
function gapOf(run, point) {
  return !point || point[3] === null || run.optimum == null ? null : point[3] - run.optimum;
}

function showNetwork({ run, nodes, spares, phase, refused_joins }) {
  const flows = phase === "running" || phase === "ending";
  const value = flows ? (link) => link[3] : (link) => link[2];
  const words = flows ? (bytes) => `${volume(Math.round(bytes))}/s` : (bytes) => volume(Math.round(bytes));
  const links = run?.links ?? [], marked = run?.marked ?? [];
  const members = nodes.length ? nodes : spares.map((spare, place) => ({ ...spare, place, iteration: 0 }));
  const fits = graph && run && graph.run === run.id;
  const most = picture.show(fits ? graph : null, members, links, marked, value, run?.directed ?? true);
  byId("states").replaceChildren(...stateKey(members));
  say("scale-title", flows ? "Links, bytes per second" : "Links, bytes in all");
  const flowing = links.filter((link) => value(link) > 0);
  const none = html("li", {}, run ? "nothing flows yet" : "no run yet");
  byId("scale").replaceChildren(...(flowing.length ? scaleKey(most, words) : [none]), ...markKey(marked));
  const busiest = [...flowing].sort((a, b) => value(b) - value(a)).slice(0, BUSIEST);
  byId("busiest").hidden = byId("busiest-title").hidden = busiest.length === 0;
  byId("busiest").tBodies[0].replaceChildren(...busiest.map(([from, to, bytes, rate]) => row(`${from} ${run.directed ? "→" : "–"} ${to}`, numeric(flows ? `${volume(rate)}/s` : "–"), numeric(volume(bytes)))));
  const waiting = nodes.length && spares.length ? ` ${count(spares.length, "more member")} ${spares.length === 1 ? "waits" : "wait"} for the next run.` : "";
  const left = run?.links_left_out ? ` The ${number(links.length)} busiest links are shown, ${number(run.links_left_out)} are not.` : "";
  const lead = nodes.length ? `${run.nodes} nodes${fits ? `, ${graph.kind} topology, ${count(graph.edges.length, "edge")}` : ""}.` : `${count(members.length, "member")} here.`;
  const joins = Object.entries(refused_joins).map(([reason, times]) => `${reason.replaceAll("_", " ")} (${times})`);
  say("network-lead", lead + waiting + left + (joins.length ? ` Joins refused: ${joins.join(", ")}.` : ""));
  const states = [...tally(members)].map(([state, quantity]) => `${quantity} ${state}`);
  const top = busiest[0] ? `; busiest link ${busiest[0][0]} to ${busiest[0][1]}, ${words(value(busiest[0]))}` : "";
  const cut = marked.filter((link) => link[2] === "cut").length;
  byId("graph").setAttribute("aria-label", `Network of ${count(members.length, "node")}: ${states.join(", ")}${cut ? `; ${count(cut, "link")} cut` : ""}${top}`);
  byId("all-nodes").hidden = members.length === 0;
  showTable(members, run, select, () => picture.selected);
  showSelected(members, run, graph, select, picture.selected);
}

// Seconds where faults go by the clock, unless somebody chose.
function axisOf(run) {
  return chosenAxis || (run?.faults?.some((fault) => fault.unit === "seconds") ? "seconds" : "iteration");
}

function showCurves({ run, refused_joins }) {
  byId("learning").hidden = byId("happened").hidden = !run;
  const points = run ? pointsOf(run) : [], axis = axisOf(run), [xTitle, at] = AXES[axis];
  for (const button of byId("axis").children) button.setAttribute("aria-pressed", String(button.value === axis));
  const column = (place) => points.map((point) => [point[at], point[place]]);
  const shades = shadesOn(run?.faults ?? [], axis);
  const look = { xTitle, shades, xBytes: axis === "bytes" };
  const accuracies = [5, 6, 7, 8].map((place) => column(place).map(([x, y]) => [x, y === null ? null : 100 * y]));
  const isJudged = accuracies[0].some(([, y]) => y !== null), gaps = points.map((point) => [point[at], gapOf(run, point)]);
  const isKnown = gaps.some(([, y]) => y !== null);
  byId("accuracy").hidden = !isJudged;
  byId("accuracy").style.order = isKnown ? 1 : 0;
  if (isJudged) drawCurve(byId("curve-accuracy"), accuracies[0], { ...look, label: `Test accuracy of the mean model in percent, by ${axis}`, beside: accuracies.slice(1) });
  say("objective-title", isKnown ? "f − f*, distance to the optimum" : "f(mean model)");
  drawCurve(byId("curve-objective"), isKnown ? gaps.filter(([, y]) => y > 0) : column(3), { ...look, kind: "log", label: isKnown ? `f minus f*, the distance to the optimum, by ${axis}` : `f(mean model) by ${axis}` });
  drawCurve(byId("curve-consensus"), column(4).filter(([, y]) => y > 0), { ...look, kind: "log", label: `Consensus distance by ${axis}` });
  const sent = axis === "iteration" ? { ...look, points: (run?.volume ?? []).map(([, bytes, k]) => [k, bytes]) } : { xTitle: "Seconds", shades: shadesOn(run?.faults ?? [], "seconds"), points: (run?.volume ?? []).map(([seconds, bytes]) => [seconds, bytes]) };
  say("volume-title", axis === "iteration" ? "Transmitted by all nodes, by the median node's iteration" : "Transmitted by all nodes, by time");
  drawCurve(byId("curve-volume"), sent.points, { ...sent, kind: "bytes", label: `Bytes transmitted by ${axis === "iteration" ? "iteration" : "time"}` });
  const complete = run && points === run.by_iteration;
  say("learning-lead", !points.length ? (run?.judged_after ? "Models are kept on the disk and evaluated when the run is over." : "") : complete ? "Mean over all nodes' models of the same iteration." : "Mean over the latest models of the live nodes: with faults, not every node has every iteration.");
  const joins = Object.values(refused_joins).reduce((sum, one) => sum + one, 0);
  const entries = [...Object.entries(TROUBLES).map(([key, words]) => [words, run?.[key] ?? 0]), ["Refused joins", joins]];
  byId("troubles").replaceChildren(...entries.map(([words, value]) => html("div", { class: value ? "some" : "" }, html("dt", {}, words), html("dd", {}, number(value)))));
}

async function showHappened(run) {
  const key = `${run?.id} ${run?.happened}`, faults = run?.faults ?? [];
  if (key === happenedKey) return faultsAre(faults);
  heardOf(run?.happened ? await ask("/api/happened") : null, faults);
  happenedKey = key;
}

async function showRuns() {
  const { runs, total } = await ask("/api/runs");
  byId("past").hidden = total === 0;
  say("runs-lead", total > runs.length ? `The newest ${runs.length} of ${total}.` : count(total, "run"));
  byId("runs").replaceChildren(...runs.map((run) => {
    const name = html("td", {}, run.report ? html("a", { href: `/runs/${encodeURIComponent(run.folder)}/report.html` }, run.folder) : run.folder);
    const figures = [number(run.nodes), number(run.iterations), number(run.objective), volume(run.bytes), duration(run.seconds)];
    const status = run.kind ? `${run.kind} of ${count(run.runs, "run")}, ${run.status}` : run.status;
    return row(name, status, run.health ?? "–", ...figures.map(numeric));
  }));
}

// One answer that does not come is no news: the next may.
function showConnection(error) {
  failures = error ? failures + 1 : 0;
  root.classList.toggle("lost", failures > 1);
  byId("lost").hidden = failures < 2;
  if (failures > 1) say("lost", `Connection to the orchestrator lost ${duration((Date.now() - heardAt) / 1000)} ago; what you see is from then. Trying again…`);
}

async function look() {
  live = await ask("/api/live");
  heardAt = Date.now();
  if (live.run && graph?.run !== live.run.id) graph = await ask("/api/graph");
  showHead(live);
  showTiles(live);
  showNetwork(live);
  showFaults(live.run, live.phase);
  showCurves(live);
  showCampaign(live.campaign);
  document.dispatchEvent(new CustomEvent("pame:live", { detail: live }));
  await showHappened(live.run);
  const key = `${live.run?.id} ${live.phase}`;
  if (key !== runsKey || Date.now() - runsAt > RUNS_MS) {
    await showRuns();
    [runsKey, runsAt] = [key, Date.now()];
  }
  root.dataset.ready = "yes";
}

async function keepLooking() {
  for (;;) {
    if (!document.hidden) await look().then(() => showConnection(null), showConnection);
    await new Promise((resolve) => { setTimeout(resolve, ASK_MS); });
  }
}

for (const event of ["pame:select", "pame:deselect"]) document.addEventListener(event, () => { if (live) showNetwork(live); });
byId("deselect").addEventListener("click", () => select({}));
byId("axis").addEventListener("click", (event) => {
  if (!event.target.value) return;
  chosenAxis = event.target.value;
  if (live) showCurves(live);
});
byId("theme").addEventListener("click", () => {
  const dark = (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  root.dataset.theme = dark ? "light" : "dark";
});
window.addEventListener("resize", () => { if (live) showCurves(live); });
keepLooking();
