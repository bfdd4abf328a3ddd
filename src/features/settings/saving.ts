import type { WebClient } from '@slack/web-api';
import { type Clock, createCache, type Log, startDeadline, unlessAborted, within } from '../../core/basics.ts';
import type { Core } from '../../core.ts';
import { type ChannelSettings, changedParts, type LadderTimes, type Mention, timesIn } from '../../database/watch.ts';
import { type Drawing, lookOf } from '../../posts/post.ts';
import { codeOf, slackErrorCode, slackFailure } from '../../slack/clients.ts';
import type { HandlerContext } from '../../slack/context.ts';
import type { AllowedRequest } from '../../slack/request.ts';
import type { ChannelSettingsStore } from '../watch/channel-store.ts';
import { MOST_PEOPLE, type UserGroups } from './fields.ts';
import {
	type MentionProblems,
	mentionErrors,
	placeError,
	SETTINGS_ERRORS,
	type SettingsMetadata,
	settingsChangedPost,
} from './view.ts';

/** Slack waits three seconds for an acknowledgement: until then Slack is asked, and the rest is for the store. */
const CHECK_UNTIL_MS = 1_900;
/** However long the access policy took. */
const MIN_CHECK_MS = 300;
const NOT_CHECKED = [{ ok: false, reason: 'could_not_check' }, true] as const;

const NO_GROUPS: UserGroups = { kind: 'unknown', why: 'no_answer' };

/** Where somebody is to be mentioned, and by whom it is set. */
type MentionPlace = Pick<SettingsMetadata, 'channelId'> & Pick<AllowedRequest, 'person'>;

/** Who may see and change the settings of a place, and whom they may mention; stores what they choose. */
export function createSettingsSaving(
	{ clock, config, directory, store: { channelSettings: store } }: Core<{ channelSettings: ChannelSettingsStore }>,
	{ memberships, channels, mayAct }: Pick<HandlerContext, 'memberships' | 'channels' | 'mayAct'>,
	userGroups: UserGroupList,
) {
	/** Null for a group that does not exist any more. */
	async function membersOf(groupId: string, signal: AbortSignal): Promise<ReadonlySet<string> | null> {
		try {
			return await directory.userGroup(groupId, signal);
		} catch (error) {
			if (['no_such_subteam', 'subteam_not_found'].includes(slackErrorCode(error) ?? '')) return null;
			throw error;
		}
	}

	/**
	 * Those of these people and groups whom nobody in the channel is. In most channels one list of its members answers
	 * for all. Of larger ones, people further on are looked up one by one: that takes as long however large it is.
	 */
	async function absentOf(
		people: readonly string[],
		groups: ReadonlyMap<string, ReadonlySet<string>>,
		place: MentionPlace,
		signal: AbortSignal,
	): Promise<ReadonlySet<string>> {
		const absent = new Set([...people, ...groups.keys()]);
		if (absent.size === 0) return absent;
		let isFirst = true;
		for await (const page of memberships.pagesOf(place.channelId, place.person.userId)) {
			signal.throwIfAborted();
			for (const userId of page) absent.delete(userId);
			for (const [id, members] of groups) if (page.some((userId) => members.has(userId))) absent.delete(id);
			const others = people.filter((userId) => isFirst && absent.has(userId) && !place.channelId.startsWith('D'));
			isFirst = false;
			const isHere = (userId: string) => memberships.isMemberNow(userId, place.channelId);
			await Promise.all(others.map(async (userId) => (await isHere(userId)) && absent.delete(userId)));
			if (![...groups.keys()].some((id) => absent.has(id))) break;
		}
		return absent;
	}

	/**
	 * Whoever is mentioned must see the question in its channel, and people must be allowed to answer it. Null when Slack
	 * does not tell who somebody is. Throws when it tells nothing about groups or the channel, or the signal is aborted.
	 */
	async function problemsOf({ userIds, groupIds }: Mention, place: MentionPlace, signal: AbortSignal) {
		const check = (userId: string) => mayAct({ ...place.person, userId }, place.channelId, 'send');
		const [people, groups] = await Promise.all([
			Promise.all(userIds.map(async (id) => ({ id, why: await check(id) }))),
			Promise.all(groupIds.map(async (id) => ({ id, members: await membersOf(id, signal) }))),
		]);
		if (people.some(({ why }) => why === 'could_not_check')) return null;
		const allowed = people.flatMap(({ id, why }) => (why === null ? id : []));
		const existing = new Map(groups.flatMap(({ id, members }) => (members === null ? [] : [[id, members]])));
		const absent = await absentOf(allowed, existing, place, signal);
		return {
			people: people.flatMap(({ id, why }): MentionProblems['people'] => {
				if (why === null) return absent.has(id) ? [{ id, why: 'not_here' }] : [];
				return why === 'could_not_check' ? [] : [{ id, why }];
			}),
			groups: groups.flatMap(({ id, members }): MentionProblems['groups'] => {
				if (members === null) return [{ id, why: 'gone' }];
				return absent.has(id) ? [{ id, why: 'nobody_here' }] : [];
			}),
		};
	}

	/** `before`: the settings at `revision`. `conflict`: somebody else saved other ones; nothing was written. */
	async function write(
		{ person, log }: AllowedRequest,
		{ channelId, revision }: Pick<SettingsMetadata, 'channelId' | 'revision'>,
		{ before, chosen }: Readonly<Record<'before' | 'chosen', ChannelSettings>>,
	) {
		const channel = { teamId: person.teamId, channelId };
		const parts = changedParts(before, chosen);
		const content = { kind: 'settingsChanged', by: person.userId, before, after: chosen } as const;
		const post = { target: { kind: 'channel', ...channel } as const, key: `settings:${revision + 1}`, content };
		const written = { settings: chosen, revision, person, post, now: clock.now() };
		if (parts.length > 0 && (await store.write(channel, written))) {
			const changed = Object.fromEntries(parts.map((part) => [part, { from: before[part], to: chosen[part] }]));
			log.info({ channel: channelId, revision: revision + 1, changed }, 'the settings of a channel were changed');
			return { kind: 'saved' } as const;
		}
		const stored = await store.read(channel);
		if (changedParts(stored.settings, chosen).length > 0) return { kind: 'conflict', stored } as const;
		// At another revision when Slack delivers a submission twice.
		return { kind: stored.revision === revision ? 'same' : 'saved' } as const;
	}

	return {
		read: ({ person: { teamId } }: AllowedRequest, channelId: string) => store.read({ teamId, channelId }),

		/** Why these mentions cannot be saved, by field; empty when they can. `waitedMs`: how long Slack has waited. */
		async refusalsOf({ person, log }: AllowedRequest, channelId: string, mention: Mention, waitedMs: number) {
			using deadline = startDeadline(clock, Math.max(MIN_CHECK_MS, CHECK_UNTIL_MS - waitedMs));
			const inTime = <Value>(checks: Promise<Value>) =>
				unlessAborted(checks, deadline.signal).catch((error: unknown) => {
					log.warn('channel_settings_not_checked', { code: codeOf(error), err: error });
					return null;
				});
			const mayWatch = channels.mayWatch({ channelId, person });
			const problems = problemsOf(mention, { channelId, person }, deadline.signal);
			const [ofPlace, ofMention] = await Promise.all([
				inTime(Promise.all([mayWatch, memberships.isMemberNow(person.userId, channelId)])),
				inTime(Promise.all([problems, mention.groupIds.length === 0 ? NO_GROUPS : userGroups.list()])),
			]);
			const [verdict, isMember] = ofPlace ?? NOT_CHECKED;
			if (!isMember) return { remind: SETTINGS_ERRORS.notMember };
			if (!verdict.ok) {
				const { reason } = verdict;
				return { remind: reason === 'could_not_check' ? SETTINGS_ERRORS.notChecked : placeError(reason) };
			}
			const [found, groups] = ofMention ?? [null, NO_GROUPS];
			if (found !== null) return mentionErrors(found, { names: directory, groups });
			return { [mention.userIds.length > 0 ? 'people' : 'groups']: SETTINGS_ERRORS.mentionNotChecked };
		},

		write,

		/** Has an escalation, which is turned on, mention the person too. Resolves to when it comes; null: no room. */
		async mention(request: AllowedRequest, channelId: string): Promise<number | null> {
			for (;;) {
				const { person } = request;
				const { settings: before, revision } = await store.read({ ...person, channelId });
				const chosen = withMention(before, person.userId, config.ladderTimes);
				if (chosen.mention.userIds.length > MOST_PEOPLE) return null;
				const { kind } = await write(request, { channelId, revision }, { before, chosen });
				// Else somebody saved meanwhile.
				if (kind !== 'conflict') return timesIn(chosen, config.ladderTimes).escalateAfterMs;
			}
		},
	};
}

/** An escalation that somebody turns on by asking for a mention comes after this, but after the reminder. */
const ESCALATE_AFTER_MS = 30 * 60_000;

function withMention(settings: ChannelSettings, userId: string, defaults: LadderTimes): ChannelSettings {
	const { remindAfterMs, escalateAfterMs } = timesIn(settings, defaults);
	const { userIds, groupIds } = settings.mention;
	const mention = { userIds: [...new Set([...userIds, userId])], groupIds };
	if (escalateAfterMs !== null) return { ...settings, mention };
	const isLate = remindAfterMs !== null && remindAfterMs >= ESCALATE_AFTER_MS;
	return { ...settings, mention, escalateAfterMs: isLate ? 2 * remindAfterMs : ESCALATE_AFTER_MS };
}

/** Why a person may not see the settings of their place; null when they may. Throws when Slack does not tell. */
export async function whyNoSettings(
	{ channelId, person }: Pick<AllowedRequest, 'channelId' | 'person'>,
	{ channels, memberships }: Pick<HandlerContext, 'channels' | 'memberships'>,
) {
	const verdict = await channels.mayWatch({ channelId, person });
	if (!verdict.ok) return verdict.reason;
	const isMember = channelId !== null && (await memberships.isMemberNow(person.userId, channelId));
	return isMember ? null : 'not_a_member';
}

/** Slack allows 20 lists a minute for all people together. */
const MAX_AGE_MS = 60_000;

/** Lists user groups; the scope for it is optional. Keeps the list for a minute, but no failure. */
export function createUserGroups({ client, clock, log }: { client: WebClient; clock: Clock; log: Log }) {
	const lists = createCache(clock, async (): Promise<UserGroups> => {
		const { usergroups = [] } = await client.usergroups.list();
		const groups = usergroups
			.flatMap(({ id, name, handle = '' }) => (id === undefined ? [] : [{ id, name: name ?? handle, handle }]))
			.toSorted((one, other) => one.name.localeCompare(other.name));
		return { kind: 'listed', groups };
	});

	/** Does not throw. */
	const list = (): Promise<UserGroups> =>
		lists.get('', MAX_AGE_MS).catch((error: unknown) => {
			log.info({ code: slackFailure(error).code }, 'user groups could not be listed');
			return { kind: 'unknown', why: slackErrorCode(error) === 'missing_scope' ? 'missing_scope' : 'no_answer' };
		});

	return {
		list,
		/** For an acknowledgement that waits. */
		listWithin: (ms: number) => within(clock, list(), ms, () => NO_GROUPS),
	};
}

export type UserGroupList = ReturnType<typeof createUserGroups>;

/** Draws what a channel is told when somebody changed its settings. */
export function createSettingsDrawing(
	{ directory: names, config: { ladderTimes: defaults } }: Core,
	userGroups: Pick<UserGroupList, 'list'>,
) {
	return {
		async settingsChanged(content, { post: { target } }) {
			const mentions = [content.before.mention, content.after.mention];
			const people = new Set([content.by, ...mentions.flatMap(({ userIds }) => userIds)]);
			await Promise.all(Array.from(people, names.learnName));
			const namesGroups = mentions.some(({ groupIds }) => groupIds.length > 0);
			const groups: UserGroups = namesGroups ? await userGroups.list() : { kind: 'listed', groups: [] };
			if (target.kind === 'person') return null;
			const asked = changedParts(withMention(content.before, content.by, defaults), content.after).length === 0;
			return lookOf(settingsChangedPost(content, { names, groups, channelId: target.channelId, defaults, asked }));
		},
	} satisfies Drawing<'settingsChanged'>;
}
