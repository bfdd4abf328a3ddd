import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { checkManifest } from './check-manifest.ts';

// node tools/manifest/check.ts [file]: one line on success, else one for each problem and exit code 1.
const file = process.argv[2] ?? fileURLToPath(new URL('../../manifest.yml', import.meta.url));
const problems = checkManifest(readFileSync(file, 'utf8'));
for (const problem of problems) console.error(`${file}: ${problem}`);
if (problems.length === 0) console.log(`${file}: a manifest that Slack accepts, with known scopes and events`);
process.exitCode = problems.length === 0 ? 0 : 1;
