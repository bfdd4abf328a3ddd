import type { QuietHours, Weekday } from '../../../src/kernel/quiet-hours.ts';
import { type ChannelSettings, DEFAULT_CHANNEL_SETTINGS, type Mention } from '../../../src/store/watch.ts';
import type { Random } from '../../support/random.ts';

const MINUTE = 60_000;

const EUROPE = ['Europe/Berlin', 'Europe/London', 'Europe/Lisbon'];

/** Changes of daylight-saving time, and the zones that they are in. */
export const CHANGES = [
	{ name: 'Europe begins, 29 March 2026', at: Date.parse('2026-03-29T01:00:00Z'), zones: EUROPE },
	{ name: 'Europe ends, 25 October 2026', at: Date.parse('2026-10-25T01:00:00Z'), zones: EUROPE },
	{
		name: 'Lord Howe Island ends (half an hour), 5 April 2026',
		at: Date.parse('2026-04-04T15:00:00Z'),
		zones: ['Australia/Lord_Howe'],
	},
	{ name: 'New York ends, 1 November 2026', at: Date.parse('2026-11-01T06:00:00Z'), zones: ['America/New_York'] },
] as const;

export type DaylightSavingChange = (typeof CHANGES)[number];

const OTHER_ZONES = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata', 'UTC'];
/** Many begin or end around the hour that a change skips or repeats. */
const FROM = ['18:00', '20:30', '22:00', '22:00', '23:45', '00:30', '01:00', '01:30', '01:45', '02:00', '02:30'];
const TO = ['01:30', '02:00', '02:15', '02:30', '03:00', '03:30', '04:00', '06:30', '07:00', '08:00', '09:00'];
const REMIND = [1.5, 3, 5, 10, 15, 30].map((minutes) => minutes * MINUTE);
const ESCALATE = [5, 10, 20, 45, 90].map((minutes) => minutes * MINUTE);
const ALL_DAYS: readonly Weekday[] = [1, 2, 3, 4, 5, 6, 7];

/** `REMIND_AFTER` */
export const DEFAULT_MS = 15 * MINUTE;

export function randomSettings(random: Random, change: DaylightSavingChange): ChannelSettings {
	const remindAfterMs = random.chance(0.2) ? 'default' : random.chance(0.1) ? null : random.pick(REMIND);
	const leastMs = remindAfterMs === 'default' ? DEFAULT_MS : remindAfterMs;
	const longer = ESCALATE.filter((ms) => ms > (leastMs ?? 0));
	const escalateAfterMs = random.chance(0.2) ? null : random.pick(longer);
	return {
		...DEFAULT_CHANNEL_SETTINGS,
		remindAfterMs,
		escalateAfterMs,
		mention: randomMention(random),
		quietHours: random.chance(0.55) ? randomQuietHours(random, change) : null,
	};
}

function randomMention(random: Random): Mention {
	return {
		userIds: random.chance(0.5) ? [`UBOSS${random.whole(1, 9)}`] : [],
		groupIds: random.chance(0.3) ? [`S${random.whole(1, 9)}`] : [],
	};
}

function randomQuietHours(random: Random, { zones }: DaylightSavingChange): QuietHours {
	const days = random.chance(0.6) ? ALL_DAYS : ALL_DAYS.filter(() => random.chance(0.7));
	const from = random.pick(FROM);
	return {
		days: days.length === 0 ? [6, 7] : days,
		from,
		to: random.pick(TO.filter((to) => to !== from)),
		timeZone: random.pick(random.chance(0.7) ? zones : OTHER_ZONES),
	};
}
