import type { WebClient } from '@slack/web-api';
import type { Clock } from '../../../src/kernel/basics.ts';
import type { Random } from '../../support/random.ts';
import type { Post } from './history.ts';

/** The arguments of the calls that the announcer makes. */
interface Call {
	readonly channel: string;
	readonly text?: string;
	readonly blocks?: readonly object[];
	readonly thread_ts?: string;
	readonly ts?: string;
	readonly message_ts?: string;
	readonly oldest?: string;
	readonly metadata?: { readonly event_type: string; readonly event_payload: { readonly key: string } };
}

/** Of buttons: their values, and labels for screen readers, in which Slack takes nothing for a mention. */
const UNSEEN: ReadonlySet<string> = new Set(['value', 'accessibility_label']);

/** The share of posts that are there although the call fails. */
const LOST = 0.002;

/** A workspace whose history is readable. It outlives the processes that post. */
export function createSlack(posts: Post[], onPost: (post: Post) => void, random: Random) {
	const byChannel = new Map<string, (Post & { readonly metadata: Call['metadata'] })[]>();
	let count = 0;
	let isLimited = false;
	const latency = () => Math.round(80 + random.exponential(120));

	function post(call: Call, at: number): Post {
		count += 1;
		const ts = `${Math.floor(at / 1000)}.${String(count % 1_000_000).padStart(6, '0')}`;
		const posted = {
			at,
			channelId: call.channel,
			ts,
			text: call.text ?? '',
			content: JSON.stringify([call.text, call.blocks], (key, value) => (UNSEEN.has(key) ? undefined : value)),
			threadTs: call.thread_ts ?? null,
			metadata: call.metadata,
		};
		posts.push(posted);
		onPost(posted);
		byChannel.set(call.channel, [...(byChannel.get(call.channel) ?? []), posted]);
		return posted;
	}

	/** Messages from `oldest` on. */
	function page({ channel, oldest = '0', ts }: Call) {
		const messages = (byChannel.get(channel) ?? [])
			.filter((message) => Number(message.ts) >= Number(oldest))
			.filter(({ threadTs }) => threadTs === (ts ?? null))
			.map((message) => ({
				ts: message.ts,
				...(message.threadTs !== null && { thread_ts: message.threadTs }),
				metadata: message.metadata,
			}));
		return { ok: true, messages, has_more: false, response_metadata: { next_cursor: '' } };
	}

	return {
		/** Whether Slack says that there are too many posts. */
		limit(on: boolean): void {
			isLimited = on;
		},
		/** The client of one process. `crashPoint`: where it may be killed; does not resolve then. */
		clientFor({ now, sleep }: Clock, crashPoint: () => Promise<void>): WebClient {
			const answering =
				<Result>(answer: (call: Call, at: number) => Result) =>
				async (call: Call): Promise<Result> => {
					await sleep(latency());
					return answer(call, now());
				};
			async function postMessage(call: Call) {
				if (isLimited) throw Object.assign(new Error('limited'), { retryAfter: random.whole(1, 3) });
				await crashPoint();
				const { ts, threadTs } = post(call, now());
				await crashPoint();
				await sleep(latency());
				if (random.chance(LOST)) throw new Error('the response was lost');
				return { ok: true, ts, message: { ts, ...(threadTs !== null && { thread_ts: threadTs }) } };
			}
			const client = {
				chat: {
					postMessage,
					update: answering(({ ts }) => ({ ok: true, ts })),
					getPermalink: answering(({ channel, message_ts: ts = '' }) => ({
						ok: true,
						permalink: permalinkOf(channel, ts),
					})),
				},
				conversations: {
					history: answering((call) => ({ ...page(call), messages: page(call).messages.toReversed() })),
					replies: answering(page),
				},
			};
			return client as unknown as WebClient;
		},
	};
}

export function permalinkOf(channelId: string, ts: string): string {
	return `https://slack.example/archives/${channelId}/p${ts.replace('.', '')}`;
}
