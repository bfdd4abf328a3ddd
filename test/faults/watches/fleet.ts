import { asking, item } from '../../../fake-session-service/builders.ts';
import { callSlack, type Message } from '../../../fake-slack/index.ts';
import { ACTIONS } from '../../../src/slack/ids.ts';
import { opensSession } from '../../support/opens-session.ts';
import { addChannel, addWorkingSession, type Harness, watchSessions } from '../harness.ts';

export interface FleetOptions {
	readonly sessions: number;
	readonly perChannel: number;
	readonly historyReadable: boolean;
	readonly onProgress?: (line: string) => void;
}

/** The most ids that one command takes. */
const IDS_AT_ONCE = 20;
const PRESSED_WITHIN_MS = 10_000;

/**
 * Sessions that several channels watch: one channel takes one post a second, so a run needs several. Starts the program and
 * watches every session, by `/session watch` with several ids. Resolves when each has its card.
 * `historyReadable`: whether the app may read the channels' history, to find what it posted before a kill.
 */
export async function startFleet(
	harness: Harness,
	{ sessions: size, perChannel, historyReadable, onProgress = () => {} }: FleetOptions,
) {
	const { slack, service } = harness;
	const { settings } = slack;
	if (!historyReadable) settings.scopes = settings.scopes.filter((scope) => !/^(channels|groups):history$/.test(scope));
	const { state } = slack;
	const { botUser } = state.app;
	const person = state.people.find(({ name }) => name === harness.people[0]);
	if (person === undefined) throw new Error('The harness has no person who may watch.');
	const names = Array.from({ length: Math.ceil(size / perChannel) }, (_, index) => `fleet${index}`);
	for (const [index, name] of names.entries()) {
		addChannel(harness, { id: `C0FLEET${index}`, name, people: [person.id] });
	}
	const ids = Array.from({ length: size }, (_, index) => `fleet-${index}-x`);
	for (const id of ids) addWorkingSession(harness, id, `Task of ${id}`);

	const channelOf = (id: string) => `C0FLEET${Math.floor(ids.indexOf(id) / perChannel)}`;
	const shownIn = (id: string) =>
		state.messages.filter(
			(one) => one.channel === channelOf(id) && one.user === botUser && one.ephemeralFor === undefined,
		);
	const cards = (id: string) => shownIn(id).filter((one) => isCard(one) && opensSession(one.blocks, id));

	await harness.startAll();
	await harness.serving();
	const isWatched = (id: string) => cards(id).length > 0;
	await Promise.all(
		names.map(async (name) => {
			const own = ids.filter((id) => channelOf(id) === `C0${name.toUpperCase()}`);
			for (let at = 0; at < own.length; at += IDS_AT_ONCE) {
				const some = own.slice(at, at + IDS_AT_ONCE);
				await watchSessions(harness, { person: person.id, channel: `#${name}`, ids: some, isWatched });
			}
		}),
	);
	onProgress(`${size} sessions are watched`);

	return {
		ids: ids as readonly string[],
		cards,
		/** The agent asks a question with this title. */
		ask(id: string, title: string): void {
			service.sessions.push(id, asking('I am stuck.', [item(title)]));
			service.sessions.setStatus(id, 'humanInput');
		},
		/** Somebody answers in the dashboard, and the agent goes on. */
		answer(id: string, value: string): void {
			const verdict = service.sessions.answerAsPage(id, [value]);
			if (!verdict.ok) throw new Error(`${id} accepts no answer: ${verdict.reason}`);
		},
		/** Somebody deletes the session's card. */
		async deleteCard(id: string): Promise<void> {
			const [card] = cards(id);
			const deleted = await callSlack(slack, 'chat.delete', { channel: channelOf(id), ts: card?.ts ?? '' });
			if (deleted.ok !== true) throw new Error(`The card of ${id} cannot be deleted: ${String(deleted.error)}`);
		},
		/** Slack takes the next post with these words, and answers 500: only its history tells. `onLost`: it has happened. */
		loseResponse(words: string, onLost: () => void): void {
			const when = (message: object) => {
				const isIt = JSON.stringify(message).includes(words);
				if (isIt) onLost();
				return isIt;
			};
			slack.faults.add({ method: 'chat.postMessage', status: 500, times: 1, afterEffect: true, when });
		},
		/** Somebody presses *Answer* on a post, and closes the window that opens. */
		async pressAnswer(id: string, ts: string): Promise<void> {
			const actor = slack.as(person.id);
			const post = actor.messages(channelOf(id), { all: true }).find((one) => one.ts === ts);
			await post?.press('Answer…');
			await slack.changes.until(
				() => actor.modal() !== undefined,
				() => `No window opens for ${id}.`,
				PRESSED_WITHIN_MS,
			);
			await actor.modal()?.close(true);
		},
		/** What the session's channel shows with these words, in threads too and without cards; oldest first. */
		posts(id: string, words: string): readonly Message[] {
			return shownIn(id).filter((one) => !isCard(one) && shown(one).includes(words));
		},
	};
}

export type Fleet = Awaited<ReturnType<typeof startFleet>>;

/** What people see of a message: neither the values of its buttons nor their labels for screen readers. */
export function shown({ blocks }: Pick<Message, 'blocks'>): string {
	return JSON.stringify(blocks, (key, value) => (/^(?:value|accessibility_label)$/.test(key) ? undefined : value));
}

/** Whether a message is the card of a session: nothing else ends its watch. */
export function isCard({ threadTs, blocks }: Message): boolean {
	return threadTs === undefined && JSON.stringify(blocks).includes(ACTIONS.unwatch);
}
