import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { validateMessage, validateView } from '../../fake-slack/index.ts';
import { CAPTIONS, examples, SETTLED } from '../../sandbox/gallery/examples.ts';
import { extremes } from '../../sandbox/gallery/shapes/extremes.ts';
import { FIELD_ITEMS } from '../../sandbox/gallery/shapes/samples.ts';
import { ANSWER_STATES } from '../../src/domain/answer.ts';
import { guessInput } from '../../src/domain/input-kind.ts';
import { lookDifferent, looksOfLabels } from '../../src/domain/quick-answer.ts';
import { ACTIONS, BUTTON_LABELS, CALLBACKS, CHOOSE_IDS, encodeMenuChoice } from '../../src/slack/ids.ts';
import { KINDS } from '../../src/surfaces/post.ts';
import { channelSettingsVariants } from './shapes/channel-settings.ts';
import { inboxVariants } from './shapes/inbox.ts';
import { messageVariants, watchVariants } from './shapes/messages.ts';
import { modalVariants } from './shapes/modals.ts';

const SRC = new URL('../../src/', import.meta.url).pathname;
/** Every kind of view and message in every variant. */
const shapes = [
	...extremes(),
	...modalVariants(),
	...messageVariants(),
	...watchVariants(),
	...inboxVariants(),
	...channelSettingsVariants(),
	...Object.values(examples()).flat(),
	...Object.values(examples({ hasUndo: false, showAnswers: 'never', buttons: false }))
		.flat()
		.map((shape) => ({ ...shape, name: `${shape.name}, as rarely seen` })),
];
const names = shapes.map(({ name }) => name);
const all = JSON.stringify(shapes);

/** The text of each file below src, by its path there. */
function sources(): Map<string, string> {
	const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
	return new Map(files.map((path) => [path, readFileSync(join(SRC, path), 'utf8')]));
}

const isView = (path: string) => path.startsWith('screens/') || path === 'slack/error-view.ts';

/** The builders of whole views and messages: they stand in views. */
function builders(): string[] {
	return [...sources()]
		.filter(([path]) => isView(path))
		.flatMap(([, source]) => [...source.matchAll(/^export function (\w+)\([\s\S]*?\): ([^{;=]*)\{$/gm)])
		.filter(([, , returned = '']) => /\b(?:ModalView|HomeView|MessageContent)\b/.test(returned))
		.map(([, name = '']) => name);
}

describe('all variants', () => {
	it('has a shape of every builder of a view or message', () => {
		const found = builders();
		for (const known of ['sessionModal', 'watchPost', 'filesMessage', 'chosenTextHelp', 'homeView'])
			expect(found).toContain(known);
		expect(found.filter((builder) => !names.some((name) => name.startsWith(`${builder}, `)))).toEqual([]);
	});

	it('builds views and messages in views alone', () => {
		const elsewhere = [...sources()].filter(
			([path, source]) =>
				!isView(path) &&
				!/^(?:operator\/doctor\/|slack\/blocks\.ts$)/.test(path) &&
				/import \{[^}]*(?<!type )\b(?:message|modal)\b[^}]*\} from '[^']*\/blocks\.ts'|type: '(?:modal|home)'/.test(
					source,
				),
		);
		expect(elsewhere.map(([path]) => path)).toEqual([]);
	});

	it('has a view of every callback id', () => {
		// The last one belongs to the message shortcut of the manifest.
		const { useAsAnswer: _, ...views } = CALLBACKS;
		const used = new Set(shapes.map(({ view }) => view?.callback_id));
		expect(Object.values(views).filter((id) => !used.has(id))).toEqual([]);
	});

	it('has a button, an entry of a menu or a field of every action', () => {
		const missing = Object.values(ACTIONS).filter((id) => {
			const entry = JSON.stringify(encodeMenuChoice({ actionId: id, value: '' }).slice(0, -4)).slice(1, -1);
			return ![`"action_id":"${id}"`, entry].some((part) => all.includes(part));
		});
		expect(missing).toEqual([]);
	});

	it('has no button whose label an option may have', () => {
		// "No" stands only beside *Send*, *Use as answer* and *End all*.
		const keeps = [ACTIONS.keepReply, ACTIONS.keepWatches];
		const isOption = (id: unknown) => [...CHOOSE_IDS, ...keeps].some((one) => one === id);
		const labels = shapes.flatMap(({ view, message }) => {
			const ends = [view, view && 'submit' in view ? view.submit : null, view && 'close' in view ? view.close : null];
			const found = ends.flatMap((end) => (end && 'text' in end ? [String(end.text)] : []));
			JSON.stringify(view ?? message, (_, value) => {
				const isButton = value?.type === 'button' && !isOption(value.action_id);
				if (isButton) found.push(value.text.text);
				if (value?.type === 'overflow') for (const entry of value.options) found.push(entry.text.text);
				return value;
			});
			return found;
		});
		for (const known of ['Undo', 'Other answer…', 'Snooze for 1 h', 'Send answer', 'Close'])
			expect(labels).toContain(known);
		expect([...new Set(labels)].filter((label) => lookDifferent([label], looksOfLabels(BUTTON_LABELS)))).toEqual([]);
	});

	it('gives every shape its own name', () => {
		expect(new Set(names).size).toBe(names.length);
	});

	it('builds every shape within the known limits of Slack', () => {
		const problems = shapes.map(({ name, view, message }) => ({
			name,
			found: view === undefined ? validateMessage(message) : validateView(view),
		}));
		expect(problems.filter(({ found }) => found.length > 0)).toEqual([]);
	});
});

it('has an example for the Gallery of every kind of post, and of every state of a question, an answer and a card', () => {
	const shown = new Set(names);
	const states = {
		question: SETTLED.map((how) => CAPTIONS[how]),
		receipt: ANSWER_STATES.map((state) => CAPTIONS[state]),
		card: ['working', 'asks', 'ended', 'unwatched'],
	};
	const wanted = Object.entries(states).flatMap(([what, all]) => all.map((state) => `${what}: ${state}`));
	expect(wanted.filter((name) => !shown.has(name))).toEqual([]);
	const kinds = Object.entries(examples()).flatMap(([what, shapes]) => (shapes.length > 0 ? [what] : []));
	expect(Object.keys(KINDS).filter((kind) => !kinds.includes(kind))).toEqual([]);
});

it.each(Object.entries(FIELD_ITEMS))('guesses the kind of the sample field: %s', (kind, item) => {
	expect(guessInput(item).kind).toBe(kind);
});
