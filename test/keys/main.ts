import { parseArgs } from 'node:util';
import { copySource } from '../faults/source-copy.ts';
import { createPostgresUnderTest, createSqliteUnderTest, type StoreKind } from '../faults/stores.ts';
import { startPostgres } from '../support/postgres.ts';
import { createRandom } from '../support/random.ts';
import { report } from './report.ts';
import { type KeyRunResult, runKeys } from './run.ts';
import { SABOTAGES } from './sabotage.ts';

const USAGE = `npm run test:keys -- [options]
  --kills 20      kills while values are encrypted with the new key; 0 measures without any
  --values 10000  answers in the database, and as many drafts
  --store both    sqlite, postgres or both
  --seed 1
  --sabotage X    breaks the program first, and fails when nobody notices: ${Object.keys(SABOTAGES).join(', ')}`;

const { values } = parseArgs({
	options: {
		kills: { type: 'string', default: '20' },
		values: { type: 'string', default: '10000' },
		store: { type: 'string', default: 'both' },
		seed: { type: 'string', default: '1' },
		sabotage: { type: 'string' },
	},
});
const [kills, count, seed] = [values.kills, values.values, values.seed].map(Number) as [number, number, number];
const kinds = (['sqlite', 'postgres'] as const).filter((kind) => values.store === 'both' || values.store === kind);
const { sabotage } = values;
if (kinds.length === 0 || [kills, count, seed].some((one) => !Number.isInteger(one))) usage();
if (sabotage !== undefined && !Object.hasOwn(SABOTAGES, sabotage)) usage();

function usage(): never {
	console.error(USAGE);
	process.exit(2);
}

async function run(kind: StoreKind): Promise<KeyRunResult> {
	const replacements = sabotage === undefined ? [] : SABOTAGES[sabotage as keyof typeof SABOTAGES];
	await using source = await copySource({ replacements });
	const postgres = kind === 'postgres' ? await startPostgres({ durable: true }) : null;
	try {
		await using store =
			postgres === null
				? await createSqliteUnderTest()
				: await createPostgresUnderTest(await postgres.createDatabase());
		return await runKeys({
			store,
			entry: source.entry,
			values: count,
			kills,
			random: createRandom(seed),
			onProgress: (line) => void process.stderr.write(`${kind}: ${line}\n`),
		});
	} finally {
		await postgres?.close();
	}
}

let isClean = true;
for (const kind of kinds) {
	const result = await run(kind);
	isClean &&= result.problems.length === 0;
	console.log(report(kind, result).join('\n'));
}
if (sabotage !== undefined) console.log(isClean ? 'The sabotage went UNNOTICED.' : 'The run noticed the sabotage.');
process.exit(isClean === (sabotage === undefined) ? 0 : 1);
