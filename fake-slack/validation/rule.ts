import type { Part, Payload } from './payload.ts';
import type { SlackErrorCode } from './problem.ts';

/** Reports one problem; the error defaults to what the method answers for blocks and views. */
export type Report = (message: string, pointer: string, error?: SlackErrorCode) => void;

/** What every row of the source tables has: a test deletes each one, and moves each limit by one. */
export type Row = {
	/** Stable and unique. */
	id: string;
	/** Where the rule is known from. */
	source: string;
	/** The largest (or smallest) value Slack takes, where the rule has one. */
	limit?: number;
};

/** One thing Slack refuses; one row of a table makes one rule. */
export type Rule = Row & {
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
export const stricter = 'stricter than documented: the stricter of the possible readings';
