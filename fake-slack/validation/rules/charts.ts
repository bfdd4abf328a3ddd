import { at, repeated } from '../payload.ts';
import { partsOf, type Rule, reference } from '../rule.ts';

/**
 * Rules over the data of a data_visualization block. Its lengths and counts stand with the others; those of the data
 * points follow from the categories.
 */

const page = `${reference}/blocks/data-visualization-block`;

const positiveSegments: Rule = {
	id: 'chart:segments:positive',
	source: `${page}: "Must be greater than 0"`,
	check: (payload, report) => {
		for (const { value, pointer } of partsOf(payload, 'data_visualization').flatMap((part) =>
			at(part, 'chart.segments[].value'),
		)) {
			if (typeof value === 'number' && value <= 0) report('must be greater than 0', pointer);
		}
	},
};

function distinct(id: string, path: string, words: string): Rule {
	return {
		id,
		source: page,
		check: (payload, report) => {
			for (const part of partsOf(payload, 'data_visualization')) {
				for (const { value, pointer } of repeated(at(part, path)))
					report(`${words} "${value}" already exists`, pointer);
			}
		},
	};
}

const pointsForCategories: Rule = {
	id: 'chart:series:categories',
	source: `${page}: one data point for each category, under its label`,
	check: (payload, report) => {
		for (const part of partsOf(payload, 'data_visualization')) {
			const categories = at(part, 'chart.axis_config.categories[]').map(({ value }) => value);
			for (const series of at(part, 'chart.series[].data')) {
				const points: unknown[] = Array.isArray(series.value) ? series.value : [];
				const labels = points.map((point) => (point as { label?: unknown } | null)?.label);
				if (labels.length !== categories.length || !categories.every((category) => labels.includes(category))) {
					report('must have one data point for each of `axis_config.categories`', series.pointer);
				}
			}
		}
	},
};

export const chartTable: readonly Rule[] = [
	positiveSegments,
	distinct('chart:series:distinct-names', 'chart.series[].name', 'series'),
	distinct('chart:categories:distinct', 'chart.axis_config.categories[]', 'category'),
	pointsForCategories,
];
