// Looks at a report in headless Chromium: that it loads without an error and asks for nothing else, that every chart has marks, and that nothing is
// wider than the page, at the width of a desk and of a phone, in light, in dark and in print; what its tooltips say and what its buttons save.
//
// usage: node report_page.mjs REPORT.html [SCREENSHOT_FOLDER]       prints one JSON object: what it found at each setting
import { createRequire } from "node:module";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

const page_folder = path.resolve(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), "../../experiments/page/");
const { chromium } = createRequire(page_folder + "/")("playwright-core");
const [report, screenshots] = process.argv.slice(2);
const executablePath = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find((file) => fs.existsSync(file));
const settings = [
  { name: "desk-light", width: 1280, scheme: "light" }, { name: "desk-dark", width: 1280, scheme: "dark" },
  { name: "phone-light", width: 390, scheme: "light" }, { name: "phone-dark", width: 390, scheme: "dark" },
  { name: "print", width: 780, scheme: "light", media: "print" }
];

// In the page.
function look() {
  const width = document.documentElement.clientWidth;
  const scrolls = (element) => element.closest(".scroll") !== null;
  const wide = [...document.querySelectorAll("body *")].filter((element) => !scrolls(element) && !element.closest("svg") && !element.closest("details:not([open])"))
    .filter((element) => { const box = element.getBoundingClientRect(); return box.width > 0 && (box.right > width + 1 || box.left < -1); })
    .map((element) => `${element.tagName} ${element.className}: ${element.textContent.slice(0, 60)}`);
  const charts = [...document.querySelectorAll(".chart")].map((chart) => {
    const svg = chart.querySelector("svg");
    if (!svg) return { label: chart.getAttribute("aria-label"), marks: 0, cut: [], overlapping: [] };
    const drawn = svg.querySelectorAll("[aria-label=bar] rect, [aria-label=dot] circle, [aria-label=line] path, [aria-label=area] path");
    const marks = [...drawn].filter((mark) => { const box = mark.getBoundingClientRect(); return box.width > 0 || box.height > 0; }).length;
    const frame = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll("text")].filter((text) => text.textContent !== "");
    const boxes = texts.map((text) => ({ text: text.textContent, box: text.getBoundingClientRect() }));
    const cut = boxes.filter(({ box }) => box.left < frame.left - 1.5 || box.right > frame.right + 1.5 || box.top < frame.top - 3 || box.bottom > frame.bottom + 3)
      .map(({ text }) => text);
    const overlapping = [];
    for (let i = 0; i < boxes.length; ++i) {
      for (let j = i + 1; j < boxes.length; ++j) {
        const [a, b] = [boxes[i].box, boxes[j].box];
        const across = Math.min(a.right, b.right) - Math.max(a.left, b.left), down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (across > 2 && down > 4) overlapping.push(`${boxes[i].text} | ${boxes[j].text}`);
      }
    }
    return { label: chart.getAttribute("aria-label"), marks, cut, overlapping };
  });
  const style = getComputedStyle(document.body);
  return { wide, charts, scroll_width: document.documentElement.scrollWidth, width, colours: [style.color, style.backgroundColor],
    sections: document.querySelectorAll("section.figure").length };
}

// What the first panels' buttons save, and what is shown beside the pointer.
async function operate(page) {
  const saved = [];
  for (const button of (await page.locator(".save button").all()).slice(0, 8)) {
    const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
    const text = fs.readFileSync(await download.path(), "utf8");
    const name = download.suggestedFilename();
    const marks = !name.endsWith(".svg") ? null : await page.evaluate((svg) => {
      const file = new DOMParser().parseFromString(svg, "image/svg+xml");
      return file.querySelector("parsererror") ? 0 : file.querySelectorAll("circle, rect, path").length;
    }, text);
    saved.push({ name, text, marks });
  }
  const tips = [];
  for (const chart of (await page.locator(".chart svg").all()).slice(0, 4)) {
    const mark = chart.locator("[aria-label=dot] circle, [aria-label=bar] rect").last();
    if (await mark.count() === 0) continue;
    await mark.scrollIntoViewIfNeeded();
    await mark.hover({ force: true });
    // Charts of a paper's numbers, and those over time, have none.
    const tip = chart.locator("[aria-label=tip]");
    if (await tip.count() > 0) tips.push(await tip.textContent());
  }
  return { saved, tips };
}

const profile = fs.mkdtempSync(path.join(os.tmpdir(), "mneme-report-"));
const found = {};
try {
  for (const { name, width, scheme, media } of settings) {
    const context = await chromium.launchPersistentContext(path.join(profile, name), {
      executablePath, headless: true, acceptDownloads: true, viewport: { width, height: 900 }, colorScheme: scheme,
      // Shared memory in files of /tmp: /dev/shm may be small, or not there.
      args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync"]
    });
    const page = context.pages()[0] ?? await context.newPage();
    const errors = [], requests = [];
    page.on("pageerror", (error) => errors.push(String(error)));
    page.on("console", (message) => { if (["error", "warning"].includes(message.type())) errors.push(message.text()); });
    page.on("request", (request) => { if (!/^(file|data|blob):/.test(request.url())) requests.push(request.url()); });
    if (media) await page.emulateMedia({ media });
    await page.goto(pathToFileURL(path.resolve(report)).href);
    await page.waitForFunction(() => [...document.querySelectorAll(".chart")].every((chart) => chart.querySelector("svg")), null, { timeout: 30000 });
    found[name] = { errors, requests, ...await page.evaluate(look) };
    if (name === "desk-light") Object.assign(found[name], await operate(page));
    if (screenshots) await page.screenshot({ path: path.join(screenshots, `${name}.png`), fullPage: true });
    await context.close();
  }
} finally {
  fs.rmSync(profile, { recursive: true, force: true });
}
console.log(JSON.stringify(found));
