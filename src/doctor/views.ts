import type { Clock } from '../clock.ts';
import { readSettings } from '../config.ts';
import { cutText } from '../cut.ts';
import { counted, type Finding, findingsOf, type Invocation } from './check.ts';
import { checkSettings } from './environment.ts';
import { at, createSlackCall, type Json, type SlackCall, type SlackReply } from './request.ts';
import { checkBotToken, tokenAdvice } from './slack.ts';

export interface AskedShape {
	readonly name: string;
	readonly view?: object;
	readonly message?: { readonly blocks: readonly object[] };
}

/** Between two calls. Slack does not publish the rate of `blocks.validate` ("special rate limits apply"). */
const PAUSE_MS = 50;
/** Gives up after so many 429s in a row. */
const MAX_LIMITED = 10;
/** The pauses before the retries of a call that failed otherwise. */
const RETRY_AFTER_MS = [1_000, 5_000];
/** What is shown of one shape, and of one error, in UTF-16 units. */
const MAX_WORDS = 4_000;
const MAX_ERROR_LENGTH = 500;

const TRANSIENT = new Set(['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout']);

/** Asks Slack whether it accepts the shapes. Needs only the bot token, so that it can run before everything else is set up. */
export async function* checkViews({ env, clock, lines }: Invocation): AsyncGenerator<Finding> {
	const { settings, problems } = readSettings(env);
	const { SLACK_BOT_TOKEN: token, SLACK_API_URL: apiUrl } = settings;
	if (token === undefined || apiUrl === undefined) {
		const ofSlack = problems.filter((problem) => /^SLACK_(BOT_TOKEN|API_URL) /.test(problem));
		return yield* checkSettings(findingsOf('Settings'), { problems: ofSlack, unknown: [] });
	}
	const call = createSlackCall(apiUrl, token);
	const auth = await call('auth.test');
	yield* checkBotToken(findingsOf('Bot token'), auth);
	if (auth.kind !== 'ok') return;
	// Imported here, because building them takes a second.
	const { extremes } = await import('../slack/shapes/extremes.ts');
	yield* askAbout(extremes(), call, { clock, say: lines.log });
}

/** Asks Slack with `blocks.validate`, which posts nothing. Yields the refused shapes, and why it stopped early. */
export async function* askAbout(
	shapes: readonly AskedShape[],
	call: SlackCall,
	{ clock, say }: { readonly clock: Pick<Clock, 'sleep'>; readonly say: (line: string) => void },
): AsyncGenerator<Finding> {
	const found = (text: string): Finding => ({ verdict: 'failure', check: 'Views', text });
	const total = counted(shapes.length, 'shape');
	let asked = 0;
	let refused = 0;

	async function ask(shape: AskedShape): Promise<SlackReply> {
		let limited = 0;
		let failures = 0;
		for (;;) {
			const reply = await call('blocks.validate', argumentsOf(shape));
			const retryAfterMs = RETRY_AFTER_MS[failures];
			if (reply.kind === 'unreachable' && reply.limitedSec !== null && limited < MAX_LIMITED) {
				limited++;
				say(`Slack limits the calls: continuing in ${reply.limitedSec} s.`);
				await clock.sleep(reply.limitedSec * 1_000);
			} else if (isTransient(reply) && retryAfterMs !== undefined) {
				failures++;
				await clock.sleep(retryAfterMs);
			} else return reply;
		}
	}

	say(`Asking Slack about ${total}.`);
	for (const shape of shapes) {
		const reply = await ask(shape);
		const problem = problemOf(reply);
		if (problem !== null) {
			yield found(`${problem} Asking stopped at ${shape.name}.`);
			break;
		}
		asked++;
		if (reply.kind === 'refused') {
			refused++;
			yield found(`${shape.name}: Slack refuses it (${reply.code}): ${wordsOf(reply)}`);
		}
		await clock.sleep(PAUSE_MS);
	}
	const count = asked === shapes.length ? total : `${asked} of ${total}`;
	say(
		`Slack was asked about ${count} and refuses ${refused === 0 ? 'none' : refused}. Nothing else was checked: npm run doctor does that.`,
	);
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
	if (code === 'unknown_method') return 'This Slack has no blocks.validate (unknown_method), so it cannot check views.';
	const advice = tokenAdvice(code, 'SLACK_BOT_TOKEN');
	if (advice !== null) return advice;
	return TRANSIENT.has(code) ? `Slack has a failure of its own (${code}): try again later.` : null;
}

/** Slack's error messages, each once, with the pointer to the first part that it is about, and how many more there are. */
export function wordsOf({ data }: { readonly data: Json }): string {
	const metadata = data.response_metadata as { messages?: unknown } | undefined;
	const errors = [data.errors, metadata?.messages].filter(Array.isArray).find((list) => list.length > 0) ?? [];
	const lines = Array.from(Map.groupBy(errors, messageOf), ([words, [first, ...others]]) => {
		const pointer = at(first, 'pointer');
		if (typeof pointer !== 'string') return words;
		return `${words} at ${pointer}${others.length === 0 ? '' : ` and ${others.length} more`}`;
	});
	return lines.length === 0 ? 'it does not say why.' : `${cutText(lines.join('; '), MAX_WORDS)}.`;
}

/** What an error of `blocks.validate` says, or one of a method that posts, which is a sentence. */
function messageOf(error: unknown): string {
	const texts: readonly unknown[] = [error, at(error, 'message'), at(error, 'code')];
	const words = texts.find((text): text is string => typeof text === 'string' && text !== '') ?? 'no words';
	return cutText(words.replace(/^\[ERROR\] /, ''), MAX_ERROR_LENGTH);
}
