import { HOUR_MS } from './kernel/clock.ts';
import { SERVING } from './store/postgres-address.ts';
import { GIVE_UP_MS, WAITING_SECRET_DAYS } from './store/schema/answers.ts';
import { WATCH_MAX_DAYS } from './store/watch.ts';

/**
 * Limits that are no settings. `personReads`: how often one person may open, refresh and watch sessions. `watches`: how
 * many sessions one person and one channel may watch.
 */
export const LIMITS = {
	pool: SERVING,
	personReads: { burst: 20, perMinute: 20 },
	watches: { person: 50, channel: 100 },
};

const { pool, personReads, watches } = LIMITS;
const GIVE_UP_HOURS = GIVE_UP_MS / HOUR_MS;
/**
 * The settings of 1.1.0 that were removed. `instead`: what holds now. `same`: the value that means the same. Another
 * word or a smaller number was stricter; null: no value was.
 */
const REMOVED: Readonly<Record<string, readonly [instead: string, same: string | number | null]>> = {
	THREAD_REPLIES: [
		'whoever mentions Handraise in the thread of a question is offered to send that as the answer',
		null,
	],
	SESSION_SERVICE_LIST: ['the list of the service is used where it has one', 'auto'],
	DATABASE_POOL_SIZE: [`a replica opens up to ${pool.size} connections, and one more while it starts`, pool.size],
	DATABASE_STATEMENT_TIMEOUT_MS: [`a statement may take ${pool.statementMs} ms`, pool.statementMs],
	ENCRYPTION_KEY_WRITE: ['npm run rekey encrypts everything with ENCRYPTION_KEY while nothing runs', 'new'],
	PERSON_BURST: [`one person may read ${personReads.burst} times at once`, personReads.burst],
	PERSON_READS_PER_MINUTE: [`one person may read ${personReads.perMinute} times a minute`, personReads.perMinute],
	MAX_WATCHES_PER_PERSON: [`one person may watch ${watches.person} sessions, and all MAX_WATCHES`, watches.person],
	MAX_WATCHES_PER_CHANNEL: [`one channel may watch ${watches.channel} sessions, and all MAX_WATCHES`, watches.channel],
	ESCALATE_AFTER: [
		'each channel has its own "Escalate after", and the first start gives it this one if it has none',
		null,
	],
	AUDIT_LOG: ['each event of the audit is a line in the log', null],
	WAITING_SECRET_DAYS: [`passwords of an answer that waits go after ${WAITING_SECRET_DAYS} days`, WAITING_SECRET_DAYS],
	WATCH_MAX_DAYS: [`a watch of a session without any change ends after ${WATCH_MAX_DAYS} days`, WATCH_MAX_DAYS],
	GIVE_UP_HOURS: [`an answer is tried for ${GIVE_UP_HOURS} hours`, GIVE_UP_HOURS],
};

/** The removed settings that are set. `isStricter`: the value is stricter than what holds now. */
export function formerSettings(env: Readonly<Record<string, string | undefined>>) {
	return Object.entries(REMOVED).flatMap(([setting, [instead, same]]) => {
		const value = env[setting]?.trim() ?? '';
		const isStricter = typeof same === 'number' ? !(Number(value) >= same) : same !== null && value !== same;
		return value === '' ? [] : [{ setting, instead, isStricter }];
	});
}
