import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runTests } from './run-tests.ts';
import type { Sabotage } from './sabotage.ts';
import { SABOTAGES } from './table/index.ts';
import { copyTree, sabotaged, type TreeCopy } from './tree-copy.ts';

/**
 * Removes one behaviour of the fake after another, in a copy of the tree, and runs the tests of that behaviour. A
 * sabotage under which they pass is a survivor: a behaviour that could be lost unnoticed. Exit code 1 when there is
 * one.
 *
 * `--only WORDS`, repeatable: only those with the words in their name.
 */
const { values } = parseArgs({ options: { only: { type: 'string', multiple: true, default: [''] } } });
const chosen = SABOTAGES.filter(({ name }) => values.only.some((words) => name.includes(words)));

/** The text for a survivor, or null when every test file failed as it should. */
async function survival(copy: TreeCopy, sabotage: Sabotage): Promise<string | null> {
	for (const file of sabotage.tests) {
		const run = await runTests(copy.root, join(copy.fake, file));
		if (run.kind === 'passed') return `${file} passes`;
		if (run.kind === 'broken') return `${file} does not even run: ${run.reason}`;
		console.log(`  ${file}: ${run.test}`);
	}
	return null;
}

// All places are looked up before the first run, so that an outdated table fails at once.
for (const sabotage of chosen) sabotaged(sabotage);
using copy = copyTree();
for (const file of new Set(chosen.flatMap(({ tests }) => tests))) {
	const run = await runTests(copy.root, join(copy.fake, file));
	if (run.kind !== 'passed') throw new Error(`${file} fails even without a sabotage: ${JSON.stringify(run)}`);
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
