import { at } from '../payload.ts';
import { liveAnswer, partsOf, type Rule, reference, stricter, types } from '../rule.ts';

export type CountLimit = {
	type: string;
	path: string;
	min?: number;
	max?: number;
	source: string;
};

const count = (type: string, path: string, limits: { min?: number; max?: number }, source = types): CountLimit => ({
	type,
	path,
	...limits,
	source,
});

/** Lists and how many items each may have. */
export const countLimits: CountLimit[] = [
	count('message', 'blocks', { max: 50 }, liveAnswer),
	count('message', 'attachments', { max: 100 }, 'docs.slack.dev/reference/methods/chat.postMessage'),
	count('view', 'blocks', { max: 100 }),
	count('section', 'fields', { min: 1, max: 10 }, liveAnswer),
	count('actions', 'elements', { min: 1, max: 25 }, liveAnswer),
	count('context', 'elements', { min: 1, max: 10 }),
	count('context_actions', 'elements', { min: 1, max: 5 }),
	count('carousel', 'elements', { min: 1, max: 10 }),
	count('container', 'child_blocks', { min: 1, max: 10 }),
	count('table', 'rows', { min: 1, max: 100 }),
	count('table', 'rows[]', { min: 1, max: 20 }),
	count('table', 'column_settings', { max: 20 }),
	count('data_table', 'rows', { min: 1 }, stricter),
	count('rich_text', 'elements', { min: 1 }, liveAnswer),
	...['rich_text_section', 'rich_text_list', 'rich_text_quote', 'rich_text_preformatted'].map((type) =>
		count(type, 'elements', { min: 1 }, stricter),
	),
	...['static_select', 'multi_static_select'].flatMap((type) => [
		count(type, 'options', { min: 1, max: 100 }),
		count(type, 'option_groups', { min: 1, max: 100 }),
		count(type, 'option_groups[].options', { min: 1, max: 100 }),
	]),
	count('radio_buttons', 'options', { min: 1, max: 10 }),
	count('checkboxes', 'options', { min: 1, max: 10 }, liveAnswer),
	count('overflow', 'options', { min: 1, max: 5 }),
	count('*', 'initial_options', { min: 1 }, stricter),
	count('*', 'dispatch_action_config.trigger_actions_on', { min: 1, max: 2 }),
];

export type NumberLimit = { type: string; path: string; min: number; max: number; source: string };

const number = (type: string, path: string, min: number, max: number, source = types): NumberLimit => ({
	type,
	path,
	min,
	max,
	source,
});

/** Whole numbers and their ranges. */
export const numberLimits: NumberLimit[] = [
	number('plain_text_input', 'min_length', 0, 3000),
	number('plain_text_input', 'max_length', 1, 3000, `${reference}/block-elements/plain-text-input-element`),
	number('rich_text_input', 'min_lines', 1, 100),
	number('rich_text_input', 'max_lines', 1, 100),
	number('file_input', 'max_files', 1, 10),
	number('*', 'max_selected_items', 1, Number.MAX_SAFE_INTEGER),
	number('data_table', 'page_size', 1, 100),
	number('rich_text_list', 'indent', 0, 8),
	number('datetimepicker', 'initial_date_time', 1_000_000_000, 9_999_999_999),
];

const counts: Rule[] = countLimits.flatMap(({ type, path, min = 0, max = Number.POSITIVE_INFINITY, source }) => {
	const rule = (end: 'min' | 'max', isWrong: (length: number) => boolean, words: string): Rule => ({
		id: `count:${type}.${path}:${end}`,
		source,
		check: (payload, report) => {
			for (const found of partsOf(payload, type).flatMap((part) => at(part, path))) {
				if (Array.isArray(found.value) && isWrong(found.value.length)) report(words, found.pointer);
			}
		},
	});
	const rules: Rule[] = [];
	if (min > 0) rules.push(rule('min', (length) => length < min, `no fewer than ${min} items allowed`));
	if (max < Number.POSITIVE_INFINITY) {
		rules.push(rule('max', (length) => length > max, `no more than ${max} items allowed`));
	}
	return rules;
});

const numbers: Rule[] = numberLimits.map(({ type, path, min, max, source }) => ({
	id: `number:${type}.${path}`,
	source,
	check: (payload, report) => {
		for (const { value, pointer } of partsOf(payload, type).flatMap((part) => at(part, path))) {
			if (typeof value !== 'number' || (Number.isInteger(value) && value >= min && value <= max)) continue;
			report(`must be a whole number from ${min} to ${max}`, pointer);
		}
	},
}));

export const countRules: Rule[] = [...counts, ...numbers];
