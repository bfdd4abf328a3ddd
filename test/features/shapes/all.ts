import { examples } from '../../../sandbox/gallery/examples.ts';
import { extremes } from '../../../sandbox/gallery/shapes/extremes.ts';
import { channelSettingsVariants } from './channel-settings.ts';
import { inboxVariants } from './inbox.ts';
import { messageVariants, watchVariants } from './messages.ts';
import { modalVariants } from './modals.ts';

/** Every kind of view and message in every variant. */
export function allVariants() {
	return [
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
}
