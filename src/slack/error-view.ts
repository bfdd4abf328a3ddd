import { APP_NAME, COMMAND, commandLike } from '../kernel/command-name.ts';
import { codedCodes } from '../kernel/errors.ts';
import type { ActRefusal, NAMED_REFUSALS } from './access-policy.ts';
import {
	answerButton,
	button,
	buttons,
	context,
	labelAboutSession,
	type MessageContent,
	type ModalView,
	modal,
	section,
	textMessage,
} from './blocks.ts';
import type { ChannelVerdict } from './channels.ts';
import { ACTIONS, CALLBACKS, OLDER, type ViewMetadata } from './ids.ts';
import { andMoreWords, contactOf, linkWords, momentOf, NOBODY_NAMED, sessionName, smallId } from './phrases.ts';
import { plainWords, rich, sentences, template, type Words } from './rich-text.ts';

/**
 * What of the person's input is safe after an error. `answer`: it is stored; `text`: still in the window;
 * `unchanged`: a change was not made; `nothing`: they only read.
 */
export type KeptInput = 'answer' | 'text' | 'unchanged' | 'nothing';

export interface ErrorContext {
	readonly kept?: KeptInput;
	readonly adminContact?: string | null;
	/** When the next try makes sense, milliseconds since the epoch. */
	readonly retryAt?: number | null;
	/** For a refusal: the names of those who may. */
	readonly who?: Words | undefined;
	/** For `older_version`: the link to the question; undefined: not known. */
	readonly link?: string | undefined;
	/** The session that was asked for: its id may be a mistyped command. */
	readonly sessionId?: string | undefined;
}

/**
 * Our words, read by `template`. Slots: `{contact}`, whom to ask; `{who}`, those who may; `{question}`, the link to it;
 * `{meant}`, a command that is similar to the id.
 */
type Row = readonly [what: string, todo?: string];

const AGAIN: Readonly<Record<string, Row>> = {
	rate_limited: ['The session service limits the requests of Handraise.'],
	no_permit: ['Handraise waits for its turn to ask the session service.'],
	too_fast: ['You did too many things in a short time.'],
	unavailable: ["The session service isn't responding."],
	timed_out: ['The session service took too long to respond.'],
	session_missing: ['The session service did not find this session.'],
	service_missing: ['The session service finds no session at the moment.'],
	unreadable_answer: ['Handraise cannot read what the session service sent.'],
	aborted: ['Handraise restarted before it could finish this.'],
	store_unavailable: ['Handraise cannot reach its own database.'],
	database_newer: ['Handraise is being upgraded.'],
	not_checked: ['Handraise could not check with Slack whether you may still answer.'],
	slack_unavailable: ['Slack did not let Handraise finish this.'],
};

const FOR_OPERATOR: Readonly<Record<string, Row>> = {
	...codedCodes(
		(coding): Row => [
			`The session service, or something in front of it, sent a compressed response (content coding: ${coding}), ` +
				'which Handraise does not read.',
		],
	),
	other_session: ['The session service sent another session than the one with this id. Nothing of it is used.'],
	unauthorized: ["The session service refuses Handraise's key."],
	refused: ['The session service refused the request.'],
	other_service: ['Handraise uses another address of the session service now than when you answered.'],
	redirected: ['The session service redirects to another address. Handraise does not follow redirects.'],
	values_unreadable: [
		'The text of this answer was stored with another encryption key and cannot be read right now.',
		'It is sent automatically when the former key is back. If it is urgent, open the session and answer again.',
	],
};

const FOR_PERSON: Readonly<Record<string, Row>> = {
	session_not_found: [
		'The session service has no session with this id.',
		'{meant}Check the id. Sessions of another account are not visible here. ' +
			`\`${COMMAND} help\` shows what else you can type.`,
	],
	body_too_large: ['This session is too large to show here.', 'Open it in the dashboard.'],
	body_too_complex: ['This session has too many parts to show here.', 'Open it in the dashboard.'],
	request_too_large: [
		'The question and your answers together are larger than the session service accepts (100 kB).',
		'Shorten your answer, or answer in the dashboard.',
	],
	invalid_session_id: ['That is not a session id.', 'An id looks like `3f9a2c1d`.'],
	acceptance_unknown: [
		'Handraise could not check whether your answer was saved.',
		'Press the button again: your answer is not sent twice.',
	],
	[OLDER]: ['This button is from an older version. Nothing was sent.', '{question}'],
	answer_not_yours: [
		"This button belongs to somebody else's answer, or to an answer that no longer exists.",
		'Nothing was changed.',
	],
	message_not_checked: ['Could not check your message.', 'Nothing was sent. Press again.'],
};

/** Stands for `{who}` when the names are not known. */
const SOME_PEOPLE = `the people named in \`${COMMAND} settings\``;
const ASK_TO_CHANGE = 'To change that, ask {contact}.';
/** To a person who acts on an older copy or window of a question and has left its channel. */
export const NOT_THERE = "You are not in this question's channel, so you cannot answer it here.";

const REFUSALS: Readonly<Record<ActRefusal | (typeof NAMED_REFUSALS)[number], Row>> = {
	guest: ['Guests of this workspace cannot use Handraise.', ASK_TO_CHANGE],
	bot: ['Apps and bots cannot use Handraise.', ASK_TO_CHANGE],
	external: [
		'Handraise is for members of its own workspace; your account belongs to another workspace or organisation.',
		ASK_TO_CHANGE,
	],
	deactivated: ['This account is deactivated.', ASK_TO_CHANGE],
	channel_not_allowed: ['Handraise is not allowed in this channel.', ASK_TO_CHANGE],
	user_not_allowed: ['You are not among the people who may use Handraise.', ASK_TO_CHANGE],
	not_named: ['Only {who} may answer.', 'Ask them.'],
	not_named_here: ['Only {who} may stop watching here.', 'Ask them.'],
	nobody_left: ['Nobody who may answer here is left.', 'To open it for others, ask {contact}.'],
	not_there: [NOT_THERE, 'Ask somebody in the channel to hand it over to you.'],
	could_not_check: [
		'Handraise could not check with Slack whether you may do this.',
		'Please try again. If it still fails, ask {contact}.',
	],
};

const CHANNEL_REFUSALS: Readonly<Record<`watch_${Extract<ChannelVerdict, { ok: false }>['reason']}`, Row>> = {
	watch_not_member: ['⚠️ Handraise is not in this channel.', `Invite it with \`/invite @${APP_NAME}\` and try again.`],
	watch_archived: ['⚠️ This channel is archived, so nothing can be posted here.'],
	watch_external: [
		'🔒 This channel is shared with another organisation, and everybody here would read what is posted.',
		'To allow that, ask {contact}.',
	],
	watch_unclear_sharing: [
		'🔒 Slack does not say clearly who else can read this channel, so Handraise posts nothing here.',
		'Nothing was changed. If trying again does not help, ask {contact}.',
	],
	watch_direct: [
		'⚠️ A direct message between people cannot hold a card.',
		`Use a channel, or your direct messages with ${APP_NAME}.`,
	],
	watch_no_channel: ['⚠️ In which channel?', `Type \`${COMMAND} watch\` with the id there.`],
	watch_could_not_check: ['⚠️ Slack did not tell of this channel in time.', 'Nothing was changed; please try again.'],
};

export const FAILURES = { ...AGAIN, ...FOR_OPERATOR, ...FOR_PERSON };
const ROWS: ReadonlyMap<string, Row> = new Map(Object.entries({ ...FAILURES, ...REFUSALS, ...CHANNEL_REFUSALS }));
export const REFUSAL_CODES = Object.keys(REFUSALS) as readonly (keyof typeof REFUSALS)[];

/**
 * Words for a failure or a refusal. `what` happened: one sentence without mentions. `text`: what happened, what was
 * kept and what to do; `line`: the same with an icon; `plain`: the same for field errors. `retry`: whether "Try again"
 * makes sense. An unknown code gets general words with the code to report.
 */
export function errorWords(
	code: string,
	{ kept = 'nothing', adminContact = null, retryAt = null, who, link, sessionId = '' }: ErrorContext = {},
) {
	const [row, todo = ''] = ROWS.get(code) ?? ['Something went wrong in Handraise.'];
	const contact = contactOf(adminContact);
	const meant = commandLike(sessionId);
	const slots = {
		who: who ?? template(SOME_PEOPLE),
		contact,
		question: questionWords(link),
		meant: meant === undefined ? '' : rich`${meantWords(meant)} `,
	};
	const what = template(row, slots);
	const isForOperator = Object.hasOwn(FOR_OPERATOR, code) || !ROWS.has(code);
	const isAgain = Object.hasOwn(AGAIN, code);
	// An unknown code may hold any text.
	const shownCode = code.replace(/\W/g, '').slice(0, 40);
	const isTried = kept === 'answer' && (isAgain || isForOperator) && code !== 'too_fast';
	const hasToChange = isTried && code === 'unauthorized';
	const again = code === 'too_fast' ? waitWords(retryAt) : isAgain ? againWords(kept, retryAt) : '';
	const text = sentences(
		what,
		isTried
			? rich`Handraise keeps trying${hasToChange ? rich`; ${contact} has to change the key` : ''}.`
			: keptWords(kept, code),
		retryAt === null ? again : '',
		isForOperator && !hasToChange ? rich`If this continues, tell ${contact} (code \`${shownCode}\`).` : '',
		template(todo, slots),
		// A date comes last: it is in the reader's language.
		retryAt === null ? '' : again,
	);
	const line = sentences(isRefusal(code) ? '🔒' : '⚠️', text);
	return { code, what, text, line, plain: plainWords(text, NOBODY_NAMED), retry: isAgain || isForOperator };
}

export const meantWords = (command: string) => rich`Did you mean \`${command}\`?`;

const questionWords = (link: string | undefined) =>
	link === undefined
		? rich`\`${COMMAND}\` shows what asks.`
		: rich`The question is here: ${linkWords(link, 'question')}`;

function keptWords(kept: KeptInput, code: string): string {
	if (kept === 'answer') return 'Your answer is saved.';
	if (kept === 'unchanged' && isRefusal(code)) return 'Nothing was changed.';
	if (kept !== 'text') return '';
	if (isRefusal(code)) return 'Your text is still here and was not sent.';
	const isOfStore = code === 'store_unavailable' || code === 'database_newer';
	return isOfStore ? 'Nothing was sent; your text is still here.' : 'Your text is still here.';
}

/** For ignored presses and refused commands. The time has seconds, so that people do not come back too early. */
function waitWords(retryAt: number | null): Words {
	const until = retryAt === null ? 'a moment.' : rich`until: ${momentOf(retryAt, 'seconds')}`;
	return rich`What you do before then may be ignored. Please wait ${until}`;
}

function againWords(kept: KeptInput, retryAt: number | null): Words {
	// The time would change with each try.
	if (kept === 'answer') return '';
	return retryAt === null ? 'Please try again in a moment.' : rich`Please try again after: ${momentOf(retryAt)}`;
}

/** The error as a window, with *Try again* where it makes sense. A refusal shows nothing of the session. */
export function errorModal(code: string, metadata: ViewMetadata, error: ErrorContext): ModalView {
	const { line, retry } = errorWords(code, { ...error, sessionId: metadata.sessionId });
	return modal({
		callbackId: CALLBACKS.error,
		title: isRefusal(code) ? APP_NAME : 'Session',
		metadata,
		blocks: [
			...section(line),
			...(retry ? buttons(button(ACTIONS.reload, 'Try again')) : []),
			...context(isRefusal(code) ? '' : smallId(metadata.sessionId)),
		],
	});
}

/** The error as a message. `others`: how many more sessions it is about. */
export function errorMessage(code: string, sessionId: string | null, error: ErrorContext, others = 0): MessageContent {
	const { line } = errorWords(code, { ...error, sessionId: sessionId ?? '' });
	const about =
		others === 0 || sessionId === null || isRefusal(code)
			? ''
			: sentences(sessionName(sessionId), andMoreWords(others));
	return textMessage(line, context(about));
}

const isRefusal = (code: string) => Object.hasOwn(REFUSALS, code);

/** Shown while a person waits because Slack is asked about many people. */
export const ASKING_SLACK = 'Handraise is checking with Slack who you are.';

/** The message while a person is checked. The result replaces it. */
export const checkingMessage = () => textMessage(`⏳ ${ASKING_SLACK} The result comes as soon as Slack responds.`);

/** Replaces a window that opened before its person was checked, and who is refused now. */
export function refusedModal(code: string, error: ErrorContext): ModalView {
	const { line } = errorWords(code, error);
	return modal({ callbackId: CALLBACKS.error, title: APP_NAME, metadata: '', blocks: section(line) });
}

const NOT_OPENED = 'Slack did not open the window: it opens about 100 a minute, and each only within three seconds.';

/** When Slack did not open a form (expired trigger, or its limit): a press on the button gives a new trigger. */
export function answerCard(sessionId: string, messageIndex: number | null = null): MessageContent {
	const answer = labelAboutSession(sessionId)(answerButton({ sessionId, messageIndex }));
	return textMessage(rich`${NOT_OPENED} Now ${sessionName(sessionId)} is ready.`, buttons(answer));
}

const NO_WINDOW = {
	inbox: rich`Open the *Home* tab of this app, or type \`${COMMAND}\` again.`,
	history: rich`Please press *History* in the window of the session.`,
	settings: rich`Type \`${COMMAND} settings\` again.`,
	draft: rich`Please press *Copy text* again.`,
	handOver: rich`Nothing was handed over. Please press *Hand over* again.`,
	question: rich`Please press *Show question* again.`,
	list: rich`Type \`${COMMAND} list\` again.`,
};

/** When Slack did not open another window: how to open it again. */
export const noWindow = (what: keyof typeof NO_WINDOW) => textMessage(sentences(NOT_OPENED, NO_WINDOW[what]));

/** While a read takes long. The result replaces this message. */
export function stillWaitingMessage(sessionId: string | null): MessageContent {
	const words = '⏳ Still waiting for the session service. The result comes as soon as it responds.';
	return textMessage(words, context(sessionId === null ? '' : sessionName(sessionId)));
}

/** Why another person may not answer, after their name. Plain text. */
export const CANNOT_ANSWER = {
	guest: 'is a guest, and guests cannot answer here',
	bot: 'is an app or a bot, which cannot answer',
	external: 'belongs to another workspace or organisation and cannot answer here',
	deactivated: 'has a deactivated account',
	channel_not_allowed: 'cannot answer in this channel',
	user_not_allowed: 'is not among the people who may use Handraise',
	not_named: 'is not among the people who may answer here',
} as const;
