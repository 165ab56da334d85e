// Opens a report in headless Chromium, light, dark and as narrow as a phone, and checks what a
// reader would miss: charts, tables, pictures, a quiet console, no request, no sideways scrolling.
//
//   node tests/browser/report.mjs PAGE.html SCREENSHOT_DIR CHARTS PICTURES
//
// CHARTS and PICTURES are how many there must be at least.
//
// playwright-core is looked up from the working directory; CHROMIUM names the browser.

import { strict as assert } from "node:assert";
import { createRequire } from "node:module";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(path.join(process.cwd(), "package.json"));
const { chromium } = require("playwright-core");

const [page, folder] = process.argv.slice(2, 4).map((name) => path.resolve(name));
const [leastCharts, leastImages] = process.argv.slice(4).map(Number);
const address = pathToFileURL(page).href;
mkdirSync(folder, { recursive: true });

const views = [
  { name: "light", colorScheme: "light", viewport: { width: 1280, height: 900 } },
  { name: "dark", colorScheme: "dark", viewport: { width: 1280, height: 900 } },
  { name: "phone", colorScheme: "light", viewport: { width: 390, height: 844 } },
  { name: "phone-dark", colorScheme: "dark", viewport: { width: 390, height: 844 } },
];

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
  ],
});
try {
  for (const view of views) {
    await check(view);
    console.log(`ok  ${view.name}`);
  }
} finally {
  await browser.close();
}

async function check({ name, ...options }) {
  const context = await browser.newContext({ ...options, deviceScaleFactor: 2 });
  const tab = await context.newPage();
  const complaints = [];
  const requests = [];
  tab.on("console", (message) => complaints.push(message.text()));
  tab.on("pageerror", (error) => complaints.push(String(error)));
  tab.on("request", (request) => requests.push(request.url()));
  await tab.goto(address, { waitUntil: "load" });

  const seen = await tab.evaluate(() => {
    const visible = (element) => {
      const box = element.getBoundingClientRect();
      return box.width > 100 && box.height > 100;
    };
    const charts = [...document.querySelectorAll('svg[role="img"]')];
    const images = [...document.images];
    const label = (svg) => (svg.getAttribute("aria-labelledby") ?? "").split(" ")
      .map((id) => document.getElementById(id)?.textContent ?? "").join(" ").trim();
    return {
      charts: charts.length,
      hiddenCharts: charts.filter((svg) => !visible(svg)).length,
      unnamedCharts: charts.filter((svg) => label(svg).length < 20).length,
      chartsWithoutTable: charts.filter(
        (svg) => !svg.closest("figure")?.querySelector("details table td")).length,
      images: images.length,
      brokenImages: images.filter((image) => !image.complete || !image.naturalWidth).length,
      imagesWithoutText: images.filter((image) => !image.alt).length,
      headings: [...document.querySelectorAll("h1,h2,h3")].map((h) => Number(h.tagName[1])),
      paper: getComputedStyle(document.body).backgroundColor,
      smallestLetter: Math.min(...[...document.querySelectorAll("svg text")].map(
        (text) => text.getBoundingClientRect().height)),
    };
  });
  assert.ok(seen.charts >= leastCharts, `only ${seen.charts} charts`);
  assert.equal(seen.hiddenCharts, 0, "a chart has no size");
  assert.equal(seen.unnamedCharts, 0, "a chart has no text");
  assert.equal(seen.chartsWithoutTable, 0, "a chart has no table");
  assert.ok(seen.images >= leastImages, `only ${seen.images} pictures`);
  assert.equal(seen.brokenImages, 0, "a picture does not load");
  assert.equal(seen.imagesWithoutText, 0, "a picture has no text");
  assert.equal(seen.headings.filter((level) => level === 1).length, 1, "one h1");
  assert.ok(seen.headings.every((level, t) => t === 0 || level <= seen.headings[t - 1] + 1));
  const red = Number(seen.paper.match(/\d+/)[0]);
  assert.equal(red < 100, options.colorScheme === "dark", `paper is ${seen.paper}`);
  assert.ok(seen.smallestLetter >= 9, `letters of ${seen.smallestLetter} px`);

  await tab.screenshot({ path: path.join(folder, `${name}.png`), fullPage: true });
  // with every table unfolded nothing may push the page sideways either
  const overflow = await tab.evaluate(() => {
    document.querySelectorAll("details").forEach((fold) => (fold.open = true));
    return document.documentElement.scrollWidth - document.documentElement.clientWidth;
  });
  assert.ok(overflow <= 0, `the page is ${overflow} px too wide`);
  await tab.screenshot({ path: path.join(folder, `${name}-unfolded.png`), fullPage: true });

  assert.deepEqual(complaints, []);
  const outside = requests.filter((url) => url !== address && !url.startsWith("data:"));
  assert.deepEqual(outside, [], "the page asks for more than itself");
  await context.close();
}
