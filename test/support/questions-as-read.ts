import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Digest } from '../../src/questions/session-snapshot.ts';

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
				`select session.session_id as id, digest, next_read_at, message_index, same_before, fingerprint, shown_hash
				from watched_sessions as session left join questions as question on question.service = session.service
					and question.session_id = session.session_id and settled_at is null`,
			)
			.all();
		return rows.flatMap((row) => {
			const digest = row.digest === null ? null : (JSON.parse(String(row.digest)) as Digest);
			const { open = [], answered: _, ...asked } = digest?.question ?? {};
			const isAsked = row.next_read_at !== null && open.length > 0;
			const stored =
				row.fingerprint === null
					? null
					: {
							messageIndex: row.message_index,
							fingerprint: row.fingerprint,
							shownHash: row.shown_hash,
							sameBefore: row.same_before,
						};
			const [found, kept] = [isAsked ? asked : null, stored].map((one) => JSON.stringify(one));
			return found === kept ? [] : [`${String(row.id)}: read ${found}, stored ${kept}`];
		});
	} finally {
		database.close();
	}
}
