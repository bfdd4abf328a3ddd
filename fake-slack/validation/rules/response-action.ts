import { isObject, type Payload } from '../payload.ts';
import { liveAnswer, type Report, type Row, stricter } from '../rule.ts';

/** A rule over the `errors` of `response_action: 'errors'`. Slack answers a broken one with "trouble connecting". */
export type ErrorsRule = Row & {
	check: (view: Payload, errors: unknown, report: Report) => void;
};

const docs = 'docs.slack.dev/surfaces/modals: displaying errors';

export const errorsTable: readonly ErrorsRule[] = [
	{
		id: 'errors:object',
		source: docs,
		check: (_view, errors, report) => {
			if (!isObject(errors)) report('must provide an object', '/errors');
		},
	},
	{
		id: 'errors:not-empty',
		source: stricter,
		check: (_view, errors, report) => {
			if (isObject(errors) && Object.keys(errors).length === 0) report('no fewer than 1 items allowed', '/errors');
		},
	},
	{
		id: 'errors:input-blocks',
		source: `${docs}; ${liveAnswer}`,
		check: (view, errors, report) => {
			if (!isObject(errors)) return;
			const inputs = view.parts.filter((part) => part.type === 'input').map((part) => part.value.block_id);
			for (const id of Object.keys(errors)) {
				if (!inputs.includes(id)) report(`no input block with the block_id "${id}" in the view`, `/errors/${id}`);
			}
		},
	},
	{
		id: 'errors:text',
		source: stricter,
		check: (_view, errors, report) => {
			if (!isObject(errors)) return;
			for (const [id, text] of Object.entries(errors)) {
				if (typeof text !== 'string' || text.trim() === '') report('must provide a string', `/errors/${id}`);
			}
		},
	},
];
