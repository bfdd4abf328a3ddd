import {
	type Accepted,
	accept,
	LABEL,
	modal,
	type Refused,
	refuse,
	SECTION,
	type Subject,
	stricter,
} from './sample.ts';

const form = modal(
	SECTION,
	{ ...SECTION, block_id: 'text' },
	{ type: 'input', block_id: 'q0', label: LABEL, element: { type: 'plain_text_input' } },
);
const errors = (value: unknown): Subject => ({ kind: 'errors', view: form, value });
const page = 'docs.slack.dev/surfaces/modals: displaying errors in views';

export const errorsAccepted: Accepted[] = [accept('errors at an input', errors({ q0: 'Please answer.' }))];

/** The `errors` of `response_action: 'errors'`. */
export const errorsRefused: Refused[] = [
	refuse(
		'errors at a section',
		`${page}: the block_ids of input blocks`,
		{ says: 'no input block with the block_id "text" in the view', pointer: '/errors/text' },
		errors({ text: 'No' }),
	),
	refuse(
		'errors at an unknown block',
		page,
		{ says: 'no input block with the block_id "q1" in the view', pointer: '/errors/q1' },
		errors({ q1: 'No' }),
	),
	refuse(
		'errors without a word',
		stricter('no page says so; nobody would see what is wrong'),
		{ says: 'must provide a string', pointer: '/errors/q0' },
		errors({ q0: ' ' }),
	),
	refuse(
		'no errors',
		stricter('no page says so; the modal would stay open without a reason'),
		{ says: 'no fewer than 1 items allowed', pointer: '/errors' },
		errors({}),
	),
	refuse('errors that are a list', page, { says: 'must provide an object', pointer: '/errors' }, errors(['No'])),
];
