import { escapePointer, isObject, type Payload } from '../payload.ts';
import type { SlackErrorCode } from '../problem.ts';
import { liveAnswer, partsOf, type Rule, reference, stricter } from '../rule.ts';

/** Rules over a message or a view as a whole; how much it may hold stands in sizes.ts. */

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

const somethingToShow: Rule = {
	id: 'message:no-text',
	source: 'docs.slack.dev/reference/methods/chat.postMessage: no_text',
	check: (payload, report) => {
		if (payload.kind !== 'message' || !isObject(payload.value)) return;
		const { text, blocks } = payload.value;
		const isNothing = (value: unknown) =>
			value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
		if ([text, blocks].every(isNothing)) report('no_text', '', 'no_text');
	},
};

/** What Slack answers to JSON text it cannot read, by the argument it came in. */
const unreadable: Record<string, SlackErrorCode> = {
	blocks: 'invalid_blocks_format',
	metadata: 'invalid_metadata_format',
};

function* brokenTexts(value: unknown, path: readonly string[]): Generator<readonly string[]> {
	if (typeof value === 'string') {
		if (!value.isWellFormed()) yield path;
	} else if (typeof value === 'object' && value !== null) {
		for (const [name, child] of Object.entries(value)) yield* brokenTexts(child, [...path, escapePointer(name)]);
	}
}

const wellFormed: Rule = {
	id: 'payload:well-formed',
	source: `erikdarlingdata/PerformanceMonitor #3622: half a surrogate pair makes the JSON text invalid; the codes: ${stricter}`,
	check: (payload: Payload, report) => {
		// JSON.stringify writes half a pair as an escape and whole pairs as they are: most payloads need no closer look.
		if (!payload.json.includes('\\ud')) return;
		const root = payload.kind === 'message' ? [] : [payload.kind];
		for (const path of brokenTexts(payload.value, root)) {
			report(
				'must be valid JSON text',
				`/${path.join('/')}`,
				payload.kind === 'view' ? undefined : unreadable[path[0] ?? ''],
			);
		}
	},
};

export const payloadTable: readonly Rule[] = [
	distinctBlockIds,
	distinctActionIds,
	submitNeeded,
	somethingToShow,
	wellFormed,
];
