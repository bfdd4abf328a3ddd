import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/* Loaded before the program, see `limitsEnv`: changes the constants in its limits.ts. npm, which may start it, has none. */

const { LIMITS_OF_TEST = '{}' } = process.env;
const file = join(dirname(process.argv[1] ?? ''), 'limits.ts');
if (existsSync(file)) {
	const { LIMITS } = await import(pathToFileURL(file).href);
	for (const [of, limits] of Object.entries(JSON.parse(LIMITS_OF_TEST))) Object.assign(LIMITS[of], limits);
}
