import type { Message } from '../../../../fake-slack/index.ts';
import { MAYBE_REPEAT } from '../../../../src/slack/phrases.ts';
import type { Harness } from '../../harness.ts';
import { type Fleet, isCard, shown as shownBy } from '../fleet.ts';

/** A message in Slack that reminds of a question. */
export interface SeenReminder {
	/** When Slack took it, milliseconds since the epoch. */
	readonly at: number;
	/** Of its metadata: two messages with the same key are one post. Null without metadata. */
	readonly key: string | null;
	/** One message for several questions does not say which reminders it is about. */
	readonly kind: 'reminder' | 'escalation' | 'together';
	/** Whether it says that it may be a repeat. */
	readonly isMarked: boolean;
}

/** A question that an agent asked, and what Slack shows of it. All times are milliseconds since the epoch. */
export interface AskedQuestion {
	readonly title: string;
	readonly askedAt: number;
	/** Its newest post; null before that. */
	readonly postedAt: number | null;
	/** When somebody answered in the service's page. */
	readonly answeredAt: number | null;
	/** When the channel was told of the answer. */
	readonly toldAt: number | null;
	/** Oldest first. */
	readonly reminders: readonly SeenReminder[];
}

/** A question that is still going on. */
export type Asked = { -readonly [Key in keyof AskedQuestion]: AskedQuestion[Key] } & {
	readonly sessionId: string;
	readonly reminders: SeenReminder[];
};

/** An escalation begins with a mention. */
const REMINDER_WORDS = /^(?:<@\w+> )?(⏰|📣)/u;
/** One message for several questions, or for one that waited with others. */
const TOGETHER_WORDS = /^(?:<@\w+> )?\S+ \d+ questions? waits? for an answer/u;

/** The questions of a run. Follows what Slack shows of them until it is closed. */
export function followQuestions({ slack }: Harness, fleet: Fleet) {
	const all: Asked[] = [];
	const nameless: string[] = [];
	const misplaced: string[] = [];
	/** Where each post of a question stands. */
	const placeOf = new Map<string, Asked>();
	const seen = new Set<string>();
	const answerTo = ({ title }: Asked) => `Answer to ${title.replace('?', '.')}`;

	function note(message: Message): void {
		if (message.user !== slack.state.app.botUser || message.ephemeralFor !== undefined) return;
		const shown = shownBy(message);
		const at = Number(message.ts) * 1_000;
		if (isReminder(message)) {
			const named = all.filter(({ title }) => shown.includes(title));
			const seenAs = seenReminder(message, shown, at);
			for (const question of named) question.reminders.push(seenAs);
			if (message.threadTs !== undefined) misplaced.push(message.text);
			if (named.length === 0) nameless.push(message.text);
			return;
		}
		for (const question of all) {
			if (message.threadTs === undefined && !isCard(message) && shown.includes(question.title)) {
				question.postedAt = at;
				placeOf.set(message.ts, question);
			}
		}
	}

	const close = slack.changes.listen(({ kind, id }) => {
		if (kind !== 'message') return;
		const message = slack.state.messages.findLast(({ ts }) => ts === id);
		if (message === undefined) return;
		if (!seen.has(id)) note(message);
		seen.add(id);
		const question = placeOf.get(id);
		if (question !== undefined && JSON.stringify(message.blocks).includes(answerTo(question)))
			question.toldAt ??= Date.now();
	});

	return {
		all: all as readonly Asked[],
		/** The texts of reminders that name no question: only open ones are named, so these came after the answer. */
		nameless: nameless as readonly string[],
		/** The texts of reminders outside of the channel. */
		misplaced: misplaced as readonly string[],
		/** The agent of this session asks. */
		ask(sessionId: string): Asked {
			const title = `Question ${all.length} of ${sessionId}?`;
			fleet.ask(sessionId, title);
			const times = { askedAt: Date.now(), postedAt: null, answeredAt: null, toldAt: null };
			const question: Asked = { sessionId, title, ...times, reminders: [] };
			all.push(question);
			return question;
		},
		/** Somebody answers in the service's page. */
		answer(question: Asked): void {
			fleet.answer(question.sessionId, answerTo(question));
			question.answeredAt = Date.now();
		},
		close,
	};
}

/** Whether a message, or the arguments of a call that posts one, reminds of a question. */
export function isReminder({ text }: { readonly text?: unknown }): boolean {
	return REMINDER_WORDS.test(String(text));
}

function seenReminder({ text, metadata }: Message, shown: string, at: number): SeenReminder {
	const payload = metadata?.event_payload as { key?: string } | undefined;
	const ofOne = text.startsWith('⏰') ? 'reminder' : 'escalation';
	return {
		at,
		key: payload?.key ?? null,
		kind: TOGETHER_WORDS.test(text) ? 'together' : ofOne,
		isMarked: shown.includes(MAYBE_REPEAT),
	};
}
