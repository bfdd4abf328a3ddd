import { createDrawing, type DrawingParts } from './drawing.ts';
import { within } from './kernel/clock.ts';
import { setBounded } from './kernel/memory.ts';
import { createChannelGuard, createEndings } from './sessions/endings.ts';
import { createChannelList } from './slack/channels.ts';
import type { PersonRequest } from './slack/request.ts';
import type { SlackCore } from './slack/slack-core.ts';
import type { Store } from './stores.ts';
import { createMessages } from './surfaces/messages.ts';
import { createOutbox } from './surfaces/outbox.ts';
import { createReminding } from './surfaces/reminders.ts';

/** How long the beginning of a watch waits for Slack's reply to the first post. */
const EXPECTED_WITHIN_MS = 3_000;
const MAX_EXPECTED = 1_000;

/** Makes the parts that post: they draw posts, keep them true, and end the watches of a channel that refuses posts. */
export function createPosting(core: SlackCore<Store> & DrawingParts) {
	const { config, clock, clients } = core;
	const stopping = new AbortController();
	const { signal } = stopping;
	const endings = createEndings(core);

	/** By watch, or by channel for `watch all`: Slack's reply to the next new post (a refusal's code, or null). */
	const expected = new Map<string, PromiseWithResolvers<string | null>>();
	function expectPost(id: string) {
		const reply = expected.get(id) ?? Promise.withResolvers<string | null>();
		setBounded(expected, id, reply, MAX_EXPECTED);
		return () => within(clock, reply.promise, EXPECTED_WITHIN_MS, () => null);
	}
	function attempted(id: string, refused: string | null): void {
		expected.get(id)?.resolve(refused);
		expected.delete(id);
	}

	const parts = { draw: createDrawing(core), remind: createReminding(core), ...createMessages(core) };
	const outbox = createOutbox(core, parts, endings.endChannel, attempted);
	const guard = createChannelGuard(core, createChannelList(clients.background), (channel) =>
		endings.endChannel(channel, 'channelShared'),
	);
	const running: Promise<unknown>[] = [];
	return {
		endings,
		expectPost,
		/** Redraws the message of a press, if it is one of our posts. `isChanged`: false for a repeated press. */
		showPressed({ person, channelId, messageTs: ts, responseUrl, postKey }: PersonRequest, isChanged: boolean): void {
			if (channelId === null || ts === null) return;
			const place = { teamId: person.teamId, placeIds: [channelId, person.userId], ts, key: postKey };
			outbox.showPressed(place, responseUrl, isChanged);
		},
		queue: outbox.queue,
		/** To be called once the workspace is known. `onReady` is called when posting is allowed. */
		async start(onReady: () => void): Promise<void> {
			await endings.endNotAllowed();
			if (signal.aborted) return;
			const begin = () => {
				outbox.allow();
				onReady();
			};
			if (config.ALLOW_EXTERNAL) begin();
			else running.push(guard.run(signal), guard.firstCheck().then(begin));
		},
		async stop(): Promise<void> {
			stopping.abort();
			await Promise.all([...running, outbox.stop()]);
		},
	};
}
