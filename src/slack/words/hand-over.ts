import type { Refusal } from '../../answers/access-policy.ts';
import {
	HAND_OVER_WINDOW_MS,
	type HandOver,
	type HandOverObstacle,
	MOST_HAND_OVERS,
	MOST_IN_WINDOW,
	type TooManyHandOvers,
} from '../../inbox/hand-over.ts';
import type { ContentOf } from '../../watches/kinds.ts';
import { quotedName } from '../text.ts';
import { contactText, type Names, personMrkdwn, personName } from './people.ts';
import { durationText, momentMrkdwn } from './times.ts';

/**
 * Who has a question; empty for nobody. For posts and cards. mrkdwn. Mentions people only in an update, which notifies
 * nobody.
 */
export function handOverLine(handOver: HandOver | null, names: Names, { isUpdate }: { isUpdate: boolean }): string {
	if (handOver === null) return '';
	const [from, to] = [handOver.from, handOver.to].map((id) => (isUpdate ? personMrkdwn : personName)(id, names));
	return `↪️ ${from} handed this over to ${to}. Everybody can still answer.`;
}

/** The same in an inbox of `userId`. mrkdwn. */
export function inboxHandOverLine(handOver: HandOver | null, userId: string, names: Names): string {
	if (handOver === null) return '';
	const { from, to } = handOver;
	return to === userId
		? `↪️ ${personMrkdwn(from, names)} handed this over to you`
		: `↪️ ${personMrkdwn(to, names)} has it`;
}

/** The opening words of the direct message to the person who has a question now. mrkdwn. */
export function handedOverWords(from: string, names: Names): string {
	return `↪️ ${personMrkdwn(from, names)} handed a question over to you.`;
}

/** Below the buttons of that message. `from`: who handed it over. mrkdwn. */
export function handedOverHint(place: string, from: string): string {
	return `Asked in ${place}. Others can still answer it. *Give back* opens it for all again and tells ${from}.`;
}

/** To the person who had handed it over. mrkdwn. */
export function givenBackWords(
	{ by, undelivered }: Pick<ContentOf<'givenBack'>, 'by' | 'undelivered'>,
	names: Names,
): string {
	if (undelivered === true) {
		return `⚠️ ${personMrkdwn(by, names)} did not get the question that you handed over: the direct message was refused. It is open for all again. Answer it, or hand it over to somebody else on its post.`;
	}
	return `↩️ ${personMrkdwn(by, names)} gave back the question that you handed over. It is open for all again.`;
}

/** Why the chosen person cannot get the question. Plain text. */
const REFUSED: Readonly<Record<Refusal | 'self', string>> = {
	guest: 'This person is a guest, and guests of this workspace cannot answer here.',
	bot: 'This is an app or a bot, which cannot answer.',
	external: 'This person belongs to another workspace or organisation and cannot answer here.',
	deactivated: 'The account of this person is deactivated.',
	channel_not_allowed: "Handraise is not allowed in this question's channel.",
	user_not_allowed: 'This person is not among the people who may use Handraise.',
	could_not_check: 'Handraise could not check with Slack whether this person may answer.',
	self: 'That is you. You can answer the question yourself.',
};

/** Why the chosen person cannot get the question, what was kept and what to do. Plain text, for a field. */
export function handOverRefusedText(refusal: Refusal | 'self', adminContact: string | null): string {
	const todo =
		refusal === 'could_not_check'
			? `Please try again. If it still fails, ask ${contactText(adminContact)}.`
			: 'Choose somebody else.';
	return `${REFUSED[refusal]} Nothing was handed over. ${todo}`;
}

/** Who handed over or got too many questions, and what to do. Plain text, for a field. */
export function tooManyHandOversText({ who, againInMs }: TooManyHandOvers, to: string, names: Names): string {
	const again = `try again in ${durationText(Math.ceil(againInMs / 60_000) * 60_000)}`;
	const inTime = `in ${HAND_OVER_WINDOW_MS / 60_000} minutes`;
	if (who === 'from') {
		return `You handed over ${MOST_IN_WINDOW.from} questions ${inTime}, which is the most. Nothing was handed over. Please ${again}.`;
	}
	const name = quotedName(names.displayName(to), 80);
	return `${name} got ${MOST_IN_WINDOW.to} questions from others ${inTime}, which is the most. Nothing was handed over. Choose somebody else, or ${again}.`;
}

/** What came of a hand-over. mrkdwn. */
export function handOverWords(outcome: HandOverObstacle, names: Names): string {
	switch (outcome.kind) {
		case 'handedOver':
			return `↪️ You handed the question over to ${personMrkdwn(outcome.handOver.to, names)}, who gets a direct message. Others can still answer it.`;
		case 'taken': {
			const { from, to, count, handedOverAt } = outcome.handOver;
			const who = personMrkdwn(to, names);
			const can = count < MOST_HAND_OVERS ? 'hand it over or give it back' : 'give it back';
			return `🙋 ${who} has this question: ${personMrkdwn(from, names)} handed it over ${momentMrkdwn(handedOverAt)}. Nothing was handed over now. Only ${who} can ${can}. You can still answer it.`;
		}
		case 'limit': {
			const { from, to, count } = outcome.handOver;
			return `🔁 This question was handed over ${count} times, last by ${personMrkdwn(from, names)} to ${personMrkdwn(to, names)}. It cannot be handed over again. Answer it, or give it back if you have it.`;
		}
		case 'closed':
			return outcome.by === null
				? '💨 The agent does not wait for an answer to this question any more. Nothing was handed over.'
				: `✅ ${personMrkdwn(outcome.by.person.userId, names)} has answered this question. Nothing was handed over.`;
	}
}

/** To somebody who gave a question back that they do not have. mrkdwn. */
export function notYoursWords(handOver: HandOver | null, names: Names): string {
	if (handOver === null) return '💨 This question is settled, so there is nothing to give back.';
	return handOver.givenBackAt === null
		? `🙋 You do not have this question any more: ${personMrkdwn(handOver.to, names)} has it. Nothing was changed.`
		: '🙋 You do not have this question: it is open for all. Nothing was changed.';
}

/** *Give back* could not be stored. mrkdwn; `why`: what happened. */
export function notGivenBackWords(why: string): string {
	return `⚠️ The question was not given back. ${why}`;
}

/** Before the acknowledgement of a *Give back* that takes long to store. */
export const GIVE_BACK_LATE =
	'⏳ Giving the question back takes long to save. If *Give back* is still there in a minute, press it again.';

/** Instead of a direct message about a question, to somebody who may not answer it any more. */
export const NOT_TOLD_ANY_MORE = '🔒 You cannot answer this question any more, so what became of it is not shown here.';

export const HAND_OVER_HINT =
	'They get a direct message with the question and its buttons. Others can still answer it.';

/** The window could not be opened. */
export const NO_HAND_OVER_WINDOW =
	'Slack only opens a window within three seconds, and this took longer. Nothing was handed over. Please press *Hand over* again.';
