import type { HomeView, ModalView } from '@slack/types';
import {
	AGENT_OUTCOMES,
	type AgentOutcome,
	ANSWER_STATES,
	type Answer,
	type AnswerState,
} from '../../src/domain/answer.ts';
import { DEFAULT_CHANNEL_SETTINGS, type ReminderStage } from '../../src/domain/channel-settings.ts';
import type { ShowAnswers } from '../../src/domain/disclosure.ts';
import type { ReadSession } from '../../src/domain/gate.ts';
import type { Session } from '../../src/domain/session.ts';
import { type CardModel, endPost, watchCard } from '../../src/screens/card.ts';
import { type SessionModel, sessionModal } from '../../src/screens/form.ts';
import { handOverPost } from '../../src/screens/hand-over.ts';
import { homeView } from '../../src/screens/inbox.ts';
import type { InboxQuestion } from '../../src/screens/inbox-content.ts';
import { type PostedContent, watchPost } from '../../src/screens/notice.ts';
import {
	askedPost,
	outcomeWords,
	type PostContext,
	SETTLED_WORDS,
	type SettledLook,
	settledQuestionPost,
	stepsWords,
} from '../../src/screens/question-post.ts';
import { receiptMessage } from '../../src/screens/receipt.ts';
import { digestPost, reminderPost, settledReminderPost } from '../../src/screens/reminder.ts';
import { settingsChangedPost, settingsForm } from '../../src/screens/settings.ts';
import { type MessageContent, textMessage } from '../../src/slack/blocks.ts';
import type { PostKind } from '../../src/surfaces/post.ts';
import { ESCALATION, GIANT_CARD, POST } from './shapes/extremes.ts';
import {
	AT_WORK,
	agentMessage,
	answerItem,
	answerOf,
	asked,
	FIELD_ITEMS,
	HAND_OVER,
	MODEL,
	NOW,
	questionOf,
	SETTINGS_MODEL,
	type Shape,
	snapshotAtNow,
	throughGate,
	USER_ID,
} from './shapes/samples.ts';
import { GIANT_DRAFT, GIANT_QUESTION, inboxModelOf, NOTHING, sessionModelOf } from './shapes/views.ts';

/** The settings that change what people see. */
export interface Looks {
	/** `UNDO_SECONDS` is above 0. */
	readonly hasUndo: boolean;
	readonly showAnswers: ShowAnswers;
	/** The channel has *One-press buttons*. */
	readonly buttons: boolean;
}
const USUAL: Looks = { hasUndo: true, showAnswers: 'always', buttons: true };

/** Who is in the examples: their ids are those of the samples. */
export const PEOPLE = { ada: USER_ID, grace: HAND_OVER.from } as const;
const names = { displayName: (id: string) => (id === PEOPLE.ada ? 'Ada' : 'Grace') };

/** States of an answer, of its agent and of a question, as people say them. */
export const CAPTIONS = {
	accepted: 'accepted',
	delivering: 'being sent',
	delivered: 'delivered',
	resumed: 'continued',
	waiting: 'not sent yet',
	conflicted: 'another answer came first',
	changed: 'the question changed',
	refused: 'refused by the service',
	ended: 'the session ended',
	withdrawn: 'taken back',
	failed: 'the session failed',
	stopped: 'the session was stopped',
	completed: 'the session is done',
	unseen: 'no sign of the agent',
	overwritten: 'overwritten',
	lost: 'asked again',
	replaced: 'replaced',
	closed: 'no longer asked',
	wentOn: 'continued without an answer',
	renewed: 'asked again in a new post',
	unwatched: 'no longer watched',
	gaveWay: 'a newer question needed its place',
	handedOn: 'handed over again',
	givenBack: 'given back',
} satisfies Record<AgentOutcome | AnswerState | keyof typeof SETTLED_WORDS, string>;

const ANSWER = 'LH 1173';
const FLIGHT = asked('Which flight should I book?', 'One of: LH 1173, TP 570');
const OFFERS = 'LH 1173 leaves at 06:05 for 129 €. TP 570 leaves at 08:40 for 164 €, with a window seat.';
const STEPS = [
	agentMessage('Plan my trip to Frankfurt on Friday: flight, hotel, everything booked.', { role: 'user', actions: [] }),
	agentMessage('I open the airline’s booking page.', { actions: [{ kind: 'open', text: 'flights.example' }] }),
	agentMessage('I compare the two flights.', { actions: [{ kind: 'click', text: '' }] }),
];

function trip(status: string, ...more: ReadSession['messages']): Session {
	const files = AT_WORK.files.slice(2, 3).map((file) => ({ ...file, filename: 'itinerary.pdf' }));
	const messages = [...STEPS, ...more];
	return throughGate({
		...AT_WORK,
		name: 'Plan the Frankfurt trip',
		status,
		messages,
		files,
		sessionDetails: '',
	});
}

const asks = (...humanInput: Parameters<typeof asked>[]) =>
	trip('humanInput', agentMessage(OFFERS, { actions: [], humanInput: humanInput.map((one) => asked(...one)) }));
const WORKING = trip('active');
const ASKING = asks([FLIGHT.title, FLIGHT.description]);
/** Its agent does not wait visibly, and has gone on. */
const GONE_ON = trip(
	'active',
	agentMessage(OFFERS, { actions: [], humanInput: [FLIGHT] }),
	...['I compare hotels.', 'I note four of them.', 'I read reviews.', 'I sort them by price.'].map((text) =>
		agentMessage(text, { actions: [] }),
	),
);
const SECRET = asks([FIELD_ITEMS.line.title, FIELD_ITEMS.line.description]);
const SEVERAL = asks(['Which extras? Select all that apply.', '- A window seat\n- A second bag\n- A meal']);
const THREE = asks(['Name', 'As on the badge'], ['E-mail address'], ['Departure date']);
const DONE = agentMessage('', {
	actions: [
		{ kind: 'done', text: '**Booked**\n\n- Flight: LH 1173\n- Hotel: Station Inn\n- Seat: 12A\n- Costs: 225 €' },
	],
});
const ALL = { working: WORKING, asking: ASKING, secret: SECRET, three: THREE, done: trip('completed', DONE) };

/** What an answer keeps of its session and question. */
const OF_TRIP = { sessionName: ASKING.name, asked: { context: OFFERS, items: [FLIGHT] } };
const items = [answerItem(FLIGHT.title, ANSWER)];
const content = { kind: 'readable', items, other: null, ...OF_TRIP } as const;
const STEPPED = { steps: stepsWords(questionOf(GONE_ON), snapshotAtNow(GONE_ON)) };

export const SETTLED = Object.keys(SETTLED_WORDS) as (keyof typeof SETTLED_WORDS)[];

type Form = MessageContent | ModalView | HomeView;
type Named = Readonly<Record<string, Form>>;

/** Every kind of post in every state. The compiler names a kind, or an end of a question, without an example. */
function posts({ hasUndo, showAnswers, buttons }: Looks): Readonly<Record<PostKind, Named>> {
	const post: PostContext = { ...POST, names, snapshot: snapshotAtNow(ASKING), showAnswers, offersOptions: buttons };
	const question = questionOf(ASKING);
	const open = { question, readAt: NOW - 120_000 };
	const answered = { ...open, answered: question.items.map((one) => ({ ...one, open: false, value: ANSWER })) };
	const { fingerprint, shownHash } = question;
	const undoUntil = NOW + (hasUndo ? 10_000 : -60_000);
	const pressed = (overrides: Partial<Answer> = {}): Partial<PostContext> => ({
		standing: answerOf({ fingerprint, shownHash, press: { undoUntil }, viewId: '', content, ...overrides }),
	});
	const asking = (more: Partial<PostContext> = {}, changed = false) => askedPost(open, changed, { ...post, ...more });
	const settled = (how: SettledLook | null, more: Partial<PostContext> = {}) =>
		settledQuestionPost(how === 'answered' ? answered : open, how, { ...post, ...more });
	const about = (session: ReadSession, more: Partial<PostContext> = {}) => {
		const snapshot = snapshotAtNow(session);
		return askedPost({ ...open, question: questionOf(session) }, false, { ...post, snapshot, ...more });
	};
	const plain = (content: PostedContent, more: Partial<PostContext> = {}) => watchPost(content, { ...post, ...more });
	const sent = { press: { undoUntil: NOW - 5_000 }, deliveredAt: NOW - 4_000, endedAt: NOW - 2_000 };
	const card = (session: ReadSession, more: Partial<CardModel> = {}) =>
		watchCard({ ...GIANT_CARD, asks: false, unreadCode: null, names, snapshot: snapshotAtNow(session), ...more });
	const reminded = (stage: ReminderStage, questionId = 'one') => ({
		...ESCALATION,
		question,
		sessionName: ASKING.name,
		handOver: null,
		entry: { ...ESCALATION.entry, sessionId: ASKING.sessionId, questionId, stage, heldBy: null },
	});
	const mention = { userIds: [PEOPLE.grace], groupIds: [] };
	const remind = (stage: ReminderStage, more: Partial<typeof mention> | null = null) =>
		reminderPost(reminded(stage), 900_000, { names, mention: more === null ? null : { ...mention, ...more } });
	const outcome = () => outcomeWords(answered, 'answered', { ...post, ...pressed(sent) });
	const receipt = (overrides: Partial<Answer>) =>
		receiptMessage(answerOf({ content, ...overrides }), { ...MODEL, adminContact: PEOPLE.grace });
	const [channelId, sessionId] = [MODEL.channelId, ASKING.sessionId];
	const handed = { watchId: 'watch', handOverId: '' };
	const settings = { ...DEFAULT_CHANNEL_SETTINGS, escalateAfterMs: 3_600_000, mention };
	const { groups, defaultMs } = SETTINGS_MODEL;
	return {
		question: {
			asks: asking(),
			'somebody answers': asking({ claimedBy: [PEOPLE.grace] }),
			'handed over': asking({ handOver: HAND_OVER, isUpdate: true }),
			'a secret': about(SECRET),
			'several questions': about(THREE),
			pressed: asking(pressed()),
			sending: asking(pressed({ state: 'delivering', press: { undoUntil: NOW - 5_000 } })),
			'sent, and not known to have arrived': asking(
				pressed({ ...sent, state: 'delivering', lastError: 'unavailable', deliveredAt: null }),
			),
			delivered: settled('answered', pressed({ ...sent, state: 'delivered' })),
			continued: settled('answered', pressed({ ...sent, state: 'resumed', agentOutcome: 'resumed' })),
			'hidden answer': settled('answered', { ...pressed({ ...sent, state: 'resumed' }), showAnswers: 'never' }),
			'answered by a form': settled('answered', { standing: answerOf({ state: 'resumed', deliveredAt: NOW - 4_000 }) }),
			'answered elsewhere': settled('answered'),
			'not sent, and asked again': asking({
				refused: answerOf({ ...pressed().standing, state: 'refused', lastError: 'unauthorized' }),
			}),
			'asks something else': asking({}, true),
			'4 steps since': about(GONE_ON),
			'asked again': asking({
				lost: answerOf({ ...pressed(sent).standing, state: 'delivered', agentOutcome: 'lost' }),
			}),
			...Object.fromEntries(
				AGENT_OUTCOMES.map((agentOutcome) => [
					`then ${CAPTIONS[agentOutcome]}`,
					settled('answered', pressed({ ...sent, state: 'delivered', agentOutcome })),
				]),
			),
			'session over': settled('ended', { snapshot: snapshotAtNow(ALL.done), ended: 'sessionOver' }),
			...Object.fromEntries(SETTLED.map((how) => [CAPTIONS[how], settled(how)])),
		},
		card: {
			working: card(WORKING),
			asks: card(ASKING, { link: ESCALATION.link }),
			'asks, with questions in its thread': card(ASKING, { asks: true, claimedBy: [PEOPLE.grace] }),
			ended: card(ALL.done, { ended: 'sessionOver', isEndTold: true, link: ESCALATION.link }),
			'ended, and Slack refuses the message': card(ALL.done, { ended: 'sessionOver' }),
			unwatched: card(WORKING, { ended: 'unwatched' }),
			'not read for ten minutes': card(WORKING, { checkedAt: NOW - 600_000 }),
			'not found for ten minutes': card(WORKING, { unreadCode: 'session_missing', checkedAt: NOW - 600_000 }),
		},
		sessionEnded: {
			done: endPost('completed', { ...post, snapshot: snapshotAtNow(ALL.done), ended: 'sessionOver' }),
			failed: endPost('failed', { ...post, snapshot: snapshotAtNow(trip('failed')), ended: 'sessionOver' }),
		},
		status: { paused: plain({ kind: 'status', from: 'active', to: 'paused' }) },
		watchEnded: { unwatched: plain({ kind: 'watchEnded' }, { ended: 'unwatched' }) },
		serviceDown: { down: plain({ kind: 'serviceDown', since: NOW - 600_000, code: 'unavailable' }) },
		serviceBack: { back: plain({ kind: 'serviceBack', since: NOW - 600_000, downMs: 599_000 }) },
		discoveryBegun: { begun: plain({ kind: 'discoveryBegun', by: PEOPLE.ada }) },
		discoveryEnded: { told: plain({ kind: 'discoveryEnded', by: PEOPLE.ada }) },
		discoveryFull: { full: plain({ kind: 'discoveryFull', limit: 'channel', most: 100 }) },
		discoveryPaused: { paused: plain({ kind: 'discoveryPaused', why: 'noList' }) },
		outcome: {
			told: textMessage(settled('answered', pressed({ ...sent, state: 'resumed', agentOutcome: 'resumed' })).text),
		},
		postRefused: { told: plain({ kind: 'postRefused', channelId, sessionId, code: 'restricted_action' }) },
		creatorTold: { told: plain({ kind: 'creatorTold', reason: 'botRemoved', channelId, sessionIds: [sessionId] }) },
		reminder: {
			due: remind('reminder'),
			'4 steps since': reminderPost({ ...reminded('reminder'), ...STEPPED }, 900_000, { names, mention: null }),
			answered: settledReminderPost({ ...reminded('reminder'), outcome: outcome() }),
			escalation: remind('escalation', {}),
			several: digestPost([{ ...reminded('reminder'), ...STEPPED }, reminded('escalation', 'other')], {
				names,
				mention,
			}),
			'several, one answered': digestPost([reminded('reminder'), { ...reminded('reminder'), outcome: outcome() }], {
				names,
				mention: null,
			}),
		},
		settingsChanged: {
			told: settingsChangedPost(
				{ kind: 'settingsChanged', by: PEOPLE.ada, before: DEFAULT_CHANNEL_SETTINGS, after: settings },
				{ channelId, names, groups, defaultMs },
			),
		},
		nobodyLeft: { told: watchPost({ kind: 'nobodyLeft' }, post) },
		nobodyMentioned: { told: watchPost({ kind: 'nobodyMentioned', channelId }, post) },
		handedOver: {
			open: handOverPost({ kind: 'handedOver', ...handed, from: PEOPLE.grace }, open, { ...post, handOver: HAND_OVER }),
		},
		givenBack: { open: handOverPost({ kind: 'givenBack', ...handed, by: PEOPLE.grace }, open, post) },
		receipt: {
			...Object.fromEntries(ANSWER_STATES.map((state) => [CAPTIONS[state], receipt({ state })])),
			'an agent that was not started': receipt({ state: 'delivered', startFailed: true }),
			...Object.fromEntries(
				AGENT_OUTCOMES.map((agentOutcome) => [
					`then ${CAPTIONS[agentOutcome]}`,
					receipt({ state: 'delivered', agentOutcome }),
				]),
			),
		},
	};
}

function screens({ buttons }: Looks): Readonly<Record<string, Named>> {
	const form = (session: ReadSession, more: Partial<SessionModel> = {}) =>
		sessionModal(sessionModelOf(session, { ...more })[0]);
	const waiting: InboxQuestion = {
		...GIANT_QUESTION,
		question: { ...GIANT_QUESTION.question, sessionId: ASKING.sessionId },
		sessionName: ASKING.name,
		view: questionOf(ASKING),
		answering: [],
		handOver: null,
		askedIn: { ...GIANT_QUESTION.askedIn, buttons },
	};
	const home = (inbox: Partial<typeof NOTHING>) => homeView({ ...inboxModelOf({ ...NOTHING, ...inbox })[0], names });
	const own = (id: string, state: Answer['state']) => answerOf({ id, state, content });
	return {
		window: {
			'two options': form(ASKING),
			'several options': form(SEVERAL, { draft: ['A second bag, A meal'] }),
			'somebody else answers': form(ASKING, { claims: [PEOPLE.grace] }),
			'a secret': form(SECRET),
			'several questions': form(THREE),
			'nothing asked': form(WORKING),
			'4 steps since': form(GONE_ON),
			'answered, and the field is empty': form(ASKING, {
				question: null,
				settledBy: answerOf({ content, state: 'delivered' }),
				emptied: 'The field is empty now',
			}),
			ended: form(ALL.done),
		},
		inbox: {
			empty: home({}),
			'a question': home({ total: 1, questions: [waiting] }),
			everything: home({
				total: 2,
				questions: [
					{ ...waiting, handOver: HAND_OVER },
					{ ...waiting, question: { ...waiting.question, sessionId: 'another' }, answering: [PEOPLE.grace] },
				],
				ownAnswers: { shown: [own('a', 'refused'), own('b', 'delivering')], total: 2 },
				drafts: [{ ...GIANT_DRAFT, sessionName: ASKING.name, values: { 0: 'The later one, with' } }],
				lastAnswers: [own('c', 'resumed')],
			}),
		},
		settings: { form: settingsForm({ ...SETTINGS_MODEL, groups: { kind: 'listed', groups: [] } }) },
	};
}

/** An example of everything that people see, by what it is: a kind of post, or a screen. */
export function examples(looks: Looks = USUAL): Readonly<Record<string, readonly Shape[]>> {
	const all = { ...posts(looks), ...screens(looks) };
	return Object.fromEntries(
		Object.entries(all).map(([what, forms]) => [
			what,
			Object.entries(forms).map(([state, form]) => {
				const name = `${what}: ${state}`;
				return 'type' in form ? { name, view: form } : { name, message: form };
			}),
		]),
	);
}
