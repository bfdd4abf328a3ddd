import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runTests } from './run-tests.ts';
import type { Sabotage } from './sabotage.ts';
import { SABOTAGES } from './table/index.ts';
import { copyTree, sabotaged, type TreeCopy } from './tree-copy.ts';

/**
 * Takes away one behaviour of the fake after the other, in a copy of the tree, and runs the tests that are for it: one
 * that stays green is a survivor, a behaviour nobody would miss. Ends with 1 when there is one.
 *
 * `--only WORDS`, as often as wished: those with the words in their name.
 */
const { values } = parseArgs({ options: { only: { type: 'string', multiple: true, default: [''] } } });
const chosen = SABOTAGES.filter(({ name }) => values.only.some((words) => name.includes(words)));

/** The words of a survivor, or null when every test file failed as it should. */
async function survival(copy: TreeCopy, sabotage: Sabotage): Promise<string | null> {
	for (const file of sabotage.tests) {
		const run = await runTests(copy.root, join(copy.fake, file));
		if (run.kind === 'passed') return `${file} passes`;
		if (run.kind === 'broken') return `${file} does not even run: ${run.reason}`;
		console.log(`  ${file}: ${run.test}`);
	}
	return null;
}

// All places are looked up before the first run: a table that has aged says so at once.
for (const sabotage of chosen) sabotaged(sabotage);
using copy = copyTree();
for (const file of new Set(chosen.flatMap(({ tests }) => tests))) {
	const run = await runTests(copy.root, join(copy.fake, file));
	if (run.kind !== 'passed') throw new Error(`${file} fails without any sabotage: ${JSON.stringify(run)}`);
}

const survivors: string[] = [];
for (const [index, sabotage] of chosen.entries()) {
	console.log(`${index + 1}/${chosen.length} ${sabotage.name}`);
	const words = await copy.under(sabotage, () => survival(copy, sabotage));
	if (words === null) continue;
	console.log(`  SURVIVES: ${words}`);
	survivors.push(sabotage.name);
}
console.log(
	`${chosen.length} sabotages, ${survivors.length} survivors${survivors.map((one) => `\n- ${one}`).join('')}`,
);
process.exitCode = survivors.length === 0 ? 0 : 1;
