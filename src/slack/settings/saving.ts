import type { AccessPolicy } from '../../answers/access-policy.ts';
import { startDeadline } from '../../clock.ts';
import type { Core } from '../../core.ts';
import type { StoredChannelSettings } from '../../store/channel-settings-store.ts';
import { type ChannelSettings, changedParts, isSameSettings } from '../../watches/channel-settings.ts';
import { mentionErrors, placeError, SETTINGS_ERRORS } from '../blocks/channel-settings.ts';
import type { Channels, Memberships } from '../channels.ts';
import { codeOf } from '../clients.ts';
import { unlessAborted } from '../directory.ts';
import { settingsBlockId } from '../ids.ts';
import type { SubmittedView } from '../request.ts';
import type { AllowedRequest } from '../task.ts';
import type { SettingsErrors, SettingsMetadata } from './form.ts';
import { createMentionChecks, type createUserGroups, NO_GROUPS } from './mentions.ts';

/** Slack waits three seconds for an acknowledgement: until then Slack is asked, and the rest is for the store. */
const CHECK_UNTIL_MS = 1_900;
/** However long the access policy took. */
const MIN_CHECK_MS = 300;
const NOT_CHECKED = [{ ok: false, reason: 'could_not_check' }, true] as const;

/** Who may see and change the settings of a place, and whom they may mention; stores what they choose. */
export function createSettingsSaving(
	core: Core,
	accessPolicy: AccessPolicy,
	special: { memberships: Memberships; channels: Channels; userGroups: ReturnType<typeof createUserGroups> },
	onChanged: () => void,
) {
	const { clock, directory } = core;
	const { memberships, channels, userGroups } = special;
	const { channelSettings: store } = core.store;
	const problemsOf = createMentionChecks(core.clients.people, accessPolicy, { directory, memberships });

	async function checkForm(
		request: AllowedRequest,
		{ view, metadata: { channelId, revision } }: { view: SubmittedView; metadata: SettingsMetadata },
		{ mention: { userIds, groupIds } }: ChannelSettings,
		signal: AbortSignal,
	): Promise<SettingsErrors> {
		const { person, log } = request;
		// Groups without a field cannot be changed, and may be those that Slack does not tell about.
		const mention = { userIds, groupIds: settingsBlockId('groups', revision) in view.labels ? groupIds : [] };
		const inTime = <Value>(checks: Promise<Value>) =>
			unlessAborted(checks, signal).catch((error: unknown) => {
				log.warn({ code: codeOf(error), err: error }, 'the settings of a channel could not be checked');
				return null;
			});
		const mayWatch = channels.mayWatch({ ...request, channelId });
		const problems = problemsOf(mention, { channelId, person }, signal);
		const [ofPlace, ofMention] = await Promise.all([
			inTime(Promise.all([mayWatch, memberships.isMemberNow(person.userId, channelId)])),
			inTime(Promise.all([problems, groupIds.length === 0 ? NO_GROUPS : userGroups.list()])),
		]);
		const [verdict, isMember] = ofPlace ?? NOT_CHECKED;
		if (!isMember) return { remind: SETTINGS_ERRORS.notMember };
		if (!verdict.ok) {
			const { reason } = verdict;
			return { remind: reason === 'could_not_check' ? SETTINGS_ERRORS.notChecked : placeError(reason) };
		}
		if (ofMention === null) return { [userIds.length > 0 ? 'people' : 'groups']: SETTINGS_ERRORS.mentionNotChecked };
		const [found, groups] = ofMention;
		return mentionErrors(found, { names: directory, groups });
	}

	/** `conflict`: somebody else saved other settings since `revision`, and nothing was written. */
	async function write(
		{ person, log }: AllowedRequest,
		{ channelId, revision }: SettingsMetadata,
		chosen: ChannelSettings,
	): Promise<{ readonly kind: 'saved' | 'same' | 'conflict'; readonly stored: StoredChannelSettings }> {
		const channel = { teamId: person.teamId, channelId };
		const stored = await store.read(channel);
		const before = stored.settings;
		// Also when Slack delivers a submission twice.
		if (isSameSettings(before, chosen)) return { kind: stored.revision === revision ? 'same' : 'saved', stored };
		if (stored.revision !== revision) return { kind: 'conflict', stored };
		const isWritten = await store.write(channel, {
			settings: chosen,
			revision,
			person,
			announcement: {
				target: { kind: 'channel', ...channel },
				key: `settings:${revision + 1}`,
				content: { kind: 'settingsChanged', by: person.userId, before, after: chosen },
			},
			now: clock.now(),
		});
		if (isWritten) {
			const changed = Object.fromEntries(
				changedParts(before, chosen).map((part) => [part, { from: before[part], to: chosen[part] }]),
			);
			log.info({ channel: channelId, revision: revision + 1, changed }, 'the settings of a channel were changed');
			return { kind: 'saved', stored };
		}
		const newest = await store.read(channel);
		return { kind: isSameSettings(newest.settings, chosen) ? 'saved' : 'conflict', stored: newest };
	}

	return {
		/** Why the person may not see the settings of a place; null when they may. */
		async refusalOf(request: AllowedRequest, channelId: string) {
			const verdict = await channels.mayWatch({ ...request, channelId });
			if (!verdict.ok) return verdict.reason;
			return (await memberships.isMemberNow(request.person.userId, channelId)) ? null : 'not_a_member';
		},

		read: ({ person: { teamId } }: AllowedRequest, channelId: string) => store.read({ teamId, channelId }),

		/** Why a form cannot be saved, by field; empty when it can. `waitedMs`: how long Slack has waited. */
		async refusalsOf(
			request: AllowedRequest,
			form: { view: SubmittedView; metadata: SettingsMetadata },
			chosen: ChannelSettings,
			waitedMs: number,
		): Promise<SettingsErrors> {
			const { signal, end } = startDeadline(clock, Math.max(MIN_CHECK_MS, CHECK_UNTIL_MS - waitedMs));
			return checkForm(request, form, chosen, signal).finally(end);
		},

		/** Call it after a form is acknowledged that was saved: an announcement is stored, and reminders are due anew. */
		wake: onChanged,

		write,
	};
}

export type SettingsSaving = ReturnType<typeof createSettingsSaving>;
