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
	types,
} from './sample.ts';

const boundsOf = (name: string) =>
	stricter(`${types(name)} gives the range only; nothing lies in one that ends before it begins`);
const outside = stricter('no page says so; the client would refuse it from a person');
const outsideScheme = `${element('button')}: "A URL to load in the user's browser"`;

export const inputAccepted: Accepted[] = [
	accept('equal lengths', inInput({ type: 'plain_text_input', min_length: 4, max_length: 4, initial_value: 'abcd' })),
	accept('equal lines', inInput({ type: 'rich_text_input', min_lines: 3, max_lines: 3 })),
	accept(
		'numbers at their bounds',
		inInput({ type: 'number_input', is_decimal_allowed: false, initial_value: '9', min_value: '9', max_value: '9' }),
	),
	accept('a link to write a mail', inActions({ ...BUTTON, url: 'mailto:ann@example.com' })),
	accept('several file types', inInput({ type: 'file_input', filetypes: ['pdf', 'tar-gz', '7z'] })),
];

/** What elements are given to start with, and their bounds. */
export const inputRefused: Refused[] = [
	refuse(
		'a min_length above max_length',
		boundsOf('PlainTextInput'),
		{ says: 'must not be greater than max_length', pointer: '/view/blocks/0/element/min_length' },
		inInput({ type: 'plain_text_input', min_length: 5, max_length: 4 }),
	),
	refuse(
		'a min_value above max_value',
		`${types('NumberInput')}: min_value "cannot be greater than max_value"`,
		{ says: 'must not be greater than max_value', pointer: '/view/blocks/0/element/min_value' },
		inInput({ type: 'number_input', is_decimal_allowed: true, min_value: '10', max_value: '9' }),
	),
	refuse(
		'more lines at least than at most',
		boundsOf('RichTextInput'),
		{ says: 'must not be greater than max_lines', pointer: '/view/blocks/0/element/min_lines' },
		inInput({ type: 'rich_text_input', min_lines: 9, max_lines: 3 }),
	),
	...['initial_value', 'min_value', 'max_value'].flatMap((field) => [
		refuse(
			`words for ${field}`,
			element('number-input'),
			{ says: 'must be a valid number', pointer: `/view/blocks/0/element/${field}` },
			inInput({ type: 'number_input', is_decimal_allowed: true, [field]: 'ten' }),
		),
		refuse(
			`a fraction for ${field}`,
			`${element('number-input')}: is_decimal_allowed`,
			{ says: 'must be a whole number when is_decimal_allowed is false', pointer: `/view/blocks/0/element/${field}` },
			inInput({ type: 'number_input', is_decimal_allowed: false, [field]: '1.5' }),
		),
	]),
	refuse(
		'a number below the least',
		outside,
		{ says: 'must lie between min_value and max_value', pointer: '/view/blocks/0/element/initial_value' },
		inInput({ type: 'number_input', is_decimal_allowed: false, initial_value: '0', min_value: '1' }),
	),
	refuse(
		'a number above the greatest',
		outside,
		{ says: 'must lie between min_value and max_value', pointer: '/view/blocks/0/element/initial_value' },
		inInput({ type: 'number_input', is_decimal_allowed: false, initial_value: '10', max_value: '9' }),
	),
	refuse(
		'a value longer than max_length',
		outside,
		{ says: 'must be less than 5 characters', pointer: '/view/blocks/0/element/initial_value' },
		inInput({ type: 'plain_text_input', max_length: 4, initial_value: 'abcde' }),
	),
	refuse(
		'a value shorter than min_length',
		outside,
		{ says: 'must be more than 4 characters', pointer: '/view/blocks/0/element/initial_value' },
		inInput({ type: 'plain_text_input', min_length: 5, initial_value: 'abcd' }),
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
		'an unknown time zone',
		`${element('time-picker')}: IANA format`,
		{ says: 'must be an IANA time zone', pointer: '/view/blocks/0/element/timezone' },
		inInput({ type: 'timepicker', timezone: 'Mars/Olympus' }),
	),
	refuse(
		'a file type with a dot',
		stricter(`${element('file-input')} speaks of valid file extensions and gives them without`),
		{ says: 'must be a file extension without a dot', pointer: '/view/blocks/0/element/filetypes/1' },
		inInput({ type: 'file_input', filetypes: ['pdf', '.doc'] }),
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
	...['video_url', 'title_url'].map((field) =>
		refuse(
			`a ${field} without encryption`,
			`${block('video')}: must be https`,
			{ says: 'must be a valid https URL', pointer: `/blocks/0/${field}` },
			inMessage({
				type: 'video',
				video_url: 'https://example.com',
				thumbnail_url: 'https://example.com/t',
				alt_text: 'v',
				title: LABEL,
				[field]: 'http://example.com',
			}),
		),
	),
];
