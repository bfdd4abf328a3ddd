import { createHash } from 'node:crypto';
import { targetOf } from '../../watches/announcements.ts';
import type { Announcer, PostUpdate } from '../../watches/announcer.ts';
import { type CardModel, watchCard } from '../blocks/watch-card.ts';
import { endWords } from '../blocks/watch-posts.ts';
import { createDrawing } from './draw.ts';
import { createQuestionFacts } from './facts.ts';
import type { PostCore } from './kind.ts';
import { createMessages } from './messages.ts';
import { createReminderDrawing } from './reminders.ts';
import { createPostSearch } from './search.ts';

/** A card shows when its session was read only if that is longer ago than this. */
const OLD_READ_MS = 60_000;

/** Writes cards and posts to Slack; see the port. */
export function createAnnouncer(core: PostCore): Announcer {
	const { store, directory, clock, config } = core;
	const { access, dashboardUrl, watchMaxDays } = config;
	const messages = createMessages(core);
	const facts = createQuestionFacts(core);
	const drawing = createDrawing(core, { facts, reminders: createReminderDrawing(core, { facts, ...messages }) });

	return {
		async prepareCard({ watch, view, checkedAt, questionSince }) {
			const { question, sessionId } = view;
			const [standing, claimed, handOver] = await Promise.all([
				question === null ? null : facts.standing(sessionId, question.messageIndex),
				question === null ? null : facts.claimed(sessionId, question.messageIndex),
				question === null ? null : facts.holderOf(watch, question.fingerprint),
			]);
			const days = { days: watchMaxDays, ...access };
			const model: CardModel = {
				view,
				checkedAt: null,
				waitedMs: null,
				discreet: watch.discreet,
				isUpdate: true,
				claims: claimed?.claims ?? [],
				claimedUntil: claimed?.claimedUntil ?? null,
				handOver,
				standing,
				endedWords: watch.ended === null ? null : endWords(watch.ended.reason, days),
				names: directory,
				dashboardUrl,
			};
			const now = clock.now();
			const isOld = checkedAt !== null && now - checkedAt > OLD_READ_MS;
			const waitedMs = questionSince === null ? null : now - questionSince;
			const current = { ...model, checkedAt: isOld ? checkedAt : null, waitedMs };
			return {
				// Without the times, which would make every card look new.
				key: keyOfLooks(watchCard(model)),
				send({ ts, metadataKey }) {
					const content = watchCard({ ...current, isUpdate: ts !== null });
					const target = targetOf(watch);
					if (ts !== null) return messages.update(content, target, ts);
					return messages.post(content, target, { channel: watch.channelId, metadataKey });
				},
			};
		},

		async updatesOf(due) {
			const { id: changeId, target, sendingSince } = due.announcement;
			const posts = await store.watches.postedQuestions(changeId);
			const updates: PostUpdate[] = [];
			for (const post of posts) {
				const { id: announcementId, postedTs: ts, shownKey } = post;
				const redrawn = ts === null ? null : await drawing.redraw(due, post, posts);
				if (ts === null || redrawn === null) continue;
				if ('kind' in redrawn) {
					updates.push({ announcementId, key: '', send: async () => redrawn });
					continue;
				}
				// Without `text`, in which the time that it waits would make every post look new.
				const key = keyOfLooks(redrawn.blocks);
				// An attempt whose outcome is unknown may have shown something else since.
				if (key === shownKey && sendingSince === null) continue;
				updates.push({ announcementId, key, send: () => messages.update(redrawn, target, ts) });
			}
			return updates;
		},

		async preparePost(due, options) {
			const { content } = due.announcement;
			if (content.kind === 'card' || content.kind === 'settle' || content.kind === 'redraw') return null;
			const drawn = await drawing.draw(content, due, options);
			if (drawn === null) return null;
			if ('kind' in drawn) return { send: async () => drawn };
			const { message, isShownInChannel = false, leftOut = [] } = drawn;
			return { ...(await messages.prepare(due, message, isShownInChannel)), leftOut };
		},

		remove: messages.remove,
		find: createPostSearch(core, messages),
	};
}

function keyOfLooks(content: object): string {
	return createHash('sha256').update(JSON.stringify(content)).digest('base64url').slice(0, 22);
}
