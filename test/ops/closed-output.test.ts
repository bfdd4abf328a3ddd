import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { COMPILE_CACHE } from '../../sandbox/compile-cache.ts';

it('ends on SIGTERM when nobody reads its output any more', async () => {
	const dataDir = await mkdtemp(join(tmpdir(), 'handraise-test-'));
	const program = spawn(process.execPath, [fileURLToPath(new URL('../../src/main.ts', import.meta.url))], {
		stdio: ['ignore', 'pipe', 'ignore'],
		env: {
			...COMPILE_CACHE,
			SLACK_BOT_TOKEN: 'xoxb-test',
			SLACK_SIGNING_SECRET: 'secret',
			// No server listens there: the program retries until it is stopped.
			SLACK_API_URL: 'http://127.0.0.1:9/api/',
			SESSION_SERVICE_URL: 'http://127.0.0.1:9',
			SESSION_SERVICE_API_KEY: 'key',
			DATA_DIR: dataDir,
			PORT: '0',
		},
	});
	try {
		let output = '';
		for await (const chunk of program.stdout.iterator({ destroyOnReturn: true })) {
			output += chunk;
			if (output.includes('Slack cannot be reached yet')) break;
		}
		const ended = once(program, 'exit');
		program.kill('SIGTERM');
		expect(await ended).toEqual([0, null]);
	} finally {
		program.kill('SIGKILL');
		await rm(dataDir, { recursive: true, force: true });
	}
});
