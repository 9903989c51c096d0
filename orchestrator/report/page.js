// Draws the charts of a report, follows its switches and theme, sorts its tables. Loads nothing.
(() => {
  "use strict";
  const THEME_KEY = "pame-report-theme";
  const report = JSON.parse(document.getElementById("report-data").textContent);
  const root = document.documentElement;
  const wantsDark = window.matchMedia("(prefers-color-scheme: dark)");
  const chosen = {};
  const picked = {};
  const views = new Map();
  let turn = Promise.resolve();

  const remembered = () => {
    try { return localStorage.getItem(THEME_KEY); } catch { return null; }
  };
  const theme = () => root.dataset.theme || (wantsDark.matches ? "dark" : "light");

  function rowsOf(name) {
    const { rows, columns } = report.data[name];
    const fields = Object.entries(columns);
    const entry = (column, i) => (column.words ? column.words[column.places[i]] : column[i]);
    return Array.from({ length: rows }, (_, i) => Object.fromEntries(fields.map(([field, column]) => [field, entry(column, i)])));
  }

  function specOf(figure) {
    const spec = figure.specs[figure.switches.map((name) => chosen[name]).join("|")];
    const names = [spec, ...(spec.layer ?? [])].map((part) => part.data?.name).filter((name) => name);
    // A view writes into the rows it is given, so every view gets its own.
    return { ...structuredClone(spec), datasets: Object.fromEntries(names.map((name) => [name, rowsOf(name)])) };
  }

  // Where a tooltip is that of the nearest point, Vega-Lite looks for words one level too high: they read "undefined".
  function mendTooltips(spec) {
    for (const { encode, interactive } of spec.marks.filter((mark) => mark.name?.endsWith("voronoi"))) {
      const tooltip = interactive && encode.update.tooltip;
      if (tooltip) tooltip.signal = tooltip.signal.replace(/(^|[^.\w])datum\[/g, "$1datum.datum[");
    }
    return spec;
  }

  async function draw(id, look) {
    const figure = report.figures[id];
    const place = document.getElementById(`chart-${id}`);
    views.get(id)?.finalize();
    const result = await window.vegaEmbed(place, specOf(figure), {
      mode: "vega-lite", renderer: "svg", actions: false, config: report.themes[look], patch: mendTooltips,
    });
    views.set(id, result);
    if (picked[id]) await result.view.signal("pick", picked[id]).runAsync();
    place.dataset.drawn = [look, ...figure.switches.map((name) => chosen[name])].join(" ");
  }

  function colourLegends(look) {
    for (const legend of document.querySelectorAll(".legend")) {
      const colours = report.themes[look].range[legend.dataset.scale];
      legend.querySelectorAll("i").forEach((mark, i) => { mark.style.background = colours[i % colours.length]; });
    }
  }

  function drawAll(uses = () => true, look = theme()) {
    colourLegends(look);
    for (const id of Object.keys(report.figures)) {
      if (uses(report.figures[id])) turn = turn.then(() => draw(id, look));
    }
    return turn;
  }

  function choose(group, button) {
    for (const other of group.querySelectorAll("button")) other.setAttribute("aria-pressed", String(other === button));
    chosen[group.dataset.switch] = button.dataset.value;
  }

  for (const group of document.querySelectorAll("[data-switch]")) {
    choose(group, group.querySelector("button:not(:disabled)"));
    group.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button || button.disabled) return;
      choose(group, button);
      drawAll((figure) => figure.switches.includes(group.dataset.switch));
    });
  }

  for (const legend of document.querySelectorAll(".legend")) {
    legend.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      const on = button.getAttribute("aria-pressed") !== "true";
      for (const other of legend.querySelectorAll("button")) other.setAttribute("aria-pressed", String(on && other === button));
      for (const id of legend.dataset.figures.split(" ")) {
        picked[id] = on ? button.dataset.group : null;
        views.get(id)?.view.signal("pick", picked[id]).runAsync();
      }
    });
  }

  function setTheme(name) {
    root.dataset.theme = name;
    drawAll();
  }

  document.getElementById("theme").addEventListener("click", () => {
    const next = theme() === "dark" ? "light" : "dark";
    try { localStorage.setItem(THEME_KEY, next); } catch { /* A page that may not store still switches. */ }
    setTheme(next);
  });
  wantsDark.addEventListener("change", () => { if (!root.dataset.theme) drawAll(); });
  window.addEventListener("beforeprint", () => drawAll(undefined, "light"));
  window.addEventListener("afterprint", () => drawAll());

  for (const button of document.querySelectorAll("[data-save]")) {
    const id = button.dataset.save;
    button.addEventListener("click", () => saveChart(id, button.dataset.as, views.get(id).view, specOf(report.figures[id])));
  }

  function sortBy(heading) {
    const table = heading.closest("table");
    const place = [...heading.parentElement.children].indexOf(heading);
    const down = heading.getAttribute("aria-sort") === "ascending";
    for (const other of heading.parentElement.children) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    const keyOf = (row) => row.children[place].dataset.value ?? "";
    const compare = (a, b) => {
      const [x, y] = [keyOf(a), keyOf(b)];
      if (x === "" || y === "") return (x === "") - (y === "");
      const numeric = x.trim() !== "" && y.trim() !== "" && !isNaN(x) && !isNaN(y);
      return (numeric ? Number(x) - Number(y) : x.localeCompare(y)) * (down ? -1 : 1);
    };
    table.tBodies[0].append(...[...table.tBodies[0].rows].sort(compare));
  }
  for (const heading of document.querySelectorAll("table.sortable th")) {
    heading.querySelector("button").addEventListener("click", () => sortBy(heading));
  }

  if (remembered()) root.dataset.theme = remembered() === "dark" ? "dark" : "light";
  drawAll().then(() => { root.dataset.ready = "yes"; });
})();
