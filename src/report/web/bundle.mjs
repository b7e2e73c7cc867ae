// Bundles app/ into one HTML file that needs nothing else: node bundle.mjs OUT
import {readFile, rename, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';

const out = process.argv[2];
if (!out) {
  console.error('node bundle.mjs OUT');
  process.exit(2);
}
const app = join(dirname(fileURLToPath(import.meta.url)), 'app');
const {outputFiles} = await build({
  entryPoints: [join(app, 'main.js'), join(app, 'style.css')],
  outdir: 'out',
  bundle: true,
  minify: true,
  write: false,
  format: 'iife',
  charset: 'utf8',
  target: ['es2022'],
  legalComments: 'none',
});
const textOf = (suffix) => outputFiles.find((file) => file.path.endsWith(suffix)).text;
const html = (await readFile(join(app, 'index.html'), 'utf8'))
    .replace('/* STYLE */', () => textOf('.css'))
    .replace('/* SCRIPT */', () => textOf('.js'));
await writeFile(out + '.new', html);
await rename(out + '.new', out);
