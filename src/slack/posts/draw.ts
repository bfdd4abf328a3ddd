import type { Core } from '../../core.ts';
import type { Announcement, DueAnnouncement, SendOutcome } from '../../watches/announcements.ts';
import type { AnnouncementContent, ContentOf, ReminderEntry } from '../../watches/kinds.ts';
import { newestQuestion } from '../../watches/news.ts';
import { asShownBy, type QuestionView, type SessionSnapshot } from '../../watches/session-snapshot.ts';
import { settingsChangedPost } from '../blocks/channel-settings.ts';
import { handOverPost, NOT_TOLD_ANY_MORE } from '../blocks/hand-over.ts';
import { type MessageContent, textMessage } from '../blocks/parts.ts';
import {
	type AskedContent,
	type PostContext,
	type PostedContent,
	settledQuestionPost,
	watchPost,
} from '../blocks/watch-posts.ts';
import type { UserGroups } from '../settings/mentions.ts';
import type { Drawn, QuestionFacts } from './facts.ts';
import type { createReminderDrawing } from './reminders.ts';

const NO_GROUPS: UserGroups = { kind: 'listed', groups: [] };
/** Slack does not tell now whether a person may see a question. */
const NOT_CHECKED = { kind: 'later', ms: null, code: 'could_not_check', limited: false } as const;

/** Draws posts, new and posted ones. */
export function createDrawing(
	{ directory, config, clock }: Core,
	facts: QuestionFacts,
	reminders: ReturnType<typeof createReminderDrawing>,
	userGroups: { list(): Promise<UserGroups> },
) {
	const { ladderTimes, showAnswers, quickAnswers, access } = config;

	async function contextOf(
		{ announcement, watch, view }: DueAnnouncement,
		{ maybeRepeat, isUpdate = false }: { maybeRepeat: boolean; isUpdate?: boolean },
	): Promise<PostContext> {
		const { content, target } = announcement;
		const sessionId = watch?.session.sessionId ?? ('sessionId' in content ? content.sessionId : '');
		const asked = 'readAt' in content ? content.question : null;
		const messageIndex = asked?.messageIndex ?? ('messageIndex' in content ? content.messageIndex : null);
		const isStored = sessionId !== '' && messageIndex !== null;
		const isAlone = watch?.mode === 'raisedHand' && content.kind === 'question';
		// A new post names nobody: it would notify them.
		const [standing, handOver, claimed, refused] = await Promise.all([
			isStored ? facts.standing(sessionId, messageIndex) : null,
			watch === null || asked === null ? null : facts.holderOf(watch, asked.fingerprint),
			isStored && isUpdate && isAlone ? facts.claimed(sessionId, messageIndex) : { claims: [], claimedUntil: null },
			isStored && isUpdate && asked !== null ? facts.refused(sessionId, asked) : null,
		]);
		return {
			sessionId,
			view,
			standing,
			refused,
			handOver,
			channelId: watch?.channelId ?? '',
			threadTs: watch?.card.ts ?? null,
			watchedBy: watch?.createdBy ?? '',
			reader: target.kind === 'person' ? target.userId : null,
			alone: isAlone ? claimed : null,
			offersOptions: quickAnswers && watch?.buttons === true,
			showsChoices: showAnswers !== 'never',
			discreet: watch?.discreet !== false,
			isUpdate,
			now: clock.now(),
			names: directory,
			adminContact: access.adminContact,
			maybeRepeat,
		};
	}

	/** The direct message about a hand-over, unless it is over by now or its person may not answer any more. */
	async function drawHandOver(
		content: ContentOf<'handedOver' | 'givenBack'>,
		due: DueAnnouncement,
		maybeRepeat: boolean,
	): Promise<Drawn> {
		const { target } = due.announcement;
		const shown = await facts.withWatch(due, content.watchId);
		const question = shown.view?.question ?? null;
		const { fingerprint } = content.question;
		if (shown.watch === null || shown.watch.ended !== null) return null;
		if (question?.fingerprint !== fingerprint || question.openCount === 0) return null;
		const newest = await facts.handOverOf(shown.watch, fingerprint);
		const isHeld = newest?.givenBackAt === null;
		if (target.kind !== 'person' || newest?.id !== target.topic) return null;
		if (isHeld !== (content.kind === 'handedOver')) return null;
		const refusal = await facts.refusal(target, shown.watch.channelId);
		if (refusal === 'could_not_check') return NOT_CHECKED;
		// A question that is handed over goes back to whoever handed it over, who hears that.
		if (refusal !== null) return isHeld ? { kind: 'refused', code: refusal } : null;
		return { message: questionPost(content, await contextOf(shown, { maybeRepeat })) };
	}

	async function drawSettingsChanged(
		content: ContentOf<'settingsChanged'>,
		{ announcement: { target } }: DueAnnouncement,
		maybeRepeat: boolean,
	): Promise<Drawn> {
		const mentions = [content.before.mention, content.after.mention];
		const people = new Set([content.by, ...mentions.flatMap(({ userIds }) => userIds)]);
		await Promise.all(Array.from(people, directory.learnName));
		const namesGroups = mentions.some(({ groupIds }) => groupIds.length > 0);
		const groups = namesGroups ? await userGroups.list() : NO_GROUPS;
		if (target.kind === 'person') return null;
		const known = { names: directory, groups, channelId: target.channelId, defaults: ladderTimes, maybeRepeat };
		return { message: settingsChangedPost(content, known) };
	}

	/** A new post; may ask Slack for names and links. */
	async function draw(content: AnnouncementContent, due: DueAnnouncement, maybeRepeat: boolean): Promise<Drawn> {
		const plain = async (shown: PostedContent) => ({
			message: watchPost(shown, await contextOf(due, { maybeRepeat })),
			isShownInChannel: shown.kind === 'question' && due.watch?.questionsInChannel === true,
		});
		switch (content.kind) {
			case 'card':
			case 'settle':
			case 'redraw':
				return null;
			case 'answered': {
				// By today's settings: a post that waited for Slack or for the next start may be older than them.
				const mode = due.watch?.discreet === false ? showAnswers : 'never';
				return plain({ ...content, question: content.question && asShownBy(mode, content.question) });
			}
			case 'discoveryBegun':
			case 'discoveryEnded':
				await directory.learnName(content.by);
				return plain(content);
			case 'reminder':
			case 'escalation':
			case 'digest':
				return reminders.draw(content, due, maybeRepeat);
			case 'handedOver':
			case 'givenBack':
				return drawHandOver(content, due, maybeRepeat);
			case 'settingsChanged':
				return drawSettingsChanged(content, due, maybeRepeat);
			default:
				return plain(content);
		}
	}

	return {
		draw,

		/** What a `settle` or `redraw` shows in a post; null: nothing; an outcome: that is not known now. */
		async redraw(
			due: DueAnnouncement,
			post: Announcement,
			posts: readonly Announcement[],
		): Promise<MessageContent | SendOutcome | null> {
			const { content: change, target } = due.announcement;
			const reminder = post.content.kind === 'reminder' || post.content.kind === 'escalation' ? post.content : null;
			const asked = reminder === null ? post.content : questionOf(reminder.entries[0], posts);
			if (asked === null || !('readAt' in asked)) return null;
			const shown = asked.kind === 'question' ? due : await facts.withWatch(due, asked.watchId);
			const refusal = target.kind === 'person' ? await facts.refusal(target, shown.watch?.channelId ?? null) : null;
			if (refusal === 'could_not_check') return NOT_CHECKED;
			if (refusal !== null) return textMessage(NOT_TOLD_ANY_MORE);
			const shownBy = asked.kind === 'question' && asked.switching === true ? newestQuestion : questionNow;
			const content = { ...asked, question: shownBy(asked.question, change, shown.view) };
			const now = { ...shown, announcement: { ...post, content } };
			const context = await contextOf(now, { maybeRepeat: false, isUpdate: true });
			const how = change.kind === 'settle' ? change.how : null;
			if (reminder !== null) {
				const threadOnly = shown.watch?.questionsInChannel === false;
				return reminders.redraw(reminder.entries[0], { content, how, threadOnly }, context);
			}
			return how === null ? questionPost(content, context) : settledQuestionPost(content, how, context);
		},
	};
}

function questionPost(
	content: ContentOf<'question' | 'handedOver' | 'givenBack'>,
	context: PostContext,
): MessageContent {
	return content.kind === 'question' ? watchPost(content, context) : handOverPost(content, context);
}

/** The question of a reminder, as its newest post announced it; null when that is not among `posts`. */
function questionOf({ fingerprint }: ReminderEntry, posts: readonly Announcement[]): AskedContent | null {
	const asked = posts.flatMap(({ content }) => (content.kind === 'question' ? [content] : []));
	return asked.findLast(({ question }) => question.fingerprint === fingerprint) ?? null;
}

/** The question whose posts are updated, as it was last read while it is open. Its index may have changed. */
function questionNow(asked: QuestionView, change: AnnouncementContent, view: SessionSnapshot | null): QuestionView {
	if (change.kind === 'settle') return { ...asked, messageIndex: change.messageIndex };
	const newest = view?.question ?? null;
	if (newest?.fingerprint !== asked.fingerprint) return asked;
	return newest.openCount > 0 ? newest : { ...asked, messageIndex: newest.messageIndex };
}
