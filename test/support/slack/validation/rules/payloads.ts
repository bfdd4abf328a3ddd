import { isObject, type Payload } from '../payload.ts';
import { lengthOf, liveAnswer, partsOf, type Rule, reference, stricter, types } from '../rule.ts';

/** Rules over a message or a view as a whole. */

/** About 12,000 characters are promised; live Slack answered `msg_blocks_too_long` near 13,200. */
const messageBlockTextLimit = 13_200;
/** All markdown blocks of a message together. */
const markdownTextLimit = 12_000;
/** 250 KB, read as 250,000 bytes of JSON in UTF-8: 250 × 1,024 would be the looser reading. */
const viewByteLimit = 250_000;
/** chat.update refuses what chat.postMessage only advises against. */
const updateTextLimit = 4_000;
/** Bytes of a message's metadata as JSON. */
const metadataByteLimit = 16_000;

const distinctBlockIds: Rule = {
	id: 'payload:distinct-block-ids',
	source: `${reference}/blocks; ${liveAnswer}`,
	check: (payload, report) => {
		const seen = new Set<unknown>();
		for (const part of payload.parts) {
			const id = part.value.block_id;
			if (part.block !== part || typeof id !== 'string') continue;
			if (seen.has(id)) report(`\`block_id\` "${id}" already exists`, `${part.pointer}/block_id`);
			seen.add(id);
		}
	},
};

const distinctActionIds: Rule = {
	id: 'payload:distinct-action-ids',
	source: `unique among the action_ids of the containing block; ${liveAnswer}`,
	check: (payload, report) => {
		const seen = new Map<unknown, Set<string>>();
		for (const { block, value, pointer } of payload.parts) {
			if (typeof value.action_id !== 'string') continue;
			const ids = seen.get(block) ?? new Set();
			if (ids.has(value.action_id)) report(`\`action_id\` "${value.action_id}" already exists`, `${pointer}/action_id`);
			seen.set(block, ids.add(value.action_id));
		}
	},
};

const oneFocus: Rule = {
	id: 'payload:one-focus',
	source: `${types}: only one element can be set to true`,
	check: (payload, report) => {
		const focused = payload.parts.filter((part) => part.value.focus_on_load === true);
		for (const part of focused.slice(1)) {
			report('only one element may set `focus_on_load`', `${part.pointer}/focus_on_load`);
		}
	},
};

const submitNeeded: Rule = {
	id: 'view:submit',
	source: liveAnswer,
	check: (payload, report) => {
		const [view] = payload.parts;
		if (payload.kind !== 'view' || view?.value.type !== 'modal' || view.value.submit !== undefined) return;
		for (const part of partsOf(payload, 'input')) {
			report('must define `submit` to use an `input` block in modals', `${part.pointer}/input`);
		}
	},
};

const viewSize: Rule = {
	id: 'view:size',
	source: 'docs.slack.dev/reference/methods/views.open: view_too_large',
	check: (payload, report) => {
		if (payload.kind !== 'view') return;
		const bytes = Buffer.byteLength(JSON.stringify(payload.value) ?? '');
		if (bytes > viewByteLimit) report('must be at most 250 KB', '/view', 'view_too_large');
	},
};

/** Every text of the blocks that somebody reads, labels and options included: the stricter reading of "all block text". */
function blockText(payload: Payload, types?: ReadonlySet<string>): number {
	let length = 0;
	for (const { type, value } of payload.parts) {
		if (type === 'message' || (types !== undefined && !types.has(type))) continue;
		for (const name of ['text', 'title', 'caption']) {
			const text = value[name];
			if (typeof text === 'string') length += lengthOf(text);
		}
	}
	return length;
}

const messageText: Rule = {
	id: 'message:block-text',
	source: `${liveAnswer}: msg_blocks_too_long near 13,200`,
	check: (payload, report) => {
		if (payload.surface !== 'message' || blockText(payload) <= messageBlockTextLimit) return;
		report(
			`the text of all blocks must be less than ${messageBlockTextLimit + 1} characters`,
			'/blocks',
			'msg_blocks_too_long',
		);
	},
};

const markdownText: Rule = {
	id: 'message:markdown-text',
	source: `${reference}/blocks/markdown-block: 12,000 for all markdown blocks of a payload`,
	check: (payload, report) => {
		if (blockText(payload, new Set(['markdown'])) <= markdownTextLimit) return;
		const words = `the text of all markdown blocks must be less than ${markdownTextLimit + 1} characters`;
		report(words, '/blocks', 'msg_blocks_too_long');
	},
};

const somethingToShow: Rule = {
	id: 'message:no-text',
	source: 'docs.slack.dev/reference/methods/chat.postMessage: no_text',
	check: (payload, report) => {
		if (payload.kind !== 'message' || !isObject(payload.value)) return;
		const { text, blocks, attachments } = payload.value;
		const isEmpty = (list: unknown) => list === undefined || (Array.isArray(list) && list.length === 0);
		if ((text === undefined || text === '') && isEmpty(blocks) && isEmpty(attachments))
			report('no_text', '', 'no_text');
	},
};

const updateText: Rule = {
	id: 'message:update-text',
	source: 'docs.slack.dev/reference/methods/chat.update: msg_too_long',
	check: (payload, report) => {
		if (payload.kind !== 'message' || payload.method !== 'chat.update' || !isObject(payload.value)) return;
		const { text } = payload.value;
		if (typeof text !== 'string' || lengthOf(text) <= updateTextLimit) return;
		report(`must be less than ${updateTextLimit + 1} characters`, '/text', 'msg_too_long');
	},
};

const metadataSize: Rule = {
	id: 'message:metadata-size',
	source: `docs.slack.dev/messaging/message-metadata: metadata_too_large; ${stricter}`,
	check: (payload, report) => {
		if (payload.kind !== 'message' || !isObject(payload.value)) return;
		const bytes = Buffer.byteLength(JSON.stringify(payload.value.metadata) ?? '');
		if (bytes > metadataByteLimit) report('must be at most 16 KB', '/metadata', 'metadata_too_large');
	},
};

export const payloadRules: Rule[] = [
	distinctBlockIds,
	distinctActionIds,
	oneFocus,
	submitNeeded,
	viewSize,
	messageText,
	markdownText,
	somethingToShow,
	updateText,
	metadataSize,
];
