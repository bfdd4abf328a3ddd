import { isDeepStrictEqual } from 'node:util';
import { at, isObject, type Payload } from '../payload.ts';
import type { SlackErrorCode } from '../problem.ts';
import { liveAnswer, type Rule } from '../rule.ts';
import { knownTypes, shapeProblems } from '../schema.ts';

function errorFor({ kind }: Payload, pointer: string): SlackErrorCode | undefined {
	// Broken JSON, or JSON that is no list; slackapi/node-slack-sdk #1027, jolicode/slack-php-api #114.
	if (kind !== 'message') return undefined;
	if (pointer === '/blocks') return 'invalid_blocks_format';
	if (pointer.startsWith('/metadata')) return 'invalid_metadata_format';
	return pointer.startsWith('/blocks/') ? undefined : 'invalid_arguments';
}

/** chat.update takes `metadata: {}` as the wish to have none; docs.slack.dev/reference/methods/chat.update. */
function withoutEmptyMetadata({ method, value }: Payload): unknown {
	if (method !== 'chat.update' || !isObject(value) || !isDeepStrictEqual(value.metadata, {})) return value;
	const { metadata: _, ...rest } = value;
	return rest;
}

const shape: Rule = {
	id: 'shape',
	source: `the schema generated from @slack/types; wording: ${liveAnswer}`,
	check: (payload, report) => {
		for (const { words, pointer } of shapeProblems(payload.kind, withoutEmptyMetadata(payload))) {
			report(words, pointer, errorFor(payload, pointer));
		}
	},
};

/** The blocks, elements and objects that the driver and the sandbox show and operate. */
const imitated = new Set(
	[
		['actions', 'context', 'divider', 'header', 'image', 'input', 'markdown', 'rich_text', 'section', 'table'],
		['button', 'checkboxes', 'datepicker', 'multi_static_select', 'multi_users_select', 'overflow', 'radio_buttons'],
		['static_select', 'timepicker', 'users_select'],
		['email_text_input', 'number_input', 'plain_text_input', 'url_text_input'],
		['plain_text', 'mrkdwn', 'raw_text', 'raw_number'],
		['rich_text_section', 'rich_text_quote', 'rich_text_preformatted'],
		['text', 'link', 'emoji', 'user', 'usergroup', 'channel', 'broadcast', 'date'],
	].flat(),
);

const notHere = 'not_in_this_fake_slack';
const fieldsNotHere = [
	'attachments',
	'markdown_text',
	'option_groups',
	'slack_file',
	'confirm',
	'focus_on_load',
	'timezone',
	'min_value',
	'max_value',
	'min_length',
];

/** So that a new kind of Slack's is refused too until somebody imitates it. */
const onlyImitated: Rule = {
	id: 'imitated:type',
	source: 'what this fake Slack shows and operates',
	check: (payload, report) => {
		for (const { type, pointer } of payload.parts) {
			if (!knownTypes.has(type) || imitated.has(type)) continue;
			report(`this fake Slack does not imitate ${type}`, `${pointer}/type`, notHere);
		}
	},
};

const onlyImitatedFields: Rule = {
	id: 'imitated:field',
	source: 'what this fake Slack shows and operates',
	check: (payload, report) => {
		for (const part of payload.parts) {
			for (const { name, pointer } of fieldsNotHere.flatMap((name) =>
				at(part, name).map((one) => ({ ...one, name })),
			)) {
				report(`this fake Slack does not imitate ${name}`, pointer, notHere);
			}
		}
	},
};

export const shapeTable: readonly Rule[] = [shape, onlyImitated, onlyImitatedFields];
