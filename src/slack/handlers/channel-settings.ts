import type { Refusal } from '../../answers/access-policy.ts';
import { setBounded } from '../../bounded-map.ts';
import { type Clock, startDeadline, uptimeOf } from '../../clock.ts';
import { HandraiseError } from '../../errors.ts';
import type { ChannelSettingsStore, StoredChannelSettings } from '../../store/channel-settings-store.ts';
import {
	type ChannelSettings,
	changedParts,
	isSameSettings,
	type LadderTimes,
} from '../../watches/channel-settings.ts';
import {
	conflictWords,
	NO_SETTINGS,
	notSavedError,
	SETTINGS_ERRORS,
	SETTINGS_LOADING,
	SETTINGS_OUTDATED,
	settingsFailedWords,
	settingsForm,
	settingsNotice,
	settingsSaved,
} from '../blocks/channel-settings.ts';
import { noWindow } from '../blocks/commands.ts';
import { errorWords } from '../blocks/errors.ts';
import { codeOf } from '../clients.ts';
import { type TimeZones, unlessAborted } from '../directory.ts';
import { ACTIONS, CALLBACKS, settingsBlockId } from '../ids.ts';
import type { Submitted } from '../listen.ts';
import { TooFastError } from '../person-reads.ts';
import { logAccess, type SubmittedView } from '../request.ts';
import { createViewHandle, openView } from '../session/view-handle.ts';
import {
	decodeSettingsMetadata,
	emptiedList,
	readSettingsForm,
	type SettingsMetadata,
	type SettingsReading,
} from '../settings/form.ts';
import type { SettingsRefusals } from '../settings/refusals.ts';
import { type SettingsField, settingsOf, valuesOf } from '../settings/table.ts';
import type { createUserGroups, UserGroups } from '../settings/user-groups.ts';
import { type AllowedRequest, ifAllowed, inTurn, NOTHING_TO_DO, silently } from '../task.ts';
import type { Names } from '../words.ts';
import type { HandlerContext } from './context.ts';

/** Slack waits three seconds for an acknowledgement: until then Slack is asked, and the rest is for the store. */
const CHECK_UNTIL_MS = 1_900;
const STORE_WITHIN_MS = 500;
/** Most often the list is known from opening the window. */
const LIST_WITHIN_MS = 200;
/** Windows whose emptied lists are remembered. */
const MOST_WINDOWS = 1_000;
const OUTCOME_UNKNOWN = 'settings_outcome_unknown';
const NO_GROUPS: UserGroups = { kind: 'unknown', why: 'no_answer' };

interface Parts {
	readonly settings: ChannelSettingsStore;
	/** `REMIND_AFTER` and `ESCALATE_AFTER` */
	readonly defaults: LadderTimes;
	readonly refusals: SettingsRefusals;
	readonly directory: Names & TimeZones;
	readonly userGroups: ReturnType<typeof createUserGroups>;
	/** An announcement was stored, and reminders of the channel are due anew. */
	readonly onChanged: () => void;
}

/** Registers the window of a channel's settings; the returned `open` is for `/session settings`. */
export function registerChannelSettings(
	{ listen, client, personReads, reply, adminContact, clock }: HandlerContext,
	{ settings, defaults, refusals, directory, userGroups, onChanged }: Parts,
) {
	/** The form of what is stored, or words why there is none. */
	async function contentFor(request: AllowedRequest, channelId: string) {
		const { person } = request;
		const refusal = await refusals.ofPlace(request, channelId);
		if (refusal !== null) return { outcome: refusal, view: settingsNotice(NO_SETTINGS[refusal]) };
		const stored = await settings.read({ teamId: person.teamId, channelId });
		const shown = valuesOf(stored.settings, { zone: directory.timeZoneOf(person.userId) });
		const metadata = { channelId, revision: stored.revision, base: shown, shown };
		const groups = await userGroups.list();
		return { outcome: 'opened', view: formOf(metadata, stored, { notice: '', groups }) };
	}

	function formOf(
		metadata: SettingsMetadata,
		{ changedBy, changedAt }: StoredChannelSettings,
		{ notice, groups }: { notice: string; groups: UserGroups },
	) {
		const change = changedBy === null || changedAt === null ? null : { by: changedBy, at: changedAt };
		return settingsForm({ metadata, defaults, groups, change, notice, adminContact });
	}

	/** Resolves to the outcome for the log. */
	async function openWindow(request: AllowedRequest): Promise<string> {
		const { channelId } = request;
		const permit = await personReads.permit(request);
		if (permit instanceof TooFastError) {
			await reply.failed(request, permit);
			return permit.code;
		}
		const handle = await openView(client, request, { view: settingsNotice(SETTINGS_LOADING) });
		if (handle === null) {
			await reply.toPerson(request, noWindow('settings'));
			return 'no_window';
		}
		const { outcome, view } =
			channelId === null
				? { outcome: 'no_channel', view: settingsNotice(NO_SETTINGS.no_channel) }
				: await contentFor(request, channelId).catch((error: unknown) => {
						const code = codeOf(error);
						request.log.error({ code, err: error }, 'the settings of a channel could not be shown');
						return { outcome: code, view: settingsNotice(settingsFailedWords(code, adminContact)) };
					});
		await handle.update(view);
		return outcome;
	}

	/** By window: the lists that were emptied in it, before Slack shows the window with them empty. */
	const emptied = new Map<string, ReadonlySet<SettingsField>>();
	const keyOf = (view: SubmittedView, { revision }: SettingsMetadata) => `${view.id} ${revision}`;

	/** The metadata of a form; null for other views. */
	function metadataOf(view: SubmittedView): SettingsMetadata | null {
		const metadata = decodeSettingsMetadata(view.privateMetadata);
		if (metadata === null) return null;
		const lists = [...(emptied.get(keyOf(view, metadata)) ?? [])].map((list) => [list, []]);
		return { ...metadata, shown: { ...metadata.shown, ...Object.fromEntries(lists) } };
	}

	listen.action(ACTIONS.settingsField, (_, { view, blockId }) => {
		const before = decodeSettingsMetadata(view?.privateMetadata);
		const list = view === null || before === null ? null : emptiedList(view.values, blockId, before);
		if (view === null || before === null || list === null) return NOTHING_TO_DO;
		const { channelId } = before;
		const key = keyOf(view, before);
		// Noted before Slack tells who they are: *Save* may come meanwhile, and checks that itself.
		setBounded(emptied, key, new Set([...(emptied.get(key) ?? []), list]), MOST_WINDOWS);
		const show = async ({ person }: AllowedRequest) => {
			const stored = await settings.read({ teamId: person.teamId, channelId });
			const form = formOf(metadataOf(view) ?? before, stored, { notice: '', groups: await userGroups.list() });
			await createViewHandle(client, view, false).update(form);
		};
		// A refusal is told at *Save*.
		return inTurn(ifAllowed(channelId, show, silently));
	});

	/** `conflict`: somebody else saved other settings since `revision`, and nothing was written. */
	async function store(
		{ person, log }: AllowedRequest,
		{ channelId, revision }: SettingsMetadata,
		chosen: ChannelSettings,
	): Promise<{ readonly kind: 'saved' | 'same' | 'conflict'; readonly stored: StoredChannelSettings }> {
		const channel = { teamId: person.teamId, channelId };
		const stored = await settings.read(channel);
		const before = stored.settings;
		// Also when Slack delivers a submission twice.
		if (isSameSettings(before, chosen)) return { kind: stored.revision === revision ? 'same' : 'saved', stored };
		if (stored.revision !== revision) return { kind: 'conflict', stored };
		const isWritten = await settings.write(channel, {
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
		const newest = await settings.read(channel);
		return { kind: isSameSettings(newest.settings, chosen) ? 'saved' : 'conflict', stored: newest };
	}

	/** The form of what somebody else saved meanwhile. */
	async function conflictForm(
		{ channelId, base }: SettingsMetadata,
		chosen: ChannelSettings,
		stored: StoredChannelSettings,
	) {
		const { settings: newest, revision, changedBy } = stored;
		const shown = valuesOf(newest, base);
		const settings = { before: settingsOf(base), newest, chosen };
		const notice = conflictWords(changedBy, settings, defaults);
		const groups = await within(userGroups.list(), LIST_WITHIN_MS, { clock, late: () => NO_GROUPS });
		return formOf({ channelId, revision, base: shown, shown }, stored, { notice, groups });
	}

	async function save(
		request: AllowedRequest,
		view: SubmittedView,
		{ metadata, startedAt }: { metadata: SettingsMetadata; startedAt: number },
	): Promise<Submitted> {
		const { chosen, errors } = readSettingsForm(view.values, metadata, defaults);
		if (hasErrors(errors)) return refuse(view, metadata, errors);
		const permit = await personReads.permit(request);
		if (permit instanceof TooFastError) {
			const { plain } = errorWords(permit.code, reply.errorContext(permit, 'unchanged'));
			return refuse(view, metadata, { remind: plain });
		}
		const msLeft = startedAt + CHECK_UNTIL_MS - uptimeOf(clock);
		const refused = await refusals.ofForm(request, { view, metadata }, chosen, msLeft);
		if (hasErrors(refused)) return refuse(view, metadata, refused);
		const { kind, stored } = await within(store(request, metadata, chosen), STORE_WITHIN_MS, {
			clock,
			late: outcomeUnknown,
		});
		if (kind === 'conflict') {
			const form = await conflictForm(metadata, chosen, stored);
			return { ack: { response_action: 'update', view: form } };
		}
		return {
			ack: {
				response_action: 'update',
				view: settingsSaved(kind, chosen, { channelId: metadata.channelId, defaults }),
			},
			after: async () => onChanged(),
		};
	}

	listen.submission(CALLBACKS.settings, {
		async plan(_, view) {
			const startedAt = uptimeOf(clock);
			const metadata = metadataOf(view);
			const place = { channelId: metadata?.channelId ?? null };
			const refused = (refusal: Refusal) => {
				const { plain } = errorWords(refusal, { kept: 'unchanged', adminContact });
				return refuse(view, metadata, { remind: plain });
			};
			if (metadata !== null) {
				return { place, refused, run: (request) => save(request, view, { metadata, startedAt }) };
			}
			const outdated = settingsNotice(SETTINGS_OUTDATED);
			return { place, refused, run: async () => ({ ack: { response_action: 'update', view: outdated } }) };
		},
		failed(request, view, error) {
			const code = codeOf(error);
			request.log.error({ code, err: error }, 'the settings of a channel could not be saved');
			const words = code === OUTCOME_UNKNOWN ? SETTINGS_ERRORS.unknownOutcome : notSavedError(code, adminContact);
			return refuse(view, decodeSettingsMetadata(view.privateMetadata), { remind: words });
		},
	});

	return {
		/** Opens the settings of the request's channel in a window. */
		async open(request: AllowedRequest): Promise<void> {
			const outcome = await openWindow(request).catch((error: unknown) => {
				logAccess(request, 'settings', null, codeOf(error));
				throw error;
			});
			logAccess(request, 'settings', null, outcome);
		},
	};
}

export type ChannelSettingsCommand = ReturnType<typeof registerChannelSettings>;

function hasErrors(errors: SettingsReading['errors']): boolean {
	return Object.values(errors).some((words) => words !== '');
}

/** Errors at fields leave the form as it is. Those of a field that the view lacks stand at its first field. */
function refuse(view: SubmittedView, metadata: SettingsMetadata | null, errors: SettingsReading['errors']): Submitted {
	const fields = Object.keys(view.labels);
	const [first = ''] = fields;
	const placed: Record<string, string> = {};
	for (const [field, words] of Object.entries(errors) as [SettingsField, string][]) {
		if (words === '') continue;
		const id = settingsBlockId(field, metadata?.revision ?? 0);
		const place = fields.includes(id) ? id : first;
		placed[place] = [placed[place], words].filter(Boolean).join(' ');
	}
	return { ack: { response_action: 'errors', errors: placed } };
}

/** The result of `work`, or that of `late` after `ms`. */
async function within<Value>(
	work: Promise<Value>,
	ms: number,
	{ clock, late }: { clock: Clock; late: () => Value },
): Promise<Value> {
	const { signal, end } = startDeadline(clock, ms);
	try {
		return await unlessAborted(work, signal);
	} catch (error) {
		if (!signal.aborted) throw error;
		return late();
	} finally {
		end();
	}
}

/** The store may hang; what becomes of the write is not known then. */
function outcomeUnknown(): never {
	throw new HandraiseError('the store did not confirm settings in time', { code: OUTCOME_UNKNOWN, retryable: true });
}
