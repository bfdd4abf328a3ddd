import { freshInput, records } from '../../fake-slack/index.ts';
import type { PostKind } from '../../src/surfaces/post.ts';
import type { WireExample, WireGallery, WireTried } from '../wire.ts';

/** What the kinds are called; `examples.ts` names them as the program does. */
const TITLES: Readonly<Record<string, string>> = {
	question: 'A question',
	card: 'The card of a session',
	sessionEnded: 'The end of a session',
	status: 'A session that is paused',
	watchEnded: 'The end of a watch',
	serviceDown: 'The session service fails',
	serviceBack: 'The session service is back',
	discoveryBegun: 'Watching all sessions begins',
	discoveryEnded: 'Watching all sessions ends',
	discoveryFull: 'The channel is full',
	discoveryPaused: 'Watching all sessions is paused',
	outcome: 'What became of an answer',
	postRefused: 'Slack refuses a post',
	creatorTold: 'A watch ended: to whoever began it',
	reminder: 'Reminders',
	settingsChanged: 'Somebody changed the settings',
	nobodyLeft: 'Nobody may answer',
	nobodyMentioned: 'Nobody is mentioned any more',
	handedOver: 'A question handed over',
	givenBack: 'A question given back',
	receipt: 'Receipts, as direct messages',
	window: 'The window',
	inbox: 'Home',
	settings: 'The settings of a channel',
	extremes: 'The largest and strangest',
} satisfies Record<PostKind | 'window' | 'inbox' | 'settings' | 'extremes', string>;

/** `sessionModal` of the extremes as "session window". */
const inWords = (caption: string) =>
	caption
		.replace(/^[a-z]+[A-Z][A-Za-z]*/, (name) => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`))
		.replace(' modal', ' window');

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
			title: TITLES[name] ?? name,
			examples: shapes.map((shape): WireExample => {
				const state = shape.name.slice(shape.name.indexOf(':') + 1).trim();
				return exampleOf(inWords(state), shape.view?.type ?? 'message', { ...(shape.view ?? shape.message) });
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
