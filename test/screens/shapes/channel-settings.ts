import {
	FULL_SETTINGS as FULL,
	HOSTILE,
	listOf,
	MODEL,
	SETTINGS_MODEL,
	type Shape,
	shapesOf,
	USER_ID,
} from '../../../sandbox/gallery/shapes/samples.ts';
import { type ChannelSettings, DEFAULT_CHANNEL_SETTINGS } from '../../../src/domain/channel-settings.ts';
import {
	conflictWords,
	noSettingsWords,
	SETTINGS_LOADING,
	type SettingsModel,
	settingsChangedPost,
	settingsConfirmation,
	settingsForm,
	settingsNotice,
	settingsSaved,
} from '../../../src/screens/settings.ts';
import { settingsValuesOf } from '../../../src/screens/settings-fields.ts';

const { defaultMs } = SETTINGS_MODEL;

function groupsOf(length: number, text = 'On call'): SettingsModel['groups'] {
	const groups = listOf(length, (index) => {
		return { id: `S0EXAMPLE${index}`, name: `${index} ${text}`, handle: `on-call-${index}` };
	});
	return { kind: 'listed', groups };
}

/** Of a change, as far as it is the same for all. */
const CHANGE = { channelId: 'C0EXAMPLE1', defaultMs, names: MODEL.names, groups: groupsOf(2) };
function changeOf(before: ChannelSettings, after: ChannelSettings) {
	return { kind: 'settingsChanged', by: USER_ID, before, after } as const;
}

function modelOf(settings: ChannelSettings, overrides: Partial<SettingsModel> = {}): [SettingsModel] {
	const shown = settingsValuesOf(settings, { zone: 'Europe/Berlin' });
	const metadata = { ...SETTINGS_MODEL.metadata, base: shown, shown };
	return [{ ...SETTINGS_MODEL, metadata, groups: groupsOf(2), ...overrides }];
}

const PLACE = { channelId: 'C0EXAMPLE1', defaultMs };
const DIRECT_PLACE = { ...PLACE, channelId: 'D0EXAMPLE1' };
const HOSTILE_GROUP: SettingsModel['groups'] = {
	kind: 'listed',
	groups: [{ id: 'S0EXAMPLE0', name: HOSTILE, handle: HOSTILE }],
};
const NOT_LISTED: SettingsModel['groups'] = { kind: 'unknown', why: 'no_answer' };
const OF_GROUPS: ChannelSettings = { ...FULL, mention: { ...FULL.mention, userIds: [] } };

/** Other windows of a channel's settings, and words about changes, than the doctor's. */
export function channelSettingsVariants(): Shape[] {
	return [
		...shapesOf(settingsNotice, { loading: [SETTINGS_LOADING], 'not a member': [noSettingsWords('not_a_member', {})] }),
		...shapesOf(settingsForm, {
			'150 groups': modelOf(FULL, { groups: groupsOf(150) }),
			'nothing set': modelOf(DEFAULT_CHANNEL_SETTINGS, { change: null }),
			'everything set': modelOf(FULL),
			'both times off': modelOf({ ...DEFAULT_CHANNEL_SETTINGS, remindAfterMs: null, escalateAfterMs: null }),
			'no user groups': modelOf(DEFAULT_CHANNEL_SETTINGS, { groups: groupsOf(0) }),
			'groups that are gone': modelOf(FULL, { groups: groupsOf(0) }),
			'hostile groups': modelOf(FULL, { groups: groupsOf(100, HOSTILE) }),
			'without the scope for groups': modelOf(FULL, { groups: { kind: 'unknown', why: 'missing_scope' } }),
			'without an answer about groups': modelOf(FULL, { groups: NOT_LISTED, adminContact: HOSTILE }),
			'in a direct message': modelOf(FULL, {
				metadata: { ...modelOf(FULL)[0].metadata, channelId: 'D0EXAMPLE1' },
			}),
			'changed by somebody else meanwhile': modelOf(FULL, { notice: conflictWords(USER_ID) }),
		}),
		...shapesOf(settingsConfirmation, {
			'people and groups': [modelOf(FULL)[0].metadata, null],
			'a hostile contact': [modelOf(FULL)[0].metadata, HOSTILE],
		}),
		...shapesOf(settingsSaved, {
			'a change': ['saved', FULL, PLACE],
			'no change': ['same', FULL, PLACE],
			'the defaults': ['saved', DEFAULT_CHANNEL_SETTINGS, PLACE],
			'nobody is mentioned': ['saved', { ...FULL, escalateAfterMs: null }, PLACE],
			'in a direct message': ['saved', FULL, DIRECT_PLACE],
		}),
		...shapesOf(settingsChangedPost, {
			'in a direct message': [changeOf(DEFAULT_CHANNEL_SETTINGS, FULL), { ...CHANGE, ...DIRECT_PLACE }],
			'everything taken back': [changeOf(FULL, DEFAULT_CHANNEL_SETTINGS), CHANGE],
			'hostile groups': [changeOf(DEFAULT_CHANNEL_SETTINGS, OF_GROUPS), { ...CHANGE, groups: HOSTILE_GROUP }],
			'without an answer about groups': [changeOf(FULL, OF_GROUPS), { ...CHANGE, groups: NOT_LISTED }],
		}),
	];
}
