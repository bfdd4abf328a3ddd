import type { Migration } from '../migrate.ts';

/**
 * Stores the secret positions of an answer separately from its values, because they still hide values in the session after
 * the stored values are removed. Null when the form had no checkbox for it.
 */
export const secretPositions: Migration = {
	number: 6,
	name: 'secret-positions',
	async up(db) {
		await db.schema.alterTable('answers').addColumn('secret_positions', 'text').execute();
	},
};
