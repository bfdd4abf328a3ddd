import { useEffect, useMemo, useState } from 'react';
import type { WireExample, WireGallery, WireWorkspace } from '../wire.ts';
import { type Do, DoContext, look } from './actions.ts';
import { Blocks } from './blocks/blocks.tsx';
import { type Names, NamesContext, NOBODY } from './blocks/names.ts';
import { type Surface, SurfaceContext } from './blocks/surface.ts';
import { words } from './blocks/text-object.tsx';
import { list, str } from './json.ts';
import { Message, personOf } from './message.tsx';
import { ClockContext } from './now.ts';

/** The name of a switch in the address, its value when it is on, and what it says. */
const SWITCHES = [
	{ name: 'undo', on: 'no', label: 'UNDO_SECONDS=0' },
	{ name: 'answers', on: 'never', label: 'SHOW_ANSWERS=never' },
	{ name: 'buttons', on: 'no', label: 'One-press buttons off' },
	{ name: 'extremes', on: 'yes', label: 'The largest and strangest' },
] as const;

const BOT = personOf('U0BOT', 'Handraise', 'bot');
const WORKSPACE = { people: [BOT], me: BOT, messageShortcuts: [] } as unknown as WireWorkspace;
/** Whatever is pressed in an example is acknowledged, and does nothing. */
export const nothing = (async () => ({ acked: true })) as unknown as Do;

function surfaceOf(id: string, { inputs }: WireExample): Surface {
	return { id, inputs, fieldErrors: {}, press: async () => true, fill: async () => undefined };
}

/** A window or the Home tab, as it would be after it was opened. */
function View({ id, example }: { id: string; example: WireExample }) {
	const { payload, kind } = example;
	const surface = useMemo(() => surfaceOf(id, example), [id, example]);
	const blocks = (
		<SurfaceContext value={surface}>
			<Blocks blocks={list(payload, 'blocks')} />
		</SurfaceContext>
	);
	if (kind === 'home') return <div className="home-inner">{blocks}</div>;
	return (
		<div className="dialog gallery-window">
			<div className="dialog-head">
				<h4>{words(payload.title)}</h4>
			</div>
			<div className="dialog-body">{blocks}</div>
			<div className="dialog-foot">
				<span className="dialog-app">Handraise</span>
				<button type="button" className="button">
					{words(payload.close) || 'Cancel'}
				</button>
				{payload.submit === undefined ? null : (
					<button type="button" className="button button-primary">
						{words(payload.submit)}
					</button>
				)}
			</div>
		</div>
	);
}

/** A message or a window that nobody uses. */
export function Example({ id, example, now }: { id: string; example: WireExample; now: number }) {
	const { kind, payload, inputs } = example;
	const message = useMemo(
		() => ({
			ts: `${now / 1000}.${id.replace(/\D+/g, '')}`,
			channel: 'C0',
			user: BOT.id,
			isSlackbot: false,
			isApp: true,
			text: str(payload, 'text'),
			blocks: list(payload, 'blocks'),
			threadTs: null,
			broadcast: false,
			rings: false,
			edited: false,
			ephemeral: false,
			inputs,
		}),
		[id, now, payload, inputs],
	);
	return (
		<section className="gallery-example" aria-label={example.name}>
			<h3>{example.name}</h3>
			<div className="gallery-frame">
				{kind === 'message' ? (
					<Message message={message} workspace={WORKSPACE} isFollowing={false} replies={null} />
				) : (
					<View id={id} example={example} />
				)}
			</div>
		</section>
	);
}

function namesOf({ people, channels }: Pick<WireGallery, 'people' | 'channels'>): Names {
	return { ...NOBODY, person: (id) => people[id] ?? null, channel: (id) => channels[id] ?? null };
}

/** Above a page beside the workspace. */
export function BackAndTitle({ title }: { title: string }) {
	useEffect(() => {
		document.title = `${title} · Handraise sandbox`;
	}, [title]);
	return (
		<>
			<p>
				<a className="link" href={`/?as=${new URLSearchParams(location.search).get('as') ?? 'ada'}`}>
					Back to the workspace
				</a>
			</p>
			<h1>{title}</h1>
		</>
	);
}

/** Every state of everything that people see. The switches are in the address. */
export function Gallery() {
	const [search, setSearch] = useState(location.search);
	const [shown, setShown] = useState<WireGallery | null>(null);
	useEffect(() => {
		void look<WireGallery>('gallery', Object.fromEntries(new URLSearchParams(search))).then(setShown);
	}, [search]);
	const query = new URLSearchParams(search);
	function turn(name: string, on: string): void {
		const next = new URLSearchParams(search);
		if (next.has(name)) next.delete(name);
		else next.set(name, on);
		history.replaceState(null, '', `?${next}`);
		setSearch(`?${next}`);
	}
	return (
		<main className="gallery">
			<header>
				<BackAndTitle title="Gallery" />
				<p>Every state of everything that people see, drawn by the program’s own views from invented data.</p>
				<fieldset className="gallery-switches">
					<legend className="visually-hidden">How it looks with</legend>
					{SWITCHES.map(({ name, on, label }) => (
						<label key={name}>
							<input type="checkbox" checked={query.has(name)} onChange={() => turn(name, on)} /> {label}
						</label>
					))}
				</fieldset>
			</header>
			{shown === null ? (
				<p role="status">Drawing…</p>
			) : (
				<DoContext value={nothing}>
					<ClockContext value={shown.now - Date.now()}>
						<NamesContext value={namesOf(shown)}>
							<nav aria-label="Kinds">
								{shown.groups.map(({ name, title }) => (
									<a key={name} className="link" href={`#${name}`}>
										{title}
									</a>
								))}
							</nav>
							{shown.groups.map(({ name, title, examples }) => (
								<section key={name} id={name} aria-labelledby={`of-${name}`}>
									<h2 id={`of-${name}`}>{title}</h2>
									<div className="gallery-examples">
										{examples.map((example, at) => (
											<Example
												key={`${search} ${example.name}`}
												id={`g${shown.groups.findIndex((group) => group.name === name)}-${at}`}
												example={example}
												now={shown.now}
											/>
										))}
									</div>
								</section>
							))}
						</NamesContext>
					</ClockContext>
				</DoContext>
			)}
		</main>
	);
}
