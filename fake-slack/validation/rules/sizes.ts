import { isObject, type Payload } from '../payload.ts';
import type { SlackErrorCode } from '../problem.ts';
import { lengthOf, liveAnswer, partsOf, type Row, type Rule, reference, stricter } from '../rule.ts';

/** How much of something a message or a view may hold in all. */
export type SizeRow = Row & {
	limit: number;
	measure: (payload: Payload) => number;
	words: (limit: number) => string;
	/** The field that is too large; without one, the message or view itself. */
	field?: string;
	error?: SlackErrorCode;
};

/** Every text that somebody reads, labels and options included: the stricter reading of "all block text". */
function textIn(payload: Payload, isCounted: (part: Payload['parts'][number]) => boolean): number {
	let length = 0;
	for (const part of payload.parts) {
		if (part.type === 'message' || !isCounted(part)) continue;
		for (const name of ['text', 'title']) {
			const text = part.value[name];
			if (typeof text === 'string') length += lengthOf(text);
		}
	}
	return length;
}

const characters = (what: string) => (limit: number) =>
	`the text of all ${what} must be less than ${limit + 1} characters`;

export const sizeTable: readonly SizeRow[] = [
	{
		id: 'size:view',
		source: 'docs.slack.dev/reference/methods/views.open: view_too_large',
		// 250 KB, read as 250,000 bytes of JSON in UTF-8: 250 × 1,024 would be the looser reading.
		limit: 250_000,
		measure: ({ kind, json }) => (kind === 'view' ? Buffer.byteLength(json) : 0),
		words: (limit) => `must be at most ${limit / 1000} KB`,
		error: 'view_too_large',
	},
	{
		id: 'size:block-text',
		// About 12,000 characters are promised; live Slack answered `msg_blocks_too_long` near 13,200.
		source: `slackapi/bolt-js #2509: ${liveAnswer}`,
		limit: 13_200,
		measure: (payload) => (payload.surface === 'message' ? textIn(payload, () => true) : 0),
		words: characters('blocks'),
		field: 'blocks',
		error: 'msg_blocks_too_long',
	},
	{
		id: 'size:rich-text',
		// Slack refused 11,341 characters of text in rich text: what holds them counts too, and nobody says how.
		source: `slackapi/bolt-js #2867: ${liveAnswer}; that all blocks count as JSON: ${stricter}`,
		limit: 12_000,
		measure: (payload) =>
			payload.surface === 'message' && partsOf(payload, 'rich_text').some((part) => part.block === part)
				? lengthOf(JSON.stringify(payload.parts[0]?.value.blocks) ?? '')
				: 0,
		words: (limit) => `the JSON of blocks with rich text must be less than ${limit + 1} characters`,
		field: 'blocks',
		error: 'msg_blocks_too_long',
	},
	{
		id: 'size:markdown-blocks',
		source: `${reference}/blocks/markdown-block: 12,000 for all markdown blocks of a payload`,
		limit: 12_000,
		measure: (payload) => textIn(payload, (part) => part.type === 'markdown'),
		words: characters('markdown blocks'),
		field: 'blocks',
		error: 'msg_blocks_too_long',
	},
	{
		id: 'size:table-cells',
		source: `${reference}/blocks/data-table-block: 10,000 in all cells; of all tables of a message together: ${stricter}`,
		limit: 10_000,
		measure: (payload) => textIn(payload, (part) => part !== part.block && part.block?.type === 'table'),
		words: characters('table cells'),
		field: 'blocks',
	},
	{
		id: 'size:update-text',
		// chat.update refuses what chat.postMessage only advises against.
		source: 'docs.slack.dev/reference/methods/chat.update: msg_too_long',
		limit: 4_000,
		measure: ({ kind, method, value }) =>
			kind === 'message' && method === 'chat.update' && isObject(value) && typeof value.text === 'string'
				? lengthOf(value.text)
				: 0,
		words: (limit) => `must be less than ${limit + 1} characters`,
		field: 'text',
		error: 'msg_too_long',
	},
	{
		id: 'size:metadata',
		source: `docs.slack.dev/messaging/message-metadata: metadata_too_large; ${stricter}`,
		limit: 16_000,
		measure: ({ kind, value }) =>
			kind === 'message' && isObject(value) ? Buffer.byteLength(JSON.stringify(value.metadata) ?? '') : 0,
		words: (limit) => `must be at most ${limit / 1000} KB`,
		field: 'metadata',
		error: 'metadata_too_large',
	},
	{
		id: 'size:table',
		source: `${reference}/blocks/table-block: invalid_attachments, only_one_table_allowed`,
		limit: 1,
		measure: (payload) => (payload.surface === 'message' ? partsOf(payload, 'table').length : 0),
		words: () => 'only_one_table_allowed',
		error: 'invalid_attachments',
	},
];

export function sizeRule(row: SizeRow): Rule {
	return {
		...row,
		check: (payload, report) => {
			if (row.measure(payload) <= row.limit) return;
			const place = payload.parts[0]?.pointer ?? '';
			report(row.words(row.limit), row.field === undefined ? place : `${place}/${row.field}`, row.error);
		},
	};
}
