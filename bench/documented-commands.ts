import { spawnSync } from 'node:child_process';
import { COMMANDS } from '../test/support/documented-commands.ts';

/* `npm run test:commands [WORDS]`: runs the short form of every documented command that no test runs. */

const [words = ''] = process.argv.slice(2);
const failed: string[] = [];
for (const short of COMMANDS.flatMap((command) => command.short ?? []).filter((one) => one.includes(words))) {
	const started = performance.now();
	const { status, stdout, stderr } = spawnSync('bash', ['-c', `export TMPDIR="$(mktemp -d)"; ${short}`], {
		encoding: 'utf8',
	});
	console.log(`${status === 0 ? 'ok    ' : 'FAILED'} ${((performance.now() - started) / 1000).toFixed(0)} s  ${short}`);
	if (status === 0) continue;
	failed.push(short);
	console.log(`${stdout}${stderr}`.split('\n').slice(-20).join('\n'));
}
if (failed.length > 0) process.exitCode = 1;
