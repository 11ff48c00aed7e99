// The report's page: the JSON in #data, as text, tables and charts. Charts are Observable Plot's; they are drawn anew when their
// width changes, and take their colours from the style, so that dark mode and print need nothing of their own.
(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const palette = getComputedStyle(document.documentElement).getPropertyValue("--palette").trim().split(/\s+/);

  function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    for (const child of children.flat()) if (child !== null && child !== undefined) made.append(child);
    return made;
  }

  // `this` is code.
  const prose = (text) => text.split("`").map((part, i) => (i % 2 === 1 ? element("code", {}, part) : part));

  // Three digits, or all in front of the point.
  function numberText(value) {
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size >= 100) return Math.round(value).toLocaleString("en-US");
    return value.toFixed(Math.min(9, Math.max(0, 2 - Math.floor(Math.log10(size)))));
  }
  const tickText = (value) => (value !== 0 && Math.abs(value) >= 1000 ? d3.format("~s")(value) : d3.format("~g")(value));
  const quantileNames = { p50: "50%", p95: "95%", p99: "99%", p999: "99.9%", max: "max" };
  const xText = (panel, x) => (panel.chart === "quantiles" ? quantileNames[x] ?? x : x);

  // A simulated series has the colour of the one that it goes on from.
  const baseName = (name) => name.replace(/, simulated$/, "");
  function colours(panel) {
    const names = [...new Set([...panel.series, ...panel.paper.map((value) => ({ name: value.series }))].map((s) => baseName(s.name)))];
    return { domain: names, range: names.map((_, i) => palette[i % palette.length]) };
  }

  function legend(panel) {
    const { domain, range } = colours(panel);
    if (panel.series.length < 2) return null;
    return element("ul", { class: "legend" }, panel.series.map((series) => {
      const colour = range[domain.indexOf(baseName(series.name))];
      const sample = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      sample.setAttribute("width", "22");
      sample.setAttribute("height", "10");
      sample.setAttribute("aria-hidden", "true");
      sample.innerHTML = `<line x1="0" y1="5" x2="22" y2="5" stroke="${colour}" stroke-width="3"` +
        (series.simulated ? ' stroke-dasharray="5 3"' : "") + "/>";
      return element("li", {}, sample, series.name);
    }));
  }

  const rowsOf = (panel) => panel.series.flatMap((series) => series.points.map((point) => ({
    series: series.name, base: baseName(series.name), simulated: series.simulated, x: point.x, median: point.median,
    low: point.low ?? point.median, high: point.high ?? point.median, min: point.min, max: point.max, runs: point.runs
  })));
  const runsOf = (rows) => rows.flatMap((row) => (row.runs.length > 1 ? row.runs.map((value) => ({ ...row, value })) : []));
  const runsText = (runs) => `${runs.length} run${runs.length === 1 ? "" : "s"}`;
  const spreadTitle = (panel) => (d) => `${d.series}, ${panel.x} ${xText(panel, d.x)}\n${numberText(d.median)} ${panel.unit}` +
    (d.runs.length > 1 ? `, the median of ${runsText(d.runs)}\n95% interval: ${numberText(d.low)} to ${numberText(d.high)}` : "\none run");
  // What the pointer is near to, as a box; a screen reader finds the same in the mark's title.
  const tip = { fill: "var(--surface)", stroke: "var(--line)", textPadding: 8, fontSize: 12 };
  const near = (rows, options) => Plot.tip(rows, Plot.pointer({ ...tip, ...options }));
  const style = { fontSize: "12px", background: "transparent" };
  const longest = (texts) => Math.max(...texts.map((text) => String(text).length));
  // Room for numbers behind bars, of which the longest bar may end at the axis' end.
  const roomFor = (values) => Math.max(62, 18 + 7.2 * longest(values.map(numberText)));

  // Zero can't be drawn on a logarithmic scale.
  const drawable = (panel, rows) => (panel.log_y ? rows.filter((row) => row.min > 0) : rows);

  function valueScale(panel, rows) {
    const scale = { label: panel.unit, grid: true, nice: true, tickFormat: tickText, ticks: 5 };
    if (!panel.log_y) return { ...scale, zero: true };
    const least = Math.min(...rows.map((row) => row.min)), most = Math.max(...rows.map((row) => row.max));
    const decades = Math.log10(most / least);
    const all = [];
    for (let power = Math.floor(Math.log10(least)) - 1; power <= Math.ceil(Math.log10(most)); ++power) {
      for (const digit of decades > 2.5 ? [1] : decades > 1.2 ? [1, 3] : [1, 2, 3, 5, 7]) all.push(digit * 10 ** power);
    }
    const ticks = all.filter((tick) => tick >= least / 1.3 && tick <= most * 1.3);
    return { ...scale, type: "log", domain: [least / 1.15, most * 1.15], nice: false, ticks: ticks.length > 1 ? ticks : 3 };
  }

  const nothing = () => element("p", { class: "muted" }, "Nothing above zero was measured: the runs were too short.");

  function lines(panel, width) {
    const rows = drawable(panel, rowsOf(panel));
    if (rows.length === 0) return nothing();
    // Series stand side by side, so that the intervals of one point don't hide each other.
    const beside = (name) => Math.min(9, width / panel.xs.length / (2 * panel.series.length)) *
      (panel.series.findIndex((series) => series.name === name) - (panel.series.length - 1) / 2);
    const marksOf = (series) => {
      const own = rows.filter((row) => row.series === series.name), dx = beside(series.name);
      return [
        Plot.ruleX(own, { x: "x", y1: "low", y2: "high", stroke: "base", strokeOpacity: 0.45, strokeWidth: 4, dx }),
        Plot.dot(runsOf(own), { x: "x", y: "value", stroke: "base", strokeOpacity: 0.55, r: 2, dx }),
        Plot.line(own, { x: "x", y: "median", stroke: "base", z: "series", strokeWidth: 2, strokeDasharray: series.simulated ? "6 4" : undefined, dx }),
        Plot.dot(own, { x: "x", y: "median", fill: "base", r: 3.5, ariaLabel: spreadTitle(panel), dx })
      ];
    };
    return Plot.plot({
      style, width, height: 300, marginLeft: 58, marginTop: 26, marginBottom: 44, marginRight: 18, color: colours(panel),
      x: { type: "point", domain: panel.xs, label: panel.x, tickFormat: (x) => xText(panel, x), padding: 0.3 },
      y: valueScale(panel, rows),
      marks: [
        panel.log_y ? null : Plot.ruleY([0]),
        ...panel.series.flatMap(marksOf),
        near(rows, { x: "x", y: "median", title: spreadTitle(panel) })
      ]
    });
  }

  // Names of bars: on the left, or, where they would take more than a third of the width, above each bar.
  function naming(names, width) {
    const left = 18 + 7 * longest(names);
    if (left <= width / 2.8) return { above: false, each: 26, marginLeft: left, axis: { axis: "left" }, padding: 0.2 };
    return { above: true, each: 44, marginLeft: 12, axis: { axis: null }, padding: 0.5 };
  }
  const namesAbove = (naming, rows, options) =>
    (naming.above ? Plot.text(rows, { ...options, x: 0, textAnchor: "start", dx: 2, dy: -naming.each * 0.43 }) : null);

  function bars(panel, width) {
    const rows = rowsOf(panel);
    const onAxis = panel.series.length > 1;
    const label = (row) => (onAxis ? row.series : row.x);
    const names = onAxis ? panel.series.map((series) => series.name) : panel.xs;
    const faceted = panel.xs.length > 1 && onAxis;
    const facet = faceted ? { fy: "x" } : {};
    const groups = faceted ? panel.xs.length : 1;
    const named = naming(names, width);
    return Plot.plot({
      style, width, height: groups * (names.length * named.each + 34) + 62, marginLeft: named.marginLeft,
      marginRight: roomFor(rows.map((row) => row.median)), marginTop: 30, marginBottom: 44, color: colours(panel),
      x: valueScale({ ...panel, log_y: false }, rows),
      y: { domain: names, label: null, padding: named.padding, ...named.axis },
      fy: faceted ? { domain: panel.xs, axis: null, padding: 0.22 } : undefined,
      marks: [
        Plot.barX(rows, { ...facet, y: label, x: "median", fill: "base", ariaLabel: spreadTitle(panel) }),
        Plot.ruleY(rows, { ...facet, y: label, x1: "low", x2: "high", stroke: "currentColor", strokeWidth: 2 }),
        Plot.dot(runsOf(rows), { ...facet, y: label, x: "value", stroke: "currentColor", strokeOpacity: 0.6, r: 2 }),
        faceted ? Plot.text(panel.xs, { fy: (x) => x, text: (x) => x, frameAnchor: "top-left", dy: -16, dx: 2, fontWeight: 600 }) : null,
        namesAbove(named, rows, { ...facet, y: label, text: label }),
        Plot.text(rows, { ...facet, y: label, x: "max", text: (d) => numberText(d.median), textAnchor: "start", dx: 5 }),
        Plot.ruleX([0]),
        near(rows, { ...facet, y: label, x: "median", title: spreadTitle(panel) })
      ]
    });
  }

  function stack(panel, width) {
    const rows = rowsOf(panel);
    return Plot.plot({
      style, width, height: panel.xs.length * 34 + 66, marginLeft: 24 + 7.2 * longest(panel.xs), marginRight: 24, marginTop: 28,
      marginBottom: 44, color: colours(panel),
      x: { label: panel.unit, grid: true, tickFormat: tickText, ticks: 5 },
      y: { domain: panel.xs, label: panel.x, labelAnchor: "top", padding: 0.25 },
      marks: [
        Plot.barX(rows, { y: "x", x: "median", fill: "base", z: "series", order: panel.series.map((s) => s.name),
          ariaLabel: spreadTitle(panel) }),
        Plot.ruleX([0]),
        near(rows, Plot.stackX({ y: "x", x: "median", z: "series", order: panel.series.map((s) => s.name), title: spreadTitle(panel) }))
      ]
    });
  }

  function timeline(panel, width) {
    const rows = panel.series.flatMap((series) => series.seconds.map((value, i) => ({
      series: series.name, base: series.name, second: i + 1, middle: i + 0.5, value
    })));
    const most = Math.max(...rows.map((row) => row.second));
    const shades = panel.series.flatMap((series) => series.checkpoints.map((c) => ({
      series: series.name, begin: Math.max(0, c.begin), end: Math.min(most, c.end)
    }))).filter((shade) => shade.end > shade.begin);
    // Names stand on the right or, where they are longer, above each band, but for the only one.
    const names = panel.series.map((series) => series.name);
    const above = longest(names) > 6;
    return Plot.plot({
      style, width, height: panel.series.length * (above ? 108 : 92) + 60, marginLeft: 58, marginTop: 26, marginBottom: 44,
      marginRight: above ? 18 : 64, color: colours(panel),
      x: { label: panel.x, domain: [0, most], ticks: Math.min(most, 12), tickFormat: "d" },
      y: { label: panel.unit, grid: true, zero: true, nice: true, ticks: 3, tickFormat: tickText },
      fy: { domain: names, label: null, ...(above ? { axis: null, padding: 0.24 } : { padding: 0.12 }) },
      marks: [
        Plot.rect(shades, { fy: "series", x1: "begin", x2: "end", fill: "currentColor", fillOpacity: 0.13, ariaLabel: "checkpoint" }),
        Plot.areaY(rows, { fy: "series", x: "middle", y: "value", fill: "base", fillOpacity: 0.18 }),
        Plot.lineY(rows, { fy: "series", x: "middle", y: "value", stroke: "base", strokeWidth: 2, marker: "dot",
          title: (d) => `${d.series}, second ${d.second}\n${numberText(d.value)} ${panel.unit}` }),
        above && names.length > 1 ? Plot.text(names, { fy: (name) => name, text: (name) => name, frameAnchor: "top-right", dy: -11, fontWeight: 600 }) : null,
        Plot.ruleY([0])
      ]
    });
  }

  const kinds = { lines, quantiles: lines, bars, stack, timeline };

  // "40" is 40 threads.
  const counts = (panel, x) => (/^(threads|clients|cores|threads or cores)$/.test(panel.x) && /^\d+$/.test(x) ? ` ${panel.x.split(" ")[0]}` : "");

  // The numbers in the paper's text.
  function paperChart(panel, width) {
    const rows = panel.paper.map((value) => ({ ...value, base: baseName(value.series), label: `${value.series}, ${xText(panel, value.x)}${counts(panel, value.x)}` }));
    const names = rows.map((row) => row.label);
    const named = naming(names, width);
    return Plot.plot({
      style, width, height: rows.length * named.each + 66, marginLeft: named.marginLeft,
      marginRight: roomFor(rows.map((row) => row.value)), marginTop: 28, marginBottom: 44, color: colours(panel),
      x: { label: panel.unit, grid: true, tickFormat: tickText, ticks: 4, zero: true, nice: true },
      y: { domain: names, label: null, padding: named.padding, ...named.axis },
      marks: [
        Plot.barX(rows, { y: "label", x: "value", fill: "base", fillOpacity: 0.75,
          title: (d) => `${d.label}: ${numberText(d.value)} ${panel.unit}` }),
        namesAbove(named, rows, { y: "label", text: "label" }),
        Plot.text(rows, { y: "label", x: "value", text: (d) => numberText(d.value), textAnchor: "start", dx: 5 }),
        Plot.ruleX([0])
      ]
    });
  }

  const drawn = [];
  function chart(label, draw) {
    const box = element("div", { class: "chart", role: "img", "aria-label": label });
    drawn.push({ box, draw, width: 0 });
    return box;
  }
  function drawAll() {
    for (const each of drawn) {
      const width = Math.floor(each.box.clientWidth);
      if (width === each.width || width === 0) continue;
      each.width = width;
      each.box.replaceChildren(each.draw(width));
    }
  }

  function table(panel) {
    if (panel.chart === "timeline") {
      return element("table", {}, element("tbody", {}, panel.series.map((series) =>
        element("tr", {}, element("td", {}, series.name), series.seconds.map((value) => element("td", {}, numberText(value)))))));
    }
    const cell = (name, x) => {
      const point = panel.series.find((series) => series.name === name)?.points.find((p) => p.x === x);
      if (!point) return element("td", {}, "");
      const interval = point.runs.length > 1 && point.low !== null
        ? element("span", { class: "spread" }, ` ${numberText(point.low)} to ${numberText(point.high)}`) : null;
      return element("td", {}, numberText(point.median), interval);
    };
    const names = panel.series.map((series) => series.name);
    // The longer of both goes down the page.
    const down = panel.xs.length > names.length;
    const [rows, columns] = down ? [panel.xs, names] : [names, panel.xs];
    const shown = (name, isX) => (isX ? xText(panel, name) : name);
    const head = element("tr", {}, element("th", {}, down ? panel.x : ""),
      columns.map((name) => element("th", { scope: "col" }, shown(name, !down))));
    const body = rows.map((row) => element("tr", {}, element("th", { scope: "row" }, shown(row, down)),
      columns.map((column) => (down ? cell(column, row) : cell(row, column)))));
    const paper = (name, x) => element("td", {}, ((value) => (value ? numberText(value.value) : ""))(panel.paper.find((p) => p.series === name && p.x === x)));
    const papers = [...new Set(panel.paper.map((value) => value.series))];
    const ofPaper = (down ? panel.xs : papers).map((row) => element("tr", { class: "paper" },
      element("th", { scope: "row" }, down ? `the paper: ${xText(panel, row)}` : `the paper: ${row}`),
      columns.map((column) => (down ? paper(column, row) : paper(row, column)))))
      .filter((row) => [...row.cells].slice(1).some((each) => each.textContent !== ""));
    return element("table", {}, element("thead", {}, head), element("tbody", {}, body, ofPaper));
  }

  function panelBox(figure, panel) {
    const charts = element("div", { class: panel.paper.length ? "charts two" : "charts" });
    const ours = element("div", {}, panel.paper.length ? element("p", { class: "small muted" }, "here") : null,
      panel.chart === "bars" || panel.chart === "timeline" ? null : legend(panel),
      chart(`${panel.title}, measured here`, (width) => kinds[panel.chart](panel, width)));
    charts.append(ours);
    if (panel.paper.length) {
      charts.append(element("div", {}, element("p", { class: "small muted" }, "in the paper, as its text has it"),
        chart(`${panel.title}, in the paper`, (width) => paperChart(panel, width))));
    }
    const shaded = panel.chart === "timeline" && panel.series.some((series) => series.checkpoints.length);
    const numbers = element("div", { class: "scroll" }, table(panel));
    const beside = panel.paper.length === 0 && panel.chart !== "timeline";
    if (beside) {
      const several = panel.series.some((series) => series.points.some((point) => point.runs.length > 1));
      charts.classList.add("two");
      charts.append(element("div", {}, element("p", { class: "small muted" }, several ? "median, and its 95% interval" : "one run each"), numbers));
    }
    const save = (text, act) => { const button = element("button", { type: "button" }, text); button.addEventListener("click", act); return button; };
    return element("div", { class: "panel" }, element("div", { class: "head" }, element("h4", {}, panel.unit ? `${panel.title} (${panel.unit})` : panel.title),
      element("div", { class: "save" }, save("Save SVG", () => saveChart(figure, panel, ours.querySelector(".chart svg"))),
        save("Save CSV", () => saveFile(`${figure.name}-${panel.name}.csv`, "text/csv", csvText(figure, panel))))),
      charts, shaded ? element("p", { class: "small muted" }, "Grey: a checkpoint is being written.") : null,
      beside ? null : element("details", {}, element("summary", {}, "numbers"), numbers));
  }

  function saveFile(name, type, text) {
    const url = URL.createObjectURL(new Blob([text], { type }));
    const link = element("a", { href: url, download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }

  // The lines that the command has written for this panel into figures/NAME.csv.
  function csvText(figure, panel) {
    const field = (text) => (/[,"\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const line = (series, x, round, value, command) => [figure.name, field(panel.name), field(series.name), field(x), round, value,
      field(panel.unit), field(command), figure.seeds[round - 1] ?? ""].join(",") + "\n";
    return "figure,panel,series,x,round,value,unit,command,seed\n" + panel.series.map((series) => (series.seconds
      ? series.seconds.map((value, i) => line(series, String(i + 1), 1, value, series.command))
      : series.points.flatMap((point) => point.runs.map((value, i) => line(series, point.x, i + 1, value, point.command)))).join("")).join("");
  }

  // The chart as a file of its own: with its title and legend, and with colours for paper, since it has no page's style.
  function saveChart(figure, panel, chart) {
    const drawn = chart.cloneNode(true);
    drawn.querySelectorAll("[aria-label=tip]").forEach((box) => box.remove());
    const width = Number(chart.getAttribute("width")), height = Number(chart.getAttribute("height"));
    const { domain, range } = colours(panel);
    const names = panel.series.length > 1 && !["bars", "timeline"].includes(panel.chart) ? panel.series.map((series) => series.name) : [];
    const top = 30 + 18 * names.length;
    const file = d3.create("svg:svg").attr("xmlns", "http://www.w3.org/2000/svg").attr("width", width).attr("height", height + top)
      .attr("viewBox", `0 0 ${width} ${height + top}`).attr("font-family", "system-ui, sans-serif").attr("font-size", 12).attr("color", "#1c2024");
    file.append("rect").attr("width", "100%").attr("height", "100%").attr("fill", "#fff");
    file.append("text").attr("x", 12).attr("y", 20).attr("font-size", 14).attr("font-weight", 600).attr("fill", "#1c2024")
      .text(panel.unit ? `${panel.title} (${panel.unit})` : panel.title);
    names.forEach((name, i) => {
      const simulated = panel.series[i].simulated;
      file.append("line").attr("x1", 12).attr("x2", 34).attr("y1", 38 + 18 * i).attr("y2", 38 + 18 * i).attr("stroke-width", 3)
        .attr("stroke", range[domain.indexOf(baseName(name))]).attr("stroke-dasharray", simulated ? "5 3" : null);
      file.append("text").attr("x", 42).attr("y", 42 + 18 * i).attr("fill", "#1c2024").text(name);
    });
    drawn.setAttribute("y", top);
    drawn.setAttribute("fill", "currentColor");
    drawn.style.cssText = "overflow:visible";
    file.node().append(drawn);
    saveFile(`${figure.name}-${panel.name}.svg`, "image/svg+xml", new XMLSerializer().serializeToString(file.node()));
  }

  function claimItem(claim) {
    const [word, style] = claim.holds === null ? ["open", "open"] : claim.holds ? ["holds", "yes"] : ["differs", "no"];
    const found = claim.holds === null ? "these runs have nothing to compare"
      : claim.found + (claim.apart ? "" : "; single runs overlap");
    return element("li", {}, element("span", { class: `badge ${style}` }, word), claim.says, " ",
      element("span", { class: "muted small" }, `(${found})`),
      claim.holds === false && claim.reason ? element("span", { class: "small" }, ` ${claim.reason}`) : null);
  }

  function figureBox(figure) {
    const own = figure.file !== undefined;
    const rounds = figure.rounds === 1 ? "once" : `${figure.rounds} times, in turns`;
    const seeds = figure.seeds.length ? `Seeds: ${figure.seeds.length === 1 ? figure.seeds[0]
      : `${figure.seeds[0]} to ${figure.seeds[figure.seeds.length - 1]}, another one each round`}. ` : "";
    const warmup = figure.warmup_rounds ? `Rounds before them that don't count: ${figure.warmup_rounds}. ` : "";
    const origin = figure.provenance;
    return element("section", { class: "figure", id: figure.name }, element("h3", {}, figure.title),
      element("div", { class: "name" }, `mneme experiment ${own ? figure.file : figure.name}`),
      figure.asks ? element("p", { class: "asks" }, prose(figure.asks)) : null,
      figure.partial ? element("p", { class: "warning" }, `Partial: ${figure.measured} of ${figure.planned} runs have been made. The same command goes on.`) : null,
      figure.claims.length ? element("ul", { class: "claims" }, figure.claims.map(claimItem)) : null,
      figure.panels.map((panel) => panelBox(figure, panel)),
      figure.paper_says.map((says) => element("p", { class: "small" }, element("strong", {}, "The paper: "), prose(says))),
      figure.scaled ? element("p", { class: "small" }, element("strong", {}, "Here: "), prose(figure.scaled)) : null,
      own ? element("p", { class: "small muted" }, `${seeds}${warmup}` + (figure.rounds > 1 && figure.rounds < 10
        ? `With ${figure.rounds} runs a point an interval is hardly more than the lowest and the highest; from ten on it says more.` : "")) : null,
      element("details", {}, element("summary", {}, `options: the commands that were run, each ${rounds}`), figure.commands.map((command) => element("code", {}, command))),
      own ? element("details", {}, element("summary", {}, `declaration: ${figure.file}`), element("pre", { class: "scroll" }, figure.declaration)) : null,
      origin ? element("details", {}, element("summary", {}, "origin"), element("code", {}, origin.command_line),
        element("p", { class: "small" }, `Mneme ${origin.version}${origin.commit ? `, commit ${origin.commit}` : ""}, started ${origin.started}, ` +
          `on ${origin.host.processor ?? "an unknown processor"}, ${origin.host.cores} cores, kernel ${origin.host.kernel}`)) : null);
  }

  function overview() {
    const box = document.getElementById("overview");
    if (data.figures.length === 0) return box.append(element("p", {}, "Nothing has been measured yet."));
    const claims = data.figures.flatMap((figure) => figure.claims);
    const ofPapers = data.figures.some((figure) => figure.file === undefined);
    const count = (holds) => claims.filter((claim) => claim.holds === holds).length;
    const latest = data.figures[data.figures.length - 1];
    const here = latest.environment;
    const loads = data.figures.map((figure) => figure.load_average);
    const several = (field) => [...new Set(data.figures.map((figure) => String(field(figure))))].join(", ");
    const facts = [
      ["Figures and tables", `${data.figures.length}`],
      [ofPapers ? "The papers' orderings" : "Claims", claims.length === 0 ? "none" : `${count(true)} hold, ${count(false)} don't` + (count(null) ? `, ${count(null)} open` : "")],
      ["Rounds", several((figure) => figure.rounds)],
      ["Processor", here.processor], ["Cores", `${here.cores}, ${here.numa_nodes} NUMA node${here.numa_nodes > 1 ? "s" : ""}`],
      ["Memory", `${(here.memory_bytes / 2 ** 30).toFixed(1)} GiB`], ["Kernel", here.kernel], ["System", here.system],
      ["Compiler", here.compiler], ["Program", several((figure) => figure.environment.program)],
      ["Load average meanwhile", `${numberText(Math.min(...loads))} to ${numberText(Math.max(...loads))}`], ["Measured", latest.measured_at]
    ];
    box.append(element("dl", { class: "facts" }, facts.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value ?? "not known")))));
    if (data.figures.some((figure) => figure.quick)) {
      box.append(element("p", { class: "warning" }, "Measured with --quick: to see that all works. These numbers are not to be believed."));
    }
    if (Math.max(...loads) > 2 * here.cores) {
      box.append(element("p", { class: "warning" }, "The machine was busy with other work: single runs differ by more than settings do."));
    }
    box.append(element("p", { class: "small muted" }, "Points are medians; the bar through each is the median's 95% interval (bootstrap), and the small circles are single runs. " +
      "Dashed lines are simulated: no machine of so many cores was there. An ordering is judged by medians."));
  }

  overview();
  const papers = [...new Set(data.figures.map((figure) => figure.paper))];
  const contents = document.getElementById("contents");
  const main = document.getElementById("figures");
  main.replaceChildren();
  for (const paper of papers) {
    const own = data.figures.filter((figure) => figure.paper === paper);
    contents.append(element("strong", {}, paper), element("ul", {}, own.map((figure) =>
      element("li", {}, element("a", { href: `#${figure.name}` }, figure.title)))));
    main.append(element("h2", {}, paper), own.map(figureBox).reduce((all, box) => (all.append(box), all), document.createDocumentFragment()));
  }
  if (data.not_measured.length && data.figures.some((figure) => figure.file === undefined)) {
    document.getElementById("rest").append(element("h2", {}, "Not measured"), element("ul", { class: "small" },
      data.not_measured.map((figure) => element("li", {}, `${figure.paper}, ${figure.title}: `,
        figure.reason || element("code", {}, `mneme experiment ${figure.name}`)))));
  }
  drawAll();
  new ResizeObserver(drawAll).observe(document.body);
})();
