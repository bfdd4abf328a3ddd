import type { Migration } from '../migrate.ts';

/**
 * Which items of an answer are secret stands outside of what is encrypted and removed, since it hides values that the
 * session keeps showing. Null where the answer's author had no box to say so.
 */
export const secretPositions: Migration = {
	number: 6,
	name: 'secret-positions',
	async up(db) {
		await db.schema.alterTable('answers').addColumn('secret_positions', 'text').execute();
	},
};
