import type { Draft } from '../delivery/draft-store.ts';
import {
	type AgentOutcome,
	type Answer,
	type AnswerState,
	agentMayStand,
	type FAILED_STATES,
	type FirstEnding,
	firstEndingOf,
	firstOf,
	forOthers,
	isFailed,
	itemsOf,
	mayHaveArrived,
	QUESTION_MOVED,
	sessionNameOf,
	type TimelineEntry,
} from '../domain/answer.ts';
import { masked } from '../domain/masking.ts';
import type { Became, Person } from '../domain/session.ts';
import { cutWithNote } from '../domain/texts.ts';
import { hashOf } from '../kernel/basics.ts';
import { MISSING, REASONS, WAITING_CODES } from '../service/service.ts';
import { isProvenRefusal } from '../slack/access-policy.ts';
import { ACTIONS, CALLBACKS, type ViewMetadata } from '../slack/ids.ts';
import {
	andMoreWords,
	button,
	buttons,
	context,
	divider,
	joined,
	type KnownBlock,
	type ModalView,
	modal,
	momentMrkdwn,
	personMrkdwn,
	sayingSession,
	section,
	sessionTitle,
	smallId,
	valueMrkdwn,
} from '../slack/parts.ts';
import { isBlank, mrkdwn, neutralise, quoted, quotedTitleMrkdwn } from '../slack/text.ts';

/** What became of an answer in each state: the same words on posts and cards, in receipts, inboxes and histories. */
const STATE_LINES: Readonly<Record<AnswerState, string>> = {
	accepted: '⏳ Sending…',
	delivering: '⏳ Sending…',
	waiting: '⚠️ Not delivered; its author decides',
	delivered: '✅ Delivered',
	resumed: '✅ Delivered · continued',
	conflicted: '🔀 Not sent: somebody else answered first',
	changed: '✏️ Not sent: the question changed',
	// The timeline of an answer that was sent again does not know why.
	refused: '⛔ Not delivered: it was refused',
	ended: '🏁 Not sent: the session was over',
	withdrawn: '↩️ Undone; nothing was sent',
};

/** What became of an answer that is no longer sent, if an earlier PUT may have arrived. */
const PERHAPS_ARRIVED: Readonly<Record<(typeof FAILED_STATES)[number] | 'withdrawn', string>> = {
	waiting: '⚠️ Sent, and may have arrived; Handraise could not check',
	conflicted: '🔀 Sent, and may have arrived before the other answer',
	changed: '✏️ Sent, and may have arrived before the agent continued',
	refused: '⛔ Sent, and may have arrived; then the session service refused it',
	ended: '🏁 Sent, and may have arrived before the session ended',
	withdrawn: '↩️ Undone; it was sent before and may have arrived',
};

const AGENT_OUTCOME_LINES: Readonly<Record<AgentOutcome, string>> = {
	resumed: STATE_LINES.resumed,
	failed: '❌ Delivered · the session failed',
	stopped: '⏹️ Delivered · the session was stopped',
	completed: '✅ Delivered · the session is done',
	overwritten: '⚠️ Delivered, then overwritten from outside Handraise',
	lost: '⚠️ Delivered, but not in the field any more; asked again',
	replaced: '🔹 Delivered, but not in the field any more; answered again since',
	unseen: '👀 Delivered · no sign of the agent yet',
};

const LOST_TO_LINES: Readonly<Record<NonNullable<TimelineEntry['lostTo']>, string>> = {
	other: STATE_LINES.conflicted,
	own: '🔀 Not sent: the same person had already answered',
	ownInstead: '🔀 Not sent: a later answer of the same person counts',
};

const FIRST_LINES: Readonly<Record<FirstEnding, string>> = {
	first_failed: '📝 Not sent: the first answer did not arrive either',
	first_over: '🏁 Not sent, nor was the first answer: the session was over',
	first_unknown: '⚠️ Not sent: the first answer may have arrived',
};

const MAY_NOT = 'may no longer answer';

type ToldAnswer = Pick<Answer, 'state' | 'agentOutcome' | 'lastError'> & Partial<Answer>;

/** Whose answer was first, where this one lost to somebody in Slack. */
export const firstPersonOf = (answer: Partial<Answer>): Person | null => firstOf(answer)?.person ?? null;

function lineOf(state: AnswerState, answer: ToldAnswer, entry = answer.timeline?.at(-1)): string {
	if (state === answer.state && mayHaveArrived(answer)) return PERHAPS_ARRIVED[state as keyof typeof PERHAPS_ARRIVED];
	if (state === 'refused' && isProvenRefusal(answer.lastError))
		return `⛔ Not sent: ${personMrkdwn(answer.person?.userId ?? '')} ${MAY_NOT}`;
	if (state === 'refused' && answer.lastError === MISSING.gone) return '⛔ Not sent: the session is gone';
	if (state === 'changed' && answer.lastError === QUESTION_MOVED)
		return '✏️ Not sent: the question has another place now';
	if (state !== 'conflicted') return STATE_LINES[state];
	const first = firstPersonOf(answer);
	return LOST_TO_LINES[entry?.lostTo ?? (first !== null && first.userId === answer.person?.userId ? 'own' : 'other')];
}

/** In a timeline, which its author reads too. */
const PAST_LINES: Partial<Record<AnswerState, string>> = {
	accepted: '💾 Saved',
	delivering: '📨 Sent',
	waiting: '⚠️ Not delivered',
};

/** The end of an answer's timeline; one line if nothing went wrong. `said`: what stands above, not repeated. mrkdwn. */
export function timelineWords(answer: Answer, said = ''): string {
	const { agentOutcome, lastError, timeline, acceptedAt } = answer;
	const state = stateLine(answer);
	const hasFailed = lastError !== null || timeline.some((entry) => isFailed(entry.state));
	const isWell = !hasFailed && /^[✅⏳↩]/u.test(state);
	if (isWell) return joined(said === '' ? state : '', momentMrkdwn(timeline.at(-1)?.at ?? acceptedAt));
	const lines = timeline.slice(-8).map((entry) => {
		const isUnknown = entry.state === answer.state && mayHaveArrived(answer);
		const ending = entry === timeline.at(-1) ? endingOf(answer) : null;
		const past = ending === null ? PAST_LINES[entry.state] : FIRST_LINES[ending];
		const words = (isUnknown ? undefined : past) ?? lineOf(entry.state, answer, entry);
		return joined(entry === timeline.at(-1) && said.startsWith(words) ? '' : words, momentMrkdwn(entry.at));
	});
	const outcome = said === '' && agentOutcome !== 'resumed' ? agentOutcome : null;
	if (outcome !== null) lines.push(AGENT_OUTCOME_LINES[outcome]);
	return lines.join('\n');
}

/** What became of the answer that was first. */
const endingOf = (answer: ToldAnswer) => (mayHaveArrived(answer) ? null : firstEndingOf(answer));

/** What became of an answer, in one line that begins with a mark. mrkdwn. */
export function stateLine(answer: ToldAnswer, reader: 'author' | 'others' = 'others'): string {
	const { state, agentOutcome, lastError } = answer;
	const ending = endingOf(answer);
	if (ending !== null) return FIRST_LINES[ending];
	if (lastError !== null && state === 'accepted')
		return `⏳ Not delivered yet${isServiceAway(lastError) ? '; sent when the service is back' : ''}`;
	if (lastError !== null && state === 'delivering') return '⏳ Sent, checking whether it arrived';
	if (agentMayStand(answer))
		return '⚠️ Delivered, but the session service reported a failure: the agent may not have been started';
	if (state === 'delivered' && agentOutcome !== null) return AGENT_OUTCOME_LINES[agentOutcome];
	if (reader === 'author' && state === 'waiting' && !mayHaveArrived(answer)) return '⚠️ Not delivered: your decision';
	return lineOf(state, answer);
}

/** Not while it limits requests, or misses this session alone. */
const isServiceAway = (code: string) => REASONS.has(code) && !WAITING_CODES.has(code) && code !== MISSING.one;

/** The state line behind other words, to everybody: `✅ delivered`, `sending…`. Without ⏳: the words say that. */
export function inlineState(answer: ToldAnswer, hasMark: boolean): string {
	const [mark = '', ...words] = stateLine(answer).split(' ');
	const inline = words.join(' ').replace(/^./, (first) => first.toLowerCase());
	return hasMark && mark !== '⏳' ? `${mark} ${inline}` : inline;
}

/** To the others who may answer: why a question is open again. Empty without such an answer. mrkdwn. */
export function notSentWords(refused: Answer | null): string {
	if (refused === null) return '';
	const who = personMrkdwn(refused.person.userId);
	const why = refused.lastError === 'deactivated' ? 'the account is deactivated' : `${who} ${MAY_NOT}`;
	return `⛔ The answer of ${who} was not sent: ${why}.`;
}

export const hasText = (answer: Answer) => itemsOf(answer).some((item) => !item.secret && !isBlank(item.value ?? ''));

export const TEXT_REMOVED = 'The text of this answer was removed because its retention time is over.';
export const MOST_ITEMS = 10;

/** A title as a form showed it: the place that `labelOf` adds stands outside the quotation marks. mrkdwn. */
export function storedTitle(title: string, limit: number): string {
	const place = /(?:^Question| \(question) \d{1,3} of \d{1,3}\)?$|^Your answer$/.exec(title)?.[0] ?? '';
	return `${quotedTitleMrkdwn(masked(title.slice(0, title.length - place.length)).text, limit)}${place}`;
}

/** What the author wrote, in up to about `room` characters; never a secret. `isOwn`: for them, who may copy it. */
export function ownText(answer: Answer, room: number, isOwn = false): KnownBlock[] {
	const { content } = answer;
	if (content.kind === 'removed') return context(TEXT_REMOVED);
	if (content.kind === 'unreadable')
		return context('The text of this answer was stored with another encryption key and cannot be read.');
	const items = content.items.filter((item) => item.value !== null || item.wiped);
	const itemRoom = Math.min(2700, Math.floor(room / Math.max(1, Math.min(items.length, MOST_ITEMS))));
	const shown = items.slice(0, MOST_ITEMS).flatMap((whole) => {
		const item = isOwn ? whole : forOthers(whole, content.repeats);
		const title = storedTitle(item.title, 200) || 'Your answer';
		const text = valueMrkdwn(item, (value) => quoted(value, itemRoom));
		return section(`*${title}*\n${item.secret && item.wiped ? REMOVED_ANSWER : text}`);
	});
	return [...shown, ...context(andMoreWords(items.length - MOST_ITEMS, 'answers'))];
}

/** Slack takes 250 KB in a view, and may count differently. */
export const MODAL_BYTES = 240_000;

/** All that somebody typed and did not send, exactly, to copy it; cut if no answer could hold it. */
export function draftModal({ values }: Pick<Draft, 'values'>): ModalView {
	const whole = neutralise(Object.values(values).join('\n\n')).trim() || '(empty)';
	const typed = Buffer.byteLength(JSON.stringify(whole)) > MODAL_BYTES ? cutWithNote(whole, MODAL_BYTES / 3) : whole;
	// Slack takes 3,000 characters in one text.
	const elements = (typed.match(/[\s\S]{1,1500}/gu) ?? []).map((text) => ({ type: 'text' as const, text }));
	return modal({
		callbackId: CALLBACKS.draft,
		title: 'Your text',
		metadata: '',
		blocks: [{ type: 'rich_text', elements: [{ type: 'rich_text_preformatted', elements }] }],
	});
}

export const sayingOf = (answer: Answer) => sayingSession(answer.question.sessionId, sessionNameOf(answer));
/** The session of an answer. mrkdwn without emphasis. */
export const titleOf = (answer: Answer) => sessionTitle(sessionNameOf(answer), answer.question.sessionId);

/** In place of a secret that is not stored any more. */
export const REMOVED_ANSWER = '(hidden, and removed from Handraise)';

/** Answers on a page of the history: each takes up to 14 blocks of the 100. */
export const HISTORY_PAGE = 6;

export function historyWords(sessionId: string, total: number, answers: readonly Answer[] = []): string {
	const name = `*${sessionTitle(answers.map(sessionNameOf).find(Boolean) ?? '', sessionId)}*`;
	if (total === 0) return `Nobody has answered ${name} through Handraise yet.`;
	return `${total === 1 ? 'One answer' : `${total} answers`} to ${name}, newest first.`;
}

/** Who answered what and when; secrets stay hidden. `answers`: newest first, from `metadata.offset` on. */
export function historyView(metadata: ViewMetadata, answers: readonly Answer[], total: number): ModalView {
	const { offset } = metadata;
	const next = offset + HISTORY_PAGE;
	return modal({
		callbackId: CALLBACKS.history,
		title: 'History',
		metadata,
		blocks: [
			...section(historyWords(metadata.sessionId, total, answers)),
			...answers.flatMap((answer): KnownBlock[] => [
				divider(),
				...section(personMrkdwn(answer.person.userId)),
				...ownText(answer, 3000),
				...context(timelineWords(answer)),
			]),
			...buttons(
				offset > 0 ? button(ACTIONS.historyNewer, 'Newer answers', { value: String(offset - HISTORY_PAGE) }) : null,
				next < total ? button(ACTIONS.historyOlder, 'Older answers', { value: String(next) }) : null,
			),
			...context(answers.length === 0 && total > 0 ? 'No more answers here.' : '', smallId(metadata.sessionId)),
		],
	});
}

/** What an open window says at its top when its question is over for somebody who did not do that. mrkdwn. */
export const WINDOW_NOTICES = {
	answeredBy: (userId: string) => `🔀 ${personMrkdwn(userId)} has answered. Your text stays here.`,
	ownAnswer: '🔀 You have answered in another place. Your text stays here.',
	answered: '🔀 This was answered elsewhere. Your text stays here.',
	changed: '✏️ The agent asks something else now. *Refresh* shows it, with your text where it fits.',
	moved: '✏️ This question has another place in the session now. *Refresh* shows it there, with your text.',
	ended: '🏁 The session ended. Your text stays here.',
} as const;

/** A form with such a notice or none, which stands in place of the title line. Null: there is no place for it. */
export function noticedView(form: ModalView | null, reader: string, by: string | null, became: Became | null) {
	const answered = by === reader ? WINDOW_NOTICES.ownAnswer : WINDOW_NOTICES.answeredBy(by ?? '');
	const words = by !== null ? answered : became === null ? '' : WINDOW_NOTICES[became];
	const [first, second, ...rest] = (form?.blocks ?? []) as readonly KnownBlock[];
	// Who is answering does not count any more.
	const others = second === undefined || (words !== '' && second.type === 'context') ? rest : [second, ...rest];
	if (form === null || first?.type !== 'section' || first.text === undefined) return null;
	const top = words === '' ? first : { ...first, text: mrkdwn(words) };
	return { key: words === '' ? '' : hashOf(words), view: { ...form, blocks: [top, ...others] } };
}
