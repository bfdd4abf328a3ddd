import { globSync, readFileSync } from 'node:fs';
import { TABLE_NAMES } from '../../src/store/database.ts';
import { circles, closureOf, importsOf, wrongArrows, wrongEntrances } from './arrows.ts';
import { foreignWrites, unowned } from './owners.ts';
import { fixedNames, longFiles, tooManyPackages, wideLines } from './structure.ts';

/** Where three ways of people's work begin: a command, a submission, a watched question. */
const WAYS = ['people/session/session-command.ts', 'people/answering/submission.ts', 'sessions/poller.ts'];

// node tools/structure/check.ts: one line for each problem, and then exit code 1; warnings and figures of src.
const files = globSync('**/*.ts', { cwd: 'src' }).map((path) => ({ path, text: readFileSync(`src/${path}`, 'utf8') }));
const FOLDERS = '{bench,fake-session-service,fake-slack,sandbox,src,test,tools}/**/*.{ts,tsx}';
const imports = new Map(files.map(({ path, text }) => [path, importsOf(path, text)]));
const problems = [
	...files.flatMap(({ path, text }) => [
		...wrongArrows(path, text),
		...foreignWrites(path, text),
		...wideLines(path, text),
		...fixedNames(path, text),
	]),
	...circles(imports),
	...globSync(FOLDERS).flatMap((path) => wrongEntrances(path, readFileSync(path, 'utf8'))),
	...unowned(files, TABLE_NAMES),
	...tooManyPackages(JSON.parse(readFileSync('package.json', 'utf8'))),
];
for (const line of [...longFiles(files), ...problems]) console.error(line);

const lines = files.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0);
const counts = Array.from(imports, ([path, { length }]) => ({ path, length })).sort(
	(one, other) => one.length - other.length,
);
const most = counts.slice(-3).reverse();
console.log(
	[
		`src: ${files.length} files, ${lines} lines`,
		`imports of a file: median ${counts[counts.length >> 1]?.length}, most ${most.map(({ path, length }) => `${length} (${path})`).join(', ')}`,
		`files that a way needs, types too: ${WAYS.map((path) => `${closureOf(path, imports).size} (${path})`).join(', ')}`,
	].join('\n'),
);
process.exitCode = problems.length === 0 ? 0 : 1;
