import { globSync, readFileSync } from 'node:fs';
import { TABLE_NAMES } from '../../../src/database/database.ts';
import { closureOf, importsOf, wrongArrows } from './arrows.ts';
import { foreignWrites, unowned } from './owners.ts';
import { LIMITS, measure, problemsOf } from './structure.ts';

/** Where three ways of people's work begin: a command, a submission, a watched question. */
const WAYS = ['features/session/command.ts', 'features/answer/submission.ts', 'features/watch/poller.ts'];

// node test/support/structure/check.ts: the figures of src, one line for each limit that is exceeded, and then exit code 1.
const texts = new Map(globSync('**/*.ts', { cwd: 'src' }).map((path) => [path, readFileSync(`src/${path}`, 'utf8')]));
const parts = Array.from(texts, ([path, text]) => measure(`src/${path}`, text));
const files = Array.from(texts, ([path, text]) => ({ path, text }));
const problems = [
	...problemsOf(parts),
	...files.flatMap(({ path, text }) => [...wrongArrows(path, text), ...foreignWrites(path, text)]),
	...unowned(files, TABLE_NAMES),
];
for (const problem of problems) console.error(problem);

const total = (count: (part: (typeof parts)[number]) => number) => parts.reduce((sum, part) => sum + count(part), 0);
const over = parts.filter(({ dependencies }) => dependencies.length > LIMITS.dependencies).map(({ path }) => path);
const imports = new Map(Array.from(texts, ([path, text]) => [path, importsOf(path, text)]));
const counts = Array.from(imports, ([path, { length }]) => ({ path, length })).sort(
	(one, other) => one.length - other.length,
);
const most = counts.slice(-3).reverse();
console.log(
	[
		`src: ${parts.length} files, ${total(({ lines }) => lines)} lines, ${total(({ bytes }) => bytes)} bytes`,
		`more than ${LIMITS.dependencies} dependencies: ${over.join(', ')}`,
		`imports of a file: median ${counts[counts.length >> 1]?.length}, most ${most.map(({ path, length }) => `${length} (${path})`).join(', ')}`,
		`files that a way needs, types too: ${WAYS.map((path) => `${closureOf(path, imports).size} (${path})`).join(', ')}`,
	].join('\n'),
);
process.exitCode = problems.length === 0 ? 0 : 1;
