import { sharedPostgres } from '../support/shared-postgres.ts';
import { makeDataDir } from './support.ts';

/** `work` gets the directory of a new SQLite database, which is removed afterwards. */
export async function useSqlite(work: (place: string) => Promise<void>): Promise<void> {
	const directory = makeDataDir();
	await work(directory.path).finally(directory.remove);
}

/** `work` gets the address of a new database on PostgreSQL. */
export async function usePostgres(work: (place: string) => Promise<void>): Promise<void> {
	await work(await (await sharedPostgres()).createDatabase());
}
