import type { Clock } from '../clock.ts';
import { cutText } from '../cut.ts';
import { counted, type Finding, findingsOf } from './report.ts';
import type { SlackCall, SlackReply } from './request.ts';
import { tokenAdvice } from './slack.ts';

/** A view or message that Slack is asked about. */
export interface AskedShape {
	readonly name: string;
	readonly view?: object;
	readonly message?: { readonly blocks: readonly object[] };
}

interface Dependencies {
	readonly shapes: readonly AskedShape[];
	readonly call: SlackCall;
	readonly token: string;
	readonly clock: Pick<Clock, 'sleep'>;
	/** Takes lines about the progress. */
	readonly say: (line: string) => void;
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

/**
 * Asks Slack about each shape, one at a time, with `blocks.validate`, which posts nothing. The findings are the refused
 * shapes, and the reason when it stopped early.
 */
export async function checkViews({ shapes, call, token, clock, say }: Dependencies): Promise<{
	readonly findings: readonly Finding[];
	/** How many shapes were asked about and how many were refused. */
	readonly summary: string;
}> {
	const { failure, all: findings } = findingsOf('Views');
	const total = shapes.length;
	let pauseMs = PAUSE_MS;
	let asked = 0;
	let refused = 0;

	async function ask(shape: AskedShape): Promise<SlackReply> {
		for (let limited = 0, failures = 0; ; ) {
			const reply = await call('blocks.validate', token, argumentsOf(shape));
			if (reply.kind === 'unreachable' && reply.limitedSec !== null) {
				limited += 1;
				if (limited > MAX_LIMITED) return reply;
				pauseMs = Math.min(Math.max(pauseMs * 2, LIMITED_PAUSE_MS), MAX_PAUSE_MS);
				say(`Slack limits the calls: continuing in ${reply.limitedSec} s.`);
				await clock.sleep(reply.limitedSec * 1_000);
			} else {
				const retryAfterMs = RETRY_AFTER_MS[failures];
				if (!isTransient(reply) || retryAfterMs === undefined) return reply;
				failures += 1;
				await clock.sleep(retryAfterMs);
			}
		}
	}

	say(`Asking Slack about ${counted(total, 'shape')}.`);
	for (const shape of shapes) {
		const reply = await ask(shape);
		const problem = problemOf(reply);
		if (problem !== null) {
			failure(`${problem} Asking stopped at ${shape.name}.`);
			break;
		}
		asked += 1;
		if (reply.kind === 'refused') {
			refused += 1;
			failure(`${shape.name}: Slack refuses it (${reply.code}): ${wordsOf(reply)}`);
		}
		await clock.sleep(pauseMs);
	}
	const count = asked === total ? counted(total, 'shape') : `${asked} of ${counted(total, 'shape')}`;
	return { findings, summary: `Slack was asked about ${count} and refuses ${refused === 0 ? 'none' : refused}.` };
}

function isTransient(reply: SlackReply): boolean {
	return reply.kind === 'unreachable' || (reply.kind === 'refused' && TRANSIENT.has(reply.code));
}

/**
 * As the app sends views: JSON in a form. Only the blocks of a message, because `blocks.validate` refuses its `text`
 * (slackapi/node-slack-sdk#2659).
 */
function argumentsOf({ view, message }: AskedShape): Readonly<Record<string, string>> {
	return view === undefined ? { message: JSON.stringify({ blocks: message?.blocks }) } : { view: JSON.stringify(view) };
}

/** Why the check must stop; null when the reply is about the shape. */
function problemOf(reply: SlackReply): string | null {
	if (reply.kind === 'ok') return null;
	if (reply.kind === 'unreachable') return `Slack cannot be asked: ${reply.why}.`;
	const { code } = reply;
	if (code === 'unknown_method') {
		return 'This Slack has no blocks.validate (unknown_method), so it cannot check views.';
	}
	const advice = tokenAdvice(code, { setting: 'SLACK_BOT_TOKEN', copyFrom: 'from "OAuth & Permissions"' });
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
