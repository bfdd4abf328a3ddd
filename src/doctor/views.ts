import type { Clock } from '../clock.ts';
import type { SlackCall, SlackReply } from './ask.ts';
import { counted, type Finding, findingsOf } from './report.ts';
import { tokenAdvice } from './slack.ts';

/** A view or message that Slack is asked about. */
export interface AskedShape {
	readonly name: string;
	readonly view?: object;
	readonly message?: { readonly blocks: readonly object[] };
}

/** How far the asking is. */
export interface Progress {
	readonly asked: number;
	readonly total: number;
	/** Slack limits the calls: nothing is asked for so long. */
	readonly pausedSec: number | null;
}

interface Dependencies {
	readonly shapes: readonly AskedShape[];
	readonly call: SlackCall;
	readonly token: string;
	readonly clock: Pick<Clock, 'sleep'>;
	readonly show: (progress: Progress) => void;
}

/** Between two calls. Slack does not publish the rate of `blocks.validate` ("special rate limits apply"). */
const PAUSE_MS = 50;
/** From the first 429 on; doubled with each further one. */
const LIMITED_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 8_000;
/** 429s in a row after which the rate is not the trouble. */
const MOST_LIMITED = 10;
/** Waits after calls that failed for another reason. */
const RETRY_AFTER_MS = [1_000, 5_000];
/** What is shown of one shape: different words, pointers to each, and their length. */
const MOST_WORDS = 20;
const MOST_POINTERS = 3;
const MOST_LENGTH = 500;

/** Codes that Slack documents for its own trouble. */
const TRANSIENT = new Set(['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout']);

/**
 * Asks Slack about each shape, one at a time, by `blocks.validate`, which shows nothing to anybody. The findings are what
 * it refuses, and what ended the asking early.
 */
export async function checkViews({ shapes, call, token, clock, show }: Dependencies): Promise<{
	readonly findings: readonly Finding[];
	/** How many were asked, how many refused. */
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
				if (limited > MOST_LIMITED) return reply;
				pauseMs = Math.min(Math.max(pauseMs * 2, LIMITED_PAUSE_MS), LONGEST_PAUSE_MS);
				show({ asked, total, pausedSec: reply.limitedSec });
				await clock.sleep(reply.limitedSec * 1_000);
			} else {
				const retryAfterMs = RETRY_AFTER_MS[failures];
				if (!isTrouble(reply) || retryAfterMs === undefined) return reply;
				failures += 1;
				await clock.sleep(retryAfterMs);
			}
		}
	}

	for (const shape of shapes) {
		show({ asked, total, pausedSec: null });
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

function isTrouble(reply: SlackReply): boolean {
	return reply.kind === 'unreachable' || (reply.kind === 'refused' && TRANSIENT.has(reply.code));
}

/**
 * As the app itself sends views: JSON in a form. Of a message only the blocks: `blocks.validate` refuses `text` as an
 * additional property (slackapi/node-slack-sdk#2659), though messages have one.
 */
function argumentsOf({ view, message }: AskedShape): Readonly<Record<string, string>> {
	return view === undefined ? { message: JSON.stringify({ blocks: message?.blocks }) } : { view: JSON.stringify(view) };
}

/** Why nothing more can be asked; null when the reply is about the shape. */
function problemOf(reply: SlackReply): string | null {
	if (reply.kind === 'ok') return null;
	if (reply.kind === 'unreachable') return `Slack cannot be asked: ${reply.why}.`;
	const { code } = reply;
	if (code === 'unknown_method') {
		return 'This Slack has no blocks.validate (unknown_method): nothing can be told from here.';
	}
	const advice = tokenAdvice(code, { setting: 'SLACK_BOT_TOKEN', copyFrom: 'from "OAuth & Permissions"' });
	if (advice !== null) return advice;
	return TRANSIENT.has(code) ? `Slack is in trouble (${code}): try again later.` : null;
}

/** Slack's own words, each once, with the pointers to what they are about. */
function wordsOf({ data }: Extract<SlackReply, { kind: 'refused' }>): string {
	const metadata = data.response_metadata as { messages?: unknown } | undefined;
	const errors = [data.errors, metadata?.messages].filter(Array.isArray).find((list) => list.length > 0) ?? [];
	const pointersByWords = Map.groupBy(errors.map(errorOf), ({ words }) => words);
	const lines = [...pointersByWords].slice(0, MOST_WORDS).map(([words, of]) => {
		const pointers = of.map(({ pointer }) => pointer).filter((pointer) => pointer !== '');
		const more = pointers.length - MOST_POINTERS;
		if (more > 0) pointers.splice(MOST_POINTERS, more, `${more} more`);
		return pointers.length === 0 ? words : `${words} at ${pointers.join(', ')}`;
	});
	const others = pointersByWords.size - lines.length;
	if (others > 0) lines.push(`and ${others} more`);
	return lines.length === 0 ? 'it does not say why.' : `${lines.join('; ')}.`;
}

/** An error as `blocks.validate` gives it, or as the methods that post do: a sentence with the pointer in it. */
function errorOf(error: unknown): { words: string; pointer: string } {
	if (typeof error === 'string') return { words: error.replace(/^\[ERROR\] /, '').slice(0, MOST_LENGTH), pointer: '' };
	const { message, code, pointer } = (error ?? {}) as Readonly<Record<string, unknown>>;
	const fallback = typeof code === 'string' ? code : 'no words';
	const words = typeof message === 'string' && message !== '' ? message : fallback;
	return { words: words.slice(0, MOST_LENGTH), pointer: typeof pointer === 'string' ? pointer : '' };
}

/** Without a terminal a line for so many shapes. */
const LINE_EVERY = 50;
const CLEAR_LINE = '\r\u001b[K';

/** Shows how far a long check is: on a terminal one line that changes, else a line now and then. */
export function createProgress(out: { readonly isTTY?: boolean; write(text: string): unknown }) {
	const isTerminal = out.isTTY === true;
	return {
		show({ asked, total, pausedSec }: Progress): void {
			const pause = pausedSec === null ? '' : ` Slack limits the calls: going on in ${pausedSec} s.`;
			const line = `Asked Slack about ${asked} of ${total} shapes.${pause}`;
			if (isTerminal) out.write(`${CLEAR_LINE}${line}`);
			else if (pause !== '' || (asked > 0 && asked % LINE_EVERY === 0)) out.write(`${line}\n`);
		},
		/** Makes room for the report. */
		end(): void {
			if (isTerminal) out.write(CLEAR_LINE);
		},
	};
}
