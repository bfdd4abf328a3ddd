import type { Draft } from '../../delivery/draft-store.ts';
import { draftsIn } from '../../domain/agent-drafts.ts';
import { type AnswerSecrecy, initiallySecretPositions } from '../../domain/secrecy.ts';
import { isSameQuestion, type Question } from '../../domain/session.ts';
import { NOTICES } from '../../screens/form-notices.ts';
import { asksTheSame, type Values, withoutChoices } from '../../slack/form/fields.ts';
import { newFormId, type ViewMetadata } from '../../slack/ids.ts';
import type { Prefill } from './drafts.ts';

/* What a form begins with: its texts, and which of them are secret. */

/** The secret positions. In a shown form its box decides; a new one ticks what is guessed or was ticked before. */
export function secretFields(
	question: Question,
	metadata: ViewMetadata,
	secrecy: readonly AnswerSecrecy[],
	draft: Draft | null,
) {
	const before = draft?.fingerprint === question.fingerprint ? (draft.secret ?? []) : [];
	const atFirst = [...new Set([...initiallySecretPositions(secrecy, question), ...before])];
	if (metadata.fields.length === 0 || !isSameQuestion(metadata, question)) return atFirst;
	return metadata.secret;
}

/**
 * The texts that a form begins with. Texts in the view's fields (`typed`) come first, also those for another question
 * (then `formId` is new). Next is `prefill`, over the draft. The draft alone was typed at `restoredAt`. A choice for a
 * question in other words is not carried over: "Yes" may mean something else there. `suggested`: the agent's drafts,
 * for a form in which nobody typed yet.
 */
export function startingValues(
	question: Question,
	metadata: ViewMetadata,
	{ typed, prefill, draft }: { typed: Values | null; prefill: Prefill | null; draft: Draft | null },
) {
	const isOtherDraft = draft !== null && !isSameQuestion(draft, question);
	// What somebody emptied stays empty.
	const isNew = draft === null || isOtherDraft;
	const suggested = isNew && !(typed !== null && asksTheSame(metadata, question)) ? draftsIn(question) : {};
	const anotherNotice = isBesideAnother(metadata, question) ? [changedNotice({})] : [];
	const unnoted = { notices: anotherNotice, restoredAt: null, formId: metadata.formId, suggested };
	const carried = (values: Values, isForOther: boolean) =>
		isForOther ? withoutChoices(question, metadata, fitting(values, question)) : fitting(values, question);
	if (typed !== null) {
		if (asksTheSame(metadata, question)) return { ...unnoted, values: typed };
		// The same question in another message is another form, too.
		const isOtherText = !isSameQuestion(metadata, question);
		const values = carried(typed, isOtherText);
		const notices = isOtherText ? [changedNotice(values)] : unnoted.notices;
		return { ...unnoted, values, notices, formId: newFormId() };
	}
	const drafted = carried(draft?.values ?? {}, isOtherDraft);
	if (prefill !== null) {
		const isOtherText = prefill.givenFor !== null && !isSameQuestion(prefill.givenFor, question);
		const values = { ...drafted, ...carried(prefill.values, isOtherText) };
		const filledIn = NOTICES.prefilled(prefill.givenFor === null ? 'The message' : 'Your earlier answer');
		return { ...unnoted, values, notices: [isOtherText ? changedNotice(values) : filledIn] };
	}
	if (draft === null || Object.keys(fitting(draft.values, question)).length === 0) return { ...unnoted, values: {} };
	if (isOtherDraft) return { ...unnoted, values: drafted, notices: [changedNotice(drafted)] };
	const restoredAt = draft.updatedAt;
	return { ...unnoted, values: drafted, notices: [...anotherNotice, NOTICES.draftRestored(restoredAt)], restoredAt };
}

const changedNotice = (values: Values) => NOTICES.questionChanged(Object.keys(values).length > 0);

/** The texts that are for open items. */
function fitting(values: Values, question: Question): Values {
	return Object.fromEntries(
		Object.entries(values).filter(([position, text]) => text !== '' && question.openItems.includes(Number(position))),
	);
}

/** Whether *Answer again…* was pressed beside another question than this one. */
export function isBesideAnother({ again, fields, fingerprint }: ViewMetadata, question: Question): boolean {
	return again && fields.length === 0 && fingerprint !== null && fingerprint !== question.fingerprint;
}
