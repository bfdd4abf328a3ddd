import { HandraiseError } from '../errors.ts';
import { StoreUnavailableError } from './errors.ts';

/** SQLSTATE classes (postgresql.org/docs/current/errcodes-appendix.html) that are not about our statement. */
const UNAVAILABLE_CLASSES = new Set([
	'08', // connection exception
	'28', // invalid authorization: a password being rotated, or a wrong one
	'3D', // the database does not exist (yet)
	'53', // insufficient resources: disk full, out of memory, too many connections
	'57', // operator intervention: shutting down, cancelled by a time-out
	'58', // system error: I/O
	'F0', // configuration file error
]);

const UNAVAILABLE_CODES = new Set([
	'25006', // read-only transaction: connected to a standby during a failover
	'25P03', // idle in transaction for too long
	'25P04', // transaction time-out
	'40003', // the outcome of a statement is unknown
	'55P03', // lock not available within lock_timeout
]);

/** As a connection that is lost: when a COMMIT had been sent, it may have taken effect. */
const CONNECTION_ENDED = /^(?:08...|57P0.|40003)$/;

/** Worth another run of the same transaction, at once. */
const CONCURRENCY_CODES = new Set([
	'23505', // unique violation: another replica was faster, the next run sees its row
	'40001', // serialization failure
	'40P01', // deadlock
]);

function sqlState(error: unknown): string | null {
	const code = (error as { code?: unknown } | null)?.code;
	return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : null;
}

export function isConcurrencyError(error: unknown): boolean {
	const state = sqlState(error);
	return state !== null && CONCURRENCY_CODES.has(state);
}

/**
 * For errors that pg threw: everything without an SQLSTATE is about the connection (refused, reset, timed out, DNS), so it
 * becomes a `StoreUnavailableError`, as do the states above. Other states are about our statement and stay what they are.
 *
 * @param sent whether a statement had been sent, which a lost connection may have cut off before or after its commit
 */
export function mapPostgresError(error: unknown, { sent }: { sent: boolean }): unknown {
	if (error instanceof HandraiseError) return error;
	const state = sqlState(error);
	if (state === null) {
		const code = (error as { code?: unknown } | null)?.code;
		const reason = typeof code === 'string' ? code : 'connection lost or timed out';
		return new StoreUnavailableError(`PostgreSQL cannot be reached (${reason}).`, {
			cause: error,
			commitUnknown: sent,
		});
	}
	if (!UNAVAILABLE_CODES.has(state) && !UNAVAILABLE_CLASSES.has(state.slice(0, 2))) return error;
	return new StoreUnavailableError(`PostgreSQL cannot do this now (SQLSTATE ${state}).`, {
		cause: error,
		commitUnknown: sent && CONNECTION_ENDED.test(state),
	});
}
