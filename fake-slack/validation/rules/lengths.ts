import { at } from '../payload.ts';
import type { SlackErrorCode } from '../problem.ts';
import { lengthOf, liveAnswer, partsOf, type Row, type Rule, reference, stricter, types } from '../rule.ts';

/** A text and the most characters it may have. */
export type LengthRow = Row & {
	/** The part's `type`; `*` for any. */
	type: string;
	path: string;
	limit: number;
	error?: SlackErrorCode;
};

const limit = (type: string, path: string, max: number, source: string = types): LengthRow => ({
	id: `length:${type}.${path}`,
	type,
	path,
	limit: max,
	source,
});

const chart = `${reference}/blocks/data-visualization-block`;

const optionOwners = ['static_select', 'multi_static_select', 'radio_buttons', 'checkboxes', 'overflow'];
const optionLimits = optionOwners.flatMap((type) => [
	limit(type, 'options[].text.text', 75),
	// The types still say 75; the reference raised it to 150.
	limit(type, 'options[].value', 150, `${reference}/composition-objects/option-object`),
	limit(type, 'options[].description.text', 75),
]);
const groupLimits = ['static_select', 'multi_static_select'].flatMap((type) => [
	limit(type, 'option_groups[].label.text', 75),
	limit(type, 'option_groups[].options[].text.text', 75),
	limit(type, 'option_groups[].options[].value', 150, `${reference}/composition-objects/option-object`),
	limit(type, 'option_groups[].options[].description.text', 75),
]);

export const lengthTable: readonly LengthRow[] = [
	// Slack answers postMessage with a silently cut text; no caller here wants that, so it is refused.
	{ ...limit('message', 'text', 40_000, 'docs.slack.dev/reference/methods/chat.postMessage'), error: 'msg_too_long' },
	{
		...limit(
			'message',
			'markdown_text',
			12_000,
			'docs.slack.dev/reference/methods/chat.postMessage; the code: no source',
		),
		error: 'msg_too_long',
	},
	limit('view', 'title.text', 24, liveAnswer),
	limit('view', 'submit.text', 24),
	limit('view', 'close.text', 24),
	limit('view', 'private_metadata', 3000, liveAnswer),
	limit('view', 'callback_id', 255),
	limit('view', 'external_id', 255, 'docs.slack.dev/reference/methods/views.open'),
	limit('*', 'block_id', 255),
	limit('*', 'action_id', 255),
	limit('plain_text', 'text', 3000),
	limit('mrkdwn', 'text', 3000, liveAnswer),
	limit('section', 'fields[].text', 2000),
	limit('header', 'text.text', 150),
	limit('input', 'label.text', 2000),
	limit('input', 'hint.text', 2000),
	limit('*', 'placeholder.text', 150),
	limit('*', 'confirm.title.text', 100),
	limit('*', 'confirm.text.text', 300),
	limit('*', 'confirm.confirm.text', 30),
	limit('*', 'confirm.deny.text', 30),
	limit('image', 'alt_text', 2000),
	limit('image', 'image_url', 3000, `${reference}/blocks/image-block`),
	limit('image', 'slack_file.url', 3000, `${reference}/blocks/image-block`),
	limit('image', 'title.text', 2000),
	limit('button', 'text.text', 75),
	limit('button', 'value', 2000),
	limit('button', 'url', 3000),
	limit('button', 'accessibility_label', 75),
	limit('workflow_button', 'text.text', 75),
	limit('workflow_button', 'accessibility_label', 75),
	limit('icon_button', 'text.text', 75, stricter),
	limit('icon_button', 'accessibility_label', 75),
	limit('icon_button', 'value', 2000, `${reference}/block-elements/icon-button-element`),
	...['positive_button', 'negative_button'].flatMap((name) => [
		limit('feedback_buttons', `${name}.text.text`, 75, `${reference}/block-elements/feedback-buttons-element`),
		limit('feedback_buttons', `${name}.value`, 2000, `${reference}/block-elements/feedback-buttons-element`),
		limit('feedback_buttons', `${name}.accessibility_label`, 75),
	]),
	...optionLimits,
	...groupLimits,
	limit('overflow', 'options[].url', 3000),
	limit('plain_text_input', 'initial_value', 3000, `${reference}/block-elements/plain-text-input-element`),
	limit('alert', 'text.text', 200, `${reference}/blocks/alert-block`),
	limit('card', 'title.text', 150),
	limit('card', 'subtitle.text', 150),
	limit('card', 'body.text', 200),
	limit('card', 'subtext.text', 200, `${reference}/blocks/card-block`),
	limit('container', 'title.text', 150),
	limit('container', 'subtitle.text', 150),
	limit('video', 'title.text', 199),
	limit('video', 'author_name', 49),
	limit('data_visualization', 'title', 50, chart),
	limit('data_visualization', 'chart.segments[].label', 20, chart),
	limit('data_visualization', 'chart.series[].name', 20, chart),
	limit('data_visualization', 'chart.axis_config.categories[]', 20, chart),
	limit('data_visualization', 'chart.axis_config.x_label', 50, chart),
	limit('data_visualization', 'chart.axis_config.y_label', 50, chart),
];

/** A text that may be left out but not be empty. */
export type EmptyRow = Row & {
	type: string;
	path: string;
	/** White space of a rich text's own is layout and allowed; of other texts Slack trims some before it looks. */
	mayBeBlank?: true;
};

const neverEmpty = (type: string, path: string, source: string): EmptyRow => ({
	id: `empty:${type}.${path}`,
	type,
	path,
	source,
});

export const emptyTable: readonly EmptyRow[] = [
	neverEmpty('plain_text', 'text', liveAnswer),
	neverEmpty('mrkdwn', 'text', liveAnswer),
	neverEmpty('markdown', 'text', liveAnswer),
	neverEmpty('raw_text', 'text', types),
	neverEmpty('raw_number', 'text', types),
	neverEmpty('*', 'block_id', stricter),
	neverEmpty('*', 'action_id', stricter),
	neverEmpty('image', 'alt_text', stricter),
	neverEmpty('button', 'value', stricter),
	neverEmpty('*', 'options[].value', stricter),
	neverEmpty('*', 'option_groups[].options[].value', stricter),
	neverEmpty('*', 'initial_value', stricter),
	neverEmpty('emoji', 'name', stricter),
	neverEmpty('task_card', 'title', stricter),
	neverEmpty('task_card', 'task_id', stricter),
	neverEmpty('plan', 'title', stricter),
	neverEmpty('data_table', 'caption', stricter),
	neverEmpty('plan', 'tasks[].title', stricter),
	neverEmpty('plan', 'tasks[].task_id', stricter),
	neverEmpty('file_input', 'filetypes[]', stricter),
	neverEmpty('data_visualization', 'title', stricter),
	neverEmpty('data_visualization', 'chart.segments[].label', stricter),
	neverEmpty('data_visualization', 'chart.series[].name', stricter),
	neverEmpty('data_visualization', 'chart.axis_config.categories[]', stricter),
	{ ...neverEmpty('text', 'text', liveAnswer), mayBeBlank: true },
	neverEmpty('link', 'text', stricter),
	neverEmpty('user', 'user_id', stricter),
	neverEmpty('usergroup', 'usergroup_id', stricter),
	neverEmpty('channel', 'channel_id', stricter),
	neverEmpty('date', 'format', stricter),
	neverEmpty('date', 'fallback', stricter),
];

export function lengthRule(row: LengthRow): Rule {
	const { type, path, limit: max, error } = row;
	return {
		...row,
		check: (payload, report) => {
			for (const { value, pointer } of partsOf(payload, type).flatMap((part) => at(part, path))) {
				if (typeof value !== 'string' || lengthOf(value) <= max) continue;
				report(`must be less than ${max + 1} characters`, pointer, error);
			}
		},
	};
}

export function emptyRule(row: EmptyRow): Rule {
	return {
		...row,
		check: (payload, report) => {
			for (const { value, pointer } of partsOf(payload, row.type).flatMap((part) => at(part, row.path))) {
				if (typeof value !== 'string' || (row.mayBeBlank ? value : value.trim()) !== '') continue;
				report('must be more than 0 characters', pointer);
			}
		},
	};
}
