import type { FakeSlack } from './fake-slack.ts';
import type { Json } from './json.ts';

/** Calls a Web API method as an app does, with a JSON body. Returns Slack's response. */
export async function callSlack(slack: FakeSlack, method: string, args: Json, token = slack.tokens.bot): Promise<Json> {
	const response = await fetch(`${slack.apiUrl}${method}`, {
		method: 'POST',
		body: JSON.stringify(args),
		headers: { 'content-type': 'application/json; charset=utf-8', authorization: `Bearer ${token}` },
	});
	return (await response.json()) as Json;
}

/** A trigger as if Ada had just done something in the modal that is open for her. */
export function triggerInside(slack: FakeSlack): string {
	return slack.trigger('ada', { view: slack.as('ada').modal()?.id ?? '' });
}

const plain = (text: string) => ({ type: 'plain_text', text });

/** A modal with one text input; `id` is its block_id. */
export function inputModal(
	options: { title?: string; id?: string; initial?: string; extra?: Json; blocks?: Json[] } = {},
): Json {
	const { title = 'Title', id = 'answer', initial } = options;
	return {
		type: 'modal',
		title: plain(title),
		submit: plain('Send'),
		blocks: options.blocks ?? [
			{
				type: 'input',
				block_id: id,
				label: plain('Answer'),
				element: {
					type: 'plain_text_input',
					action_id: 'value',
					...(initial === undefined ? {} : { initial_value: initial }),
				},
			},
		],
		...options.extra,
	};
}
