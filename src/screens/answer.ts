import type { Draft } from '../delivery/draft-store.ts';
import {
	type AgentOutcome,
	type Answer,
	type AnswerState,
	agentMayBeIdle,
	type FirstEnding,
	firstAnswerOf,
	firstEndingOf,
	forOthers,
	isFailed,
	itemsOf,
	keptQuestionOf,
	mayHaveArrived,
	QUESTION_MOVED,
	sessionNameOf,
} from '../domain/answer.ts';
import { masked } from '../domain/masking.ts';
import type { Person } from '../domain/person.ts';
import type { QuestionOutcome } from '../domain/session.ts';
import { isBlank, neutralise, oneLine } from '../domain/shown-text.ts';
import { cutWithNote } from '../domain/texts.ts';
import { hashOf } from '../kernel/values.ts';
import { NO_PERMIT_CODES, NOT_FOUND_CODES, WAITS_FOR_SERVICE_CODES } from '../service/service.ts';
import { isProvenRefusal } from '../slack/access-policy.ts';
import { agentText } from '../slack/agent-text.ts';
import {
	type Button,
	button,
	buttons,
	context,
	divider,
	type KnownBlock,
	labelAbout,
	labelAboutSession,
	type ModalView,
	modal,
	section,
} from '../slack/blocks.ts';
import { ACTIONS, CALLBACKS, newMetadata, type ViewMetadata } from '../slack/ids.ts';
import {
	andMoreWords,
	endWords,
	mentionOf,
	momentOf,
	type Names,
	personName,
	sessionTitle,
	smallId,
	valuePieces,
} from '../slack/phrases.ts';
import { bold, joined, line, lines, quote, rich, richText, sentences, type Words } from '../slack/rich-text.ts';

/** What became of an answer. `more` stands right behind `what`. `isWell`: nobody has to know how it went. */
interface StateWords {
	readonly emoji: string;
	readonly what: string;
	readonly more?: string;
	readonly isWell?: true;
}

const SENDING: StateWords = { emoji: '⏳', what: 'Sending…', isWell: true };
const CONTINUED: StateWords = { emoji: '✅', what: 'Delivered', more: ' · continued', isWell: true };

/** The words for each state of an answer, the same on posts, cards, receipts, Homes and in histories. */
const STATE_WORDS: Readonly<Record<AnswerState, StateWords>> = {
	accepted: SENDING,
	delivering: SENDING,
	waiting: { emoji: '⚠️', what: 'Not delivered', more: '; its author decides' },
	delivered: { emoji: '✅', what: 'Delivered', isWell: true },
	resumed: CONTINUED,
	conflicted: { emoji: '🔀', what: 'Not sent: somebody else answered first' },
	changed: { emoji: '✏️', what: 'Not sent: the question changed' },
	// Without a reason: in the timeline of an answer that was sent again, it is not known.
	refused: { emoji: '⛔', what: 'Not delivered: it was refused' },
	ended: { emoji: '🏁', what: 'Not sent: the session was over' },
	withdrawn: { emoji: '↩️', what: 'Undone; nothing was sent', isWell: true },
};

/** For an answer that is not sent any more, while an earlier PUT may have arrived. */
const PERHAPS_ARRIVED: StateWords = { emoji: '⚠️', what: 'Sent, and may have arrived' };

const NOT_THERE: StateWords = { emoji: '⚠️', what: 'Delivered', more: ' · not in the field any more' };

const sessionEnded = (status: string) => ` · the session ${endWords(status)}`;

/** The words for what the agent did after the delivery. */
const AGENT_OUTCOME_WORDS: Readonly<Record<AgentOutcome, StateWords>> = {
	resumed: CONTINUED,
	unseen: { emoji: '👀', what: 'Delivered', more: ' · no sign of the agent yet' },
	failed: { emoji: '❌', what: 'Delivered', more: sessionEnded('failed') },
	stopped: { emoji: '⏹️', what: 'Delivered', more: sessionEnded('stopped') },
	completed: { emoji: '✅', what: 'Delivered', more: sessionEnded('completed'), isWell: true },
	overwritten: NOT_THERE,
	lost: NOT_THERE,
	replaced: NOT_THERE,
};

const LOST_TO_OWN: StateWords = { emoji: '🔀', what: 'Not sent: another answer of the same person counts' };

const FIRST_WORDS: Readonly<Record<FirstEnding, StateWords>> = {
	first_failed: { emoji: '📝', what: 'Not sent: the first answer did not arrive either' },
	first_over: { emoji: '🏁', what: 'Not sent, nor was the first answer: the session was over' },
	first_unknown: { emoji: '⚠️', what: 'Not sent: the first answer may have arrived' },
};

const MAY_NOT = 'may no longer answer';

type AnswerNews = Pick<Answer, 'state' | 'agentOutcome' | 'lastError'> & Partial<Answer>;

/** The person in Slack whose answer came first, if this one came second; else null. */
export const firstPersonOf = (answer: Partial<Answer>): Person | null => firstAnswerOf(answer)?.person ?? null;

type Reader = 'author' | 'others';

function wordsOf(state: AnswerState, answer: AnswerNews, reader: Reader, entry = answer.timeline?.at(-1)): StateWords {
	if (state === answer.state && mayHaveArrived(answer)) return PERHAPS_ARRIVED;
	if (state === 'waiting' && reader === 'author') return { ...STATE_WORDS.waiting, more: ': your decision' };
	if (state === 'refused' && isProvenRefusal(answer.lastError))
		return { emoji: '⛔', what: `Not sent: ${reader === 'author' ? 'you' : 'its author'} ${MAY_NOT}` };
	if (state === 'refused' && answer.lastError === NOT_FOUND_CODES.gone)
		return { emoji: '⛔', what: 'Not sent: the session is gone' };
	if (state === 'changed' && answer.lastError === QUESTION_MOVED)
		return { emoji: '✏️', what: 'Not sent: the question has another place now' };
	if (state !== 'conflicted') return STATE_WORDS[state];
	const first = firstPersonOf(answer);
	const lostTo = entry?.lostTo ?? (first !== null && first.userId === answer.person?.userId ? 'own' : 'other');
	return lostTo === 'other' ? STATE_WORDS.conflicted : LOST_TO_OWN;
}

/** Other words in a timeline, for states that were passed. */
const PAST_WORDS: Partial<Record<AnswerState, StateWords>> = {
	accepted: { emoji: '💾', what: 'Saved' },
	delivering: { emoji: '📨', what: 'Sent' },
	waiting: { emoji: '⚠️', what: 'Not delivered' },
};

const lineOf = ({ emoji, what, more = '' }: StateWords) => `${emoji} ${what}${more}`;

/**
 * The newest entries of an answer's timeline, or one line if nothing failed. For its author, the state line is above.
 */
export function timelineWords(answer: Answer, reader: Reader = 'others'): Words {
	const { agentOutcome, lastError, timeline, acceptedAt } = answer;
	const state = stateWords(answer, reader);
	const hasFailed = lastError !== null || timeline.some((entry) => isFailed(entry.state));
	if (!hasFailed && state.isWell === true)
		return joined(reader === 'author' ? '' : lineOf(state), momentOf(timeline.at(-1)?.at ?? acceptedAt));
	const entries = timeline.slice(-8).map((entry): Words => {
		const isUnknown = entry.state === answer.state && mayHaveArrived(answer);
		const isNewest = entry === timeline.at(-1);
		const ending = isNewest ? endingOf(answer) : null;
		const past = ending === null ? PAST_WORDS[entry.state] : FIRST_WORDS[ending];
		const words = (isUnknown ? undefined : past) ?? wordsOf(entry.state, answer, reader, entry);
		// An entry that repeats the state line above is its emoji and the time alone.
		const isSaid = reader === 'author' && isNewest && words.emoji === state.emoji && words.what === state.what;
		return isSaid ? sentences(words.emoji, momentOf(entry.at)) : joined(lineOf(words), momentOf(entry.at));
	});
	const outcome = reader === 'others' && agentOutcome !== 'resumed' ? agentOutcome : null;
	if (outcome !== null) entries.push(lineOf(AGENT_OUTCOME_WORDS[outcome]));
	return lines(...entries);
}

/** How the answer that came first ended. */
const endingOf = (answer: AnswerNews) => (mayHaveArrived(answer) ? null : firstEndingOf(answer));

function stateWords(answer: AnswerNews, reader: Reader): StateWords {
	const { state, agentOutcome, lastError } = answer;
	const ending = endingOf(answer);
	if (ending !== null) return FIRST_WORDS[ending];
	if (lastError !== null && state === 'accepted') {
		const more = isServiceAway(lastError) ? '; sent when the service is back' : '';
		return { emoji: '⏳', what: 'Not delivered yet', more };
	}
	if (lastError !== null && state === 'delivering') return { emoji: '⏳', what: 'Sent, checking whether it arrived' };
	if (agentMayBeIdle(answer)) return MAY_BE_IDLE;
	if (state === 'delivered' && agentOutcome !== null) return AGENT_OUTCOME_WORDS[agentOutcome];
	return wordsOf(state, answer, reader);
}

const MAY_BE_IDLE: StateWords = {
	emoji: '⚠️',
	what: 'Delivered',
	more: ', but the session service reported a failure: the agent may not have been started',
};

/** What became of an answer, in one line that begins with an emoji. */
export const stateLine = (answer: AnswerNews, reader: Reader = 'others') => lineOf(stateWords(answer, reader));

/** Whether a code means that the service is down, not that it limits requests or misses one session. */
const isServiceAway = (code: string) =>
	WAITS_FOR_SERVICE_CODES.has(code) && !NO_PERMIT_CODES.has(code) && code !== NOT_FOUND_CODES.one;

/** The emoji at the beginning of the state line. */
export const emojiOf = (answer: AnswerNews) => stateWords(answer, 'others').emoji;

/** The state line without its emoji, for the middle of a line: `delivered`, `sending…`, `continued`. */
export function inlineState(answer: AnswerNews): string {
	if (answer.state === 'resumed') return 'continued';
	const { what, more = '' } = stateWords(answer, 'others');
	return `${what}${more}`.replace(/^./, (first) => first.toLowerCase());
}

/** Tells the others who may answer why a question is open again. Empty without a refused answer. */
export function notSentWords(refused: Answer | null, names: Names): string {
	if (refused === null) return '';
	const who = personName(refused.person.userId, names);
	const why = refused.lastError === 'deactivated' ? 'the account is deactivated' : `${who} ${MAY_NOT}`;
	return `⛔ The answer of ${who} was not sent: ${why}.`;
}

export const hasText = (answer: Answer) => itemsOf(answer).some((item) => !item.secret && !isBlank(item.value ?? ''));

export const TEXT_REMOVED = 'The text of this answer was removed because its retention time is over.';
const TEXT_UNREADABLE = 'The text of this answer was stored with another encryption key and cannot be read.';
export const MOST_SHOWN_ITEMS = 10;

/** A title as a form showed it. */
export const storedTitle = (title: string, limit: number) => oneLine(masked(title).text, limit);

/**
 * What the author wrote, in about `room` UTF-16 units, without secrets. `isOwn`: for the author, so nothing is masked.
 */
export function ownText(answer: Answer, room: number, { isOwn = false, isTitled = true } = {}): KnownBlock[] {
	const { content } = answer;
	if (content.kind === 'removed') return context(TEXT_REMOVED);
	if (content.kind === 'unreadable') return context(TEXT_UNREADABLE);
	const items = content.items.filter((item) => item.value !== null || item.wiped);
	const itemRoom = Math.min(2700, Math.floor(room / Math.max(1, Math.min(items.length, MOST_SHOWN_ITEMS))));
	const shown = items.slice(0, MOST_SHOWN_ITEMS).flatMap((whole) => {
		const item = isOwn ? whole : forOthers(whole, content.repeats);
		const title = isTitled ? line(bold(storedTitle(item.title, Math.min(200, itemRoom)) || 'Your answer')) : [];
		return [...title, ...(item.secret && item.wiped ? line(REMOVED_ANSWER) : valuePieces(item, itemRoom))];
	});
	return [...richText(...shown), ...context(andMoreWords(items.length - MOST_SHOWN_ITEMS, 'answers'))];
}

/** Slack takes 250 KB in a view, and may count differently. */
export const MODAL_BYTES = 240_000;

/** The exact text of a draft, to copy it. It is cut only if no answer could hold it. */
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

export const labelAboutAnswer = (answer: Answer) => labelAboutSession(answer.question.sessionId, sessionNameOf(answer));
/** The session of an answer. */
export const answerTitle = (answer: Answer) => sessionTitle(sessionNameOf(answer), answer.question.sessionId);

/** Replaces a secret that is not stored any more. */
export const REMOVED_ANSWER = '(hidden, and removed from Handraise)';

/** Answers on a page of the history: each takes up to 14 blocks of the 100. */
export const HISTORY_PAGE = 6;

export function historyWords(sessionId: string, total: number, answers: readonly Answer[] = []): Words {
	const name = sessionTitle(answers.map(sessionNameOf).find(Boolean) ?? '', sessionId);
	if (total === 0) return rich`Nobody has answered *${name}* through Handraise yet.`;
	return rich`${total === 1 ? 'One answer' : `${total} answers`} to *${name}*, newest first.`;
}

/** Opens the question as its author answered it; null when nothing of it is kept. */
export function showQuestionButton(answer: Answer): Button | null {
	const asked = keptQuestionOf(answer);
	if (asked === null) return null;
	return labelAbout(oneLine(asked.items[0]?.title ?? '', 75) || answerTitle(answer))(
		button(ACTIONS.showQuestion, 'Show question', { value: answer.id }),
	);
}

/** The question as it was when this answer was sent, and the answer as others may see it. Texts may be removed. */
export function questionModal(answer: Answer): ModalView {
	const { sessionId } = answer.question;
	const asked = keptQuestionOf(answer);
	const items = (asked?.items ?? []).slice(0, MOST_ASKED).flatMap(({ title, description }) => {
		return [...quote(bold(oneLine(title, 300))), ...agentText(description, 2_000)];
	});
	const more = andMoreWords((asked?.items.length ?? 0) - MOST_ASKED);
	return modal({
		callbackId: CALLBACKS.question,
		title: 'Question',
		metadata: newMetadata({ sessionId, formId: '' }),
		blocks: [
			...richText(
				...line(rich`✋ *${answerTitle(answer)}*${asked === null ? '' : ' asked'}`),
				...agentText(asked?.context ?? '', 2_900),
				...items,
				...line(more),
			),
			...section(rich`${mentionOf(answer.person.userId)} answered:`),
			// The question above has the title of a lone item already.
			...ownText(answer, 20_000, { isTitled: asked?.items.length !== 1 }),
			...context(timelineWords(answer)),
		],
	});
}

/** The most items of a question that is shown again. */
const MOST_ASKED = 30;

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
				...section(mentionOf(answer.person.userId)),
				...ownText(answer, 3000),
				...context(timelineWords(answer)),
				...buttons(showQuestionButton(answer)),
			]),
			...buttons(
				offset > 0 ? button(ACTIONS.historyNewer, 'Newer answers', { value: String(offset - HISTORY_PAGE) }) : null,
				next < total ? button(ACTIONS.historyOlder, 'Older answers', { value: String(next) }) : null,
			),
			...context(answers.length === 0 && total > 0 ? 'No more answers here.' : '', smallId(metadata.sessionId)),
		],
	});
}

/** Notices at the top of an open window whose question is over. */
export const WINDOW_NOTICES = {
	answeredBy: (userId: string) => rich`🔀 ${mentionOf(userId)} has answered. Your text stays here.`,
	ownAnswer: '🔀 You have answered in another place. Your text stays here.',
	answered: '🔀 Answered in the dashboard. Your text stays here.',
	changed: rich`✏️ The agent asks something else now. *Refresh* shows it, with your text where it fits.`,
	moved: rich`✏️ This question has another place in the session now. *Refresh* shows it there, with your text.`,
	ended: '🏁 The session is over. Your text stays here.',
} as const;

/**
 * A form with a notice in place of its title line, or without one. Null: the view has no title line. `by`: who
 * answered.
 */
export function noticedView(form: ModalView | null, reader: string, by: string | null, became: QuestionOutcome | null) {
	const answered = by === reader ? WINDOW_NOTICES.ownAnswer : WINDOW_NOTICES.answeredBy(by ?? '');
	const words = by !== null ? answered : became === null ? '' : WINDOW_NOTICES[became];
	const [first, second, ...rest] = (form?.blocks ?? []) as readonly KnownBlock[];
	// With a notice, the line of who is answering goes.
	const others = second === undefined || (words !== '' && second.type === 'context') ? rest : [second, ...rest];
	if (form === null || first?.type !== 'rich_text') return null;
	const top = words === '' ? [first] : section(words);
	return { key: words === '' ? '' : hashOf(JSON.stringify(words)), view: { ...form, blocks: [...top, ...others] } };
}
