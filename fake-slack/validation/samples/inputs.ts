import {
	type Accepted,
	accept,
	BUTTON,
	block,
	composition,
	element,
	inAccessory,
	inActions,
	inInput,
	inMessage,
	LABEL,
	type Refused,
	refuse,
	stricter,
} from './sample.ts';

const outside = stricter('no page says so; the client would refuse it from a person');
const outsideScheme = `${element('button')}: "A URL to load in the user's browser"`;

export const inputAccepted: Accepted[] = [
	accept('a link to write a mail', inActions({ ...BUTTON, url: 'mailto:ann@example.com' })),
];

/** What elements are given to start with, and their bounds. */
export const inputRefused: Refused[] = [
	refuse(
		'words for a number',
		element('number-input'),
		{ says: 'must be a valid number', pointer: '/view/blocks/0/element/initial_value' },
		inInput({ type: 'number_input', is_decimal_allowed: true, initial_value: 'ten' }),
	),
	refuse(
		'a fraction for a whole number',
		`${element('number-input')}: is_decimal_allowed`,
		{
			says: 'must be a whole number when is_decimal_allowed is false',
			pointer: '/view/blocks/0/element/initial_value',
		},
		inInput({ type: 'number_input', is_decimal_allowed: false, initial_value: '1.5' }),
	),
	refuse(
		'a value longer than max_length',
		outside,
		{ says: 'must be less than 5 characters', pointer: '/view/blocks/0/element/initial_value' },
		inInput({ type: 'plain_text_input', max_length: 4, initial_value: 'abcde' }),
	),
	refuse(
		'no e-mail address',
		outside,
		{ says: 'must be a valid email address', pointer: '/view/blocks/0/element/initial_value' },
		inInput({ type: 'email_text_input', initial_value: 'ann' }),
	),
	refuse(
		'no address',
		outside,
		{ says: 'must be a valid URL', pointer: '/view/blocks/0/element/initial_value' },
		inInput({ type: 'url_text_input', initial_value: 'example' }),
	),
	refuse(
		'February 30',
		`${element('date-picker')}: YYYY-MM-DD`,
		{ says: 'must be a date as YYYY-MM-DD', pointer: '/view/blocks/0/element/initial_date' },
		inInput({ type: 'datepicker', initial_date: '2026-02-30' }),
	),
	refuse(
		'24:00',
		`${element('time-picker')}: HH:mm, 00 to 23`,
		{ says: 'must be a time as HH:mm', pointer: '/view/blocks/0/element/initial_time' },
		inInput({ type: 'timepicker', initial_time: '24:00' }),
	),
	refuse(
		'a picture from a file',
		block('image'),
		{ says: 'must be a valid URL', pointer: '/blocks/0/image_url' },
		inMessage({ type: 'image', image_url: 'file:///etc/passwd', alt_text: 'a' }),
	),
	refuse(
		'script in a button',
		outsideScheme,
		{ says: 'must be a valid URL', pointer: '/blocks/0/elements/0/url' },
		inActions({ ...BUTTON, url: 'javascript:alert(1)' }),
	),
	refuse(
		'script in a menu',
		composition('option'),
		{ says: 'must be a valid URL', pointer: '/blocks/0/accessory/options/0/url' },
		inAccessory({ type: 'overflow', options: [{ text: LABEL, value: 'a', url: 'javascript:1' }] }),
	),
	refuse(
		'script in rich text',
		stricter('no page names the schemes'),
		{ says: 'must be a valid URL', pointer: '/blocks/0/elements/0/elements/0/url' },
		inMessage({
			type: 'rich_text',
			elements: [{ type: 'rich_text_section', elements: [{ type: 'link', url: 'javascript:1' }] }],
		}),
	),
];
