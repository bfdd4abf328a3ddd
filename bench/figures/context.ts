import type { OwnPostgres } from '../../test/support/postgres.ts';
import type { BenchService } from './service.ts';

/** What all measurements share. */
export interface BenchContext {
	readonly service: BenchService;
	/** Starts a PostgreSQL with its syncs at the first call. */
	readonly postgres: () => Promise<OwnPostgres>;
	readonly rounds: number;
	/** What is measured: another commit perhaps, and the working tree. */
	readonly programs: readonly { readonly name: string; readonly entry: string }[];
}
