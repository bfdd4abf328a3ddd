const plain = (text: string) => ({ type: 'plain_text', text });
export const section = (text: string) => ({ type: 'section', text: plain(text) });

export function messageOf(text: string, label: string) {
	const button = { type: 'button', action_id: 'press', text: plain(label), value: label };
	return { text, blocks: [section(text), { type: 'actions', elements: [button] }] };
}
export const ROOT = messageOf(
	'Handraise checks this Slack. The terminal says how. Delete this if it stays.',
	'No window',
);

export function windowOf(...blocks: readonly object[]) {
	const [title, submit, close] = ['Handraise check', 'Send', 'Close'].map(plain);
	return { type: 'modal', callback_id: 'live', title, submit, close, blocks };
}
const words = (text: string, style?: object) => ({ type: 'text', text, ...style });
function richText(type: string, ...elements: readonly object[]) {
	return { type: 'rich_text', elements: [{ type: `rich_text_${type}`, elements }] };
}
/** What the screens show in rich text. The person is the app itself, so that nobody is notified. */
function everyElement(user_id: string) {
	const people = [{ type: 'user', user_id }, words(' waits, and\n\n'), words('so on', { style: { bold: true } })];
	const date = { type: 'date', timestamp: 1_767_603_600, format: '{date_short_pretty} {time}', fallback: '5 January' };
	const link = { type: 'link', url: 'https://example.com/', text: 'a link' };
	const code = words('code', { style: { code: true, strike: true } });
	return {
		type: 'rich_text',
		elements: [
			...richText('section', words('Since ', { style: { italic: true } }), date, code, link).elements,
			...richText('quote', ...people, date, link).elements,
			...richText('preformatted', words('a = 1\n  b'), link).elements.map((one) => ({ ...one, border: 1 })),
		],
	};
}

const LONG = 3_000;
/** Slack does not say how much rich text a message takes, and counts more than its text. */
export const MOST_JSON = 12_000;

/** Blocks of rich text with this text again and again, whose JSON is just below the most. */
export function fullBlocks(text: string): readonly object[] {
	const part = richText('section', words(text));
	const blocks: object[] = [];
	while (JSON.stringify([...blocks, part]).length < MOST_JSON - 200) blocks.push(part);
	const rest = MOST_JSON - 1 - JSON.stringify([...blocks, richText('section', words(''))]).length;
	return [...blocks, richText('section', words('x'.repeat(rest)))];
}

/** By what they show. */
export const BLOCKS: Readonly<Record<string, (user: string) => object>> = {
	'markdown blocks': () => ({ type: 'markdown', text: '**bold**' }),
	'rich_text blocks': () => richText('section', words('rich')),
	'quotes, code, links, dates and people in rich text': everyElement,
	[`${LONG.toLocaleString('en')} characters of rich text`]: () => richText('section', words('long '.repeat(LONG / 5))),
	'table blocks': () => ({
		type: 'table',
		rows: [[{ type: 'raw_text', text: 'cell' }]],
		column_settings: [{ is_wrapped: true }],
	}),
};

export function formOf(text: string, initial: object) {
	const onTyping = { dispatch_action_config: { trigger_actions_on: ['on_character_entered'] } };
	const element = { type: 'plain_text_input', action_id: 'typing', ...onTyping, ...initial };
	const field = { type: 'input', block_id: 'word', dispatch_action: true, optional: true };
	return windowOf(section(text), { ...field, label: { type: 'plain_text', text: 'Word' }, element });
}
