import type { ItemJson, MessageJson, SessionJson } from './json.ts';

/** An unanswered item; titles and descriptions may be empty. */
export function item(title: string, description = ''): ItemJson {
	return { title, description, value: '' };
}

/** The first message of a session: its task. */
export function task(content: string): MessageJson {
	return { role: 'user', content };
}

/** A step that was done before anybody looks at the session. */
export function done(content: string, ...actions: Record<string, unknown>[]): MessageJson {
	return { role: 'assistant', content, agent_data: { action: actions } };
}

/** A message that asks; a string stands for an item with this title. */
export function asking(content: string, items: readonly (string | ItemJson)[]): MessageJson {
	return {
		role: 'assistant',
		content,
		agent_data: { action: [{ ask_human: { items: items.length } }] },
		human_input: items.map((one) => (typeof one === 'string' ? item(one) : { ...one })),
	};
}

/** A session that waits for answers to these items, in its second message. */
export function askingSession(items: readonly (string | ItemJson)[], fields: SessionJson = {}): SessionJson {
	return {
		status: 'humanInput',
		messages: [task('Do it.'), asking('I need to know something.', items)],
		...fields,
	};
}
