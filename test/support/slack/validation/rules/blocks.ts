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

const oneTable: Rule = {
	id: 'block:table:once',
	source: `${reference}/blocks/table-block: one table for a message`,
	check: (payload, report) => {
		for (const { pointer } of partsOf(payload, 'table').slice(1)) report('only one table allowed', pointer);
	},
};

export const blockRules: Rule[] = [
	oneOf('section', ['text', 'fields'], `${reference}/blocks/section-block`),
	oneOf('card', ['hero_image', 'title', 'actions', 'body'], types),
	oneOf('container', ['title', 'rich_text_title'], types),
	collapsed,
	oneTable,
];
