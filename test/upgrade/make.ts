import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { copySource } from '../faults/source-copy.ts';
import type { Program } from '../support/app.ts';
import { startPostgres } from '../support/postgres.ts';
import { dumpRows, FIXTURES, STORES, startFrom, writeFixture } from './fixture.ts';
import { tellStory } from './story.ts';

/*
 * `npm exec -- node test/upgrade/make.ts [DIRECTORY]`: makes the fixtures with the program of 1.0.0, which it takes from
 * git. Ids and ciphertexts are new each time, so nearly all lines change. Never edit them by hand.
 */

/** The commit of 1.0.0. */
const RELEASE = '2c0b250';

async function make(directory: string): Promise<void> {
	await using copy = await copySource({ commit: RELEASE });
	const load = (file: string) => import(join(dirname(copy.entry), file));
	const { createHandraise } = await load('app.ts');
	const { parseConfig } = await load('config.ts');
	const { createLog } = await load('core/log.ts');
	const { applyProxy } = await load('core/proxy.ts');
	const { COLUMNS } = await load('database/tables.ts');
	const program: Program = { createHandraise, parseConfig, createLog, applyProxy };
	const postgres = await startPostgres();
	for (const store of STORES) {
		const databaseUrl = store === 'postgres' ? await postgres.createDatabase() : undefined;
		await using app = await startFrom(null, { databaseUrl, program });
		await tellStory(app);
		let isStopped = false;
		const stopping = app.stop().then(() => {
			isStopped = true;
		});
		await app.until(() => isStopped);
		await stopping;
		await writeFixture(join(directory, `${store}.jsonl`), {
			stoppedAt: Math.ceil(app.clock.now()),
			slack: app.slack.snapshot(),
			sessions: app.service.sessions.snapshot(),
			rows: await dumpRows(databaseUrl ?? app.dataDir, COLUMNS),
		});
	}
	await postgres.close();
}

try {
	execFileSync('git', ['cat-file', '-e', `${RELEASE}^{commit}`], { cwd: import.meta.dirname, stdio: 'ignore' });
} catch {
	throw new Error(`This clone lacks ${RELEASE}, the commit of 1.0.0. Fetch the whole history: git fetch --unshallow.`);
}
await make(process.argv[2] ?? FIXTURES);
