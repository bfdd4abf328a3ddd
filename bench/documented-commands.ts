import { spawnSync } from 'node:child_process';
import { COMMANDS } from '../test/support/documented-commands.ts';

/* `npm run bench -- commands [WORDS]`: runs the short form of every documented command that no test runs. */

const [words = ''] = process.argv.slice(3);
if (words === '--help') {
	console.log('npm run bench -- commands [WORDS]\n  WORDS  only the commands that contain them');
	process.exit();
}
const shorts = COMMANDS.flatMap((command) => command.short ?? []).filter((short) => short.includes(words));
if (shorts.length === 0) {
	console.error(`No documented command contains "${words}".`);
	process.exitCode = 2;
}
for (const short of shorts) {
	const startedAt = performance.now();
	const script = `export TMPDIR="$(mktemp -d)"; trap 'rm -rf "$TMPDIR"' EXIT; ${short}`;
	const { status, stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
	const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
	console.log(`${status === 0 ? 'ok    ' : 'FAILED'} ${seconds} s  ${short}`);
	if (status === 0) continue;
	process.exitCode = 1;
	console.log(`${stdout}${stderr}`.split('\n').slice(-20).join('\n'));
}
