/** Slack writes dates in the reader's language, whatever the app's is: here the browser's. */
const locale = (() => {
	try {
		return Intl.getCanonicalLocales(navigator.language)[0] ?? 'en-US';
	} catch {
		// A browser without a language of its own may tell the machine's, such as "en-US@posix".
		return 'en-US';
	}
})();
const isEnglish = locale.startsWith('en');

/** Made once: making one takes longer than drawing the message that shows the time. */
const formatOf = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale, options).format;
const hourAndMinute = formatOf({ hour: 'numeric', minute: '2-digit' });
const withSeconds = formatOf({ hour: 'numeric', minute: '2-digit', second: '2-digit' });
const weekday = formatOf({ weekday: 'long' });
const month = formatOf({ month: 'long' });
const shortMonth = formatOf({ month: 'short' });
const long = formatOf({ dateStyle: 'long' });
const medium = formatOf({ dateStyle: 'medium' });
const dayAndMonth = formatOf({ weekday: 'long', day: 'numeric', month: 'long' });
const full = formatOf({ dateStyle: 'full' });
const slashes = formatOf({ day: '2-digit', month: '2-digit', year: 'numeric' });
const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
const counted = new Intl.RelativeTimeFormat(locale, { numeric: 'always' });
/** `today`, `gestern`, `tomorrow`. */
const nearDay = (days: number) => relative.format(days, 'day');

const at = (ts: string) => new Date(Number(ts) * 1000);

export const clockTime = (ts: string) => hourAndMinute(at(ts));

export const exactTime = (ms: number) =>
	`${new Date(ms).toLocaleTimeString('en-GB')}.${String(Math.floor(ms % 1000)).padStart(3, '0')}`;

const dayKey = (date: Date) => date.toDateString();

export const isSameDay = (a: string, b: string) => dayKey(at(a)) === dayKey(at(b));

function ordinal(day: number): string {
	if (day >= 11 && day <= 13) return `${day}th`;
	return `${day}${['th', 'st', 'nd', 'rd'][day % 10] ?? 'th'}`;
}

/** The day separators of Slack: Today, Yesterday, Monday, November 20th. */
export function dayName(ts: string, now: Date): string {
	const date = at(ts);
	const capital = (words: string) => words.replace(/^./u, (first) => first.toLocaleUpperCase(locale));
	if (dayKey(date) === dayKey(now)) return capital(nearDay(0));
	if (dayKey(date) === dayKey(new Date(now.getTime() - 86_400_000))) return capital(nearDay(-1));
	return withoutYear(date);
}

function withoutYear(date: Date): string {
	return isEnglish ? `${weekday(date)}, ${month(date)} ${ordinal(date.getDate())}` : dayAndMonth(date);
}

/** `3 minutes ago`, `in 2 hours`. */
function ago(ms: number): string {
	const units = [
		['day', 86_400_000],
		['hour', 3_600_000],
		['minute', 60_000],
	] as const;
	const [unit, size] = units.find(([, one]) => Math.abs(ms) >= one) ?? (['second', 1_000] as const);
	return counted.format(Math.trunc(ms / size), unit);
}

/** The format of a date, in text and in rich text: every token of docs.slack.dev ("Formatting message text", date element). */
export function slackDate(seconds: number, format: string, now: Date): string {
	const date = new Date(seconds * 1000);
	const pretty = (rest: string) => {
		const days = Math.round((new Date(dayKey(date)).getTime() - new Date(dayKey(now)).getTime()) / 86_400_000);
		return Math.abs(days) > 1 ? rest : nearDay(days);
	};
	const [whole, short, withDay] = isEnglish ? english(date) : [long(date), medium(date), full(date)];
	const tokens: Record<string, string> = {
		date_num: `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, '0')}-${String(date.getDate()).padStart(2, '0')}`,
		date: whole,
		date_short: short,
		date_long: withDay,
		date_pretty: pretty(whole),
		date_short_pretty: pretty(short),
		date_long_pretty: pretty(withDay),
		time: hourAndMinute(date),
		time_secs: withSeconds(date),
		date_long_full: whole,
		date_slash: slashes(date),
		day_divider_pretty: pretty(date.getFullYear() === now.getFullYear() ? withoutYear(date) : withDay),
		ago: ago(date.getTime() - now.getTime()),
	};
	return format.replace(/\{(\w+)\}/g, (braced, token: string) => tokens[token] ?? braced);
}

/** As the documentation writes them in its examples. */
function english(date: Date): [long: string, short: string, full: string] {
	const whole = `${month(date)} ${ordinal(date.getDate())}, ${date.getFullYear()}`;
	return [whole, `${shortMonth(date)} ${date.getDate()}, ${date.getFullYear()}`, `${weekday(date)}, ${whole}`];
}

/** A long time in its two largest units: `15 min`, `1 h 15 min`, `2 d 3 h`. */
export function span(ms: number): string {
	const minutes = Math.round(ms / 60_000);
	const parts = [
		[Math.floor(minutes / 1440), 'd'],
		[Math.floor(minutes / 60) % 24, 'h'],
		[minutes % 60, 'min'],
	] as const;
	const shown = parts.filter(([count]) => count > 0).slice(0, 2);
	return shown.map(([count, unit]) => `${count} ${unit}`).join(' ') || '0 min';
}

export function duration(ms: number | null): string {
	if (ms === null) return '…';
	return ms < 10 ? `${ms.toFixed(1)} ms` : ms < 10_000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}
