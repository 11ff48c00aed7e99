// The report's page: the JSON in #data, as text, tables and charts. Charts are Observable Plot's; they are drawn anew when their
// width changes, and take their colours from the style, so that dark mode and print need nothing of their own.
(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const palette = ["#4269d0", "#d98a00", "#e5484d", "#2f9e8f", "#3ca951", "#d55fb4", "#9467bd", "#8c6d4f", "#6b8fb5", "#7f8790"];

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
    min: point.min, max: point.max
  })));
  const spreadTitle = (panel) => (d) => `${d.series}, ${panel.x} ${xText(panel, d.x)}\n${numberText(d.median)} ${panel.unit}` +
    (d.min < d.max ? `\n${numberText(d.min)} to ${numberText(d.max)}` : "");
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
    const mark = { x: "x", y: "median", stroke: "base", z: "series" };
    return Plot.plot({
      style, width, height: 300, marginLeft: 58, marginTop: 26, marginBottom: 44, marginRight: 18, color: colours(panel),
      x: { type: "point", domain: panel.xs, label: panel.x, tickFormat: (x) => xText(panel, x), padding: 0.3 },
      y: valueScale(panel, rows),
      marks: [
        panel.log_y ? null : Plot.ruleY([0]),
        Plot.ruleX(rows, { x: "x", y1: "min", y2: "max", stroke: "base", strokeOpacity: 0.45, strokeWidth: 3 }),
        Plot.line(rows.filter((row) => !row.simulated), { ...mark, strokeWidth: 2 }),
        Plot.line(rows.filter((row) => row.simulated), { ...mark, strokeWidth: 2, strokeDasharray: "6 4" }),
        Plot.dot(rows, { x: "x", y: "median", fill: "base", r: 3.5, title: spreadTitle(panel) })
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
        Plot.barX(rows, { ...facet, y: label, x: "median", fill: "base", title: spreadTitle(panel) }),
        Plot.ruleY(rows, { ...facet, y: label, x1: "min", x2: "max", stroke: "currentColor", strokeWidth: 1.5 }),
        faceted ? Plot.text(panel.xs, { fy: (x) => x, text: (x) => x, frameAnchor: "top-left", dy: -16, dx: 2, fontWeight: 600 }) : null,
        namesAbove(named, rows, { ...facet, y: label, text: label }),
        Plot.text(rows, { ...facet, y: label, x: "max", text: (d) => numberText(d.median), textAnchor: "start", dx: 5 }),
        Plot.ruleX([0])
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
          title: spreadTitle(panel) }),
        Plot.ruleX([0])
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
    return Plot.plot({
      style, width, height: panel.series.length * 92 + 60, marginLeft: 58, marginTop: 26, marginBottom: 44, marginRight: 64, color: colours(panel),
      x: { label: panel.x, domain: [0, most], ticks: Math.min(most, 12), tickFormat: "d" },
      y: { label: panel.unit, grid: true, zero: true, nice: true, ticks: 3, tickFormat: tickText },
      fy: { domain: panel.series.map((s) => s.name), label: null, padding: 0.12 },
      marks: [
        Plot.rect(shades, { fy: "series", x1: "begin", x2: "end", fill: "currentColor", fillOpacity: 0.13, ariaLabel: "checkpoint" }),
        Plot.areaY(rows, { fy: "series", x: "middle", y: "value", fill: "base", fillOpacity: 0.18 }),
        Plot.lineY(rows, { fy: "series", x: "middle", y: "value", stroke: "base", strokeWidth: 2, marker: "dot",
          title: (d) => `${d.series}, second ${d.second}\n${numberText(d.value)} ${panel.unit}` }),
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
      x: { label: panel.paper_unit, grid: true, tickFormat: tickText, ticks: 4, zero: true, nice: true },
      y: { domain: names, label: null, padding: named.padding, ...named.axis },
      marks: [
        Plot.barX(rows, { y: "label", x: "value", fill: "base", fillOpacity: 0.75,
          title: (d) => `${d.label}: ${numberText(d.value)} ${panel.paper_unit}` }),
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
    const head = element("tr", {}, element("th", {}, ""), panel.xs.map((x) => element("th", { scope: "col" }, xText(panel, x))));
    const rows = panel.series.map((series) => element("tr", {}, element("td", {}, series.name), panel.xs.map((x) => {
      const point = series.points.find((p) => p.x === x);
      if (!point) return element("td", {}, "");
      const spread = point.runs.length > 1 ? element("span", { class: "spread" }, ` ${numberText(point.min)} to ${numberText(point.max)}`) : null;
      return element("td", {}, numberText(point.median), spread);
    })));
    const names = [...new Set(panel.paper.map((value) => value.series))];
    const papers = names.map((name) => element("tr", { class: "paper" }, element("td", {}, `the paper: ${name}`), panel.xs.map((x) => {
      const value = panel.paper.find((p) => p.series === name && p.x === x);
      return element("td", {}, value ? numberText(value.value) : "");
    }))).filter((row) => [...row.cells].slice(1).some((cell) => cell.textContent !== ""));
    return element("table", {}, element("thead", {}, head), element("tbody", {}, rows, papers));
  }

  function panelBox(panel) {
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
    return element("div", { class: "panel" }, element("h4", {}, `${panel.title} (${panel.unit})`), charts,
      shaded ? element("p", { class: "small muted" }, "Grey: a checkpoint is being written.") : null,
      element("details", {}, element("summary", {}, "numbers"), element("div", { class: "scroll" }, table(panel))));
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
    return element("section", { class: "figure", id: figure.name }, element("h3", {}, figure.title),
      element("div", { class: "name" }, `mneme experiment ${figure.name}`),
      figure.claims.length ? element("ul", { class: "claims" }, figure.claims.map(claimItem)) : null,
      figure.panels.map(panelBox),
      figure.paper_says.map((says) => element("p", { class: "small" }, element("strong", {}, "The paper: "), prose(says))),
      element("p", { class: "small" }, element("strong", {}, "Here: "), prose(figure.scaled)),
      element("details", {}, element("summary", {}, "options: the commands that were run, each " +
        (figure.rounds === 1 ? "once" : `${figure.rounds} times, in turns`)), figure.commands.map((command) => element("code", {}, command))));
  }

  function overview() {
    const box = document.getElementById("overview");
    if (data.figures.length === 0) return box.append(element("p", {}, "Nothing has been measured yet."));
    const claims = data.figures.flatMap((figure) => figure.claims);
    const count = (holds) => claims.filter((claim) => claim.holds === holds).length;
    const latest = data.figures[data.figures.length - 1];
    const here = latest.environment;
    const loads = data.figures.map((figure) => figure.load_average);
    const several = (field) => [...new Set(data.figures.map((figure) => String(field(figure))))].join(", ");
    const facts = [
      ["Figures and tables", `${data.figures.length}`],
      ["The papers' orderings", `${count(true)} hold, ${count(false)} don't` + (count(null) ? `, ${count(null)} open` : "")],
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
    box.append(element("p", { class: "small muted" }, "Points are medians; the bar through each spans the lowest and the highest run. " +
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
  if (data.not_measured.length) {
    document.getElementById("rest").append(element("h2", {}, "Not measured"), element("ul", { class: "small" },
      data.not_measured.map((figure) => element("li", {}, `${figure.paper}, ${figure.title}: `,
        figure.reason || element("code", {}, `mneme experiment ${figure.name}`)))));
  }
  drawAll();
  new ResizeObserver(drawAll).observe(document.body);
})();
