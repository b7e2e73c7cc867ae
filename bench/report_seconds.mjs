// How long until a report can be used, in headless Chromium; on one core:
//
//   taskset -c 0 node bench/report_seconds.mjs REPORT.html [RUNS]
//
// A fresh page a run, by the page's own clock from its start to two frames after all is drawn; the middle
// run, the fastest and the slowest. The first run, which also starts Chromium's processes, is told apart.
import {existsSync, statSync} from 'node:fs';
import {resolve} from 'node:path';
import {chromium, launch} from '../tests/report/chromium.mjs';

const [file, runs = '7'] = process.argv.slice(2);
if (!file || !existsSync(file) || !chromium) {
  console.error(chromium ? 'report_seconds: which report? node bench/report_seconds.mjs REPORT.html' : 'report_seconds: there is no Chromium here');
  process.exit(2);
}
const browser = await launch();
const seconds = [];
for (let run = 0; run <= Number(runs); ++run) {
  const page = await browser.newPage({viewport: {width: 1400, height: 900}});
  page.setDefaultTimeout(120_000);
  await page.goto(`file://${resolve(file)}`);
  await page.waitForSelector('html[data-ready]');
  seconds.push(Number(await page.getAttribute('html', 'data-ready')) / 1000);
  await page.close();
}
await browser.close();
const [first, ...rest] = seconds;
rest.sort((a, b) => a - b);
console.log(`${(statSync(file).size / 1024).toFixed(0)} KB; ready after ${rest[rest.length >> 1].toFixed(2)} s (${rest[0].toFixed(2)} to ${rest.at(-1).toFixed(2)} over ${rest.length} runs; the first ${first.toFixed(2)})`);
