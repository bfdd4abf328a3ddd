import { DEFAULT_CHANNEL_SETTINGS } from '../../inbox/channel-settings.ts';
import type { ChannelSettings } from '../../watches/channel-settings.ts';
import {
	noSettingsWindow,
	type SettingsModel,
	settingsChangedPost,
	settingsForm,
	settingsLoadingModal,
	settingsNotice,
	settingsSaved,
} from '../blocks/channel-settings.ts';
import { valuesOf } from '../settings/metadata.ts';
import { MOST_GROUPS, MOST_PEOPLE } from '../settings/read.ts';
import type { UserGroup } from '../settings/user-groups.ts';
import { NOT_A_MEMBER } from '../words/channel-settings.ts';
import { GIANT, NAMES, NOW, type Shape, shapesOf, USER_ID } from './samples.ts';

const CHANNEL = 'C0EXAMPLE1';
export const DEFAULTS = { remindAfterMs: 15 * 60_000, escalateAfterMs: null };

/** As much as a form takes. */
export const FULL: ChannelSettings = {
	remindAfterMs: 90_000,
	escalateAfterMs: 86_400_000,
	mention: {
		userIds: Array.from({ length: MOST_PEOPLE }, (_, index) => `U0EXAMPLE${index}`),
		groupIds: Array.from({ length: MOST_GROUPS }, (_, index) => `S0EXAMPLE${index}`),
	},
	quietHours: {
		days: [1, 2, 3, 4, 5, 6, 7],
		from: '22:00',
		to: '08:00',
		timeZone: 'America/Argentina/ComodRivadavia',
	},
};

export function groupsOf(count: number, text = 'On call'): SettingsModel['groups'] {
	const groups = Array.from({ length: count }, (_, index): UserGroup => {
		return { id: `S0EXAMPLE${index}`, name: `${index} ${text}`, handle: `on-call-${index}` };
	});
	return { kind: 'listed', groups };
}

export function modelOf(settings: ChannelSettings, overrides: Partial<SettingsModel> = {}): [SettingsModel] {
	const shown = valuesOf(settings, { timeZone: 'Europe/Berlin' });
	const model: SettingsModel = {
		metadata: { channelId: CHANNEL, revision: 3, base: shown, shown },
		defaults: DEFAULTS,
		groups: groupsOf(2),
		change: { by: USER_ID, at: NOW },
		notice: '',
		names: NAMES,
		adminContact: USER_ID,
		...overrides,
	};
	return [model];
}

/** Of a change, as far as it is the same for all. */
export const PLACE = { channelId: 'C0EXAMPLE1', defaults: DEFAULTS };
export const CHANGE = { ...PLACE, names: NAMES, groups: groupsOf(2), maybeRepeat: false };
export function changeOf(before: ChannelSettings, after: ChannelSettings) {
	return { kind: 'settingsChanged', by: USER_ID, before, after } as const;
}

/** Every kind of window of a channel's settings, and what the channel hears of a change, at their extremes. */
export function channelSettingsShapes(): Shape[] {
	return [
		...shapesOf(settingsLoadingModal, { 'any channel': [] }),
		...shapesOf(noSettingsWindow, { 'any channel': [] }),
		...shapesOf(settingsNotice, { 'not a member': [NOT_A_MEMBER] }),
		...shapesOf(settingsForm, {
			'150 groups': modelOf(FULL, { groups: groupsOf(150) }),
			'giant groups': modelOf(FULL, { groups: groupsOf(100, GIANT) }),
		}),
		...shapesOf(settingsSaved, { 'a change': ['saved', FULL, PLACE] }),
		...shapesOf(settingsChangedPost, { 'everything set': [changeOf(DEFAULT_CHANNEL_SETTINGS, FULL), CHANGE] }),
	];
}
