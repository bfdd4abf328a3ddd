import type { HomeView, ModalView } from '@slack/types';
import type { Answer, AnswerItem, OtherAnswer } from '../../../src/domain/answer.ts';
import { type ChannelSettings, DEFAULT_CHANNEL_SETTINGS } from '../../../src/domain/channel-settings.ts';
import { gated, type ReadItem, type ReadMessage, type ReadSession } from '../../../src/domain/gate.ts';
import type { HandOver } from '../../../src/domain/hand-over.ts';
import type { InputGuess } from '../../../src/domain/input-kind.ts';
import { type AgentAction, openQuestion, type Session } from '../../../src/domain/session.ts';
import { type QuestionSnapshot, type SessionSnapshot, snapshotOf } from '../../../src/domain/session-snapshot.ts';
import { runSync } from '../../../src/kernel/slices.ts';
import type { SettingsModel } from '../../../src/screens/settings.ts';
import { MOST_GROUPS, MOST_PEOPLE, settingsValuesOf } from '../../../src/screens/settings-fields.ts';
import { readSessionResponse } from '../../../src/service/schema.ts';
import type { MessageContent } from '../../../src/slack/blocks.ts';
import { newMetadata, type ViewMetadata } from '../../../src/slack/ids.ts';
import { createLinks } from '../../../src/slack/links.ts';

/** One view or message as Slack gets it; the name says the builder and the case. */
export interface Shape {
	readonly name: string;
	readonly view?: ModalView | HomeView;
	readonly message?: Pick<MessageContent, 'text' | 'blocks'>;
}

export function shapesOf<Args extends readonly unknown[]>(
	builder: (...args: Args) => ModalView | HomeView | MessageContent | readonly MessageContent[],
	cases: Readonly<Record<string, Args>>,
): Shape[] {
	return Object.entries(cases).flatMap(([what, args]) => {
		const built = builder(...args);
		const forms = 'blocks' in built ? [built] : built;
		return forms.map((form, index) => {
			const name = `${builder.name}, ${what}${forms === built ? `, form ${index + 1}` : ''}`;
			return 'type' in form ? { name, view: form } : { name, message: form };
		});
	});
}

export const listOf = <Value>(length: number, make: (index: number) => Value): Value[] =>
	Array.from({ length }, (_, index) => make(index));

/* All of it is invented: the doctor sends no real session, person or address. */

export const NOW = Date.parse('2026-11-20T08:40:00Z');
export const SERVICE = 'https://service.example';
export const SESSION_ID = '3f9a2c1d';
/** The longest id that `/session` takes. */
export const LONGEST_ID = 'f'.repeat(400);
/** As `randomUUID` makes it. */
export const ANSWER_ID = '0b7e7a52-5a0e-4f53-9d0c-3a1f5b7c9d11';
export const USER_ID = 'U0EXAMPLE1';
export const PLACE = { channelId: 'C0EXAMPLE1', threadTs: '1795250400.000100' };
export const ABOUT = {
	person: { teamId: 'T0EXAMPLE1', userId: USER_ID },
	question: { service: SERVICE, sessionId: SESSION_ID, messageIndex: 3 },
	fingerprint: '0123456789abcdef',
	shownHash: 'fedcba9876543210',
};

export const HAND_OVER: HandOver = {
	...ABOUT,
	id: 'V0EXAMPLE1',
	teamId: ABOUT.person.teamId,
	session: ABOUT.question,
	watchId: 'watch',
	channelId: PLACE.channelId,
	from: 'U0EXAMPLE2',
	to: USER_ID,
	count: 2,
	handedOverAt: NOW - 60_000,
	givenBackAt: null,
};

/** Text that means something to Slack or to Markdown, or that a wrong cut breaks. */
export const HOSTILE =
	'<!channel> <@U0EXAMPLE9> <https://evil.example|https://bank.example> [bank](https://evil.example) &lt;!here&gt; & ' +
	'```*_~` \u202egnp.exe\u202c \u0000\u200b \ud83d 👩‍👩‍👧‍👦 🇩🇪 e\u0301\u0301\u0301 "\\ :wave: مرحبا 漢字\n> # <#C0EXAMPLE|x>\n\n';
export const GIANT = HOSTILE.repeat(300);

const DASHBOARD_URL = 'https://dashboard.example';

/** What the models of screens share. The service and the dashboard are on other hosts than the files. */
export const MODEL = {
	...PLACE,
	sessionId: SESSION_ID,
	names: { displayName: () => HOSTILE },
	links: createLinks({ serviceUrl: SERVICE, dashboardUrl: DASHBOARD_URL }),
	dashboardUrl: DASHBOARD_URL,
	adminContact: USER_ID,
	now: NOW,
	readAt: NOW,
	retryAt: NOW + 60_000,
	kept: 'text',
	claims: [],
	claimedBy: [],
	claimedUntil: null,
	standing: null,
	handOver: null,
	offersOptions: true,
	discreet: false,
	isUpdate: false,
} as const;

export function metadataOf(overrides: Partial<ViewMetadata> = {}): ViewMetadata {
	return newMetadata({ sessionId: SESSION_ID, formId: ANSWER_ID, origin: PLACE, ...overrides });
}

function present<Value>(value: Value | null): Value {
	if (value === null) throw new Error('a sample session lacks its question');
	return value;
}

export function asked(title: string, description = ''): ReadItem {
	return { title, description, value: '' };
}

const field = (title: string, description: string, draft: string) => ({ ...asked(title, description), draft });

export const FIELD_ITEMS = {
	yesNo: field('Should I proceed?', '', 'Yes'),
	choice: field('Which colour?', 'One of: red, green, 🔵 & blue', 'green'),
	number: field('How many people?', '', '12.5'),
	email: field('E-mail address', '', 'ada@example.com'),
	url: field('Website URL', '', 'https://shop.example/?a=1&b=2'),
	date: field('Departure date', '', '2026-12-01'),
	time: field('Start time', '', '09:30'),
	line: field('Your password', 'For the shop', ''),
	longText: field('What should I write to the customer?', 'They **wait** for it.\n\nOne page will do.', GIANT),
} as const satisfies Record<InputGuess['kind'], ReadItem>;
export const FIELD_DRAFTS: readonly string[] = Object.values(FIELD_ITEMS).map(({ draft }) => draft);

const ACTIONS: readonly AgentAction[] = [
	{ kind: 'click', text: '' },
	{ kind: 'open', text: 'shop.example' },
	{ kind: 'saveFile', text: HOSTILE },
	{ kind: 'deleteFile', text: 'old.pdf' },
	{ kind: 'other', text: HOSTILE },
];

export function agentMessage(content: string, overrides: Partial<ReadMessage> = {}): ReadMessage {
	return { role: 'assistant', content, actions: ACTIONS, humanInput: [], ...overrides };
}

export function throughGate(read: ReadSession): Session {
	return runSync(gated(read));
}

export const EMPTY = throughGate(
	present(runSync(readSessionResponse({ session: { messages: [], sessionId: SESSION_ID } }, '', SESSION_ID))),
);

export function sessionOf(text: string, overrides: Partial<ReadSession> = {}): Session {
	return throughGate({
		...EMPTY,
		status: 'active',
		name: text,
		messages: [
			agentMessage(text, { role: 'user' }),
			agentMessage(text),
			agentMessage('', { role: text }),
			...listOf(12, () => agentMessage(text)),
		],
		files: listOf(25, (index) => ({
			filename: index === 0 ? '' : text,
			signedUrl: index === 1 ? null : `https://files.example/${index}?signature=${'x'.repeat(1_500)}`,
		})),
		startTime: '2026-11-20T08:00:00Z',
		endTime: '2026-11-20T08:30:00Z',
		lastScreenshotUrl: 'https://files.example/screen.png?signature=1&expires=2',
		sessionDetails: text,
		...overrides,
	});
}

export const AT_WORK = sessionOf('Look for a **hall** with a garden.');

export function asking(humanInput: readonly ReadItem[], session: ReadSession = AT_WORK): Session {
	const newest = session.messages.at(-1)?.content ?? '';
	const messages = [...session.messages, agentMessage(newest, { humanInput })];
	return throughGate({ ...session, status: 'humanInput', messages });
}

/** `count` items of each kind in turn, with `text` after title and description. */
export function itemsOf(count: number, text = ''): ReadItem[] {
	const kinds = Object.values(FIELD_ITEMS);
	return listOf(count, (index) => {
		const { title = '', description = '' } = kinds[index % kinds.length] ?? {};
		return asked(`${title}${text}`, `${description}${text}`);
	});
}

export function answerItem(title: string, value: string | null, overrides: Partial<AnswerItem> = {}): AnswerItem {
	return { title, value, secret: false, wiped: false, ...overrides };
}

/** An answer that was saved a minute ago in a channel. */
export function answerOf(overrides: Partial<Answer> = {}): Answer {
	const state = overrides.state ?? 'accepted';
	return {
		...ABOUT,
		id: ANSWER_ID,
		submissionKey: `V0EXAMPLE1:${ANSWER_ID}`,
		viewId: 'V0EXAMPLE1',
		press: null,
		content: {
			kind: 'readable',
			items: [answerItem('Hall', 'The one with\nthe <garden>')],
			other: null,
			asked: { context: 'I found **two** halls.', items: [{ title: 'Hall', description: 'By Friday.' }] },
		},
		secretPositions: null,
		positions: [0],
		leftEmpty: [],
		formReadAt: NOW - 90_000,
		arrivalSeen: null,
		origin: PLACE,
		state,
		attempts: 3,
		editCount: 0,
		acceptedAt: NOW - 60_000,
		checkedAt: NOW - 60_000,
		giveUpAt: NOW + 86_400_000,
		nextAttemptAt: null,
		putStartedAt: null,
		beforePut: null,
		deliveredAt: null,
		agentOutcome: null,
		endedAt: null,
		lastError: null,
		timeline: [
			{ state: 'accepted', at: NOW - 60_000 },
			{ state: 'delivering', at: NOW - 30_000 },
			{ state, at: NOW - 1_000 },
		],
		notBefore: null,
		missingCount: 0,
		missingSince: null,
		startFailed: false,
		questionId: null,
		...overrides,
	};
}

export const OTHER: OtherAnswer = {
	answerId: ANSWER_ID,
	person: ABOUT.person,
	values: [HOSTILE, null, ''],
	at: NOW - 30_000,
	same: false,
};

/** The longest answer: 90 items, the longest id, an unknown outcome. */
export const GIANT_ANSWER = answerOf({
	state: 'conflicted',
	putStartedAt: NOW,
	question: { ...ABOUT.question, sessionId: LONGEST_ID, messageIndex: 999_999_999 },
	content: {
		kind: 'readable',
		items: listOf(90, () => answerItem(GIANT, GIANT)),
		sessionName: GIANT,
		asked: { context: GIANT, items: listOf(90, () => ({ title: GIANT, description: GIANT })) },
		other: { ...OTHER, person: null, values: listOf(90, () => GIANT) },
	},
	timeline: listOf(40, (index) => ({ state: 'delivering', at: NOW + index })),
});

export const FIELDS = asking(Object.values(FIELD_ITEMS));
export const FLIGHTS = asking([
	asked('Which flight should I book?', 'One of: LH 1173, TP 570, AF 1195, BA 902, KL 1771'),
]);
const OPTIONS = listOf(99, (index) => `option ${index} ${'x'.repeat(40)}`);
/** Every kind of Markdown, and the options as lines. */
const MARKDOWN = [
	'## Two *flights*\n\n**Both** are ~~late~~ on time, by `fares --all`:\n',
	'| Flight | From | Price |\n|---|---|--:|\n| LH 1173 | [Frankfurt](https://fra.example) | 129 € |\n| TP 570 | 東京 | 64 € |\n',
	'1. Bags\n   - one each\n2. Seats\n\n```sh\nbook --seat \\\n  12A\n```\n\n> by Friday\n\n![A map](https://maps.example/1.png)\n',
	'- LH 1173\n- TP 570',
].join('\n');
export const MARKDOWN_SESSION = asking([asked('Which one?', 'One of: LH 1173, TP 570')], sessionOf(MARKDOWN));
const linesOf = (options: readonly string[]) => options.map((option) => `- ${option}`).join('\n');
export const LONG_LIST = asked('Which?', linesOf(OPTIONS));
/** The most boxes, and more. */
export const SEVERAL: readonly ReadItem[] = [10, 99].map((count) =>
	asked('Which? Select all that apply.', linesOf(OPTIONS.slice(0, count))),
);
export const SEVERAL_DRAFTS = [10, 99].map((count) => OPTIONS.slice(0, count).join(', '));
export const GIANT_AT_WORK = sessionOf(GIANT, { sessionId: LONGEST_ID });
export const GIANT_SESSION = asking(itemsOf(90, GIANT.slice(0, 5_000)), GIANT_AT_WORK);

const snapshots = new WeakMap<ReadSession, SessionSnapshot>();

/** How a watch sees the session. Made once for each session, because a giant one takes long. */
export function snapshotAtNow(session: ReadSession): SessionSnapshot {
	const snapshot = snapshots.get(session) ?? snapshotOf(throughGate(session), NOW);
	snapshots.set(session, snapshot);
	return snapshot;
}

export function questionOf(session: ReadSession): QuestionSnapshot {
	return present(snapshotAtNow(session).question);
}

export const QUESTION = present(openQuestion(asking(itemsOf(90, HOSTILE))));

/** As much as a form takes. */
export const FULL_SETTINGS: ChannelSettings = {
	...DEFAULT_CHANNEL_SETTINGS,
	remindAfterMs: 90_000,
	escalateAfterMs: 86_400_000,
	mention: {
		userIds: listOf(MOST_PEOPLE, (index) => `U0EXAMPLE${index}`),
		groupIds: listOf(MOST_GROUPS, (index) => `S0EXAMPLE${index}`),
	},
	quietHours: { days: [1, 2, 3, 4, 5, 6, 7], from: '22:00', to: '08:00', timeZone: 'America/Argentina/ComodRivadavia' },
};
const values = settingsValuesOf(FULL_SETTINGS, { zone: null });
export const SETTINGS_MODEL: SettingsModel = {
	...MODEL,
	metadata: { channelId: 'C0EXAMPLE1', revision: 3, base: values, shown: values, confirms: false },
	defaultMs: 15 * 60_000,
	groups: {
		kind: 'listed',
		groups: listOf(100, (index) => ({ id: `S0EXAMPLE${index}`, name: `${index} ${GIANT}`, handle: '' })),
	},
	change: { by: USER_ID, at: NOW },
	notice: '',
	mayChange: true,
};
