import { globSync, readFileSync } from 'node:fs';
import { wrongArrows } from './arrows.ts';
import { LIMITS, measure, problemsOf } from './structure.ts';

// node test/support/structure/check.ts: one line on success, else one for each limit that is exceeded and exit code 1.
const parts = globSync('src/**/*.ts').map((path) => measure(path, readFileSync(path, 'utf8')));
const problems = [
	...problemsOf(parts),
	...parts.flatMap(({ path }) => wrongArrows(path.slice('src/'.length), readFileSync(path, 'utf8'))),
];
for (const problem of problems) console.error(problem);
const lines = parts.reduce((sum, part) => sum + part.lines, 0);
const over = parts.filter(({ dependencies }) => dependencies.length > LIMITS.dependencies).map(({ path }) => path);
console.log(
	`src: ${parts.length} files, ${lines} lines; more than ${LIMITS.dependencies} dependencies: ${over.join(', ')}`,
);
process.exitCode = problems.length === 0 ? 0 : 1;
