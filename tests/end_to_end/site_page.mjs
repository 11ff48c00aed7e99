// Looks at pages of the site in headless Chromium, light and dark, at the width of a desk and of a phone.
//
// usage: node site_page.mjs PAGE.html...      prints one JSON object: what it found of each page at each setting
import { createRequire } from "node:module";
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const here = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
const { chromium } = createRequire(path.resolve(here, "../../experiments/page") + "/")("playwright-core");
const executablePath = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find((file) => fs.existsSync(file));
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
const found = [];
for (const colorScheme of ["light", "dark"]) {
  for (const width of [1280, 390]) {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
    for (const file of process.argv.slice(2)) {
      const page = await context.newPage(), errors = [];
      page.on("pageerror", (error) => errors.push(error.message));
      page.on("console", (message) => { if (message.type() === "error") errors.push(message.text()); });
      page.on("requestfailed", (request) => errors.push(`not found: ${request.url()}`));
      await page.goto(pathToFileURL(file).href);
      const seen = () => page.evaluate(() => ({ background: getComputedStyle(document.body).backgroundColor, text: getComputedStyle(document.body).color,
        wide: document.documentElement.scrollWidth }));
      const first = await seen();
      await page.evaluate(() => document.querySelector(".theme-toggle").click());
      found.push({ file, colorScheme, width, errors, ...first, other: (await seen()).background });
      await page.evaluate(() => localStorage.clear());
      await page.close();
    }
    await context.close();
  }
}
await browser.close();
console.log(JSON.stringify(found));
