import { isDeepStrictEqual } from 'node:util';
import { at, type Found, isObject, type Part } from '../payload.ts';
import { liveAnswer, type Rule, reference, stricter } from '../rule.ts';

/** Rules over the options of one select, group of radio buttons or checkboxes, or overflow menu. */

function optionsOf(part: Part): Found[] {
	return [...at(part, 'options[]'), ...at(part, 'option_groups[].options[]')].filter(({ value }) => isObject(value));
}

const valueRequired: Rule = {
	id: 'options:value-required',
	source: `${reference}/composition-objects/option-object`,
	check: (payload, report) => {
		for (const option of payload.parts.flatMap(optionsOf)) {
			if (isObject(option.value) && option.value.value === undefined) {
				report('missing required field: value', option.pointer);
			}
		}
	},
};

const distinctValues: Rule = {
	id: 'options:distinct-values',
	source: `${reference}/composition-objects/option-object: a unique string value`,
	check: (payload, report) => {
		for (const part of payload.parts) {
			const seen = new Set<string>();
			for (const { value, pointer } of optionsOf(part)) {
				const own = isObject(value) ? value.value : undefined;
				if (typeof own !== 'string') continue;
				if (seen.has(own)) report(`option value "${own}" already exists`, `${pointer}/value`);
				seen.add(own);
			}
		}
	},
};

const chosen = 'must exactly match one of the provided options';

function initialRule(id: string, path: string): Rule {
	return {
		id,
		source: `${reference}/block-elements: exactly matches one of the options; ${liveAnswer}`,
		check: (payload, report) => {
			for (const part of payload.parts) {
				const options = optionsOf(part);
				// The options of an external select are not known here.
				if (options.length === 0) continue;
				for (const initial of at(part, path)) {
					const isOffered = options.some(({ value }) => isDeepStrictEqual(value, initial.value));
					if (!isOffered) report(chosen, initial.pointer);
				}
			}
		},
	};
}

const distinctInitialOptions: Rule = {
	id: 'options:distinct-initial-options',
	source: stricter,
	check: (payload, report) => {
		for (const part of payload.parts) {
			const initial = at(part, 'initial_options[]');
			initial.forEach(({ value, pointer }, index) => {
				const isRepeated = initial.slice(0, index).some((earlier) => isDeepStrictEqual(earlier.value, value));
				if (isRepeated) report('must not repeat an option', pointer);
			});
		}
	},
};

const optionsOrGroups: Rule = {
	id: 'options:options-or-groups',
	source: `${reference}/block-elements/select-menu-element`,
	check: (payload, report) => {
		for (const part of payload.parts) {
			if (part.type !== 'static_select' && part.type !== 'multi_static_select') continue;
			const given = ['options', 'option_groups'].filter((name) => part.value[name] !== undefined);
			if (given.length !== 1) report('must define exactly one of `options` or `option_groups`', part.pointer);
		}
	},
};

/** Options with `url`: the types cannot tell whose options they are. */
const optionUrls: Rule = {
	id: 'options:url',
	source: `${reference}/composition-objects/option-object: only available in overflow menus`,
	check: (payload, report) => {
		for (const part of payload.parts) {
			if (part.type === 'overflow') continue;
			for (const { value, pointer } of optionsOf(part)) {
				if (isObject(value) && value.url !== undefined) report('invalid additional property: url', pointer);
			}
		}
	},
};

export const optionTable: readonly Rule[] = [
	valueRequired,
	distinctValues,
	initialRule('options:initial-option', 'initial_option'),
	initialRule('options:initial-options', 'initial_options[]'),
	distinctInitialOptions,
	optionsOrGroups,
	optionUrls,
];
