import { EventEmitter } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { main as migrate } from '../../src/migrate.ts';
import type { CommandIo } from '../../src/operator/command.ts';
import { main as person } from '../../src/person.ts';
import { main as rekey } from '../../src/rekey.ts';
import { startProgram } from './program.ts';

type Env = Readonly<Record<string, string>>;

/** What a command has in place of its process: these settings alone, what is typed, and signals that are emitted. */
export function ioOf(env: Env, typed = '') {
	const stdin = Readable.from([Buffer.from(typed)]);
	return Object.assign(new EventEmitter(), { env, stdin, stdout: new PassThrough(), stderr: new PassThrough() });
}

/** Runs a command in this process. `typed`: its standard input. */
export async function runHere(
	main: (args: readonly string[], io: CommandIo) => Promise<number>,
	args: readonly string[],
	env: Env,
	typed?: string,
) {
	const io = ioOf(env, typed);
	const said = Promise.all([text(io.stdout), text(io.stderr)]);
	const code = await main(args, io);
	io.stdout.end();
	io.stderr.end();
	const [stdout, stderr] = await said;
	return { code, stdout, stderr };
}

export const runPerson = (args: readonly string[], env: Env, typed?: string) => runHere(person, args, env, typed);
export const runRekey = (env: Env) => runHere(rekey, [], env);
export const runMigrate = (args: readonly string[], env: Env) => runHere(migrate, args, env);

/** Starts a command as a process, as its line of package.json does. `more`: of `startProgram`. */
export const startCommand = (
	name: 'ask' | 'audit' | 'backup' | 'doctor' | 'manifest' | 'migrate' | 'person' | 'rekey',
	args: readonly string[],
	env: Env,
	more: Parameters<typeof startProgram>[2] = {},
) => startProgram({ ...env }, new URL(`../../src/${name}.ts`, import.meta.url).pathname, { args, ...more });
