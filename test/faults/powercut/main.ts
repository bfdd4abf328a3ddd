import { count, readOptions, text } from '../../support/options.ts';
import { createRandom } from '../../support/random.ts';
import type { Edit } from '../edits/edit.ts';
import { copySource } from '../source-copy.ts';
import { type CutResult, cutPower } from './cut.ts';
import { whyNoLoopDisks } from './loop-disk.ts';
import { UNSYNCED } from './unsynced.ts';

const values = readOptions('npm run faults -- powercut', {
	cuts: count(20, 'power cuts', { least: 1 }),
	people: count(16, 'people who answer at once', { least: 1 }),
	seed: count(1, 'of the random choices'),
	commit: text(null, 'takes the program from a commit instead of the working tree'),
});

const why = await whyNoLoopDisks();
if (why !== null) {
	console.log(`NOT SHOWN on this machine: ${why}.`);
	console.log('Nothing was tested. Run it as root on Linux, with mkfs.ext4 and loop devices.');
	process.exit(2);
}

async function cuts(edits: readonly Edit[], times: number): Promise<CutResult[]> {
	await using source = await copySource({ edits, commit: values.commit });
	const random = createRandom(values.seed);
	const results: CutResult[] = [];
	for (let cut = 0; cut < times; cut++) {
		results.push(await cutPower(source.entry, values.people, random));
		process.stderr.write(`cut ${cut + 1} of ${times}: ${JSON.stringify(results.at(-1))}\n`);
	}
	return results;
}

function summary(name: string, results: readonly CutResult[]): { line: string; lost: number } {
	const sum = (pick: (result: CutResult) => number) => results.reduce((total, result) => total + pick(result), 0);
	const lost = sum((result) => result.lost);
	const line = `${name}: ${results.length} power cuts, ${sum((result) => result.acknowledged)} acknowledged answers, ${lost} lost`;
	return { line, lost };
}

const synced = summary('as it is', await cuts([], values.cuts));
const unsynced = summary('with synchronous=OFF', await cuts(UNSYNCED, Math.max(2, Math.ceil(values.cuts / 5))));
console.log(synced.line);
console.log(unsynced.line);
if (unsynced.lost === 0) console.log('The run did NOT notice the missing syncs, so its result proves nothing.');
process.exit(synced.lost === 0 && unsynced.lost > 0 ? 0 : 1);
