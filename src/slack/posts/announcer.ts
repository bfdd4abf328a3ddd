import { createHash } from 'node:crypto';
import type { MayAct } from '../../answers/access-policy.ts';
import type { Core } from '../../core.ts';
import {
	type Announcement,
	type DueAnnouncement,
	type DueCard,
	type SendOutcome,
	targetOf,
} from '../../watches/announcements.ts';
import { type CardModel, watchCard } from '../blocks/watch-card.ts';
import { endWords } from '../blocks/watch-posts.ts';
import type { createUserGroups } from '../settings/mentions.ts';
import { createDrawing } from './draw.ts';
import { createQuestionFacts } from './facts.ts';
import { createMessages } from './messages.ts';
import { createReminderDrawing } from './reminders.ts';

/** A card shows when its session was read only if that is longer ago than this. */
const OLD_READ_MS = 60_000;

/** Writes cards and posts to Slack. Throws nothing but a signal's reason. */
export function createAnnouncer(
	core: Core,
	{ mayAct, userGroups }: { mayAct: MayAct; userGroups: Pick<ReturnType<typeof createUserGroups>, 'list'> },
) {
	const { store, directory, clock, config } = core;
	const { access, dashboardUrl, watchMaxDays } = config;
	const messages = createMessages(core);
	const facts = createQuestionFacts(core, mayAct);
	const reminders = createReminderDrawing(core, facts, messages.linkTo);
	const drawing = createDrawing(core, facts, reminders, userGroups);

	/** The card as it looks now, and its key: two cards with the same key look the same. */
	async function drawCard({ watch, view, checkedAt, questionSince }: DueCard, isUpdate: boolean) {
		const { question, sessionId } = view;
		const [standing, claimed, handOver] = await Promise.all([
			question === null ? null : facts.standing(sessionId, question.messageIndex),
			question === null ? null : facts.claimed(sessionId, question.messageIndex),
			question === null ? null : facts.holderOf(watch, question.fingerprint),
		]);
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
			endedWords: watch.ended === null ? null : endWords(watch.ended.reason, watchMaxDays, access.adminContact),
			names: directory,
			dashboardUrl,
		};
		const now = clock.now();
		const isOld = checkedAt !== null && now - checkedAt > OLD_READ_MS;
		const waitedMs = questionSince === null ? null : now - questionSince;
		return {
			// Without the times, which would make every card look new.
			key: keyOfLooks(watchCard(model)),
			message: watchCard({ ...model, checkedAt: isOld ? checkedAt : null, waitedMs, isUpdate }),
		};
	}

	return {
		/** The update of a posted card, built from what is stored, claims and answers included. Does not call Slack yet. */
		async prepareCard(card: DueCard, ts: string) {
			const { key, message } = await drawCard(card, true);
			return { key, send: () => messages.update(message, targetOf(card.watch), ts) };
		},

		/** The updates that a `settle` or `redraw` needs, built from what is stored now; none when the posts are current. */
		async updatesOf(due: DueAnnouncement) {
			const { id: changeId, target, sendingSince } = due.announcement;
			const posts = await store.watches.postedQuestions(changeId);
			const updates: { post: Announcement; key: string; send: () => Promise<SendOutcome> }[] = [];
			for (const post of posts) {
				const { postedTs: ts, shownKey } = post;
				const redrawn = ts === null ? null : await drawing.redraw(due, post, posts);
				if (ts === null || redrawn === null) continue;
				// Without `text`, in which the time that it waits would make every post look new.
				const key = 'kind' in redrawn ? '' : keyOfLooks(redrawn.blocks);
				// An attempt whose outcome is unknown may have shown something else since.
				if (key === shownKey && sendingSince === null) continue;
				const send = async () => ('kind' in redrawn ? redrawn : messages.update(redrawn, target, ts));
				updates.push({ post, key, send });
			}
			return updates;
		},

		/** The post as it looks now; null when that is not so any more. `maybeRepeat`: it says that it may be a repeat. */
		async preparePost(due: DueAnnouncement, maybeRepeat: boolean) {
			const { watch, view, announcement } = due;
			if (announcement.content.kind === 'card') {
				if (watch === null || view === null) return null;
				const card = { watch, view, checkedAt: view.seenAt, questionSince: null };
				const { key: cardKey, message } = await drawCard(card, false);
				return { cardKey, leftOut: [], send: await messages.prepare(due, message) };
			}
			const drawn = await drawing.draw(announcement.content, due, maybeRepeat);
			if (drawn === null) return null;
			if ('kind' in drawn) return { cardKey: null, leftOut: [], send: async () => drawn };
			const { message, isShownInChannel, leftOut = [] } = drawn;
			return { cardKey: null, leftOut, send: await messages.prepare(due, message, isShownInChannel) };
		},

		remove: messages.remove,
		find: messages.find,
	};
}

export type Announcer = ReturnType<typeof createAnnouncer>;

function keyOfLooks(content: object): string {
	return createHash('sha256').update(JSON.stringify(content)).digest('base64url').slice(0, 22);
}
