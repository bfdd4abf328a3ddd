import { useEffect, useMemo } from 'react';
import type { WireHome } from '../wire.ts';
import { useDo } from './actions.ts';
import { Blocks } from './blocks/blocks.tsx';
import { type Surface, SurfaceContext } from './blocks/surface.ts';
import { flushTyping } from './blocks/text-input.tsx';
import { list } from './json.ts';
import { useKeptFocus } from './kept-focus.ts';
import { useFills } from './use-fills.ts';

function PublishedHome({ home }: { home: WireHome }) {
	const doIt = useDo();
	const { fill, settled } = useFills(home.id);
	const { id, payload, inputs } = home;
	const blocks = useMemo(() => list(payload, 'blocks'), [payload]);
	const surface = useMemo<Surface>(
		() => ({
			id: 'home',
			inputs,
			fieldErrors: {},
			async press(blockId, actionId, option) {
				flushTyping();
				await settled();
				const press = { do: 'pressInModal', viewId: id, blockId, actionId, option };
				return (await doIt<{ acked: boolean }>('act', press)).acked === true;
			},
			fill,
		}),
		[id, inputs, fill, settled, doIt],
	);
	return (
		<SurfaceContext value={surface}>
			<Blocks blocks={blocks} />
		</SurfaceContext>
	);
}

/** The app's Home tab of this person. Tells the app that it was opened, so that the app publishes it. */
export function HomeTab({ home, appName }: { home: WireHome | null; appName: string }) {
	const doIt = useDo();
	const keptFocus = useKeptFocus();
	useEffect(() => {
		void doIt('act', { do: 'openApp', tab: 'home' });
	}, [doIt]);
	return (
		<section
			id="app-home"
			className="home"
			aria-label={`Home of ${appName}`}
			// biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse scrolls it with the arrow keys.
			tabIndex={0}
			data-focus-region
			data-surface="home"
			{...keptFocus}
		>
			<div className="home-inner">
				{home === null ? (
					<p className="home-empty" role="status">
						{appName} has not published a Home tab for you yet.
					</p>
				) : (
					<PublishedHome home={home} />
				)}
			</div>
		</section>
	);
}
