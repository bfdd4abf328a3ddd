import {
	asMessage,
	BUTTON,
	block,
	inAccessory,
	inActions,
	inInput,
	inMessage,
	LABEL,
	option,
	type Refused,
	refuse,
	type Subject,
	stricter,
} from './sample.ts';

const notHere = stricter('nobody who uses this fake builds it');

const notImitated = (name: string, pointer: string, subject: Subject): Refused =>
	refuse(`the use of ${name}`, notHere, { says: `this fake Slack does not imitate ${name}`, pointer }, subject);

export const blockRefused: Refused[] = [
	refuse(
		'an empty section',
		block('section'),
		{ says: 'must define one of `text`, `fields`', pointer: '/blocks/0' },
		inMessage({ type: 'section' }),
	),
	notImitated('card', '/blocks/0/type', inMessage({ type: 'card', title: { type: 'mrkdwn', text: 'T' } })),
	notImitated('external_select', '/blocks/0/accessory/type', inAccessory({ type: 'external_select' })),
	notImitated('datetimepicker', '/view/blocks/0/element/type', inInput({ type: 'datetimepicker' })),
	notImitated(
		'team',
		'/blocks/0/elements/0/elements/0/type',
		inMessage({
			type: 'rich_text',
			elements: [{ type: 'rich_text_section', elements: [{ type: 'team', team_id: 'T1' }] }],
		}),
	),
	notImitated(
		'option_groups',
		'/view/blocks/0/element/option_groups',
		inInput({
			type: 'static_select',
			options: [option('a')],
			option_groups: [{ label: LABEL, options: [option('a')] }],
		}),
	),
	notImitated(
		'slack_file',
		'/blocks/0/slack_file',
		inMessage({ type: 'image', alt_text: 'A', slack_file: { id: 'F1' } }),
	),
	notImitated(
		'confirm',
		'/blocks/0/elements/0/confirm',
		inActions({ ...BUTTON, confirm: { title: LABEL, text: LABEL } }),
	),
	notImitated('attachments', '/attachments', asMessage({ text: 'a', attachments: [{ text: 'b' }] })),
	notImitated('markdown_text', '/markdown_text', asMessage({ text: 'a', markdown_text: '# Report' })),
];
