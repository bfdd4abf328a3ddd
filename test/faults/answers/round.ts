import { setTimeout as pause } from 'node:timers/promises';
import { askingSession } from '../../../fake-session-service/builders.ts';
import type { Actor, Modal } from '../../../fake-slack/index.ts';
import type { Harness } from '../harness.ts';
import type { Phase } from './phases.ts';

/**
 * What else happens to a session between the opening of its form and Submit; usually nothing. `moved on`: its agent
 * goes on once it has the answer, and the program has not heard of either.
 */
export type Fate = 'plain' | 'answered' | 'ended' | 'changed' | 'moved on';

/** One answer, from the click to the confirmation. */
export interface Round {
	readonly number: number;
	readonly sessionId: string;
	readonly fate: Fate;
	readonly person: string;
	readonly actor: Actor;
	readonly modal: Modal;
	/** The text typed for each press of Submit, oldest first; usually always the same. */
	readonly texts: string[];
	/** Time of the first press, ms since the epoch. */
	pressedAt: number;
	/** The text whose submission was last acknowledged as saved; null before the first. */
	ackedText: string | null;
	/** The person closed the window after the acknowledgement. */
	closed: boolean;
	/** What the window said when its author closed it after a refused press without pressing again. */
	left: 'nothing was sent' | 'not known' | null;
	/** Phases in which a kill met it. */
	readonly hits: Phase[];
	/** What its author was told, in order, without repeats. */
	readonly told: Claim[];
	/** What went wrong around it, for the report. */
	readonly troubles: string[];
	/** What its author was told, or not told, against the promise. */
	readonly broken: string[];
	/** What came too late or too early. */
	readonly untimely: string[];
}

/** What a receipt claims, as far as a claim can be true or false. */
export type Claim =
	| 'saved'
	| 'arrived'
	| 'went on'
	| 'arrived, then over'
	| 'overwritten'
	| 'conflicted'
	| 'changed'
	| 'ended'
	| 'not delivered'
	/** Permanently. */
	| 'may have arrived'
	/** For the moment. */
	| 'not known';

/** Nobody tries longer than this. */
const MOST_PRESSES = 40;
/** Between a refusal and the next press. */
const PRESS_AGAIN_MS = 250;
/** How long people try to open a form while Slack refuses calls. */
const FORM_WITHIN_MS = 240_000;

export const QUESTION = 'What should the report be called?';
/** A secret question: its values are wiped when they are delivered. */
export const SECRET_QUESTION = 'Password';
/** The index of the message in which a session asks. */
export const ASKED_AT = 1;

/** A session that waits for one answer. */
function addSession({ service }: Harness, sessionId: string, question: string = QUESTION): void {
	service.sessions.put(sessionId, askingSession([question], { name: 'Fault run' }));
}

interface FormToOpen {
	readonly sessionId: string;
	readonly person: string;
	readonly text: string;
	readonly question?: string;
	/** How often the person types the command. */
	readonly tries?: number;
	/** Enters the text; types it into the first field by default. */
	readonly enter?: (modal: Modal) => Promise<void>;
}

/**
 * A person opens the session's form and types. They repeat the command when Slack had trouble, and return later when
 * Slack refused the call as one too many.
 */
export async function openForm(
	harness: Harness,
	{
		sessionId,
		person,
		text,
		question = QUESTION,
		tries: mostTries = 4,
		enter = (form) => form.fill(0, text),
	}: FormToOpen,
): Promise<{ actor: Actor; modal: Modal }> {
	const until = Date.now() + FORM_WITHIN_MS;
	for (let tries = 1; ; tries++) {
		const refusedBefore = harness.rates.refused;
		// Each try has its own window, so that a late view of an earlier try cannot replace the form.
		const actor = harness.slack.as(person, `${sessionId}, try ${tries}`);
		try {
			await harness.serving();
			await actor.command('#agents', `/session ${sessionId}`);
			const modal = await actor.waitForModal(
				(one) => one.submitText() !== null && one.text().includes(question),
				6_000,
			);
			await enter(modal);
			return { actor, modal };
		} catch (error) {
			const isRefused = harness.rates.refused > refusedBefore && mostTries > 1 && Date.now() < until;
			if (tries >= mostTries && !isRefused) throw error;
			if (isRefused) await harness.rates.roomFor(1);
		}
	}
}

export interface RoundOptions {
	readonly number: number;
	readonly prefix: string;
	readonly person: string;
	readonly fate?: Fate;
	readonly question?: string;
	/** The round of another person who has a form of the same question. */
	readonly rivalOf?: Round;
	/** How often the person types the command. */
	readonly tries?: number;
}

/** A session with its question, and a person who has the form open with a typed answer. */
export async function beginRound(harness: Harness, options: RoundOptions): Promise<Round> {
	const { number, prefix, person, fate = 'plain', question = QUESTION, rivalOf, tries } = options;
	const sessionId = rivalOf?.sessionId ?? `${prefix}${number}x`;
	const text = rivalOf === undefined ? `Report ${sessionId}` : `${person} says ${sessionId}`;
	if (rivalOf === undefined) addSession(harness, sessionId, question);
	const { actor, modal } = await openForm(harness, {
		sessionId,
		person,
		text,
		question,
		...(tries === undefined ? {} : { tries }),
	});
	return {
		number,
		sessionId,
		fate,
		person,
		actor,
		modal,
		texts: [text],
		pressedAt: 0,
		ackedText: null,
		closed: false,
		left: null,
		hits: [],
		told: [],
		troubles: [],
		broken: [],
		untimely: [],
	};
}

/**
 * The person presses Submit until Slack shows that the answer was taken. `edit` gives the text for a later press.
 * Resolves after the acknowledgement, or when a receipt has replaced the form.
 */
export async function submit(
	harness: Harness,
	round: Round,
	options: { twice?: boolean; edit?: (press: number) => string | null; presses?: number } = {},
): Promise<void> {
	const { modal } = round;
	round.pressedAt = Date.now();
	const [first = ''] = round.texts;
	let text = first;
	for (let press = 1; press <= (options.presses ?? MOST_PRESSES); press++) {
		if (press > 1) {
			await harness.serving();
			if (!isForm(round)) return;
			const edited = options.edit?.(press) ?? null;
			if (edited !== null && edited !== text) {
				text = edited;
				round.texts.push(text);
				await modal.fill(0, text).catch(() => undefined);
			}
			if (!isForm(round)) return;
		}
		harness.signals.emit('pressed', round.sessionId);
		// A late receipt may replace the form between the check and the press. Then there is nothing to press.
		const pressed = () =>
			modal.submit().catch((error: unknown) => {
				if (isForm(round)) throw error;
				return null;
			});
		const [outcome] = await Promise.all([
			pressed(),
			// An impatient person clicks again before the first click was acknowledged.
			options.twice === true && press === 1 ? pressed() : undefined,
		]);
		if (outcome === null) return;
		if (outcome.outcome === 'updated') {
			round.ackedText = text;
			return;
		}
		await pause(PRESS_AGAIN_MS);
	}
	if (options.presses === undefined) round.broken.push('its author could not submit it however often they tried');
}

export function sessionsOf(rounds: readonly Round[]): ReadonlySet<string> {
	return new Set(rounds.map((round) => round.sessionId));
}

/** Whether the form is still open and can be submitted. */
function isForm({ modal }: Round): boolean {
	return modal.isOpen() && modal.submitText() !== null;
}
