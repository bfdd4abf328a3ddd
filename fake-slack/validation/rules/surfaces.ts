import type { Surface } from '../problem.ts';
import { liveAnswer, partsOf, type Row, type Rule, reference } from '../rule.ts';

/** A block or element and a surface that refuses it. */
export type SurfaceRow = Row & { type: string; surface: Surface };

const surfaces: readonly Surface[] = ['message', 'modal', 'home'];

/** A row for each surface that is not among those the type may stand on. */
function onlyOn(type: string, allowed: readonly Surface[], source: string): SurfaceRow[] {
	return surfaces
		.filter((surface) => !allowed.includes(surface))
		.map((surface) => ({ id: `surface:${type}:${surface}`, type, surface, source }));
}

const blocks = 'docs.slack.dev/blocks.json: the surfaces of each block';
const elements = `${reference}/block-elements: the surfaces of each element`;
const notRendered = 'stricter than documented: the page names this surface, users report that nothing is shown there';

/** What Slack does not take everywhere; the types know nothing of surfaces. */
export const surfaceTable: readonly SurfaceRow[] = [
	...onlyOn('markdown', ['message'], blocks),
	{ id: 'surface:table:modal', type: 'table', surface: 'modal', source: blocks },
	{ id: 'surface:table:home', type: 'table', surface: 'home', source: notRendered },
	...['email_text_input', 'url_text_input', 'number_input'].flatMap((type) => onlyOn(type, ['modal'], elements)),
];

export function surfaceRule(row: SurfaceRow): Rule {
	return {
		...row,
		check: (payload, report) => {
			if (payload.surface !== row.surface) return;
			for (const part of partsOf(payload, row.type)) {
				report(`unsupported type: ${row.type}`, `${part.pointer}/type`);
			}
		},
	};
}

/** An element that the types let stand in an actions block. */
export type ActionsRow = Row & { type: string };

/** Slack refuses these and, with them, the whole message. */
export const actionsTable: readonly ActionsRow[] = ['multi_static_select', 'multi_users_select'].map((type) => ({
	id: `placement:actions:${type}`,
	type,
	source: `${liveAnswer} (slackapi/node-slack-sdk #1299)`,
}));

export function actionsRule(row: ActionsRow): Rule {
	return {
		...row,
		check: (payload, report) => {
			for (const part of partsOf(payload, row.type)) {
				if (part.parent?.type === 'actions') report(`unsupported type: ${row.type}`, `${part.pointer}/type`);
			}
		},
	};
}
