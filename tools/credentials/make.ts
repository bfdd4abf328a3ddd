import { readFileSync, writeFileSync } from 'node:fs';

/*
 * Makes the list of how keys of known forms begin, from the rules of betterleaks (MIT; a fork of gitleaks):
 * `npm exec -- node tools/credentials/make.ts betterleaks.toml`, with its `config/betterleaks.toml` of commit
 * 6381fa45ae946c588e2e1334d8396a15e5171ad6. Of a rule it takes the characters that every key has at its beginning.
 * Rules without such a beginning find keys by names beside them, as `credentials.ts` does.
 */

const [path = ''] = process.argv.slice(2);
const rules = Array.from(readFileSync(path, 'utf8').matchAll(/^regex = '''(.*)'''/gm), ([, rule = '']) => rule);

/** Known from the documentation of their services, and not in the rules in this form. */
const OWN =
	'AKIA ASIA ABIA ACCA sk_live_ sk_test_ rk_live_ rk_test_ whsec_ xoxa- xoxb- xoxp- xoxr- xoxs- xapp- xoxe. sk-proj- ' +
	'sk-ant- ya29. GOCSPX- hvs. hvb. SG. ATATT3 ATBB dp.st. sq0csp- re_ pypi- shptka_ NRAK-';

/** Fewer characters behind it may be a word: "sk_test_mode". */
const FEWEST = 12;
/** Names of variables, ids, and keys that everybody may see. */
const ORDINARY = /^(?:apk_$|BUNDLE_|Endpoint|API-|STS\.|FLWPUBK|cli_|[\w]+_id_|phc_|v1\.0|ZXlK)/;
/** What follows a key in a rule. */
const TAIL = /(?:\(\?:\\\\\?\[|\(\?:\$|\(\?:\[\^|\\b|\$).*$/;

function begun(rule: string): readonly (readonly [prefix: string, count: number])[] {
	const source = rule
		.replace(/^(?:\(\?i\))?(?:\\b|\(\?:\^\|\[(?:[^\]\\]|\\.)*\]\))?\(*(?=\w|\(\?:)/, '')
		.replace(/^\(\?:(?=\w+[^|()]*$)/, '');
	const group = /^\(?\?:([\w|-]+)\)/.exec(source) ?? /^\(\?:([\w|-]+)\)/.exec(source);
	const ways = group?.[1]?.split('|') ?? [''];
	const rest = source.slice(group?.[0].length ?? 0).replace(/\(\?i\)/g, '');
	const literal = /^(?:[\w:$~!+/-]|\\[.$+/-])*(?![*+?{])/.exec(rest)?.[0] ?? '';
	const inner = /^\(\?:([\w|-]+)\)/.exec(rest.slice(literal.length));
	const parts = inner?.[1]?.split('|') ?? [''];
	const after = rest.slice(literal.length + (inner?.[0].length ?? 0)).replace(TAIL, '');
	const more = inner === null ? '' : (/^(?:[\w-]|\\[.-])*(?![*+?{])/.exec(after)?.[0] ?? '');
	const count = Array.from(
		after.slice(more.length).matchAll(/(?:\[(?:[^\]\\]|\\.|\[:\w+:\])*\]|\\w|\\S)(?:\{(\d+),?\d*\}|([*+?]))?/g),
		([, times, sign]) => (sign === undefined ? Number(times ?? 1) : sign === '+' ? 1 : 0),
	).reduce((sum, one) => sum + one, 0);
	const plain = (text: string) => text.replaceAll('\\', '');
	return ways.flatMap((way) => parts.map((part) => [plain(way + literal + part + more), count] as const));
}

/** Not a word or the beginning of a hash: with a mark or digits, or letters of both cases. */
const isTelling = (prefix: string) =>
	prefix.length >= 3 &&
	!ORDINARY.test(prefix) &&
	/^[\w.:$+/~-]+$/.test(prefix) &&
	!/^[\da-f]+$/i.test(prefix) &&
	(/[_.:$-]$/.test(prefix) || (prefix.length >= 4 && /[A-Z]/.test(prefix)) || /^dapi$/.test(prefix));

const found = rules.flatMap(begun).filter(([prefix, count]) => isTelling(prefix) && count >= FEWEST);
const entries = new Set([...OWN.split(' '), ...found.map(([prefix]) => prefix)]);
const HEAD = `# Made by tools/credentials/make.ts.
# How keys of known forms begin. From the rules of betterleaks (https://github.com/betterleaks/betterleaks, commit
# 6381fa4), MIT License, Copyright (c) 2026 Zachary Rice.
`;
const list = [...entries].toSorted().map((prefix) => `${prefix}\n`);
writeFileSync(new URL('../../src/domain/words/credentials.txt', import.meta.url), HEAD + list.join(''));
