/** The statuses that the service is known to use. A session may carry any other string. */
export type KnownStatus = 'active' | 'humanInput' | 'inactive' | 'paused' | 'stopped' | 'completed' | 'failed';

/** Everything a caller has to have words for: the known statuses, and one for those nobody has seen yet. */
export type StatusKind = KnownStatus | 'unknown';

const known: ReadonlySet<string> = new Set<KnownStatus>([
	'active',
	'humanInput',
	'inactive',
	'paused',
	'stopped',
	'completed',
	'failed',
]);

/** Compares exactly, as the service does: `Active` is a status nobody has seen yet. */
export function statusKind(status: string): StatusKind {
	return known.has(status) ? (status as KnownStatus) : 'unknown';
}

/** The service saves answers to such a session all the same, but nobody reads them. */
export function isOver(status: string): boolean {
	return status === 'completed' || status === 'failed' || status === 'stopped';
}

/** The agent itself says that it waits for a person. */
export function isWaiting(status: string): boolean {
	return status === 'humanInput';
}

/**
 * Whether an answer may still reach an agent. `inactive` and `paused` are no end, and a status nobody has seen yet is
 * given the benefit of the doubt.
 */
export function isAnswerable(session: { readonly status: string }): boolean {
	return !isOver(session.status);
}
