import { setTimeout as pause } from 'node:timers/promises';
import type { Actor } from '../../support/slack/driver/actor.ts';
import type { Modal } from '../../support/slack/driver/modal.ts';
import type { Phase } from './phases.ts';
import type { World } from './world.ts';

/** What else happens to a session between the opening of its form and Submit; nothing, mostly. */
export type Fate = 'plain' | 'answered' | 'ended' | 'changed';

/** One answer's way from the click to the confirmation. */
export interface Round {
	readonly number: number;
	readonly sessionId: string;
	readonly fate: Fate;
	readonly person: string;
	readonly actor: Actor;
	readonly modal: Modal;
	/** What was typed for each press of Submit, oldest first: the same words mostly. */
	readonly texts: string[];
	/** Milliseconds since the epoch of the first press. */
	pressedAt: number;
	/** The text whose submission was acknowledged as saved last; null until one was. */
	ackedText: string | null;
	/** The person closed the window after the acknowledgement. */
	closed: boolean;
	/** Phases in which a kill met it. */
	readonly hits: Phase[];
	/** What it was told, in the order of telling, without repeats. */
	readonly told: Claim[];
	/** What went wrong around it, for the report. */
	readonly troubles: string[];
	/** What broke the promise. */
	readonly broken: string[];
}

/** What a receipt says, as far as it can be true or not. */
export type Claim = 'saved' | 'arrived' | 'went on' | 'conflicted' | 'changed' | 'ended' | 'not delivered';

/** Nobody tries longer. */
const MOST_PRESSES = 40;
/** Between being refused and the next press. */
const PRESS_AGAIN_MS = 250;

export const QUESTION = 'What shall the report be called?';

/** A session that waits for one answer. */
export function addSession({ service }: World, sessionId: string): void {
	service.sessions.put(sessionId, {
		name: 'Fault run',
		status: 'humanInput',
		maxSteps: 30,
		startTime: new Date().toISOString(),
		sessionVariables: [],
		files: [],
		messages: [
			{ role: 'user', content: 'Write the report.' },
			{
				role: 'assistant',
				content: 'I need a name.',
				agent_data: { action: [{ ask_human: { items: 1 } }] },
				human_input: [{ title: QUESTION, description: '', value: '' }],
			},
		],
	});
}

/** A person opens the session's form and types. Repeats the command as a person would when Slack had trouble. */
export async function openForm(
	world: World,
	sessionId: string,
	person: string,
	text: string,
): Promise<{ actor: Actor; modal: Modal }> {
	for (let tries = 1; ; tries++) {
		// A window of its own for each try: what comes late for an earlier one must not push the form aside.
		const actor = world.slack.as(person, `${sessionId}, try ${tries}`);
		try {
			await world.serving();
			await actor.command('#agents', `/session ${sessionId}`);
			const modal = await actor.waitForModal(
				(one) => one.submitText() !== null && one.text().includes(QUESTION),
				6_000,
			);
			await modal.fill(0, text);
			return { actor, modal };
		} catch (error) {
			if (tries === 4) throw error;
		}
	}
}

/** A session with its question, and a person who has the form open with an answer typed into it. */
export async function beginRound(
	world: World,
	{ number, prefix, person, fate = 'plain' }: { number: number; prefix: string; person: string; fate?: Fate },
): Promise<Round> {
	const sessionId = `${prefix}${number}x`;
	const text = `Report ${sessionId}`;
	addSession(world, sessionId);
	const { actor, modal } = await openForm(world, sessionId, person, text);
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
		hits: [],
		told: [],
		troubles: [],
		broken: [],
	};
}

/**
 * The person presses Submit, and again until Slack shows that the answer was taken. `edit` gives the words for a later
 * press. Resolves when it was acknowledged, or when the form has given way to a receipt.
 */
export async function submit(
	world: World,
	round: Round,
	options: { twice: boolean; edit: (press: number) => string | null; presses?: number },
): Promise<void> {
	const { modal } = round;
	round.pressedAt = Date.now();
	const [first = ''] = round.texts;
	let text = first;
	for (let press = 1; press <= (options.presses ?? MOST_PRESSES); press++) {
		if (press > 1) {
			await world.serving();
			if (!isForm(round)) return;
			const edited = options.edit(press);
			if (edited !== null && edited !== text) {
				text = edited;
				round.texts.push(text);
				await modal.fill(0, text).catch(() => undefined);
			}
			if (!isForm(round)) return;
		}
		world.signals.emit('pressed', round.sessionId);
		const [outcome] = await Promise.all([
			modal.submit(),
			// The second click of an impatient person comes before the first was answered.
			options.twice && press === 1 ? modal.submit() : undefined,
		]);
		if (outcome.outcome === 'updated') {
			round.ackedText = text;
			return;
		}
		await pause(PRESS_AGAIN_MS);
	}
	if (options.presses === undefined) round.broken.push('its author could not submit it however often they tried');
}

/** Whether the form still stands there to be submitted. */
function isForm({ modal }: Round): boolean {
	return modal.isOpen() && modal.submitText() !== null;
}
