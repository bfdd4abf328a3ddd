import type { FakeSlack, TrafficEntry } from '../../fake-slack/index.ts';

export interface SlackCalls {
	/** Calls by method and outcome. */
	readonly counts: ReadonlyMap<string, number>;
	readonly calls: number;
	/** Posts, and updates that changed the message. */
	readonly changes: number;
	/** Calls that Slack's own limits answered with 429. */
	readonly limited: number;
}

/** Counts calls that write messages, as they end, from now on. */
export function countSlackCalls(slack: FakeSlack): () => SlackCalls {
	const counts = new Map<string, number>();
	const shown = new Map<string, string>();
	for (const message of slack.state.messages) shown.set(message.ts, contentOf(message));
	const seen = new WeakSet<TrafficEntry>(slack.traffic.calls());
	let calls = 0;
	let changes = 0;
	let limited = 0;

	slack.changes.listen((change) => {
		if (change.kind !== 'call' || !change.id.startsWith('chat.')) return;
		for (const entry of slack.traffic.calls(change.id).slice(-20)) {
			if (entry.doneAt === null || seen.has(entry)) continue;
			seen.add(entry);
			count(entry);
		}
	});

	function count(entry: TrafficEntry): void {
		calls += 1;
		const { ok = false, ts } = (entry.answer ?? {}) as { ok?: boolean; ts?: string };
		if (entry.status === 429) limited += 1;
		const name = `${entry.name} ${ok ? 'ok' : (entry.status ?? 'failed')}`;
		counts.set(name, (counts.get(name) ?? 0) + 1);
		if (!ok || ts === undefined) return;
		const message = slack.state.messages.find((one) => one.ts === ts);
		const content = message === undefined ? '' : contentOf(message);
		if (shown.get(ts) !== content) changes += 1;
		shown.set(ts, content);
	}

	return () => ({ counts: new Map(counts), calls, changes, limited });
}

/** Without the ids that Slack generates anew for each update. */
function contentOf({ text, blocks }: { readonly text: string; readonly blocks: readonly unknown[] }): string {
	return JSON.stringify([text, blocks], (key, value: unknown) => (key === 'block_id' ? undefined : value));
}
