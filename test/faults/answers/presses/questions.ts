import { asking, item } from '../../../../fake-session-service/builders.ts';
import { type Message, records, text } from '../../../../fake-slack/index.ts';
import { CHOOSE_IDS } from '../../../../src/slack/ids.ts';
import { addChannel, addWorkingSession, type Harness, type Part, watchSessions } from '../../harness.ts';
import { until } from '../../until.ts';

/** A question of a watched session that its post offers to answer in one press. */
export interface Question {
	readonly number: number;
	readonly sessionId: string;
	readonly messageIndex: number;
	readonly channelId: string;
	/** Unlike those of any other question, so that each text in Slack names its question. */
	readonly options: readonly string[];
}

/** Where to press: a button of a message. */
export interface Button {
	readonly blockId: string;
	readonly actionId: string;
	readonly value: string;
}

/** What each part with presses gets. */
export interface PressPart extends Part {
	readonly desk: QuestionDesk;
	/** `UNDO_SECONDS` of the program, in milliseconds. */
	readonly undoMs: number;
}

export const QUESTION_TITLE = 'Which plan should I take?';
const NAMES = ['Alpha', 'Beta', 'Gamma', 'Delta'] as const;
/** Finds the number of the question that a text in Slack is about. */
export const OPTION_PATTERN = new RegExp(`(\\d+) (?:${NAMES.join('|')})`);
const POSTED_WITHIN_MS = 90_000;
const LOOK_EVERY_MS = 50;
const CHOOSE: ReadonlySet<string> = new Set(CHOOSE_IDS);

/** For runs with questions: reads are frequent, and the service's log has room for those of half an hour. */
export const PRESS_ENV = { UNDO_SECONDS: '2', SESSION_SERVICE_RPM: '5000' } as const;
/** `UNDO_SECONDS` of these runs. */
export const UNDO_MS = 2_000;

/**
 * Asks in watched sessions, each of which has a channel of its own: a channel takes one post a second. Starts the program and
 * watches that many. Emits `redraw` for a session when Slack is asked to update the post of its question.
 */
export async function openDesk(harness: Harness, sessionCount: number) {
	const { slack, service, signals } = harness;
	const { state } = slack;
	const people = state.people.filter(({ name }) => harness.people.includes(name)).map(({ id }) => id);
	const ids = Array.from({ length: sessionCount }, (_, index) => `p${harness.store.kind.charAt(0)}${index}x`);
	const channelOf = (id: string) => `C0Q${id.toUpperCase()}`;
	for (const id of ids) {
		addChannel(harness, { id: channelOf(id), name: id, people });
		addWorkingSession(harness, id, 'Plan the work');
	}
	const posts = new Map<number, Message>();
	const sessionsByPost = new Map<string, string>();
	const asked: Question[] = [];
	let count = 0;

	const stop = slack.changes.listen((change) => {
		if (change.kind === 'message') {
			const message = state.messages.findLast(({ ts }) => ts === change.id);
			if (message === undefined || message.user !== state.app.botUser || message.ephemeralFor !== undefined) return;
			const choice = buttonsOf(message).find(({ label }) => OPTION_PATTERN.test(label));
			if (choice === undefined || message.threadTs !== undefined) return;
			const number = Number(OPTION_PATTERN.exec(choice.label)?.[1]);
			posts.set(number, message);
			sessionsByPost.set(message.ts, message.channel);
		}
		if (change.kind === 'call' && change.id === 'chat.update') {
			const entry = slack.traffic.all().findLast(({ name }) => name === 'chat.update');
			if (entry === undefined || entry.doneAt !== null) return;
			const channel = sessionsByPost.get(String(entry.request.ts));
			if (channel !== undefined)
				signals.emit(
					'redraw',
					ids.find((id) => channelOf(id) === channel),
				);
		}
	});

	function ask(id: string): void {
		const number = ++count;
		const options = NAMES.map((name) => `${number} ${name}`);
		const description = `One of: ${options.join(', ')}`;
		const messageIndex = service.sessions.push(id, asking('I need a plan.', [item(QUESTION_TITLE, description)]));
		service.sessions.setStatus(id, 'humanInput');
		asked.push({ number, sessionId: id, messageIndex, channelId: channelOf(id), options });
	}

	function button(question: Question, option: string): Button | null {
		const message = posts.get(question.number);
		return message === undefined ? null : (buttonsOf(message).find(({ label }) => label === option) ?? null);
	}

	const [person = ''] = harness.people;
	await harness.startAll();
	await harness.serving();
	for (const id of ids) {
		const channel = channelOf(id);
		// Its question comes before its card. Nobody could answer it if the session was not watched, for the whole run.
		ask(id);
		const isWatched = () => state.messages.some((one) => one.channel === channel && one.ephemeralFor === undefined);
		await watchSessions(harness, { person, channel, ids: [id], isWatched });
	}

	return {
		/** Resolves with questions that stand in Slack with their options. */
		async take(wanted: number): Promise<Question[]> {
			const isReady = (question: Question) => button(question, question.options[0] ?? '') !== null;
			await until(() => asked.filter(isReady).length >= wanted, POSTED_WITHIN_MS, LOOK_EVERY_MS);
			const taken = asked.filter(isReady).slice(0, wanted);
			if (taken.length === 0) throw new Error(`No question was posted within ${POSTED_WITHIN_MS} ms.`);
			for (const question of taken) asked.splice(asked.indexOf(question), 1);
			return taken;
		},
		/** The session of this question may ask again. */
		finish({ sessionId, messageIndex }: Question): void {
			if (service.sessions.values(sessionId, messageIndex)[0] === '') {
				service.sessions.answerAsPage(sessionId, ['Nobody']);
			}
			// The agent goes on a moment after an answer, and would end the wait for the next one.
			void service.sessions.until(sessionId, (json) => json.status !== 'humanInput').then(() => ask(sessionId));
		},
		/** The newest post of the question. */
		post: ({ number }: Question) => posts.get(number),
		/** The button with this option; null once the post has lost it. */
		button,
		close: stop,
	};
}

export type QuestionDesk = Awaited<ReturnType<typeof openDesk>>;

function buttonsOf({ blocks }: Message): (Button & { readonly label: string })[] {
	return blocks.flatMap((block) =>
		records(block, 'elements')
			.filter((element) => CHOOSE.has(text(element, 'action_id') ?? ''))
			.map((element) => ({
				blockId: text(block, 'block_id') ?? '',
				actionId: text(element, 'action_id') ?? '',
				value: text(element, 'value') ?? '',
				label: text(element.text, 'text') ?? '',
			})),
	);
}
