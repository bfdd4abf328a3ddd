import { z } from 'zod';
import { within } from '../../kernel/clock.ts';
import { slackErrorCode } from '../../slack/clients.ts';
import type { HandlerContext } from '../../slack/context.ts';
import type { OfferedThreadReply } from '../../slack/ids.ts';
import type { PersonRequest } from '../../slack/request.ts';
import { mentionsIn, seenText } from '../../slack/seen-text.ts';

/** Slack is asked for this many names at once, for this long: a window opens within 3 s. The others stay ids. */
const MOST_NAMES = 10;
const NAMES_WITHIN_MS = 1_000;

/** Messages with files or voice. Slack has announced the end of the subtype, and goes on sending it. */
const FILES = z.union([
	z.object({ subtype: z.literal('file_share') }),
	z.object({ files: z.array(z.unknown()).min(1) }),
]);

const WRITER = z.object({ user: z.string().optional(), bot_id: z.string().optional() });

/** Reads messages of people, as Slack sends them. */
export function createMessageReader(core: HandlerContext) {
	const { personReads, memberships, directory, clock, installation } = core;
	const client = core.clients.people;

	/** The text of a message as its author sees it, without a mention of the app. */
	async function textOf({ person: { userId } }: PersonRequest, message: unknown): Promise<string> {
		const names = new Map<string, string>();
		const { botUserId } = installation.identity();
		const others = [...mentionsIn(message)].filter((mention) => mention !== `@${botUserId}`);
		const learnt = others.slice(0, MOST_NAMES).map(async (mention) => {
			const id = mention.slice(1);
			const name = await (mention.startsWith('@') ? directory.learnName(id) : memberships.nameOf(userId, id));
			if (name !== null) names.set(mention, name);
		});
		await within(clock, Promise.all(learnt), NAMES_WITHIN_MS, () => []);
		return seenText(message, botUserId, names);
	}

	return {
		textOf,
		/** Whether Handraise wrote it. */
		isOurs(message: unknown): boolean {
			const { botUserId, botId } = installation.identity();
			const { user, bot_id: bot } = WRITER.safeParse(message).data ?? {};
			return user === botUserId || (bot !== undefined && bot === botId);
		},
		hasFiles: (message: unknown) => FILES.safeParse(message).success,
		hasText: (message: unknown) => seenText(message, installation.identity().botUserId) !== '',
		/**
		 * The text of a message as it is now; empty when it was deleted. `text` null: the app has no scope to read it. Null
		 * when Slack did not say. @throws `too_fast`, because people share the limit of these calls
		 */
		async textNow(request: PersonRequest, { channelId, threadTs, messageTs }: OfferedThreadReply) {
			const tooFast = await personReads.turn(request);
			if (tooFast !== null) throw tooFast;
			const only = { oldest: messageTs, latest: messageTs, inclusive: true, limit: 2 };
			try {
				const { messages } = await client.conversations.replies({ channel: channelId, ts: threadTs, ...only });
				const message = messages?.find(({ ts }) => ts === messageTs);
				return messages === undefined ? null : { text: await textOf(request, message) };
			} catch (error) {
				const code = slackErrorCode(error);
				if (code === 'thread_not_found') return { text: '' };
				return code === 'missing_scope' ? { text: null } : null;
			}
		},
	};
}
