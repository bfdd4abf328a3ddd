import { globSync, readFileSync } from 'node:fs';
import { TABLE_NAMES } from '../../../src/database/database.ts';
import { closureOf, importsOf, wrongArrows } from './arrows.ts';
import { foreignWrites, unowned } from './owners.ts';
import { fixedNames, LIMITS, measure, problemsOf, wideLines } from './structure.ts';

/** Where three ways of people's work begin (a command, a submission, a watched question), and how many files each may need. */
const WAYS = { 'features/session/command.ts': 94, 'features/answer/submission.ts': 77, 'features/watch/poller.ts': 69 };

// node test/support/structure/check.ts: the figures of src, one line for each limit that is exceeded, and then exit code 1.
const texts = new Map(globSync('**/*.ts', { cwd: 'src' }).map((path) => [path, readFileSync(`src/${path}`, 'utf8')]));
const parts = Array.from(texts, ([path, text]) => measure(`src/${path}`, text));
const files = Array.from(texts, ([path, text]) => ({ path, text }));
const imports = new Map(Array.from(texts, ([path, text]) => [path, importsOf(path, text)]));
const ways = Object.entries(WAYS).map(([path, limit]) => ({ path, limit, files: closureOf(path, imports).size }));
const counts = Array.from(imports, ([path, { length }]) => ({ path, length })).sort(
	(one, other) => one.length - other.length,
);
const problems = [
	...problemsOf(parts),
	...files.flatMap(({ path, text }) => [
		...wrongArrows(path, text),
		...foreignWrites(path, text),
		...wideLines(path, text),
		...fixedNames(path, text),
	]),
	...unowned(files, TABLE_NAMES),
	...ways.flatMap(({ path, limit, files: needed }) =>
		needed > limit ? [`src/${path} needs ${needed} files, at most ${limit}`] : [],
	),
	...counts.flatMap(({ path, length }) =>
		length > LIMITS.imports && path !== 'app.ts'
			? [`src/${path} imports ${length} modules, at most ${LIMITS.imports}`]
			: [],
	),
];
for (const problem of problems) console.error(problem);

const total = (count: (part: (typeof parts)[number]) => number) => parts.reduce((sum, part) => sum + count(part), 0);
const over = parts.filter(({ dependencies }) => dependencies.length > LIMITS.dependencies).map(({ path }) => path);
const most = counts.slice(-3).reverse();
console.log(
	[
		`src: ${parts.length} files, ${total(({ lines }) => lines)} lines, ${total(({ bytes }) => bytes)} bytes`,
		`more than ${LIMITS.dependencies} dependencies: ${over.join(', ')}`,
		`imports of a file: median ${counts[counts.length >> 1]?.length}, most ${most.map(({ path, length }) => `${length} (${path})`).join(', ')}`,
		`files that a way needs, types too: ${ways.map(({ path, files: needed }) => `${needed} (${path})`).join(', ')}`,
	].join('\n'),
);
process.exitCode = problems.length === 0 ? 0 : 1;
