import { at } from '../payload.ts';
import { partsOf, type Rule, reference, stricter } from '../rule.ts';
import { isLink } from './inputs.ts';

/** Rules over the elements of rich text, beyond their shapes. */

const page = (element: string) => `${reference}/block-elements/${element}-element`;

/** The types let every element be code. Its page names that style for none of these. */
const neverCode: Rule = {
	id: 'rich_text:style.code',
	source: `soxtoby/SlackNet #196, of a user; the others by their pages: ${stricter}`,
	check: (payload, report) => {
		for (const type of ['user', 'usergroup', 'channel', 'broadcast', 'date']) {
			for (const { pointer } of partsOf(payload, type).flatMap((part) => at(part, 'style.code'))) {
				report('invalid additional property: code', pointer.replace(/\/code$/, ''));
			}
		}
	},
};

const fallback: Rule = {
	id: 'rich_text:date.fallback',
	source: `${page('date')}: optional; ${stricter}`,
	check: (payload, report) => {
		for (const { value, pointer } of partsOf(payload, 'date')) {
			if (value.fallback === undefined) report('missing required field: fallback', pointer);
		}
	},
};

const TOKENS =
	'date_num date_slash date_long date_long_full date_long_pretty date date_pretty date_short date_short_pretty ' +
	'day_divider_pretty time time_secs ago';
const known: ReadonlySet<string> = new Set(TOKENS.split(' '));

const format: Rule = {
	id: 'rich_text:date.format',
	source: `${page('date')}: "The following are the template strings allowed"`,
	check: (payload, report) => {
		for (const { value, pointer } of partsOf(payload, 'date').flatMap((part) => at(part, 'format'))) {
			const braced = String(value).matchAll(/\{([^{}]*)\}/g);
			for (const [token, name = ''] of braced) if (!known.has(name)) report(`unknown date format: ${token}`, pointer);
		}
	},
};

const address: Rule = {
	id: 'rich_text:date.url',
	source: stricter,
	check: (payload, report) => {
		for (const { value, pointer } of partsOf(payload, 'date').flatMap((part) => at(part, 'url'))) {
			if (typeof value === 'string' && value !== '' && !isLink(value)) report('must be a valid URL', pointer);
		}
	},
};

export const richTextTable: readonly Rule[] = [neverCode, fallback, format, address];
