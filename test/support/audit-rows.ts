import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** What the audit in SQLite's database of this directory tells of an action, in its order. */
export function auditRows(dataDir: string, action: string): Record<string, unknown>[] {
	using database = new DatabaseSync(join(dataDir, 'handraise.db'), { readOnly: true });
	return database.prepare('select * from audit_events where action = ? order by number').all(action);
}
