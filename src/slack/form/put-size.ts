import { mergeForPut } from '../../questions/compare.ts';
import type { Question } from '../../questions/open-question.ts';
import { putBodyOf } from '../../questions/put-body.ts';

/** The session service takes 100 kB and fails every time above; its client uses the smaller reading of that unit too. */
export const PUT_LIMIT_BYTES = 100_000;

/** UTF-8 bytes of the PUT's JSON when the open items' values are empty. */
export function putOverheadBytes(sessionId: string, question: Question): number {
	const items = mergeForPut(
		question.items,
		question.items.map(() => ''),
	);
	return Buffer.byteLength(putBodyOf(sessionId, question.messageIndex, items));
}

/** What the values add to the overhead. */
export function valueBytes(values: readonly string[]): number {
	return values.reduce((sum, value) => sum + Buffer.byteLength(JSON.stringify(value)) - 2, 0);
}
