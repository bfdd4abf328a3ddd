import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { looksSecret } from '../../src/domain/asks-for-secret.ts';
import { looksSecretAt } from '../../src/domain/secrecy.ts';
import { type ItemSnapshot, questionSnapshotAt } from '../../src/domain/session-snapshot.ts';
import { oneLine } from '../../src/domain/shown-text.ts';
import { questionText } from '../../src/screens/question.ts';
import { hostileSession } from '../slack/support/hostile-session.ts';
import { hostileText } from '../slack/support/hostile-text.ts';
import { runs } from '../support/runs.ts';
import { gatedResponse } from '../support/sessions.ts';

type Told = Parameters<typeof questionText>[0];
type Texts = readonly [title: string, description?: string];

const NOTHING_TOLD = 'An agent asks for an answer.';

function itemView([title, description = '']: Texts, fields: Partial<ItemSnapshot> = {}): ItemSnapshot {
	return { title, description, open: true, value: null, secret: false, withheld: false, ...fields };
}

/** The text of a question with these open items, in a session without a name. A read found out which of them are secret. */
function told(texts: readonly Texts[], fields: Partial<Told> = {}, context = ''): string {
	const items = texts.map(([title, description = '']) => ({ title, description }));
	const views = texts.map((one, at) => itemView(one, { secret: looksSecretAt({ items, context }, at) }));
	return toldOf(views, fields, context);
}

function toldOf(views: readonly ItemSnapshot[], fields: Partial<Told> = {}, context = ''): string {
	const openCount = views.filter(({ open }) => open).length;
	return questionText({
		question: { context, items: views, openCount },
		sessionName: '',
		discreet: false,
		...fields,
	});
}

function characters(text: string): string[] {
	return [...new Intl.Segmenter('en').segment(text)].map(({ segment }) => segment);
}

describe('the text of a question', () => {
	it('says what is asked, and in which session', () => {
		const asked: Texts = ['Which flight should I book?', 'One of: LH 1173, TP 570'];
		expect(told([asked], { sessionName: 'Book a flight' })).toBe(
			'An agent asks: Which flight should I book? One of: LH 1173, TP 570 (Book a flight)',
		);
		expect(told([asked], { sessionName: ' \u200b ' })).toBe(
			'An agent asks: Which flight should I book? One of: LH 1173, TP 570',
		);
		expect(told([['Which flight?']], { sessionName: 'A & B' })).toBe('An agent asks: Which flight? (A & B)');
	});

	it.each<[asked: Texts, expected: string]>([
		[['Address', 'Where should it go?'], 'Address: Where should it go?'],
		[['Address:', 'Where should it go?'], 'Address: Where should it go?'],
		[['Where should it go?', 'Street and city.'], 'Where should it go? Street and city.'],
		[['Where should it go?'], 'Where should it go?'],
		[['\u200b', 'Where should\n\nit go?'], 'Where should it go?'],
		[['Where should it go?', 'Where should it go? It is heavy.'], 'Where should it go? It is heavy.'],
		[['Plan', 'Planes are late. Go on?'], 'Plan: Planes are late. Go on?'],
		[['Window or aisle?'], 'Window or aisle?'],
		// Yes and no.
		[['Should I proceed?', 'The total is 30 euros.'], 'Should I proceed? The total is 30 euros.'],
		[['Proceed? One of: Yes, No'], 'Proceed? One of: Yes, No'],
		// Options, in the agent's own words.
		[
			['Plan', 'Options: Basic / Pro / Team. The first is free.'],
			'Plan: Options: Basic / Pro / Team. The first is free.',
		],
		[['Plan? Options: Basic | Pro'], 'Plan? Options: Basic | Pro'],
		[['', 'Which flight? One of: LH 1173, TP 570'], 'Which flight? One of: LH 1173, TP 570'],
		[
			['', 'Which flight?\n\nPlease pick one:\n(1) Morning\n(2) Late'],
			'Which flight? Please pick one: (1) Morning (2) Late',
		],
		[['Welche Farbe?', 'Optionen: rot, grün oder blau'], 'Welche Farbe? Optionen: rot, grün oder blau'],
	])('tells %j in one line', (asked, expected) => {
		expect(told([asked])).toBe(`An agent asks: ${expected}`);
	});

	it('names several open items and says how many there are', () => {
		expect(
			told([
				['First?', 'a'],
				['Second:', 'b'],
				['', 'Third.'],
			]),
		).toBe('An agent asks 3 questions: First?; Second; Third');
		const [first, second] = [itemView(['First']), itemView(['Second'], { open: false })];
		expect(toldOf([first, second])).toBe('An agent asks: First');
		const question = { context: '', items: [first], openCount: 45 };
		expect(toldOf([], { question })).toBe('An agent asks 45 questions: First; …');
		const long = told([['x'.repeat(200)], ['Second']]);
		expect(long).toMatch(/^An agent asks 2 questions: x+…; Second$/);
	});

	it('tells what the agent wrote when the items are blank', () => {
		expect(told([['', ' ']], {}, 'I need\nan address.')).toBe('An agent asks: I need an address.');
		expect(told([[''], ['']], {}, 'I need two.')).toBe('An agent asks 2 questions: I need two.');
		expect(told([['']], { sessionName: 'Trip' })).toBe('An agent asks for an answer (Trip)');
		expect(told([[''], ['']])).toBe('An agent asks 2 questions');
		expect(told([['']], { changed: true })).toBe('An agent asks something else now');
	});

	it('says that the agent asks something else', () => {
		expect(told([['Where to?']], { changed: true })).toBe('An agent asks something else now: Where to?');
		expect(told([['First'], ['Second']], { changed: true })).toBe('An agent asks something else now: First; Second');
	});

	it('tells nothing of a secret or when it has to be discreet', () => {
		const all: Partial<Told> = { sessionName: 'Bank', changed: true };
		expect(told([['Where to?']], { ...all, discreet: true })).toBe(NOTHING_TOLD);
		expect(told([['Your password']], all)).toBe(NOTHING_TOLD);
		expect(told([['City'], ['PIN code', 'of your card']], all)).toBe(NOTHING_TOLD);
		expect(toldOf([itemView(['City'], { secret: true })], all)).toBe(NOTHING_TOLD);
		expect(told([['']], all, 'Please enter your password.')).toBe(NOTHING_TOLD);
		expect(toldOf([], {}, 'Please enter your password.')).toBe('An agent asks for an answer');
		const other = itemView(['Password'], { open: false, secret: true });
		expect(toldOf([other, itemView([''])], {}, 'Please enter the code.')).toBe('An agent asks for an answer');
		// A list draws many questions at once, so no rule reads them again.
		expect(toldOf([itemView(['Your password'])])).toBe('An agent asks: Your password');
		const answered = itemView(['Your password'], { open: false, secret: true });
		expect(toldOf([answered, itemView(['City'])])).toBe('An agent asks: City');
	});

	it('cuts the question to 250 characters and the name to 60 units', () => {
		const name = 'n'.repeat(100);
		const text = told([['x'.repeat(300)]], { sessionName: name });
		const asked = `An agent asks: ${'x'.repeat(234)}…`;
		expect(asked).toHaveLength(250);
		expect(text).toBe(`${asked} (${'n'.repeat(59)}…)`);
		const exact = 'x'.repeat(235);
		expect(told([[exact]])).toBe(`An agent asks: ${exact}`);
	});

	it('never splits what people see as one character', () => {
		expect(told([['é'.normalize('NFD').repeat(120)]])).toBe(`An agent asks: ${'é'.normalize('NFD').repeat(117)}…`);
		const flags = told([['🇩🇪'.repeat(235)]]);
		expect(flags.length).toBeLessThanOrEqual(400);
		expect(flags).toMatch(/^An agent asks: (?:🇩🇪){50,}…$/u);
		expect(told([['&'.repeat(236)]])).toMatch(/^An agent asks: &{234}…$/);
		// One "character" of 1,000 code points is cut between them.
		const monster = told([['👩\u200d'.repeat(500)]]);
		expect(monster.length).toBeLessThanOrEqual(400);
		expect(monster).toMatch(/^An agent asks: (?:👩\u200d?){50,}…$/u);
	});

	it('stays short, harmless and on one line for any session', () => {
		const settings = fc.record({ sessionName: hostileText, discreet: fc.boolean(), changed: fc.boolean() });
		fc.assert(
			fc.property(hostileSession, settings, (raw, chosen) => {
				const session = gatedResponse({ session: raw }, '3f9a2c1d');
				fc.pre(session !== null);
				for (const messageIndex of session.messages.keys()) {
					const view = questionSnapshotAt(session, messageIndex);
					if (view === null) continue;
					const text = questionText({ question: view, ...chosen });
					expectShort(text);
					const asked = questionText({ question: view, ...chosen, sessionName: '' });
					expect(characters(asked).length).toBeLessThanOrEqual(250);
					const items = session.messages[messageIndex]?.humanInput ?? [];
					if (chosen.discreet || view.items.some(({ open }, at) => open && items[at] && looksSecret(items[at]))) {
						expect(text).toBe(NOTHING_TOLD);
					}
				}
			}),
			{ numRuns: runs(200) },
		);
	});

	it('begins with our words, then with those of the question', () => {
		fc.assert(
			fc.property(hostileText, hostileText, hostileText, (title, description, sessionName) => {
				const text = toldOf([itemView([title, description])], { sessionName });
				expectShort(text);
				expect(text).toMatch(/^An agent asks(?:: | for an answer)/);
				const start = oneLine(title, 1_000).replace(/\s+/g, ' ').trimStart();
				if (start !== '') expect(text.startsWith(`An agent asks: ${start.slice(0, 20)}`.trimEnd())).toBe(true);
			}),
			{ numRuns: runs(500) },
		);
	});
});

function expectShort(text: string): void {
	expect(text.length).toBeLessThanOrEqual(400);
	expect(text).not.toMatch(/[\r\n\u0085\u2028\u2029\v\f]/);
	expect(text.isWellFormed()).toBe(true);
	expect(text.startsWith('An agent asks')).toBe(true);
}
