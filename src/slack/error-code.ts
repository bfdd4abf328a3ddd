import { HandraiseError } from '../errors.ts';
import { slackErrorCode } from './clients.ts';

/** The code by which `words.ts` knows what to tell a person. */
export function codeOf(error: unknown): string {
	if (error instanceof HandraiseError) return error.code;
	if (slackErrorCode(error) !== null) return 'slack_unavailable';
	return error instanceof Error && 'code' in error && String(error.code).startsWith('slack_webapi_')
		? 'slack_unavailable'
		: 'internal';
}

/** When the service said that the next try makes sense, milliseconds since the epoch. */
export function retryAtOf(error: unknown): number | null {
	return error instanceof HandraiseError && 'retryAt' in error && typeof error.retryAt === 'number'
		? error.retryAt
		: null;
}

/** A press in a view that this version cannot read: it was made by another one. */
export class OutdatedViewError extends HandraiseError {
	readonly code = 'button_outdated';
	readonly retryable = false;

	constructor() {
		super('the metadata of a view cannot be read');
	}
}

/** It is not certain whether an answer was stored. Pressing again is the same submission, so nothing is sent twice. */
export class StoreTooSlowError extends HandraiseError {
	readonly code = 'store_too_slow';
	readonly retryable = true;
}
