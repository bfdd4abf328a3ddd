import { HandraiseError, codeOf as stableCodeOf } from '../errors.ts';
import { slackErrorCode } from './clients.ts';

/** The code by which `words.ts` knows what to tell a person. */
export function codeOf(error: unknown): string {
	const isSlacks =
		slackErrorCode(error) !== null ||
		(error instanceof Error && 'code' in error && String(error.code).startsWith('slack_webapi_'));
	return isSlacks ? 'slack_unavailable' : stableCodeOf(error);
}

/** A press in a view that this version cannot read: it was made by another one. */
export class OutdatedViewError extends HandraiseError {
	override readonly code = 'button_outdated';
	override readonly retryable = false;

	constructor() {
		super('the metadata of a view cannot be read');
	}
}
