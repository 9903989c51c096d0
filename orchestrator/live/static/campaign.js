// How far a campaign is: a bar per stage, the time that is left, and its newest runs.
import { byId, count, duration, html, say } from "./words.js";

const SHOWN = 12, LONG_S = 30;
let seen = null;

export function showCampaign(campaign) {
  byId("campaign").hidden = !campaign;
  if (!campaign) return;
  const { stages, rows } = campaign, goesOn = campaign.status === "running";
  const runs = stages.reduce((sum, stage) => sum + stage.runs, 0), ended = stages.reduce((sum, stage) => sum + stage.ended, 0);
  const done = stages.reduce((sum, stage) => sum + stage.share * stage.runs, 0);
  say("campaign-title", `Campaign: ${campaign.verb} ${campaign.name}`);
  const left = goesOn ? timeLeft(campaign, done, runs) : null;
  const words = `${ended} of ${count(runs, "run")} done${left === null ? "" : `, about ${duration(left)} left`}`;
  say("campaign-lead", `${goesOn ? "" : `${campaign.status}: `}${words}.${campaign.now ? ` Now: ${campaign.now}.` : ""}`);
  const list = byId("stages");
  while (list.children.length > stages.length) list.lastChild.remove();
  while (list.children.length < stages.length) list.append(html("li", {}, html("span"), html("progress", { max: "1" }), html("span", { class: "whole" })));
  stages.forEach((stage, i) => {
    const [name, bar, told] = list.children[i].children;
    name.textContent = stage.name;
    bar.value = stage.share;
    bar.setAttribute("aria-label", `${stage.name}: runs done`);
    told.textContent = `${stage.ended} of ${stage.runs}`;
  });
  const newest = rows.slice(0, SHOWN), headings = [...new Set(newest.flatMap((run) => Object.keys(run.figures)))];
  const key = JSON.stringify(newest);
  if (byId("campaign-rows").dataset.key === key) return;
  byId("campaign-rows").dataset.key = key;
  const head = ["Run", "Seed", ...headings, "Where"].map((words, i) => html("th", { scope: "col", class: i ? "number" : "" }, words));
  const body = newest.map((run) => html("tr", {}, html("td", {}, run.words), ...[run.seed, ...headings.map((name) => run.figures[name] ?? ""), run.where || "goes on"].map((cell) => html("td", { class: "number" }, String(cell)))));
  byId("campaign-rows").replaceChildren(html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...body));
  byId("campaign-table").hidden = newest.length === 0;
}

// By the pace since the page looks, as soon as that says something; what a resumed campaign had done before took no time now.
function timeLeft(campaign, done, runs) {
  const now = Date.now() / 1000;
  if (seen?.folder !== campaign.folder) seen = { folder: campaign.folder, at: now, done };
  const [spent, gained] = now - seen.at > LONG_S && done > seen.done ? [now - seen.at, done - seen.done] : [campaign.seconds, done];
  return gained > 0 && spent > 3 ? (spent / gained) * (runs - done) : null;
}
