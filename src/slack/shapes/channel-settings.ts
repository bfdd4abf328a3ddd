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
import { conflictWords, NOT_A_MEMBER } from '../words/channel-settings.ts';
import { GIANT, HOSTILE, NAMES, NOW, type Shape, shapesOf, USER_ID } from './samples.ts';

const CHANNEL = 'C0EXAMPLE1';
const DEFAULTS = { remindAfterMs: 15 * 60_000, escalateAfterMs: null };

/** As much as a form takes. */
const FULL: ChannelSettings = {
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

function groupsOf(count: number, text = 'On call'): SettingsModel['groups'] {
	const groups = Array.from({ length: count }, (_, index): UserGroup => {
		return { id: `S0EXAMPLE${index}`, name: `${index} ${text}`, handle: `on-call-${index}` };
	});
	return { kind: 'listed', groups };
}

function modelOf(settings: ChannelSettings, overrides: Partial<SettingsModel> = {}): [SettingsModel] {
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

const CONFLICT = conflictWords(
	{ by: USER_ID, before: DEFAULT_CHANNEL_SETTINGS, after: FULL },
	{ names: NAMES, defaults: DEFAULTS },
);

/** Of a change, as far as it is the same for all. */
const PLACE = { channelId: 'C0EXAMPLE1', defaults: DEFAULTS };
const DIRECT_PLACE = { ...PLACE, channelId: 'D0EXAMPLE1' };
const CHANGE = { ...PLACE, names: NAMES, groups: groupsOf(2), maybeRepeat: false };
const HOSTILE_GROUP: SettingsModel['groups'] = {
	kind: 'listed',
	groups: [{ id: 'S0EXAMPLE0', name: HOSTILE, handle: HOSTILE }],
};
const NOT_LISTED: SettingsModel['groups'] = { kind: 'unknown', why: 'no_answer' };
const OF_GROUPS: ChannelSettings = { ...FULL, mention: { ...FULL.mention, userIds: [] } };

function changeOf(before: ChannelSettings, after: ChannelSettings) {
	return { kind: 'settingsChanged', by: USER_ID, before, after } as const;
}

/** Every kind of window of a channel's settings, and what the channel hears of a change. */
export function channelSettingsShapes(): Shape[] {
	return [
		...shapesOf(settingsLoadingModal, { 'any channel': [] }),
		...shapesOf(noSettingsWindow, { 'any channel': [] }),
		...shapesOf(settingsNotice, { 'not a member': [NOT_A_MEMBER] }),
		...shapesOf(settingsForm, {
			'nothing set': modelOf(DEFAULT_CHANNEL_SETTINGS, { change: null }),
			'everything set': modelOf(FULL),
			'both times off': modelOf({ ...DEFAULT_CHANNEL_SETTINGS, remindAfterMs: null, escalateAfterMs: null }),
			'no user groups': modelOf(DEFAULT_CHANNEL_SETTINGS, { groups: groupsOf(0) }),
			'groups that are gone': modelOf(FULL, { groups: groupsOf(0) }),
			'150 groups': modelOf(FULL, { groups: groupsOf(150) }),
			'hostile groups': modelOf(FULL, { groups: groupsOf(100, HOSTILE) }),
			'giant groups': modelOf(FULL, { groups: groupsOf(100, GIANT) }),
			'without the scope for groups': modelOf(FULL, { groups: { kind: 'unknown', why: 'missing_scope' } }),
			'without an answer about groups': modelOf(FULL, {
				groups: NOT_LISTED,
				adminContact: HOSTILE,
			}),
			'in a direct message': modelOf(FULL, {
				metadata: { ...modelOf(FULL)[0].metadata, channelId: 'D0EXAMPLE1' },
			}),
			'changed by somebody else meanwhile': modelOf(FULL, { notice: CONFLICT }),
		}),
		...shapesOf(settingsSaved, {
			'a change': ['saved', FULL, PLACE],
			'no change': ['same', FULL, PLACE],
			'the defaults': ['saved', DEFAULT_CHANNEL_SETTINGS, PLACE],
			'nobody is mentioned': ['saved', { ...FULL, escalateAfterMs: null }, PLACE],
			'in a direct message': ['saved', FULL, DIRECT_PLACE],
		}),
		...shapesOf(settingsChangedPost, {
			'everything set': [changeOf(DEFAULT_CHANNEL_SETTINGS, FULL), CHANGE],
			'in a direct message': [changeOf(DEFAULT_CHANNEL_SETTINGS, FULL), { ...CHANGE, ...DIRECT_PLACE }],
			'everything taken back': [changeOf(FULL, DEFAULT_CHANNEL_SETTINGS), { ...CHANGE, maybeRepeat: true }],
			'hostile groups': [changeOf(DEFAULT_CHANNEL_SETTINGS, OF_GROUPS), { ...CHANGE, groups: HOSTILE_GROUP }],
			'without an answer about groups': [changeOf(FULL, OF_GROUPS), { ...CHANGE, groups: NOT_LISTED }],
		}),
	];
}
