import { at, isObject, repeated } from '../payload.ts';
import { partsOf, type Rule, reference, types } from '../rule.ts';

/** What a block must hold beyond the fields that are always required. */
function oneOf(type: string, names: readonly string[], source: string): Rule {
	return {
		id: `block:${type}`,
		source,
		check: (payload, report) => {
			for (const part of partsOf(payload, type)) {
				if (names.some((name) => part.value[name] !== undefined)) continue;
				report(`must define one of ${names.map((name) => `\`${name}\``).join(', ')}`, part.pointer);
			}
		},
	};
}

const collapsed: Rule = {
	id: 'block:container.default_collapsed',
	source: types,
	check: (payload, report) => {
		for (const { value, pointer } of partsOf(payload, 'container')) {
			if (value.default_collapsed === true && value.is_collapsible !== true) {
				report('must set `is_collapsible` to use `default_collapsed`', `${pointer}/default_collapsed`);
			}
		}
	},
};

const oneIcon: Rule = {
	id: 'block:card.slack_icon',
	source: `${reference}/blocks/card-block: "Mutually exclusive with icon"`,
	check: (payload, report) => {
		for (const { value, pointer } of partsOf(payload, 'card')) {
			if (value.icon !== undefined && value.slack_icon !== undefined) {
				report('must define only one of `icon`, `slack_icon`', pointer);
			}
		}
	},
};

const dataTable = `${reference}/blocks/data-table-block`;

const equalRows: Rule = {
	id: 'block:data_table:equal-rows',
	source: `${dataTable}: "All rows must have the same number of values"`,
	check: (payload, report) => {
		for (const part of partsOf(payload, 'data_table')) {
			const [header, ...rows] = at(part, 'rows[]');
			for (const row of rows) {
				if (!Array.isArray(header?.value) || !Array.isArray(row.value)) continue;
				if (row.value.length !== header.value.length) report('must have as many cells as the first row', row.pointer);
			}
		}
	},
};

const plainHeader: Rule = {
	id: 'block:data_table:plain-header',
	source: `${dataTable}: "rich_text cannot be used for header cells"`,
	check: (payload, report) => {
		for (const part of partsOf(payload, 'data_table')) {
			const header = `${part.pointer}/rows/0/`;
			for (const cell of partsOf(payload, 'rich_text')) {
				if (cell.pointer.startsWith(header)) report('unsupported type: rich_text', `${cell.pointer}/type`);
			}
		}
	},
};

const distinctTasks: Rule = {
	id: 'block:plan:distinct-tasks',
	source: `${reference}/blocks/plan-block, as docs.rs/slack-morphism 2.30 gives it`,
	check: (payload, report) => {
		for (const part of partsOf(payload, 'plan')) {
			for (const { value, pointer } of repeated(at(part, 'tasks[].task_id'))) {
				report(`\`task_id\` "${value}" already exists`, pointer);
			}
		}
	},
};

const someFilter: Rule = {
	id: 'block:filter',
	source: `${reference}/composition-objects/conversation-filter-object: "you must supply at least one of these fields"`,
	check: (payload, report) => {
		for (const part of payload.parts) {
			for (const { value, pointer } of at(part, 'filter')) {
				if (isObject(value) && Object.keys(value).length === 0) {
					report('must define one of `include`, `exclude_external_shared_channels`, `exclude_bot_users`', pointer);
				}
			}
		}
	},
};

export const blockTable: readonly Rule[] = [
	someFilter,
	oneOf('section', ['text', 'fields'], `${reference}/blocks/section-block`),
	oneOf('card', ['hero_image', 'title', 'actions', 'body'], types),
	oneOf('container', ['title', 'rich_text_title'], types),
	collapsed,
	oneIcon,
	equalRows,
	plainHeader,
	distinctTasks,
];
