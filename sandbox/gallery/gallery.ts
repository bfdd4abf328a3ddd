import { freshInput, records } from '../../fake-slack/index.ts';
import type { WireExample, WireGallery, WireTried } from '../wire.ts';

/** In the query of the page: its switches. `extremes`: the largest and strangest, too. */
type Switches = Readonly<Record<string, string | undefined>>;

/** Everything that people see, drawn by the program's own views. */
export async function gallery({ undo, answers, buttons, extremes }: Switches): Promise<WireGallery> {
	// Imported here, because most visitors look at the workspace only.
	const { examples, PEOPLE } = await import('./examples.ts');
	const { NOW, PLACE } = await import('./shapes/samples.ts');
	const looks = {
		hasUndo: undo !== 'no',
		showAnswers: answers === 'never' ? 'never' : 'always',
		buttons: buttons !== 'no',
	} as const;
	const all = Object.entries(examples(looks));
	if (extremes === 'yes') all.push(['extremes', (await import('./shapes/extremes.ts')).extremes()]);
	return {
		now: NOW,
		people: { [PEOPLE.ada]: 'Ada', [PEOPLE.grace]: 'Grace' },
		channels: { [PLACE.channelId]: 'agents' },
		groups: all.map(([name, shapes]) => ({
			name,
			examples: shapes.map((shape): WireExample => {
				const state = shape.name.slice(shape.name.indexOf(':') + 1).trim();
				return exampleOf(state, shape.view?.type ?? 'message', { ...(shape.view ?? shape.message) });
			}),
		})),
	};
}

function exampleOf(name: string, kind: WireExample['kind'], own: Record<string, unknown>): WireExample {
	// As Slack does.
	const blocks = records(own, 'blocks').map((block, at) => ({ block_id: `b${at}`, ...block }));
	return { name, kind, payload: { ...own, blocks }, inputs: freshInput(blocks) };
}

/** What the program makes of a question's JSON: the post, the form, and its reasons in lines. */
export async function triedQuestion(json: string): Promise<WireTried> {
	const { previewOf, previewWords } = await import('../../src/screens/preview.ts');
	const preview = previewOf(json);
	const post = exampleOf('The post', 'message', { ...preview.post });
	const form = exampleOf('The form', 'modal', { ...preview.form });
	return { examples: [post, form], words: previewWords(preview) };
}
