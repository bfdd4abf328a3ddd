import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/* Loaded before the program, see `limitsEnv`: changes the constants in its config.ts. */

const { LIMITS_OF_TEST = '{}', FORMER_LIMITS_OF_TEST = '{}' } = process.env;
const config = join(dirname(process.argv[1] ?? ''), 'config.ts');
if (existsSync(config)) {
	const { LIMITS } = await import(pathToFileURL(config).href);
	if (LIMITS === undefined) Object.assign(process.env, JSON.parse(FORMER_LIMITS_OF_TEST));
	else for (const [of, limits] of Object.entries(JSON.parse(LIMITS_OF_TEST))) Object.assign(LIMITS[of], limits);
}
