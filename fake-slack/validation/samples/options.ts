import {
	type Accepted,
	accept,
	composition,
	element,
	inAccessory,
	inInput,
	LABEL,
	option,
	options,
	type Refused,
	refuse,
	stricter,
} from './sample.ts';

const chosen = 'must exactly match one of the provided options';

export const optionAccepted: Accepted[] = [
	accept(
		'a link in a menu',
		inAccessory({ type: 'overflow', options: [{ ...option('a'), url: 'https://example.com' }] }),
	),
];

/** Options of one select, group of radio buttons or checkboxes, or overflow menu. */
export const optionRefused: Refused[] = [
	refuse(
		'an option without value',
		composition('option'),
		{ says: 'missing required field: value', pointer: '/view/blocks/0/element/options/0' },
		inInput({ type: 'static_select', options: [{ text: LABEL }] }),
	),
	refuse(
		'two radio buttons with one value',
		`${composition('option')}: "A unique string value"`,
		{ says: 'option value "a" already exists', pointer: '/view/blocks/0/element/options/1/value' },
		inInput({ type: 'radio_buttons', options: [option('a'), { text: LABEL, value: 'a' }] }),
	),
	refuse(
		'a choice that only looks like an option',
		`${element('select-menu')}: "exactly matches one of the options"`,
		{ says: chosen, pointer: '/view/blocks/0/element/initial_option' },
		inInput({ type: 'static_select', options: options(2), initial_option: { text: LABEL, value: 'option 0' } }),
	),
	refuse(
		'a choice of checkboxes that is not offered',
		`${element('checkboxes')}: "exactly matches one or more of the options"`,
		{ says: chosen, pointer: '/view/blocks/0/element/initial_options/0' },
		inInput({ type: 'checkboxes', options: options(2), initial_options: [option('c')] }),
	),
	refuse(
		'a choice made twice',
		stricter('no page says so; a box cannot be ticked twice'),
		{ says: 'must not repeat an option', pointer: '/view/blocks/0/element/initial_options/1' },
		inInput({ type: 'checkboxes', options: options(2), initial_options: [option('option 0'), option('option 0')] }),
	),
	refuse(
		'a select without options',
		element('select-menu'),
		{ says: 'must define `options`', pointer: '/view/blocks/0/element' },
		inInput({ type: 'static_select' }),
	),
	refuse(
		'several choices of nothing',
		element('multi-select-menu'),
		{ says: 'must define `options`', pointer: '/view/blocks/0/element' },
		inInput({ type: 'multi_static_select' }),
	),
	refuse(
		'a link in a select',
		`${composition('option')}: "only available in overflow menus"`,
		{ says: 'invalid additional property: url', pointer: '/view/blocks/0/element/options/0' },
		inInput({ type: 'static_select', options: [{ ...option('a'), url: 'https://example.com' }] }),
	),
];
