import { expect, it } from 'vitest';
import type { Shape } from '../../sandbox/gallery/shapes/samples.ts';
import { createHarness, type Env, type Harness, type Report } from './harness.ts';

/** Runs `doctor views` about `shapes`: with `run` as the fake Slack is, and with a Slack of 20 planted differences. */
export function testShapes(shapes: readonly Shape[], run: (harness: Harness, env: Env) => Promise<Report>): void {
	it('asks Slack only about every shape, shows its progress and exits with 0', { timeout: 180_000 }, async () => {
		await using harness = await createHarness();
		const { exit, lines } = await run(harness, {});
		expect(lines.join('\n')).toContain(
			`Slack was asked about ${shapes.length} shapes and refuses none. Nothing else was checked: npm run doctor does that.\nAll is well.`,
		);
		expect(lines).toContain(`Asking Slack about ${shapes.length} shapes.`);
		expect(exit).toBe(0);
		const calls = harness.slack.traffic.calls();
		expect(calls.map(({ name }) => name)).toEqual(['auth.test', ...shapes.map(() => 'blocks.validate')]);
		expect(harness.service.log.list()).toEqual([]);
		// It sends nothing of the set-up.
		const sent = JSON.stringify(calls.map(({ request }) => request));
		for (const own of [harness.service.url, harness.dataDir, 'the platform team']) expect(sent).not.toContain(own);
	});

	it('names every shape that breaks one of 20 planted rules, with the words and the pointer', {
		timeout: 180_000,
	}, async () => {
		await using harness = await createHarness();
		const env = await harness.slackBehind({
			answer: (path, form) => {
				if (!path.includes('blocks.validate')) return null;
				const errors = differencesIn(JSON.parse(form.get('view') ?? form.get('message') ?? ''));
				const error = form.has('view') ? 'invalid_view' : 'invalid_message';
				return errors.length === 0 ? null : { ok: false, error, errors };
			},
		});
		const { exit, lines } = await run(harness, env);
		const broken = shapes
			.map((shape) => ({ name: shape.name, errors: differencesIn(rootOf(shape)) }))
			.filter(({ errors }) => errors.length > 0);
		const refusals = lines.filter((line) => line.includes('Slack refuses it'));
		expect(refusals).toHaveLength(broken.length);
		for (const { name, errors } of broken) {
			const line = refusals.find((refusal) => refusal.startsWith(`✗ Views: ${name}: Slack refuses it (invalid_`)) ?? '';
			for (const { message } of errors) {
				const pointer = errors.find((error) => error.message === message)?.pointer ?? '';
				expect(line).toContain(pointer === '' ? message : `${message} at ${pointer}`);
			}
		}
		expect(PLANTED).toHaveLength(20);
		for (const { words } of PLANTED) expect(refusals.join('\n'), words).toContain(words);
		expect(lines.join('\n')).toContain(`Slack was asked about ${shapes.length} shapes and refuses ${broken.length}.`);
		expect(lines).toContain(`${broken.length} problems to fix.`);
		expect(exit).toBe(1);
	});
}

/** What Slack is asked about: the view, or the blocks of the message. */
const rootOf = ({ view, message }: Shape): Json => ({ ...(view ?? { blocks: message?.blocks }) });

type Json = Readonly<Record<string, unknown>>;

interface Difference {
	readonly words: string;
	/** Whether a Slack with this difference refuses the object. `root` is the view or message. */
	readonly refuses: (part: Json, root: Json) => boolean;
}

const lengthOf = (value: unknown): number => (typeof value === 'string' ? value.length : 0);
const sizeOf = (list: unknown): number => (Array.isArray(list) ? list.length : 0);

/** 20 ways in which Slack could differ from our assumptions about modals, inputs, buttons, messages and texts. */
const PLANTED: readonly Difference[] = [
	{ words: 'radio buttons are closed', refuses: ({ type }) => type === 'radio_buttons' },
	{ words: 'no more than 50 options', refuses: ({ options }) => sizeOf(options) > 50 },
	{ words: 'no decimals', refuses: ({ is_decimal_allowed: decimals }) => decimals === true },
	{
		words: 'no initial e-mail',
		refuses: ({ type, initial_value: value }) => type === 'email_text_input' && value !== undefined,
	},
	{
		words: 'no initial address',
		refuses: ({ type, initial_value: value }) => type === 'url_text_input' && value !== undefined,
	},
	{ words: 'no initial date', refuses: ({ initial_date: date }) => date !== undefined },
	{ words: 'no initial time', refuses: ({ initial_time: time }) => time !== undefined },
	{
		words: 'no initial option in a select',
		refuses: ({ type, initial_option: option }) => type === 'static_select' && option !== undefined,
	},
	{
		words: 'no more than 90 blocks in a modal',
		refuses: ({ type, blocks }) => type === 'modal' && sizeOf(blocks) > 90,
	},
	{ words: 'private_metadata below 500', refuses: ({ private_metadata: kept }) => lengthOf(kept) > 500 },
	{ words: 'no submit beside 60 inputs', refuses: ({ submit, blocks }) => submit !== undefined && sizeOf(blocks) > 60 },
	{ words: 'no history here', refuses: ({ callback_id: id }) => id === 'handraise.history' },
	{ words: 'no choice in actions', refuses: ({ callback_id: id }) => id === 'handraise.choose_item' },
	{
		words: 'no more than 20 blocks in a message',
		refuses: ({ type, blocks }) => type === undefined && sizeOf(blocks) > 20,
	},
	{ words: 'no hint', refuses: ({ hint }) => hint !== undefined },
	{ words: 'no image without a title', refuses: ({ type, title }) => type === 'image' && title === undefined },
	{ words: 'no text of 2,800', refuses: ({ type, text }) => type === 'mrkdwn' && lengthOf(text) >= 2_800 },
	{ words: 'no value of 400', refuses: ({ type, value }) => type === 'button' && lengthOf(value) >= 400 },
	{ words: 'four buttons at most', refuses: ({ type, elements }) => type === 'actions' && sizeOf(elements) > 4 },
	{ words: 'no next question', refuses: ({ action_id: id }) => id === 'answer.next' },
];

/** In the format of `blocks.validate`. */
function differencesIn(root: Json): { code: string; message: string; pointer: string }[] {
	const errors = [];
	for (const [pointer, part] of partsOf(root, '')) {
		for (const { words, refuses } of PLANTED) {
			if (refuses(part, root)) errors.push({ code: 'failed_constraint', message: words, pointer });
		}
	}
	return errors;
}

function* partsOf(value: unknown, pointer: string): Generator<[string, Json]> {
	if (typeof value !== 'object' || value === null) return;
	if (!Array.isArray(value)) yield [pointer, value as Json];
	for (const [name, child] of Object.entries(value)) yield* partsOf(child, `${pointer}/${name}`);
}
