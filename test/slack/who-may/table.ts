import type { parseSessionCommand } from '../../../src/people/session/parse-command.ts';
import type { Refusal } from '../../../src/slack/access-policy.ts';
import { ACTIONS, type ActionId } from '../../../src/slack/ids.ts';

/*
 * Who may do what, as one table: kinds of people by groups of actions. The test presses everything as everybody and
 * compares; the tables of docs/who-may.md are made of it.
 */

/** What comes of an action: it is done, it is refused with this word, or nothing happens and nothing is said. */
export type Outcome = 'allowed' | 'nothing' | 'no check' | 'not_named_here' | Refusal;

/** Actions that are judged and refused in the same way. */
export const GROUPS = {
	act: 'read, watch, act',
	unwatch: 'stop watching',
	inbox: 'look at the inbox',
	handOver: 'choose whom to hand over to',
	answer: 'answer, hand over',
	send: 'send what is not an answer',
	type: 'type',
	form: 'tick, close the form',
	free: 'help and links',
} as const;
export type Group = keyof typeof GROUPS;

export type Row = Readonly<Record<Exclude<Group, 'free'>, Outcome>>;

function allowed(): Row {
	const sending = { handOver: 'allowed', answer: 'allowed', send: 'allowed' } as const;
	return { act: 'allowed', unwatch: 'allowed', inbox: 'allowed', ...sending, type: 'allowed', form: 'allowed' };
}

function refused(refusal: Refusal): Row {
	const sending = { handOver: refusal, answer: refusal, send: refusal };
	return { act: refusal, unwatch: refusal, inbox: refusal, ...sending, type: 'nothing', form: 'nothing' };
}

export const KINDS = {
	'full member': allowed(),
	'single-channel guest': refused('guest'),
	'multi-channel guest': refused('guest'),
	'bot or app': refused('bot'),
	'deactivated account': refused('deactivated'),
	'of another organisation, as the request says': refused('external'),
	'of another organisation, as `users.info` says by `team_id`': refused('external'),
	'of another organisation, as `users.info` says by `is_stranger`': refused('external'),
	'Enterprise Grid: of another workspace, not a member of ours': refused('external'),
	'Enterprise Grid: of another workspace, and a member of ours': allowed(),
	'unknown to `users.info`': refused('could_not_check'),
	'`users.info` answers with an empty user': refused('could_not_check'),
	'`users.info` is limited (429)': refused('could_not_check'),
	'`users.info` does not answer': refused('could_not_check'),
	'deactivated after opening the form, a minute ago': {
		...allowed(),
		answer: 'deactivated',
		send: 'deactivated',
	},
	'only in the direct message with the app': allowed(),
} as const satisfies Record<string, Row>;
export type Kind = keyof typeof KINDS;

/** Somewhere that `ALLOWED_CHANNELS` does not name. */
export const NOT_HERE = {
	...refused('channel_not_allowed'),
	unwatch: 'allowed',
	inbox: 'allowed',
} as const satisfies Row;

/** What the settings change: for whom, where. */
export const SETTINGS = [
	{ setting: 'ALLOW_GUESTS=true', who: 'guest', row: allowed() },
	{ setting: 'ALLOW_GUESTS=true', who: 'guest of another organisation', row: refused('external') },
	{ setting: 'ALLOW_EXTERNAL=true', who: 'of another organisation', row: allowed() },
	{ setting: 'ALLOW_EXTERNAL=true', who: 'guest of another organisation', row: refused('guest') },
	{ setting: 'ALLOW_EXTERNAL=true', who: 'bot of another organisation', row: refused('bot') },
	{ setting: 'ALLOW_EXTERNAL=true', who: 'deactivated, of another organisation', row: refused('deactivated') },
	{ setting: 'ALLOW_EXTERNAL=true', who: 'nothing is known of them', row: refused('could_not_check') },
	{ setting: 'ALLOWED_CHANNELS', who: 'full member, listed channel', row: allowed() },
	{ setting: 'ALLOWED_CHANNELS', who: 'full member, another channel or a direct message', row: NOT_HERE },
	{ setting: 'ALLOWED_USERS', who: 'full member, listed', row: allowed() },
	{ setting: 'ALLOWED_USERS', who: 'full member, not listed', row: refused('user_not_allowed') },
	{ setting: 'ALLOWED_USERGROUPS', who: 'full member, in the group', row: allowed() },
	{ setting: 'ALLOWED_USERGROUPS', who: 'full member, not in the group', row: refused('user_not_allowed') },
] as const satisfies readonly { setting: string; who: string; row: Row }[];

/** Whom the list of the channel does not name: they read, and keep what is their own. */
const NOT_NAMED = {
	...allowed(),
	unwatch: 'not_named_here',
	handOver: 'not_named',
	answer: 'not_named',
	type: 'nothing',
} as const satisfies Row;

/** Who acts on a session of a channel that names who may answer. */
export const LISTED = {
	named: allowed(),
	'not named': NOT_NAMED,
	'named once, and taken out': NOT_NAMED,
	'not named, has the question by hand-over': NOT_NAMED,
	'not named, watches the session in a channel without a list': NOT_NAMED,
	'not named, watches it in a channel of their own that names them': NOT_NAMED,
} as const satisfies Record<string, Row>;
export type Listed = keyof typeof LISTED;

export const COMMAND_GROUPS = {
	open: 'act',
	history: 'act',
	watch: 'act',
	watchAll: 'act',
	list: 'act',
	inbox: 'inbox',
	settings: 'act',
	unwatch: 'unwatch',
	help: 'free',
} as const satisfies Record<ReturnType<typeof parseSessionCommand>['kind'], Group>;

/** Every button and input. The compiler and the test both ask for a row of every one. */
export const ACTION_GROUPS = {
	[ACTIONS.refresh]: 'act',
	[ACTIONS.older]: 'act',
	[ACTIONS.newer]: 'act',
	[ACTIONS.showHidden]: 'answer',
	[ACTIONS.watch]: 'act',
	[ACTIONS.unwatch]: 'unwatch',
	[ACTIONS.stopListed]: 'unwatch',
	[ACTIONS.unwatchAll]: 'unwatch',
	[ACTIONS.keepWatches]: 'free',
	[ACTIONS.dashboard]: 'free',
	[ACTIONS.openFile]: 'free',
	[ACTIONS.openScreenshot]: 'free',
	[ACTIONS.partial]: 'act',
	[ACTIONS.complete]: 'act',
	[ACTIONS.plainText]: 'act',
	[ACTIONS.guessed]: 'act',
	[ACTIONS.field]: 'type',
	[ACTIONS.otherText]: 'type',
	[ACTIONS.keepSecret]: 'form',
	[ACTIONS.secret]: 'form',
	[ACTIONS.answer]: 'act',
	[ACTIONS.choose1]: 'answer',
	[ACTIONS.choose2]: 'answer',
	[ACTIONS.choose3]: 'answer',
	[ACTIONS.choose4]: 'answer',
	[ACTIONS.choose5]: 'answer',
	[ACTIONS.handOver]: 'handOver',
	[ACTIONS.handOverTo]: 'free',
	[ACTIONS.handOverNote]: 'free',
	[ACTIONS.giveBack]: 'send',
	[ACTIONS.undo]: 'act',
	[ACTIONS.useText]: 'act',
	[ACTIONS.sendReply]: 'answer',
	[ACTIONS.keepReply]: 'free',
	[ACTIONS.chooseItem]: 'act',
	[ACTIONS.answerAgain]: 'act',
	[ACTIONS.open]: 'act',
	[ACTIONS.tryAgain]: 'answer',
	[ACTIONS.giveUp]: 'send',
	[ACTIONS.nextQuestion]: 'inbox',
	[ACTIONS.showQuestion]: 'act',
	[ACTIONS.answerNew]: 'act',
	[ACTIONS.reload]: 'act',
	[ACTIONS.moreHelp]: 'free',
	[ACTIONS.listOlder]: 'act',
	[ACTIONS.listNewer]: 'act',
	[ACTIONS.historyOlder]: 'act',
	[ACTIONS.historyNewer]: 'act',
	[ACTIONS.inboxOlder]: 'inbox',
	[ACTIONS.inboxNewer]: 'inbox',
	[ACTIONS.inboxRefresh]: 'inbox',
	[ACTIONS.snooze]: 'act',
	[ACTIONS.showSnoozed]: 'inbox',
	[ACTIONS.dismiss]: 'inbox',
	[ACTIONS.copyDraft]: 'inbox',
	[ACTIONS.discardDraft]: 'inbox',
	[ACTIONS.settingsField]: 'form',
	[ACTIONS.showFiles]: 'act',
	[ACTIONS.openHistory]: 'act',
	[ACTIONS.more]: 'act',
} as const satisfies Record<ActionId, Group>;

/** What is neither a command nor a button; `test` names the act. */
export const OTHER_GROUPS = {
	'the message shortcut "Use as answer"': 'act',
	'mentioning the app': 'act',
	'opening the Home tab': 'inbox',
	'Send answer': 'answer',
	'Hand over, in its window': 'answer',
	'Save, in the settings of a channel': 'send',
	'closing a form': 'form',
	'closing a window that is still loading': 'free',
	'closing a receipt': 'free',
	'closing an inbox': 'free',
	'a button of an older version': 'free',
	'writing to the app in a direct message': 'free',
} as const satisfies Record<string, Group>;

/** The outcome of an act of this group. */
export function outcomeOf(row: Row, group: Group): Outcome {
	return group === 'free' ? 'no check' : row[group];
}

const WORDS = {
	allowed: '✓',
	nothing: 'kept out, no word',
	'no check': '✓',
	guest: 'no: guest',
	bot: 'no: bot',
	external: 'no: other workspace',
	deactivated: 'no: deactivated',
	channel_not_allowed: 'no: channel',
	user_not_allowed: 'no: not listed',
	not_named: 'no: not named',
	not_named_here: 'no: not named',
	could_not_check: 'no: could not check',
} as const satisfies Record<Outcome, string>;

const columns = Object.keys(GROUPS) as Group[];

function line(cells: readonly string[]): string {
	return `| ${cells.join(' | ')} |`;
}

function tableOf(heads: readonly string[], rows: readonly (readonly string[])[]): string {
	return [line(heads), `|${'---|'.repeat(heads.length)}`, ...rows.map(line)].join('\n');
}

/** What people type, where that is not the name of the command. */
const COMMAND_WORDS: Readonly<Record<string, string>> = { open: 'ID', watchAll: 'watch all' };

function actsOf(group: Group): string {
	const named = (acts: Readonly<Record<string, Group>>, name: (act: string) => string) =>
		Object.entries(acts).flatMap(([act, of]) => (of === group ? [name(act)] : []));
	return [
		...named(COMMAND_GROUPS, (kind) => `\`/session ${COMMAND_WORDS[kind] ?? kind}\``),
		...named(OTHER_GROUPS, (act) => act),
		...named(ACTION_GROUPS, (id) => `\`${id}\``),
	].join(', ');
}

/** What stands between the first of the markers in docs/who-may.md and the last. */
const MARKERS = { begin: '<!-- generated: begin -->', end: '<!-- generated: end -->' } as const;

/** The generated part of docs/who-may.md, with its markers. */
function generatedPart(): string {
	return `${MARKERS.begin}
A test presses everything as everybody, on windows and messages that they opened while they were members, and makes these tables
of its own (\`test/slack/who-may/\`). Change the table there, then \`UPDATE_DOCS=1 npm exec -- vitest run test/slack/who-may\`.

Without any \`ALLOW…\` setting:

${tableOf(
	['', ...Object.values(GROUPS)],
	Object.entries(KINDS).map(([kind, row]) => [kind, ...columns.map((group) => WORDS[outcomeOf(row, group)])]),
)}

What the settings change:

${tableOf(
	['setting', 'who', ...Object.values(GROUPS)],
	SETTINGS.map(({ setting, who, row }) => [
		`\`${setting}\``,
		who,
		...columns.map((group) => WORDS[outcomeOf(row, group)]),
	]),
)}

Where a channel that watches the session, or has watched it, names who may answer (*Who may answer* in \`/session settings\`):

${tableOf(
	['', ...Object.values(GROUPS)],
	Object.entries(LISTED).map(([who, row]) => [who, ...columns.map((group) => WORDS[outcomeOf(row, group)])]),
)}

What the columns hold:

${tableOf(
	['column', 'commands, acts and buttons (by `action_id`)'],
	columns.map((group) => [GROUPS[group], actsOf(group)]),
)}
${MARKERS.end}`;
}

/**
 * The page with its generated part made anew.
 *
 * @throws {Error} where the page does not have each marker once, in order
 */
export function withGeneratedPart(page: string): string {
	const [before, rest, ...others] = page.split(MARKERS.begin);
	const [, after, ...more] = rest?.split(MARKERS.end) ?? [];
	if (before === undefined || after === undefined || others.length + more.length > 0)
		throw new Error(`docs/who-may.md needs the lines ${MARKERS.begin} and ${MARKERS.end} once each`);
	return `${before}${generatedPart()}${after}`;
}
