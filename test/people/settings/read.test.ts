import { describe, expect, it } from 'vitest';
import { type ChannelSettings, DEFAULT_CHANNEL_SETTINGS } from '../../../src/domain/channel-settings.ts';
import {
	decodeSettingsMetadata,
	emptiedList,
	encodeSettingsMetadata,
	readSettingsForm,
	type SettingsMetadata,
} from '../../../src/screens/settings.ts';
import { LINES, NOT_SAVED, type SettingsField, settingsValuesOf } from '../../../src/screens/settings-fields.ts';
import { ACTIONS, settingsBlockId } from '../../../src/slack/ids.ts';
import { readView } from '../../../src/slack/request.ts';

const DEFAULT_MS = 900_000;
const STORED: ChannelSettings = {
	remindAfterMs: 90_000,
	escalateAfterMs: 7_200_000,
	mention: { userIds: ['U1', 'U2'], groupIds: ['S1'] },
	quietHours: { days: [6, 7], from: '18:00', to: '08:00', timeZone: 'Europe/Berlin' },
	answerers: { userIds: [], groupIds: [] },
	progress: true,
	questionsInThread: false,
	discreet: true,
	buttons: false,
};

function metadataOf(settings = STORED): SettingsMetadata {
	const shown = settingsValuesOf(settings, { zone: 'Asia/Tokyo' });
	return { channelId: 'C1', revision: 4, base: shown, shown, confirms: false };
}

const stateOf = (fields: Partial<Record<SettingsField, unknown>>) =>
	Object.fromEntries(
		Object.entries(fields).map(([field, element]) => [
			settingsBlockId(field as SettingsField, 4),
			{ [ACTIONS.settingsField]: element },
		]),
	);
const read = (values: unknown, metadata = metadataOf()) =>
	readSettingsForm(readView({ id: 'V1', state: { values } }), metadata, DEFAULT_MS);

describe('readSettingsForm', () => {
	it.each([
		['nothing', {}],
		['no object', 'state'],
		[
			'untouched fields as Slack sends them after an update',
			stateOf({
				people: { selected_users: [] },
				groups: { selected_options: [] },
				days: { selected_options: [] },
				zone: { type: 'plain_text_input', value: null },
			}),
		],
		[
			'values that no field offers',
			stateOf({
				remind: { selected_option: { value: '-5' } },
				escalate: { selected_option: { value: '1e3' } },
				days: { selected_options: [{ value: '9' }, { value: 'Mon' }] },
				to: { selected_time: 8 },
			}),
		],
		[
			'fields of another revision',
			{ 'c.remind.3': { [ACTIONS.settingsField]: { selected_option: { value: 'off' } } } },
		],
	])('reads %s as what was shown', (_, state) => {
		expect(read(state)).toMatchObject({ chosen: STORED, errors: {} });
	});

	it('takes the offered time zone when somebody chooses the first day', () => {
		const { chosen } = read(
			stateOf({ days: { selected_options: [{ value: '1' }] } }),
			metadataOf(DEFAULT_CHANNEL_SETTINGS),
		);
		expect(chosen.quietHours).toEqual({ days: [1], from: '20:00', to: '08:00', timeZone: 'Asia/Tokyo' });
	});

	it.each<[string, Partial<Record<SettingsField, unknown>>]>([
		['a beginning', { from: { selected_time: '22:00' } }],
		['an end', { to: { selected_time: '09:00' } }],
		['a time zone', { zone: { value: 'Europe/Berlin' } }],
	])('refuses %s of quiet hours without a day', (_, fields) => {
		const { errors } = read(stateOf(fields), metadataOf(DEFAULT_CHANNEL_SETTINGS));
		expect(errors).toEqual({ days: expect.stringMatching(/Choose at least one day, .* 20:00, 08:00 and Asia\/Tokyo/) });
	});

	it.each(['Berlin', 'Mars/Olympus', '+05:30', 'PST', 'IST', 'BST', 'JST', 'AST', 'x'.repeat(60)])(
		'refuses %s, which is no time zone',
		(zone) => {
			const { errors } = read(stateOf({ zone: { value: zone } }));
			expect(Object.keys(errors)).toEqual(['zone']);
			for (const words of [`There is no time zone ${zone}. `, 'such as Europe/Berlin', NOT_SAVED])
				expect(errors.zone).toContain(words);
		},
	);

	it('refuses quiet hours that never end', () => {
		const days = { selected_options: [1, 2, 3, 4, 5, 6, 7].map((day) => ({ value: String(day) })) };
		const { errors } = read(stateOf({ days, from: { selected_time: '09:00' }, to: { selected_time: '09:00' } }));
		expect(errors).toEqual({ days: expect.stringContaining('never end') });
	});

	it('takes what the fields began with for no quiet hours', () => {
		const untouched = stateOf({ from: { selected_time: '20:00' }, zone: { value: 'asia/tokyo' } });
		const { chosen, errors } = read(untouched, metadataOf(DEFAULT_CHANNEL_SETTINGS));
		expect(chosen.quietHours).toBeNull();
		expect(errors).toEqual({});
	});

	const IDS = Array.from({ length: 11 }, (_, index) => `U${index}`);
	const groups = { selected_options: IDS.map((value) => ({ value })) };
	it.each<[string, Partial<Record<SettingsField, unknown>>]>([
		...['5x', '25:00', '8:00', ''].map((typed): [string, Partial<Record<SettingsField, unknown>>] => [
			`"${typed}" as a time instead of keeping the former one`,
			{ from: { selected_time: typed }, to: { selected_time: typed } },
		]),
		['an empty time zone instead of keeping the former one', { zone: { value: '   ' } }],
		['more people and groups than an escalation mentions', { people: { selected_users: IDS }, groups }],
	])('refuses %s', (_, fields) => {
		expect(Object.keys(read(stateOf(fields)).errors)).toEqual(Object.keys(fields));
	});

	it('refuses new mentions while the escalation is off, and keeps former ones', () => {
		const off = stateOf({ escalate: { selected_option: { value: 'off' } } });
		expect(read(off).errors).toEqual({});
		const people = { people: { selected_users: ['U3'] } };
		expect(Object.keys(read({ ...off, ...stateOf(people) }).errors)).toEqual(['escalate']);
		const { errors } = read(stateOf(people), metadataOf(DEFAULT_CHANNEL_SETTINGS));
		expect(errors.escalate).toContain('Nobody is mentioned while this is off.');
	});

	it('compares the times that hold, also those of the program', () => {
		const late = stateOf({
			remind: { selected_option: { value: 'default' } },
			escalate: { selected_option: { value: '900000' } },
		});
		expect(read(late).errors.escalate).toContain('(15 min)');
		const off = stateOf({
			remind: { selected_option: { value: '86400000' } },
			escalate: { selected_option: { value: 'off' } },
		});
		expect(read(off).errors).toEqual({});
	});
});

describe('emptiedList', () => {
	const empty = { values: stateOf({ people: { selected_users: [] }, days: { selected_options: [] } }) };
	it('tells the list of the field that somebody emptied', () => {
		expect(emptiedList(empty, settingsBlockId('people', 4), metadataOf())).toBe('people');
		expect(emptiedList(empty, settingsBlockId('days', 4), metadataOf())).toBe('days');
	});

	it('tells nothing of other fields, of another revision and of what was empty before', () => {
		expect(emptiedList(empty, settingsBlockId('people', 3), metadataOf())).toBeNull();
		expect(emptiedList(empty, settingsBlockId('remind', 4), metadataOf())).toBeNull();
		expect(emptiedList(empty, settingsBlockId('people', 4), metadataOf(DEFAULT_CHANNEL_SETTINGS))).toBeNull();
	});
});

describe('the metadata of the form', () => {
	it('comes back as it was', () => {
		expect(decodeSettingsMetadata(encodeSettingsMetadata(metadataOf()))).toEqual(metadataOf());
	});

	it.each([
		undefined,
		'',
		'{}',
		'[1]',
		'{"channelId":"C1"}',
		encodeSettingsMetadata(metadataOf()).replace('18:00', '6 pm'),
	])('is null for %s', (text) => {
		expect(decodeSettingsMetadata(text)).toBeNull();
	});
});

it.each<[NonNullable<ChannelSettings['quietHours']>['days'], string]>([
	[[1, 2, 3, 4, 5, 6, 7], 'every day 18:00 to 08:00 (Europe/Berlin)'],
	[[1, 2, 3, 4, 5, 6], 'Mon, Tue, Wed, Thu, Fri, Sat 18:00 to 08:00 (Europe/Berlin)'],
])('names the days of quiet hours unless they are all: %s', (days, words) => {
	const settings = { ...STORED, quietHours: { days, from: '18:00', to: '08:00', timeZone: 'Europe/Berlin' } };
	const shown = { defaultMs: DEFAULT_MS, mentioned: () => 'nobody' };
	expect(LINES.quietHours.words(settings, shown, settings)).toBe(words);
});
