import { SERVING } from './store/postgres-address.ts';

/**
 * Limits that are no settings. `personReads`: how often one person may open, refresh and watch sessions. `watches`: how
 * many sessions one person and one channel may watch.
 */
export const LIMITS = {
	pool: SERVING,
	personReads: { burst: 20, perMinute: 20 },
	watches: { person: 50, channel: 100 },
};

/**
 * Settings of 2.0.0 that were removed. `instead`: what holds now. `same`: the value that means the same. Another word
 * or a smaller number was stricter, and stops the start; null: no value was.
 */
const REMOVED: Readonly<Record<string, readonly [instead: string, same: string | number | null]>> = {
	THREAD_REPLIES: [
		'whoever mentions Handraise in the thread of a question is offered to send that as the answer',
		null,
	],
};

/** The removed settings that are set. `isStricter`: the value is stricter than what holds now. */
export function removedSettings(env: Readonly<Record<string, string | undefined>>, removed = REMOVED) {
	return Object.entries(removed).flatMap(([setting, [instead, same]]) => {
		const value = env[setting]?.trim() ?? '';
		const isStricter = typeof same === 'number' ? !(Number(value) >= same) : same !== null && value !== same;
		return value === '' ? [] : [{ setting, instead, isStricter }];
	});
}
