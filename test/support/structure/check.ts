import { globSync, readFileSync } from 'node:fs';
import { TABLE_NAMES } from '../../../src/database/tables.ts';
import { wrongArrows } from './arrows.ts';
import { foreignWrites, unowned } from './owners.ts';
import { LIMITS, measure, problemsOf } from './structure.ts';

// node test/support/structure/check.ts: one line on success, else one for each limit that is exceeded and exit code 1.
const files = globSync('src/**/*.ts').map((path) => {
	return { path: path.slice('src/'.length), text: readFileSync(path, 'utf8') };
});
const parts = files.map(({ path, text }) => measure(`src/${path}`, text));
const problems = [
	...problemsOf(parts),
	...files.flatMap(({ path, text }) => [...wrongArrows(path, text), ...foreignWrites(path, text)]),
	...unowned(files, TABLE_NAMES),
];
for (const problem of problems) console.error(problem);
const lines = parts.reduce((sum, part) => sum + part.lines, 0);
const over = parts.filter(({ dependencies }) => dependencies.length > LIMITS.dependencies).map(({ path }) => path);
console.log(
	`src: ${parts.length} files, ${lines} lines; more than ${LIMITS.dependencies} dependencies: ${over.join(', ')}`,
);
process.exitCode = problems.length === 0 ? 0 : 1;
