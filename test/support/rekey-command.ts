import { startProgram } from './program.ts';

const REKEY = new URL('../../src/rekey.ts', import.meta.url).pathname;

/** Starts `npm run rekey` with these settings alone. */
export const startRekey = (env: Readonly<Record<string, string>>, args: readonly string[] = []) =>
	startProgram({ ...env }, REKEY, { args });

/** Runs it to its end. */
export const runRekey = (...given: Parameters<typeof startRekey>) => startRekey(...given).closed;
