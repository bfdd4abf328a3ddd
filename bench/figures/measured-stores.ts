import type { BenchContext } from './context.ts';
import { createHarness, type Harness } from './harness.ts';

/** A program on one of the databases. */
export interface MeasuredStore {
	/** Of its samples. */
	readonly name: string;
	readonly database: 'SQLite' | 'PostgreSQL';
	readonly harness: Harness;
}

/** The bare app, and each program on both databases. `env`: more settings of the programs. */
export async function createMeasured(context: BenchContext, env: Readonly<Record<string, string>> = {}) {
	const { service, directory, programs } = context;
	const common = { transport: 'socket', service, directory, env } as const;
	await using stack = new AsyncDisposableStack();
	const bare = stack.use(await createHarness({ ...common, program: 'bare' }));
	const server = await context.postgres();
	const stores: MeasuredStore[] = [];
	for (const { name: program, entry } of programs) {
		for (const database of ['SQLite', 'PostgreSQL'] as const) {
			const on = database === 'SQLite' ? {} : { databaseUrl: await server.createDatabase() };
			const harness = stack.use(await createHarness({ ...common, ...on, program: 'handraise', entry }));
			const name = programs.length === 1 ? database : `${database} of ${program}`;
			stores.push({ name, database, harness });
		}
	}
	const owned = stack.move();
	return { bare, stores, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
