import { freshInput, records } from '../../fake-slack/index.ts';
import type { WireExample, WireGallery } from '../wire.ts';

/** In the query of the page: its switches. `extremes`: what `npm run doctor -- views` asks Slack about, too. */
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
				const own = { ...(shape.view ?? shape.message) };
				// As Slack does.
				const blocks = records(own, 'blocks').map((block, at) => ({ block_id: `b${at}`, ...block }));
				const state = shape.name.slice(shape.name.indexOf(':') + 1).trim();
				const kind = shape.view?.type ?? 'message';
				return { name: state, kind, payload: { ...own, blocks }, inputs: freshInput(blocks) };
			}),
		})),
	};
}
