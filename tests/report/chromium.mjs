// The Chromium of this machine, and playwright-core's way to drive it.
import {existsSync} from 'node:fs';
import {createRequire} from 'node:module';

const require = createRequire(new URL('../../src/report/web/package.json', import.meta.url));

// Undefined where there is none.
export const chromium = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

export const launch = () => require('playwright-core').chromium.launch({executablePath: chromium, args: ['--no-sandbox', '--disable-gpu'], timeout: 120_000});
