import type { Json, SlackState } from '../../../fake-slack/index.ts';
import { HAND_OVER_FIELD } from '../../../src/screens/hand-over.ts';
import {
	ACTIONS,
	type ActionId,
	CALLBACKS,
	CHOOSE_IDS,
	encodeChoice,
	encodeListedPage,
	encodeListedWatch,
	encodeMenuChoice,
	encodeQuestionRef,
	encodeSnooze,
	encodeTarget,
	encodeTextTarget,
	encodeThreadReply,
	encodeUnwatchAll,
	inboxRowId,
} from '../../../src/slack/ids.ts';
import type { WatchingApp } from '../../sessions/harness.ts';
import { ACTION_GROUPS, COMMAND_GROUPS, type Group, OTHER_GROUPS } from './table.ts';

/** Somebody who does one thing over and over, as one kind of person after another. */
export interface Member {
	readonly name: string;
	readonly id: string;
	/** A session of their own, which nobody else looks at. */
	readonly session: string;
	/** Where they act: `#agents`, or `dm`. */
	readonly place: string;
}

/** What a member has open before they do it. */
export type Needs = 'nothing' | 'form' | 'history' | 'chooser' | 'receipt' | 'inbox' | 'handOver' | 'settings';

export interface Act {
	readonly name: string;
	readonly group: Group;
	readonly needs: Needs;
	/** Cannot be done in the direct message with the app. */
	readonly inChannelOnly?: boolean;
	/** Resolves to what the acknowledgement says, where one may say something. */
	run(app: WatchingApp, member: Member, at: ActContext): Promise<unknown>;
}

/** What stands in the channel. */
export interface ActContext {
	/** A message of the app's. */
	readonly card: { readonly channel: string; readonly ts: string };
	/** Counts up, so that what is typed is another text each time. */
	readonly round: number;
	/** Slack as it was when they were members. */
	readonly before: SlackState;
	answerOf(member: Member): string;
}

const COMMANDS: Readonly<Record<keyof typeof COMMAND_GROUPS, (session: string) => string>> = {
	open: (session) => `/session ${session}`,
	history: (session) => `/session history ${session}`,
	watch: (session) => `/session watch ${session}`,
	watchAll: () => '/session watch all',
	list: () => '/session list',
	inbox: () => '/session inbox',
	settings: () => '/session settings',
	unwatch: (session) => `/session unwatch ${session}`,
	help: () => '/session help',
};

function base(app: WatchingApp, { id, name }: Member): Json {
	const { people, team, enterprise } = app.slack.state;
	const person = people.find((one) => one.id === id);
	return {
		type: 'block_actions',
		user: { id, username: name, name, team_id: person?.teamId },
		team: { id: team.id, domain: team.domain },
		enterprise: enterprise === undefined ? null : { id: enterprise.id, name: enterprise.name },
		is_enterprise_install: false,
		api_app_id: app.slack.state.app.id,
	};
}

/** The member's view as it was opened, with this typed into its first fields, or what was typed then. */
function viewOf({ before }: ActContext, { id }: Member, typed?: string): Json & { id: string } {
	const [viewId = ''] = before.windows.find(({ user }) => user === id)?.stack ?? [];
	const view = before.views[viewId];
	if (view === undefined) throw new Error(`${id} has no window open`);
	const values = structuredClone(view.input.values);
	for (const element of typed === undefined ? [] : Object.values(values).flatMap((block) => Object.values(block))) {
		Object.assign(element, { value: typed });
	}
	return {
		...view.payload,
		id: view.id,
		hash: view.hash,
		state: { values },
		app_installed_team_id: before.team.id,
	};
}

async function deliver(app: WatchingApp, name: string, payload: Json): Promise<unknown> {
	const ack = await app.slack.deliver({
		kind: 'interactive',
		name,
		acceptsPayload: name === 'view_submission',
		payload,
	});
	return ack.ok ? ack.payload : ack.failure;
}

/** A press as Slack tells of it; the button need not be on what is shown now: a forged one arrives all the same. */
function pressInView(app: WatchingApp, member: Member, at: ActContext, action: Json): Promise<unknown> {
	const typed = action.type === 'plain_text_input' ? String(action.value) : undefined;
	const view = viewOf(at, member, typed);
	const [blockId = ''] = Object.keys((view.state as { values: Json }).values);
	return deliver(app, 'block_actions', {
		...base(app, member),
		container: { type: 'view', view_id: view.id },
		view,
		trigger_id: app.slack.trigger(member.name, { view: view.id }),
		actions: [{ type: 'button', block_id: blockId, ...action }],
	});
}

function pressOnMessage(
	app: WatchingApp,
	member: Member,
	{ card }: ActContext,
	{ actionId, value }: { actionId: string; value: string },
) {
	return deliver(app, 'block_actions', {
		...base(app, member),
		container: { type: 'message', message_ts: card.ts, channel_id: card.channel, is_ephemeral: false },
		channel: { id: card.channel },
		message: { ts: card.ts, text: '' },
		trigger_id: app.slack.trigger(member.name),
		actions: [{ type: 'button', action_id: actionId, block_id: 'b.press', value }],
	});
}

/** A question's row of an inbox belongs to the question's channel. */
function rowIn({ card }: ActContext): Json {
	return { block_id: inboxRowId({ channelId: card.channel, threadTs: null }, 'row') };
}

/** The member's settings as they were opened, with another time, or without days of quiet hours. */
function changedSettings(at: ActContext, member: Member, { remind }: { remind?: number }): Json {
	const view = viewOf(at, member);
	const { values } = view.state as { values: Record<string, Record<string, Json>> };
	for (const [blockId, block] of Object.entries(values)) {
		const element = block[ACTIONS.settingsField];
		if (element === undefined) continue;
		if (remind === undefined && blockId.startsWith('c.days.')) element.selected_options = [];
		if (remind !== undefined && blockId.startsWith('c.remind.')) {
			element.selected_option = { value: String(remind * 60_000) };
		}
	}
	return view;
}

function emptyQuietHours(app: WatchingApp, member: Member, at: ActContext): Promise<unknown> {
	const view = changedSettings(at, member, {});
	const blockId = Object.keys((view.state as { values: Json }).values).find((id) => id.startsWith('c.days.'));
	return deliver(app, 'block_actions', {
		...base(app, member),
		container: { type: 'view', view_id: view.id },
		view,
		trigger_id: app.slack.trigger(member.name, { view: String(view.id) }),
		actions: [{ type: 'checkboxes', action_id: ACTIONS.settingsField, block_id: blockId, selected_options: [] }],
	});
}

type PressValue = (member: Member, at: ActContext) => string;
const nothing: PressValue = () => '0';
const target: PressValue = ({ session }) => encodeTarget({ sessionId: session, messageIndex: null });
const choice: PressValue = ({ session }, { card }) =>
	encodeChoice({
		sessionId: session,
		messageIndex: 0,
		fingerprint: '0123456789abcdef',
		shownHash: 'fedcba9876543210',
		position: 0,
		title: 'Which?',
		option: 'A',
		readAt: 0,
		arrival: null,
		channelId: card.channel,
	});
const reply: PressValue = ({ session }, { card }) =>
	encodeThreadReply({
		id: 'unknown',
		sessionId: session,
		messageIndex: 0,
		readAt: 0,
		arrival: null,
		channelId: card.channel,
		threadTs: card.ts,
		messageTs: card.ts,
	});
const mark: PressValue = ({ session }) => encodeQuestionRef({ sessionId: session, fingerprint: '0123456789abcdef' });
const snooze: PressValue = () => encodeSnooze({ length: '1h', hash: 'unknown' });
const listedPage: PressValue = (_, { card }) => encodeListedPage({ channelId: card.channel, offset: 0 });
const listedWatch: PressValue = ({ session: sessionId }, { card }) =>
	encodeListedWatch({ channelId: card.channel, offset: 0, sessionId });
const askedEnd: PressValue = (_, { card }) =>
	encodeUnwatchAll({ channelId: card.channel, askedAt: Date.UTC(2100, 0), discovers: true });
const ownAnswer: PressValue = (member, at) => at.answerOf(member);

/** Where each button is pressed and what its value is. */
const PRESSES: Readonly<Record<ActionId, readonly [Needs, PressValue]>> = {
	[ACTIONS.refresh]: ['form', nothing],
	[ACTIONS.older]: ['form', nothing],
	[ACTIONS.newer]: ['form', nothing],
	[ACTIONS.showHidden]: ['form', nothing],
	[ACTIONS.watch]: ['form', target],
	[ACTIONS.unwatch]: ['nothing', target],
	[ACTIONS.stopListed]: ['nothing', listedWatch],
	[ACTIONS.unwatchAll]: ['nothing', askedEnd],
	[ACTIONS.keepWatches]: ['nothing', nothing],
	[ACTIONS.dashboard]: ['form', nothing],
	[ACTIONS.openFile]: ['form', nothing],
	[ACTIONS.openScreenshot]: ['form', nothing],
	[ACTIONS.partial]: ['form', nothing],
	[ACTIONS.complete]: ['form', nothing],
	[ACTIONS.plainText]: ['form', nothing],
	[ACTIONS.guessed]: ['form', nothing],
	[ACTIONS.field]: ['form', nothing],
	[ACTIONS.otherText]: ['form', nothing],
	[ACTIONS.keepSecret]: ['form', nothing],
	[ACTIONS.secret]: ['form', nothing],
	[ACTIONS.answer]: ['nothing', target],
	[ACTIONS.choose1]: ['nothing', choice],
	[ACTIONS.choose2]: ['nothing', choice],
	[ACTIONS.choose3]: ['nothing', choice],
	[ACTIONS.choose4]: ['nothing', choice],
	[ACTIONS.choose5]: ['nothing', choice],
	[ACTIONS.handOver]: ['nothing', mark],
	[ACTIONS.handOverTo]: ['form', nothing],
	[ACTIONS.handOverNote]: ['form', nothing],
	[ACTIONS.giveBack]: ['nothing', mark],
	[ACTIONS.undo]: ['receipt', ownAnswer],
	[ACTIONS.useText]: [
		'nothing',
		({ session }) => encodeTextTarget({ id: 'unknown', sessionId: session, messageIndex: null }),
	],
	[ACTIONS.sendReply]: ['nothing', reply],
	[ACTIONS.keepReply]: ['nothing', () => 'unknown'],
	[ACTIONS.chooseItem]: ['chooser', nothing],
	[ACTIONS.answerAgain]: ['nothing', mark],
	[ACTIONS.open]: ['nothing', target],
	[ACTIONS.tryAgain]: ['receipt', ownAnswer],
	[ACTIONS.giveUp]: ['receipt', ownAnswer],
	[ACTIONS.nextQuestion]: ['receipt', ownAnswer],
	[ACTIONS.showQuestion]: ['receipt', ownAnswer],
	[ACTIONS.answerNew]: [
		'receipt',
		(member, at) => encodeTextTarget({ id: at.answerOf(member), sessionId: member.session, messageIndex: null }),
	],
	[ACTIONS.reload]: ['form', nothing],
	[ACTIONS.moreHelp]: ['nothing', nothing],
	[ACTIONS.listOlder]: ['nothing', listedPage],
	[ACTIONS.listNewer]: ['nothing', listedPage],
	[ACTIONS.historyOlder]: ['history', nothing],
	[ACTIONS.historyNewer]: ['history', nothing],
	[ACTIONS.inboxOlder]: ['inbox', nothing],
	[ACTIONS.inboxNewer]: ['inbox', nothing],
	[ACTIONS.inboxRefresh]: ['inbox', nothing],
	[ACTIONS.snooze]: ['inbox', snooze],
	[ACTIONS.showSnoozed]: ['inbox', nothing],
	[ACTIONS.dismiss]: ['inbox', nothing],
	[ACTIONS.copyDraft]: ['inbox', nothing],
	[ACTIONS.discardDraft]: ['inbox', nothing],
	[ACTIONS.settingsField]: ['settings', nothing],
	[ACTIONS.showFiles]: ['nothing', target],
	[ACTIONS.openHistory]: ['nothing', target],
	[ACTIONS.more]: [
		'nothing',
		(member, at) => encodeMenuChoice({ actionId: ACTIONS.open, value: target(member, at) ?? '' }),
	],
};

function close(app: WatchingApp, member: Member, view: Json): Promise<unknown> {
	return deliver(app, 'view_closed', { ...base(app, member), type: 'view_closed', view, is_cleared: false });
}

const commands = Object.entries(COMMANDS).map(([kind, lineOf]): Act => {
	const group = COMMAND_GROUPS[kind as keyof typeof COMMAND_GROUPS];
	return {
		name: `/session ${kind}`,
		group,
		needs: 'nothing',
		run: (app, { name, place, session }) => app.slack.as(name).command(place, lineOf(session)),
	};
});

const presses = Object.entries(PRESSES).map(([id, [needs, pressValue]]): Act => {
	const actionId = id as ActionId;
	const group = ACTION_GROUPS[actionId];
	return {
		name: actionId,
		group,
		needs,
		inChannelOnly: needs === 'chooser',
		run(app, member, at) {
			if (actionId === ACTIONS.settingsField) return emptyQuietHours(app, member, at);
			if (group === 'form' || group === 'type') {
				const typed = { type: 'plain_text_input', action_id: actionId, value: `typed ${at.round}` };
				return pressInView(app, member, at, typed);
			}
			const value = pressValue(member, at);
			// Undo is on a message, although its answer needs a form here.
			return needs === 'nothing' || actionId === ACTIONS.undo
				? pressOnMessage(app, member, at, { actionId, value })
				: pressInView(app, member, at, { action_id: actionId, value, ...(actionId === ACTIONS.snooze && rowIn(at)) });
		},
	};
});

type OtherRun = Pick<Act, 'needs' | 'run' | 'inChannelOnly'>;
const OTHERS: Readonly<Record<keyof typeof OTHER_GROUPS, OtherRun>> = {
	'the message shortcut "Use as answer"': {
		needs: 'nothing',
		inChannelOnly: true,
		run(app, { name }, { card }) {
			const message = app.slack
				.as(name)
				.messages(card.channel, { all: true })
				.find(({ ts }) => ts === card.ts);
			if (message === undefined) throw new Error('there is no card');
			return app.slack.as(name).shortcut(message, CALLBACKS.useAsAnswer);
		},
	},
	'mentioning the app': {
		needs: 'nothing',
		inChannelOnly: true,
		run: (app, { name, place }) => app.slack.as(name).mention(place, 'hello'),
	},
	'opening the Home tab': { needs: 'nothing', run: (app, { name }) => app.slack.as(name).openApp('home') },
	'Send answer': {
		needs: 'form',
		run(app, member, at) {
			const view = viewOf(at, member, `sent ${at.round}`);
			return deliver(app, 'view_submission', { ...base(app, member), type: 'view_submission', view });
		},
	},
	'Hand over, in its window': {
		needs: 'handOver',
		inChannelOnly: true,
		run(app, member, at) {
			const view = viewOf(at, member);
			const chosen = { type: 'users_select', selected_user: 'U0GRACE' };
			const state = { values: { [HAND_OVER_FIELD]: { [ACTIONS.handOverTo]: chosen } } };
			return deliver(app, 'view_submission', {
				...base(app, member),
				type: 'view_submission',
				view: { ...view, state },
			});
		},
	},
	'Save, in the settings of a channel': {
		needs: 'settings',
		run(app, member, at) {
			const view = changedSettings(at, member, { remind: at.round });
			return deliver(app, 'view_submission', { ...base(app, member), type: 'view_submission', view });
		},
	},
	'closing a form': {
		needs: 'form',
		run: (app, member, at) => close(app, member, viewOf(at, member, `closed ${at.round}`)),
	},
	'closing a window that is still loading': {
		needs: 'form',
		run: (app, member, at) => close(app, member, { ...viewOf(at, member), callback_id: CALLBACKS.loading }),
	},
	'closing a receipt': {
		needs: 'form',
		run: (app, member, at) => close(app, member, { ...viewOf(at, member), callback_id: CALLBACKS.receipt }),
	},
	'closing an inbox': {
		needs: 'form',
		run: (app, member, at) => close(app, member, { ...viewOf(at, member), callback_id: CALLBACKS.inbox }),
	},
	'a button of an older version': {
		needs: 'form',
		run: (app, member, at) => pressInView(app, member, at, { action_id: 'button.of_old', value: '0' }),
	},
	'writing to the app in a direct message': {
		needs: 'nothing',
		run: (app, { name }) => app.slack.as(name).say('dm', 'hello'),
	},
};

/** Buttons of a question; they stand on its copies in inboxes and direct messages too. */
export const ON_COPIES: readonly ActionId[] = [
	...CHOOSE_IDS,
	ACTIONS.answer,
	ACTIONS.answerAgain,
	ACTIONS.open,
	ACTIONS.handOver,
];

/** A copy of a question, in a window that shows the inbox. */
const copies = ON_COPIES.map((actionId): Act => {
	const [, pressValue] = PRESSES[actionId];
	return {
		name: `${actionId}, on a copy`,
		group: ACTION_GROUPS[actionId],
		needs: 'inbox',
		inChannelOnly: true,
		run: (app, member, at) =>
			pressInView(app, member, at, { action_id: actionId, value: pressValue(member, at), ...rowIn(at) }),
	};
});

const others = Object.entries(OTHERS).map(
	([name, act]): Act => ({ name, group: OTHER_GROUPS[name as keyof typeof OTHER_GROUPS], ...act }),
);

export const ACTS: readonly Act[] = [...commands, ...presses, ...copies, ...others];
