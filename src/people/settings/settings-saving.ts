import type { Answerers } from '../../domain/answerers.ts';
import { type ChannelSettings, changedParts, type Mention } from '../../domain/channel-settings.ts';
import { startDeadline, unlessAborted } from '../../kernel/clock.ts';
import {
	type MentionProblems,
	namingErrors,
	placeError,
	type readSettingsForm,
	SETTINGS_ERRORS,
	type SettingsErrors,
	type SettingsMetadata,
} from '../../screens/settings.ts';
import type { SettingsField } from '../../screens/settings-fields.ts';
import type { ChannelSettingsStore, StoredChannelSettings } from '../../sessions/channel-settings-store.ts';
import { isGoneGroup, slackCodeOf } from '../../slack/clients.ts';
import type { HandlerContext } from '../../slack/context.ts';
import type { AllowedRequest } from '../../slack/request.ts';
import { NO_GROUPS } from '../../slack/user-groups.ts';

/** Slack waits three seconds for an acknowledgement: until then Slack is asked, and the rest is for the store. */
const CHECK_UNTIL_MS = 1_900;
/** However long the access policy took. */
const MIN_CHECK_MS = 300;
const NOT_CHECKED = [{ ok: false, reason: 'could_not_check' }, true] as const;

/** Where somebody is to be mentioned, and by whom it is set. */
type MentionPlace = Pick<SettingsMetadata, 'channelId'> & Pick<AllowedRequest, 'person'>;

/** What somebody chose for a channel. */
type Chosen = Omit<ReturnType<typeof readSettingsForm>, 'errors' | 'values'> & Pick<SettingsMetadata, 'channelId'>;

/** Who may see and change the settings of a place, and whom they may mention; stores what they choose. */
export function createSettingsSaving(core: HandlerContext<{ readonly channelSettings: ChannelSettingsStore }>) {
	const { clock, directory, memberships, channels, mayAct, accessPolicy, userGroups } = core;
	const { channelSettings: store } = core.store;

	/** Null for a group that does not exist any more. */
	const membersOf = (groupId: string, signal: AbortSignal): Promise<ReadonlySet<string> | null> =>
		directory.userGroup(groupId, signal).catch((error: unknown) => {
			if (isGoneGroup(error)) return null;
			throw error;
		});

	/**
	 * The people who are not in the channel, and the groups without a member there. For most channels one page of their
	 * members is enough. In larger ones each person is looked up, which takes no longer for more members.
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
	 * Why people and groups cannot be named. People must be allowed to answer. `list`: for a mention, they must be in the
	 * channel, and named in that list if it names anybody. Resolves to null when Slack does not say who somebody is.
	 * @throws when Slack says nothing about groups or the channel, or the signal is aborted
	 */
	async function problemsOf(
		{ userIds, groupIds }: Mention,
		place: MentionPlace,
		signal: AbortSignal,
		list: Answerers | null = null,
	) {
		const check = async (userId: string) => {
			const refusal = await mayAct({ ...place.person, userId }, { channelId: place.channelId }, 'send');
			return refusal ?? (list === null || (await accessPolicy.mayChange(userId, list)) ? null : 'not_named');
		};
		const [people, groups] = await Promise.all([
			Promise.all(userIds.map(async (id) => ({ id, why: await check(id) }))),
			Promise.all(groupIds.map(async (id) => ({ id, members: await membersOf(id, signal) }))),
		]);
		if (people.some(({ why }) => why === 'could_not_check')) return null;
		const allowed = people.flatMap(({ id, why }) => (why === null ? id : []));
		const existing = new Map(groups.flatMap(({ id, members }) => (members === null ? [] : [[id, members]])));
		const absent = list === null ? new Set<string>() : await absentOf(allowed, existing, place, signal);
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
		const around = parts.includes('answerers') ? await store.rulesAround(channel) : [];
		const { groupIds } = await accessPolicy.withGroups(person.userId, around);
		const post = { target: { kind: 'channel', ...channel } as const, key: `settings:${revision + 1}`, content };
		const written = { settings: chosen, revision, person, post, now: clock.now(), groupIds };
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

		/**
		 * `refused`: why this cannot be saved, by field; empty when it can. `isNamed`: a changed list names whoever saves
		 * it, or nobody. `waitedMs`: how long Slack has waited.
		 */
		async check({ person, log }: AllowedRequest, asked: Chosen, waitedMs: number) {
			const { channelId, before, chosen, toCheck } = asked;
			const { mention, answerers: list } = toCheck;
			using deadline = startDeadline(clock, Math.max(MIN_CHECK_MS, CHECK_UNTIL_MS - waitedMs));
			const inTime = <Value>(checks: Promise<Value>) =>
				unlessAborted(checks, deadline.signal).catch((error: unknown) => {
					log.warn('channel_settings_not_checked', { code: slackCodeOf(error), err: error });
					return null;
				});
			const mayWatch = channels.mayWatch({ channelId, person });
			const place = { channelId, person };
			const isOfList = changedParts(before, chosen).includes('answerers');
			const groupCount = mention.groupIds.length + list.groupIds.length;
			const [ofPlace, ofMention, ofList, mayChange, isNamed, groups] = await Promise.all([
				inTime(Promise.all([mayWatch, memberships.isMemberNow(person.userId, channelId)])),
				inTime(problemsOf(mention, place, deadline.signal, chosen.answerers)),
				inTime(problemsOf(list, place, deadline.signal)),
				!isOfList || inTime(accessPolicy.mayChange(person.userId, before.answerers)),
				!isOfList || inTime(accessPolicy.mayChange(person.userId, chosen.answerers)),
				groupCount === 0 ? NO_GROUPS : inTime(userGroups.list()).then((listed) => listed ?? NO_GROUPS),
			]);
			function refusals(): SettingsErrors {
				const [verdict, isMember] = ofPlace ?? NOT_CHECKED;
				if (!isMember) return { remind: SETTINGS_ERRORS.notMember };
				if (!verdict.ok) {
					const { reason } = verdict;
					return { remind: reason === 'could_not_check' ? SETTINGS_ERRORS.notChecked : placeError(reason) };
				}
				if (mayChange === null || isNamed === null) return { answerers: SETTINGS_ERRORS.mentionNotChecked };
				if (!mayChange) return { answerers: SETTINGS_ERRORS.notNamed };
				if (ofMention === null) return notChecked(mention, 'people', 'groups');
				if (ofList === null) return notChecked(list, 'answerers', 'answererGroups');
				return {
					...namingErrors(ofMention, ['people', 'groups'], { names: directory, groups }),
					...namingErrors(ofList, ['answerers', 'answererGroups'], { names: directory, groups }),
				};
			}

			return { refused: refusals(), isNamed: isNamed === true };
		},

		write,

		/** Whether this list lets a person change it; yes when Slack does not tell, which *Save* asks again. */
		mayChange: ({ person }: AllowedRequest, { settings }: StoredChannelSettings): Promise<boolean> =>
			accessPolicy.mayChange(person.userId, settings.answerers).catch(() => true),
	};
}

const notChecked = ({ userIds }: Mention, people: SettingsField, groups: SettingsField): SettingsErrors => ({
	[userIds.length > 0 ? people : groups]: SETTINGS_ERRORS.mentionNotChecked,
});

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
