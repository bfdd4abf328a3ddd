import { at } from '../payload.ts';
import { liveAnswer, partsOf, type Row, type Rule, reference, stricter, types } from '../rule.ts';

/** One end of a range: of how many items a list has, or of a number. */
export type LimitRow = Row & { type: string; path: string; end: 'min' | 'max'; limit: number };

const chart = `${reference}/blocks/data-visualization-block; 12 where older copies of the page say 6`;
const dataTable = `${reference}/blocks/data-table-block`;
const plan = `${reference}/blocks/plan-block, as docs.rs/slack-morphism 2.30 gives it`;

const options = `${types}; at least one: ${liveAnswer} (yhatt/jsx-slack #85)`;

function ends(
	kind: string,
	{ type, path, source }: { type: string; path: string; source: string },
	limits: { min?: number; max?: number },
) {
	return (['min', 'max'] as const).flatMap((end): LimitRow[] => {
		const limit = limits[end];
		return limit === undefined ? [] : [{ id: `${kind}:${type}.${path}:${end}`, type, path, end, limit, source }];
	});
}

const count = (type: string, path: string, limits: { min?: number; max?: number }, source: string = types) =>
	ends('count', { type, path, source }, limits);

/** Lists and how many items each may have. */
export const countTable: readonly LimitRow[] = [
	...count('message', 'blocks', { max: 50 }, liveAnswer),
	...count('message', 'attachments', { max: 100 }, 'docs.slack.dev/reference/methods/chat.postMessage'),
	...count('view', 'blocks', { max: 100 }, liveAnswer),
	...count('section', 'fields', { min: 1, max: 10 }, liveAnswer),
	...count('actions', 'elements', { max: 25 }, liveAnswer),
	...count('actions', 'elements', { min: 1 }, stricter),
	...count('context', 'elements', { max: 10 }),
	...count('context', 'elements', { min: 1 }, stricter),
	...count('context_actions', 'elements', { max: 5 }),
	...count('context_actions', 'elements', { min: 1 }, stricter),
	...count('card', 'actions', { max: 3 }, `${reference}/blocks/card-block`),
	...count('card', 'actions', { min: 1 }, stricter),
	...count('carousel', 'elements', { min: 1, max: 10 }),
	...count('container', 'child_blocks', { max: 10 }),
	...count('container', 'child_blocks', { min: 1 }, stricter),
	...count('table', 'rows', { max: 100 }),
	...count('table', 'rows', { min: 1 }, stricter),
	...count('table', 'rows[]', { max: 20 }),
	...count('table', 'rows[]', { min: 1 }, stricter),
	...count('table', 'column_settings', { max: 20 }),
	...count('data_table', 'rows', { min: 2, max: 101 }, dataTable),
	...count('data_table', 'rows[]', { min: 1, max: 20 }, dataTable),
	...count('data_visualization', 'chart.segments', { min: 1, max: 12 }, chart),
	...count('data_visualization', 'chart.series', { min: 1, max: 12 }, chart),
	...count('data_visualization', 'chart.axis_config.categories', { min: 1, max: 20 }, chart),
	...count('plan', 'tasks', { max: 50 }, plan),
	...count('rich_text', 'elements', { min: 1 }, liveAnswer),
	...['rich_text_section', 'rich_text_list', 'rich_text_quote', 'rich_text_preformatted'].flatMap((type) =>
		count(type, 'elements', { min: 1 }, stricter),
	),
	...['static_select', 'multi_static_select'].flatMap((type) => [
		...count(type, 'options', { min: 1, max: 100 }, options),
		...count(type, 'option_groups', { min: 1, max: 100 }, options),
		...count(type, 'option_groups[].options', { min: 1, max: 100 }, options),
	]),
	...count('radio_buttons', 'options', { min: 1, max: 10 }, options),
	...count('checkboxes', 'options', { min: 1, max: 10 }, options),
	...count('overflow', 'options', { min: 1, max: 5 }, options),
	...count('*', 'initial_options', { min: 1 }, stricter),
	...count('*', 'dispatch_action_config.trigger_actions_on', { min: 1, max: 2 }),
	...count('file_input', 'filetypes', { min: 1 }, stricter),
	...count('*', 'filter.include', { min: 1 }, `${reference}/composition-objects/conversation-filter-object`),
];

const number = (type: string, path: string, limits: { min?: number; max?: number }, source: string = types) =>
	ends('number', { type, path, source }, limits);

/** Numbers and their ranges. */
export const numberTable: readonly LimitRow[] = [
	...number('plain_text_input', 'min_length', { min: 0, max: 3000 }),
	...number(
		'plain_text_input',
		'max_length',
		{ min: 1, max: 3000 },
		`${reference}/block-elements/plain-text-input-element`,
	),
	...number('rich_text_input', 'min_lines', { min: 1, max: 100 }),
	...number('rich_text_input', 'max_lines', { min: 1, max: 100 }),
	...number('file_input', 'max_files', { min: 1, max: 10 }),
	...number('*', 'max_selected_items', { min: 1 }),
	...number('data_table', 'page_size', { min: 1, max: 100 }),
	...number('data_table', 'row_header_column_index', { min: 0 }, `${dataTable}: a 0-based index`),
	...number('rich_text_list', 'indent', { min: 0, max: 8 }),
	...number('rich_text_list', 'offset', { min: 0 }, stricter),
	...number(
		'datetimepicker',
		'initial_date_time',
		{ min: 1_000_000_000, max: 9_999_999_999 },
		`${reference}/block-elements/datetime-picker-element: 10 digits`,
	),
];

/** A number that has no fraction. */
export type WholeRow = Row & { type: string; path: string };

/** A number of lines, files or characters, an index, a time in seconds: the types only say `number`. */
export const wholeTable: readonly WholeRow[] = numberTable
	.filter(({ type, path }, index) => {
		const first = numberTable.findIndex((row) => row.type === type && row.path === path);
		return first === index;
	})
	.map(({ type, path }) => ({
		id: `whole:${type}.${path}`,
		type,
		path,
		source: `${reference}/block-elements and /blocks: Integer`,
	}));

export function countRule(row: LimitRow): Rule {
	const { type, path, end, limit } = row;
	const words = `no ${end === 'min' ? 'fewer' : 'more'} than ${limit} items allowed`;
	return {
		...row,
		check: (payload, report) => {
			for (const { value, pointer } of partsOf(payload, type).flatMap((part) => at(part, path))) {
				if (!Array.isArray(value)) continue;
				if (end === 'min' ? value.length < limit : value.length > limit) report(words, pointer);
			}
		},
	};
}

export function numberRule(row: LimitRow): Rule {
	const { type, path, end, limit } = row;
	const words = `must be at ${end === 'min' ? 'least' : 'most'} ${limit}`;
	return {
		...row,
		check: (payload, report) => {
			for (const { value, pointer } of partsOf(payload, type).flatMap((part) => at(part, path))) {
				if (typeof value !== 'number') continue;
				if (end === 'min' ? value < limit : value > limit) report(words, pointer);
			}
		},
	};
}

export function wholeRule(row: WholeRow): Rule {
	return {
		...row,
		check: (payload, report) => {
			for (const { value, pointer } of partsOf(payload, row.type).flatMap((part) => at(part, row.path))) {
				if (typeof value === 'number' && !Number.isInteger(value)) report('must be a whole number', pointer);
			}
		},
	};
}
