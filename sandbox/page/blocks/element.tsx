import { type Json, list, str } from '../json.ts';
import { Button, Overflow } from './buttons.tsx';
import { Control } from './control.tsx';
import { useSurface } from './surface.ts';
import { words } from './text-object.tsx';

/** An interactive element outside input blocks, without a label of its own. */
export function Element({ blockId, element, about }: { blockId: string; element: Json; about?: string }) {
	const surface = useSurface();
	const type = str(element, 'type');
	if (type === 'button') return <Button blockId={blockId} element={element} />;
	if (type === 'overflow') return <Overflow blockId={blockId} element={element} />;
	// Its own words name it.
	const isOneBox = type === 'checkboxes' && list(element, 'options').length === 1;
	const labelId = `label-${surface.id}-${blockId}-${str(element, 'action_id')}`;
	return (
		<span className="loose-control">
			{isOneBox ? null : (
				<span id={labelId} className="visually-hidden">
					{words(element.placeholder) || about || 'Choose'}
				</span>
			)}
			<Control
				blockId={blockId}
				element={element}
				labelId={isOneBox ? '' : labelId}
				describedBy={undefined}
				isInvalid={false}
				isRequired={false}
			/>
		</span>
	);
}
