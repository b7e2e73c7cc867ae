// Reports in headless Chromium: node --test browser_test.mjs, told where things are by
//   HONE_REPORT_TEMPLATE  the bundled app
//   HONE_REPORTS          a folder of reports that hone wrote (may be missing)
// Skipped where there is no Chromium or no bundle.
import assert from 'node:assert/strict';
import {existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {chromium, launch} from './chromium.mjs';
import {everything, report} from './synthetic.mjs';

const template = process.env.HONE_REPORT_TEMPLATE;
const skip = !chromium ? 'skipped: there is no Chromium here' : !template || !existsSync(template) || statSync(template).size === 0 ? 'skipped: there is no bundle' : false;
if (skip) console.log(skip);
const options = {skip, timeout: 240_000};

let browser;
let folder;
before(async () => {
  if (skip) return;
  folder = mkdtempSync(join(tmpdir(), 'hone-report-'));
  browser = await launch();
});
after(async () => {
  await browser?.close();
  if (folder) rmSync(folder, {recursive: true});
});

function write(document_) {
  const path = join(folder, `${document_.title}-${document_.sections.length}.html`);
  writeFileSync(path, readFileSync(template, 'utf8').replace('HONE-REPORT-TITLE', document_.title).replace('HONE-REPORT-DATA', () => JSON.stringify(document_).replaceAll('</', '<\\/')));
  return path;
}

async function open(path, {width = 1400, colorScheme = 'light'} = {}) {
  const page = await browser.newPage({viewport: {width, height: 900}, colorScheme});
  page.setDefaultTimeout(120_000);
  page.problems = [];
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && page.problems.push(message.text()));
  page.on('pageerror', (error) => page.problems.push(String(error)));
  page.on('request', (request) => request.url().startsWith('file:') || request.url().startsWith('data:') || request.url().startsWith('blob:') || page.problems.push(`asks for ${request.url()}`));
  await page.goto(`file://${path}`);
  await page.waitForSelector('html[data-ready]');
  return page;
}

// Texts that lie on one another, and sections that do. What scrolls within itself is left out.
const overlaps = () => {
  const found = [];
  const clash = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
  const sections = [...document.querySelectorAll('header, section, footer')].map((e) => ({name: e.id || e.tagName, ...e.getBoundingClientRect().toJSON()}));
  sections.forEach((a, i) => sections.slice(i + 1).forEach((b) => clash(a, b) && found.push(`${a.name} and ${b.name}`)));
  const texts = [];
  const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement;
    if (walker.currentNode.data.trim() === '' || parent.closest('.scroll, .inspector, .graph-holder, .diff, [aria-label=tip], [hidden], noscript, details:not([open]) > :not(summary)')) continue;
    const range = document.createRange();
    range.selectNodeContents(walker.currentNode);
    for (const rect of range.getClientRects()) if (rect.width > 1 && rect.height > 1) texts.push({text: walker.currentNode.data.trim().slice(0, 40), ...rect.toJSON()});
  }
  texts.sort((a, b) => a.top - b.top);
  texts.forEach((a, i) => {
    for (let j = i + 1; j < texts.length && texts[j].top < a.bottom; ++j) if (clash(a, texts[j])) found.push(`"${a.text}" and "${texts[j].text}"`);
  });
  return found;
};

// How many colours a picture has, and which share of it is not the background.
async function look(page, png) {
  return page.evaluate(async (url) => {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, Math.min(image.height, 4000));
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const {data} = context.getImageData(0, 0, canvas.width, canvas.height);
    const counts = new Map();
    for (let i = 0; i < data.length; i += 4) {
      const colour = data[i] << 16 | data[i + 1] << 8 | data[i + 2];
      counts.set(colour, (counts.get(colour) ?? 0) + 1);
    }
    const [background, most] = [...counts].sort((a, b) => b[1] - a[1])[0];
    return {colours: counts.size, drawn: 1 - 4 * most / data.length, light: ((background >> 16) + (background >> 8 & 255) + (background & 255)) / 765};
  }, `data:image/png;base64,${png.toString('base64')}`);
}

async function holdsUp(path, what) {
  for (const [width, colorScheme] of [[1400, 'light'], [480, 'dark']]) {
    const page = await open(path, {width, colorScheme});
    assert.deepEqual(page.problems, [], `${what} at ${width}`);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${what} is wider than ${width}`);
    assert.deepEqual(await page.evaluate(overlaps), [], `${what} at ${width}: what lies on what`);
    const seen = await look(page, await page.screenshot({fullPage: true}));
    assert.ok(seen.colours > 40 && seen.drawn > 0.01, `${what} at ${width} is empty: ${JSON.stringify(seen)}`);
    assert.ok(colorScheme === 'light' ? seen.light > 0.9 : seen.light < 0.2, `${what} is not ${colorScheme}`);
    await page.close();
  }
}

test('every kind of section holds up, wide and narrow, light and dark', options, async () => {
  await holdsUp(write(everything(600)), 'the synthetic report');
});

test('a curve that ends at a level, or close to it', options, async () => {
  for (const value of [1, 1.0004, 1.2]) {
    await holdsUp(write(report([{kind: 'curve', note: '', value_name: 'speed-up', evaluations_name: 'plans evaluated', lower_is_better: false,
      start: 1, points: [[4, 3, 1.1 * value], [9, 5, value]], evaluated: 9, seconds: 6, levels: [{label: 'stock compiler', value: 1}]}])), `a curve to ${value}`);
  }
});

test('what lies on something else would be found', options, async () => {
  const page = await open(write(everything(100)));
  await page.evaluate(() => {
    document.querySelector('#passes').style.marginTop = '-90px';
  });
  const found = await page.evaluate(overlaps);
  assert.ok(found.includes('curve and passes'), found.join('; '));
  assert.ok(found.some((one) => one.startsWith('"')), found.join('; '));
  await page.close();
});

test('what hone writes holds up', options, async (t) => {
  const reports = process.env.HONE_REPORTS && existsSync(process.env.HONE_REPORTS) ? readdirSync(process.env.HONE_REPORTS).filter((name) => name.endsWith('.html')) : [];
  if (reports.length === 0) return t.skip('there are no reports of hone');
  for (const name of reports) await holdsUp(join(process.env.HONE_REPORTS, name), name);
});

test('10,000 instructions: drawn, searched, walked and opened by keys alone', options, async () => {
  const {sections} = everything(10_000);
  const page = await open(write({...report([sections[3]]), title: 'large'}));
  assert.deepEqual(page.problems, []);
  const canvas = await look(page, await (await page.$('canvas.graph')).screenshot());
  assert.ok(canvas.colours > 3 && canvas.drawn > 0.02, JSON.stringify(canvas));
  await page.keyboard.press('/');
  assert.equal(await page.evaluate(() => document.activeElement.type), 'search');
  await page.keyboard.type('multiply.5');
  await page.keyboard.press('Enter');
  const first = await page.textContent('.inspector h3');
  assert.match(first, /multiply\.5/);
  assert.match(await page.textContent('.hits'), /^1 of \d/);
  await page.keyboard.press('Enter');
  assert.notEqual(await page.textContent('.inspector h3'), first);
  await page.keyboard.press('Escape');
  assert.equal(await page.evaluate(() => document.activeElement.className), 'graph');
  const selected = await page.textContent('.inspector h3');
  await page.keyboard.press('ArrowUp');
  assert.notEqual(await page.textContent('.inspector h3'), selected);
  assert.deepEqual(page.problems, []);
  await page.close();
});

test('Tab reaches the controls, and they can be seen to have the focus', options, async () => {
  const page = await open(write(everything(200)));
  const reached = [];
  for (let i = 0; i < 40; ++i) {
    await page.keyboard.press('Tab');
    reached.push(await page.evaluate(() => {
      const {tagName, type, className} = document.activeElement;
      return [tagName, type ?? '', className, getComputedStyle(document.activeElement).outlineStyle].join(' ');
    }));
  }
  assert.ok(reached.some((one) => one.startsWith('A ')) && reached.some((one) => one.includes('search')) && reached.some((one) => one.startsWith('CANVAS')), reached.join('; '));
  assert.ok(reached.every((one) => one.startsWith('BODY') || !one.endsWith('none')), reached.join('; '));
  await page.close();
});

test('the theme is switched by hand, and paper is white', options, async () => {
  const page = await open(write(everything(200)), {colorScheme: 'dark'});
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await background();
  await page.click('button.theme');
  assert.notEqual(await background(), dark);
  await page.click('button.theme');
  assert.equal(await background(), dark);
  await page.emulateMedia({media: 'print'});
  assert.equal(await background(), 'rgb(255, 255, 255)');
  assert.equal(await page.isVisible('.top'), false);
  assert.equal(await page.isVisible('.tools'), false);
  assert.ok((await page.pdf({format: 'A4'})).length > 20_000);
  await page.close();
});

test('names are text, whatever they are', options, async () => {
  const nasty = everything(100);
  nasty.title = 'nasty';
  nasty.headline.verdict = '<img src=x onerror="document.title=1">';
  nasty.sections[3].views[1].graph.names[0] = '</script><b>bold</b>';
  const page = await open(write(nasty));
  assert.deepEqual(page.problems, []);
  assert.equal(await page.$('header img'), null);
  assert.match(await page.title(), /^nasty/);
  await page.close();
});

test('a damaged document says so', options, async () => {
  const path = join(folder, 'damaged.html');
  writeFileSync(path, readFileSync(template, 'utf8').replace('HONE-REPORT-DATA', 'eJw_not_base64'));
  const page = await browser.newPage();
  await page.goto(`file://${path}`);
  await page.waitForSelector('h1');
  assert.match(await page.textContent('h1'), /damaged/);
  await page.close();
});
