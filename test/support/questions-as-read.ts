import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { digest } from '../../src/domain/session-digest.ts';

/**
 * The sessions whose stored open question is not what their newest read found, with both. Empty without a SQLite database in
 * `dataDir`.
 */
export function questionsNotAsRead(dataDir: string): string[] {
	const file = join(dataDir, 'handraise.db');
	if (!existsSync(file)) return [];
	const database = new DatabaseSync(file, { readOnly: true });
	try {
		const rows = database
			.prepare(
				`select session.session_id as id, digest, next_read_at, message_index, fingerprint, shown_hash
				from watched_sessions as session left join questions as question on question.service = session.service
					and question.session_id = session.session_id and settled_at is null`,
			)
			.all();
		return rows.flatMap((row) => {
			// A read that finds no change leaves what a former version has stored.
			const read = row.digest === null ? null : digest.parse(JSON.parse(String(row.digest)));
			const { open = [], answered: _, ...asked } = read?.question ?? {};
			const isAsked = row.next_read_at !== null && open.length > 0;
			const stored =
				row.fingerprint === null
					? null
					: {
							messageIndex: row.message_index,
							fingerprint: row.fingerprint,
							shownHash: row.shown_hash,
						};
			const [found, kept] = [isAsked ? asked : null, stored].map((one) => JSON.stringify(one));
			return found === kept ? [] : [`${String(row.id)}: read ${found}, stored ${kept}`];
		});
	} finally {
		database.close();
	}
}
