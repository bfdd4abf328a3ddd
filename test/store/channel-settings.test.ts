import { describe, expect, it } from 'vitest';
import { type ChannelSettings, changedParts, DEFAULT_CHANNEL_SETTINGS } from '../../src/domain/channel-settings.ts';

const SETTINGS: ChannelSettings = {
	...DEFAULT_CHANNEL_SETTINGS,
	remindAfterMs: 300_000,
	mention: { userIds: ['U1', 'U2'], groupIds: ['S1', 'S2'] },
	quietHours: { days: [6, 7], from: '18:00', to: '08:00', timeZone: 'Europe/Berlin' },
};

describe('settings', () => {
	it('are the same whatever the order of people, groups and days', () => {
		const other: ChannelSettings = {
			...SETTINGS,
			mention: { groupIds: ['S2', 'S1'], userIds: ['U2', 'U1'] },
			quietHours: { timeZone: 'Europe/Berlin', days: [7, 6], to: '08:00', from: '18:00' },
		};
		expect(changedParts(SETTINGS, other)).toEqual([]);
	});

	it.each<[keyof ChannelSettings, Partial<ChannelSettings>]>([
		['remindAfterMs', { remindAfterMs: null }],
		['escalateAfterMs', { escalateAfterMs: 7_200_000 }],
		['mention', { mention: { userIds: ['U1', 'U3'], groupIds: ['S1', 'S2'] } }],
		['quietHours', { quietHours: null }],
		['discreet', { discreet: true }],
	])('differ in %s', (part, change) => {
		expect(changedParts(SETTINGS, { ...SETTINGS, ...change })).toEqual([part]);
	});
});
