import { parseArgs } from 'node:util';
import { copySource, type Replacement } from '../../test/faults/source-copy.ts';
import { UNSYNCED } from '../../test/faults/unsynced.ts';
import { createRandom } from '../../test/support/random.ts';
import { type CutResult, cutPower } from './cut.ts';
import { whyNoLoopDisks } from './loop-disk.ts';

const { values } = parseArgs({
	options: {
		cuts: { type: 'string', default: '20' },
		people: { type: 'string', default: '16' },
		seed: { type: 'string', default: '1' },
		commit: { type: 'string' },
	},
});

const why = await whyNoLoopDisks();
if (why !== null) {
	console.log(`NOT SHOWN on this machine: ${why}.`);
	console.log('Nothing was tested. Run it as root on Linux, with mkfs.ext4 and loop devices.');
	process.exit(2);
}

async function cuts(replacements: readonly Replacement[], count: number): Promise<CutResult[]> {
	await using source = await copySource({ replacements, commit: values.commit });
	const random = createRandom(Number(values.seed));
	const results: CutResult[] = [];
	for (let cut = 0; cut < count; cut++) {
		results.push(await cutPower(source.entry, Number(values.people), random));
		process.stderr.write(`cut ${cut + 1} of ${count}: ${JSON.stringify(results.at(-1))}\n`);
	}
	return results;
}

function summary(name: string, results: readonly CutResult[]): { line: string; lost: number } {
	const sum = (pick: (result: CutResult) => number) => results.reduce((total, result) => total + pick(result), 0);
	const lost = sum((result) => result.lost);
	const line = `${name}: ${results.length} power cuts, ${sum((result) => result.acknowledged)} acknowledged answers, ${lost} lost`;
	return { line, lost };
}

const synced = summary('as it is', await cuts([], Number(values.cuts)));
const unsynced = summary('with synchronous=OFF', await cuts(UNSYNCED, Math.max(2, Math.ceil(Number(values.cuts) / 5))));
console.log(synced.line);
console.log(unsynced.line);
if (unsynced.lost === 0) console.log('The run did NOT notice the missing syncs, so its result proves nothing.');
process.exit(synced.lost === 0 && unsynced.lost > 0 ? 0 : 1);
