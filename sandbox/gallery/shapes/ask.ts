import type { Clock } from '../../../src/core/basics.ts';
import { type Finding, type SlackCall, type SlackReply, wordsOf } from '../../../src/doctor/check.ts';
import { tokenAdvice } from '../../../src/doctor/slack.ts';
import { counted } from '../../../src/slack/parts.ts';
import { extremes } from './extremes.ts';
import type { Shape } from './samples.ts';

/** Between two calls. Slack does not publish the rate of `blocks.validate` ("special rate limits apply"). */
const PAUSE_MS = 50;
/** Gives up after this many 429s in a row. */
const MAX_LIMITED = 10;

const TRANSIENT = new Set(['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout']);

interface Asking {
	readonly clock: Pick<Clock, 'sleep'>;
	readonly say: (line: string) => void;
}

/** For `npm run doctor -- views` (src/doctor/run.ts). */
export const askAboutExtremes = (call: SlackCall, asking: Asking) => askAbout(extremes(), call, asking);

/** Asks Slack with `blocks.validate`, which posts nothing. Yields the refused shapes, and why it stopped early. */
export async function* askAbout(
	shapes: readonly Shape[],
	call: SlackCall,
	{ clock, say }: Asking,
): AsyncGenerator<Finding> {
	const found = (text: string): Finding => ({ verdict: 'failure', check: 'Views', text });
	const total = counted(shapes.length, 'shape');
	let asked = 0;
	let refused = 0;

	async function ask({ view, message }: Shape): Promise<SlackReply> {
		// Only the blocks of a message: `blocks.validate` refuses its `text` (slackapi/node-slack-sdk#2659).
		const args = view === undefined ? { message: { blocks: message?.blocks } } : { view };
		const pausesMs = [1_000, 5_000];
		for (let limitedCount = 0; ; ) {
			const reply = await call('blocks.validate', args);
			if (reply.kind === 'unreachable' && reply.limitedSec !== null && limitedCount < MAX_LIMITED) {
				limitedCount++;
				say(`Slack limits the calls: continuing in ${reply.limitedSec} s.`);
				await clock.sleep(reply.limitedSec * 1_000);
			} else {
				const pauseMs = isTransient(reply) ? pausesMs.shift() : undefined;
				if (pauseMs === undefined) return reply;
				await clock.sleep(pauseMs);
			}
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
			yield found(`${shape.name}: Slack refuses it (${reply.code}): ${wordsOf(reply.data)}`);
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
