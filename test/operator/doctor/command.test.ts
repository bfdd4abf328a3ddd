import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { chown, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COMPILE_CACHE } from '../../../sandbox/compile-cache.ts';
import { expect, it, startApp } from '../../kit.ts';
import { open } from '../../store/support.ts';
import { AS_PLAIN_ROOT, NOBODY, WITH_NOBODY } from '../../support/other-user.ts';
import { createHarness, DOCTOR } from './harness.ts';

// The command as a process. What it examines is tested in this process, in the other files.

it('reads the file .env, exits with 0 and prints no secret', async () => {
	await using harness = await createHarness();
	const { scripts } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
	const [, line] = scripts.doctor.split(' && ');
	const [node, ...options] = line.split(' ');
	expect([node, options.pop()]).toEqual(['node', 'src/doctor.ts']);
	// Not in DATA_DIR, which the doctor must not change.
	const cwd = await mkdtemp(join(tmpdir(), 'handraise-env-'));
	const key = 'canary-key-in-the-file';
	writeFileSync(join(cwd, '.env'), `RETENTION_DAYS=400\nENCRYPTION_KEY=${key}\n`);
	const { exit, lines } = await harness.doctorProcess({}, { cwd, options });
	expect(lines).toContainEqual(expect.stringMatching(/^✓ Encryption key: ENCRYPTION_KEY is well-formed/));
	expect(lines.join('\n')).not.toContain(key);
	expect(exit).toBe(0);
});

const USAGE = /^Usage: npm run doctor/;

it('exits with 3 when `may` finds that something is not allowed, and with 2 and the usage for a wrong word', async () => {
	await using harness = await createHarness();
	const { exit, lines } = await harness.doctorProcess({}, { args: ['may', 'U0GUS', 'agents'] });
	expect([exit, lines.at(-1)]).toEqual([3, '8 actions not allowed.']);
	const wrong = await harness.doctorProcess({}, { args: ['veiws'] });
	expect([wrong.exit, wrong.lines[0]]).toEqual([2, expect.stringMatching(USAGE)]);
});

it('prints the usage for wrong arguments, and asks nothing', async () => {
	await using harness = await createHarness();
	for (const args of [
		'--views',
		'views views',
		'live',
		'live #agents #general',
		'may',
		'may U0ADA',
		'may ada agents',
		'may U0ADA agents general',
		'may u0ada agents',
	]) {
		const { exit, lines } = await harness.doctor({}, args.split(' '));
		expect([exit, lines[0]], args).toEqual([2, expect.stringMatching(USAGE)]);
	}
	expect(harness.slack.traffic.calls()).toEqual([]);
});

it.each(['SIGINT', 'SIGHUP'] as const)('deletes with live what it made after %s', async (interrupt) => {
	await using harness = await createHarness();
	const env = { PATH: process.env.PATH ?? '', ...COMPILE_CACHE, ...harness.env };
	const doctor = spawn(process.execPath, [DOCTOR, 'live', '#agents'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
	const ended = once(doctor, 'exit');
	let output = '';
	doctor.stdout.on('data', (data: Buffer) => {
		const wasTold = output.includes('Now you');
		output += String(data);
		if (!wasTold && output.includes('Now you')) doctor.kill(interrupt);
	});
	expect(await ended).toEqual([1, null]);
	expect(output).toMatch(/works on a reply .*: not tried \(interrupted\)\.\n(.*\n)*✓ Clean-up: /);
	expect(harness.slack.state.messages).toEqual([]);
});

it('ends with its exit code when nobody reads its output', async () => {
	const doctor = spawn(process.execPath, [DOCTOR], { env: COMPILE_CACHE, stdio: ['ignore', 'pipe', 'ignore'] });
	doctor.stdout.destroy();
	expect(await once(doctor, 'exit')).toEqual([1, null]);
});

it('recognises the running Handraise by its database and disturbs neither, nor does it with live', async () => {
	await using app = await startApp();
	await using harness = await createHarness();
	const { exit, lines } = await harness.doctorProcess({ DATA_DIR: app.dataDir });
	expect(lines).toContainEqual(
		expect.stringMatching(/^✓ Database: SQLite in use by the running Handraise, which is fine, at schema \d+\.$/),
	);
	expect(lines).toContainEqual(expect.stringMatching(/^✓ Encryption key: .* is that of the database\.$/));
	expect(exit).toBe(0);
	await app.slack.as('ada').command('agents', '/session help');

	const live = await harness.doctorProcess({ DATA_DIR: app.dataDir }, { args: ['live', '#agents'] });
	expect(live).toEqual({
		exit: 1,
		lines: [
			expect.stringMatching(/^✗ Live check: stop Handraise first, .* Its database is in use\.$/),
			'1 problem to fix.',
		],
	});
	expect(harness.slack.traffic.calls('chat.postMessage')).toEqual([]);
});

it('says that another user owns the data', WITH_NOBODY, async () => {
	await using harness = await createHarness();
	await (await open({ dataDir: harness.dataDir })).close();
	await chown(harness.dataDir, NOBODY, NOBODY);
	await chown(join(harness.dataDir, 'handraise.db'), NOBODY, NOBODY);
	const { exit, lines } = await harness.doctorProcess({}, { by: AS_PLAIN_ROOT });
	expect(lines).toContain(
		`✗ DATA_DIR: ${harness.dataDir} cannot be written by this user: change its owner (chown), or set DATA_DIR to another directory.`,
	);
	expect(lines).toContain(
		'✗ Database: DATA_DIR/handraise.db cannot be used: this user may not read it. Change its owner (chown).',
	);
	expect(exit).toBe(1);
});
