import type { Answer, OtherAnswer } from '../../answers/answer.ts';
import { isBlank, quoted } from '../text.ts';
import { receiptHeadline } from './answers.ts';
import { errorWords } from './errors.ts';
import { type Names, personMrkdwn } from './people.ts';
import { stillWaitingWords } from './sessions.ts';
import { agoText, momentMrkdwn } from './times.ts';

/** A note above the question. Times are milliseconds since the epoch. */
export type Notice =
	/** The form showed another question before; `carried`: typed text was kept where it fits. */
	| { readonly kind: 'questionChanged'; readonly carried: boolean }
	/** Somebody answered while this form was open. */
	| { readonly kind: 'answeredMeanwhile'; readonly other: OtherAnswer }
	/** Text typed earlier is back in the fields. */
	| { readonly kind: 'draftRestored'; readonly at: number }
	/** The fields are filled with a message that was chosen with "Use as answer". */
	| { readonly kind: 'prefilled' }
	/** A message was chosen as an answer, but no question is open, or only secrets are asked for. */
	| { readonly kind: 'textUnused'; readonly why: 'nothingOpen' | 'secret' }
	/** The session is being read again. */
	| { readonly kind: 'stillWaiting'; readonly waitedMs: number }
	/** The view shows a newer read. */
	| { readonly kind: 'readAgain' }
	/** The read failed, so the view shows an earlier one. */
	| { readonly kind: 'stale'; readonly code: string; readonly readAt: number; readonly retryAt?: number | null }
	/** This person has an answer to this question that is being delivered or waits. */
	| { readonly kind: 'ownAnswer'; readonly answer: OwnAnswer };

type OwnAnswer = Pick<Answer, 'state' | 'acceptedAt' | 'agentOutcome' | 'lastError'>;

interface NoticeContext {
	readonly names: Names;
	readonly now: number;
	readonly adminContact: string | null;
}

export const GONE_ON = '👣 The agent has gone on since it asked this. You can still answer.';
export const PAUSED =
	'⏸️ The session is paused. Your answer is saved in it, and the agent reads it when somebody resumes the session.';
export const WITHOUT_SCREENSHOT = '🖼️ Slack could not load the screenshot, so it is left out.';

/** A notice in mrkdwn. */
export function noticeWords(notice: Notice, { names, now, adminContact }: NoticeContext): string {
	switch (notice.kind) {
		case 'questionChanged':
			return notice.carried
				? '✏️ The question has changed. This is the new one, with your text where it fits. Please check it.'
				: '✏️ The question has changed. This is the new one.';
		case 'answeredMeanwhile': {
			const { person, values, at } = notice.other;
			const who = person === null ? 'somebody outside Slack' : personMrkdwn(person.userId, names);
			const texts = values
				.slice(0, 3)
				.map((value) => (value === null ? '> (hidden)' : isBlank(value) ? '' : quoted(value, 300)))
				.filter((line) => line !== '')
				.join('\n');
			const when = at === null ? '' : `, ${agoText(at, now)}`;
			return `🔀 Answered meanwhile by ${who}${when}.${texts === '' ? '' : `\n${texts}`}`;
		}
		case 'draftRestored':
			return `📝 Your text from ${momentMrkdwn(notice.at)} is back in the fields.`;
		case 'prefilled':
			return '📝 Your answer is in the field. Check it, then send.';
		case 'textUnused':
			return notice.why === 'nothingOpen'
				? '📝 No question is open here, so the message you chose was not used.'
				: '🔒 This asks for a password or code. Handraise never takes those from a message. Type it here.';
		case 'stillWaiting':
			return `⏳ ${stillWaitingWords(notice.waitedMs)}`;
		case 'readAgain':
			return '🔄 The session was read again. Steps may have moved to other pages.';
		case 'stale': {
			const { retryAt = null } = notice;
			const { what, text } = errorWords(notice.code, { kept: 'nothing', adminContact, retryAt });
			return `⚠️ ${retryAt === null ? what : text} You see the session as it was ${agoText(notice.readAt, now)}.`;
		}
		case 'ownAnswer':
			return notice.answer.state === 'waiting'
				? `⏳ ${receiptHeadline(notice.answer)} Sending another one replaces it.`
				: `📨 Your answer from ${momentMrkdwn(notice.answer.acceptedAt)} is being delivered.`;
	}
}

/**
 * `✏️ Ada is answering this…`; empty when nobody is.
 * @param until for words that stay after the first of them lapses, clock milliseconds. Null: not told.
 */
export function claimsWords(userIds: readonly string[], names: Names, until: number | null = null): string {
	if (userIds.length === 0) return '';
	const people = userIds.slice(0, 3).map((userId) => personMrkdwn(userId, names));
	if (userIds.length > 3) people.push(`${userIds.length - 3} more`);
	const lapse = until === null ? '' : `, at least until ${momentMrkdwn(until)}`;
	return `✏️ ${people.join(', ')} ${userIds.length === 1 ? 'is' : 'are'} answering this${lapse}. You can answer too; the first answer counts.`;
}
