import { describe, expect, it } from 'vitest';
import { errorWords, FAILURES, NOT_THERE, REFUSAL_CODES } from '../../src/slack/error-view.ts';
import {
	actionsLine,
	agoText,
	contactOf,
	durationText,
	mentionOf,
	momentOf,
	statusWords,
} from '../../src/slack/phrases.ts';
import { notificationText, plainWords, type Words } from '../../src/slack/rich-text.ts';
import { sourceFiles, textOf, textsIn } from '../support/patterns/find.ts';

/** As a notification shows it: with code and mentions, before Slack reads them. */
const read = (words: Words) => notificationText(words);
const dateOf = (at: number) => read(momentOf(at));
const now = Date.parse('2026-11-20T08:40:00Z');

function readAll(...about: Parameters<typeof errorWords>) {
	const { what, text, line, ...others } = errorWords(...about);
	return { ...others, what: read(what), text: read(text), line: read(line) };
}

/** Not "my", "me" and "mine": a button says them for whoever presses it. */
const SPEAKS_OF_ITSELF = /\b(?:I|I'm|[Ww]e|[Oo]ur|us)\b/;

it('speaks of itself by name, in every text', () => {
	const texts = sourceFiles().flatMap((path) => textsIn(path, textOf(path)));
	const said = texts.filter(({ source }) => /[a-z] [a-z]/i.test(source));
	expect(said.length).toBeGreaterThan(1_000);
	const found = said.filter(({ source }) => SPEAKS_OF_ITSELF.test(source));
	expect(found.map(({ at, source }) => `${at}: ${source}`)).toEqual([]);
	expect(SPEAKS_OF_ITSELF.test('The session service refuses our key.')).toBe(true);
});

describe('errorWords', () => {
	it.each([
		['unauthorized', "The session service refuses Handraise's key."],
		['session_not_found', 'The session service has no session with this id.'],
		['rate_limited', 'The session service limits the requests of Handraise.'],
		['too_fast', 'You did too many things in a short time.'],
		['timed_out', 'The session service took too long to respond.'],
		['refused', 'The session service refused the request.'],
		['unreadable_answer', 'Handraise cannot read what the session service sent.'],
		['body_too_large', 'This session is too large to show here.'],
		['redirected', 'The session service redirects to another address. Handraise does not follow redirects.'],
		['invalid_session_id', 'That is not a session id.'],
		['slack_unavailable', 'Slack did not let Handraise finish this.'],
		['answer_not_yours', "This button belongs to somebody else's answer, or to an answer that no longer exists."],
		['guest', 'Guests of this workspace cannot use Handraise.'],
		['bot', 'Apps and bots cannot use Handraise.'],
		['external', 'Handraise is for members of its own workspace; your account belongs to another workspace'],
		['deactivated', 'This account is deactivated.'],
		['channel_not_allowed', 'Handraise is not allowed in this channel.'],
		['user_not_allowed', 'You are not among the people who may use Handraise.'],
		['could_not_check', 'Handraise could not check with Slack whether you may do this.'],
		['watch_not_member', '⚠️ Handraise is not in this channel.'],
		['watch_archived', '⚠️ This channel is archived, so nothing can be posted here.'],
		['watch_external', '🔒 This channel is shared with another organisation, and everybody here would read'],
		[
			'watch_unclear_sharing',
			'🔒 Slack does not say clearly who else can read this channel, so Handraise posts nothing here.',
		],
	])('says what happened: %s', (code, words) => {
		expect(read(errorWords(code, { kept: 'nothing', adminContact: null }).what)).toContain(words);
	});

	it('names one time to somebody who is too fast', () => {
		const { plain } = errorWords('too_fast', { kept: 'nothing', adminContact: null, retryAt: 3_600_000 });
		expect(plain).toBe(
			'You did too many things in a short time. What you do before then may be ignored. Please wait until: 01:00:00 UTC',
		);
	});

	it('has different words for each code', () => {
		const words = ['unknown', ...Object.keys(FAILURES)].map((code) =>
			read(errorWords(code, { kept: 'nothing', adminContact: null }).what),
		);
		expect(new Set(words).size).toBe(words.length);
	});

	it('says what happened, what was kept and what to do', () => {
		expect(readAll('unavailable', { kept: 'text', adminContact: null })).toEqual({
			code: 'unavailable',
			what: "The session service isn't responding.",
			text: "The session service isn't responding. Your text is still here. Please try again in a moment.",
			plain: "The session service isn't responding. Your text is still here. Please try again in a moment.",
			line: "⚠️ The session service isn't responding. Your text is still here. Please try again in a moment.",
			retry: true,
		});
		expect(readAll('unavailable', { kept: 'answer', adminContact: null, retryAt: now }).text).toBe(
			"The session service isn't responding. Handraise keeps trying.",
		);
		expect(readAll('unauthorized', { kept: 'answer', adminContact: 'U0ADMIN' }).text).toBe(
			"The session service refuses Handraise's key. Handraise keeps trying; <@U0ADMIN> has to change the key.",
		);
		expect(readAll('rate_limited', { kept: 'nothing', adminContact: null, retryAt: now }).text).toContain(
			`Please try again after: ${dateOf(now)}`,
		);
		expect(readAll('session_not_found', { kept: 'nothing', adminContact: null })).toMatchObject({
			text: 'The session service has no session with this id. Check the id. Sessions of another account are not visible here. /session help shows what else you can type.',
			retry: false,
		});
	});

	it('names whom to tell and the code to report if the operator has to fix it', () => {
		const words = readAll('unauthorized', { kept: 'nothing', adminContact: 'U0ADMIN' });
		expect(words.text).toContain('tell <@U0ADMIN> (code unauthorized)');
		expect(words.plain).toContain('tell whoever runs Handraise here (code unauthorized)');
	});

	it.each(['constructor', '__proto__', '<!here>', ''])('has general words for the unknown code %j', (code) => {
		const words = readAll(code, { kept: 'nothing', adminContact: null });
		expect(words.what).toBe('Something went wrong in Handraise.');
		expect(words.text).not.toContain('!');
	});
});

describe('refusals', () => {
	const ASKING_OTHERS = ['not_there', 'not_named', 'not_named_here'];
	it.each(REFUSAL_CODES.filter((code) => !ASKING_OTHERS.includes(code)))('says why and whom to ask: %s', (refusal) => {
		const { text } = readAll(refusal, { kept: 'nothing', adminContact: 'U0ADMIN' });
		const atSubmit = (adminContact: string) => errorWords(refusal, { kept: 'text', adminContact }).plain;
		expect(text).toMatch(/\. .*ask <@U0ADMIN>\.$/);
		expect(text).not.toContain('Nothing was changed');
		const unchanged = readAll(refusal, { kept: 'unchanged', adminContact: 'U0ADMIN' }).text;
		expect(unchanged).toMatch(/\. Nothing was changed\. .*ask <@U0ADMIN>\.$/);
		expect(atSubmit('help@example.org')).toMatch(/ask help@example\.org\.$/);
		expect(atSubmit('U0ADMIN')).toMatch(/ask whoever runs Handraise here\.$/);
	});

	it('names who may to somebody whom a list does not name', () => {
		const { text, plain } = readAll('not_named', { kept: 'text', who: '*Ada* and Grace' });
		expect(text).toBe('Only *Ada* and Grace may answer. Your text is still here and was not sent. Ask them.');
		expect(plain).toContain('and Grace may answer.');
		const unnamed = 'Only the people named in /session settings may answer. Ask them.';
		expect(readAll('not_named', { kept: 'nothing' }).text).toBe(unnamed);
		expect(readAll('not_named_here', { kept: 'unchanged', who: 'Ada' }).text).toBe(
			'Only Ada may stop watching here. Nothing was changed. Ask them.',
		);
	});

	it('says to somebody who is not in the channel of a question how they get it', () => {
		const { text, plain } = readAll('not_there', { kept: 'unchanged', adminContact: null });
		expect(text).toBe(`${NOT_THERE} Nothing was changed. Ask somebody in the channel to hand it over to you.`);
		expect(plain).toBe(text);
	});

	it('mentions nobody who is not a Slack user', () => {
		expect(contactOf('<!channel> #help')).toBe('<!channel> #help');
		expect(contactOf('U0ADMIN')).toEqual([{ type: 'user', user_id: 'U0ADMIN' }]);
		expect(contactOf(' ')).toBe('whoever runs Handraise here');
	});
});

describe('statuses', () => {
	it.each([
		['active', '⚙️', 'working'],
		['humanInput', '✋', 'asks'],
		['inactive', '⚪', 'inactive'],
		['paused', '⏸️', 'paused'],
		['stopped', '⏹️', 'stopped'],
		['completed', '✅', 'done'],
		['failed', '❌', 'failed'],
		['dreaming <!here>', '❔', 'dreaming <!here>'],
		['constructor', '❔', 'constructor'],
		['', '❔', 'no status'],
		['Completed', '❔', 'Completed'],
	])('%j is %s %s', (status, emoji, words) => {
		expect(statusWords(status)).toMatchObject({ emoji, words });
	});
});

describe('actions', () => {
	it.each([
		[{ kind: 'click', text: '' }, 'clicked'],
		[{ kind: 'open', text: 'example.com' }, 'opened example.com'],
		[{ kind: 'open', text: '' }, 'opened a page'],
		[{ kind: 'done', text: 'all of it' }, 'finished'],
		[{ kind: 'saveFile', text: 'report.pdf' }, 'saved report.pdf'],
		[{ kind: 'deleteFile', text: '' }, 'deleted a file'],
		[{ kind: 'other', text: 'input_text' }, 'typed'],
		[{ kind: 'other', text: 'search_google' }, 'searched'],
		[{ kind: 'other', text: 'solve_captcha' }, 'solve_captcha'],
		[{ kind: 'other', text: '<!here>' }, '<!here>'],
	] as const)('%j reads "%s"', (action, words) => {
		expect(actionsLine([action])).toBe(words);
	});

	it('counts repeated actions and those beyond six', () => {
		const clicks = [
			{ kind: 'click', text: '' },
			{ kind: 'click', text: '' },
		] as const;
		expect(actionsLine([...clicks, { kind: 'open', text: 'a.example' }])).toBe('clicked ×2 · opened a.example');
		const many = Array.from({ length: 100 }, (_, at) => ({ kind: 'other', text: `n${at}` }) as const);
		expect(actionsLine(many)).toBe('n0 · n1 · n2 · n3 · n4 · n5 · and 94 more');
		expect(actionsLine([])).toBe('');
	});
});

describe('times', () => {
	it("formats a moment in the reader's time zone, with UTC as fallback", () => {
		expect(dateOf(now)).toBe('<!date^1795164000^{date_short_pretty} {time}|20 Nov 2026, 08:40 UTC>');
		expect(plainWords(momentOf(now))).toBe('20 Nov 2026, 08:40 UTC');
	});

	it.each([Number.NaN, Number.POSITIVE_INFINITY, 0, -1, 8.64e15])(
		'formats no date for the impossible time %s',
		(at) => {
			expect(dateOf(at)).toBe('at an unknown time');
		},
	);

	it.each([
		[-5, '0 s'],
		[40_000, '40 s'],
		[59_999, '1 min'],
		[60_000, '1 min'],
		[3_600_000, '1 h'],
		[7_500_000, '2 h 5 min'],
		[47.5 * 3_600_000, '47 h 30 min'],
		[3 * 86_400_000, '3 days'],
	])('formats a duration of %d ms as %s', (ms, text) => {
		expect(durationText(ms)).toBe(text);
	});

	it('says how long ago a moment was', () => {
		expect(agoText(now - 59_000, now)).toBe('just now');
		expect(agoText(now + 5000, now)).toBe('just now');
		expect(agoText(now - 300_000, now)).toBe('5 min ago');
	});
});

describe('people', () => {
	it('mentions people by Slack user ids only', () => {
		expect(mentionOf('U0123ABC')).toEqual([{ type: 'user', user_id: 'U0123ABC' }]);
		expect(mentionOf('<!here>')).toBe('<!here>');
		expect(mentionOf('')).toBe('somebody');
	});
});
