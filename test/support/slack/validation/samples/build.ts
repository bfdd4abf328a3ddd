import type { JsonObject } from '../payload.ts';
import type { Surface } from '../problem.ts';
import type { MessageMethod, SlackValidator } from '../validator.ts';

/** A payload with what Slack says to it. */
export type Sample = {
	/** Continues "Slack accepts …" or "Slack refuses …". */
	name: string;
	subject:
		| { kind: 'message'; value: unknown; method?: MessageMethod }
		| { kind: 'view'; value: unknown }
		| { kind: 'blocks'; value: unknown; surface: Surface }
		| { kind: 'errors'; view: unknown; value: unknown };
	/** For a refused one: what is among the messages. */
	says?: string;
};

/** What a validator finds in a sample. */
export function judge(validator: SlackValidator, { subject }: Sample): ReturnType<SlackValidator['validateView']> {
	switch (subject.kind) {
		case 'message':
			return validator.validateMessage(subject.value, subject.method);
		case 'view':
			return validator.validateView(subject.value);
		case 'blocks':
			return validator.validateBlocks(subject.value, subject.surface);
		case 'errors':
			return validator.validateResponseActionErrors(subject.view, subject.value);
	}
}

export const plain = (text: string): JsonObject => ({ type: 'plain_text', text });
export const mrkdwn = (text: string): JsonObject => ({ type: 'mrkdwn', text });
export const section = (text = 'Hello'): JsonObject => ({ type: 'section', text: mrkdwn(text) });
export const button = (extra: JsonObject = {}): JsonObject => ({ type: 'button', text: plain('Press'), ...extra });
export const option = (value: string, extra: JsonObject = {}): JsonObject => ({ text: plain(value), value, ...extra });
export const options = (count: number): JsonObject[] => Array.from({ length: count }, (_, i) => option(`option ${i}`));
export const actions = (...elements: JsonObject[]): JsonObject => ({ type: 'actions', elements });
export const input = (element: JsonObject, extra: JsonObject = {}): JsonObject => ({
	type: 'input',
	label: plain('Label'),
	element,
	...extra,
});
export const textInput = (extra: JsonObject = {}): JsonObject => ({ type: 'plain_text_input', ...extra });
export const richText = (...elements: JsonObject[]): JsonObject => ({ type: 'rich_text', elements });
export const richSection = (...elements: JsonObject[]): JsonObject => ({ type: 'rich_text_section', elements });
export const message = (...blocks: unknown[]): JsonObject => ({ text: 'What notifications say', blocks });
export const modal = (...blocks: unknown[]): JsonObject => ({
	type: 'modal',
	title: plain('Session'),
	submit: plain('Send'),
	close: plain('Close'),
	blocks,
});
export const home = (...blocks: unknown[]): JsonObject => ({ type: 'home', blocks });

export const inMessage = (name: string, ...blocks: unknown[]): Sample => ({
	name,
	subject: { kind: 'message', value: message(...blocks) },
});
export const inModal = (name: string, ...blocks: unknown[]): Sample => ({
	name,
	subject: { kind: 'view', value: modal(...blocks) },
});
/** The same sample with what Slack says to it. */
export const saying = (says: string, sample: Sample): Sample => ({ ...sample, says });
