import type { Draft } from '../../answers/ports.ts';
import type { Question } from '../../questions/open-question.ts';
import type { Notice } from '../blocks/session-model.ts';
import type { ViewMetadata } from '../metadata.ts';

/** By position. */
export type Values = Readonly<Record<number, string>>;

/** What stood in a view's fields at a time; what was typed later is in the form's draft. */
export interface TypedText {
	readonly values: Values;
	/** Milliseconds since the epoch. */
	readonly at: number;
}

/**
 * The message index under which a chosen message is kept until somebody says which field it is for: as a draft of the
 * question itself it would stand in one before.
 */
export const KEPT_ASIDE = -1;

/** What a form starts with, and what to say about it. */
export interface StartingValues {
	readonly values: Values;
	readonly notice: Notice | null;
	/** It is another form than the one the view showed: it gets an id of its own. */
	readonly isNewForm: boolean;
}

/**
 * What to put into the fields of `question`, in this order: what stands in the view now, if it asks the same; that text
 * carried over by position, if the view asked something else; a message chosen with "Use as answer"; the person's draft.
 */
export function startingValues(input: {
	question: Question;
	metadata: ViewMetadata;
	/** What stands in the view's fields; null when it has none yet. */
	typed: Values | null;
	prefill: Values | null;
	draft: Draft | null;
}): StartingValues {
	const { question, metadata, typed, prefill, draft } = input;
	if (typed !== null && metadata.fields.length > 0) {
		const isSame = metadata.messageIndex === question.messageIndex && metadata.fingerprint === question.fingerprint;
		if (isSame) return { values: typed, notice: null, isNewForm: false };
		const values = fitting(typed, question);
		return { values, notice: { kind: 'questionChanged', carried: Object.keys(values).length > 0 }, isNewForm: true };
	}
	if (prefill !== null) {
		const values = { ...(draft === null ? {} : fitting(draft.values, question)), ...fitting(prefill, question) };
		return { values, notice: { kind: 'prefilled' }, isNewForm: false };
	}
	if (draft !== null) {
		const values = fitting(draft.values, question);
		if (Object.keys(values).length > 0) {
			return { values, notice: { kind: 'draftRestored', at: draft.updatedAt }, isNewForm: false };
		}
	}
	return { values: {}, notice: null, isNewForm: false };
}

/** The texts that have an open item to go to. */
function fitting(values: Values, question: Question): Values {
	return Object.fromEntries(
		Object.entries(values).filter(([position, text]) => text !== '' && question.openItems.includes(Number(position))),
	);
}
