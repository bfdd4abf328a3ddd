import { inject } from 'vitest';
import { createDatabase, type OwnPostgres } from './postgres.ts';

/** The PostgreSQL that all test files of a run share. Create your own database in it. */
export async function sharedPostgres(): Promise<Pick<OwnPostgres, 'adminUrl' | 'createDatabase'>> {
	const response = await fetch(inject('postgresBroker'));
	const text = await response.text();
	if (!response.ok) throw new Error(`PostgreSQL did not start: ${text}`);
	return { adminUrl: text, createDatabase: () => createDatabase(text) };
}
