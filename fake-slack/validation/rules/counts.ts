import { at } from '../payload.ts';
import { liveAnswer, partsOf, type Row, type Rule, reference, stricter, types } from '../rule.ts';

/** One end of a range: of how many items a list has, or of a number. */
export type LimitRow = Row & { type: string; path: string; end: 'min' | 'max'; limit: number };

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
	...count('view', 'blocks', { max: 100 }, liveAnswer),
	...count('section', 'fields', { min: 1, max: 10 }, liveAnswer),
	...count('actions', 'elements', { max: 25 }, liveAnswer),
	...count('actions', 'elements', { min: 1 }, stricter),
	...count('context', 'elements', { max: 10 }),
	...count('context', 'elements', { min: 1 }, stricter),
	...count('table', 'rows', { max: 100 }),
	...count('table', 'rows', { min: 1 }, stricter),
	...count('table', 'rows[]', { max: 20 }),
	...count('table', 'rows[]', { min: 1 }, stricter),
	...count('table', 'column_settings', { max: 20 }),
	...count('rich_text', 'elements', { min: 1 }, liveAnswer),
	...['rich_text_section', 'rich_text_quote', 'rich_text_preformatted'].flatMap((type) =>
		count(type, 'elements', { min: 1 }, stricter),
	),
	...['static_select', 'multi_static_select'].flatMap((type) => count(type, 'options', { min: 1, max: 100 }, options)),
	...count('radio_buttons', 'options', { min: 1, max: 10 }, options),
	...count('checkboxes', 'options', { min: 1, max: 10 }, options),
	...count('overflow', 'options', { min: 1, max: 5 }, options),
	...count('*', 'initial_options', { min: 1 }, stricter),
	...count('*', 'dispatch_action_config.trigger_actions_on', { min: 1, max: 2 }),
];

const number = (type: string, path: string, limits: { min?: number; max?: number }, source: string = types) =>
	ends('number', { type, path, source }, limits);

/** Numbers and their ranges. */
export const numberTable: readonly LimitRow[] = [
	...number(
		'plain_text_input',
		'max_length',
		{ min: 1, max: 3000 },
		`${reference}/block-elements/plain-text-input-element`,
	),
	...number('*', 'max_selected_items', { min: 1 }),
];

/** A number that has no fraction. */
export type WholeRow = Row & { type: string; path: string };

/** A number of characters or items, an indent, a time in seconds: the types only say `number`. */
export const wholeTable: readonly WholeRow[] = [...numberTable, { type: 'date', path: 'timestamp' }]
	.filter(({ type, path }, index, rows) => index === rows.findIndex((row) => row.type === type && row.path === path))
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
