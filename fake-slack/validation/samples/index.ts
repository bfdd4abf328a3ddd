import { accepted as fixtures } from './accepted.ts';
import { blockRefused } from './blocks.ts';
import { countEdges, countRefused } from './counts.ts';
import { errorsAccepted, errorsRefused } from './errors.ts';
import { inputAccepted, inputRefused } from './inputs.ts';
import { emptyTexts, lengthEdges } from './lengths.ts';
import { optionAccepted, optionRefused } from './options.ts';
import { richTextAccepted, richTextEdges, richTextRefused } from './rich-text.ts';
import type { Accepted, Refused } from './sample.ts';
import { shapeRefused } from './shapes.ts';
import { surfaceAccepted, surfaceRefused } from './surfaces.ts';
import { wholeAccepted, wholeEdges, wholeRefused } from './wholes.ts';

const edges = [...lengthEdges, ...countEdges, ...wholeEdges, ...richTextEdges];

export { fixtures };

export const accepted: readonly Accepted[] = [
	...fixtures,
	...surfaceAccepted,
	...richTextAccepted,
	...optionAccepted,
	...inputAccepted,
	...wholeAccepted,
	...errorsAccepted,
	...edges.map((edge) => edge.accepted),
];

export const refused: readonly Refused[] = [
	...shapeRefused,
	...surfaceRefused,
	...blockRefused,
	...richTextRefused,
	...countRefused,
	...emptyTexts,
	...optionRefused,
	...inputRefused,
	...wholeRefused,
	...errorsRefused,
	...edges.map((edge) => edge.refused),
];
