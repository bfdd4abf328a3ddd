import type { Part, Payload } from './payload.ts';
import type { SlackErrorCode } from './problem.ts';

/** Reports one problem; the error defaults to what the method answers for blocks and views. */
export type Report = (message: string, pointer: string, error?: SlackErrorCode) => void;

/** One thing Slack refuses. Rules stand alone: each can be taken out, and a test shows that something then passes. */
export type Rule = {
	/** Stable and unique. */
	id: string;
	/** Where the limit is known from. */
	source: string;
	check: (payload: Payload, report: Report) => void;
};

/** `*` stands for every part. */
export function partsOf(payload: Payload, type: string): readonly Part[] {
	return type === '*' ? payload.parts : (payload.partsByType.get(type) ?? []);
}

/**
 * The length that limits are compared with. Slack does not say what it counts as a character: code points (JSON Schema's
 * `maxLength`, which its error texts resemble) or UTF-16 units. UTF-16 units are never fewer, so a text that passes here
 * passes either way. Text is counted as it travels, `&amp;` as five characters.
 */
export function lengthOf(text: string): number {
	return text.length;
}

export const reference = 'docs.slack.dev/reference/block-kit';
export const types = '@slack/types, JSDoc of the field';
export const liveAnswer = 'an answer of live Slack, as reported by its users';
export const stricter = 'undocumented: the stricter of the possible readings';
