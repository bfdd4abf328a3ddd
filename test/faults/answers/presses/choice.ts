import { setTimeout as pause } from 'node:timers/promises';
import { type Message, type Modal, records, text } from '../../../../fake-slack/index.ts';
import { stateLine } from '../../../../src/screens/answer.ts';
import { CHOICE_WORDS } from '../../../../src/screens/choice.ts';
import { ACTIONS } from '../../../../src/slack/ids.ts';
import type { Words } from '../../../../src/slack/rich-text.ts';
import { said } from '../../../support/said.ts';
import type { Harness } from '../../harness.ts';
import { until } from '../../until.ts';
import { claimIn } from '../receipt-watch.ts';
import type { Claim } from '../round.ts';
import { OPTION_PATTERN, QUESTION_TITLE, type Question, type QuestionDesk } from './questions.ts';

/** What a person is told about their choice, besides what receipts claim. */
export type Told =
	| Claim
	/** Their choice is sent soon; there is *Undo*. */
	| 'chosen'
	/** Somebody else was first. */
	| 'second'
	/** They had answered before. */
	| 'second of their own'
	/** It was neither stored nor sent. */
	| 'not taken'
	/** It may not be stored: they hear whether it was, or choose again. */
	| 'not saved yet'
	| 'taken back'
	| 'too late'
	/** The first answer was taken back: their own can be sent now. */
	| 'offered again';

/** One press of a button with an option. */
interface Attempt {
	readonly option: string;
	readonly sentAt: number;
	/** Null without an acknowledgement. */
	ackedAt: number | null;
}

/** One person's answer to one question. */
export interface Choice {
	readonly question: Question;
	readonly person: string;
	readonly userId: string;
	/** What this person may choose; nobody else chooses one of these. */
	readonly options: readonly string[];
	/** Presses of options, oldest first. */
	readonly attempts: Attempt[];
	/** Of a form: which option was submitted, how often it was refused in time, and whether it was acknowledged. */
	form: { readonly modal: Modal; readonly option: string; refusals: number; acked: boolean } | null;
	/** What they were told, in order, without repeats. */
	readonly told: { readonly what: Told; readonly at: number; readonly shown: string }[];
	/** The post that showed their choice with *Undo*. */
	own: Message | null;
	/** They pressed *Undo*, acknowledged or not. */
	undoPressed: boolean;
	/** They sent the draft that their choice became. */
	sentDraft: boolean;
	/** The button was gone when they wanted to press it. */
	gone: boolean;
	readonly hits: string[];
	readonly troubles: string[];
	/** What was found wrong during the run. */
	readonly broken: string[];
}

const MOST_PRESSES = 40;
const PRESS_AGAIN_MS = 250;
/** The program refuses a submission that this machine is too slow for once its time is over, and no sooner than this. */
const OUT_OF_TIME_MS = 900;
/** How long a person waits for the result of *Undo* before they press again. */
const UNDO_ANSWERED_MS = 2_500;
const OFFERED = stateLine({ state: 'conflicted', agentOutcome: null, lastError: 'first_failed' });

/** The people who answer, and everything that Slack shows them about it. */
export function followChoices(harness: Harness, desk: QuestionDesk) {
	const { slack, signals } = harness;
	const { state } = slack;
	const all: Choice[] = [];
	const byQuestion = new Map<number, Choice[]>();
	const numberOf = new Map<string, number>();
	const byView = new Map<string, Choice>();

	function tell(choice: Choice, shown: string): Told | null {
		const what = toldBy(choice, shown);
		if (what === null || choice.told.at(-1)?.what === what) return what;
		choice.told.push({ what, at: Date.now(), shown });
		return what;
	}

	function onMessage(ts: string): void {
		const message = state.messages.findLast((one) => one.ts === ts);
		if (message === undefined || message.user !== state.app.botUser) return;
		const channel = state.channels.find(({ id }) => id === message.channel);
		const shown = JSON.stringify([message.text, message.blocks]);
		const number = Number(OPTION_PATTERN.exec(shown)?.[1] ?? numberOf.get(ts));
		numberOf.set(ts, number);
		if (message.ephemeralFor === undefined && channel?.isIm !== true) {
			onPost(message, number, shown);
			return;
		}
		const isFor = ({ userId }: Choice) =>
			message.ephemeralFor === undefined ? channel?.members.includes(userId) === true : message.ephemeralFor === userId;
		const choice = byQuestion.get(number)?.find((one) => isFor(one));
		if (choice === undefined) return;
		tell(choice, shown);
	}

	/**
	 * The post of the question shows a choice with *Undo*. Once that was taken back it shows the options again, or at once
	 * the answer of somebody who was quicker than its redrawing.
	 */
	function onPost(message: Message, number: number, shown: string): void {
		const note = (choice: Choice, what: Told) => {
			if (choice.told.at(-1)?.what !== what) choice.told.push({ what, at: Date.now(), shown });
		};
		const own = byQuestion.get(number) ?? [];
		for (const choice of own) {
			if (showsChoice(choice, shown)) {
				choice.own = message;
				choice.undoPressed &&= choice.told.at(-1)?.what === 'chosen';
				note(choice, 'chosen');
			} else if (choice.own === message && choice.told.at(-1)?.what === 'chosen') {
				const isReplaced = choice.undoPressed && own.some((other) => other !== choice && namesChoice(other, shown));
				if (isReplaced || shown.includes(ACTIONS.choose1)) note(choice, 'taken back');
			}
		}
	}

	const stop = slack.changes.listen((change) => {
		if (change.kind === 'message') onMessage(change.id);
		const choice = change.kind === 'view' ? byView.get(change.id) : undefined;
		if (choice !== undefined) tell(choice, JSON.stringify(state.views[change.id]?.payload.blocks ?? ''));
	});

	const viewer = ({ userId }: Choice) => ({ user: userId, window: 'main' });

	/** Null when the message has no such button any more. */
	async function pressButton(choice: Choice, message: Message, actionId: string): Promise<boolean | null> {
		const block = message.blocks.find((one) =>
			[...records(one, 'elements'), one.accessory].some((element) => text(element, 'action_id') === actionId),
		);
		if (block === undefined) return null;
		const { channel, ts } = message;
		const blockId = text(block, 'block_id') ?? '';
		return slack.perform(viewer(choice), { do: 'pressInMessage', channel, ts, blockId, actionId }).then(
			({ acked }) => acked === true,
			() => null,
		);
	}

	/** What was told since there were `count` entries. */
	async function toldSince(choice: Choice, count: number, withinMs: number): Promise<Told | null> {
		await until(() => choice.told.length > count, withinMs);
		return choice.told[count]?.what ?? null;
	}

	return {
		all: all as readonly Choice[],
		of: ({ number }: Question): readonly Choice[] => byQuestion.get(number) ?? [],
		begin(question: Question, person: string, options: readonly string[]): Choice {
			const { user: userId } = slack.as(person);
			const choice: Choice = {
				question,
				person,
				userId,
				options,
				attempts: [],
				form: null,
				told: [],
				own: null,
				undoPressed: false,
				sentDraft: false,
				gone: false,
				hits: [],
				troubles: [],
				broken: [],
			};
			all.push(choice);
			byQuestion.set(question.number, [...(byQuestion.get(question.number) ?? []), choice]);
			return choice;
		},
		/** Presses an option until it is acknowledged, the person is told something, or the button is gone. */
		async press(choice: Choice, option = choice.options[0] ?? ''): Promise<void> {
			const { question } = choice;
			const toldCount = choice.told.length;
			for (let press = 1; press <= MOST_PRESSES; press++) {
				await harness.serving();
				if (choice.told.length > toldCount) return;
				const wanted = press > 1 ? (choice.options[press % choice.options.length] ?? option) : option;
				const button = desk.button(question, wanted);
				const post = desk.post(question);
				if (button === null || post === undefined) {
					choice.gone = true;
					return;
				}
				const attempt: Attempt = { option: wanted, sentAt: Date.now(), ackedAt: null };
				choice.attempts.push(attempt);
				signals.emit('pressed', question.sessionId);
				const acked = await pressButton(choice, post, button.actionId);
				if (acked === null) {
					choice.attempts.pop();
					choice.gone = true;
					return;
				}
				if (acked) {
					attempt.ackedAt = Date.now();
					signals.emit('acked', question.sessionId);
					return;
				}
				await pause(PRESS_AGAIN_MS);
			}
			choice.broken.push('it was not acknowledged however often it was pressed');
		},
		/** Presses *Undo* until the person is told what became of it. False when there is nothing to press. */
		async undo(choice: Choice): Promise<boolean> {
			for (let press = 1; press <= MOST_PRESSES; press++) {
				await harness.serving();
				const { own } = choice;
				if (own === null) return false;
				if (!showsChoice(choice, JSON.stringify(own.blocks))) return choice.told.length > 0;
				const count = choice.told.length;
				choice.undoPressed = true;
				signals.emit('pressed', choice.question.sessionId);
				const acked = await pressButton(choice, own, ACTIONS.undo);
				if (acked === null) return choice.told.length > 0;
				if (acked) signals.emit('acked', choice.question.sessionId);
				const told = await toldSince(choice, count, acked ? UNDO_ANSWERED_MS : PRESS_AGAIN_MS);
				if (told !== null) return true;
			}
			choice.broken.push('Undo did nothing however often it was pressed');
			return true;
		},
		/** Submits the form until it is acknowledged. */
		async submit(choice: Choice): Promise<void> {
			const { form } = choice;
			if (form === null) return;
			byView.set(form.modal.id, choice);
			for (let press = 1; press <= MOST_PRESSES; press++) {
				await harness.serving();
				if (!form.modal.isOpen() || form.modal.submitText() === null) return;
				signals.emit('pressed', choice.question.sessionId);
				const pressedAt = Date.now();
				const outcome = await form.modal.submit().catch(() => null);
				if (outcome === null) return;
				if (outcome.outcome === 'updated') {
					form.acked = true;
					signals.emit('acked', choice.question.sessionId);
					return;
				}
				if (Date.now() - pressedAt < OUT_OF_TIME_MS) form.refusals++;
				await pause(PRESS_AGAIN_MS);
			}
			choice.broken.push('it could not be submitted however often that was tried');
		},
		stop,
	};
}

/** Whether a post shows this person's choice, and that they can take it back. */
function showsChoice(choice: Choice, shown: string): boolean {
	return shown.includes(ACTIONS.undo) && namesChoice(choice, shown);
}

/** Whether a post shows this person's answer: on its way, or as what the session got. */
function namesChoice({ person, options }: Choice, shown: string): boolean {
	return options.some((one) => shown.includes(`${person}: ${one}`));
}

/** What both texts end with. */
function commonEnd(one: string, other: string): string {
	let length = 0;
	while (length < one.length && one.at(-1 - length) === other.at(-1 - length)) length += 1;
	return one.slice(one.length - length);
}

function toldBy({ options }: Choice, shown: string): Told | null {
	const own = options.find((option) => shown.includes(option)) ?? '';
	const choice = { option: own, title: QUESTION_TITLE, sessionId: '' };
	/** Whatever the other answer was: what stands after it. */
	const isSaid = (words: (own: typeof choice, first: string | null) => Words) =>
		options.some((option) =>
			shown.includes(commonEnd(said(words({ ...choice, option }, null)), said(words({ ...choice, option }, '?')))),
		);
	if (shown.includes(said(CHOICE_WORDS.undone(choice)))) return 'taken back';
	if (shown.includes(said(CHOICE_WORDS.undoTooLate(choice)))) return 'too late';
	if (shown.includes(OFFERED)) return 'offered again';
	if (isSaid(CHOICE_WORDS.second)) return 'second of their own';
	if (isSaid((own, first) => CHOICE_WORDS.lost(own, '', first))) return 'second';
	if (isSaid((own) => said(CHOICE_WORDS.notSent(own, '')).trim())) return 'not taken';
	if (isSaid((own) => CHOICE_WORDS.unknown(own))) return 'not known';
	if (shown.includes(said(CHOICE_WORDS.late(choice)))) return 'not saved yet';
	return claimIn(shown) ?? null;
}
