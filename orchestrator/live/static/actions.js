// What the page does for whoever holds the token: everything that changes something is a POST with it, to this origin.
import { byId, count, html, say } from "./words.js";

const KEPT = "pame-token", CHECK_MS = 500;
const READ_MS = 4000;
let token = takeToken(), live = null, chosen = null, checking = 0, key = "", saidAt = 0;

// The address brought it in its fragment, which no server sees; it leaves the address bar, and this tab remembers it.
function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    sessionStorage.setItem(KEPT, given);
    history.replaceState(null, "", location.pathname);
  }
  return given ?? sessionStorage.getItem(KEPT) ?? "";
}

async function post(path, body = "") {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const headers = { Authorization: `Bearer ${token}` };
  const answer = await fetch(path, { method: "POST", headers, body: text, cache: "no-store" }).catch(() => null);
  if (!answer) throw new Error("The orchestrator does not answer.");
  if (answer.status === 401) forget();
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return answer.json();
}

function forget() {
  token = "";
  sessionStorage.removeItem(KEPT);
  if (live) show(live);
}

// Does something for a click, and says in a line what became of it.
function act(id, where, does) {
  byId(id).addEventListener("click", async () => {
    const button = byId(id);
    button.setAttribute("aria-busy", "true");
    say(where, "");
    await does().then((words) => say(where, words ?? ""), (error) => say(where, error.message));
    saidAt = Date.now();
    button.removeAttribute("aria-busy");
  });
}

const runFolder = () => live?.run?.folder ?? live?.campaign?.folder ?? "";

function show(state) {
  live = state;
  const { run, campaign, queue } = live, holds = live.writable && token !== "";
  byId("acts").hidden = !live.writable;
  byId("unlock").hidden = holds;
  byId("buttons").hidden = !holds;
  byId("start").hidden = !live.place;
  byId("stop").hidden = !live.stoppable;
  say("stop", campaign && campaign.status === "running" ? `Stop the ${campaign.verb === "run" ? "sweep" : campaign.verb}` : "Stop the run");
  byId("hold").hidden = !live.holdable;
  say("hold", live.held ? "Go on" : "Pause");
  byId("again").hidden = !live.place || !run;
  byId("zip").hidden = !runFolder();
  byId("disturb").hidden = !live.disturbable;
  byId("held").hidden = !live.held;
  showQueue(holds ? queue : []);
  showReport(run);
  const now = `${run?.id} ${live.phase} ${queue.length}`;
  if (now !== key && Date.now() - saidAt > READ_MS) say("said", "");
  if (Date.now() - saidAt > READ_MS) key = now;
  document.documentElement.classList.toggle("acts", holds && live.disturbable);
}

function showQueue(queue) {
  byId("queue").hidden = queue.length === 0;
  const key = JSON.stringify(queue);
  if (byId("waiting").dataset.key === key) return;
  byId("waiting").dataset.key = key;
  byId("waiting").replaceChildren(...queue.map((one) => {
    const out = html("button", { type: "button", class: "small" }, "Take out");
    out.setAttribute("aria-label", `Take ${one.name}, seed ${one.seed}, out of the queue`);
    out.addEventListener("click", () => post("/api/dequeue", { number: one.number }).catch((error) => say("said", error.message)));
    return html("li", {}, `${one.name}, seed ${one.seed}, ${count(one.nodes, "node")} `, out);
  }));
}

// When a run is over, its report stands on the page.
function showReport(run) {
  const folder = run && run.status && live.phase === "idle" ? run.folder : "";
  const frame = byId("report-frame");
  byId("report").hidden = !folder;
  if (frame.dataset.folder === folder) return;
  frame.dataset.folder = folder;
  const path = `/runs/${folder.split("/").map(encodeURIComponent).join("/")}/report.html`;
  if (folder) {
    frame.src = path;
    byId("report-link").href = path;
  } else frame.removeAttribute("src");
}

// Begin an experiment: pick, edit, look at its plan, start.
async function openStart() {
  const answer = await fetch("/api/experiments", { cache: "no-store" });
  const ready = await answer.json();
  const current = live.run ? [{ name: "", about: "The run that is shown here, every setting written out." }] : [];
  const options = [...ready, ...current].map((one) => html("option", { value: one.name }, one.name || "this run"));
  byId("pick").replaceChildren(...options);
  byId("pick").dataset.about = JSON.stringify(Object.fromEntries([...ready, ...current].map((one) => [one.name, one.about])));
  byId("start-dialog").showModal();
  await pick();
}

async function pick() {
  const name = byId("pick").value;
  say("about", JSON.parse(byId("pick").dataset.about)[name] ?? "");
  const here = `/runs/${(live.run?.folder ?? "").split("/").map(encodeURIComponent).join("/")}/experiment.yaml`;
  const answer = await fetch(name ? `/api/experiments/${encodeURIComponent(name)}` : here, { cache: "no-store" });
  byId("yaml").value = answer.ok ? await answer.text() : "";
  await check();
}

// The answer to an older text is no news.
async function check() {
  checking += 1;
  const mine = checking, text = byId("yaml").value;
  byId("begin").disabled = true;
  const found = await post("/api/plan", text).catch((error) => error);
  if (mine !== checking) return;
  const wrong = found instanceof Error;
  byId("wrong").hidden = !wrong;
  byId("plan").hidden = wrong;
  byId("yaml").setAttribute("aria-invalid", String(wrong));
  say("wrong", wrong ? found.message : "");
  byId("begin").disabled = wrong;
  if (wrong) return;
  say("plan-name", `${found.name}: ${found.about}; ${found.ends}`);
  const more = found.more_faults ? [`and ${found.more_faults} more`] : [];
  const faults = found.faults.length ? [...found.faults, ...more] : ["no faults are planned"];
  byId("plan-faults").replaceChildren(...faults.map((words) => html("li", {}, words)));
  byId("plan-notes").replaceChildren(...found.notes.map((words) => html("li", {}, words)));
  const under_way = live.stoppable || live.queue.length;
  say("begin", under_way ? "Put it into the queue" : "Start");
  say("where", `It runs ${live.place}${under_way ? ", when its turn comes" : ""}.`);
}

async function begin() {
  const queued = await post("/api/start", byId("yaml").value).catch((error) => {
    byId("wrong").hidden = false;
    throw error;
  });
  byId("start-dialog").close();
  say("said", `${queued.name}, seed ${queued.seed}, ${queued.waits ? "waits for its turn" : "begins"}.`);
}

// A fault for the node or the link that was clicked.
async function openFault(detail) {
  chosen = detail;
  const { offers } = await post("/api/offers", chosen);
  const what = "node" in chosen ? `node ${chosen.node}` : `the link between nodes ${chosen.link[0]} and ${chosen.link[1]}`;
  say("fault-title", `Disturb ${what}`);
  say("fault-said", "");
  byId("offers").replaceChildren(...offers.map((offer, place) => {
    const input = html("input", { type: "radio", name: "offer", value: offer.fault, id: `offer-${place}` });
    input.addEventListener("change", () => { byId("fault-text").value = offer.fault; });
    return html("li", {}, input, html("label", { for: `offer-${place}` }, offer.words));
  }));
  const first = byId("offers").querySelector("input");
  if (first) first.checked = true;
  byId("fault-text").value = offers[0]?.fault ?? "";
  byId("inject").disabled = offers.length === 0;
  if (!offers.length) say("fault-said", "This network can do nothing to it by hand.");
  byId("fault-dialog").showModal();
}

async function inject() {
  const told = await post("/api/fault", byId("fault-text").value);
  const silent = told.silent.length ? [`nothing was heard of it from nodes ${told.silent.join(", ")}`] : [];
  const words = [...(told.begun.length ? told.begun : told.planned), ...told.failures, ...silent].join("; ");
  byId("fault-dialog").close();
  return words;
}

document.addEventListener("pame:live", (event) => show(event.detail));
document.addEventListener("pame:select", (event) => {
  if (live?.disturbable && token) openFault(event.detail).catch((error) => say("said", error.message));
});
byId("unlock").addEventListener("submit", (event) => {
  event.preventDefault();
  token = byId("token").value;
  byId("token").value = "";
  say("said", "");
  if (live) show(live);
});
for (const dialog of document.querySelectorAll("dialog")) {
  dialog.querySelector(".close").addEventListener("click", () => dialog.close());
}
act("start", "said", openStart);
act("stop", "said", async () => {
  const { was_running } = await post("/api/cancel");
  return was_running ? "The run is being ended." : "That run is not under way any more.";
});
act("hold", "said", async () => {
  const { held } = await post("/api/hold", { on: !live.held });
  show({ ...live, held });
  return held ? "All nodes wait before their next iteration; the clock of the run stands still." : "All nodes go on.";
});
act("again", "said", async () => {
  const queued = await post("/api/again", { folder: live.run.folder });
  return `${queued.name}, seed ${queued.seed}, ${queued.waits ? "waits for its turn" : "begins"}.`;
});
act("zip", "said", async () => {
  const { path } = await post("/api/ticket", { folder: runFolder().split("/")[0] });
  const link = html("a", { href: path, download: "" });
  link.click();
  return "The run folder is being packed.";
});
act("begin", "wrong", begin);
act("inject", "fault-said", async () => { say("said", await inject()); });
act("empty", "said", async () => { await post("/api/dequeue", {}); });
byId("pick").addEventListener("change", () => pick().catch((error) => say("wrong", error.message)));
byId("yaml").addEventListener("input", () => {
  checking += 1;
  const mine = checking;
  byId("begin").disabled = true;
  setTimeout(() => { if (mine === checking) check(); }, CHECK_MS);
});
