import type { Question } from '../../questions/open-question.ts';

/** The session service takes 100 kB and fails every time above; its client uses the smaller reading of that unit too. */
export const PUT_LIMIT_BYTES = 100_000;

/** UTF-8 bytes of the PUT's JSON when the open items' values are empty. */
export function putOverheadBytes(sessionId: string, question: Question): number {
	const open = new Set(question.openItems);
	return Buffer.byteLength(
		JSON.stringify({
			sessionId,
			humanInputResponse: question.items.map(({ title, description, value }, position) => ({
				title,
				description,
				value: open.has(position) ? '' : value,
			})),
			messageIndex: question.messageIndex,
		}),
	);
}

/** What the values add to the overhead. */
export function valueBytes(values: readonly string[]): number {
	return values.reduce((sum, value) => sum + Buffer.byteLength(JSON.stringify(value)) - 2, 0);
}
