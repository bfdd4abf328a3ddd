import { isDeepStrictEqual } from 'node:util';
import { at, type Found, isObject, type Part } from '../payload.ts';
import { liveAnswer, partsOf, type Rule, reference, stricter } from '../rule.ts';

/** Rules over the options of one select, group of radio buttons or checkboxes, or overflow menu. */

function optionsOf(part: Part): Found[] {
	return at(part, 'options[]').filter(({ value }) => isObject(value));
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

/** The types have both as optional. */
const optionsNeeded: Rule = {
	id: 'options:needed',
	source: `${reference}/block-elements/select-menu-element`,
	check: (payload, report) => {
		for (const { value, pointer } of ['static_select', 'multi_static_select'].flatMap((one) => partsOf(payload, one))) {
			if (value.options === undefined) report('must define `options`', pointer);
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
	optionsNeeded,
	optionUrls,
];
