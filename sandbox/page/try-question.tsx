import { useEffect, useState } from 'react';
import type { WireTried } from '../wire.ts';
import { type Answer, DoContext, useDo } from './actions.ts';
import { NamesContext, NOBODY } from './blocks/names.ts';
import { BackAndTitle, Example, nothing } from './gallery.tsx';
import { ClockContext } from './now.ts';

const FIRST = { title: 'Which flight should I book?', description: 'Options: LH 1173 | TP 570' };
/** In whole seconds, as in the times of messages. */
const NOW = Math.floor(Date.now() / 1000) * 1000;
const jsonOf = (item: typeof FIRST) => JSON.stringify(item, null, 2);

/** A question of an agent, and beside it what the program makes of it. */
export function TryQuestion() {
	const doIt = useDo();
	const [item, setItem] = useState(FIRST);
	const [json, setJson] = useState(jsonOf(FIRST));
	const [tried, setTried] = useState<Answer<WireTried> | null>(null);
	useEffect(() => {
		let isLatest = true;
		void doIt<WireTried>('try-question', { json }).then((answer) => isLatest && setTried(answer));
		return () => {
			isLatest = false;
		};
	}, [doIt, json]);
	function change(part: Partial<typeof FIRST>): void {
		const next = { ...item, ...part };
		setItem(next);
		setJson(jsonOf(next));
	}
	return (
		<main className="gallery try">
			<header>
				<BackAndTitle title="Try a question" />
				<p>What an agent asks, and how people see it. docs/asking.md says how to ask.</p>
			</header>
			<div className="try-parts">
				<section className="try-input" aria-label="The question">
					<label>
						Title
						<input value={item.title} onChange={(event) => change({ title: event.target.value })} />
					</label>
					<label>
						Description
						<textarea
							rows={6}
							value={item.description}
							onChange={(event) => change({ description: event.target.value })}
						/>
					</label>
					<label>
						Or JSON: an item, a list of items, or a message with content and human_input
						<textarea rows={12} value={json} spellCheck={false} onChange={(event) => setJson(event.target.value)} />
					</label>
				</section>
				<div className="gallery-examples">
					{tried === null ? <p role="status">Drawing…</p> : null}
					{tried?.error === undefined ? null : <p role="alert">{tried.error}</p>}
					{tried?.examples === undefined ? null : (
						<DoContext value={nothing}>
							<ClockContext value={0}>
								<NamesContext value={NOBODY}>
									<pre className="try-words">{tried.words}</pre>
									{tried.examples.map((example, at) => (
										<Example key={`${json} ${example.name}`} id={`t${at}`} example={example} now={NOW} />
									))}
								</NamesContext>
							</ClockContext>
						</DoContext>
					)}
				</div>
			</div>
		</main>
	);
}
