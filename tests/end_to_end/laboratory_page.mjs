// Plays a lesson on the laboratory's page in headless Chromium, as a user would: work, a crash, both recoveries, steps back, the link.
//
// usage: node laboratory_page.mjs LABORATORY.html|URL CRASH_BEHIND BACK [SCREENSHOT_FOLDER]
// Prints one JSON object: what was found at the width of a desk and of a phone, in light and in dark. The power fails behind step
// CRASH_BEHIND of the work; of each replay the end is read, and what is shown BACK steps before.
import { createRequire } from "node:module";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { inflateRawSync } from "node:zlib";

const here = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
const { chromium } = createRequire(path.resolve(here, "../../lab/page") + "/")("playwright-core");
const [place, crash, back, screenshots] = process.argv.slice(2);
const address = /^http:/.test(place) ? place : pathToFileURL(path.resolve(place)).href;
const executablePath = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find((name) => fs.existsSync(name));
const settings = [
  { name: "desk-light", width: 1280, scheme: "light", touch: false }, { name: "desk-dark", width: 1280, scheme: "dark", touch: false },
  { name: "phone-light", width: 390, scheme: "light", touch: true }, { name: "phone-dark", width: 390, scheme: "dark", touch: true }
];
const kLongestMs = 120000;

// In the page: the rows that a place shows, by table; a changed value is shown behind what it was.
function tables(place) {
  return Object.fromEntries([...document.querySelectorAll(`${place} table`)].map((table) => [table.caption.textContent,
    [...table.tBodies[0].rows].filter((row) => !row.classList.contains("gone")).map((row) => [...row.cells].map((cell) => cell.title))]));
}
// In the page: controls without a name, and what stands out of the page.
function look() {
  const isShown = (element) => element.getClientRects().length > 0;
  const named = (element) => (element.getAttribute("aria-label") ?? element.labels?.[0]?.textContent ?? element.textContent).trim() !== "";
  const width = document.documentElement.clientWidth;
  const wide = [...document.querySelectorAll("main > section *")].filter((element) => isShown(element) && !element.closest(".scroll, .tables, .editor, svg"))
    .filter((element) => element.getBoundingClientRect().right > width + 1).map((element) => `${element.tagName}.${element.className}`);
  return { unnamed: [...document.querySelectorAll("button, input, select, [tabindex='0']")].filter((element) => isShown(element) && !element.closest(".editor") && !named(element)).map((element) => element.outerHTML),
    wide, scroll_width: document.documentElement.scrollWidth, width, colours: [getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor] };
}

const profile = fs.mkdtempSync(path.join(os.tmpdir(), "mneme-laboratory-"));
const found = {};
try {
  for (const { name, width, scheme, touch } of settings) {
    const context = await chromium.launchPersistentContext(path.join(profile, name), {
      executablePath, headless: true, viewport: { width, height: 900 }, colorScheme: scheme, hasTouch: touch,
      // Shared memory in files of /tmp: /dev/shm may be small, or not there.
      args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync"]
    });
    const page = context.pages()[0] ?? await context.newPage();
    const errors = [], requests = [];
    page.setDefaultTimeout(kLongestMs);
    page.on("pageerror", (error) => errors.push(String(error)));
    page.on("console", (message) => { if (["error", "warning"].includes(message.type())) errors.push(message.text()); });
    page.on("request", (request) => { if (!/^(file|data|blob):/.test(request.url()) && !request.url().startsWith(address)) requests.push(request.url()); });
    const press = async (selector) => (touch ? page.tap(selector) : page.click(selector));
    const status = (words) => page.waitForFunction((text) => document.getElementById("status").textContent.includes(text) || !document.getElementById("error").hidden, words);
    const ready = async () => {
      await page.waitForFunction(() => document.documentElement.dataset.ready || !document.getElementById("error").hidden);
      return Number(await page.evaluate(() => document.documentElement.dataset.ready));
    };
    // Until the page's link holds the steps that are shown: what a run ends with is then done, too.
    const told = (place) => page.textContent(`${place} .told`);
    const linked = async () => {
      const deadline = Date.now() + kLongestMs;
      for (;;) {
        const hash = page.url().split("#")[1] ?? "";
        const link = hash === "" ? {} : JSON.parse(inflateRawSync(Buffer.from(hash, "base64url")).toString());
        const steps = [/^Step (\d+) of/.exec(await told("#work-steps")), /^Step (\d+) of/.exec(await told("#replay-steps"))].map((match) => (match ? Number(match[1]) : null));
        if (link.at === steps[0] && (link.step ?? null) === (link.crash === undefined ? null : steps[1])) return;
        if (Date.now() > deadline) throw new Error(`the link holds ${JSON.stringify(link)}, and the page shows the steps ${steps}`);
        await page.waitForTimeout(20);
      }
    };
    // Goes to a step as a user does. A press may be lost or come late where the machine is busy, so what is shown decides on the next.
    const kPatienceMs = 10000;
    const shown = async (place) => Number(/^Step (\d+) of/.exec(await told(place))[1]);
    const goTo = async (place, target, back, on) => {
      const deadline = Date.now() + kLongestMs;
      for (let at = await shown(place), was_late = false; at !== target || was_late; at = await shown(place)) {
        if (Date.now() > deadline) throw new Error(`${place} shows step ${at}, and step ${target} was asked for`);
        if (at === target) {
          was_late = false;
          await page.waitForTimeout(1000);
          continue;
        }
        const before = await told(place);
        await (at > target ? back : on)();
        await page.waitForFunction(([selector, text]) => document.querySelector(selector).textContent !== text, [`${place} .told`, before],
          { timeout: kPatienceMs }).catch(() => { was_late = true; });
      }
    };
    const replay = async () => {
      await linked();
      const end = { tables: await page.evaluate(tables, "#replayed-tables"), told: await page.textContent("#replay-steps .told") };
      await goTo("#replay-steps", await shown("#replay-steps") - Number(back), () => press('[aria-label="The replay: a step back"]'),
        () => press('[aria-label="The replay: a step on"]'));
      return { verdict: await page.textContent("#verdict"), digest: await page.textContent("#verdict code"), end,
        back: { tables: await page.evaluate(tables, "#replayed-tables"), told: await page.textContent("#replay-steps .told") } };
    };
    await page.goto(address);
    const one = { ready_ms: await ready(), errors, requests };
    found[name] = one;
    one.work = { told: await page.textContent("#work-steps .told"), tables: await page.evaluate(tables, "#tables") };
    // By the keyboard: to the beginning, and on.
    const slider = page.locator("#work-steps input[type=range]");
    await slider.focus();
    await goTo("#work-steps", 0, () => page.keyboard.press("Home"), () => page.keyboard.press("ArrowLeft"));
    await goTo("#work-steps", Number(crash), () => page.keyboard.press("ArrowLeft"), () => page.keyboard.press("ArrowRight"));
    one.crash = { told: await page.textContent("#work-steps .told"), tables: await page.evaluate(tables, "#tables"), statements: await page.locator("#statements li").count() };
    await page.locator("#records .chip").first().click();
    one.crash.bytes = await page.textContent("#bytes");
    await press("#plug");
    await status("has failed");
    one.sliced = await replay();
    one.lanes = await page.locator("#lanes-view .cell").count();
    one.arrows = await page.locator("#graph .link").count();
    if (one.arrows > 0) await page.locator("#graph .link").first().focus();
    one.why = await page.textContent("#why");
    one.look = await page.evaluate(look);
    if (screenshots) await page.screenshot({ path: path.join(screenshots, `${name}.png`), fullPage: true });
    await page.selectOption("#scheme", "clr");
    await page.waitForFunction(() => document.getElementById("graph-pane").hidden);
    one.serial = await replay();
    // The link alone brings all of it back.
    await linked();
    const link = page.url();
    await page.goto("about:blank");
    await page.goto(link);
    await ready();
    one.again = { verdict: await page.textContent("#verdict"), told: await page.textContent("#replay-steps .told"), tables: await page.evaluate(tables, "#replayed-tables"), work: await page.textContent("#work-steps .told") };
    // A script that is wrong is answered by a sentence.
    await page.locator("#setup .cm-content").focus();
    await page.keyboard.press("Control+Home");
    await page.keyboard.type("CREATE TABEL x (y INT);");
    await press("#run");
    await page.waitForFunction(() => !document.getElementById("error").hidden);
    one.error = await page.textContent("#error");
    await context.close();
  }
} finally {
  fs.rmSync(profile, { recursive: true, force: true });
}
console.log(JSON.stringify(found));
