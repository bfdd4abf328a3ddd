import { COMMAND } from '../../kernel/command-name.ts';
import {
	conflictWords,
	decodeSettingsMetadata,
	emptiedList,
	metadataFor,
	noSettingsWords,
	notSavedError,
	readSettingsForm,
	SETTINGS_LOADING,
	SETTINGS_OUTDATED,
	SETTINGS_WAITING,
	type SettingsMetadata,
	settingsConfirmation,
	settingsForm,
	settingsNotice,
	settingsRefused,
	settingsSaved,
} from '../../screens/settings.ts';
import type { ChannelSettingsStore, StoredChannelSettings } from '../../sessions/channel-settings-store.ts';
import type { HandlerContext } from '../../slack/context.ts';
import { ACTIONS, CALLBACKS } from '../../slack/ids.ts';
import {
	type AllowedRequest,
	ifAllowed,
	NOTHING_TO_DO,
	type PersonRequest,
	SILENTLY,
	type Submitted,
	type SubmittedView,
	type Task,
	type Wait,
} from '../../slack/request.ts';
import { rich, type Words } from '../../slack/rich-text.ts';
import type { UserGroups } from '../../slack/user-groups.ts';
import { createSettingsSaving, whyNoSettings } from './settings-saving.ts';

/** Registers the settings window; returns `/session settings`. */
export function registerSettings(core: HandlerContext<{ channelSettings: ChannelSettingsStore }>) {
	const { listen, personReads, reply, userGroups, directory: names } = core;
	const saving = createSettingsSaving(core);
	const { REMIND_AFTER: defaultMs } = core.config;
	const { adminContact } = reply.errorContext();

	function formOf(
		metadata: SettingsMetadata,
		{ change }: StoredChannelSettings,
		groups: UserGroups,
		{ notice = '', mayChange = true }: { notice?: Words; mayChange?: boolean } = {},
	) {
		return settingsForm({ metadata, defaultMs, groups, change, notice, adminContact, mayChange });
	}

	/** The form of what is stored, as a person sees it. */
	async function formFor(request: AllowedRequest, metadata: SettingsMetadata, stored: StoredChannelSettings) {
		const [groups, mayChange] = await Promise.all([userGroups.list(), saving.mayChange(request, stored)]);
		return formOf(metadata, stored, groups, { mayChange });
	}

	/** The form of what is stored, or words why there is none. */
	async function contentFor(request: AllowedRequest) {
		const { channelId, person } = request;
		const refusal = await whyNoSettings(request, core);
		if (channelId === null || refusal !== null) {
			return settingsNotice(noSettingsWords(refusal ?? 'no_channel', { adminContact }));
		}
		const stored = await saving.read(request, channelId);
		const metadata = metadataFor(channelId, stored, { zone: names.timeZoneOf(person.userId) });
		return formFor(request, metadata, stored);
	}

	async function openWindow(request: AllowedRequest): Promise<void> {
		const handle = await reply.openWindow(request, 'settings', () => settingsNotice(SETTINGS_LOADING));
		if (handle === null) return;
		const view = await contentFor(request).catch((error: unknown) => {
			const { code, what } = reply.words(error);
			request.log.error('channel_settings_not_shown', { code, err: error });
			return settingsNotice(rich`⚠️ ${what} Type \`${COMMAND} settings\` again.`);
		});
		await handle.update(view);
	}

	listen.action(ACTIONS.settingsField, (_, { view, blockId }) => {
		const before = decodeSettingsMetadata(view?.privateMetadata);
		const list = view === null || before === null ? null : emptiedList(view, blockId, before);
		if (view === null || before === null || list === null) return NOTHING_TO_DO;
		const metadata = { ...before, shown: { ...before.shown, [list]: [] } };
		const show = async (request: AllowedRequest) => {
			const stored = await saving.read(request, before.channelId);
			await reply.handleOf(view).update(await formFor(request, metadata, stored));
		};
		// A refusal is told at *Save*.
		return ifAllowed(before.channelId, show, { ...SILENTLY, takesTurn: true });
	});

	async function save(
		request: AllowedRequest,
		view: SubmittedView,
		metadata: SettingsMetadata,
		{ waitedMs, inTime }: Wait,
	): Promise<Submitted> {
		const { channelId, revision, base } = metadata;
		const { before, values, chosen, toCheck, errors } = readSettingsForm(view, metadata, defaultMs);
		if (Object.keys(errors).length > 0) return settingsRefused(view, revision, errors);
		await personReads.permit(request);
		const { refused, isNamed } = await saving.check(request, { channelId, before, chosen, toCheck }, waitedMs());
		if (Object.keys(refused).length > 0) return settingsRefused(view, revision, refused);
		if (!isNamed && !metadata.confirms) {
			const asked = settingsConfirmation({ ...metadata, shown: values }, adminContact ?? null);
			return { ack: { response_action: 'push', view: asked } };
		}
		const written = await inTime(saving.write(request, metadata, { before, chosen }), 'settings_outcome_unknown');
		if (written.kind === 'conflict') {
			const { stored } = written;
			const notice = conflictWords(stored.change?.by ?? null);
			const groups = await inTime(userGroups.list(), 'slack_unavailable');
			const newest = formOf(metadataFor(channelId, stored, base), stored, groups, { notice });
			return { ack: { response_action: 'update', view: newest } };
		}
		const saved = settingsSaved(written.kind, chosen, { channelId, defaultMs });
		return { ack: { response_action: 'update', view: saved } };
	}

	listen.submission(CALLBACKS.settings, {
		async plan(_, view, wait) {
			const metadata = decodeSettingsMetadata(view.privateMetadata);
			const place = { channelId: metadata?.channelId ?? null };
			if (metadata !== null) return { place, run: (request) => save(request, view, metadata, wait) };
			const outdated = settingsNotice(SETTINGS_OUTDATED);
			return { place, run: async () => ({ ack: { response_action: 'update', view: outdated } }) };
		},
		failed(view, error) {
			const remind = notSavedError(reply.words(error, 'unchanged'));
			return settingsRefused(view, decodeSettingsMetadata(view.privateMetadata)?.revision ?? 0, { remind });
		},
	});

	return ({ channelId }: PersonRequest): Task =>
		ifAllowed(channelId, openWindow, { window: settingsNotice(SETTINGS_WAITING) });
}
