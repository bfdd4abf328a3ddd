import type { OwnPostgres } from '../../test/support/postgres.ts';
import type { BenchService } from './service.ts';

/** What all measurements share. */
export interface BenchContext {
	readonly service: BenchService;
	/** On the disk that is measured. */
	readonly directory: string;
	/** Started, with its syncs, when somebody first asks. */
	readonly postgres: () => Promise<OwnPostgres>;
	readonly rounds: number;
}
