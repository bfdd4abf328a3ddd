import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { draftsIn } from '../../src/domain/agent-drafts.ts';
import { openQuestion } from '../../src/domain/session.ts';
import { previewOf } from '../../src/screens/preview.ts';
import { buildSession, saying } from '../support/sessions.ts';

const DOC = readFileSync(new URL('../../docs/asking.md', import.meta.url), 'utf8');
const EXAMPLES = Array.from(
	DOC.matchAll(/```json\n([\s\S]*?)```\s+Gives ([a-z ]+): (.+)\n/g),
	([, json = '', what = '', shown = '']) =>
		[json.replace(/^ {2,3}/gm, ''), what, Array.from(shown.matchAll(/`([^`]+)`/g), ([, text = '']) => text)] as const,
);

/** What people get of an example, in the words of the document. */
function gives(json: string): Readonly<Record<string, readonly string[]>> {
	const { buttons, items } = previewOf(json);
	const given = JSON.parse(json) as object;
	const humanInput = [given].flat().map((item) => ({ title: '', description: '', value: '', ...item }));
	const question = openQuestion(buildSession({ messages: [{ ...saying(''), humanInput }] }));
	const [item] = items;
	return {
		buttons,
		[item?.kind ?? '']: item?.options ?? [],
		fields: items.map(
			({ kind, isSecret, isOptional }) =>
				`${isSecret ? 'secret' : kind.replace('longText', 'text')}${isOptional ? ', optional' : ''}`,
		),
		'a draft': Object.values(question === null ? {} : draftsIn(question)).map((draft) => draft.replaceAll('\n', '\\n')),
	};
}

it.each(EXAMPLES)('%s gives %s: %j', (json, what, expected) => {
	expect(gives(json)[what]).toEqual(expected);
});

it('every example of the document is one of these', () => {
	expect(EXAMPLES.length).toBe(DOC.match(/```json/g)?.length);
});
