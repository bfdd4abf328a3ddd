import type { KnownBlock } from '@slack/types';
import type { Answer, AnswerItem } from '../../answers/answer.ts';
import type { InboxContent, InboxDraft } from '../../inbox/content.ts';
import { ACTIONS, encodeTarget, inboxRowId } from '../ids.ts';
import { isBlank, quotedTitleMrkdwn } from '../text.ts';
import { andMoreWords, joined, momentMrkdwn, sessionIdMrkdwn } from '../words.ts';
import { receiptHeadline, stateLine } from './answers.ts';
import { button, buttons, context, divider, heading, inRow, section } from './parts.ts';
import { type ReceiptContext, receiptButtons, receiptIcon } from './receipt.ts';

export type Shown = Extract<InboxContent, { kind: 'shown' }>;

/** Answers that are under way or need a decision. */
export function ownAnswerEntries({ ownAnswers: { shown, total } }: Shown, receipt: ReceiptContext): KnownBlock[] {
	const others = shown.filter((answer) => !isUndoable(answer));
	const more = context(andMoreWords(total - shown.length, 'answers'));
	if (others.length === 0 && more.length === 0) return [];
	return [divider(), heading('Your answers'), ...others.flatMap((answer) => ownAnswerEntry(answer, receipt)), ...more];
}

export function ownAnswerEntry(answer: Answer, receipt: ReceiptContext): KnownBlock[] {
	const canUndo = isUndoable(answer);
	const words = canUndo ? 'Your choice is sent in a moment. *Undo* takes it back until then.' : receiptHeadline(answer);
	const row = canUndo ? buttons(button(ACTIONS.undo, 'Undo', { value: answer.id })) : receiptButtons(answer, receipt);
	return [
		...section(`${receiptIcon(answer)} ${words}\n${answerLine(answer)}`),
		...context(canUndo ? '' : momentMrkdwn(answer.acceptedAt)),
		...inRow(row, answer.origin, `answer ${answer.id}`),
	];
}

/** Whether its author can take it back. Whoever presses too late is told. */
export function isUndoable({ press, state, attempts }: Answer): boolean {
	return press !== null && state === 'accepted' && attempts === 0;
}

/** `3f9a2c1d, “Which colour?”: “grey”`. Never a secret. mrkdwn. */
function answerLine({ question, content }: Answer): string {
	const id = `*${sessionIdMrkdwn(question.sessionId)}*`;
	const items = content.kind === 'readable' ? content.items.filter(({ value, wiped }) => value !== null || wiped) : [];
	const [first] = items;
	if (first === undefined) return id;
	const title = quotedTitleMrkdwn(first.title, 60);
	const more =
		items.length === 1 ? '' : ` ${andMoreWords(items.length - 1, items.length === 2 ? 'answer' : 'answers')}`;
	return `${joined(id, title)}: ${valueMrkdwn(first)}${more}`;
}

function valueMrkdwn({ value, secret }: AnswerItem): string {
	if (secret) return '(hidden)';
	return value === null || isBlank(value) ? '(left empty)' : quotedTitleMrkdwn(value, 80);
}

export function draftEntries({ drafts }: Shown): KnownBlock[] {
	if (drafts.length === 0) return [];
	return [divider(), heading('Drafts'), ...drafts.flatMap(draftEntry)];
}

function draftEntry({ question, values, updatedAt, formId, askedIn }: InboxDraft): KnownBlock[] {
	const { sessionId, messageIndex } = question;
	const text = Object.values(values).find((value) => !isBlank(value)) ?? '';
	const origin = { channelId: askedIn?.channelId ?? null, threadTs: askedIn?.threadTs ?? null };
	return section(
		`📝 ${joined(`*${sessionIdMrkdwn(sessionId)}*`, quotedTitleMrkdwn(text, 120), momentMrkdwn(updatedAt))}`,
		{
			block_id: inboxRowId(origin, `draft ${formId}`),
			accessory: button(ACTIONS.answer, 'Continue', { value: encodeTarget({ sessionId, messageIndex }) }),
		},
	);
}

export function lastAnswerEntries({ lastAnswers }: Shown): KnownBlock[] {
	if (lastAnswers.length === 0) return [];
	return [
		divider(),
		heading('Your last answers'),
		...lastAnswers.flatMap((answer) =>
			context(
				joined(answerLine(answer), stateLine(answer).replace('its author', 'you'), momentMrkdwn(answer.acceptedAt)),
			),
		),
	];
}
