import type { Clock } from '../clock.ts';
import type { SettingsReading } from '../config.ts';
import { cutText } from '../cut.ts';
import { checkSettings } from './environment.ts';
import { counted, type Finding, findingsOf } from './report.ts';
import { createSlackCall, type SlackCall, type SlackReply } from './request.ts';
import { checkBotToken, tokenAdvice } from './slack.ts';

/** A view or message that Slack is asked about. */
export interface AskedShape {
	readonly name: string;
	readonly view?: object;
	readonly message?: { readonly blocks: readonly object[] };
}

/** Between two calls. Slack does not publish the rate of `blocks.validate` ("special rate limits apply"). */
const PAUSE_MS = 50;
/** After the first 429. Each further one doubles it. */
const LIMITED_PAUSE_MS = 500;
const MAX_PAUSE_MS = 8_000;
/** Gives up after so many 429s in a row. */
const MAX_LIMITED = 10;
/** The pauses before the retries of a call that failed for another reason. */
const RETRY_AFTER_MS = [1_000, 5_000];
/** What is shown of one shape: different errors, pointers per error, and UTF-16 units per error. */
const MAX_ERRORS = 20;
const MAX_POINTERS = 3;
const MAX_ERROR_LENGTH = 500;

/** Slack's codes for its own failures. */
const TRANSIENT = new Set(['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout']);

/** Asks Slack whether it accepts the shapes. Needs only the bot token, so that it can run before everything else is set up. */
export async function* checkViews(
	{ settings, problems }: SettingsReading,
	clock: Pick<Clock, 'sleep'>,
): AsyncGenerator<Finding | string> {
	const { SLACK_BOT_TOKEN: token, SLACK_API_URL: apiUrl } = settings;
	if (token === undefined || apiUrl === undefined) {
		const ofSlack = problems.filter((problem) => /^SLACK_(BOT_TOKEN|API_URL) /.test(problem));
		return yield* checkSettings(findingsOf('Settings'), { problems: ofSlack, unknown: [] });
	}
	const call = createSlackCall(apiUrl, token);
	const bot = await call('auth.test');
	yield* checkBotToken(findingsOf('Bot token'), bot);
	if (bot.kind !== 'ok') return;
	// Imported here, because building them takes a second.
	const { extremes } = await import('../slack/shapes/extremes.ts');
	yield* askAbout(extremes(), call, clock);
}

/**
 * Asks Slack about each shape, one at a time, with `blocks.validate`, which posts nothing. Yields lines about its progress,
 * and as findings the refused shapes and the reason when it stopped early.
 */
export async function* askAbout(
	shapes: readonly AskedShape[],
	call: SlackCall,
	clock: Pick<Clock, 'sleep'>,
): AsyncGenerator<Finding | string> {
	const found = (text: string): Finding => ({ verdict: 'failure', check: 'Views', text });
	const total = counted(shapes.length, 'shape');
	let pauseMs = PAUSE_MS;
	let refused = 0;
	let limited = 0;
	let failures = 0;
	yield `Asking Slack about ${total}.`;
	const waiting = [...shapes];
	for (let shape = waiting[0]; shape !== undefined; shape = waiting[0]) {
		const reply = await call('blocks.validate', argumentsOf(shape));
		const retryAfterMs = RETRY_AFTER_MS[failures];
		if (reply.kind === 'unreachable' && reply.limitedSec !== null && limited < MAX_LIMITED) {
			limited++;
			pauseMs = Math.min(Math.max(pauseMs * 2, LIMITED_PAUSE_MS), MAX_PAUSE_MS);
			yield `Slack limits the calls: continuing in ${reply.limitedSec} s.`;
			await clock.sleep(reply.limitedSec * 1_000);
		} else if (isTransient(reply) && retryAfterMs !== undefined) {
			failures++;
			await clock.sleep(retryAfterMs);
		} else {
			const problem = problemOf(reply);
			if (problem !== null) {
				yield found(`${problem} Asking stopped at ${shape.name}.`);
				break;
			}
			if (reply.kind === 'refused') {
				refused++;
				yield found(`${shape.name}: Slack refuses it (${reply.code}): ${wordsOf(reply)}`);
			}
			[limited, failures] = [0, 0];
			waiting.shift();
			await clock.sleep(pauseMs);
		}
	}
	const count = waiting.length === 0 ? total : `${shapes.length - waiting.length} of ${total}`;
	yield `Slack was asked about ${count} and refuses ${refused === 0 ? 'none' : refused}. Nothing else was checked: npm run doctor does that.`;
}

function isTransient(reply: SlackReply): boolean {
	if (reply.kind === 'unreachable') return reply.limitedSec === null;
	return reply.kind === 'refused' && TRANSIENT.has(reply.code);
}

/** Only the blocks of a message, because `blocks.validate` refuses its `text` (slackapi/node-slack-sdk#2659). */
function argumentsOf({ view, message }: AskedShape) {
	return view === undefined ? { message: { blocks: message?.blocks } } : { view };
}

/** Why the check must stop; null when the reply is about the shape. */
function problemOf(reply: SlackReply): string | null {
	if (reply.kind === 'ok') return null;
	if (reply.kind === 'unreachable') return `Slack cannot be asked: ${reply.why}.`;
	const { code } = reply;
	if (code === 'unknown_method') {
		return 'This Slack has no blocks.validate (unknown_method), so it cannot check views.';
	}
	const advice = tokenAdvice(code, 'SLACK_BOT_TOKEN');
	if (advice !== null) return advice;
	return TRANSIENT.has(code) ? `Slack has a failure of its own (${code}): try again later.` : null;
}

/** Slack's error messages, each once, with the pointers to the parts they are about. */
export function wordsOf({ data }: Pick<Extract<SlackReply, { kind: 'refused' }>, 'data'>): string {
	const metadata = data.response_metadata as { messages?: unknown } | undefined;
	const errors = [data.errors, metadata?.messages].filter(Array.isArray).find((list) => list.length > 0) ?? [];
	const errorsByWords = Map.groupBy(errors.map(errorOf), ({ words }) => words);
	const lines = [...errorsByWords].slice(0, MAX_ERRORS).map(([words, sameErrors]) => {
		const pointers = sameErrors.map(({ pointer }) => pointer).filter((pointer) => pointer !== '');
		const hiddenCount = pointers.length - MAX_POINTERS;
		if (hiddenCount > 0) pointers.splice(MAX_POINTERS, hiddenCount, `${hiddenCount} more`);
		return pointers.length === 0 ? words : `${words} at ${pointers.join(', ')}`;
	});
	const hiddenCount = errorsByWords.size - lines.length;
	if (hiddenCount > 0) lines.push(`and ${hiddenCount} more`);
	return lines.length === 0 ? 'it does not say why.' : `${lines.join('; ')}.`;
}

/** An error of `blocks.validate` or of a method that posts, which is a sentence with the pointer in it. */
function errorOf(error: unknown): { words: string; pointer: string } {
	if (typeof error === 'string')
		return { words: cutText(error.replace(/^\[ERROR\] /, ''), MAX_ERROR_LENGTH), pointer: '' };
	const { message, code, pointer } = (error ?? {}) as Readonly<Record<string, unknown>>;
	const fallback = typeof code === 'string' ? code : 'no words';
	const words = typeof message === 'string' && message !== '' ? message : fallback;
	return { words: cutText(words, MAX_ERROR_LENGTH), pointer: typeof pointer === 'string' ? pointer : '' };
}
