import { parseArgs } from 'node:util';
import { type OwnPostgres, startPostgres } from '../../support/postgres.ts';
import { createRandom } from './random.ts';
import { isClean, reportOf } from './report.ts';
import { runFaults } from './run.ts';
import { SABOTAGES, type Sabotage } from './sabotage.ts';
import { copySource } from './source-copy.ts';
import { createPostgresUnderTest, createSqliteUnderTest, type StoreKind } from './stores.ts';
import { createWorld } from './world.ts';

const USAGE = `npm run test:faults -- [--rounds 1000] [--store sqlite|postgres|both] [--seed 1] [--batch 16] [--sabotage ack-first|blind-repeat] [--commit HEAD]`;

const { values } = parseArgs({
	options: {
		rounds: { type: 'string', default: '1000' },
		store: { type: 'string', default: 'both' },
		seed: { type: 'string', default: '1' },
		batch: { type: 'string', default: '16' },
		sabotage: { type: 'string' },
		commit: { type: 'string' },
	},
});

async function run(kind: StoreKind, sabotage: Sabotage | null): Promise<boolean> {
	await using source = await copySource({
		replacements: sabotage === null ? [] : SABOTAGES[sabotage],
		commit: values.commit,
	});
	let postgres: OwnPostgres | null = null;
	try {
		if (kind === 'postgres') postgres = await startPostgres();
		await using store =
			postgres === null
				? await createSqliteUnderTest()
				: await createPostgresUnderTest(await postgres.createDatabase());
		const batch = Number(values.batch);
		await using world = await createWorld({
			store,
			entry: source.entry,
			replicas: kind === 'sqlite' ? 1 : 2,
			people: batch,
			callTimeoutMs: 600,
			env: { LOG_LEVEL: 'info' },
		});
		const result = await runFaults({
			world,
			rounds: Number(values.rounds),
			batch,
			random: createRandom(Number(values.seed)),
			...(postgres === null ? {} : { outage: postgres }),
			onProgress: (line) => process.stderr.write(`${kind}: ${line}\n`),
		});
		const name = kind === 'sqlite' ? 'SQLite, one process' : 'PostgreSQL, two replicas';
		console.log(reportOf(sabotage === null ? name : `${name}, sabotaged: ${sabotage}`, result).join('\n'));
		return isClean(result);
	} finally {
		await postgres?.close();
	}
}

const kinds: readonly StoreKind[] =
	values.store === 'both' ? ['sqlite', 'postgres'] : values.store === 'sqlite' ? ['sqlite'] : ['postgres'];
const sabotage = values.sabotage ?? null;
if (!['sqlite', 'postgres', 'both'].includes(values.store) || (sabotage !== null && !(sabotage in SABOTAGES))) {
	console.error(USAGE);
	process.exit(2);
}
let clean = true;
for (const kind of kinds) clean = (await run(kind, sabotage as Sabotage | null)) && clean;
if (sabotage !== null) console.log(clean ? '\nThe sabotage went UNNOTICED.' : '\nThe run noticed the sabotage.');
process.exit(clean === (sabotage === null) ? 0 : 1);
