// Saves a chart as it stands: as SVG, as PNG, or the rows behind it as CSV. Loads nothing.
const saveChart = (() => {
  "use strict";
  const PIXELS = 3; // of a PNG for each of the screen

  function offer(name, blob) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  // What each field is called along the axes and in the tooltips of a specification.
  function titlesIn(part, found = {}) {
    if (!part || typeof part !== "object") return found;
    if (typeof part.field === "string" && typeof part.title === "string") found[part.field] ??= part.title;
    for (const inner of Object.values(part)) titlesIn(inner, found);
    return found;
  }

  const cell = (value) => {
    const words = value === null || value === undefined ? "" : String(value);
    return /[",\n\r]/.test(words) ? `"${words.replaceAll('"', '""')}"` : words;
  };

  function csvOf(spec) {
    const rows = spec.datasets[spec.data.name] ?? [];
    const titles = titlesIn({ encoding: spec.encoding, layer: spec.layer });
    const fields = [...new Set(rows.flatMap(Object.keys))];
    const lines = [fields.map((field) => titles[field] ?? field), ...rows.map((row) => fields.map((field) => row[field]))];
    return lines.map((line) => line.map(cell).join(",") + "\n").join("");
  }

  // On the ground of the page: light words on nothing would be lost on white paper.
  async function pngOf(view) {
    const drawn = await view.toCanvas(PIXELS);
    const canvas = Object.assign(document.createElement("canvas"), { width: drawn.width, height: drawn.height });
    const context = canvas.getContext("2d");
    context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--card").trim() || "#fff";
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(drawn, 0, 0);
    return new Promise((done) => canvas.toBlob(done, "image/png"));
  }

  return async (name, kind, view, spec) => {
    if (kind === "csv") offer(`${name}.csv`, new Blob([csvOf(spec)], { type: "text/csv" }));
    else if (kind === "png") offer(`${name}.png`, await pngOf(view));
    else offer(`${name}.svg`, new Blob([await view.toSVG(2)], { type: "image/svg+xml" }));
  };
})();
