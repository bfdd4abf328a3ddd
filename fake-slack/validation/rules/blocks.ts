import { partsOf, type Rule, reference } from '../rule.ts';

/** What a block must hold beyond the fields that are always required. */
export const blockTable: readonly Rule[] = [
	{
		id: 'block:section',
		source: `${reference}/blocks/section-block`,
		check: (payload, report) => {
			for (const { value, pointer } of partsOf(payload, 'section')) {
				if (value.text === undefined && value.fields === undefined) {
					report('must define one of `text`, `fields`', pointer);
				}
			}
		},
	},
];
