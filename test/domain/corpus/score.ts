import { readFileSync } from 'node:fs';
import type { InputBlock } from '@slack/types';
import { z } from 'zod';
import { isDecision } from '../../../src/domain/contract.ts';
import { looksSecretAt } from '../../../src/domain/secrecy.ts';
import { openQuestion as openQuestionOf } from '../../../src/domain/session.ts';
import { snapshotOf } from '../../../src/domain/session-snapshot.ts';
import { openQuestionParts } from '../../../src/screens/question.ts';
import { buildForm } from '../../../src/slack/form/build.ts';
import { CHOOSE_IDS, NO_OPTION, newMetadata } from '../../../src/slack/ids.ts';
import { buildSession, saying } from '../../support/sessions.ts';

const option = z.union([z.string(), z.object({ any: z.array(z.string()), optional: z.boolean().optional() })]);
type Option = z.infer<typeof option>;
const wish = z.enum(['must', 'may', 'never']);
const choice = z.object({
	is: wish,
	options: z.array(option),
	several: z.union([z.boolean(), z.literal('may')]),
});
const corpusCase = z.object({
	id: z.string(),
	lang: z.string(),
	content: z.string(),
	items: z.array(z.object({ title: z.string(), description: z.string() })),
	note: z.string().optional(),
	press: z.object({ is: wish, options: z.array(option) }),
	choices: z.array(choice.nullable()),
	secret: z.array(wish),
	kind: z.array(z.string()),
});
/** What a careful teammate wants of a question: the README beside this file says what the fields mean. */
export type CorpusCase = z.infer<typeof corpusCase>;

/** The questions of a file with one JSON object a line. Throws for a line that is none. */
export function readCorpus(path: string | URL): readonly CorpusCase[] {
	const lines = readFileSync(path, 'utf8').split('\n');
	return lines.filter((line) => line.trim() !== '').map((line) => corpusCase.parse(JSON.parse(line)));
}

interface Field {
	/** The kind as the corpus names it. */
	readonly kind: string;
	readonly options: readonly string[];
	readonly several: boolean;
}

const KINDS: Readonly<Record<string, string>> = {
	radio_buttons: 'choice',
	static_select: 'choice',
	checkboxes: 'choice',
	multi_static_select: 'choice',
	number_input: 'number',
	email_text_input: 'email',
	url_text_input: 'url',
	datepicker: 'date',
	timepicker: 'time',
};

/** What Handraise makes of a question: the options on its post, its fields, and which items it takes for secret. */
function shown({ content, items }: CorpusCase) {
	const humanInput = items.map((item) => ({ ...item, value: '' }));
	const session = buildSession({ messages: [{ ...saying(content), humanInput }] });
	const question = openQuestionOf(session);
	const view = snapshotOf(session, 0).question;
	if (question === null || view === null) throw new Error(`nothing is open: ${content}`);
	const { row } = openQuestionParts(view, {
		sessionId: session.sessionId,
		discreet: false,
		choices: { channelId: 'C1', readAt: 0 },
	});
	const buttons = row.flatMap((part) =>
		part?.type === 'button' && CHOOSE_IDS.some((id) => id === part.action_id) ? [part.text.text] : [],
	);
	const form = buildForm(question, newMetadata({ sessionId: session.sessionId, formId: 'form-1' }), {});
	const blocks = form.kind === 'fields' ? form.blocks : [];
	const mains = blocks.filter(
		(block): block is InputBlock => block.type === 'input' && !/\.other/.test(block.block_id ?? ''),
	);
	const fields = mains.map(({ element }): Field => {
		const values = 'options' in element ? (element.options ?? []).map(({ value = '' }) => value) : [];
		// The last one is for other words, and none of the agent's.
		const options = values.at(-1) === NO_OPTION ? values.slice(0, -1) : values;
		const several = /^(?:checkboxes|multi_static_select)$/.test(element.type);
		return { kind: KINDS[element.type] ?? 'text', options, several };
	});
	return { buttons, fields, secret: items.map((_, position) => looksSecretAt(question, position)) };
}

/** Whether each text is one of these options, and none is missing that must be there. The order does not count. */
function areThese(texts: readonly string[], options: readonly Option[]): boolean {
	const accepts = (one: Option, text: string) => (typeof one === 'string' ? one === text : one.any.includes(text));
	const left = [...options];
	for (const text of texts) {
		const at = left.findIndex((one) => accepts(one, text));
		if (at === -1) return false;
		left.splice(at, 1);
	}
	return left.every((one) => typeof one !== 'string' && one.optional === true);
}

/** Of how many cases that count, how many are so. */
interface Share {
	readonly count: number;
	readonly of: number;
}

export interface Score {
	/** Posts with buttons that a press must not send. */
	readonly wrongPress: number;
	/** Of the questions where all want buttons. */
	readonly press: Share;
	readonly pressInEnglish: Share;
	readonly pressElsewhere: Share;
	/** Of those of them that are decisions: an option is yes, no, or another decision as a whole. */
	readonly decisions: Share;
	/** Fields with the wrong options, or with options where there must be none. */
	readonly wrongChoices: number;
	/** Of the items where all want a choice. */
	readonly choices: Share;
	/** Of the items that must be kept secret. */
	readonly secretsMissed: Share;
	/** Of the items that must not. */
	readonly secretsTaken: Share;
	/** Of the items with a kind: the input that suits. */
	readonly inputs: Share;
	/** One line for each case that fails in something. */
	readonly failures: readonly string[];
}

interface Verdict {
	readonly about: keyof Omit<Score, 'failures'>;
	/** Whether the case is one of those that are counted, not only of those that count. */
	readonly counts: boolean;
	/** What went wrong; empty: nothing. */
	readonly fault: string;
}

function verdictsOf(one: CorpusCase): readonly Verdict[] {
	const { buttons, fields, secret } = shown(one);
	const list = buttons.join(' | ');
	const isRight = buttons.length > 0 && one.press.is !== 'never' && areThese(buttons, one.press.options);
	const verdicts: Verdict[] = [];
	const isWrong = buttons.length > 0 && !isRight;
	verdicts.push({ about: 'wrongPress', counts: isWrong, fault: isWrong ? `wrong buttons: ${list}` : '' });
	if (one.press.is === 'must') {
		const fault = isRight ? '' : 'no buttons';
		verdicts.push({ about: 'press', counts: isRight, fault: isWrong ? '' : fault });
		verdicts.push({ about: one.lang === 'en' ? 'pressInEnglish' : 'pressElsewhere', counts: isRight, fault: '' });
		const decides = one.press.options.some((wanted) =>
			(typeof wanted === 'string' ? [wanted] : wanted.any).some(isDecision),
		);
		if (decides) verdicts.push({ about: 'decisions', counts: isRight, fault: '' });
	}
	for (const [position, wanted] of one.choices.entries()) {
		const { kind, options, several } = fields[position] ?? { kind: 'text', options: [], several: false };
		const at = one.items.length === 1 ? '' : ` ${position + 1}`;
		const isChoice = options.length > 0;
		const isFine =
			wanted !== null && areThese(options, wanted.options) && (wanted.several === 'may' || wanted.several === several);
		const wrong = isChoice && !isFine ? `wrong field${at}: ${options.join(' | ')}${several ? ' (several)' : ''}` : '';
		verdicts.push({ about: 'wrongChoices', counts: wrong !== '', fault: wrong });
		if (wanted?.is === 'must')
			verdicts.push({ about: 'choices', counts: isFine, fault: isChoice || isFine ? '' : `no choice${at}` });
		const isSecret = secret[position] === true;
		const must = one.secret[position] === 'must';
		if (must) verdicts.push({ about: 'secretsMissed', counts: !isSecret, fault: isSecret ? '' : `missed secret${at}` });
		if (one.secret[position] === 'never')
			verdicts.push({ about: 'secretsTaken', counts: isSecret, fault: isSecret ? `taken for secret${at}` : '' });
		const suits = one.kind[position] ?? 'any';
		if (suits !== 'any') verdicts.push({ about: 'inputs', counts: kind === suits, fault: '' });
	}
	return verdicts;
}

/** Reads each question through the gate, and compares its post and its form with what is wanted. */
export function scoreOf(cases: readonly CorpusCase[]): Score {
	const judged = cases.map((one) => ({ one, verdicts: verdictsOf(one) }));
	const all = judged.flatMap(({ verdicts }) => verdicts);
	const share = (about: Verdict['about']): Share => {
		const those = all.filter((verdict) => verdict.about === about);
		return { count: those.filter(({ counts }) => counts).length, of: those.length };
	};
	const failures = judged.flatMap(({ one, verdicts }) => {
		const faults = verdicts.map(({ fault }) => fault).filter((fault) => fault !== '');
		const texts = [one.content, ...one.items.flatMap(({ title, description }) => [title, description])];
		const said = JSON.stringify(texts.filter((text) => text !== '')).slice(0, 300);
		return faults.length === 0 ? [] : [`${one.id} ${one.lang} ${faults.join('; ')}\n     ${said}`];
	});
	return {
		wrongPress: share('wrongPress').count,
		press: share('press'),
		pressInEnglish: share('pressInEnglish'),
		pressElsewhere: share('pressElsewhere'),
		decisions: share('decisions'),
		wrongChoices: share('wrongChoices').count,
		choices: share('choices'),
		secretsMissed: share('secretsMissed'),
		secretsTaken: share('secretsTaken'),
		inputs: share('inputs'),
		failures,
	};
}
