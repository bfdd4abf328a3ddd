import type { Surface } from '../problem.ts';
import { liveAnswer, partsOf, type Rule, reference } from '../rule.ts';

const messagesOnly: readonly Surface[] = ['message'];

/** Surfaces of the blocks that do not stand everywhere. `file` blocks only come back from Slack, apps cannot send them. */
export const blockSurfaces: Record<string, readonly Surface[]> = {
	markdown: messagesOnly,
	table: messagesOnly,
	data_table: messagesOnly,
	plan: messagesOnly,
	task_card: messagesOnly,
	context_actions: messagesOnly,
	// Some of Slack's pages show cards and containers elsewhere too; only messages are sure. A carousel is made of cards.
	card: messagesOnly,
	container: messagesOnly,
	alert: ['modal'],
	file: [],
};

/** Surfaces of the elements that do not stand everywhere. */
export const elementSurfaces: Record<string, readonly Surface[]> = {
	datetimepicker: ['message', 'modal'],
	rich_text_input: ['modal', 'home'],
	email_text_input: ['modal'],
	url_text_input: ['modal'],
	number_input: ['modal'],
	file_input: ['modal'],
};

function surfaceRule(type: string, surfaces: readonly Surface[], source: string): Rule {
	return {
		id: `surface:${type}`,
		source,
		check: (payload, report) => {
			if (surfaces.includes(payload.surface)) return;
			for (const part of partsOf(payload, type)) report(`unsupported type: ${type}`, `${part.pointer}/type`);
		},
	};
}

const refusedInActions = [
	'multi_static_select',
	'multi_external_select',
	'multi_users_select',
	'multi_conversations_select',
	'multi_channels_select',
	'rich_text_input',
];

/** The types let these stand in an actions block; Slack refused the first and, with it, the whole message. */
const actionElements: Rule = {
	id: 'placement:actions',
	source: liveAnswer,
	check: (payload, report) => {
		for (const part of payload.parts) {
			if (part.parent?.type !== 'actions' || !refusedInActions.includes(part.type)) continue;
			report(`unsupported type: ${part.type}`, `${part.pointer}/type`);
		}
	},
};

/** Options with `mrkdwn` and `url`: the types cannot tell whose options they are. */
const optionUrls: Rule = {
	id: 'placement:option-url',
	source: `${reference}/composition-objects/option-object: only available in overflow menus`,
	check: (payload, report) => {
		for (const part of payload.parts) {
			if (part.type === 'overflow' || !Array.isArray(part.value.options)) continue;
			part.value.options.forEach((option, index) => {
				if (option?.url !== undefined) {
					report('invalid additional property: url', `${part.pointer}/options/${index}`);
				}
			});
		}
	},
};

export const surfaceRules: Rule[] = [
	...Object.entries(blockSurfaces).map(([type, surfaces]) =>
		surfaceRule(type, surfaces, `${reference}/blocks: ${surfaces.join(', ') || 'no surface'} only`),
	),
	...Object.entries(elementSurfaces).map(([type, surfaces]) =>
		surfaceRule(type, surfaces, `${reference}/block-elements: ${surfaces.join(', ')} only`),
	),
	actionElements,
	optionUrls,
];
