import { startProgram } from './program.ts';

const MIGRATE = new URL('../../src/migrate.ts', import.meta.url).pathname;

/** Starts `npm run migrate` with these settings alone. */
export const startMigrate = (args: readonly string[], env: Readonly<Record<string, string>>) =>
	startProgram({ ...env }, MIGRATE, { args });

/** Runs it to its end. */
export const runMigrate = (...given: Parameters<typeof startMigrate>) => startMigrate(...given).closed;
