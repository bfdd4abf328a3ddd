import type { WebClient } from '@slack/web-api';
import type { AccessPolicy, Directory } from '../../answers/access-policy.ts';
import { type Clock, startDeadline } from '../../clock.ts';
import { mentionErrors, placeError, SETTINGS_ERRORS } from '../blocks/channel-settings.ts';
import type { Channels, Memberships } from '../channels.ts';
import { codeOf } from '../clients.ts';
import { unlessAborted } from '../directory.ts';
import { settingsBlockId } from '../ids.ts';
import type { SubmittedView } from '../request.ts';
import type { AllowedRequest } from '../task.ts';
import type { Names } from '../words.ts';
import type { SettingsMetadata, SettingsReading } from './form.ts';
import { createMentionChecks } from './mention-checks.ts';
import type { createUserGroups, UserGroups } from './user-groups.ts';

/** However long the access policy took. */
const MIN_CHECK_MS = 300;
const NOT_CHECKED = { ok: false, reason: 'could_not_check' } as const;
const NO_GROUPS: UserGroups = { kind: 'unknown', why: 'no_answer' };

interface Dependencies {
	readonly client: WebClient;
	readonly accessPolicy: AccessPolicy;
	readonly directory: Directory & Names;
	readonly memberships: Memberships;
	readonly channels: Channels;
	readonly userGroups: ReturnType<typeof createUserGroups>;
	readonly clock: Clock;
}

/** Asks Slack who may see and change the settings of a place, and whom they may mention. */
export function createSettingsRefusals(deps: Dependencies) {
	const { directory, memberships, channels, userGroups, clock } = deps;
	const mentionChecks = createMentionChecks(deps);

	return {
		/** Why the person may not see the settings of a place; null when they may. */
		async ofPlace(request: AllowedRequest, channelId: string) {
			const verdict = await channels.mayWatch({ ...request, channelId });
			if (!verdict.ok) return verdict.reason;
			return (await memberships.isMemberNow(request.person.userId, channelId)) ? null : 'not_a_member';
		},

		/** Why a form cannot be saved, by field; empty when it can. Words, which may be empty. */
		async ofForm(
			request: AllowedRequest,
			{ view, metadata: { channelId, revision } }: { view: SubmittedView; metadata: SettingsMetadata },
			{ mention: { userIds, groupIds } }: SettingsReading['chosen'],
			msLeft: number,
		): Promise<SettingsReading['errors']> {
			const { person, log } = request;
			const { signal, end } = startDeadline(clock, Math.max(MIN_CHECK_MS, msLeft));
			// Groups without a field cannot be changed, and may be those that Slack does not tell about.
			const mention = { userIds, groupIds: settingsBlockId('groups', revision) in view.labels ? groupIds : [] };
			const notChecked = (error: unknown) => {
				log.warn({ code: codeOf(error), err: error }, 'the settings of a channel could not be checked');
				return null;
			};
			const checks = Promise.all([
				channels.mayWatch({ ...request, channelId }),
				memberships.isMemberNow(person.userId, channelId),
			]);
			const checksOfMention = Promise.all([
				mentionChecks.problems(mention, { channelId, person }, signal),
				groupIds.length === 0 ? NO_GROUPS : userGroups.list(),
			]);
			try {
				const [ofPlace, ofMention] = await Promise.all([
					unlessAborted(checks, signal).catch(notChecked),
					unlessAborted(checksOfMention, signal).catch(notChecked),
				]);
				const [verdict, isMember] = ofPlace ?? [NOT_CHECKED, true];
				if (!isMember) return { remind: SETTINGS_ERRORS.notMember };
				if (!verdict.ok) {
					const { reason } = verdict;
					return { remind: reason === 'could_not_check' ? SETTINGS_ERRORS.notChecked : placeError(reason) };
				}
				if (ofMention === null)
					return { [userIds.length > 0 ? 'people' : 'groups']: SETTINGS_ERRORS.mentionNotChecked };
				const [problems, groups] = ofMention;
				return mentionErrors(problems, { names: directory, groups });
			} finally {
				end();
			}
		},
	};
}

export type SettingsRefusals = ReturnType<typeof createSettingsRefusals>;
