import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import { leavesTime, type QuietHours, quietUntil, timeZoneNamed, type Weekday } from '../../src/kernel/quiet-hours.ts';

const BERLIN = 'Europe/Berlin';
const EVERY_DAY: readonly Weekday[] = [1, 2, 3, 4, 5, 6, 7];
const NIGHTS: QuietHours = { days: EVERY_DAY, from: '22:00', to: '08:00', timeZone: BERLIN };
const ALWAYS: QuietHours = { ...NIGHTS, from: '00:00', to: '00:00' };
const WEEKENDS: QuietHours = { days: [6, 7], from: '00:00', to: '00:00', timeZone: BERLIN };

const at = (local: string, timeZone = BERLIN) =>
	Temporal.PlainDateTime.from(local).toZonedDateTime(timeZone).epochMilliseconds;

describe('the end of the quiet hours', () => {
	it.each<[string, QuietHours, string, string | null]>([
		['before midnight, the next morning', NIGHTS, '2026-11-20T23:30', '2026-11-21T08:00'],
		['after midnight, the same morning', NIGHTS, '2026-11-21T03:00', '2026-11-21T08:00'],
		['at their first moment', NIGHTS, '2026-11-20T22:00', '2026-11-21T08:00'],
		['not at their last moment', NIGHTS, '2026-11-21T08:00', null],
		['not during the day', NIGHTS, '2026-11-21T12:00', null],
		['a whole weekend has one end', WEEKENDS, '2026-11-21T10:00', '2026-11-23T00:00'],
		['not on a day without them', { ...NIGHTS, days: [1, 2] }, '2026-11-20T23:00', null],
		['the morning after the last day belongs to it', { ...NIGHTS, days: [5] }, '2026-11-21T07:59', '2026-11-21T08:00'],
		['within a day', { ...NIGHTS, from: '12:00', to: '13:30' }, '2026-11-20T12:45', '2026-11-20T13:30'],
	])('%s', (_, hours, moment, end) => {
		expect(quietUntil(hours, at(moment))).toBe(end === null ? null : at(end));
	});

	it('is the same time of day over both daylight-saving changes', () => {
		expect(quietUntil(NIGHTS, at('2026-03-28T23:00'))).toBe(at('2026-03-29T08:00'));
		expect(at('2026-03-29T08:00') - at('2026-03-28T22:00')).toBe(9 * 3_600_000);
		expect(quietUntil(NIGHTS, at('2026-10-24T23:00'))).toBe(at('2026-10-25T08:00'));
		expect(at('2026-10-25T08:00') - at('2026-10-24T22:00')).toBe(11 * 3_600_000);
	});

	it('moves on by an hour when a daylight-saving change skips it', () => {
		const hours = { ...NIGHTS, to: '02:30' };
		expect(quietUntil(hours, at('2026-03-28T23:00'))).toBe(at('2026-03-29T03:30'));
	});
});

describe('quiet hours', () => {
	it('must leave some time of the week', () => {
		expect(leavesTime(NIGHTS)).toBe(true);
		expect(leavesTime(WEEKENDS)).toBe(true);
		expect(leavesTime({ ...WEEKENDS, days: EVERY_DAY })).toBe(false);
	});

	it('need a known time zone', () => {
		const names = ['Europe/Berlin', 'UTC', 'America/New_York', 'Asia/Kolkata', 'Asia/Calcutta', 'Etc/GMT-5'];
		expect(names.map(timeZoneNamed)).toEqual(names);
	});

	it('take its name in any letter case', () => {
		const typed = ['europe/berlin', 'AMERICA/port-au-prince', 'utc', 'asia/kolkata'];
		const names = ['Europe/Berlin', 'America/Port-au-Prince', 'UTC', 'Asia/Kolkata'];
		expect(typed.map(timeZoneNamed)).toEqual(names);
	});

	it.each([
		'',
		'Berlin',
		'Mars/Olympus',
		'+99:00',
		'+05:30',
		'-03',
		// Intl knows abbreviations.
		'PST',
		'IST',
		'BST',
		'JST',
		'AST',
		'CST',
		// Temporal knows dates.
		'2026-11-21T10:00Z',
		'2026-11-21T10:00[Europe/Berlin]',
	])('refuse the time zone "%s"', (name) => {
		expect(timeZoneNamed(name)).toBeNull();
	});

	it('can be computed in every time zone of this machine', () => {
		const zones = Intl.supportedValuesOf('timeZone');
		expect(zones.length).toBeGreaterThan(400);
		expect(zones.filter((name) => timeZoneNamed(name) !== name)).toEqual([]);
		expect(zones.filter((timeZone) => quietUntil({ ...ALWAYS, timeZone }, 0) === null)).toEqual([]);
	});

	it.each<[string, Partial<QuietHours>]>([
		['an unknown time zone', { timeZone: 'PST' }],
		['an unknown time', { to: '8 am' }],
	])('do not count with %s', (_, part) => {
		expect(quietUntil({ ...ALWAYS, ...part }, 0)).toBeNull();
	});
});
