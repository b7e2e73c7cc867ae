// Bundles app/ into one HTML file that needs nothing else: node bundle.mjs OUT
import {readdir, readFile, rename, writeFile} from 'node:fs/promises';
import {basename, dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';

const out = process.argv[2];
if (!out) {
  console.error('node bundle.mjs OUT');
  process.exit(2);
}
const app = join(dirname(fileURLToPath(import.meta.url)), 'app');
// The module 'sections': each file of app/sections/ by its name, which is the kind of section that it draws.
const sections = {
  name: 'sections',
  setup(bundle) {
    const folder = join(app, 'sections');
    bundle.onResolve({filter: /^sections$/}, () => ({path: folder, namespace: 'sections'}));
    bundle.onLoad({filter: /.*/, namespace: 'sections'}, async () => ({
      resolveDir: folder,
      contents: (await readdir(folder)).sort()
          .map((file) => `export * as ${basename(file, '.js')} from './${file}';`).join('\n'),
    }));
  },
};
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
  plugins: [sections],
});
const textOf = (suffix) => outputFiles.find((file) => file.path.endsWith(suffix)).text;
const html = (await readFile(join(app, 'index.html'), 'utf8'))
    .replace('/* STYLE */', () => textOf('.css'))
    .replace('/* SCRIPT */', () => textOf('.js'));
await writeFile(out + '.new', html);
await rename(out + '.new', out);
